"""
decode.py DECODER: all columns of each writer's files decoded on one thread, by firn and by DuckDB's SELECT max(c1), …; rounds interleaved, minimum of each.
"""
import json
import os
import resource
import subprocess
import sys
import time

import duckdb

import workloads

DECODER = sys.argv[1]
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
FOLDER = os.environ["BENCH_DIR"]
ROUNDS = 5


def main():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, limit), limit))
    connection = duckdb.connect(config={"threads": 1})
    print("\ndecoding all columns on one thread, DuckDB's SELECT max(c1), … / firn:")
    for workload in workloads.WORKLOADS:
        if workload.name not in ("PyArrow, zstd", "Spark, zstd", "DuckDB, zstd", "PyArrow, snappy"):
            continue
        folder = os.path.join(FOLDER, workload.name.replace(", ", "-").replace(" ", "-"))
        if not os.path.isdir(folder):
            continue  # compact.py has said why
        data = os.path.join(folder, "warehouse", "bench", "t", "data")
        files = sorted(os.path.join(data, n) for n in os.listdir(data) if n.startswith("input-"))
        query = workload.queries["scan"].format(f"read_parquet({files!r})")
        mine, theirs = [], []
        for _ in range(ROUNDS):
            done = subprocess.run([DECODER, "1", *files], check=True, stdout=subprocess.PIPE, text=True)
            mine.append(json.loads(done.stdout)["wall"])
            start = time.monotonic()
            connection.execute(query).fetchall()
            theirs.append(time.monotonic() - start)
        print(f"  {workload.name}: {min(theirs) / min(mine):.2f} (asked 1)")
    return 0


sys.exit(main())
