"""Four ways to search 78,253 images of digits: what each takes, and how accurate it is for that.

Documents are 1,597 handwritten digits of 16 x 16 pixels in 49 places each, up to three pixels off,
with noise; queries are 200 other digits. Of each query 100 documents are relevant: those of the
same digit that are nearest to it, the first ten of them with grade 2. Their distances are taken
before noise is added, and no system knows which digit it is: so none finds everything.

Times are worth what the machine is: where other programs keep it busy, they are theirs as well.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.ndimage import zoom
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import irbatch
from irbatch.efficiency import Measurement, measure_search
from irbatch.leaderboard import Leaderboard

QUERIES, SHIFT, NOISE = 200, 3, 0.05
SIDE = 16  # pixels of a row, and rows of an image
DEPTH = 100  # documents that a search returns, and that are relevant
MEASURES = ["nDCG@10", "R@100"]
FRONTIER = ["nDCG@10", "latency_mean"]
# Not the peak of memory: it is the process', which holds all systems.
COLUMNS = [*MEASURES, "latency_mean", "latency_p95", "throughput", "index_disk", "cost_per_million"]

Found = tuple[np.ndarray, np.ndarray]
Qrels = dict[int, dict[int, int]]


class Exact:
    """Compares the query with all documents; of |q - d|² it leaves out |q|², which all share."""

    def __init__(self, documents: np.ndarray) -> None:
        self.documents = documents
        self.half_squares = (documents**2).sum(axis=1) / 2

    def search(self, query: np.ndarray) -> Found:
        """Answer one query: ids and scores."""
        return best(self.documents @ query - self.half_squares)

    def search_many(self, queries: Sequence[np.ndarray]) -> list[Found]:
        """Answer several at once: a product of matrices takes less time than its parts."""
        return [best(row) for row in np.stack(queries) @ self.documents.T - self.half_squares]


class Projected(Exact):
    """Does the same in a space of fewer dimensions."""

    def __init__(self, documents: np.ndarray, axes: np.ndarray) -> None:
        super().__init__(documents @ axes)
        self.axes = axes

    def search(self, query: np.ndarray) -> Found:
        """Answer one query."""
        return super().search(query @ self.axes)

    def search_many(self, queries: Sequence[np.ndarray]) -> list[Found]:
        """Answer several at once."""
        return super().search_many(np.stack(queries) @ self.axes)


class InvertedFile:
    """Looks only into the lists whose centres are nearest, at documents of 16 bytes (IVF-PQ).

    Each byte says which of 256 typical rows of pixels stands for one of the document's. How far
    these are from the query's rows is computed once a query, and looked up for each document.
    """

    LISTS, PROBED = 256, 4

    def __init__(self, documents: np.ndarray, sample: np.ndarray) -> None:
        self.centres = cluster(sample, self.LISTS)
        lists = nearest(documents, self.centres)
        self.ids = np.argsort(lists, kind="stable").astype(np.int32)
        self.starts = np.searchsorted(lists[self.ids], np.arange(self.LISTS + 1))
        rows = [slice(i, i + SIDE) for i in range(0, SIDE * SIDE, SIDE)]
        self.typical = np.stack([cluster(sample[:, row], 256) for row in rows])
        codes = [nearest(documents[:, row], self.typical[i]) for i, row in enumerate(rows)]
        self.codes = np.stack(codes, axis=1).astype(np.uint8)[self.ids]

    def search(self, query: np.ndarray) -> Found:
        """Answer one query."""
        lists = ((self.centres - query) ** 2).sum(axis=1).argsort()[: self.PROBED]
        places = np.concatenate([np.arange(*self.starts[i : i + 2]) for i in lists])
        distances = ((self.typical - query.reshape(SIDE, 1, SIDE)) ** 2).sum(axis=2)
        chosen, scores = best(-distances[np.arange(SIDE), self.codes[places]].sum(axis=1))
        return self.ids[places[chosen]], scores

    def search_many(self, queries: Sequence[np.ndarray]) -> list[Found]:
        """Answer several: each looks into other lists, so one after the other."""
        return [self.search(query) for query in queries]


def best(scores: np.ndarray) -> Found:
    """Return where the highest scores are, best first, and these scores."""
    depth = min(DEPTH, len(scores))
    places = np.argpartition(scores, -depth)[-depth:]
    places = places[np.argsort(-scores[places])]
    return places, scores[places]


def cluster(points: np.ndarray, number: int) -> np.ndarray:
    """Return centres of clusters, after a few rounds of k-means."""
    centres = points[:number]
    for _ in range(5):
        member = np.eye(number, dtype=np.float32)[:, nearest(points, centres)]
        centres = member @ points / np.maximum(member.sum(axis=1, keepdims=True), 1)
    return centres


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return (points @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1)


def make_collection(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Qrels]:
    """Return documents and queries, an image a row, and judgments."""
    digits = load_digits()
    images = zoom(digits.images / 16, (1, 2, 2), order=1).astype(np.float32)
    held_out, kept = np.split(rng.permutation(len(images)), [QUERIES])
    padded = np.pad(images[kept], ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)))
    moved = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), axis=(1, 2))
    clean, queries = moved.reshape(-1, SIDE * SIDE), images[held_out].reshape(-1, SIDE * SIDE)
    shown = np.repeat(digits.target[kept], (2 * SHIFT + 1) ** 2)
    qrels = {}
    for i, query in enumerate(queries):
        same = np.flatnonzero(shown == digits.target[held_out[i]])
        relevant = same[((clean[same] - query) ** 2).sum(axis=1).argsort()[:DEPTH]]
        qrels[i] = {int(place): 2 if rank < 10 else 1 for rank, place in enumerate(relevant)}
    noise = rng.normal(scale=NOISE, size=clean.shape).astype(np.float32)
    return clean + noise, queries, qrels


def measure_system(
    name: str, system: Exact | InvertedFile, queries: np.ndarray, folder: str, price: float
) -> Measurement:
    """Time a search with 100 queries a call, for its throughput; then one query a call."""
    index = vars(system)  # arrays alone
    file = Path(folder, f"{name}.npz")
    np.savez(file, **index)
    larger = measure_search(system.search_many, queries, batch_size=100, warmup=1).record
    return measure_search(
        system.search, queries, system=name, repeat=3, dataset="digits, moved and with noise",
        throughput=larger.throughput, price_per_hour=price, currency="USD",
        index_memory=sum(array.nbytes for array in index.values()) / 1e6,
        index_disk=file.stat().st_size / 1e6,
    )  # fmt: skip


def build_board(price: float) -> Leaderboard:
    rng = np.random.default_rng(0)
    documents, queries, qrels = make_collection(rng)
    sample = rng.choice(documents, 10_000, replace=False)  # enough to learn from
    principal = np.ascontiguousarray(PCA(48, random_state=0).fit(sample).components_.T)
    systems = {
        "exact": Exact(documents),
        "pca-48": Projected(documents, principal),
        "random-128": Projected(documents, rng.normal(size=(256, 128)).astype(np.float32)),
        "ivf-pq": InvertedFile(documents, sample),
    }
    with tempfile.TemporaryDirectory() as folder:
        found = [measure_system(*each, queries, folder, price) for each in systems.items()]
    results = irbatch.evaluate_runs(qrels, [each.run for each in found], MEASURES)
    return Leaderboard(results, found)


def save(board: Leaderboard, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    board.to_html(folder / "leaderboard.html", columns=COLUMNS, frontier=FRONTIER, x="latency_mean")
    board.to_json(folder / "leaderboard.json")
    figure = board.plot("latency_mean").figure
    figure.savefig(folder / "leaderboard.svg")
    figure.savefig(folder / "leaderboard.png", dpi=90)
    print(f"\nSaved in {folder}: leaderboard.html, .json, .svg and .png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="for what is saved (default: a temporary one)")
    assumed = "of this machine, in USD an hour; made up (default: %(default)s)"
    parser.add_argument("--price", type=float, default=0.10, help=assumed)
    options = parser.parse_args()

    board = build_board(options.price)
    print(board.to_text(columns=COLUMNS, frontier=FRONTIER))
    print(f"Costs are for an assumed price of {options.price:.2f} USD an hour.\n")
    for axes in (FRONTIER, [*FRONTIER, "index_memory"]):
        print(f"Pareto frontier of {', '.join(axes)}: {', '.join(board.pareto(axes).frontier)}")

    limit = board.values("latency_p95")[0] / 2  # of exact search
    left = board.where(f"latency_p95 < {limit:.3g}", "index_memory < 20").sorted("nDCG@10")
    print(f"\nWithin {', '.join(left.constraints)}: {', '.join(left.systems)}\n")

    save(board, Path(options.folder or tempfile.mkdtemp(prefix="leaderboard-digits-")))


if __name__ == "__main__":
    main()
