"""What firn, PyArrow and DuckDB read from the same files: the corpus, and files generated in every combination of types, nesting, nulls,
encodings, page and row-group cuts and codecs. firn's levels and values are held against PyArrow's, PyArrow's rows against DuckDB's, so
that all three agree, or the difference stands here with its reason. FIRN_TEST_SEED sets the seed, FIRN_TEST_FILES the number of files.
"""
import datetime
import decimal
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import uuid

try:
    import duckdb
except ImportError:
    duckdb = None
if duckdb is None:
    print("skipped: needs DuckDB")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)
import test_reader_pyarrow as by_pyarrow
from test_reader_pyarrow import corpus, dump, pa, pq

FIRN = os.environ.get("FIRN")

# Where DuckDB does not read a file of the corpus, or reads something else than PyArrow and firn.
NOT_BY_DUCKDB = {
    "large_string_map.brotli.parquet": "2 GiB for one value",
}


def normal(value):
    """Values of both readers in one form."""
    if isinstance(value, dict):
        return tuple((k, normal(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return [normal(v) for v in value]
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    if isinstance(value, decimal.Decimal):
        return str(value.normalize()) if value else "0"
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, (str, uuid.UUID)):
        return str(value).encode()
    return value


def by_duckdb(path):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    result = connection.execute(f"SELECT * FROM read_parquet('{path}', binary_as_string = false)").arrow()
    return result.read_all() if hasattr(result, "read_all") else result


def compare(path):
    """PyArrow's rows against DuckDB's, column by column."""
    theirs, mine = by_duckdb(path), pq.read_table(path, partitioning=None)
    assert theirs.num_rows == mine.num_rows, f"{theirs.num_rows} rows by DuckDB, {mine.num_rows} by PyArrow"
    assert theirs.num_columns == mine.num_columns, "columns"
    for i, name in enumerate(mine.column_names):
        a, b = theirs.column(i), mine.column(i)
        left, right = [normal(v) for v in plain_list(a)], [normal(v) for v in plain_list(b)]
        for row, (x, y) in enumerate(zip(left, right)):
            assert x == y, f"{name}: row {row}: {x!r} by DuckDB, {y!r} by PyArrow"


def plain_list(column):
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_date(kind):
        unit = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit] if hasattr(kind, "unit") else 1
        wide = pa.int32() if pa.types.is_date32(kind) or pa.types.is_time32(kind) else pa.int64()
        return [None if v is None else v * unit for v in column.cast(wide).to_pylist()]
    if pa.types.is_float16(kind):
        return [None if v is None else float(v) for v in column.to_pylist()]
    return column.to_pylist()


def corpus_files():
    root = pathlib.Path(corpus)
    yield from sorted((root / "parquet").glob("*.parquet"))
    yield from sorted((root / "parquet-encodings").rglob("*.parquet"))


def check_corpus():
    """What firn reads of these is compared with PyArrow by test_reader_pyarrow."""
    count = failures = unread = 0
    for path in corpus_files():
        if path.name in NOT_BY_DUCKDB or path.name in by_pyarrow.NOT_BY_PYARROW or path.name in by_pyarrow.REFUSED:
            continue
        count += 1
        try:
            compare(path)
        except duckdb.Error as problem:
            unread += 1
            print(f"{path.name}: DuckDB: {str(problem).splitlines()[0]}")
        except (AssertionError, pa.ArrowException, ValueError, OverflowError) as problem:
            reason = EXPLAINED.get(path.name)
            failures += reason is None
            print(f"{path.name}: {problem}" + (f" (known: {reason})" if reason else ""))
    print(f"{count} files of the corpus, {unread} not read by DuckDB, {failures} differ")
    return failures


# Files that DuckDB reads otherwise than firn and PyArrow.
EXPLAINED = {
    "nested_structs.rust.parquet": "dates beyond Python's",
    "int96_from_spark.parquet": "a year that nanoseconds can't hold: PyArrow lets it wrap around",
}


# Generated files


def scalar(dice):
    """A type and a function that draws a value of it."""
    few = dice.random() < 0.4
    span = 5 if few else 1 << 31
    kinds = [
        (pa.bool_(), lambda: dice.random() < 0.5),
        (pa.int8(), lambda: dice.randrange(-128, 128)),
        (pa.int16(), lambda: dice.randrange(-4 if few else -32768, 5 if few else 32768)),
        (pa.int32(), lambda: dice.randrange(-span, span)),
        (pa.int64(), lambda: dice.choice([-1, 1]) * dice.randrange(span) ** (1 if few else 2)),
        (pa.uint8(), lambda: dice.randrange(256)),
        (pa.uint32(), lambda: dice.randrange(1 << 32)),
        (pa.uint64(), lambda: dice.randrange(1 << 64)),
        (pa.float32(), lambda: dice.choice([0.0, -0.0, math.inf, math.nan, 1.5, dice.randrange(-99, 99) / 8])),
        (pa.float64(), lambda: dice.choice([0.0, -0.0, -math.inf, math.nan, dice.random()])),
        (pa.string(), lambda: dice.choice(["", "a", "Ω" * 30, "common"]) + (str(dice.randrange(span)) if not few else "")),
        (pa.binary(), lambda: dice.randbytes(dice.randrange(3 if few else 70))),
        (pa.binary(7), lambda: bytes([dice.randrange(4 if few else 256)]) * 7),
        (pa.decimal128(dice.choice([5, 9, 14, 18, 30]), 2), lambda: decimal.Decimal(dice.randrange(-99999, 99999)).scaleb(-2)),
        (pa.date32(), lambda: datetime.date(1900 + dice.randrange(300), 2, 3)),
        (pa.timestamp(dice.choice(["ms", "us"]), dice.choice([None, "UTC"])),
         lambda: datetime.datetime(1950, 1, 1) + datetime.timedelta(milliseconds=dice.randrange(10**13))),
        (pa.time64("us"), lambda: datetime.time(dice.randrange(24), 5, 6, dice.randrange(10**6))),
    ]
    return dice.choice(kinds)


def maybe(dice, one, nulls):
    return lambda: None if dice.random() < nulls else one()


def typed(dice, depth, nulls):
    """A type of any nesting, and a function that draws a value."""
    draw = dice.random()
    if depth == 0 or draw < 0.5:
        kind, one = scalar(dice)
        return kind, maybe(dice, one, nulls)
    if draw < 0.75:
        kind, one = typed(dice, depth - 1, nulls)
        return pa.list_(kind), maybe(dice, lambda: [one() for _ in range(dice.choice([0, 1, 2, 5]))], nulls)
    if draw < 0.9:
        parts = [typed(dice, depth - 1, nulls) for _ in range(dice.randrange(1, 4))]
        kind = pa.struct([(f"f{i}", k) for i, (k, _) in enumerate(parts)])
        return kind, maybe(dice, lambda: {f"f{i}": one() for i, (_, one) in enumerate(parts)}, nulls)
    kind, one = typed(dice, depth - 1, nulls)
    return pa.map_(pa.string(), kind), maybe(dice, lambda: [(f"k{i}", one()) for i in range(dice.randrange(3))], nulls)


# PyArrow's encodings by type, where there is no dictionary.
def encodings(dice, schema):
    found = {}
    for item in schema:
        kind = item.type
        if pa.types.is_nested(kind):
            continue
        if pa.types.is_boolean(kind):
            choices = ["PLAIN", "RLE"]
        elif pa.types.is_floating(kind):
            choices = ["PLAIN", "BYTE_STREAM_SPLIT"]
        elif pa.types.is_string(kind) or pa.types.is_binary(kind):
            choices = ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
        elif pa.types.is_fixed_size_binary(kind):
            choices = ["PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"]
        elif pa.types.is_decimal(kind):
            choices = ["PLAIN"]
        else:
            choices = ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
        found[item.name] = dice.choice(choices)
    return found


def generate(dice, path, expected):
    nulls = dice.choice([0, 0.02, 0.5, 1])
    rows = dice.choice([0, 1, 7, 300, 2500])
    columns = {}
    for i in range(dice.randrange(1, 6)):
        kind, one = typed(dice, dice.choice([0, 0, 1, 3]), nulls)
        columns[f"c{i}"] = pa.array([one() for _ in range(rows)], kind)
    table = pa.table(columns)
    expected.append(table)
    if dice.random() < 0.3:
        connection = duckdb.connect()
        connection.register("t", table)
        codec = dice.choice(["uncompressed", "snappy", "zstd", "gzip", "lz4_raw", "brotli"])
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION {codec}, ROW_GROUP_SIZE {dice.choice([2048, 10**6])}, "
                           f"PARQUET_VERSION {dice.choice(['V1', 'V2'])}, DICTIONARY_SIZE_LIMIT {dice.choice([1, 100, 10**5])})")
        return "DuckDB"
    options = {"use_dictionary": True} if dice.random() < 0.5 else {"use_dictionary": False, "column_encoding": encodings(dice, table.schema)}
    pq.write_table(table, path, compression=dice.choice(["none", "snappy", "zstd", "gzip", "brotli", "lz4"]),
                   data_page_version=dice.choice(["1.0", "2.0"]), data_page_size=dice.choice([64, 2000, 1 << 20]),
                   dictionary_pagesize_limit=dice.choice([64, 1 << 20]), row_group_size=dice.choice([1, 100, 1 << 20]) if rows < 400 else 1000,
                   write_batch_size=dice.choice([1, 17, 1024]), write_page_index=dice.random() < 0.5,
                   write_page_checksum=dice.random() < 0.5, store_decimal_as_integer=dice.random() < 0.5,
                   use_compliant_nested_type=dice.random() < 0.8, **options)
    return "PyArrow"


def compare_three(path, text, source):
    """1 where one of the others does not read the file: PyArrow not each of its own (an empty page before others), nor each of
    DuckDB's; DuckDB no BYTE_STREAM_SPLIT of integers. firn's reading is then held against the other one, or what was written."""
    try:
        pq.read_table(path, partitioning=None)
        read = True
    except (pa.ArrowException, OSError):
        read = False
    try:
        theirs = by_duckdb(path)
    except duckdb.Error:
        theirs = None
    if read:
        by_pyarrow.compare(path, text)
    elif source is not None:
        by_pyarrow.compare(path, text, source)
    elif theirs is not None and "time" not in str(theirs.schema):  # DuckDB gives times in units of its own
        by_pyarrow.compare(path, text, theirs)
    if read and theirs is not None:
        compare(path)
    return not read or theirs is None


def check_promises(path, writer):
    done = subprocess.run([FIRN, "parquet", "verify", "--json", path], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 8), done.stderr
    columns = json.loads(subprocess.run([FIRN, "parquet", "inspect", "--json", path], capture_output=True, text=True,
                                        check=True).stdout)["columns"]
    encodings_of = {(c["row_group"], c["column"]): c["encodings"] for c in columns}
    for finding in json.loads(done.stdout)["findings"]:
        # PyArrow counts of DELTA_BYTE_ARRAY the bytes behind the common prefixes; DuckDB counts nulls in nested columns that are no entries.
        if writer == "PyArrow" and finding["kind"] == "size_statistics" and \
                "DELTA_BYTE_ARRAY" in encodings_of[finding["row_group"], finding["column"]]:
            continue
        if writer == "DuckDB" and finding["kind"] == "statistics" and "nulls" in finding["message"] and "." in finding["column"]:
            continue
        raise AssertionError(finding)


def check_generated(folder):
    seed = int(os.environ.get("FIRN_TEST_SEED") or 20261129)
    files = int(os.environ.get("FIRN_TEST_FILES") or 150)
    print("seed", seed)
    failures = unread = 0
    for i in range(files):
        dice = random.Random(f"{seed}-{i}")
        path = os.path.join(folder, "g.parquet")
        try:
            expected = []
            writer = generate(dice, path, expected)
        except (duckdb.Error, pa.ArrowException) as problem:
            print(f"file {i}: not written: {str(problem).splitlines()[0]}")
            continue
        try:
            result = subprocess.run([dump, path], capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stderr
            unread += compare_three(path, result.stdout, expected[0] if writer == "PyArrow" else None)
            if FIRN:
                check_promises(path, writer)
        except (AssertionError, duckdb.Error, pa.ArrowException) as problem:
            failures += 1
            print(f"file {i} of seed {seed}, by {writer}: {type(problem).__name__}: {str(problem)[:600]}")
    print(f"{files} generated files, {unread} not read by one of the others, {failures} differ")
    return failures


def main():
    with tempfile.TemporaryDirectory() as folder:
        failures = check_generated(folder) + check_corpus()
    sys.exit(1 if failures else 0)


main()
