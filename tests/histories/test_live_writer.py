"""
Compaction beside a live writer, a short while for each format version. `bench/live_writer.py` runs it longer.
FIRN_LIVE_SECONDS: how long each.
"""
import os

import live_writer
import kit

SECONDS = float(os.environ.get("FIRN_LIVE_SECONDS", "12"))


def beside_a_writer(version, seed, allowed):
    figures, other = live_writer.live(version, seed, SECONDS, pace=0.3, stop=0.5, allowed=allowed)
    share = live_writer.report(version, figures, other)
    kit.check(figures.committed > 0, "no compaction committed")
    kit.check(share >= 0.8, f"only {share:.0%} of the compactions committed")


kit.main([("v2_every_delete", beside_a_writer, 2, 1, ("equality", "null_keys")),
          ("v3_vectors", beside_a_writer, 3, 2, ()),
          ("v3_every_delete", beside_a_writer, 3, 3, ("equality", "null_keys"))])
