"""Configuration as the program sees it: which catalog is meant, and where each value comes from."""
import os
import sqlite3

import kit


def catalog(world, name, *tables, catalog_name="default"):
    """An SQLite catalog in the work folder with tables of that name."""
    path = os.path.join(world.work, name)
    for table in tables:
        folder = kit.directory_table(world, f"{name}.{table}")
        world.firn("catalog", "register", f"ns.{table}", f"{folder}/metadata/v1.metadata.json",
                   "--catalog", path, "--catalog-name", catalog_name, "--yes")
    return path


def names(world, *arguments, **options):
    return [row["table"] for row in world.json("tables", *arguments, **options)["tables"]]


def default_catalog(world):
    path = catalog(world, "a.db", "one")
    world.write("firn.yaml", f"catalogs:\n  default:\n    type: sql\n    uri: sqlite:///{path}\n")
    kit.equal(names(world), ["ns.one"], "tables of the default catalog")
    kit.equal(world.json("describe", "ns.one")["table"], "ns.one", "table")
    # The hint works as it is written.
    hint = world.fails(1, "ns.two", "describe", "ns.two")["message"].split("'")[-2]
    kit.equal(hint, f"firn tables --catalog {path} --catalog-name default", "hint")
    kit.equal(names(world, *hint.split()[2:]), ["ns.one"], "tables by the hint")
    world.write("firn.yaml", "catalogs: {}\nlakes:\n  weather.obs: {catalog: a.db, source: {folder: /x}}\n")
    world.fails(2, "(configured: none; tables under lakes: weather.obs)", "scan", "weather.nope")


def only_catalog(world):
    """Where none is named and none is called default, the only one that is configured is meant; of two none is."""
    one, two = catalog(world, "a.db", "one"), catalog(world, "b.db", "two")
    world.write("firn.yaml", f"catalogs:\n  prod:\n    uri: sqlite:///{one}\n")
    kit.equal(names(world), ["ns.one"], "tables of the only catalog")
    kit.equal(world.json("describe", "ns.one")["table"], "ns.one", "table")
    world.write("firn.yaml", f"catalogs:\n  prod:\n    uri: sqlite:///{one}\n  test:\n    uri: sqlite:///{two}\n")
    world.fails(2, "(configured: prod, test)", "tables")
    kit.equal(names(world, environment={"FIRN_CATALOG__DEFAULT__URI": f"sqlite:///{two}"}), ["ns.two"], "default goes before")


def precedence(world):
    for name in ("flag", "variable", "work", "user", "environment"):
        catalog(world, f"{name}.db", name)
    text = "catalogs:\n  default:\n    type: sql\n    uri: sqlite:///{}.db\n"
    world.write("firn.yaml", text.format("work"))
    world.write("flag.yaml", text.format("flag"))
    world.write("variable.yaml", text.format("variable"))
    world.write(os.path.join(world.home, ".config/firn/firn.yaml"), text.format("user"))
    variable = {"FIRN_CONFIG": "variable.yaml"}
    environment = dict(variable, FIRN_CATALOG__DEFAULT__URI="sqlite:///environment.db")
    kit.equal(names(world, "--catalog", "user.db", "--config", "flag.yaml", environment=environment),
              ["ns.user"], "--catalog")
    kit.equal(names(world, "--config", "flag.yaml", environment=environment), ["ns.environment"],
              "environment")
    kit.equal(names(world, "--config", "flag.yaml", environment=variable), ["ns.flag"], "--config")
    kit.equal(names(world, environment=variable), ["ns.variable"], "FIRN_CONFIG")
    kit.equal(names(world), ["ns.work"], "./firn.yaml")
    os.unlink(os.path.join(world.work, "firn.yaml"))
    kit.equal(names(world), ["ns.user"], "~/.config")
    os.unlink(os.path.join(world.home, ".config/firn/firn.yaml"))
    world.write(".pyiceberg.yaml", "catalog:\n  default:\n    uri: sqlite:///variable.db\n")
    kit.equal(names(world), ["ns.variable"], "PyIceberg's file")
    kit.equal(names(world, environment={"PYICEBERG_CATALOG__DEFAULT__URI": "sqlite:///flag.db"}),
              ["ns.flag"], "PyIceberg's environment")


def several_names_in_one_file(world):
    path = catalog(world, "a.db", "one", catalog_name="prod")
    catalog(world, "a.db", "two", catalog_name="test")
    message = world.fails(2, "--catalog-name", "tables", "--catalog", path)["message"]
    kit.contains(message, "prod")
    kit.contains(message, "test")
    kit.equal(names(world, "--catalog", path, "--catalog-name", "prod"), ["ns.one"], "prod")
    kit.contains(world.firn("tables", "--catalog", path, "--catalog-name", "bar").stdout, "the file holds: prod, test")
    kit.equal(world.json("tables", "--catalog", path, "--catalog-name", "bar")["catalog_names"], "prod, test", "names")
    world.write("firn.yaml", f"catalogs:\n  test:\n    uri: sqlite:///{path}\n")
    kit.equal(names(world, "--catalog", "test"), ["ns.two"], "the configured name")


def other_kinds_are_refused_by_name(world):
    for kind in ("rest", "glue", "hive", "dynamodb"):
        world.write("firn.yaml", f"catalogs:\n  default:\n    type: {kind}\n    uri: x://y\n")
        world.fails(3, f"catalogs of type {kind} are not in this version", "tables")
    world.write("firn.yaml", "catalogs:\n  default:\n    uri: http://localhost\n")
    world.fails(3, "catalogs of type rest are not in this version", "tables")
    world.write("firn.yaml", "catalogs:\n  default:\n    type: sql\n    uri: postgresql://h/d\n")
    world.fails(3, "PostgreSQL", "tables")
    world.write("firn.yaml", "catalogs:\n  default:\n    warehouse: /x\n")
    world.fails(2, "it has neither type nor uri", "tables")


def no_file_is_made_unasked(world):
    world.write("firn.yaml", "catalogs:\n  default:\n    uri: sqlite:///none.db\n")
    folder = kit.directory_table(world, "t")
    world.fails(1, "none.db", "tables")
    world.fails(1, "none.db", "describe", "a.b")
    world.firn("catalog", "register", "a.b", folder)
    world.fails(1, "nowhere", "catalog", "register", "a.b", "./nowhere", "--yes")
    world.fails(1, "other.db", "tables", "--catalog", "other.db")
    world.firn("catalog", "register", "a.b", folder, "--catalog", "other.db")
    kit.equal(sorted(os.listdir(world.work)), ["firn.yaml", "t"], "files")
    world.firn("catalog", "register", "a.b", folder, "--catalog", "other.db", "--yes", "--dry-run")
    kit.equal(sorted(os.listdir(world.work)), ["firn.yaml", "t"], "files")


def a_configured_file_is_made(world):
    """With the first table, under the name by which it is configured."""
    world.write("firn.yaml", "catalogs:\n  lake:\n    uri: sqlite:///lake.db\n  gone:\n    uri: sqlite:///no/such/folder.db\n")
    folder = kit.directory_table(world, "t")
    kit.equal(world.json("catalog", "register", "a.b", folder, "--catalog", "lake")["makes_catalog"], True, "makes_catalog")
    kit.equal(os.path.exists(world.path("work", "lake.db")), False, "a file after a preview")
    world.firn("catalog", "register", "a.b", folder, "--catalog", "lake", "--yes")
    kit.equal(names(world, "--catalog", "lake"), ["a.b"], "tables")
    rows = sqlite3.connect(world.path("work", "lake.db")).execute("SELECT catalog_name, table_name FROM iceberg_tables").fetchall()
    kit.equal(rows, [("lake", "b")], "rows")
    other = kit.directory_table(world, "u", **{"table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c2"})
    kit.equal(world.json("catalog", "register", "a.c", other, "--catalog", "lake")["makes_catalog"], False, "makes_catalog")
    world.fails(1, f"no/such/folder.db can't be created: the folder {world.work}/no/such/ is missing; make it first", "catalog", "register", "a.b", folder, "--catalog", "gone", "--yes")
    # What a run that failed long ago left: a file without tables.
    open(world.path("work", "empty.db"), "wb").close()
    world.firn("catalog", "register", "a.b", folder, "--catalog", "empty.db", "--yes")
    kit.equal(names(world, "--catalog", "empty.db"), ["a.b"], "tables")


def show(world):
    world.write("firn.yaml", "catalogs:\n  default:\n    uri: sqlite:///x.db\n    token: hidden\n", 0o600)
    document = world.json("config", "show", environment={"FIRN_CATALOG__DEFAULT__WAREHOUSE": "/w"})
    kit.equal(document["files"], [{"path": world.path("work", "firn.yaml")}], "files")
    settings = {row["setting"]: (row["value"], row["source"]) for row in document["settings"]}
    kit.equal(settings["uri"], ("sqlite:///x.db", world.path("work", "firn.yaml") + " line 3"), "uri")
    kit.equal(settings["warehouse"], ("/w", "environment FIRN_CATALOG__DEFAULT__WAREHOUSE"), "warehouse")
    kit.equal(settings["token"][0], "(secret)", "token")
    kit.check("hidden" not in world.firn("config", "show").stdout, "a secret is shown")


def validate(world):
    world.write("good.yaml", "catalogs: {}\nviews: {}\n")
    world.write("bad.yaml", "catalogs:\n  default:\n    warehose: x\n")
    kit.equal(world.json("config", "validate", "good.yaml")["valid"], True, "valid")
    world.fails(2, 'bad.yaml line 3: a catalog has no setting "warehose"; the nearest one is '
                '"warehouse"', "config", "validate", "bad.yaml")
    done = world.firn("config", "validate", "none.yaml", expect=2)
    kit.equal(done.stderr, "firn: none.yaml: there is no such file\n", "standard error")
    # A lake's catalog is a configured one, of whatever file, or an SQLite file.
    lake = "lakes:\n  a.b:\n    source: {folder: /x}\n    catalog: "
    world.write("lake.yaml", "catalogs:\n  prod:\n    uri: sqlite:///x.db\n" + lake + "prd\n")
    world.fails(2, "lake.yaml line 7: lakes.a.b.catalog: prd: neither a configured catalog (configured: prod) nor an SQLite file",
                "config", "validate", "lake.yaml")
    for good in ("prod", "PROD", "./prd", "prd.db", "sqlite:///prd"):
        world.write("lake.yaml", "catalogs:\n  prod:\n    uri: sqlite:///x.db\n" + lake + good + "\n")
        kit.equal(world.json("config", "validate", "lake.yaml")["valid"], True, f"valid with {good}")
    world.write("lake.yaml", lake + "prd\n")
    kit.equal(world.json("config", "validate", "lake.yaml", environment={"FIRN_CATALOG__PRD__URI": "sqlite:///x.db"})["valid"], True, "valid")
    # A mistake in the configuration does not hinder what needs none.
    world.write("firn.yaml", "catalogues: {}\n")
    world.fails(2, 'there is no section "catalogues"', "tables")
    world.firn("describe", kit.directory_table(world, "t"))


def validate_sees_what_can_not_work(world):
    def mistake(text, message):
        path = world.write("bad.yaml", text)
        world.fails(2, f"{path} line {message}", "config", "validate", "bad.yaml")
    catalog = "catalogs:\n  default:\n    "
    mistake(catalog + "type: sqlite\n    uri: sqlite:///x.db\n", "3: catalogs.default.type: catalogs of type sqlite are not in this version of firn; it opens type sql")
    mistake(catalog + "type: rest\n    uri: http://x\n", "3: catalogs.default.type: catalogs of type rest are not in this version")
    mistake(catalog + "uri: http://x\n", "3: catalogs.default.uri: catalogs of type rest are not in this version")
    mistake(catalog + "type: sql\n", "2: catalogs.default: it has no uri")
    mistake(catalog + "warehouse: /x\n", "2: catalogs.default: it has neither type nor uri")
    mistake(catalog + "warehouse: /x\n    uri: x.db\n", "4: catalogs.default.uri: the type can't be told from the uri")
    mistake(catalog + "type: sql\n    uri: postgresql://h/d\n", "4: catalogs.default.uri: SQL catalogs in PostgreSQL are not in this version")
    mistake(catalog + "type: sql\n    uri: sqlite://x.db\n", "4: catalogs.default.uri: sqlite://x.db: an SQLite catalog is named")
    world.write("bad.yaml", catalog + "type: sql\n    uri: mysql://me:word@h/d\n", 0o600)
    kit.check("word" not in world.firn("config", "validate", "bad.yaml", expect=2).stderr, "a password is shown")
    lake = "lakes:\n  a.b:\n    "
    mistake(lake + "batch: 3\n", "2: lakes.a.b has no source; it is a mapping with one of folder, glob, list and manifest")
    mistake(lake + "source: {base: /x}\n", "2: lakes.a.b has no source")
    lake += "source: {folder: /x}\n    "
    mistake(lake + "format-version: 4\n", "4: lakes.a.b.format-version must be 1, 2 or 3")
    mistake(lake + 'partition: ["day: dya(ts)"]\n', '4: lakes.a.b.partition: rule "day: dya(ts)", character 6: no transform that a path can tell')
    mistake(lake + 'partition:\n      - "day: day(ts)"\n      - "day: hour(ts)"\n',
            '6: lakes.a.b.partition: the rules "day: day(ts)" and "day: hour(ts)" are for one key')
    mistake("lakes:\n  a..b:\n    source: {folder: /x}\n", '2: lakes: ')
    world.fails(2, "environment FIRN_CATALOG__X__TYPE: catalogs.x.type: catalogs of type rest", "config", "validate", environment={"FIRN_CATALOG__X__TYPE": "rest"})
    # PyIceberg's configuration may name what other programs use.
    world.write(".pyiceberg.yaml", "catalog:\n  prod:\n    type: rest\n    uri: http://x\n")
    kit.equal(world.json("config", "validate")["catalogs"], 1, "catalogs")
    # What a run says of the same is the same.
    world.write("firn.yaml", catalog + "type: sqlite\n    uri: sqlite:///x.db\n")
    world.fails(3, "firn.yaml line 3: catalogs.default.type: catalogs of type sqlite are not in this version", "tables")


def not_a_catalog(world):
    world.write("text.db", "this is no database, and long enough to be looked at " * 100)
    world.fails(1, "text.db", "tables", "--catalog", "text.db")
    sqlite3.connect(os.path.join(world.work, "other.db")).execute("CREATE TABLE t(x)").connection.close()
    done = world.firn("tables", "--catalog", "other.db", expect=None)
    kit.check(done.returncode in (1, 2, 3), f"exit {done.returncode}")
    kit.contains(done.stderr, "other.db")


kit.main(default_catalog, only_catalog, precedence, several_names_in_one_file, other_kinds_are_refused_by_name,
         no_file_is_made_unasked, a_configured_file_is_made, show, validate,
         validate_sees_what_can_not_work, not_a_catalog)
