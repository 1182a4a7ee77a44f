#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/registration.h"
#include "report/table_facts.h"

/* Reads what is to be registered, by a catalog of its own. *location and *metadata are in `pointer`. */
static firn_status read_metadata(firn_invocation *invocation, const char *argument,
                                 firn_table_pointer *pointer, firn_error *error) {
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    firn_catalog *catalog = NULL;
    FIRN_TRY(firn_catalog_path_open(argument, invocation->storage, &catalog, error));
    firn_table_name name = {"", argument};
    firn_status status = firn_catalog_load(catalog, name, pointer, error);
    firn_catalog_close(catalog);
    return status;
}

firn_status firn_registration_open(firn_invocation *invocation, const char *table, bool acts,
                                   bool *absent, firn_error *error) {
    firn_status status = firn_invocation_open_catalog(invocation, table, !acts, false, error);
    *absent = status == FIRN_NOT_FOUND;
    /* INVALID: also a file that is still empty. */
    if (!*absent && status != FIRN_INVALID) return status;
    firn_error_clear(error);
    return firn_invocation_open_catalog(invocation, table, !acts, true, error);
}

firn_status firn_registration_check_name(firn_invocation *invocation, firn_table_name name,
                                         const char *argument, const char **dangling,
                                         firn_error *error) {
    firn_storage_stat stat;
    bool found = false;
    char *location = NULL;
    *dangling = NULL;
    FIRN_TRY(firn_catalog_find(invocation->catalog, name, &found, &location, error));
    if (!found) return firn_table_name_check_new(name, error);
    if (location != NULL) {
        const char *kept = firn_report_copy(invocation->report, location);
        firn_free(location);
        FIRN_TRY(firn_report_status(invocation->report, error));
        firn_status status = firn_storage_stat_file(invocation->storage, kept, &stat, error);
        if (status == FIRN_NOT_FOUND) {
            if (error != NULL) firn_error_clear(error);
            *dangling = kept;
            return FIRN_OK;
        }
        FIRN_TRY(status);
    }
    return firn_fail(error, FIRN_EXISTS,
                     "%s: there is a table %s already, and its metadata file is there: if it is "
                     "this one nothing is to be done; another table needs another name",
                     firn_catalog_describe(invocation->catalog), argument);
}

firn_status firn_registration_enter(firn_invocation *invocation, firn_table_name name,
                                    const char *metadata_location, const char *dangling,
                                    firn_error *error) {
    if (dangling == NULL) {
        return firn_catalog_register(invocation->catalog, name, metadata_location, error);
    }
    return firn_catalog_repoint(invocation->catalog, name, dangling, metadata_location, error);
}

typedef struct alone_check {
    firn_invocation *invocation;
    firn_table_name name;
    const char *metadata_location;
    const firn_table_metadata *metadata;
    char *next; /* a file where the table's next metadata goes; NULL: not known */
    bool reads; /* the other tables' metadata, too */
} alone_check;

/* One folder of metadata is one table's. */
static firn_status share_folder(const char *a, const char *b, bool *out, firn_error *error) {
    char *first = firn_location_key(a);
    char *second = firn_location_key(b);
    bool complete = first != NULL && second != NULL;
    const char *slash = complete ? strrchr(first, '/') : NULL;
    const char *other = complete ? strrchr(second, '/') : NULL;
    *out = slash != NULL && other != NULL && slash - first == other - second &&
           strncmp(first, second, (size_t)(slash - first)) == 0;
    firn_free(first);
    firn_free(second);
    return complete ? FIRN_OK : firn_fail_memory(error);
}

/* One whose metadata can't be read can't be committed to either. */
static firn_status is_same_table(const alone_check *check, firn_table_name name, bool *out,
                                 firn_error *error) {
    firn_table_pointer other = {0};
    firn_error problem;
    firn_error_clear(&problem);
    *out = false;
    firn_status status = firn_catalog_load(check->invocation->catalog, name, &other, &problem);
    if (status == FIRN_NO_MEMORY || status == FIRN_CANCELLED) {
        if (error != NULL) *error = problem;
        return status;
    }
    if (status != FIRN_OK) return FIRN_OK;
    const char *uuid = check->metadata->table_uuid;
    const char *other_uuid = other.metadata->table_uuid;
    char *first = firn_location_key(check->metadata->location);
    char *second = firn_location_key(other.metadata->location);
    if (first == NULL || second == NULL) status = firn_fail_memory(error);
    *out = status == FIRN_OK &&
           (strcmp(first, second) == 0 ||
            (uuid != NULL && other_uuid != NULL && strcmp(uuid, other_uuid) == 0));
    firn_free(first);
    firn_free(second);
    firn_table_pointer_release(&other);
    return status;
}

/* What the catalog's own row tells. */
static firn_status shares_folder(const alone_check *check, const char *metadata_location, bool *out,
                                 firn_error *error) {
    FIRN_TRY(share_folder(metadata_location, check->metadata_location, out, error));
    if (*out || check->next == NULL) return FIRN_OK;
    return share_folder(metadata_location, check->next, out, error);
}

static firn_status check_entry(void *context, firn_table_name name, const char *metadata_location,
                               firn_error *error) {
    const alone_check *check = context;
    bool same = false;
    bool own = strcmp(name.name, check->name.name) == 0 &&
               strcmp(name.namespace_name, check->name.namespace_name) == 0;
    if (own || metadata_location == NULL) return FIRN_OK;
    if (check->reads) {
        FIRN_TRY(is_same_table(check, name, &same, error));
    } else {
        FIRN_TRY(shares_folder(check, metadata_location, &same, error));
    }
    if (!same) return FIRN_OK;
    return firn_fail(error, FIRN_BLOCKED,
                     "%s: it has this table as %s%s%s already; under two names each commit would "
                     "miss what the other name's had. Use that name",
                     firn_catalog_describe(check->invocation->catalog), name.namespace_name,
                     name.namespace_name[0] == '\0' ? "" : ".", name.name);
}

firn_status firn_registration_check_alone(firn_invocation *invocation, firn_table_name name,
                                          const char *metadata_location,
                                          const firn_table_metadata *metadata, firn_error *error) {
    alone_check check = {invocation, name, metadata_location, metadata, NULL, false};
    char *folder = NULL;
    firn_status status = FIRN_OK;
    if (metadata != NULL) {
        FIRN_TRY(firn_metadata_folder(metadata, &folder, error));
        check.next = firn_format("%s/next", folder);
        if (check.next == NULL) FIRN_CHECK(firn_fail_memory(error));
    }
    FIRN_CHECK(firn_catalog_list(invocation->catalog, check_entry, &check, error));
    if (metadata == NULL) goto out;
    /* A copy lies elsewhere, and only its metadata tells whose it is. */
    check.reads = true;
    FIRN_CHECK(firn_catalog_list(invocation->catalog, check_entry, &check, error));
out:
    firn_free(folder);
    firn_free(check.next);
    return status;
}

static void fill_report(firn_invocation *invocation, const char *name,
                        const firn_table_pointer *pointer, const char *dangling, bool acts,
                        bool absent) {
    firn_report *report = invocation->report;
    firn_section *root = firn_report_root(report);
    const firn_table_metadata *metadata = pointer->metadata;
    const char *catalog = firn_catalog_describe(invocation->catalog);
    firn_section_line(root, "%s %s as %s", acts ? "Registered" : "Would register",
                      pointer->metadata_location, name);
    firn_section_add(root, "preview", NULL, firn_cell_boolean(!acts));
    firn_section_add(root, "registered", NULL, firn_cell_boolean(acts));
    firn_section_add(root, "table", NULL, firn_cell_text(name));
    firn_section_add(root, "catalog", "  catalog",
                     firn_cell_text(firn_report_copy(report, catalog)));
    firn_section_add(root, "makes_catalog", NULL, firn_cell_boolean(absent));
    firn_section_add(root, "replaces", dangling == NULL ? NULL : "  instead of",
                     firn_cell_text(dangling));
    firn_section_add(root, "metadata_location", "  metadata file",
                     firn_cell_text(firn_report_copy(report, pointer->metadata_location)));
    firn_section_add(root, "location", "  location",
                     firn_cell_text(firn_report_copy(report, metadata->location)));
    firn_section_add(root, "table_uuid", "  uuid",
                     firn_cell_text(firn_report_copy(report, metadata->table_uuid)));
    firn_section_add(root, "format_version", "  format version",
                     firn_cell_integer(metadata->format_version));
    firn_section_add(root, "snapshot_count", "  snapshots",
                     firn_cell_count((int64_t)metadata->snapshot_count));
    if (dangling != NULL) {
        firn_section_line(root, "%s", "");
        firn_section_line(root, "The file that the catalog names is gone. What was committed after "
                                "the one that is entered is lost.");
    }
    if (acts) return;
    firn_section_line(root, "%s", "");
    if (absent) firn_section_line(root, "The catalog file does not exist yet and would be made.");
    firn_section_line(root, "Nothing was changed. Add --yes to do it.");
}

firn_status firn_command_catalog_register(firn_invocation *invocation, firn_error *error) {
    const char *argument = invocation->options->arguments[0];
    char namespace_name[FIRN_NAMESPACE_SIZE];
    firn_table_name name = {0};
    if (firn_table_argument_is_path(argument)) {
        return firn_fail(error, FIRN_INVALID,
                         "\"%s\" is a path; the first argument is the new name: firn catalog "
                         "register NAME METADATA",
                         argument);
    }
    FIRN_TRY(firn_table_name_parse(argument, namespace_name, &name, error));
    firn_table_pointer pointer = {0};
    bool acts = firn_invocation_acts(invocation);
    bool absent = false;
    const char *dangling = NULL;
    firn_status status = FIRN_OK;
    FIRN_CHECK(read_metadata(invocation, invocation->options->arguments[1], &pointer, error));
    FIRN_CHECK(firn_registration_open(invocation, argument, acts, &absent, error));
    FIRN_CHECK(firn_invocation_new_report(invocation, error));
    FIRN_CHECK(firn_registration_check_name(invocation, name, argument, &dangling, error));
    FIRN_CHECK(firn_registration_check_alone(invocation, name, pointer.metadata_location,
                                             pointer.metadata, error));
    fill_report(invocation, argument, &pointer, dangling, acts, absent);
    FIRN_CHECK(firn_report_status(invocation->report, error));
    if (acts) {
        FIRN_CHECK(
            firn_registration_enter(invocation, name, pointer.metadata_location, dangling, error));
        invocation->done = "the table was registered";
    }
out:
    firn_table_pointer_release(&pointer);
    return status;
}
