#!/bin/sh
# Outputs that are no plain files: /dev/stdout, /dev/stderr, /dev/fd/N, process substitution and named pipes get the bytes
# that a file gets, for every output option. Standard descriptors that are closed are reported by their own names.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
"$DISSENT" synth --items 40 --workers 6 --seed 1 -q -o votes.csv --gold gold.csv
"$DISSENT" labels votes.csv -q -o labels.csv --workers workers.csv --json labels.json
"$DISSENT" report --votes votes.csv -q -o report.html

# same NAME: what came through the pipe is the file
same() { cmp -s "$1" got || fail "$2: not the bytes of $1 ($(wc -c <got) bytes)"; }

"$DISSENT" labels votes.csv -q -o /dev/stdout | cat >got
same labels.csv "-o /dev/stdout to a pipe"
"$DISSENT" labels votes.csv -q -o /dev/stdout >got
same labels.csv "-o /dev/stdout to a file"
"$DISSENT" labels votes.csv -q -o /dev/stderr 2>got
same labels.csv "-o /dev/stderr"
"$DISSENT" labels votes.csv -q -o /dev/fd/3 3>got
same labels.csv "-o /dev/fd/3"
"$DISSENT" labels votes.csv -q -o /proc/self/fd/1 | cat >got
same labels.csv "-o /proc/self/fd/1"
"$DISSENT" labels votes.csv -q -o labels2.csv --workers /dev/stdout | cat >got
same workers.csv "--workers /dev/stdout"
"$DISSENT" labels votes.csv -q -o labels2.csv --json /dev/stdout | cat >got
same labels.json "--json /dev/stdout"
"$DISSENT" report --votes votes.csv -q -o /dev/stdout | cat >got
same report.html "report -o /dev/stdout"

# a descriptor is written from where it stands: nothing that was there is lost
{ echo before; "$DISSENT" labels votes.csv -q -o /dev/stdout; echo after; } >whole
[ "$(head -n 1 whole)" = before ] && [ "$(tail -n 1 whole)" = after ] || fail "output around -o /dev/stdout was lost"
sed '1d;$d' whole >got
same labels.csv "-o /dev/stdout between other output"
echo before >log
"$DISSENT" labels votes.csv -q -o /dev/stdout >>log
sed 1d log >got
[ "$(head -n 1 log)" = before ] && same labels.csv ">>"

mkfifo pipe
cat pipe >got &
"$DISSENT" labels votes.csv -q -o pipe
wait $!
same labels.csv "a named pipe"
[ -p pipe ] || fail "a named pipe was replaced by a file"

if command -v bash >/dev/null; then
    bash -c '"$DISSENT" labels votes.csv -q -o >(cat >got; : >ended); for i in $(seq 100); do [ -e ended ] && break; sleep .05; done'
    same labels.csv "-o >(cmd)"
    rm ended
    bash -c '"$DISSENT" labels <(cat votes.csv) -q --json >(cat >got; : >ended) -o labels2.csv; for i in $(seq 100); do [ -e ended ] && break; sleep .05; done'
    cmp -s labels.csv labels2.csv || fail "votes from <(cmd)"
    grep -q '"sha256": *null' got || fail "a SHA-256 of a pipe that was read already: $(cat got)"
fi

# npy needs files beside it
for target in /dev/stdout /dev/null pipe; do
    status=0
    "$DISSENT" labels votes.csv -q --format npy -o "$target" >got 2>err || status=$?
    [ $status = 2 ] && grep -q "name a file" err || fail "npy to $target: $status $(cat err)"
done
[ ! -e /dev/stdout.tasks.txt ] && [ ! -e /dev/null.tasks.txt ] || fail "companions in /dev"

# a descriptor that is not open
status=0
"$DISSENT" labels votes.csv -q -o /dev/fd/9 2>err 9>&- || status=$?
[ $status = 4 ] && grep -q "/dev/fd/9: Bad file descriptor" err || fail "/dev/fd/9: $status $(cat err)"

# closed standard descriptors
status=0
"$DISSENT" labels - <&- 2>err || status=$?
[ $status = 4 ] && grep -q "cannot read standard input: Bad file descriptor" err || fail "closed stdin: $status $(cat err)"
for command in "labels votes.csv -q" "list methods" "--help" "labels --help" "report --votes votes.csv -q -o -"; do
    status=0
    # shellcheck disable=SC2086 # words of a command
    "$DISSENT" $command >&- 2>err || status=$?
    [ $status = 4 ] && grep -q "cannot write standard output" err || fail "$command, closed stdout: $status $(cat err)"
done
"$DISSENT" labels votes.csv -o got >&- 2>&- <&- || fail "a file, with all three closed: $?"
same labels.csv "all three closed"
"$DISSENT" labels votes.csv -o got 2>&-
same labels.csv "closed stderr"
[ -z "$(find . -name '*.tmp')" ] || fail "left behind: $(find . -name '*.tmp')"
echo "descriptors hold"
