"""Judgments and rankings as TREC's text files."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from irbatch.data.rows import Rows
from irbatch.errors import InputError
from irbatch.runtime.files import replacing
from irbatch.runtime.numbers import LARGEST_WHOLE

__all__ = ["write_qrels", "write_run"]

# What separates columns and lines, what is no text, and what UTF-8 has no bytes for.
UNFIT = re.compile("[ \t\n\r\0\ud800-\udfff]")
COMMENT = "#"  # as the first word of a line
BOM = "\ufeff"  # readers drop it where a file begins


def write_run(path: str | os.PathLike[str], parts: Iterable[Rows], tag: str) -> None:
    """Write ranked rows, see `irbatch.Run.to_trec`."""
    if not tag or UNFIT.search(tag):
        raise InputError(
            f"{tag!r} cannot be a run's tag, which is one word; give another: tag=", source="run"
        )
    with replacing(path, pack=True) as file:
        for rows in parts:
            ranks = [f" {rank} " for rank in range(1, int(rows.sizes.max()) + 1)]
            between = itertools.chain.from_iterable(ranks[:size] for size in rows.sizes.tolist())
            file.write(_lines(rows, " Q0 ", between, f" {tag}\n", "run"))


def write_qrels(path: str | os.PathLike[str], parts: Iterable[Rows]) -> None:
    """Write rows, see `irbatch.Qrels.to_trec`."""
    with replacing(path, pack=True) as file:
        for rows in parts:
            file.write(_lines(rows, " 0 ", itertools.repeat(" "), "\n", "qrels"))


def _lines(rows: Rows, middle: str, between: Iterable[str], end: str, source: str) -> bytes:
    """Return the lines of some rows.

    Args:
        rows: the rows.
        middle: what stands between query and document.
        between: for each row, what stands between document and value.
        end: what stands after the value.
        source: ``"qrels"`` or ``"run"``, for errors.
    """
    queries, documents = _texts(rows.queries), _texts(rows.documents)
    _check(rows, queries, documents, source)
    starts = [query + middle for query in queries]
    columns = zip(
        itertools.chain.from_iterable(map(itertools.repeat, starts, rows.sizes.tolist())),
        documents,
        between,
        _numbers(rows.values),
        itertools.repeat(end),
        strict=False,
    )
    return "".join(itertools.chain.from_iterable(columns)).encode()


def _texts(ids: list[Any]) -> Sequence[str]:
    return ids if isinstance(ids[0], str) else [str(int(each)) for each in ids]


def _numbers(values: Any) -> list[str]:
    """Write numbers in the fewest digits that are read as the same bits."""
    texts = list(map(repr, values.tolist()))
    whole = (values == np.rint(values)) & (np.abs(values) <= LARGEST_WHOLE)
    for i in np.flatnonzero(whole).tolist():
        texts[i] = texts[i][:-2]  # without .0
    return texts


def _check(rows: Rows, queries: Sequence[str], documents: Sequence[str], source: str) -> None:
    """Refuse ids that would be read as something else."""
    for query in queries:
        if query == COMMENT:
            raise InputError(f"a line that begins with {query!r} is a comment", source=source,
                             query=query)  # fmt: skip
        if not query or UNFIT.search(query) or query.startswith(BOM):
            raise InputError("this query id cannot stand in a TREC file", source=source,
                             query=query)  # fmt: skip
    if not UNFIT.search("".join(documents)) and "" not in documents:
        return
    for row, document in zip(rows.row_index.tolist(), documents, strict=True):
        if not document or UNFIT.search(document):
            raise InputError("this document id cannot stand in a TREC file", source=source,
                             query=rows.queries[row], document=document)  # fmt: skip
