"""The relevance matrix as a picture: what stands at each rank, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats
from irbatch.data.column_names import Columns
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import NEGATIVE, PAD, RelevanceMatrix
from irbatch.errors import InputError, imported
from irbatch.evaluation.evaluation import Judgments, Rankings, as_qrels, as_run
from irbatch.measures import check_cutoff
from irbatch.pack.join import pack_run
from irbatch.report import axes

Codes = npt.NDArray[np.signedinteger]

# Grades from low to high go from light to dark blue, in which lightness tells as much as hue.
LIGHT, DARK = (0.62, 0.79, 0.88), (0.03, 0.19, 0.42)
ZERO_COLOUR, UNJUDGED_COLOUR = "#F6D2A9", "#DCDCDC"
NEGATIVE_COLOUR, PAD_COLOUR = "#B35806", "#FFFFFF"
MOST_NAMED = 40  # queries
MOST_GRADES = 8  # in the legend


def plot_relevance(
    judged: RelevanceMatrix | Judgments,
    run: Rankings | None = None,
    *,
    depth: int = 100,
    queries: Sequence[Any] | None = None,
    columns: Columns = None,
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Plot a relevance matrix: queries down, ranks across, colours for grades.

    Unjudged documents are grey, grade 0 is sand, higher grades are blue, the darker the higher,
    and what is past the end of a ranking stays white.

    Args:
        judged: a relevance matrix, or judgments to see a run by, as `irbatch.evaluate` takes them.
        run: the rankings, as `irbatch.evaluate` takes them.
        depth: how many ranks at most.
        queries: ids, which and in what order; default all of the judgments. Not with a matrix.
        columns: what tables call their columns, see `irbatch.evaluate`.
        ax: as in `irbatch.comparing.plots.plot_differences`, and so what returns.

    Raises:
        InputError: if a matrix has no queries or comes with a run, judgments come without one, or a
            query is not judged.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> ax = plot_relevance({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d1": 9, "d7": 8, "d2": 7}})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['grade 2', 'grade 0', 'unjudged', 'past the end']
    """
    axes.check_axes(ax)
    depth = check_cutoff(depth)
    if isinstance(judged, RelevanceMatrix):
        if run is not None or queries is not None:
            raise InputError("a relevance matrix has its run and its queries in it")
        codes, levels = judged.codes[:, :depth], judged.levels
        ids: list[Any] = list(range(1, len(codes) + 1))
    else:
        if run is None:
            raise InputError("judgments are plotted with a run, or a relevance matrix alone")
        run = as_run(run, columns=columns)
        codes, levels, ids = _pack(as_qrels(judged, columns), run, queries, depth)
    if not len(codes):
        raise InputError("there are no queries to plot")
    used = int((codes != PAD).any(axis=0).nonzero()[0].max(initial=0)) + 1
    codes = codes[:, :used]
    ax = axes.new_axes(ax, height=float(np.clip(1.2 + 0.17 * len(codes), 2.2, 7.5)))
    _draw(ax, codes, levels)
    _label_axes(ax, axes.fit_names(ids, 16), used)
    return ax


def _pack(
    qrels: Qrels, run: Run, queries: Sequence[Any] | None, depth: int
) -> tuple[Codes, Floats, list[Any]]:
    """Pack a run into one matrix of bounded depth."""
    wanted = qrels.queries if queries is None else list(queries)
    rows = {query: row for row, query in enumerate(qrels.queries)}
    for query in wanted:
        if query not in rows:
            raise InputError("the judgments don't have this query", source="qrels", query=query)
    places = np.array([rows[query] for query in wanted], np.intp)
    codes: Codes = np.full((len(wanted), depth), PAD, np.int32)
    for block in pack_run(qrels, run, places):
        part = block.matrix.codes[:, :depth]
        # A block may tell apart only the levels it has: codes are those of all judgments.
        ours = np.searchsorted(qrels.levels, block.matrix.levels)
        whole = np.where(part >= 0, ours[np.maximum(part, 0)] if ours.size else part, part)
        codes[block.rows, : part.shape[1]] = whole
    return codes, qrels.levels, wanted


def _draw(ax: axes.Axes, codes: Codes, levels: Floats) -> None:
    colors = imported("plots", "plot", "matplotlib.colors")
    patches = imported("plots", "plot", "matplotlib.patches")
    grades = [_grade_colour(i, levels) for i in range(levels.size)]
    # From PAD, -3, to the highest level.
    special = [PAD_COLOUR, NEGATIVE_COLOUR, UNJUDGED_COLOUR]
    table = np.array([colors.to_rgb(each) for each in (*special, *grades)])
    extent = (0.5, codes.shape[1] + 0.5, len(codes) - 0.5, -0.5)
    ax.imshow(table[codes - PAD], aspect="auto", interpolation="nearest", extent=extent)
    there = set(np.unique(codes).tolist())
    shown = [i for i in range(levels.size - 1, -1, -1) if i in there]
    if len(shown) > MOST_GRADES:
        picks = np.linspace(0, len(shown) - 1, MOST_GRADES).round().astype(int)
        shown = [shown[pick] for pick in picks.tolist()]
    legend = [(f"grade {levels[i]:g}", grades[i]) for i in shown]
    if NEGATIVE in there:
        legend.append(("grade below 0", NEGATIVE_COLOUR))
    legend += [("unjudged", UNJUDGED_COLOUR), ("past the end", PAD_COLOUR)]
    handles = [
        patches.Patch(facecolor=colour, edgecolor="#AAAAAA", linewidth=0.6) for _, colour in legend
    ]
    axes.add_legend(ax, handles, [name for name, _ in legend])


def _grade_colour(place: int, levels: Floats) -> Any:
    if levels[place] == 0:
        return ZERO_COLOUR
    above = levels[levels > 0]
    rank = int(np.searchsorted(above, levels[place]))
    share = rank / (above.size - 1) if above.size > 1 else 0.7
    return tuple(low + (high - low) * share for low, high in zip(LIGHT, DARK, strict=True))


def _label_axes(ax: axes.Axes, names: list[str], depth: int) -> None:
    if len(names) <= MOST_NAMED:
        ax.set_yticks(range(len(names)), names)
    else:
        ax.set_yticks([0, len(names) - 1], [names[0], names[-1]])
    step = next(10**i * n for i in range(20) for n in (1, 5) if depth / (10**i * n) <= 12)
    ax.set_xticks(sorted({1, *range(step, depth + 1, step)}))
    ax.set_xlabel("rank")
    ax.set_ylabel("query" if len(names) == 1 else f"{len(names)} queries")
    axes.tidy(ax, None)
    if len(names) <= MOST_NAMED:
        ax.tick_params(axis="y", labelsize=9 if len(names) <= 25 else 7)
