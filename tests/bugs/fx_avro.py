"""
Avro object container files for tests: a writer that takes the schema's JSON as it is, with any header keys, codec, block
size and order of unions, and a reader for what firn wrote. Also the schemas of manifests and manifest lists, per version.
"""
import io
import json
import os
import struct
import zlib

import zstandard

SYNC = b"fx-avro-sync-16!"


def crc32(data):
    return zlib.crc32(data) & 0xFFFFFFFF


def varint(value):
    """zig-zag, variable length."""
    value = (value << 1) ^ (value >> 63)
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def unsigned_varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def snappy_literals(data):
    """A valid snappy body that holds literals only."""
    out = bytearray(unsigned_varint(len(data)))
    for at in range(0, len(data), 60):
        piece = data[at:at + 60]
        out.append((len(piece) - 1) << 2)
        out += piece
    return bytes(out)


def snappy_decompress(data):
    size, at, shift = 0, 0, 0
    while True:
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                extra = length - 59
                length = int.from_bytes(data[at:at + extra], "little")
                at += extra
            out += data[at:at + length + 1]
            at += length + 1
            continue
        if tag & 3 == 1:
            length, offset = ((tag >> 2) & 7) + 4, (tag >> 5) << 8 | data[at]
            at += 1
        else:
            width = 2 if tag & 3 == 2 else 4
            length, offset = (tag >> 2) + 1, int.from_bytes(data[at:at + width], "little")
            at += width
        for _ in range(length):
            out.append(out[-offset])
    assert len(out) == size
    return bytes(out)


def compress(codec, data):
    if codec in (None, "null"):
        return data
    if codec == "deflate":
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(data) + packer.flush()
    if codec == "snappy":
        return snappy_literals(data) + struct.pack(">I", crc32(data))
    if codec == "zstandard":
        return zstandard.compress(data)
    raise ValueError(codec)


def decompress(codec, data):
    if codec in (None, "null"):
        return data
    if codec == "deflate":
        return zlib.decompress(data, wbits=-15)
    if codec == "snappy":
        return snappy_decompress(data[:-4])
    if codec == "zstandard":
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    raise ValueError(codec)


def _named(schema, names):
    """Registers every named type below a schema."""
    if isinstance(schema, list):
        for branch in schema:
            _named(branch, names)
    elif isinstance(schema, dict):
        if "name" in schema and schema.get("type") in ("record", "fixed", "enum"):
            names[schema["name"]] = schema
        for item in schema.get("fields", []):
            _named(item["type"], names)
        for key in ("items", "values", "type"):
            if isinstance(schema.get(key), (dict, list)):
                _named(schema[key], names)


class Encoder:
    """Values are Python's; a record is a dict by field name, or a list by position; bytes may be hex text."""

    def __init__(self, schema, signed_counts=False):
        self.names = {}
        self.signed_counts = signed_counts
        _named(schema, self.names)

    def encode(self, schema, value, out):
        if isinstance(schema, str) and schema in self.names:
            schema = self.names[schema]
        if isinstance(schema, list):
            self._union(schema, value, out)
            return
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, (dict, list)):
            self.encode(kind, value, out)
        elif kind == "null":
            pass
        elif kind == "boolean":
            out += b"\x01" if value else b"\x00"
        elif kind in ("int", "long"):
            out += varint(value)
        elif kind == "float":
            out += struct.pack("<f", value)
        elif kind == "double":
            out += struct.pack("<d", value)
        elif kind in ("string", "bytes"):
            data = value.encode() if isinstance(value, str) else bytes(value)
            out += varint(len(data)) + data
        elif kind == "fixed":
            assert len(value) == schema["size"], (len(value), schema)
            out += bytes(value)
        elif kind == "record":
            self._record(schema, value, out)
        elif kind == "array":
            self._blocks(list(value), lambda item, to: self.encode(schema["items"], item, to), out)
        elif kind == "map":
            self._blocks(list(value.items()), lambda item, to: self._entry(schema, item, to), out)
        else:
            raise ValueError(f"schema {schema!r}")

    def _union(self, branches, value, out):
        null = [i for i, branch in enumerate(branches) if branch == "null"]
        if value is None:
            out += varint(null[0])
            return
        index = next(i for i, branch in enumerate(branches) if branch != "null")
        out += varint(index)
        self.encode(branches[index], value, out)

    def _record(self, schema, value, out):
        if isinstance(value, dict):
            unknown = set(value) - {f["name"] for f in schema["fields"]}
            assert not unknown, f"no fields {unknown} in {schema['name']}"
            value = [value.get(f["name"]) for f in schema["fields"]]
        assert len(value) == len(schema["fields"]), (value, schema)
        for item, f in zip(value, schema["fields"]):
            try:
                self.encode(f["type"], item, out)
            except (IndexError, TypeError) as problem:
                raise ValueError(f"field {f['name']} = {item!r}: {problem}") from problem

    def _entry(self, schema, item, out):
        self.encode("string", item[0], out)
        self.encode(schema["values"], item[1], out)

    def _blocks(self, items, encode, out):
        if items:
            body = bytearray()
            for item in items:
                encode(item, body)
            out += varint(-len(items)) + varint(len(body)) if self.signed_counts else varint(len(items))
            out += body
        out += varint(0)


def dumps(schema, records, header=None, codec="deflate", per_block=None, signed_counts=False, encode_schema=None):
    """
    A whole file. `schema` is text (taken verbatim) or JSON; `header` holds further keys, of which None drops one.
    `encode_schema` lays the records out otherwise than the header says. codec None leaves avro.codec out.
    """
    text = schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False)
    layout = encode_schema if encode_schema is not None else json.loads(text)
    keys = {"avro.schema": text}
    if codec is not None:
        keys["avro.codec"] = codec
    keys.update(header or {})
    out = bytearray(b"Obj\x01")
    present = [(k, v) for k, v in keys.items() if v is not None]
    out += varint(len(present))
    for key, value in present:
        for part in (key, value):
            data = part.encode() if isinstance(part, str) else part
            out += varint(len(data)) + data
    out += varint(0) + SYNC
    records = list(records)
    encoder = Encoder(layout, signed_counts)
    size = per_block or max(len(records), 1)
    for at in range(0, len(records), size):
        body = bytearray()
        for record in records[at:at + size]:
            encoder.encode(layout, record, body)
        packed = compress(codec, bytes(body))
        out += varint(len(records[at:at + size])) + varint(len(packed)) + packed + SYNC
    return bytes(out)


def write(path, schema, records, **options):
    """Writes a file; returns its size."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data = dumps(schema, records, **options)
    with open(path, "wb") as file:
        file.write(data)
    return len(data)


# Reading


class Decoder:
    def __init__(self, schema):
        self.names = {}
        _named(schema, self.names)

    def long(self, at):
        value, shift = 0, 0
        while True:
            byte = at.read(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7

    def decode(self, schema, at):
        if isinstance(schema, str) and schema in self.names:
            schema = self.names[schema]
        if isinstance(schema, list):
            return self.decode(schema[self.long(at)], at)
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, (dict, list)):
            return self.decode(kind, at)
        if kind == "null":
            return None
        if kind == "boolean":
            return at.read(1) == b"\x01"
        if kind in ("int", "long"):
            return self.long(at)
        if kind == "float":
            return struct.unpack("<f", at.read(4))[0]
        if kind == "double":
            return struct.unpack("<d", at.read(8))[0]
        if kind in ("string", "bytes"):
            data = at.read(self.long(at))
            return data.decode() if kind == "string" else data
        if kind == "fixed":
            return at.read(schema["size"])
        if kind == "record":
            return {f["name"]: self.decode(f["type"], at) for f in schema["fields"]}
        if kind == "array":
            return list(self._blocks(at, lambda: self.decode(schema["items"], at)))
        if kind == "map":
            return dict(self._blocks(at, lambda: (self.decode("string", at), self.decode(schema["values"], at))))
        raise ValueError(f"schema {schema!r}")

    def _blocks(self, at, item):
        while (count := self.long(at)) != 0:
            if count < 0:
                self.long(at)
            for _ in range(abs(count)):
                yield item()


def read(path):
    """(header keys as text, records as dicts)."""
    with open(path.removeprefix("file://"), "rb") as file:
        at = io.BytesIO(file.read())
    assert at.read(4) == b"Obj\x01"
    decoder = Decoder("null")
    header = {}
    while (count := decoder.long(at)) != 0:
        if count < 0:
            decoder.long(at)
        for _ in range(abs(count)):
            key = at.read(decoder.long(at)).decode()
            header[key] = at.read(decoder.long(at)).decode()
    sync = at.read(16)
    schema = json.loads(header["avro.schema"])
    decoder = Decoder(schema)
    records = []
    while True:
        probe = at.read(1)
        if not probe:
            break
        at.seek(-1, io.SEEK_CUR)
        count = decoder.long(at)
        block = io.BytesIO(decompress(header.get("avro.codec"), at.read(decoder.long(at))))
        records += [decoder.decode(schema, block) for _ in range(count)]
        assert at.read(16) == sync
    return header, records


# The schemas of manifests and manifest lists (specification, "Manifests" and "Manifest Lists")


def optional(kind):
    return ["null", kind]


def field(field_id, name, kind, required=True, **more):
    result = {"name": name, "type": kind if required else optional(kind)}
    if not required:
        result["default"] = None
    if field_id is not None:
        result["field-id"] = field_id
    return {**result, **more}


def id_map(key_id, value_id, value):
    """A map<int, value>: Avro's maps have text keys, so it is an array of pairs."""
    return {"type": "array", "logicalType": "map",
            "items": {"type": "record", "name": f"k{key_id}_v{value_id}",
                      "fields": [field(key_id, "key", "int"), field(value_id, "value", value)]}}


def list_type(element_id, kind):
    return {"type": "array", "items": kind, "element-id": element_id}


def primitive(kind):
    """The Avro type of an Iceberg primitive (appendix A)."""
    if kind in ("boolean", "int", "long", "float", "double", "string"):
        return kind
    if kind == "binary":
        return "bytes"
    if kind == "date":
        return {"type": "int", "logicalType": "date"}
    if kind == "time":
        return {"type": "long", "logicalType": "time-micros"}
    if kind in ("timestamp", "timestamptz"):
        return {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": kind == "timestamptz"}
    if kind == "uuid":
        return {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}
    if kind.startswith("fixed["):
        size = int(kind[6:-1])
        return {"type": "fixed", "name": f"fixed_{size}", "size": size}
    if kind.startswith("decimal("):
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        size = 1
        while (1 << (8 * size - 1)) <= 10 ** precision - 1:
            size += 1
        return {"type": "fixed", "name": f"decimal_{precision}_{scale}", "size": size, "logicalType": "decimal",
                "precision": precision, "scale": scale}
    raise ValueError(kind)


def data_file_fields(version, partition_fields):
    partition = {"type": "record", "name": "r102", "fields": list(partition_fields)}
    v1, v2, v3 = version == 1, version >= 2, version >= 3
    rows = [
        v2 and field(134, "content", "int"),
        field(100, "file_path", "string"),
        field(101, "file_format", "string"),
        field(102, "partition", partition),
        field(103, "record_count", "long"),
        field(104, "file_size_in_bytes", "long"),
        v1 and field(105, "block_size_in_bytes", "long"),
        field(108, "column_sizes", id_map(117, 118, "long"), False),
        field(109, "value_counts", id_map(119, 120, "long"), False),
        field(110, "null_value_counts", id_map(121, 122, "long"), False),
        field(137, "nan_value_counts", id_map(138, 139, "long"), False),
        field(125, "lower_bounds", id_map(126, 127, "bytes"), False),
        field(128, "upper_bounds", id_map(129, 130, "bytes"), False),
        field(131, "key_metadata", "bytes", False),
        field(132, "split_offsets", list_type(133, "long"), False),
        v2 and field(135, "equality_ids", list_type(136, "int"), False),
        field(140, "sort_order_id", "int", False),
        v3 and field(142, "first_row_id", "long", False),
        v2 and field(143, "referenced_data_file", "string", False),
        v3 and field(144, "content_offset", "long", False),
        v3 and field(145, "content_size_in_bytes", "long", False),
    ]
    return [row for row in rows if row]


def entry_schema(version=2, partition_fields=()):
    data_file = {"type": "record", "name": "r2", "fields": data_file_fields(version, partition_fields)}
    rows = [
        field(0, "status", "int"),
        field(1, "snapshot_id", "long", version == 1),
        version >= 2 and field(3, "sequence_number", "long", False),
        version >= 2 and field(4, "file_sequence_number", "long", False),
        field(2, "data_file", data_file),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": [row for row in rows if row]}


def list_schema(version=2, old_names=False):
    summary = {"type": "record", "name": "r508", "fields": [
        field(509, "contains_null", "boolean"), field(518, "contains_nan", "boolean", False),
        field(510, "lower_bound", "bytes", False), field(511, "upper_bound", "bytes", False)]}
    files = "data_files" if old_names else "files"
    counts = version >= 2
    rows = [
        field(500, "manifest_path", "string"),
        field(501, "manifest_length", "long"),
        field(502, "partition_spec_id", "int"),
        version >= 2 and field(517, "content", "int"),
        version >= 2 and field(515, "sequence_number", "long"),
        version >= 2 and field(516, "min_sequence_number", "long"),
        field(503, "added_snapshot_id", "long"),
        field(504, f"added_{files}_count", "int", counts),
        field(505, f"existing_{files}_count", "int", counts),
        field(506, f"deleted_{files}_count", "int", counts),
        field(512, "added_rows_count", "long", counts),
        field(513, "existing_rows_count", "long", counts),
        field(514, "deleted_rows_count", "long", counts),
        field(507, "partitions", list_type(508, summary), False),
        field(519, "key_metadata", "bytes", False),
        version >= 3 and field(520, "first_row_id", "long", False),
    ]
    return {"type": "record", "name": "manifest_file", "fields": [row for row in rows if row]}


def without_ids(schema):
    """The schema with every id gone, as an Avro library writes it that drops what it does not know."""
    if isinstance(schema, list):
        return [without_ids(item) for item in schema]
    if isinstance(schema, dict):
        return {k: without_ids(v) for k, v in schema.items() if k not in ("field-id", "element-id", "key-id", "value-id")}
    return schema


def find_field(schema, name):
    """The first field of that name, at any depth."""
    if isinstance(schema, list):
        schema = {"fields": [{"name": None, "type": item} for item in schema]}
    if not isinstance(schema, dict):
        return None
    for item in schema.get("fields", []):
        if item.get("name") == name:
            return item
    for item in schema.get("fields", []):
        found = find_field(item["type"], name)
        if found:
            return found
    for key in ("items", "values", "type"):
        if isinstance(schema.get(key), (dict, list)):
            found = find_field(schema[key], name)
            if found:
                return found
    return None


def drop_field(schema, name):
    """Removes a field, at any depth, in place; returns the schema."""
    if isinstance(schema, list):
        for item in schema:
            drop_field(item, name)
    elif isinstance(schema, dict):
        if "fields" in schema:
            schema["fields"] = [f for f in schema["fields"] if f["name"] != name]
        for item in schema.get("fields", []):
            drop_field(item["type"], name)
        for key in ("items", "values", "type"):
            drop_field(schema.get(key), name)
    return schema
