"""Generated values: dictionaries of any objects, and calls of an evaluator."""

from __future__ import annotations

import copy
import json
import math
import pickle
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle import measures as oracle
from support.generating import TIMES, examples

import irbatch
from irbatch import InputError

pytestmark = pytest.mark.filterwarnings("ignore::irbatch.InputWarning")

# ---------------------------------------------------------------- dictionaries

Sides = tuple[dict[Any, Any], dict[Any, Any]]
MEASURES = {"P(rel=1)@2": ("P", 2), "RR(rel=1)": ("RR", None), "AP(rel=1)": ("AP", None),
            "nDCG@3": ("nDCG", 3), "NumRet": ("NumRet", None)}  # fmt: skip


class OfText(str):
    """Text of another type."""


class OfInt(int):
    """Whole numbers of another type."""


class Floating:
    """What can be converted to a number."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


KINDS: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "of text": OfText,
    "of int": OfInt,
    "int64": np.int64,
    "uint8": np.uint8,
    "np.str": np.str_,
    "float": float,
    "float32": np.float32,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "decimal": Decimal,
    "fraction": Fraction,
    "floating": lambda value: Floating(float(value)),
    "power": lambda value: 2**value,
    "bool": bool,
    "np.bool": np.bool_,
    "bytes": lambda value: str(value).encode(errors="replace"),
    "none": lambda _: None,
    "complex": complex,
    "tuple": lambda value: (value,),
    "array": lambda value: np.array(float(value)),
    "row": lambda value: np.array([float(value)]),
    "masked": lambda _: np.ma.masked,
    "date": lambda value: np.datetime64(int(value), "D"),
    "object": lambda _: object,
}
TEXTS = st.sampled_from(("q1", "d1", "d2", "d3", "", "é", "a\0b", "\ud800", " ", "x" * 300))
DIGITS = st.integers(0, 3).map(str)
NUMBERS = ("0", "1", "2", "-1", "0.5", "3", "nan", "inf", "-inf", "1e400", "1e-400")
Ids = tuple[Any, Any]  # usual ones, and odd ones


def made(kinds: Any, values: Any) -> Any:
    """Return objects of kinds, made of values, where there are such objects."""

    def make(kind: str, value: str) -> Any:
        try:
            if kind in ("bool", "np.bool", "power"):
                return KINDS[kind](int(value) * (40 if kind == "power" else 1))
            return KINDS[kind](float(value) if kind == "complex" else value)
        except (ValueError, TypeError, ArithmeticError):
            return value

    return st.builds(make, st.sampled_from(kinds), values)


def seldom(usual: Any, odd: Any) -> Any:
    return st.integers(0, 24).flatmap(lambda number: odd if number == 0 else usual)


ODD_IDS = made(["bytes", "none", "bool", "float", "tuple", "fraction", "np.bool", "str"], DIGITS)
TEXT_IDS = seldom(TEXTS, made(["of text", "np.str"], TEXTS))
WHOLE_IDS = made(["int", "int64", "of int", "uint8"], DIGITS)
VALUES = st.one_of(
    *[made(["int"], DIGITS)] * 6, made([kind for kind in KINDS if kind != "str"], DIGITS),
    made(["float", "decimal", "float32", "longdouble"], st.sampled_from(NUMBERS)),
)  # fmt: skip


def tables(ids: Any) -> Any:
    documents = st.dictionaries(ids, VALUES, max_size=4)
    return st.dictionaries(ids, seldom(documents, st.none()), max_size=3)


def contents(table: dict[Any, Any]) -> list[object]:
    """Return which objects a table holds."""
    rows = [(id(query), id(each)) for query, each in table.items()]
    rows += [
        (id(document), id(value))
        for each in table.values()
        for document, value in (each or {}).items()
    ]
    return list(rows)


@examples(250)
@given(
    st.sampled_from([TEXT_IDS, TEXT_IDS, seldom(WHOLE_IDS, ODD_IDS)]).flatmap(
        lambda ids: st.tuples(tables(ids), tables(ids))
    )
)
def test_dictionaries_of_any_objects(given: Sides) -> None:
    """They are evaluated as the slow twin does, or rejected; and never changed."""
    qrels, run = given
    before = contents(qrels), contents(run)
    try:
        found = irbatch.evaluate(qrels, run, list(MEASURES))
    except InputError as error:
        assert expect(qrels, run, whole=True) is None, str(error)
    else:
        expected = expect(qrels, run)
        assert expected is not None, "it has no meaning, and is evaluated"
        assert [*map(str, found.query_ids)] == [*map(str, expected)]
        for row, values in zip(found.values.tolist(), expected.values(), strict=True):
            assert row == pytest.approx(values, rel=1e-9, abs=1e-12)
    assert (contents(qrels), contents(run)) == before


def expect(
    qrels: dict[Any, Any], run: dict[Any, Any], *, whole: bool = False
) -> dict[Any, list[float]] | None:
    """Return the values of each query, or None where judgments and rankings have no meaning.

    The ids that queries without judged documents retrieved have to have one only if `whole`.
    """
    sides = []
    for table in (qrels, run):
        if not all(isinstance(documents, dict) for documents in table.values()):
            return None
        read = [each for query, each in table.items() if whole or qrels.get(query)]
        ids = [document for documents in read for document in documents]
        kinds = [{id_kind(each) for each in these} for these in (table, ids)]
        if any(None in each or len(each) > 1 for each in kinds):
            return None
        sides.append(kinds)
    queries, documents = ({*one, *other} for one, other in zip(*sides, strict=True))
    if not qrels or len(queries) > 1 or len(documents) > 1:
        return None
    if run and not qrels.keys() & run.keys():
        return None
    grades = {q: {d: number(each) for d, each in row.items()} for q, row in qrels.items()}
    scores = {
        q: {d: number(each) for d, each in row.items()} for q, row in run.items() if q in qrels
    }
    if any(each is None or abs(each) > 2**53 for row in grades.values() for each in row.values()):
        return None
    if any(each is None for row in scores.values() for each in row.values()):
        return None
    sound: Any = grades
    values = {name: oracle.evaluate(sound, scores, *of) for name, of in MEASURES.items()}  # type: ignore[arg-type]
    return {query: [float(values[name][query]) for name in MEASURES] for query in qrels}


def id_kind(value: object) -> str | None:
    if isinstance(value, str):
        return "str"
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return "int" if whole else None


def number(value: Any) -> float | None:
    """Return what float64 stands for; None for what is no real number."""
    try:
        found: float = struct.unpack("d", struct.pack("d", value))[0]
    except (struct.error, OverflowError, TypeError, ValueError):
        return None
    if isinstance(value, int) and abs(value) > 2**53 and abs(found) <= 2**53:
        return math.inf  # rounded
    return None if math.isnan(found) else found


# ---------------------------------------------------------------- batches

BATCHED = "nDCG@3 RR AP NumRelRet"
SEEDS, ROWS = st.integers(0, 1 << 30), st.integers(1, 3)


class Failing:
    """Scores that cannot be read."""

    shape = (2, 6)
    ndim = 2

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError("no memory on the device")


class Evaluator(RuleBasedStateMachine):
    """A `BatchEvaluator`, called in any order: as one evaluation of the updates that count."""

    @initialize(keep=st.sampled_from(("queries", "sums")), named=st.booleans())
    def start(self, keep: str, named: bool) -> None:
        self.keep, self.named = keep, named and keep == "queries"
        self.evaluator = self.fresh()
        self.batches: list[tuple[Any, Any, list[str]]] = []
        self.number = 0

    def fresh(self) -> irbatch.BatchEvaluator:
        return irbatch.BatchEvaluator(BATCHED, keep=self.keep, repeated="error")

    def batch(self, seed: int, rows: int) -> tuple[Any, Any, dict[str, list[str]]]:
        rng = np.random.default_rng(seed)
        scores = rng.permuted(np.tile(np.arange(6.0), (rows, 1)), axis=1)
        self.number += 1
        ids = [f"q{self.number}-{row}" for row in range(rows)]
        return scores, rng.integers(0, 3, (rows, 6)), {"query_ids": ids} if self.named else {}

    def count(self, scores: Any, labels: Any, more: dict[str, list[str]]) -> None:
        self.batches.append((scores, labels, more.get("query_ids", [])))

    @rule(seed=SEEDS, rows=ROWS, twice=st.booleans())
    def update(self, seed: int, rows: int, twice: bool) -> None:
        scores, labels, more = self.batch(seed, rows)
        before = scores.copy(), labels.copy()
        for _ in range(1 + (twice and self.named)):  # the same again counts once
            self.evaluator.update(scores, labels, **more)
        assert (scores == before[0]).all()
        assert (labels == before[1]).all()
        self.count(*before, more)

    @rule(seed=SEEDS, rows=ROWS)
    def update_ids(self, seed: int, rows: int) -> None:
        scores, labels, more = self.batch(seed, rows)
        relevant = [dict(enumerate(row)) for row in labels.tolist()]
        self.evaluator.update_ids(np.argsort(-scores, axis=1).tolist(), relevant, **more)
        self.count(scores, labels, more)

    @rule(seed=SEEDS, rows=ROWS)
    def merge(self, seed: int, rows: int) -> None:
        scores, labels, more = self.batch(seed, rows)
        other = self.fresh()
        other.update(scores, labels, **more)
        self.evaluator.merge(other)
        self.count(scores, labels, more)

    @rule(seed=SEEDS, rows=ROWS, way=st.integers(0, 3))
    def reject(self, seed: int, rows: int, way: int) -> None:
        scores, labels, more = self.batch(seed, rows)
        damaged = scores.copy()
        damaged[seed % rows, seed % 6] = np.nan
        given = [(damaged, labels), (scores, labels[:, :5]), (scores, labels), (Failing(), labels)]
        if way == 2:
            more = {"query_ids": [b"x"] * rows}  # type: ignore[list-item]
        before = len(self.evaluator)
        with pytest.raises(InputError):
            self.evaluator.update(*given[way], **more)
        assert len(self.evaluator) == before

    @rule()
    def reset(self) -> None:
        self.evaluator.reset()
        self.batches.clear()

    @rule(way=st.sampled_from(("pickle", "copy", "state", "JSON")))
    def go_on_with_what_was_kept(self, way: str) -> None:
        if way == "pickle":
            self.evaluator = pickle.loads(pickle.dumps(self.evaluator))
        elif way == "copy":
            self.evaluator = copy.deepcopy(self.evaluator)
        else:
            state = self.evaluator.state_dict()
            self.evaluator = self.fresh()
            self.evaluator.load_state_dict(
                json.loads(json.dumps(state)) if way == "JSON" else state
            )

    @invariant()
    def counts(self) -> None:
        if hasattr(self, "evaluator"):
            assert len(self.evaluator) == sum(len(scores) for scores, _, _ in self.batches)

    @precondition(lambda self: self.batches)
    @rule()
    def compute(self) -> None:
        scores, labels = (np.concatenate([each[at] for each in self.batches]) for at in (0, 1))
        ids = [name for *_, names in self.batches for name in names]
        whole = irbatch.evaluate_scores(scores, labels, BATCHED, query_ids=ids or None)
        found: Any = self.evaluator.compute()
        assert found.mean() == whole.mean()
        assert found.counts == whole.counts
        if self.keep == "queries":
            assert found.values.tobytes() == whole.values.tobytes()
            assert found.query_ids == whole.query_ids

    def teardown(self) -> None:
        if getattr(self, "batches", None):
            self.compute()


TestEvaluator = Evaluator.TestCase
TestEvaluator.settings = settings(
    max_examples=12 * TIMES, stateful_step_count=12, deadline=None, derandomize=TIMES == 1
)
