"""Files that not all readers can read, or that some read otherwise than they are, are refused by name; the others can go in."""
import datetime
import os
import shutil
import struct

import lakekit
import fx_parquet
import pyarrow as pa
import pyarrow.parquet as pq
from lakekit import equal, filters_find, kit

IDS = pa.array([1, 2], pa.int64())
LARGE = 2 ** 31


def table(**columns):
    return pa.table({"id": IDS, **columns})


def structs(*fields):
    return pa.array([dict.fromkeys(name for name, _ in fields), None], pa.struct(fields))


# Forms in which a column of no type comes, each with one of another kind that may come by that name. With all of them PyIceberg 0.12 can't scan a table of
# version 1 or 2. In version 3 it can't where lists, maps or structs hold nothing else; a column "unknown" keeps DuckDB 1.5.5 from opening the table at all, and Spark 4.1
# from reading the column, as it does where the table has it with a type.
UNTYPED = {
    "null": table(c=pa.nulls(2)),
    "list": table(c=pa.array([[None], []], pa.list_(pa.null()))),
    "struct": table(c=structs(("a", pa.null()))),
    "member": table(c=structs(("a", pa.null()), ("b", pa.int32()))),
    "map": table(c=pa.array([[("k", None)], []], pa.map_(pa.string(), pa.null()))),
    "deep": table(c=pa.array([[{"a": None, "b": 1}], []], pa.list_(pa.struct([("a", pa.null()), ("b", pa.int32())])))),
    "no rows": table(c=pa.nulls(2)).slice(0, 0),
}


def readable(lake, ids, spark=False):
    """Every reader finds these rows, and all columns."""
    equal(sorted(row["id"] for row in lake.by_pyiceberg()), ids, "ids by PyIceberg")
    equal(sorted(row["id"] for row in lake.by_duckdb()), ids, "ids by DuckDB")
    if spark and kit.SPARK:
        where = f"{lake.database}:{lake.name}"
        kit.check_rows("spark", where, kit.read("pyiceberg", where), "rows by Spark")


def test_columns_of_no_type():
    for version in ("1", "2", "3"):
        lake = lakekit.Lake()
        lake.write("0.parquet", table())
        for form, columns in UNTYPED.items():
            lake.write(f"{form}.parquet", columns)
        run = lake.refused("sync", lake.source, "--format-version", version, words=["of no type", "written anew", "--skip-bad"])
        named = {os.path.basename(bad["file"]).removesuffix(".parquet"): bad["reason"].split('"')[1] for bad in run["bad"]}
        equal(named, {"null": "c", "list": "c.element", "struct": "c.a", "member": "c.a", "map": "c.value", "deep": "c.element.a", "no rows": "c"}, "bad files, their columns")
        lake.sync(lake.source, "--format-version", version, "--skip-bad", expect=6)
        equal(sorted(lake.fields()), ["id"], "columns")
        readable(lake, [1, 2])
        shutil.rmtree(lake.folder)


def test_columns_of_no_type_beside_others():
    """The table has the name with a type, before or afterwards; a file that was left out for lack of one must not be met again."""
    for version in ("2", "3"):
        lake = lakekit.Lake()
        lake.write("0.parquet", table(c=pa.array([5, None], pa.int64())))
        lake.sync(lake.source, "--format-version", version)
        lake.write("1.parquet", UNTYPED["null"])
        lake.refused("sync", lake.source, words=["1.parquet", 'column "c"', "of no type"])
        lake.write("1.parquet", table(c=pa.nulls(2, pa.int64())))
        lake.write("2.parquet", UNTYPED["list"])
        lake.sync(lake.source, "--skip-bad", expect=6)
        readable(lake, [1, 1, 2, 2], spark=version == "2")
        lake.run("verify", lake.name, "--catalog", lake.database)
        shutil.rmtree(lake.folder)


def test_columns_of_no_type_through_register():
    lake = lakekit.Lake()
    path = lake.write("n.parquet", UNTYPED["null"])
    lake.refused("register", path, words=["n.parquet", 'column "c"', "of no type"])
    equal(lake.pointer(), None, "the table")


def test_unsigned_numbers_that_filters_miss():
    """As signed numbers they would be negative: PyIceberg and Spark find none of them by a filter."""
    forms = {
        "flat": table(u=pa.array([1, LARGE], pa.uint32())),
        "struct": table(u=pa.array([{"x": LARGE}, None], pa.struct([("x", pa.uint32())]))),
        "list": table(u=pa.array([[1], [2 * LARGE - 1]], pa.list_(pa.uint32()))),
    }
    for form, columns in forms.items():
        lake = lakekit.Lake()
        lake.write("0.parquet", table())
        lake.write("big.parquet", columns)
        lake.refused("sync", lake.source, words=["big.parquet", 'column "u', "unsigned", str(LARGE), "64 bits"])
        lake.sync(lake.source, "--skip-bad", expect=6)
        equal(sorted(lake.fields()), ["id"], form)
        shutil.rmtree(lake.folder)


def test_unsigned_numbers_without_statistics():
    """Nobody knows how large they are. Columns of nothing but nulls have none to fear."""
    lake = lakekit.Lake()
    lake.write("0.parquet", table(u=pa.array([1, LARGE - 1], pa.uint32())))
    lake.write("1.parquet", table(u=pa.nulls(2, pa.uint32())))
    lake.write("2.parquet", table(u=pa.array([1, None], pa.uint32())), write_statistics=False)
    run = lake.refused("sync", lake.source, words=["2.parquet", 'column "u"', "statistics"])
    equal(run.names("bad"), ["2.parquet"], "bad files")
    lake.sync(lake.source, "--skip-bad", expect=6)
    equal(lake.fields()["u"]["type"], "long", "type")
    readable(lake, [1, 1, 2, 2])
    filters_find(lake, "u")


def test_one_row_group_is_enough():
    lake = lakekit.Lake()
    path = lake.write("a.parquet", table(u=pa.array([1, LARGE], pa.uint32())), row_group_size=1)
    equal(pq.ParquetFile(path).num_row_groups, 2, "row groups")
    lake.refused("sync", lake.source, words=["a.parquet", 'column "u"', str(LARGE)])


def test_times_of_day_in_milliseconds():
    """The specification maps microseconds alone, and PyIceberg can't scan a table with a file of others; a time zone is no matter of the Parquet type."""
    clock = pa.array([datetime.time(1, 2, 3, 4000), None], pa.time32("ms"))
    forms = {"t": table(t=clock), "s.t": table(s=pa.array([{"t": datetime.time(1)}, None], pa.struct([("t", pa.time32("ms"))]))),
             "l.element": table(l=pa.array([[datetime.time(1)], []], pa.list_(pa.time32("ms"))))}
    lake = lakekit.Lake()
    lake.write("0.parquet", table(t=clock.cast(pa.time64("us"))))
    for name, columns in forms.items():
        lake.write(f"{name}.parquet", columns)
    # As older writers say it: by the converted type alone.
    fx_parquet.patch(lake.write("old.parquet", forms["t"]), drop_logical_types)
    run = lake.refused("sync", lake.source, words=["milliseconds", "microseconds", "--skip-bad"])
    named = {os.path.basename(bad["file"]).removesuffix(".parquet"): bad["reason"].split('"')[1].replace(".list", "") for bad in run["bad"]}
    equal(named, {**{name: name for name in forms}, "old": "t"}, "bad files, their columns")
    lake.sync(lake.source, "--skip-bad", expect=6)
    equal(lake.fields()["t"]["type"], "time", "type")
    lake.whole([lake.path("0.parquet")])
    lake.refused("register", lake.path("t.parquet"), words=["t.parquet", 'column "t"', "milliseconds"])


def drop_logical_types(footer):
    for element in footer[2][1][1]:
        element.pop(10, None)


def test_times_that_statistics_show_as_far_as_they_can_be_trusted():
    """Milliseconds beyond microseconds: told by the deprecated pair of old writers, and not by bounds whose order the footer does not say."""
    limit = (2 ** 63 - 1) // 1000
    far, near = table(t=pa.array([limit + 1, 0], pa.timestamp("ms"))), table(t=pa.array([1, 0], pa.timestamp("ms")))

    def statistics_of(footer):
        return fx_parquet.chunks(fx_parquet.row_groups(footer)[0])[1][12][1]

    def deprecate(footer):
        known = statistics_of(footer)
        known[1], known[2] = known.pop(5), known.pop(6)
        footer.pop(7, None)

    def lie(footer):
        known = statistics_of(footer)
        for deprecated in (1, 2):
            known.pop(deprecated, None)
        known[5] = (known[5][0], struct.pack("<q", limit + 1))
        known[6] = (known[6][0], struct.pack("<q", limit + 1))
        footer.pop(7, None)
    lake = lakekit.Lake()
    fx_parquet.patch(lake.write("deprecated.parquet", far), deprecate)
    fx_parquet.patch(lake.write("untold.parquet", near), lie)
    run = lake.refused("sync", lake.source, words=["deprecated.parquet", "column t", "milliseconds"])
    equal(run.names("bad"), ["deprecated.parquet"], "bad files")


def test_small_unsigned_numbers_are_told():
    """PyIceberg and DuckDB read them and filter by them; Spark 4.1 refuses the column, and says so."""
    lake = lakekit.Lake()
    lake.write("0.parquet", table(a=pa.array([0, 255], pa.uint8()), b=pa.array([0, 65535], pa.uint16()), c=pa.array([0, LARGE - 1], pa.uint32())))
    run = lake.sync(lake.source)
    told = {column["column"] for column in run["columns"] if "unsigned" in column["what"]}
    equal(told, {"a", "b", "c"}, "columns that the report names")
    equal({name: field["type"] for name, field in lake.fields().items()}, {"id": "long", "a": "int", "b": "int", "c": "long"}, "types")
    lake.whole()
    for column in ("a", "b", "c"):
        filters_find(lake, column)


if __name__ == "__main__":
    lakekit.main(globals())
