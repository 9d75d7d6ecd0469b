"""From measures to one scan: what all of them together need, and their values from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.matrix import RelevanceMatrix
from irbatch.measures.declare import Measure
from irbatch.measures.gains import make_weighting
from irbatch.prefix import FULL_DEPTH, Scan, ScanRequest
from irbatch.scan import scan

__all__ = ["Plan"]

Array = npt.NDArray[np.float64]
DEFAULT_REL = 1.0


@dataclass(frozen=True)
class _Group:
    """Measures that differ in their cutoffs only: one call of the formula."""

    measure: Measure
    threshold: int
    weighting: int
    columns: list[int]  # of the scan's cutoffs
    positions: list[int]  # of the plan's measures


class Plan:
    """The measures of an evaluation and the single scan that serves them all.

    Args:
        measures: what to compute, each once.
    """

    def __init__(self, measures: Sequence[Measure]) -> None:
        self.measures = tuple(measures)
        depths = [_scan_cutoff(each) for each in self.measures]
        cutoffs = sorted(set(depths))
        thresholds: dict[float, int] = {}
        weightings: dict[tuple[object, ...], int] = {}
        groups: dict[tuple[object, ...], _Group] = {}
        for position, (each, depth) in enumerate(zip(self.measures, depths, strict=True)):
            key = (each.name, each.parameters)
            if key not in groups:
                groups[key] = _Group(
                    each,
                    thresholds.setdefault(_threshold(each), len(thresholds)),
                    weightings.setdefault(_weighting(each), len(weightings)),
                    [],
                    [],
                )
            groups[key].columns.append(cutoffs.index(depth))
            groups[key].positions.append(position)
        self._groups = list(groups.values())
        self.request = ScanRequest(
            cutoffs=cutoffs,
            thresholds=list(thresholds),
            weightings=[make_weighting(*key) for key in weightings],
        )

    def check_levels(self, levels: Array) -> None:
        """Refuse fractional grades where a measure has to know which of them are relevant.

        Raises:
            InputError: when some grade is not whole and a measure has no ``rel``.
        """
        fractional = levels[levels != np.floor(levels)]
        if not fractional.size:
            return
        for each in self.measures:
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
        scanned = scan(matrix, self.request, threads)
        values = np.empty((matrix.retrieved.size, len(self.measures)))
        for group in self._groups:
            found = _evaluate(group, scanned)
            if skip_no_relevant and _looks_for_relevant(group.measure):
                found = np.where(self._anything_to_find(group, matrix, scanned), found, np.nan)
            values[:, group.positions] = found
        return values

    def _anything_to_find(
        self, group: _Group, matrix: RelevanceMatrix, scanned: Scan
    ) -> npt.NDArray[np.bool_]:
        """Tell, bool ``(queries, 1)``, where the measure has a document to look for."""
        if group.measure.declaration.graded:
            gains = self.request.weightings[group.weighting].gain(matrix.levels)
            wanted = matrix.judged[:, gains > 0].sum(axis=1)
        else:
            wanted = scanned.relevant[group.threshold]
        something: npt.NDArray[np.bool_] = (wanted > 0)[:, None]
        return something


def _evaluate(group: _Group, scanned: Scan) -> Array:
    """Apply a formula; check what it returns, since users write formulas too."""
    declaration = group.measure.declaration
    own = {name: group.measure[name] for name in declaration.own_parameters()}
    statistics = scanned.select(group.threshold, group.weighting, group.columns)
    shape = (scanned.retrieved.size, len(group.columns))
    try:
        values = np.asarray(declaration.formula(statistics, **own), np.float64)
    except InputError:
        raise
    except Exception as problem:
        raise InputError(
            f"the formula of {group.measure.name} failed: {type(problem).__name__}: {problem}",
            source="measures",
        ) from problem
    if values.shape not in (shape, (shape[0], 1)):
        raise InputError(
            f"the formula of {group.measure.name} returned shape {values.shape} for {shape}",
            source="measures",
        )
    if np.isnan(values).any():
        raise InputError(f"the formula of {group.measure.name} returned NaN", source="measures")
    return np.broadcast_to(values, shape)


def _looks_for_relevant(measure: Measure) -> bool:
    """Tell whether a query without relevant documents leaves the measure nothing to say."""
    return measure.aggregate == "mean" and "rel" in measure.declaration.parameters


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
