"""Lists and arrays: what each argument may not be, and what makes no difference to the values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from support.input_errors import input_error

import irbatch
from irbatch import BatchEvaluator, InputWarning, evaluate_ids, evaluate_matrix, evaluate_scores

NAN, INF = float("nan"), float("inf")
LABELS = np.array([[1, 0, 0], [0, 1, 0]])
SCORES = np.array([[0.3, 0.2, 0.1], [0.1, 0.3, 0.2]])
TEXTS = np.ones((3, 4))
RELEVANT = [[1, 2], [3]]
masked = np.ma.array


def matrix(relevance: Any = LABELS, **options: Any) -> Any:
    return evaluate_matrix(relevance, "RR", **options)


def scores(scores: Any = SCORES, **options: Any) -> Any:
    if "positives" not in options:
        options.setdefault("relevance", LABELS)
    return evaluate_scores(scores, measures="RR", **options)


def positives(scores: Any = SCORES, **options: Any) -> Any:
    return evaluate_scores(scores, measures="RR", **{"positives": [0, 1], **options})


def sparse(scores: Any = SCORES, **options: Any) -> Any:
    return evaluate_scores(scores, sp.csr_array(LABELS), "RR", **options)


def ids(ranked: Any = ((1,), (3,)), relevant: Any = RELEVANT, **options: Any) -> Any:
    return evaluate_ids(ranked, relevant, "RR", **options)


def embeddings(queries: Any = TEXTS[:2], documents: Any = TEXTS, relevance: Any = LABELS,
               measures: Any = "RR", **options: Any) -> Any:  # fmt: skip
    return irbatch.evaluate_embeddings(queries, documents, relevance, measures, **options)


# Ways in, their argument, the field `source` of the error if it is always one, and what may not be
# given: a value, and words that the error has. "query 1" also tells the field `query`.
NO_NUMBERS: list[tuple[Any, ...]] = [
    (None,), ([[3, 2, 1], [1]],), ([["a", "b", "c"]] * 2, "text"),
    (SCORES.astype(complex), "complex128"), (SCORES.astype(object), "object"),
    (SCORES.astype("M8[s]"), "datetime64"), ([[10**400, 1, 0]] * 2,),
    ([0.3, 0.2, 0.1], "(3,)"), (np.ones((2, 3, 1)), "(2, 3, 1)"),
]  # fmt: skip
SHAPES = [(np.ones(shape, int), "(2, 3)", str(shape)) for shape in ((3, 2), (2, 2), (1, 3), (2, 4))]
ONE_A_ROW: list[tuple[Any, ...]] = [
    ([3], "(1,)"), ([3, 3, 3], "(3,)"), (3,), ([[3, 3]], "(1, 2)"), ([3.0, 3.0], "float64"),
    ([True, True], "bool"), (["1", "2"],), ([None, 1],), ([3, 4], "query 1", "4"),
    ([3, -1], "query 1", "-1"), (np.array([3, 4], np.uint8), "query 1"),
]  # fmt: skip
TABLE: list[tuple[list[Callable[..., Any]], str, str | None, list[tuple[Any, ...]]]] = [
    ([matrix], "relevance", "relevance", [
        ([1, 0, 1], "query 0"), (np.array([1, 0, 1]), "(3,)"), (np.ones((1, 2, 2)), "(1, 2, 2)"),
        ([[[1], [0]]], "query 0"), (np.array(1), "()"), (masked([1, 0], mask=[0, 1]), "(2,)"),
        (None, "NoneType"), (5, "int"), ("101", "str"), ([[1, 0], "10"], "query 1"),
        ([[1, 0], None], "query 1"), ([[1, 0], [1, None]], "query 1"), ([["1", "0"]], "query 0"),
        ([[1j, 0]], "complex"), (np.array([[1, 0]], object), "object"),
        (np.array([["2020"]], "datetime64[D]"), "datetime64"), ([[10**400]], "query 0"),
        ([], "no queries"), (np.zeros((0, 3)), "no queries"), ([[0, 1], {1, 0}], "query 1"),
        ([[0, 1], {1: 0}], "query 1"), (masked(LABELS, mask=[[0, 0, 0], [1, 0, 0]]), "masked"),
        *(([np.array([1, 0]), np.array([0, label])], "query 1", "rank 2")
          for label in (NAN, INF, -INF, 2**53 + 1, 2**53 + 2, np.uint64(2**60), 1e300)),
    ]),
    ([scores], "relevance", "relevance", [
        ([[1, 0, 0], [1]],), ([["1", "0", "0"]] * 2,),
        *(([[1, 0, 0], [0, label, 0]],) for label in (NAN, INF, 2**60, "1", None, 1j)),
    ]),
    ([scores], "relevance", None, [*SHAPES, *((sp.csr_array(a), *facts) for a, *facts in SHAPES)]),
    ([scores, sparse, positives], "scores", "scores", NO_NUMBERS),
    ([scores, sparse, positives], "scores", "scores", [
        (np.array([[1, 2, 3], [1, NAN, 3]], dtype), "query 1", "candidate 1", "nan")
        for dtype in ("f2", "f4", "f8", "g")
    ]),
    ([scores], "scores", None, [(np.zeros((0, 3)), "no queries"), ([[3, None, 1]] * 2, "None")]),
    ([matrix], "lengths", None, ONE_A_ROW),
    ([scores, positives], "lengths", None, ONE_A_ROW),
    ([matrix], "judged", "judged", [
        ([[1, 1]], "1 row for 2 queries"), (5, "int"), ([[1], [0]], "query 1", "only 0 judged"),
        ([[2, 2], [1]], "query 0"), ([[1, 1], [1, NAN]], "query 1", "nan"), ([[1, 1], None],),
    ]),
    ([matrix, scores, positives], "n_relevant", "n_relevant", [
        ([1],), ([2, 1, 1],), (5,), ([[2, 1]],), ([-1, 2],), ([2.0, 1.0],), (["2", "1"],),
        ([None, 1],),
        *(([2, n], "query 1", f"{n} is not from 0 to 10000000")
          for n in (10**7 + 1, 10**9, 2**62)),
    ]),
    ([matrix, scores], "query_ids", None, [
        (["a"], "2 different ids"), (list("abc"), "2 different ids"), (["a", "a"],), ([1, True],),
        ([1.5, 2.5], "1.5"), ([None, "x"], "None"), ([b"a", b"b"], "b'a'"), ([[1], [2]], "[1]"),
        (["a", 1], "two kinds"), (5, "query_ids"),
    ]),
    ([scores], "positives", None, [
        ([0, 3], "query 1", "3"), ([0, -1], "query 1", "-1"), ([[0], [1, 3]], "query 1", "3"),
        ([[0], [1, -2]], "query 1", "-2"), ([[0], {1: 1, 2: 1}], "query 1"),
        (np.array([[0, -100], [1, 3]]), "query 1", "3"),
        (np.array([[0, -100], [1, -1]]), "query 1", "padding is -100"),
        ([[0], [1, 2, 1]], "query 1"), (np.array([[0, -100], [2, 2]]), "query 1"),
        ([0, 1, 2], "3", "2"), ([0], "1", "2"), (np.zeros((3, 1), int), "3", "2"),
        (np.zeros((2, 1, 1), int), "(2, 1, 1)"), ([0.0, 1.0], "float"), ([[0], [1.5]], "query 1"),
        (np.array([[0.0], [1.0]]), "float"), ([[0], ["1"]], "query 1"), ([True, False], "bool"),
        ([0, None],), (np.array([0, 2**64 - 100], "u8"), "query 1"), ("diagonals", "diagonals"),
        (1,), ({0: [0], 1: [1]},), (None, "relevance"),
    ]),
    ([scores, positives], "mask", None, [
        (np.ones((3, 2), bool), "(2, 3)", "(3, 2)"), (np.ones(3, bool), "(3,)"),
        (np.ones((1, 3), bool), "(1, 3)"), (np.ones((2, 3)), "float64"), ([[True] * 2, [True]],),
        ([[1, 1, 2], [1, 0, 0]], "int64"), (np.array([[1, 1, 1], [0, 0, 0]], bool), "query 1"),
    ]),
    ([scores], "exclude", "exclude", [
        (np.zeros((3, 2), bool), "(2, 3)", "(3, 2)"), (sp.csr_array((3, 2)), "(3, 2)"),
        ([[], [3]], "query 1"), ([[], [-1]], "query 1"), ([[]], "1", "2"), ([[], ["d1"]],), (5,),
    ]),
    ([scores], "ties", None, [
        (word, f"ties={word!r}", "pessimistic") for word in ("random", "", 1, "Expected")
    ]),
    ([partial(scores, ties="id")], "document_ids", None, [
        (None,), (["a", "b"],), ([["a", "b", "c"]],), (["a", "b", "a"],), ([1.5, 2.5, 3.5],),
        ([list("abc"), list("acc")],), (["a", 1, "b"],), (["a", None, "b"],),
    ]),
    ([ids], "ranked", None, [
        (None, "NoneType"), (5, "int"), ("ab", "str"), ({1, 2}, "set"), (np.array(5), "ranked"),
        ([1, 2], "query 0"), (np.array([1, 2]), "query 0"), (np.ones((2, 1, 1), int), "query 0"),
        ([[1]], "1 ranking, but relevant documents of 2"), ([[1]] * 50, "50 rankings"),
        ({0: [1], 1: [3]}, "both mappings, or both sequences"), ([[1], "3"], "query 1"),
        ([[1], None], "query 1"), ([[1], {3: 0.5}], "query 1"), ([[1], {3, 4}], "query 1"),
        ([[1], frozenset({3, 4})], "query 1"), ([[1], [3.0]], "query 1"),
        (np.array([[1.0], [3.0]]), "query 0"), ([[1], [None]], "query 1"),
        ([[1], [[3]]], "query 1"), ([[1], [b"3"]], ".decode()"), ([[True], [3]], "query 0"),
        ([[1, 9, 9], [3]], "query 0", "9"),
        ([[1], [3, -1, -1]], "query 1", "-1"), (pd.DataFrame({"item": [1]}), "not a DataFrame"),
        (masked([[1, 9], [3, 8]], mask=[[0, 1], [0, 0]]), "query 0", "None"),
    ]),
    ([ids], "relevant", None, [
        (None, "reads judgments"), ("ab", "str"), ([[1]], "of 1 query"), ([1, 3], "query 0"),
        (["1", "3"], "query 0"), ([[1], None], "query 1"), (sp.csr_array([[0, 1]]), "of 1 query"),
    ]),
    ([ids], "relevant", "qrels", [
        ([[1], [3.0]], "query 1", "3.0"), ([[True], [3]], "query 0"), ([[1], [None]], "query 1"),
        ([{1: "x"}, [3]], "query 0", "'x'"), ([[1], {3: NAN}], "query 1", "nan"),
        ([["a"], [3]], "query 0", "query 1"), ([[7, 8, 7], [3]], "query 0", "twice"),
        ([[1], {3: 0.5}], "0.5", "rel="),
    ]),
    ([embeddings], "queries", None, [
        (np.ones((2, 5)), "(2, 5)", "(3, 4)"), (np.ones((0, 4)), "no queries"),
        ([["a"] * 4] * 2, "queries"), *((np.array([[1] * 4, [1, 1, x, 1]]), "queries", "1")
                                        for x in (NAN, INF, -INF)),
    ]),
    ([embeddings], "documents", None, [
        (np.ones((3, 5)), "(3, 5)"), (np.ones((1, 3, 4)), "(1, 3, 4)"),
        (np.ones((3, 4), complex), "complex"),
        *((np.array([[1] * 4, [1, 1, x, 1], [1] * 4]), "documents", "1") for x in (NAN, -INF)),
    ]),
    ([embeddings], "relevance", None, [(LABELS.T, "(3, 2)"), (None, "positives")]),
    ([embeddings], "similarity", None, [("angle", "'angle'", "cosine")]),
]  # fmt: skip


def cases() -> Iterator[Any]:
    for calls, argument, source, values in TABLE:
        for call, (number, (value, *facts)) in ((c, v) for c in calls for v in enumerate(values)):
            name = getattr(call, "__name__", "ties by id")
            yield pytest.param(
                call, argument, source, value, facts, id=f"{name}-{argument}-{number}"
            )


@pytest.mark.parametrize(("call", "argument", "source", "value", "facts"), list(cases()))
def test_bad_argument(
    call: Callable[..., Any], argument: str, source: str | None, value: Any, facts: list[str]
) -> None:
    error = input_error(lambda: call(**{argument: value}), *facts)
    if source is not None:
        assert error.source == source
    for query in (0, 1):
        if facts[:1] == [f"query {query}"] and "query 1" not in facts[1:]:
            assert error.query in (query, None)


def test_arguments_that_contradict_each_other() -> None:
    two = {"query_ids": ["a", "b"]}
    input_error(lambda: matrix([[1, NAN], [1, 0]], query_ids=[7, 0]), "query 7", query=7)
    input_error(lambda: positives(positives=[0, 3], **two), source="positives", query="b")
    input_error(lambda: matrix(n_relevant=[1, 0]), "query 1", query=1)
    input_error(lambda: scores(n_relevant=[1, 0]), "n_relevant", "query 1")
    input_error(lambda: matrix(judged=LABELS, n_relevant=[1, 1]), "not both")
    input_error(lambda: matrix([[1, 0], [0, 2]], n_relevant=[1, 1]), "judged=", query=1)
    input_error(lambda: scores(relevance=2 * LABELS, n_relevant=[3, 3]), source="n_relevant")
    input_error(
        lambda: matrix(masked(LABELS, mask=[[0, 0, 1], [0] * 3]), lengths=[3, 3]),
        source="lengths",
        query=0,
    )
    input_error(lambda: scores(relevance=LABELS, positives=[0, 1]), "relevance", "positives")
    input_error(lambda: scores(SCORES[:, :1], positives="diagonal"), source="positives")
    input_error(lambda: evaluate_scores(SCORES, LABELS), "measures")
    input_error(lambda: embeddings(measures=None), "measures")
    input_error(lambda: ids([], []), "no queries")
    input_error(lambda: ids({"a": [1]}, {}), "no queries", source="qrels")
    input_error(lambda: ids({"b": [1]}, {"a": [1]}), "'a'", "'b'")
    input_error(lambda: ids({"a": [1]}, {"a": [1], "b": [1]}, missing="error"), "'b'", source="run")
    input_error(
        lambda: irbatch.evaluate(pd.Series([[1]]), pd.Series([[1]]), "RR"), "is not a table"
    )


HIDDEN = np.array([[False] * 3, [True] * 3])


@pytest.mark.parametrize(
    "way",
    [
        {"mask": ~HIDDEN}, {"scores": masked(SCORES, mask=HIDDEN)}, {"exclude": HIDDEN},
        {"relevance": np.where(HIDDEN, -100, LABELS)}, {"exclude": [[], [0, 1, 2]]},
        {"exclude": sp.csr_array(HIDDEN)},
        {"mask": [[True] * 3, [True, True, False]], "exclude": [[], [0, 1]]},
    ],
    ids=lambda way: " ".join(way),
)  # fmt: skip
def test_a_query_of_no_candidates_is_named(way: dict[str, Any]) -> None:
    input_error(lambda: scores(query_ids=["a", "b"], **way), "query 'b'", query="b")


def test_a_row_of_no_candidates_may_be_meant() -> None:
    found = scores(lengths=[3, 0])
    assert (found.values.tolist(), found.counts.empty) == ([[1.0], [0.0]], 1)
    none = evaluate_scores(np.zeros((2, 0)), np.zeros((2, 0)), "RR AP")
    assert none.values.tolist() == [[0.0] * 2] * 2


def test_ties_are_never_decided_silently() -> None:
    for tied in ([0.5] * 3, [0.0, -0.0, -1.0], [INF, INF, 0], [1, 1, 1]):
        facts, labels = ("(query 0)", "'pessimistic'"), [[1, 0, 0]]
        call = partial(scores, [tied], relevance=labels)
        input_error(lambda call=call: call(ties="error"), *facts, query=0, value=tied[0] + 0.0)
        count = tied.count(tied[0])
        assert evaluate_scores([tied], labels, "P@1")["P@1"] == 1 / count
        for ties, expected in (("pessimistic", 1 / count), ("optimistic", 1.0), ("index", 1.0)):
            assert call(ties=ties)["RR"] == expected
    assert scores([[0.9, 0.5, 0.5]], relevance=[[1, 0, 0]], ties="error")["RR"] == 1.0


# ---------------------------------------------------------------- what makes no difference


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.array([[2**53 + 1, 2**53, 0]]), 1.0), (np.array([[-(2**63), 0, 1]]), 1 / 3),
        (np.array([[2**64 - 2, 2**64 - 1, 0]], "u8"), 0.5),
        (np.array([[1 + 1e-9, 1.0, 0]]), 1.0), (np.array([[-INF, 0, INF]]), 1 / 3),
        ([(1, 2.5, 2)], 1 / 3), (masked([[1.0, 3.0, 2.0]], mask=[[0, 1, 0]]), 0.5),
    ],
)  # fmt: skip
def test_scores_compare_in_their_own_type(given: Any, expected: float) -> None:
    assert scores(given, relevance=[[1, 0, 0]])["RR"] == expected


@pytest.mark.parametrize(
    ("ranked", "pad", "expected"),
    [
        ([[7, 1, -1], [-1, -1, -1]], -1, [[0.5, 2], [0, 0]]),
        (np.array([[7, 1, -1], [3, -1, -1]]), -1, [[0.5, 2], [1, 1]]),
        ([[7, 1, 0, 0], [3]], 0, [[0.5, 2], [1, 1]]),
        ([[7, 1], [3]], -1, [[0.5, 2], [1, 1]]),
    ],
)
def test_padding(ranked: Any, pad: Any, expected: Any) -> None:
    assert evaluate_ids(ranked, RELEVANT, "RR NumRet", pad=pad).values.tolist() == expected
    texts = evaluate_ids([["a", "", ""]], [["a"]], "RR NumRet", pad="")
    assert texts.values.tolist() == [[1.0, 1.0]]
    input_error(lambda: ids([[7, 1, None], [3, None]], pad=None), "id None", source="run")
    for bad in ([[1, 2], [-1, 3]], np.array([[1, 2], [-1, 3]])):
        input_error(lambda bad=bad: ids(bad, pad=-1), "padding -1", query=1, value=-1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ids(np.array([[7, 1], [3, -1]])), "rankings end in -1"),
        (lambda: ids([[7, 1], [3, -1]]), "rankings end in -1"),
        (lambda: ids(np.array([[7, 1], [3, 4]]), [[1], [3, -1]]), "relevant documents end in -1"),
        (lambda: matrix([[1, -1], [0, 1]]), "lengths="),
        (lambda: matrix([[1, -1.0], [0, 1]]), "lengths="),
    ],
)
def test_padding_that_was_not_announced_is_warned_of(call: Callable[[], Any], said: str) -> None:
    with pytest.warns(InputWarning, match=said):
        call()
    ids([[-1, 7], [3]], [{-1: 2}, {-1, 3}])  # an id as any other


def test_ends_of_rows() -> None:
    """Lengths, masks and rows of several lengths say the same; cells beyond are not read."""
    given = [[1, 0, 1], [0, 1, 0]]
    expected = evaluate_matrix([[1, 0], [0]], "AP NumRet").values.tolist()
    rows = [masked([1, 0, 1], mask=[0, 0, 1]), masked([0, 1], mask=[0, 1])]
    for found in (
        evaluate_matrix(masked(given, mask=[[0, 0, 1], [0, 1, 1]]), "AP NumRet"),
        evaluate_matrix(given, "AP NumRet", lengths=[2, 1]),
        evaluate_matrix([[1.0, 0.0, NAN], [0.0, -1.0, -1.0]], "AP NumRet", lengths=[2, 1]),
        evaluate_matrix(rows, "AP NumRet"),
    ):
        assert found.values.tolist() == expected
    assert evaluate_matrix([[1], [0, 1], []], "RR").values.tolist() == [[1.0], [0.5], [0.0]]
    for more in ({"judged": [[1, 0, 1, 1, 1], [1]]}, {"n_relevant": np.array([4, 1], "u1")}):
        assert evaluate_matrix(given, "R", **more).values.tolist() == [[0.5], [1.0]]
    most = evaluate_matrix(np.eye(3, 4), "R", n_relevant=np.full(3, 10**7)).values
    assert most.tolist() == [[1e-7]] * 3


# ---------------------------------------------------------------- labels of pandas


def test_series_pair_by_their_index() -> None:
    ranked = pd.Series([[1, 2], [3, 4], [5]], index=["ann", "bob", "eve"])
    relevant = pd.Series([[4], [1]], index=["bob", "ann"])
    assert ids(ranked, relevant).per_query("RR") == {"bob": 0.5, "ann": 1.0}
    for pair in ((ranked.to_list()[:2], relevant), (relevant, ranked.to_list()[:2])):
        input_error(lambda pair=pair: ids(*pair), "labels such as 'bob'", ".tolist()")
    assert ids(ranked.to_list()[:2], relevant.to_list()).mean() == {"RR": 0.0}
    listed = relevant.reset_index(drop=True)
    assert ids(pd.Series([[4], [1]]), listed).per_query("RR") == {0: 1.0, 1: 1.0}
    batches = BatchEvaluator("RR")
    batches.update_ids(ranked[:1], relevant[1:])
    batches.update_ids(ranked[1:], relevant[:1])
    assert batches.compute().per_query("RR") == {"ann": 1.0, "bob": 0.5}
    slices = BatchEvaluator("RR")  # whose index is that of the whole frame
    for first in (0, 2):
        part = pd.Series([[1], [2], [3], [4]])[first : first + 2]
        slices.update_ids(part, part)
        slices.update_ids(part.to_list(), part)
    assert len(slices) == 8
    again = pd.Series([[4], [1]], index=["bob", "bob"])
    input_error(lambda: ids(ranked, again), "label 'bob' of a Series comes twice")


def test_frames_have_the_same_labels() -> None:
    given = pd.DataFrame([[0.1, 0.9], [0.2, 0.3]], ["ann", "bob"], ["x", "y"])
    labels = pd.DataFrame([[1, 0], [0, 1]], ["ann", "bob"], ["x", "y"])
    call = partial(scores, given)
    input_error(
        lambda: call(relevance=labels[["y", "x"]]), "column 0 is 'y', that of the scores 'x'"
    )
    input_error(lambda: call(relevance=labels[::-1]), "row 0 is 'bob', that of the scores 'ann'")
    plain = labels.reset_index(drop=True)
    input_error(lambda: scores(plain, relevance=plain[::-1]), "row 0 is 1", "scores 0")
    for relevance in (labels, plain, labels.to_numpy()):
        assert call(relevance=relevance).per_query() == {"ann": 0.5, "bob": 1.0}
    numbered = scores(given.reset_index(drop=True), relevance=labels)
    assert numbered.per_query() == {0: 0.5, 1: 1.0}
    again = scores(given.set_axis(["ann", "ann"]), relevance=plain)
    assert again.per_query() == {0: 0.5, 1: 1.0}
