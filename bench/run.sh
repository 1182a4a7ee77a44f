#!/usr/bin/env bash
# run.sh FIRN: measures firn beside its peers on the same bytes and prints ratios. Fails when rows differ or a peer did not run.
#   BENCH_SCALE   share of the full size, 1 (about 200 MB) unless set; BENCH_SCALE=8 is eight times as much
#   BENCH_DIR     where tables are made (kept); a temporary folder unless set
#   BENCH_PAIRS   runs of each, interleaved; 5 unless set
#   FIRN_PYTHON   a Python with bench/requirements.txt; one is made in build-environment unless set
#   BENCH_LIVE_SECONDS  how long firn compacts beside a live writer, for each format version; 120 unless set
#   FIRN_SPARK, FIRN_TOOLS   Spark's folder and that of its session script: workloads that Spark writes are left out without them
#   FIRN_PARQUET_CONCAT      the peer parquet-concat; built into build-environment with cargo unless set, left out where there is no cargo
#   FIRN_ICEBERG_COMPACTION  a Python with the peer iceberg-compaction; one is made in build-environment unless set
# With FIRN_CI=1 nothing may be left out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
firn=$(realpath "${1:?usage: run.sh FIRN}")
if [ -z "${FIRN_PYTHON:-}" ]; then
    environment="$here/../build-environment"
    [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
    "$environment/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
    FIRN_PYTHON="$environment/bin/python"
fi
if [ -z "${FIRN_PARQUET_CONCAT:-}" ] && command -v cargo >/dev/null; then
    rust="$here/../build-environment/rust"
    cargo install -q --root "$rust" --version 60.1.0 --features cli --bin parquet-concat parquet
    FIRN_PARQUET_CONCAT="$rust/bin/parquet-concat"
fi
if [ -z "${FIRN_ICEBERG_COMPACTION:-}" ]; then
    peer="$here/../build-environment/iceberg-compaction"
    [ -x "$peer/bin/python" ] || "$FIRN_PYTHON" -m venv "$peer"
    if "$peer/bin/pip" install -q --disable-pip-version-check iceberg-compaction==202604.9.0rc0; then
        FIRN_ICEBERG_COMPACTION="$peer/bin/python"
    fi
fi
export FIRN_ICEBERG_COMPACTION=${FIRN_ICEBERG_COMPACTION:-}
export FIRN_PARQUET_CONCAT=${FIRN_PARQUET_CONCAT:-}
export BENCH_SCALE=${BENCH_SCALE:-1} BENCH_PAIRS=${BENCH_PAIRS:-5}
if [ -z "${BENCH_DIR:-}" ]; then
    BENCH_DIR=$(mktemp -d)
    trap 'rm -rf "$BENCH_DIR"' EXIT
fi
export BENCH_DIR
build=$(dirname "$firn")
cmake --build "$build" --target firn-bench-decode >/dev/null
failed=0
"$FIRN_PYTHON" "$here/compact.py" "$firn" || failed=1
status=0
"$FIRN_PYTHON" "$here/live_writer.py" "$firn" || status=$?
[ "$status" = 0 ] || [ "$status" = 77 ] || failed=1 # 77: left out
"$FIRN_PYTHON" "$here/deletes.py" "$firn" || failed=1
"$FIRN_PYTHON" "$here/plan.py" "$firn" || failed=1
"$FIRN_PYTHON" "$here/lake.py" "$firn" || failed=1
"$FIRN_PYTHON" "$here/decode.py" "$build/bench/firn-bench-decode" || failed=1
exit $failed
