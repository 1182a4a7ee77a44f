"""What is shown of tables without rows, and registering."""
import json
import os

import kit

SNAPSHOTS = [
    {"snapshot-id": 11, "timestamp-ms": 1704067200000, "sequence-number": 1, "manifest-list": "gone.avro",
     "summary": {"operation": "append", "added-data-files": "2"}, "schema-id": 0},
    {"snapshot-id": 12, "parent-snapshot-id": 11, "timestamp-ms": 1704067201000, "sequence-number": 2,
     "manifest-list": "gone.avro", "summary": {"operation": "overwrite"}},
    {"snapshot-id": 13, "parent-snapshot-id": 11, "timestamp-ms": 1704067202000, "sequence-number": 3,
     "manifest-list": "gone.avro", "summary": {"operation": "append"}},
]
HISTORY = {
    "snapshots": SNAPSHOTS,
    "current-snapshot-id": 13,
    "last-sequence-number": 3,
    "last-updated-ms": 1704067202500,
    "snapshot-log": [{"snapshot-id": i, "timestamp-ms": t} for i, t in
                     ((10, 1704067199000), (11, 1704067200000), (12, 1704067201000), (13, 1704067202000))],
    "refs": {"main": {"snapshot-id": 13, "type": "branch"},
             "old": {"snapshot-id": 12, "type": "tag", "max-ref-age-ms": 86400000}},
}


def describe(world):
    table = kit.directory_table(world, "t")
    found = world.json("describe", table)
    kit.equal(found["schema_version"], 1, "schema_version")
    kit.equal(found["command"], "describe", "command")
    kit.equal(found["location"], table, "location")
    kit.equal(found["format_version"], 2, "format_version")
    kit.equal(found["last_updated_at"], "2024-01-01T00:00:00.123Z", "last_updated_at")
    kit.equal(found["current_snapshot_id"], None, "current_snapshot_id")
    kit.equal(found["snapshot"], None, "snapshot")
    kit.equal(found["data_files"], {"count": 0, "rows": 0, "bytes": 0}, "data_files")
    kit.equal(found["manifests"], {"count": 0, "bytes": 0}, "manifests")
    kit.equal(found["schema"]["fields"][0],
              {"id": 1, "name": "id", "type": "long", "required": True, "doc": "a key"}, "field")
    kit.equal(found["partition_spec"]["fields"],
              [{"field_id": 1000, "name": "at_day", "transform": "day", "source_id": 2, "source": "at"}],
              "partition spec")
    kit.equal(found["properties"], {"owner": "some body"}, "properties")
    kit.equal(found["refs"], [], "refs")
    text = world.firn("describe", table).stdout
    for part in ("naïve name", "owner  some body", "at_day  day", "unsorted"):
        kit.contains(" ".join(text.split(" ")), part)
    kit.equal(world.json("describe", table, "--content-hash")["content_hash"], "0" * 32, "hash of no rows")


def lists(world):
    table = kit.directory_table(world, "t", **HISTORY)
    rows = world.json("snapshots", table)["snapshots"]
    kit.equal([row["snapshot_id"] for row in rows], [11, 12, 13], "snapshots")
    kit.equal(rows[0]["summary"], {"operation": "append", "added-data-files": "2"}, "summary")
    kit.equal(rows[0]["parent_snapshot_id"], None, "parent")
    kit.equal(rows[1]["committed_at"], "2024-01-01T00:00:01.000Z", "committed_at")
    rows = {row["name"]: row for row in world.json("refs", table)["refs"]}
    kit.equal(rows["main"]["type"], "branch", "main")
    kit.equal(rows["old"], {"name": "old", "type": "tag", "snapshot_id": 12, "min_snapshots_to_keep": None,
                            "max_snapshot_age_ms": None, "max_ref_age_ms": 86400000}, "old")
    rows = world.json("history", table)["history"]
    kit.equal([(row["snapshot_id"], row["is_current_ancestor"], row["snapshot_exists"]) for row in rows],
              [(10, False, False), (11, True, True), (12, False, True), (13, True, True)], "history")
    for verb in ("snapshots", "refs", "history"):
        kit.check(len(world.firn(verb, table).stdout.splitlines()) >= 3, f"{verb}: no lines")


def missing_files_are_named(world):
    table = kit.directory_table(world, "t", **HISTORY)
    for verb in ("describe", "files", "manifests", "plan", "compact"):
        world.fails(1, "gone.avro", verb, table)
    world.fails(1, "nobody", "describe", table, "--ref", "nobody")


def expired_parents(world):
    """The chain of ancestors ends at a snapshot that is gone; a circle of parents ends too."""
    snapshots = [dict(SNAPSHOTS[2], **{"parent-snapshot-id": 10})]
    table = kit.directory_table(world, "t", **dict(HISTORY, snapshots=snapshots, refs={}))
    rows = world.json("history", table)["history"]
    kit.equal([row["is_current_ancestor"] for row in rows], [True, False, False, True], "ancestors")
    circle = [dict(SNAPSHOTS[0], **{"parent-snapshot-id": 13}), SNAPSHOTS[2]]
    table = kit.directory_table(world, "u", **dict(HISTORY, snapshots=circle, refs={}))
    world.firn("history", table)


def nothing_to_compact(world):
    table = kit.directory_table(world, "t")
    before = kit.listing(world.work)
    found = world.json("compact", table, "--yes")
    kit.equal((found["committed"], found["result"], found["plan"]["groups"]), (False, None, []), "result")
    kit.contains(world.firn("plan", table).stdout, "Nothing to do.")
    kit.check(kit.listing(world.work) == before, "a file changed")


def register(world):
    table = kit.directory_table(world, "t")
    flags = ["--catalog", "c.db"]
    found = world.json("catalog", "register", "a.b.c", table, *flags)
    kit.equal((found["preview"], found["registered"], found["makes_catalog"]), (True, False, True), "preview")
    kit.check(not os.path.exists(world.path("work", "c.db")), "a preview made the catalog")
    found = world.json("catalog", "register", "a.b.c", "t/metadata/v1.metadata.json", *flags, "--yes")
    kit.equal((found["preview"], found["registered"]), (False, True), "done")
    rows = world.json("tables", *flags)["tables"]
    kit.equal(rows, [{"table": "a.b.c", "namespace": "a.b", "name": "c",
                      "metadata_location": f"{table}/metadata/v1.metadata.json"}], "tables")
    kit.equal(world.json("describe", "a.b.c", *flags)["location"], table, "location")
    world.fails(1, "there is a table a.b.c already", "catalog", "register", "a.b.c", table, *flags)
    world.fails(1, "there is a table a.b.c already", "catalog", "register", "a.b.c", table, *flags, "--yes")
    world.fails(1, "nowhere", "catalog", "register", "a.d", "./nowhere", *flags, "--yes")
    world.write("broken.metadata.json", json.dumps({"format-version": 2}))
    error = world.fails(1, "broken.metadata.json", "catalog", "register", "a.d", "broken.metadata.json",
                        *flags, "--yes")
    kit.equal(error["code"], "CORRUPT", "error.code")
    kit.equal(len(world.json("tables", *flags)["tables"]), 1, "tables")


def refusals(world):
    world.write("f/metadata/v1.metadata.json", json.dumps(kit.empty_table("f", version=4)))
    world.fails(3, "version", "describe", "f/metadata/v1.metadata.json")
    table = kit.directory_table(world, "t", properties={"write.format.default": "orc"})
    for verb in ("rewrite-deletes", "remove-dangling-deletes", "compact"):
        error = world.fails(3, "property write.format.default is 'orc'", verb, table)
        kit.equal(error["message"].count("table /"), 1, f"tables named by: {error['message']}")


def doctor(world):
    table = kit.directory_table(world, "t")
    world.firn("catalog", "register", "a.b", table, "--catalog", "c.db", "--yes")
    before = kit.listing(world.work)
    found = world.json("doctor", "--catalog", "c.db")
    codecs = {row["codec"]: (row["reads"], row["writes"]) for row in found["codecs"]}
    for codec in ("snappy", "zstd", "gzip", "uncompressed"):
        kit.equal(codecs[codec], (True, True), codec)
    kit.check(all(row["library"] for row in found["libraries"]), "libraries")
    check = found["checks"][0]
    kit.equal((check["readable"], check["writable"], check["tables"]), (True, True, 1), "check")
    check = world.json("doctor", "a.b", "--catalog", "c.db")["checks"][0]
    kit.equal((check["kind"], check["readable"], check["writable"]), ("table", True, True), "table")
    check = world.json("doctor", table)["checks"][0]
    kit.equal((check["readable"], check["writable"]), (True, True), "directory table")
    check = world.json("doctor", table + "/metadata/v1.metadata.json")["checks"][0]
    kit.equal((check["readable"], check["writable"]), (True, False), "metadata file")
    kit.check(kit.listing(world.work) == before, "the doctor changed a file")
    found = world.json("doctor", "--catalog", "none.db", expect=1)
    kit.equal(found["checks"][0]["readable"], False, "an absent catalog")
    kit.check(not os.path.exists(world.path("work", "none.db")), "the doctor made a catalog")
    kit.equal(world.json("doctor")["checks"], [], "checks without a catalog")
    world.write("firn.yaml", "catalogs:\n  default:\n    uri: sqlite:///c.db\n  other:\n    type: rest\n"
                "    uri: http://h\n")
    found = world.json("doctor", expect=6)
    checks = {row["name"]: row for row in found["checks"]}
    kit.equal((checks["default"]["readable"], found["error"]["code"]), (True, "PARTLY"), "default, code")
    kit.contains(checks["other"]["problem"], "type rest", "problem")
    world.write("firn.yaml", "catalogs:\n  default:\n    uri: sqlite:///none.db\n")
    kit.equal(world.json("doctor", expect=1)["checks"][0]["readable"], False, "a configured catalog that is not there")


kit.main(describe, lists, missing_files_are_named, expired_parents, nothing_to_compact, register,
         refusals, doctor)
