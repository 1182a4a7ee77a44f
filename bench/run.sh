#!/usr/bin/env bash
# run.sh FIRN: measures firn beside its peers on the same bytes and prints ratios. Fails when rows differ or a peer did not run.
#   BENCH_SCALE   share of the full size, 1 (about 200 MB) unless set; BENCH_SCALE=8 is eight times as much
#   BENCH_DIR     where tables are made (kept); a temporary folder unless set
#   BENCH_PAIRS   runs of each, interleaved; 5 unless set
#   FIRN_PYTHON   a Python with bench/requirements.txt; one is made in build-environment unless set
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
firn=$(realpath "${1:?usage: run.sh FIRN}")
if [ -z "${FIRN_PYTHON:-}" ]; then
    environment="$here/../build-environment"
    [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
    "$environment/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
    FIRN_PYTHON="$environment/bin/python"
fi
export BENCH_SCALE=${BENCH_SCALE:-1} BENCH_PAIRS=${BENCH_PAIRS:-5}
if [ -z "${BENCH_DIR:-}" ]; then
    BENCH_DIR=$(mktemp -d)
    trap 'rm -rf "$BENCH_DIR"' EXIT
fi
export BENCH_DIR
exec_status=0
"$FIRN_PYTHON" "$here/compact.py" "$firn" || exec_status=$?
exit $exec_status
