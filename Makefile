# Thin front of CMake for daily work; newcomers use ./run, which also installs what is missing.
PREFIX ?= /usr/local
GENERATOR := $(shell command -v ninja >/dev/null 2>&1 && echo -G Ninja)
JOBS ?= $(shell nproc)

all: build/CMakeCache.txt
	@cmake --build build -j $(JOBS)

# The tool and the examples alone, without tests, Python module and plug-ins.
tool: build/CMakeCache.txt
	@cmake --build build -j $(JOBS) --target tool

build/CMakeCache.txt:
	@cmake -S . -B build $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DDIS_WERROR=$(or $(DIS_WERROR),OFF) >/dev/null

test: all
	@ctest --test-dir build --output-on-failure -j $(JOBS)

# A build with sanitizers in a folder of its own, then its tests: make asan, make tsan.
asan tsan dev: %:
	@cmake --preset $@ >/dev/null && cmake --build build-$@ -j $(JOBS) && ctest --test-dir build-$@ --output-on-failure -j $(JOBS)

# What clang says of the sources.
clang: all
	@python3 tools/clang_warnings.py build

# What costs minutes and finds what is rare: a million random problems for the label methods.
long: all
	@DISSENT_PROBLEMS=1000000 build/tests/test_em_edges

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	@cmake --install build --prefix $(PREFIX)

clean:
	@rm -rf build build-*

.PHONY: all tool test long asan tsan dev clang format install clean
