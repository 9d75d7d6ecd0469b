"""Applying a formula: what comes of it is checked, since users write some."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats
from irbatch.errors import InputError
from irbatch.measures.declare import Measure
from irbatch.measures.parameters import GRADED


class Known(Protocol):
    """What a formula reads of rankings."""

    @property
    def retrieved(self) -> npt.NDArray[Any]:
        """How many documents each has, ``(queries, …)``."""


def apply_formula(measure: Measure, known: Known, at: tuple[int, ...]) -> Floats:
    """Return a formula's values, float64 ``(queries, *at)``, checked."""
    declaration = measure.declaration
    who = f"the formula of {measure.name}"
    # Gains and relevance are told by what is known; of items only relevance.
    told = ("rel",) if declaration.reads == "items" else GRADED
    own = {name: measure[name] for name in declaration.parameters if name not in told}
    shape = (known.retrieved.shape[0], *at)
    try:
        with np.errstate(all="ignore"):  # infinities and NaN are refused below
            values = np.asarray(declaration.formula(known, **own), np.float64)
    except (InputError, MemoryError):
        raise
    except Exception as problem:
        said = f"{who} failed: {type(problem).__name__}: {problem}"
        raise InputError(said, source="measures") from problem
    if values.shape != shape and values.shape != (shape[0], *(1 for _ in at)):
        raise InputError(f"{who} returned shape {values.shape} for {shape}", source="measures")
    fine = np.isfinite(values)
    if declaration.undefined is not None:
        fine |= np.isnan(values)
    if not fine.all():
        value = values[~fine].flat[0]
        shown = "NaN" if np.isnan(value) else value
        summed = declaration.builtin and declaration.graded
        why = "; gains add up to more than float64 holds: give smaller ones" if summed else ""
        raise InputError(f"{who} returned {shown}{why}", source="measures")
    return values if values.shape == shape else np.broadcast_to(values, shape)
