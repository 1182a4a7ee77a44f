/* The grammar of row filters: recursive descent, NOT before AND before OR. */
#include "iceberg/expression_parse.h"

#include <strings.h>

#include "base/buffer.h"
#include "base/vector.h"

/* Parentheses and NOTs within each other; recursion here and on the tree is bounded by it. */
#define MAXIMUM_DEPTH 100
#define MAXIMUM_TEXT ((size_t)1 << 24)

typedef FIRN_VECTOR(firn_parsed_filter) filter_vector;
typedef FIRN_VECTOR(firn_literal) literal_vector;

typedef struct parser {
    const char *text, *at;
    firn_arena *arena;
    int depth;
    firn_error *error;
} parser;

static size_t position(const parser *p) {
    return (size_t)(p->at - p->text) + 1;
}

static firn_status expected(const parser *p, const char *what) {
    const char *rest = p->at;
    if (*rest == '\0') {
        return firn_fail(p->error, FIRN_INVALID, FIRN_FILTER_AT "expected %s, but it ends here",
                         position(p), what);
    }
    return firn_fail(p->error, FIRN_INVALID, FIRN_FILTER_AT "expected %s before \"%.20s\"",
                     position(p), what, rest);
}

static void skip_spaces(parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

/* Bytes of UTF-8 beyond ASCII count as letters. */
static bool begins_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

static bool continues_word(char c) {
    return begins_word(c) || (c >= '0' && c <= '9') || c == '$';
}

static bool take_symbol(parser *p, const char *symbol) {
    skip_spaces(p);
    size_t length = strlen(symbol);
    if (strncmp(p->at, symbol, length) != 0) return false;
    p->at += length;
    return true;
}

static bool take_word(parser *p, const char *word) {
    skip_spaces(p);
    size_t length = strlen(word);
    if (strncasecmp(p->at, word, length) != 0 || continues_word(p->at[length])) return false;
    p->at += length;
    return true;
}

static firn_status need_word(parser *p, const char *word) {
    return take_word(p, word) ? FIRN_OK : expected(p, word);
}

static firn_status need_symbol(parser *p, const char *symbol) {
    return take_symbol(p, symbol) ? FIRN_OK : expected(p, symbol);
}

/* --- literals and columns ---------------------------------------------------------------------- */

/* The end of the quoted text that begins here (its closing quote); NULL when it has none. */
static const char *end_of_text(const char *begin) {
    for (const char *at = begin + 1; *at != '\0'; at++) {
        if (*at != '\'') continue;
        if (at[1] != '\'') return at;
        at++;
    }
    return NULL;
}

/* 'text', where '' stands for a quote. */
static firn_status take_text(parser *p, firn_literal *out) {
    const char *end = end_of_text(p->at);
    if (end == NULL) {
        return firn_fail(p->error, FIRN_INVALID, FIRN_FILTER_AT "a quoted text has no end",
                         position(p));
    }
    char *text = firn_arena_alloc(p->arena, (size_t)(end - p->at), 1);
    if (text == NULL) return firn_fail_memory(p->error);
    size_t length = 0;
    for (const char *at = p->at + 1; at < end; at++) {
        if (*at == '\'') at++;
        text[length++] = *at;
    }
    p->at = end + 1;
    *out = (firn_literal){.kind = FIRN_LITERAL_TEXT, .text = text, .length = length};
    return FIRN_OK;
}

static size_t count_digits(const char *at) {
    size_t count = 0;
    while (at[count] >= '0' && at[count] <= '9') count++;
    return count;
}

/* The length of the number that begins here; 0: none does. */
static size_t number_length(const char *begin) {
    const char *at = begin;
    if (*at == '+' || *at == '-') at++;
    size_t digits = count_digits(at);
    at += digits;
    if (*at == '.') {
        size_t decimals = count_digits(at + 1);
        digits += decimals;
        at += decimals + 1;
    }
    if (digits == 0) return 0;
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1;
        if (*exponent == '+' || *exponent == '-') exponent++;
        digits = count_digits(exponent);
        if (digits > 0) at = exponent + digits;
    }
    return (size_t)(at - begin);
}

/* Dates, times and uuids begin like numbers. */
static bool goes_on(const char *at) {
    bool joined = *at == '-' || *at == ':';
    return continues_word(*at) || (joined && continues_word(at[1]));
}

static firn_status needs_quotes(const parser *p) {
    int length = (int)strcspn(p->at, " \t\r\n(),'");
    return firn_fail(p->error, FIRN_INVALID,
                     FIRN_FILTER_AT "%.*s is no number; text, dates, times and uuids stand in "
                                    "single quotes: '%.*s'",
                     position(p), length > 60 ? 60 : length, p->at, length > 60 ? 60 : length,
                     p->at);
}

/* *found false: nothing was taken. */
static firn_status try_literal(parser *p, firn_literal *out, bool *found) {
    skip_spaces(p);
    size_t begin = position(p);
    *found = true;
    if (*p->at == '\'') {
        FIRN_TRY(take_text(p, out));
    } else if (take_word(p, "true")) {
        *out = (firn_literal){.kind = FIRN_LITERAL_BOOLEAN, .boolean = true};
    } else if (take_word(p, "false")) {
        *out = (firn_literal){.kind = FIRN_LITERAL_BOOLEAN};
    } else {
        size_t length = number_length(p->at);
        *found = length > 0;
        if (!*found) return FIRN_OK;
        if (goes_on(p->at + length)) return needs_quotes(p);
        const char *text = firn_arena_strndup(p->arena, p->at, length);
        if (text == NULL) return firn_fail_memory(p->error);
        *out = (firn_literal){.kind = FIRN_LITERAL_NUMBER, .text = text, .length = length};
        p->at += length;
    }
    out->position = begin;
    return FIRN_OK;
}

/* What people write where a literal is due: null as SQL doesn't compare it, and text as a shell leaves it. */
static firn_status lacks_literal(parser *p) {
    static const char what[] = "a literal (a number, 'text', true or false)";
    const char *at = p->at;
    if (take_word(p, "null")) {
        p->at = at;
        return firn_fail(p->error, FIRN_INVALID,
                         FIRN_FILTER_AT "expected %s before \"null\", which nothing equals: say "
                                        "IS NULL or IS NOT NULL",
                         position(p), what);
    }
    if (!begins_word(*at) && *at != '"') return expected(p, what);
    at += *at == '"';
    int length = (int)strcspn(at, " \t\r\n(),'\"");
    return firn_fail(p->error, FIRN_INVALID,
                     FIRN_FILTER_AT "expected %s before \"%.*s\"; text stands in single quotes, "
                                    "'%.*s', which a shell keeps only within double ones",
                     position(p), what, length > 60 ? 60 : length, at, length > 60 ? 60 : length,
                     at);
}

static firn_status need_literal(parser *p, firn_literal *out) {
    bool found = false;
    FIRN_TRY(try_literal(p, out, &found));
    return found ? FIRN_OK : lacks_literal(p);
}

/* "name", where a backslash takes what follows it as it is. */
static firn_status take_quoted_name(parser *p, firn_buffer *name) {
    const char *begin = p->at++;
    if (*p->at == '"') return expected(p, "a name");
    for (; *p->at != '"'; p->at++) {
        if (*p->at == '\\' && p->at[1] != '\0') p->at++;
        if (*p->at == '\0') {
            p->at = begin;
            return firn_fail(p->error, FIRN_INVALID, FIRN_FILTER_AT "a quoted name has no end",
                             position(p));
        }
        FIRN_TRY(firn_buffer_append_byte(name, (uint8_t)*p->at, p->error));
    }
    p->at++;
    return FIRN_OK;
}

static firn_status take_name(parser *p, firn_buffer *name) {
    skip_spaces(p);
    if (*p->at == '"') return take_quoted_name(p, name);
    if (!begins_word(*p->at)) return expected(p, "a column");
    for (; continues_word(*p->at); p->at++) {
        FIRN_TRY(firn_buffer_append_byte(name, (uint8_t)*p->at, p->error));
    }
    return FIRN_OK;
}

static firn_status take_column(parser *p, firn_parsed_filter *out) {
    firn_status status = FIRN_OK;
    firn_buffer name = firn_buffer_with_maximum(MAXIMUM_TEXT);
    skip_spaces(p);
    out->position = position(p);
    FIRN_CHECK(take_name(p, &name));
    while (take_symbol(p, ".")) {
        FIRN_CHECK(firn_buffer_append_byte(&name, '.', p->error));
        FIRN_CHECK(take_name(p, &name));
    }
    out->column = firn_arena_strndup(p->arena, (const char *)name.data, name.size);
    if (out->column == NULL) status = firn_fail_memory(p->error);
out:
    firn_buffer_release(&name);
    return status;
}

/* --- predicates -------------------------------------------------------------------------------- */

static firn_status set_literals(parser *p, firn_parsed_filter *out, const firn_literal *literals,
                                size_t count) {
    out->literals = firn_arena_memdup(p->arena, literals, count * sizeof *literals);
    out->literal_count = count;
    return out->literals == NULL ? firn_fail_memory(p->error) : FIRN_OK;
}

/* Wraps a filter into a node with it as the only child. */
static firn_status negate(parser *p, firn_parsed_filter *filter) {
    const firn_parsed_filter *child = firn_arena_memdup(p->arena, filter, sizeof *filter);
    if (child == NULL) return firn_fail_memory(p->error);
    *filter = (firn_parsed_filter){.op = FIRN_OPERATOR_NOT, .children = child, .child_count = 1};
    return FIRN_OK;
}

static bool take_comparison(parser *p, firn_operator *out) {
    /* Longer ones first. */
    static const struct {
        const char *symbol;
        firn_operator op;
    } comparisons[] = {
        {"<=", FIRN_OPERATOR_LESS_EQUAL},    {"<>", FIRN_OPERATOR_NOT_EQUAL},
        {">=", FIRN_OPERATOR_GREATER_EQUAL}, {"==", FIRN_OPERATOR_EQUAL},
        {"!=", FIRN_OPERATOR_NOT_EQUAL},     {"<", FIRN_OPERATOR_LESS},
        {">", FIRN_OPERATOR_GREATER},        {"=", FIRN_OPERATOR_EQUAL},
    };
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        *out = comparisons[i].op;
        if (take_symbol(p, comparisons[i].symbol)) return true;
    }
    return false;
}

/* 5 < x is x > 5. */
static firn_operator mirrored(firn_operator op) {
    switch (op) {
    case FIRN_OPERATOR_LESS: return FIRN_OPERATOR_GREATER;
    case FIRN_OPERATOR_LESS_EQUAL: return FIRN_OPERATOR_GREATER_EQUAL;
    case FIRN_OPERATOR_GREATER: return FIRN_OPERATOR_LESS;
    case FIRN_OPERATOR_GREATER_EQUAL: return FIRN_OPERATOR_LESS_EQUAL;
    default: return op;
    }
}

/* Behind IS. */
static firn_status parse_is(parser *p, firn_parsed_filter *out) {
    bool not = take_word(p, "not");
    if (take_word(p, "null")) {
        out->op = not ? FIRN_OPERATOR_NOT_NULL : FIRN_OPERATOR_IS_NULL;
    } else if (take_word(p, "nan")) {
        out->op = not ? FIRN_OPERATOR_NOT_NAN : FIRN_OPERATOR_IS_NAN;
    } else {
        return expected(p, not ? "null or nan" : "null, nan or not");
    }
    return FIRN_OK;
}

/* Behind IN. */
static firn_status parse_in(parser *p, firn_parsed_filter *out) {
    firn_status status = FIRN_OK;
    literal_vector literals = {0};
    firn_literal literal;
    FIRN_CHECK(need_symbol(p, "("));
    do {
        FIRN_CHECK(need_literal(p, &literal));
        FIRN_CHECK(firn_vector_push(&literals, p->error, literal));
    } while (take_symbol(p, ","));
    FIRN_CHECK(need_symbol(p, ")"));
    out->op = FIRN_OPERATOR_IN;
    FIRN_CHECK(set_literals(p, out, literals.items, literals.count));
out:
    firn_vector_release(&literals);
    return status;
}

/* Behind BETWEEN: both ends belong to it. */
static firn_status parse_between(parser *p, firn_parsed_filter *out) {
    firn_literal low;
    firn_literal high;
    FIRN_TRY(need_literal(p, &low));
    FIRN_TRY(need_word(p, "and"));
    FIRN_TRY(need_literal(p, &high));
    firn_parsed_filter *ends = firn_arena_alloc(p->arena, 2, sizeof *ends);
    if (ends == NULL) return firn_fail_memory(p->error);
    ends[0] = ends[1] = *out;
    ends[0].op = FIRN_OPERATOR_GREATER_EQUAL;
    ends[1].op = FIRN_OPERATOR_LESS_EQUAL;
    FIRN_TRY(set_literals(p, &ends[0], &low, 1));
    FIRN_TRY(set_literals(p, &ends[1], &high, 1));
    *out = (firn_parsed_filter){.op = FIRN_OPERATOR_AND, .children = ends, .child_count = 2};
    return FIRN_OK;
}

/* Behind LIKE: % at the end is the only wildcard; \% stands for the character. */
static firn_status parse_like(parser *p, firn_parsed_filter *out) {
    skip_spaces(p);
    if (*p->at != '\'') return expected(p, "a quoted text");
    firn_literal literal;
    FIRN_TRY(need_literal(p, &literal));
    char *text = firn_arena_alloc(p->arena, literal.length + 1, 1);
    if (text == NULL) return firn_fail_memory(p->error);
    size_t length = 0;
    out->op = FIRN_OPERATOR_EQUAL;
    for (size_t i = 0; i < literal.length; i++) {
        char c = literal.text[i];
        if (c == '%' && i + 1 == literal.length) {
            out->op = FIRN_OPERATOR_STARTS_WITH;
            break;
        }
        if (c == '%') {
            return firn_fail(p->error, FIRN_INVALID,
                             FIRN_FILTER_AT "LIKE takes %% at the end of the text only; write "
                                            "\\%% for the character itself",
                             literal.position);
        }
        if (c == '\\' && literal.text[i + 1] == '%' && i + 1 < literal.length)
            c = literal.text[++i];
        text[length++] = c;
    }
    literal.text = text;
    literal.length = length;
    return set_literals(p, out, &literal, 1);
}

static firn_status parse_after_column(parser *p, firn_parsed_filter *out) {
    firn_literal literal;
    if (take_comparison(p, &out->op)) {
        FIRN_TRY(need_literal(p, &literal));
        return set_literals(p, out, &literal, 1);
    }
    if (take_word(p, "is")) return parse_is(p, out);
    bool not = take_word(p, "not");
    if (take_word(p, "in")) {
        FIRN_TRY(parse_in(p, out));
    } else if (take_word(p, "like")) {
        FIRN_TRY(parse_like(p, out));
    } else if (take_word(p, "between")) {
        FIRN_TRY(parse_between(p, out));
    } else {
        return expected(p,
                        not ? "IN, LIKE or BETWEEN" : "a comparison, IN, LIKE, BETWEEN, IS or NOT");
    }
    return not ? negate(p, out) : FIRN_OK;
}

static firn_status parse_predicate(parser *p, firn_parsed_filter *out) {
    firn_literal literal;
    firn_operator op;
    bool found = false;
    FIRN_TRY(try_literal(p, &literal, &found));
    if (!found) {
        FIRN_TRY(take_column(p, out));
        return parse_after_column(p, out);
    }
    if (take_comparison(p, &op)) {
        FIRN_TRY(take_column(p, out));
        out->op = mirrored(op);
        return set_literals(p, out, &literal, 1);
    }
    if (literal.kind != FIRN_LITERAL_BOOLEAN) return expected(p, "a comparison");
    out->op = literal.boolean ? FIRN_OPERATOR_TRUE : FIRN_OPERATOR_FALSE;
    return FIRN_OK;
}

/* --- junctions --------------------------------------------------------------------------------- */

static firn_status parse_or(parser *p, firn_parsed_filter *out);

static firn_status parse_nested(parser *p, firn_parsed_filter *out) {
    if (take_symbol(p, "(")) {
        FIRN_TRY(parse_or(p, out));
        return need_symbol(p, ")");
    }
    return parse_predicate(p, out);
}

static firn_status parse_not(parser *p, firn_parsed_filter *out) {
    if (p->depth == MAXIMUM_DEPTH) {
        return firn_fail(p->error, FIRN_INVALID,
                         FIRN_FILTER_AT "more than %d parentheses and NOTs within each other",
                         position(p), MAXIMUM_DEPTH);
    }
    p->depth++;
    bool not = take_word(p, "not");
    FIRN_TRY(not ? parse_not(p, out) : parse_nested(p, out));
    p->depth--;
    return not ? negate(p, out) : FIRN_OK;
}

/* Operands of one junction stand side by side: a long chain is no deep tree. */
static firn_status parse_chain(parser *p, firn_operator op, const char *word,
                               firn_status (*operand)(parser *, firn_parsed_filter *),
                               firn_parsed_filter *out) {
    firn_status status = FIRN_OK;
    filter_vector operands = {0};
    firn_parsed_filter next;
    do {
        next = (firn_parsed_filter){0};
        FIRN_CHECK(operand(p, &next));
        FIRN_CHECK(firn_vector_push(&operands, p->error, next));
    } while (take_word(p, word));
    if (operands.count == 1) {
        *out = operands.items[0];
        goto out;
    }
    *out = (firn_parsed_filter){.op = op, .child_count = operands.count};
    out->children =
        firn_arena_memdup(p->arena, operands.items, operands.count * sizeof *operands.items);
    if (out->children == NULL) status = firn_fail_memory(p->error);
out:
    firn_vector_release(&operands);
    return status;
}

static firn_status parse_and(parser *p, firn_parsed_filter *out) {
    return parse_chain(p, FIRN_OPERATOR_AND, "and", parse_not, out);
}

static firn_status parse_or(parser *p, firn_parsed_filter *out) {
    return parse_chain(p, FIRN_OPERATOR_OR, "or", parse_and, out);
}

firn_status firn_filter_parse_text(const char *text, firn_arena *arena,
                                   const firn_parsed_filter **out, firn_error *error) {
    parser p = {.text = text, .at = text, .arena = arena, .error = error};
    if (strlen(text) > MAXIMUM_TEXT) {
        return firn_fail(error, FIRN_INVALID, "filter: is longer than %zu bytes", MAXIMUM_TEXT);
    }
    firn_parsed_filter *filter = firn_arena_alloc(arena, 1, sizeof *filter);
    if (filter == NULL) return firn_fail_memory(error);
    FIRN_TRY(parse_or(&p, filter));
    skip_spaces(&p);
    if (*p.at != '\0') return expected(&p, "AND, OR or the end");
    *out = filter;
    return FIRN_OK;
}
