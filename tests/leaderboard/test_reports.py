"""What the reports of a leaderboard say in text, Markdown, LaTeX, CSV, JSON and frames."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.input_errors import input_error

from irbatch.efficiency import EfficiencyRecord, Hardware, Latency
from irbatch.leaderboard import Leaderboard
from irbatch.report.document import Column, Table
from irbatch.report.text import show_quantity

PEOPLES: dict[str, Callable[..., str]] = {
    name: getattr(Leaderboard, f"to_{name}") for name in ("text", "markdown", "latex")
}

Bounded = dict[str, float]


def make(accuracy: dict[str, dict[str, float | Bounded]], **fields: Any) -> Leaderboard:
    """Put systems on a leaderboard; each field has one value a system."""
    records = [
        EfficiencyRecord(
            system=system, **{name: each[i] for name, each in fields.items() if each[i] is not None}
        )
        for i, system in enumerate(accuracy)
    ]
    return Leaderboard(accuracy, records)._with(settings={"irbatch": "1.2.3", "relevant": ">= 1"})


@pytest.fixture
def three() -> Leaderboard:
    """Three systems on two machines: slow is dominated; only bm25 has an index on disk."""
    return make(
        {
            "bm25": {"RR@10": 0.1875, "R@1000": {"mean": 0.875, "low": 0.75, "high": 0.9375}},
            "dense": {"RR@10": 0.375, "R@1000": 0.9375},
            "slow": {"RR@10": 0.3125, "R@1000": 0.9375},
        },
        hardware=[
            Hardware(instance="c6g", n_cpu=4),
            Hardware(instance="c6g", n_cpu=4),
            Hardware(instance="p4d"),
        ],
        latency=[
            Latency(mean=8.25, p95=12.125, intervals={"mean": (8.0, 8.5)}),
            Latency(mean=30.5, p95=50),
            Latency(mean=1234.5, p95=20000),
        ],
        price_per_hour=[0.5, 32.0, 32.0],
        currency=["USD"] * 3,
        index_disk=[1234.5678, None, None],
    )


def one_column(*values: float | None, name: str = "index_disk") -> Leaderboard:
    """Systems with one quantity."""
    accuracy: dict[str, Any] = {f"s{i}": {"P@1": 0.5} for i in range(len(values))}
    return make(accuracy, **{name: list(values)})


def cells(board: Leaderboard, **options: Any) -> list[list[str]]:
    """Read a table back from Markdown, without its head."""
    lines = Leaderboard.to_markdown(board, **options).split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


# Numbers


@example(999.95)
@example(99.995e-6)
@example(999_950_000.0)
@given(st.floats(0, 1e300))
def test_a_quantity_is_shown_to_four_digits(value: float) -> None:
    shown = show_quantity(value)
    assert float(shown.replace(",", "")) == float(f"{value:.3e}")
    assert len(shown.split("e")[0].replace(",", "").strip("0.").replace(".", "").strip("0")) <= 4
    assert re.fullmatch(r"\d{1,3}(,\d{3})*(\.\d+)?|\d(\.\d+)?e[+-]\d+", shown)
    assert [show_quantity(odd) for odd in (-0.0, math.nan, math.inf)] == ["0", "–", "∞"]


def heads(board: Leaderboard, **options: Any) -> list[str]:
    return [column.heading for column in columns_of(board, **options)]


def columns_of(board: Leaderboard, **options: Any) -> list[Column]:
    """Return the columns after the systems' names."""
    table = board._document("text", **options).parts[0]
    assert isinstance(table, Table)
    assert table.columns[0].heading == "system"
    return list(table.columns[1:])


def legend(board: Leaderboard, best: str = "Bold", **options: Any) -> str:
    return board._document("text", **options).explained(best)


# Which columns there are, and what stands out


def test_columns_that_nobody_chose(three: Leaderboard) -> None:
    assert heads(three) == [
        "hardware", "RR@10", "R@1000", "mean latency (ms)", "latency p95 (ms)",
        "index on disk (MB)", "cost per million queries (USD)",
    ]  # fmt: skip
    amounts = ("throughput", "peak_memory", "model_memory", "index_memory", "model_disk",
               "index_disk", "indexing_time", "flops", "energy", "price_per_hour")  # fmt: skip
    full = make({"a": {"P@1": 0.5}}, latency=[Latency(mean=1, p50=1, p90=1, p95=1, p99=1)],
                n_queries=[1], source=["Table 2"], **{name: [2.0] for name in amounts})  # fmt: skip
    assert heads(full) == [
        "P@1", "mean latency (ms)", "latency p95 (ms)", "throughput (queries/s)",
        "index in memory (MB)", "index on disk (MB)", "indexing time (s)", "energy per query (J)",
        "cost per million queries", "source",
    ]  # fmt: skip


def test_columns_in_any_spelling(three: Leaderboard) -> None:
    chosen = columns_of(three, columns=["cost", "MRR@10", "hardware", "latency"])
    assert [(each.heading, each.kind, each.descends) for each in chosen] == [
        ("cost per million queries (USD)", "number", False),
        ("RR@10", "number", True),
        ("hardware", "text", True),
        ("mean latency (ms)", "number", False),
    ]
    assert heads(three, columns="price_per_hour") == ["price (USD/h)"]
    assert heads(three, columns=iter(["flops"])) == ["FLOPs (FLOPs/query)"]
    board = make({"a": {"hardware": 0.5}}, hardware=[Hardware(n_cpu=4)])
    assert columns_of(board, columns=["hardware"])[0].kind == "number", "a measure called so"


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"columns": ["nope"]}, "'nope'"),
        ({"columns": ["latency", "latency_mean"]}, "latency_mean is given twice"),
        ({"columns": []}, "no column"),
        ({"columns": 3}, "not 3"),
        ({"frontier": ["RR@10", "flops"]}, "flops is missing"),
        ({"frontier": []}, "no axis"),
        ({"digits": -1}, "a whole number from 0 to 17"),
    ],
)
def test_options_that_cannot_be(
    options: Any, fact: str, three: Leaderboard, tmp_path: Path
) -> None:
    for form in PEOPLES.values():
        input_error(lambda form=form: form(three, path=tmp_path / "x", **options), fact)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "values", "shown"),
    [
        ("index_disk", [8, math.nextafter(8.0, 9), 9], ["**8**", "8", "9"]),
        ("index_disk", [8, 8, 9], ["**8**", "**8**", "9"]),
        ("index_disk", [8, None, 9], ["**8**", "–", "9"]),
        ("index_disk", [0, 1], ["**0**", "1"]),
        ("index_disk", [8, None, None], ["8", "–", "–"]),
        ("index_disk", [8], ["8"]),
        ("throughput", [2, 1], ["**2**", "1"]),
        *((name, [2, 1], ["2", "**1**"]) for name in ("flops", "price_per_hour", "cpu_used")),
    ],
)
def test_the_best_of_a_column_stands_out(name: str, values: list[Any], shown: list[str]) -> None:
    board = one_column(*values, name=name)
    assert [row[1] for row in cells(board, columns=[name])] == shown
    text = board.to_text(columns=[name])
    assert ("best of its column" in text) == ("**" in str(shown))


def test_the_frontier_is_marked(three: Leaderboard) -> None:
    axes = ["MRR@10", "cost"]
    assert [row[:2] for row in cells(three, frontier=axes)] == [
        ["●", "bm25"], ["●", "dense"], ["", "slow"],
    ]  # fmt: skip
    said = "on the Pareto frontier of RR@10 and cost per million queries, where no other system"
    for form in PEOPLES.values():
        assert said in " ".join(form(three, frontier=axes).split())
        assert "Pareto" not in form(three)
    assert r"$\bullet$ & bm25 &" in three.to_latex(frontier=axes)
    assert "\n     & slow &" in three.to_latex(frontier=axes)


# Intervals


def test_intervals_stand_behind_values_that_have_them(three: Leaderboard) -> None:
    columns = ["R@1000", "latency", "cost"]
    assert cells(three, columns=columns, intervals=True) == [
        ["bm25", "0.8750 [0.7500, 0.9375]", "8.25 [8, 8.5]", "**1.146** [1.111, 1.181]"],
        ["dense", "**0.9375**", "30.5", "271.1"],
        ["slow", "**0.9375**", "1,234", "10,970"],
    ]
    latex = three.to_latex(columns=columns, intervals=True, digits=2)
    assert r"0.88 & \ {\scriptsize {[}0.75, 0.94{]}}" in latex
    assert not any("[" in cell for row in cells(three) for cell in row)


def test_how_sure_intervals_are_is_told() -> None:
    latency = Latency(mean=2, intervals={"mean": (1, 3)}, level=0.01)
    board = make({"a": {"P@1": {"mean": 0.5, "low": 0.25, "high": 0.75}}}, latency=[latency])
    for level, columns, said in (
        (0.1, None, "99% and 90% intervals"), (0.1, ["P@1"], "90% intervals"),
        (0.1, ["latency"], "99% intervals"), (None, None, "bounds of intervals"),
        (None, ["latency"], "99% intervals"),
    ):  # fmt: skip
        told = legend(board._with(level=level), intervals=True, columns=columns)
        assert told == f"[low, high]: {said}."
    assert legend(board) == ""


# Goldens of forms for people


def test_text(three: Leaderboard) -> None:
    text = three.to_text(columns=["hardware", "RR@10", "R@1000", "latency"],
                         frontier=["RR@10", "latency"], intervals=True, width=120)  # fmt: skip
    expected = """\
3 systems. Times and rates are compared only within the same conditions (c6g, 4 CPU: bm25, dense; \
p4d: slow).

*: the best of its column; ●: on the Pareto frontier of RR@10 and mean latency of its conditions, \
where no other system is as good along every axis and better along one; [low, high]: 95% intervals.

   system  hardware      RR@10   R@1000                   mean latency (ms)
-  ------  ----------  -------  ------------------------  -----------------
●  bm25    c6g, 4 CPU   0.1875   0.8750 [0.7500, 0.9375]      8.25 [8, 8.5]
●  dense   c6g, 4 CPU  *0.3750  *0.9375                       30.5
●  slow    p4d          0.3125  *0.9375                      1,234

irbatch: 1.2.3 | relevant: >= 1
"""
    assert text == expected
    plain = three._with(settings={}).to_text()
    assert "\n\n*: the best of its column.\n\n" in plain
    assert plain.splitlines()[-1].startswith("slow ")
    bold = three.to_text(ansi=True, intervals=True)
    assert "\x1b[1m0.3750\x1b[0m" in bold
    assert "*" not in bold


# For programs


def test_csv_has_every_number(three: Leaderboard) -> None:
    text = three.to_csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert text.splitlines()[0].split(",") == [
        "system", "instance", "cpu", "n_cpu", "gpu", "n_gpu", "ram_gb", "RR@10",
        "R@1000", "R@1000 low", "R@1000 high",
        "latency_mean", "latency_mean low", "latency_mean high", "latency_p95",
        "index_disk", "price_per_hour",
        "cost_per_million", "cost_per_million low", "cost_per_million high",
        "batch_size", "repeat", "currency",
    ]  # fmt: skip
    assert [row["system"] for row in rows] == three.systems
    for axis in three.axes:
        found = [float(row[axis] or "nan") for row in rows]
        np.testing.assert_array_equal(found, three.values(axis))
    for axis in ("R@1000", "latency_mean", "cost_per_million"):
        found = [[float(row[f"{axis} {end}"] or "nan") for end in ("low", "high")] for row in rows]
        np.testing.assert_array_equal(found, three.bounds(axis))
    assert [row["instance"] for row in rows] == ["c6g", "c6g", "p4d"]
    assert [row["n_cpu"] for row in rows] == ["4", "4", ""]
    assert [row["batch_size"] for row in rows] == ["1"] * 3
    assert [row["repeat"] for row in rows] == ["1"] * 3
    assert rows[1]["index_disk"] == ""
    assert rows[0]["currency"] == "USD"
