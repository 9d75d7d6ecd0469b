"""Options for interactions: repeated ones, what users have seen, and runs without judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from support.input_errors import input_error

from irbatch import Items, Qrels, Run, evaluate, evaluate_ids, evaluate_runs, read_qrels

TAKEN = pd.DataFrame({"user_id": [1, 2, 1, 1], "item_id": [10, 12, 11, 10], "weight": [1, 3, 1, 4]})
RUN = {1: {11: 3.0, 10: 2.0, 13: 1.0}, 2: {12: 1.0, 13: 0.5}}
GRADES = {"first": 1, "max": 4, "sum": 5}


@pytest.mark.parametrize("repeats", GRADES)
def test_repeats(repeats: str, tmp_path: Path) -> None:
    expected = {1: {10: GRADES[repeats], 11: 1}, 2: {12: 3}}
    made = Qrels.from_table(TAKEN, repeats=repeats)
    assert made.to_dict() == expected
    assert Qrels.from_columns(*TAKEN.to_numpy().T, repeats=repeats).to_dict() == expected
    TAKEN.to_csv(tmp_path / "taken.csv", index=False)
    TAKEN.to_parquet(tmp_path / "taken.parquet")
    for name in ("taken.csv", "taken.parquet"):
        found = read_qrels(tmp_path / name, repeats=repeats).to_dict()
        assert {
            int(user): {int(i): g for i, g in each.items()} for user, each in found.items()
        } == (expected)
    results = evaluate(TAKEN, RUN, "nDCG@2", repeats=repeats)
    assert results.values.tolist() == evaluate(expected, RUN, "nDCG@2").values.tolist()
    assert results.settings["repeated judgments"] == repeats


def test_repeats_of_many_rows() -> None:
    rng = np.random.default_rng(0)
    users, items, weights = rng.integers(0, 300, (3, 5000))
    frame = pd.DataFrame({"user": users, "item": items % 50, "weight": weights})
    grouped = frame.groupby(["user", "item"]).weight
    for repeats, values in [
        ("first", grouped.first()),
        ("max", grouped.max()),
        ("sum", grouped.sum()),
    ]:
        found = Qrels.from_table(frame, repeats=repeats).to_dict()
        pairs = {
            (user, item): grade for user, each in found.items() for item, grade in each.items()
        }
        assert pairs == values.to_dict()


def test_repeats_are_an_error_that_says_so(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"source": "qrels", "query": 1, "document": 10}
    input_error(lambda: evaluate(TAKEN, RUN, "RR"), "rows 0 and 3", "repeats='max'", **fields)
    input_error(lambda: evaluate(TAKEN, RUN, "RR", repeats="mean"), "repeats='mean'", "'sum'")
    TAKEN.to_csv(tmp_path / "taken.csv", index=False)
    where = {"line": 5, "query": "1"}
    input_error(lambda: read_qrels(tmp_path / "taken.csv"), "line 2; repeats='max'", **where)
    marked = {"aspect": [1, 1, 1, 1], **TAKEN}
    for call in (
        lambda: Qrels.from_table(marked, marks="subtopics", repeats="sum"),
        lambda: Qrels.from_columns([1], [1], [1], subtopics=[1], repeats="sum"),
        lambda: read_qrels(tmp_path / "taken.csv", marks="subtopics", repeats="sum"),
    ):
        input_error(call, "repeats='sum' is for", "not of subtopics", source="qrels")


SEEN = {1: [11, 99], 7: [13]}
ENTRIES = ([1.0, 2.0, 1.0], ([1, 1, 7], [11, 99, 13]))
FORMS: dict[str, Any] = {
    "mapping": SEEN,
    "qrels": Qrels({1: {11: 1, 99: 1}, 7: {13: 1}}),
    "frame": pd.DataFrame({"user_id": [1, 7, 1, 1], "item_id": [11, 13, 99, 11]}),
    "sparse": sp.csr_array(ENTRIES, shape=(8, 100)),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_users_have_seen_is_taken_out(form: str, tmp_path: Path) -> None:
    qrels = {1: {10: 1, 11: 1}, 2: {13: 1}}
    left = {1: {10: 2.0, 13: 1.0}, 2: RUN[2]}
    expected = evaluate(qrels, left, "AP P@1").values.tolist()
    frame = pd.DataFrame([(u, i, s) for u in RUN for i, s in RUN[u].items()])
    frame.columns = ["user", "item", "score"]
    frame.to_parquet(tmp_path / "run.parquet")
    for run in (RUN, Run(RUN).prepared(), frame, tmp_path / "run.parquet"):
        results = evaluate(qrels, run, "AP P@1", exclude=FORMS[form])
        assert results.values.tolist() == expected
        assert "without 3 excluded of " in results.settings["order"]
    several = evaluate_runs(qrels, {"a": RUN}, "AP P@1", exclude=FORMS[form])
    assert several["a"].values.tolist() == expected
    ranked = {user: [*items] for user, items in RUN.items()}
    for relevant in (qrels, Qrels(qrels)):
        results = evaluate_ids(ranked, relevant, "AP P@1", exclude=FORMS[form])
        assert results.values.tolist() == expected
        assert results.settings["order"].startswith("as given, without 3 excluded of ")
    assert RUN[1][11] == 3.0


@pytest.mark.parametrize("seen", [[[5], [3, 4]], np.array([[5, -1], [3, 4]]), [{5}, {3: 1, 4: 2}]])
@pytest.mark.parametrize("query_ids", [None, ["a", "b"]])
def test_lists_of_what_is_excluded_pair_by_position(seen: Any, query_ids: Any) -> None:
    ids = {"ranked": [[5, 1, 2], [3, 4, 9]], "query_ids": query_ids}
    results = evaluate_ids(**ids, relevant=[[1], [9]], measures="P@1 RR", exclude=seen)
    assert results.mean() == {"P@1": 1.0, "RR": 1.0}
    found = evaluate_ids(**ids, relevant=None, measures="CatalogueCoverage@2", items=Items(10),
                         exclude=seen).mean()  # fmt: skip
    assert found == {"CatalogueCoverage@2": 0.3}
    call = {**ids, "relevant": [[1], [9]], "measures": "RR", "exclude": seen[:1]}
    input_error(lambda: evaluate_ids(**call), "1 list for 2 queries", source="exclude")


def test_excluded_ids_of_another_kind() -> None:
    qrels = {1: {10: 1}}
    input_error(lambda: evaluate(qrels, RUN, "RR", exclude={"1": [11]}), "'1'", source="exclude")
    input_error(lambda: evaluate(qrels, RUN, "RR", exclude={1: ["11"]}), "'11'", source="exclude")
    input_error(lambda: evaluate(qrels, RUN, "RR", exclude=5), source="exclude")
    assert evaluate(qrels, RUN, "RR", exclude={1: []})["RR"] == 0.5


def test_lists_need_no_judgments() -> None:
    items, names = Items(popularity={10: 1, 11: 2, 12: 3, 13: 0}), "Gini@1 CatalogueCoverage@2"
    found = evaluate(None, RUN, names, items=items)
    judged = evaluate({1: {10: 1}, 2: {12: 1}}, RUN, names, items=items)
    assert found.mean() == judged.mean()
    assert (found.counts.queries, found.counts.no_relevant) == (2, 0)
    assert found.settings["judgments"] == "none"
    for name in ("nDCG@10", "Gini@1 Serendipity@2"):
        input_error(
            lambda name=name: evaluate(None, RUN, name, items=items), "None", source="qrels"
        )
    for relevant in ([[10], [12]], None):
        ranked = evaluate_ids([[11, 10], [12, 13]], relevant, names, items=items)
        assert ranked.mean() == found.mean()
    assert (ranked.counts.no_relevant, ranked.settings["judgments"]) == (0, "none")
    input_error(lambda: evaluate_ids([[1]], None, "RR"), "RR reads judgments", source="qrels")
    input_error(lambda: evaluate_ids(5, None, names, items=items), source="ranked")
