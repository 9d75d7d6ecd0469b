"""Live comparisons with pyNTCIREVAL, an example worked by hand, and where we mean to differ."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
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


# Retrieved: d1 of grade 1, d2 unjudged, d3 of grade 3, d4 of grade 0, d5 of grade 2; d6, of grade
# 2, was not. The ideal ranking's gains are 3 2 2 1.
QRELS = {"q": {"d1": 1, "d3": 3, "d4": 0, "d5": 2, "d6": 2}}
RUN = {"q": {f"d{rank}": float(-rank) for rank in range(1, 6)}}
WORKED: dict[str, Fraction | float] = {
    # 1/16, then of 15/16 left 7/16 at rank 3, then 3/16 at rank 5
    "ERR": Fraction(897, 4096),
    "ERR(max_grade=3)": Fraction(2983, 7680),
    "nERR(max_grade=3)@3": 0.41863799283154124,
    "nERR(max_grade=3)@5": 0.4269529240746953,
    "nERR@3": Fraction(48, 125),
    "ERR(max_grade=3,gain=linear)": Fraction(73, 160),
    # (1 + 1) / (1 + 3), (2 + 4) / (3 + 7), (3 + 6) / (5 + 8), over 4
    "Qmeasure": Fraction(233, 520),
    "Qmeasure@3": Fraction(11, 30),
    "Omeasure": Fraction(1, 2),
    "Pmeasure": Fraction(3, 5),
    "Pplus": Fraction(11, 20),
    "EBR(max_grade=3)": 0.527403846153846,
    "nEBR(max_grade=3)@5": 0.553341740226986,
    "iRBU(max_grade=3)": 0.882448504678125,
    "niRBU(max_grade=3)@5": 0.938110842304246,
    # 1/1, (6 + 1) / 3, (3 + 3 + 1) / 5, over 6 + 3 + 3 + 1
    "GAP": Fraction(71, 195),
    "GAP@3": Fraction(5, 18),
    "GAP(gain=linear)": Fraction(5, 12),
    "NCUrb(utility=P)": 0.586228197266305,
    "NCUrb": 0.4568368724843,
    "NCUrb(utility=IE)": 0.746670054930355,
    "NCUrb(utility=P)@5": 0.543708333333333,
    "RBP(p=0.95,max_grade=3)": 0.0889418750000001,
    "RBP(p=0.8,gain=binary)": 0.40992,
    "RBP(p=0.8)": 0.24928,
    "RBPresid(p=0.8,tail=always)": 0.48768,
    "RBPupper(p=0.8)": 0.24928 + 0.48768,
    "nRBP(p=0.95)@5": 0.705666209358832,
    "nCG@3": Fraction(4, 7),
    "nCG@5": Fraction(3, 4),
    "nDCG(discount=jk2)@3": 0.461969684470653,
    "nDCG(discount=jk2)@5": 0.555193785510547,
    "nDCG(discount=ln)@5": 0.575087373529831,
}
CONDENSED: dict[str, Fraction] = {
    "Bpref": Fraction(1, 2),
    "Bpref(norm=R)": Fraction(11, 16),
    "Bpref(norm=N)": Fraction(1, 2),
    "Bpref(norm=relative)": Fraction(5, 12),
    "Rpref(norm=N)": Fraction(27, 56),
    "Rpref(norm=relative)": Fraction(1, 4),
    "Rpref": Fraction(17, 32),
}


@pytest.mark.parametrize(("values", "judged_only"), [(WORKED, False), (CONDENSED, True)])
def test_worked_example(values: dict[str, Fraction | float], judged_only: bool) -> None:
    found = irbatch.evaluate(QRELS, RUN, list(values), judged_only=judged_only)
    for name, value in values.items():
        assert found[name] == pytest.approx(float(value), rel=1e-14), name
