"""catalog recover: tables that PyIceberg made, whose catalog is gone, with what failed commits leave behind."""

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

try:
    import pyarrow
    from pyiceberg.catalog.sql import SqlCatalog
except ImportError as problem:
    print(f"skipped: {problem}")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)

FIRN = os.environ["FIRN"]


def equal(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, expected {expected!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in: {text}")


class World:
    """A table of five commits in a catalog of its own, which is deleted."""

    def __init__(self, root, properties=None, commits=5, scheme="file://"):
        self.root = root
        self.warehouse = os.path.join(root, "warehouse")
        self.database = os.path.join(root, "lost.db")
        os.makedirs(self.warehouse)
        self.catalog = SqlCatalog("lost", uri=f"sqlite:///{self.database}",
                                  warehouse=f"{scheme}{self.warehouse}")
        self.catalog.create_namespace("ns")
        schema = pyarrow.schema([("n", pyarrow.int64())])
        table = self.catalog.create_table("ns.t", schema, properties=properties or {})
        self.rows = []
        for i in range(commits):
            table.append(pyarrow.table({"n": pyarrow.array([i], pyarrow.int64())}))
            self.rows.append(i)
        self.location = table.location().removeprefix("file://")
        self.folder = os.path.join(self.location, "metadata")
        self.current = table.metadata_location.removeprefix("file://")
        self.found = os.path.join(root, "found.db")

    def lose(self):
        self.catalog.engine.dispose()
        os.remove(self.database)

    def files(self):
        names = [n for n in os.listdir(self.folder) if n.endswith(".metadata.json")]
        return sorted(names)

    def path(self, name):
        return os.path.join(self.folder, name)

    def named(self, version):
        return next(self.path(n) for n in self.files() if n.startswith(f"{version:05d}-"))

    def read(self, path):
        with open(path, "rb") as file:
            data = file.read()
        return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)

    def write(self, name, document):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(document, file)
        return self.path(name)

    def sibling(self, version, later=0, change=None):
        """What an attempt wrote that lost against `version`: made from the same file."""
        document = self.read(self.named(version))
        document["last-updated-ms"] += later
        if change:
            change(document)
        return self.write(f"{version:05d}-{uuid.uuid4()}.metadata.json", document)

    def firn(self, *arguments, code=0):
        run = subprocess.run([FIRN, *arguments], capture_output=True, text=True, cwd=self.root, check=False)
        equal(run.returncode, code, f"{arguments}: {run.stdout}{run.stderr}")
        return run

    def recover(self, *more, code=0, location=None, name="ns.t"):
        return self.firn("catalog", "recover", name, location or self.location, "--catalog", self.found, *more, code=code)

    def json(self, *more, **options):
        return json.loads(self.recover("--json", *more, **options).stdout)

    def verdicts(self, document):
        return {os.path.basename(c["metadata_location"]): c["verdict"] for c in document["candidates"]}

    def check_rows(self, expected=None):
        catalog = SqlCatalog("default", uri=f"sqlite:///{self.found}", warehouse=f"file://{self.warehouse}")
        table = catalog.load_table("ns.t")
        rows = sorted(table.scan().to_arrow()["n"].to_pylist())
        equal(rows, self.rows if expected is None else expected, "rows")
        catalog.engine.dispose()
        return table

    def check_recovered(self, current=None, **options):
        self.lose()
        preview = self.json(**options)
        equal((preview["preview"], preview["makes_catalog"]), (True, True), "preview")
        equal(os.path.exists(self.found), False, "the catalog after a preview")
        done = self.json("--yes", **options)
        equal(done["recovered"], True, "done")
        for document in (preview, done):
            equal(document["metadata_location"].removeprefix("file://"), current or self.current, "file")
        self.check_rows()
        return done

    def check_unsafe(self, *parts, code=4):
        self.lose()
        for flags in ([], ["--yes"]):
            run = self.recover(*flags, code=code)
            equal(run.stdout, "", "output")
            for part in parts:
                contains(run.stderr, part)
        equal(os.path.exists(self.found), False, "a catalog was made")


def one_chain(world):
    done = world.check_recovered()
    verdicts = world.verdicts(done)
    equal(verdicts.pop(os.path.basename(world.current)), "newest", "the newest")
    equal(set(verdicts.values()), {"ancestor of the newest"}, "the others")
    equal(done["candidates"][0]["total_records"], 5, "rows of the newest")
    # The table goes on from there: PyIceberg commits through the recovered catalog.
    catalog = SqlCatalog("default", uri=f"sqlite:///{world.found}", warehouse=f"file://{world.warehouse}")
    catalog.load_table("ns.t").append(pyarrow.table({"n": pyarrow.array([99], pyarrow.int64())}))
    catalog.engine.dispose()
    world.check_rows([0, 1, 2, 3, 4, 99])
    # By the metadata folder; the name is taken by now.
    contains(world.recover("--yes", code=1, location=world.folder).stderr, "there is a table ns.t already")
    contains(world.recover("--yes", code=3, location=world.folder + "/", name="ns.u").stderr, "this table as ns.t already")
    other = world.found + ".other"
    contains(world.firn("catalog", "recover", "ns.u", world.folder + "/", "--catalog", other, "--yes").stdout, "metadata file")


def text_ends_with_the_file(world):
    world.lose()
    run = world.recover("--yes")
    contains(run.stdout.rstrip().splitlines()[-1], os.path.basename(world.current))


def bare_paths(world):
    world.check_recovered()


def lost_race(world):
    """E (4) lost against E' (4), which F (5) was made from; E is the later one by its time."""
    lost = world.sibling(4, later=1)
    done = world.check_recovered()
    contains(world.verdicts(done)[os.path.basename(lost)], "not committed: " + os.path.basename(world.named(4))[:6])


def lost_race_of_two_attempts(world):
    for version in (2, 3, 3):
        world.sibling(version, later=10**9)
    done = world.check_recovered()
    equal(sum(v.startswith("not committed: ") for v in world.verdicts(done).values()), 3, "leftovers")


def two_ends(world):
    """Nobody came after either: which one the catalog had can't be told."""
    def change(document):
        document["current-snapshot-id"] = document["snapshots"][0]["snapshot-id"]
        document["refs"]["main"]["snapshot-id"] = document["current-snapshot-id"]

    other = world.sibling(5, later=7, change=change)
    document = world.read(world.current)
    with open(world.path("version-hint.text"), "w", encoding="utf-8") as file:
        file.write("00005-some")
    world.check_unsafe(os.path.basename(other), os.path.basename(world.current), "made from the same file", "5 rows", "last updated 20",
                       "1 row,", "version-hint.text, which proves nothing, says 00005-some", str(document["current-snapshot-id"]), "firn catalog register NAME FILE")
    world.firn("catalog", "register", "ns.t", world.current, "--catalog", world.found, "--yes")
    world.check_rows()


def fork(world):
    """Two writers went on from the same file, in two catalogs."""
    one = world.sibling(4)
    document = world.read(world.named(5))
    document["metadata-log"][-1]["metadata-file"] = one
    world.write(f"00005-{uuid.uuid4()}.metadata.json", document)
    world.check_unsafe("both end a line of commits")


def fork_of_other_lengths(world):
    one = world.sibling(3)
    document = world.read(world.named(4))
    document["metadata-log"][-1]["metadata-file"] = one
    world.write(f"00004-{uuid.uuid4()}.metadata.json", document)
    world.check_unsafe("both end a line of commits")


def retention(world):
    """Old files are gone, and the log begins in the middle."""
    equal(len(world.files()) < 7, True, "files were deleted")
    world.check_recovered()


def retention_and_leftover(world):
    document = world.read(world.current)
    oldest = document["metadata-log"][0]
    leftover = {**document, "metadata-log": [{"timestamp-ms": oldest["timestamp-ms"] - 2000,
                                              "metadata-file": f"{world.folder}/00000-gone.metadata.json"}],
                "last-updated-ms": oldest["timestamp-ms"] - 1000}
    name = f"00001-{uuid.uuid4()}.metadata.json"
    world.write(name, leftover)
    done = world.check_recovered()
    contains(world.verdicts(done)[name], "not committed: older than")


def leftover_within_the_log(world):
    """Its version is one that the newest one's log has, and what it was made from is not: two lines."""
    document = world.read(world.current)
    document["metadata-log"] = document["metadata-log"][:-1] + [
        {**document["metadata-log"][-1], "metadata-file": f"{world.folder}/00004-gone.metadata.json"}]
    world.write(f"00005-{uuid.uuid4()}.metadata.json", document)
    world.check_unsafe("both end a line of commits")


def gzipped(world):
    """As writers with write.metadata.compression-codec leave them."""
    world.sibling(3)
    for name in world.files():
        document = world.read(world.path(name))
        for entry in document["metadata-log"]:
            entry["metadata-file"] = entry["metadata-file"].replace(".metadata.json", ".gz.metadata.json")
        with gzip.open(world.path(name.replace(".metadata.json", ".gz.metadata.json")), "wt", encoding="utf-8") as file:
            json.dump(document, file)
        os.remove(world.path(name))
    world.current = world.current.replace(".metadata.json", ".gz.metadata.json")
    world.check_recovered()


def truncated_ancestor(world):
    with open(world.named(2), "r+b") as file:
        file.truncate(100)
    done = world.check_recovered()
    contains(world.verdicts(done)[os.path.basename(world.named(2))], "unreadable: ")


def truncated_end(world):
    name = f"00006-{uuid.uuid4()}.metadata.json"
    with open(world.current, "rb") as file:
        data = file.read()
    with open(world.path(name), "wb") as file:
        file.write(data[:500])
    world.check_unsafe(name, "can't be read and may be newer")


def truncated_sibling(world):
    name = f"00005-{uuid.uuid4()}.metadata.json"
    open(world.path(name), "wb").close()
    world.check_unsafe(name, "can't be read and may be newer")


def truncated_current(world):
    """The newest one itself is damaged: the one before is not the table's state."""
    with open(world.current, "r+b") as file:
        file.truncate(50)
    world.check_unsafe(os.path.basename(world.current), "can't be read and may be newer")


def truncated_leftover(world):
    name = f"00002-{uuid.uuid4()}.metadata.json"
    open(world.path(name), "wb").close()
    done = world.check_recovered()
    contains(world.verdicts(done)[name], "unreadable: ")


def all_unreadable(world):
    for name in world.files():
        open(world.path(name), "wb").close()
    world.check_unsafe("none of its metadata files is the last one")


def two_tables(world):
    document = world.read(world.current)
    document["table-uuid"] = str(uuid.uuid4())
    document["metadata-log"] = []
    name = f"00000-{uuid.uuid4()}.metadata.json"
    world.write(name, document)
    world.check_unsafe(name, "of two tables (table-uuid)")


def two_whole_tables(world):
    """Another table whose files lie in between, older and newer: which one is meant is not for the newest to say."""
    other = str(uuid.uuid4())
    previous = None
    for version in range(3):
        document = world.read(world.named(version))
        document["table-uuid"] = other
        document["metadata-log"] = [] if previous is None else [{"timestamp-ms": document["last-updated-ms"] - 1, "metadata-file": previous}]
        previous = world.write(f"{version:05d}-{uuid.uuid4()}.metadata.json", document)
    world.check_unsafe(os.path.basename(previous), os.path.basename(world.current), "of two tables (table-uuid)")


def a_table_without_a_uuid_beside_one_with(world):
    """Of format version 1, newer, with a log that begins behind the other one's files: a uuid is never lost, so they are of two tables."""
    document = world.read(world.current)
    with_uuid = world.sibling(2)
    for name in world.files():
        if world.path(name) != with_uuid:
            os.remove(world.path(name))
    document["format-version"] = 1
    del document["table-uuid"], document["metadata-log"]
    later = document["last-updated-ms"] + 100000
    document["metadata-log"] = [{"timestamp-ms": later - 10, "metadata-file": world.path(f"00007-{uuid.uuid4()}.metadata.json")}]
    document["last-updated-ms"] = later
    schema = next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"])
    document.update(schema=schema, **{"partition-spec": document["partition-specs"][0]["fields"]})
    world.write(f"00008-{uuid.uuid4()}.metadata.json", document)
    world.check_unsafe(os.path.basename(with_uuid), "of two tables (table-uuid)")


def lost_manifest_list(world):
    document = world.read(world.current)
    snapshot = next(s for s in document["snapshots"] if s["snapshot-id"] == document["current-snapshot-id"])
    os.remove(snapshot["manifest-list"].removeprefix("file://"))
    world.check_unsafe("manifest list", "is missing")


def copied(world):
    shutil.copytree(world.location, os.path.join(world.root, "copy"))
    world.lose()
    contains(world.recover("--yes", code=4, location=os.path.join(world.root, "copy")).stderr, "is a copy")


def circle(world):
    """Logs that name each other in a circle, and themselves."""
    files = [world.named(v) for v in range(6)]
    for at, path in enumerate(files):
        document = world.read(path)
        document["metadata-log"] = [{"timestamp-ms": 1, "metadata-file": files[(at + 1) % 6]}]
        world.write(os.path.basename(path), document)
    world.check_unsafe("none of its metadata files is the last one")


def names_itself(world):
    document = world.read(world.current)
    document["metadata-log"].append({"timestamp-ms": document["last-updated-ms"], "metadata-file": world.current})
    world.write(os.path.basename(world.current), document)
    world.check_recovered()


def hint_is_shown(world):
    with open(world.path("version-hint.text"), "w", encoding="utf-8") as file:
        file.write("00003-abc\n")
    done = world.check_recovered()
    equal(done["version_hint"], "00003-abc", "hint")
    equal(done["version_hint_names_a_missing_file"], True, "it names none")


def hint(world, text):
    with open(world.path("version-hint.text"), "w", encoding="utf-8") as file:
        file.write(text)


def rows_of(world, catalog_name="lost"):
    catalog = SqlCatalog(catalog_name, uri=f"sqlite:///{world.found}", warehouse=f"file://{world.warehouse}")
    rows = sorted(catalog.load_table("ns.t").scan().to_arrow()["n"].to_pylist())
    catalog.engine.dispose()
    return rows


def hint_names_a_lost_file(world):
    """The newest file is gone, and the hint tells that there was one: what it had must not be lost without a word."""
    os.remove(world.current)
    hint(world, os.path.basename(world.current).removesuffix(".metadata.json"))
    world.check_unsafe("version-hint.text names 00005-", "which is not there", os.path.basename(world.named(4)), "4 rows", "firn catalog register NAME " + world.named(4))
    # Who says it by name has it.
    world.firn("catalog", "register", "ns.t", world.named(4), "--catalog", world.found, "--yes")
    equal(rows_of(world, "default"), [0, 1, 2, 3], "rows")


def hint_of_another_commit_of_the_same_version(world):
    """One of the two was committed; the hint says that it was the one that is gone."""
    hint(world, f"00005-{uuid.uuid4()}")
    world.check_unsafe("version-hint.text names 00005-", "which is not there")


def hint_names_the_newest(world):
    hint(world, os.path.basename(world.current).removesuffix(".metadata.json"))
    equal(world.check_recovered()["version_hint_names_a_missing_file"], False, "it names one")


def hint_is_behind(world):
    """Writers that know no hint leave it behind, and its file goes when old metadata does."""
    document = world.read(world.current)
    oldest = os.path.basename(document["metadata-log"][0]["metadata-file"])
    hint(world, oldest.removesuffix(".metadata.json"))
    for name in world.files():
        if world.path(name) != world.current:
            os.remove(world.path(name))
    world.check_recovered()


def dangling(world):
    """The catalog is there, and its pointer's file is not: that one was committed, and what it had is lost unless somebody brings it back."""
    lost = world.current
    os.rename(lost, lost + ".kept")
    os.rename(world.database, world.found)
    for flags in ([], ["--yes"]):
        run = world.recover(*flags, code=4)
        contains(run.stderr, "the catalog names 00005-")
        contains(run.stderr, "firn catalog register NAME " + world.named(4))
    os.rename(lost + ".kept", lost)
    equal(rows_of(world), [0, 1, 2, 3, 4], "rows: the catalog was left alone")
    # By name it can be entered over what is gone.
    os.remove(lost)
    preview = json.loads(world.firn("catalog", "register", "ns.t", world.named(4), "--catalog", world.found, "--json").stdout)
    contains(preview["replaces"], "00005-")
    contains(world.firn("catalog", "register", "ns.t", world.named(4), "--catalog", world.found, "--yes").stdout, "is lost")
    equal(rows_of(world), [0, 1, 2, 3], "rows")
    contains(world.firn("catalog", "register", "ns.t", world.named(4), "--catalog", world.found, "--yes", code=1).stderr, "already")


def catalog_is_behind(world):
    """A catalog from an old copy names a file that old metadata went with: what came later is there."""
    os.rename(world.database, world.found)
    equal(os.path.exists(world.current), True, "the newest file")
    database = sqlite3.connect(world.found)
    oldest = world.files()[0]
    database.execute("UPDATE iceberg_tables SET metadata_location = ?", (f"file://{world.path(oldest)}",))
    database.commit()
    database.close()
    os.remove(world.path(oldest))
    document = world.json()
    equal((document["preview"], os.path.basename(document["replaces"])), (True, oldest), "preview")
    equal(world.json("--yes")["recovered"], True, "done")
    equal(rows_of(world), world.rows, "rows")


def directory_table(world):
    """Its folder is its catalog."""
    for version in range(6):
        document = world.read(world.named(version))
        for entry in document["metadata-log"]:
            number = int(os.path.basename(entry["metadata-file"])[:5]) + 1
            entry["metadata-file"] = f"{world.folder}/v{number}.metadata.json"
        world.write(f"v{version + 1}.metadata.json", document)
        os.remove(world.named(version))
    world.check_unsafe("directory table", code=3)


def nothing_there(world):
    world.lose()
    empty = os.path.join(world.root, "empty")
    os.makedirs(empty)
    contains(world.recover("--yes", code=1, location=empty).stderr, "holds no metadata files")
    contains(world.recover("--yes", code=1, location="./nowhere").stderr, "holds no metadata files")
    contains(world.recover("--yes", code=2, name="./t").stderr, "is a path")


TRIMMED = {"write.metadata.previous-versions-max": "3", "write.metadata.delete-after-commit.enabled": "true"}
TESTS = [(one_chain, {}), (text_ends_with_the_file, {}), (bare_paths, {"scheme": ""}), (lost_race, {}),
         (lost_race_of_two_attempts, {}), (two_ends, {}), (fork, {}), (fork_of_other_lengths, {}),
         (retention, {"properties": TRIMMED, "commits": 9}), (retention_and_leftover, {"properties": TRIMMED, "commits": 9}),
         (leftover_within_the_log, {}), (gzipped, {}),
         (truncated_ancestor, {}), (truncated_end, {}), (truncated_sibling, {}), (truncated_current, {}),
         (truncated_leftover, {}), (all_unreadable, {}), (two_tables, {}), (two_whole_tables, {}), (a_table_without_a_uuid_beside_one_with, {}),
         (lost_manifest_list, {}), (copied, {}),
         (circle, {}), (names_itself, {}), (hint_is_shown, {}), (hint_names_a_lost_file, {}),
         (hint_of_another_commit_of_the_same_version, {}), (hint_names_the_newest, {}), (hint_is_behind, {}), (dangling, {}),
         (catalog_is_behind, {"properties": TRIMMED, "commits": 9}), (directory_table, {}),
         (nothing_there, {"commits": 1})]


def main():
    wanted = sys.argv[1:]
    failed = 0
    for test, options in TESTS:
        if wanted and test.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="firn-recover-") as root:
            try:
                test(World(os.path.realpath(root), **options))
            except AssertionError as problem:
                failed += 1
                print(f"{test.__name__}: {problem}")
    sys.exit(1 if failed else 0)


main()
