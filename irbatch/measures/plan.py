"""From measures to one scan: what all of them together need, and their values from it."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.scan import FULL_DEPTH, PrefixStatistics, Scan, ScanRequest, as_slice, scan
from irbatch.errors import InputError
from irbatch.measures.declare import AS_ANY_OTHER, MARKED, Measure
from irbatch.measures.parameters import CATALOGUED, GRADED, make_weighting
from irbatch.runtime.threads import cached_property, map_ranges

DEFAULT_REL = 1.0
# Rows that formulas read together: half the time of many, whose arrays leave the cache.
ROWS_AT_ONCE = 8_192
BYTES_AT_ONCE = 64 << 20  # of what is known of a block's queries at all cutoffs
CELLS_OF_VALUE = 8  # as many cells of a scan take a core the time of a formula's value

Weights = tuple[object, ...]
"""Gain, discount and rel, see `make_weighting`."""


class FormulaError(InputError):
    """A formula failed, or returned what no value can be, for some query."""


def apply_formula(measure: Measure, statistics: Any, at: tuple[int, ...]) -> Floats:
    """Return a formula's values of what it reads, float64 ``(queries, *at)``, checked."""
    # Gains and relevance are in the statistics; of items only relevance.
    skipped = ("rel",) if measure.declaration.reads == "items" else GRADED
    shape = (statistics.retrieved.shape[0], *at)
    return np.broadcast_to(call_formula(measure, statistics, skipped, *shape), shape)


def call_formula(
    measure: Measure, statistics: Any, skipped: Collection[str] = (), *shape: int
) -> Floats:
    """Return what a formula does, whose values may be NaN only where one is undefined.

    It takes the measure's parameters, but for those `skipped`; `shape` is given where it is known.
    """
    own = {name: measure[name] for name in measure.declaration.parameters if name not in skipped}
    with np.errstate(all="ignore"):
        values = _call(measure, own, statistics, *shape)
    _check_values([(measure, ...)], values)
    return values


def _call(measure: Measure, own: Mapping[str, Any], statistics: Any, *shape: int) -> Floats:
    """Return a formula's values, of a shape or the same for all cutoffs, not yet checked."""
    who = "the formula of"
    try:
        returned = measure.declaration.formula(statistics, **own)
        values = np.asarray(returned, np.float64)
    except (InputError, MemoryError):
        raise
    except Exception as problem:
        message = f"{who} {measure.name} failed: {type(problem).__name__}: {problem}"
        raise FormulaError(message, source="measures") from problem
    if returned is None:
        message = f"{who} {measure.name} returned None: has it a return?"
        raise InputError(message, source="measures")
    if shape and values.shape != shape and values.shape != (shape[0], *(1 for _ in shape[1:])):
        message = f"{who} {measure.name} returned shape {values.shape} for {shape}"
        raise InputError(message, source="measures")
    return values


def _check_values(places: Iterable[tuple[Measure, Any]], values: Floats) -> None:
    """Reject infinities, and NaN unless a measure may be undefined, at the places of measures."""
    if np.isfinite(values).all():
        return
    for measure, place in places:
        declaration, own = measure.declaration, values[place]
        fine = np.isfinite(own) | (np.isnan(own) & (declaration.undefined is not None))
        if not fine.all():
            value = own[~fine].flat[0]
            shown = "NaN" if np.isnan(value) else value
            summed = declaration.builtin and declaration.graded
            why = "; gains add up to more than float64 holds: give smaller ones" if summed else ""
            problem = f"the formula of {measure.name} returned {shown}{why}"
            raise FormulaError(problem, source="measures")


class Group:
    """Measures that differ in their cutoffs, `depths`, only; `measure` is one of them."""

    def __init__(self, measure: Measure) -> None:
        self.measure, self.weights = measure, _weights(measure)
        self.threshold = float(_parameter(measure, "rel", DEFAULT_REL))
        self.reads = measure.declaration.reads
        self.reads_cells = self.reads == "judged" or self.threshold <= 0  # documents of grade 0
        parameters = measure.declaration.parameters.keys() - GRADED.keys()
        self.own = {name: measure[name] for name in parameters}  # what is not in the statistics
        self.depths: list[float] = []
        self.positions: list[int] = []  # among the plan's measures

    @cached_property
    def place(self) -> tuple[Any, ...]:
        """Where its values stand in ``(queries, measures)``."""
        return slice(None), as_slice(self.positions)


class Plan:
    """The measures of an evaluation, each once, and the single scan that serves them all.

    `defaults` are values of parameters that measures leave open.
    It `is_catalogued` if users have defined none of its formulas, gains, discounts. Behind the
    columns of the measures, values have one for the weights of each whose mean is weighted.
    Measures that read items, if they are known, are at the positions `of_items`, those that read
    `marks` of judgments, if there may be any, at `of_marks`: their values are NaN until
    `irbatch.evaluation` computes them.
    """

    def __init__(
        self,
        measures: Sequence[Measure],
        defaults: Mapping[str, object] | None = None,
        *,
        items: bool = False,
        marks: bool = False,
    ) -> None:
        self.measures, self._defaults = tuple(measures), dict(defaults or {})
        filled = []
        for measure in measures:  # parameters that it leaves open; those of gain take no rel
            left = measure.declaration.parameters.keys() - dict(measure.parameters)
            left -= {"rel"} if measure.declaration.graded else set()
            settings = {key: value for key, value in self._defaults.items() if key in left}
            filled.append(measure(**settings))
        filled += [measure.weight for measure in filled if measure.aggregate == "weighted"]
        self.filled, self.columns = tuple(filled), len(filled)
        self._check_reads(items=items, marks=marks)
        groups: dict[tuple[object, ...], Group] = {}
        for position, measure in enumerate(filled):
            key = measure.name, measure.parameters, measure.is_linear()
            group = groups.setdefault(key, Group(measure))
            group.depths.append(FULL_DEPTH if measure.cutoff is None else measure.cutoff)
            group.positions.append(position)
        self._of_prefixes = [group for group in groups.values() if group.reads == "prefix"]
        self._of_judged = [
            group for group in groups.values() if group.reads in ("judged", "relevant")
        ]
        self._linear = [group for group in groups.values() if group.measure.is_linear()]
        self._thresholds = list(dict.fromkeys(group.threshold for group in self._of_prefixes))
        self._weights = list(dict.fromkeys(group.weights for group in self._of_prefixes))
        self._cutoffs = sorted(
            {depth for group in self._of_prefixes for depth in group.depths}
            | {FULL_DEPTH for group in self._of_prefixes if group.measure.declaration.whole}
        )
        self._highest = min([_parameter(of, "max_grade", math.inf) for of in filled] or [math.inf])
        self.is_catalogued = all(measure.declaration.builtin for measure in filled) and all(
            gain in CATALOGUED[0] and discount in CATALOGUED[1]
            for gain, discount, _ in map(_weights, filled)
        )
        weightings = [make_weighting(*weight) for weight in self._weights]
        self._request = ScanRequest(self._cutoffs, self._thresholds, weightings)
        # How many queries to compute together, so that memory stays bounded; counts are 4 bytes.
        of_cutoff = 8 + 12 * len(self._thresholds) + 32 * len(self._weights)
        of_row = of_cutoff * len(self._cutoffs) + 8 * self.columns
        self.rows_at_once = max(BYTES_AT_ONCE // max(of_row, 1), 1)  # there may be no measures

    def _check_reads(self, *, items: bool, marks: bool) -> None:
        """Find the measures of items and of marks; reject those of what is not known.

        Beside measures of subtopics alone some may read grades.
        """
        reads = [measure.declaration.reads for measure in self.filled]
        self.of_items = [i for i, kind in enumerate(reads) if kind == "items"]
        self.of_marks = [i for i, kind in enumerate(reads) if kind in MARKED]
        if self.of_items and not items:
            name = str(self.filled[self.of_items[0]])
            problem = f"{name} reads what is known of items: give it, items=irbatch."
            problem += "Items(interactions=train), or the command --items or --interactions"
            raise InputError(problem, source="measures", value=name)
        first = {(kind if kind in MARKED else None): i for i, kind in reversed([*enumerate(reads)])}
        self.marks = next(filter(None, first), None)
        if self.marks is not None and not marks:
            name = str(self.filled[self.of_marks[0]])
            problem = f"{name} reads judgments of {self.marks}: see irbatch.Qrels"
            raise InputError(problem, source="measures", value=name)
        if len(first) > 1 and first.keys() != {None, "subtopics"}:
            some = [f"{self.filled[i]} {kind or 'grades'}" for kind, i in first.items()]
            problem = f"measures read judgments of one kind, not {' and '.join(some)}"
            raise InputError(f"{problem}: evaluate them one after the other", source="measures")

    def __reduce__(self) -> tuple[Any, ...]:
        # Weightings hold functions.
        make = functools.partial(Plan, items=bool(self.of_items), marks=bool(self.of_marks))
        return make, (self.measures, self._defaults)

    def check_levels(self, levels: Floats) -> None:
        """Reject grades above a ``max_grade``, and fractional ones where a ``rel`` is missing."""
        fractional = levels[levels != np.floor(levels)]
        if not fractional.size and (not levels.size or levels[-1] <= self._highest):
            return
        for measure in self.filled:
            if measure.declaration.reads in MARKED:
                continue
            declaration, highest = measure.declaration, _parameter(measure, "max_grade", math.inf)
            if levels.size and levels[-1] > highest:
                grade = float(levels[-1])
                problem = f"grade {grade:g} is above the max_grade of {measure}, {highest:g}"
                raise InputError(problem, value=grade)
            reads_rel = "rel" in declaration.parameters and not declaration.graded
            if fractional.size and reads_rel and measure["rel"] is None:
                example = measure(rel=float(f"{levels[levels.size // 2]:.3g}"))
                problem = f"grade {fractional[0]:g} is not a whole number: are judgments and scores"
                problem += " swapped? If these are grades, say from which on a document is"
                problem += f" relevant, e.g. {example}"
                raise InputError(problem, value=float(fractional[0]))

    def reads_cells(self, *, ties: bool) -> bool:
        """Tell whether a measure reads every cell of a block, or every order if it has ties."""
        return any(group.reads_cells for group in self._of_judged) or (
            ties and bool(self._by_order[1])
        )

    def values(
        self, matrix: RelevanceMatrix, *, skip_no_relevant: bool = False, threads: int | None = None
    ) -> Floats:
        """Scan a block and compute every measure: float64 ``(queries, columns)``.

        Where a query has nothing to retrieve there is NaN, not 0, if `skip_no_relevant`.
        """
        values = np.zeros((matrix.retrieved.size, self.columns))
        if self._of_prefixes:
            with np.errstate(over="ignore"):  # of enormous gains; formulas' values are checked
                scanned = scan(matrix, self._request, threads)
            self._from_rows(scanned, values, threads)
            if matrix.ties is not None and matrix.ties.rows.size:
                from irbatch.engine.expected import expect  # for those who have ties

                rows, expected = expect(matrix, matrix.ties, self._request, scanned)
                of_tied = np.zeros((rows.size, self.columns))
                linear = [group for group in self._linear if group in self._of_prefixes]
                self._from_prefixes(linear, expected, of_tied)
                positions = [position for group in linear for position in group.positions]
                values[rows[:, None], positions] = of_tied[:, positions]
        if self._of_judged:
            self._from_judged(matrix, values)
        if self.of_items or self.of_marks:
            values[:, [*self.of_items, *self.of_marks]] = np.nan
        if self.columns > len(self.measures):
            self._check_weights(values)
        if matrix.ties is not None:
            self._over_orders(matrix, values, threads, skip=skip_no_relevant)
        if skip_no_relevant:
            for group in (*self._of_prefixes, *self._of_judged):
                if needs_relevant(group.measure):
                    relevant = relevant_levels(group.measure, matrix.levels)
                    nothing = np.flatnonzero(matrix.judged[:, relevant].sum(axis=1) == 0)
                    values[nothing[:, None], group.positions] = np.nan
            return values
        for position, measure in enumerate(self.filled):
            if measure.declaration.undefined is not None:
                column = values[:, position]
                column[np.isnan(column)] = measure.declaration.undefined
        return values

    def first_failing(self, matrix: RelevanceMatrix) -> int | None:
        """Return the first row for which a formula fails alone, too; None if there is no such."""
        for row in range(matrix.retrieved.size):
            try:
                self.values(matrix.of_rows(row, row + 1))
            except FormulaError:
                return row
        return None

    def _from_rows(self, scanned: Scan, values: Floats, threads: int | None) -> None:
        """Write the values of measures of prefixes, of rows that fit into the cache together."""

        def write(first: int, last: int) -> None:
            for start in range(first, last, ROWS_AT_ONCE):
                rows = slice(start, min(start + ROWS_AT_ONCE, last))
                self._from_prefixes(self._of_prefixes, scanned.of_rows(rows), values[rows])

        # Users' own formulas need not be made for threads.
        builtin = all(group.measure.declaration.builtin for group in self._of_prefixes)
        cells = CELLS_OF_VALUE * values.size
        map_ranges(write, values.shape[0], cells=cells, threads=threads if builtin else 1)

    def _from_prefixes(self, groups: Sequence[Group], scanned: Scan, values: Floats) -> None:
        """Write the values of some groups, into ``(queries, measures)``, from the scan."""
        views: dict[Any, PrefixStatistics] = {}
        with np.errstate(all="ignore"):
            for group in groups:
                key = group.threshold, group.weights, *group.depths
                if key not in views:
                    views[key] = PrefixStatistics(
                        scanned,
                        self._thresholds.index(group.threshold),
                        self._weights.index(group.weights),
                        [self._cutoffs.index(depth) for depth in group.depths],
                    )
                shape = len(values), len(group.depths)
                values[group.place] = _call(group.measure, group.own, views[key], *shape)
        _check_values(((group.measure, group.place) for group in groups), values)

    def _from_judged(self, matrix: RelevanceMatrix, values: Floats) -> None:
        """Write the values of measures of judged documents, which are collected once."""
        by_depth: dict[float, list[tuple[Group, int]]] = {}
        for group in self._of_judged:
            for depth, position in zip(group.depths, group.positions, strict=True):
                by_depth.setdefault(float(depth), []).append((group, position))
        from irbatch.engine.judged import JudgedRanks, collect_judged, collect_relevant

        deepest = max(by_depth)
        if any(group.reads_cells for group in self._of_judged):
            cut = matrix if deepest == FULL_DEPTH else matrix.truncated(int(deepest))
            judged = collect_judged(cut)
        else:
            judged = collect_relevant(matrix).within(deepest)
        ideals: dict[Any, Any] = {}
        with np.errstate(all="ignore"):
            for depth, some in by_depth.items():  # one by one: each takes a block's memory
                within = judged.within(depth)
                views: dict[tuple[float, Weights], JudgedRanks] = {}
                for group, position in some:
                    key = group.threshold, group.weights
                    if key not in views:
                        weighting = make_weighting(*group.weights)
                        arguments = matrix, within, group.threshold, weighting, depth, ideals
                        views[key] = JudgedRanks(*arguments)
                    read = group.measure, group.own, views[key]
                    values[:, position] = _call(*read, len(values))
        _check_values(((group.measure, group.place) for group in self._of_judged), values)

    def _check_weights(self, values: Floats) -> None:
        """Reject weights below 0, which only users' formulas have."""
        if (wrong := np.argwhere(values[:, len(self.measures) :] < 0)).size:
            row, column = wrong[0] + [0, len(self.measures)]
            value = float(values[row, column])
            problem = f"the formula of {self.filled[column].name} returned {value:g}, below 0"
            raise InputError(problem, source="measures", value=value)

    def _over_orders(
        self, matrix: RelevanceMatrix, values: Floats, threads: int | None, *, skip: bool
    ) -> None:
        """Write the mean over orders of each measure that has no other expected value.

        If one is undefined in some order, so is the mean, where such are to be skipped.
        """
        plan, positions = self._by_order
        if not positions:
            return
        from irbatch.engine.expected import orders_of  # for those who have ties

        for row, orders in orders_of(matrix):
            parts = (
                some.of_rows(first, min(first + plan.rows_at_once, some.retrieved.size))
                for some in orders
                for first in range(0, some.retrieved.size, plan.rows_at_once)
            )
            of_each = [plan.values(part, skip_no_relevant=skip, threads=threads) for part in parts]
            values[row, positions] = np.concatenate(of_each).mean(axis=0)[: len(positions)]

    @cached_property
    def _by_order(self) -> tuple[Plan, list[int]]:
        """The measures that are averaged over orders of tied documents, and their places."""
        others = {position for group in self._linear for position in group.positions}
        others.update(self.of_items, self.of_marks)
        positions = [i for i in range(self.columns) if i not in others]
        return Plan([self.filled[position] for position in positions]), positions


def plan_of(measures: tuple[Measure, ...], defaults: Mapping[str, object], **known: bool) -> Plan:
    """Return the `Plan` of measures, `known` as it takes that; those asked for lately are kept."""
    # Equal measures may be asked for by other names, or be of other declarations.
    keys = tuple((measure, measure.asked, measure.declaration) for measure in measures)
    return _plan(keys, tuple(defaults.items()), **known)


@functools.lru_cache(maxsize=64)
def _plan(keys: tuple[Any, ...], defaults: tuple[tuple[str, object], ...], **known: bool) -> Plan:
    return Plan([measure for measure, *_ in keys], dict(defaults), **known)


def relevant_levels(measure: Measure, levels: Floats) -> Bools:
    """Tell which grades are relevant to a measure, or have a gain: bool ``(levels,)``."""
    if measure.declaration.graded:
        return make_weighting(*_weights(measure)).gain(levels) > 0
    return levels >= float(_parameter(measure, "rel", DEFAULT_REL))


def needs_relevant(measure: Measure) -> bool:
    """Tell whether the measure has no meaning for a query without relevant documents."""
    declaration = measure.declaration
    looks = declaration.no_relevant != AS_ANY_OTHER and "rel" in declaration.parameters
    return measure.aggregate != "sum" and looks


def _parameter(measure: Measure, name: str, default: object = None) -> Any:
    """Return the parameter of a measure; the default, if it has none or leaves it open."""
    value = measure[name] if name in measure.declaration.parameters else None
    return default if value is None else value


def _weights(measure: Measure) -> Weights:
    """Return gain, discount and rel; the defaults for a measure that reads no gains."""
    rel = _parameter(measure, "rel") if measure.declaration.graded else None
    return _parameter(measure, "gain", "linear"), _parameter(measure, "discount", "log2"), rel
