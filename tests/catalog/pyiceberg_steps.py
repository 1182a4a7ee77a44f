"""What PyIceberg does to a catalog before and after firn: STEP CATALOG_FILE WAREHOUSE."""

import sys

import pyarrow
from pyiceberg.catalog.sql import SqlCatalog

step, path, warehouse = sys.argv[1:]
catalog = SqlCatalog("py", uri="sqlite:///" + path, warehouse="file://" + warehouse)
rows = pyarrow.table({"x": pyarrow.array([1, 2, 3], pyarrow.int64())})

if step == "create":
    catalog.create_namespace("lake.raw")
    table = catalog.create_table("lake.raw.events", schema=rows.schema)
    table.append(rows)
else:
    table = catalog.load_table("lake.raw.events")
    assert table.properties[step] == "firn", table.properties
    before = table.scan().to_arrow().num_rows
    stale = catalog.load_table("lake.raw.events")
    table.append(rows)
    assert table.scan().to_arrow().num_rows == before + 3
    logged = [entry.metadata_file for entry in table.metadata.metadata_log]
    assert stale.metadata_location in logged
