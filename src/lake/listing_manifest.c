#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "lake/listing_internal.h"

#define PLACEHOLDER "{unit}"
#define PLACEHOLDER_LENGTH (sizeof PLACEHOLDER - 1)

/* What columns are for, and the options that name them; for messages. */
static const char *const column_purposes[] = {"units", "row counts", "files"};
static const char *const column_options[] = {"--unit-column", "--rows-column", "--path-column"};

static firn_status append_names(firn_buffer *out, const char *const *names, size_t count,
                                firn_error *error) {
    for (size_t i = 0; i < count && i < FIRN_LAKE_SHOWN_COLUMNS; i++) {
        FIRN_TRY(firn_buffer_printf(out, error, "%s%.60s", i == 0 ? "" : ", ", names[i]));
    }
    if (count > FIRN_LAKE_SHOWN_COLUMNS) FIRN_TRY(firn_buffer_append_text(out, ", …", error));
    return firn_buffer_append_byte(out, '\0', error);
}

static firn_status fail_missing(const char *name, firn_lake_column column, const char *const *names,
                                size_t count, firn_error *error) {
    firn_buffer shown = firn_buffer_with_maximum((size_t)64 * 1024);
    firn_status status = append_names(&shown, names, count, error);
    if (status == FIRN_OK) {
        status = firn_fail(
            error, FIRN_INVALID,
            "there is no column \"%s\" for the %s; there are: %s. %s says which one it is", name,
            column_purposes[column], (const char *)shown.data, column_options[column]);
    }
    firn_buffer_release(&shown);
    return status;
}

firn_status firn_lake_manifest_settle(firn_lake_manifest *manifest,
                                      const bool there[FIRN_LAKE_COLUMN_COUNT],
                                      const char *const *names, size_t count, firn_error *error) {
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        bool optional = i == FIRN_LAKE_ROWS_COLUMN && manifest->source->rows_column == NULL;
        if (manifest->names[i] == NULL || there[i] || optional) continue;
        manifest->collector->options_hold = false;
        return fail_missing(manifest->names[i], (firn_lake_column)i, names, count, error);
    }
    manifest->has_rows = there[FIRN_LAKE_ROWS_COLUMN];
    return FIRN_OK;
}

/* Digits, and at most a point and zeros behind them, as programs write counts that they hold as floating point. */
static firn_status parse_count(firn_slice text, int64_t *out, firn_error *error) {
    const char *digits = (const char *)text.data;
    size_t at = 0;
    int64_t count = 0;
    bool fits = true;
    if (text.size > 0 && digits[0] == '-') {
        return firn_fail(error, FIRN_INVALID, "a negative row count, %.*s",
                         text.size > 40 ? 40 : (int)text.size, digits);
    }
    for (; at < text.size && digits[at] >= '0' && digits[at] <= '9'; at++) {
        fits = fits && !__builtin_mul_overflow(count, 10, &count) &&
               !__builtin_add_overflow(count, digits[at] - '0', &count);
    }
    bool any = at > 0;
    if (any && at < text.size && digits[at] == '.') {
        at++;
        while (at < text.size && digits[at] == '0') at++;
    }
    if (!any || at < text.size) {
        return firn_fail(error, FIRN_INVALID, "\"%.*s\" is no row count",
                         text.size > 40 ? 40 : (int)text.size, digits);
    }
    if (!fits) return firn_fail(error, FIRN_INVALID, "a row count that is too large");
    *out = count;
    return FIRN_OK;
}

/* Tables and ledgers hold text, which is UTF-8. Which unit is meant can't be told; the others can be added. */
static firn_status blame_unnamable(const firn_lake_manifest *manifest, firn_lake_unit *unit,
                                   firn_error *error) {
    firn_lake_collector *collector = manifest->collector;
    unit->is_unnamable = collector->has_unnamable = true;
    unit->name = firn_lake_shown(collector->arena, unit->name);
    if (unit->name == NULL) return firn_fail_memory(error);
    const char *reason =
        firn_arena_format(collector->arena,
                          "row %zu: the unit's name \"%.200s\" is no UTF-8 and can't be recorded; "
                          "rename the unit",
                          manifest->row, unit->name);
    if (reason == NULL) return firn_fail_memory(error);
    return firn_lake_add_bad(collector, collector->source, (uint32_t)collector->units.count, reason,
                             error);
}

static firn_status find_unit(firn_lake_manifest *manifest, firn_slice name, uint32_t *out,
                             firn_error *error) {
    firn_lake_collector *collector = manifest->collector;
    uintptr_t known = (uintptr_t)firn_map_get(manifest->units, name, NULL);
    if (known != 0) {
        *out = (uint32_t)(known - 1);
        return FIRN_OK;
    }
    if (collector->units.count >= FIRN_LAKE_NO_UNIT) {
        return firn_fail(error, FIRN_LIMIT, "more units than firn can count");
    }
    firn_lake_unit unit = {.rows = manifest->has_rows ? 0 : -1};
    unit.name = firn_arena_strndup(collector->arena, (const char *)name.data, name.size);
    if (unit.name == NULL) return firn_fail_memory(error);
    if (!firn_lake_is_utf8(unit.name)) FIRN_TRY(blame_unnamable(manifest, &unit, error));
    *out = (uint32_t)collector->units.count;
    FIRN_TRY(firn_vector_push(&collector->units, error, unit));
    void *value = (void *)((uintptr_t)*out + 1); /* NOLINT: a number, never followed */
    return firn_map_set(manifest->units, name, value, error);
}

static firn_status check_text(const firn_lake_manifest *manifest, firn_lake_column column,
                              firn_slice value, firn_error *error) {
    const char *name = manifest->names[column];
    if (value.data == NULL) return firn_fail(error, FIRN_INVALID, "column \"%s\" is null", name);
    if (value.size == 0) return firn_fail(error, FIRN_INVALID, "column \"%s\" is empty", name);
    if (value.size > FIRN_LAKE_LONGEST_LOCATION) {
        return firn_fail(error, FIRN_INVALID, "column \"%s\" holds %zu bytes, more than %zu", name,
                         value.size, FIRN_LAKE_LONGEST_LOCATION);
    }
    if (memchr(value.data, 0, value.size) != NULL) {
        return firn_fail(error, FIRN_INVALID, "column \"%s\" holds a zero byte", name);
    }
    return FIRN_OK;
}

/* A row of a unit that has no rows may name no file. */
static firn_status add_file(firn_lake_manifest *manifest, firn_slice path, uint32_t unit,
                            bool may_lack, firn_error *error) {
    if (path.data == NULL && may_lack) return FIRN_OK;
    FIRN_TRY(check_text(manifest, FIRN_LAKE_PATH_COLUMN, path, error));
    firn_buffer *given = &manifest->base;
    firn_buffer_clear(given);
    FIRN_TRY(firn_buffer_append(given, path.data, path.size, error));
    FIRN_TRY(firn_buffer_append_byte(given, '\0', error));
    return firn_lake_add_name(manifest->collector, (const char *)given->data,
                              manifest->source->base, unit, manifest->row, &manifest->location,
                              error);
}

static firn_status add_row(firn_lake_manifest *manifest,
                           const firn_slice values[FIRN_LAKE_COLUMN_COUNT], firn_error *error) {
    firn_lake_collector *collector = manifest->collector;
    uint32_t unit = 0;
    int64_t count = 0;
    FIRN_TRY(check_text(manifest, FIRN_LAKE_UNIT_COLUMN, values[FIRN_LAKE_UNIT_COLUMN], error));
    FIRN_TRY(find_unit(manifest, values[FIRN_LAKE_UNIT_COLUMN], &unit, error));
    if (manifest->has_rows) {
        FIRN_TRY(check_text(manifest, FIRN_LAKE_ROWS_COLUMN, values[FIRN_LAKE_ROWS_COLUMN], error));
        FIRN_TRY(parse_count(values[FIRN_LAKE_ROWS_COLUMN], &count, error));
        int64_t *rows = &collector->units.items[unit].rows;
        if (__builtin_add_overflow(*rows, count, rows)) {
            return firn_fail(error, FIRN_INVALID, "the row counts of unit \"%.200s\" are too large",
                             collector->units.items[unit].name);
        }
    }
    bool wanted = !collector->units.items[unit].is_unnamable;
    if (manifest->names[FIRN_LAKE_PATH_COLUMN] == NULL || !wanted) return FIRN_OK;
    return add_file(manifest, values[FIRN_LAKE_PATH_COLUMN], unit, manifest->has_rows && count == 0,
                    error);
}

firn_status firn_lake_manifest_add(firn_lake_manifest *manifest,
                                   const firn_slice values[FIRN_LAKE_COLUMN_COUNT],
                                   firn_error *error) {
    manifest->row++;
    return firn_error_wrap(error, add_row(manifest, values, error), "row %zu", manifest->row);
}

/* The template's folders before the first unit, slash included. */
static size_t fixed_length(const char *template) {
    size_t start = firn_lake_path_start(template);
    size_t length = (size_t)(strstr(template, PLACEHOLDER) - template);
    while (length > start && template[length - 1] != '/') length--;
    return length;
}

static firn_status append_filled(const char *template, const char *unit, firn_buffer *out,
                                 firn_error *error) {
    for (;;) {
        const char *next = strstr(template, PLACEHOLDER);
        if (next == NULL) return firn_buffer_append(out, template, strlen(template) + 1, error);
        FIRN_TRY(firn_buffer_append(out, template, (size_t)(next - template), error));
        FIRN_TRY(firn_buffer_append_text(out, unit, error));
        template = next + PLACEHOLDER_LENGTH;
    }
}

/* Whether a path goes down, segment by segment, and nowhere else: a unit's name must not lead out of the template's folder. */
static bool goes_down(const char *path) {
    for (;;) {
        size_t length = strcspn(path, "/");
        bool last = path[length] == '\0';
        if (last && length == 0) return true;
        bool dots = length <= 2 && memcmp(path, "..", length) == 0; /* the empty segment, too */
        if (dots) return false;
        if (last) return true;
        path += length + 1;
    }
}

firn_status firn_lake_unit_folder(const firn_lake_source *source, const char *unit,
                                  firn_buffer *out, firn_error *error) {
    const char *template = source->unit_folder;
    size_t fixed = fixed_length(template);
    firn_buffer given = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status;
    /* "./" keeps a unit from being taken for a scheme. */
    FIRN_CHECK(fixed == 0 ? firn_buffer_append_text(&given, "./", error)
                          : firn_buffer_append(&given, template, fixed, error));
    size_t filled = given.size;
    FIRN_CHECK(append_filled(template + fixed, unit, &given, error));
    if (!goes_down((const char *)given.data + filled)) {
        FIRN_CHECK(firn_fail(error, FIRN_INVALID,
                             "unit \"%.200s\" leads out of the folder of the units, or to that "
                             "folder itself",
                             unit));
    }
    FIRN_CHECK(firn_lake_location((const char *)given.data, source->base, out, error));
out:
    firn_buffer_release(&given);
    return status;
}

/* --- from a location to its unit ----------------------------------------------------------------- */

static firn_status key_of_location(const char *given, const char *base, char **out,
                                   firn_error *error) {
    firn_buffer location = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = firn_lake_location(given, base, &location, error);
    *out = status == FIRN_OK ? firn_location_key((const char *)location.data) : NULL;
    firn_buffer_release(&location);
    if (status != FIRN_OK) return status;
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static bool lies_below(const char *key, const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') length--;
    return strncmp(key, folder, length) == 0 && key[length] == '/';
}

static firn_status is_units(const firn_lake_source *source, const char *key, const char *unit,
                            bool *out, firn_error *error) {
    firn_buffer folder = firn_buffer_with_maximum(SIZE_MAX);
    char *folder_key = NULL;
    firn_status status = firn_lake_unit_folder(source, unit, &folder, error);
    *out = false;
    if (status == FIRN_INVALID) {
        /* No unit can be called so. */
        if (error != NULL) firn_error_clear(error);
        status = FIRN_OK;
        goto out;
    }
    if (status != FIRN_OK) goto out;
    folder_key = firn_location_key((const char *)folder.data);
    if (folder_key == NULL) status = firn_fail_memory(error);
    if (folder_key != NULL) *out = lies_below(key, folder_key);
out:
    firn_free(folder_key);
    firn_buffer_release(&folder);
    return status;
}

/* `rest`: the key behind the template's fixed folders. */
static firn_status find_name(const firn_lake_source *source, const char *key, const char *rest,
                             const firn_map *known, firn_arena *arena, const char **out,
                             firn_error *error) {
    const char *template = source->unit_folder + fixed_length(source->unit_folder);
    size_t before = (size_t)(strstr(template, PLACEHOLDER) - template);
    if (strncmp(rest, template, before) != 0) return FIRN_OK;
    for (size_t length = 1; rest[before + length - 1] != '\0'; length++) {
        bool fits = false;
        const char *unit = firn_arena_strndup(arena, rest + before, length);
        if (unit == NULL) return firn_fail_memory(error);
        bool is_known = known != NULL && firn_map_has_text(known, unit);
        if (*out != NULL && !is_known) continue;
        FIRN_TRY(is_units(source, key, unit, &fits, error));
        if (fits) *out = unit;
        if (fits && is_known) return FIRN_OK;
    }
    return FIRN_OK;
}

firn_status firn_lake_unit_of(const firn_lake_source *source, const char *location,
                              const firn_map *known, firn_arena *arena, const char **out,
                              firn_error *error) {
    char *key = firn_location_key(location);
    char *root = NULL;
    firn_status status = FIRN_OK;
    *out = NULL;
    size_t length = fixed_length(source->unit_folder);
    const char *fixed = length == 0 ? "./" : firn_arena_strndup(arena, source->unit_folder, length);
    if (key == NULL || fixed == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(key_of_location(fixed, source->base, &root, error));
    if (!lies_below(key, root)) goto out;
    size_t start = strlen(root);
    while (key[start] == '/') start++;
    FIRN_CHECK(find_name(source, key, key + start, known, arena, out, error));
out:
    firn_free(key);
    firn_free(root);
    return status;
}

/* --- from units to their files ------------------------------------------------------------------- */

static firn_status list_unit(void *context, size_t index, firn_error *error) {
    const firn_lake_manifest *manifest = context;
    const char *unit = manifest->collector->units.items[index].name;
    firn_buffer folder = firn_buffer_with_maximum(SIZE_MAX);
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status;
    if (manifest->collector->units.items[index].is_unnamable) return FIRN_OK;
    FIRN_CHECK(firn_lake_unit_folder(manifest->source, unit, &folder, error));
    status = firn_lake_collect_folder(manifest->collector, (const char *)folder.data, NULL,
                                      (uint32_t)index, index + 1, NULL, &problem);
    if (status == FIRN_INVALID) {
        /* What has the folder's name is none. */
        status = firn_lake_add_bad(manifest->collector, (const char *)folder.data, (uint32_t)index,
                                   problem.message, error);
    } else if (status != FIRN_OK && error != NULL) {
        *error = problem;
    }
out:
    firn_buffer_release(&folder);
    return firn_error_wrap(error, status, "%s: unit \"%.200s\"", manifest->collector->source, unit);
}

/* What kind of file it is shows at its beginning. */
static firn_status read_rows(firn_lake_manifest *manifest, const firn_read_at *source,
                             firn_error *error) {
    uint8_t head[256];
    size_t size = source->size < sizeof head ? (size_t)source->size : sizeof head;
    if (size == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "the manifest is empty; one without units has the line of column names");
    }
    FIRN_TRY(firn_read_at_exact(source, 0, head, size, error));
    if (size >= 4 && (memcmp(head, "PAR1", 4) == 0 || memcmp(head, "PARE", 4) == 0)) {
        return firn_lake_manifest_read_parquet(manifest, source, error);
    }
    size_t at = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < size && strchr(" \t\r\n", head[at]) != NULL && head[at] != '\0') at++;
    if (at < size && head[at] == '[') {
        return firn_fail(error, FIRN_INVALID,
                         "the manifest is an array of JSON; one object a line is due (JSON lines)");
    }
    if (at < size && head[at] == '{') return firn_lake_manifest_read_json(manifest, source, error);
    return firn_lake_manifest_read_csv(manifest, source, error);
}

static firn_status start(firn_lake_manifest *manifest, firn_error *error) {
    const firn_lake_source *source = manifest->source;
    if (source->unit_folder != NULL && source->path_column != NULL) {
        return firn_fail(error, FIRN_INVALID,
                         "--path-column and --unit-folder exclude each other: files are named, or "
                         "lie in their unit's folder");
    }
    if (source->unit_folder != NULL && strstr(source->unit_folder, PLACEHOLDER) == NULL) {
        return firn_fail(error, FIRN_INVALID, "--unit-folder: \"%s\" lacks " PLACEHOLDER,
                         source->unit_folder);
    }
    const char *path = source->path_column == NULL ? "path" : source->path_column;
    manifest->names[FIRN_LAKE_UNIT_COLUMN] =
        source->unit_column == NULL ? "unit" : source->unit_column;
    manifest->names[FIRN_LAKE_ROWS_COLUMN] =
        source->rows_column == NULL ? "rows" : source->rows_column;
    manifest->names[FIRN_LAKE_PATH_COLUMN] = source->unit_folder == NULL ? path : NULL;
    manifest->units = firn_map_new();
    return manifest->units == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_lake_collect_manifest(firn_lake_collector *collector,
                                       const firn_lake_source *source, firn_error *error) {
    firn_lake_manifest manifest = {.collector = collector,
                                   .source = source,
                                   .location = firn_buffer_with_maximum(SIZE_MAX),
                                   .base = firn_buffer_with_maximum(SIZE_MAX)};
    firn_storage_file *file = NULL;
    firn_status status;
    collector->source = source->locations[0];
    collector->item = "row";
    FIRN_CHECK(start(&manifest, error));
    FIRN_CHECK(firn_lake_location(source->locations[0], NULL, &manifest.location, error));
    /* One handle for all reads: who replaces the manifest meanwhile is not seen half. */
    FIRN_CHECK(
        firn_storage_open(collector->storage, (const char *)manifest.location.data, &file, error));
    collector->options_hold = true;
    status = read_rows(&manifest, firn_storage_file_source(file), error);
    FIRN_CHECK(firn_error_wrap(error, status, "%s", collector->source));
    if (source->unit_folder == NULL) {
        FIRN_CHECK(firn_lake_look_at_names(collector, error));
    } else {
        FIRN_CHECK(
            firn_pool_each(collector->pool, collector->units.count, list_unit, &manifest, error));
    }
out:
    firn_storage_close(file);
    firn_map_free(manifest.units);
    firn_buffer_release(&manifest.location);
    firn_buffer_release(&manifest.base);
    return status;
}
