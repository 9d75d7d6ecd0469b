"""Efficiency records: every number against NumPy, arithmetic or the twin; JSON and ir_metadata."""

from __future__ import annotations

import bz2
import dataclasses
import gzip
import json
import lzma
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle.leaderboard import percentile_interval
from support.efficiency_records import AS_YAML, RUN
from support.efficiency_records import FULL as OF_EVERYTHING
from support.input_errors import input_error

import irbatch
from irbatch.efficiency import QUANTITIES, EfficiencyRecord, Hardware, Latency, annotate_run
from irbatch.efficiency.record import ALIASES, DERIVED, PERCENTILES, STATISTICS
from irbatch.formats import streams
from irbatch.statistics.resampling import draw_counts

TIMES = st.floats(0, 1e9)
FULL = dataclasses.replace(
    OF_EVERYTHING,
    repeat=5,
    n_queries=100,
    batch_size=4,
    latency=Latency(mean=36, p50=30, p90=50, p95=60, p99=90, intervals={"mean": (34, 39)},
                    level=0.1, calls=125, loop="closed", rate=7),
    currency="EUR",
)  # fmt: skip

# ---------------------------------------------------------------- latency


@settings(deadline=None)
@given(st.lists(TIMES, min_size=1, max_size=40), st.integers(1, 3))
@example([7.0], 1)
@example([3.0, 3.0, 3.0], 2)
def test_latency_is_numpys(times: list[float], repeats: int) -> None:
    table = [times] * repeats
    found = Latency.from_samples(table, draws=0)
    everything = np.array(table).ravel()
    assert found.mean == pytest.approx(everything.mean(), rel=1e-12)
    for name, percent in PERCENTILES.items():
        assert getattr(found, name) == np.percentile(everything, percent), name
    assert found.calls == len(times) * repeats
    assert found.intervals == {}
    assert found == Latency.from_samples(everything[::-1], draws=0), "of calls in any order"


@pytest.mark.parametrize("level", [0.05, 0.2])
@pytest.mark.parametrize(
    "shape", [(1, 2), (1, 5), (1, 6), (10, 6), (3, 35), (2, 36), (1, 367), (2, 368)]
)
def test_intervals_are_the_twins(shape: tuple[int, int], level: float) -> None:
    """Percentiles of few calls have none; repeats are no further calls."""
    times = np.random.default_rng(5).gamma(2, 10, shape)
    found = Latency.from_samples(times, level=level, draws=20, seed=4)
    draws = np.concatenate(list(draw_counts(shape[1], 20, 4))).astype(int)
    means = [np.repeat(times, often, axis=1).mean() for often in draws]  # of calls with repeats
    expected: dict[str, Any] = {"mean": np.percentile(means, [50 * level, 100 - 50 * level])}
    for name, percent in PERCENTILES.items():
        expected[name] = percentile_interval(times.tolist(), percent, level)
    expected = {name: bounds for name, bounds in expected.items() if bounds is not None}
    assert list(found.intervals) == list(expected)
    assert found.level == level
    for name, bounds in expected.items():
        assert found.intervals[name] == pytest.approx(tuple(map(float, bounds)), rel=1e-10), name


# ---------------------------------------------------------------- costs and quantities


def test_a_short_last_call_does_not_make_queries_cheap() -> None:
    # 9 queries in calls of 4, 4 and 1: 3 queries a call, 12 ms each.
    short = dataclasses.replace(FULL, n_queries=9, repeat=1, latency=Latency(
        mean=36, intervals={"mean": (34, 39)}, calls=3))  # fmt: skip
    assert short.cost_per_million == pytest.approx(0.5 * 36 / 3 / 3.6, rel=1e-14)
    bounds = [0.5 * bound / 3 / 3.6 for bound in (34, 39)]  # a million ms are 1 h / 3.6
    assert short.interval("cost") == pytest.approx(tuple(bounds), rel=1e-14)
    twice = dataclasses.replace(short, repeat=2)
    assert twice.cost_per_million == pytest.approx(0.5 * 36 / 6 / 3.6), "of 3 calls, in two passes"
    lacking: list[dict[str, Any]] = [{"n_queries": None}, {"latency": Latency(mean=36)}]
    for each in lacking:
        record = dataclasses.replace(short, **each)
        assert record.cost_per_million == pytest.approx(0.5 * 36 / 4 / 3.6)


@settings(deadline=None)
@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 512))
def test_costs_of_a_million_queries(price: float, mean: float, batch: int) -> None:
    record = EfficiencyRecord(
        system="a", latency=Latency(mean=mean), batch_size=batch, price_per_hour=price
    )
    expected = price * mean / batch / 3.6
    assert record.cost_per_million == pytest.approx(expected, rel=1e-12, abs=1e-290)


def test_values_by_name() -> None:
    for name in QUANTITIES:
        value = FULL.value(name)
        assert isinstance(value, float), name
        if not name.startswith("latency"):
            assert value == getattr(FULL, name), name
    assert [FULL.value(f"latency_{each}") for each in STATISTICS] == [36, 30, 50, 60, 90]
    assert "emissions" not in QUANTITIES, "which are of all queries: not to be compared"
    for alias, name in ALIASES.items():
        assert FULL.value(alias) == FULL.value(name), alias
    bare = EfficiencyRecord(system="a")
    assert {bare.value(name) for name in (*QUANTITIES, *ALIASES)} == {None}
    assert {bare.interval(name) for name in QUANTITIES} == {None}


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    "record",
    [
        FULL,
        EfficiencyRecord(system="a"),
        EfficiencyRecord(system='\x1b[31m \u202e <script> \\ " {currency}', currency="{€}"),
        EfficiencyRecord(system="a", throughput=1 / 3, energy=5e-324,
                         latency=Latency(p50=1e-7, loop="open", rate=2.5, arrivals="fixed",
                                         errors=3)),
        EfficiencyRecord(system="a", n_queries=np.int64(3), throughput=np.float32(0.5),
                         hardware=Hardware(n_cpu=np.int8(2))),
    ],
)  # fmt: skip
def test_json_round_trip(record: EfficiencyRecord, tmp_path: Path) -> None:
    text = record.to_json(tmp_path / "a.json")
    again = EfficiencyRecord.from_json(text)
    assert again == record == EfficiencyRecord.from_json(tmp_path / "a.json")
    assert again.to_json() == text
    assert EfficiencyRecord.from_dict(record.to_dict()) == record
    assert pickle.loads(pickle.dumps(record)) == record
    for made in record, record.hardware:
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.system = 1  # type: ignore[union-attr]


def test_json_says_what_follows() -> None:
    said = json.loads(FULL.to_json())
    assert said["emissions"] == 0.001
    assert said["derived"] == {name: FULL.value(name) for name in DERIVED}
    least = json.loads(EfficiencyRecord(system="a").to_json())
    assert least == {"system": "a", "batch_size": 1, "repeat": 1}


# ---------------------------------------------------------------- hardware, records


def test_this_machine() -> None:
    here = Hardware.here("c6g.xlarge")
    assert here.instance == "c6g.xlarge"
    if hasattr(os, "sched_getaffinity"):
        assert here.n_cpu == len(os.sched_getaffinity(0))
    assert here.cpu is None or here.cpu.strip()
    assert (here.gpu is None) == (here.n_gpu is None)
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert here.ram_gb == pytest.approx(memory / 1e9, abs=0.06)
    assert Hardware.here().instance is None
    assert dataclasses.replace(here, instance=None) == Hardware.here()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, ""),
        ({"instance": "c6g.xlarge", "n_cpu": 4, "ram_gb": 8}, "c6g.xlarge, 4 CPU, 8 GB"),
        ({"cpu": "Xeon", "n_cpu": 2, "ram_gb": 16.84}, "2 cores of Xeon, 16.84 GB"),
        ({"gpu": "H200", "n_gpu": 1, "cpu": "Xeon", "n_cpu": 16}, "1 × H200, 16 cores of Xeon"),
        ({"n_gpu": 0, "n_cpu": 4}, "4 CPU"),
    ],
)
def test_hardware_in_words_and_repr(known: dict[str, Any], said: str) -> None:
    hardware = Hardware(**known)
    assert str(hardware) == said
    record = EfficiencyRecord(system="a", hardware=hardware, batch_size=1, repeat=3, warmup=0,
                              latency=Latency(mean=8), currency="EUR")  # fmt: skip
    shown = f"hardware={hardware!r}, " if said else ""
    assert repr(record) == (
        f"EfficiencyRecord(system='a', {shown}warmup=0, repeat=3, "
        f"latency={record.latency!r}, currency='EUR')"
    )
    for each in record, FULL:
        assert eval(repr(each)) == each


QRELS = {"q1": {"d2": 1}, "q2": {"d1": 1}}

NASTY = [
    *("null", "~", "no", "1e3", "0o17", "1_000", "2026-11-21", ".inf", "=", "<<", "---", "..."),
    *(": # '\" \n", " led", "trailed ", "#", "# ir_metadata.end", "a: b", "[x", "{", "!tag", "&a"),
    *("*a", "?", "|", ">", "%", "@", "`", "\ttab", "a\r\nb", "a\x85b", "a\u2028b", "\ufeffx"),
    *("rtl\u202egnp", "\x00\x1b\x7f", "\ud800", "\uffff", "\U0010ffff", "\\ud800", "x" * 300),
    *("5 USD", " 5", "ir_metadata.start", "ir_metadata.end\nx", "a\n\n\nb\n", "'", '"', "-"),
]


def form(**document: Any) -> str:
    return yaml.safe_dump({"tag": "bm25", **document})


read = EfficiencyRecord.from_ir_metadata


def rejected(source: Any) -> str:
    return str(input_error(lambda: read(source)))


# ---------------------------------------------------------------- what is written is read


def test_layout() -> None:
    assert OF_EVERYTHING.to_ir_metadata() == AS_YAML
    assert read(AS_YAML) == OF_EVERYTHING


@pytest.mark.parametrize("text", NASTY)
def test_odd_texts_in_every_place(text: str, tmp_path: Path) -> None:
    hardware = Hardware(instance=text, cpu=text, gpu=text)
    record = EfficiencyRecord(
        system=text, dataset=text, source=text, currency=text, hardware=hardware
    )
    written = record.to_ir_metadata(tmp_path / "a.yml")
    assert (tmp_path / "a.yml").read_bytes() == written.encode()
    assert read(tmp_path / "a.yml") == record
    assert yaml.safe_load(written)["tag"] == text, "every reader takes texts for texts"
    assert all(line.strip() for line in written.split("\n")[:-1])
    (tmp_path / "a.run").write_text(RUN, encoding="utf-8")
    annotate_run(tmp_path / "a.run", record)
    assert read(tmp_path / "a.run") == record


def test_system_is_said_or_found() -> None:
    both = form(tag="run7", method={"name": "bm25"})
    assert read(both).system == "bm25"
    assert read(form(tag="run7", method=None)).system == "run7"
    assert read(both, system="mine").system == "mine"
    told = "ir_metadata: it names no system, neither as method: name nor as tag; say system="
    assert rejected("resources: {}\n") == told


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        ({"latency": {"p95": "5 s"}}, "p95 is '5 s', which is not a number of ms"),
        ({"latency": {"p95": "fast ms"}}, "p95 is 'fast ms', which is not a number of ms"),
        ({"latency": {"p95": "-1 ms"}}, "latency: p95=-1.0 must be a number of at least 0"),
        ({"latency": {"p95": "1e99999 ms"}}, "latency: p95=inf must be a finite number"),
        ({"latency": {"p50": ["1 ms"]}}, "p50 is ['1 ms'], which is not a number of ms"),
        ({"latency": "5 ms"}, "resources: latency is '5 ms', not a mapping"),
        ({"queries": {"number": "2.5"}}, "queries: number is '2.5', which is not a number"),
        ({"ram": {"used process": {"max": 29248}}}, "'29248', which is not a number of MB"),
        ({"cost": {"currency": []}}, "currency is [], which is not a text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(resources: dict[str, Any], told: str) -> None:
    said = rejected(form(resources=resources))
    assert said.startswith("record of 'bm25': ")
    assert told in said


@pytest.mark.parametrize(
    "record",
    [
        EfficiencyRecord(system="x", currency="null", price_per_hour=0.0),
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
        assert "from a path or YAML" in rejected(wrong)
    assert "No such file" in rejected(tmp_path / "missing.yml")
    for path, said in (
        (tmp_path / "missing", "No such file"), (tmp_path, "is not a file"), ("-", "is not a file"),
    ):  # fmt: skip
        input_error(lambda path=path: annotate_run(path, OF_EVERYTHING), said)
    (tmp_path / "a").write_bytes(b"PAR1\x00" + b"x" * 20)
    input_error(lambda: annotate_run(tmp_path / "a", OF_EVERYTHING), "Parquet")


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
    annotate_run(path, OF_EVERYTHING)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    with opened(path, "rb") as file:
        content = file.read().decode()
    header, _, body = content.partition("# ir_metadata.end\n")
    assert header.startswith("# ir_metadata.start\n# schema version: 0.2\n")
    assert all(line.startswith("# ") for line in header.splitlines())
    assert body == RUN
    assert irbatch.evaluate(QRELS, str(path), "RR")["RR"] == before
    assert len(irbatch.read_run(str(path))) == 2
    assert EfficiencyRecord.from_ir_metadata(path) == OF_EVERYTHING


def test_a_header_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(RUN)
    annotate_run(path, OF_EVERYTHING)
    before = path.read_bytes()
    told = f"run {str(path)!r}: it has a header already"
    input_error(lambda: annotate_run(path, OF_EVERYTHING), told)
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
        lambda: annotate_run(path, OF_EVERYTHING),
        lambda: EfficiencyRecord.from_ir_metadata(path),
    ):
        input_error(act, f"{str(path)!r} line {line}: the header does not end")
    assert path.read_text() == text


def test_what_fails_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    body = RUN.encode() * 3 + b"x" * (2 << 20)
    path.write_bytes(body)
    monkeypatch.setattr(streams, "PIECE", 64)
    input_error(lambda: annotate_run(path, OF_EVERYTHING), f"{str(path)!r} line 10: a line goes on")
    assert path.read_bytes() == body
    assert [each.name for each in tmp_path.iterdir()] == ["a.run"]
