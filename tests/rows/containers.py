"""How a problem is written down: dictionaries, columns, tables, padded matrices, files."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rows.problem import Problem, Triple, demands

Columns = dict[str, Any]
RUN_NAMES = ("query_id", "doc_id", "score")
NO_ROWS = [np.array([], "U1"), np.array([], "U1"), np.array([], float)]
QRELS_NAMES = ("query_id", "doc_id", "relevance")


def by_query(triples: Iterable[Triple], empty: Iterable[Any] = ()) -> dict[Any, dict[Any, Any]]:
    """Write triples as query to document to number."""
    found: dict[Any, dict[Any, Any]] = {query: {} for query in empty}
    for query, document, number in triples:
        found.setdefault(query, {})[document] = number
    return found


def dicts(problem: Problem) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return (
        by_query(problem.judged, problem.judged_empty),
        by_query(problem.ranked, problem.ranked_empty),
    )


def column(cells: list[Any]) -> Any:
    """Write cells as an array where all are NumPy's numbers of one type, else as a list."""
    kinds = {type(cell) for cell in cells}
    return np.array(cells) if len(kinds) == 1 and issubclass(*kinds, np.generic) else cells


def columns(problem: Problem) -> tuple[Columns, Columns]:
    """Write both sides as named columns."""
    sides = []
    for names, triples in ((QRELS_NAMES, problem.judged), (RUN_NAMES, problem.ranked)):
        cells = [column(list(each)) for each in zip(*triples, strict=True)] or NO_ROWS
        sides.append(dict(zip(names, cells, strict=True)))
    return sides[0], sides[1]


def padded(rows: list[list[Any]], filler: Any) -> tuple[Any, list[int] | None]:
    """Write rows as one array, and tell how long they are if not all are equally long."""
    lengths = [len(row) for row in rows]
    longest = max(lengths, default=0)
    cells = [[*row, *[filler] * (longest - len(row))] for row in rows]
    flat = column([cell for row in cells for cell in row])
    array = flat.reshape(len(rows), longest) if isinstance(flat, np.ndarray) else np.array(cells)
    return array, None if set(lengths) == {longest} else lengths


class Matrices:
    """Scores, labels and the like of the queries of the judgments, row by row.

    Documents stand as they do in the problem, or, of what is `in_order`, best first.
    """

    def __init__(self, problem: Problem, *, in_order: bool = False) -> None:
        self.queries = problem.queries()
        rankings = {query: problem.ranking(query) for query in self.queries}
        if in_order:
            scores = {q: dict(each) for q, each in rankings.items()}
            rankings = {q: [(d, scores[q][d]) for d in problem.ordered(q)] for q in self.queries}
        self.documents = [[d for d, _ in rankings[q]] for q in self.queries]
        self.score_rows = [[score for _, score in rankings[q]] for q in self.queries]
        grades = [problem.grades(query) for query in self.queries]
        self.judged = [list(each.values()) for each in grades]
        self.label_rows = [
            [each.get(d, 0) for d in row] for each, row in zip(grades, self.documents, strict=True)
        ]
        self.positives = [
            {place: grade for place, grade in enumerate(row) if grade} for row in self.label_rows
        ]
        self.relevant = [sum(1 for grade in each.values() if grade) for each in grades]
        self.some_unranked = "judged documents that are not ranked" in demands(problem)
        self.arrange: Callable[[Any], Any] = problem.arrange or (lambda array: array)

    def scores(self) -> tuple[Any, list[int] | None]:
        array, lengths = padded(self.score_rows, 0.0)
        return self.arrange(array), lengths

    def labels(self) -> Any:
        return self.arrange(padded(self.label_rows, 0)[0])

    def ids(self) -> Any:
        longest = max(map(len, self.documents))
        return [[*row, *(f"none{i}" for i in range(longest - len(row)))] for row in self.documents]


def number_text(number: Any) -> str:
    """Write a number as files have it, with every digit."""
    return number if isinstance(number, str) else repr(getattr(number, "item", lambda: number)())


def trec_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides in TREC's forms, or take them as they are given."""
    judged = "".join(f"{q} 0 {d} {number_text(x)}\n" for q, d, x in problem.judged)
    ranked = "".join(
        f"{q} Q0 {d} {rank} {number_text(x)} tag\n" for q, d, x, rank in _ranked(problem)
    )
    return (
        judged.encode() if problem.qrels_file is None else problem.qrels_file,
        ranked.encode() if problem.run_file is None else problem.run_file,
    )


def _ranked(problem: Problem) -> list[tuple[Any, Any, Any, int]]:
    """Add to each triple of the run its rank by score, as far as scores say one."""

    def known(score: Any) -> float:
        try:
            number = float(score)
        except (TypeError, ValueError, OverflowError):
            return 0.0
        return 0.0 if math.isnan(number) else number

    ranked = []
    for query, document, score in problem.ranked:
        better = [s for _, s in problem.ranking(query) if known(s) > known(score)]
        ranked.append((query, document, score, 1 + len(better)))
    return ranked


def tsv_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides as BEIR does: tabs between columns, and a header that names them."""
    return tuple(  # type: ignore[return-value]
        (
            "query-id\tcorpus-id\tscore\n"
            + "".join(f"{q}\t{d}\t{number_text(x)}\n" for q, d, x in triples)
        ).encode(errors="surrogatepass")
        for triples in (problem.judged, problem.ranked)
    )


def json_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides as JSON objects, one a line."""
    return tuple(  # type: ignore[return-value]
        b"".join(
            json.dumps({"query-id": q, "corpus-id": d, "score": x}, default=_plain).encode() + b"\n"
            for q, d, x in triples
        )
        for triples in (problem.judged, problem.ranked)
    )


def _plain(number: Any) -> Any:
    return number.item()


def parquet_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides as Parquet, of pyarrow."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    files = []
    for side in columns(problem):
        stream = io.BytesIO()
        pq.write_table(pa.table(side), stream)
        files.append(stream.getvalue())
    return files[0], files[1]


def written(
    folder: Path,
    files: tuple[bytes, bytes],
    pack: Callable[[bytes], bytes] = bytes,
    ending: str = "",
) -> tuple[str, str]:
    """Write files of judgments and run, and return their paths."""
    paths = folder / f"judged{ending}", folder / f"ranked{ending}"
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(pack(data))
    return str(paths[0]), str(paths[1])


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)
