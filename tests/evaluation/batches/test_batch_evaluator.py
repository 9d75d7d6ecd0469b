"""The evaluator of a training loop: batches, repeats, states, and what an error leaves behind."""

from __future__ import annotations

import copy
import json
import math
import pickle
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error, refusal
from support.replacing import GARBAGE, Path, places, replaced, without

import irbatch
import irbatch.evaluation.accumulator
import irbatch.evaluation.scores
import irbatch.measures
from irbatch import BatchEvaluator, InputError

MEASURES = "nDCG@10 RR AP R@{1,5} GMAP NumRel Bpref GAUC"
QUERIES, CANDIDATES = 60, 40
RANDOM = np.random.default_rng(8)
SCORES = np.round(RANDOM.standard_normal((QUERIES, CANDIDATES)), 1).astype(np.float32)
LABELS = np.where(RANDOM.random(SCORES.shape) < 0.1, RANDOM.integers(1, 4, SCORES.shape), 0)
IDS = [f"q{i}" for i in range(QUERIES)]
KEEPS = pytest.mark.parametrize("keep", ["queries", "sums"])


def whole() -> irbatch.Results:
    return irbatch.evaluate_scores(SCORES, LABELS, MEASURES, query_ids=IDS)


def updated(evaluator: BatchEvaluator, rows: slice) -> irbatch.Results:
    named = IDS[rows] if evaluator.state_dict()["keep"] == "queries" else None
    return evaluator.update(SCORES[rows], LABELS[rows], query_ids=named)


def test_a_query_that_comes_again_is_counted_once() -> None:
    evaluator = BatchEvaluator(MEASURES)
    updated(evaluator, slice(0, 40))
    updated(evaluator, slice(30, 60))
    assert len(evaluator) == QUERIES
    assert evaluator.compute().mean() == whole().mean()
    evaluator = BatchEvaluator("RR", no_relevant="skip")
    batch = evaluator.update([[1, 2], [2, 1], [1, 2]], positives=[0] * 3, query_ids=[4, 5, 4])
    assert batch["RR"] == (0.5 + 1 + 0.5) / 3, "the batch is what it is"
    for _ in range(2):
        evaluator.update([[2, 1]], [[0, 0]], query_ids=[6])
    found = evaluator.compute().per_query()
    assert (found.pop(6), found) == (pytest.approx(math.nan, nan_ok=True), {4: 0.5, 5: 1.0})


def test_a_query_with_other_values() -> None:
    evaluator = BatchEvaluator("RR", repeated="first")
    evaluator.update([[2, 1]], positives=[0], query_ids=["a"])
    evaluator.update([[1, 2], [2, 1]], positives=[0, 0], query_ids=["a", "b"])
    assert evaluator.compute().to_dict() == {"a": {"RR": 1.0}, "b": {"RR": 1.0}}


def test_sums_are_additive_arrays() -> None:
    states = []
    for rows in (slice(0, 20), slice(20, 60)):
        part = BatchEvaluator(MEASURES, keep="sums")
        updated(part, rows)
        states.append(part.state_dict())
    together = dict(states[0])
    for name in ("sums", "counted", "zeros", "counts"):
        together[name] = np.array(states[0][name]) + np.array(states[1][name])
    evaluator = BatchEvaluator(MEASURES, keep="sums")
    evaluator.load_state_dict(together)
    assert evaluator.compute().mean() == whole().mean()


def test_id_lists_are_added() -> None:
    ranked = {"a": ["x", "y"], "b": ["z", "x"]}
    relevant = {"a": ["y"], "b": ["z"]}
    evaluator = BatchEvaluator("RR P@1")
    evaluator.update_ids(ranked, relevant)
    evaluator.update_ids([[1, 2]], [[3]], query_ids=["c"])
    evaluator.update([[1, 2]], [[0, 1]], query_ids=["d"])
    assert evaluator.compute().per_query("RR") == {"a": 0.5, "b": 1.0, "c": 0.0, "d": 1.0}
    assert evaluator.compute().settings["order"].count(";") == 1, "as given, and by score"


def test_columns_of_a_query_may_come_in_parts() -> None:
    flat = [(f"q{q}", f"d{d}", float(SCORES[q, d]), int(LABELS[q, d]))
            for q in range(10) for d in range(CANDIDATES)]  # fmt: skip
    flat += flat[:50]
    evaluator = BatchEvaluator(MEASURES)
    for start in range(0, len(flat), 33):
        evaluator.update_columns(*map(list, zip(*flat[start : start + 33], strict=True)))
    named: dict[str, Any] = {"document_ids": [f"d{d}" for d in range(CANDIDATES)]}
    named["query_ids"] = IDS[:10]
    expected = irbatch.evaluate_scores(SCORES[:10], LABELS[:10], MEASURES, **named)
    assert evaluator.compute().to_dict() == expected.to_dict()
    evaluator = BatchEvaluator("RR")
    columns = [[7, 7], [1, 2], [0.5, 0.25], [0, 1]]
    evaluator.update_columns(*map(np.array, columns))
    assert evaluator.compute().per_query("RR") == {7: 0.5}


BAD_UPDATES: list[tuple[Callable[[BatchEvaluator], object], tuple[str, ...]]] = [
    (lambda e: e.update([[1, 2]], [[1]]), ("(1, 2)", "(1, 1)")),
    (lambda e: e.update([[1, 2]], positives=[0]), ("query_ids", "every update or in none")),
    (lambda e: e.update([[9, 8]] * 2, positives=[0, 1], query_ids=["n", "q0"]), ("'q0'", "values")),
    (lambda e: e.update([[9, 8]] * 2, positives=[0, 1], query_ids=["n", "n"]), ("'n'", "before")),
    (
        lambda e: e.update([[9, 8]] * 2, positives=[0, 1], query_ids=["n"]),
        ("query_ids", "2 queries"),
    ),
    (lambda e: e.update([[1, 2]], [[0, 1]], query_ids=["c"]), ("'c'", "columns")),
    (lambda e: e.update_ids([[1]], [[1]], query_ids=["a", "b"]), ("query_ids", "not 2")),
    (lambda e: e.update_ids({"a": [1, 1]}, {"a": [1]}), ("'a'",)),
    (
        lambda e: e.update_ids([[1], [1, 1]], [[1], [1]], query_ids=["n", "m"]),
        ("run (query 'm', document 1)", "twice"),
    ),
    (lambda e: e.update_columns(["n", "c"], ["x", "x"], [1, 2], [1, 1]), ("'c'", "'x'", "before")),
    (lambda e: e.update_columns(["n"], ["x"], [1.0], [1, 0]), ("'grades': 2",)),
    (lambda e: e.update_columns(["n", "n"], ["x", "y"], [1, "2"], [1, 1]), ("'y'", "score")),
    (lambda e: e.update_columns([1], ["x"], [1.0], [1]), ("two kinds", "'c'", "1")),
    (lambda e: e.update_columns(["n"], [7], [1.0], [1]), ("two kinds", "'x'", "7")),
    (lambda e: e.update_columns(["q0"], ["x"], [1.0], [1]), ("'q0'", "whole before")),
    (lambda e: e.merge({}), ("state",)),
    (lambda e: e.merge([e, e]), ("list",)),
    (lambda e: e.merge(BatchEvaluator("RR AP", ties="index")), ("ties", "index")),
    (lambda e: e.load_state_dict(BatchEvaluator("AP RR").state_dict()), ("measures",)),
    (lambda e: e.load_state_dict(BatchEvaluator("RR AP", keep="sums").state_dict()), ("keep",)),
]


@pytest.mark.parametrize(("update", "facts"), BAD_UPDATES)
def test_an_error_changes_nothing(
    update: Callable[[BatchEvaluator], object], facts: tuple[str, ...]
) -> None:
    evaluator = BatchEvaluator("RR AP")
    updated(evaluator, slice(0, 5))
    evaluator.update_columns(["c"], ["x"], [1.0], [1])
    before = evaluator.state_dict()
    input_error(lambda: update(evaluator), *facts)
    assert evaluator.state_dict() == before
    assert len(evaluator) == 6


def test_nothing_yet_and_reset() -> None:
    evaluator = BatchEvaluator("RR")
    input_error(evaluator.compute, "no queries yet")
    evaluator.update([[1, 2]], positives=[1])
    assert "1 query " in repr(evaluator)
    input_error(lambda: evaluator.update_columns(["a"], ["x"], [1.0], [1]), "every update")
    evaluator.reset()
    input_error(evaluator.compute, "no queries yet")
    evaluator.update_columns(["a"], ["x"], [1.0], [1])
    input_error(lambda: evaluator.update([[1, 2]], positives=[1]), "every update")
    assert evaluator.compute().to_dict() == {"a": {"RR": 1.0}}
    sums = BatchEvaluator("RR", keep="sums")
    for update in (sums.update, sums.update_ids):
        given = [[1, 2]], [[1, 0]]
        input_error(lambda u=update: u(*given, query_ids=["a"]), "keep='queries'")  # noqa: B023


@pytest.mark.parametrize(
    "options",
    [{"keep": "all"}, {"repeated": "maybe"}, {"ties": "none"}, {"no_relevant": 1}, {"threads": 0}],
    ids=str,
)
def test_options_that_there_are_not(options: dict[str, Any]) -> None:
    name, value = next(iter(options.items()))
    input_error(lambda: BatchEvaluator("RR", **options), f"{name}={value!r}", value=value)
    with pytest.raises(InputError, match="nDCH"):
        BatchEvaluator("nDCH@10")


WAYS: list[tuple[dict[str, Any], str]] = [
    ({}, "float32"), ({}, "uint8"), ({"ties": "pessimistic"}, "float64"),
    ({"ties": "optimistic"}, "int64"), ({"ties": "index"}, "float16"),
    ({"no_relevant": "skip"}, "float16"), ({"threads": 2}, "float32"),
]  # fmt: skip


@KEEPS
@pytest.mark.parametrize(("options", "dtype"), WAYS, ids=str)
@pytest.mark.parametrize("most", [0, 100, 1 << 20])
def test_batches_that_wait_are_the_whole(
    keep: str, options: dict[str, Any], dtype: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(irbatch.evaluation.accumulator, "MOST_WAITING", most)
    measures = "nDCG@10 nDCG(gain=exp) RR@3 AP R@{1,5} GMAP NumRel Rprec Judged@5 GAUC"
    scores = (10 * SCORES + 60).astype(dtype)
    shared = {name: each for name, each in options.items() if name != "threads"}
    evaluator = BatchEvaluator(measures, keep=keep, **options)
    batches: list[tuple[slice, irbatch.Results]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ties
        expected = irbatch.evaluate_scores(scores, LABELS, measures, **shared)
        for start in range(0, QUERIES, 7):
            rows = slice(start, start + 7)
            batch = evaluator.update(scores[rows], LABELS[rows])
            batches.append((rows, batch))
            if start % 5 == 0:
                assert same_bits(batch.values, expected.values[rows])
    computed = evaluator.compute()
    assert computed.mean() == pytest.approx(expected.mean(), abs=0, nan_ok=True)
    assert computed.counts == expected.counts
    for rows, batch in batches:
        assert same_bits(batch.values, expected.values[rows]), "looked at later"
        assert (batch.marks == expected.marks[rows]).all()
    if computed.has_values:
        assert same_bits(computed.values, expected.values)


def same_bits(some: Any, others: Any) -> bool:
    return bool((some.view(np.int64) == np.ascontiguousarray(others).view(np.int64)).all())


@KEEPS
def test_arrays_may_be_used_again(keep: str) -> None:
    evaluator = BatchEvaluator(MEASURES, keep=keep)
    scores, labels = np.empty_like(SCORES[:20]), np.empty_like(LABELS[:20])
    lengths, positives = np.full(20, CANDIDATES), np.zeros(20, np.int64)
    for start in range(0, QUERIES, 20):
        scores[:], labels[:] = SCORES[start : start + 20], LABELS[start : start + 20]
        lengths[:], positives[:] = CANDIDATES, 3
        evaluator.update(scores, labels, lengths=lengths)
        evaluator.update(scores, positives=positives)
        scores[:], labels[:], lengths[:], positives[:] = np.nan, -7, 0, 99
    expected = irbatch.evaluate_scores(
        np.repeat(SCORES.reshape(3, 20, -1), 2, axis=0).reshape(-1, CANDIDATES),
        np.concatenate([part for start in range(0, QUERIES, 20)
                        for part in (LABELS[start : start + 20], np.eye(CANDIDATES)[[3] * 20])]),
        MEASURES,
    )  # fmt: skip
    assert evaluator.compute().mean() == expected.mean()


def test_results_that_wait_are_results() -> None:
    evaluator = BatchEvaluator("RR AP")

    def update() -> irbatch.Results:
        return evaluator.update([[1, 2], [2, 1]], positives=[1, 1], query_ids=["a", "b"])

    expected = irbatch.evaluate_scores(
        [[1, 2], [2, 1]], positives=[1, 1], measures="RR AP", query_ids=["a", "b"]
    )
    looks: list[Callable[[irbatch.Results], object]] = [
        repr, len, list, dict, lambda each: each["RR"], lambda each: "RR" in each,
        lambda each: each.to_json(), lambda each: each.rows, lambda each: each.counts,
        lambda each: each.signature, lambda each: each._repr_html_(), lambda each: each.has_ids,
        lambda each: pickle.loads(pickle.dumps(each)).to_dict(),
        lambda each: copy.copy(each).to_dict(), lambda each: copy.deepcopy(each).to_dict(),
    ]  # fmt: skip
    for look in looks:
        evaluator.reset()
        results = update()
        assert isinstance(results, irbatch.Results)
        assert look(results) == look(expected)
        assert type(results) is irbatch.Results
    results = update()
    results.name = "mine"
    assert (results.name, results["RR"]) == ("mine", 0.75)
    assert not hasattr(update(), "nothing")


def test_what_waits_is_bounded() -> None:
    evaluator = BatchEvaluator("RR AP", keep="sums")
    sizes = []
    for _ in range(500):
        evaluator.update(SCORES, LABELS)
        sizes.append(evaluator._kept._load)
    most = irbatch.evaluation.accumulator.MOST_WAITING
    assert max(sizes) < 2 * most
    assert min(sizes[100:]) < most / 10, "it has been evaluated in between"


def test_a_training_loop_warns_once_of_each_thing() -> None:
    evaluator = BatchEvaluator("RR")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(2, 7):
            halves = np.ones((n, 5), np.float16)
            halves[: n - 1, 4] = 2
            visible = np.tril(np.ones((n, 5), bool), -1) | (np.arange(5) == 4)
            visible[2:, 0] = False
            for scores, mask in ((halves[:-1], None), (halves[-1:], None), (halves, visible)):
                positives = [[0]] * len(scores)
                evaluator.update(scores, positives=positives, mask=mask)
    said = sorted(str(each.message).partition(":")[0] for each in caught)
    assert said == [SOME_POSITIVES]
    assert evaluator.compute().counts.tied > 5


SOME_POSITIVES = "some positives are not candidates, being masked, excluded or beyond lengths"


def test_a_formula_that_fails_does_so_at_once() -> None:
    name = "FailsOfThree"

    @irbatch.define_measure(name, definition="It fails.", source="a test")
    def fails(s: Any) -> Any:
        return np.where(s.hits > 2, np.nan, s.hits)

    for measures, labels, said in (
        (name, [[1, 1, 1]], "returned NaN"),
        ("DCG(gain=exp)", [[2000, 0, 0]], "overflows"),
        ("RR", [[0.5, 0, 0]], "whole number"),
        ("DCG", [[2.0**54, 1, 0]], "not a grade"),
    ):
        evaluator = BatchEvaluator(measures)
        input_error(lambda each=evaluator, given=labels: each.update([[3, 2, 1]], given), said)
        assert len(evaluator) == 0


@KEEPS
def test_threads_share_an_evaluator(keep: str) -> None:
    evaluator = BatchEvaluator("RR AP", keep=keep)
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            for done in [threads.submit(evaluator.update, [[2, 1, 3]], positives=[each % 3])
                         for each in range(1500)]:  # fmt: skip
                done.result()
    finally:
        sys.setswitchinterval(switching)
    assert len(evaluator) == 1500
    assert (
        evaluator.compute()["RR"]
        == irbatch.evaluate_scores([[2, 1, 3]] * 3, positives=[0, 1, 2], measures="RR")["RR"]
    )


@pytest.mark.parametrize("repeated", ["error", "first"])
def test_an_update_that_fails_changes_nothing(
    repeated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = BatchEvaluator(MEASURES, repeated=repeated)
    updated(evaluator, slice(0, 5))
    before = evaluator.state_dict()

    def fail(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    for name in ("compute_blocks", "rank_candidates", "count_candidates"):
        with monkeypatch.context() as patched:
            patched.setattr(irbatch.evaluation.scores, name, fail)
            with pytest.raises(KeyboardInterrupt):
                updated(evaluator, slice(3, 8))
        assert evaluator.state_dict() == before


# ---------------------------------------------------------------- states of something else


OF_STATES = "RR GMAP NumRel Bpref"
State = dict[str, Any]


def evaluator(keep: str = "queries", **options: Any) -> BatchEvaluator:
    return BatchEvaluator(OF_STATES, keep=keep, **options)


def filled(keep: str = "queries", **options: Any) -> BatchEvaluator:
    """One that has seen two queries, one without relevant documents, and documents in columns."""
    made = evaluator(keep, **options)
    scores, labels = [[3, 2, 1], [1, 2, 3]], [[0, 1, 0], [0, 0, 0]]
    made.update(scores, labels, query_ids=["a", "b"] if keep == "queries" else None)
    made.update_columns(["c", "d"], ["x", "y"], [1.0, 2.0], [1, 0])
    return made


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_garbage_is_rejected_or_another_state(keep: str) -> None:
    good = filled(keep).state_dict()
    kept = filled(keep)
    for path in places(good):
        for value in GARBAGE:
            bad = replaced(good, path, value)
            if refusal(lambda kept=kept, bad=bad: kept.load_state_dict(bad)):
                assert kept.state_dict() == good, (path, value)
            else:
                kept.state_dict()
                kept = filled(keep)


OTHER_STATES: list[tuple[str, Path, Any, tuple[str, ...]]] = [
    ("queries", ("measures",), ["RR", "GMAP", "NumRel", "AP"], ("measures", "AP")),
    ("queries", ("measures",), ["RR@1", "GMAP", "NumRel", "Bpref"], ("measures", "RR@1")),
    ("queries", ("format",), 1, ("format", "1")),
    ("queries", ("keep",), "sums", ("keep", "sums")),
    ("queries", ("query_ids",), ["a", "a"], ("query_ids",)),
    ("queries", ("query_ids",), ["a", "b", "c"], ("query_ids",)),
    ("queries", ("values",), [[0.5, 0.5, 1.0, 1.0]], ("(2,4)",)),
    ("queries", ("marks", 0), 16, ("marks",)),
    ("queries", ("extra",), -1, ("extra",)),
    ("sums", ("counts", 0), -1, ("counts",)),
    ("sums", ("zeros",), [0] * 3, ("shape",)),
]


@pytest.mark.parametrize(("keep", "path", "value", "facts"), OTHER_STATES, ids=str)
def test_states_of_something_else(
    keep: str, path: Path, value: Any, facts: tuple[str, ...]
) -> None:
    bad = replaced(filled(keep).state_dict(), path, value)
    for change in (evaluator(keep).load_state_dict, evaluator(keep).merge):
        input_error(lambda change=change: change(bad), *facts)


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_keys_that_are_missing(keep: str) -> None:
    good = filled(keep).state_dict()
    for key in good:
        bad = without(good, (key,))
        input_error(lambda bad=bad: evaluator(keep).load_state_dict(bad), repr(key))


def test_values_that_are_not_averaged_may_be_kept() -> None:
    for options in ({"no_relevant": "skip"}, {}):
        made = evaluator(**options)
        made.update([[1, 2], [1, 2]], [[1, 0], [0, 0]])
        again = evaluator(**options)
        again.load_state_dict(json.loads(json.dumps(made.state_dict())))
        assert repr(again.state_dict()) == repr(made.state_dict())


class Text(str):
    __slots__ = ()


def json_copy(state: State) -> Any:
    return json.loads(json.dumps(state))


def pickled_copy(state: State) -> Any:
    return pickle.loads(pickle.dumps(state))


def torch_copy(state: State) -> Any:
    torch = pytest.importorskip("torch")
    buffer = BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


@pytest.mark.parametrize("copied", [json_copy, pickled_copy, torch_copy])
@pytest.mark.parametrize("options", [{}, {"keep": "sums"}, {"no_relevant": "skip"}], ids=str)
def test_states_are_plain_numbers_and_texts(
    copied: Callable[[State], Any], options: dict[str, Any]
) -> None:
    made = filled(**options)
    if made.state_dict()["keep"] == "queries":
        made.update([[1, 2]] * 2, positives=[0, 1], query_ids=[np.int64(3), np.int8(4)])
        made.update([[1, 2]] * 2, positives=[0, 1], query_ids=[Text("t"), np.str_("u")])
    made.update_columns(
        [Text("e"), np.str_("e")], [Text("x"), np.str_("y")],
        [np.float32(0.1), 2**60], [np.int8(1), np.float64(0)],
    )  # fmt: skip
    state = made.state_dict()
    again = made.__class__(OF_STATES, **options)
    again.load_state_dict(copied(state))
    assert repr(again.state_dict()) == repr(state)
    assert repr(again.compute().mean()) == repr(made.compute().mean())
