"""read_with_trino.py FOLDER URL: what test_rewrite_readers left in FOLDER (FIRN_KEEP_CASES=FOLDER, FIRN_CASES_FOR=spark), read by Trino. Each out.parquet must
hold the rows of expected.parquet, which PyArrow wrote: both become Iceberg tables in place (add_files), and count and checksums of every column are compared.

By hand, with a Trino whose catalog `lake` has connector.name=iceberg, iceberg.catalog.type=TESTING_FILE_METASTORE,
hive.metastore.catalog.dir=local:///metastore, fs.native-local.enabled=true, local.location=FOLDER, iceberg.add-files-procedure.enabled=true."""
import glob
import json
import os
import shutil
import sys
import time
import urllib.request

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER, URL = sys.argv[1], sys.argv[2]


def ask(request):
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def run(statement):
    """Rows of a statement, by Trino's client protocol."""
    answer = ask(urllib.request.Request(URL + "/v1/statement", data=statement.encode(), headers={
        "X-Trino-User": "firn", "X-Trino-Catalog": "lake", "X-Trino-Schema": "cases"}))
    rows = []
    while True:
        if "error" in answer:
            raise RuntimeError(f"{statement[:200]}: {answer['error']['message'][:500]}")
        rows += answer.get("data", [])
        if "nextUri" not in answer:
            return rows
        time.sleep(0.02)
        answer = ask(answer["nextUri"])


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


def summary(case, which, columns):
    data = os.path.join(FOLDER, case, which)
    os.makedirs(data, exist_ok=True)
    shutil.copy(os.path.join(FOLDER, case, which + ".parquet"), os.path.join(data, "data.parquet"))
    name = f'"{which}_{case}"'
    run(f"DROP TABLE IF EXISTS {name}")
    run(f"CREATE TABLE {name} (" + ", ".join(f'"{c}" {t}' for c, t in columns) + ")")
    run(f"ALTER TABLE {name} EXECUTE add_files(location => 'local:///{case}/{which}', format => 'PARQUET')")
    return run("SELECT count(*), " + ", ".join(f'to_hex(checksum("{c}"))' for c, _ in columns) + f" FROM {name}")


def main():
    run("CREATE SCHEMA IF NOT EXISTS cases")
    read = left_out = wrong = 0
    for folder in sorted(glob.glob(os.path.join(FOLDER, "[0-9]*"))):
        case = os.path.basename(folder)
        schema = pq.ParquetFile(os.path.join(folder, "expected.parquet")).schema_arrow
        columns = [(f.name, sql_type(f.type)) for f in schema]
        left_out += sum(t is None for _, t in columns)
        columns = [(c, t) for c, t in columns if t is not None]
        try:
            expected = summary(case, "expected", columns)
        except RuntimeError as problem:
            print("left out", case, problem)
            left_out += len(columns)
            continue
        found = summary(case, "out", columns)
        read += len(columns)
        if found != expected:
            wrong += 1
            print("WRONG", case, [c for i, (c, _) in enumerate(columns) if found[0][i + 1] != expected[0][i + 1]] or "count")
    print(f"{read} columns read, {left_out} left out, {wrong} files wrong")
    sys.exit(1 if wrong or not read else 0)


main()
