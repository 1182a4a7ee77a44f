"""
The kit itself: what it writes, read by its own slow reader and by outside readers, is what the model says. With FIRN_SPARK
Spark and Iceberg's Java reader read it too. FIRN_HISTORIES_KIT: how many histories; FIRN_HISTORIES_FIRST: the first seed.
"""
import os
import sys
import traceback

import history
import kit

COUNT = int(os.environ.get("FIRN_HISTORIES_KIT", "4"))
FIRST = int(os.environ.get("FIRN_HISTORIES_FIRST", "1"))


def kit_agrees():
    failed = []
    for seed in range(FIRST, FIRST + COUNT):
        story = history.History.random(seed, steps=14)
        try:
            story.run(history.Checks(outside=lambda number, last: last or number % 5 == 4))
        except kit.Failed as problem:
            failed.append(str(problem))
            print(f"  {problem}", flush=True)
            if os.environ.get("FIRN_HISTORIES_TRACE"):
                traceback.print_exc(file=sys.stdout)
    kit.check(not failed, f"{len(failed)} of {COUNT} histories")


kit.main([kit_agrees])
