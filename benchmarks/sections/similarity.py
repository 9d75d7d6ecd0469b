"""Similarity: Compat beside nDCG, and the overlap of two runs beside the package rbo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import irbatch
from benchmarks.data import Problem, dicts
from benchmarks.report import Table, absence
from benchmarks.settings import Settings
from benchmarks.turns import Timed, in_turn
from irbatch.comparing.rankings import Overlaps, overlap

__all__ = ["tables"]

NEAR = 20  # ranks that documents are moved by, about
OF_PEER = 100  # queries: it takes milliseconds for each


def tables(settings: Settings) -> Iterator[Table]:
    """Time runs of the usual size; the second one has the first's documents in another order."""
    irbatch.runtime.warmup()
    problem = settings.problem(settings.queries, settings.depth, settings.usual)
    qrels, run = dicts(problem)
    other = _moved(run)
    prepared = irbatch.Run(run).prepared(), irbatch.Run(other).prepared()
    table = settings.table(f"similarity: {settings.size(settings.usual)}")
    timed = in_turn(
        {
            "nDCG": lambda: irbatch.evaluate(qrels, run, "nDCG"),
            "Compat": lambda: irbatch.evaluate(qrels, run, "Compat"),
            "prepared nDCG": lambda: irbatch.evaluate(qrels, prepared[0], "nDCG"),
            "overlap": lambda: overlap(*prepared),
            "tied": lambda: overlap(*prepared, ties="a"),
        },
        settings.rounds,
    )
    table.measure_by("Compat, dicts", timed["Compat"], "nDCG", timed["nDCG"],
                     key="similarity, Compat")  # fmt: skip
    for work, name in (("RBO", "overlap"), ("RBO, ties=a", "tied")):
        table.measure_by(
            f"{work} of two prepared runs", timed[name], "nDCG of one", timed["prepared nDCG"],
            key=f"similarity, {name}",
        )  # fmt: skip
    _compare_rbo(table, problem, settings)
    yield table


def _moved(run: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Make a run of the same documents, each moved by some ranks."""
    random = np.random.default_rng(3)
    moved = {}
    for query, documents in run.items():
        places = np.arange(len(documents)) + random.normal(0, NEAR, len(documents))
        order = np.argsort(places).tolist()
        listed = list(documents)
        moved[query] = {listed[place]: -float(rank) for rank, place in enumerate(order)}
    return moved


def _compare_rbo(table: Table, problem: Problem, settings: Settings) -> None:
    """Compare extrapolated values of some queries, as lists of ids for the other."""
    work, peer, key = f"RBO of two runs, dicts, {OF_PEER} queries", "rbo", "similarity, rbo"
    missing = absence("rbo", "rbo")
    if missing is not None:
        table.skip(work, peer, missing, key=key)
        return
    from rbo import RankingSimilarity

    _, first = dicts(problem.head(OF_PEER))
    second = _moved(first)

    def theirs() -> dict[str, float]:
        return {
            query: RankingSimilarity(list(first[query]), list(second[query])).rbo_ext(p=0.9)
            for query in first
        }

    timed = in_turn({"ours": lambda: overlap(first, second), "theirs": theirs}, settings.rounds)
    table.compare(work, _extrapolated(timed["ours"]), peer, timed["theirs"], key=key)


def _extrapolated(timed: Timed) -> Timed:
    found: Overlaps = timed.result
    return replace(timed, result=found.per_query())
