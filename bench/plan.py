"""
plan.py FIRN: planning a table of many files, written by PyIceberg: 100,000 data files of ten columns in 1,000 manifests at BENCH_SCALE 1, a day of data in each manifest.

Asked: planning all of it takes at most 3 times the CPU time of decompressing the manifests' blocks with zlib (a small table takes too little time to tell), and less
than 200 MB; planning one day with --where opens exactly one manifest, whatever the size of the table. Ends with 1 when one of these is missed.
"""
import json
import os
import sys
import time
import uuid
import zlib

from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestEntry, ManifestEntryStatus, write_manifest, write_manifest_list
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.typedef import Record
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestampType

from measure import measured

FIRN = os.path.realpath(sys.argv[1])
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
FOLDER = os.path.join(os.environ["BENCH_DIR"], "plan")
ROUNDS = int(os.environ.get("BENCH_PAIRS", "5"))
MANIFESTS = max(2, round(1000 * SCALE))
FILES = 100
FIRST_DAY = 18000  # 2019-04-14
SNAPSHOT = 4242
SIZE = 512 << 20  # as large as the target: there is nothing to rewrite, so no footer is read

TYPES = [("id", LongType()), ("ts", TimestampType()), ("name", StringType()), ("city", StringType()), ("price", DoubleType()),
         ("count", LongType()), ("ratio", DoubleType()), ("note", StringType()), ("parent", LongType()), ("updated", TimestampType())]
SCHEMA = Schema(*(NestedField(i + 1, name, kind, required=False) for i, (name, kind) in enumerate(TYPES)))
SPEC = PartitionSpec(PartitionField(2, 1000, DayTransform(), "ts_day"), spec_id=0)


def bounds(number, high):
    """Of the ten columns, for one file."""
    values = {}
    for i, (_, kind) in enumerate(TYPES):
        if isinstance(kind, StringType):
            value = f"{'zyx' if high else 'abc'}-{number * 7919 % 1000003:07}"
        elif isinstance(kind, DoubleType):
            value = number / 7 + (100.5 if high else 0)
        elif isinstance(kind, TimestampType):
            value = ((FIRST_DAY + number // FILES) * 86400 + (86399 if high else number % 3600)) * 1_000_000
        else:
            value = number * 1000 + (999 if high else 0)
        values[i + 1] = to_bytes(kind, value)
    return values


def data_file(number):
    rows = 1_000_000 + number
    ids = range(1, len(TYPES) + 1)
    return DataFile.from_args(
        content=DataFileContent.DATA, file_path=f"{FOLDER}/data/ts_day={number // FILES}/{uuid.UUID(int=number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)}.parquet",
        file_format=FileFormat.PARQUET, partition=Record(FIRST_DAY + number // FILES), record_count=rows, file_size_in_bytes=SIZE - number,
        column_sizes={i: SIZE // 10 - number * i % 4096 for i in ids}, value_counts=dict.fromkeys(ids, rows), null_value_counts={i: number * i % 97 for i in ids},
        nan_value_counts={5: 0, 7: 0}, lower_bounds=bounds(number, False), upper_bounds=bounds(number, True), split_offsets=[4, 134217732, 268435460], sort_order_id=0)


def make_table():
    os.makedirs(f"{FOLDER}/metadata", exist_ok=True)
    io = PyArrowFileIO()
    manifests = []
    for m in range(MANIFESTS):
        with write_manifest(2, SPEC, SCHEMA, io.new_output(f"{FOLDER}/metadata/{m:05}.avro"), SNAPSHOT, "deflate") as writer:
            for n in range(m * FILES, (m + 1) * FILES):
                writer.add_entry(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=SNAPSHOT, sequence_number=None, file_sequence_number=None, data_file=data_file(n)))
        manifests.append(writer.to_manifest_file())
    with write_manifest_list(2, io.new_output(f"{FOLDER}/metadata/snap.avro"), SNAPSHOT, None, 1, "deflate") as writer:
        writer.add_manifests(manifests)
    now = int(time.time() * 1000)
    metadata = {
        "format-version": 2, "table-uuid": str(uuid.uuid4()), "location": FOLDER, "last-sequence-number": 1, "last-updated-ms": now, "last-column-id": len(TYPES),
        "schemas": [json.loads(SCHEMA.model_dump_json())], "current-schema-id": 0, "partition-specs": [json.loads(SPEC.model_dump_json())], "default-spec-id": 0,
        "last-partition-id": 1000, "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "properties": {}, "current-snapshot-id": SNAPSHOT,
        "snapshots": [{"snapshot-id": SNAPSHOT, "sequence-number": 1, "timestamp-ms": now, "manifest-list": f"{FOLDER}/metadata/snap.avro", "summary": {"operation": "append"}, "schema-id": 0}],
        "refs": {"main": {"snapshot-id": SNAPSHOT, "type": "branch"}}, "snapshot-log": [], "metadata-log": []}
    with open(f"{FOLDER}/metadata/v1.metadata.json", "w", encoding="utf-8") as file:
        json.dump(metadata, file)


def take_long(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value >> 1 ^ -(value & 1), at


def blocks_of(path):
    """The compressed blocks of an Avro object container file."""
    with open(path, "rb") as file:
        data = file.read()
    at, blocks = 4, []
    while (pairs := take_long(data, at))[0] != 0:
        at = pairs[1]
        for _ in range(2 * pairs[0]):
            size, at = take_long(data, at)
            at += size
    at = pairs[1] + 16
    while at < len(data):
        _, at = take_long(data, at)
        size, at = take_long(data, at)
        blocks.append(data[at:at + size])
        at += size + 16
    return blocks


def decompress_seconds():
    """CPU time of decompressing every manifest's blocks, and their bytes; the fastest of the rounds."""
    blocks = [block for m in range(MANIFESTS) for block in blocks_of(f"{FOLDER}/metadata/{m:05}.avro")]
    best, size = None, 0
    for _ in range(ROUNDS):
        start = time.process_time()
        size = sum(len(zlib.decompress(block, -15)) for block in blocks)
        taken = time.process_time() - start
        best = taken if best is None else min(best, taken)
    return best, size


def run(*arguments):
    """Fastest CPU time, highest peak and the document of `firn plan`."""
    results = [measured([FIRN, "plan", FOLDER, "--json", *arguments]) for _ in range(ROUNDS)]
    return min(r[1] for r in results), max(r[2] for r in results), json.loads(results[0][3])


def main():
    if not os.path.exists(f"{FOLDER}/metadata/v1.metadata.json"):
        make_table()
    floor, size = decompress_seconds()
    start_up = min(measured([FIRN, "help"])[1] for _ in range(ROUNDS))
    cpu, peak, whole = run()
    day = "ts >= '2019-04-15' and ts < '2019-04-16'"
    day_cpu, day_peak, part = run("--where", day)
    ratio = (cpu - start_up) / floor
    print(f"\nplanning {MANIFESTS * FILES} files in {MANIFESTS} manifests ({size / 1e6:.0f} MB decompressed):")
    print(f"  all of it: {cpu:.3f} s CPU; decompressing takes {floor:.3f} s: {ratio:.2f} times (asked: at most 3); peak {peak:.0f} MB (asked: below 200)")
    print(f"  one day: {day_cpu:.3f} s CPU, peak {day_peak:.0f} MB, {part['plan']['manifests_opened']} of {part['plan']['manifests']} manifests opened (asked: 1)")
    whole, part = whole["plan"], part["plan"]
    right = whole["manifests_opened"] == MANIFESTS and part["manifests_opened"] == 1 and part["manifests"] == MANIFESTS
    return 0 if right and (ratio <= 3 or SCALE < 0.5) and peak < 200 else 1


sys.exit(main())
