"""Records of what codecarbon and tirex-tracker measure here and now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.paths import REPOSITORY

from irbatch.efficiency import EfficiencyRecord, annotate_run, read_header


def work() -> int:
    return sum(i * i for i in range(500_000))


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, as tools write beside what they are told to write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestCodecarbon:
    @pytest.fixture
    def tracker(self, in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
        codecarbon = pytest.importorskip("codecarbon", exc_type=ImportError)
        monkeypatch.setenv("HOME", str(in_folder))  # where it looks for settings
        tracker = codecarbon.OfflineEmissionsTracker(
            project_name="bm25",
            country_iso_code="DEU",
            output_dir=str(in_folder),
            output_methods=[codecarbon.OutputMethod.CSV],
            log_level="error",
            allow_multiple_runs=True,
        )
        with tracker:
            work()
        return tracker

    def test_object_and_file_say_the_same(self, tracker: object, in_folder: Path) -> None:
        measured = tracker.final_emissions_data  # type: ignore[attr-defined]
        record = EfficiencyRecord.from_codecarbon(measured, n_queries=10)
        assert record.system == "bm25"
        assert record.wall_time == measured.duration
        assert record.energy == pytest.approx(measured.energy_consumed * 3.6e6)
        assert record.emissions == measured.emissions
        assert record.energy_per_query == pytest.approx(measured.energy_consumed * 3.6e5)
        assert record.emissions_per_query == pytest.approx(measured.emissions / 10)
        assert EfficiencyRecord.from_codecarbon(in_folder / "emissions.csv", n_queries=10) == record

    def test_energy_is_power_in_time(self, tracker: object) -> None:
        measured = tracker.final_emissions_data  # type: ignore[attr-defined]
        parts = measured.cpu_energy + measured.gpu_energy + measured.ram_energy  # kWh
        record = EfficiencyRecord.from_codecarbon(measured)
        assert record.energy == pytest.approx(parts * 1000 * 3600)

    @pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the system doesn't say its memory")
    def test_memory_is_in_units_of_ours(self, tracker: object) -> None:
        measured = tracker.final_emissions_data  # type: ignore[attr-defined]
        found = EfficiencyRecord.from_codecarbon(measured).hardware
        bytes_here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert found.ram_gb == pytest.approx(bytes_here / 1e9, rel=1e-3)
        assert found.n_cpu is not None


class TestTirex:
    def test_results_and_file_say_the_same(self, in_folder: Path) -> None:
        pytest.importorskip("yaml")
        tirex = pytest.importorskip("tirex_tracker", exc_type=ImportError)
        with tirex.tracking(
            system_name="bm25",
            export_file_path=in_folder / "out.yml",
            export_format=tirex.ExportFormat.IR_METADATA,
        ) as handle:
            work()
        record = EfficiencyRecord.from_tirex(in_folder / "out.yml")
        again = EfficiencyRecord.from_tirex(handle.results, system="bm25")
        assert record.system == "bm25"
        assert record.wall_time == again.wall_time
        assert record.wall_time is not None
        assert record.user_time == again.user_time
        assert record.system_time == again.system_time
        assert record.peak_memory == again.peak_memory
        assert record.start_time == again.start_time
        assert record.energy == again.energy
        assert record.hardware.cpu == again.hardware.cpu
        assert record.hardware.ram_gb == again.hardware.ram_gb
        wall = handle.results[tirex.Measure.TIME_ELAPSED_WALL_CLOCK_MS].value
        assert record.wall_time * 1000 == pytest.approx(int(wall))
        assert EfficiencyRecord.from_tirex(handle, system="bm25") == again
        assert not (REPOSITORY / ".tirex-tracker").exists()

    def test_file_named_as_metadata_is(self, in_folder: Path) -> None:
        pytest.importorskip("yaml")
        tirex = pytest.importorskip("tirex_tracker", exc_type=ImportError)
        path = in_folder / "out.ir_metadata"  # begins and ends with marks
        with tirex.tracking(system_name="bm25", export_file_path=path):
            work()
        assert path.read_text().startswith("ir_metadata.start\n")
        record = EfficiencyRecord.from_tirex(path)
        assert record.system == "bm25"
        (in_folder / "bm25.run").write_text("q1 Q0 d1 1 9.5 bm25\n")
        annotate_run(in_folder / "bm25.run", record)
        assert EfficiencyRecord.from_ir_metadata(in_folder / "bm25.run") == record
        assert "tag: bm25\n" in (read_header(in_folder / "bm25.run") or "")
