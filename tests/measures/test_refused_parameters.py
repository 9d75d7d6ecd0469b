"""Parameters that measures which walk the judged documents, and those new with them, refuse."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import evaluate, evaluate_matrix, measure


@pytest.mark.parametrize(
    ("name", "parameter", "values", "fact"),
    [
        ("IPrec", "recall", [-0.1, -1], "at least 0"),
        ("IPrec", "recall", [1.5, np.float32(2)], "at most 1"),
        ("IPrec", "recall", [math.nan, math.inf], "a finite number"),
        ("IPrec", "recall", ["x", "0.5", True, None, [0.5], 1j, np.array([0.5])], "a number"),
        ("IPrec", "recall", [10**400], "float64"),
        ("IPrec", "rounding", ["down", "", None, 1], "one of nearest, up"),
        ("IPrecAvg", "rounding", ["down"], "one of nearest, up"),
        ("IPrecAvg", "points", [(), [], (0.5, 0.5), [0.0, -0.0], iter(())], "each once"),
        ("IPrecAvg", "in_order", [(), [0.5, 1.5], 0.5, ["x"]], "several numbers"),
        ("IPrecAvg", "points", ["x", "0.5", {}, {0.5: 1}, 0.5, None], "several numbers"),
        ("IPrecAvg", "points", [[[0.5]], [0.5, None], [0.5, True], [0.5, "x"]], "a number"),
        ("IPrecAvg", "points", [[0.5, math.nan], [math.inf]], "a finite number"),
        ("IPrecAvg", "points", [[0, 1.5], [2]], "at most 1"),
        ("IPrecAvg", "points", [[-0.5, 1]], "at least 0"),
        ("RBP", "p", [0, 0.0, -1], "above 0"),
        ("RBP", "p", [1, 2], "below 1"),
        ("RBP", "p", ["0.5", True, None], "a number"),
        ("RBPresid", "p", [1], "below 1"),
        ("RBPresid", "tail", ["never", None, True], "one of unjudged, always"),
        ("RprecMult", "times", [-1, -0.1], "at least 0"),
        ("RprecMult", "times", [math.inf, math.nan], "a finite number"),
        ("Utility", "docs", [-1], "at least 0"),
        ("Utility", "a", [math.nan, -math.inf], "a finite number"),
        ("G", "gain", ["nope", 3, None], "one of linear, exp, binary"),
        ("G", "gain", [{"a": 1}, {1: math.nan}, {1: math.inf}, [(1,)]], "a map of grades"),
        ("G", "gain", [{-1: 2}, {1: 2, -0.5: -1}], "a map of grades"),
        ("nDCGrel", "discount", ["nope", None, 2], "one of log2"),
        ("Bpref", "rel", [-1], "at least 0"),
        ("Bpref", "norm", ["both", "n", None], "one of min, R, N, relative"),
        ("ERR", "max_grade", [0, -1], "above 0"),
        ("nERR", "max_grade", ["4", None], "a number"),
        ("iRBU", "p", [0, 1.5], "a number"),
        ("EBR", "beta", [-1], "at least 0"),
        ("NCUrb", "utility", ["Q", None], "one of P, BR, IE"),
        ("NCUrb", "gamma", [0, 1.01], "a number"),
        ("NCUgu", "utility", ["IE"], "one of P, BR"),
        ("NCUgu", "stops", ["stop", 3], "one of linear, exp, binary"),
        ("nDCG", "discount", ["jk", "jk0", "jk1", "jk-2", "jk2.5"], "jk and a base"),
    ],
)
def test_parameters(name: str, parameter: str, values: list[object], fact: str) -> None:
    for value in values:
        error = input_error(functools.partial(measure(name), **{parameter: value}), name, fact)
        assert error.value is value


def test_a_zero_has_no_sign() -> None:
    assert math.copysign(1.0, measure("Qmeasure")(beta=-0.0)["beta"]) == 1.0


def test_negative_grades_have_no_gain() -> None:
    assert measure("G")(gain={-1: 0, 1: 2}) == measure("G")(gain={1: 2})


@pytest.mark.parametrize(
    ("fact", "wishes"),
    [
        ("cutoff", ["IPrec@nan", "IPrecAvg@0.5", "YAAP@-1", "Bpref@0"]),
        ("at most 1", ["IPrec@1.5", "IPrecAvg(points={0,2})"]),
        ("at least 0", ["IPrec@-0.1", "RprecMult(times=-1)"]),
        ("must be a number", ["IPrec@0.x", "GMAP(rel=x)", "RBP(p=1)@5"]),
        ("a finite number", ["IPrecAvg(points={1e400})", "RprecMult(times=1e400)"]),
        ("several numbers", ["IPrecAvg(points={.5,.5})", "IPrecAvg(points={.5:1})"]),
        ("is not a number", ["IPrecAvg(points={.5,x})", "IPrecAvg(points={0.5,})"]),
        ("no parameter", ["BinG(gain=exp)", "G(discount=ln)", "RnDCG(p=1)"]),
        ("grade 1 has two gains", ["nDCGrel(gain={1:2,1:3})"]),
    ],
)
def test_parameters_in_a_name(fact: str, wishes: list[str]) -> None:
    for wish in wishes:
        input_error(functools.partial(measure, wish), fact)
        input_error(
            functools.partial(evaluate, {"q": {"a": 1}}, {"q": {"a": 1.0}}, ["AP", wish]), fact
        )


@pytest.mark.parametrize("name", ["ERR", "nEBR", "iRBU", "RBP(max_grade=4)", "Rpref(max_grade=4)"])
def test_grade_above_the_scale(name: str) -> None:
    qrels = {"q": {"a": 1, "b": 4}, "r": {"c": 2, "d": 5}}
    run = {"q": {"a": 1.0}, "r": {"c": 1.0}}
    fact = "grade 5 is above the max_grade of " + name
    for wish in (name, f"{name}@3"):
        input_error(lambda wish=wish: evaluate(qrels, run, ["AP", wish]), fact, query="r",
                    document="d", value=5.0)  # fmt: skip
    input_error(lambda: evaluate_matrix([[1, 5]], name), fact, value=5.0)
    assert evaluate({"q": qrels["q"]}, run, name)[name] > 0


def test_a_lower_grade_of_higher_gain() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 1.0}}
    wish = "ERR(max_grade=2,gain={1:3,2:2})"
    input_error(lambda: evaluate(qrels, run, wish), "gain 3 of grade 1 is above 2", value=1.0)
    # A grade that a map doesn't name keeps itself as gain.
    assert evaluate(qrels, run, "ERR(max_grade=3,gain={1:2})").values.item() == 2 / 4
