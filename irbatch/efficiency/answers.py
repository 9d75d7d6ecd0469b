"""What goes into a search and what comes out of it: queries, and rankings in many containers."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from irbatch.data.ids import first_repeated, id_kind, same_kind
from irbatch.errors import ErrorsIn, InputError, kind_of, many, shown
from irbatch.runtime.arrays import is_on_accelerator, is_tensor, to_numpy
from irbatch.runtime.numbers import number_errors

Ranking = dict[Any, float]

FORMS = (
    "an answer is a mapping of documents to scores, (document, score) pairs, document ids from the "
    "best on, or a tuple of two arrays, ids and scores"
)


def read_queries(source: str, queries: Any) -> tuple[list[Any], list[Any]]:
    """Return ids of queries, and the queries; those without ids are numbered from 0."""
    with ErrorsIn(source=source):
        if hasattr(queries, "items") and getattr(queries, "ndim", 0) == 1:  # a series of pandas
            length, queries = len(queries), dict(queries.items())
            if len(queries) < length:
                raise InputError("queries have an id twice in their index")
        several = isinstance(queries, Iterable) and not hasattr(queries, "columns")  # of a table
        if not several or isinstance(queries, str | bytes | set | frozenset):
            wanted = "a mapping of ids to queries, or several queries in order, as in a list"
            raise InputError(f"queries are {kind_of(queries)}, not {wanted}", value=queries)
        if isinstance(queries, Mapping):
            ids, values = [_python_id(query_id) for query_id in queries], list(queries.values())
            same_kind(ids, "query", source)
        else:
            values = list(queries)
            ids = list(range(len(values)))
        if not values:
            raise InputError("there are no queries", value=queries)
    return ids, values


def split_answers(source: str, ids: Sequence[Any], answers: Any) -> list[Any]:
    """Return the answers of a call that answered several queries."""
    asked = f"query {ids[0]!r}" if len(ids) == 1 else f"queries {ids[0]!r} to {ids[-1]!r}"
    with ErrorsIn(source=source):
        _check_waited(answers, ids[0])
        is_list = isinstance(answers, Sequence) and not isinstance(answers, str | bytes)
        if not is_list and getattr(answers, "ndim", 0) < 1:
            problem = f"{shown(answers)} is not a list of answers, one a query"
            raise InputError(f"{asked}: {problem}", value=answers)
        items = list(answers)
        if len(items) != len(ids):
            problem = f"{many(len(items), 'answer')} to {many(len(ids), 'query')}"
            raise InputError(f"{asked}: {problem}", value=answers)
        for query, answer in zip(ids, items, strict=True):
            _check_waited(answer, query)
    return items


def read_answers(source: str, ids: Sequence[Any], answers: Sequence[Any]) -> dict[Any, Ranking]:
    """Return each query's answer, document to score, in order; ids alone score n, n - 1, … 1."""
    rankings = {}
    kinds: dict[str, Any] = {}
    for query, answer in zip(ids, answers, strict=True):
        with ErrorsIn(source=source, query=query):
            ranking = rankings[query] = _read_answer(answer)
        for document in list(ranking)[:1]:
            kinds.setdefault("str" if isinstance(document, str) else "int", query)
    if len(kinds) > 1:
        where = f"text in query {kinds['str']!r} and whole numbers in query {kinds['int']!r}"
        raise InputError(f"document ids are {where}", source=source)
    return rankings


def _read_answer(answer: Any) -> Ranking:
    _check_waited(answer)
    listed, scores = _columns(answer)
    documents = [_python_id(document) for document in listed]
    same_kind(documents, "document", "answer")
    repeated = first_repeated(documents)
    if repeated is not None:
        raise InputError("it is in the answer twice", document=repeated)
    if scores is None:
        scores = range(len(documents), 0, -1)
    ranking = dict(zip(documents, scores, strict=True))
    for error in number_errors("score", ((None, *row) for row in ranking.items())):
        raise error
    return {document: float(score) for document, score in ranking.items()}


def _columns(answer: Any) -> tuple[Iterable[Any], Iterable[Any] | None]:
    """Return documents and scores; None where there are only documents."""
    is_pair = isinstance(answer, tuple) and len(answer) == 2
    if isinstance(answer, Mapping):
        return answer.keys(), answer.values()
    if is_pair and any(map(_is_array, answer)):
        documents, scores = map(_column, answer)
        if len(documents) != len(scores):
            raise InputError(f"{many(len(documents), 'document')} and {many(len(scores), 'score')}")
        return documents, scores
    if is_pair and all(isinstance(part, list) for part in answer):
        hint = "put ids and scores into arrays, or pairs into a list"
        raise InputError(f"two lists may be ids and scores, or two pairs: {hint}")
    if _is_array(answer):
        return _column(answer), None
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes | bytearray | memoryview):
        raise InputError(f"{shown(answer)} is not an answer; {FORMS}", value=answer)
    if not answer or id_kind(type(answer[0])):
        return answer, None
    for place, pair in enumerate(answer):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            problem = f"{shown(pair)}, at place {place}, is not a (document, score) pair"
            raise InputError(f"{problem}; {FORMS}", value=pair)
    return [pair[0] for pair in answer], [pair[1] for pair in answer]


def _column(values: Any) -> list[Any]:
    """List what an array of one dimension, or a list beside one, holds."""
    _check_waited(values)
    if isinstance(values, list | tuple):
        return list(values)
    array = to_numpy(values, "answer")
    if array.ndim != 1:
        problem = f"an array of shape {array.shape} is not an answer; {FORMS}"
        raise InputError(problem, value=array.shape)
    return array.tolist()


def _is_array(value: Any) -> bool:
    """Tell arrays, tensors and series from the containers of Python, and from single numbers."""
    if getattr(value, "ndim", 1) == 0:
        return False
    return is_tensor(value) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def _check_waited(answer: Any, query: Any = None) -> None:
    """Reject what the clock may have stopped before: a coroutine, a tensor on an accelerator."""
    if isinstance(answer, Awaitable):
        if isinstance(answer, Coroutine):
            answer.close()  # or Python warns that nothing awaited it
        what = f"the answer is {kind_of(answer)}, which nothing has awaited"
        raise InputError(f"{what}; make search an async def, whose calls are", query=query)
    if hasattr(answer, "__next__") or hasattr(answer, "__anext__"):
        what = f"the answer is {kind_of(answer)}, which would be made after the clock has stopped"
        raise InputError(f"{what}; return a list", query=query)
    if is_on_accelerator(answer):
        place = f"the answer is on {answer.device}, where it may come after the call has ended"
        raise InputError(f"{place}; return it in main memory, as with .cpu()", query=query)


def _python_id(value: Any) -> Any:
    """Return an id as Python has it."""
    kind = id_kind(type(value))
    if kind is None or type(value) in (str, int):
        return value
    return str(value) if kind == "str" else int(value)
