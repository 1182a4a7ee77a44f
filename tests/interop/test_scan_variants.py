"""
Variants as text, however a file shreds them: those of the corpus (apache/parquet-testing, each shredded in its own way) as DuckDB
reads them; and the same after a compaction.
"""
import csv
import glob
import io
import json
import os
import re
import sys

import duckdb
import kit
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, os.path.join(kit.HERE, "..", "bugs"))

import fx_json  # noqa: E402
import fx_table  # noqa: E402

CORPUS = os.path.join(kit.CORPUS, "variant")


def with_ids(path):
    """The file's rows with an id, and field ids, which Iceberg tables have; how the variant is shredded stays as it is."""
    table = pq.read_table(path, columns=["var"])
    fields = [pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}),
              table.schema.field("var").with_name("v").with_metadata({"PARQUET:field_id": "2"})]
    return pa.Table.from_arrays([pa.array(range(len(table)), pa.int64()), table["var"].combine_chunks()], schema=pa.schema(fields))


def table_of(*parts):
    """An Iceberg table of Arrow tables, a data file each."""
    table = fx_table.Table(3, [fx_json.field(1, "id", "long"), fx_json.field(2, "v", "variant")])
    made, count = [], 0
    for part in parts:
        path = table.fresh("data", ".parquet")
        pq.write_table(part, path, store_schema=False)
        made.append(table.file(path, [{}] * len(part), oracle=False))
        count += len(part)
    table.metadata["next-row-id"] = count
    table.snapshot([table.manifest([table.entry(f) for f in made], listed={"first_row_id": 0})],
                   **{"first-row-id": 0, "added-rows": count})
    table.save()
    return table


def scanned(table):
    lines = kit.firn("scan", *table.arguments, "--json", "--columns", "id,v").stdout.splitlines()
    return sorted((row["id"], row["v"]) for row in map(json.loads, lines))


def nanoseconds(text):
    return re.fullmatch(r"(.{19}\.\d{5})\d{4}(\+00:00)?", text)


def alike(ours, theirs):
    """Two JSON documents that mean the same; DuckDB writes times with a blank and to the microsecond, and bytes as \\x0A."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(alike(v, theirs[k]) for k, v in ours.items())
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        plain = ours.replace("T", " ").replace("+00:00", "+00")
        if theirs in (ours, plain) or theirs.replace("\\x", "").lower() == ours:
            return True
        cut = nanoseconds(ours)
        return bool(cut) and theirs.startswith(cut[1].replace("T", " "))
    if isinstance(ours, float) or isinstance(theirs, float):
        return abs(float(ours) - float(theirs)) <= 1e-6 * max(1, abs(float(theirs)))
    return ours == theirs and type(ours) is type(theirs)


# What VariantShredding.md forbids: firn says so, where DuckDB takes one of the two forms.
REFUSED = {"case-040.parquet": "two forms", "case-042.parquet": "two forms", "case-137.parquet": "of a type that",
           "case-043-INVALID.parquet": "also among the rest", "case-125-INVALID.parquet": "also among the rest",
           "case-087.parquet": "should be an object", "case-128.parquet": "should be an object",
           "case-127.parquet": "of a type that"}


def by_duckdb(path):
    """Texts, or None where it refuses the file (a few of its versions fail on it)."""
    try:
        return [row[0] for row in duckdb.connect().sql(f"SELECT var::JSON FROM '{path}'").fetchall()]
    except duckdb.Error:
        return None


def same_as_duckdb():
    compared, paths = 0, sorted(glob.glob(os.path.join(CORPUS, "*.parquet")))
    for path in paths:
        name, table = os.path.basename(path), table_of(with_ids(path))
        if name in REFUSED:
            done = kit.firn("scan", *table.arguments, expect=(1, 3))
            kit.check(REFUSED[name] in done.stderr, f"{name}: {done.stderr}")
            continue
        found, wanted = [text for _, text in scanned(table)], by_duckdb(path)
        if wanted is None:
            continue
        compared += 1
        kit.check(len(found) == len(wanted), f"{name}: {len(found)} rows")
        for ours, theirs in zip(found, wanted):
            # DuckDB takes a null column for a variant null where the variant is an object.
            same = theirs in (None, "null") if ours is None else theirs is not None and alike(json.loads(ours), json.loads(theirs))
            kit.check(same, f"{name}: {ours!r} against {theirs!r}")
    print(f"  {compared} of {len(paths)} files are read alike, {len(REFUSED)} are refused")
    kit.check(compared > 0.85 * len(paths), "DuckDB refuses more than it used to")


def same_after_compaction():
    """Compaction moves a shredded variant as it is; --verify compares by the same text."""
    for path in sorted(glob.glob(os.path.join(CORPUS, "*.parquet")))[::9]:
        if os.path.basename(path) in REFUSED:
            continue
        part = with_ids(path)
        later = part.set_column(0, part.schema.field(0), pa.array(range(100, 100 + len(part)), pa.int64()))
        table = table_of(part, later)
        before = scanned(table)
        kit.firn("compact", *table.arguments, "--rewrite-all", "--verify", "--yes")
        kit.check(scanned(table) == before and len(before) == 2 * len(part), f"{path}: {scanned(table)} against {before}")


def as_csv_and_in_other_columns():
    """Objects put together from columns and the rest, arrays, nulls: in both formats, beside other columns."""
    shape = pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary()), pa.field(
        "typed_value", pa.struct([
            pa.field("b", pa.struct([pa.field("value", pa.binary()), pa.field("typed_value", pa.int64())]), nullable=False),
            pa.field("d", pa.struct([pa.field("value", pa.binary()), pa.field("typed_value", pa.string())]), nullable=False)]))])
    nothing = {"value": None, "typed_value": None}
    names = b"\x01\x03\x00\x01\x02\x03aec"  # a, e, c

    def row(value, **typed):
        return {"metadata": names, "value": value, "typed_value": {"b": nothing, "d": nothing, **typed} if typed else None}
    rest = bytes([2, 2, 0, 2, 0, 1, 2, 1 << 2, 2 << 2])  # {"a": true, "c": false}
    values = [row(rest, b={"value": None, "typed_value": 7}, d={"value": b"\x00", "typed_value": None}),
              row(None, d={"value": None, "typed_value": 'x"y'}), row(bytes([1 << 2])), None, row(None)]
    fields = [pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}), pa.field("v", shape, metadata={"PARQUET:field_id": "2"})]
    table = table_of(pa.Table.from_pylist([{"id": i, "v": v} for i, v in enumerate(values)], schema=pa.schema(fields)))
    texts = ['{"a":true,"b":7,"c":false,"d":null}', '{"d":"x\\"y"}', "true", None, "null"]
    kit.check(scanned(table) == list(enumerate(texts)), f"{scanned(table)}")
    lines = list(csv.reader(io.StringIO(kit.firn("scan", *table.arguments, "--columns", "v,id").stdout), strict=True))
    kit.check(lines[1:] == [[text or "", str(i)] for i, text in enumerate(texts)], f"{lines}")


try:
    kit.main([same_as_duckdb, same_after_compaction, as_csv_and_in_other_columns])
finally:
    fx_table.clean_up()
