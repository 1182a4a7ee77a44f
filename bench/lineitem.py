"""Rows like TPC-H's lineitem, 16 columns, made from a seed."""
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

