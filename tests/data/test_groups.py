"""Groups of items and propensities: what they are read from, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from oracle import propensities as twin
from support.input_errors import input_error

import irbatch
from irbatch import Groups

HALVES = {"A": 0.5, "B": 0.5}


def test_items_of_one_group_share_what_is_known() -> None:
    groups = Groups({"a": "A", "b": HALVES, "c": "A", "d": "B", "e": {"A": 1 / 3, "C": 2 / 3}})
    assert groups.names == ["A", "B", "C"]
    assert groups.ids == ["a", "b", "c", "d", "e"]
    assert repr(groups) == "<Groups: 5 items, 3 groups>"
    aligned = groups.align(["e", "c", "a"])
    assert aligned.vectors[aligned.codes].tolist() == [[1 / 3, 0, 2 / 3], [1, 0, 0], [1, 0, 0]]
    assert len(aligned.vectors) == 4


def test_numbers_are_ids_and_groups() -> None:
    groups = Groups({1: 10, 2: {10: 0.5, 20: 0.5}}, {20: 1})
    assert groups.names == [10, 20]
    run: Any = {"q": {1: 1.0, 2: 2.0}}
    items = irbatch.Items(groups=groups)
    assert irbatch.evaluate({"q": {1: 1}}, run, "Exposure(group=10)@1", items=items).mean() == {
        "Exposure(group=10)@1": 0.5
    }


def test_items_without_a_group() -> None:
    groups = Groups({"b": {"A": 0, "B": 0}, "a": "A", "c": {}})
    assert groups.align(["b", "a", "c"]).codes.tolist() == [-1, 1, -1]
    assert groups.align(["x", "a"], every=False).codes.tolist() == [-1, 1]
    whole = Groups({"a": "A"})
    input_error(lambda: whole.align(["a", "x"]), document="x")
    input_error(lambda: irbatch.Items(["a", "x"], groups=whole), document="x")
    input_error(lambda: irbatch.Items(groups=[1]), "mapping", source="groups")


@pytest.mark.parametrize(
    ("members", "facts", "fields"),
    [
        ([("a", "A")], ["mapping", "list"], {}),
        ({}, ["no items"], {}),
        ({"a": {}}, ["no item belongs to a group"], {}),
        ({"a": {"A": 0.5, "B": 0.4}}, ["0.9", "not to 1"], {"document": "a"}),
        ({"a": {"A": 1.5, "B": -0.5}}, ["1.5", "'A'"], {"document": "a", "value": 1.5}),
        ({"a": {"A": -0.5, "B": 1.5}}, ["-0.5", "'A'"], {"document": "a", "value": -0.5}),
        ({"a": {"A": math.nan}}, ["nan"], {"document": "a"}),
        ({"a": {"A": "1"}}, ["'1'"], {"document": "a", "value": "1"}),
        ({"a": {"A": True}}, ["True"], {"document": "a", "value": True}),
        ({"a": 1.5}, ["group id 1.5"], {"value": 1.5}),
        ({"a": None}, ["group id None"], {}),
        ({"a": "A", "b": 1}, ["group ids", "two kinds"], {}),
        ({"a": "A", 1: "A"}, ["document ids", "two kinds"], {}),
        ({"a": {1.5: 1}}, ["group id 1.5"], {}),
    ],
)
def test_refused_members(members: Any, facts: list[str], fields: dict[str, Any]) -> None:
    input_error(lambda: Groups(members), *facts, source="groups", **fields)


@pytest.mark.parametrize(
    ("target", "facts", "fields"),
    [
        ([0.5, 0.5], ["mapping"], {}),
        ({}, ["mapping"], {}),
        ({"A": 0.5, "B": 0.6}, ["1.1", "not to 1"], {}),
        ({"A": 0.0, "B": 0.0}, ["0", "not to 1"], {}),
        ({"A": -1.0, "B": 2.0}, ["-1"], {"value": -1.0}),
        ({"A": 0.5, "C": 0.5}, ["'C'", "'A'"], {"value": "C"}),
        ({"q": HALVES, "p": {"A": 1, "B": 1}}, ["2"], {"query": "p"}),
        ({"q": HALVES, "p": {"D": 1}}, ["'D'"], {"query": "p", "value": "D"}),
        ({"q": HALVES, "p": 1}, ["not a mapping"], {"query": "p", "value": 1}),
    ],
)
def test_refused_targets(target: Any, facts: list[str], fields: dict[str, Any]) -> None:
    members: dict[str, Any] = {"a": "A", "b": "B"}
    input_error(lambda: Groups(members, target), *facts, source="groups", **fields)


# ---------------------------------------------------------------- propensities


def test_label_propensities() -> None:
    found = irbatch.data.label_propensities({"a": 0, "b": 250}, 610, 0.6, 2.6)
    assert found == pytest.approx(
        {"a": twin.propensity(0, 610, 0.6, 2.6), "b": twin.propensity(250, 610, 0.6, 2.6)},
        rel=1e-14,
    )
    array = irbatch.data.label_propensities(np.array([0, 250]), 610, 0.6, 2.6)
    assert array.tolist() == list(found.values())
    assert irbatch.data.label_propensities([3], 3)[0] <= 1


def test_popularity_propensities() -> None:
    assert irbatch.data.popularity_propensities([4, 1], gamma=0).tolist() == [1, 0.5]
    assert irbatch.data.popularity_propensities({"a": 4, "b": 1}, gamma=3) == {"a": 1, "b": 1 / 16}


def test_refused_propensities() -> None:
    label: Any = irbatch.data.label_propensities
    popular: Any = irbatch.data.popularity_propensities
    input_error(lambda: label({"a": 1}, 2), "instances=2")
    input_error(lambda: label({"a": 1}, 10, b=0), "b=0")
    input_error(lambda: label({"a": 1, "b": -1}, 10), "-1", document="b")
    input_error(lambda: label({"a": "x"}, 10), "'x'", document="a")
    input_error(lambda: label([[1]], 10), "shape (1, 1)")
    input_error(lambda: label(["x"], 10), "'x'", document=0)
    input_error(lambda: popular({"a": 1, "b": 0}), "above 0", document="b")
    input_error(lambda: popular([1.0, math.nan]), "nan", document=1)
    input_error(lambda: popular([1.0], gamma=-1), "gamma=-1")
    for value in (0, -0.5, 1.5, math.nan, "x"):
        given = {"a": 0.5, "b": value}
        input_error(
            lambda given=given: irbatch.Items(propensities=given), "propensities", document="b"
        )
    some: Any = {"a": 0.5}
    input_error(lambda: irbatch.Items(["a", "b"], propensities=some), document="b")
    input_error(lambda: irbatch.Items(2, propensities=[0.5]), "2 items")
