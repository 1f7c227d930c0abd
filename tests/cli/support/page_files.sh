# The files that the commands of documents use, read by `.` from pages.sh; refresh_docs.py runs it for pages with console blocks.
# Needs $source (the source tree) and dissent in the path. common_files: files by the names that most pages use, in the current
# folder. page_files NAME: those of one page, over a copy of the common ones. put NAME COMMAND: before a single command.
# shellcheck shell=sh disable=SC2154
fixtures=$source/tests/cli/fixtures
encoder=$source/tests/parity/fixtures/encoders/bert_training

# Files by the names that most pages use.
common_files() {
    dissent synth -q --items 200 --workers 20 --classes 3 --votes-per-item 5 --text texts.csv --gold gold.csv -o votes.csv
    dissent labels votes.csv -q -o labels.csv
    dissent labels votes.csv -q --method ibcc -o other.csv
    cp gold.csv test.csv
    for name in model predictions a soft human majority soft-1 soft-2; do cp labels.csv $name.csv; done
    for name in gold-1 gold-2; do cp other.csv $name.csv; done
    dissent labels votes.csv -q -o b.npy
    awk -F, 'BEGIN { OFS = "," } NR == 1 { print $0, "kind"; next } { print $0, (substr($2, 2) + 0 < 3 ? "gpt" : "human") }' votes.csv >kinds.csv
    printf 'worker,gender,region,age,kind\n' >people.csv
    for w in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
        kind=expert gender=f
        [ $w -ge 3 ] || kind=gpt
        [ $((w % 2)) = 0 ] || gender=m
        echo "w$w,$gender,r$((w % 2)),$((20 + 2 * w)),$kind"
    done >>people.csv
    cp people.csv voters.csv
    awk -F, 'NR == 1 { print "["; next } { printf "%s{\"worker\": \"%s\", \"Age\": %s}", (NR > 2 ? ",\n" : ""), $1, $4 } END { print "]" }' people.csv >people.json
}

# Reviews of products by 24 annotators, two of whom ignore the items, with labels of several methods.
reviews() {
    dissent synth -q --theme reviews --model ambiguous --items 400 --workers 24 --votes-per-item 4 --accuracy .85 --spread .1 \
        --spammers .1 --text texts.csv --gold gold.csv -o votes.csv
    dissent labels votes.csv -q -o labels.csv
    dissent labels votes.csv -q --method standard -o majority.csv
    dissent labels votes.csv -q --method smoothed -o people.csv
    dissent labels votes.csv -q -o b.npy
    cp gold.csv test.csv
    for name in model a soft-1 soft-2; do cp labels.csv $name.csv; done
    for name in other gold-1 gold-2; do cp majority.csv $name.csv; done
}

# Votes on scales of each kind.
votes_on_scales() {
    printf 'task,worker,label\na,x,1\na,y,2\nb,x,2\nb,y,2\nc,x,3\nc,y,2\nd,x,1\nd,y,1\n' >numbers.csv
    printf 'task,worker,label\na,x,red|blue\na,y,red\nb,x,blue\nb,y,blue\nc,x,\nc,y,red\n' >sets.csv
    printf 'question,worker,left,right,label\nq,x,A,B,left\nq,y,A,B,right\nq,x,B,C,left\nq,y,C,A,right\n' >pairs.csv
    printf 'task,worker,start,end,label\nd,x,0,4,PER\nd,y,0,5,PER\nd,x,8,9,LOC\n' >spans.csv
}

# Files of one page that uses a name for something else.
page_files() {
    case $1 in
    comparing | compare-label-sets | evaluation) reviews ;;
    agreement)
        reviews
        votes_on_scales
        cp numbers.csv ratings.csv
        ;;
    review | find-wrong-labels | find-unreliable-annotators | plan-more-votes) reviews ;;
    prediction-sets)
        dissent synth -q --theme tickets --items 400 --workers 40 --model ambiguous --votes-per-item 12 --accuracy .9 --spammers 0 -o all.csv
        awk -F, 'NR == 1 || substr($2, 2) + 0 < 20' all.csv >training.csv
        awk -F, 'NR == 1 || substr($2, 2) + 0 >= 20' all.csv >votes.csv
        dissent labels training.csv -q --method smoothed -o predicted.csv
        awk -F, 'NR == FNR { if (FNR > 1 && FNR <= 201) kept[$1] = 1; next } FNR == 1 || $1 in kept' predicted.csv votes.csv >some.csv
        mv some.csv votes.csv
        head -n 201 predicted.csv >old.csv
        awk 'NR == 1 || NR > 201' predicted.csv >new.csv
        ;;
    plan | plan-formulas) ;; # its commands write their votes
    default-labels | label-variation | auto-weights | view-weights | reproducibility | groups | gpu | watch | scale | training) ;;
    experiments)
        sed -n '/<!-- example -->/,/^```$/p' "$source/docs/guides/experiments.md" | sed '1,2d;$d' >small.yaml
        ;;
    append-votes) printf "task,worker,label\nt0,w1,1\nnew,w1,2\n" >new.csv ;;
    encoders)
        cp -r "$encoder" minilm
        awk -F, 'NR == 1 { print "task,text,premise,hypothesis"; next } NR < 30 { print $1 "," $2 "," $2 "," $2 }' texts.csv >items.csv
        cp items.csv new.csv
        cp labels.csv soft.csv
        printf 'A man eats.\n' >lines.txt
        ;;
    gallery)
        votes_on_scales
        sed -n '/<!-- example -->/,/^```$/p' "$source/docs/guides/experiments.md" | sed '1,2d;$d' >objectives.yaml
        cp texts.csv items.csv
        ;;
    hugging-face) # its tokenizer does not know that the encoder has 26 positions
        cp -r "$encoder" minilm
        echo "{\"model_max_length\": 26}" >minilm/tokenizer_config.json ;;
    preference-datasets)
        cp -r "$encoder" minilm
        awk 'BEGIN { print "question,a,b,annotator,winner,prompt,text_a,text_b"
            for (i = 0; i < 60; i++) { q = i % 20; a = q % 3; b = (a + 1) % 3; w = int(i / 20)
                print "q" q ",m" a ",m" b ",w" w "," ((q + w) % 4 ? "a" : "b") ",prompt " q ",answer " a " " q ",answer " b " " q } }' >judgments.csv
        awk 'BEGIN { print "question,text"; for (q = 0; q < 20; q++) print "q" q ",prompt " q }' >prompts.csv
        awk 'BEGIN { print "question,thing,text"; for (q = 0; q < 20; q++) for (m = 0; m < 3; m++) print "q" q ",m" m ",answer " m " " q }' >answers.csv
        dissent convert judgments.csv --to trl --task question --text prompt --answers text_a,text_b -q -o pairs.jsonl
        ;;
    votes)
        cp "$fixtures/export.label-studio.json" export.json
        cp "$fixtures/export.mturk.csv" batch.csv
        awk -F, 'NR == 1 { print $0 ",review"; next } { print $0 ",text of " $1 }' votes.csv >reviews.csv
        mv reviews.csv votes.csv
        sed '1s/.*/Satz,Person,Urteil,text/' votes.csv >sentences.csv
        printf "id,ann,bob,cat\n1,yes,no,yes\n2,no,no,no\n3,yes,yes,no\n" >answers.csv
        ;;
    item-texts)
        page_files votes
        ;;
    paths) cp "$fixtures/export.label-studio.json" export.json ;;
    judge)
        echo "Which team should answer this ticket?" >prompt.txt
        dissent synth -q --judges 4 --items 400 --workers 12 --votes-per-item 3 --theme tickets -o later.csv
        ;;
    panel | class-shares)
        dissent synth -q --theme reviews --judges 3 --items 600 --human-items 300 --workers 10 --votes-per-item 5 -o votes.csv
        printf 'worker,kind\njudge1,llm\njudge2,llm\njudge3,llm\n' >voters.csv
        for w in 0 1 2 3 4 5 6 7 8 9; do echo "w$w,expert"; done >>voters.csv
        cp "$fixtures/panel.ab.csv" ab.csv
        cp "$fixtures/panel.ba.csv" ba.csv
        ;;
    report)
        cp "$fixtures/export.label-studio.json" export.json
        for name in soft hard; do
            dissent train -q --items texts.csv --labels labels.csv --model text:width=4,buckets=64 --epochs 1 -o $name-model
        done
        ;;
    scales | ordinal | multi-label | numeric | pairwise | spans)
        votes_on_scales
        printf 'task,worker,label\na,x,never\na,y,always\nb,x,sometimes\nb,y,sometimes\n' >answers.csv
        cp sets.csv votes.csv
        printf 'task,p:blue,p:red\na,.5,.9\nb,.8,.1\nc,.2,.4\n' >predicted.csv
        cp numbers.csv ratings.csv
        awk 'NR == 1 { print $0 ",length_a,length_b"; next } { print $0 "," NR * 7 % 40 "," NR * 11 % 40 }' pairs.csv >judgments.csv
        cp "$source/examples/exports/mt-bench.jsonl" judgments.jsonl
        printf '%s\n' '{"id": 1, "user": "x", "label": [[0, 3, "PER"]]}' '{"id": 1, "user": "y", "label": [[0, 4, "PER"]]}' >all.jsonl
        cat >export.json <<'JSON'
[{"id": 1, "annotations": [
  {"completed_by": 1, "result": [{"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}]},
  {"completed_by": 2, "result": [{"type": "labels", "value": {"start": 0, "end": 4, "labels": ["PER"]}}]}]}]
JSON
        ;;
    perspectives)
        for set in MP CSC VariErrNLI; do cp "$fixtures/lewidi.$set.json" ${set}_test.json; done
        cp "$fixtures/lewidi.VariErrNLI.json" VariErrNLI_train.json
        cp votes.csv test.csv
        cp votes.csv train.csv
        cp votes.csv asked.csv
        for set in train test; do
            dissent embed -q --encoder "$encoder" --items texts.csv -o $set.npy
        done
        ;;
    *) return 1 ;;
    esac
}

# PAGE COMMAND: where commands of one page mean different files by the same name.
put() {
    case $1:$2 in
    gallery:*multi-label*) cp sets.csv votes.csv ;;
    gallery:*numeric*) cp numbers.csv votes.csv ;;
    gallery:*pairwise*) cp pairs.csv votes.csv ;;
    gallery:*spans*) cp spans.csv votes.csv ;;
    gallery:*) cp kinds.csv votes.csv ;;
    perspectives:*--official*)
        set=${2#*--perspectives }
        set=${set%% *}
        cp "$fixtures/lewidi.$set.soft.csv" labels.csv
        cp "$fixtures/lewidi.$set.pe.csv" predictions.csv
        ;;
    perspectives:*) cp ../common/votes.csv votes.csv ;;
    esac
}
