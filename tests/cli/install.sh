#!/bin/sh
# `make install` installs all that a C program needs: examples/labels.c is built against a fresh prefix with pkg-config (shared and
# static) and in another CMake project, and prints the same each time. The tool works from the prefix, with man pages and
# completions. The prefix is then moved: no file in it may contain its old path. `make uninstall` removes what was installed and
# nothing else.
set -eu
build=$(dirname "$DISSENT")
[ -f "$build/cmake_install.cmake" ] || { echo "skipped: $build is no build folder"; exit 77; }
! grep -q '^DIS_SANITIZE:[A-Z]*=..*' "$build/CMakeCache.txt" || { echo "skipped: a library with sanitizers needs programs with them"; exit 77; }
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

install_to() {
    cmake --install "$build" --prefix "$1" >install.log 2>&1 || fail "cannot install: $(cat install.log)"
}
uninstall_from() {
    cmake -DBUILD="$build" -DPREFIX="$1" -P "$DISSENT_SOURCE/cmake/uninstall.cmake" >uninstall.log 2>&1
}

# Folders and files that were in the prefix before stay, empty ones too; everything else is removed, after a second installation too.
mkdir -p used/share/man used/lib/pkgconfig used/include/dissent
echo theirs >used/lib/pkgconfig/other.pc
find used | sort >before
install_to "$PWD/used"
grep -q "Wl,-rpath,$PWD/used/lib" install.log || fail "says nothing about the dynamic loader: $(cat install.log)"
find used -name '*.1' | sed 's/.*dissent-*//; s/\.1$//' | sort >pages
{ echo; "$DISSENT" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'; } | sort | cmp - pages || fail "not one man page per command"
[ ! -e used/dissent ] || fail "the Python module was installed"
install_to "$PWD/used"
uninstall_from "$PWD/used" || fail "cannot uninstall: $(cat uninstall.log)"
find used | sort | diff before - || fail "uninstall has removed too much or too little"
! uninstall_from "$PWD/used" || fail "uninstalled twice"
grep -q "nothing was installed under $PWD/used" uninstall.log || fail "no reason: $(cat uninstall.log)"
install_to "$PWD/fresh/prefix"
uninstall_from "$PWD/fresh/prefix"
[ ! -e fresh ] || fail "uninstall leaves $(find fresh)"

install_to "$PWD/first"
mv first prefix
uninstall_from "$PWD/first" # nothing is left there; forgets the record
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
for shell in bash-completion zsh fish; do [ -n "$(find prefix -path "*$shell*" -type f)" ] || fail "no completion for $shell"; done

# pkg-config, shared and static.
cp "$DISSENT_SOURCE/examples/labels.c" labels.c
# shellcheck disable=SC2046 # flags are words
${CC:-cc} -std=c11 -Wall -Werror labels.c $(pkg-config --cflags --libs dissent) -o shared
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Werror labels.c $(pkg-config --cflags dissent) "$lib/libdissent.a" $(pkg-config --static --libs-only-other --libs-only-l dissent |
    sed 's/-ldissent//') -o static
case " $(pkg-config --static --libs dissent) " in *" -ldl "*) ;; *) fail "Libs.private without -ldl" ;; esac
./shared votes.csv >expected
# shellcheck disable=SC2046 # as the message of the installation recommends
${CC:-cc} -std=c11 labels.c $(pkg-config --cflags --libs dissent) "-Wl,-rpath,$PWD/$lib" -o with_rpath
env -u LD_LIBRARY_PATH ./with_rpath votes.csv | cmp - expected || fail "a program with the run path prints something else"
[ "$(wc -l <expected)" = 50 ] || fail "not one line per item"
env -u LD_LIBRARY_PATH ./static votes.csv | cmp - expected || fail "the static library gives another result"

# Another CMake project.
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
project/build/theirs votes.csv | cmp - expected || fail "through CMake the result is another"
echo "installed, moved and used"
