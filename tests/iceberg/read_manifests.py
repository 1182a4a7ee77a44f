"""Prints what PyIceberg reads of a manifest list and of the manifests in it, one line a manifest or entry."""
import decimal
import sys
import uuid

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import read_manifest_list


def text(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "%.9g" % value
    if isinstance(value, decimal.Decimal):
        return str(int("".join(map(str, value.as_tuple().digits)))) + ("-" if value.is_signed() else "+")
    if isinstance(value, uuid.UUID):
        return value.bytes.hex()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str):
        return value.encode().hex()
    return str(value)


def signed(value):
    # PyIceberg's compiled decoder drops the sign of numbers in maps.
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


def pairs(values):
    return "null" if values is None else "{" + " ".join(f"{k}:{text(signed(v))}" for k, v in values.items()) + "}"


io = PyArrowFileIO()
for manifest in read_manifest_list(io.new_input(sys.argv[1])):
    print("manifest", int(manifest.content), manifest.partition_spec_id, manifest.sequence_number,
          manifest.min_sequence_number, manifest.added_snapshot_id, manifest.added_files_count,
          manifest.existing_files_count, manifest.deleted_files_count, manifest.added_rows_count,
          manifest.existing_rows_count, manifest.deleted_rows_count, len(manifest.partitions))
    for p in manifest.partitions:
        print("summary", text(p.contains_null), text(p.contains_nan), text(p.lower_bound), text(p.upper_bound))
    for e in manifest.fetch_manifest_entry(io, discard_deleted=False):
        f = e.data_file
        print("entry", int(e.status), e.snapshot_id, e.sequence_number, e.file_sequence_number, int(f.content),
              f.file_path, f.record_count, f.file_size_in_bytes)
        print("metrics", pairs(f.column_sizes), pairs(f.value_counts), pairs(f.null_value_counts),
              pairs(f.nan_value_counts), pairs(f.lower_bounds), pairs(f.upper_bounds))
        print("more", text(f.key_metadata), f.split_offsets, f.equality_ids, f.sort_order_id)
        print("partition", *[text(f.partition[i]) for i in range(len(f.partition))])
