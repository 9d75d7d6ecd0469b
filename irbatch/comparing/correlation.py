"""How alike two orders are: of systems by their scores, and of documents by their ranks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.comparing.compared import Compared
from irbatch.comparing.diagnosis import order_documents
from irbatch.data.arguments.ids import first_repeated, kinds_of, same_kind
from irbatch.errors import InputError
from irbatch.evaluation.runs import Rankings, as_run
from irbatch.runtime.checks import check_number, check_whole
from irbatch.runtime.jit import kernel
from irbatch.runtime.ragged import offsets_of
from irbatch.statistics.rank_correlation import kendall_tau, tau_ap, tau_ap_b

__all__ = [
    "Overlap",
    "Overlaps",
    "RankCorrelations",
    "kendall_tau",
    "overlap",
    "rank_correlation",
    "rbo",
    "tau_ap",
    "tau_ap_b",
]

Counts = npt.NDArray[np.int8]


class RankCorrelations(NamedTuple):
    """How alike measures order the systems: `kendall_tau` and `tau_ap_b` of each two.

    Both are float64 ``(measures, measures)``.
    """

    measures: list[str]
    tau: Floats
    tau_ap: Floats


def rank_correlation(comparison: Compared) -> RankCorrelations:
    """Tell how alike the measures of a comparison order its systems.

    Raises:
        InputError: if there are fewer than two systems, or a mean is NaN.

    >>> from types import SimpleNamespace
    >>> means = [[0.9, 0.5], [0.7, 0.6], [0.1, 0.2]]
    >>> found = rank_correlation(SimpleNamespace(measures=["AP", "P@5"], means=means))
    >>> found.tau.round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """
    means = np.asarray(comparison.means, np.float64)
    measures = list(comparison.measures)
    for name, column in zip(measures, means.T, strict=True):
        if np.isnan(column).any():
            raise InputError(f"the mean of {name} is NaN for some system", value=name)

    def all_pairs(correlate: Callable[[Any, Any], float]) -> Floats:
        found = np.empty((len(measures), len(measures)))
        for i in range(len(measures)):
            for j in range(i + 1):
                found[i, j] = found[j, i] = correlate(means[:, i], means[:, j])
        return found

    return RankCorrelations(measures, all_pairs(kendall_tau), all_pairs(tau_ap_b))


class Overlap(NamedTuple):
    """Rank-biased overlap of two rankings.

    Args:
        minimum: if nothing beyond their ends is in both.
        residual: how much more it could be, whatever comes after their ends.
        extrapolated: if the share of common documents stays what it was: the point estimate.
    """

    minimum: float
    residual: float
    extrapolated: float


class Overlaps(NamedTuple):
    """Rank-biased overlap of the queries that two runs have, in the order of the first.

    The values are those of `Overlap`, float64 ``(queries,)``.
    """

    query_ids: list[Any]
    minimum: Floats
    residual: Floats
    extrapolated: Floats

    def per_query(self) -> dict[Any, float]:
        """Return the extrapolated value for each query id."""
        return dict(zip(self.query_ids, self.extrapolated.tolist(), strict=True))


def rbo(
    first: Sequence[Any], second: Sequence[Any], p: float = 0.9, depth: int | None = None
) -> Overlap:
    """Compare two rankings by rank-biased overlap, which may be of different lengths.

    With the overlap X_d, the documents that both rankings have among their first d, it is
    (1 - p) / p * sum over d of p^d * X_d / d, over rankings without an end. Of rankings that are
    alike the extrapolated value is exactly 1, of disjoint ones exactly 0; two empty rankings are
    taken to be alike, one empty and one not to be disjoint.

    Args:
        first, second: document ids, best first.
        p: persistence, between 0 and 1: of the weight, 86% are on the first 10 ranks at 0.9
            (and at 0.98 on the first 50).
        depth: leave out documents beyond this rank.

    Raises:
        InputError: if a ranking has a document twice, `p` is not in (0, 1), or the depth is not a
            whole number of at least 1.

    Source: W. Webber, A. Moffat and J. Zobel, *A similarity measure for indefinite rankings*, ACM
    TOIS 28(4), 2010, equations 11 (with the longer ranking's length), 30, 32.

    >>> found = rbo(["d1", "d2", "d3"], ["d1", "d3", "d4", "d5"], p=0.8)
    >>> round(found.extrapolated, 4), round(found.minimum, 4), round(found.residual, 4)
    (0.7067, 0.5247, 0.327)
    """
    _check(p, depth)
    one, other = _as_list(first, "first"), _as_list(second, "second")
    _check_kind(one, other)
    found = _overlaps([(one[:depth], other[:depth])], p)
    return Overlap(*(value.item() for value in found))


def overlap(run_a: Rankings, run_b: Rankings, p: float = 0.9, depth: int | None = None) -> Overlaps:
    """Compare two systems by the rank-biased overlap of their rankings, query by query.

    No judgments are needed. Documents stand in trec_eval's order: by score, then by id, both
    descending.

    Args:
        run_a, run_b: `Run`, query to document to score, the path of a run file, or a table.
        p, depth: as in `rbo`.

    Raises:
        InputError: as `rbo`, and if the runs have no query in common, or a score is not a number.

    >>> first = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d1": 1.0}}
    >>> second = {"q1": {"d2": 9.0, "d1": 5.0}, "q2": {"d7": 1.0}}
    >>> {query: round(value, 12) for query, value in overlap(first, second).per_query().items()}
    {'q1': 0.9, 'q2': 0.0}
    """
    _check(p, depth)
    runs = as_run(run_a), as_run(run_b)
    queries = [query for query in runs[0].queries if query in runs[1].queries]
    if not queries:
        some = [", ".join(map(repr, list(run.queries)[:3])) or "none" for run in runs]
        problem = f"the runs have no query in common: one has {some[0]}, the other {some[1]}"
        raise InputError(problem, source="run")
    pairs = []
    for query in queries:
        one, other = (order_documents(run.rankings[query], query, run.name) for run in runs)
        _check_kind(one, other, query)
        pairs.append((one[:depth], other[:depth]))
    return Overlaps(queries, *_overlaps(pairs, p))


def _check(p: Any, depth: Any) -> None:
    check_number("p", p, above=0, below=1)
    if depth is not None:
        check_whole("depth", depth, 1)


def _as_list(ranking: Any, name: str) -> list[Any]:
    """Return a ranking's ids; refuse one that it has twice."""
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Sequence | np.ndarray):
        problem = f"the {name} ranking is a list of ids, not a {type(ranking).__name__}"
        raise InputError(problem, source=name)
    ids = ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking)
    same_kind(ids, "document", name)
    if (twice := first_repeated(ids)) is not None:
        raise InputError("the ranking has this document twice", source=name, document=twice)
    return ids


def _check_kind(first: list[Any], second: list[Any], query: object = None) -> None:
    """Refuse text beside numbers: no document would be found in both."""
    if kinds_of(first) != kinds_of(second) and first and second:
        sides = f"document ids are {first[0]!r} on one side and {second[0]!r} on the other"
        raise InputError(f"{sides}: one is text, the other a number", query=query)


def _overlaps(pairs: Sequence[tuple[list[Any], list[Any]]], p: float) -> Floats:
    """Compute the three values of pairs of rankings, ``(3, pairs)``."""
    sizes = np.array([(len(first), len(second)) for first, second in pairs], np.int64)
    starts = offsets_of(sizes.max(axis=1))
    counts = np.zeros(starts[-1], np.int8)
    for (first, second), start, stop in zip(pairs, starts[:-1], starts[1:], strict=True):
        places = dict(zip(second, range(len(second)), strict=True))
        looked_up = map(places.get, first, itertools.repeat(-1))
        there = np.fromiter(looked_up, np.int64, len(first))
        met = np.maximum(there, np.arange(there.size))[there >= 0]
        counts[start:stop] = np.bincount(met, minlength=stop - start)
    found = np.empty((3, len(pairs)))
    tables = _tables(float(p), int(sizes.sum(axis=1).max()))
    _sum_up.run(4 * counts.size, counts, starts, sizes.min(axis=1), 1.0 - p, *tables, found)
    return found


def _tables(p: float, depth: int) -> tuple[Floats, Floats, Floats]:
    """Tabulate what sums over infinitely many ranks are made of; from far ends nothing cancels.

    Three times ``(depth + 1,)``, at n: p^n; T(n), the sum over d > n of p^(d-1) / d, which a
    document in both rankings from rank n + 1 on adds; and the sum over m >= n of T(m).
    """
    ranks = np.arange(1, depth + 1)
    powers = np.power(p, np.arange(depth + 1.0))
    terms = powers[:-1] / ranks
    least = powers[-1] / (depth + 1)  # the first term that is left out
    rest = -math.log1p(-p) / p - float(terms.sum())
    last = min(max(rest, least), least / (1 - p))
    tails = np.cumsum(np.append(terms, last)[::-1])[::-1]
    beyond = powers[-1] / (1 - p) - depth * last
    beyond = min(max(beyond, least), least / (1 - p) ** 2)
    return powers, tails, np.cumsum(np.append(tails[:-1], beyond)[::-1])[::-1].copy()


@kernel
def _sum_up(
    counts: Counts,
    starts: Ints,
    shorts: Ints,
    rest: float,
    powers: Floats,
    tails: Floats,
    beyond: Floats,
    found: Floats,
) -> None:
    """Write minimum, residual and extrapolated value of each pair of rankings.

    Agreement at a depth d is X_d / d; beyond the shorter ranking's end s, what is not known of it
    counts as much as what is: (X_d + X_s * (d - s) / s) / d. Summed by parts, so that rankings
    which agree at every depth come out at 1 exactly.
    """
    for q in range(shorts.size):
        longer = starts[q + 1] - starts[q]
        shorter = shorts[q]
        common = 0
        common_short = 0
        minimum = 0.0
        extrapolated = 0.0
        before = 0.0
        for d in range(1, longer + 1):
            new = int(counts[starts[q] + d - 1])
            common += new
            minimum += new * tails[d - 1]
            if d <= shorter:
                common_short = common
                agreement = common / d
            elif shorter > 0:
                known = common * shorter + common_short * (d - shorter)
                agreement = known / (shorter * d)
            else:
                agreement = 0.0
            extrapolated += (agreement - before) * powers[d - 1]
            before = agreement
        if longer == 0:
            extrapolated = 1.0
        full = longer + shorter - common
        residual = rest * (beyond[shorter] + beyond[longer] - beyond[full])
        extrapolated = min(extrapolated, 1.0)
        minimum = min(rest * minimum, extrapolated)
        found[0, q] = minimum
        found[1, q] = min(max(residual, extrapolated - minimum), 1.0 - minimum)
        found[2, q] = extrapolated
