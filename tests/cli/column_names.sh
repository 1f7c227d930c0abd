#!/bin/sh
# The names of columns that docs/guides/votes.md gives as examples are among those that the tool accepts.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
for role in task worker label gold; do
    accepted=$("$DISSENT" list columns $role | sed -n "1s/^$role: //p" | tr -d ' ' | tr ';' ',')
    [ -n "$accepted" ] || fail "list columns $role names nothing"
    shown=$(sed -n "s/^| $role | \([a-z_, ]*\) |\$/\1/p" "$DISSENT_SOURCE/docs/guides/votes.md" | tr -d ' ' | tr ',' ' ')
    [ "$(echo "$shown" | wc -w)" -ge 5 ] || fail "docs/guides/votes.md shows fewer than five names for $role"
    for name in $shown; do
        case ,$accepted, in *,"$name",*) ;; *) fail "docs/guides/votes.md shows $name for $role, which is not accepted" ;; esac
    done
done
