/*
 * From a footer's Thrift struct to a manifest entry: schema, columns, facts, metrics, split offsets. Whatever the bytes say, bounds are in order and counts are possible.
 */
#include <assert.h>
#include <stdint.h>

#include "base/alloc.h"
#include "lake/entry.h"
#include "lake/schema_union.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static firn_status no_data(void *context, uint64_t offset, void *out, size_t size,
                           firn_error *error) {
    (void)context;
    (void)offset;
    (void)out;
    (void)size;
    return firn_fail(error, FIRN_INVALID, "only the footer is at hand");
}

static void check_facts(const firn_parquet_file *file, const firn_lake_columns *columns,
                        firn_arena *arena) {
    firn_error error = {0};
    for (size_t i = 0; i < columns->leaf_count; i++) {
        if (columns->field_ids[i] < 0) continue;
        firn_lake_column_facts facts;
        if (firn_lake_column_facts_of(file, i, columns->types[i], arena, &facts, &error) !=
            FIRN_OK) {
            continue;
        }
        assert(facts.values >= 0 && facts.nulls >= -1 && facts.nulls <= facts.values);
        assert(facts.nans >= -1 && facts.nans <= facts.values);
        assert(facts.has_lower || !facts.lower_exact);
        assert(facts.has_upper || !facts.upper_exact);
        if (facts.has_lower && facts.has_upper) {
            assert(firn_value_compare(&facts.lower, &facts.upper) <= 0);
        }
    }
}

static firn_status run(const firn_parquet_file *file, firn_schema_union *schemas, firn_arena *arena,
                       firn_error *error) {
    FIRN_TRY(firn_schema_union_add(schemas, file, "input", error));
    const firn_schema *schema = firn_schema_union_schema(schemas);
    if (schema == NULL) return firn_fail_memory(error);
    char *text = NULL;
    const firn_name_mapping *mapping = NULL;
    FIRN_TRY(firn_name_mapping_for(schema, NULL, &text, error));
    firn_status status = firn_name_mapping_parse(text, arena, &mapping, error);
    firn_free(text);
    FIRN_TRY(status);
    firn_lake_columns columns = {0};
    FIRN_TRY(firn_lake_columns_of(schema, mapping, 3, file, "input", arena, &columns, error));
    check_facts(file, &columns, arena);
    firn_table_metadata metadata = {.format_version = 3, .schema = schema};
    const firn_lake_entry_plan *plan = NULL;
    FIRN_TRY(firn_lake_entry_plan_new(&metadata, &columns, file, arena, &plan, error));
    firn_lake_file listed = {.location = "input", .size = (int64_t)file->source.size};
    firn_data_file entry;
    FIRN_TRY(firn_lake_entry_fill(plan, &listed, file, arena, &entry, error));
    for (size_t i = 0; i < entry.split_offset_count; i++) {
        assert(entry.split_offsets[i] > 0 && entry.split_offsets[i] < listed.size);
        assert(i == 0 || entry.split_offsets[i - 1] < entry.split_offsets[i]);
    }
    return FIRN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_read_at source = {.read = no_data, .size = 1 << 20, .name = "input"};
    if (size > source.size - 12) return 0;
    firn_parquet_file *file = NULL;
    firn_schema_union *schemas = NULL;
    firn_error error = {0};
    firn_json_setup();
    if (firn_parquet_file_open_footer(&source, firn_slice_of(data, size), NULL, NULL, &file,
                                      &error) != FIRN_OK) {
        return 0;
    }
    firn_arena *arena = firn_arena_new();
    if (arena != NULL && firn_schema_union_new(NULL, 0, 3, NULL, &schemas, &error) == FIRN_OK) {
        (void)run(file, schemas, arena, &error);
    }
    firn_schema_union_free(schemas);
    firn_arena_free(arena);
    firn_parquet_file_close(file);
    return 0;
}
