"""The leaderboard: systems with their accuracy and what they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from os import PathLike
from typing import Any, Self, Unpack

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.quantities import HIGHER, QUANTITIES
from irbatch.errors import InputError, did_you_mean, many, shown
from irbatch.evaluation.runs import Judgments
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.leaderboard.axes import check_directions, find_axis, list_axes
from irbatch.leaderboard.axis_values import (
    check_comparable,
    check_currencies,
    find_currencies,
    read_bounds,
    read_values,
)
from irbatch.leaderboard.caption import write_caption
from irbatch.leaderboard.constraints import parse_constraint
from irbatch.leaderboard.joining import Records, join_accuracy, name_records
from irbatch.leaderboard.json_form import read_statement
from irbatch.leaderboard.pareto import Pareto, find_pareto
from irbatch.leaderboard.scores import Scores, check_weights
from irbatch.leaderboard.scoring import (
    SCALES,
    check_cutoff,
    check_offsets,
    score_dynascore,
    score_utility,
)
from irbatch.runtime.checks import check_choice
from irbatch.statistics.resampling import check_draws, check_level

__all__ = ["Leaderboard"]

Path = str | PathLike[str]

NOISE = 1e-4  # share of the highest performance, below which Dynascore sees no difference


class Leaderboard:
    """Systems side by side: how accurate they are, and what they take for it.

    Axes are the measures, by any spelling, and the quantities of records: ``"latency_mean"``,
    ``"latency_p50"`` … ``"latency_p99"`` (ms), ``"throughput"`` (queries/s), ``"peak_memory"``,
    ``"model_memory"``, ``"index_memory"``, ``"model_disk"``, ``"index_disk"`` (MB), ``"cpu_used"``
    (cores), ``"flops"``, ``"energy_per_query"`` (J), ``"emissions_per_query"`` (kg CO2eq),
    ``"price_per_hour"``, ``"cost_per_million"``, ``"throughput_cost_per_million"``; in short
    ``"latency"``, ``"qps"``, ``"memory"``, ``"cost"``. Of measures and of throughput higher is
    better, of all others lower.

    Args:
        results: of each system, by its name: `Results` of `irbatch.evaluate`, or means by measure,
            ``{"bm25": {"MRR@10": 0.187}}``, perhaps with bounds: ``{"MRR@10": {"mean": 0.187,
            "low": 0.18, "high": 0.19}}``. Named `Results` may stand in a list.
        records: what each system takes, an `EfficiencyRecord` each.
        measures: those shown; default: all that some system has.
        directions: axis to ``"higher"`` or ``"lower"`` (is better), where it isn't as above.
        level: the chance that an interval of accuracy misses.
        draws, seed: of the bootstrap over queries that makes these intervals; 0 draws make none.

    Attributes:
        systems: names, in the order of the rows.
        records: one a system.
        measures: names.
        means: float64 ``(systems, measures)``.
        intervals: float64 ``(systems, measures, 2)``; NaN where there are none.
        n_queries: how many each system's means are of; None where that isn't known.
        settings: how the means came about.
        constraints: what the systems left had to meet.
        left_out: each system that didn't, with the constraints that it broke.

    Raises:
        InputError: naming the system and the field, if a value is missing or not a finite number.

    >>> from irbatch.efficiency import EfficiencyRecord, Latency
    >>> records = [EfficiencyRecord(system="bm25", latency=Latency(mean=8)),
    ...            EfficiencyRecord(system="dense", latency=Latency(mean=30)),
    ...            EfficiencyRecord(system="slow", latency=Latency(mean=90))]
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}, "dense": {"RR@10": 0.33},
    ...                      "slow": {"RR@10": 0.31}}, records)
    >>> board.pareto(["RR@10", "latency"]).dominated_by
    {'slow': ['dense']}
    """

    def __init__(
        self,
        results: Any,
        records: Records,
        *,
        measures: Iterable[str] | str | None = None,
        directions: Mapping[str, str] | None = None,
        level: float = 0.05,
        draws: int = 2000,
        seed: int = 0,
    ) -> None:
        check_level(level)
        check_draws(draws, seed, least=0)
        named = name_records(records)
        accuracy = join_accuracy(results, list(named), measures, level, draws, seed)
        self.systems = list(named)
        self.records = list(named.values())
        self.measures = accuracy.measures
        self.means = accuracy.means
        self.intervals = accuracy.intervals
        self.n_queries = accuracy.n_queries
        self.settings = accuracy.settings
        self.level: float | None = level  # None: of bounds that somebody typed
        self.directions = check_directions(directions, self.measures)
        self.constraints: list[str] = []
        self.left_out: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.systems)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {many(len(self), 'system')} on {', '.join(self.measures)}"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html(fragment=True, plots=False)

    # Every method that takes an axis refuses one that there is not with an InputError.

    def axis(self, name: str) -> Quantity:
        """Find an axis by any of its names, with its unit and the way that is better."""
        found = find_axis(name, self.measures)
        better = self.directions.get(found.name, found.better)
        return found._replace(better=better, unit=found.unit.format(currency=self.currency))

    @property
    def currency(self) -> str:
        """Of prices and costs; all of them if there are several."""
        priced = [each.currency for each in self.records
                  if each.price_per_hour is not None or each.stated_cost is not None]  # fmt: skip
        return "/".join(dict.fromkeys(priced or [each.currency for each in self.records]))

    @property
    def axes(self) -> list[str]:
        """Name the axes that some system has a value of: measures, then quantities."""
        quantities = (name for name in QUANTITIES if not np.isnan(self.values(name)).all())
        return [*self.measures, *quantities]

    def values(self, name: str) -> Floats:
        """Return the systems' values along an axis, float64 ``(systems,)``; NaN where unknown.

        Raises:
            InputError: naming the system, if a value is infinite.
        """
        axis = find_axis(name, self.measures).name
        if axis in self.measures:
            return self.means[:, self.measures.index(axis)].copy()
        return read_values(self.records, axis)

    def bounds(self, name: str) -> Floats:
        """Return intervals along an axis, float64 ``(systems, 2)``; NaN where there are none."""
        axis = find_axis(name, self.measures).name
        if axis in self.measures:
            return self.intervals[:, self.measures.index(axis)].copy()
        return read_bounds(self.records, axis)

    def currencies(self, name: str) -> dict[str, str]:
        """Return each currency that an axis is in, with a system whose value is in it."""
        axis = find_axis(name, self.measures).name
        return {} if axis in self.measures else find_currencies(self.records, axis)

    def sorted(self, by: str, *, best_first: bool = True) -> Self:
        """Return the leaderboard in the order of an axis; systems without a value come last.

        Raises:
            InputError: if no system has a value, or the values are in several currencies.
        """
        axis, values = self.axis(by), self.values(by)
        check_currencies(self.records, axis.name)
        if len(self) and np.isnan(values).all():
            check_comparable(self.records, axis.name, values)
        turned = values * (-1 if (axis.better == HIGHER) == best_first else 1)
        return self._rows(np.argsort(turned, kind="stable").tolist())

    def select(self, *systems: str) -> Self:
        """Return the leaderboard of some systems, in the order in which they are named.

        Raises:
            InputError: if there is no such system, or one is named twice.
        """
        for i, system in enumerate(systems):
            if system not in self.systems or system in systems[:i]:
                twice = "is named twice" if system in self.systems else "is not on the leaderboard"
                hint = "" if system in self.systems else did_you_mean(system, self.systems)
                raise InputError(f"{shown(system)} {twice}{hint}", source="system", value=system)
        return self._rows([self.systems.index(system) for system in systems])

    def where(self, *constraints: str) -> Self:
        """Return the leaderboard of the systems that meet constraints.

        Args:
            *constraints: AXIS < NUMBER, or with another of <= > >= == !=: ``"latency_p95 < 50"``.

        Raises:
            InputError: if a constraint has another form, or a system has no value of its axis.
        """
        broken: dict[str, list[str]] = {}
        parsed = [parse_constraint(text, self.measures) for text in constraints]
        for constraint in parsed:
            values = self._known(constraint.axis.name)
            for system, value in zip(self.systems, values.tolist(), strict=True):
                if not constraint.holds(value):
                    broken.setdefault(system, []).append(str(constraint))
        left = self._rows([i for i, system in enumerate(self.systems) if system not in broken])
        left.constraints = [*self.constraints, *map(str, parsed)]
        left.left_out = {**self.left_out, **broken}
        return left

    def pareto(self, axes: Iterable[str], *, directions: Mapping[str, str] | None = None) -> Pareto:
        """Find the systems that no other beats: as good along every axis and better along one.

        Args:
            axes: one or more, as in ``["nDCG@10", "cost_per_million"]``.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.

        Raises:
            InputError: naming the system, if one has no value of an axis.
        """
        names = [each.name for each in list_axes(axes, self.measures)]
        values, signs = self._table(names, directions)
        return find_pareto(self.systems, names, values * signs)

    def dynascore(
        self,
        weights: Mapping[str, float],
        *,
        performance: str | None = None,
        offsets: Mapping[str, float] | None = None,
        directions: Mapping[str, str] | None = None,
        cutoff: float = NOISE,
    ) -> Scores:
        """Score systems as Dynaboard does (Ma et al. 2021, and the code they published).

        Every axis is turned so that higher is better, and its offset added. Its values are divided
        by how much of it goes with a point of performance on average, see
        `irbatch.leaderboard.scoring.find_rates`; a system's score is their weighted mean.

        What is published leaves some cases open. Of systems of equal performance the expected rate
        over their orders counts. An axis that does not change wherever performance does has no
        rate: it adds nothing, and is named in `left_out`; so do all but performance where there is
        one system, or all perform alike. Mind that a score depends on which systems are compared.

        Args:
            weights: axis to weight, of any sum.
            performance: the axis that the others are exchanged for; default: the first measure
                that has a weight, or else the first one.
            offsets: axis to what is added to its values: 16 to a memory of which lower is better
                makes it what is left of 16 GB.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.
            cutoff: differences of performance up to this share of the highest are noise.

        Raises:
            InputError: if a weight is negative or none is above 0; naming the system, if one has no
                value of an axis.
        """
        check_cutoff(cutoff)
        weights = self._by_axis(weights, "weights")
        weighed = [name for name in weights if name in self.measures]
        main = find_axis(performance or [*weighed, *self.measures][0], self.measures).name
        names = list(weights) if main in weights else [main, *weights]
        values, signs = self._table(names, directions)
        table = values * signs + check_offsets(self._by_axis(offsets or {}, "offsets"), names)
        shares = check_weights(weights, names)
        return score_dynascore(self.systems, names, table, names.index(main), shares, cutoff)

    def utility(
        self,
        weights: Mapping[str, float],
        *,
        scale: str = "range",
        directions: Mapping[str, str] | None = None,
    ) -> Scores:
        """Score systems by a weighted mean of their axes, brought to one scale.

        Args:
            weights: axis to weight, of any sum.
            scale: ``"range"``: from 0 for the worst system to 1 for the best, 1 for all where they
                are equal; ``"log"``: the same of logarithms, for what spans powers of ten;
                ``"none"``: as they are, negative where lower is better.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.

        Raises:
            InputError: as `dynascore`; and naming the system of a value that has no logarithm.
        """
        check_choice("scale", scale, SCALES)
        weights = self._by_axis(weights, "weights")
        names = list(weights)
        shares = check_weights(weights, names)
        values, signs = self._table(names, directions)
        return score_utility(self.systems, names, values, signs, shares, scale)

    def caption(self) -> str:
        """Say how many systems and queries there are, how they were measured, and who is left out.

        >>> from irbatch.efficiency import EfficiencyRecord
        >>> Leaderboard({"bm25": {"RR": 0.5}}, EfficiencyRecord(system="bm25")).caption()
        '1 system.'
        """
        return write_caption(self.records, self.n_queries, self.constraints, list(self.left_out))

    def to_text(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a table for a terminal, see `irbatch.leaderboard.report`."""
        return str(_report("text")(self, path=path, **options))

    def to_markdown(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a table in GitHub's Markdown."""
        return str(_report("markdown")(self, path=path, **options))

    def to_latex(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a table for a paper: booktabs, caption and label."""
        return str(_report("latex")(self, path=path, **options))

    def to_html(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a page that stands alone: sortable table and picture."""
        return str(_report("html")(self, path=path, **options))

    def to_csv(self, path: Path | None = None) -> str:
        """Return, or also write, one line a system with every number."""
        return str(_report("csv")(self, path=path))

    def to_json(self, path: Path | None = None) -> str:
        """Return, or also write, everything as JSON, which `from_json` reads."""
        return str(_report("json")(self, path=path))

    def to_pandas(self) -> Any:
        """Return a pandas frame, one row a system.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        return _report("pandas")(self)

    def plot(self, x: str, y: str | None = None, **options: Any) -> Any:
        """Draw systems between two axes and their Pareto frontier.

        Args:
            x: an axis, as in ``"cost_per_million"``.
            y: another; default: the first measure.
            **options: see `irbatch.leaderboard.plots.plot_frontier`.

        Returns:
            matplotlib's axes; ``.figure.savefig("frontier.svg")`` saves the picture.

        Raises:
            InputError: naming the system, if one has no value of an axis.
            ImportError: naming the extra, when matplotlib is not installed.
        """
        from irbatch.leaderboard.plots import plot_frontier

        return plot_frontier(self, x, y, **options)

    @classmethod
    def from_json(
        cls,
        source: Path,
        *,
        qrels: Judgments | None = None,
        measures: Iterable[str] | str | None = None,
        level: float = 0.05,
        draws: int = 2000,
        seed: int = 0,
        directions: Mapping[str, str] | None = None,
        **settings: Unpack[EvaluateOptions],
    ) -> Self:
        """Read a leaderboard: what `to_json` wrote, or a table that somebody typed.

        It is an object with ``"systems"``, or only their list. A system has the keys of a record,
        see `EfficiencyRecord.to_json`, and ``"accuracy"``: measure to number, or to ``{"mean":
        0.187, "low": 0.18, "high": 0.19}``; with it may stand ``"queries"``, how many it is the
        mean of. In place of it, or beside it, ``"run"`` is the path of a run file, from the JSON's
        folder on.

        Beside ``"systems"`` may stand ``"level"`` (of intervals), ``"settings"`` (how the numbers
        came about, texts by name), ``"directions"``, ``"constraints"`` (which these systems have
        met; none is left out by reading them) and ``"left_out"`` (system to the constraints that
        it broke).

        Args:
            source: a path, or the JSON itself, whose runs' paths start from the current folder.
            qrels: judgments in any form of `irbatch.evaluate`. With them the runs are evaluated,
                and accuracy that is stated counts where there is no run.
            measures: those shown, or with `qrels` those evaluated; default: all that some have;
                with `qrels` they must be given.
            level: the chance that an interval misses, with `qrels`; without it is the JSON's.
            draws, seed: of the bootstrap over queries, with `qrels`.
            directions: axis to ``"higher"`` or ``"lower"``, before what the JSON says.
            **settings: of `irbatch.evaluate`, with `qrels`.

        Raises:
            InputError: naming the system and the field, if a value is missing or of another kind.
            OSError: as the system says, if the file can't be read.

        >>> board = Leaderboard.from_json('''[
        ...     {"system": "bm25", "accuracy": {"RR@10": 0.187}, "latency": {"mean": 8}},
        ...     {"system": "dense", "accuracy": {"RR@10": 0.33}, "latency": {"mean": 30}}]''')
        >>> board.pareto(["RR@10", "latency"]).frontier
        ['bm25', 'dense']
        """
        read = read_statement(source, qrels, measures, settings)
        stated = None if qrels is not None else read.document.get("level")
        board = cls(
            read.results,
            read.records,
            measures=read.measures,
            level=level if stated is None else stated,
            draws=draws if qrels is not None else 0,
            seed=seed,
        )
        if qrels is None:  # or settings are those of now, and constraints were met by other numbers
            board.level, board.settings, board.n_queries = stated, read.settings, read.n_queries
            board.constraints, board.left_out = read.constraints, read.left_out
        chosen = check_directions(directions, board.measures)
        board.directions = {**read.directions(board.measures), **chosen}
        return board

    def _rows(self, places: list[int]) -> Self:
        """Return a leaderboard of some systems, in some order."""
        other = copy(self)
        other.measures, other.constraints = list(self.measures), list(self.constraints)
        other.settings, other.directions = dict(self.settings), dict(self.directions)
        other.left_out = {name: list(each) for name, each in self.left_out.items()}
        other.systems = [self.systems[i] for i in places]
        other.records = [self.records[i] for i in places]
        other.n_queries = [self.n_queries[i] for i in places]
        other.means, other.intervals = self.means[places], self.intervals[places]
        return other

    def _known(self, name: str) -> Floats:
        """Return values along an axis, which every system must have."""
        values = self.values(name)
        check_comparable(self.records, name, values)
        return values

    def _table(
        self, names: list[str], directions: Mapping[str, str] | None
    ) -> tuple[Floats, Floats]:
        """Return values ``(systems, axes)``, and 1 for axes of which higher is better, else -1."""
        if not self.systems:
            raise InputError("no system is left on the leaderboard", source="leaderboard")
        turned = check_directions(directions, self.measures)
        better = [turned.get(name, self.axis(name).better) for name in names]
        signs = np.array([1.0 if each == HIGHER else -1.0 for each in better])
        return np.stack([self._known(name) for name in names], axis=1), signs

    def _by_axis(self, given: Mapping[str, float], what: str) -> dict[str, float]:
        """Return what is given by axis under the axes' own names."""
        if not isinstance(given, Mapping):
            problem = f"{what} go from axes to numbers, not {shown(given)}"
            raise InputError(problem, source=what, value=given)
        axes = list_axes(given, self.measures) if given else []
        return {axis.name: value for axis, value in zip(axes, given.values(), strict=True)}


def _report(form: str) -> Any:
    from irbatch.leaderboard import report  # for those who print

    return getattr(report, f"to_{form}")
