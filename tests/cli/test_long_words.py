"""Words of a hundred thousand letters are refused in linear time: else it would take minutes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.input_errors import input_error

from irbatch import EfficiencyRecord, Leaderboard, measure
from irbatch.comparing.gate import parse_condition
from irbatch.evaluation.runs import name_systems
from irbatch.formats.lines import RUN, read_number

N = 100_000


def condition(text: str) -> object:
    return parse_condition(text, required=False)


def constraint(text: str) -> object:
    return Leaderboard({"a": {"P@1": 0.5}}, EfficiencyRecord(system="a")).where(text)


def number(text: str) -> object:
    return read_number(text.encode(), RUN)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *((number, text) for text in ("1" * N + "x", "." + "1" * N + "x", "1e" + "1" * N + "x")),
        (number, "1" * N + "," + "1" * N + "x"),
        *((condition, f"P@5 {text}") for text in (
            "drops " + "1" * N + "x", "drops 1" + " " * N + "x", "drops" + " " * N + "x",
            "drops 1% p<" + "1" * N + "x", "drops p" + " " * N + "x",
        )),
        *((constraint, text) for text in (
            "a" + " " * N + "x", "a<" + " " * N + "x", "<" * N, "a<1" * N, "a<" + "1" * N + "x",
        )),
        *((measure, text) for text in (
            "a(" + " " * N + "x", "P@{" + " " * N + "x", "a((" + "(" * N + ")@" * N + "\nx",
            "nDCG(p=" + "1" * N + "x)", "P@" + "1" * N + "x", "1" * N + "x", "P_" + "1" * N + "x",
            "P." + "1," * N + "x", "P" + "-l1" * N, "nDCG(gain={" + "1:" * N + "})", "x_1" * N,
            "(" * N, "{" * N, "P@{" + "1 " * N + "}", "ndcg_cut." + "1" * N + "x",
        )),
    ],
    ids=lambda each: each[:12] if isinstance(each, str) else each.__name__,
)  # fmt: skip
def test_what_is_refused(read: Callable[[str], object], text: str) -> None:
    error = input_error(lambda: read(text))
    assert len(str(error)) < 5_000


def test_what_is_read() -> None:
    assert list(name_systems(["a" + ".gz" * N + "x", "a" + ".gz" * N])) == [
        "a" + ".gz" * N + "x",
        "a",
    ]
    names = [".gz", ".a.gz", "a.run.gz", "a.b", ".gz.gz", "run", "a..gz"]
    assert list(name_systems(names)) == [".gz", ".a", "a", "a.b", ".gz.gz", "run", "a."]
