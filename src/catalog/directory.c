#include "catalog/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/directory_versions.h"
#include "catalog/metadata_file.h"

#define WHAT_TO_DO                                                                                 \
    "name the table through its catalog (option catalog), or give it one with \"firn catalog "     \
    "register "                                                                                    \
    "NAME %s\""

/* *same: the table says of itself that it lies in the folder that was opened. */
static firn_status lies_here(const firn_directory_catalog *catalog,
                             const firn_table_metadata *metadata, bool *same, firn_error *error) {
    char *opened = firn_location_key(catalog->path);
    char *recorded = firn_location_key(metadata->location);
    bool complete = opened != NULL && recorded != NULL;
    *same = complete && strcmp(opened, recorded) == 0;
    firn_free(opened);
    firn_free(recorded);
    return complete ? FIRN_OK : firn_fail_memory(error);
}

/*
 * Another catalog's commits count on from v<N>, so a higher number means that the table moved
 * there.
 */
static firn_status check_not_moved(const firn_directory_catalog *catalog, const char *location,
                                   int64_t version, firn_error *error) {
    char *name = NULL;
    int64_t other = -1;
    FIRN_TRY(firn_find_catalog_version(catalog->storage, catalog->folder, &name, &other, error));
    firn_status status = FIRN_OK;
    if (other > version) {
        status = firn_fail(error, FIRN_UNSUPPORTED,
                           "%s is not committed to by its path: it holds %s, which is newer than "
                           "version %" PRId64 ", so another catalog seems to hold it; " WHAT_TO_DO,
                           catalog->path, name, version, location);
    }
    firn_free(name);
    return status;
}

firn_status firn_directory_check_committable(const firn_directory_catalog *catalog,
                                             const firn_table_pointer *base, firn_error *error) {
    const char *location = base->metadata_location;
    if (catalog->folder == NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s is a metadata file named by its path and read-only: a commit would "
                         "fork the table from its catalog; " WHAT_TO_DO,
                         catalog->path, location);
    }
    int64_t version = firn_version_of_name(firn_location_file_name(location));
    if (version < 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s is read-only: its metadata file %s was made by a catalog, and a "
                         "commit by path would fork the table from it; " WHAT_TO_DO,
                         catalog->path, firn_location_file_name(location), location);
    }
    bool same = false;
    FIRN_TRY(lies_here(catalog, base->metadata, &same, error));
    if (!same) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s is read-only: its metadata says that the table lies in %s, so this is "
                         "a copy; a commit here would mix the two",
                         catalog->path, base->metadata->location);
    }
    const char *elsewhere = firn_table_metadata_property(base->metadata, "write.metadata.path");
    if (elsewhere != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s: table property write.metadata.path (%s) can't be honoured by a table "
                         "without a catalog; remove it, or " WHAT_TO_DO,
                         catalog->path, elsewhere, location);
    }
    return check_not_moved(catalog, location, version, error);
}

/* A table that lies where it says it does is spelled as it spells itself: this text goes to the
 * metadata log, where other readers look for the file. */
static firn_status spell(const firn_directory_catalog *catalog, const char *name,
                         const firn_table_metadata *metadata, char **location, firn_error *error) {
    bool same = false;
    FIRN_TRY(lies_here(catalog, metadata, &same, error));
    if (!same) return FIRN_OK;
    char *spelled = firn_format("%s/metadata/%s", metadata->location, name);
    if (spelled == NULL) return firn_fail_memory(error);
    firn_free(*location);
    *location = spelled;
    return FIRN_OK;
}

static firn_status load_folder(firn_directory_catalog *catalog, firn_table_pointer *out,
                               firn_error *error) {
    firn_directory_version version = {0};
    FIRN_TRY(firn_find_current_version(catalog->storage, catalog->folder, &catalog->waited,
                                       &version, error));
    firn_table_metadata *metadata = NULL;
    char *location = firn_format("%s/%s", catalog->folder, version.name);
    firn_status status =
        location == NULL ? firn_fail_memory(error)
                         : firn_metadata_file_read(catalog->storage, location, &metadata, error);
    if (status == FIRN_OK) status = spell(catalog, version.name, metadata, &location, error);
    firn_free(version.name);
    if (status != FIRN_OK) {
        firn_free(location);
        firn_table_metadata_free(metadata);
        return status;
    }
    *out = (firn_table_pointer){.metadata_location = location, .metadata = metadata};
    return FIRN_OK;
}

static bool has_metadata_ending(const char *path) {
    return firn_is_metadata_file_name(firn_location_file_name(path));
}

/* The file was named by whoever asked, and may be anything. */
static firn_status explain_argument(firn_storage *storage, const char *path, firn_status status,
                                    firn_error *error) {
    char head[sizeof "SQLite format 3"] = "";
    firn_storage_file *file = NULL;
    if (status != FIRN_CORRUPT || has_metadata_ending(path)) return status;
    if (firn_storage_open(storage, path, &file, NULL) == FIRN_OK) {
        const firn_read_at *source = firn_storage_file_source(file);
        size_t size = source->size < sizeof head - 1 ? (size_t)source->size : sizeof head - 1;
        if (firn_read_at_exact(source, 0, head, size, NULL) != FIRN_OK) head[0] = '\0';
        firn_storage_close(file);
    }
    if (strncmp(head, "PAR1", 4) == 0) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s is a Parquet file, no table; firn register puts files like it under "
                         "one, firn parquet inspect shows it",
                         path);
    }
    if (strcmp(head, "SQLite format 3") == 0) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s is an SQLite file, no table; a catalog is named by the option "
                         "catalog, and a table in it as namespace.table",
                         path);
    }
    return firn_error_wrap(error, status, "%s is no table metadata", path);
}

static firn_status directory_load(void *implementation, firn_table_name name,
                                  firn_table_pointer *out, firn_error *error) {
    (void)name;
    firn_directory_catalog *catalog = implementation;
    if (catalog->folder != NULL) return load_folder(catalog, out, error);
    char *location = firn_strdup(catalog->path);
    if (location == NULL) return firn_fail_memory(error);
    firn_table_metadata *metadata = NULL;
    firn_status status = firn_metadata_file_read(catalog->storage, catalog->path, &metadata, error);
    if (status != FIRN_OK) {
        firn_free(location);
        return explain_argument(catalog->storage, catalog->path, status, error);
    }
    *out = (firn_table_pointer){.metadata_location = location, .metadata = metadata};
    return FIRN_OK;
}

static firn_status directory_list(void *implementation,
                                  firn_status (*visit)(void *context, firn_table_name name,
                                                       const char *metadata_location,
                                                       firn_error *error),
                                  void *context, firn_error *error) {
    firn_directory_catalog *catalog = implementation;
    char *location = NULL;
    if (catalog->folder != NULL) {
        firn_directory_version version = {0};
        FIRN_TRY(firn_find_current_version(catalog->storage, catalog->folder, &catalog->waited,
                                           &version, error));
        location = firn_format("%s/%s", catalog->folder, version.name);
        firn_free(version.name);
    } else {
        location = firn_strdup(catalog->path);
    }
    if (location == NULL) return firn_fail_memory(error);
    firn_table_name name = {"", firn_location_file_name(catalog->path)};
    firn_status status = visit(context, name, location, error);
    firn_free(location);
    return status;
}

static firn_status directory_check_writable(void *implementation, firn_table_name name,
                                            firn_error *error) {
    const firn_directory_catalog *catalog = implementation;
    firn_table_pointer base = {0};
    FIRN_TRY(directory_load(implementation, name, &base, error));
    firn_status status = firn_directory_check_committable(catalog, &base, error);
    firn_table_pointer_release(&base);
    return status;
}

static firn_status directory_create(void *implementation, firn_table_name name,
                                    firn_table_metadata *metadata,
                                    const firn_table_update *announcer, firn_table_pointer *out,
                                    firn_error *error) {
    (void)implementation;
    (void)name;
    (void)announcer;
    (void)out;
    firn_table_metadata_free(metadata);
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "tables are made in a catalog (option catalog), not by their path");
}

static firn_status directory_register(void *implementation, firn_table_name name,
                                      const char *metadata_location, firn_error *error) {
    (void)implementation;
    (void)name;
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "%s can be registered in a catalog (option catalog), not under a path",
                     metadata_location);
}

static const char *directory_describe(void *implementation) {
    const firn_directory_catalog *catalog = implementation;
    return catalog->description;
}

static void directory_free(void *implementation) {
    firn_directory_catalog *catalog = implementation;
    firn_free(catalog->path);
    firn_free(catalog->folder);
    firn_free(catalog->description);
    firn_free(catalog);
}

/* A path names a metadata file if a file is there, or if it is spelled like one; else a table's
 * folder, which must have a current version. */
static firn_status examine(firn_directory_catalog *catalog, firn_error *error) {
    firn_storage_stat stat;
    firn_error problem;
    firn_status status = firn_storage_stat_file(catalog->storage, catalog->path, &stat, &problem);
    bool is_file =
        status == FIRN_OK || (status == FIRN_NOT_FOUND && has_metadata_ending(catalog->path));
    if (status != FIRN_OK && status != FIRN_NOT_FOUND && status != FIRN_INVALID) {
        if (error != NULL) *error = problem;
        return status;
    }
    catalog->description =
        firn_format(is_file ? "metadata file %s" : "table folder %s", catalog->path);
    if (catalog->description == NULL) return firn_fail_memory(error);
    if (is_file) return FIRN_OK;
    catalog->folder = firn_format("%s/metadata", catalog->path);
    if (catalog->folder == NULL) return firn_fail_memory(error);
    firn_directory_version version = {0};
    firn_error_clear(&problem);
    status = firn_find_current_version(catalog->storage, catalog->folder, &catalog->waited,
                                       &version, &problem);
    firn_free(version.name);
    /* There is no table where nothing is, either. */
    if (status == FIRN_INVALID && problem.system_errno == ENOTDIR) {
        return firn_fail(error, FIRN_NOT_FOUND, "there is no table: %s is no folder",
                         catalog->path);
    }
    if (status != FIRN_OK && error != NULL) *error = problem;
    return status;
}

firn_status firn_catalog_path_open(const char *path, firn_storage *storage, firn_catalog **out,
                                   firn_error *error) {
    static const firn_catalog_operations operations = {
        .list = directory_list,
        .load = directory_load,
        .commit = firn_directory_commit,
        .create = directory_create,
        .register_table = directory_register,
        .check_writable = directory_check_writable,
        .describe = directory_describe,
        .free = directory_free,
    };
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    firn_catalog *catalog = firn_alloc_zeroed(1, sizeof *catalog);
    firn_directory_catalog *directory = firn_alloc_zeroed(1, sizeof *directory);
    firn_status status = FIRN_OK;
    if (catalog == NULL || directory == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    directory->storage = storage;
    directory->path = firn_strndup(path, length);
    if (directory->path == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(examine(directory, error));
    *catalog = (firn_catalog){&operations, directory};
    *out = catalog;
    return FIRN_OK;
out:
    if (directory != NULL) directory_free(directory);
    firn_free(catalog);
    return status;
}
