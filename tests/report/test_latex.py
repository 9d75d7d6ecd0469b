"""Tables for a paper: they fit on its pages, however many columns, rows and letters there are."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import compile_latex
from support.documents import DOCUMENTS

from irbatch import InputError
from irbatch.report import latex
from irbatch.report.document import BEST, BETTER, Cell, Column, Document, Row, Table


def wide(columns: int, rows: int, heading: str = "mean latency (ms)", name: str = "s") -> Document:
    heads = [Column("system", "name"), *(Column(f"{heading}{k}") for k in range(columns))]
    cells = [Cell("1,234.5", stands_out=True) for _ in range(columns)]
    lines = [Row([Cell(f"{name}{i}"), *cells]) for i in range(rows)]
    table = Table("", heads, lines)
    return Document("", "How it came about.", [(BEST, "the best")], [table], "relevant: >= 1 | β\n")


def test_what_shaped_the_numbers_is_a_comment() -> None:
    lines = latex.write_document(wide(1, 1), "tab:x").splitlines()
    assert lines[4] == r"  \caption{How it came about. Bold: the best.}"
    assert lines[1] == r"% relevant: >= 1 | β\n"
    lines = latex.write_document(wide(1, 1), "tab:x", caption="50% & more.").splitlines()
    assert lines[1:3] == ["% How it came about.", r"% relevant: >= 1 | β\n"]
    assert lines[5] == r"  \caption{50\% \& more. Bold: the best.}"
    text = latex.write_document(wide(1, 1), "tab:x", caption="Ours")
    assert r"\caption{Ours. Bold: the best.}" in text
    hidden = replace(wide(1, 1), settings="\x1b\0a\n\\input{x}\r^^M\\input{y}\u2028z")
    text = latex.write_document(hidden, "tab:x")
    assert "\x1b" not in text
    plain = latex.write_document(wide(1, 1), "tab:x")
    assert len(re.split("[\n\r\u2028]", text)) == len(plain.splitlines()) + 1


def test_columns_are_called_as_one_likes() -> None:
    headings = {"system": "the model", "P@1": "$k$"}
    columns = [Column("system", "name"), Column("P@1")]
    table = Table("", columns, [Row([Cell("a"), Cell("0.5", marks=[BETTER])])])
    text = latex.write_document(Document("", "", [], [table]), "tab:x", headings=headings)
    assert r"The model & \$k\$ & \\" in text
    assert table.columns[1].heading == "P@1"


@pytest.mark.skipif(shutil.which("lualatex") is None, reason="no lualatex here")
@pytest.mark.parametrize("size", ["", "[11pt]", "[12pt]"])
def test_latex_itself_finds_no_table_too_wide_or_too_high(size: str, tmp_path: Path) -> None:
    documents = [*DOCUMENTS.values(), wide(9, 4), wide(30, 60), wide(3, 4, name="W" * 90)]
    tables = [latex.write_document(replace(each, legend=[]), f"tab:{i}", caption="x")
              for i, each in enumerate(documents)]  # fmt: skip
    compile_latex(tmp_path, tables, size)
    assert "Overfull" not in (tmp_path / "x.log").read_text(errors="replace")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"environment": "figure"}, "environment='figure' must be one of 'table', 'table*'"),
        ({"headings": {"system": "a", "nDCG@1": "b"}}, "there is no column 'nDCG@1'"),
    ],
)
def test_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        latex.write_document(wide(1, 1), "tab:x", **options)
