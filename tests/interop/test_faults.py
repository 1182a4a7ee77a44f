"""
A compaction is killed at every call that changes something, each call fails in turn, and each allocation fails in turn:
afterwards the table holds exactly its rows, every live file is there, and the next run works. The order of syncs is checked.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import kit
import tables

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

ROOT = tempfile.mkdtemp(prefix="firn-faults-")
PRISTINE = os.path.join(ROOT, "pristine")
WORK = os.path.join(ROOT, "work")


def prepare():
    """A table in WORK (paths are absolute, so the copy is laid back there each time)."""
    os.makedirs(WORK)
    _, where, arguments = tables.make(WORK, commits=6, rows=20)
    shutil.copytree(WORK, PRISTINE)
    return where, arguments


WHERE, ARGUMENTS = prepare()
ROWS = kit.read("pyiceberg", WHERE)
STATE = os.path.join(ROOT, "state")


def restore():
    shutil.rmtree(WORK)
    shutil.copytree(PRISTINE, WORK)
    shutil.rmtree(STATE, ignore_errors=True)


def run(environment, expect=None):
    env = {"FIRN_STATE_DIR": STATE}
    env.update(environment)
    return kit.firn("compact", *ARGUMENTS, "--yes", "--threads", "1", program=kit.FAULTS, environment=env,
                    expect=expect)


def files():
    return {os.path.join(d, n) for d, _, names in os.walk(os.path.join(WORK, "warehouse")) for n in names}


def committed():
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(kit.rows.strip_scheme(kit.rows.find_metadata(WHERE)))
    return table.current_snapshot().summary.operation.value == "replace"


def check_table(what):
    kit.same_rows(kit.read("pyiceberg", WHERE), ROWS, what)


def check_recovers(what):
    """The next run does the job and leaves no files but those that the table refers to."""
    kit.firn("compact", *ARGUMENTS, "--yes", environment={"FIRN_STATE_DIR": STATE})
    check_table(what + ", after the next run")
    kit.check(committed(), what + ": the next run did not compact")


def sweep(kind, operation=None, limit=1000):
    """Plays a fault at call 1, 2, … until a run is not reached by it. Returns how many calls there were."""
    suffix = f":{operation}" if operation else ""
    for at in range(1, limit, int(os.environ.get("FIRN_FAULT_STEP", "1"))):
        restore()
        before = files()
        done = run({"FIRN_FAULT": f"{kind}:{at}{suffix}"})
        what = f"{kind} at call {at}{suffix} (exit {done.returncode})"
        check_table(what)
        kit.check(before <= files(), f"{what}: files are gone: {sorted(before - files())[:3]}")
        kit.check("AddressSanitizer" not in done.stderr and "runtime error" not in done.stderr,
                  f"{what}: {done.stderr[:2000]}")
        if done.returncode == 0:
            kit.check(at > 1, f"{what}: no fault was played")
            return at - 1
        if kind.startswith("kill"):
            kit.check(done.returncode == 137, f"{what}: {done.stderr}")
        else:
            kit.check(done.returncode in (1, 2, 5, 7), f"{what}: {done.stderr}")
            kit.check("firn:" in done.stderr, f"{what}: no message")
            if done.returncode != 7 and not committed():
                left = files() - before
                kit.check(not left or kind == "fail-after" or operation == "delete" or "delet" in done.stderr,
                          f"{what}: left behind: {sorted(left)[:3]}\n{done.stderr}")
        if at % 7 == 1 or at < 4:
            check_recovers(what)
    raise kit.Failed(f"{kind}: more than {limit} calls")


def kill_before_each_write():
    print("  calls:", sweep("kill"))


def kill_after_each_write():
    print("  calls:", sweep("kill-after"))


def fail_each_call():
    print("  calls:", sweep("fail"))


def fail_each_call_after_it_took_effect():
    print("  calls:", sweep("fail-after"))


def disk_full_at_each_write():
    print("  calls:", sweep("short", "write"))


def fail_each_allocation():
    """In one process a table is loaded by PyIceberg only every so often: the catalog's pointer and the files tell the rest."""
    import sqlite3
    database = os.path.join(WORK, "catalog.db")

    def pointer():
        return sqlite3.connect(database).execute("SELECT metadata_location FROM iceberg_tables").fetchall()

    restore()
    start, before = pointer(), files()
    step = int(os.environ.get("FIRN_ALLOCATION_STEP", "1"))
    at, runs = 1, 0
    while True:
        done = run({"FIRN_FAIL_ALLOC": str(at)})
        runs += 1
        what = f"allocation {at} fails (exit {done.returncode})"
        kit.check("AddressSanitizer" not in done.stderr and "runtime error" not in done.stderr
                  and "LeakSanitizer" not in done.stderr, f"{what}: {done.stderr[:3000]}")
        kit.check(before <= files(), f"{what}: files are gone")
        if pointer() != start:
            check_table(what)
            if done.returncode == 0 and "allocation" not in done.stderr and at > 1000:
                break
            restore()
        else:
            kit.check(done.returncode in (1, 2, 5, 7), f"{what}: {done.stderr}")
            kit.check(files() == before, f"{what}: left behind {sorted(files() - before)[:3]} {done.stderr}")
        at += step
    print(f"  {runs} runs, up to allocation {at}")
    check_table("in the end")


def syncs_come_before_the_pointer():
    """Data files, manifests, manifest list and metadata file are finished (written and synced) before the catalog moves."""
    restore()
    trace = os.path.join(ROOT, "trace")
    run({"FIRN_FAULT_TRACE": trace}, expect=0)
    calls = [line.split(" ", 1) for line in open(trace, encoding="utf-8").read().splitlines()]
    pointer = [i for i, call in enumerate(calls) if call[0] == "catalog"]
    kit.check(pointer, f"the trace has no catalog call: {calls[:5]}")
    finished = {}
    for i, call in enumerate(calls):
        if call[0] == "finish":
            finished[call[1]] = i
    new = {f for f in files()} - {f.replace(PRISTINE, WORK) for f in
                                  (os.path.join(d, n) for d, _, ns in os.walk(PRISTINE) for n in ns)}
    for file in new:
        at = [i for name, i in finished.items() if name.replace("file://", "") == file]
        kit.check(at and at[0] < pointer[0], f"{file} was not finished before the pointer moved")
    check_system_calls()


def check_system_calls():
    """The same, seen from outside where strace is there: an fsync for every new file and its folder before SQLite's write."""
    if shutil.which("strace") is None:
        if os.environ.get("FIRN_CI") == "1":
            raise kit.Failed("strace is missing")
        print("  strace is missing; system calls were not looked at")
        return
    restore()
    log = os.path.join(ROOT, "strace")
    # Leaks are looked for elsewhere; LeakSanitizer can't run under strace.
    options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    env = dict(os.environ, FIRN_STATE_DIR=STATE, ASAN_OPTIONS=options)
    done = subprocess.run(["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,pwrite64,rename,renameat2,link,linkat",
                           "-o", log, kit.FIRN, "compact", *ARGUMENTS, "--yes"], env=env, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise kit.Failed(f"under strace: {done.stderr[:500]}")
    lines = open(log, encoding="utf-8", errors="replace").read().splitlines()
    first = next(i for i, line in enumerate(lines) if "pwrite64" in line and "catalog.db>" in line)
    synced = "\n".join(line for line in lines[:first] if "fsync" in line or "fdatasync" in line)
    for file in kit.live_files(WHERE):
        path = file.replace("file://", "")
        kit.check(path in synced, f"{path} was not synced before the catalog was written")
        kit.check(f"{os.path.dirname(path)}>" in synced, f"the folder of {path} was not synced")


TESTS = [syncs_come_before_the_pointer, kill_before_each_write, kill_after_each_write, fail_each_call,
         fail_each_call_after_it_took_effect, disk_full_at_each_write, fail_each_allocation]
try:
    kit.main(TESTS)
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
