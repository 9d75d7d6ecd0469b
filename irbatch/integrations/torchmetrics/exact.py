"""What the metrics share: states of whole numbers, exact whatever a model is converted to."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.errors import InputError, imported, shown
from irbatch.runtime.numbers import LARGEST_WHOLE, grade_problem, number_problem

torch = imported("torchmetrics' metrics", "torchmetrics", "torch")
torchmetrics = imported("torchmetrics' metrics", "torchmetrics", "torchmetrics")
Metric: Any = torchmetrics.Metric


class ExactMetric(Metric):  # type: ignore[misc]
    """A metric whose states are int64, and stay as they were when an update fails."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Of each list state the columns of its tensors; not annotated in the class, where
        # torch.jit.script would read it.
        self.widths: dict[str, int] = {}

    @torch.jit.unused  # type: ignore[untyped-decorator]
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Update with a batch; return the values of the batch alone."""
        before = dict(self.__dict__)
        lists = {name: list(getattr(self, name)) for name in self.widths}
        try:
            return super().forward(*args, **kwargs)
        except Exception:  # it has put the state aside, and would leave it there
            self.__dict__.update(before)
            self.__dict__.update(lists)
            raise

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """Synchronize; a process without a batch has empty states of the others' shape."""
        for name, width in self.widths.items():
            if isinstance(getattr(self, name), list) and not getattr(self, name):
                nothing = torch.empty((0, width), dtype=torch.int64, device=self.device)
                getattr(self, name).append(nothing)
        super().sync(*args, **kwargs)

    def set_dtype(self, dst_type: Any) -> Any:
        """Leave the states as they are: whole numbers of 64 bits."""
        return self

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot values of `compute`, by default the one now, as torchmetrics' metrics do."""
        return self._plot(val, ax)

    def held(self, name: str) -> Ints:
        """Return a list state, synchronized or not, as one matrix."""
        state = getattr(self, name)
        parts = state if isinstance(state, list) else [state]
        nothing = np.empty((0, self.widths[name]), np.int64)
        return np.concatenate([nothing, *(part.cpu().numpy() for part in parts)])

    def as_tensors(self, values: Mapping[str, float]) -> Any:
        """Return numbers as tensors, float64 where the device has that; of one number, it alone."""
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        make = functools.partial(torch.tensor, dtype=dtype, device=self.device)
        tensors = {name: make(value) for name, value in values.items()}
        return tensors if len(tensors) > 1 else tensors.popitem()[1]


def as_whole(values: Any, name: str, device: Any) -> Any:
    """Return an int64 tensor: ``"indexes"`` as they are, of others the bits of their float64."""
    whole = name == "indexes"
    try:
        column = torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{shown(values)} are no numbers", source=name) from None
    kind = column.dtype
    if kind.is_complex or (whole and (kind.is_floating_point or kind == torch.bool)):
        needed = "whole numbers" if whole else "real numbers"
        raise InputError(f"{kind} are no {needed}", source=name)
    if whole:
        return column.to(device, torch.int64)
    if column.device.type == "mps":  # it has no float64
        column = column.cpu()
    numbers = column.to(torch.float64)
    # The largest grade may have been rounded to it.
    sure = numbers.abs() < LARGEST_WHOLE if name == "target" else ~numbers.isnan()
    for number in () if sure.all() else column[~sure].tolist():
        if problem := (grade_problem if name == "target" else number_problem)(number):
            raise InputError(problem, source=name, value=number)
    return numbers.view(torch.int64).to(device)
