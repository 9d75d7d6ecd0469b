"""An explanation as a document, for every form of report, and as records for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irbatch.comparing.explaining.nouns import Explained, JudgedDocument, QueryExplanation
from irbatch.errors import many
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
from irbatch.report.text import shorten_all

SHORT = 24  # columns of a system's name in headings
SHOWN = {"up": "↑ up", "down": "↓ down"}
UNJUDGED = "?"
QUERY = ("query", "measure", "a", "b", "value_a", "value_b", "difference", "relevant",
         "unjudged_a", "unjudged_b")  # fmt: skip
LONGEST_TEXT = 300  # letters of a query's text


def make_document(found: Explained, digits: int, letters: tuple[int, int]) -> Document:
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


def _caption(found: Explained, digits: int) -> str:
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


def _legend(found: Explained) -> Legend:
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


def _values(found: Explained, query: QueryExplanation, digits: int) -> list[Cell]:
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


def _counts(found: Explained, query: QueryExplanation) -> Sentences:
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


def _is_told(found: Explained, document: JudgedDocument) -> bool:
    """Tell whether a judged document has a row: the ranks of others tell nothing of the value."""
    if document.grade in found.grades:
        return document.ranks != (None, None)
    return document.change != 0


def _are_disjoint(query: QueryExplanation) -> bool:
    """Tell whether neither ranking has a document of the other, where both have some."""
    others = [each.other for ranking in query.rankings for each in ranking]
    return all(query.rankings) and all(other is None for other in others)


def _judged(
    found: Explained, query: QueryExplanation, names: list[str], digits: int, letters: int
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


def _rankings(found: Explained, query: QueryExplanation, names: list[str], letters: int) -> Table:
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
    found: Explained, grade: float | None, text: str | None, other: str, letters: int
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


def _tone(found: Explained, grade: float | None) -> str:
    """Choose a colour by a grade's place among the relevant ones."""
    if grade is None:
        return TONES[-1]
    if grade not in found.grades:
        return TONES[0]
    below = len(found.grades) - 1
    from_top = below - found.grades.index(grade)
    return TONES[4 - 3 * from_top // max(below, 1)]


def list_everything(found: Explained) -> dict[str, Any]:
    """Return everything as JSON has it, pairs as lists."""
    queries = []
    for each in found.queries:
        record = {name: _plain(value) for name, value in each._asdict().items()}
        record["documents"] = [_named(document) for document in each.documents]
        record["rankings"] = [list(map(_named, ranking)) for ranking in each.rankings]
        queries.append(record)
    everything = {name: _plain(value) for name, value in vars(found).items()}
    return everything | {"settings": dict(found.settings), "queries": queries}


def list_queries(found: Explained) -> tuple[Sequence[str], list[Record]]:
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
