/*
 * firn-bench-footers FILE COUNT THREADS: COUNT files that are one, told apart by hard links, looked at as register does: each footer read and parsed, parsed again from what was kept, and
 * turned into a manifest entry. Prints processor time per file and the peak of memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lake/entry.h"
#include "lake/footers.h"
#include "lake/schema_union.h"
#include "storage/storage.h"

#define SPOOL_BYTES ((size_t)1 << 20)
#define NAME_SIZE 64
/* File systems allow a limited number of links to a file. */
#define LINKS_PER_COPY 20000

typedef struct bench {
    firn_storage *storage;
    firn_lake_file *files;
    char *names;
    size_t count;
    firn_schema_union *schemas;
    firn_arena *kept, *passing;
    firn_table_metadata metadata;
    firn_lake_columns columns;
    const firn_lake_entry_plan *plan;
} bench;

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static firn_status make_files(bench *work, const char *folder, const char *model,
                              firn_error *error) {
    firn_buffer content = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = firn_storage_read_all(work->storage, model, &content, error);
    const char *copy = NULL;
    for (size_t i = 0; i < work->count && status == FIRN_OK; i++) {
        char *name = work->names + i * NAME_SIZE;
        firn_storage_stat found;
        snprintf(name, NAME_SIZE, "%s/%08zu.parquet", folder, i);
        if (i % LINKS_PER_COPY == 0) {
            copy = name;
            status = firn_storage_put(work->storage, name, firn_buffer_slice(&content), error);
        } else if (link(copy, name) != 0) {
            status = firn_fail(error, FIRN_IO, "%s can't be linked", name);
        }
        if (status == FIRN_OK) status = firn_storage_stat_file(work->storage, name, &found, error);
        if (status != FIRN_OK) break;
        work->files[i] = (firn_lake_file){
            .location = name, .size = (int64_t)found.size, .modified_ns = found.modified_ns};
    }
    firn_buffer_release(&content);
    return status;
}

static firn_status look(void *context, const firn_lake_footer *footer, firn_error *error) {
    (void)context;
    if (footer->status == FIRN_OK) return FIRN_OK;
    return firn_fail(error, footer->status, "%s", footer->error->message);
}

static firn_status plan(bench *work, const firn_lake_footer *footer, firn_error *error) {
    char *text = NULL;
    const firn_name_mapping *mapping = NULL;
    FIRN_TRY(firn_schema_union_add(work->schemas, footer->parquet, footer->file->location, error));
    work->metadata.format_version = 2;
    work->metadata.schema = firn_schema_union_schema(work->schemas);
    FIRN_TRY(firn_name_mapping_for(work->metadata.schema, NULL, &text, error));
    firn_status status = firn_name_mapping_parse(text, work->kept, &mapping, error);
    firn_free(text);
    FIRN_TRY(status);
    FIRN_TRY(firn_lake_columns_of(work->metadata.schema, mapping, 2, footer->parquet,
                                  footer->file->location, work->kept, &work->columns, error));
    return firn_lake_entry_plan_new(&work->metadata, &work->columns, footer->parquet, work->kept,
                                    &work->plan, error);
}

static firn_status enter(void *context, const firn_lake_footer *footer, firn_error *error) {
    bench *work = context;
    firn_data_file entry;
    if (work->plan == NULL) FIRN_TRY(plan(work, footer, error));
    firn_arena_clear(work->passing);
    return firn_lake_entry_fill(work->plan, footer->file, footer->parquet, work->passing, &entry,
                                error);
}

static firn_status measure(bench *work, firn_lake_footers *footers, firn_error *error) {
    static const struct {
        const char *what;
        firn_lake_footer_visitor visitor;
    } visits[] = {{"read and parsed", look}, {"parsed again", look}, {"parsed, entry made", enter}};
    for (size_t i = 0; i < sizeof visits / sizeof *visits; i++) {
        double before = processor_seconds();
        FIRN_TRY(firn_lake_footers_visit(footers, 0, work->count, visits[i].visitor, work, error));
        printf("%-20s %6.2f us\n", visits[i].what,
               (processor_seconds() - before) * 1e6 / (double)work->count);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %ld KiB, of which %zu are the listing\n", usage.ru_maxrss,
           work->count * (NAME_SIZE + sizeof *work->files) / 1024);
    return FIRN_OK;
}

static firn_status run(bench *work, const char *folder, const char *model, size_t threads,
                       firn_error *error) {
    firn_pool *pool = NULL;
    firn_lake_footers *footers = NULL;
    firn_status status = FIRN_OK;
    firn_json_setup();
    work->files = firn_alloc_zeroed(work->count, sizeof *work->files);
    work->names = firn_alloc_zeroed(work->count, NAME_SIZE);
    work->kept = firn_arena_new();
    work->passing = firn_arena_new();
    if (work->files == NULL || work->names == NULL || work->kept == NULL || work->passing == NULL) {
        FIRN_CHECK(firn_fail_memory(error));
    }
    FIRN_CHECK(firn_storage_local(&work->storage, error));
    FIRN_CHECK(make_files(work, folder, model, error));
    FIRN_CHECK(firn_schema_union_new(NULL, 0, 2, NULL, &work->schemas, error));
    FIRN_CHECK(firn_pool_new(threads, &pool, error));
    FIRN_CHECK(firn_lake_footers_new(work->storage, pool, work->files, work->count, SPOOL_BYTES,
                                     &footers, error));
    FIRN_CHECK(measure(work, footers, error));
out:
    for (size_t i = 0; i < work->count && work->names != NULL; i++) {
        unlink(work->names + i * NAME_SIZE);
    }
    firn_lake_footers_free(footers);
    firn_pool_free(pool);
    firn_schema_union_free(work->schemas);
    if (work->storage != NULL) firn_storage_free(work->storage);
    firn_arena_free(work->passing);
    firn_arena_free(work->kept);
    firn_free(work->names);
    firn_free(work->files);
    return status;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: %s FILE COUNT THREADS\n", arguments[0]);
        return 2;
    }
    char folder[] = "/tmp/firn-footers-XXXXXX";
    if (mkdtemp(folder) == NULL) return 1;
    bench work = {.count = strtoul(arguments[2], NULL, 10)};
    firn_error error = {0};
    firn_status status = run(&work, folder, arguments[1], strtoul(arguments[3], NULL, 10), &error);
    if (status != FIRN_OK) fprintf(stderr, "%s\n", error.message);
    rmdir(folder);
    return status == FIRN_OK ? 0 : 1;
}
