"""Records at the head of run files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import pytest
from support.efficiency_records import AS_YAML, FULL, RUN, refusal

import irbatch
from irbatch import InputError
from irbatch.efficiency import EfficiencyRecord, annotate_run, measure_search, read_header
from irbatch.formats import streams

QRELS = {"q1": {"d2": 1}, "q2": {"d1": 1}}


class TestHeader:
    @pytest.fixture(autouse=True)
    def _yaml(self) -> None:
        pytest.importorskip("yaml")

    @pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
    def test_annotated_run_is_the_same_run(self, suffix: str, tmp_path: Path) -> None:
        opened: Any = {
            "": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open,
            ".zst": suffix == ".zst" and pytest.importorskip("backports.zstd").open,
        }[suffix]  # fmt: skip
        path = tmp_path / f"bm25.run{suffix}"
        with opened(path, "wb") as file:
            file.write(RUN.encode())
        before = irbatch.evaluate(QRELS, str(path), "RR")["RR"]
        annotate_run(path, FULL, more={"actor": {"team": "IR"}})
        assert [each.name for each in tmp_path.iterdir()] == [path.name]
        with opened(path, "rb") as file:
            content = file.read().decode()
        header, _, body = content.partition("# ir_metadata.end\n")
        assert header.startswith("# ir_metadata.start\n# schema version: 0.2\n")
        assert all(line.startswith("# ") for line in header.splitlines())
        assert body == RUN
        assert irbatch.evaluate(QRELS, str(path), "RR")["RR"] == before
        assert len(irbatch.read_run(str(path))) == 2
        assert read_header(path) == FULL.to_ir_metadata(more={"actor": {"team": "IR"}})
        assert EfficiencyRecord.from_ir_metadata(path) == FULL

    def test_by_a_measurement(self, tmp_path: Path) -> None:
        path = tmp_path / "own.run"
        measured = measure_search(lambda query: ["d1"], ["x"], system="own", draws=0)
        measured.run.to_trec(path)
        annotate_run(path, measured)
        assert EfficiencyRecord.from_ir_metadata(path) == measured.record

    def test_what_is_no_record_or_path(self, tmp_path: Path) -> None:
        for path, record in ((tmp_path / "own.run", 5), (None, FULL)):
            with pytest.raises(InputError, match="a run's path and a record are wanted"):
                annotate_run(path, record)  # type: ignore[arg-type]

    def test_large_run(self, tmp_path: Path) -> None:
        path = tmp_path / "large.run"
        lines = [f"q{q} Q0 d{d} {d} {1000 - d} t\n" for q in range(1100) for d in range(1000)]
        path.write_text("".join(lines))
        assert path.stat().st_size > 20 << 20
        with path.open("a") as file:
            file.writelines(f"r{q} Q0 document-{d} {d} {1000 - d} t\n"
                            for q in range(300) for d in range(1000))  # fmt: skip
        assert path.stat().st_size > 24 << 20
        qrels = {"q7": {"d3": 1}, "r299": {"document-1": 1}}
        before = irbatch.evaluate(qrels, str(path), "RR")["RR"]
        size = path.stat().st_size
        annotate_run(path, FULL)
        assert irbatch.evaluate(qrels, str(path), "RR")["RR"] == before == 0.375
        assert len(irbatch.read_run(str(path))) == 1400
        header = read_header(path)
        assert header == AS_YAML
        marks = len("# ir_metadata.start\n# ir_metadata.end\n")
        assert path.stat().st_size == size + marks + len(header) + 2 * header.count("\n")

    def test_a_header_is_replaced_when_asked_to(self, tmp_path: Path) -> None:
        path = tmp_path / "bm25.run"
        path.write_text(RUN)
        annotate_run(path, FULL)
        before = path.read_bytes()
        told = refusal(lambda: annotate_run(path, FULL))
        assert told == f"run {str(path)!r}: it has a header; replace=True replaces it"
        assert path.read_bytes() == before
        other = EfficiencyRecord(system="other")
        annotate_run(path, other, replace=True)
        assert EfficiencyRecord.from_ir_metadata(path) == other
        assert path.read_text().endswith(f"# ir_metadata.end\n{RUN}")
        annotate_run(path, FULL, replace=True)
        assert path.read_bytes() == before

    @pytest.mark.parametrize("piece", [1, 7, 64])
    def test_pieces_of_any_size(
        self, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "bm25.run"
        path.write_text(RUN)
        annotate_run(path, FULL)
        monkeypatch.setattr(streams, "PIECE", piece)
        assert read_header(path) == AS_YAML
        annotate_run(path, FULL, replace=True)
        assert path.read_text().partition("# ir_metadata.end\n")[2] == RUN

    def test_line_ends_and_comments_stay(self, tmp_path: Path) -> None:
        path = tmp_path / "bm25.run"
        body = b"# mine\r\n" + RUN.replace("\n", "\r\n").encode().removesuffix(b"\r\n")
        path.write_bytes(body)
        annotate_run(path, FULL)
        assert path.read_bytes().partition(b"# ir_metadata.end\n")[2] == body
        assert len(irbatch.read_run(str(path))) == 2

    def test_an_empty_file(self, tmp_path: Path) -> None:
        path = tmp_path / "empty.run"
        path.write_bytes(b"")
        assert read_header(path) is None
        annotate_run(path, FULL)
        assert EfficiencyRecord.from_ir_metadata(path) == FULL

    @pytest.mark.parametrize(
        ("text", "header"),
        [
            (RUN, None),
            ("# tag: x\n" + RUN, None),
            (RUN + "# ir_metadata.start\n# tag: x\n# ir_metadata.end\n", None),
            ("# ir_metadata.start\n# ir_metadata.end\n", ""),
            (
                "#ir_metadata.start\r\n#tag: x\r\n#a:\r\n# b: 1\r\n#ir_metadata.end",
                "tag: x\na:\n b: 1\n",
            ),
            ("# ir_metadata.start\n#  a:\n#    b: 1\n#\n# ir_metadata.end\n", " a:\n   b: 1\n\n"),
            ("\ufeff# ir_metadata.start\n# tag: x \n# ir_metadata.end\n", "tag: x \n"),
            ("# ir_metadata.starting\n# tag: x\n", None),
        ],
    )
    def test_headers_of_others(self, text: str, header: str | None, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(text.encode())
        assert read_header(tmp_path / "a") == header

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("# ir_metadata.start\n# tag: x\n" + RUN, 3),
            ("# ir_metadata.start\n# tag: x\n", 2),
            ("# ir_metadata.start", 1),
            ("# ir_metadata.start\n\n# ir_metadata.end\n", 2),
        ],
    )
    def test_a_header_without_an_end(self, text: str, line: int, tmp_path: Path) -> None:
        path = tmp_path / "a.run"
        path.write_text(text)
        for act in (
            lambda: read_header(path),
            lambda: annotate_run(path, FULL, replace=True),
            lambda: EfficiencyRecord.from_ir_metadata(path),
        ):
            told = refusal(act)
            assert f"{str(path)!r} line {line}: the header does not end" in told
        assert path.read_text() == text

    def test_what_can_have_none(self, tmp_path: Path) -> None:
        assert "No such file" in refusal(lambda: annotate_run(tmp_path / "missing", FULL))
        assert "is no file" in refusal(lambda: annotate_run(tmp_path, FULL))
        assert "is no file" in refusal(lambda: annotate_run("-", FULL))
        (tmp_path / "a").write_bytes(b"PAR1\x00" + b"x" * 20)
        assert "Parquet" in refusal(lambda: annotate_run(tmp_path / "a", FULL))
        assert "Parquet" in refusal(lambda: EfficiencyRecord.from_ir_metadata(tmp_path / "a"))
        assert read_header(tmp_path / "a") is None
        (tmp_path / "a").write_bytes(b"# ir_metadata.start\n# \xff\n# ir_metadata.end\n")
        assert "line 2: it is not UTF-8" in refusal(lambda: read_header(tmp_path / "a"))

    def test_what_fails_leaves_the_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.run"
        body = RUN.encode() * 3 + b"x" * (2 << 20)
        path.write_bytes(body)
        monkeypatch.setattr(streams, "PIECE", 64)
        told = refusal(lambda: annotate_run(path, FULL))
        assert f"{str(path)!r} line 10: a line goes on" in told
        assert path.read_bytes() == body
        assert "more= takes" in refusal(lambda: annotate_run(path, FULL, more=5))  # type: ignore[arg-type]
        assert [each.name for each in tmp_path.iterdir()] == ["a.run"]

    def test_repro_eval_reads_it(self, tmp_path: Path) -> None:
        handler = pytest.importorskip("repro_eval.metadata", exc_type=ImportError).MetadataHandler
        path = tmp_path / "a.run"
        path.write_text(RUN)
        annotate_run(path, FULL, more={"actor": {"team": "IR"}})
        found = handler.read_metadata(str(path))
        assert found["actor"] == {"team": "IR"}
        assert EfficiencyRecord.from_ir_metadata(found) == FULL
        assert sorted(handler.strip_metadata(str(path))) == ["q1", "q2"]
