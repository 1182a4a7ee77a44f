"""
compact.py FIRN: 200 files × 30,000 rows become one table of well-sized files, by firn and by DuckDB's decode and encode, and `cat` + `sync` as
the floor. Runs are interleaved; figures are medians and ratios of one run of this script. See README.md.
"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time

import lineitem

FIRN = sys.argv[1]
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "5"))
FOLDER = os.environ["BENCH_DIR"]
TARGET = 512 << 20
HERE = os.path.dirname(os.path.abspath(__file__))
problems = []


def shape():
    """Files and rows in each: whole files at full scale and above, smaller ones below."""
    if SCALE >= 1:
        return int(200 * SCALE), 30000
    files = max(10, int(200 * SCALE ** 0.5))
    return files, max(100, int(200 * 30000 * SCALE / files))


def watch_peak(pid, peak):
    """Keeps VmHWM of a process, MB, in peak[0]. (Its ru_maxrss would begin with what this Python holds.)"""
    try:
        while True:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                for line in file:
                    if line.startswith("VmHWM:"):
                        peak[0] = max(peak[0], int(line.split()[1]) / 1024)
            time.sleep(0.005)
    except OSError:
        return


def measured(command, **options):
    """(wall seconds, CPU seconds, peak resident MB, standard output) of a whole process."""
    peak = [0.0]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    watcher = threading.Thread(target=watch_peak, args=(process.pid, peak), daemon=True)
    watcher.start()
    out = process.stdout.read()
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {err.decode(errors='replace')[-2000:]}")
    return wall, usage.ru_utime + usage.ru_stime, peak[0], out


def inputs(folder):
    data = os.path.join(folder, "warehouse", "bench", "lineitem", "data")
    return sorted(os.path.join(data, n) for n in os.listdir(data) if n.startswith("input-"))


def restore(folder, keep):
    """The table as it was made: the catalog's file back, new files gone."""
    shutil.copyfile(os.path.join(folder, "catalog.db.before"), os.path.join(folder, "catalog.db"))
    for where, _, names in os.walk(os.path.join(folder, "warehouse")):
        for name in names:
            path = os.path.join(where, name)
            if path not in keep:
                os.remove(path)


def run_firn(folder):
    environment = dict(os.environ, FIRN_STATE_DIR=os.path.join(FOLDER, "state"))
    wall, cpu, peak, out = measured(
        [FIRN, "compact", "bench.lineitem", "--catalog", os.path.join(folder, "catalog.db"), "--yes", "--json",
         "--threads", "2"], env=environment)
    return wall, cpu, peak, json.loads(out)


DUCKDB = """
import duckdb, json, resource, sys, time
files, out, rows = json.load(open(sys.argv[1])), sys.argv[2], int(sys.argv[3])
connection = duckdb.connect(config={"threads": 2, "preserve_insertion_order": True})
connection.execute("SELECT 1").fetchall()
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
start, used = time.monotonic(), cpu()
connection.execute(f"COPY (SELECT * FROM read_parquet($files)) TO '{out}' "
                   f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {rows})", {"files": files})
import os
handle = os.open(out, os.O_RDONLY); os.fsync(handle)
print(json.dumps({"wall": time.monotonic() - start, "cpu": cpu() - used}))
"""


def run_duckdb(files, out, rows):
    listing = os.path.join(FOLDER, "files.json")
    with open(listing, "w", encoding="utf-8") as file:
        json.dump(files, file)
    _, _, peak, output = measured([sys.executable, "-c", DUCKDB, listing, out, str(rows)])
    done = json.loads(output.splitlines()[-1])
    return done["wall"], done["cpu"], peak


def run_cat(files, out):
    listing = os.path.join(FOLDER, "files.list")
    with open(listing, "w", encoding="utf-8") as file:
        file.write("\0".join(files) + "\0")
    wall, cpu, peak, _ = measured(
        ["sh", "-c", 'xargs -0 cat < "$1" > "$2" && sync "$2"', "sh", listing, out])
    return wall, cpu, peak


def outputs(folder, keep):
    data = os.path.join(folder, "warehouse", "bench", "lineitem", "data")
    return sorted(os.path.join(d, n) for d, _, names in os.walk(data) for n in names
                  if os.path.join(d, n) not in keep)


def fingerprint(files):
    import duckdb
    connection = duckdb.connect(config={"threads": 2})
    columns = [row[0] for row in connection.execute("DESCRIBE SELECT * FROM read_parquet($f)", {"f": files}).fetchall()]
    hashes = ", ".join(f"sum(hash({c})::HUGEINT)" for c in columns)
    return connection.execute(
        f"SELECT count(*), sum(hash({', '.join(columns)})::HUGEINT), {hashes} FROM read_parquet($f)", {"f": files}).fetchall()


QUERIES = {
    "scan": "SELECT max(l_orderkey), max(l_partkey), max(l_suppkey), max(l_linenumber), max(l_quantity),"
            " max(l_extendedprice), max(l_discount), max(l_tax), max(l_returnflag), max(l_linestatus), max(l_shipdate),"
            " max(l_commitdate), max(l_receiptdate), max(l_shipinstruct), max(l_shipmode), max(l_comment) FROM {0}",
    "filter": "SELECT sum(l_extendedprice * l_discount) FROM {0} WHERE l_shipdate BETWEEN '1994-01-01' AND '1994-12-31'"
              " AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    "group": "SELECT l_returnflag, l_shipmode, count(*), avg(l_quantity) FROM {0} GROUP BY ALL",
}


def read_times(files_of):
    """Minimum of ten, interleaved, of each query on each set of files; seconds."""
    import duckdb
    connection = duckdb.connect(config={"threads": 2})
    best = {}
    for _ in range(10):
        for query, text in QUERIES.items():
            for name, files in files_of.items():
                start = time.monotonic()
                connection.execute(text.format(f"read_parquet({files!r})")).fetchall()
                took = time.monotonic() - start
                best[name, query] = min(best.get((name, query), took), took)
    return best


def row_groups(files):
    import pyarrow.parquet as pq
    counts = [g for f in files for m in [pq.ParquetFile(f).metadata] for g in
              [m.row_group(i).num_rows for i in range(m.num_row_groups)]]
    return len(counts), sum(counts) / max(1, len(counts))


def bench(writer):
    files, rows = shape()
    folder = os.path.join(FOLDER, writer)
    lineitem.make_table(folder, writer, files, rows, {"write.parquet.compression-codec": "zstd"})
    database = os.path.join(folder, "catalog.db")
    if not os.path.exists(database + ".before"):
        shutil.copyfile(database, database + ".before")
    paths = inputs(folder)
    keep_file = os.path.join(folder, "keep.json")
    if not os.path.exists(keep_file):
        everything = [os.path.join(d, n) for d, _, names in os.walk(os.path.join(folder, "warehouse")) for n in names]
        with open(keep_file, "w", encoding="utf-8") as file:
            json.dump(everything, file)
    keep = set(json.load(open(keep_file, encoding="utf-8")))
    bytes_in = sum(os.path.getsize(p) for p in paths)
    out = os.path.join(FOLDER, "duckdb-out.parquet")
    cat = os.path.join(FOLDER, "cat-out")
    runs = {"firn": [], "duckdb": [], "cat": []}
    group_rows = None
    for _ in range(PAIRS):
        restore(folder, keep)
        runs["firn"].append(run_firn(folder))
        written = outputs(folder, keep)
        if group_rows is None:
            group_rows = max(2048, int(row_groups(written)[1]))
        runs["duckdb"].append(run_duckdb(paths, out, group_rows))
        runs["cat"].append(run_cat(paths, cat))
        os.remove(cat)
    report(writer, files, rows, bytes_in, runs, written, out, paths)


def median(values, index):
    return statistics.median(v[index] for v in values)


def report(writer, files, rows, bytes_in, runs, written, duckdb_out, paths):
    bytes_out = sum(os.path.getsize(p) for p in written)
    groups, group_rows = row_groups(written)
    wall = {k: median(v, 0) for k, v in runs.items()}
    cpu = {k: median(v, 1) for k, v in runs.items()}
    peak = {k: max(r[2] for r in v) for k, v in runs.items()}
    result = runs["firn"][-1][3]["result"]
    print(f"\n{files} files × {rows} rows, zstd, by {writer}: {bytes_in / 1e6:.1f} MB -> {bytes_out / 1e6:.1f} MB"
          f" in {len(written)} files (DuckDB {os.path.getsize(duckdb_out) / 1e6:.1f} MB)")
    print(f"  wall: DuckDB / firn {wall['duckdb'] / wall['firn']:.2f}   firn / (cat + sync) {wall['firn'] / wall['cat']:.2f}"
          f"   (firn {wall['firn']:.3f} s)")
    print(f"  CPU:  DuckDB / firn {cpu['duckdb'] / cpu['firn']:.2f}   firn / (cat + sync) {cpu['firn'] / cpu['cat']:.2f}")
    print(f"  peak memory: firn {peak['firn']:.0f} MB, DuckDB {peak['duckdb']:.0f} MB (with its Python)")
    print(f"  row groups out: {groups}, {group_rows:.0f} rows each; bytes copied {result['bytes_copied'] / 1e6:.1f} MB,"
          f" encoded {result['bytes_encoded'] / 1e6:.1f} MB")
    counters = runs["firn"][-1][3].get("storage", {})
    if counters:
        print(f"  reads {counters.get('reads')}, bytes read {counters.get('bytes_read', 0) / 1e6:.1f} MB,"
              f" bytes written {counters.get('bytes_written', 0) / 1e6:.1f} MB")
    if fingerprint(paths) != fingerprint(written):
        problems.append(f"{writer}: firn's rows differ from the input's")
    if fingerprint(paths) != fingerprint([duckdb_out]):
        problems.append(f"{writer}: DuckDB's rows differ from the input's")
    best = read_times({"firn": written, "duckdb": [duckdb_out], "input": paths})
    for query in QUERIES:
        print(f"  reading, {query}: firn's output / DuckDB's output {best['firn', query] / best['duckdb', query]:.2f},"
              f" firn's output / input {best['firn', query] / best['input', query]:.2f}")


resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
for name in ("pyarrow", "duckdb"):
    bench(name)
for problem in problems:
    print("PROBLEM:", problem)
sys.exit(1 if problems else 0)
