"""One query, five results: first relevant or not, then graded."""

import numpy as np

import irbatch

LABELS = [1, 0, 1, 0, 1]
GRADES = [3, 2, 3, 0, 1]  # of 0 to 5
CUTOFFS = range(1, 6)


def row(label: str, *cells: float | str) -> None:
    shown = (each if isinstance(each, str) else f"{round(each, 9):.10g}" for each in cells)
    print(f"{label:12}" + "".join(f"{each:>13}" for each in shown))


def main() -> None:
    print(f"Relevant (1) or not (0), by rank {LABELS}:")
    binary = irbatch.evaluate_matrix([LABELS], ["P", "R", "F1"], CUTOFFS)
    row("k", *CUTOFFS)
    for label, name in {"precision": "P", "recall": "R", "F1": "F1"}.items():
        row(label, *(binary[f"{name}@{k}"] for k in CUTOFFS))

    print("\nOther orders, and fewer relevant results:")
    orders = [LABELS, [0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]
    others = irbatch.evaluate_matrix(orders, ["RR", "AP", "P@5"])
    row("", *("".join(map(str, order)) for order in orders))
    for name in others.measures:
        row(name, *others.per_query(name).values())

    print(f"\nGraded, by rank {GRADES}:")
    names = ["CG", "DCG", "IDCG", "nDCG"]
    graded = irbatch.evaluate_matrix([GRADES], names, CUTOFFS)
    row("k", *CUTOFFS)
    # A ranking with nothing but one document of grade 1, at rank k, has DCG 1 / discount.
    alone = irbatch.evaluate_matrix(np.eye(5), "DCG")
    row("log2(k + 1)", *(1 / value for value in alone.per_query("DCG").values()))
    for name in names:
        row(name, *(graded[f"{name}@{k}"] for k in CUTOFFS))


if __name__ == "__main__":
    main()
