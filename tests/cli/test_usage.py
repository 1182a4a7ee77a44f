"""Mistakes on the command line: exit 2, and the nearest known word is named."""
import json
import os

import kit


def unknown_verbs(world):
    world.fails(2, 'unknown verb "compct"; the nearest one is compact', "compct", "x")
    world.fails(2, 'unknown verb "tabel"; the nearest one is tables', "tabel")
    for verb in ("expire", "maintain", "remove-orphans", "view", "health"):
        world.fails(2, f"{verb} is not in this version of firn (firn help lists what is)", verb, "a.b")
    world.fails(2, 'unknown verb "recover"; the nearest one is catalog recover', "recover", "a.b", "./t")
    world.fails(2, 'unknown verb "merge"; the nearest one is parquet merge', "merge", "x")
    for first, second, verb in (("parquet", "inspct", "parquet inspect"), ("catalog", "registr", "catalog register"),
                                ("config", "shw", "config show"), ("demo", "smallfiles", "demo small-files")):
        world.fails(2, f'unknown verb "{first} {second}"; the nearest one is {verb} (firn help lists all)', first, second, "x")
    # Nothing is like these.
    for verb in ("optimize", "list", "vacuum", "x", "ls", "sink"):
        world.fails(2, f'unknown verb "{verb}" (firn help lists all)', verb, "a.b")
    world.fails(2, "unknown option --fancy (see firn help)", "tables", "--fancy")
    world.fails(2, "catalog rescue is not in this version of firn; there is: catalog register, catalog recover", "catalog", "rescue", "x")
    world.fails(2, "config generate is not in this version", "config", "generate")
    world.fails(2, "there is: config show, config validate", "config")
    world.fails(2, 'unknown verb', "")


def no_verb(world):
    """Usage for people, a document for programs."""
    for words in (["--json"], ["--json", "--"], ["--catalog", "x", "--json"]):
        done = world.firn(*words, expect=2)
        error = json.loads(done.stdout)["error"]
        kit.equal((error["code"], error["exit_code"], error["message"]), ("INVALID", 2, "no verb is named (firn help lists all)"), "error")
        kit.equal(done.stderr, "firn: no verb is named (firn help lists all)\n", "standard error")
    done = world.firn("--", "--json", expect=2)
    kit.contains(done.stderr, "unknown verb")


def unknown_options(world):
    world.fails(2, "unknown option --jsn; the nearest one is --json", "tables", "--jsn")
    world.fails(2, "unknown option --target-file; the nearest one is --target-file-size-bytes", "--target-file=1",
                "tables")
    world.fails(2, "unknown option -x", "-x", "tables")
    world.fails(2, "tables takes no option --yes", "tables", "--yes")
    world.fails(2, "describe takes no option --min-input-files", "describe", "a", "--min-input-files=3")
    world.fails(2, "plan takes no option --verify", "plan", "a", "--verify")
    # The document names the verb where it is known.
    kit.equal(world.command("describe", "a", "--jsn"), "describe", "command")
    kit.equal(world.command("parquet", "merge", "x", "--yes"), "parquet merge", "command")
    kit.equal(world.command("compact", "--memory=x"), "compact", "command")
    kit.equal(world.command("compact"), "compact", "command")
    kit.equal(world.command("--jsn", "compact"), None, "command")
    # What manifests, units and missing files are told by is sync's alone.
    for option in ("--manifest", "--unit-column", "--rows-column", "--path-column", "--unit-folder", "--batch=1", "--unit-property",
                   "--on-missing"):
        name, _, value = option.partition("=")
        world.fails(2, f"register takes no option {name}", "register", "a.b", f"{name}={value or 'report'}")


def values(world):
    world.fails(2, "option --catalog needs a value: --catalog NAME|FILE", "tables", "--catalog")
    world.fails(2, "option --ref needs a value", "describe", "a", "--ref", "--config", "x")
    world.fails(2, "option --yes takes no value", "compact", "a", "--yes=true")
    world.fails(2, "option --catalog: the value is empty", "tables", "--catalog=")
    for text in ("x", "-1", "1.5GB", "0", "12XB", "99999999999999999999x"):
        world.fails(2, f'option --memory: "{text}" is no number of bytes; it is a whole number above 0, alone or with KB, MB, GB or TB behind',
                    "compact", "a", f"--memory={text}")
    for option, text in (("memory", "99999999999999999999"), ("memory", "99999999TB"), ("memory", "8EB"),
                         ("threads", "9999999999999999999"), ("lock-timeout", "9999999999999999h"), ("retries", "99999999999999999999")):
        verb = ["register", "a.b", "x"] if option == "retries" else ["compact", "a"]
        world.fails(2, f'option --{option}: "{text}" is too large', *verb, f"--{option}={text}")
    for text in ("x", "0", "-3", "3.0", "1e3", "5KB"):
        world.fails(2, f'option --min-input-files: "{text}" is no whole number', "plan", "a",
                    f"--min-input-files={text}")
    world.fails(2, "option --threads: at most 1024", "plan", "a", "--threads", "99999")
    world.fails(2, 'option --lock-timeout: "soon" is no time', "compact", "a", "--lock-timeout=soon")


def arguments(world):
    world.fails(2, "compact needs TABLE: firn compact TABLE", "compact")
    world.fails(2, 'describe: one argument too many: "b" (firn describe TABLE)', "describe", "a", "b")
    world.fails(2, 'tables: one argument too many: "x" (firn tables)', "tables", "x")
    world.fails(2, "catalog register needs NAME METADATA", "catalog", "register", "a.b")
    world.fails(2, "too many arguments", "describe", *["x"] * 5000)
    world.fails(2, "is no table name", "describe", "a..b", "--catalog", "x.db")
    world.fails(2, "is no table name", "describe", "", "--catalog", "x.db")
    world.fails(2, "is a path; the first argument is the new name", "catalog", "register", "./a",
                "./b")
    world.fails(2, "is a path, which needs no --catalog", "describe", "./t", "--catalog", "x.db")


def options_stand_anywhere(world):
    table = kit.directory_table(world, "t")
    wanted = world.json("describe", table)
    for words in (["--json", "describe", table], ["describe", "--json", table],
                  ["--ref=main", "describe", table, "--json"], ["describe", "--ref", "main", "--json", table],
                  ["--json", "--", "describe", table]):
        kit.equal(json.loads(world.firn(*words).stdout), wanted, " ".join(words))
    done = world.firn("--", "describe", table, "--json", expect=2)
    kit.contains(done.stderr, "one argument too many")
    # Sizes and times in every spelling.
    world.firn("compact", table, "--memory", "1GB", "--target-file-size-bytes", "512 MB", "--lock-timeout",
               "500ms", "--threads=2", "-vv", "--no-progress")


def paths_and_names(world):
    """What has a slash or ends like a metadata file is a path; the rest is a name in a catalog."""
    table = kit.directory_table(world, "t")
    metadata = f"{table}/metadata/v1.metadata.json"
    for path in (table, table + "/", "./t", "t/", metadata, "t/metadata/v1.metadata.json",
                 "file://" + table, "file:" + table):
        kit.equal(world.json("describe", path)["table_uuid"], "9c12d441-03fe-4693-9a96-a0705ddf69c1", path)
    missing = "there is no metadata file v9.metadata.json, and its folder holds no other; where a catalog names it restore it"
    world.fails(1, missing, "describe", "v9.metadata.json")
    world.fails(1, missing, "catalog", "register", "a.b", "v9.metadata.json", "--catalog", "x.db")
    world.write("some.yaml", "a: b\n")
    world.fails(1, "some.yaml is no table metadata: ", "scan", "./some.yaml")
    for head, what in ((b"PAR1", "is a Parquet file, no table; firn register puts"), (b"SQLite format 3\0", "is an SQLite file, no table; a catalog is named"),
                       (b"PA", "is no table metadata"), (b"", "is no table metadata")):
        with open(os.path.join(world.work, "some.file"), "wb") as file:
            file.write(head)
        world.fails(1, "./some.file " + what, "scan", "./some.file")
        world.fails(1, "./some.file " + what, "catalog", "register", "a.b", "./some.file", "--catalog", "x.db")
    world.fails(1, "metadata/metadata; name the folder above it", "describe", table + "/metadata")
    world.fails(1, "nowhere", "describe", "./nowhere")
    for path in ("/dev/null", "/dev/null/", "/dev/null/x"):
        world.fails(1, f"there is no table: {path.rstrip('/')} is no folder", "describe", path)
    world.fails(2, 'no catalog named "default" is configured', "describe", "t")
    world.fails(2, "catalog lake: neither a configured catalog (configured: none) nor an SQLite file",
                "tables", "--catalog", "lake")
    world.fails(2, "name one by the option --catalog: a configured", "tables")
    world.fails(1, "absent.db", "tables", "--catalog", "absent.db")
    world.fails(1, "absent.db", "tables", "--catalog", "sqlite:///absent.db")
    world.fails(3, "this version of firn opens SQLite files", "tables", "--catalog", "http://x/")
    world.fails(2, "an SQLite catalog is named sqlite:///", "tables", "--catalog", "sqlite://x")


kit.main(unknown_verbs, no_verb, unknown_options, values, arguments, options_stand_anywhere, paths_and_names)
