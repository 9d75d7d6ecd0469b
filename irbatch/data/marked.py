"""Judgments that say more of a document than a grade: its subtopic, its stratum, its probability.

Rankings are joined with them as with any others: the kind of judgment, by number, takes the place
of the grade.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.column_names import KEYWORD, VALUE
from irbatch.data.ids import check_id, fingerprint, kinds_of, same_kind
from irbatch.data.qrels import Qrels
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError, kind_of, many
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, grade_problem
from irbatch.runtime.threads import cached_property

SOURCE = "qrels"  # what errors call them

Columns = tuple[list[Any], list[Any], list[Any], list[Any]]
"""Queries, marks, documents and grades."""


class MarkedRanks(Protocol):
    """What measures read of a block's rankings."""

    retrieved: Ints  # (rows,)

    def at(self, cutoff: int | None) -> MarkedRanks:
        """Return the same up to a cutoff."""
        ...


class Marks(Protocol):
    """What judgments say from a least relevant grade on."""

    @property
    def no_relevant(self) -> Bools:
        """Which queries have no relevant document, bool ``(queries,)``."""
        ...

    def ranks(self, queries: Positions, matrix: RelevanceMatrix) -> MarkedRanks:
        """Return what measures read of a block; `queries` are those of its rows."""
        ...


class View(NamedTuple):
    """Judgments from a least relevant grade on."""

    marks: Marks
    kinds: Floats | None = None  # (kinds,): what the kinds of judgments count as, if as others


class Joinable(NamedTuple):
    """Judgments in the form in which they are joined with a run."""

    qrels: Qrels  # whose grades are kinds of judgments, from 0 on
    views: dict[float | None, View]  # by least relevant grade; None: left open


class MarkedQrels:
    """Judgments that say something besides the grade, prepared once for any number of runs."""

    reads: ClassVar[str]  # what measures read of them; also what their columns are listed under
    nested: ClassVar[str]  # what a mapping of them is
    lowest: ClassVar[float] = -math.inf  # of least relevant grades
    name: str | None
    _fraction: tuple[Any, Any, float] | None  # query, document and grade of one, if there is any
    _joinable: dict[tuple[float, ...], Joinable]  # by least relevant grades

    def __init__(self, judgments: Mapping[Any, Any], name: str | None = None) -> None:
        if not isinstance(judgments, Mapping):
            kind = kind_of(judgments)
            problem = f"judgments of {self.reads} are {self.nested}, not {kind}"
            raise InputError(problem, source=SOURCE, path=name)
        if not judgments:
            raise InputError("there are no queries", source=SOURCE, path=name)
        self.name = name
        self._read(judgments)

    @classmethod
    def _of_columns(
        cls, query_ids: Any, marks: list[Any], document_ids: Any, grades: Any, name: str | None
    ) -> Self:
        """Make judgments of columns; `marks` are checked."""
        from irbatch.data.columns import as_ids, as_numbers

        columns = (
            as_ids(query_ids, "query", SOURCE).tolist(),
            marks,
            as_ids(document_ids, "document", SOURCE).tolist(),
            as_numbers(grades, SOURCE).tolist(),
        )
        if len(sizes := set(map(len, columns))) > 1:
            counts = ", ".join(map(str, sorted(sizes)))
            raise InputError(f"columns differ in length: {counts}", source=SOURCE, path=name)
        if not columns[0]:
            raise InputError("there are no queries", source=SOURCE, path=name)
        made = cls.__new__(cls)
        made.name = name
        made._fill(columns)
        return made

    @classmethod
    def from_columns(cls, *columns: Any, **options: Any) -> Self:
        """Make judgments of columns, in the order of their roles, see the subclasses."""
        raise NotImplementedError

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Make judgments of a table, see the subclasses."""
        raise NotImplementedError

    @classmethod
    def of_table(
        cls, table: Any, given: Mapping[str, Any], advice: str = KEYWORD, **options: Any
    ) -> Self:
        """Make judgments of a table; `given` and `advice` are as `choose_columns` takes them."""
        from irbatch.data.frames import read_named

        return cls.from_columns(*read_named(table, cls.reads, given, advice), **options)

    def _read(self, judgments: Mapping[Any, Any]) -> None:
        """Keep the judgments of nested mappings; refuse what cannot be one."""
        raise NotImplementedError

    def _fill(self, columns: Columns) -> None:
        """Keep the judgments of columns; refuse what cannot be one."""
        raise NotImplementedError

    @property
    def queries(self) -> list[Any]:
        """The query ids, in the order given."""
        raise NotImplementedError

    @cached_property
    def fingerprint(self) -> str:
        """Tells judgments apart: by their queries and number."""
        return fingerprint(self.queries, self.reads, self._judgments)

    @property
    def _judgments(self) -> int:
        raise NotImplementedError

    def columns(self) -> Columns:
        """Return the judgments in columns; queries without any are in none."""
        raise NotImplementedError

    def at(self, rels: Iterable[float | None]) -> Joinable:
        """Return judgments to be joined, and how they look from some least relevant grades on.

        Raises:
            InputError: if a grade is no whole number and one of `rels` is None, left open.
        """
        rels = list(rels)
        if None in rels and self._fraction is not None:
            self._refuse_fraction(*self._fraction)
        least = {rel: 1.0 if rel is None else max(float(rel), self.lowest) for rel in rels}
        wanted = tuple(dict.fromkeys(least.values()))
        if wanted not in self._joinable:
            self._joinable[wanted] = self._join(wanted)
        qrels, views = self._joinable[wanted]
        return Joinable(qrels, {rel: views[at] for rel, at in least.items()})

    def _join(self, wanted: tuple[float, ...]) -> Joinable:
        """Make what `at` returns, with views by the very grades."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        counts = f"{many(len(self), 'query')}, {many(self._judgments, 'judgment')}"
        return f"<{type(self).__name__}{named}: {counts}>"

    def _refusal(
        self, problem: str, query: object, document: object, value: object = None
    ) -> InputError:
        place: dict[str, Any] = {"query": query, "document": document, "path": self.name}
        return InputError(problem, source=SOURCE, **place, value=value)

    def _as_grades(
        self, queries: Iterable[Any], documents: Iterable[Any], grades: list[Any]
    ) -> Floats:
        """Return grades as float64; refuse the first that is none."""
        with suppress(*NUMBER_ERRORS):
            numbers = as_floats(grades)
            if (np.abs(numbers) < LARGEST_WHOLE).all():
                return numbers
        for query, document, grade in zip(queries, documents, grades, strict=True):
            if problem := grade_problem(grade):
                raise self._refusal(f"grade {problem}", query, document, grade)
        return np.array(grades, np.float64)

    def _refuse_fraction(self, query: object, document: object, grade: float) -> None:
        problem = f"grade {grade:g} is not a whole number: say from which grade on a document is"
        raise self._refusal(f"{problem} relevant, with rel=", query, document, grade)


def read_nested(
    judgments: Mapping[Any, Any], mark: str, marks: str, name: str | None
) -> dict[Any, dict[Any, tuple[list[Any], list[Any]]]]:
    """Return query to mark to documents and grades, of mappings; refuse what cannot be an id."""
    found: dict[Any, dict[Any, tuple[list[Any], list[Any]]]] = {}
    for query, of_query in judgments.items():
        check_id(query, "query", SOURCE)
        if not isinstance(of_query, Mapping):
            wanted = f"a query's judgments are {marks} to documents to grades"
            problem = f"{wanted}, not {kind_of(of_query)}"
            raise InputError(problem, source=SOURCE, query=query, path=name)
        same_kind(of_query, mark, SOURCE, query)
        found[query] = {}
        for each, documents in of_query.items():
            if not isinstance(documents, Mapping):
                of_mark = f"a {mark}'s judgments are documents to {VALUE[SOURCE]}s"
                hint = f"the measures read judgments of {marks}, see irbatch.{mark.title()}Qrels"
                problem = f"{of_mark}, not {kind_of(documents)}; {hint}"
                raise InputError(problem, source=SOURCE, query=query, path=name)
            ids = list(documents)
            if None in kinds_of(ids):
                for document in ids:
                    check_id(document, "document", SOURCE, query)
            found[query][each] = ids, list(documents.values())
    return found
