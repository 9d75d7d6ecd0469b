"""Judgments or rankings that come in pieces, as tables of complete queries."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from irbatch.data.columns import QueryTable
from irbatch.errors import InputError
from irbatch.formats.pieces import Piece, assemble

MOST_REPEATS = 1000  # documents given twice that are looked for once more, to name where

Done = TypeVar("Done")
Outcome = Callable[[], Done]  # what work came to, or raises why it failed
Work = Callable[[QueryTable], Done]


class TableReader:
    """Reads what is too large to be held: subclasses say where pieces come from."""

    name: str
    query_kind: str  # this, `name` and `tag` as of a `Run`
    is_large: bool  # then read a table, else a lookup

    def __init__(self) -> None:
        self._problems: list[InputError] = []
        self._repeats: list[tuple[Any, Any]] = []  # queries and documents

    @property
    def tag(self) -> str | None:
        """What the system called itself, once all was read."""
        return None

    def table(self) -> QueryTable:
        """Read all of it as columns."""
        raise NotImplementedError

    def lookup(self) -> Mapping[Any, Mapping[Any, float]]:
        """Read what is small as query to document to value."""
        return self.table()

    def warn(self) -> None:
        """Warn of what was doubtful in all that was read."""

    def map_tables(self, work: Work[Done]) -> Iterator[Done]:
        """Yield what comes of calling ``work(table)`` with tables of complete queries, in order.

        It is called in threads, perhaps for nothing: with queries that turn out to go on. A query
        that returns after others comes once more, whole: the last time counts. Tables are read
        only until `work` returns.
        """
        seen: set[Any] = set()
        returned: set[Any] = set()
        for pieces, done in self._complete(self._parsed(work)):
            queries = dict.fromkeys(itertools.chain.from_iterable(each.queries for each in pieces))
            returned.update(seen.intersection(queries))
            seen.update(queries)
            done = done or functools.partial(work, self._assembled(pieces))
            if not self._problems and not self._repeats:
                yield done()
            self._release(pieces)
            del pieces
        if returned:
            table = self._gathered(piece.only(returned) for piece in self._parsed_again())
            if not self._problems and not self._repeats:
                yield work(table)
        self._raise_problems()

    def _parsed(self, work: Work[Done]) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        """Read pieces, some at once, collect what is wrong with them; and what comes of `work`.

        That is called with the table of a piece alone.
        """
        raise NotImplementedError

    def _parsed_again(self) -> Iterator[Piece]:
        """Read the same pieces once more."""
        raise NotImplementedError

    def _raise_problems(self) -> None:
        """Raise what was collected, and where the documents stand that were given twice."""
        raise NotImplementedError

    def _release(self, pieces: list[Piece]) -> None:
        """Take back the memory of pieces that are done with."""

    def _look_early(self, held: list[Piece]) -> None:
        """Refuse what is wrong with pieces of which more and more are held."""

    def _complete(
        self, pieces: Iterable[tuple[Piece, Outcome[Done] | None]]
    ) -> Iterator[tuple[list[Piece], Outcome[Done] | None]]:
        """Yield pieces, or parts of them, that end where a query does; and what came of them."""
        held: list[Piece] = []  # whose last query may go on
        held_done: Outcome[Done] | None = None
        for piece, done in pieces:
            if not held or piece.queries[0] != held[-1].queries[-1]:  # as a rule: see `cut`
                if held:
                    yield held, held_done
                held, held_done = [piece], done
                continue
            # A query goes on, which may be long: of its pieces nothing else is kept.
            held, held_done = [each.compact() if each.memory else each for each in held], None
            if len(piece.queries) > 1:
                head, tail = piece.split()
                yield [*held, head], None
                held = [tail]
            else:
                held.append(piece.compact())
                self._look_early(held)
        if held:
            yield held, held_done

    def _gathered(self, pieces: Iterable[Piece]) -> QueryTable:
        """Assemble all pieces there are."""
        held: list[Piece] = []
        for piece in pieces:
            held.append(piece)
            self._look_early(held)
        return self._assembled(held)

    def _assembled(self, pieces: list[Piece]) -> QueryTable:
        table = pieces[0].table if len(pieces) == 1 else assemble(pieces)
        if table.repeated >= 0:
            self._repeats += table.repeats(MOST_REPEATS - len(self._repeats))
        return table


def attempt(work: Work[Done], table: QueryTable) -> Outcome[Done]:
    """Do some work; return what returns what came of it, or raises it."""
    try:
        done = work(table)
    except Exception as problem:
        return functools.partial(_raise, problem)
    return lambda: done


def _raise(problem: Exception) -> Any:
    raise problem
