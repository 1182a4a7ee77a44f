"""A table, its model, and what a history may use: the ground that steps.py works on."""
import random

import columns
import fx_json
import model
import reader
import writer
from kit import check

# What may be in a history beyond the plain; outside readers differ in what they know of it.
FEATURES = {"avro": 0.25, "no_ids": 0.2, "equality": 0.5, "null_keys": 0.5, "evolution": 0.6, "specs": 0.4, "defaults": 0.5,
            "branches": 0.4, "avro_deletes": 0.3, "no_partition_column": 0.2, "odd_paths": 0.2, "date_promotion": 0.3,
            "nested_keys": 0.3}


def spec_fields(version, dice, first_id=1000):
    choices = [(columns.PART, "part", "identity"), (columns.UID, "uid_bucket", "bucket[3]"), (columns.AT, "at_day", "day"),
               (columns.AT, "at_month", "month"), (columns.K1, "k1_trunc", "truncate[4]")]
    picked = dice.sample(choices, dice.choice([0, 0, 1, 1, 2]))
    if {"day", "month"} <= {t for _, _, t in picked}:
        picked = picked[:1]
    return [fx_json.spec_field(source, name, transform, first_id + i) for i, (source, name, transform) in enumerate(picked)]


def random_properties(dice):
    """What users set, and what changes how firn writes."""
    choices = {"write.parquet.compression-codec": ["zstd", "snappy", "gzip"],
               "write.metadata.compression-codec": ["gzip"],
               "write.metadata.metrics.default": ["none", "counts", "full", "truncate(4)"],
               "write.object-storage.enabled": ["true"],
               "write.delete.granularity": ["file", "partition"],
               "write.parquet.row-group-size-bytes": ["1000"],
               "write.parquet.page-row-limit": ["3"],
               "write.parquet.bloom-filter-enabled.column.k2": ["true"],
               "write.parquet.dict-encoding-enabled.column.k2": ["false"],
               "write.parquet.stats-enabled.column.k1": ["false"],
               "commit.manifest.target-size-bytes": ["9000"]}
    return {key: dice.choice(values) for key, values in choices.items() if dice.random() < 0.15}


class World:
    """`allowed`: features of this history; `used`: those that its table has had so far."""

    def __init__(self, folder, seed, allowed=None, version=None):
        dice = random.Random(f"world {seed}")
        self.seed, self.used = seed, set()
        drawn = {name for name, share in FEATURES.items() if dice.random() < share}
        self.allowed = drawn if allowed is None else set(allowed)
        start = dice.choice([1, 2, 2, 2, 3, 3, 3])
        self.model = model.Model()
        properties = random_properties(dice)
        self.table = writer.Table(folder, version or start, spec=spec_fields(version, dice), properties=properties,
                                  seed=dice.getrandbits(40), scheme=dice.choice(["", "file://"]))
        self.table.odd_paths = "odd_paths" in self.allowed
        if self.table.odd_paths:
            self.used.add("odd_paths")
        self.names = 0

    @property
    def metadata(self):
        return self.table.current()[1]

    @property
    def version(self):
        return self.metadata["format-version"]

    @property
    def fields(self):
        return model.fields_of(self.metadata, "main")

    def refs(self):
        return sorted(self.metadata.get("refs", {}))

    def branches(self):
        return [name for name, ref in self.metadata.get("refs", {}).items() if ref["type"] == "branch"] or ["main"]

    def pick_ref(self, dice):
        return "main" if dice.random() < 0.8 else dice.choice(sorted(self.branches()))

    def new_rows(self, dice, count, like=None):
        """Values of new rows; those of one call may share a partition."""
        rows = []
        for _ in range(count):
            values = {f["id"]: columns.random_value(dice, f) for f in self.fields}
            values[columns.UID] = self.model.uid()
            values.update(like or {})
            rows.append(values)
        return rows

    def commit(self, change, operation, rows, changed=(), merge=False):
        """rows: values by uid after the commit."""
        change.commit(operation, merge)
        metadata = self.metadata
        self.model.adopt(metadata, reader.head(metadata, change.ref), rows, set(changed))

    def values(self, change):
        """The rows before a change, by uid, as the model has them."""
        if change.parent:
            self.model.learn(change.metadata, change.parent)
        state = self.model.states[change.parent["snapshot-id"] if change.parent else None]
        return {uid: row.values for uid, row in state.items()}

    def state_id(self, ref="main"):
        entry = reader.head(self.metadata, ref)
        return entry["snapshot-id"] if entry else None

    def rewritten(self, ref, before):
        """How many snapshots firn put on a ref since `before`; the model knows them then."""
        metadata = self.metadata
        head = reader.head(metadata, ref)
        self.model.learn(metadata, head)
        made = list(reader.since(metadata, head, before))
        check(metadata["format-version"] < 3 or all("first-row-id" in entry for entry in made), "a snapshot of v3 has no first-row-id")
        return len(made)
