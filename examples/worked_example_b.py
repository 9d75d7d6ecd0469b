"""Three queries with whole numbers for document ids, and a trap: ids taken for scores."""

import irbatch

RELEVANT = [[11, 1, 7, 17, 21], [4, 16, 1], [26, 10, 22, 8]]
RANKED = [
    [11, 1, 17, 7, 21, 8, 0, 28, 9, 20],
    [16, 1, 6, 18, 3, 4, 25, 19, 8, 14],
    [24, 10, 26, 2, 8, 28, 4, 23, 13, 21],
]
CUTOFFS = (1, 5, 10)

# One label, several definitions: the names keep them apart.
MEASURES = {
    "recall, capped: of min(k, relevant)": "Rcap",
    "recall: of all relevant": "R",
    "MRR": "RR",
    "precision": "P",
    "MAP, over the relevant found": "AP(norm=found)",
    "MAP, over all relevant": "AP",
    "MAP, over min(k, relevant)": "AP(norm=min)",
    "nDCG of the ranking": "nDCG(gain=exp)",
}


def row(label: str, *cells: float | str) -> None:
    print(f"{label:36}" + "".join(f"{each!s:>21}" for each in cells))


def main() -> None:
    row("", *(f"@{k}" for k in CUTOFFS))
    results = irbatch.evaluate_ids(RANKED, RELEVANT, MEASURES.values(), CUTOFFS)
    for label, name in MEASURES.items():
        row(label, *(results[f"{name}@{k}"] for k in CUTOFFS))

    # An id list handed over as scores still yields a number, and a plausible one. It is that of
    # another ranking: scores sort the documents, so the largest id comes first (28, 21, 20, …),
    # whatever order the system put them in. Its ideal differs too: candidates are all there is
    # to find, so document 22, relevant to the third query and not retrieved, costs nothing.
    listed = [[doc in RELEVANT[query] for doc in docs] for query, docs in enumerate(RANKED)]
    largest_first = irbatch.evaluate_scores(RANKED, listed, "nDCG(gain=exp)", CUTOFFS)
    row("nDCG of the ids taken for scores", *largest_first.mean().values())


if __name__ == "__main__":
    main()
