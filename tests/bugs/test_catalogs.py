"""Public reports about catalogs: commits whose outcome is in doubt, two writers at once, layouts of other versions, lost pointers."""
import json
import os
import shutil
import sqlite3
import subprocess
import threading
import time
import uuid

import bugkit
import fx_avro
import fx_json
import fx_table
import kit
from bugkit import check, compact, described, equal, firn, refused

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

READING = ("describe", "snapshots", "refs", "files", "manifests", "history", "plan")


def faulty(table, plan, expect=None, **environment):
    return firn("compact", *table.arguments, "--yes", "--rewrite-all", program=kit.FAULTS, expect=expect,
                environment={"FIRN_FAULT": plan, "FIRN_STATE_DIR": os.path.join(table.folder, "state"), **environment})


def after(table, *options):
    """A run without faults, which may clean up behind the one before."""
    return firn("compact", *table.arguments, "--yes", "--rewrite-all", *options,
                environment={"FIRN_STATE_DIR": os.path.join(table.folder, "state")}, expect=None)


def filled(kind="sql", properties=None):
    table = fx_table.Table(2, kind=kind, properties=properties)
    table.fill()
    table.save()
    return table


def state(table):
    """What is current, and whether all that it names is there; the rows must be right in any state."""
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")
    document = table.current()
    for _, _, entries in table.current_manifests(document):
        for entry in entries:
            if entry["status"] != 2:
                check(os.path.exists(entry["data_file"]["file_path"]), f"a live file is gone: {entry}")
    return document


def committed(table, before):
    return table.current()["current-snapshot-id"] != before["current-snapshot-id"]


def report_124_130_the_answer_to_a_commit_is_lost():
    """Report 124, apache/iceberg#4666, and 130, apache/polaris#5459: applied, then an error: the row is read back, and it is a success."""
    for call in (1, 2):
        table = filled()
        before, files = table.metadata, table.all_files()
        done = faulty(table, f"fail-after:{call}:catalog")
        document = state(table)
        check(files <= table.all_files(), "files of the table are gone")
        if call == 2:  # the COMMIT itself
            equal(done.returncode, 0, f"exit after an applied commit: {done.stderr}")
            check(committed(table, before), "the commit is gone")
            equal(len(document["snapshots"]), 2, "snapshots")
        else:          # the UPDATE, which is rolled back
            check(done.returncode in (1, 5), f"exit {done.returncode}: {done.stderr}")
            check(not committed(table, before), "a commit that was reported as failed is there")
            equal(table.all_files(), files, "own files of a definite failure are removed")
        equal(after(table).returncode, 0, "the next run")
        state(table)


def report_124_a_definite_failure_removes_what_was_written():
    """Report 124, apache/iceberg#4686: nothing was applied for sure: own files go, the table's stay."""
    for call in (1, 2):
        table = filled()
        before, files = table.metadata, table.all_files()
        done = faulty(table, f"fail:{call}:catalog")
        check(done.returncode in (1, 5), f"exit {done.returncode}: {done.stderr}")
        state(table)
        check(not committed(table, before), "the commit is there")
        equal(table.all_files(), files, "files")
        equal(after(table).returncode, 0, "the next run")
        check(committed(table, before), "the next run did not compact")
        state(table)


def report_124_killed_around_the_commit():
    """Report 124: a power cut around the commit: the next run removes nothing that a snapshot names."""
    for kind in ("kill", "kill-after"):
        for call in (1, 2):
            table = filled()
            before, files = table.metadata, table.all_files()
            done = faulty(table, f"{kind}:{call}:catalog")
            equal(done.returncode, 137, "exit")
            check(files <= table.all_files(), "files of the table are gone")
            equal(committed(table, before), kind == "kill-after" and call == 2, f"{kind} {call}: committed")
            state(table)
            equal(after(table).returncode, 0, "the next run")
            state(table)


def report_124_killed_and_others_went_on():
    """Report 124: killed around the commit, then another writer commits: the next run still removes no file that any snapshot names."""
    for kind in ("kill", "kill-after"):
        table = filled()
        equal(faulty(table, f"{kind}:2:catalog").returncode, 137, "exit")
        table.metadata = table.current()
        manifests = [record for record, _, _ in table.current_manifests()]
        added = table.data([{"id": 4242, "name": "later"}])
        table.next_snapshot += 1000
        table.snapshot([table.manifest([table.entry(added)]), *manifests])
        table.metadata_version += 100
        table.save()
        before = table.all_files()
        named = set()
        for snapshot in table.metadata["snapshots"]:
            _, records = fx_avro.read(snapshot["manifest-list"])
            named.add(snapshot["manifest-list"])
            for record in records:
                named.add(record["manifest_path"])
                named |= {e["data_file"]["file_path"] for e in fx_avro.read(record["manifest_path"])[1]}
        equal(after(table).returncode, 0, "the next run")
        state(table)
        check({n.removeprefix("file://") for n in named} <= table.all_files(), f"{kind}: files that snapshots name are gone: "
              f"{named - table.all_files()}")
        equal(len(before - table.all_files()) > 0, kind == "kill", f"{kind}: leftovers removed")


def report_130_the_row_moved_on_and_tells_nothing():
    """Report 130, apache/polaris#5459: when the row says neither, the outcome is unknown: exit 7, and every file is kept."""
    for applied in (True, False):
        table = filled()
        before, files = table.metadata, table.all_files()
        # As if others had committed since, several times: the row names a file that can't be read.
        with sqlite3.connect(table.database) as database:
            database.execute("""CREATE TRIGGER others AFTER UPDATE ON iceberg_tables BEGIN
                UPDATE iceberg_tables SET metadata_location = '/nowhere/00009-x.metadata.json',
                    previous_metadata_location = '/nowhere/00008-x.metadata.json'; END""")
        database.close()
        done = faulty(table, "fail-after:2:catalog")
        equal(done.returncode, 7, f"exit: {done.stderr}")
        check("can't be told" in done.stderr or "unknown" in done.stderr, f"message: {done.stderr}")
        new = table.all_files() - files
        check(files <= table.all_files(), "files of the table are gone")
        for ending in (".parquet", ".avro", ".metadata.json"):
            check(any(name.endswith(ending) for name in new), f"no new {ending} was kept: {sorted(new)}")
        # It turns out to have been applied, or not: both ways the table is whole, and the next run works.
        written = [name for name in new if name.endswith(".metadata.json")]
        equal(len(written), 1, "metadata files of the run")
        database = sqlite3.connect(table.database)
        database.execute("DROP TRIGGER others")
        database.execute("UPDATE iceberg_tables SET metadata_location = ?", (
            written[0] if applied else table.path("metadata", os.path.basename(sorted(
                f for f in files if f.endswith(".metadata.json"))[-1])),))
        database.commit()
        database.close()
        equal(committed(table, before), applied, "what the row says now")
        state(table)
        done = after(table)
        equal(done.returncode, 0, f"the next run: {done.stderr}")
        state(table)


def report_124_directory_table():
    """Report 124, apache/iceberg PR#3717: the same where the pointer is a file's name that appears."""
    for plan in ("fail-after:1:create_exclusive", "fail:1:create_exclusive", "kill-after:1:create_exclusive",
                 "kill:1:create_exclusive", "fail:1:replace", "fail-after:1:replace"):
        table = filled("directory")
        files = table.all_files()
        done = faulty(table, plan)
        check(done.returncode in (0, 1, 5, 7, 137), f"{plan}: exit {done.returncode}: {done.stderr}")
        check({f for f in files if not f.endswith("version-hint.text")} <= table.all_files(), f"{plan}: files are gone")
        appeared = os.path.exists(table.path("metadata", "v2.metadata.json"))
        if done.returncode == 0:
            check(appeared, f"{plan}: success without the new version")
        if done.returncode in (1, 5):
            check(not appeared, f"{plan}: a commit that was reported as failed is there: {done.stderr}")
        state(table)
        done = after(table)
        equal(done.returncode, 0, f"{plan}: the next run: {done.stderr}")
        state(table)


def other_commit(table):
    """A second metadata file beside the current one, as another writer's append would leave it; returns its path."""
    document = json.loads(json.dumps(table.metadata))
    added = table.data([{"id": 5555, "name": "other"}])
    keep = table.metadata
    table.metadata = document
    table.snapshot([table.manifest([table.entry(added)]), *table.filled])
    path = table.path("metadata", f"00001-{uuid.uuid4()}.metadata.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(fx_json.dumps(document))
    table.metadata = keep
    return path


def report_135_stale_base():
    """Report 135, JanKaul/iceberg-rust PR#384: an UPDATE of no row is a lost race: the winner's commit stays, the loser follows it."""
    table = filled()
    other = other_commit(table)
    files = table.all_files()
    database = sqlite3.connect(table.database, isolation_level=None, timeout=60)
    database.execute("BEGIN IMMEDIATE")  # firn can read, and waits where it wants to write
    runner = subprocess.Popen([kit.FIRN, "compact", *table.arguments, "--yes", "--rewrite-all"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.time() + 60
    while time.time() < deadline and runner.poll() is None:
        if any(f.endswith(".metadata.json") for f in table.all_files() - files):
            break
        time.sleep(0.02)
    if runner.poll() is not None:
        raise kit.Failed(f"firn did not wait for the lock: {runner.communicate()}")
    time.sleep(0.2)
    database.execute("UPDATE iceberg_tables SET metadata_location = ?", (other,))
    database.execute("COMMIT")
    database.close()
    _, message = runner.communicate(timeout=120)
    equal(runner.returncode, 0, f"the loser's exit: {message}")
    with open(other, encoding="utf-8") as file:
        winner = json.load(file)["current-snapshot-id"]
    document = table.current()
    last = next(s for s in document["snapshots"] if s["snapshot-id"] == document["current-snapshot-id"])
    equal(last["parent-snapshot-id"], winner, "the winner's commit is what the loser's stands on")
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")


def report_135_two_at_once():
    """Report 135: two runs at the same time, again and again: each reported commit is in the history, and no row is lost."""
    for round_number in range(6):
        table = filled()
        results = []

        one_state = round_number % 2 == 0  # as one user, who has a lock; or as two, who have only the catalog

        def run(number, table=table, results=results, one_state=one_state):
            results.append(firn("compact", *table.arguments, "--yes", "--rewrite-all", "--json", expect=None, environment={
                "FIRN_STATE_DIR": os.path.join(table.folder, "state" if one_state else f"state{number}")}))
        threads = [threading.Thread(target=run, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        codes = sorted(r.returncode for r in results)
        check(set(codes) <= {0, 5} and 0 in codes, f"round {round_number}: {codes} {[r.stderr for r in results]}")
        reported = {json.loads(r.stdout)["result"]["snapshot_id"] for r in results
                    if r.returncode == 0 and json.loads(r.stdout)["committed"]}
        document = state(table)
        in_history = {s["snapshot-id"] for s in document["snapshots"]}
        check(reported <= in_history, f"a reported commit is lost: {reported - in_history}")
        equal(len(in_history), 1 + len(reported), "snapshots")


def report_135_beside_pyiceberg():
    """Report 135: PyIceberg appends while firn compacts: nobody's rows are lost."""
    import pyarrow as pa
    folder = os.path.join(fx_table.ROOT, "beside")
    os.makedirs(folder)
    catalog = kit.sql_catalog(folder)
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64())])
    table = catalog.create_table("db.t", schema=schema)
    for i in range(6):
        table.append(pa.table({"id": [i]}, schema=schema))
    stop, codes = threading.Event(), []

    def compacting():
        while not stop.is_set():
            codes.append(firn("compact", "db.t", "--catalog", f"{folder}/catalog.db", "--yes", "--rewrite-all",
                              expect=None).returncode)
            stop.wait(0.3)  # or PyIceberg never gets its turn
    thread = threading.Thread(target=compacting)
    thread.start()
    wanted = set(range(6))
    for i in range(100, 112):
        try:
            catalog.load_table("db.t").append(pa.table({"id": [i]}, schema=schema))
            wanted.add(i)
        except Exception as problem:  # pylint: disable=broad-except
            check("Conflict" in type(problem).__name__ or "Commit" in type(problem).__name__ or "locked" in str(problem),
                  f"PyIceberg: {problem!r}")
    stop.set()
    thread.join()
    check(set(codes) <= {0, 5}, f"firn's exits: {codes}")
    found = catalog.load_table("db.t").scan().to_arrow()["id"].to_pylist()
    equal(sorted(found), sorted(wanted), "rows")


def layout_of(table):
    database = sqlite3.connect(table.database)
    try:
        return database.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    finally:
        database.close()


def report_134_layouts_of_the_jdbc_catalog():
    """Report 134, apache/iceberg#10046: V0 without iceberg_type, V1, V1 with NULL: read and committed to, and never altered."""
    for what, layout, kind in (("V0", fx_table.V0_LAYOUT, None), ("V1", fx_table.V1_LAYOUT, "TABLE"),
                               ("V1 with NULL", fx_table.V1_LAYOUT, None)):
        table = fx_table.Table(2, layout=layout)
        table.fill()
        path = table.save()
        table.point_at(path, kind)
        before = layout_of(table)
        described(table)
        compact(table)
        equal(layout_of(table), before, f"{what}: the layout")
        database = sqlite3.connect(table.database)
        if layout == fx_table.V1_LAYOUT:
            equal(database.execute("SELECT iceberg_type FROM iceberg_tables").fetchall(), [(kind,)], what)
        equal(database.execute("SELECT previous_metadata_location FROM iceberg_tables").fetchall(), [(path,)], what)
        database.close()
        tables = json.loads(firn("tables", "--catalog", table.database, "--json").stdout)["tables"]
        equal(len(tables), 1, f"{what}: {tables}")


def report_134_views_are_no_tables():
    """Report 134: a row of type VIEW is neither listed nor opened nor changed."""
    table = filled()
    table.point_at(table.current_path(), "VIEW")
    equal(json.loads(firn("tables", "--catalog", table.database, "--json").stdout)["tables"], [], "tables")
    for verb in READING:
        refused(verb, *table.arguments, code=1, words=["db.t"])
    refused("compact", *table.arguments, "--yes", code=1, words=["db.t"])


def report_143_the_current_metadata_is_gone():
    """Report 143, apache/polaris PR#5263: a pointer to a missing file is an error with candidates, never an empty table."""
    table = filled()
    first = table.current_path()
    compact(table)
    current = table.current_path()
    shutil.move(current, current + ".away")
    before = table.all_files()
    for verb in READING:
        done = refused(verb, *table.arguments, code=1, words=[os.path.basename(current)])
        check(os.path.basename(first) in done.stderr, f"{verb}: no candidate is named: {done.stderr}")
    done = refused("compact", *table.arguments, "--yes", code=1, words=[os.path.basename(current)])
    equal(table.all_files(), before, "files")
    equal(table.current_path(), current, "the pointer")
    shutil.move(current + ".away", current)
    state(table)


def report_143_directory_table_without_its_version():
    """Report 143: the same for a table whose hint names a version that is not there."""
    table = filled("directory")
    compact(table)
    current = table.path("metadata", "v2.metadata.json")
    shutil.move(current, os.path.join(table.folder, "away"))
    equal(open(table.path("metadata", "version-hint.text"), encoding="utf-8").read().strip(), "2", "the hint")
    before = table.all_files()
    for verb in (*READING, "compact"):
        options = ["--yes"] if verb == "compact" else []
        refused(verb, *table.arguments, *options, code=1, words=["2"])
    equal(table.all_files(), before, "files")


def report_143_register_of_a_missing_file():
    """Report 143: a name is never pointed at a file that is not there or is no metadata."""
    table = filled()
    broken = table.path("metadata", "00007-x.metadata.json")
    with open(broken, "w", encoding="utf-8") as file:
        file.write("{}")
    for path in (table.path("metadata", "00009-none.metadata.json"), broken, table.folder):
        refused("catalog", "register", "db.other", path, "--catalog", table.database, "--yes", code=(1, 2, 3))
    tables = json.loads(firn("tables", "--catalog", table.database, "--json").stdout)["tables"]
    equal(len(tables), 1, "tables")
    # And a right one is entered as it is, into another catalog: in its own one it has a name.
    other = table.path("other.db")
    firn("catalog", "register", "db.other", table.current_path(), "--catalog", other, "--yes")
    tables = json.loads(firn("tables", "--catalog", other, "--json").stdout)["tables"]
    equal(len(tables), 1, "tables")


def report_22_register_changes_no_byte():
    """Report 22, apache/iceberg-go PR#882: registering leaves the document as it is, what is not understood included."""
    table = fx_table.Table(3)
    table.metadata["x-unknown"] = {"deep": [1, None]}
    table.metadata["schemas"][0]["fields"][1]["initial-default"] = "foo"
    path = table.save()
    whole = open(path, "rb").read()
    firn("catalog", "register", "db.v3", path, "--catalog", table.path("other.db"), "--yes")
    equal(open(path, "rb").read(), whole, "the metadata file")
    described(table)


if __name__ == "__main__":
    bugkit.main([test for name, test in sorted(globals().items()) if name.startswith("report_")])
