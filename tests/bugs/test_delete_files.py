"""Public reports about delete files: which of them are in force, which are dangling, and what rewriting them must leave as it was."""
import json
import os
import re
import subprocess
import time

import bugkit
import fx_json
import fx_table
import kit
import pyarrow as pa
import pyarrow.parquet as pq
from bugkit import check, equal, firn_json, refused
from fx_deletes import PATH_ID, Builder, bounds, delete_files, equality, id_field, ids, positions, rows
from fx_json import field


def act(verb, table, *options):
    """The preview, then the run; both must agree; a second run finds nothing. Returns the run's report."""
    preview = firn_json(verb, *table.arguments, *options)
    report = firn_json(verb, *table.arguments, "--yes", *options)
    equal(preview["plan"], report["plan"], f"{verb}: preview and run")
    check(not firn_json(verb, *table.arguments, "--yes", *options)["committed"], f"{verb}: the second run acts")
    return report


def operation(table):
    document = table.current()
    return next(s for s in document["snapshots"] if s["snapshot-id"] == document["current-snapshot-id"])["summary"][
        "operation"]


def dangling(table):
    report = act("remove-dangling-deletes", table)
    if report["committed"]:
        equal(operation(table), "replace", "the operation")
    return [os.path.basename(file["location"]) for file in report["plan"]["files"]]


def base(file):
    return os.path.basename(file["file_path"])


def report_96_equal_numbers():
    """Report 96, apache/iceberg#4127: an equality delete has nothing to say to files of its own number; one older file keeps it."""
    for keep in (False, True):
        build = Builder()
        old, new = build.table.data(rows(0, 5)), build.table.data(rows(10, 5))
        build.commit(old)
        deletes = equality(build.table, [1, 12])
        build.commit(deletes)
        build.commit(new, remove=() if keep else (old["file_path"],), numbers={new["file_path"]: 2})
        table = build.save()
        before = ids(table)
        equal(dangling(table), [] if keep else [base(deletes)], f"dangling, old file kept: {keep}")
        equal(ids(table), before, "rows")
        check(12 in before and (1 not in before), f"rows {before}")


def report_96_position_delete_of_the_same_number():
    """A position delete applies to files of its own number, too."""
    build = Builder()
    data = build.table.data(rows(0, 5))
    build.commit(data, positions(build.table, [(data["file_path"], 3)]))
    table = build.save()
    equal(dangling(table), [], "dangling")
    equal(ids(table), [0, 1, 2, 4], "rows")


def report_100_dangling_position_deletes():
    """Report 100, apache/iceberg#17203: file-scoped ones by metadata, others by reading them; cut bounds prove nothing."""
    build = Builder()
    live, gone = build.table.data(rows(0, 10)), build.table.data(rows(100, 10), oracle=False)
    build.commit(live, gone)
    lives, goes = live["file_path"], gone["file_path"]
    named = positions(build.table, [(goes, 1)], referenced_data_file=goes)
    by_bounds = positions(build.table, [(goes, 2)], **bounds(goes))
    many_dead = positions(build.table, [(goes, 3), (goes + "x", 1)])
    many_live = positions(build.table, [(lives, 4), (goes, 4)])
    cut = positions(build.table, [(lives, 5)], **bounds(lives[:16]))
    behind = positions(build.table, [(lives, 1000)])
    build.commit(named, by_bounds, many_dead, many_live, cut, behind)
    build.commit(remove=(goes,))
    table = build.save()
    # PyIceberg takes equal bounds for whole paths.
    before = ids(table, pyiceberg=False)
    equal(before, [0, 1, 2, 3, 6, 7, 8, 9], "rows before")
    equal(sorted(dangling(table)), sorted(base(f) for f in (named, by_bounds, many_dead, behind)), "dangling")
    equal(ids(table, pyiceberg=False), before, "rows")
    equal(sorted(base(e["data_file"]) for e in delete_files(table)), sorted([base(many_live), base(cut)]), "what stays")


def report_107_a_shared_delete_file_stays():
    """Report 107, trinodb/trino#24086: a delete file for A and B is needed for B when A is rewritten."""
    build = Builder()
    a, b = build.table.data(rows(0, 5)), build.table.data(rows(10, 5))
    build.commit(a, b)
    shared = positions(build.table, [(a["file_path"], 1), (b["file_path"], 1)])
    build.commit(shared)
    new = build.table.data([{"id": i, "name": "a"} for i in (0, 2, 3, 4)], oracle=False)
    build.commit(new, remove=(a["file_path"],))
    table = build.save()
    equal(dangling(table), [], "dangling")
    equal(ids(table), [0, 2, 3, 4, 10, 12, 13, 14], "rows")


def report_115_several_files_for_several_files():
    """Report 115, ClickHouse PR#105888: by path exactly, the union of positions, in whatever order they stand."""
    for granularity in (None, "partition", "file"):
        build = Builder({"write.delete.granularity": granularity} if granularity else None)
        a, b = build.table.data(rows(0, 10)), build.table.data(rows(10, 10))
        build.commit(a, b)
        evens = [(f["file_path"], p) for f in (b, a) for p in (8, 6, 4, 2, 0)]
        threes = [(f["file_path"], p) for p, f in ((0, a), (3, a), (6, a), (9, a), (2, b), (5, b), (8, b))]
        build.commit(positions(build.table, evens))
        build.commit(positions(build.table, threes))
        table = build.save()
        wanted = [1, 5, 7, 11, 13, 17, 19]
        equal(ids(table), wanted, "rows before")
        report = act("rewrite-deletes", table)
        equal(ids(table), wanted, "rows after")
        equal(operation(table), "replace", "the operation of a change of position deletes alone")
        written = delete_files(table)
        equal(len(written), 2 if granularity == "file" else 1, f"delete files, granularity {granularity}")
        equal(report["result"]["deleted_rows"], 13, "deleted rows")
        equal({e["sequence_number"] for e in written}, {3}, "the number is that of the newest delete")
        paths = sorted([a["file_path"], b["file_path"]])
        for entry in written:
            file = entry["data_file"]
            low, high = ({m["key"]: m["value"] for m in file[side]}[PATH_ID].decode()
                         for side in ("lower_bounds", "upper_bounds"))
            if granularity == "file":
                equal((low, high), (file["referenced_data_file"], file["referenced_data_file"]), "bounds of one path")
            else:
                equal([low, high], paths, "whole bounds")
                equal(file["referenced_data_file"], None, "of several files")


def report_116_bounds_that_lie():
    """Report 116, ClickHouse#118113: inverted bounds, and bounds cut to a prefix, keep a delete file in force."""
    for low, high in (("z", "a"), ("/tmp", "/tmq"), ("/tmp", "/tmp")):
        build = Builder()
        data = build.table.data(rows(0, 6))
        build.commit(data)
        build.commit(positions(build.table, [(data["file_path"], 2)], **bounds(low, high)),
                     positions(build.table, [(data["file_path"], 4)], **bounds(low, high)))
        table = build.save()
        equal(dangling(table), [], f"dangling with bounds {low} {high}")
        act("rewrite-deletes", table)
        equal(ids(table), [0, 1, 3, 5], f"rows with bounds {low} {high}")
        equal(len(delete_files(table)), 1, "delete files")


def report_117_the_spelling_of_a_path():
    """Report 117, apache/doris#67544: what is written is the data file's path as its manifest has it."""
    build = Builder()
    data = build.table.data(rows(0, 6))
    data["file_path"] = "file://" + data["file_path"]
    bare = data["file_path"].removeprefix("file://")
    build.commit(data)
    build.commit(positions(build.table, [(data["file_path"], 1)]), positions(build.table, [(bare, 3)]))
    table = build.save()
    act("rewrite-deletes", table)
    [entry] = delete_files(table)
    content = pq.read_table(fx_table.strip(entry["data_file"]["file_path"])).to_pylist()
    equal([(row["file_path"], row["pos"]) for row in content], [(data["file_path"], 1), (data["file_path"], 3)], "rows")
    equal(ids(table), [0, 2, 4, 5], "rows")


def equality_deletes_become_positions():
    """Global and partitioned ones, older and newer files; the change is an overwrite, so that other writers see new deletes."""
    spec = [fx_json.spec_field(2, "name")]
    build = Builder(spec=spec)
    a, b = build.table.data(rows(0, 5, "a"), ["a"]), build.table.data(rows(0, 5, "b"), ["b"])
    build.commit(a, b)
    build.commit(equality(build.table, [1, 3], ["a"]))
    late = build.table.data(rows(1, 3, "a"), ["a"])
    build.commit(late)
    build.commit(positions(build.table, [(late["file_path"], 2)], ["a"]))
    table = build.save()
    report = act("rewrite-deletes", table)
    equal(operation(table), "overwrite", "the operation")
    equal(report["result"]["removed_equality_delete_files"], 1, "equality deletes removed")
    equal(ids(table), sorted([0, 2, 4, 0, 1, 2, 3, 4, 1, 2]), "rows")
    equal([g["selected"] for g in report["plan"]["groups"]], [True, False], "only partition a")
    [entry] = delete_files(table)
    equal(entry["sequence_number"], 4, "the number")
    equal(entry["data_file"]["partition"], {"name": "a"}, "the partition")


def nothing_to_gain():
    """One position delete file in a partition, no deletes at all, no snapshot at all: nothing is written."""
    build = Builder()
    data = build.table.data(rows(0, 6))
    build.commit(data)
    build.commit(positions(build.table, [(data["file_path"], 1)]))
    for table in (build.save(), Builder().save()):
        before = table.current_path()
        for verb in ("rewrite-deletes", "remove-dangling-deletes"):
            check(not firn_json(verb, *table.arguments, "--yes")["committed"], f"{verb} wrote something")
        equal(table.current_path(), before, "metadata")


def refused_by_name():
    """Equality deletes by a floating-point column are refused, by rewriting; nothing is written."""
    table_fields = (*fx_json.DEFAULT_FIELDS, field(3, "score", "double"))
    build = Builder()
    build.table = fx_table.Table(2, fields=table_fields)
    build.commit(build.table.data([{"id": 1, "name": "a", "score": 0.5}]))
    path = build.table.fresh("data", "-equality.parquet")
    pq.write_table(pa.table({"score": [0.5]}, schema=pa.schema([id_field("score", pa.float64(), 3, True)])), path,
                   store_schema=False)
    build.commit({"content": 2, "file_path": path, "file_format": "PARQUET", "partition": [], "record_count": 1,
                  "file_size_in_bytes": os.path.getsize(path), "equality_ids": [3]})
    table = build.save()
    files = table.all_files()
    bugkit.refused("rewrite-deletes", *table.arguments, "--yes", code=3, words=["score"])
    equal(table.all_files(), files, "files")


# Other writers in between

def between(build, verb, change):
    """Runs the verb; while it writes its first file, `change` commits. Returns the report."""
    table = build.save()
    ready, go = (os.path.join(table.folder, name) for name in ("ready", "go"))
    env = {**os.environ, "FIRN_FAULT": "run:1:create",
           "FIRN_FAULT_COMMAND": f"touch {ready}; while [ ! -e {go} ]; do sleep 0.02; done"}
    with subprocess.Popen([kit.FAULTS, verb, *table.arguments, "--yes", "--json"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        while not os.path.exists(ready) and run.poll() is None:
            time.sleep(0.01)
        check(run.poll() is None, f"{verb} did not write: {run.poll()}")
        change(build)
        build.save()
        with open(go, "w", encoding="utf-8"):
            pass
        out, err = run.communicate(timeout=60)
    equal((run.returncode, err), (0, ""), f"{verb} beside another writer: {out}")
    return json.loads(out)


def two_deletes(version=2):
    """A file of ten rows with an equality delete and two position deletes."""
    build = Builder(version=version)
    data = build.table.data(rows(0, 10))
    build.commit(data)
    build.commit(equality(build.table, [1, 2]))
    build.commit(positions(build.table, [(data["file_path"], 3)]), positions(build.table, [(data["file_path"], 4)]))
    return build, data


def leftovers(table):
    """Data and delete files by firn that nothing refers to."""
    named = {fx_table.strip(e["data_file"]["file_path"]) for e in table.live_entries()}
    ours = re.compile(r"/\d{5}-00000000-0000-0000-")  # what the test itself wrote
    return [f for f in table.all_files() - named if f.endswith((".parquet", ".puffin")) and not ours.search(f)]


def beside_an_append():
    """New rows that the removed deletes don't reach: the change is committed on top of them, and does not hold for them."""
    for version in (2, 3):
        build, _ = two_deletes(version)
        report = between(build, "rewrite-deletes", lambda b: b.commit(b.table.data(rows(0, 3))))
        check(report["committed"], "it was to commit")
        equal(report["result"]["deleted_rows"], 4, "deleted rows")
        equal(ids(build.table, version < 3), sorted([0, 5, 6, 7, 8, 9, 0, 1, 2]), "rows")
        equal(len(delete_files(build.table)), 1, "delete files")


def beside_a_file_within_reach():
    """A rewrite that began before the equality delete brings a file with an old number: its rows must be deleted, too."""
    for version in (2, 3):
        build, data = two_deletes(version)

        def rewritten(b, data=data):
            new = b.table.data(rows(0, 10), oracle=False)
            new["record_count"] = 10
            b.commit(new, remove=(data["file_path"],), numbers={new["file_path"]: 1})

        report = between(build, "rewrite-deletes", rewritten)
        check(report["committed"], "it was to commit")
        equal(report["result"]["deleted_rows"], 2, "deleted rows")
        equal(ids(build.table, version < 3), [0, 3, 4, 5, 6, 7, 8, 9], "rows")
        equal(leftovers(build.table), [], "left behind")


def beside_new_position_deletes():
    """In format 2 they add up; in format 3 the new vector would hide them, so that all is merged anew."""
    for version in (2, 3):
        build, data = two_deletes(version)
        report = between(build, "rewrite-deletes",
                         lambda b, data=data: b.commit(positions(b.table, [(data["file_path"], 9)])))
        check(report["committed"], "it was to commit")
        equal(ids(build.table, version < 3), [0, 5, 6, 7, 8], "rows")
        equal(len(delete_files(build.table)), 2 if version == 2 else 1, "delete files")
        equal(leftovers(build.table), [], "left behind")


def beside_one_that_does_the_same():
    """The deletes are gone already: there is nothing left to do, and nothing is left behind."""
    build, data = two_deletes()

    def another(b):
        merged = positions(b.table, [(data["file_path"], p) for p in (1, 2, 3, 4)])
        b.commit(merged, remove=[e["data_file"]["file_path"] for w, e in b.live if w == "deletes"])

    report = between(build, "rewrite-deletes", another)
    check(not report["committed"], "there was nothing left to do")
    equal(ids(build.table), [0, 5, 6, 7, 8, 9], "rows")
    equal(leftovers(build.table), [], "left behind")


def a_dangling_delete_comes_to_life():
    """An equality delete without an older file gets one while it is being removed: it stays."""
    build = Builder()
    build.commit(equality(build.table, [1]), equality(build.table, [7]))
    other = build.table.data(rows(20, 3))
    build.commit(other)
    report = between(build, "remove-dangling-deletes",
                     lambda b: (lambda new: b.commit(new, numbers={new["file_path"]: 0}))(b.table.data(rows(0, 3))))
    check(not report["committed"], "both deletes were to stay")
    equal(ids(build.table), [0, 2, 20, 21, 22], "rows")


def a_manifest_that_counts_too_few_rows():
    """A deleted row behind the manifest's last one would live again once its delete was replaced: an error, nothing is changed."""
    for version, count, what in [(v, c, w) for v in (2, 3) for c in (0, 4) for w in ("positions", "equality")]:
        build = Builder(version=version)
        data = build.table.data(rows(0, 5), record_count=count)
        build.commit(data)
        for n in (3, 4):
            build.commit(positions(build.table, [(data["file_path"], n)]) if what == "positions" else equality(build.table, [n]))
        table = build.save()
        before = table.current_path()
        for verb in ("rewrite-deletes", "compact"):
            refused(verb, *table.arguments, "--yes", *(["--rewrite-all"] if verb == "compact" else []),
                    words=[f"the manifest counts {count} rows", base(data)])
        equal(table.current_path(), before, "the table stands as it stood")


def a_data_file_that_is_live_twice():
    """An equality delete takes the older entry's row only; positions would take both: an error, nothing is changed."""
    for version in (2, 3):
        build = Builder(version=version)
        data = build.table.data(rows(0, 5))
        build.commit(data)
        build.commit(equality(build.table, [3]))
        build.commit(equality(build.table, [4]), dict(data))
        table = build.save()
        before = table.current_path()
        refused("rewrite-deletes", *table.arguments, "--yes", words=["is live twice", base(data)])
        equal(table.current_path(), before, "the table stands as it stood")


def a_compaction_after_another_one():
    """Another host compacts at one of the first reads, so before the journal is locked, too: what there is to do then is nothing."""
    for read in range(1, 9):
        build = Builder(spec=[fx_json.spec_field(2, "name")])
        build.commit(*(build.table.data(rows(10 * i, 3), ["a"]) for i in range(6)),
                     build.table.data(rows(900, 3, "b"), ["b"]))
        table = build.save()
        other = f"FIRN_FAULT= FIRN_STATE_DIR={table.folder}/other {kit.FIRN} compact {table.name} --catalog {table.database} --yes"
        done = subprocess.run([kit.FAULTS, "compact", *table.arguments, "--yes"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "FIRN_FAULT": f"run:{read}:read", "FIRN_FAULT_COMMAND": f"{other} >/dev/null"})
        equal((done.returncode, done.stderr), (0, ""), f"another compaction at read {read}")
        equal(len(table.live_entries()), 2, "data files")
        equal(len(ids(table)), 21, "rows")


bugkit.main([a_compaction_after_another_one, a_data_file_that_is_live_twice, a_manifest_that_counts_too_few_rows, report_96_equal_numbers, report_96_position_delete_of_the_same_number, report_100_dangling_position_deletes,
             report_107_a_shared_delete_file_stays, report_115_several_files_for_several_files,
             report_116_bounds_that_lie, report_117_the_spelling_of_a_path, equality_deletes_become_positions,
             nothing_to_gain, refused_by_name, beside_an_append, beside_a_file_within_reach,
             beside_new_position_deletes, beside_one_that_does_the_same, a_dangling_delete_comes_to_life])
