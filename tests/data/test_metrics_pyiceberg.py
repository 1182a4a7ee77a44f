"""Metrics in the manifest entries of compacted files, against the data itself and against what PyIceberg computes.

Counts must be exact, bounds as tight as the metrics mode allows. Needs FIRN_BINARY, PyIceberg and PyArrow.
"""
import datetime
import decimal
import math
import os
import subprocess
import sys
import tempfile
import uuid


def skip(reason):
    print("skipped:", reason)
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)


FIRN = os.environ.get("FIRN_BINARY", "")
if not os.access(FIRN, os.X_OK):
    skip("FIRN_BINARY names no program")
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.conversions import from_bytes
    from pyiceberg.io.pyarrow import (compute_statistics_plan, data_file_statistics_from_parquet_metadata,
                                      parquet_path_to_id_mapping)
    from pyiceberg.schema import Schema
    from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType, FloatType,
                                 IntegerType, ListType, LongType, MapType, NestedField, StringType, StructType,
                                 TimestampType, TimestamptzType, TimeType, UUIDType)
except ImportError as missing:
    skip(f"a Python package is missing: {missing}")

SCHEMA = Schema(
    NestedField(1, "i", IntegerType()), NestedField(2, "l", LongType()), NestedField(3, "f", FloatType()),
    NestedField(4, "d", DoubleType()), NestedField(5, "small", DecimalType(7, 2)), NestedField(6, "wide", DecimalType(30, 5)),
    NestedField(7, "day", DateType()), NestedField(8, "at", TimestampType()), NestedField(9, "zoned", TimestamptzType()),
    NestedField(10, "clock", TimeType()), NestedField(11, "s", StringType()), NestedField(12, "b", BinaryType()),
    NestedField(13, "x", FixedType(20)), NestedField(14, "u", UUIDType()), NestedField(15, "flag", BooleanType()),
    NestedField(16, "st", StructType(NestedField(17, "n", LongType()), NestedField(18, "t", StringType()))),
    NestedField(19, "li", ListType(20, IntegerType(), element_required=False)),
    NestedField(21, "m", MapType(22, StringType(), 23, DoubleType(), value_required=False)),
    NestedField(24, "nothing", StringType()))


def row(n, start):
    """One row: nulls, NaN, long texts and both ends of the ranges turn up."""
    if n % 11 == 0:
        return {field.name: None for field in SCHEMA.fields}
    noon = datetime.datetime(1969, 12, 31, 12) + datetime.timedelta(microseconds=n * 999_999_937 * (-1) ** n)
    return {
        "i": (n * 7919) % 4001 - 2000, "l": n * 10**12 * (-1) ** n, "f": math.nan if n % 7 == 0 else n / 4 - 5,
        "d": -0.0 if n % 5 == 0 else math.nan if n % 13 == 0 else n * 1e100,
        "small": decimal.Decimal(n * 37 - 5000) / 100, "wide": decimal.Decimal(n - 20) * 10**15 / 100000,
        "day": datetime.date(1970, 1, 1) + datetime.timedelta(n * 31 - 4000), "at": noon,
        "zoned": noon.replace(tzinfo=datetime.timezone.utc), "clock": datetime.time(n % 24, n % 60, 59, 999999),
        "s": ("é€😀"[n % 3] * (n % 40)) + start, "b": bytes([255 - n % 3]) * (n % 30), "x": bytes([n % 256]) * 20,
        "u": uuid.UUID(int=(n * 0x9E3779B97F4A7C15F39CC0605CEDC834) % 2**128).bytes, "flag": n % 2 == 0,
        "st": None if n % 3 == 0 else {"n": None if n % 4 == 0 else n, "t": f"t{n}"},
        "li": None if n % 5 == 0 else [None if k == 1 else k for k in range(n % 4)],
        "m": {f"k{k}": math.nan if k == 2 else float(k) for k in range(n % 4)}, "nothing": None}


def column(field, rows):
    values = [r[field.name] for r in rows]
    if pa.types.is_map(field.type):
        values = [None if v is None else list(v.items()) for v in values]
    if isinstance(field.type, pa.BaseExtensionType):
        return field.type.wrap_array(pa.array(values, type=field.type.storage_type))
    return pa.array(values, type=field.type)


def make_table(folder, properties):
    global SCHEMA
    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/wh")
    catalog.create_namespace("n")
    table = catalog.create_table("n.t", schema=SCHEMA, properties=properties)
    SCHEMA = table.schema()  # creation gives new ids
    arrow = SCHEMA.as_arrow()
    for part in range(6):
        rows = [row(n, f"start{part}") for n in range(part * 50, part * 50 + 50)]
        table.append(pa.table([column(field, rows) for field in arrow], schema=arrow))
    return catalog


problems = []


def check(condition, message):
    if not condition:
        problems.append(message)
        print("wrong:", message)


def leaf_values(rows, path):
    """(entries of the leaf as Parquet counts them, values) for a path of names; lists and maps take "*", "key", "value"."""
    entries, values = 0, []

    def walk(value, rest):
        nonlocal entries
        if not rest:
            entries += 1
            if value is not None:
                values.append(value)
        elif rest[0] in ("*", "key", "value"):
            items = [] if value is None else value
            if not items:
                entries += 1
            for item in items:
                walk(item if rest[0] == "*" else item[0 if rest[0] == "key" else 1], rest[1:])
        elif value is None:
            entries += 1
        else:
            walk(value[rest[0]], rest[1:])

    for one in rows:
        walk(one, path)
    return entries, values


LEAVES = {"st.n": ("st", "n"), "st.t": ("st", "t"), "li.element": ("li", "*"), "m.key": ("m", "key"),
          "m.value": ("m", "value")}


def upper_text(text, length):
    if len(text) <= length:
        return text
    cut = list(text[:length])
    while cut:
        code = ord(cut[-1])
        if code < 0x10FFFF:
            cut[-1] = chr(0xE000 if code == 0xD7FF else code + 1)
            return "".join(cut)
        cut.pop()
    return None


def upper_bytes(data, length):
    if len(data) <= length:
        return data
    cut = bytearray(data[:length])
    while cut and cut[-1] == 255:
        cut.pop()
    if cut:
        cut[-1] += 1
    return bytes(cut) or None


def expected_bounds(kind, values, length):
    values = [v for v in values if not (isinstance(v, float) and math.isnan(v))]
    if not values:
        return None, None
    if isinstance(kind, UUIDType):
        values = [v if isinstance(v, bytes) else v.bytes for v in values]
        return min(values), max(values)
    key = (lambda v: v.encode()) if isinstance(kind, StringType) else (lambda v: (v, math.copysign(1, v))) \
        if isinstance(kind, (FloatType, DoubleType)) else (lambda v: v)
    low, high = min(values, key=key), max(values, key=key)
    if isinstance(kind, (FloatType, DoubleType)):
        low, high = (-0.0 if low == 0 else low), (0.0 if high == 0 else high)
    if length is not None and isinstance(kind, StringType):
        return low[:length], upper_text(high, length)
    if length is not None and isinstance(kind, (BinaryType, FixedType)):
        return low[:length], upper_bytes(high, length)
    return low, high


def found_bound(kind, data):
    if data is None:
        return None
    if isinstance(kind, UUIDType):
        return bytes(data)
    return from_bytes(kind, data)


def plain(kind, value):
    """The value as from_bytes gives it."""
    epoch = datetime.datetime(1970, 1, 1)
    if isinstance(kind, DateType):
        return (value - epoch.date()).days
    if isinstance(kind, (TimestampType, TimestamptzType)):
        return (value.replace(tzinfo=None) - epoch) // datetime.timedelta(microseconds=1)
    if isinstance(kind, TimeType):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
    return value


def same(kind, a, b):
    if a is None or b is None:
        return a is b
    if isinstance(kind, (FloatType, DoubleType)):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return a == b


def check_column(entry, rows, field_id, mode):
    field = SCHEMA.find_field(field_id)
    name = SCHEMA.find_column_name(field_id)
    path = LEAVES.get(name, (name,))
    repeated = name in ("li.element", "m.key", "m.value")
    entries, values = leaf_values(rows, path)
    if mode == "none":
        check(field_id not in entry.value_counts and field_id not in entry.column_sizes, f"{name}: counts although none")
        return
    check(entry.value_counts.get(field_id) == entries, f"{name}: {entry.value_counts.get(field_id)} values, not {entries}")
    nulls = entries - len(values)
    check(entry.null_value_counts.get(field_id) == nulls, f"{name}: {entry.null_value_counts.get(field_id)} nulls, not {nulls}")
    check(entry.column_sizes.get(field_id, 0) > 0, f"{name}: no size")
    if isinstance(field.field_type, (FloatType, DoubleType)):
        nans = sum(1 for v in values if math.isnan(v))
        check(entry.nan_value_counts.get(field_id) in ((nans, None) if repeated else (nans,)),
              f"{name}: {entry.nan_value_counts.get(field_id)} NaN, not {nans}")
    else:
        check(field_id not in entry.nan_value_counts, f"{name}: NaN count of {field.field_type}")
    low, high = found_bound(field.field_type, entry.lower_bounds.get(field_id)), found_bound(
        field.field_type, entry.upper_bounds.get(field_id))
    if repeated or mode == "counts":
        check(low is None and high is None, f"{name}: bounds {low!r} {high!r}")
        return
    length = int(mode[9:-1]) if mode.startswith("truncate") else None
    wanted = [v if v is None else plain(field.field_type, v)
              for v in expected_bounds(field.field_type, values, length)]
    check(same(field.field_type, low, wanted[0]), f"{name}: lower bound {low!r}, not {wanted[0]!r}")
    check(same(field.field_type, high, wanted[1]), f"{name}: upper bound {high!r}, not {wanted[1]!r}")


def check_against_pyiceberg(entry, metadata, properties):
    """PyIceberg's own statistics of the same footer: equal counts, and equal bounds where it writes any."""
    theirs = data_file_statistics_from_parquet_metadata(
        parquet_metadata=metadata, stats_columns=compute_statistics_plan(SCHEMA, properties),
        parquet_column_mapping=parquet_path_to_id_mapping(SCHEMA)).to_serialized_dict()
    for name in ("value_counts", "null_value_counts"):
        for field_id, count in theirs[name].items():
            check(getattr(entry, name).get(field_id) == count, f"{name} of {field_id}: PyIceberg says {count}")
    for offset, split in zip(theirs["split_offsets"], entry.split_offsets, strict=True):
        check(offset == split, f"split offset {split}, PyIceberg says {offset}")


def rows_of(table):
    plain_rows = table.to_pylist()
    for one in plain_rows:
        if isinstance(one["u"], uuid.UUID):
            one["u"] = one["u"].bytes
    return plain_rows


def run(properties, modes):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FIRN_STATE_DIR"] = os.path.join(folder, "state")
        make_table(folder, properties)
        done = subprocess.run([FIRN, "compact", "n.t", "--catalog", f"{folder}/catalog.db", "--catalog-name", "default",
                               "--rewrite-all", "--yes"], text=True, capture_output=True)
        check(done.returncode == 0, f"compact: {done.returncode} {done.stderr}")
        catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/wh")
        table = catalog.load_table("n.t")
        tasks = list(table.scan().plan_files())
        check(len(tasks) == 1, f"{len(tasks)} files")
        entry = tasks[0].file
        rows = rows_of(table.scan().to_arrow())
        check(entry.record_count == len(rows) == 300, f"{entry.record_count} rows")
        path = entry.file_path.removeprefix("file://")
        check(entry.file_size_in_bytes == os.path.getsize(path), "file size")
        for name in [f.name for f in SCHEMA.fields if f.field_type.is_primitive] + list(LEAVES):
            check_column(entry, rows, SCHEMA.find_field(name).field_id, modes.get(name, modes[None]))
        metadata = pq.read_metadata(path)
        check_against_pyiceberg(entry, metadata, properties)
        check(metadata.num_columns == 21, f"{metadata.num_columns} columns")


run({}, {None: "truncate(16)"})
run({"write.metadata.metrics.default": "counts", "write.metadata.metrics.column.s": "truncate(3)",
     "write.metadata.metrics.column.b": "full", "write.metadata.metrics.column.x": "truncate(5)",
     "write.metadata.metrics.column.u": "full", "write.metadata.metrics.column.i": "none",
     "write.metadata.metrics.column.st.n": "full", "write.metadata.metrics.column.li.element": "none",
     "write.parquet.compression-codec": "snappy"},
    {None: "counts", "s": "truncate(3)", "b": "full", "x": "truncate(5)", "u": "full", "i": "none", "st.n": "full",
     "li.element": "none"})
if problems:
    sys.exit(f"{len(problems)} problems")
print("metrics as expected")
