"""Rank-biased overlap: how alike two rankings are, the first ranks counting most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.comparing.two_runs import shared_queries
from irbatch.data.column_names import Columns
from irbatch.data.ids import first_repeated, same_kind
from irbatch.engine.overlap import VALUES, VARIANTS, Side, Tables, sum_up
from irbatch.engine.ties import id_texts
from irbatch.errors import InputError, kind_of, many
from irbatch.evaluation.evaluation import Rankings
from irbatch.pack.pairs import check_kinds, pair_rankings, ranking_sizes
from irbatch.runtime.numbers import check_choice, check_number, check_whole

TIES = ("id", *VARIANTS)


class Overlap(NamedTuple):
    """Rank-biased overlap of two rankings.

    Args:
        minimum: if nothing beyond their ends is in both.
        residual: how much more it could be, whatever comes after their ends.
        extrapolated: if the share of common documents stays what it was: the point estimate.
        truncated: the sum over the ranks that both have, nothing beyond: the base.
        evened: extrapolated, the longer one cut where the shorter one ends (equation 23).
        average: average overlap, the mean of X_d / d over the ranks that both have, without p.
    """

    minimum: float
    residual: float
    extrapolated: float
    truncated: float
    evened: float
    average: float

    @property
    def maximum(self) -> float:
        """If all that can be is in both: minimum and residual."""
        return self.minimum + self.residual


class Overlaps(NamedTuple):
    """Rank-biased overlap of the queries that two runs have, in the order of the first.

    The values are those of `Overlap`, float64 ``(queries,)``.
    """

    query_ids: list[Any]
    minimum: Floats
    residual: Floats
    extrapolated: Floats
    truncated: Floats
    evened: Floats
    average: Floats

    @property
    def maximum(self) -> Floats:
        """If all that can be is in both: minimum and residual."""
        return self.minimum + self.residual

    def __repr__(self) -> str:
        low, high = self.mean("minimum"), self.mean("maximum")
        return (
            f"{type(self).__name__} of {many(len(self.query_ids), 'query')}: mean RBO "
            f"{self.mean():.4f} (extrapolated), between {low:.4f} and {high:.4f}"
        )

    def per_query(self, value: str = "extrapolated") -> dict[Any, float]:
        """Return one of the values for each query id."""
        return dict(zip(self.query_ids, self._column(value).tolist(), strict=True))

    def mean(self, value: str = "extrapolated") -> float:
        """Return the mean of one of the values over queries."""
        return math.fsum(self._column(value).tolist()) / len(self.query_ids)

    def _column(self, value: str) -> Floats:
        check_choice("value", value, (*self._fields[1:], "maximum"))
        return getattr(self, value)


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
    _check(p, depth, ties)
    sides = [_flatten(*each) for each in ((first, "first"), (second, "second"))]
    check_kinds(sides[0][0], sides[1][0])
    ids, groups = zip(*((each[:depth], bounds) for each, bounds in sides), strict=True)
    found = sum_up(
        _side(ids[0], ids[1], groups[0]), _side(ids[1], ids[0], groups[1]), p,
        Tables.of(float(p), len(ids[0]) + len(ids[1])), _variant(ties),
    )  # fmt: skip
    return Overlap(*(value.item() for value in found))


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
        run_a, run_b: `Run`, query to document to score, the path of a run file, or a table.
        p, depth: as in `rbo`.
        ties: as in `rbo`; documents of one score are of equal rank.
        columns: what tables call their columns, see `irbatch.evaluate`.

    Raises:
        InputError: as `rbo`, and if the runs have no query in common, or a score is not a number.

    >>> first = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d1": 1.0}}
    >>> second = {"q1": {"d2": 9.0, "d1": 5.0}, "q2": {"d7": 1.0}}
    >>> {query: round(value, 12) for query, value in overlap(first, second).per_query().items()}
    {'q1': 0.9, 'q2': 0.0}
    """
    _check(p, depth, ties)
    runs, queries = shared_queries(run_a, run_b, columns)
    sizes = sum(ranking_sizes(run, queries, depth) for run in runs)
    tables = Tables.of(float(p), int(np.max(sizes)))
    found = np.empty((VALUES, len(queries)))
    for pairs in pair_rankings(runs, queries, depth, tied=ties != "id"):
        found[:, pairs.first : pairs.last] = sum_up(*pairs.sides, p, tables, _variant(ties))
    return Overlaps(queries, *found)


def _check(p: Any, depth: Any, ties: Any) -> None:
    check_number("p", p, above=0, below=1)
    if depth is not None:
        check_whole("depth", depth, 1)
    check_choice("ties", ties, TIES)


def _variant(ties: str) -> str | None:
    return None if ties == "id" else ties


def _flatten(ranking: Any, name: str) -> tuple[list[Any], list[tuple[int, int]]]:
    """Return a ranking's ids, and for each the ranks that its group takes; refuse repeated ids."""
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Sequence | np.ndarray):
        problem = f"the {name} ranking is a list of ids, not {kind_of(ranking)}"
        raise InputError(problem, source=name)
    ids: list[Any] = []
    groups: list[tuple[int, int]] = []
    for each in ranking.tolist() if isinstance(ranking, np.ndarray) else ranking:
        if isinstance(each, AbstractSet):
            tied = list(each)
            same_kind(tied, "document", name)
            texts = id_texts(tied)
            ids += [tied[i] for i in sorted(range(len(tied)), key=texts.__getitem__, reverse=True)]
            groups += [(len(ids) - len(tied), len(ids) - 1)] * len(tied)
        else:
            ids.append(each)
            groups.append((len(ids) - 1, len(ids) - 1))
    same_kind(ids, "document", name)
    if (twice := first_repeated(ids)) is not None:
        raise InputError("the ranking has this document twice", source=name, document=twice)
    return ids, groups


def _side(own: list[Any], other: list[Any], groups: list[tuple[int, int]]) -> Side:
    """Return one side of the pair that two rankings are; what a depth cuts leaves its group."""
    places = dict(zip(other, range(len(other)), strict=True))
    partners = np.array([places.get(each, -1) for each in own], np.int64)
    bounds: Ints = np.array(groups[: len(own)], np.int64).reshape(-1, 2)
    tops, bottoms = np.ascontiguousarray(np.minimum(bounds, len(own) - 1).T)
    return Side(np.array([0, len(own)]), partners, tops, bottoms)
