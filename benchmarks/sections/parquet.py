"""Runs of 10⁸ rows in Parquet, by how ids are kept: rows a second, and memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.data import Problem, make_problem, write_parquet, write_parquet_qrels
from benchmarks.names import IN_QUERIES
from benchmarks.processes import Paths, in_new_process
from benchmarks.report import Table, absence, compare_values
from benchmarks.settings import Settings
from benchmarks.timing import amount, duration

__all__ = ["tables"]

COLUMNS = ("ids", "file", "takes", "rows a second", "peak memory", "aim", "values")
ROWS = 100_000_000
FEW = 65_521  # documents, so that a row group has a dictionary of them


@dataclass(frozen=True)
class Form:
    """How a run is written.

    Attributes:
        key: of the row.
        ids: what they are.
        kind: ``"string"`` or ``"int64"``.
        options: of pyarrow's writer.
        few: whether documents are so few that they stand in dictionaries.
    """

    key: str
    ids: str
    kind: str = "string"
    options: dict[str, Any] = field(default_factory=dict)
    few: bool = False


FORMS = (
    Form("text", "text, snappy"),
    Form("zstd", "text, zstd", options={"compression": "zstd"}),
    Form("plain", "text, no dictionaries", options={"use_dictionary": False}),
    Form("dictionary", f"text, {FEW:,} documents", few=True),
    Form("numbers", "int64, float32 scores", kind="int64"),
)


def tables(settings: Settings) -> Iterator[Table]:
    """Evaluate copies of a run under further query ids, all judged."""
    missing = absence("pyarrow", "pyarrow")
    copies = 2 if settings.quick else ROWS // (settings.queries * settings.depth) + 1
    rows = copies * settings.queries * settings.depth
    judged = settings.usual
    title = f"Parquet: {rows / 1e6:,.1f} M rows, {judged} judged a query, judgments in Parquet too"
    table = settings.table(title, COLUMNS)
    peaks = [0]
    for form in FORMS:
        key = f"parquet, {form.key}"
        if missing:
            table.add(form.ids, f"skipped: {missing}", key=key)
            continue
        sizes = settings.queries, settings.depth, judged
        problem = make_problem(*sizes, documents=FEW) if form.few else settings.problem(*sizes)
        whole = _written(settings, problem, form, copies)
        small = _written(settings, settings.small(judged), form, 1, "small")
        once = _written(settings, problem, form, 1, "once")
        found = in_new_process("irbatch", whole, small, list(IN_QUERIES))
        expected = in_new_process("irbatch", once, small, list(IN_QUERIES))
        agreement = compare_values(expected.result, found.result)
        table.check(form.ids, agreement)
        rate, size = rows / found.seconds, amount(whole[1].stat().st_size)
        cells = duration(found.seconds), f"{rate / 1e6:.1f} M", amount(found.peak), agreement.text
        table.add(form.ids, size, *cells, key=key, figure=rate)
        peaks.append(found.peak)
        for path in (*whole, *small, *once):
            path.unlink()
    table.add("all", "", "", "", amount(max(peaks)), key="parquet, memory", figure=max(peaks))
    yield table


def _written(
    settings: Settings, problem: Problem, form: Form, copies: int, name: str = "whole"
) -> Paths:
    qrels, run = (settings.folder / f"{name}.{each}.parquet" for each in ("qrels", "run"))
    write_parquet_qrels(problem, qrels, copies, kind=form.kind)
    write_parquet(problem, run, copies, kind=form.kind, **form.options)
    return qrels, run
