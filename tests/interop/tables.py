"""Tables that tests make with PyIceberg: many small commits of mixed types."""
import datetime
import decimal
import os
import random

import kit
import pyarrow as pa

EPOCH = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)


def batch(seed, rows, nulls=True):
    """Rows with every kind of column that a usual table has."""
    dice = random.Random(seed)

    def maybe(value):
        return None if nulls and dice.random() < 0.1 else value

    return pa.table({
        "id": pa.array([seed * 100000 + i for i in range(rows)], pa.int64()),
        "at": pa.array([EPOCH + datetime.timedelta(hours=dice.randrange(72), microseconds=dice.randrange(10**6))
                        for _ in range(rows)], pa.timestamp("us", tz="UTC")),
        "kind": pa.array([maybe(dice.choice(["view", "click", "buy", ""])) for _ in range(rows)], pa.string()),
        "score": pa.array([maybe(dice.choice([float("nan"), -0.0, 0.0, dice.random()])) for _ in range(rows)],
                          pa.float64()),
        "price": pa.array([maybe(decimal.Decimal(dice.randrange(-10**6, 10**6)).scaleb(-2)) for _ in range(rows)],
                          pa.decimal128(9, 2)),
        "day": pa.array([maybe(datetime.date(2024, 1, 1 + dice.randrange(28))) for _ in range(rows)], pa.date32()),
        "tags": pa.array([maybe([dice.choice("abc") for _ in range(dice.randrange(4))]) for _ in range(rows)],
                         pa.list_(pa.string())),
        "place": pa.array([maybe({"lat": dice.random(), "name": maybe("p%d" % dice.randrange(5))})
                           for _ in range(rows)],
                          pa.struct([("lat", pa.float64()), ("name", pa.string())])),
        "extra": pa.array([maybe([("k%d" % dice.randrange(3), dice.randrange(10))]) for _ in range(rows)],
                          pa.map_(pa.string(), pa.int32())),
    })


def make(folder, name="db.events", commits=8, rows=50, partitioned=True, properties=None, seed=1):
    """A table with `commits` appends; returns (PyIceberg catalog, what kit.read takes, firn's arguments)."""
    from pyiceberg.transforms import IdentityTransform
    catalog = kit.sql_catalog(folder)
    namespace = name.rpartition(".")[0]
    catalog.create_namespace_if_not_exists(namespace)
    first = batch(seed, rows)
    table = catalog.create_table(name, schema=first.schema, properties=properties or {})
    if partitioned:
        with table.update_spec() as update:
            update.add_field("kind", IdentityTransform(), "kind")
    for i in range(commits):
        table.append(batch(seed + i, rows))
    database = os.path.join(folder, "catalog.db")
    return catalog, f"{database}:{name}", [name, "--catalog", database]
