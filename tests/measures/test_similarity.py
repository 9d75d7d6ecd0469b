"""Compat and rank correlation with an ideal: worked examples, and what other programs print."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import pytest
from support.paths import MORE_REFERENCE_DATA

import irbatch
from irbatch.statistics.agreement import kendall_tau, tau_ap

# Of its documents d2 is not judged, d6 not retrieved.
QRELS = {"q": {"d1": 1, "d3": 3, "d4": 0, "d5": 2, "d6": 2}}
RUN = {"q": {f"d{i}": 6.0 - i for i in range(1, 6)}}
COMPAT_FILE = re.compile(r"(?P<name>.+)\.compat_p(?P<p>[\d.]+?)(?P<plain>_unnormalised)?\.csv\.gz")
OF_COMPAT = sorted(path.name for path in MORE_REFERENCE_DATA.glob("e_*/expected/*.compat_p*"))
IN_DATA = {
    "dl19": ("dl19_passage", "qrels.dl19-passage.txt.gz"),
    "web2012": ("web2012_ql", "qrels.adhoc.2012.txt.gz"),
}
TOLERANCE = 1e-12


def test_worked_example() -> None:
    """Compat's values are those that its authors' program prints."""
    expected = {
        "Compat": 0.504521063595607, "Compat(normalize=False)": 0.2109598381488753,
        "Tau": 0.0, "Tau(ties=a)": 0.0, "TauAP": -1 / 9, "TauAP(ties=b)": 0.0,
        "Tau@3": 1.0 - 2.0, "TauAP@3": -1.0,
    }  # fmt: skip
    found = irbatch.evaluate(QRELS, RUN, [*expected]).mean()
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_compat_reads_any_preferences() -> None:
    """Only their order counts; below and at 0 are none."""
    names = dict(zip(QRELS["q"], (0.01, 7e9, -3.5, 0.25, 0.25), strict=True))
    expected = irbatch.evaluate(QRELS, RUN, "Compat")["Compat"]
    assert irbatch.evaluate({"q": names}, RUN, "Compat")["Compat"] == expected


def test_compat_looks_at_1000_ranks() -> None:
    run = {"q": {f"x{i:04}": -float(i) for i in range(1000)} | {"d3": -2000.0}}
    assert irbatch.evaluate(QRELS, run, "Compat Compat@999 Compat@2000").values.tolist() == [
        [0] * 3
    ]
    del run["q"]["x0007"]
    found = irbatch.evaluate(QRELS, run, "Compat Compat@999 Compat@1000 Compat@2000")
    values = found.values[0].tolist()
    assert values[0] == values[2] == values[3] > values[1] == 0


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlation_is_that_of_lists_of_scores(seed: int) -> None:
    gains = [(7 * i * i + seed) % 5 for i in range(9)]
    qrels = {"q": {f"d{i}": gain for i, gain in enumerate(gains)}}
    run = {"q": {f"d{i}": -float(i) for i in range(9)}}
    found = irbatch.evaluate(qrels, run, "Tau TauAP(ties=b)").values[0].tolist()
    scores = list(run["q"].values())
    assert found == pytest.approx(
        [kendall_tau(gains, scores), tau_ap(gains, scores, "b")], rel=1e-13
    )


@pytest.mark.parametrize("name", OF_COMPAT or ["none"])
def test_compatibility_program(name: str, more_reference_data: Path) -> None:
    """It orders documents of one score by ascending id, and averages topics that can be compared.

    Those stand in the run and have a document with a preference above 0.
    """
    match = COMPAT_FILE.fullmatch(name)
    assert match is not None, name
    if "diversity" in name:
        pytest.skip("diversity.py has another ideal ranking, of subtopics")
    measure = irbatch.measure("Compat")(p=float(match["p"]), normalize=not match["plain"])
    found = irbatch.evaluate(
        *problem(match["name"], more_reference_data), measure,
        missing="skip", no_relevant="skip", ties="id_ascending",
    )  # fmt: skip
    path = more_reference_data / "e_compat_rbo" / "expected" / name
    with gzip.open(path, "rt", encoding="utf-8") as file:
        printed = {row["topic"]: float(row["compatibility"]) for row in csv.DictReader(file)}
    mean = printed.pop("average")
    values = found.per_query(measure)
    assert len(printed) > 1
    assert {query: values[query] for query in printed} == pytest.approx(printed, rel=TOLERANCE)
    assert found[measure] == pytest.approx(mean, rel=TOLERANCE)


def problem(name: str, data: Path) -> tuple[str | Path, str | Path]:
    """Paths of judgments and a run."""
    if name == "cast19_prefs":
        qrels = data / "e_compat_rbo" / "qrels" / "TREC-CAsT-2019.preferences.qrels.gz"
        return qrels, data.parent / "data" / "ir_measures_tests" / "compat.run"
    set_name, _, run_name = name.partition(".")
    folder, qrels_name = IN_DATA[set_name]
    folder_path = data.parent / "data" / folder
    return folder_path / qrels_name, folder_path / "runs" / f"{run_name}.run.gz"
