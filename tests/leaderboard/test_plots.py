"""The picture of a leaderboard: what is in it, and that every name in it can be read."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from irbatch import InputError
from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.leaderboard import Leaderboard
from irbatch.leaderboard.boxes import Box, cover, cross, overlap
from irbatch.leaderboard.frontier import find_frontier, reach, stairs
from irbatch.leaderboard.labels import Label, place_labels
from irbatch.report.scales import LogScale

Floats = npt.NDArray[np.float64]

AREA = Box(0, 0, 600, 340)
LONG = "a dense retriever with a long name, checkpoint"


def made_board(
    latency: Any, accuracy: Any, names: list[str] | None = None, bounds: bool = True
) -> Leaderboard:
    """Put systems s0, s1, … on a leaderboard, with intervals of both numbers."""
    names = names or [f"s{i}" for i in range(len(latency))]
    records = [
        EfficiencyRecord(
            system=name,
            latency=Latency(mean=ms, intervals={"mean": (ms * 0.9, ms * 1.2)} if bounds else {}),
        )
        for name, ms in zip(names, map(float, latency), strict=True)
    ]
    means: dict[str, dict[str, Any]] = {
        name: {"RR@10": {"mean": mean, "low": mean - 0.01, "high": mean + 0.02} if bounds else mean}
        for name, mean in zip(names, map(float, accuracy), strict=True)
    }
    return Leaderboard(means, records)


def random_board(count: int, seed: int = 0, **more: Any) -> Leaderboard:
    draw = np.random.default_rng(seed)
    share = draw.random(count)
    latency = 10 ** (0.5 + 2.5 * share + draw.normal(0, 0.15, count))
    return made_board(latency, 0.2 + 0.2 * share + draw.normal(0, 0.03, count), **more)


def layout(kind: str, count: int) -> Floats:
    draw = np.random.default_rng(count)
    middle = np.array([300.0, 170.0])
    found = {
        "random": draw.random((count, 2)) * [600, 340],
        "same": np.tile(middle, (count, 1)),
        "vertical": np.stack([np.full(count, 300.0), draw.random(count) * 340], axis=1),
        "row": np.stack([np.linspace(0, 600, count), np.full(count, 170.0)], axis=1),
        "cluster": middle + draw.normal(0, 12, (count, 2)),
        "ties": np.round(draw.random((count, 2)) * 4) * [150, 85],
        "corners": np.tile([[0.0, 0], [600, 0], [0, 340], [600, 340]], (count, 1))[:count],
    }
    return found[kind]


def check_labels(placed: list[Label | None], points: Floats, radius: float = 4.0) -> None:
    """No name on another one or on a point, none outside, and leaders end where they belong."""
    boxes = [label.box for label in placed if label is not None]
    for one, other in itertools.combinations(boxes, 2):
        apart = (one.right <= other.left + 1e-9 or other.right <= one.left + 1e-9
                 or one.top <= other.bottom + 1e-9 or other.top <= one.bottom + 1e-9)  # fmt: skip
        assert apart, (one, other)
    for box in boxes:
        assert AREA.left <= box.left < box.right <= AREA.right
        assert AREA.bottom <= box.bottom < box.top <= AREA.top + 1e-9
        x, y = points.T
        near = np.maximum(np.maximum(box.left - x, x - box.right),
                          np.maximum(box.bottom - y, y - box.top))  # fmt: skip
        assert near.min() >= radius - 1e-9
    for label, point in zip(placed, points, strict=True):
        if label is not None and label.leader is not None:
            assert label.leader[:2] == tuple(point)
            x, y = label.leader[2:]
            assert label.box.left <= x <= label.box.right
            assert label.box.bottom <= y <= label.box.top


@pytest.mark.parametrize(
    "kind", ["random", "same", "vertical", "row", "cluster", "ties", "corners"]
)
@pytest.mark.parametrize("count", [1, 2, 12, 40])
def test_names_never_touch(kind: str, count: int) -> None:
    points = layout(kind, count)
    draw = np.random.default_rng(count)
    sizes = np.stack([draw.integers(20, 120, count), np.full(count, 13)], axis=1).astype(float)
    kept = points.copy(), sizes.copy()
    placed = place_labels(points, sizes, AREA)
    assert None not in placed
    check_labels(placed, points)
    assert placed == place_labels(points, sizes, AREA), "nothing is random"
    assert (points == kept[0]).all()
    assert (sizes == kept[1]).all()


def test_a_name_far_from_its_point_has_a_leader() -> None:
    points = layout("cluster", 30)
    placed = place_labels(points, np.full((30, 2), [80.0, 13.0]), AREA)
    far = 0
    for label, (x, y) in zip(placed, points.tolist(), strict=True):
        assert label is not None
        box = label.box
        distance = math.hypot(max(box.left - x, x - box.right, 0),
                              max(box.bottom - y, y - box.top, 0))  # fmt: skip
        far += distance > 20
        assert distance <= 20 or label.leader is not None
    assert far > 5
    alone = place_labels([[300, 170]], [[80, 13]], AREA)[0]
    assert alone is not None
    assert alone.leader is None


def test_names_of_one_place_stand_under_each_other() -> None:
    placed = place_labels([[300, 170]] * 3, [[50, 13], [70, 13], [30, 13]], AREA)
    boxes = [label.box for label in placed if label is not None]
    assert len({box.left for box in boxes}) == 1
    assert [box.top for box in boxes] == sorted((box.top for box in boxes), reverse=True)
    assert [one.bottom for one in boxes[:2]] == [other.top for other in boxes[1:]]


def test_names_for_which_there_is_no_room_have_no_place() -> None:
    small = Box(0, 0, 130, 60)
    points = np.tile([[50.0, 20.0]], (9, 1)) + np.arange(9)[:, None]
    first = [i in (3, 8) for i in range(9)]
    placed = place_labels(points, [[60, 12]] * 9, small, radius=3, first=first)
    assert 3 <= placed.count(None) < 7
    assert placed[3] is not None
    assert placed[8] is not None
    assert place_labels([[50, 20]], [[131, 12]], small) == [None]
    assert place_labels([], [], small) == []


def test_a_name_as_wide_as_the_area_has_a_place() -> None:
    placed = place_labels([[100, 170]], [[599, 13]], AREA)
    assert placed[0] is not None
    check_labels(placed, np.array([[100.0, 170.0]]))


def test_names_keep_off_other_points_and_lines() -> None:
    others = [[330, 170], [270, 170], [300, 186]]
    placed = place_labels([[300, 170]], [[80, 13]], AREA, others=others)
    check_labels(placed, np.array([[300.0, 170.0]]))
    box = placed[0].box if placed[0] else AREA
    assert not overlap(
        np.array([box]), np.array([[x - 4, y - 4, x + 4, y + 4] for x, y in others])
    ).any()
    line = [[300.0, 170.0, 600.0, 170.0], [300.0, 170.0, 300.0, 340.0]]
    free = place_labels([[300, 170]], [[80, 13]], AREA, lines=line)
    assert free[0] is not None
    assert not cover(np.array([free[0].box]), np.array(line)).any()


def test_lines_and_boxes_meet_where_points_on_them_do() -> None:
    draw = np.random.default_rng(3)
    corners = np.sort(draw.integers(0, 20, (60, 2, 2)), axis=1).astype(float)
    boxes = np.concatenate([corners[:, 0], corners[:, 1] + 1], axis=1)
    lines = draw.integers(0, 20, (60, 4)) + 0.37
    lines[:10, 2] = lines[:10, 0]
    lines[10:20, 3] = lines[10:20, 1]
    along = np.linspace(0, 1, 4001)[:, None]
    found = cover(boxes, lines)
    for k, (x1, y1, x2, y2) in enumerate(lines.tolist()):
        on = np.array([[x1, y1]]) + along * [[x2 - x1, y2 - y1]]
        for i, (left, bottom, right, top) in enumerate(boxes.tolist()):
            inside = ((on > [left, bottom]) & (on < [right, top])).all(axis=1).sum()
            assert found[i, k] == (inside > 0) or inside < 3
    assert found.any()
    assert not found.all()
    plus = np.array([[0.0, 5, 10, 5], [5, 0, 5, 10], [0, 5, 5, 20], [20, 0, 20, 9]])
    assert cross(plus, plus).tolist() == [[False, True, False, False], [True, False, False, False],
                                          [False] * 4, [False] * 4]  # fmt: skip


@pytest.mark.parametrize("x_better", ["higher", "lower"])
@pytest.mark.parametrize("y_better", ["higher", "lower"])
def test_stairs_are_what_is_within_reach(x_better: str, y_better: str) -> None:
    board = random_board(25, 4)
    directions = {"latency": x_better, "RR@10": y_better}
    found = find_frontier(board, "latency", log=False, directions=directions)
    assert (found.x.better, found.y.better) == (x_better, y_better)
    signs = np.array([1 if better == "higher" else -1 for better in (x_better, y_better)])
    low, high = reach(found, found.bounds)
    corners = stairs(found, low, high)
    steps = np.diff(corners, axis=0) * signs
    assert ((steps[::2, 0] == 0) & (steps[::2, 1] >= 0)).all(), "up"
    assert ((steps[1::2, 1] == 0) & (steps[1::2, 0] <= 0)).all(), "and on"
    good = found.values * signs
    for (x, y), (x_next, _) in itertools.pairwise(corners[1::1].tolist()):
        if x != x_next:
            between = (x + x_next) / 2 * signs[0]
            assert y * signs[1] == good[good[:, 0] >= between, 1].max()
    strong = set(map(tuple, found.values[found.strong].tolist()))
    assert strong <= set(map(tuple, corners.tolist()))
    assert corners[0, 1] == (low[1] if y_better == "higher" else high[1])
    assert corners[-1, 0] == (low[0] if x_better == "higher" else high[0])


def test_when_the_axis_is_logarithmic() -> None:
    assert find_frontier(made_board([10, 31], [0.1, 0.2]), "latency").log
    assert not find_frontier(made_board([10, 30], [0.1, 0.2]), "latency").log
    assert not find_frontier(made_board([0, 30], [0.1, 0.2]), "latency").log
    assert find_frontier(made_board([10, 11], [0.1, 0.2]), "latency", log=True).log
    assert not find_frontier(made_board([10, 500], [0.1, 0.2]), "latency", log=False).log
    assert not find_frontier(made_board([10, 11], [0.01, 0.2]), "RR@10", "latency").log


def test_limits_hold_all_that_is_drawn() -> None:
    found = find_frontier(random_board(9), "latency")
    for bounds in (found.bounds, np.full_like(found.bounds, np.nan)):
        low, high = reach(found, bounds)
        known = np.concatenate([found.values[:, :, None], bounds], axis=2)
        for axis in (0, 1):
            assert low[axis] < np.nanmin(known[:, axis])
            assert np.nanmax(known[:, axis]) < high[axis]
    odd: list[tuple[list[float], list[float]]] = [
        ([5.0], [0.5]), ([0.0], [0.0]), ([1e-320, 1.0], [0.5, 0.5]),
        ([1e308, 1.0], [1e308, -1e308]), ([1e308, 1e-320], [1.0, 1.0]),
        ([7.0, 7.0 + 1e-14], [0.3, math.nextafter(0.3, 1)]),
    ]  # fmt: skip
    for latency, accuracy in odd:
        found = find_frontier(made_board(latency, accuracy, bounds=False), "latency")
        low, high = reach(found, found.bounds)
        assert np.isfinite([*low, *high]).all()
        assert low[0] > 0 or not found.log
        assert all(
            one * (1 + 1e-12) < other or one < 0 for one, other in zip(low, high, strict=True)
        )


def test_bad_requests_are_refused() -> None:
    board = made_board([0, 8], [0.1, 0.2], ["fast", "slow"])
    with pytest.raises(InputError, match=r"record of 'fast': latency_mean is 0, .* no logarithm"):
        find_frontier(board, "latency", log=True)
    with pytest.raises(InputError, match="record of 'fast': cost_per_million is missing"):
        find_frontier(board, "cost")
    with pytest.raises(InputError, match="log='yes' is none of True, False and None"):
        find_frontier(board, "latency", log="yes")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no axis 'latenzy'; did you mean latency"):
        find_frontier(board, "latenzy")
    with pytest.raises(InputError, match=r"RR@10 is given twice"):
        find_frontier(board, "RR@10")
    with pytest.raises(InputError, match="'higher' or 'lower' is better"):
        find_frontier(board, "latency", directions={"latency": "up"})
    with pytest.raises(InputError, match="no system is left"):
        find_frontier(board.where("RR@10 > 1"), "latency")


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1, 30, "1 2 5 10 20"),
        (0.5, 3000, "1 3 10 30 100 300 1,000 3,000"),
        (0.02, 0.9, "0.02 0.05 0.1 0.2 0.5"),
        (7.2, 9.1, "7.5 8.0 8.5 9.0"),
        (1e-7, 1e9, "1e-06 0.0001 0.01 1 100 10000 1e+06 1e+08"),
        (3e-300, 1e290, "1e-280 1e-210 1e-140 1e-70 1 1e+70 1e+140 1e+210 1e+280"),
    ],
)
def test_ticks_of_a_logarithmic_axis(low: float, high: float, labels: str) -> None:
    scale = LogScale(low, high, 0.0, 540.0)
    ticks = scale.ticks(8.0)
    assert " ".join(label for _, label in ticks) == labels
    for place, label in ticks:
        share = math.log(float(label.replace(",", ""))) - math.log(low)
        assert place == pytest.approx(540 * share / (math.log(high) - math.log(low)), abs=0.5)
    for (place, one), (other, two) in itertools.pairwise(ticks):
        assert other - place > (len(one) + len(two)) / 2 * 8.0
    assert (scale(low), scale(high), scale(0.0)) == (0.0, 540.0, 0.0)


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


def bars_of(ax: Any) -> list[list[list[float]]]:
    return [segment.tolist() for each in ax.collections if hasattr(each, "get_segments")
            for segment in each.get_segments()]  # fmt: skip


SHAPES = {
    "trade": lambda: random_board(12),
    "forty": lambda: random_board(40),
    "plain": lambda: random_board(12, bounds=False),
    "long": lambda: random_board(12, names=[f"{LONG} {i}" for i in range(12)]),
    "longest": lambda: random_board(40, names=[f"{LONG} {i}" for i in range(40)]),
    "same": lambda: made_board([20] * 40, [0.3] * 40),
    "vertical": lambda: made_board([20] * 12, np.linspace(0.1, 0.9, 12)),
    "ties": lambda: made_board(np.arange(20) % 4 * 30 + 10, np.arange(20) % 3 / 10),
    "front": lambda: made_board(np.geomspace(1, 900, 15), np.linspace(0.1, 0.9, 15)),
    "one best": lambda: made_board([1, *range(20, 30)], [0.9, *np.linspace(0.1, 0.5, 10)]),
    "one": lambda: made_board([20], [0.3]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_names_can_be_read(shape: str) -> None:
    board = SHAPES[shape]()
    ax = drawn(board)
    boxes = names_of(ax)
    assert len(boxes) == len(board), "every system is named"
    frame = ax.get_window_extent()
    points = ax.transData.transform(
        np.stack([board.values("latency"), board.values("RR@10")], axis=1)
    )
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
        assert not any(box.contains(*point) for point in points)
    for axis in (ax.xaxis, ax.yaxis):
        ticks = [each.get_window_extent() for each in axis.get_ticklabels() if each.get_text()]
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(ticks))


def test_what_is_drawn() -> None:
    board = made_board([8, 30, 90, 300], [0.19, 0.33, 0.31, 0.40], ["bm25", "dense", "slow", "big"])
    ax = drawn(board)
    assert ax.get_xlabel() == r"mean latency (ms)   $\leftarrow$ better"
    assert ax.get_ylabel() == r"RR@10   better $\rightarrow$"
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        *("10", "20", "50", "100", "200", "500"),
    ]
    assert ax.get_title(loc="left") == "line: Pareto frontier; grey: dominated; bars: 95% intervals"
    assert [text.get_text() for text in ax.texts] == board.systems
    behind, strong = (each for each in ax.collections if hasattr(each, "get_sizes"))
    assert strong.get_offsets().tolist() == [[8, 0.19], [30, 0.33], [300, 0.40]]
    assert behind.get_offsets().tolist() == [[90, 0.31]]
    [line] = ax.lines
    bottom, right = ax.get_ylim()[0], ax.get_xlim()[1]
    assert line.get_xydata().tolist() == [
        [8, bottom], [8, 0.19], [30, 0.19], [30, 0.33], [300, 0.33], [300, 0.40], [right, 0.40]
    ]  # fmt: skip
    bars = bars_of(ax)
    assert len(bars) == 8
    assert [[8 * 0.9, 0.19], [8 * 1.2, 0.19]] in bars
    assert any(np.allclose(bar, [[90, 0.30], [90, 0.33]]) for bar in bars)
    colours = {text.get_text(): text.get_color() for text in ax.texts}
    assert colours["slow"] != colours["bm25"] == colours["dense"]


def test_options() -> None:
    board = random_board(6)
    plain = drawn(board, intervals=False, labels=False, log=False)
    assert not plain.texts
    assert plain.get_xscale() == "linear"
    assert "bars" not in plain.get_title(loc="left")
    assert not bars_of(plain)
    turned = drawn(board, y="latency", x="RR@10", directions={"latency": "higher"})
    assert turned.get_ylabel() == r"mean latency (ms)   better $\rightarrow$"
    assert turned.get_xlabel() == r"RR@10   better $\rightarrow$"
    with pytest.raises(InputError, match="axes, not a str"):
        drawn(board, ax="here")
    dollars = EfficiencyRecord(system="$a$", stated_cost=3, currency="US$")
    priced = Leaderboard({"$a$": {"$x$": 0.5}}, [dollars])
    assert drawn(priced, "cost").get_xlabel().startswith(r"cost per million queries (US\$)")
    names_of(drawn(priced, "cost"))  # no formula is read into them


def test_intervals_of_several_levels() -> None:
    records = [
        EfficiencyRecord(system="a", latency=Latency(mean=5, intervals={"mean": (4, 6)}, level=0.1))
    ]
    sure = Leaderboard({"a": {"RR": 0.5}}, records)
    assert drawn(sure).get_title(loc="left").endswith("bars: 90% intervals")
    both = Leaderboard({"a": {"RR": {"mean": 0.5, "low": 0.4, "high": 0.6}}}, records)
    assert drawn(both).get_title(loc="left").endswith("bars: 95% and 90% intervals")


def test_a_bound_that_has_no_logarithm_ends_at_the_axis() -> None:
    records = [EfficiencyRecord(system=name, latency=Latency(mean=ms, intervals={"mean": (0, ms)}))
               for name, ms in (("a", 5), ("b", 50))]  # fmt: skip
    ax = drawn(Leaderboard({"a": {"RR": 0.5}, "b": {"RR": 0.6}}, records))
    assert len(names_of(ax)) == 2
    starts = [start[0] for start, _ in bars_of(ax)]
    assert starts == [ax.get_xlim()[0]] * 2
    assert starts[0] > 3


def test_given_axes_are_drawn_on_and_small_ones_say_what_is_missing() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(3.2, 2.4))
    ax = figure.subplots()
    board = random_board(60, names=[f"{LONG} {i}" for i in range(60)])
    assert drawn(board, ax=ax) is ax
    assert figure.get_size_inches().tolist() == [3.2, 2.4]
    missing = len(board) - len(ax.texts)
    assert 0 < missing < 60
    assert f"; {missing} names left out" in ax.get_title(loc="left")
    for one, other in itertools.combinations(names_of(ax), 2):
        assert not one.overlaps(other)
    parts = pytest.importorskip("matplotlib.figure").Figure(layout="constrained").subfigures(1, 2)
    assert len(drawn(random_board(4), ax=parts[0].subplots()).texts) == 4


def test_of_very_many_systems_those_on_the_frontier_are_named() -> None:
    board = random_board(150, 1, bounds=False)
    ax = drawn(board)
    frontier = board.pareto(["latency", "RR@10"]).frontier
    assert [text.get_text() for text in ax.texts] == frontier
    assert f"{150 - len(frontier)} names left out" in ax.get_title(loc="left")
    boxes = names_of(ax)
    values = np.stack([board.values("latency"), board.values("RR@10")], axis=1)
    points = ax.transData.transform(values)
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_names_far_away_have_leaders_and_the_frontier_is_named_first() -> None:
    pytest.importorskip("matplotlib")
    draw = np.random.default_rng(1)
    ax = drawn(made_board(20 + draw.normal(0, 1e-3, 30), 0.5 + draw.normal(0, 1e-3, 30)))
    led = [text for text in ax.texts if text.arrow_patch is not None]
    assert len(led) > 5
    assert not any(text.arrow_patch for text in drawn(random_board(3)).texts)
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(2.2, 1.8))
    names = [f"{i:02d}-{LONG}" for i in range(60)]
    board = random_board(60, 2, names=names)
    shown = {text.get_text()[:2] for text in drawn(board, ax=figure.subplots()).texts}
    frontier = {name[:2] for name in board.pareto(["latency", "RR@10"]).frontier}
    assert 3 < len(shown) < len(frontier)
    assert shown < frontier


def test_the_same_leaderboard_makes_the_same_picture() -> None:
    one, other = (drawn(random_board(20)) for _ in range(2))
    assert [text.xyann for text in one.texts] == [text.xyann for text in other.texts]


def test_nothing_global_is_touched() -> None:
    pytest.importorskip("matplotlib")
    program = (
        "import sys, irbatch.leaderboard\n"
        "import irbatch.leaderboard.plots as plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from irbatch import EfficiencyRecord, Leaderboard\n"
        "board = Leaderboard({'a': {'RR': 0.5}}, [EfficiencyRecord(system='a', throughput=5)])\n"
        "board.plot('qps').figure.savefig(sys.stdout.buffer, format='svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert b"<svg" in done.stdout
