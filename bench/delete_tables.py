"""
Tables with deletes for deletes.py, by outside writers: data and delete files by PyArrow, metadata by PyIceberg (which writes no delete files itself, so
a manifest of deletes is made here from its own parts).
"""
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import (DataFile, DataFileContent, FileFormat, ManifestContent, ManifestEntry, ManifestEntryStatus,
                                ManifestWriterV2)
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import Record
from pyiceberg.types import DoubleType, IntegerType, ListType, LongType, NestedField, StringType, StructType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "customer", StringType()),
                NestedField(3, "mode", StringType()), NestedField(4, "amount", DoubleType()),
                NestedField(5, "changed", LongType()))
FILE_PATH_ID, POS_ID = 2147483546, 2147483545
MODES = np.array(["AIR", "FOB", "MAIL", "RAIL", "SHIP", "TRUCK"])


EQUALITY_IDS = NestedField(135, "equality_ids", ListType(136, IntegerType(), element_required=True), required=False)


def with_int_ids(kind):
    """PyIceberg declares equality_ids as long; the specification says int, and Java reads nothing else."""
    return StructType(*[EQUALITY_IDS if f.field_id == EQUALITY_IDS.field_id else f for f in kind.fields])


class DeleteManifestWriter(ManifestWriterV2):
    def content(self):
        return ManifestContent.DELETES

    def _with_partition(self, format_version):
        fields = super()._with_partition(format_version).fields
        return Schema(*[NestedField(f.field_id, f.name, with_int_ids(f.field_type), f.required) if f.name == "data_file" else f
                        for f in fields])

    @property
    def _meta(self):
        return {**super()._meta, "content": "deletes"}


class RowDelta(_FastAppendFiles):
    """Adds data files and delete files in one snapshot."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.deletes = []

    def _manifests(self):
        manifests = super()._manifests()
        if not self.deletes:
            return manifests
        writer = DeleteManifestWriter(self._transaction.table_metadata.spec(), self._transaction.table_metadata.schema(),
                                      self.new_manifest_output(), self._snapshot_id, self._compression)
        with writer:
            for file in self.deletes:
                writer.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=self._snapshot_id,
                                                   sequence_number=None, file_sequence_number=None, data_file=file))
        return manifests + [writer.to_manifest_file()]


def row_delta(table, data, deletes):
    transaction = table.transaction()
    delta = RowDelta(Operation.OVERWRITE, transaction, table.io)
    for file in data:
        delta.append_data_file(file)
    delta.deletes = deletes
    updates, requirements = delta._commit()
    transaction._apply(updates, requirements)
    return transaction.commit_transaction()


def entry(path, content, rows, **more):
    file = DataFile.from_args(content=content, file_path=path, file_format=FileFormat.PARQUET, partition=Record(),
                              record_count=rows, file_size_in_bytes=os.path.getsize(path), **more)
    file.spec_id = 0
    return file


def with_ids(schema, ids):
    return pa.schema([f.with_metadata({b"PARQUET:field_id": str(i).encode()}) for f, i in zip(schema, ids)])


def rows_of(ids, seed, changed):
    dice = np.random.default_rng(seed)
    table = pa.table({"id": pa.array(ids, pa.int64()),
                      "customer": pa.array([f"customer {n}" for n in dice.integers(0, 50000, len(ids))]),
                      "mode": pa.array(MODES[dice.integers(0, len(MODES), len(ids))].tolist()),
                      "amount": pa.array(dice.integers(0, 10**7, len(ids)) / 100.0),
                      "changed": pa.array([changed] * len(ids), pa.int64())})
    return table.cast(with_ids(table.schema, [1, 2, 3, 4, 5]))


def write(table, path):
    pq.write_table(table, path, compression="zstd")
    return path


def new_table(folder, name):
    shutil.rmtree(folder, ignore_errors=True)
    data = os.path.join(folder, "warehouse", "bench", name, "data")
    os.makedirs(data)
    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("bench")
    table = catalog.create_table(f"bench.{name}", schema=SCHEMA, location=os.path.join(folder, "warehouse", "bench", name),
                                 properties={"write.parquet.compression-codec": "zstd"})
    return table, data


def append(table, data, files, ids_of):
    entries = []
    for i in range(files):
        ids = ids_of(i)
        path = write(rows_of(ids, i, 0), os.path.join(data, f"input-{i:05d}.parquet"))
        entries.append(entry(path, DataFileContent.DATA, len(ids)))
    row_delta(table, entries, [])


def equality_delete(data, name, keys):
    schema = with_ids(pa.schema([pa.field("id", pa.int64(), nullable=False)]), [1])
    path = write(pa.table({"id": pa.array(keys, pa.int64())}, schema=schema), os.path.join(data, name))
    return entry(path, DataFileContent.EQUALITY_DELETES, len(keys), equality_ids=[1])


def upserts(folder, rows, commits, keys_each):
    """Rows in 20 files; each commit deletes keys by equality and inserts half of them again."""
    table, data = new_table(folder, "upserts")
    dice = np.random.default_rng(7)
    each = rows // 20
    append(table, data, 20, lambda i: np.arange(i * each, (i + 1) * each))
    for commit in range(commits):
        keys = dice.choice(each * 20, keys_each, replace=False)
        again = np.sort(keys[:keys_each // 2])
        path = write(rows_of(again, 1000 + commit, commit + 1), os.path.join(data, f"upsert-{commit:03d}.parquet"))
        row_delta(table, [entry(path, DataFileContent.DATA, len(again))],
                  [equality_delete(data, f"delete-{commit:03d}.parquet", keys)])


def scattered(folder, files, rows, share):
    """Files of rows, a share of which is deleted by position, one delete file per data file."""
    table, data = new_table(folder, "scattered")
    dice = np.random.default_rng(7)
    append(table, data, files, lambda i: np.arange(i * rows, (i + 1) * rows))
    schema = with_ids(pa.schema([pa.field("file_path", pa.string(), nullable=False),
                                 pa.field("pos", pa.int64(), nullable=False)]), [FILE_PATH_ID, POS_ID])
    deletes = []
    for i in range(files):
        path = os.path.join(data, f"input-{i:05d}.parquet")
        positions = np.sort(dice.choice(rows, int(rows * share), replace=False))
        file = write(pa.table({"file_path": pa.array([path] * len(positions)), "pos": pa.array(positions, pa.int64())},
                              schema=schema), os.path.join(data, f"delete-{i:05d}.parquet"))
        bounds = {FILE_PATH_ID: path.encode()}
        deletes.append(entry(file, DataFileContent.POSITION_DELETES, len(positions), lower_bounds=bounds, upper_bounds=bounds))
    row_delta(table, [], deletes)


def many_keys(folder, keys):
    """As many keys deleted by equality as there are, in ten files, from a table of a tenth more rows."""
    table, data = new_table(folder, "keys")
    dice = np.random.default_rng(7)
    rows = keys + keys // 10
    each = rows // 20
    append(table, data, 20, lambda i: np.arange(i * each, (i + 1) * each))
    gone = dice.permutation(each * 20)[:keys]
    parts = np.array_split(gone, 10)
    row_delta(table, [], [equality_delete(data, f"delete-{i:03d}.parquet", part) for i, part in enumerate(parts)])


def live_rows(folder, name):
    """(count, a sum over hashes) of the rows that are left, from the files and what this module knows of them: never by a reader of deletes."""
    import duckdb
    data = os.path.join(folder, "warehouse", "bench", name, "data")
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(f"CREATE VIEW inputs AS SELECT *, 0 AS made FROM read_parquet('{data}/input-*.parquet', "
                       "filename = 'path', file_row_number = true)")
    if name == "scattered":
        left = (f"SELECT * FROM inputs ANTI JOIN read_parquet('{data}/delete-*.parquet') d "
                "ON inputs.path = d.file_path AND inputs.file_row_number = d.pos")
    else:
        connection.execute("CREATE TABLE gone (id BIGINT, round INTEGER)")
        deletes = sorted(n for n in os.listdir(data) if n.startswith("delete-"))
        for number, file in enumerate(deletes):
            connection.execute(f"INSERT INTO gone SELECT id, {number + 1} FROM read_parquet('{data}/{file}')")
        source = "SELECT id, customer, mode, amount, changed, made FROM inputs"
        if any(n.startswith("upsert-") for n in os.listdir(data)):
            source += (" UNION ALL SELECT id, customer, mode, amount, changed, changed AS made FROM "
                       f"read_parquet('{data}/upsert-*.parquet')")
        left = (f"SELECT r.* FROM ({source}) r LEFT JOIN (SELECT id, max(round) AS round FROM gone GROUP BY id) g USING (id) "
                "WHERE g.round IS NULL OR g.round <= r.made")
    return connection.execute(FINGERPRINT.format(f"({left})")).fetchall()


FINGERPRINT = "SELECT count(*), sum(hash(id, customer, mode, amount, changed)::HUGEINT) FROM {0}"
