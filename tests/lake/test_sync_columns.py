"""Only files that are added may shape a table: its columns, their types, the name mapping, the partition spec."""
import datetime
import json
import os
import shutil

import lakekit
import pyarrow as pa
from lakekit import equal

ID, TEXT, WHOLE = ("id", pa.int64()), ("c", pa.string()), ("c", pa.int64())


def write(lake, name, number, *fields, **values):
    schema = pa.schema([ID, *fields])
    return lake.write(name, [{"id": number, **values}], schema)


def cut(path):
    """Makes a file one that can't be read."""
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 10)


def manifest(lake, **rows):
    """Options of a source with a manifest that counts these rows; each unit is a batch."""
    path = os.path.join(lake.folder, "manifest.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("unit,rows\n" + "".join(f"{unit},{count}\n" for unit, count in rows.items()))
    return ["--manifest", path, "--unit-folder", "unit={unit}", "--base", lake.source, "--batch", "1", "--partition", "unit: -"]


def names_in_mapping(lake):
    return sorted(name for field in json.loads(lake.properties()[lakekit.MAPPING]) for name in field["names"])


def check_table(lake, ids, **types):
    """Rows by PyIceberg and DuckDB; columns of every schema that the table ever had, and of the name mapping."""
    equal(sorted(row["id"] for row in lake.by_pyiceberg()), ids, "ids by PyIceberg")
    equal(sorted(row["id"] for row in lake.by_duckdb()), ids, "ids by DuckDB")
    equal({name: field["type"] for name, field in lake.fields().items()}, {"id": "long", **types}, "columns")
    ever = {field["name"] for schema in lake.metadata()["schemas"] for field in schema["fields"]}
    equal(sorted(ever), sorted({"id", *types}), "columns of all schemas")
    equal(names_in_mapping(lake), sorted({"id", *types}), "names in the mapping")


def test_a_unit_that_is_left_out_leaves_no_column():
    """Its good file brings a column and a type; the other file can't be read. The next unit has the same name otherwise."""
    for table_is_there in (False, True):
        lake = lakekit.Lake()
        options = []
        if table_is_there:
            write(lake, "unit=0/a.parquet", 0)
            lake.sync(*manifest(lake, **{"0": 1}))
            options = ["0"]
        write(lake, "unit=a/1.parquet", 1, TEXT, ("extra", pa.int32()), c="x", extra=1)
        cut(write(lake, "unit=a/2.parquet", 2))
        write(lake, "unit=b/1.parquet", 3, WHOLE, c=7)
        units = manifest(lake, **dict.fromkeys(options, 1), a=2, b=1)
        run = lake.sync(*units, "--skip-bad", expect=6)
        equal(run.names("bad"), ["2.parquet"], "bad files")
        check_table(lake, [0, 3] if table_is_there else [3], c="long")
        lake.run("sync", lake.name, "--catalog", lake.database, *units, "--skip-bad", expect=6)
        shutil.rmtree(lake.folder)


def test_a_file_of_another_partition_leaves_no_column():
    """What is wrong with it is found when partitions are proved, after the columns were united."""
    for table_is_there in (False, True):
        lake = lakekit.Lake()
        if table_is_there:
            write(lake, "k=0/a.parquet", 0, ("k", pa.int64()), k=0)
            lake.sync(lake.source)
        write(lake, "k=1/a.parquet", 1, ("k", pa.int64()), TEXT, ("extra", pa.int32()), k=2, c="x", extra=1)
        write(lake, "k=1/b.parquet", 2, ("k", pa.int64()), WHOLE, k=1, c=7)
        run = lake.sync(lake.source, "--skip-bad", expect=6)
        equal(run.names("bad"), ["a.parquet"], "bad files")
        check_table(lake, [0, 2] if table_is_there else [2], k="long", c="long")
        shutil.rmtree(lake.folder)


def test_a_file_with_other_keys_leaves_no_column():
    """What is wrong with it is found when the layout is told from the paths."""
    lake = lakekit.Lake()
    write(lake, "k=1/a.parquet", 1, ("k", pa.int64()), k=1)
    write(lake, "k=2/j=1/a.parquet", 2, ("k", pa.int64()), TEXT, ("extra", pa.int32()), k=2, c="x", extra=1)
    write(lake, "k=3/a.parquet", 3, ("k", pa.int64()), WHOLE, k=3, c=7)
    run = lake.sync(lake.source, "--skip-bad", expect=6)
    equal(run.names("bad"), ["a.parquet"], "bad files")
    check_table(lake, [1, 3], k="long", c="long")


def test_a_wrong_first_file_tells_no_layout():
    """Its path has a key more than the others, which are wrong beside it; that it is the one to leave out is found when its partition is proved."""
    lake = lakekit.Lake()
    write(lake, "k=0/j=9/a.parquet", 1, ("k", pa.int64()), TEXT, k=5, c="x")
    for number in (2, 3):
        write(lake, f"k={number}/b.parquet", number, ("k", pa.int64()), WHOLE, k=number, c=7)
    run = lake.sync(lake.source, "--skip-bad", expect=6)
    equal(run.names("bad"), ["a.parquet"], "bad files")
    check_table(lake, [2, 3], k="long", c="long")
    equal(lake.spec(), [("k", "identity")], "partition spec")


def test_a_unit_that_is_left_out_tells_no_layout():
    """Its column of time would fit the paths as well as the other one does."""
    lake = lakekit.Lake()
    day = datetime.date(2024, 5, 6)
    lake.write("unit=a/year=2024/1.parquet", [{"id": 1, "made": day}], pa.schema([ID, ("made", pa.date32())]))
    cut(write(lake, "unit=a/year=2024/2.parquet", 2))
    lake.write("unit=b/year=2024/1.parquet", [{"id": 3, "seen": day}], pa.schema([ID, ("seen", pa.date32())]))
    lake.sync(*manifest(lake, a=2, b=1), "--skip-bad", expect=6)
    check_table(lake, [3], seen="date")
    equal(lake.spec(), [("seen", "year")], "partition spec")


def test_a_batch_that_fails_leaves_no_column():
    """The batches before it are added; its own columns and those of later ones must not be in the table."""
    for wrong in ("rows", "bad", "partition"):
        lake = lakekit.Lake()
        write(lake, "unit=a/id=1/1.parquet", 1)
        write(lake, f"unit=b/id={9 if wrong == 'partition' else 2}/1.parquet", 2, TEXT, ("b", pa.int32()), c="x", b=1)
        if wrong == "bad":
            cut(write(lake, "unit=b/id=2/2.parquet", 2))
        write(lake, "unit=c/id=3/1.parquet", 3, ("late", pa.int32()), late=1)
        lake.sync(*manifest(lake, a=1, b=2 if wrong == "rows" else 1, c=1), expect=3)
        check_table(lake, [1])
        shutil.rmtree(lake.folder)


def test_files_that_replace_others_leave_no_column_where_they_cannot():
    """A replaced file whose entry is no longer live can't be overwritten; its new column must not join."""
    lake = lakekit.Lake()
    for number in (1, 2):
        write(lake, f"{number}.parquet", number)
    lake.sync(lake.source)
    lake.table().delete("id = 1")
    write(lake, "1.parquet", 1, TEXT, c="x")
    lake.refused("sync", lake.source, "--on-replaced", "overwrite", words=["1.parquet"])
    check_table(lake, [2])


if __name__ == "__main__":
    lakekit.main(globals())
