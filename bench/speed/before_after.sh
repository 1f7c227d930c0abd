#!/usr/bin/env bash
# Two builds of the tool beside each other: instructions (callgrind, one thread) and time (median of RUNS alternating runs).
#
#     bench/speed/before_after.sh BEFORE AFTER [NAME...]      BEFORE, AFTER: dissent programs; NAME: only these measurements
#
# Data is synthesised by AFTER. Prints a table: instructions of both and their ratio, seconds of processor time of both and
# their ratio. ITEMS (2000) and RUNS (9; 0: no times) make it smaller or larger. Options that have changed their names are
# looked up in the help of each program (valgrind knows no AVX-512, so instructions are those of AVX2); methods have all their settings named, since defaults differ between versions.
# shellcheck disable=SC2046 # words of a command
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: bench/speed/before_after.sh BEFORE AFTER [NAME...]" >&2; exit 2; }
before=$(realpath "$1") after=$(realpath "$2"); shift 2
wanted=" $* " items=${ITEMS:-2000} runs=${RUNS:-9}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$after" synth --items "$items" --workers 100 --classes 4 --votes-per-item 5 --gold gold.csv --text texts.csv --features x.npy -q -o votes.csv
"$after" labels votes.csv --method standard -q -o soft.csv
"$after" labels votes.csv --method softmax -q -o model.csv
cut -d, -f1 gold.csv | tail -n +2 >ids.txt
awk -F, 'NR > 1 { printf "%s,s%d,%s\n", $1, int((NR - 2) / 10), substr("abcdefghij", 1 + NR % 7, 3) NR % 50 }' gold.csv >tokens.body
{ echo task,sentence,token; cat tokens.body; } >tokens.csv
awk -F, 'NR > 1 { w = substr("kaltenburgisch", 1 + NR % 5, 4 + NR % 6); printf "%s,%s,%s\n", $1, w, substr(w, 1, 4) }' gold.csv >words.body
{ echo task,word,stem; cat words.body; } >words.csv

resamples() { case $("$1" eval --help) in *--resamples*) echo --resamples ;; *) echo --bootstrap ;; esac; }
command_of() { # NAME PROGRAM: the arguments
    local n; n=$(resamples "$2")
    local train="train --labels soft.csv --gold gold.csv --objective kl --epochs 2 --batch 32 --rate .01 --threads 1 -q -o out"
    case $1 in
    labels-counts) echo "labels votes.csv --method standard --method softmax --combine average --threads 1 -q -o out.csv" ;;
    labels-papers) echo "labels votes.csv --method standard --method softmax --method dawid-skene:smoothing=0,iterations=30,tolerance=0 --method mace:restarts=2,iterations=30,tolerance=0 --combine centroid --threads 1 -q -o out.csv" ;;
    agree) echo "agree votes.csv $n 200 --threads 1 -q -o out.csv" ;;
    eval) echo "eval model.csv --gold gold.csv --human soft.csv $n 200 --threads 1 -q -o out.csv" ;;
    report) echo "report --votes votes.csv --labels soft.csv $n 50 --threads 1 -q -o out.html" ;;
    mlp) echo "$train --items x.npy --ids ids.txt --model mlp:hidden=32" ;;
    text) echo "$train --items texts.csv --model text:width=16,hidden=16" ;;
    tagger) echo "$train --items tokens.csv --text token --sentence sentence --model tagger:word=16,character=8,hidden=16,layers=1,feed=32" ;;
    stem-cnn) echo "$train --items words.csv --text word --text stem --model stem-cnn:width=16,feed=32" ;;
    esac
}
instructions() { # NAME PROGRAM
    rm -rf out out.csv out.html
    DISSENT_ISA=avx2 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$2" $(command_of "$1" "$2") 2>&1 | awk '/Collected/ { print $4 }'
}
seconds() { # NAME PROGRAM: of the processor, user and system
    rm -rf out out.csv out.html
    local TIMEFORMAT="%U %S"
    { time "$2" $(command_of "$1" "$2") >/dev/null 2>&1; } 2>&1 | awk 'END { printf "%.3f\n", $1 + $2 }'
}
median() { sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

printf '%-14s %16s %16s %7s %9s %9s %7s\n' what "instructions" "after" "ratio" "seconds" "after" "ratio"
for name in labels-counts labels-papers agree eval report mlp text tagger stem-cnn; do
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || continue
    failed=
    for tool in "$before" "$after"; do
        rm -rf out out.csv out.html
        "$tool" $(command_of "$name" "$tool") >said 2>&1 || { failed=1; printf '%-14s %s: %s\n' "$name" "$tool" "$(tail -1 said)"; }
    done
    [ -z "$failed" ] || continue
    a=$(instructions "$name" "$before") b=$(instructions "$name" "$after")
    : >times.a; : >times.b
    for ((i = 0; i < runs; i++)); do seconds "$name" "$before" >>times.a; seconds "$name" "$after" >>times.b; done
    s=$(median <times.a) t=$(median <times.b)
    awk -v n="$name" -v a="$a" -v b="$b" -v s="${s:-0}" -v t="${t:-0}" 'BEGIN { printf "%-14s %16d %16d %7.3f %9.3f %9.3f %7s\n", n, a, b, b / a, s, t, (s > 0 ? sprintf("%.3f", t / s) : "-") }'
done
