"""
Public reports about compactions of tables with deletes, of format v3, and beside other writers. Tables are written by the kit of
tests/histories, whose slow reader says what the rows are.
"""
import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "histories"), os.path.join(HERE, "..", "interop")]

import columns  # noqa: E402
import files  # noqa: E402
import fx_json  # noqa: E402
import model  # noqa: E402
import reader  # noqa: E402
import writer  # noqa: E402

FIELDS = [fx_json.field(1, "id", "long"), fx_json.field(2, "name", "string"), fx_json.field(3, "k", "int")]


def rows(first, count, k=0):
    return [{1: first + i, 2: f"n{first + i}", 3: k} for i in range(count)]


def large(first, count):
    """Rows of which files come out equally large."""
    return [{**row, 2: random.Random(row[1]).randbytes(1500).hex()} for row in rows(first, count)]


def append(table, *groups, merge=False):
    """One commit with a data file for each group of rows."""
    change = table.change()
    for group in groups:
        change.dice = random.Random(4)  # files of one form
        change.add(change.data_file(group, 0, []))
    change.dice = table.dice
    change.commit("append", merge)
    return [e.path for e in table.state().data if e.sequence == table.state().snapshot.get("sequence-number", 0)]


def commit(table, operation="delete", **what):
    """One commit: equality=[(ids, rows)], positions=[[(path, position)]], vectors=[(path, positions)], remove=[path]."""
    change = table.change()
    by_path = {e.path: e for e in change.base.data}
    for ids, found in what.get("equality", ()):
        change.add(change.equality_deletes(ids, found, 0, []))
    for places in what.get("positions", ()):
        change.add(change.position_deletes(places, 0, [], **what.get("more", {})))
    if "vectors" in what:
        change.remove(*(v for p, _ in what["vectors"] if (v := change.base.vector(by_path[p]))))
        change.add(*change.vectors([(by_path[p], positions) for p, positions in what["vectors"]]))
    change.remove(*(by_path[p] for p in what.get("remove", ())))
    change.commit(operation)


# --- what another writer does while a compaction runs -------------------------------------------------


def act_report_95(table):
    commit(table, equality=[([1], [{1: 2}])])
    append(table, rows(4, 1))


def act_report_98(table):
    commit(table, positions=[[(table.state().data[0].path, 1)]])


def act_report_99(table):
    append(table, rows(100 * len(table.state().data), 1))


if __name__ == "__main__" and sys.argv[1:2] == ["--act"]:
    globals()["act_" + sys.argv[2]](writer.Table(sys.argv[3], create=False, seed=int.from_bytes(os.urandom(4), "big")))
    sys.exit(0)

import bugkit  # noqa: E402
import checks  # noqa: E402
import fx_table  # noqa: E402
import kit  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from bugkit import check, equal, firn_json  # noqa: E402


def make(version=2, fields=FIELDS, properties=None):
    folder = tempfile.mkdtemp(dir=fx_table.ROOT)
    return writer.Table(folder, version, fields, seed=3,
                        properties={"commit.retry.min-wait-ms": "1", **(properties or {})})


def lines(table):
    return model.lines_in_files(table.current()[1])


def ids(table):
    return sorted(row.values[1] for row in table.state().rows())


def compact(table, *options, readers=("pyiceberg", "duckdb"), spark=True, **more):
    """Compacts and checks that rows and lineage are what they were, that the books are right, and that outside readers agree."""
    before = lines(table)
    report = firn_json("compact", *table.arguments, "--yes", "--verify", *options, **more)
    if not more:
        kit.same_rows(lines(table), before, "rows after the compaction")
    checks.books(table)
    if kit.SPARK and spark:
        readers = (*readers, "spark", "java")
    if any(d.content == 2 for d in deletes(table)):
        readers = [name for name in readers if name not in ("pyiceberg", "duckdb")]  # they can't be trusted then
    for name in readers:
        kit.check_rows(name, table.where, lines(table), "rows")
    return report


def beside(table, report, times="1"):
    """What makes another writer commit at the compaction's first creation of a file, or at each."""
    command = f"{sys.executable} {os.path.abspath(__file__)} --act {report} {table.folder}"
    return {"program": kit.FAULTS, "environment": {"FIRN_FAULT": f"run:{times}:create", "FIRN_FAULT_COMMAND": command}}


def well_sized(table):
    """The option by which every data file of the table is well sized, so that only deletes are a reason."""
    sizes = [e.file["file_size_in_bytes"] for e in table.state().data]
    check(max(sizes) * 100 < min(sizes) * 150, f"sizes {sizes}")
    return ["--target-file-size-bytes", str(max(sizes))]


def deletes(table):
    return table.state().deletes


def report_95_equality_delete_between_plan_and_commit():
    """Report 95, apache/iceberg#10312: planned at 1, equality delete at 2, append at 3, committed at 4: the row stays deleted."""
    table = make()
    append(table, rows(1, 3))
    report = compact(table, "--rewrite-all", readers=(), **beside(table, "report_95"))
    equal(report["result"]["sequence_number"], 4, "sequence number of the commit")
    equal(ids(table), [1, 3, 4], "rows")
    equal(sorted(e.sequence for e in table.state().data), [1, 3], "data sequence numbers")
    equal(len(deletes(table)), 1, "the delete stays")
    # Nothing keeps it once another compaction has applied it.
    compact(table, "--rewrite-all")
    equal((ids(table), deletes(table)), ([1, 3, 4], []), "after one more")


def report_96_deletes_that_nothing_needs_leave():
    """Report 96, apache/iceberg#4127: with everything rewritten the delete files go; one that another file needs stays."""
    for kind in ("equality", "positions"):
        table = make()
        first, second = append(table, large(1, 40), large(101, 40))
        places = [(first, i) for i in range(20)]
        what = {"equality": [([1], rows(1, 20) + rows(101, 1))]} if kind == "equality" else \
            {"positions": [[*places, (second, 0)]]}
        commit(table, **what)
        report = compact(table, "--rewrite-all")
        equal(deletes(table), [], f"{kind}: everything was rewritten")
        equal(report["result"]["delete_files_removed"], 1, "removed, says the report")
        summary = table.state().snapshot["summary"]
        equal(summary["total-delete-files"], "0", "the summary")
        table = make()
        first, second = append(table, large(1, 40), large(101, 40))
        commit(table, positions=[[(first, i) for i in range(20)]])
        commit(table, **({"equality": [([1], rows(1, 1) + rows(101, 1))]} if kind == "equality" else
                         {"positions": [[(first, 20), (second, 0)]]}))
        shared = [d.path for d in deletes(table) if d.sequence == 3]
        options = well_sized(table)
        report = compact(table, *options)
        equal(report["result"]["input_files"], 1, "only one file is rewritten")
        equal([d.path for d in deletes(table)], shared, f"{kind}: what the other file still needs")
        again = firn_json("compact", *table.arguments, "--yes", *options)
        check(not again["committed"], "a second run finds nothing to do")


def report_98_row_deleted_during_the_rewrite():
    """Report 98, StarRocks PR#77709: a DELETE that commits during a rewrite is looked for from the planned snapshot on."""
    table = make()
    append(table, rows(1, 3), rows(11, 3))
    gone = 2 if table.state().data[0].path == [e.path for e in table.state().data if 1 in [r.values[1] for r in
                                               table.state().rows_of(e)]][0] else 12
    report = compact(table, "--rewrite-all", readers=(), **beside(table, "report_98"))
    equal(ids(table), sorted({1, 2, 3, 11, 12, 13} - {gone}), "rows")
    equal(report["result"]["groups_rebased"], 1, "carried over")
    kit.check_rows("pyiceberg", table.where, lines(table), "rows")


def report_99_appends_all_the_while():
    """Report 99, StarRocks#76955: appends between all attempts; the data is written once, the commit succeeds."""
    table = make(properties={"commit.retry.num-retries": "30"})
    append(table, *(rows(10 * i, 2) for i in range(6)))
    report = compact(table, readers=(), **beside(table, "report_99"))
    equal(report["result"]["groups"], 1, "groups")
    equal(report["result"]["groups_redone"], 0, "nothing is done again")
    check(len(table.state().data) == 2, f"{len(table.state().data)} files: the output and the append")


def report_102_vector_leaves_with_its_file():
    """Report 102, nimtable PR#162: two vectors in one Puffin file, one data file is compacted: one vector goes, the file stays."""
    table = make(3)
    first, second = append(table, large(1, 40), large(101, 40))
    commit(table, vectors=[(first, range(30)), (second, [1])])
    puffin = {d.path for d in deletes(table)}
    equal(len(puffin), 1, "Puffin files")
    compact(table, *well_sized(table))
    left = deletes(table)
    equal([d.referenced for d in left], [second], "the vector that stays")
    equal({d.path for d in left}, puffin, "and its file")
    compact(table, "--rewrite-all")
    equal(deletes(table), [], "vectors when all was rewritten")


def report_103_vectors_are_told_by_offset():
    """Report 103, StarRocks PR#76228: two vectors of one path; both filter rows. A flipped byte is an error."""
    table = make(3)
    first, second = append(table, rows(1, 10), rows(101, 10))
    commit(table, vectors=[(first, [0, 9]), (second, [3, 4])])
    compact(table, "--rewrite-all")
    equal(ids(table), [*range(2, 10), 101, 102, 103, *range(106, 111)], "rows")
    table = make(3)
    [first] = append(table, rows(1, 10))
    commit(table, vectors=[(first, [0, 9])])
    [vector] = deletes(table)
    end = vector.file["content_offset"] + vector.file["content_size_in_bytes"]
    with open(files.strip(vector.path), "r+b") as file:
        file.seek(end - 1)
        byte = file.read(1)[0]
        file.seek(end - 1)
        file.write(bytes([byte ^ 1]))
    bugkit.refused("compact", *table.arguments, "--yes", "--rewrite-all", words=("CRC",))


def report_107_shared_delete_stays():
    """Report 107, trinodb/trino#24086: a delete file of files A and B, A is compacted: it stays, and B stays filtered."""
    table = make()
    first, second = append(table, large(1, 40), large(101, 40))
    commit(table, positions=[sorted([(first, 0), (second, 5)])], more={"bounds": False})
    shared = [d.path for d in deletes(table)]
    commit(table, positions=[[(first, i) for i in range(1, 30)]])
    report = compact(table, *well_sized(table))
    equal(report["result"]["input_files"], 1, "only A is compacted")
    equal([d.path for d in deletes(table)], shared, "the shared delete file")
    compact(table, "--rewrite-all")
    equal(deletes(table), [], "delete files when both were rewritten")
    equal(len(ids(table)), 80 - 31, "rows")


def report_108_row_ids_of_manifests_of_before():
    """Report 108, iceberg-go PR#1295: a v2 manifest in an upgraded table, deleted entries before live ones: ids stay with rows."""
    table = make(2)
    first, _, third = append(table, rows(1, 5), rows(101, 5), rows(201, 5))
    plain = writer.Change.write_manifest
    writer.Change.write_manifest = lambda self, entries, *more: plain(self, entries[::-1], *more)
    try:
        commit(table, "delete", remove=[first])
    finally:
        writer.Change.write_manifest = plain
    _, listed = table.current()[1], reader.manifests(table.state().snapshot)
    statuses = [[e.status for e in reader.entries_of(record)] for record in listed]
    check(any(s[0] == 2 and 0 in s for s in statuses), f"a deleted entry before a live one: {statuses}")
    table.update(lambda m: m.update({"format-version": 3, "next-row-id": 0}))
    append(table, rows(301, 5))
    before = {r.values[1]: (r.row_id, r.updated) for r in table.state().rows()}
    check(len({row_id for row_id, _ in before.values()}) == 15, f"row ids before: {before}")
    compact(table, "--rewrite-all")
    equal({r.values[1]: (r.row_id, r.updated) for r in table.state().rows()}, before, "lineage")


def report_109_lineage_stays_with_rows():
    """Report 109, ClickHouse#119377: rows that a compaction moves keep their row ids and last updates, moved twice as well."""
    table = make(3)
    first, second = append(table, rows(1, 4), rows(101, 4))
    append(table, rows(201, 4))
    commit(table, vectors=[(second, [0])])
    before = {r.values[1]: (r.row_id, r.updated) for r in table.state().rows()}
    for _ in range(2):
        compact(table, "--rewrite-all")
        equal({r.values[1]: (r.row_id, r.updated) for r in table.state().rows()}, before, "lineage")
    check(len(table.state().data) == 1, "one file")
    metadata = table.current()[1]
    check(metadata["next-row-id"] >= 12 + 11, f"next-row-id {metadata['next-row-id']}")


def report_110_sort_order_only_where_it_is_true():
    """Report 110, iceberg-go PR#1184: files of a sort order, joined one after the other, have none; one rewritten alone keeps it."""
    for count in (1, 3):
        table = make()
        table.update(lambda m: m["sort-orders"].append({"order-id": 1, "fields": [
            {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}]}))
        table.update(lambda m: m.update({"default-sort-order-id": 1}))
        change = table.change()
        for i in range(count):
            spec_id, record = change.data_file(rows(10 - i, 5), 0, [])
            change.add((spec_id, {**record, "sort_order_id": 1}))
        change.commit("append")
        commit(table, positions=[[(table.state().data[0].path, 2)]])
        compact(table, "--rewrite-all")
        equal([e.file.get("sort_order_id") for e in table.state().data], [1 if count == 1 else 0], f"{count} inputs")


def report_113_keys_in_the_wider_type():
    """Report 113, apache/doris PR#68267: delete keys are int, the column is long now; 2^32 is no null and no 0."""
    fields = [fx_json.field(1, "id", "int"), fx_json.field(2, "name", "string")]
    table = make(fields=fields)
    append(table, [{1: None, 2: "null"}, {1: 0, 2: "zero"}, {1: 1, 2: "one"}])

    def widen(document):
        schema = json.loads(json.dumps(document["schemas"][0]))
        schema["schema-id"] = 1
        schema["fields"][0]["type"] = "long"
        document["schemas"].append(schema)
        document["current-schema-id"] = 1
    table.update(widen)
    append(table, [{1: 4294967296, 2: "big"}])
    change = table.change()
    change.add(change.equality_deletes([1], [{1: None}], 0, [], fields=[fields[0]]))
    change.commit("delete")
    compact(table, "--rewrite-all", readers=())
    equal(sorted(r.values[2] for r in table.state().rows()), ["big", "one", "zero"], "rows")
    equal(deletes(table), [], "the delete has done its work")


def report_114_null_matches_null_alone():
    """Report 114, StarRocks#67326: the truth table of keys {null, a} and rows {null, a, b}, for one column and two."""
    for keys in ([(None,)], [("a",)], [(None,), ("a",)], [(None, "a")], [("a", None)], [("a", "a")], [(None, None)]):
        table = make(fields=[fx_json.field(1, "id", "long"), fx_json.field(2, "x", "string"), fx_json.field(3, "y", "string")])
        values = [(x, y) for x in (None, "a", "b") for y in (None, "a", "b")]
        append(table, [{1: i, 2: x, 3: y} for i, (x, y) in enumerate(values)])
        width = len(keys[0])
        commit(table, equality=[([2, 3][:width], [dict(zip([2, 3], key)) for key in keys])])
        compact(table, "--rewrite-all", readers=())
        wanted = [i for i, pair in enumerate(values) if pair[:width] not in keys]
        equal(ids(table), wanted, f"keys {keys}")


def report_115_deletes_of_several_files():
    """Report 115, ClickHouse PR#105888: two delete files, each for two data files: evens, then threes."""
    table = make()
    first, second = append(table, rows(0, 10), rows(10, 10))
    places = {i: (first, i) if i < 10 else (second, i - 10) for i in range(20)}
    commit(table, positions=[[places[i] for i in range(18, -1, -2)]])
    commit(table, positions=[[places[i] for i in range(0, 20, 3)]])
    compact(table, "--rewrite-all")
    equal(ids(table), [1, 5, 7, 11, 13, 17, 19], "rows")


def report_116_bounds_that_lie():
    """Report 116, ClickHouse#118113: bounds of file_path the wrong way round, or cut to 16 characters, filter nothing out."""
    for cut in (False, True):
        table = make()
        first, second = append(table, rows(1, 5), rows(101, 5))
        change = table.change()
        spec_id, record = change.position_deletes([(first, 1), (second, 2)], 0, [], bounds=False)
        lower, upper = sorted([first, second])
        if cut:
            lower, upper = lower[:16], upper[:15] + chr(ord(upper[15]) + 1)
        else:
            lower, upper = upper, lower
        record.update({k: [{"key": files.FILE_PATH, "value": v.encode()}]
                       for k, v in (("lower_bounds", lower), ("upper_bounds", upper))})
        change.add((spec_id, record))
        change.commit("delete")
        compact(table, "--rewrite-all", readers=("pyiceberg",))
        equal(ids(table), [1, 3, 4, 5, 101, 102, 104, 105], "rows")


def report_117_paths_spelt_otherwise():
    """Report 117, apache/doris PR#35957: a delete names its file with another spelling of the same place."""
    table = make()
    [path] = append(table, rows(1, 5))
    change = table.change()
    change.add(change.position_deletes([("file://" + files.strip(path), 1)], 0, []))
    change.commit("delete")
    firn_json("compact", *table.arguments, "--yes", "--rewrite-all", "--verify")
    equal(ids(table), [1, 3, 4, 5], "rows")


def report_119_neighbours_in_the_manifest():
    """Report 119, iceberg-rust PR#2203: one of three files of a manifest is compacted; the others stay, as EXISTING entries."""
    table = make()
    first, second, third = append(table, large(1, 40), large(101, 40), large(201, 40))
    commit(table, positions=[[(second, i) for i in range(30)]])
    report = compact(table, *well_sized(table))
    equal(report["result"]["input_files"], 1, "files replaced")
    equal({e.path for e in table.state().data} & {first, second, third}, {first, third}, "files that stay")
    entries = [e for record in reader.manifests(table.state().snapshot) if not record.get("content")
               for e in reader.entries_of(record)]
    equal(sorted((e.path == second, e.status) for e in entries if e.path in (first, second, third)),
          [(False, 0), (False, 0), (True, 2)], "entries")


def report_120_summaries():
    """Report 120, seaweedfs PR#10420: totals follow from the parent's; where that has none, none is guessed."""
    for missing in ((), ("total-records", "total-delete-files"), None):
        table = make()
        [path] = append(table, rows(1, 40))
        commit(table, positions=[[(path, i) for i in range(20)]])

        def edit(document, gone=missing):
            summary = document["snapshots"][-1]["summary"]
            for key in list(summary) if gone is None else gone:
                if key != "operation":
                    summary.pop(key, None)
        table.update(edit)
        compact(table, "--rewrite-all", spark=not missing and missing is not None)  # Spark asks for every total
        summary = table.state().snapshot["summary"]
        equal((summary["added-data-files"], summary["deleted-data-files"], summary["removed-position-delete-files"],
               summary["removed-position-deletes"]), ("1", "1", "1", "20"), "what was changed")
        totals = {"total-records": "20", "total-data-files": "1", "total-delete-files": "0", "total-position-deletes": "0",
                  "total-equality-deletes": "0"}
        wanted = {} if missing is None else {k: v for k, v in totals.items() if k not in missing}
        equal({k: v for k, v in summary.items() if k in totals}, wanted, f"totals, parent without {missing}")


# --- what format v3 adds to types ----------------------------------------------------------------------


def v3_table(kind, parts):
    """A table of (id, v); parts: [(Arrow type of v or None, [values])], a data file each."""
    table = fx_table.Table(3, [fx_json.field(1, "id", "long"), fx_json.field(2, "v", kind)])
    made, count = [], 0
    for arrow, values in parts:
        fields = [pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})]
        if arrow is not None:
            fields.append(pa.field("v", arrow, metadata={"PARQUET:field_id": "2"}))
        content = [{"id": count + i, "v": value} for i, value in enumerate(values)]
        count += len(values)
        path = table.fresh("data", ".parquet")
        pq.write_table(pa.Table.from_pylist([{f.name: row[f.name] for f in fields} for row in content],
                                            schema=pa.schema(fields)), path, store_schema=False)
        made.append(table.file(path, content))
    table.metadata["next-row-id"] = count
    table.snapshot([table.manifest([table.entry(f) for f in made], listed={"first_row_id": 0})],
                   **{"first-row-id": 0, "added-rows": count})
    table.save()
    return table


def moved(table):
    """Compacts; all rows are what they were, with their row ids. Returns the report."""
    report = bugkit.compact(table, rows=False)
    found = fx_table.rows_in(e["data_file"]["file_path"] for e in table.live_entries())
    equal(sorted((row["id"], row["_row_id"], row["v"]) for row in found),
          sorted((row["id"], row["id"], fx_table.plain(row.get("v"))) for row in table.rows), "rows")
    return report


def geospatial_values_are_carried():
    """WKB stays as it is, under the annotation of the table's type."""
    point = bytes.fromhex("0101000000000000000000f03f0000000000000040")
    for kind in ("geometry", "geometry(srid:3857)", "geography(OGC:CRS84, karney)"):
        table = v3_table(kind, [(pa.binary(), [point, None]), (pa.binary(), [None, point]), (None, [None])])
        texts = [{"id": row["id"], "v": None if row["v"] is None else row["v"].hex()} for row in table.rows]
        for when in ("before", "after"):
            found = bugkit.firn("scan", *table.arguments, "--json", "--columns", "id,v").stdout.splitlines()
            equal(sorted(map(json.loads, found), key=lambda row: row["id"]), texts, f"scanned {when}")
            if when == "before":
                moved(table)
        [entry] = table.live_entries()
        text = str(pq.ParquetFile(entry["data_file"]["file_path"]).schema)
        check(("Geography" if "geography" in kind else "Geometry") in text, f"no annotation: {text}")


def variants_stay_shredded_as_they_are():
    """Files that shred a variant in one way become one file; those of different ways are never mixed, and the plan says so."""
    def shredded(kind):
        return pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary()),
                          pa.field("typed_value", kind)])
    items = pa.list_(pa.field("element", pa.struct([pa.field("value", pa.binary()), pa.field("typed_value", pa.int64())]),
                              nullable=False))
    bare = pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary(), nullable=False)])

    def value(raw, typed=None):
        return {"metadata": b"\x01\x00\x00", "value": raw, "typed_value": typed}
    numbers = [value(None, 5), None, value(b"\x00")]
    lists = [value(None, [{"value": b"\x00", "typed_value": None}, {"value": None, "typed_value": 3}]), value(None, []), None]
    plain = [{"metadata": b"\x01\x00\x00", "value": b"\x00"}, None]
    table = v3_table("variant", [(shredded(pa.int64()), numbers), (shredded(pa.string()), [value(None, "x")]),
                                 (shredded(pa.int64()), numbers), (shredded(items), lists), (shredded(items), lists),
                                 (bare, plain), (bare, plain)])
    groups = moved(table)["plan"]["groups"]
    equal(sorted(g["files"] for g in groups), [1, 2, 2, 2], "groups")
    check(all("shred variants alike" in g["reason"] for g in groups), f"reasons: {[g['reason'] for g in groups]}")
    check(not firn_json("compact", *table.arguments, "--yes")["committed"], "a second run finds nothing to do")


TYPES = [geospatial_values_are_carried, variants_stay_shredded_as_they_are]
if __name__ == "__main__":
    bugkit.main(TYPES + [value for name, value in list(globals().items()) if name.startswith("report_")])
