"""
What the tests of this folder share: lakes of Parquet files, `firn register` and `firn sync` on them, and outside readers of
what they made.

    lake = Lake()
    lake.write("year=2024/month=01/part.parquet", [{"date": date(2024, 1, 5), "n": 1}])
    lake.register(lake.source)
    lake.whole()

Whatever a Lake runs is watched: a run that changes, adds or removes anything outside the table's location fails the test. The
oracle is what PyArrow reads from the source's files; rows come back by PyIceberg and DuckDB, entries by fx_avro.
"""
import datetime
import decimal
import hashlib
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bugs"))

import bugkit  # noqa: E402
import kit  # noqa: E402
import fx_avro  # noqa: E402
import fx_table  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from bugkit import check, equal  # noqa: E402

kit.FIRN = os.path.abspath(kit.FIRN)  # runs may be in another folder
LEDGER = "firn.sync.ledger"
MAPPING = "schema.name-mapping.default"


class Run:
    """A finished run: exit code, JSON document ({} where there is none), what it said on standard error."""

    def __init__(self, done):
        self.code, self.text, self.error = done.returncode, done.stdout, done.stderr
        try:
            self.document = json.loads(done.stdout)
        except ValueError:
            self.document = {}

    def __getitem__(self, key):
        check(key in self.document, f"the report has no {key!r}: {self.text[:1500]} {self.error[:500]}")
        return self.document[key]

    def names(self, key):
        """Last parts of the files of a list of findings."""
        return sorted(os.path.basename(f["file"]) for f in self[key])

    def says(self, *words):
        """Every word is in the report or the message."""
        everything = self.text + self.error
        for word in words:
            check(str(word) in everything, f"nothing says {word!r}: {everything[:2500]}")


class Lake:
    """A folder with a source, a catalog and a table's location, all apart from each other."""

    def __init__(self, name="lake.t", location=True):
        self.name = name
        self.folder = tempfile.mkdtemp(dir=fx_table.ROOT)
        self.source = os.path.join(self.folder, "lake")
        self.location = os.path.join(self.folder, "iceberg", name.rpartition(".")[2])
        self.database = os.path.join(self.folder, "catalog.db")
        self.state = os.path.join(self.folder, "journal")
        self.options = ["--location", self.location] if location else []
        self.watch = True
        os.makedirs(self.source)

    # The source

    def path(self, *parts):
        return os.path.join(self.source, *parts)

    def write(self, name, rows, schema=None, **options):
        """A Parquet file by PyArrow, from rows or a table; returns its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows, schema=schema)
        pq.write_table(table, path, **{"store_schema": False, **options})
        return path

    def files(self):
        """All Parquet files of the source that are data by their names."""
        return sorted(os.path.join(d, n) for d, _, names in os.walk(self.source) for n in names if n.endswith(".parquet"))

    # Running

    def run(self, verb, *arguments, expect=0, program=None, environment=None, **options):
        before = surroundings(self) if self.watch else None
        done = bugkit.firn(verb, *arguments, program=program, expect=None, **options,
                           environment={"FIRN_STATE_DIR": self.state, **(environment or {})})
        allowed = expect if isinstance(expect, (tuple, list, set)) else (expect,)
        check(expect is None or done.returncode in allowed,
              f"firn {verb} {' '.join(map(str, arguments))}: exit {done.returncode}, expected {allowed}\n"
              f"{done.stdout[-2500:]}\n{done.stderr[-2500:]}")
        if self.watch:
            after = surroundings(self)
            changed = sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))
            equal(changed, [], f"firn {verb} changed what is not the table's")
        return Run(done)

    def act(self, verb, *arguments, **options):
        """A verb on this table that does it, with --json."""
        return self.run(verb, self.name, "--catalog", self.database, "--yes", "--json", *arguments, **options)

    def register(self, *arguments, **options):
        return self.act("register", *self.options, *arguments, **options)

    def sync(self, *arguments, **options):
        return self.act("sync", *self.options, *arguments, **options)

    def refused(self, verb, *arguments, words=(), code=3, **options):
        """The run must end with `code`, say all of the words, and leave the table as it was."""
        before = self.pointer()
        run = getattr(self, verb)(*arguments, expect=code, **options)
        run.says(*words)
        equal(self.pointer(), before, "the catalog's pointer after a refusal")
        return run

    # The table, without firn

    def pointer(self):
        """The path of the current metadata file, or None where there is no table."""
        if not os.path.exists(self.database):
            return None
        database = sqlite3.connect(self.database)
        try:
            namespace, _, name = self.name.rpartition(".")
            found = database.execute("SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ? AND table_name = ?",
                                     (namespace, name)).fetchall()
        except sqlite3.OperationalError:
            return None
        finally:
            database.close()
        check(len(found) <= 1, f"{self.name} is {len(found)} times in the catalog")
        return fx_table.strip(found[0][0]) if found else None

    def metadata(self, path=None):
        path = path or self.pointer()
        check(path is not None, "there is no table")
        with open(fx_table.strip(path), encoding="utf-8") as file:
            return json.load(file)

    def properties(self):
        return self.metadata()["properties"]

    def manifests(self, document=None):
        """[(list record, entries)] of the current snapshot."""
        document = document or self.metadata()
        current = document.get("current-snapshot-id")
        if current in (None, -1):
            return []
        snapshot = next(s for s in document["snapshots"] if s["snapshot-id"] == current)
        _, records = fx_avro.read(fx_table.strip(snapshot["manifest-list"]))
        return [(record, fx_avro.read(fx_table.strip(record["manifest_path"]))[1]) for record in records]

    def live(self, document=None):
        """{path: data_file record} of the live data files; none may be there twice."""
        found = {}
        for record, entries in self.manifests(document):
            if record.get("content", 0) == 1:
                continue
            for entry in entries:
                if entry["status"] == 2:
                    continue
                path = fx_table.strip(entry["data_file"]["file_path"])
                check(path not in found, f"{path} is live twice")
                found[path] = entry["data_file"]
        return found

    def file(self, path):
        """The manifest's record of a file, by any end of its path."""
        found = [record for live, record in self.live().items() if live.endswith(path)]
        equal(len(found), 1, f"live files that end in {path}: {sorted(self.live())}")
        return found[0]

    def partition(self, path):
        """The partition tuple of a live file, by field name."""
        return dict(self.file(path)["partition"])

    def fields(self):
        """{name: field} of the current schema."""
        document = self.metadata()
        schema = next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"])
        return {field["name"]: field for field in schema["fields"]}

    def spec(self):
        """[(source column, transform)] of the default spec."""
        document = self.metadata()
        names = {field["id"]: name for name, field in self.fields().items()}
        spec = next(s for s in document["partition-specs"] if s["spec-id"] == document["default-spec-id"])
        return [(names[f["source-id"]], f["transform"]) for f in spec["fields"]]

    def bounds(self, path, column):
        """(lower, upper) of a top-level column in the manifest, decoded by PyIceberg; None where there is none."""
        from pyiceberg.conversions import from_bytes
        from pyiceberg.schema import Schema
        document, record, field = self.metadata(), self.file(path), self.fields()[column]
        schema = Schema.model_validate(next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"]))
        kind = schema.find_field(field["id"]).field_type
        found = []
        for key in ("lower_bounds", "upper_bounds"):
            raw = id_map(record.get(key)).get(field["id"])
            found.append(None if raw is None else from_bytes(kind, raw))
        return tuple(found)

    # Outside readers

    def catalog(self):
        """PyIceberg's own SqlCatalog on the file."""
        from pyiceberg.catalog.sql import SqlCatalog
        return SqlCatalog(catalog_name(self.database), uri=f"sqlite:///{self.database}", warehouse=f"file://{self.folder}/warehouse")

    def table(self):
        return self.catalog().load_table(self.name)

    def by_pyiceberg(self, where=None):
        table = self.table()
        scan = table.scan(row_filter=where) if where else table.scan()
        return ordered(scan.to_arrow().to_pylist())

    def by_duckdb(self, where="TRUE", source=None):
        """Rows that DuckDB finds in the bare root of the table, by its version hint, without guessing."""
        return duckdb_rows(source or self.location, where)

    def judged(self, rows, spark=True, source=None):
        """
        PyIceberg, DuckDB and, where FIRN_SPARK names its folder, Spark find just these rows. DuckDB reads the bare root, so right after firn wrote the hint,
        or the metadata file that `source` names.
        """
        equal(self.by_pyiceberg(), ordered(rows), "rows by PyIceberg")
        equal(self.by_duckdb(source=source), ordered(rows), "rows by DuckDB")
        if spark and kit.SPARK:
            where = f"{self.database}:{self.name}"
            kit.check_rows("spark", where, kit.read("pyiceberg", where), "rows by Spark")

    def oracle(self, paths=None, columns=None):
        """The rows of the live files (or of `paths`) as PyArrow reads them, with every column of the table's schema."""
        columns = columns or list(self.fields())
        found = []
        for path in self.live() if paths is None else paths:
            found += [{c: row.get(c) for c in columns} for row in pq.ParquetFile(path).read().to_pylist()]
        return ordered(found)

    # What must always hold

    def whole(self, files=None, duckdb=True, verify=()):
        """
        The table has exactly these files (or all of the source), each once; PyIceberg and DuckDB read the rows that the files
        have; nothing is left behind; the journal knows of nothing; `firn verify` (with its options) has nothing to say.
        """
        wanted = self.files() if files is None else sorted(files)
        equal(sorted(self.live()), wanted, "live files")
        rows = self.oracle(wanted)
        equal(self.by_pyiceberg(), rows, "rows by PyIceberg")
        if duckdb:
            equal(self.by_duckdb(), rows, "rows by DuckDB")
        self.tidy()
        self.run("verify", self.name, "--catalog", self.database, *verify)

    def tidy(self):
        """Everything below the location is referred to by the metadata that is retained; the journal is empty."""
        equal(left_behind(self), [], "files that nothing refers to")
        equal(journaled(self.state), [], "the journal")


# Tables of others


def made(lake, fields, spec=(), properties=None, version="2"):
    """
    An empty table by PyIceberg in the lake's catalog. fields: [(name, type) or (name, type, required)]; spec: [(column, transform's
    text) or with a name behind]. Returns PyIceberg's table.
    """
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import parse_transform
    from pyiceberg.types import NestedField
    schema = Schema(*(NestedField(100 + i, f[0], f[1], required=len(f) > 2 and f[2]) for i, f in enumerate(fields)))
    parts = PartitionSpec(*(PartitionField(schema.find_field(f[0]).field_id, 1000 + i, parse_transform(f[1]),
                                           f[2] if len(f) > 2 else f"p{i}") for i, f in enumerate(spec)))
    catalog = lake.catalog() if os.path.exists(lake.database) else kit.sql_catalog(lake.folder)
    catalog.create_namespace_if_not_exists(lake.name.rpartition(".")[0])
    return catalog.create_table(lake.name, schema, location=lake.location, partition_spec=parts,
                                properties={"format-version": version, **(properties or {})})


def filters_find(lake, column, duckdb=True):
    """Every value of the column, null and NaN too, is asked for: PyIceberg's and DuckDB's filters must find each of its rows."""
    from pyiceberg.expressions import EqualTo, IsNaN, NotNull, IsNull
    counts, connection = {}, duckdb_connection()
    for path in lake.live():
        for value in pq.ParquetFile(path).read(columns=[column])[column].to_pylist():
            value = 0.0 if isinstance(value, float) and value == 0 else value  # zeros of both signs are equal
            counts.setdefault(str(plain(value)), (value, {}))[1].setdefault(path, 0)
            counts[str(plain(value))][1][path] += 1
    for value, per_file in counts.values():
        count = sum(per_file.values())
        if value is None:
            expression, where, bound = IsNull(column), f'"{column}" IS NULL', []
        elif isinstance(value, float) and math.isnan(value):
            expression, where, bound = IsNaN(column), f'isnan("{column}")', []
        else:
            literal = value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else value
            expression, where, bound = EqualTo(column, literal), f'"{column}" = ?', [value]
        if value in (math.inf, -math.inf):  # PyIceberg takes it for more than a float can hold
            expression = NotNull(column)
        scan = lake.table().scan(row_filter=expression)
        planned = {fx_table.strip(task.file.file_path) for task in scan.plan_files()}
        check(set(per_file) <= planned, f"{column} = {value!r}: PyIceberg does not open {sorted(set(per_file) - planned)}")
        if not isinstance(expression, (IsNaN, NotNull)):  # PyArrow takes a column without nulls for one without NaN
            equal(len(scan.to_arrow()), count, f"rows with {column} = {value!r} by PyIceberg")
        if duckdb:
            found = connection.execute(f"SELECT count(*) FROM iceberg_scan('{lake.location}') WHERE {where}", bound).fetchone()[0]
            equal(found, count, f"rows with {column} = {value!r} by DuckDB")
    connection.close()


# Watching


def surroundings(lake):
    """{path: what tells a change} of everything in the lake's folder but the table's location, the catalog and the journal."""
    found = {}
    for folder, folders, names in os.walk(lake.folder):
        folders[:] = [d for d in folders if os.path.join(folder, d) not in (lake.location, lake.state)]
        for name in names:
            path = os.path.join(folder, name)
            if path.startswith(lake.database):
                continue
            status = os.lstat(path)
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            found[path] = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, digest)
    return found


def left_behind(lake):
    """Files below the location that no retained metadata refers to."""
    if not os.path.isdir(lake.location):
        return []
    current = lake.pointer()
    wanted = {os.path.join(lake.location, "metadata", "version-hint.text"), current}
    documents = []
    if current:
        documents.append(lake.metadata(current))
        for entry in documents[0].get("metadata-log", []):
            wanted.add(fx_table.strip(entry["metadata-file"]))
    for document in documents:
        wanted |= set(ledger_segments(document["properties"].get(LEDGER), lake.location))
        for snapshot in document["snapshots"]:
            wanted.add(fx_table.strip(snapshot["manifest-list"]))
            wanted |= set(ledger_segments(snapshot.get("summary", {}).get(LEDGER), lake.location))
            for record in fx_avro.read(fx_table.strip(snapshot["manifest-list"]))[1]:
                wanted.add(fx_table.strip(record["manifest_path"]))
                wanted |= {fx_table.strip(e["data_file"]["file_path"])
                           for e in fx_avro.read(fx_table.strip(record["manifest_path"]))[1]}
        for statistics in document.get("statistics", []):
            wanted.add(fx_table.strip(statistics["statistics-path"]))
    there = {os.path.join(d, n) for d, _, names in os.walk(lake.location) for n in names}
    return sorted(there - wanted)


def ledger_segments(text, location):
    """Paths of the segments that a ledger's text names, whatever its keys are."""
    def texts(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for item in value.values():
                yield from texts(item)
        elif isinstance(value, list):
            for item in value:
                yield from texts(item)
    for value in texts(json.loads(text) if text else {}):
        if value.endswith(".avro"):
            value = fx_table.strip(value)
            yield value if os.path.isabs(value) else os.path.join(location, "metadata", value)


def journaled(state):
    """Files that journals of ended runs still list."""
    found = []
    for name in os.listdir(state) if os.path.isdir(state) else []:
        with open(os.path.join(state, name), encoding="utf-8", errors="replace") as file:
            found += [line.split(" ", 2)[2].rstrip("\n") for line in file if line.startswith("file ")]
    return found


# Values


def id_map(value):
    """A map of manifests as a dict, however the reader gives it."""
    if value is None:
        return {}
    return dict(value) if isinstance(value, dict) else {item["key"]: item["value"] for item in value}


def plain(value):
    """A value in one form that compares and sorts."""
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return value
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def ordered(found):
    return sorted((plain(row) for row in found), key=lambda row: json.dumps(row, sort_keys=True))


def duckdb_connection():
    connection = kit.rows.duckdb_connection(kit.OPTIONS.duckdb_extensions)
    connection.execute("SET unsafe_enable_version_guessing = false")
    return connection


def duckdb_rows(source, where="TRUE"):
    connection = duckdb_connection()
    try:
        table = connection.execute(f"SELECT * FROM iceberg_scan('{source}') WHERE {where}").to_arrow_table()
        return ordered(table.to_pylist())
    finally:
        connection.close()


def catalog_name(database):
    """The catalog's name inside an SQLite file."""
    connection = sqlite3.connect(database)
    try:
        found = connection.execute("SELECT DISTINCT catalog_name FROM iceberg_tables").fetchall()
    finally:
        connection.close()
    return found[0][0] if found else "default"


def trace(lake, verb, *arguments, **options):
    """(run, [(operation, path)]) of a run that nothing disturbs, by the build with faults."""
    path = os.path.join(lake.folder, "trace-of-calls")
    lake_watch, lake.watch = lake.watch, False
    try:
        run = getattr(lake, verb)(*arguments, program=kit.FAULTS, environment={"FIRN_FAULT_TRACE": path}, **options)
    finally:
        lake.watch = lake_watch
    with open(path, encoding="utf-8") as file:
        calls = [tuple(line.rstrip("\n").split(" ", 1)) for line in file]
    os.unlink(path)
    return run, calls


def copy_of(lake):
    """Lays the lake's folder aside; returns a function that lays it back."""
    aside = lake.folder + "-aside"
    shutil.copytree(lake.folder, aside, symlinks=True)

    def restore():
        shutil.rmtree(lake.folder)
        # Times too: a file that looks newer than the ledger says has been replaced.
        subprocess.run(["cp", "-a", aside, lake.folder], check=True)
    return restore


def tests_of(module):
    return [test for name, test in module.items() if name.startswith("test_")]


def main(module):
    """Runs the module's test_… functions in the order in which they are written."""
    bugkit.main(tests_of(module))
