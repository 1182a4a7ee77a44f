#!/bin/sh
# fuzz.sh BUILD SECONDS: runs every fuzz target for so long, from the corpus in the tree. What libFuzzer
# adds to a corpus, and inputs that crash, go below BUILD.
set -eu
build="$1"
seconds="$2"
cd "$(dirname "$0")/.."

for target in "$build"/fuzz/fuzz_*; do
    [ -f "$target" ] && [ -x "$target" ] || continue
    name="${target##*/fuzz_}"
    found="$build/fuzz/found/$name"
    mkdir -p "$found"
    echo "fuzz: $name for $seconds s"
    "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=0 \
        -artifact_prefix="$found-" "$found" "fuzz/corpus/$name"
done
