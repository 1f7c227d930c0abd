"""dissent turns annotator disagreement into training signal.

It computes soft labels from votes, trains models on them, and evaluates labels, models and annotators against people.
Votes are a DataFrame of pandas or polars, an Arrow table, columns, rows or a file. Computations run in a C library on all
cores and release the GIL.

>>> import dissent
>>> votes = dissent.Votes([("t1", "ann", "yes"), ("t1", "bob", "no"), ("t1", "eve", "yes"), ("t2", "ann", "no")])
>>> dissent.MajorityVote().fit_predict(votes).to_dict()
{'t1': 'yes', 't2': 'no'}

These are all names; ``help(dissent.NAME)`` describes each.

Votes::

    Votes, read_votes : votes of any source
    presets, scales : exports and kinds of labels that can be read
    synth, SyntheticCrowd : simulated votes with known truth
    Watch, WatchRow : labels that are updated with every vote
    VotesWarning : skipped or repeated rows

Labels, also in ``dissent.aggregation`` and ``dissent.combination``::

    labels : soft labels of the default method, of a named method, or of several
    Calibrated : the default method
    MajorityVote, Standard, Softmax, Smoothed, GoldMajorityVote : shares of votes
    DawidSkene, OneCoinDawidSkene, FastDawidSkene, IBCC, EBCC, Crowd : a confusion matrix per annotator
    BWA, GLAD, KOS, MACE, MMSR, Wawa, ZeroBasedSkill, Crowdlab : a skill per annotator
    Ordinal : ordered classes
    scaled, Scaled : sets, numbers, comparisons and spans
    Average, JensenShannonCentroid, Temperature, Hybrid : combinations of methods
    SoftLabels, Values : results of methods
    read_labels, write_labels : label files

Measures, also in ``dissent.measure``::

    agreement, Agreement, agreement_measures : inter-annotator agreement
    evaluate, Evaluation, metrics : predictions against gold labels and human labels
    compare, Comparison, Significance : two models, with intervals and tests
    prediction_sets, PredictionSets : sets of classes that contain an annotator's answer
    review, Review : items to relabel and annotators to check
    panel, Panel : whether models can replace annotators
    swaps : position bias of judges
    plan, Plan : how many items, annotators and votes a study needs
    Judge, Drift : certificates of LLM judges
    Groups, group_votes, group_agreement, group_evaluation : groups of annotators
    GroupAgreement, GroupEvaluation : results of these
    perspectives, Perspectives : predictions for single annotators
    lewidi_scores : scores of the shared task Le-Wi-Di
    view_distances, ViewDistances : distances between sets of soft labels
    report : an HTML page
    Metric, Table : one value with its interval, and a table of results

Models::

    SoftClassifier : a classifier in the style of scikit-learn
    models, objectives : what it can train
    Tokenizer, Tokens, embed : pretrained encoders
    experiment : runs from a YAML file
    dissent.torch, dissent.hf, dissent.plot : PyTorch, Hugging Face and matplotlib, which are optional

Errors::

    DissentError : the base class
    DataError, OptionError : also ValueErrors
    FileError : also an OSError
    LimitError : also a MemoryError
    ConvergenceError, CancelledError, InternalError : also RuntimeErrors
    NotFittedError : a result was requested before fit()
    FitWarning : suspicious labels
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
from . import aggregation, combination, experiment, measure
from ._estimator import FitWarning, NotFittedError
from ._results import SoftLabels, Values
from ._synth import SyntheticCrowd, synth
from ._tokens import Tokenizer, Tokens, embed
from ._votes import Votes, VotesWarning, presets, read_votes, scales
from ._watch import Watch, WatchRow
from .aggregation import *
from .combination import *
from .measure import *
from .training import SoftClassifier, models, objectives


def _name_here() -> None:
    """Public classes and functions are those of this package, wherever they are defined."""
    for thing in list(globals().values()):
        if callable(thing) and str(getattr(thing, "__module__", "")).startswith(f"{__name__}."):
            thing.__module__ = __name__


class _PublicNames(list[str]):
    """The public names. pydoc prints the complete help of each class and function for which ``name in __all__`` holds. These
    have help pages of their own, so help(dissent) is the overview above, instead of 8,000 lines."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) and not callable(globals().get(str(name)))


_name_here()

__all__ = [
    *aggregation.__all__,
    *combination.__all__,
    *measure.__all__,
    "CancelledError",
    "ConvergenceError",
    "DataError",
    "DissentError",
    "FileError",
    "FitWarning",
    "InternalError",
    "LimitError",
    "NotFittedError",
    "OptionError",
    "SoftClassifier",
    "SoftLabels",
    "SyntheticCrowd",
    "Tokenizer",
    "Tokens",
    "Values",
    "Votes",
    "VotesWarning",
    "Watch",
    "WatchRow",
    "__version__",
    "embed",
    "experiment",
    "models",
    "objectives",
    "presets",
    "read_votes",
    "scales",
    "synth",
]
__all__ = _PublicNames(__all__)
