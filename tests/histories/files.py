"""
Data, delete and Puffin files: written by PyArrow, fx_avro and pyroaring, and read back the same way, as rows by field id.
Nothing here knows of manifests.
"""
import datetime
import decimal
import json
import os
import struct
import zlib

import columns
import fx_avro
import fx_json
import fx_table
import pyarrow as pa
import pyarrow.parquet as pq
import pyroaring

FILE_PATH, POSITION, ROW = 2147483546, 2147483545, 2147483544
DELETE_FIELDS = (fx_json.field(FILE_PATH, "file_path", "string", True), fx_json.field(POSITION, "pos", "long", True))
LINEAGE_FIELDS = (fx_json.field(columns.ROW_ID, "_row_id", "long"),
                  fx_json.field(columns.LAST_UPDATED, "_last_updated_sequence_number", "long"))


def strip(location):
    for scheme in ("file://", "file:"):
        if location.startswith(scheme):
            return location[len(scheme):]
    return location


# Writing


def write_parquet(path, fields, rows, dice, ids=True):
    schema = pa.schema([arrow_field(f, ids) for f in fields])
    named = [columns.named_row(fields, row) for row in rows]
    pq.write_table(pa.Table.from_pylist(named, schema=schema), path, store_schema=False,
                   row_group_size=dice.choice([2, 5, 1000]), compression=dice.choice(["zstd", "snappy", "gzip", "none"]),
                   data_page_version=dice.choice(["1.0", "2.0"]), use_dictionary=dice.random() < 0.7,
                   write_statistics=dice.random() < 0.8)


def arrow_field(item, ids):
    field = fx_table.arrow_field(item, ids)
    return field if ids else pa.field(field.name, without_ids(field.type), field.nullable)


def without_ids(kind):
    """fx_table leaves the ids of nested fields; a writer that knows no ids has none anywhere."""
    def bare(field):
        return pa.field(field.name, without_ids(field.type), field.nullable)
    if pa.types.is_struct(kind):
        return pa.struct([bare(f) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(bare(kind.key_field), bare(kind.item_field))
    return pa.list_(bare(kind.value_field)) if pa.types.is_list(kind) else kind


def avro_type(kind, name, seen, maps):
    if not isinstance(kind, dict):
        found = fx_avro.primitive(kind)
        if isinstance(found, dict) and "name" in found:
            if found["name"] in seen:
                return found["name"]
            seen.add(found["name"])
        return found
    if kind["type"] == "struct":
        return {"type": "record", "name": name, "fields": [avro_field(f, seen, maps) for f in kind["fields"]]}
    if kind["type"] == "list":
        items = avro_type(kind["element"], f"r{kind['element-id']}", seen, maps)
        return {"type": "array", "element-id": kind["element-id"],
                "items": items if kind["element-required"] else ["null", items]}
    value = avro_type(kind["value"], f"r{kind['value-id']}", seen, maps)
    value = value if kind["value-required"] else ["null", value]
    if maps:
        return {"type": "map", "key-id": kind["key-id"], "value-id": kind["value-id"], "values": value}
    return {"type": "array", "logicalType": "map",
            "items": {"type": "record", "name": f"k{kind['key-id']}_v{kind['value-id']}", "fields": [
                fx_avro.field(kind["key-id"], "key", "string"),
                {"name": "value", "type": value, "field-id": kind["value-id"]}]}}


def avro_field(item, seen, maps):
    return fx_avro.field(item["id"], item["name"], avro_type(item["type"], f"r{item['id']}", seen, maps), item["required"])


def avro_value(kind, value, maps):
    if value is None:
        return None
    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return [avro_value(f["type"], columns.project(f, value), maps) for f in kind["fields"]]
        if kind["type"] == "list":
            return [avro_value(kind["element"], v, maps) for v in value]
        pairs = [(k, avro_value(kind["value"], v, maps)) for k, v in value]
        return dict(pairs) if maps else [list(pair) for pair in pairs]
    if kind == "date":
        return (value - columns.DAY).days
    if kind in ("timestamptz", "timestamp"):
        return columns.micros(value)
    if kind.startswith("decimal"):
        return int(value.scaleb(2)).to_bytes(fx_avro.primitive(kind)["size"], "big", signed=True)
    return value


def write_avro(path, fields, rows, dice):
    maps, struct_type = dice.random() < 0.5, fx_json.struct(*fields)
    schema = avro_type(struct_type, "table", set(), maps)
    fx_avro.write(path, schema, [avro_value(struct_type, row, maps) for row in rows],
                  codec=dice.choice(["deflate", "snappy", "zstandard", "null"]), per_block=dice.choice([None, 3]))


def write(path, fields, rows, dice, ids=True):
    """By the ending of the path; returns the size."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if path.endswith(".avro"):
        write_avro(path, fields, rows, dice)
    else:
        write_parquet(path, fields, rows, dice, ids)
    return os.path.getsize(path)


# Deletion vectors


def vector_bytes(positions, optimized):
    bitmap = pyroaring.BitMap(positions)
    if optimized:
        bitmap.run_optimize()
    body = b"\xd1\xd3\x39\x64" + struct.pack("<q", 1) + struct.pack("<I", 0) + bitmap.serialize()
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def distinct(positions):
    return len(positions) if isinstance(positions, range) else len(set(positions))


def write_puffin(path, vectors, dice):
    """vectors: [(referenced data file, positions)]; returns [(offset, length)] and the size."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data, places, blobs = bytearray(b"PFA1"), [], []
    for location, positions in vectors:
        blob = vector_bytes(positions, dice.random() < 0.5)
        places.append((len(data), len(blob)))
        blobs.append({"type": "deletion-vector-v1", "fields": [], "snapshot-id": -1, "sequence-number": -1,
                      "offset": len(data), "length": len(blob),
                      "properties": {"referenced-data-file": location, "cardinality": str(distinct(positions))}})
        data += blob
    payload = json.dumps({"blobs": blobs, "properties": {"created-by": "histories"}}).encode()
    data += b"PFA1" + payload + struct.pack("<i", len(payload)) + bytes(4) + b"PFA1"
    with open(path, "wb") as file:
        file.write(data)
    return places, len(data)


def read_vector(path, offset, length):
    with open(path, "rb") as file:
        file.seek(offset)
        data = file.read(length)
    body = data[4:-4]
    assert struct.unpack(">I", data[:4])[0] == len(body) and body[:4] == b"\xd1\xd3\x39\x64", f"{path}: no deletion vector"
    assert struct.unpack(">I", data[-4:])[0] == zlib.crc32(body), f"{path}: CRC"
    count = struct.unpack("<q", body[4:12])[0]
    if count == 0:
        return set()
    assert count == 1 and body[12:16] == bytes(4), f"{path}: positions above 32 bits"
    return set(pyroaring.BitMap.deserialize(body[16:]))


# Reading


def read(path, file_format, mapping=None):
    """Rows by field id. `mapping`: schema.name-mapping.default, for files without ids."""
    if file_format.lower() == "avro":
        header, records = fx_avro.read(path)
        schema = json.loads(header["avro.schema"])
        return [avro_row(schema["fields"], record, {}) for record in records]
    table = pq.ParquetFile(path).read()
    names = None if any(field_id(f) is not None for f in table.schema) else mapping
    return [{i: from_arrow(f.type, row[f.name], below) for f, i, below in identified(table.schema, names) if i is not None}
            for row in table.to_pylist()]


def field_id(field):
    found = (field.metadata or {}).get(b"PARQUET:field_id")
    return None if found is None else int(found)


def identified(fields, names):
    """(field, id, mapping of what is below) for each field."""
    found = []
    for field in fields:
        entry = next((m for m in names or () if field.name in m["names"]), {})
        found.append((field, field_id(field) if names is None else entry.get("field-id"),
                      None if names is None else entry.get("fields", [])))
    return found


def from_arrow(kind, value, names):
    if value is None or not pa.types.is_nested(kind):
        return value
    if pa.types.is_struct(kind):
        return {i: from_arrow(f.type, value[f.name], below) for f, i, below in identified(kind, names) if i is not None}
    if pa.types.is_map(kind):
        return [(k, from_arrow(kind.item_type, v, names)) for k, v in value]
    return [from_arrow(kind.value_type, v, names) for v in value]


def avro_row(fields, record, named):
    return {f["field-id"]: from_avro(f["type"], record[f["name"]], named) for f in fields}


def from_avro(kind, value, named):
    """`named`: the named types met so far, which Avro spells out once."""
    if isinstance(kind, list):
        for branch in kind:
            from_avro(branch, None, named)
        kind = next(b for b in kind if b != "null")
    if isinstance(kind, dict) and "name" in kind:
        named[kind["name"]] = kind
    kind = named.get(kind, kind) if isinstance(kind, str) else kind
    if value is None or not isinstance(kind, dict):
        return value
    logical = kind.get("logicalType")
    if kind["type"] == "record":
        return avro_row(kind["fields"], value, named)
    if logical == "map":
        by_name = {f["name"]: f["type"] for f in kind["items"]["fields"]}
        return [(v["key"], from_avro(by_name["value"], v["value"], named)) for v in value]
    if kind["type"] == "array":
        return [from_avro(kind["items"], v, named) for v in value]
    if kind["type"] == "map":
        return [(k, from_avro(kind["values"], v, named)) for k, v in value.items()]
    if logical == "decimal":
        return decimal.Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-kind["scale"])
    if logical == "date":
        return columns.DAY + datetime.timedelta(days=value)
    if logical == "timestamp-micros":
        found = columns.EPOCH + datetime.timedelta(microseconds=value)
        return found if kind.get("adjust-to-utc") else found.replace(tzinfo=None)
    return value
