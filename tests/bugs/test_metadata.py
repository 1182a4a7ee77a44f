"""Public reports about metadata JSON: documents that other writers made, or broke, and what must become of them."""
import copy
import json
import os

import bugkit
import fx_avro
import fx_json
import fx_parquet
import fx_table
from bugkit import check, compact, described, equal, files, firn_json, refused
from fx_json import DROP, field

READING = ("describe", "snapshots", "refs", "files", "manifests", "history", "plan")


def report_1_no_current_snapshot_in_three_spellings():
    """Report 1, ClickHouse/ClickHouse PR#114465: absent, null and -1 all mean that no snapshot is current."""
    for version in (1, 2, 3):
        answers = []
        for value in (DROP, None, -1):
            table = fx_table.Table(version)
            table.metadata["current-snapshot-id"] = -1
            table.metadata = fx_json.edit(table.metadata, "current-snapshot-id", value)
            table.save()
            verbs = [v for v in READING if v != "plan" or version < 3]
            answer = {verb: firn_json(verb, *table.arguments) for verb in verbs}
            if version < 3:
                answer["compact"] = firn_json("compact", *table.arguments, "--yes")
                check(answer["compact"]["committed"] is False, f"an empty table was compacted: {answer['compact']}")
                equal(table.current(), table.metadata, "the metadata after a compaction that had nothing to do")
            answers.append(json.loads(json.dumps(answer).replace(table.folder, "FOLDER")))
            equal(answers[-1]["describe"]["current_snapshot_id"], None, f"v{version} {value!r}")
            equal(answers[-1]["files"]["files"], [], f"v{version} {value!r}")
        equal(answers[1:], answers[:-1], f"v{version}: the three spellings give the same answers")


def report_3_absent_optional_collections():
    """Report 3, apache/iceberg-rust PR#755: absent optional lists and maps are empty ones, in v1 as in v2."""
    for version in (1, 2):
        whole = fx_table.Table(version)
        whole.save()
        wanted = json.dumps(described(whole)).replace(whole.folder, "FOLDER")
        optional = ["properties", "snapshots", "refs", "statistics", "snapshot-log", "metadata-log",
                    "current-snapshot-id"]
        for keys in [[key] for key in optional] + [optional]:
            table = fx_table.Table(version)
            for key in keys:
                del table.metadata[key]
            table.save()
            equal(json.dumps(described(table)).replace(table.folder, "FOLDER"), wanted, f"v{version} without {keys}")


def report_3_commit_keeps_what_is_absent_absent():
    """Report 3, apache/iceberg-rust PR#755: a commit adds no key that the table did not have and need not get."""
    table = fx_table.Table(2)
    table.fill()
    del table.metadata["statistics"], table.metadata["properties"]
    table.save()
    compact(table)
    found = table.current()
    check("statistics" not in found, "an empty list of statistics was invented")
    check("partition-statistics" not in found, "an empty list of partition statistics was invented")


BAD = {"dropped": DROP, "null": None, "text": "7", "fraction": 7.5, "list": [7], "object": {}, "true": True}


def wrong_values(key, good):
    for name, value in BAD.items():
        if isinstance(good, str) and name == "text" or isinstance(good, dict) and name == "object" \
                or isinstance(good, list) and name == "list":
            continue
        yield name, value


def report_4_required_keys_of_a_snapshot():
    """Report 4, apache/iceberg-go#1869: a missing or mistyped number of a snapshot is an error that names it, never 0."""
    for version in (1, 2):
        table = fx_table.Table(version)
        table.fill(2)
        table.save()
        described(table)
        good = table.metadata
        for key in ("snapshot-id", "timestamp-ms") + (("sequence-number", "manifest-list") if version == 2 else ()):
            for name, value in wrong_values(key, good["snapshots"][0].get(key)):
                table.metadata = fx_json.edit(good, f"snapshots/0/{key}", value)
                table.save()
                if key == "sequence-number" and value is DROP:
                    # What a v1 table's snapshots look like after its upgrade: 0, as the specification says.
                    equal(firn_json("snapshots", *table.arguments)["snapshots"][0]["sequence_number"], 0, key)
                    continue
                for verb in ("describe", "snapshots"):
                    refused(verb, *table.arguments, words=[key])
        for entry in (None, 5, "x", []):
            table.metadata = fx_json.edit(good, "snapshots/0", entry)
            table.save()
            refused("describe", *table.arguments, words=["snapshots"])


def report_4_required_keys_of_the_document():
    """Report 4, apache/iceberg-go#1869: the same for the keys at the top; none of them may be taken for 0."""
    required = {1: ("format-version", "location", "last-updated-ms", "last-column-id"),
                2: ("format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms",
                    "last-column-id", "schemas", "current-schema-id", "partition-specs", "default-spec-id",
                    "last-partition-id", "sort-orders", "default-sort-order-id")}
    for version, keys in required.items():
        table = fx_table.Table(version)
        table.fill(2)
        table.save()
        good = table.metadata
        for key in keys:
            for name, value in wrong_values(key, good[key]):
                table.metadata = fx_json.edit(good, key, value)
                table.save()
                refused("describe", *table.arguments, words=[key])


def report_5_snapshots_without_an_operation():
    """Report 5, duckdb/duckdb-iceberg#412: a snapshot without summary or operation is read, and kept as it was found."""
    for summary in (DROP, {}, {"some": "thing"}, {"operation": "append"}):
        for version in (1, 2):
            table = fx_table.Table(version)
            table.fill(3)
            table.fill(3)
            odd = table.metadata["snapshots"][0]
            odd["odd-key"] = [1, {"z": None, "a": 2}]
            if summary is DROP:
                del odd["summary"]
            else:
                odd["summary"] = summary
            table.save()
            found = firn_json("snapshots", *table.arguments)["snapshots"]
            equal(found[0]["operation"], None if summary is DROP else summary.get("operation"), f"operation of {summary}")
            compact(table)
            before, after = table.metadata["snapshots"], table.current()["snapshots"]
            # As text: the order of keys counts too.
            equal([json.dumps(s) for s in after[:2]], [json.dumps(s) for s in before], f"{summary}: kept snapshots")


def report_8_old_sort_order_of_a_dropped_column():
    """Report 8, apache/iceberg#6204: only the default sort order is bound; older ones survive unread."""
    def order(order_id, source):
        return {"order-id": order_id, "fields": [{"transform": "identity", "source-id": source, "direction": "asc",
                                                  "null-order": "nulls-first"}]}
    for version in (1, 2):
        table = fx_table.Table(version)
        table.fill()
        table.metadata["sort-orders"] += [order(1, 77), order(2, 2)]
        table.metadata["default-sort-order-id"] = 2
        table.metadata["last-column-id"] = 77
        table.save()
        equal(described(table)["sort_order"]["order_id"], 2, "the default order")
        compact(table)
        equal(table.current()["sort-orders"], table.metadata["sort-orders"], "sort orders after a commit")
        equal(table.current()["last-column-id"], 77, "last-column-id")


def report_10_void_partition_field_does_not_feed_the_column():
    """Report 10, apache/gluten#8352: a void field's null is no value of its column; the file's values stay."""
    fields = [field(1, "id", "long"), field(2, "p2", "string"), field(3, "p3", "string")]
    for version in (1, 2):
        for transform in ("void", "identity"):
            spec = [fx_json.spec_field(3, "p3", "identity", 1000)]
            table = fx_table.Table(version, fields, spec)
            old = [table.data([{"id": i, "p2": "old", "p3": "y"}], ["y"]) for i in range(3)]
            first = table.manifest([table.entry(f) for f in old])
            table.snapshot([first])
            table.add_spec([fx_json.spec_field(2, "p2_void", transform, 1001),
                            fx_json.spec_field(3, "p3", "void", 1000)], spec_id=1)
            value = None if transform == "void" else "x"
            new = [table.data([{"id": 10 + i, "p2": "x", "p3": "kept"}], [value, None]) for i in range(5)]
            table.snapshot([table.manifest([table.entry(f) for f in new], spec_id=1), first])
            table.save()
            compact(table)
            check(all(row["p2"] in ("old", "x") and row["p3"] in ("y", "kept") for row in fx_table.rows_of(table)),
                  f"v{version} {transform}: values were lost")
            # And as the files have them, whatever a reader fills in.
            paths = [e["data_file"]["file_path"] for e in table.live_entries()]
            equal(fx_table.rows_in(paths), fx_table.oracle(table), f"v{version} {transform}: the files' own rows")


def report_10_column_that_the_files_lack():
    """Report 10, apache/iceberg PR#3411: only an identity field's value stands in for a column that a file lacks."""
    fields = [field(1, "id", "long"), field(2, "p", "string"), field(3, "q", "string")]
    spec = [fx_json.spec_field(2, "p", "identity", 1000), fx_json.spec_field(3, "q_trunc", "truncate[1]", 1001)]
    table = fx_table.Table(2, fields, spec)
    made = [table.data([{"id": i}], ["from-tuple", "z"], fields=fields[:1], oracle=False) for i in range(5)]
    table.rows = [{"id": i, "p": "from-tuple", "q": None} for i in range(5)]
    table.snapshot([table.manifest([table.entry(f) for f in made])])
    table.save()
    compact(table, rows=False)
    paths = [e["data_file"]["file_path"] for e in table.live_entries()]
    equal(fx_table.rows_in(paths), fx_table.oracle(table), "rows of the new files")


def report_12_duplicate_field_ids():
    """Report 12, ClickHouse/ClickHouse#110877: an id that two fields share is an error that names it."""
    nested = fx_json.struct(field(3, "a", "long"), field(4, "b", "string"))
    shapes = {
        "struct": [field(1, "id", "long"), field(3, "t", "string"), field(2, "s", nested)],
        "list": [field(1, "id", "long"), field(2, "l", fx_json.list_of(1, "long"))],
        "map": [field(1, "id", "long"), field(2, "m", fx_json.map_of(3, "string", 3, "long"))],
        "twice": [field(1, "id", "long"), field(1, "other", "string")],
    }
    for name, fields in shapes.items():
        table = fx_table.Table(2, fields)
        table.save()
        done = refused("describe", *table.arguments)
        check("id" in done.stderr and ("twice" in done.stderr or "duplicate" in done.stderr or "both" in done.stderr
                                       or "more than" in done.stderr), f"{name}: {done.stderr[:400]}")


def report_12_low_counter_is_read():
    """Report 12, ClickHouse/ClickHouse#110877: a counter below the highest id keeps no table from being compacted."""
    nested = fx_json.struct(field(3, "a", "long"), field(4, "b", "string"))
    fields = [field(1, "id", "long"), field(2, "t", nested)]
    table = fx_table.Table(2, fields)
    made = [table.data([{"id": i, "t": {"a": i, "b": "x"}}]) for i in range(5)]
    table.snapshot([table.manifest([table.entry(f) for f in made])])
    table.metadata["last-column-id"] = 2
    table.save()
    compact(table)
    check(table.current()["last-column-id"] >= 2, "the counter went down")


def report_13_defaults_of_v3_columns():
    """Report 13, apache/iceberg-python#1431: v3 defaults are read, kept in the metadata, and written out by a compaction."""
    fields = [field(1, "id", "long"),
              field(2, "name", "string", **{"initial-default": "foo", "write-default": "bar", "x-unknown": 1}),
              field(3, "n", "int", **{"initial-default": None})]
    table = fx_table.Table(3, fields)
    made = [table.data([{"id": i}], fields=fields[:1]) for i in range(5)]
    table.metadata["next-row-id"] = 5
    table.snapshot([table.manifest([table.entry(f) for f in made], listed={"first_row_id": 0})],
                   **{"first-row-id": 0, "added-rows": 5})
    table.save()
    equal(described(table)["data_files"]["rows"], 5, "rows")
    hashed = described(table, "--content-hash")
    compact(table, rows=False)
    equal(table.current()["schemas"], table.metadata["schemas"], "the schemas, unknown keys too")
    equal(described(table, "--content-hash")["content_hash"], hashed["content_hash"], "the hash after a compaction")
    equal(sorted((row["id"], row["name"], row["n"]) for row in fx_table.rows_in(
              e["data_file"]["file_path"] for e in table.live_entries())), [(i, "foo", None) for i in range(5)], "rows")
    filled = fx_table.Table(2, [field(1, "id", "long"), field(2, "name", "string"), field(3, "n", "int")])
    filled.snapshot([filled.manifest([filled.entry(filled.data([{"id": i, "name": "foo"} for i in range(5)]))])])
    filled.save()
    equal(hashed["content_hash"], described(filled, "--content-hash")["content_hash"],
          "the hash of rows whose column comes from initial-default")


def report_14_integers_are_exact():
    """Report 14, apache/iceberg#12631: ids above 2^53 stay what they are; a fraction or an exponent is an error."""
    for snapshot_id in (2 ** 53 + 1, 5184430069070270604, 2 ** 63 - 1):
        table = fx_table.Table(2)
        table.next_snapshot = snapshot_id
        table.fill()
        table.save()
        equal(described(table)["current_snapshot_id"], snapshot_id, "current snapshot")
        equal(firn_json("snapshots", *table.arguments)["snapshots"][0]["snapshot_id"], snapshot_id, "snapshots")
        equal({f["snapshot_id"] for f in files(table)}, {snapshot_id}, "files")
        compact(table)
        after = table.current()
        equal(after["snapshots"][0], table.metadata["snapshots"][0], "the old snapshot")
        equal(after["snapshots"][1]["parent-snapshot-id"], snapshot_id, "the new snapshot's parent")
    for spelling in ("4.5982866113522427e+18", "5184430069070270604.0", "9223372036854775808",
                     "-9223372036854775809", "1e3", "5.0", "99999999999999999999999999999999999"):
        for path in ("current-snapshot-id", "snapshots/0/snapshot-id", "refs/main/snapshot-id", "last-column-id",
                     "last-updated-ms", "schemas/0/fields/0/id", "partition-specs/0/spec-id"):
            table = fx_table.Table(2)
            table.fill(1)
            table.metadata = fx_json.edit(table.metadata, path, fx_json.raw(spelling))
            table.save()
            done = refused("describe", *table.arguments)
            check(path.rpartition("/")[2] in done.stderr or "integer" in done.stderr or "number" in done.stderr
                  or "JSON" in done.stderr, f"{path} = {spelling}: {done.stderr[:400]}")


def report_16_log_out_of_order():
    """Report 16, trinodb/trino#12353: a roll-back leaves log entries far apart or out of order; the table is read and committed to."""
    for shuffle in (False, True):
        table = fx_table.Table(2)
        for _ in range(3):
            table.fill(2)
        snapshots = table.metadata["snapshots"]
        for i, snapshot in enumerate(snapshots):
            snapshot["timestamp-ms"] = fx_json.NOW + 120000 * i
        log = [{"timestamp-ms": s["timestamp-ms"], "snapshot-id": s["snapshot-id"]} for s in snapshots]
        first = snapshots[0]["snapshot-id"]
        # The entry of the roll-back has the old snapshot's time, as some writers left it.
        log.append({"timestamp-ms": fx_json.NOW if shuffle else fx_json.NOW + 900000, "snapshot-id": first})
        table.metadata["snapshot-log"] = log
        table.metadata["current-snapshot-id"] = first
        table.metadata["refs"]["main"]["snapshot-id"] = first
        table.metadata["last-updated-ms"] = fx_json.NOW + (0 if shuffle else 900000)
        table.rows = [{"id": 10 * i + j, "name": "abc"[j % 3]} for i in range(2) for j in range(3)]
        table.save()
        shown = firn_json("history", *table.arguments)["history"]
        equal([h["snapshot_id"] for h in shown], [entry["snapshot-id"] for entry in log], "history")
        equal([h["is_current_ancestor"] for h in shown], [True, False, False, True], "ancestors")
        compact(table)
        after = table.current()
        equal(after["snapshot-log"][:4], log, "the old part of the log")
        equal(after["snapshot-log"][-1]["timestamp-ms"], after["last-updated-ms"], "the log's time is the commit's")
        equal(after["snapshot-log"][-1]["snapshot-id"], after["current-snapshot-id"], "the log's snapshot")


def report_17_v3_with_snapshots_of_before_the_upgrade():
    """Report 17, apache/iceberg-rust#2009: snapshots of before an upgrade to v3 lack the row id fields and are read."""
    table = fx_table.Table(2)
    table.fill(2)
    table.fill(2)
    table.metadata["format-version"] = 3
    for value in (0, DROP):
        table.metadata["next-row-id"] = 0
        table.metadata = fx_json.edit(table.metadata, "next-row-id", value)
        table.save()
        if value is DROP:
            refused("describe", *table.arguments, words=["next-row-id"])
            continue
        equal(len(firn_json("snapshots", *table.arguments)["snapshots"]), 2, "snapshots")
        shown = files(table)
        equal(len(shown), 4, "files")
        equal([f["first_row_id"] for f in shown], [None] * 4, "row ids that nobody assigned")


V1_REQUIRED = {"format-version": int, "location": str, "last-updated-ms": int, "last-column-id": int, "schema": dict,
               "partition-spec": list}


def check_v1(document):
    for key, kind in V1_REQUIRED.items():
        check(isinstance(document.get(key), kind), f"v1 metadata: {key} is {document.get(key)!r}")
    if "schemas" in document:
        current = next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"])
        equal({k: v for k, v in document["schema"].items() if k != "schema-id"},
              {k: v for k, v in current.items() if k != "schema-id"}, "schema mirrors the current one")
    if "partition-specs" in document:
        default = next(s for s in document["partition-specs"] if s["spec-id"] == document["default-spec-id"])
        equal(document["partition-spec"], default["fields"], "partition-spec mirrors the default one")


def report_18_v1_keeps_both_spellings():
    """Report 18, apache/iceberg-go#344: v1 output has the old keys too; unpartitioned is an empty list."""
    for spec in ([], [fx_json.spec_field(2, "name")]):
        table = fx_table.Table(1, spec=spec)
        table.fill(partition=["a"] if spec else None, rows=1)
        table.save()
        compact(table)
        check_v1(table.current())
        equal(table.current()["partition-spec"], spec, "partition-spec")
        for manifest, header, _ in table.current_manifests():
            equal(header["format-version"], "1", "the manifest's version")
            check("sequence_number" not in manifest, "a v1 list got sequence numbers")


def report_19_minimal_v1():
    """Report 19, apache/iceberg-cpp PR#121: v1 with `schema` and `partition-spec` alone; ids of partition fields by position."""
    spec = [{"name": "name", "transform": "identity", "source-id": 2},
            {"name": "bucket", "transform": "bucket[4]", "source-id": 1}]
    for with_lists in (False, True):
        table = fx_table.Table(1, spec=spec)
        made = [table.data([{"id": i, "name": "ab"[i % 2]}], ["ab"[i % 2], 0]) for i in range(8)]
        table.snapshot([table.manifest([table.entry(f) for f in made])])
        if not with_lists:
            for key in ("schemas", "current-schema-id", "partition-specs", "default-spec-id", "last-partition-id",
                        "sort-orders", "default-sort-order-id", "table-uuid", "refs", "statistics"):
                del table.metadata[key]
            del table.metadata["schema"]["schema-id"]
            for snapshot in table.metadata["snapshots"]:
                del snapshot["schema-id"]
        table.save()
        shown = described(table)
        equal([(f["field_id"], f["name"]) for f in shown["partition_spec"]["fields"]],
              [(1000, "name"), (1001, "bucket")], "ids by position")
        equal({json.dumps(f["partition"]) for f in files(table)},
              {json.dumps({"name": n, "bucket": 0}) for n in "ab"}, "partition values")
        # PyIceberg wants the ids of partition fields, so the rows are read from the new files.
        compact(table, reader=lambda t: fx_table.rows_in(e["data_file"]["file_path"] for e in t.live_entries()))
        check_v1(table.current())
        equal(sorted(tuple(e["data_file"]["partition"].values()) for e in table.live_entries()),
              [("a", 0), ("b", 0)], "one file per partition")


def report_21_field_id_zero():
    """Report 21, apache/paimon#9012: id 0 is an id; a manifest without header keys is read; ours has all of them."""
    fields = [field(0, "id", "long"), field(1, "name", "string")]
    for version in (1, 2):
        table = fx_table.Table(version, fields, [fx_json.spec_field(0, "id_part", "bucket[2]")])
        made = [table.data([{"id": i, "name": "x"}], [0]) for i in range(5)]
        bare = {key: None for key in ("schema", "partition-spec", "schema-id")}
        table.snapshot([table.manifest([table.entry(f) for f in made], header=bare)])
        table.save()
        equal([f["id"] for f in described(table)["schema"]["fields"]], [0, 1], "ids of the schema")
        compact(table)
        for entry in table.live_entries():
            elements = fx_parquet.schema_elements(fx_parquet.read_footer(entry["data_file"]["file_path"]))
            equal([(name, number) for name, number, _ in elements], [("id", 0), ("name", 1)], "ids in the file")
        for _, header, _ in table.current_manifests():
            for key in ("schema", "partition-spec", "partition-spec-id", "format-version") + \
                    (("schema-id", "content") if version == 2 else ()):
                check(key in header, f"v{version}: the new manifest's header lacks {key}: {list(header)}")
            equal(json.loads(header["schema"])["fields"], fields, "schema in the header")


def report_22_what_is_not_understood_survives():
    """Report 22, apache/iceberg-go PR#882: statistics, keys and entries that a commit does not change survive it."""
    for version in (1, 2):
        table = fx_table.Table(version)
        table.fill()
        statistics = os.path.join(table.location, "metadata", "s.stats")
        with open(statistics, "wb") as file:
            file.write(b"PFA1")
        snapshot_id = table.metadata["current-snapshot-id"]
        table.metadata["statistics"] = [{
            "snapshot-id": snapshot_id, "statistics-path": statistics, "file-size-in-bytes": 4,
            "file-footer-size-in-bytes": 1, "blob-metadata": [], "x-more": {"deep": [1, 2.5, None]}}]
        table.metadata["partition-statistics"] = [{
            "snapshot-id": snapshot_id, "statistics-path": statistics + "2", "file-size-in-bytes": 4}]
        table.metadata["x-unknown"] = {"z": 1, "a": [True, None, 1.25, 12345678901234567]}
        table.metadata["schemas"][0]["identifier-field-ids"] = []
        table.metadata["schemas"][0]["fields"][0]["doc"] = "é😎\u0000".replace("\u0000", "")
        if version == 1:
            table.metadata["schema"] = copy.deepcopy(table.metadata["schemas"][0])
        table.metadata["schemas"][0]["x-unknown"] = "kept"
        table.metadata["snapshots"][0]["x-unknown"] = [{}]
        table.metadata["refs"]["main"]["x-unknown"] = 3
        table.metadata["refs"]["tagged"] = {"snapshot-id": snapshot_id, "type": "tag", "max-ref-age-ms": 5, "x": 1}
        table.save()
        compact(table)
        before, after = table.metadata, table.current()
        changed = {"last-sequence-number", "last-updated-ms", "current-snapshot-id", "refs", "snapshots",
                   "snapshot-log", "metadata-log"}
        equal({k for k in set(before) | set(after) if before.get(k) != after.get(k)} - changed, set(),
              f"v{version}: keys that changed and should not have")
        equal(after["snapshots"][:-1], before["snapshots"], "old snapshots")
        equal(after["refs"]["tagged"], before["refs"]["tagged"], "the tag")
        check(os.path.exists(statistics), "the statistics file is gone")


def report_22_unknown_order_of_keys_is_kept():
    """Report 22: what is copied keeps its text, so that a diff of two metadata files shows the change alone."""
    table = fx_table.Table(2)
    table.fill()
    table.save()
    compact(table)
    order = [key for key in table.current() if key in table.metadata]
    equal(order, list(table.metadata), "order of keys")


if __name__ == "__main__":
    bugkit.main([test for name, test in sorted(globals().items()) if name.startswith("report_")])
