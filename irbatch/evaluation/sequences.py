"""Rankings evaluated several times or together: by groups of documents, repeated, by session."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from irbatch.data.groups import Groups
from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.evaluation.pipeline import average
from irbatch.evaluation.results import Results, SystemResults
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.measures import Measure
from irbatch.measures.catalogue.items import IN_TURN
from irbatch.runtime.numbers import check_number
from irbatch.runtime.progress import progress_on_bar


def evaluate_groups(
    qrels: Judgments,
    run: Rankings,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    groups: Any,
    **settings: Unpack[EvaluateOptions],
) -> SystemResults:
    """Return the results of each group of relevant documents, such as popular and rare items.

    Of a group only its own documents are relevant: others keep their ranks, and have grade 0. A
    query without relevant documents of the group is left out of its means.

    Args:
        qrels, run, measures, cutoffs, **settings: as in `irbatch.evaluate`; `no_relevant` is
            ``"skip"`` by default.
        groups: document to the name of its group, or `irbatch.Groups`; a document that is not
            there belongs to none, one of several groups to each.

    Raises:
        InputError: as `irbatch.evaluate` and `irbatch.Groups`.

    >>> qrels, run = {"u": {"hit": 1, "rare": 1}}, {"u": {"hit": 3.0, "x": 2.0, "rare": 1.0}}
    >>> found = evaluate_groups(qrels, run, "RR", groups={"hit": "head", "rare": "tail"})
    >>> {name: results["RR"] for name, results in found.items()}
    {'head': 1.0, 'tail': 0.3333333333333333}
    """
    check_settings(evaluate_groups, settings)
    settings.setdefault("no_relevant", "skip")
    evaluation = Evaluation.choose(measures, cutoffs, **settings)
    judgments, ranked = evaluation.judgments(qrels), evaluation.rankings(run)
    documents = [document for of_query in judgments.to_dict().values() for document in of_query]
    groups = groups if isinstance(groups, Groups) else Groups(groups)
    shares, grades = groups.align(documents, every=False), judgments.grades
    results = SystemResults()
    with progress_on_bar("groups", evaluation.progress) as tell:
        for name, belongs in zip(map(str, shares.names), shares.vectors.T > 0, strict=True):
            keeps = (belongs[shares.codes] & (shares.codes >= 0)) | (grades <= 0)
            of_group = evaluation.judgments(judgments.regraded(np.where(keeps, grades, 0.0)))
            results[name] = average(evaluation, of_group, ranked, tell)
            results[name].name = name
            results[name].settings["relevant documents"] = name
    return results


def evaluate_sequences(
    qrels: Judgments,
    runs: Iterable[Rankings],
    measures: Measures,
    cutoffs: Cutoffs = None,
    **settings: Unpack[EvaluateOptions],
) -> Results:
    """Evaluate a system that returns another ranking each time it is asked: its fairness over time.

    The exposure of groups is the mean over a query's rankings, and measures are of that mean.

    Args:
        qrels: as in `irbatch.evaluate`.
        runs: each has one ranking of a query, or none, and is given as to `irbatch.evaluate`.
        measures, cutoffs: measures of exposure, such as ``"EEL@20"``; at full depth k is the
            number of documents in a query's longest ranking.
        **settings: as in `irbatch.evaluate`; `items` are needed, with their `Groups`, and a query
            is missing that has no ranking at all.

    Raises:
        InputError: as `irbatch.evaluate`, and if there are no runs or a measure reads more than
            the exposure of groups.

    >>> import irbatch
    >>> groups = irbatch.Groups({"d1": "A", "d2": "B"}, target={"A": 0.5, "B": 0.5})
    >>> items, qrels = irbatch.Items(groups=groups), {"q": {"d1": 1, "d2": 1}}
    >>> one, other = {"q": {"d1": 2.0, "d2": 1.0}}, {"q": {"d1": 1.0, "d2": 2.0}}
    >>> for runs in ([one], [one, other]):
    ...     results = evaluate_sequences(qrels, runs, "EEL(discount=log2)@2", items=items)
    ...     print(round(results["EEL(discount=log2)@2"], 4))
    0.0681
    0.0
    """
    check_settings(evaluate_sequences, settings)
    evaluation = Evaluation.choose(measures, cutoffs, **settings)
    for measure in evaluation.measures:
        if measure.name not in IN_TURN:
            problem = (
                f"{measure} is not of the exposure of groups alone, as {', '.join(IN_TURN)} are"
            )
            hint = "evaluate each run with irbatch.evaluate"
            raise InputError(f"{problem}: {hint}", source="measures", value=str(measure))
    judgments = evaluation.judgments(qrels)
    if isinstance(runs, str | os.PathLike | Run | Mapping) or not isinstance(runs, Iterable):
        raise InputError(f"runs are several, in a list, not {kind_of(runs)}", source="run")
    rankings = [evaluation.rankings(run).prepared() for run in runs]
    if not rankings:
        raise InputError("there are no runs", source="run")
    evaluation = evaluation._replace(repeated=rankings)
    with progress_on_bar("evaluating", evaluation.progress) as tell:
        results = average(evaluation, judgments, _one_each(rankings), tell)
    results.settings["rankings of a query"] = f"{len(rankings)}, of which the mean exposure"
    return results


def _one_each(rankings: Sequence[Run]) -> Run:
    """Return one ranking of each query, which is empty only if all of its are."""
    first, table = rankings[0], rankings[0].as_table()
    queries = dict.fromkeys(query for run in rankings for query in run.queries)
    if len(queries) == len(first) and (table.ends > table.begins).all():
        return first
    one_each: dict[Any, Any] = {}
    for run in rankings:
        for query in run.queries:
            one_each[query] = one_each.get(query) or run.rankings[query]
    return Run(one_each, first.name)


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
    if measure is None:
        names = [column for column in results.columns if column.name == "DCG"]
        if len(names) != 1:
            problem = f"the results have {len(names)} of DCG, not one: say which with measure="
            raise InputError(problem, source="results", value=list(results.measures))
        measure = names[0]
    values = results.per_query(measure)
    totals: dict[Hashable, float] = {}
    for session, queries in sessions.items():
        if isinstance(queries, str | bytes) or not isinstance(queries, Sequence | np.ndarray):
            problem = f"session {session!r} is a list of query ids, not {kind_of(queries)}"
            raise InputError(problem, source="sessions", value=queries)
        if not len(queries):
            raise InputError(f"session {session!r} has no queries", source="sessions")
        totals[session] = 0.0
        for number, query in enumerate(queries, 1):
            value = values.get(query, math.nan) if isinstance(query, Hashable) else math.nan
            if math.isnan(value):
                problem = f"a query of session {session!r} has no value among the results"
                raise InputError(problem, source="sessions", query=query)
            totals[session] += value / (1.0 + math.log(number, base))
    return totals
