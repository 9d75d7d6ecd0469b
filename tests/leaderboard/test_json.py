"""Leaderboards as JSON: what is written is read back, and tables that people type are checked."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.comparisons import NASTY
from support.input_errors import input_error

import irbatch
from irbatch import InputError
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency
from irbatch.leaderboard import Leaderboard

read_leaderboard = Leaderboard.from_json

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 2, "d3": 1}, "q3": {"d4": 1}}
RUNS = {
    "good": {"q1": {"d1": 2.0}, "q2": {"d2": 2.0, "d3": 1.0}, "q3": {"d5": 2.0, "d4": 1.0}},
    "bad": {"q1": {"d9": 2.0, "d1": 1.0}, "q2": {"d3": 2.0}, "q3": {"d7": 1.0}},
}


def assert_same(board: Leaderboard, other: Leaderboard) -> None:
    for name in ("systems", "records", "measures", "level", "constraints",
                 "left_out"):  # fmt: skip
        assert getattr(board, name) == getattr(other, name), name
    assert list(board.settings.items()) == list(other.settings.items())
    assert queries_of(board) == queries_of(other)
    for axis in board.axes:
        np.testing.assert_array_equal(board.values(axis), other.values(axis))
        np.testing.assert_array_equal(board.bounds(axis), other.bounds(axis))


def queries_of(board: Leaderboard) -> list[int | None]:
    return [row.queries for row in board.rows]


def written(*systems: dict[str, Any], **more: Any) -> str:
    """Write JSON as a person would."""
    return json.dumps({"systems": list(systems), **more})


def typed(name: str = "bm25", **more: Any) -> dict[str, Any]:
    return {"system": name, "accuracy": {"RR@10": 0.1875}, **more}


@pytest.fixture
def evaluated() -> Leaderboard:
    """A leaderboard of evaluated runs: intervals, settings, queries; one system left out."""
    results = irbatch.evaluate_runs(QRELS, RUNS | {"slow": RUNS["bad"]}, ["RR@10", "nDCG@10"])
    records = [
        EfficiencyRecord(system="good", latency=Latency.from_samples([3.0, 4.0, 8.0], draws=50),
                         hardware=Hardware.here("x"), price_per_hour=0.1, currency="EUR",
                         n_queries=3, energy=4.5, throughput=1 / 3),
        EfficiencyRecord(system="bad", latency=Latency(mean=1), currency="EUR", dataset="d"),
        EfficiencyRecord(system="slow", latency=Latency(mean=100)),
    ]  # fmt: skip
    board = Leaderboard(results, records, level=0.1)
    return board.where("latency < 50", "RR@10 > 0")


# What is written is read back.


def test_what_is_written_is_read_back(evaluated: Leaderboard, tmp_path: Path) -> None:
    assert not np.isnan(evaluated.bounds("RR@10")).any()
    assert queries_of(evaluated) == [3, 3]
    assert evaluated.settings
    assert evaluated.left_out == {"slow": ["latency < 50"]}
    path = tmp_path / "board.json"
    text = evaluated.to_json(path)
    for source in (text, path, str(path)):
        again = Leaderboard.from_json(source)
        assert_same(evaluated, again)
        assert again.to_json() == text
        assert again.to_text() == evaluated.to_text()


def test_hostile_names_are_read_back() -> None:
    names = [*NASTY, "\ud800", "system", "__proto__"]
    board = Leaderboard(
        {name: dict.fromkeys(names, 0.5) for name in names},
        [
            EfficiencyRecord(system=name, dataset=name, hardware=Hardware(cpu=name))
            for name in names
        ],
    )
    board = board._with(settings={name: name for name in names})
    assert_same(board, read_leaderboard(board.to_json()))


# What people type.


def test_a_table_that_somebody_typed() -> None:
    text = """
    [{"system": "bm25", "accuracy": {"MRR@10": 0.187, "R@1000": {"mean": 0.857}},
      "latency": {"mean": 8, "p95": 20}, "hardware": {"instance": "c6g", "n_cpu": 4},
      "price_per_hour": 0.5, "queries": 6980},
     {"system": "dense", "accuracy": {"R@1000": {"mean": 0.96, "low": 0.95, "high": null},
                                     "MRR@10": 0.33},
      "latency": 90, "price_per_hour": 2, "throughput": null}]"""
    board = read_leaderboard(text)
    assert_same(board, read_leaderboard('{"systems": %s}' % text))  # noqa: UP031
    assert board.systems == ["bm25", "dense"]
    assert board.measures == ["MRR@10", "R@1000"]
    assert [board.values(name).tolist() for name in board.measures] == [
        [0.187, 0.33],
        [0.857, 0.96],
    ]
    assert np.isnan(board.bounds("MRR@10")).all()
    assert np.isnan(board.bounds("R@1000")).tolist() == [[True, True], [False, True]]
    assert queries_of(board) == [6980, None]
    assert board.values("cost").tolist() == [0.5 / 3600 * 0.008 * 1e6, 2 / 3600 * 0.09 * 1e6]
    assert board.records[0].hardware == Hardware(instance="c6g", n_cpu=4)
    assert board.settings == board.left_out == {}
    assert board.constraints == []


SYSTEMS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"accuracy": None}, ("accuracy is missing",)),
    ({"accuracy": {}}, ("P@1 is missing",)),
    *(({"accuracy": {"P@1": value}}, ("P@1=",)) for value in ("0.5", math.nan)),
    ({"accuracy": {"P@1": {"mean": 0.5, "low": "x"}}}, ("low bound of P@1='x'",)),
    *(({"queries": value}, ("queries=",)) for value in (-1, 1.5, "many")),
    ({"accurracy": {}}, ("'accurracy' is not known",)),
    ({"run": 3}, ("run is 3",)),
    ({"row": 3}, ("row is 3",)),
    ({"hardware": {"GPU": "A100"}}, ("hardware: 'GPU'", "did you mean gpu?")),
]  # fmt: skip


TABLES: list[tuple[str, str]] = [
    ("[]", "systems are none"),
    ("{}", "systems is missing"),
    ('{"systems": {"bm25": {}}}', "systems: {'bm25': {}} is not a list"),
    ('{"system": "bm25"}', "'system' is not known; did you mean systems?"),
    (written(typed(), currency="EUR"), "'currency' is not known"),
    (written(typed(), {"accuracy": {}}), 'system 2 has no name: its "system" is None'),
    (written({"system": " "}), "system 1 has no name"),
    (written(typed(), typed()), "two records of 'bm25'; several take an instance each"),
    ('{"systems": [], "systems": []}', "'systems' is given twice"),
    (written(typed(), level=2), "level=2"),
    *((written(typed(), **{name: value}), name) for name, value in (
        ("level", "x"), ("settings", []), ("settings", {"a": 1}), ("directions", {}),
        ("constraints", "cost < 3"), ("constraints", [3]), ("left_out", {"x": "y"}))),
    ('{"systems": [}', "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("3", "with systems, or their list"),
    ("null", "with systems"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "facts"), SYSTEMS)
def test_errors_name_the_system_and_the_field(
    fields: dict[str, Any], facts: tuple[str, ...]
) -> None:
    first = typed("other", accuracy={"P@1": 0.5})
    system = {"system": "b\x1bm", "accuracy": {"P@1": 0.5}, **fields}
    input_error(lambda: read_leaderboard(written(first, system)), r"'b\x1bm'", *facts)


@pytest.mark.parametrize(("text", "fact"), TABLES)
def test_tables_that_are_none(text: str, fact: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    for source in [path, *[text] * (text[:1] in "[{")]:
        fields = {"path": str(path)} if source == path else {}
        input_error(lambda source=source: read_leaderboard(source), fact, **fields)


def test_what_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff[]")
    input_error(lambda: read_leaderboard(path), "utf-8", "x.json")
    for source in (None, 3, {"systems": []}, b"[]"):
        input_error(lambda source=source: read_leaderboard(source), "from a path or JSON")
    with pytest.raises(FileNotFoundError, match="absent"):
        read_leaderboard(tmp_path / "absent.json")
    input_error(lambda: read_leaderboard(written(typed()), missing="skip", rel=2), "takes qrels")


# Runs.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with systems.json, whose runs are in a folder beneath, and qrels.txt."""
    (tmp_path / "runs").mkdir()
    systems = []
    for name, run in RUNS.items():
        irbatch.Run(run).to_trec(tmp_path / "runs" / f"{name}.trec")
        systems.append({"system": name, "run": f"runs/{name}.trec", "latency": {"mean": 3}})
    (tmp_path / "systems.json").write_text(json.dumps(systems))
    irbatch.Qrels(QRELS).to_trec(tmp_path / "qrels.txt")
    return tmp_path


@pytest.mark.parametrize("form", ["path", "mapping", "qrels"])
def test_runs_are_evaluated(folder: Path, form: str) -> None:
    qrels: Any = {"path": folder / "qrels.txt", "mapping": QRELS, "qrels": irbatch.Qrels(QRELS)}
    found = read_leaderboard(folder / "systems.json", qrels=qrels[form], measures=["RR", "P@1"],
                             level=0.2)  # fmt: skip
    results = irbatch.evaluate_runs(QRELS, RUNS, ["RR", "P@1"])
    assert_same(found, Leaderboard(results, found.records, level=0.2))
    assert queries_of(found) == [3, 3]
    assert not np.isnan(found.bounds(found.measures[0])).any()
    assert found.values("RR").tolist() == [2.5 / 3, 1.5 / 3]


def test_measures_and_settings_of_runs(folder: Path) -> None:
    path = folder / "systems.json"
    judged = QRELS | {"q4": {"d1": 1}}
    zero = read_leaderboard(path, qrels=judged, measures="RR")
    skipped = read_leaderboard(path, qrels=judged, measures=iter(["RR"]), missing="skip")
    assert zero.values("RR").tolist() == [2.5 / 4, 1.5 / 4]
    assert skipped.values("RR").tolist() == [2.5 / 3, 1.5 / 3]
    assert skipped.settings != zero.settings
    cut = read_leaderboard(path, qrels=QRELS, measures=["P@{1,5}", irbatch.measure("RR")])
    assert cut.measures == ["P@1", "P@5", "RR"]
    assert read_leaderboard(path, qrels=QRELS, measures=irbatch.measure("RR")).measures == ["RR"]
    for measures in (None, []):
        input_error(lambda each=measures: read_leaderboard(path, qrels=QRELS, measures=each),
                "no measure")  # fmt: skip
    for options in ({"measures": "nope"}, {"measures": "RR", "ties": "x"}):
        error = input_error(lambda each=options: read_leaderboard(path, qrels=QRELS, **each))
        assert "run of" not in str(error), "it is of no system"


def test_accuracy_counts_without_qrels_and_runs_with_them(folder: Path) -> None:
    text = json.loads((folder / "systems.json").read_text())
    for system in text:
        system |= {"accuracy": {"P@1": 0.125}, "queries": 9}
    more = {
        "level": 0.3,
        "settings": {"by": "hand"},
        "constraints": ["P@1 > 0.1"],
        "left_out": {"slow": ["P@1 > 0.1"]},
    }
    (folder / "systems.json").write_text(json.dumps({"systems": text, **more}))
    stated = read_leaderboard(folder / "systems.json")
    assert stated.values("P@1").tolist() == [0.125, 0.125]
    assert (queries_of(stated), stated.settings, stated.level) == ([9, 9], {"by": "hand"}, 0.3)
    assert stated.constraints == ["P@1 > 0.1"]
    assert stated.left_out == {"slow": ["P@1 > 0.1"]}
    found = read_leaderboard(folder / "systems.json", qrels=QRELS, measures="RR")
    assert found.values("RR").tolist() == [2.5 / 3, 1.5 / 3]
    assert (queries_of(found), found.level) == ([3, 3], 0.05)
    assert (found.constraints, found.left_out) == ([], {}), "they are of other numbers"
    assert "by" not in found.settings
    text[0]["run"] = "absent"
    assert read_leaderboard(json.dumps(text)).values("P@1").tolist() == [0.125, 0.125]
    text[0]["accuracy"] = 3
    text[0]["run"] = str(folder / "runs" / "good.trec")
    text[1]["run"] = str(folder / "runs" / "bad.trec")
    kept = read_leaderboard(json.dumps(text), qrels=QRELS, measures="RR")
    assert kept.values("RR").tolist() == [2.5 / 3, 1.5 / 3], "accuracy is not looked at"


def rejected(folder: Path, *facts: str, qrels: Any = QRELS, **fields: Any) -> InputError:
    path = folder / "systems.json"
    return input_error(lambda: read_leaderboard(path, qrels=qrels, measures="RR"), *facts, **fields)


@pytest.mark.parametrize(
    ("run", "fact"),
    [
        ("runs/absent.trec", "No such file"), ("runs", "runs"), ("a\0b", "null byte"),
        ("x" * 5000, "xxx"), ("", "run is ''"), (["x"], "run is ['x']"),
    ],
    ids=lambda each: str(each)[:20],
)  # fmt: skip
def test_runs_that_are_none(folder: Path, run: Any, fact: str) -> None:
    """An accuracy that is stated does not stand in for a run that is not there."""
    systems = json.loads((folder / "systems.json").read_text())
    systems[1] |= {"run": run, "accuracy": {"RR": 0.5}}
    (folder / "systems.json").write_text(json.dumps(systems))
    rejected(folder, "'bad'", fact)
    del systems[1]["run"]
    systems[1]["source"] = "Somebody 2020"
    (folder / "systems.json").write_text(json.dumps(systems))
    board = read_leaderboard(folder / "systems.json", qrels=QRELS, measures="RR")
    assert board.values("RR").tolist() == [2.5 / 3, 0.5]
    assert "Somebody 2020" in board.to_text()


@pytest.mark.parametrize(
    "content",
    [
        b"secret:x:0:0\nsecret:y:1:1\n", b"# settings\n\nKEY=secret\n", b'{"secret": 1}\n',
        b'{"query-id": "secret"}\n', b"secret\tcorpus-id\tscore\n",
        b"query-id\tcorpus-id\tscore\nsecret\td\tx\n", b"\x00secret\xff\n",
        b"q1 Q0 d 1 secret t\n", b"a secret 1 2\n",
    ],
)  # fmt: skip
def test_files_that_are_no_runs_are_named_and_not_shown(folder: Path, content: bytes) -> None:
    path = folder / "runs" / "bad.trec"
    good = path.read_text()
    path.write_bytes(content)
    facts = "run of 'bad'", "bad.trec", "not a line of a run"
    error = rejected(folder, *facts, path=str(path))
    assert "secret" not in f"{error!r} {error.problems} {vars(error)}"
    path.write_text(good + "q3 Q0 d8 1 high x\n")
    rejected(folder, *facts[:2], "line 5", path=str(path), line=5)
    (folder / "qrels.txt").write_text("q1 0 d1 high\n")
    rejected(folder, "qrels", "line 1", qrels=folder / "qrels.txt")
