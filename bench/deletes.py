"""
deletes.py FIRN [NAME …]: tables with deletes (delete_tables.py) are compacted by firn and by its peers, and no row may differ:

  upserts     rows in 20 files; ten commits that each delete keys by equality and insert half of them again: iceberg-compaction, Spark
  scattered   50 files, 5 % of whose rows are deleted by position: DuckDB (iceberg_scan, then COPY), iceberg-compaction
  keys        very many keys deleted by equality, under --memory 256MB: the peak

Runs are interleaved; figures are medians and ratios of one run of this script. Peers are timed without their start-up, firn with it.
"""
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys

import delete_tables
import rest_catalog
from measure import measured

FIRN = sys.argv[1]
ONLY = sys.argv[2:]
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "5"))
FOLDER = os.environ["BENCH_DIR"]
PEER = os.environ.get("FIRN_ICEBERG_COMPACTION")  # a Python that has the package
MEMORY_MB, PEAK_ASKED_MB = 256, 320
problems = []


def metadata_of(folder):
    row = sqlite3.connect(os.path.join(folder, "catalog.db")).execute(
        "SELECT metadata_location FROM iceberg_tables").fetchone()
    return row[0].removeprefix("file://")


def files_below(folder):
    return {os.path.join(d, n) for d, _, names in os.walk(folder) for n in names}


class Case:
    """A table as it was made, which every run begins with."""

    def __init__(self, name, make, asked):
        self.name, self.make, self.asked = name, make, asked
        self.folder = os.path.join(FOLDER, "deletes-" + name)

    def prepare(self):
        done = os.path.join(self.folder, f"done-{SCALE:g}")
        if not os.path.exists(done):
            self.make(self.folder)
            shutil.copyfile(os.path.join(self.folder, "catalog.db"), os.path.join(self.folder, "catalog.db.before"))
            with open(done, "w", encoding="utf-8") as file:
                json.dump(sorted(files_below(os.path.join(self.folder, "warehouse"))), file)
        self.keep = set(json.load(open(done, encoding="utf-8")))
        self.wanted = delete_tables.live_rows(self.folder, self.name)

    def restore(self):
        shutil.copyfile(os.path.join(self.folder, "catalog.db.before"), os.path.join(self.folder, "catalog.db"))
        for path in files_below(os.path.join(self.folder, "warehouse")) - self.keep:
            os.remove(path)

    def check(self, peer, metadata=None, files=None):
        """All rows that are wanted, and no other, are in the live data files; firn leaves no delete file, peers may leave them without effect."""
        if metadata is not None:
            from pyiceberg.table import StaticTable
            table = StaticTable.from_metadata(metadata)
            paths = table.inspect.data_files()["file_path"].to_pylist()
            files = [p.removeprefix("file://").removeprefix("file:") for p in paths]
            if peer == "firn" and len(table.inspect.delete_files()) > 0:
                problems.append(f"{self.name}: firn left delete files")
        import duckdb
        found = duckdb.sql(delete_tables.FINGERPRINT.format(f"read_parquet({files!r})")).fetchall()
        if found != self.wanted:
            problems.append(f"{self.name}: the rows of {peer} differ: {found} against {self.wanted}")


def run_firn(case, *options):
    case.restore()
    environment = dict(os.environ, FIRN_STATE_DIR=os.path.join(FOLDER, "state"))
    wall, cpu, peak, _ = measured(
        [FIRN, "compact", f"bench.{case.name}", "--catalog", os.path.join(case.folder, "catalog.db"), "--yes", "--json",
         "--threads", "2", "--rewrite-all", *options], env=environment)
    case.check("firn", metadata_of(case.folder))
    return wall, cpu, peak


COMPACTION = """
import json, resource, sys, time
import iceberg_compaction as peer
catalog = peer.RestCatalog("bench", uri=sys.argv[1], warehouse=sys.argv[2])
config = peer.CompactionConfig(strategy="full", max_input_parallelism=2, max_output_parallelism=2)
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
start, used = time.monotonic(), cpu()
peer.Compaction(catalog, sys.argv[3], config).run()
print(json.dumps({"wall": time.monotonic() - start, "cpu": cpu() - used}))
"""


def run_compaction(case):
    case.restore()
    with rest_catalog.serve(case.name, metadata_of(case.folder)) as (uri, table):
        _, _, peak, out = measured([PEER, "-c", COMPACTION, uri, os.path.join(case.folder, "warehouse"), f"bench.{case.name}"])
        done = json.loads(out.splitlines()[-1])
        case.check("iceberg-compaction", table.location)
    return done["wall"], done["cpu"], peak


DUCKDB = """
import glob, importlib, json, os, resource, sys, time
import duckdb
connection = duckdb.connect(config={"threads": 2, "allow_unsigned_extensions": "true"})
for name in ("httpfs", "avro", "iceberg"):
    package = importlib.import_module(f"duckdb_extension_{name}")
    pattern = os.path.join(os.path.dirname(package.__file__), "**", f"{name}.duckdb_extension*")
    connection.execute(f"LOAD '{glob.glob(pattern, recursive=True)[0]}'")
connection.execute("SELECT 1").fetchall()
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
start, used = time.monotonic(), cpu()
connection.execute(f"COPY (SELECT * FROM iceberg_scan('{sys.argv[1]}')) TO '{sys.argv[2]}' (FORMAT parquet, COMPRESSION zstd)")
handle = os.open(sys.argv[2], os.O_RDONLY); os.fsync(handle); os.close(handle)
print(json.dumps({"wall": time.monotonic() - start, "cpu": cpu() - used}))
"""


def run_duckdb(case):
    case.restore()
    out = os.path.join(FOLDER, "duckdb-out.parquet")
    _, _, peak, output = measured([sys.executable, "-c", DUCKDB, metadata_of(case.folder), out])
    done = json.loads(output.splitlines()[-1])
    case.check("DuckDB", files=[out])
    os.remove(out)
    return done["wall"], done["cpu"], peak


SPARK = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import spark_session
spark = spark_session.start(sys.argv[2], memory="4g")
name = "bench." + sys.argv[4]
spark.sql("CREATE NAMESPACE IF NOT EXISTS tmp.bench")
spark.sql(f"CALL tmp.system.register_table(table => '{name}', metadata_file => '{sys.argv[3]}')").collect()
start = time.monotonic()
spark.sql(f"CALL tmp.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true',"
          " 'remove-dangling-deletes', 'true', 'use-starting-sequence-number', 'false'))").collect()
wall = time.monotonic() - start
location = spark_session.java_table(spark, "tmp." + name).operations().current().metadataFileLocation()
pid = spark._sc._gateway.proc.pid
peak = [int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")][0]
print(json.dumps({"wall": wall, "peak": peak / 1024, "metadata": location}))
"""


def run_spark(case):
    case.restore()
    folder = os.environ["FIRN_SPARK"]
    tools = os.path.join(os.environ["FIRN_TOOLS"], "spark")
    done = subprocess.run([os.path.join(folder, "venv", "bin", "python"), "-c", SPARK, tools, folder, metadata_of(case.folder),
                           case.name], text=True, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"Spark failed: {done.stderr[-2000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    case.check("Spark", result["metadata"].removeprefix("file:"))
    return result["wall"], None, result["peak"]


def compare(case, peers, once=()):
    case.prepare()
    runs = {"firn": []}
    for _ in range(PAIRS):
        runs["firn"].append(run_firn(case))
        for name, run in peers.items():
            runs.setdefault(name, []).append(run(case))
    for name, run in dict(once).items():
        runs[name] = [run(case)]
    case.restore()
    wall = {k: statistics.median(r[0] for r in v) for k, v in runs.items()}
    print(f"\n{case.name}: {case.wanted[0][0]:,} rows left; firn {wall['firn']:.3f} s,"
          f" peak {max(r[2] for r in runs['firn']):.0f} MB")
    for name in runs:
        if name == "firn":
            continue
        cpu = "" if runs[name][0][1] is None else (
            f"   CPU {statistics.median(r[1] for r in runs[name]) / statistics.median(r[1] for r in runs['firn']):.2f}")
        asked = f" (asked {case.asked[name]:g})" if name in case.asked else ""
        print(f"  wall: {name} / firn {wall[name] / wall['firn']:.2f}{asked}{cpu}   peak {max(r[2] for r in runs[name]):.0f} MB")


def check_peak(case):
    case.prepare()
    wall, cpu, peak = run_firn(case, "--memory", f"{MEMORY_MB}MB")
    case.restore()
    print(f"\n{case.name}: {case.wanted[0][0]:,} rows left; firn --memory {MEMORY_MB}MB: {wall:.2f} s, CPU {cpu:.2f} s, peak"
          f" {peak:.0f} MB (asked below {PEAK_ASKED_MB})")
    if peak >= PEAK_ASKED_MB:
        problems.append(f"{case.name}: a peak of {peak:.0f} MB under --memory {MEMORY_MB}MB")


def scaled(number, least):
    return max(least, int(number * SCALE))


def left_out(what, variables):
    print(f"\n{what}: left out, {variables}")
    if os.environ.get("FIRN_CI") == "1":
        problems.append(f"{what} did not run")


def main():
    compaction = {"iceberg-compaction": run_compaction} if PEER else {}
    has_spark = os.environ.get("FIRN_SPARK") and os.environ.get("FIRN_TOOLS")
    spark = {"Spark": run_spark} if has_spark else {}
    if not PEER:
        left_out("iceberg-compaction", "FIRN_ICEBERG_COMPACTION names no Python that has it")
    if not has_spark:
        left_out("Spark", "FIRN_SPARK and FIRN_TOOLS name none")
    upserts = Case("upserts", lambda f: delete_tables.upserts(f, scaled(1000000, 20000), 10, scaled(10000, 200)),
                   {"iceberg-compaction": 3})
    scattered = Case("scattered", lambda f: delete_tables.scattered(f, 50, scaled(100000, 2000), 0.05), {})
    keys = Case("keys", lambda f: delete_tables.many_keys(f, scaled(10000000, 200000)), {})
    if not ONLY or "upserts" in ONLY:
        compare(upserts, compaction, spark)
    if not ONLY or "scattered" in ONLY:
        compare(scattered, {"DuckDB": run_duckdb, **compaction})
    if not ONLY or "keys" in ONLY:
        check_peak(keys)
    for problem in problems:
        print("PROBLEM:", problem)
    return 1 if problems else 0


sys.exit(main())
