#!/bin/sh
# Exports of evaluation tools, from file to certificate: eight copies of each file of examples/exports, with other ids, are
# votes on 32 items, which `dissent judge certify` must read by the preset, certify and write. Chatbot Arena is not here: a
# conversation has one vote.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"
cd "$scratch"

# copies FILE PATTERN: k/FILE, with k after what PATTERN matches.
copies() {
    for k in 1 2 3 4 5 6 7 8; do
        mkdir -p "$k/$(dirname "$1")"
        sed -E "s/($2)/\\1$k/g" "$source/examples/exports/$1" >"$k/$1"
    done
}

# certify PRESET JUDGE FILES [OPTION...]
n=0
certify() {
    preset=$1 judge=$2 files=$3
    shift 3
    # shellcheck disable=SC2086
    dissent judge certify $files --preset "$preset" --judge "$judge" --min-agreement .01 "$@" -q -o c.json --page c.html >out || [ $? = 7 ]
    grep -q "^Judge $judge: 32 items with votes of people and of the judge" out || { echo "$preset:"; cat out; exit 1; }
    grep -q '"judge": "'"$judge" c.json && grep -q '</html>' c.html
    # The votes are those of the certificate, so there are no later ones to check.
    # shellcheck disable=SC2086
    dissent judge check c.json $files --preset "$preset" --judge "$judge" "$@" -q >out 2>&1 && { echo "$preset: check accepts the certified votes"; exit 1; }
    grep -q "has the votes that the certificate was made from" out || { echo "$preset:"; cat out; exit 1; }
    n=$((n + 1))
}

copies promptfoo.json '"testIdx": '
copies langfuse.json 'trace-'
copies langsmith.jsonl 'run-'
copies mlflow.json 'tr-'
copies deepeval.json 'test_case_'
copies openai-evals.jsonl 'fact\.dev\.'
copies inspect-ai.json '^   "id": '
copies mt-bench.jsonl '"question_id": '
for model in alpha-7b beta-13b gamma-70b; do copies lm-eval/$model/samples_facts_2026-03-01T09-00-00.jsonl '"doc_id": '; done
certify promptfoo llm-rubric '[1-8]/promptfoo.json'
certify langfuse EVAL '[1-8]/langfuse.json'
certify langsmith model '[1-8]/langsmith.jsonl'
certify mlflow gpt-4.1 '[1-8]/mlflow.json' --label correctness
certify deepeval Faithfulness '[1-8]/deepeval.json'
certify openai-evals run-gpt-4.1 '[1-8]/openai-evals.jsonl'
certify inspect-ai model_graded_qa '[1-8]/inspect-ai.json'
certify mt-bench gpt-4 '[1-8]/mt-bench.jsonl'
certify lm-eval gamma-70b '[1-8]/lm-eval/*/*.jsonl'
echo "$n exports are certified"
