"""
Parquet for tests, page by page: Thrift's compact protocol (read and written without knowing the structs), a writer that
takes physical and logical types, field ids, page versions, encodings and codecs as told, and a patcher for real footers.

A schema is a tree: leaf(...) and group(...). Rows are dicts by name; a repeated node's value is a list. list_value() and
map_value() turn Python's lists and dicts into the three-level form.
"""
import os
import struct

import fx_avro
import zlib

# Thrift. A struct is a dict {field id: (type, value)}, in order; a list is (element type, [values]).

TRUE, FALSE, I8, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


def bool_of(value):
    return (TRUE, True) if value else (FALSE, False)


def i32(value):
    return (I32, value)


def i64(value):
    return (I64, value)


def text(value):
    return (BINARY, value.encode() if isinstance(value, str) else value)


def structs(items):
    return (LIST, (STRUCT, list(items)))


def thrift(fields):
    """A struct from {id: (type, value) or None}."""
    return {k: v for k, v in fields.items() if v is not None}


def encode_value(kind, value, out):
    if kind in (TRUE, FALSE):
        pass
    elif kind == I8:
        out += struct.pack("b", value)
    elif kind in (I16, I32, I64):
        out += fx_avro.varint(value)
    elif kind == DOUBLE:
        out += struct.pack("<d", value)
    elif kind == BINARY:
        out += fx_avro.unsigned_varint(len(value)) + value
    elif kind in (LIST, SET):
        element, items = value
        out += bytes([len(items) << 4 | element]) if len(items) < 15 else \
            bytes([0xF0 | element]) + fx_avro.unsigned_varint(len(items))
        for item in items:
            if element in (TRUE, FALSE):
                out += b"\x01" if item else b"\x02"
            else:
                encode_value(element, item, out)
    elif kind == STRUCT:
        encode_struct(value, out)
    else:
        raise ValueError(kind)


def encode_struct(fields, out):
    last = 0
    for number, (kind, value) in fields.items():
        delta = number - last
        if 0 < delta < 16:
            out.append(delta << 4 | kind)
        else:
            out.append(kind)
            out += fx_avro.varint(number)
        encode_value(kind, value, out)
        last = number
    out.append(0)
    return out


def dump_struct(fields):
    return bytes(encode_struct(fields, bytearray()))


class Parser:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def unsigned(self):
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def value(self, kind):
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == I8:
            return struct.unpack("b", self.take(1))[0]
        if kind in (I16, I32, I64):
            return self.signed()
        if kind == DOUBLE:
            return struct.unpack("<d", self.take(8))[0]
        if kind == BINARY:
            return self.take(self.unsigned())
        if kind in (LIST, SET):
            head = self.byte()
            count = head >> 4 if head >> 4 != 15 else self.unsigned()
            element = head & 15
            if element in (TRUE, FALSE):
                return (element, [self.byte() == 1 for _ in range(count)])
            return (element, [self.value(element) for _ in range(count)])
        if kind == STRUCT:
            return self.struct()
        raise ValueError(kind)

    def struct(self):
        fields, last = {}, 0
        while (head := self.byte()) != 0:
            last = last + (head >> 4) if head >> 4 else self.signed()
            fields[last] = (head & 15, self.value(head & 15))
        return fields


# Names for the numbers that tests use.

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE_TYPE, BYTE_ARRAY, FIXED = range(8)
REQUIRED, OPTIONAL, REPEATED = range(3)
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8
CODECS = {"none": 0, "snappy": 1, "gzip": 2, "zstd": 6}
NO_FIELDS = (STRUCT, {})
LOGICAL = {
    "string": {1: NO_FIELDS}, "map": {2: NO_FIELDS}, "list": {3: NO_FIELDS}, "date": {6: NO_FIELDS},
    "uuid": {14: NO_FIELDS},
    "timestamp": {8: (STRUCT, {1: bool_of(False), 2: (STRUCT, {2: NO_FIELDS})})},
    "timestamptz": {8: (STRUCT, {1: bool_of(True), 2: (STRUCT, {2: NO_FIELDS})})},
}
CONVERTED = {"string": 0, "map": 1, "list": 3, "date": 6}


def decimal(precision, scale):
    return {5: (STRUCT, {1: i32(scale), 2: i32(precision)})}


class Node:
    def __init__(self, name, physical=None, repetition=OPTIONAL, field_id=None, logical=None, converted=None,
                 length=None, children=()):
        self.name, self.physical, self.repetition, self.field_id = name, physical, repetition, field_id
        self.logical = LOGICAL[logical] if isinstance(logical, str) else logical
        self.converted = CONVERTED.get(logical) if converted is None and isinstance(logical, str) else converted
        self.length, self.children = length, list(children)

    def element(self, root=False):
        return thrift({
            1: None if self.physical is None else i32(self.physical),
            2: None if self.length is None else i32(self.length),
            3: None if root else i32(self.repetition),
            4: text(self.name),
            5: None if self.physical is not None else i32(len(self.children)),
            6: None if self.converted is None else i32(self.converted),
            9: None if self.field_id is None else i32(self.field_id),
            10: None if self.logical is None else (STRUCT, self.logical),
        })


def leaf(name, physical, field_id=None, **more):
    return Node(name, physical, field_id=field_id, **more)


def group(name, *children, **more):
    return Node(name, children=children, **more)


def string(name, field_id=None, **more):
    return leaf(name, BYTE_ARRAY, field_id, logical="string", **more)


def list_group(name, element, field_id=None, **more):
    """A three-level list."""
    return group(name, group("list", element, repetition=REPEATED), logical="list", field_id=field_id, **more)


def map_group(name, key, value, field_id=None, **more):
    return group(name, group("key_value", key, value, repetition=REPEATED), logical="map", field_id=field_id, **more)


def list_value(items, name="element"):
    return None if items is None else {"list": [{name: item} for item in items]}


def map_value(pairs):
    return None if pairs is None else {"key_value": [{"key": k, "value": v} for k, v in pairs.items()]}


# From rows to levels


class Column:
    def __init__(self, node, path, max_rep, max_def):
        self.node, self.path, self.max_rep, self.max_def = node, path, max_rep, max_def
        self.triples = []  # (repetition level, definition level, value)


def columns_of(nodes, path=(), max_rep=0, max_def=0):
    found = []
    for node in nodes:
        rep = max_rep + (node.repetition == REPEATED)
        depth = max_def + (node.repetition != REQUIRED)
        if node.physical is not None:
            found.append(Column(node, (*path, node.name), rep, depth))
        else:
            found += columns_of(node.children, (*path, node.name), rep, depth)
    return found


def shred(nodes, row, by_path, path=(), rep=0, depth=0, rep_depth=0):
    for node in nodes:
        value = None if row is None else row.get(node.name)
        here = (*path, node.name)
        if node.repetition == REPEATED:
            items = value or []
            if not items:
                nothing([node], by_path, path, rep, depth)
            for i, item in enumerate(items):
                emit(node, item, by_path, here, rep if i == 0 else rep_depth + 1, depth + 1, rep_depth + 1)
        elif value is None:
            assert node.repetition == OPTIONAL, f"{here} is required"
            nothing([node], by_path, path, rep, depth)
        else:
            emit(node, value, by_path, here, rep, depth + (node.repetition == OPTIONAL), rep_depth)


def emit(node, value, by_path, here, rep, depth, rep_depth):
    if node.physical is not None:
        by_path[here].triples.append((rep, depth, value))
    else:
        shred(node.children, value, by_path, here, rep, depth, rep_depth)


def nothing(nodes, by_path, path, rep, depth):
    for node in nodes:
        here = (*path, node.name)
        if node.physical is not None:
            by_path[here].triples.append((rep, depth, None))
        else:
            nothing(node.children, by_path, here, rep, depth)


# Pages


def plain(node, values):
    kind = node.physical
    if kind == BOOLEAN:
        bits = bytearray((len(values) + 7) // 8)
        for i, value in enumerate(values):
            bits[i // 8] |= bool(value) << (i % 8)
        return bytes(bits)
    out = bytearray()
    for value in values:
        if kind == BYTE_ARRAY:
            data = value.encode() if isinstance(value, str) else value
            out += struct.pack("<I", len(data)) + data
        elif kind in (FIXED, INT96):
            out += value
        else:
            out += struct.pack({INT32: "<i", INT64: "<q", FLOAT: "<f", DOUBLE_TYPE: "<d"}[kind], value)
    return bytes(out)


def rle(values, width):
    """RLE runs only; no length before them."""
    out, at, size = bytearray(), 0, (width + 7) // 8
    while at < len(values):
        end = at
        while end < len(values) and values[end] == values[at]:
            end += 1
        out += fx_avro.unsigned_varint((end - at) << 1) + values[at].to_bytes(size, "little")
        at = end
    return bytes(out)


def pack(codec, data):
    if codec == "none":
        return data
    if codec == "snappy":
        return fx_avro.snappy_literals(data)
    if codec == "gzip":
        packer = zlib.compressobj(wbits=31)
        return packer.compress(data) + packer.flush()
    return fx_avro.compress("zstandard", data)


class Page:
    """How the next `rows` rows of a chunk are written; None takes the rest. compressed: is_compressed of a v2 page."""

    def __init__(self, rows=None, version=1, dictionary=False, compressed=True, flag=None, header=None):
        self.rows, self.version, self.dictionary, self.compressed = rows, version, dictionary, compressed
        self.flag = compressed if flag is None else flag   # what the header says; "absent" leaves it out
        self.header = header                               # changes the header (a thrift struct) before it is written


def _header(kind, raw_size, packed_size, number, body, change=None):
    head = {1: i32(kind), 2: i32(raw_size), 3: i32(packed_size), number: (STRUCT, body)}
    if change:
        head = change(head) or head
    return dump_struct(head)


def page_bytes(column, triples, page, codec, dictionary):
    reps = [t[0] for t in triples]
    defs = [t[1] for t in triples]
    values = [t[2] for t in triples if t[1] == column.max_def]
    if page.dictionary:
        width = max(1, (len(dictionary) - 1).bit_length())
        body = bytes([width]) + rle([dictionary.index(v) for v in values], width)
        encoding = RLE_DICTIONARY if page.version == 2 else PLAIN_DICTIONARY
    else:
        body, encoding = plain(column.node, values), PLAIN
    rep_bytes = rle(reps, column.max_rep.bit_length()) if column.max_rep else b""
    def_bytes = rle(defs, column.max_def.bit_length()) if column.max_def else b""
    if page.version == 1:
        raw = b"".join(struct.pack("<I", len(levels)) + levels for levels, maximum in
                       ((rep_bytes, column.max_rep), (def_bytes, column.max_def)) if maximum) + body
        packed = pack(codec, raw)
        fields = {1: i32(len(triples)), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE)}
        head = _header(0, len(raw), len(packed), 5, fields, page.header)
        return head + packed, len(head) + len(raw)
    packed = pack(codec, body) if page.compressed else body
    levels = rep_bytes + def_bytes
    fields = thrift({1: i32(len(triples)), 2: i32(len(triples) - len(values)), 3: i32(reps.count(0)),
                     4: i32(encoding), 5: i32(len(def_bytes)), 6: i32(len(rep_bytes)),
                     7: None if page.flag == "absent" else bool_of(page.flag)})
    head = _header(3, len(levels) + len(body), len(levels) + len(packed), 8, fields, page.header)
    return head + levels + packed, len(head) + len(levels) + len(body)


def _split(triples, pages):
    """Hands each page its rows: a row begins at repetition level 0."""
    starts = [i for i, t in enumerate(triples) if t[0] == 0] + [len(triples)]
    row = 0
    for page in pages:
        end = len(starts) - 1 if page.rows is None else min(row + page.rows, len(starts) - 1)
        yield page, triples[starts[row]:starts[end]]
        row = end
    assert row == len(starts) - 1, "the pages do not take all rows"


def chunk_bytes(column, pages, codec, offset):
    """(bytes, ColumnChunk as a thrift struct)."""
    out, raw_total = bytearray(), 0
    dictionary, dictionary_offset = [], None
    # A page's header size is its own: measured before the body is compressed twice.
    if any(page.dictionary for page in pages):
        for _, depth, value in column.triples:
            if depth == column.max_def and value not in dictionary:
                dictionary.append(value)
        raw = plain(column.node, dictionary)
        packed = pack(codec, raw)
        head = _header(2, len(raw), len(packed), 7, {1: i32(len(dictionary)), 2: i32(PLAIN)})
        dictionary_offset = offset
        out += head + packed
        raw_total += len(head) + len(raw)
    data_offset = offset + len(out)
    for page, triples in _split(column.triples, pages):
        data, raw = page_bytes(column, triples, page, codec, dictionary)
        out += data
        raw_total += raw
    encodings = sorted({PLAIN, RLE} | {RLE_DICTIONARY if p.version == 2 else PLAIN_DICTIONARY
                                       for p in pages if p.dictionary})
    meta = thrift({
        1: i32(column.node.physical), 2: (LIST, (I32, encodings)),
        3: (LIST, (BINARY, [name.encode() for name in column.path])), 4: i32(CODECS[codec]),
        5: i64(len(column.triples)), 6: i64(raw_total), 7: i64(len(out)), 9: i64(data_offset),
        11: None if dictionary_offset is None else i64(dictionary_offset)})
    return bytes(out), {2: i64(0), 3: (STRUCT, meta)}


def dumps(nodes, groups, pages=None, codec="zstd", created_by="fx version 1", key_values=None):
    """
    A whole file. `groups` is a list of lists of rows. `pages` maps a dotted column name to its list of Page, or is a
    function (group number, column) -> list of Page; without it every chunk is one v1 PLAIN page.
    """
    out = bytearray(b"PAR1")
    row_groups = []
    for number, rows in enumerate(groups):
        columns = columns_of(nodes)
        by_path = {column.path: column for column in columns}
        for row in rows:
            shred(nodes, row, by_path)
        chunks, start, raw = [], len(out), 0
        for column in columns:
            how = pages(number, column) if callable(pages) else (pages or {}).get(".".join(column.path))
            data, chunk = chunk_bytes(column, how or ([Page()] if rows else []), codec, len(out))
            out += data
            raw += chunk[3][1][6][1]
            chunks.append(chunk)
        row_groups.append({1: structs(chunks), 2: i64(raw), 3: i64(len(rows)), 5: i64(start),
                           6: i64(len(out) - start), 7: (I16, number)})
    elements = []

    def walk(node, root=False):
        elements.append(node.element(root))
        for child in node.children:
            walk(child)

    walk(group("table", *nodes), True)
    footer = thrift({
        1: i32(2), 2: structs(elements), 3: i64(sum(len(rows) for rows in groups)), 4: structs(row_groups),
        5: None if not key_values else structs({1: text(k), 2: text(v)} for k, v in key_values.items()),
        6: None if created_by is None else text(created_by),
        7: structs({1: NO_FIELDS} for _ in columns_of(nodes))})
    return bytes(out) + closing(footer)


def closing(footer):
    data = dump_struct(footer)
    return data + struct.pack("<I", len(data)) + b"PAR1"


def write(path, nodes, groups, **options):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(dumps(nodes, groups, **options))
    return path


# Patching what is there


def footer_of(data):
    size = struct.unpack("<I", data[-8:-4])[0]
    return Parser(data, len(data) - 8 - size).struct(), data[:len(data) - 8 - size]


def patch(path, change):
    """Rewrites the footer of a file: `change` gets FileMetaData as a thrift struct and edits it in place."""
    with open(path, "rb") as file:
        footer, body = footer_of(file.read())
    change(footer)
    with open(path, "wb") as file:
        file.write(body + closing(footer))


def row_groups(footer):
    return footer[4][1][1]


def chunks(row_group):
    """The ColumnMetaData of each column."""
    return [chunk[3][1] for chunk in row_group[1][1][1]]


def read_footer(path):
    with open(path.removeprefix("file://"), "rb") as file:
        return footer_of(file.read())[0]


def schema_elements(footer):
    """[(name, field id or None, physical type or None)], without the root."""
    return [(e[4][1].decode(), e[9][1] if 9 in e else None, e[1][1] if 1 in e else None)
            for e in footer[2][1][1][1:]]


def page_headers(path, row_group=0, column=0):
    """[(offset, header size, header)] of a chunk, walked from its start."""
    with open(path, "rb") as file:
        data = file.read()
    meta = chunks(row_groups(footer_of(data)[0])[row_group])[column]
    at = min(meta[n][1] for n in (9, 11) if n in meta)
    end = at + meta[7][1]
    found = []
    while at < end:
        parser = Parser(data, at)
        head = parser.struct()
        found.append((at, parser.at - at, head))
        at = parser.at + head[3][1]
    return found
