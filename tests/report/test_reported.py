"""Everything that is reported is written in every form, by the same words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import irbatch
from irbatch.comparing.judges import combine, compare_judges
from irbatch.comparing.reproducibility import reproducibility
from irbatch.efficiency import EfficiencyRecord, Latency, Load, LoadAtRate
from irbatch.report import Reported

QRELS = {q: {"d1": 1, "d2": 2} for q in "abc"}
OLD = {q: {"d1": 2, "d2": 1} for q in QRELS}
NEW = {**OLD, "a": {"d3": 2, "d2": 1}}
MODEL = {f"q{i}": {"d1": i % 2, "d2": i % 3} for i in range(60)}
PEOPLE = dict(list(MODEL.items())[:25])
OF_MODEL = {query: {"d1": 2, "d2": 1} for query in MODEL}


def means() -> irbatch.Results:
    evaluator = irbatch.BatchEvaluator("RR NumRet", keep="sums")
    evaluator.update([[2.0, 1.0]], [[0, 1]])
    found = evaluator.compute()
    assert not found.has_values
    return found


MADE: dict[str, Any] = {
    "Means": means(),
    "Results": irbatch.evaluate(QRELS, OLD, "RR NumRet"),
    "SystemResults": irbatch.evaluate_runs(QRELS, {"old": OLD, "new": NEW}, "RR AP"),
    "Comparison": irbatch.compare(QRELS, {"old": OLD, "new": NEW}, "RR@2", baseline="old"),
    "Explanation": irbatch.explain(QRELS, OLD, NEW, "RR"),
    "Reproducibility": reproducibility(QRELS, (OLD, NEW), measures="RR"),
    "Leaderboard": irbatch.Leaderboard({"old": {"RR": 0.5}}, EfficiencyRecord(system="old")),
    "Judges": compare_judges({"people": PEOPLE, "model": MODEL}, {"old": OF_MODEL}, "RR"),
    "Means by both": combine(*(
        {"old": irbatch.evaluate(qrels, OF_MODEL, "RR")} for qrels in (PEOPLE, MODEL)
    )),
    "Load": Load(about=EfficiencyRecord(system="old"), rates=[
        LoadAtRate(rate=5.0, achieved=5.0, latency=Latency(mean=2.0, calls=9, loop="open")),
    ]),
}  # fmt: skip


OF_ONE = ("Means", "Results")
OF_JUDGES = ("Judges", "Means by both")  # whose repr is that of a dataclass


@pytest.mark.parametrize("name", MADE)
def test_every_form(name: str, tmp_path: Path) -> None:
    made = MADE[name]
    assert isinstance(made, Reported)
    for form in ("text", "markdown", "latex", "html", "csv", "json"):
        path = tmp_path / form
        written = getattr(made, f"to_{form}")(path)
        assert written == path.read_text("utf-8") == getattr(made, f"to_{form}")()
    assert json.loads(made.to_json())
    assert set(json.loads(made.to_json())) == set(map(str, made.to_dict())) or name in OF_ONE
    columns, *lines = made.to_csv().splitlines()
    pytest.importorskip("pandas")
    assert len(made.to_pandas()) <= len(lines)  # systems' frames are wide, and their lines long
    pytest.importorskip("polars")
    assert made.to_polars().height == len(made.to_pandas())
    wide = (*OF_ONE, "SystemResults")
    assert name in wide or made.to_polars().columns == columns.split(",")
    assert made._repr_html_().startswith("<style>")
    assert name in OF_JUDGES or max(map(len, repr(made).splitlines()[:2])) < 200
    assert " at 0x" not in repr(made) + str(made)


@pytest.mark.parametrize("name", [each for each in MADE if each not in (*OF_JUDGES, "Load")])
def test_decimals(name: str) -> None:
    for digits in (-1, 18, 2.0, "4", True, None):
        with pytest.raises(irbatch.InputError, match="decimals"):
            MADE[name].to_text(digits=digits)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "dict", "json", "pandas"])
def test_options_that_are_none(name: str, form: str) -> None:
    said = rf"^\w+\.to_{form}\(\) got an unexpected keyword argument 'captoin'"
    with pytest.raises(TypeError, match=said) as caught:
        getattr(MADE[name], f"to_{form}")(captoin="Ours")
    assert "_document" not in str(caught.value)
    if form == "latex":
        assert str(caught.value).endswith("; did you mean caption?")


def test_a_system_alone() -> None:
    results = MADE["Results"]
    assert results.to_text() == irbatch.evaluation.SystemResults(system=results).to_text()
    assert results.to_text(digits=2).splitlines()[2:6] == [
        "measure  system", "-------  ------", "RR         1.00", "NumRet        6",
    ]  # fmt: skip
    rows = results.to_markdown(per_query=True).splitlines()[:6]
    assert rows[0] == "| query | RR | NumRet |"
    assert rows[2] == "| a | 1.0000 | 2 |"
    assert rows[5] == "| all | 1.0000 | 6 |"
    with pytest.raises(irbatch.InputError, match=r"keep='queries'"):
        means().per_query("RR")
