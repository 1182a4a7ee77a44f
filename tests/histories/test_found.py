"""What random histories once found wrong, each as the short history that shows it."""
import json
import shutil
import tempfile

import world as ground
import checks
import firn_steps
import kit
import steps


def in_world(test):
    def run():
        folder = tempfile.mkdtemp(prefix="firn-found-")
        try:
            test(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    run.__name__ = test.__name__
    return run


def unpartitioned(folder, version):
    """A world whose first spec has no fields."""
    world = ground.World(folder, 1, (), version)
    world.table.update(lambda m: m["partition-specs"].append({"spec-id": 1, "fields": []}) or m.update({"default-spec-id": 1}))
    return world


@in_world
def vectors_leave_with_their_files(folder):
    """A compaction of the files that a filter selects removes their vectors, in tables without partitions too."""
    world = unpartitioned(folder, 3)
    dice = world.table.dice
    for _ in range(3):
        change, rows = steps.begin(world, dice, "main")
        fresh = world.new_rows(dice, 4, {steps.columns.PART: "a"})
        change.add(change.data_file(fresh, 1, []))
        world.commit(change, "append", {**rows, **{r[steps.columns.UID]: r for r in fresh}}, [r[steps.columns.UID] for r in fresh])
    change, rows = steps.begin(world, dice, "main")
    gone = [change.base.rows_of(entry)[1].values[steps.columns.UID] for entry in change.base.data]
    change.add(*change.vectors([(entry, {1}) for entry in change.base.data]))
    world.commit(change, "delete", {u: v for u, v in rows.items() if u not in gone})
    report, _ = firn_steps.rewrite(world, "main", "compact", *world.table.arguments, "--rewrite-all", "--where", "part = 'a'")
    kit.check(report["committed"], "nothing was committed")
    checks.books(world.table)
    checks.same_as_model(world)
    kit.check(not world.table.state().deletes, "no vector is left")


def append_file(world, count):
    change, rows = steps.begin(world, world.table.dice, "main")
    fresh = world.new_rows(world.table.dice, count, {steps.columns.PART: "a"})
    change.add(change.data_file(fresh, 1, []))
    world.commit(change, "append", {**rows, **{r[steps.columns.UID]: r for r in fresh}}, [r[steps.columns.UID] for r in fresh])
    return next(e for e in world.table.state().data if e.path == change.added[0][1]["file_path"])


@in_world
def guessed_deletes_come_to_rest(folder):
    """
    A delete file that may be for two well sized files takes rows of the first alone. Half of them are guessed to be the second's, and all
    of them once the first has been rewritten: what the first run leaves may be no work for the second.
    """
    world = unpartitioned(folder, 2)
    first, second = append_file(world, 10), append_file(world, 10)
    change, rows = steps.begin(world, world.table.dice, "main")
    dead = [r.values[steps.columns.UID] for r in change.base.rows_of(first) if r.position < 6]
    change.add(change.position_deletes([(first.path, n) for n in range(4)], 1, [], bounds=False),
               change.position_deletes([(first.path, n) for n in (4, 5)], 1, [], referenced=first.path))
    world.commit(change, "delete", {u: v for u, v in rows.items() if u not in dead})
    size = (first.file["file_size_in_bytes"] + second.file["file_size_in_bytes"]) // 2
    options = ["compact", *world.table.arguments, "--target-file-size-bytes", size]
    report, _ = firn_steps.rewrite(world, "main", *options)
    kit.check(report["committed"], "nothing was committed")
    checks.same_as_model(world)
    report, _ = firn_steps.rewrite(world, "main", *options)
    kit.check(not report["committed"], "the second run found something to do")


@in_world
def leftovers_go_without_other_work(folder):
    """What a killed compaction left is removed by the next run of any verb, though there is nothing else for it to do."""
    if not kit.FAULTS:
        return
    world = unpartitioned(folder, 2)
    for _ in range(3):
        append_file(world, 3)
    arguments = world.table.arguments
    verbs = {"compact": ["--min-input-files", 9], "rewrite-deletes": [], "remove-dangling-deletes": [],
             "upgrade": ["--to", 2]}
    for verb, options in verbs.items():
        done = kit.firn("compact", *arguments, "--rewrite-all", "--yes", program=kit.FAULTS,
                        environment={"FIRN_FAULT": "kill:1:catalog"}, expect=None)
        kit.check(done.returncode == 137, f"the compaction was not killed: {done.returncode} {done.stderr}")
        firn_steps.run(verb, *arguments, *options)
        try:
            checks.nothing_left(world.table)
        except kit.Failed:
            pass
        else:
            raise kit.Failed("nothing is left, so this test shows nothing; or a preview removed something")
        told = json.loads(firn_steps.run(verb, *arguments, *options, "--yes", "--json").stdout)
        checks.nothing_left(world.table)
        kit.check(not told["committed"] and told["leftovers_removed"] > 0, f"{verb} tells {told}")
        again = json.loads(firn_steps.run(verb, *arguments, *options, "--yes", "--json").stdout)
        kit.check("leftovers_removed" not in again, f"{verb} tells {again}")
    checks.same_as_model(world)


@in_world
def duckdb_reads_upgraded_tables_once_they_are_compacted(folder):
    """What the preview of an upgrade says of DuckDB: it is to be taken back when DuckDB takes manifests of version 1."""
    world = ground.World(folder, 1, (), 1)
    for _ in range(2):
        steps.append(world, world.table.dice)
    change, rows = steps.begin(world, world.table.dice, "main")
    world.commit(change, "replace", rows, merge=True)
    told = firn_steps.run("upgrade", *world.table.arguments, "--to", 2).stdout
    kit.check("DuckDB 1.5 refuses the table" in told, told)
    firn_steps.run("upgrade", *world.table.arguments, "--to", 2, "--yes")

    def refused():
        try:
            checks.outside(world, readers=["duckdb"])
        except Exception as problem:  # pylint: disable=broad-except
            return "sequence_number" in str(problem)
        return False
    kit.check(refused(), "DuckDB reads the table as it is upgraded")
    change, rows = steps.begin(world, world.table.dice, "main")
    world.commit(change, "append", rows)
    kit.check(refused(), "DuckDB reads EXISTING entries of manifests of version 1")
    firn_steps.rewrite(world, "main", "compact", *world.table.arguments, "--rewrite-all")
    kit.check(not refused(), "DuckDB still refuses the table")
    checks.outside(world, readers=["duckdb", "pyiceberg"])


def with_old_vector(folder):
    """A table whose data file is newer than its deletion vector, which therefore is not in force; returns (world, data file)."""
    world = unpartitioned(folder, 3)
    append_file(world, 3)
    entry = append_file(world, 4)
    change, rows = steps.begin(world, world.table.dice, "main")
    (spec_id, record), = change.vectors([(entry, {0, 2})])
    added = {"status": 1, "sequence_number": entry.sequence - 1, "data_file": record}
    change.new_manifests = lambda: [change.write_manifest([{**added, "snapshot_id": change.snapshot_id}], spec_id, 1)]
    world.commit(change, "delete", rows)
    checks.same_as_model(world)
    return world, entry


@in_world
def compaction_takes_vectors_out_of_force(folder):
    world, _ = with_old_vector(folder)
    report, _ = firn_steps.rewrite(world, "main", "compact", *world.table.arguments, "--rewrite-all")
    kit.check(report["result"]["delete_files_removed"] == 1, f"{report['result']}")
    kit.check(not world.table.state().deletes, "the vector is still there")
    checks.books(world.table)
    checks.same_as_model(world)


@in_world
def vectors_out_of_force_are_dangling(folder):
    world, _ = with_old_vector(folder)
    report, _ = firn_steps.rewrite(world, "main", "remove-dangling-deletes", *world.table.arguments)
    kit.check(report["committed"] and "older than its data file" in json.dumps(report), f"{report}")
    kit.check(not world.table.state().deletes, "the vector is still there")
    checks.books(world.table)
    checks.same_as_model(world)


@in_world
def rewriting_deletes_leaves_one_vector(folder):
    """The data file gets a vector that is in force, and two for one file are not allowed."""
    world, entry = with_old_vector(folder)
    change, rows = steps.begin(world, world.table.dice, "main")
    key = next(f["id"] for f in world.fields if f["id"] == steps.columns.UID)
    dead = change.base.rows_of(entry)[1].values[key]
    change.add(change.equality_deletes([key], [{key: dead}], 1, []))
    world.commit(change, "delete", {u: v for u, v in rows.items() if u != dead})
    report, _ = firn_steps.rewrite(world, "main", "rewrite-deletes", *world.table.arguments)
    kit.check(report["committed"], f"{report}")
    kit.check(len(world.table.state().deletes) == 1, f"{world.table.state().deletes}")
    checks.books(world.table)
    checks.same_as_model(world)


kit.main([duckdb_reads_upgraded_tables_once_they_are_compacted, vectors_leave_with_their_files, guessed_deletes_come_to_rest, leftovers_go_without_other_work,
          compaction_takes_vectors_out_of_force, vectors_out_of_force_are_dangling, rewriting_deletes_leaves_one_vector])
