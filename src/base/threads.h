/** A fixed pool of threads, and a queue bounded in bytes. */
#ifndef FIRN_BASE_THREADS_H
#define FIRN_BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct firn_pool firn_pool;

/** `threads` 0 means the machine's cores. With 1, all work runs on the calling thread and no thread is made. */
firn_status firn_pool_new(size_t threads, firn_pool **out, firn_error *error);
void firn_pool_free(firn_pool *pool);
size_t firn_pool_threads(const firn_pool *pool);

typedef firn_status (*firn_pool_task)(void *context, size_t index, firn_error *error);

/**
 * Runs task(context, 0 … count-1), in rising order of start, on the pool and on the calling thread, and
 * waits for all. After a failure, or once cancelled (base/cancel.h), no new index is started; the failure
 * of the lowest index is returned. `pool` NULL: on the calling thread. A call while the pool is busy (from
 * within a task, say) runs on the calling thread alone.
 */
firn_status firn_pool_each(firn_pool *pool, size_t count, firn_pool_task task, void *context,
                           firn_error *error);

/** A first-in-first-out queue of pointers whose accounted bytes stay below a maximum. Thread-safe. */
typedef struct firn_queue firn_queue;
firn_status firn_queue_new(size_t maximum_bytes, firn_queue **out, firn_error *error);
void firn_queue_free(firn_queue *queue);
/** Waits for room; an item larger than the maximum waits for an empty queue. CANCELLED after close. */
firn_status firn_queue_push(firn_queue *queue, void *item, size_t bytes, firn_error *error);
/** Waits for an item; false once the queue is closed and empty. */
bool firn_queue_pop(firn_queue *queue, void **item);
void firn_queue_close(firn_queue *queue);

#endif
