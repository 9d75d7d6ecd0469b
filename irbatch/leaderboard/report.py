"""A leaderboard as people see it: its table, what is said above it, and its picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import QUANTITIES, EfficiencyRecord
from irbatch.errors import imported, join_words, many, printable
from irbatch.leaderboard.rows import UNSAID, Board, Row, conditions_of, find_all, is_of_machine
from irbatch.report import axes
from irbatch.report.document import (
    BEST,
    Column,
    Document,
    Figure,
    Part,
    Record,
    list_records,
    make_table,
)
from irbatch.report.text import check_digits, show, show_quantity

MARK = "●"  # of systems on the frontier
NOT_WORSE = "ns"  # of systems whose difference from the best of a measure is not significant
HARDWARE, BATCH, SOURCE = "hardware", "batch_size", "source"  # columns that are no axes
# Not the peak of memory: it is the process', which mostly holds several systems.
USUAL = (
    *("latency_mean", "latency_p95", "latency_rate", "throughput"),
    *("index_memory", "index_disk", "indexing_time"),
    *("energy_per_query", "cost_per_million"),
)
MACHINE = {"instance": "instance", "cpu": "CPU", "n_cpu": "CPU cores", "gpu": "GPU",
           "n_gpu": "GPUs", "ram_gb": "RAM (GB)"}  # fmt: skip
NO_FACTS = {*QUANTITIES, "system", "hardware", "latency"}  # fields of records
OF_RECORDS = [field.name for field in fields(EfficiencyRecord) if field.name not in NO_FACTS]
OTHERS = (*OF_RECORDS, "loop", "arrivals", "errors", "queries")
# Columns to headings.
FACTS = {name: name.replace("_", " ") for name in (HARDWARE, *OTHERS)} | MACHINE
NAMED = 6  # systems that are named where they are many
WIDE = 3.0  # a quantity whose values span more than this factor is drawn on a logarithmic axis
MOST_NAMED = 100  # systems in a picture; of more, those on the frontier are named
BEHIND = 0.65  # how solid the grey of a system is that another one dominates
PICTURED = ("cost_per_million", "latency_mean", "latency_p50")  # the first that some system has


def _make_fact(board: Board, name: str) -> Column:
    """Return a column of what is known beside the axes; a name is a key of `FACTS`."""
    value = partial(_fact, name)
    if any(isinstance(value(row), str) for row in board.rows):
        return Column(FACTS[name], "text", name=name, value=value)
    is_size = name in MACHINE
    return Column(FACTS[name], descends=is_size, name=name, value=value, show="{:,.10g}".format)


def _fact(name: str, row: Row) -> Any:
    record = row.record
    if name == HARDWARE:
        return str(record.hardware) or None
    owners = (record, record.hardware, record.latency, row)
    return next((getattr(owner, name) for owner in owners if hasattr(owner, name)), None)


def _make_axis(board: Board, name: str, intervals: bool = False, digits: int = 0) -> Column:
    """Return the column of an axis, for people with the intervals of its values."""
    axis, best = board.axis(name), _find_best(board, name)
    not_worse = [] if board.significance is None else board.significance.not_worse(name)

    def tell(row: Row) -> Record:
        figure = row.figure(name)
        texts = [show(x, digits) if name in board.measures else show_quantity(x) for x in figure]
        is_best, has_bound = figure[0] == best, not all(map(math.isnan, figure[1:]))
        return {
            "text": texts[0],
            "stands_out": is_best,
            "after": f"[{texts[1]}, {texts[2]}]" if intervals and has_bound else "",
            "marks": [NOT_WORSE] if row.name in not_worse and not is_best else [],
        }

    value = partial(_figure, name, 0)
    return Column(axis.heading, descends=axis.sign > 0, name=name, value=value, more=tell)


def _figure(axis: str, part: int, row: Row) -> float | None:
    """Return a value (part 0) or a bound of it (1 and 2), for programs."""
    figure = row.figure(axis)[part]
    return None if math.isnan(figure) else figure


def _find_best(board: Board, name: str) -> float:
    """Return the best value along an axis; NaN of one alone, and of some not to be compared."""
    rows = [row for row in board.rows if not math.isnan(row.figure(name)[0])]
    if len(rows) < 2 or len({conditions_of(row.record, [name]) for row in rows}) > 1:
        return math.nan
    sign = board.axis(name).sign
    return sign * max(sign * row.figure(name)[0] for row in rows)


def list_board(board: Board) -> tuple[list[str], list[Record]]:
    """Return the names of the columns of `Leaderboard.to_csv`, and a record for each system."""
    columns = [Column("system", name="system", value=attrgetter("name"))]
    columns += [_make_fact(board, name) for name in MACHINE]
    for axis in board.axes:
        columns.append(_make_axis(board, axis))
        if not np.isnan(board.bounds(axis)).all():
            columns += [
                Column("", name=f"{axis} {end}", value=partial(_figure, axis, part))
                for part, end in ((1, "low"), (2, "high"))
            ]
    p_values = {} if board.significance is None else board.significance.p_values
    for measure in filter(p_values.get, board.measures):
        name, value = f"{measure} p against the best", partial(_p_value, p_values[measure])
        columns.append(Column("", name=name, value=value))
    facts = [_make_fact(board, name) for name in OTHERS]
    columns += [fact for fact in facts if any(fact.value(row) is not None for row in board.rows)]
    return list_records(columns, board.rows)


def _p_value(of_systems: Mapping[str, float], row: Row) -> float | None:
    return of_systems.get(row.name)


def make_document(
    board: Board,
    form: str,
    *,
    columns: Iterable[str] | None = None,
    frontier: Iterable[str] | None = None,
    sort: str | None = None,
    intervals: bool = False,
    digits: int = 4,
    plots: bool = True,
    x: str | None = None,
    y: str | None = None,
) -> Document:
    """Return the report of a leaderboard: a table with one row a system; see `Leaderboard`."""
    marked = [] if frontier is None else find_all(frontier, board.axis, "axis")
    board = board if sort is None else board.sorted(sort)
    check_digits(digits)
    chosen = _choose_columns(board, columns, intervals, digits)
    heads = [Column("system", "name", value=attrgetter("name")), *chosen]
    title = count_systems(board.records)
    legend = []
    if marked and board.rows:
        pareto = board.pareto([axis.name for axis in marked])
        on = set(pareto.frontier)
        heads.insert(0, Column(MARK, "mark", value=lambda row: int(row.name in on),
                               show=MARK.__mul__))  # fmt: skip
        labels = join_words([axis.label for axis in marked])
        of_each = " of its conditions" if pareto.conditions else ""
        meaning = f"on the Pareto frontier of {labels}{of_each}, where no other system is as good "
        legend.append((MARK, f"{meaning}along every axis and better along one"))
        if pareto.left_out:
            legend.append(("not compared", tell_left_out(board, pareto.left_out)))
    table = make_table(f"Values of {title}", heads, board.rows)
    if any(cell.stands_out for row in table.rows for cell in row):
        legend.insert(0, (BEST, "the best of its column"))
    sure = tell_levels(board, {column.name for column in chosen}.intersection(board.axes))
    if intervals and sure is not None:
        legend.append(("[low, high]", f"{sure or 'bounds of'} intervals"))
    if (tests := board.significance) is not None:
        tested = {*tests.p_values, *(name for by in tests.p_values.values() for name in by)}
        others = [name for name in (*board.systems, *board.measures) if name not in tested]
        more = f"; not tested: {list_names(others)}" if others else ""
        meaning = f"not significantly worse than the best of the measure ({tests.caption()}){more}"
        legend.append((NOT_WORSE, meaning))
    settings = " | ".join(f"{name}: {value}" for name, value in board.settings.items())
    pictures = _picture_frontier(board, x, y) if form == "html" and plots else []
    parts = [table, *pictures]
    return Document(f"Leaderboard of {title}", _write_caption(board), legend, parts, settings)


def _choose_columns(
    board: Board, names: Iterable[str] | None, intervals: bool, digits: int
) -> list[Column]:
    if names is None:
        records = board.records
        names = [
            *([HARDWARE] if len({str(record.hardware) for record in records}) > 1 else []),
            *([BATCH] if len({record.batch_size for record in records}) > 1 else []),
            *board.measures,
            *(name for name in board.axes if name in USUAL),
            *([SOURCE] if any(record.source is not None for record in records) else []),
        ]

    def find(name: str) -> Column:
        if name in FACTS and name not in board.measures:
            return _make_fact(board, name)
        return _make_axis(board, board.axis(name).name, intervals, digits)

    return find_all(names, find, "column")


def tell_levels(board: Board, names: Iterable[str]) -> str | None:
    """Say how sure intervals along some axes are; "" if it isn't known, None if there are none."""
    levels = set()
    for name in names:
        for row in board.rows:
            if not all(map(math.isnan, row.figure(name)[1:])):
                latency = None if name in board.measures else row.record.latency
                levels.add(board.level if latency is None else latency.level)
    if None in levels:
        return ""
    return join_words([f"{100 * (1 - level):g}%" for level in sorted(levels)]) or None


def tell_left_out(board: Board, left_out: Mapping[str, list[str]]) -> str:
    """Name systems that are not compared, and what they lack."""
    return list_names([
        f"{system} (without {join_words([board.axis(name).label for name in names])})"
        for system, names in left_out.items()
    ])  # fmt: skip


def list_names(systems: list[str]) -> str:
    """Name systems, the first of them where they are many."""
    more = f" and {len(systems) - NAMED} more" if len(systems) > NAMED else ""
    return ", ".join(systems[:NAMED]) + more


# ---------------------------------------------------------------- what stands above the table


def _write_caption(board: Board) -> str:
    """Say how many systems and queries there are, how they were measured, and who is left out."""
    records, counts = board.records, [row.queries for row in board.rows]
    queries = ""
    if counts and None not in counts:
        least, most = min(counts), max(counts)
        queries = f", {f'{least} to ' if least < most else ''}{many(most, 'query')}"
    sentences = [f"{count_systems(records)}{queries}.", *_tell_conditions(board)]
    if board.constraints:
        sentences.append(f"Constraints: {', '.join(board.constraints)}.")
    who = []
    for system, reasons in board.left_out.items():
        others = [reason for reason in reasons if reason not in board.constraints]
        who.append(f"{system} ({', '.join(others)})" if others else system)
    if who:
        sentences.append(f"Left out by them: {', '.join(who)}.")
    return " ".join(sentences)


def count_systems(records: Sequence[EfficiencyRecord]) -> str:
    """Say how many systems there are, and on how many machines where that is more."""
    systems = len({record.system for record in records})
    on = f" on {many(len(records), 'machine')}" if systems < len(records) else ""
    return f"{many(systems, 'system')}{on}"


def _tell_conditions(board: Board) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    times = [name for name in QUANTITIES if is_of_machine(name)]
    for row in board.rows:
        own = [name for name in times if row.record.value(name) is not None]
        if own:
            groups.setdefault(conditions_of(row.record, own), []).append(row.name)
    if len(groups) > 1:
        named = "; ".join(f"{kind}: {list_names(some)}" for kind, some in groups.items())
        yield f"Times and rates are compared only within the same conditions ({named})."
    elif groups and UNSAID not in groups:
        yield f"Measured on {next(iter(groups))}."


# ---------------------------------------------------------------- the picture


class Frontier:
    """Systems with values of two axes, and which of them nothing dominates.

    Arguments and errors are those of `Leaderboard.plot`.

    Attributes:
        board: the systems themselves.
        figures: values and bounds ``(systems, 2, 3)``; NaN where there are no bounds.
        strong: whether each system is on the frontier of its conditions: ``(systems,)``.
        conditions: each system's; only systems of the same are compared.
        styles: how the systems of each of the conditions are drawn.
    """

    def __init__(self, board: Board, x: str, y: str | None = None) -> None:
        self.x, self.y = board.axis(x), board.axis(board.measures[0] if y is None else y)
        names = [self.x.name, self.y.name]
        pareto = board.pareto(names)
        board = board.having(names)[0]
        self.board, self.pareto = board, pareto
        self.figures = np.array([[row.figure(name) for name in names] for row in board.rows])
        self.strong = np.array([system in pareto.frontier for system in board.systems], bool)
        self.conditions = [pareto.conditions.get(system, "") for system in board.systems]
        kinds = list(dict.fromkeys(self.conditions))
        self.styles = dict(zip(kinds, axes.styles(len(kinds)), strict=True))


def draw_frontier(frontier: Frontier, ax: axes.Axes | None = None) -> axes.Axes:
    """Draw what was found."""
    systems, strong, kinds = frontier.board.systems, frontier.strong, frontier.styles
    grows = ax is None
    ax = axes.new_axes(ax, height=min(4.2 + 0.06 * max(0, len(systems) - 12), 8.0))
    looks: list[dict[str, Any]] = []
    values = frontier.figures[..., 0]
    for (point, *bounds), on_top, kind in zip(
        frontier.figures.swapaxes(1, 2), strong.tolist(), frontier.conditions, strict=True
    ):
        look = {"color": kinds[kind].color if on_top else axes.MUTED, "marker": kinds[kind].marker}
        looks.append({**look, "alpha": 1.0 if on_top else BEHIND})
        shown = {"markersize": 6 if on_top else 4.5, "markeredgecolor": "white", **looks[-1]}
        x_reach, y_reach = np.abs(bounds - point).T
        reach = {"xerr": x_reach[:, None], "yerr": y_reach[:, None], "elinewidth": 1.1}
        _, _, bars = ax.errorbar(*point[:, None], zorder=3.5 if on_top else 2.5, **reach, **shown)
        for bar in bars:
            bar.set_alpha(0.5)
    ax.margins(0.09)
    x = values[:, 0]
    if frontier.x.name not in frontier.board.measures and x.max() > WIDE * x.min() > 0:
        axes.log_scale(ax)
    lines = _draw_lines(ax, frontier)
    for axis, write in ((frontier.x, ax.set_xlabel), (frontier.y, ax.set_ylabel)):
        name = printable(axis.heading).replace("$", r"\$")
        write(f"{name}   {'better →' if axis.sign > 0 else '← better'}")
    axes.tidy(ax, "both")
    note = _note(frontier)
    axes.add_note(ax, note)
    order = np.lexsort(values.T[::-1])
    rows = order[strong[order] | (len(systems) <= MOST_NAMED)][:MOST_NAMED].tolist()
    handles = _explain(kinds) if len(kinds) > 1 else {}
    names, of_rows = ({row: of_all[row] for row in rows} for of_all in (systems, looks))
    hidden = axes.name_points(ax, values, names, of_rows, lines, handles, grow=grows)
    note += f"; {many(len(systems) - len(rows), 'name')} left out" if rows != order.tolist() else ""
    axes.add_note(ax, note + (f"; no room for {many(hidden, 'number')}" if hidden else ""))
    return ax


def _note(frontier: Frontier) -> str:
    several = len(frontier.styles) > 1
    note = "lines: a Pareto frontier each" if several else "line: Pareto frontier"
    if frontier.pareto.dominated_by:
        note += "; grey: dominated"
    sure = tell_levels(frontier.board, [frontier.x.name, frontier.y.name])
    if sure is not None:
        note += f"; bars: {' '.join([*sure.split(), 'intervals'])}"
    left_out = len(frontier.pareto.left_out)
    return note + (f"; {many(left_out, 'system')} left out, without a value" if left_out else "")


def _explain(kinds: dict[str, axes.Style]) -> dict[str, Any]:
    """Return how the legend shows each of the conditions."""
    dot = imported("plots", "plot", "matplotlib.lines").Line2D
    names = axes.fit_names(kinds, 60)
    return {
        name: dot([], [], markersize=4, **style._asdict())
        for name, style in zip(names, kinds.values(), strict=True)
    }


def _draw_lines(ax: axes.Axes, frontier: Frontier) -> list[Floats]:
    """Draw the frontier of each of the conditions to the ends of the axes; return the corners."""
    ends = np.array([ax.get_xlim(), ax.get_ylim()])
    ax.set_xlim(*ends[0])
    ax.set_ylim(*ends[1])
    signs, lines = [frontier.x.sign, frontier.y.sign], []
    for kind, style in frontier.styles.items():
        is_of_kind = np.array([condition == kind for condition in frontier.conditions])
        corners = stairs(frontier.figures[frontier.strong & is_of_kind, :, 0], signs, ends)
        if len(frontier.styles) == 1:
            area = np.vstack([corners, [corners[-1, 0], corners[0, 1]]])
            ax.fill(*area.T, facecolor=axes.BETTER, alpha=0.08, edgecolor="none", zorder=0.4)
        look = {"color": style.color, "linestyle": style.linestyle, "solid_joinstyle": "miter"}
        ax.plot(*corners.T, linewidth=1.4, zorder=2, **look)
        lines.append(corners)
    return lines


def stairs(values: Floats, signs: Sequence[float], ends: Floats) -> Floats:
    """Return the corners of a frontier, float64 ``(corners, 2)``, to both `ends` of the axes.

    `signs` are 1 for axes of which higher is better, else -1.
    """
    worst = [ends[i, 0 if signs[i] > 0 else 1] for i in (0, 1)]
    turned = np.array(signs)
    best_first = np.unique(values * -turned, axis=0) * -turned
    corners = [[best_first[0, 0], worst[1]]]
    for i, (x, y) in enumerate(best_first.tolist()):
        corners += [[x, best_first[i - 1, 1]]] if i else []
        corners.append([x, y])
    return np.array([*corners, [worst[0], corners[-1][1]]])


def _picture_frontier(board: Board, x: str | None, y: str | None) -> list[Part]:
    """Return a picture of the frontier, where there is an axis for it; see `Leaderboard`."""
    if x is None:
        x = next((name for name in PICTURED if name in board.axes), None)
    if x is None or not len(board):
        return []
    frontier = Frontier(board, x, y)
    title = f"{frontier.y.label} against {frontier.x.label}"
    caption = f"Pareto frontier: {', '.join(frontier.pareto.frontier)}."
    if left_out := frontier.pareto.left_out:
        caption += f" Left out: {tell_left_out(board, left_out)}."
    return [Figure(title, caption, partial(draw_frontier, frontier))]
