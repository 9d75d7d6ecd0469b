"""How well an experiment was reproduced: the numbers, and reports of them in every form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from irbatch.array_types import Floats
from irbatch.errors import many
from irbatch.report.document import Cell, Column, Document, Record, Row, Table
from irbatch.report.numbers import check_digits, show, show_change, show_p
from irbatch.report.reported import Reported

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
            `overlap` (extrapolated) of `irbatch.comparing.correlation`.
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
