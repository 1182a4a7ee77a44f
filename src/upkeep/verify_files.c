/** Data and delete files: there, of the recorded size, and what their footers say. On the pool, a batch at a time. */
#include <string.h>

#include "base/cancel.h"
#include "base/plural.h"
#include "parquet/verify.h"
#include "puffin/deletion_vector.h"
#include "puffin/puffin.h"
#include "upkeep/verify_internal.h"

/* Files whose findings are held until those before them are told. */
#define BATCH 64

static firn_status check_vector(const firn_data_file *file, firn_slice blob, firn_verification *out,
                                firn_error *error) {
    firn_roaring *positions = NULL;
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status =
        firn_deletion_vector_read(blob, file->path, file->content_offset, &positions, &problem);

    if (status != FIRN_OK) {
        return firn_verify_take(out, status, &problem, "vector", file->path, FIRN_VERIFY_RESTORE,
                                error);
    }
    uint64_t cardinality = firn_roaring_count(positions);
    firn_roaring_free(positions);
    if (cardinality == (uint64_t)file->record_count) return FIRN_OK;
    return firn_verify_add(out, error, FIRN_VERIFY_ERROR, "vector", file->path, FIRN_VERIFY_WRITER,
                           "the deletion vector at byte %lld has %llu position%s, and its manifest "
                           "counts %lld",
                           (long long)file->content_offset, (unsigned long long)cardinality,
                           firn_plural(cardinality), (long long)file->record_count);
}

static const firn_puffin_blob *find_blob(const firn_puffin_footer *footer,
                                         const firn_data_file *file) {
    for (size_t i = 0; i < footer->blob_count; i++) {
        const firn_puffin_blob *blob = &footer->blobs[i];
        if (blob->offset == file->content_offset && blob->length == file->content_size_in_bytes &&
            strcmp(blob->type, FIRN_DELETION_VECTOR_TYPE) == 0) {
            return blob;
        }
    }
    return NULL;
}

static firn_status read_blob(const firn_read_at *source, const firn_data_file *file,
                             firn_verification *out, firn_error *error) {
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 31);
    size_t size = (size_t)file->content_size_in_bytes;
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = firn_buffer_reserve(&bytes, size, &problem);
    if (status == FIRN_OK) {
        status =
            firn_read_at_exact(source, (uint64_t)file->content_offset, bytes.data, size, &problem);
    }
    if (status == FIRN_OK) {
        bytes.size = size;
        status = check_vector(file, firn_buffer_slice(&bytes), out, error);
    } else {
        status = firn_verify_take(out, status, &problem, "vector", file->path, FIRN_VERIFY_RESTORE,
                                  error);
    }
    firn_buffer_release(&bytes);
    return status;
}

/** Offset and size are both a manifest's and the footer's ("Data File Fields", note 5). */
static firn_status verify_puffin(firn_verifier *verifier, const firn_data_file *file,
                                 firn_verification *out, firn_error *error) {
    firn_storage_file *open = NULL;
    firn_puffin_footer footer = {0};
    firn_error problem;
    firn_error_clear(&problem);
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = firn_storage_open(verifier->table->storage, file->path, &open, &problem);
    if (status == FIRN_OK) {
        status = firn_puffin_footer_read(firn_storage_file_source(open), arena, &footer, &problem);
    }
    if (status != FIRN_OK) {
        status = firn_verify_take(out, status, &problem, "puffin", file->path, FIRN_VERIFY_RESTORE,
                                  error);
        goto out;
    }
    out->footers++;
    if (!file->has_content_offset || find_blob(&footer, file) == NULL) {
        status = firn_verify_add(
            out, error, FIRN_VERIFY_ERROR, "vector", file->path, FIRN_VERIFY_WRITER,
            "its footer has no deletion vector of %lld bytes at byte %lld",
            (long long)file->content_size_in_bytes, (long long)file->content_offset);
        goto out;
    }
    FIRN_CHECK(read_blob(firn_storage_file_source(open), file, out, error));
out:
    firn_storage_close(open);
    firn_arena_free(arena);
    return status;
}

/** Readers pass over statistics that can't be; what is decoded wrongly is another matter. */
static firn_verify_severity severity_of(const firn_parquet_finding *finding) {
    return strcmp(finding->kind, "statistics") == 0 && strstr(finding->message, "NaN") != NULL
               ? FIRN_VERIFY_WARNING
               : FIRN_VERIFY_ERROR;
}

/** Every page of a Parquet file. */
static firn_status decode(firn_verifier *verifier, const firn_data_file *file,
                          firn_verification *out, firn_error *error) {
    firn_storage_file *open = NULL;
    firn_parquet_verification found = {0};
    firn_status status = firn_storage_open(verifier->table->storage, file->path, &open, error);
    if (status != FIRN_OK) return status;
    FIRN_CHECK(firn_parquet_verify(firn_storage_file_source(open), NULL, &found, error));
    for (size_t i = 0; i < found.findings.count; i++) {
        const firn_parquet_finding *finding = &found.findings.items[i];
        FIRN_CHECK(firn_verify_add(out, error, severity_of(finding), "content", file->path,
                                   FIRN_VERIFY_RESTORE, "%s%s%s",
                                   finding->column_name == NULL ? "" : finding->column_name,
                                   finding->column_name == NULL ? "" : ": ", finding->message));
    }
out:
    firn_parquet_verification_release(&found);
    firn_storage_close(open);
    return status;
}

firn_status firn_verify_data_file(firn_verifier *verifier, const firn_data_file *file,
                                  firn_verification *out, firn_error *error) {
    bool exists = false;
    bool is_data = file->content == FIRN_CONTENT_DATA;
    FIRN_TRY(firn_cancel_check(error));
    if (is_data) out->data_files++;
    if (!is_data) out->delete_files++;
    FIRN_TRY(firn_verify_exists(verifier->table, out, is_data ? "a data file" : "a delete file",
                                file->path, file->file_size_in_bytes, FIRN_VERIFY_ERROR, is_data,
                                &exists, error));
    if (!exists) return FIRN_OK;
    if (file->format == FIRN_FILE_PUFFIN) return verify_puffin(verifier, file, out, error);
    FIRN_TRY(firn_verify_footer(verifier, file, out, error));
    if (!verifier->options->deep || file->format != FIRN_FILE_PARQUET) return FIRN_OK;
    return decode(verifier, file, out, error);
}

typedef struct batch {
    firn_verifier *verifier;
    const firn_verify_file *files;
    firn_verification *found; /* one for each */
} batch;

static firn_status verify_one(void *context, size_t index, firn_error *error) {
    batch *b = context;
    firn_verification *found = &b->found[index];
    found->arena = firn_arena_new();
    if (found->arena == NULL) return firn_fail_memory(error);
    return firn_verify_data_file(b->verifier, &b->files[index].file, found, error);
}

static const char *advice_for(const firn_verify_file *file, const firn_verify_finding *finding) {
    return finding->severity == FIRN_VERIFY_NOTE || file->current ? finding->advice
                                                                  : FIRN_VERIFY_EXPIRE;
}

static firn_status tell(firn_verification *out, const firn_verify_file *file,
                        const firn_verification *found, firn_error *error) {
    out->data_files += found->data_files;
    out->delete_files += found->delete_files;
    out->footers += found->footers;
    out->rows += found->rows;
    for (size_t i = 0; i < found->findings.count; i++) {
        const firn_verify_finding *f = &found->findings.items[i];
        FIRN_TRY(firn_verify_add(out, error, f->severity, f->kind, f->file, advice_for(file, f),
                                 "%s", f->message));
    }
    return FIRN_OK;
}

firn_status firn_verify_files(firn_verifier *verifier, firn_error *error) {
    for (size_t begin = 0; begin < verifier->files.count; begin += BATCH) {
        firn_verification found[BATCH] = {0};
        size_t count = verifier->files.count - begin;
        if (count > BATCH) count = BATCH;
        batch b = {verifier, &verifier->files.items[begin], found};
        firn_status status = firn_pool_each(verifier->options->pool, count, verify_one, &b, error);
        for (size_t i = 0; i < count; i++) {
            if (status == FIRN_OK) status = tell(verifier->out, &b.files[i], &found[i], error);
            firn_verification_release(&found[i]);
        }
        FIRN_TRY(status);
    }
    return FIRN_OK;
}
