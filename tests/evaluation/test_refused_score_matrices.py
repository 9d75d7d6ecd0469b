"""Score matrices: scores, shapes, ties and layouts."""

from typing import Any

import numpy as np
import pytest
from support.input_errors import ANYTHING, input_error

from irbatch import evaluate_scores

LABELS = [[1, 0, 0]]
masked = np.ma.array


@pytest.mark.parametrize(
    ("scores", "facts"),
    [
        pytest.param([3, 2, 1], ("scores", "(3,)"), id="1-D"),
        pytest.param(np.ones((1, 3, 1)), ("scores", "(1, 3, 1)"), id="3-D"),
        pytest.param([[3, 2]], ("(1, 2)", "(1, 3)"), id="too few candidates"),
        pytest.param([[3], [2], [1]], ("(3, 1)", "(1, 3)"), id="transposed"),
        pytest.param([[3, 2, 1]] * 50, ("(50, 3)", "(1, 3)"), id="50 queries for 1"),
        pytest.param([], ("scores", "(0,)"), id="empty"),
        pytest.param(None, ("scores",), id="None"),
        pytest.param([[3, 2, 1], [1]], ("scores",), id="ragged"),
        pytest.param([[3, None, 1]], ("query 0", "score None"), id="None among them"),
        pytest.param([["a", "b", "c"]], ("scores", "text"), id="texts"),
        pytest.param([[3j, 2, 1]], ("scores", "complex"), id="complex"),
        pytest.param(np.array([[3, 2, 1]], object), ("scores", "object"), id="objects"),
        pytest.param([[10**400, 1, 0]], ("scores",), id="beyond float64"),
    ],
)
def test_scores_are_no_matrix(scores: Any, facts: tuple[str, ...]) -> None:
    input_error(lambda: evaluate_scores(scores, LABELS, "RR"), *facts, source="scores")


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param([[1, 0, 0], [1]], id="ragged"),
        pytest.param([[1, None, 0]], id="None"),
        pytest.param([["1", "0", "0"]], id="texts"),
        pytest.param([[1, float("nan"), 0]], id="nan"),
        pytest.param([[2**60, 0, 0]], id="2^60"),
    ],
)
def test_labels_are_no_grades(labels: Any) -> None:
    input_error(lambda: evaluate_scores([[3, 2, 1]], labels, "RR"), "relevance", source="relevance")


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "g"])
def test_nan_score(dtype: str) -> None:
    scores = np.array([[3.0, 2.0, 1.0], [3.0, np.nan, 1.0]], dtype)
    fields = {"source": "scores", "query": 1, "value": ANYTHING}
    facts = ("(query 1)", "nan", "candidate 1")
    input_error(lambda: evaluate_scores(scores, LABELS * 2, "RR"), *facts, **fields)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param(np.array([[0, 1, 2]], "u1"), 1 / 3, id="uint8"),
        pytest.param(np.array([[255, 0, 254]], "u1"), 1.0, id="largest uint8"),
        pytest.param(np.array([[-128, 127, 0]], "i1"), 1 / 3, id="int8 -128"),
        pytest.param(np.array([[127, -128, 0]], "i1"), 1.0, id="int8 127"),
        pytest.param(np.array([[2**53 + 1, 2**53, 0]]), 1.0, id="int64 beyond float64"),
        pytest.param(np.array([[-(2**63), 0, 1]]), 1 / 3, id="smallest int64"),
        pytest.param(np.array([[2**64 - 2, 2**64 - 1, 0]], "u8"), 0.5, id="uint64"),
        pytest.param(np.array([[0.5, 1.0, 0.25]], "f2"), 0.5, id="float16"),
        pytest.param(np.array([[1 + 1e-9, 1.0, 0]]), 1.0, id="1+1e-9"),
        pytest.param(np.array([[2e39, 1e39, 0]]), 1.0, id="beyond float32"),
        pytest.param(np.array([[16777217, 16777216, 0]], "i4"), 1.0, id="2^24+1"),
        pytest.param(np.array([[True, False, False]]), 1.0, id="bools"),
        pytest.param(np.array([[-np.inf, 0, np.inf]]), 1 / 3, id="infinities"),
        pytest.param(np.array([[3, 2, 1]], np.longdouble), 1.0, id="longdouble"),
        pytest.param(np.asfortranarray([[1.0, 3.0, 2.0]]), 1 / 3, id="Fortran order"),
        pytest.param(np.arange(12.0).reshape(2, 6)[1:, ::-2], 1.0, id="strided"),
        pytest.param([(1, 2.5, 2)], 1 / 3, id="lists"),
    ],
)
def test_scores_compare_in_their_own_type(scores: Any, expected: float) -> None:
    if isinstance(scores, np.ndarray):
        scores.flags.writeable = False
    assert evaluate_scores(scores, LABELS, "RR")["RR"] == expected


@pytest.mark.parametrize(
    "scores", [[[0.5, 0.5, 0.5]], [[0.0, -0.0, -1.0]], [[np.inf, np.inf, 0]], [[1, 1, 1]]], ids=repr
)
def test_ties_are_never_decided_silently(scores: list[list[float]]) -> None:
    facts = ("(query 0)", "'pessimistic'")
    input_error(
        lambda: evaluate_scores(scores, LABELS, "RR", ties="error"),
        *facts,
        query=0,
        value=scores[0][0] + 0.0,
    )
    tied = scores[0].count(scores[0][0])
    assert evaluate_scores(scores, LABELS, "P@1")["P@1"] == 1 / tied
    for ties, expected in (("pessimistic", 1 / tied), ("optimistic", 1.0), ("index", 1.0)):
        assert evaluate_scores(scores, LABELS, "RR", ties=ties)["RR"] == expected


def test_ties_among_equal_labels_decide_nothing() -> None:
    assert evaluate_scores([[0.9, 0.5, 0.5]], LABELS, "RR P@2").mean() == {"RR": 1.0, "P@2": 0.5}


def test_masked_candidates_are_not_there() -> None:
    hidden = masked([[1.0, 3.0, 2.0]], mask=[[0, 1, 0]])
    assert evaluate_scores(hidden, LABELS, "RR")["RR"] == 0.5
    assert evaluate_scores([[1.0, 3.0, 2.0]], masked(LABELS, mask=[[0, 1, 0]]), "RR")["RR"] == 0.5


def test_no_candidates() -> None:
    results = evaluate_scores(np.zeros((2, 0)), np.zeros((2, 0)), "RR AP nDCG P@1")
    assert results.values.tolist() == [[0.0] * 4] * 2
    none = (np.zeros((0, 2)), np.zeros((0, 2)), "RR")
    input_error(lambda: evaluate_scores(*none), "no queries")


def test_labels_of_two_frames_are_the_same() -> None:
    pd = pytest.importorskip("pandas")
    scores = pd.DataFrame([[0.1, 0.9], [0.2, 0.3]], ["ann", "bob"], ["x", "y"])
    labels = pd.DataFrame([[1, 0], [0, 1]], ["ann", "bob"], ["x", "y"])
    said = "relevance: column 0 is 'y', that of the scores 'x'"
    input_error(lambda: evaluate_scores(scores, labels[["y", "x"]], "RR"), said)
    said = "relevance: row 0 is 'bob', that of the scores 'ann'"
    input_error(lambda: evaluate_scores(scores, labels[::-1], "RR"), said)
    plain = labels.reset_index(drop=True)
    input_error(lambda: evaluate_scores(plain, plain[::-1], "RR"), "row 0 is 1", "scores 0")
    expected = {"ann": 0.5, "bob": 1.0}
    for relevance in (labels, plain, labels.to_numpy()):
        assert evaluate_scores(scores, relevance, "RR").per_query() == expected
    assert evaluate_scores(scores.reset_index(drop=True), labels, "RR").per_query() == {
        0: 0.5,
        1: 1,
    }
    twice = scores.set_axis(["ann", "ann"])
    assert evaluate_scores(twice, plain, "RR").per_query() == {0: 0.5, 1: 1.0}
