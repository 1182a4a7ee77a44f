"""Verbs that go from file to file: one that can't be read is told, and where it may be the others are looked at all the same."""
import glob
import json
import os
import shutil

import kit


def demo_files(world):
    """The three largest Parquet files of a demonstration table, as a, b and c; returns the table's folder as well."""
    world.firn("demo", "small-files", "demo")
    found = sorted(glob.glob(world.work + "/demo/**/data/**/*.parquet", recursive=True), key=os.path.getsize)[-3:]
    names = []
    for letter, path in zip("abc", found):
        names.append(os.path.join(world.work, letter + ".parquet"))
        shutil.copyfile(path, names[-1])
    return names, found


def verify_goes_on(world):
    (a, b, _), _ = demo_files(world)
    gone = os.path.join(world.work, "gone.parquet")
    done = world.firn("parquet", "verify", a, gone, b, expect=1)
    for part in (a, b, "gone.parquet"):
        kit.contains(done.stdout, part, "the report")
    kit.contains(done.stderr, "gone.parquet", "standard error")
    kit.check("No faults" not in done.stdout, done.stdout)
    document = json.loads(world.firn("parquet", "verify", a, gone, b, "--json", expect=1).stdout)
    kit.equal([(f["path"], f["findings"], f["rows"] is None) for f in document["files"]],
              [(a, 0, False), (gone, 1, True), (b, 0, False)], "files")
    kit.equal([(f["path"], f["kind"]) for f in document["findings"]], [(gone, "unreadable")], "findings")
    kit.equal((document["error"]["code"], document["error"]["exit_code"]), ("NOT_FOUND", 1), "error")
    # A broken promise goes before a missing file, wherever it stands.
    with open(b, "r+b") as file:
        file.seek(os.path.getsize(b) // 2)
        file.write(b"\xff" * 64)
    for names in ([gone, b], [b, gone], [b, a, gone]):
        done = world.firn("parquet", "verify", *names, "--json", expect=8)
        document = json.loads(done.stdout)
        kit.equal({f["path"] for f in document["findings"]}, {gone, b}, "files with findings")
        kit.equal(document["error"]["code"], "PROBLEMS", "error.code")
    os.mkdir(os.path.join(world.work, "folder"))
    document = json.loads(world.firn("parquet", "verify", world.work + "/folder", gone, "--json", expect=1).stdout)
    kit.equal([f["kind"] for f in document["findings"]], ["unreadable", "unreadable"], "findings")


def scan_ends_with_a_line(world):
    """Lines of JSON, and one more that tells why there are no more of them."""
    _, found = demo_files(world)
    tables = json.loads(world.firn("tables", "--catalog", glob.glob(world.work + "/demo/*.db")[0], "--json").stdout)["tables"]
    os.remove(found[0])
    words = ["scan", tables[0]["table"], "--catalog", glob.glob(world.work + "/demo/*.db")[0]]
    for form in (["--json"], ["--format", "json"]):
        done = world.firn(*words, *form, expect=1)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        kit.check(len(lines) > 1, "no row was printed")
        kit.check(all("error" not in line for line in lines[:-1]), "an error before the last line")
        kit.equal((lines[-1]["error"]["code"], lines[-1]["error"]["exit_code"], lines[-1]["command"]), ("NOT_FOUND", 1, "scan"), "the last line")
        kit.contains(lines[-1]["error"]["message"], os.path.basename(found[0]))
    for wrong in (["scan", "no.such", "--catalog", "none.db", "--json"], [*words, "--json", "--where", "("], [*words, "--json", "--no-such"]):
        done = world.firn(*wrong, expect=None)
        kit.equal(len(done.stdout.splitlines()), 1, f"lines of {wrong}")
        kit.check("error" in json.loads(done.stdout), done.stdout)
    done = world.firn(*words, expect=1)
    kit.check('"error"' not in done.stdout, "CSV rows end with JSON")


kit.main(verify_goes_on, scan_ends_with_a_line)
