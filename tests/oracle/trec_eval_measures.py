"""Measures known from trec_eval alone: the rest of the oracle in measures.py, written the same way.

Notation besides that of measures.py: N documents judged not relevant (0 <= grade < rel), a
negative grade standing for a document that was in the pool but not judged; P documents judged with
a gain above 0, the ideal list; n_k = min(k, n) documents seen. R, N and the ideal list come from
all judgments, whatever the cutoff.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from oracle.base import (
    Gain,
    Grade,
    Query,
    Rel,
    Value,
    count_relevant,
    discounted_sums,
    gain_of,
    gains_of,
    hit_ranks,
    ideal_gains,
    is_relevant,
    ratio,
)


def is_nonrelevant(grade: Grade | None, rel: Rel) -> bool:
    """Judged, not negative, and of grade < rel (1 unless given)."""
    return grade is not None and grade >= 0 and not is_relevant(grade, rel)


def is_unjudged(grade: Grade | None) -> bool:
    """Without a judgment, or with a negative grade."""
    return grade is None or grade < 0


# ---------------------------------------------------------------- incomplete judgments


def bpref(q: Query, *, rel: Rel = None, norm: str = "min") -> Value:
    """Bpref = sum over relevant documents seen of 1 - min(a, R) / min(N, R), divided by R.

    a judged nonrelevant documents stand above (Buckley & Voorhees 2004, as corrected in
    trec_eval 8); the fraction is 0 where there are none. Sakai 2007: it is min(a, R) / R
    (norm="R"), a / N (norm="N"), or a over all judged documents above (norm="relative"), where
    a document without any above adds 0.
    """
    r = count_relevant(q.judged, rel)
    n = sum(is_nonrelevant(grade, rel) for grade in q.judged)
    total = Fraction(0)
    for hits, rank in enumerate(hit_ranks(q.top, rel)):
        a = sum(is_nonrelevant(grade, rel) for grade in q.ranking[: rank - 1])
        if norm == "relative":
            total += 1 - ratio(a, a + hits) if a + hits else 0
        else:
            bounded = a if norm == "N" else min(a, r)
            total += 1 - ratio(bounded, {"min": min(n, r), "R": r, "N": n}[norm])
    return ratio(total, r)


def inferred_ap(q: Query, *, rel: Rel = None) -> Value:
    """InfAP = sum of the precision expected at each relevant rank i <= k, divided by R.

    That is 1/i for the document itself, and for the i - 1 above it, of which h are relevant, m
    judged nonrelevant and u in the pool but unjudged, the share (h + m + u) / (i - 1) from the
    pool times (h + e) / (h + m + 2e), e = 0.00001 (Yilmaz & Aslam 2006; trec_eval's infAP).
    """
    e = Fraction(1e-5)
    total = Fraction(0)
    for h, i in enumerate(hit_ranks(q.top, rel)):
        above = q.ranking[: i - 1]
        m = sum(is_nonrelevant(grade, rel) for grade in above)
        u = sum(grade is not None and grade < 0 for grade in above)
        expected = ratio(h + m + u, i - 1) * (h + e) / (h + m + 2 * e)
        total += Fraction(1, i) + Fraction(i - 1, i) * expected
    return ratio(total, count_relevant(q.judged, rel))


def unjudged_share(q: Query) -> Value:
    """Unjudged = documents without a grade >= 0 among the first k / k."""
    return ratio(sum(is_unjudged(grade) for grade in q.top), q.depth)


def count_nonrelevant_retrieved(q: Query, *, rel: Rel = None) -> Value:
    """NumNonRelRet = documents judged not relevant among the first k."""
    return sum(is_nonrelevant(grade, rel) for grade in q.top)


# ---------------------------------------------------------------- levels of recall

ELEVEN_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def nearest(x: float) -> int:
    """The nearest integer to x >= 0, upwards from halfway."""
    return math.floor(x) + (x - math.floor(x) >= 0.5)


def rounded_up(x: float) -> int:
    """x >= 0 rounded up from a tenth on."""
    return math.trunc(x + 0.9)


def interpolated_precision(
    q: Query, *, rel: Rel = None, recall: float = 0.0, rounding: str = "nearest"
) -> Value:
    """IPrec = the largest H_i / i of ranks i <= k with H_i >= c = recall * R, 0 if there are none.

    c is a product of floats rounded to the nearest integer (trec_eval 10) or, rounding="up",
    upwards from a tenth (trec_eval 9).
    """
    product = float(recall) * count_relevant(q.judged, rel)
    c = {"nearest": nearest, "up": rounded_up}[rounding](product)
    ranks = hit_ranks(q.top, rel)
    reached = [Fraction(hits, rank) for hits, rank in enumerate(ranks, 1) if hits >= c]
    return max(reached, default=Fraction(0))


def average_interpolated_precision(
    q: Query, *, rel: Rel = None, points: Sequence[float] = ELEVEN_POINTS, rounding: str = "nearest"
) -> Value:
    """IPrecAvg = mean of IPrec over the levels of recall (trec_eval's 11pt_avg)."""
    values = [
        interpolated_precision(q, rel=rel, recall=point, rounding=rounding) for point in points
    ]
    return ratio(sum(values), len(values))


def multiple_r_precision(q: Query, *, rel: Rel = None, times: float = 1.0) -> Value:
    """RprecMult = H_c / c, c = times * R rounded up from a tenth; hits beyond k don't count.

    trec_eval's Rprec_mult.
    """
    c = rounded_up(float(times) * count_relevant(q.judged, rel))
    return ratio(len(hit_ranks(q.top[:c], rel)), c)


# ---------------------------------------------------------------- more binary measures


def binary_g(q: Query, *, rel: Rel = None) -> Value:
    """BinG = sum of 1 / log2(3 + (i - 1) - H_i) over relevant ranks i <= k, divided by R.

    trec_eval's binG: log2 of 2 plus the documents above that are not relevant.
    """
    terms = [1 / math.log2(2 + i - hits) for hits, i in enumerate(hit_ranks(q.top, rel), 1)]
    return ratio(math.fsum(terms), count_relevant(q.judged, rel))


def yaap(q: Query, *, rel: Rel = None) -> Value:
    """YAAP = ln((1 + S) / (1 + R - S)), S the sum of H_i / i over relevant ranks i <= k.

    Robertson 2012. Close to 1, the logarithm is taken of the exact distance from it.
    """
    s = sum((Fraction(h, i) for h, i in enumerate(hit_ranks(q.top, rel), 1)), Fraction(0))
    odds = (1 + s) / (1 + count_relevant(q.judged, rel) - s)
    return math.log1p(odds - 1) if odds > Fraction(1, 2) else math.log(odds)


def utility(
    q: Query,
    *,
    rel: Rel = None,
    a: float = 1,
    b: float = -1,
    c: float = 0,
    d: float = 0,
    docs: int = 0,
) -> Value:
    """Utility = a H + b (n_k - H) + c (R - H) + d (docs + H - n_k - R), H = H_k.

    The worth of documents relevant and seen, not relevant and seen, relevant and not seen, and
    neither, in a collection of so many (Lewis 1995; trec_eval's utility).
    """
    h, n, r = len(hit_ranks(q.top, rel)), len(q.top), count_relevant(q.judged, rel)
    table = ((a, h), (b, n - h), (c, r - h), (d, docs + h - n - r))
    return sum((Fraction(worth) * number for worth, number in table), Fraction(0))


def set_ap(q: Query, *, rel: Rel = None) -> Value:
    """SetAP = P * R = H_k^2 / (k R) (trec_eval's set_map)."""
    hits = len(hit_ranks(q.top, rel))
    return ratio(hits * hits, q.depth * count_relevant(q.judged, rel))


# ---------------------------------------------------------------- more graded measures


def g_measure(q: Query, *, rel: Rel = None, gain: Gain = "linear") -> Value:
    """G = sum of gain_i / log2(2 + cost_i - seen_i) over ranks i <= k, divided by all ideal gains.

    seen_i is the sum of the first i gains, and cost_i that of the first i ideal gains, each
    counting at least 1, also past the end of the ideal list (trec_eval's G).
    """
    ideal = ideal_gains(q.judged, gain, rel)
    terms = []
    cost = seen = Fraction(0)
    for i, grade in enumerate(q.top):
        own = gain_of(grade, gain, rel)
        cost += max(ideal[i], 1) if i < len(ideal) else 1
        seen += own
        if own:
            terms.append(own / math.log2(2 + cost - seen))
    return ratio(math.fsum(terms), sum(ideal))


def ndcg_at_relevant(
    q: Query, *, rel: Rel = None, gain: Gain = "linear", discount: str = "log2"
) -> Value:
    """nDCGrel = mean over the ideal list's P documents of DCG_i / IDCG_i at their ranks i <= k.

    One not seen counts with DCG_n_k / IDCG_P (trec_eval's ndcg_rel).
    """
    gains = gains_of(q.top, gain, rel)
    ideal = ideal_gains(q.judged, gain, rel)
    found, best = discounted_sums(gains, discount), discounted_sums(ideal, discount)
    values = [ratio(found[i], best[min(i, len(ideal))]) for i, g in enumerate(gains, 1) if g > 0]
    values += [ratio(found[-1], best[-1])] * (len(ideal) - len(values))
    return ratio(sum(map(Fraction, values)), len(ideal))


def ndcg_at_levels(
    q: Query, *, rel: Rel = None, gain: Gain = "linear", discount: str = "log2"
) -> Value:
    """RnDCG = mean of DCG_min(b, n_k) / IDCG_b over the ends b of equal gains in the ideal list.

    One more point, DCG_n_k / IDCG_P, if n_k > P + 1 (trec_eval's Rndcg).
    """
    gains = gains_of(q.top, gain, rel)
    ideal = ideal_gains(q.judged, gain, rel)
    found, best = discounted_sums(gains, discount), discounted_sums(ideal, discount)
    ends = [b for b in range(1, len(ideal) + 1) if b == len(ideal) or ideal[b - 1] != ideal[b]]
    values = [ratio(found[min(b, len(gains))], best[b]) for b in ends]
    if len(gains) > len(ideal) + 1:
        values.append(ratio(found[-1], best[-1]))
    return ratio(sum(map(Fraction, values)), len(values))


# ---------------------------------------------------------------- persistence


def persistent_sum(gains: Sequence[Value], p: float) -> Fraction:
    """(1 - p) * the sum of gain_i p^(i - 1): that of integers over one power of p's denominator."""
    a, b = Fraction(p).as_integer_ratio()
    last = len(gains) - 1
    total = sum((g * a**i * b ** (last - i) for i, g in enumerate(gains)), Fraction(0))
    return (1 - Fraction(p)) * total / b ** max(last, 0)


def rank_biased_precision(
    q: Query,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    p: float = 0.9,
    max_grade: float | None = None,
) -> Value:
    """RBP = (1 - p) * the sum of gain_i p^(i - 1) over ranks i <= k (Moffat & Zobel 2008).

    Gains are shares of that of the highest grade or, if that is not given, of the query's largest
    judged gain where that is above 1.
    """
    unit = max([Fraction(1), *ideal_gains(q.judged, gain, rel)])
    if max_grade is not None:
        unit = gain_of(max_grade, gain, rel)
    gains = gains_of(q.top, gain, rel)
    return ratio(persistent_sum(gains, p), unit)


def rank_biased_upper(
    q: Query,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    p: float = 0.9,
    max_grade: float | None = None,
) -> Value:
    """RBPupper = RBP + RBPresid(tail="always"), 1 at most."""
    least = rank_biased_precision(q, rel=rel, gain=gain, p=p, max_grade=max_grade)
    return min(least + rank_biased_residual(q, p=p, tail="always"), Fraction(1))


def rank_biased_residual(q: Query, *, p: float = 0.9, tail: str = "unjudged") -> Value:
    """RBPresid = what RBP could still gain from unjudged documents seen and from all not seen.

    That is p^n_k for those not seen, which counts where an unjudged document was seen (trec_eval
    10), or with tail="always" in any case (Moffat & Zobel 2008).
    """
    unknown = [Fraction(is_unjudged(grade)) for grade in q.top]
    counted = {"always": True, "unjudged": any(unknown)}[tail]
    return persistent_sum(unknown, p) + counted * Fraction(p) ** len(unknown)


MEASURES: dict[str, Callable[..., Value]] = {
    "Bpref": bpref,
    "InfAP": inferred_ap,
    "Unjudged": unjudged_share,
    "NumNonRelRet": count_nonrelevant_retrieved,
    "IPrec": interpolated_precision,
    "IPrecAvg": average_interpolated_precision,
    "RprecMult": multiple_r_precision,
    "BinG": binary_g,
    "YAAP": yaap,
    "Utility": utility,
    "SetAP": set_ap,
    "G": g_measure,
    "nDCGrel": ndcg_at_relevant,
    "RnDCG": ndcg_at_levels,
    "RBP": rank_biased_precision,
    "RBPresid": rank_biased_residual,
    "RBPupper": rank_biased_upper,
}
