"""`--where` on the tables of the corpus. files: every file that holds a matching row, by PyArrow's reading of it, is listed; and the
list is that of PyIceberg's scan planning, but for what either leaves out for a good reason. compact: just the listed files are
rewritten, and every reader that is right on the table reads the rows that it read before.

Filters are made of the values that the tables have, in every primitive column.
"""
import datetime
import decimal
import json
import math
import os
import random
import uuid

import pyarrow.parquet as pq
from pyiceberg.table import StaticTable

import kit

NOT_COMPACTED = ("avro_files", "orc_files")  # their property write.format.default is refused
MOST_FILTERS = 15  # of a table
COMPARED = {"filters": 0, "equal to PyIceberg's list": 0, "firn lists more": 0, "firn lists less": 0, "files held against their rows": 0}


def literal(value):
    """A value of PyArrow's as it stands in a filter; None where filters have no literal for it."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, decimal.Decimal)):
        return f"{value:f}" if isinstance(value, decimal.Decimal) else str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    if isinstance(value, datetime.datetime):
        return f"'{value.isoformat()}'"
    if isinstance(value, (datetime.date, datetime.time, uuid.UUID)):
        return f"'{value}'" if not isinstance(value, datetime.time) else f"'{value.isoformat()}'"
    if isinstance(value, str) and "\\" not in value and "%" not in value and "\n" not in value:
        return "'" + value.replace("'", "''") + "'"
    return None


def above(value):
    """NaN is above every number."""
    return (1, 0.0) if isinstance(value, float) and math.isnan(value) else (0, value)


def filters_of(name, values):
    """(text, test of one value) of a column."""
    known = [v for v in values if v is not None and literal(v) is not None]
    quoted = f'"{name}"'
    yield f"{quoted} is null", lambda v: v is None
    yield f"{quoted} is not null", lambda v: v is not None
    if not known:
        return
    known.sort()
    for value in {known[0], known[len(known) // 2], known[-1]}:
        text = literal(value)
        yield f"{quoted} = {text}", lambda v, x=value: v is not None and v == x
        yield f"{quoted} != {text}", lambda v, x=value: v is not None and v != x
        yield f"{quoted} < {text}", lambda v, x=value: v is not None and above(v) < above(x)
        yield f"{quoted} <= {text}", lambda v, x=value: v is not None and above(v) <= above(x)
        yield f"{quoted} > {text}", lambda v, x=value: v is not None and above(v) > above(x)
        yield f"{quoted} >= {text}", lambda v, x=value: v is not None and above(v) >= above(x)
        yield f"not ({quoted} in ({text}))", lambda v, x=value: v is not None and v != x
    two = known[0], known[-1]
    yield f"{quoted} in ({literal(two[0])}, {literal(two[1])})", lambda v: v in two
    if isinstance(known[0], str) and known[-1]:
        prefix = known[-1][:2]
        yield f"{quoted} like {literal(prefix)[:-1]}%'", lambda v: v is not None and v.startswith(prefix)
        yield f"{quoted} not like {literal(prefix)[:-1]}%'", lambda v: v is not None and not v.startswith(prefix)


def columns_of(path):
    """Field id to the values of each top-level primitive column of a Parquet file."""
    file = pq.ParquetFile(path)
    found = {}
    for i, field in enumerate(file.schema_arrow):
        field_id = (field.metadata or {}).get(b"PARQUET:field_id")
        if field_id is not None and not str(field.type).startswith(("struct", "list", "map", "large_list")):
            try:
                found[int(field_id)] = file.read(columns=[field.name]).column(0).to_pylist()
            except (ValueError, OSError):
                continue  # nanoseconds that Python's datetime has no room for
    return found


def planned(table, text):
    try:
        return {task.file.file_path for task in table.scan(row_filter=text).plan_files()}
    except Exception as problem:  # noqa: BLE001: whatever PyIceberg can't plan
        return f"{type(problem).__name__}: {problem}"


def reaches(delete, data):
    """As far as partitions and sequence numbers tell; `partition` is null for an unpartitioned spec."""
    everywhere = delete["content"] == "equality_deletes" and not delete["partition"]
    alike = (delete["spec_id"], delete["partition"]) == (data["spec_id"], data["partition"])
    return (everywhere or alike) and delete["sequence_number"] >= data["sequence_number"]


def hold(name, argument, table, column, text, test, contents, refused, live, listings):
    done = kit.firn("files", *argument, "--where", text, "--json", expect=(0, 2))
    kit.check(done.returncode == 0, f"{name}: {text}: {done.stderr}")
    document = json.loads(done.stdout)
    mine = {f["path"] for f in document["files"] if f["content"] == "data"}
    kit.check(document["manifests_opened"] <= document["manifests"], f"{name}: {text}: more manifests opened than there are")
    COMPARED["filters"] += 1
    listings[text] = mine
    listed = {f["path"] for f in document["files"]}
    for delete in live:
        if delete["content"] != "data" and any(f["path"] in mine and reaches(delete, f) for f in live if f["content"] == "data"):
            kit.check(delete["path"] in listed, f"{name}: {text}: {delete['path']} is not listed, but a data file that it may apply to")
    matching = {path for path, values in contents.items() if column in values and any(map(test, values[column]))}
    COMPARED["files held against their rows"] += len(contents)
    kit.check(matching <= mine, f"{name}: {text}: {sorted(matching - mine)} hold matching rows and are not listed")
    if table is None:
        return
    theirs = planned(table, text)
    if isinstance(theirs, str):
        refused.add(theirs[:80])
        return
    COMPARED["equal to PyIceberg's list"] += mine == theirs
    COMPARED["firn lists more"] += bool(mine - theirs)
    COMPARED["firn lists less"] += bool(theirs - mine)
    # What firn leaves out and PyIceberg does not has no matching row, as far as its rows can be told.
    kit.check(not (theirs - mine) & matching, f"{name}: {text}: a matching file is left out")
    if mine - theirs and os.environ.get("FIRN_TEST_VERBOSE"):
        print(f"  {name}: {text}: firn lists {len(mine - theirs)} more")


def compact(name, argument, folder, text, live):
    """Only what is listed goes; the rows stay."""
    where = kit.fixture_where(folder)
    listed = {f["path"] for f in kit.firn_json("files", *argument, "--where", text)["files"] if f["content"] == "data"}
    preview = kit.firn_json("compact", *argument, "--where", text, "--rewrite-all")["plan"]
    kit.check(preview["input_files"] == len(listed), f"{name}: {text}: {preview['input_files']} files to rewrite, {len(listed)} are listed")
    done = kit.firn_json("compact", *argument, "--where", text, "--rewrite-all", "--verify", "--yes")
    after = {f["path"] for f in kit.firn_json("files", *argument)["files"]}
    kit.check(done["plan"]["input_files"] == len(listed), f"{name}: {text}: the run differs from its preview")
    gone = {f["path"] for f in live if f["content"] == "data"} - after
    kit.check(gone == listed, f"{name}: {text}: {sorted(gone ^ listed)} went or stayed against the filter")
    if done["committed"]:
        kit.check(done["result"]["delete_files_removed"] == preview["removed_delete_files"], f"{name}: {text}: delete files differ from the preview")
    for reader in kit.readers_that_are_right(name):
        kit.check_rows(reader, where, kit.expected(name), f"{name}, {text},")
    COMPARED["compacted"] = COMPARED.get("compacted", 0) + 1


def choose_filters(trials, listings):
    """Of the filters that list some files, first those that leave some out."""
    counts = [(len(listings[text]), text) for _, text, _ in trials if listings.get(text)]
    most = max((count for count, _ in counts), default=0)
    return sorted({text for count, text in counts if count < most})[:2] or sorted({text for _, text in counts})[:1]


def spark_table(name):
    folder, about = kit.unpack(name)
    argument = kit.fixture_argument(folder, about)
    done = kit.firn("files", *argument, "--json", expect=(0, 3))
    if done.returncode == 3:
        return
    live = json.loads(done.stdout)["files"]
    files = [f for f in live if f["content"] == "data"]
    described = kit.firn_json("describe", *argument)
    contents = {f["path"]: columns_of(f["path"].removeprefix("file:")) for f in files if f["format"] == "PARQUET"}
    try:
        table = StaticTable.from_metadata(described["metadata_location"])
    except Exception as problem:  # noqa: BLE001
        table = None
        print(f"  {name}: not for PyIceberg: {str(problem)[:100]}")
    refused = set()
    trials = []
    for field in described["schema"]["fields"]:
        if "." in field["name"] or field["type"].startswith(("struct", "list", "map")) or field["type"] in ("variant", "geometry", "geography", "unknown", "binary") or field["type"].startswith("fixed"):
            continue
        values = {v for c in contents.values() for v in c.get(field["id"], []) if v is not None and above(v)[0] == 0}
        trials += [(field["id"], text, test) for text, test in filters_of(field["name"], values)]
    listings = {}
    trials = random.Random(name).sample(trials, min(MOST_FILTERS, len(trials)))
    for column, text, test in trials:
        hold(name, argument, table, column, text, test, contents, refused, live, listings)
    for text in choose_filters(trials, listings) if name not in NOT_COMPACTED else ():
        folder, _ = kit.unpack(name)
        compact(name, argument, folder, text, live)
    for problem in sorted(refused):
        print(f"  {name}: PyIceberg: {problem}")


def count():
    print("  " + ", ".join(f"{what}: {number}" for what, number in COMPARED.items()))
    kit.check(COMPARED["equal to PyIceberg's list"] > 0.9 * COMPARED["filters"] * 0.8, "too few lists are equal to PyIceberg's")


kit.main([(name, spark_table, name) for name in kit.fixtures()] + [count])
