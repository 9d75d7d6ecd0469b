"""Comparisons as a page: it needs nothing else, escapes everything, and its pictures are right."""

from __future__ import annotations

import base64
import hashlib
import itertools
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.comparisons import NASTY, constant, make, nasty
from support.pages import CHARACTER, Page, numbers, pictures

from irbatch import InputError
from irbatch.comparing import Comparison, report
from irbatch.errors import printable
from irbatch.report.names import width
from irbatch.report.scales import Scale


def random(count: int = 4, queries: int = 30, columns: int = 2, **more: object) -> Comparison:
    values = np.random.default_rng(5).random((count, queries, columns))
    return make(values, p=0.01, **more)


def test_a_page_needs_nothing_else() -> None:
    source = report.to_html(random())
    page = Page(source)
    assert {"base", "iframe", "object", "img", "form", "a"}.isdisjoint(
        tag for tag, _, _ in page.elements
    )
    links = [attrs[name] for _, attrs, _ in page.elements for name in ("src", "href", "srcset")
             if name in attrs]  # fmt: skip
    assert links == ["data:,"]
    for style, text in [*page.of("style"), *page.of("script")]:
        assert not style
        assert "http" not in text
        assert "url(" not in text
        assert "import" not in text.replace("!important", "")


def test_its_policy_lets_run_what_it_has_and_nothing_else() -> None:
    page = Page(report.to_html(random()))
    policy = next(attrs["content"] for attrs, _ in page.of("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        ((_, code),) = page.of(kind)
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    for _, attrs, _ in page.elements:
        assert not any(name == "style" or name.startswith("on") for name in attrs)


@pytest.mark.parametrize("options", [{}, {"baseline": NASTY[0]}, {"baseline": NASTY[5]}])
def test_names_are_text_and_nothing_more(options: dict[str, str]) -> None:
    compared = nasty(measures=['<b onload="x">', "P@5"], query_ids=list(NASTY[:5]), **options)
    compared = replace(compared, groups={"<i>&\x1b": compared}, settings={"<u>": "'\"\x07"})
    source = report.to_html(compared, title="</title><script>")
    page = Page(source)
    assert all(each.isprintable() or each == "\n" for each in source.replace("\u2007", ""))
    assert len(page.of("script")) == len(page.of("style")) == 1
    assert {"b", "i", "u"}.isdisjoint(tag for tag, _, _ in page.elements)
    names = [text for _, text in page.of("bdi")]
    for name in NASTY:
        assert names.count(printable(name)) >= 2
    assert page.of("h1")[0][1] == "</title><script>"
    plain = Page(report.to_html(random()))
    assert {tag for tag, _, _ in page.elements} <= {tag for tag, _, _ in plain.elements} | {
        "h2", "small", "title"
    }  # fmt: skip
    assert pictures(source)


def test_cells_hold_exact_values_to_sort_by() -> None:
    compared = random()
    page = Page(report.to_html(compared))
    exact = [float(attrs["data-v"]) for attrs, _ in page.of("td") if attrs.get("class") == "mean"]
    assert exact == compared.means.ravel().tolist()
    exact = [float(attrs["data-v"]) for attrs, _ in page.of("td") if attrs.get("class") == "n"]
    assert exact[:: len(exact) // compared.differences.size] == compared.differences.T.ravel(
    ).tolist()  # fmt: skip
    odd = report.to_html(constant(math.nan, 0.25, p=math.nan, scaled=np.zeros((2, 4, 1))))
    assert 'class="mean" data-v="">' in odd
    assert 'data-v="nan"' not in odd
    page = Page(report.to_html(random(30, 3, 1), pairs=False))
    order = [attrs["data-v"] for attrs, text in page.of("td") if text.isalpha()]
    assert order == list(map(str, range(30))), "z before aa"
    infinite = report.to_html(constant(0.0, 0.25))
    assert 'data-v="Infinity">+∞' in infinite, "as JavaScript reads it"


def test_tables_can_be_read_aloud_and_without_the_script() -> None:
    page = Page(report.to_html(random()))
    assert not page.of("button"), "what sorts is made by the script that does it"
    assert page.of("html")[0][0] == {"lang": "en"}
    assert all(attrs.get("scope") in ("col", "row") for attrs, _ in page.of("th"))
    assert page.of("caption")[0][1] == "Means of 30 queries"
    for attrs, _ in page.of("th"):
        assert attrs.get("data-first") in (None, "ascending", "descending")
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for attrs, _ in page.of("svg"):
        assert attrs["role"] == "img"
        assert {attrs["aria-labelledby"], attrs["aria-describedby"]} <= set(ids)


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_the_script_is_javascript(tmp_path: Path) -> None:
    path = tmp_path / "script.js"
    path.write_text(Page(report.to_html(random())).of("script")[0][1])
    subprocess.run(["node", "--check", path], check=True, timeout=60)


@pytest.mark.parametrize("digits", [4, 17])
def test_labels_stand_apart_and_inside(digits: int) -> None:
    large = make(np.random.default_rng(2).random((3, 9, 1)) * 0.5 + 1e5)
    for compared in (random(), nasty(), random(30, 3, 1), large):
        for picture in pictures(report.to_html(compared, digits=digits)):
            _, _, right, bottom = map(float, picture.attrib["viewBox"].split())
            boxes = []
            for text in picture.iter("text"):
                at, size = (
                    numbers(text),
                    width(text[0].tail or "" if len(text) else text.text or ""),
                )
                anchor = {"middle": 0.5, "end": 1.0}.get(text.get("text-anchor", ""), 0.0)
                start = at["x"] - anchor * size * CHARACTER
                assert start >= 0
                assert start + size * CHARACTER <= right
                assert 10 <= at["y"] <= bottom - 4
                boxes.append((start, start + size * CHARACTER, at["y"]))
            for i, (start, end, y) in enumerate(boxes):
                for other_start, other_end, other_y in boxes[:i]:
                    assert abs(y - other_y) >= 12 or end <= other_start or other_end <= start


def test_dots_stand_where_the_means_are() -> None:
    compared = random()
    for column, picture in enumerate(pictures(report.to_html(compared))[::2]):
        centres = [numbers(each)["cx"] for each in picture.iter("circle")]
        lines = [numbers(each) for each in picture.iter("line") if each.get("class") == "within"]
        means, (lows, highs) = compared.means[:, column], compared.intervals[:, column].T
        slope, start = np.polyfit(
            [*lows, *highs], [each[x] for x in ("x1", "x2") for each in lines], 1
        )
        assert slope > 0
        for i in range(4):
            for place, value in ((centres[i], means[i]), (lines[i]["x1"], lows[i]),
                                 (lines[i]["x2"], highs[i])):  # fmt: skip
                assert place == pytest.approx(start + slope * value, abs=0.2)
        best = [each.text for each in picture.iter("text") if each.get("class") == "best"]
        assert best[0] == compared.systems[means.argmax()]
        told = picture.findtext("desc") or ""
        assert f"s1: {means[1]:.4f} [{lows[1]:.4f}, {highs[1]:.4f}]" in told


def test_bars_are_the_sorted_differences() -> None:
    compared = random()
    source = report.to_html(compared, pair=("s2", "s0"))
    for column, picture in enumerate(pictures(source)[1::2]):
        differences = compared.values[2, :, column] - compared.values[0, :, column]
        order = np.argsort(-differences, kind="stable")
        bars = list(picture.iter("rect"))
        shown = [each.findtext("title") for each in bars]
        assert shown == [f"q{i}: {differences[i]:+.4f}" for i in order]
        heights = np.array([numbers(each)["height"] for each in bars])
        signs = np.array([1 if each.get("class") == "up" else -1 for each in bars])
        ratios = heights * signs / differences[order]
        assert ratios == pytest.approx(np.median(ratios), rel=0.05)
        places = [numbers(each)["x"] for each in bars]
        assert places == sorted(places)
        counts = [(differences > 0).sum(), (differences == 0).sum(), (differences < 0).sum()]
        told = "{} better, {} equal, {} worse".format(*counts)
        assert told in (picture.findtext("desc") or "")
        assert told in source


def test_many_queries_share_bars() -> None:
    compared = random(2, 5000, 1)
    source = report.to_html(compared)
    _, picture = pictures(source)
    bars = list(picture.iter("rect"))
    assert len(bars) == 200
    assert (bars[0].findtext("title") or "").startswith("25 queries: +0.9")
    assert "a bar is the mean of several" in (picture.findtext("desc") or "")
    assert len(source) < 60_000


def test_the_pair_that_is_drawn() -> None:
    means = (0.25, 0.75, 0.5)
    assert "<bdi>s1</bdi> less <bdi>s2</bdi>" in report.to_html(constant(*means))
    against = constant(*means, baseline="s1")
    assert "<bdi>s2</bdi> less <bdi>s1</bdi>" in report.to_html(against)
    chosen = report.to_html(against, pair=("s0", "s2"))
    assert "<bdi>s0</bdi> less <bdi>s2</bdi>" in chosen
    for pair in (("s0", "s0"), ("s0", "x"), ("s0",), ("s0", "s1", "s2")):
        with pytest.raises(InputError, match="a pair is two of s0, s1, s2"):
            report.to_html(against, pair=pair)  # type: ignore[arg-type]
    alone = report.to_html(constant(0.5))
    assert alone.count("<svg") == 1
    assert "<svg" not in report.to_html(against, plots=False)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 1e9])
def test_pictures_of_odd_numbers(value: float) -> None:
    with np.errstate(all="ignore"):
        values = [[[value], [0.25]], [[0.0], [value]]]
        compared = make(values, scaled=np.zeros((2, 2, 1)))
        assert compared.relative.size
    for picture in pictures(report.to_html(compared)):
        for element in picture.iter():
            for place in numbers(element).values():
                assert -1 <= place <= 1000
            assert not {"nan", "inf"} & set(element.attrib.values())


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 1.0, "0.0 0.2 0.4 0.6 0.8 1.0"),
        (0.35, 0.55, "0.35 0.40 0.45 0.50 0.55"),
        (1.0, 1.0, "0.90 0.95 1.00 1.05 1.10"),
        (0.0, 12_500.0, "0 2000 4000 6000 8000 10000 12000"),
        (1e-12, 3e-12, "1e-12 1.5e-12 2e-12 2.5e-12 3e-12"),
        (1e5 + 0.1, 1e5 + 0.5, "100000.1 100000.2 100000.3 100000.4 100000.5"),
    ],
)
def test_ticks_are_round_and_differ(low: float, high: float, labels: str) -> None:
    ticks = Scale.over([low, high, math.nan], 0.0, 600.0).ticks(7.3)
    assert " ".join(label for _, label in ticks) == labels
    for place, label in ticks:
        middle, half = (low + high) / 2, (high - low) / 2 or 0.1
        assert place == pytest.approx(300 + 300 * (float(label) - middle) / half, abs=0.5)


def test_ticks_side_by_side_are_few_enough_not_to_touch() -> None:
    scale = Scale.over([1e5, 1e5 + 0.6], 0.0, 340.0)
    above, beside = scale.ticks(None), scale.ticks(CHARACTER)
    assert len(above) == 7
    assert 2 <= len(beside) < 7
    for (place, label), (other, _) in itertools.pairwise(beside):
        assert other - place > len(label) * CHARACTER


def test_a_fragment_is_no_page() -> None:
    source = report.to_html(random(), fragment=True, plots=False)
    assert source.startswith("<style>")
    page = Page(source)
    assert {"html", "head", "body", "script", "meta"}.isdisjoint(tag for tag, _, _ in page.elements)
    style = re.sub(r"@media [^{]*", "", page.of("style")[0][1]).replace("}}", "}")
    selectors = [part.strip() for part in re.findall(r"[^{}]+(?={)", style) if part.strip()]
    assert len(selectors) > 30
    for selector in ",".join(selectors).split(","):
        assert re.match(r"(body)?\.irbatch\b", selector), "it styles nothing else in a notebook"


def test_the_same_comparison_makes_the_same_page() -> None:
    assert report.to_html(random()) == report.to_html(random())
    assert report.to_html(nasty()) == report.to_html(nasty())
