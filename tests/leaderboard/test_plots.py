"""Pictures and pages of leaderboards: what is in them, and that every name can be read."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.pages import Page, pictures

from irbatch import InputError
from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.leaderboard import Leaderboard
from irbatch.leaderboard.report import stairs

Floats = npt.NDArray[np.float64]

AXES = ("RR@10", "latency")
to_html = Leaderboard.to_html
NUMBERS = re.compile(r"\d+")
LONG = "a dense retriever with a long name, checkpoint"


def made_board(
    latency: Any, accuracy: Any, names: list[str] | None = None, bounds: bool = True, **more: Any
) -> Leaderboard:
    """Put systems s0, s1, … on a leaderboard, with intervals of both numbers, and more fields."""
    names = names or [f"s{i}" for i in range(len(latency))]
    records = [
        EfficiencyRecord(
            system=name,
            latency=Latency(mean=ms, intervals={"mean": (ms * 0.9, ms * 1.2)} if bounds else {}),
            **more,
        )
        for name, ms in zip(names, map(float, latency), strict=True)
    ]
    means: dict[str, dict[str, Any]] = {
        name: {"RR@10": {"mean": mean, "low": mean - 0.01, "high": mean + 0.02} if bounds else mean}
        for name, mean in zip(names, map(float, accuracy), strict=True)
    }
    return Leaderboard(means, records)


def four(**more: Any) -> Leaderboard:
    names = ["bm25", "dense", "slow", "big"]
    return made_board([8, 30, 90, 300], [0.19, 0.33, 0.31, 0.40], names, **more)


def random_board(count: int, seed: int = 0, **more: Any) -> Leaderboard:
    draw = np.random.default_rng(seed)
    share = draw.random(count)
    latency = 10 ** (0.5 + 2.5 * share + draw.normal(0, 0.15, count))
    return made_board(latency, 0.2 + 0.2 * share + draw.normal(0, 0.03, count), **more)


@pytest.mark.parametrize("x_sign", [1, -1])
@pytest.mark.parametrize("y_sign", [1, -1])
def test_stairs_are_what_is_within_reach(x_sign: int, y_sign: int) -> None:
    signs = np.array([x_sign, y_sign])
    good = np.random.default_rng(4).random((25, 2))
    strong = [not ((good >= one).all(axis=1) & (good > one).any(axis=1)).any() for one in good]
    corners = stairs(signs * good[strong], signs.tolist(), np.sort(signs[:, None] * [[-1, 2]] * 1))
    steps = np.diff(corners, axis=0) * signs
    assert ((steps[::2, 0] == 0) & (steps[::2, 1] >= 0)).all(), "up"
    assert ((steps[1::2, 1] == 0) & (steps[1::2, 0] <= 0)).all(), "and on"
    for (x, y), (x_next, _) in itertools.pairwise(corners[1:].tolist()):
        if x != x_next:
            between = (x + x_next) / 2 * x_sign
            assert y * y_sign == good[good[:, 0] >= between, 1].max()
    assert set(map(tuple, signs * good[strong])) <= set(map(tuple, corners.tolist()))


# What follows draws.


def drawn(board: Leaderboard, x: str = "latency", **options: Any) -> Any:
    pytest.importorskip("matplotlib")
    return board.plot(x, **options)


def names_of(ax: Any) -> list[Any]:
    """Draw, and return the boxes of the names in pixels."""
    backend = pytest.importorskip("matplotlib.backends.backend_agg")
    canvas = backend.FigureCanvasAgg(ax.get_figure())
    canvas.draw()
    return [text.get_bbox_patch() or _extent(text, canvas) for text in ax.texts]


def _extent(text: Any, canvas: Any) -> Any:
    # An annotation's own extent holds its leader.
    figure_text = pytest.importorskip("matplotlib.text").Text
    text.update_positions(canvas.get_renderer())
    return figure_text.get_window_extent(text, canvas.get_renderer())


SHAPES = {
    "trade": lambda: random_board(12),
    "forty": lambda: random_board(40),
    "long": lambda: random_board(12, names=[f"{LONG} {i}" for i in range(12)]),
    "longest": lambda: random_board(25, names=[f"{LONG} {i}" for i in range(25)]),
    "same": lambda: made_board([20] * 20, [0.3] * 20),
    "several": lambda: made_board([10, 10, 10, 20, 20, 300], [0.1, 0.1, 0.1, 0.2, 0.2, 0.3]),
    "ties": lambda: made_board(np.arange(20) % 4 * 30 + 10, np.arange(20) % 3 / 10),
    "front": lambda: made_board(np.geomspace(1, 900, 15), np.linspace(0.1, 0.9, 15)),
    "one": lambda: made_board([20], [0.3]),
    "zero": lambda: made_board([0.0], [0.0], bounds=False),
    "from zero": lambda: made_board([0.0, 9.0], [0.5, 0.5], bounds=False),
    "far apart": lambda: made_board([1e-7, 1e9], [0.1, 0.2], bounds=False),
}


def named(ax: Any) -> list[str]:
    """Return what the picture names: beside points, and in its legend with the numbers there."""
    told = [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []
    explained = dict(line.split("  ", 1) for line in told)
    assert list(explained) == [str(number + 1) for number in range(len(told))]
    written = [text.get_text() for text in ax.texts]
    beside = [text for text in written if not NUMBERS.fullmatch(text)]
    numbers = [int(text) for text in written if NUMBERS.fullmatch(text)]
    hidden = re.search(r"no room for (\d+) number", ax.get_title(loc="left"))
    assert len(set(numbers)) == len(told) - (int(hidden[1]) if hidden else 0)
    assert set(numbers) <= set(range(1, len(told) + 1))
    return [*beside, *explained.values()]


@pytest.mark.parametrize("shape", SHAPES)
def test_names_can_be_read(shape: str) -> None:
    board = SHAPES[shape]()
    ax = drawn(board)
    boxes = names_of(ax)
    assert sorted(named(ax)) == sorted(board.systems), "every system is named"
    frame = ax.get_window_extent()
    points = ax.transData.transform(
        np.stack([board.values("latency"), board.values("RR@10")], axis=1)
    )
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    line = ax.transData.transform(ax.lines[-1].get_xydata())
    steps = [np.linspace(*ends, 500) for ends in itertools.pairwise(line)]
    points = np.vstack([points, *steps])
    for box in boxes:
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
        assert not any(box.contains(*point) for point in points)
    for axis in (ax.xaxis, ax.yaxis):
        ticks = [each.get_window_extent() for each in axis.get_ticklabels() if each.get_text()]
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(ticks))
    if legend := ax.get_legend():
        box = legend.get_window_extent()
        assert not box.overlaps(frame)
        assert ax.get_figure().bbox.padded(1).contains(box.x1, box.y1)
        assert box.y0 >= 0


def test_what_is_drawn() -> None:
    board = four()
    ax = drawn(board)
    assert ax.get_xlabel() == "mean latency (ms)   ← better"
    assert ax.get_ylabel() == "RR@10   better →"
    assert ax.get_xscale() == "log"
    ticks = {tick.get_text() for tick in ax.get_xticklabels()}
    assert {"10", "20", "50", "100", "200"} <= ticks
    assert ax.get_title(loc="left") == "line: Pareto frontier; grey: dominated; bars: 95% intervals"
    assert sorted(text.get_text() for text in ax.texts) == sorted(board.systems)
    points = [bars.lines[0] for bars in ax.containers]
    assert [each.get_xydata()[0].tolist() for each in points] == [
        [8, 0.19], [30, 0.33], [90, 0.31], [300, 0.40]
    ]  # fmt: skip
    colours = [each.get_color() for each in points]
    assert colours[0] == colours[1] == colours[3] != colours[2]
    assert points[2].get_zorder() < points[0].get_zorder() == points[3].get_zorder()
    line = ax.lines[-1]
    bottom, right = ax.get_ylim()[0], ax.get_xlim()[1]
    assert line.get_xydata().tolist() == [
        [8, bottom], [8, 0.19], [30, 0.19], [30, 0.33], [300, 0.33], [300, 0.40], [right, 0.40]
    ]  # fmt: skip
    (across, along), *_, (_, last) = (bars.lines[2] for bars in ax.containers)
    assert np.allclose(across.get_segments(), [[[8 * 0.9, 0.19], [8 * 1.2, 0.19]]])
    assert np.allclose(along.get_segments(), [[[8, 0.18], [8, 0.21]]])
    assert np.allclose(last.get_segments(), [[[300, 0.39], [300, 0.42]]])


def test_what_is_not_a_formula() -> None:
    with pytest.raises(InputError, match="axes, not a str"):
        drawn(random_board(6), ax="here")
    dollars = EfficiencyRecord(system="$a$", latency=3, price_per_hour=3, currency="US$")
    priced = Leaderboard({"$a$": {"$x$": 0.5}}, [dollars])
    assert drawn(priced, "cost").get_xlabel().startswith(r"cost per million queries (US\$)")
    names_of(drawn(priced, "cost"))


def test_given_axes_are_drawn_on_and_small_ones_say_what_is_missing() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(2.2, 1.8))
    ax = figure.subplots()
    board = random_board(90, names=[f"{LONG} {i}" for i in range(90)])
    assert drawn(board, ax=ax) is ax
    assert figure.get_size_inches().tolist() == [2.2, 1.8]
    missing = len(board) - len(ax.texts)
    assert 0 < missing < 90
    assert f"; no room for {missing} numbers" in ax.get_title(loc="left")
    for one, other in itertools.combinations(names_of(ax), 2):
        assert not one.overlaps(other)
    parts = pytest.importorskip("matplotlib.figure").Figure(layout="constrained").subfigures(1, 2)
    assert len(drawn(random_board(4), ax=parts[0].subplots()).texts) == 4


# Pages


def test_the_table_is_sorted_by_exact_values() -> None:
    board = made_board([8, 1 / 3, 12345.678], [0.1, 0.2, 1 / 3], index_memory=5)
    page = Page(to_html(board))
    cells = [attrs["data-v"] for attrs, _ in page.of("td") if attrs.get("class") == "n"]
    exact = np.stack([board.values(name) for name in ("RR@10", "latency", "index_memory")], axis=1)
    assert [float(cell) for cell in cells] == exact.ravel().tolist()
    assert "<strong>0.3333</strong>" in to_html(board)
    assert '<td class="n" data-v="12345.678">12,350</td>' in to_html(board)
    heads = {text: attrs.get("data-first") for attrs, text in page.of("th") if
             attrs["scope"] == "col"}  # fmt: skip
    assert heads["RR@10"] == "descending"
    assert heads["mean latency (ms)"] == "ascending"
    assert heads["system"] is None
    some = Leaderboard({"a": {"P": 0.5}, "b": {"P": 0.5}}, [
        EfficiencyRecord(system="a", throughput=5), EfficiencyRecord(system="b")])  # fmt: skip
    assert '<td class="n" data-v="">–</td>' in to_html(some)
    turned = Page(to_html(four(), columns=["hardware", "qps", "RR@10"]))
    columns = [text for attrs, text in turned.of("th") if attrs["scope"] == "col"]
    assert columns[:4] == ["system", "hardware", "throughput (queries/s)", "RR@10"]
    assert "[0.180, 0.210]" in to_html(four(), intervals=True, digits=3)
    assert "[0.180, 0.210]" not in to_html(four(), digits=3)


def test_the_frontier_is_a_column() -> None:
    source = to_html(four(), frontier=AXES)
    marks = re.findall(r'<tr><td data-v="([01])">(●?)</td>', source)
    assert marks == [("1", "●"), ("1", "●"), ("0", ""), ("1", "●")]
    assert "●: on the Pareto frontier of RR@10 and mean latency" in source
    assert "●" not in to_html(four())


@pytest.mark.parametrize(
    ("fields", "options", "title"),
    [
        ({}, {}, "RR@10 against mean latency"),
        ({"price_per_hour": 1}, {}, "RR@10 against cost per million queries"),
        ({"peak_memory": 3}, {"x": "memory"}, "RR@10 against peak memory"),
        ({"peak_memory": 3}, {"y": "memory"}, "peak memory against mean latency"),
        ({}, {"plots": False}, "none"),
    ],
)
def test_what_the_picture_is_of(fields: Any, options: Any, title: str) -> None:
    found = pictures(to_html(four(**fields), **options))
    assert (found[0][0]["title"] if found else "none") == title


def test_under_the_picture_is_what_it_shows() -> None:
    some = four()
    bm25 = EfficiencyRecord(system="bm25", price_per_hour=3)
    source = to_html(some._with(rows=[replace(some.rows[0], record=bm25), *some.rows[1:]]))
    assert "Left out: bm25 (without mean latency)." in source
    assert not pictures(to_html(some.where("RR@10 > 0.9")))
