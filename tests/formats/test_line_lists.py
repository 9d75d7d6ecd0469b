"""Lines in memory: the byte parser and the reader of lines make the same dictionaries of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.file_readers import use_reader

import irbatch
from irbatch.formats import reader as line_lists
from irbatch.formats.lines import QRELS, RUN
from irbatch.integrations import pytrec_eval as ours

pytrec_eval = pytest.importorskip("pytrec_eval")

Lines = list[Any]


def run_lines(queries: int, depth: int, seed: int = 0) -> Lines:
    rng = np.random.default_rng(seed)
    return [
        f"q{query} Q0 d{query}-{rank} {rank} {rng.random() * 9:.5g} tag\n"
        for query in range(queries)
        for rank in range(1, depth + 1)
    ]


def qrel_lines(queries: int, depth: int) -> Lines:
    return [f"{q}\t0  d{q}{d} {d % 4 - 1}\n" for q in range(queries) for d in range(depth)]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "1")
    irbatch.runtime.warmup()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the byte parser read the lines each time it was asked."""
    answers: list[bool] = []
    parse = line_lists.parse_bytes

    def watched(*arguments: Any) -> Any:
        found = parse(*arguments)
        answers.append(found is not None)
        return found

    monkeypatch.setattr(line_lists, "parse_bytes", watched)
    return answers


def outcome(lines: Lines, whole: bool) -> Any:
    try:
        found = line_lists.read_lines(lines, QRELS if whole else RUN, whole=whole)
    except irbatch.InputError as problem:
        return str(problem)
    return [(query, [*documents.items()]) for query, documents in found.items()], repr(found)


def same_both_ways(lines: Lines, *, whole: bool = False) -> None:
    found = outcome(lines, whole)
    with pytest.MonkeyPatch.context() as patch:
        use_reader("lines", patch)
        assert outcome(lines, whole) == found


def test_whole_collections(parsed: list[bool]) -> None:
    lines, judged = run_lines(43, 60), qrel_lines(43, 60)
    assert ours.parse_run(lines) == pytrec_eval.parse_run(lines)
    assert ours.parse_qrel(judged) == pytrec_eval.parse_qrel(judged)
    assert parsed == [True, True]


CHANGES: dict[str, tuple[Callable[[Lines], Lines], bool]] = {
    "a query comes back": (lambda lines: lines[::2] + lines[1::2], True),
    "no line ends": (lambda lines: [each.rstrip("\n") for each in lines], True),
    "no last line end": (lambda lines: [*lines[:-1], lines[-1].rstrip("\n")], True),
    "some line ends": (lambda lines: [each.rstrip("\n") for each in lines[:5]] + lines[5:], True),
    "ends of Windows": (lambda lines: [each.replace("\n", "\r\n") for each in lines], True),
    "bytes": (lambda lines: [each.encode() for each in lines], True),
    "both types": (lambda lines: [lines[0].encode(), *lines[1:]], True),
    "beyond ASCII": (lambda lines: [each.replace("d", "dé\U0001f600") for each in lines], True),
    "a surrogate": (lambda lines: ["\udc80" + lines[0], *lines[1:]], False),
    "bytes that are no text": (lambda lines: [b"\xff" + each.encode() for each in lines], False),
    "blank lines": (lambda lines: ["\n", *lines, "  \n"], True),
    "an empty line": (lambda lines: [*lines, ""], True),
    "comments": (lambda lines: ["# query\n", *lines], True),
    "two lines in one": (lambda lines: [lines[0] + lines[1], *lines[2:]], True),
    "a document twice": (lambda lines: [*lines, lines[3]], True),
    "a document twice, far apart": (lambda lines: [lines[-1], *lines[:-1], lines[-1]], True),
    "too few columns": (lambda lines: [*lines, "q d\n"], False),
    "a control byte": (lambda lines: ["q\x01" + lines[0], *lines[1:]], False),
    "odd spaces": (lambda lines: [lines[0].replace("d", "d\x85\xa0"), *lines[1:]], True),
    "nothing but comments": (lambda lines: ["# nothing\n"] * 3, True),
    "no text": (lambda lines: [*lines, 7], False),
}


@pytest.mark.parametrize(("change", "is_parsed"), CHANGES.values(), ids=CHANGES)
def test_lines_of_all_kinds(
    parsed: list[bool], change: Callable[[Lines], Lines], is_parsed: bool
) -> None:
    same_both_ways(change(run_lines(5, 40)))
    same_both_ways(change(qrel_lines(5, 40)), whole=True)
    assert (bool(parsed) and all(parsed)) == is_parsed
