"""Deletes of every kind that Spark and Iceberg's Java API wrote are rewritten and dangling ones removed; the rows stay what they are for every
reader that is right on the table, and what becomes of the delete files is what the specification allows."""
import glob
import json
import re

import kit
import rows

LINEAGE = re.compile(r',"_row_id":(null|\d+),"_last_updated_sequence_number":(null|\d+)}$')

# Tables, and whether rewrite-deletes finds something to do in them.
REWRITTEN = {"eq_global": True, "eq_null_key": True, "eq_partitioned": True, "eq_with_positions": True,
             "pos_delete_files": True, "dangling_deletes": True, "mor_file_granularity": None,
             "mor_partition_granularity": None, "dv_spark": None, "dv_many_in_one_puffin": None, "dv_replaced": None,
             "lineage_update": None, "part_day": False, "v1_unpartitioned": False}


def delete_entries(where):
    """Live entries of delete manifests, by PyIceberg's metadata reading alone."""
    from pyiceberg.manifest import ManifestContent
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(rows.strip_scheme(rows.find_metadata(where)))
    snapshot = table.current_snapshot()
    if snapshot is None:
        return []
    found = []
    for manifest in snapshot.manifests(table.io):
        if manifest.content == ManifestContent.DELETES:
            found += manifest.fetch_manifest_entry(table.io, discard_deleted=True)
    return found


def data_files(where):
    from pyiceberg.manifest import ManifestContent
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(rows.strip_scheme(rows.find_metadata(where)))
    snapshot = table.current_snapshot()
    return sorted(entry.data_file.file_path for manifest in (snapshot.manifests(table.io) if snapshot else [])
                  if manifest.content == ManifestContent.DATA
                  for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True))


def check_rows(name, where, lineage=True, rewritten=False):
    """`lineage` False: of a table that was upgraded, whose row ids no fixture knows. Once equality deletes and Avro were `rewritten`, more readers
    can tell."""
    readers = kit.readers_that_are_right(name)
    if rewritten:
        readers = sorted({"pyiceberg", "duckdb", *readers})
    for reader in readers:
        found, wanted = kit.read(reader, where), kit.expected(name)
        if reader == "pyiceberg" or not lineage:
            found, wanted = ([LINEAGE.sub("}", line) for line in lines] for lines in (found, wanted))
        kit.same_rows(sorted(found), sorted(wanted), f"{name} by {reader}")


def check_deletes(name, where, table):
    """After a rewrite: no equality deletes; in format 3 vectors only, one per live data file at most."""
    entries = delete_entries(where)
    kit.check(2 not in [int(entry.data_file.content) for entry in entries], f"{name}: equality deletes are left")
    if kit.firn_json("describe", *table)["format_version"] < 3:
        return
    formats = {str(entry.data_file.file_format) for entry in entries}
    kit.check(all("PUFFIN" in text for text in formats), f"{name}: delete files {formats} in format 3")
    listed = kit.firn_json("files", *table)["files"]
    paths = [file["referenced_data_file"] for file in listed if file["content"] != "data"]
    kit.check(len(paths) == len(set(paths)), f"{name}: two vectors for one data file: {paths}")


def upgrade(folder):
    """A directory table becomes one of format 3, as an upgrade does it: by its metadata alone."""
    newest = max(glob.glob(folder + "/metadata/v*.metadata.json"), key=lambda p: int(re.search(r"v(\d+)\.", p).group(1)))
    number = int(re.search(r"/v(\d+)\.", newest).group(1)) + 1
    with open(newest, encoding="utf-8") as file:
        metadata = json.load(file)
    metadata.update({"format-version": 3, "next-row-id": 0})
    with open(f"{folder}/metadata/v{number}.metadata.json", "w", encoding="utf-8") as file:
        json.dump(metadata, file)
    with open(f"{folder}/metadata/version-hint.text", "w", encoding="utf-8") as file:
        file.write(str(number))


def rewrite(name, finds, upgraded=False):
    folder, about = kit.unpack(name)
    if upgraded:
        upgrade(folder)
    table = kit.fixture_argument(folder, about)
    where = kit.fixture_where(folder)
    data = data_files(where)
    preview = kit.firn_json("rewrite-deletes", *table)
    done = kit.firn_json("rewrite-deletes", *table, "--yes")
    if finds is not None:
        kit.check(done["committed"] == finds, f"{name}: committed: {done['committed']}")
    for key in ("removed_position_delete_files", "removed_equality_delete_files", "removed_vectors", "output_files",
                "deleted_rows"):
        kit.check(preview["plan"][key] == done["plan"][key], f"{name}: {key} differs from the preview")
        if done["committed"]:
            kit.check(done["plan"][key] == done["result"][key], f"{name}: {key} differs from the plan: "
                      f"{done['plan'][key]} {done['result'][key]}")
    check_deletes(name, where, table)
    check_rows(name, where, not upgraded, done["committed"])
    kit.check(data == data_files(where), f"{name}: data files changed")
    again = kit.firn_json("rewrite-deletes", *table, "--yes")
    kit.check(not again["committed"], f"{name}: the second run found something to do: {json.dumps(again)[:1500]}")


def remove_dangling(name, expected_files):
    folder, about = kit.unpack(name)
    table = kit.fixture_argument(folder, about)
    where = kit.fixture_where(folder)
    before = len(delete_entries(where))
    preview = kit.firn_json("remove-dangling-deletes", *table)
    done = kit.firn_json("remove-dangling-deletes", *table, "--yes")
    kit.check(preview["plan"]["files"] == done["plan"]["files"], f"{name}: the preview differs")
    gone = before - len(delete_entries(where))
    kit.check(gone == len(done["plan"]["files"]), f"{name}: {gone} gone")
    if expected_files is not None:
        kit.check(gone == expected_files, f"{name}: {gone} dangling, not {expected_files}: {done['plan']['files']}")
    kit.check(done["committed"] == (gone > 0), f"{name}: committed")
    check_rows(name, where)
    again = kit.firn_json("remove-dangling-deletes", *table, "--yes")
    kit.check(not again["committed"], f"{name}: the second run found something to do")


UPGRADED = ("eq_global", "eq_null_key", "eq_partitioned", "eq_with_positions", "pos_delete_files", "dangling_deletes",
            "mor_file_granularity", "mor_partition_granularity")
kit.main([("rewrite_" + name, rewrite, name, finds) for name, finds in REWRITTEN.items()]
         + [("upgraded_" + name, rewrite, name, True, True) for name in UPGRADED]
         + [("dangling_" + name, remove_dangling, name, None) for name in REWRITTEN])
