"""Le-Wi-Di 2025: the values of the scoring program."""

from __future__ import annotations

import pathlib

import pytest

import dissent

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "cli" / "fixtures"
EXPECTED = {
    "MP": (0.562, 0.5619042857142857),
    "CSC": (1.1361, 0.3746031746031746),
    "Paraphrase": (1.46255, 0.29783549783549784),
    "VariErrNLI": (0.53533, 0.5952380952380951),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_scores(name, tmp_path):
    official, soft, pe = (FIXTURES / f"lewidi.{name}.{end}" for end in ("json", "soft.csv", "pe.csv"))
    found = dissent.lewidi_scores(name, official, soft, pe, submission=tmp_path)
    assert (found["soft_score"], found["perspective_score"]) == pytest.approx(EXPECTED[name], abs=1e-15)
    again = dissent.lewidi_scores(name, official, tmp_path / f"{name}_test_soft.tsv", tmp_path / f"{name}_test_pe.tsv")
    assert again == found
    assert dissent.lewidi_scores(name, official, soft)["perspective_score"] is None


def test_what_is_refused():
    with pytest.raises(ValueError, match="no set"):
        dissent.lewidi_scores("XX", FIXTURES / "lewidi.MP.json", FIXTURES / "lewidi.MP.soft.csv")
    with pytest.raises(dissent.OptionError, match="give predictions"):
        dissent.lewidi_scores("MP", FIXTURES / "lewidi.MP.json")
