"""Records as ir_metadata: what is written, what is read, and what is refused."""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.efficiency_records import AS_YAML, FULL, OF_TIREX, RUN, TIREX, refusal

from irbatch import InputError
from irbatch.efficiency import (
    EfficiencyRecord,
    Hardware,
    Latency,
    annotate_run,
)
from irbatch.efficiency.latency import STATISTICS
from irbatch.formats import streams

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
        "system": odd_texts(), "dataset": maybe(odd_texts()), "source": maybe(odd_texts()),
        "start_time": maybe(odd_texts()), "currency": maybe(odd_texts()), "hardware": hardware(),
        "latency": maybe(latencies()),
        "n_queries": maybe(counts), "batch_size": counts, "repeat": counts,
        "warmup": maybe(st.integers(0, 2**53)), "warmed_queries": maybe(st.integers(0, 2**53)),
        "throughput_batch_size": maybe(counts),
        "throughput": maybe(st.floats(0, exclude_min=True, allow_infinity=False)),
    }  # fmt: skip
    numbers = {each.name: maybe(amounts()) for each in fields(EfficiencyRecord)}
    return st.builds(EfficiencyRecord, **{**numbers, **special})


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
            system=text, dataset=text, source=text, start_time=text, currency=text,
            stated_cost=1.0,
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
        closed = replace(FULL, latency=Latency(mean=1.25, calls=625))
        assert closed.cost_per_million is not None
        text = closed.to_ir_metadata()
        assert "per million queries: 0.0868" in text
        assert EfficiencyRecord.from_ir_metadata(text).stated_cost is None
        stated = replace(closed, stated_cost=7.0)
        assert EfficiencyRecord.from_ir_metadata(stated.to_ir_metadata()).stated_cost == 7.0
        assert "0.0868" not in stated.to_ir_metadata()
        assert stated.to_ir_metadata().count("per million queries:") == 1

    def test_source_of_numbers(self) -> None:
        found = EfficiencyRecord.from_ir_metadata({"tag": "x", "data": {"source": "a paper"}})
        assert (found.source, found.dataset) == ("a paper", None)
        told = refusal(
            lambda: EfficiencyRecord.from_ir_metadata({"tag": "x", "data": {"source": " "}})
        )
        assert told == "record of 'x': data: source is ' ', which is no text"

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
        monkeypatch.setattr("irbatch.efficiency.interchange.ir_metadata.LARGEST", 100)
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

    def test_an_anchor_may_be_given_again(self) -> None:
        pytest.importorskip("yaml")
        text = "tag: &x a\nmethod: {name: &x b}\ndata: {source: *x}\n"
        found = EfficiencyRecord.from_ir_metadata(text)
        assert (found.system, found.source) == ("b", "b")

    def test_aliases_in_aliases(self) -> None:
        pytest.importorskip("yaml")
        chain = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 3000))]
        text = "\n".join([*chain, "tag: *a2999", ""])
        told = refusal(lambda: EfficiencyRecord.from_ir_metadata(text))
        # Python 3.12 and later show it all the same.
        assert told == "ir_metadata: it is nested too deeply" or told.endswith("which is no text")
        assert EfficiencyRecord.from_ir_metadata(text, system="bm25").system == "bm25"

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
