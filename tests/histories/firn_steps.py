"""
What firn does to a table between the writers' steps. Each of its verbs keeps the rows, so the model only learns of new
snapshots. A verb that this build does not have is no step.
"""
import functools
import json
import subprocess

import checks
import columns
import kit
import model
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
    """A row filter that selects some files."""
    names = {f["id"]: f["name"] for f in world.fields}
    return dice.choice([f"{names[columns.K1]} > 1", f"{names[columns.PART]} = 'a'", f"{names[columns.UID]} <= 20",
                        f"{names[columns.K1]} IS NULL", f"{names[columns.AT]} < '2023-12-10T12:00:00+00:00'"])


def compact(world, dice):
    ref = world.pick_ref(dice)
    if world.state_id(ref) is None:
        return
    options = []
    if dice.random() < 0.4:
        options.append("--rewrite-all")
    else:
        options += ["--min-input-files", dice.choice([2, 3, 5])]
    if dice.random() < 0.3:
        options += ["--target-file-size-bytes", dice.choice([1500, 6000, 100000])]
    if dice.random() < 0.3 and has_option("compact", "--partial-progress"):
        options.append("--partial-progress")
    if dice.random() < 0.25 and has_option("compact", "--where"):
        options += ["--where", condition(world, dice)]
    if dice.random() < 0.5:
        options.append("--verify")
    report, made = rewrite(world, ref, "compact", *world.table.arguments, *options)
    check(bool(made) == bool(report["committed"]), f"committed is {report['committed']}, there are {made} new snapshots")
    if "--rewrite-all" not in options and dice.random() < 0.3:
        comes_to_rest(world, ref, options)


def comes_to_rest(world, ref, options):
    """The second run finds nothing to do. What deletes of many files take of each is guessed, so there it may be a later one."""
    for _ in range(6):
        exact = not world.table.state(ref).deletes
        report, made = rewrite(world, ref, "compact", *world.table.arguments, *options)
        if not report["committed"]:
            return check(not made, "a new snapshot, but nothing committed")
        check(not exact, f"the second run of compact {options} found something to do")
    return check(False, f"compact {options} finds something to do run after run")


@functools.cache
def has_option(verb, option):
    done = subprocess.run([kit.FIRN, "help", *verb.split()], capture_output=True, text=True, check=False)
    return option in done.stdout


def rewrite_deletes(world, dice):
    if has("rewrite-deletes"):
        ref = world.pick_ref(dice)
        if world.state_id(ref) is not None:
            rewrite(world, ref, "rewrite-deletes", *world.table.arguments)


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


def verified(world):
    if has("verify"):
        run("verify", *world.table.arguments)


def after_each(world):
    reads_the_same(world)
    verified(world)


STEPS = {compact: 8, rewrite_deletes: 2, remove_dangling_deletes: 1}
