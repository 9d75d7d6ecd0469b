"""Two small towers learn which lower half of a digit belongs to which upper half (PyTorch).

Each step yields recall@1 in its batch, from the scores of the loss. It rises as long as training
goes on; whether retrieval gets any better, only held-out queries against all documents tell.
"""

import argparse
import copy
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from sklearn.datasets import load_digits
from torch import Tensor, nn

import irbatch

SEED = 0
HELD_OUT = 300  # images to choose the epoch by, and as many others to judge the choice by
WIDTH, DIMENSIONS = 256, 64
BATCH = 64
TEMPERATURE = 0.07
LEARNING_RATE = 1e-3
EPOCHS = 40
PATIENCE = 5  # epochs without a better value of the first measure before training ends

MEASURES = ["nDCG@10", "RR@30", "R@30"]  # the mean of RR@30 is MRR@30
BATCH_RECALL = "batch R@1"
COLUMNS = [BATCH_RECALL, *MEASURES]

Values = dict[str, float]


def load_halves() -> tuple[Tensor, Tensor]:
    """Load queries and documents: the upper and the lower halves of 1,797 written digits."""
    images = torch.tensor(load_digits().images / 16, dtype=torch.float32)
    upper, lower = images.split(4, dim=1)
    return upper.flatten(1), lower.flatten(1)


def make_tower() -> nn.Module:
    return nn.Sequential(nn.Linear(32, WIDTH), nn.ReLU(), nn.Linear(WIDTH, DIMENSIONS))


def train_epoch(
    towers: nn.ModuleList, optimizer: torch.optim.Optimizer, upper: Tensor, lower: Tensor
) -> Values:
    in_batch = irbatch.BatchEvaluator("R@1", keep="sums")  # its size does not grow with steps
    # No short batch at the end: among fewer documents recall@1 is easier.
    order = torch.randperm(len(upper))[: len(upper) // BATCH * BATCH]
    for rows in order.split(BATCH):
        queries = F.normalize(towers[0](upper[rows]))
        documents = F.normalize(towers[1](lower[rows]))
        cosines = queries @ documents.T  # row i's own document is column i, the others negatives
        in_batch.update(cosines, positives="diagonal")  # keeps numbers only, no autograd graph
        loss = F.cross_entropy(cosines / TEMPERATURE, torch.arange(BATCH))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {BATCH_RECALL: in_batch.compute()["R@1"]}


@torch.inference_mode()
def search(towers: nn.ModuleList, upper: Tensor, lower: Tensor, images: Tensor) -> Values:
    """Search for the images' lower halves among those of all images, trained on or not."""
    queries, documents = towers[0](upper[images]), towers[1](lower)
    results = irbatch.evaluate_embeddings(
        queries, documents, positives=images, measures=MEASURES, similarity="cosine"
    )
    return results.mean()


def print_line(label: object, values: Values) -> None:
    cells = (f"{values[name]:.3f}" if name in values else "" for name in COLUMNS)
    print(f"{label!s:>5}" + "".join(f"{cell:>11}" for cell in cells))


def plot(path: str, history: Sequence[Values], best: int) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    height = 0.0
    for name in sorted(COLUMNS, key=lambda name: history[-1].get(name, 0)):
        curve = [values.get(name, float("nan")) for values in history]
        color = f"C{COLUMNS.index(name)}"
        axes.plot(curve, "--" if name == BATCH_RECALL else "-", color=color)
        height = max(history[-1].get(name, 0), height + 0.055)  # labels that don't overlap
        axes.text(1.01, height, name, color=color, va="center", transform=axes.transAxes)
    axes.axvline(best, color="0.8", zorder=0)
    axes.text(best, 1.01, "kept", color="0.5", ha="center")
    axes.set(xlabel="epoch", ylabel="mean over queries", ylim=(0, 1))
    axes.set_xlim(0, max(1, len(history) - 1))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main(arguments: argparse.Namespace) -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # towers this small only lose time with more
    upper, lower = load_halves()
    validation, test, train = torch.randperm(len(upper)).tensor_split([HELD_OUT, 2 * HELD_OUT])
    towers = nn.ModuleList([make_tower(), make_tower()])
    optimizer = torch.optim.AdamW(towers.parameters(), lr=LEARNING_RATE)

    print("epoch" + "".join(f"{name:>11}" for name in COLUMNS))
    history: list[Values] = []
    for epoch in range(arguments.epochs + 1):  # epoch 0: before any training
        learned = train_epoch(towers, optimizer, upper[train], lower[train]) if epoch else {}
        history.append({**learned, **search(towers, upper, lower, validation)})
        print_line(epoch, history[epoch])
        best = max(range(epoch + 1), key=lambda each: history[each][MEASURES[0]])
        if best == epoch:
            best_towers = copy.deepcopy(towers)
        elif epoch - best == PATIENCE:
            break

    # The best of many epochs looks better than it is: other queries show how good.
    print(f"\nKept: epoch {best}. With {HELD_OUT} queries that had no part in that choice:")
    print_line("", search(best_towers, upper, lower, test))
    if arguments.plot:
        plot(arguments.plot, history, best)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="at most (default: %(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="draw the curves into this file")
    main(parser.parse_args())
