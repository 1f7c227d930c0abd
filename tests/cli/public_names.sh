#!/bin/sh
# The words of public names are in the glossary or in the list of plain words.
set -eu
cd "$DISSENT_SOURCE"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
check() { python3 tools/prose/check_names.py docs/concepts/glossary.md tools/prose/name_words.txt tests/abi.txt "$@"; }
check
for name in dis_votes_take dis_fit_look settle DIS_ELSEWHERE; do
    ! check "$name" >/dev/null || { echo "$name is accepted"; exit 1; }
done
