"""Public reports about what stands in Parquet files: INT96, decimals, statistics that lie, legacy lists, indexes that contradict themselves."""
import datetime
import decimal
import json
import math
import os
import struct
import uuid

import bugkit
import fx_json
import fx_parquet as p
import fx_table
import pyarrow.parquet as pq
from bugkit import check, compact, described, equal, firn
from fx_json import field
from test_parquet import new_paths, scratch, table_of

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


def bounds(table, field_id):
    """[(lower, upper)] of the live files, as bytes; None where there is none."""
    found = []
    for entry in table.live_entries():
        pair = []
        for key in ("lower_bounds", "upper_bounds"):
            values = {b["key"]: b["value"] for b in entry["data_file"].get(key) or []}
            pair.append(values.get(field_id))
        found.append(tuple(pair))
    return found


def statistics(meta, **values):
    """Sets a chunk's statistics: old_max, old_min, nulls, maximum, minimum."""
    numbers = {"old_max": 1, "old_min": 2, "nulls": 3, "maximum": 5, "minimum": 6}
    meta[12] = (p.STRUCT, dict(sorted((numbers[k], p.i64(v) if k == "nulls" else p.text(v)) for k, v in values.items())))


def patch_column(path, column, change):
    """Edits the ColumnMetaData of a column in every row group."""
    def patch(footer):
        for row_group in p.row_groups(footer):
            for chunk in row_group[1][1][1]:
                meta = chunk[3][1]
                if meta[3][1][1] == [column.encode()]:
                    change(meta)
                    chunk[3] = (p.STRUCT, dict(sorted(meta.items())))
    p.patch(path, patch)


def int96(days, nanoseconds):
    return struct.pack("<qI", nanoseconds, days + 2440588)


def micros(value):
    return (value - EPOCH) // datetime.timedelta(microseconds=1)


INT96_FIELDS = [field(1, "id", "long"), field(2, "at", "timestamptz")]
INT96_NODES = [p.leaf("id", p.INT64, 1), p.leaf("at", p.INT96, 2)]


def read_int64(table, column):
    """The column as the integers that stand in the new files."""
    import pyarrow as pa
    found = []
    for path in new_paths(table):
        found += pq.ParquetFile(fx_table.strip(path)).read()[column].cast(pa.int64()).to_pylist()
    return found


def report_43_int96_far_from_now():
    """Report 43, apache/iceberg-rust#2299: INT96 goes straight to microseconds, through no int64 of nanoseconds."""
    cases = [(bytes.fromhex("40d7b1a6d32500001cd62c00"), 43010652790965000),
             (int96((datetime.date(1, 1, 1) - datetime.date(1970, 1, 1)).days, 0), micros(datetime.datetime(1, 1, 1, tzinfo=UTC))),
             (int96((datetime.date(9999, 12, 31) - datetime.date(1970, 1, 1)).days, 86399999999999),
              micros(datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC))),
             (int96(0, 0), 0), (int96(-1, 86399999999999), -1), (int96(0, 1999), 1)]
    rows = [{"id": i, "at": raw} for i, (raw, _) in enumerate(cases)]
    path = p.write(scratch("43.parquet"), INT96_NODES, [rows])
    table = table_of([(path, rows)] * 3, INT96_FIELDS)
    compact(table, rows=False)
    equal(read_int64(table, "at"), [value for _, value in cases] * 3, "microseconds")
    values = [value for _, value in cases]
    equal(bounds(table, 2), [(struct.pack("<q", min(values)), struct.pack("<q", max(values)))], "bounds")


def report_44_int96_in_dictionaries():
    """Report 44, apache/iceberg#13485: INT96 behind a dictionary, with PLAIN pages after it in the same chunk."""
    distinct = [int96(19000, 1000), int96(19001, 2000), int96(19002, 3000)]
    rows = [{"id": i, "at": None if i == 11 else distinct[i % 3]} for i in range(20)]
    for version in (1, 2):
        for codec in ("zstd", "none"):
            pages = [p.Page(7, version, True), p.Page(6, version, True), p.Page(None, version, False)]
            path = p.write(scratch("44.parquet"), INT96_NODES, [rows], pages={"at": pages}, codec=codec)
            table = table_of([(path, rows)] * 2, INT96_FIELDS)
            compact(table, rows=False)
            wanted = [None if i == 11 else (19000 + i % 3) * 86400000000 + 1 + i % 3 for i in range(20)]
            equal(read_int64(table, "at"), wanted * 2, f"version {version}, {codec}")


def report_45_int96_statistics():
    """Report 45, apache/iceberg PR#1351: bounds of INT96 in a footer mean nothing; ours come from the values."""
    rows = [{"id": i, "at": int96(100 + i, 0)} for i in range(5)]
    for nonsense in (b"", b"\xff" * 12, b"\0" * 12, b"\1" * 8, b"x" * 40):
        path = p.write(scratch("45.parquet"), INT96_NODES, [rows])
        patch_column(path, "at", lambda meta, n=nonsense: statistics(meta, old_max=n, old_min=n, maximum=n, minimum=n))
        table = table_of([(path, rows)] * 2, INT96_FIELDS)
        compact(table, rows=False)
        equal(bounds(table, 2), [(struct.pack("<q", 100 * 86400000000), struct.pack("<q", 104 * 86400000000))], "bounds")


def decimal_bytes(value, size):
    return value.to_bytes(size, "big", signed=True)


def minimal(value):
    return decimal_bytes(value, max(1, (value.bit_length() // 8) + 1))


DECIMAL_FORMS = {
    "INT32": lambda precision, scale: (p.leaf("d", p.INT32, 2, logical=p.decimal(precision, scale)), lambda v: v),
    "INT64": lambda precision, scale: (p.leaf("d", p.INT64, 2, logical=p.decimal(precision, scale)), lambda v: v),
    "FIXED(5)": lambda precision, scale: (p.leaf("d", p.FIXED, 2, logical=p.decimal(precision, scale), length=5),
                                          lambda v: decimal_bytes(v, 5)),
    "FIXED(16)": lambda precision, scale: (p.leaf("d", p.FIXED, 2, logical=p.decimal(precision, scale), length=16),
                                           lambda v: decimal_bytes(v, 16)),
    "BYTE_ARRAY": lambda precision, scale: (p.leaf("d", p.BYTE_ARRAY, 2, logical=p.decimal(precision, scale)), minimal),
}


def report_55_decimals_of_every_form():
    """Reports 55 and 56, apache/iceberg-go#1876 and apache/iceberg-python#2057: all physical forms are read, by their own type and
    scale; the spec's form is written; bounds are the spec's."""
    values = [0, 1, -1, 127, -128, 99999, -99999, 12345678, None]
    for kind, precision, scale, physical, length in (("decimal(9,2)", 9, 2, p.INT32, None), ("decimal(18,2)", 18, 2, p.INT64, None),
                                                     ("decimal(38,2)", 38, 2, p.FIXED, 16)):
        fields = [field(1, "id", "long"), field(2, "d", kind)]
        for form, make in DECIMAL_FORMS.items():
            if form == "INT64" and precision < 10:
                continue
            node, encode = make(min(precision, 9 if form == "INT32" else 11 if form == "FIXED(5)" else precision), scale)
            rows = [{"id": i, "d": None if v is None else encode(v)} for i, v in enumerate(values)]
            for dictionary in (False, True):
                path = p.write(scratch("55.parquet"), [p.leaf("id", p.INT64, 1), node], [rows],
                               pages={"d": [p.Page(5, 1, dictionary), p.Page(None, 1, False)]})
                # What a reader may have taken for big-endian: the bytes of the file's own form.
                table = table_of([(path, [])] * 2, fields)
                table = fx_table.Table(2, fields)
                made = [{**table.file(path, [], oracle=False), "record_count": len(rows)} for _ in range(2)]
                table.snapshot([table.manifest([table.entry(f) for f in made])])
                table.save()
                compact(table, rows=False)
                found = [row["d"] for path in new_paths(table) for row in pq.ParquetFile(fx_table.strip(path)).read().to_pylist()]
                equal(found, [None if v is None else decimal.Decimal(v).scaleb(-scale) for v in values] * 2, f"{kind} as {form}")
                element = p.read_footer(new_paths(table)[0])[2][1][1][2]
                equal((element[1][1], element[2][1] if 2 in element else None), (physical, length), f"{kind} as {form}: what is written")
                equal(bounds(table, 2), [(minimal(-99999), minimal(12345678))], f"{kind} as {form}: bounds")


def report_55_another_scale():
    """Report 55: a file whose scale is another than the table's is refused by name, never read as if it were the same."""
    node, encode = DECIMAL_FORMS["INT32"](9, 3)
    rows = [{"id": 1, "d": encode(1500)}]
    path = p.write(scratch("55-scale.parquet"), [p.leaf("id", p.INT64, 1), node], [rows])
    table = table_of([(path, rows)] * 3, [field(1, "id", "long"), field(2, "d", "decimal(9,2)")])
    before = table.all_files()
    bugkit.refused("compact", *table.arguments, "--yes", "--rewrite-all", words=["55-scale.parquet", '"d"'], code=3)
    equal(table.all_files(), before, "files")


STRING_FIELDS = [field(1, "id", "long"), field(2, "s", "string")]
STRING_NODES = [p.leaf("id", p.INT64, 1), p.string("s", 2)]


def many_strings():
    """Enough for pages that are copied as they are; bytes above 0x7f sort last in byte order, first in a signed one."""
    return [{"id": i, "s": f"{'é' if i % 7 == 0 else 'a'}{i:05d}"} for i in range(6000)]


def report_58_statistics_of_old_writers():
    """Report 58, trinodb/trino#1798: the deprecated pair is no bound of text, whoever wrote it; ours is that of the values."""
    rows = many_strings()
    least, greatest = b"a00001", "é05999".encode()
    for created_by in ("parquet-mr version 1.5.0 (build abc)", "parquet-mr", "", None, "\x01\xff nonsense"):
        for low, high in ((greatest, least), (b"a9", b"a9"), (b"", b"")):
            if low == high:
                # A single old value is taken for both; then it must be true, as of a column with one value.
                continue
            path = p.write(scratch("58.parquet"), STRING_NODES, [rows], created_by=created_by)
            patch_column(path, "s", lambda meta, a=low, b=high: statistics(meta, old_min=a, old_max=b))
            table = table_of([(path, rows)], STRING_FIELDS)
            compact(table, rows=False)
            for lower, upper in bounds(table, 2):
                check(lower is None or lower <= least, f"lower bound {lower}")
                check(upper is None or upper >= greatest, f"upper bound {upper}")


def doubles(values, repeat=5000):
    rows = [{"id": i, "x": values[i % len(values)]} for i in range(repeat)]
    return rows, [field(1, "id", "long"), field(2, "x", "double")], [p.leaf("id", p.INT64, 1), p.leaf("x", p.DOUBLE_TYPE, 2)]


def report_59_nan_in_data_and_bounds():
    """Report 59, ClickHouse/ClickHouse#118110: bounds leave NaN out, statistics of NaN are thrown away, NaN values are counted."""
    nan = struct.pack("<d", math.nan)
    three = struct.pack("<d", 3.0)
    for low, high in ((three, three), (nan, nan), (three, nan), (nan, three)):
        for count in (3, 5001):  # encoded anew, and copied as they are
            rows, fields, nodes = doubles([3.0, math.nan, 3.0], count)
            path = p.write(scratch("59.parquet"), nodes, [rows])
            patch_column(path, "x", lambda meta, a=low, b=high: statistics(meta, minimum=a, maximum=b, nulls=0))
            table = table_of([(path, rows)] * 2, fields)
            hashed = described(table, "--content-hash")["content_hash"]
            report = bugkit.firn_json("compact", *table.arguments, "--yes", "--rewrite-all", "--verify")
            check(report["committed"], "nothing was committed")
            equal(described(table, "--content-hash")["content_hash"], hashed, "content hash")
            for lower, upper in bounds(table, 2):
                check(lower in (None, three) and upper in (None, three), f"bounds {lower} {upper} of {count} rows")
            for entry in table.live_entries():
                counts = {c["key"]: c["value"] for c in entry["data_file"].get("nan_value_counts") or []}
                check(counts.get(2, -1) in ((count // 3) * 2, -1), f"NaN values: {counts} of {count}")
            # By the bounds alone nothing is excluded, and the NaN are there. (DuckDB 1.x takes such bounds for those of all values.)
            from pyiceberg.expressions import NotEqualTo
            from pyiceberg.table import StaticTable
            scan = StaticTable.from_metadata(fx_table.strip(table.current_path())).scan(row_filter=NotEqualTo("x", 3.0))
            equal(len(list(scan.plan_files())), len(table.live_entries()), "files that may hold rows that are not 3")
            values = [v for path in new_paths(table) for v in pq.ParquetFile(fx_table.strip(path)).read()["x"].to_pylist()]
            equal(sum(v != v for v in values), 2 * (count // 3), "NaN in the new files")


def report_60_zeros_of_both_signs():
    """Report 60, apache/doris PR#38277: a bound of zero is -0 below and +0 above, whatever the file's is."""
    minus, plus = struct.pack("<d", -0.0), struct.pack("<d", 0.0)
    for value in (0.0, -0.0):
        for low, high in ((plus, minus), (minus, plus), (plus, plus), (minus, minus)):
            for count in (4, 5000):
                rows, fields, nodes = doubles([value], count)
                path = p.write(scratch("60.parquet"), nodes, [rows])
                patch_column(path, "x", lambda meta, a=low, b=high: statistics(meta, minimum=a, maximum=b, nulls=0))
                table = table_of([(path, rows)] * 2, fields)
                compact(table, rows=False)
                equal(bounds(table, 2), [(minus, plus)], f"bounds of {count} × {value}")
                import duckdb
                for zero in ("0.0", "-0.0"):
                    found = duckdb.execute(f"SELECT count(*) FROM read_parquet({[fx_table.strip(f) for f in new_paths(table)]!r}) "
                                           f"WHERE x = {zero}::DOUBLE").fetchone()[0]
                    equal(found, 2 * count, "rows that are zero")


def report_62_legacy_lists():
    """Report 62, apache/iceberg#9497 and apache/iceberg PR#3723: lists of two levels, bare repeated groups, odd names; with empty and
    null lists. What parquet verify and merge make of them is what PyArrow reads."""
    two_level = p.group("l", p.leaf("array", p.INT32, repetition=p.REPEATED), logical="list")
    tuples = p.group("l", p.group("l_tuple", p.leaf("x", p.INT32), repetition=p.REPEATED), logical="list")
    bag = p.group("l", p.group("bag", p.leaf("array_element", p.INT32), repetition=p.REPEATED), logical="list")
    bare = p.leaf("l", p.INT32, repetition=p.REPEATED)
    nested = p.group("l", p.group("array", p.leaf("array", p.INT32, repetition=p.REPEATED), logical="list", repetition=p.REPEATED),
                     logical="list")
    contents = [None, [], [1], [2, 3]]
    shapes = {
        "two levels": (two_level, [None if c is None else {"array": c} for c in contents]),
        "tuple": (tuples, [None if c is None else {"l_tuple": [{"x": x} for x in c]} for c in contents]),
        "bag": (bag, [None if c is None else {"bag": [{"array_element": x} for x in c]} for c in contents]),
        "bare": (bare, [c or [] for c in contents]),
        "list of list": (nested, [None if c is None else {"array": [{"array": [x, x]} for x in c] + [{"array": []}]} for c in contents]),
    }
    for what, (node, values) in shapes.items():
        rows = [{"id": i, "l": v} for i, v in enumerate(values * 3)]
        for version in (1, 2):
            path = p.write(scratch("62.parquet"), [p.leaf("id", p.INT64), node], [rows],
                           pages=lambda *_, v=version: [p.Page(5, v), p.Page(None, v)])
            firn("parquet", "verify", path)
            out = scratch("62-out.parquet")
            firn("parquet", "merge", path, path, "-o", out, "--force")
            firn("parquet", "verify", out)
            equal(pq.read_table(out).to_pylist(), pq.read_table(path).to_pylist() * 2, f"{what}, version {version}")


def with_index(path, rows, change_column=None, change_offset=None):
    """A file by PyArrow with page indexes, of which `id`'s are changed."""
    import pyarrow as pa
    schema = pa.schema([fx_table.arrow_field(f) for f in STRING_FIELDS])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, write_page_index=True, data_page_size=300, write_batch_size=50,
                   use_dictionary=False, store_schema=False)
    with open(path, "rb") as file:
        footer, body = p.footer_of(file.read())
    chunk = p.row_groups(footer)[0][1][1][1][0]
    for number, change in ((6, change_column), (4, change_offset)):
        if change is None:
            continue
        index = p.Parser(body[chunk[number][1]:chunk[number][1] + chunk[number + 1][1]]).struct()
        change(index)
        data = p.dump_struct(index)
        chunk[number], chunk[number + 1] = p.i64(len(body)), p.i32(len(data))
        body += data
    with open(path, "wb") as file:
        file.write(body + p.closing(footer))
    return path


def report_64_65_indexes_that_contradict_themselves():
    """Reports 64 and 65, apache/parquet-java#3457 and ClickHouse/ClickHouse#114464: a broken index is told by parquet verify, harms no
    compaction, and is not carried over."""
    def all_null(index):
        index[1] = (p.LIST, (p.TRUE, [True] * len(index[1][1][1])))
        index[5] = (p.LIST, (p.I64, [0] * len(index[1][1][1])))

    def lying_nulls(index):
        index[5] = (p.LIST, (p.I64, [7] * len(index[1][1][1])))

    def not_from_zero(index):
        for page in index[1][1][1]:
            page[3] = p.i64(page[3][1] + 1)

    def falling(index):
        index[1][1][1][1][3] = p.i64(0)
        index[1][1][1][2][3] = p.i64(-3)

    def elsewhere(index):
        index[1][1][1][1][1] = p.i64(1 << 40)

    def swapped(index):
        index[2], index[3] = index[3], index[2]
    rows = many_strings()[:2000]
    for what, column, offset in (("null pages without nulls", all_null, None), ("nulls that are not there", lying_nulls, None),
                                 ("first row 1", None, not_from_zero), ("falling rows", None, falling),
                                 ("outside the file", None, elsewhere), ("bounds swapped", swapped, None)):
        path = with_index(scratch("64.parquet"), rows, column, offset)
        done = firn("parquet", "verify", path, "--json", expect=8)
        kinds = {f["kind"] for f in json.loads(done.stdout)["findings"]}
        check(kinds <= {"column_index", "offset_index"} and kinds, f"{what}: {kinds}")
        table = table_of([(path, rows)] * 2, STRING_FIELDS)
        compact(table, rows=False)
        equal(fx_table.rows_of(table), fx_table.oracle(table), what)


def report_67_bounds_below_the_greatest_value():
    """Report 67, delta-io/delta#7444: a footer's bound that was cut to milliseconds is told by parquet verify."""
    fields = [field(1, "id", "long"), field(2, "at", "timestamptz")]
    nodes = [p.leaf("id", p.INT64, 1), p.leaf("at", p.INT64, 2, logical="timestamptz")]
    greatest = micros(datetime.datetime(2024, 5, 1, 12, 0, 53, 80758, tzinfo=UTC))
    rows = [{"id": i, "at": greatest - 1000 * i} for i in range(100)]
    path = p.write(scratch("67.parquet"), nodes, [rows])
    cut = struct.pack("<q", greatest // 1000 * 1000)
    patch_column(path, "at", lambda meta: statistics(meta, minimum=struct.pack("<q", greatest - 99000), maximum=cut, nulls=0))
    done = firn("parquet", "verify", path, expect=8)
    check("2024-05-01T12:00:53.080758Z" in done.stdout and "column at" in done.stdout, done.stdout)
    # Values are encoded anew here, so that our bounds are those of the values.
    table = table_of([(path, rows)] * 3, fields)
    compact(table, rows=False)
    equal(bounds(table, 2), [(struct.pack("<q", greatest - 99000), struct.pack("<q", greatest))], "bounds")


def report_68_uuids():
    """Report 68, ClickHouse/ClickHouse#118366: UUIDs are 16 unsigned bytes in order; fixed(16) without an annotation is taken for one."""
    ids = [uuid.UUID(int=(i * 0x1357924680ACE13579BDF02468ACE1F3) % (1 << 128)) for i in range(12)] + [uuid.UUID(int=(1 << 128) - 1), uuid.UUID(int=0)]
    rows = [{"id": i, "u": u.bytes} for i, u in enumerate(ids)]
    for logical in ("uuid", None):
        nodes = [p.leaf("id", p.INT64, 1), p.leaf("u", p.FIXED, 2, logical=logical, length=16)]
        path = p.write(scratch("68.parquet"), nodes, [rows])
        table = table_of([(path, rows)] * 2, [field(1, "id", "long"), field(2, "u", "uuid")])
        compact(table, rows=False)
        equal(bounds(table, 2), [(min(u.bytes for u in ids), max(u.bytes for u in ids))], "bounds")
        done = json.loads(firn("parquet", "inspect", fx_table.strip(new_paths(table)[0]), "--json").stdout)
        column = [c for c in done["columns"] if c["column"] == "u"][0]
        equal((column["minimum"], column["maximum"]), (str(min(ids)), str(max(ids))), "bounds in the footer")


GOLDEN = [
    # Iceberg type, node, values, lower, upper in the single-value form (specification, appendix D)
    ("boolean", p.leaf("v", p.BOOLEAN, 2), [True, False], "00", "01"),
    ("int", p.leaf("v", p.INT32, 2), [-5, 70000], "fbffffff", "70110100"),
    ("long", p.leaf("v", p.INT64, 2), [-5, 1 << 40], "fbffffffffffffff", "0000000000010000"),
    ("long", p.leaf("v", p.INT32, 2), [-5, 7], "fbffffffffffffff", "0700000000000000"),
    ("float", p.leaf("v", p.FLOAT, 2), [-1.5, 2.0], "0000c0bf", "00000040"),
    ("double", p.leaf("v", p.DOUBLE_TYPE, 2), [-1.5, 2.0], "000000000000f8bf", "0000000000000040"),
    ("double", p.leaf("v", p.FLOAT, 2), [-1.5, 2.0], "000000000000f8bf", "0000000000000040"),
    ("date", p.leaf("v", p.INT32, 2, logical="date"), [-1, 19000], "ffffffff", "384a0000"),
    ("timestamp", p.leaf("v", p.INT64, 2, logical="timestamp"), [-1, 1000], "ffffffffffffffff", "e803000000000000"),
    ("string", p.string("v", 2), ["a", "éé"], "61", "c3a9c3a9"),
    ("binary", p.leaf("v", p.BYTE_ARRAY, 2), [b"\x80", b"\x01\xff"], "01ff", "80"),
    ("fixed[3]", p.leaf("v", p.FIXED, 2, length=3), [b"\x80aa", b"\x01\xff\x00"], "01ff00", "806161"),
    ("decimal(9,2)", p.leaf("v", p.INT32, 2, logical=p.decimal(9, 2)), [-129, 128], "ff7f", "0080"),
    ("decimal(18,2)", p.leaf("v", p.INT64, 2, logical=p.decimal(18, 2)), [-1, 1 << 32], "ff", "0100000000"),
    ("decimal(38,2)", p.leaf("v", p.FIXED, 2, logical=p.decimal(38, 2), length=16),
     [decimal_bytes(-1, 16), decimal_bytes(255, 16)], "ff", "00ff"),
]


def report_69_bounds_of_every_type():
    """Report 69, StarRocks/starrocks PR#69207: bounds in manifests are Iceberg's single values, not the footer's bytes."""
    for kind, node, values, lower, upper in GOLDEN:
        rows = [{"id": i, "v": v} for i, v in enumerate(values)]
        path = p.write(scratch("69.parquet"), [p.leaf("id", p.INT64, 1), node], [rows])
        table = fx_table.Table(2, [field(1, "id", "long"), field(2, "v", kind)])
        made = [table.file(path, rows, oracle=False) for _ in range(2)]
        table.snapshot([table.manifest([table.entry(f) for f in made])])
        table.save()
        compact(table, rows=False)
        equal([(low.hex(), high.hex()) for low, high in bounds(table, 2)], [(lower, upper)], kind)


def report_70_dictionary_and_fallback():
    """Report 70, prestodb/presto PR#4779: chunks whose later pages have no dictionary; what we write says which pages have one."""
    rows = [{"id": i, "s": f"v{i % 3}" if i < 15 else f"only-{i}"} for i in range(20)]
    for version in (1, 2):
        path = p.write(scratch("70.parquet"), STRING_NODES, [rows],
                       pages={"s": [p.Page(15, version, True), p.Page(None, version, False)]})
        table = table_of([(path, rows)] * 3, STRING_FIELDS)
        compact(table, rows=False)
        equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")
    # Our own fallback: a dictionary that is full before the end.
    rows = [{"id": i, "s": f"value-{i % 50}" if i < 70000 else f"unique-{i}"} for i in range(100000)]
    table = fx_table.Table(2, STRING_FIELDS, properties={"write.parquet.dict-size-bytes": "2000"})
    made = [table.data(rows)]
    table.snapshot([table.manifest([table.entry(f) for f in made])])
    table.save()
    compact(table, rows=False)
    path = fx_table.strip(new_paths(table)[0])
    pages = json.loads(firn("parquet", "inspect", path, "--pages", "--json").stdout)["pages"]
    encodings = {page["encoding"] for page in pages if page["column"] == "s" and page["type"].startswith("data")}
    # A dictionary that is outgrown is given up for the whole chunk, or from there on.
    bugkit.kit.check(encodings in ({"RLE_DICTIONARY", "PLAIN"}, {"PLAIN"}), f"encodings of the pages: {encodings}")
    import duckdb
    for value in ("value-7", "unique-99999"):
        found = duckdb.execute(f"SELECT count(*) FROM '{path}' WHERE s = '{value}'").fetchone()[0]
        equal(found, sum(row["s"] == value for row in rows), value)


def bloom_filters_hold_every_value():
    """Report 65, duckdb/duckdb PR#23826: the filters that a table asks for are of the right length, and no reader loses a row by them."""
    import duckdb
    properties = {"write.parquet.bloom-filter-enabled.column.id": "true", "write.parquet.bloom-filter-enabled.column.s": "true",
                  "write.parquet.bloom-filter-fpp.column.s": "0.001", "write.parquet.bloom-filter-max-bytes": "65536"}
    rows = [{"id": i * 7, "s": None if i % 9 == 0 else f"v{i % 4000}"} for i in range(20000)]
    table = fx_table.Table(2, STRING_FIELDS, properties=properties)
    made = [table.data(rows[i::4]) for i in range(4)]
    table.snapshot([table.manifest([table.entry(f) for f in made])])
    table.save()
    compact(table, rows=False)
    path = fx_table.strip(new_paths(table)[0])
    report = json.loads(firn("parquet", "verify", path, "--json").stdout)
    equal(report["files"][0]["bloom_filters"], 2, "Bloom filters")
    for i in range(0, 20000, 411):
        found = duckdb.execute(f"SELECT count(*) FROM '{path}' WHERE id = {i * 7}").fetchone()[0]
        equal(found, 1, f"id {i * 7}")
        if rows[i]["s"] is not None:
            found = duckdb.execute(f"SELECT count(*) FROM '{path}' WHERE s = '{rows[i]['s']}'").fetchone()[0]
            equal(found, sum(r["s"] == rows[i]["s"] for r in rows), rows[i]["s"])
    # What DuckDB itself takes from a filter: values that are not there are excluded by it, mostly.
    excluded = 0
    for i in range(50):
        probe = duckdb.execute(f"SELECT bloom_filter_excludes FROM parquet_bloom_probe('{path}', 'id', {i * 7 + 3})").fetchall()
        excluded += all(row[0] for row in probe)
    check(excluded > 40, f"only {excluded} of 50 absent values are excluded")


def report_65_bloom_filters():
    """Report 65: see bloom_filters_hold_every_value."""
    bloom_filters_hold_every_value()


if __name__ == "__main__":
    assert os.path.exists(os.path.dirname(os.path.abspath(__file__)))
    bugkit.main([test for name, test in sorted(globals().items()) if name.startswith("report_")])
