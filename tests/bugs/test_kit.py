"""The fixture kit judged by PyIceberg, PyArrow and DuckDB: what it writes untouched is valid."""
import bugkit
import fx_avro
import fx_json
import fx_parquet
import fx_table
import kit
from bugkit import equal


def tables_of_every_version():
    for version in (1, 2, 3):
        for kind in ("sql", "directory"):
            table = fx_table.Table(version, spec=[fx_json.spec_field(2, "name")], kind=kind)
            files = []
            for name in ("a", "b", None):
                files.append(table.data([{"id": i, "name": name} for i in range(3)], [name]))
            if version < 3:
                table.snapshot([table.manifest([table.entry(f) for f in files])])
            else:
                table.metadata["next-row-id"] = 9
                table.snapshot([table.manifest([table.entry(f) for f in files], listed={"first_row_id": 0})],
                               **{"first-row-id": 0, "added-rows": 9})
            table.save()
            equal(fx_table.rows_of(table), fx_table.oracle(table), f"v{version} by PyIceberg")
            equal(len(kit.read("duckdb", table.where)), 9, f"v{version} by DuckDB")


def avro_of_every_codec():
    for codec in ("null", "deflate", "snappy", "zstandard"):
        table = fx_table.Table()
        files = [table.data([{"id": i, "name": "x"}]) for i in range(5)]
        table.snapshot([table.manifest([table.entry(f) for f in files], codec=codec, per_block=2, signed_counts=True)],
                       list_options={"codec": codec})
        table.save()
        if codec == "snappy":  # PyIceberg's is an extra package
            equal(len(kit.read("duckdb", table.where)), 5, codec)
        else:
            equal(fx_table.rows_of(table), fx_table.oracle(table), codec)
        _, entries = fx_avro.read(table.current_manifests()[0][0]["manifest_path"])
        equal(len(entries), 5, codec)


def parquet_of_every_kind():
    import duckdb
    import pyarrow.parquet as pq
    p = fx_parquet
    nodes = [p.leaf("id", p.INT64, 1, repetition=p.REQUIRED), p.string("s", 2),
             p.list_group("l", p.leaf("element", p.INT32, 4), 3),
             p.map_group("m", p.string("key", 6, repetition=p.REQUIRED), p.leaf("value", p.DOUBLE_TYPE, 7), 5)]
    plain = [{"id": i, "s": None if i % 3 == 0 else f"v{i % 4}", "l": [None, [], [1, None, i]][i % 3],
              "m": [None, {}, {"a": 1.5, "b": None}][i % 3]} for i in range(20)]
    rows = [{**r, "l": p.list_value(r["l"]), "m": p.map_value(r["m"])} for r in plain]
    path = f"{fx_table.ROOT}/kinds.parquet"
    for version in (1, 2):
        for codec in p.CODECS:
            pages = [p.Page(3, version, True), p.Page(4, version, False, compressed=False),
                     p.Page(None, version, version == 2)]
            p.write(path, nodes, [rows[:12], [], rows[12:]], codec=codec,
                    pages=lambda number, _, pages=pages: pages if number != 1 else [])
            found = pq.read_table(path).to_pylist()
            # An empty map is an empty list for PyArrow.
            wanted = [{**r, "m": None if r["m"] is None else list(r["m"].items())} for r in plain]
            equal(found, wanted, f"v{version} {codec}")
            counted = duckdb.sql(f"select count(*), count(s), sum(id), sum(len(l)) from '{path}'").fetchone()
            equal(counted, (20, 13, 190, 18), f"v{version} {codec} by DuckDB")
            p.patch(path, lambda footer: None)
            equal(pq.read_table(path).to_pylist(), wanted, "after a footer was rewritten")


if __name__ == "__main__":
    bugkit.main([tables_of_every_version, avro_of_every_codec, parquet_of_every_kind])
