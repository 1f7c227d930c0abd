"""The claims of the four papers that claims.py judges.

A claim is (id, claim, published, comparisons, remark). A remark that begins with "artefact" names a reason other than
the method that decides: the claim is then open. One that begins with "again" names the row in which the same sentence of the
paper is judged: such a row is shown and not counted. A claim whose conditions have no kept runs was not rerun. Published values of
single conditions are in experiments/*.yaml (`published`); `relative` is a published difference as a share of the other
condition's value.
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


def right_alone(file, cell, sign):
    """Annotators agree more where only the model with two heads is right than where only the one with one head is."""
    return [
        {
            "kind": "right alone",
            "file": file,
            "one": cell,
            "other": "one head",
            "sign": sign,
            "measure": "right.two_heads",
        }
    ]


def labels_near(file, data, one, others):
    """Labels alone: `one` is correct at least as often as each of `others`."""
    return [
        {
            "kind": "near",
            "file": file,
            "one": f"{d}: {one}",
            "other": f"{d}: {o}",
            "measure": "test.accuracy",
            "margin": 0.0005,
        }
        for d in data
        for o in others
    ]


def equals(file, values, tolerance):
    """Statistics without randomness equal the published ones: (cell, measure, published)."""
    return [
        {"kind": "equals", "file": file, "one": c, "measure": m, "value": x, "margin": tolerance} for c, m, x in values
    ]


SILVER = ["majority", "d&s"]
LOSSES = ["kl", "inverse-kl", "ce"]
VIEWS = ["standard", "softmax", "mace", "dawid-skene"]
SOFT = [*VIEWS, "centroid"]
COMBINED = ["average", "centroid", "temperature", "hybrid"]
ENCODER = "MPNet-base"
SEEN = "[contaminated](#contamination) encoder"
TOXICITY = "another data set; MPNet-base"
GUESSING = f"artefact: no condition is better than the class shares of the test set; as released; {ENCODER}"
VIEW_SETS = [
    ("large-multi-view-rte", "snli"),
    ("large-multi-view-mre-released", "strong"),
    ("large-multi-view-pos", "words"),
    ("large-multi-view-toxicity", "test"),
]
TRACES = "without traces; MPNet-base"
VECTORS = "[smaller vectors](#pos-five-folds)"
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


PAPERS_IN_ORDER = {"S": "SOFT-LOSS", "M": "MTL", "V": "MULTI-VIEW", "E": "EPISTEMIC"}
POS, LABELME, CIFAR = "large-pos-soft-loss-later", "labelme", "cifar10h"
TEST, TEST_CE, TEST_R = "test.accuracy", "test.cross_entropy", "test.entropy_correlation"
LATER = ["gold, later recipe", "majority, later recipe"]
ON_1188 = "on the 1,188 test images"
GPU = "needs a GPU"
CROWD_FIGURES = [
    ("POS, five votes", "crowd.agreement_with_singles", 0.73),
    ("LabelMe", "crowd.agreement_with_singles", 0.73),
    ("CIFAR-10H", "crowd.agreement_with_singles", 0.94),
    ("POS, five votes", "crowd.worker_accuracy", 0.68),
    ("LabelMe", "crowd.worker_accuracy", 0.69),
    ("POS, five votes", "crowd.workers_above_75", 0.29),
    ("LabelMe", "crowd.workers_at_75", 0.42),
    ("POS, five votes", "crowd.votes_per_item", 5.00),
    ("LabelMe", "crowd.votes_per_item", 2.50),
    ("CIFAR-10H", "crowd.votes_per_item", 51.10),
]
HUB = [(f"{d}: centroid", "hub.correlation", 0.935) for d in ("rte", "mre", "pos")]
CHAOSNLI = ["snli", "mnli", "alphanli"]
RTE, MRE = "large-multi-view-rte", "large-multi-view-mre-released"
TAGS, TOX = "large-multi-view-pos", "large-multi-view-toxicity"
WORDS, SNLI, STRONG = "words.macro_f1", "snli.macro_f1", "strong.macro_f1"


def chaosnli(measure):
    return [c for d in CHAOSNLI for c in beats("encoder-chaosnli", f"{d}, mpnet, soft", f"{d}, mpnet, hard", measure)]


def cll(name):
    return f"{name}.calibrated_log_likelihood"


# fmt: off
CLAIMS = [
    # ---- Uma et al. ----
    ("S1", "POS: soft labels are more accurate than both silver labels", "80.0 against 77.9 and 77.5",
     beats(POS, "soft", SILVER, TEST), ""),
    ("S2", "POS: and than the crowd layer", "80.0 against 76.5", beats(POS, "soft", "crowd layer", TEST), ""),
    ("S3", "POS: gold is more accurate than soft labels", "89.2 against 80.0", beats(POS, "gold", "soft", TEST), ""),
    ("S4", "POS: soft labels are nearest to annotators in cross-entropy", "1.67; others 2.16 to 3.34",
     beats(POS, "soft", ["gold", *SILVER, "crowd layer"], TEST_CE), ""),
    ("S5", "POS: and in the correlation of entropies", ".67; others .41 to .60",
     beats(POS, "soft", ["gold", *SILVER, "crowd layer"], TEST_R), ""),
    ("S6", "POS: softmax of votes is a better target than shares", "80.0 against 79.0",
     beats(POS, "soft", "soft, standard", TEST), ""),
    ("S7", "LabelMe: soft labels are more accurate than both silver labels", "84.9 against 80.4 and 83.4",
     beats(LABELME, "soft", SILVER, "images.accuracy"), ON_1188),
    ("S8", "LabelMe: and than the crowd layer", "84.9 against 83.5",
     beats(LABELME, "soft", "crowd layer", "images.accuracy"), ON_1188),
    ("S9", "LabelMe: gold is the most accurate", "97.2 against 84.9",
     beats(LABELME, "gold", "soft", "images.accuracy"), ON_1188),
    ("S10", "LabelMe: soft labels are nearest to annotators in cross-entropy", "1.64; others 2.80 to 4.86",
     beats(LABELME, "soft", ["gold", *SILVER, "crowd layer"], TEST_CE), ""),
    ("S11", "LabelMe: and in the correlation of entropies", ".39; others -.01 to .28",
     beats(LABELME, "soft", ["gold", *SILVER, "crowd layer"], TEST_R), "[holds on images that were trained on](#labelme)"),
    ("S12", "LabelMe: softmax of votes is a better target than shares", "84.9 against 83.5",
     beats(LABELME, "soft", "soft, standard", "images.accuracy"), ON_1188),
    ("S13", "CIFAR-10H: soft labels are more accurate than gold and majority", "66.6 against 65.2 and 65.7",
     beats(CIFAR, "soft, standard", ["gold", "majority"], TEST), ""),
    ("S14", "CIFAR-10H: shares of votes are a better target than their softmax", "66.6 against 65.5",
     beats(CIFAR, "soft, standard", "soft, softmax", TEST), ""),
    ("S15", "CIFAR-10H: soft labels are nearest to annotators in cross-entropy", "1.11; others 2.6",
     beats(CIFAR, "soft, standard", ["gold", "majority"], TEST_CE), ""),
    ("S16", "the same as S13 with the later recipe", "66.6 against 65.2 and 65.7",
     beats(CIFAR, "soft, standard, later recipe", LATER, TEST), "again: S13"),
    ("S17", "the same as S15 with the later recipe", "1.11; others 2.6",
     beats(CIFAR, "soft, standard, later recipe", LATER, TEST_CE), "again: S15"),
    ("S18", "CIFAR-10H: and in the correlation of entropies", ".22; others .13",
     beats(CIFAR, "soft, standard", ["gold", "majority"], TEST_R), ""),
    ("S19", "CIFAR-10H: the crowd layer is the most accurate", "68.3; others 65.2 to 66.6", [],
     "needs the votes with annotator ids (preset `cifar10h-raw`) and a GPU"),
    ("S20", "Table 1: statistics of the three crowds", "ten values", equals("crowds", CROWD_FIGURES, 0.0075),
     "equal to within .0075"),
    # ---- Fornaciari et al. ----
    ("M1", "POS, 5 folds, gold: a second head helps, with each loss", "+.8 to +1.0 accuracy, +.9 to +1.0 F1",
     heads("large-mtl-pos-released", "gold", [TEST, "test.macro_f1"]), VECTORS),
    ("M2", "POS, 5 folds, silver: the same", "+.6 to +.8 accuracy, +.7 to +.8 F1",
     heads("large-mtl-pos-released", "silver", [TEST, "test.macro_f1"]), VECTORS),
    ("M3", "POS, other tweets, gold: a second head helps", "+.1 to +.5 accuracy, +.5 to +.6 F1",
     heads("large-mtl-pos-test-released", "gold", ["lowlands.accuracy", "lowlands.macro_f1"]), VECTORS),
    ("M4", "POS, other tweets, silver: the same", "+.7 to +1.4 accuracy, +.9 to +1.4 F1",
     heads("large-mtl-pos-test-released", "silver", ["lowlands.accuracy", "lowlands.macro_f1"]), VECTORS),
    ("M5", "Stemming, gold: a second head raises accuracy, most by inverse KL", "+1.7 to +3.5", stems("gold"), ""),
    ("M6", "Stemming, silver: the same", "+1.8 to +6.1", stems("silver"), "tested by majority labels"),
    ("M7", "POS, gold: annotators agree more where only two heads are right (kurtosis)",
     "6.015 against 5.961 with CE, significant with CE only", right_alone("large-mtl-pos-released", "gold+ce", 1), VECTORS),
    ("M8", "Stemming, gold: the same (entropy, lower)", "significant with inverse KL only",
     right_alone("large-mtl-stemming-released", "gold+inverse-kl", -1), ""),
    ("M9", "Stemming, gold: inverse KL raises F1", "+.8",
     beats("large-mtl-stemming-released", "gold+inverse-kl", "gold", "test.macro_f1"), ""),
    ("M10", "One head: accuracy is lower with silver than with gold labels", "-10.5, -8.0 and -2.3",
     [c for file, where in MTL_SETS for c in beats(file, "gold", "silver", f"{where}.accuracy")],
     "POS in 5 folds, other tweets, stemming (silver tested by majority labels)"),
    ("M11", "Accuracy does not differ significantly between the losses", "18 comparisons",
     [c for file, where in MTL_SETS for main in ("gold", "silver") for c in alike(file, main, f"{where}.accuracy")], ""),
    ("M12", "Inverse KL is the most accurate loss in all but one of six settings", "all but POS in 5 folds with gold",
     [c for file, where in MTL_SETS for main in ("gold", "silver") if (file, main) != ("large-mtl-pos-released", "gold")
      for c in among_best(file, f"{main}+inverse-kl", [f"{main}+{k}" for k in LOSSES], f"{where}.accuracy", 1)], ""),
    ("M13", "A second head beats prior work in accuracy", "78.9 and 83.6 on POS with each loss, 76.6 on stemming with inverse KL",
     each_beats("large-mtl-pos-released", [f"gold+{k}" for k in LOSSES], 0.789, TEST)
     + each_beats("large-mtl-pos-test-released", [f"gold+{k}" for k in LOSSES], 0.836, "lowlands.accuracy")
     + beats("large-mtl-stemming-released", "gold+inverse-kl", 0.766, TEST), f"POS: {VECTORS}"),
    # ---- Wright and Augenstein: what does not depend on a contaminated encoder comes first ----
    ("V1", "Labels: the centroid is as accurate as the best view, except on toxicity", ".927, .765, .799; best views the same",
     labels_near("multi-view-labels", ["rte", "mre", "pos"], "centroid", VIEWS), "nothing is random"),
    ("V22", "Labels: a view's distance to the centroid correlates with that to the other views", ".935",
     equals("multi-view-labels", HUB, 0.02), "nothing is random; equal to within .02"),
    ("V2", "POS to newspapers: the centroid is best or near best of the soft labels in F1", "best or near best",
     near(TAGS, "centroid", VIEWS, WORDS), TRACES),
    ("V3", "the same with traces", "best or near best", near(TAGS, "centroid", VIEWS, "treebank.macro_f1"), "again: V2"),
    ("V4", "POS: the centroid is best or second in calibrated log-likelihood", "best or second",
     among_best(TAGS, "centroid", [*VIEWS, *COMBINED], cll("words"), 2), TRACES),
    ("V5", "POS: gold is best in F1", "above all crowd labels", beats(TAGS, "gold", SOFT, WORDS), TRACES),
    ("V6", "POS: gold is best in calibrated log-likelihood", "above all crowd labels",
     beats(TAGS, "gold", SOFT, cll("words")), TRACES),
    ("V7", "POS: combining Dawid-Skene and MACE alone beats all four in F1", "figure 3",
     [c for k in COMBINED for c in beats(TAGS, f"{k} of two", k, WORDS)], TRACES),
    ("V18", "POS: the hybrid is slightly better than the centroid in F1", "slightly better",
     beats(TAGS, "hybrid", "centroid", WORDS), TRACES),
    ("V13", "Toxicity: silver labels are far below gold in F1", "almost 20 points",
     beats(TOX, "gold", "silver", "test.macro_f1", gain=0.2), TOXICITY),
    ("V14", "Toxicity: soft labels beat silver labels in F1", "much better, taken as 2 points or more",
     each_beats(TOX, SOFT, "silver", "test.macro_f1", gain=0.02), f"artefact: all views agree within 1 point; {TOXICITY}"),
    ("V15", "Toxicity: gold with soft labels beats gold alone in calibrated log-likelihood", "figure 2",
     [c for v in SOFT for c in beats(TOX, f"gold + {v}", "gold", cll("test"))], TOXICITY),
    ("V16", "Toxicity: the centroid is best or near best of the soft labels in F1", "best or near best",
     near(TOX, "centroid", VIEWS, "test.macro_f1"), TOXICITY),
    ("V17", "Toxicity: combining Dawid-Skene and MACE alone beats all four in F1", "nearer to the best",
     [c for k in COMBINED for c in beats(TOX, f"{k} of two", k, "test.macro_f1")], TOXICITY),
    ("V12", "MRE to press releases: soft labels beat gold in F1", "gold lower", each_beats(MRE, SOFT, "gold", STRONG), GUESSING),
    ("V20", "MRE to press releases: soft labels beat gold in calibrated log-likelihood", "soft labels above gold",
     each_beats(MRE, SOFT, "gold", cll("strong")), GUESSING),
    ("V8", "RTE to SNLI: soft labels beat gold in F1", "soft labels above gold", each_beats(RTE, SOFT, "gold", SNLI), SEEN),
    ("V9", "RTE to SNLI: soft labels beat gold in calibrated log-likelihood", "soft labels above gold",
     each_beats(RTE, SOFT, "gold", cll("snli")), SEEN),
    ("V10", "RTE to SNLI: gold + KL is worse than KL", "figure 1", each_beats(RTE, SOFT, "gold + {}", SNLI), SEEN),
    ("V11", "RTE to SNLI: the centroid is best or near best of the soft labels in F1", "best or near best",
     near(RTE, "centroid", VIEWS, SNLI), f"artefact: the encoder has seen SNLI, and 80 items select the epoch; {SEEN}"),
    ("V19", "Temperature scaling does not help: the centroid is as good in F1, within 1 point", "no benefit",
     [c for file, where in VIEW_SETS for c in near(file, "centroid", ["temperature"], f"{where}.macro_f1")],
     f"RTE: {SEEN}"),
    ("V21", "RTE, MRE, toxicity: the centroid is best or second in calibrated log-likelihood", "best or second",
     [c for file, where in VIEW_SETS if file != TAGS
      for c in among_best(file, "centroid", [*VIEWS, *COMBINED], cll(where), 2)], f"POS is V4; RTE: {SEEN}"),
    # ---- Singh et al. ----
    ("E13", "CIFAR-10H: soft training lowers KL to annotators", THREE[0],
     by_share(0.32, beats(CIFAR, "soft, standard", "majority", "test.kl")), ""),
    ("E14", "CIFAR-10H: and raises the correlation of entropies", THREE[1],
     by_share(0.61, beats(CIFAR, "soft, standard", "majority", TEST_R)), "again: S18"),
    ("E15", "CIFAR-10H: and loses no accuracy, within 2 points", THREE[2],
     keeps(CIFAR, "soft, standard", "majority", TEST, 0.02), "again: S13"),
    ("E16", "POPQUORN: soft training lowers KL to annotators", THREE[0],
     by_share(0.32, beats("epistemic-popquorn", "soft", "hard", "test.kl")), "words alone, no encoder"),
    ("E17", "POPQUORN: and raises the correlation of entropies", THREE[1],
     by_share(0.61, beats("epistemic-popquorn", "soft", "hard", TEST_R)), "words alone, no encoder"),
    ("E18", "POPQUORN: and loses no accuracy, within 2 points", THREE[2],
     keeps("epistemic-popquorn", "soft", "hard", TEST, 0.02),
     "artefact: both nearly always give the most frequent answer; words alone, no encoder"),
    ("E19", "Figure 4: soft training improves longer on held-out items", "figure 4",
     beats("epistemic-popquorn", "soft", "hard", "curve.best_epoch")
     + [c for d in CHAOSNLI for c in beats("epistemic-chaosnli", f"{d}, soft", f"{d}, hard", "curve.best_epoch")],
     "later best epoch on POPQUORN and the three sets of ChaosNLI; words alone, no encoder"),
    ("E1", "ChaosNLI: soft training lowers KL to annotators", THREE[0],
     by_share(0.32, chaosnli("test.kl")), f"SNLI and MNLI: {SEEN}"),
    ("E2", "ChaosNLI: and raises the correlation of entropies", THREE[1],
     by_share(0.61, chaosnli(TEST_R)), f"SNLI and MNLI: {SEEN}"),
    ("E3", "ChaosNLI: and loses no accuracy, within 2 points", THREE[2],
     [c for d in CHAOSNLI for c in keeps("encoder-chaosnli", f"{d}, mpnet, soft", f"{d}, mpnet, hard", TEST, 0.02)],
     f"SNLI and MNLI: {SEEN}"),
    ("E10", "POPQUORN with MPNet-base: KL, as E16", THREE[0],
     by_share(0.32, beats("encoder-popquorn", "mpnet, soft", "mpnet, hard", "test.kl")), "again: E16"),
]
# fmt: on
