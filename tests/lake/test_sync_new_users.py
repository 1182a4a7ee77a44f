"""What someone meets who tries `firn sync` on a lake that is not in order: exit codes, what is committed, and what the report says."""
import os

import lakekit
import pyarrow as pa
from lakekit import check, equal

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def lake_of(count):
    lake = lakekit.Lake()
    for number in range(count):
        lake.write(f"{number}.parquet", [{"id": number, "name": f"n{number}"}], SCHEMA)
    return lake


def truncate(path):
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)


def rows_are_right(lake):
    """As Lake.whole, without firn verify: older snapshots name files that are gone."""
    equal(sorted(lake.live()), lake.files(), "live files")
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")
    lake.tidy()


def configured(lake, tables):
    """Runs `firn sync` without a table: {table: folder} come from the configuration."""
    path = os.path.join(lake.folder, "firn.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"catalogs:\n  lake:\n    type: sql\n    uri: sqlite:///{lake.database}\nlakes:\n")
        for table, folder in tables.items():
            file.write(f"  {table}:\n    catalog: lake\n    source: {{folder: {folder}}}\n    location: {lake.folder}/iceberg/{table}\n")
    return path


def test_all_tables_that_end_the_same_end_with_that_code():
    """One table ends with its own code, be it named or the only one that is configured; so do several that end the same."""
    lake = lake_of(2)
    lake.watch = False
    lake.sync(lake.source)
    truncate(lake.write("new.parquet", [{"id": 9, "name": "x"}], SCHEMA))
    good = os.path.join(lake.folder, "good")
    os.makedirs(good)
    config = configured(lake, {"lake.t": lake.source})
    lake.run("sync", "--config", config, "--yes", expect=3)
    config = configured(lake, {"lake.t": lake.source, "lake.u": lake.source})
    lake.run("sync", "--config", config, "--yes", expect=3)
    os.rename(lake.write("fine.parquet", [{"id": 1}]), os.path.join(good, "fine.parquet"))
    config = configured(lake, {"lake.t": lake.source, "lake.v": good})
    lake.run("sync", "--config", config, "--yes", expect=6)
    os.remove(lake.path("new.parquet"))
    lake.run("sync", "--config", config, "--yes", expect=0)


WIDER = SCHEMA.append(pa.field("extra", pa.int64()))


def spoil(lake):
    """A good file that brings a new column, and one that is cut short."""
    lake.write("good.parquet", [{"id": 10, "name": "g", "extra": 1}], WIDER)
    truncate(lake.write("short.parquet", [{"id": 11, "name": "s"}], SCHEMA))


def test_nothing_is_committed_where_the_first_batch_fails():
    """What ends the run with its first batch ends it before replaced files are taken over, and before the schema grows."""
    lake = lake_of(3)
    lake.sync(lake.source)
    lake.write("0.parquet", [{"id": 0, "name": "another, longer name"}] * 2, SCHEMA)
    spoil(lake)
    for preview in (["--dry-run"], []):
        lake.refused("sync", lake.source, "--on-replaced", "overwrite", *preview, words=["short.parquet", "1 file can't be added"])
    equal(sorted(lake.fields()), ["id", "name"], "columns")
    equal(len(lake.metadata()["snapshots"]), 1, "snapshots")
    os.remove(lake.path("short.parquet"))
    lake.sync(lake.source, "--on-replaced", "overwrite")
    equal(sorted(lake.fields()), ["extra", "id", "name"], "columns")
    # The same where a file is gone.
    lake = lake_of(3)
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    spoil(lake)
    lake.refused("sync", lake.source, "--on-missing", "delete", words=["short.parquet"])
    equal(sorted(lake.fields()), ["id", "name"], "columns")
    os.remove(lake.path("short.parquet"))
    lake.sync(lake.source, "--on-missing", "delete")
    rows_are_right(lake)


def test_rows_of_units_count_as_they_will_be():
    """A unit with a replaced file and a new one: before the replacement is committed its rows are those of the file that comes."""
    lake = lakekit.Lake()
    lake.write("u=a/0.parquet", [{"u": "a", "n": 1}])
    manifest = os.path.join(lake.folder, "manifest.csv")

    def says(rows):
        with open(manifest, "w", encoding="ascii") as file:
            file.write(f"unit,rows\na,{rows}\n")
    options = ["--manifest", manifest, "--unit-folder", lake.source + "/u={unit}", "--on-replaced"]
    says(1)
    lake.sync(*options, "error")
    lake.write("u=a/0.parquet", [{"u": "a", "n": i} for i in range(5)])
    lake.write("u=a/1.parquet", [{"u": "a", "n": 7}])
    says(2)
    lake.refused("sync", *options, "overwrite", words=["unit a", "6 rows", "says 2"])
    says(6)
    equal(lake.sync(*options, "overwrite", "--dry-run")["files"]["new"], 1, "new files of the preview")
    lake.sync(*options, "overwrite")
    rows_are_right(lake)


def lose_ledger(lake):
    folder = os.path.join(lake.location, "metadata")
    lost = [name for name in os.listdir(folder) if name.startswith("firn-ledger")]
    check(lost, "there is no ledger to lose")
    for name in lost:
        os.remove(os.path.join(folder, name))


def test_a_rebuilt_ledger_stays_where_the_run_is_refused():
    """--rebuild-ledger with a file that is gone: the run is refused by policy, and the next one needs no --rebuild-ledger."""
    lake = lake_of(3)
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    lose_ledger(lake)
    run = lake.refused("sync", lake.source, code=4)
    check(run.error.count("No such file") <= 1 and run.error.count("firn-ledger") <= 1, f"doubled words: {run.error}")
    lake.sync(lake.source, "--rebuild-ledger", expect=3).says("0.parquet", "gone")
    lake.refused("sync", lake.source, words=["0.parquet", "gone"])
    lake.sync(lake.source, "--on-missing", "delete")
    rows_are_right(lake)
    # A file that can't be added is no reason either.
    lose_ledger(lake)
    truncate(lake.write("short.parquet", [{"id": 11, "name": "s"}], SCHEMA))
    lake.sync(lake.source, "--rebuild-ledger", expect=3).says("short.parquet")
    os.remove(lake.path("short.parquet"))
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files")
    rows_are_right(lake)


def test_what_sync_deleted_stays_deleted_in_a_rebuilt_ledger():
    """Files that --on-missing delete took out are not missing once the ledger is made anew; compacted ones are no such files."""
    lake = lake_of(7)
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    lake.sync(lake.source, "--on-missing", "delete")
    lake.write("1.parquet", [{"id": 1, "name": "another, longer name"}] * 2, SCHEMA)
    lake.sync(lake.source, "--on-replaced", "overwrite")
    lose_ledger(lake)
    run = lake.sync(lake.source, "--rebuild-ledger")
    equal((run["missing"], run["replaced"], run["files"]["new"]), ([], [], 0), "after the ledger was lost")
    rows_are_right(lake)
    lake.write("0.parquet", [{"id": 0, "name": "back"}], SCHEMA)
    equal(lake.sync(lake.source)["files"]["added"], 1, "a file that is back")
    rows_are_right(lake)


if __name__ == "__main__":
    lakekit.main(globals())
