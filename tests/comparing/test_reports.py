"""What the reports of a comparison say in text, Markdown, LaTeX, CSV, JSON and frames."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.comparisons import FORMATS, NASTY, PEOPLES, constant, make, nasty, no_constant

import irbatch
from irbatch import InputError
from irbatch.comparing import Comparison
from irbatch.report import UNQUOTED
from irbatch.report.latex import SHRUNK
from irbatch.report.text import letter, text_width

NEEDS = r"% needs \usepackage{booktabs} and \usepackage{graphicx}"


# c beats both others on P@1, b loses to a on P@2. Pairs are (b, a), (c, a), (c, b).
THREE = make(
    [[[0.25, 0.5], [0.25, 0.75]], [[0.25, 0.25], [0.5, 0.25]], [[0.5, 0.625], [1.0, 0.625]]],
    ["bm25", "rm3", "splade"],
    p=[[0.5, 0.001], [0.0496, 0.9], [0.00002, 0.05]],
)
BASELINE = constant(0.5, 0.25, 0.75, 0.875, baseline="s0", p=[[0.01], [0.01], [0.05]])
LACKING = replace(THREE, unanswered={"rm3": ["q1"]}, missing={"bm25": ["q7", "q8"]})


# What stands out, and which marks there are.


def cells(comparison: Comparison) -> list[list[str]]:
    """Read the table of means back from Markdown, without its head and labels."""
    lines = comparison.to_markdown(pairs=False).split("\n\n")[0].splitlines()[2:]
    labels = 1 if comparison.baseline is not None else 2
    return [[cell.strip() for cell in line.split("|")[1 + labels : -1]] for line in lines]


def test_letters_of_the_systems_that_are_beaten() -> None:
    assert cells(THREE) == [
        ["0.2500", "**0.6250**<sup>b</sup>"],
        ["0.3750", "0.2500"],
        ["**0.7500**<sup>ab</sup>", "**0.6250**"],
    ]


def test_marks_against_a_baseline() -> None:
    assert cells(BASELINE) == [
        ["0.5000"], ["0.2500<sup>↓</sup>"], ["0.7500<sup>↑</sup>"], ["**0.8750**"]
    ]  # fmt: skip


def test_no_difference_is_no_win() -> None:
    assert cells(constant(0.5, 0.5, p=0.001)) == [["**0.5000**"], ["**0.5000**"]]
    assert cells(constant(0.5, 0.5, p=0.001, baseline="s0")) == [["**0.5000**"], ["**0.5000**"]]


def test_the_best_is_best_to_the_last_bit() -> None:
    above = math.nextafter(0.5, 1)
    assert cells(constant(0.5, above, 0.25)) == [["0.5000"], ["**0.5000**"], ["0.2500"]]
    assert cells(constant(above, above, 0.25)) == [["**0.5000**"], ["**0.5000**"], ["0.2500"]]
    assert cells(constant(math.nan, 0.25)) == [["–"], ["**0.2500**"]]
    assert cells(constant(math.nan, math.nan)) == [["–"], ["–"]]
    assert cells(constant(0.5)) == [["0.5000"]], "one alone is not the best"


def test_many_systems_have_letters_with_commas() -> None:
    many = constant(*np.linspace(0, 1, 30), p=0.001)
    assert cells(many)[-1] == [f"**1.0000**<sup>{','.join(map(letter, range(29)))}</sup>"]
    assert cells(many)[5] == ["0.1724<sup>abcde</sup>"]


def test_pairs_and_their_p_values() -> None:
    compared = constant(0.25, 0.5, p=0.04)
    line = compared.to_markdown().split("\n\n")[1].splitlines()[-1]
    assert line == ("| P@1 | s1 | s0 | +0.2500 +100.0% | 0.020 | **0.040** | [0.0000, +0.5000] "
                    "| 4/0/0 | – |")  # fmt: skip
    alone = replace(compared, correction="none").to_markdown()
    assert "corrected p" not in alone
    assert "**0.020**" in alone, "the one p-value there is tells"
    assert "against" not in compared.to_markdown(pairs=False)


# Text.


def test_text() -> None:
    expected = """
   system      P@1         P@2
-  ------  ----------  ---------
a  bm25     0.2500     *0.6250 b
b  rm3      0.3750      0.2500
c  splade  *0.7500 ab  *0.6250

measure  system  against  difference            p  corrected p            interval  w/t/l  effect
-------  ------  -------  ---------------  ------  -----------  ------------------  -----  ------
P@1      rm3     bm25     +0.1250 +50.0%    0.250        0.500  [-0.1250, +0.3750]  1/1/0   +0.71
"""
    text = THREE.to_text()
    assert max(map(len, [line for line in text.splitlines() if line.startswith("P@")])) <= 100
    assert expected in text
    assert text.startswith("3 systems, 2 queries; paired randomisation test, Holm correction")
    assert text.endswith("\n\nirbatch: 1.2.3 | relevant: >= 1\n")
    assert "*: the best mean of a measure; letters after a mean: the systems it is" in text


# LaTeX.


def test_latex() -> None:
    text = THREE.to_latex(label="tab:x")
    lines = [line.strip() for line in text.splitlines()]
    assert lines[:4] == [NEEDS, "% irbatch: 1.2.3 | relevant: >= 1 | With 2 queries and 3 pairs no "
                         "corrected p-value is below 1. Nothing can be significant.",
                         r"\begin{table}", r"\centering"]  # fmt: skip
    assert lines[4].startswith(r"\caption{3 systems, 2 queries; paired randomisation test, Holm")
    assert lines[5:] == [
        r"\label{tab:x}",
        *(line.strip() for line in SHRUNK),
        r"\begin{tabular}{@{}llr@{}lr@{}l@{}}",
        r"\toprule",
        r"& System & P@1 & & P@2 & \\",
        r"\midrule",
        r"a & bm25 & 0.2500 &  & \textbf{0.6250} & \textsuperscript{b} \\",
        r"b & rm3 & 0.3750 &  & 0.2500 &  \\",
        r"c & splade & \textbf{0.7500} & \textsuperscript{ab} & \textbf{0.6250} &  \\",
        r"\bottomrule",
        r"\end{tabular}}}",
        r"\end{table}",
    ]


def test_rows_are_sorted_where_asked() -> None:
    rows = [line.split()[1] for line in THREE.to_text(sort="P_2").splitlines()[6:9]]
    assert rows == ["bm25", "splade", "rm3"]
    letters = [line.split()[0] for line in THREE.to_text(sort="P_2").splitlines()[6:9]]
    assert letters == ["a", "b", "c"]
    turned = replace(THREE, signs=np.array([1, -1])).to_text(sort="P@2").splitlines()[6:9]
    assert [line.split()[1] for line in turned] == ["rm3", "bm25", "splade"]
    with pytest.raises(InputError, match="was not evaluated"):
        THREE.to_text(sort="AP")


def test_many_pairs_are_listed_where_asked() -> None:
    values = np.random.default_rng(1).random((16, 40, 2)) + np.arange(16)[:, None, None] / 40
    names = [f"a-retriever-{i}" for i in range(16)]
    dicts = {
        name: {f"q{i}": {"AP": row[0], "RR": row[1]} for i, row in enumerate(of.tolist())}
        for name, of in zip(names, values, strict=True)
    }
    many, against = irbatch.compare(dicts), irbatch.compare(dicts, baseline=names[0])
    assert len(many.to_text().splitlines()) < 30
    assert many.to_text(pairs=True).count("\nAP ") >= 120
    for found, width in itertools.product((many, against), (80, 100)):
        assert max(map(text_width, found.to_text(ansi=True, width=width).splitlines())) <= width
    assert against.to_text(width=120).count("\nAP ") == 15, "against the baseline all are"


# For programs.


def test_csv_has_every_number() -> None:
    rows = list(csv.DictReader(io.StringIO(THREE.to_csv())))
    assert [row["system"] for row in rows] == ["rm3", "splade", "splade"] * 2
    assert [row["measure"] for row in rows] == ["P@1"] * 3 + ["P@2"] * 3
    for k in range(2):
        for pair in range(3):
            row = rows[3 * k + pair]
            assert float(row["difference"]) == THREE.differences[pair, k]
            assert float(row["corrected_p"]) == THREE.corrected[pair, k]
            assert [float(row["low"]), float(row["high"])] == THREE.difference_intervals[
                pair, k
            ].tolist()
            assert float(row["effect"]) == pytest.approx(THREE.effects[pair, k], nan_ok=True)
            assert [int(row[name]) for name in ("wins", "ties", "losses")] == [
                each[pair, k] for each in (THREE.wins, THREE.ties, THREE.losses)
            ]
            assert (row["significant"] == "True") == THREE.significant[pair, k]
    frame = pytest.importorskip("pandas") and THREE.to_pandas()
    assert frame["difference"].tolist() == THREE.differences.T.ravel().tolist()
    assert [str(frame[name].dtype) for name in ("wins", "significant")] == ["int64", "bool"]
    assert rows[0]["group"] == ""
    assert rows[0]["queries"] == "2"
    means = list(csv.DictReader(io.StringIO(THREE.to_csv(means=True))))
    assert [float(row["mean"]) for row in means] == THREE.means.T.ravel().tolist()
    assert [float(row["low"]) for row in means] == THREE.intervals[..., 0].T.ravel().tolist()


def test_csv_keeps_names_and_defuses_formulas() -> None:
    for text in (nasty().to_csv(), nasty().to_csv(means=True)):
        names = {row["system"] for row in csv.DictReader(io.StringIO(text, newline=""))}
        for name in NASTY[1:]:
            kept = name.translate(UNQUOTED)
            assert (f"'{kept}" if name[0] in "=+-@" else kept) in names


def test_json_says_everything() -> None:
    read = json.loads(THREE.to_json(), parse_constant=no_constant)
    assert read["systems"] == THREE.systems
    assert read["settings"] == THREE.settings
    assert read["signature"] == THREE.signature
    assert read["caption"] == THREE.caption()
    assert [read[name] for name in ("test", "correction", "level", "draws", "seed")] == [
        "randomisation", "holm", 0.05, 10_000, 0]  # fmt: skip
    assert read["per_query"]["splade"]["P@1"] == [0.5, 1.0]
    assert read["query_ids"] == ["q0", "q1"]
    assert [row["mean"] for row in read["means"]] == THREE.means.T.ravel().tolist()
    assert [row["difference"] for row in read["pairs"]] == THREE.differences.T.ravel().tolist()
    assert "per_query" not in json.loads(THREE.to_json(per_query=False))
    assert list(read) == list(json.loads(nasty().to_json()))
    assert THREE.to_json() == THREE.to_json()


def test_json_is_finite_and_whole_whatever_there_is(tmp_path: Path) -> None:
    values = [[[math.nan], [2.0]], [[-math.inf], [0.0]], [[0.0], [0.0]]]
    odd = make(values, ["\ud800", "\x1b", "</script>"], p=math.nan, level=np.float64(0.05),
               seed=np.int64(7), query_ids=[1, ("a", 2)])  # fmt: skip
    path = tmp_path / "x.json"
    with np.errstate(all="ignore"):
        odd.to_json(path)
    read = json.loads(path.read_text(encoding="utf-8"), parse_constant=no_constant)
    assert read["systems"] == ["\ud800", "\x1b", "</script>"]
    assert read["per_query"]["\ud800"]["P@1"] == [None, 2.0]
    assert read["seed"] == 7
    assert read["pairs"][0]["p"] is None


def test_power_is_told_when_asked_for() -> None:
    pytest.importorskip("scipy")
    plain, power = (THREE.to_csv().splitlines(), THREE.to_csv(power=True).splitlines())
    assert power[0] == plain[0] + ",detectable,queries_needed"
    assert float(power[1].split(",")[-2]) == THREE.detectable[0, 0]
    assert "detectable" in json.loads(THREE.to_json(power=True))["pairs"][0]
    text = THREE.to_text(power=True, width=200)
    head, _, first = text.split("\n\n")[3].splitlines()[:3]
    assert head.endswith("detectable  queries needed")
    assert text.count("with a power of 80%") == 2
    needed = str(int(THREE.queries_needed[0, 0]))
    assert first.split()[-2:] == [f"{THREE.detectable[0, 0]:.4f}", needed]
    assert "equivalence" not in plain[0]
    margin = replace(THREE, margin=0.5)
    found = "effect,not_worse_p,equivalence_p"
    assert margin.to_csv().splitlines()[0].endswith(found)
    assert "equivalent" in margin.to_text()


# What all formats share.

HOW = ("paired randomisation test", "Holm correction", "level 0.05", "2 queries",
       "irbatch: 1.2.3", "best mean")  # fmt: skip
OF_QUERIES = "not all systems have them: 2 queries. Queries without a ranking, counting 0: 1 of rm3"


@pytest.mark.parametrize(
    ("comparison", "form", "options", "parts"),
    [
        *((THREE, form, {}, HOW) for form in PEOPLES),
        *((THREE, form, {"digits": 8}, ("0.62500000",)) for form in PEOPLES),
        *((THREE, form, {"intervals": True}, ("0.6250, 0.8750",)) for form in PEOPLES),
        (BASELINE, "text", {}, ("worse than s0", "s0 (baseline)")),
        (BASELINE, "html", {}, ('0.7500<sup class="up">↑</sup>',)),
        (BASELINE, "latex", {}, (r"0.7500 & $^{\uparrow}$ \\", r"0.2500 & $^{\downarrow}$ \\")),
        (THREE, "latex", {"pairs": True},
         (r"Measure & System & Against & difference & & p & \shortstack[r]{corrected\\p} &",
          r"P@1 & splade & rm3 & +0.3750 & \ {\scriptsize +100.0\%} &", r"Cohen's d\_z")),
        (constant(0.0, 0.0), "latex", {"intervals": True},
         (r"& \ {\scriptsize {[}$-$0.1250, 0.1250{]}}",)),
        (LACKING, "latex", {}, (OF_QUERIES,)),
        (LACKING, "latex", {"caption": "Ours"}, (OF_QUERIES, r"\caption{Ours. 2 queries; paired ")),
    ],
)  # fmt: skip
def test_what_is_said(
    comparison: Comparison, form: str, options: dict[str, Any], parts: tuple[str, ...]
) -> None:
    text = FORMATS[form](comparison, **options)
    for part in parts:
        assert part in text


@pytest.mark.parametrize("form", FORMATS)
def test_groups_are_blocks(form: str) -> None:
    other = replace(THREE, means=THREE.means / 2, query_ids=["q7"])
    text = FORMATS[form](replace(THREE, groups={"head\x1b": THREE, "tail": other}))
    assert "tail" in text
    if form in PEOPLES:
        for heading in ("all queries (2 queries)", "(2 queries)", "tail (1 query)"):
            assert heading in text
        assert text.index("head") < text.index("tail")
        assert text.count("0.3750") > FORMATS[form](THREE).count("0.3750")
        assert "\x1b" not in text


@pytest.mark.parametrize("form", FORMATS)
def test_odd_numbers_are_shown(form: str) -> None:
    for values in (math.nan, math.inf, 1e308, 5e-324, -0.0):
        with np.errstate(all="ignore"):
            compared = constant(values, 0.25, p=math.nan, scaled=np.zeros((2, 4, 1)))
            assert compared.relative.shape == compared.effects.shape == (1, 1)
        assert FORMATS[form](compared)
