"""`irbatch eval --items --interactions`: what is known of items, from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import Cli

import irbatch

MEASURES = "RR CatalogueCoverage@2 AvgPopularity@2 AWRF(target=uniform)@2 PSP@1"
TRAIN = {"u1": {"a": 1, "c": 1}, "u2": {"a": 1}}
QRELS = {"u1": {"b": 1}, "u2": {"a": 1}}
RUN = {"u1": {"a": 2.0, "b": 1.0}, "u2": {"a": 2.0, "c": 1.0}}
TABLE = "item,popularity,group,propensity\na,5,x,.5\nb,2,y,.25\n\nc,1,x,1\nd,0,y,.1\n"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    irbatch.Qrels(QRELS).to_trec(tmp_path / "qrels")
    irbatch.Run(RUN, "run").to_trec(tmp_path / "run")
    irbatch.Qrels(TRAIN).to_trec(tmp_path / "train")
    (tmp_path / "items").write_text(TABLE)
    return [tmp_path / "qrels", tmp_path / "run"]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_table_of_items(cli: Cli, files: list[Path], separator: str) -> None:
    table = files[0].parent / "items"
    table.write_text("\ufeff" + TABLE.replace(",", separator))
    status, printed, said = cli(
        "eval", *files, "-m", MEASURES, "--items", table, "--format", "json"
    )
    assert (status, said) == (0, "")
    items = irbatch.Items(
        popularity={"a": 5, "b": 2, "c": 1, "d": 0},
        groups={"a": "x", "b": "y", "c": "x", "d": "y"},
        propensities={"a": 0.5, "b": 0.25, "c": 1.0, "d": 0.1},
    )
    expected = irbatch.evaluate(QRELS, RUN, MEASURES, items=items)
    assert json.loads(printed)["run"]["mean"] == expected.mean()


def test_what_popularity_is_called(cli: Cli, files: list[Path]) -> None:
    table = files[0].parent / "items"
    table.write_text(TABLE)
    expected = cli("eval", *files, "-m", MEASURES, "--items", table)
    table.write_text(TABLE.replace("item,popularity", "movieId,count"))
    assert cli("eval", *files, "-m", MEASURES, "--items", table) == expected


def test_items_outside_and_items_seen(cli: Cli, files: list[Path]) -> None:
    train = files[0].parent / "train"
    words = ["eval", *files, "-m", "RR,CatalogueCoverage@2", "--format", "json"]
    status, _, said = cli(*words, "--interactions", train)
    assert (status, "--outside ignore" in said) == (2, True)
    found = json.loads(cli(*words, "--interactions", train, "--outside", "ignore")[1])["run"]
    items = irbatch.Items(interactions=TRAIN, outside="ignore")
    expected = irbatch.evaluate(QRELS, RUN, ["RR", "CatalogueCoverage@2"], items=items)
    assert found["mean"] == expected.mean()
    words = ["eval", *files, "-m", "RR", "--exclude", train, "--format", "json"]
    expected = irbatch.evaluate(QRELS, RUN, "RR", exclude=TRAIN)
    assert json.loads(cli(*words)[1])["run"]["mean"] == expected.mean()


def test_interactions(cli: Cli, files: list[Path]) -> None:
    words = ["eval", *files, "-m", "AvgPopularity@2 CatalogueCoverage@2", "--format", "json"]
    train = files[0].parent / "train"
    catalogue = files[0].parent / "catalogue"
    catalogue.write_text("item_id\na\nb\nc\nd\n")
    found = json.loads(cli(*words, "--interactions", train, "--items", catalogue)[1])["run"]
    items = irbatch.Items(list("abcd"), interactions=TRAIN)
    expected = irbatch.evaluate(QRELS, RUN, "AvgPopularity@2 CatalogueCoverage@2", items=items)
    assert found["mean"] == expected.mean()


def test_an_item_without_a_group_is_in_none(cli: Cli, files: list[Path]) -> None:
    table = files[0].parent / "items"
    table.write_text("item,group\na,x\nb,\nc,y\n")
    words = ["eval", *files, "--items", table, "-m"]
    assert cli(*words, "CatalogueCoverage@2")[0] == 2
    status, _, said = cli(*words, "AWRF(target=uniform)@2")
    assert status == 2
    assert "'b'" in said


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("item,colour\na,red\n", "line 1: columns are item and any of popularity, propensity"),
        ("popularity\n1\n", "line 1: columns are item and any of"),
        ("", "line 1: columns are item and any of"),
        ("item,popularity\na,1\nb\n", "line 3: 1 columns where 2 are expected"),
        ("item,popularity\na,1\na,2\n", "line 3: item 'a' is listed twice"),
        ("item,popularity\na,many\n", "(document 'a'): popularity 'many'"),
        ("item,propensity\na,0\nb,1\nc,1\n", "document 'a'"),
        ("item\nz\n", "document 'a'"),
        ("item\n", "there are no items"),
    ],
)
def test_what_is_refused(cli: Cli, files: list[Path], table: str, said: str) -> None:
    path = files[0].parent / "items"
    path.write_text(table)
    status, printed, problem = cli("eval", *files, "-m", "CatalogueCoverage@2", "--items", path)
    assert (status, printed) == (2, "")
    assert said in problem
