"""Reading judgments and runs from files, from small to large, or the parts of a folder.

What reads them is loaded when a file is read: it costs a third of importing irbatch.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any

from irbatch.data.column_names import Columns, check_columns, grade_of_all, names_for
from irbatch.data.columns import check_repeats
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.ties import ORDERS
from irbatch.errors import ErrorsIn, InputError
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.progress import Progress, progress_on_bar

if TYPE_CHECKING:
    from irbatch.formats.reader import TableReader


HIDDEN = "_", "."  # what names of files begin with that are not data, such as Spark's _SUCCESS
WILD = "*?["  # what tells patterns of names from names

Given = str | os.PathLike[str]  # a path, a folder, or a pattern


def is_pattern(path: str) -> bool:
    """Tell whether a path is a pattern of names, and not a name."""
    return any(sign in path for sign in WILD) and not os.path.lexists(path)


def find_parts(path: Given, source: str) -> list[str]:
    """List the files below a folder, or of a pattern of names, in order; a file is its own part.

    Raises:
        InputError: if there are none.
    """
    path = os.fspath(path)
    if os.path.isdir(path):  # noqa: PTH112 - pathlib takes 5 ms to import
        places = [path]
    elif is_pattern(path):
        import glob

        places = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - as above
    else:
        return [path]
    below = (_below(place) if os.path.isdir(place) else [place] for place in places)  # noqa: PTH112
    if not (parts := list(chain.from_iterable(below))):
        raise InputError("there are no files here", source=source, path=path)
    return parts


def _below(folder: str) -> list[str]:
    parts: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        parts += (os.path.join(place, name) for name in names if not name.startswith(HIDDEN))  # noqa: PTH118
    return sorted(parts)


# Judgments that are made dictionaries of: runs that are dictionaries, too, are sooner joined with
# these than with a table.
FEW = 5_000


def read_qrels(
    path: str | PathLike[str],
    *,
    columns: Columns = None,
    marks: str | None = None,
    repeats: str = "error",
    progress: Progress | bool | None = None,
) -> Qrels:
    """Read judgments from a file.

    Its form is told by its beginning: TREC's ``query iter document grade``; a header with tabs
    or commas and names such as BEIR's ``query-id corpus-id score``; JSON objects with such keys,
    one a line; Parquet with such columns. Judgments with marks are Parquet or lines: of
    ``"subtopics"`` ``query subtopic document grade``, of ``"strata"``
    ``query iter document stratum grade``, and of ``"probabilities"``
    ``query document grade method probability``, where the probability is 1 where the method is 0 or
    2, as for statAP, and documents whose probability is ``NA`` are left out.

    Args:
        path: a file, plain or compressed (gzip, bzip2, xz, zstd); ``-`` is standard input. Also a
            folder of files or a pattern of their names.
        columns: what columns or keys are called whose names are not known, by role, such as
            ``{"user": "u", "item": "i", "grade": "stars"}``; see `irbatch.evaluate`. Judgments
            without a column of grades have grade 1.
        marks: what the judgments have besides grades, see `Qrels`.
        repeats: what becomes of a document that a query has repeatedly, see `Qrels.from_columns`.
        progress: called with bytes read and bytes in all, while a large file is read; True shows
            them on a bar, see `irbatch.evaluate`.

    Raises:
        InputError: listing the first 20 problems by line; nothing is returned then.

    >>> read_qrels("examples/data/qrels.txt")  # doctest: +SKIP
    <Qrels 'examples/data/qrels.txt': 120 queries, 5731 judgments>
    >>> read_qrels("qrels.diversity.txt", marks="subtopics")  # doctest: +SKIP
    <Qrels 'qrels.diversity.txt': 50 queries, 59736 judgments of subtopics>
    """
    check_columns(columns, ("qrels",))
    check_repeats(repeats, marks)
    if marks is not None:
        return _read_marked(path, marks, columns)
    with _opened(path, "qrels", columns, progress=progress) as reader:
        reader.may_repeat = repeats != "error"
        table = reader.table()
        if repeats != "error":
            table = table.merged(repeats)
        judgments = dict(table) if table.numbers.size <= FEW else table
    return Qrels.borrow(judgments, reader.name)


def _read_marked(path: Given, marks: str, named_columns: Columns) -> Qrels:
    from irbatch.formats.lines import MARKED_FORMS, read_marked_lines
    from irbatch.formats.streams import open_input

    check_choice("marks", marks, MARKED_FORMS)
    parts = [] if os.fspath(path) == "-" else find_parts(path, "qrels")  # which is read only once
    if parts:
        with open_input(parts[0], "qrels") as file:
            is_parquet = file.is_parquet
    if not parts or not is_parquet:
        queries, documents, grades, column = read_marked_lines(path, MARKED_FORMS[marks])
        marked: dict[str, Any] = {marks: column}
        return Qrels.from_columns(queries, documents, grades, os.fspath(path), **marked)
    from irbatch.formats.parquet import ParquetReader

    column_names = names_for(named_columns, marks)
    reader = ParquetReader(parts, os.fspath(path), "qrels", marks, column_names)
    table = reader.columns()
    grade = None if "grade" in table else grade_of_all(column_names)
    with ErrorsIn(path=reader.name):
        return Qrels.from_table(table, grade=grade, marks=marks, name=reader.name)


def read_run(
    path: str | PathLike[str],
    name: str | None = None,
    *,
    order_by: str = "score",
    columns: Columns = None,
    progress: Progress | bool | None = None,
) -> Run:
    """Read a run from a file.

    Its form is told by its beginning: TREC's ``query Q0 document rank score tag``; MS MARCO's
    ``query document rank``; or a header, JSON or Parquet, as in `read_qrels`.

    Args:
        path: see `read_qrels`.
        name: what to call the run; default: its path.
        order_by: what orders documents where a file has both, ``"score"`` or ``"rank"``.
        columns: see `read_qrels`; a run has ``score``, or else ``rank``.
        progress: see `read_qrels`.

    Returns:
        The run. That of a large file is kept as columns; its `rankings` read like a mapping, and
        make each query's dictionary when asked for it.

    Raises:
        InputError: listing the first 20 problems by line; nothing is returned then.

    >>> read_run("examples/data/pca10.run", name="pca10")  # doctest: +SKIP
    <Run 'pca10': 116 queries>
    """
    with open_run(path, order_by, columns, progress) as opened:
        run = opened if isinstance(opened, Run) else _whole_run(opened)
    run.name = name or run.name
    return run


@contextmanager
def open_run(
    path: Given,
    order_by: str = "score",
    columns: Columns = None,
    progress: Progress | bool | None = None,
) -> Iterator[TableReader | Run]:
    """Open a run file, as `read_run` does: give a reader of a large one, or a small one's run."""
    check_choice("order_by", order_by, ORDERS)
    check_columns(columns)
    with _opened(path, "run", columns, order_by, progress) as reader:
        yield reader if reader.is_large else _whole_run(reader)
    reader.warn()


def read_rankings(
    path: Given, queries: Collection[Any], order_by: str = "score", columns: Columns = None
) -> dict[Any, dict[Any, float]]:
    """Read the rankings of some queries, those that a run file has, and hold no others."""

    def pick(table: Mapping[Any, Mapping[Any, float]]) -> dict[Any, dict[Any, float]]:
        return {query: dict(table[query]) for query in table if query in queries}

    with open_run(path, order_by, columns) as opened:
        if isinstance(opened, Run):
            return pick(opened.rankings)
        rankings: dict[Any, dict[Any, float]] = {}
        for part in opened.map_tables(pick):  # a query that comes once more is whole then
            rankings.update(part)
    return rankings


def _whole_run(reader: TableReader) -> Run:
    return Run(reader.table(), reader.name, reader.tag)


@contextmanager
def _opened(
    path: Given,
    source: str,
    columns: Columns = None,
    order_by: str = "score",
    progress: Progress | bool | None = None,
) -> Iterator[TableReader]:
    """Open a file of any form; or the parts of a folder or a pattern."""
    from irbatch.formats.streams import open_input

    paths, name = find_parts(path, source), os.fspath(path)
    column_names, by_rank = names_for(columns, source), order_by == "rank"
    with progress_on_bar(f"reading {path}", progress) as report:
        with open_input(paths[0], source) as file:
            if not file.is_parquet:
                from irbatch.formats.lines import recognise
                from irbatch.formats.reader import Reader

                form_of = functools.partial(
                    recognise, source=source, column_names=column_names, by_rank=by_rank
                )
                yield Reader(file, paths, name, form_of, report)
                return
            content = None if os.path.isfile(paths[0]) else file.content()  # noqa: PTH113 - a pipe
        from irbatch.formats.parquet import ParquetReader

        table = name, source, "ranking" if by_rank else source, column_names
        yield ParquetReader(paths, *table, content=content, progress=report)
