"""Models of users whose measures belong to the C/W/L framework.

A model reads a `Walk` and returns the chance C to go on from each rank i, float64 ``(ranks,)`` or
``(queries, ranks)``, or a `Reading`. The value of its measure is one of the framework's numbers: EU
unless ``number=`` says otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.walks import NUMBERS, Documents, Model, Reading, Walk, expect, look_at
from irbatch.measures.catalogue.documents import PERSISTENCE, highest_gain
from irbatch.measures.declare import Measure, of_judged
from irbatch.measures.parameters import UNDISCOUNTED, Choice, Number, Parameter, divisors_of

RESIDUAL = "res"
COMMON: dict[str, Parameter] = {
    "number": Choice("EU", (*NUMBERS, *(RESIDUAL + number for number in NUMBERS))),
    "max_n": Number(1000.0, least=1.0, most=1e6, whole=True),
    "max_grade": Number(1.0, above=0.0),
    **UNDISCOUNTED,
}
Formula = Callable[..., Floats | Reading]


def user_model(name: str) -> Callable[[Formula], Measure]:
    """Declare a measure by its users."""

    def declare(model: Formula) -> Measure:
        @functools.wraps(model)  # whose parameters are its own
        def formula(
            j: JudgedRanks, number: str, max_n: float, max_grade: float, **own: Any
        ) -> Floats:
            walked = functools.partial(model, **own)
            return _number_of(j, number, (name, int(max_n), max_grade, *own.values()), walked)

        return of_judged(
            name,
            parameters=COMMON,
            no_relevant="EU and ETU 0, the others as any other",
            # More gain is; costs and numbers of documents may be anything.
            better=lambda of: "higher" if of["number"] in ("EU", "ETU") else "neither",
        )(formula)

    return declare


def _number_of(j: JudgedRanks, number: str, key: tuple[Any, ...], model: Model) -> Floats:
    """Return one of the five numbers, or its residual; those of a measure are computed once."""
    _, max_n, max_grade, *_ = key
    place = NUMBERS.index(number.removeprefix(RESIDUAL))
    if key not in j.kept:
        j.kept[key] = expect(_documents(j, max_n, max_grade), model)
    if not number.startswith(RESIDUAL):
        return j.kept[key][place]
    if (key, RESIDUAL) not in j.kept:
        # At best what is not judged has the highest gain, and costs the least.
        lowest = 1.0 if j.whole.costs is None else j.whole.costs.lowest
        documents = _documents(j, max_n, max_grade)
        best = expect(replace(documents, of_unjudged=1.0, of_unknown=lowest), model)
        j.kept[key, RESIDUAL] = best - j.kept[key]
    return j.kept[key, RESIDUAL][place]


def _documents(j: JudgedRanks, max_n: int, max_grade: float) -> Documents:
    shares = j.gained / highest_gain(j, max_grade)
    is_cut = j.cutoff <= max_n
    length = int(min(j.cutoff, max_n))
    judged = j.ideal.sizes.astype(np.float64)
    costs = j.whole.costs
    of_costs = () if costs is None else (costs.of_ranks, 0.0, costs.highest)
    return Documents(j.row_index, j.ranks, shares, judged, length, is_cut, *of_costs)


TARGET = Number(1.0, above=0.0)


@user_model("cwlP")
def precision(walk: Walk) -> Floats:
    return np.ones_like(walk.ranks)


@user_model("cwlRBP")
def rank_biased(walk: Walk, p: float = PERSISTENCE) -> Floats:
    return np.full_like(walk.ranks, p)


@user_model("NPV")
def net_present_value(walk: Walk, rate: float = Number(0.1, above=0.0)) -> Floats:
    return np.full_like(walk.ranks, 1.0 / (1.0 + rate))


@user_model("SDCG")
def scaled_dcg(walk: Walk) -> Floats:
    ranks = walk.ranks.size
    logarithms = divisors_of("log2", ranks + 1)[: ranks + 1]
    return logarithms[:-1] / logarithms[1:]


@user_model("INSQ")
def inverse_squares(walk: Walk, T: float = TARGET) -> Floats:
    return _inverse_squares(walk.ranks, 2.0 * T)


@user_model("INST")
def adaptive_inverse_squares(walk: Walk, T: float = Number(1.0, least=0.5)) -> Floats:
    return _inverse_squares(walk.ranks, T + (T - walk.gained))


def _inverse_squares(ranks: Floats, goal: Floats | float) -> Floats:
    far = ranks + goal
    return ((far - 1.0) / far) ** 2


@user_model("BPM")
def bejeweled_player(
    walk: Walk,
    T: float = TARGET,
    K: float | None = Number(None, above=0.0),
    hb: float = Number(0.0),
    hc: float = Number(0.0),
    median: float = Number(0.5, least=0.0, most=1.0),
) -> Floats:
    better = walk.gains[:, :-1] - median
    goes_on = walk.gained < _moving(T, hb * better)
    if K is not None:
        goes_on &= walk.spent < _moving(K, hc * better)
    return goes_on.astype(np.float64)


def _moving(start: float, steps: Floats) -> Floats:
    """Return a limit at each rank, which is moved after it: ``(queries, ranks)``."""
    limits = np.full((steps.shape[0], steps.shape[1] + 1), start)
    limits[:, 1:] = steps
    return np.add.accumulate(limits, axis=1)


@user_model("TBG")
def time_biased_gain(walk: Walk, h: float = Number(224.0, above=0.0)) -> Reading:
    return look_at(np.exp2(-walk.spent_before / h))


@user_model("Umeasure")
def u_measure(walk: Walk, L: float = Number(1000.0, above=0.0)) -> Reading:
    weights = np.maximum(1.0 - walk.spent_before / L, 0.0)
    if not walk.documents.is_cut and weights.shape[-1] > 1:
        weights[..., -1] = 0.0  # as in cwl-eval
    return look_at(weights)


@user_model("IFT")
def information_foraging(
    walk: Walk,
    rule: str = Choice("both", ("both", "goal", "rate")),
    T: float = Number(2.0, above=0.0),
    A: float = Number(0.2, least=0.0),
    b1: float = Number(0.9, above=0.0),
    R1: float = Number(10.0, least=0.0),
    b2: float = Number(0.9, above=0.0),
    R2: float = Number(10.0, least=0.0),
) -> Floats:
    chances = np.ones_like(walk.gained)
    if rule != "rate":
        chances -= 1.0 / (1.0 + b1 * np.exp((T - walk.gained) * R1))
    if rule != "goal":
        chances /= 1.0 + b2 * np.exp((A - walk.gained / walk.spent) * R2)
    return chances


@user_model("NERR8")
def nearly_err_8(walk: Walk) -> Floats:
    return 1.0 - walk.gains


@user_model("NERR9")
def nearly_err_9(walk: Walk) -> Floats:
    return walk.ranks / (walk.ranks + 1.0) * (1.0 - walk.gains)


@user_model("NERR10")
def nearly_err_10(walk: Walk, p: float = PERSISTENCE) -> Floats:
    return p * (1.0 - walk.gains)


@user_model("NERR11")
def nearly_err_11(walk: Walk, T: float = TARGET) -> Floats:
    return _inverse_squares(walk.ranks, 2.0 * T) * (1.0 - walk.gains)


@user_model("cwlRR")
def reciprocal_rank(walk: Walk) -> Floats:
    return (walk.gained == 0.0).astype(np.float64)


@user_model("cwlAP")
def average_precision(walk: Walk) -> Reading:
    gained = np.where(walk.gained == 0.0, 1.0, walk.gained)
    if gained.shape[1] > 1:
        gained[:, -1] = walk.gained[:, -1]  # as in cwl-eval
    weights = gained / walk.spent
    return look_at(weights)._replace(total=np.maximum(walk.relevant, 1.0) / weights[:, 0])


@user_model("cwlTrAP")
def average_precision_retrieved(walk: Walk) -> Reading:
    shares = walk.gains / walk.ranks
    left = np.add.accumulate(shares[:, ::-1], axis=1)[:, ::-1]
    nothing = left[:, 0] == 0.0
    whole = np.where(nothing, 1.0, left[:, 0])[:, None]
    views, stops = left / whole, shares / whole
    views[nothing, 0] = stops[nothing, 0] = 1.0
    return Reading(views, stops)


@user_model("cwlSET")
def search_economics(walk: Walk, beta: float = Number(0.5, above=0.0, most=1.0)) -> Floats:
    weights = np.diff(np.arange(1.0, walk.ranks.size + 3.0) ** beta)
    return weights[1:] / weights[:-1]
