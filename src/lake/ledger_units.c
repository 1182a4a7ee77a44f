/** Names of units in a table property, as tools keep them that know no ledger. */
#include <stdlib.h>

#include "base/json.h"
#include "base/map.h"
#include "base/vector.h"
#include "lake/ledger.h"

#define MAXIMUM_TEXT ((size_t)256 << 20)

static char present; /* its address marks a key */

typedef struct unit_list {
    FIRN_VECTOR(const char *) units;
    bool commas;  /**< names with commas between */
    bool spaces;  /**< with a space behind each comma */
    bool numbers; /**< a JSON array of numbers only, and not of none */
} unit_list;

static firn_status not_units(const char *text, firn_error *error) {
    return firn_fail(error, FIRN_INVALID,
                     "'%.60s%s' is no list of units: a JSON array of texts or numbers, or names "
                     "with commas between them",
                     text, strlen(text) > 60 ? "…" : "");
}

static const char *skip_spaces(const char *text) {
    return text + strspn(text, " \t\r\n");
}

static firn_status push_piece(unit_list *list, const char *start, size_t size, firn_arena *arena,
                              firn_error *error) {
    char *copy = firn_arena_strndup(arena, start, size);
    if (copy == NULL) return firn_fail_memory(error);
    return firn_vector_push(&list->units, error, copy);
}

static firn_status parse_item(unit_list *list, const json_t *item, const char *text,
                              firn_arena *arena, firn_error *error) {
    char number[32];
    if (json_is_string(item) && json_string_length(item) > 0) {
        list->numbers = false;
        return push_piece(list, json_string_value(item), json_string_length(item), arena, error);
    }
    if (!json_is_integer(item)) return not_units(text, error);
    (void)snprintf(number, sizeof number, "%lld", (long long)json_integer_value(item));
    return push_piece(list, number, strlen(number), arena, error);
}

static firn_status parse_array(unit_list *list, const char *text, firn_arena *arena,
                               firn_error *error) {
    firn_status status = FIRN_OK;
    json_t *array = NULL;
    size_t index;
    json_t *item;
    status = firn_json_parse(firn_slice_text(text), "units", &array, error);
    if (status == FIRN_NO_MEMORY) return status;
    if (status != FIRN_OK || !json_is_array(array)) {
        json_decref(array);
        return not_units(text, error);
    }
    list->numbers = json_array_size(array) > 0;
    json_array_foreach(array, index, item) {
        FIRN_CHECK(parse_item(list, item, text, arena, error));
    }
out:
    json_decref(array);
    return status;
}

static firn_status parse_names(unit_list *list, const char *text, firn_arena *arena,
                               firn_error *error) {
    list->commas = true;
    list->spaces = strstr(text, ", ") != NULL;
    for (const char *at = text;;) {
        at = skip_spaces(at);
        size_t length = strcspn(at, ",");
        size_t size = length;
        while (size > 0 && strchr(" \t\r\n", at[size - 1]) != NULL) size--;
        /* A comma behind the last name is common; an empty name is none. */
        if (size == 0 && (at[length] == ',' || list->units.count == 0)) {
            return not_units(text, error);
        }
        if (size > 0) FIRN_TRY(push_piece(list, at, size, arena, error));
        if (at[length] == '\0') return FIRN_OK;
        at += length + 1;
    }
}

/** Texts that begin so are JSON, or nothing. */
static bool begins_json(const char *text) {
    return *text == '[' || *text == '{' || *text == '"';
}

static firn_status parse(unit_list *list, const char *text, firn_arena *arena, firn_error *error) {
    *list = (unit_list){0};
    if (text == NULL) return FIRN_OK;
    const char *first = skip_spaces(text);
    /* An empty array is "[]". */
    list->commas = *first == '\0';
    if (list->commas) return FIRN_OK;
    if (begins_json(first) && *first != '[') return not_units(text, error);
    return *first == '[' ? parse_array(list, text, arena, error)
                         : parse_names(list, text, arena, error);
}

firn_status firn_unit_property_parse(const char *text, firn_arena *arena, const char *const **out,
                                     size_t *count, firn_error *error) {
    unit_list list;
    firn_status status = parse(&list, text, arena, error);
    if (status == FIRN_OK) {
        const char **units = firn_arena_alloc(arena, list.units.count, sizeof *units);
        if (units == NULL) {
            status = firn_fail_memory(error);
        } else {
            if (list.units.count > 0) {
                memcpy(units, list.units.items, list.units.count * sizeof *units);
            }
            *out = units;
            *count = list.units.count;
        }
    }
    firn_vector_release(&list.units);
    return status;
}

/* --- writing ------------------------------------------------------------------------------------ */

/** Whether a name comes back as it is from between commas. */
static bool fits_between_commas(const char *unit) {
    size_t size = strlen(unit);
    return size > 0 && strchr(unit, ',') == NULL && skip_spaces(unit) == unit &&
           strchr(" \t\r\n", unit[size - 1]) == NULL;
}

bool firn_unit_property_can_name(const char *text, const char *unit) {
    bool commas = text != NULL && !begins_json(skip_spaces(text));
    return !commas || (fits_between_commas(unit) && !begins_json(unit));
}

/** A whole number as JSON writes it, so that it comes back the same. */
static bool is_number(const char *text, long long *out) {
    char again[32];
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0') return false;
    (void)snprintf(again, sizeof again, "%lld", value);
    *out = value;
    return strcmp(again, text) == 0;
}

/** Of whole numbers only. */
static int by_number(const void *left, const void *right) {
    long long a = 0, b = 0;
    (void)is_number(*(const char *const *)left, &a);
    (void)is_number(*(const char *const *)right, &b);
    return (a > b) - (a < b);
}

static int by_text(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_sorted(const unit_list *list, int (*compare)(const void *, const void *)) {
    for (size_t i = 1; i < list->units.count; i++) {
        if (compare(&list->units.items[i - 1], &list->units.items[i]) > 0) return false;
    }
    return true;
}

static bool all_numbers(const unit_list *list) {
    long long number = 0;
    for (size_t i = 0; i < list->units.count; i++) {
        if (!is_number(list->units.items[i], &number)) return false;
    }
    return true;
}

static firn_status append_new(unit_list *list, const char *const *units, size_t count,
                              firn_error *error) {
    firn_status status = FIRN_OK;
    firn_map *known = firn_map_new();
    if (known == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < list->units.count; i++) {
        FIRN_CHECK(firn_map_set_text(known, list->units.items[i], &present, error));
    }
    for (size_t i = 0; i < count; i++) {
        if (firn_map_has_text(known, units[i])) continue;
        FIRN_CHECK(firn_map_set_text(known, units[i], &present, error));
        FIRN_CHECK(firn_vector_push(&list->units, error, units[i]));
    }
out:
    firn_map_free(known);
    return status;
}

static firn_status write_names(const unit_list *list, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < list->units.count; i++) {
        const char *unit = list->units.items[i];
        if (!fits_between_commas(unit) || (i == 0 && begins_json(unit))) {
            return firn_fail(error, FIRN_BLOCKED,
                             "unit '%s' can't be named in a list with commas between names; a JSON "
                             "array can name every unit",
                             unit);
        }
        const char *between = i == 0 ? "" : list->spaces ? ", " : ",";
        FIRN_TRY(firn_buffer_printf(out, error, "%s%s", between, unit));
    }
    return FIRN_OK;
}

static json_t *unit_to_json(const char *unit, bool numbers) {
    long long number = 0;
    return numbers && is_number(unit, &number) ? json_integer(number) : json_string(unit);
}

static firn_status write_array(const unit_list *list, firn_buffer *out, firn_error *error) {
    firn_status status = FIRN_OK;
    json_t *array = json_array();
    if (array == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < list->units.count; i++) {
        FIRN_CHECK(
            firn_json_append(array, unit_to_json(list->units.items[i], list->numbers), error));
    }
    FIRN_CHECK(firn_json_write(array, 0, out, error));
out:
    json_decref(array);
    return status;
}

static firn_status write_list(const unit_list *list, firn_buffer *out, firn_error *error) {
    return list->commas ? write_names(list, out, error) : write_array(list, out, error);
}

static firn_status add(unit_list *list, const char *const *units, size_t count, firn_buffer *out,
                       firn_error *error) {
    size_t before = list->units.count;
    bool texts = before > 0 && is_sorted(list, by_text);
    bool numbers = before > 0 && all_numbers(list) && is_sorted(list, by_number);
    FIRN_TRY(append_new(list, units, count, error));
    numbers = numbers && all_numbers(list);
    if (list->units.count > before && (texts || numbers)) {
        qsort(list->units.items, list->units.count, sizeof *list->units.items,
              numbers ? by_number : by_text);
    }
    return write_list(list, out, error);
}

static firn_status take_text(const firn_buffer *buffer, firn_arena *arena, const char **out,
                             firn_error *error) {
    const char *bytes = buffer->size == 0 ? "" : (const char *)buffer->data;
    *out = firn_arena_strndup(arena, bytes, buffer->size);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_unit_property_add(const char *text, const char *const *units, size_t unit_count,
                                   firn_arena *arena, const char **out, firn_error *error) {
    unit_list list;
    firn_buffer buffer = firn_buffer_with_maximum(MAXIMUM_TEXT);
    firn_status status = parse(&list, text, arena, error);
    if (status == FIRN_OK) status = add(&list, units, unit_count, &buffer, error);
    if (status == FIRN_OK) status = take_text(&buffer, arena, out, error);
    firn_vector_release(&list.units);
    firn_buffer_release(&buffer);
    return status;
}

/** Without those that are in `units`. */
static firn_status keep_others(unit_list *list, const char *const *units, size_t count,
                               firn_error *error) {
    firn_status status = FIRN_OK;
    size_t kept = 0;
    firn_map *gone = firn_map_new();
    if (gone == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_CHECK(firn_map_set_text(gone, units[i], &present, error));
    }
    for (size_t i = 0; i < list->units.count; i++) {
        const char *unit = list->units.items[i];
        if (!firn_map_has_text(gone, unit)) list->units.items[kept++] = unit;
    }
    list->units.count = kept;
out:
    firn_map_free(gone);
    return status;
}

firn_status firn_unit_property_remove(const char *text, const char *const *units, size_t unit_count,
                                      firn_arena *arena, const char **out, firn_error *error) {
    unit_list list;
    firn_buffer buffer = firn_buffer_with_maximum(MAXIMUM_TEXT);
    firn_status status = parse(&list, text, arena, error);
    if (status == FIRN_OK) status = keep_others(&list, units, unit_count, error);
    if (status == FIRN_OK) status = write_list(&list, &buffer, error);
    if (status == FIRN_OK) status = take_text(&buffer, arena, out, error);
    firn_vector_release(&list.units);
    firn_buffer_release(&buffer);
    return status;
}
