"""
Rewriting deletes, removing dangling ones, and compacting what has deletes, while every call that changes something is killed or fails in turn, and every
allocation: the table then has exactly its rows and its live files, and the next run does the job.
"""
import os
import shutil

import bugkit
import fx_deletes
import kit
from bugkit import check, equal

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

STEP = int(os.environ.get("FIRN_FAULT_STEP", "1"))
ALLOCATION_STEP = int(os.environ.get("FIRN_ALLOCATION_STEP", "7"))


class Case:
    """A table of one format version that has something to do for each verb; laid back before each run."""

    def __init__(self, verb, version):
        self.verb = verb
        build = fx_deletes.Builder(version=version)
        data, gone = build.table.data(fx_deletes.rows(0, 10)), build.table.data(fx_deletes.rows(20, 2), oracle=False)
        build.commit(data, gone)
        build.commit(fx_deletes.equality(build.table, [1, 2]))
        build.commit(*(fx_deletes.positions(build.table, [(data["file_path"], p)]) for p in (3, 4)),
                     fx_deletes.positions(build.table, [(gone["file_path"], 1)]))
        build.commit(remove=(gone["file_path"],))
        self.table = build.save()
        self.pristine = self.table.folder + "-pristine"
        shutil.copytree(self.table.folder, self.pristine)
        self.files = self.table.all_files()
        self.start = self.table.current_path()
        self.state = self.table.folder + "-state"

    def restore(self):
        shutil.rmtree(self.table.folder)
        shutil.copytree(self.pristine, self.table.folder)
        shutil.rmtree(self.state, ignore_errors=True)

    def run(self, environment=None, program=kit.FAULTS):
        return bugkit.firn(self.verb, *self.table.arguments, "--yes", "--threads", "1", program=program, expect=None,
                           environment={"FIRN_STATE_DIR": self.state, **(environment or {})})

    def committed(self):
        return self.table.current_path() != self.start

    def holds(self, what):
        """No file of before is gone; the rows are as they were (the same metadata and files say so by themselves)."""
        check(self.files <= self.table.all_files(), f"{what}: files are gone")
        if self.committed():
            equal(fx_deletes.ids(self.table, False), [0, 5, 6, 7, 8, 9], what)

    def recovers(self, what):
        done = self.run(program=kit.FIRN)
        equal(done.returncode, 0, f"{what}, the next run: {done.stderr}")
        check(self.committed(), f"{what}: the next run did nothing")
        self.holds(what + ", after the next run")

    def sweep(self, kind, operation=None):
        suffix = f":{operation}" if operation else ""
        for at in range(1, 1000, STEP):
            self.restore()
            done = self.run({"FIRN_FAULT": f"{kind}:{at}{suffix}"})
            what = f"{self.verb}: {kind} at call {at}{suffix} (exit {done.returncode})"
            self.holds(what)
            if done.returncode == 0:
                check(at > 1, f"{what}: no fault was played")
                return
            check(done.returncode in ((137,) if kind.startswith("kill") else (1, 2, 5, 7)), f"{what}: {done.stderr}")
            if kind == "fail" and done.returncode != 7 and not self.committed() and "delet" not in done.stderr:
                equal(self.table.all_files() - self.files, set(), f"{what}: left behind")
            if at % 5 == 1:
                self.recovers(what)
        raise kit.Failed(f"{kind}: no end")

    def allocations(self):
        for at in range(1, 1000000, ALLOCATION_STEP):
            self.restore()
            done = self.run({"FIRN_FAIL_ALLOC": str(at)})
            what = f"{self.verb}: allocation {at} fails (exit {done.returncode})"
            self.holds(what)
            if done.returncode == 0:
                check(at > 1, f"{what}: nothing failed")
                return
            check(done.returncode in (1, 7), f"{what}: {done.stderr}")


def case(verb, version, kind, operation=None):
    def test():
        made = Case(verb, version)
        made.allocations() if kind == "allocations" else made.sweep(kind, operation)
    test.__name__ = f"{verb.replace('-', '_')}_v{version}_{kind}"
    return test


bugkit.main([case(verb, version, kind, operation)
             for verb, version in (("rewrite-deletes", 2), ("rewrite-deletes", 3), ("remove-dangling-deletes", 2),
                                   ("compact", 2), ("compact", 3))
             for kind, operation in (("kill", None), ("kill-after", None), ("fail", None), ("fail-after", None),
                                     ("short", "write"), ("allocations", None))])
