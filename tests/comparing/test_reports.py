"""What the reports of a comparison say in text, Markdown, LaTeX, CSV, JSON and frames."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.comparisons import (
    FORMATS,
    NASTY,
    PEOPLES,
    constant,
    make,
    nasty,
    no_constant,
)

import irbatch
from irbatch import InputError
from irbatch.comparing import Comparison
from irbatch.report.latex import SHRUNK
from irbatch.report.reported import UNQUOTED
from irbatch.report.text import letter, text_width

NEEDS = r"% needs \usepackage{booktabs} and \usepackage{graphicx}"


@pytest.fixture
def three() -> Comparison:
    """Three systems and two measures: c beats both others on P@1, b loses to a on P@2."""
    values = [
        [[0.25, 0.5], [0.25, 0.75]],
        [[0.25, 0.25], [0.5, 0.25]],
        [[0.5, 0.625], [1.0, 0.625]],
    ]
    # Pairs are (b, a), (c, a), (c, b).
    p = [[0.5, 0.001], [0.0496, 0.9], [0.00002, 0.05]]
    return make(values, ["bm25", "rm3", "splade"], p=p)


# What stands out, and which marks there are.


def cells(comparison: Comparison) -> list[list[str]]:
    """Read the table of means back from Markdown, without its head and labels."""
    lines = Comparison.to_markdown(comparison, pairs=False).split("\n\n")[0].splitlines()[2:]
    labels = 1 if comparison.baseline is not None else 2
    return [[cell.strip() for cell in line.split("|")[1 + labels : -1]] for line in lines]


def test_letters_of_the_systems_that_are_beaten(three: Comparison) -> None:
    assert cells(three) == [
        ["0.2500", "**0.6250**<sup>b</sup>"],
        ["0.3750", "0.2500"],
        ["**0.7500**<sup>ab</sup>", "**0.6250**"],
    ]


def test_marks_against_a_baseline() -> None:
    compared = constant(0.5, 0.25, 0.75, 0.875, baseline="s0", p=[[0.01], [0.01], [0.05]])
    assert cells(compared) == [["0.5000"], ["0.2500<sup>↓</sup>"], ["0.7500<sup>↑</sup>"],
                               ["**0.8750**"]]  # fmt: skip
    assert r"0.7500 & $^{\uparrow}$ \\" in Comparison.to_latex(compared)
    assert r"0.2500 & $^{\downarrow}$ \\" in Comparison.to_latex(compared)
    assert '0.7500<sup class="up">↑</sup>' in Comparison.to_html(compared)
    assert "worse than s0" in Comparison.to_text(compared)
    assert "s0 (baseline)" in Comparison.to_text(compared)


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
    line = Comparison.to_markdown(compared).split("\n\n")[1].splitlines()[-1]
    assert line == ("| P@1 | s1 | s0 | +0.2500 +100.0% | 0.020 | **0.040** | [0.0000, +0.5000] "
                    "| 4/0/0 | – |")  # fmt: skip
    alone = Comparison.to_markdown(replace(compared, correction="none"))
    assert "corrected p" not in alone
    assert "**0.020**" in alone, "the one p-value there is tells"
    assert "against" not in Comparison.to_markdown(compared, pairs=False)


# Text.


def test_text(three: Comparison) -> None:
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
    text = Comparison.to_text(three)
    assert max(map(len, [line for line in text.splitlines() if line.startswith("P@")])) <= 100
    assert expected in text
    assert text.startswith("3 systems, 2 queries; paired randomisation test, Holm correction")
    assert text.endswith("\n\nirbatch: 1.2.3 | relevant: >= 1\n")
    assert "*: the best mean of a measure; letters after a mean: the systems it is" in text


def test_bold_text_for_a_terminal_takes_the_same_room(three: Comparison) -> None:
    starred = [line for line in Comparison.to_text(three).splitlines() if "0." in line]
    bold = [line for line in Comparison.to_text(three, ansi=True).splitlines() if "0." in line]
    assert any("\x1b[1m0.7500\x1b[0m ab" in line for line in bold)
    assert not any("*" in line for line in bold)
    for one, other in zip(starred, bold, strict=True):
        assert len(re.sub("\x1b\\[[01]m", "", other)) <= len(one)


# Markdown.


# LaTeX.


def test_latex(three: Comparison) -> None:
    text = Comparison.to_latex(three, label="tab:x")
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
    assert r"& \ {\scriptsize {[}$-$0.1250, 0.1250{]}}" in Comparison.to_latex(
        constant(0.0, 0.0), intervals=True
    )


def test_latex_marks_by_daggers_where_asked() -> None:
    compared = constant(0.5, 0.25, 0.75, baseline="s0", p=[[0.01], [0.01]])
    text = Comparison.to_latex(compared, daggers=True)
    assert r"0.2500 & \textsuperscript{\textdaggerdbl{}} \\" in text
    assert r"\textbf{0.7500} & \textsuperscript{\textdagger{}} \\" in text
    assert r"\textdagger{} \textdaggerdbl{}: significantly better, worse than s0." in text
    assert "arrow" not in text


def test_latex_has_the_differences_where_asked(three: Comparison) -> None:
    text = three.to_latex(pairs=True)
    head = (
        r"Measure & System & Against & difference & & p & \shortstack[r]{corrected\\p} & interval"
    )
    assert head in text
    assert r"P@1 & splade & rm3 & +0.3750 & \ {\scriptsize +100.0\%} &" in text
    assert r"a & bm25" not in text, "no means"
    assert r"Cohen's d\_z" in text


def test_a_paper_says_which_queries_count_0(three: Comparison) -> None:
    lacking = replace(three, unanswered={"rm3": ["q1"]}, missing={"bm25": ["q7", "q8"]})
    said = (
        "as not all systems have them: 2 queries. Queries without a ranking, counting 0: 1 of rm3"
    )
    for caption in (None, "Ours"):
        (line,) = [
            each for each in lacking.to_latex(caption=caption).splitlines() if "caption" in each
        ]
        assert said in line


def test_rows_are_sorted_where_asked(three: Comparison) -> None:
    rows = [line.split()[1] for line in three.to_text(sort="P_2").splitlines()[6:9]]
    assert rows == ["bm25", "splade", "rm3"]
    letters = [line.split()[0] for line in three.to_text(sort="P_2").splitlines()[6:9]]
    assert letters == ["a", "b", "c"]
    turned = replace(three, signs=(1, -1)).to_text(sort="P@2").splitlines()[6:9]
    assert [line.split()[1] for line in turned] == ["rm3", "bm25", "splade"]
    with pytest.raises(InputError, match="was not evaluated"):
        three.to_text(sort="AP")


def test_many_pairs_are_counted_and_listed_where_asked() -> None:
    values = np.random.default_rng(1).random((16, 40, 2)) + np.arange(16)[:, None, None] / 40
    names = [f"a-retriever-{i}" for i in range(16)]
    dicts = {
        name: {f"q{i}": {"AP": row[0], "RR": row[1]} for i, row in enumerate(of.tolist())}
        for name, of in zip(names, values, strict=True)
    }
    many, against = irbatch.compare(dicts), irbatch.compare(dicts, baseline=names[0])
    counts = many.significant.sum(axis=0)
    said = f"Significant differences: {counts[0]} of 120 on AP, {counts[1]} of 120 on RR."
    assert said in many.to_text()
    assert len(many.to_text().splitlines()) < 30
    assert many.to_text(pairs=True).count("\nAP ") >= 120
    for found, width in itertools.product((many, against), (80, 100)):
        assert max(map(text_width, found.to_text(ansi=True, width=width).splitlines())) <= width
    assert against.to_text(width=120).count("\nAP ") == 15, "against the baseline all are"


# For programs.


def test_csv_has_every_number(three: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(Comparison.to_csv(three))))
    assert [row["system"] for row in rows] == ["rm3", "splade", "splade"] * 2
    assert [row["measure"] for row in rows] == ["P@1"] * 3 + ["P@2"] * 3
    for k in range(2):
        for pair in range(3):
            row = rows[3 * k + pair]
            assert float(row["difference"]) == three.differences[pair, k]
            assert float(row["corrected_p"]) == three.corrected[pair, k]
            assert [float(row["low"]), float(row["high"])] == three.difference_intervals[
                pair, k
            ].tolist()
            assert float(row["effect"]) == pytest.approx(three.effects[pair, k], nan_ok=True)
            assert [int(row[name]) for name in ("wins", "ties", "losses")] == [
                each[pair, k] for each in (three.wins, three.ties, three.losses)
            ]
            assert (row["significant"] == "True") == three.significant[pair, k]
    assert rows[0]["group"] == ""
    assert rows[0]["queries"] == "2"
    means = list(csv.DictReader(io.StringIO(Comparison.to_csv(three, means=True))))
    assert [float(row["mean"]) for row in means] == three.means.T.ravel().tolist()
    assert [float(row["low"]) for row in means] == three.intervals[..., 0].T.ravel().tolist()


def test_csv_keeps_names_and_defuses_formulas() -> None:
    for text in (Comparison.to_csv(nasty()), Comparison.to_csv(nasty(), means=True)):
        names = {row["system"] for row in csv.DictReader(io.StringIO(text, newline=""))}
        for name in NASTY[1:]:
            kept = name.translate(UNQUOTED)
            assert (f"'{kept}" if name[0] in "=+-@" else kept) in names


def test_json_says_everything(three: Comparison) -> None:
    read = json.loads(Comparison.to_json(three), parse_constant=no_constant)
    assert read["systems"] == three.systems
    assert read["settings"] == three.settings
    assert read["signature"] == three.signature
    assert read["caption"] == three.caption()
    assert [read[name] for name in ("test", "correction", "level", "draws", "seed")] == [
        "randomisation", "holm", 0.05, 10_000, 0]  # fmt: skip
    assert read["per_query"]["splade"]["P@1"] == [0.5, 1.0]
    assert read["query_ids"] == ["q0", "q1"]
    assert [row["mean"] for row in read["means"]] == three.means.T.ravel().tolist()
    assert [row["difference"] for row in read["pairs"]] == three.differences.T.ravel().tolist()
    assert "per_query" not in json.loads(Comparison.to_json(three, per_query=False))
    assert list(read) == list(json.loads(Comparison.to_json(nasty())))
    assert Comparison.to_json(three) == Comparison.to_json(three)


def test_json_is_finite_and_whole_whatever_there_is(tmp_path: Path) -> None:
    values = [[[math.nan], [2.0]], [[-math.inf], [0.0]], [[0.0], [0.0]]]
    odd = make(values, ["\ud800", "\x1b", "</script>"], p=math.nan, level=np.float64(0.05),
               seed=np.int64(7), query_ids=[1, ("a", 2)])  # fmt: skip
    path = tmp_path / "x.json"
    with np.errstate(all="ignore"):
        Comparison.to_json(odd, path)
    read = json.loads(path.read_text(encoding="utf-8"), parse_constant=no_constant)
    assert read["systems"] == ["\ud800", "\x1b", "</script>"]
    assert read["per_query"]["\ud800"]["P@1"] == [None, 2.0]
    assert read["seed"] == 7
    assert read["pairs"][0]["p"] is None


def test_power_is_told_when_asked_for(three: Comparison) -> None:
    pytest.importorskip("scipy")
    plain, power = (
        Comparison.to_csv(three).splitlines(),
        Comparison.to_csv(three, power=True).splitlines(),
    )
    assert power[0] == plain[0] + ",detectable,queries_needed"
    assert float(power[1].split(",")[-2]) == three.detectable[0, 0]
    assert "detectable" in json.loads(Comparison.to_json(three, power=True))["pairs"][0]
    text = Comparison.to_text(three, power=True, width=200)
    head, _, first = text.split("\n\n")[3].splitlines()[:3]
    assert head.endswith("detectable  queries needed")
    assert text.count("with a power of 80%") == 2
    for write in (three.to_text, three.to_csv, three.to_json):
        with pytest.raises(InputError, match=r"power=0.9 must be one of True, False"):
            write(power=0.9)
    needed = str(int(three.queries_needed[0, 0]))
    assert first.split()[-2:] == [f"{three.detectable[0, 0]:.4f}", needed]
    assert ",equivalent" not in plain[0]
    margin = replace(three, margin=0.5)
    found = "effect,not_worse_p,not_worse,equivalence_p,equivalent"
    assert Comparison.to_csv(margin).splitlines()[0].endswith(found)
    assert "equivalent" in Comparison.to_text(margin)


def test_frames(three: Comparison) -> None:
    pytest.importorskip("pandas")
    frame = Comparison.to_pandas(three)
    assert list(frame.columns) == Comparison.to_csv(three).splitlines()[0].split(",")
    assert frame["difference"].tolist() == three.differences.T.ravel().tolist()
    assert str(frame["wins"].dtype) == "int64"
    assert str(frame["significant"].dtype) == "bool"
    means = Comparison.to_pandas(three, means=True)
    assert means["mean"].tolist() == three.means.T.ravel().tolist()


# What all formats share.


@pytest.mark.parametrize("form", PEOPLES)
def test_captions_say_how_systems_were_compared(form: str, three: Comparison) -> None:
    text = FORMATS[form](three)
    for part in ("paired randomisation test", "Holm correction", "level 0.05", "2 queries",
                 "irbatch: 1.2.3", "best mean"):  # fmt: skip
        assert part in text


@pytest.mark.parametrize("form", FORMATS)
def test_groups_are_blocks(form: str, three: Comparison) -> None:
    other = replace(three, means=three.means / 2, query_ids=["q7"])
    text = FORMATS[form](replace(three, groups={"head\x1b": three, "tail": other}))
    assert "tail" in text
    if form in PEOPLES:
        for heading in ("all queries (2 queries)", "(2 queries)", "tail (1 query)"):
            assert heading in text
        assert text.index("head") < text.index("tail")
        assert text.count("0.3750") > FORMATS[form](three).count("0.3750")
        assert "\x1b" not in text


@pytest.mark.parametrize("form", PEOPLES)
def test_decimals(form: str, three: Comparison) -> None:
    assert "0.62500000" in FORMATS[form](three, digits=8)
    assert "0.6250" not in re.sub('data-v="[^"]*"', "", FORMATS[form](three, digits=2))
    for digits in (-1, 18, 2.0, "4", True, None):
        with pytest.raises(InputError, match="decimals"):
            FORMATS[form](three, digits=digits)


@pytest.mark.parametrize("form", PEOPLES)
def test_intervals_of_means(form: str, three: Comparison) -> None:
    within = FORMATS[form](three, intervals=True).replace("{[}", "[").replace("{]}", "]")
    assert "[0.6250, 0.8750]" in within


@pytest.mark.parametrize("form", FORMATS)
def test_odd_numbers_are_shown(form: str) -> None:
    for values in (math.nan, math.inf, 1e308, 5e-324, -0.0):
        with np.errstate(all="ignore"):
            compared = constant(values, 0.25, p=math.nan, scaled=np.zeros((2, 4, 1)))
            assert compared.relative.shape == compared.effects.shape == (1, 1)
        assert FORMATS[form](compared)


def test_a_caption_of_ones_own_is_followed_by_how_systems_were_tested(three: Comparison) -> None:
    (caption,) = re.findall(
        r"\\caption\{(.*)\}\\label|\\caption\{(.*)\}", three.to_latex(caption="Ours")
    )
    said = "Ours. 2 queries; paired randomisation test, Holm correction, level 0.05. Bold: the best"
    assert "".join(caption).startswith(said)
