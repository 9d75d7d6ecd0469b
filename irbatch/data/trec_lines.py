"""Judgments and rankings as the lines of TREC's text files."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.exports import Chunk
from irbatch.errors import InputError
from irbatch.runtime.numbers import LARGEST_WHOLE

# What separates columns and lines, what no text has, and what UTF-8 has no bytes for.
UNFIT = re.compile("[ \t\n\r\0\ud800-\udfff]")
COMMENT = "#"  # as the first word of a line
BOM = "\ufeff"  # readers drop it where a file begins


def run_lines(chunks: Iterable[Chunk], tag: str) -> Iterator[bytes]:
    """Return the lines of each chunk of rankings, see `irbatch.Run.to_trec`."""
    if not tag or UNFIT.search(tag):
        problem = f"{tag!r} cannot be a run's tag, which is one word; give another: tag="
        raise InputError(problem, source="run")
    return (_lines(chunk, " Q0 ", _ranks(chunk), f" {tag}\n", "run") for chunk in chunks)


def qrels_lines(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """Return the lines of each chunk of judgments, see `irbatch.Qrels.to_trec`."""
    return (_lines(chunk, " 0 ", itertools.repeat(" "), "\n", "qrels") for chunk in chunks)


def _ranks(chunk: Chunk) -> Iterator[str]:
    texts = [f" {rank} " for rank in range(1, int(chunk.sizes.max()) + 1)]
    return itertools.chain.from_iterable(texts[:size] for size in chunk.sizes.tolist())


def _lines(chunk: Chunk, middle: str, between: Iterable[str], end: str, source: str) -> bytes:
    """Return the lines of a chunk: `middle` before a document, `between` before its value."""
    queries, documents = _as_texts(chunk.queries), _as_texts(chunk.documents)
    _check_ids(chunk, queries, documents, source)
    starts = [query + middle for query in queries]
    columns = zip(
        itertools.chain.from_iterable(map(itertools.repeat, starts, chunk.sizes.tolist())),
        documents,
        between,
        _shortest_texts(chunk.values),
        itertools.repeat(end),
        strict=False,
    )
    return "".join(itertools.chain.from_iterable(columns)).encode()


def _as_texts(ids: list[Any]) -> Sequence[str]:
    return ids if isinstance(ids[0], str) else [str(int(each)) for each in ids]


def _shortest_texts(values: Floats) -> list[str]:
    """Write numbers in the fewest digits that are read as the same bits."""
    texts = list(map(repr, values.tolist()))
    whole = (values == np.rint(values)) & (np.abs(values) <= LARGEST_WHOLE)
    for i in np.flatnonzero(whole).tolist():
        texts[i] = texts[i][:-2]  # without .0
    return texts


def _check_ids(chunk: Chunk, queries: Sequence[str], documents: Sequence[str], source: str) -> None:
    """Refuse ids that would be read as something else."""
    refuse = functools.partial(InputError, source=source)
    for query in queries:
        if query == COMMENT:
            raise refuse(f"a line that begins with {query!r} is a comment", query=query)
        if not query or UNFIT.search(query) or query.startswith(BOM):
            raise refuse("this query id cannot stand in a TREC file", query=query)
    if not UNFIT.search("".join(documents)) and "" not in documents:
        return
    for row, document in zip(chunk.row_index.tolist(), documents, strict=True):
        if not document or UNFIT.search(document):
            names = {"query": chunk.queries[row], "document": document}
            raise refuse("this document id cannot stand in a TREC file", **names)
