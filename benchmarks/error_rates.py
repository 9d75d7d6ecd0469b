"""How often comparisons mislead: ``python -m benchmarks.error_rates``.

Values are real ones, of the systems in a folder of judgments and runs, query by query:

- family-wise: systems that differ by nothing but chance, each with each; how often any pair of them
  is called significant;
- gates: a candidate that is truly worse by the margin of 0.04, in ways of its own; how often it is
  found not to be;
- coverage: queries drawn from real ones; how often the interval of a mean difference holds that of
  all queries.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

import irbatch
from irbatch.statistics.intervals import INTERVALS, find_intervals
from irbatch.statistics.resampling import Sample
from irbatch.statistics.tests import (
    above_zero_p,
    beyond_margin,
    correct,
    ends_beyond,
    p_values,
    read_margin,
)

LEVEL = 0.05
EXAMPLES = Path(__file__).parent.parent / "examples" / "data"
SIZES = (2, 5, 10, 20, 50, 100, 200)  # queries
Values = list[np.ndarray]


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


def family_wise(every: Values, random: np.random.Generator, times: int, systems: int) -> None:
    """Print how often any of the pairs of equal systems is found to differ."""
    pairs = [(a, b) for a in range(systems) for b in range(a)]
    found = 0
    for _ in range(times):
        values = every[random.integers(len(every))]
        rows = random.integers(0, values.shape[1], 200)
        chosen = random.permuted(np.resize(values[:, rows], (systems, 200)), axis=0)
        p = p_values(Sample(chosen[:, :, None], pairs, 1000, 0), "randomisation")
        found += bool((correct(p, "holm") < LEVEL).any())
    print(f"{systems} equal systems: {found / times:.2%} of {times} families have a finding")


def gates(random: np.random.Generator, times: int) -> None:
    """Print how often a gate lets pass what is worse by its margin: 0.04 of values around 0.5."""
    ways = {
        "4% of queries lose all": lambda n: (random.random((n, times)) < 0.04) * 1.0,
        "10% lose 0.4": lambda n: (random.random((n, times)) < 0.1) * 0.4,
        "each wins or loses 0.2": lambda n: np.where(random.random((n, times)) < 0.4, -0.2, 0.2),
        "normal, spread 0.1": lambda n: random.normal(0.04, 0.1, (n, times)),
        "all lose 0.04": lambda n: np.full((n, times), 0.04),
    }
    tests, margin, signs = ("t", "bounded"), read_margin(0.04), np.ones(times)
    ends = ends_beyond(np.tile([[0.0], [1.0]], times), margin, signs)
    print("| differences | test | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|---" * (2 + len(SIZES)) + "|")
    for name, draw in ways.items():
        shares: dict[str, list[str]] = {test: [] for test in tests}
        for n in SIZES:
            lost = draw(n)
            base = np.clip(0.5, lost, 1 + np.minimum(lost, 0))  # candidates are from 0 to 1, too
            values = np.stack([base - lost, base])
            vary = np.ptp(values[0] - values[1], axis=0)[None] > 0
            beyond = beyond_margin(values, [(0, 1)], margin, signs)
            for test in tests:
                p = above_zero_p(beyond, test, 1000, 0, ends, vary)
                shares[test].append(f"{(p < LEVEL).mean():.1%}")
        for test in tests:
            print(f"| {name} | {test} | {' | '.join(shares[test])} |")


def coverage(every: Values, random: np.random.Generator, times: int) -> None:
    """Print how often intervals of each kind hold the mean difference of all queries."""
    for queries in (25, 50, 200):
        held = dict.fromkeys(INTERVALS, 0)
        for values in every:
            n = len(values)
            differ = [(a, b) for a in range(n) for b in range(a)
                      if (values[a] != values[b]).mean() > 0.5]  # fmt: skip
            if not differ:
                continue
            pairs = np.array(differ)[random.integers(0, len(differ), times)]
            truth = (values[pairs[:, 0]] - values[pairs[:, 1]]).mean(axis=1)
            rows = random.integers(0, values.shape[1], (queries, times))
            drawn = values[pairs.T[:, None, :], rows]  # a measure is a sample
            for kind in INTERVALS:
                found = find_intervals(drawn, [(0, 1)], kind, LEVEL, 2000, 0).differences[0]
                held[kind] += int(((found[:, 0] <= truth) & (truth <= found[:, 1])).sum())
        shown = ", ".join(f"{k} {v / (times * len(every)):.1%}" for k, v in held.items())
        print(f"{queries} queries, intervals of 95%: {shown}")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path,
                        default=Path(os.environ.get("IRBATCH_DATA", EXAMPLES)))  # fmt: skip
    parser.add_argument("--times", type=int, default=400)
    parser.add_argument("--systems", type=int, default=16)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    every = real_values(options.data, "AP")
    coverage(every, random, options.times)
    gates(random, 10 * options.times)
    family_wise(every, random, options.times, options.systems)


if __name__ == "__main__":
    main()
