"""
A table in an SQLite catalog, and commits to it as engines make them: new manifests for what is added, touched manifests
written again, a manifest list, metadata, and one UPDATE that needs the pointer to be where it was.

    table = writer.Table(folder, version=2)
    change = table.change("main")
    change.add(change.data_file(rows, spec_id=0))
    change.commit("append")
"""
import copy
import json
import os
import random
import sqlite3
import time
import uuid

import columns
import files
import fx_avro
import fx_json
import fx_table
import reader


class Conflict(Exception):
    """Another writer moved the table since it was loaded."""


class Table:
    def __init__(self, folder, version=2, fields=columns.FIRST_FIELDS, spec=(), properties=None, seed=0, scheme="",
                 name="db.t", create=True):
        self.folder, self.name, self.dice, self.odd_paths = folder, name, random.Random(seed), False
        self.made, self.was_current = set(), set()  # what this writer made, committed or not; metadata files seen
        self.root = os.path.join(folder, "t")
        self.location = scheme + self.root
        self.database = os.path.join(folder, "catalog.db")
        if not create:
            return
        os.makedirs(os.path.join(self.root, "metadata"))
        os.makedirs(os.path.join(self.root, "data"))
        document = fx_json.metadata(version, self.location, fields, spec, properties)
        document["table-uuid"] = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        path = self.write_metadata(document)
        connection = sqlite3.connect(self.database)
        connection.executescript(fx_table.V1_LAYOUT)
        namespace, _, last = name.rpartition(".")
        connection.execute("INSERT INTO iceberg_tables VALUES ('default', ?, ?, ?, NULL, 'TABLE')", (namespace, last, path))
        connection.commit()
        connection.close()

    @property
    def arguments(self):
        """How firn names the table."""
        return [self.name, "--catalog", self.database]

    @property
    def where(self):
        """How rows.py names the table."""
        return f"{self.database}:{self.name}"

    def fresh(self, folder, ending, prefix=""):
        path = f"{self.location}/{folder}/{prefix}{uuid.UUID(int=self.dice.getrandbits(128), version=4)}{ending}"
        self.made.add(path)
        return path

    def data_folder(self):
        """Paths are opaque: nothing in them is escaped or decoded."""
        return "data" if not self.odd_paths else f"data/{self.dice.choice(['part=a b', '%41+#', 'é', 'p=%20', 'x?y'])}"

    def write_metadata(self, document, number=0):
        path = self.fresh("metadata", ".metadata.json", f"{number:05d}-")
        with open(files.strip(path), "w", encoding="utf-8") as file:
            file.write(fx_json.dumps(document))
        return path

    def current(self):
        """(location of the current metadata, the document)."""
        location = reader.catalog_location(self.database, self.name)
        document = reader.document(location)
        # The log forgets the oldest, which are files of the table all the same.
        self.was_current |= {location} | {e["metadata-file"] for e in document.get("metadata-log", [])}
        return location, document

    def state(self, ref="main"):
        _, metadata = self.current()
        return reader.State(metadata, reader.head(metadata, ref))

    def swap(self, old, document):
        """The commit: the pointer moves from `old` to a new metadata file, or Conflict."""
        document = copy.deepcopy(document)
        was = reader.document(old)
        document["metadata-log"] = [*was.get("metadata-log", []),
                                    {"timestamp-ms": was["last-updated-ms"], "metadata-file": old}]
        document["last-updated-ms"] = max(int(time.time() * 1000), was["last-updated-ms"] + 1)
        new = self.write_metadata(document, len(document["metadata-log"]))
        connection = sqlite3.connect(self.database, timeout=60)
        try:
            done = connection.execute("UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? "
                                      "WHERE metadata_location = ?", (new, old, old))
            connection.commit()
            if done.rowcount != 1:
                raise Conflict(new)
        finally:
            connection.close()
        return new

    def update(self, edit):
        """Changes the metadata document by edit(document)."""
        old, document = self.current()
        document = copy.deepcopy(document)
        edit(document)
        return self.swap(old, document)

    def change(self, ref="main"):
        return Change(self, ref)


class Change:
    """One snapshot in the making, on the head that the ref had when the change was begun."""

    def __init__(self, table, ref):
        self.table, self.ref, self.dice = table, ref, table.dice
        self.old, self.metadata = table.current()
        self.version = self.metadata["format-version"]
        self.parent = reader.head(self.metadata, ref)
        self.base = reader.State(self.metadata, self.parent)
        self.added, self.removed = [], []  # (spec id, data_file record), entries

    @property
    def fields(self):
        wanted = self.metadata["current-schema-id"]
        return next(s["fields"] for s in self.metadata["schemas"] if s["schema-id"] == wanted)

    @property
    def default_spec(self):
        return self.metadata["default-spec-id"]

    def spec(self, spec_id):
        return reader.spec_of(self.metadata, spec_id)

    # Files

    def record(self, path, file_format, content, partition, count, size, **more):
        record = {"file_path": path, "file_format": file_format, "partition": list(partition), "record_count": count,
                  "file_size_in_bytes": size}
        if self.version == 1:
            return {**record, "block_size_in_bytes": 67108864, **more}
        return {**record, "content": content, **more}

    def data_file(self, rows, spec_id, partition, ending=".parquet", ids=True, lineage=False, metrics=True, without=()):
        """Writes rows (dicts by field id) under the current schema. `without`: ids that identity partitioning tells."""
        path = self.table.fresh(self.table.data_folder(), ending)
        fields = [f for f in self.fields if f["id"] not in without] + list(files.LINEAGE_FIELDS if lineage else ())
        size = files.write(files.strip(path), fields, rows, self.dice, ids)
        more = columns.metrics(self.fields, rows) if metrics else {}
        return spec_id, self.record(path, ending[1:].upper(), 0, partition, len(rows), size, **more)

    def position_deletes(self, positions, spec_id, partition, ending=".parquet", referenced=None, bounds=True, rows=None):
        """positions: [(data file, position)] as they shall stand in the file. rows: their values, in the same order."""
        fields, content = list(files.DELETE_FIELDS), [{files.FILE_PATH: p, files.POSITION: n} for p, n in positions]
        if rows is not None:
            kept = [f for f in self.fields if f["id"] in (columns.K1, columns.K2, columns.UID)]
            fields.append(fx_json.field(files.ROW, "row", fx_json.struct(*kept), True))
            content = [{**c, files.ROW: r} for c, r in zip(content, rows)]
        path = self.table.fresh("data", "-deletes" + ending)
        size = files.write(files.strip(path), fields, content, self.dice)
        more = {"referenced_data_file": referenced} if referenced else {}
        if bounds:
            paths = sorted(p for p, _ in positions)
            more.update({k: [{"key": files.FILE_PATH, "value": v.encode()}]
                         for k, v in (("lower_bounds", paths[0]), ("upper_bounds", paths[-1]))})
        return spec_id, self.record(path, ending[1:].upper(), 1, partition, len(positions), size, **more)

    def equality_deletes(self, ids, rows, spec_id, partition, ending=".parquet", fields=None):
        """rows by field id; `fields`: those in the file, which may be more than the key's."""
        fields = fields or [f for f in self.fields if f["id"] in ids]
        path = self.table.fresh("data", "-eq-deletes" + ending)
        size = files.write(files.strip(path), fields, rows, self.dice)
        return spec_id, self.record(path, ending[1:].upper(), 2, partition, len(rows), size, equality_ids=list(ids))

    def vectors(self, wanted):
        """wanted: [(entry of a data file, positions)]; one Puffin file for all. Returns what add() takes, in order."""
        path = self.table.fresh("data", "-deletes.puffin")
        places, size = files.write_puffin(files.strip(path), [(e.path, p) for e, p in wanted], self.dice)
        return [(e.spec_id, self.record(path, "PUFFIN", 1, e.partition, files.distinct(p), size, referenced_data_file=e.path,
                                        content_offset=offset, content_size_in_bytes=length))
                for (e, p), (offset, length) in zip(wanted, places)]

    def add(self, *made):
        self.added += made

    def remove(self, *entries):
        self.removed += entries

    # The commit

    def commit(self, operation, merge=False):
        """`merge`: what manifests there are is written anew as one per spec and content."""
        self.sequence = self.metadata.get("last-sequence-number", 0) + 1 if self.version >= 2 else 0
        self.snapshot_id = self.dice.getrandbits(62) | 1 << 61
        listed = self.kept_manifests(merge) + self.new_manifests()
        document = copy.deepcopy(self.metadata)
        snapshot = {"snapshot-id": self.snapshot_id, "timestamp-ms": max(int(time.time() * 1000),
                                                                         document["last-updated-ms"] + 1)}
        if self.parent:
            snapshot["parent-snapshot-id"] = self.parent["snapshot-id"]
        if self.version >= 2:
            snapshot["sequence-number"] = document["last-sequence-number"] = self.sequence
        if self.version >= 3:
            end = self.assign_row_ids(listed, document["next-row-id"])
            snapshot.update({"first-row-id": document["next-row-id"], "added-rows": end - document["next-row-id"]})
            document["next-row-id"] = end
        snapshot["manifest-list"] = self.write_list(listed)
        snapshot["summary"] = self.summary(operation, listed)
        snapshot["schema-id"] = document["current-schema-id"]
        document["snapshots"].append(snapshot)
        document.setdefault("refs", {})[self.ref] = {**document.get("refs", {}).get(self.ref, {"type": "branch"}),
                                                     "snapshot-id": self.snapshot_id}
        if self.ref == "main":
            document["current-snapshot-id"] = self.snapshot_id
            document["snapshot-log"].append({"timestamp-ms": snapshot["timestamp-ms"], "snapshot-id": self.snapshot_id})
        self.table.swap(self.old, document)
        return self.snapshot_id

    def assign_row_ids(self, listed, start):
        """First Row ID Assignment; either of the two ways of counting."""
        exact, at = self.dice.random() < 0.5, start
        for record in listed:
            if record["content"] == 1 or record.get("first_row_id") is not None:
                continue
            record["first_row_id"] = at
            at += record["added_rows_count"] + record["existing_rows_count"] if not exact else sum(
                e.file["record_count"] for e in reader.entries_of({**record, "first_row_id": None})
                if e.status != 2 and e.first_row_id is None)
        return at

    def kept_manifests(self, merge):
        gone = {e.key for e in self.removed}
        kept, again = [], {}
        for record in reader.manifests(self.parent):
            entries = reader.entries_of(record)
            live = [e for e in entries if e.status != 2]
            if not live:
                continue
            if not merge and not any(e.key in gone for e in live):
                kept.append({"content": 0, "sequence_number": 0, "min_sequence_number": 0, **record})
                continue
            group = (record["partition_spec_id"], record.get("content") or 0, None if merge else record["manifest_path"])
            again.setdefault(group, []).extend(live)
        for (spec_id, content, _), live in again.items():
            entries = [self.carried(e, 0) for e in live if e.key not in gone]
            entries += [self.carried(e, 2) for e in live if e.key in gone]
            kept.append(self.write_manifest(entries, spec_id, content))
        return kept

    def carried(self, entry, status):
        """An entry that was there before, as resolved."""
        file = {**entry.file, "partition": entry.partition}
        if self.version == 1:
            file = {k: v for k, v in file.items() if k != "content"}
        else:
            file.pop("block_size_in_bytes", None)
            file.setdefault("content", 0)
        if self.version >= 3:
            file["first_row_id"] = entry.first_row_id if not entry.content else None
        known = {f["name"] for f in fx_avro.data_file_fields(self.version, ())}
        file = {k: v for k, v in file.items() if k in known}
        result = {"status": status, "snapshot_id": self.snapshot_id if status == 2 else entry.snapshot_id, "data_file": file}
        if self.version >= 2:
            result.update({"sequence_number": entry.sequence, "file_sequence_number": entry.file_sequence})
        return result

    def new_manifests(self):
        groups = {}
        for spec_id, record in self.added:
            groups.setdefault((spec_id, 1 if record.get("content") else 0), []).append(
                {"status": 1, "snapshot_id": self.snapshot_id, "data_file": record})
        return [self.write_manifest(entries, spec_id, content) for (spec_id, content), entries in groups.items()]

    def write_manifest(self, entries, spec_id, content):
        types = [fx_avro.field(f.get("field-id", 1000 + i), f["name"], fx_avro.primitive(fx_table.partition_type(
                     reader.field_by_id(self.metadata, f["source-id"])["type"], f["transform"])), False)
                 for i, f in enumerate(self.spec(spec_id))]
        header = {"schema": json.dumps({"type": "struct", "schema-id": self.metadata["current-schema-id"],
                                        "fields": self.fields}),
                  "partition-spec": json.dumps(self.spec(spec_id)), "partition-spec-id": str(spec_id),
                  "format-version": str(self.version)}
        if self.version >= 2:
            header.update({"schema-id": str(self.metadata["current-schema-id"]),
                           "content": "deletes" if content else "data"})
        path = self.table.fresh("metadata", "-m0.avro")
        size = fx_avro.write(files.strip(path), fx_avro.entry_schema(self.version, types), entries, header=header)
        record = {"manifest_path": path, "manifest_length": size, "partition_spec_id": spec_id,
                  "added_snapshot_id": self.snapshot_id, "content": content, "sequence_number": self.sequence}
        for status, word in ((1, "added"), (0, "existing"), (2, "deleted")):
            found = [e["data_file"]["record_count"] for e in entries if e["status"] == status]
            record.update({f"{word}_files_count": len(found), f"{word}_rows_count": sum(found)})
        numbers = [e.get("sequence_number") for e in entries if e["status"] != 2]
        record["min_sequence_number"] = min((self.sequence if n is None else n for n in numbers), default=self.sequence)
        return record

    def write_list(self, listed):
        names = {f["name"] for f in fx_avro.list_schema(self.version)["fields"]}
        header = {"snapshot-id": str(self.snapshot_id), "format-version": str(self.version)}
        if self.version >= 2:
            header["sequence-number"] = str(self.sequence)
        path = self.table.fresh("metadata", "-snap.avro")
        fx_avro.write(files.strip(path), fx_avro.list_schema(self.version),
                      [{k: v for k, v in record.items() if k in names} for record in listed], header=header)
        return path

    def summary(self, operation, listed):
        live = [e for record in listed for e in reader.entries_of(record) if e.status != 2]
        result = {"operation": operation, **totals(live)}
        counts = {"added-data-files": sum(1 for _, r in self.added if not r.get("content")),
                  "added-delete-files": sum(1 for _, r in self.added if r.get("content")),
                  "added-records": sum(r["record_count"] for _, r in self.added if not r.get("content")),
                  "deleted-data-files": sum(1 for e in self.removed if not e.content),
                  "removed-delete-files": sum(1 for e in self.removed if e.content),
                  "deleted-records": sum(e.file["record_count"] for e in self.removed if not e.content)}
        return {**result, **{k: str(v) for k, v in counts.items() if v}}


def size_of(entry):
    """A deletion vector counts with its blob, any other file whole."""
    return entry.file["content_size_in_bytes"] if entry.is_vector else entry.file["file_size_in_bytes"]


def totals(live):
    """The total-… counters of a snapshot with these entries."""
    def count(content, what=lambda e: 1):
        return str(sum(what(e) for e in live if e.content == content))

    def records(entry):
        return entry.file["record_count"]

    return {"total-data-files": count(0), "total-records": count(0, records),
            "total-delete-files": str(sum(1 for e in live if e.content)),
            "total-position-deletes": count(1, records), "total-equality-deletes": count(2, records),
            "total-files-size": str(sum(map(size_of, live)))}
