"""
Random histories of one table: drawn from a seed, run with checks after every step, and made shorter when they fail.
"""
import os
import random
import shutil
import tempfile

import checks
import kit
import reader
import steps as writers
import world as ground


class Checks:
    """After which steps what is read. `outside(number, last)`: whether outside readers look too."""

    def __init__(self, outside=lambda number, last: False, extra=None, end=None):
        self.outside, self.extra, self.end = outside, extra, end

    def after(self, world, number, last):
        checks.books(world.table)
        checks.same_as_model(world)
        if self.extra:
            self.extra(world)
        if self.outside(number, last):
            checks.outside(world)
        if last and self.end:
            self.end(world)
            checks.same_as_model(world)


class History:
    """`steps`: [(name, seed)]. Each step has dice of its own, so one may go without the others becoming other steps."""

    def __init__(self, seed, steps, catalogue):
        self.seed, self.steps, self.catalogue = seed, steps, catalogue

    @classmethod
    def random(cls, seed, steps=20, more=None):
        """`more`: further steps with their weights."""
        dice = random.Random(f"history {seed}")
        catalogue = {step.__name__: (step, weight) for step, weight in writers.STEPS.items()}
        catalogue.update({"firn_" + step.__name__: (step, weight) for step, weight in (more or {}).items()})
        names = dice.choices(list(catalogue), [w for _, w in catalogue.values()], k=steps)
        return cls(seed, [(name, dice.getrandbits(32)) for name in ["append", *names]], catalogue)

    def run(self, check, trace=False):
        folder = tempfile.mkdtemp(prefix=f"firn-history-{self.seed}-")
        try:
            world = ground.World(os.path.join(folder), self.seed)
            for number, (name, seed) in enumerate(self.steps):
                if trace:
                    print(f"    {number}: {name} {seed}", flush=True)
                try:
                    self.catalogue[name][0](world, random.Random(seed))
                    check.after(world, number, number == len(self.steps) - 1)
                except Exception as problem:
                    raise kit.Failed(f"history {self.seed}, step {number} {name}: {type(problem).__name__}: {problem}") from problem
            return world
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            forget()

    def shortest(self, check, tries=200):
        """Leaves out steps as long as what is left still fails; (history, what it fails with)."""
        best, failure = self, fails(self, check)
        size = max(1, len(best.steps) // 2)
        while failure and size:
            at = 0
            while at < len(best.steps) and tries > 0:
                shorter = History(self.seed, best.steps[:at] + best.steps[at + size:], self.catalogue)
                tries -= 1
                found = fails(shorter, check)
                if found:
                    best, failure = shorter, found
                else:
                    at += size
            size //= 2
        return best, failure


def fails(history, check):
    try:
        history.run(check)
        return None
    except kit.Failed as problem:
        return problem


def forget():
    for cache in (reader.file_bytes, reader.avro, reader.file_rows):
        cache.cache_clear()
