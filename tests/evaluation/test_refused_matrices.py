"""Matrices of labels and scores: shapes, types, layouts, padding."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import InputWarning, evaluate_matrix, evaluate_scores

MATRIX = [[1, 0, 1], [0, 1, 0]]
masked = np.ma.array


@pytest.mark.parametrize(
    ("labels", "fact"),
    [
        pytest.param([1, 0, 1], "query 0", id="1-D list"),
        pytest.param(np.array([1, 0, 1]), "(3,)", id="1-D"),
        pytest.param(np.ones((1, 2, 2)), "(1, 2, 2)", id="3-D"),
        pytest.param([[[1], [0]]], "query 0", id="3-D list"),
        pytest.param(np.array(1), "()", id="0-D"),
        pytest.param(masked([1, 0], mask=[0, 1]), "(2,)", id="1-D masked"),
        pytest.param(None, "NoneType", id="None"),
        pytest.param(5, "int", id="number"),
        pytest.param("101", "str", id="text"),
        pytest.param([[1, 0], "10"], "query 1", id="row of text"),
        pytest.param([[1, 0], None], "query 1", id="row None"),
        pytest.param([[1, 0], [1, None]], "query 1", id="None"),
        pytest.param([["1", "0"]], "query 0", id="texts"),
        pytest.param([[1j, 0]], "complex", id="complex"),
        pytest.param(np.array([[1, 0]], object), "object", id="objects"),
        pytest.param(np.array([["2020"]], "datetime64[D]"), "datetime64", id="dates"),
        pytest.param([[10**400]], "query 0", id="beyond float64"),
        pytest.param([], "no queries", id="no rows"),
        pytest.param(np.zeros((0, 3)), "no queries", id="no rows of three"),
        pytest.param([[0, 1], {1, 0}], "query 1", id="set, which has no order"),
        pytest.param([[0, 1], {1: 0}], "query 1", id="mapping"),
    ],
)
def test_labels_are_no_matrix(labels: Any, fact: str) -> None:
    input_error(lambda: evaluate_matrix(labels, "RR"), "relevance", fact, source="relevance")


@pytest.mark.parametrize(
    "label",
    [float("nan"), float("inf"), -float("inf"), 2**53 + 1, 2**53 + 2, np.uint64(2**60), 1e300],
    ids=repr,
)
def test_label_is_no_grade(label: Any) -> None:
    labels = [np.array([1, 0, 1]), np.array([0, label])]
    facts = ("relevance", "query 1", "rank 2")
    input_error(lambda: evaluate_matrix(labels, "nDCG"), *facts, source="relevance", query=1)
    matrix = np.array([[0, 0], [0, label]], np.asarray(label).dtype)
    input_error(lambda: evaluate_matrix(matrix, "nDCG"), *facts, source="relevance", query=1)
    input_error(lambda: evaluate_scores([[2, 1]] * 2, matrix, "nDCG"), "relevance", "query 1")


def test_errors_name_the_query_by_its_id() -> None:
    labels = [[1.0, float("nan")], [1.0, 0.0]]
    input_error(lambda: evaluate_matrix(labels, "RR", query_ids=[7, 0]), "query 7", query=7)
    input_error(
        lambda: evaluate_matrix(MATRIX, "RR", n_relevant=[1, 1], query_ids=list("ab")), "query 'a'"
    )
    scores = [[2.0, 1.0], [float("nan"), 1.0]]
    input_error(lambda: evaluate_scores(scores, [[1, 0]] * 2, "RR", query_ids=[7, 0]), "query 0")


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(lambda a: a.tolist(), id="lists"),
        pytest.param(lambda a: tuple(map(tuple, a.tolist())), id="tuples"),
        pytest.param(lambda a: list(a), id="list of arrays"),
        pytest.param(lambda a: (row for row in a.tolist()), id="generator"),
        pytest.param(np.asfortranarray, id="Fortran order"),
        pytest.param(lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3], id="strided"),
        pytest.param(lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1], id="reversed"),
        pytest.param(lambda a: a.astype(">i4"), id="big-endian"),
        pytest.param(lambda a: np.ma.array(a), id="nothing masked"),
        *(pytest.param(lambda a, t=t: a.astype(t), id=t) for t in ("i1", "u1", "u8", "f2", "f4")),
        pytest.param(lambda a: a.astype(np.longdouble), id="longdouble"),
    ],
)
def test_layouts_and_types_make_no_difference(layout: Any) -> None:
    labels = np.array([[0, 2, 0, 1, 0, 0, 3], [1, 0, 0, 0, 0, 0, 0]])
    labels.flags.writeable = False
    given = layout(labels)
    if isinstance(given, np.ndarray):
        given.flags.writeable = False
    wishes = "nDCG@5 AP RR(rel=2) P@3 Judged@2"
    assert evaluate_matrix(given, wishes).mean() == evaluate_matrix(labels, wishes).mean()


@pytest.mark.parametrize(
    "labels",
    [np.zeros((2, 0)), [[], []], masked(MATRIX, mask=np.ones((2, 3))), np.zeros((2, 3), bool)],
    ids=["no columns", "empty rows", "all masked", "none relevant"],
)
def test_nothing_relevant_scores_zero_and_is_counted(labels: Any) -> None:
    results = evaluate_matrix(labels, "RR AP nDCG P@5 Rprec")
    assert set(results.mean().values()) == {0.0}
    assert results.counts.no_relevant == 2


def test_one_document() -> None:
    assert evaluate_matrix([[1], [0]], "RR AP nDCG P@1").values.tolist() == [[1.0] * 4, [0.0] * 4]
    assert evaluate_scores([[0.5]], [[1]], "RR").mean() == {"RR": 1.0}


def test_ragged_rows_need_no_padding() -> None:
    assert evaluate_matrix([[1], [0, 1], []], "RR").values.tolist() == [[1.0], [0.5], [0.0]]


def test_one_deep_query_beside_many_shallow_ones_is_not_padded() -> None:
    deep = np.zeros(10**6, np.int8)
    deep[-1] = 1
    labels = [deep, *([[0, 1]] * 999)]
    evaluate_matrix(labels, "RR NumRet")  # compiles
    tracemalloc.start()
    try:
        results = evaluate_matrix(labels, "RR NumRet")
        assert tracemalloc.get_traced_memory()[1] < 50e6  # padded: a gigabyte
    finally:
        tracemalloc.stop()
    assert results["NumRet"] == 10**6 + 2 * 999
    assert results.values[0, 0] == 1e-6


def test_smallest_integers_are_negative_grades() -> None:
    for dtype in (np.int8, np.int16, np.int32):
        labels = np.array([[np.iinfo(dtype).min, 1]], dtype)
        assert evaluate_matrix(labels, "RR nDCG P@1").mean()["RR"] == 0.5


def test_large_labels_are_exact() -> None:
    results = evaluate_matrix([[2**24, 2**24 + 1]], f"RR(rel={2**24 + 1})")
    assert results.values.tolist() == [[0.5]]


class TestLengths:
    @pytest.mark.parametrize(
        ("lengths", "fact"),
        [
            ([3], "(1,)"),
            ([3, 3, 3], "(3,)"),
            (5, "()"),
            ([[1, 2]], "(1, 2)"),
            ([1.0, 2.0], "float64"),
            ([True, False], "bool"),
            (["1", "2"], "str"),
            ([None, 1], "object"),
            ([3, 4], "length 4 is not within the row's 3 cells"),
            ([3, -1], "length -1 is not within the row's 3 cells"),
        ],
        ids=repr,
    )
    def test_bad(self, lengths: Any, fact: str) -> None:
        input_error(lambda: evaluate_matrix(MATRIX, "RR", lengths=lengths), "relevance", fact)

    @pytest.mark.parametrize("lengths", [[3, 4], np.array([3, 4], np.uint8)], ids=["list", "uint8"])
    def test_out_of_range_names_the_query(self, lengths: Any) -> None:
        fields = {"query": 1, "value": 4}
        input_error(lambda: evaluate_matrix(MATRIX, "RR", lengths=lengths), "(query 1)", **fields)

    def test_cells_beyond_are_not_read(self) -> None:
        labels = [[0.0, 1.0, float("nan")], [1.0, -1.0, -1.0]]
        results = evaluate_matrix(labels, "RR NumRet Judged@1", lengths=[2, 1])
        assert results.values.tolist() == [[0.5, 2.0, 1.0], [1.0, 1.0, 1.0]]

    def test_ragged_lengths_are_equivalent_to_masks(self) -> None:
        ends = masked(MATRIX, mask=[[0, 0, 1], [0, 1, 1]])
        expected = evaluate_matrix([[1, 0], [0]], "AP NumRet").values.tolist()
        assert evaluate_matrix(ends, "AP NumRet").values.tolist() == expected
        assert evaluate_matrix(MATRIX, "AP NumRet", lengths=[2, 1]).values.tolist() == expected

    def test_masked_rows(self) -> None:
        rows = [masked([1, 0, 1], mask=[0, 0, 1]), masked([0, 1], mask=[0, 1])]
        expected = evaluate_matrix([[1, 0], [0]], "AP NumRet").values.tolist()
        assert evaluate_matrix(rows, "AP NumRet").values.tolist() == expected

    def test_mask_with_a_gap(self) -> None:
        gap = masked(MATRIX, mask=[[0, 0, 0], [1, 0, 0]])
        input_error(lambda: evaluate_matrix(gap, "RR"), "masked", source="relevance")

    def test_mask_and_contradicting_lengths(self) -> None:
        ends = masked(MATRIX, mask=[[0, 0, 1], [0, 0, 0]])
        input_error(lambda: evaluate_matrix(ends, "RR", lengths=[3, 3]), "mask")

    @pytest.mark.parametrize("end", [-1, -1.0])
    def test_unexplained_padding_is_warned_of(self, end: float) -> None:
        with pytest.warns(InputWarning, match="lengths="):
            evaluate_matrix([[1, end], [0, 1]], "RR")


class TestJudged:
    @pytest.mark.parametrize(
        ("judged", "fact"),
        [
            ([[1, 1]], "1 row for 2 queries"),
            (5, "int"),
            ([[1, 1], [0]], "(query 1): 1 documents of grade 1 are ranked, but only 0 judged"),
            ([[1], [1]], "(query 0): 2 documents of grade 1 are ranked, but only 1 judged"),
            ([[2, 2], [1]], "(query 0)"),
            ([[1, 1], [1, float("nan")]], "(query 1): label nan"),
            ([[1, 1], None], "(query 1)"),
        ],
        ids=repr,
    )
    def test_bad(self, judged: Any, fact: str) -> None:
        facts = ("judged", fact)
        input_error(lambda: evaluate_matrix(MATRIX, "R", judged=judged), *facts, source="judged")

    @pytest.mark.parametrize(
        "n_relevant", [[2], [2, 1, 1], 5, [[2, 1]], [-1, 2], [2.0, 1.0], ["2", "1"], [None, 1]],
        ids=repr,
    )  # fmt: skip
    def test_bad_number(self, n_relevant: Any) -> None:
        fields = {"source": "n_relevant"}
        input_error(
            lambda: evaluate_matrix(MATRIX, "R", n_relevant=n_relevant), "2 in all", **fields
        )

    @pytest.mark.parametrize("number", [10**7 + 1, 10**9, 2**62])
    def test_more_relevant_documents_than_are_tabulated(self, number: int) -> None:
        fields = {"source": "n_relevant", "query": 1, "value": number}
        problem = f"{number} relevant documents are more than 10,000,000"
        input_error(
            lambda: evaluate_matrix(MATRIX, "RR", n_relevant=[2, number]), problem, **fields
        )

    def test_as_many_relevant_documents_as_may_be(self) -> None:
        """They were written out as rows of that many labels."""
        found = evaluate_matrix(np.eye(3, 4), "R", n_relevant=np.full(3, 10**7)).values
        assert found.tolist() == [[1e-7]] * 3

    def test_fewer_relevant_than_ranked(self) -> None:
        input_error(lambda: evaluate_matrix(MATRIX, "R", n_relevant=[2, 0]), "(query 1)", query=1)

    def test_number_of_relevant_documents_says_nothing_of_grades(self) -> None:
        graded = [[1, 0], [0, 2]]
        input_error(lambda: evaluate_matrix(graded, "R", n_relevant=[1, 1]), "judged=", query=1)

    def test_both(self) -> None:
        both = {"judged": MATRIX, "n_relevant": [2, 1]}
        input_error(lambda: evaluate_matrix(MATRIX, "R", **both), "not both")

    def test_consistent(self) -> None:
        for more in ({"judged": [[1, 0, 1, 1, 1], [1]]}, {"n_relevant": np.array([4, 1], "u1")}):
            assert evaluate_matrix(MATRIX, "R", **more).values.tolist() == [[0.5], [1.0]]


@pytest.mark.parametrize(
    ("query_ids", "fact"),
    [
        pytest.param(["a"], "2 different ids", id="too few"),
        pytest.param(["a", "b", "c"], "2 different ids", id="too many"),
        pytest.param(["a", "a"], "2 different ids", id="twice"),
        pytest.param([1, True], "ids", id="1 and True"),
        pytest.param([1.5, 2.5], "1.5", id="floats"),
        pytest.param([None, "x"], "None", id="None"),
        pytest.param([b"a", b"b"], "b'a'", id="bytes"),
        pytest.param([[1], [2]], "[1]", id="lists"),
        pytest.param(["a", 1], "two kinds", id="two kinds"),
        pytest.param(5, "query_ids", id="number"),
    ],
)
def test_query_ids_that_are_none(query_ids: Any, fact: str) -> None:
    input_error(lambda: evaluate_matrix(MATRIX, "RR", query_ids=query_ids), fact)
    input_error(lambda: evaluate_scores([[3, 2, 1]] * 2, MATRIX, "RR", query_ids=query_ids), fact)
