"""What the tests of this folder share: the helpers of tests/interop, and a compaction with its checks."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))

import kit  # noqa: E402
import fx_table  # noqa: E402
from kit import check  # noqa: E402,F401

CRASHES = ("AddressSanitizer", "runtime error", "LeakSanitizer", "Assertion")


def equal(found, wanted, what):
    check(found == wanted, f"{what}\n    found    {str(found)[:1500]}\n    expected {str(wanted)[:1500]}")


def firn(*arguments, **options):
    """kit.firn that also notices a sanitizer's or an assertion's word, and a death by a signal."""
    done = kit.firn(*arguments, **options)
    check(done.returncode >= 0, f"firn {arguments}: ended by signal {-done.returncode}\n{done.stderr[-1500:]}")
    for word in CRASHES:
        check(word not in done.stderr, f"firn {arguments}: {done.stderr[-3000:]}")
    return done


def firn_json(*arguments, **options):
    import json
    done = firn(*arguments, "--json", **options)
    try:
        return json.loads(done.stdout)
    except ValueError as problem:
        raise kit.Failed(f"firn {arguments}: no JSON ({problem}): {done.stdout[:500]!r} {done.stderr[:500]}") from problem


def refused(*arguments, words=(), code=1, **options):
    """firn must end with `code` and a message that has all of the words."""
    done = firn(*arguments, expect=None, **options)
    codes = code if isinstance(code, tuple) else (code,)
    check(done.returncode in codes, f"firn {' '.join(map(str, arguments))}: exit {done.returncode}, expected {codes}\n"
          f"{done.stdout[:800]}\n{done.stderr[:800]}")
    for word in words:
        check(word in done.stderr, f"the message does not say {word!r}: {done.stderr[:800]}")
    return done


def compact(table, *options, rows=True, reader=fx_table.rows_of):
    """Compacts all of a table with --verify and checks its rows; returns the report."""
    report = firn_json("compact", *table.arguments, "--yes", "--rewrite-all", "--verify", *options)
    check(report["committed"], f"nothing was committed: {report}")
    # What was written keeps its promises.
    firn("parquet", "verify", *sorted({e["data_file"]["file_path"].removeprefix("file://") for e in table.live_entries()}))
    if rows:
        equal(reader(table), fx_table.oracle(table), "rows after the compaction")
    return report


def described(table, *options):
    return firn_json("describe", *table.arguments, *options)


def files(table):
    """Live files as `firn files` shows them, by the base of their path."""
    return firn_json("files", *table.arguments)["files"]


def main(tests):
    try:
        kit.main(tests)
    finally:
        fx_table.clean_up()
