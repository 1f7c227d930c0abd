"""dissent turns annotator disagreement into training signal.

Votes become soft labels by the methods of crowd-kit (under its names) and more, several views are combined into one, and
labels, models and workers are judged against people. The work is done by a C library, without Python's lock, on all
processors.

>>> import dissent
>>> votes = dissent.Votes([("t1", "ann", "yes"), ("t1", "bob", "no"), ("t1", "eve", "yes"), ("t2", "ann", "no")])
>>> dissent.MajorityVote().fit_predict(votes).to_dict()
{'t1': 'yes', 't2': 'no'}
"""

from ._core import (
    CancelledError,
    ConvergenceError,
    DataError,
    DissentError,
    FileError,
    InternalError,
    LimitError,
    OptionError,
    __version__,
)
from . import experiment
from ._base import FitWarning
from ._results import SoftLabels, Values
from ._tokens import Tokenizer, Tokens, embed
from ._votes import Votes, presets, read_votes, scales
from .aggregation import (
    BWA,
    EBCC,
    GLAD,
    IBCC,
    MACE,
    Crowd,
    Crowdlab,
    DawidSkene,
    FastDawidSkene,
    MajorityVote,
    OneCoinDawidSkene,
    Ordinal,
    Softmax,
    Standard,
    Wawa,
    ZeroBasedSkill,
)
from .combination import Average, Calibrated, Hybrid, JensenShannonCentroid, Temperature
from .measure import (
    Agreement,
    Comparison,
    Evaluation,
    GroupAgreement,
    GroupEvaluation,
    Metric,
    Review,
    Significance,
    Table,
    ViewDistances,
    agreement,
    agreement_measures,
    compare,
    evaluate,
    group_agreement,
    group_evaluation,
    group_votes,
    metrics,
    read_labels,
    report,
    review,
    view_distances,
    write_labels,
)
from .training import SoftClassifier, models, objectives

__all__ = [
    "BWA",
    "EBCC",
    "GLAD",
    "IBCC",
    "MACE",
    "Crowd",
    "Agreement",
    "Average",
    "Calibrated",
    "CancelledError",
    "Comparison",
    "ConvergenceError",
    "Crowdlab",
    "DataError",
    "DawidSkene",
    "DissentError",
    "Evaluation",
    "GroupAgreement",
    "GroupEvaluation",
    "FastDawidSkene",
    "FileError",
    "FitWarning",
    "Hybrid",
    "InternalError",
    "JensenShannonCentroid",
    "LimitError",
    "MajorityVote",
    "Metric",
    "OneCoinDawidSkene",
    "OptionError",
    "Ordinal",
    "Review",
    "Significance",
    "SoftClassifier",
    "SoftLabels",
    "Softmax",
    "Standard",
    "Table",
    "Temperature",
    "Tokenizer",
    "Tokens",
    "Values",
    "ViewDistances",
    "Votes",
    "Wawa",
    "ZeroBasedSkill",
    "__version__",
    "agreement",
    "agreement_measures",
    "compare",
    "embed",
    "evaluate",
    "group_agreement",
    "group_evaluation",
    "group_votes",
    "experiment",
    "metrics",
    "models",
    "objectives",
    "presets",
    "read_labels",
    "read_votes",
    "report",
    "review",
    "scales",
    "view_distances",
    "write_labels",
]
