"""Small table metadata documents of every format version, and a helper that drops, nulls or replaces one key."""
import copy
import json
import re

NOW = 1700000000000  # a fixed time, in milliseconds
UUID = "11111111-2222-3333-4444-555555555555"


class _Drop:
    """Stands for "remove this key" in edit()."""

    def __repr__(self):
        return "DROP"


DROP = _Drop()


def field(field_id, name, kind, required=False, **more):
    return {"id": field_id, "name": name, "required": required, "type": kind, **more}


def struct(*fields):
    return {"type": "struct", "fields": list(fields)}


def list_of(element_id, element, required=False):
    return {"type": "list", "element-id": element_id, "element-required": required, "element": element}


def map_of(key_id, key, value_id, value, required=False):
    return {"type": "map", "key-id": key_id, "key": key, "value-id": value_id, "value-required": required,
            "value": value}


def schema(fields, schema_id=0):
    return {"type": "struct", "schema-id": schema_id, "fields": list(fields)}


def spec_field(source_id, name, transform="identity", field_id=1000):
    return {"source-id": source_id, "field-id": field_id, "name": name, "transform": transform}


def field_ids(kind):
    """All ids below a type."""
    if isinstance(kind, str):
        return []
    found = []
    for item in kind.get("fields", []):
        found += [item["id"], *field_ids(item["type"])]
    for part in ("element", "key", "value"):
        if part in kind:
            found += [kind[part + "-id"], *field_ids(kind[part])]
    return found


DEFAULT_FIELDS = (field(1, "id", "long"), field(2, "name", "string"))


def metadata(version, location, fields=DEFAULT_FIELDS, spec=(), properties=None):
    """A valid document without snapshots. v1 carries the old and the new keys, as writers of today do."""
    spec = list(spec)
    document = {
        "format-version": version,
        "table-uuid": UUID,
        "location": location,
        "last-sequence-number": 0,
        "last-updated-ms": NOW,
        "last-column-id": max(field_ids(schema(fields)), default=0),
        "schema": schema(fields),
        "current-schema-id": 0,
        "schemas": [schema(fields)],
        "partition-spec": spec,
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": spec}],
        "last-partition-id": max([999, *(f.get("field-id", 0) for f in spec)]),
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": dict(properties or {}),
        "current-snapshot-id": -1,
        "refs": {},
        "snapshots": [],
        "statistics": [],
        "snapshot-log": [],
        "metadata-log": [],
    }
    if version == 1:
        del document["last-sequence-number"]
    else:
        del document["schema"], document["partition-spec"]
    if version >= 3:
        document["next-row-id"] = 0
        del document["current-snapshot-id"]
    return copy.deepcopy(document)


def snapshot(snapshot_id, manifest_list, sequence_number=1, parent=None, at=NOW, operation="append", schema_id=0,
             **more):
    result = {"snapshot-id": snapshot_id, "sequence-number": sequence_number, "timestamp-ms": at,
              "manifest-list": manifest_list, "summary": {"operation": operation}, "schema-id": schema_id, **more}
    if parent is not None:
        result["parent-snapshot-id"] = parent
    return result


def _steps(path):
    return [int(step) if step.isdigit() else step for step in path.split("/")] if isinstance(path, str) else list(path)


def edit(document, path, value=DROP):
    """A copy with one key ("snapshots/0/snapshot-id") dropped, set to null (None) or replaced."""
    result = copy.deepcopy(document)
    *way, last = _steps(path)
    at = result
    for step in way:
        at = at[step]
    if value is DROP:
        del at[last]
    else:
        at[last] = value
    return result


def get(document, path):
    for step in _steps(path):
        document = document[step]
    return document


def raw(text):
    """A value that dumps() writes as `text`, letter by letter: numbers that Python would spell otherwise."""
    return f"\x00{text}\x00"


def dumps(document, indent=None):
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return re.sub(r'"\\u0000(.*?)\\u0000"', lambda m: m.group(1).replace('\\"', '"'), text)
