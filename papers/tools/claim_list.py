"""The claims of the four papers that papers/tools/claims.py judges.

A claim is (paper, claim, published, comparisons, remark). A remark that begins with "artefact" says that what decides
is none of the method's doing: such a claim cannot be told. One that begins with "again" says that the sentence of the
paper is judged in another row: such a row is shown and not counted. What a paper reports of single cells stands in
experiments/*.yaml (`published`), where claims.py finds the published difference of two of them; `relative` is a
published difference as a share of the other condition's value.
"""

import itertools

NEAR = {"macro_f1": 0.01, "calibrated_log_likelihood": 0.01}  # "near best": no more than this behind


def beats(file, better, worse, measure, gain=None):
    """`better` is claimed to be better than each of `worse`, by `gain` where the paper has words for it, no number; a
    number in `worse` is a published figure."""
    return [
        {"kind": "beats", "file": file, "one": better, "other": w, "measure": measure, "gain": gain}
        for w in (worse if isinstance(worse, list) else [worse])
    ]


def by_share(share, comparisons):
    """The same comparisons, with a published difference that is a share of what is compared with."""
    return [{**c, "relative": share} for c in comparisons]


def among_best(file, one, others, measure, most):
    """`one` is claimed to be among the best `most` of all these conditions, by their means."""
    return [{"kind": "rank", "file": file, "one": one, "other": others, "measure": measure, "most": most}]


def each_beats(file, better, worse, measure, gain=None):
    """Each of `better` is claimed to be better than `worse`, which may name it by {}."""
    of = lambda b: worse.format(b) if isinstance(worse, str) else worse
    return [c for b in better for c in beats(file, b, of(b), measure, gain)]


def near(file, one, others, measure):
    """`one` is claimed to be as good as the best of `others`, or nearly."""
    return [
        {
            "kind": "near",
            "file": file,
            "one": one,
            "other": o,
            "measure": measure,
            "margin": NEAR[measure.partition(".")[2]],
        }
        for o in others
    ]


def keeps(file, one, other, measure, margin):
    """`one` is claimed to lose nothing against `other`."""
    return [{"kind": "near", "file": file, "one": one, "other": other, "measure": measure, "margin": margin}]


def right_alone(file, kurtosis, cells):
    """Where only the model with a second head is right, people agree more than where only the other is."""
    return [
        {"kind": "right alone", "file": file, "one": c, "other": c.partition("+")[0], "kurtosis": kurtosis}
        for c in cells
    ]


def labels_near(file, data, one, others):
    """Labels alone, nothing drawn: `one` is at least as often right as the best of `others`."""
    return [
        {
            "kind": "labels",
            "file": file,
            "one": f"{d}: {one}",
            "other": [f"{d}: {o}" for o in others],
            "said": d,
            "measure": "test.accuracy",
        }
        for d in data
    ]


SILVER = ["majority", "d&s"]
LOSSES = ["kl", "inverse-kl", "ce"]
VIEWS = ["standard", "softmax", "mace", "dawid-skene"]
SOFT = [*VIEWS, "centroid"]
COMBINED = ["average", "centroid", "temperature", "hybrid"]
ENCODER = "MPNet-base"
SEEN = "MPNet-base, trained on SNLI and MultiNLI: [contamination](../docs/evidence/encoders.md#contamination)"
TOXICITY = "another data set; MPNet-base"
GUESSING = f"artefact: no condition is better than the class shares of the test set; as released; {ENCODER}"
VIEW_SETS = [
    ("large-multi-view-rte", "snli"),
    ("large-multi-view-mre-released", "strong"),
    ("large-multi-view-pos", "words"),
    ("large-multi-view-toxicity", "test"),
]
TAGS = "traces left out; a small tagger, no encoder"
VECTORS = "word vectors of 25 dimensions for 300, character vectors not pretrained"
MTL_SETS = [
    ("large-mtl-pos-released", "test"),
    ("large-mtl-pos-test-released", "lowlands"),
    ("large-mtl-stemming-released", "test"),
]
THREE = "-32 % (three sets together)", "+61 % (three sets together)", "equal"


def heads(file, main, measures):
    return [c for loss in LOSSES for m in measures for c in beats(file, f"{main}+{loss}", main, m)]


def alike(file, main, measure):
    """No two losses are claimed to differ significantly."""
    return [
        {"kind": "alike", "file": file, "one": f"{main}+{a}", "other": f"{main}+{b}", "measure": measure}
        for a, b in itertools.combinations(LOSSES, 2)
    ]


def stems(main):
    file = "large-mtl-stemming-released"
    return heads(file, main, ["test.accuracy"]) + beats(file, f"{main}+inverse-kl", f"{main}+kl", "test.accuracy")


def soft_against_hard(name, file, soft, hard, remark="", artefact="", again="", again_correlation="", again_accuracy=""):
    """The three claims of Singh et al. on one data set; `again`: claims that are judged in other rows."""
    return [
        (
            "EPISTEMIC",
            f"{name}: soft training lowers KL to people",
            THREE[0],
            by_share(0.32, beats(file, soft, hard, "test.kl")),
            "; ".join(r for r in (again, remark) if r),
        ),
        (
            "EPISTEMIC",
            f"{name}: and raises the correlation of entropies",
            THREE[1],
            by_share(0.61, beats(file, soft, hard, "test.entropy_correlation")),
            "; ".join(r for r in (again_correlation or again, remark) if r),
        ),
        (
            "EPISTEMIC",
            f"{name}: and loses no accuracy, within 2 points",
            THREE[2],
            keeps(file, soft, hard, "test.accuracy", 0.02),
            "; ".join(r for r in (again_accuracy or again, artefact and "artefact: " + artefact, remark) if r),
        ),
    ]


CLAIMS = [
    (
        "SOFT-LOSS",
        "POS: soft labels are more accurate than both silver labels",
        "80.0 against 77.9 and 77.5",
        beats("pos-soft-loss", "soft", SILVER, "test.accuracy"),
        "[why](#why-soft-labels-lead-by-less-on-tags)",
    ),
    (
        "SOFT-LOSS",
        "POS: and than the crowd layer",
        "80.0 against 76.5",
        beats("pos-soft-loss", "soft", "crowd layer", "test.accuracy"),
        "[why](#why-soft-labels-lead-by-less-on-tags)",
    ),
    (
        "SOFT-LOSS",
        "POS: gold is more accurate than soft labels",
        "89.2 against 80.0",
        beats("pos-soft-loss", "gold", "soft", "test.accuracy"),
        "",
    ),
    (
        "SOFT-LOSS",
        "POS: soft labels are nearest to people in cross-entropy",
        "1.67; others 2.16 to 3.34",
        beats("pos-soft-loss", "soft", ["gold", *SILVER, "crowd layer"], "test.cross_entropy"),
        "",
    ),
    (
        "SOFT-LOSS",
        "POS: and in the correlation of entropies",
        ".67; others .41 to .60",
        beats("pos-soft-loss", "soft", ["gold", *SILVER, "crowd layer"], "test.entropy_correlation"),
        "",
    ),
    (
        "SOFT-LOSS",
        "POS: softmax of votes is a better target than shares",
        "80.0 against 79.0",
        beats("pos-soft-loss", "soft", "soft, standard", "test.accuracy"),
        "[why](#why-soft-labels-lead-by-less-on-tags)",
    ),
    (
        "SOFT-LOSS",
        "LabelMe: soft labels are more accurate than both silver labels",
        "84.9 against 80.4 and 83.4",
        beats("labelme", "soft", SILVER, "images.accuracy"),
        "on the 1,188 test images: [why](#why-labelme-differs)",
    ),
    (
        "SOFT-LOSS",
        "LabelMe: and than the crowd layer",
        "84.9 against 83.5",
        beats("labelme", "soft", "crowd layer", "images.accuracy"),
        "on the 1,188 test images: [why](#why-soft-labels-do-not-beat-the-crowd-layer)",
    ),
    (
        "SOFT-LOSS",
        "LabelMe: gold is the most accurate",
        "97.2 against 84.9",
        beats("labelme", "gold", "soft", "images.accuracy"),
        "on the 1,188 test images",
    ),
    (
        "SOFT-LOSS",
        "LabelMe: soft labels are nearest to people in cross-entropy",
        "1.64; others 2.80 to 4.86",
        beats("labelme", "soft", ["gold", *SILVER, "crowd layer"], "test.cross_entropy"),
        "",
    ),
    (
        "SOFT-LOSS",
        "LabelMe: and in the correlation of entropies",
        ".39; others -.01 to .28",
        beats("labelme", "soft", ["gold", *SILVER, "crowd layer"], "test.entropy_correlation"),
        "holds on images that were trained on: [why](#why-labelme-differs)",
    ),
    (
        "SOFT-LOSS",
        "LabelMe: softmax of votes is a better target than shares",
        "84.9 against 83.5",
        beats("labelme", "soft", "soft, standard", "images.accuracy"),
        "on the 1,188 test images: [why](#why-soft-labels-do-not-beat-the-crowd-layer)",
    ),
    (
        "SOFT-LOSS",
        "CIFAR-10H: soft labels are more accurate than gold and majority",
        "66.6 against 65.2 and 65.7",
        beats("cifar10h", "soft, standard", ["gold", "majority"], "test.accuracy"),
        "",
    ),
    (
        "SOFT-LOSS",
        "CIFAR-10H: shares of votes are a better target than their softmax",
        "66.6 against 65.5",
        beats("cifar10h", "soft, standard", "soft, softmax", "test.accuracy"),
        "",
    ),
    (
        "SOFT-LOSS",
        "CIFAR-10H: soft labels are nearest to people",
        "1.11 / .22; others 2.6 / .13",
        beats("cifar10h", "soft, standard", ["gold", "majority"], "test.cross_entropy")
        + beats("cifar10h", "soft, standard", ["gold", "majority"], "test.entropy_correlation"),
        "",
    ),
    (
        "SOFT-LOSS",
        "CIFAR-10H, second reading of the recipe: soft labels are more accurate than gold and majority",
        "66.6 against 65.2 and 65.7",
        beats(
            "cifar10h",
            "soft, standard, later recipe",
            ["gold, later recipe", "majority, later recipe"],
            "test.accuracy",
        ),
        "again: S13 by another recipe",
    ),
    (
        "SOFT-LOSS",
        "CIFAR-10H, second reading: and nearest to people",
        "1.11 / .22; others 2.6 / .13",
        beats(
            "cifar10h",
            "soft, standard, later recipe",
            ["gold, later recipe", "majority, later recipe"],
            "test.cross_entropy",
        )
        + beats(
            "cifar10h",
            "soft, standard, later recipe",
            ["gold, later recipe", "majority, later recipe"],
            "test.entropy_correlation",
        ),
        "again: S15 by another recipe",
    ),
    (
        "MTL",
        "POS, 5 folds, gold: a second head helps, with each loss",
        "+.8 to +1.0 accuracy, +.9 to +1.0 F1",
        heads("large-mtl-pos-released", "gold", ["test.accuracy", "test.macro_f1"]),
        f"{VECTORS}; all hold with the [default network](#networks-pos-five-folds)",
    ),
    (
        "MTL",
        "POS, 5 folds, silver: the same",
        "+.6 to +.8 accuracy, +.7 to +.8 F1",
        heads("large-mtl-pos-released", "silver", ["test.accuracy", "test.macro_f1"]),
        f"{VECTORS}; all hold with the [default network](#networks-pos-five-folds)",
    ),
    (
        "MTL",
        "POS, other tweets, gold: a second head helps",
        "+.1 to +.5 accuracy, +.5 to +.6 F1",
        heads("large-mtl-pos-test-released", "gold", ["lowlands.accuracy", "lowlands.macro_f1"]),
        f"{VECTORS}; [spread of seeds](#networks-pos-other-tweets)",
    ),
    (
        "MTL",
        "POS, other tweets, silver: the same",
        "+.7 to +1.4 accuracy, +.9 to +1.4 F1",
        heads("large-mtl-pos-test-released", "silver", ["lowlands.accuracy", "lowlands.macro_f1"]),
        f"{VECTORS}; [spread of seeds](#networks-pos-other-tweets)",
    ),
    (
        "MTL",
        "Stemming, gold: a second head raises accuracy, most by inverse KL",
        "+1.7 to +3.5",
        stems("gold"),
        "",
    ),
    (
        "MTL",
        "Stemming, silver: the same",
        "+1.8 to +6.1",
        stems("silver"),
        "tested by majority labels, as the released code does",
    ),
    (
        "MTL",
        "POS, gold: where only two heads are right, people agree more than where only one is (kurtosis)",
        "6.015 against 5.961 with CE, significant with CE only",
        right_alone("large-mtl-pos", True, ["gold+ce"]),
        "the network of the paper's text",
    ),
    (
        "MTL",
        "Stemming, gold: the same (entropy, lower)",
        "significant with inverse KL only",
        right_alone("large-mtl-stemming", False, ["gold+inverse-kl"]),
        "the network of the paper's text",
    ),
    (
        "MTL",
        "Stemming, gold: inverse KL raises F1",
        "+.8",
        beats("large-mtl-stemming-released", "gold+inverse-kl", "gold", "test.macro_f1"),
        "",
    ),
    (
        "MTL",
        "One head: accuracy is lower with silver than with gold labels",
        "-10.5, -8.0 and -2.3",
        [c for file, where in MTL_SETS for c in beats(file, "gold", "silver", f"{where}.accuracy")],
        "POS in 5 folds, other tweets, stemming; silver stemming is tested by majority labels",
    ),
    (
        "MTL",
        "Accuracy does not differ significantly between the losses",
        "18 comparisons of two losses",
        [c for file, where in MTL_SETS for main in ("gold", "silver") for c in alike(file, main, f"{where}.accuracy")],
        "",
    ),
    (
        "MTL",
        "Inverse KL is the most accurate of the losses in all but one of six settings",
        "all but POS in 5 folds with gold",
        [
            c
            for file, where in MTL_SETS
            for main in ("gold", "silver")
            if (file, main) != ("large-mtl-pos-released", "gold")
            for c in among_best(file, f"{main}+inverse-kl", [f"{main}+{k}" for k in LOSSES], f"{where}.accuracy", 1)
        ],
        "",
    ),
    (
        "MTL",
        "A second head beats prior work in accuracy",
        "78.9 and 83.6 on POS with each loss, 76.6 on stemming with inverse KL",
        each_beats("large-mtl-pos-released", [f"gold+{k}" for k in LOSSES], 0.789, "test.accuracy")
        + each_beats("large-mtl-pos-test-released", [f"gold+{k}" for k in LOSSES], 0.836, "lowlands.accuracy")
        + beats("large-mtl-stemming-released", "gold+inverse-kl", 0.766, "test.accuracy"),
        f"POS: {VECTORS}",
    ),
    (
        "MULTI-VIEW",
        "Labels: the centroid is as often right as the best view, but on toxicity",
        ".927, .765, .799; best views .927, .765, .799",
        labels_near("multi-view-labels", ["rte", "mre", "pos"], "centroid", VIEWS),
        "nothing is drawn",
    ),
    (
        "MULTI-VIEW",
        "POS to newspapers: the centroid is best or near best of the soft labels in F1",
        "best or near best",
        near("multi-view-pos", "centroid", VIEWS, "words.macro_f1"),
        TAGS,
    ),
    (
        "MULTI-VIEW",
        "the same with traces",
        "best or near best",
        near("multi-view-pos", "centroid", VIEWS, "treebank.macro_f1"),
        "again: V2 with 6,592 traces tagged X",
    ),
    (
        "MULTI-VIEW",
        "POS: and in calibrated log-likelihood",
        "best or second",
        among_best(
            "multi-view-pos", "centroid", [*VIEWS, *COMBINED], "words.calibrated_log_likelihood", 2
        ),
        TAGS,
    ),
    (
        "MULTI-VIEW",
        "POS: gold is best in F1",
        "gold above all crowd labels",
        beats("multi-view-pos", "gold", SOFT, "words.macro_f1"),
        TAGS,
    ),
    (
        "MULTI-VIEW",
        "POS: and in calibrated log-likelihood",
        "gold above all crowd labels",
        beats("multi-view-pos", "gold", SOFT, "words.calibrated_log_likelihood"),
        TAGS,
    ),
    (
        "MULTI-VIEW",
        "POS: combining Dawid-Skene and MACE alone beats all four, in F1",
        "figure 3",
        [c for k in COMBINED for c in beats("multi-view-pos", f"{k} of two", k, "words.macro_f1")],
        TAGS,
    ),
    (
        "MULTI-VIEW",
        "RTE to SNLI: soft labels beat gold in F1",
        "soft labels above gold",
        each_beats("large-multi-view-rte", SOFT, "gold", "snli.macro_f1"),
        SEEN,
    ),
    (
        "MULTI-VIEW",
        "RTE to SNLI: and in calibrated log-likelihood",
        "soft labels above gold",
        each_beats("large-multi-view-rte", SOFT, "gold", "snli.calibrated_log_likelihood"),
        SEEN,
    ),
    (
        "MULTI-VIEW",
        "RTE to SNLI: Gold + KLD is worse than KLD",
        "figure 1",
        each_beats("large-multi-view-rte", SOFT, "gold + {}", "snli.macro_f1"),
        SEEN,
    ),
    (
        "MULTI-VIEW",
        "RTE to SNLI: the centroid is best or near best of the soft labels in F1",
        "best or near best",
        near("large-multi-view-rte", "centroid", VIEWS, "snli.macro_f1"),
        f"artefact: the encoder has seen SNLI, and 80 items choose the epoch; {SEEN}; "
        "[why](#why-the-centroid-is-not-best-on-rte)",
    ),
    (
        "MULTI-VIEW",
        "MRE to press releases: soft labels beat gold in F1",
        "gold lower",
        each_beats("large-multi-view-mre-released", SOFT, "gold", "strong.macro_f1"),
        GUESSING,
    ),
    (
        "MULTI-VIEW",
        "Toxicity: silver labels are far below gold in F1",
        "almost 20 points",
        beats("multi-view-toxicity", "gold", "silver", "test.macro_f1", gain=0.2),
        TOXICITY,
    ),
    (
        "MULTI-VIEW",
        "Toxicity: soft labels beat silver labels in F1",
        "much better, taken as 2 points or more",
        each_beats("multi-view-toxicity", SOFT, "silver", "test.macro_f1", gain=0.02),
        f"artefact: all views agree within 1 point; {TOXICITY}; [why](#why-soft-labels-do-not-lead-on-toxicity)",
    ),
    (
        "MULTI-VIEW",
        "Toxicity: gold beside soft labels beats gold alone in calibrated log-likelihood",
        "figure 2",
        [
            c
            for v in SOFT
            for c in beats("multi-view-toxicity", f"gold + {v}", "gold", "test.calibrated_log_likelihood")
        ],
        TOXICITY,
    ),
    (
        "MULTI-VIEW",
        "Toxicity: the centroid is best or near best of the soft labels in F1",
        "best or near best",
        near("multi-view-toxicity", "centroid", VIEWS, "test.macro_f1"),
        f"{TOXICITY}; [why](#why-soft-labels-do-not-lead-on-toxicity)",
    ),
    (
        "MULTI-VIEW",
        "Toxicity: combining Dawid-Skene and MACE alone beats all four, in F1",
        "nearer to the best",
        [c for k in COMBINED for c in beats("multi-view-toxicity", f"{k} of two", k, "test.macro_f1")],
        TOXICITY,
    ),
    (
        "MULTI-VIEW",
        "POS: the hybrid is slightly better than the centroid in F1",
        "slightly better",
        beats("large-multi-view-pos", "hybrid", "centroid", "words.macro_f1"),
        TAGS.partition(";")[0],
    ),
    (
        "MULTI-VIEW",
        "Temperature scaling does not help: the centroid is as good in F1, within 1 point",
        "no benefit",
        [c for file, where in VIEW_SETS for c in near(file, "centroid", ["temperature"], f"{where}.macro_f1")],
        f"toxicity: another data set; {SEEN}",
    ),
    (
        "MULTI-VIEW",
        "MRE to press releases: soft labels beat gold in calibrated log-likelihood",
        "soft labels above gold",
        each_beats("large-multi-view-mre-released", SOFT, "gold", "strong.calibrated_log_likelihood"),
        GUESSING,
    ),
    (
        "MULTI-VIEW",
        "RTE, MRE, toxicity: the centroid is best or second of the soft labels in calibrated log-likelihood",
        "best or second",
        [
            c
            for file, where in VIEW_SETS
            if file != "large-multi-view-pos"
            for c in among_best(file, "centroid", [*VIEWS, *COMBINED], f"{where}.calibrated_log_likelihood", 2)
        ],
        f"POS is V4; toxicity: another data set; {SEEN}",
    ),
    *soft_against_hard("ChaosNLI, SNLI", "encoder-chaosnli", "snli, mpnet, soft", "snli, mpnet, hard", SEEN),
    *soft_against_hard("ChaosNLI, MNLI", "encoder-chaosnli", "mnli, mpnet, soft", "mnli, mpnet, hard", SEEN),
    *soft_against_hard(
        "ChaosNLI, alphaNLI", "encoder-chaosnli", "alphanli, mpnet, soft", "alphanli, mpnet, hard", ENCODER
    ),
    *soft_against_hard(
        "POPQUORN",
        "encoder-popquorn",
        "mpnet, soft",
        "mpnet, hard",
        ENCODER,
        "hard training always gives the most frequent answer, so there is no accuracy to keep",
    ),
    *soft_against_hard(
        "CIFAR-10H",
        "cifar10h",
        "soft, standard",
        "majority",
        again_correlation="again: S15",
        again_accuracy="again: S13",
    ),
    *soft_against_hard(
        "POPQUORN, words alone",
        "epistemic-popquorn",
        "soft",
        "hard",
        "",
        "both give the most frequent answer nearly always, so there is no accuracy to keep",
        again="again: the row of POPQUORN without an encoder",
    ),
]
