#!/bin/sh
# Damaged states and models: every flipped bit and every truncation is detected (exit 3, 4 or 5) or
# harmless (the same bytes of output). Never other output with exit code 0. $DISSENT_ATTACK_SECONDS bounds the time
# (default 10), $DISSENT_ATTACK_SEED chooses the places.
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
"$DISSENT" synth --items 60 --workers 8 --classes 3 --votes-per-item 5 --seed 4 -o votes.csv 2>/dev/null || fail "synth"
"$DISSENT" synth --items 30 --workers 8 --classes 3 --votes-per-item 2 --seed 5 2>/dev/null |
    sed 's/,w\([0-9]\)/,new\1/' >more.csv || fail "synth"
"$DISSENT" labels votes.csv -q --method dawid-skene --save-growing growing -o labels.csv || fail "growing state"
"$DISSENT" labels votes.csv -q --method dawid-skene --method glad --combine average --save-state state -o labels.csv ||
    fail "state"
{
    echo "task,text"
    sed 1d labels.csv | cut -d, -f1 | awk '{print $1 ",words number " NR % 7 " of " NR % 5}'
} >texts.csv
"$DISSENT" train -q --items texts.csv --labels labels.csv --model text:width=4,buckets=64 --epochs 1 -o model ||
    fail "model"
python3 "$DISSENT_SOURCE/tests/attacks/state_corruption.py"
