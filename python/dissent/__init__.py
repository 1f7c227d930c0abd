"""dissent turns annotator disagreement into training signal.

It computes soft labels from votes, with the methods of crowd-kit (under its names) and others, and combines them. It
evaluates labels, models and annotators against people. Computations run in a C library on all cores and release the GIL.

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
    """Public classes are those of this package, wherever they are defined."""
    for thing in list(globals().values()):
        if isinstance(thing, type) and thing.__module__.startswith(f"{__name__}."):
            thing.__module__ = __name__


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
