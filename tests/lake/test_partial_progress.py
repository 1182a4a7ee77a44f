"""A compaction of which only a part was committed says so in one report: one error, the commits that stand."""
import json

import lakekit
from lakekit import Lake, check, equal


def once(pairs):
    names = [name for name, _ in pairs]
    equal(sorted(set(names)), sorted(names), "keys of an object")
    return dict(pairs)


def test_a_failure_after_a_commit():
    lake = Lake()
    for key in "abc":
        for number in range(3):
            lake.write(f"k={key}/{number}.parquet", [{"k": key, "n": number}])
    lake.register(lake.source)
    options = ["--rewrite-all", "--partial-progress", "--max-file-group-size-bytes", "1"]
    for step in range(1, 12):
        run = lake.act("compact", *options, program=lakekit.kit.FAULTS, environment={"FIRN_FAULT": f"fail:{step}:catalog+"}, expect=(0, 1, 7))
        document = json.loads(run.text, object_pairs_hook=once)
        if run.code != 0:
            error = document["error"]
            equal((error["exit_code"], error["code"]), (run.code, {1: "IO", 7: "COMMIT_UNKNOWN"}[run.code]), "the error")
            equal(run.error.strip(), "firn: " + error["message"], "the message")
        if run.code != 0 and document.get("committed"):
            break
    check(run.code != 0 and document["committed"], "no run was stopped between its commits")
    lake.watch = False
    run = lake.run("compact", lake.name, "--catalog", lake.database, "--yes", *options, program=lakekit.kit.FAULTS,
                   environment={"FIRN_FAULT": f"fail:{step}:catalog+"}, expect=(1, 7))
    run.says("Not everything was done", "planned failure")


if __name__ == "__main__":
    lakekit.main(globals())
