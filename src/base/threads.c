#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/log.h"

/* More threads than this are a mistake in a setting. */
#define MOST_THREADS ((size_t)1024)

/* One call of firn_pool_each. Guarded by the pool's mutex, save for what never changes. */
typedef struct job {
    firn_pool_task task;
    void *context;
    size_t count;
    size_t next;    /* the index that is started next */
    size_t running; /* indexes that are started and not finished */
    bool stopped;   /* no further index is started */
    size_t failed_index;
    firn_status status;
    firn_error failure;
} job;

struct firn_pool {
    pthread_mutex_t mutex;
    pthread_cond_t work;     /* a job came, or the end */
    pthread_cond_t finished; /* an index of the job finished */
    job *current;            /* NULL while there is nothing to do */
    bool ending;
    pthread_t *workers;
    size_t worker_count;
};

static size_t core_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (size_t)count;
}

static bool has_next(const job *work) {
    return !work->stopped && work->next < work->count;
}

/* Records how an index ended. The lowest failed index is the one that is told. */
static void record(job *work, size_t index, firn_status status, const firn_error *failure) {
    if (status == FIRN_OK) return;
    work->stopped = true;
    if (work->status != FIRN_OK && work->failed_index < index) return;
    work->status = status;
    work->failed_index = index;
    work->failure = *failure;
}

/* Takes indexes until there are none. Called and left with the mutex held. */
static void take_part(firn_pool *pool, job *work) {
    while (has_next(work)) {
        firn_error failure;
        firn_error_clear(&failure);
        if (firn_cancel_check(&failure) != FIRN_OK) {
            record(work, work->next, FIRN_CANCELLED, &failure);
            break;
        }
        size_t index = work->next++;
        work->running++;
        pthread_mutex_unlock(&pool->mutex);
        firn_status status = work->task(work->context, index, &failure);
        pthread_mutex_lock(&pool->mutex);
        work->running--;
        record(work, index, status, &failure);
    }
    if (work->running == 0) pthread_cond_broadcast(&pool->finished);
}

static void *worker(void *context) {
    firn_pool *pool = context;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->ending) {
        if (pool->current != NULL && has_next(pool->current)) {
            take_part(pool, pool->current);
        } else {
            pthread_cond_wait(&pool->work, &pool->mutex);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Signals are for the thread that started the pool: its workers block them all. */
static void start_workers(firn_pool *pool, size_t wanted) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; i < wanted; i++) {
        int failed = pthread_create(&pool->workers[i], NULL, worker, pool);
        if (failed != 0) {
            firn_log_warning("only %zu of %zu threads could be started: %s", i + 1, wanted + 1,
                             strerrordesc_np(failed));
            break;
        }
        pool->worker_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

firn_status firn_pool_new(size_t threads, firn_pool **out, firn_error *error) {
    if (threads == 0) threads = core_count();
    if (threads > MOST_THREADS) {
        return firn_fail(error, FIRN_INVALID, "%zu threads are too many; at most %zu", threads,
                         MOST_THREADS);
    }
    firn_pool *pool = firn_alloc_zeroed(1, sizeof *pool);
    if (pool == NULL) return firn_fail_memory(error);
    pool->workers = firn_alloc_array(threads, sizeof *pool->workers);
    if (pool->workers == NULL) {
        firn_free(pool);
        return firn_fail_memory(error);
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->finished, NULL);
    start_workers(pool, threads - 1);
    *out = pool;
    return FIRN_OK;
}

void firn_pool_free(firn_pool *pool) {
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->mutex);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->worker_count; i++) pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    firn_free(pool->workers);
    firn_free(pool);
}

size_t firn_pool_threads(const firn_pool *pool) {
    return pool == NULL ? 1 : pool->worker_count + 1;
}

static firn_status each_alone(size_t count, firn_pool_task task, void *context, firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_cancel_check(error));
        FIRN_TRY(task(context, i, error));
    }
    return FIRN_OK;
}

firn_status firn_pool_each(firn_pool *pool, size_t count, firn_pool_task task, void *context,
                           firn_error *error) {
    if (pool == NULL || pool->worker_count == 0 || count < 2) {
        return each_alone(count, task, context, error);
    }
    pthread_mutex_lock(&pool->mutex);
    if (pool->current != NULL) {
        /* A task of this pool, or another thread, uses the pool while it is busy. */
        pthread_mutex_unlock(&pool->mutex);
        return each_alone(count, task, context, error);
    }
    job work = {.task = task, .context = context, .count = count, .status = FIRN_OK};
    pool->current = &work;
    pthread_cond_broadcast(&pool->work);
    take_part(pool, &work);
    while (work.running > 0) pthread_cond_wait(&pool->finished, &pool->mutex);
    pool->current = NULL;
    pthread_mutex_unlock(&pool->mutex);
    if (work.status != FIRN_OK && error != NULL) *error = work.failure;
    return work.status;
}
