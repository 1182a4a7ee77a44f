"""
A lake as a project keeps it (ERA5 weather, tiles of 12 × 12 points): tile=<i>_<j>/year=<Y>/month=<M>/part.parquet, written by
PyArrow without field ids, and a manifest that names a tile with its rows once all of its files are there. `firn sync` follows it:
a table of (tile, year, month) over the files where they lie, a few tiles in a commit. One test for each thing that such a sync
must do.
"""
import datetime
import json
import os
import shutil
import sqlite3
import subprocess

import lakekit
import fx_table
import kit
import pyarrow as pa
import pyarrow.parquet as pq
from lakekit import check, equal

TILE_RULE = "tile={#}_{#}: truncate[12](lat_idx), truncate[12](lon_idx)"
SCHEMA = pa.schema([("lat_idx", pa.int32()), ("lon_idx", pa.int32()), ("date", pa.date32()), ("tmax", pa.float32()),
                    ("tmin", pa.float32()), ("precip", pa.float64()), ("source", pa.string())])
YEARS = (2019, 2020)
UNITS = "thermograph.synced-tiles"
SPEC = [("lat_idx", "truncate[12]"), ("lon_idx", "truncate[12]"), ("date", "year"), ("date", "month")]


class Era5(lakekit.Lake):
    """The lake: era5/daily with the files, era5/manifest.parquet, iceberg/era5_daily with the table."""

    def __init__(self, tiles=(), manifest="manifest.parquet"):
        super().__init__("weather.era5_daily")
        self.manifest = self.path(manifest)
        self.rows = {}
        self.options += ["--manifest", self.manifest, "--unit-column", "tile", "--base", self.source,
                         "--unit-folder", "daily/tile={unit}", "--partition", TILE_RULE]
        for tile in tiles:
            self.extract(tile)

    def upload(self, tile, years=YEARS):
        """A tile's files, without a word in the manifest; returns its rows."""
        ti, tj = (int(part) for part in tile.split("_"))
        count = 0
        for year in years:
            for month in range(1, 13):
                first = datetime.date(year, month, 1)
                last = (first + datetime.timedelta(31)).replace(day=1) - datetime.timedelta(1)
                rows = [{"lat_idx": ti * 12 + k, "lon_idx": tj * 12 + 11 - k, "date": day,
                         "tmax": float(ti + month * k) / 3, "tmin": None if k == 5 else float(-month),
                         "precip": float("nan") if k == 11 and month == 2 else month / 7, "source": f"era5 {tile}"}
                        for k in (0, 5, 11) for day in (first, last)]
                self.write(f"daily/tile={tile}/year={year}/month={month:02d}/part.parquet", rows, SCHEMA)
                count += len(rows)
        return count

    def extract(self, tile, **options):
        """As the extractor does it: all of a tile's files first, then its line in the manifest."""
        self.rows[tile] = self.rows.get(tile, 0) + self.upload(tile, **options)
        self.publish()

    def publish(self):
        made = pa.table({"tile": pa.array(list(self.rows), pa.string()), "rows": pa.array(list(self.rows.values()), pa.int64())})
        pq.write_table(made, self.manifest + ".new")
        os.replace(self.manifest + ".new", self.manifest)

    def of(self, *tiles):
        """The files of tiles."""
        return [path for path in self.files() if any(f"/tile={tile}/" in path for tile in tiles)]

    def data_files(self):
        return [path for path in self.files() if "/daily/" in path]

    def synced(self, document=None):
        """Tiles that have live files."""
        return sorted({path.split("/tile=")[1].split("/")[0] for path in self.live(document)})

    def whole(self, files=None, duckdb=True):
        super().whole(self.data_files() if files is None else files, duckdb)


def test_files_are_registered_where_they_lie():
    """No rewrite: the table's files are the lake's own (every run of these tests is watched for changes outside the location)."""
    lake = Era5(["10_10", "10_11"])
    run = lake.sync()
    equal((run["created"], run["files"]["added"], run["units"]["added"]), (True, 48, 2), "report")
    equal(run["rows_added"], 48 * 6, "rows")
    equal(run["bytes_added"], sum(os.path.getsize(p) for p in lake.data_files()), "bytes")
    lake.whole()
    check(not [n for _, _, names in os.walk(lake.location) for n in names if n.endswith(".parquet")], "data was copied")


def test_partitions_are_transforms_of_real_columns():
    """tile, year and month are no columns; partition values come from lat_idx, lon_idx and date."""
    lake = Era5(["10_11"])
    run = lake.sync()
    equal(sorted(lake.fields()), sorted(SCHEMA.names), "columns")
    equal(lake.spec(), SPEC, "partition spec")
    equal(lake.metadata()["format-version"], 2, "format version")
    equal(list(lake.partition("year=2020/month=07/part.parquet").values()), [120, 132, 50, 50 * 12 + 6], "partition of July 2020")
    equal(run["proof"], {"by_footer": 24, "by_column": 0, "asserted": 0}, "proofs")
    equal(run["partitions"], 24, "partitions")


def test_names_are_mapped_to_ids():
    """The files have no field ids: the name mapping covers every column, from the first commit on."""
    lake = Era5(["10_10"])
    lake.sync()
    mapping = json.loads(lake.properties()[lakekit.MAPPING])
    ids = {name: field["id"] for name, field in lake.fields().items()}
    equal({n: f["field-id"] for f in mapping for n in f["names"]}, ids, "name mapping")


def test_the_lake_owns_its_files():
    """Tools that delete what snapshots no longer need must keep off: gc.enabled=false, unless --property says otherwise."""
    lake = Era5(["10_10"])
    lake.sync("--property", "owner=somebody")
    equal((lake.properties().get("gc.enabled"), lake.properties().get("owner")), ("false", "somebody"), "properties")
    lake = Era5(["10_10"])
    lake.sync("--property", "gc.enabled=true")
    equal(lake.properties().get("gc.enabled"), "true", "gc.enabled")


def test_the_manifest_is_the_truth():
    """A tile whose files are (partly) there but which the manifest doesn't name is not complete, and not added."""
    lake = Era5(["10_10"])
    lake.upload("10_11", years=[2019])
    run = lake.sync()
    equal((lake.synced(), run["units"]["listed"]), (["10_10"], 1), "tiles")
    lake.extract("10_11")
    lake.rows["10_11"] = 24 * 6
    lake.publish()
    lake.sync()
    lake.whole()


def test_only_new_tiles_are_added():
    """Incremental: a run adds the tiles that came since, opens no file of the others, and commits each tile whole."""
    lake = Era5(["10_10", "10_11"])
    lake.sync()
    lake.extract("11_10")
    run = lake.sync()
    equal(run["units"], {"listed": 3, "known": 2, "pending": 1, "added": 1}, "units")
    equal((run["files"]["known"], run["files"]["new"], run["files"]["added"], run["footers_read"]), (48, 24, 24, 24), "files")
    check(not run["created"] and not run["evolves"], "the table was there")
    lake.whole()


def test_running_again_changes_nothing():
    """Idempotent: without anything new there is no commit, no new metadata file, and no footer is read."""
    lake = Era5(["10_10"])
    lake.sync()
    pointer, files = lake.pointer(), set(os.listdir(os.path.join(lake.location, "metadata")))
    for _ in range(2):
        run = lake.sync()
        equal((run["commits"], run["footers_read"], run["rows_added"]), ([], 0, 0), "a run with nothing to do")
    equal((lake.pointer(), set(os.listdir(os.path.join(lake.location, "metadata")))), (pointer, files), "metadata")
    lake.whole()


def test_five_tiles_in_a_commit():
    """--batch: 5 unless given; the snapshots say how many files each commit added."""
    tiles = [f"1{i // 3}_1{i % 3}" for i in range(7)]
    for options, sizes in (((), [5, 2]), (("--batch", "3"), [3, 3, 1]), (("--batch", "100"), [7])):
        lake = Era5(tiles)
        run = lake.sync(*options)
        equal([c["units"] for c in run["commits"]], sizes, f"units of the commits with {options}")
        equal([c["files"] for c in run["commits"]], [24 * n for n in sizes], "files of the commits")
        snapshots = lake.metadata()["snapshots"]
        equal([int(s["summary"]["added-data-files"]) for s in snapshots], [24 * n for n in sizes], "the snapshots' summaries")
        equal([s["snapshot-id"] for s in snapshots], [c["snapshot_id"] for c in run["commits"]], "snapshot ids")
        equal([s["sequence-number"] for s in snapshots], [c["sequence_number"] for c in run["commits"]], "sequence numbers")
    lake.whole()


def test_a_limit_ends_a_run():
    """--limit: at most so many tiles in a run; the next run goes on."""
    lake = Era5([f"10_1{i}" for i in range(5)])
    run = lake.sync("--limit", "3", "--batch", "2")
    equal((run["units"]["added"], [c["units"] for c in run["commits"]]), (3, [2, 1]), "the first run")
    equal(len(lake.synced()), 3, "tiles")
    lake.sync("--limit", "3")
    lake.whole()


def test_a_preview_writes_nothing():
    """--dry-run, and a run without --yes: the pending tiles, and not a byte written, not even a catalog."""
    lake = Era5(["10_10", "10_11"])
    for options in (["--yes", "--dry-run"], []):
        run = lake.run("sync", lake.name, "--catalog", lake.database, *lake.options, "--json", *options)
        equal((run["preview"], run["creates"], run["created"]), (True, True, False), "the report")
        equal((run["units"]["pending"], run["units"]["added"], run["files"]["new"], run["commits"]), (2, 0, 48, []), "pending")
        check(not os.path.exists(lake.database) and not os.path.exists(os.path.dirname(lake.location)), "something was written")
    lake.sync()
    lake.extract("11_10")
    pointer, files = lake.pointer(), set(os.listdir(os.path.join(lake.location, "metadata")))
    run = lake.sync("--dry-run")
    equal((run["units"]["pending"], run["files"]["new"]), (1, 24), "pending")
    equal((lake.pointer(), set(os.listdir(os.path.join(lake.location, "metadata")))), (pointer, files), "metadata")


def test_a_preview_says_what_the_table_would_be():
    """Schema and partition spec of a table that is to be made; the run then makes just that."""
    lake = Era5(["10_10"])
    run = lake.sync("--dry-run")
    equal(sorted(f["name"] for f in run["schema"]["fields"]), sorted(SCHEMA.names), "columns")
    equal([(f["source"], f["transform"]) for f in run["partition_spec"]["fields"]], SPEC, "spec")
    lake.sync()
    equal(lake.spec(), SPEC, "spec")


def test_the_files_and_the_ledger_are_one_commit():
    """In every version that was ever current, the units that the table says it has are those that have files."""
    lake = Era5([f"10_1{i}" for i in range(4)])
    run = lake.sync("--batch", "1", "--unit-property", UNITS)
    equal(len(run["commits"]), 4, "commits")
    document = lake.metadata()
    versions = [document] + [lake.metadata(e["metadata-file"]) for e in document["metadata-log"]]
    counts = [len(json.loads(v["properties"].get(UNITS, "[]"))) for v in versions]
    equal(sorted(set(counts) - {0}), [1, 2, 3, 4], "units of the versions")
    for version in versions:
        equal(sorted(json.loads(version["properties"].get(UNITS, "[]"))), lake.synced(version), "units and files of a version")
        has_files = version.get("current-snapshot-id") not in (None, -1)
        equal(lakekit.LEDGER in version["properties"], has_files, "the ledger's property")
        if has_files:
            check(lakekit.MAPPING in version["properties"], "files without a name mapping")


def test_progress_does_not_grow_with_the_lake():
    """What each metadata file copies is the segments' names, not the units': their number grows with the logarithm."""
    lake = Era5([f"{i}_0" for i in range(8)])
    lake.sync("--batch", "1")
    first = len(lake.properties()[lakekit.LEDGER])
    for i in range(8, 40):
        lake.extract(f"{i}_0", years=[2019])
    run = lake.sync("--batch", "1")
    equal(run["ledger"]["entries"], 8 * 24 + 32 * 12, "entries")
    check(run["ledger"]["segments"] <= 12, f"segments: {run['ledger']}")
    check(len(lake.properties()[lakekit.LEDGER]) < 3 * first + 1000, "the property grows with the lake")
    lake.whole(duckdb=False)


def test_a_killed_run_is_resumed_at_the_next_batch():
    """kill -9 before each commit: what was committed is whole, and the next run adds the rest and nothing twice."""
    tiles = [f"10_1{i}" for i in range(4)]
    seen = set()
    for number in range(1, 40):
        lake = Era5(tiles)
        faults = {"FIRN_FAULT": f"run:{number}:catalog", "FIRN_FAULT_COMMAND": "kill -9 $PPID"}
        done = subprocess.run([kit.FAULTS, "sync", lake.name, "--catalog", lake.database, "--yes", *lake.options, "--batch", "1"],
                              env={**os.environ, "FIRN_STATE_DIR": lake.state, **faults}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if done.returncode == 0:
            break
        equal(done.returncode, -9, f"the end of the run: {done.stderr}")
        added = lake.synced() if lake.pointer() else []
        equal(added, tiles[:len(added)], "tiles after the kill")
        equal(sorted(lake.live()) if added else [], sorted(lake.of(*added)), "tiles are whole")
        seen.add(len(added))
        run = lake.sync()
        equal(run["units"]["added"], 4 - len(added), "tiles of the next run")
        lake.whole()
    equal(seen, {0, 1, 2, 3}, "how far the killed runs came")


def test_passing_failures_are_tried_again():
    """--retries: another program has the catalog for a while; the batch is tried again, and nothing is added twice."""
    lake = Era5(["10_10", "10_11"])
    lake.sync("--limit", "1")
    other = sqlite3.connect(lake.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    runner = subprocess.Popen([kit.FIRN, "sync", lake.name, "--catalog", lake.database, "--yes", *lake.options], text=True,
                              env={**os.environ, "FIRN_STATE_DIR": lake.state}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        runner.wait(timeout=3)
    except subprocess.TimeoutExpired:
        pass
    other.execute("ROLLBACK")
    other.close()
    _, error = runner.communicate(timeout=300)
    equal(runner.returncode, 0, f"exit: {error}")
    lake.whole()


def test_syncing_while_the_lake_grows():
    """A tile is being uploaded between any two steps of a run: it is not seen until the manifest names it, then it is added."""
    lake = Era5(["10_10"])
    lake.watch = False
    grown = Era5(["11_11"])  # the same tile, ready to be copied in
    ready = os.path.join(grown.source, "daily", "tile=11_11")
    target = lake.path("daily", "tile=11_11")
    for number, operation in ((1, "list"), (1, "read"), (20, "read"), (1, "create"), (1, "catalog")):
        for table in (lake.location, lake.state):
            shutil.rmtree(table, ignore_errors=True)
        if os.path.exists(lake.database):
            os.unlink(lake.database)
        shutil.rmtree(target, ignore_errors=True)
        lake.rows = {"10_10": 24 * 6}
        lake.publish()
        lake.sync(program=kit.FAULTS, environment={
            "FIRN_FAULT": f"run:{number}:{operation}",
            "FIRN_FAULT_COMMAND": f"mkdir -p {target} && cp -r {ready}/year=2019 {target}/"})
        check(os.path.isdir(target), f"{operation} {number}: nothing was copied meanwhile")
        equal(lake.synced(), ["10_10"], f"{operation} {number}: tiles")
        shutil.copytree(os.path.join(ready, "year=2020"), os.path.join(target, "year=2020"))
        lake.rows["11_11"] = 24 * 6
        lake.publish()
        equal(lake.sync()["units"]["added"], 1, "the tile afterwards")
        lake.whole()


def made_by_pyiceberg(lake, tiles, value):
    """The table as a script with PyIceberg keeps it: add_files, and the tiles' names in a property."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import MonthTransform, TruncateTransform, YearTransform
    from pyiceberg.types import DateType, DoubleType, FloatType, IntegerType, NestedField, StringType
    kinds = [IntegerType(), IntegerType(), DateType(), FloatType(), FloatType(), DoubleType(), StringType()]
    schema = Schema(*(NestedField(i + 1, name, kind, required=False) for i, (name, kind) in enumerate(zip(SCHEMA.names, kinds))))
    spec = PartitionSpec(PartitionField(1, 1000, TruncateTransform(12), "lat_tile"), PartitionField(2, 1001, TruncateTransform(12), "lon_tile"),
                         PartitionField(3, 1002, YearTransform(), "year"), PartitionField(3, 1003, MonthTransform(), "month"))
    catalog = lake.catalog() if os.path.exists(lake.database) else kit.sql_catalog(lake.folder)
    catalog.create_namespace_if_not_exists("weather")
    table = catalog.create_table(lake.name, schema, location=lake.location, partition_spec=spec)
    with table.transaction() as transaction:
        transaction.add_files(file_paths=lake.of(*tiles))
        transaction.set_properties({UNITS: value})
    return table


def test_a_table_of_the_script_is_adopted():
    """The tiles in the property count as synced; new ones join it in the form that it has; the files are not added again."""
    for value, form in (('["10_10", "10_11"]', json.loads), ("10_10,10_11", lambda text: text.split(","))):
        lake = Era5(["10_10", "10_11", "11_10"])
        made_by_pyiceberg(lake, ["10_10", "10_11"], value)
        run = lake.sync("--unit-property", UNITS)
        equal(run["units"], {"listed": 3, "known": 2, "pending": 1, "added": 1}, f"units after {value}")
        equal(sorted(name.strip() for name in form(lake.properties()[UNITS])), ["10_10", "10_11", "11_10"], "the property")
        lake.whole()
        equal(lake.sync("--unit-property", UNITS)["commits"], [], "another run")
        # The script's own view of it: nothing pending.
        equal(sorted(form(lake.table().properties[UNITS])), sorted(lake.rows), "the property by PyIceberg")


def test_the_property_follows_from_the_first_commit_on():
    """--unit-property for a new table: the script can go on where firn ended."""
    lake = Era5(["10_10", "10_11"])
    lake.sync("--unit-property", UNITS)
    equal(sorted(json.loads(lake.properties()[UNITS])), ["10_10", "10_11"], "the property")
    lake.extract("11_10")
    lake.sync("--unit-property", UNITS)
    equal(sorted(json.loads(lake.properties()[UNITS])), ["10_10", "10_11", "11_10"], "the property")


def test_a_lost_catalog_is_rebuilt():
    """The catalog is a pointer only: it is found again from the table's location, and nothing is added twice."""
    lake = Era5(["10_10", "10_11"])
    lake.sync("--batch", "1")
    pointer = lake.pointer()
    os.unlink(lake.database)
    lake.run("catalog", "recover", lake.name, lake.location, "--catalog", lake.database, "--yes")
    equal(lake.pointer(), pointer, "the metadata file that was found")
    lake.extract("11_10")
    run = lake.sync()
    equal(run["units"], {"listed": 3, "known": 2, "pending": 1, "added": 1}, "units")
    lake.whole()


def test_a_lost_catalog_makes_no_second_table():
    """Without its catalog the location still holds a table: a sync must not make another one there and forget what was added."""
    lake = Era5(["10_10"])
    lake.sync()
    files = set(os.listdir(os.path.join(lake.location, "metadata")))
    os.unlink(lake.database)
    run = lake.sync(expect=(1, 3, 4))
    run.says("catalog recover", lake.location)
    check(lake.pointer() is None, "a table was made")
    equal(set(os.listdir(os.path.join(lake.location, "metadata"))), files, "files")


def test_the_bare_root_can_be_scanned():
    """version-hint.text names the current metadata file after every run, in the form that DuckDB takes: no line feed."""
    lake = Era5(["10_10"])
    hint = os.path.join(lake.location, "metadata", "version-hint.text")
    for step in ("first", "second", "compaction"):
        if step == "second":
            lake.extract("10_11")
        if step == "compaction":
            lake.act("compact", "--rewrite-all")
        else:
            lake.sync()
        with open(hint, encoding="ascii") as file:
            equal(file.read() + ".metadata.json", os.path.basename(lake.pointer()), f"the hint after the {step}")
        equal(lake.by_duckdb(), lake.oracle(lake.data_files()), f"rows by DuckDB after the {step}")


def test_the_metadata_file_is_told():
    """Readers that pin a version take its path from the report, and from the text for people."""
    lake = Era5(["10_10"])
    run = lake.sync()
    equal(fx_table.strip(run["metadata_location"]), lake.pointer(), "the report")
    equal(lake.by_duckdb(source=lake.pointer()), lake.oracle(lake.data_files()), "rows of the pinned version")
    text = lake.run("sync", lake.name, "--catalog", lake.database, *lake.options, "--yes").text
    check(lake.pointer() in text, f"the text: {text}")


def test_filters_on_columns_prune_files():
    """One tile and one month: one file is planned, by PyIceberg and by firn; and DuckDB's answer is the source's."""
    lake = Era5([f"1{i}_1{j}" for i in range(3) for j in range(3)])
    lake.sync("--batch", "2")
    wanted = lake.path("daily/tile=11_10/year=2020/month=07/part.parquet")
    where = "lat_idx >= 132 and lat_idx <= 143 and lon_idx >= 120 and lon_idx <= 131 and date >= '2020-07-01' and date < '2020-08-01'"
    planned = [fx_table.strip(t.file.file_path) for t in lake.table().scan(row_filter=where).plan_files()]
    equal(planned, [wanted], "files by PyIceberg")
    rows = lake.oracle([wanted])
    equal(lake.by_pyiceberg(where), rows, "rows by PyIceberg")
    equal(lake.by_duckdb("lat_idx BETWEEN 132 AND 143 AND lon_idx BETWEEN 120 AND 131 "
                         "AND date >= DATE '2020-07-01' AND date < DATE '2020-08-01'"), rows, "rows by DuckDB")
    listed = json.loads(lake.run("files", lake.name, "--catalog", lake.database, "--where", where, "--json").text)["files"]
    equal([fx_table.strip(f["path"]) for f in listed], [wanted], "files by firn")
    plan = json.loads(lake.run("plan", lake.name, "--catalog", lake.database, "--where", where, "--rewrite-all", "--json").text)["plan"]
    check(plan["manifests_opened"] < plan["manifests"], f"manifests: {plan}")


def test_rows_are_reconciled_with_the_manifest():
    """The manifest's rows of the tiles against the files' own: equal, and said so."""
    lake = Era5(["10_10", "10_11"])
    run = lake.sync()
    equal((run["rows_added"], run["rows_expected"]), (288, 288), "rows")


def test_other_rows_than_the_manifest_says_are_not_committed():
    """A tile with fewer or more rows than the manifest says: an error before the commit that names it and both counts."""
    for off in (-1, 1):
        lake = Era5(["10_10", "10_11"])
        lake.rows["10_11"] += off
        lake.publish()
        lake.refused("sync", words=["10_11", "144", str(144 + off)])
        check(lake.pointer() is None or lake.live() == {}, "files were committed")
        lake.rows["10_11"] -= off
        lake.publish()
        lake.sync()
        lake.whole()


def test_batches_before_a_wrong_tile_stay():
    """What was right is committed batch by batch; the run ends at the wrong one, and a mended manifest lets it go on."""
    lake = Era5(["10_10", "10_11", "10_12"])
    lake.rows["10_12"] += 1
    lake.publish()
    run = lake.sync("--batch", "1", expect=3)
    run.says("10_12")
    if lake.pointer():
        check(set(lake.synced()) <= {"10_10", "10_11"}, f"tiles: {lake.synced()}")
    lake.rows["10_12"] -= 1
    lake.publish()
    lake.sync("--batch", "1")
    lake.whole()


def test_a_missing_tile_folder_is_an_error():
    """The manifest names a tile that has no files: named, and nothing is committed."""
    lake = Era5(["10_10"])
    lake.rows["12_12"] = 144
    lake.publish()
    run = lake.sync(expect=(1, 3))
    run.says("12_12")
    check(lake.pointer() is None, "something was committed")


def test_manifests_of_other_formats():
    """The same as CSV and as JSON lines; a unit's rows may stand in several lines."""
    for name in ("manifest.csv", "manifest.jsonl"):
        lake = Era5(manifest=name)
        lake.publish = lambda: None
        for tile in ("10_10", "10_11"):
            lake.extract(tile)
        with open(lake.manifest, "w", encoding="utf-8") as file:
            if name.endswith(".csv"):
                file.write("tile,rows\n10_10,100\n10_11,144\n10_10,44\n")
            else:
                file.write('{"tile": "10_10", "rows": 100}\n{"tile": "10_11", "rows": 144}\n{"tile": "10_10", "rows": 44}\n')
        run = lake.sync()
        equal((run["units"]["added"], run["rows_expected"]), (2, 288), name)
        lake.whole()


def test_the_table_lies_apart_from_the_lake():
    """A location within the source, or around it, is refused: what is written there would be listed, or the other way round."""
    for location in ("daily/table", "daily/tile=10_10", "daily"):
        lake = Era5(["10_10"])
        lake.options[1] = lake.path(location)
        run = lake.sync(expect=(2, 3))
        run.says(lake.path(location))
        check(lake.pointer() is None, "a table was made")


def test_tiles_at_the_edge_and_below_zero():
    """Ordinals of tiles are floors: -1 × 12 is the tile of -12 … -1."""
    lake = Era5(["-1_0", "0_-2"])
    lake.sync()
    equal(list(lake.partition("tile=-1_0/year=2019/month=01/part.parquet").values()), [-12, 0, 49, 588], "the tile -1_0")
    equal(list(lake.partition("tile=0_-2/year=2019/month=12/part.parquet").values()), [0, -24, 49, 599], "the tile 0_-2")
    lake.whole()


def test_a_file_in_the_wrong_folder_is_refused():
    """Rows of another tile, year or month than the path says: refused by name, nothing committed."""
    for wrong in ("daily/tile=10_11/year=2019/month=01/x.parquet", "daily/tile=10_10/year=2018/month=01/x.parquet",
                  "daily/tile=10_10/year=2019/month=02/x.parquet"):
        lake = Era5(["10_10", "10_11"])
        os.makedirs(os.path.dirname(lake.path(wrong)), exist_ok=True)
        shutil.copy(lake.path("daily/tile=10_10/year=2019/month=01/part.parquet"), lake.path(wrong))
        for tile in ("10_10", "10_11"):
            lake.rows[tile] += 6 if f"tile={tile}" in wrong else 0
        lake.publish()
        lake.refused("sync", words=[wrong.rpartition("/")[0]])  # no column fits all paths, so there is no table
        os.rename(lake.path(wrong), lake.path("aside"))
        lake.rows = {"10_10": 144}
        lake.publish()
        lake.sync()
        os.rename(lake.path("aside"), lake.path(wrong))
        lake.rows = {"10_10": 144 + (6 if "10_10" in wrong else 0), "10_11": 144 + (6 if "10_11" in wrong else 0)}
        lake.publish()
        run = lake.refused("sync", words=[wrong])
        equal(run.names("bad"), ["x.parquet"], "bad files")


def test_spark_reads_it():
    """Spark SQL and Iceberg's own Java reader find the source's rows."""
    if not kit.SPARK:
        if os.environ.get("FIRN_CI") == "1":
            raise kit.Failed("FIRN_SPARK names no folder")
        return
    lake = Era5(["10_10", "10_11"])
    lake.sync()
    wanted = kit.read("pyiceberg", f"{lake.database}:{lake.name}")
    equal(len(wanted), 288, "rows by PyIceberg")
    for reader in ("spark", "java"):
        kit.check_rows(reader, f"{lake.database}:{lake.name}", wanted, "the lake")


if __name__ == "__main__":
    lakekit.main(globals())
