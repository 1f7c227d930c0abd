#!/bin/sh
# Help of every command: three examples that the command accepts, at most ten options in the short help, each option in a
# group, the same text for the same option in every command, no line of more than 100 columns.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
mkdir -p bin home/.zfunc home/.config/fish/completions
ln -s "$DISSENT" bin/dissent

"$DISSENT" >overview || fail "dissent alone does not exit with 0"
for title in Start Check Learn Study Advanced; do grep -q "^$title:\$" overview || fail "no section $title in the overview"; done
sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' overview >commands
[ "$(wc -l <commands)" -ge 21 ] || fail "the overview lacks commands"
while read -r command; do
    "$DISSENT" "$command" -h >short
    "$DISSENT" "$command" --help >long
    cat overview short long | awk -v c="$command" 'length > 100 { print c ": more than 100 columns: " $0; bad = 1 } END { exit bad }'
    [ "$(sed -n 2p short)$(sed -n 4p short)" = "" ] || fail "$command: the short help does not begin with a sentence and the usage"
    sed -n 3p short | grep -q "^Usage: dissent $command" || fail "$command: no usage"
    tail -n 1 short | grep -q "dissent $command --help\$" || fail "$command: the short help does not point to --help"
    [ "$(sed -n '/^Examples:/,/^$/p' short | grep -c '^  ')" = 3 ] || fail "$command: not three examples in the short help"
    n=$(grep -c '^  -[^ ]' short)
    [ "$n" -ge 1 ] && [ "$n" -le 10 ] || fail "$command: $n options in the short help"
    ! grep -q '^Other:' long || fail "$command: an option without a group"
    # A row is "HEAD  TEXT", or HEAD alone with TEXT below it; TEXT may go on in the next lines.
    awk -v c="$command" '
        function done() { if (head != "") print head "\t" text "\t" c; head = "" }
        /^  -[^ ]/ { done(); line = substr($0, 3); cut = index(line, "  "); head = cut ? substr(line, 1, cut - 1) : line
                 text = cut ? substr(line, cut) : ""; sub(/^ +/, "", text); next }
        /^                            / && head != "" { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
        { done() }
        END { done() }' long >rows
    cat rows >>all_rows
    awk -F'\t' '$2 == "" { print $3 ": " $1 " has no text"; bad = 1 } END { exit bad }' rows
    # Files are missing here, so a command that reads fails; it must not be its command line that is wrong.
    sed -n '/^Examples:/,/^$/s/^  //p' long | sed -e 's/.*| *dissent/dissent/' -e 's/^\. <(\(.*\))$/\1/' -e '/^tail /d' >examples
    while read -r example; do
        status=0
        rm -rf empty
        mkdir empty
        (cd empty && HOME=$scratch/home PATH="$scratch/bin:$PATH" sh -c "$example") >said 2>&1 </dev/null || status=$?
        [ "$status" != 2 ] && [ "$status" -lt 126 ] || fail "$command: the example \"$example\" ends with $status: $(cat said)"
    done <examples
done <commands

# One text per option. The same name may mean another thing in another command; these do.
cut -f 1,2 all_rows | sed 's/ \[[^]]*\]$//' | sort -u | cut -f 1 | uniq -d >several
cat >different <<'TEXT'
--format FORMAT
--gold FILE
--half-width X
--input-format FORMAT
--items FILE
--memory SIZE
--metric NAME
--min-votes N
--model NAME
--pairs FILE
--power X
--spread X
--votes FILE
-o, --output FILE
TEXT
sort different >expected
diff expected several || { grep -F -f several all_rows; fail "options with several texts are others than expected"; }
echo "help texts hold"
