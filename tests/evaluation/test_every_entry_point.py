"""What holds for every entrance: nothing is changed, errors travel, and wrong types are named."""

import copy
import inspect
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import (
    InputError,
    Qrels,
    Run,
    evaluate,
    evaluate_ids,
    evaluate_matrix,
    evaluate_runs,
    evaluate_scores,
)

QRELS = {"q1": {"d2": 1, "d1": 2}, "q2": {"d1": -1}, "q3": {}}
RUN = {"q2": {"d1": 0.0, "d9": -0.0}, "q1": {"d1": 0.25, "d2": 0.5, "d3": 0.5}, "extra": {}}
SCORES = np.array([[3.0, 1.0, 2.0], [0.5, 0.25, 1.0]])
LABELS = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])


class Measures(list[str]):
    """Measures, recognisable among arguments."""


WISHES = Measures(["nDCG@{1,10}", "AP", "RR(rel=2)"])

MATRIX = np.array([[3, 1, -1], [2, -1, -1]])
MASKED = np.ma.array(LABELS, mask=[[0, 0, 0], [0, 1, 1]])
ENTRANCES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (evaluate, (QRELS, RUN, WISHES), {}),
    (evaluate, (QRELS, RUN, WISHES), {"judged_only": True}),
    (evaluate, (QRELS, RUN, "P", [5, 1]), {"missing": "skip"}),
    (evaluate, (QRELS, RUN, "AP"), {"score_dtype": "float32"}),
    (evaluate_runs, (QRELS, {"a": RUN, "b": RUN}, WISHES), {}),
    (evaluate_ids, (MATRIX.tolist(), [[1], {2: 3}], WISHES), {"pad": -1}),
    (evaluate_ids, (MATRIX, [{1, 2}, np.array([2])], WISHES), {"pad": -1}),
    (evaluate_ids, ({"a": ["x", "y"]}, {"a": {"y"}, "b": ["z"]}, WISHES), {}),
    (evaluate_matrix, (LABELS, WISHES), {"lengths": np.array([3, 2])}),
    (evaluate_matrix, (MASKED, WISHES), {"judged": [[2, 1, 0, 0], np.array([0.0])]}),
    (evaluate_matrix, ([[True], [0, 1]], WISHES), {"n_relevant": [1, 2]}),
    *(
        (evaluate_scores, (SCORES, abs(LABELS), WISHES), {"ties": ties})
        for ties in ("error", "expected", "pessimistic", "optimistic", "index")
    ),
]


@pytest.mark.parametrize(("call", "arguments", "options"), ENTRANCES)
def test_nothing_is_changed(
    call: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    given = copy.deepcopy((arguments, options))
    call(*given[0], **given[1])
    assert _state(given) == _state((arguments, options))
    place = next(i for i, each in enumerate(arguments) if isinstance(each, str | Measures))
    input_error(lambda: call(*given[0][:place], ["nDCG", "P@0"], **given[1]), "P@0")
    assert _state(given) == _state((arguments, options))
    frozen = _frozen((arguments, options))
    call(*frozen[0], **frozen[1])


def _state(value: Any) -> Any:
    """Everything about a value that a change could show in, its order included."""
    if isinstance(value, np.ma.MaskedArray):
        return "masked", _state(value.data), _state(np.ma.getmaskarray(value))
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes(), value.flags.writeable
    if isinstance(value, dict):
        return "dict", [(_state(key), _state(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [_state(each) for each in value]
    return type(value).__name__, repr(value)


def _frozen(value: Any) -> Any:
    """The same value from read-only parts."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
        return value
    if isinstance(value, dict):
        return types.MappingProxyType({key: _frozen(each) for key, each in value.items()})
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return frozenset(value) if isinstance(value, set) else value


def _every_kind_of_error() -> list[InputError]:
    """Errors with each field set in some, and one of several problems."""
    calls: list[Callable[[], object]] = [
        lambda: evaluate({"q": {"d": "x"}}, RUN, "RR"),
        lambda: evaluate({"q": {"d": 1}}, Run({"q": {"d": None}}, name="bm25"), "RR"),
        lambda: evaluate({"q": {"d": 1}}, {1: {"d": 1.0}}, "RR"),
        lambda: irbatch.measures.parse_measures("nDGC P@0 zzz"),
        lambda: irbatch.read_run("no such file"),
        lambda: evaluate_matrix([[float("nan")]], "RR"),
        lambda: evaluate_ids([[1, 1]], [[1]], "RR"),
    ]
    return [input_error(call) for call in calls] + [
        InputError("-", source="run", path="bm25.trec", line=81, query="301", value="abc")
    ]


@pytest.mark.parametrize(
    "send", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],
    ids=["copy", "deepcopy", "pickle"],
)  # fmt: skip
def test_errors_travel(send: Callable[[InputError], InputError]) -> None:
    fields = ("message", "source", "query", "document", "path", "line")
    for error in _every_kind_of_error():
        received = send(error)
        assert type(received) is InputError
        assert isinstance(received, ValueError)
        assert str(received) == str(error)
        assert repr(received.value) == repr(error.value)
        for name in fields:
            assert getattr(received, name) == getattr(error, name)
        assert list(map(str, received.problems)) == list(map(str, error.problems))
        assert (received.problems == (received,)) == (error.problems == (error,))


def test_errors_are_of_one_line() -> None:
    for error in _every_kind_of_error():
        for problem in error.problems:
            assert "\n" not in str(problem)
    error = input_error(lambda: Qrels({"q\n\x1b[31m": {"d\r": "\n"}}))
    assert str(error).isprintable()


@pytest.mark.parametrize("count", [2, 20, 21, 45])
def test_first_twenty_problems_are_listed(count: int) -> None:
    qrels: dict[str, dict[str, Any]] = {"q": {f"d{i:02}": "bad" for i in range(count)}}
    error = input_error(lambda: Qrels(qrels), f"{count} problems", "document 'd00'", source="qrels")
    assert len(error.problems) == count
    assert str(error).count("grade 'bad'") == min(count, 20)
    assert ("the first 20" in str(error)) == (count > 20)
    assert ("'d20'" in str(error)) is False
    run = {"q": dict.fromkeys(qrels["q"])}
    error = input_error(lambda: evaluate({"q": {"d00": 1}}, run, "RR"), f"{count} problems")
    assert str(error).count("score None") == min(count, 20)
    names = [f"zzz{i:02}" for i in range(count)]
    input_error(lambda: irbatch.measures.parse_measures(names), f"{count} problems", "'zzz00'")


def public_functions() -> Iterator[Any]:
    """Yield the public functions, the classes, and the methods of such as take no arguments."""
    for name in irbatch.__all__:
        found = getattr(irbatch, name)
        if inspect.isclass(found) and issubclass(found, Exception):
            continue
        if inspect.isclass(found):
            of_dict = issubclass(found, dict)
            made = found() if of_dict else found.__new__(found)
            for each, member in inspect.getmembers(found, inspect.isfunction):
                if not each.startswith("_") and found is not irbatch.BatchEvaluator:
                    yield getattr(made, member.__name__)
            found = None if of_dict else found  # which takes any keyword
        if callable(found):
            yield found
    yield from (getattr(irbatch.BatchEvaluator("RR"), each) for each in ("update", "update_ids"))
    yield irbatch.Leaderboard.from_json


def test_a_mistyped_keyword_is_told_by_the_public_name() -> None:
    for each in public_functions():
        needed = [
            (parameter.name, parameter.kind is parameter.KEYWORD_ONLY)
            for parameter in inspect.signature(each).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        ]
        given = [None for _, by_keyword in needed if not by_keyword]
        named = dict.fromkeys(name for name, by_keyword in needed if by_keyword)
        if each.__name__ == "by_item":  # which takes the names of its arguments from its caller
            continue
        name = rf"([A-Z]\w+\.)?({each.__name__}|__init__|__new__)"
        with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword .*'zzz'"):
            each(*given, **named, zzz=1)


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        (lambda: irbatch.compare(QRELS, {}, "AP", corection="holm"), "correction"),
        (lambda: evaluate_runs(QRELS, {}, "AP", misssing="skip"), "missing"),
        (lambda: irbatch.explain(QRELS, RUN, RUN, quieres=3), "queries"),
        (lambda: irbatch.Leaderboard.from_json("x", qrel=1), "qrels"),
    ],
)
def test_the_nearest_keyword_is_told(call: Callable[[], object], nearest: str) -> None:
    with pytest.raises(TypeError, match=rf"; did you mean {nearest}\?$"):
        call()
