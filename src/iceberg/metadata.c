#include "iceberg/metadata.h"

#include <string.h>

#include "codec/codec.h"

const firn_snapshot *firn_table_metadata_snapshot(const firn_table_metadata *metadata,
                                                  int64_t snapshot_id) {
    size_t low = 0;
    size_t high = metadata->snapshot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const firn_snapshot *snapshot = &metadata->snapshots[metadata->snapshots_by_id[middle]];
        if (snapshot->snapshot_id == snapshot_id) return snapshot;
        if (snapshot->snapshot_id < snapshot_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const firn_snapshot_ref *firn_table_metadata_ref(const firn_table_metadata *metadata,
                                                 const char *name) {
    for (size_t i = 0; i < metadata->ref_count; i++) {
        if (strcmp(metadata->refs[i].name, name) == 0) return &metadata->refs[i];
    }
    return NULL;
}

const firn_schema *firn_table_metadata_schema(const firn_table_metadata *metadata,
                                              int32_t schema_id) {
    for (size_t i = 0; i < metadata->schema_count; i++) {
        if (metadata->schemas[i]->schema_id == schema_id) return metadata->schemas[i];
    }
    return NULL;
}

const firn_partition_spec *firn_table_metadata_spec(const firn_table_metadata *metadata,
                                                    int32_t spec_id) {
    for (size_t i = 0; i < metadata->spec_count; i++) {
        if (metadata->specs[i]->spec_id == spec_id) return metadata->specs[i];
    }
    return NULL;
}

const firn_sort_order *firn_table_metadata_sort_order(const firn_table_metadata *metadata,
                                                      int32_t order_id) {
    for (size_t i = 0; i < metadata->sort_order_count; i++) {
        if (metadata->sort_orders[i]->order_id == order_id) return metadata->sort_orders[i];
    }
    return NULL;
}

int64_t firn_table_metadata_change_time(const firn_table_metadata *base, int64_t now_ms) {
    return now_ms > base->last_updated_ms ? now_ms : base->last_updated_ms;
}

firn_status firn_table_metadata_serialize(const firn_table_metadata *metadata, bool gzip,
                                          firn_buffer *out, firn_error *error) {
    if (!gzip) return firn_json_write(metadata->json, 0, out, error);
    firn_buffer text = firn_buffer_with_maximum(out->maximum);
    firn_status status = firn_json_write(metadata->json, 0, &text, error);
    if (status == FIRN_OK) {
        status = firn_codec_compress(FIRN_CODEC_GZIP, FIRN_CODEC_LEVEL_DEFAULT,
                                     firn_buffer_slice(&text), out, error);
    }
    firn_buffer_release(&text);
    return status;
}

/* "v6.metadata.json", "v6.gz.metadata.json" (directory catalogs), "00006-<uuid>.metadata.json" (the others). */
int64_t firn_metadata_location_version(const char *location) {
    const char *slash = strrchr(location, '/');
    const char *p = slash == NULL ? location : slash + 1;
    char end = '-';
    if (*p == 'v') {
        end = '.';
        p++;
    }
    const char *digits = p;
    int64_t version = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (version > (INT64_MAX - 10) / 10) return 0;
        version = version * 10 + (*p - '0');
    }
    return p == digits || *p != end ? 0 : version + 1;
}
