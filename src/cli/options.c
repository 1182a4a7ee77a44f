#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "report/format.h"

#define MAXIMUM_OPTIONS 64
#define MAXIMUM_VERBS 64
#define MAXIMUM_THREADS 1024

typedef struct parser {
    int argc;
    char *const *argv;
    int at;
    firn_options *out;
    bool seen[MAXIMUM_OPTIONS];
    const char *words[FIRN_MAX_ARGUMENTS + 2]; /* verb and arguments */
    size_t word_count;
} parser;

/* `dashes`: what the option was given with. */
static firn_status fail_option(const char *dashes, const char *name, firn_error *error) {
    const char *names[MAXIMUM_OPTIONS];
    char note[FIRN_NEAREST_NOTE_SIZE];
    for (size_t i = 0; i < firn_option_count; i++) names[i] = firn_option_table[i].name;
    return firn_fail(error, FIRN_INVALID, "unknown option %s%s%s (see firn help)", dashes, name,
                     firn_nearest_note(note, name, names, firn_option_count, "--", ""));
}

static size_t find_option(const char *name, size_t length) {
    for (size_t i = 0; i < firn_option_count; i++) {
        const char *known = firn_option_table[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) return i;
    }
    return firn_option_count;
}

/* Seconds, or with "ms", "s", "m", "h" behind the number. As firn_parse_whole. */
static int parse_duration(const char *text, int64_t *milliseconds) {
    static const struct {
        const char *unit;
        int64_t milliseconds;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
    size_t digits = strspn(text, "0123456789");
    int64_t number = 0;
    int code = firn_parse_whole(text, digits, &number);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].unit) != 0) continue;
        if (code != 0) return code;
        bool large = __builtin_mul_overflow(number, units[i].milliseconds, milliseconds);
        return large ? ERANGE : 0;
    }
    return EINVAL;
}

/* A decimal fraction; the locale has no say in it. */
static bool parse_ratio(const char *text, double *out) {
    size_t whole = strspn(text, "0123456789");
    size_t digits = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    if (whole + digits == 0 || whole > 3 || digits > 15) return false;
    if (text[whole + (text[whole] == '.') + digits] != '\0') return false;
    int64_t number = 0;
    double scale = 1;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '.') continue;
        number = number * 10 + (*c - '0');
        if (c > text + whole) scale *= 10;
    }
    *out = (double)number / scale;
    return *out <= 1;
}

static firn_status store_text(const firn_option *option, void *member, const char *value,
                              firn_error *error) {
    if (value[0] == '\0') {
        return firn_fail(error, FIRN_INVALID, "option --%s: the value is empty", option->name);
    }
    if (option->kind == FIRN_OPTION_TEXT) {
        *(const char **)member = value;
        return FIRN_OK;
    }
    firn_option_list *list = member;
    if (list->count == FIRN_MAX_REPEATS) {
        return firn_fail(error, FIRN_INVALID, "option --%s: given more than %d times", option->name,
                         FIRN_MAX_REPEATS);
    }
    list->items[list->count++] = value;
    return FIRN_OK;
}

/* What a number of the kind looks like. */
static const char *wanted_number(firn_option_kind kind) {
    switch (kind) {
    case FIRN_OPTION_BYTES:
        return "number of bytes; it is a whole number above 0, alone or with KB, MB, GB or TB "
               "behind it, as in 512MB";
    case FIRN_OPTION_COUNT: return "whole number above 0";
    case FIRN_OPTION_SECONDS:
        return "time; it is a whole number of seconds, or one with ms, s, m or h behind it";
    default: return "whole number";
    }
}

static firn_status store_number(const firn_option *option, int64_t *member, const char *value,
                                firn_error *error) {
    bool positive = option->kind == FIRN_OPTION_BYTES || option->kind == FIRN_OPTION_COUNT;
    int64_t number = 0;
    int code = 0;
    if (option->kind == FIRN_OPTION_BYTES) {
        code = firn_parse_bytes(value, &number);
    } else if (option->kind == FIRN_OPTION_SECONDS) {
        code = parse_duration(value, &number);
    } else {
        code = firn_parse_whole(value, strlen(value), &number);
    }
    if (code == ERANGE) {
        return firn_fail(error, FIRN_INVALID, "option --%s: \"%s\" is too large", option->name,
                         value);
    }
    if (code != 0 || (positive && number == 0)) {
        return firn_fail(error, FIRN_INVALID, "option --%s: \"%s\" is no %s", option->name, value,
                         wanted_number(option->kind));
    }
    *member = number;
    return FIRN_OK;
}

static firn_status store(parser *state, const firn_option *option, const char *value,
                         firn_error *error) {
    void *member = (char *)state->out + option->offset;
    switch (option->kind) {
    case FIRN_OPTION_FLAG: *(bool *)member = true; return FIRN_OK;
    case FIRN_OPTION_COUNTER: (*(int64_t *)member)++; return FIRN_OK;
    case FIRN_OPTION_TEXT:
    case FIRN_OPTION_TEXTS: return store_text(option, member, value, error);
    case FIRN_OPTION_BYTES:
    case FIRN_OPTION_COUNT:
    case FIRN_OPTION_NUMBER:
    case FIRN_OPTION_SECONDS: return store_number(option, member, value, error);
    case FIRN_OPTION_RATIO: break;
    }
    if (parse_ratio(value, member)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "option --%s: \"%s\" is no ratio; it is a number from 0 to 1, as in 0.3",
                     option->name, value);
}

/* `inline_value`: what stands behind "=", or NULL. */
static firn_status take_option(parser *state, size_t index, const char *inline_value,
                               firn_error *error) {
    const firn_option *option = &firn_option_table[index];
    const char *value = inline_value;
    state->seen[index] = true;
    if (option->value == NULL && inline_value != NULL) {
        return firn_fail(error, FIRN_INVALID, "option --%s takes no value", option->name);
    }
    if (option->value != NULL && value == NULL) {
        bool none = state->at + 1 >= state->argc;
        if (none || strncmp(state->argv[state->at + 1], "--", 2) == 0) {
            return firn_fail(error, FIRN_INVALID, "option --%s needs a value: --%s %s",
                             option->name, option->name, option->value);
        }
        value = state->argv[++state->at];
    }
    return store(state, option, value, error);
}

static firn_status take_long(parser *state, const char *text, firn_error *error) {
    const char *equals = strchr(text, '=');
    size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
    size_t index = find_option(text, length);
    if (index == firn_option_count) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(length > 63 ? 63 : length), text);
        return fail_option("--", name, error);
    }
    return take_option(state, index, equals == NULL ? NULL : equals + 1, error);
}

/* One or more letters: -v, -vv. */
static firn_status take_letters(parser *state, const char *letters, firn_error *error) {
    for (const char *c = letters; *c != '\0'; c++) {
        size_t index = 0;
        while (index < firn_option_count && firn_option_table[index].letter != *c) index++;
        if (index == firn_option_count) {
            return fail_option("-", letters, error);
        }
        FIRN_TRY(take_option(state, index, NULL, error));
    }
    return FIRN_OK;
}

static firn_status take_word(parser *state, const char *word, firn_error *error) {
    size_t room = sizeof state->words / sizeof *state->words;
    if (state->word_count == room) {
        return firn_fail(error, FIRN_INVALID, "too many arguments, from \"%s\" on", word);
    }
    state->words[state->word_count++] = word;
    return FIRN_OK;
}

static firn_status take_all(parser *state, firn_error *error) {
    bool only_words = false;
    for (state->at = 1; state->at < state->argc; state->at++) {
        const char *text = state->argv[state->at];
        if (only_words || text[0] != '-' || text[1] == '\0') {
            FIRN_TRY(take_word(state, text, error));
        } else if (strcmp(text, "--") == 0) {
            only_words = true;
        } else if (text[1] == '-') {
            FIRN_TRY(take_long(state, text + 2, error));
        } else {
            FIRN_TRY(take_letters(state, text + 1, error));
        }
    }
    return FIRN_OK;
}

/* Verbs of the design that no version up to this one has. */
static bool is_planned(const char *word) {
    static const char *const planned[] = {
        "evolve",           "rewrite-manifests", "expire", "remove-orphans", "restore",
        "apply-properties", "maintain",          "health", "rollback",       "tag",
        "branch",           "set-property",      "view",   "serve",          "engines"};
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++) {
        if (strcmp(word, planned[i]) == 0) return true;
    }
    return false;
}

bool firn_verb_in_family(const firn_verb *verb, const char *word) {
    size_t length = strlen(word);
    return strncmp(verb->name, word, length) == 0 && verb->name[length] == ' ';
}

/* The verbs of two words that `word` begins. */
static size_t family_of(const char *word, const char *names[MAXIMUM_VERBS]) {
    size_t count = 0;
    for (size_t i = 0; i < firn_verb_count; i++) {
        const firn_verb *verb = &firn_verb_table[i];
        if (firn_verb_in_family(verb, word)) names[count++] = verb->name;
    }
    return count;
}

/* `second`: the word behind it, or NULL. */
static firn_status fail_family(const char *first, const char *second, const char *const *names,
                               size_t count, firn_error *error) {
    char list[128];
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++) {
        int added = snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
        used += (size_t)added;
    }
    if (second == NULL) {
        return firn_fail(error, FIRN_INVALID, "%s is not a verb by itself; there is: %s", first,
                         list);
    }
    char note[FIRN_NEAREST_NOTE_SIZE];
    if (firn_nearest_note(note, second, names, count, "", "")[0] != '\0') {
        return firn_fail(error, FIRN_INVALID, "unknown verb \"%s %.60s\"%s (firn help lists all)",
                         first, second, note);
    }
    return firn_fail(error, FIRN_INVALID, "%s %.60s is not in this version of firn; there is: %s",
                     first, second, list);
}

static firn_status fail_verb(const parser *state, firn_error *error) {
    const char *first = state->words[0];
    const char *names[MAXIMUM_VERBS];
    char word[64];
    char note[FIRN_NEAREST_NOTE_SIZE];
    size_t family = family_of(first, names);
    if (family > 0) {
        const char *second = state->word_count > 1 ? state->words[1] : NULL;
        return fail_family(first, second, names, family, error);
    }
    snprintf(word, sizeof word, "%.60s", first);
    if (is_planned(first)) {
        return firn_fail(error, FIRN_INVALID,
                         "%s is not in this version of firn (firn help lists what is)", word);
    }
    for (size_t i = 0; i < firn_verb_count; i++) names[i] = firn_verb_table[i].name;
    return firn_fail(error, FIRN_INVALID, "unknown verb \"%s\"%s (firn help lists all)", word,
                     firn_nearest_note(note, word, names, firn_verb_count, "", ""));
}

/* The verb that the words begin with, or NULL; *used: how many of them it has. */
static const firn_verb *look_up(const parser *state, size_t *used) {
    if (state->word_count > 1) {
        char both[64];
        snprintf(both, sizeof both, "%.30s %.30s", state->words[0], state->words[1]);
        const firn_verb *verb = firn_verb_find(both);
        *used = 2;
        if (verb != NULL) return verb;
    }
    *used = 1;
    return state->word_count == 0 ? NULL : firn_verb_find(state->words[0]);
}

static firn_status find_verb(parser *state, const firn_verb **verb, firn_error *error) {
    size_t used = 0;
    *verb = look_up(state, &used);
    if (*verb == NULL) return fail_verb(state, error);
    if (state->word_count - used > FIRN_MAX_ARGUMENTS) {
        return firn_fail(error, FIRN_INVALID, "%s: too many arguments", (*verb)->name);
    }
    for (size_t i = used; i < state->word_count; i++) {
        state->out->arguments[state->out->argument_count++] = state->words[i];
    }
    return FIRN_OK;
}

static firn_status check_fit(const parser *state, const firn_verb *verb, firn_error *error) {
    for (size_t i = 0; i < firn_option_count; i++) {
        if (!state->seen[i] || (verb->options & firn_option_table[i].group) != 0) continue;
        return firn_fail(error, FIRN_INVALID, "%s takes no option --%s (see firn help %s)",
                         verb->name, firn_option_table[i].name, verb->name);
    }
    if (state->out->threads > MAXIMUM_THREADS) {
        return firn_fail(error, FIRN_INVALID, "option --threads: at most %d", MAXIMUM_THREADS);
    }
    size_t count = state->out->argument_count;
    if (count < verb->least) {
        return firn_fail(error, FIRN_INVALID, "%s needs %s: firn %s %s", verb->name,
                         verb->arguments, verb->name, verb->arguments);
    }
    if (count > verb->most) {
        return firn_fail(error, FIRN_INVALID, "%s: one argument too many: \"%s\" (firn %s%s%s)",
                         verb->name, state->out->arguments[verb->most], verb->name,
                         verb->arguments[0] == '\0' ? "" : " ", verb->arguments);
    }
    return FIRN_OK;
}

firn_status firn_options_parse(int argc, char *const *argv, firn_options *out,
                               const firn_verb **verb, firn_error *error) {
    *out = (firn_options){.lock_timeout_ms = -1, .delete_ratio_threshold = -1, .retries = -1};
    *verb = NULL;
    parser state = {.argc = argc, .argv = argv, .out = out};
    size_t used = 0;
    firn_status status = take_all(&state, error);
    if (status != FIRN_OK) {
        *verb = look_up(&state, &used);
        return status;
    }
    if (out->version || state.word_count == 0) return FIRN_OK;
    /* "firn parquet --help" is of every verb that begins so. */
    const char *names[MAXIMUM_VERBS];
    if (out->help && state.word_count == 1 && family_of(state.words[0], names) > 0) {
        out->arguments[out->argument_count++] = state.words[0];
        return FIRN_OK;
    }
    FIRN_TRY(find_verb(&state, verb, error));
    if (out->help) return FIRN_OK;
    return check_fit(&state, *verb, error);
}

bool firn_options_want_json(int argc, char *const *argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) return false;
        if (strcmp(argv[i], "--json") == 0) return true;
    }
    return false;
}
