"""Replays the recorded transcripts: each command gives what it gave, ids, times, sizes and folders apart.

A transcript is a text file: lines "%% COMMAND" for the shell, each followed by
what it prints, and by "[exit N]" when N is not 0. FIRN_RECORD=1 writes the files anew.
"""
import glob
import os
import re
import subprocess
import sys

import kit

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transcripts")


def normalise(world, text):
    text = text.replace(world.work, "<folder>")
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "<time>", text)
    text = re.sub(r"\b\d{15,19}\b", "<id>", text)
    text = re.sub(r'"(\w*bytes|bytes_\w+)": \d{4,}', r'"\1": <size>', text)
    text = re.sub(r"\b\d+(\.\d)? (B|KB|MB|GB|TB)(?![A-Za-z])", "<size>", text)
    text = re.sub(r"\b(\d+ min )?\d+(\.\d)? s\b", "<duration>", text)
    # Column widths follow from what was replaced.
    text = re.sub(r"(?<=\S) +", " ", text)
    return re.sub(r"(?m)^ +", lambda match: " " * min(len(match.group(0)), 4), text)


def run(world, command):
    done = subprocess.run(["sh", "-c", command], cwd=world.work, text=True, errors="replace",
                          env=dict(world.environment, PATH=os.path.dirname(kit.FIRN) + ":" + os.environ["PATH"]),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = normalise(world, done.stdout)
    if text and not text.endswith("\n"):
        text += "\n"
    return text + (f"[exit {done.returncode}]\n" if done.returncode else "")


def commands_of(path):
    """Pairs of a command and what was recorded."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"(?m)^(?=%% )", file.read())
    for part in parts[1:]:
        command, _, output = part.partition("\n")
        yield command[3:], output


def replay(path):
    def test(world):
        kit.directory_table(world, "events", properties={"write.target-file-size-bytes": "1048576"})
        if os.environ.get("FIRN_RECORD") == "1":
            with open(path, encoding="utf-8") as file:
                comment = re.split(r"(?m)^%% ", file.read())[0]
            text = comment + "".join(f"%% {command}\n{run(world, command)}\n"
                                     for command, _ in commands_of(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.rstrip("\n") + "\n")
            return
        for command, recorded in commands_of(path):
            found = run(world, command)
            kit.check(found.rstrip("\n") == recorded.rstrip("\n"),
                      f"$ {command}\n--- recorded\n{recorded.rstrip()}\n--- found\n{found.rstrip()}")
    test.__name__ = "transcript_" + os.path.splitext(os.path.basename(path))[0]
    return test


if os.path.basename(kit.FIRN) != "firn":
    sys.exit("the program must be called firn")
kit.main(*[replay(path) for path in sorted(glob.glob(os.path.join(FOLDER, "*.txt")))])
