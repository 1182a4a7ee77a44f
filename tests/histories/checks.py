"""What must hold after every step: the table's own books are right, and every reader that knows its features reads the model."""
import os
import re

import columns  # noqa: F401 (sets the search path)
import files
import kit
import model
import reader
import writer
from kit import check


def books(table):
    """Metadata, manifest lists and manifests of every ref agree with each other and with the files."""
    _, metadata = table.current()
    heads = {reader.head(metadata, ref)["snapshot-id"] for ref in metadata.get("refs", {})}
    for snapshot_id in heads:
        snapshot_books(metadata, reader.snapshot(metadata, snapshot_id))
    if metadata["format-version"] >= 2:
        highest = max((s.get("sequence-number", 0) for s in metadata["snapshots"]), default=0)
        check(metadata["last-sequence-number"] >= highest, "last-sequence-number is below a snapshot's")


def snapshot_books(metadata, snapshot):
    state = reader.State(metadata, snapshot)
    sequence = snapshot.get("sequence-number", 0)
    live = [*state.data, *state.deletes]
    keys = [e.key for e in live]
    check(len(keys) == len(set(keys)), f"a file is live twice: {[k for k in keys if keys.count(k) > 1][:3]}")
    for entry in live:
        path = files.strip(entry.path)
        check(os.path.isfile(path), f"live file {path} is not there")
        check(os.path.getsize(path) == entry.file["file_size_in_bytes"], f"{path}: the manifest has another size")
        check(entry.sequence <= entry.file_sequence <= sequence,
              f"{path}: data sequence number {entry.sequence}, file's {entry.file_sequence}, snapshot's {sequence}")
    for record in reader.manifests(snapshot):
        list_books(record, sequence)
    vector_books(state)
    row_id_books(metadata, snapshot, state)
    for entry in state.data:
        check(len(state.file_values(entry)) == entry.file["record_count"], f"{entry.path}: record_count")
    for name, wanted in writer.totals(live).items():
        found = snapshot.get("summary", {}).get(name)
        check(found in (None, wanted), f"summary {name} is {found}, the files say {wanted}")


def list_books(record, sequence):
    """A manifest list's counts are those of the manifest."""
    entries = reader.entries_of(record)
    for status, word in ((1, "added"), (0, "existing"), (2, "deleted")):
        of_status = [e for e in entries if e.status == status]
        for what, wanted in (("files", len(of_status)), ("rows", sum(e.file["record_count"] for e in of_status))):
            found = record.get(f"{word}_{what}_count")
            check(found in (None, wanted), f"{record['manifest_path']}: {word}_{what}_count {found}, there are {wanted}")
    live = [e.sequence for e in entries if e.status != 2]
    lowest = record.get("min_sequence_number")
    check(lowest is None or not live or lowest == min(live), f"{record['manifest_path']}: min_sequence_number {lowest}")
    check((record.get("sequence_number") or 0) <= sequence, f"{record['manifest_path']}: sequence_number")
    check(os.path.getsize(files.strip(record["manifest_path"])) == record["manifest_length"], "manifest_length")


def vector_books(state):
    """At most one vector for a data file, which is live; as many positions as it says."""
    by_path = {e.path: e for e in state.data}
    seen = set()
    for entry in (d for d in state.deletes if d.is_vector):
        check(entry.referenced not in seen, f"two deletion vectors for {entry.referenced}")
        seen.add(entry.referenced)
        data = by_path.get(entry.referenced)
        check(data is not None, f"a deletion vector for {entry.referenced}, which is not live")
        check(state.vector(data) is entry, f"{entry.path}: its vector does not reach {entry.referenced}")
        positions = state.deleted_positions(data)
        check(len(positions) == entry.file["record_count"], f"{entry.path}: cardinality")
        check(all(p < data.file["record_count"] for p in positions), f"{entry.path}: positions beyond the file's rows")


def row_id_books(metadata, snapshot, state):
    if metadata["format-version"] < 3:
        return
    if "first-row-id" not in snapshot:
        parent = snapshot.get("parent-snapshot-id")
        check(parent is None or "first-row-id" not in reader.snapshot(metadata, parent), "a snapshot of v3 has no first-row-id")
        return
    end = snapshot["first-row-id"] + snapshot["added-rows"]
    check(end <= metadata["next-row-id"], "next-row-id is below what a snapshot assigned")
    for entry in state.data:
        check(entry.first_row_id is not None, f"{entry.path} has no first row id")
        check(entry.first_row_id + entry.file["record_count"] <= metadata["next-row-id"], f"{entry.path}: first row id")
    for entry in state.deletes:
        check(entry.file.get("first_row_id") is None, f"delete file {entry.path} has a first row id")
    for record in reader.manifests(snapshot):
        check((record.get("first_row_id") is None) == bool(record.get("content")),
              f"{record['manifest_path']}: first_row_id {record.get('first_row_id')}")
    ids = [row.row_id for row in state.rows()]
    check(len(ids) == len(set(ids)), "a row id stands twice")


def replaced(table, before, ref):
    """A rewrite invents no sequence number: outputs are as old as the newest input, or as the snapshot they replace."""
    _, metadata = table.current()
    for at in reader.since(metadata, reader.head(metadata, ref), before):
        parent = reader.snapshot(metadata, at["parent-snapshot-id"]).get("sequence-number", 0)
        for entry in (e for record in reader.manifests(at) for e in reader.entries_of(record)):
            if entry.status == 1 and entry.snapshot_id == at["snapshot-id"] and not entry.content:
                check(entry.sequence <= parent, f"{entry.path}: data sequence number {entry.sequence} of a rewrite of {parent}")


def nothing_left(table):
    """No file below the table that nothing refers to and that the kit did not make: firn would have left it behind."""
    location, metadata = table.current()
    wanted = {location} | table.made | table.was_current
    for entry in metadata["snapshots"]:
        wanted.add(entry["manifest-list"])
        for record in reader.manifests(entry):
            wanted.add(record["manifest_path"])
            wanted |= {e.path for e in reader.entries_of(record)}
    there = {os.path.join(d, n) for d, _, names in os.walk(table.root) for n in names}
    left = there - {files.strip(p) for p in wanted}
    check(not left, f"left behind by firn: {sorted(left)[:5]}")


# Readers


def outside_readers(world):
    """Those that are right on what the table has used so far."""
    used, found = world.used, []
    if not used & {"avro", "avro_deletes", "equality"}:
        if "odd_paths" not in used:  # it cuts them at # and ?
            found.append("pyiceberg")
        # DuckDB takes EXISTING entries of v1 manifests, which have no sequence numbers, for mistakes. With equality deletes
        # it is wrong on null keys.
        if "upgraded_v1" not in used:
            found.append("duckdb")
    if kit.SPARK:
        found.append("spark")
        if "no_ids" not in used:
            found.append("java")
    return found


def same_as_model(world, refs=None):
    """The files, read slowly."""
    metadata = world.metadata
    for ref in refs or world.refs():
        kit.same_rows(model.lines_in_files(metadata, ref), world.model.lines(metadata, ref), f"rows in the files of {ref}")


def own_schema(metadata, ref):
    return reader.head(metadata, ref).get("schema-id")


def outside(world, refs=None, readers=None):
    metadata = world.metadata
    for name in readers or outside_readers(world):
        for ref in refs or world.refs():
            branch = metadata.get("refs", {}).get(ref, {}).get("type") != "tag"
            if ref != "main" and own_schema(metadata, ref) != metadata["current-schema-id"] and (name != "java" or not branch):
                continue  # Java reads every snapshot with the table's schema here, the others a branch with that of its snapshot
            found = model.without_lineage_of_none(kit.read(name, world.table.where, None if ref == "main" else ref))
            wanted = world.model.lines(metadata, ref)
            if not any('"_row_id":' in line for line in found):
                wanted = kit.rows.drop_lineage(wanted)
            kit.same_rows(found, model.without_lineage_of_none(wanted), f"rows of {ref} by {name}")
