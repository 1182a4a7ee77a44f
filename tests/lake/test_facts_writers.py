"""Every bound and count that firn takes from a footer against the values themselves, as PyArrow decodes them: files of
the corpus (many writers, old and new), of Spark, and random ones by PyArrow, DuckDB and firn, with any types, row
groups and statistics. A bound that leaves a value out loses rows; one that is called exact must be a value.

The seed is FIRN_TEST_SEED or a constant, and is printed.
"""

import datetime
import decimal
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
import tempfile


def skip(reason):
    print("skipped:", reason)
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)


DUMP, FIRN, CORPUS = (os.environ.get(k) for k in ("FIRN_DUMP_ENTRY", "FIRN", "FIRN_CORPUS"))
if not (DUMP and FIRN and CORPUS):
    skip("needs FIRN_DUMP_ENTRY, FIRN and FIRN_CORPUS")
try:
    import duckdb
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from pyiceberg import types
    from pyiceberg.expressions import EqualTo, GreaterThanOrEqual, IsNaN, IsNull, LessThanOrEqual, NotNaN, NotNull
    from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
except ImportError as missing:
    skip(missing)

SEED = int(os.environ.get("FIRN_TEST_SEED", "20260731"))
ROUNDS = int(os.environ.get("FIRN_TEST_ROUNDS", "60"))
print("seed", SEED)
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
compared = {"files": 0, "leaves": 0, "bounds": 0, "exact": 0, "refused": 0, "unread": 0, "pruning": 0}


def decode(kind, text):
    """A single value in the binary form of appendix D, in the terms of `values_of`."""
    if text == "-":
        return None
    raw = bytes.fromhex(text[1:])
    if kind == "boolean":
        return raw != b"\0"
    if kind in ("int", "date", "long"):
        return int.from_bytes(raw, "little", signed=True)
    if kind == "float":
        return struct.unpack("<f", raw)[0]
    if kind == "double":
        return struct.unpack("<d", raw)[0]
    if kind.startswith("decimal"):
        return int.from_bytes(raw, "big", signed=True)
    if kind.endswith("_ns"):
        return int.from_bytes(raw, "little", signed=True)
    if kind.startswith("time"):
        return int.from_bytes(raw, "little", signed=True) * 1000
    return raw


def values_of(kind, column):
    """Values that are not null: numbers as int or float, decimals unscaled, times in nanoseconds, the rest as bytes."""
    if pa.types.is_dictionary(column.type):
        column = pa.concat_arrays([c.dictionary_decode() for c in column.chunks]) if isinstance(
            column, pa.ChunkedArray) else column.dictionary_decode()
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([c.storage for c in column.chunks], column.type.storage_type)
    type_ = column.type
    column = column.drop_null()
    if kind.startswith("decimal"):
        return [int(v.scaleb(type_.scale, decimal.Context(prec=60))) for v in column.to_pylist()]
    if kind.startswith("time"):
        if pa.types.is_date(type_):
            return [v * 86400 * 10**9 for v in column.cast(pa.int32()).to_pylist()]
        integers = column.cast(pa.int32() if pa.types.is_time32(type_) else pa.int64())
        return [v * NANOSECONDS[type_.unit] for v in integers.to_pylist()]
    if kind == "date":
        return column.cast(pa.int32()).to_pylist()
    if kind == "long" and pa.types.is_duration(type_):
        return column.cast(pa.int64()).to_pylist()
    if kind == "string":
        return [v.encode() if isinstance(v, str) else v for v in column.to_pylist()]
    return column.to_pylist()


def take(table, dotted):
    parts = dotted.split(".")
    if table.column_names.count(parts[0]) != 1:
        return None
    column = table[parts[0]]
    for part in parts[1:]:
        if not pa.types.is_struct(column.type) or column.type.get_field_index(part) < 0:
            return None
        column = pc.struct_field(column, part)
    return column


def check(condition, *what):
    if not condition:
        print("seed", SEED, "WRONG:", *what)
        sys.exit(1)


def check_bounds(where, kind, lower, upper, ordered):
    """`ordered`: all values but NaN."""
    low, high = decode(kind, lower), decode(kind, upper)
    for bound, holds in ((low, lambda v: low <= v), (high, lambda v: high >= v)):
        if bound is None:
            continue
        compared["bounds"] += 1
        wrong = [v for v in ordered if not holds(v)]
        check(not wrong, where, "bound", bound, "leaves out", wrong[:3])
    return low, high


def check_leaf(where, line, column):
    _, _, kind, _, levels, nulls, nans, lower, upper, lower_exact, upper_exact = line
    values = values_of(kind, column)
    ordered = [v for v in values if not (isinstance(v, float) and math.isnan(v))]
    check(int(levels) == len(column), where, "values", levels)
    check(int(nulls) in (-1, len(column) - len(values)), where, "nulls", nulls)
    check(int(nans) in (-1, len(values) - len(ordered)), where, "nans", nans)
    low, high = check_bounds(where, kind, lower, upper, ordered)
    for bound, exact, value in ((low, lower_exact, min(ordered, default=None)),
                                (high, upper_exact, max(ordered, default=None))):
        if exact == "1":
            compared["exact"] += 1
            check(bound == value, where, "exact", bound, "is", value)
    compared["leaves"] += 1
    return ordered


def check_entry(where, kind, lower, upper, ordered):
    low, high = check_bounds(where + " entry", kind, lower, upper, ordered)
    for bound in (low, high):
        if kind == "string" and bound is not None:
            check(len(bound.decode()) <= 16, where, "entry's bound is too long", bound)
        if kind == "binary" and bound is not None:
            check(len(bound) <= 16, where, "entry's bound is too long", bound)


PYICEBERG = {"boolean": types.BooleanType, "int": types.IntegerType, "long": types.LongType, "float": types.FloatType,
             "double": types.DoubleType, "date": types.DateType, "time": types.TimeType,
             "timestamp": types.TimestampType, "timestamptz": types.TimestamptzType, "string": types.StringType,
             "binary": types.BinaryType}


def literals(kind, type_, values):
    """Some of the values as PyIceberg takes them in expressions."""
    some = [*values[:3], *values[-2:], min(values), max(values)]
    if kind == "string":
        return [v.decode() for v in some if v.decode("utf-8", "ignore").encode() == v]
    if kind.startswith("time"):
        return [v // 1000 for v in some]
    if kind.startswith("decimal"):
        return [decimal.Decimal(v).scaleb(-type_.scale, decimal.Context(prec=60)) for v in some]
    if kind == "float":
        # PyIceberg takes an infinite literal to be beyond every float.
        return [v for v in some if not math.isinf(v)]
    return some


def check_pruning(where, block, line, column, ordered):
    """PyIceberg must not leave the file out for a value that it has."""
    kind, id_ = line[3], int(line[2])
    if kind.startswith("decimal"):
        type_ = types.DecimalType(*map(int, kind[8:-1].split(",")))
    elif kind in PYICEBERG:
        type_ = PYICEBERG[kind]()
    else:
        return
    maps = {name: {int(b[1]): (bytes.fromhex(b[2][1:]) if binary else int(b[2])) for b in block if b[0] == name}
            for name, binary in (("values", 0), ("nulls", 0), ("nans", 0), ("lower", 1), ("upper", 1))}
    file = DataFile.from_args(record_count=len(column), value_counts=maps["values"], null_value_counts=maps["nulls"],
                              nan_value_counts=maps["nans"], lower_bounds=maps["lower"], upper_bounds=maps["upper"])
    schema = Schema(types.NestedField(id_, "c", type_, required=False))
    wanted = [kind_("c", v) for v in (literals(kind, type_, ordered) if ordered else [])
              for kind_ in (EqualTo, LessThanOrEqual, GreaterThanOrEqual)]
    if column.null_count:
        wanted.append(IsNull("c"))
    if ordered:
        wanted.append(NotNull("c"))
    if kind in ("float", "double"):
        wanted += [IsNaN("c")] * (len(ordered) + column.null_count < len(column)) + [NotNaN("c")] * bool(ordered)
    for expression in wanted:
        compared["pruning"] += 1
        check(_InclusiveMetricsEvaluator(schema, expression).eval(file), where, "is left out for", expression)


def check_splits(where, splits, path):
    metadata = pq.ParquetFile(path).metadata
    expected = []
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        starts = [o for c in range(metadata.num_columns) for o in
                  (group.column(c).dictionary_page_offset, group.column(c).data_page_offset)
                  if o and group.column(c).total_compressed_size > 0]
        if starts:
            expected.append(min(starts))
    check(splits == expected or not splits and expected != sorted(expected), where, "split offsets", splits, expected)


def check_file(path, block, read=pq.read_table):
    where = str(path)
    if block and block[-1][0] == "refused":
        compared["refused"] += 1
        return block[-1][1]
    try:
        table = read(path)
        check_splits(where, [int(b[1]) for b in block if b[0] == "split"], path)
    except (pa.ArrowException, OSError, NotImplementedError) as error:
        compared["unread"] += 1
        return "PyArrow: %s" % error
    compared["files"] += 1
    bounds = {(b[0], b[1]): b[2] for b in block if b[0] in ("lower", "upper")}
    rows = [int(b[1]) for b in block if b[0] == "rows"]
    check(rows == [table.num_rows], where, "rows", rows)
    for line in block:
        if line[0] != "leaf" or line[4] != "0" or line[3] in ("geometry", "geography"):
            if line[0] == "leaf" and line[4] != "0":
                check(("lower", line[2]) not in bounds, where, "bounds below a list")
            continue
        column = take(table, line[1])
        if column is None:
            continue
        ordered = check_leaf(where + " " + line[1], line[1:], column)
        check_pruning(where + " " + line[1], block, line, column, ordered)
        check_entry(where + " " + line[1], line[3], bounds.get(("lower", line[2]), "-"),
                    bounds.get(("upper", line[2]), "-"), ordered)
    return None


def check_files(paths, told=False):
    out = subprocess.run([DUMP, *map(str, paths)], capture_output=True)
    check(out.returncode == 0, "dump_entry ended with", out.returncode, out.stderr[-2000:])
    blocks = []
    for line in out.stdout.decode("utf-8", "surrogateescape").splitlines():
        fields = line.split("\t")
        if fields[0] == "file":
            blocks.append([])
        else:
            blocks[-1].append(fields)
    check(len(blocks) == len(paths), "blocks", len(blocks), len(paths))
    for path, block in zip(paths, blocks):
        problem = check_file(path, block)
        if told and problem:
            print("  %s: %s" % (pathlib.Path(path).name, problem))


def corpus_files(folder):
    files = [f for f in sorted(pathlib.Path(CORPUS, "parquet").glob("*.parquet"))
             if f.name != "large_string_map.brotli.parquet"]
    files += sorted(pathlib.Path(CORPUS, "parquet-encodings").rglob("*.parquet"))
    for archive in sorted(pathlib.Path(CORPUS, "spark").glob("*.tar.gz")):
        with tarfile.open(archive) as tar:
            tar.extractall(folder / "spark" / archive.stem, filter="data")
    return files + sorted((folder / "spark").rglob("*.parquet"))


def random_column(rng, rows):
    """A name for the type, and an array of it."""
    def integers(low, high):
        narrow = rng.choice([(low, high), (max(low, -3), min(high, 3)), (low, low), (high, high)])
        return [rng.randint(*narrow) for _ in range(rows)]

    def floats():
        pool = [0.0, -0.0, 1.5, -2.5, float("inf"), float("-inf"), 1e300 if rng.random() < 0.5 else 3.0, 5e-324]
        pool += [float("nan")] * rng.choice([0, 0, 1, 20])
        pool = rng.choice([pool, [0.0], [-0.0], [0.0, -0.0, 1.0], [float("nan")]])
        return [rng.choice(pool) for _ in range(rows)]

    def texts():
        alphabet = rng.choice(["ab", "a\x7f\x80é", "\ud7ff\ue000", "z\U0010ffff", "日本語xyz"])
        longest = rng.choice([1, 3, 20, 80, 300])
        return ["".join(rng.choice(alphabet) for _ in range(rng.randint(0, longest))) for _ in range(rows)]

    def bytes_of(length=None):
        pool = rng.choice([b"\x00\xff", b"\x7f\x80", bytes(range(256))])
        longest = rng.choice([1, 20, 300])
        return [bytes(rng.choice(pool) for _ in range(length if length else rng.randint(0, longest)))
                for _ in range(rows)]

    def decimals(precision, scale):
        top = 10**precision - 1
        return [decimal.Decimal(v).scaleb(-scale, decimal.Context(prec=60)) for v in integers(-top, top)]

    unit = rng.choice(["s", "ms", "us", "ns"])
    widest = 2**63 // NANOSECONDS[unit] if unit != "ns" else 2**62
    precision = rng.randint(1, 38)
    scale = rng.randint(0, precision)
    small = min(widest, 8 * 10**18 // NANOSECONDS[unit])
    choices = [
        (lambda: (integers(-2**31, 2**31 - 1), pa.int32())), (lambda: (integers(-2**63, 2**63 - 1), pa.int64())),
        (lambda: (integers(-128, 127), pa.int8())), (lambda: (integers(0, 2**16 - 1), pa.uint16())),
        (lambda: (integers(0, 2**32 - 1), pa.uint32())), (lambda: (floats(), pa.float64())),
        (lambda: ([struct.unpack("<f", struct.pack("<f", v if abs(v) < 1e38 or math.isinf(v) or math.isnan(v) else 7.0))[0]
                   for v in floats()], pa.float32())),
        (lambda: (texts(), pa.string())), (lambda: (bytes_of(), pa.binary())),
        (lambda: (bytes_of(16), pa.binary(16))), (lambda: (bytes_of(5), pa.binary(5))),
        (lambda: (decimals(precision, scale), pa.decimal128(precision, scale))),
        (lambda: (integers(-small, small), pa.timestamp(unit, rng.choice([None, "UTC"])))),
        (lambda: (integers(0, 86400 * 1000 - 1), pa.time32("ms"))),
        (lambda: (integers(0, 86400 * 10**6 - 1), pa.time64("us"))),
        (lambda: (integers(0, 86400 * 10**9 - 1), pa.time64("ns"))),
        (lambda: (integers(-10**6, 10**6), pa.date32())),
        (lambda: ([rng.random() < rng.choice([0, 0.5, 1]) for _ in range(rows)], pa.bool_())),
    ]
    values, type_ = rng.choice(choices)()
    share = rng.choice([0, 0, 0.3, 1])
    values = [None if rng.random() < share else v for v in values]
    # Runs, so that whole row groups are null, or lack what others have.
    if rng.random() < 0.5:
        values.sort(key=lambda v: (v is None, str(v)))
    if pa.types.is_temporal(type_):
        width = pa.int32() if type_.bit_width == 32 else pa.int64()
        return pa.array(values, width).cast(type_)
    return pa.array(values, type_)


def random_table(rng):
    rows = rng.choice([0, 1, 5, 40, 200])
    columns = [random_column(rng, rows) for _ in range(rng.randint(1, 12))]
    table = pa.table({"c%d" % i: c for i, c in enumerate(columns)})
    if rng.random() < 0.3 and rows:
        table = table.append_column("nested", pa.StructArray.from_arrays(
            [random_column(rng, rows), random_column(rng, rows)], ["x", "y"],
            mask=pa.array([rng.random() < 0.2 for _ in range(rows)])))
        table = table.append_column("list", pa.array([[1, None]] * rows, pa.list_(pa.int32())))
    return table


def write_pyarrow(rng, table, path):
    names = [n for n in table.column_names if n.startswith("c")]
    statistics = rng.choice([True, True, [n for n in names if rng.random() < 0.5]])
    options = {"row_group_size": rng.choice([1, 7, 50, 1000]), "write_statistics": statistics,
               "use_dictionary": rng.random() < 0.5, "data_page_version": rng.choice(["1.0", "2.0"]),
               "version": rng.choice(["2.4", "2.6"]), "store_schema": rng.random() < 0.5,
               "store_decimal_as_integer": rng.random() < 0.5}
    if rng.random() < 0.1:
        options["use_deprecated_int96_timestamps"] = True
    try:
        pq.write_table(table, path, **options)
    except (pa.ArrowException, ValueError):
        # Timestamps that the version, or INT96, can't hold.
        options.update(version="2.6", use_deprecated_int96_timestamps=False)
        pq.write_table(table, path, **options)


def write_duckdb(rng, table, path):
    connection = duckdb.connect()
    connection.register("t", table)
    version = rng.choice(["V1", "V2"])
    connection.execute("COPY t TO '%s' (FORMAT parquet, ROW_GROUP_SIZE %d, PARQUET_VERSION %s)"
                       % (path, rng.choice([2048, 100000]), version))


def random_files(folder):
    made = []
    skipped = 0
    for i in range(ROUNDS):
        rng = random.Random(SEED * 1000 + i)
        table = random_table(rng)
        path = folder / ("pyarrow%d.parquet" % i)
        write_pyarrow(rng, table, path)
        made.append(path)
        path = folder / ("duckdb%d.parquet" % i)
        try:
            write_duckdb(rng, table, path)
            made.append(path)
        except (duckdb.Error, pa.ArrowException):
            skipped += 1
        path = folder / ("firn%d.parquet" % i)
        merged = subprocess.run([FIRN, "parquet", "merge", "-o", path, made[-1], made[-1]], capture_output=True)
        if merged.returncode == 0:
            made.append(path)
        else:
            skipped += 1
    # The greatest text is that of a row whose struct is null.
    texts = ["t%d" % i for i in range(5)]
    struct_ = pa.StructArray.from_arrays([pa.array(texts, pa.binary())], ["y"], mask=pa.array([False] * 4 + [True]))
    made.append(folder / "nested.parquet")
    write_duckdb(random.Random(1), pa.table({"nested": struct_}), made[-1])
    print("%d random files, %d not written" % (len(made), skipped))
    check(len(made) > ROUNDS * 2, "too few files were written")
    return made


with tempfile.TemporaryDirectory() as name:
    check_files(corpus_files(pathlib.Path(name)), told=True)
    print("corpus:", compared)
    check_files(random_files(pathlib.Path(name)), told=True)
    print("all:", compared)
    check(compared["bounds"] > 3000 and compared["exact"] > 500, "too little was compared")
