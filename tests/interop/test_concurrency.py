"""
Runs that meet: a table in two catalogs, of which one was left by a kill; a run that waited for another one; and limits that
make everything one file.
"""
import json
import os
import shutil
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
    kit.firn("catalog", "register", "db.second", metadata, "--catalog", os.path.join(folder, "catalog.db"), "--yes")
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


try:
    kit.main([two_catalogs, same_catalog_by_another_path, waits_for_the_other_run, target_without_limit])
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
