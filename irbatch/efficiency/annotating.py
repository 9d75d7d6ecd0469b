"""What a system took, written at the head of its run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from irbatch.efficiency.interchange.run_header import END, SOURCE, START, split_header
from irbatch.efficiency.load.found import MeasuredLoad
from irbatch.efficiency.measuring import Measurement
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import InputError, kind_of, shown
from irbatch.formats.streams import open_input
from irbatch.runtime.files import replacing


def annotate_run(
    path: str | PathLike[str],
    record: EfficiencyRecord | Measurement | MeasuredLoad,
    *,
    more: Mapping[str, Any] | None = None,
    replace: bool = False,
) -> None:
    r"""Write a record into a run file, as its header; the run stays as it is.

    This library, trec_eval (its current source) and repro_eval take its lines for comments.

    Args:
        path: a run; what is packed by its name (``.gz``, ``.bz2``, ``.xz``, ``.zst``) stays so. It
            is replaced whole or not at all, and never held in memory.
        record: what the system takes, or the measurement or load that has it.
        more: as for `EfficiencyRecord.to_ir_metadata`.
        replace: write the header in place of another.

    Raises:
        InputError: if the file cannot have a header, or has one that is not to be replaced.
        ImportError: naming the extra, when PyYAML is not installed.
        OSError: as the system says; the file is as it was then.

    >>> import tempfile, pathlib
    >>> from irbatch.efficiency import EfficiencyRecord
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = path.write_text("q1 Q0 d1 1 9.5 bm25\n")
    >>> annotate_run(path, EfficiencyRecord(system="bm25", throughput=812.5))
    >>> EfficiencyRecord.from_ir_metadata(path).throughput
    812.5
    """
    found = record.record if isinstance(record, Measurement | MeasuredLoad) else record
    if not isinstance(path, str | PathLike) or not isinstance(found, EfficiencyRecord):
        given = f"{shown(path)} and {kind_of(found)}"
        problem = f"a run's path and a record are wanted, not {given}"
        raise InputError(problem, source=SOURCE, value=found)
    lines = found.to_ir_metadata(more=more).removesuffix("\n").split("\n")
    name = fspath(path)
    refuse = partial(InputError, source=SOURCE, path=name)
    if name == "-" or (Path(name).exists() and not Path(name).is_file()):
        raise refuse("it is no file that can be replaced")
    with open_input(name, SOURCE) as file:
        if file.is_parquet:
            raise refuse("it is Parquet, which has no header")
        if split_header(file)[0] is not None and not replace:
            raise refuse("it has a header; replace=True replaces it")
    with replacing(name, pack=True) as new, open_input(name, SOURCE) as file:
        new.write("\n".join([START, *(f"# {line}" for line in lines), END, ""]).encode())
        for piece in split_header(file)[1]:
            new.write(piece)
