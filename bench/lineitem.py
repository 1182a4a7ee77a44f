"""Rows like TPC-H's lineitem, 16 columns, made from a seed; and tables of them by outside writers."""
import os
import shutil

import numpy as np
import pyarrow as pa

WORDS = """furiously quickly carefully blithely slyly regular special express final pending ironic bold even silent
    packages deposits requests accounts instructions theodolites pinto beans foxes ideas dependencies platelets
    sleep wake nag haggle cajole integrate boost detect among above the along across""".split()
MODES = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]
INSTRUCTIONS = ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]


def comments(dice, rows):
    """Texts of 10 to 43 characters, hardly two alike."""
    lengths = dice.integers(10, 44, rows)
    words = np.array(WORDS)[dice.integers(0, len(WORDS), (rows, 8))]
    return [" ".join(line)[:length] for line, length in zip(words, lengths)]


def batch(seed, rows):
    dice = np.random.default_rng(seed)
    ship = dice.integers(8036, 10562, rows)
    quantity = dice.integers(1, 51, rows)
    price = dice.integers(90000, 10000000, rows)

    return pa.table({
        "l_orderkey": pa.array(np.sort(dice.integers(0, rows, rows)) + seed * rows, pa.int64()),
        "l_partkey": pa.array(dice.integers(1, 200001, rows), pa.int64()),
        "l_suppkey": pa.array(dice.integers(1, 10001, rows), pa.int64()),
        "l_linenumber": pa.array(dice.integers(1, 8, rows), pa.int32()),
        "l_quantity": pa.array(quantity.astype("float64"), pa.float64()),
        "l_extendedprice": pa.array(price / 100.0, pa.float64()),
        "l_discount": pa.array(dice.integers(0, 11, rows) / 100.0, pa.float64()),
        "l_tax": pa.array(dice.integers(0, 9, rows) / 100.0, pa.float64()),
        "l_returnflag": pa.array(np.array(["A", "N", "R"])[dice.integers(0, 3, rows)].tolist(), pa.string()),
        "l_linestatus": pa.array(np.array(["F", "O"])[dice.integers(0, 2, rows)].tolist(), pa.string()),
        "l_shipdate": pa.array(ship.astype("int32"), pa.int32()).cast(pa.date32()),
        "l_commitdate": pa.array((ship + dice.integers(-60, 60, rows)).astype("int32"), pa.int32()).cast(pa.date32()),
        "l_receiptdate": pa.array((ship + dice.integers(1, 31, rows)).astype("int32"), pa.int32()).cast(pa.date32()),
        "l_shipinstruct": pa.array(np.array(INSTRUCTIONS)[dice.integers(0, 4, rows)].tolist(), pa.string()),
        "l_shipmode": pa.array(np.array(MODES)[dice.integers(0, 7, rows)].tolist(), pa.string()),
        "l_comment": pa.array(comments(dice, rows), pa.string()),
    })


def write_pyarrow(table, path):
    import pyarrow.parquet as pq
    pq.write_table(table, path, compression="zstd")


def write_duckdb(table, path):
    import duckdb
    connection = duckdb.connect()
    connection.register("input", table)
    connection.execute(f"COPY input TO '{path}' (FORMAT parquet, COMPRESSION zstd)")


WRITERS = {"pyarrow": write_pyarrow, "duckdb": write_duckdb}


def make_table(folder, writer, files, rows, properties):
    """folder/catalog.db with table bench.lineitem over files of the writer, added in place."""
    from pyiceberg.catalog.sql import SqlCatalog
    done = os.path.join(folder, f"done-{files}-{rows}")
    if os.path.exists(done):
        return
    shutil.rmtree(folder, ignore_errors=True)
    data = os.path.join(folder, "warehouse", "bench", "lineitem", "data")
    os.makedirs(data)
    paths = []
    for i in range(files):
        paths.append(os.path.join(data, f"input-{i:05d}.parquet"))
        WRITERS[writer](batch(i, rows), paths[-1])
    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"{folder}/warehouse")
    catalog.create_namespace("bench")
    table = catalog.create_table("bench.lineitem", schema=batch(0, 1).schema, properties=properties,
                                 location=os.path.join(folder, "warehouse", "bench", "lineitem"))
    for start in range(0, files, 50):
        table.add_files(paths[start:start + 50])
    open(done, "w").close()
