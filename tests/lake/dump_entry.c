/*
 * Prints what column facts and the manifest entry say of files, for comparisons with other readers: of each file a line "file", then one "leaf" per column, and the entry's maps. Fields are
 * separated by tabs; bounds are in the single-value form (specification, appendix D), in hexadecimal, "-" where there is none.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "lake/entry.h"
#include "lake/schema_union.h"
#include "storage/storage.h"

static void print_hex(firn_slice bytes) {
    printf("x");
    for (size_t i = 0; i < bytes.size; i++) printf("%02x", bytes.data[i]);
}

static firn_status print_bound(bool has, const firn_value *value, firn_error *error) {
    printf("\t");
    if (!has) {
        printf("-");
        return FIRN_OK;
    }
    firn_buffer bytes = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = firn_value_to_bytes(value, &bytes, error);
    print_hex(firn_buffer_slice(&bytes));
    firn_buffer_release(&bytes);
    return status;
}

static firn_status print_leaf(const firn_parquet_file *file, const firn_lake_columns *columns,
                              size_t leaf, firn_arena *arena, firn_error *error) {
    if (columns->field_ids[leaf] < 0) return FIRN_OK;
    firn_lake_column_facts facts;
    FIRN_TRY(firn_lake_column_facts_of(file, leaf, columns->types[leaf], arena, &facts, error));
    const firn_parquet_leaf *of = &file->schema->leaves[leaf];
    printf("leaf\t%s\t%d\t%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64, of->dotted_path,
           columns->field_ids[leaf], columns->types[leaf]->text, of->maximum_repetition_level,
           facts.values, facts.nulls, facts.nans);
    FIRN_TRY(print_bound(facts.has_lower, &facts.lower, error));
    FIRN_TRY(print_bound(facts.has_upper, &facts.upper, error));
    printf("\t%d\t%d\n", facts.lower_exact, facts.upper_exact);
    return FIRN_OK;
}

static void print_counts(const char *name, const firn_count_map *map) {
    for (size_t i = 0; i < map->count; i++) {
        printf("%s\t%d\t%" PRId64 "\n", name, map->ids[i], map->counts[i]);
    }
}

static void print_bounds(const char *name, const firn_bound_map *map) {
    for (size_t i = 0; i < map->count; i++) {
        printf("%s\t%d\t", name, map->ids[i]);
        print_hex(map->bounds[i]);
        printf("\n");
    }
}

static void print_entry(const firn_data_file *entry) {
    printf("rows\t%" PRId64 "\n", entry->record_count);
    print_counts("size", &entry->column_sizes);
    print_counts("values", &entry->value_counts);
    print_counts("nulls", &entry->null_value_counts);
    print_counts("nans", &entry->nan_value_counts);
    print_bounds("lower", &entry->lower_bounds);
    print_bounds("upper", &entry->upper_bounds);
    for (size_t i = 0; i < entry->split_offset_count; i++) {
        printf("split\t%" PRId64 "\n", entry->split_offsets[i]);
    }
}

static firn_status describe(const firn_parquet_file *file, const char *location,
                            firn_schema_union *schemas, firn_arena *arena, firn_error *error) {
    FIRN_TRY(firn_schema_union_add(schemas, file, location, error));
    const firn_schema *schema = firn_schema_union_schema(schemas);
    if (schema == NULL) return firn_fail_memory(error);
    char *text = NULL;
    const firn_name_mapping *mapping = NULL;
    FIRN_TRY(firn_name_mapping_for(schema, NULL, &text, error));
    firn_status status = firn_name_mapping_parse(text, arena, &mapping, error);
    firn_free(text);
    if (status != FIRN_OK) return status;
    firn_lake_columns columns = {0};
    FIRN_TRY(firn_lake_columns_of(schema, mapping, 3, file, location, arena, &columns, error));
    for (size_t i = 0; i < columns.leaf_count; i++) {
        FIRN_TRY(print_leaf(file, &columns, i, arena, error));
    }
    /* All that a plan looks at. */
    firn_table_metadata metadata = {.format_version = 3, .schema = schema};
    const firn_lake_entry_plan *plan = NULL;
    FIRN_TRY(firn_lake_entry_plan_new(&metadata, &columns, file, arena, &plan, error));
    firn_lake_file listed = {.location = location, .size = (int64_t)file->source.size};
    firn_data_file entry;
    FIRN_TRY(firn_lake_entry_fill(plan, &listed, file, arena, &entry, error));
    print_entry(&entry);
    return FIRN_OK;
}

static firn_status dump(firn_storage *storage, const char *location, firn_error *error) {
    firn_storage_file *opened = NULL;
    firn_parquet_file *file = NULL;
    firn_schema_union *schemas = NULL;
    firn_arena *arena = NULL;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_storage_open(storage, location, &opened, error));
    FIRN_CHECK(firn_parquet_file_open(firn_storage_file_source(opened), &file, error));
    FIRN_CHECK(firn_schema_union_new(NULL, 0, 3, NULL, &schemas, error));
    arena = firn_arena_new();
    if (arena == NULL) FIRN_CHECK(firn_fail_memory(error));
    FIRN_CHECK(describe(file, location, schemas, arena, error));
out:
    firn_arena_free(arena);
    firn_schema_union_free(schemas);
    firn_parquet_file_close(file);
    if (opened != NULL) firn_storage_close(opened);
    return status;
}

int main(int count, char **arguments) {
    firn_storage *storage = NULL;
    firn_error error = {0};
    firn_json_setup();
    if (firn_storage_local(&storage, &error) != FIRN_OK) return 1;
    for (int i = 1; i < count; i++) {
        printf("file\t%s\n", arguments[i]);
        if (dump(storage, arguments[i], &error) != FIRN_OK) printf("refused\t%s\n", error.message);
    }
    firn_storage_free(storage);
    return 0;
}
