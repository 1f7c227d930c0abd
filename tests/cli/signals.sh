#!/bin/sh
# Signals: asked to stop, the tool stops soon, says nothing, leaves no temporary file and the old output as it was; a reader that
# has seen enough ends it quietly.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

# Shells start background jobs with SIGINT ignored; TERM and HUP go the same way through the tool.
for signal in TERM:143 HUP:129; do
    echo old >votes.csv
    "$DISSENT" synth --items 4e9 -o votes.csv 2>err &
    pid=$!
    tries=0
    while ! ls votes.csv.*.tmp >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || fail "no temporary file after 5 s"
        sleep .01
    done
    kill -"${signal%:*}" $pid
    status=0
    wait $pid || status=$?
    [ $status = "${signal#*:}" ] || fail "SIG${signal%:*}: exit $status"
    [ "$(cat votes.csv)" = old ] || fail "SIG${signal%:*}: the old file is gone"
    ls ./*.tmp >/dev/null 2>&1 && fail "SIG${signal%:*}: a temporary file was left"
    [ ! -s err ] || fail "SIG${signal%:*}: $(cat err)"
done

# SIGINT needs a child whose handler is not ignored from the start.
cat >interrupt.sh <<'TEXT'
"$DISSENT" synth --items 4e9 -o other.csv &
pid=$!
sleep .3
kill -INT $pid
wait $pid
TEXT
status=0
if command -v bash >/dev/null; then
    bash -m interrupt.sh 2>/dev/null || status=$?
    [ $status = 130 ] || fail "SIGINT: exit $status"
    ls other.csv* >/dev/null 2>&1 && fail "SIGINT: something was left: $(ls)"
fi

"$DISSENT" synth --items 1e6 2>err | head -1 >first
[ "$(cat first)" = task,worker,label ] || fail "the first line is $(cat first)"
grep -v votes err && fail "a closed pipe is no error: $(cat err)"
echo "signals hold"
