"""Cases for test_rewrite_readers: `make FOLDER SEED` writes inputs with PyArrow and DuckDB, and what is to be done
with them; `check FOLDER` reads what came out with both and compares rows, bounds and counts."""
import array
import datetime
import decimal
import itertools
import math
import os
import random
import subprocess
import sys

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError:
    print("skipped: needs PyArrow and DuckDB")
    sys.exit(77)

CODECS = {"NONE": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "ZSTD": 6, "LZ4": 7}
if os.environ.get("FIRN_CASES_FOR") == "spark":
    CODECS = {"NONE": 0, "SNAPPY": 1, "ZSTD": 6}
LONG = ["x" * 70, "é" * 40, "\U0010ffff" * 20, "z" * 63 + "é" + "tail", "\ud7ff" * 30, ""]


def values(dice, kind):
    """A function that draws a value, from few or from many, or one that was not there before."""
    counter = itertools.count(dice.randrange(1000))
    if dice.random() < 0.3 and kind in ("int", "float", "string"):
        make = {"int": lambda i: i * 3 - 5000, "float": lambda i: i / 4, "string": lambda i: f"{i:x}, {LONG[i % 6]}"}[kind]
        return lambda: make(next(counter))
    few = dice.random() < 0.5
    span = 7 if few else 1 << 30
    if kind == "bool":
        return lambda: dice.random() < 0.5
    if kind == "int":
        return lambda: dice.randrange(-span, span)
    if kind == "uint":
        return lambda: dice.randrange(1 << 32) if not few else dice.choice([0, 1 << 31, (1 << 32) - 1])
    if kind == "float":
        special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, -2.25]
        return lambda: dice.choice(special) if few else dice.choice(special + [dice.randrange(-span, span) / 8])
    if kind == "string":
        words = LONG + ["a", "b", "Ω", "common"]
        return lambda: dice.choice(words) if few else dice.choice(words) + str(dice.randrange(span))
    if kind == "binary":
        words = [b"\xff" * 70, b"\xff" * 63 + b"\x00" * 9, b"", b"\x00", b"\x80abc"]
        return lambda: dice.choice(words) if few else dice.choice(words) + dice.randbytes(3)
    raise ValueError(kind)


def draw(dice, kind, nulls):
    source = values(dice, kind)
    return lambda: None if dice.random() < nulls else source()


def many(dice, one, nulls, most=4):
    return lambda: None if dice.random() < nulls else [one() for _ in range(dice.randrange(most))]


def fixed(dice, width, nulls):
    return lambda: None if dice.random() < nulls else dice.randbytes(1) * width


def scaled(dice, digits, scale, nulls):
    def one():
        if dice.random() < nulls:
            return None
        context = decimal.Context(prec=60)
        return context.scaleb(decimal.Decimal(dice.randrange(-10**digits + 1, 10**digits)), -scale)
    return one


def moments(dice, unit, nulls):
    span = 10**12 if unit == "us" else 10**9
    return lambda: None if dice.random() < nulls else dice.randrange(-span, span)


def records(dice, nulls):
    number, text, numbers = draw(dice, "int", nulls), draw(dice, "string", nulls), many(dice, draw(dice, "int", 0), nulls)
    return lambda: None if dice.random() < nulls else {"a": number(), "b": text(), "c": numbers()}


RECORD = pa.struct([("a", pa.int32()), ("b", pa.string()), ("c", pa.list_(pa.int64()))])


def columns(dice, nulls):
    """Name → (type, draw)."""
    rows = {
        "bool": (pa.bool_(), draw(dice, "bool", nulls)),
        "int": (pa.int32(), draw(dice, "int", nulls)),
        "uint": (pa.uint32(), draw(dice, "uint", nulls)),
        "long": (pa.int64(), draw(dice, "int", nulls)),
        "float": (pa.float32(), draw(dice, "float", nulls)),
        "double": (pa.float64(), draw(dice, "float", nulls)),
        "string": (pa.string(), draw(dice, "string", nulls)),
        "binary": (pa.binary(), draw(dice, "binary", nulls)),
        "fixed": (pa.binary(16), fixed(dice, 16, nulls)),
        "dec9": (pa.decimal128(9, 2), scaled(dice, 9, 2, nulls)),
        "dec18": (pa.decimal128(18, 3), scaled(dice, 18, 3, nulls)),
        "dec38": (pa.decimal128(38, 10), scaled(dice, 38, 10, nulls)),
        "date": (pa.date32(), draw(dice, "int", nulls)),
        "millis": (pa.timestamp("ms"), moments(dice, "ms", nulls)),
        "micros": (pa.timestamp("us", "UTC"), moments(dice, "us", nulls)),
        "clock": (pa.time32("ms"), lambda: None if dice.random() < nulls else dice.randrange(86400000)),
        "none": (pa.int32(), lambda: None),
        "ints": (pa.list_(pa.int32()), many(dice, draw(dice, "int", nulls), nulls)),
        "texts": (pa.list_(pa.string()), many(dice, draw(dice, "string", nulls), nulls)),
        "deep": (pa.list_(pa.list_(pa.float64())), many(dice, many(dice, draw(dice, "float", nulls), nulls), nulls)),
        "record": (RECORD, records(dice, nulls)),
        "list_of_records": (pa.list_(RECORD), many(dice, records(dice, nulls), nulls)),
        "map": (pa.map_(pa.string(), pa.int64()),
                lambda: None if dice.random() < nulls else
                [(f"k{i}", None if dice.random() < nulls else i) for i in range(dice.randrange(4))]),
    }
    if os.environ.get("FIRN_CASES_FOR") == "spark":
        del rows["clock"]  # Spark has no such type
    names = dice.sample(list(rows), dice.randrange(3, len(rows)))
    return {name: rows[name] for name in sorted(names)}


def make_array(kind, one, count):
    data = [one() for _ in range(count)]
    if pa.types.is_date32(kind):
        return pa.array([None if v is None else v % 40000 for v in data], pa.int32()).cast(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(data, pa.int64()).cast(kind)
    if pa.types.is_time32(kind):
        return pa.array(data, pa.int32()).cast(kind)
    return pa.array(data, kind)


# Spark 4.1's vectorised reader takes no BYTE_STREAM_SPLIT, whoever wrote it.
SPLIT = ["BYTE_STREAM_SPLIT"] if os.environ.get("FIRN_CASES_FOR") != "spark" else []
ENCODINGS = {"INT32": ["DELTA_BINARY_PACKED", *SPLIT], "INT64": ["DELTA_BINARY_PACKED", *SPLIT], "FLOAT": SPLIT, "DOUBLE": SPLIT,
             "BYTE_ARRAY": ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"], "FIXED_LEN_BYTE_ARRAY": ["DELTA_BYTE_ARRAY", *SPLIT]}


def draw_encodings(dice, table, **options):
    """An encoding for some of the table's leaves, by path."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.slice(0, 0), sink, **options)
    schema = pq.ParquetFile(pa.BufferReader(sink.getvalue())).schema
    leaves = {schema.column(i).path: ENCODINGS.get(schema.column(i).physical_type, []) for i in range(len(schema))}
    # DuckDB takes fewer: let most cases be of those, so that it has something to read.
    wide = dice.random() < 0.3
    leaves = {path: [n for n in names if wide or n != "BYTE_STREAM_SPLIT" or names == SPLIT] for path, names in leaves.items()}
    return {path: dice.choice(names) for path, names in leaves.items() if names and dice.random() < 0.6}


def write_input(dice, table, path):
    # DuckDB would turn milliseconds into microseconds, and fixed into variable length.
    by_duckdb = dice.random() < 0.4 and not {"millis", "clock", "fixed"} & set(table.column_names)
    if by_duckdb:
        connection = duckdb.connect()
        connection.register("t", table)
        codec = dice.choice(["UNCOMPRESSED", "SNAPPY", "ZSTD"])
        version = dice.choice(["V1", "V2"]) if SPLIT else "V1"
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version}, ROW_GROUP_SIZE "
                           f"{dice.choice([2048, 100000])})")
        return
    integers = dice.random() < 0.5
    encodings = draw_encodings(dice, table, store_decimal_as_integer=integers) if dice.random() < 0.5 else None
    pq.write_table(table, path, compression=dice.choice(list(CODECS)), column_encoding=encodings,
                   use_dictionary=encodings is None and dice.choice([True, False]), data_page_version=dice.choice(["1.0", "2.0"]),
                   data_page_size=dice.choice([100, 5000, 1 << 20]), write_batch_size=dice.choice([10, 1000]),
                   row_group_size=dice.choice([100, 1500, 1 << 20]), store_decimal_as_integer=integers,
                   write_page_index=dice.random() < 0.5)


PROMOTIONS = {"int": pa.int64(), "float": pa.float64(), "dec9": pa.decimal128(18, 2), "dec18": pa.decimal128(38, 3),
              "millis": pa.timestamp("us"), "clock": pa.time64("us")}


def evolve(dice, table):
    """A later schema for the table: promoted, added, dropped and reordered columns; and its rows under it."""
    arrays = {}
    for name in table.column_names:
        column = table[name]
        if dice.random() < 0.15:
            continue
        if name in PROMOTIONS and dice.random() < 0.5:
            column = column.cast(PROMOTIONS[name])
        arrays[name] = column
    if dice.random() < 0.5:
        arrays["added"] = pa.nulls(len(table), pa.string())
    if dice.random() < 0.5:
        arrays["added_list"] = pa.nulls(len(table), pa.list_(RECORD))
    names = list(arrays)
    dice.shuffle(names)
    return {name: arrays[name] for name in names}


def grown(kind):
    """RECORD with one more field wherever it stands."""
    if pa.types.is_struct(kind):
        return pa.struct([(f.name, grown(f.type)) for f in kind] + [("more", pa.int64())])
    if pa.types.is_list(kind):
        return pa.list_(grown(kind.value_type))
    return kind


def grow(value, kind):
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {f.name: grow(value[f.name], f.type) for f in kind if f.name in value} | {"more": None}
    if pa.types.is_list(kind):
        return [grow(item, kind.value_type) for item in value]
    return value


def choose_dropped(dice, rows):
    """Numbers of rows of a row group that go."""
    how = dice.choice(["none", "none", "few", "many", "runs", "ends", "all", "page"])
    if how in ("few", "many"):
        share = 0.03 if how == "few" else 0.6
        return [row for row in range(rows) if dice.random() < share]
    if how == "runs":
        gone, row = [], dice.randrange(rows)
        while row < rows:
            end = min(rows, row + 1 + dice.randrange(1 + rows // 3))
            gone += range(row, end)
            row = end + 1 + dice.randrange(1 + rows // 3)
        return gone
    if how == "ends":
        return sorted({0, rows - 1})
    if how == "page":
        first = dice.randrange(0, rows, 1000)
        return list(range(first, min(rows, first + 1000)))
    return list(range(rows)) if how == "all" else []


LINEAGE = ("row_id", "sequence")


def add_lineage(dice, table):
    """Columns as a v3 writer may leave them: not there, null, null in part, or complete."""
    for name in LINEAGE:
        nulls = dice.choice([None, 1, 0.3, 0])
        if nulls is None:
            continue
        data = [None if dice.random() < nulls else dice.randrange(5 if name == "sequence" else 1 << 40) for _ in range(len(table))]
        table = table.append_column(pa.field(name, pa.int64(), nullable=nulls != 0 or dice.random() < 0.7), pa.array(data, pa.int64()))
    return table


def fill_lineage(table, base):
    """The table as its reader sees it, lineage columns last."""
    for name in LINEAGE:
        held = table[name].to_pylist() if name in table.column_names else [None] * len(table)
        if base >= 0:
            held = [(base + row if name == "row_id" else base) if value is None else value for row, value in enumerate(held)]
        if name in table.column_names:
            table = table.drop_columns([name])
        table = table.append_column(name, pa.array(held, pa.int64()))
    return table


def make_case(dice, folder):
    os.makedirs(folder)
    nulls = dice.choice([0, 0.05, 0.4])
    shape = columns(dice, nulls)
    lines = []
    slices = []
    lineage = dice.random() < 0.4
    drops = dice.random() < 0.6
    for i in range(dice.randrange(1, 4)):
        count = dice.choice([1, 300, 3000, 20000 if len(shape) < 8 else 5000])
        table = pa.table({name: make_array(kind, one, count) for name, (kind, one) in shape.items()})
        if nulls == 0 and dice.random() < 0.5:
            # PyArrow writes REQUIRED for fields that can't be null; "none" is all null.
            table = table.cast(pa.schema([pa.field(f.name, f.type, nullable=f.name == "none") for f in table.schema]))
        if lineage:
            table = add_lineage(dice, table)
        path = f"{folder}/in{i}.parquet"
        write_input(dice, table, path)
        lines.append(f"input in{i}.parquet")
        # What PyArrow itself reads is what there is: DuckDB may have changed a type on writing.
        table = pq.read_table(path)
        if lineage:
            base = dice.choice([-1, 0, 1000000 * i])
            table = fill_lineage(table, base)
            lines.append(f"fill {i} {base}")
        metadata = pq.read_metadata(path)
        start = 0
        for group in range(metadata.num_row_groups):
            rows = metadata.row_group(group).num_rows
            first, taken = 0, rows
            if dice.random() < 0.3:
                first = dice.randrange(rows)
                taken = dice.randrange(rows - first + 1)
            if taken > 0:
                lines.append(f"piece {i} {group} {first} {taken}")
                part = table.slice(start + first, taken)
                gone = choose_dropped(dice, rows) if drops else []
                if gone:
                    name = f"dropped{len(slices)}"
                    with open(f"{folder}/{name}", "wb") as file:
                        file.write(array.array("q", gone).tobytes())
                    lines.append(f"dropped {name}")
                    stays = [True] * rows
                    for row in gone:
                        stays[row] = False
                    part = part.filter(pa.array(stays[first:first + taken]))
                slices.append(part)
                if dice.random() < 0.2:
                    lines.append("group")
            start += rows
    nullable = [table.cast(pa.schema([pa.field(f.name, f.type) for f in table.schema])) for table in slices]
    if not nullable:
        return make_case(dice, folder + "x")
    whole = pa.concat_tables([t.cast(nullable[0].schema) for t in nullable])
    if dice.random() < 0.5:
        whole = pa.table(evolve(dice, whole))
    for name in ("record", "list_of_records"):
        if name in whole.column_names and dice.random() < 0.5:
            kind = grown(whole.schema.field(name).type)
            at = whole.column_names.index(name)
            whole = whole.set_column(at, name, pa.array([grow(v, kind) for v in whole[name].to_pylist()], kind))
    if whole.num_columns == 0 or len(whole) == 0:
        return make_case(dice, folder + "x")
    pq.write_table(whole, f"{folder}/expected.parquet")
    pq.write_table(whole.slice(0, 0), f"{folder}/schema.parquet", store_decimal_as_integer=dice.random() < 0.5)
    lines += [f"page_version {dice.choice([1, 2])}", f"page_size {dice.choice([200, 10000, 1 << 20])}",
              f"row_limit {dice.choice([10, 1000, 20000])}", f"dictionary {dice.choice([0, 500, 2 << 20])}",
              f"deltas {dice.choice([0, 1])}", f"index_rows {dice.choice([0, 131072])}", f"join {dice.choice([0, 1, 2])}",
              f"codec {dice.choice(list(CODECS.values()) + [metadata_codec(folder)] * 6)}", f"copy {dice.choice([0, 1, 1])}", ""]
    with open(f"{folder}/case.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


FORM_ROWS = 3000


def form_table(dice, first, unique, rows=FORM_ROWS):
    """Flat, nullable and nested columns whose values are all different, or few."""
    count = iter(range(first * 100, first * 100 + (1 << 30)))

    def number():
        return next(count) if unique else dice.randrange(9)

    def maybe(one):
        return None if dice.random() < 0.2 else one()

    def column(kind, one):
        return pa.array([one() for _ in range(rows)], kind)
    arrays = {
        "id": column(pa.int64(), number),
        "name": column(pa.string(), lambda: f"name {number()}"),
        "number": column(pa.int64(), lambda: maybe(number)),
        "real": column(pa.float64(), lambda: maybe(lambda: number() / 8)),
        "text": column(pa.string(), lambda: maybe(lambda: f"text {number()}")),
        "numbers": column(pa.list_(pa.int64()), lambda: maybe(lambda: [maybe(number) for _ in range(dice.randrange(3))])),
        "texts": column(pa.list_(pa.string()), lambda: maybe(lambda: [f"t{number()}" for _ in range(dice.randrange(3))])),
        "record": column(pa.struct([("a", pa.int32()), ("b", pa.string())]),
                         lambda: maybe(lambda: {"a": maybe(number), "b": maybe(lambda: f"b{number()}")})),
        "map": column(pa.map_(pa.string(), pa.int64()),
                      lambda: maybe(lambda: [(f"k{number()}", maybe(number)) for _ in range(dice.randrange(3))])),
    }
    required = ("id", "name")
    return pa.table(list(arrays.values()), schema=pa.schema(
        [pa.field(name, array.type, nullable=name not in required) for name, array in arrays.items()]))


def make_forms(folder, version, codec):
    """A case whose output has every form of page that can be made of pages in either version, some rows of them dropped."""
    os.makedirs(folder)
    dice = random.Random(version * 100 + CODECS[codec])
    lines, slices = [], []
    for i, (unique, dictionary) in enumerate([(True, False), (True, True), (False, True)]):
        for page_version in ("1.0", "2.0"):
            number = len(slices)
            table = form_table(dice, number * FORM_ROWS, unique)
            path = f"{folder}/in{number}.parquet"
            pq.write_table(table, path, compression=codec, use_dictionary=dictionary, data_page_version=page_version,
                           data_page_size=4000, write_batch_size=200)
            lines += [f"input in{number}.parquet", f"piece {number} 0 0 {FORM_ROWS}"]
            if i == 0 and page_version == "2.0":
                gone = list(range(100, 120)) + list(range(2000, 2500))
                with open(f"{folder}/dropped", "wb") as file:
                    file.write(array.array("q", gone).tobytes())
                lines.append("dropped dropped")
                kept = set(range(FORM_ROWS)) - set(gone)
                table = table.filter(pa.array([row in kept for row in range(FORM_ROWS)]))
            slices.append(table)
        lines.append("group")
    # Pages of indices that are large enough to stay as they are.
    number = len(slices)
    slices.append(form_table(dice, 0, False, 21000))
    pq.write_table(slices[-1], f"{folder}/in{number}.parquet", compression=codec, data_page_version=f"{version}.0",
                   write_page_index=True)
    lines += [f"input in{number}.parquet", f"piece {number} 0 0 21000"]
    whole = pa.concat_tables(slices)
    pq.write_table(whole, f"{folder}/expected.parquet")
    pq.write_table(whole.slice(0, 0), f"{folder}/schema.parquet")
    lines += [f"page_version {version}", "dictionary 2097152", f"codec {CODECS[codec]}", "copy 1", "expect joined", "expect copied",
              "expect moved_dictionary", "expect remapped", "expect encoded", ""]
    with open(f"{folder}/case.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


# Column → (its leaf's path, the encoding that its inputs have, the encoding that a table may ask for).
ENCODED = {
    "int": ("int", "DELTA_BINARY_PACKED", "DELTA_BINARY_PACKED"),
    "long": ("long", "DELTA_BINARY_PACKED", "DELTA_BINARY_PACKED"),
    "name": ("name", "DELTA_BYTE_ARRAY", "DELTA_BYTE_ARRAY"),
    "text": ("text", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"),
    "fixed": ("fixed", "DELTA_BYTE_ARRAY", "PLAIN"),
    "decimal": ("decimal", "DELTA_BYTE_ARRAY", "PLAIN"),
    "longs": ("longs.list.element", "DELTA_BINARY_PACKED", "DELTA_BINARY_PACKED"),
    "texts": ("texts.list.element", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"),
    "real": ("real", "BYTE_STREAM_SPLIT", "PLAIN"),
    "single": ("single", "BYTE_STREAM_SPLIT", "PLAIN"),
    "reals": ("reals.list.element", "BYTE_STREAM_SPLIT", "PLAIN"),
}


def encoded_table(dice, first, rows):
    """Columns whose values are a little more than those before, and then jump."""
    at = iter(range(first, first + (1 << 30)))

    def step():
        return next(at) * 3 + dice.randrange(3)

    def maybe(one, nulls=0.1):
        return None if dice.random() < nulls else one()

    def text(number):
        return f"https://example.org/things/{number:09}" + "!" * (number % 3)

    def column(kind, one):
        return pa.array([one() for _ in range(rows)], kind)
    jumps = [-(1 << 31), (1 << 31) - 1, 0, -1]
    return pa.table({
        "int": column(pa.int32(), lambda: maybe(lambda: dice.choice(jumps) if dice.random() < 0.002 else step())),
        "long": column(pa.int64(), lambda: maybe(lambda: dice.choice(jumps) << 32 if dice.random() < 0.002 else step())),
        "name": column(pa.string(), lambda: text(next(at))),
        "text": column(pa.string(), lambda: maybe(lambda: "" if dice.random() < 0.001 else text(next(at)))),
        "fixed": column(pa.binary(16), lambda: maybe(lambda: step().to_bytes(16, "big"))),
        "decimal": column(pa.decimal128(38, 2), lambda: maybe(lambda: decimal.Decimal(step()).scaleb(-2))),
        "longs": column(pa.list_(pa.int64()), lambda: maybe(lambda: [maybe(step) for _ in range(dice.randrange(4))])),
        "texts": column(pa.list_(pa.string()), lambda: maybe(lambda: [text(next(at)) for _ in range(dice.randrange(4))])),
        "real": column(pa.float64(), lambda: maybe(lambda: step() / 8)),
        "single": column(pa.float32(), lambda: step() / 8),
        "reals": column(pa.list_(pa.float64()), lambda: maybe(lambda: [step() / 8 for _ in range(dice.randrange(4))])),
    })


def make_encodings(folder, version, kept):
    """A case whose output has each encoding, because its inputs have it or because the table asks for it."""
    os.makedirs(folder)
    dice = random.Random(version + kept)
    columns = {name: how for name, how in ENCODED.items() if SPLIT or "SPLIT" not in how[1]}
    lines, slices = [], []
    for i in range(3):
        table = encoded_table(dice, i * 100000, 5000).select(list(columns))
        path = f"{folder}/in{i}.parquet"
        encodings = {leaf: encoding for leaf, encoding, _ in columns.values()} if kept else None
        pq.write_table(table, path, compression="ZSTD", use_dictionary=False, column_encoding=encodings,
                       data_page_version=f"{1 + i % 2}.0", data_page_size=[4000, 1 << 20, 1 << 20][i], write_batch_size=200)
        gone = [] if i == 0 else sorted(dice.sample(range(5000), 50))
        lines += [f"input in{i}.parquet", f"piece {i} 0 0 5000"]
        if gone:
            with open(f"{folder}/dropped{i}", "wb") as file:
                file.write(array.array("q", gone).tobytes())
            lines.append(f"dropped dropped{i}")
        slices.append(table.filter(pa.array([row not in set(gone) for row in range(5000)])))
    whole = pa.concat_tables(slices)
    pq.write_table(whole, f"{folder}/expected.parquet")
    pq.write_table(whole.slice(0, 0), f"{folder}/schema.parquet")
    lines += [f"page_version {version}", "dictionary 2097152", f"codec {CODECS['ZSTD']}", f"copy {int(kept)}", "expect encoded",
              f"deltas {int(not kept)}"]
    lines += [f"encoding {leaf} {was if kept else asked}" for leaf, was, asked in columns.values()]
    with open(f"{folder}/case.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def check_encodings(folder, path):
    """Each leaf's values are in the encoding that the case names, and in no other."""
    with open(f"{folder}/case.txt", encoding="utf-8") as file:
        wanted = dict(line.split()[1:] for line in file if line.startswith("encoding "))
    group = pq.read_metadata(path).row_group(0)
    for column in (group.column(i) for i in range(group.num_columns)):
        if column.path_in_schema in wanted:
            found = set(column.encodings) - {"RLE"}
            assert found == {wanted[column.path_in_schema]}, (path, column.path_in_schema, found, wanted[column.path_in_schema])


def metadata_codec(folder):
    """The first input's codec, so that its pages may be copied."""
    name = pq.read_metadata(f"{folder}/in0.parquet").row_group(0).column(0).compression
    return {"UNCOMPRESSED": 0, "LZ4_RAW": 7, "LZ4": 7}.get(name, CODECS.get(name, 6))


def same(a, b):
    """Equal values, NaN = NaN, -0.0 ≠ 0.0, whatever the chunks."""
    a, b = a.combine_chunks(), b.combine_chunks()
    if a.equals(b):
        return True
    return repr(a.to_pylist()) == repr(b.to_pylist())


def check_bounds(path, expected):
    metadata = pq.read_metadata(path)
    # PyArrow does not tell.
    told = duckdb.execute(f"SELECT row_group_id, column_id FROM parquet_metadata('{path}') "
                          "WHERE NOT min_is_exact OR NOT max_is_exact").fetchall()
    inexact = set(told)
    start = 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        part = expected.slice(start, rows)
        start += rows
        for i in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(i)
            if "." in chunk.path_in_schema or chunk.statistics is None:
                continue
            column = part[chunk.path_in_schema]
            statistics = chunk.statistics
            assert statistics.null_count == column.null_count, (path, chunk.path_in_schema)
            if not statistics.has_min_max:
                continue
            real = [v for v in column.to_pylist() if v is not None and v == v]
            assert real, (path, chunk.path_in_schema, "bounds without values")
            low, high = min(real), max(real)
            if pa.types.is_string(column.type):
                low, high = min(v.encode() for v in real), max(v.encode() for v in real)
                least, greatest = statistics.min.encode(), statistics.max.encode()
                assert least <= low and high <= greatest and len(least) <= 64 and len(greatest) <= 64
                continue
            least, greatest = statistics.min, statistics.max
            if pa.types.is_binary(column.type):
                assert least <= low and high <= greatest and len(least) <= 64 and len(greatest) <= 64
                continue
            if pa.types.is_timestamp(column.type) and column.type.tz:
                least, greatest = (v.replace(tzinfo=datetime.timezone.utc) if v.tzinfo is None else v
                                   for v in (least, greatest))
            exact = (group, i) not in inexact
            holds = least == low and greatest == high if exact else least <= low and high <= greatest
            assert holds, (path, chunk.path_in_schema, exact, least, low, greatest, high)
            if pa.types.is_floating(column.type):
                assert least != 0 or math.copysign(1, least) < 0
                assert greatest != 0 or math.copysign(1, greatest) > 0


def check_filters(path, expected):
    """DuckDB skips row groups by their bounds: what it finds with a filter is what is there."""
    for name in expected.column_names:
        column = expected[name]
        if pa.types.is_nested(column.type) or pa.types.is_floating(column.type) or len(column) == 0:
            continue
        value = column[len(column) // 2]
        if not value.is_valid:
            continue
        wanted = pc.sum(pc.equal(column, value)).as_py()
        found = duckdb.execute(f'SELECT count(*) FROM \'{path}\' WHERE "{name}" = '
                               f'(SELECT "{name}" FROM \'{path}\' LIMIT 1 OFFSET {len(column) // 2})').fetchone()[0]
        assert found == wanted, (path, name, found, wanted)


def duckdb_takes(path):
    """It reads BYTE_STREAM_SPLIT of FLOAT and DOUBLE only."""
    metadata = pq.read_metadata(path)
    chunks = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(metadata.num_columns)]
    return not any("BYTE_STREAM_SPLIT" in c.encodings and c.physical_type not in ("FLOAT", "DOUBLE") for c in chunks)


def by_duckdb(path):
    result = duckdb.execute(f"SELECT * FROM '{path}'").arrow()
    return result.read_all() if hasattr(result, "read_all") else result


def check_promises(path):
    """Statistics, indexes and sums of the output against its values, where the program is there to do it."""
    if os.environ.get("FIRN"):
        done = subprocess.run([os.environ["FIRN"], "parquet", "verify", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (path, done.stdout, done.stderr)


def check_case(folder):
    out = f"{folder}/out.parquet"
    check_promises(out)
    expected = pq.read_table(f"{folder}/expected.parquet")
    found = pq.read_table(out, page_checksum_verification=True)
    assert found.column_names == expected.column_names, folder
    for name in expected.column_names:
        assert same(found[name], expected[name]), (folder, name)
    check_bounds(out, expected)
    check_encodings(folder, out)
    if not duckdb_takes(out):
        return
    mine, theirs = by_duckdb(out), by_duckdb(f"{folder}/expected.parquet")
    for name in expected.column_names:
        assert same(mine[name], theirs[name]), (folder, name, "DuckDB")
    check_filters(out, expected)


def main():
    action, folder = sys.argv[1:3]
    if action == "make":
        dice = random.Random(int(sys.argv[3]))
        for version, codec in itertools.product((1, 2), ("ZSTD", "SNAPPY")):
            make_forms(f"{folder}/forms-v{version}-{codec.lower()}", version, codec)
        for version, kept in itertools.product((1, 2), (True, False)):
            make_encodings(f"{folder}/encodings-v{version}-{'kept' if kept else 'asked'}", version, kept)
        for i in range(int(sys.argv[4])):
            make_case(dice, f"{folder}/{i:03}")
        return
    for name in sorted(os.listdir(folder)):
        if os.path.exists(f"{folder}/{name}/case.txt"):
            check_case(f"{folder}/{name}")


main()
