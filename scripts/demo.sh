#!/bin/sh
# demo.sh FIRN: shows firn at work on a table with small files, in FIRN_DEMO_DIR or a fresh folder.
set -eu

firn="${1:-build/firn}"
if [ ! -x "$firn" ]; then
    echo "demo: $firn is not there; 'make' builds it" >&2
    exit 1
fi
folder="${FIRN_DEMO_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/firn-demo-XXXXXX")}"
"$firn" demo small-files "$folder"
