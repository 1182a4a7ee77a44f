"""
Every table of the corpus, whatever its format version, its data files' format and its deletes, is compacted, and every reader
that is right on it reads the same rows, and the same lineage of rows, as before. What may be refused is named here.
"""
import collections
import json
import os
import shutil
import tempfile

import kit

# Refused by name: property write.format.default is orc or avro, and so are the files of the former.
REFUSED = {"avro_files": "write.format.default", "orc_files": "write.format.default"}


def refs_of(name):
    prefix = name + ".expect."
    names = os.listdir(os.path.join(kit.CORPUS, "spark"))
    return [n[len(prefix):-len(".jsonl")] for n in names
            if n.startswith(prefix) and n != prefix + "jsonl"]


def check_readers(name, where):
    for reader in kit.readers_that_are_right(name):
        kit.check_rows(reader, where, kit.expected(name), name)
        for ref in refs_of(name):
            kit.check_rows(reader, where, kit.expected(name, ref), f"{name}, ref {ref},", ref=ref)


def parquet_files(folder):
    return {os.path.join(base, name) for base, _, names in os.walk(folder) for name in names if name.endswith(".parquet")}


def check_promises(folder, before):
    """What the new files say of themselves is true."""
    made = sorted(parquet_files(folder) - before)
    if made:
        kit.firn("parquet", "verify", *made)


def live(arguments, **options):
    """(data files, delete files) as firn lists them."""
    files = kit.firn_json("files", *arguments, **options)["files"]
    return ([f for f in files if f["content"] == "data"], [f for f in files if f["content"] != "data"])


def check_deletes(name, arguments, before, **options):
    """All data files were rewritten, so only delete files stay that nothing needed before either."""
    data, deletes = live(arguments, **options)
    old_data, old_deletes = before
    kit.check(not {f["path"] for f in data} & {f["path"] for f in old_data}, f"{name}: a file was left as it was")
    paths = {f["path"] for f in data}
    dangling = [f for f in deletes if f.get("format") == "PUFFIN" and f.get("referenced_data_file") not in paths]
    kit.check(not dangling, f"{name}: vectors that dangle: {dangling}")
    stale = collections.Counter(f["path"] for f in deletes) - collections.Counter(f["path"] for f in old_deletes)
    kit.check(not stale, f"{name}: delete files that were not there before: {stale}")
    return deletes


def run(name, arguments, options=("--verify",), **more):
    """Previews and compacts everything; a second run finds nothing to do. Returns the report."""
    before = live(arguments, **more)
    preview = kit.firn_json("compact", *arguments, "--rewrite-all", **more)
    result = kit.firn_json("compact", *arguments, "--rewrite-all", "--yes", *options, **more)
    check_report(name, preview, result)
    if result["committed"]:
        check_deletes(name, arguments, before, **more)
    again = kit.firn_json("compact", *arguments, "--yes", **more)
    kit.check(not again["committed"], f"{name}: the second run found something to do: {json.dumps(again)[:500]}")
    return result


def check_report(name, preview, result):
    """What a run did equals its preview in groups, files and deletes."""
    for key in ("selected_groups", "input_files", "output_files", "deleted_rows", "removed_delete_files"):
        kit.check(preview["plan"][key] == result["plan"][key], f"{name}: {key} differs from the preview")
    if not result["committed"]:
        return
    done = result["result"]
    for key, did in (("input_files", "input_files"), ("output_files", "output_files"), ("deleted_rows", "rows_deleted"),
                     ("removed_delete_files", "delete_files_removed")):
        kit.check(preview["plan"][key] == done[did], f"{name}: {key}: previewed {preview['plan'][key]}, did {done[did]}")


def compact(name):
    folder, about = kit.unpack(name)
    arguments, where = kit.fixture_argument(folder, about), kit.fixture_where(folder)
    before = parquet_files(folder)
    result = run(name, arguments)
    check_promises(folder, before)
    check_readers(name, where)
    if result["committed"] and name != "dangling_deletes":
        kit.check(not live(arguments)[1], f"{name}: delete files were left")


def refused(name):
    folder, about = kit.unpack(name)
    done = kit.firn("compact", *kit.fixture_argument(folder, about), "--rewrite-all", "--yes", expect=3)
    kit.check(REFUSED[name] in done.stderr, f"{name}: {done.stderr}")


def edit_metadata(folder, change):
    path = kit.rows.find_metadata(folder)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    change(document)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)


def avro_data():
    """Avro data files become Parquet ones where the table does not ask for Avro."""
    folder, _ = kit.unpack("avro_files")
    edit_metadata(folder, lambda document: document["properties"].pop("write.format.default"))
    run("avro_files", [folder])
    for reader in ("pyiceberg", "duckdb", "spark", "java"):
        if kit.SPARK or reader in ("pyiceberg", "duckdb"):
            kit.check_rows(reader, folder, kit.expected("avro_files"), "avro_files")


def upgraded(name, readers):
    """
    Upgraded to v3 without a commit since: no file has row ids. After a compaction all rows have one, each another, and the number of
    the commit that last changed them, which no reader could tell before, is that of the file that each came from.
    """
    folder, about = kit.unpack(name)

    def upgrade(document):
        document["format-version"] = 3
        document["next-row-id"] = 0
    numbers = {f["path"]: f["sequence_number"] for f in live([folder])[0]}
    edit_metadata(folder, upgrade)
    run(name, [folder])
    for reader in readers:
        lines, lineage = kit.rows.read(reader, folder, kit.OPTIONS)
        kit.same_rows(kit.rows.drop_lineage(lines) if lineage else lines, kit.expected(name), f"{name} by {reader}")
        if not lineage:
            continue
        found = [json.loads(line) for line in lines]
        ids = [row["_row_id"] for row in found]
        kit.check(None not in ids and len(set(ids)) == len(ids), f"{name} by {reader}: row ids {sorted(map(str, ids))[:20]}")
        updated = {row["_last_updated_sequence_number"] for row in found}
        kit.check(updated <= set(numbers.values()), f"{name} by {reader}: last updated by {updated}, files by {numbers}")


# --- tables of other makers --------------------------------------------------------------------

# big_query_error lies in gs://.
OUT_OF_REACH = ("big_query_error",)
# Readers that can't be asked: Java's gives an array's address for a UUID that is a column's default.
MISREAD = {"add_columns_with_defaults/default.db/add_columns_with_defaults": ("java",)}


def prepare():
    """A copy of corpus/tables where the recorded paths (data/persistent/…) lead to it."""
    work = tempfile.mkdtemp(prefix="firn-tables-")
    shutil.copytree(os.path.join(kit.CORPUS, "tables"), os.path.join(work, "data", "persistent"))
    return work


def outside_tables(work):
    """(name, folder, working folder); below tables/iceberg paths begin with ./ and lead from there."""
    root = os.path.join(work, "data", "persistent")
    for folder, names, _ in sorted(os.walk(root)):
        name = os.path.relpath(folder, root)
        if "metadata" in names and name not in OUT_OF_REACH:
            yield name, folder, os.path.join(root, "iceberg") if name.startswith("iceberg/") else work


def newest_metadata(folder):
    """The metadata file with the greatest number."""
    below = os.path.join(folder, "metadata")
    names = sorted(n for n in os.listdir(below) if ".metadata.json" in n)
    numbered = [n for n in names if n.startswith("v") and n[1].isdigit()]
    if numbered:
        return os.path.join(below, max(numbered, key=lambda n: int(n[1:].split(".")[0])))
    # equality_delete_extra_column has a vfinal.metadata.json as well, with ids that are no 64-bit numbers.
    return os.path.join(below, [n for n in names if n[0].isdigit()][-1])


def outside_rows(name, metadata, equality):
    """What each reader reads that can read the table; after equality deletes only Spark and Java are trusted."""
    found = {}
    for reader in ("spark", "java") if equality else ("pyiceberg", "duckdb", "spark", "java"):
        if (not kit.SPARK and reader in ("spark", "java")) or reader in MISREAD.get(name, ()):
            continue
        try:
            found[reader] = sorted(kit.read(reader, metadata))
        except BaseException as problem:  # pylint: disable=broad-except
            print(f"  {reader} can't: {str(problem).splitlines()[0][:150] if str(problem) else type(problem)}")
    return found


def outside(name, folder, cwd):
    os.chdir(cwd)
    database = os.path.join(tempfile.mkdtemp(dir=WORK), "catalog.db")
    metadata = newest_metadata(folder)
    kit.firn("catalog", "register", "db.t", metadata, "--catalog", database, "--yes", cwd=cwd)
    arguments = ["db.t", "--catalog", database]
    equality = any(f["content"] == "equality_deletes" for f in live(arguments, cwd=cwd)[1])
    before = outside_rows(name, metadata, equality)
    kit.check(before or not kit.SPARK, f"{name}: no reader reads it")
    run(name, arguments, cwd=cwd)
    after = kit.rows.find_metadata(f"{database}:db.t")
    for reader, lines in before.items():
        kit.same_rows(sorted(kit.read(reader, after)), lines, f"{name} by {reader}")


WORK = prepare()
os.chdir(WORK)
kit.main([(name, compact, name) for name in kit.fixtures() if name not in REFUSED] +
         [("refused_" + name, refused, name) for name in REFUSED] + [avro_data] +
         [("upgraded_" + name, upgraded, name, ("duckdb", "spark", "java") if kit.SPARK else ("duckdb",))
          for name in ("mor_file_granularity", "part_day")] +
         [("outside_" + name.replace("/", "_"), outside, name, folder, cwd) for name, folder, cwd in outside_tables(WORK)])
