"""
version-hint.text of tables in a catalog: DuckDB reads the bare folder by it, and each commit keeps it, whatever fails or is killed
around it.
"""
import os
import shutil
import tempfile

import kit
import tables

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

ROOT = tempfile.mkdtemp(prefix="firn-hint-")


def fresh(name):
    folder = os.path.join(ROOT, name)
    os.makedirs(folder)
    table, where, arguments = tables.make(folder, commits=6, rows=10, partitioned=False)
    location = os.path.dirname(os.path.dirname(kit.rows.find_metadata(where)))
    return table, where, arguments, location


def hint_of(location):
    with open(os.path.join(location, "metadata", "version-hint.text"), encoding="utf-8") as file:
        return file.read()


def set_hint(location, text):
    with open(os.path.join(location, "metadata", "version-hint.text"), "w", encoding="utf-8") as file:
        file.write(text)


def current(where):
    return os.path.basename(kit.rows.find_metadata(where)).removesuffix(".metadata.json")


def bare_rows(location):
    """All rows as text, by DuckDB, which is told of the folder only."""
    connection = kit.rows.duckdb_connection(kit.OPTIONS.duckdb_extensions)
    found = connection.execute(f"SELECT t::VARCHAR FROM iceberg_scan('{location}') t ORDER BY ALL").fetchall()
    connection.close()
    return found


def duckdb_reads_the_bare_folder():
    _, where, arguments, location = fresh("bare")
    set_hint(location, current(where))
    before = bare_rows(location)
    kit.check(len(before) == 60, f"{len(before)} rows")
    kit.firn("compact", *arguments, "--yes")
    kit.check(hint_of(location) == current(where), f"the hint is {hint_of(location)!r}")
    kit.check(bare_rows(location) == before, "rows after the compaction")
    kit.check(len(kit.live_files(where)) < 6, "it was compacted")
    # Changes of metadata alone, too.
    kit.firn("upgrade", *arguments, "--to", "3", "--yes")
    kit.check(hint_of(location) == current(where), f"the hint is {hint_of(location)!r}")
    kit.check(bare_rows(location) == before, "rows after the upgrade")


def no_hint_is_made():
    _, _, arguments, location = fresh("none")
    kit.firn("compact", *arguments, "--yes")
    kit.check("version-hint.text" not in os.listdir(os.path.join(location, "metadata")), "a hint was made")


def failures():
    """The commit stands, and says so; the hint still names a state that can be read; the next commit sets it."""
    for plan in ("fail:1:replace", "fail-after:1:replace", "short:1:replace", "fail:1:replace+"):
        _, where, arguments, location = fresh("fail-" + plan.replace(":", "-"))
        before = current(where)
        set_hint(location, before)
        rows = bare_rows(location)
        done = kit.firn("compact", *arguments, "--yes", program=kit.FAULTS, environment={"FIRN_FAULT": plan})
        kit.check(current(where) != before, "committed")
        kit.check("version hint" in done.stderr, f"{plan}: {done.stderr}")
        kit.check(hint_of(location) in (before, current(where)), f"{plan}: the hint is {hint_of(location)!r}")
        kit.check(bare_rows(location) == rows, plan)
        kit.firn("compact", *arguments, "--yes", "--rewrite-all")
        kit.check(hint_of(location) == current(where), f"{plan}: the next hint is {hint_of(location)!r}")


def kills():
    """Wherever a run ends, the hint names a whole metadata file, and the next commit leaves nothing of it behind."""
    _, where, arguments, location = fresh("kill")
    set_hint(location, current(where))
    rows = bare_rows(location)
    pristine = os.path.join(ROOT, "pristine")
    kill_folder = os.path.join(ROOT, "kill")
    shutil.copytree(kill_folder, pristine)
    killed = 0
    plans = [f"{how}:{at}:{what}" for what in ("replace", "publish", "catalog") for how in ("kill", "kill-after") for at in (1, 2, 3)]
    for plan in plans:
        shutil.rmtree(kill_folder)
        shutil.copytree(pristine, kill_folder)
        done = kit.firn("compact", *arguments, "--yes", program=kit.FAULTS, expect=(0, 137), environment={"FIRN_FAULT": plan})
        killed += done.returncode == 137
        kit.check(os.path.exists(os.path.join(location, "metadata", hint_of(location) + ".metadata.json")), f"{plan}: {hint_of(location)}")
        kit.check(bare_rows(location) == rows, plan)
        kit.firn("compact", *arguments, "--yes", "--rewrite-all")
        kit.check(hint_of(location) == current(where), f"{plan}: the hint is {hint_of(location)!r}")
        left = [n for n in os.listdir(os.path.join(location, "metadata"))
                if not n.endswith((".avro", ".metadata.json")) and n != "version-hint.text"]
        kit.check(not left, f"{plan}: left behind: {left}")
        kit.check(bare_rows(location) == rows, plan)
    kit.check(killed >= 6, f"only {killed} runs were killed")


try:
    kit.main([duckdb_reads_the_bare_folder, no_hint_is_made, failures, kills])
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
