"""Pages and their pictures, read back."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "link"}


Numbers = dict[str, float]


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


def pictures(source: str) -> list[ElementTree.Element]:
    """Read the pictures as XML, which forgives nothing."""
    return [ElementTree.fromstring(each) for each in re.findall("<svg.*?</svg>", source, re.S)]


def numbers(element: ElementTree.Element) -> Numbers:
    return {
        name: float(value)
        for name, value in element.attrib.items()
        if re.fullmatch(r"-?\d+(\.\d+)?", value)
    }


def texts(picture: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in picture.iter("text")]


def path_points(path: ElementTree.Element) -> list[tuple[float, float]]:
    """Read the ends of a path's straight lines."""
    found = re.findall(r"[ML] (\S+) (\S+)", path.attrib["d"])
    return [(float(x), float(y)) for x, y in found]


def bars(picture: ElementTree.Element) -> list[tuple[str, ElementTree.Element]]:
    """Return what is said when a bar is pointed at, and the bar."""
    found = []
    for group in picture.iter("g"):
        told, path = group.find("title"), group.find("path")
        if told is not None and path is not None:
            found.append((told.text or "", path))
    return found
