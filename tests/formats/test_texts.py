"""Texts of queries and documents: of a large file only those wanted, and every bad line refused."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from irbatch import InputError
from irbatch.formats.texts import LONGEST_TEXT, read_texts


def test_lines_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_bytes(
        b"\xef\xbb\xbfq1\twhat is  a\tdog\r\n\nq2\tna\xc3\xafve \x1b[31m\nq3\t\n a b\tx\n"
    )
    assert read_texts(path, {"q1", "q2", "q3", " a b", "q9"}, "topics") == {
        "q1": "what is a dog", "q2": "naïve \x1b[31m", "q3": "", " a b": "x"
    }  # fmt: skip


def test_objects_as_beir_has_them(tmp_path: Path) -> None:
    rows = [
        {"_id": "d1", "title": "Dogs", "text": "bark", "metadata": {"text": 7}},
        {"_id": "d2", "title": "", "text": "cats\n mew"},
        {"docid": 3, "contents": "birds"},
        {"_id": "d4", "text": "", "title": "not asked for"},
    ]
    path = tmp_path / "corpus.jsonl.gz"
    path.write_bytes(gzip.compress("".join(f" {json.dumps(row)}\n" for row in rows).encode()))
    assert read_texts(path, {"d1", "d2", "3"}, "documents") == {
        "d1": "Dogs: bark", "d2": "cats mew", "3": "birds"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("q1 no tab\n", r"topics '.*' line 1: a line is of an id, a tab and a text, not 'q1 no"),
        ("q1\tx\n\ttext\n", "line 2: a line is of an id"),
        ("q1\tx\nq1\ty\n", "line 2: the text of 'q1' was given before"),
        (b"q1\t\xff\n", "line 1: is not UTF-8 text"),
        (b"\xff\tx\n", "line 1: is not UTF-8 text"),
        ('{"_id": "q1"\n', "line 1: is not JSON"),
        ('{"_id": "q9", "text": "x"}\n[1]\n', r"line 2: \[1\] is not a JSON object"),
        ('{"_id": "q9", "text": "x"}\nq1\ttext\n', "line 2: is not JSON"),
        ('{"text": "x"}\n', r"line 1: an object has '_id' and 'text', not \['text'\]"),
        ('{"_id": 1.5, "text": "x"}\n', "line 1: an object has '_id'"),
        ('{"_id": true, "text": "x"}\n', "line 1: an object has '_id'"),
        ('{"_id": "q1", "text": 7}\n', "line 1: 'text' is 7, not text"),
        ('{"_id": "q1", "title": [], "text": "x", "text": {}}\n', "'text' is {}, not text"),
        ("[" * 100_000, "line 1: a line is of an id"),
        ('{"a":' + "[" * 100_000 + "\n", "line 1: is not JSON"),
        (b"q9\t\xff\n", "line 1: is not UTF-8 text"),
        ("x\n" * 30, "at least 20 problems"),
    ],
)
def test_refused_lines(tmp_path: Path, lines: str | bytes, what: str) -> None:
    path = tmp_path / "texts"
    path.write_bytes(lines if isinstance(lines, bytes) else lines.encode())
    with pytest.raises(InputError, match=what):
        read_texts(path, {"q1"}, "topics")


def test_memory_is_that_of_what_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "corpus.tsv"
    path.write_text("".join(f"d{i}\t{'word ' * 2000}\n" for i in range(2000)))  # 20 MB
    tracemalloc.start()
    found = read_texts(path, {"d7", "d8"}, "documents")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert {len(text) for text in found.values()} == {LONGEST_TEXT}
    assert peak < 15 << 20
