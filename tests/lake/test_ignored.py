"""What lies where a source is and is no file of it: named as ignored, with the reason."""
import os
import socket

import lakekit
from lakekit import Lake, equal

LINK = "a symbolic link, which is not followed"
SPECIAL = "no regular file"
FOLDER = "a folder, of which no file is listed"


def world():
    lake = Lake()
    lake.watch = False
    other = os.path.join(lake.folder, "other")
    lake.write("a.parquet", [{"n": 1}])
    lake.write("d/b.parquet", [{"n": 2}])
    lake.write("spark.parquet/part-0.parquet", [{"n": 3}])
    lake.write("spark.parquet-2/x.parquet", [{"n": 4}])
    lake.write(os.path.join(other, "c.parquet"), [{"n": 5}])
    os.mkdir(lake.path("empty.parquet"))
    os.mkdir(lake.path("empty"))
    os.symlink(other, lake.path("day=1"))
    os.symlink(os.path.join(other, "c.parquet"), lake.path("linked.parquet"))
    os.symlink("nowhere", lake.path("dangling.parquet"))
    os.symlink(".", lake.path("d/loop"))
    os.mkfifo(lake.path("fifo.parquet"))
    os.mkfifo(lake.path("fifo"))
    socket.socket(socket.AF_UNIX).bind(os.path.relpath(lake.path("s.parquet")))
    return lake


def ignored(lake, run):
    return sorted((os.path.relpath(f["file"], lake.source), f["reason"]) for f in run["ignored"])


def test_below_a_folder():
    lake = world()
    wanted = [("d/loop", LINK), ("dangling.parquet", LINK), ("day=1", LINK), ("empty.parquet", FOLDER), ("fifo", SPECIAL),
              ("fifo.parquet", SPECIAL), ("linked.parquet", LINK), ("s.parquet", SPECIAL)]
    run = lake.sync(lake.source)
    equal(ignored(lake, run), wanted, "ignored")
    equal((run["files"]["ignored"], run["files"]["added"]), (len(wanted), 4), "counts")
    text = lake.run("sync", lake.name, "--catalog", lake.database, lake.source, "--yes").text
    for name, reason in wanted:
        equal((name in text, reason in text), (True, True), f"{name} in the text")
    run = lake.sync(lake.source, lake.path("linked.parquet"))
    equal(ignored(lake, run), [w for w in wanted if w[0] != "linked.parquet"], "ignored, with a link that is named")
    lake.whole([lake.path(n) for n in ("a.parquet", "d/b.parquet", "spark.parquet/part-0.parquet", "spark.parquet-2/x.parquet", "linked.parquet")])


def test_by_patterns():
    """Only what the pattern would match, or could match below."""
    lake = world()
    links = [("dangling.parquet", LINK), ("empty.parquet", FOLDER), ("fifo.parquet", SPECIAL), ("linked.parquet", LINK), ("s.parquet", SPECIAL)]
    for pattern, wanted, listed in (
            ("*.parquet", sorted([*links, ("spark.parquet", FOLDER)]), 1),
            ("**/*.parquet", sorted([*links, ("d/loop", LINK), ("day=1", LINK)]), 4),
            ("*/*.parquet", [("dangling.parquet", LINK), ("day=1", LINK), ("linked.parquet", LINK)], 3),
            ("d/*", [("d/loop", LINK)], 1),
            ("a*", [], 1)):
        run = lake.run("sync", lake.name, "--catalog", lake.database, *lake.options, "--glob", lake.path(pattern), "--json")
        equal((pattern, ignored(lake, run), run["files"]["listed"]), (pattern, wanted, listed), "ignored, files")


def test_in_the_folder_of_a_unit():
    lake = world()
    manifest = os.path.join(lake.folder, "units.csv")
    with open(manifest, "w", encoding="ascii") as file:
        file.write("unit,rows\nd,1\n")
    run = lake.sync("--manifest", manifest, "--base", lake.source, "--unit-folder", "{unit}")
    equal((ignored(lake, run), run["files"]["added"]), ([("d/loop", LINK)], 1), "ignored, added")


def test_folders_too_deep_to_be_opened():
    """They are bad input; what lies above them is added with --skip-bad."""
    lake = world()
    here = os.getcwd()
    os.chdir(lake.source)
    for _ in range(25):
        os.mkdir("x" * 200)
        os.chdir("x" * 200)
    os.chdir(here)
    for options, code in ([], 3), (["--skip-bad"], 6):
        run = lake.sync(lake.source, *options, expect=code)
        equal(len(run["bad"]), 1, "bad folders")
        equal("can't be opened" in run["bad"][0]["reason"], True, f"the reason: {run['bad'][0]['reason']}")
    equal(len(lake.live()), 4, "live files")


if __name__ == "__main__":
    lakekit.main(globals())
