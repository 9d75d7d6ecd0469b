"""Which systems are significantly worse than the best, and how often each is on the frontier."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle import leaderboard as twin
from support.input_errors import input_error

import irbatch
from irbatch.comparing import compare_results
from irbatch.data.runs import Run
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, Measurement
from irbatch.evaluation.results import Results
from irbatch.leaderboard import Leaderboard
from irbatch.leaderboard.document import make_document
from irbatch.leaderboard.stability import find_shares
from irbatch.statistics.resampling import draw_counts

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


def test_a_measure_that_one_system_lacks_is_not_tested() -> None:
    results = results_of(VALUES)
    far = {query: dict.fromkeys("d", 1.0) for query in QUERIES}
    results["far"] = irbatch.evaluate({query: {"d": 1} for query in QUERIES}, far, "RR")
    records = [EfficiencyRecord(system=name) for name in results]
    with pytest.warns(irbatch.InputWarning, match="record of 'far': P@1 missing"):
        board = Leaderboard(results, records).tested()
    assert board.significance is not None
    assert list(board.significance.p_values) == ["RR"]
    assert np.isnan(board.bounds("P@1")[2]).all()
    assert not np.isnan(board.bounds("P@1")[:2]).any()


def test_systems_are_tested_as_compare_does() -> None:
    found = evaluated().tested().significance
    compared = compare_results(results_of(VALUES))
    assert found is not None
    assert found.best == {"RR": "best", "P@1": "best"}
    assert found.p_values["RR"] == {
        "best": 1.0,
        "near": compared.difference("near", "best", "RR").corrected,
        "far": compared.difference("far", "best", "RR").corrected,
    }
    assert found.not_worse("RR") == ["best", "near"]
    assert found.queries == 16
    other = evaluated().tested(test="sign", correction="none", level=0.5).significance
    assert other is not None
    assert other.caption() == "sign test, 16 queries, level 0.5"


def test_the_best_is_so_in_the_measure_s_own_direction() -> None:
    found = evaluated(directions={"RR": "lower"}).tested().significance
    assert found is not None
    assert (found.best["RR"], found.not_worse("RR")) == ("far", ["far"])


def test_tables_mark_what_is_as_good() -> None:
    board = evaluated().tested()
    report = make_document(board)
    cells = {row.cells[0].text: row.cells[1] for row in report.parts[0].rows}
    assert [cells[each].marks for each in LATENCIES] == [[], ["="], []]
    assert cells["best"].stands_out
    assert ("=", "not significantly worse than the best of the measure (paired randomisation test, "
            "Holm correction over all pairs, 16 queries, level 0.05)") in report.legend  # fmt: skip
    assert "=" not in dict(make_document(evaluated()).legend), "nothing was tested"
    assert r"\textsuperscript{=}" in board.to_latex()
    rows = board.to_csv().splitlines()
    assert "RR p against the best" in rows[0]


def test_systems_without_values_of_queries_are_not_tested() -> None:
    records = [EfficiencyRecord(system=name) for name in (*LATENCIES, "typed")]
    results = {**results_of(VALUES), "typed": {"RR": 0.99, "P@1": 0.5}}
    board = Leaderboard(results, records).tested()
    assert board.significance is not None
    assert board.significance.best["RR"] == "best"
    assert "not tested: typed" in dict(make_document(board).legend)["="]
    typed = board.select("typed", "best")
    assert typed.significance is None, "it was of all systems together"
    input_error(typed.tested, "values of queries are known of fewer than two systems")


def test_systems_of_different_queries_are_not_tested() -> None:
    first, other = results_of(VALUES), results_of({"near": VALUES["near"][:4]}, QUERIES[:4])
    records = [EfficiencyRecord(system=name) for name in LATENCIES]
    with pytest.warns(irbatch.InputWarning, match="different queries"):
        board = Leaderboard({**first, **other}, records)
    for verb in (board.tested, lambda: board.resampled(["RR"])):
        input_error(
            verb, "'best' and 'near' were evaluated on different queries (16 queries and 4)"
        )


def test_one_system_on_two_machines_is_tested_once() -> None:
    records = [EfficiencyRecord(system=name, hardware=Hardware(instance=where))
               for name, where in (("near", "a"), ("near", "b"), ("best", "a"))]  # fmt: skip
    values = {name: VALUES[name] for name in ("near", "best")}
    board = Leaderboard(results_of(values), records).tested()
    assert board.significance is not None
    p = compare_results(results_of(values)).difference("near", "best", "RR").corrected
    assert board.significance.p_values["RR"] == {"near on a": p, "near on b": p, "best": 1.0}


# How often systems are on the frontier.


def drawn_shares(
    values: dict[str, list[float]], fixed: dict[str, float], draws: int
) -> list[float]:
    """In how many draws of queries nothing dominates each system, of accuracy and a fixed cost."""
    counts = np.concatenate(list(draw_counts(len(QUERIES), draws, 0))).astype(int).tolist()
    on = dict.fromkeys(values, 0)
    for often in counts:
        rows = [
            [
                sum(n * Fraction(value) for n, value in zip(often, column, strict=True)),
                -Fraction(fixed[name]),
            ]
            for name, column in values.items()
        ]
        for name, others in zip(on, twin.dominators(rows, [1, 1]), strict=True):
            on[name] += not others
    return [each / draws for each in on.values()]


def test_shares_are_those_of_the_twin() -> None:
    values = {"a": [1.0, 0.5] * 8, "b": [0.5, 1.0] * 8, "c": [1.0] * 3 + [0.25] * 13,
              "d": [0.5, 1.0] * 8}  # fmt: skip
    cost = {"a": 2.0, "b": 1.0, "c": 0.5, "d": 3.0}
    records = [EfficiencyRecord(system=name, flops=cost[name]) for name in values]
    board = Leaderboard(results_of(values), records).resampled(["RR", "flops"], draws=300)
    assert board.stability is not None
    assert list(board.stability.shares.values()) == drawn_shares(values, cost, 300)
    assert board.stability.shares["d"] == 0.0, "it costs more than its equal"
    assert board.stability.drawn == {"RR": list(values)}
    rng = np.random.default_rng(0).integers(0, 3, (6, 3, 50)).astype(float)
    expected = [
        sum(not twin.dominators(rng[:, :, k].tolist(), [1, 1, 1])[i] for k in range(50)) / 50
        for i in range(6)
    ]
    assert find_shares(rng).tolist() == expected


def measured(values: dict[str, list[float]], times: dict[str, Any], ids: list[str]) -> Leaderboard:
    given = []
    for name in values:
        calls = np.asarray(times[name], np.float64)
        latency = Latency.from_samples(calls, draws=0)
        record = EfficiencyRecord(system=name, latency=latency, price_per_hour=1.0)
        given.append(Measurement(record, Run({query: {"d": 1.0} for query in ids}, name), calls))
    return Leaderboard(results_of(values), given)


def test_calls_are_drawn_with_their_queries() -> None:
    # Of each query latency is 8 / accuracy: of the same draw both systems' order is the same.
    values = {"a": [1.0, 0.5] * 8, "b": [0.5, 1.0] * 8}
    backwards = QUERIES[::-1]
    times = {name: [[100.0 * value for value in values[name][::-1]]] for name in values}
    board = measured(values, times, backwards)
    alike = board.resampled(["RR", "latency"], draws=200).stability
    assert alike is not None
    assert list(alike.shares.values()) == [1.0, 1.0], "the better one is always the slower"
    assert alike.drawn == {"RR": ["a", "b"], "latency_mean": ["a", "b"]}
    costs = board.resampled(["RR", "cost"], draws=200).stability
    assert costs is not None
    assert costs.shares == alike.shares


def test_calls_of_other_queries_are_drawn_by_themselves() -> None:
    values = {"a": [1.0] * 16, "b": [1.0] * 16}
    times = {name: [[float(i % 5) for i in range(16)]] for name in values}
    same = measured(values, times, QUERIES).resampled(["RR", "latency"], draws=200).stability
    other = [f"other {query}" for query in QUERIES]
    apart = measured(values, times, other).resampled(["RR", "latency"], draws=200).stability
    assert same is not None
    assert apart is not None
    assert list(same.shares.values()) == [1.0, 1.0], "always equal"
    alone = measured(values, times, QUERIES).resampled(["latency"], draws=200).stability
    assert alone is not None
    assert list(alone.shares.values()) == [1.0, 1.0], "without accuracy, too"
    assert all(0.3 < share < 0.8 for share in apart.shares.values())


@pytest.mark.parametrize("statistic", ["mean", "p50", "p90", "p99"])
def test_drawn_percentiles_are_those_of_the_calls_drawn(statistic: str) -> None:
    from irbatch.leaderboard.stability import _draw_latency

    calls = np.random.default_rng(1).exponential(size=(3, 7)).round(2)
    found = _draw_latency(calls, statistic, 150, 5)
    for value, often in zip(found, np.concatenate(list(draw_counts(7, 150, 5))), strict=True):
        drawn = np.repeat(calls, often.astype(int), axis=1)
        expected = drawn.mean() if statistic == "mean" else np.percentile(drawn, int(statistic[1:]))
        assert value == pytest.approx(expected, rel=1e-12)


def test_what_has_no_spread_is_on_the_frontier_or_is_not() -> None:
    board = evaluated()
    left = board.resampled(["P@1", "latency"], draws=50)
    assert left.stability is not None
    assert left.stability.shares["far"] == 1.0, "the fastest"
    assert left.sorted("latency").stability is not None
    assert left.where("latency < 25").stability is None
    (table,) = make_document(left).parts
    assert [each.heading for each in table.columns][-1] == "on frontier (%)"
    assert table.rows[2].cells[-1].text == "100.0"
    legend = dict(make_document(left).legend)["on frontier (%)"]
    assert "share of 50 bootstrap draws" in legend
    assert "along P@1 and mean latency" in legend
    assert left.to_csv().splitlines()[0].count("on frontier") == 1


def test_systems_without_a_value_have_no_share() -> None:
    records = [EfficiencyRecord(system=name, latency=Latency(mean=1) if name != "near" else None)
               for name in LATENCIES]  # fmt: skip
    board = Leaderboard(results_of(VALUES), records)
    found = board.resampled(["RR", "latency"], draws=20)
    assert found.stability is not None
    assert found.stability.shares == {"best": 1.0, "far": 0.0}
    assert make_document(found).parts[0].rows[1].cells[-1].text == "–"


def test_there_must_be_something_to_draw() -> None:
    board = evaluated()
    input_error(lambda: board.resampled(["latency"]), "there is nothing to draw", "latency_mean")
    input_error(lambda: board.resampled(["RR"], draws=0), "draws=0")
    input_error(lambda: board.resampled([]), "there is no axis")


# Both in JSON.


def test_findings_are_written_and_read_back() -> None:
    board = evaluated().tested().resampled(["RR", "latency"], draws=30)
    again = Leaderboard.from_json(board.to_json())
    assert (again.significance, again.stability) == (board.significance, board.stability)
    assert again.to_text() == board.to_text()
    records = [EfficiencyRecord(system=name, hardware=Hardware(instance=where), flops=1)
               for name, where in (("near", "a"), ("near", "b"), ("best", "a"))]  # fmt: skip
    one = Leaderboard(results_of({name: VALUES[name] for name in ("near", "best")}), records)
    one = one.best_instances("flops").tested().resampled(["RR"], draws=20)
    assert Leaderboard.from_json(one.to_json()).to_text() == one.to_text()
    some = Leaderboard.from_json(board.to_json(), measures="P@1")
    assert some.significance is not None
    assert list(some.significance.p_values) == ["P@1"]
    assert some.stability is None, "an axis of it is not shown"


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("significance",), [], "significance is [], not an object"),
        (("significance", "test"), "guess", "significance: test is 'guess'"),
        (("significance", "level"), 2, "level=2"),
        (("significance", "p_values", "RR", "far"), 1.5, "is 1.5, not 0 to 1"),
        (("significance", "p_values", "RR", "nobody"), 0.5, "has no system 'nobody'"),
        (("significance", "best", "RR"), "nobody", "best is not known of 'RR'"),
        (("stability", "shares"), None, "shares is None, not an object"),
        (("stability", "draws"), 1.5, "draws"),
        (("stability", "axes"), "RR", "axes are 'RR', not a list"),
        (("stability", "drawn", "RR"), ["x"], "has no system 'x'"),
        (("stability", "more"), 1, "stability has axes"),
    ],
)
def test_findings_that_cannot_be_read(place: tuple[str, ...], value: Any, said: str) -> None:
    written = json.loads(evaluated().tested().resampled(["RR"], draws=5).to_json())
    inner = written
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    input_error(lambda: Leaderboard.from_json(json.dumps(written)), said)
