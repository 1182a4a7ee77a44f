"""
What a table's rows must be: for each snapshot a dict from uid (every row has its own) to the row's values and lineage. Changes
are made to it as the operation means them; how the files hold them is not known here.
"""
import re

import columns
import files
import kit
import reader
from kit import check

LINEAGE = [f["name"] for f in files.LINEAGE_FIELDS]


class Row:
    __slots__ = ("values", "row_id", "updated")

    def __init__(self, values, row_id=None, updated=None):
        self.values, self.row_id, self.updated = values, row_id, updated


class Model:
    def __init__(self):
        self.states = {None: {}}  # by snapshot
        self.next_uid = 1

    def uid(self):
        self.next_uid += 1
        return self.next_uid - 1

    def state(self, metadata, ref="main"):
        entry = reader.head(metadata, ref)
        return self.states[entry["snapshot-id"] if entry else None]

    def adopt(self, metadata, entry, rows, changed=()):
        """
        A new snapshot has these rows (dicts of values by uid). `changed`: uids that the commit added or modified. The
        rest keeps its lineage; what is new is taken from the files, and must lie where the specification puts it.
        """
        parent = self.states[entry.get("parent-snapshot-id")]
        found = {row.values[columns.UID]: row for row in reader.State(metadata, entry).rows()}
        sequence = entry.get("sequence-number", 0)
        # A snapshot of before an upgrade to v3 may be seen only after it.
        lineage = metadata["format-version"] >= 3 and "first-row-id" in entry
        result, taken = {}, set()
        for uid, values in rows.items():
            there, before = found.get(uid), parent.get(uid)
            if there is None:
                result[uid] = Row(values)  # compare() will tell
                continue
            row_id, updated = there.row_id, there.updated
            new = before is None or (uid in changed and before.row_id != row_id)
            if lineage and (new or before.row_id is None):
                low, high = entry["first-row-id"], entry["first-row-id"] + entry["added-rows"]
                check(row_id is not None and low <= row_id < high, f"row {uid}: row id {row_id}, expected one of {low}..{high}")
            elif lineage:
                row_id = before.row_id
            if lineage and before is not None and before.row_id is not None and uid not in changed:
                updated = before.updated
            elif uid in changed:
                updated = sequence
            else:  # a rewrite of rows without lineage may move them up to the snapshot before it
                check(0 <= updated <= sequence and (before is None or updated >= (before.updated or 0)),
                      f"row {uid}: data sequence number {updated}, was {before and before.updated}")
            if lineage:
                check(row_id not in taken, f"row id {row_id} stands twice")
                taken.add(row_id)
            result[uid] = Row(values, row_id, updated)
        self.states[entry["snapshot-id"]] = result

    def learn(self, metadata, entry):
        """Snapshots up to this one that the model does not know are firn's: their rows are those of their parents."""
        unknown = []
        while entry["snapshot-id"] not in self.states:
            check(entry["summary"].get("engine-name") == "firn", f"whose is snapshot {entry['snapshot-id']}? {entry['summary']}")
            unknown.append(entry)
            entry = reader.snapshot(metadata, entry["parent-snapshot-id"])
        for new in reversed(unknown):
            parent = self.states[new["parent-snapshot-id"]]
            self.adopt(metadata, new, {uid: row.values for uid, row in parent.items()})

    # Rows as text

    def lines(self, metadata, ref="main"):
        fields, lineage = fields_of(metadata, ref), metadata["format-version"] >= 3
        return canonical(fields, [(r.values, r.row_id, r.updated) for r in self.state(metadata, ref).values()], lineage)


def fields_of(metadata, ref):
    """A branch is read with the table's schema, a tag with its snapshot's."""
    wanted = metadata["current-schema-id"]
    if metadata.get("refs", {}).get(ref, {}).get("type") == "tag":
        wanted = reader.head(metadata, ref).get("schema-id", wanted)
    return next(s["fields"] for s in metadata["schemas"] if s["schema-id"] == wanted)


def canonical(fields, rows, lineage):
    """rows: (values by id, row id, last updated). A row without an id has no lineage."""
    named = []
    for values, row_id, updated in rows:
        row = columns.named_row(fields, values)
        if lineage:
            row.update(zip(LINEAGE, (row_id, None if row_id is None else updated)))
        named.append(row)
    return kit.rows.canonical_rows(fields + kit.rows.LINEAGE_FIELDS if lineage else fields, named)


def lines_in_files(metadata, ref="main"):
    """The rows as the files have them, by the slow reader."""
    found = reader.State(metadata, reader.head(metadata, ref)).rows()
    return canonical(fields_of(metadata, ref), [(r.values, r.row_id, r.updated) for r in found],
                     metadata["format-version"] >= 3)


def without_lineage_of_none(lines):
    """Readers differ in what a row without id was updated by."""
    return sorted((re.sub(r'"_row_id":null,"_last_updated_sequence_number":\d+}$',
                          '"_row_id":null,"_last_updated_sequence_number":null}', line) for line in lines),
                  key=lambda line: line.encode())
