"""
`--memory` bounds what rewrite-deletes and compact hold: data files with so many deleted rows that their positions together take several
times the limit, and one file whose positions alone do. But for the latter the data files only claim their rows, since deletes are
resolved without reading them. A limit changes nothing about which deletes are in use.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import duckdb
import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

import columns  # noqa: F401 (sets the search path)
import files
import fx_json
import kit
import writer

with open(kit.FIRN, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()  # slower by far, and its shadow counts as memory
DATA_FILES, POSITIONS = 24, 1 << (11 if SANITIZED else 16)
# Of one file. A sixteenth of the rows goes, so that positions take a bit a row.
ROWS, GROUP_ROWS = (1 << 21, 1 << 18) if SANITIZED else (1 << 27, 1 << 23)
MIB = 1 << 20


def delete_file(change, data, positions, **named):
    path = change.table.fresh("data", "-deletes.parquet")
    paths = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * len(positions), "int32"), [data])
    schema = pyarrow.schema([
        pyarrow.field("file_path", pyarrow.string(), False, {"PARQUET:field_id": str(files.FILE_PATH)}),
        pyarrow.field("pos", pyarrow.int64(), False, {"PARQUET:field_id": str(files.POSITION)})])
    columns_ = [paths.cast(pyarrow.string()), pyarrow.array(positions, "int64")]
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(columns_, schema=schema), files.strip(path))
    size = os.path.getsize(files.strip(path))
    return 0, change.record(path, "PARQUET", 1, [], len(positions), size, **named)


def make(folder, version):
    """Rows far apart: each position takes a container of its own in memory."""
    fields = [fx_json.field(1, "id", "long", True)]
    table = writer.Table(folder, version=2, fields=fields)
    change = table.change()
    for _ in range(DATA_FILES):
        spec_id, record = change.data_file([{1: 1}], 0, [], metrics=False)
        change.add((spec_id, {**record, "record_count": POSITIONS << 16}))
    paths = [record["file_path"] for _, record in change.added]
    change.commit("append")
    change = table.change()
    wanted = set()
    for number, path in enumerate(paths):
        positions = [(at << 16) + (at + number) % 65536 for at in range(POSITIONS)]
        wanted |= {(path, positions[at]) for at in range(0, POSITIONS, 4099)}
        for half in (positions[:POSITIONS // 2], positions[POSITIONS // 2:]):
            change.add(delete_file(change, path, half, referenced_data_file=path))
    change.commit("delete")
    if version == 3:
        kit.firn("upgrade", *table.arguments, "--to", 3, "--yes")
    return table, wanted


def peak(*arguments):
    """Most memory of a run, in bytes."""
    script = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(r.returncode)")
    done = subprocess.run([sys.executable, "-c", script, kit.FIRN, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    kit.check(done.returncode == 0, f"exit {done.returncode}\n{done.stderr[-2000:]}")
    return int(done.stdout)


def check_outcome(table, wanted, version):
    deletes = table.state().deletes
    kit.check(sum(e.file["record_count"] for e in deletes) == DATA_FILES * POSITIONS, "other rows are deleted than before")
    if version == 3:
        kit.check(len(deletes) == DATA_FILES and all(e.is_vector for e in deletes), f"{len(deletes)} delete files")
        one = deletes[0]
        found = files.read_vector(files.strip(one.path), one.file["content_offset"], one.file["content_size_in_bytes"])
        kit.check({p for path, p in wanted if path == one.referenced} <= set(found), "positions are lost")
        return
    kit.check(len(deletes) == 1, f"{len(deletes)} delete files")
    rows = pyarrow.parquet.read_table(files.strip(deletes[0].path))
    kit.check(len(rows.group_by(["file_path", "pos"]).aggregate([])) == DATA_FILES * POSITIONS, "positions are there twice")
    for path in sorted({path for path, _ in wanted}):
        of_file = rows.filter(pyarrow.compute.equal(rows["file_path"], path))
        kit.check({p for at, p in wanted if at == path} <= set(of_file["pos"].to_pylist()), "positions are lost")


def bounded(version):
    folder = tempfile.mkdtemp(prefix="firn-delete-memory-")
    try:
        table, wanted = make(folder, version)
        arguments = ["rewrite-deletes", *table.arguments, "--threads", 2]
        free = peak(*arguments, "--memory", "4GB")
        tight = peak(*arguments, "--memory", "32MB", "--yes")
        print(f"  v{version}: {free / MIB:.0f} MiB without a limit (planning alone), {tight / MIB:.0f} MiB with 32 MB")
        check_outcome(table, wanted, version)
        kit.check(SANITIZED or tight < 40 * MIB, f"{tight / MIB:.0f} MiB with --memory 32MB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def position_deletes_within_memory():
    bounded(2)


def vectors_within_memory():
    bounded(3)


def one_large_file(folder, version=2):
    table = writer.Table(folder, version=version, fields=[fx_json.field(1, "bucket", "int", True)])
    change = table.change()
    path = table.fresh("data", ".parquet")
    schema = pyarrow.schema([pyarrow.field("bucket", pyarrow.int32(), False, {"PARQUET:field_id": "1"})])
    group = pyarrow.table([pyarrow.array(numpy.arange(GROUP_ROWS, dtype="int32") % 16)], schema=schema)
    with pyarrow.parquet.ParquetWriter(files.strip(path), schema, compression="zstd") as out:
        for _ in range(ROWS // GROUP_ROWS):
            out.write_table(group, row_group_size=GROUP_ROWS)
    change.add((0, change.record(path, "PARQUET", 0, [], ROWS, os.path.getsize(files.strip(path)))))
    change.commit("append")
    change = table.change()
    if version == 2:
        change.add(change.equality_deletes([1], [{1: 3}], 0, []))
    else:  # every other row
        change.add(*change.vectors([(change.base.data[0], range(1, ROWS, 2))]))
    change.commit("delete")
    return table


def compaction_within_memory():
    folder = tempfile.mkdtemp(prefix="firn-delete-memory-")
    try:
        table = one_large_file(folder)
        tight = peak("compact", *table.arguments, "--rewrite-all", "--yes", "--threads", 2, "--memory", "16MB")
        print(f"  one file of {ROWS} rows: {tight / MIB:.0f} MiB with 16 MB; positions take {ROWS / 8 / MIB:.0f} MiB")
        state = table.state()
        kit.check(not state.deletes, "delete files are left")
        paths = [files.strip(entry.path) for entry in state.data]
        left = duckdb.execute("SELECT bucket, count(*) FROM read_parquet(?) GROUP BY 1 ORDER BY 1", [paths]).fetchall()
        kit.check(left == [(bucket, ROWS // 16) for bucket in range(16) if bucket != 3], f"other rows are left: {left}")
        kit.check(SANITIZED or tight < 20 * MIB, f"{tight / MIB:.0f} MiB with --memory 16MB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def large_vector_within_memory():
    """A vector of a bit a row: of its blob, too, only a part is in memory."""
    folder = tempfile.mkdtemp(prefix="firn-delete-memory-")
    try:
        table = one_large_file(folder, version=3)
        little = ["--threads", 2, "--memory", "16MB"]
        scan = peak("scan", *table.arguments, "--limit", 3, *little)
        preview = peak("compact", *table.arguments, "--rewrite-all", *little)
        tight = peak("compact", *table.arguments, "--rewrite-all", "--yes", *little)
        print(f"  a vector of {ROWS // 8 / MIB:.0f} MiB: scan {scan / MIB:.0f} MiB, preview {preview / MIB:.0f} MiB, compaction {tight / MIB:.0f} MiB with 16 MB")
        state = table.state()
        kit.check(not state.deletes, "delete files are left")
        paths = [files.strip(entry.path) for entry in state.data]
        left = duckdb.execute("SELECT bucket, count(*) FROM read_parquet(?) GROUP BY 1 ORDER BY 1", [paths]).fetchall()
        kit.check(left == [(bucket, ROWS // 16) for bucket in range(0, 16, 2)], f"other rows are left: {left}")
        kit.check(SANITIZED or max(scan, preview, tight) < 22 * MIB, "more than 22 MiB with --memory 16MB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def two_sets_of_one_large_file():
    """rewrite-deletes writes a vector as a whole: two forms of one file's positions are in memory, whatever the limit."""
    folder = tempfile.mkdtemp(prefix="firn-delete-memory-")
    try:
        table = one_large_file(folder)
        kit.firn("upgrade", *table.arguments, "--to", 3, "--yes")
        tight = peak("rewrite-deletes", *table.arguments, "--yes", "--threads", 2, "--memory", "16MB")
        print(f"  one file of {ROWS} rows: rewrite-deletes {tight / MIB:.0f} MiB with 16 MB")
        kit.check([(e.is_vector, e.file["record_count"]) for e in table.state().deletes] == [(True, ROWS // 16)], "not one vector")
        kit.check(SANITIZED or tight < 2 * ROWS // 8 + 16 * MIB, f"{tight / MIB:.0f} MiB with --memory 16MB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def dangling_deletes_within_memory():
    """Delete files whose data file only reading them tells: what takes a row is not dangling because its positions lie in parts."""
    folder = tempfile.mkdtemp(prefix="firn-delete-memory-")
    try:
        table = writer.Table(folder, version=2, fields=[fx_json.field(1, "id", "long", True)])
        change = table.change()
        spec_id, record = change.data_file([{1: 1}], 0, [], metrics=False)
        change.add((spec_id, {**record, "record_count": 1 << 30}))
        data = record["file_path"]
        change.commit("append")
        change = table.change()
        positions = [at << 16 for at in range(1 << 13)]
        used, unused = delete_file(change, data, positions), delete_file(change, data + ".gone", positions)
        change.add(used, unused)
        change.commit("delete")
        kit.firn("remove-dangling-deletes", *table.arguments, "--memory", "1MB", "--yes")
        left = [entry.path for entry in table.state().deletes]
        kit.check(left == [used[1]["file_path"]], f"delete files that are left: {left}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


kit.main([dangling_deletes_within_memory, position_deletes_within_memory, vectors_within_memory,
          compaction_within_memory, large_vector_within_memory, two_sets_of_one_large_file])
