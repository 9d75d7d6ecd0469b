"""Score matrices: in whatever form scores, labels and what is no candidate come, the same bits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from support.input_errors import input_error

import irbatch
from irbatch import InputError

N, M = 24, 40
RNG = np.random.default_rng(0)
# Whole numbers with ties, exact in all types; and labels, of which every query has some above 0.
SCORES = RNG.integers(0, 90, (N, M)).astype(float)
LABELS = RNG.choice([0, 0, 0, 0, 0, 1], (N, M))
LABELS[np.arange(N), RNG.integers(0, M, N)] = 1
GRADES = LABELS * RNG.integers(1, 4, (N, M))
KEPT = RNG.random((N, M)) < 0.8
KEPT[:, 0] = True
LOST, HALF = ~KEPT, np.arange(M) > 20
WHERE, SIZES, ROWS = RNG.integers(0, M, N), RNG.integers(1, M + 1, N), RNG.permutation(N)
MEASURES = "AP nDCG@{1,5} nDCG P@{3,10} R@{10,100} RR Rprec Success@3 DCG@7 RBP IPrec(recall=0.5)"
for _each in (SCORES, LABELS, GRADES, KEPT):
    _each.flags.writeable = False
pytestmark = pytest.mark.filterwarnings("ignore:scores of 16 bits")
policies = pytest.mark.parametrize("ties", ["expected", "pessimistic", "optimistic", "index"])


def values(scores: Any, relevance: Any = None, **given: Any) -> list[list[float]]:
    return irbatch.evaluate_scores(scores, relevance, MEASURES, **given).values.tolist()


class Exporter:
    """What other libraries' arrays are: nothing but DLPack's two methods."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": lambda a: a.tolist(),
    "tuples": lambda a: tuple(map(tuple, a.tolist())),
    "list of arrays": list,
    "Fortran order": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "nothing masked": np.ma.array,
    "only __array__": lambda a: SimpleNamespace(__array__=lambda dtype=None, copy=None: a),
    "only __dlpack__": lambda a: Exporter(a.copy()),
}
DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">i8", "g"]


@policies
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, ties: str) -> None:
    expected = values(SCORES, GRADES, ties=ties)
    assert values(LAYOUTS[layout](SCORES), GRADES, ties=ties) == expected
    assert values(SCORES, LAYOUTS[layout](GRADES), ties=ties) == expected
    one = np.broadcast_to(SCORES[0], SCORES.shape)
    assert values(one, GRADES, ties=ties) == values(one.copy(), GRADES, ties=ties)


@policies
@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype: str, ties: str) -> None:
    expected = values(SCORES, GRADES, ties=ties)
    assert values(SCORES.astype(dtype), GRADES, ties=ties) == expected
    assert values(SCORES, GRADES.astype(dtype), ties=ties) == expected
    assert values(SCORES, LABELS.astype(dtype)) == values(SCORES, LABELS.astype(bool))


@policies
def test_types_that_order_by_their_sign(ties: str) -> None:
    """Smallest integers and signs of zeros: nothing may be found by negating."""
    signed = SCORES - 45
    expected = values(signed, GRADES, ties=ties)
    least = (signed - signed.min()).astype("i8") - 128
    assert values(least.astype("i1"), GRADES, ties=ties) == expected
    assert values(np.where(signed == 0, -0.0, signed), GRADES, ties=ties) == expected
    bools = values(SCORES > 45, GRADES, ties=ties)
    assert bools == values((SCORES > 45).astype(float), GRADES, ties=ties)
    assert bools == values(np.where(SCORES > 45, np.inf, -np.inf), GRADES, ties=ties)
    for factor in (5e-324, 1e300):
        assert values(SCORES * factor, GRADES, ties=ties) == values(SCORES, GRADES, ties=ties)


@policies
def test_scores_wider_than_float64(ties: str) -> None:
    close = np.where(KEPT, 1 + SCORES.astype("g") * np.finfo("g").eps, np.longdouble("nan"))
    settings = {"mask": KEPT, "ties": ties}
    assert values(close, GRADES, **settings) == values(SCORES, GRADES, **settings)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_sparse_labels(kind: Any) -> None:
    assert values(SCORES, kind(GRADES)) == values(SCORES, GRADES)
    assert values(SCORES, kind(LABELS.astype(bool))) == values(SCORES, LABELS)


def columns(labels: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in labels]


def padded(lists: list[list[int]]) -> np.ndarray:
    width = max(map(len, lists)) + 1
    return np.array([each + [-100] * (width - len(each)) for each in lists])


POSITIVES: dict[str, Callable[[list[list[int]]], Any]] = {
    "lists": lambda lists: lists,
    "lists, shuffled": lambda lists: [each[::-1] for each in lists],
    "arrays": lambda lists: [np.array(each, np.uint16) for each in lists],
    "padded": padded,
    "padded in front, int16": lambda lists: padded(lists)[:, ::-1].astype(np.int16),
    "sets": lambda lists: [*map(set, lists)],
    "objects": lambda lists: np.array([*lists, None], object)[:-1],  # as pandas holds them
}


@policies
@pytest.mark.parametrize("form", POSITIVES)
def test_positives_in_place_of_labels(form: str, ties: str) -> None:
    expected = values(SCORES, LABELS, ties=ties)
    assert values(SCORES, positives=POSITIVES[form](columns(LABELS)), ties=ties) == expected


def test_one_positive_a_query() -> None:
    expected = values(SCORES, np.arange(M) == WHERE[:, None])
    forms = (WHERE, WHERE.astype("i2"), WHERE.astype("u8"), WHERE.tolist(), WHERE[:, None],
             WHERE[:, None].tolist(), np.repeat(WHERE, 2)[::2], WHERE.astype(object))  # fmt: skip
    for form in forms:
        assert values(SCORES, positives=form) == expected
    first = np.broadcast_to(np.arange(M) == 0, (N, M))
    assert values(SCORES, positives="first") == values(SCORES, first)
    assert values(SCORES, positives="diagonal") == values(SCORES, np.eye(N, M))


def by_hand(kept: np.ndarray) -> list[list[float]]:
    """Each query alone, with its candidates alone."""
    return [values(SCORES[i : i + 1, k], GRADES[i : i + 1, k])[0] for i, k in enumerate(kept)]


WITHOUT: dict[str, dict[str, Any]] = {
    "mask": {"mask": KEPT},
    "mask of lists": {"mask": KEPT.tolist()},
    "mask of whole numbers": {"mask": KEPT.astype(int)},
    "masked scores": {"scores": np.ma.array(SCORES, mask=LOST)},
    "masked labels": {"relevance": np.ma.array(GRADES, mask=LOST)},
    "label -100": {"relevance": np.where(KEPT, GRADES, -100)},
    "label -100 of int8": {"relevance": np.where(KEPT, GRADES, -100).astype("i1")},
    "exclude": {"exclude": LOST},
    "exclude, CSR": {"exclude": sp.csr_array(LOST)},
    "exclude, lists": {"exclude": columns(LOST)},
    "exclude, arrays": {"exclude": list(map(np.array, columns(LOST)))},
    "nan that is masked": {"scores": np.where(KEPT, SCORES, np.nan), "mask": KEPT},
    "nan that is excluded": {"scores": np.where(KEPT, SCORES, np.nan), "exclude": LOST},
    "some masked, some excluded": {"mask": KEPT | HALF, "exclude": LOST & HALF},
    "sparse label -100": {"relevance": sp.csr_array(np.where(KEPT, GRADES, -100))},
    "label nan that is masked": {"relevance": np.ma.masked_invalid(np.where(KEPT, GRADES, np.nan))},
}


@pytest.mark.filterwarnings("ignore:.* positives are not candidates:irbatch.InputWarning")
@pytest.mark.parametrize("way", WITHOUT)
def test_what_is_no_candidate(way: str) -> None:
    """It is neither ranked nor relevant."""
    assert values(**{"scores": SCORES, "relevance": GRADES, **WITHOUT[way]}) == by_hand(KEPT)


def test_positives_that_are_no_candidates_are_told() -> None:
    with pytest.warns(irbatch.InputWarning, match="^some positives are not candidates"):
        found = irbatch.evaluate_scores([[3, 2, 1]], measures="R@1 NumRel", positives=[[0, 1, 2]],
                                        exclude=[[1, 2]])  # fmt: skip
    assert found.mean() == {"R@1": 1.0, "NumRel": 1.0}


@pytest.mark.parametrize("convert", [list, np.array, lambda n: np.array(n, "u1")])
def test_lengths(convert: Any) -> None:
    there = np.arange(M) < SIZES[:, None]
    for scores in (SCORES, np.where(there, SCORES, np.nan)):
        assert values(scores, GRADES, lengths=convert(SIZES)) == by_hand(there)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "uint8"])
def test_tensors(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor(SCORES, dtype=getattr(torch, dtype))
    grades, kept = torch.tensor(GRADES), torch.tensor(KEPT)
    expected = values(SCORES, GRADES, mask=KEPT)
    assert values(scores, grades, mask=kept) == expected
    assert values(scores, GRADES, exclude=~kept) == expected
    assert values(scores.t().contiguous().t(), grades.float(), mask=KEPT) == expected
    assert values(list(scores), grades.to(torch.int8), mask=kept) == expected
    where = torch.arange(N) % 7
    assert values(scores, positives=where) == values(SCORES, positives=where.numpy())
    assert values(scores, positives=torch.tensor(padded(columns(LABELS)))) == values(SCORES, LABELS)
    if scores.is_floating_point():
        watched = scores.clone().requires_grad_()
        assert values(watched, grades, mask=kept) == values(watched * 1, grades, mask=kept)
        assert values(watched, grades, mask=kept) == expected


def test_tensors_without_numbers() -> None:
    torch = pytest.importorskip("torch")
    scores, none = torch.tensor(SCORES), torch.empty(SCORES.shape, device="meta")
    whole = torch.zeros(len(SCORES), dtype=torch.long, device="meta")
    for source, evaluate in {
        "scores": lambda: irbatch.evaluate_scores(none, GRADES, "RR"),
        "relevance": lambda: irbatch.evaluate_scores(scores, none, "RR"),
        "positives": lambda: irbatch.evaluate_scores(scores, positives=whole, measures="RR"),
        "mask": lambda: irbatch.evaluate_scores(scores, GRADES, "RR", mask=none > 0),
        "queries": lambda: irbatch.evaluate_embeddings(
            none, scores, positives="diagonal", measures="RR"
        ),
    }.items():
        with pytest.raises(InputError, match="meta") as caught:
            evaluate()
        assert caught.value.source == source
    with pytest.raises(InputError, match="meta"):
        irbatch.evaluate_matrix(none, "RR")
    with pytest.raises(InputError, match="Sparse"):
        irbatch.evaluate_scores(scores.to_sparse(), GRADES, "RR")


@policies
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8"])
def test_embeddings(dtype: str, ties: str) -> None:
    """Whole numbers, so that products are exact, and tie."""
    rng = np.random.default_rng(3)
    queries, documents = rng.integers(-2, 3, (N, 5)), rng.integers(-2, 3, (M, 5))
    asked: list[dict[str, Any]] = [
        {"relevance": GRADES},
        {"relevance": sp.csr_array(GRADES), "exclude": LOST},
        {"positives": columns(LABELS), "n_relevant": LABELS.sum(axis=1) + 1},
        {"positives": "diagonal"},
    ]
    for each in asked:
        found = irbatch.evaluate_embeddings(queries.astype(dtype), documents.astype(dtype),
                                            measures=MEASURES, ties=ties, **each)  # fmt: skip
        assert found.values.tolist() == values(queries @ documents.T, **each, ties=ties)


def test_a_diagonal_is_that_of_all_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irbatch.evaluation.embeddings.BLOCK_BYTES", 4 * 3 * 2)  # two at once
    evaluate = lambda: irbatch.evaluate_embeddings(  # noqa: E731
        np.eye(5, 3), np.eye(3), measures="RR", positives="diagonal"
    )
    input_error(evaluate, "column 3", query=3, source="positives")


def test_embeddings_by_angle() -> None:
    rng = np.random.default_rng(4)
    queries, documents = rng.normal(size=(N, 8)), rng.normal(size=(M, 8))
    longer = documents * rng.uniform(0.1, 10, (M, 1))
    found = irbatch.evaluate_embeddings(queries, longer, GRADES, MEASURES, similarity="cosine")
    unit = documents / np.linalg.norm(documents, axis=1, keepdims=True)
    assert found.values.tolist() == values(queries @ unit.T, GRADES)
    assert found.values.tolist() != values(queries @ longer.T, GRADES)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_embeddings_by_distance(dtype: str) -> None:
    rng = np.random.default_rng(5)
    queries, documents = rng.integers(-3, 4, (N, 5)), rng.integers(-3, 4, (M, 5))
    found = irbatch.evaluate_embeddings(queries.astype(dtype), documents.astype(dtype), GRADES,
                                        MEASURES, similarity="l2")  # fmt: skip
    squares = ((queries[:, None] - documents) ** 2).sum(axis=2)
    assert found.values.tolist() == values(-squares, GRADES)
    assert "distance" in found.signature
    huge = np.full((1, 2), 3e38, np.float32)
    with pytest.raises(irbatch.InputError, match="overflow"):
        irbatch.evaluate_embeddings(huge, huge, [[1]], "RR", similarity="l2")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "longdouble"])
@pytest.mark.parametrize("options", [{}, {"mask": KEPT}, {"ties": "index"}], ids=str)
def test_nan_counts_as_the_worst_score_on_request(dtype: str, options: dict[str, Any]) -> None:
    scores = SCORES.astype(dtype)
    scores[1, 2], scores[0, :3] = -np.inf, np.nan
    worst = np.where(np.isnan(scores), -np.inf, scores).astype(dtype)
    found = irbatch.evaluate_scores(scores, GRADES, MEASURES, nan="last", **options)
    assert found.values.tolist() == values(worst, GRADES, **options)
    assert "NaN last" in found.signature
    assert np.isnan(scores).sum() == 3, "what is given doesn't change"
    evaluator = irbatch.BatchEvaluator(MEASURES, nan="last", ties=options.pop("ties", None))
    assert evaluator.update(scores, GRADES, **options).values.tolist() == found.values.tolist()
    whole = np.arange(6).reshape(2, 3)
    assert irbatch.evaluate_scores(whole, whole % 2, "RR", nan="last")["RR"] == 0.75
    with pytest.raises(irbatch.InputError, match="nan"):
        irbatch.evaluate_scores(scores, GRADES, "RR")


def test_rows_of_different_lengths() -> None:
    """They have labels in rows of the same lengths: as padded, with `lengths`."""
    scores = [row[:size].tolist() for row, size in zip(SCORES, SIZES, strict=True)]
    labels = [row[:size].tolist() for row, size in zip(LABELS, SIZES, strict=True)]
    expected = values(SCORES, LABELS, lengths=SIZES)
    assert values(scores, labels) == expected
    assert values(list(map(np.array, scores)), tuple(map(np.array, labels))) == expected
    for wrong, fields, said in (
        ({"positives": [0] * N}, {"source": "scores"}, "lengths="),
        ({"relevance": labels, "lengths": SIZES}, {"source": "scores"}, "rows are not of one"),
        ({"relevance": labels[:-1]}, {"source": "scores"}, f"{N} rows, but {N - 1} of labels"),
        ({"relevance": [*labels[:-1], [1] * 50]}, {"query": N - 1}, "50 labels for"),
    ):
        call = functools.partial(irbatch.evaluate_scores, scores, measures="RR", **wrong)
        input_error(call, said, **fields)
    for rows in ([[1.0, 2.0], np.array(["2026"], "M8[D]")], [[1, 2], [[1]]], [[1, 2], ["a"]]):
        input_error(lambda rows=rows: irbatch.evaluate_scores(rows, [[1, 0], [1]], "RR"), "scores")


def test_nested_tensors_are_rows_of_different_lengths() -> None:
    torch = pytest.importorskip("torch", reason="pip install torch")
    rows = [torch.tensor([0.1, 0.9]), torch.tensor([0.3, 0.2, 0.5])]
    labels = [torch.tensor([1, 0]), torch.tensor([0, 1, 0])]
    scores, relevance = (
        torch.nested.nested_tensor(each, layout=torch.jagged) for each in (rows, labels)
    )
    for given in ((rows, labels), (scores, relevance), (scores, labels)):
        assert irbatch.evaluate_scores(*given, "RR").per_query() == {0: 1 / 2, 1: 1 / 3}


def test_a_batch_without_queries_and_a_query_without_candidates() -> None:
    mask = np.array([[True] * 3, [False] * 3])
    results = irbatch.evaluate_scores(
        np.eye(2, 3), np.eye(2, 3), "RR", mask=mask, no_relevant="skip"
    )
    assert (results["RR"], results.counts.no_relevant, results.counts.empty) == (1.0, 1, 1)
    nothing = np.zeros((0, 3))
    input_error(lambda: irbatch.evaluate_scores(nothing, nothing, "RR"), "there are no queries")
    results = irbatch.evaluate_scores(nothing, nothing, "RR", no_relevant="skip")
    assert (results.query_ids, results.counts.queries) == ([], 0)
    for keep in ("queries", "sums"):
        evaluator = irbatch.BatchEvaluator("RR", keep=keep)
        evaluator.update([[1, 2]], [[1, 0]])
        before = evaluator.state_dict()
        assert len(evaluator.update(nothing, nothing).query_ids) == 0
        assert evaluator.state_dict() == before


def test_a_column_may_be_none() -> None:
    """-100, as torch's cross_entropy ignores it, is a query without a relevant candidate."""
    for no_relevant, mean in (("zero", 0.5), ("skip", 1.0)):
        results = irbatch.evaluate_scores(
            np.eye(2), measures="RR", positives=np.array([0, -100]), no_relevant=no_relevant
        )
        assert (results["RR"], results.counts.no_relevant) == (mean, 1)
    call = functools.partial(irbatch.evaluate_scores, np.eye(2), measures="RR", positives=[0, -1])
    input_error(call, "padding is -100")
