"""Tables that Spark and Iceberg's Java API wrote are compacted, and every reader that is right on them reads the same rows."""
import json
import os

import kit

TABLES = """added_files all_types codecs crc_files expired floats_strings jdbc_v1 many_manifests metadata_gzip
    metrics_modes named_refs nested never_written object_store_layout page_v2 part_bucket_truncate part_day part_time
    schema_evolution small_pages sorted_table spec_evolution staged statistics v1_identity_null v1_unpartitioned
    wide""".split()


def refs_of(name):
    prefix = name + ".expect."
    names = os.listdir(os.path.join(kit.CORPUS, "spark"))
    return [n[len(prefix):-len(".jsonl")] for n in names
            if n.startswith(prefix) and n != prefix + "jsonl"]


def check_rows(name, where, reader):
    kit.same_rows(kit.read(reader, where), kit.expected(name), f"{name} by {reader}")
    for ref in refs_of(name):
        kit.same_rows(kit.read(reader, where, ref=ref), kit.expected(name, ref),
                      f"{name}, ref {ref}, by {reader}")


def parquet_files(folder):
    return {os.path.join(base, name) for base, _, names in os.walk(folder) for name in names if name.endswith(".parquet")}


def check_promises(folder, before):
    """What the new files say of themselves is true."""
    made = sorted(parquet_files(folder) - before)
    if made:
        kit.firn("parquet", "verify", *made)


def compact(name):
    folder, about = kit.unpack(name)
    table = kit.fixture_argument(folder, about)
    where = kit.fixture_where(folder)
    preview = kit.firn_json("compact", *table, "--rewrite-all")
    before = parquet_files(folder)
    result = kit.firn_json("compact", *table, "--rewrite-all", "--yes", "--verify")
    check_report(name, preview, result)
    check_promises(folder, before)
    for reader in kit.readers_that_are_right(name):
        check_rows(name, where, reader)
    again = kit.firn_json("compact", *table, "--yes")
    kit.check(not again["committed"], f"{name}: the second run found something to do: {json.dumps(again)[:500]}")


def check_report(name, preview, result):
    """What a run did equals its preview in groups and files."""
    for key in ("selected_groups", "input_files", "output_files"):
        kit.check(preview["plan"][key] == result["plan"][key], f"{name}: {key} differs from the preview")
    if not result["committed"]:
        return
    done = result["result"]
    for key in ("input_files", "output_files"):
        kit.check(preview["plan"][key] == done[key],
                  f"{name}: {key}: previewed {preview['plan'][key]}, did {done[key]}")


kit.main([(name, compact, name) for name in TABLES])
