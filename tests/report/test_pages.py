"""Pages need nothing else, let nothing else run, and their pictures are theirs."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.comparisons import NASTY
from support.documents import PAGE, made
from support.pages import Page, pictures

from irbatch.errors import printable
from irbatch.report import html


@pytest.fixture(scope="module", params=["comparison", "made"])
def source(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("matplotlib")
    return html.write_document(PAGE if request.param == "comparison" else made(figures=True))


def test_a_page_needs_nothing_else(source: str) -> None:
    page = Page(source)
    assert {"base", "iframe", "object", "img", "image", "form", "a"}.isdisjoint(
        tag for tag, _, _ in page.elements
    )
    links = [attrs[name] for _, attrs, _ in page.elements for name in ("src", "href", "srcset")
             if name in attrs]  # fmt: skip
    assert [each for each in links if not each.startswith("#")] == ["data:,"]
    for style, text in [*page.of("style"), *page.of("script")]:
        assert not style
        assert "http" not in text
        assert "url(" not in text
        assert "import" not in text.replace("!important", "")


def test_its_policy_lets_run_what_it_has_and_nothing_else(source: str) -> None:
    page = Page(source)
    policy = next(attrs["content"] for attrs, _ in page.of("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        ((_, code),) = page.of(kind)
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    for _, attrs, _ in page.elements:
        assert not any(name == "style" or name.startswith("on") for name in attrs)


def test_pages_can_be_read_aloud_and_without_the_script(source: str) -> None:
    page = Page(source)
    assert not page.of("button"), "what sorts is made by the script that does it"
    assert page.of("html")[0][0] == {"lang": "en"}
    assert all(attrs.get("scope") in ("col", "row") for attrs, _ in page.of("th"))
    for attrs, _ in page.of("th"):
        assert attrs.get("data-first") in (None, "ascending", "descending")
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert page.of("svg")
    for attrs, _ in page.of("svg"):
        assert attrs["role"] == "img"
        assert {attrs["aria-labelledby"], attrs["aria-describedby"]} <= set(ids)


def test_pictures_have_what_they_refer_to_and_no_date(source: str) -> None:
    drawn = pictures(source)
    assert drawn
    for picture in drawn:
        ids = {each.get("id") for each in picture.iter() if each.get("id")}
        written = [value for each in picture.iter() for value in each.attrib.values()]
        used = {name for value in written for name in re.findall(r"#([\w-]+)\)?$", value)}
        used = {name for name in used if not re.fullmatch("[0-9a-f]{6}", name)}
        assert used <= ids
        assert {each.tag for each in picture.iter()} <= {
            "svg", "title", "desc", "g", "defs", "path", "use", "text", "tspan", "clipPath", "rect",
        }  # fmt: skip
        assert picture.findtext("title")
        assert picture.findtext("desc")
    assert "<!--" not in "".join(re.findall("<svg.*?</svg>", source, re.S))


def test_colours_of_pictures_are_the_pages(source: str) -> None:
    """Ink, lines and background are other ones where it is dark."""
    style = Page(source).of("style")[0][1]
    for picture in pictures(source):
        colours = {each.get(name) for each in picture.iter() for name in ("fill", "stroke")}
        for colour in colours - {None, "none"}:
            assert re.fullmatch(r"var\(--\w+\)", str(colour)), colour
            assert str(colour)[4:-1] in style
        assert "var(--soft)" in colours


def test_text_of_pictures_is_text() -> None:
    pytest.importorskip("matplotlib")
    for picture in pictures(html.write_document(made(figures=True))):
        texts = [each.text or "" for each in picture.iter("text")]
        assert "检索系统" in texts
        assert "_{}%$#~^" in texts
        tips = [
            each.findtext("title") for each in picture.iter("g") if each.find("title") is not None
        ]
        assert tips == [printable(name) for name in NASTY]


def test_without_matplotlib_a_page_says_how_to_get_pictures(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    plain = html.write_document(PAGE)
    assert "<svg" not in plain
    assert plain.count("pip install 'irbatch[plot]'".replace("'", "&#x27;")) == 1
    assert [text for _, text in Page(plain).of("caption")] == [
        text for _, text in Page(html.write_document(PAGE)).of("caption")
    ]


def test_the_same_document_makes_the_same_page(source: str) -> None:
    assert source in (html.write_document(PAGE), html.write_document(made(figures=True)))


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_the_script_is_javascript(tmp_path: Path, source: str) -> None:
    path = tmp_path / "script.js"
    path.write_text(Page(source).of("script")[0][1])
    subprocess.run(["node", "--check", path], check=True, timeout=60)


def test_a_fragment_is_no_page() -> None:
    source = html.write_document(made(), fragment=True)
    assert source.startswith("<style>")
    page = Page(source)
    assert {"html", "head", "body", "script", "meta"}.isdisjoint(tag for tag, _, _ in page.elements)
    style = re.sub(r"@media [^{]*", "", page.of("style")[0][1]).replace("}}", "}")
    selectors = [part.strip() for part in re.findall(r"[^{}]+(?={)", style) if part.strip()]
    assert len(selectors) > 30
    for selector in ",".join(selectors).split(","):
        assert re.match(r"(body|div)?\.irbatch\b", selector), "it styles nothing else in a notebook"
