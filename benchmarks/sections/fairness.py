"""Fairness of exposure: the groups of the first documents, of a run of MS MARCO's size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import irbatch
from benchmarks.report import Agreement, Table
from benchmarks.settings import Settings
from benchmarks.turns import in_turn

__all__ = ["tables"]

QUERIES, DEPTH = 6_980, 1_000
STANDARD = "nDCG@20"
WORKS = {
    "AWRF@20": ("AWRF@20",),
    "AWRF and expected exposure @20": ("AWRF@20", "EEL@20", "EED@20", "EER@20"),
}


def tables(settings: Settings) -> Iterator[Table]:
    """Compare with nDCG of the same prepared run; documents belong to one of four groups."""
    queries, depth = (20, 50) if settings.quick else (QUERIES, DEPTH)
    table = settings.table(f"fairness: {queries:,} × {depth:,}, four groups")
    irbatch.runtime.warmup()
    rng = np.random.default_rng(3)
    step = 1_000  # documents of rank i are from i * step on: no query has one twice
    documents = np.arange(depth) * step + rng.integers(0, step, (queries, depth))
    every = np.repeat(np.arange(queries), depth)
    scores = np.tile(np.arange(depth, 0.0, -1.0), queries)
    run = irbatch.Run.from_columns(every, documents.ravel(), scores)
    qrels = irbatch.Qrels.from_columns(np.arange(queries), documents[:, 3], np.ones(queries))
    of_document = rng.integers(0, 4, depth * step)
    groups = irbatch.Groups(dict(enumerate(of_document.tolist())), dict.fromkeys(range(4), 0.25))
    items = irbatch.Items(depth * step, groups=groups)
    works = {
        name: lambda names=names: irbatch.evaluate(qrels, run, list(names), items=items)
        for name, names in {STANDARD: (STANDARD,), **WORKS}.items()
    }
    timed = in_turn(works, settings.rounds)
    exposed = np.bincount(of_document[documents[0, :2]], minlength=4) / 2
    found = irbatch.evaluate(qrels, run, "Exposure(group=0)@2", items=items).values[0, 0]
    same = bool(found == exposed[0])
    for name in WORKS:
        agreement = Agreement(same, "equal" if same else "DIFFERENT: Exposure")
        table.measure_by(
            name, timed[name], STANDARD, timed[STANDARD],
            key=f"fairness, {name}", agreement=agreement,
        )  # fmt: skip
    yield table
