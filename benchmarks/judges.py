"""What a model's judgments add to people's: ``python -m benchmarks.judges --data FOLDER``.

Of real rankings and judgments; a model's judgments are made by changing people's grades:

- fair: one in five is drawn anew; kind: besides, 30% of the first 20 documents of one system are
  relevant to it; random: all are drawn; opposite: nine in ten are turned round; constant: all are
  relevant.

Queries are drawn from the real ones, n judged by both and 500 by the model alone. Printed are, of
intervals of 95%, the share that holds the true mean of a system (people's alone beside it) and its
width as a share of people's; and how often two systems that are equal are found to differ.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import irbatch
from irbatch.statistics.agreement import combine_means

SETS = (
    ("dl19_passage", "qrels.dl19-passage.txt.gz", ("bm25", "ada2"), 2),
    ("trec_covid_r1", "qrels.covid-round1.txt.gz", ("BBGhelani2", "BERT"), 1),
)
MEASURES = ("P(rel={rel})@5", "nDCG@10", "RR(rel={rel})")
JUDGES = ("fair", "kind", "random", "opposite", "constant")
DRAWN_ANEW = 20  # times that a model judges
OTHERS, SIZES = 500, (10, 25, 50, 100)
Grades = dict[str, dict[str, float]]


class Population(NamedTuple):
    """Values of people and of a model, ``(queries,)``; and what they are of."""

    kind: str
    people: np.ndarray
    model: np.ndarray


def judge(kind: str, qrels: Grades, first: dict[str, set[str]], draw: random.Random) -> Grades:
    """Judge as a model does."""
    top = max(max(grades.values()) for grades in qrels.values())

    def grade(query: str, document: str, people: float) -> float:
        if kind == "random":
            return draw.randint(0, int(top))
        if kind == "opposite":
            return top - people if draw.random() < 0.9 else people
        if kind == "constant" or (
            kind == "kind" and document in first[query] and draw.random() < 0.3
        ):
            return top
        return draw.choice((0, top)) if draw.random() < 0.2 else people

    return {query: {document: grade(query, document, people) for document, people in grades.items()}
            for query, grades in qrels.items()}  # fmt: skip


def populations(folder: Path, kind: str) -> Iterator[Population]:
    """Yield values of systems, of their differences, and of differences of equal systems."""
    for name, judgments, systems, rel in SETS:
        listed = irbatch.read_qrels(folder / name / judgments).to_dict()
        qrels = {query: {document: max(grade, 0) for document, grade in grades.items()}
                 for query, grades in listed.items()}  # fmt: skip
        runs = [irbatch.read_run(folder / name / "runs" / f"{each}.run.gz") for each in systems]
        rankings = [run.to_dict() for run in runs]
        tops = [{query: {*sorted(ranking.get(query, {}), key=ranking.get(query, {}).get)[-20:]}
                 for query in qrels} for ranking in rankings]  # fmt: skip
        measures = [each.format(rel=rel) for each in MEASURES]

        def values(judged: Grades, runs=runs, measures=measures) -> np.ndarray:
            return np.stack([irbatch.evaluate(judged, run, measures).values for run in runs])

        people = np.tile(values(qrels), (DRAWN_ANEW, 1))
        models = []  # (2, kind to which, queries, measures)
        for favoured in tops:
            drawn = (judge(kind, qrels, favoured, random.Random(f"{kind}{i}"))
                     for i in range(DRAWN_ANEW))  # fmt: skip
            models.append(np.concatenate([values(each) for each in drawn], axis=1))
        for k in range(len(measures)):
            for system in range(2):
                yield Population("mean", people[system, :, k], models[0][system, :, k])
            apart = people[0, :, k] - people[1, :, k]
            to_first, to_second = (each[0, :, k] - each[1, :, k] for each in models)
            yield Population("difference", apart, to_first)
            both = np.concatenate([apart, -apart]), np.concatenate([to_first, -to_second])
            yield Population("equal", *both)


def held(population: Population, n: int, times: int, draw: np.random.Generator) -> list[float]:
    """Return shares that hold the true mean, combined and people's alone; and the widths' ratio."""
    size = population.people.size
    few, others = draw.integers(0, size, (n, times)), draw.integers(0, size, (OTHERS, times))
    found = combine_means(population.people[few], population.model[few], population.model[others])
    mean = population.people.mean()
    ends = (found.combined_low, found.combined_high), (found.people_low, found.people_high)
    shares = [float(((low <= mean + 1e-12) & (mean - 1e-12 <= high)).mean()) for low, high in ends]
    widths = [(high - low).mean() for low, high in ends]
    return [*shares, float(widths[0] / widths[1])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("IRBATCH_DATA", "data")))
    parser.add_argument("--times", type=int, default=400)
    options = parser.parse_args()
    draw = np.random.default_rng(1)
    print(
        "| judge | n | holds the mean | people alone | width | holds a difference | equal differ |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for kind in JUDGES:
        drawn = list(populations(options.data, kind))
        for n in SIZES:
            mean, difference, equal = (
                np.mean(
                    [held(each, n, options.times, draw) for each in drawn if each.kind == of], 0
                )
                for of in ("mean", "difference", "equal")
            )
            cells = (f"{each:.1%}" for each in (*mean, difference[0], 1 - equal[0]))
            print(f"| {kind} | {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
