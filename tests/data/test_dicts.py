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
from irbatch.runtime.kernels import can_read_objects

pytestmark = [
    pytest.mark.portable,
    pytest.mark.skipif(not can_read_objects(), reason="kernels read no objects here"),
]

MEASURES = "nDCG@{1,3,10} AP RR P@{2,5} R Bpref NumRet NumRel"
OPTIONS: list[dict[str, Any]] = [
    *({"ties": policy} for policy in ("id", "id_ascending", "index", "expected", "error")),
    {"score_dtype": "float32"},
    {"trec_eval": "9", "judged_only": True},
]
JUDGED = {"q1": {"b": 2, "e": 1, "x": 1, "a": 0}, "q2": {"a": 1}}

Table = dict[Any, Any]
Tables = tuple[Table, Table]


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


class Owner:
    """Has attributes."""


def fail() -> float:
    raise ZeroDivisionError("this has no value")


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "1")


@pytest.fixture
def by_kernels(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[bool]]:
    """Of judgments and of rankings: where kernels may run, whether they have read them."""
    answers: dict[str, set[bool]] = {"judgments": set(), "rankings": set()}

    def watch(module: Any, name: str, kind: str) -> None:
        read = getattr(module, name)

        def watched(*arguments: Any) -> Any:
            found = read(*arguments)
            if os.environ["IRBATCH_JIT"] == "1":
                answers[kind].add(found is not None)
            return found

        monkeypatch.setattr(module, name, watched)

    watch(qrels, "read_judgments", "judgments")
    watch(packed_runs, "find_in_rankings", "rankings")
    return answers


def outcome(tables: Tables, options: dict[str, Any], jit: str) -> Any:
    """Return values and counts, or the error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRBATCH_JIT", jit)
        for kernel in (dicts._find_judged, dicts._read_judgments) if jit == "0" else ():
            patch.setattr(kernel, "_code", {})
        try:
            found = irbatch.evaluate(*tables, MEASURES, **options)
        except Exception as problem:
            return type(problem), str(problem)
    return found.values.tobytes(), found.query_ids, found.counts


def same_both_ways(make: Callable[[], Tables]) -> None:
    for options in OPTIONS:
        assert outcome(make(), options, "1") == outcome(make(), options, "0"), options


def scored(scores: Any, ids: Any = "abcdef") -> Table:
    return {"q1": dict(zip(ids, scores, strict=False)), "q2": {"a": 1.0}}


def random_tables(seed: int) -> Tables:
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


def with_replaced_entries() -> Tables:
    judged, run = random_tables(3)
    for table in (judged, run):
        for documents in table.values():
            for document in list(documents)[::3]:
                del documents[document]
            documents |= {"later": 2, "b": 0}
            documents["later"] = 1
    return judged, run


def in_other_tables() -> Tables:
    """Make dictionaries that had another key, or that are an object's, and keep values apart."""
    judged, run = random_tables(4)
    for table in (judged, run):
        for i, (query, documents) in enumerate(table.items()):
            if i % 2:
                table[query] = vars(owner := Owner())
                for document, value in list(documents.items())[:25]:
                    setattr(owner, document, value)
            else:
                documents[1] = 1
                del documents[1]
    return judged, run


def one_long_ranking() -> Tables:
    """Its judged documents are too many to count for each: it is sorted."""
    rng = np.random.default_rng(1)
    names = [f"d{i}" for i in range(2_000)]
    values = rng.integers(-400, 500, 2_000) / 8
    values[:6] = math.inf, -math.inf, 0.0, -0.0, 1e300, -1e300
    scores = dict(zip(names, values.tolist(), strict=True))
    grades = dict(zip(names[::3], rng.integers(0, 3, 667).tolist(), strict=True))
    return {"q": grades}, {"q": scores}


PLAIN_SCORES: list[list[Any]] = [
    [3.5, 2.0, 1.25, 0.5], [3, -1, 0, 2**53 + 1, 2**70, -(2**900)], [3, 2.5, 0, -1, -1.0],
    [1.5] * 6, [0.0, -0.0, 0, 0.0], [math.inf, 1.0, -math.inf, -math.inf, math.inf],
    [1e300, 1e299, -1e300, 1e-300, 0.0], [],
]  # fmt: skip
PLAIN_IDS = [
    ["\ud800", "b", "\udfff\ud800", "e", "x"], ["b\0", "b", "e\0e", "\U0001f600", "é"],
    ["", "b", "e", "bb", "B"],
]  # fmt: skip
ODD_NUMBERS: list[list[Any]] = [
    [True, False, True], list(np.array([0.5, 3.0, 1.0])), list(np.array([0.5, 3, 0.1], np.float32)),
    list(np.array([5, 3, 1])), [Number(0.5), 2.0, Number(3.0)], [Decimal("0.5"), Decimal("1.5")],
    [Fraction(1, 3), Fraction(2, 3), 1], [0.5, math.nan, 1.0], [0.5, "1.0"], [0.5, None], [0.5, 1j],
    [0.5, 10**400, 1.0], [0.5, Floating(lambda: 2.0), 1.0], [0.5, Floating(fail), 1.0],
    [0.5, Floating(lambda: math.nan), 1.0],
]  # fmt: skip
ODD_IDS: list[list[Any]] = [
    [1, 2, 3], ["a", 2, "b"], [1, "b", "a"], [Text("a"), "b", Text("x")],
    list(np.array(["a", "b"])), [b"a", "b"], ["a", None], ["a", ("b",)],
    *(["a", Twin("b", compare), "c"] for compare in (lambda: True, lambda: False, fail)),
]  # fmt: skip
WRAPPERS: list[Callable[[Table], Any]] = [
    type("Mine", (dict,), {}), lambda table: defaultdict(float, table), OrderedDict,
    MappingProxyType,
]  # fmt: skip


def cases() -> Iterator[tuple[Tables, str, bool]]:
    """Yield judgments and a run, one of the two, and whether kernels read that one."""
    one_to_three = scored([1.0, 2.0, 3.0])
    for tables in (*map(random_tables, range(4)), with_replaced_entries(), in_other_tables()):
        yield tables, "judgments", True
        yield tables, "rankings", True
    yield one_long_ranking(), "rankings", True
    for scores in PLAIN_SCORES:
        yield (JUDGED, scored(scores)), "rankings", True
    for ids in PLAIN_IDS:
        judged = {"q1": {"".join(list(text)): i for i, text in enumerate(ids)}, "q2": {}}
        yield (judged, scored([1.0, 2.0, 2.0, 3.0, 3.0], ids)), "rankings", True
    for numbers in ODD_NUMBERS:
        yield (JUDGED, scored(numbers)), "rankings", False
        yield (scored(numbers), one_to_three), "judgments", False
    yield (JUDGED, scored([-1.0, -1, -(10**400), 1.0])), "rankings", False
    for ids in ODD_IDS:
        yield (JUDGED, scored([1.0, 2.0, 3.0], ids)), "rankings", False
        yield (scored([1, 2, 0], ids), scored([1.0, 2.0, 3.0], ids)), "rankings", False
        yield ({"q1": dict.fromkeys(ids, 1)}, scored([1.0, 2.0, 3.0], ids)), "rankings", False
    for wrap in WRAPPERS:
        wrapped = {query: wrap(documents) for query, documents in JUDGED.items()}
        yield (wrapped, one_to_three), "judgments", False
        wrapped = {query: wrap(documents) for query, documents in one_to_three.items()}
        yield (JUDGED, wrapped), "rankings", False
        yield (wrap(JUDGED), wrap(one_to_three)), "rankings", True  # those within are what counts


@pytest.mark.parametrize(("tables", "kind", "expected"), list(cases()))
def test_same_values_or_the_same_error(
    by_kernels: dict[str, set[bool]], tables: Tables, kind: str, expected: bool
) -> None:
    same_both_ways(lambda: tables)
    assert by_kernels[kind] == {expected} or (not expected and not by_kernels[kind])


@pytest.mark.parametrize("which", range(2))
def test_values_that_change_the_dictionary_they_are_in(which: int) -> None:
    def make() -> Tables:
        tables = JUDGED, scored([0.5, 1.0, 2.0])
        judged, run = ({query: dict(row) for query, row in table.items()} for table in tables)
        changed = (judged, run)[which]["q1"]

        def change() -> float:
            changed.clear()
            return 1.0

        changed["c"] = Floating(change)
        return judged, run

    same_both_ways(make)


SHARED = 1000  # references to what others have, too: they come and go


def references(tables: Tables) -> Iterator[int]:
    """Yield the references to everything in some tables that is nowhere else."""
    for table in tables:
        for query, documents in table.items():
            numbers = [number for number in documents.values() if type(number) is not int]
            counts = map(sys.getrefcount, (query, documents, *documents, *numbers))
            yield from (count for count in counts if count < SHARED)


@pytest.mark.parametrize("odd", [2.5, 10**400, Number(1.0), "text"], ids=repr)
def test_no_reference_is_kept_or_lost(odd: Any) -> None:
    tables = random_tables(2)
    tables[1]["q7"]["odd"] = odd
    counts = []
    for _ in range(4):
        outcome(tables, {}, "1")
        gc.collect()  # errors and their frames are circles
        counts.append(list(references(tables)))
    assert counts[0] == counts[-1]
