"""Text files that hold one table together, such as the parts that jobs write into a folder."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from irbatch.data.columns import QueryTable
from irbatch.errors import LISTED_PROBLEMS, InputError, raise_problems
from irbatch.formats.file_reader import Reader
from irbatch.formats.file_warnings import FileWarnings
from irbatch.formats.pieces import Piece
from irbatch.formats.streams import Input, open_input
from irbatch.formats.table_reader import Done, Outcome, TableReader, Work
from irbatch.runtime.progress import Progress

Open = Callable[[Input, Progress | None], Reader]


class TextParts(TableReader):
    """Reads files one after the other; each has its own header, if any. `open_part` opens one."""

    query_kind = "str"
    is_large = True

    def __init__(
        self,
        paths: Sequence[str],
        name: str,
        source: str,
        open_part: Open,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self._paths, self._source, self._open_part = paths, source, open_part
        self._progress = progress
        self._warnings = FileWarnings()
        self._has_ranks = False

    @property
    def tag(self) -> str | None:
        """What the system called itself on the last line read."""
        return self._warnings.last_tag

    def warn(self) -> None:
        """Warn of what was doubtful, once all was read."""
        self._warnings.issue(self.name, ranked=self._has_ranks)

    def table(self) -> QueryTable:
        """Read all files as columns."""
        table = self._gathered(piece for piece, _ in self._parsed(None))
        self._raise_problems()
        return table

    def _readers(self) -> Iterator[Reader]:
        """Open one file after the other; what is wrong with any, or doubtful, is collected here."""
        sizes = [os.path.getsize(path) for path in self._paths]  # noqa: PTH202 - see `parts`
        for part, path in enumerate(self._paths):
            told = functools.partial(self._tell, sum(sizes[:part]), sum(sizes))
            with open_input(path, self._source) as file:
                if file.is_parquet:  # the first of the parts is none
                    problem = "is Parquet among text files: a folder is of one form"
                    raise InputError(problem, source=self._source, path=path)
                reader = self._open_part(file, told)
                reader._problems, reader.warnings = self._problems, self._warnings
                self._has_ranks |= reader.form.rank_at >= 0
                yield reader

    def _tell(self, before: int, size: int, done: int, _: int) -> None:
        if self._progress is not None:
            self._progress(before + done, size)

    def _parsed(self, work: Work[Done] | None) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        for reader in self._readers():
            yield from reader._parsed(work)
            if len(self._problems) >= LISTED_PROBLEMS:
                break

    def _parsed_again(self) -> Iterator[Piece]:
        for reader in self._readers():
            yield from reader._parsed_again()

    def _raise_problems(self) -> None:
        if self._repeats:
            self._problems += self._repeated_lines()
        raise_problems(self._problems[:LISTED_PROBLEMS])
        if not self._warnings.rows:
            raise InputError("there are no data lines", source=self._source, path=self.name)

    def _repeated_lines(self) -> Iterator[InputError]:
        """Say in which lines of which files documents stand that their queries have twice."""
        wanted = dict.fromkeys(self._repeats)
        firsts: dict[tuple[str, str], tuple[str, int]] = {}
        found = 0
        for reader in self._readers():
            for pair, line in reader.places(wanted):
                path, first = firsts.setdefault(pair, (reader.name, line))
                if (path, first) == (reader.name, line):
                    continue
                where = f" of {path!r}" if path != reader.name else ""
                problem = f"this document was given before, in line {first}{where}"
                fields: dict[str, Any] = {"query": pair[0], "document": pair[1], "line": line}
                yield InputError(problem, source=self._source, path=reader.name, **fields)
                found += 1
                if found == LISTED_PROBLEMS:
                    return
