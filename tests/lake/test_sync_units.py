"""Units out of which `firn sync` took files by policy: what their manifest may count afterwards."""
import os

import lakekit
import pyarrow as pa
from lakekit import equal

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


class Units(lakekit.Lake):
    """Units of files 1.parquet, 2.parquet, … of as many rows each as their number, and the manifest that counts them."""

    def __init__(self, **units):
        super().__init__()
        self.manifest = os.path.join(self.folder, "units.csv")
        self.watch = False
        for unit, files in units.items():
            for number in files:
                self.put(unit, number)
        self.more = ["--partition", "tile: -"]
        self.count(**{unit: sum(files) for unit, files in units.items()})
        self.follow()

    def put(self, unit, number, rows=None):
        self.write(f"tile={unit}/{number}.parquet", [{"id": number, "name": unit}] * (rows or number), SCHEMA)

    def drop(self, unit, number):
        os.remove(self.path(f"tile={unit}", f"{number}.parquet"))

    def count(self, **rows):
        with open(self.manifest, "w", encoding="utf-8") as file:
            file.write("unit,rows\n" + "".join(f'"{unit}",{count}\n' for unit, count in rows.items()))

    def arguments(self):
        return ["--manifest", self.manifest, "--unit-folder", "tile={unit}", "--base", self.source, *self.more]

    def follow(self, *options, **more):
        return self.sync(*self.arguments(), *options, **more)

    def stops(self, *words, options=(), **more):
        return self.refused("sync", *self.arguments(), *options, words=words, **more)

    def has(self, *files):
        """The live files, as "a/1"; DuckDB and PyIceberg read their rows."""
        found = sorted("/".join(path.removesuffix(".parquet").rsplit("/", 2)[1:]).removeprefix("tile=") for path in self.live())
        equal(found, sorted(files), "live files")
        equal(self.by_pyiceberg(), self.oracle(), "rows by PyIceberg")
        equal(self.by_duckdb(), self.oracle(), "rows by DuckDB")


def test_a_unit_that_partly_left():
    """The manifest may count what is left, or go on counting what the unit was; any other number is a change, and told as such."""
    lake = Units(a=[1, 2], b=[1])
    lake.drop("a", 2)
    lake.stops("gone now", "2.parquet")
    run = lake.follow("--on-missing", "delete")
    equal((run.names("missing"), run["changed_units"]), (["2.parquet"], []), "missing files, changed units")
    lake.has("a/1", "b/1")
    for rows in (3, 1):
        lake.count(a=rows, b=1)
        equal(lake.follow()["changed_units"], [], f"changed units by a manifest that says {rows}")
    for rows in (2, 4):
        lake.count(a=rows, b=1)
        run = lake.stops(f"unit a was added with 3 rows (2 of them in files that are gone), the manifest says {rows}", "--on-replaced")
        equal(run["changed_units"], [{"unit": "a", "rows": 3, "rows_gone": 2, "rows_now": rows}], "changed units")
    # Other units are held against their counts as ever.
    lake.count(a=3, b=2)
    lake.stops("unit b was added with 1 row, the manifest says 2")


def test_a_file_that_is_only_reported_missing():
    lake = Units(a=[1, 2])
    lake.drop("a", 2)
    for rows in (3, 1):
        lake.count(a=rows)
        run = lake.follow("--on-missing", "report")
        equal((run.names("missing"), run["changed_units"]), (["2.parquet"], []), "missing files, changed units")
    lake.count(a=2)
    lake.stops("unit a was added with 3 rows (2 of them in files that are gone), the manifest says 2", options=["--on-missing", "report"])


def test_new_files_of_a_unit_that_partly_left():
    lake = Units(a=[1, 2])
    lake.drop("a", 2)
    lake.follow("--on-missing", "delete")
    lake.put("a", 4)
    lake.count(a=6)
    lake.stops("unit a: its files have 5 rows (and had 2 in files that are gone), the manifest says 6")
    lake.count(a=5)
    lake.follow()
    lake.has("a/1", "a/4")
    # The file that was taken out comes back, with other rows: it counts as it is.
    lake.put("a", 2, rows=3)
    lake.count(a=10)
    lake.stops("unit a: its files have 8 rows", "the manifest says 10")
    lake.count(a=8)
    lake.follow()
    lake.has("a/1", "a/2", "a/4")
    lake.count(a=7)
    lake.stops("unit a was added with 8 rows, the manifest says 7")


def test_a_manifest_that_goes_on_counting_what_left():
    lake = Units(a=[1, 2])
    lake.drop("a", 2)
    lake.follow("--on-missing", "delete")
    lake.put("a", 4)
    lake.count(a=7)
    lake.follow()
    lake.has("a/1", "a/4")


def test_a_unit_that_left_as_a_whole():
    """Its row has to leave the manifest with its files; both may come back."""
    lake = Units(a=[1, 2], b=[1], c=[1])
    for number in (1, 2):
        lake.drop("a", number)
    lake.stops('unit \\"a\\" has 3 rows by the manifest, and no data files', options=["--on-missing", "delete"])
    lake.count(b=1, c=1)
    lake.follow("--on-missing", "delete")
    lake.has("b/1", "c/1")
    equal(lake.follow()["units"]["pending"], 0, "units with new files")
    for number in (1, 2):
        lake.put("a", number)
    lake.count(a=3, b=1, c=1)
    lake.follow()
    lake.has("a/1", "a/2", "b/1", "c/1")


def test_a_replaced_file_that_was_taken_out():
    """It is listed still, and by now it may have any number of rows: the manifest's count says nothing."""
    lake = Units(a=[1, 2])
    lake.put("a", 2, rows=7)
    lake.stops("2.parquet", "replaced")
    lake.follow("--on-replaced", "delete")
    lake.has("a/1")
    for rows in (3, 8, 1):
        lake.count(a=rows)
        equal(lake.follow()["changed_units"], [], f"changed units by a manifest that says {rows}")
    lake.put("a", 4)
    lake.count(a=12)
    lake.follow()
    lake.has("a/1", "a/4")
    lake.judged([{"id": 1, "name": "a"}] + [{"id": 4, "name": "a"}] * 4)


def test_units_of_a_ledger_that_was_made_anew():
    """History does not tell units: what was taken out may have been of any that was there then, and of no new one."""
    lake = Units(a=[1, 2], b=[1], c=[1])
    lake.drop("a", 2)
    lake.drop("b", 1)
    lake.count(a=3, c=1)
    lake.follow("--on-missing", "delete")
    for segment in lakekit.ledger_segments(lake.properties()[lakekit.LEDGER], lake.location):
        os.remove(segment)
    lake.follow("--rebuild-ledger")
    equal(lake.follow()["changed_units"], [], "changed units")
    lake.has("a/1", "c/1")
    lake.put("d", 1)
    lake.count(a=3, c=1, d=2)
    lake.stops("unit d: its files have 1 row, the manifest says 2")


def lose_ledger(lake):
    for segment in lakekit.ledger_segments(lake.properties()[lakekit.LEDGER], lake.location):
        os.remove(segment)


def test_units_are_restored():
    """A ledger that was made anew knows by the manifest which unit a file is of: what goes afterwards is missed as ever."""
    lake = Units(a=[1, 2], b=[1], c=[1, 2])
    lose_ledger(lake)
    lake.follow("--rebuild-ledger")
    lake.drop("a", 2)
    lake.stops("added before and gone now", "2.parquet")
    run = lake.follow("--on-missing", "delete")
    equal((run.names("missing"), run["missing"][0]["unit"], run["changed_units"]), (["2.parquet"], "a", []), "missing, its unit, changed units")
    lake.has("a/1", "b/1", "c/1", "c/2")
    lake.count(a=2, b=1, c=3)
    lake.stops("unit a was added with 3 rows (2 of them in files that are gone), the manifest says 2")
    # A unit that leaves the manifest, its files being there still or not.
    lake.drop("c", 1)
    lake.count(a=3, b=1)
    lake.follow("--on-missing", "delete")
    lake.has("a/1", "b/1")


def test_files_that_were_gone_before_the_ledger_was_made_anew():
    """No listing shows them; they lie in the folder of a unit, be it in the manifest or not, and the table can't be read with them."""
    for listed in (True, False):
        lake = Units(**{"a": [1, 2], "b": [1], "p/q": [1, 2]})
        lose_ledger(lake)
        for unit in ("a", "p/q"):
            lake.drop(unit, 2)
        counts = {"a": 3, "b": 1, "p/q": 3} if listed else {"b": 1}
        lake.count(**counts)
        run = lake.follow("--rebuild-ledger", expect=3)  # the new ledger is kept
        run.says("2 files added before and gone now", "2.parquet")
        if listed:
            equal(sorted(f["unit"] for f in run["missing"]), ["a", "p/q"], "units of missing files")
        run = lake.follow("--on-missing", "delete")
        equal((run.names("missing"), run["changed_units"]), (["2.parquet"] * 2, []), "missing files, changed units")
        lake.has("a/1", "b/1", "q/1")
        equal(lake.follow()["changed_units"], [], "changed units afterwards")


def test_a_ledger_made_anew_says_what_it_does_not_know():
    lake = Units(a=[1], b=[1])
    lose_ledger(lake)
    lake.count(a=1)
    run = lake.follow("--rebuild-ledger")
    run.says("1 file that the source does not list", "tile=b/1.parquet", "no unit and no time")
    # It may be another source's: as long as it is there, it stays.
    lake.follow("--on-missing", "delete", "--force")
    lake.has("a/1", "b/1")
    lake.count(a=1, b=1)
    lake.follow()
    lake.count(a=1)
    lake.stops("added before and gone now", "tile=b/1.parquet")


def test_files_of_a_manifest_that_names_each():
    lake = Units(a=[1, 2], b=[1])
    by_path = os.path.join(lake.folder, "files.csv")

    def name(*files):
        with open(by_path, "w", encoding="utf-8") as file:
            file.write("unit,rows,path\n" + "".join(f"{unit},{number},tile={unit}/{number}.parquet\n" for unit, number in files))

    lake.arguments = lambda: ["--manifest", by_path, "--base", lake.source, *lake.more]
    name(("a", 1), ("a", 2), ("b", 1))
    lose_ledger(lake)
    lake.follow("--rebuild-ledger")
    lake.drop("a", 2)
    name(("a", 1), ("b", 1))
    lake.stops("added before and gone now", "2.parquet")
    lose_ledger(lake)
    lake.follow("--rebuild-ledger", expect=3).says("added before and gone now", "2.parquet")
    lake.follow("--on-missing", "delete")
    lake.has("a/1", "b/1")


def test_units_after_an_overwritten_file():
    lake = Units(a=[1, 2])
    lake.put("a", 2, rows=5)
    lake.count(a=6)
    lake.follow("--on-replaced", "overwrite")
    lake.has("a/1", "a/2")
    equal(lake.follow()["changed_units"], [], "changed units")
    lake.count(a=3)
    lake.stops("unit a was added with 6 rows, the manifest says 3")


def named(lake, text=None):
    """What the property of units says; or sets it."""
    if text is not None:
        lake.table().transaction().set_properties({"synced": text}).commit_transaction()
    return lake.properties().get("synced")


def test_units_leave_the_property_with_their_last_file():
    """Who reads the property adds all files of a unit that it lacks: one that partly left must stay in it, one that left must not."""
    lake = Units(a=[1, 2], b=[1], c=[1, 2])
    lake.more += ["--unit-property", "synced"]
    for text, left in (('["a","b","c"]', '["a","c"]'), ("c, b, a", "c, a")):
        named(lake, text)
        lake.put("a", 1)
        lake.put("b", 1)
        lake.count(a=3, b=1, c=3)
        lake.follow("--on-replaced", "overwrite")
        lake.drop("a", 1)
        lake.drop("b", 1)
        lake.count(a=3, c=3)
        lake.follow("--on-missing", "delete")
        lake.has("a/2", "c/1", "c/2")
        equal(named(lake), left, "units in the property")
    lake.drop("a", 2)
    lake.count(c=3)
    lake.follow("--on-missing", "delete")
    equal(named(lake), "c", "units in the property")
    # A file that was replaced and taken out leaves likewise, and what comes back is in again.
    lake.put("c", 1, rows=3)
    lake.put("c", 2, rows=4)
    lake.put("b", 1)
    lake.count(b=1, c=7)
    lake.follow("--on-replaced", "delete")
    lake.has("b/1")
    equal(named(lake), "b", "units in the property")
    # A run that doesn't keep it up leaves it alone.
    lake.more = lake.more[:-2]
    lake.drop("b", 1)
    lake.count(c=7)
    lake.follow("--on-missing", "delete", "--force")
    equal(named(lake), "b", "units in the property")


def test_a_unit_leaves_the_property_when_the_ledger_is_made_anew():
    """History has no units: those of gone files are told from their folders."""
    for files in ([1], [1, 2]):
        lake = Units(a=files, b=[1], c=[1, 2])
        lake.more += ["--unit-property", "synced"]
        named(lake, '["a","b","c"]')
        for number in files:
            lake.drop("a", number)
        lake.drop("c", 1)
        lake.count(b=1, c=3)
        folder = os.path.join(lake.location, "metadata")
        for name in [n for n in os.listdir(folder) if n.startswith("firn-ledger")]:
            os.remove(os.path.join(folder, name))
        lake.follow("--rebuild-ledger", "--on-missing", "delete")
        lake.has("b/1", "c/2")
        equal(named(lake), '["b","c"]', "units in the property")


def test_a_unit_that_a_list_with_commas_can_not_name():
    lake = Units(a=[1])
    lake.more += ["--unit-property", "synced"]
    named(lake, "a,b")
    lake.put("p,q", 1)
    lake.put("r", 1)
    lake.count(a=1, r=1)
    lake.follow()
    equal(named(lake), "a,b,r", "units in the property")
    lake.count(**{"a": 1, "r": 1, "p,q": 1})
    lake.stops("unit 'p,q' can't be named", "synced", "JSON array", "leave out --unit-property")
    named(lake, '["a","b","r"]')
    lake.follow()
    equal(named(lake), '["a","b","p,q","r"]', "units in the property")


if __name__ == "__main__":
    lakekit.main(globals())
