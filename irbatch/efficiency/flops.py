"""Floating-point operations of a query: as the caller tells them, or as torch counts them."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from irbatch.efficiency.checks import check_quantity, refuse
from irbatch.efficiency.quantities import MEGA
from irbatch.errors import InputError, warn

__all__ = ["check_model", "count_flops", "model_size", "told_flops"]


def check_model(source: str, model: Any) -> None:
    """Refuse what is no model of torch.

    Raises:
        InputError: for anything else but None.
    """
    if model is None:
        return
    try:
        torch = importlib.import_module("torch")
    except ImportError:  # then it can't be one
        torch = None
    if torch is None or not isinstance(model, torch.nn.Module):
        kind = type(model).__name__
        raise refuse(source, "model", f"is a {kind}, not a torch.nn.Module", model)


def model_size(model: Any) -> float:
    """Return the size of a model's parameters and buffers, each counted once, in MB."""
    parts = itertools.chain(model.parameters(), model.buffers())
    size: int = sum(each.numel() * each.element_size() for each in parts)
    return size / MEGA


def count_flops(calls: Iterable[Callable[[], int]]) -> float | None:
    """Let torch count the floating-point operations of some calls.

    Its counter knows matrix products, convolutions and attention, and sees what the calling
    thread does.

    Args:
        calls: each of them answers some queries, and returns how many.

    Returns:
        The mean over queries; None, with a warning, where torch counted nothing.
    """
    counter = importlib.import_module("torch.utils.flop_counter")
    with counter.FlopCounterMode(display=False) as counting:
        queries = sum(call() for call in calls)
    total = int(counting.get_total_flops())
    if not total:
        warn("torch counted no FLOPs: search doesn't call the model, or calls it in another thread "
             "or process; flops= says what they are")  # fmt: skip
        return None
    return total / queries


def told_flops(
    source: str, tell: Callable[[Any], Any], ids: Sequence[Any], queries: Sequence[Any]
) -> float:
    """Return the mean of what a function tells of each query.

    Raises:
        InputError: naming the query of what is no number, negative or not finite.
    """
    told = []
    for query, each in zip(ids, queries, strict=True):
        value = tell(each)
        try:
            number = check_quantity(source, "flops", value)
        except InputError as problem:
            raise problem.placed(query=query) from None
        if number is None:
            raise refuse(source, "flops", "is None", value).placed(query=query)
        told.append(number)
    return math.fsum(told) / len(told)
