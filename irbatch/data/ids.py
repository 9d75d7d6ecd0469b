"""What may be an id: text or whole numbers, one kind on both sides of a join."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from irbatch.errors import InputError

__all__ = ["check_id", "id_kind", "kind_of_documents", "kinds_of", "same_kind"]


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
    """Refuse what cannot be an id.

    Args:
        value: the id.
        what: ``"query"`` or ``"document"``.
        source: ``"qrels"`` or ``"run"``.
        query: the query, when the id is a document's.

    Raises:
        InputError: when it is neither text nor a whole number.
    """
    if id_kind(type(value)) is None:
        hint = "; decode it first: .decode()" if isinstance(value, bytes) else ""
        raise InputError(
            f"{what} id {value!r} is a {type(value).__name__}; ids are text or whole numbers{hint}",
            source=source,
            query=query,
            value=value,
        )


def same_kind(ids: Iterable[object], what: str, source: str, query: object = None) -> str | None:
    """Return the one kind that all ids are of; None when there are none.

    Raises:
        InputError: for an id of no kind, or when both kinds occur.
    """
    ids = ids if isinstance(ids, list) else list(ids)
    kinds = kinds_of(ids)
    if None in kinds:
        for value in ids:
            check_id(value, what, source, query)
    if len(kinds) > 1:
        samples = {id_kind(type(value)): value for value in ids}
        raise InputError(
            f"{what} ids are of two kinds, text such as {samples['str']!r} and numbers such as "
            f"{samples['int']!r}",
            source=source,
            query=query,
        )
    return next(iter(kinds), None)


def kind_of_documents(queries: list[Any], documents: Sequence[Collection[Any]]) -> str | None:
    """Return the one kind of id that all judged documents have."""
    kinds = kinds_of(itertools.chain.from_iterable(documents))
    if len(kinds) == 1 and None not in kinds:
        return next(iter(kinds))
    samples: dict[str | None, Any] = {}
    for query, each in zip(queries, documents, strict=True):
        samples.setdefault(same_kind(each, "document", "qrels", query), query)
    samples.pop(None, None)
    if len(samples) > 1:
        raise InputError(
            f"document ids are text in query {samples['str']!r} and numbers in query "
            f"{samples['int']!r}",
            source="qrels",
        )
    return None
