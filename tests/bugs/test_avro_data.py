"""
Avro data files of every type and nesting, as Iceberg's writers make them: firn scan prints the values that were put in, and what a
compaction makes of them as Parquet PyIceberg and DuckDB read as the same.
"""
import json
import random
import struct

import bugkit
import fx_avro
import fx_table
import kit
from bugkit import check, equal
from fx_json import field

FIXED = [0]


def fixed(size, **more):
    FIXED[0] += 1
    return {"type": "fixed", "name": f"f{FIXED[0]}", "size": size, **more}


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def unscaled(size):
    return lambda dice: dice.randrange(-10**6, 10**6).to_bytes(size, "big", signed=True)


def some_bytes(dice, size=None):
    return bytes(dice.randrange(256) for _ in range(dice.randrange(9) if size is None else size))


def text(dice):
    return "".join(dice.choice("aé😀\"\\,\n") for _ in range(dice.randrange(6)))


# Iceberg's type, Avro's, a value for Avro, and what of it is the canonical form's value.
TYPES = [
    ("boolean", "boolean", lambda d: d.random() < 0.5, None),
    ("int", "int", lambda d: d.choice([0, -1, 2**31 - 1, -2**31]), None),
    ("long", "long", lambda d: d.choice([0, -1, 2**63 - 1, -2**63]), None),
    ("long", "int", lambda d: d.randrange(-99, 99), None),
    ("float", "float", lambda d: float32(d.choice([d.random(), float("inf"), -0.0])), None),
    ("double", "double", lambda d: d.choice([d.random(), float("nan"), -0.0, 1e300]), None),
    ("double", "float", lambda d: float32(d.random()), None),
    ("decimal(9, 2)", lambda: fixed(4, logicalType="decimal", precision=9, scale=2), unscaled(4), "decimal"),
    ("decimal(20, 3)", lambda: fixed(9, logicalType="decimal", precision=20, scale=3), unscaled(9), "decimal"),
    ("decimal(9, 2)", lambda: logical("bytes", "decimal", precision=9, scale=2), unscaled(3), "decimal"),
    ("date", lambda: logical("int", "date"), lambda d: d.randrange(-100000, 100000), None),
    ("time", lambda: logical("long", "time-micros"), lambda d: d.randrange(86400 * 10**6), None),
    ("timestamp", lambda: logical("long", "timestamp-micros", **{"adjust-to-utc": False}),
     lambda d: d.randrange(-10**15, 10**15), None),
    ("timestamptz", lambda: logical("long", "timestamp-micros", **{"adjust-to-utc": True}),
     lambda d: d.randrange(-10**15, 10**15), None),
    ("timestamp", lambda: logical("long", "local-timestamp-micros"), lambda d: d.randrange(10**15), None),
    ("string", "string", text, None),
    ("uuid", lambda: fixed(16, logicalType="uuid"), lambda d: some_bytes(d, 16), None),
    ("fixed[5]", lambda: fixed(5), lambda d: some_bytes(d, 5), None),
    ("binary", "bytes", some_bytes, None),
]
NANOS = [("timestamp_ns", lambda: logical("long", "timestamp-nanos", **{"adjust-to-utc": False}),
          lambda d: d.randrange(-10**18, 10**18), None),
         ("timestamptz_ns", lambda: logical("long", "timestamp-nanos", **{"adjust-to-utc": True}),
          lambda d: d.randrange(-10**18, 10**18), None)]


class Maker:
    """Random types: Iceberg's JSON beside Avro's schema, with a function that gives (value for Avro, canonical value)."""

    def __init__(self, seed, types):
        self.dice, self.types, self.ids, self.names = random.Random(seed), types, 0, 0

    def id(self):
        self.ids += 1
        return self.ids

    def primitive(self, chosen=None):
        kind, avro, make, how = chosen or self.dice.choice(self.types)

        def value():
            raw = make(self.dice)
            if how != "decimal":
                return raw, raw
            scale = int(kind.rstrip(")").split(",")[1])
            number = int.from_bytes(raw, "big", signed=True)
            digits = f"{abs(number):0{scale + 1}d}"
            return raw, ("-" if number < 0 else "") + digits[:-scale] + "." + digits[-scale:]
        return kind, avro() if callable(avro) else avro, value

    def optional(self, avro, value):
        """The union in either order, and nulls among the values."""
        def maybe():
            return (None, None) if self.dice.random() < 0.3 else value()
        return (["null", avro] if self.dice.random() < 0.7 else [avro, "null"]), maybe

    def member(self, depth):
        """(Iceberg's type, Avro's, value, required)"""
        kind, avro, value = self.any(depth)
        required = self.dice.random() < 0.3
        if not required:
            avro, value = self.optional(avro, value)
        return kind, avro, value, required

    def any(self, depth):
        shape = self.dice.choice(["primitive", "struct", "list", "map", "pairs"]) if depth > 0 else "primitive"
        return getattr(self, shape)(depth) if shape != "primitive" else self.primitive()

    def struct(self, depth):
        members = [(self.id(), f"m{i}", *self.member(depth - 1)) for i in range(self.dice.randrange(1, 4))]
        self.names += 1
        kind = {"type": "struct", "fields": [field(i, n, k, r) for i, n, k, _, _, r in members]}
        avro = {"type": "record", "name": f"r{self.names}",
                "fields": [{"name": n, "type": a, "field-id": i} for i, n, _, a, _, _ in members]}

        def value():
            pairs = [(n, v()) for _, n, _, _, v, _ in members]
            return {n: a for n, (a, _) in pairs}, {n: c for n, (_, c) in pairs}
        return kind, avro, value

    def list(self, depth):
        number = self.id()
        kind, avro, value, required = self.member(depth - 1)

        def values():
            made = [value() for _ in range(self.dice.randrange(4))]
            return [a for a, _ in made], [c for _, c in made]
        return ({"type": "list", "element-id": number, "element": kind, "element-required": required},
                {"type": "array", "element-id": number, "items": avro}, values)

    def map(self, depth):
        numbers = self.id(), self.id()
        kind, avro, value, required = self.member(depth - 1)

        def values():
            made = {f"k{i}": value() for i in range(self.dice.randrange(4))}
            return {k: a for k, (a, _) in made.items()}, [(k, c) for k, (_, c) in made.items()]
        return ({"type": "map", "key-id": numbers[0], "key": "string", "value-id": numbers[1], "value": kind,
                 "value-required": required},
                {"type": "map", "key-id": numbers[0], "value-id": numbers[1], "values": avro}, values)

    def pairs(self, depth):
        """A map whose keys are no text."""
        numbers = self.id(), self.id()
        kind, avro, value, required = self.member(depth - 1)
        record = {"type": "record", "name": f"k{numbers[0]}_v{numbers[1]}",
                  "fields": [{"name": "key", "type": "int", "field-id": numbers[0]},
                             {"name": "value", "type": avro, "field-id": numbers[1]}]}

        def values():
            made = [(i, value()) for i in range(self.dice.randrange(4))]
            return [{"key": k, "value": a} for k, (a, _) in made], [(k, c) for k, (_, c) in made]
        return ({"type": "map", "key-id": numbers[0], "key": "int", "value-id": numbers[1], "value": kind,
                 "value-required": required},
                {"type": "array", "logicalType": "map", "items": record}, values)


def table_of(columns, version, rows, **options):
    """A table of two Avro files; returns (table, canonical rows). `columns`: id, name, type, Avro's, value, required."""
    fields = [field(i, n, k, r) for i, n, k, _, _, r in columns]
    schema = {"type": "record", "name": "table",
              "fields": [{"name": n, "type": a, "field-id": i} for i, n, _, a, _, _ in columns]}
    table = fx_table.Table(version, fields)
    made, expected = [], []
    for _ in range(2):
        values = [[v() for _, _, _, _, v, _ in columns] for _ in range(rows)]
        path = table.fresh("data", ".avro")
        fx_avro.write(path, schema, [[a for a, _ in row] for row in values], **options)
        expected += [{n: c for (_, n, _, _, _, _), (_, c) in zip(columns, row)} for row in values]
        made.append(table.file(path, values, oracle=False, file_format="AVRO"))
    table.snapshot([table.manifest([table.entry(f) for f in made])])
    table.save()
    return table, kit.rows.canonical_rows(fields, expected)


def scanned(table):
    lines = kit.firn("scan", *table.arguments, "--json").stdout.splitlines()
    return kit.rows.drop_lineage(lines)


def compacted(table, expected, what):
    """Outside readers find the same in the Parquet files of a compaction."""
    kit.firn("compact", *table.arguments, "--yes", "--rewrite-all", "--verify")
    equal(scanned(table), expected, f"{what}: firn after a compaction")
    lines = kit.rows.drop_lineage(kit.read("duckdb", table.where))
    kit.same_rows(lines, expected, f"{what}: DuckDB after a compaction")


def report_every_type():
    for types, version in ((TYPES, 2), (TYPES + NANOS, 3)):
        maker = Maker(version, types)
        columns = []
        for i, chosen in enumerate(types):
            kind, avro, value = maker.primitive(chosen)
            columns.append((maker.id(), f"required_{i}", kind, avro, value, True))
            kind, avro, value = maker.primitive(chosen)
            columns.append((maker.id(), f"optional_{i}", kind, *maker.optional(avro, value), False))
        for codec, signed in (("deflate", False), ("snappy", True), ("zstandard", False), ("null", True)):
            table, expected = table_of(columns, version, 60, codec=codec, signed_counts=signed, per_block=7)
            equal(scanned(table), expected, f"version {version}, {codec}")
            if codec == "deflate" and version == 2:
                compacted(table, expected, "every type")


def report_any_nesting():
    for seed in range(40):
        maker = Maker(seed, [t for t in TYPES if t[0] != "uuid"])
        columns = [(maker.id(), "id", *maker.primitive(TYPES[2]), True)]
        for i in range(3):
            columns.append((maker.id(), f"c{i}", *maker.member(3)))
        table, expected = table_of(columns, 2, 40, codec="deflate", signed_counts=seed % 2 == 1, per_block=9)
        equal(scanned(table), expected, f"seed {seed}")
        if seed % 8 == 0:
            compacted(table, expected, f"seed {seed}")


def report_files_without_ids():
    """Names count where a name mapping says so; the file's other columns don't."""
    fields = [field(1, "a", "int"), field(2, "b", "string"), field(3, "c", "long")]
    table = fx_table.Table(2, fields, properties={"schema.name-mapping.default": json.dumps(
        [{"field-id": 1, "names": ["x", "a"]}, {"field-id": 2, "names": ["b"]}])})
    schema = {"type": "record", "name": "r", "fields": [
        {"name": "b", "type": ["null", "string"]}, {"name": "x", "type": "int"}, {"name": "other", "type": "bytes"}]}
    path = table.fresh("data", ".avro")
    fx_avro.write(path, schema, [["t", 1, b""], [None, 2, b"o"]])
    table.snapshot([table.manifest([table.entry(table.file(path, [1, 2], oracle=False, file_format="AVRO"))])])
    table.save()
    equal(scanned(table), ['{"a":1,"b":"t","c":null}', '{"a":2,"b":null,"c":null}'], "rows by name")
    del table.metadata["properties"]["schema.name-mapping.default"]
    table.save()
    done = kit.firn("scan", *table.arguments, expect=3)
    check("name mapping" in done.stderr and path in done.stderr, done.stderr)


if __name__ == "__main__":
    bugkit.main([test for name, test in sorted(globals().items()) if name.startswith("report_")])
