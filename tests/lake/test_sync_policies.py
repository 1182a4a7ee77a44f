"""What `firn sync` does where a policy would take rows away, or where much of the source changed at once."""
import os
import shutil

import lakekit
import pyarrow as pa
from lakekit import check, equal, kit

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def lake_of(count, *options):
    lake = lakekit.Lake()
    for number in range(count):
        lake.write(f"{number}.parquet", [{"id": number, "name": f"n{number}"}], SCHEMA)
    lake.sync(lake.source, *options)
    return lake


def test_an_empty_source_deletes_nothing():
    """A folder that isn't mounted has no files; even --on-missing delete must not take that for the source's wish."""
    lake = lake_of(5)
    aside = lake.source + "-unmounted"
    os.rename(lake.source, aside)
    os.mkdir(lake.source)
    lake.refused("sync", lake.source, "--on-missing", "delete", code=4, words=["no file at all", "0.parquet", "--on-missing report"])
    lake.refused("sync", "--glob", os.path.join(lake.source, "*.parquet"), "--on-missing", "delete", code=4)
    os.rmdir(lake.source)
    os.rename(aside, lake.source)
    equal(lake.sync(lake.source, "--on-missing", "delete")["files"]["new"], 0, "new files once it is mounted")
    lake.whole()


def test_standard_input_misses_nothing():
    """--from - lists what is to be added: a policy on missing files would do nothing, so it is refused, be it an option or configured."""
    lake = lake_of(3)
    os.remove(lake.path("0.parquet"))
    names = "".join(lake.path(f"{n}.parquet") + "\n" for n in (1, 2))
    for policy in ("delete", "report"):
        lake.refused("sync", "--from", "-", "--on-missing", policy, stdin=names, code=2,
                     words=["--from -", f"--on-missing {policy}", "--from FILE"])
    equal(lake.sync("--from", "-", stdin=names)["missing"], [], "missing files")
    config = os.path.join(lake.folder, "firn.yaml")
    lake.watch = False
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"lakes:\n  {lake.name}:\n    source: {{folder: {lake.source}}}\n    on-missing: delete\n")
    lake.refused("sync", "--config", config, "--from", "-", stdin=names, code=2, words=["--from -", "--on-missing error", "configuration"])
    lake.sync("--config", config, "--from", "-", "--on-missing", "error", stdin=names)
    # A register misses nothing anyhow.
    lake.register("--config", config, "--from", "-", stdin=lake.write("3.parquet", [{"id": 3, "name": "n3"}], SCHEMA) + "\n")
    # What is listed in a file is all.
    listing = os.path.join(lake.folder, "list.txt")
    with open(listing, "w", encoding="utf-8") as file:
        file.write(names + lake.path("3.parquet") + "\n")
    equal(lake.sync("--from", listing, "--on-missing", "delete").names("missing"), ["0.parquet"], "missing files by a list")


def test_single_files_miss_nothing():
    lake = lake_of(3)
    one = lake.path("1.parquet")
    for policy in ("delete", "report"):
        for sources in ([one], [lake.source, one]):
            lake.refused("sync", *sources, "--on-missing", policy, code=2, words=["single files are named", "--from FILE"])
    lake.sync(one, "--on-missing", "error")
    lake.register(one)


def test_a_file_that_is_live_twice_is_not_taken_out_once():
    """PyIceberg's add_files can add a file twice; deleting one of the entries would leave rows of a file that is gone."""
    lake = lake_of(2)
    path = lake.path("0.parquet")
    lake.table().add_files([path], check_duplicate_files=False)
    os.remove(path)
    lake.refused("sync", lake.source, "--on-missing", "delete", words=["0.parquet", "live twice", "firn audit --fix"])


def test_many_missing_files_in_a_long_history():
    """Which snapshots name a missing file is found once for each commit, not by walking the history for each file."""
    lake = lake_of(400)
    for number in range(400, 440):
        lake.write(f"{number}.parquet", [{"id": number, "name": "late"}], SCHEMA)
        lake.sync(lake.source)
    for number in range(0, 400, 2):
        os.remove(lake.path(f"{number}.parquet"))
    run = lake.sync(lake.source, "--on-missing", "report")
    equal(len(run["missing"]), 200, "missing files")
    check(all(finding["snapshots"] == 41 for finding in run["missing"]), "every one of the 41 snapshots names each of them")
    lake.sync(lake.source, "--on-missing", "delete")
    equal(len(lake.live()), 240, "live files")
    lake.judged([{"id": n, "name": f"n{n}"} for n in range(1, 400, 2)] + [{"id": n, "name": "late"} for n in range(400, 440)])


def naming(lake, path):
    """Ids of the snapshots in which the file is live, however its path is spelled, by the manifests."""
    document, found = lake.metadata(), []
    for snapshot in document["snapshots"]:
        entries = [e for record, those in lake.manifests({**document, "current-snapshot-id": snapshot["snapshot-id"]}) for e in those]
        paths = [e["data_file"]["file_path"].removeprefix("file://") for e in entries if e["status"] != 2]
        if path in map(os.path.normpath, paths):
            found.append(snapshot["snapshot-id"])
    return found


def told(run, key="missing"):
    """{path: ids of snapshots} of a report's findings."""
    check(all(finding["snapshots"] == len(finding["snapshot_ids"]) for finding in run[key]), f"counts: {run[key]}")
    return {finding["file"].removeprefix("file://"): finding["snapshot_ids"] for finding in run[key]}


def test_snapshots_that_name_a_file_are_those_in_which_it_is_live():
    """Not the ones that come after it was compacted away; the older ones that another program gave it to, too."""
    lake = lake_of(4)
    lake.write("4.parquet", [{"id": 4, "name": "n4"}], SCHEMA)
    lake.sync(lake.source)
    lake.run("compact", lake.name, "--catalog", lake.database, "--min-input-files", "2", "--yes")
    path, late = lake.path("0.parquet"), lake.path("4.parquet")
    os.remove(path)
    os.remove(late)
    run = lake.sync(lake.source, "--on-missing", "report")
    snapshots = [snapshot["snapshot-id"] for snapshot in lake.metadata()["snapshots"]]
    equal(len(snapshots), 3, "snapshots")
    equal((naming(lake, path), naming(lake, late)), (snapshots[:2], snapshots[1:2]), "the oracle itself")
    equal(told(run), {path: snapshots[:2], late: snapshots[1:2]}, "snapshots")
    check(str(snapshots[2]) not in lake.run("sync", lake.name, lake.source, "--catalog", lake.database, "--on-missing", "report").text,
          "the compaction's snapshot is said to name a file")
    # A replaced one likewise, and a snapshot that can't be read any more stops nothing.
    lake.write("1.parquet", [{"id": 1, "name": "longer than before"}] * 3, SCHEMA)
    run = lake.sync(lake.source, "--on-missing", "report", "--on-replaced", "report")
    equal(told(run, "replaced"), {lake.path("1.parquet"): snapshots[:2]}, "snapshots of a replaced file")
    os.remove(lake.metadata()["snapshots"][0]["manifest-list"].removeprefix("file://"))
    run = lake.sync(lake.source, "--on-missing", "report", "--on-replaced", "report")
    equal(told(run)[path], snapshots[1:2], "snapshots that can be read")


def test_a_file_that_was_given_twice_is_named_from_the_first_time_on():
    """PyIceberg's add_files by another spelling: the ledger knows one of the commits, and both snapshots name the file."""
    lake = lakekit.Lake()
    table = lakekit.made(lake, [("id", "long"), ("name", "string")])
    paths = [lake.write(f"{n}.parquet", [{"id": n, "name": "x"}], SCHEMA) for n in range(3)]
    table.add_files(paths)
    table.add_files([paths[0].replace("/0.parquet", "//0.parquet")])
    lake.watch = False
    lake.run("audit", lake.name, "--catalog", lake.database, "--fix", "--yes")
    lake.sync(lake.source)
    os.remove(paths[0])
    os.remove(paths[1])
    found = told(lake.sync(lake.source, "--on-missing", "report"))
    equal(len(naming(lake, paths[0])), 3, "snapshots by the manifests")
    equal({os.path.normpath(path): ids for path, ids in found.items()}, {path: naming(lake, path) for path in paths[:2]}, "snapshots")


def test_a_rebuilt_ledger_is_committed_once():
    """--rebuild-ledger with new files in several batches: the ledger is rebuilt once, and committed with the first batch."""
    lake = lake_of(6)
    for segment in lakekit.ledger_segments(lake.properties()["firn.sync.ledger"], lake.location):
        os.remove(segment)
    lake.refused("sync", lake.source, code=4, words=["--rebuild-ledger"])
    for number in range(6, 9):
        lake.write(f"{number}.parquet", [{"id": number, "name": "late"}], SCHEMA)
    metadata = len(os.listdir(os.path.join(lake.location, "metadata")))
    run = lake.sync(lake.source, "--rebuild-ledger")
    equal((run["files"]["added"], len(run["commits"]), run["ledger"]["entries"]), (3, 1, 9), "files added, commits, entries")
    # A metadata file, a list, a manifest and a segment.
    equal(len(os.listdir(os.path.join(lake.location, "metadata"))) - metadata, 4, "new files in the metadata folder")
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files afterwards")
    lake.whole()
    shutil.rmtree(lake.folder)


def lose_ledger(lake):
    for segment in lakekit.ledger_segments(lake.properties()["firn.sync.ledger"], lake.location):
        os.remove(segment)


def test_times_of_a_ledger_that_was_made_anew():
    """Of the same size as before: what is replaced afterwards differs from the time that was found, what was replaced before from that of the commit."""
    lake = lake_of(4)
    lose_ledger(lake)
    equal(lake.sync(lake.source, "--rebuild-ledger")["replaced"], [], "replaced files")
    lake.write("1.parquet", [{"id": 7, "name": "n7"}], SCHEMA)
    lake.refused("sync", lake.source, words=["1.parquet", "modified since, at the same size"])
    lake.sync(lake.source, "--on-replaced", "overwrite")
    lake.write("2.parquet", [{"id": 8, "name": "n8"}], SCHEMA)
    lose_ledger(lake)
    # Though the run is refused the new ledger is kept, and doubts with it.
    for options in (["--rebuild-ledger"], [], ["--on-replaced", "report"], []):
        run = lake.sync(lake.source, *options, expect=0 if "report" in options else 3)
        equal([(os.path.basename(f["file"]), f["reason"]) for f in run["replaced"]], [("2.parquet", "it was modified since, at the same size")], "replaced files")
    lake.sync(lake.source, "--on-replaced", "overwrite")
    equal(lake.sync(lake.source)["replaced"], [], "replaced files once it was overwritten")
    lake.judged([{"id": n, "name": f"n{n}"} for n in (0, 3, 7, 8)])


def test_a_list_and_what_history_alone_knows():
    """A ledger that was made anew does not tell the files of a list from those of units: what is there is not taken for gone."""
    lake = unit_lake({"a": 2})
    lake.watch = False
    lake.write("0.parquet", [{"id": 0, "name": "n0"}], SCHEMA)
    files = os.path.join(lake.folder, "list.txt")
    with open(files, "w", encoding="utf-8") as file:
        file.write(lake.path("0.parquet") + "\n")
    lake.sync("--from", files)
    lose_ledger(lake)
    run = lake.sync("--from", files, "--rebuild-ledger", "--on-missing", "delete", "--force")
    equal((run["missing"], len(lake.live())), ([], 3), "missing and live files")
    os.remove(lake.path("tile=a/2.parquet"))
    lake.refused("sync", "--from", files, words=["gone now", "2.parquet"])


def test_what_another_run_adds_meanwhile_is_not_missing():
    """A file arrives and another run adds it, before each of our calls: our listing may be older than the ledger, and the file is there all the same."""
    for policy in ("delete", "error"):
        lake = lake_of(3)
        lakekit.pq.write_table(pa.table({"id": [9], "name": ["n9"]}, SCHEMA), lake.folder + "/late.parquet")
        restore = lakekit.copy_of(lake)
        _, calls = lakekit.trace(lake, "sync", lake.source, "--threads", "1", "--on-missing", policy)
        lake.watch = False
        for number in [i + 1 for i, call in enumerate(calls) if call[0] != "catalog"]:
            restore()
            other = f"cp {lake.folder}/late.parquet {lake.source}/9.parquet && env -u FIRN_FAULT FIRN_STATE_DIR={lake.folder}/other {kit.FIRN} sync " \
                    f"{lake.name} {lake.source} --catalog {lake.database} --yes >&2 || [ $? = 5 ]"
            run = lake.sync(lake.source, "--threads", "1", "--on-missing", policy, program=kit.FAULTS, expect=None,
                            environment={"FIRN_FAULT": f"run:{number}", "FIRN_FAULT_COMMAND": other})
            what = f"{policy}: another sync before call {number}, {calls[number - 1]}: exit {run.code} {run.error}"
            check(run.code in (0, 5), what)
            lake.sync(lake.source)
            equal(len(lake.live()), 4, what)
            deleted = [s.snapshot_id for s in lake.table().snapshots() if s.summary.additional_properties.get("deleted-data-files")]
            equal(deleted, [], what)
        shutil.rmtree(lake.folder)


def test_another_run_comes_between_where_nothing_is_added():
    """Files are only taken out, and another run of another host commits before each of our calls: ours goes on from theirs."""
    for what in ("missing", "replaced"):
        lake = lake_of(3)
        late = lake.folder + "/late.parquet"
        lakekit.pq.write_table(pa.table({"id": [9], "name": ["n9"]}, SCHEMA), late)
        if what == "missing":
            os.unlink(lake.path("0.parquet"))
        else:
            lake.write("0.parquet", [{"id": i, "name": "another"} for i in range(40)], SCHEMA)
        options = ["--threads", "1", f"--on-{what}", "delete"]
        restore = lakekit.copy_of(lake)
        _, calls = lakekit.trace(lake, "sync", lake.source, *options)
        lake.watch = False
        for number in [i + 1 for i, call in enumerate(calls) if call[0] != "catalog"]:
            restore()
            other = f"env -u FIRN_FAULT FIRN_STATE_DIR={lake.folder}/other {kit.FIRN} register {lake.name} {late} --catalog {lake.database} --yes >&2"
            run = lake.sync(lake.source, *options, program=kit.FAULTS, expect=None,
                            environment={"FIRN_FAULT": f"run:{number}", "FIRN_FAULT_COMMAND": other})
            check(run.code == 0, f"{what}: another run before call {number}, {calls[number - 1]}: exit {run.code} {run.error}")
            equal(sorted(lake.live()), sorted([late, lake.path("1.parquet"), lake.path("2.parquet")]), f"live files with another run before call {number}")
        shutil.rmtree(lake.folder)


def test_a_file_that_a_folder_passes_over_is_not_missing():
    """It was named by itself when it was added; a listing of its folder does not show it, and it is there."""
    lake = lake_of(2)
    lake.write("odd.data", [{"id": 7, "name": "n7"}], SCHEMA)
    lake.register(lake.path("odd.data"))
    equal(lake.sync(lake.source, "--on-missing", "delete")["missing"], [], "missing files")
    equal(len(lake.live()), 3, "live files")


def test_much_of_the_source_is_gone():
    """More than half of ten or more, or all: more likely a source that is not there. --force says that it is meant."""
    lake = lake_of(20)
    for number in range(10):
        os.remove(lake.path(f"{number}.parquet"))
    equal(len(lake.sync(lake.source, "--on-missing", "delete")["missing"]), 10, "half of them may go")
    equal(len(lake.live()), 10, "live files")
    for number in range(10, 20):
        os.remove(lake.path(f"{number}.parquet"))
    lake.write("new.parquet", [{"id": 99, "name": "new"}], SCHEMA)
    lake.refused("sync", lake.source, "--on-missing", "delete", code=4, words=["10 files", "10 are gone", "--force"])
    lake.sync(lake.source, "--on-missing", "delete", "--force")
    equal(list(lake.live()), [lake.path("new.parquet")], "live files")
    lake.judged([{"id": 99, "name": "new"}])


def unit_lake(rows):
    lake = lakekit.Lake()
    for unit in rows:
        for month in (1, 2):
            lake.write(f"tile={unit}/{month}.parquet", [{"id": month, "name": unit}], SCHEMA)
    lake.sync(*counted(lake, rows))
    return lake


def counted(lake, rows):
    """Options of a source with a manifest that counts these rows."""
    path = os.path.join(lake.folder, "units.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("unit,rows\n" + "".join(f"{unit},{count}\n" for unit, count in rows.items()))
    return ["--manifest", path, "--unit-folder", "tile={unit}", "--base", lake.source]


def test_a_unit_whose_count_changed():
    """All its files were added, and the manifest counts other rows than they have: as with a replaced file nothing is done."""
    lake = unit_lake({"a": 2, "b": 2})
    lake.watch = False
    lake.write("tile=c/1.parquet", [{"id": 1, "name": "c"}], SCHEMA)
    changed = counted(lake, {"a": 2, "b": 3, "c": 1})
    run = lake.refused("sync", *changed, words=["unit b was added with 2 rows, the manifest says 3", "--on-replaced"])
    equal(run["changed_units"], [{"unit": "b", "rows": 2, "rows_gone": 0, "rows_now": 3}], "changed units")
    run = lake.sync(*changed, "--on-replaced", "report")
    equal((run["files"]["added"], len(run["changed_units"])), (1, 1), "files added, changed units")
    equal(lake.sync(*counted(lake, {"a": 2, "b": 2, "c": 1}))["changed_units"], [], "changed units")


def test_a_manifest_without_units_deletes_nothing():
    lake = unit_lake({"a": 2, "b": 2})
    lake.watch = False
    lake.refused("sync", *counted(lake, {}), "--on-missing", "delete", code=4, words=["4 are gone"])
    equal(len(lake.live()), 4, "live files")


def test_replaced_and_missing_at_once():
    lake = lake_of(3)
    os.remove(lake.path("0.parquet"))
    lake.write("1.parquet", [{"id": 1, "name": "a longer name than before"}], SCHEMA)
    run = lake.refused("sync", lake.source, words=["1 file replaced since added", "1.parquet", "1 file added before and gone now", "0.parquet",
                                                  "--on-replaced and --on-missing say what to do"])
    equal((run.names("replaced"), run.names("missing")), (["1.parquet"], ["0.parquet"]), "findings")
    lake.sync(lake.source, "--on-replaced", "overwrite", "--on-missing", "delete")
    lake.judged([{"id": 1, "name": "a longer name than before"}, {"id": 2, "name": "n2"}])


def test_a_preview_says_what_would_be_done():
    lake = lake_of(3)
    os.remove(lake.path("0.parquet"))
    lake.write("1.parquet", [{"id": 1, "name": "again"}] * 201, SCHEMA)
    policies = ["--on-replaced", "overwrite", "--on-missing", "delete"]
    for preview in (["--dry-run"], []):
        would = "would be " if preview else ""
        run = lake.sync(lake.source, *policies, *preview)
        equal([f["done"] for f in run["replaced"] + run["missing"]], [would + "overwritten", would + "deleted"], "what is done")
        equal((run["rows_added"], run["bytes_added"]), (201, os.path.getsize(lake.path("1.parquet"))), "rows and bytes")
        equal((run["files"]["removed"], run["rows_removed"]), (0 if preview else 2, 2), "files and rows taken out")
    equal([commit["rows"] for commit in run["commits"]], [201], "rows of commits")
    equal([(commit["files_removed"], commit["rows_removed"]) for commit in run["commits"]], [(2, 2)], "files and rows that commits take out")
    os.remove(lake.path("2.parquet"))
    for act, words in ((["--dry-run"], ["to be taken out", "rows to take out"]), (["--yes"], ["taken out", "rows taken out"])):
        lake.run("sync", lake.name, "--catalog", lake.database, lake.source, "--on-missing", "delete", *act).says(*words)


def test_a_source_without_files_and_no_table():
    lake = lakekit.Lake()
    run = lake.run("sync", lake.name, "--glob", lake.path("nope/*.parquet"), "--catalog", lake.database, "--location", lake.location)
    check("has no files" in run.error and "has no files" in run.text, "the report and a warning say so")


def test_failures_of_several_tables_on_standard_error():
    lake = lake_of(1)
    configuration = os.path.join(lake.folder, "firn.yaml")
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(f"catalogs:\n  c:\n    type: sql\n    uri: sqlite:///{lake.database}\nlakes:\n  lake.u:\n    catalog: c\n    source:\n"
                   f"      folder: {lake.folder}/nowhere\n    location: {lake.folder}/u\n")
    run = lake.run("sync", "--config", configuration, expect=1)
    check("firn: " in run.error and "nowhere" in run.error, f"standard error: {run.error} {run.text}")
    run = lake.run("sync", "--config", configuration, "--json", expect=1)
    equal((run["error"]["code"], run["error"]["exit_code"]), ("TABLES", 1), "the document's error")
    lake.write("bad.parquet", [{"id": 1}])
    with open(lake.path("bad.parquet"), "wb") as file:
        file.write(b"PAR1")
    run = lake.sync(lake.source, "--skip-bad", expect=6)
    equal((run["error"]["code"], run["error"]["exit_code"]), ("PARTLY", 6), "the document's error")


def test_broken_manifests_end_alike():
    """Whatever kind of file it is: what the manifest says is wrong, exit code 3."""
    lake = lakekit.Lake()
    lake.write("tile=a/1.parquet", [{"id": 1, "name": "a"}], SCHEMA)
    for name, text in (("m.csv", b"unit,rows\na\n"), ("m.jsonl", b'{"unit":"a","rows":1}\n{bad'), ("m.parquet", b"PAR1"), ("n.parquet", b"PAR1" + b"x" * 99 + b"PAR1"),
                       ("big.jsonl", b'{"unit":"a","rows":99999999999999999999}\n')):
        path = os.path.join(lake.folder, name)
        with open(path, "wb") as file:
            file.write(text)
        lake.refused("sync", "--manifest", path, "--unit-folder", "tile={unit}", "--base", lake.source, words=[name])


def test_names_and_refs_that_will_not_do():
    """A tag is refused before anything is read; a new table's name holds no control characters; what recover is given is a folder."""
    lake = lake_of(1)
    table = lake.table()
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "kept").commit()
    os.rename(lake.source, lake.source + "-gone")
    lake.watch = False
    lake.refused("sync", "--ref", "kept", lake.source + "-gone", code=2, words=["is a tag"])
    run = lake.refused("sync", "--ref", "kept", lake.source + "-gone", "--dry-run", code=2)
    equal(run["files"]["new"], 0, "files told apart for a tag")
    lake.refused("sync", "--ref", "nope", lake.source + "-gone", code=1, words=["no branch or tag"])
    for name in ("lake.t\n", "la\tke.u"):
        lake.run("sync", name, lake.source + "-gone", "--catalog", lake.database, "--yes", "--location", lake.folder + "/other", expect=2).says("control character")
    equal(os.path.exists(lake.folder + "/other"), False, "a folder of a table that was not made")
    for file in (lake.table().metadata_location, lake.source + "-gone/0.parquet"):
        lake.run("catalog", "recover", "lake.other", file, "--catalog", lake.database, expect=2).says("is a file", "metadata folder")


def test_full_names_are_unique():
    """PyIceberg loads no table whose schema has two columns with one full name."""
    lake = lake_of(1)
    lake.write("a.parquet", [{"id": 1, "a": {"b": 5}}], pa.schema([("id", pa.int64()), ("a", pa.struct([("b", pa.int64())]))]))
    lake.sync(lake.source)
    lake.write("b.parquet", [{"id": 2, "a.b": 7}], pa.schema([("id", pa.int64()), ("a.b", pa.int64())]))
    lake.refused("sync", lake.source, words=["b.parquet", 'column "a.b"', "full name"])
    equal(len(lake.table().scan().to_arrow()), 2, "rows")
    shutil.rmtree(lake.folder)


def test_a_location_that_links_lead_into_the_source():
    lake = lakekit.Lake()
    lake.write("p=1/0.parquet", [{"id": 0, "name": "n"}], SCHEMA)
    os.symlink(lake.source, lake.folder + "/link")
    os.symlink(lake.folder, lake.folder + "/up")
    lake.options = []
    for source, location in ((lake.source, "/link/t"), (lake.folder + "/link", "/lake/t"), (lake.source, "/up/lake"), (lake.source, "/up/up/link/no/such/folder")):
        lake.refused("sync", source, "--location", lake.folder + location, code=2, words=["overlaps its source"])
    lake.refused("sync", "--glob", lake.folder + "/link/**", "--location", lake.folder + "/lake/t", code=2, words=["overlaps its source"])
    lake.refused("sync", lake.folder + "/link/p=1/0.parquet", "--location", lake.source + "/p=1/t", code=2, words=["overlaps its source"])


def test_the_same_file_by_way_of_links():
    """A symbolic link to a file, or to its folder, gives no second set of its rows; a hard link is a file of its own."""
    lake = lakekit.Lake()
    first = lake.write("d/a.parquet", [{"id": 1, "name": "n"}], SCHEMA)
    os.symlink(first, lake.path("s.parquet"))
    os.symlink(lake.path("d"), lake.path("dl"))
    os.link(first, lake.path("d/hard.parquet"))
    os.symlink(lake.source, lake.folder + "/link")
    lake.watch = False
    named = [lake.path(n) for n in ("s.parquet", "dl/a.parquet", "d/a.parquet", "d/hard.parquet")]
    run = lake.refused("sync", *named, words=["the same file as", "symbolic link"])
    equal(sorted(f["file"] for f in run["bad"]), sorted(named[:2]), "bad files")
    run = lake.refused("sync", *named[:2], words=["the same file as"])
    equal([f["file"] for f in run["bad"]], [named[0]], "the second of two links")
    run = lake.refused("sync", lake.source, lake.folder + "/link")
    equal(len(run["bad"]), 2, "bad files of a folder that is named twice")
    lake.sync(*named, "--skip-bad", expect=6)
    equal(sorted(lake.live()), sorted(named[2:]), "live files")
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files: links in folders are not followed")
    for source in ([lake.folder + "/link"], [lake.path("s.parquet")], [lake.folder + "/link/d/a.parquet"], ["--glob", lake.folder + "/link/**/*.parquet"]):
        lake.refused("sync", *source, words=["the same file as", "the table has it already"])
        lake.refused("register", *source, words=["the same file as"])
    # The other way round: added through a link, asked for by its own name.
    other = lakekit.Lake()
    own = other.write("a.parquet", [{"id": 1, "name": "n"}], SCHEMA)
    os.symlink(other.source, other.folder + "/link")
    os.symlink(own, other.folder + "/b.parquet")
    other.watch = False
    other.sync(other.folder + "/link")
    other.refused("sync", other.source, words=["the same file as", "the table has it already"])
    other.refused("register", other.folder + "/b.parquet", words=["the same file as"])
    equal(len(other.live()), 1, "live files")


def test_a_replaced_file_by_way_of_links():
    """Another size does not make it another file: whatever the link was to, a file or its folder, its rows would be there twice."""
    for by_folder in (True, False):
        lake = lakekit.Lake()
        lake.watch = False
        own = [lake.write(f"{i}.parquet", [{"id": i, "name": "n" * i}], SCHEMA) for i in range(3)]
        link = lake.folder + "/link"
        if by_folder:
            os.symlink(lake.source, link)
        else:
            os.mkdir(link)
            for path in own:
                os.symlink(path, os.path.join(link, os.path.basename(path)))
        lake.sync("--glob" if by_folder else "--from", link + "/*.parquet" if by_folder else listed(lake, link))
        lake.write("1.parquet", [{"id": i, "name": "longer"} for i in range(50)], SCHEMA)
        run = lake.refused("sync", own[1], words=["the same file as", "the table has it already"])
        equal([f["file"] for f in run["bad"]], [own[1]], "bad files")
        lake.refused("register", own[1], words=["the same file as"])
        equal(len(lake.live()), 3, "live files")


def test_a_replaced_file_behind_a_link_among_plain_files():
    """A folder may hold links beside files, in any order: each entry speaks for itself."""
    for name in ("a.parquet", "m.parquet", "z.parquet"):
        lake = lakekit.Lake()
        lake.watch = False
        own = lake.write("x.parquet", [{"id": 1, "name": "n"}], SCHEMA)
        mixed = lake.folder + "/mixed"
        os.mkdir(mixed)
        for plain in ("b.parquet", "y.parquet"):
            shutil.copyfile(lake.write(plain, [{"id": 2, "name": plain}], SCHEMA), os.path.join(mixed, plain))
        os.symlink(own, os.path.join(mixed, name))
        lake.sync("--from", listed(lake, mixed))
        lake.write("x.parquet", [{"id": i, "name": "longer"} for i in range(50)], SCHEMA)
        run = lake.refused("sync", own, words=["the same file as", name, "the table has it already"])
        equal([f["file"] for f in run["bad"]], [own], "bad files")
        lake.refused("register", own, words=["the same file as"])
        equal(len(lake.live()), 3, "live files")


def test_a_location_that_a_link_of_one_file_leads_into():
    """Its neighbours lie in their folder; it lies where the table would be made."""
    for name in ("a.parquet", "z.parquet"):
        lake = lakekit.Lake()
        lake.write("m.parquet", [{"id": 1, "name": "n"}], SCHEMA)
        os.makedirs(lake.location)
        shutil.copyfile(lake.path("m.parquet"), lake.location + "/own.parquet")
        os.symlink(lake.location + "/own.parquet", lake.path(name))
        lake.refused("sync", "--from", listed(lake, lake.source), code=2, words=["overlaps its source", "own.parquet"])


def listed(lake, folder):
    """A list of the files of a folder; links in folders are not followed otherwise."""
    path = lake.folder + "/list.txt"
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(f"{os.path.join(folder, name)}\n" for name in sorted(os.listdir(folder))))
    return path


def test_times_beyond_the_range_of_the_table():
    """Milliseconds that microseconds can't tell: the footer shows them, and the file is refused."""
    lake = lakekit.Lake()
    limit = (2 ** 63 - 1) // 1000
    for name, values in (("a.parquet", [limit, 0]), ("b.parquet", [-limit, None])):
        lake.write(name, pa.table({"t": pa.array(values, pa.timestamp("ms"))}))
    lake.sync(lake.source)
    for name, values in (("c.parquet", [limit + 1]), ("d.parquet", [0, -limit - 1]), ("e.parquet", [2 ** 62])):
        lake.write(name, pa.table({"t": pa.array(values, pa.timestamp("ms"))}))
    run = lake.refused("sync", lake.source, words=["column t", "milliseconds"])
    equal(run.names("bad"), ["c.parquet", "d.parquet", "e.parquet"], "bad files")


def test_the_unit_property_does_not_outweigh_the_ledger():
    """A property of units knows nothing of rollbacks and of files that were taken out: once there is a ledger, that one tells."""
    lake = lakekit.Lake()
    manifest = os.path.join(lake.folder, "units.csv")

    def publish(units):
        with open(manifest, "w", encoding="utf-8") as file:
            file.write("unit,rows\n" + "".join(f"{unit},1\n" for unit in units))

    for unit in range(3):
        lake.write(f"unit={unit}/a.parquet", [{"id": unit, "name": "first"}], SCHEMA)
    options = ["--manifest", manifest, "--unit-folder", "unit={unit}", "--base", lake.source, "--partition", "unit: -",
               "--unit-property", "synced"]
    publish([0, 1])
    lake.sync(*options)
    before = lake.table().current_snapshot().snapshot_id
    publish([0, 1, 2])
    lake.sync(*options)
    equal(lake.sync(*options)["files"]["new"], 0, "new files")
    with lake.table().manage_snapshots() as change:
        change.set_current_snapshot(before)
    equal(lake.sync(*options)["files"]["added"], 1, "files of the unit that the rollback took out")
    lake.whole()
    os.rename(lake.path("unit=2", "a.parquet"), lake.path("unit=2", "b.parquet"))
    run = lake.sync(*options, "--on-missing", "delete")
    equal(sorted(os.path.basename(path) for path in lake.live()), ["a.parquet", "a.parquet", "b.parquet"], "live files")
    equal(run["files"]["added"], 1, "files added")


if __name__ == "__main__":
    lakekit.main(globals())
