"""``evaluate(trec_eval=…)``: what the presets set, and what is said beside them wins."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any

import pytest
from support.input_errors import input_error
from support.trec_eval_command import BOTH

import irbatch
from irbatch.trec_eval import MissingQueryError, TrecEval, print_lines

Judged = dict[str, dict[str, float]]
JUDGED: Judged = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1, "e": 12}}
RANKED: Judged = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"e": 1.0}}
LACKING = {**JUDGED, "q3": {"f": 1}}
TIED: Judged = {"q1": {"a": 1.0000000001, "x": 1.0}, "q2": {"e": 1.0}}  # as float32 only


def averages(options: TrecEval, qrels: irbatch.Qrels, run: irbatch.Run) -> dict[str, float]:
    lines = (line.split("\t") for line in print_lines(options, qrels, run))
    return {name.rstrip(): float(value) for name, _, value in lines if name.rstrip() != "runid"}


@BOTH
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("file", ["pca10.run", "pixels-cosine.run"])
def test_averages_are_those_of_the_preset(
    digits: Path, version: str, level: int, file: str
) -> None:
    """Of real data; some topics are missing from the first run, and some judgments are fewer."""
    qrels = irbatch.read_qrels(digits / "qrels.txt")
    run = irbatch.read_run(digits / file)
    complete = version == "10"
    options = TrecEval(["all_trec"], version, complete=complete, level=level)
    wanted = [each.measure for each in options.values() if each.measure is not None]
    results = irbatch.evaluate(
        qrels, run, wanted, trec_eval=version, missing="zero" if complete else None, rel=level
    )
    expected = averages(options, qrels, run)
    found = results.mean("trec_eval")
    if complete and level > 1:  # trec_eval's own: counted at level 1
        assert expected.pop("num_rel") >= found.pop("num_rel")
    assert found == pytest.approx(expected, rel=0, abs=5.1e-5)


def test_version_10_refuses_missing_topics(digits: Path) -> None:
    files = [digits / "qrels.txt", digits / "pca10.run"]
    fact = "4 of 120 judged queries are missing"
    call = functools.partial(irbatch.evaluate, *files, "AP", trec_eval="10")
    input_error(call, fact, source="run", path=str(files[1]))
    qrels, run = irbatch.read_qrels(files[0]), irbatch.read_run(files[1])
    lines = print_lines(TrecEval(["map"]), qrels, run)
    with pytest.raises(MissingQueryError):
        list(lines)


@pytest.mark.parametrize(
    ("settings", "queries", "mean"),
    [
        ({}, 3, 4 / 9),
        ({"trec_eval": "9"}, 2, 2 / 3),
        ({"trec_eval": "9", "missing": "zero"}, 3, 4 / 9),
        ({"trec_eval": "10", "missing": "zero"}, 3, 4 / 9),
        ({"trec_eval": "10", "missing": "skip"}, 2, 2 / 3),
    ],
)
def test_what_is_said_of_missing_queries_wins(
    settings: dict[str, Any], queries: int, mean: float
) -> None:
    results = irbatch.evaluate(LACKING, RANKED, "AP", **settings)
    assert results.counts.queries == queries
    assert results["AP"] == pytest.approx(mean, rel=1e-15)
    settings = {**settings, "missing": "error"}
    said = "1 of 3 judged queries are missing, such as 'q3'"
    input_error(lambda: irbatch.evaluate(LACKING, RANKED, "AP", **settings), said, source="run")


def test_what_is_said_of_scores_wins() -> None:
    for settings, value in (
        ({}, 1.0),
        ({"trec_eval": "9"}, 0.5),  # x stands above a
        ({"trec_eval": "10"}, 1.0),
        ({"trec_eval": "9", "score_dtype": "float64"}, 1.0),
        ({"trec_eval": "10", "score_dtype": "float32"}, 0.5),
    ):
        found = irbatch.evaluate(JUDGED, TIED, "RR", **settings)  # type: ignore[arg-type]
        assert found.per_query("RR")["q1"] == value


@pytest.mark.parametrize(("version", "values"), [(None, (1.0, 1.0)), ("10", (1.0, 1.0)),
                                                 ("9", (2 / 3, 0.0))])  # fmt: skip
def test_recall_points_of_the_preset(version: str | None, values: tuple[float, float]) -> None:
    results = irbatch.evaluate(JUDGED, RANKED, "iprec_at_recall_0.70", trec_eval=version)
    assert tuple(results.values[:, 0].tolist()) == values


def test_the_signature_names_what_is_asked_for() -> None:
    assert not {"as", "depth"} & set(irbatch.evaluate(JUDGED, RANKED, "AP").settings)
    settings: dict[str, Any] = {"trec_eval": "9", "rel": 2, "max_depth": 7}
    results = irbatch.evaluate(JUDGED, RANKED, "AP", **settings)
    for name, value in {
        "as": "trec_eval 9", "missing queries": "skip", "depth": "at most 7",
        "relevant": "grade >= 2 unless rel=",
        "order": "score (float32) descending, then document id descending",
    }.items():  # fmt: skip
        assert results.settings[name] == value
        assert f"{name}: {value}" in results.signature


def test_rel_is_for_measures_without_their_own() -> None:
    results = irbatch.evaluate(JUDGED, RANKED, ["AP", "AP(rel=1)", "nDCG"], rel=2)
    usual = irbatch.evaluate(JUDGED, RANKED, ["AP(rel=2)", "AP", "nDCG"])
    assert results.values.tolist() == usual.values.tolist()
    assert results.per_query("AP") == {"q1": 1.0, "q2": 1.0}


def test_max_depth_forgets_the_rest() -> None:
    results = irbatch.evaluate(JUDGED, RANKED, ["NumRet", "R", "Rprec"], max_depth=2)
    assert results.values.tolist() == [[2.0, 0.5, 0.5], [1.0, 0.5, 0.5]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("trec_eval", value) for value in (True, 0, 8, 11, -1, 2.5, "x", "9.0.8", math.nan)),
        *(("max_depth", value) for value in (True, 0, -1, 2.5, "x", math.nan)),
        *(("rel", value) for value in (True, -1, "x", math.nan, math.inf)),
    ],
)
def test_bad_settings(name: str, value: object) -> None:
    settings: dict[str, Any] = {name: value}
    input_error(lambda: irbatch.evaluate(JUDGED, RANKED, "AP", **settings),
            f"{name}={value!r} must be", value=value)  # fmt: skip
