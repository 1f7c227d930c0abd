#!/bin/sh
# Every output option against every input: through the same name, a symbolic link, a hard link, and the lists that are
# written with NAME.npy. The bytes of all inputs survive every command, whatever its exit code.
# $DISSENT_ATTACK_SECONDS bounds the time (default 10), $DISSENT_ATTACK_SEED chooses the order.
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
"$DISSENT" synth --items 30 --workers 6 --classes 3 --votes-per-item 3 --seed 2 -o votes.csv 2>/dev/null || fail "synth"
printf '0\n1\n2\n' >classes.txt
printf 'task,label\nt0,1\nt1,0\nt2,2\n' >gold.csv
printf 'worker,age\nw0,30\nw1,40\n' >people.csv
"$DISSENT" labels votes.csv -q -o labels.csv || fail "labels"
"$DISSENT" labels votes.csv -q -o array.npy || fail "array"
"$DISSENT" labels votes.csv -q --method dawid-skene --save-state state -o /dev/null || fail "state"
{
    echo "task,text"
    sed 1d labels.csv | cut -d, -f1 | awk '{print $1 ",words number " NR % 7 " of " NR % 5}'
} >texts.csv
"$DISSENT" train -q --items texts.csv --labels labels.csv --model text:width=4,buckets=64 --epochs 1 -o model ||
    fail "model"
cp labels.csv data.jsonl # names of files that are written into a folder
cp texts.csv README.md
cp labels.csv model.json
python3 "$DISSENT_SOURCE/tests/attacks/companions.py"
