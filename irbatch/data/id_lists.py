"""Reading lists of ids, one a query."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data.columns import QueryTable, as_ids
from irbatch.data.ids import IdColumn, kind_of_documents
from irbatch.errors import InputError, kind_of, many, warn
from irbatch.runtime.arrays import is_masked, is_sparse, is_tensor
from irbatch.runtime.numbers import read_numbers
from irbatch.runtime.ragged import offsets_of

Row = list[Any] | npt.NDArray[Any]


def read_id_lists(ranked: Any, relevant: Any, pad: object = None) -> tuple[QueryTable, QueryTable]:
    """Read ranked and relevant documents of the same queries, see `irbatch.evaluate_ids`.

    Returns rankings and judgments, in which those that were only listed have grade 1.
    """
    _check_pair(ranked, relevant)
    run, qrels = _Side(ranked, "run", pad), _Side(relevant, "qrels", pad)
    return run.read_table(), qrels.read_table()


def _check_pair(ranked: Any, relevant: Any) -> None:
    """Reject two sides that are not both mappings, or both sequences of one length."""
    if isinstance(ranked, Mapping) != isinstance(relevant, Mapping):
        raise InputError("rankings and relevant documents are both mappings, or both sequences")
    if isinstance(ranked, Mapping):
        return
    for name, side in (("ranked", ranked), ("relevant", relevant)):
        is_column = getattr(side, "ndim", 2) < (2 if is_tensor(side) else 1)
        no_sequence = isinstance(side, str | AbstractSet) or not hasattr(side, "__len__")
        if no_sequence or is_column or is_sparse(side) or hasattr(side, "columns"):
            kind = kind_of(side)
            raise InputError(f"lists of ids are a sequence, one a query, not {kind}", source=name)
    if len(ranked) != len(relevant):
        others = many(len(relevant), "query")
        problem = f"{many(len(ranked), 'ranking')}, but relevant documents of {others}"
        raise InputError(problem, source="ranked")


class _Side:
    """The lists of one side: ``"run"`` or ``"qrels"``."""

    def __init__(self, lists: Any, source: str, pad: object) -> None:
        self.lists, self.source, self.pad = lists, source, pad
        self.queries = list(lists) if isinstance(lists, Mapping) else list(range(len(lists)))
        self._rows = lists.values() if isinstance(lists, Mapping) else lists

    def read_table(self) -> QueryTable:
        """Read ids that are text or fit int64."""
        places = {query: place for place, query in enumerate(self.queries)}
        if _is_matrix(self.lists):
            documents: IdColumn = self.lists.astype(np.int64, order="C", copy=False).reshape(-1)
            begins = np.arange(len(self.lists)) * self.lists.shape[1]
            ends = begins + self._count_unpadded()
            grades = np.broadcast_to(1.0, len(documents))
        else:
            rows = self._read_rows()
            documents, grades = self._join(rows), self._grades(rows)
            offsets = offsets_of([len(row) for row in rows])
            begins, ends = offsets[:-1], offsets[1:]
        table = QueryTable(places, begins, ends, documents, grades)
        if table.repeated >= 0:
            query, document = table.where(table.repeated)
            problem = f"document {document!r} is listed twice"
            hint = "; if it is padding, say so with pad=" if document == -1 else ""
            raise InputError(problem + hint, source=self.source, query=query, document=document)
        if self.pad is None and isinstance(documents, np.ndarray):
            self._warn_of_padding(documents[ends[ends > begins] - 1])
        return table

    def _read_rows(self) -> list[Row]:
        return [self._read_row(*each) for each in zip(self.queries, self._rows, strict=True)]

    def _read_row(self, query: Any, ids: Any) -> Row:
        """Return a query's ids without the padding at the end."""
        unordered = isinstance(ids, AbstractSet | Mapping)
        problem = None
        if unordered and self.source == "run":
            problem = f"a ranking is a list of ids; {kind_of(ids)} has no order"
        elif isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
            what = "a ranking is" if self.source == "run" else "relevant documents are"
            one = "" if self.source == "run" else "; of one, too: [id]"
            problem = f"{what} a list of ids, not {kind_of(ids)}{one}"
        if problem is not None:
            raise InputError(problem, source=self.source, query=query)
        whole = type(ids) is np.ndarray and ids.ndim == 1 and ids.dtype.kind in "iu"
        if whole and self.pad is None:
            return np.asarray(ids)
        listed = list(ids.tolist() if hasattr(ids, "tolist") else ids)
        if self.pad is None or unordered or self.pad not in listed:
            return listed
        end = listed.index(self.pad)
        if any(each != self.pad for each in listed[end:]):
            self._reject_early_padding(query)
        return listed[:end]

    def _count_unpadded(self) -> Ints:
        """Return how many documents each row of a matrix has before its padding."""
        if self.pad is None:
            return np.full(len(self.lists), self.lists.shape[1], np.int64)
        padding = self.lists == self.pad
        early = (padding[:, :-1] & ~padding[:, 1:]).any(axis=1)
        if early.any():
            self._reject_early_padding(int(np.argmax(early)))
        return (~padding).sum(axis=1, dtype=np.int64)

    def _join(self, rows: list[Row]) -> IdColumn:
        """Put the ids of all rows into one column."""
        try:
            if rows and all(isinstance(row, np.ndarray) for row in rows):
                return as_ids(np.concatenate(rows), "document", self.source)
            return as_ids(list(itertools.chain.from_iterable(rows)), "document", self.source)
        except InputError:
            kind_of_documents(self.queries, [list(row) for row in rows], self.source)
            raise

    def _grades(self, rows: list[Row]) -> Floats:
        """Return the grades of all documents, 1 for those that were only listed."""
        count = sum(map(len, rows))
        if not any(isinstance(each, Mapping) for each in self._rows):
            return np.broadcast_to(1.0, count)
        values: list[Any] = []
        for each, row in zip(self._rows, rows, strict=True):
            values.extend(each.values() if isinstance(each, Mapping) else [1] * len(row))
        pairs = zip(self.queries, rows, strict=True)
        names = ((query, document) for query, row in pairs for document in row)
        return read_numbers("grade", values, names, source=self.source)

    def _warn_of_padding(self, last: Ints) -> None:
        """Warn if -1 is the last id of a row, which may be the only cell of padding."""
        if not (last == -1).any() or any(isinstance(e, AbstractSet | Mapping) for e in self._rows):
            return
        rows = "rankings end" if self.source == "run" else "lists of relevant documents end"
        warn(f"{rows} in -1, which counts as a document; if it is padding, say so with pad=-1")

    def _reject_early_padding(self, query: Any) -> None:
        problem = f"padding {self.pad!r} stands before other documents"
        raise InputError(problem, source=self.source, query=query, value=self.pad)


def _is_matrix(lists: Any) -> bool:
    """Tell whether ids are a matrix that can be taken as it is."""
    plain = isinstance(lists, np.ndarray) and not is_masked(lists)
    return plain and lists.ndim == 2 and lists.dtype.kind in "iu" and lists.dtype != np.uint64
