"""Every table that Spark wrote verifies clean, but for what is named here and true; so does each one after a compaction."""
import json

import kit

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


kit.main([(name, verify, name) for name in kit.fixtures()])
