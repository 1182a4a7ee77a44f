#!/usr/bin/env python3
"""Checks what the compiler doesn't: lengths of files and functions, and calls that firn's code doesn't make."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FILE = 900
LONGEST_FUNCTION = 80

# Memory comes from base/alloc.h; the others depend on the locale, the time zone or luck.
BANNED = (
    "malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf strcpy strcat sprintf vsprintf "
    "gets strtok atoi atol atof rand srand gmtime localtime ctime asctime mktime setlocale strerror setjmp longjmp"
).split()
EXITS = "exit _exit abort quick_exit".split()
# Only the program ends itself; the fault-injecting storage plays a crash.
MAY_EXIT = ("src/cli/", "src/storage/fault.c")
CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(BANNED + EXITS))
STRIP = re.compile(r'//.*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)


def blank(match):
    """Comments and texts are taken out, their line ends kept."""
    return "\n" * match.group(0).count("\n")


def check_calls(path, lines, problems):
    relative = path.relative_to(ROOT)
    if str(relative) == "src/base/alloc.c":
        return
    for number, line in enumerate(lines, 1):
        for match in CALL.finditer(line):
            name = match.group(1)
            if name in EXITS and str(relative).startswith(MAY_EXIT):
                continue
            problems.append(f"{relative}:{number}: calls {name}")


def check_lengths(path, lines, problems):
    relative = path.relative_to(ROOT)
    if len(lines) > LONGEST_FILE:
        problems.append(f"{relative}: has {len(lines)} lines, more than {LONGEST_FILE}")
    start = None
    for number, line in enumerate(lines, 1):
        if line.endswith(") {") and start is None:
            # The head of a function may stand on several lines; it is counted from its brace.
            start = number
        elif line.startswith("}"):
            if start is not None and number - start - 1 > LONGEST_FUNCTION:
                problems.append(f"{relative}:{start}: function of {number - start - 1} lines, more than {LONGEST_FUNCTION}")
            start = None


def main():
    problems = []
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        lines = STRIP.sub(blank, path.read_text()).splitlines()
        check_calls(path, lines, problems)
        check_lengths(path, lines, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
