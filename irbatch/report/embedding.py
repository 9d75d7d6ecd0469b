"""Pictures that stand in a page: matplotlib's SVG without what a page's policy forbids.

Styles become attributes, as a page allows no style but its own; colours of the ink, the grid and
the background become the page's, which are others where it is dark. Text stays text.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

from irbatch.errors import imported, printable
from irbatch.report.axes import BETTER, FAINT, GRID, INK, MUTED, WORSE
from irbatch.report.document import Figure

PIXELS = 4 / 3  # of a point
TIP = "tip:"  # starts the id of what has a text that is shown when it is pointed at
COLOURS = {
    "#000000": "var(--ink)",
    INK.lower(): "var(--ink)",
    MUTED.lower(): "var(--soft)",
    FAINT.lower(): "var(--soft)",
    GRID.lower(): "var(--line)",
    BETTER.lower(): "var(--up)",
    WORSE.lower(): "var(--down)",
    "#ffffff": "var(--back)",
}
NAMELESS = {"Date": None, "Creator": None, "Format": None, "Type": None}


def set_tip(artist: Any, text: str) -> None:
    """Set the text that is shown when something drawn is pointed at."""
    artist.set_gid(f"{TIP}{printable(text)}")


def embed(figure: Figure, ident: str) -> str:
    """Draw a picture as an element of HTML, whose elements have ids that start with `ident`."""
    root = ElementTree.fromstring(_draw(figure))  # noqa: S314 (it is matplotlib's)
    for parent in root.iter():
        for child in list(parent):
            if child.tag.endswith(("metadata", "style")):
                parent.remove(child)
    used = re.findall(r'(?:url\(|href=")#([^)"]+)', ElementTree.tostring(root, "unicode"))
    names = {name: f"{ident}-{number}" for number, name in enumerate(dict.fromkeys(used))}
    for element in root.iter():
        _convert(element, names)
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    root.attrib = {
        "role": "img",
        "aria-labelledby": f"{ident}-title",
        "aria-describedby": f"{ident}-desc",
        "width": f"{wide * PIXELS:.0f}",
        "height": f"{high * PIXELS:.0f}",
        "viewBox": root.attrib["viewBox"],
    }
    for tag, text in (("desc", figure.description), ("title", figure.title)):
        told = ElementTree.Element(tag, id=f"{ident}-{tag}")
        told.text = printable(text)
        root.insert(0, told)
    return ElementTree.tostring(root, "unicode")


def _draw(figure: Figure) -> str:
    matplotlib = imported("pictures", "plot", "matplotlib")
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the browser has them
        figure.draw().savefig(buffer, format="svg", transparent=True, metadata=NAMELESS)
    return buffer.getvalue()


def _convert(element: ElementTree.Element, names: dict[str, str]) -> None:
    """Convert an element of a file: styles to attributes, ids and colours to the page's."""
    element.tag = element.tag.rpartition("}")[2]
    element.tail = None
    attributes = {}
    for name, value in element.attrib.items():
        name = name.rpartition("}")[2]
        if name == "style":
            for each in value.split("; "):
                style, _, setting = each.partition(": ")
                if style != "font-family":
                    attributes[style] = COLOURS.get(setting, setting)
        elif name == "id":
            if value.startswith(TIP):
                ElementTree.SubElement(element, "title").text = value.removeprefix(TIP)
            elif value in names:
                attributes[name] = names[value]
        elif "#" in value:
            attributes[name] = re.sub("(?<=#)[^)]+", lambda found: names[found[0]], value)
        else:
            value = re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", value)
            attributes[name] = " ".join(value.split())
    element.attrib = attributes
