"""Reproduced runs against the original ones: rankings, values, and the effect between systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.rankings import overlap, tau_union
from irbatch.comparing.read import align
from irbatch.data.runs import Run
from irbatch.errors import InputError, many, shown
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures, Rankings, as_run
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.measures import Measure, parse_measures
from irbatch.report.document import Cell, Column, Document, Record, Row, Table
from irbatch.report.numbers import check_digits, show, show_change, show_p
from irbatch.report.reported import Reported
from irbatch.runtime.numbers import check_number, check_whole
from irbatch.statistics.agreement import (
    delta_relative_improvement,
    effect_ratio,
    paired_p,
    rmse,
    unpaired_p,
)

LEVEL = 0.05  # p-values are not rounded across it
BASELINE, ADVANCED = "baseline", "advanced"
NAMES = (
    *("measure", "run", "queries", "queries_reproduced", "original", "reproduced", "rmse", "p"),
    *("tau_union", "rbo", "effect_ratio", "delta_relative_improvement"),
)


class _Shown(NamedTuple):
    """A column of the table for people, and what it means."""

    heading: str
    meaning: str
    descends: bool = False  # whether more is nearer to the original


COLUMNS = {
    "original": _Shown("original", "", True),
    "reproduced": _Shown("reproduced", "", True),
    "rmse": _Shown("RMSE", "root mean square error of the queries' values"),
    "p": _Shown("p", "of the difference between original and reproduced values", True),
    "tau_union": _Shown(
        "τ union", "Kendall's tau union of the rankings, whatever the measure", True
    ),
    "rbo": _Shown("RBO", "rank-biased overlap of the rankings", True),
    "effect_ratio": _Shown("ER", "effect ratio, 1 for the original improvement on the baseline"),
    "delta_relative_improvement": _Shown(
        "ΔRI", "relative improvement on the baseline, the original less the reproduced one"
    ),
}
OF_SAME_QUERIES = ("rmse", "tau_union", "rbo")
OF_EFFECTS = ("effect_ratio", "delta_relative_improvement")


@dataclass(frozen=True, eq=False, repr=False)
class Reproducibility(Reported):
    """What `reproducibility` returns: numbers, and one table of them in every form.

    The tables for people have as option `digits`, how many decimals (default: 4); `to_csv` and
    frames have one line a run and measure.

    Attributes:
        runs: ``["baseline"]``, or with ``"advanced"`` after it.
        measures: names.
        n_queries: of each run, how many the original and the reproduced values are of.
        means: float64 ``(runs, 2, measures)``, original and reproduced.
        rmse: float64 ``(runs, measures)``: the root mean square error of the queries' values; NaN
            on other judgments, as are the next two.
        tau_union, rbo: of each run's rankings, query to value; see `tau_union` and
            `overlap` (extrapolated) of `irbatch.comparing.rankings`.
        p_values: float64 ``(runs, measures)``, of Student's t-test, two-sided, of the difference
            between original and reproduced values: paired of the same queries, else unpaired.
        effect_ratio, delta_relative_improvement: float64 ``(measures,)``; NaN without advanced
            runs. An effect that is reproduced exactly has the ratio 1, and a difference of 0.
        replicated: whether the reproduced runs have judgments of their own.
        settings: how the numbers came about.
    """

    runs: list[str]
    measures: list[str]
    n_queries: list[tuple[int, int]]
    means: Floats
    rmse: Floats
    tau_union: list[dict[Any, float]]
    rbo: list[dict[Any, float]]
    p_values: Floats
    effect_ratio: Floats
    delta_relative_improvement: Floats
    replicated: bool
    settings: dict[str, str]

    _label: ClassVar[str] = "tab:reproducibility"

    def __repr__(self) -> str:
        kind = "Replication" if self.replicated else "Reproduction"
        return f"{kind} of {', '.join(self.runs)} on {', '.join(self.measures)}"

    def _document(self, form: str, *, digits: int = 4) -> Document:
        return _make_document(self, digits)

    def _everything(self) -> Record:
        rankings = {
            run: {"tau_union": _texts(self.tau_union[i]), "rbo": _texts(self.rbo[i])}
            for i, run in enumerate(self.runs if not self.replicated else [])
        }
        return {
            "replicated": self.replicated,
            "settings": dict(self.settings),
            "values": list_records(self)[1],
            "rankings": rankings,
        }

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return list_records(self)


def list_records(found: Reproducibility) -> tuple[Sequence[str], list[Record]]:
    """Return columns and records: one a measure and run."""
    rows: list[Record] = []
    for k, measure in enumerate(found.measures):
        for i, run in enumerate(found.runs):
            rankings = [math.nan, math.nan]
            if not found.replicated:
                rankings = [_mean(found.tau_union[i]), _mean(found.rbo[i])]
            effects = (found.effect_ratio[k], found.delta_relative_improvement[k])
            values = [
                *(measure, run, *found.n_queries[i], *found.means[i, :, k].tolist()),
                *(float(found.rmse[i, k]), float(found.p_values[i, k]), *rankings),
                *(float(each) if run == ADVANCED else math.nan for each in effects),
            ]
            rows.append(dict(zip(NAMES, values, strict=True)))
    return NAMES, rows


def _make_document(found: Reproducibility, digits: int) -> Document:
    """Return a table of one row a measure and run."""
    check_digits(digits)
    absent = (*(OF_SAME_QUERIES if found.replicated else ()),
              *(OF_EFFECTS if ADVANCED not in found.runs else ()))  # fmt: skip
    columns = {name: each for name, each in COLUMNS.items() if name not in absent}
    heads = [Column("measure", "name"), Column("run", "name")]
    heads += [Column(each.heading, descends=each.descends) for each in columns.values()]
    rows = []
    for each in list_records(found)[1]:
        cells = [Cell(_show(name, each[name], digits), each[name]) for name in columns]
        rows.append(Row([Cell(each["measure"]), Cell(each["run"]), *cells]))
    title = f"{'Replication' if found.replicated else 'Reproduction'} of an experiment"
    legend = [(each.heading, each.meaning) for each in columns.values() if each.meaning]
    settings = " | ".join(f"{name}: {value}" for name, value in found.settings.items())
    return Document(title, _caption(found), legend, [Table(title, heads, rows)], settings)


def _show(name: str, value: float, digits: int) -> str:
    if name == "p":
        return show_p(value, LEVEL)
    return show_change(value, digits) if name in OF_EFFECTS[1:] else show(value, digits)


def _caption(found: Reproducibility) -> str:
    """Say of how many queries values and rankings are."""
    said = []
    for i, run in enumerate(found.runs):
        original, reproduced = found.n_queries[i]
        if found.replicated:
            queries = f"{many(original, 'query')}, and {reproduced} of the other judgments"
        else:
            queries = many(original, "query")
            if (ranked := len(found.tau_union[i])) != original:
                queries += f"; rankings of {many(ranked, 'query')}"
        said.append(f"{run.capitalize()}: {queries}.")
    return " ".join(said)


def _mean(values: dict[Any, float]) -> float:
    """Return the mean over queries that have a value; NaN of none."""
    known = [each for each in values.values() if not math.isnan(each)]
    return math.fsum(known) / len(known) if known else math.nan


def _texts(values: dict[Any, float]) -> dict[str, float]:
    """Name queries as JSON does."""
    return {str(query): value for query, value in values.items()}


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
    **settings: Unpack[EvaluateOptions],
) -> Reproducibility:
    """Tell how close reproduced runs come to the original ones, and to the effect between them.

    Of each run, original and reproduced, it compares the rankings (Kendall's tau union, rank-biased
    overlap) and the queries' values (RMSE, Student's paired t-test); and with an advanced run its
    improvement on the baseline (effect ratio, delta relative improvement). On judgments of another
    collection rankings and queries have nothing in common: then the t-test is unpaired.

    The numbers are those of repro_eval 0.5, but for these. Its tau union is in the order of
    document ids, so that it depends on names, and fails where rankings differ in length. Its
    rank-biased overlap is below 1 even of rankings that are alike if they are shorter than 1,000;
    the two agree where both are as long. It takes the order of a file for that of rankings, where
    here scores are. p-values of values that are alike are 1, of any number of measures.

    Args:
        qrels: judgments, in any form of `irbatch.evaluate`.
        baseline, advanced: the original run and the reproduced one, each a `Run`, query to document
            to score, the path of a run file, or a table.
        measures, cutoffs: as in `irbatch.evaluate`; each a mean over queries.
        reproduced_qrels: judgments of the reproduced runs, if these are of another collection.
        depth: of tau union and overlap: leave out documents beyond this rank.
        p: persistence of rank-biased overlap.
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
        told |= {"depth": str(depth), "RBO": f"p {p:g}"}
    else:
        told["test"] = "unpaired t-test, equal variances"
    return Reproducibility(
        runs=list(pairs),
        measures=[str(each) for each in wanted],
        n_queries=[(len(each.original), len(each.reproduced)) for each in sides],
        means=means.swapaxes(0, 1),
        rmse=np.array([rmse(*each) if same else nothing for each in sides]),
        tau_union=[tau_union(*each, depth) for each in pairs.values() if same],
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
