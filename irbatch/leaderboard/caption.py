"""What is said of a leaderboard: queries, calls, machines, constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irbatch.efficiency import EfficiencyRecord, Hardware
from irbatch.errors import join_words, many


def write_caption(
    records: Sequence[EfficiencyRecord],
    n_queries: Sequence[int | None],
    constraints: Sequence[str],
    left_out: Sequence[str],
) -> str:
    """Write a caption; what isn't known is not told.

    Args:
        records, n_queries: of each system; how many queries its means are of.
        constraints, left_out: that systems had to meet; names of those that didn't.
    """
    counts = sorted({count for count in n_queries if count is not None})
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    known = counts and None not in n_queries
    queries = f", {least}{many(counts[-1], 'query')}" if known else ""
    said = [
        f"{many(len(records), 'system')}{queries}.",
        *_calls(records, counts if known else []),
        *_machines(records),
    ]
    if constraints:
        said.append(f"Constraints: {', '.join(constraints)}.")
    if left_out:
        said.append(f"Left out by them: {', '.join(left_out)}.")
    return " ".join(said)


def _calls(records: Sequence[EfficiencyRecord], counts: list[int]) -> Iterator[str]:
    """Say how latency and throughput were measured, of systems of which it is known."""
    timed = [each for each in records if each.latency is not None and each.latency.calls]
    if timed:
        sizes = sorted({each.batch_size for each in timed})
        queries = sorted({each.n_queries for each in timed if each.n_queries is not None})
        others = queries and queries != counts
        of = f", of {join_words(list(map(str, queries)))} queries" if others else ""
        yield f"Latency in ms, of calls of {_sizes(sizes)}{of}."
    larger = {each.throughput_batch_size for each in records if each.throughput is not None}
    stated = sorted(size for size in larger if size is not None)
    if stated:
        yield f"Throughput of calls of {_sizes(stated)}."


def _sizes(sizes: list[int]) -> str:
    return f"{join_words(list(map(str, sizes)), 'or')} {'query' if sizes == [1] else 'queries'}"


def _machines(records: Sequence[EfficiencyRecord]) -> Iterator[str]:
    """Say what systems were measured on, where that is known of some."""
    known = [each.hardware for each in records if each.hardware != Hardware()]
    if len(set(known)) > 1:
        yield "Not all were measured on the same hardware."
    elif known:
        some = "" if len(known) == len(records) else f"{many(len(known), 'system')} "
        yield f"{some}{'measured' if some else 'Measured'} on {known[0]}."
