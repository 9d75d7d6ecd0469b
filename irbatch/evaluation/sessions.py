"""Values of sessions: several queries that one person asked, one after the other."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from irbatch.errors import InputError, kind_of
from irbatch.evaluation.results import Results
from irbatch.measures import Measure
from irbatch.runtime.numbers import check_number


def session_dcg(
    results: Results,
    sessions: Mapping[Hashable, Sequence[Hashable]],
    base: float = 4.0,
    measure: str | Measure | None = None,
) -> dict[Hashable, float]:
    """Return the session DCG (sDCG) of each session: later queries are worth less.

    That is the sum over its queries of DCG / (1 + log_base(q)), q the query's number from 1.

    Args:
        results: what `irbatch.evaluate` returns, with DCG of any gain, discount and cutoff.
        sessions: session id to its query ids, in the order that they were asked in; one may be
            asked again.
        base: of the logarithm, above 1; the larger, the more patient is who asks.
        measure: the measure whose values are discounted; default: the DCG among the results.

    Raises:
        InputError: if a session is no list of queries or has none, a query has no value, there is
            not one DCG, or the base is not above 1.
        KeyError: if `measure` is not among the results.

    Source: K. Järvelin, S. L. Price, L. M. L. Delcambre and M. L. Nielsen, *Discounted cumulated
    gain based evaluation of multiple-query IR sessions*, ECIR 2008.

    >>> import irbatch
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1, "d2": 2}}
    >>> run = {"q1": {"d3": 2.0, "d1": 1.0}, "q2": {"d2": 3.0, "d1": 2.0}}
    >>> results = irbatch.evaluate(qrels, run, "DCG@10")
    >>> found = session_dcg(results, {"s1": ["q1", "q2"], "s2": ["q2"]})
    >>> {session: round(value, 6) for session, value in found.items()}
    {'s1': 2.384883, 's2': 2.63093}
    """
    check_number("base", base, above=1)
    if not isinstance(results, Results):
        problem = f"results are what irbatch.evaluate returns, not {kind_of(results)}"
        raise InputError(problem, source="results")
    if not isinstance(sessions, Mapping):
        problem = f"sessions are a mapping of ids to query ids, not {kind_of(sessions)}"
        raise InputError(problem, source="sessions", value=sessions)
    values = results.per_query(_only_dcg(results) if measure is None else measure)
    return {session: _discounted(session, sessions[session], values, base) for session in sessions}


def _only_dcg(results: Results) -> str:
    """Return the name of the DCG among the results."""
    found = [name for name, each in zip(results.measures, results.columns, strict=True)
             if each.name == "DCG"]  # fmt: skip
    if len(found) != 1:
        problem = f"the results have {len(found)} of DCG, not one: say which with measure="
        raise InputError(problem, source="results", value=list(results.measures))
    return found[0]


def _discounted(
    session: Hashable, queries: Sequence[Hashable], values: Mapping[Hashable, float], base: float
) -> float:
    """Add up the values of a session's queries, each discounted."""
    if isinstance(queries, str | bytes) or not isinstance(queries, Sequence | np.ndarray):
        problem = f"session {session!r} is a list of query ids, not {kind_of(queries)}"
        raise InputError(problem, source="sessions", value=queries)
    if not len(queries):
        raise InputError(f"session {session!r} has no queries", source="sessions")
    total = 0.0
    listed = queries.tolist() if isinstance(queries, np.ndarray) else queries
    for number, query in enumerate(listed, 1):
        value = values.get(query, math.nan) if isinstance(query, Hashable) else math.nan
        if math.isnan(value):
            problem = f"a query of session {session!r} has no value among the results"
            raise InputError(problem, source="sessions", query=query)
        total += value / (1.0 + math.log(number, base))
    return total
