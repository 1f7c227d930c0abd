#!/bin/sh
# What `make install` puts down is all that a C program needs: examples/labels.c is built against a fresh prefix by pkg-config (shared
# and static) and by a CMake project of somebody else's, and says the same each time. The tool works from there, with man page and
# completions. The prefix is then moved: nothing in it may know where it was.
set -eu
build=$(dirname "$DISSENT")
[ -f "$build/cmake_install.cmake" ] || { echo "skipped: $build is no build folder"; exit 77; }
! grep -q '^DIS_SANITIZE:[A-Z]*=..*' "$build/CMakeCache.txt" || { echo "skipped: a library with sanitizers needs programs with them"; exit 77; }
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not there"; exit 77; }
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

cmake --install "$build" --prefix "$PWD/first" >install.log || fail "cannot install: $(cat install.log)"
mv first prefix
lib=$(dirname "$(dirname "$(find prefix -name dissent.pc)")")
PKG_CONFIG_PATH=$PWD/$lib/pkgconfig
LD_LIBRARY_PATH=$PWD/$lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH
grep -rl "$PWD/first" prefix >known || :
[ ! -s known ] || fail "these know where they were installed: $(cat known)"

# The tool.
prefix/bin/dissent synth -q --items 50 --classes 2 -o votes.csv
[ "$(prefix/bin/dissent --version)" = "dissent $(pkg-config --modversion dissent)" ] || fail "pkg-config has another version"
[ -f "$(find prefix -name dissent.1)" ] || fail "no man page"
for command in labels combine compare views; do [ -n "$(find prefix -name "dissent-$command.1*")" ] || fail "no man page of $command"; done
for shell in bash-completion zsh fish; do [ -n "$(find prefix -path "*$shell*" -type f)" ] || fail "no completion for $shell"; done

# pkg-config, shared and static.
cp "$DISSENT_SOURCE/examples/labels.c" labels.c
# shellcheck disable=SC2046 # flags are words
${CC:-cc} -std=c11 -Wall -Werror labels.c $(pkg-config --cflags --libs dissent) -o shared
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Werror labels.c $(pkg-config --cflags dissent) "$lib/libdissent.a" $(pkg-config --static --libs-only-other --libs-only-l dissent |
    sed 's/-ldissent//') -o static
./shared votes.csv >expected
[ "$(wc -l <expected)" = 50 ] || fail "not one line per item"
env -u LD_LIBRARY_PATH ./static votes.csv | cmp - expected || fail "the static library says something else"

# Somebody else's CMake project.
mkdir project
cp labels.c project
cat >project/CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.16)
project(theirs C)
find_package(dissent 0.1 REQUIRED)
add_executable(theirs labels.c)
target_link_libraries(theirs PRIVATE dissent::dissent)
TEXT
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$PWD/prefix" >cmake.log 2>&1 || fail "find_package: $(cat cmake.log)"
cmake --build project/build >cmake.log 2>&1 || fail "cannot build: $(cat cmake.log)"
project/build/theirs votes.csv | cmp - expected || fail "through CMake it says something else"
echo "installed, moved and used"
