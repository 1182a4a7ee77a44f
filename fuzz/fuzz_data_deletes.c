/* A Parquet file as position deletes, as equality deletes and as the data file that they are looked up in. */
#include <stdint.h>
#include <stdlib.h>

#include "data/deletes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char metadata_text[] =
    "{\"format-version\": 2, \"table-uuid\": \"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
    "\"location\": \"/t\", \"last-sequence-number\": 9, \"last-updated-ms\": 1,"
    "\"last-column-id\": 2, \"current-schema-id\": 0, \"schemas\": [{\"type\": \"struct\","
    "\"schema-id\": 0, \"fields\": [{\"id\": 1, \"name\": \"k\", \"required\": false,"
    "\"type\": \"long\"}, {\"id\": 2, \"name\": \"l\", \"required\": false, \"type\": "
    "\"string\"}]}],"
    "\"default-spec-id\": 0, \"partition-specs\": [{\"spec-id\": 0, \"fields\": []}],"
    "\"last-partition-id\": 999, \"default-sort-order-id\": 0,"
    "\"sort-orders\": [{\"order-id\": 0, \"fields\": []}], \"properties\": {}}";

static firn_live_file live(firn_content content, const char *path, int64_t sequence_number) {
    return (firn_live_file){.entry = {.has_sequence_number = true,
                                      .sequence_number = sequence_number,
                                      .file = {.content = content,
                                               .path = path,
                                               .format = FIRN_FILE_PARQUET,
                                               .format_text = "PARQUET",
                                               .record_count = 1000}}};
}

static void resolve(firn_table *table) {
    static const int32_t ids[] = {1, 2};
    firn_live_file data_file = live(FIRN_CONTENT_DATA, "/t/a.parquet", 1);
    const firn_live_file *data[] = {&data_file};
    for (size_t i = 0; i < 4; i++) {
        firn_live_file deletes =
            live(i == 0 ? FIRN_CONTENT_POSITION_DELETES : FIRN_CONTENT_EQUALITY_DELETES,
                 "/t/a.parquet", 2);
        deletes.entry.file.equality_ids = i == 2 ? ids + 1 : ids;
        deletes.entry.file.equality_id_count = i == 3 ? 2 : 1;
        firn_live_files files = {.deletes = &deletes, .delete_count = 1};
        firn_deletes_request request = {.table = table,
                                        .files = &files,
                                        .data = data,
                                        .data_count = 1,
                                        .positions = true,
                                        .equality = true};
        firn_deletes out;
        firn_status status = firn_deletes_resolve(&request, &out, NULL);
        if (status == FIRN_OK && firn_roaring_count(out.in_memory[0]) > 1000) abort();
        firn_deletes_release(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_json_setup();
    firn_table_metadata *metadata = NULL;
    firn_storage *storage = NULL;
    if (firn_table_metadata_parse(firn_slice_text(metadata_text), "metadata", &metadata, NULL) !=
            FIRN_OK ||
        firn_storage_memory(&storage, NULL) != FIRN_OK ||
        firn_storage_put(storage, "/t/a.parquet", firn_slice_of(data, size), NULL) != FIRN_OK) {
        abort();
    }
    firn_table table = {
        .storage = storage, .display_name = (char *)(uintptr_t) "t", .metadata = metadata};
    resolve(&table);
    firn_storage_free(storage);
    firn_table_metadata_free(metadata);
    return 0;
}
