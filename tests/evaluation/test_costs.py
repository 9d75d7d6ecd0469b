"""Costs of documents: from every container of rankings, beside every setting, and refused ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.data import DocumentCosts

QRELS = {"q": {"a": 1, "b": 0, "c": 1}, "p": {"a": 1}, "missing": {"c": 1}}
RUN = {"q": {"x": 3.0, "a": 2.0, "b": 2.0, "c": 0.5}, "p": {"c": 1.0, "a": 0.5}}
COSTS = {"a": 1.0, "b": 2.0, "c": 4.0, "unretrieved": 8.0}
# Everything that is looked at, to the fourth rank: documents of unknown cost, and none, cost 8.
NAMES = "cwlP(number={ETC,resETC})@4 cwlP(number=ETU)@4 TBG(h=2,number={EU,EC,ETC,ED}) AP nDCG@2"


def evaluate(run: Any = RUN, measures: Any = NAMES, **settings: Any) -> irbatch.Results:
    settings.setdefault("costs", COSTS)
    return irbatch.evaluate(QRELS, run, measures, **settings)


def column(name: str, **settings: Any) -> dict[str, float]:
    found: dict[str, float] = evaluate(measures=name, **settings).per_query(name)
    return found


def test_what_documents_cost() -> None:
    assert column("cwlP(number=ETC)@4") == {"q": 8 + 2 + 1 + 4, "p": 4 + 1 + 8 + 8, "missing": 32}
    assert column("cwlP(number=resETC)@4") == {"q": 1 - 8, "p": 2 * (1 - 8), "missing": 4 * -7}
    settings = {"costs": DocumentCosts(COSTS, lowest=0.5, highest=10)}
    assert column("cwlP(number=ETC)@4", **settings)["p"] == 4 + 1 + 10 + 10
    assert column("cwlP(number=resETC)@4", **settings)["p"] == 2 * (0.5 - 10)


def test_other_measures_in_the_same_call() -> None:
    names = ["AP", "nDCG@2", "P@3"]
    together = evaluate(measures=[*names, "TBG"])
    alone = irbatch.evaluate(QRELS, RUN, names)
    assert {name: together.per_query(name) for name in names} == {
        name: alone.per_query(name) for name in names
    }
    assert together.settings["costs"] == "of 4 documents; 1 to 8 of others"
    assert "costs" not in alone.settings


def as_frame(run: dict[str, dict[str, float]]) -> pd.DataFrame:
    rows = [(q, d, s) for q, each in run.items() for d, s in each.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])


def test_every_container_gives_the_same_bits(tmp_path: Path) -> None:
    backwards = {q: dict(reversed(each.items())) for q, each in reversed(RUN.items())}
    irbatch.Run(RUN).to_trec(tmp_path / "x.run")
    runs = as_frame(RUN), irbatch.Run(RUN), irbatch.Run(RUN).prepared(), tmp_path / "x.run"
    for run in (*runs, backwards):
        assert evaluate(run).to_dict() == evaluate().to_dict()
    several = irbatch.evaluate_runs(QRELS, {"x": RUN}, NAMES, costs=COSTS)
    assert several["x"].to_dict() == evaluate().to_dict()


def test_a_large_file_is_read_whole(tmp_path: Path) -> None:
    run = {f"q{i}": {f"d{j}": float(-j) for j in range(400)} for i in range(20)}
    qrels = {query: {"d3": 1} for query in run}
    costs = {f"d{j}": 1 + j % 3 for j in range(400)}
    irbatch.Run(run).to_trec(tmp_path / "x.run")
    assert (tmp_path / "x.run").stat().st_size > 1 << 17
    wanted = "TBG(number={EU,ETC})"
    from_file = irbatch.evaluate(qrels, tmp_path / "x.run", wanted, costs=costs)
    assert from_file.to_dict() == irbatch.evaluate(qrels, run, wanted, costs=costs).to_dict()


def test_whole_numbers_as_ids() -> None:
    qrels, run = {1: {10: 1}}, {1: {10: 1.0, 2**40: 2.0}}
    found = irbatch.evaluate(qrels, run, "cwlP(number=ETC)@2", costs={10: 3, 2**40: 4})
    assert found.values.tolist() == [[7.0]]
    mixed = lambda: irbatch.evaluate(qrels, run, "TBG", costs={"10": 3})  # noqa: E731
    input_error(mixed, "ids are text, such as '10', and those of documents", source="costs")


def test_ties_and_depths() -> None:
    """`a` and `b` share a score in q: b is before a by id, after it as they came."""
    name = "cwlP(number=ETC)@2"
    assert column(name)["q"] == 8 + 2
    for ties in ("id_ascending", "index"):
        assert column(name, ties=ties)["q"] == 8 + 1
    for ties in ("expected", "pessimistic", "optimistic", "error"):
        input_error(lambda ties=ties: column(name, ties=ties), f"ties={ties!r}", "id, id_asc")
    assert column(name, max_depth=1)["q"] == 8 + 8
    assert column(name, judged_only=True)["q"] == 2 + 1


@pytest.mark.parametrize("cost", [0, -1, float("nan"), float("inf"), "1", None, 10**400])
def test_refused_costs(cost: Any) -> None:
    input_error(lambda: evaluate(costs={"a": 1, "b": cost}), "cost", source="costs", document="b")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: evaluate(costs=[1.0]), "a mapping of documents to numbers above 0"),
        (lambda: evaluate(costs={}), "a mapping of documents to numbers above 0"),
        (lambda: DocumentCosts(COSTS, lowest=9), "lowest=9 is above the highest cost, 8"),
        (lambda: DocumentCosts(COSTS, highest=0), "highest=0 must be a number above 0"),
        (lambda: evaluate(costs={("a",): 1}), "('a',)"),
        (
            lambda: irbatch.evaluate({"q": {"s": {"a": 1}}}, RUN, "StRecall@1", costs=COSTS),
            "no measure of subtopics reads costs",
        ),
    ],
)
def test_refused_arguments(call: Callable[[], object], said: str) -> None:
    input_error(call, said)
