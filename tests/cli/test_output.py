"""Standard output that can't be written is a failure, and never lands in another file."""
import os
import signal
import subprocess
import time

import kit


def full_disk(world):
    table = kit.directory_table(world, "t")
    for words in (["describe", table], ["describe", table, "--json"], ["help"], ["--version"],
                  ["tables", "--help"], ["doctor"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = world.firn(*words, stdout=full, expect=1)
        kit.contains(done.stderr, "standard output can't be written: No space left", " ".join(words))


def closed_pipe(world):
    table = kit.directory_table(world, "t")
    for words in (["describe", table], ["files", table, "--json"], ["help"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = world.firn(*words, stdout=write_end, expect=1)
        os.close(write_end)
        kit.contains(done.stderr, "Broken pipe", " ".join(words))


def run_closed(world, redirection, *words):
    command = f'exec "$0" "$@" {redirection}'
    return subprocess.run(["sh", "-c", command, kit.FIRN, *words], cwd=world.work, text=True,
                          env=world.environment, capture_output=True, check=False)


def closed_descriptors(world):
    """Without standard output the catalog must not become it."""
    folder = kit.directory_table(world, "t")
    world.firn("catalog", "register", "a.b", folder, "--catalog", "c.db", "--yes")
    before = kit.listing(world.work)
    done = run_closed(world, ">&-", "tables", "--catalog", "c.db")
    kit.equal(done.returncode, 1, "exit code with standard output closed")
    kit.contains(done.stderr, "standard output can't be written: Bad file descriptor")
    done = run_closed(world, ">&- 2>&- <&-", "tables", "--catalog", "c.db")
    kit.equal(done.returncode, 1, "exit code with everything closed")
    done = run_closed(world, "2>&-", "describe", "no.such", "--catalog", "c.db")
    kit.equal(done.returncode, 1, "exit code with standard error closed")
    done = run_closed(world, "<&-", "tables", "--catalog", "c.db")
    kit.equal((done.returncode, done.stderr), (0, ""), "standard input closed")
    kit.check(kit.listing(world.work) == before, "a file changed")


def what_was_done_is_said(world):
    """A change that was made is named when the report is lost."""
    folder = kit.directory_table(world, "t")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = world.firn("catalog", "register", "a.b", folder, "--catalog", "c.db", "--yes", stdout=full,
                          expect=1)
    kit.contains(done.stderr, "firn: the table was registered, but the report is not complete")
    kit.equal(len(world.json("tables", "--catalog", "c.db")["tables"]), 1, "tables")


def names_can_not_steer_the_terminal(world):
    hostile = "x\u001b[2J\u009b\n\"y"
    table = kit.directory_table(world, "t", properties={hostile: hostile})
    text = world.firn("describe", table).stdout
    kit.check("\u001b" not in text and "\u009b" not in text, "control characters reach the terminal")
    kit.equal(world.json("describe", table)["properties"], {hostile: hostile}, "properties")
    done = world.firn("describe", "./no\u001b[2Jwhere", expect=1)
    kit.check("\u001b" not in done.stderr, "control characters in a message")


def interrupt_while_printing(world):
    """A reader that does not read: the signal ends the run, with its own exit code."""
    table = kit.directory_table(world, "t", properties={f"k{i}": "x" * 1000 for i in range(3000)})
    for number in signal.SIGINT, signal.SIGTERM:
        process = subprocess.Popen([kit.FIRN, "describe", table], cwd=world.work, env=world.environment,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(number)
        kit.equal(process.wait(timeout=30), 128 + number, "exit code")
        process.stdout.close()
        kit.contains(process.stderr.read(), f"stopped by {number.name}")
        process.stderr.close()


kit.main(interrupt_while_printing, full_disk, closed_pipe, closed_descriptors, what_was_done_is_said,
         names_can_not_steer_the_terminal)
