"""
Another writer commits in the midst of a compaction (also of the files that a filter selects, and with several commits) or of
rewrite-deletes, at each of its steps; replies get lost; runs are killed at each step and the other writer goes on. Afterwards the rows are right, no live file is missing, and what lies below the table is referred to, or
known to the journal until the next run has removed it.

The tables and the other writer are of tests/histories, which uses nothing of firn. FIRN_RACES=full plays every step with every
operation; else some are drawn (FIRN_TEST_SEED).
"""
import collections
import copy
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile

import kit

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

sys.path.insert(0, os.path.join(kit.HERE, "..", "histories"))

import checks  # noqa: E402
import history  # noqa: E402
import reader  # noqa: E402
import steps  # noqa: E402
import world as ground  # noqa: E402

FULL = os.environ.get("FIRN_RACES") == "full"
SEED = int(os.environ.get("FIRN_TEST_SEED", "1"))
DRAWN = 2  # steps per operation where not every one is played
OTHERS_DRAWN = 7  # operations beside each of the other runs, at one step each
ROOT = tempfile.mkdtemp(prefix="firn-races-")
STATE = os.path.join(ROOT, "state")
ASK, ANSWER = os.path.join(ROOT, "ask"), os.path.join(ROOT, "answer")
os.mkfifo(ASK)
os.mkfifo(ANSWER)
asked, answer = os.open(ASK, os.O_RDWR | os.O_NONBLOCK), os.open(ANSWER, os.O_RDWR)


# What the other writer does, beyond the steps of histories


def learn(world):
    metadata = world.metadata
    for entry in sorted(metadata["snapshots"], key=lambda s: s.get("sequence-number", 0) or s["timestamp-ms"]):
        world.model.learn(metadata, entry)


def change_property(world, _dice):
    world.table.update(lambda m: m["properties"].update({"owner": "somebody"}))


def commit_to_branch(world, dice):
    change, rows = steps.begin(world, dice, "side")
    fresh = world.new_rows(dice, 3)
    steps.write_data(world, change, dice, fresh)
    added = {row[steps.columns.UID]: row for row in fresh}
    world.commit(change, "append", {**rows, **added}, added)


def files_of(metadata):
    found = set()
    for entry in metadata["snapshots"]:
        found.add(entry["manifest-list"])
        for record in reader.manifests(entry):
            found.add(record["manifest_path"])
            found |= {e.path for e in reader.entries_of(record) if e.status != 2}
    return found


def expire(world, _dice):
    """Only the heads stay, and what only others referred to is deleted."""
    learn(world)
    before = files_of(world.metadata)
    heads = {ref["snapshot-id"] for ref in world.metadata["refs"].values()}

    def edit(metadata):
        metadata["snapshots"] = [s for s in metadata["snapshots"] if s["snapshot-id"] in heads]
        metadata["snapshot-log"] = [e for e in metadata["snapshot-log"] if e["snapshot-id"] in heads]

    world.table.update(edit)
    for path in before - files_of(world.metadata):
        os.unlink(reader.files.strip(path))


def replace_and_expire(world, dice):
    """Input files of the compaction are gone before they are read."""
    steps.overwrite(world, dice)
    expire(world, dice)


def another_host(world, _dice):
    kit.firn("compact", *world.table.arguments, "--yes", "--rewrite-all",
             environment={"FIRN_STATE_DIR": os.path.join(ROOT, "other-host")})


def another_run(world, _dice):
    """On this host the journal keeps it out."""
    kit.firn("compact", *world.table.arguments, "--yes", "--rewrite-all", expect=(0, 5), environment={"FIRN_STATE_DIR": STATE})


def twice(world, dice):
    steps.append(world, dice)
    (steps.vectors if world.version == 3 else steps.position_deletes)(world, dice)


OPERATIONS = [steps.append, steps.overwrite, steps.copy_on_write, steps.delete_files, steps.position_deletes, steps.vectors,
              steps.equality_deletes, steps.upsert, steps.evolve, steps.evolve_spec, steps.rollback, steps.upgrade,
              change_property, commit_to_branch, expire, replace_and_expire, another_host, another_run, twice]
ONLY = {steps.position_deletes: {2}, steps.vectors: {3}, steps.equality_deletes: {2, 3}, steps.upsert: {2, 3},
        steps.upgrade: {1, 2}, twice: {2, 3}}


# What firn does meanwhile


def some_rows(world):
    """A filter that half of the table's files may match, by the column's present name."""
    name = next(f["name"] for f in world.fields if f["id"] == steps.columns.UID)
    return ["--where", f"{name} > 20"]


# name: (its arguments, versions of the tables)
RUNS = {"compact": (lambda world: ["compact", "--rewrite-all"], (1, 2, 3)),
        "where": (lambda world: ["compact", "--rewrite-all", *some_rows(world)], (2, 3)),
        "partial": (lambda world: ["compact", "--rewrite-all", "--partial-progress"], (2, 3)),
        "rewrite-deletes": (lambda world: ["rewrite-deletes"], (2, 3))}


# The table


class Ground:
    """A table in one folder, laid back as it was before each run."""

    def __init__(self, version, name="races"):
        self.folder, self.pristine = (os.path.join(ROOT, f"{name}-v{version}{suffix}") for suffix in ("", "-pristine"))
        # A step may come to nothing: each verb is to have something to do.
        for attempt in range(20):
            self.make(version, f"races {version} {attempt}")
            works = [any(line.startswith("create ") for line in self.trace(what))
                     for what, (_, versions) in RUNS.items() if version in versions]
            if all(works):
                return
        raise AssertionError(f"no table of version {version} has work for each verb")

    def make(self, version, seed):
        for folder in (self.folder, self.pristine):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(self.folder)
        dice = random.Random(seed)
        world = ground.World(self.folder, SEED, ("equality", "evolution", "specs", "branches"), version)
        deletes = {1: steps.copy_on_write, 2: steps.position_deletes, 3: steps.vectors}[version]
        for step in (steps.append, steps.append, steps.append, deletes, steps.equality_deletes, steps.append, steps.append,
                     deletes, steps.append):
            step(world, dice)
        head = reader.head(world.metadata)["snapshot-id"]
        world.table.update(lambda m: (m["refs"].update({"side": {"snapshot-id": head, "type": "branch"}}),
                                      m["properties"].update({"commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "5"})))
        self.base = world
        shutil.copytree(self.folder, self.pristine)
        self.before = {os.path.join(d, n) for d, _, names in os.walk(self.folder) for n in names}

    def restore(self):
        """(world, the files that the other writer makes, as they come)."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.pristine, self.folder)
        shutil.rmtree(STATE, ignore_errors=True)
        history.forget()
        world = copy.deepcopy(self.base)
        made, fresh = set(self.before), world.table.fresh
        world.table.fresh = lambda *name: made.add(path := fresh(*name)) or path
        return world, made

    def trace(self, what="compact"):
        """The calls of a run that nobody disturbs."""
        world, _ = self.restore()
        path = os.path.join(ROOT, "trace")
        firn(world, what, {"FIRN_FAULT_TRACE": path})
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.unlink(path)
        return lines


def firn(world, what, environment, meanwhile=None, program=kit.FAULTS):
    """Does one of RUNS; `meanwhile` is called when it asks."""
    verb, *options = RUNS[what][0](world)
    command = [program, verb, *world.table.arguments, *options, "--yes", "--threads", "1"]
    env = {**os.environ, "FIRN_STATE_DIR": STATE, "FIRN_FAULT_COMMAND": f"echo x > {ASK}; read x < {ANSWER}", **environment}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        while meanwhile and run.poll() is None:
            if not select.select([asked], [], [], 0.01)[0]:
                continue
            os.read(asked, 16)
            try:
                meanwhile()
            finally:
                os.write(answer, b"x\n")
        out, _ = run.communicate(timeout=300)
    for word in ("AddressSanitizer", "runtime error", "LeakSanitizer", "Assertion"):
        kit.check(word not in out, out[-2000:])
    return run.returncode, out


def journaled():
    found = set()
    for name in os.listdir(STATE) if os.path.isdir(STATE) else []:
        with open(os.path.join(STATE, name), encoding="utf-8") as file:
            found |= {line.split(" ", 2)[2].rstrip("\n") for line in file if line.startswith("file ")}
    return {reader.files.strip(path) for path in found}


def left_behind(world, made):
    """Files below the table that nothing refers to and that are not the other writer's."""
    metadata = world.metadata
    wanted = {reader.catalog_location(world.table.database, world.table.name)}
    wanted |= {e["metadata-file"] for e in metadata["metadata-log"]}
    for entry in metadata["snapshots"]:
        wanted |= {entry["manifest-list"]} | {record["manifest_path"] for record in reader.manifests(entry)}
        wanted |= {e.path for record in reader.manifests(entry) for e in reader.entries_of(record)}
    there = {os.path.join(d, n) for d, _, names in os.walk(world.table.root) for n in names}
    return there - {reader.files.strip(path) for path in wanted | made}


def right(world, made, known=(), outside=False):
    learn(world)
    checks.books(world.table)
    checks.same_as_model(world)
    left = left_behind(world, made) - set(known)
    kit.check(not left, f"left behind: {sorted(left)[:4]}")
    readers = [r for r in checks.outside_readers(world) if r in ("pyiceberg", "duckdb")]
    if outside and readers:
        checks.outside(world, readers=readers)


def next_run(world, made, outside, what="compact"):
    """It has nothing in its way, and leaves nothing of the one before, also where it finds nothing to do."""
    code, out = firn(world, what, {}, program=kit.FIRN)
    kit.check(code == 0, f"the next run: exit {code}: {out[-1500:]}")
    right(world, made, (), outside)


# The races


class Races:
    def __init__(self, place, version, what="compact"):
        self.ground, self.version, self.what = place, version, what
        self.dice = random.Random(f"draw {SEED} {version}" + ("" if what == "compact" else what))
        lines = self.ground.trace(what)
        self.calls = [line.split(" ")[0] for line in lines]
        # Between two reads or writes of one file is no other moment than before the first; in the catalog's own transaction
        # nobody can go between.
        self.usable = [n for n, line in enumerate(lines, 1) if self.calls[n - 1] != "catalog" and
                       (n == 1 or self.calls[n - 1] not in ("read", "write") or line != lines[n - 2])]
        self.played, self.codes, self.failed = 0, {}, []

    def operations(self):
        return [o for o in OPERATIONS if self.version in ONLY.get(o, {1, 2, 3})]

    def points(self, drawn):
        """Numbers of calls."""
        usable = self.usable
        if FULL:
            return usable
        # Half of them after the first file was made, where the commit is.
        late = [n for n in usable if n > self.calls.index("create")]
        return sorted(self.dice.choice(late if i % 2 == 0 else usable) for i in range(drawn))

    def play(self, what, body):
        self.played += 1
        if self.played % 250 == 0:
            print(f"  v{self.version}: {self.played} runs, {len(self.failed)} failed", flush=True)
        try:
            code = body(*self.ground.restore(), self.played % (50 if FULL else 10) == 0)
            self.codes[code] = self.codes.get(code, 0) + 1
        except Exception as problem:  # pylint: disable=broad-except
            self.failed.append(what)
            print(f"  v{self.version} {self.what}: {what}: {type(problem).__name__}: {str(problem)[:1500]}", flush=True)

    def drawn(self):
        """(operation, call) pairs: all, some of each, or some."""
        operations = self.operations()
        if self.what == "compact" or FULL:
            return [(o, at) for o in operations for at in self.points(DRAWN)]
        late = [n for n in self.usable if n > self.calls.index("create")]
        return [(o, self.dice.choice(late)) for o in self.dice.sample(operations, OTHERS_DRAWN)]

    def go_between(self):
        for operation, at in self.drawn():
            def body(world, made, outside, operation=operation, at=at):
                dice = random.Random(f"{SEED} {operation.__name__} {at}")
                code, out = firn(world, self.what, {"FIRN_FAULT": f"run:{at}"}, lambda: operation(world, dice))
                allowed = {0, 5} | ({1} if operation is replace_and_expire else set())
                kit.check(code in allowed, f"exit {code}: {out[-1500:]}")
                right(world, made, outside=outside)
                next_run(world, made, outside, self.what)
                return code
            self.play(f"{operation.__name__} at call {at} ({self.calls[at - 1]})", body)

    def killed(self):
        for kind in ("kill", "kill-after"):
            points = self.points(12 if self.what == "compact" else 1)
            points = sorted({*points, *(n for n, call in enumerate(self.calls, 1) if call == "catalog")})
            for at in points:
                operation = self.dice.choice([o for o in self.operations() if o not in (expire, replace_and_expire)])

                def body(world, made, outside, kind=kind, at=at, operation=operation):
                    code, out = firn(world, self.what, {"FIRN_FAULT": f"{kind}:{at}"})
                    kit.check(code == 137 or (kind == "kill-after" and code == 0), f"exit {code}: {out[-1500:]}")
                    right(world, made, journaled())
                    operation(world, random.Random(f"{SEED} {at}"))
                    # Another run of this host has cleaned the journal up; then there is nothing left to be known.
                    right(world, made, journaled())
                    next_run(world, made, outside, self.what)
                    return code
                self.play(f"{kind} at call {at} ({self.calls[at - 1]}), then {operation.__name__}", body)

    def lost_replies(self):
        for at in (1, 2):
            for kind in ("fail", "fail-after"):
                operation = self.dice.choice(self.operations())

                def body(world, made, outside, kind=kind, at=at, operation=operation):
                    code, out = firn(world, self.what, {"FIRN_FAULT": f"{kind}:{at}:catalog"})
                    kit.check(code == (0 if (kind, at) == ("fail-after", 2) else 1), f"exit {code}: {out[-1500:]}")
                    right(world, made)
                    operation(world, random.Random(f"{SEED} {at}"))
                    next_run(world, made, outside, self.what)
                    return code
                self.play(f"{kind} at {at} of the catalog, then {operation.__name__}", body)


def manifests_are_read_once():
    """An append that comes first costs a new manifest list and a manifest, not reading the inputs' manifests again."""
    place = Ground(2, "once")
    lines = place.trace()
    at = next(n for n, line in enumerate(lines, 1) if line.startswith("create ") and "/snap-" in line)
    world, made = place.restore()
    inputs = {record["manifest_path"] for record in reader.manifests(reader.head(world.metadata))}
    path = os.path.join(ROOT, "trace-once")
    code, out = firn(world, "compact", {"FIRN_FAULT": f"run:{at}", "FIRN_FAULT_TRACE": path},
                     lambda: steps.append(world, random.Random(1)))
    kit.check(code == 0, f"exit {code}: {out[-1500:]}")
    with open(path, encoding="utf-8") as file:
        found = collections.Counter(file.read().splitlines())
    opened = {name: found["open " + name] for name in inputs}
    kit.check(set(opened.values()) == {1}, f"manifests were opened so often: {opened}")
    lists = [line for line in found if line.startswith("create ") and "/snap-" in line]
    written = [line for line in found if line.startswith("create ") and line.endswith(".avro") and line not in lists]
    kit.check(len(lists) == 2, f"manifest lists: {lists}")
    undisturbed = [line for line in lines if line.startswith("create ") and line.endswith(".avro") and "/snap-" not in line]
    kit.check(len(written) == len(undisturbed), f"{len(written)} manifests were written, {len(undisturbed)} are enough")
    right(world, made)


def races(version):
    place, failed = Ground(version), []
    for what, (_, versions) in RUNS.items():
        if version not in versions:
            continue
        found = Races(place, version, what)
        found.go_between()
        found.killed()
        if what == "compact" or FULL:
            found.lost_replies()
        codes = ", ".join(f"{count} × {code}" for code, count in sorted(found.codes.items()))
        print(f"  v{version} {what}: {found.played} runs over {len(found.calls)} calls ({len(found.usable)} to go between); "
              f"exit codes {codes}", flush=True)
        failed += [f"{what}: {one}" for one in found.failed]
    kit.check(not failed, f"{len(failed)}: {failed[:10]}")


try:
    kit.main([(f"races_v{version}", races, version) for version in (1, 2, 3)] + [manifests_are_read_once])
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
