"""The interfaces of pytrec_eval and BEIR on what is theirs alone to reject; see bad_input/."""

from __future__ import annotations

import importlib
import math
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch.integrations import beir
from irbatch.integrations.pytrec_eval import RelevanceEvaluator, parse_qrel, parse_run

JUDGED = {"q1": {"a": 1, "b": 0}}
RANKED = {"q1": {"a": 1.0, "b": 2.0}}
NO_TABLES = ("x", 3, [("q1", {})], iter(["q1"]), np.array(1))


def evaluated(
    qrels: Any = JUDGED, scores: Any = RANKED, measures: Any = ("map",), level: Any = 1
) -> Any:
    """Evaluate as pytrec_eval does."""
    return RelevanceEvaluator(qrels, measures, level).evaluate(scores)


def rejected() -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Arguments of `evaluated`, a word of the error, and its fields."""
    for name, source in (("qrels", "qrels"), ("scores", "run")):
        for documents in (["a"], "ab", None, 3):
            yield {name: {"q1": documents}}, "", {"source": source, "query": "q1"}
        for table in NO_TABLES:
            yield {name: table}, "of queries to documents", {"source": source}
    for names in (None, 3, "map"):
        yield {"measures": names}, "", {"source": "measures"}
    for names in ([1], [None], [b"map"], [("map",)], ["map", "nope"], ["P."], ["P.x"], ["rbp"]):
        yield {"measures": names}, "unsupported measure", {"source": "measures"}
    for name in ("P.0", "P_0", "utility.1,2", "set_F.0", "11pt_avg.2"):
        yield {"measures": ["map", name]}, "must be", {}
    yield {"qrels": {"q1": {"a": 1.5}}}, "not a whole number", {"query": "q1", "document": "a"}
    for level in (None, 0, -1, 1.5, "1", True, math.nan, np.array(1), np.True_):
        fact = f"relevance_level {level!r} must be a whole number of at least 1"
        yield {"level": level}, fact, {"value": level}


@pytest.mark.parametrize(("given", "fact", "fields"), list(rejected()))
def test_rejected(given: dict[str, Any], fact: str, fields: dict[str, Any]) -> None:
    input_error(lambda: evaluated(**given), fact, **fields)


def test_nothing_to_evaluate() -> None:
    for scores in ({}, {"zz": {"a": 1.0}}, {1: {"a": 1.0}}):
        assert evaluated(scores=scores) == {}
    assert evaluated({}) == evaluated({"q1": {}}) == {}
    assert evaluated(measures=set()) == {"q1": {}}
    assert evaluated(measures=iter(["map", "P.1"])) == {"q1": {"map": 0.5, "P_1": 0.0}}


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (["x"], "line 1 (query 'x'): 1 column where"),
        (["", " "], "no data lines"),
        (["q 0 a 1.5"], "grade 1.5 is not a whole number"),
        (["q 0 a 1", "q 0 a 1"], "line 2 (query 'q', document 'a')"),
        ([b"q 0 \xff 1"], "UTF-8"),
        (["q 0 \ud800 1"], ""),
        *((lines, "") for lines in (None, 3, [1], [None], [["q 0 a 1"]])),
    ],
)
def test_lines_of_judgments(lines: Any, fact: str) -> None:
    input_error(lambda: parse_qrel(lines), fact)
    input_error(lambda: parse_run(lines))


BEIR: list[Callable[..., Any]] = [
    beir.evaluate,
    *(partial(beir.evaluate_custom, metric=metric) for metric in beir.CUSTOM),
]


@pytest.mark.parametrize("call", BEIR, ids=["evaluate", *beir.CUSTOM])
def test_beir(call: Callable[..., Any]) -> None:
    for k in (0, -1, 1.5, 1.0, "1", True, None, [1]):
        error = input_error(partial(call, JUDGED, RANKED, [10, k]), f"cutoff {k!r}")
        assert error.value is k
    for cutoffs in ([], 5, None, "12"):
        input_error(partial(call, JUDGED, RANKED, cutoffs))
    for table in (*NO_TABLES, {"q1": None}, {"q1": []}):
        input_error(partial(call, table, RANKED, [1]), source="qrels")
        input_error(partial(call, JUDGED, table, [1]), source="run")
    input_error(lambda: call(JUDGED, {"zz": {"a": 1.0}}, [1]), "no query of it is judged", "'q1'")
    input_error(lambda: call({}, RANKED, [1]), "no queries")
    found = call(JUDGED, RANKED, [10, 1, np.int64(10)])
    for each in found if isinstance(found, tuple) else [found]:
        assert [name.partition("@")[2] for name in each] == ["10", "1"]
    assert call(JUDGED, RANKED, range(1, 3)) == call(JUDGED, RANKED, np.array([1, 2]))


@pytest.mark.parametrize("metric", [None, "nope", "", 3, ["mrr"], "MRR@10"])
def test_beirs_metrics(metric: Any) -> None:
    call = partial(beir.evaluate_custom, JUDGED, RANKED, [1], metric)
    assert input_error(call, f"metric {metric!r} must be one of").value is metric


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("ir_measures", "pip install ir_measures"), ("keras", "pip install 'irbatch[keras]'"),
        ("torchmetrics", "pip install 'irbatch[torchmetrics]'"),
        ("sentence_transformers", "pip install 'irbatch[sentence-transformers]'"),
    ],
)  # fmt: skip
def test_what_is_not_installed_is_named(
    package: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"irbatch.integrations.{package}", raising=False)
    with pytest.raises(ImportError, match=re.escape(said)):
        importlib.import_module(f"irbatch.integrations.{package}")
