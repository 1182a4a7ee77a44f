"""The main job on real input: a table that PyIceberg wrote is compacted, read back, written further, compacted again."""
import hashlib
import os
import shutil
import tempfile

import kit
import tables

READERS = ("pyiceberg", "duckdb")


def in_folder(test):
    def run():
        folder = tempfile.mkdtemp(prefix="firn-pyiceberg-")
        try:
            test(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    run.__name__ = test.__name__
    return run


def compact_and_compare(where, arguments, *options):
    before = {reader: kit.read(reader, where) for reader in READERS}
    result = kit.firn_json("compact", *arguments, "--yes", *options)
    for reader in READERS:
        kit.same_rows(kit.read(reader, where), before[reader], reader)
    return result


@in_folder
def partitioned(folder):
    _, where, arguments = tables.make(folder)
    result = compact_and_compare(where, arguments, "--verify")
    kit.check(result["committed"], "nothing was committed")
    kit.check(len(kit.live_files(where)) == 5, f"{len(kit.live_files(where))} files in 5 partitions")
    again = kit.firn_json("compact", *arguments, "--yes")
    kit.check(not again["committed"], "the second run found something to do")


@in_folder
def goes_on_for_its_maker(folder):
    """PyIceberg appends to what firn compacted, evolves it, and firn compacts again."""
    catalog, where, arguments = tables.make(folder, partitioned=False)
    compact_and_compare(where, arguments)
    table = catalog.load_table("db.events")
    for seed in range(100, 106):
        table.append(tables.batch(seed, 20))
    from pyiceberg.types import LongType
    with table.update_schema() as update:
        update.add_column("later", LongType())
        update.rename_column("score", "points")
    result = compact_and_compare(where, arguments)
    kit.check(result["committed"], "nothing was committed")
    kit.check(len(kit.live_files(where)) == 1, "more than one file is left")


@in_folder
def old_snapshots_stay_readable(folder):
    catalog, where, arguments = tables.make(folder, commits=6)
    table = catalog.load_table("db.events")
    wanted = {s.snapshot_id: table.scan(snapshot_id=s.snapshot_id).to_arrow().num_rows
              for s in table.snapshots()}
    compact_and_compare(where, arguments)
    table = catalog.load_table("db.events")
    for snapshot, count in wanted.items():
        kit.check(table.scan(snapshot_id=snapshot).to_arrow().num_rows == count,
                  f"snapshot {snapshot} lost rows")
    latest = table.current_snapshot()
    kit.check(latest.summary.operation.value == "replace", "the snapshot's operation is not replace")
    kit.check(latest.summary["total-records"] == str(6 * 50), "total-records is wrong")


@in_folder
def preview_writes_nothing(folder):
    _, _, arguments = tables.make(folder, commits=6)

    def listing():
        return sorted((os.path.join(d, n), os.stat(os.path.join(d, n)).st_mtime_ns)
                      for d, _, names in os.walk(folder) for n in names)

    before = listing()
    kit.firn("compact", *arguments)
    kit.firn("compact", *arguments, "--yes", "--dry-run")
    kit.firn("plan", *arguments)
    kit.check(listing() == before, "a preview changed files")


def content_hash(lines):
    total = sum(int.from_bytes(hashlib.sha256(line.encode()).digest()[:16], "big") for line in lines)
    return f"{total % 2**128:032x}"


@in_folder
def content_hash_agrees(folder):
    """firn's order-free hash equals the one of the rows that PyIceberg and DuckDB read, before and after."""
    _, where, arguments = tables.make(folder)
    for _ in range(2):
        found = kit.firn_json("describe", *arguments, "--content-hash")["content_hash"]
        for reader in ("duckdb",):  # pyiceberg turns null lists of structs into empty ones, not null lists of text
            kit.check(found == content_hash(kit.read(reader, where)), f"the hash of {reader}'s rows differs")
        kit.check(found == content_hash(kit.read("pyiceberg", where)), "the hash of pyiceberg's rows differs")
        kit.firn("compact", *arguments, "--yes")


@in_folder
def target_size_is_kept(folder):
    """Outputs lie around the target, and what is large is cut."""
    _, where, arguments = tables.make(folder, commits=12, rows=2000, partitioned=False)
    total = sum(os.path.getsize(f.replace("file://", "")) for f in kit.live_files(where))
    target = total // 4
    compact_and_compare(where, arguments, "--target-file-size-bytes", target)
    count = len(kit.live_files(where))
    kit.check(3 <= count <= 5, f"{count} files for a quarter of the bytes each")
    again = kit.firn_json("compact", *arguments, "--yes", "--target-file-size-bytes", target)
    kit.check(not again["committed"], "the second run found something to do")


@in_folder
def preview_tells_the_size(folder):
    """What a run did equals its preview in groups and files, and in bytes within 10 %."""
    _, _, arguments = tables.make(folder, commits=20, rows=500)
    for options in ([], ["--target-file-size-bytes", "65536"], ["--rewrite-all"]):
        preview = kit.firn_json("compact", *arguments, *options)["plan"]
        done = kit.firn_json("compact", *arguments, *options, "--yes")["result"]
        if done is None:
            kit.check(preview["selected_groups"] == 0, "a preview promised what was not done")
            continue
        kit.check(preview["input_files"] == done["input_files"], "input files differ from the preview")
        kit.check(preview["output_files"] == done["output_files"], "output files differ from the preview")
        expected, found = preview["output_bytes"], done["output_bytes"]
        kit.check(abs(expected - found) <= found / 10, f"{options}: {expected} bytes expected, {found} written")


@in_folder
def branch(folder):
    """--ref compacts a branch and leaves main alone."""
    catalog, where, arguments = tables.make(folder, commits=6, partitioned=False)
    table = catalog.load_table("db.events")
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "audit").commit()
    main = table.current_snapshot().snapshot_id
    kit.firn_json("compact", *arguments, "--ref", "audit", "--yes")
    table = catalog.load_table("db.events")
    kit.check(table.current_snapshot().snapshot_id == main, "main moved")
    kit.check(table.refs()["audit"].snapshot_id != main, "the branch did not move")
    kit.same_rows(kit.read("duckdb", where, ref="audit"), kit.read("duckdb", where), "audit")
    kit.firn("compact", *arguments, "--ref", "nowhere", "--yes", expect=1)


def page_versions_of(path):
    """By the page headers' first bytes, since PyArrow's footers say v1 of either: field 1 of PageHeader, an i32, is the page's type."""
    import pyarrow.parquet as pq
    metadata = pq.read_metadata(path)
    with open(path, "rb") as file:
        data = file.read()
    columns = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(metadata.num_columns)]
    starts = [data[column.data_page_offset:column.data_page_offset + 2] for column in columns]
    kit.check(all(start[0] == 0x15 and start[1] in (0, 6) for start in starts), f"{path}: no data pages: {starts}")
    return {1 if start[1] == 0 else 2 for start in starts}


@in_folder
def page_versions(folder):
    """Outputs follow most of the inputs' bytes, or the table's property; v2 pages of optional columns are joined."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    cases = [("v1", ["1.0"] * 8, None, {1}), ("v2", ["2.0"] * 8, None, {2}), ("mostly-v1", ["1.0", "1.0", "2.0"] * 3, None, {1}),
             ("mostly-v2", ["2.0", "1.0", "2.0"] * 3, None, {2}), ("many", ["1.0"] + ["2.0"] * 139, None, {2}),
             ("v2-to-v1", ["2.0"] * 8, "v1", {1}), ("v1-to-v2", ["1.0"] * 8, "v2", {2})]
    catalog = kit.sql_catalog(folder)
    catalog.create_namespace("db")
    for name, versions, wanted, expected in cases:
        for dictionary in (True, False) if name == "v2" else (True,):
            properties = {} if wanted is None else {"write.parquet.page-version": wanted}
            table = catalog.create_table(f"db.{name}-{dictionary}", schema=tables.batch(1, 1).schema, properties=properties)
            paths = [os.path.join(folder, f"{name}-{dictionary}-{i}.parquet") for i in range(len(versions))]
            for i, (path, version) in enumerate(zip(paths, versions)):
                # Frames of less than 16 KB are not joined, pages of 4,096 values go over whole.
                rows = pa.concat_tables([tables.batch(i, 100 if dictionary else 1300)] * 3)
                pq.write_table(rows, path, data_page_version=version, use_dictionary=dictionary, compression="zstd")
            table.add_files(paths)
            where = f"{os.path.join(folder, 'catalog.db')}:db.{name}-{dictionary}"
            result = compact_and_compare(where, [f"db.{name}-{dictionary}", "--catalog", os.path.join(folder, "catalog.db")], "--verify")
            live = [f.replace("file://", "") for f in kit.live_files(where)]
            kit.check(len(live) == 1, f"{name}: {len(live)} files")
            found = page_versions_of(live[0])
            kit.check(found == expected, f"{name}, dictionary {dictionary}: pages of version {found}")
            ways = {way["way"]: way["bytes"] for way in result["result"]["ways"]}
            if name == "v2" and not dictionary:
                kit.check(ways.get("joined", 0) > ways.get("encoded", 0), f"{name}: {ways}")


def manifest_columns(where):
    """By column: which of its metrics the entries of the live files have."""
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(kit.rows.strip_scheme(kit.rows.find_metadata(where)))
    found = {}
    for task in table.scan().plan_files():
        for name in ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
            for field_id in getattr(task.file, name) or {}:
                found.setdefault(table.schema().find_column_name(field_id), set()).add(name)
    return found


def footer_columns(path):
    """By column path, as PyArrow and DuckDB read the footer: (encodings, whether there are statistics, whether there is a column index)."""
    import pyarrow.parquet as pq
    metadata = pq.read_metadata(path)
    return {metadata.row_group(i).column(j).path_in_schema:
            (set(metadata.row_group(i).column(j).encodings), metadata.row_group(i).column(j).is_stats_set,
             metadata.row_group(i).column(j).has_column_index, metadata.row_group(i).column(j).has_dictionary_page)
            for i in range(metadata.num_row_groups) for j in range(metadata.num_columns)}


PLAIN_COLUMNS = {"kind": "kind", "place.name": "place.name", "tags.element": "tags.list.element"}
SILENT_COLUMNS = {"id": "id", "score": "score", "tags.element": "tags.list.element", "extra.value": "extra.key_value.value", "day": "day"}


@in_folder
def columns_without_dictionary_or_statistics(folder):
    """The table says so of single columns, nested ones among them; the rest keep both, and readers find every row."""
    properties = {f"write.parquet.dict-encoding-enabled.column.{name}": "false" for name in PLAIN_COLUMNS}
    properties.update({f"write.parquet.stats-enabled.column.{name}": "false" for name in SILENT_COLUMNS})
    properties.update({"write.parquet.stats-enabled.column.kind": "true", "write.parquet.dict-encoding-enabled.column.day": "true"})
    catalog, where, arguments = tables.make(folder, rows=400, partitioned=False, properties=properties)
    compact_and_compare(where, arguments, "--verify")
    paths = [f.replace("file://", "") for f in kit.live_files(where)]
    kit.check(len(paths) == 1, f"{len(paths)} files")
    columns = footer_columns(paths[0])
    for path, (encodings, statistics, index, dictionary) in columns.items():
        silent = path in SILENT_COLUMNS.values()
        kit.check(statistics != silent, f"{path}: statistics {statistics}")
        # Bounds of NaN alone, or of an order that is not defined, forbid an index; none of these columns has them.
        kit.check(index != silent, f"{path}: column index {index}")
        if path in PLAIN_COLUMNS.values():
            kit.check(not dictionary and not any("DICTIONARY" in e for e in encodings), f"{path}: {encodings}")
    kit.check(columns["day"][3] and "RLE_DICTIONARY" in columns["day"][0], f"day: {columns['day'][0]}, no dictionary")
    metrics = manifest_columns(where)
    for name in SILENT_COLUMNS:
        kit.check(metrics.get(name) == {"column_sizes", "value_counts"}, f"{name}: the entry has {metrics.get(name)}")
    kit.check({"null_value_counts", "lower_bounds", "upper_bounds"} <= metrics["kind"], f"kind: {metrics['kind']}")
    kit.check({"null_value_counts", "nan_value_counts", "lower_bounds"} <= metrics["place.lat"], f"place.lat: {metrics['place.lat']}")
    kit.firn("parquet", "verify", *paths)
    kit.firn("verify", *arguments)
    kit.firn("audit", *arguments)
    kit.firn("audit", *arguments, "--deep")
    filters_find_rows(catalog, where)
    table = catalog.load_table("db.events")
    for seed in range(100, 106):
        table.append(tables.batch(seed, 20))
    compact_and_compare(where, arguments, "--rewrite-all")
    kit.check(manifest_columns(where)["id"] == {"column_sizes", "value_counts"}, "the second compaction wrote metrics of id")
    with table.transaction() as transaction:
        transaction.set_properties({"write.parquet.stats-enabled.column.id": "no"})
    done = kit.firn("compact", *arguments, "--rewrite-all", "--yes", expect=2)
    kit.check("write.parquet.stats-enabled.column.id" in done.stderr, f"the property is not named: {done.stderr}")


@in_folder
def no_dictionaries_but_one(folder):
    """parquet-java's switch for the whole table, which a column's own goes before."""
    properties = {"parquet.enable.dictionary": "false", "write.parquet.dict-encoding-enabled.column.day": "true"}
    _, where, arguments = tables.make(folder, rows=400, partitioned=False, properties=properties)
    compact_and_compare(where, arguments, "--verify")
    for path in [f.replace("file://", "") for f in kit.live_files(where)]:
        found = [name for name, (_, _, _, dictionary) in footer_columns(path).items() if dictionary]
        kit.check(found == ["day"], f"{path}: dictionaries of {found}")


def filters_find_rows(catalog, where):
    """Filters on columns about which neither footer nor manifest tells anything."""
    table = catalog.load_table("db.events")
    everything = table.scan().to_arrow().to_pylist()
    day = next(row["day"] for row in everything if row["day"] is not None)
    cases = [("id = 300007", "id = 300007", lambda row: row["id"] == 300007),
             ("score is null", "score IS NULL", lambda row: row["score"] is None),
             ("score is not null", "score IS NOT NULL", lambda row: row["score"] is not None),
             ("score is nan", "isnan(score)", lambda row: row["score"] is not None and row["score"] != row["score"]),
             (f"day = '{day}'", f"day = DATE '{day}'", lambda row: row["day"] == day),
             ("day is null", "day IS NULL", lambda row: row["day"] is None)]
    duckdb = kit.rows.duckdb_connection(kit.OPTIONS.duckdb_extensions)
    metadata = kit.rows.strip_scheme(table.metadata_location)
    for filter_text, sql, holds in cases:
        wanted = sum(map(holds, everything))
        kit.check(wanted > 0, f"{sql}: no row to look for")
        found = len(table.scan(row_filter=filter_text).to_arrow())
        kit.check(found == wanted, f"{filter_text}: PyIceberg finds {found} rows, not {wanted}")
        found = duckdb.execute(f"SELECT count(*) FROM iceberg_scan('{metadata}') WHERE {sql}").fetchone()[0]
        kit.check(found == wanted, f"{sql}: DuckDB finds {found} rows, not {wanted}")
        if "nan" in filter_text:
            continue
        scanned = kit.firn("scan", "db.events", "--catalog", where.rpartition(":")[0], "--where", filter_text, "--format", "json")
        found = len(scanned.stdout.splitlines())
        kit.check(found == wanted, f"{filter_text}: firn finds {found} rows, not {wanted}")


kit.main([page_versions, columns_without_dictionary_or_statistics, no_dictionaries_but_one, partitioned, goes_on_for_its_maker,
          old_snapshots_stay_readable, preview_writes_nothing, content_hash_agrees, target_size_is_kept, preview_tells_the_size, branch])
