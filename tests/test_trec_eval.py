"""`irbatch trec_eval`, `TrecEval` and ``evaluate(trec_eval=…)`` on inputs worked out by hand.

Numbers after § are the sections of trec_eval-exactness.md, facts about trec_eval's sources.
"""

from __future__ import annotations

import gzip
import io
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from refusal import refused

import irbatch
from irbatch.cli import main
from irbatch.trec_eval import MissingQueryError, TrecEval

BOTH = pytest.mark.parametrize("version", ["9", "10"])

# q1 is ranked a, x, b: AP (1 + 2/3) / 2. q2 is ranked e: AP (1 + 0) / 2.
QRELS = """\
q1 0 a 2
q1 0 b 1
q1 0 c 0
q2 0 d 1
q2 0 e 12
"""
RUN = """\
q1 Q0 b 3 1 first
q1 Q0 a 1 3 first
q1 Q0 x 2 2 first
q2 Q0 e 1 1 last
"""
MISSING = QRELS + "q3 0 f 1\n"  # judged, not in the run
AP = {"q1": 5 / 6, "q2": 1 / 2}

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OFFICIAL = [
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref",
    "recip_rank", *(f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)),
    *(f"P_{k}" for k in CUTOFFS),
]  # fmt: skip
SET = [
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_relative_P",
    "set_recall", "set_map", "set_F",
]  # fmt: skip


class Printed(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Its lines: label, topic, value."""
        return [tuple(cell.rstrip() for cell in line.split("\t")) for line in self.out.splitlines()]

    @property
    def labels(self) -> list[str]:
        return [label for label, _, _ in self.rows]

    def of(self, topic: str = "all") -> dict[str, str]:
        """Label to value."""
        return {label: value for label, each, value in self.rows if each == topic}

    def by_topic(self, label: str) -> dict[str, str]:
        return {topic: value for each, topic, value in self.rows if each == label}


Command = Callable[..., Printed]


@pytest.fixture
def trec_eval(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Run the command on the text of two files."""

    def run(*words: str, qrels: str = QRELS, run: str = RUN, version: str = "10") -> Printed:
        (tmp_path / "qrels").write_text(qrels, "utf-8")
        (tmp_path / "run").write_text(run, "utf-8")
        files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
        try:
            status = main(["trec_eval", "--as", version, *words, *files])
        except SystemExit as leave:
            status = int(leave.code or 0)
        return Printed(status, *capsys.readouterr())

    return run


def wishes(*measures: str) -> list[str]:
    return [word for measure in measures for word in ("-m", measure)]


# Measures and the form of the output


def test_lines_are_padded_and_separated_by_tabs(trec_eval: Command) -> None:
    printed = trec_eval("-q", *wishes("num_ret", "map", "runid", "relstring"))
    assert printed == (
        0,
        "num_ret               \tq1\t3\n"
        "map                   \tq1\t0.8333\n"
        "relstring             \tq1\t'2-1'\n"
        "num_ret               \tq2\t1\n"
        "map                   \tq2\t0.5000\n"
        "relstring             \tq2\t'>'\n"
        "runid                 \tall\tlast\n"
        "num_ret               \tall\t4\n"
        "map                   \tall\t0.6667\n",
        "",
    )


def test_lines_are_those_of_the_class(trec_eval: Command) -> None:
    judged = irbatch.Qrels({"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1, "e": 12}})
    run = irbatch.Run({"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"e": 1.0}}, tag="last")
    lines = TrecEval(["all_trec"]).lines(judged, run, per_query=True)
    assert list(lines) == trec_eval("-q", "-m", "all_trec").out.splitlines()


@BOTH
@pytest.mark.parametrize(
    ("words", "labels"), [([], OFFICIAL), (["-m", "official"], OFFICIAL), (["-m", "set"], SET)]
)
def test_default_and_nicknames(
    trec_eval: Command, version: str, words: list[str], labels: list[str]
) -> None:
    assert trec_eval(*words, version=version).labels == labels


def test_all_trec_has_five_more_values_in_version_10(trec_eval: Command) -> None:
    nine = trec_eval("-m", "all_trec", version="9").labels
    ten = trec_eval("-m", "all_trec").labels
    assert (len(nine), len(ten)) == (94, 99)  # §4.3
    assert ten == [*nine, "rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"]
    assert not {"dcg", "ideal_dcg", "yaap"} & set(ten)


def test_official_values(trec_eval: Command) -> None:
    found = trec_eval().of()
    counts = {"runid": "last", "num_q": "2", "num_ret": "4", "num_rel": "4", "num_rel_ret": "3"}
    assert {name: found[name] for name in counts} == counts
    # bpref: nothing judged stands above a, b or e; d is not retrieved. Rprec: 1 of 2 in both.
    means = {
        "map": sum(AP.values()) / 2, "gm_map": math.sqrt(AP["q1"] * AP["q2"]), "Rprec": 1 / 2,
        "bpref": (1 + 1 / 2) / 2, "recip_rank": 1.0, "P_5": (2 / 5 + 1 / 5) / 2,
        "P_1000": (2 + 1) / 1000 / 2,
    }  # fmt: skip
    assert {name: found[name] for name in means} == {
        name: f"{value:.4f}" for name, value in means.items()
    }


def test_measures_of_one_name_only(trec_eval: Command) -> None:
    """§4.3: those that no nickname includes."""
    printed = trec_eval("-q", *wishes("yaap", "dcg", "ideal_dcg"))
    ideal = 2 + 1 / math.log2(3)
    # S = 1 + 2/3 of R = 2: log((1 + S) / (1 + R - S))
    assert printed.of("q1") == {
        "dcg": f"{2 + 1 / 2:.4f}",
        "ideal_dcg": f"{ideal:.4f}",
        "yaap": f"{math.log((1 + 5 / 3) / (1 + 2 - 5 / 3)):.4f}",
    }


def test_the_order_is_trec_evals(trec_eval: Command) -> None:
    printed = trec_eval(*wishes("set_P", "ndcg", "P.10,5", "Rprec", "map", "runid"))
    assert printed.labels == ["runid", "map", "Rprec", "P_5", "P_10", "ndcg", "set_P"]


@pytest.mark.parametrize(
    ("measures", "labels"),
    [
        (["P.5", "P.10"], ["P_5"]),
        (["P", "P.5,7"], ["P_5", "P_7"]),
        (["P.7", "P"], ["P_7"]),
        (["P.5x,7.9"], ["P_5", "P_7"]),  # as C's atol
        (["P.7", "set"], [*SET[:5], "P_7", *SET[5:]]),
        (["set", "utility.2,0,0,0"], [*SET[:5], "utility_2,0,0,0", *SET[6:]]),
        (["iprec_at_recall..10,.5"], ["iprec_at_recall_0.10", "iprec_at_recall_0.50"]),
        (["Rprec_mult.2,.5"], ["Rprec_mult_0.50", "Rprec_mult_2.00"]),
        (["11pt_avg..2,.8"], ["11pt_avg_.2,.8"]),
        (["ndcg.1=3,2=9"], ["ndcg_1=3,2=9"]),
        (["set_F.0.5"], ["set_F_0.5"]),
        (["rbp.p=0.5"], ["rbp_p=0.5"]),
        (["unj.2"], ["unj_2"]),
        (["map.5"], ["map"]),  # takes no parameters, and ignores them
    ],
)
def test_parameters(trec_eval: Command, measures: list[str], labels: list[str]) -> None:
    printed = trec_eval(*wishes(*measures))
    assert printed.status == 0
    assert printed.labels == labels


def test_parameters_have_their_effect(trec_eval: Command) -> None:
    names = ("P.2", "recall.1", "utility.2,-1,-3,0", "set_F.2", "ndcg.1=3,2=9", "rbp.p=0.5",
             "unj.2")  # fmt: skip
    found = trec_eval("-q", *wishes(*names)).of("q1")
    log3 = math.log2(3)
    assert found == {
        "P_2": "0.5000",
        "recall_1": "0.5000",
        "utility_2,-1,-3,0": "3.0000",
        "set_F_2": f"{3 * (2 / 3) * 1 / (2 * (2 / 3) + 1):.4f}",
        "ndcg_1=3,2=9": f"{(9 + 3 / 2) / (9 + 3 / log3):.4f}",
        "rbp_p=0.5": f"{0.5 * (2 / 2 + 0.25 * 1 / 2):.4f}",  # gains by the largest judged one
        "unj_2": "0.5000",
    }


def test_topics_have_no_summaries_and_summaries_no_strings(trec_eval: Command) -> None:
    printed = trec_eval("-q", "-m", "all_trec")
    of_all, of_topic = printed.of(), printed.of("q1")
    assert set(of_all) - set(of_topic) == {"runid", "num_q", "gm_map", "gm_bpref"}
    assert set(of_topic) - set(of_all) == {"relstring"}


@BOTH
def test_no_summary(trec_eval: Command, version: str) -> None:
    assert [topic for _, topic, _ in trec_eval("-q", "-n", "-m", "map", version=version).rows] == [
        "q1",
        "q2",
    ]
    assert trec_eval("-n", version=version) == (0, "", "")


@BOTH
def test_the_old_format_is_accepted_and_ignored(trec_eval: Command, version: str) -> None:
    assert trec_eval("-o", "-q", version=version) == trec_eval("-q", version=version)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (["-q"], ["--query_eval_wanted"]),
        (["-q", "-n"], ["-q", "--nosummary"]),
        (["-m", "P.5"], ["--measure", "P.5"]),
        (["-c"], ["--complete_rel_info_wanted"]),
        (["-l", "2"], ["--level_for_rel", "2"]),
        (["-M", "1"], ["--Max_retrieved_per_query", "1"]),
        (["-J"], ["--Judged_docs_only"]),
        (["-m", "utility.0,0,0,1", "-N", "9"], ["-m", "utility.0,0,0,1",
                                                "--Number_docs_in_coll", "9"]),
        (["-o"], ["--Output_old_results_format"]),
        (["-m", "P.5"], ["-mP.5"]),
        (["-l", "2"], ["-l2"]),
        (["-M", "1"], ["-M1"]),
        (["-q", "-c"], ["-qc"]),
    ],
)  # fmt: skip
def test_options_may_be_long_or_glued(
    trec_eval: Command, short: list[str], long: list[str]
) -> None:
    expected = trec_eval(*short)
    assert expected.status == 0
    assert expected.out
    assert trec_eval(*long) == expected


def test_the_last_line_names_the_run(trec_eval: Command) -> None:
    """Whatever its topic, and whatever follows the tag (§4.1)."""
    run = "q2 Q0 e 1 1 ours\nq1 Q0 a 1 3 theirs and more\nunjudged Q0 z 1 1 other words\n\n"
    assert trec_eval("-m", "runid", run=run).of() == {"runid": "other"}


# Which topics are averaged


def test_missing_topics_in_version_9(trec_eval: Command) -> None:
    names = wishes("num_q", "num_ret", "num_rel", "map", "gm_map", "relstring", "utility")
    printed = trec_eval("-q", *names, qrels=MISSING, version="9")
    assert printed.of() == {
        "num_q": "2", "num_ret": "4", "num_rel": "4", "map": "0.6667",
        "gm_map": f"{math.sqrt(5 / 12):.4f}", "utility": "1.0000",
    }  # fmt: skip
    complete = trec_eval("-q", "-c", *names, qrels=MISSING, version="9")
    assert complete.of("q3") == {}
    assert complete.of("q1") == printed.of("q1")
    assert complete.of() == {
        "num_q": "3", "num_ret": "4", "num_rel": "5", "map": f"{sum(AP.values()) / 3:.4f}",
        "gm_map": f"{(5 / 12 * 1e-5) ** (1 / 3):.4f}", "utility": f"{2 / 3:.4f}",
    }  # fmt: skip


def test_missing_topics_in_version_10(trec_eval: Command) -> None:
    names = wishes("num_q", "num_ret", "num_rel", "map", "gm_map", "relstring", "utility",
                   "set_P", "rbp_resid", "unj.5")  # fmt: skip
    printed = trec_eval("-q", "-c", *names, qrels=MISSING)
    assert printed.of("q3") == {
        "num_ret": "0", "num_rel": "1", "map": "0.0000", "relstring": "''", "utility": "0.0000",
        "set_P": "0.0000", "rbp_resid": "0.0000", "unj_5": "0.0000",
    }  # fmt: skip
    assert printed.of() == {
        "num_q": "3", "num_ret": "4", "num_rel": "5", "map": f"{sum(AP.values()) / 3:.4f}",
        "gm_map": f"{(5 / 12 * 1e-5) ** (1 / 3):.4f}", "utility": f"{2 / 3:.4f}",
        "set_P": f"{(2 / 3 + 1) / 3:.4f}",
        # x at rank 2 of 3: 0.1 x 0.9 is its share, 0.9^3 that of all beyond.
        "rbp_resid": f"{(0.1 * 0.9 + 0.9**3) / 3:.4f}", "unj_5": f"{1 / 5 / 3:.4f}",
    }  # fmt: skip


@pytest.mark.parametrize(("first", "topics"), [("q3", ["q1", "q2"]), ("q0", []), ("q1b", ["q1"])])
def test_version_10_stops_at_a_missing_topic(
    trec_eval: Command, first: str, topics: list[str]
) -> None:
    printed = trec_eval("-q", "-m", "map", qrels=f"{first} 0 f 1\n{QRELS}q4 0 g 1\n")
    assert printed.status == 4
    assert printed.rows == [("map", topic, f"{AP[topic]:.4f}") for topic in topics]
    assert len(printed.err.splitlines()) == 1
    assert f"(query '{first}'): it is judged and missing" in printed.err


def test_the_class_stops_at_a_missing_topic_too() -> None:
    judged = irbatch.Qrels({"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}})
    lines = TrecEval(["map"]).lines(judged, irbatch.Run({"1": {"a": 1.0}, "3": {"c": 1.0}}),
                                    per_query=True)  # fmt: skip
    assert next(lines) == "map                   \t1\t1.0000"
    error = refused(lambda: next(lines), "missing", source="run", query="2")
    assert isinstance(error, MissingQueryError)


@BOTH
def test_topics_only_in_the_run_are_ignored(trec_eval: Command, version: str) -> None:
    more = "q0 Q0 a 1 1 t\n" + RUN.replace("last", "t") + "q9 Q0 a 1 1 last\n"
    assert trec_eval("-q", run=more, version=version) == trec_eval("-q", version=version)
    assert trec_eval("-q", "-c", run=more, version=version) == trec_eval("-q", version=version)


@BOTH
def test_nothing_in_common(trec_eval: Command, version: str) -> None:
    status, out, err = trec_eval(run="q9 Q0 a 1 1 t\n", version=version)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "no query of it is judged" in err


@BOTH
def test_topics_are_in_the_order_of_their_bytes(trec_eval: Command, version: str) -> None:
    topics = ["10", "2", "A", "a", "é", "\ufffd", "\U0001f600"]  # the last two: not in UTF-16
    shuffled = [topics[place] for place in (3, 6, 1, 4, 0, 5, 2)]
    qrels = "".join(f"{topic} 0 d 1\n" for topic in shuffled)
    run = "".join(f"{topic} Q0 d 1 1 t\n" for topic in reversed(shuffled))
    printed = trec_eval("-q", "-n", "-m", "num_ret", qrels=qrels, run=run, version=version)
    assert [topic for _, topic, _ in printed.rows] == topics


@BOTH
@pytest.mark.parametrize(
    ("relevant", "other", "rank"),
    [("9", "10", 1), ("10", "9", 2), ("é", "z", 1), ("\U0001f600", "\ufffd", 1), ("b", "ba", 2)],
)
def test_ties_are_in_the_descending_order_of_bytes(
    trec_eval: Command, version: str, relevant: str, other: str, rank: int
) -> None:
    qrels = f"q 0 {relevant} 1\n"
    run = f"q Q0 {relevant} 1 1.5 t\nq Q0 {other} 2 1.5 t\n"
    printed = trec_eval("-m", "recip_rank", qrels=qrels, run=run, version=version)
    assert printed.of() == {"recip_rank": f"{1 / rank:.4f}"}


@pytest.mark.parametrize(
    ("better", "worse"),
    [("1.0000000001", "1.0"), ("16777217", "16777216"), ("2e39", "1e39"), ("-1e39", "-2e39")],
)
def test_version_9_compares_scores_as_float32(trec_eval: Command, better: str, worse: str) -> None:
    """§4.1: what is equal then is in the order of ids, and b stands above a."""
    qrels = "q 0 a 1\n"
    run = f"q Q0 a 1 {better} t\nq Q0 b 2 {worse} t\n"
    options = ("-m", "recip_rank")
    assert trec_eval(*options, qrels=qrels, run=run, version="9").of() == {"recip_rank": "0.5000"}
    assert trec_eval(*options, qrels=qrels, run=run).of() == {"recip_rank": "1.0000"}


def test_recall_points_are_rounded_differently(trec_eval: Command) -> None:
    """§4.3: 0.7 of R = 2 is 1.4, which is 2 documents in version 9 and 1 in version 10."""
    options = ("-q", "-n", "-m", "iprec_at_recall..7")
    assert trec_eval(*options, version="9").by_topic("iprec_at_recall_0.70") == {
        "q1": "0.6667",
        "q2": "0.0000",
    }
    assert trec_eval(*options).by_topic("iprec_at_recall_0.70") == {"q1": "1.0000", "q2": "1.0000"}


# What is relevant, and what is seen


@BOTH
def test_level(trec_eval: Command, version: str) -> None:
    """Grades of 2 and more: a in q1, e in q2."""
    names = wishes("num_rel", "num_rel_ret", "map", "ndcg", "ndcg_cut.1", "G")
    found = trec_eval("-q", "-l", "2", *names, version=version)
    usual = trec_eval("-q", *names, version=version)
    for topic, row in (("q1", found.of("q1")), ("q2", found.of("q2"))):
        assert (row["num_rel"], row["num_rel_ret"], row["map"]) == ("1", "1", "1.0000")
        for name in ("ndcg", "ndcg_cut_1", "G"):
            assert row[name] == usual.of(topic)[name]
    assert found.of()["num_rel"] == "2"


@BOTH
def test_rndcg_where_nothing_is_relevant_at_the_level(trec_eval: Command, version: str) -> None:
    """§4.3: 0, though ndcg sees the gain; e is judged at 12 in q2."""
    names = wishes("Rndcg", "ndcg", "map")
    printed = trec_eval("-q", "-l", "3", *names, version=version)
    assert printed.of("q1")["Rndcg"] == printed.of("q1")["map"] == "0.0000"
    assert float(printed.of("q1")["ndcg"]) > 0.9
    assert float(trec_eval("-q", *names, version=version).of("q1")["Rndcg"]) > 0.5
    assert float(printed.of("q2")["Rndcg"]) > 0.5


@BOTH
def test_all_relevant_documents_are_counted_at_level_1(trec_eval: Command, version: str) -> None:
    """§4.5: with -c, the summary of num_rel ignores -l."""
    printed = trec_eval("-q", "-c", "-l", "2", "-m", "num_rel", qrels=MISSING, version=version)
    assert printed.by_topic("num_rel") == {
        "q1": "1", "q2": "1", **({"q3": "0"} if version == "10" else {}), "all": "5",
    }  # fmt: skip


@BOTH
@pytest.mark.parametrize(
    ("words", "strings", "retrieved"),
    [
        ([], ["'2-1'", "'>'"], ["3", "1"]),
        (["-M", "2"], ["'2-'", "'>'"], ["2", "1"]),
        (["-M", "9"], ["'2-1'", "'>'"], ["3", "1"]),
        (["-J"], ["'21'", "'>'"], ["2", "1"]),
        (["-M", "2", "-J"], ["'2'", "'>'"], ["1", "1"]),  # the depth comes first (§4.2)
    ],
)
def test_depth_and_judged_only(
    trec_eval: Command, version: str, words: list[str], strings: list[str], retrieved: list[str]
) -> None:
    printed = trec_eval("-q", "-n", *words, *wishes("relstring", "num_ret", "num_rel"),
                        version=version)  # fmt: skip
    assert list(printed.by_topic("relstring").values()) == strings
    assert list(printed.by_topic("num_ret").values()) == retrieved
    assert list(printed.by_topic("num_rel").values()) == ["2", "2"]


def test_judged_only_removes_negative_grades(trec_eval: Command) -> None:
    qrels = "q 0 a -1\nq 0 b 0\nq 0 c 1\n"
    run = "q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 c 3 1 t\n"
    names = wishes("relstring", "num_ret", "num_nonrel_judged_ret", "recip_rank")
    assert trec_eval("-q", "-n", "-J", *names, qrels=qrels, run=run).of("q") == {
        "num_ret": "2", "recip_rank": "0.5000", "relstring": "'01'", "num_nonrel_judged_ret": "1",
    }  # fmt: skip


def test_judged_only_may_leave_nothing(trec_eval: Command) -> None:
    printed = trec_eval("-q", "-J", "-m", "all_trec", run="q1 Q0 x 1 1 t\nq2 Q0 y 1 1 t\n")
    assert printed.of("q1")["relstring"] == "''"
    assert printed.of()["num_rel"] == "4"
    assert {
        value
        for label, value in printed.of().items()
        if label not in ("runid", "num_q", "num_rel", "gm_map", "gm_bpref")
    } == {"0", "0.0000"}


@BOTH
def test_documents_in_the_collection(trec_eval: Command, version: str) -> None:
    """All that is neither retrieved nor relevant: 10 + 2 - 3 - 2 in q1, 10 + 1 - 1 - 2 in q2."""
    words = ("-q", "-N", "10", "-m", "utility.0,0,0,1")
    assert trec_eval(*words, version=version).by_topic("utility_0,0,0,1") == {
        "q1": "7.0000",
        "q2": "8.0000",
        "all": "7.5000",
    }


@BOTH
def test_fractions_of_grades_are_dropped(trec_eval: Command, version: str) -> None:
    """§4.1: 1.7 is 1 and 0.9 is 0, as C's atol reads them."""
    qrels = "q1 0 a 1.7\nq1 0 b 0.9\nq2 0 d 1.0\nq2 0 e 12.999\n"
    names = wishes("relstring", "num_rel", "ndcg", "num_nonrel_judged_ret")
    printed = trec_eval("-q", *names, qrels=qrels, version=version)
    whole = "q1 0 a 1\nq1 0 b 0\nq2 0 d 1\nq2 0 e 12\n"
    assert printed == trec_eval("-q", *names, qrels=whole, version=version)
    assert printed.of("q1") == {
        "num_rel": "1", "relstring": "'1-0'", "ndcg": "1.0000", "num_nonrel_judged_ret": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ("relstring", "'09>>.-1111'"),
        ("relstring.3", "'09>'"),
        ("relstring.20", "'09>>.-111111'"),
    ],
)
def test_relevance_strings(trec_eval: Command, wish: str, text: str) -> None:
    grades = ["0", "9", "10", "100", "-2", "", *["1"] * 6]
    documents = "abcdefghijkl"
    qrels = "".join(f"q 0 {d} {g}\n" for d, g in zip(documents, grades, strict=True) if g)
    run = "".join(f"q Q0 {d} 1 {-place} t\n" for place, d in enumerate(documents))
    printed = trec_eval("-q", "-m", wish, qrels=qrels, run=run)
    assert printed.rows == [(wish.replace(".", "_"), "q", text)]


# Deviations from known means (§4.5)


@BOTH
def test_zscores(trec_eval: Command, tmp_path: Path, version: str) -> None:
    table = tmp_path / "z"
    table.write_text("q1 map 0.5 0.25\nq2\tmap\t0.5\t0.0\n\nq1 num_ret 2 0\nq1 P_5 0 -nan\n")
    words = ("-q", "-Z", str(table), *wishes("map", "num_ret", "recip_rank"))
    printed = trec_eval(*words, version=version)
    assert printed.by_topic("Zmap") == {
        "q1": f"{(5 / 6 - 0.5) / 0.25:.4f}",
        "q2": "0.0000",  # deviation 0, and equal
        "all": f"{(5 / 6 - 0.5) / 0.25 / 2:.4f}",
    }
    assert printed.of("q1")["Znum_ret"] == "-1000000.0000"  # deviation 0, not equal
    assert printed.of("q2")["Znum_ret"] == "-1000000.0000"  # measure missing
    assert printed.by_topic("Zrecip_rank") == dict.fromkeys(("q1", "q2", "all"), "-1000000.0000")
    assert printed.out.startswith("Znum_ret               \tq1\t")


def test_zscores_of_a_missing_topic(trec_eval: Command, tmp_path: Path) -> None:
    (tmp_path / "z").write_text("q1 map 0 1\n")
    printed = trec_eval("-q", "-Z", str(tmp_path / "z"), "-m", "map")
    assert printed.of("q2") == {"Zmap": "-1000000.0000"}


@pytest.mark.parametrize("line", ["q1 map 0.5", "q1 map 0.5 0.1 0.2", "q1 map high 1", "q1 map 1,"])
def test_bad_zscores(trec_eval: Command, tmp_path: Path, line: str) -> None:
    table = tmp_path / "z"
    table.write_text(f"q2 map 0.5 0.1\n{line}\n")
    printed = trec_eval("-Z", str(table))
    assert (printed.status, printed.out) == (2, "")
    assert printed.err == (
        f"irbatch: error: zscores '{table}' line 2: {line!r} is not query, measure, mean, "
        "deviation\n"
    )


def test_no_zscores_file(trec_eval: Command, tmp_path: Path) -> None:
    printed = trec_eval("-Z", str(tmp_path / "none"))
    assert (printed.status, printed.out) == (2, "")
    assert "none': No such file" in printed.err


# Refusals


@BOTH
@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("nope", "illegal measure 'nope'"),
        ("MAP", "illegal measure 'MAP'"),
        ("P_5", "illegal measure 'P_5'"),
        ("P.", "illegal measure 'P.'"),
        ("", "illegal measure ''"),
        ("P.5,5", "parameters '5,5' of trec_eval's P must be different numbers"),
        ("P.five", "parameters 'five' of trec_eval's P must be numbers"),
        ("P.5,,7", "parameters '5,,7' of trec_eval's P must be numbers"),
        ("P.0", "cutoff 0 must be"),
        ("recall.-5", "cutoff -5 must be"),
        ("iprec_at_recall..5,0.50", "trec_eval's iprec_at_recall must be different"),
        ("utility.1,2", "parameters '1,2' of trec_eval's utility must be 4 numbers"),
        ("set_F.-1", "parameters '-1' of trec_eval's set_F must be a number above 0"),
        ("ndcg.1", "parameters '1' of trec_eval's ndcg must be grade=gain"),
        ("ndcg.one=1", "parameters 'one=1' of trec_eval's ndcg must be grade=gain"),
        ("ndcg.1=x", "parameters '1=x' of trec_eval's ndcg must be grade=gain"),
    ],
)
def test_bad_measures_leave_with_2(trec_eval: Command, version: str, wish: str, said: str) -> None:
    printed = trec_eval("-m", "map", "-m", wish, version=version)
    assert (printed.status, printed.out) == (2, "")
    assert said in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["rbp", "rbp.p=0.5", "rbp_resid", "unj", "unj.5", "dcg",
                                  "ideal_dcg"])  # fmt: skip
def test_measures_that_came_with_version_10(trec_eval: Command, name: str) -> None:
    assert trec_eval("-m", name).status == 0
    printed = trec_eval("-m", name, version="9")
    assert (printed.status, printed.out) == (2, "")
    assert f"illegal measure '{name}'" in printed.err
    refused(
        TrecEval([name], "9").values, f"illegal measure '{name}'", source="measures", value=name
    )


@pytest.mark.parametrize(
    "words",
    ["--as 8", "-l -1", "-l x", "-M 0", "-M -1", "-M x", "-x", "-N -5 -m utility"],
)
def test_bad_options_leave_with_2(trec_eval: Command, words: str) -> None:
    printed = trec_eval(*words.split())
    assert (printed.status, printed.out) == (2, "")
    assert "Traceback" not in printed.err
    assert "error" in printed.err


def test_measures_are_refused_before_files_are_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["trec_eval", "-m", "nope", str(tmp_path / "none"), str(tmp_path / "none")]) == 2
    assert "illegal measure 'nope'" in capsys.readouterr().err


# Files


def test_compressed_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    qrels, run, table = tmp_path / "qrels.gz", tmp_path / "run.gz", tmp_path / "z.gz"
    qrels.write_bytes(gzip.compress(QRELS.encode()))
    run.write_bytes(gzip.compress(RUN.encode()))
    table.write_bytes(gzip.compress(b"q1 map 0 1\nq2 map 0 1\n"))
    assert main(["trec_eval", "-m", "map", str(qrels), str(run)]) == 0
    assert main(["trec_eval", "-m", "map", "-Z", str(table), str(qrels), str(run)]) == 0
    assert capsys.readouterr().out == (
        "map                   \tall\t0.6667\nZmap                   \tall\t0.6667\n"
    )


def test_a_run_from_standard_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    # As a pipe has it: a text stream over a buffered one.
    pipe = io.TextIOWrapper(io.BufferedReader(io.BytesIO(RUN.encode())))
    monkeypatch.setattr(sys, "stdin", pipe)
    assert main(["trec_eval", "-m", "map", "-m", "runid", str(tmp_path / "qrels"), "-"]) == 0
    assert capsys.readouterr().out == (
        "runid                 \tall\tlast\nmap                   \tall\t0.6667\n"
    )


@BOTH
def test_bad_files_leave_with_2(trec_eval: Command, version: str) -> None:
    printed = trec_eval("-q", run="q1 Q0 a 1 high t\n", version=version)
    assert (printed.status, printed.out) == (2, "")
    assert "line 1 (query 'q1', document 'a'): score 'high' is not a number" in printed.err


# evaluate(trec_eval=…)

Judged = dict[str, dict[str, float]]
JUDGED: Judged = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1, "e": 12}}
RANKED: Judged = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"e": 1.0}}
LACKING = {**JUDGED, "q3": {"f": 1}}
TIED: Judged = {"q1": {"a": 1.0000000001, "x": 1.0}, "q2": {"e": 1.0}}  # as float32 only


def averages(options: TrecEval, qrels: irbatch.Qrels, run: irbatch.Run) -> dict[str, float]:
    lines = (line.split("\t") for line in options.lines(qrels, run))
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
    refused(lambda: irbatch.evaluate(*files, "AP", trec_eval="10"), "4 of 120 judged queries are "
            "missing", source="run", path=str(files[1]))  # fmt: skip
    lines = TrecEval(["map"]).lines(irbatch.read_qrels(files[0]), irbatch.read_run(files[1]))
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


@pytest.mark.parametrize("version", ["9", "10"])
def test_an_error_asked_for_wins(version: str) -> None:
    refused(lambda: irbatch.evaluate(LACKING, RANKED, "AP", trec_eval=version, missing="error"),
            "1 of 3 judged queries are missing, such as 'q3'", source="run")  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({}, 1.0),
        ({"trec_eval": "9"}, 0.5),  # x stands above a
        ({"trec_eval": "10"}, 1.0),
        ({"trec_eval": "9", "score_dtype": "float64"}, 1.0),
        ({"trec_eval": "10", "score_dtype": "float32"}, 0.5),
    ],
)
def test_what_is_said_of_scores_wins(settings: dict[str, Any], value: float) -> None:
    assert irbatch.evaluate(JUDGED, TIED, "RR", **settings).per_query("RR")["q1"] == value


@pytest.mark.parametrize(("version", "values"), [(None, (1.0, 1.0)), ("10", (1.0, 1.0)),
                                                 ("9", (2 / 3, 0.0))])  # fmt: skip
def test_recall_points_of_the_preset(version: str | None, values: tuple[float, float]) -> None:
    results = irbatch.evaluate(JUDGED, RANKED, "iprec_at_recall_0.70", trec_eval=version)
    assert tuple(results.values[:, 0].tolist()) == values


def test_a_rounding_of_ones_own_wins() -> None:
    results = irbatch.evaluate(JUDGED, RANKED, "IPrec(recall=0.7,rounding=up)", trec_eval="10")
    assert results.values.tolist() == [[2 / 3], [0.0]]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"trec_eval": "9"}, {"as": "trec_eval 9", "missing queries": "skip"}),
        ({"trec_eval": "10"}, {"as": "trec_eval 10", "missing queries": "error"}),
        ({"trec_eval": "9", "missing": "zero"}, {"missing queries": "score 0"}),
        ({"trec_eval": "9"}, {"order": "score (float32) descending, then document id descending"}),
        ({"rel": 2}, {"relevant": "grade >= 2 unless rel="}),
        ({"max_depth": 7}, {"depth": "at most 7"}),
    ],
)
def test_the_signature_names_it(settings: dict[str, Any], named: dict[str, str]) -> None:
    results = irbatch.evaluate(JUDGED, RANKED, "AP", **settings)
    for name, value in named.items():
        assert results.settings[name] == value
        assert f"{name}: {value}" in results.signature


def test_the_signature_is_silent_about_what_is_not_asked_for() -> None:
    assert not {"as", "depth"} & set(irbatch.evaluate(JUDGED, RANKED, "AP").settings)


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
    refused(lambda: irbatch.evaluate(JUDGED, RANKED, "AP", **settings),
            f"{name}={value!r} must be", value=value)  # fmt: skip
