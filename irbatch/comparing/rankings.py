"""How alike two rankings are, without judgments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.column_names import Columns, check_columns
from irbatch.data.columns import QueryTable
from irbatch.data.ids import first_repeated, same_kind
from irbatch.engine.concordance import Concordance, compare_pairs
from irbatch.engine.overlap import VARIANTS, Side, Tables, sum_up
from irbatch.engine.ties import id_texts
from irbatch.errors import InputError, kind_of, many
from irbatch.evaluation.evaluation import Rankings, as_run
from irbatch.pack.pairs import Pairs, check_kinds, pair_rankings, ranking_sizes
from irbatch.runtime.numbers import check_choice, check_number, check_whole
from irbatch.runtime.ragged import joined_ranges, offsets_of, row_index_of
from irbatch.statistics.agreement import kendall_tau, tau_ap

__all__ = [
    "Overlap", "RunSimilarity", "kendall_tau", "overlap", "ranking_correlation", "rbo", "tau_ap",
    "tau_union",
]  # fmt: skip

TIES = ("id", *VARIANTS)


class Overlap(NamedTuple):
    """Rank-biased overlap of two rankings."""

    extrapolated: float  # if the share of common documents stays what it was: the point estimate
    minimum: float  # if nothing beyond their ends is in both
    maximum: float  # if all that can be is in both: minimum and residual
    residual: float  # how much more it could be, whatever comes after their ends
    truncated: float  # the sum over the ranks that both have, nothing beyond: the base
    evened: float  # extrapolated, the longer one cut where the shorter one ends (equation 23)
    average: float  # average overlap, the mean of X_d / d over the ranks that both have, without p


@dataclass(frozen=True, eq=False, repr=False)
class RunSimilarity:
    """Values of the queries that two runs have, in the order of the first.

    Attributes:
        query_ids: the queries.
        values: name to values, float64 ``(queries,)``; NaN where a query has none. Of `overlap`
            those of `Overlap`; of `ranking_correlation` ``tau``, ``tau_ap``, and how many
            ``documents`` both rankings have.
    """

    query_ids: list[Any]
    values: dict[str, Floats]

    def per_query(self, value: str = "") -> dict[Any, float]:
        """Return one of the values for each query id; default: the one that stands first."""
        return dict(zip(self.query_ids, self._column(value), strict=True))

    def mean(self, value: str = "") -> float:
        """Return the mean of one of the values over queries that have it; NaN of none."""
        return mean_of(self._column(value))

    def _column(self, value: str) -> list[float]:
        check_choice("value", value, ("", *self.values))
        return self.values[value or next(iter(self.values))].tolist()

    def __repr__(self) -> str:
        queries, name = many(len(self.query_ids), "query"), next(iter(self.values))
        return f"{type(self).__name__} of {queries}: mean {name} {self.mean():.4f}"


def mean_of(numbers: Iterable[float]) -> float:
    """Return the mean of those numbers that are not NaN; NaN of none."""
    known = [number for number in numbers if not math.isnan(number)]
    return math.fsum(known) / len(known) if known else math.nan


def _check(depth: int | None, p: float = 0.5, ties: str = "id") -> None:
    check_number("p", p, above=0, below=1)
    check_choice("ties", ties, TIES)
    if depth is not None:
        check_whole("depth", depth, 1)


def _shared_queries(
    run_a: Rankings, run_b: Rankings, depth: int | None, columns: Columns
) -> tuple[tuple[QueryTable, QueryTable], list[Any]]:
    """Return two runs, whatever they come as, by score, and the queries that both have."""
    _check(depth)
    check_columns(columns, ("run",))
    one, other = (as_run(run, columns=columns).as_table().ordered() for run in (run_a, run_b))
    queries = [query for query in one if query in other]
    if not queries:
        samples = [", ".join(map(repr, list(table)[:3])) or "none" for table in (one, other)]
        problem = f"the runs have no query in common: one has {samples[0]}, the other {samples[1]}"
        raise InputError(problem, source="run")
    return (one, other), queries


def rbo(
    first: Sequence[Any],
    second: Sequence[Any],
    p: float = 0.9,
    depth: int | None = None,
    ties: str = "id",
) -> Overlap:
    """Compare two rankings by rank-biased overlap, which may be of different lengths.

    With the overlap X_d, the documents that both rankings have among their first d, it is
    (1 - p) / p * sum over d of p^d * X_d / d, over rankings without an end. Of rankings that are
    alike the extrapolated value is exactly 1, of disjoint ones exactly 0; two empty rankings are
    taken to be alike, one empty and one not to be disjoint.

    Args:
        first, second: document ids, best first; a set of ids are documents of equal rank.
        p: persistence, between 0 and 1: of the weight, 86% are on the first 10 ranks at 0.9
            (and at 0.98 on the first 50).
        depth: leave out documents beyond this rank; of equal ones, those of lower ids first.
        ties: what becomes of documents of equal rank: ``"id"`` orders them by id, descending;
            ``"w"`` has each at the first of their ranks, as in sports (agreement is the overlap
            over the mean of both rankings' lengths there); ``"a"`` is the mean over all their
            orders; ``"b"`` corrects that for the information that ties lose, so that of a ranking
            with itself it is 1.

    Raises:
        InputError: if a ranking has a document twice, `p` is not in (0, 1), or the depth is not a
            whole number of at least 1.

    Source: W. Webber, A. Moffat and J. Zobel, *A similarity measure for indefinite rankings*, ACM
    TOIS 28(4), 2010, equations 11 (with the longer ranking's length), 23, 30, 32; ties: M. Corsi
    and J. Urbano, *The treatment of ties in rank-biased overlap*, SIGIR 2024.

    >>> found = rbo(["d1", "d2", "d3"], ["d1", "d3", "d4", "d5"], p=0.8)
    >>> round(found.extrapolated, 4), round(found.minimum, 4), round(found.residual, 4)
    (0.7067, 0.5247, 0.327)
    >>> round(rbo(["d1", {"d2", "d3"}], ["d1", "d3", "d2"], p=0.8, ties="a").extrapolated, 4)
    0.96
    """
    _check(depth, p, ties)
    (one, groups), (other, other_groups) = _flatten(first, "first"), _flatten(second, "second")
    check_kinds(one, other)
    one, other = one[:depth], other[:depth]
    sides = _side(one, other, groups[:depth]), _side(other, one, other_groups[:depth])
    tables, variant = Tables.of(float(p), len(one) + len(other)), None if ties == "id" else ties
    values = sum_up(*sides, p, tables, variant)
    return Overlap(*(value.item() for value in _in_order(values)))


def _in_order(values: Floats) -> list[Floats]:
    """Return what is summed up in the order of `Overlap`."""
    minimum, residual, extrapolated, *others = values
    return [extrapolated, minimum, minimum + residual, residual, *others]


def _flatten(ranking: Any, name: str) -> tuple[list[Any], Ints]:
    """Return a ranking's ids, and for each which of its groups it is in; reject repeated ids."""
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Sequence | np.ndarray):
        problem = f"the {name} ranking is a list of ids, not {kind_of(ranking)}"
        raise InputError(problem, source=name)
    items = ranking.tolist() if isinstance(ranking, np.ndarray) else ranking
    groups = [
        _by_id(list(item), name) if isinstance(item, AbstractSet) else [item] for item in items
    ]
    ids = list(itertools.chain.from_iterable(groups))
    same_kind(ids, "document", name)
    if (twice := first_repeated(ids)) is not None:
        raise InputError("the ranking has this document twice", source=name, document=twice)
    return ids, np.repeat(np.arange(len(groups)), [*map(len, groups)])


def _by_id(tied: list[Any], name: str) -> list[Any]:
    """Order documents of equal rank: by id, descending."""
    same_kind(tied, "document", name)
    texts = id_texts(tied)
    return [tied[i] for i in sorted(range(len(tied)), key=texts.__getitem__, reverse=True)]


def _side(own: list[Any], other: list[Any], groups: Ints) -> Side:
    """Return one side of the pair that two rankings are."""
    places = dict(zip(other, range(len(other)), strict=True))
    partners = np.array([places.get(document, -1) for document in own], np.int64)
    tops, bottoms = (np.searchsorted(groups, groups, side) for side in ("left", "right"))
    return Side(np.array([0, len(own)]), partners, tops, bottoms - 1, np.zeros(1, np.int64))


def overlap(
    run_a: Rankings,
    run_b: Rankings,
    p: float = 0.9,
    depth: int | None = None,
    ties: str = "id",
    *,
    columns: Columns = None,
) -> RunSimilarity:
    """Compare two systems by the rank-biased overlap of their rankings, query by query.

    No judgments are needed. Documents stand in trec_eval's order: by score, then by id, both
    descending. The value that stands first is the extrapolated one.

    Args:
        run_a, run_b, columns: rankings in any form of `irbatch.evaluate`.
        p, depth, ties: as in `rbo`; documents of one score are of equal rank.

    Raises:
        InputError: as `rbo`, and if the runs have no query in common, or a score is not a number.

    >>> first = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d1": 1.0}}
    >>> second = {"q1": {"d2": 9.0, "d1": 5.0}, "q2": {"d7": 1.0}}
    >>> {query: round(value, 12) for query, value in overlap(first, second).per_query().items()}
    {'q1': 0.9, 'q2': 0.0}
    """
    _check(depth, p, ties)
    runs, queries = _shared_queries(run_a, run_b, depth, columns)
    sizes = sum(ranking_sizes(table, queries, depth) for table in runs)
    tables, variant = Tables.of(float(p), int(np.max(sizes))), None if ties == "id" else ties
    blocks = [
        sum_up(*pairs.sides, p, tables, variant)
        for pairs in pair_rankings(runs, queries, depth, tied=ties != "id")
    ]
    values = _in_order(np.concatenate(blocks, axis=1))
    return RunSimilarity(queries, dict(zip(Overlap._fields, values, strict=True)))


def ranking_correlation(
    run_a: Rankings,
    run_b: Rankings,
    depth: int | None = None,
    ties: str = "id",
    *,
    columns: Columns = None,
) -> RunSimilarity:
    """Compare two systems by the rank correlation of their rankings, query by query.

    Documents that only one of them retrieved are left out; see `rbo` for a comparison that is
    lower with each of these. Values are NaN where fewer than two documents are in both rankings, or
    (ties b) one ranking has them all at one rank.

    Args:
        run_a, run_b, columns: rankings in any form of `irbatch.evaluate`; the first is the true one
            for the AP correlation.
        depth: leave out documents beyond this rank.
        ties: what becomes of documents of one score: ``"id"`` orders them by id, descending;
            ``"a"`` is tau-a, in which they are in neither order, and the mean of the AP correlation
            over all their orders; ``"b"`` is tau-b and the symmetric AP correlation tau_ap,b.

    Raises:
        InputError: if the runs have no query in common, or a score is not a number.

    Source: see `kendall_tau` and `tau_ap`.

    >>> first = {"q": {"d1": 4.0, "d2": 3.0, "d3": 2.0, "d4": 1.0}}
    >>> second = {"q": {"d2": 9.0, "d1": 8.0, "d7": 7.0, "d3": 6.0, "d4": 5.0}}
    >>> found = ranking_correlation(first, second)
    >>> {name: round(found.mean(name), 4) for name in found.values}
    {'tau': 0.6667, 'tau_ap': 0.3333, 'documents': 4.0}
    """
    check_choice("ties", ties, ("id", "a", "b"))
    runs, queries = _shared_queries(run_a, run_b, depth, columns)
    variant = "b" if ties == "b" else "a"
    blocks = []
    for pairs in pair_rankings(runs, queries, depth, tied=ties != "id"):
        common = _of_common(pairs, by_score=ties != "id")
        correlations = common.kendall_tau(variant), common.ap_correlation(variant)
        blocks.append(np.stack([*correlations, np.diff(common.starts)]))
    values = np.concatenate(blocks, axis=1)
    return RunSimilarity(queries, dict(zip(("tau", "tau_ap", "documents"), values, strict=True)))


def _of_common(pairs: Pairs, *, by_score: bool) -> Concordance:
    """Compare the documents of both in the order of the second, with the first's as values."""
    first, second = pairs.sides
    common = np.flatnonzero(second.partners >= 0)
    rows, partners = row_index_of(second.starts)[common], second.partners[common]
    starts = offsets_of(np.bincount(rows, minlength=second.starts.size - 1))
    if not by_score:
        return compare_pairs(starts, -partners.astype(np.float64))
    tops, places = second.tops[common], np.arange(common.size)
    new = np.ones(common.size, bool)
    new[1:] = (tops[1:] != tops[:-1]) | (rows[1:] != rows[:-1])
    above = np.maximum.accumulate(np.where(new, places, 0)) - starts[rows]
    return compare_pairs(starts, pairs.scores[0][first.starts[rows] + partners], above)


def tau_union(
    original: Rankings, reproduced: Rankings, depth: int | None = 1000, *, columns: Columns = None
) -> dict[Any, float]:
    """Return Kendall's tau union of each query that two runs have, in the order of the first.

    The union of both rankings lists their documents: those of the original ranking, then those
    that only the reproduced one has, as they come. In either ranking each document is replaced by
    its place in this list, and tau compares the two lists of places, rank by rank, as far as the
    shorter ranking goes: of rankings of the same documents that is Kendall's tau. NaN of less than
    two ranks. (repro_eval 0.5 orders the union by document id: its value depends on names.)

    Args:
        original, reproduced, columns: rankings in any form of `irbatch.evaluate`. Documents of one
            score stand in trec_eval's order, by id, descending.
        depth: leave out documents beyond this rank.

    Raises:
        InputError: if the runs have no query in common, or a score is not a number.

    Source: T. Breuer et al., *How to measure the reproducibility of system-oriented IR
    experiments*, SIGIR 2020, 4.1.

    >>> first = {"q": {"d2": 4.0, "d1": 3.0, "d3": 2.0}}
    >>> second = {"q": {"d3": 9.0, "d2": 8.0, "d4": 7.0}}
    >>> tau_union(first, second)
    {'q': 0.3333333333333333}
    """
    runs, queries = _shared_queries(original, reproduced, depth, columns)
    blocks = pair_rankings(runs, queries, depth, tied=False)
    values = np.concatenate([_by_rank(pairs) for pairs in blocks])
    return dict(zip(queries, values.tolist(), strict=True))


def _by_rank(pairs: Pairs) -> Floats:
    """Return the coefficients of pairs; the places of an original ranking are its ranks."""
    first, second = pairs.sides
    sizes = np.diff(second.starts)
    shared = np.minimum(np.diff(first.starts), sizes)
    at = joined_ranges(second.starts[:-1], shared)
    # Documents that only the reproduced ranking has come after all of the other, in their order.
    later = first.starts[-1] + np.arange(second.partners.size)
    places = np.where(second.partners >= 0, second.partners, later)[at]
    return compare_pairs(offsets_of(shared), -places.astype(np.float64)).kendall_tau("a")
