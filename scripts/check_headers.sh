#!/bin/sh
# check_headers.sh: every public header compiles alone, as C and as C++, without warnings.
set -eu
cd "$(dirname "$0")/.."
status=0
for header in include/firn/*.h; do
    # The declaration keeps a header of macros alone from being an empty unit.
    source="#include \"firn/${header##*/}\"
extern int firn_header_test;"
    echo "$source" | "${CC:-cc}" -std=c17 -pedantic -Wall -Wextra -Wconversion -Wshadow \
        -Wstrict-prototypes -Werror -fsyntax-only -Iinclude -x c - || status=1
    echo "$source" | "${CXX:-c++}" -std=c++11 -pedantic -Wall -Wextra -Wconversion \
        -Wshadow -Werror -fsyntax-only -Iinclude -x c++ - || status=1
done
exit $status
