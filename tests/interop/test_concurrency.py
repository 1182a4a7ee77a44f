"""
Runs that meet: a table in two catalogs, of which one was left by a kill; a run that waited for another one; and limits that
make everything one file.
"""
import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import kit
import tables

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

ROOT = tempfile.mkdtemp(prefix="firn-concurrency-")


def fresh(name, **options):
    folder = os.path.join(ROOT, name)
    os.makedirs(folder)
    return folder, *tables.make(folder, **options)


def two_catalogs():
    """What a killed run committed through one catalog is not reachable from another one, and is no leftover all the same."""
    folder, _, where, arguments = fresh("two-catalogs", commits=6, rows=20)
    rows = kit.read("pyiceberg", where)
    metadata = kit.rows.find_metadata(where)
    other = os.path.join(folder, "other.db")
    kit.firn("catalog", "register", "other.name", metadata, "--catalog", other, "--yes")
    # firn gives a table no second name in a catalog; others do.
    kit.sql_catalog(folder).register_table("db.second", "file://" + metadata.removeprefix("file://"))
    kit.firn("compact", *arguments, "--yes", program=kit.FAULTS, expect=137,
             environment={"FIRN_FAULT": "kill-after:2:catalog"})
    kit.check(kit.rows.find_metadata(where) != metadata, "the killed run was to commit first")
    for name, database in (("other.name", other), ("db.second", os.path.join(folder, "catalog.db"))):
        kit.firn("compact", name, "--catalog", database, "--yes")
        kit.same_rows(kit.read("pyiceberg", f"{database}:{name}"), rows, name)
        kit.same_rows(kit.read("pyiceberg", where), rows, f"what was committed, after a run through {name}")


def same_catalog_by_another_path():
    """The journal of a catalog is found again through a symbolic link and a relative path."""
    folder, _, where, arguments = fresh("spelled", commits=6, rows=20, partitioned=False)
    rows = kit.read("pyiceberg", where)
    warehouse = os.path.join(folder, "warehouse")
    before = {os.path.join(d, n) for d, _, names in os.walk(warehouse) for n in names}
    os.symlink("catalog.db", os.path.join(folder, "link.db"))
    kit.firn("compact", *arguments, "--yes", program=kit.FAULTS, expect=137, environment={"FIRN_FAULT": "kill:1:catalog"})
    left = {os.path.join(d, n) for d, _, names in os.walk(warehouse) for n in names} - before
    kit.check(any(n.endswith(".parquet") for n in left), "the killed run was to leave files")
    kit.firn("compact", "db.events", "--catalog", "link.db", "--yes", cwd=folder)
    kit.check(not [n for n in left if n.endswith(".parquet") and os.path.exists(n)], "left behind")
    kit.same_rows(kit.read("pyiceberg", where), rows, "rows")


def waits_for_the_other_run():
    """A run that waited for the lock plans from what the other one left, instead of running into a conflict."""
    folder, _, where, arguments = fresh("waits", commits=6, rows=2000, partitioned=False)
    rows = kit.read("pyiceberg", where)
    fifo = os.path.join(folder, "trace")
    os.mkfifo(fifo)
    # Nobody reads the trace at first, so the first run stands still while it holds the lock.
    env = dict(os.environ, FIRN_FAULT_TRACE=fifo)
    reader = os.open(fifo, os.O_RDWR)
    os.set_blocking(reader, False)
    with subprocess.Popen([kit.FAULTS, "compact", *arguments, "--yes", "--rewrite-all"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as first:
        traced = b""
        while b"create" not in traced and first.poll() is None:
            try:
                traced += os.read(reader, 200)
            except BlockingIOError:
                time.sleep(0.001)
        os.kill(first.pid, 19)
        with subprocess.Popen([kit.FIRN, "compact", *arguments, "--yes", "--rewrite-all", "--lock-timeout", "60", "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as second:
            time.sleep(0.5)
            kit.check(second.poll() is None, "the second run was to wait")
            os.kill(first.pid, 18)
            while first.poll() is None:
                try:
                    os.read(reader, 65536)
                except BlockingIOError:
                    time.sleep(0.001)
            kit.check(first.returncode == 0, f"the first run: {first.stdout.read()}")
            out, err = second.communicate(timeout=60)
    os.close(reader)
    kit.check(second.returncode == 0 and json.loads(out)["committed"], f"exit {second.returncode}: {out} {err}")
    kit.same_rows(kit.read("pyiceberg", where), rows, "rows")


def signal_while_waiting(held):
    """A signal ends waiting at once: for the catalog, before the first read or the commit, or for another run."""
    folder, _, where, arguments = fresh("signal-" + held, commits=6, rows=10, partitioned=False)
    below = os.path.join(folder, "warehouse")
    before = files_below(below)
    state = {"FIRN_STATE_DIR": os.path.join(folder, "state")}
    kit.firn("compact", *arguments, "--yes", environment={**state, "FIRN_FAULT": "fail:1:create"}, program=kit.FAULTS,
             expect=1)
    database = sqlite3.connect(os.path.join(folder, "catalog.db"), isolation_level=None)
    journal = os.path.join(folder, "state", os.listdir(os.path.join(folder, "state"))[0])
    with open(journal, "rb+") as lock:
        if held == "journal":
            fcntl.flock(lock, fcntl.LOCK_EX)
        else:
            database.execute("BEGIN " + held)
        with subprocess.Popen([kit.FIRN, "compact", *arguments, "--yes", "--lock-timeout", "9223372036s"], env={**os.environ, **state},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            time.sleep(1)
            kit.check(run.poll() is None, "the run was to wait")
            start = time.monotonic()
            run.send_signal(signal.SIGTERM)
            _, err = run.communicate(timeout=50)
            took = time.monotonic() - start
        kit.check(run.returncode == 143 and took < 5, f"exit {run.returncode} after {took:.1f} s: {err}")
        database.close()
    kit.check(files_below(below) == before, "left behind")
    kit.firn("compact", *arguments, "--yes", environment=state)


def target_without_limit():
    """The largest number as target size means one file, in the option and in the property."""
    most = str(2**63 - 1)
    _, catalog, where, arguments = fresh("target", commits=6, rows=20, partitioned=False)
    rows = kit.read("pyiceberg", where)
    report = kit.firn_json("plan", *arguments, "--target-file-size-bytes", most)["plan"]
    kit.check((report["input_files"], report["output_files"]) == (6, 1), f"plan {report}")
    with catalog.load_table("db.events").transaction() as change:
        change.set_properties({"write.target-file-size-bytes": most})
    kit.firn("compact", *arguments, "--yes", "--verify")
    kit.check(len(kit.live_files(where)) == 1, "one file")
    kit.check(not kit.firn_json("compact", *arguments, "--yes")["committed"], "the second run finds nothing to do")
    kit.same_rows(kit.read("pyiceberg", where), rows, "rows")


def files_below(folder):
    return {os.path.join(d, n) for d, _, names in os.walk(folder) for n in names}


def referenced(where):
    """Every file that the table's metadata refers to, by PyIceberg."""
    from pyiceberg.table import StaticTable
    path = kit.rows.find_metadata(where)
    table = StaticTable.from_metadata(path)
    found = {path} | {e.metadata_file for e in table.metadata.metadata_log}
    for snapshot in table.snapshots():
        found.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            found.add(manifest.manifest_path)
            found |= {e.data_file.file_path for e in manifest.fetch_manifest_entry(table.io, discard_deleted=False)}
    return {kit.rows.strip_scheme(p) for p in found}


def as_directory_table(folder, where):
    """The table of a catalog as a directory table in place; returns its folder."""
    metadata = kit.rows.find_metadata(where)
    location = os.path.dirname(os.path.dirname(metadata))
    for name in os.listdir(os.path.join(location, "metadata")):
        path = os.path.join(location, "metadata", name)
        if name.endswith(".metadata.json") and path != metadata:
            os.unlink(path)
    document = kit.rows.load_metadata(metadata)
    document["metadata-log"] = []
    with open(os.path.join(location, "metadata", "v7.metadata.json"), "w", encoding="utf-8") as file:
        json.dump(document, file)
    with open(os.path.join(location, "metadata", "version-hint.text"), "w", encoding="utf-8") as file:
        file.write("7")
    os.unlink(metadata)
    os.unlink(os.path.join(folder, "catalog.db"))
    return location


def killed_runs_leave_nothing(kind):
    """Whatever a kill leaves, metadata and temporary files too, the next run removes."""
    folder, _, where, arguments = fresh("left-" + kind, commits=6, rows=10, partitioned=False)
    below = os.path.join(folder, "warehouse")
    if kind == "directory":
        where = as_directory_table(folder, where)
        arguments = [where]
    rows = kit.read("pyiceberg", where)
    pristine = os.path.join(ROOT, "pristine-" + kind)
    shutil.copytree(folder, pristine)
    hint = {p for p in files_below(below) if p.endswith("version-hint.text")}
    for plan in [f"{how}:{at}:{what}" for what in ("catalog", "publish", "finish") for how in ("kill", "kill-after")
                 for at in (1, 2, 3, 4, 5)]:
        shutil.rmtree(folder)
        shutil.copytree(pristine, folder)
        done = kit.firn("compact", *arguments, "--yes", program=kit.FAULTS, expect=(0, 137), environment={"FIRN_FAULT": plan})
        if done.returncode == 0:
            continue
        kit.firn("compact", *arguments, "--yes", "--rewrite-all")
        left = files_below(below) - referenced(where) - hint
        kit.check(not left, f"{plan}: left behind: {sorted(left)}")
        kit.same_rows(kit.read("pyiceberg", where), rows, plan)


try:
    kit.main([("killed_runs_leave_nothing_sql", killed_runs_leave_nothing, "sql"),
              ("killed_runs_leave_nothing_directory", killed_runs_leave_nothing, "directory"), two_catalogs, same_catalog_by_another_path, waits_for_the_other_run,
              ("signal_while_the_catalog_is_locked", signal_while_waiting, "EXCLUSIVE"),
              ("signal_before_the_commit", signal_while_waiting, "IMMEDIATE"),
              ("signal_while_another_run_works", signal_while_waiting, "journal"),
              target_without_limit])
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
