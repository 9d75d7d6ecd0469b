"""The options of `irbatch trec_eval`: which documents are relevant and which are seen, Z-scores.

Numbers after § are the sections of trec_eval-exactness.md, facts about trec_eval's sources.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.trec_eval_command import BOTH, MISSING, QRELS, RUN, Command, wishes

from irbatch import evaluate


@BOTH
def test_no_summary_and_the_old_format(trec_eval: Command, version: str) -> None:
    printed = trec_eval("-q", "-n", "-m", "map", version=version)
    assert [topic for _, topic, _ in printed.rows] == ["q1", "q2"]
    assert trec_eval("-o", "-q", version=version) == trec_eval("-q", version=version)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (["-q"], ["--query_eval_wanted"]),
        (["-q", "-n"], ["-q", "--nosummary"]),
        (["-m", "P.5"], ["--measure", "P.5"]),
        (["-c"], ["--complete_rel_info_wanted"]),
        (["-l", "2"], ["--level_for_rel", "2"]),
        (["-M", "1"], ["--Max_retrieved_per_topic", "1"]),
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


# What is relevant, and what is seen


@BOTH
def test_rndcg_where_nothing_is_relevant_at_the_level(
    trec_eval: Command, version: str, tmp_path: Path
) -> None:
    """§4.3: 0, though ndcg sees the gain; e is judged at 12 in q2."""
    names = wishes("Rndcg", "ndcg", "map")
    printed = trec_eval("-q", "-l", "3", *names, version=version)
    assert printed.of("q1")["Rndcg"] == printed.of("q1")["map"] == "0.0000"
    assert float(printed.of("q1")["ndcg"]) > 0.9
    assert float(trec_eval("-q", *names, version=version).of("q1")["Rndcg"]) > 0.5
    assert float(printed.of("q2")["Rndcg"]) > 0.5
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(QRELS)
    run.write_text(RUN.replace("first", "last"))
    values = evaluate(qrels, run, "Rndcg", trec_eval=version, rel=3).per_query("Rndcg")
    assert {query: f"{value:.4f}" for query, value in values.items()} == {
        query: printed.of(query)["Rndcg"] for query in ("q1", "q2")
    }


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
    """§4.1: 1.7 is 1 and -0.9 is 0, as C's atol reads them."""
    qrels = "q1 0 a 1.7\nq1 0 b -0.9\nq2 0 d 1.0\nq2 0 e 12.999\n"
    names = wishes("relstring", "num_rel", "ndcg", "num_nonrel_judged_ret")
    printed = trec_eval("-q", *names, qrels=qrels, version=version)
    whole = "q1 0 a 1\nq1 0 b 0\nq2 0 d 1\nq2 0 e 12\n"
    assert printed == trec_eval("-q", *names, qrels=whole, version=version)
    assert printed.of("q1") == {
        "num_rel": "1", "relstring": "'1-0'", "ndcg": "1.0000", "num_nonrel_judged_ret": "1",
    }  # fmt: skip
    beside = "q1 0 a {}\nq1 0 b -1\n"  # one grade is all that is not negative
    printed, expected = (
        trec_eval("-q", *names, qrels=beside.format(grade), version=version) for grade in (1.7, 1)
    )
    assert printed == expected


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
    table.write_text("q1 map 0 1\n")  # without the topic q2
    printed = trec_eval("-q", "-Z", str(table), "-m", "map", version=version)
    assert printed.of("q2") == {"Zmap": "-1000000.0000"}
