#!/bin/sh
# deps.sh [product|test|dev|fuzz|readers]: sees to it that the Debian packages are there which building the
# program needs; testing needs some more, and so does working on the sources. Each of these three includes
# the one before. fuzz: clang beside the first. readers: what setting up Spark for comparisons takes.
set -eu

product="build-essential cmake ninja-build pkg-config libjansson-dev libyaml-dev libsqlite3-dev
libssl-dev libzstd-dev libsnappy-dev zlib1g-dev liblz4-dev libbrotli-dev"
test="libcmocka-dev libroaring-dev python3"
dev="clang-format-14 python3-venv strace"
fuzz="clang libclang-rt-14-dev"
readers="python3-venv openjdk-17-jdk-headless maven"

case "${1:-dev}" in
product) wanted="$product" ;;
test) wanted="$product $test" ;;
dev) wanted="$product $test $dev" ;;
fuzz) wanted="$product $fuzz" ;;
readers) wanted="$readers" ;;
*)
    echo "usage: deps.sh [product|test|dev|fuzz|readers]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "deps: this is no Debian; the build needs what these packages hold:" $wanted >&2
    exit 0
fi

is_installed() {
    case "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" in
    ii* | hi*) return 0 ;;
    esac
    # pkgconf takes pkg-config's place.
    [ "$1" = pkg-config ] && command -v pkg-config >/dev/null
}

missing=""
for package in $wanted; do
    is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "deps: packages are missing; install them with:" >&2
    echo "  sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi

echo "deps: installing$missing"
# The lists of a fresh machine are empty or old.
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
