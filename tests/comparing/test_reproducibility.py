"""Reproduced runs against the original ones: the plain twin, repro_eval, and reports."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any, NamedTuple

import pytest
from oracle import reproducibility as twin
from support.input_errors import input_error

import irbatch
from irbatch.comparing.rankings import kendall_tau, overlap, tau_union
from irbatch.comparing.reproducibility import Reproducibility, reproducibility

Run = dict[str, dict[str, float]]

QRELS = {f"q{q}": {f"d{q % 5}": 1, f"d{q % 3 + 5}": 2} for q in range(8)}


def some_run(seed: int, size: int | None = None) -> Run:
    """Rankings of up to 12 documents, with ties."""
    draw = Random(seed)

    def ranking() -> dict[str, float]:
        chosen = draw.sample(range(12), size or draw.randrange(1, 13))
        return {f"d{each}": float(draw.randrange(8)) for each in chosen}

    return {query: ranking() for query in QRELS}


def in_order(ranking: dict[str, float]) -> list[str]:
    return sorted(ranking, key=lambda each: (ranking[each], each), reverse=True)


@pytest.mark.parametrize("depth", [None, 5])
def test_tau_union_is_the_twin_s(depth: int | None) -> None:
    for seed in range(10):
        first, second = some_run(seed), some_run(100 + seed)
        found = tau_union(first, second, depth)
        assert list(found) == list(QRELS)
        for query, value in found.items():
            rankings = (in_order(each[query])[:depth] for each in (first, second))
            assert value == pytest.approx(twin.tau_union(*rankings), nan_ok=True, rel=1e-14)


def renamed(run: Run, name: Callable[[str], str]) -> Run:
    return {q: {name(d): score for d, score in run[q].items()} for q in run}


def test_tau_union_of_the_same_documents_is_kendall_s_tau_whatever_they_are_called() -> None:
    draw = Random(3)
    first, second = ({"q": {f"d{i}": draw.random() for i in range(10)}} for _ in range(2))
    tau = kendall_tau(list(first["q"].values()), list(second["q"].values()))
    other = {f"d{i}": f"{draw.random()}" for i in range(10)}
    for name in (str, other.__getitem__):
        runs = renamed(first, name), renamed(second, name)
        assert tau_union(*runs)["q"] == pytest.approx(tau, rel=1e-14)


def experiment(**options: Any) -> Reproducibility:
    baseline, advanced = (some_run(1), some_run(2)), (some_run(3), some_run(4))
    return reproducibility(QRELS, baseline, advanced, "nDCG@10 AP", **options)


def test_numbers_are_those_of_evaluated_runs() -> None:
    found = experiment()
    results = [irbatch.evaluate(QRELS, some_run(seed), "nDCG@10 AP") for seed in (1, 2, 3, 4)]
    assert found.n_queries == [8, 8]
    for k in range(2):
        b, rb, a, ra = (each.values[:, k].tolist() for each in results)
        assert found.means[:, :, k].ravel().tolist() == [twin.mean(each) for each in (b, rb, a, ra)]
        assert found.rmse[:, k] == pytest.approx([twin.rmse(b, rb), twin.rmse(a, ra)])
        assert found.effect_ratio[k] == pytest.approx(twin.effect_ratio((b, a), (rb, ra)))
        change = twin.delta_relative_improvement((b, a), (rb, ra))
        assert found.delta_relative_improvement[k] == pytest.approx(change)
    assert found.rbo[1] == overlap(some_run(3), some_run(4), 0.95, 1000).per_query()
    assert str(found.tau_union[0]) == str(tau_union(some_run(1), some_run(2)))  # NaN and all


def test_the_same_runs_are_reproduced_exactly() -> None:
    found = reproducibility(QRELS, (some_run(1), some_run(1)), (some_run(2), some_run(2)), "AP")
    assert found.rmse.tolist() == [[0.0], [0.0]]
    assert found.p_values.tolist() == [[1.0], [1.0]]
    assert (found.effect_ratio[0], found.delta_relative_improvement[0]) == (1.0, 0.0)
    assert set(found.rbo[0].values()) == {1.0}, "however short rankings are"
    assert {each for each in found.tau_union[0].values() if not math.isnan(each)} == {1.0}


# Reports.


def test_tables_show_what_there_is() -> None:
    found = experiment()
    head, _, *rows = str(found).split("\n\n")[1].splitlines()
    assert head.split() == [
        *("measure", "run", "original", "reproduced", "RMSE", "p", "τ", "union", "RBO", "ER", "ΔRI")
    ]
    assert [row.split()[:2] for row in rows] == [
        [measure, run] for measure in ("nDCG@10", "AP") for run in ("baseline", "advanced")
    ]
    alone = reproducibility(QRELS, (some_run(1), some_run(2)), measures="AP")
    assert "ER" not in str(alone).split("\n\n")[2].splitlines()[0]
    for text in (found.to_markdown(), found.to_latex(), found.to_html()):
        assert f"{found.rmse[0, 0]:.4f}" in text
    assert r"$\Delta$RI" in found.to_latex()


def test_records_have_every_digit() -> None:
    found = experiment()
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert float(rows[1]["effect_ratio"]) == found.effect_ratio[0]
    assert rows[0]["effect_ratio"] == "nan", "as in other reports"
    read = json.loads(found.to_json())
    assert read["values"][2]["rmse"] == found.rmse[0, 1]
    assert read["rankings"]["advanced"]["rbo"]["q3"] == found.rbo[1]["q3"]


# What is refused.


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"baseline": "bm25.run"}, "baseline is two runs, (original, reproduced), not 'bm25.run'"),
        ({"advanced": (some_run(1),)}, "advanced is two runs"),
        ({"measures": "GMAP"}, "is not a mean over queries"),
        ({"measures": "NumRet"}, "NumRet is not a mean over queries"),
        ({"depth": 0}, "depth=0 must be a whole number"),
        ({"p": 1.0}, "p=1.0"),
    ],
)
def test_refusals(given: dict[str, Any], said: str) -> None:
    options = {"baseline": (some_run(1), some_run(2)), "measures": "AP", **given}
    input_error(lambda: reproducibility(QRELS, **options), said)


# repro_eval.


class Theirs(NamedTuple):
    """What repro_eval computes, without the part of it that reads files."""

    orders: Any
    values: Any
    effects: Any
    tests: Any


@pytest.fixture
def theirs() -> Theirs:
    pytest.importorskip("repro_eval", reason="pip install --no-deps repro_eval")
    for each in ("scipy", "pandas", "ir_measures", "tqdm"):
        pytest.importorskip(each)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it imports SciPy by an old name
        modules = ("document_order", "effectiveness", "overall_effects", "statistics")
        return Theirs(*(import_module(f"repro_eval.measure.{each}") for each in modules))


def as_theirs(run: Run) -> Run:
    """A run as its command has it: queries and documents in the order of a sorted file."""
    return {query: {d: run[query][d] for d in in_order(run[query])} for query in sorted(run)}


@pytest.mark.parametrize("scores", ["integers", "real runs"])
def test_numbers_are_repro_eval_s(theirs: Theirs, scores: str, request: Any) -> None:
    if scores == "integers":
        runs, qrels = [some_run(seed, size=12) for seed in (1, 2, 3, 4)], irbatch.Qrels(QRELS)
    else:
        folder = request.getfixturevalue("reference_data") / "dl19_passage"
        names = ("bm25", "bm25-rm3", "tasb", "ada2")
        runs = [irbatch.read_run(folder / f"runs/{each}.run.gz").to_dict() for each in names]
        qrels = irbatch.read_qrels(folder / "qrels.dl19-passage.txt.gz")
    b, rb, a, ra = runs
    found = reproducibility(qrels, (b, rb), (a, ra), "nDCG@10 AP")
    for first, second in ((b, rb), (a, ra)):
        overlaps = theirs.orders.RBO(as_theirs(first), as_theirs(second), 0.95, 1000, False, True)
        least = overlap(first, second, 0.95, 1000).per_query("minimum")
        assert overlaps == pytest.approx(least, rel=1e-12)
    values = [irbatch.evaluate(qrels, run, "nDCG@10 AP").to_dict() for run in runs]
    vb, vrb, va, vra = values

    def same(ours: Any, of_theirs: dict[str, float]) -> None:
        assert ours.tolist() == pytest.approx(list(of_theirs.values()), rel=1e-11)

    same(found.rmse[0], theirs.values.RMSE(vb, vrb))
    same(found.p_values[1], theirs.tests.ttest(va, vra))
    same(found.effect_ratio, theirs.effects.ER(va, vb, vra, vrb))
    same(found.delta_relative_improvement, theirs.effects.DRI(va, vb, vra, vrb))
