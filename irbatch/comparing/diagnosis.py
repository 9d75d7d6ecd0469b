"""What runs and judgments lack: queries without a ranking, documents without a grade."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np

from irbatch.data.column_names import Columns
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures, Rankings, as_qrels, as_run
from irbatch.evaluation.queries import QueryMark
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.evaluation.system_names import name_systems
from irbatch.measures import measure, parse_measures

__all__ = ["JudgedShare", "judged_shares", "missing_queries"]

Runs = Mapping[str, Rankings] | Iterable[Rankings]


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


def missing_queries(
    runs: Mapping[str, Rankings | Results] | Iterable[Rankings | Results],
    qrels: Judgments | None = None,
    *,
    columns: Columns = None,
) -> dict[str, list[Any]]:
    """Tell which queries each system has no ranking for.

    Args:
        runs: system name to rankings or to `Results`, or named ones.
        qrels: the judgments, whose queries are those to answer; default: the queries that any of
            the systems has. Queries come in this order.
        columns: what tables call their columns, see `irbatch.evaluate`.

    Raises:
        InputError: if a system has no name.

    >>> missing_queries({"a": {"q1": {"d": 1}}, "b": {"q1": {"d": 1}, "q2": {"d": 1}}})
    {'a': ['q2'], 'b': []}
    """
    judged = [] if qrels is None else as_qrels(qrels, columns).queries
    known: dict[Any, None] = dict.fromkeys(judged)
    answered: dict[str, set[Any]] = {}
    for name, each in name_systems(runs).items():
        if isinstance(each, Results):
            queries = each.query_ids
            there = ~QueryMark.MISSING.holds(each.marks)
            answered[name] = set(itertools.compress(queries, there))
        else:
            queries = list(as_run(each, name, columns).queries)
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
    check_settings(judged_shares, settings)
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
