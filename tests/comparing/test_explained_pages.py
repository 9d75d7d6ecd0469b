"""The page of an explanation, in a browser: a click opens a query, with its documents.

Queries open without the page's script, too, which sorts tables.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.browser import DARK, LIGHT, answer, load
from support.pages import Page

from irbatch import Run, explain

QRELS = {f"q{i}": {f"d{k}": k % 5 for k in range(8)} for i in range(3)}
OLD = {query: {f"d{k}": 9.0 - k for k in range(12)} for query in QRELS}
NEW = {query: {f"d{(k * 5 + i) % 12}": 9.0 - k for k in range(12)} for i, query in enumerate(QRELS)}
TEXTS = {f"d{k}": f"the text of document {k} " * 20 for k in range(12)}
TONES = ["nothing", "little", "some", "much", "most", "unknown"]

# Clicks on the second query, and tells what of the page is seen.
CLICK = """
const every = [...document.querySelectorAll("details")];
const seen = (each) => each.checkVisibility();
const before = every.map((each) => seen(each.querySelector("table")));
const summary = every[1].querySelector("summary");
summary.click();
summary.focus();
const cells = [...every[1].querySelector("table").tBodies[0].rows[0].cells];
const boxes = cells.map((each) => each.getBoundingClientRect());
return {
  before, after: every.map((each) => seen(each.querySelector("table"))),
  focus: document.activeElement === summary,
  row: cells.map((each) => each.innerText),
  beside: boxes[1].right <= boxes[2].left + 1 && boxes[1].top === boxes[2].top,
  inside: boxes[2].right <= innerWidth,
  overflow: document.documentElement.scrollWidth - innerWidth,
};
"""

# Contrast of text and background (WCAG 2) in a cell of each colour.
CONTRAST = """
document.querySelectorAll("details").forEach((each) => { each.open = true; });
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const light = (colour) => {
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const found = {};
for (const cell of document.querySelectorAll("td.tone")) {
  const style = getComputedStyle(cell);
  const behind = /rgb\\([^)]*\\)/.exec(style.backgroundImage) || [style.backgroundColor];
  for (const text of [cell, cell.querySelector("small"), cell.querySelector(".badge")]) {
    const both = [light(getComputedStyle(text).color), light(behind[0])].sort();
    const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    const name = cell.className.split(" ").pop();
    found[name] = Math.min(found[name] || 99, ratio);
  }
}
return found;
"""


@pytest.fixture(scope="module")
def source() -> str:
    runs = Run(OLD, "old"), Run(NEW, "new")
    return explain(QRELS, *runs, depth=12, topics={"q1": "a question"}, documents=TEXTS).to_html()


def test_what_the_page_holds(source: str) -> None:
    page = Page(source)
    assert [text.split()[0] for _, text in page.of("summary")] == ["q0", "q1", "q2"]
    assert all(not attrs for attrs, _ in page.of("details")), "closed"
    assert "a question" in page.of("summary")[1][1]
    badges = [text for attrs, text in page.of("span") if attrs.get("class") == "badge"]
    assert set(badges) == {"0", "1", "2", "3", "4", "?"}
    classes = {attrs.get("class", "") for attrs, _ in page.of("td")}
    assert {f"name tone {tone}" for tone in TONES} <= classes


def test_the_page_and_its_script_run_under_its_policy(source: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(source)
    elements, said = load(page)
    assert not said
    assert elements.count("<button") == len(Page(source).of("th")), "what sorts"


@pytest.mark.parametrize("width", [1200, 500])
def test_a_click_opens_a_query(source: str, tmp_path: Path, width: int) -> None:
    found = answer(tmp_path / "page.html", source, CLICK, width=width)
    assert found["before"] == [False, False, False]
    assert found["after"] == [False, True, False]
    assert found["focus"], "summaries are reached by the keyboard"
    assert found["row"][0].split()[:2] == ["3", "d3"]
    assert found["beside"]
    assert found["inside"]
    assert found["overflow"] <= 0


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_can_be_read_on(source: str, tmp_path: Path, scheme: int) -> None:
    found = answer(tmp_path / "page.html", source, CONTRAST, scheme=scheme)
    assert set(found) == set(TONES)
    assert min(found.values()) >= 4.5, found
