"""Public reports about Parquet files: columns without ids, offsets that lie, pages with flags of their own, empty row groups."""
import json
import os

import bugkit
import fx_json
import fx_parquet as p
import fx_table
import pyarrow.parquet as pq
from bugkit import check, compact, described, equal, files, firn, refused
from fx_json import field

MAPPING = "schema.name-mapping.default"


def mapping(*entries):
    """entries: (id, names, children)."""
    def one(entry):
        number, names, *children = entry
        return {"field-id": number, "names": list(names), **({"fields": [one(c) for c in children]} if children else {})}
    return json.dumps([one(entry) for entry in entries])


def table_of(paths_and_rows, fields, properties=None, version=2, **more):
    """A table whose data files exist already."""
    table = fx_table.Table(version, fields, properties=properties)
    made = [table.file(path, rows, **more) for path, rows in paths_and_rows]
    table.snapshot([table.manifest([table.entry(f) for f in made])])
    table.save()
    return table


def scratch(name):
    folder = os.path.join(fx_table.ROOT, "files")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name)


def new_paths(table):
    return [e["data_file"]["file_path"] for e in table.live_entries()]


def check_compaction(table, pyiceberg=True):
    """Compacts, then compares the table's rows by PyIceberg and the new files' own columns with the oracle."""
    before = described(table, "--content-hash")["content_hash"]
    compact(table, rows=pyiceberg)
    equal(fx_table.rows_in(new_paths(table)), fx_table.oracle(table), "columns of the new files")
    equal(described(table, "--content-hash")["content_hash"], before, "content hash")


def report_46_files_without_ids():
    """Report 46, duckdb/duckdb-iceberg#242: files without ids are read by the name mapping, aliases too; without one they are refused."""
    fields = [field(1, "id", "long"), field(2, "name", "string")]
    for version in (1, 2):
        for names, text in ((("id", "name"), mapping((1, ["id"]), (2, ["name"]))),
                            (("id", "old_name"), mapping((1, ["id"]), (2, ["name", "old_name", "older"]))),
                            (("ID", "name"), mapping((1, ["x", "ID"]), (2, ["name"])))):
            made = []
            for i in range(5):
                nodes = [p.leaf(names[0], p.INT64), p.string(names[1])]
                path = p.write(scratch(f"46-{i}.parquet"), nodes, [[{names[0]: i, names[1]: f"v{i}"}]])
                made.append((path, [{"id": i, "name": f"v{i}"}]))
            table = table_of(made, fields, {MAPPING: text}, version)
            check_compaction(table)
            elements = p.schema_elements(p.read_footer(new_paths(table)[0]))
            equal([e[:2] for e in elements], [("id", 1), ("name", 2)], "ids in the new file")
            equal(table.current()["properties"][MAPPING], text, "the mapping stays")

        # No mapping: nothing may be guessed, and nothing written.
        table = table_of(made, fields, None, version)
        before = table.all_files()
        refused("compact", *table.arguments, "--yes", "--rewrite-all", words=["id", "46-0.parquet"], code=(1, 3))
        refused("describe", *table.arguments, "--content-hash", code=(1, 3))
        equal(table.all_files(), before, "files of a refused table")
        equal(table.current(), table.metadata, "metadata of a refused table")


def report_46_columns_that_the_mapping_lacks():
    """Report 46, Eventual-Inc/Daft#7445: a mapping that knows none of a file's columns gives no table of nulls."""
    fields = [field(1, "id", "long"), field(2, "name", "string")]
    path = p.write(scratch("46-x.parquet"), [p.leaf("a", p.INT64), p.string("b")], [[{"a": 1, "b": "x"}]])
    cases = ((mapping((1, ["id"]), (2, ["name"])), 3), ("[]", 3), (mapping((1, ["A"]), (2, ["B"])), 3), ("{}", 1),
             ("nonsense", 1), ("", 1), ('[{"names": ["a"], "field-id": "1"}]', 1))
    for text, code in cases:
        table = table_of([(path, [{"id": 1, "name": "x"}])] * 5, fields, {MAPPING: text})
        before = table.all_files()
        refused("compact", *table.arguments, "--yes", "--rewrite-all", words=[MAPPING], code=code)
        equal(table.all_files(), before, "files of a refused table")
    # Columns of the file that were dropped from the table are known to be nothing of it: two new columns, all null.
    table = table_of([(path, [{}])] * 5, fields, {MAPPING: mapping((7, ["a"]), (8, ["b"]))})
    check_compaction(table)


def report_46_ids_on_some_columns():
    """Report 46: where some columns of a file have ids, the mapping gives the others theirs; without it they are not guessed at."""
    fields = [field(1, "id", "long"), field(2, "name", "string")]
    rows = [{"id": i, "name": f"v{i}"} for i in range(3)]
    path = p.write(scratch("46-part.parquet"), [p.leaf("id", p.INT64, 1), p.string("name")], [rows])
    table = table_of([(path, rows)] * 5, fields, {MAPPING: mapping((1, ["id"]), (2, ["name"]))})
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows before")
    check_compaction(table)
    table = table_of([(path, rows)] * 5, fields)
    refused("compact", *table.arguments, "--yes", "--rewrite-all", words=["name", "46-part.parquet"], code=3)


NESTED = [
    field(7, "z", "string"),
    field(1, "id", "long"),
    field(2, "l", fx_json.list_of(3, fx_json.struct(
        field(4, "a", "int"),
        field(5, "m", fx_json.map_of(6, "string", 8, fx_json.struct(field(9, "x", "double"), field(10, "y", "string"))))))),
]
NESTED_MAPPING = mapping((7, ["z"]), (1, ["id"]), (2, ["l"], (3, ["element"], (4, ["a"]), (5, ["m"], (6, ["key"]), (
    8, ["value"], (9, ["x"]), (10, ["y"]))))))


def nested_rows(start):
    return [{"id": start + i, "z": None if i == 1 else f"z{i}",
             "l": [None, [], [None, {"a": i, "m": None}], [{"a": None, "m": {}}, {"a": 1, "m": {
                 "k": {"x": 1.5, "y": "q"}, "n": None, "o": {"x": None, "y": None}}}]][i % 4]} for i in range(8)]


def nested_file(path, rows, order, ids, list_names=("list", "element")):
    """Writes the rows with top-level and inner columns in another order than the table's."""
    number = (lambda n: n) if ids else (lambda n: None)
    value = p.group("value", *([p.string("y", number(10)), p.leaf("x", p.DOUBLE_TYPE, number(9))]), field_id=number(8))
    maps = p.map_group("m", p.string("key", number(6), repetition=p.REQUIRED), value, number(5))
    element = p.group(list_names[1], maps, p.leaf("a", p.INT32, number(4)), field_id=number(3))
    lists = p.group("l", p.group(list_names[0], element, repetition=p.REPEATED), logical="list", field_id=number(2))
    nodes = {"id": p.leaf("id", p.INT64, number(1)), "z": p.string("z", number(7)), "l": lists}

    def shape(row):
        def item(e):
            return None if e is None else {"a": e["a"], "m": p.map_value(e["m"])}
        lists_value = None if row["l"] is None else {list_names[0]: [{list_names[1]: item(e)} for e in row["l"]]}
        return {**row, "l": lists_value}
    return p.write(path, [nodes[n] for n in order], [[shape(r) for r in rows]])


def report_47_by_path_never_by_position():
    """Report 47, apache/iceberg#11214 and Altinity/ice#200: nested columns are matched by their path, in any order."""
    for ids in (True, False):
        for order in (("id", "z", "l"), ("l", "z", "id"), ("z", "id", "l")):
            made = []
            for i in range(4):
                rows = nested_rows(10 * i)
                made.append((nested_file(scratch(f"47-{i}.parquet"), rows, order, ids), rows))
            table = table_of(made, NESTED, None if ids else {MAPPING: NESTED_MAPPING})
            # PyIceberg reads a null list of structs as an empty one.
            check_compaction(table, pyiceberg=False)
            found = [e[:2] for e in p.schema_elements(p.read_footer(new_paths(table)[0])) if e[1] is not None]
            equal(found, [("z", 7), ("id", 1), ("l", 2), ("element", 3), ("a", 4), ("m", 5), ("key", 6), ("value", 8),
                          ("x", 9), ("y", 10)], "order and ids of the new file")


def report_47_other_names_of_the_list_level():
    """Report 47: the repeated level of a list is found by structure, whatever it is called."""
    for names in (("bag", "array_element"), ("list", "item"), ("list", "array")):
        rows = nested_rows(0)
        path = nested_file(scratch("47-n.parquet"), rows, ("id", "z", "l"), False, names)
        other = nested_rows(100)
        second = nested_file(scratch("47-o.parquet"), other, ("id", "z", "l"), True)
        table = table_of([(path, rows), (second, other)], NESTED, {MAPPING: NESTED_MAPPING})
        compact(table, rows=False)
        equal(fx_table.rows_in(new_paths(table)), fx_table.oracle(table), f"{names}")


FLAT = [field(1, "id", "long"), field(2, "s", "string")]
NODES = [p.leaf("id", p.INT64, 1), p.string("s", 2)]


def flat_rows(count=20, start=0):
    return [{"id": start + i, "s": None if i % 5 == 4 else f"value-{i % 3}"} for i in range(count)]


def with_dictionary(path, rows, version=1, groups=1, codec="zstd"):
    size = (len(rows) + groups - 1) // groups
    pieces = [rows[i:i + size] for i in range(0, len(rows), size)]
    return p.write(path, NODES, pieces, codec=codec,
                   pages=lambda number, column: [p.Page(4, version, True), p.Page(None, version, True)])


def dictionary_offsets(change):
    """Applies `change` to the ColumnMetaData of each chunk."""
    def patch(footer):
        for row_group in p.row_groups(footer):
            for meta in p.chunks(row_group):
                change(meta)
    return patch


def check_patched(change, what, rows=None, groups=1, version=1):
    """Files whose footers lie, beside one that does not, are compacted as if they did not."""
    rows = rows or flat_rows()
    made = []
    for i in range(5):
        own = [{**r, "id": r["id"] + 100 * i} for r in rows]
        path = with_dictionary(scratch(f"patched-{i}.parquet"), own, version, groups)
        if i < 4:
            p.patch(path, change)
        made.append((path, own))
    table = table_of(made, FLAT)
    compact(table, rows=False)
    equal(fx_table.rows_of(table), fx_table.oracle(table), what)


def report_49_dictionary_offset_missing_or_zero():
    """Report 49, apache/arrow#42848: a dictionary page is found by its type, whatever dictionary_page_offset says."""
    def zero(meta):
        meta[11] = p.i64(0)

    def absent(meta):
        # As older writers did: the data page offset is then the chunk's start, where the dictionary lies.
        meta[9] = p.i64(meta[11][1])
        del meta[11]

    def equal_offsets(meta):
        meta[9] = p.i64(meta[11][1])

    def equal_to_data(meta):
        meta[11] = p.i64(meta[11][1])
        meta[9] = meta[11]

    def zero_and_start(meta):
        meta[9], meta[11] = p.i64(meta[11][1]), p.i64(0)

    for version in (1, 2):
        for what, change in (("absent", absent), ("both the same", equal_offsets),
                             ("equal to the data page's", equal_to_data), ("0, data page at the start", zero_and_start)):
            check_patched(dictionary_offsets(change), what, version=version)
    # 0 while the data page offset skips the dictionary: the start is then unknown, so that an error is right, wrong rows are not.
    path = with_dictionary(scratch("49-zero.parquet"), flat_rows())
    p.patch(path, dictionary_offsets(zero))
    table = table_of([(path, flat_rows())] * 5, FLAT)
    done = firn("compact", *table.arguments, "--yes", "--rewrite-all", expect=(0, 1))
    if done.returncode == 0:
        equal(fx_table.rows_in(new_paths(table)), fx_table.oracle(table), "rows")
    else:
        check("49-zero.parquet" in done.stderr, done.stderr[:300])


def report_50_data_page_offset_is_a_hint():
    """Report 50, deephaven/deephaven-core#3651: pages are walked from the chunk's start; data_page_offset is not trusted."""
    for shift in (-15, -1, 7, 1000000):
        def change(footer, shift=shift):
            dictionary_offsets(lambda meta: meta.__setitem__(9, p.i64(meta[9][1] + shift)))(footer)
        check_patched(change, f"data_page_offset moved by {shift}")


def report_50_header_size_subtracted():
    """Report 50: the very fault of the report: the dictionary page's header was not counted."""
    rows = flat_rows()
    path = with_dictionary(scratch("50.parquet"), rows)
    headers = [p.page_headers(path, 0, i)[0][1] for i in range(2)]

    def change(footer):
        for meta, size in zip(p.chunks(p.row_groups(footer)[0]), headers):
            meta[9] = p.i64(meta[9][1] - size)
    p.patch(path, change)
    table = table_of([(path, rows)] * 5, FLAT)
    compact(table, rows=False)
    equal(fx_table.rows_of(table), fx_table.oracle(table), "rows")


def report_51_row_group_file_offset():
    """Report 51, apache/parquet-java#2640: RowGroup.file_offset is ignored; our split_offsets are the row groups' true starts."""
    for value in (0, 4, 1, 1 << 40, -5, (1 << 63) - 1, None):
        def change(footer, value=value):
            for row_group in p.row_groups(footer):
                if value is None:
                    del row_group[5]
                else:
                    row_group[5] = p.i64(value)
        check_patched(change, f"file_offset {value}", groups=2)
    # What is written: offsets ascend and each is where a row group's first page lies.
    # The first column repeats, so that its chunks begin with a dictionary.
    rows = [{**r, "id": r["id"] % 7} for r in flat_rows(5000)]
    made = [(p.write(scratch(f"51-{i}.parquet"), NODES, [rows], pages=lambda *_: [p.Page(dictionary=True)]), rows)
            for i in range(5)]
    table = table_of(made, FLAT, {"write.parquet.row-group-size-bytes": "65536"})
    compact(table, rows=False)
    for entry in table.live_entries():
        footer = p.read_footer(entry["data_file"]["file_path"])
        starts = [min(meta[n][1] for n in (9, 11) if n in meta and meta[n][1] > 0)
                  for meta in (p.chunks(g)[0] for g in p.row_groups(footer))]
        check(all(11 in p.chunks(g)[0] for g in p.row_groups(footer)), "the first column has no dictionary")
        equal(entry["data_file"]["split_offsets"], starts, "split_offsets")
        for row_group, start in zip(p.row_groups(footer), starts):
            check(5 not in row_group or row_group[5][1] == start, f"our own file_offset: {row_group[5]}, not {start}")


def report_53_flags_of_v2_pages():
    """Report 53, NVIDIA/cudf#19756: is_compressed is each v2 page's own, true where it is absent; levels are never compressed."""
    flat = flat_rows(40)
    for codec in ("zstd", "snappy", "gzip", "none"):
        variants = {
            "all compressed": [p.Page(3, 2), p.Page(None, 2)],
            "none compressed": [p.Page(3, 2, compressed=False), p.Page(None, 2, compressed=False)],
            "mixed": [p.Page(3, 2, compressed=False), p.Page(5, 2), p.Page(4, 2, compressed=False), p.Page(None, 2)],
            "flag absent": [p.Page(3, 2, flag="absent"), p.Page(5, 2, compressed=False), p.Page(None, 2, flag="absent")],
            "mixed with a dictionary": [p.Page(3, 2, True, compressed=False), p.Page(5, 2, True),
                                        p.Page(None, 2, False, compressed=False)],
        }
        for what, pages in variants.items():
            if codec == "none" and what != "all compressed":
                continue
            path = p.write(scratch("53.parquet"), NODES, [flat], codec=codec, pages=lambda *_, pages=pages: pages)
            equal(pq.read_table(path).to_pylist(), flat, f"PyArrow reads {what}")
            table = table_of([(path, flat)] * 3, FLAT)
            check_compaction(table)
            values = p.list_group("l", p.leaf("element", p.INT32, 3), 2)
            lists = [{"id": i, "l": [None, [], [i], [i, None, 3]][i % 4]} for i in range(20)]
            path = p.write(scratch("53-l.parquet"), [p.leaf("id", p.INT64, 1), values],
                           [[{**r, "l": p.list_value(r["l"])} for r in lists]], codec=codec,
                           pages=lambda *_, pages=pages: pages)
            table = table_of([(path, lists)] * 3, [field(1, "id", "long"), field(2, "l", fx_json.list_of(3, "int"))])
            check_compaction(table)


def v2_body(change):
    """A header's change that edits DataPageHeaderV2."""
    def edit(head):
        change(head[8][1], head)
    return edit


def report_54_sizes_of_pages_that_lie():
    """Report 54, duckdb/duckdb PR#23279: every size and count of a page header is checked; a bad page is an error with its file."""
    rows = flat_rows(20)
    changes = {"v1": [], "v2": []}
    for number, name in ((2, "uncompressed_page_size"), (3, "compressed_page_size")):
        for value in (-1, 0, 1, 5, 1 << 20, (1 << 31) - 1, -(1 << 31)):
            def change(head, number=number, value=value):
                head[number] = p.i32(value)
            changes["v1"].append((f"{name} = {value}", change))
            changes["v2"].append((f"{name} = {value}", change))
    for number, name in ((1, "num_values"), (2, "num_nulls"), (3, "num_rows"), (4, "encoding"),
                         (5, "definition_levels_byte_length"), (6, "repetition_levels_byte_length")):
        for value in (-1, 0, 3, 1 << 20, (1 << 31) - 1, -(1 << 31)):
            changes["v2"].append((f"v2 {name} = {value}", v2_body(
                lambda body, head, number=number, value=value: body.__setitem__(number, p.i32(value)))))
    for number, name in ((1, "num_values"), (2, "encoding"), (3, "definition_level_encoding")):
        for value in (-1, 3, 99, (1 << 31) - 1):
            def change(head, number=number, value=value):
                head[5][1][number] = p.i32(value)
            changes["v1"].append((f"v1 {name} = {value}", change))
    changes["v2"].append(("is_compressed flipped", v2_body(lambda body, head: body.__setitem__(7, p.bool_of(False)))))
    for version, list_of_changes in changes.items():
        for dictionary in (False, True):
            for what, change in list_of_changes:
                number = int(version[1])
                pages = [p.Page(7, number, dictionary), p.Page(None, number, dictionary, header=change)]
                path = p.write(scratch("54.parquet"), NODES, [rows], pages={"s": pages}, codec="zstd")
                table = table_of([(path, rows)] * 2, FLAT)
                before = table.all_files()
                done = firn("compact", *table.arguments, "--yes", "--rewrite-all", expect=(0, 1, 3))
                if done.returncode == 0:
                    # A header may say something harmless; then the rows must be right.
                    equal(fx_table.rows_in(new_paths(table)), fx_table.oracle(table), f"{version} {what}")
                else:
                    check("54.parquet" in done.stderr, f"{version} {what}: no file named: {done.stderr[:300]}")
                    equal(table.all_files(), before, f"{version} {what}: left behind")
                firn("describe", *table.arguments, "--content-hash", expect=(0, 1, 3))


def report_54_page_headers_cut_and_flipped():
    """Report 54: a file whose bytes are flipped here and there gives its rows or an error, never a crash."""
    rows = flat_rows(20)
    good = p.dumps(NODES, [rows], pages={"s": [p.Page(7, 2, True), p.Page(None, 2, False)]})
    path = scratch("54-flip.parquet")
    table = None
    for at in range(4, len(good) - 8, 5):
        data = bytearray(good)
        data[at] ^= 1 << (at % 8) | 0x80
        with open(path, "wb") as file:
            file.write(data)
        if table is None:
            table = table_of([(path, rows)] * 2, FLAT)
        firn("describe", *table.arguments, "--content-hash", expect=(0, 1, 3))


def report_63_row_groups_without_rows():
    """Report 63, apache/parquet-java#2728: empty row groups first, last, between and alone, and no row group at all."""
    rows = flat_rows(12)
    layouts = {"first": [[], rows], "middle": [rows[:5], [], rows[5:]], "last": [rows, []], "alone": [[]],
               "several": [[], [], rows[:1], [], rows[1:], []], "none": []}
    for what, groups in layouts.items():
        content = [r for g in groups for r in g]
        made = []
        for i in range(5):
            own = [[{**r, "id": r["id"] + 100 * i} for r in g] for g in groups]
            path = p.write(scratch(f"63-{what}-{i}.parquet"), NODES, own)
            equal(pq.read_table(path).num_rows, len(content), f"PyArrow reads {what}")
            made.append((path, [r for g in own for r in g]))
        # Beside one with rows in one group, so that there is something to write.
        extra = [{"id": 7777, "s": "extra"}]
        made.append((p.write(scratch("63-extra.parquet"), NODES, [extra]), extra))
        table = table_of(made, FLAT)
        equal(described(table)["data_files"]["rows"], len(content) * 5 + 1, what)
        compact(table, rows=False)
        equal(fx_table.rows_of(table), fx_table.oracle(table), what)
        for path in new_paths(table):
            counts = [g[3][1] for g in p.row_groups(p.read_footer(path))]
            check(all(count > 0 for count in counts), f"{what}: we wrote an empty row group: {counts}")


def report_63_nothing_but_empty_files():
    """Report 63, ClickHouse/ClickHouse#107746: a table of files without rows is read and compacted to a table without rows."""
    for groups in ([], [[]], [[], []]):
        made = [(p.write(scratch(f"63-empty-{i}.parquet"), NODES, groups), []) for i in range(6)]
        table = table_of(made, FLAT)
        equal(len(files(table)), 6, "files")
        described(table, "--content-hash")
        firn("compact", *table.arguments, "--yes", "--rewrite-all", "--verify")
        equal(fx_table.rows_of(table), [], "rows")


if __name__ == "__main__":
    bugkit.main([test for name, test in sorted(globals().items()) if name.startswith("report_")])
