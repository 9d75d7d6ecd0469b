"""Means over queries, and what there is to say of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from irbatch.errors import InputError, did_you_mean, many
from irbatch.evaluation.counts import Counts
from irbatch.measures import Measure
from irbatch.measures.names import parse_measures
from irbatch.report.reported import Reported

if TYPE_CHECKING:
    from irbatch.report.document import Document
    from irbatch.report.records import Record

SHOWN_MEASURES = 40
ENOUGH = 10  # queries, of which some should have a relevant document
ARROWS = {1: " ↑", -1: " ↓", 0: ""}


def with_weights(measures: Sequence[Measure]) -> list[Measure]:
    """Return measures and, behind them, what weights the values of some: one each a column."""
    return [*measures, *(each.weight for each in measures if each.aggregate == "weighted")]


def weight_column(measures: Sequence[Measure], column: int) -> int:
    """Return the column of a measure's weights."""
    return len(with_weights(measures[:column])) + len(measures) - column


def heading(measure: Measure, names: str, *, arrows: bool) -> str:
    """Spell a measure for the head of a column, perhaps with an arrow to what is better."""
    return measure.spelled(names) + (ARROWS[better_of(measure)] if arrows else "")


def better_of(measure: Measure) -> int:
    """Return `Measure.sign`; 0 of counts, of which neither more nor less is better."""
    return 0 if measure.aggregate == "sum" else measure.sign


def show_value(value: float, measure: Measure, digits: int) -> str:
    """Write a value: a count as a whole number."""
    from irbatch.report.numbers import show  # for those who read them

    whole = measure.aggregate == "sum" and value.is_integer()
    return show(value, 0 if whole else digits)


def level_of(settings: Mapping[str, str]) -> str:
    """Return the grade from which documents are relevant unless a measure says otherwise.

    >>> level_of({"relevant": "grade >= 4 unless rel="}), level_of({})
    ('4', '1')
    """
    return settings.get("relevant", "grade >= 1").removeprefix("grade >= ").partition(" ")[0]


def nothing_relevant(results: Means) -> list[str]:
    """Say so, where none of many queries has a relevant document; without numbers: once.

    Gains below 1 are those of relevant documents, too, if a measure finds any.
    """
    if results.counts.no_relevant < max(results.counts.queries, ENOUGH):
        return []
    found = (results[each] for each in results.columns if better_of(each) and each.name != "Judged")
    if any(value not in (0, math.inf) and value == value for value in found):
        return []
    level = level_of(results.settings)
    what = f"no query has a relevant document (of grade {level} or more)"
    check = "check the labels" if level == "1" else f"check the labels and rel={level}"
    return [f"{what}, so measures are 0 or undefined, however good rankings are: {check}"]


def tell_different_queries(results: Mapping[str, Any]) -> str:
    """Say that systems' means are over different queries; nothing if all have the same.

    >>> import irbatch
    >>> qrels, run = {"q1": {"d": 1}, "q2": {"d": 1}}, {"d": 1.0}
    >>> runs = {"a": {"q1": run}, "b": {"q2": run}}
    >>> tell_different_queries(irbatch.evaluate_runs(qrels, runs, "AP", missing="skip"))
    'means over different queries, 1 a system, 0 in all of them: none is marked as best'
    """
    counts = sorted({each.counts.queries for each in results.values()})
    # Means alone have no ids: their counts may still tell.
    ids = [each.query_ids for each in results.values() if hasattr(each, "query_ids")]
    if len(counts) < 2 and all(each == ids[0] for each in ids):
        return ""
    common = set(ids[0] if ids else ()).intersection(*ids)
    if len(counts) < 2 and all(len(each) == len(common) for each in ids):
        return ""  # in other orders
    several = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    shared = f", {len(common)} in all of them" if len(ids) == len(results) else ""
    return f"means over different queries, {several} a system{shared}: none is marked as best"


class Means(Reported):
    """Means of measures, where single queries are not looked at or were not kept.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals (default: 4); `names`, how measures are spelled, as in `mean`; `arrows`,
    whether these say which way is better (False).

    Args:
        means, measures: one mean a measure.
        counts: see `Counts`.
        settings: every setting that shaped the numbers, by name.
        name: the system's.
    """

    def __init__(
        self,
        means: Sequence[float],
        measures: Sequence[Measure],
        counts: Counts,
        settings: Mapping[str, str],
        name: str | None = None,
    ) -> None:
        self._means = list(means)
        self.columns = tuple(measures)
        """The measures themselves."""
        self.counts = counts
        self.settings = dict(settings)
        self.name = name
        self._column = {str(each): column for column, each in enumerate(self.columns)}

    @property
    def measures(self) -> list[str]:
        """Canonical names, one a mean."""
        return list(self._column)

    @property
    def signature(self) -> str:
        """Every setting that shaped the numbers, on one line."""
        return " | ".join(f"{name}: {value}" for name, value in self.settings.items())

    def __getitem__(self, name: str | Measure) -> float:
        """Return a measure's mean (or sum, for a count), by any spelling of its name."""
        return self._aggregate(self.column_of(name))

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._column)

    def __contains__(self, name: object) -> bool:
        return self._find(str(name)) is not None

    def keys(self) -> list[str]:
        """Name the measures: results read like a mapping of measures to means."""
        return self.measures

    def items(self) -> Iterator[tuple[str, float]]:
        """Return the measures and their means."""
        return iter(self.mean().items())

    def mean(self, names: str = "irbatch") -> dict[str, float]:
        """Return every measure's mean over queries; of counts the sum.

        For GMAP it is the geometric mean, for GAUC the weighted one.

        Of a measure of the whole run its value. Means are exactly rounded (`math.fsum`), so the
        order of queries doesn't show in them.

        Args:
            names: how they are called: ``"irbatch"``, ``"trec_eval"``, ``"ir_measures"``,
                ``"ranx"``, ``"beir"``, ``"mteb"``, ``"sentence-transformers"``, …; a measure that
                has no such name keeps ours. ``"as given"``: as each was asked for.
        """
        try:
            return {each.spelled(names): self._aggregate(i) for i, each in enumerate(self.columns)}
        except InputError as problem:
            if names not in self:
                raise
            said = f"mean() has those of all measures: results[{names!r}] is that of {names}"
            raise InputError(said, source="names", value=names) from problem

    def __repr__(self) -> str:
        named = f" of {self.name!r}" if self.name else ""
        shown = self.measures[:SHOWN_MEASURES]
        width = max(map(len, shown), default=0)
        size = f"{many(self.counts.queries, 'query')}, {many(len(self.columns), 'measure')}"
        lines = [f"{type(self).__name__}{named}: {size}"]
        lines += [f"  {name:{width}}  {self.shown(name)}" for name in shown]
        if len(self.columns) > len(shown):
            lines.append(f"  … and {len(self.columns) - len(shown)} more")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes())])

    def __str__(self) -> str:
        return repr(self)

    def shown(self, name: str | Measure, digits: int = 4) -> str:
        """Format a mean for people: with some decimals, a count as a whole number."""
        column = self.column_of(name)
        return show_value(self._aggregate(column), self.columns[column], digits)

    def summed(self) -> list[bool]:
        """Tell for each measure whether it is summed over queries, as counts are."""
        return [each.aggregate == "sum" for each in self.columns]

    def of_queries(self) -> list[int]:
        """Return the positions of measures that have values of queries, not of the whole run."""
        return [i for i, each in enumerate(self.columns) if each.aggregate != "run"]

    def notes(self) -> list[str]:
        """Say what the means hide: queries missing, ignored, or without relevant documents."""
        counts = self.counts
        skips = self.settings.get("queries without relevant documents") == "skip"
        level = level_of(self.settings)
        irrelevant = "without relevant documents" + (f" at rel={level}" if level != "1" else "")
        said = [
            (counts.missing, "missing from the run"),
            (counts.extra, "only in the run, ignored"),
            (counts.no_relevant, f"{irrelevant}{', left out' if skips else ''}"),
            (counts.tied, "with ties that matter"),
        ]
        return [f"{many(number, 'query')} {what}" for number, what in said if number]

    def column_of(self, name: str | Measure) -> int:
        """Return a measure's position among `measures`, by any spelling; else KeyError."""
        column = self._find(str(name))
        if column is None:
            there, nearest = ", ".join(self.measures), did_you_mean(name, self.measures)
            raise KeyError(f"{name!s} was not evaluated; there are: {there}{nearest}")
        return column

    def _find(self, name: str) -> int | None:
        """Look a measure up: by its canonical name, or else any other that it answers to."""
        if name in self._column:
            return self._column[name]
        answering = (i for i, each in enumerate(self.columns) if each.answers_to(name))
        if (column := next(answering, None)) is not None:
            return column
        with suppress(InputError):
            found = parse_measures([name])
            return self._column.get(str(found[0])) if len(found) == 1 else None
        return None

    def per_query(self, name: str | Measure | None = None) -> dict[Any, float]:
        """Refuse it: what was kept is means alone.

        Raises:
            InputError: saying how to keep the values of queries.
        """
        problem = "these are means alone: values of queries are kept with keep='queries'"
        raise InputError(problem, source="results")

    def _document(
        self, form: str, *, digits: int = 4, names: str = "irbatch", arrows: bool = False
    ) -> Document:
        from irbatch.report.document import Cell, Column, Document, Row, Table
        from irbatch.report.numbers import check_digits

        check_digits(digits)
        heads = [heading(each, names, arrows=arrows) for each in self.columns]
        cells = [Cell(self.shown(each, digits), self[each]) for each in self.measures]
        rows = [Row([Cell(head), cell]) for head, cell in zip(heads, cells, strict=True)]
        table = Table("Over all queries", [Column("measure", "name"), Column("value")], rows)
        caption = ". ".join([many(self.counts.queries, "query"), *self.notes()])
        title = self.name or type(self).__name__
        return Document(title, f"{caption}.", [], [table], self.signature)

    def _everything(self, *, names: str = "irbatch") -> Record:
        return {
            "name": self.name,
            "settings": self.settings,
            "counts": asdict(self.counts),
            "mean": self.mean(names),
        }

    def _records(self, *, names: str = "irbatch") -> tuple[Sequence[str], list[Record]]:
        columns = ("measure", "value")
        means = self.mean(names).items()
        return columns, [dict(zip(columns, each, strict=True)) for each in means]

    def _aggregate(self, column: int) -> float:
        return self._means[column]
