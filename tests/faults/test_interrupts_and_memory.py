"""Interrupts and a lack of memory at many points: an error, and the right values afterwards."""

from __future__ import annotations

import itertools
import random
import signal
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.every_way import LABELS, QRELS, RUN, SCORES, ways
from support.file_readers import use_reader

import irbatch
from irbatch import BatchEvaluator

WAYS = ("file", "updates", "comparison")


@pytest.fixture
def evaluations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], str]]:
    use_reader("pieces", monkeypatch, 1 << 11)
    monkeypatch.setenv("IRBATCH_THREADS", "2")
    return ways(tmp_path)


# ---------------------------------------------------------------- interrupts


@pytest.fixture
def interrupt() -> Iterator[Callable[[float], None]]:
    """Set a clock that interrupts, as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda after: signal.setitimer(signal.ITIMER_REAL, after) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


# An interrupt between two instructions of Python's own `with` leaves a file to be closed later.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such clock")
@pytest.mark.parametrize("way", WAYS)
def test_an_interrupt_at_any_time(
    way: str,
    evaluations: dict[str, Callable[[], str]],
    interrupt: Callable[[float], None],
) -> None:
    evaluate = evaluations[way]
    expected = evaluate()
    lucky, count = random.Random(4), 5
    interrupted = 0
    for number in itertools.count():
        try:
            interrupt(10 ** lucky.uniform(-4.5, -1.5))
            assert evaluate() == expected
            interrupt(0)
        except KeyboardInterrupt:
            interrupted += 1
            assert evaluate() == expected
        if interrupted == count or number == 3 * count:
            break
    assert interrupted


# ---------------------------------------------------------------- memory


class Scarce:
    """NumPy whose n-th array cannot be made."""

    def __init__(self) -> None:
        self.left = 1 << 60

    def making(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*given: Any, **named: Any) -> Any:
            self.left -= 1
            if not self.left:
                raise MemoryError
            return make(*given, **named)

        return made


@pytest.fixture
def scarce(monkeypatch: pytest.MonkeyPatch) -> Scarce:
    """Where irbatch makes arrays, they may be lacking."""
    found = Scarce()
    names = ("empty", "zeros", "full", "arange", "concatenate", "repeat", "fromiter", "where")
    numpy = types.ModuleType("numpy")
    numpy.__dict__.update(vars(np))
    numpy.__dict__.update({name: found.making(getattr(np, name)) for name in names})
    for name, module in list(sys.modules.items()):
        if name.startswith("irbatch.") and getattr(module, "np", None) is np:
            monkeypatch.setattr(module, "np", numpy)
    return found


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_an_update_without_memory_changes_nothing(keep: str, scarce: Scarce) -> None:
    evaluator = BatchEvaluator("RR nDCG@10", keep=keep)
    evaluator.update(SCORES[:9], LABELS[:9])
    before = evaluator.state_dict()
    for n in range(1, 200):
        scarce.left = n
        try:
            evaluator.update(SCORES[9:], LABELS[9:])
        except MemoryError:
            assert evaluator.state_dict() == before
            continue
        break
    scarce.left = 1 << 60
    whole = BatchEvaluator("RR nDCG@10", keep=keep)
    whole.update(SCORES, LABELS)
    assert evaluator.compute().mean() == whole.compute().mean()
    assert 3 < n < 199


def test_a_formula_without_memory_is_no_wrong_formula() -> None:
    @irbatch.define_measure("Huge", definition="…")
    def huge(s: Any) -> Any:
        raise MemoryError

    with pytest.raises(MemoryError):
        irbatch.evaluate(QRELS, RUN, huge)
