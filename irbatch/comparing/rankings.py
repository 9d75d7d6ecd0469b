"""How alike two rankings are, without judgments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.column_names import Columns, check_columns
from irbatch.data.columns import QueryTable
from irbatch.data.ids import first_repeated, same_kind
from irbatch.engine.concordance import Concordance, compare_pairs
from irbatch.engine.overlap import VALUES, VARIANTS, Side, Tables, sum_up
from irbatch.engine.ties import id_texts
from irbatch.errors import InputError, kind_of, many
from irbatch.evaluation.evaluation import Rankings, as_run
from irbatch.pack.pairs import Pairs, check_kinds, pair_rankings, ranking_sizes
from irbatch.runtime.numbers import check_choice, check_number, check_whole
from irbatch.runtime.ragged import joined_ranges, offsets_of, row_index_of
from irbatch.statistics.agreement import kendall_tau, tau_ap

__all__ = [
    "Overlap", "Overlaps", "RankingCorrelations", "kendall_tau", "overlap", "ranking_correlation",
    "rbo", "tau_ap", "tau_union",
]  # fmt: skip

TIES = ("id", *VARIANTS)


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


class Overlap(NamedTuple):
    """Rank-biased overlap of two rankings."""

    minimum: float  # if nothing beyond their ends is in both
    residual: float  # how much more it could be, whatever comes after their ends
    extrapolated: float  # if the share of common documents stays what it was: the point estimate
    truncated: float  # the sum over the ranks that both have, nothing beyond: the base
    evened: float  # extrapolated, the longer one cut where the shorter one ends (equation 23)
    average: float  # average overlap, the mean of X_d / d over the ranks that both have, without p

    @property
    def maximum(self) -> float:
        """If all that can be is in both: minimum and residual."""
        return self.minimum + self.residual


@dataclass(frozen=True, eq=False, repr=False)
class _OfQueries:
    """Values of the queries that two runs have, in the order of the first."""

    query_ids: list[Any]

    def per_query(self, value: str = "") -> dict[Any, float]:
        """Return one of the values for each query id; default: the one that stands first."""
        return dict(zip(self.query_ids, self._column(value).tolist(), strict=True))

    def mean(self, value: str = "") -> float:
        """Return the mean of one of the values over queries that have it; NaN of none."""
        numbers = [number for number in self._column(value).tolist() if not math.isnan(number)]
        return math.fsum(numbers) / len(numbers) if numbers else math.nan

    def _column(self, value: str) -> Any:
        names = [field.name for field in fields(self)][1:]
        check_choice("value", value, ("", *names))
        return getattr(self, value or names[0])

    def __repr__(self) -> str:
        queries = many(len(self.query_ids), "query")
        return f"{type(self).__name__} of {queries}: mean {fields(self)[1].name} {self.mean():.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class Overlaps(_OfQueries):
    """Rank-biased overlap of the queries that two runs have: `Overlap`'s, float64 ``(queries,)``.

    `per_query` and `mean` are of the extrapolated one by default.
    """

    extrapolated: Floats
    minimum: Floats
    maximum: Floats
    residual: Floats
    truncated: Floats
    evened: Floats
    average: Floats


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
    sides = [_flatten(*ranking) for ranking in ((first, "first"), (second, "second"))]
    check_kinds(sides[0][0], sides[1][0])
    ids, groups = zip(*((documents[:depth], bounds) for documents, bounds in sides), strict=True)
    values = sum_up(
        _side(ids[0], ids[1], groups[0]), _side(ids[1], ids[0], groups[1]), p,
        Tables.of(float(p), len(ids[0]) + len(ids[1])), None if ties == "id" else ties,
    )  # fmt: skip
    return Overlap(*(value.item() for value in values))


def overlap(
    run_a: Rankings,
    run_b: Rankings,
    p: float = 0.9,
    depth: int | None = None,
    ties: str = "id",
    *,
    columns: Columns = None,
) -> Overlaps:
    """Compare two systems by the rank-biased overlap of their rankings, query by query.

    No judgments are needed. Documents stand in trec_eval's order: by score, then by id, both
    descending.

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
    tables = Tables.of(float(p), int(np.max(sizes)))
    values = np.empty((VALUES, len(queries)))
    for pairs in pair_rankings(runs, queries, depth, tied=ties != "id"):
        values[:, pairs.first : pairs.last] = sum_up(
            *pairs.sides, p, tables, None if ties == "id" else ties
        )
    minimum, residual, extrapolated, *others = values
    return Overlaps(queries, extrapolated, minimum, minimum + residual, residual, *others)


def _flatten(ranking: Any, name: str) -> tuple[list[Any], list[tuple[int, int]]]:
    """Return a ranking's ids, and for each the ranks that its group takes; reject repeated ids."""
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Sequence | np.ndarray):
        problem = f"the {name} ranking is a list of ids, not {kind_of(ranking)}"
        raise InputError(problem, source=name)
    ids: list[Any] = []
    groups: list[tuple[int, int]] = []
    for item in ranking.tolist() if isinstance(ranking, np.ndarray) else ranking:
        if isinstance(item, AbstractSet):
            tied = list(item)
            same_kind(tied, "document", name)
            texts = id_texts(tied)
            ids += [tied[i] for i in sorted(range(len(tied)), key=texts.__getitem__, reverse=True)]
            groups += [(len(ids) - len(tied), len(ids) - 1)] * len(tied)
        else:
            ids.append(item)
            groups.append((len(ids) - 1, len(ids) - 1))
    same_kind(ids, "document", name)
    if (twice := first_repeated(ids)) is not None:
        raise InputError("the ranking has this document twice", source=name, document=twice)
    return ids, groups


def _side(own: list[Any], other: list[Any], groups: list[tuple[int, int]]) -> Side:
    """Return one side of the pair that two rankings are; what a depth cuts leaves its group."""
    places = dict(zip(other, range(len(other)), strict=True))
    partners = np.array([places.get(document, -1) for document in own], np.int64)
    bounds: Ints = np.array(groups[: len(own)], np.int64).reshape(-1, 2)
    tops, bottoms = np.ascontiguousarray(np.minimum(bounds, len(own) - 1).T)
    return Side(np.array([0, len(own)]), partners, tops, bottoms)


@dataclass(frozen=True, eq=False, repr=False)
class RankingCorrelations(_OfQueries):
    """Rank correlation of the queries that two runs have.

    Values are float64 ``(queries,)``, NaN where fewer than two documents are in both rankings, or
    (ties b) one ranking has them all at one rank.
    """

    tau: Floats  # Kendall's, of the documents that both rankings have
    tau_ap: Floats  # the AP correlation of the second ranking with the first; with ties b symmetric
    documents: Ints  # how many these are


def ranking_correlation(
    run_a: Rankings,
    run_b: Rankings,
    depth: int | None = None,
    ties: str = "id",
    *,
    columns: Columns = None,
) -> RankingCorrelations:
    """Compare two systems by the rank correlation of their rankings, query by query.

    Documents that only one of them retrieved are left out; see `rbo` for a comparison that is
    lower with each of these.

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
    >>> found.documents.tolist(), found.tau.round(4).tolist(), found.tau_ap.round(4).tolist()
    ([4], [0.6667], [0.3333])
    """
    check_choice("ties", ties, ("id", "a", "b"))
    runs, queries = _shared_queries(run_a, run_b, depth, columns)
    documents, values = np.empty(len(queries), np.int64), np.empty((2, len(queries)))
    for pairs in pair_rankings(runs, queries, depth, tied=ties != "id"):
        block = slice(pairs.first, pairs.last)
        common = _of_common(pairs, by_score=ties != "id")
        documents[block] = np.diff(common.starts)
        variant = "b" if ties == "b" else "a"
        values[0, block] = common.kendall_tau(variant)
        values[1, block] = common.ap_correlation(variant)
    return RankingCorrelations(queries, values[0], values[1], documents)


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
    original: Rankings,
    reproduced: Rankings,
    depth: int | None = 1000,
    *,
    columns: Columns = None,
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
    values = np.empty(len(queries))
    for pairs in pair_rankings(runs, queries, depth, tied=False):
        values[pairs.first : pairs.last] = _by_rank(pairs)
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
