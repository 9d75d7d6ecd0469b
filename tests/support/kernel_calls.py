"""Calls of every kernel, of each kind, noted while evaluations run, to be run in other ways."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import irbatch
from irbatch.comparing.rankings import overlap, rbo
from irbatch.data.ids import MANY, TextColumn
from irbatch.data.items import Items
from irbatch.data.lookup import IdLookup
from irbatch.engine.similarity import SIMILARITIES
from irbatch.formats.lines import RUN
from irbatch.formats.reader import Piece
from irbatch.pack.counting import SORTED_FROM
from irbatch.runtime.kernels import Arguments, Kernel
from irbatch.runtime.sums import add_up
from irbatch.statistics.resampling import draw_ranges

# Measures with a kernel of their own.
WALKS = "IPrec nDCGrel RnDCG G Qmeasure GAP Compat Tau ERR(gain=linear,max_grade=40000)"

Kinds = tuple[Any, ...]


class Call(NamedTuple):
    """A kernel's arguments, as they were before it ran; objects whose addresses they have live."""

    kernel: Kernel
    values: tuple[Any, ...]
    alive: Any

    def arguments(self) -> list[Any]:
        """Copy the arguments: addresses of arrays become those of the copies."""
        moved: dict[int, int] = {}
        copies = [_copied(value, moved) for value in self.values]
        return [_moved(value, moved) for value in copies]


def note_calls(patch: Any) -> dict[tuple[Kernel, Kinds], Call]:
    """Run what needs every kernel; return the last call of each, for each kind of arguments."""
    calls: dict[tuple[Kernel, Kinds], Call] = {}
    alive: list[Any] = []

    def run(self: Kernel, cells: int, *values: Any) -> Any:
        before = tuple(Call(self, values, alive).arguments())
        addresses = [value.addresses for value in values if hasattr(value, "addresses")]
        for address in np.concatenate([*addresses, [0]]).astype(np.int64)[:-1].tolist():
            alive.append(ctypes.cast(address, ctypes.py_object).value)
        calls[self, Arguments(values).kinds] = Call(self, before, alive)
        return self.source(*values)

    patch.setattr(Kernel, "run", run)
    patch.setattr(Kernel, "run_compiled", run)
    with warnings.catch_warnings(action="ignore"):  # of odd inputs
        for step in _evaluations():
            alive.append(step)
    return calls


def _copied(value: Any, moved: dict[int, int]) -> Any:
    if isinstance(value, np.ndarray):
        made = value.copy()
        moved[value.ctypes.data] = made.ctypes.data
        return made
    return type(value)(*(_copied(each, moved) for each in value)) if is_named(value) else value


def _moved(value: Any, moved: Mapping[int, int]) -> Any:
    if is_named(value):
        return type(value)(*(_moved(each, moved) for each in value))
    return moved.get(value, value) if type(value) is int and value > 1 << 20 else value


def is_named(value: Any) -> bool:
    return hasattr(type(value), "_fields")


def _evaluations() -> Iterator[Any]:
    """Run every kernel; yield the dictionaries that stay alive."""
    rng = np.random.default_rng(5)
    for grades in (2, 200, 40_000):  # codes of 8, 16 and 32 bits
        labels = rng.integers(0, grades, (1, grades + 50)).astype(np.float64)
        labels[0, :grades] = np.arange(grades)
        irbatch.evaluate_matrix(labels, ["nDCG@10", "AP", "P(rel=2)@{3,9}", "infAP", WALKS])
        irbatch.evaluate({"q": {f"d{j}": j for j in range(grades)}}, {"q": {"d1": 1.0}}, "AP")
    qrels = {f"q{i}": {f"d{j}": j % 3 for j in range(20)} for i in range(3)}
    run = {q: {f"d{j}": float(rng.integers(9)) / 3 for j in range(60)} for q in qrels}
    yield qrels, run
    irbatch.evaluate(qrels, run, "nDCG@10 AP")
    aspects = {q: dict.fromkeys(("a", "b"), qrels[q]) for q in qrels}
    irbatch.evaluate(aspects, run, "alpha_nDCG")
    strata = {q: {"a": {"d1": 1, "d2": -1, "d3": 0}, "b": {"d4": 2, "d70": 0}} for q in qrels}
    irbatch.evaluate(strata, run, "xInfAP InfIPrec")
    lines = "".join(f"{q} Q0 {d} 1 {s} t\n" for q in run for d, s in run[q].items())
    irbatch.evaluate(qrels, irbatch.Run(_parsed(lines).table), "nDCG@10")
    _look_up_texts()
    _look_up_items()
    irbatch.evaluate_ids(np.array([[1, 2, 5, 3]]), np.array([[2, 3]]), "nDCG@10")
    _evaluate_scores(rng)
    add_up(np.array([[0.1, -2.5e-310, np.nan], [0.0, -7.0, 1e300]]))
    list(draw_ranges(rng.random((4, 2, 3)), 1, 0))
    for ties in ("id", "a"):
        rbo(["a", "b", "c", "d"], ["b", "a", "e"], ties=ties)
    for one, two, three in (("a", "b", "c"), (1, 2, 3)):
        overlap({"q": {one: 3.0, two: 2.0}}, {"q": {two: 2.0, three: 2.0, one: 1.0}})


def _parsed(lines: str) -> Any:
    return Piece.parse(bytearray(lines.encode()), RUN, "").compact()


def _evaluate_scores(rng: np.random.Generator) -> None:
    for dtype in (np.float16, np.float32, np.float64, np.int64, np.uint64):
        scores = rng.integers(0, 9, (1, SORTED_FROM + 2)).astype(dtype)
        for some in (4, SORTED_FROM + 1):  # counted for one by one, and sorted
            options: dict[str, Any] = {"positives": [list(range(some))], "exclude": [[some]]}
            irbatch.evaluate_scores(scores, measures="nDCG@10", ties="index", **options)
    tied = np.array([[2.0, 1.0, 1.0, 1.0]])
    irbatch.evaluate_scores(tied, [[0, 0, 1, 0]], "nDCG@10 AP RR Success@2")


def _look_up_items() -> None:
    known: dict[str, Any] = {"interactions": {"q": ["a", "b"]}, "groups": {"a": "A", "b": "B"}}
    vectors = np.array([[1.0, 0.5], [0.25, 3.0]])
    items = Items(["a", "b"], embeddings=vectors, similarity=vectors, **known)
    run = {"q": {"a": 2.0, "b": 1.0}}
    names = [f"{name}(by={by})" for by in SIMILARITIES for name in ("ILD", "Unexpectedness")]
    irbatch.evaluate({"q": {"a": 1}}, run, [*names, "AWRF(target=uniform)"], items=items)
    IdLookup(np.array([7, 8, 9])).find(np.array([9, 4]))


def _look_up_texts() -> None:
    """Evaluate columns of text, as lists and frames have them, and list what is in one."""
    qrels = irbatch.Qrels.from_columns(["q", "q"], ["a", "c"], [1, 2])
    queries, documents = ["q", "p", "q"], ["a", "a", "b"]
    irbatch.evaluate(qrels, irbatch.Run.from_columns(queries, documents, [2.0, 1.0, 1.0]), "AP")
    TextColumn.encode(["a", "bc"] * MANY).tolist()
    numbers = irbatch.Qrels.from_columns([1, 1], [7, 8], [1, 2])
    irbatch.evaluate(numbers, irbatch.Run.from_columns([1, 1], [8, 9], [1.0, 2.0]), "AP")
