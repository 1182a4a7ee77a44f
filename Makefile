# The front door. `make` leaves build/firn; the work is CMake's, see CMakeLists.txt and CMakePresets.json.
#
#   make            build the program and the library       make test       build and run the tests
#   make deps       install what the build needs (Debian)   make demo       see firn compact a table
#   make asan       tests under Address- and UBSanitizer    make tsan       tests under ThreadSanitizer
#   make fuzz       fuzz each target, FUZZ_SECONDS each     make bench      measure
#   make install    PREFIX=/usr/local, DESTDIR=             make clean      remove build folders
#   make format     format the sources                      make check-format, check-layers, check-house

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60

CMAKE_BUILD = cmake --build --parallel $(JOBS) --preset
CONFIGURE_HINT = { echo "make: configuring failed; 'make deps' installs what may be missing" >&2; exit 1; }

.PHONY: all configure deps deps-test demo test asan tsan bench fuzz install format check-format \
        check-layers check-house clean

all: configure
	@$(CMAKE_BUILD) release --target product

configure:
	@cmake --preset release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" --log-level=NOTICE || $(CONFIGURE_HINT)

deps:
	@scripts/deps.sh dev

deps-test:
	@scripts/deps.sh test

demo:
	@scripts/deps.sh product
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh build/firn

test: deps-test
	@$(MAKE) --no-print-directory configure
	@$(CMAKE_BUILD) release
	@ctest --preset release --parallel $(JOBS)

asan tsan: deps-test
	@cmake --preset $@
	@$(CMAKE_BUILD) $@
	@ctest --preset $@ --parallel $(JOBS)

fuzz:
	@scripts/deps.sh fuzz
	@cmake --preset fuzz
	@$(CMAKE_BUILD) fuzz
	@scripts/fuzz.sh build-fuzz "$(FUZZ_SECONDS)"

bench: all
	@BENCH_SCALE="$(or $(BENCH_SCALE),1)" bench/run.sh build/firn

install: all
	@cmake --install build --prefix "$(PREFIX)"

format:
	@scripts/format.sh

check-format:
	@scripts/format.sh --check

check-layers:
	@scripts/check_layers.py

check-house:
	@scripts/check_house.py

clean:
	@rm -rf build build-dev build-asan build-tsan build-fuzz
