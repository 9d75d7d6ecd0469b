"""Measures of the C/W/L framework: an example, and what cwl-eval prints of real runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from measures.test_graded_outputs import Run, lines, problem
from support.input_errors import input_error
from support.paths import MORE_REFERENCE_DATA

import irbatch
from irbatch.measures import CATALOGUE, Measure, measure

NUMBERS = ("EU", "ETU", "EC", "ETC", "ED", "resEU", "resETU", "resEC", "resETC", "resED")

# Its names with a cutoff as k, then ours; those of other parameters.
AT_K = {"P": "cwlP", "NDCG-k": "SDCG", "NERR-EQ8": "NERR8", "NERR-EQ9": "NERR9", "SET-k": "cwlSET"}
OTHERS = {
    "RBP": ("cwlRBP", "p"), "NPV-r": ("NPV", "rate"), "INST-T": ("INST", "T"),
    "INSQ-T": ("INSQ", "T"), "U-L": ("Umeasure", "L"), "TBG-H": ("TBG", "h"),
    "NERR-EQ10@phi": ("NERR10", "p"), "NERR-EQ11@T": ("NERR11", "T"),
}  # fmt: skip
# Its class AP divides by the relevant documents retrieved and TrAP by all: by the papers, and by
# its own descriptions of the two, it is the other way round.
SWAPPED = {"AP": "cwlTrAP", "TrAP": "cwlAP", "RR": "cwlRR"}
# Dynamic BPM's hc, by which K should move, moves T after T has been used: it has no effect.
WITHOUT_EFFECT = {"hc"}
FOR_IFT = {"IFT-C1": "goal", "IFT-C2": "rate", "IFT-C1-C2": "both"}


def meaning(name: str) -> Measure:
    """Return what is called so in cwl-eval's output, of gains that are grades up to 1."""
    if name in SWAPPED:
        return measure(SWAPPED[name])
    if name.startswith(("IFT", "BPM")):
        kind, *rest = re.split(r"-(?=\w+=)", name)
        settings: dict[str, Any] = dict(each.split("=") for each in rest)
        settings = {key: float(x) for key, x in settings.items() if key not in WITHOUT_EFFECT}
        if kind in FOR_IFT:
            return measure("IFT")(rule=FOR_IFT[kind], **settings)
        return measure("BPM")(**settings)
    stem, number = re.fullmatch(r"(.+)[@=]([\d.]+)", name.replace("-b@0.5", "")).groups()
    if stem.removesuffix("@k") in AT_K:
        return measure(AT_K[stem.removesuffix("@k")]) @ int(number)
    ours, parameter = OTHERS[stem]
    return measure(ours)(**{parameter: float(number)})


def five(plain: Measure) -> list[Measure]:
    """The five numbers of a measure and their residuals."""
    return [plain(number=each) for each in NUMBERS]


# d2 is not judged, d6 not retrieved.
QRELS = {"q": {"d1": 1, "d3": 3, "d4": 0, "d5": 2, "d6": 2}}
RUN = {"q": {"d1": 5.0, "d2": 4.0, "d3": 3.0, "d4": 2.0, "d5": 1.0}}
# EU, ETU, ED and the residual of EU that cwl-eval 1.0.12 prints, gains being grades over 3.
EXAMPLE = """\
P@5 0.4 2 5 0.2
RBP@0.8 0.24928 1.2464 5 0.48768
NDCG-k@5 0.370103556069575 1.09123520482303 2.94845911887939 0.213986264734528
RR 0.333333333333333 0.333333333333333 1 0
AP 0.411111111111111 1.02777777777778 2.5 0.577417226064361
TrAP 0.205555555555556 2.46666666666667 12 0.781983263764886
INST-T=1.0 0.290744144443636 0.584919413054478 2.01180860599568 0.269355069303194
INSQ-T=2.0 0.208706714350559 0.944412698916596 4.52522309779688 0.553397697082988
BPM-Static-T=1.2-K=10 0.444444444444444 1.33333333333333 3 0.222222222222222
BPM-Dynamic-T=1-K=1000-hb=1.0-hc=1.0 0.444444444444444 1.33333333333333 3 0.222222222222222
U-L@50 0.0747712418300654 1.90666666666667 25.5 0.850196078431373
TBG-H@22 0.0576886225826185 1.85999174732572 32.2419164136211 0.884301801657827
IFT-C1-T=2.0-b1=0.9-R1=1 0.346056467403502 1.20116656483582 3.47101319576051 0.315923962486337
IFT-C2-A=0.2-b2=0.9-R2=1 0.307093035468076 0.68648319302847 2.23542416708384 0.321546368561012
IFT-C1-C2-T=2.0-b1=0.9-R1=10-A=0.2-b2=0.9-R2=10 0.295604929544458 0.870146577391749 2.94361321623658 0.441790351744414
NERR-EQ8@k=10 0.428571428571429 1 2.33333333333333 0.171428571428571
NERR-EQ9@k=20 0.357142857142857 0.555555555555556 1.55555555555556 0.142857142857143
NERR-EQ10@phi=0.9 0.40809968847352 0.873333333333334 2.14 0.175233644859813
NERR-EQ11@T=2.0 0.365434221840069 0.62962962962963 1.72296296296296 0.167276058533763
NPV-r@0.1 0.146829265263798 1.61512191790178 11 0.703565951158329
SET-k@10-b@0.5 0.236681209243339 1.32371705456264 5.59282698780573 0.511508077484664
"""  # noqa: E501
MODELS = [name for name, each in CATALOGUE.items() if "number" in each.parameters]


@pytest.mark.parametrize("line", EXAMPLE.splitlines(), ids=lambda line: line.split()[0])
def test_example_of_five_documents(line: str) -> None:
    name, *numbers = line.split()
    plain = meaning(name)(max_grade=3)
    wanted = [plain(number=each) for each in ("EU", "ETU", "ED", "resEU")]
    found = irbatch.evaluate(QRELS, RUN, wanted)
    assert found.values[0].tolist() == pytest.approx(list(map(float, numbers)), rel=1e-13)


def test_ap_is_over_all_relevant_documents_and_trap_over_those_retrieved() -> None:
    """The names are the other way round in cwl-eval; trec_eval's AP is ours."""
    wanted = "AP AP(norm=found) cwlAP(max_grade=3,gain=binary) cwlTrAP(max_grade=3,gain=binary)"
    ap, found, cwl_ap, cwl_trap = irbatch.evaluate(QRELS, RUN, wanted).mean().values()
    assert (cwl_ap, cwl_trap) == (pytest.approx(ap), pytest.approx(found))
    assert (meaning("AP").name, meaning("TrAP").name) == ("cwlTrAP", "cwlAP")
    assert ap != found


@pytest.mark.parametrize("name", MODELS)
def test_perfect_rankings_to_the_last_rank(name: str) -> None:
    """Where each of the ranks that count gains 1, so does the user: exactly."""
    found = irbatch.evaluate_matrix(np.ones((1, 12)), [measure(name)(max_n=12), measure(name) @ 12])
    if name != "Umeasure":  # it doesn't look at rank max_n
        assert found.values.tolist() == [[pytest.approx(1.0, abs=1e-15)] * 2]
        assert (found.values <= 1.0).all()


def test_users_stop_at_the_cutoff() -> None:
    def same(*names: str) -> None:
        values = irbatch.evaluate(QRELS, RUN, list(names)).values[0]
        assert values.tolist() == pytest.approx([values[0]] * len(names), rel=1e-14)

    same("cwlP(max_grade=3)@4", "cwlP(max_grade=3,max_n=4)", "BPM(T=99,K=4,max_grade=3)")
    same("cwlP(max_grade=3,gain=binary)@4", "P@4")
    same("cwlRR(max_grade=3,gain=binary)@4", "RR")
    same("cwlRBP(p=0.5,max_grade=3)", "RBP(p=0.5,max_grade=3)")
    same("NPV(max_grade=3,rate=0.25)", "cwlRBP(max_grade=3,p=0.8)")
    same("SDCG(max_grade=3)@7", "SDCG(max_grade=3,max_n=7)")


def test_dynamic_limits_of_cost() -> None:
    """K moves by hc, as published; in cwl-eval hc moves nothing."""
    assert meaning("BPM-Dynamic-T=99-K=3-hb=0.0-hc=9.0") == measure("BPM(T=99,K=3)")
    # After d1, of gain 1/3, K is 3 + 9 (1/3 - 1/2) = 3/2, and two documents cost 2.
    names = "BPM(T=99,K=3,number=ED,max_grade=3) BPM(T=99,K=3,hc=9,number=ED,max_grade=3)"
    assert irbatch.evaluate(QRELS, RUN, names).values.tolist() == [[3.0, 2.0]]


def test_negative_residuals_are_right() -> None:
    wanted = "INST(max_grade=3,number={resETC,resED})"
    assert (irbatch.evaluate(QRELS, RUN, wanted).values < 0).all()


def test_documents_without_gain() -> None:
    found = irbatch.evaluate_matrix([[0, 0]], [measure(each)(max_n=20) for each in MODELS])
    assert found.values.tolist() == [[0.0] * len(MODELS)]
    skipped = irbatch.evaluate_matrix([[0, 0]], "INST INST(number=ED)", no_relevant="skip")
    assert np.isnan(skipped.values).all()


def test_gains_are_at_most_1() -> None:
    said = "grade 3 is above the max_grade of INST, 1"
    input_error(lambda: irbatch.evaluate(QRELS, RUN, "INST"), said, query="q", document="d3")
    input_error(
        lambda: irbatch.evaluate(QRELS, RUN, "INST(max_grade=3,gain={1:5})"),
        "gain 5 of grade 1 is above 3, the gain of max_grade=3",
    )


def test_endless_walks_are_refused() -> None:
    input_error(lambda: measure("INST(max_n=1e9)"), "must be a number of at most 1e+06")
    found = irbatch.evaluate_matrix([[1]], [measure("INST") @ 10**30, measure("INST")])
    assert found.values[0, 0] == found.values[0, 1]


FILE = re.compile(
    r"(?P<set>\w+?)\.(?P<run>.+?)\.gain_(?P<gain>\w+)(?P<costs>\.costs)?(\.max_n(?P<n>\d+))?"
    r"\.15digits\.tsv\.gz"
)
TOLERANCE = 1e-12  # of a number; of a residual, that of the two that it is the difference of
RESIDUAL = "res"
FILES = sorted(path.name for path in MORE_REFERENCE_DATA.glob("c_cwl/expected/*"))
GAINS: dict[str, dict[str, Any]] = {
    "g_over_3": {"max_grade": 3},
    "g_over_4": {"max_grade": 4},
    "binary_rel2": {"max_grade": 3, "gain": "binary", "rel": 2},
    "err": {"max_grade": 4, "gain": {1: 1 / 8, 2: 3 / 8, 3: 7 / 8, 4: 1}},
}


def costs_of(run: Run) -> irbatch.data.DocumentCosts:
    """Four types of documents, by their numbers."""
    types = 0.2, 1, 1.7, 3
    costs = {document: types[int(document[-1]) % 4] for each in run.values() for document in each}
    return irbatch.data.DocumentCosts(costs, lowest=0.2, highest=3)


@pytest.mark.parametrize("name", FILES or ["none"])
def test_cwl_eval(name: str, more_reference_data: Path) -> None:
    match = FILE.fullmatch(name)
    assert match is not None, name
    settings = GAINS[match["gain"]] | {"max_n": int(match["n"] or 1000)}
    _, *rows = lines(more_reference_data / "c_cwl" / "expected" / name, "\t")
    names = list(dict.fromkeys(row[1] for row in rows))
    assert len(names) == 46
    ours = [each(**settings) for name in names for each in five(meaning(name))]
    qrels, run = problem(match["set"], match["run"], more_reference_data)
    costs = costs_of(run) if match["costs"] else None
    results = irbatch.evaluate(qrels, run, ours, costs=costs)
    topics = list(dict.fromkeys(row[0] for row in rows))
    places = [results.query_ids.index(topic) for topic in topics]
    columns = [results.column_of(each) for each in ours]
    found = results.values[places][:, columns].reshape(len(rows), len(NUMBERS))
    printed = np.array([row[2:] for row in rows], float)
    scale = np.where(np.char.startswith(NUMBERS, RESIDUAL), np.maximum(np.abs(printed), 1.0), 0.0)
    off = np.argwhere(np.abs(found - printed) > TOLERANCE * (np.abs(printed) + scale))
    assert not off.size, f"{len(off)} values off, {rows[off[0][0]]}: {found[off[0][0]]}"
