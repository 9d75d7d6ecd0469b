"""Judgments and rankings as rows that are spread over partitions, for engines that shuffle them."""

from __future__ import annotations

import functools
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import irbatch
from irbatch.data.column_names import ROLES
from irbatch.measures import CATALOGUE
from support.measure_variants import builtin_names
from support.paths import REPOSITORY

# All that read grades alone, at full depth and at a cutoff, where they have one.
NAMES = [
    f"{name}(max_grade=4)" if "max_grade" in CATALOGUE[name].parameters else name
    for name in sorted(builtin_names())
]
MEASURES = [
    *NAMES,
    *(f"{name}@3" for name in NAMES if CATALOGUE[name.partition("(")[0]].takes_cutoff),
]

Columns = dict[str, list[Any]]
Nested = dict[Any, dict[Any, Any]]

DOCUMENTS = [f"d{i}" if i % 5 else f"é{i}" for i in range(60)]


@functools.cache
def problem(ids: str = "text") -> tuple[Nested, Nested]:
    """Return judgments and a run, with ids that are text or numbers.

    Queries lack either side, or relevant documents; scores are often tied.
    """
    rng = Random(3)
    queries: list[Any] = [f"q{i}" for i in range(38)] + ["", "é", "a\0x"]
    documents: list[Any] = DOCUMENTS
    if ids == "numbers":
        queries, documents = [*range(-2, 39)], [2**40 - i for i in range(60)]
    qrels = {
        query: {each: rng.choice(GRADES[place % 3]) for each in rng.sample(documents, 9)}
        for place, query in enumerate(queries)
        if place % 8 != 7
    }
    run = {
        query: {each: rng.randrange(20) / 4 for each in rng.sample(documents, rng.randint(1, 40))}
        for place, query in enumerate(queries)
        if place % 9 != 5
    }
    return qrels, run


GRADES: tuple[tuple[int, ...], ...] = ((0, 0, 1, 2, 4), (-1, 0, 1, 3), (0, -2))


OPTIONS: dict[str, dict[str, Any]] = {
    "queries": {"missing": "skip", "no_relevant": "skip", "judged_only": True},
    "ranks": {"ties": "expected", "rel": 2},
    "trec_eval": {"trec_eval": "9", "max_depth": 7},
    "scores": {"score_dtype": "float32", "ties": "pessimistic"},
}


class OfItems(NamedTuple):
    """Measures that read items, some of the whole run, and what is known of these."""

    measures: str
    known: irbatch.Items


ITEMS = OfItems("nDCG@5 CatalogueCoverage@5 Gini@5", irbatch.Items(DOCUMENTS))


class Marked(NamedTuple):
    """Judgments that say more than a grade, and a run, also as rows."""

    judgments: Any
    run: Nested
    judgment_rows: Columns
    run_rows: Columns
    measures: list[str]


def marked(reads: str) -> Marked:
    """Return judgments of subtopics, strata or probabilities."""
    qrels, run = problem()
    columns = rows(qrels, "relevance")
    rng, size = Random(8), len(columns["query_id"])
    marks: dict[str, list[Any]] = {
        "subtopics": [rng.choice(("s", "é")) for _ in range(size)],
        "strata": [1 + i % 2 for i in range(size)],
        "probabilities": [rng.choice((0.25, 1.0)) for _ in range(size)],
    }
    role = next(each for each in ROLES[reads] if each not in ROLES["qrels"])
    columns |= {role: marks[reads], "relevance": list(map(abs, columns["relevance"]))}
    return Marked(
        irbatch.Qrels.from_table(columns, marks=reads),
        run,
        columns,
        rows(run, "score"),
        sorted(builtin_names(reads)),
    )


def rows(nested: Nested, value: str) -> Columns:
    """Return the rows of judgments or a run in columns, in random order."""
    listed = [(q, d, each) for q, documents in nested.items() for d, each in documents.items()]
    Random(5).shuffle(listed)
    queries, documents, values = map(list, zip(*listed, strict=True))
    return {"query_id": queries, "doc_id": documents, value: values}


def cut(columns: Columns) -> list[Columns]:
    """Cut rows into partitions of odd sizes, one of them empty."""
    size = len(next(iter(columns.values())))
    bounds = [0, 1, 1, size // 7, size // 2 + 1, size - 2, size]
    slices = [slice(*each) for each in itertools.pairwise(bounds)]
    return [{name: column[some] for name, column in columns.items()} for some in slices]


def assert_same(found: irbatch.Results, right: irbatch.Results) -> None:
    """Assert that results are the same, to the bit, in whatever order their queries are."""
    assert found.measures == right.measures
    assert sorted(found.query_ids) == sorted(right.query_ids)
    order = [found.rows[query] for query in right.query_ids]
    np.testing.assert_array_equal(found.values[order].view(np.int64), right.values.view(np.int64))
    assert_same_means(found, right)


def assert_same_means(found: Any, right: irbatch.Results) -> None:
    """Assert that means, counts and the signature are the same."""
    ours, theirs = ([*each.mean().values()] for each in (found, right))
    np.testing.assert_array_equal(np.array(ours).view(np.int64), np.array(theirs).view(np.int64))
    assert found.counts == right.counts
    assert found.signature == right.signature


class DyingOnce:
    """Does a function's work; in the third call, of all processes, the victim is killed instead.

    Calls are counted by files of the folder. The victim is the process, or the first above it that
    has a name.
    """

    def __init__(self, work: Callable[..., Any], folder: Path, victim: str | None = None) -> None:
        self.work, self.folder, self.victim = work, folder, victim

    def __call__(self, *given: Any) -> Any:
        for call in range(1000):
            try:
                (self.folder / f"call-{call}").touch(exist_ok=False)
            except FileExistsError:
                continue
            if call == 2:
                os.kill(self._found(), signal.SIGKILL)
            break
        return self.work(*given)

    def _found(self) -> int:
        process = os.getpid()
        while self.victim is not None:
            stat = Path(f"/proc/{process}/stat").read_text()
            name, _, rest = stat.partition("(")[2].rpartition(")")
            if name == self.victim:
                break
            process = int(rest.split()[1])
        return process


def output_of_example(script: str) -> str:
    """Run an example, which is to end well, and return what it prints."""
    command = [sys.executable, str(REPOSITORY / "examples" / script)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
