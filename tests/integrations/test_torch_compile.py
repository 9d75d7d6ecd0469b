"""Steps that torch.compile compiles: evaluation stays outside, whatever the shapes are."""

from __future__ import annotations

from typing import Any

import pytest

import irbatch

torch: Any = pytest.importorskip("torch")


def test_compiled_steps_with_batches_of_any_length() -> None:
    evaluator = irbatch.BatchEvaluator("RR nDCG@3")

    @torch.compile(backend="eager")
    def step(scores: Any, labels: Any) -> tuple[Any, float, float]:
        scores = scores * 2
        batch = evaluator.update(scores, labels)
        alone = irbatch.evaluate_scores(scores, labels, "RR")
        return scores.sum(), batch["RR"], alone.mean()["RR"]

    generator, batches = torch.Generator().manual_seed(1), []
    for length in (4, 4, 7, 2, 9):
        scores = torch.rand((length, 5), generator=generator)
        labels = (torch.rand((length, 5), generator=generator) < 0.4).int()
        batches.append((scores, labels))
        _, batch, alone = step(scores, labels)
        assert batch == alone == irbatch.evaluate_scores(scores, labels, "RR")["RR"]
        with pytest.raises(irbatch.InputError, match="nan"):
            step(torch.full((length, 5), torch.nan), labels)
    whole = (torch.cat(each) for each in zip(*batches, strict=True))
    assert evaluator.compute().mean() == irbatch.evaluate_scores(*whole, "RR nDCG@3").mean()


def test_compiled_steps_with_metrics() -> None:
    pytest.importorskip("torchmetrics")
    from irbatch.integrations.torchmetrics import RankingMetric

    metric = RankingMetric("RR")

    @torch.compile(backend="eager")
    def step(scores: Any, labels: Any) -> Any:
        metric.update(scores * 2, labels)
        return scores.sum()

    for length in (4, 7, 2):
        step(torch.tensor([[1.0, 2.0]] * length), torch.tensor([[1, 0]] * length))
    assert metric.compute() == 0.5
