"""Why two systems differ: the queries that changed, their documents, and reports of them."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import UNJUDGED, RelevanceMatrix
from irbatch.engine.ties import TiePolicy, as_compared, id_texts, order_documents
from irbatch.errors import ErrorsIn, InputError, kind_of, many, printable, shown, warn
from irbatch.evaluation.evaluation import Evaluation, Judgments, Rankings
from irbatch.evaluation.pipeline import average
from irbatch.evaluation.runs import name_systems
from irbatch.evaluation.settings import EvaluateOptions, Settings, check_settings
from irbatch.formats.texts import join_text, read_texts
from irbatch.measures import Measure, Plan, parse_measures, relevant_levels
from irbatch.report import Reported
from irbatch.report.document import (
    BEST,
    Column,
    Details,
    Document,
    Record,
    list_records,
    make_table,
)
from irbatch.report.text import check_digits, shorten_all, show, show_change
from irbatch.runtime.numbers import as_floats, check_whole
from irbatch.runtime.progress import progress_on_bar
from irbatch.runtime.ragged import offsets_of

DEPTH = 20  # ranks shown of measures without a cutoff, or with a deeper one
ROUNDING = 1e-12  # changes that small, of the larger value, come from the order of sums
MOST_CELLS = 1 << 26  # of the matrix that tells what the documents of a ranking add

# Measures whose value is a sum over ranks, each term known from the documents down to its rank.
SUMS = frozenset(
    ("P", "R", "Rcap", "Success", "RR", "AP", "Rprec", "CG", "DCG", "nDCG", "nCG", "RBP", "nRBP",
     "ERR", "nERR", "Bpref", "NumRelRet")
)  # fmt: skip

Texts = Mapping[Any, str | Mapping[str, Any]] | str | os.PathLike[str]
"""Text by id, BEIR's ``{"title": …, "text": …}`` by id, or the path of a file of texts."""


class ExplainedDocument(NamedTuple):
    """A document of a query, and what became of it."""

    document: Any
    grade: float | None  # None: not judged
    ranks: tuple[int | None, int | None]  # with both systems, from 1; None: not retrieved
    # "up", "down" or "same" where both have it, to the cutoff if there is one; "lost" or "new"
    # where only the first or the second has; else "missed".
    moved: str
    adds: tuple[float, float] | None  # to both values, of a measure that is a sum
    text: str | None = None

    @property
    def change(self) -> float:
        """What it adds with the second system less what with the first; NaN if not known."""
        if self.adds is None:
            return math.nan
        change = self.adds[1] - self.adds[0]
        return 0.0 if abs(change) <= ROUNDING * max(map(abs, self.adds)) else change


class ExplainedQuery(NamedTuple):
    """A query, its values, and its documents."""

    query: Any
    values: tuple[float, float]  # with both systems
    relevant: int  # how many documents are, to the measure
    missing: tuple[bool, bool]  # whether the systems have no ranking, which counts as an empty one
    unjudged: tuple[int, int]  # documents without a judgment, to the cutoff or the depth shown
    # Those shown of either ranking, and relevant ones: first those that changed the value, the
    # worst first; then other relevant ones, then the others; of these first those that moved,
    # those that stand highest first.
    documents: tuple[ExplainedDocument, ...]
    text: str | None = None

    @property
    def difference(self) -> float:
        """The second value less the first."""
        return self.values[1] - self.values[0]

    def most_changed(self, most: int) -> list[ExplainedDocument]:
        """Return the documents that changed the value most, then the first ones, in their order."""
        rows = enumerate(self.documents)
        by_change = sorted(rows, key=lambda row: -abs(row[1].change) if row[1].adds else 0.0)
        return [row for _, row in sorted(by_change[:most], key=lambda row: row[0])]


SHORT = 18  # columns of a system's name in headings
FEW_QUERIES = 3  # of which text has as many documents as other forms
FEW_DOCUMENTS, MOST_DOCUMENTS = 5, 50  # of a query that are shown: in text of more queries, else
LETTERS = 240  # shown of a text
ARROWS = {"up": "↑ up", "down": "↓ down"}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Reported):
    """What `irbatch.explain` returns: queries that changed, and reports of them.

    Reports for people have as option `digits`, how many decimals of values (default: 4). Of each
    query they have the documents that changed the value most, then other relevant ones, then those
    that stand highest: 50, or all ranks shown if these are more; five in text of more than three
    queries. `to_csv` and frames have one line a query.

    Pairs are of the first system and the second one. What a document adds to a value is what the
    value grows by where, going down the ranking, one comes to the document: the gain over the
    discount and the ideal DCG, of nDCG; precision at its rank over all relevant, of AP. It is said
    of measures that are such a sum.
    """

    measure: str
    systems: tuple[str, str]
    means: tuple[float, float]  # of all queries
    worse: int  # how many queries got worse, better, or stayed as they were
    better: int
    same: int
    queries: tuple[ExplainedQuery, ...]  # those asked for
    depth: int  # how many ranks of each ranking are shown
    cutoff: int | None  # the measure's; None: it looks at whole rankings
    sign: int  # 1 if higher values are better, -1 if lower ones are, 0 if neither is
    adds: bool  # whether it is known what each document adds
    grades: tuple[float, ...]  # the relevant ones that the judgments have, ascending
    settings: Mapping[str, str]  # how the values came about

    _label: ClassVar[str] = "tab:explanation"

    def __repr__(self) -> str:
        first, second = map(printable, self.systems)
        changed = f"{self.worse} worse, {self.better} better, {self.same} the same"
        return f"Explanation of {self.measure} from {first} to {second}: {changed}"

    def _document(self, form: str, *, digits: int = 4) -> Document:
        check_digits(digits)
        (a, b), cutoff = self.systems, self.cutoff
        is_short = form == "text" and len(self.queries) > FEW_QUERIES
        most = FEW_DOCUMENTS if is_short else max(MOST_DOCUMENTS, 2 * self.depth)
        columns = self._document_columns(digits, 0 if form in ("text", "latex") else LETTERS)
        heading = "Documents, and their ranks"
        documents = [
            [make_table(heading, columns, query.most_changed(most), whole=True)]
            for query in self.queries
        ]
        table = make_table(f"{self.measure} of queries", self._columns(digits), self.queries)
        first, second = (show(mean, digits) for mean in self.means)
        words = ("worse", "better") if self.sign else ("lower", "higher")
        caption = (
            f"{self.measure} from {a} ({first}) to {b} ({second})"
            f"{'; lower is better' * (self.sign < 0)}. "
            f"Of {many(self.worse + self.better + self.same, 'query')} {self.worse} {words[0]}, "
            f"{self.better} {words[1]}, {self.same} the same with {b}; "
            f"shown: {many(len(self.queries), 'query') if self.queries else 'none'}."
        )
        if any(len(query.documents) > most for query in self.queries):
            more = "; HTML shows more" if is_short else ""
            caption += f" Of each query no more than {most} documents{more}."
        where = "in the ranking" if cutoff is None else f"among the first {cutoff}"
        legend = [
            (BEST, "grades of relevant documents"),
            ("lost, new, missed", f"{where} of {a} only, of {b} only, of neither"),
            ("unjudged", f"documents without a judgment among the first {cutoff or self.depth}, "
                         f"of {a}/of {b}"),
        ]  # fmt: skip
        if self.adds:
            legend.append(("+ after a rank", f"what the document adds to {self.measure} there"))
        settings = " | ".join(f"{name}: {value}" for name, value in self.settings.items())
        title = f"Where {b} differs from {a}"
        return Document(title, caption, legend, [Details(table, documents)], settings)

    def _everything(self) -> Record:
        return _plain(vars(self))

    def _records(self) -> tuple[list[str], list[Record]]:
        return list_records(self._columns(), self.queries)

    def _columns(self, digits: int = 4) -> list[Column]:
        has_texts = any(query.text for query in self.queries)

        def value(side: int, heading: str) -> Column:
            def text(query: ExplainedQuery) -> str:
                return "missing" if query.missing[side] else show(query.values[side], digits)

            name = ("value_a", "value_b")[side]
            return Column(heading, name=name, value=lambda query: query.values[side], text=text)

        return [
            Column("query", "name", name="query", value=lambda query: query.query),
            Column("text" if has_texts else "", "text",
                   value=lambda query: _start(query.text, LETTERS)),
            *map(value, (0, 1), shorten_all(self.systems, SHORT)),
            Column("change", name="difference", descends=False,
                   value=lambda query: query.difference,
                   show=lambda change: show_change(change, digits)),
            Column("relevant", name="relevant", value=lambda query: query.relevant),
            Column("unjudged", name="unjudged_a", value=lambda query: query.unjudged[0],
                   text=lambda query: "/".join(map(str, query.unjudged))),
            Column("", name="unjudged_b", value=lambda query: query.unjudged[1]),
        ]  # fmt: skip

    def _document_columns(self, digits: int, letters: int) -> list[Column]:
        """Return the columns of a query's documents, with so many letters of their texts."""

        def rank(side: int, heading: str) -> Column:
            def after(row: ExplainedDocument) -> Record:
                added = row.adds[side] if row.adds and row.ranks[side] else 0
                return {"after": show_change(added, digits) if added else ""}

            return Column(heading, descends=False, value=lambda row: row.ranks[side], more=after)

        return [
            Column("document", "text", value=lambda row: str(row.document),
                   more=lambda row: {"after": _start(row.text, letters)}),
            Column("grade", value=lambda row: row.grade, show=lambda grade: f"{grade:g}",
                   more=lambda row: {"stands_out": row.grade in self.grades}),
            *map(rank, (0, 1), shorten_all(self.systems, SHORT)),
            Column("moved", "text", value=lambda row: ARROWS.get(row.moved, row.moved)),
            Column("change" if self.adds else "", descends=False, value=lambda row: row.change,
                   show=lambda change: show_change(change, digits)),
        ]  # fmt: skip


def _plain(value: Any) -> Any:
    """Return what JSON has in place of tuples: dicts of those with names, lists of others."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _start(text: str | None, letters: int) -> str:
    text = text or ""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…" * bool(letters)


def explain(
    qrels: Judgments,
    a: Rankings,
    b: Rankings,
    measure: str | Measure = "nDCG@10",
    *,
    queries: Iterable[Any] | None = None,
    most: int = 10,
    depth: int | None = None,
    topics: Texts | None = None,
    documents: Texts | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Explanation:
    """Explain why two systems differ: the queries that changed, and their documents.

    Args:
        qrels, a, b: judgments and both systems' rankings, as in `irbatch.evaluate`; systems are
            called as their files or runs are, or else ``"A"`` and ``"B"``.
        measure: one that reads judgments' grades.
        queries: the ids of those to explain, in their order; default: those whose values changed
            the most, worst first.
        most: how many these are.
        depth: how many ranks of both rankings are shown; default: down to the cutoff, 20 at most.
        topics, documents: the texts of queries and of documents, by id, or a file of them: lines
            of ``id<TAB>text`` or of JSON, ``{"_id": …, "title": …, "text": …}``, of which no more
            is kept than is shown.
        **settings: as in `irbatch.evaluate`; values and ranks are those of that evaluation.

    Raises:
        InputError: as `irbatch.evaluate`; if the measure has no values of queries or reads
            something besides grades; if ties are left open, so that documents have no ranks; if a
            query asked for has no two values.

    >>> qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
    >>> old = {"q1": {"d1": 3, "d7": 2, "d2": 1}, "q2": {"d3": 1}}
    >>> new = {"q1": {"d7": 3, "d1": 2}, "q2": {"d3": 1}}
    >>> found = explain(qrels, old, new, "AP")
    >>> found.worse, found.better, found.same
    (1, 0, 1)
    >>> [query] = found.queries
    >>> [(row.document, row.ranks, row.moved) for row in query.documents]
    [('d2', (3, None), 'lost'), ('d1', (1, 2), 'down'), ('d7', (2, 1), 'up')]
    >>> query.documents[1].adds
    (0.5, 0.25)
    """
    check_settings(explain, settings)
    of = _check_measure(measure)
    evaluation = Evaluation.choose(of, **settings)
    if evaluation.settings.ties == "expected":
        problem = "ties='expected' gives documents of one score no ranks to be shown: say 'id'"
        raise InputError(problem, source="ties", value="expected")
    check_whole("most", most, 1)
    ids = None if queries is None else _read_ids(queries)
    shown_depth = min(of.cutoff or DEPTH, DEPTH) if depth is None else depth
    check_whole("depth", shown_depth, 1)
    systems, judged = _name_both(a, b), evaluation.judgments(qrels)
    runs = evaluation.rankings(a), evaluation.rankings(b)
    with progress_on_bar("evaluating", evaluation.progress) as tell:
        first, second = (average(evaluation, judged, run, tell) for run in runs)
    shared = [query for query in first.query_ids if query in second.rows]
    both = [own.values[[own.rows[query] for query in shared], 0] for own in (first, second)]
    values = np.stack(both, axis=1)
    changes = (values[:, 1] - values[:, 0]) * (of.sign or 1)  # where neither is better: more
    if np.isnan(changes).all():
        raise InputError("no query has a value with both systems", source="measures")
    changes[np.abs(changes) <= ROUNDING * np.abs(values).max(axis=1)] = 0.0
    rows = np.flatnonzero(np.abs(changes) > 0).tolist()
    rows = sorted(rows, key=lambda row: -abs(changes[row]))[:most]
    rows.sort(key=changes.__getitem__)
    if ids is not None:
        place = {query: row for row, query in enumerate(shared) if not math.isnan(changes[row])}
        if unknown := [query for query in ids if query not in place]:
            problem = "this query has no values with both systems, or is not judged"
            raise InputError(problem, source="queries", query=unknown[0])
        rows = [place[query] for query in ids]
    explainer = Explainer(of, judged, runs, evaluation.settings, shown_depth)
    explained = [explainer.explain(shared[row], tuple(values[row].tolist())) for row in rows]
    mentioned = dict.fromkeys(row.document for query in explained for row in query.documents)
    of_queries = _look_up("topics", topics, [query.query for query in explained])
    of_documents = _look_up("documents", documents, mentioned)
    return Explanation(
        measure=str(of),
        systems=systems,
        means=(first[of], second[of]),
        worse=int(np.count_nonzero(changes < 0)),
        better=int(np.count_nonzero(changes > 0)),
        same=int(np.count_nonzero(changes == 0)),
        queries=tuple(
            query._replace(
                text=of_queries.get(query.query),
                documents=tuple(
                    row._replace(text=of_documents.get(row.document)) for row in query.documents
                ),
            )
            for query in explained
        ),
        depth=shown_depth,
        cutoff=of.cutoff,
        sign=of.sign,
        adds=explainer.is_sum,
        grades=explainer.grades,
        settings=first.settings,
    )


def _check_measure(measure: str | Measure) -> Measure:
    """Reject what is not one measure of grades, with values of queries."""
    measures = parse_measures(measure)
    if len(measures) > 1:
        raise InputError(f"one measure is explained, not {len(measures)}", source="measures")
    reads = measures[0].declaration.reads
    if reads not in ("prefix", "judged", "relevant"):
        problem = f"{measures[0]} reads {reads}: measures that read grades alone are explained"
        raise InputError(problem, source="measures", value=str(measures[0]))
    return measures[0]


def _read_ids(queries: Any) -> list[Any]:
    try:
        ids = [] if isinstance(queries, str) else list(dict.fromkeys(queries))
    except TypeError:  # a number, or lists of lists
        ids = []
    if not ids:
        problem = f"queries are a list of ids, not {shown(queries)}; most= says how many"
        raise InputError(problem, source="queries", value=queries)
    return ids


def _name_both(a: Rankings, b: Rankings) -> tuple[str, str]:
    """Return both systems' names, which are A and B if they have none."""
    sides: list[Any] = []
    for rankings, letter in ((a, "A"), (b, "B")):
        own = rankings.name if isinstance(rankings, Run) else None
        is_path = isinstance(rankings, str | os.PathLike)
        sides.append(rankings if is_path else Run({}, own or letter))
    first, second = name_systems(sides)
    return first, second


def rank_documents(qrels: Qrels, row: int, run: Run, settings: Settings) -> tuple[list[Any], Ints]:
    """Rank a query's documents as an evaluation does; return ids, and codes of the matrix."""
    query = qrels.queries[row]
    scored = run.rankings[query] if query in run.queries else {}
    documents = list(scored)
    scores = as_compared(as_floats(scored.values()), settings.score_dtype)
    of_query = qrels.codes[qrels.starts[row] : qrels.starts[row + 1]].tolist()
    judged = dict(zip(qrels.documents[row], of_query, strict=True))
    codes = np.array([judged.get(document, UNJUDGED) for document in documents], np.int64)
    ties = settings.ordering.ties

    def tie_keys(rows: Ints) -> Any:
        if ties.by_id:
            return id_texts([documents[row] for row in rows.tolist()])
        return rows if ties == TiePolicy.INDEX else codes[rows]  # ordered as grades are

    descends = ties in (TiePolicy.ID, TiePolicy.OPTIMISTIC)
    order = order_documents(scores, offsets_of([scores.size]), tie_keys, descending=descends)
    if settings.max_depth is not None:
        order = order[: int(settings.max_depth)]
    if settings.judged_only:
        order = order[codes[order] >= 0]
    return [documents[place] for place in order.tolist()], codes[order]


class Explainer:
    """Explains queries of one measure, judgments and two runs; `depth` ranks of each are shown."""

    def __init__(
        self, measure: Measure, qrels: Qrels, runs: Sequence[Run], settings: Settings, depth: int
    ) -> None:
        self.qrels, self.runs, self.settings, self.depth = qrels, runs, settings, depth
        self.plan = Plan((measure,), settings.open_parameters())
        self.measure = self.plan.filled[0]
        divided_by_found = self.measure.name == "AP" and self.measure["norm"] == "found"
        builtin = self.measure.declaration.builtin and not divided_by_found
        self.is_sum = builtin and self.measure.name in SUMS
        self.grades = tuple(qrels.levels[relevant_levels(self.measure, qrels.levels)].tolist())

    def explain(self, query: Any, values: tuple[float, float]) -> ExplainedQuery:
        """Explain a query that has two values."""
        row, depth, cutoff = self.qrels.row_of[query], self.depth, self.measure.cutoff
        grades = self.qrels.grades[self.qrels.starts[row] : self.qrels.starts[row + 1]]
        judged = dict(zip(self.qrels.documents[row], grades.tolist(), strict=True))
        relevant = [document for document, grade in judged.items() if grade in self.grades]
        (ids_a, codes_a), (ids_b, codes_b) = rankings = [
            rank_documents(self.qrels, row, run, self.settings) for run in self.runs
        ]
        ranks_a, ranks_b = ({ids[k]: k + 1 for k in range(len(ids))} for ids in (ids_a, ids_b))
        adds_a, adds_b = (self._additions(row, *ranking) for ranking in rankings)
        documents = []
        for document in dict.fromkeys((*ids_a[:depth], *ids_b[:depth], *relevant)):
            ranks = ranks_a.get(document), ranks_b.get(document)
            adds = None
            if adds_a is not None and adds_b is not None and document in judged:
                adds = adds_a.get(document, 0.0), adds_b.get(document, 0.0)
            moved = _moved(*ranks, cutoff or math.inf)
            documents.append(ExplainedDocument(document, judged.get(document), ranks, moved, adds))
        documents.sort(key=self._place)
        first, second = self.runs
        missing = query not in first.queries, query not in second.queries
        tops = codes_a[: cutoff or depth], codes_b[: cutoff or depth]
        unjudged = int((tops[0] == UNJUDGED).sum()), int((tops[1] == UNJUDGED).sum())
        return ExplainedQuery(query, values, len(relevant), missing, unjudged, tuple(documents))

    def _additions(self, row: int, documents: list[Any], codes: Ints) -> dict[Any, float] | None:
        """Return what the value grows by at each judged document; None if it is no such sum."""
        judged = np.flatnonzero(codes[: self.measure.cutoff] != UNJUDGED)
        if not self.is_sum or (judged.size + 1) * codes.size > MOST_CELLS:  # it would take too long
            return None
        if not judged.size:
            return {}
        counts = np.repeat(self.qrels.level_counts([row]), judged.size + 1, axis=0)
        retrieved = np.full(judged.size + 1, codes.size, np.int64)
        matrix = RelevanceMatrix.unjudged(retrieved, self.qrels.levels, counts)
        for number, place in enumerate(judged.tolist(), 1):
            matrix.codes[number:, place] = codes[place]
        added = np.diff(self.plan.values(matrix)[:, 0])
        return dict(zip((documents[k] for k in judged.tolist()), added.tolist(), strict=True))

    def _place(self, row: ExplainedDocument) -> tuple[Any, ...]:
        """Return what documents are ordered by; see `ExplainedQuery`."""
        gain = (self.measure.sign or 1) * row.change if row.adds else 0.0
        kind = 0 if gain else 1 if row.grade in self.grades else 2
        highest = min(rank or math.inf for rank in row.ranks)
        return kind, gain, row.moved in ("same", "missed"), highest, -(row.grade or 0)


def _moved(before: int | None, after: int | None, last: float) -> str:
    """Say how a document moved between two ranks, of which those after the last are none."""
    was, now = (rank if rank and rank <= last else 0 for rank in (before, after))
    if was and now:
        return "same" if was == now else "up" if now < was else "down"
    return "lost" if was else "new" if now else "missed"


def _look_up(source: str, texts: Texts | None, ids: Collection[Any]) -> dict[Any, str]:
    """Return the texts of some ids, those that there are."""
    if texts is None:
        return {}
    by_id: dict[Any, str] = {}
    if isinstance(texts, str | os.PathLike):
        names = {str(name): name for name in ids}
        read = read_texts(texts, names.keys(), source)
        by_id = {names[name]: text for name, text in read.items()}
    elif isinstance(texts, Mapping):
        for name in (name for name in ids if name in texts):
            text = texts[name]
            with ErrorsIn(source=source, value=name):
                by_id[name] = join_text(text if isinstance(text, Mapping) else {"text": text})
    else:
        kind = kind_of(texts)
        raise InputError(f"{source} are a mapping of ids to texts, or a file, not {kind}")
    if ids and not by_id:
        example = shown(next(iter(ids)))
        warn(f"{source}: none of {len(ids)} has a text; are ids spelled as in the runs: {example}?")
    return by_id
