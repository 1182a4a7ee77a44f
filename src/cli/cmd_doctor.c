#include <sys/utsname.h>

#include "base/machine.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/exit_code.h"
#include "codec/codec.h"
#include "firn/version.h"
#include "report/table_facts.h"

static void add_codecs(firn_section *root) {
    static const firn_codec codecs[] = {
        FIRN_CODEC_UNCOMPRESSED, FIRN_CODEC_SNAPPY,     FIRN_CODEC_GZIP,
        FIRN_CODEC_DEFLATE,      FIRN_CODEC_ZSTD,       FIRN_CODEC_BROTLI,
        FIRN_CODEC_LZ4_RAW,      FIRN_CODEC_LZ4_HADOOP, FIRN_CODEC_LZ4_FRAME};
    static const firn_column columns[] = {
        {"codec", "codec"}, {"reads", "reads"}, {"writes", "writes"}};
    firn_rows *rows = firn_section_rows(root, "codecs", "Codecs", columns, 3, NULL);
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        const firn_cell cells[] = {
            firn_cell_text(firn_codec_name(codecs[i])),
            firn_cell_boolean(firn_codec_can_read(codecs[i])),
            firn_cell_boolean(firn_codec_can_write(codecs[i])),
        };
        firn_rows_add(rows, cells);
    }
}

typedef struct ability {
    const char *name;
    bool reads, writes;
    const char *note;
} ability;

static void add_abilities(firn_section *root, const char *key, const char *heading,
                          const ability *abilities, size_t count) {
    static const firn_column columns[] = {
        {"name", "name"}, {"reads", "reads"}, {"writes", "writes"}, {"note", "note"}};
    firn_rows *rows = firn_section_rows(root, key, heading, columns, 4, NULL);
    for (size_t i = 0; i < count; i++) {
        const firn_cell cells[] = {
            firn_cell_text(abilities[i].name),
            firn_cell_boolean(abilities[i].reads),
            firn_cell_boolean(abilities[i].writes),
            firn_cell_text(abilities[i].note),
        };
        firn_rows_add(rows, cells);
    }
}

static void add_build(firn_section *root) {
    static const ability catalogs[] = {
        {"sql", true, true, "an SQLite file in PyIceberg's or Java's layout"},
        {"path", true, true, "a folder; written where its metadata files are v<N>.metadata.json"},
        {"sql on PostgreSQL", false, false, "not in this version"},
        {"rest", false, false, "not in this version"},
        {"hive, glue, dynamodb", false, false, "not in this version"},
    };
    static const ability storage[] = {
        {"local files", true, true, "bare paths and file: locations"},
        {"s3, gs, abfs, hdfs", false, false, "not in this version"},
    };
    static const ability formats[] = {
        {"table format 1", true, true, NULL},
        {"table format 2", true, true, NULL},
        {"table format 3", true, true, "encrypted tables are refused"},
        {"Parquet data files", true, true, NULL},
        {"Avro data files", true, false, "rewritten as Parquet"},
        {"position deletes", true, true, "Parquet and Avro; written as Parquet"},
        {"deletion vectors", true, true, NULL},
        {"equality deletes", true, false, "become row positions; ORC is refused"},
        {"ORC data files", false, false, "not in this version"},
    };
    add_abilities(root, "catalogs", "Catalogs", catalogs, sizeof catalogs / sizeof *catalogs);
    add_abilities(root, "storage", "Storage", storage, sizeof storage / sizeof *storage);
    add_abilities(root, "formats", "Formats", formats, sizeof formats / sizeof *formats);
}

static void add_machine(firn_section *root) {
    firn_report *report = firn_section_report(root);
    struct utsname machine = {0};
    firn_section_add(root, "version", "firn", firn_cell_text(FIRN_VERSION));
    if (uname(&machine) == 0) {
        const char *text = firn_report_format(report, "%s %s", machine.sysname, machine.machine);
        firn_section_add(root, "system", "system", firn_cell_text(text));
    }
    firn_section_add(root, "memory_bytes", "memory", firn_cell_bytes(firn_machine_memory()));
}

/* What was found about one catalog or table. */
typedef struct examination {
    const char *kind, *name, *description;
    firn_status read_status, write_status;
    firn_error read_error, write_error;
    int64_t tables;
} examination;

static examination begin_examination(const char *kind, const char *name) {
    examination found = {.kind = kind, .name = name};
    firn_error_clear(&found.read_error);
    firn_error_clear(&found.write_error);
    return found;
}

static firn_status count_table(void *context, firn_table_name name, const char *metadata_location,
                               firn_error *error) {
    (void)name, (void)metadata_location, (void)error;
    ++*(int64_t *)context;
    return FIRN_OK;
}

/* Opens without making anything, and lists. */
static firn_status try_reading(firn_invocation *invocation, const char *argument,
                               examination *out) {
    firn_catalog *catalog = NULL;
    FIRN_TRY(firn_config_open_catalog(invocation->config, argument,
                                      invocation->options->catalog_name, true, false,
                                      invocation->storage, &catalog, &out->read_error));
    out->description = firn_report_copy(invocation->report, firn_catalog_describe(catalog));
    firn_status status = firn_catalog_list(catalog, count_table, &out->tables, &out->read_error);
    firn_catalog_close(catalog);
    return status;
}

/* Opens for changes and asks whether one could be made; makes none. */
static firn_status try_writing(firn_invocation *invocation, const char *argument,
                               examination *out) {
    firn_catalog *catalog = NULL;
    FIRN_TRY(firn_config_open_catalog(invocation->config, argument,
                                      invocation->options->catalog_name, false, false,
                                      invocation->storage, &catalog, &out->write_error));
    firn_table_name any = {"", ""};
    firn_status status = firn_catalog_check_writable(catalog, any, &out->write_error);
    firn_catalog_close(catalog);
    return status;
}

static void add_examination(firn_report *report, firn_rows *rows, const examination *found) {
    bool readable = found->read_status == FIRN_OK;
    bool writable = readable && found->write_status == FIRN_OK;
    const char *problem = NULL;
    if (!readable) problem = firn_report_copy(report, found->read_error.message);
    if (readable && !writable) problem = firn_report_copy(report, found->write_error.message);
    const firn_cell cells[] = {
        firn_cell_text(found->kind),
        firn_cell_text(firn_report_copy(report, found->name)),
        firn_cell_boolean(readable),
        firn_cell_boolean(writable),
        readable && found->tables >= 0 ? firn_cell_count(found->tables) : firn_cell_null(),
        firn_cell_text(found->description),
        firn_cell_text(problem),
    };
    firn_rows_add(rows, cells);
}

/* The catalog of --catalog, else every configured one. */
static firn_status examine_catalogs(firn_invocation *invocation, firn_rows *rows,
                                    firn_error *error) {
    FIRN_TRY(firn_invocation_load_config(invocation, error));
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    const char *given = invocation->options->catalog;
    size_t count = given == NULL ? firn_config_catalog_count(invocation->config) : 1;
    for (size_t i = 0; i < count; i++) {
        const char *name =
            given != NULL ? given : firn_config_catalog_at(invocation->config, i)->name;
        examination found = begin_examination("catalog", name);
        found.read_status = try_reading(invocation, name, &found);
        if (found.read_status == FIRN_OK)
            found.write_status = try_writing(invocation, name, &found);
        add_examination(invocation->report, rows, &found);
        int code = firn_exit_code(found.read_status);
        bool same = i == 0 || code == invocation->exit_code;
        invocation->exit_code = same ? code : FIRN_EXIT_PARTLY;
    }
    return FIRN_OK;
}

/* A table that can't be opened is the verb's failure, as for any other verb. */
static firn_status examine_table(firn_invocation *invocation, firn_rows *rows, firn_error *error) {
    const char *argument = invocation->options->arguments[0];
    FIRN_TRY(firn_invocation_open_table(invocation, argument, true, error));
    examination found = begin_examination("table", argument);
    const firn_table *table = invocation->table;
    firn_live_files files = {0};
    FIRN_TRY(firn_table_live_files(invocation->table, table->snapshot, &files, error));
    firn_live_files_release(&files);
    found.description =
        firn_report_copy(invocation->report, firn_catalog_describe(invocation->catalog));
    found.tables = -1;
    if (firn_table_argument_is_path(argument)) {
        firn_table_name name = {table->namespace_name, table->name};
        found.write_status =
            firn_catalog_check_writable(invocation->catalog, name, &found.write_error);
    } else {
        found.write_status =
            try_writing(invocation, firn_invocation_catalog(invocation, argument), &found);
    }
    if (found.write_status == FIRN_OK) {
        found.write_status = firn_table_check_supported(table, "compact", &found.write_error);
    }
    add_examination(invocation->report, rows, &found);
    return FIRN_OK;
}

firn_status firn_command_doctor(firn_invocation *invocation, firn_error *error) {
    static const firn_column columns[] = {{"kind", "kind"},
                                          {"name", "name"},
                                          {"readable", "can be read"},
                                          {"writable", "can be written"},
                                          {"tables", "tables"},
                                          {"description", "is"},
                                          {"problem", "problem"}};
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    add_machine(root);
    firn_doctor_add_libraries(root);
    add_codecs(root);
    add_build(root);
    firn_rows *rows =
        firn_section_rows(root, "checks", "Checks", columns, 7,
                          "no catalog is configured; --catalog FILE checks an SQLite file");
    if (invocation->options->argument_count > 0) {
        FIRN_TRY(examine_table(invocation, rows, error));
    } else {
        FIRN_TRY(examine_catalogs(invocation, rows, error));
    }
    return firn_report_status(invocation->report, error);
}
