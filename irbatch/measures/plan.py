"""From measures to one scan: what all of them together need, and their values from it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.prefix import FULL_DEPTH, PrefixStatistics, Scan, ScanRequest
from irbatch.engine.scan import scan
from irbatch.errors import InputError
from irbatch.measures.apply import Collected, Group, apply_formula
from irbatch.measures.declare import AS_ANY_OTHER, Measure
from irbatch.measures.gains import make_weighting

DEFAULT_REL = 1.0


class Plan:
    """The measures of an evaluation and the single scan that serves them all.

    Args:
        measures: what to compute, each once.
        defaults: values for parameters that a measure leaves open, by parameter; ``rel`` goes to
            the measures of relevant or not, not to those of gain.
    """

    def __init__(
        self, measures: Sequence[Measure], defaults: Mapping[str, object] | None = None
    ) -> None:
        self.measures = tuple(measures)
        self._filled = tuple(_fill_in(each, defaults or {}) for each in measures)
        groups: dict[tuple[object, ...], Group] = {}
        for position, each in enumerate(self._filled):
            key = (each.name, each.parameters)
            if key not in groups:
                groups[key] = Group(each, _threshold(each), _weighting(each), [], [])
            groups[key].depths.append(_scan_cutoff(each))
            groups[key].positions.append(position)
        every = list(groups.values())
        self._of_prefixes = [each for each in every if each.measure.declaration.reads == "prefix"]
        self._of_judged = [each for each in every if each.measure.declaration.reads == "judged"]
        self._linear = [each for each in self._of_prefixes if each.measure.is_linear()]
        self._thresholds = list(dict.fromkeys(each.threshold for each in self._of_prefixes))
        self._weightings = list(dict.fromkeys(each.weighting for each in self._of_prefixes))
        self._cutoffs = sorted({depth for each in self._of_prefixes for depth in each.depths})
        self._request = ScanRequest(
            cutoffs=self._cutoffs,
            thresholds=self._thresholds,
            weightings=[make_weighting(*key) for key in self._weightings],
        )

    def check_levels(self, levels: Floats) -> None:
        """Refuse fractional grades where a measure has to know which of them are relevant.

        Raises:
            InputError: if a grade is not whole and a measure has no ``rel``.
        """
        fractional = levels[levels != np.floor(levels)]
        if not fractional.size:
            return
        for each in self._filled:
            undecided = "rel" in each.declaration.parameters and not each.declaration.graded
            if undecided and each["rel"] is None:
                raise InputError(
                    f"grade {fractional[0]:g} is not a whole number: say from which grade on a "
                    f"document is relevant, e.g. {each(rel=0.5)}",
                    value=float(fractional[0]),
                )

    def reads_cells(self, *, ties: bool) -> bool:
        """Tell whether a measure reads every cell of a block, or every order if it has ties."""
        return bool(self._of_judged) or (ties and bool(self._by_order[1]))

    def values(
        self,
        matrix: RelevanceMatrix,
        *,
        skip_no_relevant: bool = False,
        threads: int | None = None,
    ) -> Floats:
        """Scan a block and compute every measure.

        Args:
            matrix: a block of queries.
            skip_no_relevant: NaN, instead of 0, where a query has nothing to retrieve.
            threads: see `irbatch.engine.scan.scan`.

        Returns:
            float64 ``(queries, measures)``.
        """
        values = np.empty((matrix.retrieved.size, len(self.measures)))
        if self._of_prefixes:
            with np.errstate(over="ignore"):  # of enormous gains; formulas' values are checked
                scanned = scan(matrix, self._request, threads)
            self._from_prefixes(self._of_prefixes, scanned, values)
            if matrix.ties is not None and matrix.ties.rows.size:
                from irbatch.engine.ties.expected import expect  # for those who have ties

                expected = expect(matrix, matrix.ties, self._request, scanned)
                of_tied = np.empty((expected.rows.size, len(self.measures)))
                self._from_prefixes(self._linear, expected, of_tied)
                positions = [position for group in self._linear for position in group.positions]
                values[expected.rows[:, None], positions] = of_tied[:, positions]
        collected = Collected(matrix)
        for group in self._of_judged:
            for depth, position in zip(group.depths, group.positions, strict=True):
                judged = collected.judged(group, depth)
                values[:, position] = apply_formula(group.measure, judged, ())
        if matrix.ties is not None:
            self._over_orders(matrix, values, threads)
        if skip_no_relevant:
            for group in (*self._of_prefixes, *self._of_judged):
                if _needs_relevant(group.measure):
                    nothing = np.flatnonzero(~_has_relevant(group, matrix))
                    values[nothing[:, None], group.positions] = np.nan
        return values

    def _from_prefixes(self, groups: Sequence[Group], scanned: Scan, values: Floats) -> None:
        """Write the values of some groups, into ``(queries, measures)``, from the scan.

        Measures at the same cutoffs share what they read of it.
        """
        views: dict[tuple[object, ...], PrefixStatistics] = {}
        for group in groups:
            key = group.threshold, group.weighting, tuple(group.depths)
            if key not in views:
                views[key] = scanned.select(
                    self._thresholds.index(group.threshold),
                    self._weightings.index(group.weighting),
                    [self._cutoffs.index(depth) for depth in group.depths],
                )
            depths = (len(group.depths),)
            values[:, group.positions] = apply_formula(group.measure, views[key], depths)

    def _over_orders(self, matrix: RelevanceMatrix, values: Floats, threads: int | None) -> None:
        """Write the mean over orders of each measure that has no other expected value."""
        plan, positions = self._by_order
        if not positions:
            return
        from irbatch.engine.ties.orders import orders_of  # for those who have ties

        for row, orders in orders_of(matrix):
            of_each = [plan.values(some, threads=threads) for some in orders]
            values[row, positions] = np.concatenate(of_each).mean(axis=0)

    @functools.cached_property
    def _by_order(self) -> tuple[Plan, list[int]]:
        """The measures that are averaged over orders of tied documents, and their places."""
        linear = {position for group in self._linear for position in group.positions}
        positions = [i for i in range(len(self.measures)) if i not in linear]
        return Plan([self._filled[position] for position in positions]), positions


def _fill_in(measure: Measure, defaults: Mapping[str, object]) -> Measure:
    """Set the parameters that a measure leaves open."""
    declaration = measure.declaration
    given = dict(measure.parameters)
    settings = {
        name: value
        for name, value in defaults.items()
        if name in declaration.parameters
        and name not in given
        and not (name == "rel" and declaration.graded)
    }
    return measure(**settings)


def _has_relevant(group: Group, matrix: RelevanceMatrix) -> Bools:
    """Tell, bool ``(queries,)``, which queries have a document that is relevant to the measure."""
    if group.measure.declaration.graded:
        gains = make_weighting(*group.weighting).gain(matrix.levels)
        wanted = matrix.judged[:, gains > 0]
    else:
        wanted = matrix.judged[:, matrix.levels >= group.threshold]
    counts: Ints = wanted.sum(axis=1)
    return counts > 0


def _needs_relevant(measure: Measure) -> bool:
    """Tell whether the measure has no meaning for a query without relevant documents."""
    declaration = measure.declaration
    looks = declaration.no_relevant != AS_ANY_OTHER and "rel" in declaration.parameters
    return measure.aggregate != "sum" and looks


def _scan_cutoff(measure: Measure) -> float:
    return FULL_DEPTH if measure.cutoff is None else measure.cutoff


def _threshold(measure: Measure) -> float:
    """Return the least relevant grade; 1 unless the measure says otherwise."""
    rel = measure["rel"] if "rel" in measure.declaration.parameters else None
    return DEFAULT_REL if rel is None else float(rel)


def _weighting(measure: Measure) -> tuple[object, ...]:
    """Return gain, discount and rel; the defaults for a measure that reads no gains."""
    parameters = measure.declaration.parameters
    if not measure.declaration.graded:
        return "linear", "log2", None
    discount = measure["discount"] if "discount" in parameters else "log2"
    return measure["gain"], discount, measure["rel"] if "rel" in parameters else None
