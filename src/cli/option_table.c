#include "cli/options.h"

#include <string.h>

#define MEMBER(name) offsetof(firn_options, name)

const firn_option firn_option_table[] = {
    {"catalog", 0, FIRN_OPTION_TEXT, MEMBER(catalog), FIRN_OPTIONS_CATALOG, "NAME|FILE",
     "a configured catalog, or an SQLite file (a path, or sqlite:///…); without it the one that "
     "the configuration has under lakes for the table, else the one named default, else the only "
     "one that is configured"},
    {"catalog-name", 0, FIRN_OPTION_TEXT, MEMBER(catalog_name), FIRN_OPTIONS_CATALOG, "NAME",
     "the catalog's name inside an SQLite file that holds several"},
    {"ref", 0, FIRN_OPTION_TEXT, MEMBER(ref), FIRN_OPTIONS_REF, "NAME",
     "the branch to look at or to change, or a tag to look at; without it main"},
    {"where", 0, FIRN_OPTION_TEXT, MEMBER(where), FIRN_OPTIONS_FILTER, "FILTER",
     "only rows that match, and files that may hold some, as in \"day >= '2024-02-29' and (kind in "
     "('a', 'b') or n is null)\""},
    {"deep", 0, FIRN_OPTION_FLAG, MEMBER(deep), FIRN_OPTIONS_VERIFY, NULL,
     "decode every value of every file, and look up every deleted row"},
    {"fix", 0, FIRN_OPTION_FLAG, MEMBER(fix), FIRN_OPTIONS_AUDIT, NULL,
     "set right what manifests and properties can set right"},
    {"content-hash", 0, FIRN_OPTION_FLAG, MEMBER(content_hash), FIRN_OPTIONS_CONTENT, NULL,
     "read every row and show a hash of them that does not depend on their order"},
    {"columns", 0, FIRN_OPTION_TEXT, MEMBER(columns), FIRN_OPTIONS_SCAN, "A,B",
     "the columns to show, in this order, members of structs as a.b; a name with a comma in it "
     "stands in \"; without it all"},
    {"limit", 0, FIRN_OPTION_COUNT, MEMBER(limit), FIRN_OPTIONS_SCAN | FIRN_OPTIONS_LAKE, "COUNT",
     "most rows to show"},
    {"format", 0, FIRN_OPTION_TEXT, MEMBER(format), FIRN_OPTIONS_SCAN, "csv|json",
     "CSV with a line of column names, or a JSON object a line; without it csv, with --json json"},
    {"glob", 0, FIRN_OPTION_TEXT, MEMBER(glob), FIRN_OPTIONS_LAKE, "PATTERN",
     "the source is every file that the pattern matches: * and ? within a name, ** across folders, "
     "[a-z], {a,b}"},
    {"from", 0, FIRN_OPTION_TEXT, MEMBER(from), FIRN_OPTIONS_LAKE, "FILE|-",
     "the source is a text file with one location a line; -: standard input, which lists what is "
     "there to add, and of which nothing is missed"},
    {"manifest", 0, FIRN_OPTION_TEXT, MEMBER(manifest), FIRN_OPTIONS_SYNC, "FILE",
     "the source is a Parquet, CSV or JSON lines file that names complete units, and how many rows "
     "each has"},
    {"base", 0, FIRN_OPTION_TEXT, MEMBER(base), FIRN_OPTIONS_LAKE, "DIR",
     "what relative locations that the source names are relative to; without it the working "
     "folder"},
    {"unit-column", 0, FIRN_OPTION_TEXT, MEMBER(unit_column), FIRN_OPTIONS_SYNC, "NAME",
     "the column of the manifest with the unit; without it unit"},
    {"rows-column", 0, FIRN_OPTION_TEXT, MEMBER(rows_column), FIRN_OPTIONS_SYNC, "NAME",
     "the column of the manifest with row counts; without it rows, where there is one"},
    {"path-column", 0, FIRN_OPTION_TEXT, MEMBER(path_column), FIRN_OPTIONS_SYNC, "NAME",
     "the column of the manifest with a file; without it path, unless --unit-folder is given"},
    {"unit-folder", 0, FIRN_OPTION_TEXT, MEMBER(unit_folder), FIRN_OPTIONS_SYNC, "TEMPLATE",
     "where the files of a unit lie, with {unit} in it, as in daily/tile={unit}"},
    {"location", 0, FIRN_OPTION_TEXT, MEMBER(location), FIRN_OPTIONS_LAKE, "DIR",
     "where a new table's metadata goes; without it below the catalog's warehouse"},
    {"format-version", 0, FIRN_OPTION_COUNT, MEMBER(format_version), FIRN_OPTIONS_LAKE, "VERSION",
     "format version of a new table, 1 to 3; without it 2"},
    {"partition", 0, FIRN_OPTION_TEXTS, MEMBER(partition), FIRN_OPTIONS_LAKE, "RULE",
     "what a key of the paths means, as in \"day: day(happened_at)\", \"tile={#}_{#}: "
     "truncate[12](x), truncate[12](y)\", \"region: region string\" (a column that the files lack, "
     "with its type), \"run: -\" (nothing); may be repeated"},
    {"property", 0, FIRN_OPTION_TEXTS, MEMBER(property), FIRN_OPTIONS_LAKE, "KEY=VALUE",
     "a property of a new table; may be repeated"},
    {"batch", 0, FIRN_OPTION_COUNT, MEMBER(batch), FIRN_OPTIONS_SYNC, "COUNT",
     "units in a commit; without it 5; a source without units is one commit"},
    {"retries", 0, FIRN_OPTION_NUMBER, MEMBER(retries), FIRN_OPTIONS_LAKE, "COUNT",
     "times that a batch is tried again after what may pass by itself; without it 3"},
    {"unit-property", 0, FIRN_OPTION_TEXT, MEMBER(unit_property), FIRN_OPTIONS_SYNC, "NAME",
     "a table property with the names of the units that were added: adopted where it is found, and "
     "kept up"},
    {"on-replaced", 0, FIRN_OPTION_TEXT, MEMBER(on_replaced), FIRN_OPTIONS_LAKE, "POLICY",
     "what to do about files that were replaced since they were added: error, report, overwrite or "
     "delete; without it error"},
    {"on-missing", 0, FIRN_OPTION_TEXT, MEMBER(on_missing), FIRN_OPTIONS_SYNC, "POLICY",
     "what to do about files that were added and are gone: error, report or delete; without it "
     "error; not with --from -"},
    {"skip-bad", 0, FIRN_OPTION_FLAG, MEMBER(skip_bad), FIRN_OPTIONS_LAKE, NULL,
     "leave out files that can't be added, with the rest of their unit, and go on; --limit does "
     "not "
     "count them"},
    {"rebuild-ledger", 0, FIRN_OPTION_FLAG, MEMBER(rebuild_ledger), FIRN_OPTIONS_LAKE, NULL,
     "make a lost ledger anew from the table's history"},
    {"pages", 0, FIRN_OPTION_FLAG, MEMBER(pages), FIRN_OPTIONS_PAGES, NULL,
     "show each page of each column, too"},
    {"output", 'o', FIRN_OPTION_TEXT, MEMBER(output), FIRN_OPTIONS_MERGE, "FILE",
     "the file to write; with --target, OUT.parquet stands for OUT-00001.parquet and so on"},
    {"target", 0, FIRN_OPTION_BYTES, MEMBER(merge_target_bytes), FIRN_OPTIONS_MERGE, "BYTES",
     "write as many files as it takes to make each about so large; without it one"},
    {"force", 0, FIRN_OPTION_FLAG, MEMBER(force), FIRN_OPTIONS_MERGE | FIRN_OPTIONS_SYNC, NULL,
     "replace files to write that are there already"},
    {"compression", 0, FIRN_OPTION_TEXT, MEMBER(compression), FIRN_OPTIONS_MERGE, "CODEC[:LEVEL]",
     "zstd, snappy, gzip, brotli, lz4_raw or none, as in zstd:9; without it what most of the input "
     "has"},
    {"row-group-size-bytes", 0, FIRN_OPTION_BYTES, MEMBER(row_group_size_bytes), FIRN_OPTIONS_MERGE,
     "BYTES", "uncompressed size of the row groups to make; without it 128MB"},
    {"target-file-size-bytes", 0, FIRN_OPTION_BYTES, MEMBER(target_file_size_bytes),
     FIRN_OPTIONS_PLAN, "BYTES",
     "size of the files to make; without it write.target-file-size-bytes of the table, else 512MB"},
    {"min-input-files", 0, FIRN_OPTION_COUNT, MEMBER(min_input_files), FIRN_OPTIONS_PLAN, "COUNT",
     "small files that a partition must have before it is compacted; without it 5"},
    {"max-file-group-size-bytes", 0, FIRN_OPTION_BYTES, MEMBER(max_file_group_size_bytes),
     FIRN_OPTIONS_PLAN, "BYTES", "most bytes that are rewritten as one group; without it 100GB"},
    {"delete-ratio-threshold", 0, FIRN_OPTION_RATIO, MEMBER(delete_ratio_threshold),
     FIRN_OPTIONS_PLAN, "RATIO",
     "share of a file's rows that, once deleted, is a reason to rewrite it, from 0 (never) to 1; "
     "without it 0.3"},
    {"delete-file-threshold", 0, FIRN_OPTION_COUNT, MEMBER(delete_file_threshold),
     FIRN_OPTIONS_PLAN, "COUNT",
     "number of delete files that, once they apply to a file, is a reason to rewrite it; without "
     "it none is"},
    {"rewrite-all", 0, FIRN_OPTION_FLAG, MEMBER(rewrite_all), FIRN_OPTIONS_PLAN, NULL,
     "rewrite every data file, good ones too"},
    {"no-joined-pages", 0, FIRN_OPTION_FLAG, MEMBER(no_joined_pages),
     FIRN_OPTIONS_PLAN | FIRN_OPTIONS_MERGE, NULL,
     "never put compressed bytes of several pages into one page, for readers that can't take it"},
    {"explain", 0, FIRN_OPTION_FLAG, MEMBER(explain), FIRN_OPTIONS_PLAN, NULL,
     "show how the pages of a sample would go over, and why some have to be decoded"},
    {"partial-progress", 0, FIRN_OPTION_FLAG, MEMBER(partial_progress), FIRN_OPTIONS_RUN, NULL,
     "commit groups as they are finished, in up to ten commits; what was committed stays when a "
     "later one fails"},
    {"verify", 0, FIRN_OPTION_FLAG, MEMBER(verify), FIRN_OPTIONS_RUN, NULL,
     "before the commit read old and new files again and compare their rows"},
    {"to", 0, FIRN_OPTION_COUNT, MEMBER(to), FIRN_OPTIONS_UPGRADE, "VERSION",
     "the format version that the table shall have, 2 or 3"},
    {"lock-timeout", 0, FIRN_OPTION_SECONDS, MEMBER(lock_timeout_ms), FIRN_OPTIONS_LOCK, "SECONDS",
     "how long to wait for another run on the same table; without it not at all"},
    {"memory", 0, FIRN_OPTION_BYTES, MEMBER(memory_bytes), FIRN_OPTIONS_RESOURCES, "BYTES",
     "memory to work with; without it a quarter of the machine's or the cgroup's"},
    {"threads", 0, FIRN_OPTION_COUNT, MEMBER(threads), FIRN_OPTIONS_RESOURCES, "COUNT",
     "threads to work with; without it the number of cores"},
    {"yes", 0, FIRN_OPTION_FLAG, MEMBER(yes), FIRN_OPTIONS_CHANGE, NULL,
     "do it; without this option the verb only shows what it would do"},
    {"dry-run", 0, FIRN_OPTION_FLAG, MEMBER(dry_run), FIRN_OPTIONS_CHANGE, NULL,
     "only show what would be done, also where --yes is given"},
    {"json", 0, FIRN_OPTION_FLAG, MEMBER(json), FIRN_OPTIONS_COMMON, NULL,
     "print one JSON document on standard output, errors included"},
    {"config", 0, FIRN_OPTION_TEXT, MEMBER(config), FIRN_OPTIONS_COMMON, "FILE",
     "a firn.yaml that goes before the ones that are found"},
    {"verbose", 'v', FIRN_OPTION_COUNTER, MEMBER(verbose), FIRN_OPTIONS_COMMON, NULL,
     "say on standard error why register or sync tries a batch again; other verbs have nothing "
     "more "
     "to say"},
    {"no-progress", 0, FIRN_OPTION_FLAG, MEMBER(no_progress), FIRN_OPTIONS_COMMON, NULL,
     "show no progress, also where standard error is a terminal"},
    {"help", 'h', FIRN_OPTION_FLAG, MEMBER(help), FIRN_OPTIONS_COMMON, NULL,
     "show help for firn, or for a verb"},
    {"version", 'V', FIRN_OPTION_FLAG, MEMBER(version), FIRN_OPTIONS_COMMON, NULL,
     "show the version"},
};

const size_t firn_option_count = sizeof firn_option_table / sizeof *firn_option_table;

const char *firn_option_help(const firn_option *option, unsigned groups) {
    static const struct {
        const char *name;
        unsigned group;
        const char *help;
    } others[] = {
        {"deep", FIRN_OPTIONS_AUDIT, "read columns, too, where footers leave something open"},
        {"limit", FIRN_OPTIONS_LAKE,
         "most new files to add in this run, or units where the source has units; the next run "
         "goes on"},
        {"force", FIRN_OPTIONS_SYNC,
         "with --on-missing delete: also where more than half of what was added from the source "
         "(ten files or more, or all of it) is gone; with a ledger that was begun after the "
         "table's history was expired: what the ledger lacks is new"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool here = (groups & others[i].group) != 0;
        if (here && strcmp(others[i].name, option->name) == 0) return others[i].help;
    }
    return option->help;
}
