#include "data/rows.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "data/data_source.h"
#include "data/row_printer.h"

/* A data file opened for reading under a selection. */
typedef struct open_file {
    firn_data_source *source;
    firn_arena *arena;
    const firn_parquet_schema *output;
    firn_projection projection;
    firn_row_file file; /* what the printer borrows */
    firn_row_printer *printer;
} open_file;

static void release(open_file *open) {
    firn_row_printer_free(open->printer);
    firn_data_source_close(open->source);
    firn_arena_free(open->arena);
}

/* Variants are read as the file shreds them. */
static firn_status make_output(const firn_schema *schema, const firn_parquet_file *parquet,
                               open_file *open, firn_error *error) {
    const firn_parquet_schema_element *elements = NULL;
    size_t count = 0;
    FIRN_TRY(
        firn_parquet_elements_like(schema, parquet->schema, open->arena, &elements, &count, error));
    return firn_parquet_schema_build(elements, count, "the table's schema", open->arena,
                                     &open->output, error);
}

static firn_status open_data_file(firn_table *table, const firn_row_selection *selection,
                                  const firn_manifest_entry *entry, open_file *open,
                                  firn_error *error) {
    const firn_data_file *file = &entry->file;
    open->arena = firn_arena_new();
    if (open->arena == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_data_source_open(table->storage, file, &open->source, error));
    const firn_parquet_file *parquet = firn_data_source_parquet(open->source);
    FIRN_TRY(make_output(selection->schema, parquet, open, error));
    const firn_name_mapping *mapping = NULL;
    FIRN_TRY(firn_name_mapping_of_table(table->metadata, open->arena, &mapping, error));
    FIRN_TRY(firn_projection_build(selection->schema, open->output, parquet, file->path, file,
                                   firn_table_metadata_spec(table->metadata, file->spec_id),
                                   mapping, table->metadata->format_version, open->arena,
                                   &open->projection, error));
    open->file = (firn_row_file){.file = parquet,
                                 .location = file->path,
                                 .output = open->output,
                                 .projection = &open->projection,
                                 .first_row_id = file->has_first_row_id ? file->first_row_id : -1,
                                 .sequence_number =
                                     entry->has_sequence_number ? entry->sequence_number : -1};
    return firn_row_printer_new(selection, &open->file, &open->printer, error);
}

firn_status firn_rows_of_file(firn_table *table, const firn_row_selection *selection,
                              const firn_manifest_entry *entry, const firn_deletes *deletes,
                              size_t data, int64_t *left, firn_row_visitor visit, void *context,
                              firn_error *error) {
    open_file open = {0};
    firn_deletes_rows deleted = {0};
    firn_status status;
    FIRN_CHECK(open_data_file(table, selection, entry, &open, error));
    const firn_parquet_file_metadata *metadata = open.file.file->metadata;
    FIRN_CHECK(firn_data_file_check_rows(metadata, table->metadata, &entry->file, error));
    int64_t position = 0;
    for (size_t i = 0; i < metadata->row_group_count && (left == NULL || *left > 0); i++) {
        int64_t end = position + metadata->row_groups[i].num_rows;
        firn_deletes_rows_release(&deleted);
        FIRN_CHECK(firn_deletes_rows_of(deletes, data, (uint64_t)position, (uint64_t)end, &deleted,
                                        error));
        open.file.deleted = deleted.set;
        FIRN_CHECK(
            firn_row_printer_row_group(open.printer, i, position, left, visit, context, error));
        position = end;
    }
out:
    firn_deletes_rows_release(&deleted);
    release(&open);
    return status;
}

void firn_content_hash_add(firn_content_hash *hash, const firn_content_hash *other) {
    uint64_t low = hash->low + other->low;
    hash->high += other->high + (low < hash->low ? 1 : 0);
    hash->low = low;
    hash->row_count += other->row_count;
}

void firn_content_hash_text(const firn_content_hash *hash, char text[33]) {
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash->high,
             (unsigned long long)hash->low);
}

typedef struct row_hasher {
    EVP_MD_CTX *context;
    EVP_MD *algorithm;
    firn_content_hash sum;
} row_hasher;

static firn_status hash_row(void *context, firn_slice json, firn_error *error) {
    row_hasher *hasher = context;
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (EVP_DigestInit_ex(hasher->context, hasher->algorithm, NULL) != 1 ||
        EVP_DigestUpdate(hasher->context, json.data, json.size) != 1 ||
        EVP_DigestFinal_ex(hasher->context, digest, NULL) != 1) {
        return firn_fail(error, FIRN_IO, "SHA-256 failed");
    }
    firn_content_hash one = {firn_load_be64(digest), firn_load_be64(digest + 8), 1};
    firn_content_hash_add(&hasher->sum, &one);
    return FIRN_OK;
}

/* One sum per file, so that tasks share nothing. */
typedef struct hash_task {
    firn_table *table;
    firn_row_selection selection;
    const firn_live_file *files;
    const firn_deletes *deletes; /* nullable */
    firn_content_hash *sums;
} hash_task;

static firn_status hash_file(void *context, size_t index, firn_error *error) {
    hash_task *task = context;
    row_hasher hasher = {.context = EVP_MD_CTX_new(),
                         .algorithm = EVP_MD_fetch(NULL, "SHA256", NULL)};
    firn_status status =
        hasher.context == NULL || hasher.algorithm == NULL
            ? firn_fail_memory(error)
            : firn_rows_of_file(task->table, &task->selection, &task->files[index].entry,
                                task->deletes, index, NULL, hash_row, &hasher, error);
    task->sums[index] = hasher.sum;
    EVP_MD_free(hasher.algorithm);
    EVP_MD_CTX_free(hasher.context);
    return status;
}

firn_status firn_content_hash_of_files(firn_table *table, const firn_schema *schema,
                                       const firn_live_file *files, const firn_deletes *deletes,
                                       size_t count, firn_pool *pool, firn_content_hash *out,
                                       firn_error *error) {
    hash_task task = {table, firn_row_selection_of(schema), files, deletes,
                      firn_alloc_zeroed(count, sizeof *task.sums)};
    if (task.sums == NULL) return firn_fail_memory(error);
    firn_status status = firn_pool_each(pool, count, hash_file, &task, error);
    *out = (firn_content_hash){0};
    for (size_t i = 0; i < count && status == FIRN_OK; i++) {
        firn_content_hash_add(out, &task.sums[i]);
    }
    firn_free(task.sums);
    return status;
}
