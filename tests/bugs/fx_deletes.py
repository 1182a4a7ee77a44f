"""Tables with position and equality deletes, on top of fx_table: a Builder commits data and delete files snapshot by snapshot."""
import json
import os

import fx_table
import kit
import pyarrow as pa
import pyarrow.parquet as pq
from bugkit import equal

PATH_ID, POS_ID = 2147483546, 2147483545


def id_field(name, kind, field_id, nullable=False):
    return pa.field(name, kind, nullable=nullable, metadata={"PARQUET:field_id": str(field_id)})


def bounds(lower, upper=None):
    upper = lower if upper is None else upper
    return {"lower_bounds": [{"key": PATH_ID, "value": lower.encode()}],
            "upper_bounds": [{"key": PATH_ID, "value": upper.encode()}]}


def positions(table, pairs, partition=(), **more):
    """A position delete file of (path, position) pairs, sorted as given; returns its data_file record."""
    path = table.fresh("data", "-deletes.parquet")
    schema = pa.schema([id_field("file_path", pa.string(), PATH_ID), id_field("pos", pa.int64(), POS_ID)])
    pq.write_table(pa.Table.from_pylist([{"file_path": p, "pos": n} for p, n in pairs], schema=schema), path,
                   store_schema=False)
    return {"content": 1, "file_path": path, "file_format": "PARQUET", "partition": list(partition),
            "record_count": len(pairs), "file_size_in_bytes": os.path.getsize(path), **more}


def equality(table, ids, partition=()):
    """An equality delete file on the column id (1)."""
    path = table.fresh("data", "-equality.parquet")
    schema = pa.schema([id_field("id", pa.int64(), 1, True)])
    pq.write_table(pa.table({"id": ids}, schema=schema), path, store_schema=False)
    return {"content": 2, "file_path": path, "file_format": "PARQUET", "partition": list(partition),
            "record_count": len(ids), "file_size_in_bytes": os.path.getsize(path), "equality_ids": [1]}


def rows(first, count, name="a"):
    return [{"id": first + i, "name": name} for i in range(count)]


class Builder:
    """Snapshots one by one, each with data or delete files; `remove` takes files out again."""

    def __init__(self, properties=None, spec=(), version=2):
        self.table = fx_table.Table(version, spec=spec, properties=properties)
        self.live = []  # (content word, entry)

    def commit(self, *files, remove=(), numbers=None):
        table = self.table
        number = table.metadata.get("last-sequence-number", 0) + 1
        self.live = [(word, entry) for word, entry in self.live if entry["data_file"]["file_path"] not in remove]
        for file in files:
            mine = (numbers or {}).get(file["file_path"], number)
            entry = table.entry(file, status=0, snapshot_id=table.next_snapshot, sequence_number=mine,
                                file_sequence_number=number)
            self.live.append(("deletes" if file.get("content") else "data", entry))
        manifests = []
        for word in ("data", "deletes"):
            entries = [entry for kind, entry in self.live if kind == word]
            if entries:
                manifests.append(table.manifest(entries, content=word))
        table.snapshot(manifests, operation="overwrite")

    def save(self):
        self.table.save()
        return self.table


def ids(table, pyiceberg=True):
    """Ids of the live rows, by DuckDB; PyIceberg agrees where there are no equality deletes."""
    found = sorted(json.loads(line)["id"] for line in kit.read("duckdb", table.where))
    if pyiceberg and all(e["data_file"]["content"] != 2 for e in table.live_entries()):
        equal(sorted(row["id"] for row in fx_table.rows_of(table)), found, "PyIceberg and DuckDB")
    return found


def delete_files(table):
    return [e for e in table.live_entries() if e["data_file"].get("content")]
