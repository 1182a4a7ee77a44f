"""The demonstration: writing, previewing, compacting, and the same rows before and after."""
import os
import signal
import subprocess
import time

import kit

FLAGS = ["--catalog", "d/catalog.db"]
TABLE = ["demo.events", *FLAGS]


def interrupt_compaction(world):
    """A signal stops a compaction; nothing of it stays, and the next one does the work."""
    before = kit.listing(os.path.join(world.work, "d"))
    for code, number in ((130, signal.SIGINT), (143, signal.SIGTERM)):
        for delay in (0.02, 0.05, 0.03, 0.08, 0.04, 0.12, 0.01, 0.2):
            process = subprocess.Popen([kit.FIRN, "compact", *TABLE, "--yes", "--threads", "1", "--verify"],
                                       cwd=world.work, env=world.environment, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(delay)
            process.send_signal(number)
            _, message = process.communicate(timeout=120)
            if process.returncode == code:
                break
            # Before the handler stands, or after all is done, there is nothing to stop.
            kit.check(process.returncode in (0, -number), f"exit {process.returncode}: {message}")
            if process.returncode == 0:
                return
        else:
            continue
        kit.contains(message, "firn: ", "message")
        kit.check(kit.listing(os.path.join(world.work, "d")) == before, "an interrupt left something behind")


def preview_and_run(world):
    before = kit.listing(os.path.join(world.work, "d"))
    plan = world.json("plan", *TABLE)
    preview = world.json("compact", *TABLE)
    dry = world.json("compact", *TABLE, "--yes", "--dry-run")
    kit.equal(preview["plan"], plan["plan"], "plan and compact")
    kit.equal(dry["plan"], plan["plan"], "--dry-run")
    kit.equal((preview["preview"], preview["committed"], preview["result"]), (True, False, None), "preview")
    kit.check(kit.listing(os.path.join(world.work, "d")) == before, "a preview changed files")
    few = world.json("plan", *TABLE, "--min-input-files", "101")["plan"]
    kit.equal((few["selected_groups"], few["skipped_groups"]), (0, 3), "groups of --min-input-files 101")
    kit.check(all("101" in group["reason"] for group in few["groups"]), "what the groups lack is not said")
    for text in world.firn("plan", *TABLE).stdout, world.firn("compact", *TABLE).stdout:
        for part in ("happened_at_day=2024-05-02", "Groups to rewrite", "Nothing was changed."):
            kit.contains(text, part)
    return plan["plan"]


def without_estimates(plan):
    """A run that needs no estimate of its outputs' sizes makes none."""
    groups = [dict(group, output_bytes=None) for group in plan["groups"]]
    return dict(plan, output_bytes=None, sample=None, groups=groups)


def compact(world, plan):
    done = world.json("compact", *TABLE, "--yes", "--verify")
    result = done["result"]
    kit.equal(without_estimates(done["plan"]), without_estimates(plan), "plan of the run")
    kit.check(abs(plan["output_bytes"] - result["output_bytes"]) <= result["output_bytes"] / 10,
              "the preview's bytes are more than 10 % off")
    kit.equal((done["committed"], result["groups"], result["input_files"], result["output_files"],
               result["rows"], result["verified"]),
              (True, plan["selected_groups"], plan["input_files"], plan["output_files"], 30000, True), "result")
    again = world.json("compact", *TABLE, "--yes")
    kit.equal((again["committed"], again["plan"]["selected_groups"]), (False, 0), "the second run")


def demo(world):
    started = time.monotonic()
    done = world.json("demo", "small-files", "d")
    kit.check(time.monotonic() - started < 200, "the demonstration is slow")
    kit.equal(done["content_hash_before"], done["content_hash_after"], "content hash")
    kit.equal((done["commits"], done["rows"]), (300, 30000), "size")
    kit.equal(len(world.json("files", *TABLE)["files"]), 3, "files")
    world.fails(2, "is not empty", "demo", "small-files", "d")
    # Back to the small files: the metadata file before the compaction, under another name.
    folder = os.path.join(world.work, "d/warehouse/demo/events/metadata")
    small = [name for name in os.listdir(folder) if name.startswith("00300-")][0]
    os.unlink(os.path.join(world.work, "d/catalog.db"))
    world.firn("catalog", "register", "demo.events", os.path.join(folder, small), *FLAGS, "--yes")
    described = world.json("describe", *TABLE, "--content-hash")
    kit.equal(described["content_hash"], done["content_hash_before"], "content hash of the small files")
    kit.equal((described["data_files"]["count"], described["content_rows"]), (300, 30000), "counts")
    plan = preview_and_run(world)
    interrupt_compaction(world)
    if world.json("describe", *TABLE)["data_files"]["count"] == 300:
        compact(world, plan)
    described = world.json("describe", *TABLE, "--content-hash")
    kit.equal(described["content_hash"], done["content_hash_before"], "content hash after all")
    kit.equal(described["data_files"]["rows"], 30000, "rows")
    # Without a catalog the table is for reading only.
    metadata = described["metadata_location"]
    kit.contains(world.firn("compact", metadata, "--rewrite-all").stdout, "This table is for reading only.")
    world.fails(3, "", "compact", metadata, "--rewrite-all", "--yes")


def interrupted_demo(world):
    process = subprocess.Popen([kit.FIRN, "demo", "small-files", "d"], cwd=world.work, env=world.environment,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    kit.equal(process.returncode, 130, "exit code")
    kit.contains(message, "holds an unfinished demonstration, remove it")


kit.main(demo, interrupted_demo)
