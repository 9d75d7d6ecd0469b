"""What the recommenders' guide says of other tools' names: against twins of their definitions."""

from __future__ import annotations

import functools
import math
import re

import pytest
from oracle.items import Known
from oracle.recommender_tools import TOOLS, Example
from support.paths import REPOSITORY

import irbatch
from irbatch import InputError, Items, measure
from irbatch.measures.names import AMBIGUOUS

# A short list, more relevant items than the cutoff, a user without a hit; items nobody had before.
EXAMPLE = Example(
    ranked={"ann": "abcd", "bob": "ca", "eve": "beaf", "dan": "aeb"},
    relevant={"ann": set("bdef"), "bob": {"a"}, "eve": {"d"}, "dan": {"a", "b"}},
    known=Known(
        "abcdefgh", {"ann": "gg", "bob": "bg", "eve": "cgh", "dan": "cg", "fay": "ab", "gus": "abe"}
    ),
    k=3,
)
CODE = re.compile(r"`([^`]+)`")


def table() -> list[tuple[str, str, str, str]]:
    """The rows of the guide's table, one a name."""
    text = (REPOSITORY / "examples" / "recommender.md").read_text(encoding="utf-8")
    lines = text.split("<!-- names -->")[1].split("<!-- /names -->")[0].strip().splitlines()[2:]
    found = []
    for line in lines:
        tool, theirs, ours, number = (each.strip() for each in line.strip("|").split(" | "))
        names = CODE.findall(theirs)
        meanings = ["rejected"] if ours == "rejected" else CODE.findall(ours)
        found += [(tool, *each, number) for each in zip(names, meanings, strict=True)]
    return found


ROWS = table()


@functools.cache
def value(name: str) -> float:
    """Our value of the example."""
    ranked = {user: list(items) for user, items in EXAMPLE.ranked.items()}
    had = {user: list(items) for user, items in EXAMPLE.known.had.items()}
    items = Items(list(EXAMPLE.known.catalogue), interactions=had)
    return irbatch.evaluate_ids(ranked, EXAMPLE.relevant, name, items=items)[name]


def at_cutoff(name: str) -> str:
    return name.replace("10", str(EXAMPLE.k))


@pytest.mark.parametrize(("tool", "theirs", "ours", "number"), ROWS)
def test_names_of_other_tools(tool: str, theirs: str, ours: str, number: str) -> None:
    stem = re.sub(r"[@_]10$", "", theirs)
    expected = TOOLS[tool][stem](EXAMPLE)
    theirs, ours, number = map(at_cutoff, (theirs, ours, number))
    if ours == "rejected":
        with pytest.raises(InputError) as caught:
            measure(theirs)
        assert " may be " in str(caught.value)
        assert str(caught.value).count(f"'{theirs}'") == 1
        if exact := re.fullmatch("`([^`]+)`", number):
            assert exact[1] in str(caught.value)
    else:
        assert str(measure(theirs)) == ours
        same = math.isclose(value(ours), expected, rel_tol=1e-12)
        assert same == (number == "that"), (value(ours), expected)
    if exact := re.fullmatch("`([^`]+)`", number):
        assert math.isclose(value(exact[1]), expected, rel_tol=1e-12)
    others = {"10 × `P@10`": 3 * value("P@3"), "1 - n / (n - 1) of it": 1 - 8 / 7 * value("Gini@3")}
    others["`Novelty(of=users)@10` over log2 of the users"] = value(
        "Novelty(of=users)@3"
    ) / math.log2(6)
    for told, number_told in others.items():
        if at_cutoff(told) == number:
            assert math.isclose(number_told, expected, rel_tol=1e-12)


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_names(name: str) -> None:
    """What may be meant can be asked for, and so can a tool's own spelling."""
    for meaning in AMBIGUOUS[name].split(" or "):
        at_k = meaning.split(" ")[0].replace("{at}", "@7")
        assert str(measure(at_k)) == at_k
    for odd in (name.upper(), name.title(), f"{name.upper()}@7", f"{name.title()}_at_7"):
        with pytest.raises(InputError, match="may be"):
            measure(odd)


def test_torchmetrics_cutoffs_are_suggested() -> None:
    with pytest.raises(InputError, match=r"may be FallOut@5 \(torchmetrics\)"):
        measure("RetrievalFallOut(top_k=5)")


def test_users_may_define_what_is_ambiguous() -> None:
    with pytest.raises(InputError, match="may be"):
        measure("Hits@2")
    try:
        irbatch.define_measure("Hits", definition="As ranx has it.")(lambda s: s.hits)
        assert irbatch.evaluate_ids([[1, 2], [3]], [[1, 2], [4]], "Hits@2")["Hits@2"] == 1.0
    finally:
        del irbatch.measures.CATALOGUE["Hits"]
