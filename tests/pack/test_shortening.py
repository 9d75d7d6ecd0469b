"""Rankings shortened to what is looked at give the same values, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from support.input_errors import input_error

import irbatch
from irbatch.engine.ties import Ordering, TiePolicy
from irbatch.pack.join import shortened

NAMES = "alpha_nDCG@{1,3} NRBP@2 StRecall(rel=2)@3 P_IA@3"
Table = dict[str, dict[str, float]]


def problems(seed: int) -> Iterator[tuple[dict[str, Any], Table]]:
    rng = Random(seed)
    for scores in ((0, 1, 2), (0.1, 0.1 + 1e-12, 0.2), tuple(range(99)), (math.inf, 0, -math.inf)):
        documents = [f"d{i}" for i in range(30)]
        judgments = {
            str(query): {
                subtopic: {each: rng.choice((0, 1, 2)) for each in rng.sample(documents, 20)}
                for subtopic in ("a", "b", "c")
            }
            for query in range(12)
        }
        run = {
            str(query): {each: float(rng.choice(scores)) for each in rng.sample(documents, size)}
            for query, size in enumerate((0, 1, 2, 3, 4, 5, 20, 30, 30, 30), 1)
        }
        for query in ("8", "9"):  # in order
            run[query] = dict(sorted(run[query].items(), key=lambda item: -item[1]))
        yield judgments, run


def of(judgments: Any, run: Any, **settings: Any) -> tuple[Any, ...]:
    found = irbatch.evaluate(judgments, run, NAMES, **settings)
    return found.values.tobytes(), found.query_ids, found.counts, found.marks.tolist()


@pytest.mark.parametrize("score_dtype", ["float64", "float32"])
def test_same_bits(score_dtype: str) -> None:
    ties = "id_ascending" if score_dtype == "float32" else "id"
    for judgments, run in problems(1):
        in_order = {
            query: dict(sorted(own.items(), key=lambda item: -item[1]))
            for query, own in run.items()
        }
        for settings in ({"missing": "skip"}, {"max_depth": 2}, {"judged_only": True}):
            settings |= {"score_dtype": score_dtype, "ties": ties}
            whole = of(judgments, run, **settings)
            for other in (irbatch.Run(run).prepared(), irbatch.Run(in_order).prepared()):
                assert of(judgments, other, **settings) == whole


def test_what_ties_with_the_last_rank_is_kept() -> None:
    rankings = {"q": {"b": 3.0, "c": 2.0, "d": 2.0, "a": 1.0, "e": 0.0}, "r": {"x": 1.0}}
    short = shortened(irbatch.Run(rankings).prepared(), 2, Ordering())
    assert short is not None
    assert short.to_dict() == {"q": {"b": 3.0, "c": 2.0, "d": 2.0}, "r": {"x": 1.0}}


def test_what_is_not_shortened() -> None:
    run = irbatch.Run({"q": {"a": 1.0, "b": 0.0}})
    for ties in (TiePolicy.INDEX, TiePolicy.EXPECTED, TiePolicy.ERROR):
        assert shortened(run.prepared(), 1, Ordering(ties=ties)) is None
    assert shortened(run, 1, Ordering()) is None
    unordered = irbatch.Run.from_columns(["q", "q"], ["a", "b"], [0.0, 1.0])
    assert shortened(unordered, 1, Ordering()) is None
    judgments = {"q": {"s": {"a": 1}}}
    for odd in ({"a": 2.0, "b": 1.0, "c": math.nan}, {"a": 2.0, "b": 1.0, "c": "x"}):
        wrong = {"q": odd}
        input_error(lambda wrong=wrong: irbatch.evaluate(judgments, wrong, NAMES), document="c")


def test_judged_documents_further_down_are_known_of() -> None:
    judgments = {str(query): {"s": {"d": 1}} for query in range(12)}
    run = {query: {**{f"u{i}": 9.0 - i for i in range(5)}, "d": 0.0} for query in judgments}
    prepared = irbatch.Run(run).prepared()
    assert irbatch.evaluate(judgments, prepared, "StRecall@3")["StRecall@3"] == 0  # no warning
    with pytest.warns(irbatch.InputWarning, match="none of its documents"):
        irbatch.evaluate(judgments, {q: {"u": 1.0} for q in judgments}, "StRecall@1")
