"""Measures of diversity, of collections of the size that TREC's Web tracks had."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import irbatch
from benchmarks.data import Problem, dicts, make_problem
from benchmarks.report import Table, absence
from benchmarks.settings import Settings
from benchmarks.turns import in_turn

__all__ = ["tables"]

TOPICS, JUDGED, SUBTOPICS = 50, 300, 4  # 60,000 judgments, as in 2012
DEPTHS = (1_000, 10_000)  # of usual runs, and of the longest that the track took
OURS, THEIRS = "alpha_nDCG@20", "alpha-nDCG@20"
PEER = "pyndeval"

Nested = dict[str, dict[str, dict[str, int]]]


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on runs of two depths, from objects and of what is prepared."""
    topics, judged = (6, 20) if settings.quick else (TOPICS, JUDGED)
    irbatch.runtime.warmup()
    for usual in DEPTHS:
        depth = usual // 25 if settings.quick else usual
        title = f"{OURS}: {topics} queries × {depth:,}, {judged} documents judged by {SUBTOPICS}"
        table = settings.table(f"{title} subtopics")
        problem = make_problem(topics, depth, judged)
        _compare(table, f"diversity, {usual}", problem, 2 * settings.rounds + 1)
        yield table


def _by_subtopic(problem: Problem) -> Nested:
    """Make judgments of which a fifth is relevant."""
    judged, _ = dicts(problem)
    rng = np.random.default_rng(2)
    return {
        query: {
            str(subtopic): {each: int(rng.random() < 0.2) for each in documents}
            for subtopic in range(1, SUBTOPICS + 1)
        }
        for query, documents in judged.items()
    }


def _compare(table: Table, key: str, problem: Problem, rounds: int) -> None:
    nested, (_, run) = _by_subtopic(problem), dicts(problem)
    qrels, prepared = irbatch.Qrels(nested, marks="subtopics"), irbatch.Run(run).prepared()
    works: dict[str, Callable[[], Any]] = {
        "objects": lambda: irbatch.evaluate(nested, run, OURS).per_query(OURS),
        "judgments": lambda: irbatch.evaluate(qrels, run, OURS).per_query(OURS),
        "prepared": lambda: irbatch.evaluate(qrels, prepared, OURS).per_query(OURS),
    }
    if (missing := absence(PEER, PEER)) is None:
        works |= _peer(nested, run)
    timed = in_turn(works, rounds)
    for work, peer, ours, theirs in (
        ("dicts to values", f"{PEER}, of named tuples", "objects", "their objects"),
        ("the same, judgments prepared", f"{PEER}, of judgments prepared", "judgments", "theirs"),
        ("the same, run prepared, too", f"{PEER}, of judgments prepared", "prepared", "theirs"),
    ):
        row = f"{key}, {ours}"
        if missing is None:
            table.compare(work, timed[ours], peer, timed[theirs], key=row)
        else:
            table.skip(work, peer, missing, timed[ours], key=row)


def _peer(nested: Nested, run: dict[str, dict[str, float]]) -> dict[str, Callable[[], Any]]:
    """Return what pyndeval does, of objects of its own; it takes no run that is prepared."""
    pyndeval = importlib.import_module(PEER)
    judged = [
        pyndeval.SubtopicQrel(query, subtopic, document, grade)
        for query, some in nested.items()
        for subtopic, documents in some.items()
        for document, grade in documents.items()
    ]
    scored = [
        pyndeval.ScoredDoc(query, document, score)
        for query, documents in run.items()
        for document, score in documents.items()
    ]
    evaluator = pyndeval.RelevanceEvaluator(judged, [THEIRS])

    def values(found: dict[str, dict[str, float]]) -> dict[str, float]:
        return {query: each[THEIRS] for query, each in found.items()}

    return {
        "their objects": lambda: values(pyndeval.ndeval(judged, scored, [THEIRS])),
        "theirs": lambda: values(evaluator.evaluate(scored)),
    }
