"""
compact.py FIRN [NAME …]: each workload of workloads.py becomes a table of well-sized files, by firn and by DuckDB's decode and encode, with `cat` +
`sync` as the floor. Runs are interleaved; figures are medians and ratios of one run of this script. See README.md.
"""
import json
import os
import resource
import shutil
import statistics
import sys
import time

import workloads
from measure import measured

FIRN = sys.argv[1]
ONLY = sys.argv[2:]
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "5"))
FOLDER = os.environ["BENCH_DIR"]
CONCAT = os.environ.get("FIRN_PARQUET_CONCAT")
problems = []


def inputs(folder):
    data = os.path.join(folder, "warehouse", "bench", "t", "data")
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
        [FIRN, "compact", "bench.t", "--catalog", os.path.join(folder, "catalog.db"), "--yes", "--json",
         "--threads", "2", "--memory", "64MB"], env=environment)
    return wall, cpu, peak, json.loads(out)


DUCKDB = """
import duckdb, json, os, resource, sys, time
files, out, rows, partition = json.load(open(sys.argv[1])), sys.argv[2], int(sys.argv[3]), sys.argv[4]
compression, condition = sys.argv[5], sys.argv[6]
connection = duckdb.connect(config={"threads": 2, "preserve_insertion_order": True})
connection.execute("SELECT 1").fetchall()
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
start, used = time.monotonic(), cpu()
by = f", PARTITION_BY ({partition}), WRITE_PARTITION_COLUMNS true" if partition else ""
source = "SELECT * FROM read_parquet($files)"
if condition:
    source = ("SELECT * EXCLUDE (filename, file_row_number) FROM read_parquet($files, filename = true, file_row_number = true) "
              f"WHERE {condition}")
connection.execute(f"COPY ({source}) TO '{out}' "
                   f"(FORMAT parquet, COMPRESSION {compression}, ROW_GROUP_SIZE {rows}{by})", {"files": files})
written = [os.path.join(d, n) for d, _, names in os.walk(out) for n in names] if partition else [out]
for path in written:
    handle = os.open(path, os.O_RDONLY); os.fsync(handle); os.close(handle)
print(json.dumps({"wall": time.monotonic() - start, "cpu": cpu() - used}))
"""


def run_duckdb(workload, files, out, rows, condition):
    listing = os.path.join(FOLDER, "files.json")
    with open(listing, "w", encoding="utf-8") as file:
        json.dump(files, file)
    if os.path.isdir(out):
        shutil.rmtree(out)
    elif os.path.exists(out):
        os.remove(out)
    codec = workload.properties["write.parquet.compression-codec"]
    _, _, peak, output = measured([sys.executable, "-c", DUCKDB, listing, out, str(rows),
                                   workload.partition_column or "", codec, condition])
    done = json.loads(output.splitlines()[-1])
    return done["wall"], done["cpu"], peak


def run_cat(files, out):
    listing = os.path.join(FOLDER, "files.list")
    with open(listing, "w", encoding="utf-8") as file:
        file.write("\0".join(files) + "\0")
    wall, cpu, peak, _ = measured(
        ["sh", "-c", 'xargs -0 cat < "$1" > "$2" && sync "$2"', "sh", listing, out])
    os.remove(out)
    return wall, cpu, peak


def run_concat(files, out):
    """parquet-rs's tool: whole row groups, as small as they were, behind one footer."""
    return measured([CONCAT, out, *files])[:3]


def files_below(folder, keep=()):
    if os.path.isfile(folder):
        return [folder]
    return sorted(os.path.join(d, n) for d, _, names in os.walk(folder) for n in names
                  if os.path.join(d, n) not in keep)


def fingerprint(files, deletes=()):
    """Count and sums of hashes of the files' rows, but for those that position delete files name."""
    import duckdb
    connection = duckdb.connect(config={"threads": 2})
    source = "read_parquet($f, hive_partitioning = false)"
    if deletes:
        source = ("(SELECT * EXCLUDE (filename, file_row_number) FROM read_parquet($f, filename = true, file_row_number = true) r "
                  f"ANTI JOIN read_parquet({list(deletes)!r}) d ON r.filename = d.file_path AND r.file_row_number = d.pos)")
    columns = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {source}", {"f": files}).fetchall()]
    hashes = ", ".join(f"sum(hash({c})::HUGEINT)" for c in columns)
    return connection.execute(f"SELECT count(*), sum(hash({', '.join(columns)})::HUGEINT), {hashes} FROM {source}",
                              {"f": files}).fetchall()


def read_times(queries, files_of):
    """Minimum of ten, interleaved, of each query on each set of files; seconds."""
    import duckdb
    connection = duckdb.connect(config={"threads": 2})
    best = {}
    for _ in range(10):
        for query, text in queries.items():
            for name, files in files_of.items():
                start = time.monotonic()
                connection.execute(text.format(f"read_parquet({files!r}, hive_partitioning = false)")).fetchall()
                took = time.monotonic() - start
                best[name, query] = min(best.get((name, query), took), took)
    return best


def row_groups(files):
    import pyarrow.parquet as pq
    counts = [g for f in files for m in [pq.ParquetFile(f).metadata] for g in
              [m.row_group(i).num_rows for i in range(m.num_row_groups)]]
    return len(counts), sum(counts) / max(1, len(counts))


def median(values, index):
    return statistics.median(v[index] for v in values)


def bench(workload):
    files, rows = workloads.shape(workload, SCALE)
    folder = os.path.join(FOLDER, workload.name.replace(", ", "-").replace(",", "").replace(" ", "-"))
    workloads.make_table(folder, workload, files, rows)
    database = os.path.join(folder, "catalog.db")
    if not os.path.exists(database + ".before"):
        shutil.copyfile(database, database + ".before")
        with open(os.path.join(folder, "keep.json"), "w", encoding="utf-8") as file:
            json.dump(files_below(os.path.join(folder, "warehouse")), file)
    keep = set(json.load(open(os.path.join(folder, "keep.json"), encoding="utf-8")))
    paths = inputs(folder)
    condition = workload.dropped(files, paths, rows)[1] if workload.dropped else ""
    out = {name: os.path.join(FOLDER, name + "-out") for name in ("duckdb", "cat", "concat")}
    runs = {"firn": [], "duckdb": [], "cat": []}
    group_rows = None
    for _ in range(PAIRS):
        restore(folder, keep)
        runs["firn"].append(run_firn(folder))
        written = files_below(os.path.join(folder, "warehouse", "bench", "t", "data"), keep)
        if group_rows is None:
            group_rows = max(2048, int(row_groups(written)[1]))
        runs["duckdb"].append(run_duckdb(workload, paths, out["duckdb"], group_rows, condition))
        runs["cat"].append(run_cat(paths, out["cat"]))
    results = {"firn": written, "duckdb": files_below(out["duckdb"])}
    if CONCAT and workload.name in ("PyArrow, zstd", "1,000 small, PyArrow"):
        runs["concat"] = [run_concat(paths, out["concat"])]
        results["concat"] = [out["concat"]]
    report(workload, files, rows, paths, runs, results)
    restore(folder, keep)


def report(workload, files, rows, paths, runs, results):
    size = {k: sum(os.path.getsize(p) for p in v) for k, v in {**results, "input": paths}.items()}
    groups, group_rows = row_groups(results["firn"])
    wall = {k: median(v, 0) for k, v in runs.items()}
    cpu = {k: median(v, 1) for k, v in runs.items()}
    peak = {k: max(r[2] for r in v) for k, v in runs.items()}
    document = runs["firn"][-1][3]
    result = document["result"]
    print(f"\n{workload.name}: {files} files × {rows} rows, {size['input'] / 1e6:.1f} MB -> {size['firn'] / 1e6:.1f} MB in"
          f" {len(results['firn'])} files (DuckDB {size['duckdb'] / 1e6:.1f} MB); {groups} row groups of {group_rows:.0f} rows")
    print(f"  wall: DuckDB / firn {wall['duckdb'] / wall['firn']:.2f} (asked {workload.asked:g})   firn / (cat + sync)"
          f" {wall['firn'] / wall['cat']:.2f}   (firn {wall['firn']:.3f} s)   CPU: {cpu['duckdb'] / cpu['firn']:.2f},"
          f" {cpu['firn'] / cpu['cat']:.2f}")
    print(f"  peak memory: firn {peak['firn']:.0f} MB (asked {workload.peak_asked:g}), DuckDB {peak['duckdb']:.0f} MB (with its Python)"
          f"   size: firn / input {size['firn'] / size['input']:.3f}")
    print(f"  bytes copied {result['bytes_copied'] / 1e6:.1f} MB, encoded {result['bytes_encoded'] / 1e6:.1f} MB"
          + "".join(f"; {k.replace('_', ' ')} {v / 1e6:.1f} MB" if "bytes" in k else f"; {k} {v}"
                    for k, v in document.get("storage", {}).items() if k in ("reads", "bytes_read", "bytes_written")))
    data = os.path.dirname(paths[0])
    wanted = fingerprint(paths, [os.path.join(data, n) for n in sorted(os.listdir(data)) if n.startswith("delete-")])
    for name, written in results.items():
        if fingerprint(written) != wanted:
            problems.append(f"{workload.name}: the rows of {name} differ from the input's")
    best = read_times(workload.queries, {**results, "input": paths})
    for name in results:
        if name == "duckdb":
            continue
        print(f"  reading {name}'s output / DuckDB's (/ input): " + ", ".join(
            f"{q} {best[name, q] / best['duckdb', q]:.2f} ({best[name, q] / best['input', q]:.2f})" for q in workload.queries))
    if "concat" in runs:
        print(f"  parquet-concat: wall / firn {wall['concat'] / wall['firn']:.2f}, peak {peak['concat']:.0f} MB")


def main():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, limit), limit))
    for workload in workloads.WORKLOADS:
        if ONLY and workload.name not in ONLY:
            continue
        if workload.needs_spark and not (os.environ.get("FIRN_SPARK") and os.environ.get("FIRN_TOOLS")):
            if os.environ.get("FIRN_CI") == "1":
                problems.append(f"{workload.name}: FIRN_SPARK and FIRN_TOOLS name no Spark")
            else:
                print(f"\n{workload.name}: left out, FIRN_SPARK and FIRN_TOOLS name no Spark")
            continue
        bench(workload)
    if not CONCAT:
        print("\nparquet-concat: left out, FIRN_PARQUET_CONCAT names no program")
        if os.environ.get("FIRN_CI") == "1":
            problems.append("parquet-concat did not run")
    for problem in problems:
        print("PROBLEM:", problem)
    return 1 if problems else 0


sys.exit(main())
