"""`firn audit` on tables that PyIceberg's add_files and hand-made manifests got wrong, and on what --fix makes of them."""
import datetime
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bugs"))

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyiceberg  # noqa: F401
except ImportError as problem:
    print(f"skipped: {problem}")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)

import bugkit  # noqa: E402
import fx_deletes  # noqa: E402
import fx_json  # noqa: E402
import fx_parquet  # noqa: E402
import fx_table  # noqa: E402
from bugkit import check, equal, firn  # noqa: E402

MAPPING = "schema.name-mapping.default"


class Added:
    """A table of PyIceberg's that is given files by add_files; `arguments` as fx_table.Table has them."""

    def __init__(self, schema, spec, properties=None, version="2"):
        import tempfile
        from pyiceberg.catalog.sql import SqlCatalog
        from pyiceberg.transforms import parse_transform
        self.folder = tempfile.mkdtemp(dir=fx_table.ROOT)
        self.database = os.path.join(self.folder, "catalog.db")
        self.arguments = ["db.t", "--catalog", self.database]
        self.catalog = SqlCatalog("c", uri=f"sqlite:///{self.database}", warehouse=f"file://{self.folder}/warehouse")
        self.catalog.create_namespace("db")
        table = self.catalog.create_table("db.t", schema, properties={"format-version": version, **(properties or {})})
        if spec:
            with table.update_spec() as update:
                for column, transform, name in spec:
                    update.add_field(column, parse_transform(transform), name)

    def write(self, name, table, **options):
        path = os.path.join(self.folder, "lake", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pq.write_table(table, path, store_schema=False, **options)
        return path

    def table(self):
        return self.catalog.load_table("db.t")

    def add(self, *paths, **options):
        self.table().add_files([*paths], **options)

    def count(self, where=None):
        table = self.table()
        return (table.scan(row_filter=where) if where else table.scan()).to_arrow().num_rows


def audit(table, *options, code=None):
    done = firn("audit", *table.arguments, "--json", *options, expect=(0, 8))
    document = json.loads(done.stdout)
    faults = [f for f in document["findings"] if f["kind"] != "undecided" and not (document["committed"] and f["fixable"])]
    equal(done.returncode, 8 if faults else 0, f"exit code with {document['findings']}")
    if code is not None:
        equal(done.returncode, code, f"exit code with {document['findings']}")
    return document


def kinds(document):
    return sorted(f["kind"] for f in document["findings"])


def fixed(table, *options, left=()):
    """--fix previews, acts, and leaves nothing but `left`; returns the report."""
    before = audit(table, *options, "--fix")
    check(not before["committed"] and before["preview"], "a preview committed")
    equal(kinds(audit(table, *options)), kinds(before), "a preview changed something")
    report = audit(table, *options, "--fix", "--yes")
    check(report["committed"], f"nothing was committed: {report}")
    after = audit(table, *options)
    equal(kinds(after), sorted(left), "findings of a second run")
    again = audit(table, *options, "--fix", "--yes")
    check(not again["committed"], "a second --fix committed something")
    return report


def day(year, month, number):
    return datetime.datetime(year, month, number)


# --- tables that are right -----------------------------------------------------------------------


def a_right_table():
    table = Added(pa.schema([("k", pa.string()), ("x", pa.float64()), ("t", pa.timestamp("us"))]),
                  [("k", "identity", "k")])
    rows = pa.table({"k": ["a", "a", None, "b"], "x": [1.5, float("nan"), -0.0, None],
                     "t": pa.array([day(2024, 1, 1), day(2024, 1, 31), None, day(1960, 2, 29)], pa.timestamp("us"))})
    table.table().append(rows)
    for options in ((), ("--deep",)):
        document = audit(table, *options, code=0)
        equal(document["findings"], [], "findings")
        equal(document["data_files"], 3, "files")
    check(audit(table, "--deep")["columns_read"] > 0, "no column was read")
    check(not audit(table, "--fix", "--yes")["committed"], "something was committed")
    text = firn("audit", *table.arguments).stdout
    check("Nothing wrong was found" in text, text)
    bugkit.refused("audit", *table.arguments, "--yes", words=("--fix",), code=2)


def an_empty_table():
    table = Added(pa.schema([("k", pa.string())]), [])
    equal(audit(table, code=0)["data_files"], 0, "files")
    # Only the mapping could be written, and nothing asks for it.
    check(not audit(table, "--fix", "--yes")["committed"], "something was committed")


# --- files that are live twice -------------------------------------------------------------------


def the_same_file_twice():
    """Rows 17 and 18: however it is spelled."""
    table = Added(pa.schema([("n", pa.int64())]), [])
    path = table.write("a.parquet", pa.table({"n": [1, 2, 3]}))
    other = table.write("b.parquet", pa.table({"n": [4]}))
    table.add(path, other)
    table.add(f"file://{path}")
    table.add(os.path.join(os.path.dirname(path), ".", "a.parquet"), check_duplicate_files=False)
    equal(table.count(), 10, "rows before")
    document = audit(table, code=8)
    equal(kinds(document), ["duplicate", "duplicate"], "findings")
    equal(document["data_files"], 2, "files")
    report = fixed(table)
    equal(report["result"]["entries_fixed"], 2, "entries")
    equal(table.count(), 4, "rows after")
    equal(table.table().current_snapshot().summary.operation.value, "overwrite", "operation")
    equal([f.path for f in os.scandir(os.path.dirname(path))].count(path), 1, "the file")


def the_same_file_by_way_of_links():
    """Symbolic links of files and folders, and "..", are no second set of the rows; hard links are files of their own."""
    table = Added(pa.schema([("n", pa.int64())]), [])
    path = table.write("d/a.parquet", pa.table({"n": [1, 2, 3]}))
    other = table.write("d/b.parquet", pa.table({"n": [4]}))
    lake = os.path.join(table.folder, "lake")
    os.symlink(path, os.path.join(lake, "link.parquet"))
    os.symlink(os.path.join(lake, "d"), os.path.join(lake, "folder"))
    os.link(other, os.path.join(lake, "d", "hard.parquet"))
    # The links come first: all the same it is the entry of the file's own path that stays.
    table.add(os.path.join(lake, "link.parquet"), os.path.join(lake, "folder", "b.parquet"), os.path.join(lake, "d", "hard.parquet"))
    table.add(path, other, check_duplicate_files=False)
    table.add(os.path.join(lake, "folder", "..", "d", "a.parquet"), f"file:{lake}//folder/../d/b.parquet", check_duplicate_files=False)
    equal(table.count(), 3 * 3 + 3 + 1, "rows before")
    document = audit(table, code=8)
    equal((kinds(document), document["data_files"]), (["duplicate"] * 4, 3), "findings, files")
    check(all("by way of symbolic links" in f["message"] and f["fixable"] for f in document["findings"]), document["findings"])
    fixed(table)
    equal(table.count(), 3 + 1 + 1, "rows after")
    equal(sorted(os.path.relpath(f, lake) for f in table.table().inspect.files()["file_path"].to_pylist()),
          ["d/a.parquet", "d/b.parquet", "d/hard.parquet"], "files after")


def a_link_that_led_elsewhere():
    """The entry by way of the link tells of another file: which of the two is right is not for firn to say."""
    table = Added(pa.schema([("n", pa.int64())]), [])
    old = table.write("old.parquet", pa.table({"n": [1, 2, 3]}))
    new = table.write("new.parquet", pa.table({"n": list(range(1000))}))
    link = os.path.join(table.folder, "lake", "latest.parquet")
    os.symlink(old, link)
    table.add(link)
    os.remove(link)
    os.symlink(new, link)
    table.add(new)
    document = audit(table, "--fix", "--yes", code=8)
    doubles = [f for f in document["findings"] if f["kind"] == "duplicate"]
    equal([f["fixable"] for f in doubles], [False], "fixable")
    check("a link may have led elsewhere" in doubles[0]["message"], doubles)


def doubled_with_deletes():
    """The oldest entry stays: the deletes that came between apply to it."""
    builder = fx_deletes.Builder()
    table = builder.table
    file = table.data(fx_deletes.rows(1, 4))
    builder.commit(file)
    builder.commit(fx_deletes.positions(table, [(file["file_path"], 0)]))
    builder.commit(file)
    builder.commit(fx_deletes.positions(table, [(file["file_path"], 3)]))
    builder.save()
    fixed(table)
    equal(fx_deletes.ids(table), [2, 3], "rows after")


def doubled_in_two_partitions():
    """Deletes of one partition only: taking the other entry away would bring rows back."""
    spec = [fx_json.spec_field(2, "name")]
    builder = fx_deletes.Builder(spec=spec)
    table = builder.table
    file = table.data(fx_deletes.rows(1, 4, "a"), ["a"])
    builder.commit(file)
    builder.commit({**file, "partition": ["b"]})
    builder.commit(fx_deletes.positions(table, [(file["file_path"], 0)], ["b"]))
    builder.save()
    document = audit(table, code=8)
    equal([(f["kind"], f["fixable"]) for f in document["findings"]], [("duplicate", False)], "findings")
    check(not audit(table, "--fix", "--yes", code=8)["committed"], "it was committed")


# --- partitions ----------------------------------------------------------------------------------


def nulls_and_a_value():
    """P1: a file with NULL and 'A' is registered as 'A'; IS NULL then misses rows."""
    table = Added(pa.schema([("k", pa.string()), ("n", pa.int64())]), [("k", "identity", "k")])
    table.add(table.write("a.parquet", pa.table({"k": ["A", None, "A"], "n": [1, 2, 3]})))
    document = audit(table, code=8)
    equal([(f["kind"], f["fixable"]) for f in document["findings"]], [("partition", False)], "findings")
    check("null" in document["findings"][0]["message"] and "A" in document["findings"][0]["message"], document)
    check(not audit(table, "--fix", "--yes", code=8)["committed"], "it was committed")


def no_statistics():
    """P2: without statistics the partition becomes NULL; filters by value miss all rows."""
    from pyiceberg.expressions import EqualTo
    table = Added(pa.schema([("k", pa.string()), ("n", pa.int64())]), [("k", "identity", "k")])
    table.add(table.write("a.parquet", pa.table({"k": ["A", "A"], "n": [1, 2]}), write_statistics=False))
    equal(table.count(EqualTo("k", "A")), 0, "rows that a filter finds before")
    equal(set(kinds(audit(table, code=0))), {"undecided"}, "findings of the footer")
    equal(kinds(audit(table, "--deep", code=8)), ["partition"], "findings of the column")
    fixed(table, "--deep")
    equal(table.count(EqualTo("k", "A")), 2, "rows that a filter finds after")
    equal(table.count(), 2, "rows after")
    equal(table.table().current_snapshot().summary.operation.value, "replace", "operation")


def a_bucket_that_is_none():
    """Rows 10 and 11: a bucket number that the rows don't have, in range or not."""
    for wrong in (999, 2):
        spec = [fx_json.spec_field(1, "id_bucket", "bucket[4]")]
        table = fx_table.Table(spec=spec)
        table.snapshot([table.manifest([table.entry(table.data([{"id": 34, "name": "a"}], [wrong]))])])
        table.save()
        document = audit(table, code=8)
        equal(kinds(document), ["partition"], "findings")
        fixed(table)
        # The specification's test value: bucket of 34 is (hash 2017239379) mod 4.
        equal([e["data_file"]["partition"]["id_bucket"] for e in table.live_entries()], [2017239379 % 4], "the bucket")
        equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")


def transforms_of_time():
    spec = [fx_json.spec_field(1, "y", "year", 1000), fx_json.spec_field(1, "m", "month", 1001),
            fx_json.spec_field(1, "v", "void", 1002)]
    fields = (fx_json.field(1, "t", "timestamp"), fx_json.field(2, "name", "string"))
    table = fx_table.Table(fields=fields, spec=spec)
    rows = [{"t": day(2024, 3, 1), "name": "a"}, {"t": day(2024, 3, 31), "name": "b"}]
    table.snapshot([table.manifest([table.entry(table.data(rows, [54, 649, None])), table.entry(table.data(rows, [54, 650, None]))])])
    table.save()
    document = audit(table, code=8)
    equal(kinds(document), ["partition"], "findings")
    check('"m"' in document["findings"][0]["message"] and "2024-02" in document["findings"][0]["message"], document)
    fixed(table)


def columns_that_only_paths_have():
    """An identity partition gives a column its value where files lack it."""
    spec = [fx_json.spec_field(2, "name")]
    table = fx_table.Table(spec=spec)
    file = table.data([{"id": 1}], ["anything"], fields=table.fields[:1])
    table.snapshot([table.manifest([table.entry(file)])])
    table.save()
    equal(audit(table, "--deep", code=0)["findings"], [], "findings")


def deletes_that_go_by_partition():
    """The file can't move: its deletes would stay behind, or others begin to apply."""
    spec = [fx_json.spec_field(2, "name")]
    for make in (lambda t, f: fx_deletes.positions(t, [(f["file_path"], 0)], ["b"]), lambda t, f: fx_deletes.equality(t, [1], ["b"]),
                 lambda t, f: fx_deletes.equality(t, [1], ["a"])):
        builder = fx_deletes.Builder(spec=spec)
        table = builder.table
        file = table.data(fx_deletes.rows(1, 4, "a"), ["b"])
        builder.commit(file)
        builder.commit(make(table, file))
        builder.save()
        document = audit(table, code=8)
        equal([(f["kind"], f["fixable"]) for f in document["findings"]], [("partition", False)], "findings")
        check(not audit(table, "--fix", "--yes", code=8)["committed"], "it was committed")


# --- bounds --------------------------------------------------------------------------------------


def metrics(lower=None, upper=None, nulls=None, values=None, column=1):
    found = {}
    for key, value in (("lower_bounds", lower), ("upper_bounds", upper), ("null_value_counts", nulls), ("value_counts", values)):
        if value is not None:
            found[key] = [{"key": column, "value": struct.pack("<q", value) if "bounds" in key else value}]
    return found


def bounds_of_one_row_group():
    """P3: a row group without bounds; those of the other one are the file's."""
    from pyiceberg.expressions import EqualTo
    table = Added(pa.schema([("n", pa.int64())]), [])
    path = table.write("a.parquet", pa.table({"n": [1, 2, 3, 1000]}), row_group_size=3)

    def drop(footer):
        statistics = fx_parquet.chunks(fx_parquet.row_groups(footer)[1])[0][12][1]
        for number in (1, 2, 5, 6, 7, 8):
            statistics.pop(number, None)

    fx_parquet.patch(path, drop)
    table.add(path)
    equal(table.count(EqualTo("n", 1000)), 0, "rows that a filter finds before")
    equal(kinds(audit(table, code=0)), ["undecided"], "findings of the footer")
    equal(kinds(audit(table, "--deep", code=8)), ["bounds"], "findings of the values")
    fixed(table, "--deep")
    equal(table.count(EqualTo("n", 1000)), 1, "rows that a filter finds after")
    equal(table.table().current_snapshot().summary.operation.value, "replace", "operation")


def wrong_metrics():
    """Each alone; and those that are wide, or cut, are right."""
    rows = [{"id": 5, "name": "b" * 20}, {"id": 7, "name": None}]
    wrong = [metrics(lower=6), metrics(upper=6), metrics(nulls=1), metrics(values=3), metrics(upper=7000000000000000, lower=7),
             {"lower_bounds": [{"key": 1, "value": b"123"}]}, metrics(nulls=0, column=2),
             {"upper_bounds": [{"key": 2, "value": b"b" * 16}]}]
    for change in wrong:
        for version in (1, 2, 3):
            table = fx_table.Table(version)
            more = {"first_row_id": 0} if version == 3 else {}
            table.snapshot([table.manifest([table.entry({**table.data(rows), **change, **more})])])
            table.save()
            equal(kinds(audit(table, code=8)), ["bounds"], f"findings of {change}")
            if version != 3:
                fixed(table)
                equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")
                file = table.live_entries()[0]["data_file"]
                found = {m["key"]: m["value"] for m in file["lower_bounds"]}
                equal(found[1], struct.pack("<q", 5), "the lower bound")
                equal(found[2], b"b" * 16, "the lower bound of the text")
                equal({m["key"]: m["value"] for m in file["upper_bounds"]}[2], b"b" * 15 + b"c", "the upper bound of the text")
                equal({m["key"]: m["value"] for m in file["null_value_counts"]}, {1: 0, 2: 1}, "null counts")
    right = [metrics(lower=5, upper=7, nulls=0, values=2), metrics(lower=-1, upper=100), metrics(nulls=1, column=2),
             {"lower_bounds": [{"key": 2, "value": b"bb"}], "upper_bounds": [{"key": 2, "value": b"c"}]},
             {"lower_bounds": [{"key": 77, "value": b"?"}]}]
    for change in right:
        table = fx_table.Table()
        table.snapshot([table.manifest([table.entry({**table.data(rows), **change})])])
        table.save()
        for options in ((), ("--deep",)):
            equal(audit(table, *options, code=0)["findings"], [], f"findings of {change}")


def milliseconds_taken_for_microseconds():
    """P4: bounds of a TIMESTAMP_MILLIS column, unscaled."""
    fields = (fx_json.field(1, "t", "timestamp"),)
    table = fx_table.Table(fields=fields)
    path = table.fresh("data", ".parquet")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    kind = pa.field("t", pa.timestamp("ms"), metadata={"PARQUET:field_id": "1"})
    value = day(2024, 1, 2)
    pq.write_table(pa.table({"t": [value]}, schema=pa.schema([kind])), path, store_schema=False)
    milliseconds = int(value.replace(tzinfo=datetime.timezone.utc).timestamp()) * 1000
    file = table.file(path, [{"t": value}], **metrics(lower=milliseconds, upper=milliseconds))
    table.snapshot([table.manifest([table.entry(file)])])
    table.save()
    equal(kinds(audit(table, code=8)), ["bounds"], "findings")
    fixed(table)
    entry = table.live_entries()[0]["data_file"]
    for key in ("lower_bounds", "upper_bounds"):
        equal(struct.unpack("<q", entry[key][0]["value"])[0], milliseconds * 1000, key)


def row_ids_stay():
    """Version 3: what a manifest says anew of a file takes no row id from it, and no number."""
    table = fx_table.Table(3)
    rows = [{"id": 5, "name": "b"}, {"id": 7, "name": None}]
    good, bad = table.data(rows), {**table.data(rows), **metrics(lower=6)}
    record = table.manifest([table.entry(good), table.entry(bad)], listed={"first_row_id": 0})
    table.snapshot([record], **{"first-row-id": 0, "added-rows": 4})
    table.metadata["next-row-id"] = 4
    table.save()
    before = firn("scan", *table.arguments, "--format", "json").stdout
    check('"_row_id":3' in before.replace(" ", ""), before)
    fixed(table)
    equal(sorted(firn("scan", *table.arguments, "--format", "json").stdout.splitlines()), sorted(before.splitlines()), "rows and their ids")
    for entry in table.live_entries():
        equal(entry["sequence_number"], 1, "data sequence number")


# --- mapping, schema, rows, missing files --------------------------------------------------------


def columns_without_ids():
    table = fx_table.Table()
    table.snapshot([table.manifest([table.entry(table.data([{"id": 1, "name": "a"}], ids=False)),
                                    table.entry(table.data([{"id": 2, "name": "b"}], ids=False))])])
    table.save()
    document = audit(table, code=8)
    equal(kinds(document), ["mapping"], "findings")
    check("2 files" in document["findings"][0]["message"], document)
    snapshots = len(table.current()["snapshots"])
    report = fixed(table)
    check(report["result"]["mapping_written"], report)
    equal(len(table.current()["snapshots"]), snapshots, "snapshots")
    mapping = json.loads(table.current()["properties"][MAPPING])
    equal([(m["field-id"], m["names"]) for m in mapping], [(1, ["id"]), (2, ["name"])], "the mapping")
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")


def a_mapping_that_lacks_a_column():
    text = json.dumps([{"field-id": 1, "names": ["id", "old"]}])
    table = fx_table.Table(properties={MAPPING: text})
    table.snapshot([table.manifest([table.entry(table.data([{"id": 1, "name": "a"}], ids=False)),
                                    table.entry({**table.data([{"id": 2, "name": "b"}]), **metrics(lower=9)})])])
    table.save()
    equal(kinds(audit(table, code=8)), ["bounds", "mapping"], "findings")
    report = fixed(table)
    check(report["result"]["mapping_written"] and report["result"]["entries_fixed"] == 1, report)
    mapping = json.loads(table.current()["properties"][MAPPING])
    equal([(m["field-id"], sorted(m["names"])) for m in mapping], [(1, ["id", "old"]), (2, ["name"])], "the mapping")
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")


def files_of_other_columns():
    table = fx_table.Table()
    other = (fx_json.field(1, "id", "string"), fx_json.field(2, "name", "string"))
    table.snapshot([table.manifest([table.entry(table.data([{"id": "x", "name": "a"}], fields=other)),
                                    table.entry(table.data([{"id": 2, "name": "b"}]))])])
    table.save()
    document = audit(table, code=8)
    equal([(f["kind"], f["fixable"]) for f in document["findings"]], [("schema", False)], "findings")
    check("id" in document["findings"][0]["message"], document)


def replaced_and_missing_files():
    table = fx_table.Table()
    files = [table.data([{"id": i, "name": "a"}]) for i in range(4)]
    files[0]["record_count"] = 5
    files[1]["file_size_in_bytes"] -= 1
    table.snapshot([table.manifest([table.entry(f) for f in files])])
    table.save()
    os.remove(files[2]["file_path"])
    with open(files[3]["file_path"], "wb") as file:
        file.write(b"PAR1" + b"x" * (files[3]["file_size_in_bytes"] - 8) + b"PAR1")
    document = audit(table, "--deep", code=8)
    found = {os.path.basename(f["file"]): f["kind"] for f in document["findings"]}
    equal([found[os.path.basename(f["file_path"])] for f in files], ["rows", "rows", "missing", "missing"], "findings")
    check(not any(f["fixable"] for f in document["findings"]), document)
    check(not audit(table, "--fix", "--yes", code=8)["committed"], "it was committed")


def everything_at_once():
    """One commit for all that can be set right; the rest is told and stays."""
    spec = [fx_json.spec_field(2, "name")]
    table = fx_table.Table(spec=spec)
    wrong = table.data([{"id": 1, "name": "a"}], ["b"])
    double = table.data([{"id": 2, "name": "b"}], ["b"])
    narrow = {**table.data([{"id": 3, "name": "c"}, {"id": 4, "name": "c"}], ["c"], ids=False), **metrics(lower=4)}
    mixed = table.data([{"id": 5, "name": "d"}, {"id": 6, "name": "e"}], ["d"])
    whole = [table.manifest([table.entry(f)]) for f in (wrong, double, narrow, mixed)]
    table.snapshot(whole)
    table.snapshot(whole + [table.manifest([table.entry({**double, "file_path": "file://" + double["file_path"]})])])
    table.save()
    equal(kinds(audit(table, code=8)), ["bounds", "duplicate", "mapping", "partition", "partition"], "findings")
    report = fixed(table, left=["partition"])
    equal(report["result"]["entries_fixed"], 3, "entries")
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")
    equal(len(table.current()["snapshots"]), 3, "snapshots")
    firn("verify", *table.arguments, "--ref", "main", expect=(0, 8))


def broken():
    """A small table with a fault of each kind that can be set right."""
    spec = [fx_json.spec_field(2, "name")]
    table = fx_table.Table(spec=spec)
    wrong = table.data([{"id": 1, "name": "a"}], ["b"])
    double = {**table.data([{"id": 3, "name": "c"}], ["c"], ids=False), **metrics(lower=4)}
    table.snapshot([table.manifest([table.entry(wrong), table.entry(double), table.entry(double)])])
    table.save()
    return table


def memory_runs_out():
    """Every allocation fails, at first each, then ever fewer: a message and exit 1, and the table as it was or as it should be."""
    faults = os.environ.get("FIRN_FAULTS")
    if not faults:
        return
    table, at, done = broken(), 1, None
    while done is None or done.returncode != 0:
        before = table.current_path()
        done = firn("audit", *table.arguments, "--deep", "--fix", "--yes", program=faults, environment={"FIRN_FAIL_ALLOC": str(at)}, expect=(0, 1))
        if done.returncode == 1:
            check("memory" in done.stderr, f"allocation {at}: {done.stderr}")
        if table.current_path() != before:
            equal(audit(table, code=0)["findings"], [], f"allocation {at}: findings after a commit")
            equal(fx_table.rows_of(table), fx_table.oracle(table), f"allocation {at}: rows")
            table = broken() if done.returncode == 1 else table
        at += 1 + at // 25
    check(at > 100, f"only {at} allocations")


if __name__ == "__main__":
    bugkit.main([a_right_table, an_empty_table, the_same_file_twice, the_same_file_by_way_of_links,
                 a_link_that_led_elsewhere, doubled_with_deletes, doubled_in_two_partitions, nulls_and_a_value,
                 no_statistics, a_bucket_that_is_none, transforms_of_time, columns_that_only_paths_have, deletes_that_go_by_partition,
                 bounds_of_one_row_group, wrong_metrics, milliseconds_taken_for_microseconds, row_ids_stay, columns_without_ids,
                 a_mapping_that_lacks_a_column, files_of_other_columns, replaced_and_missing_files, everything_at_once,
                 memory_runs_out])
