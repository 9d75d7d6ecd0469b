"""Live comparisons with pyNTCIREVAL, and where we mean to differ."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from support.ntcireval import meaning
from support.other_tools import outcome

import irbatch
from irbatch import InputError

metrics = pytest.importorskip("pyNTCIREVAL.metrics", reason="pip install pyNTCIREVAL")

GAINS = (1, 3, 7)
NAMES = "RR O-measure P-measure P-plus AP Q-measure NCUgu,P NCUgu,BR NCUrb,P NCUrb,BR RBP ERR"
AT_CUTOFFS = "AP Q nDCG MSnDCG Prec Hit nERR"

Levels = list[int | None]  # of the documents of a ranking; None: unjudged


def theirs(name: str, ranking: Levels, counts: list[int]) -> float:
    """PyNTCIREVAL's value; `counts` are of judged documents, by level."""
    family, _, digits = name.partition("@")
    k = int(digits) if digits else None
    grades = list(GAINS)
    made: dict[str, Callable[[], Any]] = {
        "RR": metrics.RR,
        "O-measure": lambda: metrics.OMeasure(counts, grades, 1.0),
        "P-measure": lambda: metrics.PMeasure(counts, grades, 1.0),
        "P-plus": lambda: metrics.PPlusMeasure(counts, grades, 1.0),
        "AP": lambda: metrics.AP(counts, grades, k),
        "Q-measure": lambda: metrics.QMeasure(counts, grades, 1.0),
        "Q": lambda: metrics.QMeasure(counts, grades, 1.0, k),
        "NCUgu,P": lambda: metrics.NCUguP(counts, grades, grades),
        "NCUgu,BR": lambda: metrics.NCUguBR(counts, grades, grades, 1.0),
        "NCUrb,P": lambda: metrics.NCUrbP(counts, grades, 0.95),
        "NCUrb,BR": lambda: metrics.NCUrbBR(counts, grades, 0.95, 1.0),
        "RBP": lambda: metrics.RBP(counts, grades, 0.95),
        "ERR": lambda: metrics.ERR(counts, grades),
        "nDCG": lambda: metrics.nDCG(counts, grades, 2, k),
        "MSnDCG": lambda: metrics.MSnDCG(counts, grades, k),
        "Prec": lambda: metrics.Precision(k),
        "Hit": lambda: metrics.Hit(k),
        "nERR": lambda: metrics.nERR(counts, grades, k),
    }
    return float(made[family]().compute([(f"d{i}", level) for i, level in enumerate(ranking)]))


def ours(names: list[str], ranking: Levels, unlisted: list[int]) -> list[float]:
    judged = {f"d{i}": level for i, level in enumerate(ranking) if level is not None}
    judged |= {f"u{i}": level for i, level in enumerate(unlisted)}
    run = {"q": {f"d{i}": -float(i) for i in range(len(ranking))}}
    found = irbatch.evaluate({"q": judged}, run, [meaning(name, GAINS) for name in names])
    return [found[meaning(name, GAINS)] for name in names]


def test_random_rankings() -> None:
    rng = random.Random(5)
    names = [*NAMES.split(), *(f"{each}@{k}" for each in AT_CUTOFFS.split() for k in (1, 3, 10))]
    for _ in range(150):
        ranking: Levels = rng.choices((None, 0, 0, 1, 2, 3), k=rng.randint(10, 30))
        ranking[rng.randrange(len(ranking))] = 1  # it fails where nothing is found
        unlisted = rng.choices((0, 1, 2, 3), k=rng.randint(0, 5))
        judged = [level for level in ranking if level is not None] + unlisted
        counts = [judged.count(level) for level in range(4)]
        for name, value in zip(names, ours(names, ranking, unlisted), strict=True):
            expected = theirs(name, ranking, counts)
            assert value == pytest.approx(expected, rel=1e-12), (name, ranking, unlisted)


class Accepted(NamedTuple):
    """What pyNTCIREVAL does, and what we do instead."""

    name: str
    ranking: Levels
    unlisted: list[int]
    theirs: Any
    ours: Any


ACCEPTED = {
    "nothing relevant is judged: 0, not 0/0": Accepted(
        "nERR@3", [0, None], [], RuntimeWarning, 0.0),
    "a grade above the scale": Accepted("ERR", [1, 9], [], IndexError, InputError),
}  # fmt: skip


@pytest.mark.parametrize("reason", ACCEPTED)
def test_accepted_disagreements(reason: str) -> None:
    name, ranking, unlisted, expected_of_theirs, expected = ACCEPTED[reason]
    judged = [level for level in ranking if level is not None] + unlisted
    counts = [judged.count(level) for level in range(4)]
    assert outcome(lambda: theirs(name, ranking, counts)) == expected_of_theirs
    assert outcome(lambda: ours([name], ranking, unlisted)[0]) == expected
    assert expected_of_theirs != expected
