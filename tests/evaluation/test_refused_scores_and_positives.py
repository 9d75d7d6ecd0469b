"""Score matrices, positives, candidates, embeddings: what is refused, and that it is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from support.input_errors import input_error

import irbatch

SCORES = np.array([[0.3, 0.2, 0.1], [0.1, 0.3, 0.2]])
LABELS = np.array([[1, 0, 0], [0, 1, 0]])
NAN = float("nan")
BOTH = ("(2, 3)", "(3, 2)")


def refuse(*facts: str, scores: Any = SCORES, fields: Any = None, **given: Any) -> None:
    """Check that scores are refused with whatever else is given; labels unless positives are."""
    if "positives" not in given:
        given.setdefault("relevance", LABELS)
    input_error(lambda: irbatch.evaluate_scores(scores, measures="RR", **given), *facts,
            **(fields or {}))  # fmt: skip


class TestScores:
    @pytest.mark.parametrize(
        ("scores", "facts"),
        [
            pytest.param([0.3, 0.2, 0.1], ("(3,)",), id="1-D"),
            pytest.param(np.ones((2, 3, 1)), ("(2, 3, 1)",), id="3-D"),
            pytest.param(None, ("scores",), id="None"),
            pytest.param([[3, 2, 1], [1]], ("scores",), id="ragged"),
            pytest.param([["a", "b", "c"]] * 2, ("scores", "text"), id="texts"),
            pytest.param(SCORES.astype(complex), ("scores", "complex128"), id="complex"),
            pytest.param(SCORES.astype(object), ("scores", "object"), id="objects"),
            pytest.param(SCORES.astype("M8[s]"), ("scores", "datetime64"), id="dates"),
            pytest.param([[10**400, 1, 0]] * 2, ("scores",), id="beyond float64"),
            pytest.param(np.zeros((0, 3)), ("no queries",), id="no queries"),
        ],
    )
    @pytest.mark.parametrize(
        "truth",
        [{"relevance": LABELS}, {"relevance": sp.csr_array(LABELS)}, {"positives": [0, 1]}],
        ids=["labels", "sparse labels", "positives"],
    )
    def test_no_matrix(self, scores: Any, facts: tuple[str, ...], truth: Any) -> None:
        refuse(*facts, scores=scores, **truth)

    @pytest.mark.parametrize("convert", [np.array, np.ndarray.tolist, sp.csr_array])
    @pytest.mark.parametrize("shape", [(3, 2), (2, 2), (1, 3), (2, 4)])
    def test_labels_of_another_shape(self, shape: tuple[int, int], convert: Any) -> None:
        refuse("(2, 3)", str(shape), relevance=convert(np.ones(shape, int)))

    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
    @pytest.mark.parametrize("truth", [{}, {"positives": [0, 1]}], ids=["labels", "positives"])
    def test_nan(self, dtype: str, truth: Any) -> None:
        scores = SCORES.astype(dtype)
        scores[1, 1] = NAN
        fields = {"query": 1, "source": "scores"}
        refuse("query 1", "candidate 1", "nan", scores=scores, fields=fields, **truth)
        refuse("query 'b'", "candidate 1", scores=scores, query_ids=["a", "b"], **truth)
        refuse("query 1", "candidate 1", scores=scores, mask=~np.eye(2, 3, dtype=bool)[::-1],
               **truth)  # fmt: skip

    @pytest.mark.parametrize("position", [0, 1, 998, 999])
    def test_nan_anywhere(self, position: int) -> None:
        scores, labels = np.zeros((2, 1000), "f4"), np.zeros((2, 1000), int)
        scores[1, position], labels[:, 500] = NAN, 1
        for relevance in (labels, sp.csr_array(labels)):
            for ties in ("expected", "pessimistic", "index"):
                facts = ("query 1", f"candidate {position}")
                refuse(*facts, scores=scores, relevance=relevance, ties=ties)


class TestTruth:
    def test_one_of_two_ways_to_say_it(self) -> None:
        both = {"relevance": LABELS, "positives": [0, 1]}
        refuse("relevance", "positives", **both)
        refuse("relevance", "positives", positives=None)

    def test_measures_are_missing(self) -> None:
        input_error(lambda: irbatch.evaluate_scores(SCORES, LABELS), "measures")
        input_error(lambda: irbatch.evaluate_scores(SCORES, positives=[0, 1]), "measures")
        input_error(lambda: irbatch.evaluate_scores(SCORES, LABELS, []), "measure")

    @pytest.mark.parametrize(
        ("positives", "facts"),
        [
            pytest.param([0, 3], ("query 1", "3"), id="one past the end"),
            pytest.param([0, -1], ("query 1", "-1"), id="negative"),
            pytest.param([[0], [1, 3]], ("query 1", "3"), id="in a list"),
            pytest.param([[0], [1, -2]], ("query 1", "-2"), id="negative in a list"),
            pytest.param([{0: 1}, {1: 1, 7: 1}], ("query 1", "7"), id="in a mapping"),
            pytest.param(np.array([[0, -100], [1, 3]]), ("query 1", "3"), id="in a matrix"),
            pytest.param(
                np.array([[0, -100], [1, -1]]),
                ("query 1", "-1", "padding is -100"),
                id="padded by -1",
            ),
            pytest.param([[0], [1, 2, 1]], ("query 1", "1"), id="twice in a list"),
            pytest.param(np.array([[0, -100], [2, 2]]), ("query 1", "2"), id="twice in a matrix"),
            pytest.param([0, 1, 2], ("3", "2"), id="too many"),
            pytest.param([0], ("1", "2"), id="too few"),
            pytest.param(np.zeros((3, 1), int), ("3", "2"), id="too many rows"),
            pytest.param(np.zeros((2, 1, 1), int), ("(2, 1, 1)",), id="3-D"),
            pytest.param([0.0, 1.0], ("float",), id="floats"),
            pytest.param(np.array([[0.0], [1.0]]), ("float",), id="a matrix of floats"),
            pytest.param([[0], [1.5]], ("query 1",), id="a float in a list"),
            pytest.param([[0], ["1"]], ("query 1",), id="a text in a list"),
            pytest.param([True, False], ("bool",), id="bools"),
            pytest.param([0, None], (), id="None"),
            pytest.param([{0: 1}, {1: NAN}], ("query 1",), id="a grade nan"),
            pytest.param([{0: 1}, {1: 10**400}], ("query 1",), id="a grade beyond float64"),
            pytest.param([{0: 1}, {1: 2**53 + 1}], ("query 1",), id="a grade that is rounded"),
            pytest.param(np.array([0, 2**64 - 100], "u8"), ("query 1",), id="like padding"),
            pytest.param([{0: 1}, {1.5: 1}], ("query 1",), id="a float in a mapping"),
            pytest.param("diagonals", ("diagonals",), id="an unknown word"),
            pytest.param(1, (), id="a number"),
            pytest.param({0: [0], 1: [1]}, (), id="a mapping of queries"),
        ],
    )
    def test_positives(self, positives: Any, facts: tuple[str, ...]) -> None:
        refuse("positives", *facts, positives=positives)

    def test_positives_of_named_queries(self) -> None:
        fields = {"query": "b", "source": "positives"}
        refuse("query 'b'", positives=[0, 3], query_ids=["a", "b"], fields=fields)
        refuse("diagonal", "(2, 1)", scores=SCORES[:, :1], positives="diagonal")

    @pytest.mark.parametrize(
        "label", [NAN, float("inf"), 2**60, "1", None, 1j], ids=["nan", "inf", "2^60", *"sNc"]
    )
    def test_labels(self, label: Any) -> None:
        refuse("relevance", relevance=[[1, 0, 0], [0, label, 0]], fields={"source": "relevance"})


class TestCandidates:
    @pytest.mark.parametrize(
        ("mask", "facts"),
        [
            pytest.param(np.ones((3, 2), bool), BOTH, id="transposed"),
            pytest.param(np.ones(3, bool), ("(3,)", "(2, 3)"), id="1-D"),
            pytest.param(np.ones((1, 3), bool), ("(1, 3)", "(2, 3)"), id="one row"),
            pytest.param(np.ones((2, 3)), ("float64",), id="floats"),
            pytest.param([[True, False], [True]], (), id="ragged"),
            pytest.param([[1, 1, 2], [1, 0, 0]], ("int64",), id="whole numbers"),
            pytest.param(np.array([[1, 1, 1], [0, 0, 0]], bool), ("query 1",), id="all hidden"),
        ],
    )
    def test_mask(self, mask: Any, facts: tuple[str, ...]) -> None:
        refuse("mask", *facts, mask=mask)
        refuse("mask", *facts, mask=mask, positives=[0, 1])

    def test_a_query_of_no_candidates_is_named_however_it_came_to_that(self) -> None:
        hidden = np.array([[False] * 3, [True] * 3])
        ways: list[dict[str, Any]] = [
            {"mask": ~hidden},
            {"scores": np.ma.array(SCORES, mask=hidden)},
            {"relevance": np.where(hidden, -100, LABELS)},
            {"exclude": hidden},
            {"exclude": [[], [0, 1, 2]]},
            {"exclude": sp.csr_array(hidden)},
            {"mask": [[True] * 3, [True, True, False]], "exclude": [[], [0, 1]]},
        ]
        for way in ways:
            refuse("query 'b'", query_ids=["a", "b"], fields={"query": "b"}, **way)
        nothing = irbatch.evaluate_scores(SCORES, LABELS, "RR", lengths=[3, 0])
        assert nothing.values.tolist() == [[1.0], [0.0]], "a row of length 0 was meant"
        assert nothing.counts.empty == 1

    @pytest.mark.parametrize(
        ("lengths", "facts"),
        [
            ([3], ("(1,)",)),
            ([3, 3, 3], ("(3,)",)),
            (3, ()),
            ([[3, 3]], ("(1, 2)",)),
            ([3.0, 3.0], ("float64",)),
            ([True, True], ("bool",)),
            ([3, 4], ("query 1", "4", "3")),
            ([3, -1], ("query 1", "-1")),
        ],
        ids=repr,
    )
    def test_lengths(self, lengths: Any, facts: tuple[str, ...]) -> None:
        refuse("lengths" if "query 1" not in facts else "length", *facts, lengths=lengths)

    @pytest.mark.parametrize(
        ("exclude", "facts"),
        [
            pytest.param(np.zeros((3, 2), bool), BOTH, id="transposed"),
            pytest.param(sp.csr_array((3, 2)), BOTH, id="transposed and sparse"),
            pytest.param([[], [3]], ("query 1", "3"), id="past the end"),
            pytest.param([[], [-1]], ("query 1", "-1"), id="negative"),
            pytest.param([[]], ("1", "2"), id="too few"),
            pytest.param([[], ["d1"]], (), id="a text"),
            pytest.param(5, (), id="a number"),
        ],
    )
    def test_exclude(self, exclude: Any, facts: tuple[str, ...]) -> None:
        refuse("exclude", *facts, exclude=exclude)

    @pytest.mark.parametrize(
        ("n_relevant", "facts"),
        [
            pytest.param([1], (), id="too few"),
            pytest.param(1, (), id="a number"),
            pytest.param([1.0, 1.0], (), id="floats"),
            pytest.param([1, -1], (), id="negative"),
            pytest.param([1, 0], ("query 1", "0", "1"), id="fewer than are listed"),
            pytest.param([1, 10**9], ("query 1", "more than 10,000,000"), id="too many"),
        ],
    )
    def test_n_relevant(self, n_relevant: Any, facts: tuple[str, ...]) -> None:
        refuse("n_relevant", *facts, n_relevant=n_relevant)
        refuse("n_relevant", *facts, n_relevant=n_relevant, positives=[0, 1])

    @pytest.mark.parametrize("truth", [{"relevance": 2 * LABELS}, {"positives": [{0: 1}, {1: 2}]}])
    def test_n_relevant_is_of_labels_0_and_1(self, truth: Any) -> None:
        refuse("n_relevant", n_relevant=[3, 3], **truth)


class TestTies:
    @pytest.mark.parametrize("ties", ["random", "", 1, "Expected"], ids=repr)
    def test_unknown(self, ties: Any) -> None:
        refuse(f"ties={ties!r}", "expected", "pessimistic", ties=ties)

    def test_ids_are_needed(self) -> None:
        refuse("document_ids", ties="id")
        refuse("document_ids", ties="id_ascending")

    @pytest.mark.parametrize(
        "ids",
        [
            pytest.param(["a", "b"], id="too few"),
            pytest.param([["a", "b", "c"]], id="of one query of two"),
            pytest.param(["a", "b", "a"], id="twice"),
            pytest.param([["a", "b", "c"], ["a", "c", "c"]], id="twice in a row"),
            pytest.param([1.5, 2.5, 3.5], id="floats"),
            pytest.param(["a", 1, "b"], id="two kinds"),
            pytest.param(["a", None, "b"], id="None"),
        ],
    )
    def test_ids(self, ids: Any) -> None:
        refuse("document_ids", ties="id", document_ids=ids)

    def test_ties_that_are_not_to_be(self) -> None:
        tied = [[0.5, 0.5, 0.1], [0.1, 0.2, 0.2]]
        refuse("query 0", "0.5", "expected", scores=tied, ties="error", fields={"query": 0})
        refuse("query 1", scores=[[3, 2, 1], [1, 2, 2]], ties="error", fields={"query": 1})


class TestEmbeddings:
    QUERIES, DOCUMENTS = np.ones((2, 4)), np.ones((3, 4))

    @pytest.mark.parametrize("similarity", ["dot", "cosine"])
    @pytest.mark.parametrize("value", [NAN, float("inf"), -float("inf")], ids=repr)
    def test_not_finite(self, value: float, similarity: str) -> None:
        for name, at in (("queries", 0), ("documents", 1)):
            given = [self.QUERIES.copy(), self.DOCUMENTS.copy()]
            given[at][1, 2] = value
            input_error(lambda given=given: irbatch.evaluate_embeddings(
                *given, LABELS, "RR", similarity=similarity), name, "1")  # fmt: skip

    @pytest.mark.parametrize(
        ("queries", "documents", "facts"),
        [
            pytest.param(np.ones((2, 4)), np.ones((3, 5)), ("(2, 4)", "(3, 5)"), id="dimension"),
            pytest.param(np.ones((2, 4)), np.ones((1, 3, 4)), ("(1, 3, 4)",), id="3-D"),
            pytest.param(np.ones((2, 4)), np.ones((3, 4), complex), ("complex",), id="complex"),
            pytest.param([["a"]] * 2, [["a"]] * 3, ("queries",), id="texts"),
            pytest.param(np.ones((0, 4)), np.ones((3, 4)), ("no queries",), id="no queries"),
        ],
    )
    def test_shapes_and_types(self, queries: Any, documents: Any, facts: tuple[str, ...]) -> None:
        input_error(lambda: irbatch.evaluate_embeddings(queries, documents, LABELS, "RR"), *facts)

    def test_labels_and_words(self) -> None:
        given = (self.QUERIES, self.DOCUMENTS)
        input_error(lambda: irbatch.evaluate_embeddings(*given, LABELS.T, "RR"), "(3, 2)")
        input_error(lambda: irbatch.evaluate_embeddings(*given, LABELS, "RR", similarity="l2"),
                "similarity", "'l2'", "cosine")  # fmt: skip
        input_error(lambda: irbatch.evaluate_embeddings(*given, measures="RR"), "positives")
        input_error(lambda: irbatch.evaluate_embeddings(*given, LABELS), "measures")


class TestTriples:
    @pytest.mark.parametrize(
        ("positive", "negatives", "facts"),
        [
            pytest.param([1, 2], [1, 2, 3], ("(2,)", "(3,)"), id="lengths"),
            pytest.param(np.ones((2, 2)), np.ones((2, 3)), ("(2, 2)",), id="2-D positives"),
            pytest.param([1, "2"], [1, 2], ("positive",), id="texts"),
            pytest.param([1, 2], [1j, 2], ("negatives", "complex"), id="complex"),
            pytest.param([1, NAN], [1, 2], ("query 1", "nan"), id="nan among positives"),
            pytest.param([1, 2], [[1, 1], [1, NAN]], ("query 1", "nan"), id="nan among negatives"),
            pytest.param([], [], ("no queries",), id="none"),
        ],
    )
    def test_refused(self, positive: Any, negatives: Any, facts: tuple[str, ...]) -> None:
        input_error(lambda: irbatch.evaluate_triples(positive, negatives, "RR"), *facts)
