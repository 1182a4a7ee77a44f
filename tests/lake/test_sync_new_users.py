"""What someone meets who tries `firn sync` on a lake that is not in order: exit codes, what is committed, and what the report says."""
import json
import os
import shutil
import time

import lakekit
import pyarrow as pa
from lakekit import check, equal

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def lake_of(count):
    lake = lakekit.Lake()
    for number in range(count):
        lake.write(f"{number}.parquet", [{"id": number, "name": f"n{number}"}], SCHEMA)
    return lake


def truncate(path):
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)


def rows_are_right(lake):
    """As Lake.whole, without firn verify: older snapshots name files that are gone."""
    equal(sorted(lake.live()), lake.files(), "live files")
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")
    lake.tidy()


def configured(lake, tables):
    """Runs `firn sync` without a table: {table: folder} come from the configuration."""
    path = os.path.join(lake.folder, "firn.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"catalogs:\n  lake:\n    type: sql\n    uri: sqlite:///{lake.database}\nlakes:\n")
        for table, folder in tables.items():
            file.write(f"  {table}:\n    catalog: lake\n    source: {{folder: {folder}}}\n    location: {lake.folder}/iceberg/{table}\n")
    return path


def test_a_catalog_file_that_is_not_there():
    """A mistyped or lost catalog file is named before anything is asked for: a second table over the same files is easily made."""
    lake = lake_of(1)
    lake.watch = False
    lake.sync(lake.source)
    lost = lake.database + ".lost"
    os.rename(lake.database, lost)
    for verb in ("sync", "register"):
        for act in ([], ["--yes"]):
            run = lake.run(verb, lake.name, lake.source, "--catalog", lake.database, *act, expect=2)
            run.says(f"firn: there is no SQLite catalog {lake.database}", "typo", "first table", "--location", "firn catalog recover")
    check(not os.path.exists(lake.database), "a refused run made the catalog")
    lake.run("catalog", "recover", lake.name, lake.location, "--catalog", lake.database, "--yes")
    lake.whole()
    # One that is there and lacks a warehouse is another matter.
    run = lake.run("sync", "lake.other", lake.source, "--catalog", lake.database, expect=2)
    run.says("table lake.other does not exist", "no warehouse")
    check("typo" not in run.error, run.error)


def test_a_ledger_that_is_made_is_told_of():
    """A run that commits a ledger and nothing else is not one that had nothing to do; the preview says that it would."""
    lake = lakekit.Lake()
    table = lakekit.made(lake, [("id", "long"), ("name", "string")])
    table.add_files([lake.write(f"{n}.parquet", [{"id": n, "name": "x"}], SCHEMA) for n in range(3)])
    lake.watch = False
    for options, made in ([], "begun"), (["--rebuild-ledger"], "rebuilt"):
        arguments = ["sync", lake.name, lake.source, "--catalog", lake.database, *options]
        before = lake.pointer()
        preview = lake.run(*arguments)
        preview.says("ledger to be made of the table's history, entries  3", "Add --yes")
        check("Nothing to do" not in preview.text, preview.text)
        equal(lake.run(*arguments, "--json")["ledger"], {"made": made, "written": False, "segments": 1 if options else 0, "entries": 3}, "preview")
        equal(lake.pointer(), before, "pointer after a preview")
        if options:
            equal(lake.run(*arguments, "--yes", "--json")["ledger"], {"made": made, "written": True, "segments": 1, "entries": 3}, "run")
        else:
            run = lake.run(*arguments, "--yes")
            run.says("ledger made of the table's history, entries  3")
            check("Nothing to do" not in run.text, run.text)
        check(lake.pointer() != before, "a ledger was said to be made, and nothing was committed")
        run = lake.run(*arguments[:5], "--yes", "--json")
        equal(run["ledger"], {"made": None, "written": False, "segments": 1, "entries": 3}, "the next run")
        lake.run(*arguments[:5], "--yes").says("Nothing to do.")
    # A refused run that keeps the new ledger says so, too; one that keeps nothing says nothing of it.
    truncate(lake.write("short.parquet", [{"id": 9, "name": "s"}], SCHEMA))
    run = lake.run(*arguments, "--json", expect=3)
    equal((run["ledger"]["made"], run["ledger"]["written"]), ("rebuilt", False), "a preview that is refused")
    run = lake.run(*arguments, "--yes", "--json", expect=3)
    equal((run["ledger"]["made"], run["ledger"]["written"]), ("rebuilt", True), "a run that is refused")


def test_one_table_has_one_name_in_a_catalog():
    """Commits by two names would miss each other: catalog register refuses a second one, as catalog recover does."""
    lake = lake_of(2)
    lake.watch = False
    lake.sync(lake.source)
    shutil.copytree(lake.location, lake.location + "-copy")
    copied = os.path.join(lake.location + "-copy", "metadata", os.path.basename(lake.pointer()))
    apart = os.path.join(lake.folder, "apart", os.path.basename(lake.pointer()))  # of another uuid, at the same location
    os.makedirs(os.path.dirname(apart))
    document = lake.metadata()
    document["table-uuid"] = "00000000-0000-4000-8000-000000000000"
    with open(apart, "w", encoding="utf-8") as file:
        json.dump(document, file)
    for metadata in (lake.location, lake.pointer(), copied, apart):
        for options in ([], ["--yes"]):
            lake.run("catalog", "register", "two.names", metadata, "--catalog", lake.database, *options, expect=3).says("lake.t already", "Use that name")
    names = [f"{t['namespace']}.{t['name']}" for t in json.loads(lake.run("tables", "--catalog", lake.database, "--json").text)["tables"]]
    equal(names, ["lake.t"], "tables")
    # The catalog's rows tell it of whatever lies where the table's metadata goes: no other table is looked into for that.
    other = lake_of(1)
    other.watch, other.database, other.name = False, lake.database, "a.other"
    other.sync(other.source)
    calls = os.path.join(lake.folder, "calls")
    for metadata in (lake.pointer(), copied, apart):
        lake.run("catalog", "register", "two.names", metadata, "--catalog", lake.database, expect=3, program=lakekit.kit.FAULTS, environment={"FIRN_FAULT_TRACE": calls})
        with open(calls, encoding="utf-8") as file:
            trace = file.read()
        check(metadata in trace and other.location not in trace, f"what was looked at for {metadata}: {trace}")
    # A copy that has the name makes the other way round: what it says of itself tells.
    copy = os.path.join(lake.folder, "copy.db")
    lake.run("catalog", "register", "two.names", copied, "--catalog", copy, "--yes")
    lake.run("catalog", "register", "lake.t", lake.pointer(), "--catalog", copy, expect=3).says("two.names already")
    # The name that it has: nothing is to be done, and no other name is advised.
    for verb in ("register", "recover"):
        run = lake.run("catalog", verb, "lake.t", lake.location, "--catalog", lake.database, expect=1)
        run.says("lake.t already", "nothing is to be done")
    # Another catalog is another matter, and so is another table; one whose metadata is lost doesn't stand in the way.
    lake.run("catalog", "register", "two.names", lake.location, "--catalog", os.path.join(lake.folder, "other.db"), "--yes")
    second = lake_of(1)
    second.watch = False
    second.sync(second.source)
    os.remove(lake.pointer())
    lake.run("catalog", "register", "lake.second", second.location, "--catalog", lake.database, "--yes")


def test_all_tables_that_end_the_same_end_with_that_code():
    """One table ends with its own code, be it named or the only one that is configured; so do several that end the same."""
    lake = lake_of(2)
    lake.watch = False
    lake.run("sync", "--config", configured(lake, {"lake.t": lake.source}), "--yes")
    truncate(lake.write("new.parquet", [{"id": 9, "name": "x"}], SCHEMA))
    good = os.path.join(lake.folder, "good")
    os.makedirs(good)
    config = configured(lake, {"lake.t": lake.source})
    lake.run("sync", "--config", config, "--yes", expect=3)
    config = configured(lake, {"lake.t": lake.source, "lake.u": lake.source})
    lake.run("sync", "--config", config, "--yes", expect=3)
    os.rename(lake.write("fine.parquet", [{"id": 1}]), os.path.join(good, "fine.parquet"))
    config = configured(lake, {"lake.t": lake.source, "lake.v": good})
    lake.run("sync", "--config", config, "--yes", expect=6)
    os.remove(lake.path("new.parquet"))
    lake.run("sync", "--config", config, "--yes", expect=0)


WIDER = SCHEMA.append(pa.field("extra", pa.int64()))


def spoil(lake):
    """A good file that brings a new column, and one that is cut short."""
    lake.write("good.parquet", [{"id": 10, "name": "g", "extra": 1}], WIDER)
    truncate(lake.write("short.parquet", [{"id": 11, "name": "s"}], SCHEMA))


def test_nothing_is_committed_where_the_first_batch_fails():
    """What ends the run with its first batch ends it before replaced files are taken over, and before the schema grows."""
    lake = lake_of(3)
    lake.sync(lake.source)
    lake.write("0.parquet", [{"id": 0, "name": "another, longer name"}] * 2, SCHEMA)
    spoil(lake)
    for preview in (["--dry-run"], []):
        lake.refused("sync", lake.source, "--on-replaced", "overwrite", *preview, words=["short.parquet", "1 file can't be added"])
    equal(sorted(lake.fields()), ["id", "name"], "columns")
    equal(len(lake.metadata()["snapshots"]), 1, "snapshots")
    os.remove(lake.path("short.parquet"))
    lake.sync(lake.source, "--on-replaced", "overwrite")
    equal(sorted(lake.fields()), ["extra", "id", "name"], "columns")
    # The same where a file is gone.
    lake = lake_of(3)
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    spoil(lake)
    lake.refused("sync", lake.source, "--on-missing", "delete", words=["short.parquet"])
    equal(sorted(lake.fields()), ["id", "name"], "columns")
    os.remove(lake.path("short.parquet"))
    lake.sync(lake.source, "--on-missing", "delete")
    rows_are_right(lake)


def test_rows_of_units_count_as_they_will_be():
    """A unit with a replaced file and a new one: before the replacement is committed its rows are those of the file that comes."""
    lake = lakekit.Lake()
    lake.write("u=a/0.parquet", [{"u": "a", "n": 1}])
    manifest = os.path.join(lake.folder, "manifest.csv")

    def says(rows):
        with open(manifest, "w", encoding="ascii") as file:
            file.write(f"unit,rows\na,{rows}\n")
    options = ["--manifest", manifest, "--unit-folder", lake.source + "/u={unit}", "--on-replaced"]
    says(1)
    lake.sync(*options, "error")
    lake.write("u=a/0.parquet", [{"u": "a", "n": i} for i in range(5)])
    lake.write("u=a/1.parquet", [{"u": "a", "n": 7}])
    says(2)
    lake.refused("sync", *options, "overwrite", words=["unit a", "6 rows", "says 2"])
    says(6)
    equal(lake.sync(*options, "overwrite", "--dry-run")["files"]["new"], 1, "new files of the preview")
    lake.sync(*options, "overwrite")
    rows_are_right(lake)


def lose_ledger(lake):
    folder = os.path.join(lake.location, "metadata")
    lost = [name for name in os.listdir(folder) if name.startswith("firn-ledger")]
    check(lost, "there is no ledger to lose")
    for name in lost:
        os.remove(os.path.join(folder, name))


def test_a_rebuilt_ledger_stays_where_the_run_is_refused():
    """--rebuild-ledger with a file that is gone: the run is refused by policy, and the next one needs no --rebuild-ledger."""
    lake = lake_of(3)
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    lose_ledger(lake)
    run = lake.refused("sync", lake.source, code=4)
    check(run.error.count("No such file") <= 1 and run.error.count("firn-ledger") <= 1, f"doubled words: {run.error}")
    lake.sync(lake.source, "--rebuild-ledger", expect=3).says("0.parquet", "gone")
    lake.refused("sync", lake.source, words=["0.parquet", "gone"])
    lake.sync(lake.source, "--on-missing", "delete")
    rows_are_right(lake)
    # A file that can't be added is no reason either.
    lose_ledger(lake)
    truncate(lake.write("short.parquet", [{"id": 11, "name": "s"}], SCHEMA))
    lake.sync(lake.source, "--rebuild-ledger", expect=3).says("short.parquet")
    os.remove(lake.path("short.parquet"))
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files")
    rows_are_right(lake)


def test_what_sync_deleted_stays_deleted_in_a_rebuilt_ledger():
    """Files that --on-missing delete took out are not missing once the ledger is made anew; compacted ones are no such files."""
    lake = lake_of(7)
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    lake.sync(lake.source, "--on-missing", "delete")
    lake.write("1.parquet", [{"id": 1, "name": "another, longer name"}] * 2, SCHEMA)
    lake.sync(lake.source, "--on-replaced", "overwrite")
    lose_ledger(lake)
    run = lake.sync(lake.source, "--rebuild-ledger")
    equal((run["missing"], run["replaced"], run["files"]["new"]), ([], [], 0), "after the ledger was lost")
    rows_are_right(lake)
    lake.write("0.parquet", [{"id": 0, "name": "back"}], SCHEMA)
    equal(lake.sync(lake.source)["files"]["added"], 1, "a file that is back")
    rows_are_right(lake)


def out_and_lost(*options):
    """A lake out of which --on-replaced delete took 2.parquet, which lies there still; the ledger is lost."""
    lake = lake_of(4)
    lake.sync(lake.source)
    lake.write("2.parquet", [{"id": 2, "name": "another, longer name"}] * 5, SCHEMA)
    lake.sync(lake.source, "--on-replaced", "delete")
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files before the ledger is lost")
    lose_ledger(lake)
    return lake, sorted(lake.live())


def test_what_replaced_files_lost_stays_out_in_a_rebuilt_ledger():
    """Nobody knows whether it is the file that was taken out: it is named, and the policies settle it as they would have at first."""
    lake, live = out_and_lost()
    run = lake.sync(lake.source, "--rebuild-ledger", expect=3)
    run.says("2.parquet", "taken out before the ledger was made anew", "--on-replaced")
    lake.refused("sync", lake.source, words=["2.parquet", "taken out"])
    equal((run.names("replaced"), sorted(lake.live())), (["2.parquet"], live), "replaced files, live files")
    equal(lake.sync(lake.source, "--on-replaced", "report").names("replaced"), ["2.parquet"], "replaced files")
    run = lake.sync(lake.source, "--on-replaced", "delete")
    equal((run["files"]["new"], run["replaced"]), (0, []), "new and replaced files")
    run = lake.sync(lake.source)
    equal((run["files"]["new"], run["replaced"], sorted(lake.live())), (0, [], live), "once it is settled")
    lake.write("2.parquet", [{"id": 2, "name": "once more"}], SCHEMA)
    equal(lake.sync(lake.source)["files"]["added"], 1, "files that changed since")
    equal(lake.by_pyiceberg(), lake.oracle(lake.files()), "rows by PyIceberg")
    # Settled by the run that makes the ledger anew, one way or the other.
    lake, live = out_and_lost()
    run = lake.sync(lake.source, "--rebuild-ledger", "--on-replaced", "delete")
    equal((run["files"]["new"], sorted(lake.live())), (0, live), "new files, live files")
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files")
    lake, live = out_and_lost()
    equal(lake.sync(lake.source, "--rebuild-ledger", "--on-replaced", "overwrite")["files"]["added"], 1, "files added")
    rows_are_right(lake)
    # What was modified after it was taken out is new, as it would have been.
    lake, live = out_and_lost()
    lake.write("2.parquet", [{"id": 2, "name": "once more"}], SCHEMA)
    equal(lake.sync(lake.source, "--rebuild-ledger")["files"]["added"], 1, "files added")
    rows_are_right(lake)


def test_units_are_counted_before_files_are_overwritten():
    """Whoever fills the lake wrote a file anew, and not its unit's row yet: nothing is committed until both agree."""
    lake = lakekit.Lake()
    manifest = os.path.join(lake.folder, "units.csv")

    def says(**rows):
        with open(manifest, "w", encoding="ascii") as file:
            file.write("unit,rows\n" + "".join(f"{unit},{count}\n" for unit, count in rows.items()))
    for unit in "ab":
        for number in range(2):
            lake.write(f"u={unit}/{number}.parquet", [{"u": unit, "n": i} for i in range(3)])
    options = ["--manifest", manifest, "--unit-folder", lake.source + "/u={unit}"]
    says(a=6, b=6)
    lake.sync(*options)
    lake.write("u=b/0.parquet", [{"u": "b", "n": i} for i in range(5)])
    for more in ([], ["--skip-bad"], ["--dry-run"]):
        lake.refused("sync", *options, "--on-replaced", "overwrite", *more, words=["unit b", "8 rows", "says 6"])
    says(a=6, b=8)
    lake.sync(*options, "--on-replaced", "overwrite")
    equal(lake.sync(*options)["changed_units"], [], "changed units")
    rows_are_right(lake)


def test_a_rebuilt_ledger_does_not_miss_what_compactions_wrote():
    """The table's own files are no source's, and a source that is a list doesn't miss them once they are compacted and cleaned away."""
    lake = lakekit.Lake()
    lake.watch = False
    listing = os.path.join(lake.folder, "list.txt")

    def grow(first):
        for number in range(first, first + 6):
            lake.write(f"{number}.parquet", [{"id": number, "name": "n"}], SCHEMA)
        with open(listing, "w", encoding="utf-8") as file:
            file.write("".join(path + "\n" for path in lake.files()))

    def compact(*more):
        lake.act("compact", *more)
        return {path for path in lake.live() if path.startswith(lake.location)}
    grow(0)
    lake.sync("--from", listing)
    old = compact()
    lose_ledger(lake)
    run = lake.sync("--from", listing, "--rebuild-ledger")
    check("does not list" not in run.error, run.error)
    grow(6)
    lake.sync("--from", listing)
    new = compact("--min-input-files", "2")
    check(len(old) == 1 and not old & new, (old, new))
    lake.table().maintenance.expire_snapshots().by_ids([s.snapshot_id for s in lake.table().metadata.snapshots[:-1]]).commit()
    for path in old:
        os.remove(path)
    equal(lake.sync("--from", listing)["missing"], [], "missing files")
    equal(lake.by_pyiceberg(), lake.oracle(lake.files()), "rows by PyIceberg")


def test_a_lost_ledger_of_a_history_that_was_expired():
    """The message tells the way: what is live is known, and the user says that the rest is new."""
    lake = lake_of(1)
    for number in range(1, 4):
        lake.sync(lake.source)
        lake.write(f"{number}.parquet", [{"id": number, "name": "n"}], SCHEMA)
    lake.sync(lake.source)
    lake.table().maintenance.expire_snapshots().by_id(lake.metadata()["snapshots"][0]["snapshot-id"]).commit()
    lose_ledger(lake)
    lake.refused("sync", lake.source, "--rebuild-ledger", code=4, words=["expired", "--force", "new"])
    lake.write("5.parquet", [{"id": 5, "name": "n"}], SCHEMA)
    equal(lake.sync(lake.source, "--rebuild-ledger", "--force")["files"]["added"], 1, "files added")
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files")
    equal(lake.by_pyiceberg(), lake.oracle(lake.files()), "rows by PyIceberg")


def sized(lake, name, rows, size):
    """A file of just this many bytes: the first name fills it up."""
    for filler in range(size):
        rows[0] = {**rows[0], "name": "x" * filler}
        path = lake.write(name, rows, SCHEMA, compression="none", use_dictionary=False, write_statistics=False)
        if os.path.getsize(path) == size:
            return
    raise AssertionError(f"no file of {size} bytes")


def test_files_of_others_that_were_copied():
    """A first sync has no ledger: size and rows tell whether a file is the one that was added, and its time doesn't, which a copy has anew."""
    lake = lakekit.Lake()
    lake.watch = False
    for number in range(4):
        lake.write(f"{number}.parquet", [{"id": number, "name": "n"}], SCHEMA)
    sized(lake, "1.parquet", [{"id": 1, "name": "n"}], 2000)
    lakekit.made(lake, [("id", types().LongType()), ("name", types().StringType())]).add_files(lake.files())
    later = time.time_ns() + 3600 * 10 ** 9
    for path in lake.files():
        os.utime(path, ns=(later, later))
    run = lake.sync(lake.source)
    equal((run["files"]["new"], run["files"]["known"], run["replaced"]), (0, 4, []), "new, known and replaced files")
    equal(lake.sync(lake.source)["replaced"], [], "replaced files of the next run")
    # From then on the ledger tells.
    os.utime(lake.path("0.parquet"), ns=(later + 1, later + 1))
    lake.refused("sync", lake.source, words=["0.parquet", "modified since"])
    # Of the same size, with other rows, or no Parquet any more: that is another file.
    for change in (lambda: sized(lake, "1.parquet", [{"id": 1, "name": "n"}] * 2, 2000), lambda: truncate(lake.path("1.parquet"))):
        lake = lakekit.Lake()
        lake.watch = False
        lake.write("0.parquet", [{"id": 0, "name": "n"}], SCHEMA)
        sized(lake, "1.parquet", [{"id": 1, "name": "n"}], 2000)
        lakekit.made(lake, [("id", types().LongType()), ("name", types().StringType())]).add_files(lake.files())
        change()
        with open(lake.path("1.parquet"), "ab") as file:
            file.truncate(2000)
        os.utime(lake.path("1.parquet"), ns=(later, later))
        run = lake.refused("sync", lake.source, words=["1.parquet"])
        equal(run.names("replaced"), ["1.parquet"], "replaced files")
        lake.sync(lake.source, "--on-replaced", "delete")
        equal([os.path.basename(path) for path in lake.live()], ["0.parquet"], "live files")


def types():
    import pyiceberg.types
    return pyiceberg.types


def test_warnings_are_in_the_document():
    """What is said beside the report, programs find in it."""
    lake = lakekit.Lake()
    for verb in ("sync", "register"):
        run = getattr(lake, verb)(lake.source)
        equal(run["warnings"], [{"message": "the source has no files, and the table is not there"}], verb)
        check("the source has no files" in run.error, run.error)
    lake.write("a.parquet", [{"id": 1, "name": "n"}], SCHEMA)
    equal(lake.sync(lake.source)["warnings"], [], "warnings")


def test_a_file_that_became_a_folder():
    """As Spark and Dask name what they write: the file is gone, and what lies in the folder is new."""
    lake = lake_of(3)
    lake.watch = False
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    inner = lake.write("0.parquet/inner.parquet", [{"id": 10, "name": "n"}], SCHEMA)
    lake.refused("sync", lake.source, words=["0.parquet", "gone", "--on-missing"])
    run = lake.sync(lake.source, "--on-missing", "delete")
    equal((run.names("missing"), run["files"]["added"]), (["0.parquet"], 1), "missing files, files added")
    check(inner in lake.live(), "the folder's file is not live")
    rows_are_right(lake)


def test_a_table_that_the_catalog_has_by_another_name():
    """Two names of one table fork it: each commit misses what the other name's had."""
    lake = lake_of(1)
    lake.watch = False
    lake.sync(lake.source)
    for options in ((), ("--yes",)):
        lake.run("catalog", "recover", "lake.other", lake.location, "--catalog", lake.database, *options, expect=3).says("lake.t already", "Use that name")
    lake.run("catalog", "recover", "lake.other", lake.location, "--catalog", lake.folder + "/other.db", "--yes")


def test_a_branch_of_a_table_that_is_not_there():
    """Told before anything is made."""
    lake = lake_of(1)
    for options in (["--dry-run"], []):
        lake.sync(lake.source, "--ref", "later", *options, expect=2).says("no branch but main", "later")
    equal((os.path.exists(lake.database), os.path.exists(lake.location)), (False, False), "a catalog, a table")
    lake.sync(lake.source, "--ref", "main")
    rows_are_right(lake)


def text_of(lake, *arguments, **options):
    """The report for people, and what was said beside it."""
    run = lake.run("sync", lake.name, "--catalog", lake.database, *lake.options, *arguments, **options)
    return run.text, run.error


def test_reports_say_what_was_done():
    """Nothing is "made at" a place where nothing was made; bad files count as the report lists them; empty columns are left out."""
    lake = lakekit.Lake()
    for number in range(6):
        truncate(lake.write(f"u={number}/part.parquet", [{"u": number}]))
    manifest = os.path.join(lake.folder, "manifest.csv")
    with open(manifest, "w", encoding="ascii") as file:
        file.write("unit,rows\n" + "".join(f"{number},1\n" for number in range(6)))
    options = ["--manifest", manifest, "--unit-folder", lake.source + "/u={unit}", "--batch", "4"]
    text, error = text_of(lake, *options, "--yes", expect=3)
    check("6 files can't be added" in error, error)
    text, error = text_of(lake, lake.source, "--yes", expect=3)
    check("made at" not in text and lake.location not in text, text)
    check("6 files can't be added" in error and "Files that can't be added" in text, text + error)
    head = text.split("Files that can't be added\n")[1].splitlines()[0]
    equal(head.split(), ["file", "reason"], "columns")
    lake.write("0.parquet", [{"u": 0}])
    text, error = text_of(lake, lake.path("0.parquet"), "--yes")
    check("made at" in text, text)


def test_reports_of_runs_that_did_not_list():
    """Where the source can't be listed or the ledger is lost there are no counts, not counts of 0."""
    lake = lake_of(2)
    lake.sync(lake.source)
    absent, _ = text_of(lake, lake.path("none"), "--yes", expect=(1, 2, 3))
    lose_ledger(lake)
    lost, _ = text_of(lake, lake.source, "--yes", expect=4)
    for text in (absent, lost):
        check("listed" not in text and "new" not in text, text)


def test_replaced_files_are_named_with_their_snapshots():
    """docs/lakes.md: which snapshots name a replaced file, up to 16 of them."""
    lake = lake_of(1)
    lake.sync(lake.source)
    for number in range(1, 19):
        lake.write(f"{number}.parquet", [{"id": number, "name": "x"}], SCHEMA)
        lake.sync(lake.source)
    snapshots = [str(snapshot["snapshot-id"]) for snapshot in lake.metadata()["snapshots"]]
    lake.write("0.parquet", [{"id": 0, "name": "another, longer name"}] * 2, SCHEMA)
    text, _ = text_of(lake, lake.source, expect=3)
    named = [snapshot for snapshot in snapshots if snapshot in text]
    check(len(named) == 16 and f"{len(snapshots) - 16} more" in text, text)


def test_verify_tells_to_expire_what_only_older_snapshots_name():
    """A replaced or deleted file is no fault of the current snapshot: restoring it, or rolling back, would be wrong advice."""
    lake = lake_of(3)
    lake.sync(lake.source)
    os.remove(lake.path("0.parquet"))
    lake.write("1.parquet", [{"id": 1, "name": "another, longer name"}] * 2, SCHEMA)
    lake.sync(lake.source, "--on-replaced", "overwrite", "--on-missing", "delete")
    old = lake.run("verify", lake.name, "--catalog", lake.database, "--json", expect=8)
    equal(lake.run("verify", lake.name, "--catalog", lake.database, "--ref", "main", "--json")["findings"], [], "findings of main")
    equal(sorted({os.path.basename(f["file"]) for f in old["findings"]}), ["0.parquet", "1.parquet"], "files")
    check(all("only older snapshots" in f["advice"] for f in old["findings"]), old.text)
    os.remove(lake.path("2.parquet"))
    now = lake.run("verify", lake.name, "--catalog", lake.database, "--json", expect=8)
    advice = [f["advice"] for f in now["findings"] if f["file"].endswith("2.parquet")]
    check(advice and all("restore the file" in text for text in advice), now.text)


def test_columns_that_only_paths_have_are_named():
    """docs/lakes.md: some readers show such a column as null; the report of the run that makes it names it."""
    lake = lakekit.Lake()
    lake.write("region=eu/part.parquet", [{"n": 1}])
    equal([(c["column"], c["what"].split(":")[0]) for c in lake.sync(lake.source)["columns"]], [("region", "only in paths")], "columns")


def test_a_configured_catalog_that_is_not_there_yet():
    """The first sync makes the catalog, under the name by which PyIceberg loads it, with the table; what fails makes neither."""
    lake = lake_of(2)
    lake.watch = False
    config = configured(lake, {"lake.t": lake.source})
    lake.run("sync", "lake.t", "--config", config)
    equal(os.path.exists(lake.database), False, "a catalog after a preview")
    truncate(lake.path("1.parquet"))
    lake.run("sync", "--config", config, "--yes", expect=3)
    equal((os.path.exists(lake.database), os.path.exists(lake.location)), (False, False), "a catalog, a table after a run that failed")
    lake.write("1.parquet", [{"id": 1, "name": "n1"}], SCHEMA)
    lake.run("sync", "--config", config, "--yes")
    equal(lakekit.catalog_name(lake.database), "lake", "the catalog's name")
    equal(lake.by_pyiceberg(), lake.oracle(lake.files()), "rows by PyIceberg")
    equal(lake.run("sync", "lake.t", "--config", config, "--yes", "--json")["files"]["new"], 0, "new files of the next run")
    # Registering by the configured name makes one, too.
    other = lake_of(1)
    other.watch = False
    config = configured(other, {"lake.x": other.source})
    other.run("register", "lake.t", other.source, "--config", config, "--catalog", "lake", *other.options, "--yes")
    equal(other.by_pyiceberg(), other.oracle(), "rows by PyIceberg")


def test_a_new_table_of_a_catalog_needs_a_namespace():
    """PyIceberg opens no table without one: neither a preview nor a run of any verb takes such a name, and nothing is made."""
    lake = lake_of(1)
    lake.watch = False
    config = configured(lake, {"solo": lake.source})
    words = '"solo" has no namespace'
    for options in ((), ("--yes",)):
        for verb in ("register", "sync"):
            done = lake.run(verb, "solo", lake.source, "--catalog", lake.database, *lake.options, *options, expect=2)
            check(words in done.error, done.error)
        lake.run("sync", "--config", config, *options, expect=2).says(words)
    check(words in lake.run("config", "validate", config, expect=2).error, "config validate")
    equal((os.path.exists(lake.database), os.path.exists(lake.location)), (False, False), "a catalog, a table")
    lake.sync(lake.source)
    metadata = lake.pointer()
    for options in ((), ("--yes",)):
        done = lake.run("catalog", "register", "solo", metadata, "--catalog", lake.database, *options, expect=2)
        check(words in done.error, done.error)
    lake.run("catalog", "register", "two.solo", metadata, "--catalog", os.path.join(lake.folder, "two.db"), "--yes")


def test_audit_says_what_takes_a_replaced_file_anew():
    lake = lake_of(2)
    lake.sync(lake.source)
    lake.write("1.parquet", [{"id": number, "name": "other"} for number in range(5)], SCHEMA)
    base = [lake.name, "--catalog", lake.database]
    anew = "firn sync TABLE --on-replaced overwrite takes it anew"
    lake.run("audit", *base, expect=8).says(anew)
    lake.run("verify", *base, expect=8).says(anew)
    for verb in (["scan", *base], ["compact", *base, "--rewrite-all"]):
        lake.run(*verb, expect=1).says("1.parquet: the manifest counts 1 row, the file 5", anew)
    os.rename(lake.path("0.parquet"), lake.folder + "/aside")
    for verb in ("audit", "verify"):
        lake.run(verb, *base, expect=8).says("0.parquet", "firn sync TABLE --on-missing delete takes its rows out")
    os.rename(lake.folder + "/aside", lake.path("0.parquet"))
    # Of the same size and rows, with other values.
    path = lake.path("0.parquet")
    size = os.path.getsize(path)
    lake.write("0.parquet", [{"id": 7, "name": "n0"}], SCHEMA)
    equal(os.path.getsize(path), size, "size")
    findings = lake.run("verify", *base, "--json", expect=8)["findings"]
    advice = {f["advice"] for f in findings if f["kind"] == "bounds"}
    check(len(advice) == 1 and anew in advice.pop(), findings)
    lake.sync(lake.source, "--on-replaced", "overwrite")
    lake.run("audit", lake.name, "--catalog", lake.database)
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")


def test_nothing_is_left_of_a_run_that_could_not_begin():
    """No journal, no run: neither the catalog's file nor a folder of the table is made."""
    lake = lake_of(1)
    file = os.path.join(lake.folder, "a-file")
    with open(file, "w", encoding="utf-8") as out:
        out.write("x")
    run = lake.sync(lake.source, environment={"FIRN_STATE_DIR": file}, expect=1)
    run.says("FIRN_STATE_DIR")
    equal((os.path.exists(lake.database), os.path.exists(lake.location)), (False, False), "a catalog, a table")
    # The same for a location that won't do, and for an empty source.
    lake.run("sync", lake.name, lake.source, "--catalog", lake.database, "--location", lake.source + "/t", "--yes", expect=2)
    os.mkdir(lake.folder + "/empty")
    lake.sync(lake.folder + "/empty")
    equal(os.path.exists(lake.database), False, "a catalog")
    lake.sync(lake.source)
    lake.whole()


def test_every_verb_finds_a_configured_table():
    """What `firn sync TABLE` finds by the catalog that `lakes` has for it, other verbs find, too."""
    lake = lake_of(2)
    lake.watch = False
    config = configured(lake, {"lake.t": lake.source})
    lake.run("sync", "lake.t", "--config", config, "--yes")
    for verb in ("describe", "scan", "files", "snapshots", "verify", "audit", "plan", "compact", "doctor"):
        lake.run(verb, "lake.t", "--config", config)
    # The only configured catalog is meant where none is named.
    lake.run("describe", "lake.u", "--config", config, expect=1).says("there is no table lake.u")
    lake.run("tables", "--config", config).says("lake.t")
    # --catalog goes before it.
    lake.run("describe", "lake.t", "--config", config, "--catalog", lake.folder + "/none.db", expect=1).says("none.db")
    os.remove(lake.database)
    lake.run("catalog", "recover", "lake.t", lake.folder + "/iceberg/lake.t", "--config", config, "--yes")
    equal(lakekit.catalog_name(lake.database), "lake", "the catalog's name")
    equal(lake.by_pyiceberg(), lake.oracle(), "rows by PyIceberg")


if __name__ == "__main__":
    lakekit.main(globals())
