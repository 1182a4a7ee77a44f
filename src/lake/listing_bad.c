/* What a source names or has, and can't be listed: one such thing must not keep the others from being found. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lake/listing_internal.h"

#include "base/plural.h"

firn_status firn_lake_add_bad(firn_lake_collector *collector, const char *location, uint32_t unit,
                              const char *reason, firn_error *error) {
    firn_status status = FIRN_OK;
    pthread_mutex_lock(&collector->lock);
    firn_lake_bad bad = {.location = firn_lake_shown(collector->arena, location),
                         .reason = firn_lake_shown(collector->arena, reason),
                         .unit = unit};
    if (bad.location == NULL || bad.reason == NULL) {
        status = firn_fail_memory(error);
    } else {
        status = firn_vector_push(&collector->bad, error, bad);
    }
    pthread_mutex_unlock(&collector->lock);
    return status;
}

/* Tables record locations as text, which is UTF-8 (specification, "Manifests", file_path). */
const char *firn_lake_bad_name(const char *location, char text[FIRN_LAKE_BAD_NAME_SIZE]) {
    if (!firn_lake_is_utf8(location)) {
        return "a name that is no UTF-8 can't be recorded; rename the file";
    }
    const char *path = firn_location_local_path(location);
    size_t length = path == NULL ? 0 : strlen(path);
    if (length < PATH_MAX) return NULL;
    snprintf(text, FIRN_LAKE_BAD_NAME_SIZE,
             "a path of %zu bytes can't be opened, %d are the most; move the file", length,
             PATH_MAX - 1);
    return text;
}

/* Which line or row of the source a failure comes from, and whose file it is. */
static void say_where(const firn_lake_collector *collector, const firn_lake_found *found,
                      firn_status status, firn_error *problem) {
    if (found->file.unit != FIRN_LAKE_NO_UNIT) {
        firn_error_wrap(problem, status, "unit \"%.200s\"",
                        collector->units.items[found->file.unit].name);
    }
    firn_error_wrap(problem, status, "%s: %s %zu", collector->source, collector->item,
                    found->order);
}

static bool is_names_fault(firn_status status) {
    return status == FIRN_NOT_FOUND || status == FIRN_INVALID || status == FIRN_UNSUPPORTED ||
           status == FIRN_LIMIT;
}

firn_status firn_lake_blame_name(firn_lake_collector *collector, const firn_lake_found *found,
                                 firn_status status, firn_error *problem, firn_error *error) {
    if (status == FIRN_OK) return FIRN_OK;
    say_where(collector, found, status, problem);
    if (is_names_fault(status)) {
        return firn_lake_add_bad(collector, found->file.location, found->file.unit,
                                 problem->message, error);
    }
    if (error != NULL) *error = *problem;
    return status;
}

/* --- units --------------------------------------------------------------------------------------- */

static firn_status blame_unit(firn_lake_collector *collector, const firn_lake_source *source,
                              uint32_t index, firn_error *error) {
    const firn_lake_unit *unit = &collector->units.items[index];
    firn_buffer folder = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = FIRN_OK;
    const char *location = collector->source;
    const char *reason = firn_arena_format(
        collector->arena,
        "unit \"%.200s\" has %" PRId64 " row%s by the manifest, and no data files", unit->name,
        unit->rows, firn_plural((uint64_t)unit->rows));
    if (reason == NULL) FIRN_CHECK(firn_fail_memory(error));
    if (source->unit_folder != NULL) {
        FIRN_CHECK(firn_lake_unit_folder(source, unit->name, &folder, error));
        location = (const char *)folder.data;
    }
    FIRN_CHECK(firn_lake_add_bad(collector, location, index, reason, error));
out:
    firn_buffer_release(&folder);
    return status;
}

firn_status firn_lake_blame_units(firn_lake_collector *collector, const firn_lake_source *source,
                                  const firn_lake_unit *units, firn_error *error) {
    size_t count = collector->units.count;
    bool *told = firn_arena_alloc(collector->arena, count + 1, sizeof *told);
    if (told == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < collector->bad.count; i++) {
        uint32_t unit = collector->bad.items[i].unit;
        if (unit != FIRN_LAKE_NO_UNIT) told[unit] = true;
    }
    for (size_t i = 0; i < count; i++) {
        if (units[i].file_count > 0 || units[i].rows <= 0 || told[i]) continue;
        FIRN_TRY(blame_unit(collector, source, (uint32_t)i, error));
    }
    return FIRN_OK;
}

/* --- together ------------------------------------------------------------------------------------ */

static int by_unit(const void *a, const void *b) {
    const firn_lake_bad *x = a;
    const firn_lake_bad *y = b;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    int order = strcmp(x->location, y->location);
    return order != 0 ? order : strcmp(x->reason, y->reason);
}

firn_status firn_lake_take_bad(firn_lake_collector *collector, firn_lake_listing *out,
                               firn_error *error) {
    size_t count = collector->bad.count;
    size_t kept = 0;
    firn_lake_bad *bad = firn_arena_alloc(collector->arena, count + 1, sizeof *bad);
    if (bad == NULL) return firn_fail_memory(error);
    if (count > 0) memcpy(bad, collector->bad.items, count * sizeof *bad);
    if (count > 0) qsort(bad, count, sizeof *bad, by_unit);
    for (size_t i = 0; i < count; i++) {
        /* Two lines may name it. */
        bool again = kept > 0 && bad[kept - 1].unit == bad[i].unit &&
                     strcmp(bad[kept - 1].location, bad[i].location) == 0;
        if (!again) bad[kept++] = bad[i];
    }
    out->bad = bad;
    out->bad_count = kept;
    return FIRN_OK;
}
