"""What goes into a search and what comes out of it: queries, and rankings in many containers."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from irbatch.data.ids import first_repeated, id_kind, same_kind
from irbatch.errors import ErrorsIn, InputError, kind_of, many, shown, warn
from irbatch.runtime.arrays import is_on_accelerator, is_tensor, to_numpy
from irbatch.runtime.numbers import number_errors

Ranking = dict[Any, float]

ALIKE = 0.9  # share of documents that two answers have in common
FORMS = (
    "an answer is a mapping of documents to scores, (document, score) pairs, document ids from the "
    "best on, or a tuple of two arrays, ids and scores"
)


def read_queries(source: str, queries: Any) -> tuple[list[Any], list[Any]]:
    """Return ids of queries, and the queries; those without ids are numbered from 0."""
    refuse = partial(InputError, source=source)
    if hasattr(queries, "index") and hasattr(queries, "items") and getattr(queries, "ndim", 0) == 1:
        length, queries = len(queries), dict(queries.items())  # of a series of pandas
        if len(queries) < length:
            raise refuse("queries have an id twice in their index")
    if isinstance(queries, Mapping):
        ids, values = [_python_id(each) for each in queries], list(queries.values())
        same_kind(ids, "query", source)
    else:
        values = _list_queries(source, queries)
        ids = list(range(len(values)))
    if not values:
        raise refuse("there are no queries", value=queries)
    return ids, values


def _list_queries(source: str, queries: Any) -> list[Any]:
    kind = kind_of(queries)
    if isinstance(queries, str | bytes | set | frozenset):
        why = "it has no order" if isinstance(queries, set | frozenset) else "put it in a list"
        raise InputError(f"queries are {kind}: {why}", source=source, value=queries)
    if hasattr(queries, "columns"):  # it would yield their names
        instead = "make a mapping of ids to queries of its columns, as with dict(zip(ids, texts))"
        raise InputError(f"queries are {kind}, a table: {instead}", source=source)
    try:
        return list(queries)
    except TypeError:
        wanted = "they are a mapping of ids to queries, or several queries"
    raise InputError(f"queries are {shown(queries)}; {wanted}", source=source, value=queries)


def answers_of_batch(source: str, ids: Sequence[Any], answers: Any) -> list[Any]:
    """Return the answers of a call that answered several queries."""
    first, last = shown(ids[0]), shown(ids[-1])
    asked = f"query {first}" if len(ids) == 1 else f"queries {first} to {last}"
    with ErrorsIn(source=source):
        _check_waited(answers, ids[0])
        container = isinstance(answers, Sequence) and not isinstance(answers, str | bytes)
        if not container and getattr(answers, "ndim", 0) < 1:
            wanted = f"no list of answers, one a query{_iterator_hint(answers)}"
            raise InputError(f"{asked}: {shown(answers)} is {wanted}", value=answers)
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
        first = next(iter(ranking), None)
        if first is not None:
            kinds.setdefault("str" if isinstance(first, str) else "int", query)
    if len(kinds) > 1:
        where = f"text in query {kinds['str']!r} and whole numbers in query {kinds['int']!r}"
        raise InputError(f"document ids are {where}", source=source)
    return rankings


def _read_answer(answer: Any) -> Ranking:
    _check_waited(answer)
    documents, scores = _columns(answer)
    documents = [_python_id(each) for each in documents]
    same_kind(documents, "document", "answer")
    repeated = first_repeated(documents)
    if repeated is not None:
        raise InputError("it is in the answer twice", document=repeated)
    if scores is None:
        scores = range(len(documents), 0, -1)
    ranking = dict(zip(documents, scores, strict=True))
    rows = ((None, document, score) for document, score in ranking.items())
    for error in number_errors("score", rows):
        raise error
    return {document: float(score) for document, score in ranking.items()}


def compare_answers(
    system: str, rankings: Mapping[Any, Mapping[Any, Any]], others: Mapping[Any, Ranking]
) -> None:
    """Warn where larger calls find more other documents than rounding explains."""
    same = sum(len(ranking.keys() & others[query].keys()) for query, ranking in rankings.items())
    total = sum(max(len(ranking), len(others[query])) for query, ranking in rankings.items())
    if same < ALIKE * total:
        found = f"larger calls of {shown(system)} find other documents than the timed ones"
        warn(f"{found}, {same} of {total} are the same: their throughput is of something else")


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
    if is_pair and all(isinstance(each, list) for each in answer):
        hint = "put ids and scores into arrays, or pairs into a list"
        raise InputError(f"two lists may be ids and scores, or two pairs: {hint}")
    if _is_array(answer):
        return _column(answer), None
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes | bytearray | memoryview):
        problem = f"{shown(answer)} is no answer{_iterator_hint(answer)}"
        raise InputError(f"{problem}; {FORMS}", value=answer)
    if not answer or id_kind(type(answer[0])):
        return answer, None
    for place, pair in enumerate(answer):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            problem = f"{shown(pair)}, at place {place}, is no (document, score) pair"
            raise InputError(f"{problem}; {FORMS}", value=pair)
    return [pair[0] for pair in answer], [pair[1] for pair in answer]


def _column(values: Any) -> list[Any]:
    """List what an array of one dimension, or a list beside one, holds."""
    _check_waited(values)
    if isinstance(values, list | tuple):
        return list(values)
    array = to_numpy(values, "answer")
    if array.ndim != 1:
        problem = f"an array of shape {array.shape} is no answer; {FORMS}"
        raise InputError(problem, value=array.shape)
    return array.tolist()


def _is_array(value: Any) -> bool:
    """Tell arrays, tensors and series from the containers of Python, and from single numbers."""
    if getattr(value, "ndim", 1) == 0:
        return False
    return is_tensor(value) or any(hasattr(value, each) for each in ("__array__", "__dlpack__"))


def _check_waited(answer: Any, query: Any = None) -> None:
    """Refuse what the clock may have stopped before: a coroutine, a tensor on an accelerator."""
    if isinstance(answer, Awaitable):
        if isinstance(answer, Coroutine):
            answer.close()  # or Python warns that nothing awaited it
        what = f"the answer is {kind_of(answer)}, which nothing has awaited"
        raise InputError(f"{what}; make search an async def, whose calls are", query=query)
    if is_on_accelerator(answer):
        place = f"the answer is on {answer.device}, where it may come after the call has ended"
        raise InputError(f"{place}; return it in main memory, as with .cpu()", query=query)


def _iterator_hint(answer: Any) -> str:
    """Say what is wrong with an iterator."""
    is_iterator = hasattr(answer, "__next__") or hasattr(answer, "__anext__")
    return " (it would be made after the clock has stopped)" if is_iterator else ""


def _python_id(value: Any) -> Any:
    """Return an id as Python has it."""
    kind = id_kind(type(value))
    if kind is None or type(value) in (str, int):
        return value
    return str(value) if kind == "str" else int(value)
