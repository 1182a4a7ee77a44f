"""
Random histories in which firn works on the table between the writers' steps: after every step the files, firn's reader and
outside readers show the model's rows, and the table's books are right.

    FIRN=build/firn python test_histories.py [--seed N] [--count N] [--steps N] [--outside SHARE] [--trace]

Without --seed the seeds are 1 to --count; CI runs few. A history that fails is printed as short as it was possible to make it.
FIRN_TEST_SEED is the first seed, FIRN_HISTORIES their number.
"""
import argparse
import os
import random
import sys
import time

import firn_steps
import history
import kit


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--first", type=int, default=int(os.environ.get("FIRN_TEST_SEED", "1")))
    parser.add_argument("--count", type=int, default=int(os.environ.get("FIRN_HISTORIES", "60")))
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--outside", type=float, default=0.05, help="share of steps after which outside readers look")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    return parser.parse_args()


def check_of(seed, share):
    """Outside readers look after the same steps of a seed whatever is left out of it."""
    return history.Checks(outside=lambda number, last: random.Random(f"{seed} {number}").random() < share,
                          extra=firn_steps.after_each, end=firn_steps.at_the_end)


def main():
    chosen = options()
    seeds = [chosen.seed] if chosen.seed is not None else range(chosen.first, chosen.first + chosen.count)
    failed, started = [], time.monotonic()
    for number, seed in enumerate(seeds, 1):
        story = history.History.random(seed, chosen.steps, firn_steps.STEPS)
        check = check_of(seed, chosen.outside)
        try:
            story.run(check, chosen.trace)
        except kit.Failed as problem:
            print(f"FAILED --seed {seed} --steps {chosen.steps}: {problem}", flush=True)
            failed.append(seed)
            if not chosen.no_shrink and len(failed) <= 3:
                shortest, why = story.shortest(check)
                print(f"  shortest: {shortest.steps}\n  {why}", flush=True)
        if number % 50 == 0:
            print(f"  {number} histories, {time.monotonic() - started:.0f} s, {len(failed)} failed", flush=True)
    print(f"{len(seeds) - len(failed)} histories passed, {len(failed)} failed {failed[:20]}")
    sys.exit(1 if failed else 0)


main()
