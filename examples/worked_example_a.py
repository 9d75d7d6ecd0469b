"""Eight images, always returned in the order 1 to 8: recall, MRR, MAP, DCG and nDCG, step by step.

Also what a swap of the first two images changes, and recall@1 inside a training batch.
"""

import numpy as np

import irbatch

IMAGES = [1, 2, 3, 4, 5, 6, 7, 8]
CUTOFFS = range(1, 9)
RELEVANT = [{2, 4, 5, 7}, {1, 4, 5, 7}, {5, 8}]  # for three queries
# For the first query again, graded: what is relevant above has grade 3 or 4 here.
GRADES = {1: 0, 2: 4, 3: 1, 4: 3, 5: 4, 6: 1, 7: 3, 8: 2}

# Row i: how similar query i is to the positive of each query of the batch; its own is column i.
SIMILARITY = np.array(
    [[0.9, 0.1, 0.4, 0.2], [0.3, 0.8, 0.0, 0.5], [0.7, 0.2, 0.6, 0.1], [0.0, 0.3, 0.2, 0.5]]
)


def row(label: str, *cells: float | str) -> None:
    shown = (each if isinstance(each, str) else f"{round(each, 8):.10g}" for each in cells)
    print(f"{label:8}" + "".join(f"{each:>12}" for each in shown))


def main() -> None:
    print("One query; relevant are images 2, 4, 5 and 7:")
    binary = irbatch.evaluate_ids([IMAGES], RELEVANT[:1], ["R", "P@2", "Rcap@2"], CUTOFFS)
    row("k", *CUTOFFS)
    row("recall", *(binary[f"R@{k}"] for k in CUTOFFS))
    row("P@2", "", binary["P@2"])
    row("Rcap@2", "", binary["Rcap@2"])  # out of the 2 that fit into two ranks, not of all 4

    print("\nThree queries, their first relevant images at ranks 2, 1 and 5:")
    three = irbatch.evaluate_ids([IMAGES] * 3, RELEVANT, ["RR", "AP"])
    row("query", "first", "second", "third", "mean")
    for name in three.measures:
        row(name, *three.per_query(name).values(), three[name])

    print("\nThe first query with grades 0 to 4, linear gain:")
    names = ["CG", "DCG", "IDCG", "nDCG"]
    graded = irbatch.evaluate_ids([IMAGES], [GRADES], names, CUTOFFS)
    row("k", *CUTOFFS)
    for name in names:
        row(name, *(graded[f"{name}@{k}"] for k in CUTOFFS))

    print("\nImages 1 and 2 swapped, which only measures of single ranks notice:")
    orders = [IMAGES, [2, 1, *IMAGES[2:]]]
    names = ["R(rel=3)@2", "CG@2", "RR(rel=3)", "AP(rel=3)", "DCG@2"]
    both = irbatch.evaluate_ids(orders, [GRADES] * 2, names)
    row("order", "1, 2, …", "2, 1, …")
    for name in names:
        row(name.replace("(rel=3)", ""), *both.per_query(name).values())

    print("\nIn a batch of four queries, where the positives of the others are the negatives:")
    batch = irbatch.evaluate_scores(SIMILARITY, np.eye(len(SIMILARITY)), "R@1")
    row("R@1", batch["R@1"])


if __name__ == "__main__":
    main()
