"""From measures to one scan: what all of them together need, and their values from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.judged import JudgedRanks
from irbatch.matrix import RelevanceMatrix
from irbatch.measures.declare import AS_ANY_OTHER, Measure
from irbatch.measures.gains import make_weighting
from irbatch.prefix import FULL_DEPTH, PrefixStatistics, Scan, ScanRequest
from irbatch.scan import scan

__all__ = ["Plan"]

Array = npt.NDArray[np.float64]
DEFAULT_REL = 1.0


@dataclass(frozen=True)
class _Group:
    """Measures that differ in their cutoffs only."""

    measure: Measure
    threshold: float
    weighting: tuple[object, ...]
    depths: list[float]  # their cutoffs
    positions: list[int]  # their places among the plan's measures


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
        self._settled = tuple(_settle(each, defaults or {}) for each in measures)
        groups: dict[tuple[object, ...], _Group] = {}
        for position, each in enumerate(self._settled):
            key = (each.name, each.parameters)
            if key not in groups:
                groups[key] = _Group(each, _threshold(each), _weighting(each), [], [])
            groups[key].depths.append(_scan_cutoff(each))
            groups[key].positions.append(position)
        every = list(groups.values())
        self._of_prefixes = [each for each in every if each.measure.declaration.reads == "prefix"]
        self._of_judged = [each for each in every if each.measure.declaration.reads == "judged"]
        self._thresholds = list(dict.fromkeys(each.threshold for each in self._of_prefixes))
        self._weightings = list(dict.fromkeys(each.weighting for each in self._of_prefixes))
        self._cutoffs = sorted({depth for each in self._of_prefixes for depth in each.depths})
        self._request = ScanRequest(
            cutoffs=self._cutoffs,
            thresholds=self._thresholds,
            weightings=[make_weighting(*key) for key in self._weightings],
        )

    def check_levels(self, levels: Array) -> None:
        """Refuse fractional grades where a measure has to know which of them are relevant.

        Raises:
            InputError: when some grade is not whole and a measure has no ``rel``.
        """
        fractional = levels[levels != np.floor(levels)]
        if not fractional.size:
            return
        for each in self._settled:
            undecided = "rel" in each.declaration.parameters and not each.declaration.graded
            if undecided and each["rel"] is None:
                raise InputError(
                    f"grade {fractional[0]:g} is not a whole number: say from which grade on a "
                    f"document is relevant, e.g. {each(rel=0.5)}",
                    value=float(fractional[0]),
                )

    def values(self, matrix: RelevanceMatrix, *, skip_no_relevant: bool = False,
               threads: int | None = None) -> Array:  # fmt: skip
        """Scan a block and compute every measure.

        Args:
            matrix: a block of queries.
            skip_no_relevant: NaN, instead of 0, where a query has nothing to retrieve.
            threads: see `irbatch.scan.scan`.

        Returns:
            float64 ``(queries, measures)``.
        """
        values = np.empty((matrix.retrieved.size, len(self.measures)))
        if self._of_prefixes:
            with np.errstate(over="ignore"):  # of enormous gains; formulas' values are checked
                scanned = scan(matrix, self._request, threads)
            views: dict[tuple[object, ...], PrefixStatistics] = {}
            for group in self._of_prefixes:
                values[:, group.positions] = self._from_prefixes(group, scanned, views)
        collected = _Collected(matrix)
        for group in self._of_judged:
            for depth, position in zip(group.depths, group.positions, strict=True):
                values[:, position] = _apply(group.measure, collected.judged(group, depth), ())
        if skip_no_relevant:
            for group in (*self._of_prefixes, *self._of_judged):
                if _looks_for_relevant(group.measure):
                    nothing = np.flatnonzero(~_anything_to_find(group, matrix))
                    values[nothing[:, None], group.positions] = np.nan
        return values

    def _from_prefixes(
        self, group: _Group, scanned: Scan, views: dict[tuple[object, ...], PrefixStatistics]
    ) -> Array:
        """Compute a group's values, ``(queries, measures)``, from the scan.

        Measures at the same cutoffs share what they read of it.
        """
        key = group.threshold, group.weighting, tuple(group.depths)
        if key not in views:
            views[key] = scanned.select(
                self._thresholds.index(group.threshold),
                self._weightings.index(group.weighting),
                [self._cutoffs.index(depth) for depth in group.depths],
            )
        return _apply(group.measure, views[key], (len(group.depths),))


class _Collected:
    """The judged documents of a block, collected once a cutoff."""

    def __init__(self, matrix: RelevanceMatrix) -> None:
        self._matrix = matrix
        self._collected: dict[float, JudgedRanks] = {}
        self._views: dict[tuple[object, ...], JudgedRanks] = {}

    def judged(self, group: _Group, depth: float) -> JudgedRanks:
        """Return what a measure reads at a cutoff."""
        key = depth, group.threshold, group.weighting
        if key not in self._views:
            matrix = self._matrix if depth == FULL_DEPTH else self._matrix.truncated(int(depth))
            weighting = make_weighting(*group.weighting)
            gains = np.asarray(weighting.gain(matrix.levels), np.float64)
            deepest = max(matrix.depth, int(matrix.judged.sum(axis=1).max(initial=0)), 1)
            divisors = weighting.discount(deepest)
            if depth in self._collected:
                same = self._collected[depth]
                places = same.owners, same.ranks, same.codes
                view = JudgedRanks(matrix, group.threshold, gains, divisors, *places)
            else:
                view = JudgedRanks.of(matrix, group.threshold, gains, divisors)
                self._collected[depth] = view
            self._views[key] = view
        return self._views[key]


def _apply(measure: Measure, known: PrefixStatistics | JudgedRanks, at: tuple[int, ...]) -> Array:
    """Apply a formula; check what it returns, since users write formulas too.

    Args:
        measure: whose formula.
        known: what the formula reads.
        at: the shape of the cutoffs that it returns values for.
    """
    declaration = measure.declaration
    own = {name: measure[name] for name in declaration.own_parameters()}
    queries = known.retrieved.shape[0]
    try:
        with np.errstate(all="ignore"):  # what comes of it is refused below
            values = np.asarray(declaration.formula(known, **own), np.float64)
    except InputError:
        raise
    except Exception as problem:
        raise InputError(
            f"the formula of {measure.name} failed: {type(problem).__name__}: {problem}",
            source="measures",
        ) from problem
    if values.shape not in ((queries, *at), (queries, *(1 for _ in at))):
        raise InputError(
            f"the formula of {measure.name} returned shape {values.shape} for {(queries, *at)}",
            source="measures",
        )
    if not np.isfinite(values).all():
        value = values[~np.isfinite(values)].flat[0]
        shown = "NaN" if np.isnan(value) else value
        raise InputError(f"the formula of {measure.name} returned {shown}", source="measures")
    return np.broadcast_to(values, (queries, *at))


def _settle(measure: Measure, defaults: Mapping[str, object]) -> Measure:
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


def _anything_to_find(group: _Group, matrix: RelevanceMatrix) -> npt.NDArray[np.bool_]:
    """Tell, bool ``(queries,)``, where the measure has a document to look for."""
    if group.measure.declaration.graded:
        gains = make_weighting(*group.weighting).gain(matrix.levels)
        wanted = matrix.judged[:, gains > 0]
    else:
        wanted = matrix.judged[:, matrix.levels >= group.threshold]
    counts: npt.NDArray[np.int64] = wanted.sum(axis=1)
    return counts > 0


def _looks_for_relevant(measure: Measure) -> bool:
    """Tell whether a query without relevant documents leaves the measure nothing to say."""
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
