"""
Tables get a higher format version: metadata only, every reader reads the same rows and refs as before, and the next commits of
firn and of others are right.
"""
import json
import os
import shutil
import tempfile

import kit
import tables

ROOT = tempfile.mkdtemp(prefix="firn-upgrade-")


def metadata_of(where):
    return kit.rows.load_metadata(kit.rows.strip_scheme(kit.rows.find_metadata(where)))


def files_below(folder):
    return {os.path.join(d, n): os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(folder) for n in names
            if not n.endswith((".metadata.json", ".db", "version-hint.text", ".crc"))}


def same_rows(name, where, reader, what):
    kit.same_rows(kit.rows.drop_lineage(kit.read(reader, where)), kit.rows.drop_lineage(kit.expected(name)),
                  f"{name} {what} by {reader}")


def upgraded(name, arguments, where, folder, version):
    before, files = metadata_of(where), files_below(folder)
    preview = kit.firn_json("upgrade", *arguments, "--to", version)
    kit.check(preview["preview"] and not preview["committed"] and preview["losses"], f"{name}: preview {preview}")
    kit.check(metadata_of(where) == before, f"{name}: the preview changed something")
    kit.check(kit.firn_json("upgrade", *arguments, "--to", version, "--yes")["committed"], f"{name}: not committed")
    after = metadata_of(where)
    kit.check(files_below(folder) == files, f"{name}: files changed")
    kit.check(after["format-version"] == version, f"{name}: format version")
    for key in ("location", "refs", "properties", "last-column-id", "snapshot-log"):
        kit.check(after.get(key) == before.get(key), f"{name}: {key} changed")
    kit.check(before["snapshots"] == after["snapshots"], f"{name}: snapshots changed")
    kit.check(version < 3 or after["next-row-id"] == 0, f"{name}: next-row-id")
    again = kit.firn_json("upgrade", *arguments, "--to", version, "--yes")
    kit.check(not again["committed"] and metadata_of(where) == after, f"{name}: the second upgrade did something")
    kit.firn("upgrade", *arguments, "--to", 2, expect=3 if version > 2 else 0)


def fixture(name, versions):
    folder, about = kit.unpack(name)
    arguments, where = kit.fixture_argument(folder, about), kit.fixture_where(folder)
    readers = kit.readers_that_are_right(name)
    # DuckDB wants a sequence number in EXISTING entries of manifests that were written as version 1; there are none.
    strict = set() if about["format_version"] > 1 else {"duckdb"}
    for version in versions:
        upgraded(name, arguments, where, folder, version)
        for reader in set(readers) - strict:
            same_rows(name, where, reader, f"as v{version}")
        for reader in {"duckdb", "spark", "java"} & set(readers) - strict if version == 3 else ():
            found = kit.read(reader, where)
            kit.check(all(json.loads(line)["_row_id"] is None for line in found), f"{name}: rows have ids before a commit")
        kit.firn("compact", *arguments, "--rewrite-all", "--yes", "--verify")
        strict = set()
        for reader in readers:
            same_rows(name, where, reader, f"as v{version}, compacted")
        for reader in {"duckdb", "spark", "java"} & set(readers) if version == 3 else ():
            ids = [json.loads(line)["_row_id"] for line in kit.read(reader, where)]
            kit.check(None not in ids and len(set(ids)) == len(ids), f"{name}: row ids {ids[:5]} by {reader}")


def goes_on():
    """PyIceberg writes to what firn upgraded."""
    folder = os.path.join(ROOT, "goes-on")
    os.makedirs(folder)
    catalog, where, arguments = tables.make(folder, commits=3, rows=20, properties={"format-version": "1"})
    rows = kit.read("pyiceberg", where)
    kit.firn("upgrade", *arguments, "--to", 2, "--yes")
    kit.same_rows(kit.read("pyiceberg", where), rows, "rows as v2")
    table = catalog.load_table("db.events")
    table.append(tables.batch(50, 20))
    kit.check(table.current_snapshot().sequence_number == 1, "the first sequence number is 1")
    rows = kit.read("pyiceberg", where)
    kit.same_rows(kit.read("duckdb", where), rows, "rows by DuckDB")
    kit.firn("compact", *arguments, "--rewrite-all", "--yes")
    kit.same_rows(kit.read("pyiceberg", where), rows, "rows after compaction")
    kit.firn("upgrade", *arguments, "--to", 3, "--yes")
    kit.same_rows(kit.rows.drop_lineage(kit.read("pyiceberg", where)), rows, "rows as v3")
    kit.firn("compact", *arguments, "--rewrite-all", "--yes")
    for reader in ("pyiceberg", "duckdb"):
        kit.same_rows(kit.rows.drop_lineage(kit.read(reader, where)), rows, f"rows compacted as v3 by {reader}")


def others_come_first():
    """An upgrade that meets another writer is made again on what that one left; a lost reply is no second upgrade."""
    if not kit.FAULTS:
        return
    folder = os.path.join(ROOT, "others")
    os.makedirs(folder)
    _, where, arguments = tables.make(folder, commits=1, rows=5, partitioned=False)
    for number, plan in enumerate(["fail-after:1:catalog", "fail-after:2:catalog", "fail:1:catalog", "fail:2:catalog",
                                   "kill:2:catalog", "kill-after:2:catalog"]):
        copy = os.path.join(ROOT, f"others-{number}")
        shutil.copytree(folder, copy)
        database = os.path.join(copy, "catalog.db")
        arguments[-1] = database
        done = kit.firn("upgrade", *arguments, "--to", 3, "--yes", program=kit.FAULTS, expect=None,
                        environment={"FIRN_FAULT": plan, "FIRN_STATE_DIR": os.path.join(copy, "state")})
        kit.firn("upgrade", *arguments, "--to", 3, "--yes", environment={"FIRN_STATE_DIR": os.path.join(copy, "state")})
        where = f"{database}:db.events"
        kit.check(metadata_of(where)["format-version"] == 3, f"{plan}: exit {done.returncode}")
        kit.check(len(metadata_of(where)["metadata-log"]) == 2, f"{plan}: upgraded twice")
        kit.check(len(kit.read("pyiceberg", where)) == 5, f"{plan}: rows")


try:
    kit.main([(f"{name}_to_{'_'.join(map(str, versions))}", fixture, name, versions)
              for name, versions in (("v1_unpartitioned", [2, 3]), ("v1_identity_null", [3]), ("part_day", [3]),
                                     ("upgraded_v1", [3]), ("named_refs", [3]), ("jdbc_v1", [3]))] +
             [goes_on, others_come_first])
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
