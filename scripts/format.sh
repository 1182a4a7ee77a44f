#!/bin/sh
# format.sh [--check]: formats the C sources with clang-format 14, or tells which are not formatted.
set -eu
cd "$(dirname "$0")/.."

tool=""
for candidate in clang-format-14 clang-format; do
    if command -v "$candidate" >/dev/null; then
        tool="$candidate"
        break
    fi
done
case "$([ -z "$tool" ] || "$tool" --version)" in
*"version 14."*) ;;
*)
    # Other versions format differently. 77 tells the test that it was skipped.
    echo "format: clang-format 14 is not there; 'make deps' installs it" >&2
    [ -n "${FIRN_CI:-}" ] && exit 1
    exit 77
    ;;
esac

files="$(find include src tests fuzz bench examples -name '*.[ch]' | sort)"
[ -n "$files" ] || exit 0
if [ "${1:-}" = --check ]; then
    # shellcheck disable=SC2086
    "$tool" --dry-run --Werror $files
else
    # shellcheck disable=SC2086
    "$tool" -i $files
fi
