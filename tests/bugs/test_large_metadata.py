"""Public reports about metadata that grew: memory stays within a small multiple of the file."""
import json
import os
import resource
import subprocess
import sys
import time

import bugkit
import fx_json
import fx_table
import kit
from bugkit import check, equal

SNAPSHOTS = int(os.environ.get("FIRN_LARGE_SNAPSHOTS", "200000"))
SCHEMAS = int(os.environ.get("FIRN_LARGE_SCHEMAS", "5000"))
MULTIPLE = 8  # of the file's size, besides what a small table takes; the report saw 16


def grown(table):
    """The table's metadata with many snapshots and many schemas."""
    fields = [fx_json.field(i, f"column_{i:04d}", "long" if i % 2 else "string") for i in range(1, 61)]
    document = fx_json.metadata(2, table.location, fields)
    document["schemas"] = [fx_json.schema(fields[:40 + i % 20], i) for i in range(SCHEMAS)]
    document["current-schema-id"] = SCHEMAS - 1
    document["snapshots"] = [fx_json.snapshot(
        10 ** 18 + i, f"{table.location}/metadata/snap-{10 ** 18 + i}-1-0000.avro", i + 1,
        None if i == 0 else 10 ** 18 + i - 1, fx_json.NOW + i, schema_id=i % SCHEMAS,
        **{"summary": {"operation": "append", "added-data-files": "1", "added-records": "100",
                       "added-files-size": "1234", "changed-partition-count": "1", "total-records": str(100 * i),
                       "total-files-size": "1", "total-data-files": str(i), "total-delete-files": "0",
                       "total-position-deletes": "0", "total-equality-deletes": "0"}}) for i in range(SNAPSHOTS)]
    document["snapshot-log"] = [{"timestamp-ms": fx_json.NOW + i, "snapshot-id": 10 ** 18 + i} for i in range(SNAPSHOTS)]
    last = document["snapshots"][-1]
    document["current-snapshot-id"] = last["snapshot-id"]
    document["refs"] = {"main": {"snapshot-id": last["snapshot-id"], "type": "branch"}}
    document["last-sequence-number"] = SNAPSHOTS
    document["last-updated-ms"] = fx_json.NOW + SNAPSHOTS
    last["manifest-list"] = table.manifest_list([])
    return document


def run(arguments, limit):
    """Runs firn under an address-space limit; returns (exit, stdout, stderr, seconds)."""
    command = [kit.FIRN, *arguments]
    start = time.time()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err.decode(errors="replace"), time.time() - start


def peak(arguments):
    """Peak resident bytes of a run: those of the only child of a child."""
    code = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(r.returncode)")
    done = subprocess.run([sys.executable, "-c", code, kit.FIRN, *arguments], stdout=subprocess.PIPE, check=True)
    return int(done.stdout.split()[-1])


def report_15_memory_of_large_metadata():
    """Report 15, apache/iceberg-python#3162: 200,000 snapshots and 5,000 schemas take a small multiple of the file's size."""
    table = fx_table.Table(2)
    table.metadata = grown(table)
    path = table.save()
    size = os.path.getsize(path)
    small = fx_table.Table(2)
    small.save()
    fixed = peak(["describe", *small.arguments])
    found = peak(["describe", *table.arguments])
    print(f"  file {size / 2 ** 20:.0f} MiB; peak {found / 2 ** 20:.0f} MiB = {found / size:.1f}x; "
          f"a small table {fixed / 2 ** 20:.0f} MiB")
    sanitized = b"__asan_init" in open(kit.FIRN, "rb").read()
    if not sanitized:  # a sanitizer's shadow counts for both
        check(found - fixed < MULTIPLE * size, f"peak {found} of a file of {size} bytes")
        code, out, err, seconds = run(["describe", *table.arguments, "--json"], MULTIPLE * size + (256 << 20))
        equal(code, 0, f"under the limit: {err}")
        equal(json.loads(out)["snapshot_count"], SNAPSHOTS, "snapshots")
        equal(json.loads(out)["schema_count"], SCHEMAS, "schemas")
        print(f"  {seconds:.1f} s")
        check(seconds < 60, f"took {seconds} s")
        # Too little memory is an error, not a crash.
        code, _, err, _ = run(["describe", *table.arguments], size + (24 << 20))
        check(code == 1 and "memory" in err, f"exit {code}: {err}")


def report_15_gzip():
    """Report 15, apache/iceberg PR#17219: the same document in gzip takes no more than its decompressed size asks for."""
    import gzip
    table = fx_table.Table(2)
    table.metadata = grown(table)
    text = fx_json.dumps(table.metadata).encode()
    path = table.path("metadata", "00001-a.gz.metadata.json")
    with open(path, "wb") as file:
        file.write(gzip.compress(text, 1))
    table.point_at(path)
    found = peak(["describe", *table.arguments])
    print(f"  {os.path.getsize(path) / 2 ** 20:.0f} MiB of gzip, {len(text) / 2 ** 20:.0f} MiB of text; "
          f"peak {found / 2 ** 20:.0f} MiB")
    if b"__asan_init" not in open(kit.FIRN, "rb").read():
        check(found < (MULTIPLE + 1) * len(text) + (64 << 20), f"peak {found} of {len(text)} bytes of text")


if __name__ == "__main__":
    bugkit.main([report_15_memory_of_large_metadata, report_15_gzip])
