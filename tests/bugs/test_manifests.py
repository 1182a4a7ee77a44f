"""Public reports about manifests and manifest lists: how other writers lay them out, and what ours must look like."""
import copy
import decimal
import json
import os
import uuid

import bugkit
import fx_avro
import fx_json
import fx_table
import kit
from bugkit import check, compact, described, equal, files, firn, firn_json, refused
from fx_json import field

EMOJI, JAVA_EMOJI, PYTHON_EMOJI = "😎", "_xD83D_xDE0E", "_x1F60E"


def partitions_of(table):
    return sorted((json.dumps(f["partition"], ensure_ascii=False) for f in files(table)))


def named_partition(table, avro_name, values, **more):
    """A manifest whose partition field is called `avro_name` in the Avro schema."""
    schema = fx_avro.entry_schema(table.version, table.partition_fields())
    tuple_field = fx_avro.find_field(schema, "partition")["type"]["fields"][0]
    tuple_field["name"] = avro_name
    tuple_field.update(more)
    made = [table.data([{"id": i, "name": value}], [value]) for i, value in enumerate(values)]
    return table.manifest([table.entry(f) for f in made], schema=schema)


def report_23_names_that_are_no_avro_names():
    """Report 23, apache/iceberg-python#2123: raw, Java's and Python's spelling of a partition name give one tuple."""
    spellings = {
        EMOJI: [(EMOJI, {}), (JAVA_EMOJI, {"iceberg-field-name": EMOJI}), (PYTHON_EMOJI, {"iceberg-field-name": EMOJI}),
                ("_", {})],
        "a.b": [("a.b", {}), ("a_x2Eb", {"iceberg-field-name": "a.b"})],
        "9col": [("9col", {}), ("_9col", {"iceberg-field-name": "9col"})],
        "é": [("é", {}), ("_xE9", {"iceberg-field-name": "é"})],
    }
    for name, forms in spellings.items():
        for version in (1, 2):
            table = fx_table.Table(version, spec=[fx_json.spec_field(2, name)])
            table.snapshot([named_partition(table, avro_name, ["v", "w", None], **more) for avro_name, more in forms])
            table.save()
            wanted = [json.dumps({name: value}, ensure_ascii=False) for value in ("v", "w", None)]
            equal(partitions_of(table), sorted(wanted * len(forms)), f"partitions by {name}")
            compact(table)
            equal(partitions_of(table), sorted(wanted), f"partitions by {name} after a compaction")
            for _, header, _ in table.current_manifests():
                ours = fx_avro.find_field(json.loads(header["avro.schema"]), "partition")["type"]["fields"][0]
                check(ours["name"].isascii() and ours["name"].isidentifier(), f"not an Avro name: {ours}")
                equal(ours.get("iceberg-field-name"), name, "the original name")
                equal(ours["field-id"], 1000, "the id")
            equal(len(kit.read("duckdb", table.where)), len(table.rows), "DuckDB reads it")


def report_24_partition_values_by_field_id():
    """Report 24, apache/iceberg-rust#2536: values are bound by id, a number or a text, in whatever order they stand."""
    fields = [field(1, "id", "long"), field(2, "a", "string"), field(3, "b", "string")]
    spec = [fx_json.spec_field(2, "a", field_id=1000), fx_json.spec_field(3, "b", field_id=1001)]
    for as_text in (False, True):
        for names in (("a", "b"), ("b", "a"), ("_815d_x", "_9c")):
            table = fx_table.Table(2, fields, spec)
            schema = fx_avro.entry_schema(2, table.partition_fields())
            record = fx_avro.find_field(schema, "partition")["type"]
            record["fields"] = [dict(record["fields"][1], name=names[1]), dict(record["fields"][0], name=names[0])]
            if as_text:
                for item in record["fields"]:
                    item["field-id"] = str(item["field-id"])
            made = [table.data([{"id": i, "a": "A", "b": "B"}], ["B", "A"]) for i in range(5)]
            table.snapshot([table.manifest([table.entry(f) for f in made], schema=schema)])
            table.save()
            equal({json.dumps(f["partition"]) for f in files(table)}, {'{"a": "A", "b": "B"}'}, f"{names} {as_text}")
            compact(table)


ENTRY_IDS = {"status": 0, "snapshot_id": 1, "sequence_number": 3, "file_sequence_number": 4, "data_file": 2,
             "content": 134, "file_path": 100, "file_format": 101, "partition": 102, "record_count": 103,
             "file_size_in_bytes": 104, "block_size_in_bytes": 105, "column_sizes": 108, "value_counts": 109,
             "null_value_counts": 110, "nan_value_counts": 137, "lower_bounds": 125, "upper_bounds": 128,
             "key_metadata": 131, "split_offsets": 132, "equality_ids": 135, "sort_order_id": 140,
             "first_row_id": 142, "referenced_data_file": 143, "content_offset": 144, "content_size_in_bytes": 145}
MAP_IDS = {"column_sizes": (117, 118), "value_counts": (119, 120), "null_value_counts": (121, 122),
           "nan_value_counts": (138, 139), "lower_bounds": (126, 127), "upper_bounds": (129, 130)}
ELEMENT_IDS = {"split_offsets": 133, "equality_ids": 136, "partitions": 508}
LIST_IDS = {"manifest_path": 500, "manifest_length": 501, "partition_spec_id": 502, "content": 517,
            "sequence_number": 515, "min_sequence_number": 516, "added_snapshot_id": 503, "added_files_count": 504,
            "existing_files_count": 505, "deleted_files_count": 506, "added_rows_count": 512,
            "existing_rows_count": 513, "deleted_rows_count": 514, "partitions": 507, "key_metadata": 519,
            "first_row_id": 520, "contains_null": 509, "contains_nan": 518, "lower_bound": 510, "upper_bound": 511}


def check_ids(schema, ids, where=""):
    """Every field, element, key and value of our own Avro schemas carries the specification's id."""
    for item in schema["fields"]:
        name, kind = item["name"], item["type"]
        kind = next(branch for branch in kind if branch != "null") if isinstance(kind, list) else kind
        wanted = ids.get(name, 1000 if where.endswith("partition") else None)
        equal(item.get("field-id"), wanted, f"id of {where}/{name}")
        if not isinstance(kind, dict):
            continue
        if name in MAP_IDS:
            pair = kind["items"]["fields"]
            equal(tuple(f.get("field-id") for f in pair), MAP_IDS[name], f"ids of {name}")
            equal(kind.get("logicalType"), "map", f"{name} is a map")
        elif name in ELEMENT_IDS:
            equal(kind.get("element-id"), ELEMENT_IDS[name], f"element id of {name}")
            if isinstance(kind["items"], dict):
                check_ids(kind["items"], ids, f"{where}/{name}")
        elif kind.get("type") == "record":
            check_ids(kind, ids, f"{where}/{name}")


def report_25_ids_are_everywhere_in_what_is_written():
    """Report 25, apache/iceberg-rust#353: our manifests and lists name the id of every field, element, key and value."""
    for version in (1, 2):
        table = fx_table.Table(version, spec=[fx_json.spec_field(2, "name")])
        table.fill(rows=1, partition=["a"])
        table.save()
        compact(table)
        after = table.current()
        header, _ = fx_avro.read(after["snapshots"][-1]["manifest-list"])
        check_ids(json.loads(header["avro.schema"]), LIST_IDS)
        for _, header, _ in table.current_manifests():
            check_ids(json.loads(header["avro.schema"]), ENTRY_IDS)


def report_25_files_without_ids():
    """Report 25, ClickHouse/ClickHouse#111763: where a file has no ids at all, the specification's names count, with a warning."""
    for bare_list, bare_manifest in ((True, False), (False, True), (True, True)):
        table = fx_table.Table(2, spec=[fx_json.spec_field(2, "name")])
        entry_schema = fx_avro.entry_schema(2, table.partition_fields())
        list_schema = fx_avro.list_schema(2)
        made = [table.data([{"id": i, "name": "n"}], ["n"]) for i in range(5)]
        manifest = table.manifest([table.entry(f) for f in made],
                                  schema=fx_avro.without_ids(entry_schema) if bare_manifest else entry_schema)
        table.snapshot([manifest], list_options={"schema": fx_avro.without_ids(list_schema) if bare_list
                                                 else list_schema})
        table.save()
        done = firn("files", *table.arguments, "--json")
        equal({json.dumps(f["partition"]) for f in json.loads(done.stdout)["files"]}, {'{"name": "n"}'}, "partitions")
        check("id" in done.stderr and "name" in done.stderr, f"no warning: {done.stderr!r}")
        compact(table)


def equality_delete(table, values, field_id=1, name="id"):
    """A data_file record of an equality delete file on one long column."""
    record = table.data([{name: value} for value in values], fields=[field(field_id, name, "long")], oracle=False)
    return {**record, "content": 2, "equality_ids": [field_id]}


def report_26_v1_manifest_in_a_v2_table():
    """Report 26, duckdb/duckdb-iceberg#374: each file is decoded by its own schema; no content means data, no number means 0."""
    for keep_version in (True, False):
        table = fx_table.Table(2)
        old = [table.data([{"id": i, "name": "old"}]) for i in range(3)]
        for record in old:
            del record["content"]
            record["block_size_in_bytes"] = 1
        header = {} if keep_version else {"format-version": None, "partition-spec-id": None}
        old_manifest = table.manifest([table.entry(f) for f in old], version=1, header=header,
                                      listed={"sequence_number": 0, "min_sequence_number": 0})
        table.snapshot([old_manifest])
        new = table.manifest([table.entry(table.data([{"id": 1, "name": "new"}]))])
        table.snapshot([new, old_manifest])
        deletes = table.manifest([table.entry(equality_delete(table, [1]))], content="deletes")
        table.snapshot([deletes, new, old_manifest], operation="overwrite")
        table.save()
        shown = files(table)
        equal(sorted((f["content"], f["sequence_number"], f["file_sequence_number"]) for f in shown),
              [("data", 0, 0)] * 3 + [("data", 2, 2), ("equality_deletes", 3, 3)], "files")
        counts = described(table)["delete_files"]
        equal(counts["equality_delete_files"], 1, "delete files")
        compact(table, rows=False)
        equal(fx_table.rows_of(table), [row for row in fx_table.oracle(table) if row["id"] != 1], "rows without the deleted")

        # Without the delete the table is compacted, and the old files' number 0 is written out.
        table = fx_table.Table(2)
        old = [table.data([{"id": i, "name": "old"}]) for i in range(6)]
        for record in old:
            del record["content"]
            record["block_size_in_bytes"] = 1
        table.snapshot([table.manifest([table.entry(f) for f in old], version=1, header=header,
                                       listed={"sequence_number": 0, "min_sequence_number": 0})])
        table.save()
        compact(table)


def report_28_codec_of_our_manifests():
    """Report 28, apache/paimon PR#4620: our manifests and lists are deflate, whatever codec the table's data has."""
    for codec in (None, "snappy", "zstd", "gzip", "uncompressed"):
        table = fx_table.Table(2, properties={"write.avro.compression-codec": codec} if codec else {})
        table.fill()
        table.save()
        compact(table)
        equal(table.current()["properties"], table.metadata["properties"], "properties")
        header, _ = fx_avro.read(table.current()["snapshots"][-1]["manifest-list"])
        headers = [header] + [h for _, h, _ in table.current_manifests()]
        equal({h["avro.codec"] for h in headers}, {"deflate"}, f"codec with {codec}")


def report_28_codecs_that_are_read():
    """Report 28, apache/iceberg#14231: manifests and lists of every codec are read, in blocks of any size."""
    for codec in (None, "null", "deflate", "snappy", "zstandard"):
        for per_block, signed in ((None, False), (1, True), (2, True)):
            table = fx_table.Table(2)
            made = [table.data([{"id": i, "name": "x"}], value_counts=[{"key": 1, "value": 1}]) for i in range(5)]
            table.snapshot([table.manifest([table.entry(f) for f in made], codec=codec, per_block=per_block,
                                           signed_counts=signed)],
                           list_options={"codec": codec, "per_block": per_block, "signed_counts": signed})
            table.save()
            equal(len(files(table)), 5, f"{codec} {per_block} {signed}")
    table = fx_table.Table(2)
    table.fill(1)
    table.snapshot([table.manifest([table.entry(table.data([{"id": 1}]))], header={"avro.codec": "lzo"})])
    table.save()
    refused("files", *table.arguments, words=["lzo"], code=(1, 3))


HEADER_SCHEMAS = {"absent": None, "garbage": "{no JSON", "empty": "", "a list": "[]", "entry schema":
                  json.dumps(fx_avro.entry_schema(2)), "other table": json.dumps(fx_json.schema(
                      [field(1, "id", "boolean"), field(9, "zzz", "string")]))}


def report_29_header_schema_is_a_hint():
    """Report 29, duckdb/duckdb-iceberg#799: a wrong `schema` key of a manifest is not believed, and not copied."""
    for version in (1, 2):
        for what, text in HEADER_SCHEMAS.items():
            for spec in ([], [fx_json.spec_field(2, "name")]):
                table = fx_table.Table(version, spec=spec)
                made = [table.data([{"id": i, "name": "a"}], ["a"] if spec else []) for i in range(6)]
                if spec:  # an entry that stays, so that a manifest is written with what survives
                    made.append(table.data([{"id": 77, "name": "alone"}], ["alone"]))
                table.snapshot([table.manifest([table.entry(f) for f in made], header={"schema": text})])
                table.save()
                equal(len(files(table)), len(made), what)
                check(firn_json("compact", *table.arguments, "--yes", "--verify")["committed"], "nothing was compacted")
                equal(fx_table.rows_of(table), fx_table.oracle(table), f"{what}: rows")
                for _, header, _ in table.current_manifests():
                    equal(json.loads(header["schema"])["fields"], table.fields, f"{what}: header schema")


def report_30_two_forms_of_the_header_spec():
    """Report 30, apache/iceberg PR#13895: `partition-spec` as a list or as an object is read; a list is written."""
    spec = [fx_json.spec_field(2, "name")]
    for text in (json.dumps(spec), json.dumps({"spec-id": 0, "fields": spec}), "{}", "nonsense", None):
        for fields_of_spec in (spec, []):
            table = fx_table.Table(2, spec=fields_of_spec)
            made = [table.data([{"id": i, "name": "a"}], ["a"] if fields_of_spec else []) for i in range(5)]
            table.snapshot([table.manifest([table.entry(f) for f in made], header={"partition-spec": text})])
            table.save()
            equal(len(files(table)), 5, f"files with {text}")
            compact(table)
            for _, header, _ in table.current_manifests():
                equal(json.loads(header["partition-spec"]), fields_of_spec, "partition-spec that was written")
                equal(header["partition-spec-id"], "0", "partition-spec-id that was written")


def report_32_list_without_format_version():
    """Report 32, duckdb/duckdb-iceberg#1315: a list's columns are what its Avro schema says; header keys don't matter."""
    for header in ({"format-version": None, "snapshot-id": None}, {"format-version": "1"}, {"format-version": "77"}):
        for manifest_header in ({}, {"format-version": None}, {"format-version": "1", "content": "data"}):
            table = fx_table.Table(2)
            data = table.manifest([table.entry(table.data([{"id": i, "name": "x"}])) for i in range(2)])
            table.snapshot([data])
            deletes = table.manifest([table.entry(equality_delete(table, [1]))], content="deletes",
                                     header=manifest_header)
            table.snapshot([data, deletes], operation="overwrite", list_options={"header": header})
            table.save()
            equal(sorted((f["content"], f["sequence_number"]) for f in files(table)),
                  [("data", 1), ("data", 1), ("equality_deletes", 2)], f"{header} {manifest_header}")
            equal([m["content"] for m in firn_json("manifests", *table.arguments)["manifests"]], ["data", "deletes"],
                  f"manifests, {header}")
            compact(table, rows=False)
            equal(fx_table.rows_of(table), [{"id": 0, "name": "x"}], "rows without the deleted")


def report_33_counts_by_id():
    """Report 33, redpanda-data/redpanda PR#24602: file counts by id under both names, absent and null; no manifest is skipped."""
    def shape(kind):
        schema = fx_avro.list_schema(2, old_names=kind in ("old names", "swapped"))
        if kind == "absent":
            for word in ("added", "existing", "deleted"):
                fx_avro.drop_field(schema, f"{word}_files_count")
                fx_avro.drop_field(schema, f"{word}_rows_count")
        if kind == "null":
            for item in schema["fields"]:
                if item["name"].endswith("_count"):
                    item["type"] = ["null", item["type"]]
        if kind == "swapped":  # what the names say is wrong: ids rule
            one, two = (fx_avro.find_field(schema, f"{w}_data_files_count") for w in ("added", "deleted"))
            one["name"], two["name"] = two["name"], one["name"]
        return schema

    for kind in ("new names", "old names", "absent", "null", "swapped"):
        table = fx_table.Table(2)
        made = [table.data([{"id": i, "name": "x"}]) for i in range(5)]
        record = table.manifest([table.entry(f) for f in made])
        counts = {key: record.pop(key) for key in list(record) if key.endswith("_count")}
        if kind in ("old names", "swapped"):
            record.update({k.replace("_files_", "_data_files_"): v for k, v in counts.items()})
        elif kind == "new names":
            record.update(counts)
        if kind == "swapped":
            record["added_data_files_count"], record["deleted_data_files_count"] = 0, 5
        table.snapshot([record], list_options={"schema": shape(kind)})
        table.save()
        shown = firn_json("manifests", *table.arguments)["manifests"][0]
        known = kind not in ("absent", "null")
        equal((shown["added_files"], shown["deleted_files"]), (5, 0) if known else (None, None), kind)
        equal(len(files(table)), 5, kind)
        compact(table)
        record, _, _ = table.current_manifests()[0]
        equal(record["added_files_count"] + record["existing_files_count"], 1, f"{kind}: the new list's counts")


def report_33_counts_that_lie():
    """Report 33, the same kind: a manifest whose files the list does not count must not vanish with the next compaction."""
    for zeros in ({"added_files_count": 0, "existing_files_count": 0}, {"added_files_count": 0}):
        table = fx_table.Table(2)
        table.fill()
        lying = table.manifest([table.entry(table.data([{"id": 77, "name": "live"}]))], listed=zeros)
        table.snapshot([lying, *table.filled])
        path = table.save()
        before = fx_table.rows_of(table)
        refused("compact", *table.arguments, "--yes", words=("added_files_count", os.path.basename(lying["manifest_path"])))
        equal(table.current_path(), path, "nothing is committed")
        equal(fx_table.rows_of(table), before, "rows")
    table = fx_table.Table(2)
    made = table.fill()
    emptied = table.manifest([table.entry(made[0], status=2, sequence_number=1, file_sequence_number=1)])
    kept = table.manifest([table.entry(f, status=0, sequence_number=1, file_sequence_number=1) for f in made[1:]])
    table.rows = table.rows[3:]
    table.snapshot([emptied, kept], operation="delete")
    table.save()
    compact(table)


def report_34_odd_metrics():
    """Report 34, apache/iceberg-rust#165: a negative count is unknown, an unknown column ignored; copied entries keep both."""
    for version in (1, 2):
        table = fx_table.Table(version, spec=[fx_json.spec_field(2, "name")])
        odd = {"null_value_counts": [{"key": 1, "value": -1}, {"key": 99, "value": 3}],
               "value_counts": [{"key": 99, "value": -5}, {"key": 1, "value": 1}],
               "column_sizes": [{"key": 12345, "value": 1}],
               "nan_value_counts": [{"key": 77, "value": -1}],
               "lower_bounds": [{"key": 99, "value": b"\x01\x02"}, {"key": 2, "value": b"a"}],
               "upper_bounds": [{"key": 99, "value": b"\xff" * 20}]}
        alone = table.data([{"id": 0, "name": "alone"}], ["alone"], **odd)
        many = [table.data([{"id": i, "name": "many"}], ["many"], **odd) for i in range(6)]
        table.snapshot([table.manifest([table.entry(f) for f in [alone, *many]])])
        table.save()
        equal(len(files(table)), 7, "files")
        report = firn_json("compact", *table.arguments, "--yes", "--verify")
        check(report["committed"], "nothing was compacted")
        equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")
        kept = next(e for e in table.live_entries() if e["data_file"]["file_path"] == alone["file_path"])
        for key, value in odd.items():
            equal(kept["data_file"][key], value, f"v{version}: {key} of the copied entry")
        equal(kept["status"], 0, "its status")
        new = next(e for e in table.live_entries() if e["data_file"]["file_path"] != alone["file_path"])
        equal({m["key"] for m in new["data_file"]["null_value_counts"]}, {1, 2}, "columns of the new entry")


def report_35_inherited_fields():
    """Report 35, ClickHouse/ClickHouse PR#116040: what an ADDED entry lacks it inherits; EXISTING must say it."""
    def shape(absent):
        schema = fx_avro.entry_schema(2)
        for name in absent:
            schema["fields"] = [f for f in schema["fields"] if f["name"] != name]
        return schema

    columns = ("snapshot_id", "sequence_number", "file_sequence_number")
    for absent in ((), ("snapshot_id",), ("sequence_number", "file_sequence_number"), columns):
        table = fx_table.Table(2)
        table.fill(1)   # so that 0 and the inherited number differ
        entry = table.entry(table.data([{"id": 1, "name": "x"}]))
        entry.update({key: None for key in columns})
        for key in absent:
            entry.pop(key)
        record = table.manifest([entry], schema=shape(absent))
        table.snapshot([record, *table.filled])
        table.save()
        shown = next(f for f in files(table) if f["path"] == entry["data_file"]["file_path"])
        equal((shown["sequence_number"], shown["file_sequence_number"], shown["snapshot_id"]),
              (2, 2, table.metadata["current-snapshot-id"]), f"without {absent}")
        compact(table)

    # Explicit numbers are kept, 0 too.
    for number in (0, 1):
        table = fx_table.Table(2)
        table.fill(1)
        entry = table.entry(table.data([{"id": 1, "name": "x"}]), 0, snapshot_id=7, sequence_number=number,
                            file_sequence_number=number)
        table.snapshot([table.manifest([entry]), *table.filled])
        table.save()
        shown = next(f for f in files(table) if f["path"] == entry["data_file"]["file_path"])
        equal((shown["sequence_number"], shown["file_sequence_number"], shown["snapshot_id"]), (number, number, 7),
              f"explicit {number}")

    # EXISTING without a number is an error, in a manifest of a v2 table that was committed with a number.
    for missing in ("sequence_number", "file_sequence_number"):
        for absent in ((), (missing,)):
            table = fx_table.Table(2)
            table.fill(1)
            entry = table.entry(table.data([{"id": 1, "name": "x"}]), 0, sequence_number=1, file_sequence_number=1)
            entry[missing] = None
            if absent:
                entry.pop(missing)
            table.snapshot([table.manifest([entry], schema=shape(absent)), *table.filled])
            table.save()
            done = firn("files", *table.arguments, expect=None)
            if missing == "sequence_number":
                check(done.returncode == 1 and "sequence_number" in done.stderr,
                      f"EXISTING without {missing}: exit {done.returncode} {done.stderr[:300]} {done.stdout[:600]}")

    # A removed entry without a number does not matter: it is not live.
    table = fx_table.Table(2)
    table.fill(1)
    gone = table.entry(table.data([{"id": 1, "name": "x"}], oracle=False), 2)
    table.snapshot([table.manifest([gone]), *table.filled])
    table.save()
    equal(len(files(table)), 1, "files beside a removed one")


def report_36_v1_manifests_in_the_snapshot():
    """Report 36, apache/iceberg-go PR#1727: `manifests` in a v1 snapshot is the list; the new list has true lengths."""
    table = fx_table.Table(1)
    made = [table.data([{"id": i, "name": "x"}]) for i in range(6)]
    records = [table.manifest([table.entry(f) for f in made[:3]]), table.manifest([table.entry(f) for f in made[3:]])]
    lone = [table.data([{"id": 9, "name": "untouched"}])]
    records.append(table.manifest([table.entry(f) for f in lone]))
    snapshot = table.snapshot("unused")
    del snapshot["manifest-list"]
    snapshot["manifests"] = [record["manifest_path"] for record in records]
    table.save()
    equal(len(files(table)), 7, "files")
    shown = firn_json("manifests", *table.arguments)["manifests"]
    equal([m["bytes"] for m in shown], [os.path.getsize(m["path"]) for m in shown], "lengths")
    equal({m["spec_id"] for m in shown}, {0}, "spec ids")
    equal(described(table)["data_files"]["rows"], 7, "rows")
    # PyIceberg knows no such snapshots.
    compact(table, reader=lambda t: fx_table.rows_in(e["data_file"]["file_path"] for e in t.live_entries()))
    after = table.current()
    equal(after["snapshots"][0], table.metadata["snapshots"][0], "the old snapshot keeps its form")
    for record, _, _ in table.current_manifests():
        equal(record["manifest_length"], os.path.getsize(record["manifest_path"]), "length in the new list")

    # Where both are given the list is used.
    table = fx_table.Table(1)
    table.fill(2)
    table.metadata["snapshots"][0]["manifests"] = ["/nowhere/at/all.avro"]
    table.save()
    equal(len(files(table)), 2, "files by the list")

    # An entry that is no text is an error, and an empty list is an empty snapshot.
    table = fx_table.Table(1)
    snapshot = table.snapshot("unused")
    del snapshot["manifest-list"]
    for bad in (["x", 5], "x", [None], {}):
        snapshot["manifests"] = bad
        table.save()
        refused("files", *table.arguments, words=["manifests"])
    snapshot["manifests"] = []
    table.save()
    equal(files(table), [], "files of an empty list")


def report_37_sequence_number_zero():
    """Report 37, apache/iceberg-go PR#1147: 0 is a number: the list's min_sequence_number of files from v1 stays 0."""
    table = fx_table.Table(2, spec=[fx_json.spec_field(2, "name")])
    alone = table.data([{"id": 0, "name": "alone"}], ["alone"])
    removed = table.data([{"id": 1, "name": "gone"}], ["gone"], oracle=False)
    many = [table.data([{"id": i, "name": "many"}], ["many"]) for i in range(6)]
    numbers = {"sequence_number": 0, "file_sequence_number": 0}
    entries = [table.entry(alone, 0, **numbers), table.entry(removed, 2, **numbers)]
    entries += [table.entry(f, 0, **numbers) for f in many]
    table.metadata["last-sequence-number"] = 41
    table.snapshot([table.manifest(entries, listed={"sequence_number": 42, "min_sequence_number": 0})])
    table.save()
    equal({f["sequence_number"] for f in files(table)}, {0}, "numbers")
    check(firn_json("compact", *table.arguments, "--yes", "--verify")["committed"], "nothing was compacted")
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")
    for record, _, entries in table.current_manifests():
        live = [e["sequence_number"] if e["sequence_number"] is not None else record["sequence_number"]
                for e in entries if e["status"] != 2]
        # A manifest without live files has no minimum of its own.
        wanted = min(live, default=record["sequence_number"])
        equal(record["min_sequence_number"], wanted, f"minimum over {live}")
    kept = next(e for e in table.live_entries() if e["data_file"]["file_path"] == alone["file_path"])
    equal((kept["sequence_number"], kept["file_sequence_number"]), (0, 0), "the kept entry's numbers")
    check(min(r["min_sequence_number"] for r, _, _ in table.current_manifests()) == 0, "the 0 is gone")


def report_37_live_minimum():
    """Report 37: entries that were removed do not count for the minimum, and are not carried on."""
    table = fx_table.Table(2, spec=[fx_json.spec_field(2, "name")])
    old = table.data([{"id": 1, "name": "gone"}], ["gone"], oracle=False)
    alone = table.data([{"id": 0, "name": "alone"}], ["alone"])
    many = [table.data([{"id": i, "name": "many"}], ["many"]) for i in range(6)]
    entries = [table.entry(old, 2, sequence_number=0, file_sequence_number=0)]
    entries += [table.entry(f, 0, sequence_number=30, file_sequence_number=30) for f in [alone, *many]]
    table.metadata["last-sequence-number"] = 41
    table.snapshot([table.manifest(entries)])
    table.save()
    firn_json("compact", *table.arguments, "--yes", "--verify")
    for record, _, entries in table.current_manifests():
        check(all(e["data_file"]["file_path"] != old["file_path"] for e in entries), "an old DELETED entry was carried")
        live = [e for e in entries if e["status"] == 0]
        if live:
            equal(record["min_sequence_number"], 30, "minimum")
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")


PARTITION_TYPES = {
    "decimal(9,2)": [
        ({"type": "fixed", "name": "d", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2},
         (-996953).to_bytes(4, "big", signed=True)),
        ({"type": "fixed", "name": "d", "size": 16, "logicalType": "decimal", "precision": 9, "scale": 2},
         (-996953).to_bytes(16, "big", signed=True)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, b"\xf0\xc9\xa7"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, b"\xff\xff\xff\xf0\xc9\xa7"),
        ("bytes", b"\xf0\xc9\xa7"),
    ],
    "uuid": [
        ({"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"},
         uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes),
        ({"type": "fixed", "name": "u", "size": 16}, uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes),
        ("bytes", uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes),
        ({"type": "fixed", "name": "u", "size": 16, "logicalType": "no-such-type"},
         uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes),
    ],
    "fixed[3]": [({"type": "fixed", "name": "f", "size": 3}, b"\x01\x02\xff"), ("bytes", b"\x01\x02\xff")],
    "binary": [("bytes", b"\x01\x02\xff"), ({"type": "fixed", "name": "f", "size": 3}, b"\x01\x02\xff")],
    "string": [("string", "ab"), ({"type": "string", "logicalType": "no-such-type"}, "ab"), ("bytes", b"ab")],
    "long": [("long", 34), ("int", 34), ({"type": "long", "logicalType": "no-such-type"}, 34)],
    "date": [({"type": "int", "logicalType": "date"}, 19000), ("int", 19000)],
    "timestamp": [({"type": "long", "logicalType": "timestamp-micros"}, 1577836800000000),
                  ({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False}, 1577836800000000),
                  ("long", 1577836800000000)],
}


def report_39_forms_of_a_partition_value():
    """Report 39, apache/iceberg-python#241: a value is decoded by the Avro type that the file has, then taken for the spec's."""
    cells = {"decimal(9,2)": decimal.Decimal("-9969.53"), "uuid": uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes,
             "fixed[3]": b"\x01\x02\xff", "binary": b"\x01\x02\xff", "string": "ab", "long": 34, "date": None,
             "timestamp": None}
    for kind, forms in PARTITION_TYPES.items():
        answers = set()
        for avro_type, value in forms:
            for reverse in (False, True):   # both orders of the union
                table = fx_table.Table(2, [field(1, "id", "long"), field(2, "p", kind)], [fx_json.spec_field(2, "p")])
                item = fx_avro.field(1000, "p", avro_type, False)
                if reverse:
                    item["type"].reverse()
                    del item["default"]
                schema = fx_avro.entry_schema(2, [item])
                made = [table.data([{"id": i, "p": cells[kind]}], [v], oracle=False) for i, v in enumerate((value, None))]
                # Behind the partition come the counts: a length read as data would shift them.
                table.snapshot([table.manifest([table.entry(f) for f in made], schema=schema)])
                table.save()
                shown = files(table)
                equal([f["rows"] for f in shown], [1, 1], f"{kind} as {avro_type}: counts behind the value")
                equal(shown[1]["partition"], {"p": None}, f"{kind} as {avro_type}: null")
                answers.add(json.dumps(shown[0]["partition"]))
        equal(len(answers), 1, f"{kind}: one value, whatever the file's type: {answers}")
    # A fixed of a wrong length, and a value that does not fit, are errors.
    for kind, avro_type, value in (("uuid", {"type": "fixed", "name": "u", "size": 15}, b"x" * 15),
                                   ("int", "long", 1 << 40), ("long", "string", "34"),
                                   ("decimal(9,2)", "bytes", b"\x7f" * 40)):
        table = fx_table.Table(2, [field(1, "id", "long"), field(2, "p", kind)], [fx_json.spec_field(2, "p")])
        schema = fx_avro.entry_schema(2, [fx_avro.field(1000, "p", avro_type, False)])
        record = table.data([{"id": 1}], [value], fields=table.fields[:1])
        table.snapshot([table.manifest([table.entry(record)], schema=schema)])
        table.save()
        refused("files", *table.arguments, words=["m0.avro"])


def walk(schema, path=()):
    """Every node of an Avro schema, as (path, node)."""
    yield path, schema
    if isinstance(schema, list):
        for i, item in enumerate(schema):
            yield from walk(item, (*path, i))
    elif isinstance(schema, dict):
        for key in ("fields", "items", "type"):
            if isinstance(schema.get(key), (list, dict)):
                yield from walk(schema[key], (*path, key))


def replaced(schema, path, value):
    if not path:
        return value
    result = copy.deepcopy(schema)
    at = result
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return result


def report_40_schema_nodes_of_the_wrong_kind():
    """Report 40, commandprompt/pgcolumnar#644: any node of the header's schema may be of a wrong kind: a clean error."""
    table = fx_table.Table(2, spec=[fx_json.spec_field(2, "name")])
    record = table.data([{"id": 1, "name": "a"}], ["a"], split_offsets=[4], lower_bounds=[{"key": 1, "value": b"12345678"}])
    good = fx_avro.entry_schema(2, table.partition_fields())
    good_list = fx_avro.list_schema(2)
    manifest = table.manifest([table.entry(record)])
    table.snapshot([manifest])
    list_path = table.metadata["snapshots"][0]["manifest-list"]
    table.save()
    equal(len(files(table)), 1, "files of the good table")
    cases = 0
    for path, schema, layout, records in ((manifest["manifest_path"], good, good, [table.entry(record)]),
                                          (list_path, good_list, good_list, [manifest])):
        whole = open(path, "rb").read()
        for way, _ in walk(schema):
            for value in (None, 5, "", [], {}, "no_such_type", [["null"]], {"type": "record"},
                          {"type": {"type": {"type": "long"}}}, ["null", "null"]):
                cases += 1
                if cases % 3:
                    continue  # a third of them is enough for every node
                fx_avro.write(path, json.dumps(replaced(schema, way, value)), records, encode_schema=layout)
                firn("files", *table.arguments, expect=(0, 1, 3))
        with open(path, "wb") as file:
            file.write(whole)
    equal(len(files(table)), 1, "files of the good table, again")


def report_40_null_paths():
    """Report 40, commandprompt/pgcolumnar#644: a path that is null is an error that names the field."""
    table = fx_table.Table(2)
    schema = fx_avro.entry_schema(2)
    fx_avro.find_field(schema, "file_path")["type"] = ["null", "string"]
    record = table.data([{"id": 1, "name": "a"}])
    table.snapshot([table.manifest([table.entry({**record, "file_path": None})], schema=schema)])
    table.save()
    for verb in ("files", "describe", "plan"):
        refused(verb, *table.arguments, words=["file_path"])
    table = fx_table.Table(2)
    schema = fx_avro.list_schema(2)
    fx_avro.find_field(schema, "manifest_path")["type"] = ["null", "string"]
    manifest = table.manifest([table.entry(table.data([{"id": 1, "name": "a"}]))])
    table.snapshot([{**manifest, "manifest_path": None}], list_options={"schema": schema})
    table.save()
    refused("files", *table.arguments, words=["manifest_path"])


def report_40_paths_that_are_no_regular_files():
    """Report 40, commandprompt/pgcolumnar#644: a FIFO, a folder or a device in a file's place is an error at once, not a hang."""
    def spoil(path, how):
        if os.path.exists(path):
            os.unlink(path)
        if how == "fifo":
            os.mkfifo(path)
        elif how == "folder":
            os.mkdir(path)
        elif how == "device":
            os.symlink("/dev/zero", path)
        elif how == "loop":
            os.symlink(path, path)

    for how in ("fifo", "folder", "device", "loop", "absent"):
        for which in ("manifest", "list", "metadata", "data"):
            table = fx_table.Table(2)
            made = table.fill(6)
            saved = table.save()
            path = {"manifest": table.filled[0]["manifest_path"],
                    "list": table.metadata["snapshots"][0]["manifest-list"],
                    "metadata": saved, "data": made[0]["file_path"]}[which]
            spoil(path, how)
            verbs = [("compact", "--yes", "--rewrite-all")] if which == "data" else [("files",), ("describe",)]
            for verb, *options in verbs:
                refused(verb, *table.arguments, *options, words=[os.path.basename(path)], code=(1, 3))


def report_41_decimal_bounds():
    """Report 41, StarRocks/starrocks PR#78456: bounds are the shortest signed form; -9969.53 is f0c9a7."""
    vectors = {"decimal(7,2)": {"-9969.53": "f0c9a7", "0.00": "00", "-0.01": "ff", "1.27": "7f", "-1.28": "80",
                                "1.28": "0080", "-327.68": "8000", "327.68": "008000", "-1.27": "81", "14.20": "058c"},
               "decimal(38,0)": {str(10 ** 37): "0785ee10d5da46d900f436a000000000",
                                 str(-10 ** 37): "f87a11ef2a25b926ff0bc96000000000", "-1": "ff"}}
    for kind, cases in vectors.items():
        for text, wanted in cases.items():
            table = fx_table.Table(2, [field(1, "id", "long"), field(2, "price", kind)])
            # The inputs' own bounds are padded: only what the file holds may count.
            padded = int(decimal.Decimal(text).scaleb(2 if "2" in kind.split(",")[1] else 0)).to_bytes(16, "big", signed=True)
            made = [table.data([{"id": i, "price": decimal.Decimal(text)}], lower_bounds=[{"key": 2, "value": padded}],
                               upper_bounds=[{"key": 2, "value": padded}]) for i in range(5)]
            table.snapshot([table.manifest([table.entry(f) for f in made])])
            table.save()
            compact(table)
            for entry in table.live_entries():
                for bounds in ("lower_bounds", "upper_bounds"):
                    found = {m["key"]: m["value"] for m in entry["data_file"][bounds]}
                    equal(found[2].hex(), wanted, f"{bounds} of {text}")


def report_41_padded_partition_bounds():
    """Report 41, pola-rs/polars#29449: padded bytes of a decimal are read with their sign."""
    table = fx_table.Table(2, [field(1, "id", "long"), field(2, "p", "decimal(7,2)")], [fx_json.spec_field(2, "p")])
    value = (-996953).to_bytes(4, "big", signed=True)
    made = [table.data([{"id": i, "p": decimal.Decimal("-9969.53")}], [value]) for i in range(5)]
    summary = [{"contains_null": False, "lower_bound": (-996953).to_bytes(16, "big", signed=True),
                "upper_bound": b"\xf0\xc9\xa7"}]
    table.snapshot([table.manifest([table.entry(f) for f in made], listed={"partitions": summary})])
    table.save()
    shown = firn_json("manifests", *table.arguments)["manifests"][0]["partition_summaries"][0]
    equal((shown["lower_bound"], shown["upper_bound"]), ("-9969.53", "-9969.53"), "both forms")
    compact(table)
    record, _, _ = table.current_manifests()[0]
    equal(record["partitions"][0]["lower_bound"].hex(), "f0c9a7", "the summary that was written")


if __name__ == "__main__":
    bugkit.main([test for name, test in sorted(globals().items()) if name.startswith("report_")])
