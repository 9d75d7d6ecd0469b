"""Build the example data: looking for handwritten digits that look like a given one.

The 1797 images of scikit-learn's ``load_digits`` are split into 120 queries (12 of each digit,
evenly spaced) and a collection of 1677 documents.  Five simple systems rank the collection for
each query and keep the best 100.  Written next to this script, or into the folder given as the
only argument: ``qrels.txt`` and one ``.run`` per system.

How a document is judged.  Two things decide, and no system uses either of them: the digit that
is shown (the data set's label), and how alike the two images are by an image distortion
distance, which compares stroke edges instead of pixels and lets every edge move by one pixel.
For a query, the documents of its digit (some 168) are put in the order of that distance:

    3  the same digit, and one of the 20 most alike
    2  the same digit, and one of the 40 next alike
    1  the same digit, but written differently
    0  another digit

Nobody looked at the pairs one by one: the grades follow from this rule alone.

Judged are, as in a real pool, the first 15 documents of each system but ``random-projection``,
and 20 or 21 more spread over the collection.  All others stay unjudged, relevant or not.

Made uneven on purpose: the image of one query, q076, is laid on its side, so it shows no digit
and nothing is relevant to it; ``pca10`` gives no answer to four queries; and the scores of
``hamming-binarised`` are whole numbers, so nearly all of its documents are tied.
"""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

QUERIES_PER_DIGIT, ON_ITS_SIDE = 12, "q076"
DEPTH, MISSING = 100, {"pca10": {"q013", "q047", "q084", "q101"}}
POOL_DEPTH, NOT_POOLED, EXTRA_EVERY = 15, "random-projection", 80
MOST_ALIKE, NEXT_ALIKE = 20, 40


def pick_queries(labels: Ints) -> Ints:
    """Pick the query images: of each digit, evenly spaced ones."""
    picked = []
    for digit in range(10):
        members = np.flatnonzero(labels == digit)
        picked.append(members[np.arange(QUERIES_PER_DIGIT) * len(members) // QUERIES_PER_DIGIT])
    return np.sort(np.concatenate(picked))


def squared_distances(a: Ints | Floats, b: Ints | Floats) -> Floats:
    """Compute the squared Euclidean distance of each row of a to each row of b."""
    return np.asarray((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * (a @ b.T), dtype=np.float64)


def score_systems(queries: Ints, documents: Ints) -> dict[str, Floats]:
    """Score documents for each query, by system: tables where higher is better."""
    norms = np.sqrt(np.outer((queries**2).sum(1), (documents**2).sum(1)))
    mean = documents.mean(0)
    axes = np.linalg.svd(documents - mean, full_matrices=False)[2][:10].T
    # RandomState, because its numbers are the same in every version of numpy.
    signs = 2 * np.random.RandomState(8).randint(0, 2, size=(64, 8), dtype=np.int64) - 1
    dark_queries, dark_documents = 1 * (queries >= 8), 1 * (documents >= 8)
    distances = {
        "pixels-euclidean": np.sqrt(squared_distances(queries, documents)),
        "pca10": np.sqrt(squared_distances((queries - mean) @ axes, (documents - mean) @ axes)),
        "hamming-binarised": squared_distances(dark_queries, dark_documents),
        "random-projection": np.sqrt(squared_distances(queries @ signs, documents @ signs)),
    }
    similarity = {"pixels-cosine": queries @ documents.T / norms}
    return similarity | {name: 0.0 - table for name, table in distances.items()}


def rank(scores: Floats, names: list[str]) -> list[tuple[str, float]]:
    """Take the best documents by the score as written; ties by document id, descending."""
    written = [(name, float(f"{score:.6g}")) for name, score in zip(names, scores, strict=True)]
    return sorted(written, key=lambda pair: (pair[1], pair[0]), reverse=True)[:DEPTH]


def edges(images: Ints) -> Ints:
    """Take the steps in brightness, across and down, at each pixel: (images, 8, 8, 2)."""
    framed = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    across = framed[:, 1:-1, 2:] - framed[:, 1:-1, :-2]
    down = framed[:, 2:, 1:-1] - framed[:, :-2, 1:-1]
    return np.stack([across, down], axis=-1)


def unexplained(fixed: Ints, moving: Ints) -> Ints:
    """Sum what is left of the fixed edges once each has its best match within one pixel."""
    framed = np.pad(moving, ((0, 0), (1, 1), (1, 1), (0, 0)))
    moved = [framed[:, y : y + 8, x : x + 8] for y in range(3) for x in range(3)]
    left = np.min([((fixed - one) ** 2).sum(-1) for one in moved], axis=0)
    return np.asarray(left.sum((1, 2)), dtype=np.int64)


def grade(query: Ints, documents: Ints, same_digit: npt.NDArray[np.bool_]) -> Ints:
    """Grade every document for one query."""
    one, many = edges(query), edges(documents)
    distance = unexplained(one, many) + unexplained(many, one)
    members = np.flatnonzero(same_digit)
    members = members[np.argsort(distance[members], kind="stable")]
    grades = np.zeros(len(documents), dtype=np.int64)
    grades[members] = 1
    grades[members[: MOST_ALIKE + NEXT_ALIKE]] = 2
    grades[members[:MOST_ALIKE]] = 3
    return grades


def write(path: Path, lines: list[str]) -> None:
    """Write the lines, with the same line ends everywhere."""
    path.write_text("".join(line + "\n" for line in lines), encoding="ascii", newline="\n")


def main(folder: Path) -> None:
    """Build every file of the data set in the folder."""
    pixels, labels = load_digits(return_X_y=True)
    chosen = pick_queries(labels)
    rest = np.setdiff1d(np.arange(len(labels)), chosen)
    queries, documents = pixels[chosen].astype(np.int64), pixels[rest].astype(np.int64)
    digits = labels[chosen]
    query_ids = [f"q{number:03d}" for number in range(1, len(chosen) + 1)]
    names = [f"digit-{number:04d}" for number in rest]
    turned = query_ids.index(ON_ITS_SIDE)
    queries[turned] = np.rot90(queries[turned].reshape(8, 8)).ravel()
    digits[turned] = -1  # no digit any more

    pools = [set(names[place % EXTRA_EVERY :: EXTRA_EVERY]) for place in range(len(chosen))]
    for system, table in score_systems(queries, documents).items():
        lines = []
        for query, scores, pool in zip(query_ids, table, pools, strict=True):
            ranking = rank(scores, names)
            if system != NOT_POOLED:
                pool.update(name for name, _ in ranking[:POOL_DEPTH])
            if query not in MISSING.get(system, ()):
                for place, (name, score) in enumerate(ranking, start=1):
                    lines.append(f"{query} Q0 {name} {place} {score:.6g} {system}")
        write(folder / f"{system}.run", lines)

    lines = []
    for query, image, digit, pool in zip(query_ids, queries, digits, pools, strict=True):
        grades = grade(image, documents, labels[rest] == digit)
        judged = zip(names, grades, strict=True)
        lines += [f"{query} 0 {name} {value}" for name, value in judged if name in pool]
    write(folder / "qrels.txt", lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
