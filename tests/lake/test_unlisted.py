"""What a source names and can't be listed is bad input like any other: named, all of it, and left out with --skip-bad."""
import os

import lakekit
import pyarrow as pa
from lakekit import Lake, check, equal

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
WRONG = b"w\xff\xfe.parquet"


class Sources(Lake):
    """Units a, b and c of two files each, of a row each, and all that a source could be written down in."""

    def __init__(self):
        super().__init__()
        self.watch = False
        for unit in "abc":
            for number in (1, 2):
                self.write(f"u={unit}/{number}.parquet", [{"id": number, "name": unit}], SCHEMA)

    def text(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def list(self, *names):
        return ["--from", self.text("list", b"".join((n if isinstance(n, bytes) else n.encode()) + b"\n" for n in names))]

    def units(self, **rows):
        text = "unit,rows\n" + "".join(f"{unit},{count}\n" for unit, count in rows.items())
        return ["--manifest", self.text("units.csv", text), "--base", self.source, "--unit-folder", "u={unit}", "--partition", "u: -"]

    def paths(self, *rows):
        text = "unit,rows,path\n" + "".join(f"{unit},1,u={unit}/{name}\n" for unit, name in rows)
        return ["--manifest", self.text("paths.csv", text), "--base", self.source, "--partition", "u: -"]

    def wrong(self, folder):
        """A file whose name is no UTF-8."""
        source = os.path.join(os.fsencode(self.source), folder.encode(), b"1.parquet")
        target = os.path.join(os.path.dirname(source), WRONG)
        with open(source, "rb") as old, open(target, "wb") as new:
            new.write(old.read())

    def has(self, *files):
        found = sorted("/".join(path.rsplit("/", 2)[1:]) for path in self.live())
        equal(found, sorted(f"u={name}.parquet" for name in files), "live files")
        rows = sorted((int(name[-1]), name[0]) for name in files)
        for reader, found in (("PyIceberg", self.by_pyiceberg()), ("DuckDB", self.by_duckdb())):
            equal(sorted((row["id"], row["name"]) for row in found), rows, f"rows by {reader}")


def bad(run):
    return [(f["unit"], os.path.basename(f["file"]), f["done"]) for f in run["bad"]]


def test_paths_that_are_not_there():
    """`register` names all of them in one report; `sync`, which takes what is gone from its source for gone, stops at the first."""
    lake = Sources()
    good, gone, other = (lake.path(name) for name in ("u=a/1.parquet", "u=a/8.parquet", "u=z"))
    options = ["--partition", "u: -"]
    run = lake.refused("register", good, gone, other, *options, words=[gone + ": No such file", other, "--skip-bad"])
    equal(sorted(f["file"] for f in run["bad"]), sorted([gone, other]), "bad files")
    check(lake.pointer() is None, "a table was made")
    run = lake.register(good, gone, other, "--skip-bad", *options, expect=6)
    equal((run["files"]["added"], sorted((f["file"], f["done"]) for f in run["bad"])), (1, [(gone, "left out"), (other, "left out")]), "added, left out")
    lake.has("a/1")
    lake.refused("sync", lake.path("u=a"), other, "--skip-bad", "--on-missing", "delete", code=1, words=[other + ": No such file"])
    lake.has("a/1")


def test_sources_without_files():
    """On a table that is there a folder or pattern that has none is told; a list may be empty."""
    lake = Sources()
    lake.sync(lake.path("u=a"), "--partition", "u: -")
    os.mkdir(os.path.join(lake.folder, "none"))
    for source, words in (([os.path.join(lake.folder, "none")], "no Parquet file in"), (["--glob", lake.path("v=*/*.parquet")], "no Parquet file that matches")):
        for verb in ("register", "sync"):
            run = getattr(lake, verb)(*source)
            equal((run["files"]["listed"], run["commits"], len(run["warnings"])), (0, [], 1), "listed, commits, warnings")
            check(words in str(run["warnings"]) and source[-1] in str(run["warnings"]), run["warnings"])
            lake.run(verb, lake.name, "--catalog", lake.database, *source, "--yes").says("The source has no files: nothing to do.", words)
    equal(lake.register(*lake.list())["warnings"], [], "warnings of an empty list")
    lake.has("a/1", "a/2")


def twice(lake, source, wanted, *files, verb="sync"):
    """By default nothing is added and all is named (3); --skip-bad adds the rest (6), and does so again."""
    run = lake.refused(verb, *source, words=["--skip-bad"])
    equal(bad(run), [(unit, name, None) for unit, name in wanted], "bad files")
    check(f"{len(wanted)} file" in run.error, f"the message does not count: {run.error}")
    check(lake.pointer() is None, "a table was made")
    left = [(unit, name, "left out") for unit, name in wanted]
    for added in (len(files), 0):
        run = getattr(lake, verb)(*source, "--skip-bad", expect=6)
        equal((bad(run), run["files"]["added"]), (left, added), "left out, added")
    lake.has(*files)
    return run


def test_names_that_are_no_utf8():
    for verb in ("sync", "register"):
        lake = Sources()
        lake.wrong("u=b")
        files = ["a/1", "a/2", "b/1", "b/2", "c/1", "c/2"]
        run = twice(lake, [lake.source], [(None, "w\\xff\\xfe.parquet")], *files, verb=verb)
        check("no UTF-8" in run["bad"][0]["reason"], "the reason")
    lake = Sources()
    lake.wrong("u=b")
    lake.text("lake/u=a/broken.parquet", b"PAR1 nothing PAR1")
    twice(lake, ["--glob", lake.path("**", "*.parquet")], [(None, "w\\xff\\xfe.parquet"), (None, "broken.parquet")], *files)


def test_a_unit_with_a_name_that_is_no_utf8():
    lake = Sources()
    lake.wrong("u=b")
    run = twice(lake, lake.units(a=2, b=2, c=2), [("b", "w\\xff\\xfe.parquet")], "a/1", "a/2", "c/1", "c/2")
    equal((run["units"]["known"], run["units"]["pending"]), (2, 1), "units")


def test_a_unit_whose_own_name_is_no_utf8():
    """It is bad input of one unit: the others are added."""
    paths = b"unit,rows,path\na,1,u=a/1.parquet\na,1,u=a/2.parquet\nb\xff,1,u=b/1.parquet\nb\xff,1,u=gone\nc,1,u=c/1.parquet\n"
    for rows, options in (b"unit,rows\na,2\nb\xff,2\nc,2\n", ["--unit-folder", "u={unit}"]), (paths, []):
        lake = Sources()
        if options == []:
            os.remove(lake.path("u=c/2.parquet"))
        source = ["--manifest", lake.text("units", rows), "--base", lake.source, "--partition", "u: -", *options]
        twice(lake, source, [("b\\xff", "units")], "a/1", "a/2", "c/1", *(["c/2"] if options else []))


def test_nothing_is_missing_beside_a_unit_that_can_not_be_named():
    """It may be any of those that were added: no policy takes their rows out."""
    lake = Sources()
    lake.sync(*lake.units(a=2, b=2, c=2))
    wrong = lake.units(a=2, c=2)
    lake.text("units.csv", b"unit,rows\na,2\nb\xff,2\nc,2\n")
    run = lake.sync(*wrong, "--skip-bad", "--on-missing", "delete", "--force", expect=6)
    equal((bad(run), run["missing"], len(lake.live())), ([("b\\xff", "units.csv", "left out")], [], 6), "bad, missing, live files")


def test_lines_of_a_list():
    """Gone, a folder's, no UTF-8, of a scheme that can't be reached, too long; and a file that is broken besides."""
    lake = Sources()
    lake.text("lake/u=c/broken.parquet", b"PAR1 nothing PAR1")
    names = [lake.path("u=a/gone.parquet"), lake.path("u=b"), os.fsencode(lake.path("u=c/")) + WRONG, lake.path("u=a/1.parquet"),
             lake.path("u=c/broken.parquet"), lake.path("u=a/none.parquet"), lake.path("x" * 300), "s3://bucket/key.parquet"]
    wanted = [(None, "gone.parquet"), (None, "none.parquet"), (None, "u=b"), (None, "w\\xff\\xfe.parquet"), (None, "x" * 300),
              (None, "key.parquet"), (None, "broken.parquet")]
    run = twice(lake, lake.list(*names), wanted, "a/1")
    check("line 1: " in run["bad"][0]["reason"], f"the line is not named: {run['bad'][0]}")


def test_nothing_but_lines_of_what_is_gone():
    lake = Sources()
    for verb in ("register", "sync"):
        source = lake.list(lake.path("gone.parquet"))
        lake.refused(verb, *source, words=["1 file can't be added", "gone.parquet"])
        equal(bad(getattr(lake, verb)(*source, "--skip-bad", expect=6)), [(None, "gone.parquet", "left out")], "bad files")
        check(lake.pointer() is None, "a table was made")


def test_rows_of_a_manifest():
    """A unit with a file that is gone waits as a whole, whichever of its rows it is."""
    lake = Sources()
    rows = [("a", "1.parquet"), ("a", "2.parquet"), ("x", "1.parquet"), ("b", "gone.parquet"), ("b", "1.parquet"), ("c", "1.parquet")]
    twice(lake, lake.paths(*rows), [("x", "1.parquet"), ("b", "gone.parquet")], "a/1", "a/2", "c/1")
    rows[2:5] = [("b", "2.parquet"), ("b", "1.parquet")]
    equal(lake.sync(*lake.paths(*rows))["files"]["added"], 2, "added once the manifest was mended")
    lake.has("a/1", "a/2", "b/1", "b/2", "c/1")


def test_units_without_files():
    lake = Sources()
    lake.text("lake/u=file", "")
    wanted = [("nope", "u=nope"), ("file", "u=file")]
    twice(lake, lake.units(a=2, nope=1, b=2, file=3), wanted, "a/1", "a/2", "b/1", "b/2")
    equal(bad(lake.sync(*lake.units(nope=1), "--skip-bad", "--on-missing", "report", expect=6)), [("nope", "u=nope", "left out")], "alone")
    lake.refused("sync", *lake.units(nope=1), "--on-missing", "report", words=["u=nope"])


def test_units_that_are_left_out_are_in_no_property():
    """Who reads there that a unit is in adds it never."""
    lake = Sources()
    lake.sync(*lake.units(a=2, nope=3, c=2), "--skip-bad", "--unit-property", "in", expect=6)
    equal(lake.properties()["in"], '["a","c"]', "the property of units")


def test_batches_before_a_bad_unit_stay():
    lake = Sources()
    run = lake.sync(*lake.units(a=2, b=2, nope=1, c=2), "--batch", "1", expect=3)
    equal((run["units"]["added"], bad(run)), (2, [("nope", "u=nope", None)]), "units, bad files")
    lake.has("a/1", "a/2", "b/1", "b/2")
    equal(lake.sync(*lake.units(a=2, b=2, nope=1, c=2), "--limit", "1", "--skip-bad", expect=6)["units"]["added"], 1, "within the limit")
    lake.has("a/1", "a/2", "b/1", "b/2", "c/1", "c/2")


def test_a_bad_unit_shapes_no_table():
    """Nor does a file of it that could be read."""
    lake = Sources()
    lake.write("u=b/1.parquet", pa.table({"id": [1], "name": ["b"], "more": [1.5]}))
    lake.sync(*lake.paths(("a", "1.parquet"), ("b", "1.parquet"), ("b", "gone.parquet")), "--skip-bad", expect=6)
    equal(sorted(lake.fields()), ["id", "name"], "columns")


def test_what_was_added_and_is_still_named_is_not_missing():
    """The source goes on naming it: it is bad input, and no policy takes its rows, or its unit's, out."""
    lake = Sources()
    source = lake.list(*lake.files())
    lake.sync(*source)
    os.remove(lake.path("u=a/2.parquet"))
    for options, code in ([], 3), (["--skip-bad"], 6):
        run = lake.sync(*source, "--on-missing", "delete", *options, expect=code)
        equal(([name for _, name, _ in bad(run)], run["missing"]), (["2.parquet"], []), "bad, missing files")
    equal(len(lake.live()), 6, "live files")
    lake.sync(*lake.list(*lake.files()), "--on-missing", "delete")
    lake.has("a/1", "b/1", "b/2", "c/1", "c/2")
    lake = Sources()
    lake.sync(*lake.units(a=2, b=2, c=2))
    for number in (1, 2):
        os.remove(lake.path(f"u=a/{number}.parquet"))
    run = lake.sync(*lake.units(a=2, b=2, c=2), "--on-missing", "delete", "--skip-bad", expect=6)
    equal((bad(run), run["missing"], len(lake.live())), ([("a", "u=a", "left out")], [], 6), "bad, missing, live files")


if __name__ == "__main__":
    lakekit.main(globals())
