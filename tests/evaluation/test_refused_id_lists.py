"""Rankings given as lists of ids: shapes, duplicates, padding, queries that don't pair up."""

from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import evaluate_ids

RELEVANT = [[1, 2], [3]]
masked = np.ma.array


@pytest.mark.parametrize(
    ("ranked", "fact"),
    [
        pytest.param(None, "NoneType", id="None"),
        pytest.param(5, "int", id="number"),
        pytest.param("ab", "str", id="text"),
        pytest.param({1, 2}, "set", id="set of queries"),
        pytest.param(np.array(5), "ranked", id="0-D"),
        pytest.param([1, 2], "query 0", id="1-D list"),
        pytest.param(np.array([1, 2]), "query 0", id="1-D"),
        pytest.param(np.ones((2, 1, 1), int), "query 0", id="3-D"),
        pytest.param([[1]], "1 ranking, but relevant documents of 2 queries", id="too few"),
        pytest.param([[1]] * 50, "50 rankings, but relevant documents of 2", id="too many"),
        pytest.param({0: [1], 1: [3]}, "both mappings, or both sequences", id="mapping, list"),
        pytest.param([[1], "3"], "query 1", id="row of text"),
        pytest.param([[1], None], "query 1", id="row None"),
        pytest.param([[1], {3: 0.5}], "query 1", id="row of scores"),
        pytest.param([[1], {3, 4}], "query 1", id="row that is a set, without an order"),
        pytest.param([[1], frozenset({3, 4})], "query 1", id="row that is a frozen set"),
        pytest.param([[1], [3.0]], "query 1", id="float ids"),
        pytest.param(np.array([[1.0], [3.0]]), "query 0", id="array of floats"),
        pytest.param([[{"corpus_id": 1, "score": 0.5}], []], "is a dict", id="hits"),
        pytest.param([[1], [None]], "query 1", id="None id"),
        pytest.param([[1], [b"3"]], ".decode()", id="bytes id"),
        pytest.param([[1], [[3]]], "query 1", id="list id"),
        pytest.param([[True], [3]], "query 0", id="bool id"),
    ],
)
def test_rankings_are_none(ranked: Any, fact: str) -> None:
    input_error(lambda: evaluate_ids(ranked, RELEVANT, "RR"), fact)


@pytest.mark.parametrize(
    ("relevant", "fact", "sources"),
    [
        pytest.param(None, "NoneType", {"relevant"}, id="None"),
        pytest.param("ab", "str", {"relevant"}, id="text"),
        pytest.param([[1]], "of 1 query", {"relevant", "ranked"}, id="too few"),
        pytest.param([1, 3], "query 0", {"relevant", "qrels"}, id="flat"),
        pytest.param(["1", "3"], "query 0", {"relevant", "qrels"}, id="text for a list"),
        pytest.param([[1], None], "query 1", {"relevant", "qrels"}, id="None for a list"),
    ],
)
def test_relevant_documents_are_none(relevant: Any, fact: str, sources: set[str]) -> None:
    error = input_error(lambda: evaluate_ids([[1], [3]], relevant, "RR"), fact)
    assert error.source in sources


@pytest.mark.parametrize(
    ("relevant", "facts", "fields"),
    [
        pytest.param([[1], [3.0]], ("3.0", "float"), {"query": 1}, id="float"),
        pytest.param([[True], [3]], ("True", "bool"), {"query": 0}, id="bool"),
        pytest.param([[1], [None]], ("None",), {"query": 1}, id="None"),
        pytest.param([{1: "x"}, [3]], ("'x'",), {"query": 0, "document": 1}, id="grade text"),
        pytest.param(
            [[1], {3: float("nan")}], ("nan",), {"query": 1, "document": 3}, id="grade nan"
        ),
        pytest.param([["a"], [3]], ("query 0", "query 1"), {}, id="two kinds"),
        pytest.param([[7, 8, 7], [3]], ("twice",), {"query": 0, "document": 7}, id="twice"),
    ],
)
def test_bad_relevant_document(
    relevant: Any, facts: tuple[str, ...], fields: dict[str, object]
) -> None:
    fields = {"source": "qrels", **fields}
    input_error(lambda: evaluate_ids([[1], [3]], relevant, "RR"), "qrels", *facts, **fields)


@pytest.mark.parametrize(
    ("ranking", "twice"),
    [
        ([5, 1, 5], 5),
        ([1, 1], 1),
        (np.array([9, 8, 7, 8]), 8),
        ([np.int64(4), 4], 4),
        ([-1, -1], -1),
    ],
    ids=repr,
)
def test_document_twice(ranking: Any, twice: int) -> None:
    facts = ("run", "(query 'b'", repr(twice), "twice")
    fields = {"source": "run", "query": "b", "document": twice}
    ranked = {"a": [1], "b": ranking}
    input_error(lambda: evaluate_ids(ranked, {"a": [1], "b": [1]}, "RR"), *facts, **fields)


def test_document_twice_beyond_the_cutoff() -> None:
    input_error(lambda: evaluate_ids([[1, 9, 9]], [[1]], "P@1"), "9", "twice", document=9)


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(lambda a: a.tolist(), id="lists"),
        pytest.param(lambda a: list(a), id="list of arrays"),
        pytest.param(lambda a: [iter(row) for row in a.tolist()], id="iterators"),
        pytest.param(lambda a: [tuple(row) for row in a], id="numpy scalars"),
        pytest.param(np.asfortranarray, id="Fortran order"),
        pytest.param(lambda a: np.repeat(a, 2, 1)[:, ::2], id="strided"),
        pytest.param(lambda a: a[:, ::-1].copy()[:, ::-1], id="reversed"),
        *(pytest.param(lambda a, t=t: a.astype(t), id=t) for t in ("i1", "u1", ">i4", "u8", "O")),
    ],
)
def test_layouts_and_types_make_no_difference(layout: Any) -> None:
    ranked = np.array([[9, 1, 8, 2], [3, 7, 6, 5]])
    given = layout(ranked)
    if isinstance(given, np.ndarray):
        given.flags.writeable = False
    results = evaluate_ids(given, [np.array([1, 2]), {3: 2, 5: 1}], "RR R@2 AP")
    assert results.values.tolist() == [[0.5, 0.5, 0.5], [1.0, 0.5, 0.75]]


@pytest.mark.parametrize(
    ("ranked", "pad", "expected"),
    [
        pytest.param([[7, 1, -1], [-1, -1, -1]], -1, [[0.5, 2], [0, 0]], id="-1"),
        pytest.param(np.array([[7, 1, -1], [3, -1, -1]]), -1, [[0.5, 2], [1, 1]], id="array"),
        pytest.param([[7, 1, 0, 0], [3]], 0, [[0.5, 2], [1, 1]], id="0"),
        pytest.param([[7, 1], [3]], -1, [[0.5, 2], [1, 1]], id="none there"),
        pytest.param([[7, 1, None], [3, None]], None, None, id="None is no padding"),
    ],
)
def test_padding(ranked: Any, pad: Any, expected: Any) -> None:
    if expected is None:
        input_error(lambda: evaluate_ids(ranked, RELEVANT, "RR", pad=pad), "run", "id None")
    else:
        results = evaluate_ids(ranked, RELEVANT, "RR NumRet", pad=pad)
        assert results.values.tolist() == expected


def test_padding_of_text_ids() -> None:
    results = evaluate_ids([["a", "", ""]], [["a"]], "RR NumRet", pad="")
    assert results.values.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("ranked", [[[1, 2], [-1, 3]], np.array([[1, 2], [-1, 3]])])
def test_padding_before_documents(ranked: Any) -> None:
    facts = ("(query 1)", "padding -1")
    input_error(lambda: evaluate_ids(ranked, RELEVANT, "RR", pad=-1), *facts, query=1, value=-1)


def test_padding_that_was_not_announced_is_a_duplicate() -> None:
    ranked = [[1, -1, -1], [3, -1, -1]]
    input_error(lambda: evaluate_ids(ranked, RELEVANT, "RR"), "-1", query=0, document=-1)


@pytest.mark.parametrize(
    ("ranked", "relevant", "said"),
    [
        (np.array([[7, 1], [3, -1]]), RELEVANT, "rankings end in -1"),
        ([[7, 1], [3, -1]], RELEVANT, "rankings end in -1"),
        (np.array([[7, 1], [3, 4]]), [[1], [3, -1]], "lists of relevant documents end in -1"),
    ],
    ids=["matrix", "lists", "relevant"],
)
def test_one_cell_of_padding_is_warned_of(ranked: Any, relevant: Any, said: str) -> None:
    with pytest.warns(irbatch.InputWarning, match=said):
        evaluate_ids(ranked, relevant, "RR")
    evaluate_ids(ranked, relevant, "RR", pad=-1)
    evaluate_ids([[-1, 7], [3]], [{-1: 2}, {-1, 3}], "RR")  # an id as any other


def test_series_of_pandas_pair_by_their_index() -> None:
    pd = pytest.importorskip("pandas")
    ranked = pd.Series([[1, 2], [3, 4], [5]], index=["ann", "bob", "eve"])
    relevant = pd.Series([[4], [1]], index=["bob", "ann"])
    found = evaluate_ids(ranked, relevant, "RR")
    assert found.per_query("RR") == {"bob": 0.5, "ann": 1.0}
    for pair in ((ranked.to_list()[:2], relevant), (relevant, ranked.to_list()[:2])):
        facts = "labels such as 'bob'", "has none to pair with", ".tolist()"
        input_error(lambda pair=pair: evaluate_ids(*pair, "RR"), *facts)
    assert evaluate_ids(ranked.to_list()[:2], relevant.to_list(), "RR").mean() == {"RR": 0.0}
    listed = relevant.reset_index(drop=True)
    assert evaluate_ids(pd.Series([[4], [1]]), listed, "RR").per_query("RR") == {0: 1.0, 1: 1.0}
    batches = irbatch.BatchEvaluator("RR")
    batches.update_ids(ranked[:1], relevant[1:])
    batches.update_ids(ranked[1:], relevant[:1])
    assert batches.compute().per_query("RR") == {"ann": 1.0, "bob": 0.5}
    slices = irbatch.BatchEvaluator("RR")  # whose index is that of the whole frame
    for first in (0, 2):
        part = pd.Series([[1], [2], [3], [4]])[first : first + 2]
        slices.update_ids(part, part)
        slices.update_ids(part.to_list(), part)
    assert len(slices) == 8
    twice = pd.Series([[4], [1]], index=["bob", "bob"])
    input_error(lambda: evaluate_ids(ranked, twice, "RR"), "label 'bob' of a Series comes twice")


def test_tables_are_no_lists() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": ["ann"], "item": [1], "score": [0.5]})
    said = "ranked: lists of ids are a sequence, one a query, not a DataFrame"
    input_error(lambda: evaluate_ids(frame, [[1]], "RR"), said)


def test_sparse_matrices_are_no_lists() -> None:
    sparse = pytest.importorskip("scipy.sparse").csr_array([[0, 1]])
    input_error(lambda: evaluate_ids([[1]], sparse, "RR"), "relevant: lists of ids", "csr_array")


def test_lists_of_ids_are_no_tables() -> None:
    lists = pytest.importorskip("pandas").Series([[1, 2], [3]])
    said = "qrels: a Series is not a table of columns"
    input_error(lambda: irbatch.evaluate(lists, lists, "RR"), said)


def test_masked_ids_are_not_silently_read() -> None:
    hidden = masked([[1, 9], [3, 8]], mask=[[0, 1], [0, 0]])
    input_error(lambda: evaluate_ids(hidden, RELEVANT, "RR"), "None", "query 0")


def test_no_queries() -> None:
    input_error(lambda: evaluate_ids([], [], "RR"), "no queries")
    input_error(lambda: evaluate_ids({"a": [1]}, {}, "RR"), "qrels", "no queries")


def test_empty_lists() -> None:
    results = evaluate_ids([[], [3]], [[1], []], "RR AP nDCG P@5 R@5")
    assert results.values.tolist() == [[0.0] * 5, [0.0] * 5]
    assert (results.counts.empty, results.counts.no_relevant) == (1, 1)


def test_queries_on_one_side_only() -> None:
    ranked = {"a": [1], "extra": [1]}
    relevant = {"a": [1], "missing": [1]}
    results = evaluate_ids(ranked, relevant, "RR")
    assert results.per_query("RR") == {"a": 1.0, "missing": 0.0}
    assert (results.counts.missing, results.counts.extra) == (1, 1)
    assert evaluate_ids(ranked, relevant, "RR", missing="skip")["RR"] == 1.0
    strict = {"missing": "error"}
    input_error(lambda: evaluate_ids(ranked, relevant, "RR", **strict), "'missing'", source="run")


def test_nothing_in_common_shows_ids_of_both_sides() -> None:
    ranked = {"answered": [1]}
    input_error(lambda: evaluate_ids(ranked, {"judged": [1]}, "RR"), "'judged'", "'answered'")


def test_fractional_grades_need_a_threshold() -> None:
    input_error(lambda: evaluate_ids([[1]], [{1: 0.5}], "RR"), "0.5", "rel=", value=0.5)
    assert evaluate_ids([[1]], [{1: 0.5}], "RR(rel=0.5) nDCG").values.tolist() == [[1.0, 1.0]]
