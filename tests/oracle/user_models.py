"""The C/W/L framework: more of the oracle in measures.py, written the same way, in floats.

A user who looks at rank i goes on to rank i + 1 with chance C_i. V_i is the product of C above i,
W_i = V_i over the sum of V, L_i = V_i (1 - C_i); g_i is the gain from 0 to 1 at rank i, c_i the
cost (1). Ranks run to max_n; those past the end are unjudged; at a cutoff k, C_k = 0.
EU = sum W_i g_i, ETU = sum L_i (g_1 + … + g_i), EC and ETC the same of costs, ED = 1 / W_1.
A residual is the number where all that is unjudged gains 1 less that where it gains 0.
Moffat, Bailey, Scholer & Thomas 2017; Azzopardi, Thomas & Moffat 2019.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from oracle.base import Gain, Query, Rel, gain_of

Floats = Sequence[float]


class Seen(NamedTuple):
    """What a user has seen at a rank."""

    i: int
    gain: float
    gained: float  # down to here
    cost: float  # down to here
    gains: Floats  # of all ranks
    relevant: int  # documents that gain, retrieved or not
    is_cut: bool


Continue = Callable[..., float]


def going_on(c: Continue, seen: Sequence[Seen], **params: Any) -> tuple[list[float], list[float]]:
    """V and L of a user who goes on with chance C."""
    chances = [c(each, **params) for each in seen]
    if seen[0].is_cut:
        chances[-1] = 0.0
    views = list(itertools.accumulate(chances[:-1], lambda v, chance: v * chance, initial=1.0))
    return views, [v * (1 - chance) for v, chance in zip(views, chances, strict=True)]


def looking(weights: Floats) -> tuple[list[float], list[float]]:
    """V and L of a user who looks at ranks in proportion to weights."""
    views = [w / weights[0] for w in weights]
    return views, [v - after for v, after in zip(views, [*views[1:], 0.0], strict=True)]


def sum_up(
    views: Floats, stops: Floats, seen: Sequence[Seen], total: float | None = None
) -> dict[str, float]:
    """The five numbers."""
    whole = math.fsum(views) if total is None else total
    return {
        "EU": math.fsum(v * s.gain for v, s in zip(views, seen, strict=True)) / whole,
        "ETU": math.fsum(x * s.gained for x, s in zip(stops, seen, strict=True)),
        "EC": math.fsum(views) / whole,
        "ETC": math.fsum(x * s.cost for x, s in zip(stops, seen, strict=True)),
        "ED": whole,
    }


def walk(
    q: Query, max_n: int, gain: Gain, rel: Rel, max_grade: float, of_unjudged: float
) -> list[Seen]:
    """What a user would see at each rank."""
    highest = float(gain_of(max_grade, gain, rel))
    n = max_n if q.k is None else min(q.k, max_n)
    shown = [*q.ranking[:n], *[None] * (n - len(q.ranking))]
    gains = [
        of_unjudged if grade is None else float(gain_of(grade, gain, rel)) / highest
        for grade in shown
    ]
    relevant = sum(gain_of(grade, gain, rel) > 0 for grade in q.judged)
    relevant = max(relevant, sum(g > 0 for g in gains))
    sums = list(itertools.accumulate(gains))
    return [
        Seen(i, g, sums[i - 1], i, gains, relevant, q.k is not None and q.k <= max_n)
        for i, g in enumerate(gains, 1)
    ]


def measure_of(five: Callable[..., dict[str, float]]) -> Callable[..., float]:
    """The measure of a model that gives five numbers of what is seen."""

    def measure(
        q: Query,
        *,
        number: str = "EU",
        max_n: int = 1000,
        gain: Gain = "linear",
        rel: Rel = None,
        max_grade: float = 1,
        **params: Any,
    ) -> float:
        scale = max_n, gain, rel, max_grade
        of_least = five(walk(q, *scale, 0.0), **params)
        if not number.startswith("res"):
            return of_least[number]
        of_most = five(walk(q, *scale, 1.0), **params)
        return of_most[number[3:]] - of_least[number[3:]]

    return measure


def by_chance(c: Continue) -> Callable[..., float]:
    """The measure of a user who goes on with chance C."""
    return measure_of(lambda seen, **params: sum_up(*going_on(c, seen, **params), seen))


def squares(i: int, wanted: float) -> float:
    """The chance to go on of INSQ and INST (Moffat et al. 2012, 2015)."""
    return ((i + wanted - 1) / (i + wanted)) ** 2


def logarithmic(s: Seen) -> float:
    """DCG's discounts, over those one rank higher (Järvelin & Kekäläinen 2002)."""
    return math.log2(s.i + 1) / math.log2(s.i + 2)


def bpm(
    s: Seen, T: float = 1, K: float | None = None, hb: float = 0, hc: float = 0, median: float = 0.5
) -> float:
    """1 until T is gained or K spent, which move by what the documents above gained (2017)."""
    goal, budget = T, math.inf if K is None else K
    for gain in s.gains[: s.i - 1]:
        goal += hb * (gain - median)
        budget += hc * (gain - median)
    return float(s.gained < goal and s.cost < budget)


def ift(
    s: Seen,
    rule: str = "both",
    T: float = 2,
    A: float = 0.2,
    b1: float = 0.9,
    R1: float = 10,
    b2: float = 0.9,
    R2: float = 10,
) -> float:
    """The chance to go on for a goal, and at a rate (Azzopardi et al. 2018)."""
    goal = 1 - 1 / (1 + b1 * math.exp((T - s.gained) * R1))
    rate = 1 / (1 + b2 * math.exp((A - s.gained / s.cost) * R2))
    return {"goal": goal, "rate": rate, "both": goal * rate}[rule]


def tbg(seen: Sequence[Seen], h: float = 224) -> dict[str, float]:
    """W falls by half for each h of cost above (Smucker & Clarke 2012)."""
    return sum_up(*looking([2 ** (-(s.cost - 1) / h) for s in seen]), seen)


def u_measure(seen: Sequence[Seen], L: float = 1000) -> dict[str, float]:
    """W falls with the cost above to 0 at L (Sakai & Dou 2013); cwl-eval leaves out rank max_n."""
    weights = [max(0.0, 1 - (s.cost - 1) / L) for s in seen]
    if len(seen) > 1 and not seen[0].is_cut:
        weights[-1] = 0.0
    return sum_up(*looking(weights), seen)


def ap(seen: Sequence[Seen]) -> dict[str, float]:
    """W_i = gain down to i (1 before the first) over i and the number of relevant documents."""
    weights = [(s.gained or float(s.i < len(seen) or s.i == 1)) / s.cost for s in seen]
    return sum_up(*looking(weights), seen, max(seen[0].relevant, 1) / weights[0])


def ap_of_retrieved(seen: Sequence[Seen]) -> dict[str, float]:
    """V_i = the sum of g_j / j from i on, over that of all."""
    shares = [s.gain / s.i for s in seen]
    whole = math.fsum(shares)
    if not whole:  # the user stops at rank 1
        return sum_up([1.0, *shares[1:]], [1.0, *shares[1:]], seen)
    views = [math.fsum(shares[i:]) / whole for i in range(len(shares))]
    return sum_up(views, [share / whole for share in shares], seen)


MEASURES: dict[str, Callable[..., float]] = {
    "cwlP": by_chance(lambda s: 1.0),
    "cwlRBP": by_chance(lambda s, p=0.9: p),
    "NPV": by_chance(lambda s, rate=0.1: 1 / (1 + rate)),
    "SDCG": by_chance(logarithmic),
    "INSQ": by_chance(lambda s, T=1: squares(s.i, 2 * T)),
    "INST": by_chance(lambda s, T=1: squares(s.i, 2 * T - s.gained)),
    "BPM": by_chance(bpm),
    "TBG": measure_of(tbg),
    "Umeasure": measure_of(u_measure),
    "IFT": by_chance(ift),
    "NERR8": by_chance(lambda s: 1 - s.gain),
    "NERR9": by_chance(lambda s: s.i / (s.i + 1) * (1 - s.gain)),
    "NERR10": by_chance(lambda s, p=0.9: p * (1 - s.gain)),
    "NERR11": by_chance(lambda s, T=1: squares(s.i, 2 * T) * (1 - s.gain)),
    "cwlRR": by_chance(lambda s: float(not s.gained)),
    "cwlAP": measure_of(ap),
    "cwlTrAP": measure_of(ap_of_retrieved),
    "cwlSET": by_chance(
        lambda s, beta=0.5: (
            ((s.i + 2) ** beta - (s.i + 1) ** beta) / ((s.i + 1) ** beta - s.i**beta)
        )
    ),
}
