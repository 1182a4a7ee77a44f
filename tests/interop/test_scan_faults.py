"""Each allocation and each call to storage fails in turn while rows are printed: a run that says it succeeded printed all of them, any other
says why, and printed nothing but rows of the table and, at the end, a line with the error."""
import json
import os

import kit

if not kit.FAULTS:
    kit.skip("FIRN_FAULTS names no program")

# Position, equality and vector deletes; Avro data and deletes; lineage; variants; nested columns.
TABLES = ["eq_with_positions", "pos_delete_files", "dv_spark", "avro_files", "lineage_update", "variant_v3", "nested"]
STEP = int(os.environ.get("FIRN_ALLOCATION_STEP", "1"))


def run(arguments, environment):
    return kit.firn("scan", *arguments, "--format", "json", "--threads", "1", program=kit.FAULTS, environment=environment,
                    expect=None)


def without_error(printed):
    """The rows: a run that fails ends its lines with an object of the error, if memory is left for it."""
    *lines, last = printed.splitlines(keepends=True) or [""]
    is_error = last != "" and "exit_code" in str(json.loads(last).get("error"))
    return "".join(lines) if is_error else printed


def check_run(done, rows, what):
    """Whether the run succeeded."""
    for word in ("AddressSanitizer", "LeakSanitizer", "runtime error"):
        kit.check(word not in done.stderr, f"{what}: {done.stderr[:3000]}")
    if done.returncode == 0:
        kit.check(done.stdout == rows, f"{what}: exit 0 without all rows")
        return True
    kit.check(done.returncode in (1, 2) and "firn:" in done.stderr, f"{what}: exit {done.returncode}: {done.stderr}")
    kit.check(rows.startswith(without_error(done.stdout)), f"{what}: something else than the table's first rows was printed")
    return False


def table(name):
    folder, about = kit.unpack(name)
    arguments = kit.fixture_argument(folder, about)
    rows = run(arguments, {}).stdout
    kit.check(len(rows.splitlines()) == len(kit.expected(name)), f"{name}: {rows[-300:]}")
    calls = 1
    while not check_run(run(arguments, {"FIRN_FAULT": f"fail:{calls}:read"}), rows, f"{name}: read {calls} fails"):
        calls += 1
    at = 1
    successes = 0
    # A failed allocation may be made good by another way; the last ones of a run are.
    while successes < 3:
        ended = check_run(run(arguments, {"FIRN_FAIL_ALLOC": str(at)}), rows, f"{name}: allocation {at} fails")
        successes = successes + 1 if ended else 0
        at += STEP
    print(f"  {name}: {calls - 1} reads, up to allocation {at}")
    kit.check(calls > 1 and at > 100, f"{name}: no faults were played")


if __name__ == "__main__":
    kit.main([(name, table, name) for name in TABLES])
