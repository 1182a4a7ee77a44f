"""Tables made of the schema and the name mapping that the union gives for files, read by firn and by PyIceberg, against PyArrow's
own reading of the files. The files are those of PyArrow in every type and form, and the corpus of Parquet's own test files.

Needs FIRN, FIRN_LAKE_UNION, PyIceberg and PyArrow.
"""
import datetime
import decimal
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile


def skip(reason):
    print("skipped:", reason)
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)


FIRN, UNION = os.environ.get("FIRN", ""), os.environ.get("FIRN_LAKE_UNION", "")
if not os.access(FIRN, os.X_OK) or not os.access(UNION, os.X_OK):
    skip("FIRN or FIRN_LAKE_UNION names no program")
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.schema import Schema, assign_fresh_schema_ids
    from pyiceberg.table.name_mapping import parse_mapping_from_json
    from pyiceberg.typedef import Record
except ImportError as missing:
    skip(f"a Python package is missing: {missing}")

FAILURES = []


def union(version, files):
    run = subprocess.run([UNION, str(version), *map(str, files)], capture_output=True, text=True)
    return run.returncode, json.loads(run.stdout) if run.returncode == 0 else run.stderr


def rows_of(file):
    """Some of the corpus's footers count no rows as a whole."""
    metadata = pq.read_metadata(file)
    return sum(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))


class Tables:
    def __init__(self, folder):
        self.folder = folder
        self.catalog = SqlCatalog("t", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}/wh")
        self.catalog.create_namespace("n")
        self.count = 0

    def of(self, found, files, version):
        """A table of these files, registered with nothing but paths and counts: all that is read comes from schema and mapping."""
        self.count += 1
        # PyIceberg makes no v3 tables of all types; ids and types are put right afterwards.
        plain = {"type": "struct", "fields": [{"id": 1, "name": "v3", "required": False, "type": "int"}]}
        schema = Schema.model_validate(found["schema"] if version < 3 else plain)
        table = self.catalog.create_table(f"n.t{self.count}", schema=schema,
                                          properties={"schema.name-mapping.default": found["mapping"]})
        # A catalog that numbers columns anew comes to the same ids, but for ids that files brought.
        same = table.schema().as_struct() == schema.as_struct()
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
            for file in files:
                entry = DataFile.from_args(
                    content=DataFileContent.DATA, file_path=f"file://{file}", file_format=FileFormat.PARQUET, partition=Record(),
                    record_count=rows_of(file), file_size_in_bytes=os.path.getsize(file), sort_order_id=None,
                    spec_id=0, equality_ids=None, key_metadata=None)
                entry.spec_id = 0
                append.append_data_file(entry)
        return self.catalog.load_table(f"n.t{self.count}"), same


def with_schema(path, found, version):
    """The table's metadata with the union's own ids, which PyIceberg does not keep where files brought them; of format version 3 where wanted."""
    metadata = json.loads(pathlib.Path(path).read_text())
    metadata["schemas"], metadata["last-column-id"] = [found["schema"]], found["last_column_id"]
    if version == 3:
        metadata.update({"format-version": 3, "next-row-id": 1000})
        for snapshot in metadata["snapshots"]:
            snapshot.update({"first-row-id": 0, "added-rows": 1000})
    changed = path.removesuffix(".metadata.json") + "-ids.metadata.json"
    pathlib.Path(changed).write_text(json.dumps(metadata))
    return changed


def firn_rows(table, found, version):
    path = with_schema(table.metadata_location.removeprefix("file://"), found, version)
    run = subprocess.run([FIRN, "scan", path, "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"firn scan: {run.returncode}: {run.stdout}{run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def moment(value):
    """Microseconds since 1970."""
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.timezone.utc)
    return (value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def number(value):
    value = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value, value)
    if value is None:
        return None
    return "nan" if math.isnan(value) else float(value)


def canonical(kind, value, of_firn):
    """A value in a form that both sides come to; `kind` is the schema's JSON."""
    if value is None:
        return None
    if isinstance(kind, dict) and kind["type"] == "struct":
        return {f["name"]: canonical(f["type"], value.get(f["name"]), of_firn) for f in kind["fields"]}
    if isinstance(kind, dict) and kind["type"] == "list":
        return [canonical(kind["element"], item, of_firn) for item in value]
    if isinstance(kind, dict):
        pairs = [[canonical(kind["key"], k, of_firn), canonical(kind["value"], v, of_firn)] for k, v in value]
        return sorted(pairs, key=repr)
    if kind in ("float", "double"):
        value = number(value)
        return struct.unpack("<f", struct.pack("<f", value))[0] if kind == "float" and value != "nan" else value
    if kind.startswith("decimal"):
        return decimal.Decimal(value)
    if kind in ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"):
        return moment(value)
    if kind == "date":
        return value if isinstance(value, str) else value.isoformat()
    if kind == "time":
        return datetime.time.fromisoformat(value) if isinstance(value, str) else value
    if kind == "binary" or kind.startswith("fixed"):
        return value if of_firn else (value.encode() if isinstance(value, str) else value).hex()
    if kind == "string" and isinstance(value, bytes):
        return value.decode()
    return str(value) if kind == "uuid" else value


def canonical_rows(schema, rows, of_firn):
    return [canonical({"type": "struct", "fields": schema["fields"]}, row, of_firn) for row in rows]


def expect(name, condition, message=""):
    if not condition:
        FAILURES.append(f"{name}: {message}")
        print("FAILED", FAILURES[-1][:1500])


def check_same(name, who, got, wanted):
    got, wanted = sorted(got, key=repr), sorted(wanted, key=repr)
    if got == wanted:
        return
    differing = [(g, w) for g, w in zip(got, wanted) if g != w][:1]
    expect(name, False, f"{who}: {len(got)} rows, {len(wanted)} wanted; first difference {differing}")


def check(tables, name, files, version=2, by_pyiceberg=True, rows=None):
    """`rows`: what the files hold; without it PyArrow says."""
    code, found = union(version, files)
    expect(name, code == 0 and "schema" in found, found)
    if code != 0 or "schema" not in found:
        return
    parse_mapping_from_json(found["mapping"])
    table, same_ids = tables.of(found, files, version)
    if by_pyiceberg:
        fresh = assign_fresh_schema_ids(Schema.model_validate(found["schema"]))
        expect(name, same_ids and fresh.as_struct() == Schema.model_validate(found["schema"]).as_struct(),
               "ids differ from those that PyIceberg gives")
    if rows is None:
        rows = [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]
    wanted = canonical_rows(found["schema"], rows, False)
    check_same(name, "firn", canonical_rows(found["schema"], firn_rows(table, found, version), True), wanted)
    if by_pyiceberg:
        try:
            check_same(name, "PyIceberg", canonical_rows(found["schema"], table.scan().to_arrow().to_pylist(), False), wanted)
        except Exception as problem:  # whatever it says, it can't read the file
            expect(name, False, f"PyIceberg: {type(problem).__name__}: {problem}")


UTC = datetime.timezone.utc
AT = datetime.datetime(2024, 2, 29, 23, 59, 58, 123000)
NESTED = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string())),
                    ("by", pa.map_(pa.string(), pa.struct([("n", pa.float32()), ("l", pa.list_(pa.int16()))])))])
NESTED_VALUES = [{"x": 1, "tags": ["a", None], "by": [("k", {"n": 1.5, "l": [1]}), ("j", None)]},
                 {"x": None, "tags": [], "by": []}, None]
COLUMNS = {
    "flag": (pa.bool_(), [True, None, False]), "i8": (pa.int8(), [-1, None, 1]), "i16": (pa.int16(), [-300, None, 1]),
    "u8": (pa.uint8(), [255, None, 1]), "u16": (pa.uint16(), [65535, None, 1]), "u32": (pa.uint32(), [4294967295, None, 1]),
    "i32": (pa.int32(), [-5, None, 7]), "i64": (pa.int64(), [-5, None, 1 << 60]), "f32": (pa.float32(), [1.5, None, math.nan]),
    "f64": (pa.float64(), [1e300, None, math.inf]), "small": (pa.decimal128(7, 2), [decimal.Decimal("-1.25"), None, decimal.Decimal(3)]),
    "middle": (pa.decimal128(15, 3), [decimal.Decimal("-1.250"), None, decimal.Decimal(3)]),
    "wide": (pa.decimal128(30, 5), [decimal.Decimal("-123456789012345678901.25"), None, decimal.Decimal(3)]),
    "day": (pa.date32(), [AT.date(), None, datetime.date(1, 1, 1)]),
    "clock_ms": (pa.time32("ms"), [datetime.time(1, 2, 3, 4000), None, datetime.time(0)]),
    "clock": (pa.time64("us"), [datetime.time(1, 2, 3, 4), None, datetime.time(0)]),
    "local": (pa.timestamp("us"), [AT, None, datetime.datetime(1900, 1, 1)]),
    "local_ms": (pa.timestamp("ms"), [AT, None, datetime.datetime(1900, 1, 1)]),
    "zoned": (pa.timestamp("us", "UTC"), [AT.replace(tzinfo=UTC), None, AT.replace(tzinfo=UTC, year=1950, day=1)]),
    "berlin": (pa.timestamp("us", "Europe/Berlin"), [AT.replace(tzinfo=UTC), None, AT.replace(tzinfo=UTC, year=1950, day=1)]),
    "zoned_ms": (pa.timestamp("ms", "UTC"), [AT.replace(tzinfo=UTC), None, AT.replace(tzinfo=UTC, year=1950, day=1)]),
    "text": (pa.string(), ["é", None, ""]), "long_text": (pa.large_string(), ["b", None, ""]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["a", None, "a"]), "bytes": (pa.binary(), [b"\x00\xff", None, b""]),
    "four": (pa.binary(4), [b"abcd", None, b"\x00\x01\x02\x03"]), "nested": (NESTED, NESTED_VALUES),
    "lists": (pa.list_(pa.list_(pa.int64())), [[[1, None], None], [], None]),
    "structs": (pa.list_(pa.struct([("a", pa.int32())])), [[{"a": 1}, None], [], None]),
}


# Arrow types that PyIceberg's reader refuses, whoever registered the file; a null list of structs it takes for an empty one.
NOT_BY_PYICEBERG = ("u8", "u16", "u32", "clock_ms", "berlin", "structs")


def table_of(names, types=None):
    types = types or {}
    return pa.table({n: pa.array(COLUMNS[n][1], types.get(n, COLUMNS[n][0])) for n in names})


def write(folder, name, table, **options):
    path = f"{folder}/{name}.parquet"
    pq.write_table(table, path, **options)
    return path


def pyarrow_files(tables, folder):
    simple = [n for n in COLUMNS if n not in ("nested", "lists", "structs", "dictionary")]
    for name in COLUMNS:
        by_pyiceberg = name not in NOT_BY_PYICEBERG
        check(tables, name, [write(folder, name, table_of([name]))], by_pyiceberg=by_pyiceberg)
    whole = table_of(list(COLUMNS))
    plain = {"use_deprecated_int96_timestamps": False}
    check(tables, "all", [write(folder, "all", whole, **plain)], by_pyiceberg=False)
    check(tables, "old version", [write(folder, "v1", table_of(simple), version="1.0")], by_pyiceberg=False)
    check(tables, "two-level lists", [write(folder, "two", whole, use_compliant_nested_type=False)], by_pyiceberg=False)
    check(tables, "decimals as integers", [write(folder, "ints", table_of(["small", "middle", "wide"]),
                                                 store_decimal_as_integer=True)])
    instants = ["local", "zoned"]
    int96 = write(folder, "int96", table_of(instants), use_deprecated_int96_timestamps=True)
    check(tables, "int96", [int96], by_pyiceberg=False, rows=table_of(instants).to_pylist())
    backwards = write(folder, "backwards", table_of(list(reversed(COLUMNS))), use_compliant_nested_type=False)
    check(tables, "other order and names", [f"{folder}/all.parquet", backwards], by_pyiceberg=False)
    narrow = {"i64": pa.int32(), "f64": pa.float32(), "middle": pa.decimal128(9, 3), "u32": pa.uint16()}
    values = {"i64": [1, None, 2], "f64": [0.5, None, -2.0], "u32": [1, None, 2], "middle": [decimal.Decimal("1.5"), None, decimal.Decimal(2)]}
    smaller = pa.table({n: pa.array(values[n], t) for n, t in narrow.items()})
    wider = table_of(list(narrow))
    rows = wider.to_pylist() + smaller.to_pylist()
    for order in ((smaller, wider), (wider, smaller)):
        files = [write(folder, f"p{i}", t) for i, t in enumerate(order)]
        check(tables, "promotions", files, by_pyiceberg=False, rows=rows)
    parts = [["flag", "i32", "nested"], ["i32", "text"], ["lists", "flag"]]
    check(tables, "columns that are missing", [write(folder, f"m{i}", table_of(p)) for i, p in enumerate(parts)])


def version_3(tables, folder):
    """What only this version has: nanoseconds, dates that become timestamps."""
    ns = pa.table({"at": pa.array([AT, None], pa.timestamp("ns")), "zoned": pa.array([AT, None], pa.timestamp("ns", "UTC"))})
    rows = [{"at": AT, "zoned": AT}, dict.fromkeys(ns.column_names)]
    nanoseconds = write(folder, "v3", ns)
    check(tables, "v3", [nanoseconds], version=3, by_pyiceberg=False, rows=rows)
    dates = pa.table({"at": pa.array([AT.date()], pa.date32())})
    more = {"at": datetime.datetime.combine(AT.date(), datetime.time()), "zoned": None}
    check(tables, "v3, promoted", [write(folder, "v3b", dates), nanoseconds], version=3, by_pyiceberg=False, rows=[*rows, more])
    check(tables, "v3, all", [f"{folder}/all.parquet"], version=3, by_pyiceberg=False)


def refused(folder):
    cases = {"u64": (pa.uint64(), "unsigned 64-bit"), "half": (pa.float16(), "16-bit"), "clock_ns": (pa.time64("ns"), "nanoseconds"),
             "ns": (pa.timestamp("ns"), "--format-version 3")}
    for name, (kind, text) in cases.items():
        path = write(folder, "r_" + name, pa.table({name: pa.nulls(1, kind)}))
        code, found = union(2, [path])
        expect(name, code == 0 and text in found.get("refused", ""), found)
    code, found = union(3, [f"{folder}/r_ns.parquet"])
    expect("ns in v3", code == 0 and found["schema"]["fields"][0]["type"] == "timestamp_ns", found)


# What the corpus holds that Iceberg has no place for; the text of the refusal.
REFUSED = {"byte_stream_split_extended.gzip": "16-bit", "concatenated_gzip_members": "unsigned 64-bit", "float16_nonzeros_and_nans": "16-bit",
           "float16_zeros_and_nans": "16-bit", "floating_orders_nan_count": "16-bit", "map_no_value": "a map without values",
           "nested_structs.rust": "unsigned 64-bit", "null_list": "of no type", "unknown-logical-type": "an annotation that"}
# Broken data, which is another test's matter; and gigabytes of one text.
UNREADABLE = {"large_string_map.brotli", "datapage_v1-corrupt-checksum", "rle-dict-uncompressed-corrupt-checksum", "nation.dict-malformed"}


def corpus(tables):
    folder = pathlib.Path(os.environ.get("FIRN_CORPUS", "/nowhere")) / "parquet"
    if not folder.is_dir():
        skip("FIRN_CORPUS names no corpus")
    for path in sorted(folder.glob("*.parquet")):
        name = path.name.removesuffix(".parquet")
        code, found = union(2, [path])
        if name in REFUSED:
            refusal = found.get("refused", "") if code == 0 else ""
            expect(name, REFUSED[name] in refusal and str(path) in refusal and 'column "' in refusal, found)
            continue
        expect(name, code == 0 and "schema" in found, found)
        if name in UNREADABLE:
            continue
        try:
            rows = pq.read_table(path, partitioning=None, coerce_int96_timestamp_unit="us").to_pylist()
        except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError, OverflowError) as problem:
            print("PyArrow can't read", name, problem)
            continue
        try:
            check(tables, name, [str(path)], by_pyiceberg=False, rows=rows)
        except (RuntimeError, ValueError) as problem:
            expect(name, False, problem)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(folder)
        pyarrow_files(tables, folder)
        version_3(tables, folder)
        refused(folder)
        corpus(tables)
    print(len(FAILURES), "failures")
    sys.exit(1 if FAILURES else 0)


main()
