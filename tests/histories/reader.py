"""
The slow way to read a table, straight from the specification: live files with the numbers that they inherit, deletes that
apply to them, rows with their places and lineage. It shares nothing with firn.
"""
import functools
import gzip
import json
import os
import sqlite3

import columns
import files
import fx_avro

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2


class Entry:
    """A live entry of a manifest. `file` is its data_file record; the partition is a list in the spec's order."""

    def __init__(self, record, entry, first_row_id):
        self.file, self.status = entry["data_file"], entry["status"]
        self.path, self.content = self.file["file_path"], self.file.get("content") or 0
        self.spec_id, self.manifest = record["partition_spec_id"], record["manifest_path"]
        self.snapshot_id = entry["snapshot_id"] if entry["snapshot_id"] is not None else record["added_snapshot_id"]
        self.sequence = entry.get("sequence_number")
        self.file_sequence = entry.get("file_sequence_number")
        if self.sequence is None:
            self.sequence = record.get("sequence_number") or 0
        if self.file_sequence is None:
            self.file_sequence = record.get("sequence_number") or 0
        self.first_row_id = first_row_id
        self.partition = list((self.file["partition"] or {}).values())

    @property
    def is_vector(self):
        return self.file["file_format"].lower() == "puffin"

    @property
    def key(self):
        """A file is told by its path, a deletion vector by its offset too."""
        return (self.path, self.file.get("content_offset"))

    @property
    def referenced(self):
        return self.file.get("referenced_data_file")


class Row:
    """A live row: its values by field id, where it stands, its lineage."""
    __slots__ = ("values", "entry", "position", "row_id", "updated")

    def __init__(self, values, entry, position, row_id, updated):
        self.values, self.entry, self.position, self.row_id, self.updated = values, entry, position, row_id, updated


# Metadata


def catalog_location(database, name):
    connection = sqlite3.connect(database, timeout=60)
    try:
        return connection.execute("SELECT metadata_location FROM iceberg_tables WHERE table_name = ?",
                                  (name.rpartition(".")[2],)).fetchone()[0]
    finally:
        connection.close()


@functools.lru_cache(maxsize=4096)
def file_bytes(path):
    """Metadata files never change."""
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def document(location):
    return json.loads(file_bytes(files.strip(location)))


@functools.lru_cache(maxsize=4096)
def avro(path):
    return fx_avro.read(path)


@functools.lru_cache(maxsize=4096)
def file_rows(path, file_format, mapping):
    return files.read(path, file_format, json.loads(mapping) if mapping else None)


def head(metadata, ref="main"):
    """The snapshot of a ref, or None."""
    entry = metadata.get("refs", {}).get(ref)
    if entry is None:
        if ref != "main" or metadata.get("current-snapshot-id") in (None, -1):
            return None
        return snapshot(metadata, metadata["current-snapshot-id"])
    return snapshot(metadata, entry["snapshot-id"])


def snapshot(metadata, snapshot_id):
    return next(s for s in metadata["snapshots"] if s["snapshot-id"] == snapshot_id)


def since(metadata, entry, before):
    """A snapshot and its ancestors, newest first, up to the one with the id `before`."""
    while entry is not None and entry["snapshot-id"] != before:
        yield entry
        parent = entry.get("parent-snapshot-id")
        entry = None if parent is None else snapshot(metadata, parent)


def manifests(entry):
    """Records of a snapshot's manifest list."""
    return avro(files.strip(entry["manifest-list"]))[1] if entry else []


def spec_of(metadata, spec_id):
    return next(s for s in metadata["partition-specs"] if s["spec-id"] == spec_id)["fields"]


def unpartitioned(fields):
    return all(f["transform"] == "void" for f in fields)


def field_by_id(metadata, field_id):
    """A field of the current schema, or the newest that had it."""
    current = metadata["current-schema-id"]
    for schema in sorted(metadata["schemas"], key=lambda s: (s["schema-id"] != current, -s["schema-id"])):
        for item in schema["fields"]:
            if item["id"] == field_id:
                return item
    raise KeyError(field_id)


def entries_of(record):
    """Entries of a manifest, DELETED ones too."""
    next_id, found = record.get("first_row_id"), []
    for entry in avro(files.strip(record["manifest_path"]))[1]:
        first, file = entry["data_file"].get("first_row_id"), entry["data_file"]
        if first is None and next_id is not None and entry["status"] != 2 and not file.get("content"):
            first, next_id = next_id, next_id + file["record_count"]
        found.append(Entry(record, entry, first))
    return found


class State:
    """What a snapshot of a table holds."""

    def __init__(self, metadata, entry):
        self.metadata, self.snapshot = metadata, entry
        self.data, self.deletes = [], []
        for record in manifests(entry):
            live = [e for e in entries_of(record) if e.status != 2]
            (self.deletes if record.get("content") else self.data).extend(live)
        self.mapping = metadata.get("properties", {}).get("schema.name-mapping.default")

    # Which deletes apply (Scan Planning)

    def same_partition(self, deletes, data):
        return deletes.spec_id == data.spec_id and deletes.partition == data.partition

    def vector(self, data):
        found = [d for d in self.deletes if d.is_vector and d.referenced == data.path and data.sequence <= d.sequence
                 and self.same_partition(d, data)]
        assert len(found) <= 1, f"{len(found)} deletion vectors for {data.path}"
        return found[0] if found else None

    def position_files(self, data):
        """Position delete files that may apply, whether or not a vector replaces them."""
        return [d for d in self.deletes if d.content == POSITION_DELETES and not d.is_vector
                and d.referenced in (None, data.path) and data.sequence <= d.sequence and self.same_partition(d, data)]

    def equality_files(self, data):
        return [d for d in self.deletes if d.content == EQUALITY_DELETES and data.sequence < d.sequence
                and (self.same_partition(d, data) or unpartitioned(spec_of(self.metadata, d.spec_id)))]

    def deleted_positions(self, data):
        """By position deletes or the vector."""
        vector = self.vector(data)
        if vector:
            return files.read_vector(files.strip(vector.path), vector.file["content_offset"],
                                     vector.file["content_size_in_bytes"])
        return {row[files.POSITION] for d in self.position_files(data)
                for row in file_rows(files.strip(d.path), d.file["file_format"], None) if row[files.FILE_PATH] == data.path}

    def key(self, ids, values):
        fields = [field_by_id(self.metadata, i) for i in ids if i != columns.PLACE_A]
        return tuple(columns.key_value(values, i, fields) for i in ids)

    # Rows

    def file_values(self, data):
        """A column that the file lacks is its identity partition value, if there is one."""
        rows = file_rows(files.strip(data.path), data.file["file_format"], self.mapping)
        constant = {f["source-id"]: value for f, value in zip(spec_of(self.metadata, data.spec_id), data.partition)
                    if f["transform"] == "identity"}
        return [{**constant, **row} for row in rows] if constant else rows

    def rows_of(self, data):
        gone, rows = self.deleted_positions(data), []
        keys = []
        for d in self.equality_files(data):
            ids = d.file["equality_ids"]
            found = file_rows(files.strip(d.path), d.file["file_format"], None)
            keys.append((ids, {self.key(ids, row) for row in found}))
        for position, values in enumerate(self.file_values(data)):
            if position in gone or any(self.key(ids, values) in wanted for ids, wanted in keys):
                continue
            row_id, updated = values.get(columns.ROW_ID), values.get(columns.LAST_UPDATED)
            if row_id is None and data.first_row_id is not None:
                row_id = data.first_row_id + position
            rows.append(Row(values, data, position, row_id, data.sequence if updated is None else updated))
        return rows

    def rows(self):
        return [row for data in self.data for row in self.rows_of(data)]


def exists(location):
    return os.path.isfile(files.strip(location))
