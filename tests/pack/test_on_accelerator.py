"""Tensors on an accelerator are counted there: the same bits, and only small arrays travel.

Where there is no accelerator, tensors in main memory take its way: the code for one knows nothing
but tensors' methods. Where there is one, tensors on it are tried too. What travels is watched.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
import irbatch.evaluation.embeddings
import irbatch.evaluation.scores
import irbatch.pack.candidates
from irbatch.runtime.arrays import is_tensor, to_numpy

torch = pytest.importorskip("torch")

MEASURES = "AP nDCG nDCG@10 RR P@5 R@20 Bpref"
RANDOM = np.random.default_rng(5)
SHAPE = 12, 200
SCORES = np.round(RANDOM.standard_normal(SHAPE), 1).astype(np.float32)
LABELS = np.where(RANDOM.random(SHAPE) < 0.05, RANDOM.integers(1, 4, SHAPE), 0)
MASK = RANDOM.random(SHAPE) < 0.7
EXCLUDED = [RANDOM.permutation(200)[: i % 7].tolist() for i in range(12)]


DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Any:
    """Make new tensors there."""
    with torch.device(request.param) as device:
        yield device


@pytest.fixture
def travelled(device: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Take every tensor for one on an accelerator; the sizes of those that come to memory."""
    sizes: list[int] = []

    def watched(values: Any, source: str) -> Any:
        if is_tensor(values):
            sizes.append(values.numel())
        return to_numpy(values, source)

    for name, module in list(sys.modules.items()):
        if name.startswith("irbatch.") and hasattr(module, "is_on_accelerator"):
            monkeypatch.setattr(module, "is_on_accelerator", is_tensor)
            monkeypatch.setattr(module, "to_numpy", watched)
    monkeypatch.setattr(irbatch.pack.candidates, "BLOCK_CELLS", 1000)  # several blocks
    monkeypatch.setattr(irbatch.pack.candidates, "FEW_CELLS", 0)
    return sizes


def same_there(scores: Any, labels: Any, here: Any, **options: Any) -> None:
    """Check tensors of scores and labels against arrays of the same numbers."""
    there = irbatch.evaluate_scores(scores, labels, MEASURES, **options)
    arrays = {name: to_numpy(each, name) if is_tensor(each) else each
              for name, each in options.items()}  # fmt: skip
    labels = to_numpy(labels, "labels") if is_tensor(labels) else labels
    expected = irbatch.evaluate_scores(here, labels, MEASURES, **arrays)
    assert there.values.tolist() == expected.values.tolist()
    assert there.counts == expected.counts


@pytest.mark.parametrize("ties", ["expected", "pessimistic", "optimistic", "index"])
@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize(
    "hidden",
    [{}, {"mask": MASK}, {"exclude": EXCLUDED}, {"lengths": 150 + np.arange(12)},
     {"mask": MASK, "exclude": EXCLUDED, "lengths": 150 + np.arange(12)}],
    ids=lambda each: "+".join(each) or "all",
)  # fmt: skip
def test_the_same_bits(travelled: list[int], hidden: Any, few: bool, ties: str) -> None:
    labels = LABELS if few else LABELS + (RANDOM.random(SHAPE) < 0.8)
    tensors = {name: torch.tensor(each) if isinstance(each, np.ndarray) else each
               for name, each in hidden.items()}  # fmt: skip
    same_there(torch.tensor(SCORES), torch.tensor(labels), SCORES, ties=ties, **tensors)


@pytest.mark.parametrize(
    "dtype",
    ["float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8",
     "bool", "float8_e4m3fn", "uint16"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:scores of 16 bits:irbatch.InputWarning")
def test_types(travelled: list[int], dtype: str) -> None:
    scores = torch.tensor(np.abs(SCORES) * 10).to(getattr(torch, dtype))
    if dtype in ("float64", "float16", "bfloat16"):
        scores.requires_grad_()
    same_there(scores, LABELS, scores.detach().double().cpu().numpy())


def test_blocks_without_relevant_candidates(travelled: list[int]) -> None:
    labels = LABELS * (np.arange(12) >= 6)[:, None]
    same_there(torch.tensor(SCORES), torch.tensor(labels), SCORES)


@pytest.mark.parametrize("most", [0, 1000])
def test_sorting_and_comparing(
    travelled: list[int], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irbatch.pack.counting.SORTED_THERE_FROM", most)
    same_there(torch.tensor(SCORES), LABELS, SCORES, mask=MASK)


@pytest.mark.parametrize("hidden", [{}, {"mask": MASK | np.eye(*SHAPE, dtype=bool)}])
def test_only_small_arrays_travel(travelled: list[int], hidden: Any) -> None:
    labels = torch.eye(*SHAPE)
    irbatch.evaluate_scores(torch.tensor(SCORES), labels, "nDCG@10", **hidden)
    assert max(travelled) <= 24


def test_nan_counts_as_the_worst_score(travelled: list[int]) -> None:
    scores = np.where(RANDOM.random(SHAPE) < 0.2, np.nan, SCORES)
    same_there(torch.tensor(scores), LABELS, scores, nan="last")
    with pytest.raises(irbatch.InputError, match="nan"):
        irbatch.evaluate_scores(torch.tensor(scores), LABELS, MEASURES)


@pytest.mark.parametrize("similarity", ["dot", "cosine", "l2"])
def test_embeddings(travelled: list[int], monkeypatch: pytest.MonkeyPatch, similarity: str) -> None:
    queries, documents = RANDOM.integers(-4, 5, (12, 3)), RANDOM.integers(-4, 5, (200, 3))
    monkeypatch.setattr(irbatch.evaluation.embeddings, "BLOCK_BYTES_THERE", 5 * 200 * 4)
    monkeypatch.setattr(irbatch.evaluation.embeddings, "DOCUMENTS", 64)
    options: Any = {"measures": MEASURES, "similarity": similarity}
    there = irbatch.evaluate_embeddings(
        torch.tensor(queries, dtype=torch.float32), torch.tensor(documents).float(), LABELS,
        **options,
    )  # fmt: skip
    here = irbatch.evaluate_embeddings(queries.astype("f4"), documents.astype("f4"), LABELS,
                                       **options)  # fmt: skip
    if similarity != "cosine":  # whole numbers: exact
        assert there.values.tolist() == here.values.tolist()
    assert np.allclose(there.values, here.values, atol=0.2)


def test_embeddings_of_two_widths(travelled: list[int]) -> None:
    queries, documents = RANDOM.integers(-4, 5, (12, 3)), RANDOM.integers(-4, 5, (200, 3))
    there = irbatch.evaluate_embeddings(
        torch.tensor(queries), torch.tensor(documents).float(), LABELS, MEASURES
    )
    here = irbatch.evaluate_embeddings(queries, documents.astype("f4"), LABELS, MEASURES)
    assert there.values.tolist() == here.values.tolist()


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1.0, 1e30, 3e37])
def test_lengths_whose_squares_are_no_floats(travelled: list[int], scale: float) -> None:
    embeddings = np.array([[3, 4], [-4, 3], [0, 0], [5, 0]], "f4") * np.float32(scale)
    options: Any = {"similarity": "cosine", "measures": "RR AP", "positives": [0, 1]}
    given = torch.tensor(embeddings)
    there = irbatch.evaluate_embeddings(given[:2], given, **options)
    here = irbatch.evaluate_embeddings(embeddings[:2], embeddings, **options)
    assert there.values.tolist() == here.values.tolist()


@pytest.mark.skipif(len(DEVICES) == 1, reason="no accelerator here")
def test_few_scores_and_two_devices() -> None:
    same_there(torch.tensor(SCORES, device="cuda"), LABELS, SCORES)
    queries = torch.ones(2, 3, device="cuda")
    input_error(
        lambda: irbatch.evaluate_embeddings(
            queries, torch.ones(4, 3), measures="RR", positives=[0, 1]
        ),
        "on cuda:0, documents on cpu",
    )


def test_refusals(travelled: list[int]) -> None:
    wrong = torch.tensor(SCORES).to(torch.complex64)
    input_error(lambda: irbatch.evaluate_scores(wrong, LABELS, "RR"), "complex64")
    scores = torch.tensor([[1.0, 2.0], [float("nan"), 1.0]])
    input_error(lambda: irbatch.evaluate_scores(scores, LABELS, "RR"), "(2, 2)", "(12, 200)")
    labels = torch.tensor([[1, 0], [0, 1]])
    input_error(lambda: irbatch.evaluate_scores(scores, labels, "RR"), "candidate 0", query=1)
    ok = irbatch.evaluate_scores(scores, labels, "RR", mask=[[True, True], [False, True]])
    assert ok["RR"] == 0.75
    far = torch.tensor([[1.0, float("inf")]])
    input_error(
        lambda: irbatch.evaluate_embeddings(far, far, measures="RR", positives=[0]), "row 0", "inf"
    )
    far = torch.tensor([[1.0, 3e38]])
    input_error(
        lambda: irbatch.evaluate_embeddings(far, far, measures="RR", positives=[0]), "overflow"
    )
    input_error(
        lambda: irbatch.evaluate_embeddings(far, far.cpu().numpy(), measures="RR", positives=[0]),
        "not on one device",
    )
