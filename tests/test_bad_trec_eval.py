"""`irbatch trec_eval`, and the interfaces of pytrec_eval and BEIR, on what cannot be evaluated."""

import copy
import functools
import gzip
import io
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from refusal import refused

from irbatch import InputError
from irbatch.cli import main
from irbatch.integrations import beir
from irbatch.integrations.pytrec_eval import (
    RelevanceEvaluator,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
    patched,
)

QRELS = b"q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\nq2 0 e 12\n"
RUN = b"q1 Q0 b 3 1 t\nq1 Q0 a 1 3 t\nq1 Q0 x 2 2 t\nq2 Q0 e 1 1 t\n"
JUDGED = {"q1": {"a": 1, "b": 0}}
RANKED = {"q1": {"a": 1.0, "b": 2.0}}
DIGITS = "9" * 5000  # more than Python turns into an int


class Said(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture
def trec_eval(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Run the command on two files, given by content, or by name if that is text."""

    def run(*words: str, qrels: bytes | str = QRELS, run: bytes | str = RUN) -> Said:
        files = []
        for name, content in (("qrels", qrels), ("run", run)):
            if isinstance(content, bytes):
                (tmp_path / name).write_bytes(content)
            files.append(str(tmp_path / name) if isinstance(content, bytes) else content)
        try:
            status = main(["trec_eval", *words, *files])
        except SystemExit as leaving:  # argparse
            status = int(leaving.code or 0)
        return Said(status, *capsys.readouterr())

    return run


def fails(said: Said, *facts: str) -> None:
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
    "each once": ["11pt_avg..5,.5"],
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
        *("ndcg.=1", "ndcg.x=1", "ndcg.-1=2", "ndcg.1.5=2", "ndcg.p=0.5", "rbp.q=1"),
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


@pytest.mark.parametrize("length", ["-3", "0", "2.7", "5,6", "1e18"])
def test_odd_lengths_of_a_relevance_string(trec_eval: Command, length: str) -> None:
    said = trec_eval("-q", "-m", f"relstring.{length}")
    seen = min(max(int(float(length.split(",")[0])), 0), 3)
    label = f"relstring_{length}".ljust(22)
    assert said == (0, f"{label}\tq1\t'{'2-1'[:seen]}'\n{label}\tq2\t'{'>'[:seen]}'\n", "")


@pytest.mark.parametrize("wish", ["rbp", "rbp_resid", "unj.5", "dcg", "ideal_dcg.1=2"])
def test_what_version_9_lacks(trec_eval: Command, wish: str) -> None:
    fails(trec_eval("--as", "9", "-m", wish), f"illegal measure '{wish}'")
    assert trec_eval("-m", wish).status == 0


@pytest.mark.parametrize(
    ("option", "value", "fact"),
    [
        *(("-l", value, "is not a whole number") for value in ("x", "1.5", "", "nan", DIGITS)),
        *(("-M", value, "is not a whole number") for value in ("x", "1.5", "", "1e3", DIGITS)),
        *(("-N", value, "is not a whole number") for value in ("x", "1.5", "", "inf", DIGITS)),
        ("-l", "-1", "at least 0"),
        ("-M", "0", "max_depth=0 must be a whole number of at least 1"),
        ("-M", "-1", "max_depth=-1 must be a whole number of at least 1"),
        ("--as", "8", "invalid choice: '8'"),
    ],
)
def test_options(trec_eval: Command, option: str, value: str, fact: str) -> None:
    fails(trec_eval(option, value), fact)


def test_negative_number_of_documents(trec_eval: Command) -> None:
    fails(trec_eval("-N", "-1", "-m", "utility"), "docs=-1 must be a whole number of at least 0")


@pytest.mark.parametrize("option", ["-l", "-M", "-N"])
@pytest.mark.parametrize("value", [2**53 + 1, 2**63, 10**30])
def test_huge_options(trec_eval: Command, option: str, value: int) -> None:
    said = trec_eval(option, str(value), "-q", "-m", "all_trec")
    assert (said.status, said.err) == (0, "")
    assert "nan" not in said.out
    assert "inf\n" not in said.out


PACKED = gzip.compress(RUN * 50)
CONTENTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no data lines"),
    "blank": (b"\n\n  \n", "no data lines"),
    "binary": (bytes(range(256)), r"\x00"),
    "truncated": (PACKED[: len(PACKED) // 2], "ended before the end-of-stream marker"),
    "corrupt": (b"\x1f\x8b" + b"x" * 50, "cannot be read on"),
    "few columns": (b"q1 0 a\n", "line 1 (query 'q1'): 3 columns where"),
    "spaces": (b"q1 0 a 1\nq 2 0 a 1 2 3 t\n", "columns where"),
    "control": (b"q\x1b[31m 0\n", r"q\x1b[31m"),
}


@pytest.mark.parametrize(("content", "fact"), CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_files(trec_eval: Command, side: str, content: bytes, fact: str) -> None:
    said = trec_eval("-q", **{side: content})
    fails(said, f"irbatch: error: {side} '", fact)
    assert "\x1b" not in said.err


@pytest.mark.parametrize(
    ("files", "fact"),
    [
        ({"qrels": b"q1 0 a\0b 1\n"}, "line 1 (query 'q1'): contains a NUL byte"),
        ({"run": b"q1 Q0 a\0b 1 1 t\n"}, "line 1 (query 'q1'): contains a NUL byte"),
        ({"qrels": b"q1 0 \xff 1\n"}, r"id b'\xff' is not UTF-8 text"),
        ({"run": b"q1 Q0 \xff 1 1 t\n"}, r"id b'\xff' is not UTF-8 text"),
        ({"qrels": b"q1 0 a yes\n"}, "line 1 (query 'q1', document 'a'): grade 'yes'"),
        ({"qrels": b"q1 0 a nan\n"}, "grade 'nan' is not a number"),
        ({"qrels": b"q1 0 a 1e300\n"}, "beyond 2^53"),
        ({"qrels": QRELS + b"q1 0 a 2\n"}, "line 6 (query 'q1', document 'a')"),
        ({"run": b"q1 Q0 a 1 1,5 t\n"}, "score '1,5'"),
        ({"run": RUN + b"q1 Q0 a 9 9 t\n"}, "line 5 (query 'q1', document 'a')"),
        ({"run": b"zz Q0 a 1 1 t\n"}, "no query of it is judged"),
        ({"qrels": RUN, "run": QRELS}, "is this a run file?"),
        ({"qrels": "nowhere\x1b/qrels"}, r"'nowhere\x1b/qrels': No such file"),
        ({"run": "nowhere/run"}, "run 'nowhere/run': No such file"),
        ({"run": "."}, "run '.': "),
    ],
)
def test_lines(trec_eval: Command, files: dict[str, Any], fact: str) -> None:
    said = trec_eval("-q", **files)
    fails(said, fact)
    assert "\x1b" not in said.err


def test_missing_topic_with_control_characters(trec_eval: Command) -> None:
    said = trec_eval("-m", "map", qrels=QRELS + b"q\x1b[31m 0 a 1\n")
    assert said.status == 4
    assert r"query 'q\x1b[31m'" in said.err
    assert "\x1b" not in said.err


@pytest.mark.parametrize("version", ["9", "10"])
@pytest.mark.parametrize(
    "qrels",
    [
        b"q1 0 a -1\nq2 0 e -2\n",
        b"q1 0 a 0\nq2 0 e 0\n",
        b"q1 0 z 1\nq2 0 z 1\n",
        b"q1 0 a 1099511627776\nq2 0 e 9007199254740992\n",
        b"q1 0 a 0.5\nq1 0 b -0.5\nq2 0 e 1.9\n",
        "".join(f"q1 0 d{grade} {grade}\n" for grade in range(200)).encode() + b"q2 0 e 1\n",
    ],
    ids=["negative", "zero", "not retrieved", "huge", "fractions", "levels"],
)
def test_judgments_of_all_kinds(trec_eval: Command, version: str, qrels: bytes) -> None:
    said = trec_eval("--as", version, "-q", "-m", "all_trec", "-m", "yaap", qrels=qrels)
    assert (said.status, said.err) == (0, "")
    for line in said.out.splitlines():
        label, _, value = line.split("\t")
        if label.rstrip() not in ("runid", "relstring"):
            assert math.isfinite(float(value)), line


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("q1 map x 1", "line 1: 'q1 map x 1' is not query, measure, mean, deviation"),
        ("q1 map 1", "is not query, measure, mean, deviation"),
        ("q1 map 1 \x1b[1m", r"\x1b[1m"),
    ],
)
def test_zscores(trec_eval: Command, tmp_path: Path, line: str, fact: str) -> None:
    (tmp_path / "z").write_text(line)
    fails(trec_eval("-Z", str(tmp_path / "z")), "zscores '", fact)
    fails(trec_eval("-Z", str(tmp_path / "none")), "No such file")


def test_both_from_standard_input(trec_eval: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for content, fact in ((QRELS, "run '-'"), (b"", "qrels '-'")):
        pipe = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", pipe)
        fails(trec_eval(qrels="-", run="-"), fact)


def test_reader_that_has_seen_enough(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 a 1\n" for i in range(3000)))
    (tmp_path / "run").write_text("".join(f"q{i} Q0 a 1 1 t\n" for i in range(3000)))
    words = ["trec_eval", "-q", "-m", "all_trec", str(tmp_path / "qrels"), str(tmp_path / "run")]
    with subprocess.Popen(
        [sys.executable, "-m", "irbatch", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"num_ret")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


# pytrec_eval's interface


def evaluated(qrels: Any = JUDGED, scores: Any = RANKED, measures: Any = ("map",)) -> Any:
    """Evaluate as pytrec_eval does."""
    return RelevanceEvaluator(qrels, measures).evaluate(scores)


@pytest.mark.parametrize("grade", [None, "1", math.nan, math.inf, 2**60, 10**400, [1], 1j])
def test_grades(grade: object) -> None:
    refused(lambda: evaluated({"q": {"a": 1}, "q1": {"b": 1, "a": grade}}), "grade",
            source="qrels", query="q1", document="a", value=grade)  # fmt: skip


@pytest.mark.parametrize("score", [None, "x", "1", math.nan, 10**400, [1], 1j])
def test_scores(score: object) -> None:
    refused(lambda: evaluated(scores={"q1": {"b": 1.0, "a": score}}), "score",
            source="run", query="q1", document="a", value=score)  # fmt: skip


@pytest.mark.parametrize("number", [True, -5, 1.5, np.int64(3), np.float32(1), 2**40])
def test_numbers_of_all_kinds(number: Any) -> None:
    value = float(number >= 1)
    assert evaluated({"q1": {"a": number}}) == {"q1": {"map": value / 2}}
    assert evaluated(scores={"q1": {"a": number}}) == {"q1": {"map": 1.0}}


@pytest.mark.parametrize("score", [math.inf, -math.inf, 10**30, 2e39])
def test_scores_beyond_float32(score: float) -> None:
    assert evaluated(scores={"q1": {"a": score, "b": 1.0}})["q1"]["map"] == (1 + (score > 1)) / 2


@pytest.mark.parametrize("ids", [{1: {"a": 1}, "q": {"a": 1}}, {None: {"a": 1}}, {b"q": {"a": 1}}])
def test_ids_of_queries(ids: Any) -> None:
    refused(lambda: evaluated(ids), "query id", source="qrels")
    refused(lambda: evaluated(scores=ids), "query id", source="run")


@pytest.mark.parametrize("documents", [{None: 1}, {b"a": 1}, {1.5: 1}, {True: 1}, ["a"], "ab"])
def test_documents(documents: Any) -> None:
    refused(lambda: evaluated({"q1": documents}), source="qrels", query="q1")
    refused(lambda: evaluated(scores={"q1": documents}), source="run", query="q1")


def test_documents_of_two_kinds() -> None:
    refused(lambda: evaluated({"q1": {"a": 1, 1: 1}}), "two kinds", source="qrels", query="q1")
    refused(lambda: evaluated({"q1": {1: 1}}), "document id 'a' is a str", query="q1")
    refused(lambda: evaluated(scores={"q1": {1: 1.0}}), "is a int", query="q1", document=1)


@pytest.mark.parametrize("scores", ["x", 3, [("q1", {})], iter(["q1"]), np.array(1)])
def test_no_rankings(scores: Any) -> None:
    refused(lambda: evaluated(scores=scores), "a mapping of queries", source="run")


@pytest.mark.parametrize("ranking", [None, 3, [], "ab"])
def test_no_ranking(ranking: Any) -> None:
    refused(lambda: evaluated(scores={"q1": ranking}), "ranking", source="run", query="q1")


@pytest.mark.parametrize("scores", [{}, {"zz": {"a": 1.0}}, {1: {"a": 1.0}}])
def test_nothing_to_evaluate(scores: Any) -> None:
    assert evaluated(scores=scores) == {}
    assert evaluated({}) == evaluated({"q1": {}}) == {}
    assert evaluated(measures=set()) == {"q1": {}}


@pytest.mark.parametrize(
    "wishes",
    [[1], [None], [b"map"], [("map",)], ["map", "nope"], ["P."], ["P.-1"], ["P.x"], ["rbp"]],
)
def test_unsupported_measures(wishes: Any) -> None:
    refused(lambda: evaluated(measures=wishes), "unsupported measure", source="measures")


@pytest.mark.parametrize("wish", ["P.0", "P_0", "utility.1,2", "set_F.0", "11pt_avg.2"])
def test_parameters_of_measures(wish: str) -> None:
    refused(lambda: evaluated(measures=["map", wish]), "must be")


def test_measures_from_a_generator() -> None:
    assert evaluated(measures=(wish for wish in ["map", "P.1"])) == {"q1": {"map": 0.5, "P_1": 0.0}}


@pytest.mark.parametrize("level", [None, 0, -1, 1.5, "1", True, math.nan])
def test_levels(level: Any) -> None:
    fact = f"relevance_level {level!r} must be a whole number of at least 1"
    assert refused(lambda: RelevanceEvaluator(JUDGED, ["map"], level), fact).value is level


def test_arguments_are_left_alone() -> None:
    qrels, run, wishes = copy.deepcopy(JUDGED), copy.deepcopy(RANKED), {"P.5", "official"}
    evaluator = RelevanceEvaluator(qrels, wishes)
    expected = evaluator.evaluate(run)
    assert (qrels, run, wishes) == (JUDGED, RANKED, {"P.5", "official"})
    qrels["q1"]["a"] = 0
    qrels["q2"] = {}
    assert evaluator.evaluate(run) == expected


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (["x"], "line 1 (query 'x'): 1 column where"),
        (["", " "], "no data lines"),
        (["q 0 a 1.5"], "grade 1.5 is not a whole number"),
        (["q 0 a nan"], "grade 'nan'"),
        (["q 0 a 1", "q 0 a 1"], "line 2 (query 'q', document 'a')"),
        (["q 0 a\0 1"], "NUL"),
        ([b"q 0 \xff 1"], "UTF-8"),
    ],
)
def test_lines_of_judgments(lines: Any, fact: str) -> None:
    refused(lambda: parse_qrel(lines), fact, source="qrels")
    refused(lambda: parse_run(lines), source="run")


def test_counts_of_no_queries() -> None:
    assert compute_aggregated_measure("num_ret", []) == 0.0


def test_patches_that_are_nested_or_fail() -> None:
    import pytrec_eval

    before = pytrec_eval.RelevanceEvaluator
    with patched(), patched():
        assert pytrec_eval.RelevanceEvaluator is RelevanceEvaluator
    assert pytrec_eval.RelevanceEvaluator is before
    with pytest.raises(InputError), patched():
        pytrec_eval.RelevanceEvaluator(JUDGED, ["nope"])
    assert pytrec_eval.RelevanceEvaluator is before


# BEIR's interface

BEIR: list[Callable[..., Any]] = [
    beir.evaluate,
    *(functools.partial(beir.evaluate_custom, metric=metric) for metric in beir.CUSTOM),
]


@pytest.mark.parametrize("call", BEIR, ids=["evaluate", *beir.CUSTOM])
class TestBeir:
    @pytest.mark.parametrize("k", [0, -1, 1.5, 1.0, "1", True, None, [1]])
    def test_cutoffs(self, call: Callable[..., Any], k: Any) -> None:
        assert refused(lambda: call(JUDGED, RANKED, [10, k]), f"cutoff {k!r}").value is k

    def test_no_cutoffs(self, call: Callable[..., Any]) -> None:
        refused(lambda: call(JUDGED, RANKED, []))

    def test_cutoffs_in_any_order(self, call: Callable[..., Any]) -> None:
        found = call(JUDGED, RANKED, [10, 1, np.int64(10)])
        for each in found if isinstance(found, tuple) else [found]:
            assert [name.partition("@")[2] for name in each] == ["10", "1"]
        assert call(JUDGED, RANKED, range(1, 3)) == call(JUDGED, RANKED, np.array([1, 2]))
        call(JUDGED, RANKED, [10**18])

    @pytest.mark.parametrize("score", [None, "x", math.nan])
    def test_scores(self, call: Callable[..., Any], score: Any) -> None:
        refused(lambda: call(JUDGED, {"q1": {"b": 1.0, "a": score}}, [1]), source="run",
                query="q1", document="a", value=score)  # fmt: skip

    def test_nothing_in_common(self, call: Callable[..., Any]) -> None:
        refused(lambda: call(JUDGED, {"zz": {"a": 1.0}}, [1]), "no query of it is judged", "'q1'")
        refused(lambda: call({}, RANKED, [1]), "no queries")

    def test_arguments_are_left_alone(self, call: Callable[..., Any]) -> None:
        qrels, run = {"q1": {"a": 1, "q1": 1}}, {"q1": {"q1": 2.0, "a": 1.0}, "q2": {"q2": 1.0}}
        before = copy.deepcopy((qrels, run))
        call(qrels, run, [1])
        assert (qrels, run) == before


@pytest.mark.parametrize("metric", [None, "nope", "", 3, ["mrr"], "MRR@10"])
def test_beirs_metrics(metric: Any) -> None:
    fact = f"metric {metric!r} must be one of"
    assert refused(lambda: beir.evaluate_custom(JUDGED, RANKED, [1], metric), fact).value is metric
