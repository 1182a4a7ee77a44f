/*
 * A pattern becomes a small program whose states are all followed at once (a nondeterministic automaton), so that no pattern makes
 * matching go back: braces and stars cost no more than letters.
 */
#include <string.h>

#include "base/alloc.h"
#include "lake/listing_internal.h"

#define LONGEST_PATTERN ((size_t)4096)
#define DEEPEST_BRACES 16
#define NO_TARGET UINT32_MAX

typedef enum operation_kind {
    OPERATION_CHARACTER, /* `value` */
    OPERATION_ANY,       /* any but a slash */
    OPERATION_ALL,       /* any */
    OPERATION_CLASS, /* one of the ranges from `value` on, `other` of them, or none of them; no slash */
    OPERATION_NOT_CLASS,
    OPERATION_SPLIT, /* on at `value` and at `other` */
    OPERATION_STAR,  /* the same, at a star */
    OPERATION_JUMP,  /* on at `value` */
    OPERATION_MATCH
} operation_kind;

typedef struct operation {
    operation_kind kind;
    uint32_t value, other;
} operation;

typedef struct character_range {
    uint32_t first, last;
} character_range;

/* The states that hold at one place of the text. */
typedef struct state_set {
    uint32_t *states;
    size_t count;
} state_set;

struct firn_lake_glob {
    FIRN_VECTOR(operation) program;
    FIRN_VECTOR(character_range) ranges;
    state_set now, next;
    uint32_t *pending; /* states whose ways on are still to be followed */
    uint64_t *marks;   /* by state: the step that put it into a set last */
    uint64_t step;
    bool literally; /* the next character must be the pattern's own, and its segment's first */
    bool takes_folders;
};

typedef struct compiler {
    firn_lake_glob *glob;
    const char *pattern;
    size_t at;
    bool even;
    int depth;
} compiler;

static firn_status emit(compiler *c, operation_kind kind, uint32_t value, uint32_t other,
                        firn_error *error) {
    operation made = {kind, value, other};
    return firn_vector_push(&c->glob->program, error, made);
}

static uint32_t place(const compiler *c) {
    return (uint32_t)c->glob->program.count;
}

/* "**" beside a brace or a comma may be a whole segment or not, by the alternative that is taken. */
static bool stands_unclear(const compiler *c, size_t start, size_t end) {
    char before = start == 0 ? '/' : c->pattern[start - 1];
    char after = c->pattern[end];
    bool braces = before == '}' || after == '{' ||
                  (c->depth > 0 && (strchr("{,", before) != NULL || strchr(",}/", after) != NULL));
    bool may_start = before == '/' || before == '}' || before == '{' || before == ',';
    bool may_end = after == '\0' || strchr("/{},", after) != NULL;
    return braces && may_start && may_end && !(before == '/' && (after == '/' || after == '\0'));
}

static bool at_segment_start(const compiler *c) {
    return c->at == 0 || c->pattern[c->at - 1] == '/';
}

static bool ends_segment(char c) {
    return c == '\0' || c == '/';
}

/* One or more of any: L: all, split L next. */
static firn_status emit_all(compiler *c, firn_error *error) {
    uint32_t start = place(c);
    FIRN_TRY(emit(c, OPERATION_ALL, 0, 0, error));
    return emit(c, OPERATION_SPLIT, start, start + 2, error);
}

static firn_status compile_stars(compiler *c, firn_error *error) {
    bool starts = at_segment_start(c);
    size_t count = strspn(c->pattern + c->at, "*");
    c->at += count;
    char after = c->pattern[c->at];
    uint32_t start = place(c);
    if (count == 2 && stands_unclear(c, c->at - count, c->at)) {
        return firn_fail(error, FIRN_INVALID,
                         "\"**\" beside a brace or a comma of one; write a \"/\" between them, or "
                         "several patterns");
    }
    if (count == 2 && starts && after == '\0') {
        c->glob->takes_folders = true;
        return emit_all(c, error);
    }
    if (count == 2 && starts && after == '/') {
        /* Any number of whole segments: (all+ '/')? */
        c->at++;
        FIRN_TRY(emit(c, OPERATION_SPLIT, start + 1, start + 4, error));
        FIRN_TRY(emit_all(c, error));
        return emit(c, OPERATION_CHARACTER, '/', 0, error);
    }
    FIRN_TRY(emit(c, OPERATION_STAR, start + 1, start + 3, error));
    FIRN_TRY(emit(c, OPERATION_ANY, 0, 0, error));
    return emit(c, OPERATION_JUMP, start, 0, error);
}

static firn_status fail_class(firn_error *error) {
    return firn_fail(error, FIRN_INVALID,
                     "'[' is not closed within its segment; write [[] for the character itself");
}

static firn_status compile_class(compiler *c, firn_error *error) {
    size_t first = c->glob->ranges.count;
    c->at++;
    bool negated = c->pattern[c->at] == '!' || c->pattern[c->at] == '^';
    if (negated) c->at++;
    for (bool any = false; !any || c->pattern[c->at] != ']'; any = true) {
        size_t size = 0;
        if (ends_segment(c->pattern[c->at])) return fail_class(error);
        character_range range;
        range.first = range.last = firn_lake_character(c->pattern + c->at, &size);
        c->at += size;
        if (c->pattern[c->at] == '-' && c->pattern[c->at + 1] != ']') {
            c->at++;
            if (ends_segment(c->pattern[c->at])) return fail_class(error);
            range.last = firn_lake_character(c->pattern + c->at, &size);
            c->at += size;
        }
        if (range.last < range.first) {
            return firn_fail(error, FIRN_INVALID, "a range in [] that runs backwards");
        }
        FIRN_TRY(firn_vector_push(&c->glob->ranges, error, range));
    }
    c->at++;
    return emit(c, negated ? OPERATION_NOT_CLASS : OPERATION_CLASS, (uint32_t)first,
                (uint32_t)(c->glob->ranges.count - first), error);
}

static firn_status compile_sequence(compiler *c, firn_error *error);

/* Each alternative ends in a jump behind them all; until that place is known, the jumps are chained by their targets. */
static firn_status compile_braces(compiler *c, firn_error *error) {
    if (++c->depth > DEEPEST_BRACES) {
        return firn_fail(error, FIRN_INVALID, "more than %d braces one in the other",
                         DEEPEST_BRACES);
    }
    uint32_t jumps = NO_TARGET;
    for (;;) {
        c->at++;
        uint32_t split = place(c);
        FIRN_TRY(emit(c, OPERATION_SPLIT, split + 1, NO_TARGET, error));
        FIRN_TRY(compile_sequence(c, error));
        if (c->pattern[c->at] == '\0') {
            return firn_fail(error, FIRN_INVALID,
                             "'{' is not closed; write [{] for the character itself");
        }
        if (c->pattern[c->at] == '}') {
            c->glob->program.items[split] = (operation){OPERATION_JUMP, split + 1, 0};
            break;
        }
        FIRN_TRY(emit(c, OPERATION_JUMP, jumps, 0, error));
        jumps = place(c) - 1;
        c->glob->program.items[split].other = place(c);
    }
    c->at++;
    c->depth--;
    while (jumps != NO_TARGET) {
        uint32_t next = c->glob->program.items[jumps].value;
        c->glob->program.items[jumps].value = place(c);
        jumps = next;
    }
    return FIRN_OK;
}

static firn_status compile_character(compiler *c, firn_error *error) {
    size_t size = 0;
    uint32_t code = firn_lake_character(c->pattern + c->at, &size);
    c->at += size;
    return emit(c, OPERATION_CHARACTER, code, 0, error);
}

/* Passes over empty and "." segments. INVALID for "..". */
static firn_status skip_segments(compiler *c, firn_error *error) {
    const char *pattern = c->pattern;
    while (pattern[c->at] == '/' || (pattern[c->at] == '.' && pattern[c->at + 1] == '/')) {
        c->at += pattern[c->at] == '/' ? 1 : 2;
    }
    if (pattern[c->at] != '.' || pattern[c->at + 1] != '.' || !ends_segment(pattern[c->at + 2])) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID, "\"..\" behind the fixed part of a pattern");
}

static firn_status compile_sequence(compiler *c, firn_error *error) {
    for (;;) {
        if (c->even && at_segment_start(c)) FIRN_TRY(skip_segments(c, error));
        switch (c->pattern[c->at]) {
        case '\0': return FIRN_OK;
        case '*': FIRN_TRY(compile_stars(c, error)); break;
        case '?':
            c->at++;
            FIRN_TRY(emit(c, OPERATION_ANY, 0, 0, error));
            break;
        case '[': FIRN_TRY(compile_class(c, error)); break;
        case '{': FIRN_TRY(compile_braces(c, error)); break;
        case ',':
        case '}':
            if (c->depth > 0) return FIRN_OK;
            FIRN_TRY(compile_character(c, error));
            break;
        default: FIRN_TRY(compile_character(c, error));
        }
    }
}

static firn_status compile(firn_lake_glob *glob, const char *pattern, bool even,
                           firn_error *error) {
    size_t length = strlen(pattern);
    if (length > LONGEST_PATTERN) {
        return firn_fail(error, FIRN_LIMIT, "a pattern of more than %zu bytes", LONGEST_PATTERN);
    }
    compiler c = {.glob = glob, .pattern = pattern, .even = even};
    FIRN_TRY(compile_sequence(&c, error));
    if (length == 0 || pattern[length - 1] == '/') {
        /* A slash at the end: all that lies below. */
        glob->takes_folders = true;
        FIRN_TRY(emit_all(&c, error));
    }
    FIRN_TRY(emit(&c, OPERATION_MATCH, 0, 0, error));
    size_t count = glob->program.count;
    glob->now.states = firn_alloc_array(count, sizeof *glob->now.states);
    glob->next.states = firn_alloc_array(count, sizeof *glob->next.states);
    glob->pending = firn_alloc_array(count, 2 * sizeof *glob->pending);
    glob->marks = firn_alloc_zeroed(count, sizeof *glob->marks);
    if (glob->now.states == NULL || glob->next.states == NULL || glob->pending == NULL ||
        glob->marks == NULL) {
        return firn_fail_memory(error);
    }
    return FIRN_OK;
}

firn_status firn_lake_glob_new(const char *pattern, bool even, firn_lake_glob **out,
                               firn_error *error) {
    firn_lake_glob *glob = firn_alloc_zeroed(1, sizeof *glob);
    if (glob == NULL) return firn_fail_memory(error);
    firn_status status = compile(glob, pattern, even, error);
    if (status != FIRN_OK) {
        firn_lake_glob_free(glob);
        return status;
    }
    *out = glob;
    return FIRN_OK;
}

void firn_lake_glob_free(firn_lake_glob *glob) {
    if (glob == NULL) return;
    firn_vector_release(&glob->program);
    firn_vector_release(&glob->ranges);
    firn_free(glob->now.states);
    firn_free(glob->next.states);
    firn_free(glob->pending);
    firn_free(glob->marks);
    firn_free(glob);
}

bool firn_lake_glob_takes_folders(const firn_lake_glob *glob) {
    return glob->takes_folders;
}

/*
 * Puts a state, and those that it leads to without a character, into the set. Each state that is marked takes one from `pending`
 * and puts at most two there, so that there are never more than one and the program's length.
 */
static void add_state(firn_lake_glob *glob, state_set *set, uint32_t state) {
    size_t pending = 0;
    glob->pending[pending++] = state;
    while (pending > 0) {
        state = glob->pending[--pending];
        if (glob->marks[state] == glob->step) continue;
        glob->marks[state] = glob->step;
        const operation *o = &glob->program.items[state];
        switch (o->kind) {
        case OPERATION_STAR:
            if (glob->literally) break; /* not even one that stands for nothing */
            glob->pending[pending++] = o->other;
            glob->pending[pending++] = o->value;
            break;
        case OPERATION_SPLIT:
            glob->pending[pending++] = o->other;
            glob->pending[pending++] = o->value;
            break;
        case OPERATION_JUMP: glob->pending[pending++] = o->value; break;
        default: set->states[set->count++] = state;
        }
    }
}

static bool in_class(const firn_lake_glob *glob, const operation *o, uint32_t code) {
    for (uint32_t i = 0; i < o->other; i++) {
        const character_range *range = &glob->ranges.items[o->value + i];
        if (code >= range->first && code <= range->last) return true;
    }
    return false;
}

static bool takes(const firn_lake_glob *glob, const operation *o, uint32_t code, bool literally) {
    if (o->kind == OPERATION_CHARACTER) return o->value == code;
    if (literally) return false;
    switch (o->kind) {
    case OPERATION_ALL: return true;
    case OPERATION_ANY: return code != '/';
    case OPERATION_CLASS: return code != '/' && in_class(glob, o, code);
    case OPERATION_NOT_CLASS: return code != '/' && !in_class(glob, o, code);
    default: return false;
    }
}

static void start(firn_lake_glob *glob) {
    glob->now.count = 0;
    glob->step++;
    add_state(glob, &glob->now, 0);
}

/* Passes over a character; false: nothing can match any more. */
static bool pass(firn_lake_glob *glob, uint32_t code, bool literally) {
    glob->next.count = 0;
    glob->step++;
    for (size_t i = 0; i < glob->now.count; i++) {
        uint32_t state = glob->now.states[i];
        if (takes(glob, &glob->program.items[state], code, literally)) {
            add_state(glob, &glob->next, state + 1);
        }
    }
    state_set swapped = glob->now;
    glob->now = glob->next;
    glob->next = swapped;
    return glob->now.count > 0;
}

/* Whether the segment that begins here must be matched by the pattern's own first character. */
static bool is_spared(const char *segment) {
    size_t length = strcspn(segment, "/");
    return firn_lake_is_hidden(segment, length, segment[length] == '/');
}

static bool pass_text(firn_lake_glob *glob, const char *text, bool spares_hidden) {
    size_t size = 0;
    glob->literally = spares_hidden && is_spared(text);
    start(glob);
    for (; *text != '\0'; text += size) {
        bool literally = glob->literally;
        uint32_t code = firn_lake_character(text, &size);
        glob->literally = spares_hidden && code == '/' && is_spared(text + size);
        if (!pass(glob, code, literally)) return false;
    }
    return true;
}

bool firn_lake_glob_match(firn_lake_glob *glob, const char *text, bool spares_hidden) {
    if (!pass_text(glob, text, spares_hidden)) return false;
    uint32_t match = (uint32_t)glob->program.count - 1;
    for (size_t i = 0; i < glob->now.count; i++) {
        if (glob->now.states[i] == match) return true;
    }
    return false;
}

bool firn_lake_glob_may_match_below(firn_lake_glob *glob, const char *text) {
    return pass_text(glob, text, false) && pass(glob, '/', false);
}
