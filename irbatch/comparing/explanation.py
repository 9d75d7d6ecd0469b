"""Why two systems differ, in one object: the queries that changed, and reports of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from irbatch.errors import many, printable
from irbatch.measures import Measure
from irbatch.report import numbers
from irbatch.report.document import (
    BETTER,
    TONES,
    WORSE,
    Cell,
    Column,
    Details,
    Document,
    Legend,
    Part,
    Record,
    Row,
    Sentences,
    Table,
    isolate,
)
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
QUERY = ("query", "measure", "a", "b", "value_a", "value_b", "difference", "relevant",
         "unjudged_a", "unjudged_b")  # fmt: skip
LONGEST_TEXT = 300  # letters of a query's text
# How many letters of a document's text are shown where it is judged, and in rankings.
TEXTS = {"markdown": (100, 100), "html": (120, 240), "notebook": (120, 240)}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Reported):
    """What `irbatch.explain` returns: queries that changed, and reports of them.

    On the page that `to_html` writes, each query opens and shows both rankings. Reports for people
    have as option `digits`, how many decimals of values (default: 4); `to_csv` and frames have one
    line a query.

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

    def _document(self, form: str, *, digits: int = 4) -> Document:
        return make_document(self, digits, TEXTS.get(form, (0, 0)))

    def _everything(self) -> dict[str, Any]:
        return _list_everything(self)

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return _list_queries(self)


def make_document(found: Explanation, digits: int, letters: tuple[int, int]) -> Document:
    """Return the report.

    Args:
        letters: how many of a document's text are shown where it is judged, and in rankings.
    """
    numbers.check_digits(digits)
    names = shorten_all(found.systems, SHORT)
    told = any(each.text for each in found.queries)
    columns = [
        Column("query", "name"),
        *([Column("text", "text")] if told else []),
        *map(Column, names),
        Column("change", descends=False),
        Column("unjudged"),
    ]
    rows: list[Row] = []
    parts: list[Sequence[Part]] = []
    for each in found.queries:
        text = [Cell(_start(each.text or "", LONGEST_TEXT))] if told else []
        rows.append(Row([Cell(str(each.query)), *text, *_values(found, each, digits)]))
        judged = _judged(found, each, names, digits, letters[0])
        parts.append([_counts(found, each), _rankings(found, each, names, letters[1]), judged])
    title = f"Where {found.systems[1]} differs from {found.systems[0]}"
    details = Details(Table(f"{found.measure} of queries", columns, rows, whole=True), parts)
    settings = " | ".join(f"{name}: {value}" for name, value in found.settings.items())
    return Document(title, _caption(found, digits), _legend(found), [details], settings)


def _caption(found: Explanation, digits: int) -> str:
    first, second = (
        f"{name} ({numbers.show(mean, digits)})"
        for name, mean in zip(found.systems, found.means, strict=True)
    )
    words = ("worse", "better") if found.sign else ("lower", "higher")
    counted = f"{found.worse} {words[0]}, {found.better} {words[1]}, {found.same} the same"
    total = many(found.worse + found.better + found.same, "query")
    shown = many(len(found.queries), "query") if found.queries else "none"
    lower = "; lower is better" if found.sign < 0 else ""
    return (
        f"{found.measure} from {first} to {second}{lower}. Of {total} {counted} with "
        f"{found.systems[1]}; shown: {shown}."
    )


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


def _values(found: Explanation, query: QueryExplanation, digits: int) -> list[Cell]:
    """Write both values, the change, and how many documents are not judged."""
    cells = [
        Cell(numbers.show(value, digits), value, after="" if answered else "no ranking")
        for value, answered in zip(query.values, query.answered, strict=True)
    ]
    gain = query.difference * found.sign
    marks = [BETTER if gain > 0 else WORSE] if gain else []
    change = numbers.show_change(query.difference, digits)
    cells.append(Cell(change, query.difference, marks=marks))
    return [*cells, Cell("/".join(map(str, query.unjudged)), sum(query.unjudged))]


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


def _judged(
    found: Explanation, query: QueryExplanation, names: list[str], digits: int, letters: int
) -> Table:
    """Lay out one row a judged document."""
    columns = [
        Column("judged document", "text"),
        *(Column(f"rank, {name}", descends=False) for name in names),
        Column("moved", "text"),
        *([Column("change", descends=False)] if found.adds else []),
        Column("unjudged above"),
    ]
    rows = []
    for each in query.documents:
        if not _is_told(found, each):
            continue
        added = each.adds or (0.0, 0.0)
        cells = [
            Cell(str(each.document), **_shown(found, each.grade, each.text, "", letters)),
            *(_rank(*both, digits) for both in zip(each.ranks, added, strict=True)),
            Cell(SHOWN.get(each.moved, each.moved)),
        ]
        if found.adds:
            cells.append(Cell(numbers.show_change(each.change, digits), each.change))
        above = [numbers.NOTHING if k is None else str(k) for k in each.unjudged_above]
        cells.append(Cell("/".join(above), sum(k or 0 for k in each.unjudged_above)))
        rows.append(Row(cells, faint=each.grade not in found.grades))
    return Table("Judged documents", columns, rows, whole=True)


def _rankings(found: Explanation, query: QueryExplanation, names: list[str], letters: int) -> Table:
    """Lay out one row a rank, with the documents of both systems side by side."""
    columns = [Column("rank", descends=False), *(Column(name, "text") for name in names)]
    rows, apart = [], _are_disjoint(query)
    for rank in range(1, max(map(len, query.rankings)) + 1):
        cells = [Cell(str(rank), rank)]
        for ranking, word in zip(query.rankings, ("now", "was"), strict=True):
            if rank > len(ranking):
                cells.append(Cell(""))
                continue
            each = ranking[rank - 1]
            other = "" if each.other == rank or apart else f"{word} {each.other or 'absent'}"
            shown = _shown(found, each.grade, each.text, other, letters)
            cells.append(Cell(str(each.document), **shown))
        rows.append(Row(cells))
    return Table(f"Rankings down to rank {found.depth}", columns, rows, whole=True)


def _rank(rank: int | None, added: float, digits: int) -> Cell:
    """Write a rank, and what the document there adds to the value."""
    if rank is None:
        return Cell(numbers.NOTHING)
    return Cell(str(rank), rank, after=numbers.show_change(added, digits) if added else "")


def _shown(
    found: Explanation, grade: float | None, text: str | None, other: str, letters: int
) -> dict[str, Any]:
    """Return what a document's cell has besides its id: grade, rank elsewhere, start of its text.

    That is how a page shows whether it is relevant: by a number, too, not by its colour alone.
    """
    badge = UNJUDGED if grade is None else f"{grade:g}"
    after = " · ".join(filter(None, (other, _start(text or "", letters))))
    return {"after": after, "badge": badge, "tone": _tone(found, grade)}


def _start(text: str, letters: int) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…" if letters else ""


def _tone(found: Explanation, grade: float | None) -> str:
    """Choose a colour by a grade's place among the relevant ones."""
    if grade is None:
        return TONES[-1]
    if grade not in found.grades:
        return TONES[0]
    below = len(found.grades) - 1
    from_top = below - found.grades.index(grade)
    return TONES[4 - 3 * from_top // max(below, 1)]


def _list_everything(found: Explanation) -> dict[str, Any]:
    """Return everything as JSON has it, pairs as lists."""
    queries = []
    for each in found.queries:
        record = {name: _plain(value) for name, value in each._asdict().items()}
        record["documents"] = [_named(document) for document in each.documents]
        record["rankings"] = [list(map(_named, ranking)) for ranking in each.rankings]
        queries.append(record)
    everything = {name: _plain(value) for name, value in vars(found).items()}
    return everything | {"settings": dict(found.settings), "queries": queries}


def _list_queries(found: Explanation) -> tuple[Sequence[str], list[Record]]:
    """Return columns and records: one a query, without its documents."""
    rows = [
        (each.query, found.measure, *found.systems, *each.values, each.difference, each.relevant,
         *each.unjudged)
        for each in found.queries
    ]  # fmt: skip
    return QUERY, [dict(zip(QUERY, row, strict=True)) for row in rows]


def _named(record: Any) -> dict[str, Any]:
    return {name: _plain(value) for name, value in record._asdict().items()}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
