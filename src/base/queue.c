#include <pthread.h>

#include "base/alloc.h"
#include "base/threads.h"

typedef struct node {
    struct node *next;
    void *item;
    size_t bytes;
} node;

struct firn_queue {
    pthread_mutex_t mutex;
    pthread_cond_t has_item;
    pthread_cond_t has_room;
    node *first;
    node *last;
    size_t bytes;
    size_t maximum;
    bool closed;
};

firn_status firn_queue_new(size_t maximum_bytes, firn_queue **out, firn_error *error) {
    firn_queue *queue = firn_alloc_zeroed(1, sizeof *queue);
    if (queue == NULL) return firn_fail_memory(error);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->has_item, NULL);
    pthread_cond_init(&queue->has_room, NULL);
    queue->maximum = maximum_bytes;
    *out = queue;
    return FIRN_OK;
}

void firn_queue_free(firn_queue *queue) {
    if (queue == NULL) return;
    node *current = queue->first;
    while (current != NULL) {
        node *next = current->next;
        firn_free(current);
        current = next;
    }
    pthread_cond_destroy(&queue->has_room);
    pthread_cond_destroy(&queue->has_item);
    pthread_mutex_destroy(&queue->mutex);
    firn_free(queue);
}

static bool has_room(const firn_queue *queue, size_t bytes) {
    if (queue->first == NULL) return true;
    return queue->bytes <= queue->maximum && bytes <= queue->maximum - queue->bytes;
}

firn_status firn_queue_push(firn_queue *queue, void *item, size_t bytes, firn_error *error) {
    node *added = firn_alloc(sizeof *added);
    if (added == NULL) return firn_fail_memory(error);
    *added = (node){NULL, item, bytes};
    pthread_mutex_lock(&queue->mutex);
    while (!queue->closed && !has_room(queue, bytes)) {
        pthread_cond_wait(&queue->has_room, &queue->mutex);
    }
    if (queue->closed) {
        pthread_mutex_unlock(&queue->mutex);
        firn_free(added);
        return firn_fail(error, FIRN_CANCELLED, "the queue is closed");
    }
    if (queue->last == NULL) {
        queue->first = added;
    } else {
        queue->last->next = added;
    }
    queue->last = added;
    queue->bytes += bytes;
    pthread_cond_signal(&queue->has_item);
    pthread_mutex_unlock(&queue->mutex);
    return FIRN_OK;
}

bool firn_queue_pop(firn_queue *queue, void **item) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->first == NULL && !queue->closed) {
        pthread_cond_wait(&queue->has_item, &queue->mutex);
    }
    node *taken = queue->first;
    if (taken != NULL) {
        queue->first = taken->next;
        if (queue->first == NULL) queue->last = NULL;
        queue->bytes -= taken->bytes;
        /* Pushers wait for different amounts of room: each has to look. */
        pthread_cond_broadcast(&queue->has_room);
    }
    pthread_mutex_unlock(&queue->mutex);
    if (taken == NULL) return false;
    *item = taken->item;
    firn_free(taken);
    return true;
}

void firn_queue_close(firn_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->has_item);
    pthread_cond_broadcast(&queue->has_room);
    pthread_mutex_unlock(&queue->mutex);
}
