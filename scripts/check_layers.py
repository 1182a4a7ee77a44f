#!/usr/bin/env python3
"""Checks that every folder of src/ includes only what scripts/layers.txt allows."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def read_table(problems):
    allowed = {}
    table = ROOT / "scripts" / "layers.txt"
    for number, line in enumerate(table.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        folder, _, rest = line.partition(":")
        for other in rest.split():
            if other not in allowed:
                problems.append(f"scripts/layers.txt:{number}: {folder} names {other}, which does not stand above it")
        allowed[folder] = set(rest.split())
    return allowed


def check_file(path, allowed, problems):
    """`allowed` is the set of first path parts that an include in quotes may have."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where = f"{path.relative_to(ROOT)}:{number}"
        quote, name = match.groups()
        folder = name.split("/")[0]
        if quote == "<":
            if folder == "firn" or (ROOT / "src" / name).is_file():
                problems.append(f"{where}: <{name}> is firn's own; include it in quotes")
        elif ".." in name.split("/") or "/" not in name:
            problems.append(f'{where}: "{name}" is not written "folder/file.h"')
        elif folder not in allowed:
            problems.append(f'{where}: "{name}" may not be included here')


def main():
    problems = []
    table = read_table(problems)
    for folder in sorted(path for path in (ROOT / "src").iterdir() if path.is_dir()):
        if folder.name not in table:
            problems.append(f"src/{folder.name}: is not in scripts/layers.txt")
            continue
        for path in sorted(folder.rglob("*.[ch]")):
            check_file(path, table[folder.name] | {folder.name, "firn"}, problems)
    for path in sorted((ROOT / "include" / "firn").rglob("*.h")):
        check_file(path, {"firn"}, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
