"""Conditions on a comparison: what they say, when they hold, and what is none."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from support.input_errors import ANYTHING, input_error
from support.paths import REPOSITORY

import irbatch
from irbatch.comparing.gate import Condition, find_failures, parse_condition
from irbatch.errors import InputError

DEPTH = 10
QUERIES = 10
P = 2 / 2**QUERIES  # all signs alike
ALL = f"P@{DEPTH}"


def compared(baseline: str | None = "old", measures: str = ALL, **given: Any) -> irbatch.Comparison:
    """Compare systems with so many relevant documents among their first ten, by query."""
    options = {name: given.pop(name) for name in ("test", "correction", "draws") if name in given}
    relevant: dict[str, int | list[int]] = given
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in relevant}
    for i in range(QUERIES):
        qrels[f"q{i}"] = {**{f"r{j}": 1 for j in range(DEPTH)}, "n0": 0}
        for name, counts in relevant.items():
            count = counts if isinstance(counts, int) else counts[i]
            ids = [f"r{j}" if j < count else f"n{j - count}" for j in range(DEPTH)]
            runs[name][f"q{i}"] = {each: float(-rank) for rank, each in enumerate(ids)}
    return irbatch.compare(qrels, runs, measures, baseline=baseline, **options)


FALLEN = compared(old=8, new=6)  # by 0.2, a quarter
RISEN = compared(old=4, new=5)  # by 0.1, a quarter
MIXED = compared(old=5, new=[4, 6, 4, 6, 4, 6, 4, 6, 4, 3])  # by 0.3 / 10
TIED = compared(old=5, new=5)


# ---------------------------------------------------------------- what a condition says


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nDCG@10 drops 1% p<0.05", ("nDCG@10", "drops", 0.01, True, 0.05)),
        ("nDCG@10 drops 1%", ("nDCG@10", "drops", 0.01, True, None)),
        ("nDCG@10 drops p<0.05", ("nDCG@10", "drops", 0.0, False, 0.05)),
        ("nDCG@10 drops", ("nDCG@10", "drops", 0.0, False, None)),
        ("AP rises 0.02", ("AP", "rises", 0.02, False, None)),
        ("AP changes .5 % p < .001", ("AP", "changes", 0.005, True, 0.001)),
        ("AP changes 12.5%", ("AP", "changes", 0.125, True, None)),
        ("  AP \t drops   1%   p  <  0.05\n", ("AP", "drops", 0.01, True, 0.05)),
        ("NumRelRet drops 3", ("NumRelRet", "drops", 3.0, False, None)),
        ("P(rel=2)@5 drops", ("P(rel=2)@5", "drops", 0.0, False, None)),
    ],
)
def test_forms(text: str, expected: tuple[Any, ...]) -> None:
    found = parse_condition(text)
    assert found == Condition(*expected)
    assert type(found) is Condition


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ndcg_cut_10", "nDCG@10"),
        ("map", "AP"),
        ("recip_rank", "RR"),
        ("recall_100", "R@100"),
        ("P_5", "P@5"),
        ("ndcg@10", "nDCG@10"),
        ("MRR@10", "RR@10"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("num_rel_ret", "NumRelRet"),
    ],
)
def test_other_tools_names(name: str, expected: str) -> None:
    assert parse_condition(f"{name} drops 1%").measure == expected


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "AP", "drops", "drops 1%", "AP falls 1%", "AP drop 1%", "AP DROPS 1%",
        "AP drops -1%", "AP drops +1%", "AP drops 1,5%", "AP drops 1e-3", "AP drops one",
        "AP drops %", "AP drops 1%%", "AP drops nan", "AP drops inf%", "AP drops 1.2.3",
        "AP drops 1% p", "AP drops 1% p<", "AP drops 1% p<=0.05", "AP drops 1% p>0.05",
        "AP drops 1% p=0.05", "AP drops 1% P<0.05", "AP drops 1% p<5%", "AP drops 1% p<-1",
        "AP drops 1%p<0.05", "AP drops p<0.05 1%", "AP drops 1% q<0.05", "AP drops 1% p<0.05!",
        "AP drops 1% p<0.05, RR drops", "AP RR drops", "drops AP 1%", "AP drops ١%", "AP drops ½",
        None, 1, b"AP drops", ["AP drops"], ("AP", "drops"),
    ],
)  # fmt: skip
def test_what_is_none(text: Any) -> None:
    shown = repr(text)
    fact = "is not of the form 'nDCG@10 drops 1% p<0.05'"
    input_error(lambda: parse_condition(text), fact, shown, value=text)
    input_error(lambda: TIED.failures(text), shown, value=text)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nDGC@10", "did you mean nDCG@10?"),
        ("nope", "unknown measure 'nope'"),
        ("P@0", "must be a whole number of at least 1"),
        ("P@{5,10}", "stands for 2 measures"),
        ("iprec_at_recall", "stands for 11 measures"),
        ("AP(rel=x)", "rel='x' must be a number"),
    ],
)
def test_what_is_no_measure(name: str, said: str) -> None:
    input_error(lambda: parse_condition(f"{name} drops 1%"), said)
    input_error(lambda: find_failures(TIED, f"{name} drops 1%"), said)


# ---------------------------------------------------------------- when it holds


@pytest.mark.parametrize(
    ("comparison", "condition", "holds"),
    [
        (FALLEN, "drops", True),
        (FALLEN, "drops 24.9%", True),
        (FALLEN, "drops 25.1%", False),
        (FALLEN, "drops 0.19", True),
        (FALLEN, "drops 0.21", False),
        (FALLEN, "changes 24.9%", True),
        (FALLEN, "changes 0.21", False),
        (FALLEN, "rises", False),
        (FALLEN, "rises 0%", False),
        (RISEN, "rises 24.9%", True),
        (RISEN, "rises 25.1%", False),
        (RISEN, "rises 0.09", True),
        (RISEN, "rises 0.11", False),
        (RISEN, "changes", True),
        (RISEN, "drops", False),
        (RISEN, "drops 0", False),
        (MIXED, "drops", True),
        (MIXED, "drops p<0.05", False),
        (MIXED, "changes 1% p<0.05", False),
        (TIED, "drops", False),
        (TIED, "rises 0", False),
        (TIED, "changes 0%", False),
        (TIED, "changes p<1", False),
    ],
)
def test_when_it_holds(comparison: irbatch.Comparison, condition: str, holds: bool) -> None:
    found = comparison.failures(f"{ALL} {condition}")
    assert [each.partition(":")[0] for each in found] == ["new"] * holds
    assert found == find_failures(comparison, f"{ALL} {condition}")


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("drops p<0.05", True),
        (f"drops p<{P + 1e-9:.12f}", True),
        ("drops 30% p<0.05", False),
        ("rises p<1", False),
    ],
)
def test_p_values(condition: str, holds: bool) -> None:
    assert bool(FALLEN.failures(f"{ALL} {condition}")) is holds


def test_p_values_are_corrected() -> None:
    two = compared(old=8, new=6, newer=5)
    assert len(two.failures(f"{ALL} drops p<{2.1 * P:.9f}")) == 2
    assert FALLEN.failures(f"{ALL} drops p<{1.9 * P:.9f}")
    with pytest.raises(InputError, match="can never hold"):
        two.failures(f"{ALL} drops p<{1.9 * P:.9f}")


@pytest.mark.parametrize(
    ("options", "least", "what"),
    [
        ({}, P, "10 queries and 1 pair"),
        ({"test": "wilcoxon", "correction": "none"}, P, "With 10 queries no"),
        ({"test": "bootstrap", "draws": 99}, 0.01, "99 draws and 1 pair"),
        ({"test": "tukey", "draws": 99}, 0.01, "99 draws no"),
    ],
)
def test_a_p_value_that_cannot_come_out_is_refused(
    options: dict[str, Any], least: float, what: str
) -> None:
    found = compared(old=8, new=6, **options)
    assert found.least_p == pytest.approx(least)
    found.failures(f"{ALL} drops p<{least * 1.01:.9f}")
    with pytest.raises(InputError, match="can never hold") as caught:
        found.failures(f"{ALL} drops p<{least:.9f}")
    assert what in str(caught.value)
    assert ("more draws= can" in str(caught.value)) == ("draws" in options)


@pytest.mark.parametrize("test", ["t", "anova"])
def test_tests_by_distribution_have_no_least_p_value(test: str) -> None:
    assert not compared(old=8, new=[7, 8] * 5, test=test).failures(f"{ALL} rises p<0.000000001")


def test_what_is_said() -> None:
    assert FALLEN.failures(f"{ALL} drops 1% p<0.05") == [
        f"new: P@10 -0.2000 (-25.0%) against old, p {P:.3g}"
    ]
    assert RISEN.failures(f"{ALL} changes") == [
        f"new: P@10 +0.1000 (+25.0%) against old, p {P:.3g}"
    ]


def test_each_system_is_judged_in_its_order() -> None:
    several = compared(c=3, old=5, a=4, b=6, d=5)
    assert [each[0] for each in several.failures("P@10 drops")] == ["c", "a"]
    assert [each[0] for each in several.failures("P@10 drops 30%")] == ["c"]
    assert [each[0] for each in several.failures("P@10 changes")] == ["c", "a", "b"]
    assert [each[0] for each in several.failures("P@10 rises")] == ["b"]


def test_the_measure_in_any_spelling() -> None:
    both = compared(measures="P@10 AP", old=8, new=6)
    for name in ("P_10", "p@10", "P@10"):
        assert both.failures(f"{name} drops") == FALLEN.failures("P@10 drops")
    assert "AP -0.2000 (-25.0%)" in both.failures("map drops")[0]


def test_counts_and_geometric_means() -> None:
    more = compared(measures="NumRelRet GMAP", old=8, new=6)
    assert "NumRelRet -2.0000 (-25.0%)" in more.failures("num_rel_ret drops 1.9")[0]
    assert "GMAP -0.2000 (-25.0%)" in more.failures("gm_map drops 24%")[0]
    assert not more.failures("NumRelRet drops 2.1")


def test_an_amount_is_no_share() -> None:
    assert not FALLEN.failures("P@10 drops 1"), "of 1, not of 1%"
    assert FALLEN.failures("P@10 drops 1%")


def test_a_baseline_of_zero() -> None:
    from_nothing = compared(old=0, new=5)
    assert from_nothing.failures("P@10 rises 0.4")
    assert not from_nothing.failures("P@10 drops")
    assert not compared(old=0, new=0).failures("P@10 changes 0%")


# ---------------------------------------------------------------- what is refused


def test_without_a_baseline() -> None:
    none = compared(baseline=None, old=8, new=6)
    input_error(lambda: none.failures("P@10 drops 1%"), "needs a baseline", source="baseline")


def test_a_measure_that_was_not_compared() -> None:
    for name, canonical in (("AP", "AP"), ("P@5", "P@5"), ("ndcg_cut_10", "nDCG@10")):
        input_error(lambda name=name: FALLEN.failures(f"{name} drops"),  # type: ignore[misc]
                f"{canonical} was not evaluated", "there are: P@10", value=ANYTHING)  # fmt: skip


# ---------------------------------------------------------------- the example


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = REPOSITORY / "examples" / "regression_gate.py"
    spec = importlib.util.spec_from_file_location("regression_gate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_passes_as_a_test(example: ModuleType) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", example.__file__]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_example_fails_as_a_test(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example, "CANDIDATE", example.DATA / "pca10.run")
    with pytest.raises(AssertionError):
        example.test_candidate_is_not_worse()


def test_the_example_as_a_script(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert example.main() == 0
    assert capsys.readouterr().out.endswith("\naccepted\n")
    assert example.main(example.DATA / "pca10.run") == 1
    printed = capsys.readouterr().out
    assert "failed: candidate: nDCG@10 -0.0846 (-9.7%) against accepted, p " in printed
    assert printed.endswith("\nheld back\n")


# ---------------------------------------------------------------- known problems


@pytest.mark.parametrize(
    ("old", "new", "condition"),
    [(10, 9, "drops 10%"), (5, 4, "drops 20%"), (5, 4, "drops 0.1"), (10, 8, "changes 20%")],
)
def test_exactly_the_amount(old: int, new: int, condition: str) -> None:
    assert compared(old=old, new=new).failures(f"{ALL} {condition}")


def test_any_rise_from_zero_is_more_than_a_share() -> None:
    from_nothing = compared(old=0, new=5)
    assert from_nothing.failures("P@10 rises 1%")
    assert from_nothing.failures("P@10 changes 1%")
    assert "nan" not in from_nothing.failures("P@10 rises")[0]


@pytest.mark.parametrize("p", ["0", "0.0", "5", "1.01"])
def test_p_that_no_one_means(p: str) -> None:
    input_error(lambda: parse_condition(f"AP drops 1% p<{p}"))


def test_difference_takes_any_spelling() -> None:
    assert FALLEN.difference("new", "old", "P_10") == FALLEN.difference("new", "old", ALL)
