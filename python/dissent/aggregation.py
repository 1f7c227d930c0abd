"""Label methods, under crowd-kit's names: change ``from crowdkit.aggregation import X`` to ``from dissent import X``.

>>> from dissent import DawidSkene
>>> votes = [("t1", "ann", 1), ("t1", "bob", 1), ("t2", "ann", 0), ("t2", "bob", 0), ("t3", "ann", 1), ("t3", "bob", 0)]
>>> DawidSkene(n_iter=20).fit_predict(votes).to_dict()["t1"]
1
"""

from __future__ import annotations

from ._base import METHODS
from ._confusions import EBCC, IBCC, Crowd, DawidSkene, FastDawidSkene, OneCoinDawidSkene
from ._docs import describe
from ._skills import BWA, GLAD, KOS, MACE, MMSR, Crowdlab, Ordinal
from ._voting import GoldMajorityVote, MajorityVote, Smoothed, Softmax, Standard, Wawa, ZeroBasedSkill

__all__ = [
    "BWA",
    "EBCC",
    "GLAD",
    "IBCC",
    "KOS",
    "MACE",
    "MMSR",
    "Crowd",
    "Crowdlab",
    "DawidSkene",
    "FastDawidSkene",
    "GoldMajorityVote",
    "MajorityVote",
    "OneCoinDawidSkene",
    "Ordinal",
    "Smoothed",
    "Softmax",
    "Standard",
    "Wawa",
    "ZeroBasedSkill",
]

_OWN = {
    "initial_error_strategy": "'assign', 'addition' or None; a model with one number per worker does not use it.",
    "default_skill": "Weight of workers whose skill is not given, with on_missing_skill='value'.",
    "on_missing_skill": "'error', 'ignore' (their votes count nothing) or 'value', when skills lack a worker.",
    "silent": "False for a progress bar.",
    "verbose": "Anything but 0 for a progress bar.",
    "m_step_max_iter": "Not used: an M step is one step of Newton's method here.",
    "m_step_tol": "Not used, likewise.",
    "random_state": "Seed; KOS and MMSR start at fixed values and do not use it.",
    "labels_priors": "Only None: classes are equally likely beforehand.",
    "alphas_priors_mean": "Only None: 1 for all.",
    "betas_priors_mean": "Only None: 1 for all.",
}
for _name in __all__:
    describe(globals()[_name], METHODS[globals()[_name]._method], _OWN)
DawidSkene.__doc__ = (DawidSkene.__doc__ or "").replace(
    _OWN["initial_error_strategy"], "'assign', 'addition' or None, as above."
)
