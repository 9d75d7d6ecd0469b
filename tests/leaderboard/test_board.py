"""Leaderboards against the plain twin: frontiers, scores, sweeps, and rows."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle import leaderboard as twin
from support.input_errors import input_error

import irbatch
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, measure_search
from irbatch.errors import InputWarning
from irbatch.leaderboard import Leaderboard


class Case(NamedTuple):
    """A table of systems whose axes are ``a``, ``b``, …, some of which are better when lower."""

    table: list[list[float]]
    signs: list[int]

    @property
    def axes(self) -> list[str]:
        return ["abcdef"[k] for k in range(len(self.signs))]

    @property
    def systems(self) -> list[str]:
        return [f"s{i:02}" for i in range(len(self.table))]

    @property
    def exact(self) -> list[list[Fraction]]:
        return twin.fractions(self.table)

    @property
    def board(self) -> Leaderboard:
        return make(self)

    def weighing(self, weights: Sequence[float]) -> dict[str, float]:
        return dict(zip(self.axes, weights, strict=False))


def make(case: Case, order: Sequence[int] | None = None) -> Leaderboard:
    """A leaderboard whose axes are all measures, its rows in some order."""
    rows = dict(zip(case.systems, case.table, strict=True))
    names = [case.systems[i] for i in order or range(len(rows))]
    return Leaderboard(
        {name: dict(zip(case.axes, rows[name], strict=True)) for name in names},
        [EfficiencyRecord(system=name) for name in names],
        directions={axis: "lower" for axis, sign in zip(case.axes, case.signs, strict=True)
                    if sign < 0},
    )  # fmt: skip


def tables(values: st.SearchStrategy[float]) -> st.SearchStrategy[Case]:
    """Tables of 1 to 8 systems and 1 to 4 axes."""

    def of_width(axes: int) -> st.SearchStrategy[Case]:
        row = st.lists(values, min_size=axes, max_size=axes)
        rows = st.lists(row, min_size=1, max_size=8)
        return st.builds(Case, rows, st.lists(st.sampled_from([1, -1]), min_size=axes,
                                              max_size=axes))  # fmt: skip

    return st.integers(1, 4).flatmap(of_width)


FEW = tables(st.integers(-3, 3).map(float))  # many ties, equal rows and constant columns
GRID = tables(st.integers(-4096, 4096).map(lambda number: number / 64))
ANY = tables(st.floats(-1e300, 1e300))
POSITIVE = tables(st.integers(1, 4096).map(lambda number: number / 64))
WEIGHTS = st.lists(st.integers(0, 5), min_size=4, max_size=4)
ABOVE_0 = st.lists(st.integers(1, 10), min_size=4, max_size=4)

ONE = Case([[0.5, 3.0]], [1, -1])
EQUAL = Case([[0.5, 3.0], [0.5, 3.0], [0.5, 4.0]], [1, -1])
CONSTANT = Case([[0.1, 2.0], [0.2, 2.0], [0.3, 2.0]], [1, -1])
EXTREME = Case([[5e-324, 1e300], [0.0, -1e300], [1e-300, 1e300]], [1, 1])


# ---------------------------------------------------------------- Pareto


@settings(deadline=None)
@given(FEW | GRID | ANY)
@example(ONE)
@example(EQUAL)
@example(CONSTANT)
@example(EXTREME)
def test_frontier(case: Case) -> None:
    expected = twin.dominators(case.exact, case.signs)
    found = case.board.pareto(case.axes)
    assert found.axes == case.axes
    assert found.frontier == [s for s, by in zip(case.systems, expected, strict=True) if not by]
    assert found.frontier, "there is always one"
    assert found.dominated_by == {
        system: [case.systems[i] for i in by]
        for system, by in zip(case.systems, expected, strict=True)
        if by
    }
    for others in found.dominated_by.values():
        assert set(others) & set(found.frontier), "one of the frontier dominates it"


@settings(deadline=None)
@given(FEW, st.data())
def test_order_of_rows_says_nothing(case: Case, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(case.table))))
    one, other = make(case), make(case, order)
    assert set(one.pareto(case.axes).frontier) == set(other.pareto(case.axes).frontier)
    by, turned = one.pareto(case.axes).dominated_by, other.pareto(case.axes).dominated_by
    assert {s: set(each) for s, each in by.items()} == {s: set(each) for s, each in turned.items()}


@settings(deadline=None)
@given(FEW | GRID)
def test_directions_are_signs(case: Case) -> None:
    negated = [[v * s for v, s in zip(row, case.signs, strict=True)] for row in case.table]
    plain = make(Case(negated, [1] * len(case.signs)))
    assert case.board.pareto(case.axes) == plain.pareto(case.axes)
    turned = {axis: "higher" if sign > 0 else "lower"
              for axis, sign in zip(case.axes, case.signs, strict=True)}  # fmt: skip
    board = make(Case(case.table, [1] * len(case.signs)))
    assert board.pareto(case.axes, directions=turned) == plain.pareto(case.axes)


# ---------------------------------------------------------------- Dynascore


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
    return Leaderboard(accuracy, records, level=0.1, draws=0)


def test_rows_stand_as_the_records_do() -> None:
    board = systems()
    assert board.systems == ["rerank", "bm25", "dense"]
    assert [each.system for each in board.records] == board.systems
    assert board.measures == ["RR@10", "nDCG@10"]
    assert board.means.tolist() == [[0.36, 0.4], [0.18, 0.3], [0.33, 0.4]]
    assert board.n_queries == [None, None, None]
    assert board.settings == {}
    assert len(board) == 3
    assert board.currency == "USD"
    mapped = {each.system: each for each in board.records}
    accuracy = {system: {"P@1": 0} for system in sorted(board.systems)}
    assert Leaderboard(accuracy, mapped).systems == board.systems


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
        "throughput_cost_per_million",
    ]  # fmt: skip
    for found in board.values("RR@10"), board.bounds("RR@10"):
        found[:] = 7
    np.testing.assert_array_equal(board.values("RR@10"), [0.36, 0.18, 0.33])
    assert np.nanmax(board.intervals) == 0.36


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
    turned = Leaderboard({"a": {"RMSE": 1}, "b": {"RMSE": 2}}, [timed("a", 1), timed("b", 2)],
                         directions={"RMSE": "lower", "latency": "higher"})  # fmt: skip
    assert turned.directions == {"RMSE": "lower", "latency_mean": "higher"}
    assert turned.axis("RMSE").better == "lower"
    assert turned.pareto(["RMSE"]).frontier == ["a"]
    assert turned.pareto(["latency_mean"]).frontier == ["b"]
    assert turned.pareto(["latency"], directions={"latency_mean": "lower"}).frontier == ["a"]
    assert turned.sorted("latency").systems == ["b", "a"]


def test_systems_may_spell_measures_otherwise() -> None:
    accuracy = {"a": {"nDCG@10": 0.5, "mine": 1}, "b": {"mine": 2, "ndcg_cut_10": 0.4}}
    board = Leaderboard(accuracy, [timed("a", 1), timed("b", 2)])
    assert board.measures == ["nDCG@10", "mine"]
    assert board.means.tolist() == [[0.5, 1], [0.4, 2]]


def test_sorted() -> None:
    board = systems()
    before = board.systems.copy()
    assert board.sorted("RR@10").systems == ["rerank", "dense", "bm25"]
    assert board.sorted("RR@10", best_first=False).systems == ["bm25", "dense", "rerank"]
    assert board.sorted("latency").systems == ["bm25", "rerank", "dense"], "unknown last"
    assert board.sorted("latency", best_first=False).systems == ["rerank", "bm25", "dense"]
    assert board.sorted("nDCG@10").systems == ["rerank", "dense", "bm25"], "ties as they stood"
    assert board.sorted("nDCG@10").sorted("RR@10").means[:, 0].tolist() == [0.36, 0.33, 0.18]
    assert [each.system for each in board.sorted("RR@10").records] == ["rerank", "dense", "bm25"]
    assert np.isnan(board.sorted("RR@10").intervals[0]).all()
    assert board.systems == before


@settings(deadline=None)
@given(FEW)
def test_sorted_is_stable_and_best_first(case: Case) -> None:
    for axis, sign in zip(case.axes, case.signs, strict=True):
        column = dict(zip(case.systems, case.board.values(axis).tolist(), strict=True))
        expected = sorted(case.systems, key=lambda each: -sign * column[each])
        assert case.board.sorted(axis).systems == expected
        reverse = sorted(case.systems, key=lambda each: sign * column[each])
        assert case.board.sorted(axis, best_first=False).systems == reverse


def test_where() -> None:
    board = systems()
    left = board.where("MRR@10 >= 0.33", "qps>20")
    assert left.systems == ["dense"]
    assert left.constraints == ["RR@10 >= 0.33", "throughput > 20"]
    assert left.left_out == {"bm25": ["RR@10 >= 0.33"], "rerank": ["throughput > 20"]}
    assert left.means.tolist() == [[0.33, 0.4]]
    assert (board.systems, board.constraints, board.left_out) == (
        ["rerank", "bm25", "dense"], [], {},
    )  # fmt: skip
    both = board.where("RR@10 > 0.2").where("nDCG@10 == .4", "throughput != 4e2")
    assert both.systems == ["rerank"]
    assert both.left_out == {"bm25": ["RR@10 > 0.2"], "dense": ["throughput != 400"]}
    assert board.where().systems == board.systems
    nobody = board.where("RR@10 > 1")
    assert len(nobody) == 0
    assert nobody.sorted("RR@10").systems == []
    assert nobody.values("latency").tolist() == []
    assert nobody.bounds("RR@10").shape == (0, 2)
    assert set(nobody.left_out) == set(board.systems)
    assert nobody.caption().startswith("0 systems")


def test_where_leaves_out_systems_without_a_value() -> None:
    board = systems()  # dense has no latency
    left = board.where("latency > 0", "RR@10 > 0.2")
    assert left.systems == ["rerank"]
    assert left.left_out == {"dense": ["latency_mean is missing"], "bm25": ["RR@10 > 0.2"]}
    assert left.caption().endswith("Left out by them: dense (latency_mean is missing), bm25.")
    again = Leaderboard.from_json(left.to_json())
    assert (again.left_out, again.caption()) == (left.left_out, left.caption())
    input_error(lambda: board.where("flops < 5"), "'rerank'", "flops is missing",
                "as for 2 other systems")  # fmt: skip


def test_the_frontier_is_of_systems_with_values() -> None:
    board = systems()
    found = board.pareto(["RR@10", "latency"])
    assert found.left_out == {"dense": ["latency_mean"]}
    assert "dense" not in [*found.frontier, *found.dominated_by]
    others = board.select("rerank", "bm25").pareto(["RR@10", "latency"])
    assert (found.frontier, found.dominated_by) == (others.frontier, others.dominated_by)
    assert others.left_out == {}
    assert str(found) == f"{others}\n  dense is left out, without latency_mean"
    said = board.to_text(frontier=["RR@10", "latency"])
    assert "not compared: dense (without mean latency)" in " ".join(said.split())
    faint = [
        row.faint for row in board._document("text", frontier=["RR@10", "latency"]).parts[0].rows
    ]
    assert faint == [system in found.dominated_by for system in board.systems]


def test_calls_of_other_sizes_of_systems_without_a_value_are_none() -> None:
    records = [timed("a", 1), timed("b", 2), EfficiencyRecord(system="c", batch_size=8)]
    board = Leaderboard({each.system: {"RR": 0.5} for each in records}, records)
    assert board.pareto(["RR", "latency"]).frontier == ["a"]


@pytest.mark.parametrize("limit", ["50.123456789", "1234567", "0.30000000000000004", "1e-7"])
def test_constraints_are_told_as_they_were_meant(limit: str) -> None:
    (said,) = systems().where(f"throughput > {limit}").constraints
    assert float(said.removeprefix("throughput > ")) == float(limit)


@settings(deadline=None)
@given(FEW, st.integers(-3, 3), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_where_keeps_those_that_meet_it(case: Case, limit: int, operator: str) -> None:
    meets = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__", "==": "__eq__",
             "!=": "__ne__"}[operator]  # fmt: skip
    expected = [s for s, row in zip(case.systems, case.table, strict=True)
                if getattr(row[0], meets)(float(limit))]  # fmt: skip
    found = case.board.where(f"a {operator} {limit}")
    assert found.systems == expected
    assert set(found.left_out) == set(case.systems) - set(expected)


def test_caption() -> None:
    assert systems().caption() == "3 systems.", "nobody knows of what calls"
    accuracy = {"a": {"RR": 0.1}, "b": {"RR": 0.2}}
    machines = [called("a", 4, hardware=Hardware(n_cpu=2), batch_size=8),
                called("b", 9, hardware=Hardware(n_cpu=2))]  # fmt: skip
    alike = Leaderboard(accuracy, machines).where("RR > 0.1")
    assert alike.caption() == "1 system. Latency in ms, of calls of 1 query. Measured on 2 CPU. " \
        "Constraints: RR > 0.1. Left out by them: a."  # fmt: skip
    one = irbatch.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["RR"])
    assert Leaderboard({"a": one}, timed("a", None)).caption() == "1 system, 1 query."


def called(system: str, calls: int | None, **more: Any) -> EfficiencyRecord:
    return EfficiencyRecord(system=system, latency=Latency(mean=1, calls=calls), **more)


def captioned(*records: EfficiencyRecord, queries: Sequence[int | None] = ()) -> str:
    """The caption of systems of these records, without how many there are."""
    board = Leaderboard({each.system: {"RR": 0.5} for each in records}, records)
    board.n_queries = list(queries) or board.n_queries
    return board.caption().partition(". ")[2]


def test_captions_of_calls() -> None:
    assert captioned(called("a", 5, batch_size=8), called("b", 5)) == (
        "Latency in ms, of calls of 1 or 8 queries."
    )
    assert captioned(called("a", 5, batch_size=8), called("b", None)) == (
        "Latency in ms, of calls of 8 queries."
    )
    assert captioned(called("a", 5, n_queries=5)) == "Latency in ms, of calls of 1 query, of 5 " \
        "queries."  # fmt: skip
    assert captioned(called("a", 5, n_queries=5), called("b", 9, n_queries=9)).endswith(
        "of 5 and 9 queries."
    )
    told = captioned(called("a", 5, n_queries=5), called("b", 5, n_queries=5), queries=[5, 5])
    assert told == "Latency in ms, of calls of 1 query.", "as accuracy is of"


def test_captions_of_throughput() -> None:
    records = [
        timed("a", None, throughput=5, throughput_batch_size=64),
        timed("b", None, throughput=5),
        timed("c", None, throughput_batch_size=32),
    ]
    assert captioned(*records) == "Throughput of calls of 64 queries."
    assert captioned(*records[1:]) == ""


def test_captions_of_queries() -> None:
    records = [timed("a", None), timed("b", None)]
    board = Leaderboard({"a": {"RR": 0.1}, "b": {"RR": 0.2}}, records)
    for known, said in (
        ([5, 5], "2 systems, 5 queries."), ([7, 5], "2 systems, 5 to 7 queries."),
        ([5, None], "2 systems."), ([None, None], "2 systems."),
    ):  # fmt: skip
        board.n_queries = known
        assert board.caption() == said


def test_captions_of_machines() -> None:
    two, four = Hardware(n_cpu=2), Hardware(n_cpu=4)
    a, b, c = (timed("a", None, hardware=two), timed("b", None), timed("c", None, hardware=two))
    assert captioned(a, c) == "Measured on 2 CPU."
    assert captioned(a, b) == "1 system measured on 2 CPU.", "b's isn't known"
    assert captioned(a, b, c) == "2 systems measured on 2 CPU."
    assert captioned(b) == ""
    differ = "Not all were measured on the same hardware."
    assert captioned(a, b, timed("d", None, hardware=four)) == differ
    one, other = Hardware(instance="x, 4 CPU"), Hardware(instance="x", n_cpu=4)
    assert str(one) == str(other)
    assert captioned(timed("e", None, hardware=one), timed("f", None, hardware=other)) == differ


# ---------------------------------------------------------------- results


QRELS = {f"q{i}": {f"d{i % 7}": 1, f"d{i % 5 + 7}": i % 3} for i in range(40)}
RANDOM = np.random.default_rng(3)
RUNS = {
    name: {query: {f"d{j}": float(RANDOM.random() + help * (QRELS[query].get(f"d{j}", 0) > 0))
                   for j in range(12)} for query in QRELS}
    for name, help in (("bm25", 0.1), ("dense", 0.4))
}  # fmt: skip
MEASURES = ["RR@10", "nDCG@10", "gm_map"]


@pytest.mark.parametrize("interval", ["t", "percentile", "bca"])
def test_means_and_intervals_are_those_of_compare(interval: str) -> None:
    results = irbatch.evaluate_runs(QRELS, RUNS, MEASURES)
    records = [timed("dense", 20), timed("bm25", 2)]
    drawn: dict[str, Any] = {"level": 0.1, "draws": 500, "interval": interval}
    board = Leaderboard(results, records, seed=9, **drawn)
    found = irbatch.compare_results(results, seed=9, **drawn)
    for i, system in enumerate(board.systems):
        j = found.systems.index(system)
        for k, name in enumerate(board.measures):
            assert name == found.measures[k]
            assert board.means[i, k] == results[system][name]
            assert board.means[i, k] == pytest.approx(found.means[j, k], rel=1e-14)
            np.testing.assert_allclose(board.intervals[i, k], found.intervals[j, k], rtol=1e-13)
    assert board.n_queries == [40, 40]
    how = board.settings.pop("intervals of measures")
    assert how == {"t": "Student's t", "percentile": "percentile bootstrap, 500 draws, seed 9",
                   "bca": "BCa bootstrap, 500 draws, seed 9"}[interval]  # fmt: skip
    assert board.settings == results["bm25"].settings
    assert board.caption() == "2 systems, 40 queries."
    assert board.level == 0.1
    listed = Leaderboard(list(results.values()), records, seed=9, **drawn)
    np.testing.assert_array_equal(listed.intervals, board.intervals)
    assert np.isnan(Leaderboard(results, records, draws=0).intervals).all()
    other = Leaderboard(results, records, seed=8, **drawn)
    assert (other.intervals != board.intervals).any() == (interval != "t")
    default = Leaderboard(results, records)
    assert "intervals, of measures by Student's t." in default.to_text(intervals=True)
    assert "Student's t" in Leaderboard.from_json(default.to_json()).to_text(intervals=True)


def test_intervals_that_there_are_not() -> None:
    input_error(lambda: Leaderboard({"a": {"RR": 1}}, timed("a", 2), interval="normal"),
                "interval='normal' must be one of 't'", value="normal")  # fmt: skip


def test_measures_of_choice() -> None:
    results = irbatch.evaluate_runs(QRELS, RUNS, MEASURES)
    records = [timed("dense", 20), timed("bm25", 2)]
    one = Leaderboard(results, records, measures="ndcg_cut_10", draws=50)
    assert one.measures == ["nDCG@10"]
    assert one.means[:, 0].tolist() == [results[name]["nDCG@10"] for name in one.systems]
    two = Leaderboard(results, records, measures=["nDCG@10", "RR@10"], draws=50)
    np.testing.assert_array_equal(two.intervals[:, :1], one.intervals)
    assert two.measures == ["nDCG@10", "RR@10"]


def test_results_beside_means_by_measure() -> None:
    results: dict[str, Any] = dict(irbatch.evaluate_runs(QRELS, RUNS, ["RR@10"]))
    results["dense"] = {"RR@10": 0.75}
    board = Leaderboard(results, [timed("bm25", 2), timed("dense", 20)], draws=50)
    assert board.n_queries == [40, None]
    assert np.isnan(board.intervals[1]).all()
    assert not np.isnan(board.intervals[0]).any()


def test_settings_in_common() -> None:
    results = {
        name: irbatch.evaluate(QRELS, run, ["RR"], judged_only=name == "dense")
        for name, run in RUNS.items()
    }
    board = Leaderboard(results, [timed("bm25", 2), timed("dense", 20)], draws=0)
    differs = {name for name, value in results["bm25"].settings.items()
               if results["dense"].settings[name] != value}  # fmt: skip
    assert differs
    assert set(board.settings) == set(results["bm25"].settings) - differs


def test_one_query_and_sums_have_no_intervals() -> None:
    one = irbatch.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["RR"])
    assert np.isnan(Leaderboard({"a": one}, timed("a", 1)).intervals).all()
    counts = irbatch.evaluate(QRELS, RUNS["bm25"], ["num_rel_ret", "RR"])
    intervals = Leaderboard({"a": counts}, timed("a", 1), draws=50).intervals[0]
    assert np.isnan(intervals[0]).all()
    assert not np.isnan(intervals[1]).any()


def test_measured_systems() -> None:
    records, runs = [], {}
    for name, run in RUNS.items():
        queries = {q: q for q in QRELS}
        record, answered = measure_search(
            run.__getitem__, queries, system=name, warmup=2, price_per_hour=0.5, draws=50
        )
        records.append(record)
        runs[name] = answered
    results = irbatch.evaluate_runs(QRELS, runs, MEASURES)
    board = Leaderboard(results, records)
    expected = irbatch.evaluate_runs(QRELS, RUNS, MEASURES)
    assert board.systems == list(RUNS)
    for i, system in enumerate(board.systems):
        assert board.means[i].tolist() == list(expected[system].mean().values())
        price = twin.cost_per_million(0.5, board.values("latency")[i])
        assert board.values("cost")[i] == pytest.approx(float(price))
    assert "dense" in board.pareto(["nDCG@10", "cost"]).frontier
    assert board.sorted("nDCG@10").systems == ["dense", "bm25"]


def test_means_without_single_queries() -> None:
    evaluator = irbatch.BatchEvaluator("RR AP", keep="sums")
    evaluator.update([[0.9, 0.1], [0.6, 0.2]], [[1, 0], [0, 1]])
    means = evaluator.compute()
    assert not means.has_values
    board = Leaderboard({"a": means}, [timed("a", 1)], measures="MRR")
    assert board.measures == ["RR"]
    assert board.means.tolist() == [[0.75]]
    assert np.isnan(board.intervals).all()
    assert board.n_queries == [2]
    assert board.settings == means.settings


def test_copies_and_pickles() -> None:
    board = systems().where("RR@10 > 0.2")
    for other in pickle.loads(pickle.dumps(board)), copy.deepcopy(board):
        assert other.systems == board.systems
        assert other.records == board.records
        assert other.left_out == board.left_out
        np.testing.assert_array_equal(other.intervals, board.intervals)


# ---------------------------------------------------------------- what is compared with what


def test_costs_are_of_the_queries_that_calls_answered() -> None:
    known = {"price_per_hour": 3.6, "batch_size": 64}
    one = EfficiencyRecord(system="a", latency=Latency(mean=10, calls=2), n_queries=65, **known)
    assert one.queries_per_call == 32.5
    expected = twin.cost_per_million(3.6, 10, Fraction(65, 2))
    assert one.cost_per_million == pytest.approx(float(expected))
    again = EfficiencyRecord(system="a", latency=Latency(mean=10, calls=6), n_queries=65, repeat=3,
                             **known)  # fmt: skip
    assert again.cost_per_million == one.cost_per_million
    for unknown in (
        EfficiencyRecord(system="a", latency=Latency(mean=10), n_queries=65, **known),
        EfficiencyRecord(system="a", latency=Latency(mean=10, calls=2), **known),
    ):
        expected = twin.cost_per_million(3.6, 10, 64)
        assert unknown.cost_per_million == pytest.approx(float(expected))


def test_costs_of_a_measured_batch_with_a_rest() -> None:
    queries = {f"q{i}": i for i in range(10)}
    options = {"system": "a", "batch_size": 4, "repeat": 3, "price_per_hour": 1, "draws": 0}
    record, _ = measure_search(lambda each: [{"d": 1.0} for _ in each], queries, **options)
    assert record.latency is not None
    assert record.latency.calls == 9
    expected = twin.cost_per_million(1, record.latency.mean or 0, Fraction(10, 3))
    assert record.cost_per_million == pytest.approx(float(expected))


MONEY = ("cost", "price_per_hour", "throughput_cost_per_million")


def test_several_currencies_are_not_compared() -> None:
    priced = {"price_per_hour": 2, "throughput": 9}
    records = [timed(*each, **priced) for each in (("a", 1), ("b", 2))]
    records = [replace(each, currency=c) for each, c in zip(records, ("USD", "EUR"), strict=True)]
    board = Leaderboard({"a": {"RR": 0.1}, "b": {"RR": 0.2}}, records)
    assert board.currency == "USD/EUR"
    assert board.axis("cost").unit == "USD/EUR"
    for axis in MONEY:
        calls: list[Callable[[], object]] = [
            lambda axis=axis: board.pareto(["RR", axis]),
            lambda axis=axis: board.where(f"{axis} < 5"),
            lambda axis=axis: board.sorted(axis),
        ]
        name = board.axis(axis).name
        for call in calls:
            input_error(call, f"record of 'b': {name} is in EUR, and that of 'a' in USD")
    assert board.sorted("latency").systems == ["a", "b"]
    assert board.where("RR > 0.1").sorted("cost").systems == ["b"], "only one is left"


def test_a_currency_without_a_price_says_nothing() -> None:
    records = [timed("a", 1), timed("b", 2, currency="EUR", price_per_hour=2)]
    board = Leaderboard({"a": {"RR": 0.1}, "b": {"RR": 0.2}}, records)
    assert board.sorted("cost").systems == ["b", "a"]
    found = board.pareto("cost")
    assert (found.frontier, found.left_out) == (["b"], {"a": ["cost_per_million"]})


def test_currencies_count_where_there_is_a_price() -> None:
    accuracy = {"a": {"RR": 0.1}, "b": {"RR": 0.2}}
    plain = timed("a", 1)
    for more in ({"price_per_hour": 2}, {"stated_cost": 2}):
        euros = timed("b", 2, currency="EUR", **more)
        assert Leaderboard(accuracy, [plain, euros]).currency == "EUR"
    assert Leaderboard(accuracy, [plain, timed("b", 2, currency="EUR")]).currency == "?/EUR"


def test_a_currency_that_nobody_says_is_not_made_up() -> None:
    accuracy = {"a": {"RR": 0.1}, "b": {"RR": 0.2}}
    unsaid = [timed("a", 1, price_per_hour=3.6), timed("b", 2, price_per_hour=3.6)]
    board = Leaderboard(accuracy, unsaid)
    assert [board.axis(each).heading for each in ("cost", "price_per_hour")] == [
        "cost per million queries", "price (per hour)",
    ]  # fmt: skip
    assert board.sorted("cost").systems == ["a", "b"]
    mixed = Leaderboard(accuracy, [unsaid[0], replace(unsaid[1], currency="EUR")])
    said = "record of 'b': cost_per_million is in EUR, and that of 'a' in no currency that is said"
    input_error(lambda: mixed.sorted("cost"), said)


def test_times_of_calls_of_different_sizes_are_compared_with_a_warning() -> None:
    records = [timed("a", 1, batch_size=8), timed("b", 2), timed("c", 2)]
    board = Leaderboard({each.system: {"RR": 0.5} for each in records}, records)
    for compare in (
        lambda: board.pareto(["RR", "latency"]),
        lambda: board.where("latency < 5"),
    ):
        with pytest.warns(InputWarning, match="latency_mean is of calls of 8 and 1 queries"):
            compare()
    board.pareto("RR")
    board.select("b", "c").pareto(["RR", "latency"])


def test_emissions_are_of_a_query() -> None:
    board = Leaderboard({"a": {"RR": 0.5}}, timed("a", 1, emissions=6, n_queries=2, repeat=3))
    assert board.values("emissions_per_query").tolist() == [1]
    assert board.axis("emissions_per_query").unit == "kg CO2eq"
    input_error(lambda: board.values("emissions"), "did you mean emissions_per_query?")


def test_selected_systems() -> None:
    board = systems().where("RR@10 > 0.2")
    chosen = board.select("dense", "rerank")
    assert chosen.systems == ["dense", "rerank"]
    assert chosen.means[:, 0].tolist() == [0.33, 0.36]
    assert (chosen.constraints, chosen.left_out) == (board.constraints, board.left_out)
    assert len(board.select()) == 0
    input_error(
        lambda: board.select("dnse"), "'dnse' is not on the leaderboard; did you mean dense?"
    )
    input_error(lambda: board.select("dense", "dense"), "'dense' is named twice")


def test_an_axis_that_nobody_has_a_value_of_is_no_order() -> None:
    error = input_error(lambda: systems().sorted("flops"), "'rerank'", "flops is missing")
    assert str(error).endswith(", as for 2 other systems")
    assert systems().where("RR@10 > 1").sorted("flops").systems == []


def test_measures_are_those_that_some_system_has() -> None:
    records = [timed("a", 1), timed("b", 2)]
    with pytest.warns(InputWarning, match="record of 'a': AP missing, shown as –"):
        board = Leaderboard({"a": {"RR": 0.5}, "b": {"RR": 0.4, "AP": 0.1}}, records)
    assert board.means.tolist() == [[0.5, pytest.approx(np.nan, nan_ok=True)], [0.4, 0.1]]
    assert board.to_markdown().splitlines()[2].startswith("| a | **0.5** | – |")
    assert board.sorted("AP").systems == [*board.where("AP > 0").systems, "a"] == ["b", "a"]
    assert board.pareto(["RR", "AP"]).left_out == {"a": ["AP"]}
    assert board.failures("AP < 0.05") == ["a: AP is missing"]
    with pytest.warns(InputWarning, match="AP missing"):
        again = Leaderboard.from_json(board.to_json())
    assert np.array_equal(again.means, board.means, equal_nan=True)
    assert board.to_csv().splitlines()[1].startswith("a,,,,,,,0.5,,")
    input_error(lambda: Leaderboard({"a": {"RR": 0.5}, "b": {"AP": 0.1}}, records, measures="RR"),
                "record of 'b': RR is missing")  # fmt: skip
    chosen = Leaderboard({"a": {"RR": 0.5}, "b": {"MRR": 0.4, "AP": 0.1}}, records, measures="RR")
    assert chosen.means.tolist() == [[0.5], [0.4]]


@pytest.mark.parametrize("measures", ["P@{1,2} RR", ["P@{1,2}", "MRR"], "P@1 P@2 RR"])
def test_measures_are_spread(measures: Any) -> None:
    results = irbatch.evaluate_runs(QRELS, RUNS, ["RR", "P@1", "P@2"])
    typed = {name: {"P@1": 0.5, "P@2": 0.25, "RR": 0.75} for name in RUNS}
    for accuracy in (results, typed):
        board = Leaderboard(accuracy, [timed(name, 1) for name in RUNS], measures=measures, draws=0)
        assert board.measures == ["P@1", "P@2", "RR"]


def test_records_may_be_measurements() -> None:
    measured = measure_search(RUNS["bm25"].__getitem__, list(QRELS), system="bm25", draws=0)
    other = timed("dense", 2)
    accuracy = {"bm25": {"RR": 0.1}, "dense": {"RR": 0.2}}
    for given_records in ([measured, other], {"bm25": measured, "dense": other}):
        board = Leaderboard(accuracy, given_records)
        assert board.records == [measured.record, other]
    assert Leaderboard({"bm25": {"RR": 0.1}}, measured).records == [measured.record]
    input_error(lambda: Leaderboard({"bm25": {"RR": 0.1}}, [measured, measured]), "two records")


def test_queries_without_a_ranking_are_told() -> None:
    short = {query: run for query, run in RUNS["bm25"].items() if query != "q3"}
    results = irbatch.evaluate_runs(QRELS, {**RUNS, "bm25": short}, ["RR"])
    board = Leaderboard(results, [timed(name, 1) for name in RUNS], draws=0)
    assert board.settings["queries without a ranking"] == "1 of bm25"
    both = irbatch.evaluate_runs(QRELS, dict.fromkeys(RUNS, short), ["RR"])
    board = Leaderboard(both, [timed(name, 1) for name in RUNS], draws=0)
    assert board.settings["queries without a ranking"] == "1 of bm25, 1 of dense"
    whole = Leaderboard(irbatch.evaluate_runs(QRELS, RUNS, ["RR"]),
                        [timed(name, 1) for name in RUNS], draws=0)  # fmt: skip
    assert "queries without a ranking" not in whole.settings


def test_per_cent_beside_shares_is_warned_of() -> None:
    records = [timed("a", 1), timed("b", 2)]
    with pytest.warns(InputWarning, match="RR of 'b' is 35, and that of 'a' is 0.3"):
        Leaderboard({"a": {"RR": 0.3}, "b": {"RR": 35}}, records)
    for alike in ({"RR": 30}, {"mine": 0.3}):
        Leaderboard({"a": alike, "b": dict.fromkeys(alike, 35)}, records)


def test_the_systems_that_a_warning_names_are_those() -> None:
    several = {"d": {"RR": 200}, "a": {"RR": 0.3}, "b": {"RR": 35}, "c": {"RR": 40}}
    with pytest.warns(InputWarning, match="RR of 'b' is 35, and that of 'a' is 0.3"):
        Leaderboard(several, [timed(name, 1) for name in several])
