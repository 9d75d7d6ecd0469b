"""What is said of a leaderboard: queries, calls, machines, constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irbatch.efficiency import Hardware
from irbatch.errors import join_words, many

if TYPE_CHECKING:
    from irbatch.leaderboard.rows import Rows

__all__ = ["write_caption"]


def write_caption(board: Rows) -> Iterator[str]:
    """Yield the sentences of a caption; what isn't known is not told."""
    counts = sorted({count for count in board.n_queries if count is not None})
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    known = counts and None not in board.n_queries
    queries = f", {least}{many(counts[-1], 'query')}" if known else ""
    yield f"{many(len(board), 'system')}{queries}."
    yield from _calls(board, counts if known else [])
    yield from _machines(board)
    if board.constraints:
        yield f"Constraints: {', '.join(board.constraints)}."
    if board.left_out:
        yield f"Left out by them: {', '.join(board.left_out)}."


def _calls(board: Rows, counts: list[int]) -> Iterator[str]:
    """Say how latency and throughput were measured, of systems of which it is known."""
    timed = [each for each in board.records if each.latency is not None and each.latency.calls]
    if timed:
        sizes = sorted({each.batch_size for each in timed})
        queries = sorted({each.n_queries for each in timed if each.n_queries is not None})
        others = queries and queries != counts
        of = f", of {join_words(list(map(str, queries)))} queries" if others else ""
        yield f"Latency in ms, of calls of {_sizes(sizes)}{of}."
    larger = {each.throughput_batch_size for each in board.records if each.throughput is not None}
    stated = sorted(size for size in larger if size is not None)
    if stated:
        yield f"Throughput of calls of {_sizes(stated)}."


def _sizes(sizes: list[int]) -> str:
    return f"{join_words(list(map(str, sizes)), 'or')} {'query' if sizes == [1] else 'queries'}"


def _machines(board: Rows) -> Iterator[str]:
    """Say what systems were measured on, where that is known of some."""
    known = [each.hardware for each in board.records if each.hardware != Hardware()]
    if len(set(known)) > 1:
        yield "Not all were measured on the same hardware."
    elif known:
        of_all = "" if len(known) == len(board) else f"{many(len(known), 'system')} "
        yield f"{of_all}{'measured' if of_all else 'Measured'} on {known[0]}."
