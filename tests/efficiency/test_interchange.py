"""Records as ir_metadata and at the head of run files: what is written, read, and rejected."""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
from pathlib import Path
from typing import Any

import pytest
from support.efficiency_records import AS_YAML, FULL, RUN
from support.input_errors import input_error

import irbatch
from irbatch.efficiency import (
    EfficiencyRecord,
    Hardware,
    Latency,
    annotate_run,
)
from irbatch.formats import streams

yaml = pytest.importorskip("yaml")

QRELS = {"q1": {"d2": 1}, "q2": {"d1": 1}}

NASTY = [
    *("null", "~", "no", "1e3", "0o17", "1_000", "2026-11-21", ".inf", "=", "<<", "---", "..."),
    *(": # '\" \n", " led", "trailed ", "#", "# ir_metadata.end", "a: b", "[x", "{", "!tag", "&a"),
    *("*a", "?", "|", ">", "%", "@", "`", "\ttab", "a\r\nb", "a\x85b", "a\u2028b", "\ufeffx"),
    *("rtl\u202egnp", "\x00\x1b\x7f", "\ud800", "\uffff", "\U0010ffff", "\\ud800", "x" * 300),
    *("5 USD", " 5", "ir_metadata.start", "ir_metadata.end\nx", "a\n\n\nb\n", "'", '"', "-"),
]


def form(**resources: Any) -> dict[str, Any]:
    return {"tag": "bm25", "resources": resources}


read = EfficiencyRecord.from_ir_metadata


def rejected(source: Any) -> str:
    return str(input_error(lambda: read(source)))


# ---------------------------------------------------------------- what is written is read


def test_layout() -> None:
    assert FULL.to_ir_metadata() == AS_YAML
    assert read(AS_YAML) == read(yaml.safe_load(AS_YAML)) == FULL


@pytest.mark.parametrize("text", NASTY)
def test_odd_texts_in_every_place(text: str, tmp_path: Path) -> None:
    hardware = Hardware(instance=text, cpu=text, gpu=text)
    record = EfficiencyRecord(system=text, dataset=text, source=text, start_time=text,
                              currency=text, stated_cost=1.0, hardware=hardware)  # fmt: skip
    written = record.to_ir_metadata(tmp_path / "a.yml")
    assert (tmp_path / "a.yml").read_bytes() == written.encode()
    assert read(tmp_path / "a.yml") == record
    assert yaml.safe_load(written)["tag"] == text, "every reader takes texts for texts"
    assert all(line.strip() for line in written.split("\n")[:-1])
    (tmp_path / "a.run").write_text(RUN, encoding="utf-8")
    annotate_run(tmp_path / "a.run", record)
    assert read(tmp_path / "a.run") == record


def test_system_is_said_or_found() -> None:
    both = {"tag": "run7", "method": {"name": "bm25"}}
    assert read(both).system == "bm25"
    assert read({"tag": "run7", "method": None}).system == "run7"
    assert read(both, system="mine").system == "mine"
    told = "ir_metadata: it names no system, neither as method: name nor as tag; say system="
    assert rejected({"resources": {}}) == told


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        ({"latency": {"p95": "5 s"}}, "p95 is '5 s', which is not a number of ms"),
        ({"latency": {"p95": "fast ms"}}, "p95 is 'fast ms', which is not a number of ms"),
        ({"latency": {"p95": "-1 ms"}}, "latency: p95=-1.0 must be a number of at least 0"),
        ({"latency": {"p95": "1e99999 ms"}}, "latency: p95=inf must be a finite number"),
        ({"latency": {"intervals": {"mean": ["1 ms", None]}}}, "intervals is None"),
        ({"latency": "5 ms"}, "resources: latency is '5 ms', not a mapping"),
        ({"latency": {"level": "high"}}, "latency: level is 'high', which is not a number"),
        ({"queries": {"number": "2.5"}}, "queries: number is '2.5', which is not a number"),
        ({"ram": {"used process": {"max": 29248}}}, "29248, which is not a number of MB"),
        ({"runtime": {"start time": []}}, "start time is [], which is not a text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(resources: dict[str, Any], told: str) -> None:
    before = copy.deepcopy(resources)
    said = rejected(form(**resources))
    assert said.startswith("record of 'bm25': ")
    assert told in said
    assert resources == before


@pytest.mark.parametrize(
    "record",
    [
        EfficiencyRecord(system="x", currency="null", stated_cost=0.0),
        EfficiencyRecord(system="x", wall_time=5e-324, energy=1.7976931348623157e308),
        EfficiencyRecord(system="x", throughput=1 / 3, latency=Latency(mean=1e-7, p50=0.1)),
    ],
)
def test_every_digit_is_read_back(record: EfficiencyRecord) -> None:
    assert repr(read(record.to_ir_metadata())) == repr(record)


# ---------------------------------------------------------------- files that cannot be read

NEITHER = "it is neither YAML nor a run with a header"
UNREADABLE: list[tuple[str | bytes, str]] = [
    ("tag: !!python/object/apply:os.getcwd []\n", "tag is [], which is not a text"),
    ("tag: x\nresources: 5\n", "resources is '5', not a mapping"),
    ("tag: x\nresources:\n  runtime:\n    wallclock: 1_0 s\n", "runtime: wallclock is"),
    ("- a: 1\n", NEITHER), ("- a\n- b\n", NEITHER), ("text\n", NEITHER), ("", NEITHER),
    (RUN, NEITHER), ("# ran twice\n" + RUN, NEITHER), (RUN * 20_000, NEITHER),
    (RUN + "# ir_metadata.start\n# tag: x\n# ir_metadata.end\n", NEITHER),
    ("# ir_metadata.start\n# ir_metadata.end\n", NEITHER),
    ("# ir_metadata.starting\n# tag: x\n", NEITHER), (b"PAR1\x00" + b"x" * 20, NEITHER),
    ("tag: " + "[" * 100_000 + "\n", "not YAML: it is nested too deeply"),
    ("actor: &a {team: bm25}\ntag: x\ndata: *a\n", "line 3: not YAML: it has an alias"),
    ("tag: x\na: \x01\n", "not YAML"), ("tag: x\n---\nb: 2\n", "not YAML"),
    ("tag: x\nmethod: [\n", "line 3: not YAML: "),
    ("# ir_metadata.start\n# tag: x\n# a: b: c\n# ir_metadata.end\n", "line 3: not YAML: "),
    (b"tag: \xff\n", "not UTF-8"),
    (b"# ir_metadata.start\n# \xff\n# ir_metadata.end\n", "line 2: it is not UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_files_that_cannot_be_read(content: str | bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert said in rejected(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    for wrong in (5, None, b"tag: x\n", ["tag"]):
        assert "from a path, YAML or a mapping" in rejected(wrong)
    assert "No such file" in rejected(tmp_path / "missing.yml")
    for path, said in (
        (tmp_path / "missing", "No such file"), (tmp_path, "is not a file"), ("-", "is not a file"),
    ):  # fmt: skip
        input_error(lambda path=path: annotate_run(path, FULL), said)
    (tmp_path / "a").write_bytes(b"PAR1\x00" + b"x" * 20)
    input_error(lambda: annotate_run(tmp_path / "a", FULL), "Parquet")


# ---------------------------------------------------------------- headers of runs


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_annotated_run_is_the_same_run(suffix: str, tmp_path: Path) -> None:
    opened: Any = {
        "": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open,
        ".zst": suffix == ".zst" and pytest.importorskip("backports.zstd").open,
    }[suffix]  # fmt: skip
    path = tmp_path / f"bm25.run{suffix}"
    with opened(path, "wb") as file:
        file.write(RUN.encode())
    before = irbatch.evaluate(QRELS, str(path), "RR")["RR"]
    annotate_run(path, FULL)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    with opened(path, "rb") as file:
        content = file.read().decode()
    header, _, body = content.partition("# ir_metadata.end\n")
    assert header.startswith("# ir_metadata.start\n# schema version: 0.2\n")
    assert all(line.startswith("# ") for line in header.splitlines())
    assert body == RUN
    assert irbatch.evaluate(QRELS, str(path), "RR")["RR"] == before
    assert len(irbatch.read_run(str(path))) == 2
    assert EfficiencyRecord.from_ir_metadata(path) == FULL


def test_a_header_is_replaced_when_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(RUN)
    annotate_run(path, FULL)
    before = path.read_bytes()
    told = f"run {str(path)!r}: it has a header; replace=True replaces it"
    input_error(lambda: annotate_run(path, FULL), told)
    assert path.read_bytes() == before
    other = EfficiencyRecord(system="other")
    annotate_run(path, other, replace=True)
    assert EfficiencyRecord.from_ir_metadata(path) == other
    assert path.read_text().endswith(f"# ir_metadata.end\n{RUN}")
    annotate_run(path, FULL, replace=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        "#ir_metadata.start\r\n#tag: x\r\n#resources:\r\n# energy: 1 J\r\n#ir_metadata.end",
        "# ir_metadata.start\n#  tag: x\n#  resources:\n#    energy: 1 J\n#\n# ir_metadata.end\n",
        "\ufeff# ir_metadata.start\n# tag: x \n# resources: {energy: 1 J}\n# ir_metadata.end\n",
    ],
)
def test_headers_of_others(text: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(text.encode())
    assert read(tmp_path / "a") == EfficiencyRecord(system="x", energy=1.0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# ir_metadata.start\n# tag: x\n" + RUN, 3),
        ("# ir_metadata.start\n" + RUN * 90_000 + "# ir_metadata.end\n", 2),
        ("# ir_metadata.start\n# tag: x\n", 2),
        ("# ir_metadata.start", 1),
        ("# ir_metadata.start\n\n# ir_metadata.end\n", 2),
    ],
)
def test_a_header_without_an_end(text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text(text)
    for act in (
        lambda: annotate_run(path, FULL, replace=True),
        lambda: EfficiencyRecord.from_ir_metadata(path),
    ):
        input_error(act, f"{str(path)!r} line {line}: the header does not end")
    assert path.read_text() == text


def test_what_fails_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    body = RUN.encode() * 3 + b"x" * (2 << 20)
    path.write_bytes(body)
    monkeypatch.setattr(streams, "PIECE", 64)
    input_error(lambda: annotate_run(path, FULL), f"{str(path)!r} line 10: a line goes on")
    assert path.read_bytes() == body
    assert [each.name for each in tmp_path.iterdir()] == ["a.run"]
