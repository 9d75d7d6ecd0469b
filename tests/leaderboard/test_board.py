"""Leaderboards: frontiers against the plain twin, rows, captions, results, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracle import leaderboard as twin
from support.input_errors import input_error

import irbatch
from irbatch import compare
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, Load, LoadAtRate, measure_search
from irbatch.errors import InputWarning
from irbatch.evaluation.results import Results
from irbatch.leaderboard import Leaderboard


@pytest.mark.parametrize("seed", range(40))
def test_frontiers_are_the_twins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems, axes = rng.integers(1, 9), rng.integers(1, 5)
    table = rng.integers(-3, 4, (systems, axes)).astype(float)  # many ties and equal rows
    check_frontier(table.tolist(), rng.choice([1, -1], axes).tolist())


def check_frontier(table: list[list[float]], signs: list[int]) -> None:
    systems = [f"s{i}" for i in range(len(table))]
    axes = [f"{'P' if sign > 0 else 'FirstRank'}@{k}" for k, sign in enumerate(signs, 1)]
    board = Leaderboard(
        {name: dict(zip(axes, row, strict=True)) for name, row in zip(systems, table, strict=True)},
        [EfficiencyRecord(system=name) for name in systems],
    )
    expected = twin.dominators(table, signs)
    found = board.pareto(axes)
    named = dict(zip(systems, expected, strict=True))
    assert (found.axes, found.frontier) == (axes, [name for name, by in named.items() if not by])
    assert found.dominated_by == {
        name: [systems[i] for i in by] for name, by in named.items() if by
    }


# ---------------------------------------------------------------- rows


def timed(system: str, mean: float | None, **more: Any) -> EfficiencyRecord:
    latency = None if mean is None else Latency(mean=mean, intervals={"mean": (mean / 2, 2 * mean)})
    return EfficiencyRecord(system=system, latency=latency, **more)


def systems() -> Leaderboard:
    accuracy = {
        "bm25": {"RR@10": 0.18, "nDCG@10": 0.3},
        "dense": {"RR@10": {"mean": 0.33, "low": 0.31, "high": 0.36}, "nDCG@10": 0.4},
        "rerank": {"RR@10": 0.36, "nDCG@10": 0.4},
    }
    records = [
        timed("rerank", 200, throughput=20, price_per_hour=3.6, currency="USD"),
        timed("bm25", 8, throughput=900, price_per_hour=0.36, currency="USD"),
        timed("dense", None, throughput=400),
    ]
    return Leaderboard(accuracy, records, level=0.1)


def test_values_and_bounds() -> None:
    board = systems()
    np.testing.assert_array_equal(board.values("RR@10"), [0.36, 0.18, 0.33])
    np.testing.assert_array_equal(board.values("latency"), [200, 8, np.nan])
    np.testing.assert_allclose(board.values("cost"), [200, 0.8, np.nan])
    np.testing.assert_array_equal(board.values("index_disk"), [np.nan] * 3)
    np.testing.assert_array_equal(
        board.bounds("RR@10"), [[np.nan, np.nan], [np.nan, np.nan], [0.31, 0.36]]
    )
    np.testing.assert_array_equal(board.bounds("latency"), [[100, 400], [4, 16], [np.nan, np.nan]])
    np.testing.assert_allclose(board.bounds("cost")[:2], [[100, 400], [0.4, 1.6]])
    assert board.axes == [
        "RR@10", "nDCG@10", "latency_mean", "throughput", "price_per_hour", "cost_per_million",
    ]  # fmt: skip
    for found in board.values("RR@10"), board.bounds("RR@10"):
        found[:] = 7
    np.testing.assert_array_equal(board.values("RR@10"), [0.36, 0.18, 0.33])


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("RR@10", "RR@10"), ("MRR@10", "RR@10"), ("mrr@10", "RR@10"), ("recip_rank@10", "RR@10"),
        ("ndcg_cut_10", "nDCG@10"), ("NDCG@10", "nDCG@10"), ("latency", "latency_mean"),
        ("qps", "throughput"), ("memory", "peak_memory"), ("cost", "cost_per_million"),
        ("flops", "flops"),
    ],
)  # fmt: skip
def test_axes_by_any_name(name: str, axis: str) -> None:
    assert systems().axis(name).name == axis


def test_which_way_is_better() -> None:
    board = systems()
    assert [board.axis(name).better for name in ("RR@10", "qps", "latency", "cost")] == [
        "higher", "higher", "lower", "lower",
    ]  # fmt: skip
    assert board.axis("cost").unit == "USD"
    assert board.axis("price_per_hour").unit == "USD/h"
    values = {"a": {"FirstRank": 1, "RMSE": 1}, "b": {"FirstRank": 2, "RMSE": 2}}
    turned = Leaderboard(values, [timed("a", 1), timed("b", 2)])
    assert turned.axis("FirstRank").better == "lower"
    assert turned.pareto(["FirstRank"]).frontier == ["a"]
    assert turned.axis("RMSE").better == "higher", "irbatch doesn't know it"


def test_sorted() -> None:
    board = systems()
    before = board.systems.copy()
    assert board.sorted("RR@10").systems == ["rerank", "dense", "bm25"]
    assert board.sorted("latency").systems == ["bm25", "rerank", "dense"], "unknown last"
    assert board.sorted("nDCG@10").systems == ["rerank", "dense", "bm25"], "ties as they stood"
    assert board.sorted("nDCG@10").sorted("RR@10").values("RR@10").tolist() == [0.36, 0.33, 0.18]
    assert [each.system for each in board.sorted("RR@10").records] == ["rerank", "dense", "bm25"]
    assert board.systems == before


def test_where() -> None:
    board = systems()
    left = board.where("MRR@10 >= 0.33", "qps>20")
    assert left.systems == ["dense"]
    assert left.constraints == ["MRR@10 >= 0.33", "qps>20"]
    assert left.left_out == {"bm25": ["MRR@10 >= 0.33"], "rerank": ["qps>20"]}
    assert left.values("nDCG@10").tolist() == [0.4]
    assert (board.systems, board.constraints, board.left_out) == (
        ["rerank", "bm25", "dense"], [], {},
    )  # fmt: skip
    both = board.where("RR@10 > 0.2").where("nDCG@10 == .4", "throughput != 4e2")
    assert both.systems == ["rerank"]
    assert both.left_out == {"bm25": ["RR@10 > 0.2"], "dense": ["throughput != 4e2"]}
    assert board.where().systems == board.systems
    nobody = board.where("RR@10 > 0.9")
    assert len(nobody) == 0
    assert nobody.sorted("RR@10").systems == []
    assert nobody.values("latency").tolist() == []
    assert nobody.bounds("RR@10").shape == (0, 2)
    assert set(nobody.left_out) == set(board.systems)
    assert nobody.to_text().startswith("0 systems")


def test_where_leaves_out_systems_without_a_value() -> None:
    board = systems()  # dense has no latency
    left = board.where("latency < 999", "RR@10 > 0.2")
    assert left.systems == ["rerank"]
    assert left.left_out == {"dense": ["latency_mean is missing"], "bm25": ["RR@10 > 0.2"]}
    assert "Left out by them: dense (latency_mean is missing), bm25." in left.to_text()
    again = Leaderboard.from_json(left.to_json())
    assert (again.left_out, again.to_text()) == (left.left_out, left.to_text())
    input_error(lambda: board.where("flops < 5"), "'rerank'", "flops is missing")


def test_the_frontier_is_of_systems_with_values() -> None:
    board = systems()
    found = board.pareto(["RR@10", "latency"])
    assert found.left_out == {"dense": ["latency_mean"]}
    assert "dense" not in [*found.frontier, *found.dominated_by]
    others = board.at([0, 1]).pareto(["RR@10", "latency"])
    assert (found.frontier, found.dominated_by) == (others.frontier, others.dominated_by)
    assert others.left_out == {}
    said = board.to_text(frontier=["RR@10", "latency"])
    assert "not compared: dense (without mean latency)" in " ".join(said.split())


def captioned(counts: Sequence[int | None], *records: EfficiencyRecord, where: str = "") -> str:
    board = Leaderboard({each.system: {"RR": 0.5} for each in records}, records)
    rows = zip(board.rows, counts or [None] * len(board), strict=True)
    board = board._with(rows=[replace(row, queries=count) for row, count in rows])
    return (board.where(where) if where else board)._document("text").caption


def called(system: str, **more: Any) -> EfficiencyRecord:
    return EfficiencyRecord(system=system, latency=Latency(mean=ord(system), calls=5), **more)


TWO = Hardware(n_cpu=2)


@pytest.mark.parametrize(
    ("counts", "records", "where", "said"),
    [
        ([5, 5], [timed("a", None), timed("b", None)], "", "2 systems, 5 queries."),
        ([7, 5], [timed("a", None), timed("b", None)], "", "2 systems, 5 to 7 queries."),
        ([5, None], [timed("a", None), timed("b", None)], "", "2 systems."),
        ([], [called("a"), called("b")], "", "2 systems."),
        ([], [called("a", batch_size=8), called("b")], "",
         "2 systems. Times and rates are compared only within the "
         "same conditions (a machine unsaid, calls of 8 queries: a; a machine unsaid: b)."),
        ([], [called("a", batch_size=8), called("b", batch_size=8)], "",
         "2 systems. Measured on a machine unsaid, calls of 8 queries."),
        ([], [timed("a", 1, hardware=TWO), timed("b", 2, hardware=TWO)], "",
         "2 systems. Measured on 2 CPU."),
        ([], [timed("a", None, hardware=TWO), timed("b", None)], "",
         "2 systems."),
        ([], [timed("a", 1, hardware=TWO), timed("b", 2, hardware="c6g")], "",
         "2 systems. Times and rates are compared only within the same conditions "
         "(2 CPU: a; c6g: b)."),
        ([], [called("a", hardware=TWO), called("b", hardware=TWO)], "latency < 98",
         "1 system. Measured on 2 CPU. "
         "Constraints: latency < 98. Left out by them: b."),
    ],
)  # fmt: skip
def test_captions(
    counts: list[int | None], records: list[EfficiencyRecord], where: str, said: str
) -> None:
    assert captioned(counts, *records, where=where) == said


# ---------------------------------------------------------------- results


QRELS = {f"q{i}": {f"d{i % 7}": 1, f"d{i % 5 + 7}": i % 3} for i in range(40)}
RANDOM = np.random.default_rng(3)
RUNS = {
    name: {query: {f"d{j}": float(RANDOM.random() + help * (QRELS[query].get(f"d{j}", 0) > 0))
                   for j in range(12)} for query in QRELS}
    for name, help in (("bm25", 0.1), ("dense", 0.4))
}  # fmt: skip
MEASURES = ["RR@10", "nDCG@10", "gm_map"]


def test_means_and_intervals_are_those_of_compare() -> None:
    results = irbatch.evaluate_runs(QRELS, RUNS, MEASURES)
    records = [timed("dense", 20), timed("bm25", 2)]
    board = Leaderboard(results, records, level=0.1)
    found = irbatch.compare(results, level=0.1, interval="t")
    for i, system in enumerate(board.systems):
        j = found.systems.index(system)
        for k, name in enumerate(board.measures):
            assert name == found.measures[k]
            assert board.values(name)[i] == results[system][name]
            assert board.values(name)[i] == pytest.approx(found.means[j, k], rel=1e-14)
            np.testing.assert_allclose(board.bounds(name)[i], found.intervals[j, k], rtol=1e-13)
    assert [row.queries for row in board.rows] == [40, 40]
    assert board.settings == results["bm25"].settings
    assert board.to_text().startswith("2 systems, 40 queries.\n")
    assert board.level == 0.1
    listed = Leaderboard(list(results.values()), records, level=0.1)
    np.testing.assert_array_equal(listed.bounds("RR@10"), board.bounds("RR@10"))


# ---------------------------------------------------------------- what is compared with what


def test_a_board_has_one_currency() -> None:
    means = {"a": {"RR": 0.1}, "b": {"RR": 0.2}, "c": {"RR": 0.3}}
    priced = timed("a", 1, currency="USD", price_per_hour=2, throughput=9)
    free = timed("c", 3, currency="JPY")  # of nothing
    board = Leaderboard(means, [priced, timed("b", 2, currency="USD", price_per_hour=3), free])
    assert [board.axis(axis).unit for axis in ("cost", "price_per_hour")] == ["USD", "USD/h"]
    for currency, said in (("EUR", "EUR"), (None, "not said")):
        other = timed("b", 2, currency=currency, price_per_hour=3)
        input_error(lambda other=other: Leaderboard(means, [priced, other, free]),
                    f"record of 'a': currency is USD, and that of 'b' {said}")  # fmt: skip
    on_two = Leaderboard(means, [timed(name, 1, hardware=name) for name in "abc"])
    assert on_two.priced({"a": 1, "b": 2}, "EUR").axis("cost").unit == "EUR"
    input_error(lambda: on_two.priced({"a": 1}, "EUR").priced({"b": 2}), "currency is EUR")


def test_measures_are_those_that_some_system_has() -> None:
    records = [timed("a", 1), timed("b", 2)]
    with pytest.warns(InputWarning, match="record of 'a': AP missing, shown as –"):
        board = Leaderboard({"a": {"RR": 0.5}, "b": {"RR": 0.4, "AP": 0.1}}, records)
    assert board.values("AP").tolist() == [pytest.approx(np.nan, nan_ok=True), 0.1]
    assert board.to_markdown().splitlines()[2].startswith("| a | **0.5000** | – |")
    assert board.sorted("AP").systems == [*board.where("AP > 0").systems, "a"] == ["b", "a"]
    assert board.pareto(["RR", "AP"]).left_out == {"a": ["AP"]}
    assert board.failures("AP < 0.05") == ["a: AP is missing"]
    with pytest.warns(InputWarning, match="AP missing"):
        again = Leaderboard.from_json(board.to_json())
    assert np.array_equal(again.values("AP"), board.values("AP"), equal_nan=True)
    assert board.to_csv().splitlines()[1].startswith("a,,,,,,,0.5,,")
    input_error(lambda: Leaderboard({"a": {"RR": 0.5}, "b": {"AP": 0.1}}, records, measures="RR"),
                "record of 'b': RR is missing")  # fmt: skip
    chosen = Leaderboard({"a": {"RR": 0.5}, "b": {"MRR": 0.4, "AP": 0.1}}, records, measures="RR")
    assert (chosen.measures, chosen.values("RR").tolist()) == (["RR"], [0.5, 0.4])


def test_records_may_be_measurements() -> None:
    measured = measure_search(RUNS["bm25"].__getitem__, list(QRELS), system="bm25")
    other = timed("dense", 2)
    accuracy = {"bm25": {"RR": 0.1}, "dense": {"RR": 0.2}}
    assert Leaderboard(accuracy, [measured, other]).records == [measured.record, other]
    assert Leaderboard({"bm25": {"RR": 0.1}}, measured).records == [measured.record]
    input_error(lambda: Leaderboard({"bm25": {"RR": 0.1}}, [measured, measured]), "two records")


# ---------------------------------------------------------------- conditions of times and rates


CLOSED = Latency(mean=2, p95=3, calls=100, loop="closed")
OPEN = Latency(mean=40, p95=90, calls=100, loop="open", rate=50, arrivals="poisson", errors=0)
FASTER = Latency(mean=60, p95=95, calls=100, loop="open", rate=80)
UNSAID = Latency(mean=5, p95=9, calls=100)


def made(*fields: dict[str, Any]) -> Leaderboard:
    """Put s0, s1, … on a leaderboard, each more accurate than the last."""
    records = [EfficiencyRecord(system=f"s{i}", **each) for i, each in enumerate(fields)]
    accuracy = {each.system: {"RR": 0.5 + i / 10} for i, each in enumerate(records)}
    return Leaderboard(accuracy, records)


def of_latency(ms: float, **more: Any) -> dict[str, Any]:
    return {"latency": Latency(mean=ms), "price_per_hour": 1, **more}


@pytest.mark.parametrize(
    ("latencies", "said"),
    [
        ([OPEN, None], "Measured on a machine unsaid, an open loop at 50 queries/s."),
        ([UNSAID, CLOSED], ""),
        ([CLOSED, OPEN], "unsaid: s0; a machine unsaid, an open loop at 50 que"),
        ([OPEN, FASTER], "an open loop at 80 queries/s: s1)"),
    ],
)
def test_loops_are_told(latencies: list[Latency | None], said: str) -> None:
    board = made(*({"latency": each} for each in latencies))
    text = " ".join(board.to_text().split())
    assert "mean latency (ms)" in text
    assert said in text
    assert ("compared only within" in text) == ("unsaid: s0;" in said or "80" in said)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"hardware": "small"}, {"hardware": "large"}),
        ({"hardware": "small"}, {}),
        ({}, {"batch_size": 8}),
        ({"latency": CLOSED}, {"latency": OPEN}),
        ({"latency": OPEN}, {"latency": FASTER}),
    ],
)
def test_under_other_conditions_none_is_better(one: dict[str, Any], other: dict[str, Any]) -> None:
    board = made({**of_latency(9), **one}, {**of_latency(5), **other}, {**of_latency(4), **other})
    found = board.pareto(["RR", "latency"])
    assert (found.frontier, found.dominated_by) == (["s0", "s2"], {"s1": ["s2"]})
    assert found.conditions.keys() == {"s0", "s1", "s2"}
    latency, accuracy = (
        [board._document("text", columns=[axis]).parts[0].rows[i][1].stands_out  # type: ignore[union-attr]
         for i in range(3)] for axis in ("latency", "RR")
    )  # fmt: skip
    assert not any(latency)
    assert any(accuracy)
    assert "latency of its conditions" in board.to_text(frontier=["RR", "latency"], width=900)
    assert board.failures("dominated on RR, latency") == [
        "s1: dominated on RR and latency_mean by s2"
    ]
    assert board.pareto(["RR"]).conditions == {}, "it is no time"


def test_each_of_the_conditions_has_a_frontier_in_the_picture() -> None:
    pytest.importorskip("matplotlib")
    board = made(of_latency(9, hardware="small"), of_latency(5, hardware="large"),
                 of_latency(4, hardware="large"))  # fmt: skip
    ax = board.plot("latency")
    lines = [line for line in ax.lines if len(line.get_xdata()) > 1]
    assert len({line.get_color() for line in lines}) == len(lines) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["small", "large"]
    assert ax.get_title(loc="left") == "lines: a Pareto frontier each; grey: dominated"
    assert not board.plot("cost").get_legend()


def test_the_rate_of_queries_is_an_axis() -> None:
    same = made({"latency": OPEN}, {"latency": FASTER})
    assert same.sorted("latency_rate").systems == ["s1", "s0"], "more is better"
    assert same.pareto(["latency_rate"]).frontier == ["s1"]
    assert "rate (queries/s)" in same.to_text()


def test_a_load_stands_on_a_leaderboard() -> None:
    latency = Latency(p99=30, loop="open", rate=50)
    rates = [LoadAtRate(rate=50, achieved=50, latency=latency)]
    load = Load(about=EfficiencyRecord(system="a"), rates=rates, within=40)
    for given in (load, [load]):
        board = Leaderboard({"a": {"RR": 0.5}}, given)
        assert board.values("latency_p99").tolist() == [30]
        assert board.values("latency_rate").tolist() == [50]


def on_machines() -> Leaderboard:
    """A system on two machines, and another on one of them."""
    runs = {"dense": {"q1": {"d": 1.0}, "q2": {"d": 1.0}}, "bm25": {"q1": {"d": 1.0}}}
    results = irbatch.evaluate_runs({f"q{i}": {"d": 1} for i in (1, 2, 3)}, runs, "RR")
    records = [
        timed("dense", 40, hardware="small"), timed("dense", 10, hardware="large"),
        timed("bm25", 20, hardware="small"),
    ]  # fmt: skip
    return Leaderboard(results, records).priced({"small": 0.1, "large": 0.5})


def test_rows_of_a_system_are_told_apart_and_share_accuracy() -> None:
    board = on_machines()
    assert board.systems == ["dense on small", "dense on large", "bm25"]
    assert board.values("RR").tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    np.testing.assert_array_equal(board.bounds("RR")[0], board.bounds("RR")[1])
    assert [each.system for each in board.records] == ["dense", "dense", "bm25"]
    costs = [price * ms / 3600 / 1000 * 1e6 for price, ms in ((0.1, 40), (0.5, 10), (0.1, 20))]
    assert board.values("cost").tolist() == pytest.approx(costs)
    assert board.to_text().startswith("2 systems on 3 machines, 3 queries.")
    assert board.pareto(["RR", "latency"]).dominated_by == {}
    assert board.pareto(["RR", "cost"]).dominated_by == {"dense on large": ["dense on small"]}


def test_results_may_be_of_rows() -> None:
    records = [timed("dense", ms, hardware=where) for ms, where in ((40, "small"), (10, "large"))]
    board = Leaderboard({"dense on small": {"RR": 0.5}, "dense": {"RR": 0.25}}, records)
    assert board.values("RR").tolist() == [0.5, 0.25]


def test_rows_are_written_and_read_back() -> None:
    board = on_machines()
    again = Leaderboard.from_json(board.to_json())
    assert (again.systems, again.records) == (board.systems, board.records)
    np.testing.assert_array_equal(again.values("RR"), board.values("RR"))
    assert [row.queries for row in again.rows] == [3, 3, 3]


# ---------------------------------------------------------------- significance


QUERIES = [f"q{i:02}" for i in range(16)]
LATENCIES = {"best": 30.0, "near": 20.0, "far": 10.0}


def results_of(values: dict[str, list[float]], queries: list[str] = QUERIES) -> dict[str, Results]:
    """Results of a measure whose value is 1 / the rank of the relevant document."""
    qrels = {query: {"d": 1} for query in queries}
    runs = {}
    for system, column in values.items():
        runs[system] = {
            query: {"d": 1.0, **{f"x{i}": 2.0 for i in range(round(1 / value) - 1)}}
            for query, value in zip(queries, column, strict=True)
        }
    return irbatch.evaluate_runs(qrels, runs, "RR P@1")


VALUES = {
    "best": [1.0] * 14 + [0.5] * 2,
    "near": [1.0] * 13 + [0.5] * 3,
    "far": [0.25] * 15 + [1.0],
}


def evaluated(**more: Any) -> Leaderboard:
    records = [
        EfficiencyRecord(system=name, latency=Latency(mean=ms)) for name, ms in LATENCIES.items()
    ]
    return Leaderboard(results_of(VALUES), records, **more)


def test_systems_are_tested_as_compare_does() -> None:
    found = evaluated().tested().significance
    compared = compare(results_of(VALUES))
    assert found is not None
    assert found.best == {"RR": "best", "P@1": "best"}
    assert found.p_values["RR"] == {
        "best": 1.0,
        "near": compared.difference("near", "best", "RR").corrected,
        "far": compared.difference("far", "best", "RR").corrected,
    }
    assert found.not_worse("RR") == ["best", "near"]
    assert found.queries == 16


def test_tables_mark_what_is_as_good() -> None:
    board = evaluated().tested()
    report = board._document("text")
    cells = {row[0].text: row[1] for row in report.parts[0].rows}
    assert [cells[each].marks for each in LATENCIES] == [[], ["ns"], []]
    assert cells["best"].stands_out
    assert dict(report.legend)["ns"] == (
        "not significantly worse than the best of the measure (paired randomisation test, "
        "Holm correction over all pairs, 16 queries, level 0.05)"
    )
    assert "ns" not in dict(evaluated()._document("text").legend), "nothing was tested"
    assert r"\textsuperscript{ns}" in board.to_latex()
    rows = board.to_csv().splitlines()
    assert "RR p against the best" in rows[0]


def test_systems_without_values_of_queries_are_not_tested() -> None:
    records = [EfficiencyRecord(system=name) for name in (*LATENCIES, "typed")]
    results = {**results_of(VALUES), "typed": {"RR": 0.99, "P@1": 0.5}}
    board = Leaderboard(results, records).tested()
    assert board.significance is not None
    assert board.significance.best["RR"] == "best"
    assert "not tested: typed" in dict(board._document("text").legend)["ns"]
    typed = board.at([3, 0])
    assert typed.significance is None, "it was of all systems together"
    input_error(typed.tested, "values of queries are known of fewer than two systems")


def test_systems_of_different_queries_are_not_tested() -> None:
    first, other = results_of(VALUES), results_of({"near": VALUES["near"][:4]}, QUERIES[:4])
    records = [EfficiencyRecord(system=name) for name in LATENCIES]
    with pytest.warns(irbatch.InputWarning, match="different queries"):
        board = Leaderboard({**first, **other}, records)
    said = "'best' and 'near' were evaluated on different queries (16 queries and 4)"
    input_error(board.tested, said)


OF_TWO = {name: VALUES[name] for name in ("near", "best")}


def on_two_machines() -> Leaderboard:
    records = [EfficiencyRecord(system=name, hardware=Hardware(instance=where), flops=1)
               for name, where in (("near", "a"), ("near", "b"), ("best", "a"))]  # fmt: skip
    return Leaderboard(results_of(OF_TWO), records)


def test_one_system_on_two_machines_is_tested_once() -> None:
    board = on_two_machines().tested()
    assert board.significance is not None
    p = compare(results_of(OF_TWO)).difference("near", "best", "RR").corrected
    assert board.significance.p_values["RR"] == {"near on a": p, "near on b": p, "best": 1.0}


# Both in JSON.


def test_findings_are_written_and_read_back() -> None:
    board = evaluated().tested()
    again = Leaderboard.from_json(board.to_json())
    assert again.significance == board.significance
    assert again.to_text() == board.to_text()
    one = on_two_machines().at([1, 2]).tested()
    assert Leaderboard.from_json(one.to_json()).to_text() == one.to_text()
    some = Leaderboard.from_json(board.to_json(), measures="P@1")
    assert "RR p against" not in some.to_csv()
