"""The public verb: from judgments and two systems' rankings to why they differ."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Unpack

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.comparing.explaining.explanation import Explanation
from irbatch.comparing.explaining.nouns import ROUNDING, direction_of
from irbatch.comparing.explaining.queries import Explainer
from irbatch.comparing.explaining.texts import Texts, add_texts
from irbatch.data.column_names import Columns, names_for
from irbatch.data.runs import Run
from irbatch.errors import InputError, shown, warnings_kept
from irbatch.evaluation.evaluation import Judgments, Rankings, as_qrels, as_run, check_places
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.settings import EvaluateOptions, Settings, check_settings
from irbatch.evaluation.system_names import name_systems
from irbatch.formats.files import is_file, read_rankings
from irbatch.measures import Measure, parse_measures
from irbatch.runtime.numbers import check_choice, check_whole, is_whole

DEPTH = 20  # ranks shown of measures without a cutoff, or with a deeper one
MOST = 10  # queries, unless it is said
SIDES = ("worse", "better")
STANDARD_INPUT = "-"


def explain(
    qrels: Judgments,
    a: Rankings,
    b: Rankings,
    measure: str | Measure = "nDCG@10",
    *,
    queries: Iterable[Any] | None = None,
    most: int | None = None,
    only: str | None = None,
    depth: int | None = None,
    topics: Texts | None = None,
    documents: Texts | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Explanation:
    """Explain why two systems differ: the queries that changed, and their documents.

    Args:
        qrels: as in `irbatch.evaluate`.
        a, b: the systems, from the first to the second: rankings as in `irbatch.evaluate`, which
            are called as their files or runs are, or else ``"A"`` and ``"B"``.
        measure: one that reads judgments' grades.
        queries: the ids of those to explain, in their order; default: those whose values changed
            the most, worst first.
        most: how many these are; default: 10.
        only: those that got ``"worse"`` or ``"better"``, worst or best first.
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
    >>> [(each.document, each.ranks, each.moved) for each in query.documents]
    [('d2', (3, None), 'lost'), ('d1', (1, 2), 'down')]
    >>> query.documents[1].adds
    (0.5, 0.25)
    """
    check_settings(explain, settings)
    wanted = _check_measure(measure)
    chosen = Settings.choose(**{
        each.name: settings[each.name]  # type: ignore[literal-required]
        for each in fields(Settings) if each.name in settings
    })  # fmt: skip
    if chosen.ties == "expected":
        problem = "ties='expected' gives documents of one score no ranks to be shown: say 'id'"
        raise InputError(problem, source="ties", value=chosen.ties)
    choice = _Choice.of(queries, most, only, wanted)
    shown_depth = min(wanted.cutoff or DEPTH, DEPTH) if depth is None else depth
    check_whole("depth", shown_depth, 1)
    columns = settings.get("columns")
    judged = as_qrels(qrels, columns)
    for run in (a, b):
        check_places(qrels, judged, run)
    order_by = settings.pop("order_by", "score")
    systems = name_both(a, b, order_by, columns)
    first, second = (each.evaluate(judged, wanted, settings) for each in systems.values())
    ids, values = _align(first, second)
    rows = choice.rows(ids, values)
    runs = [each.read([ids[row] for row in rows]) for each in systems.values()]
    explainer = Explainer(wanted, judged, runs, chosen, shown_depth)
    explained = [explainer.explain(ids[row], values[row]) for row in rows]
    changes = choice.changes(values)
    return Explanation(
        measure=str(wanted),
        systems=_pair(systems),
        means=(first[wanted], second[wanted]),
        worse=int(np.count_nonzero(changes < 0)),
        better=int(np.count_nonzero(changes > 0)),
        same=int(np.count_nonzero(changes == 0)),
        queries=add_texts(explained, topics, documents),
        depth=shown_depth,
        cutoff=wanted.cutoff,
        sign=wanted.sign,
        adds=explainer.is_sum,
        grades=explainer.grades,
        settings={**first.settings, "order": chosen.ordering.describe(order_by)},
    )


def _check_measure(measure: str | Measure) -> Measure:
    """Refuse what is not one measure of grades, with values of queries."""
    found = parse_measures(measure)
    if len(found) > 1:
        raise InputError(f"one measure is explained, not {len(found)}", source="measures")
    reads = found[0].declaration.reads
    if reads not in ("prefix", "judged", "relevant"):
        problem = f"{found[0]} reads {reads}: measures that read grades alone are explained"
        raise InputError(problem, source="measures", value=str(found[0]))
    return found[0]


def _align(first: Results, second: Results) -> tuple[list[Any], Floats]:
    """Return the queries that have two values, and these: float64 ``(queries, 2)``."""
    shared = [query for query in first.query_ids if query in second.rows]
    rows = [[each.rows[query] for query in shared] for each in (first, second)]
    values = np.stack([first.values[rows[0], 0], second.values[rows[1], 0]], axis=1)
    kept = np.flatnonzero(~np.isnan(values).any(axis=1))
    if not kept.size:
        raise InputError("no query has a value with both systems", source="measures")
    return [shared[row] for row in kept.tolist()], values[kept]


@dataclass(frozen=True)
class _Choice:
    """Which queries are explained: so many of those that changed, or those with some ids."""

    most: int
    ids: list[Any] | None
    only: str | None
    measure: Measure

    @classmethod
    def of(cls, queries: object, most: object, only: str | None, measure: Measure) -> _Choice:
        """Read the arguments of `explain`."""
        check_choice("only", only, (None, *SIDES))
        if only is not None and not measure.sign:
            problem = f"neither more nor less is better of {measure}: leave out only="
            raise InputError(problem, source="only", value=only)
        if queries is None:
            return cls(check_whole("most", MOST if most is None else most, 1), None, only, measure)
        if isinstance(queries, str) or not isinstance(queries, Iterable):
            hint = f"; most={queries} says how many" if is_whole(queries) else ""
            problem = f"queries are a list of ids, not {shown(queries)}{hint}"
            raise InputError(problem, source="queries", value=queries)
        for name, value in (("only", only), ("most", most)):
            if value is not None:
                problem = f"{name}= chooses among queries: give no ids of them"
                raise InputError(problem, value=value)
        try:
            return cls(0, list(dict.fromkeys(queries)), only, measure)
        except TypeError as problem:  # such as lists of lists
            raise InputError(f"queries are ids: {problem}", source="queries") from None

    def changes(self, values: Floats) -> Floats:
        """Return by how much queries got better, float64 ``(queries,)``; 0 for rounding alone."""
        change = (values[:, 1] - values[:, 0]) * direction_of(self.measure)
        small: Bools = np.abs(change) <= ROUNDING * np.abs(values).max(axis=1)
        return np.where(small, 0.0, change)

    def rows(self, queries: list[Any], values: Floats) -> list[int]:
        """Return the rows of queries to explain, in order."""
        if self.ids is not None:
            return self._asked(queries, self.ids)
        change = self.changes(values)
        sides = {None: change != 0, "worse": change < 0, "better": change > 0}
        some = np.flatnonzero(sides[self.only])
        some = some[np.argsort(-np.abs(change[some]), kind="stable")][: self.most]
        if self.only is None:
            some = some[np.argsort(change[some], kind="stable")]
        return some.tolist()

    def _asked(self, queries: list[Any], ids: list[Any]) -> list[int]:
        rows = {query: row for row, query in enumerate(queries)}
        for query in ids:
            if query not in rows:
                problem = "this query has no values with both systems, or is not judged"
                raise InputError(problem, source="queries", query=query)
        return [rows[query] for query in ids]


def _pair(names: Iterable[str]) -> tuple[str, str]:
    first, second = names
    return first, second


@dataclass(frozen=True)
class System:
    """A system's rankings: a run, or a file, of which no more than some queries is kept."""

    given: Any
    order_by: str
    columns: Columns

    @classmethod
    def of(cls, rankings: Rankings, order_by: str, columns: Columns) -> System:
        """Take rankings as they are given; what can be read only once is read."""
        if is_file(rankings) and rankings != STANDARD_INPUT:
            return cls(rankings, order_by, columns)
        was_read = isinstance(rankings, Run | Mapping)
        run = as_run(rankings, columns=columns, order_by=order_by)
        return cls(run, order_by if was_read else "score", columns)

    def evaluate(self, qrels: Judgments, measure: Measure, settings: EvaluateOptions) -> Results:
        """Return its results."""
        options = settings.copy()
        options["order_by"] = self.order_by
        return evaluate(qrels, self.given, measure, **options)

    def read(self, queries: Collection[Any]) -> Run:
        """Return its rankings of some queries, perhaps of others, too."""
        if not queries:
            return Run({})
        if isinstance(self.given, Run):
            return self.given
        with warnings_kept():  # evaluating it has warned
            named = names_for(self.columns, "run")
            return Run(read_rankings(self.given, queries, self.order_by, named))


def name_both(a: Rankings, b: Rankings, order_by: str, columns: Columns) -> dict[str, System]:
    """Return both systems by their names, which are A and B if they have none."""
    named = [
        each if isinstance(each, str | os.PathLike) else Run({}, _own_name(each) or name)
        for each, name in ((a, "A"), (b, "B"))
    ]
    systems = [System.of(each, order_by, columns) for each in (a, b)]
    return dict(zip(name_systems(named), systems, strict=True))


def _own_name(rankings: Rankings) -> str | None:
    return rankings.name if isinstance(rankings, Run) else None
