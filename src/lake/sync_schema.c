/* From the footers of the files to the schema, the name mapping and the partition spec that they are added with. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "iceberg/update.h"
#include "lake/sync_internal.h"
#include "table/update.h"

void firn_sync_plan_release(firn_sync_work *work) {
    firn_schema_union_free(work->schemas);
    firn_table_metadata_free(work->planned);
    firn_map_free(work->shapes);
    firn_map_free(work->tuples);
    firn_arena_free(work->plan_arena);
    firn_free(work->mapping_text);
    work->schemas = NULL;
    work->planned = NULL;
    work->shapes = work->tuples = NULL;
    memset(work->known_shapes, 0, sizeof work->known_shapes);
    work->plan_arena = NULL;
    work->mapping_text = NULL;
    work->mapping = NULL;
    work->binding = NULL;
    work->must_update = false;
}

const char *firn_sync_reason_of_bad(const firn_sync_work *work, size_t index) {
    const char *reason = "";
    for (size_t i = 0; i < work->result->bad.count; i++) {
        const firn_sync_finding *finding = &work->result->bad.items[i];
        if (strcmp(finding->location, work->files[index].location) == 0) reason = finding->reason;
    }
    return reason;
}

firn_status firn_sync_add_bad(firn_sync_work *work, size_t index, const char *reason,
                              firn_error *error) {
    const firn_lake_file *file = &work->files[index];
    size_t length = strlen(file->location);
    work->facts[index].state = FIRN_SYNC_BAD;
    work->facts[index].fault = FIRN_SYNC_FAULT_OWN;
    /* The report names the file beside its reason. */
    if (strncmp(reason, file->location, length) == 0 && strncmp(reason + length, ": ", 2) == 0) {
        reason += length + 2;
    }
    firn_sync_finding finding = {.location = firn_sync_keep(work, file->location),
                                 .unit = firn_sync_keep(work, firn_sync_unit_name(work, file)),
                                 .reason = firn_sync_keep(work, reason),
                                 .done = work->options->skip_bad ? "left out" : NULL};
    if (finding.location == NULL || finding.reason == NULL) return firn_fail_memory(error);
    return firn_vector_push(&work->result->bad, error, finding);
}

/* A failure that is the file's makes it a bad one; others are passed up. */
static firn_status blame(firn_sync_work *work, size_t index, firn_sync_fault fault,
                         firn_status status, firn_error *error) {
    if (!firn_sync_is_files_fault(status)) return status;
    char reason[FIRN_ERROR_MESSAGE_SIZE];
    strncpy(reason, error->message, sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    firn_error_clear(error);
    FIRN_TRY(firn_sync_add_bad(work, index, reason, error));
    work->facts[index].fault = (uint8_t)fault;
    return FIRN_OK;
}

/* --- the union of columns ---------------------------------------------------------------------- */

/* Files of a unit come one after another; with skip_bad its columns go with it where one of them is bad. */
typedef struct uniting {
    firn_sync_work *work;
    uint32_t unit; /* FIRN_LAKE_NO_UNIT: none */
    bool bad;
} uniting;

static firn_status end_unit(uniting *run, firn_error *error) {
    if (!run->bad || run->unit == FIRN_LAKE_NO_UNIT || !run->work->options->skip_bad) {
        return FIRN_OK;
    }
    return firn_schema_union_go_back(run->work->schemas, error);
}

static firn_status begin_file(uniting *run, const firn_lake_footer *footer, firn_error *error) {
    /* A file that was replaced comes in by itself. */
    bool alone = footer->index >= run->work->first_overwrite;
    uint32_t unit = alone ? FIRN_LAKE_NO_UNIT : footer->file->unit;
    if (unit == run->unit) return FIRN_OK;
    FIRN_TRY(end_unit(run, error));
    firn_schema_union_mark(run->work->schemas);
    run->unit = unit;
    run->bad = false;
    return FIRN_OK;
}

static firn_status take_columns(firn_sync_work *work, const firn_lake_footer *footer,
                                firn_error *error) {
    const char *location = footer->file->location;
    if (footer->parquet == NULL) {
        return firn_sync_add_bad(work, footer->index, footer->error->message, error);
    }
    work->facts[footer->index].rows = footer->parquet->metadata->num_rows;
    firn_status status = firn_sync_check_readable(footer, error);
    if (status != FIRN_OK) {
        return blame(work, footer->index, FIRN_SYNC_FAULT_OWN, status, error);
    }
    status = firn_schema_union_add(work->schemas, footer->parquet, location, error);
    if (status == FIRN_OK) return FIRN_OK;
    return blame(work, footer->index, FIRN_SYNC_FAULT_COLUMNS, status, error);
}

static firn_status add_columns(void *context, const firn_lake_footer *footer, firn_error *error) {
    uniting *run = context;
    const firn_sync_fact *fact = &run->work->facts[footer->index];
    firn_error problem;
    firn_error_clear(&problem);
    FIRN_TRY(begin_file(run, footer, error));
    firn_status status = FIRN_OK;
    if (fact->state == FIRN_SYNC_PENDING) status = take_columns(run->work, footer, &problem);
    run->bad = run->bad || fact->state == FIRN_SYNC_BAD;
    if (status != FIRN_OK && error != NULL) *error = problem;
    return status;
}

static int new_format_version(const firn_sync_work *work) {
    return work->options->format_version == 0 ? 2 : work->options->format_version;
}

static firn_status unite(firn_sync_work *work, firn_error *error) {
    const firn_table_metadata *metadata = work->table == NULL ? NULL : work->table->metadata;
    const firn_name_mapping *before = NULL;
    uniting run = {.work = work, .unit = FIRN_LAKE_NO_UNIT};
    if (metadata != NULL) {
        FIRN_TRY(firn_name_mapping_of_table(metadata, work->plan_arena, &before, error));
    }
    FIRN_TRY(firn_schema_union_new(
        metadata == NULL ? NULL : metadata->schema, metadata == NULL ? 0 : metadata->last_column_id,
        metadata == NULL ? new_format_version(work) : metadata->format_version, before,
        &work->schemas, error));
    FIRN_TRY(firn_sync_visit(work, "reading footers", add_columns, &run, error));
    return end_unit(&run, error);
}

/* --- a new table's layout ---------------------------------------------------------------------- */

/* Columns and mapping as they are so far, for looking at files before there is a table. */
typedef struct observation {
    firn_sync_work *work;
    const firn_schema *schema;
    /* Of files with a known schema, by its number; NULL: none was seen. In the plan's arena. */
    const firn_lake_columns *known[FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS + 1];
} observation;

static firn_status find_columns(observation *seen, const firn_lake_footer *footer,
                                firn_arena *arena, const firn_lake_columns **out,
                                firn_error *error) {
    const firn_sync_work *work = seen->work;
    firn_lake_columns *columns = firn_arena_alloc(arena, 1, sizeof *columns);
    if (columns == NULL) return firn_fail_memory(error);
    *out = columns;
    return firn_lake_columns_of(seen->schema, work->mapping, new_format_version(work),
                                footer->parquet, footer->file->location, arena, columns, error);
}

static firn_status observe_columns(const observation *seen, const firn_lake_footer *footer,
                                   const firn_lake_columns *columns, firn_error *error) {
    firn_sync_work *work = seen->work;
    return firn_lake_layout_observe(work->layout, work->storage, footer->file, footer->parquet,
                                    seen->schema, columns, error);
}

static firn_status observe_unknown(observation *seen, const firn_lake_footer *footer,
                                   firn_error *error) {
    const firn_lake_columns *columns = NULL;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = find_columns(seen, footer, arena, &columns, error);
    if (status == FIRN_OK) status = observe_columns(seen, footer, columns, error);
    firn_arena_free(arena);
    return status;
}

static firn_status observe_file(observation *seen, const firn_lake_footer *footer,
                                firn_error *error) {
    unsigned number = footer->parquet->known_schema;
    if (number == 0) return observe_unknown(seen, footer, error);
    const firn_lake_columns *columns = seen->known[number];
    if (columns == NULL) {
        FIRN_TRY(find_columns(seen, footer, seen->work->plan_arena, &columns, error));
        seen->known[number] = columns;
    }
    return observe_columns(seen, footer, columns, error);
}

static firn_status observe(void *context, const firn_lake_footer *footer, firn_error *error) {
    observation *seen = context;
    firn_sync_work *work = seen->work;
    firn_error problem;
    firn_error_clear(&problem);
    if (work->facts[footer->index].state != FIRN_SYNC_PENDING) return FIRN_OK;
    firn_status status = observe_file(seen, footer, &problem);
    if (status != FIRN_OK) {
        status = blame(work, footer->index, FIRN_SYNC_FAULT_PATHS, status, &problem);
    }
    if (status != FIRN_OK && error != NULL) *error = problem;
    return status;
}

static firn_status make_mapping(firn_sync_work *work, const firn_schema *schema,
                                const firn_name_mapping *before, firn_error *error) {
    firn_free(work->mapping_text);
    work->mapping_text = NULL;
    FIRN_TRY(firn_name_mapping_for(schema, before, &work->mapping_text, error));
    return firn_name_mapping_parse(work->mapping_text, work->plan_arena, &work->mapping, error);
}

static firn_status schema_so_far(firn_sync_work *work, const firn_schema **out, firn_error *error) {
    *out = firn_schema_union_schema(work->schemas);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

#define ONLY_IN_PATHS "only in paths: readers without partition support show null"

static firn_status add_path_columns(firn_sync_work *work, firn_error *error) {
    const firn_schema *schema = NULL;
    const firn_lake_path_column *columns = NULL;
    size_t count = 0;
    FIRN_TRY(schema_so_far(work, &schema, error));
    FIRN_TRY(firn_lake_layout_path_columns(work->layout, schema, &columns, &count, error));
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(
            firn_schema_union_add_column(work->schemas, columns[i].name, columns[i].type, error));
        firn_schema_surprise surprise = {.column = firn_sync_keep(work, columns[i].name),
                                         .what = ONLY_IN_PATHS};
        if (surprise.column == NULL) return firn_fail_memory(error);
        FIRN_TRY(firn_vector_push(&work->result->surprises, error, surprise));
    }
    return FIRN_OK;
}

static firn_status set_property(json_t *properties, const char *key, const char *value,
                                firn_error *error) {
    return firn_json_set_text(properties, key, value, error);
}

/* Files belong to whoever made them: expiring snapshots must not delete them unless the user says so. */
static firn_status new_properties(const firn_sync_work *work, json_t **out, firn_error *error) {
    json_t *properties = json_object();
    if (properties == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    FIRN_CHECK(set_property(properties, FIRN_SYNC_MAPPING_PROPERTY, work->mapping_text, error));
    FIRN_CHECK(set_property(properties, "gc.enabled", "false", error));
    for (size_t i = 0; i < work->options->property_count; i++) {
        const firn_property *property = &work->options->properties[i];
        FIRN_CHECK(set_property(properties, property->key, property->value, error));
    }
out:
    if (status == FIRN_OK) {
        *out = properties;
    } else {
        json_decref(properties);
    }
    return status;
}

static firn_status create_metadata(firn_sync_work *work, const firn_schema *schema, json_t *spec,
                                   firn_error *error) {
    const char *location = NULL;
    json_t *properties = NULL;
    firn_status status = firn_sync_new_location(work, &location, error);
    if (status == FIRN_OK) status = new_properties(work, &properties, error);
    json_t *schema_json = status == FIRN_OK ? firn_schema_to_json(schema) : NULL;
    if (status == FIRN_OK && schema_json == NULL) status = firn_fail_memory(error);
    if (status != FIRN_OK) {
        json_decref(spec);
        json_decref(properties);
        return status;
    }
    return firn_table_metadata_create(new_format_version(work), location, schema_json, spec,
                                      properties, firn_clock_now_ms(), &work->planned, error);
}

/* Layouts that can't be told are the source's fault; the message says which rule helps. What a rule has wrong by itself is a mistake of the command line. */
static firn_status as_blocked(const firn_sync_work *work, firn_status status, firn_error *error) {
    if (status != FIRN_INVALID || firn_lake_layout_blames_rules(work->layout)) return status;
    if (error != NULL) error->code = FIRN_BLOCKED;
    return FIRN_BLOCKED;
}

/* A layout that can't be told is told by a file that contradicts it: it belongs to the report's bad files. */
static firn_status name_culprit(firn_sync_work *work, firn_error *error) {
    size_t culprit = work->file_count;
    size_t longest = 0;
    for (size_t i = 0; i < work->file_count; i++) {
        size_t length = strlen(work->files[i].location);
        if (length <= longest || strstr(error->message, work->files[i].location) == NULL) continue;
        culprit = i;
        longest = length;
    }
    if (culprit == work->file_count) return FIRN_OK;
    FIRN_TRY(firn_sync_add_bad(work, culprit, error->message, error));
    work->result->bad.items[work->result->bad.count - 1].done = NULL;
    return FIRN_OK;
}

static firn_status plan_new_table(firn_sync_work *work, firn_error *error) {
    observation seen = {.work = work};
    json_t *spec = NULL;
    /* What it was shown before may be of files that are left out since. */
    firn_lake_layout_free(work->layout);
    work->layout = NULL;
    FIRN_TRY(firn_lake_layout_new(work->options->rules, work->options->rule_count, &work->layout,
                                  error));
    FIRN_TRY(schema_so_far(work, &seen.schema, error));
    FIRN_TRY(make_mapping(work, seen.schema, NULL, error));
    FIRN_TRY(firn_sync_visit(work, "finding partitions", observe, &seen, error));
    FIRN_TRY(as_blocked(work, add_path_columns(work, error), error));
    FIRN_TRY(schema_so_far(work, &seen.schema, error));
    FIRN_TRY(make_mapping(work, seen.schema, NULL, error));
    firn_status status = firn_lake_layout_spec(work->layout, seen.schema, &spec, error);
    status = as_blocked(work, status, error);
    if (status == FIRN_BLOCKED && error != NULL) FIRN_TRY(name_culprit(work, error));
    FIRN_TRY(status);
    return create_metadata(work, seen.schema, spec, error);
}

/* --- a table that is there --------------------------------------------------------------------- */

static firn_status append_update(firn_table_update *update, json_t *object, const char *action,
                                 firn_error *error) {
    firn_status status = object == NULL ? firn_fail_memory(error)
                                        : firn_json_set_text(object, "action", action, error);
    if (status == FIRN_OK) return firn_json_append(update->updates, object, error);
    json_decref(object);
    return status;
}

static firn_status update_schema(firn_table_update *update, const firn_schema *schema,
                                 firn_error *error) {
    json_t *add = json_object();
    json_t *set = json_object();
    firn_status status = add == NULL || set == NULL
                             ? firn_fail_memory(error)
                             : firn_json_set(add, "schema", firn_schema_to_json(schema), error);
    if (status == FIRN_OK) status = firn_json_set_int(set, "schema-id", -1, error);
    if (status != FIRN_OK) {
        json_decref(add);
        json_decref(set);
        return status;
    }
    status = append_update(update, add, "add-schema", error);
    if (status != FIRN_OK) {
        json_decref(set);
        return status;
    }
    return append_update(update, set, "set-current-schema", error);
}

static bool same_fields(const firn_schema *a, const firn_schema *b) {
    return firn_type_equal(&a->root, &b->root);
}

/* What `metadata` lacks of what is planned. */
static firn_status build_update(firn_sync_work *work, const firn_table_metadata *metadata,
                                const firn_schema *schema, firn_table_update *update,
                                firn_error *error) {
    if (!same_fields(metadata->schema, schema)) {
        if (metadata->schema->schema_id != work->base_schema_id) {
            return firn_fail(error, FIRN_CONFLICT,
                             "table %s: another writer changed the schema meanwhile; run this "
                             "again",
                             work->display_name);
        }
        FIRN_TRY(firn_require_current_schema(update, work->base_schema_id, error));
        FIRN_TRY(update_schema(update, schema, error));
    }
    const char *present = firn_table_metadata_property(metadata, FIRN_SYNC_MAPPING_PROPERTY);
    if (work->mapping_text == NULL ||
        (present != NULL && strcmp(present, work->mapping_text) == 0)) {
        return FIRN_OK;
    }
    json_t *properties = json_object();
    firn_status status =
        properties == NULL
            ? firn_fail_memory(error)
            : firn_json_set_text(properties, FIRN_SYNC_MAPPING_PROPERTY, work->mapping_text, error);
    if (status == FIRN_OK) return firn_update_set_properties(update, properties, error);
    json_decref(properties);
    return status;
}

static firn_status build_planned(void *context, const firn_table *table, firn_table_update *update,
                                 firn_error *error) {
    firn_sync_work *work = context;
    return build_update(work, table->metadata, work->planned->schema, update, error);
}

firn_status firn_sync_update_table(firn_sync_work *work, firn_error *error) {
    firn_update_source source = {build_planned, work};
    bool changed = false;
    if (!work->must_update) return FIRN_OK;
    FIRN_TRY(firn_table_commit_update(work->table, work->journal, &source, &changed, error));
    /* What is live now must not be taken for leftovers of the append that follows. */
    FIRN_TRY(firn_journal_done(work->journal, error));
    work->must_update = false;
    work->base_schema_id = work->table->metadata->schema->schema_id;
    return FIRN_OK;
}

/* The table as it will be, in memory. */
static firn_status apply_in_memory(firn_sync_work *work, const firn_schema *schema,
                                   firn_error *error) {
    firn_table_update update = {0};
    const firn_table_metadata *metadata = work->table->metadata;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_table_update_init(&update, error));
    FIRN_CHECK(build_update(work, metadata, schema, &update, error));
    work->must_update = json_array_size(update.updates) > 0;
    FIRN_CHECK(firn_table_update_apply(&update, metadata, NULL, firn_clock_now_ms(), &work->planned,
                                       error));
out:
    firn_table_update_release(&update);
    return status;
}

static firn_status plan_table(firn_sync_work *work, firn_error *error) {
    const firn_table_metadata *metadata = work->table->metadata;
    const firn_name_mapping *before = NULL;
    const firn_schema *schema = NULL;
    work->base_schema_id = metadata->schema->schema_id;
    work->base_spec_id = metadata->default_spec->spec_id;
    FIRN_TRY(schema_so_far(work, &schema, error));
    work->result->evolves = firn_schema_union_changed(work->schemas);
    FIRN_TRY(firn_name_mapping_of_table(metadata, work->plan_arena, &before, error));
    work->mapping = before;
    if (!firn_name_mapping_covers(before, schema)) {
        FIRN_TRY(make_mapping(work, schema, before, error));
    }
    return apply_in_memory(work, schema, error);
}

bool firn_sync_plan_holds(const firn_sync_work *work) {
    if (work->planned == NULL || work->table == NULL) return work->planned != NULL;
    const firn_table_metadata *metadata = work->table->metadata;
    if (metadata->default_spec->spec_id != work->planned->default_spec->spec_id) return false;
    if (!work->must_update) return same_fields(metadata->schema, work->planned->schema);
    return metadata->schema->schema_id == work->base_schema_id;
}

/* --- together ---------------------------------------------------------------------------------- */

static firn_status bind(firn_sync_work *work, size_t first, firn_error *error) {
    const firn_lake_file *file = &work->files[first];
    const firn_lake_path_key *keys = NULL;
    size_t count = 0;
    FIRN_TRY(firn_lake_path_keys(file->location, file->root_length, work->plan_arena, &keys, &count,
                                 error));
    return firn_lake_layout_bind(work->layout, work->planned->schema, work->planned->default_spec,
                                 keys, count, work->plan_arena, &work->binding, error);
}

static firn_status tell(firn_sync_work *work, firn_error *error) {
    size_t count = 0;
    const firn_schema_surprise *surprises = firn_schema_union_surprises(work->schemas, &count);
    work->result->surprises.count = 0;
    for (size_t i = 0; i < count; i++) {
        firn_schema_surprise copy = {firn_sync_keep(work, surprises[i].column),
                                     firn_sync_keep(work, surprises[i].what),
                                     firn_sync_keep(work, surprises[i].location)};
        if (copy.column == NULL || copy.what == NULL) return firn_fail_memory(error);
        FIRN_TRY(firn_vector_push(&work->result->surprises, error, copy));
    }
    return FIRN_OK;
}

firn_status firn_sync_unite(firn_sync_work *work, firn_error *error) {
    firn_sync_plan_release(work);
    work->result->evolves = false;
    for (size_t i = 0; i < work->file_count; i++) work->facts[i].tuple = NULL;
    work->plan_arena = firn_arena_new();
    work->shapes = firn_map_new();
    work->tuples = firn_map_new();
    if (work->plan_arena == NULL || work->shapes == NULL || work->tuples == NULL) {
        return firn_fail_memory(error);
    }
    FIRN_TRY(unite(work, error));
    return tell(work, error);
}

firn_status firn_sync_plan(firn_sync_work *work, firn_error *error) {
    if (work->table == NULL) {
        FIRN_TRY(plan_new_table(work, error));
    } else {
        FIRN_TRY(plan_table(work, error));
    }
    size_t first = firn_sync_first_planned(work);
    if (first == work->file_count) return FIRN_OK;
    FIRN_TRY(as_blocked(work, bind(work, first, error), error));
    return firn_sync_prove(work, error);
}
