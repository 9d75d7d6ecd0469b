"""Reproduced runs against the original ones: rankings, values, and the effect between systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.rankings import mean_of, overlap, tau_union
from irbatch.comparing.read import align
from irbatch.data.runs import Run
from irbatch.errors import InputError, many, shown
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures, Rankings, as_run
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.measures import parse_measures
from irbatch.report import Reported
from irbatch.report.document import Column, Document, Record, list_records, make_table
from irbatch.report.text import check_digits, show, show_change, show_p
from irbatch.runtime.numbers import check_number, check_whole
from irbatch.statistics.agreement import effects, paired_p, rmse

LEVEL = 0.05  # p-values are not rounded across it
BASELINE, ADVANCED = "baseline", "advanced"


@dataclass(frozen=True, eq=False, repr=False)
class Reproducibility(Reported):
    """What `reproducibility` returns: numbers, and one table of them in every form.

    The tables for people have as option `digits`, how many decimals (default: 4); `to_csv` and
    frames have one line a run and measure. Numbers are float64.
    """

    runs: list[str]  # ["baseline"], or with "advanced" after it
    measures: list[str]
    n_queries: list[int]  # of each run: those that both its original and its reproduction have
    means: Floats  # (runs, 2, measures), original and reproduced
    rmse: Floats  # (runs, measures): root mean square error of the queries' values
    tau_union: list[dict[Any, float]]  # of each run's rankings, query to value; see `rankings`
    rbo: list[dict[Any, float]]  # likewise, extrapolated
    # (runs, measures): of Student's paired t-test, two-sided, of the difference between original
    # and reproduced values.
    p_values: Floats
    # (measures,), NaN without advanced runs. Reproduced exactly an effect has the ratio 1, and the
    # other is 0.
    effect_ratio: Floats
    delta_relative_improvement: Floats
    settings: dict[str, str]  # how the numbers came about

    _label: ClassVar[str] = "tab:reproducibility"

    def __repr__(self) -> str:
        return f"Reproduction of {', '.join(self.runs)} on {', '.join(self.measures)}"

    def _document(self, form: str, *, digits: int = 4) -> Document:
        check_digits(digits)
        columns = self._columns(digits)
        if ADVANCED not in self.runs:
            columns = columns[:-2]  # of the effect
        title = "Reproduction of an experiment"
        settings = " | ".join(f"{name}: {value}" for name, value in self.settings.items())
        sentences = []
        for run, count, of_rankings in zip(self.runs, self.n_queries, self.rbo, strict=True):
            more = f"; rankings of {len(of_rankings)}" if len(of_rankings) != count else ""
            sentences.append(f"{run.capitalize()}: {many(count, 'query')}{more}.")
        table = make_table(title, columns, self._places())
        return Document(title, " ".join(sentences), [], [table], settings)

    def _everything(self) -> Record:
        return {
            "settings": dict(self.settings),
            "values": self._records()[1],
            "rankings": {
                run: {
                    "tau_union": {str(query): value for query, value in tau.items()},
                    "rbo": {str(query): value for query, value in rbo.items()},
                }
                for run, tau, rbo in zip(self.runs, self.tau_union, self.rbo, strict=True)
            },
        }

    def _records(self) -> tuple[list[str], list[Record]]:
        return list_records(self._columns(), self._places())

    def _places(self) -> list[tuple[int, int]]:
        """Return the positions of each run and measure in what is ``(runs, measures)``."""
        return [(i, k) for k in range(len(self.measures)) for i in range(len(self.runs))]

    def _columns(self, digits: int = 4) -> list[Column]:
        """Return the columns, whose items are positions."""

        def number(heading: str, name: str, value: Any, meaning: str = "", **more: Any) -> Column:
            more = {"show": lambda value: show(value, digits), "meaning": meaning, **more}
            return Column(heading, name=name, value=lambda at: float(value(*at)), **more)

        def of_advanced(values: Floats) -> Callable[[int, int], Any]:
            return lambda i, k: values[k] if self.runs[i] == ADVANCED else math.nan

        return [
            Column("measure", "name", name="measure", value=lambda at: self.measures[at[1]]),
            Column("run", "name", name="run", value=lambda at: self.runs[at[0]]),
            Column("", name="queries", value=lambda at: self.n_queries[at[0]]),
            number("original", "original", lambda i, k: self.means[i, 0, k]),
            number("reproduced", "reproduced", lambda i, k: self.means[i, 1, k]),
            number("RMSE", "rmse", lambda i, k: self.rmse[i, k],
                   "root mean square error of the queries' values", descends=False),
            number("p", "p", lambda i, k: self.p_values[i, k], "of the difference between original "
                   "and reproduced values", show=lambda p: show_p(p, LEVEL)),
            number("τ union", "tau_union", lambda i, k: mean_of(self.tau_union[i].values()),
                   "Kendall's tau union of the rankings, whatever the measure"),
            number("RBO", "rbo", lambda i, k: mean_of(self.rbo[i].values()),
                   "rank-biased overlap of the rankings"),
            number("ER", "effect_ratio", of_advanced(self.effect_ratio),
                   "effect ratio, 1 for the original improvement on the baseline", descends=False),
            number("ΔRI", "delta_relative_improvement",
                   of_advanced(self.delta_relative_improvement),
                   "relative improvement on the baseline, the original less the reproduced one",
                   show=lambda value: show_change(value, digits), descends=False),
        ]  # fmt: skip


def reproducibility(
    qrels: Judgments,
    baseline: tuple[Rankings, Rankings],
    advanced: tuple[Rankings, Rankings] | None = None,
    measures: Measures = "nDCG@10 AP",
    cutoffs: Cutoffs = None,
    *,
    depth: int = 1000,
    p: float = 0.95,
    **settings: Unpack[EvaluateOptions],
) -> Reproducibility:
    """Tell how close reproduced runs come to the original ones, and to the effect between them.

    Of each run, original and reproduced, it compares the rankings (Kendall's tau union, rank-biased
    overlap) and the queries' values (RMSE, Student's paired t-test); and with an advanced run its
    improvement on the baseline (effect ratio, delta relative improvement).

    The numbers are those of repro_eval 0.5, but for these. Its tau union is in the order of
    document ids, so that it depends on names, and fails where rankings differ in length. Its
    rank-biased overlap is below 1 even of rankings that are alike if they are shorter than 1,000;
    the two agree where both are as long. It takes the order of a file for that of rankings, where
    here scores are. p-values of values that are alike are 1, of any number of measures.

    Args:
        qrels, measures, cutoffs: as in `irbatch.evaluate`; measures are means over queries.
        baseline, advanced: the original run and the reproduced one, as in `irbatch.evaluate`.
        depth: of tau union and overlap: leave out documents beyond this rank.
        p: persistence of rank-biased overlap.
        **settings: the keyword arguments of `irbatch.evaluate`.

    Raises:
        InputError: if a run is not a pair, a pair has fewer than two queries or none in common, a
            measure is not a mean over queries, and as `irbatch.evaluate`.

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
    columns = parse_measures(measures, cutoffs)
    for column in columns:
        if column.aggregate != "mean":
            problem = f"{column} is not a mean over queries, of which effects are: leave it out"
            raise InputError(problem, source="measures", value=str(column))
    reading = {"columns": settings.get("columns"), "order_by": settings.pop("order_by", "score")}
    pairs = {BASELINE: _as_pair(BASELINE, baseline, reading)}
    if advanced is not None:
        pairs[ADVANCED] = _as_pair(ADVANCED, advanced, reading)
    evaluated = [
        {
            f"{side} {name}": evaluate(qrels, run, columns, **settings)
            for side, run in zip(("original", "reproduced"), pair, strict=True)
        }
        for name, pair in pairs.items()
    ]
    sides = []  # of each run, values (2, queries, measures) of the queries that have all
    for both in evaluated:
        values = align(both).values
        sides.append(values[:, ~np.isnan(values[0]).any(axis=1)])
    means = np.array([[[mean_of(column) for column in values.T.tolist()] for values in side]
                      for side in sides])  # fmt: skip
    effect_ratio, change = np.full((2, len(columns)), np.nan)
    if advanced is not None:
        effect_ratio, change = effects(*means.swapaxes(0, 1))
    return Reproducibility(
        runs=list(pairs),
        measures=list(map(str, columns)),
        n_queries=[side.shape[1] for side in sides],
        means=means,
        rmse=np.array([rmse(*side) for side in sides]),
        tau_union=[tau_union(*pair, depth) for pair in pairs.values()],
        rbo=[overlap(*pair, p, depth).per_query() for pair in pairs.values()],
        p_values=np.array([paired_p(*side) for side in sides]),
        effect_ratio=effect_ratio,
        delta_relative_improvement=change,
        settings={
            **next(iter(evaluated[0].values())).settings,
            "test": "paired t-test", "depth": str(depth), "RBO": f"p {p:g}",
        },
    )  # fmt: skip


def _as_pair(name: str, pair: Any, reading: Mapping[str, Any]) -> tuple[Run, Run]:
    """Return the original and the reproduced run, read once."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        problem = f"{name} is two runs, (original, reproduced), not {shown(pair)}"
        raise InputError(problem, source=name, value=pair)
    return as_run(pair[0], **reading), as_run(pair[1], **reading)
