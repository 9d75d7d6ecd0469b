"""Records in the forms of others: ir_metadata, tirex-tracker, codecarbon, headers of runs."""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import irbatch
from irbatch import InputError
from irbatch.efficiency import (
    EfficiencyRecord,
    Hardware,
    Latency,
    annotate_run,
    read_header,
)
from irbatch.efficiency.latency import STATISTICS
from irbatch.formats import streams

RUN = "q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 8.5 bm25\nq2 Q0 d1 1 3.0 bm25\n"
QRELS = {"q1": {"d2": 1}, "q2": {"d1": 1}}
NASTY = [
    *(
        "null",
        "~",
        "no",
        "1e3",
        "0o17",
        "1_000",
        "2026-11-21",
        ".inf",
        "=",
        "<<",
        "---",
        "...",
        "-",
    ),
    *(": # '\" \n", " led", "trailed ", "#", "# ir_metadata.end", "a: b", "[x", "{", "!tag", "&a"),
    *("*a", "?", "|", ">", "%", "@", "`", "\ttab", "a\r\nb", "a\x85b", "a\u2028b", "\ufeffx"),
    *("rtl\u202egnp", "😀👩\u200d🚀", "\x00\x1b\x7f", "\ud800", "\uffff", "\U0010ffff", "\\ud800"),
    *("x" * 300, "5 USD", " 5", "ir_metadata.start", "ir_metadata.end\nx", "a\n\n\nb\n", "'", '"'),
]

# Shortened, of what tirex-tracker 0.2.24 exported.
TIREX = """\
implementation:
  source:
    lang: null
method:
  description: first stage
  name: bm25
platform:
  hardware:
    cpu:
      model: Intel Xeon
      number of cores: 2
      virtualization: null
    gpu: null
    ram: 25276 MB
resources:
  cpu:
    energy used system: null J
    used process:
      avg: 225
      max: 1000
      timeseries:
        timestamps:
        - 4ms
        values:
        - 1000
  gpu:
    energy used system: null J
  ram:
    energy used system: null J
    used process:
      avg: 29248
      max: 29248
      min: 29248
  runtime:
    start time: 2026-11-21T19:30:25.153747180+0000
    stop time: 2026-11-21T19:30:25.580056305+0000
    system: 10 ms
    user: 130 ms
    wallclock: 426 ms
schema version: 0.2
"""
OF_TIREX = EfficiencyRecord(
    system="bm25",
    hardware=Hardware(cpu="Intel Xeon", n_cpu=2, ram_gb=25.276),
    peak_memory=29.248,
    wall_time=0.426,
    user_time=0.13,
    system_time=0.01,
    start_time="2026-11-21T19:30:25.153747180+0000",
)
RESULTS = {
    "CPU_AVAILABLE_SYSTEM_CORES": b"2",
    "CPU_MODEL_NAME": b"Intel Xeon",
    "CPU_CORES_PER_SOCKET": b"1",
    "CPU_VIRTUALIZATION": b"",
    "GPU_MODEL_NAME": b"",
    "RAM_AVAILABLE_SYSTEM_MB": b"25276",
    "PYTHON_VERSION": '"3.11.7"',
    "TIME_ELAPSED_WALL_CLOCK_MS": b"426",
    "TIME_ELAPSED_USER_MS": b"130",
    "TIME_ELAPSED_SYSTEM_MS": b"10",
    "CPU_USED_PROCESS_PERCENT": b'{"max": 1000, "min": 0, "avg": 223}',
    "CPU_ENERGY_SYSTEM_JOULES": b"null",
    "RAM_USED_PROCESS_KB": b'{"max": 29248, "min": 29248, "avg": 29248, "timeseries": '
    b'{"timestamps": ["413ms"], "values": [29248]}}',
    "TIME_START": b"2026-11-21T19:30:25.153747180+0000",
}
# As codecarbon 3.3.2 wrote it, with fewer columns.
CSV = (
    "timestamp,project_name,duration,emissions,energy_consumed,cpu_count,cpu_model,gpu_count,"
    "gpu_model,ram_total_size\n"
    "2026-11-21T19:30:20,codecarbon,9.0,9.0,9.0,2,Old,0,,1.0\n"
    "2026-11-21T19:30:27,codecarbon,0.2811025039991364,6.336200957146715e-07,1.663263146645679e-06,"
    '2,"Intel(R) Xeon(R), 2 GHz",0,,23.540576934814453\n'
)


def odd_texts() -> st.SearchStrategy[str]:
    characters = st.characters(exclude_categories=())  # half ones too
    texts = st.one_of(st.sampled_from(NASTY), st.text(characters, min_size=1))
    return texts.filter(lambda text: bool(text.strip()))


def amounts() -> st.SearchStrategy[float]:
    return st.floats(0, allow_infinity=False, allow_nan=False)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


@st.composite
def latencies(draw: st.DrawFn) -> Latency:
    ordered = sorted(draw(st.lists(amounts(), min_size=4, max_size=4)))
    known = [value if draw(st.booleans()) else None for value in ordered]
    bounds = st.lists(amounts(), min_size=2, max_size=2).map(lambda ends: tuple(sorted(ends)))
    return Latency(
        mean=draw(maybe(amounts())),
        **dict(zip(STATISTICS[1:], known, strict=True)),
        intervals={name: draw(bounds) for name in STATISTICS if draw(st.booleans())},
        level=draw(st.just(0.05) | st.floats(0, 0.5, exclude_min=True)),
        calls=draw(maybe(st.integers(1, 2**53))),
    )


def hardware() -> st.SearchStrategy[Hardware]:
    texts, counts = maybe(odd_texts()), maybe(st.integers(0, 2**53))
    return st.builds(Hardware, instance=texts, cpu=texts, n_cpu=counts, gpu=texts, n_gpu=counts,
                     ram_gb=maybe(amounts()))  # fmt: skip


def records() -> st.SearchStrategy[EfficiencyRecord]:
    counts = st.integers(1, 2**53)
    special: dict[str, st.SearchStrategy[Any]] = {
        "system": odd_texts(), "dataset": maybe(odd_texts()), "start_time": maybe(odd_texts()),
        "currency": odd_texts(), "hardware": hardware(), "latency": maybe(latencies()),
        "n_queries": maybe(counts), "batch_size": counts, "repeat": counts,
        "warmup": maybe(st.integers(0, 2**53)), "throughput_batch_size": maybe(counts),
        "throughput": maybe(st.floats(0, exclude_min=True, allow_infinity=False)),
    }  # fmt: skip
    numbers = {each.name: maybe(amounts()) for each in fields(EfficiencyRecord)}
    return st.builds(EfficiencyRecord, **{**numbers, **special})


FULL = EfficiencyRecord(
    system="bm25",
    dataset="robust04",
    hardware=Hardware(instance="c6g", cpu="Xeon", n_cpu=4, gpu="H200", n_gpu=1, ram_gb=25.3),
    n_queries=250,
    batch_size=2,
    warmup=3,
    repeat=5,
    latency=Latency(mean=1.25, p50=1.0, p95=2.5, intervals={"mean": (1.1, 1.3)}, calls=1250),
    throughput=812.5,
    throughput_batch_size=64,
    peak_memory=29.248,
    model_memory=1.0,
    index_memory=2.0,
    model_disk=3.0,
    index_disk=4.0,
    cpu_used=1.5,
    wall_time=0.426,
    user_time=0.13,
    system_time=0.01,
    start_time="2026-11-21T19:30:25+00:00",
    flops=1e9,
    energy=3.2,
    emissions=0.001,
    price_per_hour=0.5,
)
AS_YAML = """\
schema version: 0.2
tag: bm25
platform:
  hardware:
    instance: c6g
    cpu:
      model: Xeon
      number of cores: 4
    gpu:
      model: H200
      number of gpus: 1
    ram: 25.3 GB
method:
  name: bm25
data:
  test collection:
    name: robust04
resources:
  runtime:
    start time: '2026-11-21T19:30:25+00:00'
    wallclock: 426 ms
    user: 130 ms
    system: 10 ms
  queries:
    number: 250
    batch size: 2
    warm-up calls: 3
    repeats: 5
  latency:
    mean: 1.25 ms
    p50: 1 ms
    p95: 2.5 ms
    calls: 1250
    level: 0.05
    intervals:
      mean:
      - 1.1 ms
      - 1.3 ms
  throughput:
    value: 812.5 queries/s
    batch size: 64
  ram:
    used process:
      max: 29248 KB
  memory:
    model: 1 MB
    index: 2 MB
  disk:
    model: 3 MB
    index: 4 MB
  compute:
    flops: 1000000000 FLOPs/query
    cores used: 1.5 cores
  energy: 3.2 J
  emissions: 0.001 kg
  cost:
    price per hour: 0.5 USD
    derived:
      per million queries: 0.08680555555555557 USD
      per million queries at full throughput: 0.17094017094017094 USD
"""


def refusal(act: Callable[[], Any]) -> str:
    with pytest.raises(InputError) as caught:
        act()
    return str(caught.value)


def form(**resources: Any) -> dict[str, Any]:
    return {"tag": "bm25", "resources": resources}


class TestIrMetadata:
    def test_layout(self) -> None:
        pytest.importorskip("yaml")
        assert FULL.to_ir_metadata() == AS_YAML
        assert EfficiencyRecord.from_ir_metadata(AS_YAML) == FULL

    @pytest.mark.parametrize("quick", [True, False])
    @given(record=records())
    @example(record=EfficiencyRecord(system="x", latency=Latency()))
    @example(record=EfficiencyRecord(system="x", currency="EUR"))
    @example(record=EfficiencyRecord(system="x", currency="null", stated_cost=0.0))
    @example(record=EfficiencyRecord(system="x", wall_time=5e-324, energy=1.7976931348623157e308))
    def test_round_trip_is_exact(self, quick: bool, record: EfficiencyRecord) -> None:
        yaml = pytest.importorskip("yaml")
        with pytest.MonkeyPatch.context() as patched:
            if not quick:
                patched.delattr(yaml, "CBaseLoader", raising=False)
            text = record.to_ir_metadata()
            again = EfficiencyRecord.from_ir_metadata(text)
        assert again == record
        assert repr(again) == repr(record)  # -0.0 and all digits

    @given(record=records())
    def test_round_trip_by_way_of_json(self, record: EfficiencyRecord) -> None:
        pytest.importorskip("yaml")
        latency = record.latency and replace(record.latency, level=0.05)
        record = replace(record, latency=latency)
        again = EfficiencyRecord.from_json(record.to_json())
        assert EfficiencyRecord.from_ir_metadata(again.to_ir_metadata()) == record

    @pytest.mark.parametrize("text", NASTY)
    def test_odd_texts_in_every_place(self, text: str, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        record = EfficiencyRecord(
            system=text, dataset=text, start_time=text, currency=text, stated_cost=1.0,
            hardware=Hardware(instance=text, cpu=text, gpu=text),
        )  # fmt: skip
        written = record.to_ir_metadata(tmp_path / "a.yml")
        assert (tmp_path / "a.yml").read_bytes() == written.encode()
        assert EfficiencyRecord.from_ir_metadata(tmp_path / "a.yml") == record
        (tmp_path / "a.run").write_text(RUN, encoding="utf-8")
        annotate_run(tmp_path / "a.run", record)
        assert EfficiencyRecord.from_ir_metadata(tmp_path / "a.run") == record

    @pytest.mark.parametrize("text", NASTY)
    def test_every_yaml_reader_takes_texts_for_texts(self, text: str) -> None:
        yaml = pytest.importorskip("yaml")
        found = yaml.safe_load(EfficiencyRecord(system=text).to_ir_metadata())
        assert found["tag"] == text
        assert all(
            line.strip() for line in EfficiencyRecord(system=text).to_ir_metadata().split("\n")[:-1]
        )

    def test_numbers_that_only_newer_readers_know_are_quoted(self) -> None:
        pytest.importorskip("yaml")
        assert "tag: '1e3'\n" in EfficiencyRecord(system="1e3").to_ir_metadata()
        assert "tag: '0o17'\n" in EfficiencyRecord(system="0o17").to_ir_metadata()

    def test_derived_cost_does_not_come_back_as_stated(self) -> None:
        pytest.importorskip("yaml")
        assert FULL.cost_per_million is not None
        text = FULL.to_ir_metadata()
        assert "per million queries: 0.0868" in text
        assert EfficiencyRecord.from_ir_metadata(text).stated_cost is None
        stated = replace(FULL, stated_cost=7.0)
        assert EfficiencyRecord.from_ir_metadata(stated.to_ir_metadata()).stated_cost == 7.0
        assert "0.0868" not in stated.to_ir_metadata()
        assert stated.to_ir_metadata().count("per million queries:") == 1

    def test_mapping_that_other_readers_made(self) -> None:
        yaml = pytest.importorskip("yaml")
        assert EfficiencyRecord.from_ir_metadata(yaml.safe_load(AS_YAML)) == FULL
        when = form(runtime={"start time": datetime(2026, 11, 21, tzinfo=UTC)})
        found = EfficiencyRecord.from_ir_metadata({**when, "tag": 301})
        assert (found.system, found.start_time) == ("301", "2026-11-21T00:00:00+00:00")

    def test_file_is_whole_or_not_there(self, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        with pytest.raises(OSError, match="missing"):
            FULL.to_ir_metadata(tmp_path / "missing" / "a.yml")
        with pytest.raises(InputError):
            FULL.to_ir_metadata(tmp_path / "a.yml", more={"x": object()})
        assert list(tmp_path.iterdir()) == []

    def test_system_is_said_or_found(self) -> None:
        both = {"tag": "run7", "method": {"name": "bm25"}}
        assert EfficiencyRecord.from_ir_metadata(both).system == "bm25"
        assert EfficiencyRecord.from_ir_metadata({"tag": "run7", "method": None}).system == "run7"
        assert EfficiencyRecord.from_ir_metadata(both, system="mine").system == "mine"
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata({"resources": {}}))
        assert told == (
            "ir_metadata: it names no system, neither as method: name nor as tag; say system="
        )

    @pytest.mark.parametrize(
        ("resources", "told"),
        [
            ({"latency": {"p95": "5 kg"}},
             "latency: p95 is '5 kg', whose unit is not ns, us, µs, ms, s, min or h"),
            ({"latency": {"p95": "5"}}, "latency: p95 is '5', which has no unit"),
            ({"latency": {"p95": 5}}, "latency: p95 is 5, which is no number with a unit"),
            ({"latency": {"p95": "fast ms"}},
             "latency: p95 is 'fast ms', which is no number with a unit"),
            ({"latency": {"p95": "-1 ms"}}, "latency: p95 is -1.0, which is negative"),
            ({"latency": {"p95": "1e999 ms"}}, "latency: p95 is inf, which is not finite"),
            ({"latency": {"p95": "1e99999999999999999999 ms"}},
             "latency: p95 is '1e99999999999999999999 ms', which is not finite"),
            ({"latency": {"p50": "5 ms", "p95": "1 ms"}}, "latency: p50 is 5, more than p95, 1"),
            ({"latency": {"intervals": {"mean": ["1 ms"]}}},
             "latency: intervals: mean is ['1 ms'], not two bounds"),
            ({"latency": {"intervals": {"mean": ["1 ms", None]}}},
             "latency: intervals: mean is ['1 ms', None], not two bounds"),
            ({"latency": {"intervals": {"mean": ["2 ms", "1 ms"]}}},
             "latency: interval of mean is (2.0, 1.0), not a lower and an upper bound"),
            ({"latency": "5 ms"}, "latency is '5 ms', not a mapping"),
            ({"latency": {"level": "high"}}, "latency: level is 'high', which is no number"),
            ({"latency": {"level": "0.7"}}, "latency: level=0.7 must be above 0"),
            ({"queries": {"number": "2.5"}},
             "queries: number is 2.5, which is no whole number from 1 on"),
            ({"queries": {"batch size": "x"}}, "queries: batch size is 'x', which is no number"),
            ({"throughput": {"value": "5 ms"}},
             "throughput: value is '5 ms', whose unit is not queries/s"),
            ({"ram": {"used process": {"max": "5 J"}}},
             "ram: used process: max is '5 J', whose unit is not B, KB"),
            ({"ram": {"used process": {"max": "much"}}},
             "ram: used process: max is 'much', which is no number with a unit"),
            ({"ram": {"used process": {"max": -5}}},
             "ram: used process: max is -5, which is negative"),
            ({"cpu": {"energy used system": "5 kg"}},
             "cpu: energy used system is '5 kg', whose unit is not"),
            ({"cost": {"price per hour": "0.5 USD", "per million queries": "3 EUR"}},
             "cost: per million queries is '3 EUR', but other amounts are in USD"),
            ({"cost": {"price per hour": "cheap"}},
             "cost: price per hour is 'cheap', which is no number with a unit"),
            ({"runtime": {"start time": " "}}, "runtime: start time is ' ', which is no text"),
            ({"runtime": {"start time": True}}, "runtime: start time is True, which is no text"),
        ],
    )  # fmt: skip
    def test_refusals_name_the_keys(self, resources: dict[str, Any], told: str) -> None:
        before = copy.deepcopy(resources)
        said = refusal(lambda: EfficiencyRecord.from_ir_metadata(form(**resources)))
        assert said.startswith(f"record of 'bm25': resources: {told}")
        assert resources == before

    @pytest.mark.parametrize("wrong", [5, "x", [], True])
    def test_what_is_no_mapping_where_one_is_read(self, wrong: Any) -> None:
        for key in ("platform", "data", "resources"):
            told = refusal(lambda: EfficiencyRecord.from_ir_metadata({"tag": "x", key: wrong}))  # noqa: B023
            assert told == f"record of 'x': {key} is {wrong!r}, not a mapping"

    @pytest.mark.parametrize(
        ("written", "value"),
        [("1.5 s", 1.5), ("2 min", 120.0), ("1 h", 3600.0), ("250 us", 0.00025), ("null ms", None),
         ("  ", "refused"), ("+1e3 ms", 1.0), (".5 s", 0.5), ("1. s", 1.0), ("1_0 s", "refused"),
         ("٣ s", "refused"), ("nan s", "refused"), ("426ms", "refused")],
    )  # fmt: skip
    def test_times(self, written: str, value: Any) -> None:
        source = form(runtime={"wallclock": written})
        if value == "refused":
            assert "resources: runtime: wallclock is" in refusal(
                lambda: EfficiencyRecord.from_ir_metadata(source)
            )
        else:
            assert EfficiencyRecord.from_ir_metadata(source).wall_time == value

    def test_units_of_memory(self) -> None:
        def read(ram: str) -> float | None:
            source = {"tag": "x", "platform": {"hardware": {"ram": ram}}}
            return EfficiencyRecord.from_ir_metadata(source).hardware.ram_gb

        assert read("32 GB") == 32
        assert read("25276 MB") == 25.276
        assert read("1 GiB") == 1.073741824
        assert read("2 TB") == 2000

    def test_unknown_keys_are_not_looked_at(self) -> None:
        source = {**form(latency={"p42": "x", "mean": "1 ms"}, carbon="?"), "actor": 5}
        assert EfficiencyRecord.from_ir_metadata(source).value("latency") == 1.0


class TestMore:
    def test_is_merged_and_left_as_it_is(self) -> None:
        yaml = pytest.importorskip("yaml")
        more = {
            "tag": "other",
            "actor": {"team": "IR", "members": ("a", np.str_("b"))},
            "platform": {"software": {"libraries": {"python": ["numpy"]}}, "hardware": {"ram": 1}},
            "resources": {"queries": 7},
            np.str_("n"): np.int64(3),
        }
        before = copy.deepcopy(more)
        record = EfficiencyRecord(system="bm25", hardware=Hardware(cpu="Xeon", ram_gb=8))
        text = record.to_ir_metadata(more=more)
        found = yaml.safe_load(text)
        assert more == before
        assert found["tag"] == "bm25"
        assert found["actor"] == {"team": "IR", "members": ["a", "b"]}
        assert found["platform"]["software"] == {"libraries": {"python": ["numpy"]}}
        assert found["platform"]["hardware"] == {"cpu": {"model": "Xeon"}, "ram": "8 GB"}
        assert found["n"] == 3
        assert EfficiencyRecord.from_ir_metadata(text) == record

    def test_the_same_object_twice_is_written_twice(self) -> None:
        pytest.importorskip("yaml")
        shared = [datetime(2026, 11, 21, tzinfo=UTC)]
        text = EfficiencyRecord(system="s").to_ir_metadata(more={"a": shared, "b": shared})
        assert "&" not in text
        assert text.count("- 2026-11-21") == 2

    def test_refusals(self) -> None:
        pytest.importorskip("yaml")
        record = EfficiencyRecord(system="s")
        assert "takes a mapping, not a list" in refusal(lambda: record.to_ir_metadata(more=[]))  # type: ignore[arg-type]
        told = refusal(lambda: record.to_ir_metadata(more={"x": Path("a")}))
        assert told.startswith("ir_metadata: YAML has no form for ")
        circle: dict[str, Any] = {}
        circle["x"] = circle
        told = refusal(lambda: record.to_ir_metadata(more=circle))
        assert "nested too deeply" in told


class TestSources:
    def test_files_packed_or_not(self, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        packers = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
        for suffix, pack in packers.items():
            path = tmp_path / f"a.yml{suffix}"
            path.write_bytes(pack(TIREX.encode()))
            assert EfficiencyRecord.from_ir_metadata(path) == OF_TIREX
            assert EfficiencyRecord.from_ir_metadata(str(path)) == OF_TIREX

    def test_marks_without_signs_of_comments(self, tmp_path: Path) -> None:
        pytest.importorskip("yaml")  # as tirex-tracker writes files named .ir_metadata
        text = f"ir_metadata.start\n{TIREX}ir_metadata.end\n"
        (tmp_path / "a.ir_metadata").write_text(text)
        assert EfficiencyRecord.from_ir_metadata(tmp_path / "a.ir_metadata") == OF_TIREX
        assert EfficiencyRecord.from_ir_metadata(text) == OF_TIREX

    @pytest.mark.parametrize(
        "text", [RUN, "# ran twice\n" + RUN, "\n" * 5 + RUN, "", "- a\n- b\n", "text\n", "# x: y\n"]
    )
    def test_what_is_neither(self, text: str, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        (tmp_path / "a").write_text(text)
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(tmp_path / "a"))
        assert told.endswith(f"{str(tmp_path / 'a')!r}: it is neither YAML nor a run with a header")

    def test_a_run_without_a_header_is_not_read_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(streams, "PIECE", 64)
        (tmp_path / "a.run").write_bytes(RUN.encode() * 10 + b"x" * (2 << 20))  # endless line
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(tmp_path / "a.run"))
        assert "neither YAML nor" in told

    def test_a_file_too_large_for_metadata(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("irbatch.efficiency.ir_metadata.LARGEST", 100)
        (tmp_path / "a.yml").write_text("tag: x\n" * 20)
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(tmp_path / "a.yml"))
        assert "neither YAML nor" in told

    @pytest.mark.parametrize("quick", [True, False])
    def test_broken_yaml(
        self, quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        yaml = pytest.importorskip("yaml")
        if not quick:
            monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
        path = tmp_path / "a"
        path.write_text("tag: x\nmethod: [\n")
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(path))
        assert told.startswith(f"ir_metadata {str(path)!r} line 3: no YAML: ")
        path.write_text("# ir_metadata.start\n# tag: x\n# a: b: c\n# ir_metadata.end\n" + RUN)
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(path))
        assert told.startswith(f"ir_metadata {str(path)!r} line 3: no YAML: ")
        for text in ("a: \x01\n", "a: 1\n---\nb: 2\n", "a: \ud800\n", "? [a]\n: b\n", "a: *b\n"):
            assert "no YAML" in refusal(lambda: EfficiencyRecord.from_ir_metadata(text))  # noqa: B023
        for text in ("a\nb", "- a\n"):
            told = refusal(lambda: EfficiencyRecord.from_ir_metadata(text))  # noqa: B023
            assert told == "ir_metadata: it is no mapping in YAML"

    def test_tags_make_nothing_but_texts(self) -> None:
        pytest.importorskip("yaml")
        text = "tag: !!python/object/apply:os.getcwd []\n"
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(text))
        assert told == "ir_metadata: tag is [], which is no text"
        assert EfficiencyRecord.from_ir_metadata("tag: !!int x\n").system == "x"

    @pytest.mark.parametrize("quick", [True, False])
    @pytest.mark.parametrize("level", ["[", "- ", "{a: ", "[&a ", "? "])
    def test_deep_nesting(self, quick: bool, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
        yaml = pytest.importorskip("yaml")
        if not quick:
            monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(level * 100_000 + "\n"))
        assert told == "ir_metadata line 1: no YAML: it is nested too deeply"

    def test_aliases(self) -> None:
        pytest.importorskip("yaml")
        text = "actor: &a {team: &t bm25}\ndata: *a\nmethod: {name: *t}\nresources: {gpu: *a}\n"
        assert EfficiencyRecord.from_ir_metadata(text).system == "bm25"
        bomb = ["a0: &a0 x"]
        bomb += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata("\n".join(bomb)))
        assert told == "ir_metadata line 9: no YAML: its aliases make too much of it"
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata("a: &a [*a]\n"))
        assert told == "ir_metadata line 1: no YAML: *a is not known"

    def test_other_kinds(self, tmp_path: Path) -> None:
        for wrong in (5, None, b"tag: x\n", ["tag"]):
            told = refusal(lambda: EfficiencyRecord.from_ir_metadata(wrong))  # noqa: B023
            assert "from a path, YAML or a mapping" in told
        assert "No such file" in refusal(
            lambda: EfficiencyRecord.from_ir_metadata(tmp_path / "missing.yml")
        )
        (tmp_path / "a").write_bytes(b"tag: \xff\n")
        assert "not UTF-8" in refusal(lambda: EfficiencyRecord.from_ir_metadata(tmp_path / "a"))

    def test_without_pyyaml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "yaml", None)
        line = r"for ir_metadata: pip install 'irbatch\[yaml\]'"
        with pytest.raises(ImportError, match=line):
            FULL.to_ir_metadata()
        with pytest.raises(ImportError, match=line):
            EfficiencyRecord.from_ir_metadata(AS_YAML)
        assert EfficiencyRecord.from_ir_metadata({"tag": "x"}).system == "x"  # needs none


class TestTirex:
    def test_file(self, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        (tmp_path / "out.yml").write_text(TIREX)
        assert EfficiencyRecord.from_tirex(tmp_path / "out.yml") == OF_TIREX
        assert EfficiencyRecord.from_tirex(tmp_path / "out.yml", system="a").system == "a"

    def test_energy_is_the_sum_of_what_is_known(self, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        text = TIREX.replace("null J", "7 J", 1).replace("null J", "5 J", 1)
        assert EfficiencyRecord.from_ir_metadata(text).energy == 12
        values = {**RESULTS, "RAM_ENERGY_SYSTEM_JOULES": b"3", "GPU_ENERGY_SYSTEM_JOULES": b"4"}
        assert EfficiencyRecord.from_tirex(values, system="x").energy == 7

    def test_results(self) -> None:
        measure = IntEnum("measure", list(RESULTS))  # type: ignore[misc]
        by_member = {measure[name]: SimpleNamespace(value=RESULTS[name]) for name in RESULTS}
        for results in (RESULTS, by_member):
            assert EfficiencyRecord.from_tirex(results, system="bm25") == OF_TIREX
        fewer = {name: value for name, value in RESULTS.items() if "AVAILABLE" not in name}
        assert EfficiencyRecord.from_tirex(fewer, system="bm25").hardware.n_cpu == 1

    @pytest.mark.parametrize(
        ("name", "value", "told"),
        [
            ("TIME_ELAPSED_WALL_CLOCK_MS", b"soon", "is 'soon', which is no number with a unit"),
            ("TIME_ELAPSED_WALL_CLOCK_MS", b"-3", "is -3.0, which is negative"),
            ("RAM_USED_PROCESS_KB", b"{", "is '{', which is no JSON"),
            ("RAM_USED_PROCESS_KB", b"5", "is 5, not a mapping"),
            ("CPU_MODEL_NAME", b"\xff", "which is not UTF-8"),
            ("CPU_AVAILABLE_SYSTEM_CORES", b"1.5", "is 1.5, which is no whole number from 0 on"),
        ],
    )
    def test_refusals(self, name: str, value: bytes, told: str) -> None:
        said = refusal(lambda: EfficiencyRecord.from_tirex({name: value}, system="bm25"))
        assert said.startswith(f"record of 'bm25': {name} is ")
        assert said.endswith(told)

    def test_what_is_neither(self) -> None:
        assert "say system=" in refusal(lambda: EfficiencyRecord.from_tirex(RESULTS))
        assert "no measure" in refusal(lambda: EfficiencyRecord.from_tirex({"a": 1}, system="x"))
        assert "not from a int" in refusal(lambda: EfficiencyRecord.from_tirex(5, system="x"))


class TestCodecarbon:
    expected = EfficiencyRecord(
        system="codecarbon",
        hardware=Hardware(
            cpu="Intel(R) Xeon(R), 2 GHz", n_cpu=2, n_gpu=0, ram_gb=23.540576934814453 * 1.024**3
        ),
        wall_time=0.2811025039991364,
        energy=1.663263146645679e-06 * 3.6e6,
        emissions=6.336200957146715e-07,
    )

    def alike(self, found: EfficiencyRecord, **changed: Any) -> None:
        expected = replace(self.expected, **changed)
        assert found.energy == pytest.approx(expected.energy, rel=1e-15)
        assert found.hardware.ram_gb == pytest.approx(expected.hardware.ram_gb, rel=1e-15)
        hardware = replace(found.hardware, ram_gb=expected.hardware.ram_gb)
        assert replace(found, energy=expected.energy, hardware=hardware) == expected

    def test_last_line_of_the_table(self, tmp_path: Path) -> None:
        path = tmp_path / "emissions.csv"
        for text in (CSV, "\ufeff" + CSV, CSV.replace("\n", "\r\n"), CSV + "\n\n", CSV.rstrip()):
            path.write_bytes(text.encode())
            self.alike(EfficiencyRecord.from_codecarbon(path))
        found = EfficiencyRecord.from_codecarbon(str(path), system="bm25", n_queries=250)
        self.alike(found, system="bm25", n_queries=250)

    def test_objects_and_mappings(self) -> None:
        values = {
            "project_name": "codecarbon", "duration": 0.2811025039991364,
            "emissions": 6.336200957146715e-07, "energy_consumed": 1.663263146645679e-06,
            "cpu_count": 2.0, "cpu_model": "Intel(R) Xeon(R), 2 GHz", "gpu_count": 0,
            "gpu_model": "", "ram_total_size": 23.540576934814453,
        }  # fmt: skip
        self.alike(EfficiencyRecord.from_codecarbon(values))
        self.alike(EfficiencyRecord.from_codecarbon(SimpleNamespace(**values)))
        self.alike(EfficiencyRecord.from_codecarbon({**values, "gpu_model": float("nan")}))
        several = {**values, "gpu_count": 2, "gpu_model": "2 x NVIDIA H200"}
        found = EfficiencyRecord.from_codecarbon(several).hardware
        assert (found.n_gpu, found.gpu) == (2, "NVIDIA H200")

    @pytest.mark.parametrize(
        ("text", "line", "told"),
        [
            ("", None, "it is empty"),
            ("duration,emissions\n1,2\n", 1, "it has no energy_consumed"),
            (CSV.splitlines()[0], None, "it has no line below its head"),
            (CSV + "1,2\n", 4, "2 cells stand below 10 names"),
            (CSV.replace("6.33", "-6.33"), 3, "emissions is -6.336200957146715e-07, which is neg"),
            (CSV.replace("1.66", "x"), 3, "energy_consumed is 'x3263146645679e-06', which is no"),
            (CSV.replace("0.2811025039991364", ""), 3, "duration is None, which is no number"),
            (CSV.replace("0.2811025039991364", "nan"), 3, "duration is 'nan', which is no number"),
            (CSV.replace("codecarbon,0.2", ",0.2"), 3, "project_name is '', which is no name"),
            (CSV.replace('GHz"', 'GHz"x'), 3, "no CSV: "),
        ],
    )
    def test_refusals(self, text: str, line: int | None, told: str, tmp_path: Path) -> None:
        path = tmp_path / "emissions.csv"
        path.write_text(text, encoding="utf-8")
        said = refusal(lambda: EfficiencyRecord.from_codecarbon(path))
        place = f"{str(path)!r}: " if line is None else f"{str(path)!r} line {line}: "
        assert place + told in said

    def test_what_is_neither(self, tmp_path: Path) -> None:
        for wrong in (5, None, {}, {"duration": 1}):
            told = refusal(lambda: EfficiencyRecord.from_codecarbon(wrong))  # noqa: B023
            assert "energy_consumed" in told
        assert "No such file" in refusal(
            lambda: EfficiencyRecord.from_codecarbon(tmp_path / "emissions.csv")
        )
        (tmp_path / "a.csv").write_bytes(b"duration,\xff\n")
        assert "line 1: it is not UTF-8" in refusal(
            lambda: EfficiencyRecord.from_codecarbon(tmp_path / "a.csv")
        )
        measured = {"duration": 1, "emissions": 1, "energy_consumed": 1}
        assert "n_queries is 0" in refusal(
            lambda: EfficiencyRecord.from_codecarbon(measured, system="x", n_queries=0)
        )


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
