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
from support.pages import Page, pictures, texts

from irbatch.errors import printable
from irbatch.report import html


@pytest.fixture(scope="module", params=["comparison", "made"])
def source(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("matplotlib")
    return html.write_document(PAGE if request.param == "comparison" else made(figures=True))


def test_a_page_needs_nothing_else(source: str) -> None:
    page = Page(source)
    assert {"base", "iframe", "object", "image", "form", "a"}.isdisjoint(
        tag for tag, _, _ in page.elements
    )
    links = [attrs[name] for _, attrs, _ in page.elements for name in ("src", "href", "srcset")
             if name in attrs]  # fmt: skip
    assert all(each.startswith("data:") for each in links)
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
    assert pictures(source)
    for attrs, _ in pictures(source):
        assert attrs["alt"].startswith(f"{attrs['title']}: ")


def test_text_of_pictures_is_text_and_nothing_dates_them() -> None:
    pytest.importorskip("matplotlib")
    source = html.write_document(made(figures=True))
    for attrs, picture in pictures(source):
        assert {"检索系统", "_{}%$#~^"} <= set(texts(picture))
        assert "date" not in {each.tag.rpartition("}")[2] for each in picture.iter()}
        assert attrs["title"] in map(printable, NASTY)


def test_without_matplotlib_a_page_says_how_to_get_pictures(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    plain = html.write_document(PAGE)
    assert not pictures(plain)
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
    subprocess.run(["node", "--check", path], check=True, timeout=300)


def test_a_fragment_is_no_page() -> None:
    source = html.write_document(made(), fragment=True)
    assert source.startswith("<style>")
    page = Page(source)
    assert {"html", "head", "body", "script", "meta"}.isdisjoint(tag for tag, _, _ in page.elements)
    style = re.sub(r"@media [^{]*", "", page.of("style")[0][1]).replace("}}", "}")
    selectors = [part.strip() for part in re.findall(r"[^{}]+(?={)", style) if part.strip()]
    assert len(selectors) > 20
    for selector in ",".join(selectors).split(","):
        assert re.match(r"(body|div)?\.irbatch\b", selector), "it styles nothing else in a notebook"
