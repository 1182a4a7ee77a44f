"""
`firn sync` while calls fail, runs are killed, others commit and the source changes: afterwards no file is in twice and none is
missing, the rows are the source's, the journal is empty, nothing is left behind, and `firn verify` has nothing to say.

FIRN_FAULT_STEP=N plays every N-th call only. The tables and the source are laid back before each run.
"""
import os
import shutil
import signal
import subprocess
import sys
import time

import lakekit
import kit
import pyarrow as pa
from lakekit import Lake, check, equal

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

STEP = int(os.environ.get("FIRN_FAULT_STEP", "1"))
ALLOCATION_STEP = int(os.environ.get("FIRN_ALLOCATION_STEP", "7"))
SCHEMA = pa.schema([("k", pa.int32()), ("n", pa.int64())])
HEAD = ("--ref", "main")  # older snapshots name files that are replaced or gone, which verify says by right


class Source(Lake):
    """k=<k>/<name>.parquet, of one row each, followed as a folder; or with units by a manifest."""

    def __init__(self, files=4, units=False):
        super().__init__()
        self.units = units
        self.counts = {}
        for i in range(files):
            self.add(i)
        if units:
            self.options += ["--manifest", self.manifest, "--unit-folder", self.source + "/k={unit}", "--batch", "1"]
        else:
            self.options += [self.source]

    @property
    def manifest(self):
        return os.path.join(self.folder, "manifest.csv")

    def add(self, number, rows=1):
        k = number % 2 if not self.units else number
        path = self.write(f"k={k}/{number}.parquet", [{"k": k, "n": number * 100 + r} for r in range(rows)], SCHEMA)
        self.counts[k] = self.counts.get(k, 0) + rows
        if self.units:
            with open(self.manifest, "w", encoding="ascii") as file:
                file.write("unit,rows\n" + "".join(f"{u},{c}\n" for u, c in self.counts.items()))
        return path

    def replace(self, number, rows=2):
        """Another file under the same name, surely newer."""
        k = number % 2 if not self.units else number
        path = self.write(f"k={k}/{number}.parquet", [{"k": k, "n": 9000 + number * 10 + r} for r in range(rows)], SCHEMA)
        os.utime(path, ns=(time.time_ns(), time.time_ns() + 2_000_000_000))
        return path

    def unharmed(self, what):
        """After a fault: whatever is there is whole, each file once."""
        if self.pointer():
            live = sorted(self.live())
            check(set(live) <= set(self.files()), f"{what}: files that the source has not: {live}")
            equal(self.by_pyiceberg(), self.oracle(live), f"{what}: rows")

    def recovers(self, what):
        done = self.sync(expect=None)
        equal(done.code, 0, f"{what}, the next run: {done.error}")
        equal(sorted(self.live()), self.files(), f"{what}: live files after the next run")
        equal(self.by_pyiceberg(), self.oracle(self.files()), f"{what}: rows after the next run")
        self.tidy()


def cases():
    """(what, a lake that has something to do): the first sync, one that goes on, units in batches, a change of schema."""
    yield "first", Source()
    later = Source()
    later.sync()
    later.add(4)
    later.add(5)
    yield "later", later
    units = Source(2, units=True)
    units.sync()
    units.add(2)
    units.add(3)
    yield "units", units
    evolves = Source()
    evolves.sync()
    evolves.write("k=1/x.parquet", [{"k": 1, "n": 5, "fresh": "a"}])
    yield "evolves", evolves


def sweep(kind, operation=None, each=5):
    suffix = f":{operation}" if operation else ""
    for name, lake in cases():
        restore = lakekit.copy_of(lake)
        for number in range(1, 3000, STEP):
            restore()
            run = lake.sync("--threads", "1", "--retries", "0", program=kit.FAULTS, expect=None,
                            environment={"FIRN_FAULT": f"{kind}:{number}{suffix}"})
            what = f"{name}: {kind} at call {number}{suffix} (exit {run.code})"
            lake.unharmed(what)
            if run.code == 0 and not run.document.get("bad"):
                if sorted(lake.live()) == lake.files() and played_out(lake, restore, number, operation):
                    check(number > 1, f"{what}: no fault was played")
                    break
                continue
            check(run.code in ((137,) if kind.startswith("kill") else (1, 2, 3, 5, 7)), f"{what}: {run.error}")
            if number % each == 1:
                lake.recovers(what)
        else:
            raise kit.Failed(f"{name}: {kind}: no end")


def played_out(lake, restore, number, operation):
    """Whether an undisturbed run makes fewer calls than `number`: then there is nothing left to disturb."""
    if not hasattr(lake, "calls"):
        restore()
        _, calls = lakekit.trace(lake, "sync", "--threads", "1", "--retries", "0")
        lake.calls = calls
    return number > sum(operation in (None, c[0]) for c in lake.calls)


def test_killed_before_each_call():
    """A power cut before each call that reads or writes."""
    sweep("kill")


def test_killed_after_each_call():
    """The same after each."""
    sweep("kill-after")


def test_each_call_fails():
    """Each call fails without effect."""
    sweep("fail")


def test_each_answer_is_lost():
    """Each call has its effect, and then fails: commits too."""
    sweep("fail-after")


def test_each_write_is_cut_short():
    """A full disk at each write."""
    sweep("short", "write", each=2)


def test_each_allocation_fails():
    """Memory is out at each (seventh) allocation: exit 1 or 7, and nothing half done."""
    lake = Source(2)
    restore = lakekit.copy_of(lake)
    for number in range(1, 1000000, ALLOCATION_STEP * max(1, STEP)):
        restore()
        run = lake.sync("--threads", "1", program=kit.FAULTS, expect=None, environment={"FIRN_FAIL_ALLOC": str(number)})
        what = f"allocation {number} fails (exit {run.code})"
        if run.code == 0:
            check(number > 1, f"{what}: nothing failed")
            return
        check(run.code in (1, 7), f"{what}: {run.error}")
        if lake.pointer():
            lake.unharmed(what)


def test_lost_answers_of_commits():
    """The commit landed, its answer did not: exit 0 with each file once, or 7 with everything kept."""
    for number in range(1, 9):
        lake = Source(3, units=True)
        run = lake.sync(program=kit.FAULTS, expect=None, environment={"FIRN_FAULT": f"fail-after:{number}:catalog"})
        check(run.code in (0, 1, 5, 7), f"exit {run.code}: {run.error}")
        lake.unharmed(f"call {number}")
        lake.recovers(f"call {number}")
        lake.whole()


# Several at once


def start(lake, state, *options, program=None, environment=None):
    return subprocess.Popen([program or kit.FIRN, "sync", lake.name, "--catalog", lake.database, "--yes", *lake.options, *options],
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "FIRN_STATE_DIR": state, **(environment or {})})


def test_two_syncs_at_once():
    """Two processes on one table, of one host and of two, its creation included: one of them does it, nobody doubles anything."""
    for hosts in (1, 2):
        for there in (False, True):
            for _ in range(3):
                lake = Source(8, units=True)
                if there:
                    lake.sync("--limit", "2")
                runners = [start(lake, lake.state if hosts == 1 else f"{lake.state}{i}") for i in range(2)]
                for runner in runners:
                    error = runner.communicate(timeout=300)[1]
                    check(runner.returncode in (0, 5), f"hosts {hosts}: exit {runner.returncode}: {error}")
                check(0 in [r.returncode for r in runners] or hosts == 2, f"hosts {hosts}: {[r.returncode for r in runners]}")
                lake.unharmed(f"hosts {hosts}")
                lake.recovers(f"hosts {hosts}")
                lake.whole(duckdb=False)


def between(lake, number, operation, command, *options, state=None):
    """A sync in whose midst a shell command runs."""
    lake.watch = False
    return lake.sync(*options, program=kit.FAULTS, expect=None, environment={
        "FIRN_FAULT": f"run:{number}:{operation}" if operation else f"run:{number}", "FIRN_FAULT_COMMAND": command})


def test_another_sync_comes_between_at_each_step():
    """A sync of another host does all the work in the midst of ours, before each of our calls: nothing is in twice."""
    for there in (False, True):
        lake = Source(3)
        if there:
            lake.sync()
            lake.add(3)
            lake.add(4)
        restore = lakekit.copy_of(lake)
        _, calls = lakekit.trace(lake, "sync", "--threads", "1")
        for number in range(1, len(calls) + 1, max(STEP, 2)):
            if calls[number - 1][0] == "catalog":
                continue  # ours has the catalog then, and theirs would wait for it
            restore()
            other = f"env -u FIRN_FAULT FIRN_STATE_DIR={lake.folder}/other {kit.FIRN} sync {lake.name} --catalog {lake.database} --yes " \
                    f"{' '.join(lake.options)} >&2 || [ $? = 5 ]"
            run = between(lake, number, None, other, "--threads", "1")
            what = f"another sync before {calls[number - 1]} (exit {run.code})"
            check(run.code in (0, 5), f"{what}: {run.error}")
            lake.unharmed(what)
            lake.recovers(what)


def test_another_writer_comes_between():
    """PyIceberg's append, a property, a new column and a delete, before our first file is written: ours goes on from theirs."""
    script = os.path.join(lakekit.fx_table.ROOT, "other.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("""
import sys
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import StringType
what, database, name, table = sys.argv[1:]
t = SqlCatalog(name, uri="sqlite:///" + database).load_table(table)
if what == "append":
    t.append(pa.table({"k": pa.array([7], pa.int32()), "n": pa.array([7], pa.int64())}))
if what == "property":
    with t.transaction() as x:
        x.set_properties({"owner": "me"})
if what == "column":
    with t.update_schema() as u:
        u.add_column("later", StringType())
if what == "delete":
    t.delete("n == 0")
""")
    for what in ("append", "property", "column", "delete"):
        lake = Source()
        lake.sync()
        name = lakekit.catalog_name(lake.database)
        lake.add(4)
        run = between(lake, 1, "create", f"env -u FIRN_FAULT {sys.executable} {script} {what} {lake.database} {name} {lake.name} >&2")
        equal(run.code, 0, f"{what}: {run.error}")
        equal(run["files"]["added"], 1, f"{what}: files")
        wanted = {"append": [0, 7, 100, 200, 300, 400], "delete": [100, 200, 300, 400]}.get(what, [0, 100, 200, 300, 400])
        equal(sorted(row["n"] for row in lake.by_pyiceberg()), wanted, f"{what}: rows")
        equal(lake.sync()["commits"], [], f"{what}: another run")
        lake.run("verify", lake.name, "--catalog", lake.database)


# A source that changes meanwhile


def test_a_file_changes_between_listing_and_footer():
    """Replaced, grown, cut off or gone between being listed and being read: never with rows that its bytes don't have."""
    changes = {"replaced": "cp {new} {path}", "grown": "head -c 100 /dev/zero >> {path}", "cut": "truncate -s 30 {path}", "gone": "rm {path}"}
    for change, command in changes.items():
        for operation, number in (("open", 1), ("read", 1), ("create", 1), ("catalog", 1)):
            lake = Source(3)
            path = lake.path("k=0/0.parquet")
            new = os.path.join(lake.folder, "new.parquet")
            lakekit.pq.write_table(pa.table({"k": pa.array([0] * 50, pa.int32()), "n": pa.array(range(50), pa.int64())}), new)
            run = between(lake, number, operation, command.format(new=new, path=path))
            what = f"{change} before {operation} (exit {run.code})"
            check(run.code in (0, 1, 3, 5, 6), f"{what}: {run.error}")
            if lake.pointer() and path in lake.live() and os.path.exists(path):
                record = lake.live()[path]
                if record["file_size_in_bytes"] == os.path.getsize(path):
                    equal(record["record_count"], lakekit.pq.ParquetFile(path).metadata.num_rows, f"{what}: rows")
                else:
                    # It was read before the change: the next run must notice.
                    check(operation in ("create", "catalog"), f"{what}: registered with another size")
                    lake.sync(expect=3).says("0.parquet")
            # With the source at rest again the table follows it.
            lake.sync("--on-replaced", "overwrite", "--on-missing", "delete", "--skip-bad", expect=(0, 6))
            equal(sorted(set(lake.live()) - {path}), sorted(set(lake.files()) - {path}), f"{what}: live files")
            if change == "replaced":
                equal(lake.file("0.parquet")["record_count"], 50, f"{what}: rows in the end")
            if change == "gone":
                check(path not in lake.live(), f"{what}: it is still live")


# Policies


def synced(units=False):
    lake = Source(4, units=units)
    lake.sync()
    return lake


def test_a_replaced_file_is_an_error():
    """--on-replaced error, the default: named with what differs, exit 3, nothing done, new files neither."""
    for options in ((), ("--on-replaced", "error")):
        lake = synced()
        lake.replace(0)
        lake.add(4)
        run = lake.refused("sync", *options, words=["0.parquet"])
        equal(run.names("replaced"), ["0.parquet"], "replaced")
        check(run["replaced"][0]["reason"], "a reason")


def test_a_file_that_was_touched():
    """The same size and another time: it may be another file; it is told apart from what is surely the same."""
    lake = synced()
    path = lake.path("k=0/0.parquet")
    os.utime(path, ns=(1, 1))
    run = lake.sync(expect=(0, 3))
    if run.code == 3:
        equal(run.names("replaced"), ["0.parquet"], "replaced")


def test_a_replaced_file_is_reported():
    """--on-replaced report: named, and everything else goes on."""
    lake = synced()
    lake.replace(0)
    lake.add(4)
    run = lake.sync("--on-replaced", "report")
    equal((run.names("replaced"), run["replaced"][0]["done"], run["files"]["added"]), (["0.parquet"], "reported", 1), "report")
    equal(len(lake.live()), 5, "live files")
    equal(lake.sync("--on-replaced", "report").names("replaced"), ["0.parquet"], "it is reported again")


def test_a_replaced_file_is_overwritten():
    """--on-replaced overwrite: the old entry goes and the new one comes in one commit; the snapshots that saw other bytes are told."""
    lake = synced()
    old = lake.metadata()["current-snapshot-id"]
    lake.replace(0)
    run = lake.sync("--on-replaced", "overwrite")
    equal((run.names("replaced"), run["replaced"][0]["done"]), (["0.parquet"], "overwritten"), "report")
    equal(lake.file("0.parquet")["record_count"], 2, "rows of the new entry")
    equal(len(lake.metadata()["snapshots"]), 2, "snapshots")
    equal(lake.metadata()["snapshots"][-1]["summary"]["operation"], "overwrite", "operation")
    run.says(str(old))
    lake.whole(verify=HEAD)
    equal(lake.sync()["commits"], [], "another run")


def test_a_replaced_file_is_deleted():
    """--on-replaced delete: the old rows go, and the new file is not added by this run."""
    lake = synced()
    lake.replace(0)
    run = lake.sync("--on-replaced", "delete")
    equal(run["replaced"][0]["done"], "deleted", "report")
    check(lake.path("k=0/0.parquet") not in lake.live() or lake.file("0.parquet")["record_count"] == 2, "the old rows are still there")
    check(not any(row["n"] == 0 for row in lake.by_pyiceberg()), "old rows")
    lake.run("verify", lake.name, "--catalog", lake.database, *HEAD)


def test_a_missing_file_is_an_error():
    """--on-missing error, the default: named, exit 3, nothing done."""
    for options in ((), ("--on-missing", "error")):
        lake = synced()
        os.unlink(lake.path("k=0/0.parquet"))
        lake.add(4)
        run = lake.refused("sync", *options, words=["0.parquet"])
        equal(run.names("missing"), ["0.parquet"], "missing")


def test_a_missing_file_is_reported():
    """--on-missing report: named, and everything else goes on."""
    lake = synced()
    os.unlink(lake.path("k=0/0.parquet"))
    lake.add(4)
    run = lake.sync("--on-missing", "report")
    equal((run.names("missing"), run["missing"][0]["done"], run["files"]["added"]), (["0.parquet"], "reported", 1), "report")
    equal(len(lake.live()), 5, "live files")


def test_a_missing_file_is_deleted():
    """--on-missing delete: its entry leaves the table in a commit; when it comes back it is new."""
    lake = synced()
    os.unlink(lake.path("k=0/0.parquet"))
    lake.add(4)
    run = lake.sync("--on-missing", "delete")
    equal((run.names("missing"), run["missing"][0]["done"]), (["0.parquet"], "deleted"), "report")
    lake.whole(verify=HEAD)
    equal(lake.sync()["commits"], [], "another run")
    lake.add(0)
    equal(lake.sync()["files"]["added"], 1, "the file is back")
    lake.whole(verify=HEAD)


def test_sources_that_are_not_whole_miss_nothing():
    """Standard input and single files say nothing about what is gone; a folder does; register never minds."""
    lake = synced()
    path = lake.path("k=1/1.parquet")
    os.unlink(lake.path("k=0/0.parquet"))
    lake.options = lake.options[:2]
    equal(lake.sync(path)["missing"], [], "a single file")
    equal(lake.sync("--from", "-", stdin=path + "\n")["missing"], [], "standard input")
    equal(lake.register(lake.source)["missing"], [], "register")
    equal(lake.sync(lake.source, expect=3).names("missing"), ["0.parquet"], "the folder")


def test_a_vanished_unit():
    """A unit that the manifest names no more."""
    lake = synced(units=True)
    with open(lake.manifest, "w", encoding="ascii") as file:
        file.write("unit,rows\n1,1\n2,1\n3,1\n")
    run = lake.refused("sync", words=["0.parquet"])
    equal([f["unit"] for f in run["missing"]], ["0"], "missing units")
    lake.sync("--on-missing", "delete")
    equal(sorted(lake.live()), lake.files()[1:], "live files")


def compacted():
    lake = synced()
    lake.act("compact", "--rewrite-all")
    check(not set(lake.live()) & set(lake.files()), "the files were not compacted")
    return lake


def test_compaction_does_not_bring_files_back():
    """Files that were compacted are no more live, and not new either."""
    lake = compacted()
    rows = lake.by_pyiceberg()
    run = lake.sync()
    equal((run["commits"], run["files"]["known"], run["files"]["new"]), ([], 4, 0), "a sync afterwards")
    lake.add(4)
    equal(lake.sync()["files"]["added"], 1, "a new file")
    equal(len(lake.by_pyiceberg()), len(rows) + 1, "rows")


def test_compacted_files_that_change_are_named():
    """A replaced or missing file whose rows were compacted can't be taken out again: named, exit 3, whatever the policy."""
    for policy in ("overwrite", "delete"):
        lake = compacted()
        lake.replace(0)
        run = lake.refused("sync", "--on-replaced", policy, words=["0.parquet"])
        equal(run.names("replaced"), ["0.parquet"], "replaced")
    lake = compacted()
    os.unlink(lake.path("k=0/0.parquet"))
    run = lake.refused("sync", "--on-missing", "delete", words=["0.parquet"])
    equal(run.names("missing"), ["0.parquet"], "missing")


def test_deleted_rows_do_not_come_back():
    """Rows, and whole files, that PyIceberg deleted stay deleted."""
    lake = synced()
    lake.table().delete("k == 1")
    equal(sorted(lake.live()), [lake.path("k=0/0.parquet"), lake.path("k=0/2.parquet")], "live files")
    equal(lake.sync()["commits"], [], "a sync afterwards")
    equal([row["n"] for row in lake.by_pyiceberg()], [0, 200], "rows")


def test_a_rollback_makes_files_pending_again():
    """Entries of snapshots that main has lost are pending: the next sync adds these files again, once."""
    lake = synced()
    first = lake.metadata()["current-snapshot-id"]
    lake.add(4)
    lake.add(5)
    lake.sync()
    lake.table().manage_snapshots().set_current_snapshot(snapshot_id=first).commit()
    equal(len(lake.live()), 4, "files after the rollback")
    run = lake.sync()
    equal((run["files"]["rolled_back"], run["files"]["added"]), (2, 2), "files")
    lake.whole()
    equal(lake.sync()["commits"], [], "another run")


def segments(lake):
    return sorted(set(lakekit.ledger_segments(lake.properties()[lakekit.LEDGER], lake.location)))


def test_a_lost_ledger_stops_the_sync():
    """A segment is gone, or damaged, or the property was dropped with its summaries: exit 4, and --rebuild-ledger is named."""
    for harm in ("gone", "damaged", "empty"):
        lake = synced()
        lake.add(4)
        path = segments(lake)[0]
        data = open(path, "rb").read()
        if harm == "gone":
            os.unlink(path)
        else:
            with open(path, "wb") as file:
                file.write(b"" if harm == "empty" else data[:len(data) // 2])
        lake.refused("sync", code=4, words=["--rebuild-ledger"])
        equal(len(lake.live()), 4, "live files")
        run = lake.sync("--rebuild-ledger")
        equal((run["files"]["known"], run["files"]["added"]), (4, 1), f"{harm}: files after rebuilding")
        equal(sorted(lake.live()), lake.files(), "live files")
        equal(lake.by_pyiceberg(), lake.oracle(lake.files()), "rows")
        equal(lake.sync()["commits"], [], "another run")


def test_a_dropped_property_is_found_in_summaries():
    """A program that drops properties it doesn't know takes nothing away: the snapshot's summary has the same text."""
    lake = synced()
    table = lake.table()
    with table.transaction() as transaction:
        transaction.remove_properties(lakekit.LEDGER)
    check(lakekit.LEDGER not in lake.properties(), "the property is still there")
    lake.add(4)
    equal(lake.sync()["files"]["added"], 1, "files")
    lake.whole()


def test_a_ledger_is_not_rebuilt_from_expired_history():
    """Where snapshots were expired the table can't tell what it was given once: exit 4."""
    lake = synced()
    lake.table().delete("k == 1")
    table = lake.table()
    first = table.metadata.snapshots[0].snapshot_id
    table.maintenance.expire_snapshots().by_id(first).commit()
    for path in segments(lake):
        os.unlink(path)
    lake.refused("sync", "--rebuild-ledger", code=4)


def test_an_interrupt_ends_cleanly():
    """Ctrl-C at any time: what was committed stays, what was not is removed, the next run goes on."""
    for wait in (0.02, 0.05, 0.1, 0.2, 0.4):
        lake = Source(30, units=True)
        runner = start(lake, lake.state)
        time.sleep(wait)
        runner.send_signal(signal.SIGINT)
        error = runner.communicate(timeout=60)[1]
        check(runner.returncode in (0, 130, -2), f"exit {runner.returncode}: {error}")
        lake.unharmed(f"interrupt after {wait} s")
        if runner.returncode == 130:
            equal(lakekit.journaled(lake.state), [], "the journal")
        lake.recovers(f"interrupt after {wait} s")
        shutil.rmtree(lake.folder)


if __name__ == "__main__":
    lakekit.main(globals())
