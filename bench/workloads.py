"""
What compact.py measures: files by outside writers, shaped like the lakes that people have. Each workload says how many files of how many
rows, who writes them and how, how many times DuckDB's speed is asked for, and what readers ask of the result.
"""
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Callable

import numpy as np
import pyarrow as pa

import lineitem

# --- writers -----------------------------------------------------------------------------------


def pyarrow_writer(**options):
    def write(tables, paths):
        import pyarrow.parquet as pq
        for table, path in zip(tables, paths):
            pq.write_table(table, path, **options)
    return write


def duckdb_writer(compression):
    def write(tables, paths):
        import duckdb
        connection = duckdb.connect()
        for table, path in zip(tables, paths):
            connection.register("input", table)
            connection.execute(f"COPY input TO '{path}' (FORMAT parquet, COMPRESSION {compression})")
            connection.unregister("input")
    return write


SPARK = """
import glob, os, shutil, sys
sys.path.insert(0, sys.argv[1])
import spark_session
spark = spark_session.start(sys.argv[2])
source, target, compression = sys.argv[3:6]
names = sorted(os.listdir(source))
for name in names:
    part = os.path.join(target, "part")
    frame = spark.read.parquet(os.path.join(source, name)).coalesce(1)
    frame.write.mode("overwrite").option("compression", compression).parquet(part)
    shutil.move(glob.glob(os.path.join(part, "*.parquet"))[0], os.path.join(target, name))
    shutil.rmtree(part)
"""


def spark_writer(compression):
    """parquet-java, through Spark; it reads plain copies that PyArrow wrote."""
    def write(tables, paths):
        import pyarrow.parquet as pq
        target = os.path.dirname(paths[0])
        source = target + "-source"
        os.makedirs(source)
        for table, path in zip(tables, paths):
            pq.write_table(table, os.path.join(source, os.path.basename(path)))
        folder = os.environ["FIRN_SPARK"]
        tools = os.path.join(os.environ["FIRN_TOOLS"], "spark")
        subprocess.run([os.path.join(folder, "venv", "bin", "python"), "-c", SPARK, tools, folder, source, target,
                        compression], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(source)
    return write


def mixed_writer(tables, paths):
    """Every other file says that its columns are required, as Spark does wherever an expression can't be null."""
    import pyarrow.parquet as pq
    for i, (table, path) in enumerate(zip(tables, paths)):
        if i % 2 == 1:
            table = table.cast(pa.schema([f.with_nullable(False) for f in table.schema]))
        pq.write_table(table, path, compression="zstd")


# --- rows --------------------------------------------------------------------------------------


def partitioned(files_each):
    def batch(seed, rows):
        table = lineitem.batch(seed, rows)
        return table.append_column("region", pa.array([seed // files_each] * rows, pa.int32()))
    return batch


def nested(seed, rows):
    dice = np.random.default_rng(seed)
    words = np.array(lineitem.WORDS)
    counts = dice.integers(0, 6, rows)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype("int32")
    items = int(offsets[-1])
    item = pa.StructArray.from_arrays(
        [pa.array(words[dice.integers(0, len(words), items)].tolist()), pa.array(dice.integers(1, 51, items), pa.int32()),
         pa.array(dice.integers(90000, 10000000, items) / 100.0)], ["sku", "quantity", "price"])
    labels = dice.integers(0, 4, rows)
    label_offsets = np.concatenate([[0], np.cumsum(labels)]).astype("int32")
    pairs = int(label_offsets[-1])
    # Keys of one map differ: one of three ranges by their place in it.
    place = np.arange(pairs) - np.repeat(label_offsets[:-1], labels)
    keys = words[(dice.integers(0, 10, pairs) + 10 * place) % len(words)]
    return pa.table({
        "id": pa.array(np.arange(rows) + seed * rows, pa.int64()),
        "customer": pa.array([f"customer {n}" for n in dice.integers(0, 5000, rows)]),
        "items": pa.ListArray.from_arrays(pa.array(offsets), item),
        "labels": pa.MapArray.from_arrays(pa.array(label_offsets), pa.array(keys.tolist()),
                                          pa.array(words[dice.integers(0, len(words), pairs)].tolist())),
    })


def growing(seed, rows):
    """Each file repeats its own names, and brings new ones: dictionaries pay in each file and outgrow any limit together."""
    dice = np.random.default_rng(seed)
    fresh = max(1, rows // 5)
    name = dice.integers(0, fresh, rows) + seed * fresh
    old = dice.integers(0, max(1, seed * fresh), rows)
    name = np.where(dice.random(rows) < 0.2, old, name)
    account = dice.integers(0, fresh, rows) + seed * fresh
    return pa.table({
        "id": pa.array(np.arange(rows) + seed * rows, pa.int64()),
        "name": pa.array([f"customer number {n:09d}" for n in name]),
        "account": pa.array((account * 7919 + 10**12).astype("int64")),
        "mode": pa.array(np.array(lineitem.MODES)[dice.integers(0, 7, rows)].tolist()),
        "amount": pa.array(dice.integers(0, 10**7, rows) / 100.0),
    })


# --- rows that go ------------------------------------------------------------------------------

TWENTIETH = 2**32 // 20


def at_random(_, paths, rows):
    """({path: positions}, DuckDB's condition for rows that stay): a twentieth of each file's row numbers, mixed so that no pattern is left."""
    mixed = np.arange(rows, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(2**32)
    mixed = (mixed ^ (mixed >> np.uint64(15))) * np.uint64(1103515245) % np.uint64(2**32)
    gone = np.flatnonzero(mixed < TWENTIETH)
    inner = "((file_row_number * 2654435761) % 4294967296)"
    return {path: gone for path in paths}, f"(xor({inner}, {inner} >> 15) * 1103515245) % 4294967296 >= {TWENTIETH}"


def in_runs(files, paths, rows):
    """Five runs, a hundredth of the table each, from amid one file to amid another."""
    length = files * rows // 100
    gone, conditions = {}, []
    for run in range(5):
        first = files * rows * (2 * run + 1) // 10 + rows // 3
        last = first + length - 1
        for i in range(first // rows, last // rows + 1):
            start, end = max(first - i * rows, 0), min(last - i * rows, rows - 1)
            gone[paths[i]] = np.arange(start, end + 1)
            conditions.append(f"(filename = '{paths[i]}' AND file_row_number BETWEEN {start} AND {end})")
    return gone, f"NOT ({' OR '.join(conditions)})"


def delete_by_position(table, data, gone):
    """A position delete file for each data file, in one snapshot."""
    import delete_tables
    import pyarrow.parquet as pq
    from pyiceberg.manifest import DataFileContent
    schema = delete_tables.with_ids(
        pa.schema([pa.field("file_path", pa.string(), nullable=False), pa.field("pos", pa.int64(), nullable=False)]),
        [delete_tables.FILE_PATH_ID, delete_tables.POS_ID])
    deletes = []
    for number, (path, positions) in enumerate(gone.items()):
        file = os.path.join(data, f"delete-{number:05d}.parquet")
        pq.write_table(pa.table({"file_path": pa.array([path] * len(positions)), "pos": pa.array(positions, pa.int64())},
                                schema=schema), file, compression="zstd")
        bounds = {delete_tables.FILE_PATH_ID: path.encode()}
        deletes.append(delete_tables.entry(file, DataFileContent.POSITION_DELETES, len(positions), lower_bounds=bounds,
                                           upper_bounds=bounds))
    delete_tables.row_delta(table, [], deletes)


# --- what readers ask --------------------------------------------------------------------------

LINEITEM_QUERIES = {
    "scan": "SELECT " + ", ".join(f"max({c})" for c in lineitem.batch(0, 1).column_names) + " FROM {0}",
    "filter": "SELECT sum(l_extendedprice * l_discount) FROM {0} WHERE l_shipdate BETWEEN '1994-01-01' AND '1994-12-31'"
              " AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    "group": "SELECT l_returnflag, l_shipmode, count(*), avg(l_quantity) FROM {0} GROUP BY ALL",
}
NESTED_QUERIES = {
    "scan": "SELECT max(id), max(customer), max(items), sum(cardinality(labels)) FROM {0}",
    "filter": "SELECT sum(len(items)) FROM {0} WHERE customer < 'customer 2'",
    "group": "SELECT customer, count(*) FROM {0} GROUP BY ALL",
}
GROWING_QUERIES = {
    "scan": "SELECT max(id), max(name), max(account), max(mode), max(amount) FROM {0}",
    "filter": "SELECT sum(amount) FROM {0} WHERE mode = 'AIR' AND account % 10 = 3",
    "group": "SELECT mode, count(*), avg(amount) FROM {0} GROUP BY ALL",
}


@dataclass
class Workload:
    name: str
    files: int
    rows: int
    write: Callable
    asked: float       # times DuckDB's speed
    peak_asked: float  # MB
    batch: Callable = lineitem.batch
    queries: dict = field(default_factory=lambda: LINEITEM_QUERIES)
    properties: dict = field(default_factory=lambda: {"write.parquet.compression-codec": "zstd"})
    partition_column: str = None
    needs_spark: bool = False
    dropped: Callable = None  # rows that position deletes take, as at_random


SNAPPY = {"write.parquet.compression-codec": "snappy"}
V2 = {"compression": "zstd", "data_page_version": "2.0"}

WORKLOADS = [
    Workload("PyArrow, zstd", 200, 30000, pyarrow_writer(compression="zstd"), 8, 64),
    Workload("Spark, zstd", 200, 30000, spark_writer("zstd"), 12, 64, needs_spark=True),
    Workload("DuckDB, zstd", 200, 30000, duckdb_writer("zstd"), 12, 64),
    Workload("PyArrow, snappy", 200, 30000, pyarrow_writer(compression="snappy"), 7, 64, properties=SNAPPY),
    Workload("Spark, snappy", 200, 30000, spark_writer("snappy"), 7, 64, properties=SNAPPY, needs_spark=True),
    Workload("DuckDB, snappy", 200, 30000, duckdb_writer("snappy"), 7, 64, properties=SNAPPY),
    Workload("1,000 small, PyArrow", 1000, 6000, pyarrow_writer(compression="zstd"), 5, 64),
    Workload("4,000 tiny, PyArrow", 4000, 500, pyarrow_writer(compression="zstd"), 5, 64),
    Workload("1,000 small, v2 pages", 1000, 6000, pyarrow_writer(**V2), 10, 64),
    Workload("4,000 tiny, v2 pages", 4000, 500, pyarrow_writer(**V2), 10, 64),
    Workload("30 partitions", 600, 5000, pyarrow_writer(compression="zstd"), 8, 64, batch=partitioned(20),
             partition_column="region"),
    Workload("nested", 100, 10000, pyarrow_writer(compression="zstd"), 5, 64, batch=nested, queries=NESTED_QUERIES),
    Workload("growing dictionaries", 200, 30000, pyarrow_writer(compression="zstd"), 3, 128, batch=growing,
             queries=GROWING_QUERIES),
    Workload("required and optional", 200, 30000, mixed_writer, 8, 64),
    Workload("5 % dropped at random", 200, 30000, pyarrow_writer(compression="zstd"), 2, 128, dropped=at_random),
    Workload("5 % dropped in runs", 200, 30000, pyarrow_writer(compression="zstd"), 6, 64, dropped=in_runs),
]


def shape(workload, scale):
    """Files and rows in each: whole files at full scale and above, fewer and smaller ones below."""
    if scale >= 1:
        return int(workload.files * scale), workload.rows
    files = max(10, int(workload.files * scale ** 0.5))
    if workload.partition_column:
        files = max(60, files // 20 * 20)
    return files, max(100, int(workload.files * workload.rows * scale / files))


def make_table(folder, workload, files, rows):
    """folder/catalog.db with table bench.t over the writer's files, added in place."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.transforms import IdentityTransform
    done = os.path.join(folder, f"done-{files}-{rows}")
    if os.path.exists(done):
        return
    shutil.rmtree(folder, ignore_errors=True)
    data = os.path.join(folder, "warehouse", "bench", "t", "data")
    os.makedirs(data)
    paths = [os.path.join(data, f"input-{i:05d}.parquet") for i in range(files)]
    workload.write((workload.batch(i, rows) for i in range(files)), paths)
    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"{folder}/warehouse")
    catalog.create_namespace("bench")
    table = catalog.create_table("bench.t", schema=workload.batch(0, 1).schema, properties=workload.properties,
                                 location=os.path.join(folder, "warehouse", "bench", "t"))
    if workload.partition_column:
        with table.update_spec() as update:
            update.add_field(workload.partition_column, IdentityTransform(), workload.partition_column)
    for start in range(0, files, 100):
        table.add_files(paths[start:start + 100])
    if workload.dropped:
        delete_by_position(table, data, workload.dropped(files, paths, rows)[0])
    open(done, "w").close()
