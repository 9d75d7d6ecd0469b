"""What goes into a search and what comes out of it: queries, and rankings in many containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from irbatch.data.arguments.ids import id_kind, same_kind
from irbatch.errors import InputError, many, shown, warn
from irbatch.runtime.arrays import is_on_accelerator, is_tensor, to_numpy
from irbatch.runtime.numbers import number_problem

__all__ = ["answers_of_batch", "compare_answers", "read_answer", "read_answers", "read_queries"]

Ranking = dict[Any, float]

ALIKE = 0.9  # share of documents that two answers have in common
TAKEN = (
    "an answer is a mapping of documents to scores, (document, score) pairs, document ids from the "
    "best on, or a tuple of two arrays, ids and scores"
)


def read_queries(source: str, queries: Any) -> tuple[list[Any], list[Any]]:
    """Return ids of queries, and the queries; what has no ids is numbered from 0.

    Args:
        source: what errors call them.
        queries: a mapping of ids to queries, or an iterable of queries.

    Raises:
        InputError: when there are none or they have no order, and for ids that are none.
    """
    if hasattr(queries, "index") and hasattr(queries, "items") and getattr(queries, "ndim", 0) == 1:
        queries = _indexed(source, queries)
    if isinstance(queries, Mapping):
        ids, values = [_plain(each) for each in queries], list(queries.values())
        same_kind(ids, "query", source)
    else:
        values = _listed(source, queries)
        ids = list(range(len(values)))
    if not values:
        raise InputError("queries are none", source=source, value=queries)
    return ids, values


def _indexed(source: str, queries: Any) -> dict[Any, Any]:
    """Return a series of pandas as the mapping that it is."""
    values = dict(queries.items())
    if len(values) < len(queries):
        raise InputError("queries have an id twice in their index", source=source)
    return values


def _listed(source: str, queries: Any) -> list[Any]:
    """List queries without ids."""
    kind = type(queries).__name__
    if isinstance(queries, str | bytes | set | frozenset):
        why = "it has no order" if isinstance(queries, set | frozenset) else "put it in a list"
        raise InputError(f"queries are a {kind}: {why}", source=source, value=queries)
    if hasattr(queries, "columns"):  # it would yield their names
        raise InputError(f"queries are a {kind}, a table: make a mapping of ids to queries of its "
                         "columns, as with dict(zip(ids, texts))", source=source)  # fmt: skip
    try:
        return list(queries)
    except TypeError:
        raise InputError(f"queries are {shown(queries)}; they are a mapping of ids to queries, or "
                         "several queries", source=source, value=queries) from None  # fmt: skip


def answers_of_batch(source: str, ids: Sequence[Any], answers: Any) -> list[Any]:
    """Return the answers of a call that answered several queries.

    Args:
        source: the system's answers, as errors call them.
        ids: of the queries.
        answers: what came back.

    Raises:
        InputError: naming the queries, for what is no sequence of as many answers.
    """
    _check_waited(source, answers, ids[0])
    container = isinstance(answers, Sequence) and not isinstance(answers, str | bytes)
    if not container and getattr(answers, "ndim", 0) < 1:
        what = f"{shown(answers)} is no list of answers, one a query{_lazy(answers)}"
        raise InputError(f"{_named(ids)}: {what}", source=source, value=answers)
    items = list(answers)
    if len(items) != len(ids):
        found = f"{many(len(items), 'answer')} to {many(len(ids), 'query')}"
        raise InputError(f"{_named(ids)}: {found}", source=source, value=answers)
    for query, answer in zip(ids, items, strict=True):
        _check_waited(source, answer, query)
    return items


def _named(ids: Sequence[Any]) -> str:
    """Name a call by its queries."""
    if len(ids) == 1:
        return f"query {shown(ids[0])}"
    return f"queries {shown(ids[0])} to {shown(ids[-1])}"


def read_answers(source: str, ids: Sequence[Any], answers: Sequence[Any]) -> dict[Any, Ranking]:
    """Read the answer to each query: rankings as a run has them.

    Args:
        source: the system's answers, as errors call them.
        ids: of the queries.
        answers: one each.

    Raises:
        InputError: as `read_answer`, and when documents are text here and numbers there.
    """
    rankings = {}
    kinds: dict[str, Any] = {}
    for query, answer in zip(ids, answers, strict=True):
        ranking = rankings[query] = read_answer(source, query, answer)
        first = next(iter(ranking), None)
        if first is not None:
            kinds.setdefault("str" if isinstance(first, str) else "int", query)
    if len(kinds) > 1:
        raise InputError(f"document ids are text in query {kinds['str']!r} and numbers in query "
                         f"{kinds['int']!r}", source=source)  # fmt: skip
    return rankings


def read_answer(source: str, query: Any, answer: Any) -> Ranking:
    """Read the answer to one query: document to score, in the order of the answer.

    Of ids alone the scores are n, n - 1, … 1.

    Raises:
        InputError: naming the query, and the document where there is one, for what is no answer,
            ids that are none, a document that is there twice, scores that are no numbers.
    """
    _check_waited(source, answer, query)
    documents, scores = _columns(source, query, answer)
    documents = [_plain(each) for each in documents]
    same_kind(documents, "document", source, query)
    if scores is None:
        scores = range(len(documents), 0, -1)
    ranking: Ranking = {}
    for document, score in zip(documents, scores, strict=True):
        if document in ranking:
            raise InputError("it is in the answer twice", source=source, query=query,
                             document=document)  # fmt: skip
        problem = number_problem(score)
        if problem is not None:
            raise InputError(f"score {problem}", source=source, query=query, document=document,
                             value=score)  # fmt: skip
        ranking[document] = float(score)
    return ranking


def compare_answers(
    system: str, rankings: Mapping[Any, Mapping[Any, Any]], others: Mapping[Any, Ranking]
) -> None:
    """Warn where larger calls, whose throughput is measured, find something else.

    Rounding may change a few of the last documents; a tenth of all is more than that.

    Args:
        system: its name.
        rankings, others: query to ranking.
    """
    kept = sum(len(ranking.keys() & others[query].keys()) for query, ranking in rankings.items())
    there = sum(max(len(ranking), len(others[query])) for query, ranking in rankings.items())
    if kept < ALIKE * there:
        warn(f"larger calls of {shown(system)} find other documents than the timed ones, {kept} of "
             f"{there} are the same: their throughput is of something else")  # fmt: skip


def _columns(source: str, query: Any, answer: Any) -> tuple[Iterable[Any], Iterable[Any] | None]:
    """Return documents and scores; None where there are only documents."""
    if isinstance(answer, Mapping):
        return list(answer), list(answer.values())
    if isinstance(answer, tuple) and len(answer) == 2 and any(map(_is_array, answer)):
        return _two_columns(source, query, answer)
    if isinstance(answer, tuple) and len(answer) == 2 and all(isinstance(e, list) for e in answer):
        raise InputError("two lists may be ids and scores, or two pairs: put ids and scores into "
                         "arrays, or pairs into a list", source=source, query=query)  # fmt: skip
    if _is_array(answer):
        return _column(source, query, answer), None
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes | bytearray | memoryview):
        raise InputError(f"{shown(answer)} is no answer{_lazy(answer)}; {TAKEN}", source=source,
                         query=query, value=answer)  # fmt: skip
    if not answer or id_kind(type(answer[0])):
        return answer, None
    for place, pair in enumerate(answer):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"{shown(pair)}, at place {place}, is no (document, score) pair; "
                             f"{TAKEN}", source=source, query=query, value=pair)  # fmt: skip
    return [pair[0] for pair in answer], [pair[1] for pair in answer]


def _two_columns(source: str, query: Any, answer: Any) -> tuple[list[Any], list[Any]]:
    documents, scores = (_column(source, query, each) for each in answer)
    if len(documents) != len(scores):
        raise InputError(f"{many(len(documents), 'document')} and {many(len(scores), 'score')}",
                         source=source, query=query)  # fmt: skip
    return documents, scores


def _column(source: str, query: Any, values: Any) -> list[Any]:
    """List what an array of one dimension, or a list beside one, holds."""
    _check_waited(source, values, query)
    if isinstance(values, list | tuple):
        return list(values)
    try:
        array = to_numpy(values, source)
    except InputError as problem:
        raise problem.placed(query=query) from None
    if array.ndim != 1:
        raise InputError(f"an array of shape {array.shape} is no answer; {TAKEN}", source=source,
                         query=query, value=array.shape)  # fmt: skip
    listed: list[Any] = array.tolist()
    return listed


def _is_array(value: Any) -> bool:
    """Tell arrays, tensors and series from the containers of Python, and from single numbers."""
    if getattr(value, "ndim", 1) == 0:
        return False
    return is_tensor(value) or any(hasattr(value, each) for each in ("__array__", "__dlpack__"))


def _check_waited(source: str, answer: Any, query: Any) -> None:
    """Refuse a tensor that nobody has waited for: the clock may have stopped before it was there.

    Raises:
        InputError: naming the query.
    """
    if is_on_accelerator(answer):
        raise InputError(
            f"the answer is on {answer.device}, where it may come after the call has ended; return "
            "it in main memory, as with .cpu()",
            source=source,
            query=query,
        )


def _lazy(answer: Any) -> str:
    """Say what is wrong with what makes its items later."""
    return " (it would be made after the clock has stopped)" if hasattr(answer, "__next__") else ""


def _plain(value: Any) -> Any:
    """Return an id as Python has it."""
    kind = id_kind(type(value))
    if kind is None or type(value) in (str, int):
        return value
    return str(value) if kind == "str" else int(value)
