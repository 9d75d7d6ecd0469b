"""Pages and their pictures, read back."""

from __future__ import annotations

import base64
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "link", "img"}


class Page(HTMLParser):
    """Reads a page: its elements with their attributes and text; all have to be closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[int] = []
        self.feed(source)
        self.close()
        assert not self._open, "an element was left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))
        if tag not in VOID:
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        for each in self._open:
            self.elements[each][2].append(data)

    def of(self, tag: str) -> list[tuple[dict[str, str], str]]:
        return [(attrs, "".join(text)) for name, attrs, text in self.elements if name == tag]


def pictures(source: str) -> list[tuple[dict[str, str], ElementTree.Element]]:
    """Return each picture's attributes, and itself, read as XML, which forgives nothing."""
    found = [attrs for attrs, _ in Page(source).of("img")]
    start = "data:image/svg+xml;base64,"
    drawn = [base64.b64decode(attrs["src"].removeprefix(start)) for attrs in found]
    return [(attrs, ElementTree.fromstring(svg)) for attrs, svg in zip(found, drawn, strict=True)]


def texts(picture: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in picture.iter("{http://www.w3.org/2000/svg}text")]
