"""Partial results: whatever the parts and the order they are added in, one process' bits."""

from __future__ import annotations

import itertools
import json
import pickle
from random import Random
from typing import Any

import pytest
from support.input_errors import input_error, refusal
from support.measure_variants import VARIANTS, builtin_names
from support.partitions import assert_same_bits, cut
from support.random_problems import nasty_problems
from support.replacing import GARBAGE, places, replaced, without

import irbatch
from irbatch import Items
from irbatch.measures import measure
from irbatch.partial import PartialResult, evaluate_partition, merge_partials

EVERY = [
    measure(name)(**parameters)
    for name in sorted(builtin_names()) for parameters in VARIANTS[name]
]  # fmt: skip
FEW = "nDCG@10 GMAP NumRel GAUC Bpref"
SETTINGS: list[dict[str, Any]] = [
    {}, {"missing": "skip"}, {"no_relevant": "skip"}, {"judged_only": True},
    {"trec_eval": 9, "ties": "id_ascending"},
]  # fmt: skip
KEEPS = ("queries", "sums")
QRELS = {f"q{i}": {"d1": 1, "d2": i % 3} for i in range(5)}
RUN = {f"q{i}": {"d1": float(i), "d2": 1.5, "d3": 1.0} for i in (0, 1, 2, 4, 9)}


def parts_of(
    qrels: Any, run: Any, measures: Any, seed: int = 0, **settings: Any
) -> list[PartialResult]:
    run_parts = cut(run, Random(seed))
    return [
        evaluate_partition(qrels, part, measures, name=f"part {i}", **settings)
        for i, part in enumerate(run_parts)
    ]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_measure_by_query_and_in_sums(settings: dict[str, Any]) -> None:
    for seed, problem in enumerate(nasty_problems(11, 4)):
        judgments, run = problem
        qrels = {  # on the scale of measures that have one
            query: {each: max(min(grade, 4), -1) for each, grade in documents.items()}
            for query, documents in judgments.items()
        }
        wanted = irbatch.evaluate(qrels, run, EVERY, **settings)
        for keep in KEEPS:
            found = merge_partials(parts_of(qrels, run, EVERY, seed, keep=keep, **settings))
            assert_same_bits(found.results(qrels), wanted)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_many_problems_in_any_order_and_grouping(keep: str, settings: dict[str, Any]) -> None:
    for seed, (qrels, run) in enumerate(nasty_problems(5, 12)):
        wanted = irbatch.evaluate(qrels, run, FEW, **settings)
        a, b, c = parts_of(qrels, run, FEW, seed, keep=keep, **settings)
        both = merge_partials([b, c])
        sums = merge_partials([a, both]), merge_partials([both, a]), merge_partials([c, a, b])
        for found in sums:
            assert_same_bits(found.results(qrels), wanted)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_judgments_that_come_with_the_partitions(keep: str, settings: dict[str, Any]) -> None:
    """Then a query's judgments and ranking are in one place, and a query nobody judged, too."""
    for seed, (qrels, run) in enumerate(nasty_problems(7, 12)):
        queries = dict.fromkeys(sorted({*qrels, *run}))
        wanted = irbatch.evaluate({q: qrels[q] for q in sorted(qrels)}, run, FEW, **settings)
        found = merge_partials(
            evaluate_partition(
                {query: qrels[query] for query in part if query in qrels},
                {query: run[query] for query in part if query in run},
                FEW, keep=keep, apart=True, **settings,
            )
            for part in cut(queries, Random(seed))
        )  # fmt: skip
        assert_same_bits(found.results(), wanted)


@pytest.mark.parametrize("keep", KEEPS)
def test_judgments_of_subtopics_strata_and_probabilities(keep: str) -> None:
    subtopics = {f"q{i}": {1: {"d1": 1, "d3": i % 2}, 2: {"d2": 1}} for i in range(5)}
    strata = {f"q{i}": {1: {"d1": 1, "d3": 2}, 2: {"d2": -1, "d4": i % 3}} for i in range(5)}
    drawn = {f"q{i}": {"d1": (1, 1.0), "d2": (i % 3, 0.25)} for i in range(5)}
    cases: list[tuple[Any, str]] = [
        (subtopics, "alpha_nDCG@5 NRBP StRecall@2"), (strata, "xInfAP InfNDCG InfNumRel"),
        (drawn, "StatAP StatP@5"),
    ]  # fmt: skip
    for judgments, names in cases:
        found = merge_partials(parts_of(judgments, RUN, names, keep=keep))
        assert_same_bits(found.results(judgments), irbatch.evaluate(judgments, RUN, names))


@pytest.mark.parametrize("keep", KEEPS)
def test_measures_of_items_and_of_the_whole_run(keep: str) -> None:
    items = Items(["d1", "d2", "d3"], popularity={"d1": 5, "d2": 1})
    names = "Gini@2 Entropy CatalogueCoverage@1 AvgPopularity@2 RR"
    wanted = irbatch.evaluate(QRELS, RUN, names, items=items)
    parts = parts_of(QRELS, RUN, names, keep=keep, items=items)
    states = [json.loads(json.dumps(part.state_dict())) for part in parts]
    copied = [PartialResult.from_state(state, items=items) for state in states]
    for each in (parts, copied):
        assert_same_bits(merge_partials(each).results(QRELS), wanted)
    input_error(lambda: PartialResult.from_state(states[0]), "items=")


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("settings", [{}, {"no_relevant": "skip"}, {"apart": True}], ids=str)
def test_they_pickle_and_go_through_json(keep: str, settings: dict[str, Any]) -> None:
    for qrels, run in [*nasty_problems(3, 6), (QRELS, {"z": {"d": 2.0}}), (QRELS, {})]:
        judgments = None if settings.get("apart") and "z" in run else qrels
        part = evaluate_partition(judgments, run, FEW, keep=keep, name="a", **settings)
        state = json.loads(json.dumps(part.state_dict(), allow_nan=False))
        for again in (pickle.loads(pickle.dumps(part)), PartialResult.from_state(state)):
            assert repr(again.state_dict()) == repr(part.state_dict())
            assert len(again) == len(part)


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("keep", KEEPS)
def test_a_query_in_two_partitions(keep: str, apart: bool) -> None:
    one, other = ({"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, {"q1": {"d1": 1.0}})
    parts = [
        evaluate_partition(QRELS, run, "RR", keep=keep, apart=apart, name=name)
        for run, name in ((one, "first.run"), (other, "second.run"))
    ]
    if keep == "sums" and apart:  # which keep nothing of queries
        assert len(merge_partials(parts)) == 2 * len(QRELS)
        return
    for each in (parts, parts[::-1]):
        place = {"source": "partial", "path": each[1].name}
        if keep == "queries" and not apart:
            place["query"] = "q1"
        input_error(lambda each=each: merge_partials(each), "two partitions", **place)
    assert len(parts[0]) == (2 if not apart else len(QRELS))


def test_what_was_added_to_stays_as_it_was() -> None:
    a, b, c = (evaluate_partition(QRELS, {q: RUN[q]}, "RR") for q in ("q0", "q1", "q2"))
    both, other = merge_partials([a, b]), merge_partials([a, c])
    whole, again = merge_partials([both, c]), merge_partials([other, b])
    assert (len(a), len(both), len(other), len(whole)) == (1, 2, 2, 3)
    assert_same_bits(again.results(QRELS), whole.results(QRELS))
    assert both.results(QRELS).counts.answered == 2


DIFFERENT: list[tuple[dict[str, Any], str]] = [
    ({"measures": "RR AP"}, "measures"), ({"keep": "sums"}, "keep"), ({"apart": True}, "judgments"),
    ({"missing": "skip"}, "missing queries"), ({"max_depth": 5}, "depth"), ({"rel": 2}, "relevant"),
    ({"ties": "index"}, "order"), ({"qrels": {"q1": {"d1": 2}}}, "judgments"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "what"), DIFFERENT, ids=str)
def test_what_does_not_add_up(change: dict[str, Any], what: str) -> None:
    plain: dict[str, Any] = {"qrels": {"q1": {"d1": 1}}, "run": {"q1": {"d1": 1.0}}}
    plain["measures"] = "RR"
    one, other = (evaluate_partition(**{**plain, **each}) for each in ({}, change))
    for first, second in ((one, other), (other, one)):
        given = [first, second]
        input_error(lambda g=given: merge_partials(g), f"{what} is ", source="partial")
    assert len(one) == 1


def test_misuse() -> None:
    part = evaluate_partition(QRELS, RUN, "RR")
    input_error(lambda: merge_partials([]), "no partial results", source="partial")
    input_error(lambda: merge_partials([part, 1]), "int", source="partial")
    input_error(part.results, "judgments", source="qrels")
    input_error(lambda: part.results({"q1": {"d1": 1}}), "other judgments", source="qrels")
    apart = evaluate_partition(QRELS, RUN, "RR", apart=True)
    input_error(lambda: apart.results(QRELS), "apart=True", source="qrels")
    input_error(lambda: evaluate_partition(None, RUN, "RR"), "apart=True", source="qrels")
    input_error(lambda: evaluate_partition(QRELS, RUN, "RR", keep="all"), "keep='all'")


def test_what_is_said_of_all_is_said_once_and_at_the_end() -> None:
    """Of a partition alone nothing is said: no document of it may be judged, no query even."""
    run = {f"q{i}": {"other": 1.0} for i in range(20)}
    qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    for keep, missing in itertools.product(KEEPS, ("zero", "error")):
        parts = parts_of(qrels, run, "RR MeanRank", keep=keep, missing=missing)
        with pytest.warns(irbatch.InputWarning) as told:
            merge_partials(parts).results(qrels, name="bm25")
        with pytest.warns(irbatch.InputWarning) as wanted:
            irbatch.evaluate(qrels, irbatch.Run(run, "bm25"), "RR MeanRank", missing=missing)
        assert sorted(str(w.message) for w in told) == sorted(str(w.message) for w in wanted)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("apart", [False, True])
def test_refusals_of_all_together(keep: str, apart: bool) -> None:
    few = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    options: dict[str, Any] = {"keep": keep, "apart": apart, "missing": "error"}
    part = evaluate_partition(few, {"q1": {"d1": 1.0}}, "RR", **options)
    given = () if apart else (few,)
    input_error(lambda: part.results(*given, name="x"), "1 of 2", source="run", path="x")
    part = evaluate_partition(few, {"x": {"d1": 1.0}}, "RR", keep=keep, apart=apart)
    input_error(lambda: part.results(*given), "no query of it is judged (of 1)", source="run")
    input_error(
        lambda: evaluate_partition(few, {8: {"d1": 1.0}}, "RR", keep=keep, apart=apart),
        "text in the qrels and whole numbers in the run", source="run",
    )  # fmt: skip
    part = evaluate_partition(few, {}, "RR", keep=keep, apart=apart)
    with pytest.warns(irbatch.InputWarning, match="empty"):
        part.results(*given)


@pytest.mark.parametrize("keep", KEEPS)
def test_garbage_is_rejected_or_another_state(keep: str) -> None:
    good = evaluate_partition(QRELS, RUN, FEW, keep=keep).state_dict()
    for path in places(good):
        for value in GARBAGE:
            bad = replaced(good, path, value)
            if refusal(lambda bad=bad: PartialResult.from_state(bad)) is None:
                PartialResult.from_state(bad).state_dict()
    for key in good:
        bad = without(good, (key,))
        input_error(lambda bad=bad: PartialResult.from_state(bad), repr(key))
