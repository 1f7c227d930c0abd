#!/bin/sh
# docs/guides/votes.md lists the names of columns that the tool accepts.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
for role in task worker label gold; do
    names=$("$DISSENT" list columns $role | sed -n "1s/^$role: //p")
    [ -n "$names" ] || fail "list columns $role names nothing"
    grep -qF "| $role | $names |" "$DISSENT_SOURCE/docs/guides/votes.md" || fail "docs/guides/votes.md has other names for $role; expected: | $role | $names |"
done
