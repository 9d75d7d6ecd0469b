"""What is said of the systems of a leaderboard above their table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irbatch.efficiency import EfficiencyRecord, Hardware
from irbatch.errors import join_words, many
from irbatch.leaderboard.loops import tell_differences, tell_loop


def write_caption(
    records: Sequence[EfficiencyRecord],
    n_queries: Sequence[int | None],
    constraints: Sequence[str],
    left_out: Mapping[str, list[str]],
) -> str:
    """Say how many systems and queries there are, how they were measured, and who is left out."""
    counts = sorted({count for count in n_queries if count is not None})
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    known = counts and None not in n_queries
    queries = f", {least}{many(counts[-1], 'query')}" if known else ""
    said = [f"{count_systems(records)}{queries}.", *_calls(records, counts if known else [])]
    machines = [each.hardware for each in records if each.hardware != Hardware()]
    if len(set(machines)) > 1:
        said.append("Not all were measured on the same hardware.")
    elif machines:
        all_known = len(machines) == len(records)
        which = "Measured" if all_known else f"{many(len(machines), 'system')} measured"
        said.append(f"{which} on {machines[0]}.")
    if constraints:
        said.append(f"Constraints: {', '.join(constraints)}.")
    if left_out:
        who = (_tell_left_out(*each, constraints) for each in left_out.items())
        said.append(f"Left out by them: {', '.join(who)}.")
    return " ".join(said)


def count_systems(records: Sequence[EfficiencyRecord]) -> str:
    """Say how many systems there are, and on how many machines where that is more.

    >>> count_systems([EfficiencyRecord(system="dense", hardware=each) for each in ("a", "b")])
    '1 system on 2 machines'
    """
    systems = len({each.system for each in records})
    on = f" on {many(len(records), 'machine')}" if systems < len(records) else ""
    return f"{many(systems, 'system')}{on}"


def _tell_left_out(system: str, reasons: Sequence[str], constraints: Sequence[str]) -> str:
    """Name a system, and what is wrong with it but for constraints that it did not meet."""
    others = [each for each in reasons if each not in constraints]
    return f"{system} ({', '.join(others)})" if others else system


def _calls(records: Sequence[EfficiencyRecord], counts: list[int]) -> Iterator[str]:
    """Say how latency and throughput were measured, of systems of which it is known."""
    timed = [each for each in records if each.latency is not None and each.latency.calls]
    if timed:
        sizes = {each.batch_size for each in timed}
        queries = sorted({each.n_queries for each in timed if each.n_queries is not None})
        others = queries and queries != counts
        of = f", of {join_words(list(map(str, queries)))} queries" if others else ""
        yield f"Latency in ms, of calls of {_tell_sizes(sizes)}{of}{tell_loop(timed)}."
    yield from tell_differences(records)
    larger = {each.throughput_batch_size for each in records if each.throughput is not None}
    if stated := {size for size in larger if size is not None}:
        yield f"Throughput of calls of {_tell_sizes(stated)}."


def _tell_sizes(sizes: set[int]) -> str:
    written = join_words([str(size) for size in sorted(sizes)], "or")
    return f"{written} {'query' if sizes == {1} else 'queries'}"
