"""How often tests find a difference where there is none: ``python -m benchmarks.null_comparisons``.

Two systems that differ by nothing but chance are made of real values: for each query, which of two
real systems' values goes to which is drawn (so their difference is symmetric), and queries are
drawn from the real ones. A test at level 0.05 is to call about one in twenty of them different.

The sign test has few p-values to choose from: of 50 queries the largest below 0.05 is 0.033, of 200
it is 0.040; that it finds less often is how it is made.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

import irbatch
from irbatch.statistics.resampling import Sample
from irbatch.statistics.tests import TESTS, p_values

LEVEL = 0.05
EXAMPLES = Path(__file__).parent.parent / "examples" / "data"
MEASURE = "AP"


def real_values(folder: Path, measure: str) -> list[np.ndarray]:
    """Values per query of the real systems of each data set there is: ``(systems, queries)``.

    A data set is a folder with one file of judgments, and several runs in it or in ``runs``.
    """
    found = []
    for place in sorted({path.parent for path in folder.rglob("*qrel*") if path.is_file()}):
        judgments = [path for path in place.glob("*qrel*") if path.is_file()]
        runs = sorted({*place.glob("*.run*"), *place.glob("runs/*")})
        if len(judgments) == 1 and len(runs) > 1:
            results = irbatch.evaluate_runs(judgments[0], runs, measure)
            values = np.stack([each.values[:, 0] for each in results.values()])
            if (values[0] != values[1:]).mean(axis=1).max() > 0.9:
                found.append(values)
    return found


def draw_null(
    values: np.ndarray, queries: int, comparisons: int, random: np.random.Generator
) -> np.ndarray:
    """Draw comparisons without a difference: ``(2, queries, comparisons)``.

    Of systems that differ in most queries: where they tie there is nothing to be found.
    """
    n = len(values)
    differ = np.array([(a, b) for a in range(n) for b in range(a)
                       if (values[a] != values[b]).mean() > 0.9])  # fmt: skip
    pairs = differ[random.integers(0, len(differ), comparisons)].T
    rows = random.integers(0, values.shape[1], (queries, comparisons))
    both = values[pairs[:, None, :], rows]
    swapped = random.random(rows.shape) < 0.5
    return np.where(swapped, both[::-1], both)


def main() -> None:
    """Print the share of false findings of every test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path,
                        default=Path(os.environ.get("IRBATCH_DATA", EXAMPLES)))  # fmt: skip
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--comparisons", type=int, default=4000)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    every = real_values(options.data, MEASURE)
    share = options.comparisons // len(every)
    null = np.concatenate(
        [draw_null(values, options.queries, share, random) for values in every], axis=2
    )
    print(f"{null.shape[2]} null comparisons of {options.queries} queries, {MEASURE}, from "
          f"{len(every)} data sets; {options.draws} draws; level {LEVEL}")  # fmt: skip
    sample = Sample(null, [(1, 0)], options.draws, 0)
    for test in TESTS:
        found = (p_values(sample, test) < LEVEL).mean()
        print(f"{test:14}{found:7.2%}")


if __name__ == "__main__":
    main()
