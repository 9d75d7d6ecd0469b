"""Documents of every kind, with names made to break reports, and the forms they are written in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from irbatch import Run
from irbatch.comparing.explain import explain
from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.leaderboard import Leaderboard
from irbatch.report import html, latex
from irbatch.report.document import (
    BEST,
    BETTER,
    MARKS,
    WORSE,
    Cell,
    Column,
    Document,
    Figure,
    Heading,
    Table,
)
from irbatch.report.text import write_markdown, write_text
from support.comparisons import NASTY, constant, make, nasty

FORMS: dict[str, Callable[[Document], str]] = {
    "terminal": write_text,
    "ansi": lambda document: write_text(document, ansi=True),
    "narrow": lambda document: write_text(document, width=30),
    "markdown": write_markdown,
    "latex": lambda document: latex.write_document(document, "tab:x"),
    "html": html.write_document,
    "fragment": lambda document: html.write_document(document, fragment=True),
}


def draw() -> Any:
    """Draw a picture with every nasty name in it."""
    from irbatch.report.axes import BETTER as BETTER_COLOUR
    from irbatch.report.axes import fit_names, new_axes, tidy

    ax = new_axes(None)
    ax.bar(range(len(NASTY)), range(len(NASTY)), color=BETTER_COLOUR)
    tidy(ax)
    ax.set_xticks(range(len(NASTY)), fit_names(NASTY), rotation=90)
    return ax


def made(figures: bool = False) -> Document:
    """Make a document that has everything, and a nasty name wherever there is one."""
    columns = [
        Column("●", "mark"),
        Column("system", "name"),
        Column(NASTY[0], "text"),
        *(Column(name, descends=False) for name in NASTY),
    ]
    numbers = [
        Cell("0.1234", 0.1234, stands_out=True, after="[-0.1000, 0.3000]", marks=["a", "b"]),
        Cell("-1.5e-07", -1.5e-7, marks=[BETTER]),
        Cell("–", after="[–, ∞]", marks=[WORSE]),
    ]
    rows = [
        [
            Cell("●" * (i % 2), i % 2),
            Cell(name, after="remark" * (i % 3 == 0)),
            Cell(NASTY[-1 - i]),
            *(numbers[(i + k) % 3] for k in range(len(NASTY))),
        ]
        for i, name in enumerate(NASTY)
    ]
    table = Table("caption " + " ".join(NASTY), columns, rows)
    parts: list[Any] = [Heading(NASTY[4]), table, Heading(NASTY[5]), table]
    if figures:
        shown = NASTY[11]
        parts += [Figure(name, f"{shown} less {name}", draw) for name in NASTY[:2]]
    legend = [(BEST, NASTY[7]), (MARKS, NASTY[0]), ("●", NASTY[16])]
    return Document(NASTY[-1], " ".join(NASTY), legend, parts, " | ".join(NASTY))


def on_one_line(heading: str) -> str:
    """Take a heading as if its words were not put under each other."""
    return re.sub(
        r"\\shortstack\[.\]\{(.*)\}", lambda found: found[1].replace("\\\\", " "), heading
    )


def random(systems: int = 3, queries: int = 8, columns: int = 2, **more: Any) -> Any:
    values = np.random.default_rng(5).random((systems, queries, columns))
    return make(values, p=0.01, **more)


def board() -> Leaderboard:
    records = [EfficiencyRecord(system=name, latency=Latency(mean=9.0 + i))
               for i, name in enumerate(NASTY)]  # fmt: skip
    return Leaderboard({name: {NASTY[0]: i % 7 / 8} for i, name in enumerate(NASTY)}, records)


def explained() -> Document:
    """Explain rankings whose systems, queries, documents and texts have nasty names."""
    qrels = {name: {each: i % 4 - 1 for i, each in enumerate(NASTY[:12])} for name in NASTY}
    old, new = (
        {name: {each: step * i % 17 for i, each in enumerate(NASTY)} for name in NASTY}
        for step in (3, 5)
    )
    texts = dict(zip(NASTY, reversed(NASTY), strict=True))
    runs = Run(old, NASTY[0]), Run(new, NASTY[5])
    found = explain(qrels, *runs, queries=NASTY, topics=texts, documents=texts)
    return found._document("html")


DOCUMENTS: dict[str, Document] = {
    "made": made(),
    "comparison": random()._document("text", intervals=True, pairs=False),
    "baseline": nasty(baseline=NASTY[5], p=0.01)._document("text", pairs=False),
    "one system": constant(0.5)._document("text", pairs=False),
    "many systems": random(30)._document("text", intervals=True, pairs=False),
    "many measures": random(columns=40)._document("text", digits=2, intervals=True, pairs=False),
    "leaderboard": board()._document("text", frontier=[NASTY[0], "latency"], intervals=True),
    "explanation": explained(),
    "no rows": Document("", "", [], [Table("", [Column("system", "name"), Column("P@1")], [])]),
}
PAGE = random(4)._document("html")._replace(title="title")
