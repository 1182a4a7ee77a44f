"""parquet merge: the rows of the inputs in their order, as PyArrow and DuckDB read them; what can't be merged is refused by name, and
the output appears whole or not at all."""
import datetime
import decimal
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

FIRN = os.environ.get("FIRN")
try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None
if pa is None or not FIRN:
    print("skipped: needs PyArrow, DuckDB and FIRN")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)


def firn(*arguments, expect=0):
    done = subprocess.run([FIRN, *map(str, arguments)], capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def merge(out, *inputs, options=()):
    document = json.loads(firn("parquet", "merge", *inputs, "-o", out, *options, "--json").stdout)
    firn("parquet", "verify", out)
    return document


def refused(words, *inputs, code=3):
    out = os.path.join(os.path.dirname(inputs[0]), "refused.parquet")
    before = sorted(os.listdir(os.path.dirname(out)))
    done = firn("parquet", "merge", *inputs, "-o", out, expect=code)
    for word in words if isinstance(words, tuple) else (words,):
        assert word in done.stderr, (word, done.stderr)
    assert sorted(os.listdir(os.path.dirname(out))) == before, "files are left behind"


def same(a, b):
    assert a.column_names == b.column_names, (a.column_names, b.column_names)
    for name in a.column_names:
        x, y = a[name].combine_chunks(), b[name].combine_chunks()
        assert x.equals(y) or repr(x.to_pylist()) == repr(y.to_pylist()), (name, x.slice(0, 20), y.slice(0, 20))


def by_duckdb(path):
    result = duckdb.execute(f"SELECT * FROM '{path}'").arrow()
    return result.read_all() if hasattr(result, "read_all") else result


RECORD = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string()))])


def rows_of(dice, count, nulls):
    def column(kind, one):
        return pa.array([None if dice.random() < nulls else one() for _ in range(count)], kind)

    def record():
        return {"x": dice.randrange(9), "tags": dice.choice([None, [], ["a"], [None, "b"]])}
    few = dice.random() < 0.5
    return pa.table({
        "id": pa.array(range(count), pa.int32()),
        "number": column(pa.int32(), lambda: dice.randrange(7 if few else 1 << 30)),
        "real": column(pa.float32(), lambda: dice.choice([0.0, -0.0, 1.5, float("nan"), 2.25])),
        "text": column(pa.string(), lambda: dice.choice(["a", "é" * 30, ""]) + str(dice.randrange(9 if few else 1 << 30))),
        "price": column(pa.decimal128(7, 2), lambda: decimal.Decimal(dice.randrange(10**6)).scaleb(-2)),
        "at": column(pa.timestamp("us", "UTC"), lambda: datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=dice.randrange(10**6))),
        "flag": column(pa.bool_(), lambda: dice.random() < 0.5),
        "record": column(RECORD, record),
        "records": column(pa.list_(RECORD), lambda: [record() for _ in range(dice.randrange(3))]),
        "map": column(pa.map_(pa.string(), pa.int64()), lambda: [(str(i), i) for i in range(dice.randrange(3))]),
    })


def write(dice, table, path):
    pq.write_table(table, path, compression=dice.choice(["zstd", "snappy", "none"]), use_dictionary=dice.random() < 0.6,
                   data_page_version=dice.choice(["1.0", "2.0"]), data_page_size=dice.choice([300, 1 << 20]),
                   row_group_size=dice.choice([100, 1 << 20]), store_decimal_as_integer=dice.random() < 0.5,
                   write_batch_size=dice.choice([20, 1000]))


WIDER = {"number": pa.int64(), "real": pa.float64(), "price": pa.decimal128(21, 2)}


def grown(kind):
    if pa.types.is_struct(kind):
        return pa.struct([*[(f.name, grown(f.type)) for f in kind], ("more", pa.float64())])
    if pa.types.is_list(kind):
        return pa.list_(grown(kind.value_type))
    return kind


def with_nulls(value, kind):
    """The value with a null for what the wider type has more."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {f.name: with_nulls(value.get(f.name), f.type) for f in kind}
    if pa.types.is_list(kind):
        return [with_nulls(item, kind.value_type) for item in value]
    return value


def as_schema(table, schema):
    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(len(table), field.type))
        elif pa.types.is_nested(field.type) and not pa.types.is_map(field.type):
            columns.append(pa.array([with_nulls(v, field.type) for v in table[field.name].to_pylist()], field.type))
        else:
            columns.append(table[field.name].cast(field.type))
    return pa.table(columns, schema=schema)


def test_random_files(folder):
    seed = int(os.environ.get("FIRN_TEST_SEED") or 4711)
    print("seed", seed)
    dice = random.Random(seed)
    for case in range(25):
        tables, paths = [], []
        evolve = dice.random() < 0.6
        for i in range(dice.randrange(1, 6)):
            table = rows_of(dice, dice.choice([0, 1, 250, 3000]), dice.choice([0, 0.2]))
            for name in list(table.column_names) if evolve else ():
                draw = dice.random()
                at = table.column_names.index(name)
                if draw < 0.15 and name != "id":
                    table = table.remove_column(at)
                elif draw < 0.4 and name in WIDER:
                    table = table.set_column(at, name, table[name].cast(WIDER[name]))
                elif draw < 0.4 and name in ("record", "records"):
                    kind = grown(table.schema.field(name).type)
                    table = table.set_column(at, name, pa.array([with_nulls(v, kind) for v in table[name].to_pylist()], kind))
            if evolve and dice.random() < 0.3:
                names = list(table.column_names)
                dice.shuffle(names)
                table = table.select(names)
            if dice.random() < 0.3:  # required where nothing is null
                table = table.cast(pa.schema([pa.field(f.name, f.type, nullable=not (table[f.name].null_count == 0 and not pa.types.is_nested(f.type)))
                                              for f in table.schema]))
            path = f"{folder}/{case}-{i}.parquet"
            write(dice, table, path)
            tables.append(pq.read_table(path))
            paths.append(path)
        out = f"{folder}/{case}.parquet"
        options = dice.choice([(), ("--compression", "zstd:5"), ("--compression", "none"), ("--row-group-size-bytes", "20KB"),
                               ("--compression", "snappy", "--threads", "1")])
        document = merge(out, *paths, options=options)
        found = pq.read_table(out, page_checksum_verification=True)
        names = list(dict.fromkeys(name for t in tables for name in t.column_names))
        assert found.column_names == names, (case, found.column_names, names)
        expected = pa.concat_tables([as_schema(t, pa.schema([pa.field(f.name, f.type) for f in found.schema])) for t in tables])
        same(found, expected)
        same(by_duckdb(out), by_duckdb_table(expected, folder))
        assert document["rows"] == len(expected) and document["input_files"] == len(paths)
        if len(expected) == 0:
            assert document["row_groups"] == 0


def by_duckdb_table(table, folder):
    path = f"{folder}/expected.parquet"
    pq.write_table(table, path)
    return by_duckdb(path)


def with_ids(table, ids):
    return table.cast(pa.schema([pa.field(f.name, f.type, metadata={"PARQUET:field_id": str(ids[f.name])}) for f in table.schema]))


def test_field_ids(folder):
    """With ids everywhere, names and order do not matter; with ids in part, names do, and no wrong id is written."""
    a, b, out = (f"{folder}/{n}.parquet" for n in ("a", "b", "out"))
    pq.write_table(with_ids(pa.table({"k": [1, 2], "v": ["x", "y"]}), {"k": 1, "v": 2}), a)
    pq.write_table(with_ids(pa.table({"renamed": ["z"], "k": [3], "new": [True]}), {"renamed": 2, "k": 1, "new": 3}), b)
    merge(out, a, b)
    assert pq.read_table(out).to_pylist() == [{"k": 1, "v": "x", "new": None}, {"k": 2, "v": "y", "new": None},
                                              {"k": 3, "v": "z", "new": True}]
    columns = json.loads(firn("parquet", "inspect", out, "--json").stdout)["schema"]
    assert [(c["name"], c["field_id"]) for c in columns] == [("k", 1), ("v", 2), ("new", 3)], columns
    pq.write_table(pa.table({"v": ["w"], "k": [4]}), b)
    merge(out, a, b, options=["--force"])
    assert pq.read_table(out).to_pylist() == [{"k": 1, "v": "x"}, {"k": 2, "v": "y"}, {"k": 4, "v": "w"}]
    columns = json.loads(firn("parquet", "inspect", out, "--json").stdout)["schema"]
    assert [c["field_id"] for c in columns] == [None, None], columns


def test_list_names(folder):
    """Lists are matched by how they are built, whatever their inner groups are called."""
    a, b, out = (f"{folder}/{n}.parquet" for n in ("a", "b", "out"))
    pq.write_table(pa.table({"l": [[1, 2], None, []]}), a, use_compliant_nested_type=True)
    pq.write_table(pa.table({"l": [[3], [None]]}), b, use_compliant_nested_type=False)
    merge(out, a, b)
    assert pq.read_table(out)["l"].to_pylist() == [[1, 2], None, [], [3], [None]]


def test_refused(folder):
    def write_table(name, columns):
        path = f"{folder}/{name}.parquet"
        pq.write_table(pa.table(columns), path)
        return path
    number = write_table("number", {"c": pa.array([1], pa.int64())})
    pairs = [
        (number, write_table("text", {"c": ["a"]}), '"c"'),
        (number, write_table("group", {"c": [{"x": 1}]}), '"c"'),
        (number, write_table("list", {"c": [[1]]}), '"c"'),
        (number, write_table("double", {"c": [1.5]}), '"c"'),
        (number, write_table("unsigned", {"c": pa.array([1], pa.uint64())}), '"c"'),
        (number, write_table("time", {"c": pa.array([1], pa.timestamp("us"))}), '"c"'),
        (write_table("ms", {"c": pa.array([1], pa.timestamp("ms"))}), f"{folder}/time.parquet", '"c"'),
        (write_table("utc", {"c": pa.array([1], pa.timestamp("us", "UTC"))}), f"{folder}/time.parquet", '"c"'),
        (write_table("dec2", {"c": pa.array([1], pa.decimal128(9, 2))}), write_table("dec3", {"c": pa.array([1], pa.decimal128(9, 3))}), '"c"'),
        (write_table("binary", {"c": [b"a"]}), f"{folder}/text.parquet", '"c"'),
        (write_table("deep", {"s": [{"c": [{"y": 1}]}]}), write_table("deep2", {"s": [{"c": [{"y": "a"}]}]}), '"y"'),
        (write_table("map", {"c": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))}), f"{folder}/list.parquet", '"c"'),
    ]
    for a, b, words in pairs:
        refused((words, b), a, b)
        refused((words, a), b, a)
    with open(f"{folder}/junk.parquet", "w", encoding="utf-8") as file:
        file.write("nothing of Parquet")
    refused("junk.parquet", number, f"{folder}/junk.parquet", code=1)
    refused("absent.parquet", number, f"{folder}/absent.parquet", code=1)
    for codec, code in (("zip", 2), ("zstd:x", 2), ("snappy:1", 2), ("lz4", 3), ("zstd:", 2), ("gzip:99", 2)):
        done = firn("parquet", "merge", number, "-o", f"{folder}/o.parquet", "--compression", codec, expect=code)
        assert "--compression" in done.stderr, done.stderr
    assert "-o FILE" in firn("parquet", "merge", number, expect=2).stderr
    assert not os.path.exists(f"{folder}/o.parquet")


def test_output(folder):
    """A file that is there stays unless --force is given."""
    a, out = f"{folder}/a.parquet", f"{folder}/new/folder/out.parquet"
    pq.write_table(pa.table({"k": [1, 2]}), a)
    merge(out, a, a)
    with open(out, "rb") as file:
        before = file.read()
    assert "--force" in firn("parquet", "merge", a, "-o", out, expect=1).stderr
    with open(out, "rb") as file:
        assert file.read() == before
    merge(out, a, a, a, options=["--force"])
    assert pq.read_table(out)["k"].to_pylist() == [1, 2] * 3
    assert os.listdir(os.path.dirname(out)) == ["out.parquet"]
    firn("parquet", "merge", a, "-o", folder, "--force", expect=2)


def test_notes(folder):
    """What all inputs note alike is kept, but not what describes Arrow's types or rows by their number."""
    a, b, out = (f"{folder}/{n}.parquet" for n in ("a", "b", "out"))
    for path, mine in ((a, "1"), (b, "2")):
        pq.write_table(pa.table({"k": [1]}).replace_schema_metadata({"shared": "yes", "mine": mine, "pandas": "{}"}), path)
    merge(out, a, b)
    assert pq.read_metadata(out).metadata == {b"shared": b"yes"}, pq.read_metadata(out).metadata


def test_row_groups(folder):
    """Small row groups become one; pages go over as they are where they can."""
    paths = []
    for i in range(6):
        paths.append(f"{folder}/{i}.parquet")
        pq.write_table(pa.table({"k": pa.array(range(i * 60000, (i + 1) * 60000), pa.int64())}), paths[-1], compression="zstd",
                       use_dictionary=False, row_group_size=30000)
    document = merge(f"{folder}/out.parquet", *paths)
    assert document["input_row_groups"] == 12 and document["row_groups"] == 1, document
    assert document["bytes_copied"] > 0 and document["compression"] == "ZSTD", document
    document = merge(f"{folder}/cut.parquet", *paths, options=["--row-group-size-bytes", "300KB"])
    assert 5 <= document["row_groups"] <= 12, document
    assert pq.read_table(f"{folder}/cut.parquet")["k"].to_pylist() == list(range(360000))


def test_large_row_groups(folder):
    """One that is far too large is split, in whole pages where that can be."""
    rows = 400000
    table = pa.table([
        pa.array(range(rows), pa.int64()), pa.array([None if i % 9 == 0 else i * 7 for i in range(rows)], pa.int64()),
        pa.array([f"{i % 50}" for i in range(rows)]), pa.array([[i, i] if i % 3 == 0 else [] for i in range(rows)])],
        schema=pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("number", pa.int64()),
                          pa.field("word", pa.string()), pa.field("list", pa.list_(pa.int64()))]))
    for version in ("1.0", "2.0"):
        path = f"{folder}/{version}.parquet"
        pq.write_table(table, path, compression="zstd", row_group_size=rows, data_page_version=version,
                       use_dictionary=["word"], data_page_size=100000)
        out = f"{folder}/out-{version}.parquet"
        document = merge(out, path, options=["--row-group-size-bytes", "1MB"])
        assert document["input_row_groups"] == 1 and 4 <= document["row_groups"] <= 8, document
        assert document["bytes_copied"] > document["bytes_encoded"] / 2, document
        same(pq.read_table(out), table)
        same(by_duckdb(out).cast(table.schema), table)


def test_joined_pages(folder):
    """Ways and reasons are told, and pages stay apart where that is asked for."""
    paths = []
    for i in range(8):
        paths.append(f"{folder}/in{i}.parquet")
        table = pa.table([pa.array(range(i * 3000, i * 3000 + 3000), pa.int64())],
                         schema=pa.schema([pa.field("id", pa.int64(), nullable=False)]))
        pq.write_table(table, paths[-1], use_dictionary=False, compression="zstd", data_page_version="2.0")
    joined = merge(f"{folder}/joined.parquet", *paths)
    apart = merge(f"{folder}/apart.parquet", *paths, options=["--no-joined-pages"])
    assert [way["way"] for way in joined["ways"]] == ["joined"], joined
    assert joined["reasons"] == [], joined
    # What can be neither copied nor joined is decoded, and the reason told.
    assert [way["way"] for way in apart["ways"]] == ["encoded"], apart
    assert "small_pages" in [reason["reason"] for reason in apart["reasons"]], apart
    for document in (joined, apart):
        sums = sum(way["bytes"] for way in document["ways"])
        assert sums == document["bytes_copied"] + document["bytes_encoded"] > 0, document
    same(pq.read_table(f"{folder}/apart.parquet"), pq.read_table(f"{folder}/joined.parquet"))


def test_page_version(folder):
    """It follows the inputs' pages, also where their footers don't tell; small v2 pages of optional columns are joined."""
    for version, kind in (("1.0", 0), ("2.0", 6)):
        paths = []
        for i in range(6):
            paths.append(f"{folder}/{version}-{i}.parquet")
            table = pa.table({"n": pa.array([None if k % 7 == 0 else k * i for k in range(3000)], pa.int64()),
                              "l": pa.array([[k] * (k % 3) for k in range(3000)], pa.list_(pa.int64()))})
            pq.write_table(table, paths[-1], use_dictionary=False, compression="zstd", data_page_version=version)
        out = f"{folder}/{version}.parquet"
        document = merge(out, *paths)
        same(pq.read_table(out), pa.concat_tables([pq.read_table(path) for path in paths]))
        same(by_duckdb(out), pa.concat_tables([by_duckdb(path) for path in paths]))
        # Field 1 of PageHeader, an i32: the page's type, as zigzag.
        column = pq.read_metadata(out).row_group(0).column(0)
        with open(out, "rb") as file:
            file.seek(column.data_page_offset)
            assert file.read(2) == bytes([0x15, kind]), version
        assert version == "1.0" or [way["way"] for way in document["ways"]] == ["joined"], document["ways"]


def test_long_values(folder):
    """Dictionaries of long values that differ from file to file, or are larger than any limit, don't come out PLAIN and many times as large."""
    dice = random.Random(11)
    for name, files, count, size, rows, alike in (("own", 12, 400, 1000, 2000, False), ("large", 3, 300, 20000, 900, True)):
        words = [dice.randbytes(size // 2).hex() for _ in range(count)]
        paths = []
        for i in range(files):
            if not alike:
                words = [dice.randbytes(size // 2).hex() for _ in range(count)]
            paths.append(f"{folder}/{name}-{i}.parquet")
            pq.write_table(pa.table({"word": [words[(k + i) % count] for k in range(rows)]}), paths[-1], compression="zstd",
                           dictionary_pagesize_limit=16 << 20)
        out = f"{folder}/{name}.parquet"
        merge(out, *paths)
        size_in, size_out = sum(os.path.getsize(path) for path in paths), os.path.getsize(out)
        assert size_out <= size_in * 1.02, (name, size_in, size_out)
        same(pq.read_table(out), pa.concat_tables([pq.read_table(path) for path in paths]))
        same(by_duckdb(out), pa.concat_tables([by_duckdb(path) for path in paths]))


def test_target(folder):
    """Several files of about one size, that appear together; the rows in their order, none twice."""
    dice = random.Random(5)
    paths = []
    for i in range(24):
        paths.append(f"{folder}/in{i:02}.parquet")
        table = pa.table({"id": pa.array(range(i * 9000, i * 9000 + 9000), pa.int64()),
                          "name": pa.array([f"n{dice.randrange(50)}" for _ in range(9000)]),
                          "value": pa.array([dice.random() for _ in range(9000)])})
        pq.write_table(table, paths[-1], compression="zstd")
    one = f"{folder}/one.parquet"
    merge(one, *paths)
    wanted = pq.read_table(one)
    # Small row groups put together, and a large one split.
    for name, inputs in (("small", paths), ("large", [one])):
        target = os.path.getsize(one) // 5
        document = json.loads(firn("parquet", "merge", *inputs, "-o", f"{folder}/{name}.parquet", "--target", target, "--json").stdout)
        files = [f"{folder}/{name}-{i:05}.parquet" for i in range(1, len(document["outputs"]) + 1)]
        assert [output["path"] for output in document["outputs"]] == files, document["outputs"]
        assert not os.path.exists(f"{folder}/{name}.parquet")
        assert sum(output["rows"] for output in document["outputs"]) == document["rows"] == wanted.num_rows
        assert 4 <= len(files) <= 6, document["outputs"]
        for path, output in zip(files, document["outputs"]):
            assert os.path.getsize(path) == output["bytes"] and abs(output["bytes"] - target) < target / 3, (target, document["outputs"])
            assert pq.read_metadata(path).num_rows == output["rows"]
            firn("parquet", "verify", path)
        same(pa.concat_tables([pq.read_table(path) for path in files]), wanted)
        same(pa.concat_tables([by_duckdb(path) for path in files]), by_duckdb(one))
    # Nothing is replaced unless asked; files of an earlier run that made more stand in the way.
    before = {n: os.path.getmtime(f"{folder}/{n}") for n in os.listdir(folder)}
    assert "--force" in firn("parquet", "merge", *paths, "-o", f"{folder}/small.parquet", "--target", "1GB", expect=1).stderr
    assert "remove it" in firn("parquet", "merge", *paths, "-o", f"{folder}/small", "--target", "1GB", "--force", expect=1).stderr
    os.remove(f"{folder}/small-00001.parquet")
    assert "small-00002" in firn("parquet", "merge", *paths, "-o", f"{folder}/small.parquet", "--target", target, expect=1).stderr
    before.pop("small-00001.parquet")
    assert before == {n: os.path.getmtime(f"{folder}/{n}") for n in os.listdir(folder)}
    firn("parquet", "merge", *paths, "-o", f"{folder}/small.parquet", "--target", target, "--force")
    # No row, one file.
    pq.write_table(wanted.slice(0, 0), f"{folder}/empty.parquet")
    firn("parquet", "merge", f"{folder}/empty.parquet", "-o", f"{folder}/none", "--target", "1MB")
    assert pq.read_table(f"{folder}/none-00001.parquet").num_rows == 0


def test_interrupt(folder):
    """Ctrl-C leaves neither output nor temporary file. Inputs enough for several seconds, another codec too, so that it is never done before."""
    dice = random.Random(1)
    path = f"{folder}/in.parquet"
    pq.write_table(rows_of(dice, 20000, 0.1), path, compression="snappy")
    out_folder = f"{folder}/out"
    for delay in (0.05, 0.3, 0.8):
        with subprocess.Popen([FIRN, "parquet", "merge", *[path] * 1000, "-o", f"{out_folder}/o.parquet", "--compression", "zstd:19"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            process.communicate()
            assert process.returncode in (130, -signal.SIGINT), process.returncode
        assert not os.path.exists(out_folder) or os.listdir(out_folder) == [], os.listdir(out_folder)


def test_inputs_stay_as_they_are(folder):
    """A file to write that is one of the inputs, by whatever link, is refused, also with --force."""
    a, b, c, numbered, soft, hard = (f"{folder}/{name}.parquet" for name in ("a", "b", "c", "n-00001", "soft", "hard"))
    for path, values in ((a, [1, 2]), (b, [3]), (numbered, [4])):
        pq.write_table(pa.table({"x": values}), path)
    os.symlink(a, soft)
    os.link(a, hard)
    words = "is one of the inputs, which stay as they are; name another file"
    for output in (a, f"{folder}/./a.parquet", f"file://{a}", soft, hard, b):
        for options in ((), ("--force",)):
            assert words in firn("parquet", "merge", a, b, "-o", output, *options, expect=2).stderr
    several = ("-o", f"{folder}/n.parquet", "--target", "1MB", "--force")
    assert f"n-00001.parquet {words}" in firn("parquet", "merge", a, numbered, *several, expect=2).stderr
    assert pq.read_table(a).to_pydict() == {"x": [1, 2]}
    for options in ((), ("--force",)):
        merge(c, a, b, options=options)
        assert pq.read_table(c).to_pydict() == {"x": [1, 2, 3]}


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
