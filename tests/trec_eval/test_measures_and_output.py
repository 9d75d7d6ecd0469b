"""`irbatch trec_eval`: its measures, their parameters, and the form of what it prints.

Numbers after § are the sections of trec_eval-exactness.md, facts about trec_eval's sources.
"""

from __future__ import annotations

import math

import pytest
from support.trec_eval_command import BOTH, Command, wishes

from irbatch.measures import CATALOGUE
from irbatch.measures.names import TREC_MEASURES

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


def test_percent_signs_stay_as_they_are(trec_eval: Command) -> None:
    printed = trec_eval("-q", "-n", "-m", "utility.1,-1,0,0%s", qrels="%d 0 a 1\n",
                        run="%d Q0 a 1 1 t\n")  # fmt: skip
    assert printed.out == "utility_1,-1,0,0%s    \t%d\t1.0000\n"


def test_a_topic_without_values_has_no_line(trec_eval: Command) -> None:
    assert trec_eval("-q", "-n", "-m", "num_q", "-m", "gm_map").out == ""


@BOTH
@pytest.mark.parametrize(
    ("words", "labels"), [([], OFFICIAL), (["-m", "official"], OFFICIAL), (["-m", "set"], SET)]
)
def test_default_and_nicknames(
    trec_eval: Command, version: str, words: list[str], labels: list[str]
) -> None:
    assert trec_eval(*words, version=version).labels == labels


def test_every_name_means_a_measure_of_the_catalogue() -> None:
    assert {each.meaning for each in TREC_MEASURES.values()} - {""} <= CATALOGUE.keys()


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
        # trec_eval's order
        (
            ["set_P", "ndcg", "P.10,5", "map", "runid"],
            ["runid", "map", "P_5", "P_10", "ndcg", "set_P"],
        ),
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


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ("relstring", "'09>>.-1111'"),
        ("relstring.3", "'09>'"),
        ("relstring.3,1", "'09>'"),
        ("relstring.-3", "''"),
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
