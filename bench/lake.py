"""
lake.py FIRN: registering Parquet files in place. At BENCH_SCALE 1:

  register   10,000 small files (year=/month=, ten columns, 50 rows each) in one commit by `firn register`, beside PyIceberg's add_files on the same bytes, to a
             table with the same partitions in an SQLite catalog. The page cache is warm, both have the same two cores. Of firn the whole process is timed; of
             PyIceberg, with PYICEBERG_MAX_WORKERS=32, only the call: no start, no imports, no making of the table. Asked: 30 times faster, below 100 MB.
  nothing    `firn sync` that finds nothing new in a folder of 100,000 files, all of them in the ledger, beside `find FOLDER -type f -printf '%p %s %T@\n'`,
             which looks at the same names, sizes and times. Asked: at most 3 times its wall time.
  scale      `firn sync --memory 64MB` of 100,000 and of 1,000,000 files (hard links to a few): how the peak grows.

Ends with 1 when rows or files differ, when the peer did not run, or when something asked is missed (times only from BENCH_SCALE 0.5 on: smaller runs tell little).
"""
import datetime
import glob
import importlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq

from measure import measured

SCALE = float(os.environ.get("BENCH_SCALE", "1"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "5"))
FOLDER = os.path.join(os.environ.get("BENCH_DIR", "."), "lake")
FILES, ROWS = max(200, round(10_000 * SCALE)), 50
LEDGER = max(2_000, round(100_000 * SCALE))
MANY = (LEDGER, max(20_000, round(1_000_000 * SCALE)))
LINKS = 30_000  # of one file: file systems have a limit
NAMES = ["id", "date", "a", "b", "c", "d", "x", "y", "z", "name"]


def table_of(number):
    """The rows of one file: those of one month."""
    first = datetime.date(2000 + number // 12 % 20, number % 12 + 1, 1)
    ids = range(number * ROWS, (number + 1) * ROWS)
    columns = [pa.array(ids, pa.int64()), pa.array([first + datetime.timedelta(i % 28) for i in ids], pa.date32())]
    columns += [pa.array([i * k % 10007 for i in ids], pa.int32()) for k in (3, 5, 7, 11)]
    columns += [pa.array([i * k / 7 for i in ids], pa.float64()) for k in (1.5, 2.5, 3.5)]
    return pa.table([*columns, pa.array([f"name {i % 977}" for i in ids])], NAMES)


def make_files(root):
    for number in range(FILES):
        folder = f"{root}/year={2000 + number // 12 % 20}/month={number % 12 + 1:02}"
        os.makedirs(folder, exist_ok=True)
        pq.write_table(table_of(number), f"{folder}/part-{number:06}.parquet", store_schema=False)


def make_links(root, count):
    """`count` files of five rows, a thousand in a folder."""
    original = None
    for number in range(count):
        folder = f"{root}/g{number // 1000:04}"
        if number % 1000 == 0:
            os.makedirs(folder)
        path = f"{folder}/{number:07}.parquet"
        if number % LINKS == 0:
            original = path
            pq.write_table(pa.table({"id": pa.array(range(5), pa.int64()), "x": [0.5] * 5}), path, store_schema=False)
        else:
            os.link(original, path)


def paths_of(root):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)


def fresh(name):
    folder = f"{FOLDER}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def metadata_of(database):
    connection = sqlite3.connect(database)
    try:
        return connection.execute("SELECT metadata_location FROM iceberg_tables").fetchone()[0].removeprefix("file://")
    finally:
        connection.close()


def firn(verb, folder, *arguments):
    """(wall, CPU, peak MB, report) of a run on the table b.t of folder/catalog.db."""
    command = [FIRN, verb, "b.t", "--catalog", f"{folder}/catalog.db", "--location", f"{folder}/t", "--yes", "--json", "--threads", "2", *arguments]
    wall, cpu, peak, out = measured(command, env={**os.environ, "FIRN_STATE_DIR": f"{folder}/state"})
    return wall, cpu, peak, json.loads(out)


# The peer, run as `lake.py --add-files FOLDER ROOT`: seconds of the call


def add_files(folder, root):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import MonthTransform, YearTransform
    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("b")
    schema = catalog.create_table("b.schema", table_of(0).schema).schema()
    catalog.drop_table("b.schema")
    source = schema.find_field("date").field_id
    spec = PartitionSpec(PartitionField(source, 1000, YearTransform(), "date_year"), PartitionField(source, 1001, MonthTransform(), "date_month"))
    table = catalog.create_table("b.t", schema, location=f"{folder}/t", partition_spec=spec)
    paths = paths_of(root)
    start = time.monotonic()
    table.add_files(paths)
    print(time.monotonic() - start)


def peer(folder, root):
    """(seconds of the call, peak MB)."""
    _, _, peak, out = measured([sys.executable, os.path.abspath(__file__), "--add-files", folder, root], env={**os.environ, "PYICEBERG_MAX_WORKERS": "32"})
    return float(out), peak


# What outside readers find


def duckdb_connection():
    import duckdb
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("httpfs", "avro", "iceberg"):
        package = importlib.import_module(f"duckdb_extension_{name}")
        connection.execute(f"LOAD '{glob.glob(os.path.join(os.path.dirname(package.__file__), '**', f'{name}.duckdb_extension*'), recursive=True)[0]}'")
    return connection


def sums(connection, source):
    """A count and a sum of hashes over whole rows."""
    return connection.execute(f"SELECT count(*), sum(hash({', '.join(NAMES)})::HUGEINT) FROM {source}").fetchone()


def live_files(database):
    """[(path, rows)] by PyIceberg."""
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(metadata_of(database))
    return sorted((task.file.file_path.removeprefix("file://"), task.file.record_count) for task in table.scan().plan_files())


def same(what, found, wanted):
    if found != wanted:
        print(f"  {what} DIFFER: {str(found)[:200]} against {str(wanted)[:200]}")
    return found == wanted


# The three parts


def register():
    root = fresh("small")
    make_files(root)
    # The page cache is warm for whoever comes first.
    for path in paths_of(root):
        with open(path, "rb") as file:
            file.read()
    ours, theirs = [], []
    for _ in range(min(PAIRS, 3)):
        ours.append(firn("register", fresh("firn"), root))
        theirs.append(peer(fresh("pyiceberg"), root))
    wall, peak = min(r[0] for r in ours), max(r[2] for r in ours)
    call, call_peak = min(r[0] for r in theirs), max(r[1] for r in theirs)
    report = ours[-1][3]
    connection = duckdb_connection()
    wanted = sums(connection, f"read_parquet('{root}/**/*.parquet', hive_partitioning = false)")
    right = same("rows of firn", sums(connection, f"iceberg_scan('{metadata_of(f'{FOLDER}/firn/catalog.db')}')"), wanted)
    right &= same("rows of PyIceberg", sums(connection, f"iceberg_scan('{metadata_of(f'{FOLDER}/pyiceberg/catalog.db')}')"), wanted)
    right &= same("files", live_files(f"{FOLDER}/firn/catalog.db"), live_files(f"{FOLDER}/pyiceberg/catalog.db"))
    right &= same("commits", len(report["commits"]), 1) and same("rows", report["rows_added"], FILES * ROWS)
    print(f"\nregistering {FILES} files of {ROWS} rows in one commit (fastest of {len(ours)}):")
    print(f"  firn {wall:.3f} s, peak {peak:.0f} MB (asked: below 100 MB); PyIceberg's add_files {call:.2f} s, peak {call_peak:.0f} MB")
    print(f"  {call / wall:.1f} times as fast (asked: 30), {FILES / wall:.0f} files a second")
    return right and peak < 100 and (call / wall >= 30 or SCALE < 0.5)


def nothing(root, folder):
    report = firn("sync", folder, root)[3]
    right = same("ledger", report["ledger"]["entries"], LEDGER) and same("commits", report["commits"], [])
    runs, finds = [], []
    for _ in range(PAIRS):
        runs.append(firn("sync", folder, root))
        start = time.monotonic()
        subprocess.run(["find", root, "-type", "f", "-printf", "%p %s %T@\n"], stdout=subprocess.DEVNULL, check=True)
        finds.append(time.monotonic() - start)
    wall, find, peak = min(r[0] for r in runs), min(finds), max(r[2] for r in runs)
    right &= same("footers", [r[3]["footers_read"] for r in runs], [0] * PAIRS)
    print(f"\nnothing new among {LEDGER} files:")
    print(f"  firn sync {wall:.3f} s, peak {peak:.0f} MB; find {find:.3f} s: {wall / find:.2f} times (asked: at most 3)")
    return right and (wall / find <= 3 or SCALE < 0.5)


def scale():
    right, peaks = True, []
    for count in MANY:
        root, folder = fresh(f"links-{count}"), fresh(f"table-{count}")
        make_links(root, count)
        wall, _, peak, report = firn("sync", folder, root, "--memory", "64MB")
        peaks.append(peak)
        right &= same("files", (report["files"]["added"], report["footers_read"], report["rows_added"]), (count, count, count * 5))
        metadata = metadata_of(f"{folder}/catalog.db")
        found = duckdb_connection().execute(f"SELECT count(*) FROM iceberg_scan('{metadata}')").fetchone()[0]
        right &= same("rows by DuckDB", found, count * 5)
        print(f"\nregistering {count} files under --memory 64MB: {wall:.1f} s ({count / wall:.0f} files a second), peak {peak:.0f} MB", flush=True)
        if count == LEDGER:
            right &= nothing(root, folder)
        shutil.rmtree(root)
        shutil.rmtree(folder)
    grown = (peaks[1] - peaks[0]) * 1024 * 1024 / (MANY[1] - MANY[0])
    print(f"  from {MANY[0]} to {MANY[1]} files the peak grows by {grown:.0f} bytes a file")
    return right


def main():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    os.makedirs(FOLDER, exist_ok=True)
    first = register()
    second = scale()
    return 0 if first and second else 1


if sys.argv[1] == "--add-files":
    add_files(*sys.argv[2:4])
else:
    FIRN = os.path.realpath(sys.argv[1])
    sys.exit(main())
