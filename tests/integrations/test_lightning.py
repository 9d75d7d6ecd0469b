"""Lightning: our metrics in a real fit of a tiny model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from irbatch import evaluate_scores

torch = pytest.importorskip("torch", reason="pip install torch")
lightning = pytest.importorskip("lightning", reason="pip install lightning")
pytest.importorskip("torchmetrics", reason="pip install 'irbatch[torchmetrics]'")

from irbatch.integrations.torchmetrics import RankingMetric, make_collection  # noqa: E402

# Deprecations inside torch and Lightning, and its advice, which say nothing about us.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:lightning.*"),
    pytest.mark.filterwarnings(
        "ignore::lightning.fabric.utilities.rank_zero.LightningDeprecationWarning"
    ),
]

MEASURES = ["nDCG@10", "RR", "P@1"]


class Ranker(lightning.LightningModule):  # type: ignore[misc, name-defined]
    """Scores candidates by a linear layer; a logger of our metrics."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.score = torch.nn.Linear(4, 1)
        self.collection = make_collection([*MEASURES, "RBP(p=0.8)"], prefix="val/")
        self.single = RankingMetric("RR")
        self.several = RankingMetric(MEASURES)
        self.expected: list[dict[str, float]] = []

    def training_step(self, batch: Any, number: int) -> Any:
        features, labels = batch
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            self.score(features)[..., 0], labels
        )
        self.log("loss", loss)
        return loss

    def validation_step(self, batch: Any, number: int) -> None:
        features, labels = batch
        scores = self.score(features)[..., 0]
        self.collection.update(scores, labels)
        self.log_dict(self.collection, on_epoch=True)
        self.single(scores, labels)
        self.log("single", self.single, on_step=False, on_epoch=True)
        self.several.update(scores, labels)

    def on_validation_epoch_end(self) -> None:
        self.log_dict({f"several/{name}": each for name, each in self.several.compute().items()})
        self.several.reset()
        features, labels = self.trainer.val_dataloaders.dataset.tensors
        scores = self.score(features)[..., 0]
        self.expected.append(evaluate_scores(scores, labels, MEASURES).mean())

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.5)


def make_loaders() -> tuple[Any, Any]:
    torch.manual_seed(1)
    features = torch.randn(40, 6, 4)
    labels = (features[..., 0] + torch.randn(40, 6) > 0.5).float()
    data = torch.utils.data.TensorDataset(features, labels)
    return (torch.utils.data.DataLoader(data, batch_size=16),
            torch.utils.data.DataLoader(data, batch_size=7))  # fmt: skip


@pytest.mark.smoke
@pytest.mark.filterwarnings("ignore:scores of 16 bits:irbatch.InputWarning")  # they are
@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_fit(tmp_path: Path, precision: str) -> None:
    model, (train, validate) = Ranker(), make_loaders()
    checkpoints = lightning.pytorch.callbacks.ModelCheckpoint(
        tmp_path, monitor="val/nDCG@10", mode="max", save_top_k=1
    )
    seen: list[dict[str, float]] = []

    class Watch(lightning.Callback):  # type: ignore[misc, name-defined]
        def on_validation_end(self, trainer: Any, module: Any) -> None:
            seen.append({name: each.item() for name, each in trainer.callback_metrics.items()})

    trainer = lightning.Trainer(
        max_epochs=3, accelerator="cpu", devices=1, precision=precision, logger=False,
        callbacks=[checkpoints, Watch()], enable_progress_bar=False, enable_model_summary=False,
        num_sanity_val_steps=0,
    )  # fmt: skip
    trainer.fit(model, train, validate)
    assert len(seen) == len(model.expected) == 3
    if precision == "32-true":
        for found, expected in zip(seen, model.expected, strict=True):
            assert found["single"] == expected["RR"]
            for name in MEASURES:
                assert found[f"val/{name}"] == expected[name]
                assert found[f"several/{name}"] == expected[name]
    assert "val/RBP(p=0,8)" in seen[0]
    assert seen[0]["val/nDCG@10"] != seen[-1]["val/nDCG@10"], "the model learns"
    best = max(found["val/nDCG@10"] for found in seen)
    assert checkpoints.best_model_score.item() == best
    groups = model.collection.compute_groups
    assert [len(group) for group in groups.values()] == [4], "one metric does the work"
