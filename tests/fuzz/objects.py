"""Dictionaries of any objects: evaluated as the slow twin does, or refused."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from oracle import measures as oracle

import irbatch
from fuzz.target import Target
from irbatch.errors import InputError

Coded = tuple[str, Any]  # a kind of object, and what it is made of
Table = list[tuple[Coded, Any]]  # query, and documents with values, or some other object
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
NAMES = ("q1", "d1", "d2", "d3", "1", "2", "", "é", "a\0b", "\ud800", " ", "x" * 300)
ODD_NAMES = (
    "of text",
    "np.str",
    "bytes",
    "none",
    "bool",
    "float",
    "tuple",
    "int",
    "fraction",
    "np.bool",
)
NUMBERS = ("0", "1", "2", "-1", "0.5", "3")
ODD_VALUES = tuple(each for each in KINDS if each not in ("str", "int"))


class Objects(Target):
    """Judgments and rankings in dictionaries."""

    name, share = "objects", 15

    def generate(self, rng: Random) -> tuple[Table, Table]:
        kinds = "str" if rng.random() < 0.8 else "int"
        return self._table(rng, kinds), self._table(rng, kinds)

    def _table(self, rng: Random, kind: str) -> Table:
        table: Table = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            documents: Any = [
                (self._id(rng, kind), self._value(rng)) for _ in range(rng.randrange(5))
            ]
            table.append((self._id(rng, kind), documents if rng.random() < 0.99 else ("none", "")))
        return table if rng.random() < 0.99 else []

    def _id(self, rng: Random, kind: str) -> Coded:
        if kind == "str":
            name = NAMES[int(rng.random() ** 3 * len(NAMES))]
            return (rng.choice(ODD_NAMES[:2]) if rng.random() < 0.03 else "str", name)
        if rng.random() < 0.01:
            return rng.choice(ODD_NAMES), "1"
        return rng.choice(("int", "int64", "of int", "uint8")), str(rng.randrange(4))

    def _value(self, rng: Random) -> Coded:
        if rng.random() < 0.8:
            return "int", str(rng.randrange(3))
        if rng.random() < 0.05:
            return rng.choice((("power", 53), ("power", 1023), ("power", 1024), ("power", 20_000)))
        if rng.random() < 0.1:
            return rng.choice(("float", "decimal")), rng.choice(
                ("nan", "inf", "-inf", "1e400", "1e-400")
            )
        return rng.choice(ODD_VALUES[3:]), rng.choice(NUMBERS)

    def check(self, given: tuple[Table, Table]) -> None:
        try:
            qrels, run = map(make, given)
        except (ValueError, TypeError, ArithmeticError):
            return  # there is no such object
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
                for value, wanted in zip(row, values, strict=True):
                    assert math.isclose(value, wanted, abs_tol=1e-12), (row, values)
        assert (contents(qrels), contents(run)) == before


def contents(table: dict[Any, Any]) -> list[object]:
    """Return which objects a table holds."""
    rows = [(id(query), id(each)) for query, each in table.items()]
    rows += [
        (id(document), id(value))
        for each in table.values()
        for document, value in (each or {}).items()
    ]
    return list(rows)


def make(table: Table) -> dict[Any, Any]:
    made = {}
    for query, documents in table:
        each: Any = None
        if isinstance(documents, list):
            each = {make_one(document): make_one(value) for document, value in documents}
        made[make_one(query)] = each
    return made


def make_one(coded: Coded) -> Any:
    kind, value = coded
    if kind in ("power", "bool", "np.bool", "complex"):
        value = int(value) if kind != "complex" else float(value)
    return KINDS[kind](value)


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
