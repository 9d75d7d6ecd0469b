"""Records and leaderboards as JSON and YAML, and tables as Parquet and Arrow streams."""

from __future__ import annotations

import io
from collections.abc import Callable
from random import Random
from typing import Any

from support.efficiency_records import TIREX

import irbatch
from fuzz.mutation import damage
from fuzz.target import Target
from irbatch.efficiency import EfficiencyRecord, Latency, Load, LoadAtRate
from irbatch.errors import InputError

RECORD = EfficiencyRecord(system="bm25", latency=Latency(mean=9.0, p95=20.0), n_queries=50)
LOAD = Load(
    about=RECORD,
    rates=[LoadAtRate(rate=5.0, achieved=5.0, latency=Latency(p99=9.0, loop="open", rate=5.0))],
    within=20.0,
)
BOARD = irbatch.Leaderboard({"bm25": {"nDCG@10": 0.5, "AP": 0.25}}, [RECORD])
TOKENS = (
    *("{", "}", "[", "]", '"', ":", ",", "null", "true", "1e400", "-1", "0", "NaN", "Infinity"),
    *('""', "\\u0000", "\\ud800", "\\", "[" * 200, '{"a":' * 50, "9" * 5000, "\n", " ", "\0"),
    *('"system"', '"systems"', '"accuracy"', '"latency"', '"unit"', '"ms"', "\u2028", "é", "'"),
    *('"nDCG@10"', '"settings"', '"left_out"', '"directions"', '"higher"', "&a", "*a", "1.5"),
    *("null J", "ms", "10 ms", "1e999 ms", "ir_metadata.start", "ir_metadata.end", "# ", "---"),
    *("!!python/x", "? ", "%YAML 9", "-", "|", "\t"),
)


def _record(text: str) -> str:
    return EfficiencyRecord.from_json(text).to_json()


def _board(text: str) -> str:
    return irbatch.Leaderboard.from_json(text).to_json()


def _load(text: str) -> str:
    return Load.from_json(text).to_json()


def _metadata(text: str) -> str:
    return EfficiencyRecord.from_ir_metadata(text + "\n\n", system="x").to_json()


READERS: dict[str, tuple[Callable[[str], str], str]] = {
    "record": (_record, RECORD.to_json()),
    "board": (_board, BOARD.to_json()),
    "load": (_load, LOAD.to_json()),
    "metadata": (_metadata, TIREX),
}


class Records(Target):
    """What is read of JSON is written as what is read as the same."""

    name, share = "records", 30

    def generate(self, rng: Random) -> tuple[str, str]:
        kind = rng.choice(("record", "record", "load", "board", "board", "board", "metadata"))
        if kind == "metadata" and rng.random() < 0.9:
            kind = "record"  # YAML takes a hundred times as long
        return kind, damage(rng, READERS[kind][1], TOKENS)

    def check(self, given: tuple[str, str]) -> None:
        kind, text = given
        if not text.lstrip(" \t\r\n").startswith(("{", "[")) and kind != "metadata":
            text = "{" + text  # or it is a path
        try:
            written = READERS[kind][0](text)
        except InputError as error:
            assert str(error)
            return
        again = _record(written) if kind == "metadata" else READERS[kind][0](written)
        assert again == written, (again, written)


def _arrow(rng: Random) -> bytes:
    import pyarrow as pa

    kind = rng.choice((pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()),
                       pa.string_view(), pa.int64()))  # fmt: skip
    ids: list[Any] = ["d1", "d2", "a text of more than twelve bytes", "", "é"]
    ids = list(range(5)) if kind == pa.int64() else ids
    rows = rng.randrange(1, 6)
    columns = {"query_id": pa.array(ids[:1] * rows, kind), "doc_id": pa.array(ids[:rows], kind),
               "score": pa.array([float(i) for i in range(rows)])}  # fmt: skip
    table = pa.table(columns)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rng.choice((1, 2, 100)))
    return sink.getvalue()


class ArrowStreams(Target):
    """A damaged Arrow stream that its library takes is refused, or is a run."""

    name, share = "arrow", 3

    def generate(self, rng: Random) -> bytes:
        try:
            data = bytearray(_arrow(rng))
        except ImportError:
            return b""
        for _ in range(rng.choice((0, 1, 1, 2))):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 7, 127, 128, 237, 255))
        return bytes(data)

    def check(self, given: bytes) -> None:
        try:
            import pyarrow as pa

            table = pa.ipc.open_stream(given).read_all()
            table.validate(full=True)
        except Exception:  # it is for its own library to refuse
            return
        try:
            run = irbatch.Run.from_table(table)
            found = run.to_dict()
        except InputError as error:
            assert str(error)
            return
        names = [name for name in ("query_id", "doc_id", "score") if name in table.column_names]
        if len(names) == 3:
            rows: Any = zip(*(table[name].to_pylist() for name in names), strict=True)
            expected: dict[Any, dict[Any, float]] = {}
            for query, document, score in rows:
                expected.setdefault(query, {})[document] = score
            assert found == expected, (found, expected)
