"""Every measure once more, in slow and plain Python: the oracle the library is compared with.

Written from the definitions alone and sharing no code with the library. Values are exact
fractions wherever the definition is rational; only logarithmic discounts bring in floats.

A ranking is the list of its documents' grades in rank order, None for an unjudged document.
`judged` lists all grades given for the query, retrieved or not. `k` is the cutoff, None for full
depth. Notation: n documents retrieved, R relevant ones judged, H_k relevant ones among the first k.
A value whose denominator is 0 is 0. What the measures share is in base.py; measures for incomplete
judgments, recall levels, users' patience and other measures known from trec_eval are in
trec_eval_measures.py, more graded ones in graded_measures.py, the C/W/L framework in
user_models.py, those of candidates in candidate_measures.py.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from oracle import candidate_measures, graded_measures, similarity, trec_eval_measures, user_models
from oracle.base import (
    Cutoff,
    D,
    Gain,
    Grade,
    Query,
    Rel,
    Value,
    count_relevant,
    discounted_sums,
    gains_of,
    hit_ranks,
    ideal_gains,
    order,
    ratio,
)

Q = TypeVar("Q", str, int)

# ---------------------------------------------------------------- binary measures


def precision(q: Query, *, rel: Rel = None, norm: str = "k") -> Value:
    """P = H_k / k, also when fewer than k are retrieved (van Rijsbergen 1979).

    norm="retrieved" divides by min(k, n) (torchmetrics' adaptive_k).
    """
    divisor = {"k": q.depth, "retrieved": len(q.top)}[norm]
    return ratio(len(hit_ranks(q.top, rel)), divisor)


def recall(q: Query, *, rel: Rel = None) -> Value:
    """R = H_k / R (van Rijsbergen 1979)."""
    return ratio(len(hit_ranks(q.top, rel)), count_relevant(q.judged, rel))


def capped_recall(q: Query, *, rel: Rel = None) -> Value:
    """Rcap = H_k / min(k, R) (Thakur et al. 2021; trec_eval's relative_P)."""
    best = min(q.depth, count_relevant(q.judged, rel))
    return ratio(len(hit_ranks(q.top, rel)), best)


def f_measure(q: Query, *, rel: Rel = None, beta: float = 1, weight: float | None = None) -> Value:
    """F = (1 + b^2) P R / (b^2 P + R) of P and R at k (van Rijsbergen 1979).

    weight, where given, is b^2 (trec_eval's set_F).
    """
    p = precision(q, rel=rel)
    r = recall(q, rel=rel)
    b2 = Fraction(beta) ** 2 if weight is None else Fraction(weight)
    return ratio((1 + b2) * p * r, b2 * p + r)


def success(q: Query, *, rel: Rel = None) -> Value:
    """Success = 1 if H_k > 0, else 0 (Tomlinson; trec_eval's success)."""
    return int(bool(hit_ranks(q.top, rel)))


def reciprocal_rank(q: Query, *, rel: Rel = None) -> Value:
    """RR = 1 / rank of the first relevant document, 0 beyond k (Kantor & Voorhees 2000)."""
    ranks = hit_ranks(q.top, rel)
    return Fraction(1, ranks[0]) if ranks else Fraction(0)


def average_precision(q: Query, *, rel: Rel = None, norm: str = "all") -> Value:
    """AP = sum of H_i / i over the relevant ranks i <= k, divided by R (Buckley & Voorhees 2005).

    norm="min" divides by min(k, R), the best sum possible at k; norm="found" by H_k.
    """
    ranks = hit_ranks(q.top, rel)
    total = sum((Fraction(hits, rank) for hits, rank in enumerate(ranks, 1)), Fraction(0))
    r = count_relevant(q.judged, rel)
    return ratio(total, {"all": r, "min": min(q.depth, r), "found": len(ranks)}[norm])


def r_precision(q: Query, *, rel: Rel = None) -> Value:
    """Rprec = H_R / R; a cutoff hides what lies beyond it (Buckley & Voorhees 2005)."""
    r = count_relevant(q.judged, rel)
    return ratio(len(hit_ranks(q.top[:r], rel)), r)


# ---------------------------------------------------------------- graded measures


def cumulative_gain(q: Query, *, rel: Rel = None, gain: Gain = "linear") -> Value:
    """CG = sum of gain_i over ranks i <= k (Järvelin & Kekäläinen 2002)."""
    return sum(gains_of(q.top, gain, rel), Fraction(0))


def dcg(q: Query, *, rel: Rel = None, gain: Gain = "linear", discount: str = "log2") -> Value:
    """DCG = sum of gain_i / d(i) over ranks i <= k (Järvelin & Kekäläinen 2002).

    d(i) = log2(i + 1) (Burges et al. 2005) unless another discount is named.
    """
    return discounted_sums(gains_of(q.top, gain, rel), discount)[-1]


def ideal_dcg(q: Query, *, rel: Rel = None, gain: Gain = "linear", discount: str = "log2") -> Value:
    """IDCG = DCG at k of the ideal ranking: all positive gains judged, largest first (as DCG)."""
    return discounted_sums(ideal_gains(q.judged, gain, rel)[: q.k], discount)[-1]


def ndcg(q: Query, **params: Any) -> Value:
    """nDCG = DCG / IDCG, both at k and with the same parameters (Järvelin & Kekäläinen 2002)."""
    return ratio(dcg(q, **params), ideal_dcg(q, **params))


# ---------------------------------------------------------------- for geometric means

FLOOR = 1e-5


def floored_ap(q: Query, *, rel: Rel = None) -> Value:
    """GMAP = max(AP, 0.00001), to be averaged geometrically (Robertson 2006)."""
    return max(average_precision(q, rel=rel), FLOOR)


def floored_bpref(q: Query, *, rel: Rel = None) -> Value:
    """GMBpref = max(Bpref, 0.00001), to be averaged geometrically (trec_eval's gm_bpref)."""
    return max(trec_eval_measures.bpref(q, rel=rel), FLOOR)


# ---------------------------------------------------------------- coverage and counts


def judged_share(q: Query) -> Value:
    """Judged = judged documents of any grade among the first k / min(k, n) (MacAvaney 2020)."""
    top = q.top
    return ratio(sum(grade is not None for grade in top), len(top))


def count_retrieved(q: Query) -> Value:
    """NumRet = min(k, n) (trec_eval's num_ret)."""
    return len(q.top)


def count_judged_relevant(q: Query, *, rel: Rel = None) -> Value:
    """NumRel = R, whatever the cutoff (trec_eval's num_rel)."""
    return count_relevant(q.judged, rel)


def count_relevant_retrieved(q: Query, *, rel: Rel = None) -> Value:
    """NumRelRet = H_k (trec_eval's num_rel_ret)."""
    return len(hit_ranks(q.top, rel))


def count_query(q: Query) -> Value:
    """NumQ = 1 for each query (trec_eval's num_q)."""
    return 1


MEASURES: dict[str, Callable[..., Value]] = {
    "P": precision,
    "R": recall,
    "Rcap": capped_recall,
    "F": f_measure,
    "Success": success,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "Rprec": r_precision,
    "CG": cumulative_gain,
    "DCG": dcg,
    "IDCG": ideal_dcg,
    "nDCG": ndcg,
    "Judged": judged_share,
    "NumRet": count_retrieved,
    "NumRel": count_judged_relevant,
    "NumRelRet": count_relevant_retrieved,
    "NumQ": count_query,
    "GMAP": floored_ap,
    "GMBpref": floored_bpref,
    **trec_eval_measures.MEASURES,
    **graded_measures.MEASURES,
    **similarity.MEASURES,
    **user_models.MEASURES,
    **candidate_measures.MEASURES,
}
WEIGHTS = candidate_measures.WEIGHTS

# ---------------------------------------------------------------- all queries


def evaluate(
    qrels: Mapping[Q, Mapping[D, Grade]],
    run: Mapping[Q, Mapping[D, float]],
    name: str,
    k: Cutoff = None,
    *,
    judged_only: bool = False,
    score_dtype: str = "float64",
    measures: Mapping[str, Callable[..., Value]] = MEASURES,
    **params: Any,
) -> dict[Q, Value]:
    """The value of one measure for each query of the qrels; one missing from the run is empty.

    measures may be WEIGHTS: what queries weigh in a mean. judged_only removes documents without a
    grade >= 0 from the ranking first (Sakai 2007).
    """
    values = {}
    for query, grades in qrels.items():
        ranking = [grades.get(document) for document in order(run.get(query, {}), score_dtype)]
        if judged_only:
            ranking = [grade for grade in ranking if grade is not None and grade >= 0]
        values[query] = measures[name](Query(ranking, list(grades.values()), k), **params)
    return values


def mean(values: Iterable[Value]) -> Value:
    """The exact arithmetic mean, without NaN; NaN of nothing else, and 0 of nothing."""
    every = list(values)
    exact = [Fraction(value) for value in every if not math.isnan(value)]
    if len(exact) < bool(every):
        return math.nan
    return sum(exact, Fraction(0)) / max(len(exact), 1)


def geometric_mean(values: Iterable[Value]) -> float:
    """The exponential of the mean logarithm; 0 of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else 0.0


def weighted_mean(values: Iterable[Value], weights: Iterable[Value]) -> Value:
    """The mean in which some values count more than others; NaN where none counts."""
    pairs = list(zip(values, weights, strict=True))
    total = sum(weight for _, weight in pairs)
    return sum(Fraction(value) * weight for value, weight in pairs) / total if total else math.nan


def aggregate(name: str, values: Iterable[Value]) -> Value:
    """One number for all queries: the sum of a count, else a mean, geometric of GM measures."""
    if name.startswith("Num"):
        return sum(values)
    return geometric_mean(values) if name.startswith("GM") else mean(values)
