"""Options that could have no effect are refused by name; a command line that made a table goes on working once it is there."""
import os

import lakekit
import pyarrow as pa
from lakekit import check, equal

SCHEMA = pa.schema([("id", pa.int64()), ("x", pa.int32())])


def lake_of(count=2):
    lake = lakekit.Lake()
    lake.watch = False
    for number in range(count):
        lake.write(f"tile={number}/part.parquet", [{"id": number, "x": 12 * number + 3}], SCHEMA)
    return lake


WISHES = ["--format-version", "2", "--partition", "tile={#}: truncate[12](x)", "--property", "owner=a b", "--property", "n=0", "--property", "n=1"]


def test_the_same_line_every_hour():
    """The first run makes the table as it is asked to; later ones find it so, whatever spelling the location has."""
    lake = lake_of()
    for arrived in (2, 0, 1, 0):
        if arrived == 1:
            lake.write("tile=7/part.parquet", [{"id": 7, "x": 90}], SCHEMA)
        equal(lake.sync(lake.source, *WISHES)["files"]["added"], arrived, "files added")
    equal(lake.spec(), [("x", "truncate[12]")], "spec")
    equal((lake.properties()["owner"], lake.properties()["n"], lake.metadata()["format-version"]), ("a b", "1", 2), "properties, version")
    os.symlink(os.path.dirname(lake.location), os.path.join(lake.folder, "link"))
    for location in (lake.location + "/", "file://" + lake.location, f"{lake.folder}/./iceberg/t", f"{lake.folder}/link/t", os.path.relpath(lake.location)):
        for verb in ("sync", "register"):
            if verb == "sync":
                lake.act(verb, lake.source, "--location", location, *WISHES)
    lake.whole()


def test_what_the_table_has_otherwise():
    lake = lake_of()
    lake.sync(lake.source, *WISHES)
    lake.write("tile=5/part.parquet", [{"id": 5, "x": 60}], SCHEMA)
    for arguments, words in (
            (["--location", lake.folder + "/other"], ["lies at", lake.location, lake.folder + "/other", "--location"]),
            (["--format-version", "3"], ["format version 2, not 3", f"firn upgrade {lake.name} --to 3"]),
            (["--partition", "tile: bucket[4](id)"], ["not partitioned by bucket[4](id)", "truncate[12](x)", "--partition"]),
            (["--partition", "tile={#}: truncate[10](x)"], ["not partitioned by truncate[10](x)"]),
            (["--partition", "tile={#}: truncate[12](x) as t"], ["x_trunc", "as t"]),
            (["--partition", "tile: y"], ['no column "y"'])):
        for verb in ("sync", "register"):
            for act in (["--dry-run"], []):
                run = lake.refused("act", verb, lake.source, *arguments, *act, words=words, code=2)
                equal((run["files"]["added"], run["error"]["code"]), (0, "INVALID"), "added, the error")
    lake.run("upgrade", lake.name, "--catalog", lake.database, "--to", "3", "--yes")
    lake.sync(lake.source, "--format-version", "3")
    typed = lake_of()
    typed.sync(typed.source, "--partition", "tile: tile int")
    typed.refused("act", "sync", typed.source, "--partition", "tile: tile string", words=['column "tile"', "of type int: leave the type out"], code=2)
    typed.sync(typed.source, "--partition", "tile: tile int")


def test_what_was_changed_since():
    """The line that made a table goes on once somebody upgraded it or set a property, and says that these stay as they are."""
    lake = lake_of()
    lake.sync(lake.source, *WISHES)
    for arguments, words in (
            (["--format-version", "1"], "format version 2, not 1 as --format-version"),
            (["--property", "owner=b"], "the property owner=a b, not b as --property"),
            (["--property", "new=b"], "no property new, not b as --property"),
            (["--property", "gc.enabled=true"], "the property gc.enabled=false, not true")):
        for act in (["--dry-run"], []):
            warnings = lake.act("sync", lake.source, *arguments, *act)["warnings"]
            check(len(warnings) == 1 and words in str(warnings) and "stays as it is" in str(warnings), warnings)
    equal(lake.sync(lake.source, *WISHES)["warnings"], [], "warnings")
    equal(lake.properties()["owner"], "a b", "property")


def test_what_runs_keep_up_themselves():
    """The property of units and the name mapping change as files come in: the line that made them stays right."""
    lake = lake_of()
    manifest = os.path.join(lake.folder, "m.csv")
    line = ["--manifest", manifest, "--base", lake.source, "--unit-folder", "tile={unit}", "--unit-property", "in", "--property", "in=[]", "--partition", "tile: -"]
    for units in (["0"], ["0", "1"]):
        with open(manifest, "w", encoding="utf-8") as file:
            file.write("unit,rows\n" + "".join(f"{unit},1\n" for unit in units))
        equal(lake.sync(*line)["units"]["added"], 1, "units")
    lake.write("tile=2/part.parquet", pa.table({"id": [1], "more": [1.5]}))
    mapping = '[{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["x"]}]'
    other = lake_of()
    for arrived in (2, 1):
        equal(other.sync(other.source, "--property", f"schema.name-mapping.default={mapping}", "--partition", "tile: -")["files"]["added"], arrived, "files")
        other.write("tile=2/part.parquet", pa.table({"id": [1], "more": [1.5]}))


def test_rules_of_parts_of_a_day():
    """A table by days, whose paths hold years and months beside: their rules tell which day is meant."""
    import datetime
    lake = lakekit.Lake()
    lake.watch = False
    lakekit.made(lake, [("at", "date"), ("due", "date")], [("at", "day")])
    lake.write("year=2024/month=05/day=01/p.parquet", [{"at": datetime.date(2024, 5, 1), "due": None}], pa.schema([("at", pa.date32()), ("due", pa.date32())]))
    rules = [o for unit in ("year", "month", "day") for o in ("--partition", f"{unit}: {unit}(at)")]
    equal(lake.sync(lake.source, *rules)["files"]["added"], 1, "files")
    lake.refused("act", "sync", lake.source, *rules, "--partition", "hour: year(due)", words=["not partitioned by year(due)", "day(at)"], code=2)


def test_options_of_other_sources():
    lake = lake_of()
    names = os.path.join(lake.folder, "list")
    with open(names, "w", encoding="utf-8") as file:
        file.write(lake.path("tile=0/part.parquet\n"))
    of_units = [("--unit-column", "u"), ("--rows-column", "r"), ("--path-column", "p"), ("--unit-folder", "x/{unit}"), ("--unit-property", "in"), ("--batch", "3")]
    for source in ([lake.source], ["--glob", lake.path("**")], ["--from", names]):
        for option in of_units + ([] if source[0] == "--from" else [("--base", "/x")]):
            lake.refused("sync", *source, *option, words=[option[0] + " is for", "leave it out"], code=2)
    lake.refused("register", lake.source, "--base", "/x", words=["--base is for"], code=2)
    check(lake.pointer() is None, "a table was made")
    lake.register("--from", names, "--base", "/x", "--partition", "tile: -")
    lake.run("sync", lake.location, lake.source, "--catalog", lake.database, expect=2).says("is a path, which needs no --catalog")
    lake.run("sync", lake.location, lake.source, "--catalog-name", "x", expect=2).says("is a path, which needs no --catalog-name")


def test_all_tables():
    """Without a TABLE an option is for the tables whose source has what it is for; one that is for none of them is refused."""
    lake = lake_of()
    config = os.path.join(lake.folder, "firn.yaml")

    def configure(source):
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"catalogs:\n  lake:\n    type: sql\n    uri: sqlite:///{lake.database}\nlakes:\n  {lake.name}:\n    source:\n      {source}\n"
                       f"    location: {lake.location}\n    partition: 'tile: -'\n  lake.v:\n    source: {{glob: '{lake.path('*/*.parquet')}'}}\n"
                       f"    location: {lake.location}-v\n    partition: 'tile: -'\n")
    configure(f"folder: {lake.source}")
    for option in ("--batch", "--unit-column", "--base"):
        lake.run("sync", "--config", config, option, "1", "--yes", expect=2).says(f"sync: {option} is for", "no table under lakes")
    manifest = os.path.join(lake.folder, "m.csv")
    with open(manifest, "w", encoding="utf-8") as file:
        file.write("unit,rows\n0,1\n1,1\n")
    configure(f"manifest: {manifest}\n      base: {lake.source}\n      unit-folder: 'tile={{unit}}'")
    lake.run("sync", "--config", config, "--batch", "1", "--yes")
    equal(len(lake.manifests()), 2, "commits of a unit each")


def test_a_ledger_of_no_table():
    lake = lake_of()
    lake.refused("sync", lake.source, "--rebuild-ledger", words=["is not there", "--rebuild-ledger"], code=2)
    check(lake.pointer() is None, "a table was made")


if __name__ == "__main__":
    lakekit.main(globals())
