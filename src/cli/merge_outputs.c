#include "cli/merge_outputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/random.h"
#include "parquet/file_reader.h"
#include "storage/local.h"

#define SUFFIX ".parquet"

/* Of the file with this index, from 0. */
static char *name_of(const firn_merge_outputs *outputs, size_t index) {
    if (!outputs->numbered) return firn_strdup(outputs->location);
    size_t length = strlen(outputs->location);
    size_t suffix = strlen(SUFFIX);
    if (length > suffix && strcmp(outputs->location + length - suffix, SUFFIX) == 0) {
        length -= suffix;
    }
    return firn_format("%.*s-%05zu" SUFFIX, (int)length, outputs->location, index + 1);
}

/* Whether a file of this name may be made: on the local disk, and, unless `force`, not there yet. */
static firn_status check_free(const firn_merge_outputs *outputs, const char *location, bool force,
                              const char *hint, firn_error *error) {
    const char *path = NULL;
    firn_storage_stat stat;
    firn_error problem = {0};
    FIRN_TRY(firn_local_path(location, &path, error));
    firn_status status = firn_storage_stat_file(outputs->storage, location, &stat, &problem);
    if (status == FIRN_NOT_FOUND) return FIRN_OK;
    if (status != FIRN_OK) {
        if (error != NULL) *error = problem;
        return status;
    }
    if (force) return FIRN_OK;
    return firn_fail(error, FIRN_EXISTS, "%s is there already; %s", location, hint);
}

/* By whatever name or link: the same file. */
static firn_status check_inputs(const firn_merge_outputs *outputs, const char *location,
                                firn_error *error) {
    const char *path = NULL;
    struct stat there, input;
    FIRN_TRY(firn_local_path(location, &path, error));
    if (stat(path, &there) != 0) return FIRN_OK;
    for (size_t i = 0; i < outputs->input_count; i++) {
        if (firn_local_path(outputs->inputs[i], &path, NULL) != FIRN_OK) continue;
        if (stat(path, &input) != 0) continue;
        if (input.st_dev != there.st_dev || input.st_ino != there.st_ino) continue;
        return firn_fail(error, FIRN_INVALID,
                         "%s is one of the inputs, which stay as they are; name another file",
                         location);
    }
    return FIRN_OK;
}

static firn_status check_name(const firn_merge_outputs *outputs, size_t index, firn_error *error) {
    char *name = name_of(outputs, index);
    if (name == NULL) return firn_fail_memory(error);
    firn_status status = check_inputs(outputs, name, error);
    if (status == FIRN_OK) {
        status = check_free(outputs, name, outputs->force, "--force replaces it", error);
    }
    firn_free(name);
    return status;
}

firn_status firn_merge_outputs_init(firn_merge_outputs *outputs, firn_storage *storage,
                                    const char *const *inputs, size_t input_count,
                                    const char *location, bool numbered, bool force,
                                    firn_error *error) {
    *outputs = (firn_merge_outputs){.storage = storage,
                                    .location = location,
                                    .numbered = numbered,
                                    .force = force,
                                    .inputs = inputs,
                                    .input_count = input_count};
    return check_name(outputs, 0, error);
}

void firn_merge_outputs_release(firn_merge_outputs *outputs) {
    if (outputs->writer != NULL) firn_storage_abort(outputs->writer);
    for (size_t i = 0; i < outputs->items.count; i++) {
        firn_merge_output *output = &outputs->items.items[i];
        if (output->temporary != NULL) unlink(output->temporary);
        firn_free(output->temporary);
        firn_free(output->location);
    }
    firn_vector_release(&outputs->items);
    *outputs = (firn_merge_outputs){0};
}

static char *temporary_beside(const char *location, const char *uuid) {
    const char *slash = strrchr(location, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - location);
    return firn_format("%.*sfirn-%s.tmp", folder, location, uuid);
}

/* The temporary name says nothing to whoever named the output. */
static firn_status name_output(const firn_merge_output *output, firn_status status,
                               firn_error *error) {
    size_t length = strlen(output->temporary);
    if (status == FIRN_OK || error == NULL) return status;
    if (strncmp(error->message, output->temporary, length) != 0) {
        return firn_error_wrap(error, status, "%s can't be written", output->location);
    }
    char rest[FIRN_ERROR_MESSAGE_SIZE];
    snprintf(rest, sizeof rest, "%s", error->message + length);
    snprintf(error->message, sizeof error->message, "%.500s%.500s", output->location, rest);
    return status;
}

static firn_status write_bytes(void *context, const void *data, size_t size, firn_error *error) {
    const firn_merge_outputs *outputs = context;
    const firn_merge_output *output = &outputs->items.items[outputs->items.count - 1];
    return name_output(output, firn_storage_write(outputs->writer, data, size, error), error);
}

static firn_status begin(void *context, size_t index, firn_write_to *out, firn_error *error) {
    firn_merge_outputs *outputs = context;
    char uuid[FIRN_UUID_TEXT_SIZE];
    FIRN_TRY(check_name(outputs, index, error));
    FIRN_TRY(firn_uuid_random(uuid, error));
    FIRN_TRY(firn_vector_push(&outputs->items, error, (firn_merge_output){0}));
    firn_merge_output *output = &outputs->items.items[index];
    output->location = name_of(outputs, index);
    if (output->location == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_local_path(output->location, &output->path, error));
    output->temporary = temporary_beside(output->path, uuid);
    if (output->temporary == NULL) return firn_fail_memory(error);
    FIRN_TRY(name_output(
        output, firn_storage_create(outputs->storage, output->temporary, &outputs->writer, error),
        error));
    *out = (firn_write_to){write_bytes, outputs};
    return FIRN_OK;
}

/* A file that says something else when it is read back must not take the name. */
static firn_status read_back(const firn_merge_outputs *outputs, const firn_merge_output *output,
                             firn_error *error) {
    firn_storage_file *file = NULL;
    firn_parquet_file *parquet = NULL;
    FIRN_TRY(firn_storage_open(outputs->storage, output->temporary, &file, error));
    const firn_read_at *source = firn_storage_file_source(file);
    firn_status status = firn_parquet_file_open(source, &parquet, error);
    if (status == FIRN_OK &&
        (parquet->metadata->num_rows != output->rows || source->size != (uint64_t)output->bytes)) {
        status = firn_fail(error, FIRN_CORRUPT, "%s: read back, it is not what was written",
                           output->temporary);
    }
    firn_parquet_file_close(parquet);
    firn_storage_close(file);
    return status;
}

static firn_status finish(void *context, size_t index, int64_t rows, int64_t bytes,
                          firn_error *error) {
    firn_merge_outputs *outputs = context;
    firn_merge_output *output = &outputs->items.items[index];
    firn_storage_writer *writer = outputs->writer;
    outputs->writer = NULL;
    output->rows = rows;
    output->bytes = bytes;
    firn_status status = firn_storage_finish(writer, error);
    if (status == FIRN_OK) status = read_back(outputs, output, error);
    return name_output(output, status, error);
}

firn_parquet_merge_outputs firn_merge_outputs_of(firn_merge_outputs *outputs) {
    return (firn_parquet_merge_outputs){begin, finish, outputs};
}

/* Files of an earlier run that made more: who reads all files of the name would find rows twice. */
static firn_status check_next(const firn_merge_outputs *outputs, firn_error *error) {
    if (!outputs->numbered) return FIRN_OK;
    char *name = name_of(outputs, outputs->items.count);
    if (name == NULL) return firn_fail_memory(error);
    firn_status status = check_free(
        outputs, name, false,
        "this run makes fewer files, and its rows may be those of an earlier one: remove it",
        error);
    firn_free(name);
    return status;
}

static firn_status publish_one(const firn_merge_outputs *outputs, firn_merge_output *output,
                               firn_error *error) {
    const char *path = output->path;
    if (!outputs->force) {
        FIRN_TRY(firn_local_publish(output->temporary, path, output->location, false, error));
    } else if (rename(output->temporary, path) != 0) {
        return firn_fail_errno(error, FIRN_IO, errno, "%s can't be replaced", output->location);
    }
    firn_free(output->temporary);
    output->temporary = NULL;
    firn_local_remove_checksum(path);
    return FIRN_OK;
}

firn_status firn_merge_outputs_publish(firn_merge_outputs *outputs, firn_error *error) {
    FIRN_TRY(check_next(outputs, error));
    for (size_t i = 0; i < outputs->items.count; i++) {
        firn_status status = publish_one(outputs, &outputs->items.items[i], error);
        if (status == FIRN_OK) continue;
        for (size_t j = 0; j < i && !outputs->force; j++) {
            unlink(outputs->items.items[j].path);
        }
        return status;
    }
    return FIRN_OK;
}

firn_status firn_merge_outputs_sync(const firn_merge_outputs *outputs, firn_error *error) {
    const firn_merge_output *first = &outputs->items.items[0];
    return firn_local_sync_parent(first->path, first->location, error);
}
