"""firn scan --where, --columns and --limit against DuckDB on the same rows; CSV; a reader that goes away."""
import csv
import io
import json
import os
import shutil
import subprocess
import tempfile

import duckdb
import kit
import pyarrow.parquet as pq
import tables

folder = tempfile.mkdtemp(prefix="firn-scan-")
_, WHERE, ARGUMENTS = tables.make(folder, commits=6, rows=120)
ALL = kit.firn("scan", *ARGUMENTS, "--format", "json").stdout.splitlines()

# (firn's filter, DuckDB's; None: the same). NaN is greater than every number in both.
FILTERS = [
    ("id < 200050", None), ("id >= 300000 and id <= 300010", None), ("id in (100001, 200002, 7)", None),
    ("not id in (100001, 200002)", None), ("id between 200010 and 200020", None), ("id != 100000", None),
    ("kind = 'view'", None), ("kind is null", None), ("kind is not null and not (kind = 'buy')", None),
    ("kind = ''", None), ("kind like 'v%'", None), ("kind not like 'v%'", None),
    ("kind in ('buy', 'click') or score is null", None),
    ("score > 0.5", None), ("score = 0", None), ("score is nan", "isnan(score)"),
    ("score is not nan", "not isnan(score)"),
    ("price >= -12.5 and price < 800", None), ("day = '2024-01-05'", None), ("day > '2024-01-20' or day is null", None),
    ("at >= '2024-01-02T00:00:00+00:00' and at < '2024-01-02T06:00:00+00:00'",
     "\"at\" >= TIMESTAMPTZ '2024-01-02 00:00:00+00' and \"at\" < TIMESTAMPTZ '2024-01-02 06:00:00+00'"),
    ("place.lat < 0.25", None), ("place.name is null", None), ("place.name = 'p1' and id > 200000", None),
    ("true", None), ("false", None), ("not (kind = 'view' or day < '2024-01-10')", None),
]


def oracle():
    """A DuckDB connection with the rows, read by PyIceberg, as table t."""
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(kit.rows.strip_scheme(kit.rows.find_metadata(WHERE))).scan().to_arrow()
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("arrow", table)
    # Where DuckDB leaves a filter to Arrow, NaN is not greater than numbers.
    connection.execute("CREATE TABLE t AS SELECT * FROM arrow")
    return connection


CONNECTION = oracle()


def same_as_duckdb(ours, theirs):
    found = [json.loads(line)["id"] for line in
             kit.firn("scan", *ARGUMENTS, "--json", "--columns", "id", "--where", ours).stdout.splitlines()]
    wanted = [row[0] for row in CONNECTION.execute(f"SELECT id FROM t WHERE {theirs or ours}").fetchall()]
    kit.check(sorted(found) == sorted(wanted), f"{ours}: {len(found)} rows against {len(wanted)}")


def order_is_kept():
    """A filter leaves rows out and changes nothing else."""
    wanted = [line for line in ALL if json.loads(line)["kind"] == "view"]
    found = kit.firn("scan", *ARGUMENTS, "--json", "--where", "kind = 'view'").stdout.splitlines()
    kit.check(found == wanted and 0 < len(wanted) < len(ALL), "rows or their order differ")


def columns():
    found = kit.firn("scan", *ARGUMENTS, "--json", "--columns", "place,id,tags").stdout.splitlines()
    wanted = [json.dumps({name: json.loads(line)[name] for name in ("place", "id", "tags")}, separators=(",", ":"))
              for line in ALL]
    kit.check([json.loads(line) for line in found] == [json.loads(line) for line in wanted], "values differ")
    kit.check(all(list(json.loads(line)) == ["place", "id", "tags"] for line in found), "order of the keys")
    done = kit.firn("scan", *ARGUMENTS, "--columns", "idd", expect=2)
    kit.check("nearest one is id" in done.stderr, done.stderr)
    done = kit.firn("scan", *ARGUMENTS, "--columns", "tags.element", expect=2)
    kit.check("lies within a list or map" in done.stderr, done.stderr)
    quoted = kit.firn("scan", *ARGUMENTS, "--columns", '"id",kind', "--limit", "1").stdout
    kit.check(quoted.startswith("id,kind\n"), quoted)
    for wrong in ('"id', '"id"x', "id,,kind", '"a""', ","):
        kit.firn("scan", *ARGUMENTS, "--columns", wrong, expect=2)


def members_of_structs():
    """A struct's member by its full name; null where the struct is. CSV and JSON name it so."""
    names = ("place.name", "id", "place.lat")
    wanted = [[(row["place"] or {}).get("name"), row["id"], (row["place"] or {}).get("lat")] for row in map(json.loads, ALL)]
    kit.check(any(name is None and lat is None for name, _, lat in wanted) and any(lat for _, _, lat in wanted), "no mixture")
    found = kit.firn("scan", *ARGUMENTS, "--json", "--columns", ",".join(names)).stdout.splitlines()
    kit.check([list(json.loads(line).items()) for line in found] == [list(zip(names, row)) for row in wanted], "JSON")
    lines = list(csv.reader(io.StringIO(kit.firn("scan", *ARGUMENTS, "--columns", ",".join(names)).stdout), strict=True))
    kit.check(lines[0] == list(names), f"{lines[0]}")
    kit.check([(name, int(row_id), float(lat) if lat else None) for name, row_id, lat in lines[1:]]
              == [(name or "", row_id, lat) for name, row_id, lat in wanted], "CSV")
    # A filter may look at the struct's other members, which are read and not shown.
    found = kit.firn("scan", *ARGUMENTS, "--json", "--columns", "place.name", "--where", "place.lat > 0.5").stdout.splitlines()
    kit.check([json.loads(line) for line in found] ==
              [{"place.name": name} for name, _, lat in wanted if lat is not None and lat > 0.5], "with a filter")
    for given, told in (("place,place.lat", "place.lat lies within place"), ("place.lat,id,place", "place.lat lies within place"),
                        ("place.lat,place.lat", "comes twice"), ("place.lot", "no column"), ("place.", "no column"),
                        ("id.x", "no column")):
        done = kit.firn("scan", *ARGUMENTS, "--columns", given, expect=2)
        kit.check(told in done.stderr, f"{given}: {done.stderr}")


def spoil(path, column):
    """Overwrites what a data file holds of one leaf; its footer stays."""
    with open(path, "r+b") as file:
        groups = pq.ParquetFile(path).metadata
        for i in range(groups.num_row_groups):
            for j in range(groups.num_columns):
                chunk = groups.row_group(i).column(j)
                if chunk.path_in_schema != column:
                    continue
                file.seek(chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset)
                file.write(b"\xff" * chunk.total_compressed_size)


def members_are_read_alone():
    """Of a struct only what is asked for is read: its other members may be spoilt."""
    copy = os.path.join(folder, "spoilt")
    catalog, _, arguments = tables.make(copy, name="db.spoilt", commits=2, rows=60, seed=6)
    command = ("scan", *arguments, "--json", "--columns", "place.lat,id")
    filtered = (*command, "--where", "place.lat > 0.5")
    wanted = [kit.firn(*command).stdout, kit.firn(*filtered).stdout]
    kit.check(len(wanted[0]) > len(wanted[1]) > 0, "nothing is left to read")
    for task in catalog.load_table("db.spoilt").scan().plan_files():
        spoil(kit.rows.strip_scheme(task.file.file_path), "place.name")
    kit.check([kit.firn(*command).stdout, kit.firn(*filtered).stdout] == wanted, "rows differ")
    kit.firn("scan", *arguments, "--columns", "place", expect=1)
    kit.firn(*command, "--where", "place.name is null", expect=1)


def limit():
    for count in (1, 7, 119, 120, 121, 500, len(ALL), len(ALL) + 1):
        found = kit.firn("scan", *ARGUMENTS, "--json", "--limit", count).stdout.splitlines()
        kit.check(found == ALL[:count], f"--limit {count}")
    buys = kit.firn("scan", *ARGUMENTS, "--json", "--where", "kind = 'buy'").stdout.splitlines()
    found = kit.firn("scan", *ARGUMENTS, "--json", "--where", "kind = 'buy'", "--limit", 5).stdout.splitlines()
    kit.check(found == buys[:5], "--where with --limit")


def comma_separated():
    """CSV read back holds what JSON has: null is an unquoted nothing, "" an empty text."""
    text = kit.firn("scan", *ARGUMENTS).stdout
    lines = list(csv.reader(io.StringIO(text), strict=True))
    kit.check(lines[0] == list(json.loads(ALL[0])), "names")
    kit.check(len(lines) == len(ALL) + 1, "number of lines")
    for fields, line in zip(lines[1:], ALL):
        for field, value in zip(fields, json.loads(line, parse_float=str, parse_int=str).values()):
            if value is None or isinstance(value, str):
                kit.check(field == (value or ""), f"{field!r} for {value!r}")
            else:
                kit.check(json.loads(field, parse_float=str, parse_int=str) == value, f"{field!r} for {value!r}")
    raw = text.splitlines()[1:]
    empty = sum(1 for line in ALL if json.loads(line)["kind"] == "")
    kit.check(sum(',"",' in line for line in raw) >= empty > 0, "empty texts are quoted")


def reader_goes_away():
    """Nothing is said, and the exit code is 0, when only the first lines were wanted."""
    with subprocess.Popen([kit.FIRN, "scan", *ARGUMENTS, "--where", "id >= 0"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        process.wait()
    kit.check(process.returncode == 0 and error == b"", f"exit {process.returncode}: {error}")
    done = subprocess.run(["sh", "-c", f"'{kit.FIRN}' scan {' '.join(ARGUMENTS)} > /dev/full"], capture_output=True,
                          check=False, text=True)
    kit.check(done.returncode == 1 and "No space left" in done.stderr, f"exit {done.returncode}: {done.stderr}")


def files_are_left_out():
    """What a filter rules out by partition or bounds is not read: those files may be gone."""
    copy = os.path.join(folder, "gone")
    catalog, _, arguments = tables.make(copy, name="db.gone", commits=3, rows=60, seed=5)
    table = catalog.load_table("db.gone")
    for task in table.scan().plan_files():
        if task.file.partition[0] != "view":
            os.remove(kit.rows.strip_scheme(task.file.file_path))
    found = kit.firn("scan", *arguments, "--json", "--where", "kind = 'view'").stdout.splitlines()
    kit.check(found and all(json.loads(line)["kind"] == "view" for line in found), "rows of views")
    kit.firn("scan", *arguments, expect=1)


if __name__ == "__main__":
    try:
        kit.main([(f"where_{i}", same_as_duckdb, *pair) for i, pair in enumerate(FILTERS)] +
                 [order_is_kept, columns, members_of_structs, members_are_read_alone, limit, comma_separated, reader_goes_away, files_are_left_out])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
