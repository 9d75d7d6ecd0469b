"""What Dask and Spark share: rows that an engine brings together by query, and their evaluation.

Rankings and judgments stand one below the other in a single table, which the engine shuffles by
query: whoever has a query then has all of it, and no other has any. So judgments of any size go to
where they are needed and nowhere else, and queries that lack either side are found there, too.

Rows are pyarrow tables: a column for each role of `irbatch.data.column_names.ROLES`, and `KIND`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pickle import dumps
from typing import Any

import numpy as np

from irbatch.data.column_names import ROLES, VALUE
from irbatch.data.ids import KINDS
from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, imported
from irbatch.evaluation.evaluation import judgments_read
from irbatch.evaluation.partial import PartialResult, PartitionTask
from irbatch.formats.files import MARKED_QRELS
from irbatch.measures import Measure
from irbatch.runtime.numbers import LARGEST_WHOLE

KIND = "kind_of_row"
"""The column that tells what a row is, one of these:"""
RANKED, JUDGED, UNJUDGED, EMPTY = range(4)
"""A retrieved document, a judged one; a query that has judgments, or a ranking, of no document."""
NUMBERS = (*VALUE.values(), "probability")  # what the columns of these roles hold; others have ids

Columns = Mapping[str, str] | None
"""What a table calls its columns, by role, such as ``{"query": "topic"}``; others are found."""


@dataclass(frozen=True)
class Task:
    """Evaluates rows of whole queries; it is pickled and sent to the workers.

    Args:
        partition: measures, settings, and what is to be kept.
        prepared: whether judgments were objects, and checked, before they were made rows.
    """

    partition: PartitionTask
    prepared: bool = False

    @classmethod
    def choose(cls, measures: Any, cutoffs: Any, keep: str, **settings: Any) -> Task:
        """Return the task that arguments of `irbatch.evaluate` ask for.

        Raises:
            InputError: if there is no such measure, an option has another value than it can have,
                or asks for what shuffled rows don't have.
        """
        if settings.get("ties") == "index":
            problem = "rows that were shuffled have no order: ties='index' has no meaning"
            raise InputError(problem, source="ties", value="index")
        if (order := settings.get("order_by", "score")) != "score":
            problem = "order_by= is for files, which have ranks and scores"
            raise InputError(problem, source="order_by", value=order)
        if settings.pop("progress", None) is not None:
            raise InputError("the engine shows its own progress", source="progress")
        if settings.get("threads") is None:
            settings["threads"] = 1  # a core has a task of its own
        return cls(PartitionTask.choose(measures, cutoffs, keep=keep, apart=True, **settings))

    def __dask_tokenize__(self) -> str:
        """Tell Dask tasks apart by what they are sent as: it cannot hash formulas."""
        return sha256(dumps(self)).hexdigest()

    @property
    def measures(self) -> Sequence[Measure]:
        """The measures."""
        return self.partition.evaluation.measures

    @property
    def judgments(self) -> str:
        """What kind of judgments the measures read, one of `ROLES`."""
        return judgments_read(self.measures) or "qrels"

    @property
    def names(self) -> list[str]:
        """The columns of `values`: the measures that have values of queries."""
        return [str(each) for each in self.measures if each.aggregate != "run"]

    def partial(self, rows: Any) -> PartialResult:
        """Return what rows of whole queries come to.

        Raises:
            InputError: naming query, document and value of what cannot be evaluated.
        """
        pc = imported("engines", "arrow", "pyarrow.compute")
        judged, ranked = (check_rows(rows, each) for each in (self.judgments, "run"))
        unjudged, empty = (
            rows.filter(pc.equal(rows[KIND], kind))["query"].to_pylist()
            for kind in (UNJUDGED, EMPTY)
        )
        try:
            judgments, run = self._judgments(judged), Run.from_table(ranked)
        except InputError as problem:
            if "stands in rows" not in problem.message:  # of a table that the caller never made
                raise
            told: dict[str, Any] = {"query": problem.query, "document": problem.document}
            again = "this document stands there twice"
            raise InputError(again, source=problem.source, **told) from None
        if unjudged and not isinstance(judgments, MarkedQrels):
            known = judgments.to_dict() if judgments else {}
            judgments = Qrels({**{query: {} for query in unjudged}, **known})
        if empty:
            run = Run({**{query: {} for query in empty}, **run.to_dict()})
        return self.partition.partial(judgments, run)

    def nothing(self) -> PartialResult:
        """Return what no rows come to, which merges with any other."""
        pa = imported("engines", "arrow", "pyarrow")
        roles = dict.fromkeys((*ROLES["run"], *ROLES[self.judgments]))
        types = {role: pa.float64() if role in NUMBERS else pa.string() for role in roles}
        return self.partial(pa.schema({**types, KIND: pa.int8()}).empty_table())

    def values(self, rows: Any) -> Any:
        """Return the values of queries, a pyarrow table: ``query_id`` and `names`."""
        return self.partial(rows).to_arrow().select(["query_id", *self.names])

    def _judgments(self, judged: Any) -> Qrels | MarkedQrels | None:
        if not len(judged):
            return None
        if self.judgments == "qrels":
            return Qrels.from_table(judged)
        # Strata without a sampled document were refused or admitted when judgments were made.
        admit = self.judgments == "strata" and self.prepared
        given: dict[str, Any] = {"unsampled": "ignore"} if admit else {}
        return MARKED_QRELS[self.judgments].from_table(judged, **given)


def source_of(kind: str) -> str:
    """Say what errors call a kind of table."""
    return "run" if kind == "run" else "qrels"


def check_kinds(ours: Mapping[str, str], theirs: Mapping[str, str]) -> None:
    """Refuse ids that are of one kind in the judgments and of the other in the run, by role."""
    for role in ("query", "document"):
        if role in ours and role in theirs and ours[role] != theirs[role]:
            mine, other = KINDS[ours[role]], KINDS[theirs[role]]
            problem = f"{role} ids are {mine} in the qrels and {other} in the run"
            raise InputError(f"{problem}: make both text, as they are in text files")


def wrong_type(role: str, kind: str, type: object) -> InputError:
    """Return the error of a column of a type that it can't have."""
    wanted = "numbers" if role in NUMBERS else "text or whole numbers"
    problem = f"the column of the {role} is of type {type}, not {wanted}: cast it"
    return InputError(problem, source=source_of(kind))


def check_rows(rows: Any, kind: str) -> Any:
    """Return the rows of judgments, or those of a run, in their own columns.

    Raises:
        InputError: if something is missing or no number, naming query and document.
    """
    pc = imported("engines", "arrow", "pyarrow.compute")
    own = pc.equal(rows[KIND], RANKED if kind == "run" else JUDGED)
    rows = rows.filter(own).select([*ROLES[kind]])
    for role in rows.column_names:
        column = rows[role]
        bad = pc.is_null(column, nan_is_null=True)
        if role == "grade" and "int" in str(column.type):
            bad = pc.or_(bad, pc.fill_null(pc.greater(pc.abs(column), LARGEST_WHOLE), False))
        if (place := pc.index(bad, True).as_py()) < 0:
            continue
        query, document, value = (rows[each][place].as_py() for each in ("query", "document", role))
        if value is None:
            problem = f"the {role} is missing"
        else:
            why = "not a number" if value != value else "beyond 2^53, where grades are inexact"
            problem = f"{role} {value} is {why}"
        fields = {"query": query, "document": document, "value": value}
        raise InputError(problem, source=source_of(kind), **fields)
    return rows


def rows_of(given: Qrels | MarkedQrels | Run) -> Any:
    """Return judgments or rankings as rows.

    Raises:
        InputError: if an id cannot be encoded as UTF-8, or a query has no document that judgments
            of subtopics, strata or probabilities could be of.
    """
    pa = imported("engines", "arrow", "pyarrow")
    if isinstance(given, MarkedQrels):
        queries, marks, documents, grades = given.columns()
        if lacking := set(given.queries).difference(queries):
            problem = f"judgments of {given.reads} that are of no document make no row"
            raise InputError(problem, source="qrels", query=lacking.pop())
        mark = next(each for each in ROLES[given.reads] if each not in ROLES["qrels"])
        columns = {"query": queries, mark: marks, "document": documents, "grade": grades}
        return with_kind(pa.table(columns), JUDGED)
    everything, roles = given.to_dict(), [*ROLES[given.source]]
    ranked = isinstance(given, Run)
    empty = [query for query, documents in everything.items() if not documents]
    nothing = {role: pa.nulls(len(empty)) for role in roles} | {"query": empty}
    tables = [with_kind(pa.table(nothing), EMPTY if ranked else UNJUDGED)]
    if empty:
        given = type(given)({query: each for query, each in everything.items() if each})
    if len(given):
        kind = RANKED if ranked else JUDGED
        tables.append(with_kind(given.to_arrow().rename_columns(roles), kind))
    return pa.concat_tables(tables, promote_options="default")


def with_kind(table: Any, kind: int) -> Any:
    """Return a table with a column that tells what its rows are."""
    pa = imported("engines", "arrow", "pyarrow")
    return table.append_column(KIND, pa.array(np.full(len(table), kind, np.int8)))
