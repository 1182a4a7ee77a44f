"""A run that finds the table locked by another one leaves version-hint.text to it: nothing that a kill leaves behind is nobody's."""
import fcntl
import os

import lakekit
from lakekit import Lake, check, equal


def names(lake):
    return sorted(n for n in os.listdir(os.path.join(lake.location, "metadata")) if n.endswith(".tmp"))


def test_a_run_that_finds_the_table_locked():
    lake = Lake()
    lake.watch = False
    lake.write("a.parquet", [{"n": 1}])
    lake.sync(lake.source)
    hint = os.path.join(lake.location, "metadata", "version-hint.text")
    with open(hint, encoding="ascii") as file:
        right = file.read()
    with open(hint, "w", encoding="ascii") as file:
        file.write("00000-stale")
    journals = [os.path.join(lake.state, n) for n in os.listdir(lake.state)]
    check(journals, "there is no journal")
    held = [open(path, "rb") for path in journals]
    for journal in held:
        fcntl.flock(journal, fcntl.LOCK_EX)
    lake.sync(lake.source, program=lakekit.kit.FAULTS, environment={"FIRN_FAULT": "kill:1:publish"}, expect=5)
    with open(hint, encoding="ascii") as file:
        equal(file.read(), "00000-stale", "the hint while another run has the table")
    equal(names(lake), [], "files left behind")
    for journal in held:
        journal.close()
    # One that has the table is killed at the same step: the next one removes what it left.
    lake.sync(lake.source, program=lakekit.kit.FAULTS, environment={"FIRN_FAULT": "kill:1:publish"}, expect=137)
    equal(len(names(lake)), 1, "files left behind by the kill")
    lake.sync(lake.source)
    equal(names(lake), [], "files left behind after the next run")
    with open(hint, encoding="ascii") as file:
        equal(file.read(), right, "the hint")


if __name__ == "__main__":
    lakekit.main(globals())
