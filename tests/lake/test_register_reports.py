"""
Publicly reported faults of tools that register Parquet files in place, each played through `firn register`. A test's number groups
what belongs together; its docstring cites the report. Those that lost rows elsewhere end with filters of other readers, which must
find every row.
"""
import datetime
import decimal
import math
import os
import struct
import subprocess

import lakekit
import fx_parquet as p
import fx_table
import kit
import pyarrow as pa
import pyarrow.parquet as pq
from lakekit import Lake, check, equal, filters_find, made

UTC = datetime.timezone.utc
DAY = datetime.date


def at(*parts):
    return datetime.datetime(*parts)


def days_of(value):
    """A day partition as a number, whether the reader gives it as one or as a date."""
    return (value - DAY(1970, 1, 1)).days if isinstance(value, DAY) else value


def statistics(path, column, groups=None, **values):
    """Replaces the statistics of a column (in some row groups): old_max, old_min, nulls, maximum, minimum; None drops them all."""
    numbers = {"old_max": 1, "old_min": 2, "nulls": 3, "maximum": 5, "minimum": 6}

    def change(footer):
        for number, row_group in enumerate(p.row_groups(footer)):
            for chunk in row_group[1][1][1]:
                meta = chunk[3][1]
                if meta[3][1][1][-1] != column.encode() or (groups is not None and number not in groups):
                    continue
                meta.pop(12, None)
                if values:
                    meta[12] = (p.STRUCT, dict(sorted((numbers[k], p.i64(v) if k == "nulls" else p.text(v)) for k, v in values.items())))
                chunk[3] = (p.STRUCT, dict(sorted(meta.items())))
    p.patch(path, change)


def types():
    import pyiceberg.types
    return pyiceberg.types


# Partitions from paths


def test_01_leading_zeros_of_a_text_key():
    """apache/iceberg#6780: hour=00 of a text column stays "00": the type is the table's, never guessed from the value."""
    lake = Lake()
    for hour in ("00", "07", "7"):
        lake.write(f"hour={hour}/part.parquet", [{"n": 1, "hour": hour}])
    made(lake, [("n", types().LongType()), ("hour", types().StringType())], [("hour", "identity", "hour")])
    lake.register(lake.source)
    for hour in ("00", "07", "7"):
        equal(lake.partition(f"hour={hour}/part.parquet"), {"hour": hour}, "partition")
    lake.whole()
    filters_find(lake, "hour")


def test_01_leading_zeros_of_a_key_that_only_paths_have():
    """apache/iceberg#6780: the same where the files lack the column: text unless a rule gives a type."""
    lake = Lake()
    for shift in ("00", "07"):
        lake.write(f"shift={shift}/part.parquet", [{"n": int(shift)}])
    run = lake.register(lake.source)
    equal(lake.fields()["shift"]["type"], "string", "type")
    equal(lake.partition("shift=00/part.parquet"), {"shift": "00"}, "partition")
    equal(run["proof"]["asserted"], 2, "asserted by paths alone")
    equal(lake.by_pyiceberg(), [{"n": 0, "shift": "00"}, {"n": 7, "shift": "07"}], "rows by PyIceberg")
    equal(lake.by_pyiceberg("shift == '07'"), [{"n": 7, "shift": "07"}], "one shift by PyIceberg")
    lake = Lake()
    lake.write("shift=07/part.parquet", [{"n": 7}])
    lake.register(lake.source, "--partition", "shift: shift int as shift")
    equal((lake.fields()["shift"]["type"], lake.partition("part.parquet")), ("int", {"shift": 7}), "a type by rule")


def test_03_null_partitions_of_every_type():
    """apache/iceberg#12886 and #3778: __HIVE_DEFAULT_PARTITION__ is null, for text and for everything else."""
    for kind, value in ((pa.string(), "a"), (pa.int32(), 5), (pa.date32(), DAY(2024, 2, 29)), (pa.decimal128(9, 2), decimal.Decimal("1.50"))):
        lake = Lake()
        schema = pa.schema([("n", pa.int64()), ("k", kind)])
        lake.write("k=__HIVE_DEFAULT_PARTITION__/part.parquet", [{"n": 1, "k": None}], schema)
        lake.write(f"k={value}/part.parquet", [{"n": 2, "k": value}], schema)
        lake.register(lake.source)
        equal(lake.partition("k=__HIVE_DEFAULT_PARTITION__/part.parquet"), {"k": None}, f"partition of {kind}")
        equal(lake.spec(), [("k", "identity")], "spec")
        lake.whole()
        filters_find(lake, "k")


def test_03_null_partition_that_only_the_path_has():
    """apache/iceberg#12886: the same without the column in the files."""
    lake = Lake()
    lake.write("k=__HIVE_DEFAULT_PARTITION__/part.parquet", [{"n": 1}])
    lake.write("k=x/part.parquet", [{"n": 2}])
    lake.register(lake.source)
    equal(lake.by_pyiceberg("k is null"), [{"n": 1, "k": None}], "rows")


def test_04_a_spec_that_evolved():
    """apache/iceberg#12273: files of a table whose spec has changed are recorded under the spec whose tuple they have."""
    lake = Lake()
    table = made(lake, [("n", types().LongType()), ("k", types().StringType())])
    table.append(pa.table({"n": pa.array([1], pa.int64()), "k": ["old"]}))
    with table.update_spec() as update:
        update.add_identity("k")
    before = set(lake.live())
    path = lake.write("k=new/part.parquet", [{"n": 2, "k": "new"}])
    lake.register(lake.source)
    specs = {fx_table.strip(e["data_file"]["file_path"]): record["partition_spec_id"]
             for record, entries in lake.manifests() for e in entries if e["status"] != 2}
    equal(specs, {**{b: 0 for b in before}, path: 1}, "spec ids")
    equal(lake.partition("k=new/part.parquet"), {"k": "new"}, "partition")
    equal(lake.by_pyiceberg("k == 'new'"), [{"n": 2, "k": "new"}], "rows by PyIceberg")
    equal(len(lake.by_duckdb()), 2, "rows by DuckDB")


def test_05_a_pattern_prunes_while_listing():
    """apache/iceberg#7027: a filter on id=3 must not list id=1 and id=2."""
    lake = Lake()
    for number in (1, 2, 3):
        lake.write(f"id={number}/part.parquet", [{"id": number}])
    run, calls = lakekit.trace(lake, "register", "--glob", lake.path("id=3", "*.parquet"))
    equal((run["files"]["added"], run["footers_read"]), (1, 1), "files")
    equal([c for c in calls if "/id=1" in c[1] or "/id=2" in c[1]], [], "calls for other partitions")
    equal(lake.partition("id=3/part.parquet"), {"id": 3}, "partition")


def test_06_folders_below_folders():
    """apache/iceberg#4397, trinodb/trino#23891 and #16779: a folder is all that lies below it; hidden ancestors don't hide; "/" at the end."""
    lake = Lake()
    lake.source = os.path.join(lake.folder, ".hidden", "_lake")
    for name in ("a.parquet", "x/b.parquet", "x/y/z/c.parquet"):
        lake.write(name, [{"n": 1}])
    lake.write("_temporary/d.parquet", [{"n": 1}])
    lake.write("x/.staging/e.parquet", [{"n": 1}])
    run = lake.register(lake.source + "/")
    equal(run["files"]["added"], 3, "files")
    equal(sorted(f["file"].removeprefix(lake.source) for f in run["ignored"]), ["/_temporary/d.parquet", "/x/.staging/e.parquet"], "ignored")
    lake.whole([lake.path("a.parquet"), lake.path("x/b.parquet"), lake.path("x/y/z/c.parquet")])


def test_07_markers_and_empty_sources():
    """apache/iceberg#17926 and #3453: markers and empty objects are skipped and told; an empty source is a success that does nothing."""
    lake = Lake()
    run = lake.register(lake.source)
    equal((run["files"]["listed"], run["created"], run["commits"]), (0, False, []), "an empty source")
    check(lake.pointer() is None and not os.path.exists(lake.location), "a table was made")
    lake.write("k=1/part.parquet", [{"k": 1}])
    for name in ("k=1_$folder$", "_SUCCESS", "k=1/_metadata", "k=1/.part.parquet.crc", "k=1/empty"):
        with open(lake.path(name), "wb"):
            pass
    run = lake.register(lake.source)
    equal(run["files"]["ignored"], 5, "ignored")
    equal(run.names("ignored"), sorted([".part.parquet.crc", "_SUCCESS", "_metadata", "empty", "k=1_$folder$"]), "ignored")
    check(all(f["reason"] for f in run["ignored"]), "reasons")
    lake.whole()


def test_09_transformed_values_are_compared():
    """apache/iceberg-python#1917: least and greatest differ, and lie in one hour: one partition; in two hours: refused."""
    lake = Lake()
    made(lake, [("n", types().LongType()), ("ts", types().TimestampType())], [("ts", "hour", "ts_hour")])
    schema = pa.schema([("n", pa.int64()), ("ts", pa.timestamp("us"))])
    lake.write("a.parquet", [{"n": 1, "ts": at(2024, 3, 1, 5, 0, 0)}, {"n": 2, "ts": at(2024, 3, 1, 5, 59, 59, 999999)}], schema)
    lake.register(lake.path("a.parquet"))
    equal(lake.partition("a.parquet"), {"ts_hour": (at(2024, 3, 1, 5) - at(1970, 1, 1)) // datetime.timedelta(hours=1)}, "partition")
    lake.write("b.parquet", [{"n": 3, "ts": at(2024, 3, 1, 5, 59, 59)}, {"n": 4, "ts": at(2024, 3, 1, 6)}], schema)
    lake.refused("register", lake.path("b.parquet"), words=["b.parquet", "ts"])
    lake.whole([lake.path("a.parquet")])
    filters_find(lake, "ts")


def buckets(count, numbers):
    """{bucket: [values]} by PyIceberg's own hash."""
    from pyiceberg.transforms import BucketTransform
    found = {}
    for number in numbers:
        found.setdefault(BucketTransform(count).transform(types().LongType())(number), []).append(number)
    return found


def test_10_buckets_are_proved_by_hashing():
    """apache/iceberg-python#3032: files of a bucket, with the bucket in the path: every value is hashed, nulls have none."""
    lake = Lake()
    for bucket, numbers in buckets(4, range(40)).items():
        lake.write(f"id_bucket={bucket}/part.parquet", [{"id": n} for n in numbers])
    run = lake.register(lake.source, "--partition", "id_bucket: bucket[4](id)")
    equal(lake.spec(), [("id", "bucket[4]")], "spec")
    equal(run["proof"], {"by_footer": 0, "by_column": 4, "asserted": 0}, "proofs")
    for bucket in range(4):
        equal(list(lake.partition(f"id_bucket={bucket}/part.parquet").values()), [bucket], "partition")
    lake.whole()
    filters_find(lake, "id")


def test_11_a_bucket_that_can_not_be():
    """duckdb/ducklake#1291: bucket=999 of bucket(4), or the wrong one of the four: refused, as filters would lose the rows."""
    groups = buckets(4, range(40))
    for named in (999, 4, -1, (next(iter(groups)) + 1) % 4):
        lake = Lake()
        lake.write(f"id_bucket={named}/part.parquet", [{"id": n} for n in next(iter(groups.values()))])
        run = lake.refused("register", lake.source, "--partition", "id_bucket: bucket[4](id)", words=["part.parquet", str(named)])
        equal(run.names("bad"), ["part.parquet"], "bad files")
    lake = Lake()
    lake.write("id_bucket=0/part.parquet", [{"id": n} for n in groups[0] + [groups[1][-1]]])
    lake.refused("register", lake.source, "--partition", "id_bucket: bucket[4](id)", words=["part.parquet"])


def test_12_several_fields_of_one_column_and_keys_of_none():
    """PostHog/posthog#67168 and #52823: year, month and day of one column each have their value; a key that means nothing is ignored."""
    lake = Lake()
    days = [DAY(2023, 12, 31), DAY(2024, 1, 1), DAY(2024, 2, 29)]
    for day in days:
        lake.write(f"year={day.year}/month={day.month:02d}/day={day.day:02d}/source=api/part.parquet", [{"date": day, "n": 1}])
    lake.register(lake.source, "--partition", "source: -")
    equal(lake.spec(), [("date", "year"), ("date", "month"), ("date", "day")], "spec")
    check("source" not in lake.fields(), "a key that means nothing became a column")
    for day in days:
        values = list(lake.partition(f"year={day.year}/month={day.month:02d}/day={day.day:02d}/source=api/part.parquet").values())
        equal([int(days_of(v)) for v in values], [day.year - 1970, (day.year - 1970) * 12 + day.month - 1, (day - DAY(1970, 1, 1)).days],
              "partition")
    lake.whole()
    filters_find(lake, "date")
    # A table that is partitioned otherwise: the keys that no field is for don't matter.
    lake = Lake()
    made(lake, [("date", types().DateType()), ("n", types().LongType())], [("date", "day", "d")])
    for day in days:
        lake.write(f"year={day.year}/month={day.month:02d}/day={day.day:02d}/source=api/part.parquet", [{"date": day, "n": 1}])
    lake.register(lake.source)
    lake.whole()
    filters_find(lake, "date")


# Statistics


def test_13_files_without_statistics():
    """apache/iceberg-python#1353: no statistics: no bounds, and the partition is read from the column, never guessed."""
    lake = Lake()
    for key in ("a", "b"):
        lake.write(f"k={key}/part.parquet", [{"k": key, "n": i} for i in range(5)], write_statistics=False)
    run = lake.register(lake.source)
    equal(run["proof"], {"by_footer": 0, "by_column": 2, "asserted": 0}, "proofs")
    equal(lake.bounds("k=a/part.parquet", "n"), (None, None), "bounds")
    lake.whole()
    filters_find(lake, "k")
    filters_find(lake, "n")


def test_28_undefined_is_not_null():
    """apache/iceberg#1635 and #6516: a null count without least and greatest, or NaN as both: no bounds, and not "all null"."""
    nan = struct.pack("<d", math.nan)
    for values in ({"nulls": 0}, {"nulls": 0, "minimum": nan, "maximum": nan}, {"minimum": nan, "maximum": nan}, {}):
        lake = Lake()
        path = lake.write("a.parquet", [{"n": i, "x": float(i)} for i in range(4)])
        statistics(path, "x", **values)
        lake.register(lake.source)
        equal(lake.bounds("a.parquet", "x"), (None, None), f"bounds with {values}")
        nulls = lakekit.id_map(lake.file("a.parquet").get("null_value_counts")).get(lake.fields()["x"]["id"])
        check(nulls in (0, None), f"nulls: {nulls}")
        lake.whole()
        filters_find(lake, "x")


def test_28_nan_among_the_values():
    """apache/iceberg#6516: NaN, zeros of both signs, infinities: filters find each."""
    lake = Lake()
    lake.write("a.parquet", [{"x": v, "y": v} for v in (1.5, math.nan, None, -2.0)], pa.schema([("x", pa.float64()), ("y", pa.float32())]))
    lake.write("b.parquet", [{"x": v, "y": v} for v in (math.nan, math.nan)], pa.schema([("x", pa.float64()), ("y", pa.float32())]))
    lake.write("c.parquet", [{"x": v, "y": v} for v in (math.inf, -math.inf, 0.0)], pa.schema([("x", pa.float64()), ("y", pa.float32())]))
    lake.write("d.parquet", [{"x": -0.0, "y": -0.0}], pa.schema([("x", pa.float64()), ("y", pa.float32())]))
    lake.register(lake.source)
    lower, upper = lake.bounds("d.parquet", "x")
    check(lower is None or math.copysign(1, lower) < 0, f"lower bound of a zero: {lower}")
    check(upper is None or math.copysign(1, upper) > 0, f"upper bound of a zero: {upper}")
    for column in ("x", "y"):
        equal(lake.bounds("b.parquet", column), (None, None), "bounds of NaN only")
        filters_find(lake, column)
    lake.whole()


def test_29_upper_bounds_are_rounded_up():
    """delta-io/delta#7444: what is cut off an upper bound must not lose the rows above: long texts, and milliseconds."""
    lake = Lake()
    texts = ["a" * 40 + "m", "a" * 40 + "z", "é" * 30, "\U0010ffff" * 20, "z" * 16, "z" * 17]
    for number, text in enumerate(texts):
        lake.write(f"{number}.parquet", [{"s": text}, {"s": "b"}])
    lake.register(lake.source)
    for number, text in enumerate(texts):
        lower, upper = lake.bounds(f"{number}.parquet", "s")
        check(lower is None or lower.encode() <= min(text, "b").encode(), f"lower bound {lower!r} of {text!r}")
        check(upper is None or upper.encode() >= max(text.encode(), b"b"), f"upper bound {upper!r} of {text!r}")
        check(upper is None or len(upper) <= 16 or upper == text, f"upper bound is not cut: {upper!r}")
    lake.whole()
    filters_find(lake, "s")


def test_29_nanoseconds_to_microseconds():
    """delta-io/delta#7444: the same where a file of nanoseconds is read as microseconds, if at all: refused, or rounded outwards."""
    lake = Lake()
    made(lake, [("ts", types().TimestampType())])
    lake.write("a.parquet", pa.table({"ts": pa.array([1_700_000_000_000_000_001, 1_700_000_000_000_000_999], pa.timestamp("ns"))}))
    run = lake.register(lake.source, expect=(0, 3))
    if run.code == 3:
        run.says("a.parquet", "ts")
        return
    lower, upper = lake.bounds("a.parquet", "ts")
    check(lower is None or lower <= 1_700_000_000_000_000, f"lower {lower}")
    check(upper is None or upper >= 1_700_000_000_000_001, f"upper {upper}")


def test_31_statistics_of_duckdb():
    """apache/iceberg-python#2995: DuckDB's files: bounds of text are the text's bytes; bytes that are no UTF-8 are no bound."""
    import duckdb
    lake = Lake()
    duckdb.sql(f"COPY (SELECT i AS n, 'wört' || i AS s, (i * 1.5)::DECIMAL(9,2) AS d, DATE '2024-01-01' + i::INT AS day "
               f"FROM range(50) t(i)) TO '{lake.path('a.parquet')}' (FORMAT parquet)")
    lake.register(lake.source)
    lower, upper = lake.bounds("a.parquet", "s")
    equal((lower, upper), ("wört0", "wört9"), "bounds of the text")
    equal(lake.bounds("a.parquet", "n"), (0, 49), "bounds of the number")
    lake.whole()
    for column in ("n", "s", "day"):
        filters_find(lake, column)
    lake = Lake()
    path = lake.write("a.parquet", [{"s": "a"}, {"s": "b"}])
    statistics(path, "s", minimum=b"\xff\xfe", maximum=b"\xff\xff", nulls=0)
    lake.register(lake.source)
    equal(lake.bounds("a.parquet", "s"), (None, None), "bounds that are no UTF-8")
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")


def summaries(lake):
    """The partition summaries of the manifest list: [[(contains_null, lower, upper)]]."""
    return [[(s["contains_null"], s.get("lower_bound"), s.get("upper_bound")) for s in record["partitions"]] for record, _ in lake.manifests()]


def test_32_summaries_of_the_manifest_list():
    """ClickHouse/ClickHouse#119514 and apache/paimon#9151: null partitions are told in the manifest list, all-null ones have no bounds."""
    for keys, wanted in (([None], [(True, None, None)]), (["b"], [(False, b"b", b"b")]), ([None, "a", "c"], [(True, b"a", b"c")])):
        lake = Lake()
        for key in keys:
            lake.write(f"k={key or '__HIVE_DEFAULT_PARTITION__'}/part.parquet", [{"k": key, "n": 1}], pa.schema([("k", pa.string()), ("n", pa.int64())]))
        lake.register(lake.source)
        equal(summaries(lake), [wanted], f"summaries of {keys}")
        filters_find(lake, "k")


def test_p1_nulls_among_values_are_two_partitions():
    """As read in PyIceberg, iceberg-go and ice: a file with null and "A" is no file of k=A: IS NULL would miss rows. Refused by name."""
    for path, values in (("k=A/part.parquet", ["A", None]), ("k=A/part.parquet", ["A", "B"]), ("part.parquet", [None, "A"]),
                         ("k=__HIVE_DEFAULT_PARTITION__/part.parquet", [None, "A"])):
        lake = Lake()
        made(lake, [("k", types().StringType()), ("n", types().LongType())], [("k", "identity", "k")])
        lake.write(path, [{"k": v, "n": i} for i, v in enumerate(values)])
        run = lake.refused("register", lake.source, words=["part.parquet", "k"])
        equal(run.names("bad"), ["part.parquet"], f"bad files with {values}")
        equal(lake.live(), {}, "live files")


def test_p2_partitions_where_bounds_are_missing():
    """As read in PyIceberg and iceberg-go: no statistics, metrics mode none or counts, or a nested source: never a null partition."""
    for mode in ("none", "counts", "truncate(2)"):
        for written in (True, False):
            lake = Lake()
            made(lake, [("k", types().StringType()), ("n", types().LongType())], [("k", "identity", "k")],
                 {"write.metadata.metrics.default": mode})
            lake.write("a.parquet", [{"k": "abcdef", "n": i} for i in range(3)], write_statistics=written)
            lake.register(lake.source)
            equal(lake.partition("a.parquet"), {"k": "abcdef"}, f"partition with {mode}")
            if mode in ("none", "counts"):
                equal(lake.bounds("a.parquet", "n"), (None, None), f"bounds with {mode}")
            filters_find(lake, "k")
            filters_find(lake, "n")


def test_p2_partitions_by_a_nested_column():
    """The same: the source of the partition lies in a struct."""
    from pyiceberg.types import LongType, NestedField, StringType, StructType
    lake = Lake()
    made(lake, [("n", LongType()), ("s", StructType(NestedField(50, "k", StringType(), required=False)))], [("s.k", "identity", "k")])
    lake.write("a.parquet", [{"n": 1, "s": {"k": "x"}}, {"n": 2, "s": {"k": "x"}}])
    lake.register(lake.path("a.parquet"))
    equal(lake.partition("a.parquet"), {"k": "x"}, "partition")
    # A null struct is a null of the column.
    lake.write("b.parquet", [{"n": 1, "s": {"k": "x"}}, {"n": 2, "s": None}])
    lake.refused("register", lake.path("b.parquet"), words=["b.parquet"])
    lake.write("c.parquet", [{"n": 3, "s": None}], pa.schema([("n", pa.int64()), ("s", pa.struct([("k", pa.string())]))]))
    lake.register(lake.path("c.parquet"))
    equal(lake.partition("c.parquet"), {"k": None}, "partition of a null struct")
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")


def test_p3_bounds_of_some_row_groups_only():
    """As read in PyIceberg, iceberg-go and Java: the first row group has bounds, the second only a null count: no bounds at all."""
    lake = Lake()
    path = lake.write("a.parquet", [{"n": i, "s": f"t{i}"} for i in range(20)], row_group_size=10)
    equal(pq.ParquetFile(path).num_row_groups, 2, "row groups")
    for column in ("n", "s"):
        statistics(path, column, groups=[1], nulls=0)
    lake.register(lake.source)
    for column in ("n", "s"):
        lower, upper = lake.bounds("a.parquet", column)
        check(lower is None or lower in (0, "t0"), f"lower bound {lower}")
        equal(upper, None, "upper bound")
        filters_find(lake, column)
    # A row group of nulls alone has no bounds by right.
    lake = Lake()
    lake.write("a.parquet", [{"n": i if i < 10 else None} for i in range(20)], row_group_size=10)
    lake.register(lake.source)
    equal(lake.bounds("a.parquet", "n"), (0, 9), "bounds beside a row group of nulls")
    filters_find(lake, "n")


def test_p3_partition_of_some_row_groups_only():
    """The same for a partition's column: what the footer leaves open is read."""
    lake = Lake()
    path = lake.write("k=1/a.parquet", [{"k": 1, "n": i} for i in range(20)], row_group_size=10)
    statistics(path, "k", groups=[1], nulls=0)
    equal(lake.register(lake.source)["proof"]["by_column"], 1, "proofs")
    lake.whole()
    lake = Lake()
    path = lake.write("k=1/a.parquet", [{"k": 1 if i < 15 else 2, "n": i} for i in range(20)], row_group_size=10)
    statistics(path, "k", groups=[1], nulls=0)
    lake.refused("register", lake.source, words=["a.parquet"])


def test_p4_milliseconds():
    """As read in Java and iceberg-go: statistics of TIMESTAMP_MILLIS are scaled to microseconds. TIME_MILLIS is the form of no type."""
    lake = Lake()
    moments = [at(1969, 12, 31, 23, 59, 59, 999000), at(2024, 2, 29, 12, 0, 0, 123000)]
    table = pa.table({"ts": pa.array(moments, pa.timestamp("ms")), "tz": pa.array(moments, pa.timestamp("ms", "UTC"))})
    lake.write("a.parquet", table)
    lake.register(lake.source)
    microseconds = [(m - at(1970, 1, 1)) // datetime.timedelta(microseconds=1) for m in moments]
    equal(lake.bounds("a.parquet", "ts"), tuple(microseconds), "bounds of ts")
    equal(lake.bounds("a.parquet", "tz"), tuple(microseconds), "bounds of tz")
    equal({n: f["type"] for n, f in lake.fields().items()}, {"ts": "timestamp", "tz": "timestamptz"}, "types")
    lake.whole()
    filters_find(lake, "ts")
    filters_find(lake, "tz")
    lake = Lake()
    lake.write("a.parquet", pa.table({"t": pa.array([datetime.time(0, 0, 0, 5000), datetime.time(23, 59, 59, 999000)], pa.time32("ms"))}))
    lake.refused("register", lake.source, words=["a.parquet", 'column "t"', "milliseconds", "microseconds"])
    # And the partition that is proved from them.
    lake = Lake()
    lake.write("day=2024-02-29/a.parquet", pa.table({"ts": pa.array([moments[1]], pa.timestamp("ms"))}))
    lake.register(lake.source, "--partition", "day: day(ts)")
    equal(days_of(list(lake.partition("a.parquet").values())[0]), (DAY(2024, 2, 29) - DAY(1970, 1, 1)).days, "day")
    filters_find(lake, "ts")


# Types


def decimal_table(lake):
    return made(lake, [("n", types().LongType()), ("d", types().DecimalType(10, 2))])


def test_22_decimals_of_every_form():
    """apache/iceberg-python#2057, #1979 and apache/iceberg-go#686: a decimal may stand as INT32, INT64, fixed or bytes."""
    values = ["-12345.67", "0.00", "99999.99"]
    numbers = [int(decimal.Decimal(v).scaleb(2)) for v in values]
    forms = {"INT32": (p.leaf("d", p.INT32, logical=p.decimal(9, 2), converted=5), numbers),
             "INT64": (p.leaf("d", p.INT64, logical=p.decimal(10, 2), converted=5), numbers),
             "fixed": (p.leaf("d", p.FIXED, logical=p.decimal(10, 2), converted=5, length=5), [n.to_bytes(5, "big", signed=True) for n in numbers]),
             "wide fixed": (p.leaf("d", p.FIXED, logical=p.decimal(10, 2), converted=5, length=16), [n.to_bytes(16, "big", signed=True) for n in numbers]),
             "bytes": (p.leaf("d", p.BYTE_ARRAY, logical=p.decimal(10, 2), converted=5),
                       [n.to_bytes((n.bit_length() + 8) // 8 or 1, "big", signed=True) for n in numbers])}
    lake = Lake()
    decimal_table(lake)
    for form, (node, stored) in forms.items():
        p.write(lake.path(f"{form}.parquet"), [p.leaf("n", p.INT64), node], [[{"n": i, "d": s} for i, s in enumerate(stored)]])
    lake.register(lake.source)
    equal(len(lake.live()), 5, "live files")
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")
    # The same with a table that is made of them, by PyArrow, with statistics.
    lake = Lake()
    column = pa.array([decimal.Decimal(v) for v in values], pa.decimal128(9, 2))
    lake.write("fixed.parquet", pa.table({"d": column}))
    lake.write("integer.parquet", pa.table({"d": column}), store_decimal_as_integer=True)
    lake.register(lake.source)
    for name in ("fixed.parquet", "integer.parquet"):
        equal(lake.bounds(name, "d"), (decimal.Decimal("-12345.67"), decimal.Decimal("99999.99")), f"bounds of {name}")
    lake.whole()
    filters_find(lake, "d")


def test_23_bounds_are_in_the_tables_form():
    """StarRocks/starrocks#69207 and apache/iceberg#125: bounds are logical values in Iceberg's encoding, not a footer's bytes."""
    lake = Lake()
    column = pa.array([decimal.Decimal("-1.00"), decimal.Decimal("2.55")], pa.decimal128(18, 2))
    lake.write("a.parquet", pa.table({"d": column, "b": pa.array([False, True]), "i": pa.array([-1, 5], pa.int16()), "u": pa.array([1, 200], pa.uint8())}))
    lake.write("b.parquet", pa.table({"d": column, "b": pa.array([False, True]), "i": pa.array([-1, 5], pa.int16()), "u": pa.array([1, 200], pa.uint8())}),
               store_decimal_as_integer=True)
    lake.register(lake.source)
    for name in ("a.parquet", "b.parquet"):
        record, field = lake.file(name), lake.fields()["d"]["id"]
        equal((lakekit.id_map(record["lower_bounds"])[field].hex(), lakekit.id_map(record["upper_bounds"])[field].hex()), ("9c", "00ff"),
              "the least bytes that hold -100 and 255, big-endian")
        equal(lake.bounds(name, "b"), (False, True), "bounds of a boolean")
        equal(lake.bounds(name, "i"), (-1, 5), "bounds of a short")
        equal(lake.bounds(name, "u"), (1, 200), "bounds of an unsigned byte")
    lake.whole()
    filters_find(lake, "d")
    filters_find(lake, "u")


def test_23_unsigned_numbers():
    """apache/iceberg#125: unsigned 32 bits become long, with bounds in their own order; 64 bits have no type."""
    lake = Lake()
    lake.write("a.parquet", pa.table({"u": pa.array([1, 2_147_483_647], pa.uint32())}))
    lake.register(lake.source)
    equal((lake.fields()["u"]["type"], lake.bounds("a.parquet", "u")), ("long", (1, 2_147_483_647)), "type and bounds")
    lake.whole()
    filters_find(lake, "u")
    lake = Lake()
    lake.write("a.parquet", pa.table({"u": pa.array([1, 2 ** 63], pa.uint64())}))
    lake.refused("register", lake.source, words=["a.parquet", "u"])


def test_25_nanoseconds_need_v3():
    """apache/iceberg-python#907, #1045 and apache/iceberg#13679: refused for v2, with a word on what to do; timestamp_ns in v3."""
    def write(lake):
        lake.write("a.parquet", pa.table({"ts": pa.array([1_700_000_000_000_000_001, -1], pa.timestamp("ns"))}))
    lake = Lake()
    write(lake)
    lake.refused("register", lake.source, words=["a.parquet", "ts", "3"])
    lake = Lake()
    write(lake)
    lake.register(lake.source, "--format-version", "3")
    equal((lake.fields()["ts"]["type"], lake.metadata()["format-version"]), ("timestamp_ns", 3), "type")
    equal(sorted(kit.read("duckdb", f"{lake.database}:{lake.name}"))[0].split(",")[0], '{"ts":"1969-12-31T23:59:59.999999999"', "rows by DuckDB")


def test_26_int96():
    """apache/iceberg#1351, #2553, #13485 and apache/datafusion-comet#3856: INT96 has no statistics to trust; it is told, and partitions hold."""
    lake = Lake()
    moments = [at(1900, 1, 1), at(2024, 2, 29, 12, 0, 0, 123456)]
    for number, moment in enumerate(moments):
        path = lake.write(f"day={moment.date()}/{number}.parquet", pa.table({"ts": pa.array([moment], pa.timestamp("us")), "n": [number]}),
                          use_deprecated_int96_timestamps=True)
        statistics(path, "ts", nulls=0, minimum=b"\0" * 12, maximum=b"\xff" * 12, old_min=b"\0" * 12, old_max=b"\0" * 12)
    run = lake.register(lake.source, "--partition", "day: day(ts)")
    check(any("INT96" in c["what"] for c in run["columns"]), f"columns: {run['columns']}")
    for number, moment in enumerate(moments):
        equal(lake.bounds(f"{number}.parquet", "ts"), (None, None), "bounds")
        equal(days_of(list(lake.partition(f"{number}.parquet").values())[0]), (moment.date() - DAY(1970, 1, 1)).days, "day")
    equal(run["proof"]["by_column"], 2, "proofs")
    equal(lake.by_duckdb(), lake.oracle(), "rows by DuckDB")
    equal(len(lake.by_duckdb("ts = TIMESTAMP '2024-02-29 12:00:00.123456'")), 1, "a filter by DuckDB")
    lake = Lake()
    lake.write("day=2024-03-01/a.parquet", pa.table({"ts": pa.array(moments, pa.timestamp("us"))}), use_deprecated_int96_timestamps=True)
    lake.refused("register", lake.source, "--partition", "day: day(ts)", words=["a.parquet"])


def test_25_far_times():
    """apache/iceberg#13679: dates and times of years 1 to 9999 keep their values, bounds and partitions."""
    lake = Lake()
    days = [DAY(1, 1, 1), DAY(1582, 10, 15), DAY(1969, 12, 31), DAY(9999, 12, 31)]
    for day in days:
        lake.write(f"year={day.year:04}/month={day.month}/{day}.parquet", pa.table({"d": [day], "ts": pa.array([at(day.year, day.month, day.day, 23)], pa.timestamp("us"))}))
    lake.register(lake.source, "--partition", "year: year(d)", "--partition", "month: month(d)")
    for day in days:
        months = (day.year - 1970) * 12 + day.month - 1
        equal(list(lake.partition(f"{day}.parquet").values()), [day.year - 1970, months], f"partition of {day}")
    lake.whole()
    filters_find(lake, "d")


# Schemas and ids


def test_34_the_mapping_is_always_written():
    """duckdb/duckdb-iceberg#147, #242 and pola-rs/polars#24915: without ids in the files the table gets a mapping, an existing one too."""
    lake = Lake()
    made(lake, [("n", types().LongType()), ("s", types().StringType())])
    lake.write("a.parquet", [{"n": 1, "s": "x"}])
    lake.register(lake.source)
    check(lakekit.MAPPING in lake.properties(), "no mapping")
    lake.whole()
    # A mapping that lacks a column is mended in the commit that needs it.
    lake.table().transaction().set_properties({lakekit.MAPPING: '[{"field-id": 1, "names": ["n", "alias"]}]'}).commit_transaction()
    lake.write("b.parquet", [{"n": 2, "s": "y"}])
    lake.register(lake.source)
    text = lake.properties()[lakekit.MAPPING]
    check('"s"' in text and '"alias"' in text, f"mapping: {text}")
    lake.whole()


def with_ids(lake, name, ids, rows, kinds=None):
    """A file whose columns carry field ids: {column: id}."""
    kinds = kinds or {"n": pa.int64(), "s": pa.string()}
    schema = pa.schema([pa.field(c, kinds[c], metadata={"PARQUET:field_id": str(i)}) for c, i in ids.items()])
    return lake.write(name, rows, schema)


def test_36_files_with_ids():
    """apache/iceberg-python#1227, #2131 and apache/iceberg-go#861: ids that agree with the table's are right; others are refused."""
    lake = Lake()
    made(lake, [("n", types().LongType()), ("s", types().StringType())])
    equal({n: f["id"] for n, f in lake.fields().items()}, {"n": 1, "s": 2}, "ids by PyIceberg")
    with_ids(lake, "right.parquet", {"n": 1, "s": 2}, [{"n": 1, "s": "x"}])
    lake.register(lake.path("right.parquet"))
    lake.whole()
    path = with_ids(lake, "wrong.parquet", {"n": 2, "s": 1}, [{"n": 2, "s": "y"}])
    lake.refused("register", path, words=["wrong.parquet"])
    os.unlink(path)
    lake.whole()
    # A table that is made of files that agree takes their ids.
    lake = Lake()
    with_ids(lake, "a.parquet", {"n": 7, "s": 3}, [{"n": 1, "s": "x"}])
    with_ids(lake, "b.parquet", {"n": 7, "s": 3}, [{"n": 2, "s": "y"}])
    lake.register(lake.source)
    equal({n: f["id"] for n, f in lake.fields().items()}, {"n": 7, "s": 3}, "ids")
    lake.whole()


def test_33_columns_that_only_paths_have():
    """ClickHouse/ClickHouse#110216 and apache/auron#2527: some readers give null for them: how many files are so is told."""
    lake = Lake()
    lake.write("region=eu/part.parquet", [{"n": 1}])
    lake.write("region=us/part.parquet", [{"n": 2}])
    run = lake.register(lake.source)
    equal(run["proof"], {"by_footer": 0, "by_column": 0, "asserted": 2}, "proofs")
    equal(lake.by_pyiceberg("region == 'eu'"), [{"n": 1, "region": "eu"}], "rows by PyIceberg")


def test_p5_lists_by_structure():
    """As read in PyIceberg, which looks for "list.element": lists and maps are known by their structure, whatever names they have."""
    lake = Lake()
    content = [{"n": i, "l": [None, [], [1, None, i]][i % 3]} for i in range(9)]
    schema = pa.schema([("n", pa.int64()), ("l", pa.list_(pa.int32()))])
    lake.write("element.parquet", content, schema)
    lake.write("item.parquet", content, schema, use_compliant_nested_type=False)
    bag = p.group("l", p.group("bag", p.leaf("array_element", p.INT32), repetition=p.REPEATED), logical="list")
    p.write(lake.path("bag.parquet"), [p.leaf("n", p.INT64), bag],
            [[{"n": r["n"], "l": None if r["l"] is None else {"bag": [{"array_element": x} for x in r["l"]]}} for r in content]])
    lake.register(lake.source)
    equal(len(lake.live()), 3, "files")
    equal(len(lake.fields()), 2, "columns")
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")
    lake.run("verify", lake.name, "--catalog", lake.database)


def test_p5_split_offsets_are_row_groups():
    """As read in PyIceberg, which takes the first column's offset: columns may lie in another order; offsets are those of row groups."""
    lake = Lake()
    path = lake.write("a.parquet", [{"b": f"t{i % 3}", "a": i} for i in range(30)], row_group_size=10)
    starts = []

    def swap(footer):
        names = [e for e in footer[2][1][1]]
        footer[2][1][1][1:] = [names[2], names[1]]
        for group in p.row_groups(footer):
            starts.append(min(m[n][1] for m in p.chunks(group) for n in (9, 11) if n in m))
            group[1][1][1].reverse()
        if 7 in footer:
            footer[7][1][1].reverse()
        footer.pop(5, None)
    p.patch(path, swap)
    equal(pq.ParquetFile(path).schema_arrow.names, ["a", "b"], "columns by PyArrow")
    lake.register(lake.source)
    equal(lake.file("a.parquet").get("split_offsets"), starts, "split offsets")
    equal(lake.bounds("a.parquet", "a"), (0, 29), "bounds")
    lake.whole()


# Duplicates, commits


def test_16_what_is_there_is_not_added_again():
    """apache/iceberg-rust#1394: data files are compared, not manifests: registering again adds nothing."""
    lake = Lake()
    lake.write("a.parquet", [{"n": 1}])
    lake.register(lake.source)
    lake.write("b.parquet", [{"n": 2}])
    run = lake.register(lake.source)
    equal((run["files"]["known"], run["files"]["added"]), (1, 1), "files")
    pointer = lake.pointer()
    equal(lake.register(lake.source)["commits"], [], "commits")
    equal(lake.pointer(), pointer, "the pointer")
    lake.whole()


def test_16_what_others_added_is_not_added_again():
    """The same where PyIceberg's add_files registered them: register says so, sync takes them for what they are."""
    lake = Lake()
    path = lake.write("a.parquet", [{"n": 1}])
    made(lake, [("n", types().LongType())]).add_files([path])
    lake.write("b.parquet", [{"n": 2}])
    lake.refused("register", lake.source, words=["a.parquet"])
    run = lake.sync(lake.source)
    equal((run["files"]["known"], run["files"]["added"]), (1, 1), "files")
    lake.whole()


def test_17_one_file_by_many_names():
    """duckdb/ducklake#1293: one.parquet, ./one.parquet, lake//one.parquet and file:///…/one.parquet are one file."""
    lake = Lake()
    path = lake.write("one.parquet", [{"n": 1}])
    names = [path, os.path.join(lake.source, ".", "one.parquet"), lake.source + "//one.parquet", "file://" + path,
             os.path.join(lake.source, "..", os.path.basename(lake.source), "one.parquet")]
    equal(lake.register(*names)["files"]["added"], 1, "files")
    for name in names:
        equal(lake.register(name)["files"]["added"], 0, f"files by the name {name}")
    equal(lake.register("one.parquet", cwd=lake.source)["files"]["added"], 0, "a relative name")
    equal(lake.register("--from", "-", stdin="\n".join(names) + "\n")["files"]["added"], 0, "names of standard input")
    lake.whole()


def test_18_duplicates_that_are_there():
    """apache/iceberg-python#2130 and trinodb/trino#23678: what another tool doubled is no third time added, and others go in."""
    lake = Lake()
    path = lake.write("a.parquet", [{"n": 1}])
    table = made(lake, [("n", types().LongType())])
    table.add_files([path])
    table.add_files([path], check_duplicate_files=False)
    lake.write("b.parquet", [{"n": 2}])
    equal(lake.sync(lake.source)["files"]["added"], 1, "files")
    equal(lake.by_pyiceberg(), [{"n": 1}, {"n": 1}, {"n": 2}], "rows")


def commits_in_doubt(lake, plan, **environment):
    lake.watch = False
    return lake.register(lake.source, program=kit.FAULTS, expect=None, environment={"FIRN_FAULT": plan, **environment})


def test_19_the_answer_to_a_commit_is_lost():
    """redpanda-data/connect#4591: the commit landed and the answer got lost: the retry looks first, and adds nothing twice."""
    for fresh in (True, False):
        for number in range(1, 7):
            lake = Lake()
            lake.write("a.parquet", [{"n": 1}])
            if not fresh:
                lake.register(lake.source)
            for name in ("b.parquet", "c.parquet"):
                lake.write(name, [{"n": 2}])
            run = commits_in_doubt(lake, f"fail-after:{number}:catalog")
            check(run.code in (0, 1, 5, 7), f"exit {run.code}: {run.error}")
            if lake.pointer():
                lake.live()  # none is there twice
            lake.register(lake.source)
            lake.whole()


def test_20_two_at_once():
    """Altinity/ice#158: several inserts at once lose nothing: the loser of a race goes on from the winner's commit."""
    lake = Lake()
    lake.watch = False
    lake.write("first.parquet", [{"n": -1}])
    lake.register(lake.source)
    runners = []
    for number in range(4):
        path = lake.write(f"{number}/part.parquet", [{"n": number}])
        runners.append(subprocess.Popen(
            [kit.FIRN, "register", lake.name, "--catalog", lake.database, "--yes", path], text=True, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, env={**os.environ, "FIRN_STATE_DIR": f"{lake.state}{number}"}))  # as of four hosts
    for number, runner in enumerate(runners):
        error = runner.communicate(timeout=120)[1]
        check(runner.returncode in (0, 5), f"exit {runner.returncode}: {error}")
        present = any(f"/{number}/part" in path for path in lake.live())
        check(present or runner.returncode == 5, f"run {number} said it worked, and its file is not there")
    lake.register(lake.source)
    lake.whole()


def test_21_footers_are_read_once():
    """apache/iceberg-python#2203: another commit comes between: the batch is committed again without reading a footer again."""
    lake = Lake()
    lake.watch = False
    lake.write("first/part.parquet", [{"n": -1}])
    lake.register(lake.source)
    other = lake.write("other/part.parquet", [{"n": -2}])
    paths = [lake.write(f"new/{i}.parquet", [{"n": i}]) for i in range(5)]
    trace = os.path.join(lake.folder, "trace")
    run = lake.register(lake.path("new"), program=kit.FAULTS, environment={
        "FIRN_FAULT": "run:1:create", "FIRN_FAULT_TRACE": trace,
        "FIRN_FAULT_COMMAND": f"env -u FIRN_FAULT -u FIRN_FAULT_TRACE FIRN_STATE_DIR={lake.state}-other {kit.FIRN} register {lake.name} "
                              f"--catalog {lake.database} --yes {other} >&2"})
    equal(run["footers_read"], 5, "footers")
    with open(trace, encoding="utf-8") as file:
        calls = [line.split(" ", 1) for line in file.read().splitlines()]
    for path in paths:
        check(sum(c == ["open", path] for c in calls) <= 1, f"{path} was opened again")
        check(sum(c == ["read", path] for c in calls) <= 2, f"{path} was read again")
    lake.whole()


def test_15_duplicate_checks_do_not_slow_down():
    """apache/iceberg-python#2132: many batches in one run: what each has to read does not grow with those before."""
    calls = {}
    for batches in (10, 20, 40):
        lake = Lake()
        units = {}
        for i in range(batches):
            lake.write(f"u={i}/part.parquet", [{"u": i}])
            units[str(i)] = 1
        manifest = os.path.join(lake.folder, "manifest.csv")
        with open(manifest, "w", encoding="ascii") as file:
            file.write("unit,rows\n" + "".join(f"{u},1\n" for u in units))
        _, made_calls = lakekit.trace(lake, "sync", "--manifest", manifest, "--unit-folder", lake.source + "/u={unit}", "--batch", "1")
        calls[batches] = sum(c[0] in ("open", "read") for c in made_calls)
        equal(len(lake.metadata()["snapshots"]), batches, "commits")
    early, late = calls[20] - calls[10], calls[40] - calls[20]
    check(late <= early * 2 * 1.5, f"calls of 10, 20 and 40 batches: {calls}")


def test_39_only_footers_are_read():
    """apache/beam#38012: whole files were read: two reads at most, and few bytes, of a file of megabytes."""
    lake = Lake()
    path = lake.write("k=1/big.parquet", pa.table({"k": pa.array([1] * 300000, pa.int32()), "x": pa.array([i * 0.37 for i in range(300000)])}),
                      compression="none", use_dictionary=["k"])
    _, calls = lakekit.trace(lake, "register", lake.source)
    check(sum(c == ("read", path) for c in calls) <= 2, f"calls: {[c for c in calls if c[1] == path]}")
    lake.whole()


def test_40_manifests_are_rolled():
    """apache/iceberg#6335 and apache/iceberg-python#3304: manifests of the target size, sorted by partition."""
    lake = Lake()
    for i in range(600):
        lake.write(f"k={i % 30}/{i}.parquet", [{"k": i % 30, "n": i}])
    listing = "\n".join(sorted(lake.files(), key=lambda path: hash(path))) + "\n"
    lake.register("--from", "-", "--property", "commit.manifest.target-size-bytes=16384", stdin=listing)
    manifests = lake.manifests()
    check(len(manifests) >= 3, f"manifests: {[record['manifest_length'] for record, _ in manifests]}")
    check(all(record["manifest_length"] <= 3 * 16384 for record, _ in manifests), f"{[record['manifest_length'] for record, _ in manifests]}")
    ranges = sorted((min(keys), max(keys)) for keys in ([e["data_file"]["partition"]["k"] for e in entries] for _, entries in manifests))
    check(all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:])), f"partitions of the manifests: {ranges}")
    planned = lake.run("plan", lake.name, "--catalog", lake.database, "--where", "k = 7", "--rewrite-all", "--json")
    check(planned["plan"]["manifests_opened"] <= 2, f"{planned['plan']}")
    equal(len(lake.live()), 600, "files")


def test_42_the_hint_comes_after_the_commit():
    """duckdb/duckdb-iceberg#29: version-hint.text is there, and never names a version that was not committed."""
    for plan in ("kill:1:catalog", "kill:2:catalog", "kill-after:2:catalog", "fail:2:catalog"):
        lake = Lake()
        lake.write("a.parquet", [{"n": 1}])
        lake.register(lake.source)
        first = os.path.basename(lake.pointer())
        lake.write("b.parquet", [{"n": 2}])
        commits_in_doubt(lake, plan)
        with open(os.path.join(lake.location, "metadata", "version-hint.text"), encoding="ascii") as file:
            hint = file.read() + ".metadata.json"
        check(hint in (first, os.path.basename(lake.pointer())), f"{plan}: the hint is {hint}")
        lake.register(lake.source)
        lake.whole()


if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

if __name__ == "__main__":
    lakekit.main(globals())
