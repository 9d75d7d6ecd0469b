"""Dictionaries read by compiled kernels and by Python: the same values, or the same error.

Kernels take dictionaries that are exactly `dict`, of `str` to `float` or `int`; whatever else comes
is read by Python, and so is all where nothing is compiled.
"""

from __future__ import annotations

import gc
import math
import os
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch.data import dicts, qrels
from irbatch.pack import join as packed_runs
from irbatch.runtime import kernels
from irbatch.runtime.kernels import can_read_objects

pytestmark = [
    pytest.mark.portable,
    pytest.mark.skipif(not can_read_objects(), reason="kernels read no objects here"),
]

MEASURES = "nDCG@{1,3,10} AP RR P@{2,5} R Bpref NumRet NumRel"

Table = dict[Any, Any]
Taken = dict[str, set[tuple[str, bool]]]

BY_KERNELS, BY_PYTHON = {("1", True), ("0", False)}, {("1", False), ("0", False)}


class Text(str):
    """Text of another type."""

    __slots__ = ()


class Number(float):
    """A float of another type."""


class Floating:
    """Anything that says which float it is."""

    def __init__(self, say: Callable[[], float]) -> None:
        self.say = say

    def __float__(self) -> float:
        return self.say()


class Twin:
    """A key with the hash of some text, which says when it is compared."""

    def __init__(self, text: str, compare: Callable[[], bool]) -> None:
        self.text, self.compare = text, compare

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return self.compare()


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "1")


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    """Of judgments and of rankings: where kernels may run, or not, whether they have read some."""
    answers: Taken = {"judgments": set(), "rankings": set()}

    def watch(module: Any, name: str, kind: str) -> None:
        read = getattr(module, name)

        def watched(*arguments: Any) -> Any:
            found = read(*arguments)
            answers[kind].add((os.environ["IRBATCH_JIT"], found is not None))
            return found

        monkeypatch.setattr(module, name, watched)

    watch(qrels, "read_judgments", "judgments")
    watch(packed_runs, "find_in_rankings", "rankings")
    return answers


def outcome(make: Callable[[], tuple[Table, Table]], options: dict[str, Any], jit: str) -> Any:
    """Return values and counts, or the error, of dictionaries that are made anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRBATCH_JIT", jit)
        if jit == "0":
            for each in (dicts._find_judged, dicts._read_judgments):
                patch.setattr(each, "_code", {})
        judged, run = make()
        try:
            found = irbatch.evaluate(judged, run, MEASURES, **options)
        except Exception as problem:
            return type(problem), str(problem)
    return found.values.tobytes(), found.query_ids, found.counts


OPTIONS: list[dict[str, Any]] = [
    *({"ties": policy} for policy in ("id", "id_ascending", "index", "expected", "error")),
    {"score_dtype": "float32"},
    {"trec_eval": "9", "judged_only": True},
]


def same_both_ways(make: Callable[[], tuple[Table, Table]]) -> None:
    for options in OPTIONS:
        assert outcome(make, options, "1") == outcome(make, options, "0"), options


def scored(scores: Any, ids: Any = "abcdef") -> Table:
    return {"q1": dict(zip(ids, scores, strict=False)), "q2": {"a": 1.0}}


JUDGED = {"q1": {"b": 2, "e": 1, "x": 1, "a": 0}, "q2": {"a": 1}}


# ---------------------------------------------------------------- what kernels read


def random_tables(seed: int) -> tuple[Table, Table]:
    """Make rankings of all lengths, in order or not, with ties, and judgments of all kinds."""
    rng = np.random.default_rng(seed)
    judged: Table = {}
    run: Table = {}
    for query in (f"q{i}" for i in range(30)):
        names = [f"{'é' * (query == 'q3')}d{i}" for i in rng.permutation(400).tolist()]
        scores = rng.integers(0, rng.choice([2, 30, 10**9]), rng.integers(0, 300)) / 7
        scores = np.sort(scores)[::-1] if rng.random() < 0.5 else scores
        run[query] = dict(zip(names, scores.tolist(), strict=False))
        some = rng.permutation(names)[: rng.choice([0, 1, 9, 250])].tolist()
        grades = rng.integers(-1, 4, len(some)).tolist()
        judged[query] = dict(zip(map("".join, some), grades, strict=True))
    del run["q5"]
    run["of nobody"] = {"a": 1.0}
    return judged, run


@pytest.mark.parametrize("seed", range(4))
def test_simple_dictionaries_are_read_by_kernels(taken: Taken, seed: int) -> None:
    same_both_ways(lambda: random_tables(seed))
    assert taken["judgments"] == taken["rankings"] == BY_KERNELS


def test_a_long_ranking_that_is_not_in_order(taken: Taken) -> None:
    """Its judged documents are too many to count for each: Python sorts it."""
    rng = np.random.default_rng(1)
    names = [f"d{i}" for i in range(2_000)]
    scores = dict(zip(names, (rng.integers(0, 900, 2_000) / 8).tolist(), strict=True))
    grades = dict(zip(names[::3], rng.integers(0, 3, 667).tolist(), strict=True))
    same_both_ways(lambda: ({"q": grades}, {"q": scores}))
    assert taken["rankings"] == BY_PYTHON


SIMPLE: dict[str, Any] = {
    "floats": [3.5, 2.0, 1.25, 0.5],
    "whole numbers": [3, -1, 0, 2**53 + 1, 2**70, -(2**900)],
    "both": [3, 2.5, 0, -1, -1.0],
    "all the same": [1.5] * 6,
    "zeros": [0.0, -0.0, 0, 0.0],
    "infinite": [math.inf, 1.0, -math.inf, -math.inf, math.inf],
    "beyond float32": [1e300, 1e299, -1e300, 1e-300, 0.0],
    "nothing": [],
}


@pytest.mark.parametrize("scores", SIMPLE.values(), ids=SIMPLE)
def test_scores_that_kernels_read(taken: Taken, scores: Any) -> None:
    same_both_ways(lambda: (JUDGED, scored(scores)))
    assert taken["rankings"] == BY_KERNELS


@pytest.mark.parametrize(
    "ids",
    [
        ["\ud800", "b", "\udfff\ud800", "e", "x"],
        ["b\0", "b", "e\0e", "\U0001f600", "é"],
        ["", "b", "e", "bb", "B"],
    ],
)
def test_ids_that_kernels_read(taken: Taken, ids: list[str]) -> None:
    judged = {"q1": {"".join(list(each)): i for i, each in enumerate(ids)}, "q2": {}}
    same_both_ways(lambda: (judged, scored([1.0, 2.0, 2.0, 3.0, 3.0], ids)))
    assert taken["rankings"] == BY_KERNELS


def test_prepared_judgments_have_lists_of_ids(taken: Taken) -> None:
    judged, run = random_tables(9)
    prepared = irbatch.Qrels(judged)
    before = irbatch.evaluate(judged, run, MEASURES).values
    assert irbatch.evaluate(prepared, run, MEASURES).values.tobytes() == before.tobytes()
    assert taken["rankings"] == {("1", True)}


def test_deleted_and_replaced_entries(taken: Taken) -> None:
    def make() -> tuple[Table, Table]:
        judged, run = random_tables(3)
        for table in (judged, run):
            for documents in table.values():
                for each in list(documents)[::3]:
                    del documents[each]
                documents |= {"later": 2, "b": 0}
                documents["later"] = 1
        return judged, run

    same_both_ways(make)
    assert taken["rankings"] == BY_KERNELS


# ---------------------------------------------------------------- what Python reads


def refuse() -> float:
    raise ZeroDivisionError("this has no value")


ODD_SCORES: dict[str, Any] = {
    "truth values": [True, False, True],
    "NumPy's": list(np.array([0.5, 3.0, 1.0])),
    "NumPy's float32": list(np.array([0.5, 3.0, 0.1], np.float32)),
    "NumPy's int64": list(np.array([5, 3, 1])),
    "subclass of float": [Number(0.5), 2.0, Number(3.0)],
    "Decimal": [Decimal("0.5"), Decimal("1.5")],
    "Fraction": [Fraction(1, 3), Fraction(2, 3), 1],
    "NaN": [0.5, math.nan, 1.0],
    "text": [0.5, "1.0"],
    "None": [0.5, None],
    "complex": [0.5, 1j],
    "huge": [0.5, 10**400, 1.0],
    "huge and negative": [-1.0, -1, -(10**400), 1.0],
    "object": [0.5, Floating(lambda: 2.0), 1.0],
    "object that fails": [0.5, Floating(refuse), 1.0],
    "object that says NaN": [0.5, Floating(lambda: math.nan), 1.0],
}


@pytest.mark.parametrize("scores", ODD_SCORES.values(), ids=ODD_SCORES)
def test_scores_that_python_reads(taken: Taken, scores: Any) -> None:
    same_both_ways(lambda: (JUDGED, scored(scores)))
    assert taken["rankings"] <= BY_PYTHON


ODD_GRADES = {name: each for name, each in ODD_SCORES.items() if name != "huge and negative"}


@pytest.mark.parametrize("grades", ODD_GRADES.values(), ids=ODD_GRADES)
def test_grades_that_python_reads(taken: Taken, grades: Any) -> None:
    same_both_ways(lambda: (scored(grades), scored([1.0, 2.0, 3.0])))
    assert taken["judgments"] <= BY_PYTHON


@pytest.mark.parametrize(
    "grade", [2**53 + 1, -(2**53) - 1, 2**54, 1e300, math.inf, -math.inf, 2**70]
)
def test_grades_that_are_refused(grade: Any) -> None:
    judged = {"q1": {"a": 1, "b": grade}}
    same_both_ways(lambda: (judged, scored([1.0, 2.0])))
    assert outcome(lambda: (judged, scored([1.0])), {}, "1")[0] is irbatch.InputError
    same_both_ways(lambda: ({"q1": {"a": 2**53, "b": -(2**53)}}, scored([1.0, 2.0])))


IDS: dict[str, Any] = {
    "whole numbers": [1, 2, 3],
    "text and numbers": ["a", 2, "b"],
    "numbers and text": [1, "b", "a"],
    "subclass of str": [Text("a"), "b", Text("x")],
    "NumPy's text": list(np.array(["a", "b"])),
    "bytes": [b"a", "b"],
    "None": ["a", None],
    "tuples": ["a", ("b",)],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_ids_that_python_reads(taken: Taken, ids: Any) -> None:
    same_both_ways(lambda: (JUDGED, scored([1.0, 2.0, 3.0], ids)))
    assert taken["rankings"] <= BY_PYTHON
    same_both_ways(lambda: (scored([1, 2, 0], ids), scored([1.0, 2.0, 3.0], ids)))
    same_both_ways(lambda: ({"q1": dict.fromkeys(ids, 1)}, scored([1.0, 2.0, 3.0], ids)))


WRAPPERS: dict[str, Callable[[Table], Any]] = {
    "subclass": type("Mine", (dict,), {}),
    "defaultdict": lambda table: defaultdict(float, table),
    "OrderedDict": OrderedDict,
    "proxy": MappingProxyType,
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_dictionaries_of_other_types(taken: Taken, wrap: Callable[[Table], Any]) -> None:
    run = scored([2.0, 1.0, 3.0])
    inner = {query: wrap(documents) for query, documents in run.items()}
    same_both_ways(lambda: (JUDGED, inner))
    same_both_ways(lambda: ({query: wrap(each) for query, each in JUDGED.items()}, run))
    taken["rankings"].clear()
    same_both_ways(lambda: (wrap(JUDGED), wrap(run)))
    assert taken["rankings"] == BY_KERNELS  # those within are what counts


@pytest.mark.parametrize("which", range(2))
def test_values_that_change_the_dictionary_they_are_in(which: int) -> None:
    def make() -> tuple[Table, Table]:
        tables = JUDGED, scored([0.5, 1.0, 2.0])
        judged, run = ({query: dict(each) for query, each in table.items()} for table in tables)
        changed = (judged, run)[which]["q1"]

        def change() -> float:
            changed.clear()
            return 1.0

        changed["c"] = Floating(change)
        return judged, run

    same_both_ways(make)


@pytest.mark.parametrize("compare", [lambda: True, lambda: False, refuse])
def test_keys_that_only_seem_to_be_text(taken: Taken, compare: Callable[[], bool]) -> None:
    def make() -> tuple[Table, Table]:
        return JUDGED, scored([0.5, 1.0, 2.0], ["a", Twin("b", compare), "c"])

    same_both_ways(make)
    assert taken["rankings"] <= BY_PYTHON


# ---------------------------------------------------------------- what becomes of the objects


SHARED = 1000  # references to what others have, too: they come and go


def counted(tables: tuple[Table, Table]) -> Iterator[int]:
    """Yield the references to everything in some tables that is nowhere else."""
    for table in tables:
        for query, documents in table.items():
            numbers = [each for each in documents.values() if type(each) is not int]
            counts = map(sys.getrefcount, (query, documents, *documents, *numbers))
            yield from (count for count in counts if count < SHARED)


@pytest.mark.parametrize(
    "odd", [None, 10**400, Number(1.0), "text"], ids=["nothing", "huge", "float", "text"]
)
def test_no_reference_is_kept_or_lost(odd: Any) -> None:
    tables = random_tables(2)
    if odd is not None:
        tables[1]["q7"]["odd"] = odd
    outcome(lambda: tables, {}, "1")
    gc.collect()  # errors and their frames are circles
    before = list(counted(tables))
    for _ in range(3):
        outcome(lambda: tables, {}, "1")
    gc.collect()
    assert list(counted(tables)) == before


def test_without_compiled_code_python_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(lambda: random_tables(1), {}, "0")
    for each in (dicts._find_judged, dicts._read_judgments):
        monkeypatch.setattr(each, "_code", {})
        monkeypatch.setattr(each, "_find", lambda *_: None)
    assert outcome(lambda: random_tables(1), {}, "1") == expected


def test_objects_with_other_fields_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    can_read = kernels.can_read_objects.__wrapped__
    assert can_read()
    for name in ("TYPE", "FLOAT_VALUE", "TEXT_HASH"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernels, name, getattr(kernels, name) + 8)
            assert not can_read()
