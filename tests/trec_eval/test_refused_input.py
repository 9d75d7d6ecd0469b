"""`irbatch trec_eval` on what cannot be evaluated, and the files that it takes."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from support import trec_eval_command
from support.input_errors import input_error
from support.trec_eval_command import Command, Printed

from irbatch.trec_eval import TrecEval

QRELS, RUN = trec_eval_command.QRELS.encode(), trec_eval_command.RUN.encode()
DIGITS = "9" * 5000  # more than Python turns into an int


def fails(said: Printed, *facts: str) -> None:
    """Check that a command printed nothing but what was wrong."""
    assert (said.status, said.out) == (2, "")
    assert "Traceback" not in said.err
    for fact in facts:
        assert fact in said.err


REFUSED_MEASURES = {
    "illegal measure": ["", ".", "nope.5", "MAP", "P_5", "official,map", "P.", "ndcg.", "\x1b[31m"],
    "must be a whole number of at least 1": ["P.0", "P.-1", "unj.0", "ndcg_cut.5,0"],
    "must be numbers separated by commas": [
        *("P.x", "P.5,", "P.5,,10", "P.,", "iprec_at_recall.nan", "iprec_at_recall..5,"),
        *("11pt_avg.x", "relstring.x", "utility.1,2,3,x", "utility.,,,", "set_F.x"),
    ],
    "must be different numbers": ["P.5,5", "iprec_at_recall..5,.5", "Rprec_mult..2,0.2"],
    "at least 0": ["iprec_at_recall.-0.1", "11pt_avg.-1,0", "Rprec_mult.-1"],
    "at most 1": ["iprec_at_recall.1.5", "11pt_avg.2"],
    "finite number": [
        *("iprec_at_recall.1e9999", f"Rprec_mult.{DIGITS}", "11pt_avg.1e9999"),
        *("utility.1e9999,0,0,0", "set_F.1e9999", "rbp.p=1e9999"),
    ],
    "must be 4 numbers": ["utility.1", "utility.1,2,3", "utility.1,2,3,4,5"],
    "a number above 0": ["set_F.0", "set_F.-1", "rbp.p=0"],
    "a number below 1": ["rbp.p=1", "rbp.p=2"],
    "must be grade=gain, …": ["ndcg.1", "ndcg.1=", "ndcg.=", "ndcg.1=nan"],
    "must be p=0.9, grade=gain, …": ["rbp.95", "rbp.p=", "rbp.p=x"],
    "grade=gain of whole grades of 0 or more": [
        *("ndcg.=1", "ndcg.x=1", "ndcg.-1=2", "ndcg.1.5=2", "ndcg.p=0.5", "rbp.q=1")
    ],
    "a map of grades to gains": ["ndcg.1=1e9999"],
    "of grade 1 is -1; a gain is finite and not negative": ["ndcg.1=-1", "G.1=-1"],
}


@pytest.mark.parametrize(("fact", "wishes"), REFUSED_MEASURES.items())
def test_measures(trec_eval: Command, fact: str, wishes: list[str]) -> None:
    for wish in wishes:
        said = trec_eval("-q", "-m", "map", "-m", wish)
        fails(said, "irbatch: error: ", fact)
        assert "\x1b" not in said.err


@pytest.mark.parametrize(
    ("wish", "label"),
    [
        ("P.5.7", "P_5"),
        ("P.+5", "P_5"),
        ("P.1e9999", "P_1"),
        (f"P.{10**18}", f"P_{10**18}"),
        ("ndcg.1=1,1=2", "ndcg_1=1,1=2"),
        ("ndcg.2=0", "ndcg_2=0"),
        ("G.1=0,2=0,12=0", "G_1=0,2=0,12=0"),
        ("Rprec_mult.0", "Rprec_mult_0.00"),
        ("set_F.1e308", "set_F_1e308"),
        ("set_F.1e-320", "set_F_1e-320"),
        ("iprec_at_recall.1e-400", "iprec_at_recall_0.00"),
    ],
)
def test_odd_measures(trec_eval: Command, wish: str, label: str) -> None:
    said = trec_eval("-m", wish)
    assert (said.status, said.err) == (0, "")
    printed, topic, value = said.out.removesuffix("\n").split("\t")
    assert (printed.rstrip(), topic) == (label, "all")
    assert 0 <= float(value) <= 1


@pytest.mark.parametrize("wish", ["rbp", "rbp_resid", "unj.5", "dcg", "ideal_dcg.1=2"])
def test_what_version_9_lacks(trec_eval: Command, wish: str) -> None:
    said = f"illegal measure '{wish}'"
    fails(trec_eval("--as", "9", "-m", wish), said)
    assert trec_eval("-m", wish).status == 0
    input_error(TrecEval([wish], "9").values, said, source="measures", value=wish)


@pytest.mark.parametrize(
    ("option", "value", "fact"),
    [
        *(
            (option, value, "is not a whole number")
            for option in ("-l", "-M", "-N")
            for value in ("x", "1.5", "", "nan", "1e3", "inf", "1_0", "٣", " 1", DIGITS)
        ),
        ("-l", "-1", "at least 0"),
        ("-N", "-1", "-N=-1 must be a whole number of at least 0"),
        ("-M", "0", "max_depth=0 must be a whole number of at least 1"),
        ("-M", "-1", "max_depth=-1 must be a whole number of at least 1"),
        ("--as", "8", "invalid choice: '8'"),
    ],
)
def test_options(trec_eval: Command, option: str, value: str, fact: str) -> None:
    fails(trec_eval(option, value, "-m", "utility"), fact)


@pytest.mark.parametrize("option", ["-l", "-M", "-N"])
@pytest.mark.parametrize("value", [2**53 + 1, 2**63, 10**30])
def test_huge_options(trec_eval: Command, option: str, value: int) -> None:
    said = trec_eval(option, str(value), "-q", "-m", "all_trec")
    assert (said.status, said.err) == (0, "")
    assert "nan" not in said.out
    assert "inf\n" not in said.out


@pytest.mark.parametrize(
    ("files", "fact"),
    [
        ({"qrels": b"q1 0 a 1e300\n"}, "beyond 2^53"),
        ({"run": b"zz Q0 a 1 1 t\n"}, "no query of it is judged"),
        ({"qrels": RUN, "run": QRELS}, "6 columns where 4"),
        ({"qrels": Path("nowhere\x1b/qrels")}, r"'nowhere\x1b/qrels': No such file"),
        ({"run": Path("nowhere/run")}, "run 'nowhere/run': No such file"),
        ({"run": Path()}, "run './"),  # a folder of Parquet's files
    ],
)
def test_lines(trec_eval: Command, files: dict[str, Any], fact: str) -> None:
    said = trec_eval("-q", **files)
    fails(said, fact)
    assert "\x1b" not in said.err


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("q1 map x 1", "line 1: 'q1 map x 1' is not query, measure, mean, deviation"),
        ("q1 map 1", "is not query, measure, mean, deviation"),
        ("q1 map 1 \x1b[1m", r"\x1b[1m"),
        *((f"q1 map {numbers}", "line 1") for numbers in ("1e9999 1", "1 1e9999", "-1e9999 1")),
    ],
)
def test_zscores(trec_eval: Command, tmp_path: Path, line: str, fact: str) -> None:
    (tmp_path / "z").write_text(line)
    fails(trec_eval("-Z", str(tmp_path / "z")), "zscores '", fact)
    fails(trec_eval("-Z", str(tmp_path / "none")), "No such file")


def test_standard_input(trec_eval: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def give(content: bytes) -> None:
        """As a pipe does: by a text stream over a buffered one."""
        pipe = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", pipe)

    for content, fact in ((QRELS, "run '-'"), (b"", "qrels '-'")):
        give(content)
        fails(trec_eval(qrels=Path("-"), run=Path("-")), fact)
    give(RUN)
    assert trec_eval("-m", "map", run=Path("-")).of() == {"map": "0.6667"}
