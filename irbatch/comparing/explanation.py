"""Why two systems differ, in one object: the queries that changed, and reports of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from irbatch.errors import many, printable
from irbatch.measures import Measure
from irbatch.report.document import (
    BETTER,
    TONES,
    WORSE,
    Column,
    Details,
    Document,
    Legend,
    Part,
    Record,
    Sentences,
    Table,
    isolate,
    list_records,
    make_table,
)
from irbatch.report.numbers import NOTHING, check_digits, show, show_change
from irbatch.report.reported import Reported
from irbatch.report.text import shorten_all

ROUNDING = 1e-12  # changes that small, of the larger value, come from the order of sums


def direction_of(measure: Measure) -> int:
    """Return -1 where lower values are better, else 1: where neither is, more counts as better."""
    return measure.sign or 1


class RankedDocument(NamedTuple):
    """A document of a ranking; its grade is None if it isn't judged, its text if none is known.

    `other` is its rank with the other system; None: not retrieved.
    """

    document: Any
    grade: float | None
    other: int | None
    text: str | None = None


class JudgedDocument(NamedTuple):
    """A judged document, and what became of it.

    Args:
        ranks: from 1; None: not retrieved.
        moved: ``"up"``, ``"down"`` or ``"same"`` where both have it, to the cutoff if there is one;
            ``"lost"`` or ``"new"`` where only the first or the second has; else ``"missed"``.
        unjudged_above: how many documents that are not judged stand above it.
        adds: what it adds to the values, if the measure is a sum of such; see `Explanation`.
    """

    document: Any
    grade: float
    ranks: tuple[int | None, int | None]
    moved: str
    unjudged_above: tuple[int | None, int | None]
    adds: tuple[float, float] | None
    text: str | None = None

    @property
    def change(self) -> float:
        """What it adds with the second system less what with the first; NaN if not known."""
        if self.adds is None:
            return math.nan
        change = self.adds[1] - self.adds[0]
        return 0.0 if abs(change) <= ROUNDING * max(self.adds) else change


class QueryExplanation(NamedTuple):
    """A query, its values, and its documents.

    Args:
        difference: the second value less the first.
        answered: whether each system has a ranking for it.
        retrieved: how many documents the rankings have.
        relevant: how many documents are relevant to the measure.
        unjudged: how many documents are not judged down to the cutoff, or the depth shown.
        documents: what is judged and relevant, or shown: first those that changed the value, the
            worst first; then those relevant, then the others, those that stand highest first.
        left_out: how many more there are, which change less.
        rankings: the documents shown.
    """

    query: Any
    values: tuple[float, float]
    difference: float
    answered: tuple[bool, bool]
    retrieved: tuple[int, int]
    relevant: int
    unjudged: tuple[int, int]
    documents: tuple[JudgedDocument, ...]
    left_out: int
    rankings: tuple[tuple[RankedDocument, ...], tuple[RankedDocument, ...]]
    text: str | None = None


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
        queries: the `QueryExplanation` of those asked for.
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
    queries: tuple[QueryExplanation, ...]
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
        if rankings is None:
            rankings = form != "text" or len(self.queries) <= FEW_QUERIES
        return make_document(self, digits, TEXTS.get(form, (0, 0)), rankings=rankings)

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


def make_document(
    found: Explanation, digits: int, letters: tuple[int, int], *, rankings: bool = True
) -> Document:
    """Return the report.

    Args:
        letters: how many of a document's text are shown where it is judged, and in rankings.
    """
    check_digits(digits)
    measure, (a, b) = found.measure, found.systems
    table = make_table(
        f"{measure} of queries", _query_columns(found, digits), found.queries, whole=True
    )
    parts: list[Sequence[Part]] = [
        [
            _counts(found, each),
            *([_rankings(found, each, letters[1])] if rankings else []),
            _judged(found, each, digits, letters[0]),
        ]
        for each in found.queries
    ]
    first, second = (
        f"{name} ({show(mean, digits)})"
        for name, mean in zip(found.systems, found.means, strict=True)
    )
    words = ("worse", "better") if found.sign else ("lower", "higher")
    counted = f"{found.worse} {words[0]}, {found.better} {words[1]}, {found.same} the same"
    total = many(found.worse + found.better + found.same, "query")
    shown = many(len(found.queries), "query") if found.queries else "none"
    lower = "; lower is better" if found.sign < 0 else ""
    caption = (
        f"{measure} from {first} to {second}{lower}. Of {total} {counted} with {b}; shown: {shown}."
    )
    if not rankings:
        caption += " rankings=True (--html) shows both rankings of each."
    settings = " | ".join(f"{name}: {value}" for name, value in found.settings.items())
    title = f"Where {b} differs from {a}"
    return Document(title, caption, _legend(found), [Details(table, parts)], settings)


def _legend(found: Explanation) -> Legend:
    a, b = found.systems
    where = "in the ranking" if found.cutoff is None else f"among the first {found.cutoff}"
    first = f"the first {found.cutoff or found.depth}"
    legend = [
        (f"number, {UNJUDGED} before a document", "its grade, or that it isn't judged"),
        ("now, was", f"its rank with {b}, with {a}"),
        ("lost", f"{where} of {a} only"),
        ("new", f"{where} of {b} only"),
        ("missed", f"relevant, but {where} of neither"),
        ("unjudged", f"documents without a judgment among {first}, of {a}/of {b}"),
        ("unjudged above", "how many of these stand above a document"),
    ]
    if found.adds:
        legend.append(("+ after a rank", f"what the document adds to {found.measure} there"))
    return legend


def _query_columns(found: Explanation, digits: int = 4) -> list[Column]:
    """Return the columns of queries: of the table, and of lines for programs."""

    def value(side: int) -> Column:
        return Column(
            shorten_all(found.systems, SHORT)[side],
            name=("value_a", "value_b")[side],
            value=lambda query: query.values[side],
            show=lambda value: show(value, digits),
            more=lambda query: {"after": "" if query.answered[side] else "no ranking"},
        )

    def marks(query: QueryExplanation) -> Record:
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
        Column("", name="relevant", value=lambda query: query.relevant),
        Column("unjudged", value=lambda query: sum(query.unjudged),
               text=lambda query: "/".join(map(str, query.unjudged))),
        Column("", name="unjudged_a", value=lambda query: query.unjudged[0]),
        Column("", name="unjudged_b", value=lambda query: query.unjudged[1]),
    ]  # fmt: skip


def _counts(found: Explanation, query: QueryExplanation) -> Sentences:
    """Tell what the tables of a query don't show."""
    lengths = zip(found.systems, query.retrieved, strict=True)
    retrieved = " and ".join(f"{length} with {isolate(name)}" for name, length in lengths)
    said = [f"{many(query.relevant, 'document')} relevant; retrieved {retrieved}"]
    if query.left_out:
        less = "nothing" if query.documents and not query.documents[-1].change else "less"
        said.append(f"{many(query.left_out, 'judged document')} left out, which change {less}")
    hidden = [each for each in query.documents if not _is_told(found, each)]
    for relevant, what in ((True, "relevant and retrieved by neither"), (False, "not relevant")):
        if number := sum((each.grade in found.grades) == relevant for each in hidden):
            said.append(f"{many(number, 'judged document')} left out, {what}: nothing changes")
    if _are_disjoint(query):
        said.append("none of the documents in these rankings is anywhere in the other one")
    return Sentences(said)


def _is_told(found: Explanation, document: JudgedDocument) -> bool:
    """Tell whether a judged document has a row: the ranks of others tell nothing of the value."""
    if document.grade in found.grades:
        return document.ranks != (None, None)
    return document.change != 0


def _are_disjoint(query: QueryExplanation) -> bool:
    """Tell whether neither ranking has a document of the other, where both have some."""
    others = [each.other for ranking in query.rankings for each in ranking]
    return all(query.rankings) and all(other is None for other in others)


def _judged(found: Explanation, query: QueryExplanation, digits: int, letters: int) -> Table:
    """Lay out one row a judged document."""

    def rank(side: int) -> Column:
        def after(each: JudgedDocument) -> Record:
            added = each.adds[side] if each.adds and each.ranks[side] else 0
            return {"after": show_change(added, digits) if added else ""}

        name = shorten_all(found.systems, SHORT)[side]
        return Column(f"rank, {name}", descends=False, value=lambda each: each.ranks[side],
                      more=after)  # fmt: skip

    def above(each: JudgedDocument) -> str:
        return "/".join(NOTHING if k is None else str(k) for k in each.unjudged_above)

    columns = [
        Column("judged document", "text", value=lambda each: str(each.document),
               more=lambda each: _badge(found, each.grade, "", each.text, letters)),
        rank(0),
        rank(1),
        Column("moved", "text", value=lambda each: SHOWN.get(each.moved, each.moved)),
        Column("change" if found.adds else "", descends=False, value=lambda each: each.change,
               show=lambda change: show_change(change, digits)),
        Column("unjudged above", value=lambda each: sum(k or 0 for k in each.unjudged_above),
               text=above),
    ]  # fmt: skip
    told = [each for each in query.documents if _is_told(found, each)]
    return make_table("Judged documents", columns, told, whole=True,
                      is_faint=lambda each: each.grade not in found.grades)  # fmt: skip


def _rankings(found: Explanation, query: QueryExplanation, letters: int) -> Table:
    """Lay out one row a rank, with the documents of both systems side by side."""
    apart = _are_disjoint(query)

    def ranked(side: int) -> Column:
        ranking, word = query.rankings[side], ("now", "was")[side]

        def more(rank: int) -> Record:
            if rank > len(ranking):
                return {}
            each = ranking[rank - 1]
            other = "" if each.other == rank or apart else f"{word} {each.other or 'absent'}"
            return _badge(found, each.grade, other, each.text, letters)

        name = shorten_all(found.systems, SHORT)[side]
        return Column(name, "text", more=more,
                      value=lambda rank: str(ranking[rank - 1].document)
                      if rank <= len(ranking) else "")  # fmt: skip

    columns = [Column("rank", descends=False), ranked(0), ranked(1)]
    ranks = range(1, max(map(len, query.rankings)) + 1)
    return make_table(f"Rankings down to rank {found.depth}", columns, ranks, whole=True)


def _badge(
    found: Explanation, grade: float | None, other: str, text: str | None, letters: int
) -> Record:
    """Return what a document's cell has besides its id: grade, rank elsewhere, start of its text.

    That is how a page shows whether it is relevant: by a number, too, not by its colour alone.
    """
    badge, tone = UNJUDGED, TONES[-1]
    if grade is not None:
        badge, tone = f"{grade:g}", TONES[0]
        if grade in found.grades:  # by its place among the relevant ones
            below = len(found.grades) - 1
            tone = TONES[4 - 3 * (below - found.grades.index(grade)) // max(below, 1)]
    after = " · ".join(filter(None, (other, _start(text or "", letters))))
    return {"after": after, "badge": badge, "tone": tone}


def _start(text: str, letters: int) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…" if letters else ""
