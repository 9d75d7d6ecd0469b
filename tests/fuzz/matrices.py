"""Matrices, columns and offsets: refused, or safe; in plain Python every place is looked at."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import irbatch
from fuzz.target import Target
from irbatch.errors import InputError

Rows = list[list[float | int | None]]
Given = tuple[str, Rows, dict[str, Any]]

NUMBERS = (0, 1, 1, 2, -1, -100, 3, 0.5, 7, 10**6, 2**31, 2**53 + 1, -(2**62), None)
MEASURES = "nDCG@3 AP RR@2 R@5 NumRelRet Bpref"
TYPES = ("", "", "", "float32", "int8", "int64", "bool", "float16", "object", "uint8", "int32")


def _matrix(rows: Rows, **more: Any) -> Any:
    return irbatch.evaluate_matrix(as_given(rows, more), MEASURES, **options(more))


def _scores(rows: Rows, **more: Any) -> Any:
    relevance = more.pop("relevance", None)
    labels = None if relevance is None else as_given(relevance, {})
    return irbatch.evaluate_scores(as_given(rows, more), labels, MEASURES, **options(more))


def _ids(rows: Rows, **more: Any) -> Any:
    relevant = more.pop("relevant")
    given = as_given(rows, more)
    return irbatch.evaluate_ids(given, relevant, MEASURES, pad=more.get("pad"))


def _columns(rows: Rows, **more: Any) -> Any:
    columns = [as_given(each, more) for each in rows]  # type: ignore[arg-type]
    run = irbatch.Run.from_columns(*columns[:3])
    return irbatch.evaluate({1: {1: 1, 2: 2}, 0: {0: 1}}, run, MEASURES)


ENTRANCES: dict[str, Callable[..., Any]] = {
    "matrix": _matrix, "scores": _scores, "ids": _ids, "columns": _columns,
}  # fmt: skip


OPTIONS = {
    "matrix": ("lengths", "n_relevant", "judged"),
    "scores": ("positives", "mask", "lengths", "exclude", "n_relevant", "ties"),
}


class Matrices(Target):
    """Entrances for arrays, plain and compiled."""

    name, share = "matrices", 2

    def generate(self, rng: Random) -> Given:
        entrance = rng.choice(tuple(ENTRANCES))
        rows, width = rng.choice((1, 1, 2, 3)), rng.choice((0, 1, 3, 5, 8))
        rows = 3 if entrance == "columns" else rows
        most = rng.choice((2, 4, 4, len(NUMBERS)))
        more: dict[str, Any] = {"type": rng.choice(TYPES)}
        table = self._table(rng, rows, width, most)
        if entrance == "ids":
            more["relevant"] = self._table(rng, rows, rng.randrange(4), most)
            table = [list(dict.fromkeys(each)) for each in table]
            more["pad"] = rng.choice((None, None, -1, 0))
        elif entrance != "columns":
            names = OPTIONS[entrance]
            if entrance == "scores" and rng.random() < 0.6:
                more["relevance"] = self._table(rng, rows, width, 4)
            for name in names:
                if rng.random() < 0.3:
                    more[name] = self._option(rng, name, rows, width)
        if rng.random() < 0.05 and table:
            table[0] = table[0][:-1]
        return entrance, table, more

    def _table(self, rng: Random, rows: int, width: int, most: int) -> Rows:
        return [[NUMBERS[int(rng.random() * most)] for _ in range(width)] for _ in range(rows)]

    def _option(self, rng: Random, name: str, rows: int, width: int) -> Any:
        if name == "ties":
            return rng.choice(("expected", "index", "optimistic", "pessimistic", "error", "x"))
        if name == "mask":
            return [[rng.random() < 0.7 for _ in range(width)] for _ in range(rows)]
        if name == "positives" and rng.random() < 0.3:
            return rng.choice(("diagonal", "first", "last"))
        if name in ("positives", "exclude", "judged") and rng.random() < 0.7:
            return self._table(rng, rows, rng.randrange(4), rng.choice((4, 9, len(NUMBERS))))
        count = rows + (rng.random() < 0.05)
        return [rng.choice((0, 1, width, width + 1, *NUMBERS[:8])) for _ in range(count)]

    def check(self, given: Given) -> None:
        before = repr(given)
        plain, compiled = (outcome(given, jit) for jit in "01")
        assert plain == compiled, (plain, compiled)
        assert repr(given) == before


def outcome(given: Given, jit: str) -> object:
    entrance, rows, more = given
    was = os.environ.get("IRBATCH_JIT")
    os.environ["IRBATCH_JIT"] = jit
    try:
        found = ENTRANCES[entrance](rows, **more)
    except InputError as error:
        assert str(error)
        return str(error)
    finally:
        os.environ.pop("IRBATCH_JIT") if was is None else os.environ.update(IRBATCH_JIT=was)
    assert all(map(math.isfinite, found.values.ravel().tolist()))
    return found.values.tobytes()


def as_given(rows: Any, more: dict[str, Any]) -> Any:
    """Return an array of some type, or nested lists where NumPy has none of it."""
    kind = more.get("type")
    if not kind:
        return rows
    try:
        array = np.array(rows, kind)
    except (ValueError, TypeError, OverflowError):
        return rows
    array.setflags(write=False)
    return array


def options(more: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in more.items() if name != "type"}
