"""What the interoperability tests share: running firn, unpacking fixtures, reading rows with outside readers.

From the environment: FIRN (the program), FIRN_FAULTS (its build with faults), FIRN_CORPUS, FIRN_TOOLS (the folder
of rows.py), FIRN_SPARK (optional: Spark's folder), FIRN_CI=1 (then nothing may be skipped).
"""
import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def skip(reason):
    """Ends the test as skipped; in CI that is a failure."""
    print("skipped:", reason)
    sys.exit(1 if os.environ.get("FIRN_CI") == "1" else SKIPPED)


FIRN = os.environ.get("FIRN") or skip("FIRN names no program")
FAULTS = os.environ.get("FIRN_FAULTS")
HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "shared")
CORPUS = os.path.abspath(os.environ.get("FIRN_CORPUS") or os.path.join(SHARED, "corpus"))
TOOLS = os.path.abspath(os.environ.get("FIRN_TOOLS") or os.path.join(SHARED, "tools"))
SPARK = os.environ.get("FIRN_SPARK")
FIXTURES = "/tmp/firn-fixtures"  # Iceberg records absolute paths; the tables were written there

if not os.path.isdir(CORPUS):
    skip(f"no corpus at {CORPUS}")
if not os.path.exists(os.path.join(TOOLS, "rows.py")):
    skip(f"no rows.py at {TOOLS}")
try:
    import duckdb  # noqa: F401
    import pyarrow  # noqa: F401
    import pyiceberg  # noqa: F401
except ImportError as missing:
    skip(f"a Python package is missing: {missing}")

sys.path.insert(0, TOOLS)
import rows  # noqa: E402

_fixtures_lock = None

_state = tempfile.mkdtemp(prefix="firn-state-")
os.environ["FIRN_STATE_DIR"] = _state
os.environ.setdefault("HOME", _state)

OPTIONS = argparse.Namespace(spark=SPARK, duckdb_extensions=os.environ.get("FIRN_DUCKDB_EXTENSIONS"),
                             no_lineage=False)


class Failed(Exception):
    """A check of a test did not hold."""


def check(condition, message):
    if not condition:
        raise Failed(message)


def firn(*arguments, program=None, cwd=None, environment=None, expect=0, stdin=None):
    """Runs firn; returns the finished process. `expect`: the exit code, or several, or None for any. `stdin`: a text."""
    env = dict(os.environ)
    env.update(environment or {})
    done = subprocess.run([program or FIRN, *map(str, arguments)], cwd=cwd, env=env, text=True, input=stdin,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    allowed = expect if isinstance(expect, (tuple, list, set)) else (expect,)
    if expect is not None and done.returncode not in allowed:
        raise Failed(f"firn {' '.join(map(str, arguments))}: exit {done.returncode}, expected {allowed}\n"
                     f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done


def firn_json(*arguments, **options):
    return json.loads(firn(*arguments, "--json", **options).stdout)


def lock_fixtures():
    """One process at a time has the folder, whichever build it tests; the lock goes with the process."""
    global _fixtures_lock
    if _fixtures_lock is None:
        _fixtures_lock = open(FIXTURES + ".lock", "a")  # noqa: SIM115
        fcntl.flock(_fixtures_lock, fcntl.LOCK_EX)


def unpack(name):
    """A fresh copy of a fixture; returns (folder, its about document)."""
    lock_fixtures()
    folder = os.path.join(FIXTURES, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(FIXTURES, exist_ok=True)
    with tarfile.open(os.path.join(CORPUS, "spark", name + ".tar.gz")) as archive:
        archive.extractall(FIXTURES, filter="fully_trusted")
    with open(os.path.join(CORPUS, "spark", name + ".about.json"), encoding="utf-8") as file:
        return folder, json.load(file)


def fixtures():
    names = [n[:-len(".about.json")] for n in os.listdir(os.path.join(CORPUS, "spark"))
             if n.endswith(".about.json")]
    return sorted(names)


def expected(name, ref=None):
    suffix = f".expect.{ref}.jsonl" if ref else ".expect.jsonl"
    with open(os.path.join(CORPUS, "spark", name + suffix), encoding="utf-8") as file:
        return file.read().splitlines()


def readers_that_are_right(name):
    """The readers that readers.md calls equal for a fixture, as far as they are installed."""
    for line in open(os.path.join(CORPUS, "spark", "readers.md"), encoding="utf-8"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 7 and cells[0] == name:
            verdicts = dict(zip(("pyiceberg", "duckdb", "spark", "java"), cells[3:]))
            return [reader for reader, verdict in verdicts.items()
                    if verdict.startswith("equal") and (SPARK or reader in ("pyiceberg", "duckdb"))]
    raise Failed(f"readers.md has no line for {name}")


def read(reader, where, ref=None):
    """Canonical rows of a table by an outside reader."""
    lines, _ = rows.read(reader, where, OPTIONS, ref=ref)
    return lines


def check_rows(reader, where, wanted, what, ref=None):
    """Holds what a reader finds against canonical rows; without their lineage columns where the reader has none."""
    lines, lineage = rows.read(reader, where, OPTIONS, ref=ref)
    if not lineage:
        wanted = rows.drop_lineage(wanted)
    same_rows(sorted(lines), sorted(wanted), f"{what} by {reader}")


def same_rows(found, wanted, what):
    if found == wanted:
        return
    import collections
    left, right = collections.Counter(found), collections.Counter(wanted)
    extra, lost = list((left - right).elements()), list((right - left).elements())
    raise Failed(f"{what}: {len(found)} rows against {len(wanted)}\n  read, not expected: {extra[:3]}\n"
                 f"  expected, not read: {lost[:3]}")


def fixture_argument(folder, about):
    """How firn names a fixture's table: a path, or a name with --catalog for the SQLite one."""
    database = os.path.join(folder, "catalog.db")
    if os.path.exists(database):
        return ["lake.raw.events", "--catalog", database]
    return [folder]


def fixture_where(folder):
    database = os.path.join(folder, "catalog.db")
    return f"{database}:lake.raw.events" if os.path.exists(database) else folder


def live_files(where):
    """Paths of all live data files by PyIceberg."""
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(rows.strip_scheme(rows.find_metadata(where)))
    return sorted(task.file.file_path for task in table.scan().plan_files())


def sql_catalog(folder, name="default"):
    """A PyIceberg SqlCatalog in folder/catalog.db with folder/warehouse."""
    from pyiceberg.catalog.sql import SqlCatalog
    os.makedirs(os.path.join(folder, "warehouse"), exist_ok=True)
    return SqlCatalog(name, uri=f"sqlite:///{folder}/catalog.db",
                      warehouse=f"file://{folder}/warehouse")


def main(tests):
    """Runs functions; prints a line for each; exit 1 when one fails."""
    import traceback
    wanted = sys.argv[1:]
    failed = 0
    passed = 0
    for test in tests:
        name = test.__name__ if callable(test) else test[0]
        if wanted and not any(word in name for word in wanted):
            continue
        try:
            test() if callable(test) else test[1](*test[2:])
            passed += 1
            print(f"ok {name}", flush=True)
        except Failed as problem:
            failed += 1
            print(f"FAILED {name}: {problem}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {name}", flush=True)
            traceback.print_exc()
    shutil.rmtree(_state, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or passed == 0 else 0)
