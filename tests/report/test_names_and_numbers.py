"""How reports write numbers, letters and names of any width."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.comparisons import NASTY

from irbatch.errors import printable
from irbatch.report.text import (
    join_letters,
    letter,
    shorten,
    shorten_all,
    show,
    show_change,
    show_interval,
    show_p,
    show_percent,
    text_width,
)


@pytest.mark.parametrize(
    ("p", "level", "shown"),
    [
        (0.25, 0.05, "0.250"),
        (0.0496, 0.05, "0.0496"),
        (0.05, 0.05, "0.050"),
        (0.04999, 0.05, "0.04999"),
        (0.0004, 0.05, "<0.001"),
        (0.0, 0.05, "<0.001"),
        (0.9999, 0.05, "1.000"),
        (math.nan, 0.05, "–"),
        (0.0004, 0.0005, "0.0004"),
        (0.0, 0.0005, "<0.0001"),
    ],
)
def test_p_values(p: float, level: float, shown: str) -> None:
    assert show_p(p, level) == shown


@example(0.0496, 0.05)
@given(st.floats(0, 1), st.floats(0.0001, 0.5))
def test_a_p_value_is_never_zero_nor_on_the_wrong_side(p: float, level: float) -> None:
    shown = show_p(p, level)
    number = float(shown.removeprefix("<"))
    assert number > 0
    if shown.startswith("<"):
        assert p < number <= level
    elif abs(p - level) > 1e-11:
        assert (number < level) == (p < level)


def test_other_numbers() -> None:
    assert show(0.12345, 4) == "0.1235"
    assert show(-0.00001, 4) == "0.0000"
    assert show(math.nan, 4) == "–"
    assert show(-math.inf, 2) == "-∞"
    assert show(0.5, 0) == "0"
    assert show_change(0.0, 4) == "0.0000"
    assert show_change(-0.0, 4) == "0.0000"
    assert show_change(-0.00001, 4) == "-0.0000"
    assert show_change(0.5, 1) == "+0.5"
    assert show_change(math.inf, 1) == "+∞"
    assert show_percent(0.1234) == "+12.3%"
    assert show_percent(math.nan) == "–"
    assert show_interval(-0.25, 0.25, 2) == "[-0.25, 0.25]"
    assert show_interval(-0.25, 0.25, 2, signed=True) == "[-0.25, +0.25]"
    assert show_interval(math.nan, 1.0, 2) == "–"


def test_letters_of_any_number_of_systems() -> None:
    names = [letter(position) for position in range(20_000)]
    assert names[:3] + names[25:28] + names[701:703] == [*"abcz", "aa", "ab", "zz", "aaa"]
    assert len(set(names)) == len(names)
    assert join_letters(["a", "c"]) == "ac"
    assert join_letters(["a", "ab"]) == "a,ab"


@pytest.mark.parametrize("most", [12, 20, 28])
@pytest.mark.parametrize(
    "names",
    [
        [f"sentence-transformers/all-{model}-v2-tuned-on-msmarco" for model in
         ("MiniLM-L6", "MiniLM-L12", "mpnet-base", "distilroberta")],
        [f"a-system-with-a-long-name-{i}-and-a-tail-that-all-of-them-have" for i in range(30)],
        [f"{'ab' * i}c{'d' * 60}{j}" for i in range(20, 23) for j in range(3)],
        ["x" * 60, "x" * 61, "bm25"],
        [f"检索系统检索系统检索系统{i}检索系统检索系统检索系统" for i in range(3)],
    ],
)  # fmt: skip
def test_names_are_cut_where_they_agree(names: list[str], most: int) -> None:
    """The very letters that tell two names apart stay."""
    short = shorten_all([*names, names[0]], most)
    assert short[-1] == short[0]
    assert len(set(short)) == len(names)
    for name, form in zip(names, short, strict=False):
        assert text_width(form) <= most
        assert all(part in name for part in form.split("…"))


def test_widths_of_names() -> None:
    words = "abc", "检索", "e\u0301", "😀", "שלום"
    assert list(map(text_width, words)) == [3, 4, 1, 2, 4]
    assert printable("a\x1b[31m\u202e\u200f\n\0\ud800") == r"a\x1b[31m\u202e\u200f\n\x00\ud800"
    for name in NASTY:
        for most in (10, 11, 24):
            short = shorten(printable(name), most)
            assert text_width(short) <= most
            assert short == printable(name) or "…" in short
