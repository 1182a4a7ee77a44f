"""
Compaction beside a live writer: one commits at a steady pace (appends, deletes of every kind, copy on write, planning anew
after each conflict), the other runs `firn compact --yes` in a loop. Runs of firn are stopped for a while at random, so that
commits land in the midst of them as they do on large tables. The model tells in the end whether a row was lost, revived or
doubled, and already after each of firn's snapshots.
"""
import json
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import columns  # noqa: F401 (sets the search path)
import checks
import firn_steps
import kit
import steps
import world as ground
import writer
from kit import check

WRITES = {1: {steps.append: 6, steps.copy_on_write: 1},
          2: {steps.append: 6, steps.position_deletes: 4, steps.equality_deletes: 1, steps.upsert: 1, steps.copy_on_write: 1},
          3: {steps.append: 6, steps.vectors: 4, steps.equality_deletes: 1, steps.upsert: 1, steps.copy_on_write: 1}}


class Writer(threading.Thread):
    def __init__(self, world, seed, pace, seconds):
        super().__init__()
        self.world, self.dice, self.pace, self.seconds = world, random.Random(f"live {seed}"), pace, seconds
        self.commits, self.conflicts, self.failure = [], 0, None  # commits: (sequence number, step's name)

    def run(self):
        start, number = time.monotonic(), 0
        try:
            while (now := time.monotonic() - start) < self.seconds:
                if now < number * self.pace:
                    time.sleep(number * self.pace - now)
                self.write()
                number += 1
        except BaseException as problem:  # pylint: disable=broad-except
            self.failure = problem

    def write(self):
        choices = WRITES[self.world.version]
        step = self.dice.choices(list(choices), list(choices.values()))[0]
        while True:
            try:
                before = self.world.metadata.get("last-sequence-number", 0)
                step(self.world, random.Random(self.dice.getrandbits(32)))
                if self.world.metadata.get("last-sequence-number", 0) > before:
                    self.commits.append((before + 1, step.__name__))
                return
            except writer.Conflict:
                self.conflicts += 1


class Figures:
    def __init__(self):
        self.runs = self.committed = self.conflicts = self.idle = self.rebased = self.redone = self.dropped = 0
        self.seconds = 0.0


def compact(world, figures, dice, stop):
    """One run; `stop`: the longest time it stands still."""
    command = [kit.FIRN, "compact", *world.table.arguments, "--yes", "--json", "--min-input-files", "2"]
    if dice.random() < 0.3:
        command.append("--rewrite-all")
    if dice.random() < 0.3 and firn_steps.has_option("compact", "--partial-progress"):
        command.append("--partial-progress")
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        if stop and dice.random() < 0.7:
            time.sleep(dice.random() * 0.08)
            if run.poll() is None:
                run.send_signal(signal.SIGSTOP)
                time.sleep(dice.random() * stop)
                run.send_signal(signal.SIGCONT)
        out, err = run.communicate(timeout=300)
    figures.runs += 1
    figures.seconds += time.monotonic() - start
    told = f"{' '.join(map(str, command))}: exit {run.returncode}\n{out[-1500:]}\n{err[-1500:]}"
    check(run.returncode in (0, 5, 6), told)
    report = json.loads(out)
    if run.returncode == 5:
        figures.conflicts += 1
        return
    if not report["committed"]:
        figures.idle += 1
        return
    figures.committed += 1
    result = report["result"]
    figures.rebased += result.get("groups_rebased", 0)
    figures.redone += result.get("groups_redone", 0)
    figures.dropped += result.get("groups_dropped", 0)


def live(version, seed, seconds, pace=1.0, stop=1.0, allowed=("equality", "null_keys")):
    """Returns (figures, writer)."""
    folder = tempfile.mkdtemp(prefix="firn-live-")
    try:
        world = ground.World(folder, seed, allowed, version)
        for _ in range(4):
            steps.append(world, world.table.dice)
        other = Writer(world, seed, pace, seconds)
        figures, dice = Figures(), random.Random(f"compact {seed}")
        other.start()
        while other.is_alive():
            compact(world, figures, dice, stop)
        other.join()
        if other.failure:
            raise other.failure
        compact(world, figures, dice, 0)
        metadata = world.metadata
        for entry in sorted(metadata["snapshots"], key=lambda s: s.get("sequence-number", 0)):
            world.model.learn(metadata, entry)
            checks.snapshot_books(metadata, entry)
        checks.books(world.table)
        checks.same_as_model(world)
        checks.outside(world)
        checks.nothing_left(world.table)
        removing = sum(1 for _, name in other.commits if name in ("copy_on_write", "upsert", "equality_deletes"))
        check(figures.redone + figures.dropped <= 4 * removing, f"{figures.redone} groups redone, {removing} commits that ask for it")
        return figures, other
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(version, figures, other):
    tried = figures.committed + figures.conflicts
    share = figures.committed / tried if tried else 1.0
    print(f"v{version}: {len(other.commits)} commits of the writer ({other.conflicts} conflicts), {figures.runs} compactions: "
          f"{figures.committed} committed, {figures.conflicts} gave up ({share:.0%} committed), {figures.idle} found nothing to do; "
          f"groups rebased {figures.rebased}, redone {figures.redone}, dropped {figures.dropped}; "
          f"{figures.seconds / max(figures.runs, 1):.2f} s a run", flush=True)
    return share
