"""parquet verify: clean on sound files of the corpus and of other writers, and every planted fault is found and placed."""
import datetime
import decimal
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

corpus = os.environ.get("FIRN_CORPUS")
FIRN = os.environ.get("FIRN")
try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None
if pa is None or not corpus or not FIRN:
    print("skipped: needs PyArrow, DuckDB, FIRN_CORPUS and FIRN")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)
sys.path.insert(0, os.path.join(os.environ["FIRN_SOURCE_DIR"], "tests", "bugs"))
import fx_parquet as p  # noqa: E402  pylint: disable=wrong-import-position

# Files of the corpus that do not keep what they promise, and the kinds of their faults.
KNOWN = {
    "alltypes_plain.snappy.parquet": {"footer"},  # total_byte_size of an early Impala
    "byte_array_decimal.parquet": {"encodings"},
    "datapage_v1-corrupt-checksum.parquet": {"crc"},
    "datapage_v1-snappy-compressed-checksum.parquet": {"column_index"},  # null pages that have no nulls
    "datapage_v1-uncompressed-checksum.parquet": {"column_index"},
    "list_columns.parquet": {"footer"},
    "nan_in_stats.parquet": {"footer", "statistics"},
    "nation.dict-malformed.parquet": {"footer", "encodings"},
    "nested_structs.rust.parquet": {"footer"},
    "non_hadoop_lz4_compressed.parquet": {"footer"},
    "rle-dict-uncompressed-corrupt-checksum.parquet": {"crc"},
    "rle_boolean_encoding.parquet": {"footer"},
    "single_nan.parquet": {"footer"},
    "DELTA_BYTE_ARRAY/string.parquet": {"size_statistics"},
    "DELTA_BYTE_ARRAY/string_with_nulls.parquet": {"size_statistics"},
}
LEFT_OUT = {"large_string_map.brotli.parquet"}  # 2 GiB for one value


def verify(*paths):
    done = subprocess.run([FIRN, "parquet", "verify", "--json", *map(str, paths)], capture_output=True, text=True,
                          errors="replace", check=False)
    assert done.returncode in (0, 8), (paths, done.returncode, done.stderr)
    document = json.loads(done.stdout)
    found = document["findings"]
    assert (done.returncode == 8) == bool(found), (paths, done.returncode)
    return found


def corpus_files():
    root = pathlib.Path(corpus)
    yield from sorted((root / "parquet").glob("*.parquet"))
    yield from sorted((root / "parquet-encodings").rglob("*.parquet"))
    yield from sorted((root / "variant").rglob("*.parquet"))
    yield from sorted((root / "tables").rglob("*.parquet"))


def test_corpus(_):
    files = [path for path in corpus_files() if path.name not in LEFT_OUT]
    assert len(files) > 150, len(files)
    kinds = {str(path): set() for path in files}
    for start in range(0, len(files), 100):
        for finding in verify(*files[start:start + 100]):
            kinds[finding["path"]].add(finding["kind"])
    for path in files:
        name = path.parent.name + "/" + path.name
        expected = KNOWN.get(path.name if path.parent.name == "parquet" else name, set())
        assert kinds[str(path)] == expected, (path, kinds[str(path)], expected)


def test_broken_corpus(_):
    """Faults of broken files are findings too, of whatever kind; nothing crashes."""
    for path in sorted((pathlib.Path(corpus) / "parquet-bad").glob("*.parquet")):
        verify(path)


def table(dice, rows):
    def column(kind, one, nulls=0.1):
        return pa.array([None if dice.random() < nulls else one() for _ in range(rows)], kind)
    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "i": column(pa.int32(), lambda: dice.randrange(-1000, 1000)),
        "u": column(pa.uint32(), lambda: dice.randrange(1 << 32)),
        "f": column(pa.float64(), lambda: dice.choice([0.0, -0.0, 1.5, -2.5, float("nan"), float("inf")])),
        "h": column(pa.float32(), dice.random),
        "s": column(pa.string(), lambda: dice.choice(["a", "é" * 40, "Ω", ""]) + str(dice.randrange(50))),
        "b": column(pa.binary(), lambda: dice.randbytes(dice.randrange(90))),
        "x": column(pa.binary(16), lambda: dice.randbytes(16)),
        "d": column(pa.decimal128(20, 3), lambda: decimal.Decimal(dice.randrange(-10**15, 10**15)).scaleb(-3)),
        "day": column(pa.date32(), lambda: datetime.date(1960 + dice.randrange(90), 3, 4)),
        "t": column(pa.timestamp("us", "UTC"), lambda: datetime.datetime(2020, 1, 1) +
                    datetime.timedelta(microseconds=dice.randrange(10**15))),
        "flag": column(pa.bool_(), lambda: dice.random() < 0.5),
        "none": pa.nulls(rows, pa.int32()),
        "l": column(pa.list_(pa.string()), lambda: [dice.choice(["x", None, "yy"]) for _ in range(dice.randrange(4))]),
        "m": column(pa.map_(pa.string(), pa.int64()), lambda: {str(k): k for k in range(dice.randrange(3))}),
    })


def test_generated(folder):
    """Files of PyArrow and DuckDB in all their forms."""
    seed = int(os.environ.get("FIRN_TEST_SEED") or 20261130)
    print("seed", seed)
    dice = random.Random(seed)
    for i in range(24):
        path = f"{folder}/g{i}.parquet"
        rows = table(dice, dice.choice([0, 1, 700, 4000]))
        if i % 3 == 0:
            rows = rows.drop_columns(["none"])
            connection = duckdb.connect()
            connection.register("t", rows)
            version = dice.choice(["V1", "V2"])
            connection.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION {dice.choice(['zstd', 'snappy'])}, "
                               f"ROW_GROUP_SIZE 2048, PARQUET_VERSION {version})")
        else:
            pq.write_table(rows, path, compression=dice.choice(["zstd", "snappy", "none", "brotli", "gzip"]),
                           use_dictionary=dice.random() < 0.5, data_page_version=dice.choice(["1.0", "2.0"]),
                           data_page_size=dice.choice([200, 5000, 1 << 20]), write_batch_size=dice.choice([10, 1000]),
                           row_group_size=dice.choice([300, 1 << 20]), write_page_index=dice.random() < 0.7,
                           write_page_checksum=dice.random() < 0.7, store_decimal_as_integer=dice.random() < 0.5)
        found = verify(path)
        assert not found, (i, path, found[:5])


def plant(path, change):
    """`change(footer, body)` edits the footer and returns a new body, or None."""
    data = pathlib.Path(path).read_bytes()
    footer, body = p.footer_of(data)
    body = change(footer, bytearray(body)) or body
    pathlib.Path(path).write_bytes(bytes(body) + p.closing(footer))


def chunk_of(footer, column, group=0):
    """The ColumnChunk with the name."""
    for chunk in p.row_groups(footer)[group][1][1][1]:
        if chunk[3][1][3][1][1] == [column.encode()]:
            return chunk
    raise KeyError(column)


def index_at(chunk, body, offset_field):
    at, size = chunk[offset_field][1], chunk[offset_field + 1][1]
    return p.Parser(bytes(body[at:at + size])).struct()


def put_index(chunk, body, offset_field, index):
    """Appends the index anew, and points the chunk at it."""
    encoded = p.dump_struct(index)
    chunk[offset_field] = p.i64(len(body))
    chunk[offset_field + 1] = p.i32(len(encoded))
    return body + encoded


def le64(value):
    return (p.BINARY, struct.pack("<q", value))


def lying_footer_minimum(footer, body):
    del body
    chunk_of(footer, "id")[3][1][12][1][6] = le64(5)


def lying_footer_maximum(footer, body):
    del body
    chunk_of(footer, "id")[3][1][12][1][5] = le64(17)


def lying_null_count(footer, body):
    del body
    chunk_of(footer, "i")[3][1][12][1][3] = p.i64(0)


def bound_of_wrong_size(footer, body):
    del body
    chunk_of(footer, "id")[3][1][12][1][6] = (p.BINARY, b"\0" * 7)


def false_exactness(footer, body):
    del body
    statistics = chunk_of(footer, "id")[3][1][12][1]
    statistics[6] = le64(-1)
    statistics[8] = p.bool_of(True)
    chunk_of(footer, "id")[3][1][12] = (p.STRUCT, dict(sorted(statistics.items())))


def wrong_sizes(footer, body):
    del body
    chunk_of(footer, "i")[3][1][6] = p.i64(12)


def missing_encoding(footer, body):
    del body
    chunk_of(footer, "id")[3][1][2] = (p.LIST, (p.I32, [3]))


def wrong_unencoded(footer, body):
    del body
    chunk_of(footer, "s")[3][1][16][1][1] = p.i64(1)


def wrong_histogram(footer, body):
    del body
    for chunk in p.row_groups(footer)[0][1][1][1]:
        if chunk[3][1][3][1][1][0] == b"l":
            kind, counts = chunk[3][1][16][1][3][1]
            chunk[3][1][16][1][3] = (p.LIST, (kind, [counts[0] + 1, *counts[1:]]))


def wrong_page_crc(footer, body):
    at = chunk_of(footer, "u")[3][1][9][1]
    size = len(p.dump_struct({}))
    del size
    parser = p.Parser(bytes(body), at)
    header = parser.struct()
    assert 4 in header, "the page has no CRC"
    body[parser.at + header[3][1] - 1] ^= 1
    return body


def column_index(change):
    def apply(footer, body):
        chunk = chunk_of(footer, "id")
        index = index_at(chunk, body, 6)
        change(index)
        return put_index(chunk, body, 6, index)
    return apply


def offset_index(change):
    def apply(footer, body):
        chunk = chunk_of(footer, "id")
        index = index_at(chunk, body, 4)
        change(index[1][1][1])
        return put_index(chunk, body, 4, index)
    return apply


def set_item(field, item, value):
    def change(index):
        index[field][1][1][item] = value
    return change


def cut_index(footer, body):
    chunk = chunk_of(footer, "id")
    chunk[7] = p.i32(chunk[7][1] - 9)
    return body


PLANTED = [
    # what, kind, column, page (None: of the chunk), words
    (lying_footer_minimum, "statistics", "id", None, "the minimum is 0"),
    (lying_footer_maximum, "statistics", "id", None, "say 17"),
    (lying_null_count, "statistics", "i", None, "nulls"),
    (bound_of_wrong_size, "statistics", "id", None, "no value"),
    (false_exactness, "statistics", "id", None, "exactly -1"),
    (wrong_sizes, "footer", "i", None, "total_uncompressed_size"),
    (missing_encoding, "encodings", "id", None, "does not list"),
    (wrong_unencoded, "size_statistics", "s", None, "unencoded"),
    (wrong_histogram, "size_statistics", "l.list.element", None, "definition level 0"),
    (wrong_page_crc, "crc", "u", 0, "CRC"),
    (column_index(set_item(2, 2, struct.pack("<q", 10**6 - 1))), "column_index", "id", None, "above its maximum"),
    (column_index(lambda i: i[2][1][1].__setitem__(3, struct.pack("<q", struct.unpack("<q", i[2][1][1][3])[0] + 1))),
     "column_index", "id", 3, "the minimum is"),
    (column_index(lambda i: i[3][1][1].__setitem__(1, struct.pack("<q", struct.unpack("<q", i[3][1][1][1])[0] - 1))),
     "column_index", "id", 1, "the maximum is"),
    (column_index(set_item(5, 1, 3)), "column_index", "id", 1, "nulls"),
    (column_index(set_item(1, 1, True)), "column_index", "id", None, "only nulls, and none"),
    (column_index(lambda i: i.__setitem__(4, p.i32(2))), "column_index", "id", None, "in order"),
    (column_index(lambda i: i[2][1][1].pop()), "column_index", "id", None, "min_values"),
    (cut_index, "column_index", "id", None, "broken"),
    (offset_index(lambda pages: pages[2].__setitem__(3, p.i64(pages[2][3][1] + 1))), "offset_index", "id", 2, "row"),
    (offset_index(lambda pages: pages[0].__setitem__(3, p.i64(1))), "offset_index", "id", None, "row"),
    (offset_index(lambda pages: pages[1].__setitem__(2, p.i32(pages[1][2][1] - 1))), "offset_index", "id", 1, "bytes"),
    (offset_index(lambda pages: pages[1].__setitem__(1, p.i64(4))), "offset_index", "id", None, "does not follow"),
    (offset_index(lambda pages: pages.pop()), "offset_index", "id", None, ""),
]


def test_planted(folder):
    path = f"{folder}/planted.parquet"
    for number, (change, kind, column, page, words) in enumerate(PLANTED):
        pq.write_table(table(random.Random(5), 3000), path, row_group_size=3000, data_page_size=1000,
                       use_dictionary=["i", "s"], write_page_index=True, write_page_checksum=True, write_batch_size=50)
        assert not verify(path)
        plant(path, change)
        found = verify(path)
        mine = [f for f in found if f["kind"] == kind and f["column"] == column and f["row_group"] == 0 and
                (page is None or f["page"] == page) and words in f["message"]]
        assert mine, (number, kind, column, page, words, found)
        # A planted fault is not blamed on anything else, but that a lost index entry shifts what follows.
        others = {(f["kind"], f["column"]) for f in found} - {(kind, column), ("footer", None)}
        assert others <= {("column_index", column)}, (number, others)


def test_bloom_filter(folder):
    """DuckDB's filters hold its values; one with a cleared block, a wrong length or another algorithm is told."""
    path = f"{folder}/bloom.parquet"

    def write():
        duckdb.execute(f"COPY (SELECT (i % 500)::BIGINT AS k, 'v' || (i % 300) AS s FROM range(20000) t(i)) TO '{path}' "
                       "(FORMAT parquet, COMPRESSION zstd)")
    write()
    document = json.loads(subprocess.run([FIRN, "parquet", "verify", "--json", path], capture_output=True, check=True).stdout)
    assert document["files"][0]["bloom_filters"] >= 2, document["files"]

    def meta(footer):
        return chunk_of(footer, "k")[3][1]

    def clear(footer, body):
        at = meta(footer)[14][1]
        parser = p.Parser(bytes(body), at)
        header = parser.struct()
        body[parser.at:parser.at + header[1][1]] = bytes(header[1][1])
        return body

    def shorter(footer, body):
        meta(footer)[15] = p.i32(meta(footer)[15][1] - 1)
        return body

    def other_hash(footer, body):
        at = meta(footer)[14][1]
        parser = p.Parser(bytes(body), at)
        header = parser.struct()
        header[3] = (p.STRUCT, {2: (p.STRUCT, {})})
        data = p.dump_struct(header) + bytes(body[parser.at:parser.at + header[1][1]])
        meta(footer)[14], meta(footer)[15] = p.i64(len(body)), p.i32(len(data))
        return body + data

    def outside(footer, body):
        meta(footer)[14] = p.i64(1 << 40)
        return body
    for change, words in ((clear, "lacks 20000 of 20000"), (shorter, "broken"), (other_hash, "hash 2"),
                          (outside, "outside the file")):
        write()
        plant(path, change)
        found = verify(path)
        assert [f["kind"] for f in found] == ["bloom_filter"] and words in found[0]["message"], (words, found)


def test_not_parquet(folder):
    path = pathlib.Path(folder) / "text.parquet"
    for content in (b"", b"PAR1", b"PAR1PAR1", b"hello world, this is text", b"PAR1" + b"\0" * 50 + b"\xff\xff\xff\x7fPAR1"):
        path.write_bytes(content)
        found = verify(path)
        assert [f["kind"] for f in found] == ["footer"] and found[0]["row_group"] is None, found


def main():
    failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:])):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print("ok", name, flush=True)
            except AssertionError as problem:
                failed += 1
                print("FAILED", name, problem, flush=True)
    sys.exit(1 if failed else 0)


main()
