"""The leaderboard: systems with their accuracy and what they take, tested and judged."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, Unpack

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing import gate
from irbatch.comparing.compare import compare_aligned
from irbatch.comparing.read import align
from irbatch.comparing.rows import ComparisonSettings
from irbatch.efficiency import QUANTITIES, EfficiencyRecord, Quantity
from irbatch.efficiency.interchange import field_error, of_system
from irbatch.errors import InputError, did_you_mean, join_words, many, printable, shown
from irbatch.evaluation.evaluation import Judgments, Measures
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.evaluation.tables import find_interval
from irbatch.leaderboard.report import Frontier, draw_frontier, list_board, make_document
from irbatch.leaderboard.rows import (
    Pareto,
    Records,
    Row,
    Significance,
    board_to_dict,
    canonical_name,
    common_settings,
    conditions_of,
    find_accuracy,
    find_all,
    find_axis,
    join_rows,
    one_currency,
    read_statement,
)
from irbatch.measures import Measure, measure, parse_measures
from irbatch.report import Path, Reported
from irbatch.statistics.resampling import check_level

NEEDS = {  # what quantities that are worked out follow from
    "cost_per_million": ": it takes price_per_hour and a mean latency",
    "energy_per_query": ": it takes energy and n_queries",
    "emissions_per_query": ": it takes emissions and n_queries",
}
DOMINATED = re.compile(r"(?P<required>not\s+)?dominated\s+on\s+(?P<axes>\S.*)")
OF_BOARDS = "such as 'latency_p95 > 50', 'RR@10 lower bound < 0.3' or 'dominated on RR@10, latency'"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Leaderboard(Reported):
    r"""Systems side by side: how accurate they are, and what they take for it.

    Axes are the measures, by any spelling, and the quantities of records, which
    `irbatch.efficiency.QUANTITIES` has with their units: ``"latency_mean"``, ``"latency_p50"`` …
    ``"latency_p99"`` (ms), ``"throughput"`` (queries/s), ``"peak_memory"``, ``"index_disk"`` (MB),
    ``"cpu_used"`` (cores), ``"indexing_time"`` (s), ``"cost_per_million"`` and others; in short
    ``"latency"``, ``"qps"``, ``"memory"``, ``"gpu_memory"``, ``"cost"``. Of throughput, the
    rate of queries and measures, but those that say otherwise, higher is better; of all others
    lower.

    Args:
        results: of each system, by its name: `Results` of `irbatch.evaluate`, or means by measure,
            ``{"bm25": {"MRR@10": 0.187}}``, perhaps with bounds: ``{"MRR@10": {"mean": 0.187,
            "low": 0.18, "high": 0.19}}``. Named `Results` may stand in a list.
        records: what each system takes, an `EfficiencyRecord` or a `Measurement` each; several of
            a system that was measured on several instances, which have a row each and share its
            results.
        measures: those shown; default: all that some system has. What a system lacks is shown as
            ``–``, and said in a warning.
        level: the chance that an interval of accuracy misses, by Student's t over queries.

    Attributes:
        rows: one `irbatch.leaderboard.rows.Row` a system and machine.
        measures: names.
        settings: how the means came about.
        constraints: what the systems left had to meet.
        left_out: each system that didn't, with the constraints that it broke, or the axes that it
            has no value of.
        significance: what `tested` found; None before, and of fewer systems than that was of.

    Raises:
        InputError: naming the system and the field, if a value is not a finite number, a system has
            none of the measures, or prices are in several currencies.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `columns`,
    axes by any of their names, ``"hardware"``, or any other column of `to_csv`, such as ``"gpu"``
    (default: the hardware, batch size and source where they differ, all measures, and the usual
    quantities that some system has); what `tested` found is marked in any case; `frontier`, axes
    whose Pareto frontier is marked; `sort`, the axis whose best systems stand first; `intervals`,
    whether values come with theirs (False); `digits`, how many decimals measures have (4), where
    quantities have four significant digits. On a page: `plots`, whether there is a picture of the
    frontier (True), which takes matplotlib; `x`, the axis across it (default: the cost, the mean
    latency or the median, the first that some system has; without any there is no picture); `y`,
    the axis along it (default: the first measure).

    `to_csv` and frames have one line a system: its hardware, its values, bounds and calls; what
    isn't known is empty. `to_dict` and `to_json` have `gates`, what
    `irbatch.comparing.gate.check` returned; `from_json` reads what `to_json` wrote, but
    for these.

    >>> from irbatch.efficiency import EfficiencyRecord, Latency
    >>> records = [EfficiencyRecord(system="bm25", latency=Latency(mean=8)),
    ...            EfficiencyRecord(system="dense", latency=Latency(mean=30)),
    ...            EfficiencyRecord(system="slow", latency=Latency(mean=90))]
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}, "dense": {"RR@10": 0.33},
    ...                      "slow": {"RR@10": 0.31}}, records)
    >>> board.pareto(["RR@10", "latency"]).dominated_by
    {'slow': ['dense']}
    >>> print(board.to_csv().partition("\n")[0])
    system,instance,cpu,n_cpu,gpu,n_gpu,ram_gb,RR@10,latency_mean,batch_size,repeat
    """

    _label: ClassVar[str] = "tab:leaderboard"

    rows: list[Row]
    measures: list[str]
    settings: dict[str, str]
    level: float | None
    constraints: list[str]
    left_out: dict[str, list[str]]
    significance: Significance | None

    def __init__(
        self,
        results: Any,
        records: Records,
        *,
        measures: Iterable[str] | str | None = None,
        level: float = 0.05,
    ) -> None:
        check_level(level)
        rows, names = join_rows(results, records, measures, level)
        one_currency(rows)
        own = {"rows": rows, "measures": names, "settings": common_settings(rows), "level": level}
        vars(self).update(own, constraints=[], left_out={}, significance=None)

    def _with(self, **fields: Any) -> Self:
        other = copy(self)
        vars(other).update(fields)
        return other

    @property
    def systems(self) -> list[str]:
        """Names of the rows; of several of a system with the machine, ``"dense on c6g"``."""
        return [row.name for row in self.rows]

    @property
    def records(self) -> list[EfficiencyRecord]:
        """What each row's system takes."""
        return [row.record for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        measures = ", ".join(map(printable, self.measures))
        return f"{type(self).__name__} of {many(len(self), 'system')} on {measures}"

    def axis(self, name: str) -> Quantity:
        """Find an axis by any of its names, with its unit and the way that is better."""
        axis, currency = find_axis(name, self.measures), one_currency(self.rows)
        if currency is None and "{currency}" in axis.unit:
            return axis._replace(unit="per hour" if axis.unit.endswith("/h") else "")
        return axis._replace(unit=axis.unit.format(currency=currency))

    @property
    def axes(self) -> list[str]:
        """Name the axes that some system has a value of: measures, then quantities."""
        records = self.records
        return [
            *self.measures,
            *(name for name in QUANTITIES if any(r.value(name) is not None for r in records)),
        ]

    def values(self, name: str) -> Floats:
        """Return the systems' values along an axis, float64 ``(systems,)``; NaN where unknown.

        Raises:
            InputError: naming the system, if a value is infinite.
        """
        return self._figures(name)[:, 0]

    def bounds(self, name: str) -> Floats:
        """Return intervals along an axis, float64 ``(systems, 2)``; NaN where there are none."""
        return self._figures(name)[:, 1:]

    def _figures(self, name: str) -> Floats:
        axis = find_axis(name, self.measures).name
        return np.array([row.figure(axis) for row in self.rows], np.float64).reshape(-1, 3)

    def sorted(self, by: str) -> Self:
        """Return the leaderboard in the order of an axis, the best first; without a value last.

        Raises:
            InputError: if no system has a value.
        """
        axis = self.axis(by)
        self.having([axis.name])
        return self.at(np.argsort(-self.values(by) * axis.sign, kind="stable").tolist())

    def where(self, *constraints: str) -> Self:
        """Return the leaderboard of the systems that meet constraints.

        A system without a value, or an interval, that a constraint looks at doesn't meet it:
        `left_out` says what it lacks.

        Args:
            *constraints: requirements, as of `unmet`: ``"latency_p95 < 50"``, ``"RR@10 lower bound
                >= 0.3"``.

        Raises:
            InputError: as `unmet`, if there is a constraint; if no system has a value of an axis.
        """
        broken: dict[str, list[str]] = {}
        for outcome in gate.check(self, constraints, required=True) if constraints else ():
            if not outcome.passed:
                lack = outcome.told.removeprefix(f"{printable(outcome.system)}: ")
                reason = lack if math.isnan(outcome.value) else outcome.condition
                broken.setdefault(outcome.system, []).append(reason)
        left = self.at([i for i, system in enumerate(self.systems) if system not in broken])
        return left._with(
            constraints=[*self.constraints, *constraints], left_out={**self.left_out, **broken}
        )

    def priced(self, prices: Mapping[str, float], currency: str | None = None) -> Self:
        """Return the leaderboard with prices per hour by instance, and costs that follow from them.

        Raises:
            InputError: if no system was measured on an instance, a price is not a number of at
                least 0, or other prices are in another currency.

        >>> from irbatch.efficiency import EfficiencyRecord, Latency
        >>> record = EfficiencyRecord(system="bm25", hardware="c6g.large", latency=Latency(mean=36))
        >>> board = Leaderboard({"bm25": {"RR": 0.5}}, record).priced({"c6g.large": 0.5})
        >>> board.values("cost").tolist()
        [5.0]
        """
        if not isinstance(prices, Mapping):
            problem = f"prices go from instances to numbers, not {shown(prices)}"
            raise InputError(problem, source="prices", value=prices)
        instances = {record.hardware.instance: None for record in self.records}
        for instance in prices:
            if instance not in instances:
                hint = did_you_mean(instance, filter(None, instances))
                problem = f"no system was measured on {shown(instance)}{hint}"
                raise InputError(problem, source="prices", value=instance)
        rows = []
        for row in self.rows:
            record = row.record
            if (price := prices.get(record.hardware.instance or "")) is not None:
                own = currency or record.currency
                record = replace(record, price_per_hour=price, currency=own)
            rows.append(replace(row, record=record))
        one_currency(rows)
        return self._with(rows=rows)

    def tested(self, *, level: float = 0.05, draws: int = 10_000, seed: int = 0) -> Self:
        """Return the leaderboard that knows which systems are significantly worse than the best.

        Each measure's systems are tested against each other, on the values of queries that their
        `Results` have, by the paired randomisation test of `irbatch.compare`; ``significance`` of
        what returns has p-values, and tables mark the systems that are not significantly worse than
        the best of a measure. All pairs are corrected for, by Holm's method, as the best is not
        known beforehand: against it alone, one of eight systems that are alike would be
        significantly worse in 10 % of cases, not in 5 %.

        Args:
            level, draws, seed: as of `irbatch.compare`.

        Raises:
            InputError: as `irbatch.compare`; if fewer than two systems have values of queries, or
                they were evaluated on different ones.
        """
        rows = [row for row in self.rows if row.has_values]
        measures = _choose_measures(self.measures, {row.name: row.results for row in rows})
        owners: dict[int, str] = {}  # of results, which rows of a system share, the first row
        for row in rows:
            owners.setdefault(id(row.results), row.name)
        systems = {row.name: row.results for row in rows if row.name in owners.values()}
        options = ComparisonSettings(level=level, draws=draws, seed=seed)  # of the usual test
        comparison = compare_aligned(align(systems, list(measures.values())), options)
        best: dict[str, str] = {}
        p_values: dict[str, dict[str, float]] = {}
        for k, name in enumerate(measures):
            place = int(np.argmax(comparison.means[:, k] * self.axis(name).sign))
            best[name] = comparison.systems[place]
            p_of = dict(zip(comparison.pairs, comparison.corrected[:, k].tolist(), strict=True))
            p = {
                system: 1.0 if i == place else p_of[max(i, place), min(i, place)]
                for i, system in enumerate(comparison.systems)
            }
            p_values[name] = {row.name: p[owners[id(row.results)]] for row in rows}
        queries = len(comparison.query_ids)
        return self._with(significance=Significance(comparison.level, queries, best, p_values))

    def pareto(self, axes: Iterable[str]) -> Pareto:
        """Find the systems that no other beats: as good along every axis and better along one.

        Times and rates are compared between systems that were measured under the same conditions:
        on one machine, in calls of one size, in a closed loop or in an open one of the same rate.
        Systems without a value of an axis are not compared: `Pareto.left_out` names them.

        Args:
            axes: one or more, as in ``["nDCG@10", "cost_per_million"]``.

        Raises:
            InputError: if no system has a value of each axis.
        """
        quantities = find_all(axes, self.axis, "axis")
        names = [quantity.name for quantity in quantities]
        compared, left_out = self.having(names)
        systems = compared.systems
        if not systems:
            raise InputError("no system is left on the leaderboard", source="leaderboard")
        values = np.stack([compared.values(axis.name) * axis.sign for axis in quantities], axis=1)
        conditions = [conditions_of(record, names) for record in compared.records]
        alike = np.array(conditions)
        dominated_by: dict[str, list[str]] = {}
        for system, row, own in zip(systems, values, conditions, strict=True):
            beats = (values >= row).all(axis=1) & (values > row).any(axis=1) & (alike == own)
            if beats.any():
                dominated_by[system] = [systems[i] for i in np.flatnonzero(beats).tolist()]
        frontier = [system for system in systems if system not in dominated_by]
        measured = dict(zip(systems, conditions, strict=True)) if len(set(conditions)) > 1 else {}
        return Pareto(names, frontier, dominated_by, left_out, measured)

    def having(self, names: Sequence[str]) -> tuple[Self, dict[str, list[str]]]:
        """Return the systems with values of all axes, and what the others lack."""
        lacking: dict[str, list[str]] = {}
        for name in names:
            unknown = np.flatnonzero(np.isnan(self.values(name))).tolist()
            if unknown and len(unknown) == len(self):
                problem = f"is missing{NEEDS.get(name, '')}"
                raise field_error(of_system(self.systems[0]), name, problem, None)
            for place in unknown:
                lacking.setdefault(self.systems[place], []).append(name)
        if lacking and len(lacking) == len(self):
            problem = f"no system has a value of each of {join_words(list(names))}"
            raise InputError(problem, source="leaderboard")
        complete = self.at([i for i, system in enumerate(self.systems) if system not in lacking])
        return complete, {name: lacking[name] for name in self.systems if name in lacking}

    def at(self, places: list[int]) -> Self:
        """Return a leaderboard of some systems, in some order."""
        # What was found is of all of them together.
        significance = self.significance if len(places) == len(self) else None
        return self._with(rows=[self.rows[i] for i in places], significance=significance)

    def failures(self, *conditions: str | Iterable[str]) -> list[str]:
        """Say in a sentence each of which systems conditions hold: ``"latency_p95 > 50"``.

        Args:
            *conditions: AXIS [lower bound|upper bound] > NUMBER, or ``dominated on AXIS, AXIS``;
                ``of SYSTEM:`` before it looks at one. A system without a value fails.

        Raises:
            InputError: if there is none, or one has another form or holds of what is good; or
                if no system is left.
        """
        return gate.failures(self, *conditions)

    def unmet(self, *requirements: str | Iterable[str]) -> list[str]:
        """Say so of systems that don't meet ``"RR@10 >= 0.3"``, or ``not dominated on …``."""
        return gate.unmet(self, *requirements)

    def _judge(self, text: str, *, required: bool) -> Iterator[gate.Outcome]:
        """Judge systems by a condition; one without a value fails."""
        system, condition = parse_on_board(text, required=required)
        if not self.systems:  # of none everything is true
            raise InputError(f"no system is left to check {shown(text)} of", value=text)
        if isinstance(condition, list):
            judged = _judge_dominated(self, text, condition)
        else:
            axis = self.axis(condition.name)
            limit = condition._replace(name=axis.name)
            gate.check_side(text, limit, int(axis.sign), required=required)
            _check_range(self, text, limit)
            judged = gate.judge_limit(text, limit, _look(self, limit), required=required)
        if system is not None and system not in self.systems:
            hint = did_you_mean(system, self.systems)
            problem = f"{shown(system)} is not on the leaderboard{hint}"
            raise InputError(problem, source="system", value=system)
        return (outcome for outcome in judged if system in (None, outcome.system))

    def plot(self, x: str, y: str | None = None, *, ax: Any = None) -> Any:
        """Plot systems between two axes, and the Pareto frontier: those that no other dominates.

        The frontier is drawn as a staircase: on the way to a better system there is none better
        than the last one. As in `pareto`, each of several conditions has a frontier of its own, and
        systems without a value of an axis are left out; they are counted above the axes. Where
        there is no room for all names stand numbers, which a legend explains; of more than 100
        systems those on the frontier are named. The x axis is logarithmic if it is a quantity whose
        values are above zero and span more than a factor of three.

        Args:
            x: an axis, as in ``"cost_per_million"``.
            y: another; default: the first measure.
            ax: matplotlib's axes to draw on; default: those of a new figure, which
                ``.figure.savefig("frontier.svg")`` of what returns saves.

        Returns:
            The axes; nothing is shown.

        Raises:
            InputError: if there is no such axis, or no system has a value of both.
            ImportError: naming the extra, when matplotlib is not installed.
        """
        return draw_frontier(Frontier(self, x, y), ax)

    @classmethod
    def from_json(
        cls,
        source: Path,
        *,
        qrels: Judgments | None = None,
        measures: Measures | None = None,
        level: float = 0.05,
        **settings: Unpack[EvaluateOptions],
    ) -> Self:
        """Read a leaderboard: what `to_json` wrote, or a table that was typed.

        It is an object with ``"systems"``, or only their list. A system has the keys of a record,
        see `EfficiencyRecord.to_json`; one that was measured on several machines is listed once for
        each, with the name of an instance in its hardware. Beside these it has ``accuracy``,
        measure to number, or to ``{"mean": 0.187, "low": 0.18, "high": 0.19}``; in place of it, or
        beside it, ``run``, the path of a run file, from the JSON's folder on; and ``queries``, how
        many the accuracy is the mean of.

        Args:
            source: a path, or the JSON itself, whose runs' paths start from the current folder.
            qrels: judgments in any form of `irbatch.evaluate`. With them the runs are evaluated,
                and accuracy that is stated counts where there is no run.
            measures: those shown, or with `qrels` those evaluated; default: all that some have;
                with `qrels` they must be given.
            level: as of `Leaderboard`, with `qrels`; without, it is the JSON's.
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
        check_settings(cls.from_json, settings)
        statement, systems = read_statement(source)
        is_stated, evaluated = qrels is None, list[Measure]()
        if not is_stated:
            measures = evaluated = [*parse_measures(() if measures is None else measures)]
        elif settings:
            problem = f"{', '.join(settings)}: only where runs are evaluated, which takes qrels"
            raise InputError(problem, source="leaderboard", value=settings)
        elif statement.level is not None:
            level = statement.level
        accuracy = find_accuracy(systems, source, qrels, evaluated, settings)
        records = [system.record for system in systems.values()]
        board = cls(accuracy, records, measures=measures, level=level)  # type: ignore[arg-type]
        if not is_stated:
            return board
        rows = [
            replace(row, name=system.row or row.name, queries=system.queries)
            for row, system in zip(board.rows, systems.values(), strict=True)
        ]
        stated = ("level", "settings", "constraints", "left_out", "significance")
        return board._with(rows=rows, **{name: getattr(statement, name) for name in stated})

    _document, _everything, _records = make_document, board_to_dict, list_board


# ---------------------------------------------------------------- tests of accuracy


def _choose_measures(measures: Sequence[str], systems: Mapping[str, Results]) -> dict[str, str]:
    """Return the measures that are means of the same queries for all systems, and their columns."""
    if len(systems) < 2:
        problem = "values of queries are known of fewer than two systems: evaluate their runs"
        raise InputError(problem, source="leaderboard")
    (first, one), *others = systems.items()
    for system, results in others:
        if set(results.query_ids) != set(one.query_ids):
            sizes = f"{many(len(one.query_ids), 'query')} and {len(results.query_ids)}"
            problem = f"{shown(first)} and {shown(system)} were evaluated on different queries"
            raise InputError(f"{problem} ({sizes})", source="leaderboard", value=system)
    chosen = {
        name: one.columns[one.column_of(name)]
        for name in measures
        if all(name in results for results in systems.values())
    }
    tested = {n: str(own) for n, own in chosen.items() if own.aggregate not in ("weighted", "run")}
    if not tested:
        raise InputError("no measure is a mean of queries, to test", source="leaderboard")
    return tested


# ---------------------------------------------------------------- conditions


def parse_on_board(text: object, *, required: bool) -> tuple[str | None, gate.Limit | list[str]]:
    """Read a condition on a leaderboard: of which system (None: all), and what it says.

    That is a limit, or the axes on which none may be dominated; names of axes are as written.

    >>> parse_on_board("of new: dominated on P(rel=2)@5, latency", required=False)
    ('new', ['P(rel=2)@5', 'latency'])
    """
    system, condition = gate.split_scope(text, "of")
    if (form := DOMINATED.fullmatch(condition)) is not None:
        gate.check_purpose(text, is_requirement=bool(form["required"]), required=required)
        return system, split_axes(form["axes"])
    limit = gate.read_limit(condition)
    if limit is None:
        raise InputError(f"condition {shown(text)} is not of a form {OF_BOARDS}", value=text)
    return system, limit


def split_axes(text: str) -> list[str]:
    """Split names at commas, but for those in the parentheses of a measure."""
    return [axis.strip() for axis in re.split(r",(?![^()]*\))", text)]


def _judge_dominated(board: Leaderboard, text: str, axes: list[str]) -> Iterator[gate.Outcome]:
    """Yield of each system whether others dominate it; one that lacks an axis fails."""
    front = board.pareto(axes)
    on = join_words(front.axes)
    for system in board.systems:
        told = f"not dominated on {on}"
        if system in front.dominated_by:
            others = join_words(list(map(printable, front.dominated_by[system])))
            told = f"dominated on {on} by {others}"
        elif system in front.left_out:
            told = f"{join_words(front.left_out[system])} is missing"
        told = f"{printable(system)}: {told}"
        yield gate.Outcome(text, system, system in front.frontier, math.nan, math.nan, None, told)


def _look(board: Leaderboard, limit: gate.Limit) -> Iterator[tuple[str, float, str]]:
    """Yield each system, what a limit looks at, and what is to be said where that is unknown."""
    board.having([limit.name])  # or no system has a value
    for row in board.rows:
        value, *ends = row.figure(limit.name)
        lack = f"{limit.name} is missing" if math.isnan(value) else ""
        if limit.bound is not None and not lack:
            if limit.name in row.accuracy and row.has_values:
                ends = [*find_interval(row.results, limit.name, "bounded", board.level or 0.05)]
            value = ends[limit.bound]
            lack = f"{limit.name} has no interval" if math.isnan(value) else ""
        yield row.name, value, lack


def _check_range(board: Leaderboard, text: str, limit: gate.Limit) -> None:
    """Reject a limit of values that are perhaps in per cent."""
    if limit.name not in board.measures or canonical_name(limit.name) is None:
        return
    low, high = measure(limit.name).range
    values = board.values(limit.name)
    beyond = values[(values < low - gate.ROUNDING) | (values > high + gate.ROUNDING)]
    if beyond.size and low <= limit.limit <= high:
        value = float(beyond[0])
        hint = ": in per cent?" if high == 1 and 0 <= value <= 100 else ""
        problem = f"{limit.name} of {value:.4g} is not between {low:g} and {high:g}{hint}"
        raise InputError(f"condition {shown(text)}: {problem}", source="accuracy", value=value)
