"""Ids: their kinds, columns of many of them, and hashes that are the same everywhere."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from irbatch.array_types import Bytes, Ints, NDArray
from irbatch.errors import InputError, kind_of, shown
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.kernels import as_input, kernel
from irbatch.runtime.ragged import offsets_of

REPEATS = ("error", "first", "max", "sum")
"""What may become of a document that is judged repeatedly for a query."""

KINDS = {"str": "text", "int": "whole numbers"}
"""What messages call the kinds of ids."""


def id_kind(kind: type) -> str | None:
    """Name a type's kind of id, ``"str"`` or ``"int"``; None for what cannot be an id."""
    if issubclass(kind, str):
        return "str"
    if issubclass(kind, int | np.integer) and not issubclass(kind, bool):
        return "int"
    return None


def kinds_of(ids: Iterable[object]) -> set[str | None]:
    """Collect the kinds of some ids."""
    return {id_kind(kind) for kind in set(map(type, ids))}


def id_problem(value: object, what: str) -> str:
    """Say why a value cannot be the id of a query or a document."""
    hint = "; decode it first: .decode()" if isinstance(value, bytes) else ""
    return f"{what} id {shown(value)} is {kind_of(value)}; ids are text or whole numbers{hint}"


def check_id(value: object, what: str, source: str, query: object = None) -> None:
    """Reject an id of a query or a document that is neither text nor a whole number."""
    if id_kind(type(value)) is None:
        raise InputError(id_problem(value, what), source=source, query=query, value=value)


def form_hint(ids: Iterable[object]) -> str:
    """Return what to say of ids that nothing matches, where texts may differ and look alike."""
    is_plain = all(not isinstance(item, str) or item.isascii() for item in ids)
    return "" if is_plain else "; are both in one Unicode form, NFC or NFD? Such texts look alike"


def same_kind(ids: Iterable[object], what: str, source: str, query: object = None) -> str | None:
    """Return the one kind that all ids are of; None of no ids; reject those of two kinds."""
    ids = ids if isinstance(ids, list) else list(ids)
    kinds = kinds_of(ids)
    if None in kinds:
        for value in ids:
            check_id(value, what, source, query)
    if len(kinds) > 1:
        samples = {id_kind(type(value)): value for value in ids}
        text, number = samples["str"], samples["int"]
        problem = f"of two kinds, text such as {text!r} and whole numbers such as {number!r}"
        raise InputError(f"{what} ids are {problem}", source=source, query=query)
    return next(iter(kinds), None)


def kind_of_documents(
    queries: list[Any], documents: Sequence[Collection[Any]], source: str
) -> str | None:
    """Return the one kind of id that all documents of all queries have; None of no documents."""
    kinds = kinds_of(itertools.chain.from_iterable(documents))
    if len(kinds) == 1 and None not in kinds:
        return next(iter(kinds))
    samples: dict[str | None, Any] = {}
    for query, own_documents in zip(queries, documents, strict=True):
        samples.setdefault(same_kind(own_documents, "document", source, query), query)
    samples.pop(None, None)
    if len(samples) > 1:
        text, number = samples["str"], samples["int"]
        problem = f"document ids are text in query {text!r} and whole numbers in query {number!r}"
        raise InputError(problem, source=source)
    return None


def read_query_ids(query_ids: Any) -> list[Any] | None:
    """Return the ids given to queries, of one kind, as a list; None if none are given."""
    if query_ids is None:
        return None
    if isinstance(query_ids, str | AbstractSet | Mapping) or not isinstance(query_ids, Iterable):
        raise InputError(f"ids are a sequence, not {kind_of(query_ids)}", source="query_ids")
    if hasattr(query_ids, "tolist"):
        query_ids = to_numpy(query_ids, "query_ids").tolist()
    ids = list(query_ids)
    same_kind(ids, "query", "query_ids")
    return ids


def read_candidate_ids(document_ids: Any, shape: tuple[int, int]) -> list[list[Any]]:
    """Return the ids of candidates, different ones: one list for all queries, or one for each."""
    ids_shape = np.shape(document_ids)
    if ids_shape not in (shape, shape[1:]):
        problem = f"{shape[1]} candidates need as many ids, not an array of shape {ids_shape}"
        raise InputError(problem, source="document_ids")
    rows = []
    for row in document_ids if len(ids_shape) == 2 else [document_ids]:
        ids = row.tolist() if hasattr(row, "tolist") else list(row)
        same_kind(ids, "document", "document_ids")
        if (twice := first_repeated(ids)) is not None:
            raise InputError(f"id {twice!r} comes twice", source="document_ids", value=twice)
        rows.append(ids)
    return rows


def check_query_ids(ids: Sequence[Any] | None, n: int, source: str) -> Sequence[Any]:
    """Return the ids of `n` queries, at least one: those given, all different, or positions."""
    if not n:
        raise InputError("there are no queries", source=source)
    if ids is None:
        return range(n)
    if len(ids) != n or len(set(ids)) != n:
        problem = f"{n} queries need {n} different ids, not {len(set(ids))}"
        raise InputError(problem, source="query_ids")
    return ids


def first_repeated(ids: Sequence[Any]) -> Any:
    """Return the first id that comes more than once; None if each comes once."""
    if len(set(ids)) == len(ids):
        return None
    return next(item for item, count in Counter(ids).items() if count > 1)


IdHashes = NDArray[np.uint64]
NO_HASHES: IdHashes = np.empty(0, np.uint64)


def hash_ids(ids: Iterable[Any]) -> IdHashes:
    """Hash ids to 64 bits: uint64 ``(ids,)``. Texts and whole numbers are never the same.

    Of 10 million ids two have the same hash with a probability of 3 in a million.

    >>> hash_ids(["7", 7]).tolist()
    [9407870976149377255, 936781076493812202]
    """
    from hashlib import blake2b

    def digest(item: Any) -> bytes:
        if isinstance(item, str):
            return blake2b(item.encode(errors="surrogatepass"), digest_size=8).digest()
        return blake2b(b"%d" % item, digest_size=8, person=b"number").digest()

    return np.frombuffer(b"".join(map(digest, ids)), "<u8").astype(np.uint64)


MANY = 64  # texts that are sooner made together
NEWLINE = ord("\n")

Lengths = NDArray[np.int32]


class TextColumn:
    """A column of texts: int64 `starts` and int32 `lengths` ``(n,)`` of slices of uint8 `text`."""

    def __init__(self, text: Bytes, starts: Ints, lengths: Lengths) -> None:
        # UTF-8, in which surrogates may stand alone as they may in Python.
        self.text: Bytes = as_input(text)
        self.starts: Ints = as_input(starts)
        self.lengths: Lengths = as_input(lengths)

    def __len__(self) -> int:
        return self.starts.size

    @classmethod
    def encode(cls, texts: Sequence[str]) -> TextColumn:
        """Make a column of Python's texts, in UTF-8."""
        joined = "".join(texts)
        encoded = joined.encode(errors="surrogatepass")
        parts: Sequence[str | bytes] = texts
        if len(encoded) > len(joined):  # else all are ASCII: a character is a byte
            parts = [text.encode(errors="surrogatepass") for text in texts]
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        return cls(np.frombuffer(encoded, np.uint8), offsets_of(sizes)[:-1], sizes.astype(np.int32))

    @classmethod
    def join(cls, parts: Sequence[TextColumn]) -> TextColumn:
        """Put columns one after the other."""
        offsets = offsets_of(np.array([column.text.size for column in parts], np.int64)).tolist()
        starts = [column.starts + at for column, at in zip(parts, offsets, strict=False)]
        text = np.concatenate([column.text for column in parts])
        lengths = np.concatenate([column.lengths for column in parts])
        return cls(text, np.concatenate(starts), lengths)

    def copy(self) -> TextColumn:
        """Return the same texts over bytes of their own, one after the other."""
        bounds = offsets_of(self.lengths)
        text = np.empty(bounds[-1], np.uint8)
        _write.run(text.size + len(self), self.text, self.starts, self.lengths, False, text)
        return TextColumn(text, bounds[:-1], self.lengths.copy())

    def take(self, rows: NDArray[np.integer] | slice) -> TextColumn:
        """Return some of them, over the same bytes."""
        return TextColumn(self.text, self.starts[rows], self.lengths[rows])

    def tolist(self) -> list[str]:
        """Make Python's texts of them."""
        if len(self) >= MANY and (texts := self._split()) is not None:
            return texts
        text, ends = self.text.data, self.starts + self.lengths
        pairs = zip(self.starts.tolist(), ends.tolist(), strict=True)
        return [str(text[start:end], "utf-8", "surrogatepass") for start, end in pairs]

    def _split(self) -> list[str] | None:
        """Make texts by splitting lines, in a fifth of the time; None if one has line ends."""
        size = int(self.lengths.sum()) + len(self)
        lines = np.empty(size, np.uint8)
        work = size // 4  # a cell's time in plain Python makes some bytes of texts, one by one
        if _write.run_compiled(work, self.text, self.starts, self.lengths, True, lines) != size:
            return None
        texts = lines.tobytes().decode("utf-8", "surrogatepass").split("\n")
        texts.pop()  # what follows the last line
        return texts if len(texts) == len(self) else None


@kernel
def _write(text: Bytes, starts: Ints, lengths: Lengths, as_lines: bool, copies: Bytes) -> int:
    """Write texts one after the other, perhaps each with a line end; return how many bytes."""
    filled = 0
    for row in range(starts.size):
        for i in range(starts[row], starts[row] + lengths[row]):
            copies[filled] = text[i]
            filled += 1
        if as_lines:
            copies[filled] = NEWLINE
            filled += 1
    return filled


NO_TEXTS = TextColumn(np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int32))

IdColumn = TextColumn | Ints  # ids of queries or of documents
Column = TextColumn | NDArray[Any]  # of a table


def column_kind(ids: IdColumn) -> str:
    """Return what ids are, ``"str"`` or ``"int"``."""
    return "str" if isinstance(ids, TextColumn) else "int"


def item_of(ids: IdColumn, row: int) -> Any:
    """Return one of some ids."""
    return ids.take(np.array([row])).tolist()[0]


def check_alike(what: str, ids: IdColumn, others: IdColumn, whose: str, **fields: Any) -> None:
    """Reject ids of another kind than `others`; none are of any kind."""
    if len(ids) and len(others) and column_kind(ids) != column_kind(others):
        one, other = (
            f"{KINDS[column_kind(column)]}, such as {item_of(column, 0)!r}"
            for column in (ids, others)
        )
        raise InputError(f"{what} ids are {one}, and those {whose} {other}", **fields)


def join_ids(parts: Sequence[IdColumn]) -> IdColumn:
    """Put ids of one kind one after the other."""
    if len(parts) == 1:
        return parts[0]
    texts = [part for part in parts if isinstance(part, TextColumn)]
    numbers = [part for part in parts if not isinstance(part, TextColumn)]
    return TextColumn.join(texts) if texts else np.concatenate(numbers)
