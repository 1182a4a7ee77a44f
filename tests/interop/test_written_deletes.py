"""Delete files that firn writes in the place of others, of every kind, leave the same rows to outside readers."""
import os
import subprocess

import kit

TABLES = """eq_global eq_null_key eq_partitioned eq_with_positions mor_file_granularity mor_partition_granularity
    pos_delete_files dv_many_in_one_puffin dv_replaced dv_spark dangling_deletes""".split()
PROGRAM = os.environ["FIRN_MERGE_DELETES"]


def readers(name):
    """Without equality deletes and Avro every reader can do it; Java is not asked besides Spark."""
    return ["pyiceberg", "duckdb"] + (["spark"] if kit.SPARK else [])


def merge(name):
    folder, _ = kit.unpack(name)
    done = subprocess.run([PROGRAM, folder], text=True, capture_output=True, timeout=300)
    kit.check(done.returncode == 0, f"{name}: {done.stderr}")
    written = [f for base, _, files in os.walk(folder) for f in files if f.endswith(("-deletes.parquet", "-deletes.puffin"))]
    kit.check(done.stdout.strip() == "0" or written, f"{name}: no delete file was written")
    for reader in readers(name):
        found, wanted = kit.read(reader, folder), kit.expected(name)
        if reader == "pyiceberg":  # it has no row lineage
            wanted = sorted(line.split(',"_row_id":')[0] + ("}" if ',"_row_id":' in line else "") for line in wanted)
        kit.same_rows(found, wanted, f"{name} by {reader}")


kit.main([(name, merge, name) for name in TABLES])
