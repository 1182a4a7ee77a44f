"""
live_writer.py FIRN: compaction beside a live writer, for BENCH_LIVE_SECONDS (120) for each format version. The writer commits
about once a second; runs of firn are stopped for up to two seconds to take as long as they do on large tables. Fails when a row
was lost, revived or doubled, or when fewer than 95 % of the compactions that had something to do committed.
"""
import os
import sys

os.environ["FIRN"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "histories"))

import live_writer  # noqa: E402

LEAST = 0.95


def main():
    seconds, low = float(os.environ.get("BENCH_LIVE_SECONDS", "120")), []
    print(f"compaction beside a live writer, {seconds:.0f} s for each version; rows are checked after every snapshot")
    for version, allowed in ((2, ("equality", "null_keys")), (3, ("equality", "null_keys"))):
        figures, other = live_writer.live(version, version, seconds, pace=1.0, stop=2.0, allowed=allowed)
        if live_writer.report(version, figures, other) < LEAST:
            low.append(version)
    sys.exit(f"fewer than {LEAST:.0%} of the compactions committed: v{low}" if low else 0)


main()
