"""What rewriting makes of pages is read by Trino as it should be: pages joined and moved, of both versions, flat, nullable and nested, and 60
random cases. The cases are those that test_rewrite_spark.py reads (test_rewrite_readers.c makes them, FIRN_REWRITE_READERS names it); each
out.parquet must hold the rows of expected.parquet, which PyArrow wrote. Both become Iceberg tables in place (add_files), and count and checksums of
every column are compared. By hand: README.md has the command. FOLDER as argument: cases kept by hand."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import trino  # noqa: E402

CASES = "60"


def sql_type(kind):
    """Trino's name for an Arrow type; None where Iceberg has none."""
    simple = {pa.bool_(): "boolean", pa.int32(): "integer", pa.int64(): "bigint", pa.float32(): "real", pa.float64(): "double",
              pa.string(): "varchar", pa.binary(): "varbinary", pa.date32(): "date", pa.time64("us"): "time(6)"}
    if kind in simple:
        return simple[kind]
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        return "timestamp(6) with time zone" if kind.tz else "timestamp(6)"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    if pa.types.is_list(kind):
        inner = sql_type(kind.value_type)
        return inner and f"array({inner})"
    if pa.types.is_map(kind):
        inner = [sql_type(kind.key_type), sql_type(kind.item_type)]
        return f"map({inner[0]}, {inner[1]})" if all(inner) else None
    if pa.types.is_struct(kind):
        inner = [(f.name, sql_type(f.type)) for f in kind]
        return "row(" + ", ".join(f'"{n}" {t}' for n, t in inner) + ")" if all(t for _, t in inner) else None
    return None


def summary(folder, which, columns):
    """Count and checksums by Trino, of FOLDER/WHICH.parquet."""
    data = os.path.join(folder, which)
    os.makedirs(data, exist_ok=True)
    shutil.copy(data + ".parquet", os.path.join(data, "data.parquet"))
    name = f'"{which}_{os.path.basename(folder)}"'
    trino.run(f"CREATE TABLE {name} (" + ", ".join(f'"{c}" {t}' for c, t in columns) + ")")
    trino.run(f"ALTER TABLE {name} EXECUTE add_files(location => 'file://{data}', format => 'PARQUET')")
    found = trino.run("SELECT count(*), " + ", ".join(f'to_hex(checksum("{c}"))' for c, _ in columns) + f" FROM {name}")
    trino.run(f"DROP TABLE {name}")
    return found[0]


def check(folder, counts):
    schema = pq.ParquetFile(os.path.join(folder, "expected.parquet")).schema_arrow
    columns = [(f.name, sql_type(f.type)) for f in schema]
    counts["columns left out"] += sum(t is None for _, t in columns)
    columns = [(c, t) for c, t in columns if t is not None]
    try:
        expected = summary(folder, "expected", columns)
    except trino.Refused as problem:
        print("left out", os.path.basename(folder), problem)
        counts["columns left out"] += len(columns)
        return
    found = summary(folder, "out", columns)
    counts["columns read"] += len(columns)
    counts["files right" if found == expected else "files WRONG"] += 1
    if found != expected:
        print("WRONG", folder, [c for i, (c, _) in enumerate(columns) if found[i + 1] != expected[i + 1]] or "count")


def main():
    counts = {"columns read": 0, "columns left out": 0, "files right": 0, "files WRONG": 0}
    with tempfile.TemporaryDirectory() as made, trino.Server("fs.hadoop.enabled=true", f"file://{made}/metastore"):
        folder = sys.argv[1] if sys.argv[1:] else made
        if not sys.argv[1:]:
            settings = os.environ | {"FIRN_KEEP_CASES": made, "FIRN_CASES_FOR": "spark", "FIRN_CASES": CASES}
            subprocess.run([os.environ["FIRN_REWRITE_READERS"]], env=settings, check=True)
        for case in sorted(glob.glob(os.path.join(folder, "*", "case.txt"))):
            check(os.path.dirname(case), counts)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    sys.exit(1 if counts["files WRONG"] or not counts["columns read"] else 0)


main()
