"""How irbatch's time grows with the size of the work, one size at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import irbatch
from benchmarks.data import dicts
from benchmarks.names import TWENTY
from benchmarks.report import Table
from benchmarks.settings import Settings
from benchmarks.timing import multiple
from benchmarks.turns import in_turn, times_as_long
from benchmarks.workloads import sparse_matrix
from irbatch.measures import Plan, parse_measures

__all__ = ["tables"]

COLUMNS = ("what grows", "from", "takes", "to", "takes then", "times", "aim")
CUTOFFS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1_000)
Evaluation = Callable[[], object]


def tables(settings: Settings) -> Iterator[Table]:
    """Grow queries, depth and judgments in dicts; cutoffs and measures in a matrix too."""
    judged = settings.usual
    irbatch.runtime.warmup()
    table = settings.table(
        f"growth of irbatch's time; unless said {settings.size(judged)}", COLUMNS
    )
    qrels, run = dicts(settings.problem(settings.queries, settings.depth, judged))
    few = max(1, settings.queries // 10)
    of_few = ({query: side[query] for query in list(side)[:few]} for side in (qrels, run))
    whole = partial(irbatch.evaluate, qrels, run)
    _row(table, settings, "queries, in dicts", f"{few:,}", partial(irbatch.evaluate, *of_few, "AP"),
         f"{settings.queries:,}", partial(whole, "AP"), "growth, queries")  # fmt: skip
    _sizes(table, settings, few, judged)
    many = f"nDCG@{{{','.join(map(str, CUTOFFS))}}}"
    _row(table, settings, "cutoffs, in dicts", "1", partial(whole, "nDCG@10"),
         "20", partial(whole, many), "growth, cutoffs")  # fmt: skip
    _row(table, settings, "measures, in dicts", "1", partial(whole, "nDCG@10"),
         "20", partial(whole, TWENTY))  # fmt: skip
    _matrix_rows(table, settings, many)
    yield table


def _sizes(table: Table, settings: Settings, queries: int, judged: int) -> None:
    """Grow what needs data of its own, on a tenth of the queries."""

    def evaluation(depth: int, judged: int) -> Evaluation:
        sides = dicts(settings.problem(queries, depth, judged))
        return partial(irbatch.evaluate, *sides, "AP nDCG@10")

    depth = settings.depth
    shallow = max(1, depth // 10)
    _row(table, settings, f"depth, in dicts of {queries:,} queries", f"{shallow:,}",
         evaluation(shallow, judged), f"{depth:,}", evaluation(depth, judged))  # fmt: skip
    for fewer, more in ((1, 10), (10, 100)):
        _row(table, settings, f"judged, in dicts of {queries:,} queries", f"{fewer}",
             evaluation(depth, fewer), f"{more}", evaluation(depth, more))  # fmt: skip


def _matrix_rows(table: Table, settings: Settings, many: str) -> None:
    """Scan and formulas alone, where reading the input doesn't hide them."""
    rows = 1_000 if settings.quick else 20_000
    matrix = sparse_matrix(rows, 1_000, 20)

    def values(names: str | tuple[str, ...]) -> Evaluation:
        return partial(Plan(parse_measures(names)).values, matrix)

    where = f"in a matrix of {rows:,} × 1,000"
    one = values("nDCG@10")
    _row(table, settings, f"cutoffs, {where}", "1", one, "20", values(many))
    _row(table, settings, f"measures, {where}", "1", one, "20", values(TWENTY))


def _row(table: Table, settings: Settings, what: str, size: str, little: Evaluation,
         larger: str, much: Evaluation, key: str = "") -> None:  # fmt: skip
    timed = in_turn({"little": little, "much": much}, 2 * settings.rounds + 1)
    times = times_as_long(timed["little"], timed["much"])
    cells = size, str(timed["little"]), larger, str(timed["much"])
    table.add(what, *cells, multiple(times), key=key, figure=times)
