"""What systems ran on: columns of a leaderboard, and constraints such as ``gpu = A100``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from irbatch.comparing.gate import OPERATORS
from irbatch.efficiency import Hardware
from irbatch.efficiency.quantities import of_system, refuse
from irbatch.errors import InputError, many, shown
from irbatch.leaderboard.axes import Constraint, parse_constraint
from irbatch.report.document import Cell, Column
from irbatch.report.numbers import NOTHING, show_quantity
from irbatch.runtime.numbers import DECIMAL

TEXTS = {"instance": "instance", "cpu": "CPU", "gpu": "GPU"}  # names of columns, and headings
NUMBERS = {"n_cpu": "CPU cores", "n_gpu": "GPUs", "ram": "RAM (GB)"}
FACTS = {**TEXTS, **NUMBERS}
NONE = "none"  # of a machine that is known to have no GPU
CONSTRAINT = re.compile(rf"\s*({'|'.join(FACTS)})\s*({'|'.join(OPERATORS)}|=)\s*(.*?)\s*")


def machine_text(hardware: Hardware, name: str) -> str | None:
    """Return the name of an instance or of a model; None where it isn't known.

    >>> machine_text(Hardware(gpu="A100", n_gpu=8), "gpu")
    '8 × A100'
    """
    text: str | None = getattr(hardware, name)
    if name != "gpu" or not (hardware.n_gpu or 0) > 1:
        return NONE if name == "gpu" and hardware.n_gpu == 0 else text
    return f"{hardware.n_gpu} × {text}" if text else None


def machine_number(hardware: Hardware, name: str) -> float:
    """Return a number of a machine; NaN where it isn't known."""
    value = hardware.ram_gb if name == "ram" else getattr(hardware, name)
    return math.nan if value is None else float(value)


def machine_column(machines: Sequence[Hardware], name: str) -> tuple[Column, list[Cell]]:
    """Return a column of `FACTS`, and its cells."""
    if name in TEXTS:
        texts = [machine_text(each, name) or NOTHING for each in machines]
        return Column(FACTS[name], "text"), [Cell(text) for text in texts]
    numbers = [machine_number(each, name) for each in machines]
    return Column(FACTS[name]), [Cell(show_quantity(each), each) for each in numbers]


class MachineConstraint(NamedTuple):
    """What a machine has to be, to have, or not to be.

    >>> parse_condition("gpu = a100", []).holds(Hardware(gpu="NVIDIA A100-SXM4-80GB"))
    True
    """

    name: str
    operator: str
    wanted: str

    def holds(self, hardware: Hardware) -> bool | None:
        """Tell whether a machine meets it; None where that isn't known."""
        if self.name in NUMBERS:
            number = machine_number(hardware, self.name)
            compare = OPERATORS[self.operator]
            return None if math.isnan(number) else compare(number, float(self.wanted))
        text = machine_text(hardware, self.name)
        if text is None:
            return None
        return (_words(self.wanted) <= _words(text)) == (self.operator == "==")

    def find_broken(self, machines: Mapping[str, Hardware]) -> dict[str, str]:
        """Return why systems do not meet it, by their names.

        Raises:
            InputError: naming the first system, if it isn't known of any.
        """
        held = {system: self.holds(each) for system, each in machines.items()}
        if held and all(each is None for each in held.values()):
            others = many(len(held) - 1, "other system")
            problem = f"is missing{f', as for {others}' if len(held) > 1 else ''}"
            raise refuse(of_system(next(iter(held))), self.name, problem, None)
        return {
            system: f"{self.name} is missing" if each is None else str(self)
            for system, each in held.items()
            if not each
        }

    def __str__(self) -> str:
        sign = "=" if self.operator == "==" and self.name in TEXTS else self.operator
        return f"{self.name} {sign} {self.wanted}"


def parse_condition(text: str, measures: Sequence[str]) -> Constraint | MachineConstraint:
    """Read a constraint on an axis, see `parse_constraint`, or on what a system ran on.

    Of ``instance``, ``cpu`` and ``gpu`` every word that is given stands in the name, or not: ``gpu
    = A100``, ``cpu != Xeon``; ``n_cpu``, ``n_gpu`` and ``ram`` (GB) compare as axes do.
    """
    matched = CONSTRAINT.fullmatch(text) if isinstance(text, str) else None
    if matched is None or matched[1] in measures:
        return parse_constraint(text, measures)
    name, sign, wanted = matched.groups()
    operator = "==" if sign == "=" else sign
    if name in NUMBERS:
        if not re.fullmatch(DECIMAL, wanted):
            problem = f"{name} {sign} takes a number, not {shown(wanted)}"
            raise InputError(problem, source="constraint", value=text)
    elif operator not in ("==", "!=") or not _words(wanted):
        problem = f"{name} is a name: a constraint is {name} = NAME or {name} != NAME"
        raise InputError(f"{problem}, not {shown(text)}", source="constraint", value=text)
    return MachineConstraint(name, operator, wanted)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
