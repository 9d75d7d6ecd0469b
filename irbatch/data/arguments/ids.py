"""Reading ids: text or whole numbers, one kind on both sides of a join."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from irbatch.errors import InputError, kind_of, shown
from irbatch.runtime.arrays import to_numpy

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


def check_id(value: object, what: str, source: str, query: object = None) -> None:
    """Refuse an id of a query or a document that is neither text nor a whole number."""
    if id_kind(type(value)) is None:
        hint = "; decode it first: .decode()" if isinstance(value, bytes) else ""
        kind = kind_of(value)
        problem = f"{what} id {shown(value)} is {kind}; ids are text or whole numbers{hint}"
        raise InputError(problem, source=source, query=query, value=value)


def same_kind(ids: Iterable[object], what: str, source: str, query: object = None) -> str | None:
    """Return the one kind that all ids are of; None of no ids; refuse those of two kinds."""
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
    for query, each in zip(queries, documents, strict=True):
        samples.setdefault(same_kind(each, "document", source, query), query)
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
    given = np.shape(document_ids)
    if given not in (shape, shape[1:]):
        problem = f"{shape[1]} candidates need as many ids, not an array of shape {given}"
        raise InputError(problem, source="document_ids")
    rows = []
    for row in document_ids if len(given) == 2 else [document_ids]:
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
    """Return the first id that comes a second time; None if each comes once."""
    if len(set(ids)) == len(ids):
        return None
    seen: set[Any] = set()
    for each in ids:
        if each in seen:
            return each
        seen.add(each)
    return None
