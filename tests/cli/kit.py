"""What the tests of the command line share: running firn in a world of its own, small tables made by hand.

From the environment: FIRN (the program), FIRN_FAULTS (its build with faults), FIRN_SOURCE_DIR.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

FIRN = os.environ["FIRN"]
FAULTS = os.environ.get("FIRN_FAULTS")
SOURCE = os.environ.get("FIRN_SOURCE_DIR") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))


class Failed(Exception):
    """A check of a test did not hold."""


def check(condition, message):
    if not condition:
        raise Failed(message)


def equal(found, wanted, what):
    check(found == wanted, f"{what}: found {found!r}, wanted {wanted!r}")


def contains(text, part, what="output"):
    check(part in text, f"{what} lacks {part!r}:\n{text}")


class World:
    """A folder with a home of its own; the environment holds nothing that could steer firn."""

    def __init__(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="firn-cli-"))
        self.home = self.path("home")
        self.work = self.path("work")
        os.mkdir(self.home)
        os.mkdir(self.work)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("FIRN_", "PYICEBERG_", "XDG_"))}
        self.environment.update(HOME=self.home, FIRN_STATE_DIR=self.path("state"))

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def firn(self, *arguments, expect=0, program=None, environment=None, **options):
        """Runs firn; returns the finished process. `expect` None: any exit code."""
        env = dict(self.environment, **(environment or {}))
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run([program or FIRN, *map(str, arguments)], cwd=self.work, env=env,
                              text=True, errors="replace", timeout=240, check=False, **options)
        if expect is not None and done.returncode != expect:
            raise Failed(f"firn {' '.join(map(str, arguments))}: exit {done.returncode}, wanted "
                         f"{expect}\n{done.stdout}\n{done.stderr}")
        return done

    def json(self, *arguments, **options):
        return json.loads(self.firn(*arguments, "--json", **options).stdout)

    def fails(self, code, part, *arguments, **options):
        """The exit code is `code` and the message, as text and as JSON, holds `part`."""
        done = self.firn(*arguments, expect=code, **options)
        contains(done.stderr, part, "standard error")
        check(done.stderr.startswith("firn: "), f"message without firn: {done.stderr!r}")
        equal(done.stdout, "", "standard output of a failed run")
        done = self.firn(*arguments, "--json", expect=code, **options)
        document = json.loads(done.stdout)
        equal(document["error"]["exit_code"], code, "error.exit_code")
        equal(document["schema_version"], 1, "schema_version")
        contains(document["error"]["message"], part, "error.message")
        return document["error"]

    def command(self, *arguments):
        """What the error document of a usage error says under `command`, if anything."""
        return json.loads(self.firn(*arguments, "--json", expect=2).stdout).get("command")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def listing(folder):
    """Every file below a folder with its content, to see that nothing changed."""
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def empty_table(location, version=2, **extra):
    """Metadata of a table without snapshots."""
    document = {
        "format-version": version,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": location,
        "last-sequence-number": 0,
        "last-updated-ms": 1704067200123,
        "last-column-id": 3,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [
            {"id": 1, "name": "id", "required": True, "type": "long", "doc": "a key"},
            {"id": 2, "name": "at", "required": False, "type": "timestamptz"},
            {"id": 3, "name": "naïve name", "required": False, "type": "string"}]}],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [
            {"source-id": 2, "field-id": 1000, "name": "at_day", "transform": "day"}]}],
        "default-spec-id": 0,
        "last-partition-id": 1000,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "properties": {"owner": "some body"},
        "current-snapshot-id": -1,
        "snapshots": [],
        "snapshot-log": [],
        "metadata-log": [],
    }
    document.update(extra)
    return document


def directory_table(world, name, **extra):
    """A directory table without rows; returns its folder."""
    folder = os.path.join(world.work, name)
    os.makedirs(os.path.join(folder, "metadata"))
    with open(os.path.join(folder, "metadata", "v1.metadata.json"), "w", encoding="utf-8") as file:
        json.dump(empty_table(folder, **extra), file)
    with open(os.path.join(folder, "metadata", "version-hint.text"), "w", encoding="utf-8") as file:
        file.write("1")
    return folder


def main(*tests):
    """Runs functions of one world; prints a line for each; exit 1 when one fails."""
    wanted = sys.argv[1:]
    failed = 0
    for test in tests:
        if wanted and not any(word in test.__name__ for word in wanted):
            continue
        world = World()
        try:
            test(world)
            print(f"ok {test.__name__}", flush=True)
        except Failed as problem:
            failed += 1
            print(f"FAILED {test.__name__}: {problem}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {test.__name__}", flush=True)
            traceback.print_exc()
        world.remove()
    sys.exit(1 if failed else 0)
