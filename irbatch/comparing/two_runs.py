"""Two runs that are compared with each other, without judgments."""

from __future__ import annotations

from typing import Any

from irbatch.data.column_names import Columns, check_columns
from irbatch.data.runs import Run
from irbatch.errors import InputError
from irbatch.evaluation.evaluation import Rankings, as_run


def shared_queries(
    run_a: Rankings, run_b: Rankings, columns: Columns = None
) -> tuple[tuple[Run, Run], list[Any]]:
    """Return two runs, whatever they come as, and the queries that both have.

    `columns` are those of tables, as in `irbatch.evaluate`.

    Raises:
        InputError: if there are none.
    """
    check_columns(columns, ("run",))
    runs = as_run(run_a, columns=columns), as_run(run_b, columns=columns)
    queries = [query for query in runs[0].queries if query in runs[1].queries]
    if not queries:
        some = [", ".join(map(repr, list(run.queries)[:3])) or "none" for run in runs]
        problem = f"the runs have no query in common: one has {some[0]}, the other {some[1]}"
        raise InputError(problem, source="run")
    return runs, queries
