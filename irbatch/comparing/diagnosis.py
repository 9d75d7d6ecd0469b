"""Where a difference comes from: the queries that make it, and the holes in runs and judgments."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from irbatch.comparing.compared import Compared, find_system, query_values
from irbatch.engine.ties import by_id
from irbatch.errors import InputError
from irbatch.evaluation.counts import QueryMark
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import (
    Cutoffs,
    Judgments,
    Measures,
    Rankings,
    as_qrels,
    as_run,
    evaluate_runs,
)
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.evaluation.system_names import name_systems
from irbatch.measures import measure, parse_measures
from irbatch.runtime.checks import check_whole, read_numbers

__all__ = [
    "JudgedShare",
    "QueryDifference",
    "RankedRelevant",
    "judged_shares",
    "largest_differences",
    "missing_queries",
]

Runs = Mapping[str, Rankings] | Iterable[Rankings]


class RankedRelevant(NamedTuple):
    """A relevant document and its rank, from 1, with two systems; None: not retrieved."""

    document: Any
    grade: float
    first: int | None
    second: int | None


class QueryDifference(NamedTuple):
    """A query's values with two systems, and the first less the second.

    Relevant documents, if judgments and runs were given: those ranked highest by either first.
    """

    query: Any
    first: float
    second: float
    difference: float
    relevant: tuple[RankedRelevant, ...] | None = None


class JudgedShare(NamedTuple):
    """A mean, and how much of what it was computed from is judged.

    Args:
        value: the measure's mean.
        judged, least: the mean and the smallest share of judged documents, to the cutoff.
        holes: queries with an unjudged document, or none at all, up to the cutoff.
    """

    system: str
    measure: str
    value: float
    judged: float
    least: float
    holes: int


def largest_differences(
    comparison: Compared,
    a: str,
    b: str,
    measure: str,
    n: int = 10,
    qrels: Judgments | None = None,
    runs: Runs | None = None,
    rel: float | None = None,
) -> list[QueryDifference]:
    """List the queries on which two systems differ most, the largest difference first.

    Args:
        comparison: what `irbatch.compare` returned.
        a, b: the systems; any two, whether or not they were tested against each other.
        measure: one of the comparison's, in any spelling.
        n: how many queries at most; those without a difference are left out.
        qrels, runs: what was compared. Given both, each query comes with its relevant documents
            and their ranks with both systems, in trec_eval's order.
        rel: the least relevant grade; default the measure's own, or 1.

    Raises:
        InputError: if a system or the measure is unknown, `n` is below 1, runs lack one of the
            systems, or only one of `qrels` and `runs` is given.

    >>> from irbatch.comparing import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> runs = {"new": {"q1": {"d1": 2, "d3": 1}, "q2": {"d2": 1}},
    ...         "old": {"q1": {"d1": 1, "d3": 2}, "q2": {"d2": 1}}}
    >>> compared = compare(qrels, runs, "RR")
    >>> [row] = largest_differences(compared, "new", "old", "RR", qrels=qrels, runs=runs)
    >>> row.query, row.difference, row.relevant[0].first, row.relevant[0].second
    ('q1', 0.5, 1, 2)
    """
    check_whole("n", n, 1)
    if (qrels is None) != (runs is None):
        raise InputError("ranks take both qrels= and runs=")
    first, second = query_values(comparison, a, b, measure)
    difference = first - second
    order = np.argsort(-np.abs(difference), kind="stable")
    worth = [row for row in order.tolist() if abs(difference[row]) > 0][:n]
    numbers = np.stack([first, second, difference], axis=1).tolist()
    rows = [QueryDifference(comparison.query_ids[row], *numbers[row]) for row in worth]
    if qrels is None or runs is None:
        return rows
    least = _least_grade(measure) if rel is None else rel
    named = name_systems(runs)
    names = list(named)
    pair = [as_run(named[names[find_system(names, name)]], name) for name in (a, b)]
    ranks = _rank_relevant([row.query for row in rows], qrels, pair, least)
    return [row._replace(relevant=each) for row, each in zip(rows, ranks, strict=True)]


def missing_queries(
    runs: Mapping[str, Rankings | Results] | Iterable[Rankings | Results],
    qrels: Judgments | None = None,
) -> dict[str, list[Any]]:
    """Tell which queries each system has no ranking for.

    Args:
        runs: system name to rankings or to `Results`, or named ones.
        qrels: the judgments, whose queries are those to answer; default: the queries that any of
            the systems has. Queries come in this order.

    Raises:
        InputError: if a system has no name.

    >>> missing_queries({"a": {"q1": {"d": 1}}, "b": {"q1": {"d": 1}, "q2": {"d": 1}}})
    {'a': ['q2'], 'b': []}
    """
    known: dict[Any, None] = {} if qrels is None else dict.fromkeys(as_qrels(qrels).queries)
    answered: dict[str, set[Any]] = {}
    for name, each in name_systems(runs).items():
        if isinstance(each, Results):
            queries = each.query_ids
            there = ~QueryMark.MISSING.holds(each.marks)
            answered[name] = set(itertools.compress(queries, there))
        else:
            queries = list(as_run(each, name).queries)
            answered[name] = set(queries)
        if qrels is None:
            known.update(dict.fromkeys(queries))
    return {
        name: [query for query in known if query not in have] for name, have in answered.items()
    }


def judged_shares(
    qrels: Judgments,
    runs: Runs,
    measures: Measures,
    cutoffs: Cutoffs = None,
    **settings: Unpack[EvaluateOptions],
) -> list[JudgedShare]:
    """Evaluate systems, and put beside each mean how much of what it looked at is judged.

    A measure takes unjudged documents for not relevant: a system with holes among its first
    documents is not known to be as bad as it looks.

    Args:
        qrels, runs, measures, cutoffs, **settings: as in `irbatch.evaluate_runs`.

    Returns, Raises: one row a system and measure; errors as of `irbatch.evaluate_runs`.

    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> runs = {"seen": {"q1": {"d1": 2, "d2": 1}}, "new": {"q1": {"d7": 2, "d1": 1}}}
    >>> [(row.system, row.value, row.judged) for row in judged_shares(qrels, runs, "P@2")]
    [('seen', 0.5, 1.0), ('new', 0.5, 0.5)]
    """
    wanted = parse_measures(measures, cutoffs)
    judged = measure("Judged")
    shares = [judged if each.cutoff is None else judged @ each.cutoff for each in wanted]
    rows = []
    for name, found in evaluate_runs(qrels, runs, [*wanted, *shares], **settings).items():
        for each, share in zip(wanted, shares, strict=True):
            values = found.values[:, found.measures.index(str(share))]
            values = values[~np.isnan(values)]
            least = float(values.min(initial=1.0))
            holes = int(np.count_nonzero(values < 1))
            rows.append(JudgedShare(name, str(each), found[each], found[share], least, holes))
    return rows


def _least_grade(name: str) -> float:
    wanted = measure(str(name))
    rel = wanted["rel"] if "rel" in wanted.declaration.parameters else None
    return 1.0 if rel is None else float(rel)


def _rank_relevant(
    queries: Sequence[Any], qrels: Judgments, runs: Sequence[Any], rel: float
) -> list[tuple[RankedRelevant, ...]]:
    """Rank the relevant documents of some queries with two systems."""
    judged = as_qrels(qrels)
    rows = {query: row for row, query in enumerate(judged.queries)}
    grades = judged.grades
    found = []
    for query in queries:
        if query not in rows:
            raise InputError("the judgments don't have this query", source="qrels", query=query)
        row = rows[query]
        documents, part = judged.documents[row], slice(judged.starts[row], judged.starts[row + 1])
        ranks = [_ranks(run, query) for run in runs]
        ranked = [
            RankedRelevant(document, grade, ranks[0].get(document), ranks[1].get(document))
            for document, grade in zip(documents, grades[part].tolist(), strict=True)
            if grade >= rel
        ]
        found.append(tuple(sorted(ranked, key=_highest)))
    return found


def _ranks(run: Any, query: Any) -> dict[Any, int]:
    if query not in run.queries:
        return {}
    ordered = order_documents(run.rankings[query], query, run.name)
    return {document: rank for rank, document in enumerate(ordered, 1)}


def _highest(row: RankedRelevant) -> tuple[float, float]:
    ranks = [rank for rank in (row.first, row.second) if rank is not None]
    return min(ranks, default=float("inf")), -row.grade


def order_documents(
    documents: Mapping[Any, Any], query: object = None, system: str | None = None
) -> list[Any]:
    """List a query's documents from the first to the last: trec_eval's order.

    By score, those of one score by id, both descending; ids that are numbers as their digits.

    >>> order_documents({"d1": 0.5, "d2": 0.7, "d3": 0.5})
    ['d2', 'd3', 'd1']
    """
    ids = list(documents)
    names = ((query, document) for document in ids)
    scores = read_numbers("score", list(documents.values()), names, source="run", path=system)
    order = by_id.order_documents(np.zeros(len(ids), np.int64), scores, by_id.id_texts(ids))
    return [ids[place] for place in order.tolist()]
