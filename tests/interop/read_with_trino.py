"""What firn makes of tables is read by Trino as it should be. Each table of the corpus has its deletes rewritten, is compacted, and is upgraded;
after each step Trino must read the rows that the corpus expects. What Trino refuses is counted by its own words; a table that it misreads as its
writer left it is left out. By hand: README.md has the command; names as arguments choose tables (`defaults`: a column with a default)."""
import json
import os
import sys

import kit
import trino

STORAGE = "fs.hadoop.enabled=true"


def rows_by_trino(where):
    """Canonical rows of the table's newest state, without lineage, which Trino 476 has no columns for."""
    path = kit.rows.strip_scheme(kit.rows.find_metadata(where))
    metadata = kit.rows.load_metadata(path)
    fields = kit.rows.schema_fields(metadata)
    trino.run(f"CALL lake.system.register_table('cases', 't', '{metadata['location']}', '{os.path.basename(path)}')")
    try:
        columns = ", ".join('"' + field["name"].replace('"', '""') + '"' for field in fields)
        found = trino.run(f"SELECT {columns} FROM t")
    finally:
        trino.run("CALL lake.system.unregister_table('cases', 't')")
    plain = [[trino.of_answer(field["type"], value) for field, value in zip(fields, row, strict=True)] for row in found]
    return kit.rows.canonical_rows(fields, plain)


def steps(arguments, version):
    """What is done to a table of a format version, one after the other."""
    yield "its deletes rewritten", ("rewrite-deletes", *arguments, "--yes")
    yield "compacted", ("compact", *arguments, "--rewrite-all", "--yes")
    if version < 2:
        yield "in format 2", ("upgrade", *arguments, "--to", 2, "--yes")
    if version < 3:
        yield "in format 3", ("upgrade", *arguments, "--to", 3, "--yes")


def check(name, counts):
    folder, about = kit.unpack(name)
    arguments, where = kit.fixture_argument(folder, about), kit.fixture_where(folder)
    wanted = sorted(kit.rows.drop_lineage(kit.expected(name)) if about["format_version"] > 2 else kit.expected(name))
    what = "as its writer left it"
    try:
        kit.same_rows(sorted(rows_by_trino(where)), wanted, f"{name} {what}")
    except trino.Refused as problem:
        # What firn makes of it may be easier to read.
        counts["refused as left"] += 1
        print("refused", name, what, str(problem).splitlines()[0])
    except kit.Failed as problem:
        counts["left out"] += 1
        print("left out", problem)
        return
    for what, command in steps(arguments, about["format_version"]):
        done = kit.firn(*command, expect=None)
        if done.returncode != 0:
            print(f"{name} is not {what}:", done.stderr.strip().splitlines()[0][:200])
            continue
        try:
            kit.same_rows(sorted(rows_by_trino(where)), wanted, f"{name} {what}")
            counts["right"] += 1
        except trino.Refused as problem:
            counts["refused"] += 1
            print("refused", name, what, str(problem).splitlines()[0])
        except kit.Failed as problem:
            counts["WRONG"] += 1
            print("WRONG", problem)


def defaults(counts):
    """A column that came with a default (initial-default, format 3): a compaction writes it, so that a reader need not know of defaults."""
    folder, _ = kit.unpack("lineage_update")
    path = kit.rows.find_metadata(folder)
    document = kit.rows.load_metadata(path)
    schema = next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"])
    document["last-column-id"] += 1
    schema["fields"].append({"id": document["last-column-id"], "name": "added", "required": False, "type": "int", "initial-default": 7,
                             "write-default": 8})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    wanted = sorted(line[:-1] + ',"added":7}' for line in kit.rows.drop_lineage(kit.expected("lineage_update")))
    for what in ("as it was", "compacted"):
        try:
            found = sorted(rows_by_trino(folder))
            print("a default", what, "is", "right" if found == wanted else "not read: " + found[0])
        except trino.Refused as problem:
            found = None
            print("refused a default", what, str(problem).splitlines()[0])
        kit.firn("compact", folder, "--rewrite-all", "--yes")
    counts["right" if found == wanted else "WRONG"] += 1


def main():
    counts = {"right": 0, "refused": 0, "WRONG": 0, "refused as left": 0, "left out": 0}
    with trino.Server(STORAGE, "file:///tmp/firn-trino-metastore"):
        for name in kit.fixtures():
            if not sys.argv[1:] or name in sys.argv[1:]:
                check(name, counts)
        if not sys.argv[1:] or "defaults" in sys.argv[1:]:
            defaults(counts)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    sys.exit(1 if counts["WRONG"] or not counts["right"] else 0)


main()
