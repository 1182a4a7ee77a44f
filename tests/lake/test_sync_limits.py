"""What `--limit` lets a run of `firn sync` add, with files among those in front of it that can't be added."""
import os

import lakekit
import pyarrow as pa
from lakekit import equal

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
WIDER = SCHEMA.append(pa.field("late", pa.int64()))


def spoil(path):
    with open(path, "r+b") as file:
        file.truncate(20)


def lake_of(count, bad):
    """Files 000.parquet on, of which those in `bad` are cut off; the last one has a column more."""
    lake = lakekit.Lake()
    for number in range(count):
        last = number == count - 1
        row = {"id": number, "name": "n", **({"late": 1} if last else {})}
        path = lake.write(f"{number:03d}.parquet", [row], WIDER if last else SCHEMA)
        if number in bad:
            spoil(path)
    return lake


def ids(lake):
    return sorted(row["id"] for row in lake.by_pyiceberg())


def test_bad_files_do_not_use_up_the_limit():
    """Bad files that come first would else be all that a run ever looks at."""
    lake = lake_of(10, bad={0, 1, 2, 3, 6})
    options = ["--skip-bad", "--limit", "2"]
    preview = lake.run("sync", lake.name, lake.source, "--catalog", lake.database, "--json", *lake.options, *options, expect=6)
    equal(preview.names("bad"), ["000.parquet", "001.parquet", "002.parquet", "003.parquet", "006.parquet"], "bad files of the preview")
    run = lake.sync(lake.source, *options, expect=6)
    equal((run["files"]["added"], run["rows_added"], ids(lake)), (2, 2, [4, 5]), "files and rows added, ids")
    equal(sorted(lake.fields()), ["id", "name"], "columns, without those of files beyond the limit")
    equal((lake.sync(lake.source, *options, expect=6)["files"]["added"], ids(lake)), (2, [4, 5, 7, 8]), "files added, ids")
    equal((lake.sync(lake.source, *options, expect=6)["files"]["added"], ids(lake)), (1, [4, 5, 7, 8, 9]), "files added, ids")
    equal(sorted(lake.fields()), ["id", "late", "name"], "columns")
    equal(lake.sync(lake.source, *options, expect=6)["files"]["added"], 0, "files added when only bad ones are left")
    # Without --skip-bad the first bad one ends the run, as ever.
    lake.refused("sync", lake.source, "--limit", "2", words=["000.parquet"])


def test_a_limit_reads_no_more_than_it_must():
    lake = lake_of(200, bad={0, 1, 2})
    run = lake.sync(lake.source, "--skip-bad", "--limit", "3", expect=6)
    equal((run["files"]["added"], ids(lake)), (3, [3, 4, 5]), "files added, ids")
    equal(run["footers_read"], 6, "footers read")
    lake = lake_of(200, bad=set(range(150)))
    run = lake.sync(lake.source, "--skip-bad", "--limit", "1", expect=6)
    equal((ids(lake), len(run["bad"])), ([150], 150), "ids, bad files")


def test_units_that_wait_do_not_use_up_the_limit():
    lake = lakekit.Lake()
    manifest = os.path.join(lake.folder, "units.csv")
    with open(manifest, "w", encoding="utf-8") as file:
        file.write("unit,rows\n" + "".join(f"{unit},2\n" for unit in "abcdef"))
    for unit in "abcdef":
        for part in (1, 2):
            path = lake.write(f"tile={unit}/{part}.parquet", [{"id": part, "name": unit}], SCHEMA)
            if unit in "abd" and part == 2:
                spoil(path)
    options = ["--manifest", manifest, "--unit-folder", "tile={unit}", "--base", lake.source, "--partition", "tile: -", "--skip-bad", "--limit", "1"]
    for added in (["c"], ["c", "e"], ["c", "e", "f"]):
        run = lake.sync(*options, expect=6)
        equal((run["units"]["added"], sorted({row["name"] for row in lake.by_pyiceberg()})), (1, added), "units added, units that are in")
    equal(lake.sync(*options, expect=6)["units"]["added"], 0, "units added when only bad ones are left")
    equal(lake.by_duckdb(), lake.by_pyiceberg(), "rows by DuckDB")


if __name__ == "__main__":
    lakekit.main(globals())
