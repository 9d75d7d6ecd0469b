"""What comparisons say in plain words, and how surely."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.comparisons import make, nasty, no_constant
from support.input_errors import input_error

from irbatch.comparing import Comparison


def two(**fields: Any) -> Comparison:
    """B, of mean 0.33, against A, of mean 0.3, with p and bounds as given."""
    rises = np.array([0.05, 0.01, 0.05, 0.01]) if "rises" not in fields else fields.pop("rises")
    values = [[[0.3]] * 4, (0.3 + rises)[:, None].tolist()]
    bounds = fields.pop("bounds", (0.0125, 0.05))
    made = make(values, ["A", "B"], ["nDCG@10"], baseline="A", **fields)
    return replace(made, difference_intervals=np.array([[bounds]]))


def said(found: Comparison) -> str:
    return found.sentence("B", "A", "nDCG@10", digits=2)


THESE = "on queries like these"
SURE = "(95% confidence)."


def test_what_is_sure() -> None:
    better = two(p=0.01)
    assert (
        said(better)
        == f"B is better than A on nDCG@10 by 0.03 (+10.0%), and by more than 0.01 {THESE} {SURE}"
    )
    assert better.sentence("A", "B", "ndcg_cut_10", digits=2) == said(better), "either way round"
    assert better.sentences(digits=2) == [said(better)]
    turned = replace(two(p=0.01, bounds=(-0.05, -0.0199), rises=np.array([-0.05, -0.01] * 2)))
    assert (
        said(turned)
        == f"B is worse than A on nDCG@10 by 0.03 (-10.0%), and by more than 0.01 {THESE} {SURE}"
    )


def test_a_bound_near_zero_is_not_rounded_away_from_it() -> None:
    assert f"and by more than 0 {THESE} (" in said(two(p=0.01, bounds=(1e-9, 0.06)))
    assert f"and by more than 0 {THESE} (" in said(
        two(p=0.01, bounds=(-0.01, 0.06), simultaneous=False)
    )
    assert f"and by more than 0.02 {THESE} (" in said(two(p=0.01, bounds=(0.02999, 0.06)))


def test_where_lower_is_better_and_where_neither_is() -> None:
    assert "B is worse than A on nDCG@10 by 0.03" in said(two(p=0.01, signs=(-1,)))
    assert "B is higher than A on nDCG@10 by 0.03" in said(two(p=0.01, signs=(0,)))
    between = "B or A is higher on nDCG@10"
    assert between in said(two(p=0.5, bounds=(-0.01, 0.06), signs=(0,)))


def test_what_is_not_decided() -> None:
    found = two(p=0.2, bounds=(-0.012, 0.05))
    assert said(found) == (
        "It is not decided whether B or A is better on nDCG@10: the difference is between -0.01 "
        f"and +0.05 {SURE}"
    )
    one_sided = replace(found, alternative="greater")
    assert said(one_sided) == (
        f"It is not shown that B is better than A on nDCG@10: the difference is above -0.01 {SURE}"
    )
    assert "shown that B is worse than A on nDCG@10: the difference is below +0.05" in said(
        replace(found, alternative="less")
    )
    equal = two(rises=np.zeros(4), bounds=(0, 0))
    assert said(equal) == "B and A are equal on nDCG@10 in every query."
    assert "cannot be compared" in said(two(rises=np.array([math.nan, 0, 0, 0])))


def test_what_does_not_matter() -> None:
    pytest.importorskip("scipy")
    small = np.array([0.001, -0.002, 0.001, 0.001])
    found = two(p=0.8, bounds=(-0.002, 0.002), rises=small, margin=0.01, margin_test="t")
    assert "; they are equivalent, less than 0.01 apart (95%" in said(found)
    found = two(p=0.8, bounds=(-0.002, 0.002), rises=small, margin="10%", margin_test="t")
    assert "; they are equivalent, less than 10% of A's mean apart (95%" in said(found)
    rises = np.array([0.004, 0.05, 0.0, 0.06])
    large = two(p=0.2, bounds=(-0.004, 0.05), rises=rises, margin=0.02, margin_test="t")
    assert "; B is not worse by 0.02 (95%" in said(large)
    assert "not worse" not in said(replace(large, corrected=np.array([[0.01]]))), "it is better"
    assert ";" not in said(two(p=0.2, rises=np.array([-0.5, 0.5, 0.1, 0.0]), margin=0.01))


def test_tests_that_are_not_of_means() -> None:
    found = two(p=0.01, test="wilcoxon", bounds=(-0.001, 0.06))
    assert said(found) == (
        "The Wilcoxon signed-rank test tells B from A on nDCG@10: better in 4 queries, worse in 0; "
        f"the means differ by +0.03, between -0.001 and +0.06 {SURE}"
    )
    assert "does not tell B from A" in said(replace(found, corrected=np.array([[0.5]])))


@pytest.mark.parametrize(
    ("options", "sure"),
    [
        ({}, "for all pairs together"),
        ({"family": "all"}, "for all pairs and measures together"),
        ({"correction": "none"}, "each"),
        ({"simultaneous": False}, "each"),
        ({"correction": "none", "test": "tukey"}, "for all pairs together"),
        ({"correction": "bh"}, "on average"),
        ({"level": 0.1}, "for all pairs together"),
    ],
    ids=str,
)
def test_how_sure(options: dict[str, Any], sure: str) -> None:
    values = np.random.default_rng(0).random((3, 9, 2))
    found = make(values, ["a", "b", "c"], p=0.5, **{"simultaneous": True, **options})
    percent = "90%" if "level" in options else "95%"
    assert found.sentence("a", "b", "P@1").endswith(f"({percent} confidence {sure}).")


def test_reports_have_sentences_when_asked_for() -> None:
    found = two(p=0.01)
    text = found.sentences()[0]
    assert f"\n\n{text}\n" in found.to_text(words=True)
    assert f"- {text}" in found.to_markdown(words=True)
    assert "<li><bdi>B</bdi> is better than <bdi>A</bdi>" in found.to_html(words=True, plots=False)
    assert json.loads(found.to_json())["pairs"][0]["sentence"] == text
    for form in (found.to_text, found.to_markdown, found.to_html):
        assert text not in form()
    input_error(lambda: found.sentences(digits=-1), source="digits")
    input_error(lambda: found.sentence("B", "A", "nDCG@10", digits=99), source="digits")


def test_names_do_nothing_in_a_sentence() -> None:
    odd = nasty()
    for text in (odd.to_text(words=True), odd.to_markdown(words=True), "\n".join(odd.sentences())):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>alert" not in odd.to_html(words=True, plots=False)
    infinite = make([[[math.inf]] * 3, [[0.0]] * 3], p=0.01)
    with np.errstate(all="ignore"):
        json.loads(infinite.to_json(), parse_constant=no_constant)
