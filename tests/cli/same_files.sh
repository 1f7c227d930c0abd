#!/bin/sh
# No output goes where an input or another output is. Every pair of options of every subcommand that name files is tried with one
# file under two names (in turn the path itself, another path, a symbolic link, a hard link), read from --help: an option that is not in the list of
# inputs below counts as an output, so a new one that file_conflicts.c does not know makes this fail. Nothing may be read or written.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "same_files: $*" >&2; exit 1; }

# inputs by subcommand; the rest of the options with FILE are outputs
inputs() {
    case $1 in
    labels) echo gold init-state classes predictions groups texts text worker-table ;;
    eval) echo gold human votes item-groups classes worker-table official soft annotators history ;;
    agree) echo gold classes worker-table ;;
    review) echo gold classes labels texts text predictions worker-table ;;
    compare) echo gold human votes a b classes worker-table ;;
    report) echo votes labels pred gold human classes texts text predictions items worker-table ;;
    train) echo items labels gold votes classes dev-items dev-labels dev-gold vectors ids worker-table ;;
    predict) echo items ids pairs worker-table ;;
    panel) echo classes worker-table swapped ;;
    esac
}
is_input() {
    for i in $(inputs "$1"); do [ "$i" = "$2" ] && return 0; done
    return 1
}
operands() {
    case $1 in
    labels | agree | panel | review | eval) echo "$2" ;;
    combine | views) echo "$2 other.csv" ;;
    predict | model) echo folder ;;
    experiment) echo "table $2" ;;
    esac
}
ending() {
    case $1 in *--json*) echo json ;; *--features*) echo npy ;; *--save-state*) echo safetensors ;; *) echo csv ;; esac
}

printf 'task,label\na,b\n' > original
# refused COMMAND...: exit 2, a sentence about one file, and the file as it was
refused() {
    status=0
    "$DISSENT" "$@" > out 2> err || status=$?
    [ $status = 2 ] && grep -q 'same file' err || { cat err; fail "not refused with 2 but $status: $*"; }
    [ ! -s out ] || fail "something was written: $*"
    cmp -s original "$file" || fail "an input was changed: $*"
}
n=0
for command in labels combine agree panel eval review compare views report train predict model experiment synth; do
    # "option ARGUMENT" of all that name files
    "$DISSENT" $command --help | sed -n 's/^  \(-[a-z], \)\{0,1\}--\([a-z-]*\) \([A-Z=|]*FILE\)\(\.\.\.\)\{0,1\} .*/\2 \3/p' > options
    while read -r option _; do
        is_input $command "$option" && continue
        while read -r other shape; do
            [ "$other" != "$option" ] || continue
            case $shape in NAME=*) name=x= ;; *) name= ;; esac
            # under sanitizers, which make each run ten times as long, every seventh pair
            n=$((n + 1))
            [ -z "${DISSENT_SANITIZE:-}" ] || [ $((n % 7)) = 0 ] || continue
            # shellcheck disable=SC2043 # another kind of name for each pair
            for link in $(echo plain dotted symbolic hard | cut -d' ' -f$((n % 4 + 1))); do
                rm -rf work && mkdir work && cd work
                file=f.$(ending "--$option --$other")
                cp ../original "$file" && cp ../original other.csv && mkdir folder
                case $link in
                plain) second=$file ;;
                dotted) second=./folder/../$file ;;
                symbolic) ln -s "$file" "second.${file#f.}"; second=second.${file#f.} ;;
                hard) ln "$file" "second.${file#f.}"; second=second.${file#f.} ;;
                esac
                file=$PWD/$file
                cp ../original original
                # shellcheck disable=SC2046 # words on purpose
                refused $command $(operands $command other.csv) --"$option" "${file##*/}" --"$other" "$name$second"
                cd ..
            done
        done < options
        # the operands themselves
        case $command in labels | agree | panel | review | eval | combine | views | experiment)
            rm -rf work && mkdir work && cd work
            file=f.$(ending "--$option") && cp ../original "$file" && cp ../original other.csv && cp ../original original
            # shellcheck disable=SC2046
            refused $command $(operands $command "$file") --"$option" "./$file"
            n=$((n + 1))
            cd ..
            ;;
        esac
    done < options
done
[ $n -gt 200 ] || fail "only $n pairs were tried"

# two outputs that are not there yet, also through links that lead nowhere yet
file=original
ln -s not-there.csv dangling.csv
refused agree original --workers new.csv --items ./new.csv
refused agree original --workers dangling.csv --items not-there.csv
[ ! -e new.csv ] && [ ! -e not-there.csv ] || fail "a refused command wrote"
# standard input and output, for what they are connected to
status=0; "$DISSENT" labels original >> original 2> err || status=$?
[ $status = 2 ] && grep -q 'same file' err || { cat err; fail "standard output into the input: $status"; }
status=0; "$DISSENT" labels - < original >> original 2> err || status=$?
[ $status = 2 ] && grep -q 'same file' err || { cat err; fail "standard input and output are one file: $status"; }
# devices lose nothing
printf 'task,worker,label\na,x,1\na,y,1\n' > votes.csv
"$DISSENT" labels votes.csv -q -o /dev/null --workers /dev/null --json /dev/null || fail "/dev/null twice"
# folders: the files that would be replaced, and nothing else
mkdir views && cp votes.csv views/standard.csv && cp votes.csv views/votes.csv
"$DISSENT" labels views/votes.csv -q --save-views views --method majority -o /dev/null || fail "an input beside the views"
status=0; "$DISSENT" labels views/standard.csv --method papers --save-views views -o /dev/null 2> err || status=$?
[ $status = 2 ] && grep -q 'same file' err && cmp -s votes.csv views/standard.csv || { cat err; fail "a view over an input: $status"; }
status=0; "$DISSENT" labels votes.csv --method papers --save-views views -o views/mace.csv 2> err || status=$?
[ $status = 2 ] || fail "a view over the labels: $status"
for output in model.json weights-0.safetensors seed-1/model.json; do
    mkdir -p model/seed-1
    status=0; "$DISSENT" predict model --items votes.csv --format csv -o model/$output 2> err || status=$?
    [ $status = 2 ] && grep -q 'is a file in the folder' err || { cat err; fail "predictions over a model's $output: $status"; }
done
status=0; "$DISSENT" train --items model/model.json --labels votes.csv -o model 2> err || status=$?
[ $status = 2 ] && grep -q 'would replace' err || { cat err; fail "a model over its items: $status"; }

# a link stays a link, and the file that it leads to is replaced, or made
mkdir target && ln -s target/labels.csv link.csv
"$DISSENT" labels votes.csv -q -o link.csv
[ -L link.csv ] && [ -s target/labels.csv ] || fail "a link that led nowhere was replaced"
"$DISSENT" labels votes.csv -q --method majority -o link.csv
[ -L link.csv ] && [ "$(readlink link.csv)" = target/labels.csv ] || fail "a link was replaced"
ln -s nowhere/labels.csv lost.csv && ln -s loop.csv loop.csv
for name in lost.csv loop.csv; do
    status=0; "$DISSENT" labels votes.csv -q -o $name 2> err || status=$?
    [ $status = 4 ] && [ -L $name ] && grep -q link err || { cat err; fail "$name: $status"; }
done

# a file that may not grow: no signal, no temporary file, the old one as it was
"$DISSENT" synth --items 20000 -q -o big.csv
echo old > labels.csv
status=0; (ulimit -f 8; exec "$DISSENT" labels big.csv -q --method majority -o labels.csv) 2> err || status=$?
[ $status = 4 ] && grep -q 'File too large' err && [ "$(cat labels.csv)" = old ] || { cat err; fail "ulimit -f: $status"; }
status=0; (ulimit -f 8; exec "$DISSENT" labels big.csv -q --method majority) > out 2> err || status=$?
[ $status = 4 ] || { cat err; fail "ulimit -f, standard output: $status"; }
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files stayed: $(find . -name '*.tmp')"
echo "$n pairs of options refused"
