#include "data/data_source.h"

#include "base/alloc.h"
#include "base/plural.h"
#include "base/spool.h"
#include "data/avro_file.h"
#include "table/ledger_property.h"

/* The Parquet form of an Avro file up to this size stays in memory. */
#define MEMORY_BYTES ((size_t)8 << 20)

struct firn_data_source {
    char *location;
    firn_storage_file *file;
    firn_spool *spool; /* NULL: the file is Parquet itself */
    firn_parquet_file *parquet;
};

static firn_status check(const firn_data_file *file, firn_error *error) {
    if (file->key_metadata.data != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s: the file is encrypted (key_metadata)",
                         file->path);
    }
    if (file->format == FIRN_FILE_PARQUET || file->format == FIRN_FILE_AVRO) return FIRN_OK;
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "%s: rows can be read from Parquet and Avro files only; this is a file of "
                     "format %s",
                     file->path,
                     file->format_text != NULL ? file->format_text
                                               : firn_file_format_name(file->format));
}

/* The Avro file is of no use any more once it was turned. */
static firn_status turn(firn_data_source *source, firn_error *error) {
    FIRN_TRY(firn_spool_new(MEMORY_BYTES, &source->spool, error));
    firn_write_to destination = firn_spool_destination(source->spool);
    FIRN_TRY(
        firn_avro_file_to_parquet(firn_storage_file_source(source->file), &destination, error));
    firn_storage_close(source->file);
    source->file = NULL;
    return FIRN_OK;
}

static firn_status open_source(firn_data_source *source, firn_storage *storage,
                               const firn_data_file *file, firn_error *error) {
    source->location = firn_strdup(file->path);
    if (source->location == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_storage_open(storage, file->path, &source->file, error));
    if (file->format == FIRN_FILE_AVRO) FIRN_TRY(turn(source, error));
    firn_read_at bytes = firn_data_source_bytes(source);
    return firn_parquet_file_open(&bytes, &source->parquet, error);
}

firn_status firn_data_source_open(firn_storage *storage, const firn_data_file *file,
                                  firn_data_source **out, firn_error *error) {
    FIRN_TRY(check(file, error));
    firn_data_source *source = firn_alloc_zeroed(1, sizeof *source);
    if (source == NULL) return firn_fail_memory(error);
    firn_status status = open_source(source, storage, file, error);
    if (status != FIRN_OK) {
        firn_data_source_close(source);
        return status;
    }
    *out = source;
    return FIRN_OK;
}

void firn_data_source_close(firn_data_source *source) {
    if (source == NULL) return;
    if (source->parquet != NULL) firn_parquet_file_close(source->parquet);
    firn_spool_free(source->spool);
    if (source->file != NULL) firn_storage_close(source->file);
    firn_free(source->location);
    firn_free(source);
}

const firn_parquet_file *firn_data_source_parquet(const firn_data_source *source) {
    return source->parquet;
}

firn_read_at firn_data_source_bytes(const firn_data_source *source) {
    if (source->spool != NULL) return firn_spool_bytes(source->spool, source->location);
    return *firn_storage_file_source(source->file);
}

firn_status firn_data_file_check_rows(const firn_parquet_file_metadata *footer,
                                      const firn_table_metadata *table, const firn_data_file *file,
                                      firn_error *error) {
    if (footer->num_rows == file->record_count) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "%s: the manifest counts %lld row%s, the file %lld; %s",
                     file->path, (long long)file->record_count,
                     firn_plural((uint64_t)file->record_count), (long long)footer->num_rows,
                     firn_ledger_advice_replaced(table));
}

firn_status firn_data_source_check_rows(const firn_data_source *source,
                                        const firn_table_metadata *table,
                                        const firn_data_file *file, firn_error *error) {
    return firn_data_file_check_rows(firn_data_source_parquet(source)->metadata, table, file,
                                     error);
}
