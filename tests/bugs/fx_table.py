"""
Tables in a folder of their own, built from fx_json, fx_avro and fx_parquet, so that a test can break any one byte of them:

    table = fx_table.Table(version=2, spec=[fx_json.spec_field(2, "name")])
    file = table.data([{"id": 1, "name": "a"}], partition=["a"])
    table.snapshot([table.manifest([table.entry(file)])])
    table.save()
    kit.firn("describe", *table.arguments)

The rows that were put in (`table.rows`) are the oracle: rows_of() reads a table's live rows by PyIceberg or, where PyIceberg
can't, from the files that a test names. A table is a row of an SQLite catalog, or a directory table (kind="directory").
"""
import decimal
import json
import os
import shutil
import sqlite3
import tempfile
import uuid

import fx_avro
import fx_json
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = tempfile.mkdtemp(prefix="firn-bugs-")
FIRST_SNAPSHOT = 5184430069070270604  # above 2^53: an id that a double can't hold
V1_LAYOUT = """
CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key));
"""
V0_LAYOUT = V1_LAYOUT.replace("iceberg_type VARCHAR(5), ", "")


def clean_up():
    shutil.rmtree(ROOT, ignore_errors=True)


def arrow_type(kind):
    """The Arrow type of an Iceberg type; nested fields carry their ids as Parquet expects them."""
    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return pa.struct([arrow_field(f) for f in kind["fields"]])
        if kind["type"] == "list":
            return pa.list_(arrow_field(fx_json.field(kind["element-id"], "element", kind["element"],
                                                      kind["element-required"])))
        return pa.map_(arrow_field(fx_json.field(kind["key-id"], "key", kind["key"], True)),
                       arrow_field(fx_json.field(kind["value-id"], "value", kind["value"], kind["value-required"])))
    if kind.startswith("decimal("):
        return pa.decimal128(*(int(p) for p in kind[8:-1].split(",")))
    if kind.startswith("fixed["):
        return pa.binary(int(kind[6:-1]))
    return {"boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(),
            "double": pa.float64(), "date": pa.date32(), "time": pa.time64("us"), "string": pa.string(),
            "timestamp": pa.timestamp("us"), "timestamptz": pa.timestamp("us", "UTC"), "binary": pa.binary(),
            "uuid": pa.binary(16)}[kind]


def arrow_field(item, ids=True):
    meta = {"PARQUET:field_id": str(item["id"])} if ids else None
    return pa.field(item["name"], arrow_type(item["type"]), nullable=not item["required"], metadata=meta)


def partition_type(source_type, transform):
    """The Iceberg type of a partition value. void's is the source's, whatever the field was before."""
    if transform.startswith("bucket") or transform in ("year", "month", "hour"):
        return "int"
    if transform == "day":
        return "date"
    return source_type


class Table:
    """Everything can be changed between the calls: `metadata` is the document, `path(name)` a file of the table."""

    def __init__(self, version=2, fields=fx_json.DEFAULT_FIELDS, spec=(), properties=None, kind="sql",
                 layout=V1_LAYOUT, name="db.t"):
        self.folder = tempfile.mkdtemp(dir=ROOT)
        self.location = os.path.join(self.folder, "t")
        os.makedirs(os.path.join(self.location, "metadata"))
        os.makedirs(os.path.join(self.location, "data"))
        self.version, self.fields, self.kind, self.layout, self.name = version, list(fields), kind, layout, name
        self.metadata = fx_json.metadata(version, self.location, fields, spec, properties)
        self.rows = []
        self.filled = []  # manifests by fill()
        self.counter = 0
        self.metadata_version = 0
        self.next_snapshot = FIRST_SNAPSHOT

    # Where things are

    @property
    def database(self):
        return os.path.join(self.folder, "catalog.db")

    @property
    def arguments(self):
        """How firn names the table."""
        return [self.name, "--catalog", self.database] if self.kind == "sql" else [self.location]

    @property
    def where(self):
        """How kit.read() names the table."""
        return f"{self.database}:{self.name}" if self.kind == "sql" else self.location

    def path(self, *parts):
        return os.path.join(self.location, *parts)

    def fresh(self, folder, ending):
        self.counter += 1
        return self.path(folder, f"{self.counter:05d}-{uuid.UUID(int=self.counter)}{ending}")

    def all_files(self):
        return {os.path.join(d, n) for d, _, names in os.walk(self.location) for n in names}

    # Building

    def spec(self, spec_id=0):
        return next(s for s in self.metadata["partition-specs"] if s["spec-id"] == spec_id)["fields"]

    def add_spec(self, fields, spec_id=1, default=True):
        self.metadata["partition-specs"].append({"spec-id": spec_id, "fields": list(fields)})
        ids = [f["field-id"] for s in self.metadata["partition-specs"] for f in s["fields"]]
        self.metadata["last-partition-id"] = max([999, *ids])
        if default:
            self.metadata["default-spec-id"] = spec_id
            if self.version == 1:
                self.metadata["partition-spec"] = list(fields)

    def source_type(self, source_id):
        for item in self.fields:
            if item["id"] == source_id:
                return item["type"]
        raise KeyError(source_id)

    def partition_fields(self, spec_id=0):
        """Avro fields of the partition tuple."""
        return [fx_avro.field(f.get("field-id", 1000 + i), f["name"], fx_avro.primitive(
                    partition_type(self.source_type(f["source-id"]), f["transform"])), False)
                for i, f in enumerate(self.spec(spec_id))]

    def data(self, rows, partition=(), ids=True, fields=None, path=None, oracle=True, **more):
        """Writes a data file by PyArrow; returns the data_file record of its manifest entry."""
        fields = self.fields if fields is None else fields
        schema = pa.schema([arrow_field(f, ids) for f in fields])
        path = path or self.fresh("data", ".parquet")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        names = {f["name"] for f in fields}
        columns = [{k: v for k, v in row.items() if k in names} for row in rows]
        pq.write_table(pa.Table.from_pylist(columns, schema=schema), path, store_schema=False)
        return self.file(path, rows, partition, oracle=oracle, **more)

    def file(self, path, rows, partition=(), oracle=True, **more):
        """The data_file record of a file that exists; its rows join the oracle."""
        if oracle:
            self.rows += rows
        record = {"file_path": path, "file_format": "PARQUET", "partition": list(partition),
                  "record_count": len(rows), "file_size_in_bytes": os.path.getsize(path)}
        if self.version >= 2:
            record["content"] = 0
        else:
            record["block_size_in_bytes"] = 67108864
        return {**record, **more}

    def entry(self, file, status=1, snapshot_id=None, **more):
        return {"status": status, "snapshot_id": snapshot_id or self.next_snapshot, **more, "data_file": file}

    def manifest(self, entries, spec_id=0, version=None, content="data", schema=None, header=None, listed=None,
                 **options):
        """
        Writes a manifest; returns its record for the manifest list. `header` changes header keys (None drops one),
        `schema` replaces the Avro schema, `listed` changes the record, `options` go to fx_avro.
        """
        version = version or self.version
        if schema is None:
            schema = fx_avro.entry_schema(version, self.partition_fields(spec_id))
        keys = {"schema": json.dumps(self.metadata["schemas"][-1] if "schemas" in self.metadata
                                     else self.metadata["schema"]),
                "partition-spec": json.dumps(self.spec(spec_id) if "partition-specs" in self.metadata else []),
                "partition-spec-id": str(spec_id), "format-version": str(version)}
        if version >= 2:
            keys.update({"schema-id": "0", "content": content})
        keys.update(header or {})
        path = self.fresh("metadata", "-m0.avro")
        size = fx_avro.write(path, schema, entries, header=keys, **options)
        number = self.metadata.get("last-sequence-number", 0) + 1
        live = {status: [e for e in entries if e["status"] == status] for status in (0, 1, 2)}
        explicit = [e["sequence_number"] for e in entries if e.get("sequence_number") is not None]
        record = {"manifest_path": path, "manifest_length": size, "partition_spec_id": spec_id,
                  "added_snapshot_id": self.next_snapshot}
        for status, word in ((1, "added"), (0, "existing"), (2, "deleted")):
            record[f"{word}_files_count"] = len(live[status])
            record[f"{word}_rows_count"] = sum(e["data_file"]["record_count"] or 0 for e in live[status])
        if self.version >= 2:
            record.update({"content": 1 if content == "deletes" else 0, "sequence_number": number,
                           "min_sequence_number": min(explicit, default=number)})
        record.update(listed or {})
        return record

    def manifest_list(self, manifests, schema=None, header=None, **options):
        schema = schema or fx_avro.list_schema(self.version)
        keys = {"snapshot-id": str(self.next_snapshot), "format-version": str(self.version)}
        keys.update(header or {})
        path = self.fresh("metadata", "-snap.avro")
        fx_avro.write(path, schema, manifests, header=keys, **options)
        return path

    def snapshot(self, manifests, operation="append", list_options=None, **more):
        """Adds a snapshot with a manifest list of these manifests (or the list's path) and makes it current."""
        path = manifests if isinstance(manifests, str) else self.manifest_list(manifests, **(list_options or {}))
        document, number = self.metadata, self.metadata.get("last-sequence-number", 0) + 1
        parent = document.get("current-snapshot-id")
        at = fx_json.NOW + 60000 * len(document["snapshots"])
        entry = fx_json.snapshot(self.next_snapshot, path, number, None if parent in (None, -1) else parent, at,
                                 operation, **more)
        if self.version == 1:
            del entry["sequence-number"]
        else:
            document["last-sequence-number"] = number
        document["snapshots"].append(entry)
        document["current-snapshot-id"] = self.next_snapshot
        document["refs"] = {**document["refs"], "main": {"snapshot-id": self.next_snapshot, "type": "branch"}}
        document["snapshot-log"].append({"timestamp-ms": at, "snapshot-id": self.next_snapshot})
        document["last-updated-ms"] = at
        self.next_snapshot += 1
        return entry

    def fill(self, files=6, rows=3, partition=None, **more):
        """One append of small files, for tests about something else; returns their data_file records."""
        made, start = [], 1000 * len(self.filled)
        for i in range(files):
            content = [{"id": start + 10 * i + j, "name": "abc"[j % 3]} for j in range(rows)]
            made.append(self.data(content, partition or (), **more))
        self.filled.append(self.manifest([self.entry(f) for f in made]))
        self.snapshot(self.filled)
        return made

    def save(self, text=None):
        """Writes the metadata file (`text` instead of the document) and points the catalog at it; returns its path."""
        self.metadata_version += 1
        name = f"v{self.metadata_version}.metadata.json" if self.kind == "directory" else \
            f"{self.metadata_version - 1:05d}-{uuid.UUID(int=self.metadata_version)}.metadata.json"
        path = self.path("metadata", name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text if text is not None else fx_json.dumps(self.metadata))
        if self.kind == "directory":
            with open(self.path("metadata", "version-hint.text"), "w", encoding="utf-8") as file:
                file.write(str(self.metadata_version))
        else:
            self.point_at(path)
        return path

    def point_at(self, path, iceberg_type="TABLE"):
        fresh = not os.path.exists(self.database)
        with sqlite3.connect(self.database) as database:
            if fresh:
                database.executescript(self.layout)
            namespace, _, name = self.name.rpartition(".")
            row = {"catalog_name": "default", "table_namespace": namespace, "table_name": name,
                   "metadata_location": path, "previous_metadata_location": None}
            if self.layout == V1_LAYOUT:
                row["iceberg_type"] = iceberg_type
            database.execute(f"INSERT OR REPLACE INTO iceberg_tables ({', '.join(row)}) "
                             f"VALUES ({', '.join('?' for _ in row)})", list(row.values()))
        database.close()

    # What is there now

    def current_path(self):
        if self.kind == "sql":
            database = sqlite3.connect(self.database)
            try:
                return database.execute("SELECT metadata_location FROM iceberg_tables").fetchone()[0]
            finally:
                database.close()
        names = [n for n in os.listdir(self.path("metadata")) if n.endswith(".metadata.json")]
        return self.path("metadata", max(names, key=lambda n: int(n[1:].split(".")[0])))

    def current(self):
        """The metadata document that the catalog names now."""
        with open(strip(self.current_path()), encoding="utf-8") as file:
            return json.load(file)

    def current_manifests(self, document=None):
        """[(list record, manifest header, entries)] of the current snapshot."""
        document = document or self.current()
        wanted = document["current-snapshot-id"]
        snapshot = next(s for s in document["snapshots"] if s["snapshot-id"] == wanted)
        _, records = fx_avro.read(snapshot["manifest-list"])
        return [(record, *fx_avro.read(record["manifest_path"])) for record in records]

    def live_entries(self):
        return [e for _, _, entries in self.current_manifests() for e in entries if e["status"] != 2]


def strip(path):
    return path.removeprefix("file://")


def sort_key(row):
    return json.dumps(row, sort_keys=True, default=str)


def plain(value):
    """Values in one form: maps as dicts, an empty map as an empty list (PyArrow tells no difference), decimals as text."""
    if value == {}:
        return []
    if isinstance(value, list) and value and all(isinstance(v, tuple) for v in value):
        return {k: plain(v) for k, v in value}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, decimal.Decimal):
        return str(value)
    return value


def rows_of(table):
    """The live rows as PyIceberg reads them, sorted."""
    from pyiceberg.table import StaticTable
    found = StaticTable.from_metadata(strip(table.current_path())).scan().to_arrow().to_pylist()
    return sorted((plain(row) for row in found), key=sort_key)


def rows_in(paths):
    """The rows of Parquet files as PyArrow reads them, by the files' own column names, sorted."""
    found = [row for path in paths for row in pq.ParquetFile(strip(path)).read().to_pylist()]
    return sorted((plain(row) for row in found), key=sort_key)


def oracle(table):
    """The rows that were put in, with every column of the current schema, sorted."""
    names = [f["name"] for f in table.fields]
    return sorted(({n: plain(row.get(n)) for n in names} for row in table.rows), key=sort_key)
