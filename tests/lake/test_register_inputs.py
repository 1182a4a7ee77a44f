"""
What can be wrong with the files of a lake, all of it in one report, each file by its name and reason; and what paths and
partitions can be: escaped values, nulls, every transform. PyIceberg's own transforms are the oracle of partition values.
"""
import datetime
import decimal
import os
import struct
import urllib.parse

import lakekit
import fx_parquet as p
import kit
import pyarrow as pa
import pyarrow.parquet as pq
from lakekit import Lake, check, equal, filters_find, made

SCHEMA = pa.schema([("k", pa.int32()), ("n", pa.int64()), ("s", pa.string())])


def bad_files(lake):
    """One of each fault beside two good ones; returns {name: words of which one must be in its reason}."""
    for name in ("good1.parquet", "good2.parquet"):
        lake.write(f"k=1/{name}", [{"k": 1, "n": i, "s": name} for i in range(5)], SCHEMA)
    good = open(lake.path("k=1/good1.parquet"), "rb").read()

    def put(name, data):
        with open(lake.path(name), "wb") as file:
            file.write(data)
    put("k=1/zero.parquet", b"")
    put("k=1/cut.parquet", good[:-20])
    put("k=1/head.parquet", good[:40])
    put("k=1/short.parquet", b"PAR1")
    put("k=1/text.parquet", b"n,s\n1,a\n" * 20)
    put("k=1/length.parquet", good[:-8] + struct.pack("<I", 0x7FFFFFF0) + b"PAR1")
    put("k=1/footer.parquet", good[:-60] + b"\xff" * 52 + good[-8:])
    put("k=1/encrypted.parquet", good[:-4] + b"PARE")
    lake.write("k=1/type.parquet", [{"k": 1, "n": "one", "s": "x"}])
    lake.write("k=1/case.parquet", [{"k": 1, "N": 5, "s": "x"}])
    lake.write("k=1/nested.parquet", [{"k": 1, "n": {"x": 1}, "s": "x"}])
    lake.write("k=1/other.parquet", [{"k": 2, "n": 1, "s": "x"}])
    lake.write("k=1/mixed.parquet", [{"k": 1, "n": 1, "s": "x"}, {"k": None, "n": 2, "s": "x"}], SCHEMA)
    path = lake.write("k=1/codec.parquet", [{"k": 1, "n": 1, "s": "x"}], SCHEMA)

    def codec(footer):
        for group in p.row_groups(footer):
            for meta in p.chunks(group):
                meta[4] = p.i32(99)
    p.patch(path, codec)

    def of_n(change):
        def patch(footer):
            for group in p.row_groups(footer):
                change(next(meta for meta in p.chunks(group) if meta[3][1][1] == [b"n"]))
        return patch
    for name, change in (("before", lambda meta: meta.update({9: p.i64(-64), 11: p.i64(-64)})), ("behind", lambda meta: meta.update({7: p.i64(1 << 40)})),
                         ("nulls", lambda meta: meta[12][1].update({3: p.i64(77)}))):
        p.patch(lake.write(f"k=1/{name}.parquet", [{"k": 1, "n": 1, "s": "x"}], SCHEMA), of_n(change))
    return {"zero.parquet": ("empty", "0 bytes"), "cut.parquet": ("Parquet", "truncated"), "head.parquet": ("Parquet", "truncated"),
            "short.parquet": ("Parquet", "small", "short", "truncated"), "text.parquet": ("Parquet",), "length.parquet": ("footer", "Parquet"),
            "footer.parquet": ("footer", "Thrift", "Parquet"), "encrypted.parquet": ("encrypt",), "type.parquet": ("n",), "case.parquet": ("case", "letter"),
            "nested.parquet": ("n",), "other.parquet": ("k",), "mixed.parquet": ("k",), "codec.parquet": ("codec", "compress"),
            "before.parquet": ("outside the file",), "behind.parquet": ("outside the file",), "nulls.parquet": ("null_count",)}


def check_reasons(run, wanted):
    reasons = {os.path.basename(f["file"]): f["reason"] for f in run["bad"]}
    equal(sorted(reasons), sorted(wanted), "bad files")
    for name, words in wanted.items():
        check(any(word in reasons[name] for word in words), f"the reason of {name} has none of {words}: {reasons[name]}")


def table_for(lake):
    """The table is there already: which of two contradicting files is the bad one is then no question."""
    import pyiceberg.types as types
    made(lake, [("k", types.IntegerType()), ("n", types.LongType()), ("s", types.StringType())], [("k", "identity", "k")])


def test_all_bad_files_are_in_one_report():
    """Nothing is committed by default, exit 3, and every bad file is named with its reason at once."""
    lake = Lake()
    table_for(lake)
    wanted = bad_files(lake)
    run = lake.refused("register", lake.source)
    check_reasons(run, wanted)
    equal(lake.live(), {}, "live files")
    equal([f["done"] for f in run["bad"] if f["done"]], [], "what was done")
    text = lake.run("register", lake.name, "--catalog", lake.database, lake.source, "--yes", expect=3)
    text.says(*wanted)
    lake.tidy()


def test_bad_files_of_a_new_table():
    """The same where the table is to be made: nothing is made."""
    lake = Lake()
    bad_files(lake)
    for name in ("type", "case", "nested"):  # which of two is right can't be told without a table
        os.unlink(lake.path(f"k=1/{name}.parquet"))
    run = lake.refused("register", lake.source)
    equal(len(run["bad"]), 14, "bad files")
    check(lake.pointer() is None and not os.path.exists(lake.location), "a table was made")


def test_bad_files_can_be_left_out():
    """--skip-bad: the good ones are committed, exit 6; the bad ones are tried again next time, and are in once they were mended."""
    lake = Lake()
    table_for(lake)
    wanted = bad_files(lake)
    good = [lake.path("k=1/good1.parquet"), lake.path("k=1/good2.parquet")]
    run = lake.register(lake.source, "--skip-bad", expect=6)
    check_reasons(run, wanted)
    equal({f["done"] for f in run["bad"]}, {"left out"}, "what was done")
    equal((run["files"]["added"], run["files"]["known"]), (2, 0), "files")
    lake.whole(good)
    run = lake.register(lake.source, "--skip-bad", expect=6)
    check_reasons(run, wanted)
    equal((run["files"]["added"], run["files"]["known"], run["commits"]), (0, 2, []), "the next run")
    for name in ("zero", "codec", "type"):
        lake.write(f"k=1/{name}.parquet", [{"k": 1, "n": 77, "s": name}], SCHEMA)
    run = lake.register(lake.source, "--skip-bad", expect=6)
    equal(run["files"]["added"], 3, "mended files")
    lake.whole(good + [lake.path(f"k=1/{name}.parquet") for name in ("zero", "codec", "type")])


def test_units_with_bad_files():
    """sync: a unit is never split: with --skip-bad the whole unit waits, and the others go in."""
    lake = Lake()
    for unit in ("a", "b"):
        for i in range(2):
            lake.write(f"u={unit}/{i}.parquet", [{"u": unit, "n": i}])
    with open(lake.path("u=b/1.parquet"), "wb") as file:
        file.write(b"PAR1 nothing PAR1")
    manifest = os.path.join(lake.folder, "manifest.csv")
    with open(manifest, "w", encoding="ascii") as file:
        file.write("unit,rows\na,2\nb,2\n")
    options = ["--manifest", manifest, "--unit-folder", lake.source + "/u={unit}"]
    lake.refused("sync", *options, words=["1.parquet"])
    run = lake.sync(*options, "--skip-bad", expect=6)
    equal((run["units"]["added"], [(f["unit"], os.path.basename(f["file"])) for f in run["bad"]]), (1, [("b", "1.parquet")]), "units")
    lake.whole([lake.path("u=a/0.parquet"), lake.path("u=a/1.parquet")])
    lake.write("u=b/1.parquet", [{"u": "b", "n": 1}])
    lake.sync(*options)
    lake.whole()


def test_files_that_are_not_there():
    """A file or a folder that is named and missing is an error, not an empty source."""
    lake = Lake()
    path = lake.write("a.parquet", [{"n": 1}])
    for arguments in ([path, lake.path("none.parquet")], [lake.path("none")], ["--from", lake.path("none.txt")]):
        run = lake.register(*arguments, expect=(1, 2, 3))
        run.says("none")
        check(lake.pointer() is None, "something was committed")
    equal(lake.register("--glob", lake.path("none", "*.parquet"))["files"]["listed"], 0, "a pattern that nothing matches")


def test_columns_in_other_cases():
    """Two columns whose names differ in case only, in one file or in two, are refused: engines that fold case can't read them."""
    for rows in ([{"n": 1, "N": 2}], None):
        lake = Lake()
        if rows:
            lake.write("a.parquet", rows)
        else:
            lake.write("a.parquet", [{"n": 1}])
            lake.write("b.parquet", [{"N": 1}])
        lake.refused("register", lake.source, words=["case"])


def test_schemas_that_grow():
    """New columns join the schema, types are promoted, missing columns are null; told column by column with the first file."""
    lake = Lake()
    lake.write("1.parquet", pa.table({"n": pa.array([1], pa.int32()), "f": pa.array([0.5], pa.float32()), "old": ["x"],
                                      "d": pa.array([decimal.Decimal("1.50")], pa.decimal128(5, 2))}))
    lake.register(lake.source)
    lake.write("2.parquet", pa.table({"n": pa.array([2 ** 40], pa.int64()), "f": pa.array([0.25], pa.float64()), "new": ["y"],
                                      "d": pa.array([decimal.Decimal("1234567.50")], pa.decimal128(12, 2))}))
    run = lake.register(lake.source)
    equal(run["evolves"], True, "the schema evolves")
    equal({n: f["type"] for n, f in lake.fields().items()}, {"n": "long", "f": "double", "old": "string", "d": "decimal(12,2)", "new": "string"}, "types")
    told = {(c["column"], os.path.basename(c["file"])) for c in run["columns"]}
    check({("n", "2.parquet"), ("f", "2.parquet"), ("d", "2.parquet"), ("new", "2.parquet")} <= told, f"columns: {run['columns']}")
    lake.whole()
    for column in ("n", "f", "d"):
        filters_find(lake, column)


def test_required_columns():
    """A required column of the table: files that have it as optional, with or without nulls, or not at all."""
    import pyiceberg.types as types
    lake = Lake()
    made(lake, [("n", types.LongType(), True), ("s", types.StringType())])
    lake.write("nulls.parquet", [{"n": 1, "s": "x"}, {"n": None, "s": "y"}])
    run = lake.refused("register", lake.source, words=["nulls.parquet", "n"])
    equal(run.names("bad"), ["nulls.parquet"], "bad files")
    os.unlink(lake.path("nulls.parquet"))
    lake.write("absent.parquet", [{"s": "x"}])
    lake.refused("register", lake.source, words=["absent.parquet", "n"])
    os.unlink(lake.path("absent.parquet"))
    lake.write("whole.parquet", [{"n": 1, "s": "x"}], pa.schema([pa.field("n", pa.int64(), nullable=False), ("s", pa.string())]))
    lake.register(lake.source)
    lake.whole()


def test_escaped_values():
    """%XX in a key's value is a byte of it; everything behind the first "=" is the value."""
    lake = Lake()
    values = ["a b", "50%", "a/b", "k=v", "ä€", "a:b", "", "%2F", "..", "null", "a+b"]
    for number, value in enumerate(values):
        quoted = urllib.parse.quote(value, safe="=+").replace("..", "%2E%2E")
        lake.write(f"k={quoted}/{number}.parquet", [{"k": value, "n": number}])
    lake.register(lake.source)
    for number, value in enumerate(values):
        equal(lake.partition(f"/{number}.parquet"), {"k": value}, f"partition of {value!r}")
    lake.whole()
    filters_find(lake, "k")


def test_escaped_values_that_only_paths_have():
    """The same where the path alone has the value."""
    lake = Lake()
    for number, value in enumerate(("a b", "a/b", "k=v", "ä")):
        lake.write(f"k={urllib.parse.quote(value, safe='=')}/{number}.parquet", [{"n": number}])
    lake.register(lake.source)
    equal(sorted((r["n"], r["k"]) for r in lake.by_pyiceberg()), [(0, "a b"), (1, "a/b"), (2, "k=v"), (3, "ä")], "rows by PyIceberg")


def test_two_values_for_one_key():
    """A key that is twice in a path with different values contradicts itself."""
    lake = Lake()
    lake.write("k=1/k=2/part.parquet", [{"k": 1}])
    lake.refused("register", lake.source, words=["k"], code=(2, 3))


def test_layouts_that_differ():
    """Files of one source with other keys: refused, both are named."""
    lake = Lake()
    lake.write("k=1/a.parquet", [{"k": 1, "j": 2}])
    lake.write("j=2/b.parquet", [{"k": 1, "j": 2}])
    lake.refused("register", lake.source, words=["k=1", "j=2"], code=(2, 3))


def test_the_time_column_is_the_one_that_every_path_proves():
    """year=/month= belong to the one column whose bounds prove them; with several, or none, --partition must say."""
    day = datetime.date
    lake = Lake()
    lake.write("year=2024/month=1/a.parquet", [{"made": day(2024, 1, 5), "changed": day(2024, 3, 1)}])
    lake.write("year=2024/month=2/b.parquet", [{"made": day(2024, 2, 5), "changed": day(2024, 3, 1)}])
    lake.register(lake.source)
    equal(lake.spec(), [("made", "year"), ("made", "month")], "spec")
    lake.whole()
    lake = Lake()
    lake.write("year=2024/month=1/a.parquet", [{"made": day(2024, 1, 5), "changed": day(2024, 1, 6)}])
    lake.refused("register", lake.source, words=["made", "changed", "--partition"], code=(2, 3))
    lake.register(lake.source, "--partition", "year: year(changed)", "--partition", "month: month(changed)")
    equal(lake.spec(), [("changed", "year"), ("changed", "month")], "spec by rule")
    lake = Lake()
    lake.write("year=2024/month=2/a.parquet", [{"made": day(2024, 1, 5)}])
    lake.refused("register", lake.source, words=["--partition"], code=(2, 3))


def test_rules_that_are_wrong():
    """A rule that can't be parsed, or names what there isn't: usage, and the rule is shown."""
    lake = Lake()
    lake.write("k=1/a.parquet", [{"k": 1}])
    for rule in ("k", "k: truncate[0](k)", "k: bucket[x](k)", "k: cube(k)", "k={#: k", ": k", "k: year(k)", "k: truncate[4](nothing)"):
        run = lake.register(lake.source, "--partition", rule, expect=2)
        run.says("k")
        check(lake.pointer() is None, f"{rule!r}: a table was made")


def test_rules_that_name_what_there_is_not():
    """A key that no path has, a column that no file has: the option is told with what there is to choose from, and no file is blamed."""
    lake = Lake()
    lake.write("region=eu/day=1/a.parquet", [{"id": 1, "amount": 2.5, "at": datetime.datetime(2024, 1, 1)}])
    wrong = {"nokey: id": ["have no key", "nokey", "they have: region, day", "--partition"],
             "day: day(nothing)": ["no column", "nothing", "id, amount, at", "--partition"],
             "day: day(amount)": ["day: day(amount)"], "day: amount long": ["amount", "double"], "day: id wrong": ["day: id wrong"], "region: region wrong": ["is no type"]}
    for rule, words in wrong.items():
        for verb in ("register", "sync"):
            run = lake.refused(verb, lake.source, "--partition", rule, words=words, code=2)
            equal(run.document.get("bad", []), [], f"{rule!r}: files that are blamed")
    flat = Lake()
    flat.write("a.parquet", [{"id": 1}])
    flat.refused("sync", flat.source, "--partition", "k: id", words=["no key", "no other"], code=2)
    flat.sync(flat.source)
    flat.write("b.parquet", [{"id": 2}])
    flat.refused("sync", flat.source, "--partition", "k: truncate[2](nothing)", words=["no column", "nothing", "there are: id"], code=2)


def test_columns_of_a_manifest_that_there_are_not():
    """What an option names and the manifest lacks is a mistake of the command line; what the manifest itself has wrong is not."""
    lake = Lake()
    lake.write("u=a/a.parquet", [{"id": 1}])
    manifest = lake.folder + "/manifest.csv"

    def refused(text, code, words, *options):
        with open(manifest, "w", encoding="utf-8") as file:
            file.write(text)
        run = lake.refused("sync", "--manifest", manifest, "--unit-folder", "u={unit}", "--base", lake.source, "--partition", "u: -", *options, words=words, code=code)
        equal(run.document.get("bad", []), [], "files that are blamed")

    refused("tile,count\na,1\n", 2, ['"unit"', "tile, count", "--unit-column"])
    refused("tile,count\na,1\n", 2, ['"no"', "tile, count", "--unit-column"], "--unit-column", "no")
    refused("tile,count\na,1\n", 2, ['"no"', "tile, count", "--rows-column"], "--unit-column", "tile", "--rows-column", "no")
    refused("unit,path\na,x\n", 2, ["--path-column", "--unit-folder"], "--path-column", "path")
    refused("unit,rows\na,\n", 3, ["row 1", "null"])
    refused("unit,rows\na,1,2\n", 3, ["row 1"])


def values_of():
    """[(PyIceberg type, Arrow type, values, transforms)]: all values of a row fall into one partition of each transform."""
    import pyiceberg.types as t
    dates, at = datetime.date, datetime.datetime
    buckets = ["bucket[16]"]
    times = ["identity", "void", "bucket[16]", "year", "month", "day"]
    return [
        (t.BooleanType(), pa.bool_(), [[True], [False]], ["identity", "void"]),
        (t.IntegerType(), pa.int32(), [[-7], [0], [2 ** 31 - 1]], ["identity", "void", *buckets, "truncate[10]"]),
        (t.IntegerType(), pa.int32(), [[-(2 ** 31)]], ["identity", "void", *buckets]),
        (t.LongType(), pa.int64(), [[-1], [34], [2 ** 62]], ["identity", "void", *buckets, "truncate[10]"]),
        (t.LongType(), pa.int64(), [[-1, -10], [30, 39]], ["truncate[10]"]),
        (t.StringType(), pa.string(), [["iceberg"], [""], ["äöüß"]], ["identity", "void", *buckets, "truncate[3]"]),
        (t.StringType(), pa.string(), [["abcd", "abcz"], ["ääää", "äääz"]], ["truncate[3]"]),
        (t.BinaryType(), pa.binary(), [[b"\x00\x01\xff"]], ["identity", "void", *buckets, "truncate[2]"]),
        (t.DecimalType(9, 2), pa.decimal128(9, 2), [[decimal.Decimal("14.20")], [decimal.Decimal("-10.65")]], ["identity", "void", *buckets, "truncate[50]"]),
        (t.DateType(), pa.date32(), [[dates(2017, 11, 16)], [dates(1969, 12, 31)], [dates(1970, 1, 1)]], times),
        (t.DateType(), pa.date32(), [[dates(2017, 11, 1), dates(2017, 11, 30)]], ["year", "month"]),
        (t.TimestampType(), pa.timestamp("us"), [[at(2017, 11, 16, 22, 31, 8)], [at(1969, 12, 31, 23, 59, 59, 999999)]], [*times, "hour"]),
        (t.TimestamptzType(), pa.timestamp("us", "UTC"), [[at(2017, 11, 16, 22, 31, 8, tzinfo=datetime.timezone.utc)]], [*times, "hour"]),
        (t.TimeType(), pa.time64("us"), [[datetime.time(22, 31, 8)]], ["identity", "void", *buckets]),
        (t.FloatType(), pa.float32(), [[1.5]], ["identity", "void"]),
        (t.DoubleType(), pa.float64(), [[-0.25]], ["identity", "void"]),
    ]


def number(value):
    """A partition value, however a reader gives it: dates as days, times as microseconds, decimals unscaled, texts and bytes as they are."""
    epoch = datetime.datetime(1970, 1, 1)
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - epoch) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return (value - epoch.date()).days
    if isinstance(value, datetime.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 10 ** 6 + value.microsecond
    if isinstance(value, decimal.Decimal):
        return int(value.scaleb(2))
    return value


def test_every_transform_of_every_type():
    """Without keys in paths partitions are proved by footers and columns; the values are those of PyIceberg's transforms."""
    from pyiceberg.transforms import parse_transform
    for kind, arrow, groups, transforms in values_of():
        for with_statistics in (True, False):
            lake = Lake()
            made(lake, [("n", kind)], [("n", transform) for transform in transforms])
            for index, values in enumerate([*groups, [None]]):
                lake.write(f"{index}.parquet", [{"n": v} for v in values], pa.schema([("n", arrow)]), write_statistics=with_statistics)
            lake.register(lake.source)
            for index, values in enumerate([*groups, [None]]):
                found = list(lake.partition(f"/{index}.parquet").values())
                if isinstance(values[0], decimal.Decimal):  # Avro has the unscaled value's bytes
                    found = [int.from_bytes(v, "big", signed=True) if isinstance(v, bytes) else v for v in found]
                value = values[0] if isinstance(values[0], decimal.Decimal) else number(values[0])
                wanted = [parse_transform(text).transform(kind)(value) for text in transforms]
                equal(found, [number(v) for v in wanted], f"{transforms} of {kind} {values}, statistics {with_statistics}")
            lake.whole(duckdb=False)


def test_every_transform_by_path():
    """The same where paths say the values, as Iceberg's own writers spell them, and as Hive does."""
    lake = Lake()
    rows = [{"i": 34, "s": "iceberg", "d": datetime.date(2017, 11, 16), "ts": datetime.datetime(2017, 11, 16, 22, 31, 8)}]
    lake.write("s_trunc=ice/i_trunc=30/d_month=2017-11/ts_hour=2017-11-16-22/a.parquet", rows)
    lake.register(lake.source, "--partition", "s_trunc: truncate[3](s)", "--partition", "i_trunc: truncate[10](i)",
                  "--partition", "d_month: month(d)", "--partition", "ts_hour: hour(ts)")
    equal(lake.spec(), [("s", "truncate[3]"), ("i", "truncate[10]"), ("d", "month"), ("ts", "hour")], "spec")
    equal(list(lake.partition("a.parquet").values()), ["ice", 30, 47 * 12 + 10, 17486 * 24 + 22], "partition")
    lake.whole()


def test_partitions_by_path_that_are_wrong():
    """Each of them is refused by name."""
    rows = [{"i": 34, "s": "iceberg", "d": datetime.date(2017, 11, 16)}]
    for path, rule in (("i=20/a.parquet", "i: truncate[10](i)"), ("s=ica/a.parquet", "s: truncate[3](s)"), ("d=2017-12/a.parquet", "d: month(d)"),
                       ("i=35/a.parquet", "i: i"), ("i=x/a.parquet", "i: i"), ("d=2017-13/a.parquet", "d: month(d)"), ("i=99999999999/a.parquet", "i: i"),
                       ("i=__HIVE_DEFAULT_PARTITION__/a.parquet", "i: i")):
        lake = Lake()
        lake.write(path, rows)
        lake.refused("register", lake.source, "--partition", rule, words=["a.parquet"])


def test_files_without_rows():
    """A file without rows is a file of the table like any other, with the partition that its path says."""
    lake = Lake()
    lake.write("k=1/empty.parquet", [], SCHEMA)
    lake.write("k=1/full.parquet", [{"k": 1, "n": 1, "s": "x"}], SCHEMA)
    lake.register(lake.source)
    if lake.path("k=1/empty.parquet") in lake.live():
        equal((lake.file("empty.parquet")["record_count"], lake.partition("empty.parquet")), (0, {"k": 1}), "the empty file")
    equal(lake.by_pyiceberg(), [{"k": 1, "n": 1, "s": "x"}], "rows")
    equal(lake.register(lake.source)["commits"], [], "another run")


def test_every_format_version():
    """Tables of v1, v2 and v3, made and found."""
    for version in (1, 2, 3):
        lake = Lake()
        lake.write("k=1/a.parquet", [{"k": 1, "n": 1, "s": "x"}], SCHEMA)
        lake.register(lake.source, "--format-version", version)
        equal(lake.metadata()["format-version"], version, "format version")
        lake.write("k=2/b.parquet", [{"k": 2, "n": 1, "s": "x"}], SCHEMA)
        lake.register(lake.source)
        equal(sorted(lake.live()), lake.files(), "live files")
        equal(lake.by_duckdb(), lake.oracle(), "rows by DuckDB")
        if version < 3:
            lake.whole()
        lake.run("verify", lake.name, "--catalog", lake.database)


def test_spark_reads_what_was_registered():
    """Lists, maps, structs, decimals and times of files without ids, by Spark SQL. (Iceberg's generic Java reader knows no mapping.)"""
    if not kit.SPARK:
        return
    lake = Lake()
    lake.write("k=1/a.parquet", pa.table({
        "k": pa.array([1, 1], pa.int32()), "l": pa.array([[1, None], []], pa.list_(pa.int32())), "st": [{"x": 1, "y": "a"}, None],
        "m": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), "d": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(9, 2)),
        "ts": pa.array([datetime.datetime(2024, 2, 29, 12), None], pa.timestamp("us")), "t": pa.array([b"\x00\xff", None])}))
    lake.register(lake.source)
    wanted = kit.read("pyiceberg", f"{lake.database}:{lake.name}")
    equal(pq.ParquetFile(lake.files()[0]).metadata.num_rows, len(wanted), "rows by PyIceberg")
    for reader in ("duckdb", "spark"):
        kit.check_rows(reader, f"{lake.database}:{lake.name}", wanted, "registered files")


if __name__ == "__main__":
    lakekit.main(globals())
