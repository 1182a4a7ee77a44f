"""Every level and value that firn reads from the corpus's Parquet files, against PyArrow's reading, or
against the values that come with a file as CSV.

PyArrow's nested values are taken apart into levels again, by the schema that dump_parquet prints.
"""

import csv
import decimal
import os
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

corpus = os.environ.get("FIRN_CORPUS")
dump = os.environ.get("FIRN_DUMP_PARQUET")
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None
if pa is None or not corpus or not dump:
    print("skipped: needs PyArrow, FIRN_CORPUS and FIRN_DUMP_PARQUET")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)

MAP, LIST, MAP_KEY_VALUE = 2, 3, 19
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2

# What firn refuses, and the word in its message.
REFUSED = {
    "datapage_v1-corrupt-checksum.parquet": "CRC",
    "rle-dict-uncompressed-corrupt-checksum.parquet": "CRC",
}
# What PyArrow does not read. The first takes 2 GiB for one value, and is read by nobody here.
NOT_BY_PYARROW = {
    "incorrect_map_schema.parquet": "its map's keys are optional",
}
LEFT_OUT = {"large_string_map.brotli.parquet"}


class Node:
    def __init__(self, repetition, kind, count, name):
        self.repetition, self.kind, self.count, self.name = repetition, kind, count, name
        self.children = []
        self.leaf = None


def parse_schema(lines):
    nodes = [Node(int(r), int(k), int(c), name) for _, _, r, k, c, name in lines]
    position = 0
    leaves = []

    def build(definition, repetition):
        nonlocal position
        node = nodes[position]
        position += 1
        if position > 1:
            definition += node.repetition != REQUIRED
            repetition += node.repetition == REPEATED
        node.definition, node.repetition_level = definition, repetition
        node.children = [build(definition, repetition) for _ in range(node.count)]
        if not node.children and position > 1:
            node.leaf = len(leaves)
            leaves.append(node)
        return node

    return build(0, 0), leaves


def parse_dump(text):
    schema, leaves, rows = [], {}, 0
    current = None
    for line in text.split("\n"):
        if line.startswith("node "):
            schema.append(line.split(" ", 5))
        elif line.startswith("chunk "):
            _, group, leaf, kind, _, _, count = line.split(" ")
            current = leaves.setdefault(int(leaf), (kind, []))[1]
            rows += int(count) if leaf == "0" else 0
        elif line:
            repetition, definition, value = line.split(" ", 2)
            current.append((int(repetition), int(definition), None if value == "-" else value))
    return schema, leaves, rows


def raw_type(kind):
    """A type of plain integers, floats and bytes that a column of `kind` can be cast to."""
    if isinstance(kind, pa.BaseExtensionType):
        return raw_type(kind.storage_type)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, raw_type(f.type)) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(raw_type(kind.key_type), raw_type(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(raw_type(kind.value_type))
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return pa.int32()
    if pa.types.is_date64(kind) or pa.types.is_time64(kind) or pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return pa.binary()
    return kind


def canonical(value):
    """PyArrow's value, comparable with that of from_dump."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, decimal.Decimal):
        sign, digits, exponent = value.as_tuple()
        number = int("".join(map(str, digits)))
        return ("decimal", -number if sign else number)
    return value


def wrapped(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def same(kind, dumped, value):
    """`dumped` is the text of a value of physical type `kind`; `value` is what PyArrow says."""
    value = canonical(value)
    if isinstance(value, tuple):
        if dumped.startswith("x"):
            dumped = int.from_bytes(bytes.fromhex(dumped[1:]), "big", signed=True)
        return int(dumped) == value[1]
    if kind in ("BOOLEAN", "INT32", "INT64"):
        bits = 64 if kind == "INT64" else 32
        return wrapped(int(dumped), bits) == wrapped(int(value), bits)
    data = bytes.fromhex(dumped[1:])
    if kind == "INT96":
        nanoseconds, day = struct.unpack("<qI", data)
        return wrapped((day - 2440588) * 86400 * 10**9 + nanoseconds, 64) == value
    if kind == "FLOAT":
        return data == struct.pack("<f", value) or value != value
    if kind == "DOUBLE":
        return data == struct.pack("<d", value) or value != value
    if isinstance(value, float):  # FLOAT16
        return data == struct.pack("<e", value) or value != value
    if isinstance(value, str):
        value = value.encode()
    return data == value


class Shredder:
    """Takes rows apart into (repetition level, definition level, value) for each leaf."""

    def __init__(self, leaves):
        self.levels = [[] for _ in leaves]

    def null(self, node, repetition, definition):
        if node.leaf is not None:
            self.levels[node.leaf].append((repetition, definition, None))
        for child in node.children:
            self.null(child, repetition, definition)

    def field(self, node, value, repetition, definition):
        """A node as a field of its parent."""
        if node.repetition == REPEATED:
            self.repeated(node, value, repetition, definition)
        elif node.repetition == OPTIONAL and value is None:
            self.null(node, repetition, definition)
        else:
            self.present(node, value, repetition)

    def repeated(self, node, values, repetition, definition):
        if not values:
            self.null(node, repetition, definition)
        for i, value in enumerate(values or []):
            self.present(node, value, repetition if i == 0 else node.repetition_level)

    def present(self, node, value, repetition):
        if node.leaf is not None:
            self.levels[node.leaf].append((repetition, node.definition, value))
        elif node.kind == LIST and len(node.children) == 1:
            self.elements(node, node.children[0], value, repetition)
        elif node.kind in (MAP, MAP_KEY_VALUE) and len(node.children) == 1:
            self.entries(node, node.children[0], value, repetition)
        else:
            for child in node.children:
                self.field(child, value[child.name], repetition, node.definition)

    def elements(self, node, middle, values, repetition):
        """LogicalTypes.md, "Lists", with the rules for backward compatibility."""
        is_element = (
            len(middle.children) != 1
            or middle.children[0].repetition == REPEATED
            or middle.name in ("array", node.name + "_tuple")
        )
        if is_element:
            return self.repeated(middle, values, repetition, node.definition)
        if not values:
            return self.null(middle, repetition, node.definition)
        for i, value in enumerate(values):
            again = repetition if i == 0 else middle.repetition_level
            self.field(middle.children[0], value, again, middle.definition)

    def entries(self, node, middle, pairs, repetition):
        if not pairs:
            return self.null(middle, repetition, node.definition)
        for i, pair in enumerate(pairs):
            again = repetition if i == 0 else middle.repetition_level
            if not isinstance(pair, tuple):  # a map without values is read as a list of keys
                pair = (pair[middle.children[0].name],) if isinstance(pair, dict) else (pair,)
            for child, value in zip(middle.children, pair):
                self.field(child, value, again, middle.definition)


def compare(path, text, table=None):
    """`table`: the rows, where PyArrow is not to read them from the file."""
    lines, leaves, rows = parse_dump(text)
    root, nodes = parse_schema(lines)
    table = pq.read_table(path, partitioning=None) if table is None else table
    assert table.num_rows == rows, f"{rows} rows where PyArrow has {table.num_rows}"
    shredder = Shredder(nodes)
    for child, column in zip(root.children, table.columns):
        column = column.cast(raw_type(column.type), safe=False)
        for value in column.to_pylist():
            shredder.field(child, value, 0, 0)
    for index, node in enumerate(nodes):
        kind, found = leaves.get(index, ("", []))
        expected = shredder.levels[index]
        assert len(found) == len(expected), f"{node.name}: {len(found)} levels, not {len(expected)}"
        for i, (ours, theirs) in enumerate(zip(found, expected)):
            agree = ours[:2] == theirs[:2] and (ours[2] is None) == (theirs[2] is None)
            if not agree or (ours[2] is not None and not same(kind, ours[2], theirs[2])):
                raise AssertionError(f"{node.name}: level {i}: {ours} where PyArrow has {theirs}")


def compare_csv(path, text):
    """The values of the flat files of delta encodings, in the form that came with them."""
    expected = path.parent / "expect" / (path.stem + "_expect.csv")
    if not expected.exists():
        return
    with expected.open(newline="") as stream:
        rows = list(csv.reader(stream))
    lines, leaves, count = parse_dump(text)
    names = [node.name for node in parse_schema(lines)[1]]
    assert len(rows) - 1 == count, f"{count} rows where the CSV has {len(rows) - 1}"
    header = [name.strip(": ") for name in rows[0]]
    for index, name in enumerate(names):
        column = header.index(name.strip(": "))
        _, levels = leaves[index]
        for i, (row, level) in enumerate(zip(rows[1:], levels)):
            value = level[2]
            if value is not None and value.startswith("x"):
                value = bytes.fromhex(value[1:]).decode()
            assert (value or "") == row[column], f"{name}: row {i}: {value}, not {row[column]}"


def files(scratch):
    root = pathlib.Path(corpus)
    yield from sorted((root / "parquet").glob("*.parquet"))
    yield from sorted((root / "parquet-encodings").rglob("*.parquet"))
    yield from sorted((root / "tables").rglob("*.parquet"))
    yield from sorted((root / "variant").rglob("*.parquet"))
    for archive in sorted((root / "spark").glob("*.tar.gz")):
        folder = scratch / archive.name
        with tarfile.open(archive) as tables:
            tables.extractall(folder, filter="data")
        yield from sorted(folder.rglob("*.parquet"))


def check(path):
    result = subprocess.run([dump, path], capture_output=True, text=True, check=False)
    reason = REFUSED.get(path.name)
    if reason:
        assert result.returncode == 1 and reason in result.stderr, result.stderr
        return
    assert result.returncode == 0, result.stderr
    if path.name not in NOT_BY_PYARROW:
        compare(path, result.stdout)
    compare_csv(path, result.stdout)


def main():
    count = failures = 0
    only = re.compile(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as scratch:
        for path in files(pathlib.Path(scratch)):
            if path.name in LEFT_OUT or (only and not only.search(str(path))):
                continue
            count += 1
            try:
                check(path)
            except Exception as problem:  # any difference is reported, and the next file looked at
                failures += 1
                print(f"{path}: {type(problem).__name__}: {problem}")
    print(f"{count} files, {failures} differ")
    sys.exit(1 if failures or count == 0 else 0)


if __name__ == "__main__":
    main()
