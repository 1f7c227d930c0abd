# shellcheck shell=sh
# Every allocation and every system call of each command fails once, and every read and write comes up short
# once. Expected: exit 5 or 4 with one sentence (0 for a short count), every output the old or the new file, whole, no temporary
# file, no memory left. Files of one run are put in place one after the other as they are done: a late failure may leave the
# first ones new.
# Sourced by reliability_faults*.sh; thousands of runs, so what the shell can do itself it does.
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

cat >votes.csv <<'TEXT'
task,worker,label
a,w1,x
a,w2,x
a,w3,y
b,w1,y
b,w2,y
b,w3,y
c,w1,x
c,w2,y
c,w3,z
d,w3,z
TEXT
printf 'task,label\nd,z\n' >gold.csv
printf 'task,label\na,x\nb,y\nc,z\nd,z\n' >gold4.csv
printf 'task,x,y\na,3,1\nb,0,2\n' >counts.csv
"$DISSENT" labels votes.csv --method standard -q -o one.csv
"$DISSENT" labels votes.csv --method softmax -q -o two.csv
gzip -k votes.csv 2>/dev/null || cp votes.csv votes.csv.gz

every=100000
[ -z "${DISSENT_SANITIZE:-}" ] || every=8

old=task,label,entropy,p:old # what was there before: labels, since views replace nothing else

# walk "OUTPUT..." COMMAND...: the command writes these files in the folder it runs in.
walk() {
    outputs=$1
    shift
    rm -rf new now
    mkdir new now
    (cd new && "$DISSENT" "$@" 2>/dev/null >stdout) || fail "$*: fails without any fault"
    for f in $outputs; do
        case $f in */*) mkdir -p "now/${f%/*}" ;; esac
    done
    for kind in alloc:5 io:4 short:0; do
        n=0
        while :; do
            # Under sanitizers, where a run takes ten times as long, a sample, sparser towards the end.
            n=$((n + 1 + n / every))
            [ $n -le 2000 ] || fail "$* ${kind%:*}: more than 2000 sites"
            for f in $outputs; do echo "$old" >"now/$f"; done
            status=0
            (cd now && DISSENT_FAULT=${kind%:*}:$n exec "$DISSENT_FAULTY" "$@" >stdout 2>../err) || status=$?
            for left in now/*.tmp now/*/*.tmp now/.*.tmp; do
                [ ! -e "$left" ] || fail "$* ${kind%:*}:$n: left $left"
            done
            said=0
            reached=yes
            while IFS= read -r line; do
                case $line in
                "fault not reached") reached=no ;;
                "memory left") fail "$* ${kind%:*}:$n: leaves memory" ;;
                "dissent: "*) said=$((said + 1)) ;;
                esac
            done <err
            if [ $reached = no ]; then
                [ $status = 0 ] || fail "$* ${kind%:*}:$n: exit $status without a fault: $(cat err)"
                break
            fi
            [ $status = "${kind#*:}" ] || fail "$* ${kind%:*}:$n: exit $status: $(cat err)"
            [ $status = 0 ] || [ $said = 1 ] || fail "$* ${kind%:*}:$n: said $(cat err)"
            for f in $outputs; do
                IFS= read -r line <"now/$f" || line=
                if [ "$line" = "$old" ]; then
                    [ $status != 0 ] || fail "$* ${kind%:*}:$n: $f was not written"
                elif ! cmp -s "now/$f" "new/$f"; then
                    fail "$* ${kind%:*}:$n: $f is neither the old nor the new file"
                fi
            done
        done
        echo "$1 ${kind%:*}: $((n - 1)) sites"
    done
}
