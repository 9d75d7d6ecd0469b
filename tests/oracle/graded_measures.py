"""Graded measures and users' models: more of the oracle in measures.py, written the same way.

Notation besides that of measures.py: g_i the gain of the document at rank i; a document *counts*
if its gain is positive; C_i of the first i do, and J of those judged; G_1 >= … >= G_J the gains of
the ideal list. Sums run over ranks i <= k of documents that count, of the ideal list to min(k, J).
Sums of powers of p and gamma are of floats, rounded once.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from oracle.base import Gain, Query, Rel, Value, gain_of, gains_of, ideal_gains, ratio

Gains = Sequence[Fraction]


def counting(gains: Gains) -> list[int]:
    """The ranks, from 1, of the documents that count."""
    return [rank for rank, gain in enumerate(gains, 1) if gain]


# ---------------------------------------------------------------- readers who stop


def stopping(gains: Gains, highest: Fraction) -> list[Fraction]:
    """The chance to stop at each rank: s_i times the product of 1 - s_j over ranks above.

    s_i = g_i / (the gain of the highest grade of the scale + 1).
    """
    chances = []
    left = Fraction(1)
    for gain in gains:
        chances.append(left * gain / (highest + 1))
        left *= 1 - gain / (highest + 1)
    return chances


def both_stopping(
    q: Query, max_grade: float, gain: Gain, rel: Rel
) -> tuple[list[Fraction], list[Fraction]]:
    """The chances to stop at the ranks of the ranking, and of the ideal list, each to k."""
    highest = gain_of(max_grade, gain, rel)
    ideal = ideal_gains(q.judged, gain, rel)[: q.k]
    return stopping(gains_of(q.top, gain, rel), highest), stopping(ideal, highest)


def err(q: Query, *, rel: Rel = None, gain: Gain = "exp", max_grade: float = 4) -> Value:
    """ERR = sum of (chance to stop at i) / i (Chapelle et al. 2009)."""
    chances, _ = both_stopping(q, max_grade, gain, rel)
    return sum((c / i for i, c in enumerate(chances, 1)), Fraction(0))


def normalized_err(q: Query, *, rel: Rel = None, gain: Gain = "exp", max_grade: float = 4) -> Value:
    """NERR = ERR / ERR of the ideal list, both at k."""
    _, ideal = both_stopping(q, max_grade, gain, rel)
    best = sum((c / i for i, c in enumerate(ideal, 1)), Fraction(0))
    return ratio(err(q, rel=rel, gain=gain, max_grade=max_grade), best)


def ebr(
    q: Query, *, rel: Rel = None, gain: Gain = "linear", max_grade: float = 4, beta: float = 1
) -> Value:
    """EBR = sum of (chance to stop at i) BR_i (Sakai & Zeng 2019)."""
    chances, _ = both_stopping(q, max_grade, gain, rel)
    blended = blended_ratios(q, gain, rel, beta)
    return sum((c * b for c, b in zip(chances, blended, strict=True)), Fraction(0))


def normalized_ebr(
    q: Query, *, rel: Rel = None, gain: Gain = "linear", max_grade: float = 4, beta: float = 1
) -> Value:
    """EBR / that of the ideal list, whose BR_i are 1, both at k."""
    found = ebr(q, rel=rel, gain=gain, max_grade=max_grade, beta=beta)
    return ratio(found, sum(both_stopping(q, max_grade, gain, rel)[1]))


def irbu(
    q: Query, *, rel: Rel = None, gain: Gain = "linear", max_grade: float = 4, p: float = 0.99
) -> Value:
    """IRBU = sum of (chance to stop at i) p^i (Sakai & Zeng 2019)."""
    return with_powers(both_stopping(q, max_grade, gain, rel)[0], p)


def normalized_irbu(
    q: Query, *, rel: Rel = None, gain: Gain = "linear", max_grade: float = 4, p: float = 0.99
) -> Value:
    """IRBU / that of the ideal list, both at k."""
    found, ideal = both_stopping(q, max_grade, gain, rel)
    return ratio(with_powers(found, p), with_powers(ideal, p))


def with_powers(factors: Iterable[Value], p: float) -> float:
    """The sum of factor_i p^i over i from 1."""
    return math.fsum(float(factor) * p**i for i, factor in enumerate(factors, 1))


# ---------------------------------------------------------------- blended ratios


def blended_ratios(q: Query, gain: Gain, rel: Rel, beta: float) -> list[Fraction]:
    """BR_i = (C_i + beta (g_1 + … + g_i)) / (i + beta (G_1 + … + G_i)) at each rank i <= k."""
    gains = gains_of(q.top, gain, rel)
    found = list(itertools.accumulate(gains, initial=Fraction(0)))
    best = list(itertools.accumulate(ideal_gains(q.judged, gain, rel), initial=Fraction(0)))
    b = Fraction(beta)
    counts = list(itertools.accumulate((bool(gain) for gain in gains), initial=0))
    return [
        (counts[i] + b * found[i]) / (i + b * best[min(i, len(best) - 1)])
        for i in range(1, len(gains) + 1)
    ]


def q_measure(q: Query, *, rel: Rel = None, gain: Gain = "linear", beta: float = 1) -> Value:
    """Q = sum of BR_i, over min(k, J) (Sakai 2004)."""
    gains = gains_of(q.top, gain, rel)
    blended = blended_ratios(q, gain, rel, beta)
    return ratio(sum(blended[i - 1] for i in counting(gains)), best_count(q, gain, rel))


def best_count(q: Query, gain: Gain, rel: Rel) -> int:
    """The number of ranks of the ideal list to k: min(k, J)."""
    return len(ideal_gains(q.judged, gain, rel)[: q.k])


def o_measure(q: Query, *, rel: Rel = None, gain: Gain = "linear", beta: float = 1) -> Value:
    """O = BR_i at the first document that counts, 0 without one (Sakai 2006)."""
    ranks = counting(gains_of(q.top, gain, rel))
    return blended_ratios(q, gain, rel, beta)[ranks[0] - 1] if ranks else 0


def to_preferred(gains: Gains) -> list[int]:
    """The ranks of documents that count down to the first of the highest gain of all."""
    ranks = counting(gains)
    return [i for i in ranks if i <= gains.index(max(gains)) + 1]


def p_measure(q: Query, *, rel: Rel = None, gain: Gain = "linear", beta: float = 1) -> Value:
    """BR_i at the first document of the highest gain among the first k (Sakai 2006)."""
    ranks = to_preferred(gains_of(q.top, gain, rel))
    return blended_ratios(q, gain, rel, beta)[ranks[-1] - 1] if ranks else 0


def p_plus(q: Query, *, rel: Rel = None, gain: Gain = "linear", beta: float = 1) -> Value:
    """The mean of BR_i over documents that count down to that one (Sakai 2007)."""
    ranks = to_preferred(gains_of(q.top, gain, rel))
    blended = blended_ratios(q, gain, rel, beta)
    return ratio(sum(blended[i - 1] for i in ranks), len(ranks))


def utilities(q: Query, utility: str, p: float, **params: Any) -> list[Value]:
    """The utility at each document that counts: C_i / i, BR_i or p^i."""
    ranks = counting(gains_of(q.top, params["gain"], params["rel"]))
    if utility == "BR":
        blended = blended_ratios(q, **params)
        return [blended[i - 1] for i in ranks]
    return [Fraction(c, i) if utility == "P" else p**i for c, i in enumerate(ranks, 1)]


def rank_biased_ncu(
    q: Query,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    beta: float = 1,
    utility: str = "BR",
    gamma: float = 0.95,
    p: float = 0.99,
) -> Value:
    """NCUrb = sum of utility_i gamma^(C_i - 1), over that of gamma^(j - 1) to J (EVIA 2008).

    Or, with a cutoff, over min(k, J), as NTCIREVAL has it.
    """
    found = utilities(q, utility, p, gain=gain, rel=rel, beta=beta)
    total = math.fsum(float(each) * gamma**c for c, each in enumerate(found))
    count = best_count(q, gain, rel)
    return ratio(total, math.fsum(gamma**j for j in range(count)) if q.k is None else count)


def graded_uniform_ncu(
    q: Query,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    beta: float = 1,
    utility: str = "BR",
    stops: Gain = "linear",
) -> Value:
    """NCUgu = sum of utility_i stop_i, over the sum of stops of all judged that count."""
    found = utilities(q, utility, 1, gain=gain, rel=rel, beta=beta)
    ranked = [grade for grade in q.top if gain_of(grade, gain, rel)]
    of_all = [gain_of(grade, stops, None) for grade in q.judged if gain_of(grade, gain, rel)]
    total = sum(u * gain_of(grade, stops, None) for u, grade in zip(found, ranked, strict=True))
    return ratio(total, sum(of_all))


# ---------------------------------------------------------------- gains shared with those above


def shared_gains(gains: Gains) -> list[Fraction]:
    """The sum of min(g_i, g_j) over j <= i, at each rank i."""
    return [sum((min(gain, g) for g in gains[:i]), gain) for i, gain in enumerate(gains)]


def graded_ap(q: Query, *, rel: Rel = None, gain: Gain = "triangular") -> Value:
    """GAP = sum of 1/i times the sum of min(g_i, g_j) over j <= i, over the ideal gains to k.

    Robertson, Kanoulas & Yilmaz 2010, g the weight of all thresholds up to a grade.
    """
    shared = shared_gains(gains_of(q.top, gain, rel))
    total = sum((s / i for i, s in enumerate(shared, 1)), Fraction(0))
    return ratio(total, sum(ideal_gains(q.judged, gain, rel)[: q.k]))


def rpref(
    q: Query,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    norm: str = "relative2",
    max_grade: float | None = None,
) -> Value:
    """RPREF = sum of g_i (1 - penalty_i / n), over all ideal gains (Sakai 2007).

    i is the rank among judged documents of a grade >= 0, penalty_i the sum of (g_i - g_j) / g_i
    over lower gains above; n is i (relative2), i - 1 (relative; rank 1 counts nothing), or
    all judged documents less ideal gains / gain of the highest grade (N).
    """
    seen = [grade for grade in q.top if grade is not None and grade >= 0]
    gains = gains_of(seen, gain, rel)
    ideal = ideal_gains(q.judged, gain, rel)
    highest = max(ideal, default=Fraction(0))
    if max_grade is not None:
        highest = gain_of(max_grade, gain, rel)
    n_of_all = sum(grade >= 0 for grade in q.judged) - ratio(sum(ideal), highest)
    total = Fraction(0)
    for i in counting(gains):
        own = gains[i - 1]
        penalty = sum((max(own - other, 0) / own for other in gains[: i - 1]), Fraction(0))
        n = {"relative2": i, "relative": i - 1, "N": n_of_all}[norm]
        total += own * (1 - ratio(penalty, n)) if i > 1 or norm != "relative" else 0
    return ratio(total, sum(ideal))


# ---------------------------------------------------------------- others


def normalized_cg(q: Query, *, rel: Rel = None, gain: Gain = "linear") -> Value:
    """NCG = CG / CG of the ideal list, both at k (Järvelin & Kekäläinen 2002)."""
    return ratio(sum(gains_of(q.top, gain, rel)), sum(ideal_gains(q.judged, gain, rel)[: q.k]))


def normalized_rbp(q: Query, *, rel: Rel = None, gain: Gain = "linear", p: float = 0.9) -> Value:
    """The sum of g_i p^(i - 1) over that of the ideal list, both at k."""
    found, ideal = gains_of(q.top, gain, rel), ideal_gains(q.judged, gain, rel)[: q.k]
    return ratio(with_powers(found, p), with_powers(ideal, p))


def session_dcg(values: Sequence[float], base: float) -> float:
    """SDCG = sum of DCG of the q-th query / (1 + log_base(q)) (Järvelin et al. 2008)."""
    return math.fsum(v / (1 + math.log(q) / math.log(base)) for q, v in enumerate(values, 1))


MEASURES: dict[str, Callable[..., Value]] = {
    "ERR": err,
    "nERR": normalized_err,
    "EBR": ebr,
    "nEBR": normalized_ebr,
    "iRBU": irbu,
    "niRBU": normalized_irbu,
    "Qmeasure": q_measure,
    "Omeasure": o_measure,
    "Pmeasure": p_measure,
    "Pplus": p_plus,
    "NCUrb": rank_biased_ncu,
    "NCUgu": graded_uniform_ncu,
    "GAP": graded_ap,
    "Rpref": rpref,
    "nCG": normalized_cg,
    "nRBP": normalized_rbp,
}
