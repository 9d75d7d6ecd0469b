"""Which systems are significantly worse than the best."""

from __future__ import annotations

from typing import Any

import pytest
from support.input_errors import input_error

import irbatch
from irbatch import compare
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency
from irbatch.evaluation.results import Results
from irbatch.leaderboard import Leaderboard

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
    cells = {row.cells[0].text: row.cells[1] for row in report.parts[0].rows}
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


TWO = {name: VALUES[name] for name in ("near", "best")}


def on_two_machines() -> Leaderboard:
    records = [EfficiencyRecord(system=name, hardware=Hardware(instance=where), flops=1)
               for name, where in (("near", "a"), ("near", "b"), ("best", "a"))]  # fmt: skip
    return Leaderboard(results_of(TWO), records)


def test_one_system_on_two_machines_is_tested_once() -> None:
    board = on_two_machines().tested()
    assert board.significance is not None
    p = compare(results_of(TWO)).difference("near", "best", "RR").corrected
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
