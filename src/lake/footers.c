/*
 * Files are taken in runs. A thread of its own lets the pool load run after run while the calling thread visits them in order; it stays a bounded number of runs ahead, and what is parsed and not yet
 * visited a bounded number of bytes: beyond that footers are only fetched, and parsed when it is their turn. Where the pool has but one thread, the calling thread does everything.
 */
#include "lake/footers_internal.h"

#include <signal.h>

#include "base/alloc.h"
#include "base/cancel.h"

/* Large enough that handing over costs next to nothing per file. */
#define RUN_LENGTH ((size_t)32)
/* Runs that may wait for their visit, per thread. */
#define RUNS_AHEAD ((size_t)4)
#define PARSED_BYTES_AHEAD ((size_t)64 << 20)

typedef struct run {
    bool ready;
    firn_parquet_file *parquet[RUN_LENGTH]; /* NULL: failed, or to be parsed yet */
} run;

typedef struct visit {
    firn_lake_footers *footers;
    size_t first, count;
    firn_lake_footer_visitor visitor;
    void *context;
    atomic_size_t parsed_bytes;
    /* The rest is guarded by the mutex, save for runs, each of which belongs to its loader until it is ready. */
    pthread_mutex_t mutex;
    pthread_cond_t loaded, visited;
    run *runs; /* a ring */
    size_t ring_length, run_count;
    size_t next; /* the run that is visited now */
    bool stopping, over;
    firn_status status; /* of the loading, once it is over */
    firn_error failure;
} visit;

firn_status firn_lake_footers_new(firn_storage *storage, firn_pool *pool,
                                  const firn_lake_file *files, size_t file_count,
                                  size_t memory_bytes, firn_lake_footers **out, firn_error *error) {
    firn_lake_footers *footers = firn_alloc_zeroed(1, sizeof *footers);
    if (footers == NULL) return firn_fail_memory(error);
    footers->storage = storage;
    footers->pool = pool;
    footers->files = files;
    footers->file_count = file_count;
    footers->records = firn_alloc_zeroed(file_count, sizeof *footers->records);
    pthread_mutex_init(&footers->spool_lock, NULL);
    pthread_mutex_init(&footers->spare_lock, NULL);
    firn_status status = footers->records == NULL
                             ? firn_fail_memory(error)
                             : firn_spool_new(memory_bytes, &footers->spool, error);
    if (status == FIRN_OK) status = firn_parquet_known_schemas_new(&footers->schemas, error);
    if (status != FIRN_OK) {
        firn_lake_footers_free(footers);
        return status;
    }
    *out = footers;
    return FIRN_OK;
}

void firn_lake_footers_free(firn_lake_footers *footers) {
    if (footers == NULL) return;
    pthread_mutex_destroy(&footers->spool_lock);
    pthread_mutex_destroy(&footers->spare_lock);
    for (size_t i = 0; i < footers->spare_count; i++) firn_arena_free(footers->spare[i]);
    firn_parquet_known_schemas_free(footers->schemas);
    firn_spool_free(footers->spool);
    firn_free(footers->records);
    firn_free(footers);
}

void firn_lake_footers_count(const firn_lake_footers *footers, uint64_t *files, uint64_t *reads) {
    *files = atomic_load(&footers->opened);
    *reads = atomic_load(&footers->reads);
}

/* Shows one file, parsed or not, and closes it. */
static firn_status show(visit *state, size_t index, firn_parquet_file *parquet, firn_error *error) {
    firn_lake_footers *footers = state->footers;
    firn_error failure;
    firn_status status = FIRN_OK;
    firn_lake_footer footer = {.index = index, .file = &footers->files[index]};
    FIRN_CHECK(firn_cancel_check(error));
    if (parquet == NULL) FIRN_CHECK(firn_lake_footer_load(footers, index, true, &parquet, error));
    footer.parquet = parquet;
    footer.status = (firn_status)footers->records[index].status;
    if (footer.status != FIRN_OK) {
        FIRN_CHECK(firn_lake_footer_failure(footers, index, &failure, error));
        footer.error = &failure;
    }
    status = state->visitor(state->context, &footer, error);
out:
    firn_lake_footer_unload(footers, parquet);
    return status;
}

static firn_status visit_alone(visit *state, firn_error *error) {
    for (size_t i = 0; i < state->count; i++) {
        FIRN_TRY(show(state, state->first + i, NULL, error));
    }
    return FIRN_OK;
}

static size_t run_length(const visit *state, size_t index) {
    size_t left = state->count - index * RUN_LENGTH;
    return left < RUN_LENGTH ? left : RUN_LENGTH;
}

static size_t bytes_of(const firn_parquet_file *parquet) {
    return parquet == NULL ? 0 : firn_arena_bytes(parquet->arena);
}

/* Waits until there is room in the ring; false when nobody waits for the run any more. */
static bool wait_for_room(visit *state, size_t index) {
    pthread_mutex_lock(&state->mutex);
    while (!state->stopping && index >= state->next + state->ring_length) {
        pthread_cond_wait(&state->visited, &state->mutex);
    }
    bool wanted = !state->stopping;
    pthread_mutex_unlock(&state->mutex);
    return wanted;
}

static firn_status load_files(visit *state, size_t index, run *loaded, firn_error *error) {
    for (size_t i = 0; i < run_length(state, index); i++) {
        bool parse = atomic_load(&state->parsed_bytes) < PARSED_BYTES_AHEAD;
        FIRN_TRY(firn_lake_footer_load(state->footers, state->first + index * RUN_LENGTH + i, parse,
                                       &loaded->parquet[i], error));
        atomic_fetch_add(&state->parsed_bytes, bytes_of(loaded->parquet[i]));
    }
    return FIRN_OK;
}

static firn_status load_run(void *context, size_t index, firn_error *error) {
    visit *state = context;
    if (!wait_for_room(state, index)) return FIRN_CANCELLED;
    run *loaded = &state->runs[index % state->ring_length];
    FIRN_TRY(load_files(state, index, loaded, error));
    pthread_mutex_lock(&state->mutex);
    loaded->ready = true;
    pthread_cond_signal(&state->loaded);
    pthread_mutex_unlock(&state->mutex);
    return FIRN_OK;
}

static void *load_all(void *context) {
    visit *state = context;
    firn_error failure;
    firn_error_clear(&failure);
    firn_status status =
        firn_pool_each(state->footers->pool, state->run_count, load_run, state, &failure);
    pthread_mutex_lock(&state->mutex);
    state->over = true;
    state->status = status;
    state->failure = failure;
    pthread_cond_signal(&state->loaded);
    pthread_mutex_unlock(&state->mutex);
    return NULL;
}

/* Waits for run `index`; fails when loading ended without it. */
static firn_status wait_for_run(visit *state, size_t index, firn_error *error) {
    const run *wanted = &state->runs[index % state->ring_length];
    pthread_mutex_lock(&state->mutex);
    while (!wanted->ready && !state->over) pthread_cond_wait(&state->loaded, &state->mutex);
    firn_status status = wanted->ready ? FIRN_OK : state->status;
    if (status != FIRN_OK && error != NULL) *error = state->failure;
    pthread_mutex_unlock(&state->mutex);
    return status;
}

static firn_status show_run(visit *state, size_t index, firn_error *error) {
    run *loaded = &state->runs[index % state->ring_length];
    for (size_t i = 0; i < run_length(state, index); i++) {
        firn_parquet_file *parquet = loaded->parquet[i];
        loaded->parquet[i] = NULL;
        size_t bytes = bytes_of(parquet);
        FIRN_TRY(show(state, state->first + index * RUN_LENGTH + i, parquet, error));
        atomic_fetch_sub(&state->parsed_bytes, bytes);
    }
    pthread_mutex_lock(&state->mutex);
    loaded->ready = false;
    state->next = index + 1;
    pthread_cond_broadcast(&state->visited);
    pthread_mutex_unlock(&state->mutex);
    return FIRN_OK;
}

static firn_status visit_runs(visit *state, firn_error *error) {
    for (size_t i = 0; i < state->run_count; i++) {
        FIRN_TRY(wait_for_run(state, i, error));
        FIRN_TRY(show_run(state, i, error));
    }
    return FIRN_OK;
}

static void stop_loading(visit *state, pthread_t loader) {
    pthread_mutex_lock(&state->mutex);
    state->stopping = true;
    pthread_cond_broadcast(&state->visited);
    pthread_mutex_unlock(&state->mutex);
    pthread_join(loader, NULL);
    for (size_t i = 0; i < state->ring_length; i++) {
        for (size_t j = 0; j < RUN_LENGTH; j++) {
            firn_lake_footer_unload(state->footers, state->runs[i].parquet[j]);
        }
    }
}

/* Signals are for the threads that were there before. */
static bool start_loading(visit *state, pthread_t *loader) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(loader, NULL, load_all, state);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

static firn_status visit_ahead(visit *state, firn_error *error) {
    state->run_count = (state->count + RUN_LENGTH - 1) / RUN_LENGTH;
    state->ring_length = RUNS_AHEAD * firn_pool_threads(state->footers->pool);
    state->runs = firn_alloc_zeroed(state->ring_length, sizeof *state->runs);
    if (state->runs == NULL) return firn_fail_memory(error);
    pthread_mutex_init(&state->mutex, NULL);
    pthread_cond_init(&state->loaded, NULL);
    pthread_cond_init(&state->visited, NULL);
    pthread_t loader;
    firn_status status;
    if (start_loading(state, &loader)) {
        status = visit_runs(state, error);
        stop_loading(state, loader);
    } else {
        status = visit_alone(state, error);
    }
    pthread_cond_destroy(&state->visited);
    pthread_cond_destroy(&state->loaded);
    pthread_mutex_destroy(&state->mutex);
    firn_free(state->runs);
    return status;
}

firn_status firn_lake_footers_visit(firn_lake_footers *footers, size_t first, size_t count,
                                    firn_lake_footer_visitor visitor, void *context,
                                    firn_error *error) {
    if (first > footers->file_count || count > footers->file_count - first) {
        return firn_fail(error, FIRN_INVALID, "there are %zu footers, not %zu from %zu on",
                         footers->file_count, count, first);
    }
    visit state = {
        .footers = footers, .first = first, .count = count, .visitor = visitor, .context = context};
    if (firn_pool_threads(footers->pool) < 2 || count <= RUN_LENGTH) {
        return visit_alone(&state, error);
    }
    return visit_ahead(&state, error);
}
