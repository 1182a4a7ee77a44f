"""
What writers do to a table: each step draws from its own dice, so that it is the same step whatever stood before it, and does
nothing where it does not apply. STEPS names them with their weights.
"""
import types

import columns
import files
import fx_json
import reader
from world import spec_fields

DELETES = reader.POSITION_DELETES


def grouped(items, key):
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


# Adding and rewriting rows


def write_data(world, change, dice, rows, spec_id=None, lineage=None):
    """Data files for rows by partition; `lineage`: {uid: (row id, updated)} to be written too."""
    spec_id = change.default_spec if spec_id is None else spec_id
    spec = change.spec(spec_id)
    for group in grouped(rows, lambda row: tuple(columns.partition_of(spec, row))):
        parts = dice.choice([1, 1, 2, 3])
        for part in filter(None, (group[i::parts] for i in range(parts))):
            ending, ids = ".parquet", True
            if "avro" in world.allowed and dice.random() < 0.2:
                ending = ".avro"
                world.used.add("avro")
            elif "no_ids" in world.allowed and "reused_name" not in world.used and lineage is None and dice.random() < 0.2:
                ids = False
                world.used.add("no_ids")
            without = ()
            if "no_partition_column" in world.allowed and dice.random() < 0.4 and any(
                    f["source-id"] == columns.PART and f["transform"] == "identity" for f in spec):
                without = (columns.PART,)
                world.used.add("no_partition_column")
            if lineage is not None:
                part = [{**row, **dict(zip((columns.ROW_ID, columns.LAST_UPDATED), lineage[row[columns.UID]]))} for row in part]
            change.add(change.data_file(part, spec_id, columns.partition_of(spec, part[0]), ending, ids, lineage is not None,
                                        dice.random() < 0.8, without))
    if "no_ids" in world.used:
        change.metadata["properties"]["schema.name-mapping.default"] = columns.name_mapping(change.metadata["schemas"])


def begin(world, dice, ref=None):
    change = world.table.change(ref or world.pick_ref(dice))
    # The loaded document is shared by all who read it.
    change.metadata = {**change.metadata, "properties": dict(change.metadata["properties"])}
    return change, world.values(change)


def append(world, dice):
    change, rows = begin(world, dice)
    like = {columns.PART: dice.choice(["a", "b"]), columns.AT: None} if dice.random() < 0.5 else None
    fresh = world.new_rows(dice, dice.choice([1, 3, 8, 20]), like)
    write_data(world, change, dice, fresh)
    added = {row[columns.UID]: row for row in fresh}
    world.commit(change, "append", {**rows, **added}, added, merge=dice.random() < 0.1)


def append_empty(world, dice):
    """Some engines leave files without rows."""
    change, rows = begin(world, dice)
    like = world.new_rows(dice, 1)[0]
    spec_id = change.default_spec
    change.add(change.data_file([], spec_id, columns.partition_of(change.spec(spec_id), like)))
    world.commit(change, "append", rows)


def remove_data(change, entries):
    """Data files go, and what is only for them: vectors must, position deletes of one file may."""
    paths = {e.path for e in entries}
    change.remove(*entries)
    change.remove(*(d for d in change.base.deletes if d.referenced in paths and (d.is_vector or change.dice.random() < 0.7)))


def overwrite(world, dice):
    """All files of some partitions go, new rows come."""
    change, rows = begin(world, dice)
    groups = grouped(change.base.data, lambda e: (e.spec_id, tuple(e.partition)))
    if not groups:
        return
    gone = [e for group in dice.sample(groups, 1) for e in group]
    dead = {r.values[columns.UID] for e in gone for r in change.base.rows_of(e)}
    remove_data(change, gone)
    fresh = world.new_rows(dice, dice.choice([0, 4]))
    write_data(world, change, dice, fresh)
    added = {row[columns.UID]: row for row in fresh}
    world.commit(change, "overwrite", {**{u: v for u, v in rows.items() if u not in dead}, **added}, added)


def copy_on_write(world, dice):
    """Rows of some files are deleted or updated by writing the files again."""
    change, rows = begin(world, dice)
    if not change.base.data:
        return
    targets = dice.sample(change.base.data, min(len(change.base.data), dice.choice([1, 1, 3])))
    rows, changed = dict(rows), set()
    for spec_id, group in {e.spec_id: [t for t in targets if t.spec_id == e.spec_id] for e in targets}.items():
        kept, lineage = [], {}
        for row in (r for e in group for r in change.base.rows_of(e)):
            uid, values = row.values[columns.UID], {f["id"]: columns.project(f, row.values) for f in change.fields}
            fate = dice.random()
            if fate < 0.3:
                del rows[uid]
                continue
            updated = None if row.row_id is None else row.updated
            if fate < 0.5:
                values[columns.K2 if columns.K2 in values else columns.K1] = None
                changed.add(uid)
                updated = None
            rows[uid] = values
            lineage[uid] = (row.row_id, updated)
            kept.append(values)
        # Some engines write under the default spec, some under the file's own.
        spec_id = change.default_spec if change.version < 2 or dice.random() < 0.5 else spec_id
        write_data(world, change, dice, kept, spec_id, lineage if change.version >= 3 else None)
    remove_data(change, targets)
    world.commit(change, "overwrite", rows, changed)


def delete_files(world, dice):
    """A delete that metadata alone can do."""
    change, rows = begin(world, dice)
    if not change.base.data:
        return
    gone = dice.choice(change.base.data)
    dead = {r.values[columns.UID] for r in change.base.rows_of(gone)}
    remove_data(change, [gone])
    world.commit(change, "delete", {u: v for u, v in rows.items() if u not in dead})


# Deletes of rows


def position_deletes(world, dice):
    """Merge on read of v2: one delete file for each data file or partition."""
    change, rows = begin(world, dice)
    if change.version != 2 or not change.base.data:
        return
    targets = dice.sample(change.base.data, min(len(change.base.data), dice.choice([1, 2, 4])))
    by_file = dice.random() < 0.5
    dead = set()
    for group in grouped(targets, lambda e: e.key if by_file else (e.spec_id, tuple(e.partition))):
        picked = [r for e in group for r in change.base.rows_of(e) if dice.random() < 0.3]
        if not picked:
            continue
        dead |= {r.values[columns.UID] for r in picked}
        places = [((r.entry.path, r.position), r.values) for r in picked]
        if dice.random() < 0.2:
            places.append(places[0])
        dice.shuffle(places) if dice.random() < 0.3 else places.sort(key=lambda p: p[0])
        ending = ".avro" if "avro_deletes" in world.allowed and dice.random() < 0.4 else ".parquet"
        world.used |= {"avro_deletes"} if ending == ".avro" else set()
        single = len({p for (p, _), _ in places}) == 1
        change.add(change.position_deletes([p for p, _ in places], group[0].spec_id, group[0].partition, ending,
                                           places[0][0][0] if single and dice.random() < 0.5 else None, dice.random() < 0.7,
                                           [v for _, v in places] if dice.random() < 0.2 else None))
    if change.added:
        world.commit(change, "delete", {u: v for u, v in rows.items() if u not in dead})


def vectors(world, dice):
    """Merge on read of v3: a file's new vector holds what the old one, or its position deletes, held."""
    change, rows = begin(world, dice)
    if change.version < 3 or not change.base.data:
        return
    targets = dice.sample(change.base.data, min(len(change.base.data), dice.choice([1, 2, 5])))
    wanted, dead = [], set()
    for entry in targets:
        picked = [r for r in change.base.rows_of(entry) if dice.random() < 0.3]
        if not picked:
            continue
        dead |= {r.values[columns.UID] for r in picked}
        wanted.append((entry, change.base.deleted_positions(entry) | {r.position for r in picked}))
        old = change.base.vector(entry)
        change.remove(*([old] if old else []),
                      *(d for d in change.base.position_files(entry) if d.referenced == entry.path))
    if not wanted:
        return
    if dice.random() < 0.3:
        for one in wanted:
            change.add(*change.vectors([one]))
    else:
        change.add(*change.vectors(wanted))
    world.commit(change, "delete", {u: v for u, v in rows.items() if u not in dead})


def key_columns(world, dice):
    """One or two columns that rows can be told by."""
    usable = [f for f in world.fields if f["id"] != columns.UID and not isinstance(f["type"], dict)
              and f["type"] in columns.KEY_TYPES]
    if dice.random() < 0.3:
        return [f for f in world.fields if f["id"] == columns.UID]
    place = next((f for f in world.fields if f["id"] == columns.PLACE), None)
    if place and "nested_keys" in world.allowed and dice.random() < 0.3:
        world.used.add("nested_keys")
        inner = next(f for f in place["type"]["fields"] if f["id"] == columns.PLACE_A)
        return [{**place, "type": fx_json.struct(inner)}]
    return dice.sample(usable, min(len(usable), dice.choice([1, 1, 2])))


def unpartitioned_spec(world):
    """The id of a spec without fields, which is added where there is none."""
    found = [s["spec-id"] for s in world.metadata["partition-specs"] if not s["fields"]]
    if found:
        return found[0]
    number = max(s["spec-id"] for s in world.metadata["partition-specs"]) + 1
    world.table.update(lambda m: m["partition-specs"].append({"spec-id": number, "fields": []}))
    world.used.add("specs")
    return number


def equality(world, dice, fresh_count):
    """Equality deletes and, in the same commit, new rows, which they don't reach."""
    if "equality" not in world.allowed or world.version < 2:
        return
    is_global = dice.random() < 0.5
    spec_id = unpartitioned_spec(world) if is_global else world.metadata["default-spec-id"]
    change, rows = begin(world, dice)
    keys = key_columns(world, dice)
    ids = [columns.PLACE_A if f["id"] == columns.PLACE else f["id"] for f in keys]

    def key(row):
        return tuple(columns.key_value(row, i, change.fields) for i in ids)

    candidates = [columns_of(change, values) for values in rows.values()] + world.new_rows(dice, 1)
    picked = dice.sample(candidates, min(len(candidates), dice.choice([1, 2, 4])))
    if "null_keys" not in world.allowed:
        picked = [p for p in picked if None not in key(p)]
    if not picked:
        return
    if any(None in key(p) for p in picked):
        world.used.add("null_keys")
    spec, dead = change.spec(spec_id), set()
    places = {r.values[columns.UID]: r.entry for r in change.base.rows()}
    for group in grouped(picked, lambda row: tuple(columns.partition_of(spec, row))):
        ending = ".avro" if "avro_deletes" in world.allowed and dice.random() < 0.4 else ".parquet"
        world.used |= {"avro_deletes"} if ending == ".avro" else set()
        inside = keys if dice.random() < 0.7 or columns.PLACE_A in ids else [f for f in change.fields if f["id"] in {*ids, columns.AMOUNT, columns.TAGS}]
        partition = columns.partition_of(spec, group[0])
        change.add(change.equality_deletes(ids, group, spec_id, partition, ending, inside))
        wanted = {key(row) for row in group}
        for uid, values in rows.items():
            entry = places[uid]
            if key(values) in wanted and (
                    reader.unpartitioned(spec) or (entry.spec_id, entry.partition) == (spec_id, list(partition))):
                dead.add(uid)
    world.used.add("equality")
    fresh = world.new_rows(dice, fresh_count, {i: picked[0][i] for i in ids if i not in (columns.UID, columns.PLACE_A)})
    write_data(world, change, dice, fresh)
    added = {row[columns.UID]: row for row in fresh}
    world.commit(change, "overwrite" if added else "delete",
                 {**{u: v for u, v in rows.items() if u not in dead}, **added}, added)


def columns_of(change, values):
    return {f["id"]: columns.project(f, values) for f in change.fields}


def equality_deletes(world, dice):
    equality(world, dice, 0)


def upsert(world, dice):
    equality(world, dice, dice.choice([1, 3]))


def checkpoint(world, dice):
    """Rows that come and go within one commit: deletes by position reach data files of the same commit."""
    change, rows = begin(world, dice)
    if change.version < 2:
        return
    spec_id, spec = change.default_spec, change.spec(change.default_spec)
    added, vectored = {}, []
    for group in grouped(world.new_rows(dice, 8), lambda row: tuple(columns.partition_of(spec, row))):
        partition, gone = columns.partition_of(spec, group[0]), [i for i in range(len(group)) if dice.random() < 0.4]
        made = change.data_file(group, spec_id, partition)
        change.add(made)
        added.update({row[columns.UID]: row for i, row in enumerate(group) if i not in gone})
        path = made[1]["file_path"]
        if gone and change.version == 2:
            change.add(change.position_deletes([(path, i) for i in gone], spec_id, partition))
        elif gone:
            vectored.append((types.SimpleNamespace(path=path, spec_id=spec_id, partition=partition), set(gone)))
    if vectored:
        change.add(*change.vectors(vectored))
    world.commit(change, "overwrite" if len(change.added) > len(added) else "append", {**rows, **added}, added)


# Evolution


def evolve(world, dice):
    """One change of the schema: add, rename, widen, drop, reorder, or a field inside the struct."""
    if "evolution" not in world.allowed:
        return

    def edit(metadata):
        current = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
        fields = [dict(f) for f in current["fields"]]
        how = dice.choice([add_column, add_column, rename, widen, drop, reorder, add_inside, relax])
        how(world, dice, metadata, fields)
        schema = {**fx_json.schema(fields, max(s["schema-id"] for s in metadata["schemas"]) + 1)}
        metadata["schemas"].append(schema)
        metadata["current-schema-id"] = schema["schema-id"]
        if metadata["format-version"] == 1:
            metadata["schema"] = schema
        if "no_ids" in world.used:
            metadata["properties"]["schema.name-mapping.default"] = columns.name_mapping(metadata["schemas"])
        world.used.add("evolution")

    world.table.update(edit)


def add_column(world, dice, metadata, fields):
    kind, default = dice.choice(columns.ADDED)
    number = metadata["last-column-id"] + 1
    dropped = {f["name"] for s in metadata["schemas"] for f in s["fields"]} - {f["name"] for f in fields}
    name = f"added{number}"
    if dropped and "no_ids" not in world.used and dice.random() < 0.3:
        name = sorted(dropped)[0]
        world.used.add("reused_name")
    item = fx_json.field(number, name, kind)
    metadata["last-column-id"] = number
    if isinstance(kind, dict):
        item["type"] = fx_json.list_of(number + 1, kind["element"])
        metadata["last-column-id"] = number + 1
    elif default is not None and metadata["format-version"] >= 3 and "defaults" in world.allowed and dice.random() < 0.7:
        item.update({"initial-default": default, "write-default": default})
        item["required"] = dice.random() < 0.3
        world.used.add("defaults")
    fields.insert(dice.randrange(len(fields) + 1), item)


def add_inside(_world, dice, metadata, fields):
    for item in fields:
        if item["id"] == columns.PLACE:
            number = metadata["last-column-id"] = metadata["last-column-id"] + 1
            inside = list(item["type"]["fields"])
            inside.insert(dice.randrange(len(inside) + 1), fx_json.field(number, f"inner{number}", "long"))
            item["type"] = fx_json.struct(*inside)


def rename(_world, dice, metadata, fields):
    item = dice.choice([f for f in fields if f["id"] != columns.UID])
    item["name"] = f"renamed{item['id']}_{len(metadata['schemas'])}"


def widen(world, dice, metadata, fields):
    wider = columns.WIDER_V3 if metadata["format-version"] >= 3 and "date_promotion" in world.allowed else columns.WIDER
    narrow = [f for f in fields if not isinstance(f["type"], dict) and f["type"] in wider
              and (f["type"] != "date" or "initial-default" not in f)]
    if narrow:
        item = dice.choice(narrow)
        world.used |= {"date_promotion"} if item["type"] == "date" else set()
        item["type"] = wider[item["type"]]


def relax(_world, dice, _metadata, fields):
    """A required column becomes optional."""
    required = [f for f in fields if f["required"] and f["id"] != columns.UID]
    if required:
        dice.choice(required)["required"] = False


def drop(_world, dice, _metadata, fields):
    item = dice.choice([f for f in fields if f["id"] not in columns.KEPT] or [None])
    if item:
        fields.remove(item)


def reorder(_world, dice, _metadata, fields):
    dice.shuffle(fields)


def evolve_spec(world, dice):
    """A new default spec; in v1 what was there becomes void."""
    if "specs" not in world.allowed:
        return

    def edit(metadata):
        old = reader.spec_of(metadata, metadata["default-spec-id"])
        first = metadata["last-partition-id"] + 1
        wanted = spec_fields(metadata["format-version"], dice, first)
        for item in wanted:
            item["name"] += f"_{item['field-id']}"
        if metadata["format-version"] == 1:
            wanted = [{**f, "transform": "void", "name": f["name"] + ("" if f["transform"] == "void" else "_void")}
                      for f in old] + wanted
        number = max(s["spec-id"] for s in metadata["partition-specs"]) + 1
        metadata["partition-specs"].append({"spec-id": number, "fields": wanted})
        metadata["default-spec-id"] = number
        metadata["last-partition-id"] = max([metadata["last-partition-id"], *(f["field-id"] for f in wanted)])
        if metadata["format-version"] == 1:
            metadata["partition-spec"] = wanted
        world.used.add("specs")

    world.table.update(edit)


def upgrade(world, _dice):
    def edit(metadata):
        metadata["format-version"] += 1
        if metadata["format-version"] == 2:
            metadata["last-sequence-number"] = 0
            for key in ("schema", "partition-spec"):
                metadata.pop(key, None)
        else:
            metadata["next-row-id"] = 0
            if metadata.get("current-snapshot-id") == -1:
                del metadata["current-snapshot-id"]

    if world.version == 1:
        world.used.add("upgraded_v1")
    if world.version < 3:
        world.table.update(edit)


# Refs


def branch_or_tag(world, dice):
    head = reader.head(world.metadata)
    if "branches" not in world.allowed or head is None:
        return
    world.names += 1
    kind = dice.choice(["branch", "tag"])
    entry = {"snapshot-id": head["snapshot-id"], "type": kind}
    world.table.update(lambda m: m["refs"].update({f"{kind}{world.names}": entry}))
    world.used.add("branches")


def rollback(world, dice):
    """main goes back to an ancestor, or on to what another branch came to."""
    metadata = world.metadata
    targets, at = [], reader.head(metadata)
    while at and len(targets) < 4:
        targets.append(at["snapshot-id"])
        parent = at.get("parent-snapshot-id")
        at = reader.snapshot(metadata, parent) if parent is not None else None
    targets += [metadata["refs"][name]["snapshot-id"] for name in world.branches() if name in metadata.get("refs", {})]
    if len(targets) < 2:
        return
    target = dice.choice(targets[1:])

    def edit(document):
        document["refs"]["main"]["snapshot-id"] = document["current-snapshot-id"] = target
        document["snapshot-log"].append({"timestamp-ms": document["last-updated-ms"] + 1, "snapshot-id": target})

    world.table.update(edit)


STEPS = {append: 8, append_empty: 0.3, overwrite: 1, copy_on_write: 2, delete_files: 1, position_deletes: 4, vectors: 4, equality_deletes: 2,
         upsert: 2, checkpoint: 1.5, evolve: 3, evolve_spec: 1, upgrade: 0.4, branch_or_tag: 1, rollback: 0.5}
