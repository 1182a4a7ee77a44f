"""
Reads with PyIceberg the table that test_added_manifests.c made: every entry by itself, and files planned for filters, which rest on
the manifest list's partition summaries, against the same filters held against the entries. Arguments: catalog, warehouse.
"""
import sys

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo, GreaterThan, IsNull, LessThan, NotNull

table = SqlCatalog("c", uri=f"sqlite:///{sys.argv[1]}", warehouse=sys.argv[2]).load_table("db.t")
snapshot = table.current_snapshot()
entries = [e for m in snapshot.manifests(table.io) for e in m.fetch_manifest_entry(table.io)]
partitions = {e.data_file.file_path: (e.data_file.partition[0], e.data_file.partition[1]) for e in entries}
assert len(partitions) == len(entries), "a file is there twice"
assert all(e.snapshot_id == snapshot.snapshot_id for e in entries if "/f0" in e.data_file.file_path), "snapshot ids"
ours = [e for e in entries if "/f0" in e.data_file.file_path]
if table.format_version > 1:
    assert all(e.sequence_number == snapshot.sequence_number for e in ours), "sequence numbers"
assert sum(e.data_file.record_count for e in ours) == int(snapshot.summary["added-records"]), "records"
assert sum(e.data_file.file_size_in_bytes for e in ours) == int(snapshot.summary["added-files-size"]), "bytes"
assert table.properties["firn.test"] == "set", table.properties

# Files without rows are never planned; metrics of columns, which could rule out more, the entries have none.
empty = {e.data_file.file_path for e in entries if e.data_file.record_count == 0}
texts = sorted({s for s, _ in partitions.values() if s is not None})
numbers = sorted({x for _, x in partitions.values() if x is not None})
filters = [(IsNull("s"), lambda s, x: s is None), (NotNull("s"), lambda s, x: s is not None),
           (IsNull("x"), lambda s, x: x is None), (NotNull("x"), lambda s, x: x is not None)]
for text in texts:
    filters += [(EqualTo("s", text), lambda s, x, t=text: s == t), (GreaterThan("s", text), lambda s, x, t=text: s is not None and s > t)]
for number in numbers:
    filters += [(EqualTo("x", number), lambda s, x, n=number: x == n), (LessThan("x", number), lambda s, x, n=number: x is not None and x < n)]
for expression, holds in filters:
    planned = {task.file.file_path for task in table.scan(row_filter=expression).plan_files()}
    wanted = {path for path, values in partitions.items() if holds(*values) and path not in empty}
    assert planned == wanted, f"{expression}: {len(planned)} files, expected {len(wanted)}"
print(f"{len(entries)} entries, {len(filters)} filters")
