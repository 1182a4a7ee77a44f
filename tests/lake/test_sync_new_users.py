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


if __name__ == "__main__":
    lakekit.main(globals())
