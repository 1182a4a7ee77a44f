/*
 * Parquet's Thrift structs. The first byte picks one: a footer, which must come out the same after it was written
 * and read again, a page header, an offset index or a column index.
 */
#include <assert.h>
#include <stdint.h>

#include "parquet/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const firn_parquet_file_metadata *metadata, firn_buffer *out) {
    firn_error error = {0};
    assert(firn_parquet_write_file_metadata(metadata, out, &error) == FIRN_OK);
}

static void run_footer(firn_slice input, firn_arena *arena) {
    const firn_parquet_file_metadata *metadata = NULL;
    firn_error error = {0};
    if (firn_parquet_parse_file_metadata(input, "input", arena, &metadata, &error) != FIRN_OK) {
        return;
    }
    const firn_parquet_schema *schema = NULL;
    (void)firn_parquet_schema_build(metadata->schema, metadata->schema_count, "input", arena,
                                    &schema, &error);
    /* Encrypted columns have no metadata that could be written. */
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        for (size_t j = 0; j < metadata->row_groups[i].column_count; j++) {
            if (!metadata->row_groups[i].columns[j].has_metadata) return;
        }
    }
    firn_buffer first = firn_buffer_with_maximum((size_t)1 << 30);
    firn_buffer second = firn_buffer_with_maximum((size_t)1 << 30);
    write_again(metadata, &first);
    const firn_parquet_file_metadata *again = NULL;
    firn_status status = firn_parquet_parse_file_metadata(firn_buffer_slice(&first), "output",
                                                          arena, &again, &error);
    assert(status == FIRN_OK);
    write_again(again, &second);
    assert(firn_slice_equal(firn_buffer_slice(&first), firn_buffer_slice(&second)));
    firn_buffer_release(&first);
    firn_buffer_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return 0;
    firn_slice input = firn_slice_of(data + 1, size - 1);
    firn_error error = {0};
    firn_parquet_page_header header;
    firn_parquet_offset_index offsets;
    firn_parquet_column_index columns;
    size_t consumed = 0;
    switch (data[0] % 4) {
    case 0: run_footer(input, arena); break;
    case 1:
        (void)firn_parquet_parse_page_header(input, "input", &header, &consumed, &error);
        assert(consumed <= input.size);
        break;
    case 2: (void)firn_parquet_parse_offset_index(input, "input", arena, &offsets, &error); break;
    default: (void)firn_parquet_parse_column_index(input, "input", arena, &columns, &error);
    }
    firn_arena_free(arena);
    return 0;
}
