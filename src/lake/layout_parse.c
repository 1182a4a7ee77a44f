/* Rules (layout.h has their grammar). */
#include <string.h>
#include <strings.h>

#include "lake/layout_internal.h"

typedef struct rule_parser {
    const char *text, *at;
    firn_arena *arena;
    firn_error *error;
    firn_buffer token; /**< the last one, its quotes taken off */
} rule_parser;

typedef FIRN_VECTOR(firn_layout_slot) slots;
typedef FIRN_VECTOR(firn_layout_field) fields;

static firn_status wrong(const rule_parser *parser, const char *problem) {
    return firn_fail(parser->error, FIRN_INVALID, "rule \"%s\", character %zu: %s", parser->text,
                     (size_t)(parser->at - parser->text) + 1, problem);
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

static void skip_spaces(rule_parser *parser) {
    while (is_space(*parser->at)) parser->at++;
}

static firn_status keep_token(rule_parser *parser, const char **out) {
    const char *data = parser->token.data == NULL ? "" : (const char *)parser->token.data;
    *out = firn_arena_strndup(parser->arena, data, parser->token.size);
    return *out == NULL ? firn_fail_memory(parser->error) : FIRN_OK;
}

/* "a name", with "" for a quote. */
static firn_status quoted(rule_parser *parser) {
    const char *begin = parser->at++;
    for (;; parser->at++) {
        if (*parser->at == '\0') {
            parser->at = begin;
            return wrong(parser, "the quote does not end");
        }
        if (*parser->at == '"' && *++parser->at != '"') return FIRN_OK;
        FIRN_TRY(firn_buffer_append_byte(&parser->token, (uint8_t)*parser->at, parser->error));
    }
}

/* A quoted name, or all up to a space or one of `ends`. */
static firn_status take_name(rule_parser *parser, const char *ends, const char *expected,
                             const char **out) {
    firn_buffer_clear(&parser->token);
    if (*parser->at == '"') {
        FIRN_TRY(quoted(parser));
    } else {
        while (*parser->at != '\0' && !is_space(*parser->at) && strchr(ends, *parser->at) == NULL) {
            FIRN_TRY(
                firn_buffer_append_byte(&parser->token, (uint8_t)*parser->at++, parser->error));
        }
    }
    if (parser->token.size == 0) return wrong(parser, expected);
    return keep_token(parser, out);
}

/* The colon that ends key and pattern: the first one with a space behind it, else the only one. NULL: there is none, or several. */
static const char *find_colon(const char *text) {
    const char *only = NULL;
    size_t count = 0;
    /* A quoted key may have colons in it. */
    const char *end = *text == '"' ? strchr(text + 1, '"') : NULL;
    for (const char *at = end == NULL ? text : end; *at != '\0'; at++) {
        if (*at != ':') continue;
        if (is_space(at[1])) return at;
        only = at;
        count++;
    }
    return count == 1 ? only : NULL;
}

static firn_status take_slot(rule_parser *parser, slots *out) {
    firn_layout_slot slot = {0};
    bool bare = parser->at[1] == '}';
    slot.counts = parser->at[1] == '#' && parser->at[2] == '}';
    if (!bare && !slot.counts) return wrong(parser, "expected {} or {#}");
    if (out->count > 0 && parser->token.size == 0) {
        return wrong(parser, "two placeholders need some text between them");
    }
    FIRN_TRY(keep_token(parser, &slot.before));
    firn_buffer_clear(&parser->token);
    parser->at += bare ? 2 : 3;
    return firn_vector_push(out, parser->error, slot);
}

static firn_status take_pattern(rule_parser *parser, const char *end, slots *out,
                                firn_layout_rule *rule) {
    firn_buffer_clear(&parser->token);
    while (parser->at < end) {
        if (*parser->at == '{') {
            FIRN_TRY(take_slot(parser, out));
            continue;
        }
        FIRN_TRY(firn_buffer_append_byte(&parser->token, (uint8_t)*parser->at++, parser->error));
    }
    if (out->count == 0) return wrong(parser, "the pattern has no {}");
    return keep_token(parser, &rule->after);
}

static bool ends_field(char c) {
    return c == '\0' || c == ',';
}

/* A word that stands for itself, and nothing longer. */
static bool is_word(const rule_parser *parser, const char *word) {
    size_t length = strlen(word);
    char next = parser->at[0] == '\0' ? '\0' : parser->at[strnlen(parser->at, length)];
    return strncasecmp(parser->at, word, length) == 0 && (is_space(next) || next == '\0');
}

/* "int", "decimal(9, 2)", "fixed[16]". */
static firn_status take_type(rule_parser *parser, firn_layout_field *out) {
    const char *begin = parser->at;
    while (!ends_field(*parser->at) && !is_space(*parser->at) && *parser->at != '(') parser->at++;
    if (*parser->at == '(') {
        const char *close = strchr(parser->at, ')');
        if (close == NULL) return wrong(parser, "the bracket does not close");
        parser->at = close + 1;
    }
    out->type = firn_arena_strndup(parser->arena, begin, (size_t)(parser->at - begin));
    if (out->type == NULL) return firn_fail_memory(parser->error);
    if (out->transform.kind == FIRN_TRANSFORM_IDENTITY) return FIRN_OK;
    parser->at = begin;
    return wrong(parser, "a type can stand behind a column only, not behind a transform of it");
}

static firn_status take_transform(rule_parser *parser, const char *name, const char *begin,
                                  firn_layout_field *out) {
    firn_status status = firn_transform_parse(name, parser->arena, &out->transform, parser->error);
    if (status == FIRN_NO_MEMORY) return status;
    if (status != FIRN_OK || out->transform.kind == FIRN_TRANSFORM_UNKNOWN ||
        out->transform.kind == FIRN_TRANSFORM_VOID) {
        parser->at = begin;
        return wrong(parser, "no transform that a path can tell (there are identity, year, month, "
                             "day, hour, bucket[N] and truncate[W])");
    }
    parser->at++;
    skip_spaces(parser);
    FIRN_TRY(take_name(parser, ",()", "expected a column", &out->column));
    skip_spaces(parser);
    if (*parser->at != ')') return wrong(parser, "expected )");
    parser->at++;
    return FIRN_OK;
}

static firn_status take_field(rule_parser *parser, firn_layout_field *out) {
    *out = (firn_layout_field){.transform = {.kind = FIRN_TRANSFORM_IDENTITY, .text = "identity"}};
    skip_spaces(parser);
    const char *begin = parser->at;
    FIRN_TRY(take_name(parser, ",()", "expected a column or a transform of one", &out->column));
    if (*parser->at == '(') FIRN_TRY(take_transform(parser, out->column, begin, out));
    skip_spaces(parser);
    if (!ends_field(*parser->at) && !is_word(parser, "as")) {
        FIRN_TRY(take_type(parser, out));
        skip_spaces(parser);
    }
    if (!is_word(parser, "as")) return FIRN_OK;
    parser->at += 2;
    skip_spaces(parser);
    FIRN_TRY(take_name(parser, ",", "expected a name behind \"as\"", &out->name));
    skip_spaces(parser);
    return FIRN_OK;
}

static firn_status take_fields(rule_parser *parser, fields *out) {
    for (;;) {
        firn_layout_field field;
        FIRN_TRY(take_field(parser, &field));
        FIRN_TRY(firn_vector_push(out, parser->error, field));
        if (*parser->at == '\0') return FIRN_OK;
        if (*parser->at != ',') return wrong(parser, "expected a comma, \"as\" or the end");
        parser->at++;
    }
}

static firn_status check_counts(const rule_parser *parser, const slots *pattern,
                                const fields *found) {
    if (pattern->count != found->count) {
        return firn_fail(parser->error, FIRN_INVALID,
                         "rule \"%s\": the pattern has %zu placeholders, but %zu fields follow",
                         parser->text, pattern->count, found->count);
    }
    for (size_t i = 0; i < found->count; i++) {
        if (!pattern->items[i].counts ||
            found->items[i].transform.kind == FIRN_TRANSFORM_TRUNCATE) {
            continue;
        }
        return firn_fail(parser->error, FIRN_INVALID,
                         "rule \"%s\": {#} counts the widths of a truncate, which field %zu is not",
                         parser->text, i + 1);
    }
    return FIRN_OK;
}

static firn_status keep(const rule_parser *parser, const slots *pattern, const fields *found,
                        firn_layout_rule *rule) {
    rule->slots =
        firn_arena_memdup(parser->arena, pattern->items, pattern->count * sizeof *pattern->items);
    rule->fields =
        firn_arena_memdup(parser->arena, found->items, found->count * sizeof *found->items);
    if (rule->slots == NULL || rule->fields == NULL) return firn_fail_memory(parser->error);
    rule->field_count = found->count;
    return FIRN_OK;
}

static firn_status take_rule(rule_parser *parser, slots *pattern, fields *found,
                             firn_layout_rule *rule) {
    static const firn_layout_slot whole = {.before = ""};
    const char *colon = find_colon(parser->text);
    if (colon == NULL) {
        return wrong(parser, "expected KEY: FIELD, with one space behind the colon that ends the "
                             "key or its pattern");
    }
    skip_spaces(parser);
    FIRN_TRY(take_name(parser, "=:", "expected a key", &rule->key));
    rule->after = "";
    if (*parser->at == '=') {
        parser->at++;
        FIRN_TRY(take_pattern(parser, colon, pattern, rule));
    } else {
        skip_spaces(parser);
        FIRN_TRY(firn_vector_push(pattern, parser->error, whole));
    }
    if (parser->at != colon) return wrong(parser, "expected = or : behind the key");
    parser->at++;
    skip_spaces(parser);
    if (is_word(parser, "-")) {
        parser->at++;
        skip_spaces(parser);
        rule->means_nothing = true;
        return *parser->at == '\0' ? FIRN_OK : wrong(parser, "expected nothing behind -");
    }
    FIRN_TRY(take_fields(parser, found));
    FIRN_TRY(check_counts(parser, pattern, found));
    return keep(parser, pattern, found, rule);
}

firn_status firn_layout_rule_parse(const char *text, firn_arena *arena, firn_layout_rule *out,
                                   firn_error *error) {
    *out = (firn_layout_rule){.text = firn_arena_strdup(arena, text)};
    if (out->text == NULL) return firn_fail_memory(error);
    rule_parser parser = {.text = out->text,
                          .at = out->text,
                          .arena = arena,
                          .error = error,
                          .token = firn_buffer_with_maximum(strlen(text) + 1)};
    slots pattern = {0};
    fields found = {0};
    firn_status status = take_rule(&parser, &pattern, &found, out);
    firn_buffer_release(&parser.token);
    firn_vector_release(&pattern);
    firn_vector_release(&found);
    return status;
}
