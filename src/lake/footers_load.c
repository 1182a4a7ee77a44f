#include <errno.h>

#include "base/alloc.h"
#include "lake/facts.h"
#include "lake/footers_internal.h"
#include "parquet/page_codec.h"

/*
 * Read at once from the end of each file. A column chunk takes some 200 bytes in a footer, so that this holds those of eighty columns. It hardly matters on a local disk: with 4, 16, 32 and 64 KiB the medians of
 * four runs were 12.5, 12.9, 13.6 and 13.8 µs a file (firn-bench-footers FILE 10000 1, a file of 288 KB with ten columns).
 */
#define TAIL_SIZE ((size_t)16 << 10)
#define TRAILER_SIZE 8
/* Three orders of magnitude above what a file of a thousand columns and a hundred row groups has for each of them. */
#define LONGEST_FOOTER ((uint64_t)256 << 20)

#define LARGEST_SPARE_ARENA ((size_t)64 << 10)

/* The last bytes of a file. */
typedef struct tail {
    uint8_t room[TAIL_SIZE];
    uint8_t *owned; /* a footer that is longer than the room */
    firn_slice footer;
} tail;

/* Whether a failure tells about the process or the machine rather than about the file. */
static bool is_general(firn_status status, const firn_error *error) {
    switch (status) {
    case FIRN_NO_MEMORY:
    case FIRN_CANCELLED:
    case FIRN_TIMEOUT:
    case FIRN_THROTTLED: return true;
    default:
        return error->system_errno == EMFILE || error->system_errno == ENFILE ||
               error->system_errno == ENOMEM;
    }
}

static firn_status keep(firn_lake_footers *footers, size_t index, firn_status status,
                        const void *data, size_t size, firn_error *error) {
    firn_lake_footer_record *record = &footers->records[index];
    pthread_mutex_lock(&footers->spool_lock);
    firn_status written = firn_spool_write(footers->spool, data, size, error);
    uint64_t offset = footers->spool_size;
    if (written == FIRN_OK) footers->spool_size += size;
    pthread_mutex_unlock(&footers->spool_lock);
    if (written != FIRN_OK) return firn_error_wrap(error, written, "keeping footers");
    *record = (firn_lake_footer_record){
        .offset = offset, .length = (uint32_t)size, .known = true, .status = (uint8_t)status};
    return FIRN_OK;
}

/* Puts down what is wrong with the file, or passes up what isn't about the file. */
static firn_status keep_failure(firn_lake_footers *footers, size_t index, firn_status status,
                                const firn_error *failure, firn_error *error) {
    if (is_general(status, failure)) {
        if (error != NULL) *error = *failure;
        return status;
    }
    return keep(footers, index, status, failure->message, strlen(failure->message), error);
}

static firn_status fetch(firn_lake_footers *footers, size_t index, uint8_t *out,
                         firn_error *error) {
    const firn_lake_footer_record *record = &footers->records[index];
    pthread_mutex_lock(&footers->spool_lock);
    firn_read_at bytes = firn_spool_bytes(footers->spool, "footers");
    firn_status status = firn_read_at_exact(&bytes, record->offset, out, record->length, error);
    pthread_mutex_unlock(&footers->spool_lock);
    return status;
}

firn_status firn_lake_footer_failure(firn_lake_footers *footers, size_t index, firn_error *out,
                                     firn_error *error) {
    firn_error_clear(out);
    out->code = (firn_status)footers->records[index].status;
    /* It was an error's message, so that it fits one. */
    FIRN_TRY(fetch(footers, index, (uint8_t *)out->message, error));
    out->message[footers->records[index].length] = '\0';
    return FIRN_OK;
}

static firn_status read_tail(firn_lake_footers *footers, const firn_read_at *source, tail *out,
                             firn_error *error) {
    size_t size = source->size < TAIL_SIZE ? (size_t)source->size : TAIL_SIZE;
    uint64_t length = 0;
    if (size >= TRAILER_SIZE) {
        atomic_fetch_add_explicit(&footers->reads, 1, memory_order_relaxed);
        FIRN_TRY(firn_read_at_exact(source, source->size - size, out->room, size, error));
    }
    FIRN_TRY(firn_parquet_footer_length(firn_slice_of(out->room, size), source->size, source->name,
                                        &length, error));
    if (length + TRAILER_SIZE <= size) {
        out->footer =
            firn_slice_of(out->room + size - TRAILER_SIZE - (size_t)length, (size_t)length);
        return FIRN_OK;
    }
    if (length > LONGEST_FOOTER) {
        return firn_fail(error, FIRN_LIMIT, "%s: a footer of %llu bytes; the limit is %llu",
                         source->name, (unsigned long long)length,
                         (unsigned long long)LONGEST_FOOTER);
    }
    out->owned = firn_alloc((size_t)length);
    if (out->owned == NULL) return firn_fail_memory(error);
    out->footer = firn_slice_of(out->owned, (size_t)length);
    atomic_fetch_add_explicit(&footers->reads, 1, memory_order_relaxed);
    return firn_read_at_exact(source, source->size - TRAILER_SIZE - length, out->owned,
                              (size_t)length, error);
}

static firn_status changed(const firn_lake_file *file, firn_error *error) {
    return firn_fail(error, FIRN_CONFLICT,
                     "%s changed while it was being registered; run again when it is complete",
                     file->location);
}

/*
 * The time is looked at behind the read and by name: whatever replaced the file between listing and reading is seen, and a writer that is still at work, too.
 */
static firn_status read_file(firn_lake_footers *footers, const firn_lake_file *file, tail *out,
                             firn_error *error) {
    firn_storage_file *opened = NULL;
    firn_storage_stat now;
    firn_status status = firn_storage_open(footers->storage, file->location, &opened, error);
    if (status == FIRN_NOT_FOUND) {
        return firn_error_wrap(error, status, "gone since it was listed");
    }
    if (status != FIRN_OK) return status;
    atomic_fetch_add_explicit(&footers->opened, 1, memory_order_relaxed);
    const firn_read_at *source = firn_storage_file_source(opened);
    firn_error unread;
    firn_error_clear(&unread);
    if ((int64_t)source->size != file->size) FIRN_CHECK(changed(file, error));
    firn_status read = read_tail(footers, source, out, &unread);
    FIRN_CHECK(firn_storage_stat_file(footers->storage, file->location, &now, error));
    if ((int64_t)now.size != file->size || now.modified_ns != file->modified_ns) {
        FIRN_CHECK(changed(file, error));
    }
    status = read;
    if (status != FIRN_OK && error != NULL) *error = unread;
out:
    firn_storage_close(opened);
    return status;
}

static firn_status no_data(void *context, uint64_t offset, void *out, size_t size,
                           firn_error *error) {
    const firn_lake_file *file = context;
    (void)offset;
    (void)out;
    (void)size;
    return firn_fail(error, FIRN_INVALID, "%s: only the footer is at hand", file->location);
}

/* Columns that can't be read by anybody who reads the table, or of which the footer says what can't be: it is known before anything is written. */
static firn_status check_chunks(const firn_parquet_file *parquet, firn_error *error) {
    for (size_t i = 0; i < parquet->metadata->row_group_count; i++) {
        for (size_t j = 0; j < parquet->schema->leaf_count; j++) {
            FIRN_TRY(firn_parquet_chunk_readable(parquet, i, j, error));
        }
    }
    for (size_t j = 0; j < parquet->schema->leaf_count; j++) {
        FIRN_TRY(firn_lake_column_check(parquet, j, error));
    }
    return FIRN_OK;
}

static firn_arena *take_spare(firn_lake_footers *footers) {
    pthread_mutex_lock(&footers->spare_lock);
    firn_arena *arena = footers->spare_count == 0 ? NULL : footers->spare[--footers->spare_count];
    pthread_mutex_unlock(&footers->spare_lock);
    return arena;
}

void firn_lake_footer_unload(firn_lake_footers *footers, firn_parquet_file *parquet) {
    if (parquet == NULL) return;
    firn_arena *arena = firn_parquet_file_close_keeping(parquet);
    pthread_mutex_lock(&footers->spare_lock);
    bool kept = footers->spare_count < FIRN_LAKE_SPARE_ARENAS &&
                firn_arena_bytes(arena) <= LARGEST_SPARE_ARENA;
    if (kept) footers->spare[footers->spare_count++] = arena;
    pthread_mutex_unlock(&footers->spare_lock);
    if (!kept) firn_arena_free(arena);
}

static firn_status parse(firn_lake_footers *footers, size_t index, firn_slice footer,
                         firn_parquet_file **out, firn_error *error) {
    const firn_lake_file *file = &footers->files[index];
    /* The source is not written to. */
    firn_read_at source = {.read = no_data,
                           .context = (void *)(uintptr_t)file,
                           .size = (uint64_t)file->size,
                           .name = file->location};
    firn_parquet_file *parquet = NULL;
    FIRN_TRY(firn_parquet_file_open_footer(&source, footer, footers->schemas, take_spare(footers),
                                           &parquet, error));
    firn_status status = check_chunks(parquet, error);
    if (status != FIRN_OK) {
        firn_lake_footer_unload(footers, parquet);
        return status;
    }
    *out = parquet;
    return FIRN_OK;
}

static firn_status load_known(firn_lake_footers *footers, size_t index, firn_parquet_file **out,
                              firn_error *error) {
    const firn_lake_footer_record *record = &footers->records[index];
    firn_error failure;
    firn_error_clear(&failure);
    uint8_t *bytes = firn_alloc(record->length);
    if (bytes == NULL) return firn_fail_memory(error);
    firn_status status = fetch(footers, index, bytes, error);
    if (status == FIRN_OK) {
        status = parse(footers, index, firn_slice_of(bytes, record->length), out, &failure);
        if (status != FIRN_OK) status = keep_failure(footers, index, status, &failure, error);
    }
    firn_free(bytes);
    return status;
}

static firn_status load_new(firn_lake_footers *footers, size_t index, bool parse_too,
                            firn_parquet_file **out, firn_error *error) {
    const firn_lake_file *file = &footers->files[index];
    tail end;
    end.owned = NULL;
    firn_error failure;
    firn_error_clear(&failure);
    firn_parquet_file *parquet = NULL;
    firn_status status = read_file(footers, file, &end, &failure);
    if (status == FIRN_OK && parse_too) {
        status = parse(footers, index, end.footer, &parquet, &failure);
    }
    status = status == FIRN_OK
                 ? keep(footers, index, FIRN_OK, end.footer.data, end.footer.size, error)
                 : keep_failure(footers, index, status, &failure, error);
    firn_free(end.owned);
    if (status != FIRN_OK) {
        firn_lake_footer_unload(footers, parquet);
        return status;
    }
    *out = parquet;
    return FIRN_OK;
}

firn_status firn_lake_footer_load(firn_lake_footers *footers, size_t index, bool parse_too,
                                  firn_parquet_file **out, firn_error *error) {
    *out = NULL;
    const firn_lake_footer_record *record = &footers->records[index];
    if (!record->known) return load_new(footers, index, parse_too, out, error);
    if (record->status != FIRN_OK || !parse_too) return FIRN_OK;
    return load_known(footers, index, out, error);
}
