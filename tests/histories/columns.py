"""
The columns of the tables, their random values, partition transforms and metrics. A row is a dict from field id to value, at
every depth of structs, so that renaming and reordering mean nothing to it.
"""
import datetime
import decimal
import json
import math
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "interop"), os.path.join(HERE, "..", "bugs")]

import fx_json  # noqa: E402
import mmh3  # noqa: E402

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
DAY = datetime.date(1970, 1, 1)
UID, K1, K2, PART, AT, SCORE, AMOUNT, TAGS, PLACE, PLACE_A, EXTRA = 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13
ROW_ID, LAST_UPDATED = 2147483540, 2147483539
FIRST_FIELDS = (
    fx_json.field(UID, "uid", "long", True),
    fx_json.field(K1, "k1", "int"),
    fx_json.field(K2, "k2", "string"),
    fx_json.field(PART, "part", "string"),
    fx_json.field(AT, "at", "timestamptz"),
    fx_json.field(SCORE, "score", "float"),
    fx_json.field(AMOUNT, "amount", "decimal(9,2)"),
    fx_json.field(TAGS, "tags", fx_json.list_of(9, "string")),
    fx_json.field(PLACE, "place", fx_json.struct(fx_json.field(PLACE_A, "a", "int"), fx_json.field(12, "b", "string"))),
    fx_json.field(EXTRA, "extra", fx_json.map_of(14, "string", 15, "int")),
    fx_json.field(16, "note", "string", True),
)
KEPT = (UID, K1, PART, AT)  # never dropped: specs and identity hang on them
WIDER = {"int": "long", "float": "double", "decimal(9,2)": "decimal(12,2)"}
WIDER_V3 = {**WIDER, "date": "timestamp"}
KEY_TYPES = ("int", "long", "string", "date", "timestamptz", "boolean", "decimal(9,2)", "decimal(12,2)")
# What may be added later: type, initial default for v3.
ADDED = (("int", 7), ("long", -1), ("string", "dflt"), ("boolean", True), ("double", 2.5), ("date", "2024-02-29"),
         ("decimal(9,2)", "1.50"), (fx_json.list_of(0, "int"), None), ("timestamp", None), ("binary", None), ("date", None))


def single(value):
    """The float32 next to a value."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def random_value(dice, item):
    """A value for a field; optional ones are null now and then. Few distinct values, so that keys meet."""
    kind = item["type"]
    if not item["required"] and dice.random() < 0.12:
        return None
    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return {f["id"]: random_value(dice, f) for f in kind["fields"]}
        if kind["type"] == "list":
            element = fx_json.field(kind["element-id"], "element", kind["element"], kind["element-required"])
            return [random_value(dice, element) for _ in range(dice.randrange(4))]
        value = fx_json.field(kind["value-id"], "value", kind["value"], kind["value-required"])
        return [(f"k{i}", random_value(dice, value)) for i in range(dice.randrange(3))]
    if kind in ("int", "long"):
        return dice.choice([-3, 0, 1, 2, 3, 5, 2147483647 if dice.random() < 0.1 else 8])
    if kind in ("float", "double"):
        value = dice.choice([0.0, -0.0, 1.5, float("nan"), float("inf"), dice.uniform(-9, 9)])
        return single(value) if kind == "float" else value
    if kind == "string":
        return dice.choice(["", "a", "b", "Füße", "c d", "a-long-text-beyond-sixteen-bytes" if dice.random() < 0.3 else "x"])
    if kind == "boolean":
        return dice.random() < 0.5
    if kind == "date":
        return DAY + datetime.timedelta(days=dice.randrange(19700, 19704))
    if kind in ("timestamptz", "timestamp"):
        value = EPOCH + datetime.timedelta(days=19700, hours=dice.randrange(0, 96), microseconds=dice.randrange(3))
        return value if kind == "timestamptz" else value.replace(tzinfo=None)
    if kind == "binary":
        return dice.choice([b"", b"\x00\xff", b"abc"])
    if kind.startswith("decimal"):
        return decimal.Decimal(dice.randrange(-300, 300) // 50).scaleb(-2)
    raise ValueError(kind)


def default_value(item):
    """A field's initial default as a value (appendix C's JSON form)."""
    found, kind = item.get("initial-default"), item["type"]
    if found is None or isinstance(kind, dict):
        return None
    if kind in ("date", "timestamp") and "T" not in found:
        value = datetime.date.fromisoformat(found)
        return value if kind == "date" else datetime.datetime(value.year, value.month, value.day)
    if kind == "timestamp":
        return datetime.datetime.fromisoformat(found)
    if kind.startswith("decimal"):
        return decimal.Decimal(found)
    return found


def project(item, value_by_id):
    """The value of a field in a row (or struct) that may lack it; structs come out by id, complete."""
    if item["id"] not in value_by_id:
        return default_value(item)
    value, kind = value_by_id[item["id"]], item["type"]
    if kind == "timestamp" and isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)
    if isinstance(kind, dict) and kind["type"] == "struct" and value is not None:
        return {f["id"]: project(f, value) for f in kind["fields"]}
    return value


def by_name(item, value):
    """What rows.py takes: structs by name."""
    kind = item["type"]
    if isinstance(kind, dict) and kind["type"] == "struct" and value is not None:
        return {f["name"]: by_name(f, project(f, value)) for f in kind["fields"]}
    return value


def named_row(fields, values):
    return {f["name"]: by_name(f, project(f, values)) for f in fields}


def name_mapping(schemas):
    """schema.name-mapping.default for every name that a field ever had."""
    def mapping(structs):
        found = {}
        for fields in structs:
            for item in fields:
                entry = found.setdefault(item["id"], (set(), []))
                entry[0].add(item["name"])
                entry[1].append(item["type"])
        return [{"field-id": i, "names": sorted(names), **below(kinds)} for i, (names, kinds) in found.items()]

    def below(kinds):
        kinds = [k for k in kinds if isinstance(k, dict)]
        if not kinds:
            return {}
        if kinds[0]["type"] == "struct":
            return {"fields": mapping([k["fields"] for k in kinds])}
        parts = ("element",) if kinds[0]["type"] == "list" else ("key", "value")
        return {"fields": [{"field-id": kinds[0][p + "-id"], "names": [p]} for p in parts]}

    return json.dumps(mapping([s["fields"] for s in schemas]))


# Partition values


def micros(value):
    return ((value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)) - EPOCH) // datetime.timedelta(microseconds=1)


def transformed(transform, value):
    """The partition value of a source value, as the manifest's Avro takes it."""
    if value is None or transform == "void":
        return None
    if transform == "identity":
        return value
    if transform == "day":
        return (value - EPOCH).days
    if transform == "month":
        return (value.year - 1970) * 12 + value.month - 1
    width = int(transform[transform.index("[") + 1:-1])
    if transform.startswith("truncate"):
        return value[:width] if isinstance(value, str) else value - value % width
    data = value.encode() if isinstance(value, str) else struct.pack("<q", value)
    return (mmh3.hash(data) & 0x7FFFFFFF) % width


def key_value(values, field_id, fields):
    """The value that an equality delete compares: of a column, or of a field in the struct."""
    if field_id == PLACE_A:
        outer = values.get(PLACE)
        return None if outer is None else outer.get(PLACE_A)
    return project(next(f for f in fields if f["id"] == field_id), values)


def partition_of(spec_fields, values):
    return [transformed(f["transform"], values.get(f["source-id"])) for f in spec_fields]


# Metrics


def serialized(kind, value):
    """Appendix D, binary single-value serialization."""
    if kind == "boolean":
        return b"\x01" if value else b"\x00"
    if kind == "int":
        return struct.pack("<i", value)
    if kind == "date":
        return struct.pack("<i", (value - DAY).days)
    if kind == "long":
        return struct.pack("<q", value)
    if kind in ("timestamptz", "timestamp"):
        return struct.pack("<q", micros(value))
    if kind == "binary":
        return value
    if kind in ("float", "double"):
        return struct.pack("<f" if kind == "float" else "<d", value)
    if kind == "string":
        return value.encode()
    unscaled = int(value.scaleb(2))
    return unscaled.to_bytes((unscaled.bit_length() + 8) // 8, "big", signed=True)


def metrics(fields, rows):
    """value_counts, null_value_counts, nan_value_counts and bounds of the primitive columns at the top."""
    result = {k: [] for k in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")}

    def put(name, key, value):
        result[name].append({"key": key, "value": value})

    for item in fields:
        kind = item["type"]
        if isinstance(kind, dict):
            continue
        values = [row.get(item["id"]) for row in rows]
        there = [v for v in values if v is not None]
        put("value_counts", item["id"], len(values))
        put("null_value_counts", item["id"], len(values) - len(there))
        if kind in ("float", "double"):
            put("nan_value_counts", item["id"], sum(math.isnan(v) for v in there))
            there = [v for v in there if not math.isnan(v)]
        if not there:
            continue
        key = (lambda v: (v, math.copysign(1, v))) if kind in ("float", "double") else None
        low, high = min(there, key=key), max(there, key=key)
        if kind == "string":
            low = low[:16]
            if len(high) > 16:
                high = high[:15] + chr(ord(high[15]) + 1)
        put("lower_bounds", item["id"], serialized(kind, low))
        put("upper_bounds", item["id"], serialized(kind, high))
    return result
