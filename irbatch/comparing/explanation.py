"""Why two systems differ, in one object: the queries that changed, and reports of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from irbatch.errors import many, printable
from irbatch.report.document import (
    BETTER,
    TONES,
    WORSE,
    Column,
    Details,
    Document,
    Record,
    Table,
    list_records,
    make_table,
)
from irbatch.report.numbers import check_digits, show, show_change
from irbatch.report.reported import Reported
from irbatch.report.text import shorten_all

ROUNDING = 1e-12  # changes that small, of the larger value, come from the order of sums


class ExplainedDocument(NamedTuple):
    """A document of a query, and what became of it.

    Args:
        grade: None if it is not judged.
        ranks: with both systems, from 1; None: not retrieved.
        moved: ``"up"``, ``"down"`` or ``"same"`` where both have it, to the cutoff if there is one;
            ``"lost"`` or ``"new"`` where only the first or the second has; else ``"missed"``.
        adds: what it adds to both values, if the measure is a sum of such; see `Explanation`.
        text: None if none is known.
    """

    document: Any
    grade: float | None
    ranks: tuple[int | None, int | None]
    moved: str
    adds: tuple[float, float] | None
    text: str | None = None

    @property
    def change(self) -> float:
        """What it adds with the second system less what with the first; NaN if not known."""
        if self.adds is None:
            return math.nan
        change = self.adds[1] - self.adds[0]
        return 0.0 if abs(change) <= ROUNDING * max(self.adds) else change


class ExplainedQuery(NamedTuple):
    """A query, its values, and its documents.

    Args:
        values: with both systems.
        answered: whether each system has a ranking for it.
        relevant: how many documents are relevant to the measure.
        unjudged: how many documents are not judged down to the cutoff, or the depth shown.
        documents: those that are shown of either ranking, and relevant ones: first those that
            changed the value, the worst first; then other relevant ones, then the others, those
            that stand highest first.
    """

    query: Any
    values: tuple[float, float]
    answered: tuple[bool, bool]
    relevant: int
    unjudged: tuple[int, int]
    documents: tuple[ExplainedDocument, ...]
    text: str | None = None

    @property
    def difference(self) -> float:
        """The second value less the first."""
        return self.values[1] - self.values[0]

    def ranking(self, side: int, depth: int) -> dict[int, ExplainedDocument]:
        """Return the first documents of the first (0) or second (1) system by rank."""
        ranked = {each.ranks[side] or 0: each for each in self.documents}
        return {rank: ranked[rank] for rank in range(1, depth + 1) if rank in ranked}


SHORT = 24  # columns of a system's name in headings
SHOWN = {"up": "↑ up", "down": "↓ down"}
UNJUDGED = "?"
FEW_QUERIES = 3  # of which text has the rankings, too
LONGEST_TEXT = 300  # letters of a query's text
# How many letters of a document's text are shown where it is judged, and in rankings.
TEXTS = {"markdown": (100, 100), "html": (120, 240), "notebook": (120, 240)}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Reported):
    """What `irbatch.explain` returns: queries that changed, and reports of them.

    On the page that `to_html` writes, each query opens and shows both rankings. Reports for people
    have as options `digits`, how many decimals of values (default: 4), and `rankings`, whether both
    rankings of each query are written, by default but in text of more than three queries; `to_csv`
    and frames have one line a query.

    Pairs are of the first system and the second one. What a document adds to a value is what the
    value grows by where, going down the ranking, one comes to the document: the gain over the
    discount and the ideal DCG, of nDCG; precision at its rank over all relevant, of AP. These add
    up to the value. It is said of measures that are such a sum.

    Attributes:
        measure, systems, means: what was compared, and the means of all queries.
        worse, better, same: how many queries got worse, better, or stayed as they were.
        queries: the `ExplainedQuery` of those asked for.
        depth: how many ranks of each ranking are shown.
        cutoff: the measure's; None: it looks at whole rankings.
        sign: 1 if higher values are better, -1 if lower ones are, 0 if neither is.
        adds: whether it is known what each document adds.
        grades: the relevant grades that the judgments have, ascending.
        settings: how the values came about.
    """

    measure: str
    systems: tuple[str, str]
    means: tuple[float, float]
    worse: int
    better: int
    same: int
    queries: tuple[ExplainedQuery, ...]
    depth: int
    cutoff: int | None
    sign: int
    adds: bool
    grades: tuple[float, ...]
    settings: Mapping[str, str]

    _label: ClassVar[str] = "tab:explanation"

    def __repr__(self) -> str:
        first, second = map(printable, self.systems)
        changed = f"{self.worse} worse, {self.better} better, {self.same} the same"
        return f"Explanation of {self.measure} from {first} to {second}: {changed}"

    def _document(self, form: str, *, digits: int = 4, rankings: bool | None = None) -> Document:
        check_digits(digits)
        if rankings is None:
            rankings = form != "text" or len(self.queries) <= FEW_QUERIES
        beside, below = TEXTS.get(form, (0, 0))
        table = make_table(
            f"{self.measure} of queries", _query_columns(self, digits), self.queries, whole=True
        )
        parts = [
            [
                *([_rankings(self, each, below)] if rankings else []),
                _judged(self, each, digits, beside),
            ]
            for each in self.queries
        ]
        caption = _caption(self, digits)
        if not rankings:
            caption += " rankings=True (--html) shows both rankings of each."
        settings = " | ".join(f"{name}: {value}" for name, value in self.settings.items())
        title = f"Where {self.systems[1]} differs from {self.systems[0]}"
        return Document(title, caption, _legend(self), [Details(table, parts)], settings)

    def _everything(self) -> Record:
        everything = {name: _plain(value) for name, value in vars(self).items()}
        return everything | {"settings": dict(self.settings)}

    def _records(self) -> tuple[list[str], list[Record]]:
        return list_records(_query_columns(self), self.queries)


def _plain(value: Any) -> Any:
    """Return what JSON has in place of tuples: dicts of those with names, lists of others."""
    if hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _caption(found: Explanation, digits: int) -> str:
    first, second = (
        f"{name} ({show(mean, digits)})"
        for name, mean in zip(found.systems, found.means, strict=True)
    )
    words = ("worse", "better") if found.sign else ("lower", "higher")
    counted = f"{found.worse} {words[0]}, {found.better} {words[1]}, {found.same} the same"
    total = many(found.worse + found.better + found.same, "query")
    lower = "; lower is better" if found.sign < 0 else ""
    shown = many(len(found.queries), "query") if found.queries else "none"
    told = f"Of {total} {counted} with {found.systems[1]}; shown: {shown}."
    return f"{found.measure} from {first} to {second}{lower}. {told}"


def _legend(found: Explanation) -> list[tuple[str, str]]:
    a, b = found.systems
    where = "in the ranking" if found.cutoff is None else f"among the first {found.cutoff}"
    first = f"the first {found.cutoff or found.depth}"
    legend = [
        (f"number, {UNJUDGED} before a document", "its grade, or that it isn't judged"),
        ("now, was", f"its rank with {b}, with {a}"),
        ("lost, new", f"{where} of {a} only, of {b} only"),
        ("missed", f"relevant, but {where} of neither"),
        ("unjudged", f"documents without a judgment among {first}, of {a}/of {b}"),
    ]
    if found.adds:
        legend.append(("+ after a rank", f"what the document adds to {found.measure} there"))
    return legend


def _query_columns(found: Explanation, digits: int = 4) -> list[Column]:
    """Return the columns of queries: of the table, and of lines for programs."""
    headings = shorten_all(found.systems, SHORT)

    def value(side: int) -> Column:
        return Column(
            headings[side],
            name=("value_a", "value_b")[side],
            value=lambda query: query.values[side],
            show=lambda value: show(value, digits),
            more=lambda query: {"after": "" if query.answered[side] else "no ranking"},
        )

    def marks(query: ExplainedQuery) -> Record:
        gain = query.difference * found.sign
        return {"marks": [BETTER if gain > 0 else WORSE] if gain else []}

    told = any(each.text for each in found.queries)
    return [
        Column("query", "name", name="query", value=lambda query: query.query),
        Column("text" if told else "", "text", value=lambda query: query.text or "",
               show=lambda text: _start(text, LONGEST_TEXT)),
        Column("", name="measure", value=lambda query: found.measure),
        Column("", name="a", value=lambda query: found.systems[0]),
        Column("", name="b", value=lambda query: found.systems[1]),
        value(0),
        value(1),
        Column("change", name="difference", descends=False, value=lambda query: query.difference,
               show=lambda change: show_change(change, digits), more=marks),
        Column("relevant", name="relevant", value=lambda query: query.relevant),
        Column("unjudged", value=lambda query: sum(query.unjudged),
               text=lambda query: "/".join(map(str, query.unjudged))),
        Column("", name="unjudged_a", value=lambda query: query.unjudged[0]),
        Column("", name="unjudged_b", value=lambda query: query.unjudged[1]),
    ]  # fmt: skip


def _judged(found: Explanation, query: ExplainedQuery, digits: int, letters: int) -> Table:
    """Lay out one row a document that changed the value, or is relevant and was retrieved."""
    headings = shorten_all(found.systems, SHORT)

    def rank(side: int) -> Column:
        def after(each: ExplainedDocument) -> Record:
            added = each.adds[side] if each.adds and each.ranks[side] else 0
            return {"after": show_change(added, digits) if added else ""}

        return Column(f"rank, {headings[side]}", descends=False,
                      value=lambda each: each.ranks[side], more=after)  # fmt: skip

    columns = [
        Column("judged document", "text", value=lambda each: str(each.document),
               more=lambda each: _badge(found, each, "", letters)),
        rank(0),
        rank(1),
        Column("moved", "text", value=lambda each: SHOWN.get(each.moved, each.moved)),
        Column("change" if found.adds else "", descends=False, value=lambda each: each.change,
               show=lambda change: show_change(change, digits)),
    ]  # fmt: skip
    told = [
        each
        for each in query.documents
        if (each.grade in found.grades and each.ranks != (None, None))
        or (each.adds and each.change)
    ]
    return make_table("Judged documents", columns, told, whole=True,
                      is_faint=lambda each: each.grade not in found.grades)  # fmt: skip


def _rankings(found: Explanation, query: ExplainedQuery, letters: int) -> Table:
    """Lay out one row a rank, with the documents of both systems side by side."""
    rankings = [query.ranking(side, found.depth) for side in (0, 1)]

    def ranked(side: int, word: str) -> Column:
        def more(rank: int) -> Record:
            if (each := rankings[side].get(rank)) is None:
                return {}
            other = each.ranks[1 - side]
            elsewhere = "" if other == rank else f"{word} {other or 'absent'}"
            return _badge(found, each, elsewhere, letters)

        def name(rank: int) -> str:
            return str(rankings[side][rank].document) if rank in rankings[side] else ""

        return Column(shorten_all(found.systems, SHORT)[side], "text", more=more, value=name)

    columns = [Column("rank", descends=False), ranked(0, "now"), ranked(1, "was")]
    ranks = sorted({*rankings[0], *rankings[1]})
    return make_table(f"Rankings down to rank {found.depth}", columns, ranks, whole=True)


def _badge(found: Explanation, document: ExplainedDocument, other: str, letters: int) -> Record:
    """Return what a document's cell has besides its id: grade, rank elsewhere, start of its text.

    That is how a page shows whether it is relevant: by a number, too, not by its colour alone.
    """
    badge, tone, grade = UNJUDGED, TONES[-1], document.grade
    if grade is not None:
        badge, tone = f"{grade:g}", TONES[0]
        if grade in found.grades:  # by its place among the relevant ones
            below = len(found.grades) - 1
            tone = TONES[4 - 3 * (below - found.grades.index(grade)) // max(below, 1)]
    after = " · ".join(filter(None, (other, _start(document.text or "", letters))))
    return {"after": after, "badge": badge, "tone": tone}


def _start(text: str, letters: int) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…" if letters else ""
