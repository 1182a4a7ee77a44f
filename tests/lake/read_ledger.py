"""Reads a segment of test_ledger_rebuild.c with the tests' own Avro reader and with PyIceberg's, and compares it with what was given."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bugs"))
try:
    import fx_avro
    from pyiceberg.avro.file import AvroFile
    from pyiceberg.io.pyarrow import PyArrowFileIO
except ImportError as problem:
    print(problem)
    sys.exit(77)

NAMES = ("location", "unit", "etag", "size", "modified_ns", "rows", "snapshot_id", "sequence_number", "removed")
EXPECTED = [
    ("s3://x/ä=1/a.parquet", "u1", '"q"', None, None, None, 4711, 7, True),
    ("/lake/b.parquet", "u2", None, 3, 1700000000123456789, 4, 4711, 7, False),
]

header, records = fx_avro.read(sys.argv[1])
assert header["firn.ledger.version"] == "1" and header["firn.ledger.entries"] == "2", header
assert [tuple(record[name] for name in NAMES) for record in records] == EXPECTED, records
assert all(record["added_ms"] > 0 for record in records)

with AvroFile(PyArrowFileIO().new_input(sys.argv[1])) as file:
    assert [field.field_id for field in file.schema.fields] == list(range(1, 11)), file.schema
    rows = [tuple(record[i] for i in range(len(NAMES))) for record in file]
assert rows == EXPECTED, rows
