#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"

#define COMMON FIRN_OPTIONS_COMMON
#define CATALOG FIRN_OPTIONS_CATALOG
#define REF FIRN_OPTIONS_REF
#define CHANGE FIRN_OPTIONS_CHANGE
#define PLAN FIRN_OPTIONS_PLAN
#define RUN FIRN_OPTIONS_RUN
#define LOCK FIRN_OPTIONS_LOCK
#define RESOURCES FIRN_OPTIONS_RESOURCES
#define CONTENT FIRN_OPTIONS_CONTENT
#define PAGES FIRN_OPTIONS_PAGES
#define MERGE FIRN_OPTIONS_MERGE
#define FILTER FIRN_OPTIONS_FILTER
#define SCAN FIRN_OPTIONS_SCAN
#define VERIFY FIRN_OPTIONS_VERIFY
#define LAKE FIRN_OPTIONS_LAKE
#define SYNC FIRN_OPTIONS_SYNC
#define AUDIT FIRN_OPTIONS_AUDIT
#define MANY FIRN_MAX_ARGUMENTS

const firn_verb firn_verb_table[] = {
    {"tables", "", 0, 0, COMMON | CATALOG, "list the tables of a catalog",
     "Lists every table of the catalog with its metadata file.", firn_command_tables},
    {"describe", "TABLE", 1, 1, COMMON | CATALOG | REF | CONTENT | RESOURCES,
     "show what a table is: schema, partitioning, size, refs, properties",
     "Shows location, format, schema, partition spec, sort order, the snapshot that is current, "
     "how "
     "many files, rows, bytes and manifests it has, refs and properties.\n\n"
     "With --content-hash every row is read and hashed. The hash does not depend on the order of "
     "rows and files, so it is the same before and after a compaction.",
     firn_command_describe},
    {"snapshots", "TABLE", 1, 1, COMMON | CATALOG, "list a table's snapshots",
     "Lists the snapshots that the table's metadata still names, oldest first, with what each did.",
     firn_command_snapshots},
    {"refs", "TABLE", 1, 1, COMMON | CATALOG, "list a table's branches and tags",
     "Lists branches and tags, the snapshot that each names, and how long they are kept.",
     firn_command_refs},
    {"files", "TABLE", 1, 1, COMMON | CATALOG | REF | FILTER, "list the live files of a snapshot",
     "Lists the live data and delete files of the snapshot: rows, bytes, partition, sequence "
     "numbers. With --where only data files that may hold matching rows, by their partition and "
     "their column metrics, and the delete files that may apply to rows of their partitions; "
     "manifests whose partition summaries rule a match out are not opened.",
     firn_command_files},
    {"manifests", "TABLE", 1, 1, COMMON | CATALOG | REF, "list the manifests of a snapshot",
     "Lists the manifests of the snapshot with their counts and the ranges of partition values.",
     firn_command_manifests},
    {"history", "TABLE", 1, 1, COMMON | CATALOG, "show which snapshot was current when",
     "Shows the snapshot log: when each snapshot became current, and whether it is an ancestor of "
     "the one that is current now (after a roll-back some are not).",
     firn_command_history},
    {"scan", "TABLE", 1, 1, COMMON | CATALOG | REF | FILTER | SCAN | RESOURCES,
     "print a table's live rows",
     "Prints the rows that are live in the snapshot, all deletes applied, as CSV or as JSON lines: "
     "one "
     "object a row, keys in the order of the schema (a tag's is its snapshot's). Tables of format "
     "3 "
     "have _row_id and _last_updated_sequence_number as last columns. Files that --where rules out "
     "are not read.\n\n"
     "JSON: decimals, dates, times and uuids are text, binary is hexadecimal, a map is a list of "
     "[key, value] sorted by their text, NaN and Infinity are text. CSV: null is an empty field, "
     "an "
     "empty text is \"\", and lists, maps and structs are JSON. --json is --format json: every "
     "line "
     "is a document of its own.",
     firn_command_scan},
    {"plan", "TABLE", 1, 1, COMMON | CATALOG | REF | FILTER | PLAN | RESOURCES,
     "show what a compaction would do, and why",
     "Shows which groups of files a compaction would rewrite and why, what each group that is left "
     "alone lacks, and the files and bytes to expect. With --explain it says how the pages of a "
     "sample, rewritten in memory, went over: copied, joined, renumbered, decoded, and why. With "
     "--where only files that may hold matching rows are looked at, and only manifests opened that "
     "may name some. Changes nothing.",
     firn_command_plan},
    {"compact", "TABLE", 1, 1,
     COMMON | CATALOG | REF | FILTER | CHANGE | PLAN | RUN | LOCK | RESOURCES,
     "rewrite many small files as few good ones",
     "Rewrites the data files of each partition that has enough small ones, or files of which much "
     "is deleted, into files of the target size, and commits. The rows stay the same; deleted ones "
     "are left out, and delete files that nothing else needs leave. Without --yes it shows what it "
     "would do. With --where only files that may hold matching rows are rewritten, each as a "
     "whole, "
     "with the rows of it that don't match.\n\n"
     "Other writers may go on meanwhile: rows that they delete are deleted from the new files, "
     "too, "
     "and groups of which they replaced a file are done again.\n\n"
     "An interrupt (Ctrl-C) stops it and removes what it had written; the table stays as it was.",
     firn_command_compact},
    {"rewrite-deletes", "TABLE", 1, 1, COMMON | CATALOG | REF | CHANGE | LOCK | RESOURCES,
     "merge position and equality deletes, without touching data files",
     "Turns position and equality deletes into merged position delete files (format version 2) or "
     "deletion vectors (version 3), which readers apply without looking for keys. Data files stay "
     "as they are, and the same rows are deleted as before: what was written is read back and "
     "compared before the commit. Without --yes it shows what it would do, which takes reading "
     "the deletes.\n\n"
     "In version 2, write.delete.granularity says whether a delete file is for one data file "
     "(file) or for a partition, and a partition whose delete files would not become fewer is "
     "left alone.",
     firn_command_rewrite_deletes},
    {"remove-dangling-deletes", "TABLE", 1, 1, COMMON | CATALOG | REF | CHANGE | LOCK | RESOURCES,
     "remove delete files that no live data file needs",
     "Finds delete files that can't delete a row of any live data file: equality deletes that are "
     "older than all data files within their reach, position deletes and deletion vectors of data "
     "files that are live no more. A position delete file for several data files is read to be "
     "sure. Without --yes it shows what it would do.",
     firn_command_remove_dangling_deletes},
    {"upgrade", "TABLE", 1, 1, COMMON | CATALOG | CHANGE | LOCK | FIRN_OPTIONS_UPGRADE,
     "raise a table's format version",
     "Gives the table format version 2 or 3 (--to). Only metadata is written, every file stays. A "
     "version can't be taken back, and programs that don't know it can't read the table any more. "
     "Without --yes it shows what would change.",
     firn_command_upgrade},
    {"verify", "TABLE", 1, 1, COMMON | CATALOG | REF | VERIFY | RESOURCES,
     "check whether a table keeps its promises",
     "Looks whether everything that the table names, over all of its snapshots or in that of "
     "--ref, "
     "is there with the recorded size; whether manifest lists, manifests and footers agree on "
     "files, rows, partition values and bounds; whether sequence numbers and row ids are sound; "
     "whether files are live twice and deletes point at something. With --deep every value is "
     "decoded and every deleted row looked up; deletes of rows behind a file's last one are told "
     "of.\n\n"
     "Findings are errors (readers fail or read wrong rows), warnings and notes, each with what to "
     "do. Ends with exit code 8 for an error or a warning. Changes nothing.",
     firn_command_verify},
    {"register", "TABLE [FILE|FOLDER...]", 1, MANY,
     COMMON | CATALOG | REF | CHANGE | LAKE | LOCK | RESOURCES,
     "add Parquet files that are there already to a table, in place",
     "Adds files to a table as they lie, without copying or changing them: those that are named, "
     "all below the folders that are named, or those of --glob or --from. A table that does not "
     "exist is made: its schema is the union of the files' columns, and it is partitioned as the "
     "paths say (year=2024/month=01 by year and month of the files' date; other keys as "
     "--partition "
     "says). Without --yes it shows what it would do.\n\n"
     "Each file's partition is proved from its footer, and where that does not settle it from the "
     "column itself. A file of two partitions, of another one than its path says, or whose columns "
     "don't fit is refused by name; with --skip-bad the others are added all the same. Files that "
     "were added before are not added again.",
     firn_command_register},
    {"sync", "[TABLE [FOLDER...]]", 0, MANY,
     COMMON | CATALOG | REF | CHANGE | LAKE | SYNC | LOCK | RESOURCES,
     "make a table follow folders, a list or a manifest of Parquet files",
     "Adds what is new in the source, as register does, and sees what was replaced or is gone "
     "(--on-replaced, --on-missing). The source is the folders that are named, --glob, --from, "
     "--manifest, or what firn.yaml says under lakes; without a TABLE every table there is synced. "
     "What was added stands in a ledger beside the table's metadata, so that files come in once, "
     "whatever compaction and deletes have made of them since. Without --yes it shows what it "
     "would do.\n\n"
     "A manifest names complete units, which are never split: --batch units make a commit, and the "
     "rows of each must be as many as the manifest says. A run that was stopped goes on where it "
     "was.",
     firn_command_sync},
    {"audit", "TABLE", 1, 1, COMMON | CATALOG | REF | CHANGE | VERIFY | AUDIT | LOCK | RESOURCES,
     "find files that were registered wrongly, and set it right",
     "Looks at the live data files of the snapshot: files that are live twice, partition values "
     "that the rows don't have, bounds and counts by which filters lose rows, files with other "
     "rows than recorded, columns without ids that no name mapping tells, files that can't be read "
     "as the table. By the footers alone; where they don't settle it, that is said, and --deep "
     "reads the columns.\n\n"
     "With --fix one commit sets right what it can: of doubled entries the oldest stays, partition "
     "values and metrics become those of the files, the name mapping is written. Data files stay "
     "as they are. A file of several partitions has to be written anew, and where delete files of "
     "a partition reach a file its partition stays. Without --yes it shows what it would do.\n\n"
     "Ends with exit code 8 where something is wrong (and was not set right).",
     firn_command_audit},
    {"catalog register", "NAME METADATA", 2, 2, COMMON | CATALOG | CHANGE,
     "enter an existing table into a catalog",
     "Points the name NAME at the metadata file METADATA (or at the newest one of a folder). The "
     "files of the table stay as they are. A table that the catalog has under another name is "
     "refused. An SQLite file that does not exist is made. Without --yes it shows what it would "
     "do.",
     firn_command_catalog_register},
    {"catalog recover", "NAME LOCATION", 2, 2, COMMON | CATALOG | CHANGE,
     "enter a table whose catalog is lost into a new one",
     "Finds the metadata file that was the table's last one, among those in the folder LOCATION (a "
     "table's, or its metadata folder), and points the name NAME at it. What was written by "
     "commits "
     "that failed is told from it by which file was made from which. Where the files can't prove "
     "it "
     "(two ends of equal standing, a newer file that can't be read or is gone) nothing is changed, "
     "and the exit code is 4. An SQLite file that does not exist is made. Without --yes it shows "
     "what it would "
     "do.",
     firn_command_catalog_recover},
    {"parquet inspect", "FILE", 1, 1, COMMON | PAGES, "show what a Parquet file is made of",
     "Shows the schema with its field ids, row groups, columns with encodings, sizes and "
     "statistics, "
     "page indexes, Bloom filters, and what the writer noted. With --pages each page is shown.",
     firn_command_parquet_inspect},
    {"parquet verify", "FILE...", 1, MANY, COMMON | RESOURCES,
     "check Parquet files against their own promises",
     "Decodes every value and holds CRCs, sizes and counts of the footer, statistics, page "
     "indexes, "
     "size statistics and Bloom filters against what is there. Ends with exit code 8 when a file "
     "does not keep what it promises; a file that can't be read is one finding, and the others are "
     "looked at all the same. Changes nothing.",
     firn_command_parquet_verify},
    {"parquet merge", "IN...", 1, MANY, COMMON | RESOURCES | MERGE,
     "write several Parquet files as one, or as some of a size",
     "Writes the rows of the files, in their order, as one file with row groups of proper size; "
     "pages "
     "that can stay as they are are copied. Fields are matched by their ids where every field of "
     "every file has one, else by name. A field that a file lacks is null; int and long, float and "
     "double, and decimals of one scale meet in the wider type; anything else that differs is "
     "refused by name.\n\n"
     "The file that -o names appears when it is complete; folders that it lacks are made. One that "
     "is there is replaced only with --force, and never where it is one of the inputs. With "
     "--target several files of about one size are written, OUT-00001.parquet and so on where -o "
     "names OUT.parquet, and appear when all are complete. The inputs stay as they are.",
     firn_command_parquet_merge},
    {"doctor", "[TABLE]", 0, 1, COMMON | CATALOG,
     "show what this build can do, and check a catalog or a table",
     "Shows the codecs, libraries, catalogs and storage of this build. A catalog (--catalog, else "
     "the configured ones) is tried: whether it can be read (the exit code, 6 for some of several) "
     "and whether it could be written. "
     "Changes nothing.",
     firn_command_doctor},
    {"config show", "", 0, 0, COMMON, "show the configuration, and where each value comes from",
     "Shows the configured catalogs and lakes, their settings, and the file and line or the "
     "variable that "
     "each comes from. Secrets are not shown.",
     firn_command_config_show},
    {"config validate", "[FILE]", 0, 1, COMMON, "check the configuration",
     "Reads FILE, or the configuration that would be used, and names the first mistake.",
     firn_command_config_validate},
    {"demo small-files", "DIR", 1, 1, COMMON | RESOURCES,
     "make a table of many small files in DIR, and compact it",
     "Makes DIR with an SQLite catalog and the table demo.events, written by several hundred small "
     "commits; then shows it, previews its compaction, compacts it and shows it again with the "
     "same "
     "hash of its rows. DIR must be empty or absent.",
     firn_command_demo_small_files},
    {"demo lake", "DIR", 1, 1, COMMON | RESOURCES,
     "make a lake of Parquet files in DIR, and a table that follows it",
     "Makes DIR with Parquet files below year=/month=/day= folders, and the table demo.events that "
     "registers them in place; then a file is added and another one replaced, and the table "
     "follows; at last the catalog is lost and recovered. DIR must be empty or absent.",
     firn_command_demo_lake},
    {"help", "[VERB]", 0, 2, COMMON, "show help for firn, or for a verb",
     "Shows the verbs, or how one of them is used.", firn_command_help},
};

const size_t firn_verb_count = sizeof firn_verb_table / sizeof *firn_verb_table;

const firn_verb *firn_verb_find(const char *name) {
    for (size_t i = 0; i < firn_verb_count; i++) {
        if (strcmp(firn_verb_table[i].name, name) == 0) return &firn_verb_table[i];
    }
    return NULL;
}
