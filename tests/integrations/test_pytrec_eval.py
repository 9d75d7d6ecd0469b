"""pytrec_eval's interface against pytrec_eval."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from support.other_tools import Table, python
from support.random_problems import nasty_problems, tamed

from irbatch.integrations import pytrec_eval as ours

EVERYTHING = sorted(pytrec_eval.supported_measures)
# pytrec_eval leaves them unset: 0 or whatever the memory held.
UNSET = ("runid", "relstring")
NO_QUERY = "no query"  # pytrec_eval's own mark; as an id it spoils the query of that name
Evaluated = dict[str, dict[str, float]]

JUDGED: Table = {"q": {"a": 1, "b": 0, "c": 2}, "p": {"d": 1}}
RANKED: Table = {"p": {"x": 2.0, "d": 1.0}, "q": {"b": 3.0, "a": 2.0, "x": 1.5, "c": 1.0}}


def evaluated(module: Any, qrels: Table, run: Table, measures: Iterable[str], *options: Any) -> Any:
    """What a script with either import gets."""
    return module.RelevanceEvaluator(qrels, measures, *options).evaluate(run)


def agree(
    theirs: Evaluated, found: Evaluated, rel: float = 0, ignore: Iterable[str] = UNSET
) -> int:
    """Check that queries, names, their orders and values are the same; the number compared."""
    assert list(found) == list(theirs)
    compared = 0
    for query in theirs.keys() - {NO_QUERY}:
        assert list(found[query]) == list(theirs[query])
        for name, value in theirs[query].items():
            mine = found[query][name]
            assert type(mine) is float
            if name in ignore:
                assert mine == 0.0
            elif math.isnan(value):  # of an empty ranking, an accepted disagreement
                assert mine == 0.0
                assert name.startswith(("iprec", "11pt"))
            else:
                assert mine == pytest.approx(value, rel=rel, abs=0), (query, name)
                compared += 1
    return compared


# Values


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("judged_only", [False, True])
def test_nasty_problems(level: int, judged_only: bool) -> None:
    compared = 0
    for problem in nasty_problems(seed=17 + level, count=50):
        qrels, run = tamed(*problem)
        both = [evaluated(module, qrels, run, EVERYTHING, level, judged_only)
                for module in (pytrec_eval, ours)]  # fmt: skip
        compared += agree(*both)
    assert compared > 8_000


SPECIFIC: dict[str, tuple[Table, Table]] = {
    "float32 near-ties": ({"q": {"a": 1}}, {"q": {"a": 1 + 1e-9, "x": 1.0, "b": 1 - 1e-9}}),
    "not quite near-ties": ({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 1 + 2e-7}}),
    "beyond float32": ({"q": {"a": 1}}, {"q": {"a": 1e39, "x": 1e300, "b": math.inf}}),
    "ties": ({"q": {"a": 1, "c": 2}}, {"q": dict.fromkeys("cabd", 0.5)}),
    "negative grades": ({"q": {"a": -1, "b": -3, "c": 1, "d": 0}}, {"q": dict.fromkeys("abcd", 1)}),
    "missing and extra queries": (JUDGED | {"m": {"a": 1}}, {"x": {"a": 1.0}} | RANKED),
    "an empty query": (JUDGED | {"e": {}}, RANKED | {"e": {"a": 1.0}}),
    "nothing judged": ({}, RANKED),
    "nothing retrieved": (JUDGED, {}),
    "an empty ranking": ({"p": {"a": 1}, "q": {"a": 1, "b": 0}}, {"p": {"a": 1.0}, "q": {}}),
    "R = 0": ({"q": {"a": 0, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}),
    "R > k": ({"q": {f"d{i}": 1 + i % 3 for i in range(40)}}, {"q": {"d3": 1.0, "d7": 2.0}}),
    "n < k": ({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}),
    "non-ASCII ids": ({"é": {"ü": 1, "\uffff": 1}}, {"é": dict.fromkeys(["ü", "\U0001f600"], 1)}),
    "gaps in grades": ({"q": {"a": 7, "b": 0, "c": 50}}, {"q": {"b": 3, "a": 2, "c": 1}}),
    "whole scores, and truths": ({"q": {"a": True, "b": False}}, {"q": {"a": 1, "b": True}}),
    "queries in neither order": (
        {q: {"a": 1} for q in ("10", "9", "b", "A")}, {q: {"a": 1.0} for q in ("b", "9", "A", "10")}
    ),
}  # fmt: skip


@pytest.mark.parametrize("options", [(), (2,), (1, True), (2, 1), (np.int64(3),), (100,)])
@pytest.mark.parametrize("case", SPECIFIC)
def test_specific_problems(case: str, options: tuple[Any, ...]) -> None:
    qrels, run = SPECIFIC[case]
    both = [evaluated(each, qrels, run, EVERYTHING, *options) for each in (pytrec_eval, ours)]
    agree(*both)


SPELLINGS: list[Iterable[str]] = [
    *([name] for name in EVERYTHING), *([name] for name in ("official", "set", "all_trec")),
    ["P.5,10"], ["P_5"], ["P_5,10"], ["P", "P_3"], ["P_3", "P"], ["P_10", "P_3"], ["P.5,5"],
    ["P.5", "P_5"], ["P.2.5"], ["P.5x"], ["P_5 10"], ["P.5, 10"], ["P.1e2"], ["P.10,9,100,2"],
    ["P.1000000"], ["P.99999999999"], ["P_010"], ["official", "P.3"], ["ndcg_cut_10"],
    ["ndcg_cut.1,2", "ndcg_cut_2"], ["ndcg_cut.99999999999"], ["map_cut.1,10"], ["map.5"],
    ["map_5"], ["map", "map.5"], ["recall.2", "recall_3"], ["relative_P.1,4"], ["success.3"],
    ["success_1,2"], ["iprec_at_recall.0.1,0.3"], ["iprec_at_recall_0.5"], ["iprec_at_recall.1"],
    ["iprec_at_recall.0.5,0.5"], ["iprec_at_recall.0.101,0.1"], ["Rprec_mult.0.5"],
    ["Rprec_mult.0,1"], ["Rprec_mult.2.5,10"], ["11pt_avg.0.5,0.75"], ["11pt_avg_0.5"],
    ["11pt_avg.0"], ["set_F.2"], ["set_F_2"], ["set_F.0.5"], ["set_F.1,2"], ["set_F.2", "set_F.3"],
    ["utility.1,2,3,4"], ["utility.4,3,2,1"], ["recip_rank.3"], ["num_ret.3"], ["num_q.2"],
    ["runid.3"], ["binG.1"], ["set_map.1"], ["bpref.1"], ["infAP.1"], [],
    ("map", "P_5"), {"map"}, {"map": 0, "P_5": 0},
    ["relstring.5"],
]  # fmt: skip


@pytest.mark.parametrize("measures", SPELLINGS, ids=str)
def test_spellings(measures: Iterable[str]) -> None:
    relevant = {f"d{i}": i % 4 for i in range(60)}
    qrels, run = relevant | {"e": -1}, {f"d{i}": float(i * 7 % 61) for i in range(10, 70)}
    both = [evaluated(module, JUDGED | {"r": qrels}, RANKED | {"r": run}, measures)
            for module in (pytrec_eval, ours)]  # fmt: skip
    weighted = any(each.startswith("set_F") for each in measures)  # by the square of a root
    agree(*both, rel=1e-14 if weighted else 0)


# What else is in the module


def test_supported() -> None:
    assert ours.supported_measures == pytrec_eval.supported_measures
    known = {name: set(names) for name, names in pytrec_eval.supported_nicknames.items()
             if set(names) <= pytrec_eval.supported_measures}  # fmt: skip
    assert ours.supported_nicknames == known
    assert known.keys() == {"official", "set", "all_trec"}


@pytest.mark.parametrize("lines", [
    ["q Q0 d 1 2.5 t"], ["q Q0 d 1 2 t\n", "p Q0 d 7 -1e-3 u\r\n", "q Q0 e 0 inf t"],
    ["q\tQ0 \t d  1 2 t"], ["é Q0 ü 1 2 t"], ["\ufeffq Q0 d 1 2 t"], ["007 x 1e1 1 2 t"],
])  # fmt: skip
def test_parse_run(lines: list[str]) -> None:
    assert ours.parse_run(lines) == pytrec_eval.parse_run(lines)
    assert list(ours.parse_run(iter(lines))) == list(pytrec_eval.parse_run(iter(lines)))


@pytest.mark.parametrize("lines", [
    ["q 0 d 1"], ["q 0 d -1", "p 0 d 01", "q 0 e +3\n"], ["q\t0\td  2\r\n"],
    ["é 0 ü 9007199254740991"],
])  # fmt: skip
def test_parse_qrel(lines: list[str]) -> None:
    found = ours.parse_qrel(lines)
    assert found == pytrec_eval.parse_qrel(lines)
    assert all(type(grade) is int for each in found.values() for grade in each.values())


@pytest.mark.parametrize("name", ["map", "num_q", "num_rel_ret", "gm_map", "gm_bpref", "P_5"])
@pytest.mark.parametrize("values", [[1.0, 0.5], (1, 2), np.array([1.0, 2.0]), [1e16, 1.0, -1e16],
                                    [math.nan, 1.0], [0.1] * 1001])  # fmt: skip
def test_aggregates(name: str, values: Any) -> None:
    found = ours.compute_aggregated_measure(name, values)
    assert type(found) is float
    assert found == pytest.approx(
        pytrec_eval.compute_aggregated_measure(name, values), rel=0, abs=0, nan_ok=True
    )


# An evaluator over time


@pytest.mark.parametrize("module", [pytrec_eval, ours])
def test_runs_follow_each_other_and_later_changes_are_not_seen(module: Any) -> None:
    qrels, measures = copy.deepcopy(JUDGED), ["map", "ndcg"]
    evaluator = module.RelevanceEvaluator(qrels, measures)
    before = evaluator.evaluate(RANKED)
    qrels["q"].update(a=0, b=5, new=1)
    qrels["new"] = qrels.pop("p")
    measures.append("P")
    other = {"q": {"c": 1.0}}
    assert evaluator.evaluate(other) == evaluated(module, JUDGED, other, ["map", "ndcg"])
    assert evaluator.evaluate({}) == {}
    assert evaluator.evaluate(RANKED | {"new": {"d": 1.0}}) == before


# Patching: what it replaces, for how long, and without pytrec_eval


def test_importing_patches_nothing() -> None:
    code = """
import sys, irbatch.integrations.pytrec_eval as ours
assert "pytrec_eval" not in sys.modules
import pytrec_eval, importlib
before = dict(vars(pytrec_eval))
importlib.reload(ours)
assert dict(vars(pytrec_eval)) == before
assert pytrec_eval.RelevanceEvaluator is not ours.RelevanceEvaluator
"""
    assert python(code).stderr == ""


def test_patched() -> None:
    def replaced() -> set[bool]:
        names = set(ours.__all__) - {"patched"}
        return {getattr(pytrec_eval, name) is getattr(ours, name) for name in names}

    before = dict(vars(pytrec_eval))
    assert replaced() == {False}
    with ours.patched() as module:
        assert module is pytrec_eval
        with pytest.raises(KeyError), ours.patched():
            raise KeyError(replaced() == {True})
        assert replaced() == {True}
    assert dict(vars(pytrec_eval)) == before


WITHOUT = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pytrec_eval":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
from irbatch.integrations import pytrec_eval as ours
def missing():
    try:
        import pytrec_eval
    except ImportError:
        return "pytrec_eval" not in sys.modules
assert missing()
with ours.patched() as module:
    import pytrec_eval
    from pytrec_eval import RelevanceEvaluator
    assert pytrec_eval is module is ours and RelevanceEvaluator is ours.RelevanceEvaluator
    with ours.patched():
        import pytrec_eval
    import pytrec_eval
assert missing()
try:
    with ours.patched():
        raise KeyError
except KeyError:
    assert missing()
"""


def test_patched_without_pytrec_eval() -> None:
    assert python(WITHOUT).stderr == ""
