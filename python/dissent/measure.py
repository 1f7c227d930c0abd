"""Measures of labels, models and annotators.

>>> import dissent
>>> people = dissent.SoftLabels(["a", "b"], ["no", "yes"], [[0.8, 0.2], [0.5, 0.5]])
>>> model = dissent.SoftLabels(["b", "a"], ["no", "yes"], [[0.4, 0.6], [0.9, 0.1]])
>>> e = dissent.evaluate(model, gold={"a": "no", "b": "yes"}, human=people, resamples=0)
>>> e.accuracy, round(e.jsd, 6)
(1.0, 0.007513)
>>> e["top_k_accuracy"].value is None, e["top_k_accuracy"].reason
(True, 'k is not below the number of classes: always 1')
"""

from __future__ import annotations

from ._agreement import Agreement, agreement, agreement_measures
from ._compare import Comparison, Significance, compare
from ._conformal import PredictionSets, prediction_sets
from ._distances import ViewDistances, view_distances
from ._evaluate import Evaluation, evaluate, metrics
from ._figures import Metric, Table
from ._groups import GroupAgreement, GroupEvaluation, Groups, group_agreement, group_evaluation, group_votes
from ._judge import Drift, Judge
from ._labels import labels
from ._lewidi import lewidi_scores
from ._panel import Panel, panel, swaps
from ._perspectives import Perspectives, perspectives
from ._plan import Plan, plan
from ._report import report
from ._review import Review, review
from ._scaled import Scaled, scaled
from ._tables import read_labels, write_labels

__all__ = [
    "Agreement",
    "Comparison",
    "Drift",
    "Evaluation",
    "GroupAgreement",
    "GroupEvaluation",
    "Groups",
    "Judge",
    "Metric",
    "Panel",
    "Perspectives",
    "Plan",
    "PredictionSets",
    "Review",
    "Scaled",
    "Significance",
    "Table",
    "ViewDistances",
    "agreement",
    "agreement_measures",
    "compare",
    "evaluate",
    "group_agreement",
    "group_evaluation",
    "group_votes",
    "labels",
    "lewidi_scores",
    "metrics",
    "panel",
    "perspectives",
    "plan",
    "prediction_sets",
    "read_labels",
    "report",
    "review",
    "scaled",
    "swaps",
    "view_distances",
    "write_labels",
]
