/* The table that follows a source: found, or made. */
#include <string.h>

#include "base/alloc.h"
#include "catalog/near_names.h"
#include "lake/sync_internal.h"
#include "storage/local_links.h"
#include "table/version_hint.h"

/* A table whose metadata is gone must not be taken for one that isn't there. */
static firn_status is_there(const firn_sync_work *work, bool *out, firn_error *error) {
    *out = firn_table_argument_is_path(work->name.name);
    if (*out) return FIRN_OK;
    return firn_catalog_find(work->catalog, work->name, out, NULL, error);
}

static firn_status check_table(firn_sync_work *work, firn_error *error) {
    const firn_table_metadata *metadata = work->table->metadata;
    FIRN_TRY(
        firn_table_check_supported(work->table, work->options->once ? "register" : "sync", error));
    const firn_snapshot_ref *ref = firn_table_metadata_ref(metadata, work->table->ref);
    if (ref != NULL && !ref->is_branch) {
        return firn_fail(error, FIRN_INVALID,
                         "table %s: '%s' is a tag; only branches can be committed to",
                         work->display_name, work->table->ref);
    }
    if (!work->acts) return FIRN_OK;
    return firn_catalog_check_writable(work->catalog, work->name, error);
}

/* A run that was killed when it had just made the table did not say that it was done. */
static firn_status settle_creation(firn_sync_work *work, firn_error *error) {
    firn_journal *journal = NULL;
    FIRN_TRY(firn_journal_open_new(work->catalog, work->name, work->display_name,
                                   work->table->metadata->location, true,
                                   work->options->lock_timeout_ms, &journal, error));
    if (journal == NULL) return FIRN_OK;
    firn_status status = firn_journal_settle_new(journal, work->table, work->storage, error);
    firn_journal_close(journal);
    return status;
}

static firn_status open_there(firn_sync_work *work, firn_error *error) {
    FIRN_TRY(firn_table_open(work->catalog, work->storage, work->name, work->display_name,
                             work->options->ref, &work->table, error));
    FIRN_TRY(check_table(work, error));
    if (!work->result->created) FIRN_TRY(firn_sync_check_wishes(work, error));
    work->result->location = firn_sync_keep(work, work->table->metadata->location);
    work->result->metadata_location = firn_sync_keep(work, work->table->pointer.metadata_location);
    return FIRN_OK;
}

/* Other programs' tables are taken as they are called. */
static firn_status check_new_name(const firn_sync_work *work, firn_error *error) {
    for (const char *c = work->display_name; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x20 && *c != 0x7F) continue;
        return firn_fail(error, FIRN_INVALID,
                         "\"%s\" is no name for a new table: it holds a control character, %d",
                         work->display_name, *c);
    }
    return firn_table_name_check_new(work->name, error);
}

static firn_status check_new_ref(const firn_sync_work *work, firn_error *error) {
    const char *ref = work->options->ref;
    if (ref == NULL || strcmp(ref, "main") == 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "table %s is not there, and a new one has no branch but main: make it without "
                     "--ref %s first",
                     work->display_name, ref);
}

/* Most likely the name is a slip: a table with a ledger was meant. */
static firn_status check_no_ledger(const firn_sync_work *work, firn_error *error) {
    if (!work->options->rebuild_ledger) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "table %s is not there, so there is no ledger to make anew: correct the name, "
                     "or make the table without --rebuild-ledger",
                     work->display_name);
}

firn_status firn_sync_open_table(firn_sync_work *work, firn_error *error) {
    bool there = work->table != NULL;
    if (!there) FIRN_TRY(is_there(work, &there, error));
    if (!there) {
        FIRN_TRY(check_new_name(work, error));
        FIRN_TRY(check_new_ref(work, error));
        FIRN_TRY(check_no_ledger(work, error));
        return work->acts ? firn_catalog_check_writable(work->catalog, work->name, error) : FIRN_OK;
    }
    if (work->table == NULL) FIRN_TRY(open_there(work, error));
    if (!work->acts || work->journal != NULL) return FIRN_OK;
    FIRN_TRY(firn_journal_open(work->table, work->options->lock_timeout_ms, &work->journal, NULL,
                               error));
    return work->result->created ? FIRN_OK : settle_creation(work, error);
}
/* --- a new one --------------------------------------------------------------------------------- */

static firn_status fail_nowhere(const firn_sync_work *work, firn_error *error) {
    char note[FIRN_NEAREST_NOTE_SIZE];
    firn_near_names names = {0};
    firn_status status = firn_catalog_list(work->catalog, firn_near_names_add, &names, error);
    if (status == FIRN_OK) {
        status =
            firn_fail(error, FIRN_INVALID,
                      "table %s does not exist, and the catalog has no warehouse to make it "
                      "in; say with --location where its metadata is to go%s",
                      work->display_name, firn_near_names_note(&names, work->display_name, note));
    }
    firn_near_names_release(&names);
    return status;
}

/* <warehouse>/<namespace levels as folders>/<table>, as PyIceberg has it. */
static firn_status default_location(firn_sync_work *work, char **out, firn_error *error) {
    const char *warehouse = work->warehouse;
    const char *absent = firn_catalog_absent_file(work->catalog);
    if (warehouse == NULL && absent != NULL) {
        return firn_fail(error, FIRN_INVALID,
                         "there is no SQLite catalog %s (a typo?); it would be made with its first "
                         "table, %s, if --location said where that one's metadata is to go. "
                         "Where the file is lost, firn catalog recover enters its tables into a "
                         "new one",
                         absent, work->display_name);
    }
    if (warehouse == NULL) return fail_nowhere(work, error);
    bool has_namespace = work->name.namespace_name[0] != '\0';
    size_t length = strlen(warehouse);
    while (length > 1 && warehouse[length - 1] == '/') length--;
    char *text = firn_format("%.*s/%s%s%s", (int)length, warehouse, work->name.namespace_name,
                             has_namespace ? "/" : "", work->name.name);
    if (text == NULL) return firn_fail_memory(error);
    for (char *c = text + length + 1; *c != '\0'; c++) {
        if (*c == '.' && c < text + length + 1 + strlen(work->name.namespace_name)) *c = '/';
    }
    *out = text;
    return FIRN_OK;
}

static firn_status check_apart(const char *location, const char *resolved, const char *source,
                               firn_error *error) {
    bool overlap = false;
    FIRN_TRY(firn_lake_locations_compare(location, source, &overlap, error));
    if (!overlap) FIRN_TRY(firn_lake_resolved_compare(resolved, source, &overlap, error));
    if (!overlap) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "the table's location %s overlaps its source %s; firn writes nothing where "
                     "the files lie: say another place with --location",
                     location, source);
}

/* The part of a location before `length`, or its folder; "" once what is left is no place. */
static const char *cut(firn_sync_work *work, const char *location, size_t length) {
    while (length > 1 && location[length - 1] == '/') length--;
    return firn_arena_strndup(work->arena, location, length);
}

static size_t folder_length(const char *location) {
    const char *slash = strrchr(location, '/');
    return slash == NULL ? 0 : (size_t)(slash - location);
}

/* A file of its own that a link leads to may lie elsewhere than its neighbours. */
static firn_status check_linked(firn_local_real_paths *paths, const firn_lake_file *file,
                                const char *location, const char *resolved, firn_error *error) {
    const char *path = firn_location_local_path(file->location);
    if (file->is_regular || path == NULL || path[0] != '/') return FIRN_OK;
    const char *real = firn_local_real_path(paths, path, false);
    if (real == NULL) return firn_fail_memory(error);
    if (real == path) return FIRN_OK;
    return check_apart(location, resolved, real, error);
}

static firn_status check_places(firn_sync_work *work, const char *location, const char *resolved,
                                firn_error *error) {
    firn_lake_source_kind kind = work->options->source.kind;
    bool has_roots = kind == FIRN_LAKE_GLOB || work->options->source.unit_folder != NULL;
    const firn_lake_source *source = &work->options->source;
    for (size_t i = 0; kind == FIRN_LAKE_PATHS && i < source->location_count; i++) {
        FIRN_TRY(check_apart(location, resolved, source->locations[i], error));
    }
    firn_local_real_paths paths = {.arena = work->arena};
    const char *last_folder = "";
    size_t last_length = 0, last_root = SIZE_MAX;
    for (size_t i = 0; i < work->listing.file_count; i++) {
        const firn_lake_file *file = &work->listing.files[i];
        FIRN_TRY(check_linked(&paths, file, location, resolved, error));
        size_t length = folder_length(file->location);
        bool same = length == last_length && strncmp(file->location, last_folder, length) == 0;
        size_t root = has_roots ? file->root_length : last_root;
        if (same && root == last_root) continue;
        last_folder = file->location;
        last_length = length;
        const char *folder = cut(work, file->location, length);
        const char *top = has_roots ? cut(work, file->location, root) : folder;
        last_root = root;
        if (folder == NULL || top == NULL) return firn_fail_memory(error);
        FIRN_TRY(check_apart(location, resolved, folder, error));
        FIRN_TRY(check_apart(location, resolved, top, error));
    }
    return FIRN_OK;
}

static firn_status check_overlap(firn_sync_work *work, const char *location, firn_error *error) {
    char *resolved = NULL;
    FIRN_TRY(firn_lake_resolved_key(location, &resolved, error));
    firn_status status = check_places(work, location, resolved, error);
    firn_free(resolved);
    return status;
}

typedef struct foreign {
    firn_storage *storage;
    const char *location; /* of the table */
} foreign;

/* A run that was killed while it made a table leaves metadata without snapshots; that is no table. */
static firn_status check_metadata(void *context, const char *location,
                                  const firn_storage_stat *stat, firn_error *error) {
    (void)stat;
    static const char ending[] = ".metadata.json";
    const foreign *found = context;
    size_t length = strlen(location);
    if (length < sizeof ending || strcmp(location + length - (sizeof ending - 1), ending) != 0) {
        return FIRN_OK;
    }
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
    firn_table_metadata *metadata = NULL;
    firn_status status = firn_storage_read_all(found->storage, location, &bytes, NULL);
    if (status == FIRN_OK) {
        status = firn_table_metadata_parse(firn_buffer_slice(&bytes), location, &metadata, NULL);
    }
    /* One that can't be read is a first version that was cut short, or is being written. */
    bool first = firn_metadata_location_version(location) <= 1;
    bool empty = status == FIRN_OK ? metadata->snapshot_count == 0 : first;
    firn_table_metadata_free(metadata);
    firn_buffer_release(&bytes);
    if (empty) return FIRN_OK;
    return firn_fail(error, FIRN_BLOCKED,
                     "the location %s of the new table holds a table already (%s); firn catalog "
                     "recover enters that one into the catalog, and --location says another place",
                     found->location, location);
}

static firn_status check_foreign(firn_sync_work *work, const char *location, firn_error *error) {
    foreign found = {work->storage, location};
    const char *folder = firn_arena_format(work->arena, "%s/metadata", location);
    if (folder == NULL) return firn_fail_memory(error);
    return firn_storage_list(work->storage, folder, check_metadata, &found, error);
}

firn_status firn_sync_new_location(firn_sync_work *work, const char **out, firn_error *error) {
    char *given = NULL;
    if (work->options->location != NULL) {
        given = firn_strdup(work->options->location);
        if (given == NULL) return firn_fail_memory(error);
    } else {
        FIRN_TRY(default_location(work, &given, error));
    }
    char *absolute = firn_location_absolute(given);
    firn_free(given);
    if (absolute == NULL) return firn_fail_memory(error);
    size_t length = strlen(absolute);
    while (length > 1 && absolute[length - 1] == '/') absolute[--length] = '\0';
    *out = firn_sync_keep(work, absolute);
    firn_free(absolute);
    if (*out == NULL) return firn_fail_memory(error);
    FIRN_TRY(check_overlap(work, *out, error));
    firn_status status = check_foreign(work, *out, error);
    bool there = false;
    if (status == FIRN_BLOCKED && is_there(work, &there, NULL) == FIRN_OK && there) {
        /* It has just been made, by another run. */
        return firn_fail(error, FIRN_CONFLICT, "table %s was made by another run meanwhile",
                         work->display_name);
    }
    FIRN_TRY(status);
    work->result->location = *out;
    return FIRN_OK;
}

static firn_status announced(void *context, const char *location, firn_error *error) {
    return firn_journal_add(context, location, error);
}

static firn_status create_table(firn_sync_work *work, firn_journal *journal, firn_error *error) {
    firn_table_metadata *metadata = NULL;
    firn_table_pointer pointer = {0};
    firn_table_update announcer = {.announce = announced, .announce_context = journal};
    bool there = false;
    FIRN_TRY(is_there(work, &there, error));
    if (there) {
        return firn_fail(error, FIRN_EXISTS, "table %s was made by another run meanwhile",
                         work->display_name);
    }
    FIRN_TRY(firn_journal_settle_new(journal, NULL, work->storage, error));
    FIRN_TRY(firn_table_metadata_from_json(json_incref(work->planned->json), "the new table",
                                           &metadata, error));
    firn_status status = firn_catalog_create_announced(work->catalog, work->name, metadata,
                                                       &announcer, &pointer, error);
    if (status == FIRN_COMMIT_UNKNOWN) (void)firn_journal_keep(journal, NULL);
    FIRN_TRY(status);
    firn_table_pointer_release(&pointer);
    work->result->created = true;
    return firn_sync_open_table(work, error);
}

firn_status firn_sync_create(firn_sync_work *work, firn_error *error) {
    firn_journal *journal = NULL;
    FIRN_TRY(firn_journal_open_new(work->catalog, work->name, work->display_name,
                                   work->planned->location, false, work->options->lock_timeout_ms,
                                   &journal, error));
    firn_status status = create_table(work, journal, error);
    bool made = work->result->created;
    firn_journal_end(journal, work->storage, made ? FIRN_OK : status);
    firn_journal_close(journal);
    return status;
}
