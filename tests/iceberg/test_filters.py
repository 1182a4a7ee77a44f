"""Row filters against evaluations that know nothing of firn: random schemas, rows, partition specs, metrics and filters.

1. Which rows match is what a naive evaluation in Python says, and, where SQL can say it, what DuckDB says.
2. Whatever row matches lies in a file and a manifest that are kept, by partition values as any writer may have
   made them (old writers' rounding before 1970, results that wrapped around) and by metrics in every state that
   writers leave them in: missing, cut short, cut and not raised, inverted, NaN, of an older type.
3. Pruning is worth something: of the files without a matching row a good part is left out.

FIRN_TEST_SEED and FIRN_TEST_CASES change the seed and the number of cases.
"""

import datetime
import decimal
import json
import math
import os
import random
import struct
import subprocess
import sys
import uuid

tool = os.environ.get("FIRN_TRY_FILTERS")
try:
    import duckdb
    from pyiceberg.transforms import BucketTransform
    from pyiceberg import types as iceberg
except ImportError:
    duckdb = None
if duckdb is None or not tool:
    print("skipped: needs PyIceberg, DuckDB and FIRN_TRY_FILTERS")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)

SEED = int(os.environ.get("FIRN_TEST_SEED", "20260131"))
CASES = int(os.environ.get("FIRN_TEST_CASES", "1500"))
rng = random.Random(SEED)
decimal.getcontext().prec = 80

EPOCH = datetime.date(1970, 1, 1)
MICROS = 86_400_000_000


def days_of(text):
    return (datetime.date.fromisoformat(text) - EPOCH).days


def stamp(text, per_second):
    date, _, time = text.partition("T")
    hours, minutes, seconds = (time or "00:00:00").split(":")
    whole, _, fraction = seconds.partition(".")
    value = ((days_of(date) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(whole)
    return value * per_second + int(fraction.ljust(len(str(per_second)) - 1, "0") or 0)


def stamp_text(value, per_second):
    seconds, fraction = divmod(value, per_second)
    days, seconds = divmod(seconds, 86400)
    text = f"{(EPOCH + datetime.timedelta(days=days)).isoformat()}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + (f".{fraction:0{len(str(per_second)) - 1}}" if fraction else "")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def integer_bytes(size):
    return lambda value: value.to_bytes(size, "little", signed=True)


def decimal_bytes(value):
    return value.to_bytes(max(1, (value if value >= 0 else ~value).bit_length() // 8 + 1), "big", signed=True)


class Type:
    """`values`: what rows hold; `text`: a literal; `order`: a key of a total order. Decimals are unscaled."""

    def __init__(self, name, values, encode, text=str, order=lambda v: v, transforms=(), step=1, sql=None, bounded=None):
        self.name, self.values, self.encode, self.text, self.order = name, values, encode, text, order
        self.transforms, self.step, self.sql, self.bounded = transforms, step, sql, bounded
        self.floating = name in ("float", "double")


def float_order(value):
    return (1, 0.0) if math.isnan(value) else (0, value + 0.0)


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


TIMES = ["1969-12-31T23:59:59.999999", "1970-01-01", "1969-12-31", "1969-11-15T10:20:30", "2024-02-29T12:00:00",
         "2024-02-29T12:59:59.5", "2024-03-01", "1900-01-01", "1968-01-01T05:00:00", "2038-01-19T03:14:08"]
STAMPS = [stamp(t, 10**6) for t in TIMES]
FAR = [-(2**63), 2**63 - 1, 10**18, -(10**18), 7_800_000_000_000_000_000, -7_800_000_000_000_000_000]
TEXTS = ["", "a", "ab", "abc", "abcd", "abd", "b", "é", "éa", "éab", "日本", "日本語", "a\U0001f600", "a\U0001f600b", "A", "a'b", "a%b", "ab%", "zz\U0010ffff", "abcdefghijklmnopq", "abcdefghijklmnopz", "abcdefghijklmnop"]
UUIDS = [uuid.UUID(int=i) for i in (0, 1, 2**64, 2**127, 2**127 + 1, 2**127 - 1, 2**128 - 1, 2**63, 2**64 - 1, 2**126)]
TIME_OF = ("year", "month", "day", "hour")

TYPES = [
    Type("boolean", [False, True], lambda v: bytes([v]), lambda v: rng.choice(["true", "TRUE"] if v else ["false", "False"]), transforms=("identity",), sql="BOOLEAN"),
    Type("int", [0, 1, 5, -1, -5, 9, 10, 11, -10, -11, 100, 2**31 - 1, -(2**31), -(2**31) + 3, 2**31 - 4], integer_bytes(4), transforms=("identity", "bucket", "truncate"), sql="INTEGER"),
    Type("long", [0, 1, 5, -1, -5, 9, 10, 11, -10, -11, 2**31, -(2**31), 2**63 - 1, -(2**63), -(2**63) + 3, 2**63 - 4], integer_bytes(8), transforms=("identity", "bucket", "truncate"), sql="BIGINT"),
    Type("float", [single(v) for v in (0.0, -0.0, 1.0, -1.0, 1.5, 3.0, 1e30, -1e30, math.inf, -math.inf, math.nan, 0.1)], lambda v: struct.pack("<f", v), lambda v: repr(v), float_order, ("identity",)),
    Type("double", [0.0, -0.0, 1.0, -1.0, 1.5, 3.0, 1e300, -1e300, math.inf, -math.inf, math.nan, 0.1], lambda v: struct.pack("<d", v), lambda v: repr(v), float_order, ("identity",), sql="DOUBLE"),
    Type("decimal(9,2)", [0, 1, -1, 150, 151, -150, 1065, 999999999, -999999999, 5000, 5001], decimal_bytes, lambda v: f"{decimal.Decimal(v).scaleb(-2):f}", transforms=("identity", "bucket", "truncate")),
    Type("decimal(38,10)", [0, 1, -1, 10**37, -(10**37), 15 * 10**9, 10**10], decimal_bytes, lambda v: f"{decimal.Decimal(v).scaleb(-10):f}", transforms=("identity", "bucket", "truncate")),
    Type("date", [s // MICROS for s in STAMPS], integer_bytes(4), lambda v: quoted((EPOCH + datetime.timedelta(days=v)).isoformat()), transforms=("identity", "bucket") + TIME_OF[:3], sql="DATE"),
    Type("time", [0, 1, 10**6, MICROS - 1, MICROS // 2], integer_bytes(8), lambda v: quoted(stamp_text(v, 10**6).partition("T")[2]), transforms=("identity", "bucket")),
    Type("timestamp", STAMPS + FAR, integer_bytes(8), lambda v: quoted(stamp_text(v, 10**6)), transforms=("identity", "bucket") + TIME_OF, sql="TIMESTAMP", bounded=STAMPS),
    Type("timestamptz", STAMPS + FAR, integer_bytes(8), lambda v: quoted(stamp_text(v, 10**6) + rng.choice(["Z", "+00:00", ""])), transforms=("identity", "bucket") + TIME_OF, bounded=STAMPS),
    Type("timestamp_ns", [s * 1000 + 7 for s in STAMPS] + FAR[:2], integer_bytes(8), lambda v: quoted(stamp_text(v, 10**9)), transforms=("identity", "bucket") + TIME_OF, bounded=[s * 1000 + 7 for s in STAMPS]),
    Type("string", TEXTS, lambda v: v.encode(), quoted, lambda v: v.encode(), ("identity", "bucket", "truncate"), sql="VARCHAR"),
    Type("uuid", UUIDS, lambda v: v.bytes, lambda v: quoted(str(v)), lambda v: v.bytes, ("identity", "bucket")),
    Type("fixed[3]", [b"abc", b"abd", b"~~~", b"   "], lambda v: v, lambda v: quoted(v.decode()), lambda v: v, ("identity", "bucket")),
    Type("binary", [t.encode() for t in TEXTS], lambda v: v, lambda v: quoted(v.decode()), lambda v: v, ("identity", "bucket", "truncate")),
]


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def chance(one_in):
    return rng.randrange(one_in) == 0


# --- filters: text, SQL (or None) and a naive evaluation in three-valued logic --------------------------------

class Column:
    def __init__(self, field_id, kind):
        self.id, self.type, self.name = field_id, kind, f"c{field_id}"
        # What literals are made of: values in calendar range, and their neighbours.
        self.literals = [v for v in (kind.bounded or kind.values) if not is_nan(v) and not (isinstance(v, float) and math.isinf(v))]

    def literal(self):
        """(value in the column's terms, text, SQL can say it)"""
        value = rng.choice(self.literals)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and self.type.name in ("int", "long") and chance(5):
            off = rng.choice(["0.5", "-0.5", "0.0", "4294967296", "1e20", "-1e20"])
            exact = decimal.Decimal(value) + decimal.Decimal(off)
            return exact, f"{exact:f}", False
        if self.type.name.startswith("decimal") and chance(5):
            exact = decimal.Decimal(value) + decimal.Decimal("0.5")
            return exact, f"{exact.scaleb(-2 if '9,2' in self.type.name else -10):f}", False
        if whole and chance(4) and self.type.name in ("int", "long", "date", "timestamp"):
            value += rng.choice([-1, 1]) if self.type.name != "timestamp" else rng.choice([-1, 1, 3_600_000_000])
        return value, self.type.text(value), True


def compare(kind, left, right):
    if isinstance(right, decimal.Decimal):
        return (left > right) - (left < right)
    left, right = kind.order(left), kind.order(right)
    return (left > right) - (left < right)


COMPARISONS = {"=": lambda c: c == 0, "==": lambda c: c == 0, "!=": lambda c: c != 0, "<>": lambda c: c != 0,
               "<": lambda c: c < 0, "<=": lambda c: c <= 0, ">": lambda c: c > 0, ">=": lambda c: c >= 0}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def make_comparison(column):
    value, text, sql = column.literal()
    op = rng.choice(list(COMPARISONS))
    written = f"{column.name} {op} {text}" if not chance(4) else f"{text} {MIRRORED.get(op, op)} {column.name}"
    test = lambda row: None if row[column.id] is None else COMPARISONS[op](compare(column.type, row[column.id], value))
    return written, sql and f"{column.name} {op} {text}", test


def make_list(column):
    literals = [column.literal() for _ in range(rng.randint(1, 4))]
    no = rng.choice(["", "NOT "])
    inner = ", ".join(text for _, text, _ in literals)
    sql = all(s for _, _, s in literals) and f"{column.name} {no}IN ({inner})"
    found = lambda row: any(compare(column.type, row[column.id], v) == 0 for v, _, _ in literals)
    return f"{column.name} {no.lower()}in ({inner})", sql, lambda row: None if row[column.id] is None else found(row) != bool(no)


def make_between(column):
    (low, low_text, s1), (high, high_text, s2) = column.literal(), column.literal()
    written = f"{column.name} BETWEEN {low_text} AND {high_text}"
    test = lambda row: None if row[column.id] is None else compare(column.type, row[column.id], low) >= 0 and compare(column.type, row[column.id], high) <= 0
    return written, s1 and s2 and written, test


def make_null(column):
    no = rng.choice(["", "not "])
    written = f"{column.name} is {no}null"
    return written, written, lambda row: (row[column.id] is None) != bool(no)


def make_nan(column):
    no = rng.choice(["", "not "])
    test = lambda row: None if row[column.id] is None else is_nan(row[column.id]) != bool(no)
    return f"{column.name} is {no}nan", f"{no}isnan({column.name})", test


def make_like(column):
    prefix = rng.choice(TEXTS)
    no = rng.choice(["", "not "])
    wild = not chance(5)
    pattern = quoted(prefix.replace("%", "\\%") + ("%" if wild else ""))
    found = (lambda v: v.startswith(prefix)) if wild else (lambda v: v == prefix)
    test = lambda row: None if row[column.id] is None else found(row[column.id]) != bool(no)
    sql = f"{no}starts_with({column.name}, {quoted(prefix)})" if wild else f"{column.name} {'!=' if no else '='} {quoted(prefix)}"
    return f"{column.name} {no}like {pattern}", sql, test


def make_predicate(columns):
    column = rng.choice(columns)
    makers = [make_comparison] * 4 + [make_list] * 2 + [make_between, make_null]
    if column.type.floating:
        makers += [make_nan] * 2
    if column.type.name == "string":
        makers += [make_like] * 3
    written, sql, test = rng.choice(makers)(column)
    return written, sql if column.type.sql else None, test


def make_filter(columns, depth):
    kind = rng.choice(["predicate", "and", "or", "not"]) if depth > 0 else "predicate"
    if kind == "predicate":
        if chance(30):
            value = rng.choice([True, False])
            return str(value), str(value), lambda row: value
        return make_predicate(columns)
    if kind == "not":
        text, sql, test = make_filter(columns, depth - 1)
        return f"not ({text})", sql and f"not ({sql})", lambda row: None if test(row) is None else not test(row)
    parts = [make_filter(columns, depth - 1) for _ in range(rng.randint(2, 3))]
    decides = kind == "or"

    def evaluate(row):
        results = [test(row) for _, _, test in parts]
        return decides if decides in results else None if None in results else not decides

    glue = f" {kind} "
    sql = glue.join(f"({s})" for _, s, _ in parts) if all(s for _, s, _ in parts) else None
    return glue.join(f"({t})" for t, _, _ in parts), sql, evaluate


# --- partition values, as writers make them -------------------------------------------------------------------

def wrap(value, bits):
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


class Field:
    def __init__(self, field_id, column, transform):
        self.id, self.column, self.transform = field_id, column, transform
        self.parameter = rng.choice([1, 2, 3, 7, 10, 16])
        self.text = f"{transform}[{self.parameter}]" if transform in ("bucket", "truncate") else transform
        # Before it was mended, the reference implementation rounded negative times towards zero.
        self.old_writer = chance(3)
        self.encode = column.type.encode if transform in ("identity", "truncate") else integer_bytes(4)
        self.order = column.type.order if transform in ("identity", "truncate") else lambda v: v

    def value(self, source):
        if source is None or self.transform == "void":
            return None
        if self.transform == "identity":
            return source
        if self.transform == "bucket":
            return self.bucket(source)
        if self.transform == "truncate":
            return self.truncate(source)
        return self.time(source)

    def bucket(self, source):
        name = self.column.type.name
        if name == "timestamp_ns":
            name, source = "timestamp", source // 1000
        if name.startswith("decimal"):
            scale = 2 if "9,2" in name else 10
            source = decimal.Decimal(source).scaleb(-scale)
            kind = iceberg.DecimalType(38, scale)
        else:
            kind = {"int": iceberg.IntegerType(), "long": iceberg.LongType(), "date": iceberg.DateType(), "time": iceberg.TimeType(),
                    "timestamp": iceberg.TimestampType(), "timestamptz": iceberg.TimestamptzType(), "string": iceberg.StringType(),
                    "uuid": iceberg.UUIDType(), "fixed[3]": iceberg.FixedType(3), "binary": iceberg.BinaryType()}[name]
        return BucketTransform(self.parameter).transform(kind)(source)

    def truncate(self, source):
        if isinstance(source, int):
            value = source - source % self.parameter
            return wrap(value, {"int": 32, "long": 64}[self.column.type.name]) if "decimal" not in self.column.type.name else value
        return source[: self.parameter]

    def time(self, source):
        name = self.column.type.name
        per_day = 1 if name == "date" else MICROS * 1000 if name == "timestamp_ns" else MICROS
        days, rest = divmod(source, per_day)
        year, month, start = civil(days)
        if self.transform == "hour":
            result, rest = divmod(source, per_day // 24)
        elif self.transform == "day":
            result = days
        elif self.transform == "month":
            result, rest = (year - 1970) * 12 + month - 1, rest or days != start
        else:
            result, rest = year - 1970, rest or (month, days) != (1, start)
        if self.old_writer and result < 0 and rest:
            result += 1
        return wrap(result, 32)


def civil(days):
    """Year, month, and the day on which the month began; any year."""
    era_days = days + 719468
    era, day = divmod(era_days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day_of_year = day - (365 * year + year // 4 - year // 100)
    part = (5 * day_of_year + 2) // 153
    month = part + 3 if part < 10 else part - 9
    begin = days - (day_of_year - (153 * part + 2) // 5)
    return year + era * 400 + (month <= 2), month, begin


# --- metrics, as writers leave them ---------------------------------------------------------------------------

def extremes(kind, values, order):
    """Lowest and highest of values that are neither null nor NaN."""
    if kind.name == "uuid" and chance(2):
        # Old writers compared UUIDs as two signed longs.
        order = lambda v: struct.unpack(">qq", v.bytes)
    low, high = min(values, key=order), max(values, key=order)
    if kind.floating and low == 0 and chance(2):
        low = rng.choice([0.0, -0.0])
    if kind.floating and high == 0 and chance(2):
        high = rng.choice([0.0, -0.0])
    return low, high


def cut_bounds(kind, low, high):
    if chance(3):  # cut, and not raised
        return low[:16], high[:16]
    width = rng.choice([1, 2, 16])
    low = low[:width]
    if len(high) > width:
        if kind.name == "string":
            points = list(high[:width])
            while points and ord(points[-1]) >= 0x10FFFE:
                points.pop()
            if not points:
                return low, None
            code = ord(points[-1]) + 1
            points[-1] = chr(0xE000 if code == 0xD800 else code)
            high = "".join(points)
        else:
            head = high[:width].rstrip(b"\xff")
            if not head:
                return low, None
            high = head[:-1] + bytes([head[-1] + 1])
    return low, high


def column_metrics(file, column, values):
    kind, key = column.type, str(column.id)
    real = [v for v in values if v is not None and not is_nan(v)]
    if not chance(4):
        file["value_counts"][key] = len(values)
        if not chance(4):
            file["null_value_counts"][key] = values.count(None)
        if kind.floating and not chance(3):
            file["nan_value_counts"][key] = sum(map(is_nan, values))
    if not real or chance(5):
        return
    low, high = extremes(kind, real, kind.order)
    if kind.name in ("string", "binary") and chance(2):
        low, high = cut_bounds(kind, low, high)
    encode = kind.encode
    if kind.name == "long" and all(-(2**31) <= v < 2**31 for v in (low, high)) and chance(2):
        encode = integer_bytes(4)  # written while the column was an int
    if kind.name == "double" and all(single(v) == v for v in (low, high) if abs(v) < 1e38) and abs(low) < 1e38 and abs(high) < 1e38 and chance(2):
        encode = lambda v: struct.pack("<f", v)
    bounds = [None if v is None else encode(v).hex() for v in (low, high)]
    inverted = chance(20) and kind.name != "uuid" and None not in bounds and kind.order(low) != kind.order(high)
    if inverted:
        bounds.reverse()
    if chance(20) and kind.floating and not inverted:
        bounds[rng.randrange(2)] = encode(math.nan).hex()
    if chance(20) and not inverted:
        bounds[rng.randrange(2)] = "0102030405060708090a0b" if kind.name not in ("string", "binary") and not kind.name.startswith("decimal") else None
    for name, bound in zip(("lower_bounds", "upper_bounds"), bounds):
        if bound is not None and (inverted or not chance(6)):
            file[name][key] = bound


def make_file(columns, fields, rows):
    file = {"record_count": len(rows), "partition": [], "value_counts": {}, "null_value_counts": {}, "nan_value_counts": {}, "lower_bounds": {}, "upper_bounds": {}}
    for column in columns:
        column_metrics(file, column, [row[column.id] for row in rows])
    for name in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
        if chance(10) and "bounds" not in name:
            del file[name]
    file["partition"] = [None if v is None else f.encode(v).hex() for f in fields for v in [f.value(rows[0][f.column.id])]]
    return file


def summary_of(field, values):
    summary = {"contains_null": None in values}
    real = [v for v in values if v is not None and not is_nan(v)]
    if not chance(4):
        summary["contains_nan"] = any(map(is_nan, values))
    if real:
        kind = field.column.type if field.transform in ("identity", "truncate") else TYPES[1]
        low, high = extremes(kind, real, field.order)
        summary["lower"], summary["upper"] = field.encode(low).hex(), field.encode(high).hex()
    return summary


# --- cases ----------------------------------------------------------------------------------------------------

def metadata_of(columns, fields):
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": c.id, "name": c.name, "required": False, "type": c.type.name} for c in columns]}
    spec = {"spec-id": 0, "fields": [{"source-id": f.column.id, "field-id": f.id, "name": f"p{f.id}", "transform": f.text} for f in fields]}
    return {"format-version": 3, "table-uuid": str(uuid.UUID(int=1)), "location": "s3://b/t", "last-sequence-number": 0, "last-updated-ms": 0,
            "last-column-id": len(columns), "schemas": [schema], "current-schema-id": 0, "partition-specs": [spec], "default-spec-id": 0, "last-partition-id": 1100,
            "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "next-row-id": 0}


class Case:
    def __init__(self):
        self.columns = [Column(i + 1, kind) for i, kind in enumerate(rng.sample(TYPES, rng.randint(1, 4)))]
        self.fields = []
        for _ in range(rng.randint(0, 3)):
            column = rng.choice(self.columns)
            transform = rng.choice(column.type.transforms + (("void",) if chance(6) else ()))
            self.fields.append(Field(1000 + len(self.fields), column, transform))
        rows = [self.make_row() for _ in range(rng.randint(1, 24))]
        parts = {}
        for row in rows:
            key = tuple(None if v is None else f.encode(v) for f in self.fields for v in [f.value(row[f.column.id])])
            parts.setdefault(key, []).append(row)
        self.files = []
        for part in parts.values():
            while part:
                count = rng.randint(1, len(part))
                self.files.append(part[:count])
                part = part[count:]
        self.rows = [row for file in self.files for row in file]
        self.manifests = []
        rest = list(range(len(self.files)))
        rng.shuffle(rest)
        while rest:
            count = rng.randint(1, len(rest))
            self.manifests.append(rest[:count])
            rest = rest[count:]
        self.text, self.sql, self.test = make_filter(self.columns, rng.randint(0, 3))

    def make_row(self):
        nulls = rng.choice([2, 5, 1000])
        return {c.id: None if chance(nulls) else rng.choice(c.type.values) for c in self.columns}

    def request(self):
        rows = [{str(c.id): None if row[c.id] is None else c.type.encode(row[c.id]).hex() for c in self.columns} for row in self.rows]
        manifests = []
        for members in self.manifests:
            tuples = [[f.value(self.files[i][0][f.column.id]) for f in self.fields] for i in members]
            manifests.append([summary_of(f, [t[i] for t in tuples]) for i, f in enumerate(self.fields)] if not chance(20) else None)
        return {"metadata": metadata_of(self.columns, self.fields), "filter": self.text, "rows": rows,
                "files": [make_file(self.columns, self.fields, file) for file in self.files], "manifests": manifests}


failures = []
counts = {"files without a match": 0, "of them left out": 0, "manifests without a match": 0, "of these left out": 0, "held against DuckDB": 0}


def fail(case, request, what):
    failures.append(what)
    if len(failures) < 4:
        print(f"{what}\n  filter {case.text}\n  {json.dumps(request, default=str)[:4000]}", file=sys.stderr)


def check_answer(case, request, answer):
    if answer.startswith("error"):
        return fail(case, request, answer)
    rows, files, partitions, manifests = (word for word in answer.split(" "))
    wanted = [case.test(row) is True for row in case.rows]
    for i, want in enumerate(wanted):
        if (rows[i] == "1") != want:
            fail(case, request, f"row {case.rows[i]}: firn says {rows[i]}, the naive evaluation {want}")
    begin, matching = 0, []
    for file in case.files:
        matching.append(any(wanted[begin:begin + len(file)]))
        begin += len(file)
    for i, matches in enumerate(matching):
        if matches and (files[i], partitions[i]) != ("1", "1"):
            fail(case, request, f"file {i} has a matching row and is left out (file {files[i]}, partition {partitions[i]})")
        counts["files without a match"] += not matches
        counts["of them left out"] += files[i] == "0"
    for i, members in enumerate(case.manifests):
        matches = any(matching[m] for m in members)
        if matches and manifests[i] != "1":
            fail(case, request, f"manifest {i} has a matching row and is left out")
        counts["manifests without a match"] += not matches
        counts["of these left out"] += manifests[i] == "0"


def check_duckdb(case, connection):
    if not case.sql or not all(c.type.sql for c in case.columns):
        return
    counts["held against DuckDB"] += 1

    def literal(column, value):
        if value is None:
            return "NULL"
        if column.type.floating:
            return f"'{value}'::DOUBLE"
        return column.type.text(value)

    columns = ", ".join(f"{c.name} {c.type.sql}" for c in case.columns)
    usable = [i for i, row in enumerate(case.rows) if all(row[c.id] is None or not c.type.bounded or row[c.id] in c.type.bounded for c in case.columns)]
    if not usable:
        return
    values = ", ".join(f"({i}, " + ", ".join(literal(c, case.rows[i][c.id]) for c in case.columns) + ")" for i in usable)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE t (row_number BIGINT, {columns})")
    connection.execute(f"INSERT INTO t VALUES {values}")
    found = {n for n, in connection.execute(f"SELECT row_number FROM t WHERE {case.sql}").fetchall()}
    for i in usable:
        if (i in found) != (case.test(case.rows[i]) is True):
            fail(case, {"sql": case.sql}, f"row {case.rows[i]}: DuckDB says {i in found}")


def main():
    print(f"FIRN_TEST_SEED={SEED}")
    cases = [Case() for _ in range(CASES)]
    requests = [case.request() for case in cases]
    run = subprocess.run([tool], input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True, text=True, check=False)
    answers = run.stdout.split("\n")
    if run.returncode != 0 or len(answers) != len(cases) + 1:
        print(run.stderr, file=sys.stderr)
        return 1
    connection = duckdb.connect()
    for case, request, answer in zip(cases, requests, answers):
        check_answer(case, request, answer)
        check_duckdb(case, connection)
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    if counts["of them left out"] < counts["files without a match"] * 0.5 or counts["held against DuckDB"] < CASES / 50:
        print("pruning leaves out too little, or DuckDB was asked too seldom", file=sys.stderr)
        return 1
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
