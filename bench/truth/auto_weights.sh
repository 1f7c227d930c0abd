#!/bin/sh
# The table of docs/evidence/auto-weights.md: equal against chosen weights on every set with gold labels that are not made of the same
# votes. Usage: bench/truth/auto_weights.sh [BENCH_AUTO_WEIGHTS [DATA]]; sets that are absent are left out.
tool=${1:-build/bench/bench_auto_weights}
data=${2:-../shared/data}
echo "| set | combination | accuracy, equal | auto | change | NLL, equal | auto | change | weights | s |"
echo "|---|---|---|---|---|---|---|---|---|---|"
while read -r name votes gold; do
    [ -f "$data/$votes" ] && "$tool" "$name" "$data/$votes" "$data/$gold"
done <<SETS
rte rte_snow/annotations.csv rte_snow/gold.csv
mre-cause mre_crowdtruth/annotations_cause_expert_subset.csv mre_crowdtruth/gold_cause.csv
mre-treat mre_crowdtruth/annotations_treat_expert_subset.csv mre_crowdtruth/gold_treat.csv
pos pos_gimpel/annotations.csv pos_gimpel/gold.csv
temporal snow2008/annotations_temp.csv snow2008/gold_temp.csv
wsd snow2008/annotations_wsd.csv snow2008/gold_wsd.csv
bluebird benchmarks/bluebird/annotations.csv benchmarks/bluebird/gold.csv
dog benchmarks/dog/annotations.csv benchmarks/dog/gold.csv
product benchmarks/d_jn-product/annotations.csv benchmarks/d_jn-product/gold.csv
sentiment benchmarks/d_sentiment/annotations.csv benchmarks/d_sentiment/gold.csv
relevance benchmarks/s4_Relevance/annotations.csv benchmarks/s4_Relevance/gold.csv
labelme labelme/annotations.csv labelme/gold.csv
toxicity toxicity_pipa/annotations.csv toxicity_pipa/gold_jigsaw.csv
SETS
