#!/bin/sh
# Man pages are clean roff, completion scripts load, and both know every command and option that help knows.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
"$DISSENT" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' >commands
[ -s commands ] || { echo "help names no commands"; exit 1; }
for shell in bash zsh fish; do
    "$DISSENT" completion $shell >completion.$shell
    if command -v $shell >/dev/null; then $shell -n completion.$shell; fi
done
while read -r command; do
    "$DISSENT" help --man "$command" >page.1
    if command -v groff >/dev/null; then
        groff -man -Tutf8 -ww page.1 >/dev/null 2>warnings
        [ ! -s warnings ] || { cat warnings; exit 1; }
    fi
    "$DISSENT" "$command" --help | sed -n 's/^  \(-[a-z], \)\{0,1\}--\([a-z-]*\).*/\2/p' >options
    while read -r option; do
        sed 's/\\-/-/g' page.1 | grep -q -e "--$option" || { echo "$command: --$option is not in the man page"; exit 1; }
        for shell in bash zsh; do
            grep -q -e "--$option" completion.$shell || { echo "$command: --$option is not in the completion of $shell"; exit 1; }
        done
        grep -q -e "-l $option" completion.fish || { echo "$command: --$option is not in the completion of fish"; exit 1; }
    done <options
done <commands

# Completion at work: the second word is a command, the value of --method a method.
if command -v bash >/dev/null; then
    cat >try.bash <<'TEXT'
. ./completion.bash
dissent() { "$DISSENT" "$@"; }
COMP_WORDS=(dissent la) COMP_CWORD=1; _dissent; echo "${COMPREPLY[*]}"
COMP_WORDS=(dissent labels --method dawid) COMP_CWORD=3; _dissent; echo "${COMPREPLY[*]}"
COMP_WORDS=(dissent labels --dup) COMP_CWORD=2; _dissent; echo "${COMPREPLY[*]}"
TEXT
    bash try.bash >tried
    printf 'labels\ndawid-skene\n--duplicates\n' | diff - tried
fi
echo "docs hold"
