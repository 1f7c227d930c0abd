#!/bin/sh
# The C code of the R package compiles with the headers of this tree. ./run check-all r checks the package itself.
set -eu
command -v R >/dev/null || { echo "R is not installed"; exit 77; }
flags=$(R CMD config --cppflags 2>/dev/null) || { echo "the headers of R are not installed"; exit 77; }
for file in "$DISSENT_SOURCE"/r/src/*.c; do
    # shellcheck disable=SC2086 # words
    cc -std=c11 -fsyntax-only -Wall -Werror -I"$DISSENT_SOURCE/include" $flags "$file"
done
echo "the C code of the R package compiles"
