"""Records of what tirex-tracker and codecarbon wrote."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.efficiency_records import OF_TIREX, TIREX, refusal

from irbatch.efficiency import EfficiencyRecord, Hardware

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
        assert "not from an int" in refusal(lambda: EfficiencyRecord.from_tirex(5, system="x"))


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
        ("count", "model", "n_gpu", "gpu"),
        [
            (3, "2 x NVIDIA A1001 x Tesla T4", None, "2 x NVIDIA A1001 x Tesla T4"),
            (12, "2 x NVIDIA A10010 x Tesla T4", None, "2 x NVIDIA A10010 x Tesla T4"),
            (12, "12 x Tesla T4", 12, "Tesla T4"),
            (1, "Tesla T4", 1, "Tesla T4"),
            (2, "", 2, None),
        ],
    )
    def test_accelerators_of_several_models_have_no_single_count(
        self, count: int, model: str, n_gpu: int | None, gpu: str | None, tmp_path: Path
    ) -> None:
        path = tmp_path / "emissions.csv"
        path.write_text(CSV.replace(",0,,23.5", f",{count},{model},23.5"))
        found = EfficiencyRecord.from_codecarbon(path).hardware
        assert (found.n_gpu, found.gpu) == (n_gpu, gpu)

    def test_emissions_of_a_query(self, tmp_path: Path) -> None:
        path = tmp_path / "emissions.csv"
        path.write_text(CSV)
        assert EfficiencyRecord.from_codecarbon(path).emissions_per_query is None
        found = EfficiencyRecord.from_codecarbon(path, n_queries=4)
        assert found.emissions_per_query == 6.336200957146715e-07 / 4

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
