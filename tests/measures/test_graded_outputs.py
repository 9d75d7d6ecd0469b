"""What gdeval and NTCIREVAL print of real runs, and an example worked by hand.

Outputs of four and five digits are met to the digit, those of fifteen digits to 1e-12.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from support.ntcireval import OPTIONS, meaning
from support.paths import MORE_REFERENCE_DATA

import irbatch

NTCIREVAL_FILE = re.compile(
    r"(?P<set>\w+?)\.(?P<run>.+?)(?P<condensed>\.condensed)?(?P<python>\.pyNTCIREVAL)?"
    r"\.g(?P<gains>[\d-]+)(?P<options>(_[a-z]+[\d.]+?)*)(?P<digits>\.15digits)?\.tsv\.gz"
)
IN_DATA = {
    "dl19": ("dl19_passage", "qrels.dl19-passage.txt.gz"),
    "web2012": ("web2012_ql", "qrels.adhoc.2012.txt.gz"),
}
NTCIR = {"www4": "www4gold-corrected.qrels.gz", "wwwE": "wwwE.qrels.gz"}
OF_NTCIREVAL = sorted(path.name for path in MORE_REFERENCE_DATA.glob("d_ntcireval/expected/*"))
GDEVAL_FILE = re.compile(
    r"(?P<set>\w+?)\.(?P<run>.+?)\.(?P<complete>c_)?k(?P<k>\d+)(?P<digits>\.15digits)?\.csv\.gz"
)
OF_GDEVAL = sorted(path.name for path in MORE_REFERENCE_DATA.glob("a_gdeval/expected/*"))
TOLERANCE = 1e-12

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


class Output(NamedTuple):
    """What NTCIREVAL printed for a query."""

    query: str
    measure: str
    value: str


def lines(path: Path, separator: str | None = None) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (line.strip().split(separator) for line in file)


@functools.cache
def problem(set_name: str, run_name: str, data: Path) -> tuple[Qrels, Run]:
    """Judgments and a run; NTCIR's runs are in the order of their lines."""
    qrels: Qrels = {}
    run: Run = {}
    if set_name in IN_DATA:
        folder, name = IN_DATA[set_name]
        for query, _, document, grade in lines(data.parent / "data" / folder / name):
            qrels.setdefault(query, {})[document] = int(grade)
        runs = data.parent / "data" / folder / "runs"
        for query, _, document, _, score, *_ in lines(runs / f"{run_name}.run.gz"):
            run.setdefault(query, {})[document] = float(score)
        return qrels, run
    for query, document, level in lines(data / "d_ntcireval" / "qrels" / NTCIR[set_name]):
        qrels.setdefault(query, {})[document] = int(level.removeprefix("L"))
    for place, words in enumerate(lines(data / "d_ntcireval" / "runs" / f"{run_name}.run.gz")):
        if len(words) == 6:
            run.setdefault(words[0], {})[words[2]] = -float(place)
    return qrels, run


@pytest.mark.parametrize("name", OF_NTCIREVAL or ["none"])
def test_ntcireval(name: str, more_reference_data: Path) -> None:
    match = NTCIREVAL_FILE.fullmatch(name)
    assert match is not None, name
    gains = [float(gain) for gain in match["gains"].split("-")]
    found = re.findall(r"_([a-z]+)([\d.]+)", match["options"])
    options = OPTIONS | {option: float(value) for option, value in found}
    qrels, run = problem(match["set"], match["run"], more_reference_data)
    path = more_reference_data / "d_ntcireval" / "expected" / name
    printed = [Output(*words) for words in lines(path) if len(words) == 3]
    assert len(printed) > 1000
    measures = {each: meaning(each, gains, options) for each in {p.measure for p in printed}}
    results = irbatch.evaluate(
        qrels, run, list(measures.values()), judged_only=bool(match["condensed"])
    ).to_dict()
    for query, each, text in printed:
        check(results[query][str(measures[each])], text, match["digits"], f"{query} {each}")


def check(value: float, text: str, fifteen: str | None, what: str) -> None:
    """Compare a value with a printed one, of fifteen digits or of so many decimals."""
    decimals = len(text.partition(".")[2])
    if fifteen:
        assert value == pytest.approx(float(text), rel=TOLERANCE, abs=1e-15), what
    else:
        assert f"{value:.{decimals}f}" == text, what


@pytest.mark.parametrize("name", OF_GDEVAL or ["none"])
def test_gdeval(name: str, more_reference_data: Path) -> None:
    """It averages topics that have a relevant document and, unless -c, stand in the run."""
    match = GDEVAL_FILE.fullmatch(name)
    assert match is not None, name
    qrels, run = problem(match["set"], match["run"], more_reference_data)
    results = irbatch.evaluate(
        qrels,
        run,
        f"nDCG(gain=exp)@{match['k']} ERR@{match['k']}",
        missing="zero" if match["complete"] else "skip",
        no_relevant="skip",
    )
    _, *rows = lines(more_reference_data / "a_gdeval" / "expected" / name, ",")
    values = results.to_dict() | {"amean": results.mean()}
    assert len(rows) > 40
    for _, query, *printed in rows:
        for text, (each, value) in zip(printed, values[query].items(), strict=True):
            check(value, text, match["digits"], f"{query} {each}")


# ---------------------------------------------------------------- by hand

# Retrieved: d1 of grade 1, d2 unjudged, d3 of grade 3, d4 of grade 0, d5 of grade 2; d6, of grade
# 2, was not. The ideal ranking's gains are 3 2 2 1.
QRELS = {"q": {"d1": 1, "d3": 3, "d4": 0, "d5": 2, "d6": 2}}
RUN = {"q": {f"d{rank}": float(-rank) for rank in range(1, 6)}}
WORKED: dict[str, Fraction | float] = {
    # 1/16, then of 15/16 left 7/16 at rank 3, then 3/16 at rank 5
    "ERR": Fraction(897, 4096),
    "ERR(max_grade=3)": Fraction(2983, 7680),
    "nERR(max_grade=3)@3": 0.41863799283154124,
    "nERR(max_grade=3)@5": 0.4269529240746953,
    "nERR@3": Fraction(48, 125),
    "ERR(max_grade=3,gain=linear)": Fraction(73, 160),
    # (1 + 1) / (1 + 3), (2 + 4) / (3 + 7), (3 + 6) / (5 + 8), over 4
    "Qmeasure": Fraction(233, 520),
    "Qmeasure@3": Fraction(11, 30),
    "Omeasure": Fraction(1, 2),
    "Pmeasure": Fraction(3, 5),
    "Pplus": Fraction(11, 20),
    "EBR(max_grade=3)": 0.527403846153846,
    "nEBR(max_grade=3)@5": 0.553341740226986,
    "iRBU(max_grade=3)": 0.882448504678125,
    "niRBU(max_grade=3)@5": 0.938110842304246,
    # 1/1, (6 + 1) / 3, (3 + 3 + 1) / 5, over 6 + 3 + 3 + 1
    "GAP": Fraction(71, 195),
    "GAP@3": Fraction(5, 18),
    "GAP(gain=linear)": Fraction(5, 12),
    "NCUrb(utility=P)": 0.586228197266305,
    "NCUrb": 0.4568368724843,
    "NCUrb(utility=IE)": 0.746670054930355,
    "NCUrb(utility=P)@5": 0.543708333333333,
    "RBP(p=0.95,max_grade=3)": 0.0889418750000001,
    "RBP(p=0.8,gain=binary)": 0.40992,
    "RBP(p=0.8)": 0.24928,
    "RBPresid(p=0.8,tail=always)": 0.48768,
    "RBPupper(p=0.8)": 0.24928 + 0.48768,
    "nRBP(p=0.95)@5": 0.705666209358832,
    "nCG@3": Fraction(4, 7),
    "nCG@5": Fraction(3, 4),
    "nDCG(discount=jk2)@3": 0.461969684470653,
    "nDCG(discount=jk2)@5": 0.555193785510547,
    "nDCG(discount=ln)@5": 0.575087373529831,
}
CONDENSED: dict[str, Fraction] = {
    "Bpref": Fraction(1, 2),
    "Bpref(norm=R)": Fraction(11, 16),
    "Bpref(norm=N)": Fraction(1, 2),
    "Bpref(norm=relative)": Fraction(5, 12),
    "Rpref(norm=N)": Fraction(27, 56),
    "Rpref(norm=relative)": Fraction(1, 4),
    "Rpref": Fraction(17, 32),
}


@pytest.mark.parametrize(("values", "judged_only"), [(WORKED, False), (CONDENSED, True)])
def test_worked_example(values: dict[str, Fraction | float], judged_only: bool) -> None:
    found = irbatch.evaluate(QRELS, RUN, list(values), judged_only=judged_only)
    for name, value in values.items():
        assert found[name] == pytest.approx(float(value), rel=1e-14), name
