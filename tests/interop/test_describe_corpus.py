"""Every table of the corpus is read by describe and files, or refused by name; the number refused must not grow."""
import json
import os
import shutil
import tempfile

import kit

# big_query_error lies in gs://, which this build does not reach.
ALLOWED_REFUSALS = 1

refused = []


def look(name, arguments, cwd=None, rows=None):
    for verb in ("describe", "files", "snapshots", "refs", "manifests", "history"):
        done = kit.firn(verb, *arguments, "--json", cwd=cwd, expect=(0, 3))
        if done.returncode == 3:
            kit.check("firn:" in done.stderr and len(done.stderr.strip()) > 20,
                      f"{name}: refused without a reason: {done.stderr!r}")
            refused.append((name, verb, done.stderr.strip()))
            continue
        document = json.loads(done.stdout)
        kit.check("schema_version" in document, f"{name}: {verb} has no schema_version")
        if verb == "describe" and rows is not None:
            kit.check(document["data_files"]["rows"] == rows,
                      f"{name}: {document['data_files']['rows']} rows, expected {rows}")
        kit.firn(verb, *arguments, cwd=cwd)


def spark_table(name):
    folder, about = kit.unpack(name)
    deletes = sum(about["delete_files"].values())
    look(name, kit.fixture_argument(folder, about), rows=about["rows"] if not deletes else None)


def prepare():
    """A copy of corpus/tables where the recorded paths (data/persistent/…) lead to it."""
    work = tempfile.mkdtemp(prefix="firn-tables-")
    shutil.copytree(os.path.join(kit.CORPUS, "tables"), os.path.join(work, "data", "persistent"))
    return work


def outside_tables(work):
    """(name, folder, working folder); below tables/iceberg paths begin with ./ and lead from there."""
    root = os.path.join(work, "data", "persistent")
    for folder, names, _ in sorted(os.walk(root)):
        if "metadata" not in names:
            continue
        name = os.path.relpath(folder, root)
        cwd = os.path.join(root, "iceberg") if name.startswith("iceberg/") else work
        yield name, folder, cwd


def outside_table(name, folder, cwd):
    look(name, [folder], cwd=cwd)


def count_refusals():
    tables = sorted({name for name, _, _ in refused})
    for name, verb, reason in refused:
        print(f"  refused: {name}: {verb}: {reason}")
    print(f"{len(tables)} corpus tables are refused")
    kit.check(len(tables) <= ALLOWED_REFUSALS, "more tables are refused than allowed")


WORK = prepare()
kit.main([(name, spark_table, name) for name in kit.fixtures()] +
         [(name, outside_table, name, folder, cwd) for name, folder, cwd in outside_tables(WORK)] +
         [count_refusals])
