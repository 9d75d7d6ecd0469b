"""Measures of the C/W/L framework, all five numbers of each, against cwl-eval's classes.

cwl-eval gets gains ready made, in order; irbatch judgments and a run as dictionaries.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import irbatch
from benchmarks.report import Table, absence
from benchmarks.settings import Settings
from benchmarks.turns import in_turn
from irbatch.measures import measure

__all__ = ["tables"]

NUMBERS = ("EU", "ETU", "EC", "ETC", "ED")
QUERIES, DEPTH, JUDGED, HIGHEST = 43, 1_000, 200, 3

# irbatch's names, and cwl-eval's class with its arguments.
MODELS: dict[str, dict[str, tuple[Any, ...]]] = {
    "cwl-eval's own set": {
        **{f"cwlP@{k}": ("PrecisionCWLMetric", k) for k in (1, 2, 3, 4, 5, 10)},
        **{f"cwlRBP(p={p})": ("RBPCWLMetric", p) for p in (0.2, 0.4, 0.8)},
        "SDCG@5": ("NDCGCWLMetric", 5),
        "SDCG@10": ("NDCGCWLMetric", 10),
        "cwlRR": ("RRCWLMetric",),
        "cwlTrAP": ("APCWLMetric",),
        **{f"INST(T={t})": ("INSTCWLMetric", float(t)) for t in (1, 2, 3)},
    },
    "users who go by the rank": {
        "cwlP@10": ("PrecisionCWLMetric", 10),
        "cwlRBP(p=0.8)": ("RBPCWLMetric", 0.8),
        "SDCG@10": ("NDCGCWLMetric", 10),
        "INSQ(T=2)": ("INSQCWLMetric", 2.0),
        "TBG(h=22)": ("TBGCWLMetric", 22),
        "Umeasure(L=50)": ("UMeasureCWLMetric", 50),
    },
    "users who go by what they gain": {
        "cwlRR": ("RRCWLMetric",),
        "INST(T=2)": ("INSTCWLMetric", 2.0),
        "BPM(T=2,K=10)": ("BPMCWLMetric", 2, 10),
        "IFT": ("IFTGoalRateCWLMetric", 2.0, 0.9, 10, 0.2, 0.9, 10),
        "NERR8@10": ("NERReq8CWLMetric", 10),
        "NERR10": ("NERReq10CWLMetric", 0.9),
        "NERR11(T=2)": ("NERReq11CWLMetric", 2.0),
    },
}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Means = dict[str, float]


def tables(settings: Settings) -> Iterator[Table]:
    """Time its own set, most of whose time is AP's, quadratic there, and others without it."""
    queries, depth, judged = (3, 60, 20) if settings.quick else (QUERIES, DEPTH, JUDGED)
    sizes = f"{queries} × {depth:,}, {judged} judged"
    table = settings.table(f"C/W/L: the five numbers of measures, {sizes}")
    reason = absence("cwl", "cwl-eval")
    qrels, run = _problem(queries, depth, judged)
    for kind, models in MODELS.items():
        labels = [f"{name} {number}" for name in models for number in NUMBERS]
        works = {"ours": _ours(qrels, run, models, labels)}
        if reason is None:
            works["theirs"] = _theirs(qrels, run, list(models.values()), labels)
        timed = in_turn(works, settings.rounds)
        work, key = f"{len(models)} measures, {kind}", f"cwl, {kind}"
        if reason is None:
            table.compare(work, timed["ours"], "cwl-eval", timed["theirs"], key=key)
        else:
            table.skip(work, "cwl-eval", reason, timed["ours"], key=key)
    yield table


def _problem(queries: int, depth: int, judged: int) -> tuple[Qrels, Run]:
    """Grades of 0 to 3, of documents anywhere in the rankings."""
    rng = random.Random(5)
    documents = [f"d{i}" for i in range(depth)]
    names = [f"q{i}" for i in range(queries)]
    qrels = {q: {each: rng.choice((0, 0, 1, 2, 3)) for each in rng.sample(documents, judged)}
             for q in names}  # fmt: skip
    run = {q: {each: float(depth - i) for i, each in enumerate(documents)} for q in names}
    return qrels, run


def _ours(
    qrels: Qrels, run: Run, models: Sequence[str] | dict[str, Any], labels: list[str]
) -> Callable[[], Means]:
    wanted = [
        measure(name)(max_grade=HIGHEST, number=number) for name in models for number in NUMBERS
    ]

    def work() -> Means:
        found = irbatch.evaluate(qrels, run, wanted)
        return dict(zip(labels, found.mean().values(), strict=True))

    return work


def _theirs(
    qrels: Qrels, run: Run, classes: list[tuple[Any, ...]], labels: list[str]
) -> Callable[[], Means]:
    import numpy as np
    from cwl.ruler import cwl_ruler

    metrics = [getattr(cwl_ruler, name)(*arguments) for name, *arguments in classes]
    rankings = []
    for query, ranking in run.items():
        grades = qrels[query]
        gains = [grades[each] / HIGHEST if each in grades else np.nan for each in ranking]
        rankings.append(cwl_ruler.Ranking(query, gains, [np.nan] * len(gains)))

    def work() -> Means:
        numbers = []
        for each in metrics:
            of_each = []
            for ranking in rankings:
                each.measure(ranking)
                of_each.append(each.get_scores())
            numbers += np.mean(of_each, axis=0).tolist()
        return dict(zip(labels, numbers, strict=True))

    return work
