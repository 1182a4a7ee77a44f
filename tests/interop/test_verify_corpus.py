"""Every table that Spark wrote verifies clean, but for what is named here and true; so does each one after a compaction."""
import json
import os
import sys

import kit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bugs"))
import fx_avro  # noqa: E402

# (severity, kind, words) of each finding.
TRUE = {
    # Spark's add_files counts no file sizes.
    "added_files": {("warning", "summary", "total-files-size")},
    "dangling_deletes": {("note", "dangling", "deletes nothing any more")},
    "orc_files": {("note", "unsupported", "format ORC")},
    # parquet-java put NaN into the footer's statistics.
    "floats_strings": {("warning", "content", "NaN")},
    "schema_evolution": {("warning", "content", "NaN")},
}


def faults(name, arguments, *options):
    done = kit.firn("verify", *arguments, *options, "--json", expect=(0, 8))
    found = json.loads(done.stdout)["findings"]
    known = TRUE.get(name, set())
    unknown = [f for f in found if not any(f["severity"] == s and f["kind"] == k and words in f["message"] for s, k, words in known)]
    kit.check(not unknown, f"{name} {options}: {unknown}")
    kit.check((done.returncode == 8) == any(f["severity"] != "note" for f in found), f"{name}: exit code {done.returncode}")
    return found


def verify(name):
    folder, about = kit.unpack(name)
    arguments = kit.fixture_argument(folder, about)
    found = faults(name, arguments, "--deep")
    kit.check({f["kind"] for f in found} == {kind for _, kind, _ in TRUE.get(name, ())}, f"{name}: what is named here was not found: {found}")
    faults(name, arguments)
    if kit.firn("compact", *arguments, "--rewrite-all", "--yes", expect=None).returncode == 0:
        faults(name, arguments, "--deep")


def caught(folder, kind, words):
    found = json.loads(kit.firn("verify", folder, "--json", expect=8).stdout)["findings"]
    kit.check(any(f["kind"] == kind and words in f["message"] and f["severity"] == "error" for f in found), f"{kind} '{words}': {found}")


def vectors(folder):
    return [f for f in kit.firn_json("files", folder)["files"] if f["format"] == "PUFFIN"]


def change_entries(folder, change):
    """Rewrites the newest delete manifest with what `change` makes of its entries; returns what was there."""
    path = [m for m in kit.firn_json("manifests", folder)["manifests"] if m["content"] == "deletes"][-1]["path"].removeprefix("file:")
    header, entries = fx_avro.read(path)
    schema = json.loads(header.pop("avro.schema"))
    header.pop("avro.codec", None)
    fx_avro.write(path, schema, change(entries), header=header)


def broken_vectors():
    """A byte of a vector, its cardinality, its place, and a second one for one file."""
    def more_rows(entries):
        entries[0]["data_file"]["record_count"] += 1
        return entries

    def elsewhere(entries):
        entries[0]["data_file"]["content_offset"] += 1
        return entries

    for change, kind, words in ((more_rows, "vector", "and its manifest counts"), (elsewhere, "vector", "its footer has no deletion vector"),
                                (lambda entries: entries + entries, "vector", "")):
        folder, _ = kit.unpack("dv_spark")
        change_entries(folder, change)
        caught(folder, kind, words)
    folder, _ = kit.unpack("dv_spark")
    path = vectors(folder)[0]["path"].removeprefix("file:")
    with open(path, "r+b") as file:
        file.seek(4 + 12)
        byte = file.read(1)
        file.seek(4 + 12)
        file.write(bytes([byte[0] ^ 0xFF]))
    caught(folder, "vector", "")


kit.main([broken_vectors] + [(name, verify, name) for name in kit.fixtures()])
