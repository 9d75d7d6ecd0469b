"""Measures of users that read judged documents, or are averaged geometrically, when they fail."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import define_measure, evaluate
from irbatch.measures import CATALOGUE, Choice, Measure, Number, Points

# Relevant are 2 documents of q1, none of q2 and 1 of q3.
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 0}, "q3": {"y": 1}}
RUN = {"q1": {"a": 1.0, "b": 2.0, "z": 3.0}, "q2": {"x": 1.0}, "q3": {"y": 1.0}}


class TestUsers:
    """Measures of users that read judged documents, or that are averaged geometrically."""

    @staticmethod
    def define(formula: Callable[..., Any], **declared: Any) -> Measure:
        return define_measure("Mine", **{"definition": "", "reads": "judged", **declared})(formula)

    @pytest.mark.parametrize(
        "formula",
        [
            lambda j: 1.0,
            lambda j: None,
            lambda j: np.ones(1),
            lambda j: np.ones(j.queries + 1),
            lambda j: np.ones((j.queries, 1)),
            lambda j: np.ones((1, j.queries)),
            lambda j: np.ones(0),
        ],
    )
    def test_wrong_shapes(self, formula: Callable[..., Any]) -> None:
        mine = self.define(formula)
        input_error(
            lambda: evaluate(QRELS, RUN, mine), "formula of Mine returned shape", "for (3,)"
        )

    @pytest.mark.parametrize(
        ("formula", "fact"),
        [
            (lambda j: j.relevant * math.nan, "returned NaN"),
            (lambda j: "abc", "ValueError"),
            (lambda j: [object()] * j.queries, "TypeError"),
            (lambda j: [[1], [1, 2], [3]], "ValueError"),
            (lambda j: QRELS["x"], "KeyError: 'x'"),
            (lambda j: j.hits_at_relevant, "no attribute 'hits_at_relevant'"),
            (lambda: 1, "TypeError"),
        ],
    )
    def test_failures(self, formula: Callable[..., Any], fact: str) -> None:
        mine = self.define(formula)
        input_error(lambda: evaluate(QRELS, RUN, ["Bpref", mine]), "formula of Mine", fact,
                source="measures")  # fmt: skip

    @pytest.mark.parametrize("returned", [[2, 0, 1], (2.0, 0.0, 1.0), np.array([2, 0, 1], np.int8)])
    def test_anything_that_makes_an_array(self, returned: Any) -> None:
        assert evaluate(QRELS, RUN, self.define(lambda j: returned)).mean() == {"Mine": 1.0}

    @pytest.mark.parametrize("reads", ["judged", "prefix"])
    def test_geometric_mean_of_zeros(self, reads: str) -> None:
        mine = self.define(lambda known: known.retrieved * 0.0, aggregate="geometric", reads=reads)
        results = evaluate(QRELS, RUN, mine)
        assert results["Mine"] == results.mean()["Mine"] == 0.0
        assert "Mine  0.0000" in repr(results)
        assert json.loads(results.to_json())["mean"] == {"Mine": 0.0}

    def test_geometric_mean_without_the_zero(self) -> None:
        mine = self.define(lambda j: j.relevant, aggregate="geometric")  # 2, 0, 1
        assert evaluate(QRELS, RUN, mine)["Mine"] == 0.0
        skipped = evaluate(QRELS, RUN, mine, no_relevant="skip")
        assert skipped["Mine"] == pytest.approx(math.sqrt(2))

    @pytest.mark.parametrize("value", [5e-324, 1e-300, 1e300])
    def test_geometric_mean_of_extremes(self, value: float) -> None:
        mine = self.define(lambda j: np.full(j.queries, value), aggregate="geometric")
        assert evaluate(QRELS, RUN, mine)["Mine"] == pytest.approx(value, rel=1e-9)

    @pytest.mark.parametrize(
        ("declared", "fact"),
        [
            ({"aggregate": "median"}, "'mean', 'geometric', 'sum'"),
            ({"aggregate": []}, "aggregate=[]"),
            ({"reads": "scores"}, "'prefix', 'grades', 'judged'"),
            ({"reads": None}, "reads=None"),
            ({"parameters": {"points": (1, 2)}}, "parameter 'points' of Mine is (1, 2)"),
            ({"aggregate": "weighted"}, "a weighted mean needs weights"),
            ({"weight": lambda j: j.relevant}, "no other has any"),
            ({"reads": "subtopics", "undefined": 0.0}, "reads 'subtopics'"),
        ],
    )
    def test_declarations(self, declared: dict[str, Any], fact: str) -> None:
        input_error(lambda: self.define(lambda j: j.relevant, **declared), fact)

    @pytest.mark.parametrize(
        ("weight", "fact"),
        [(-1.0, "-1"), (math.nan, "weight of Mine returned NaN"), (math.inf, "returned inf")],
    )
    def test_weights(self, weight: float, fact: str) -> None:
        mine = self.define(
            lambda j: j.relevant,
            aggregate="weighted",
            weight=lambda j: np.where(j.relevant > 1, weight, 1.0),
        )
        input_error(lambda: evaluate(QRELS, RUN, mine), "Mine", fact)

    def test_parameter_without_a_declaration(self) -> None:
        input_error(
            lambda: self.define(lambda j, points=(1, 2): j.relevant), "'points'", "parameters="
        )
        input_error(lambda: self.define(lambda j, points: j.relevant), "'points'", "parameters=")

    def test_all_kinds_of_parameters(self) -> None:
        mine = self.define(
            lambda j, points, least, word: np.full(j.queries, sum(points) + least + len(word)),
            parameters={
                "points": Points((0.5,), most=3),
                "least": Number(1.0, most=2.0),
                "word": Choice("a", ("a", "bb")),
            },
        )
        wish = mine(points=[3, 1], least=2, word="bb")
        assert str(wish) == "Mine(points={1,3},least=2,word=bb)"
        assert evaluate(QRELS, RUN, str(wish))[wish] == 8.0
        input_error(lambda: mine(points=[4]), "at most 3")
        input_error(lambda: mine(word="c"), "one of a, bb")

    def test_undefined_again(self) -> None:
        mine = self.define(lambda j: j.relevant)
        frozen = pickle.dumps(evaluate(QRELS, RUN, mine))
        del CATALOGUE["Mine"]
        input_error(lambda: pickle.loads(frozen), "'Mine' is not defined in this process")
