"""Comparisons of partial results, Arrow tables and Parquet files: the numbers of `Results`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch import compare
from irbatch.comparing import Comparison
from irbatch.evaluation.queries import Rows
from irbatch.partial import PartialResult, evaluate_partition, merge_partials
from irbatch.statistics import resampling, tests

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

MEASURES = "nDCG@3 AP P@2 NumRet"
RANDOM = np.random.default_rng(5)
QRELS = {f"q{i}": {f"d{j}": int(RANDOM.integers(0, 3)) for j in range(6)} for i in range(40)}
RUNS = {
    name: {q: {d: float(RANDOM.integers(0, 9)) + g * lift for d, g in QRELS[q].items()}
           for q in list(QRELS)[skipped:]}
    for name, lift, skipped in (("old", 0.0, 0), ("new", 2.0, 3), ("best", 4.0, 1))
}  # fmt: skip
RESULTS = {name: irbatch.evaluate(QRELS, run, MEASURES) for name, run in RUNS.items()}
ARRAYS = ("values", "means", "intervals", "difference_intervals", "p_values", "corrected", "wins",
          "effects")  # fmt: skip


def partial(name: str, judgments: Any = QRELS) -> list[PartialResult]:
    """A system's partial results, of three partitions."""
    run = RUNS[name]
    parts = [{query: run[query] for query in list(run)[i::3]} for i in (2, 0, 1)]
    return [evaluate_partition(judgments, part, MEASURES) for part in parts]


def table(results: irbatch.Results, seed: int = 0) -> Any:
    """Values as an engine has them: in any order."""
    rows = np.random.default_rng(seed).permutation(len(results.query_ids))
    columns = dict(zip(results.measures, results.values[rows].T.copy(), strict=True))
    return pa.table({"query_id": [results.query_ids[row] for row in rows], **columns})


def assert_same(found: Comparison, right: Comparison) -> None:
    """All numbers are the same to the bit."""
    order = [found.query_ids.index(query) for query in right.query_ids]
    for name in ARRAYS:
        mine, other = np.asarray(getattr(found, name)), np.asarray(getattr(right, name))
        mine = mine[:, order] if name == "values" else mine
        assert mine.tobytes() == other.tobytes(), name
    assert (found.systems, found.measures) == (right.systems, right.measures)


def test_partial_results() -> None:
    right = compare(RESULTS, baseline="old")
    merged = {name: merge_partials(partial(name)).results(QRELS) for name in RUNS}
    found = compare(merged, baseline="old")
    assert_same(found, right)
    assert (found.query_ids, found.settings) == (right.query_ids, right.settings)
    assert (found.unanswered, found.missing) == (right.unanswered, right.missing)


@pytest.mark.parametrize("test", ["randomisation", "t"])
def test_tables_of_engines(test: str, tmp_path: Path) -> None:
    tables = {name: table(each, seed) for seed, (name, each) in enumerate(RESULTS.items())}
    first = tables["old"]["query_id"].to_pylist()
    found = compare(tables, test=test)
    assert found.query_ids == first
    # In this order: a draw of signs belongs to a query by its place.
    right = compare({name: ordered(each, first) for name, each in RESULTS.items()}, test=test)
    assert_same(found, right)
    folder = tmp_path / "new"
    folder.mkdir()
    for i in range(2):
        parquet.write_table(tables["new"][20 * i : 20 * i + 20], folder / f"part-{i}.parquet")
    (folder / "_SUCCESS").touch()
    assert_same(compare({**tables, "new": folder}, test=test), right)
    parquet.write_table(tables["new"].drop(["AP"]), folder / "part-2.parquet")
    with pytest.raises(irbatch.InputError, match=r"part-2\.parquet.* others of"):
        compare({**tables, "new": folder})


def ordered(results: irbatch.Results, order: list[str]) -> irbatch.Results:
    """Return results of the queries in another order."""
    rows = [results.rows[query] for query in order]
    given = results.columns, results.counts, results.settings, results.name
    return irbatch.Results(results.of_queries.take(rows), order, *given)


@pytest.mark.parametrize("test", tests.TESTS)
def test_pairs_in_blocks(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    for seed in (1, 2):
        shape = (5, 60, 2)
        values = (
            np.random.default_rng(seed).integers(0, 30, shape) / 30
            + np.arange(5)[:, None, None] / 20
        )
        measures = irbatch.measures.parse_measures("AP RR")[:seed]
        counts, ids = RESULTS["old"].counts, [f"q{i}" for i in range(60)]
        given = {
            f"s{i}": irbatch.Results(Rows(each[:, :seed].copy()), ids, measures, counts, {})
            for i, each in enumerate(values)
        }
        options: dict[str, Any] = {"test": test, "draws": 300, "margin": 0.05}
        found = []
        for block in (resampling.BLOCK, 1):
            monkeypatch.setattr(resampling, "BLOCK", block)
            each = compare(given, **options)
            numbers = [getattr(each, name) for name in (*ARRAYS, "losses", "not_worse_p")]
            found.append([np.ascontiguousarray(some).tobytes() for some in numbers])
        monkeypatch.undo()
        assert found[0] == found[1]


@pytest.mark.slow
def test_a_million_queries_take_bounded_memory(tmp_path: Path) -> None:
    code = """
import resource, sys, irbatch
found = irbatch.compare(sys.argv[1:], test="t")
assert found.wins.sum() + found.losses.sum() + found.ties.sum() == 45 * 5 * 10**6
assert found.effects.shape == (45, 5)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    random = np.random.default_rng(0)
    for system in range(10):
        values = random.random((5, 10**6))
        names = ("AP", "RR", "P@5", "nDCG@10", "Recall@100")
        ids = random.permutation(10**6)
        columns = {"query_id": ids, **dict(zip(names, values, strict=True))}
        parquet.write_table(pa.table(columns), tmp_path / f"s{system}.parquet")
    command = [sys.executable, "-c", code, *map(str, sorted(tmp_path.iterdir()))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 3 << 20  # KiB; the values are 0.4 GiB, differences of pairs 1.7


def test_other_queries_are_left_out_and_listed() -> None:
    tables = {name: table(each) for name, each in RESULTS.items()}
    tables["new"] = tables["new"].slice(2)
    found = compare(tables)
    assert len(found.query_ids) == 38
    assert {name: len(each) for name, each in found.missing.items()} == {
        "old": 0, "new": 2, "best": 0
    }  # fmt: skip


WHOLE = table(RESULTS["old"])
REFUSED: dict[str, tuple[Any, str]] = {
    "no queries": (WHOLE.drop(["query_id"]), "one column is to be of queries"),
    "no measures": (WHOLE.select(["query_id"]), "there is no column of a measure"),
    "no measure": (WHOLE.append_column("time", [[1.0] * 40]), "column 'time' is not a measure"),
    "text": (WHOLE.append_column("RR", [["x"] * 40]), "column 'RR' holds no numbers"),
    "weights": (WHOLE.append_column("GAUC", [[1.0] * 40]), "weights come with Results"),
    "twice": (pa.concat_tables([WHOLE, WHOLE.slice(0, 1)]), "it stands there twice"),
    "null": (
        WHOLE.append_column("RR", [pa.nulls(40, pa.float64())]),
        "row 0: the value of 'RR' is missing",
    ),
    "nothing": (7, "values are Results, dicts, a table or a path, not an int"),
    "file": ("nowhere.parquet", "there is no such file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    given, match = REFUSED[name]
    with pytest.raises(irbatch.InputError, match=match):
        compare(QRELS, {"old": RESULTS["old"], "bad": given})


def test_dicts_as_pytrec_eval_returns_them() -> None:
    right = compare(RESULTS, baseline="old")
    dicts = {name: each.to_dict() for name, each in RESULTS.items()}
    assert_same(compare(dicts, baseline="old"), right)
    one = {"q1": {"map": 0.25, "ndcg_cut_3": 0.5}, "q2": {"map": 0.5, "ndcg_cut_3": 0.25}}
    assert compare({"a": one, "b": one}).measures == ["AP", "nDCG@3"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"q1": 0.25}, "(query 'q1'): a query's values are a mapping of measures to numbers"),
        ({"q1": {"AP": "0.25"}}, "(query 'q1'): a query's values are a mapping of measures to"),
        ({"q1": {"AP": 0.25}, "q2": {"RR": 1.0}}, "(query 'q2'): AP is not of every query"),
        ({"q1": {"apples": 1}}, "'apples' is not a measure: unknown measure"),
        ({}, "there are no values"),
        ({"q1": {"AP": 1.0}, 2: {"AP": 1.0}}, "2"),
    ],
)
def test_refused_dicts(values: Any, said: str) -> None:
    with pytest.raises(irbatch.InputError) as caught:
        compare({"a": values, "b": values})
    assert said in str(caught.value)
