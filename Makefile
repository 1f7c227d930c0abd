# Thin front of CMake for daily work; newcomers use ./run, which also installs what is missing.
PREFIX ?= /usr/local
GENERATOR := $(shell command -v ninja >/dev/null 2>&1 && echo -G Ninja)
JOBS ?= $(shell nproc)

CONFIGURE = cmake -S . -B build $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DDIS_WERROR=$(or $(DIS_WERROR),OFF)

all: configured
	@! grep -q '^DIS_TOOL_ONLY:BOOL=ON' build/CMakeCache.txt || cmake -DDIS_TOOL_ONLY=OFF build >/dev/null
	@cmake --build build -j $(JOBS)

# The tool and the examples alone, without tests, Python module and plug-ins, which are not even looked for in a new build folder.
tool: CONFIGURE += -DDIS_TOOL_ONLY=ON
tool: configured
	@cmake --build build -j $(JOBS) --target tool

# A configuration that failed is started afresh. What it prints on stderr, such as skipped components, is shown.
configured:
	@command -v cmake >/dev/null || { echo "make: cmake is not installed; ./run build installs it" >&2; exit 1; }
	@[ -e build/build.ninja ] || [ -e build/Makefile ] || { rm -rf build/CMakeCache.txt build/CMakeFiles; $(CONFIGURE) >/dev/null; }

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
	@cmake --install build --prefix $(abspath $(PREFIX))

# Removes what `make install` with the same PREFIX and DESTDIR has installed from this build folder.
uninstall:
	@cmake -DBUILD=build -DPREFIX=$(abspath $(PREFIX)) -P cmake/uninstall.cmake

clean:
	@rm -rf build build-*

.PHONY: all tool configured test long asan tsan dev clang format install uninstall clean
