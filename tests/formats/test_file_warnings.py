"""What is doubtful in a run file: one warning, on the caller's line."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from support.input_errors import input_error

from irbatch import InputWarning, evaluate, evaluate_runs, read_qrels, read_run

QRELS = {"q0": {"d0": 1}, "q1": {"d1": 1}}
Write = Callable[[bytes], str]
PIECE = 200  # bytes, for `reader`
pytestmark = pytest.mark.usefixtures("reader")


ENTRY_POINTS: dict[str, Callable[[str], object]] = {
    "read_run": lambda path: read_run(path),
    "evaluate": lambda path: evaluate(QRELS, path, "RR"),
    "evaluate_runs": lambda path: evaluate_runs(QRELS, {"a": path}, "RR"),
}


def lines(form: str, queries: int = 3, documents: int = 20) -> list[bytes]:
    """Fill a line in: q and d, numbers from 0, and s, a score that falls."""
    pairs = [(q, d) for q in range(queries) for d in range(documents)]
    return [form.format(q=f"q{q}", d=d, r=d + 1, s=-d / 8).encode() + b"\n" for q, d in pairs]


GOOD = "{q} Q0 d{d} {r} {s} t"
CLEAN = [
    pytest.param(lines(GOOD), id="ranks from 1"),
    pytest.param(lines("{q} Q0 d{d} {d} {s} t"), id="ranks from 0"),
    pytest.param(lines("{q} Q0 d{d} 0 {d} t"), id="one rank"),
    pytest.param(lines("{q} Q0 d{d} x {d} t"), id="no ranks"),
    pytest.param(lines("{q} Q0 d{d} {r} 0.5 t"), id="one score"),
    pytest.param(lines("{q} Q0 d{d} {r} 1 t", documents=1, queries=9), id="a document each"),
    pytest.param(lines(GOOD)[::-1], id="from last to first"),
    pytest.param(lines(GOOD)[::2] + lines(GOOD)[1::2], id="queries return"),
    pytest.param([b"# other tags: u\n", *lines(GOOD), b"#q Q0 d 1 2\n"], id="comments"),
    pytest.param(lines("{q} d{d} {r}"), id="MS MARCO"),
    pytest.param([b"qid\tdocno\tscore\n", *lines("{q}\td{d}\t{s}")], id="header"),
    pytest.param([b"qid\tdocno\tscore\n", *lines("{q}\td{d}\t{r}")], id="scores count, no ranks"),
]


@pytest.mark.parametrize("data", CLEAN)
def test_clean_files_are_read_in_silence(write: Write, data: list[bytes]) -> None:
    path = write(b"".join(data))
    for call in ENTRY_POINTS.values():
        call(path)  # warnings are errors here


SWAPPED = "are rank and score swapped?"
CONTRADICTING = "in query 'q0' ranks and scores contradict each other; scores decide, or ranks with"
DOUBTFUL = [
    pytest.param(lines("{q} Q0 d{d} {s} {r} t")[::-1], SWAPPED, "a point", id="101 points"),
    pytest.param(lines("{q} Q0 d{d} {r} {r} t"), CONTRADICTING, "", id="101 both"),
    pytest.param(
        [*lines("{q} Q0 d{d} {r} {d}.5 t", 1), *lines("x{q} Q0 d{d} {r} {s} t")],
        CONTRADICTING, "order_by='rank'", id="102 a query",
    ),
    pytest.param(lines("{q} Q0 d{d} {r} {d}.5 t"), CONTRADICTING, "rank", id="102 all"),
    pytest.param(
        [b"qid,docno,rank,score\n", *lines("{q},d{d},{r},{d}.5")], CONTRADICTING, "", id="102 CSV"
    ),
]  # fmt: skip


def caught(call: Callable[[], object]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return found


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize(("data", "warning", "detail"), DOUBTFUL)
def test_doubtful_files_warn(
    write: Write,
    data: list[bytes],
    warning: str,
    detail: str,
    entry_point: str,
    pack: Callable[[bytes], bytes],
) -> None:
    path = write(pack(b"".join(data)))
    found = caught(lambda: ENTRY_POINTS[entry_point](path))
    assert [each.category for each in found] == [InputWarning]
    message = str(found[0].message)
    assert message.startswith(f"run {path!r}: ")
    assert warning in message
    assert detail in message
    assert found[0].filename == __file__


def test_no_warning_beside_an_error(write: Write) -> None:
    path = write(b"".join([*lines("{q} Q0 d{d} {r} {d}.5 t"), b"q0 Q0 d 1 x t\n"]))

    def refused() -> None:
        for call in ENTRY_POINTS.values():
            with pytest.raises(ValueError, match="line 61"):
                call(path)

    assert caught(refused) == []


def test_judgments_do_not_warn(write: Write) -> None:
    read_qrels(write(b"".join(lines("{q} 0 d{d} {r}"))))
    read_qrels(write(b"".join(lines("{q} 1.5 d{d} {r}"))))


@pytest.mark.parametrize("last", [b"u", b"\xff", b"\xc3\xa9"])
def test_the_tag_is_the_last_lines(write: Write, last: bytes) -> None:
    rows = [*lines(GOOD), b"x Q0 d 1 1 " + last + b"\n"]
    path = write(b"".join(rows))
    run = read_run(path)
    assert run.tag == last.decode(errors="backslashreplace")


def test_files_with_marks_of_byte_order_may_be_joined(tmp_path: Path) -> None:
    path = tmp_path / "two"
    text = "\ufeffq1 Q0 a 1 2 t\n\ufeffq2 Q0 b 1 1 t\n"
    path.write_text(text, "utf-8")
    assert read_run(path).to_dict() == {"q1": {"a": 2.0}, "q2": {"b": 1.0}}
    path.write_text(text.replace("\n", ""), "utf-8")
    input_error(lambda: read_run(path), "11 columns", line=1)
