"""The data the comparison runs on: made from seeds, the same everywhere, quickly at any size.

A `Problem` holds a run and judgments as arrays; the other functions turn it into what each tool
takes: dicts, TREC files, frames. Scores are distinct even in float32, so that all tools agree on
the order, and all ids are of one width, so that ranx compiles for one type only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.harness import Settings
from irbatch.engine.matrix import UNJUDGED, RelevanceMatrix

Ints = npt.NDArray[np.int64]
Table = dict[str, dict[str, float]]

FIRST_DOCUMENT = 1_000_000  # all ids have 7 digits, as most of MS MARCO's
PRIME = 8_388_593  # documents there are; prime, so that equal steps through them never repeat
FIRST_QUERY = 100_000
STEP = 1e-5  # scores are multiples of it, below 50, where float32 tells them apart


class Side(NamedTuple):
    """Judgments or a run: ids and values ``(queries, documents)``, and what the values are."""

    queries: Ints
    ids: Ints
    values: npt.NDArray[Any]
    name: str


@dataclass(frozen=True)
class Problem:
    """A run in the order of its scores, and judgments in no particular order.

    Attributes:
        queries: int64 ``(queries,)``, ids, ascending.
        documents: int64 ``(queries, depth)``, ids of 7 digits, best first.
        scores: int64 ``(queries, depth)``, multiples of `STEP`, descending.
        judged: int64 ``(queries, judged)``, ids; some of them were not retrieved.
        grades: int64 ``(queries, judged)``.
    """

    queries: Ints
    documents: Ints
    scores: Ints
    judged: Ints
    grades: Ints

    def head(self, queries: int) -> Problem:
        """Return the first queries only."""
        parts = (self.queries, self.documents, self.scores, self.judged, self.grades)
        return Problem(*(part[:queries] for part in parts))

    def judgments(self) -> Side:
        """Return one side."""
        return Side(self.queries, self.judged, self.grades, "relevance")

    def run(self) -> Side:
        """Return the other side, with scores as they are written."""
        return Side(self.queries, self.documents, self.scores * STEP, "score")


def make_problem(
    queries: int, depth: int, judged: int, seed: int = 1, documents: int = PRIME
) -> Problem:
    """Make a problem in which judged documents stand mostly near the top.

    Args:
        queries, depth: rankings, and documents in each.
        judged: judged documents a query; a single one is relevant, as in MS MARCO, several have
            grades 0 to 3.
        seed: of the generator.
        documents: how many there are, a prime.
    """
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, documents, (queries, 1))
    steps = rng.integers(1, documents, (queries, 1))
    candidates = (starts + steps * np.arange(depth + judged)) % documents + FIRST_DOCUMENT
    gaps = rng.integers(1, max(2, 4_000_000 // depth), (queries, depth))
    scores = np.cumsum(gaps, axis=1)[:, ::-1]
    # Distinct places: sorted draws with repetition, each moved on by the number before it.
    draws = np.sort((rng.random((queries, judged)) ** 2 * (depth + 1)).astype(np.int64), axis=1)
    places = rng.permuted(draws + np.arange(judged), axis=1)
    grades = rng.integers(0, 4, places.shape) if judged > 1 else np.ones_like(places)
    return Problem(
        queries=FIRST_QUERY + np.arange(queries),
        documents=candidates[:, :depth],
        scores=scores,
        judged=np.take_along_axis(candidates, places, axis=1),
        grades=grades,
    )


def of_settings(settings: Settings, judged: int, queries: int = 0) -> Problem:
    """Return the problem of a run's sizes, or of another number of queries, made once."""
    sizes = queries or settings.queries, settings.depth, judged
    return settings.once(sizes, lambda: make_problem(*sizes))


def small_problem(settings: Settings, judged: int) -> Problem:
    """Return a problem to warm up on: what matters is that types are the same.

    ranx goes back to one thread for good when it sees fewer than ten queries.
    """
    return make_problem(20, min(settings.depth, 50), judged)


def written(settings: Settings, problem: Problem, name: str) -> tuple[Path, Path]:
    """Return paths of TREC qrels and run, written once."""
    return settings.once(name, lambda: _write_problem(problem, settings.folder, name))


def dicts(problem: Problem) -> tuple[Table, Table]:
    """Return qrels and run as dicts of dicts; ids are text, equal ones separate objects."""
    return _table(problem.judgments()), _table(problem.run())


def _table(side: Side) -> Table:
    parts = map(str, side.queries.tolist()), side.ids.tolist(), side.values.tolist()
    rows = zip(*parts, strict=True)
    return {query: dict(zip(map(str, row), cells, strict=True)) for query, row, cells in rows}


def columns(problem: Problem) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return qrels and run as columns of ir_measures' names, ids as object arrays of text."""
    return _columns(problem.judgments()), _columns(problem.run())


def _columns(side: Side) -> dict[str, Any]:
    queries = _texts(np.repeat(side.queries, side.ids.shape[1]))
    values = np.ascontiguousarray(side.values).ravel()
    return {"query_id": queries, "doc_id": _texts(side.ids.ravel()), side.name: values}


def _texts(ids: Ints) -> npt.NDArray[np.object_]:
    return np.array([str(each) for each in ids.tolist()], object)


def _write_problem(problem: Problem, folder: Path, name: str) -> tuple[Path, Path]:
    """Write TREC files of qrels and run; return their paths."""
    qrels, run = folder / f"{name}.qrels", folder / f"{name}.run"
    with qrels.open("w") as file:
        for query, row, grades in zip(
            problem.queries.tolist(), problem.judged.tolist(), problem.grades.tolist(), strict=True
        ):
            file.writelines(f"{query} 0 {d} {g}\n" for d, g in zip(row, grades, strict=True))
    write_run(problem, run)
    return qrels, run


def write_run(problem: Problem, path: Path) -> None:
    """Write a TREC run file."""
    with path.open("w") as file:
        for query, documents, scores in zip(
            problem.queries.tolist(), problem.documents.tolist(), problem.scores.tolist(),
            strict=True,
        ):  # fmt: skip
            file.writelines(
                f"{query} Q0 {document} {rank} {score // 100_000}.{score % 100_000:05} r\n"
                for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
            )


def write_parquet(
    side: Side, path: Path, copies: int = 1, kind: str = "string", **options: Any
) -> None:
    """Write a run, or judgments, as columns.

    Args:
        side: what to write.
        path: where to.
        copies: how many times, each time under query ids that follow on.
        kind: of ids, Arrow's name for it; beside numbers scores are float32.
        **options: of pyarrow's writer.
    """
    import pyarrow as arrow
    from pyarrow import parquet

    values = side.values.ravel()
    if kind == "int64" and side.name == "score":
        values = values.astype(np.float32)
    documents = arrow.array(side.ids.ravel()).cast(kind)
    kinds = {"query_id": kind, "doc_id": kind, side.name: arrow.array(values[:1]).type}
    schema = arrow.schema(kinds)
    with parquet.ParquetWriter(path, schema, **options) as file:
        for copy in range(copies):
            queries = side.queries + copy * len(side.queries)
            repeated = arrow.array(np.repeat(queries, side.ids.shape[1]))
            file.write_table(arrow.table([repeated.cast(kind), documents, values], schema=schema))


def sparse_matrix(queries: int, depth: int, judged: int, seed: int = 0) -> RelevanceMatrix:
    """Make an int8 relevance matrix in which `judged` documents of a row are judged.

    Args:
        queries, depth: its shape.
        judged: judged documents a row, with grades 0 to 3.
        seed: of the generator.
    """
    rng = np.random.default_rng(seed)
    codes = np.full((queries, depth), UNJUDGED, np.int8)
    for row in range(queries):
        ranks = rng.choice(depth, judged, replace=False)
        codes[row, ranks] = rng.integers(0, 4, judged)
    counts = np.stack([(codes == level).sum(axis=1) for level in range(4)], axis=1)
    return RelevanceMatrix(codes, np.arange(4.0), np.full(queries, depth), counts)


@dataclass(frozen=True)
class ScoreProblem:
    """Scores of candidates, and where the relevant ones stand.

    Attributes:
        scores: float32 ``(queries, candidates)``, above 0 and below 1, no two of a query the same,
            so that all tools agree on the order.
        positives: int64 ``(queries, positives)``, columns of the relevant ones, best first.
    """

    scores: npt.NDArray[np.float32]
    positives: Ints

    def labels(self) -> npt.NDArray[np.bool_]:
        """Return which candidates are relevant: bool ``(queries, candidates)``."""
        labels = np.zeros(self.scores.shape, bool)
        np.put_along_axis(labels, self.positives, True, axis=1)
        return labels


def score_problem(queries: int, candidates: int, positives: int, seed: int = 1) -> ScoreProblem:
    """Make scores of candidates whose relevant ones stand mostly near the top.

    Args:
        queries, candidates: rows and columns.
        positives: relevant candidates a query.
        seed: of the generator.
    """
    rng = np.random.default_rng(seed)
    # Distinct places: sorted draws with repetition, each moved on by the number before it.
    room = candidates - positives + 1
    draws = np.sort((rng.random((queries, positives)) ** 2 * room).astype(np.int64), axis=1)
    places = draws + np.arange(positives)
    descending = (np.arange(candidates, 0, -1) / (candidates + 1)).astype(np.float32)
    scores = np.empty((queries, candidates), np.float32)
    columns = np.empty_like(places)
    for row in range(queries):
        order = rng.permutation(candidates)
        scores[row, order] = descending
        columns[row] = order[places[row]]
    return ScoreProblem(scores, columns)
