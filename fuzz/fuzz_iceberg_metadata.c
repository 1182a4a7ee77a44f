/*
 * Any bytes as table metadata: what parses is written and parses again to the same, and a property can be set on it without
 * touching the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "iceberg/update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(const firn_table_metadata *metadata) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 30);
    firn_table_metadata *again = NULL;
    if (firn_table_metadata_serialize(metadata, false, &text, NULL) != FIRN_OK) abort();
    if (firn_table_metadata_parse(firn_buffer_slice(&text), "text", &again, NULL) != FIRN_OK) {
        abort();
    }
    if (!json_equal(metadata->json, again->json)) abort();
    if (again->next_row_id != metadata->next_row_id) abort();
    firn_table_metadata_free(again);
    firn_buffer_release(&text);
}

static void check_changed(const firn_table_metadata *base) {
    firn_table_update update = {0};
    firn_table_metadata *made = NULL;
    if (firn_table_update_init(&update, NULL) != FIRN_OK) return;
    json_t *properties = json_pack("{s:s}", "fuzz", "1");
    if (firn_update_set_properties(&update, properties, NULL) == FIRN_OK) {
        firn_status status = firn_table_update_apply(&update, base, "m", 1, &made, NULL);
        /* A log length that is no number is refused. */
        if (status != FIRN_OK && status != FIRN_INVALID) abort();
        if (status == FIRN_OK) {
            if (made->snapshot_count != base->snapshot_count) abort();
            if (made->last_updated_ms < base->last_updated_ms) abort();
            check_written(made);
        }
    }
    firn_table_metadata_free(made);
    firn_table_update_release(&update);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_table_metadata *metadata = NULL;
    firn_slice bytes = firn_slice_of(data, size);
    if (firn_table_metadata_parse(bytes, "input", &metadata, NULL) != FIRN_OK) return 0;
    check_written(metadata);
    check_changed(metadata);
    firn_table_metadata_free(metadata);
    return 0;
}
