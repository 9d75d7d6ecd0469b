"""What other tools get wrong, number by number; their values stand in brackets."""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.counts import number_of
from support.input_errors import input_error

import irbatch
from irbatch import InputWarning, Results, Run, evaluate, evaluate_matrix, evaluate_scores
from irbatch.integrations import beir
from irbatch.integrations.pytrec_eval import RelevanceEvaluator

ONE = {"q": {"a": 1}}
LOG3 = 1 / math.log2(3)


@pytest.fixture(autouse=True)
def _counted(request: pytest.FixtureRequest, record_property: Callable[..., None]) -> None:
    record_property("mistake", number_of(request.node.name))


def value(qrels: Any, run: Any, wish: str, **options: Any) -> float:
    return evaluate(qrels, run, wish, **options)[wish]


def test_01_scores_that_float32_cannot_tell_apart() -> None:
    assert value(ONE, {"q": {"a": 1 + 1e-9, "b": 1.0}}, "RR") == 1.0  # [0.5]


def test_02_order_of_the_keys() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q2": {"b": 2.0, "a": 1.0}, "q1": {"a": 2.0, "b": 1.0}}
    assert value(qrels, run, "RR") == 1.0  # [0.5]


def test_03_a_query_of_negative_grades() -> None:
    qrels = {"bad": {"a": -1, "b": -2}, "good": {"a": 1}}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    assert evaluate(qrels, run, "AP").per_query("AP") == {"bad": 0.0, "good": 1.0}  # [a crash]
    found = RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    assert found == {"bad": {"map": 0.0}, "good": {"map": 1.0}}


def test_04_a_query_that_is_missing_from_the_run() -> None:
    results = evaluate({**ONE, "q2": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    assert (results["RR"], results.counts.missing) == (0.5, 1)  # [an error, or 1.0]


def test_05_one_score_for_all() -> None:
    results = evaluate_scores([[0.5] * 10], [[1, *[0] * 9]], "RR AP nDCG")
    assert "1 query with ties that matter" in repr(results)
    known = [0.2928968253968254, 0.2928968253968254, 0.45435593]
    assert list(results.mean().values()) == pytest.approx(known, rel=1e-8)  # [1.0, 0.1]


def test_06_ties_are_the_same_for_all_measures() -> None:
    wishes = ["RR", "RR@1000", "P@1", "RBP(p=0.5)@1"]
    found = evaluate(ONE, {"q": {"a": 1.0, "b": 1.0}}, wishes).mean()
    assert list(found.values()) == [0.5, 0.5, 0.0, 0.0]  # [0.5, 1.0]


def test_07_scores_without_a_sign() -> None:
    scores = np.array([[0, 1, 2]], np.uint8)
    assert evaluate_scores(scores, [[0, 0, 1]], "nDCG")["nDCG"] == 1.0  # [0.631]


def test_08_ids_of_one_hash() -> None:
    assert value({"q": {-1: 1}}, {"q": {-2: 1.0}}, "RR") == 0.0  # [1.0]


def test_09_a_document_twice() -> None:
    input_error(lambda: irbatch.evaluate_ids([["a", "a"]], [["a"]], "AP"), "twice")  # [2.0]


def test_10_divisors_of_average_precision_have_names() -> None:
    run = {"q": {f"d{i}": -float(i) for i in range(5)}}
    found = evaluate(
        {"q": dict.fromkeys(["d0", "d1", "x", "y", "z"], 1)}, run, "AP@2 AP(norm=min)@2"
    )
    assert list(found.mean().values()) == [0.4, 1.0]


def test_11_average_precision_at_a_cutoff() -> None:
    assert evaluate_matrix([[1, 0, 0, 0, 1]], "AP@3")["AP@3"] == 0.5  # [1.0]


def test_12_rows_are_queries() -> None:
    found = evaluate_scores([[0.9, 0.1], [0.9, 0.1]], [[1, 0], [0, 1]], "nDCG")
    assert found["nDCG"] == (1 + LOG3) / 2  # [of one query of four documents]


def test_13_recall_points_are_counted_in_whole_documents() -> None:
    found = evaluate_matrix([[1, 0, 1]], "IPrec(recall=0.6)")
    assert found.values.tolist() == [[2 / 3]] or found.values.tolist() == [[1.0]]
    up = evaluate_matrix([[1, 0, 1]], "IPrec(recall=0.6,rounding=up)")
    assert up.values.tolist() == [[2 / 3]]  # [1.0]


def test_14_bpref_where_nothing_was_judged_not_relevant() -> None:
    assert value(ONE, {"q": {"x": 2.0, "a": 1.0}}, "Bpref") == 1.0  # [NaN, 0]


def test_15_rbp_of_grades() -> None:
    qrels, run = {"q": {"a": 3, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}
    assert value(qrels, run, "RBP(p=0.5)") == 0.75  # [2.25]


def test_16_a_query_without_relevant_documents() -> None:
    results = evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "nDCG AP RR")
    assert set(results.mean().values()) == {0.0}  # [1.0]
    assert results.counts.no_relevant == 1


def test_17_all_measures_are_of_the_same_queries() -> None:
    results = evaluate({"u1": {"a": 1}, "u2": {"b": 1}}, {"u1": {"a": 1.0}}, "nDCG P@1 RR R@1 AP")
    assert set(results.mean().values()) == {0.5}  # [1.0 of some]


def test_18_holes_are_those_of_the_query() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    assert value(qrels, run, "Unjudged@2") == 0.5
    assert beir.evaluate_custom(qrels, run, [2], "hole") == {"Hole@2": 0.0}  # as BEIR has it


def systems(first: float, second: float) -> tuple[Any, Any]:
    """Return judgments, and two runs that have the relevant document first or not at all."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(50)}
    runs = {
        name: {q: {"a" if score else "b": 1.0} for q in qrels}
        for name, score in (("x", first), ("y", second))
    }
    return qrels, runs


def p_value(qrels: Any, runs: Any, **options: Any) -> float:
    return float(irbatch.compare(qrels, runs, "RR", **options).p_values[0, 0])


def test_19_a_seed_decides_whatever_the_threads() -> None:
    qrels, runs = systems(1, 0)
    runs["y"] |= {f"q{i}": {"a": 1.0} for i in range(40)} | {"q49": {"a": 1.0}}
    found = {p_value(qrels, runs, seed=42, draws=500, threads=n) for n in (1, 8, 1)}
    assert len(found) == 1


def test_20_identical_systems() -> None:
    assert p_value(*systems(1, 1), draws=100) == 1.0  # [NaN]


def test_21_no_p_value_is_zero() -> None:
    assert p_value(*systems(1, 0), draws=999) == 2 / 2**50  # [0]


def test_22_a_query_called_no_query() -> None:
    run = {"no query": {"x": 2.0, "a": 1.0}}
    found = RelevanceEvaluator({"no query": {"a": 1}}, {"map"}).evaluate(run)
    assert found == {"no query": {"map": 0.5}}  # [0]
    assert value({"no query": {"a": 1}}, run, "AP") == 0.5


def test_23_ids_with_nul() -> None:
    assert value({"q": {"a": 1}}, {"q": {"a\0x": 1.0}}, "RR") == 0.0  # [1.0]


def test_24_lone_surrogates() -> None:
    assert value({"q": {"\ud800": 1}}, {"q": {"\ud800": 1.0}}, "RR") == 1.0  # [a crash]


def test_25_large_grades() -> None:
    for grade in (2**40, 10**6):  # [0, without end]
        assert value({"q": {"a": grade}}, {"q": {"a": 1.0}}, "nDCG") == 1.0


def test_26_a_cutoff_of_zero() -> None:
    input_error(lambda: evaluate(ONE, ONE, "P@0"), "P@0")  # [a crash]


def run_of(folder: Path, data: bytes) -> Run:
    (folder / "run").write_bytes(data)
    return irbatch.read_run(folder / "run")


def test_27_a_byte_order_mark(tmp_path: Path) -> None:
    assert list(run_of(tmp_path, b"\xef\xbb\xbfq Q0 a 1 1 t\n").queries) == ["q"]  # ["\ufeffq"]


def test_28_lines_that_end_as_on_old_macs(tmp_path: Path) -> None:
    input_error(lambda: run_of(tmp_path, b"q Q0 a 1 2 t\rq Q0 b 2 1 t\r"), "Mac")  # [half of it]


def test_29_nul_in_a_file(tmp_path: Path) -> None:
    data = b"q Q0 a 1 2 t\nq Q0 b\0 2 1 t\nq Q0 c 3 0 t\n"
    input_error(lambda: run_of(tmp_path, data), "NUL", line=2)  # [the rest is lost]


def test_30_rank_and_score_swapped(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="swapped"):
        run_of(tmp_path, b"q Q0 a 9.5 1 t\nq Q0 b 8.5 2 t\n")


def test_31_fractional_grades_need_a_threshold() -> None:
    qrels = {"q": {"a": 0.9}}
    input_error(lambda: evaluate(qrels, ONE, "RR"), "rel=")  # [0]
    assert value(qrels, ONE, "RR(rel=0.5)") == 1.0


def test_32_a_save_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("old")
    input_error(lambda: Run({"q": {"a": 1.0, "b c": 0.5}}).to_trec(path))  # [half a file]
    assert (path.read_text(), [each.name for each in tmp_path.iterdir()]) == ("old", ["run"])


def test_33_checks_are_no_assertions() -> None:
    """That a whole process goes on checking under -O is in test_every_entry_point.py."""
    for call in (lambda: evaluate(ONE, {"x": {"a": 1.0}}, "RR"), lambda: evaluate({}, ONE, "RR")):
        with pytest.raises(irbatch.InputError) as caught:
            call()
        assert not isinstance(caught.value, AssertionError)


def test_34_threads(tmp_path: Path) -> None:
    found: list[float] = []
    work = [
        threading.Thread(target=lambda: found.append(value(ONE, {"q": {"a": 1.0}}, "AP")))
        for _ in range(8)
    ]
    for each in work:
        each.start()
    for each in work:
        each.join()
    assert found == [1.0] * 8  # [an abort]


def test_35_masked_arrays() -> None:
    scores = np.ma.array([[0.9, 0.5, 0.1]], mask=[[1, 0, 0]])
    assert evaluate_scores(scores, [[0, 0, 1]], "nDCG")["nDCG"] == LOG3  # [0.5]


def test_36_exponential_gain_that_overflows() -> None:
    input_error(lambda: evaluate({"q": {"a": 2000}}, ONE, "nDCG(gain=exp)"), "2^2000")  # [-1, NaN]


def test_37_a_query_that_retrieves_itself_is_left_alone() -> None:
    qrels, run = {"a": {"a": 1}}, {"a": {"a": 1.0}}
    assert value(qrels, run, "RR") == 1.0
    beir.evaluate(qrels, run, [1])
    assert run == {"a": {"a": 1.0}}  # [{"a": {}}]


def test_38_near_ties_and_ties_with_one_relevant_document() -> None:
    for other in (1.0, 1 - 1e-9, 1 + 1e-9):
        found = evaluate(ONE, {"q": {"a": 1.0, "b": other}}, "RR AP").mean()
        assert found["RR"] == found["AP"]  # [they differ]


def test_39_a_sample_that_two_processes_have_counts_once() -> None:
    parts = []
    for queries in ((1, 2), (2, 3)):
        evaluator = irbatch.BatchEvaluator("RR")
        for query in queries:
            evaluator.update([[0.1 * query, 0.25]], [[1, 0]], query_ids=[query])
        parts.append(evaluator)
    parts[0].merge(parts[1])
    results = parts[0].compute()
    assert isinstance(results, Results)
    assert results.per_query("RR") == {1: 0.5, 2: 0.5, 3: 1.0}
    assert pickle.loads(pickle.dumps(parts[0])).compute().mean() == results.mean()


def test_40_names_are_text_in_every_report() -> None:
    qrels, runs = systems(1, 0)
    runs = dict(zip((r"\input{x}", "=1+1"), runs.values(), strict=True))
    found = irbatch.compare(qrels, runs, "RR", draws=50)
    assert r"\input" not in found.to_latex()  # [raw]
    assert "\n=1+1" not in found.to_csv()
    assert "'=1+1" in found.to_csv()
