"""Comparisons made by hand, names made to break reports, and how reports are read back."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np

from irbatch.comparing import Comparison
from irbatch.comparing.compare import Scaled

NASTY = [
    "<script>alert(1)</script>",
    "\"&'",
    "=cmd()|'/C calc'!A0",
    "\\input{x}",
    "_{}%$#~^",
    "\x1b[31mred\x1b[0m",
    "new\nline\rback\ttab\0null",
    "rtl\u202egnp.exe\u200f",
    "long-" + "x" * 195,
    "emoji 😀👩\u200d🚀",
    "检索系统",
    "שלום bm25",
    "[x]*y",
    "*y",
    "--a``b''??`,,",
    "naïve café ąß β=0.4",
    "|pipe|`code` **bold** [a](b) &amp;",
    "+1-@",
    "</title></style><!-- ]]>",
]


FORMATS: dict[str, Callable[..., str]] = {
    name: getattr(Comparison, f"to_{name}")
    for name in ("text", "markdown", "latex", "html", "csv", "json")
}


PEOPLES = ["text", "markdown", "latex", "html"]


def make(
    values: Any,
    systems: list[str] | None = None,
    measures: list[str] | None = None,
    baseline: str | None = None,
    p: Any = 1.0,
    **more: Any,
) -> Comparison:
    """Compare values ``(systems, queries, measures)``, with p-values ``(pairs, measures)``."""
    values = np.asarray(values, np.float64)
    count, queries, columns = values.shape
    systems = systems or [f"s{i}" for i in range(count)]
    pairs = [(a, b) for a in range(count) for b in range(a)]
    if baseline is not None:
        pairs = [(a, systems.index(baseline)) for a in range(count) if systems[a] != baseline]
    means = values.mean(axis=1)
    firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
    apart = means[firsts] - means[seconds]
    p = np.broadcast_to(np.asarray(p, np.float64), apart.shape)
    fields: dict[str, Any] = {
        "systems": systems,
        "measures": measures or [f"P@{k + 1}" for k in range(columns)],
        "query_ids": [f"q{i}" for i in range(queries)],
        "baseline": baseline,
        "pairs": pairs,
        "values": values,
        "scaled": Scaled(more.pop("scaled", values), np.zeros(columns, bool), None),
        "signs": np.ones(columns),
        "ranges": np.full((2, columns), [[-np.inf], [np.inf]]),
        "means": means,
        "differences": apart,
        "intervals": np.stack([means - 0.125, means + 0.125], axis=-1),
        "difference_intervals": np.stack([apart - 0.25, apart + 0.25], axis=-1),
        "p_values": p / 2,
        "corrected": p,
        "test": "randomisation",
        "correction": "holm",
        "level": 0.05,
        "interval": "percentile",
        "simultaneous": False,
        "draws": 10_000,
        "seed": 0,
        "margin": None,
        "settings": {"irbatch": "1.2.3", "relevant": ">= 1"},
        "missing": {},
        "unanswered": {},
        "groups": {},
    }
    return Comparison(**{**fields, **more})


def constant(*means: float, queries: int = 4, **more: Any) -> Comparison:
    """Compare systems that have the same value in all queries, on one measure."""
    return make(np.broadcast_to(np.reshape(means, (-1, 1, 1)), (len(means), queries, 1)), **more)


def nasty(**more: Any) -> Comparison:
    values = np.random.default_rng(3).random((len(NASTY), 5, 2))
    return make(values, NASTY, **more)


class TextOf(HTMLParser):
    """Collects the text of a page's cells, and the names of its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


# What text may come out as: signs without a meaning, and commands that are known and ended.
PLAIN = re.compile(
    r"[A-Za-z0-9 .:;=()/+<>@!?,'`-]|[^\x00-\x7f]|\\[&%$#_{}]|\{\}|\{[\[\]*]\}|\$\\[A-Za-z]+\$"
    r"|\\(text(backslash|asciitilde|asciicircum|less|greater|bar|dagger|daggerdbl|endash|emdash"
    r"|quoteright|euro|yen)"
    r"|pounds|ldots|char34)\{\}"
)


EVERY = "".join(map(chr, range(0x20, 0x3000)))


def no_constant(name: str) -> None:
    raise AssertionError(name)
