"""The forms that records are written in and read from; each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from irbatch.efficiency.record import EfficiencyRecord

__all__ = ["RecordForms"]


class RecordForms:
    """Readers and writers of an `EfficiencyRecord`."""

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as JSON has it; see `to_json`."""
        from irbatch.efficiency.json_form import record_to_dict

        return record_to_dict(cast("EfficiencyRecord", self))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> EfficiencyRecord:
        """Make a record of what `to_dict` returned, or somebody wrote by hand.

        Raises:
            InputError: naming the system and the field of what can't be.
        """
        from irbatch.efficiency.json_form import record_from_dict

        return record_from_dict(values)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return, or also write, the record as JSON.

        Args:
            path: where to write it; an existing file is replaced whole or not at all.
        """
        from irbatch.report.data import write_json

        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> EfficiencyRecord:
        """Read what `to_json` wrote.

        Args:
            source: a path, or the JSON itself.

        Raises:
            InputError: as `from_dict`, and for what is no JSON.
        """
        from irbatch.efficiency.json_form import read_object

        return cls.from_dict(read_object(source, "efficiency record"))

    def to_ir_metadata(
        self, path: str | PathLike[str] | None = None, *, more: Mapping[str, Any] | None = None
    ) -> str:
        """Return, or also write, the record in ir_metadata's form, as YAML.

        Args:
            path: where to write it; an existing file is replaced whole or not at all.
            more: what else there is to say: ``{"actor": {"team": "…"}, "research goal": {…}}``.

        Raises:
            ImportError: naming the extra, when PyYAML is not installed.
        """
        from irbatch.efficiency.ir_metadata import write_ir_metadata

        return write_ir_metadata(cast("EfficiencyRecord", self), path, more)

    @classmethod
    def from_ir_metadata(cls, source: Any, *, system: str | None = None) -> EfficiencyRecord:
        """Read ir_metadata: what `to_ir_metadata`, tirex-tracker or a run file's header has.

        Args:
            source: a path of a YAML file or of a run with a header, the YAML itself, or the
                mapping that it holds.
            system: the system's name; default: the one in it.

        Raises:
            InputError: for what is none, and as the record itself.
            ImportError: naming the extra, when PyYAML is not installed.
        """
        from irbatch.efficiency.ir_metadata import read_ir_metadata

        return read_ir_metadata(source, system)

    @classmethod
    def from_tirex(cls, source: Any, *, system: str | None = None) -> EfficiencyRecord:
        """Read what tirex-tracker measured.

        Args:
            source: the file that it exported, or its results: ``handle.results``.
            system: the system's name; results have none, a file may have one.

        Raises:
            InputError: for what is neither, or has no name.
            ImportError: naming the extra, when a file is read and PyYAML is not installed.
        """
        from irbatch.efficiency.tirex import read_tirex

        return read_tirex(source, system)

    @classmethod
    def from_codecarbon(
        cls, source: Any, *, system: str | None = None, n_queries: int | None = None
    ) -> EfficiencyRecord:
        """Read what codecarbon measured.

        Args:
            source: ``emissions.csv``, of which the last line counts, or the `EmissionsData` that a
                tracker has as ``final_emissions_data``.
            system: the system's name; default: codecarbon's name of the project.
            n_queries: how many queries were answered meanwhile.

        Raises:
            InputError: for what is neither.
        """
        from irbatch.efficiency.codecarbon import read_codecarbon

        return read_codecarbon(source, system, n_queries)
