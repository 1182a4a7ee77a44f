"""
Tables and machines at their limits: equality deletes that are broken or whose keys are of rare types, thousands of delete files, folders
that can't be written, and a disk that is full.
"""
import datetime
import decimal
import glob
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
import uuid

import bugkit
import fx_json
import fx_table
import kit
import pyarrow as pa
import pyarrow.parquet as pq
from bugkit import check, equal, firn, firn_json
from fx_deletes import Builder, delete_files, equality, id_field, positions, rows

# --- equality deletes that are broken -------------------------------------------------------------------


def broken(change):
    """A table with a data file and an equality delete file of which `change(record)` breaks something."""
    build = Builder()
    build.commit(build.table.data(rows(0, 6)))
    record = equality(build.table, [1, 4])
    change(record)
    build.commit(record)
    return build.save()


def errors(table, *options):
    done = firn("verify", *table.arguments, "--json", *options, expect=(0, 8))
    found = [f for f in json.loads(done.stdout)["findings"] if f["severity"] != "note"]
    check((done.returncode == 8) == bool(found), f"exit {done.returncode} with {found}")
    check(all(f["advice"] for f in found), "a finding without advice")
    return found


def rows_stay(table):
    """Neither verb takes such a table: nothing is committed, and nothing is left behind."""
    files = table.all_files()  # a commit would add some
    for verb in (["compact", "--rewrite-all"], ["rewrite-deletes"]):
        done = firn(verb[0], *table.arguments, *verb[1:], "--yes", expect=None)
        check(done.returncode in (1, 3) and "equality" in done.stderr, f"{verb}: exit {done.returncode}: {done.stderr}")
    equal(table.all_files(), files, "files below the table")


def equality_deletes_that_are_broken():
    check(not errors(broken(lambda record: None), "--deep"), "findings in a table that is whole")
    cases = {
        "file missing": (lambda record: os.remove(record["file_path"]), ()),
        "ids of no column": (lambda record: record.update(equality_ids=[77]), ("--deep",)),
        "no ids": (lambda record: record.update(equality_ids=[]), ("--deep",)),
        "ids that the file lacks": (lambda record: record.update(equality_ids=[1, 2]), ("--deep",)),
        "more rows counted": (lambda record: record.update(record_count=3), ()),
        "fewer rows counted": (lambda record: record.update(record_count=1), ()),
        "another size": (lambda record: record.update(file_size_in_bytes=record["file_size_in_bytes"] - 1), ()),
    }
    for what, (change, options) in cases.items():
        table = broken(change)
        path = next(e["data_file"]["file_path"] for e in delete_files(table))
        found = errors(table, *options)
        check(any(path in json.dumps(f) for f in found), f"{what}: {found}")
        print(f"  {what}: {found[0]['message']}")
        if "rows" not in what and "size" not in what:
            rows_stay(table)


def dropped_key_columns_still_delete():
    """A key column may be dropped after the delete was written: its old id still finds it in data files (specification, "Equality Delete Files")."""
    build = Builder()
    build.commit(build.table.data(rows(0, 6)))
    build.commit(equality(build.table, [1, 4]))
    table = build.table
    table.metadata["schemas"].append({"type": "struct", "schema-id": 1, "fields": [f for f in table.fields if f["id"] != 1]})
    table.metadata["current-schema-id"] = 1
    build.save()
    check(not errors(table, "--deep"), "findings in a table that is whole")
    equal(len(firn("scan", *table.arguments, "--json").stdout.splitlines()), 4, "rows")
    check(firn_json("rewrite-deletes", *table.arguments, "--yes")["committed"], "nothing was committed")
    check(all(e["data_file"]["content"] == 1 for e in delete_files(table)), "an equality delete is left")
    equal(len(firn("scan", *table.arguments, "--json").stdout.splitlines()), 4, "rows after rewrite-deletes")


# --- keys of rare types ---------------------------------------------------------------------------------

AT = datetime.datetime(2024, 2, 29, 12, 30, 1, 5)
KEYS = {  # type: (Arrow type, values)
    "timestamp_ns": (pa.timestamp("ns"), [0, 1, -1, 1709209801000000005, 1709209801000000006]),
    "timestamptz_ns": (pa.timestamp("ns", "UTC"), [0, 1, -1, 1709209801000000005, 1709209801000000006]),
    "timestamp": (pa.timestamp("us"), [AT, AT + datetime.timedelta(microseconds=1), datetime.datetime(1969, 12, 31, 23, 59, 59)]),
    "time": (pa.time64("us"), [datetime.time(0), datetime.time(23, 59, 59, 999999), datetime.time(12)]),
    "uuid": (pa.binary(16), [uuid.UUID(int=n).bytes for n in (0, 1, 1 << 127, (1 << 128) - 1)]),
    "fixed[5]": (pa.binary(5), [b"\0\0\0\0\0", b"\0\0\0\0\1", b"\xff\xff\xff\xff\xff", b"abcde"]),
    "binary": (pa.binary(), [b"", b"\0", b"\0\0", b"\xff", b"abc"]),
    "decimal(4,1)": (pa.decimal128(4, 1), [decimal.Decimal(t) for t in ("0.0", "-0.1", "999.9", "-999.9")]),
    "decimal(15,3)": (pa.decimal128(15, 3), [decimal.Decimal(t) for t in ("0.000", "-0.001", "123456789012.345")]),
    "decimal(38,6)": (pa.decimal128(38, 6), [decimal.Decimal(t) for t in ("0.000000", "-1.000000", "9" * 32 + ".999999")]),
}


def key_table(kind):
    """Rows with each value and null, twice over two files; an equality delete of every second value and one of null."""
    arrow, values = KEYS[kind]
    table = fx_table.Table(3, [fx_json.field(1, "id", "long"), fx_json.field(2, "k", kind)])
    fields = [id_field("id", pa.int64(), 1, True), id_field("k", arrow, 2, True)]
    count, made = itertools.count(), []
    content = [[{"id": next(count), "k": value} for value in [*values, None]] for _ in range(2)]
    for part in content:
        path = table.fresh("data", ".parquet")
        pq.write_table(pa.Table.from_pylist(part, schema=pa.schema(fields)), path, store_schema=False)
        made.append(table.entry(table.file(path, part), status=0, sequence_number=1, file_sequence_number=1))
    size = sum(map(len, content))
    data = table.manifest(made, listed={"first_row_id": 0})
    table.snapshot([data], **{"first-row-id": 0, "added-rows": size})
    table.metadata["next-row-id"] = size
    gone = [*values[::2], None]
    path = table.fresh("data", "-equality.parquet")
    pq.write_table(pa.table({"k": pa.array(gone, arrow)}, schema=pa.schema(fields[1:])), path, store_schema=False)
    deletes = {"content": 2, "file_path": path, "file_format": "PARQUET", "partition": [], "record_count": len(gone),
               "file_size_in_bytes": os.path.getsize(path), "equality_ids": [2]}
    table.snapshot([data, table.manifest([table.entry(deletes, status=0, sequence_number=2, file_sequence_number=2)],
                                         content="deletes")], **{"first-row-id": size, "added-rows": 0})
    table.save()
    return table, [row["id"] for part in content for row in part if row["k"] not in gone]


def shown(table):
    return sorted(json.loads(line)["id"] for line in firn("scan", *table.arguments, "--json", "--columns", "id").stdout.splitlines())


def equality_keys_of_every_type():
    for kind in KEYS:
        for verb in (["rewrite-deletes"], ["compact", "--rewrite-all", "--verify"]):
            table, wanted = key_table(kind)
            equal(shown(table), wanted, f"{kind}: rows before")
            check(firn_json(verb[0], *table.arguments, *verb[1:], "--yes")["committed"], f"{kind}: nothing was committed")
            check(all(e["data_file"]["content"] != 2 for e in table.live_entries()), f"{kind}: an equality delete is left")
            equal(shown(table), wanted, f"{kind}: rows after {verb[0]}")
            if verb[0] == "compact":
                paths = [e["data_file"]["file_path"] for e in table.live_entries() if not e["data_file"].get("content")]
                equal(sorted(i for p in paths for i in pq.read_table(p, columns=["id"])["id"].to_pylist()), wanted, f"{kind}: by PyArrow")


# --- thousands of delete files --------------------------------------------------------------------------

MANY = 2000


def thousands_of_delete_files():
    """2,000 position delete files, of one data file each and of several, within a minute or so."""
    build = Builder()
    table = build.table
    data = [table.data(rows(1000 * n, 100)) for n in range(40)]
    build.commit(*data)
    files, dead = [], set()
    for n in range(MANY):
        at = n % 40
        pairs = [(data[at]["file_path"], n // 40)]
        if n % 2:  # for several data files as far as can be told without reading it
            pairs.append((data[at - 1]["file_path"], n // 40))
        dead |= {(path, position) for path, position in pairs}
        files.append(positions(table, sorted(pairs)))
    build.commit(*files)
    build.save()
    places = {file["file_path"]: 1000 * n for n, file in enumerate(data)}
    gone = {places[path] + position for path, position in dead}
    wanted = [row["id"] for row in table.rows if row["id"] not in gone]
    copy = shutil.copytree(table.folder, table.folder + "-copy")
    took = {}
    for verb in (["compact"], ["rewrite-deletes"]):
        started = time.monotonic()
        check(firn_json(*verb, *table.arguments, "--yes")["committed"], f"{verb}: nothing was committed")
        took[verb[0]] = time.monotonic() - started
        equal(shown(table), wanted, f"rows after {verb}")
        check(len(delete_files(table)) <= 1, f"{len(delete_files(table))} delete files are left")
        check(not firn_json(*verb, *table.arguments, "--yes")["committed"], f"the second {verb} finds something to do")
        shutil.rmtree(table.folder)
        shutil.copytree(copy, table.folder)
    print(f"  {MANY} position delete files: " + ", ".join(f"{verb} {seconds:.1f} s" for verb, seconds in took.items()))
    check(max(took.values()) < 120, f"{took}")


# --- where nothing can be written -----------------------------------------------------------------------


def mounted(folder, size):
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True, check=False)
    return done.returncode == 0


def a_full_disk():
    """
    Every file may be the one that does not fit. The table lies on a file system of its own, whose free space is taken away bit by bit; where none
    can be mounted, a limit on the size of files does the same to the larger ones.
    """
    table = fx_table.Table(2)
    table.fill(8, rows=400)
    table.save()
    content = table.folder + "-content"
    os.rename(table.folder, content)
    os.makedirs(table.folder)
    if not mounted(table.folder, "4m"):
        print("  no file system can be mounted here: only the size of files is limited")
        shutil.rmtree(table.folder)
        shutil.copytree(content, table.folder)
        text = outcome_with_small_files(table)
        check("too large" in text.lower(), text)
        return
    try:
        shutil.copytree(content, table.folder, dirs_exist_ok=True)
        failed = 0
        for free in (0, 4096, 8192, 16384, 32768):
            filler = os.path.join(table.folder, "filler")
            space = os.statvfs(table.folder)
            with open(filler, "wb") as file:
                file.write(bytes(max(0, space.f_bavail * space.f_frsize - free)))
            before, files = shown(table), table.all_files()
            done = firn("compact", *table.arguments, "--yes", expect=(0, 1))
            if done.returncode == 0:
                break
            failed += 1
            # SQLite has words of its own.
            check("No space left" in done.stderr or "disk is full" in done.stderr, done.stderr)
            check(table.folder in done.stderr, done.stderr)
            equal(shown(table), before, "rows")
            equal(table.all_files(), files, f"files with {free} bytes free")
            os.unlink(filler)
        check(failed >= 2, f"only {failed} runs met the full disk")
        for path in glob.glob(os.path.join(table.folder, "filler")):
            os.unlink(path)
        firn_json("compact", *table.arguments, "--yes")
        equal(shown(table), sorted(row["id"] for row in table.rows), "rows in the end")
        print(f"  {failed} runs met the full disk")
    finally:
        subprocess.run(["umount", table.folder], check=True)


def outcome_with_small_files(table):
    import resource
    import signal

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
    before, files = shown(table), table.all_files()
    done = subprocess.run([kit.FIRN, "compact", *table.arguments, "--yes"], preexec_fn=limit, capture_output=True, text=True,
                          check=False)
    check(done.returncode == 1, f"exit {done.returncode}: {done.stderr}")
    equal(shown(table), before, "rows")
    equal(table.all_files(), files, "files")
    return done.stderr


def read_only_folders():
    """Data, metadata, catalog or journal in folders that can't be written: said by name, nothing is changed. Root may write everywhere, so another user runs."""
    folder = tempfile.mkdtemp(prefix="firn-read-only-", dir="/tmp")
    os.chmod(folder, 0o755)
    program = shutil.copy(kit.FIRN, folder)
    nobody = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    state = os.path.join(folder, "state")
    os.mkdir(state)

    def start(*words, state=state):
        return subprocess.run([program, *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "FIRN_STATE_DIR": state, "HOME": folder}, **nobody)

    def run(table, *verb, state=state):
        return start(verb[0], *table.arguments, *verb[1:], state=state)

    def lay(locked):
        """A table that the other user owns but for what is locked."""
        table = fx_table.Table(2)
        table.fill(6)
        table.save()
        for base, _, names in [*os.walk(table.folder), (state, [], [])]:
            for path in [base, *(os.path.join(base, name) for name in names)]:
                if nobody:
                    os.chown(path, 65534, 65534)
        for part in locked:
            os.chmod(os.path.join(table.folder, part), 0o555)
        for above in (fx_table.ROOT,):
            os.chmod(above, 0o755)
        return table

    try:
        check(run(lay([]), "compact", "--yes").returncode == 0, "a table that can be written")
        for part in ("t/data", "t/metadata"):
            table = lay([part])
            files = table.all_files()
            done = run(table, "compact", "--yes")
            check(done.returncode == 1 and os.path.join(table.folder, part) in done.stderr and "ermission denied" in done.stderr,
                  f"{part}: exit {done.returncode}: {done.stderr}")
            equal(table.all_files(), files, f"{part}: files")
            equal(shown(table), sorted(row["id"] for row in table.rows), "rows")
            check(run(table, "compact").returncode == 0, "a preview needs to write nothing")
            check(run(table, "verify").returncode == 0, "verify needs to write nothing")
        table = lay([])
        os.chmod(table.folder, 0o555)
        done = run(table, "compact", "--yes")
        check(done.returncode == 1 and "must be writable by this user" in done.stderr, f"catalog: exit {done.returncode}: {done.stderr}")
        os.chmod(table.folder, 0o755)
        unreadable = os.path.join(table.folder, "unreadable.db")
        with open(unreadable, "wb"):
            os.chmod(unreadable, 0)
        done = start("tables", "--catalog", unreadable)
        check(done.returncode == 1 and "unreadable.db can't be opened: Permission denied" in done.stderr, f"catalog: exit {done.returncode}: {done.stderr}")
        os.chmod(state, 0o555)
        done = run(table, "compact", "--yes", state=os.path.join(state, "below"))
        check(done.returncode == 1 and "FIRN_STATE_DIR" in done.stderr, f"state: exit {done.returncode}: {done.stderr}")
    finally:
        os.chmod(state, 0o755)
        shutil.rmtree(folder, ignore_errors=True)


bugkit.main([equality_deletes_that_are_broken, dropped_key_columns_still_delete, equality_keys_of_every_type,
             thousands_of_delete_files, a_full_disk, read_only_folders])
