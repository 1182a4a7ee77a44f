#include "storage/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"

static const char *const operation_names[] = {
    "read",   "create", "write", "finish", "create_exclusive", "replace",
    "delete", "list",   "open",  "stat",   "catalog",          "publish"};

/* The process's plan. `owner` is the storage that set it; NULL: no plan. */
static struct {
    pthread_mutex_t lock;
    const void *owner;
    firn_fault_plan plan;
    uint64_t calls;
    int trace;      /* descriptor, or -1 */
    bool point_hit; /* a fault point outside storage waits for its "after" call */
} active = {.lock = PTHREAD_MUTEX_INITIALIZER, .trace = -1};

static const char *known_operation(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof operation_names / sizeof operation_names[0]; i++) {
        const char *name = operation_names[i];
        if (strlen(name) == length && memcmp(name, text, length) == 0) return name;
    }
    return NULL;
}

static void trace_call(const char *operation, const char *what) {
    if (active.trace < 0) return;
    firn_buffer line = firn_buffer_with_maximum(65536);
    if (firn_buffer_printf(&line, NULL, "%s %s\n", operation, what) == FIRN_OK) {
        /* One write, so that lines of several processes don't mix. */
        ssize_t put = write(active.trace, line.data, line.size);
        (void)put;
    }
    firn_buffer_release(&line);
}

/* Counts and traces one call; the fault that it meets, or NONE. */
static firn_fault_kind begin(const char *operation, const char *what) {
    firn_fault_kind kind = FIRN_FAULT_NONE;
    pthread_mutex_lock(&active.lock);
    if (active.owner != NULL) {
        const firn_fault_plan *plan = &active.plan;
        trace_call(operation, what);
        if (plan->operation == NULL || strcmp(plan->operation, operation) == 0) {
            active.calls++;
            bool hit = plan->and_following ? active.calls >= plan->at : active.calls == plan->at;
            if (hit) kind = plan->kind;
        }
    }
    pthread_mutex_unlock(&active.lock);
    return kind;
}

/* What happens before the call. */
static firn_status before(firn_fault_kind kind, const char *operation, const char *what,
                          firn_error *error) {
    if (kind == FIRN_FAULT_KILL) _exit(137);
    if (kind == FIRN_FAULT_RUN && active.plan.run != NULL) active.plan.run();
    if (kind == FIRN_FAULT_FAIL) {
        return firn_fail(error, FIRN_IO, "%s: planned failure of %s", what, operation);
    }
    if (kind == FIRN_FAULT_SHORT) {
        return firn_fail_errno(error, FIRN_IO, ENOSPC, "%s: planned failure of %s", what,
                               operation);
    }
    return FIRN_OK;
}

/* What happens after a call that worked. */
static firn_status after(firn_fault_kind kind, const char *operation, const char *what,
                         firn_error *error) {
    if (kind == FIRN_FAULT_KILL_AFTER) _exit(137);
    if (kind == FIRN_FAULT_FAIL_AFTER) {
        return firn_fail(error, FIRN_IO, "%s: planned failure after %s", what, operation);
    }
    return FIRN_OK;
}

firn_status firn_fault_point(const char *operation, const char *what, bool is_after,
                             firn_error *error) {
    if (!is_after) {
        firn_fault_kind kind = begin(operation, what);
        pthread_mutex_lock(&active.lock);
        active.point_hit = kind == FIRN_FAULT_FAIL_AFTER || kind == FIRN_FAULT_KILL_AFTER;
        pthread_mutex_unlock(&active.lock);
        return before(kind, operation, what, error);
    }
    pthread_mutex_lock(&active.lock);
    firn_fault_kind kind = active.point_hit ? active.plan.kind : FIRN_FAULT_NONE;
    active.point_hit = false;
    pthread_mutex_unlock(&active.lock);
    return after(kind, operation, what, error);
}

typedef struct fault_storage {
    firn_storage *inner;
} fault_storage;

typedef struct fault_writer {
    firn_storage_writer *inner;
    char *location;
} fault_writer;

static firn_status fault_stat(void *implementation, const char *location, firn_storage_stat *out,
                              firn_error *error) {
    fault_storage *storage = implementation;
    firn_fault_kind kind = begin("stat", location);
    FIRN_TRY(before(kind, "stat", location, error));
    FIRN_TRY(firn_storage_stat_file(storage->inner, location, out, error));
    return after(kind, "stat", location, error);
}

static firn_status fault_open(void *implementation, const char *location, void **out,
                              uint64_t *size, firn_error *error) {
    fault_storage *storage = implementation;
    firn_fault_kind kind = begin("open", location);
    FIRN_TRY(before(kind, "open", location, error));
    firn_storage_file *file = NULL;
    FIRN_TRY(firn_storage_open(storage->inner, location, &file, error));
    firn_status status = after(kind, "open", location, error);
    if (status != FIRN_OK) {
        firn_storage_close(file);
        return status;
    }
    *out = file;
    *size = firn_storage_file_source(file)->size;
    return FIRN_OK;
}

static firn_status fault_read(void *implementation, void *file, uint64_t offset, void *out,
                              size_t size, firn_error *error) {
    (void)implementation;
    const firn_read_at *source = firn_storage_file_source(file);
    firn_fault_kind kind = begin("read", source->name);
    FIRN_TRY(before(kind, "read", source->name, error));
    FIRN_TRY(firn_read_at_exact(source, offset, out, size, error));
    return after(kind, "read", source->name, error);
}

static void fault_close(void *implementation, void *file) {
    (void)implementation;
    firn_storage_close(file);
}

/* A create that takes effect and then fails leaves its empty file behind. */
static firn_status fault_create(void *implementation, const char *location, void **out,
                                firn_error *error) {
    fault_storage *storage = implementation;
    firn_fault_kind kind = begin("create", location);
    FIRN_TRY(before(kind, "create", location, error));
    fault_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) return firn_fail_memory(error);
    writer->location = firn_strdup(location);
    firn_status status = writer->location == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK) {
        status = firn_storage_create(storage->inner, location, &writer->inner, error);
    }
    if (status == FIRN_OK) {
        status = after(kind, "create", location, error);
        if (status != FIRN_OK) firn_storage_finish(writer->inner, NULL);
    }
    if (status != FIRN_OK) {
        firn_free(writer->location);
        firn_free(writer);
        return status;
    }
    *out = writer;
    return FIRN_OK;
}

static firn_status fault_write(void *implementation, void *handle, const void *data, size_t size,
                               firn_error *error) {
    (void)implementation;
    fault_writer *writer = handle;
    firn_fault_kind kind = begin("write", writer->location);
    if (kind == FIRN_FAULT_SHORT) {
        FIRN_TRY(firn_storage_write(writer->inner, data, size / 2, error));
    }
    FIRN_TRY(before(kind, "write", writer->location, error));
    FIRN_TRY(firn_storage_write(writer->inner, data, size, error));
    return after(kind, "write", writer->location, error);
}

static void fault_abort(void *implementation, void *handle) {
    (void)implementation;
    fault_writer *writer = handle;
    firn_storage_abort(writer->inner);
    firn_free(writer->location);
    firn_free(writer);
}

static firn_status fault_finish(void *implementation, void *handle, firn_error *error) {
    fault_writer *writer = handle;
    firn_fault_kind kind = begin("finish", writer->location);
    firn_status status = before(kind, "finish", writer->location, error);
    if (status != FIRN_OK) {
        fault_abort(implementation, writer);
        return status;
    }
    status = firn_storage_finish(writer->inner, error);
    if (status == FIRN_OK) status = after(kind, "finish", writer->location, error);
    firn_free(writer->location);
    firn_free(writer);
    return status;
}

static firn_status fault_create_exclusive(void *implementation, const char *location,
                                          firn_slice bytes, firn_error *error) {
    fault_storage *storage = implementation;
    firn_fault_kind kind = begin("create_exclusive", location);
    FIRN_TRY(before(kind, "create_exclusive", location, error));
    FIRN_TRY(firn_storage_create_exclusive(storage->inner, location, bytes, error));
    return after(kind, "create_exclusive", location, error);
}

static firn_status fault_replace(void *implementation, const char *location, firn_slice bytes,
                                 firn_error *error) {
    fault_storage *storage = implementation;
    firn_fault_kind kind = begin("replace", location);
    FIRN_TRY(before(kind, "replace", location, error));
    FIRN_TRY(firn_storage_replace(storage->inner, location, bytes, error));
    return after(kind, "replace", location, error);
}

static firn_status fault_delete(void *implementation, const char *location, firn_error *error) {
    fault_storage *storage = implementation;
    firn_fault_kind kind = begin("delete", location);
    FIRN_TRY(before(kind, "delete", location, error));
    FIRN_TRY(firn_storage_delete(storage->inner, location, error));
    return after(kind, "delete", location, error);
}

static firn_status fault_list_within(void *implementation, const char *prefix,
                                     firn_storage_list_filter enter,
                                     firn_storage_list_visitor visit, firn_storage_list_other other,
                                     void *context, firn_error *error) {
    fault_storage *storage = implementation;
    firn_fault_kind kind = begin("list", prefix);
    FIRN_TRY(before(kind, "list", prefix, error));
    FIRN_TRY(firn_storage_list_within(storage->inner, prefix, enter, visit, other, context, error));
    return after(kind, "list", prefix, error);
}

static firn_status fault_list(void *implementation, const char *prefix,
                              firn_storage_list_visitor visit, void *context, firn_error *error) {
    return fault_list_within(implementation, prefix, NULL, visit, NULL, context, error);
}

static void end_plan(const void *owner) {
    pthread_mutex_lock(&active.lock);
    if (owner == NULL || active.owner == owner) {
        if (active.trace >= 0) close(active.trace);
        active.trace = -1;
        active.owner = NULL;
        active.point_hit = false;
        active.plan = (firn_fault_plan){0};
    }
    pthread_mutex_unlock(&active.lock);
}

static void fault_free(void *implementation) {
    fault_storage *storage = implementation;
    end_plan(storage);
    firn_storage_free(storage->inner);
    firn_free(storage);
}

static firn_status start_plan(const void *owner, const firn_fault_plan *plan, firn_error *error) {
    const char *operation = NULL;
    if (plan->operation != NULL) {
        operation = known_operation(plan->operation, strlen(plan->operation));
        if (operation == NULL) {
            return firn_fail(error, FIRN_INVALID, "no operation is named \"%s\"", plan->operation);
        }
    }
    int trace = -1;
    if (plan->trace_path != NULL) {
        trace = open(plan->trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (trace < 0) {
            return firn_fail_errno(error, FIRN_IO, errno, "%s can't be opened", plan->trace_path);
        }
    }
    end_plan(NULL);
    pthread_mutex_lock(&active.lock);
    active.owner = owner;
    active.plan = *plan;
    active.plan.operation = operation;
    active.plan.trace_path = NULL;
    active.calls = 0;
    active.trace = trace;
    pthread_mutex_unlock(&active.lock);
    return FIRN_OK;
}

firn_status firn_storage_with_faults(firn_storage *inner, const firn_fault_plan *plan,
                                     firn_storage **out, firn_error *error) {
    static const firn_storage_operations operations = {
        .stat = fault_stat,
        .open = fault_open,
        .read = fault_read,
        .close = fault_close,
        .create = fault_create,
        .write = fault_write,
        .finish = fault_finish,
        .abort = fault_abort,
        .create_exclusive = fault_create_exclusive,
        .replace = fault_replace,
        .delete_file = fault_delete,
        .list = fault_list,
        .list_within = fault_list_within,
        .free = fault_free,
    };
    fault_storage *storage = firn_alloc_zeroed(1, sizeof *storage);
    firn_status status = storage == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK) status = start_plan(storage, plan, error);
    if (status != FIRN_OK) {
        firn_free(storage);
        firn_storage_free(inner);
        return status;
    }
    storage->inner = inner;
    return firn_storage_new(&operations, storage, out, error);
}

static firn_status parse_kind(const char *text, size_t length, firn_fault_kind *out,
                              firn_error *error) {
    static const struct {
        const char *name;
        firn_fault_kind kind;
    } kinds[] = {{"fail", FIRN_FAULT_FAIL},
                 {"fail-after", FIRN_FAULT_FAIL_AFTER},
                 {"short", FIRN_FAULT_SHORT},
                 {"kill", FIRN_FAULT_KILL},
                 {"kill-after", FIRN_FAULT_KILL_AFTER},
                 {"run", FIRN_FAULT_RUN}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, text, length) == 0) {
            *out = kinds[i].kind;
            return FIRN_OK;
        }
    }
    return firn_fail(error, FIRN_INVALID, "FIRN_FAULT: unknown kind \"%.*s\"", (int)length, text);
}

static firn_status parse_plan(const char *text, firn_fault_plan *plan, firn_error *error) {
    size_t end = strlen(text);
    if (end > 0 && text[end - 1] == '+') {
        plan->and_following = true;
        end--;
    }
    size_t kind = strcspn(text, ":");
    if (kind >= end) return firn_fail(error, FIRN_INVALID, "FIRN_FAULT: \"%s\" has no call", text);
    FIRN_TRY(parse_kind(text, kind, &plan->kind, error));
    char *rest = NULL;
    errno = 0;
    unsigned long long at = strtoull(text + kind + 1, &rest, 10);
    size_t used = (size_t)(rest - text);
    if (errno != 0 || at == 0 || (used != end && *rest != ':')) {
        return firn_fail(error, FIRN_INVALID, "FIRN_FAULT: \"%s\" has no call number", text);
    }
    plan->at = at;
    if (used == end) return FIRN_OK;
    plan->operation = known_operation(rest + 1, end - used - 1);
    if (plan->operation != NULL) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "FIRN_FAULT: \"%s\" names no operation", text);
}

firn_status firn_fault_plan_from_environment(firn_fault_plan *plan, bool *present,
                                             firn_error *error) {
    const char *text = getenv("FIRN_FAULT");
    const char *trace = getenv("FIRN_FAULT_TRACE");
    *plan = (firn_fault_plan){.kind = FIRN_FAULT_NONE, .trace_path = trace};
    *present = text != NULL || trace != NULL;
    return text == NULL ? FIRN_OK : parse_plan(text, plan, error);
}
