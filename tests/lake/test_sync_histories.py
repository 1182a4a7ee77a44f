"""
Whatever became of a table since: `firn sync` adds each file once. Histories by hand, then at random against a model of the rows, with compactions, deletes, appends, rollbacks and expired snapshots in
between, by PyIceberg and by firn. FIRN_TEST_SEED repeats a run, FIRN_TEST_SECONDS is how long it lasts.
"""
import collections
import json
import os
import random
import shutil
import time

import lakekit
import pyarrow as pa
from lakekit import LEDGER, check, equal

SCHEMA = pa.schema([("id", pa.int64())])


def lake_of(count):
    lake = lakekit.Lake()
    for number in range(count):
        write(lake, number)
    return lake


def write(lake, number):
    return lake.write(f"{number}.parquet", [{"id": number}], SCHEMA)


def synced(count):
    lake = lake_of(count)
    lake.sync(lake.source)
    return lake


def compact(lake):
    lake.run("compact", lake.name, "--catalog", lake.database, "--yes", "--rewrite-all")


def expire(lake, keep=1):
    """All but the newest snapshots (and the head)."""
    table = lake.table()
    head = table.current_snapshot().snapshot_id
    ids = [s.snapshot_id for s in sorted(table.snapshots(), key=lambda s: s.timestamp_ms)][:-keep]
    ids = [i for i in ids if i != head]
    if ids:
        table.maintenance.expire_snapshots().by_ids(ids).commit()


def delete(lake, number):
    lake.table().delete(f"id = {number}")


def append(lake, number):
    lake.table().append(pa.table({"id": [number]}, schema=SCHEMA))


def rows(lake):
    return sorted(lake.table().scan().to_arrow()["id"].to_pylist())


def stays(lake, wanted, source=None):
    """A sync finds nothing new, and says so."""
    equal(lake.sync(lake.source)["files"]["new"], 0, "new files")
    lake.judged([{"id": number} for number in wanted], spark=False, source=source)
    shutil.rmtree(lake.folder)


def others_table(count):
    """A table that PyIceberg made and filled with the source's files."""
    lake = lake_of(count)
    catalog = lakekit.kit.sql_catalog(lake.folder)
    catalog.create_namespace_if_not_exists("lake")
    table = catalog.create_table(lake.name, SCHEMA, location=lake.location)
    table.add_files(lake.files())
    return lake


# Deletes between


def test_deletes_by_every_way():
    """Rows that were deleted, files that were taken out or overwritten, and compactions in between: no reader finds a row too many."""
    lake = synced(6)
    lake.watch = False
    delete(lake, 1)
    os.remove(lake.path("2.parquet"))
    lake.sync(lake.source, "--on-missing", "delete")
    lake.judged([{"id": n} for n in (0, 3, 4, 5)])
    lake.write("3.parquet", [{"id": 3}, {"id": 33}], SCHEMA)
    write(lake, 6)
    lake.sync(lake.source, "--on-replaced", "overwrite")
    lake.judged([{"id": n} for n in (0, 3, 33, 4, 5, 6)])
    delete(lake, 33)
    compact(lake)
    append(lake, 100)
    lake.write("2.parquet", [{"id": 2}, {"id": 22}], SCHEMA)
    lake.sync(lake.source)
    lake.judged([{"id": n} for n in (0, 2, 22, 3, 4, 5, 6, 100)])
    stays(lake, [0, 2, 22, 3, 4, 5, 6, 100])


# Expired history


def test_compacted_and_expired():
    lake = synced(4)
    compact(lake)
    expire(lake)
    stays(lake, range(4))


def test_deleted_and_expired():
    """PyIceberg's own commits do not hand the ledger on: its property alone is left."""
    lake = synced(4)
    delete(lake, 1)
    expire(lake)
    stays(lake, [0, 2, 3])


def test_overwritten_and_expired():
    """The last snapshot has only files of its own, and PyIceberg names no parent in it."""
    lake = synced(3)
    lake.table().overwrite(pa.table({"id": [7]}, schema=SCHEMA))
    expire(lake)
    stays(lake, [7])


def test_a_compaction_hands_the_ledger_on():
    lake = synced(3)
    text = lake.properties()[LEDGER]
    append(lake, 100)
    compact(lake)
    document = lake.metadata()
    head = next(s for s in document["snapshots"] if s["snapshot-id"] == document["current-snapshot-id"])
    equal(head["summary"].get(LEDGER), text, "the ledger in the compaction's summary")
    expire(lake)
    lake.table().transaction().remove_properties(LEDGER).commit_transaction()
    stays(lake, [0, 1, 2, 100])


def test_a_rolled_back_sync_after_everything_expired():
    """The compaction's own evidence says which files its history was given: what a rollback took comes again."""
    lake = synced(2)
    write(lake, 2)
    first = lake.table().current_snapshot().snapshot_id
    lake.sync(lake.source)
    lake.table().manage_snapshots().rollback_to_snapshot(first).commit()
    compact(lake)
    expire(lake)
    equal(lake.sync(lake.source)["files"]["added"], 1, "files added")
    equal(rows(lake), [0, 1, 2], "rows")
    shutil.rmtree(lake.folder)


def test_no_ledger_is_rebuilt_of_cut_history():
    """Neither a compaction, nor an overwrite, nor an append, is the first snapshot because its parent is named no more."""
    for change in (compact, lambda l: delete(l, 1), lambda l: append(l, 9), lambda l: l.table().overwrite(pa.table({"id": [7]}, schema=SCHEMA))):
        lake = synced(3)
        change(lake)
        expire(lake)
        before = rows(lake)
        lake.refused("sync", lake.source, "--rebuild-ledger", code=4, words=["was expired"])
        equal(rows(lake), before, "rows")
        shutil.rmtree(lake.folder)


def test_a_rebuilt_ledger_is_handed_on():
    """It is newer than what the snapshot's summary says: the next compaction takes it over, not the summary's."""
    lake = synced(3)
    compact(lake)
    for segment in list(lakekit.ledger_segments(lake.properties()[LEDGER], lake.location)):
        os.remove(segment)
    lake.sync(lake.source, "--rebuild-ledger")
    text = lake.properties()[LEDGER]
    lake.run("compact", lake.name, "--catalog", lake.database, "--yes", "--rewrite-all", "--min-input-files", "1")
    expire(lake)
    equal(lake.properties()[LEDGER], text, "the property")
    stays(lake, range(3))


# Damage


def set_ledger(lake, text):
    lake.table().transaction().set_properties({LEDGER: text}).commit_transaction()


def test_a_property_made_empty_by_others():
    for expired in (False, True):
        lake = synced(3)
        compact(lake)
        ledger = json.loads(lake.properties()[LEDGER])
        set_ledger(lake, json.dumps({**ledger, "segments": [], "entries": 0}))
        if expired:
            expire(lake)
        stays(lake, range(3))
    lake = synced(3)
    delete(lake, 1)
    set_ledger(lake, json.dumps({**json.loads(lake.properties()[LEDGER]), "segments": [], "entries": 0}))
    expire(lake)
    lake.refused("sync", lake.source, code=4, words=["crc32", "--rebuild-ledger"])
    shutil.rmtree(lake.folder)


def test_flipped_bits_in_a_segment():
    lake = synced(5)
    compact(lake)
    segment = next(iter(lakekit.ledger_segments(lake.properties()[LEDGER], lake.location)))
    with open(segment, "rb") as file:
        good = file.read()
    for bit in range(0, len(good) * 8, len(good) * 8 // 60):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        with open(segment, "wb") as file:
            file.write(bad)
        lake.refused("sync", lake.source, code=4, words=[segment])
    with open(segment, "wb") as file:
        file.write(good)
    stays(lake, range(5))


# Tables that others filled


def test_compacted_before_the_first_sync():
    lake = others_table(3)
    compact(lake)
    write(lake, 3)
    equal(lake.sync(lake.source)["files"]["added"], 1, "files added")
    equal(rows(lake), [0, 1, 2, 3], "rows")
    stays(lake, range(4))


def test_deleted_before_the_first_sync():
    lake = others_table(3)
    delete(lake, 1)
    # Without a commit of firn there is no hint.
    stays(lake, [0, 2], source=lake.table().metadata_location)


def test_expired_before_the_first_sync():
    """Nobody knows any more what was compacted away: nothing is added unless somebody says so."""
    lake = others_table(3)
    compact(lake)
    expire(lake)
    write(lake, 3)
    lake.refused("sync", lake.source, code=4, words=["firn register", "--unit-property", "was expired"])
    lake.refused("sync", lake.source, "--rebuild-ledger", code=4)
    lake.register(lake.path("3.parquet"))
    equal(rows(lake), [0, 1, 2, 3], "rows")
    # What was compacted away is still not known; a ledger with one file in it must not hide that.
    write(lake, 4)
    lake.refused("sync", lake.source, code=4, words=["history had been expired", "--force"])
    compact(lake)
    lake.refused("sync", lake.source, code=4, words=["history had been expired", "--force"])
    # Whoever knows that the others are new says so, once.
    for number in range(3):
        os.remove(lake.path(f"{number}.parquet"))
    equal(lake.sync(lake.source, "--force", "--on-missing", "report")["files"]["added"], 1, "files added")
    write(lake, 5)
    equal(lake.sync(lake.source, "--on-missing", "report")["files"]["added"], 1, "files added")
    equal(rows(lake), [0, 1, 2, 3, 4, 5], "rows")
    shutil.rmtree(lake.folder)


def test_units_of_an_expired_table():
    """The property of the tool that filled it tells; entries without rows that are known are written and read."""
    lake = lakekit.Lake()
    for unit in range(3):
        lake.write(f"tile={unit}/p.parquet", [{"id": unit}], SCHEMA)
    catalog = lakekit.kit.sql_catalog(lake.folder)
    catalog.create_namespace_if_not_exists("lake")
    table = catalog.create_table(lake.name, SCHEMA, location=lake.location, properties={"synced": json.dumps(["0", "1"])})
    table.add_files(lake.files()[:2])
    compact(lake)
    expire(lake)
    lake.write("../units.parquet", pa.table({"unit": ["0", "1", "2"], "rows": [1, 1, 1]}))
    manifest = ["--manifest", os.path.join(lake.folder, "units.parquet"), "--unit-folder", "tile={unit}", "--base", lake.source,
                "--partition", "tile: -", "--unit-property", "synced"]
    equal(lake.sync(*manifest)["files"]["added"], 1, "files added")
    equal(lake.sync(*manifest)["files"]["new"], 0, "new files")
    equal(rows(lake), [0, 1, 2], "rows")
    shutil.rmtree(lake.folder)


def test_register_of_what_was_given():
    lake = others_table(3)
    lake.refused("register", lake.path("1.parquet"), words=["1.parquet", "already"])
    delete(lake, 1)
    lake.refused("register", lake.path("1.parquet"), words=["1.parquet", "live no more"])
    write(lake, 3)
    lake.register(lake.path("3.parquet"))
    equal(rows(lake), [0, 2, 3], "rows")
    stays(lake, [0, 2, 3])


# At random


class Model:
    """
    Rows as they must be. A rollback takes back what was added since. Once the history was cut after a rollback, a file that the
    rollback took may stay out: nothing proves that it was not given. It must not come in twice.
    """

    def __init__(self, generator):
        self.random, self.lake, self.files = generator, lakekit.Lake(), 0
        self.live, self.given, self.unsure, self.lost = set(), set(), set(), set()
        self.states, self.own, self.log = {}, -1, []

    def head(self):
        snapshot = self.lake.table().current_snapshot()
        return None if snapshot is None else snapshot.snapshot_id

    def add(self):
        write(self.lake, self.files)
        self.files += 1

    def sync(self, *options):
        run = self.lake.sync(self.lake.source, *options, expect=(0, 4) if options else 0)
        if run.code == 4:
            return
        fresh = set(range(self.files)) - self.given
        late = fresh & self.unsure - set(rows(self.lake))
        self.live |= fresh - late
        self.given |= fresh - late
        self.unsure &= late

    def rebuild(self):
        self.sync("--rebuild-ledger")

    def compact(self):
        compact(self.lake)

    def delete(self):
        if self.live:
            number = self.random.choice(sorted(self.live))
            delete(self.lake, number)
            self.live.discard(number)

    def append(self):
        append(self.lake, self.own)
        self.live.add(self.own)
        self.own -= 1

    def rollback(self):
        table, ancestors = self.lake.table(), []
        at = table.current_snapshot()
        while at is not None:
            ancestors.append(at.snapshot_id)
            at = None if at.parent_snapshot_id is None else table.snapshot_by_id(at.parent_snapshot_id)
        ancestors = [a for a in ancestors[1:] if a in self.states]
        if ancestors:
            at = self.random.choice(ancestors)
            table.manage_snapshots().rollback_to_snapshot(at).commit()
            self.lost |= self.given - self.states[at][1]
            self.live, self.given = (set(s) for s in self.states[at])

    def expire(self):
        expire(self.lake, self.random.randint(1, 3))
        self.unsure |= self.lost - self.given

    def step(self, name):
        self.log.append(name)
        getattr(self, name)()
        self.states.setdefault(self.head(), None)
        self.states[self.head()] = (set(self.live), set(self.given))
        found = rows(self.lake)
        check(found == sorted(self.live), f"{self.log}: rows too many {collections.Counter(found) - collections.Counter(self.live)}, "
                                          f"lost {sorted(self.live - set(found))}")


STEPS = ["sync"] * 4 + ["add"] * 3 + ["compact", "delete", "append", "rollback", "rebuild", "expire", "expire"]


def test_random_histories():
    seed = int(os.environ.get("FIRN_TEST_SEED") or time.time_ns() % 1000000)
    seconds = float(os.environ.get("FIRN_TEST_SECONDS") or 30)
    print(f"FIRN_TEST_SEED={seed}", flush=True)
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end or rounds == 0:
        model = Model(random.Random(seed + rounds))
        for _ in range(3):
            model.add()
        model.step("sync")
        for _ in range(model.random.randint(4, 12)):
            model.step(model.random.choice(STEPS))
        shutil.rmtree(model.lake.folder)
        rounds += 1
    print(f"{rounds} histories")


if __name__ == "__main__":
    lakekit.main(globals())
