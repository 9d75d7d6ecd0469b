"""Names of measures: the grammar, other tools' spellings, and what is said of bad ones."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from support.input_errors import input_error
from support.measure_variants import MEASURES

import irbatch
from irbatch import InputError, measure
from irbatch.measures import CATALOGUE, Measure, parse_measures
from irbatch.measures.declare import styles
from irbatch.measures.names import TREC_MEASURES

SPELLINGS = {
    # ours and ir_measures'
    "nDCG@10": "nDCG@10", "AP(rel=2)@100": "AP(rel=2)@100", "RR": "RR", "MRR@10": "RR@10",
    "Precision@5": "P@5", "P( rel = 2 ) @ 5": "P(rel=2)@5", "SetP": "P", "SetR": "R",
    "nDCG(dcg='exp-log2')@20": "nDCG(gain=exp)@20", 'nDCG(dcg="log2")@20': "nDCG@20",
    "IPrec@0.1": "IPrec(recall=0.1)", "Bpref(rel=2)": "Bpref(rel=2)", "infAP(rel=2)":
    "InfAP(rel=2)",
    "nDCG(gains={0:0,1:3})@10": "nDCG(gain={0:0,1:3})@10", "Judged@10": "Judged@10",
    "F1@10": "F@10", "F(beta=2.0)": "F(beta=2)", "AP(norm=min)@10": "AP(norm=min)@10",
    "DCG(gain=exp, discount=ln)@5": "DCG(gain=exp,discount=ln)@5",
    "nDCG(discount=log2)": "nDCG",
    # trec_eval and pytrec_eval
    "map": "AP", "map_cut_100": "AP@100", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10",
    "P_5": "P@5", "P.5": "P@5", "recall_1000": "R@1000", "recip_rank": "RR", "Rprec": "Rprec",
    "success_1": "Success@1", "relative_P_5": "Rcap@5", "set_recall": "R", "set_F": "F",
    "set_relative_P": "Rcap", "num_q": "NumQ", "num_rel_ret": "NumRelRet",
    "ndcg.1=3,2=9,4=4.5": "nDCG(gain={1:3,2:9,4:4.5})", "gm_map": "GMAP", "bpref": "Bpref",
    "iprec_at_recall_0.10": "IPrec(recall=0.1)", "iprec_at_recall..3": "IPrec(recall=0.3)",
    "Rprec_mult.1.2": "RprecMult(times=1.2)", "11pt_avg..25,.5": "IPrecAvg(points={0.25,0.5})",
    "11pt_avg": "IPrecAvg", "infAP": "InfAP", "binG": "BinG", "G": "G", "G.1=2": "G(gain={1:2})",
    "Rndcg": "RnDCG", "ndcg_rel": "nDCGrel", "utility.2,-1,0,.5": "Utility(a=2,d=0.5)",
    "set_map": "SetAP", "num_nonrel_judged_ret": "NumNonRelRet", "unj_5": "Unjudged@5",
    "rbp": "RBP", "rbp.p=0.5": "RBP(p=0.5)", "rbp@5": "RBP@5",
    "rbp_resid": "RBPresid", "rbp_resid.p=0.95": "RBPresid(p=0.95)",
    "set_F.4": "F(weight=4)", "yaap": "YAAP",
    "dcg": "DCG", "ideal_dcg": "IDCG",
    # ranx
    "ndcg@10": "nDCG@10", "ndcg@10-l2": "nDCG(rel=2)@10", "map-l2": "AP(rel=2)",
    "ndcg_burges@5": "nDCG(gain=exp)@5", "dcg_burges": "DCG(gain=exp)", "hit_rate@3": "Success@3",
    "rbp.95": "RBP(p=0.95)", "rbp.5": "RBP(p=0.5)",
    "r-precision": "Rprec", "f1@2": "F@2", "precision@7": "P@7",
    # gdeval, NTCIREVAL
    "err@20": "ERR@20", "Q-measure": "Qmeasure", "Q@0010": "Qmeasure@10", "P-plus": "Pplus",
    "NCUrb,P": "NCUrb(utility=P)", "NCUrb,BR@0005": "NCUrb@5", "NCUgu,P": "NCUgu(utility=P)",
    "MSnDCG@0010": "nDCG(discount=ln)@10", "bpref_R": "Bpref(norm=R)", "GAP@0003": "GAP@3",
    "rpref_relative": "Rpref(norm=relative)", "nDCG(discount=jk10)@5": "nDCG(discount=jk10)@5",
    "Compat(p=0.8,normalize=False)": "Compat(p=0.8,normalize=False)",
    "Compat(normalize=True)": "Compat", "Compat(p=.5)": "Compat(p=0.5)",
    # cwl-eval's and ir_measures'
    "NDCG-k@10": "SDCG@10", "NERR-EQ8@20": "NERR8@20", "NERR10": "NERR10", "nerr_8": "nERR@8",
    "SDCG(max_rel=3)@10": "SDCG(max_grade=3)@10", "INST(T=2.0,max_rel=1)": "INST(T=2)",
    # RecBole, recommenders, scikit-learn
    "hit@10": "Success@10", "HR@10": "Success@10", "gauc": "GAUC", "mrr@10": "RR@10",
    "r_precision_at_10": "Rprec@10", "roc_auc_score": "AUC", "AUROC": "AUC", "auc": "AUC",
    "coverage_error": "CoverageError", "label_ranking_loss": "RankingLoss",
    "label_ranking_average_precision_score": "LRAP",
    # BEIR, MTEB, sentence-transformers
    "NDCG@10": "nDCG@10", "MAP@10": "AP@10", "Recall@100": "R@100", "R_cap@10": "Rcap@10",
    "Acc@1": "Success@1", "accuracy@3": "Success@3", "ndcg_at_10": "nDCG@10",
    "mrr_at_10": "RR@10", "hit_rate_at_10": "Success@10", "precision_at_1": "P@1",
}  # fmt: skip


@pytest.mark.parametrize(("spelled", "canonical"), SPELLINGS.items())
def test_spellings(spelled: str, canonical: str) -> None:
    assert str(measure(spelled)) == canonical
    assert measure(canonical) == measure(spelled)


def test_several_cutoffs_and_words_in_one_name() -> None:
    def names(text: str) -> list[str]:
        return [str(each) for each in parse_measures(text)]

    assert names("INST(number={EU, ED},T=2)@{1,5}") == [
        "INST(T=2)@1", "INST(T=2)@5", "INST(T=2,number=ED)@1", "INST(T=2,number=ED)@5",
    ]  # fmt: skip
    assert names("P@{1,5,10}") == names("P.1,5,10") == ["P@1", "P@5", "P@10"]
    assert names("nDCG@{1, 5} AP") == ["nDCG@1", "nDCG@5", "AP"]
    assert names("ndcg_cut")[:3] == ["nDCG@5", "nDCG@10", "nDCG@15"]
    assert len(names("map_cut")) == len(names("relative_P")) == 9


def test_parameters_of_trec_eval_are_taken_or_rejected() -> None:
    """What may follow a name of trec_eval changes the measure, or is an error."""
    for name, trec in TREC_MEASURES.items():
        if not trec.meaning:
            continue
        plain = parse_measures(name)
        for parameters in ("7", "0.3", "p=0.3", "1=3", "7,8", "1,2,3,4"):
            try:
                assert parse_measures(f"{name}.{parameters}") != plain, (name, parameters)
            except InputError:
                continue


def test_cutoffs_argument_goes_to_measures_without_one() -> None:
    found = parse_measures(["nDCG", "P@3", "NumQ"], cutoffs=[1, 10])
    assert list(map(str, found)) == ["nDCG@1", "nDCG@10", "P@3", "NumQ"]


def test_each_measure_once_in_the_order_asked() -> None:
    found = parse_measures("P@10 AP P_10 precision@010 map")
    assert list(map(str, found)) == ["P@10", "AP"]


EVERY = [
    *MEASURES, *(measure(name) for name, each in CATALOGUE.items() if each.reads != "prefix"),
    measure("RBP")(p=1 / 3, rel=0.1 + 0.2), measure("nDCG")(gain={1: 1e-7, 2.5: 1234567.89}),
    measure("Exposure")(group="Ünder-30 too"), measure("IPrecAvg")(points=(2 / 3, 5e-324)),
]  # fmt: skip


@pytest.mark.parametrize("each", [*EVERY, *(x @ 7 for x in EVERY if x.declaration.takes_cutoff)])
def test_names_round_trip_in_every_style(each: Measure) -> None:
    assert parse_measures(str(each)) == (each,)
    assert hash(measure(str(each))) == hash(each)
    assert pickle.loads(pickle.dumps(each)) == each
    for style in styles():
        spelled = each.spelled(style)
        if "rounding" in each.declaration.parameters and spelled != str(each):
            each = each(rounding="nearest")  # both versions of trec_eval call it the same
        assert parse_measures(spelled) == (each,)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("HR@10 Hit@10 HitRatio@10 hit_rate@10 Acc@10 accuracy@10 acc_at_10", "Success@10"),
        ("P.5,10 P@5,10 P@[5,10] P@{5,10}", "P@5 P@10"),
        ("AP,nDCG@10 AP,,nDCG@10, AP,nDCG(gain=linear)@10", "AP nDCG@10"),
        ("NCUrb,P@10,AP", "NCUrb(utility=P)@10 AP"),
        ("rbp.p=0.5,1=1,2=3,AP", "RBP(p=0.5,gain={1:1,2:3}) AP"),
        ("IPrec@0.1,0.2,11pt_avg", "IPrec(recall=0.1) IPrec(recall=0.2) IPrecAvg"),
    ],
)
def test_names_that_people_type(typed: str, meant: str) -> None:
    assert " ".join(map(str, parse_measures(typed))) == meant
    for each in typed.split(" "):
        assert set(parse_measures(each)) <= set(parse_measures(meant))


@pytest.mark.parametrize(
    ("asked", "cutoffs", "given"),
    [
        ("MAP NDCG@10 hit_rate", None, "MAP NDCG@10 hit_rate"),
        ("MAP MRR", [5, 10], "MAP@5 MAP@10 MRR@5 MRR@10"),
        ("Hit@{1,5} P.5,10", None, "Hit@1 Hit@5 P_5 P_10"),
        ([measure("MAP")(rel=2), "AP", "MAP"], None, "AP(rel=2) AP"),
    ],
)
def test_names_as_given(asked: Any, cutoffs: list[int] | None, given: str) -> None:
    found = irbatch.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, asked, cutoffs)
    assert list(found.mean("as given")) == given.split(" ")
    assert list(pickle.loads(pickle.dumps(found)).to_dict("as given")["q"]) == given.split(" ")
    assert list(found.mean()) == [str(each) for each in parse_measures(asked, cutoffs)]


def test_measures_of_ir_measures_have_its_defaults() -> None:
    """Its RBP has another p than ours, and binary gains; its SetF another beta."""
    theirs = pytest.importorskip("ir_measures")
    wished = [theirs.RBP(rel=2), theirs.SetF(beta=3.0), theirs.SetF]
    assert parse_measures(wished) == parse_measures(
        ["RBP(p=0.8,gain=binary,rel=2)", "F(weight=3)", "F"]
    )
    spelled_out = [theirs.RBP(rel=1, p=0.8), theirs.AP(rel=1), theirs.IPrec @ 0.1]
    assert parse_measures(spelled_out) == parse_measures(
        ["RBP(p=0.8,gain=binary,rel=1)", "AP", "IPrec(recall=0.1,rounding=up)"]
    )
    assert parse_measures([theirs.P, theirs.ERR], 5) == parse_measures("P@5 ERR@5")
    (rbp,) = parse_measures(theirs.RBP(rel=1, p=0.5))
    assert rbp.spelled("as given") == "RBP(rel=1,p=0.5)"
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}
    ours = irbatch.evaluate(qrels, run, wished[1:]).mean("as given")
    computed = theirs.calc_aggregate(wished[1:], qrels, run)
    assert ours == pytest.approx({str(each): value for each, value in computed.items()})


def test_measures_of_ir_measures_that_are_refused() -> None:
    theirs = pytest.importorskip("ir_measures")
    for wish, said in {
        theirs.Accuracy @ 1: "irbatch has no Accuracy@1 of ir_measures",
        theirs.RBP(p=0.8): "irbatch has no RBP of ir_measures",
        theirs.RBP @ 3: "irbatch has no RBP@3 of ir_measures",
        theirs.IPrec: "IPrec of ir_measures needs recall=",
        theirs.INST: "INST of ir_measures needs max_rel=",
        theirs.INST(max_rel=3, min_rel=1): "irbatch has no INST(max_rel=3,min_rel=1) of ir_measu",
        theirs.nDCG(judged_only=True): "applies to all measures of a call: evaluate(…, judged_o",
    }.items():
        input_error(lambda wish=wish: parse_measures([wish]), said)  # type: ignore[misc]
    input_error(lambda: parse_measures(theirs.P(to=3) @ 1), "ir_measures' P has no parameter 'to'")


def test_measures_are_values() -> None:
    assert measure("nDCG")(gain="exp") @ 10 == measure("nDCG(gain=exp)@10")
    assert measure("nDCG")(gain={2: 9, 1: 3}) == measure("nDCG(gain={1:3,2:9})")
    assert measure("AP")(norm="min")(norm="all") == measure("AP")
    assert measure("AP") != measure("AP")(rel=1), "stating a level is not leaving it open"


def test_no_two_measures_share_a_name() -> None:
    """Every alias and spelling leads back to the measure that declares it."""
    for name, declaration in CATALOGUE.items():
        for alias in declaration.names[0]:
            assert measure(f"{alias}@7" if declaration.takes_cutoff else alias).name == name
        for spelling in declaration.names[1]:
            fields = {"k": 7, "recall": 0.5, "times": 0.5, "p": 0.5, "T": 1.0, "max_grade": 3}
            spelled = spelling.full.format(**fields), spelling.cut.format(**fields)
            for text in filter(None, spelled):
                found = measure(text)
                assert found.name == name, text


def test_names_that_differ_in_case_alone() -> None:
    """NTCIREVAL's normalised RBP, and ndeval's novelty- and rank-biased precision."""
    assert (measure("nRBP").name, measure("NRBP").name) == ("nRBP", "NRBP")
    assert measure("nRBP(p=0.5)@3").name == "nRBP"
    results = irbatch.evaluate_matrix([[1, 0]], "nRBP@10")
    assert "nRBP@10" in results
    assert "NRBP@10" not in results


def test_every_form_of_results_has_the_names_asked_for() -> None:
    found = irbatch.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "MAP NDCG@10")
    for names, called in (("as given", ["MAP", "NDCG@10"]), ("trec_eval", ["map", "ndcg_cut_10"])):
        assert list(found.to_pandas(names)) == called
        assert found.to_polars(names=names).columns == ["query", *called]
        assert found.to_csv(names=names).splitlines()[0] == ",".join(["query", *called])
        assert list(json.loads(found.to_json(names=names))["mean"]) == called
    input_error(lambda: found.mean("trec"), "names='trec' must be one of 'irbatch', 'as given'")
