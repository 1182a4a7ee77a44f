"""FX-AVRO: Avro container files for tests, from a schema's text taken verbatim.

    write(path, schema, records, metadata={}, codec="null", records_per_block=0, signed_counts=False,
          encode_schema=None, sync=b"fx-avro-sync-16!")

Records and maps are dicts (an absent field is None), arrays lists, bytes and fixed bytes, enums positions. The
branch of a union is the first that suits the value; Branch(i, value) states it, so that unions in either order and
wrong branches can be made. `encode_schema` encodes by another schema than the header shows. Shares no code with firn.
"""
import json
import struct
import zlib
from dataclasses import dataclass
from typing import Any


@dataclass
class Branch:
    index: int
    value: Any


def long(n):
    n = (n << 1) ^ (n >> 63)
    n &= 2**64 - 1
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def blob(data):
    return long(len(data)) + data


class Encoder:
    def __init__(self, schema, signed_counts=False):
        self.schema, self.signed, self.names = schema, signed_counts, {}
        self._remember(schema)

    def _remember(self, s):
        if isinstance(s, list):
            for branch in s:
                self._remember(branch)
        elif isinstance(s, dict):
            if "name" in s and ("fields" in s or "size" in s or "symbols" in s):
                self.names[s["name"]] = s
            for field in s.get("fields", []):
                self._remember(field["type"])
            for key in ("items", "values", "type"):
                self._remember(s.get(key))

    def _kind(self, s):
        if isinstance(s, list):
            return "union", s
        if isinstance(s, str):
            return self._kind(self.names[s]) if s in self.names else (s, {})
        if isinstance(s["type"], str) and s["type"] not in self.names:
            return s["type"], s
        return self._kind(s["type"])

    def _suits(self, s, v):
        kind, _ = self._kind(s)
        wanted = {"null": type(None), "boolean": bool, "int": int, "long": int, "enum": int, "float": float,
                  "double": float, "string": str, "bytes": bytes, "fixed": bytes, "record": dict, "map": dict,
                  "array": list}[kind]
        return isinstance(v, wanted) and (wanted is bool) == isinstance(v, bool)

    def _blocks(self, items):
        if self.signed:
            return b"".join(long(-1) + blob(i) for i in items) + long(0)
        return (long(len(items)) + b"".join(items) if items else b"") + long(0)

    def encode(self, v, s=None):
        s = self.schema if s is None else s
        kind, s = self._kind(s)
        if kind == "union":
            if isinstance(v, Branch):
                return long(v.index) + (self.encode(v.value, s[v.index]) if v.index < len(s) else b"")
            index = next(i for i, branch in enumerate(s) if self._suits(branch, v))
            return long(index) + self.encode(v, s[index])
        if kind == "null":
            return b""
        if kind == "boolean":
            return bytes([v])
        if kind in ("int", "long", "enum"):
            return long(v)
        if kind in ("float", "double"):
            return struct.pack("<f" if kind == "float" else "<d", v)
        if kind in ("string", "bytes"):
            return blob(v.encode() if isinstance(v, str) else v)
        if kind == "fixed":
            return v
        if kind == "record":
            return b"".join(self.encode(v.get(f["name"]), f["type"]) for f in s["fields"])
        if kind == "array":
            return self._blocks([self.encode(i, s["items"]) for i in v])
        return self._blocks([blob(k.encode()) + self.encode(i, s["values"]) for k, i in v.items()])


def pack(codec, data):
    if codec == "deflate":
        return zlib.compress(data)[2:-4]
    if codec == "zstandard":
        import zstandard
        return zstandard.compress(data)
    return data


def file(schema, records, metadata=None, codec="null", records_per_block=0, signed_counts=False,
         encode_schema=None, sync=b"fx-avro-sync-16!"):
    """The bytes of a file. `codec` None leaves the key out; an unknown one is written over plain data."""
    encoder = Encoder(json.loads(encode_schema or schema), signed_counts)
    header = {"avro.schema": schema}
    if codec is not None:
        header["avro.codec"] = codec
    header.update(metadata or {})
    out = b"Obj\x01" + long(len(header))
    for key, value in header.items():
        out += blob(key.encode()) + blob(value if isinstance(value, bytes) else value.encode())
    out += long(0) + sync
    step = records_per_block or max(len(records), 1)
    for i in range(0, len(records), step):
        part = records[i:i + step]
        out += long(len(part)) + blob(pack(codec, b"".join(map(encoder.encode, part)))) + sync
    return out


def write(path, *arguments, **options):
    with open(path, "wb") as out:
        out.write(file(*arguments, **options))
