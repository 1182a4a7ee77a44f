"""
What firn does to a table between the writers' steps. Each of its verbs keeps the rows, so the model only learns of new
snapshots. A verb that this build does not have is no step.
"""
import datetime
import functools
import json
import os
import random
import subprocess
import time

import checks
import columns
import kit
import model
import reader
import steps
from kit import check


@functools.cache
def has(verb):
    return subprocess.run([kit.FIRN, "help", *verb.split()], capture_output=True, check=False).returncode == 0


def run(*arguments, expect=(0,)):
    done = kit.firn(*arguments, expect=None)
    told = f"firn {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    for word in ("AddressSanitizer", "runtime error", "LeakSanitizer", "Assertion"):
        check(word not in done.stderr, told)
    check(done.returncode in expect, told)
    return done


def rewrite(world, ref, *arguments):
    """A verb that makes new snapshots of the same rows; returns its report."""
    before = world.state_id(ref)
    report = json.loads(run(*arguments, "--yes", "--json", *([] if ref == "main" else ["--ref", ref])).stdout)
    made = world.rewritten(ref, before)
    checks.replaced(world.table, before, ref)
    return report, made


def condition(world, dice):
    """(a row filter, what it means)."""
    names = {f["id"]: f["name"] for f in world.fields}
    at = datetime.datetime(2023, 12, 10, 12, tzinfo=datetime.timezone.utc)
    return dice.choice([
        (f"{names[columns.K1]} > 1", lambda row: row[columns.K1] is not None and row[columns.K1] > 1),
        (f"{names[columns.PART]} = 'a'", lambda row: row[columns.PART] == "a"),
        (f"{names[columns.UID]} <= 20", lambda row: row[columns.UID] <= 20),
        (f"{names[columns.K1]} IS NULL", lambda row: row[columns.K1] is None),
        (f"NOT ({names[columns.PART]} IN ('a', 'b') OR {names[columns.UID]} > 30)",
         lambda row: row[columns.PART] not in (None, "a", "b") and row[columns.UID] <= 30),
        (f"{names[columns.AT]} < '2023-12-10T12:00:00+00:00'",
         lambda row: row[columns.AT] is not None and row[columns.AT] < at)])


def compact_options(world, dice, all_of_it=0.4):
    options = []
    if dice.random() < all_of_it:
        options.append("--rewrite-all")
    else:
        options += ["--min-input-files", dice.choice([2, 3, 5])]
    if dice.random() < 0.3:
        options += ["--target-file-size-bytes", dice.choice([1500, 6000, 100000])]
    if dice.random() < 0.3 and has_option("compact", "--partial-progress"):
        options.append("--partial-progress")
    if dice.random() < 0.25 and has_option("compact", "--where"):
        options += ["--where", condition(world, dice)[0]]
    if dice.random() < 0.5:
        options.append("--verify")
    return options + little_memory(dice)


def compact(world, dice):
    ref = world.pick_ref(dice)
    if world.state_id(ref) is None:
        return
    options = compact_options(world, dice)
    report, made = rewrite(world, ref, "compact", *world.table.arguments, *options)
    check(bool(made) == bool(report["committed"]), f"committed is {report['committed']}, there are {made} new snapshots")
    if "--rewrite-all" not in options and dice.random() < 0.5:
        comes_to_rest(world, ref, options)


def comes_to_rest(world, ref, options):
    """The second run finds nothing to do."""
    report, made = rewrite(world, ref, "compact", *world.table.arguments, *options)
    check(not report["committed"] and not made, f"the second run of compact {options} found something to do")


@functools.cache
def has_option(verb, option):
    done = subprocess.run([kit.FIRN, "help", *verb.split()], capture_output=True, text=True, check=False)
    return option in done.stdout


def meets_writer(world, dice, verb, options):
    """Somebody commits while firn stands at one of its reads or writes."""
    if not kit.FAULTS or not has(verb) or world.state_id() is None:
        return
    ready, go = (os.path.join(world.table.folder, name) for name in ("ready", "go"))
    operation = dice.choice(["read", "create", "write", "finish", "publish"])
    plan = f"run:{dice.randrange(1, 40 if operation == 'read' else 12)}:{operation}"
    environment = {**os.environ, "FIRN_FAULT": plan,
                   "FIRN_FAULT_COMMAND": f"touch '{ready}'; while [ ! -e '{go}' ]; do sleep 0.005; done"}
    command = [kit.FAULTS, verb, *world.table.arguments, "--yes", "--json", *options]
    with subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        while run.poll() is None and not os.path.exists(ready):
            time.sleep(0.002)
        try:
            if os.path.exists(ready):
                for step in dice.choices(list(steps.STEPS), list(steps.STEPS.values()), k=dice.choice([1, 1, 2])):
                    step(world, random.Random(dice.getrandbits(32)))
        finally:
            with open(go, "w", encoding="utf-8"):
                pass
            out, err = run.communicate(timeout=120)
    for name in (ready, go):
        if os.path.exists(name):
            os.remove(name)
    told = f"{plan} firn {verb}: exit {run.returncode}\n{out[-1500:]}\n{err[-1500:]}"
    check(run.returncode in (0, 5), told)
    world.model.learn(world.metadata, reader.head(world.metadata))


def compact_meets_writer(world, dice):
    meets_writer(world, dice, "compact", compact_options(world, dice, 0.7))


def rewrite_deletes_meets_writer(world, dice):
    meets_writer(world, dice, "rewrite-deletes", little_memory(dice))


def remove_dangling_deletes_meets_writer(world, dice):
    meets_writer(world, dice, "remove-dangling-deletes", [])


def dies(world, dice, verb, options):
    """firn is killed, or one of its calls fails; whatever stands then, the rows are the same."""
    if not kit.FAULTS or not has(verb) or world.state_id() is None:
        return
    plan = f"{dice.choice(['kill', 'kill-after', 'fail', 'fail-after'])}:" + dice.choice(
        [f"{dice.randrange(1, 80)}", f"{dice.randrange(1, 3)}:catalog", f"{dice.randrange(1, 12)}:finish"])
    done = kit.firn(verb, *world.table.arguments, "--yes", *options, program=kit.FAULTS,
                    environment={"FIRN_FAULT": plan}, expect=None)
    check(done.returncode in (0, 1, 5, 7, 137),
          f"{plan} firn {verb}: exit {done.returncode}\n{done.stdout[-1000:]}\n{done.stderr[-1500:]}")
    world.model.learn(world.metadata, reader.head(world.metadata))


def compact_dies(world, dice):
    dies(world, dice, "compact", compact_options(world, dice))


def rewrite_deletes_dies(world, dice):
    dies(world, dice, "rewrite-deletes", little_memory(dice))


def little_memory(dice):
    """So little that positions are looked up, and lie, in parts."""
    return ["--memory", "1KB"] if dice.random() < 0.4 else []


def rewrite_deletes(world, dice):
    if has("rewrite-deletes"):
        ref = world.pick_ref(dice)
        if world.state_id(ref) is not None:
            rewrite(world, ref, "rewrite-deletes", *world.table.arguments, *little_memory(dice))


def remove_dangling_deletes(world, dice):
    if has("remove-dangling-deletes"):
        ref = world.pick_ref(dice)
        if world.state_id(ref) is not None:
            rewrite(world, ref, "remove-dangling-deletes", *world.table.arguments)


def reads_the_same(world):
    """firn's own reader shows the model's rows on every ref."""
    if not has("scan"):
        return
    metadata = world.metadata
    for ref in world.refs() or ["main"]:
        done = run("scan", *world.table.arguments, "--format", "json", *([] if ref == "main" else ["--ref", ref]))
        found = model.without_lineage_of_none(done.stdout.splitlines())
        wanted = model.without_lineage_of_none(world.model.lines(metadata, ref))
        if not any('"_row_id":' in line for line in found):
            wanted = kit.rows.drop_lineage(wanted)
        kit.same_rows(found, wanted, f"rows of {ref} by firn")


def upgrade(world, dice):
    version = world.version
    if not has("upgrade") or version == 3 or dice.random() < 0.5:
        return
    before = world.state_id()
    run("upgrade", *world.table.arguments, "--to", dice.randrange(version + 1, 4), "--yes")
    check(world.version > version and world.state_id() == before, "upgrade: the version is to rise, the snapshot to stay")
    if version == 1:
        world.used.add("upgraded_v1")


def filters_the_same(world, dice):
    if not has("scan") or world.state_id() is None:
        return
    text, matches = condition(world, dice)
    metadata = world.metadata
    rows = [r for r in world.model.state(metadata).values()
            if matches({f["id"]: columns.project(f, r.values) for f in world.fields})]
    wanted = model.canonical(world.fields, [(r.values, r.row_id, r.updated) for r in rows], world.version >= 3)
    done = run("scan", *world.table.arguments, "--format", "json", "--where", text)
    kit.same_rows(model.without_lineage_of_none(done.stdout.splitlines()), wanted, f"rows where {text}")


def at_the_end(world):
    """The next run clears up what the killed ones left, whether it has something else to do or not."""
    rewrite(world, "main", "compact", *world.table.arguments, "--rewrite-all")
    checks.nothing_left(world.table)


def verified(world):
    if has("verify"):
        run("verify", *world.table.arguments)


def after_each(world):
    reads_the_same(world)
    filters_the_same(world, random.Random(world.model.next_uid))
    verified(world)


STEPS = {compact: 8, compact_meets_writer: 2, compact_dies: 1, rewrite_deletes: 2, rewrite_deletes_meets_writer: 1, rewrite_deletes_dies: 0.5,
         remove_dangling_deletes: 1, remove_dangling_deletes_meets_writer: 0.5, upgrade: 0.5}
