"""What `firn sync` does where a policy would take rows away, or where much of the source changed at once."""
import os
import shutil

import lakekit
import pyarrow as pa
from lakekit import check, equal

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def lake_of(count, *options):
    lake = lakekit.Lake()
    for number in range(count):
        lake.write(f"{number}.parquet", [{"id": number, "name": f"n{number}"}], SCHEMA)
    lake.sync(lake.source, *options)
    return lake


def test_an_empty_source_deletes_nothing():
    """A folder that isn't mounted has no files; even --on-missing delete must not take that for the source's wish."""
    lake = lake_of(5)
    aside = lake.source + "-unmounted"
    os.rename(lake.source, aside)
    os.mkdir(lake.source)
    lake.refused("sync", lake.source, "--on-missing", "delete", code=4, words=["no file at all", "0.parquet", "--on-missing report"])
    lake.refused("sync", "--glob", os.path.join(lake.source, "*.parquet"), "--on-missing", "delete", code=4)
    os.rmdir(lake.source)
    os.rename(aside, lake.source)
    equal(lake.sync(lake.source, "--on-missing", "delete")["files"]["new"], 0, "new files once it is mounted")
    lake.whole()


def test_a_file_that_is_live_twice_is_not_taken_out_once():
    """PyIceberg's add_files can add a file twice; deleting one of the entries would leave rows of a file that is gone."""
    lake = lake_of(2)
    path = lake.path("0.parquet")
    lake.table().add_files([path], check_duplicate_files=False)
    os.remove(path)
    lake.refused("sync", lake.source, "--on-missing", "delete", words=["0.parquet", "live twice", "firn audit --fix"])


def test_many_missing_files_in_a_long_history():
    """Which snapshots name a missing file is found once for each commit, not by walking the history for each file."""
    lake = lake_of(400)
    for number in range(400, 440):
        lake.write(f"{number}.parquet", [{"id": number, "name": "late"}], SCHEMA)
        lake.sync(lake.source)
    for number in range(0, 400, 2):
        os.remove(lake.path(f"{number}.parquet"))
    run = lake.sync(lake.source, "--on-missing", "report")
    equal(len(run["missing"]), 200, "missing files")
    check(all(finding["snapshots"] == 41 for finding in run["missing"]), "every one of the 41 snapshots names each of them")
    lake.sync(lake.source, "--on-missing", "delete")
    equal(len(lake.live()), 240, "live files")


def test_a_rebuilt_ledger_is_committed_once():
    """--rebuild-ledger with new files in several batches: the ledger is rebuilt once, and committed with the first batch."""
    lake = lake_of(6)
    for segment in lakekit.ledger_segments(lake.properties()["firn.sync.ledger"], lake.location):
        os.remove(segment)
    lake.refused("sync", lake.source, code=4, words=["--rebuild-ledger"])
    for number in range(6, 9):
        lake.write(f"{number}.parquet", [{"id": number, "name": "late"}], SCHEMA)
    metadata = len(os.listdir(os.path.join(lake.location, "metadata")))
    run = lake.sync(lake.source, "--rebuild-ledger")
    equal((run["files"]["added"], len(run["commits"]), run["ledger"]["entries"]), (3, 1, 9), "files added, commits, entries")
    # A metadata file, a list, a manifest and a segment.
    equal(len(os.listdir(os.path.join(lake.location, "metadata"))) - metadata, 4, "new files in the metadata folder")
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files afterwards")
    lake.whole()
    shutil.rmtree(lake.folder)


if __name__ == "__main__":
    lakekit.main(globals())
