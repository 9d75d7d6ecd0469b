"""Reproduced runs against the original ones: rankings, values, and the effect between systems.

Source: T. Breuer, N. Ferro, N. Fuhr, M. Maistro, T. Sakai, P. Schaer and I. Soboroff, *How to
measure the reproducibility of system-oriented IR experiments*, SIGIR 2020.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.aligning import align
from irbatch.comparing.rank_biased_overlap import overlap
from irbatch.comparing.reproduced import ADVANCED, BASELINE, Reproducibility
from irbatch.comparing.tau_union import UNIONS, tau_union
from irbatch.data.runs import Run
from irbatch.errors import InputError, many, shown
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures, Rankings, as_run
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.measures import Measure, parse_measures
from irbatch.runtime.numbers import check_choice, check_number, check_whole
from irbatch.statistics.reproducibility import (
    delta_relative_improvement,
    effect_ratio,
    paired_p,
    rmse,
    unpaired_p,
)

__all__ = ["Reproducibility", "reproducibility"]

SIDES = ("original", "reproduced")


class _Sides(NamedTuple):
    """Values of a run, original and reproduced: float64 ``(queries, measures)`` each."""

    original: Floats
    reproduced: Floats


def reproducibility(
    qrels: Judgments,
    baseline: tuple[Rankings, Rankings],
    advanced: tuple[Rankings, Rankings] | None = None,
    measures: Measures = "nDCG@10 AP",
    cutoffs: Cutoffs = None,
    *,
    reproduced_qrels: Judgments | None = None,
    depth: int = 1000,
    p: float = 0.95,
    union: str = "rank",
    **settings: Unpack[EvaluateOptions],
) -> Reproducibility:
    """Tell how close reproduced runs come to the original ones, and to the effect between them.

    Of each run, original and reproduced, it compares the rankings (Kendall's tau union, rank-biased
    overlap) and the queries' values (RMSE, Student's paired t-test); and with an advanced run its
    improvement on the baseline (effect ratio, delta relative improvement). On judgments of another
    collection rankings and queries have nothing in common: then the t-test is unpaired.

    The numbers are those of repro_eval 0.5, but for these. Its tau union is ``union="id"``, and
    fails where rankings differ in length. Its rank-biased overlap is below 1 even of rankings that
    are alike if they are shorter than 1,000; the two agree where both are as long. It takes the
    order of a file for that of rankings, where here scores are. p-values of values that are alike
    are 1, of any number of measures.

    Args:
        qrels: judgments, in any form of `irbatch.evaluate`.
        baseline, advanced: the original run and the reproduced one, each a `Run`, query to document
            to score, the path of a run file, or a table.
        measures, cutoffs: as in `irbatch.evaluate`; each a mean over queries.
        reproduced_qrels: judgments of the reproduced runs, if these are of another collection.
        depth: of tau union and overlap: leave out documents beyond this rank.
        p: persistence of rank-biased overlap.
        union: the order of tau's union, see `irbatch.comparing.correlation.tau_union`.
        **settings: the keyword arguments of `irbatch.evaluate`.

    Raises:
        InputError: if a run is no pair, a pair has fewer than two queries or none in common, a
            measure is no mean over queries, and as `irbatch.evaluate`.

    >>> qrels = {q: {"d1": 1} for q in "abcd"}
    >>> low = {q: {"d2": 3, "d3": 2, "d1": 1} for q in qrels}
    >>> high = {**low, "a": {"d1": 1}, "b": {"d1": 1}}
    >>> less = {**low, "a": {"d1": 1}}
    >>> found = reproducibility(qrels, (low, low), (high, less), "P@1")
    >>> found.effect_ratio.tolist(), found.rmse.tolist()
    ([0.5], [[0.0], [0.5]])
    """
    check_settings(reproducibility, settings)
    check_whole("depth", depth, 1)
    check_number("p", p, above=0, below=1)
    check_choice("union", union, UNIONS)
    wanted = _read_measures(measures, cutoffs)
    columns = settings.get("columns")
    reading: dict[str, Any] = {"columns": columns, "order_by": settings.pop("order_by", "score")}
    pairs = {BASELINE: _as_pair(BASELINE, baseline, reading)}
    if advanced is not None:
        pairs[ADVANCED] = _as_pair(ADVANCED, advanced, reading)
    same = reproduced_qrels is None
    judged = (qrels, qrels) if reproduced_qrels is None else (qrels, reproduced_qrels)
    evaluated = [
        {
            f"{side} {name}": evaluate(judgments, run, wanted, **settings)
            for side, judgments, run in zip(SIDES, judged, pair, strict=True)
        }
        for name, pair in pairs.items()
    ]
    sides = [_Sides(*align(each).values) if same else _apart(each) for each in evaluated]
    # (2, runs, measures): original and reproduced.
    means = np.array([[_means(values) for values in side] for side in zip(*sides, strict=True)])
    nothing = np.full(len(wanted), np.nan)
    effects = [
        nothing if advanced is None else find(*means)
        for find in (effect_ratio, delta_relative_improvement)
    ]
    told = {**next(iter(evaluated[0].values())).settings, "test": "paired t-test"}
    if same:
        told |= {"depth": str(depth), "RBO": f"p {p:g}", "tau union": f"by {union}"}
    else:
        told["test"] = "unpaired t-test, equal variances"
    return Reproducibility(
        runs=list(pairs),
        measures=[str(each) for each in wanted],
        n_queries=[(len(each.original), len(each.reproduced)) for each in sides],
        means=means.swapaxes(0, 1),
        rmse=np.array([rmse(*each) if same else nothing for each in sides]),
        tau_union=[tau_union(*each, depth, union) for each in pairs.values() if same],
        rbo=[overlap(*each, p, depth).per_query() for each in pairs.values() if same],
        p_values=np.array([(paired_p if same else unpaired_p)(*each) for each in sides]),
        effect_ratio=effects[0],
        delta_relative_improvement=effects[1],
        replicated=not same,
        settings=told,
    )


def _read_measures(measures: Measures, cutoffs: Cutoffs) -> tuple[Measure, ...]:
    """Return the measures; refuse those that are no means over queries."""
    wanted = parse_measures(measures, cutoffs)
    for each in wanted:
        if each.aggregate != "mean":
            problem = f"{each} is no mean over queries, of which effects are: leave it out"
            raise InputError(problem, source="measures", value=str(each))
    return wanted


def _as_pair(name: str, pair: Any, reading: Mapping[str, Any]) -> tuple[Run, Run]:
    """Return the original and the reproduced run, read once."""
    if not isinstance(pair, tuple | list) or len(pair) != len(SIDES):
        problem = f"{name} is two runs, (original, reproduced), not {shown(pair)}"
        raise InputError(problem, source=name, value=pair)
    return as_run(pair[0], **reading), as_run(pair[1], **reading)


def _apart(results: dict[str, Results]) -> _Sides:
    """Return values of either side's own queries."""
    sides = []
    for name, each in results.items():
        known = each.values[~np.isnan(each.values).any(axis=1)]
        if len(known) < 2:
            problem = f"{many(len(known), 'query')} of the {name} run: a test takes two"
            raise InputError(problem, source="results")
        sides.append(known)
    return _Sides(*sides)


def _means(values: Floats) -> list[float]:
    return [math.fsum(column) / len(column) for column in values.T.tolist()]
