"""`firn verify` on tables that were broken on purpose, one way each, and on the same tables before."""
import datetime
import glob
import json
import os

import bugkit
import fx_json
import fx_parquet
import fx_table
import kit
import pyarrow as pa
import pyarrow.parquet as pq
from bugkit import check, firn
from fx_deletes import Builder, equality, positions
from test_compaction import append, commit, make
from test_compaction import rows as table_rows


def findings(table, *options):
    done = firn("verify", *table.arguments, "--json", *options, expect=(0, 8))
    document = json.loads(done.stdout)
    faults = [f for f in document["findings"] if f["severity"] != "note"]
    check((done.returncode == 8) == bool(faults), f"exit code {done.returncode} with {faults}")
    return document["findings"]


def clean(table):
    found = findings(table) + findings(table, "--deep")
    check(not found, f"a table that is whole: {found}")


def caught(table, kind, words, severity="error", options=()):
    found = findings(table, *options)
    hits = [f for f in found if f["kind"] == kind and words in f["message"] and f["severity"] == severity]
    check(hits, f"{kind} '{words}' was not found, but {found}")
    check(all(f["advice"] for f in found), "a finding without advice")
    text = firn("verify", *table.arguments, *options, expect=(0, 8)).stdout
    check(hits[0]["message"] in text and hits[0]["severity"] in text, "text says less than JSON")


def filled(version=2, **more):
    table = fx_table.Table(version, **more)
    table.fill(3)
    table.save()
    return table


def missing_files():
    table = filled()
    clean(table)
    os.remove(table.live_entries()[0]["data_file"]["file_path"])
    caught(table, "missing", "a data file is not there")
    for pattern, what in (("*-m0.avro", "a manifest is not there"), ("*-snap.avro", "a manifest list is not there")):
        table = filled()
        os.remove(glob.glob(table.path("metadata", pattern))[0])
        caught(table, "missing", what)
    table = filled()
    table.metadata["metadata-log"] = [{"timestamp-ms": fx_json.NOW, "metadata-file": table.path("metadata", "gone.json")}]
    table.save()
    caught(table, "missing", "a metadata file of the log is not there", "warning")
    table.metadata["metadata-log"] = []
    table.metadata["statistics"] = [{"snapshot-id": table.metadata["current-snapshot-id"], "statistics-path": table.path("metadata", "x.stats"),
                                     "file-size-in-bytes": 10, "file-footer-size-in-bytes": 5, "blob-metadata": []}]
    table.save()
    caught(table, "missing", "a statistics file is not there", "warning")
    with open(table.path("metadata", "x.stats"), "wb") as file:
        file.write(b"12345678901")
    caught(table, "size", "a statistics file has 11 bytes, and 10 are recorded", "warning")


def files_of_every_snapshot():
    table = fx_table.Table()
    old = table.data([{"id": 1, "name": "a"}])
    table.snapshot([table.manifest([table.entry(old)])])
    table.snapshot([table.manifest([table.entry(table.data([{"id": 2, "name": "b"}]))])], operation="overwrite")
    table.save()
    clean(table)
    os.remove(old["file_path"])
    caught(table, "missing", "a data file is not there")
    check(not findings(table, "--ref", "main"), "the file is no part of main")


def sizes_and_rows():
    table = fx_table.Table()
    file = table.data([{"id": 1, "name": "a"}])
    table.snapshot([table.manifest([table.entry({**file, "file_size_in_bytes": 7})])])
    table.save()
    caught(table, "size", "and 7 are recorded")
    table = fx_table.Table()
    file = table.data([{"id": 1, "name": "a"}])
    table.snapshot([table.manifest([table.entry({**file, "record_count": 5})])])
    table.save()
    caught(table, "rows", "it has 1 row, and its manifest counts 5")
    table = filled()
    path = table.live_entries()[0]["data_file"]["file_path"]
    size = os.path.getsize(path)
    with open(path, "r+b") as whole:
        whole.truncate(size - 4)
        whole.seek(0, 2)
        whole.write(b"XXXX")
    caught(table, "footer", "")


def counts():
    for key, words in (("added_files_count", "counts 2 added files, and it has 1"), ("added_rows_count", "counts 2 added rows, and it has 1"),
                       ("existing_files_count", "counts 2 existing files, and it has 0"), ("deleted_rows_count", "counts 2 deleted rows, and it has 0")):
        table = fx_table.Table()
        table.snapshot([table.manifest([table.entry(table.data([{"id": 1, "name": "a"}]))], listed={key: 2})])
        table.save()
        caught(table, "counts", words)
    table = filled()
    table.metadata["snapshots"][-1]["summary"]["total-records"] = "12345"
    table.save()
    caught(table, "summary", "total-records 12345, and it is 9", "warning")


def summaries():
    spec = [fx_json.spec_field(2, "name")]

    def made(value, summary):
        table = fx_table.Table(spec=spec)
        file = table.data([{"id": 1, "name": value}], [value])
        table.snapshot([table.manifest([table.entry(file)], listed={"partitions": [summary]})])
        table.save()
        return table

    whole = {"contains_null": False, "contains_nan": False, "lower_bound": b"a", "upper_bound": b"c"}
    clean(made("b", whole))
    caught(made("d", whole), "summaries", "lies outside the bounds")
    caught(made("A", whole), "summaries", "lies outside the bounds")
    caught(made(None, whole), "summaries", "a partition value is null")


def bounds():
    def made(lower, upper):
        table = fx_table.Table()
        file = table.data([{"id": 5, "name": "m"}, {"id": 9, "name": "n"}], lower_bounds=[{"key": 1, "value": lower.to_bytes(8, "little")}],
                          upper_bounds=[{"key": 1, "value": upper.to_bytes(8, "little")}])
        table.snapshot([table.manifest([table.entry(file)])])
        table.save()
        return table

    clean(made(5, 9))
    clean(made(1, 20))
    caught(made(6, 9), "bounds", "lower bound of column id leaves out values")
    caught(made(5, 8), "bounds", "upper bound of column id leaves out values")


def bounds_of_files_without_field_ids():
    """Files of a lake have no field ids: the table's name mapping says which column is which."""
    mapping = [{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["title", "name"]}, {"field-id": 3, "names": ["in"], "fields": [
        {"field-id": 4, "names": ["x"]}]}]
    fields = [*fx_json.DEFAULT_FIELDS, fx_json.field(3, "in", {"type": "struct", "fields": [fx_json.field(4, "x", "int", False)]}, False)]

    def made(upper, name, x, mapping=mapping):
        text = mapping if isinstance(mapping, str) else json.dumps(mapping)
        table = fx_table.Table(fields=fields, properties={"schema.name-mapping.default": text} if mapping else {})
        path = table.path("data", "a.parquet")
        pq.write_table(pa.table({"in": pa.array([{"x": 3}, {"x": 4}], pa.struct([("x", pa.int32())])), "title": ["m", "n"], "id": pa.array([5, 9], pa.int64())}), path)
        rows = [{"id": 5, "name": "m", "in": {"x": 3}}, {"id": 9, "name": "n", "in": {"x": 4}}]
        bounds = [{"key": 1, "value": upper.to_bytes(8, "little")}, {"key": 2, "value": name}, {"key": 4, "value": x.to_bytes(4, "little")}]
        table.snapshot([table.manifest([table.entry(table.file(path, rows, oracle=bool(mapping), upper_bounds=bounds))])])
        table.save()
        return table

    clean(made(9, b"n", 4))
    for options in ((), ("--deep",)):
        caught(made(8, b"n", 4), "bounds", "upper bound of column id leaves out values", options=options)
    caught(made(9, b"m", 4), "bounds", "upper bound of column name leaves out values")
    caught(made(9, b"n", 3), "bounds", "upper bound of column x leaves out values")
    caught(made(9, b"n", 4, "[{]"), "mapping", "schema.name-mapping.default")
    caught(made(8, b"n", 4, None), "unsupported", "the table has no name mapping", "note")


def bounds_beside_a_column_that_cant_be_read():
    """What can't become the table's type is told of, and the other columns are held against the manifest all the same."""
    table = fx_table.Table()
    path = table.path("data", "a.parquet")
    columns = [pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}), pa.field("name", pa.float64(), metadata={"PARQUET:field_id": "2"})]
    pq.write_table(pa.Table.from_arrays([pa.array([5, 9]), pa.array([1.0, 2.0])], schema=pa.schema(columns)), path)
    bounds = [{"key": 1, "value": (8).to_bytes(8, "little")}]
    table.snapshot([table.manifest([table.entry(table.file(path, [{"id": 5}, {"id": 9}], oracle=False, upper_bounds=bounds))])])
    table.save()
    caught(table, "unsupported", "column \"name\"", "note")
    caught(table, "bounds", "upper bound of column id leaves out values")


def bounds_beside_statistics_that_say_nothing():
    """A minimum that is none is no reproach to the manifest where the writer is known for such ones (pola-rs/polars#25817)."""
    def made(created_by):
        def patch(footer):
            footer[6] = fx_parquet.text(created_by)
            for meta in fx_parquet.chunks(fx_parquet.row_groups(footer)[0]):
                if meta[3][1][1] == [b"name"]:
                    meta[12] = (fx_parquet.STRUCT, {3: fx_parquet.i64(0), 5: fx_parquet.text(b"m"), 6: fx_parquet.text(b"a")})

        table = fx_table.Table()
        file = table.data([{"id": 5, "name": "m"}], lower_bounds=[{"key": 2, "value": b"m"}])
        path = fx_table.strip(file["file_path"])
        fx_parquet.patch(path, patch)
        file["file_size_in_bytes"] = os.path.getsize(path)
        table.snapshot([table.manifest([table.entry(file)])])
        table.save()
        return table

    caught(made("parquet-cpp-arrow version 26.0.1"), "bounds", "lower bound of column name leaves out values")
    clean(made("Polars"))


def bounds_of_other_units():
    """Files that others wrote may count milliseconds where the table has microseconds."""
    fields = [fx_json.field(1, "at", "timestamp", False)]
    for rows in ([datetime.datetime(2024, 1, 5), datetime.datetime(2024, 1, 6)], [datetime.datetime(1960, 1, 5), datetime.datetime(1960, 1, 6)]):
        bounds = [[{"key": 1, "value": ((at - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)).to_bytes(8, "little", signed=True)}]
                  for at in rows]
        for unit in ("us", "ms"):
            table = fx_table.Table(fields=fields)
            path = table.path("data", "a.parquet")
            column = pa.field("at", pa.timestamp(unit), metadata={"PARQUET:field_id": "1"})
            pq.write_table(pa.Table.from_arrays([pa.array(rows, pa.timestamp(unit))], schema=pa.schema([column])), path)
            table.snapshot([table.manifest([table.entry(table.file(path, [{"at": at} for at in rows], lower_bounds=bounds[0], upper_bounds=bounds[1]))])])
            table.save()
            clean(table)


def sequence_numbers():
    def made(listed=None, **numbers):
        table = fx_table.Table()
        table.snapshot([table.manifest([table.entry(table.data([{"id": 1, "name": "a"}]), **numbers)], listed=listed)])
        table.save()
        return table

    clean(made())
    caught(made({"min_sequence_number": 0}, status=0, sequence_number=1, file_sequence_number=0), "sequence", "above its file sequence number")
    caught(made({"min_sequence_number": 0}, status=0, sequence_number=1, file_sequence_number=9), "sequence", "above the manifest's sequence number")
    caught(made({"min_sequence_number": 1}, status=0, sequence_number=0, file_sequence_number=1), "sequence", "below min_sequence_number")
    caught(made({"sequence_number": 7}), "sequence", "above the snapshot's 1")
    table = made()
    table.metadata["snapshots"][-1]["sequence-number"] = 9
    table.metadata["last-sequence-number"] = 9
    table.save()
    clean(table)


def duplicates():
    table = fx_table.Table()
    file = table.data([{"id": 1, "name": "a"}])
    table.snapshot([table.manifest([table.entry(file)]), table.manifest([table.entry(file)])])
    table.save()
    caught(table, "duplicate", "is live twice in main")


def row_ids():
    def made(first, second, rows=2):
        table = fx_table.Table(3)
        files = [table.data([{"id": i, "name": "a"}], first_row_id=at) for i, at in enumerate((first, second))]
        table.snapshot([table.manifest([table.entry(f, status=0, sequence_number=1, file_sequence_number=1) for f in files],
                                       listed={"first_row_id": 0})], **{"first-row-id": 0, "added-rows": rows})
        table.metadata["next-row-id"] = 2
        table.save()
        return table

    clean(made(0, 1))
    caught(made(0, 0), "row-ids", "are those of file")
    caught(made(0, 5), "row-ids", "end above next-row-id")


def contents():
    table = filled()
    path = table.live_entries()[0]["data_file"]["file_path"]
    with open(path, "r+b") as file:
        file.seek(6)
        file.write(b"\xff\xff\xff\xff")
    check(not findings(table), "only the values are wrong")
    caught(table, "content", "", options=("--deep",))


def positions_behind_the_last_row():
    """Deletes for ten rows, of which one is for an eleventh: readers take no row for it, so that only --deep looks."""
    for version, kind in ((2, "positions"), (3, "vectors")):
        for last, severity in ((9, None), (10, "warning"), (2**31 - 2, "warning")):
            table = make(version)
            first, second = append(table, table_rows(1, 10), table_rows(101, 10))
            pairs = [(first, [0]), (second, [3, last])]
            commit(table, **{kind: pairs if kind == "vectors" else [[(path, at) for path, places in pairs for at in places]]})
            check(not findings(table), "without --deep")
            if severity is None:
                clean(table)
                continue
            words = f"in main it deletes position {last} of {second}, which has 10 rows"
            for memory in ("1KB", "64MB"):
                caught(table, "positions", words, severity, ("--deep", "--memory", memory))
            check(len(findings(table, "--deep")) == 1, "one finding")
    table = make(2)
    [path] = append(table, table_rows(1, 10))
    commit(table, positions=[[(path, -1)]])
    caught(table, "deletes", "a position below 0", options=("--deep",))


def positions_that_do_not_apply():
    """A position delete for a file that is gone, or was written later, means no row of the table; keys that no row has are no fault."""
    build = Builder()
    old = build.table.data([{"id": i, "name": "a"} for i in range(10)])
    build.commit(old)
    new = build.table.data([{"id": i, "name": "b"} for i in range(10)])
    early = positions(build.table, [(old["file_path"], 3), (new["file_path"], 1000), (old["file_path"] + "x", 1000)])
    build.commit(early, equality(build.table, [5, 1000]))
    build.commit(new)
    clean(build.save())


if __name__ == "__main__":
    bugkit.main([missing_files, files_of_every_snapshot, sizes_and_rows, counts, summaries, bounds, bounds_of_files_without_field_ids,
                 bounds_beside_a_column_that_cant_be_read, bounds_beside_statistics_that_say_nothing, bounds_of_other_units,
                 sequence_numbers, duplicates, row_ids, contents, positions_behind_the_last_row, positions_that_do_not_apply])
