"""examples/compact.c, built against the installed library by pkg-config, opens, plans and compacts a table."""
import os
import shutil
import subprocess
import tempfile

import kit
import tables

ROOT = tempfile.mkdtemp(prefix="firn-installed-")
PREFIX = os.path.join(ROOT, "prefix")
BUILD = os.environ.get("FIRN_BUILD") or kit.skip("FIRN_BUILD names no build folder")
EXAMPLE = os.path.join(kit.HERE, "..", "..", "examples", "compact.c")


def run(*command, **environment):
    done = subprocess.run(command, env=dict(os.environ, **environment), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    kit.check(done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def install():
    run("cmake", "--install", BUILD, "--prefix", PREFIX)
    for path in ("bin/firn", "lib/pkgconfig/firn.pc", "include/firn/firn.h", "share/man/man1/firn.1"):
        found = [p for p in (path, path.replace("lib/", "lib/x86_64-linux-gnu/", 1))
                 if os.path.exists(os.path.join(PREFIX, p))]
        kit.check(found, f"{path} was not installed")


def pkg_config():
    folders = [d for d, _, names in os.walk(PREFIX) if "firn.pc" in names]
    flags = run("pkg-config", "--define-prefix", "--cflags", "--libs", "firn", PKG_CONFIG_PATH=folders[0]).split()
    return flags, os.path.dirname(folders[0])


def example_compacts():
    flags, libraries = pkg_config()
    program = os.path.join(ROOT, "compact")
    run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", EXAMPLE, *flags, "-o", program)
    folder = os.path.join(ROOT, "table")
    _, where, _ = tables.make(folder)
    before = kit.read("duckdb", where)
    out = run(program, os.path.join(folder, "catalog.db"), "db.events", LD_LIBRARY_PATH=libraries)
    kit.check("files became 5" in out, out)
    kit.same_rows(kit.read("duckdb", where), before, "after the example")
    again = run(program, os.path.join(folder, "catalog.db"), "db.events", LD_LIBRARY_PATH=libraries)
    kit.check("0 files became 0" in again, again)


OPTIONS = r"""
#include <firn/firn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    firn_error error = {0};
    firn_session_options session_options;
    firn_compaction_options options;
    firn_session *session = NULL;
    firn_table *table = NULL;
    firn_compaction *plan = NULL;
    firn_compaction_result result = {0};
    char where[64];
    if (argc != 4) return 2;
    firn_session_options_init(&session_options);
    session_options.catalog = argv[1];
    firn_compaction_options_init(&options);
    if (options.delete_ratio_threshold != 0.3 || options.delete_file_threshold != 0 || options.where != NULL ||
        options.partial_progress || options.no_joined_pages) {
        printf("other defaults\n");
        return 1;
    }
    strncpy(where, argv[3], sizeof where - 1);
    where[sizeof where - 1] = 0;
    options.where = where;
    options.partial_progress = true;
    options.no_joined_pages = true;
    options.delete_file_threshold = 3;
    if (firn_session_open(&session_options, &session, &error) != FIRN_OK ||
        firn_session_table(session, argv[2], NULL, &table, &error) != FIRN_OK ||
        firn_compaction_plan(table, &options, &plan, &error) != FIRN_OK) {
        printf("%s: %s\n", firn_status_name(error.code), error.message);
        firn_table_close(table);
        firn_session_close(session);
        return 1;
    }
    memset(where, 'x', sizeof where); /* it was copied */
    if (firn_compaction_run(plan, &result, &error) != FIRN_OK) printf("%s\n", error.message);
    printf("%zu groups, %zu commits, %zu files became %zu\n", result.groups, result.commits, result.input_files,
           result.output_files);
    firn_compaction_free(plan);
    firn_table_close(table);
    firn_session_close(session);
    return 0;
}
"""


def options_of_a_compaction():
    """where, partial_progress, no_joined_pages and the thresholds reach the compaction."""
    flags, libraries = pkg_config()
    source, program = os.path.join(ROOT, "options.c"), os.path.join(ROOT, "options")
    with open(source, "w", encoding="utf-8") as file:
        file.write(OPTIONS)
    run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", source, *flags, "-o", program)
    folder = os.path.join(ROOT, "options-table")
    _, where, _ = tables.make(folder)
    before = kit.read("duckdb", where)
    database = os.path.join(folder, "catalog.db")
    out = run(program, database, "db.events", "kind = 'view' OR kind = 'buy'", LD_LIBRARY_PATH=libraries)
    kit.check("2 groups, 2 commits" in out, out)
    kit.same_rows(kit.read("duckdb", where), before, "after two of the partitions")
    out = run(program, database, "db.events", "id >= 0", LD_LIBRARY_PATH=libraries)
    kit.check("3 groups, 3 commits" in out, out)
    done = subprocess.run([program, database, "db.events", "nothing = 1"], capture_output=True, text=True, check=False,
                          env=dict(os.environ, LD_LIBRARY_PATH=libraries))
    kit.check(done.returncode == 1 and "INVALID" in done.stdout, done.stdout)


try:
    kit.main([install, example_compacts, options_of_a_compaction])
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
