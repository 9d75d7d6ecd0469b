"""Three rankings of six documents, three of them relevant: no measure sees all that differs."""

import irbatch

RELEVANT_RANKS = {"D1": {1, 2, 6}, "D2": {2, 5, 6}, "D3": {3, 4, 5}}
MEASURES = ["Success@2", "RR@2", "P@2", "R@2", "P@5", "R@5", "AP", "F1@2", "F1@5"]


def main() -> None:
    labels = [[rank in ranks for rank in range(1, 7)] for ranks in RELEVANT_RANKS.values()]
    results = irbatch.evaluate_matrix(labels, MEASURES, query_ids=list(RELEVANT_RANKS))
    print(f"{'':9}" + "".join(f"{query:>10}" for query in results.query_ids))
    for name in MEASURES:
        values = results.per_query(name).values()
        print(f"{name:9}" + "".join(f"{value:10.6f}" for value in values))


if __name__ == "__main__":
    main()
