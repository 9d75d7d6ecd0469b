"""The public verb for embeddings: scores are made in blocks of queries, counted and forgotten."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple, Unpack

import numpy as np

from irbatch.data.ids import check_query_ids, read_query_ids
from irbatch.errors import InputError, many
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.queries import notes_on
from irbatch.evaluation.results import Results
from irbatch.evaluation.scores import BatchOptions, ScoreEvaluator, ScoreOptions, join_batches
from irbatch.runtime.arrays import is_on_accelerator, is_sparse, is_tensor, mask_of, to_numpy, widen
from irbatch.runtime.numbers import check_choice, check_keywords

SIMILARITIES = {
    "dot": "product of embeddings",
    "cosine": "cosine of embeddings",
    "l2": "negative distance of embeddings",
}
DIAGONAL = "positives", "diagonal"  # the option that is of all queries together
NOT_HERE = ("mask", "lengths", "items", "nan")
OPTIONS = [name for name in ScoreOptions.__annotations__ if name not in NOT_HERE]
BLOCK_BYTES = 256 << 20  # of scores at once: half of it takes an eighth longer
BLOCK_BYTES_THERE = 1 << 30  # on an accelerator, where little work costs as much as much
DOCUMENTS = 1 << 16  # at once on the way to scores
HELD_BYTES = 1 << 30  # of documents that were made float32 or scaled: others are, for each block


def evaluate_embeddings(
    queries: Any,
    documents: Any,
    relevance: Any = None,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    *,
    similarity: str = "dot",
    **options: Unpack[ScoreOptions],
) -> Results:
    """Evaluate embeddings: every document is scored for every query, and ranked at full depth.

    The matrix of scores is never held: a block of queries at a time is multiplied with all
    documents, in float32 (float64 embeddings in float64), counted, and forgotten. Tensors on an
    accelerator are multiplied and counted there. The last bits of a product are the linear algebra
    library's, and may depend on the block a query stands in.

    Args:
        queries: ``(queries, dimensions)`` array or tensor.
        documents: ``(documents, dimensions)``; one that is mapped from disk is read piece by
            piece.
        relevance: ``(queries, documents)`` labels, dense or sparse; `positives`, `exclude` and
            `n_relevant` as in `evaluate_scores`, columns being rows of `documents`.
        measures, cutoffs, ties, no_relevant, rel, threads: as in `evaluate_scores`, and so are
            `document_ids` and `query_ids`.
        similarity: ``"dot"``; ``"cosine"``, the product of embeddings scaled to length 1 (those
            of length 0 stay); or ``"l2"``, the nearest by Euclidean distance first: documents are
            ordered by their product with the query less half their squared length.

    Raises:
        InputError: if embeddings are of different dimensions or not finite, and as
            `evaluate_scores`.

    >>> documents = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> evaluate_embeddings([[0.9, 0.1], [0.1, 0.8]], documents, measures="RR", positives=[0, 1])
    Results: 2 queries, 1 measure
      RR  0.7500
    """
    check_keywords(evaluate_embeddings, options, OPTIONS)
    check_choice("similarity", similarity, SIMILARITIES)
    evaluator = ScoreEvaluator(measures, cutoffs, scored_by=SIMILARITIES[similarity], **options)
    pair = _Pair(queries, documents, similarity)
    ids = check_query_ids(read_query_ids(options.get("query_ids")), pair.shape[0], "queries")
    batch: Any = {
        name: value for name, value in options.items() if name in BatchOptions.__annotations__
    }
    batch |= {"relevance": relevance, "query_ids": ids}
    of_all: Any = {}
    if np.ndim(batch.get("document_ids")) != 2:
        of_all["document_ids"] = batch.pop("document_ids", None)
    per_query = {name: _read_rows(rows, name, pair.shape) for name, rows in batch.items()}
    parts = []
    for rows in pair.blocks():
        some: Any = {name: _take(value, rows, pair.shape[0]) for name, value in per_query.items()}
        parts.append(evaluator.rank(pair.scores(rows), **some, **of_all))
    results = evaluator.results(join_batches(parts), ids)
    evaluator.warn_once(notes_on(results))
    return results


class _Pair:
    """Embeddings of queries and documents, and their products."""

    def __init__(self, queries: Any, documents: Any, similarity: str) -> None:
        there = is_on_accelerator(queries) or is_on_accelerator(documents)
        devices = [
            str(side.device) if is_tensor(side) else "main memory" for side in (queries, documents)
        ]
        if there and devices[0] != devices[1]:
            problem = f"queries are in {devices[0]}, documents in {devices[1]}, not on one device"
            raise InputError(problem, source="queries")
        self._there, self._similarity = there, similarity
        self._xp: Any = sys.modules["torch"] if there else np
        self._held: dict[int, _Part] = {}  # documents as they are multiplied, by where they begin
        self._left = HELD_BYTES
        self._queries = _read_embeddings(queries, "queries", there)
        self._documents = _read_embeddings(documents, "documents", there)
        shapes = tuple(self._queries.shape), tuple(self._documents.shape)
        self.shape = shapes[0][0], shapes[1][0]
        if shapes[0][1] != shapes[1][1]:
            problem = "queries of shape {} and documents of shape {} differ in dimensions"
            raise InputError(problem.format(*shapes), source="queries")
        block = BLOCK_BYTES_THERE if there else BLOCK_BYTES
        self._at_once = max(block // (4 * max(self.shape[1], 1)), 1)
        # Where a block's scores are written, block after block.
        wide = max(self._queries.dtype.itemsize, self._documents.dtype.itemsize) >= 8
        kind = self._xp.float64 if wide else self._xp.float32
        space = min(self._at_once, self.shape[0]), self.shape[1]
        empty = self._queries.new_empty if there else np.empty
        self._scores = empty(space, dtype=kind)

    def blocks(self) -> list[slice]:
        """Divide the queries so that a block's scores are of bounded size."""
        starts = range(0, self.shape[0], self._at_once)
        return [slice(start, min(start + self._at_once, self.shape[0])) for start in starts]

    def scores(self, rows: slice) -> Any:
        """Return the scores of some queries: ``(rows, documents)``, until others are asked for."""
        left = self._part("queries", rows.start, rows.stop)
        scores = self._scores[: len(left.values)]
        kind, most = scores.dtype, float(self._xp.finfo(scores.dtype).max)
        for start in range(0, self.shape[1], DOCUMENTS):
            right = self._documents_from(start)
            out = scores[:, start : start + DOCUMENTS]
            with np.errstate(over="ignore", invalid="ignore"):
                rows_of, columns_of = (
                    self._xp.asarray(side.values, dtype=kind) for side in (left, right)
                )
                self._xp.matmul(rows_of, columns_of.T, out=out)
            # The sum of products of components, rounded at each step.
            bound = 1.01 * left.peak * right.peak * left.values.shape[1]
            if bound > most and not math.isfinite(_peak(out)):
                name = str(kind).removeprefix("torch.")
                raise InputError(f"products of embeddings overflow {name}", source="queries")
        return scores

    def _documents_from(self, start: int) -> _Part:
        """Return a part of the documents as they are multiplied; what fits in memory is kept."""
        part = self._held.get(start)
        if part is None:
            part = self._part("documents", start, start + DOCUMENTS)
            self._left -= part.copied
            if self._left >= 0 or not part.copied:
                self._held[start] = part
        return part

    def _part(self, source: str, start: int, stop: int) -> _Part:
        """Return rows as they are multiplied: finite, float32 or float64, as `_similarity` is."""
        rows = (self._queries if source == "queries" else self._documents)[start:stop]
        kind = self._xp.float64 if rows.dtype.itemsize >= 8 else self._xp.float32
        part = rows.to(kind) if self._there else np.ascontiguousarray(widen(rows), kind)
        peak = _peak(part)
        if not math.isfinite(peak):
            values = to_numpy(part, source)
            row = int(np.argmin(np.isfinite(values).all(1)))
            value = float(values[row][~np.isfinite(values[row])][0])
            problem = f"the embedding in row {start + row} has a component that is {value}"
            raise InputError(problem, source=source, value=value)
        if self._similarity == "cosine":
            part, peak = _scaled(self._xp, part), 1.0
        elif self._similarity == "l2":
            part = _with_halves(self._xp, part, of_documents=source == "documents")
            peak = _peak(part)
        return _Part(part, peak, 0 if part is rows else part.nbytes)


class _Part(NamedTuple):
    """Some rows of embeddings, as they are multiplied."""

    values: Any
    peak: float  # the largest of their components, without its sign
    copied: int  # bytes; 0 if they are still those that were given


def _read_embeddings(embeddings: Any, source: str, there: bool) -> Any:
    if mask_of(embeddings) is not None:
        problem = "embeddings are whole: none of their components is masked"
        raise InputError(problem, source=source)
    values: Any = embeddings.detach() if there else to_numpy(embeddings, source)
    kind = "f" if there else values.dtype.kind
    if len(values.shape) != 2 or kind not in "biuf":
        kind = f"{values.dtype} of shape {tuple(values.shape)}"
        problem = f"embeddings are numbers, rows by dimensions, not {kind}"
        raise InputError(problem, source=source)
    return values


def _peak(values: Any) -> float:
    """Return the largest of some values, without its sign; NaN if one is."""
    return max(-float(values.min()), float(values.max())) if 0 not in values.shape else 0.0


# Of arrays as of tensors; `xp` is the module that they are of.


def _scaled(xp: Any, part: Any) -> Any:
    """Scale rows to length 1; those of length 0 stay."""
    if not part.shape[1]:
        return part
    limits = xp.finfo(part.dtype)
    with np.errstate(over="ignore", under="ignore"):
        lengths = xp.linalg.norm(part, axis=1, keepdims=True)
        odd = ~((lengths > limits.tiny**0.5) & (lengths < limits.max**0.5))
        if odd.any():  # squares left the range of floats
            peaks = xp.where(odd, xp.amax(abs(part), axis=1, keepdims=True), 1)
            part = part / xp.where(peaks == 0, 1, peaks)
            lengths = xp.linalg.norm(part, axis=1, keepdims=True)
    return part / xp.where(lengths == 0, 1, lengths)


def _with_halves(xp: Any, part: Any, *, of_documents: bool) -> Any:
    """Add a column, whose product is minus half the squared length of documents."""
    wide = xp.asarray(part, dtype=xp.float64)
    squares = xp.einsum("ij,ij->i", wide, wide)
    with np.errstate(over="ignore"):
        halves = xp.asarray(-0.5 * squares, dtype=part.dtype)
    column = halves if of_documents else xp.ones_like(halves)
    return xp.concatenate([part, column[:, None]], axis=1)


def _read_rows(of_queries: Any, name: str, shape: tuple[int, int]) -> Any:
    """Return what has a row for each query, checked, in a form that rows can be taken from."""
    if of_queries is None or isinstance(of_queries, str):
        return np.arange(shape[0]) if (name, of_queries) == DIAGONAL else of_queries
    own = getattr(of_queries, "shape", None)
    if own is None:
        own = (len(of_queries),) if hasattr(of_queries, "__len__") else ()
    if tuple(own[:1]) != shape[:1]:
        expected = f"{many(shape[0], 'query')} and {many(shape[1], 'document')}"
        raise InputError(f"shape {tuple(own)} for {expected}", source=name)
    if not is_sparse(of_queries):
        return of_queries
    return of_queries.to_sparse_coo() if is_tensor(of_queries) else of_queries.tocsr()


def _take(of_queries: Any, rows: slice, n_queries: int) -> Any:
    """Return what is said of some queries."""
    is_for_all = of_queries is None or isinstance(of_queries, str)
    if is_for_all or (rows.start == 0 and rows.stop == n_queries):
        return of_queries
    if is_sparse(of_queries) and is_tensor(of_queries):
        places = sys.modules["torch"].arange(rows.start, rows.stop, device=of_queries.device)
        return of_queries.index_select(0, places)
    return of_queries[rows]
