"""What queries and documents say, put into an explanation."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from irbatch.comparing.explaining.nouns import QueryExplanation
from irbatch.errors import InputError, kind_of, shown, warn
from irbatch.formats.texts import join_text, read_texts, shorten_text

Texts = Mapping[Any, str | Mapping[str, Any]] | str | os.PathLike[str]
"""Text by id, BEIR's ``{"title": …, "text": …}`` by id, or the path of a file of texts."""


def add_texts(
    queries: Sequence[QueryExplanation], topics: Texts | None, documents: Texts | None
) -> tuple[QueryExplanation, ...]:
    """Return queries with the texts that are known of them and of their documents.

    Raises:
        InputError: naming the line of a file, or the id, of what is no text.
    """
    of_queries = _look_up("topics", topics, dict.fromkeys(each.query for each in queries))
    mentioned = dict.fromkeys(
        named.document for each in queries for part in (each.documents, *each.rankings)
        for named in part
    )  # fmt: skip
    of_documents = _look_up("documents", documents, mentioned)

    def tell(some: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(each._replace(text=of_documents.get(each.document)) for each in some)

    return tuple(
        each._replace(
            text=of_queries.get(each.query),
            documents=tell(each.documents),
            rankings=(tell(each.rankings[0]), tell(each.rankings[1])),
        )
        for each in queries
    )


def _look_up(source: str, texts: Texts | None, wanted: Collection[Any]) -> dict[Any, str]:
    """Return the texts of some ids, those that there are."""
    if texts is None:
        return {}
    if isinstance(texts, str | os.PathLike):
        names = {str(each): each for each in wanted}
        read = read_texts(texts, names.keys(), source)
        found = {names[name]: text for name, text in read.items()}
    elif isinstance(texts, Mapping):
        found = {each: _text(source, each, texts[each]) for each in wanted if each in texts}
    else:
        kind = kind_of(texts)
        raise InputError(f"{source} are a mapping of ids to texts, or a file, not {kind}")
    if wanted and not found:
        some = shown(next(iter(wanted)))
        warn(f"{source}: none of {len(wanted)} has a text; are ids spelled as in the runs: {some}?")
    return found


def _text(source: str, name: object, given: object) -> str:
    if isinstance(given, str):
        return shorten_text(given)
    if isinstance(given, Mapping):
        try:
            return join_text(given)
        except InputError as problem:
            raise problem.with_fields(source=source) from None
    raise InputError(f"the text of {shown(name)} is {kind_of(given)}", source=source)
