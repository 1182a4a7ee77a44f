"""
Another writer commits between the plan of a compaction and its commit: every kind of change to the files that are being
rewritten, or beside them. Afterwards the table holds the rows that the other writer left, with their lineage, its books are
right, nothing lies about, and no more was rewritten than had to be.

The program's build with faults runs this file again, as the other writer, at its first creation of a file (or at several).
"""
import json
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))


def count_call(folder):
    """How often the other writer was called, this time included."""
    counter = os.path.join(folder, "calls")
    number = int(open(counter).read()) + 1 if os.path.exists(counter) else 1
    with open(counter, "w") as file:
        file.write(str(number))
    return number


ACTS = __name__ == "__main__" and sys.argv[1:2] == ["--act"]
CALL = count_call(sys.argv[2]) if ACTS else 0
if ACTS and str(CALL) not in sys.argv[4].split(","):
    sys.exit(0)  # before much is imported

import columns  # noqa: E402
import fx_json  # noqa: E402
import model  # noqa: E402
import reader  # noqa: E402
import writer  # noqa: E402

SPEC = [fx_json.spec_field(columns.PART, "part", "identity")]
FILES, ROWS = 6, 12  # per partition: files, and rows of each
DICE = random.Random(5)


def open_table(folder):
    return writer.Table(folder, create=False, seed=int.from_bytes(os.urandom(5), "big"))


def rows(start, part, count=ROWS):
    found = []
    for i in range(count):
        values = {f["id"]: columns.random_value(DICE, f) for f in columns.FIRST_FIELDS}
        found.append({**values, columns.UID: start + i, columns.PART: part, columns.K1: i % 4})
    return found


def of_part(state, part):
    return [e for e in state.data if e.partition == [part]]


# --- what the other writer does: each gets the table and how often it was called ----------------------


def append(table, number):
    change = table.change()
    change.add(change.data_file(rows(100000 + 100 * number, "a"), 0, ["a"]))
    change.commit("append")


def append_elsewhere(table, number):
    change = table.change()
    change.add(change.data_file(rows(100000 + 100 * number, "z"), 0, ["z"]))
    change.commit("append")


def delete_rows(table, picked, together=False):
    """picked: [(entry, positions)]; position delete files in v2, vectors that hold what there was in v3."""
    change = table.change()
    if change.version >= 3:
        wanted = []
        for entry, positions in picked:
            old = change.base.vector(entry)
            change.remove(*([old] if old else []))
            wanted.append((entry, change.base.deleted_positions(entry) | set(positions)))
        change.add(*change.vectors(wanted))
    elif together:
        places = [(e.path, p) for e, positions in picked for p in positions]
        change.add(change.position_deletes(places[::-1], 0, picked[0][0].partition, bounds=False))
    else:
        for entry, positions in picked:
            change.add(change.position_deletes([(entry.path, p) for p in positions], 0, entry.partition, referenced=entry.path))
    change.commit("delete")


def delete_in_one(table, number):
    delete_rows(table, [(of_part(table.state(), "a")[2], [1, 2, 11])])


def delete_in_several(table, number):
    delete_rows(table, [(e, [number, 5 + number]) for e in of_part(table.state(), "a")], together=True)


def delete_everything(table, number):
    delete_rows(table, [(e, range(ROWS)) for e in of_part(table.state(), "a")])


def delete_by_key(table, number):
    """Rows of one partition by a key; the delete reaches the outputs by its sequence number."""
    change = table.change()
    change.add(change.equality_deletes([columns.K1], [{columns.K1: 2}], 0, ["a"]))
    change.commit("delete")


def delete_by_key_everywhere(table, number):
    table.update(lambda m: m["partition-specs"].append({"spec-id": 1, "fields": []}))
    change = table.change()
    change.add(change.equality_deletes([columns.K1], [{columns.K1: 3}, {columns.K1: None}], 1, []))
    change.commit("delete")


def delete_both_ways(table, number):
    delete_in_one(table, number)
    delete_by_key(table, number)


def copy_on_write(table, number):
    """One input is written again without some rows."""
    change = table.change()
    entry = of_part(change.base, "a")[1]
    kept = [r for r in change.base.rows_of(entry) if r.position % 3]
    values = [{**r.values, columns.ROW_ID: r.row_id, columns.LAST_UPDATED: r.updated} for r in kept]
    remove(change, [entry])
    change.add(change.data_file(values, 0, ["a"], lineage=change.version >= 3))
    change.commit("overwrite")


def remove(change, entries):
    paths = {e.path for e in entries}
    change.remove(*entries, *(d for d in change.base.deletes if d.referenced in paths))


def drop_files(table, number):
    change = table.change()
    remove(change, of_part(change.base, "a")[:2])
    change.commit("delete")


def drop_partition(table, number):
    change = table.change()
    remove(change, of_part(change.base, "a"))
    change.commit("delete")


def compact_too(table, number):
    """Another compaction of one partition was faster."""
    change = table.change()
    entries = of_part(change.base, "a")
    found = [r for e in entries for r in change.base.rows_of(e)]
    values = [{**r.values, columns.ROW_ID: r.row_id, columns.LAST_UPDATED: r.updated} for r in found]
    remove(change, entries)
    change.add(change.data_file(values, 0, ["a"], lineage=change.version >= 3))
    change.commit("replace")


def merge_deletes(table, number):
    """The deletes of one partition are written anew as one file, or one vector each; they say the same."""
    change = table.change()
    entries = [e for e in of_part(change.base, "a") if change.base.deleted_positions(e)]
    old = {d.key: d for e in entries for d in [change.base.vector(e), *change.base.position_files(e)] if d}
    change.remove(*old.values())
    if change.version >= 3:
        change.add(*change.vectors([(e, change.base.deleted_positions(e)) for e in entries]))
    else:
        places = sorted((e.path, p) for e in entries for p in change.base.deleted_positions(e))
        change.add(change.position_deletes(places, 0, ["a"]))
    change.commit("replace")


def take_deletes_back(table, number):
    """Rows that were deleted when the compaction was planned live again."""
    change = table.change()
    change.remove(*(d for d in change.base.deletes if d.partition == ["a"]))
    change.commit("overwrite")


def add_column(table, number):
    def edit(document):
        schema = json.loads(json.dumps(document["schemas"][-1]))
        schema["schema-id"] += 1
        document["last-column-id"] += 1
        schema["fields"].append(fx_json.field(document["last-column-id"], "late", "int"))
        document["schemas"].append(schema)
        document["current-schema-id"] = schema["schema-id"]
    table.update(edit)
    append(table, number)


def set_property(table, number):
    table.update(lambda m: m["properties"].update({"owner": f"somebody {number}"}))


def roll_back(table, number):
    """The ref goes back to what it was before the last commit."""
    def edit(document):
        parent = reader.head(document)["parent-snapshot-id"]
        document["refs"]["main"]["snapshot-id"] = document["current-snapshot-id"] = parent
    table.update(edit)


def upgrade(table, number):
    table.update(lambda m: m.update({"format-version": 3, "next-row-id": 0}))
    append(table, number)


def act(folder, name, number):
    """The other writer; it notes the rows that it leaves."""
    table = open_table(folder)
    globals()[name](table, number)
    _, metadata = table.current()
    with open(os.path.join(folder, "left.json"), "w") as file:
        json.dump({"rows": model.lines_in_files(metadata), "snapshot": reader.head(metadata)["snapshot-id"]}, file)


if ACTS:
    act(sys.argv[2], sys.argv[3], CALL)
    sys.exit(0)

# --- the test ---------------------------------------------------------------------------------------

import checks  # noqa: E402
import files  # noqa: E402
import kit  # noqa: E402
from kit import check  # noqa: E402

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")
ROOT = tempfile.mkdtemp(prefix="firn-between-")


def make(name, version, deletes):
    """Three partitions of small files; with `deletes` some rows of "a" and "b" are deleted already."""
    folder = os.path.join(ROOT, name)
    os.makedirs(folder)
    table = writer.Table(folder, version, spec=SPEC, seed=7, properties={"commit.retry.min-wait-ms": "1"})
    for i in range(FILES):
        change = table.change()
        for j, part in enumerate("abc"):
            change.add(change.data_file(rows(1000 * j + 100 * i, part), 0, [part]))
        change.commit("append")
    if deletes and version >= 2:
        state = table.state()
        delete_rows(table, [(e, [0, 3, 4]) for e in of_part(state, "a")[1:4]])
        delete_rows(table, [(e, [2]) for e in of_part(state, "b")], together=True)
        change = table.change()
        change.add(change.equality_deletes([columns.UID], [{columns.UID: 7}, {columns.UID: 1105}], 0, ["a"]))
        change.commit("delete")
    return folder, table


def reachable(table):
    """Every file that the table's metadata names, over all snapshots."""
    location, metadata = table.current()
    found = {location, *(e["metadata-file"] for e in metadata.get("metadata-log", []))}
    for snapshot in metadata["snapshots"]:
        found.add(snapshot["manifest-list"])
        for record in reader.manifests(snapshot):
            found.add(record["manifest_path"])
            found |= {e.path for e in reader.entries_of(record)}
    return {files.strip(path) for path in found}


def outside(table, metadata, wanted):
    used = {"equality"} if any(d.content == 2 for d in table.state().deletes) else set()
    for name in checks.outside_readers(type("Used", (), {"used": used})):
        if os.environ.get("FIRN_BETWEEN_READERS", "pyiceberg duckdb").find(name) < 0:
            continue
        kit.check_rows(name, table.where, wanted, f"rows by {name}")


def between(name, version, deletes, calls, options, expect, facts):
    folder, table = make(f"{name}-v{version}-{int(deletes)}-{len(os.listdir(ROOT))}", version, deletes)
    command = f"{sys.executable} {os.path.abspath(__file__)} --act {folder} {name} {','.join(map(str, calls))}"
    environment = {"FIRN_FAULT": "run:1:create" if calls == (1,) else "run:1:create+", "FIRN_FAULT_COMMAND": command}
    done = kit.firn("compact", *table.arguments, "--yes", "--rewrite-all", "--verify", "--json", *options, program=kit.FAULTS,
                    environment=environment, expect=expect)
    with open(os.path.join(folder, "left.json"), encoding="utf-8") as file:
        left = json.load(file)
    _, metadata = table.current()
    checks.books(table)
    kit.same_rows(model.lines_in_files(metadata), left["rows"], "the rows that the other writer left, in the files")
    outside(table, metadata, left["rows"])
    lies = {os.path.join(d, n) for d, _, names in os.walk(table.root) for n in names} - reachable(table)
    check(not lies, f"left behind: {sorted(lies)}")
    if expect != 0:
        return
    result = json.loads(done.stdout)["result"]
    for key, wanted in facts.items():
        check(result[key] == wanted, f"{key} is {result[key]}, expected {wanted}: {result}")
    check(reader.head(metadata)["snapshot-id"] == result["snapshot_id"], "the compaction is the last commit")
    # What was deleted meanwhile may be a reason for another run; then all is done.
    kit.firn("compact", *table.arguments, "--yes")
    kit.same_rows(model.lines_in_files(table.current()[1]), left["rows"], "the rows after a second run")
    again = kit.firn_json("compact", *table.arguments, "--yes")
    check(not again["committed"], f"one more run found something to do: {again['plan']}")


# Rows are few: a small target gives groups of several outputs.
SMALL = ["--target-file-size-bytes", "6KB"]


def case(name, *, versions=(2, 3), deletes=(True, False), calls=(1,), options=(), expect=0, label="", **facts):
    return [(f"{name}{label}_v{version}{'_deletes' if before else ''}", between, name, version, before, calls, options,
             expect, facts) for version in versions for before in deletes if version > 1 or not before]


HOLDS = {"groups": 3, "groups_redone": 0, "groups_dropped": 0}
CASES = [
    *case("append", versions=(1, 2, 3), **HOLDS, groups_rebased=0, commits=1),
    *case("append_elsewhere", versions=(1, 2, 3), calls=(1, 4, 5), **HOLDS, groups_rebased=0),
    *case("set_property", versions=(1, 2, 3), deletes=(True,), **HOLDS, groups_rebased=0),
    *case("add_column", versions=(1, 2, 3), deletes=(True,), **HOLDS, groups_rebased=0),
    *case("delete_in_one", **HOLDS, groups_rebased=1, delete_files_added=1),
    *case("delete_in_one", label="_small", options=SMALL, **HOLDS, groups_rebased=1),
    *case("delete_in_several", calls=(1,), **HOLDS, groups_rebased=1, delete_files_added=1),
    *case("delete_in_several", label="_small", options=SMALL, **HOLDS, groups_rebased=1),
    *case("delete_in_several", label="_twice", calls=(1, 6), **HOLDS, groups_rebased=1),
    *case("delete_everything", **HOLDS, groups_rebased=1),
    *case("delete_by_key", **HOLDS, groups_rebased=0, delete_files_added=0),
    *case("delete_by_key_everywhere", **HOLDS, groups_rebased=0, delete_files_added=0),
    *case("delete_both_ways", **HOLDS, groups_rebased=1),
    *case("copy_on_write", groups=3, groups_redone=1, groups_dropped=0, commits=2),
    *case("drop_files", groups=3, groups_redone=1, groups_dropped=0, commits=2),
    *case("drop_partition", groups=2, groups_redone=0, groups_dropped=1, commits=1),
    *case("compact_too", groups=2, groups_redone=0, groups_dropped=1, commits=1),
    *case("merge_deletes", deletes=(True,), **HOLDS, groups_rebased=0, delete_files_added=0),
    *case("take_deletes_back", deletes=(True,), groups=3, groups_redone=1, groups_dropped=0, commits=2),
    *case("roll_back", deletes=(True, False), expect=5),
    *case("upgrade", versions=(2,), expect=5),
    *case("delete_in_one", label="_partial", options=["--partial-progress"], **HOLDS, groups_rebased=1, commits=3),
    *case("copy_on_write", label="_partial", options=["--partial-progress"], groups=3, groups_redone=1, groups_dropped=0),
    *case("append", label="_partial", options=["--partial-progress"], calls=(1, 6, 12), **HOLDS, commits=3),
]

try:
    kit.main(CASES)
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
