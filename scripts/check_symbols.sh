#!/bin/sh
# check_symbols.sh LIBRARY: what the shared library exports is what exported-symbols.txt lists. After a
# deliberate change to the public headers: check_symbols.sh LIBRARY --update.
set -eu
library="$1"
list="$(dirname "$0")/exported-symbols.txt"

# Names that begin with two underscores are the compiler's (sanitizers).
exported() {
    nm --dynamic --defined-only --format=posix "$library" | cut -d ' ' -f 1 | grep -v '^__' |
        LC_ALL=C sort
}

if [ "${2:-}" = --update ]; then
    exported >"$list"
    exit 0
fi
if ! difference="$(exported | diff "$list" -)"; then
    echo "The exported symbols differ from scripts/exported-symbols.txt (< listed, > exported):" >&2
    echo "$difference" >&2
    exit 1
fi
