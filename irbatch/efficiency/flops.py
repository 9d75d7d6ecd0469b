"""Floating-point operations of a query, as the caller or torch counts them."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from irbatch.efficiency.checks import read_quantity, refuse
from irbatch.efficiency.quantities import MEGA
from irbatch.efficiency.timing import Calls
from irbatch.errors import ErrorsIn, warn

COUNTED = 32  # queries whose floating-point operations torch counts


def check_model(source: str, model: Any) -> None:
    """Refuse what is neither None nor a model of torch."""
    torch = sys.modules.get("torch")  # which every model has loaded
    if model is not None and (torch is None or not isinstance(model, torch.nn.Module)):
        kind = type(model).__name__
        raise refuse(source, "model", f"is a {kind}, not a torch.nn.Module", model)


def model_size(model: Any) -> float:
    """Return the size of a model's parameters and buffers, each counted once, in MB."""
    parts = itertools.chain(model.parameters(), model.buffers())
    size: int = sum(each.numel() * each.element_size() for each in parts)
    return size / MEGA


def torch_flops(calls: Calls) -> float | None:
    """Let torch count the floating-point operations of the first calls, one at least.

    Its counter sees what the calling thread does. What it counts is returned as the mean over
    queries; None, with a warning, where that is nothing.
    """
    counter = importlib.import_module("torch.utils.flop_counter")
    queries = 0
    with counter.FlopCounterMode(display=False) as counting:
        for number in range(min(max(COUNTED // calls.size, 1), len(calls))):
            calls.time(number)
            queries += len(calls.ids_of(number))
    total = int(counting.get_total_flops())
    if total:
        return total / queries
    why = "search doesn't call the model, or calls it in another thread or process"
    warn(f"torch counted no FLOPs: {why}; flops= says what they are")
    return None


def mean_flops(
    source: str, count: Callable[[Any], Any], ids: Sequence[Any], queries: Sequence[Any]
) -> float:
    """Return the mean of what the caller's function says of each query."""
    numbers = []
    for query, each in zip(ids, queries, strict=True):
        with ErrorsIn(query=query):
            numbers.append(read_quantity(source, "flops", count(each)))
    return math.fsum(numbers) / len(numbers)
