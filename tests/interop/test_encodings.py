"""
What firn chooses where a table says `write.parquet.page-version` v2 (deltas where they pay), behind every codec that a table may name: compacted, such
tables read as before, by each outside reader.
"""
import os
import random
import shutil
import tempfile

import kit
import pyarrow as pa
import pyarrow.parquet as pq

READERS = ("pyiceberg", "duckdb")
JAVA_READERS = ("spark", "java") if kit.SPARK else ()
NOT_IN_JAVA = ("brotli",)  # Spark comes without that codec
CODECS = {"zstd": "ZSTD", "gzip": "GZIP", "snappy": "SNAPPY", "lz4": "LZ4", "brotli": "BROTLI", "uncompressed": "UNCOMPRESSED"}
ROWS = 3000


def batch(number):
    """Columns of which no dictionary pays: each has a form that suits it."""
    dice = random.Random(number)
    ids = [number * ROWS + i for i in range(ROWS)]
    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "small": pa.array([None if i % 7 == 0 else i * 3 + dice.randrange(3) for i in ids], pa.int32()),
        "path": pa.array([f"s3://bucket/warehouse/events/part-{i:09}/data.parquet" for i in ids], pa.string()),
        "text": pa.array([None if i % 11 == 0 else "%x" % dice.getrandbits(dice.randrange(8, 160)) for i in ids], pa.string()),
        "score": pa.array([dice.gauss(0, 1) for _ in ids], pa.float64()),
        "at": pa.array([1_700_000_000_000_000 + i * 1000 + dice.randrange(1000) for i in ids], pa.timestamp("us", tz="UTC")),
        "tags": pa.array([[i, i + 1] if i % 3 else None for i in ids], pa.list_(pa.int64())),
    })


def chunks_of(path):
    """(column, encodings but for levels and dictionaries, codec, page version) of each column chunk."""
    metadata = pq.read_metadata(path)
    with open(path, "rb") as file:
        data = file.read()
    for i in range(metadata.num_row_groups):
        for j in range(metadata.num_columns):
            column = metadata.row_group(i).column(j)
            start = data[column.data_page_offset:column.data_page_offset + 2]  # PageHeader's field 1, an i32: the page's type
            kit.check(start in (b"\x15\x00", b"\x15\x06"), f"{path}: {column.path_in_schema} begins with no data page: {start}")
            yield column.path_in_schema, set(column.encodings) - {"RLE", "BIT_PACKED"}, column.compression, 1 if start[1] == 0 else 2


def check_chunks(path, codec):
    found = list(chunks_of(path))
    for name, encodings, compression, version in found:
        kit.check(compression == CODECS[codec], f"{codec}: {name} is compressed by {compression}")
        kit.check(version == 2, f"{codec}: {name} has v1 pages")
        if name in ("id", "small", "at", "tags.list.element"):
            kit.check(encodings == {"DELTA_BINARY_PACKED"}, f"{codec}: {name} is {encodings}")
        if name == "path" and codec in ("zstd", "gzip", "brotli"):
            kit.check(encodings == {"DELTA_BYTE_ARRAY"}, f"{codec}: {name} is {encodings}")


def compacted(codec):
    folder = tempfile.mkdtemp(prefix="firn-encodings-")
    try:
        catalog = kit.sql_catalog(folder)
        catalog.create_namespace("db")
        properties = {"write.parquet.page-version": "v2", "write.parquet.compression-codec": codec}
        table = catalog.create_table("db.t", schema=batch(0).schema, properties=properties)
        paths = [os.path.join(folder, f"{i}.parquet") for i in range(6)]
        for i, path in enumerate(paths):
            pq.write_table(batch(i), path, use_dictionary=False, compression="zstd")
        table.add_files(paths)
        database = os.path.join(folder, "catalog.db")
        where = f"{database}:db.t"
        readers = READERS if codec in NOT_IN_JAVA else READERS + JAVA_READERS
        before = {reader: kit.read(reader, where) for reader in readers}
        kit.check(kit.firn_json("compact", "db.t", "--catalog", database, "--verify", "--yes")["committed"], "nothing was committed")
        live = [path.replace("file://", "") for path in kit.live_files(where)]
        kit.check(len(live) == 1, f"{len(live)} files are left")
        check_chunks(live[0], codec)
        for reader in readers:
            kit.same_rows(kit.read(reader, where), before[reader], f"{codec}: rows by {reader}")
        kit.check(not kit.firn_json("compact", "db.t", "--catalog", database, "--yes")["committed"], "the second run found something to do")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def deprecated_lz4():
    """Files with Hadoop's LZ4 frames, which are not written any more, in a table that says nothing of a codec."""
    folder = tempfile.mkdtemp(prefix="firn-encodings-")
    try:
        paths = [os.path.join(folder, f"{i}.parquet") for i in range(5)]
        for path in paths:
            shutil.copy(os.path.join(kit.CORPUS, "parquet", "hadoop_lz4_compressed_larger.parquet"), path)
        catalog = kit.sql_catalog(folder)
        catalog.create_namespace("db")
        catalog.create_table("db.t", schema=pq.read_schema(paths[0]).remove_metadata()).add_files(paths)
        database = os.path.join(folder, "catalog.db")
        where = f"{database}:db.t"
        before = kit.read("pyiceberg", where)  # DuckDB reads no such files
        kit.check(kit.firn_json("compact", "db.t", "--catalog", database, "--verify", "--yes")["committed"], "nothing was committed")
        live = [path.replace("file://", "") for path in kit.live_files(where)]
        codecs = {codec for path in live for _, _, codec, _ in chunks_of(path)}
        kit.check(len(live) == 1 and codecs == {"ZSTD"}, f"{len(live)} files, {codecs}")
        for reader in READERS:
            kit.same_rows(kit.read(reader, where), before, f"rows by {reader}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


kit.main([(codec, compacted, codec) for codec in CODECS] + [deprecated_lz4])
