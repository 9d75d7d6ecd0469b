"""Two linear towers learn which lower half of a digit belongs to which upper half (NumPy only).

The same as train_torch.py with the gradient of the loss by hand: recall@1 in each training batch,
from the scores of the loss, and after each epoch held-out queries against all documents.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from sklearn.datasets import load_digits

import irbatch

SEED = 0
HELD_OUT = 300  # images to choose the epoch by, and as many others to judge the choice by
FEATURES, DIMENSIONS = 256, 32
BATCH = 64
LEARNING_RATE = 5.0
EPOCHS = 40
PATIENCE = 5  # epochs without a better value of the first measure before training ends

MEASURES = ["nDCG@10", "RR@30", "R@30"]  # the mean of RR@30 is MRR@30
BATCH_RECALL = "batch R@1"
COLUMNS = [BATCH_RECALL, *MEASURES]

Values = dict[str, float]


def make_features(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Apply a random layer that is not trained, which gives linear towers more to work with."""
    features = np.maximum(pixels @ rng.normal(size=(pixels.shape[1], FEATURES)), 0)
    return features / np.linalg.norm(features, axis=1, keepdims=True)


def train_epoch(
    towers: np.ndarray, upper: np.ndarray, lower: np.ndarray, rng: np.random.Generator
) -> Values:
    in_batch = irbatch.BatchEvaluator("R@1", keep="sums")  # its size does not grow with steps
    # No short batch at the end: among fewer documents recall@1 is easier.
    order = rng.permutation(len(upper))[: len(upper) // BATCH * BATCH]
    for rows in order.reshape(-1, BATCH):
        queries, documents = upper[rows] @ towers[0], lower[rows] @ towers[1]
        scores = queries @ documents.T  # row i's own document is column i, the others negatives
        in_batch.update(scores, positives="diagonal")
        # Loss: the mean over rows of -log(softmax(row)[i]), by the scores softmax minus one-hot.
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        softmax = exponentials / exponentials.sum(axis=1, keepdims=True)
        slope = (softmax - np.eye(BATCH)) / BATCH
        towers -= LEARNING_RATE * np.stack(
            [upper[rows].T @ slope @ documents, lower[rows].T @ slope.T @ queries]
        )
    return {BATCH_RECALL: in_batch.compute()["R@1"]}


def search(towers: np.ndarray, upper: np.ndarray, lower: np.ndarray, images: np.ndarray) -> Values:
    """Search for the images' lower halves among those of all images, trained on or not."""
    queries, documents = upper[images] @ towers[0], lower @ towers[1]
    results = irbatch.evaluate_embeddings(queries, documents, positives=images, measures=MEASURES)
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
    rng = np.random.default_rng(SEED)
    images = load_digits().images
    validation, test, train = np.split(rng.permutation(len(images)), [HELD_OUT, 2 * HELD_OUT])
    images = (images - images[train].mean(axis=0)) / 16
    upper = make_features(images[:, :4].reshape(-1, 32), rng)
    lower = make_features(images[:, 4:].reshape(-1, 32), rng)
    towers = rng.normal(scale=0.3, size=(2, FEATURES, DIMENSIONS))

    print("epoch" + "".join(f"{name:>11}" for name in COLUMNS))
    history: list[Values] = []
    for epoch in range(arguments.epochs + 1):  # epoch 0: before any training
        learned = train_epoch(towers, upper[train], lower[train], rng) if epoch else {}
        history.append({**learned, **search(towers, upper, lower, validation)})
        print_line(epoch, history[epoch])
        best = max(range(epoch + 1), key=lambda each: history[each][MEASURES[0]])
        if best == epoch:
            best_towers = towers.copy()
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
