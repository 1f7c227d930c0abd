#!/bin/sh
# Files that are truncated, extended, overwritten, replaced or deleted while a command reads them: the result is that of
# the file as it was, or exit code 4 with a message that names the file. Never a signal, and never other output with exit
# code 0. $DISSENT_ATTACK_SECONDS bounds the time (default 10), $DISSENT_ATTACK_SEED chooses the moments.
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
[ -e /proc/self/maps ] || { echo "this system does not tell which files are mapped"; exit 77; }
"$DISSENT" synth --items 120000 --workers 300 --classes 4 --votes-per-item 5 --seed 3 -o votes.csv 2>/dev/null ||
    fail "synth"
sed '2,$s/^/a-long-name-/' votes.csv > long_names.csv || fail "long_names.csv"
"$DISSENT" labels votes.csv -q --method majority -o labels.csv || fail "labels"
"$DISSENT" labels votes.csv -q --method majority -o labels.npy || fail "labels.npy"
"$DISSENT" labels votes.csv -q --method dawid-skene:iterations=2 --save-state state -o /dev/null || fail "state"
cp labels.csv labels2.csv
gzip -k -1 votes.csv || fail "gzip"
python3 "$DISSENT_SOURCE/tests/attacks/changing_files.py"
