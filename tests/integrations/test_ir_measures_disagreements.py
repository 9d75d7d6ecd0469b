"""Where the provider for ir_measures means to differ from ir_measures, with a reason each.

Both sides are run, and an entry whose disagreement has gone fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import ir_measures
import pytest
from ir_measures import AP, RBP, Compat, IPrec, Judged, NumRel, P, SetF, nDCG
from support.other_tools import Table, outcome

from irbatch import InputError
from irbatch.integrations.ir_measures import install, uninstall

QRELS: Table = {"q": {"a": 1, "b": 0, "c": 2}, "p": {"a": 1}, "m": {"a": 1}}
RUN: Table = {"q": {"b": 3.0, "a": 2.0, "c": 0.5}, "p": {"a": 1.0}}


def first(measures: Any, qrels: Table | None = None, run: Table | None = None) -> Any:
    """The mean of the first of some measures."""
    wanted = measures if isinstance(measures, list) else [measures]
    found = ir_measures.calc_aggregate(
        wanted, QRELS if qrels is None else qrels, RUN if run is None else run
    )
    return found[wanted[0]]


class Accepted(NamedTuple):
    """A call with and without the provider, why the answers differ, and what they are."""

    call: Callable[[], Any]
    theirs: Any
    ours: Any


ONE: Table = {"q": {"a": 1}}
TIE: Table = {"q": {"a": 1.0, "b": 1.0}}
NEAR: Table = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
MANY: Table = {"q": {f"d{i:02}": 1 for i in range(41)}}
FIVE_FIRST: Table = {"q": {f"d{i:02}": 100.0 - i - (i > 4) for i in range(41)} | {"x": 95.5}}
LOGARITHMS: Table = {"q": {"b": -1.0, "c": -2.0, "a": -3.0}}
ACCEPTED = {
    "one order for all: ties by id descending, in RR@k": Accepted(
        lambda: first(ir_measures.RR @ 2, ONE, TIE), 1.0, 0.5),
    "in Judged@k": Accepted(lambda: first(Judged @ 1, ONE, TIE), 1.0, 0.0),
    "and scores as float32, in RR@k": Accepted(
        lambda: first(ir_measures.RR @ 2, ONE, NEAR), 1.0, 0.5),
    "and in Judged@k": Accepted(lambda: first(Judged @ 1, ONE, NEAR), 1.0, 0.0),
    "nothing of an empty ranking is judged": Accepted(
        lambda: first(Judged @ 1, ONE, {"q": {}}), ZeroDivisionError, 0.0),
    "an empty ranking has precision 0, not 0/0": Accepted(
        lambda: str(first(IPrec(judged_only=True) @ 0.0, ONE, {"q": {"x": 1.0}})), "nan", "0.0"),
    "a NaN score has no rank": Accepted(
        lambda: first(AP, ONE, {"q": {"a": math.nan}}), 1.0, InputError),
    "recall 0.125 isn't 0.12": Accepted(
        lambda: first(IPrec @ 0.125, MANY, FIVE_FIRST), 1.0, 41 / 42),
    "no recall is above 1": Accepted(lambda: first(IPrec @ 1.5), 0.0, InputError),
    "gains may have fractions": Accepted(
        lambda: first(nDCG(gains={1: 0.5}), ONE, {"q": {"a": 1.0}}), TypeError, 1.0),
    "a gain is not negative": Accepted(
        lambda: first(nDCG(gains={1: -1}), {"q": {"b": 1, "a": 2}}, {"q": {"a": 1.0}}), 1.0,
        InputError),
    "what has a negative grade is unjudged, and gains nothing": Accepted(
        lambda: first(nDCG(gains={-1: 2}), {"q": {"a": -1, "b": 0}}, {"q": {"a": 1.0}}), 1.0,
        InputError),
    "the level may be 0": Accepted(
        lambda: first(P(rel=0) @ 1, {"q": {"a": 0}}, {"q": {"a": 1.0}}), TypeError, 1.0),
    "a beta of 0 is refused": Accepted(
        lambda: first(SetF(beta=0.0), ONE, {"q": {"a": 1.0}}), 1.0, InputError),
    "a cutoff below 1 is bad input": Accepted(lambda: first(AP @ -1), ValueError, InputError),
    "grades may be floats": Accepted(
        lambda: first(P @ 1, {"q": {"a": 1.0}}, {"q": {"a": 1.0}}), TypeError, 1.0),
    "ids may be numbers": Accepted(
        lambda: first(P @ 1, {1: {2: 1}}, {1: {2: 1.0}}), TypeError, 1.0),
    "Compat's lists are compared to 1,000 ranks, as its authors do, however short": Accepted(
        lambda: round(first(Compat, {"q": {"a": 1, "b": 1}}, {"q": {"x": 2.0, "a": 1.0}}), 6),
        0.24359, 0.405781),
    "Compat's ideal has documents not retrieved last, also if scores are negative": Accepted(
        lambda: round(first(Compat, {"q": dict.fromkeys("yza", 1)}, LOGARITHMS), 6),
        0.105463, 0.24028),
    "one order for all: ties by id descending, in Compat": Accepted(
        lambda: round(first(Compat, ONE, TIE), 6), 1.0, 0.682882),
    "NumRel has a level": Accepted(lambda: first(NumRel(rel=2)), ValueError, 1.0),
}  # fmt: skip


OF_CWL_EVAL = {
    "one order for all: ties by id descending, in RBP": Accepted(
        lambda: first(RBP(rel=1, p=0.5), ONE, TIE), 0.5, 0.25),
    "and scores as float32, in RBP": Accepted(
        lambda: first(RBP(rel=1, p=0.5), ONE, NEAR), 0.5, 0.25),
}  # fmt: skip


@pytest.mark.parametrize("reason", OF_CWL_EVAL)
def test_accepted_disagreements_with_what_it_takes_from_cwl_eval(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cwl", reason="pip install cwl-eval")
    monkeypatch.setitem(ACCEPTED, reason, OF_CWL_EVAL[reason])
    test_accepted_disagreements(reason)


@pytest.mark.parametrize("reason", ACCEPTED)
def test_accepted_disagreements(reason: str) -> None:
    call, theirs, mine = ACCEPTED[reason]
    found = [outcome(call)]
    install()
    found.append(outcome(call))
    uninstall()
    assert found == [theirs, mine]
    assert found[0] != found[1]
