"""firn scan prints the live rows of every table of the corpus, as the corpus expects them or as outside readers see them.

Tables of corpus/spark have their expected rows, for each ref. Those of corpus/tables are read by DuckDB, PyIceberg and (where
FIRN_SPARK names its folder) Java, each as far as it can; all that can must agree with firn.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

import kit

# Refused by design.
SPARK_REFUSED = {"orc_files": "ORC"}
# A snapshot id above what a signed 64-bit number holds.
OUTSIDE_REFUSED = {"equality_delete_extra_column/warehouse/ns/t": "64 bits"}


def scan(arguments, *more, cwd=None):
    done = kit.firn("scan", *arguments, "--format", "json", *more, cwd=cwd)
    return sorted(done.stdout.splitlines(), key=lambda line: line.encode())


def refused(arguments, word, cwd=None):
    done = kit.firn("scan", *arguments, cwd=cwd, expect=(1, 3))
    kit.check(word in done.stderr, f"refused without naming {word}: {done.stderr}")


def content_hash(lines):
    """The sum of half of each row's SHA-256, without the columns of row lineage."""
    total = sum(int.from_bytes(hashlib.sha256(line.encode()).digest()[:16], "big")
                for line in kit.rows.drop_lineage(lines))
    return f"{total % 2**128:032x}"


def spark_table(name):
    folder, about = kit.unpack(name)
    arguments = kit.fixture_argument(folder, about)
    if name in SPARK_REFUSED:
        refused(arguments, SPARK_REFUSED[name])
        return
    kit.same_rows(scan(arguments), kit.expected(name), name)
    document = kit.firn_json("describe", *arguments, "--content-hash")
    kit.check(document["content_hash"] == content_hash(kit.expected(name)), f"{name}: another content hash")
    prefix, suffix = name + ".expect.", ".jsonl"
    for file in sorted(os.listdir(os.path.join(kit.CORPUS, "spark"))):
        if not file.startswith(prefix) or file == name + ".expect.jsonl":
            continue
        ref = file[len(prefix):-len(suffix)]
        kit.same_rows(scan(arguments, "--ref", ref), kit.expected(name, ref), f"{name} at {ref}")


def prepare():
    """A copy of corpus/tables where the recorded paths (data/persistent/…) lead to it."""
    work = tempfile.mkdtemp(prefix="firn-tables-")
    shutil.copytree(os.path.join(kit.CORPUS, "tables"), os.path.join(work, "data", "persistent"))
    return work


def outside_tables(work):
    root = os.path.join(work, "data", "persistent")
    for folder, names, _ in sorted(os.walk(root)):
        if "metadata" in names:
            name = os.path.relpath(folder, root)
            yield name, folder, os.path.join(root, "iceberg") if name.startswith("iceberg/") else work


def metadata_of(folder):
    """The metadata file's name that a version hint means, else the last one."""
    names = sorted(os.listdir(os.path.join(folder, "metadata")))
    hint = os.path.join(folder, "metadata", "version-hint.text")
    if os.path.exists(hint):
        with open(hint, encoding="utf-8") as file:
            version = file.read().strip()
        return next(name for name in names if name.startswith((f"v{version}.", f"{version}.")))
    return [name for name in names if ".metadata.json" in name][-1]


def read_outside(reader, metadata, cwd):
    """(lines, None) by a reader, or (None, why it could not); in a process of its own, since some readers crash."""
    done = subprocess.run([sys.executable, os.path.join(kit.TOOLS, "rows.py"), "print", os.path.relpath(metadata, cwd),
                           "--reader", reader], cwd=cwd, text=True, capture_output=True, check=False, timeout=300)
    return (done.stdout.splitlines(), None) if done.returncode == 0 else (None, done.stderr.strip()[-200:])


agreed = {}


def outside_table(name, folder, cwd):
    metadata = os.path.join(folder, "metadata", metadata_of(folder))
    if name in OUTSIDE_REFUSED:
        refused([metadata], OUTSIDE_REFUSED[name], cwd)
        return
    found = scan([metadata], cwd=cwd)
    agreed[name] = []
    for reader in ("duckdb", "pyiceberg", "java"):
        if reader == "java" and (agreed[name] or not kit.SPARK):
            continue  # it is slow to start
        lines, problem = read_outside(reader, metadata, cwd)
        if lines is None:
            print(f"   {name}: {reader}: {problem}")
            continue
        lineage = bool(lines) and '"_row_id":' in lines[0]
        kit.same_rows(found if lineage else kit.rows.drop_lineage(found), lines, f"{name} by {reader}")
        agreed[name].append(reader)


def every_table_was_compared():
    lonely = sorted(name for name, readers in agreed.items() if not readers)
    kit.check(not lonely, f"no reader could be compared with: {lonely}")


if __name__ == "__main__":
    work_folder = prepare()
    tests = [(name, spark_table, name) for name in kit.fixtures()]
    tests += [(name, outside_table, name, folder, cwd) for name, folder, cwd in outside_tables(work_folder)]
    if len(sys.argv) == 1:
        tests.append(every_table_was_compared)
    kit.main(tests)
