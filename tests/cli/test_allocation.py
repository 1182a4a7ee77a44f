"""Each allocation of a verb fails in turn: exit 1 with a message, or success; never a crash, and no JSON that is cut."""
import json

import kit


def fail_each(world, *words):
    """Every allocation at first, then ever larger steps."""
    at = 1
    while True:
        done = world.firn(*words, program=kit.FAULTS, environment={"FIRN_FAIL_ALLOC": str(at)}, expect=None)
        kit.check(done.returncode in (0, 1), f"allocation {at}: exit {done.returncode}\n{done.stderr}")
        if done.returncode == 1:
            kit.contains(done.stderr, "out of memory", f"allocation {at}")
            if "--json" in words and done.stdout:
                json.loads(done.stdout)
        elif done.stdout == world.firn(*words).stdout and at > 40:
            return at
        at += 1 if at < 60 else 1 + at // 40


def verbs(world):
    table = kit.directory_table(world, "t")
    world.firn("catalog", "register", "a.b", table, "--catalog", "c.db", "--yes")
    world.write("firn.yaml", "catalogs:\n  default:\n    uri: sqlite:///c.db\n")
    for words in (["describe", table, "--json"], ["describe", "a.b"], ["tables"], ["config", "show"],
                  ["plan", table], ["history", table], ["help", "compact"]):
        fail_each(world, *words)


def the_release_build_has_no_switch(world):
    world.firn("config", "show", environment={"FIRN_FAIL_ALLOC": "1+"})
    world.firn("config", "show", environment={"FIRN_FAIL_ALLOC": "1+"}, program=kit.FAULTS, expect=1)


kit.main(verbs, the_release_build_has_no_switch)
