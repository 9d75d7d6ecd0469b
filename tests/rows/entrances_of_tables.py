"""Entrances that take queries and documents by id: dictionaries, columns, tables, records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import irbatch
from irbatch import Qrels, Run
from rows.containers import Columns, columns, dicts
from rows.entrances import COLUMNS, FILES_ONLY, MAPPING, NO_ARRAYS, TYPED, Call, Entrance, per_query
from rows.problem import Found, Problem

IDS = {**FILES_ONLY, **NO_ARRAYS}


def from_dicts(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    return per_query(irbatch.evaluate(qrels, run, list(problem.measures)))


def from_objects(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    return per_query(irbatch.evaluate(Qrels(qrels), Run(run), list(problem.measures)))


def from_prepared(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    return per_query(irbatch.evaluate(Qrels(qrels), Run(run).prepared(), list(problem.measures)))


def from_runs(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    found = irbatch.evaluate_runs(qrels, {"mine": run}, list(problem.measures))
    return per_query(found["mine"])


def from_comparison(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    runs = {"mine": run, "same": {query: dict(each) for query, each in run.items()}}
    found = irbatch.compare(qrels, runs, list(problem.measures), draws=100)
    values = dict(zip(found.measures, found.values[0].T.tolist(), strict=True))
    return {name: dict(zip(found.query_ids, each, strict=True)) for name, each in values.items()}


def from_leaderboard(problem: Problem, folder: Path) -> Found:
    from rows.problem import MEAN

    qrels, run = dicts(problem)
    found = irbatch.evaluate_runs(qrels, {"mine": run}, list(problem.measures))
    board = irbatch.Leaderboard(found, [irbatch.EfficiencyRecord(system="mine")], draws=0)
    return {name: {MEAN: float(board.values(name)[0])} for name in board.measures}


def from_columns(arrays: bool) -> Call:
    def call(problem: Problem, folder: Path) -> Found:
        judged, ranked = columns(problem)
        arrange = problem.arrange or (lambda array: array)

        def given(column: Any) -> Any:
            return arrange(np.asarray(column)) if arrays else column

        qrels = Qrels.from_columns(*map(given, judged.values()))
        run = Run.from_columns(*map(given, ranked.values()))
        return per_query(irbatch.evaluate(qrels, run, list(problem.measures)))

    return call


def from_tables(make: Callable[[Columns], Any]) -> Call:
    def call(problem: Problem, folder: Path) -> Found:
        judged, ranked = columns(problem)
        return per_query(irbatch.evaluate(make(judged), make(ranked), list(problem.measures)))

    return call


def from_records(problem: Problem, folder: Path) -> Found:
    def records(side: Columns) -> list[Any]:
        rows = zip(*side.values(), strict=True)
        return [SimpleNamespace(**dict(zip(side, row, strict=True))) for row in rows]

    judged, ranked = columns(problem)
    qrels, run = Qrels.from_records(records(judged)), Run.from_records(records(ranked))
    return per_query(irbatch.evaluate(qrels, run, list(problem.measures)))


def from_mapping(problem: Problem, folder: Path) -> Found:
    judged, ranked = columns(problem)
    qrels, run = Qrels.from_table(judged), Run.from_table(ranked)
    return per_query(irbatch.evaluate(qrels, run, list(problem.measures)))


def from_sparse(problem: Problem, folder: Path) -> Found:
    from scipy import sparse

    def side(triples: Any) -> dict[str, Any]:
        queries = list(dict.fromkeys(q for q, _, _ in triples))
        documents = list(dict.fromkeys(d for _, d, _ in triples))
        places = (
            [queries.index(q) for q, _, _ in triples],
            [documents.index(d) for _, d, _ in triples],
        )
        numbers = np.array([x for _, _, x in triples])
        shape = len(queries), len(documents)
        matrix = sparse.coo_array((numbers, places), shape=shape)
        return {"matrix": matrix, "query_ids": queries, "document_ids": documents}

    qrels, run = Qrels.from_sparse(**side(problem.judged)), Run.from_sparse(**side(problem.ranked))
    return per_query(irbatch.evaluate(qrels, run, list(problem.measures)))


def structured(side: Columns) -> Any:
    parts = {name: np.asarray(column) for name, column in side.items()}
    table = np.empty(len(next(iter(parts.values()))), [(n, p.dtype) for n, p in parts.items()])
    for name, part in parts.items():
        table[name] = part
    return table


def pandas_frame(side: Columns) -> Any:
    import pandas as pd

    return pd.DataFrame(side)


def polars_frame(side: Columns) -> Any:
    import polars as pl

    # Whole numbers among others are no numbers to it.
    mixed = {name for name, cells in side.items() if set(map(type, cells)) == {int, float}}
    return pl.DataFrame(side | {name: np.array(side[name]) for name in mixed})


def lazy_frame(side: Columns) -> Any:
    return polars_frame(side).lazy()


def arrow_table(side: Columns) -> Any:
    import pyarrow as pa

    return pa.table(side)


ROWS = {**IDS, **COLUMNS}
TABLES = {**IDS, **TYPED}
SPARSE = {
    **TABLES,
    "a document twice": "entries that a cell has twice are added, as SciPy does",
    "a judgment twice": "entries that a cell has twice are added, as SciPy does",
    "nulls": "a sparse matrix has numbers only",
    "numbers as text": "a sparse matrix has numbers only",
    "nothing on one side": "a sparse matrix has a column at least",
    "16-bit numbers": "SciPy has no such sparse matrices",
}
NUMPY_TEXT = {
    **ROWS,
    "arrays": "",
    "ids of two kinds": "a column is of one type",
    "ids that are no words": "NumPy's texts end where a NUL does",
    "nulls": "an array of numbers has no nulls",
    "cells of several types": "a column is of one type",
}
ARRAY_COLUMNS = {name: why for name, why in NUMPY_TEXT.items() if name != "arrays"}

ENTRANCES = [
    Entrance("evaluate, dicts", from_dicts, lacks={**IDS, **MAPPING}),
    Entrance("evaluate, Qrels and Run", from_objects, lacks={**IDS, **MAPPING}),
    Entrance("evaluate, prepared Run", from_prepared, lacks={**IDS, **MAPPING}),
    Entrance("evaluate_runs", from_runs, lacks={**IDS, **MAPPING}),
    Entrance("compare", from_comparison, lacks={**IDS, **MAPPING}),
    Entrance(
        "Leaderboard", from_leaderboard, traits=frozenset({"means"}), lacks={**IDS, **MAPPING}
    ),
    Entrance("from_columns, lists", from_columns(arrays=False), "row", lacks=ROWS),
    Entrance("from_columns, arrays", from_columns(arrays=True), "row", lacks=ARRAY_COLUMNS),
    Entrance("from_table, mapping", from_mapping, "row", lacks=ROWS),
    Entrance("from_records", from_records, "row", lacks=ROWS),
    Entrance("from_sparse", from_sparse, lacks=SPARSE, needs=("scipy",)),
    Entrance(
        "evaluate, structured array",
        from_tables(structured),
        "row",
        lacks={**NUMPY_TEXT, **NO_ARRAYS},
    ),
    Entrance("evaluate, pandas", from_tables(pandas_frame), "row", lacks=ROWS, needs=("pandas",)),
    Entrance("evaluate, polars", from_tables(polars_frame), "row", lacks=TABLES, needs=("polars",)),
    Entrance(
        "evaluate, polars lazy", from_tables(lazy_frame), "row", lacks=TABLES, needs=("polars",)
    ),
    Entrance("evaluate, Arrow", from_tables(arrow_table), "row", lacks=TABLES, needs=("pyarrow",)),
]
