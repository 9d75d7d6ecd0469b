"""Documents that other programs write: where fields of a record stand, numbers with units."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from irbatch.efficiency.checks import check_count, only_known, read_quantity, refuse
from irbatch.errors import InputError, join_words, shown
from irbatch.runtime.numbers import DECIMAL

AMOUNT = re.compile(rf"({DECIMAL})(?: (.*))?", re.DOTALL)
NOTHING = re.compile(r"null( .*)?", re.DOTALL)  # what tools write for what they could not measure
WRITTEN_OUT = range(-6, 17)  # exponents of ten

TIME = {
    "ns": Decimal("1e-9"), "us": Decimal("1e-6"), "µs": Decimal("1e-6"), "ms": Decimal("1e-3"),
    "s": Decimal(1), "min": Decimal(60), "h": Decimal(3600),
}  # fmt: skip
BYTES = {
    "B": Decimal(1),
    **{f"{prefix}B": Decimal(1000) ** n for n, prefix in enumerate("KMGT", 1)},
    "kB": Decimal(1000),
    **{f"{prefix}iB": Decimal(1024) ** n for n, prefix in enumerate("KMGT", 1)},
}
ENERGY = {
    "mJ": Decimal("1e-3"), "J": Decimal(1), "kJ": Decimal(1000), "MJ": Decimal("1e6"),
    "Wh": Decimal(3600), "kWh": Decimal("3.6e6"),
}  # fmt: skip
MASS = {"mg": Decimal("1e-6"), "g": Decimal("1e-3"), "kg": Decimal(1)}


def _units_with(unit: str) -> Mapping[str, Decimal]:
    """Return the sizes of all units that measure the same; one that is not known is alone."""
    known = (units for units in (TIME, BYTES, ENERGY, MASS) if unit in units)
    return next(known, {unit: Decimal(1)})


def write_amount(value: float, unit: str, factor: int = 1) -> str:
    """Write a number and its unit, to be read exactly; `factor`, a power of ten, converts it.

    >>> write_amount(0.426, "ms", factor=1000)
    '426 ms'
    """
    number = Decimal(repr(value)) * factor
    if number.adjusted() not in WRITTEN_OUT:
        text = f"{number.normalize():e}"
    else:
        text = f"{number:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} {unit}" if unit else text


@dataclass(frozen=True)
class Node:
    """A place in a document; readers return None for nothing, and refuse what is not their kind."""

    source: str  # whose document it is
    value: Any  # None for nothing
    path: str = ""  # the keys that lead there

    def at(self, path: str) -> Node:
        """Go on by some keys, as in ``"runtime: start time"``."""
        node = self
        for key in path.split(": "):
            if node.value is not None and not isinstance(node.value, Mapping):
                raise node.problem("not a mapping")
            value = None if node.value is None else node.value.get(key)
            node = Node(self.source, value, f"{node.path}: {key}" if node.path else key)
        return node

    def problem(self, what: str) -> InputError:
        """Return the error that says what is wrong here."""
        return refuse(self.source, self.path, f"is {shown(self.value)}, {what}", self.value)

    def text(self) -> str | None:
        """Return a text; whole numbers and dates are what other readers make of some."""
        value = self.value
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.problem("which is no text")
        return None if value is None else str(value)

    def number(self) -> float | None:
        """Return a number without a unit."""
        value = self.value
        if self._is_nothing():
            return None
        if isinstance(value, str):
            if not self._is_bare():
                raise self.problem("which is no number")
            value = float(value)
        return read_quantity(self.source, self.path, value)

    def count(self, least: int = 0) -> int | None:
        """Return a whole number that is not too small."""
        return check_count(self.source, self.path, self.number(), least)

    def amount(self, unit: str, bare: str | None = None) -> float | None:
        """Return a number in a unit; `bare` is the one that is meant where none is written."""
        if self._is_nothing():
            return None
        units = _units_with(unit)
        if bare is not None and self._is_bare():
            number, written = repr(self.number()), bare
        else:
            number, written = self._split()
        if written.strip() not in units:
            raise self.problem(f"whose unit is not {join_words(list(units), 'or')}")
        return self._scaled(number, units[written.strip()] / units[unit])

    def priced(self) -> tuple[float | None, str | None]:
        """Return an amount of money and its currency, which may be any text, or not be said."""
        if self._is_nothing():
            return None, None
        if self._is_bare():
            return self.number(), None
        number, currency = self._split()
        return self._scaled(number, Decimal(1)), currency

    def bounds(self, unit: str) -> tuple[float, float]:
        """Return the two amounts of a list, as `amount` does."""
        value = self.value
        if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
            low, high = (Node(self.source, each, self.path).amount(unit) for each in value)
            if low is not None and high is not None:
                return low, high
        raise self.problem("not two bounds")

    def energy(self, *paths: str) -> float | None:
        """Return the sum of the energies that could be measured, in J; None if there are none."""
        known = only_known({path: self.at(path).amount("J", bare="J") for path in paths})
        return sum(known.values()) if known else None

    def fields(self, table: Table) -> dict[str, Any]:
        """Return the fields that are known."""
        return only_known({name: form.read(self.at(keys)) for name, (keys, form) in table.items()})

    def _is_nothing(self) -> bool:
        value = self.value
        return value is None or (isinstance(value, str) and NOTHING.fullmatch(value) is not None)

    def _is_bare(self) -> bool:
        """Tell whether no unit is written."""
        value = self.value
        return not isinstance(value, str) or re.fullmatch(DECIMAL, value.strip()) is not None

    def _split(self) -> tuple[str, str]:
        """Return a number and its unit."""
        found = AMOUNT.fullmatch(self.value) if isinstance(self.value, str) else None
        if found is None:
            raise self.problem("which is no number with a unit")
        if not (found[2] or "").strip():
            raise self.problem("which has no unit")
        return found[1], found[2]

    def _scaled(self, number: str, factor: Decimal) -> float:
        try:
            value = float(Decimal(number) * factor)
        except ArithmeticError:  # more digits in the exponent than there are
            raise self.problem("which is not finite") from None
        return read_quantity(self.source, self.path, value)


class Form(NamedTuple):
    """How a field is read, None for nothing, and how it is written."""

    read: Callable[[Node], Any]
    write: Callable[[Any], Any] = lambda value: value


Table = Mapping[str, tuple[str, Form]]  # field to the keys that lead to it, and its form


def amounts(unit: str, written: str | None = None, bare: str | None = None) -> Form:
    """Return the form of numbers in a unit, `written` in a smaller one; `bare` as `Node.amount`."""
    units, written = _units_with(unit), written or unit
    factor = int(units[unit] / units[written])
    return Form(
        lambda node: node.amount(unit, bare), lambda value: write_amount(value, written, factor)
    )


TEXT, NUMBER = Form(Node.text), Form(Node.number, float)
COUNT, FROM_1 = Form(Node.count), Form(partial(Node.count, least=1))


def write_fields(values: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """Return a document of the fields that are known."""
    document: dict[str, Any] = {}
    for name, (keys, form) in table.items():
        if name in values:
            *groups, last = keys.split(": ")
            place = document
            for group in groups:
                place = place.setdefault(group, {})
            place[last] = form.write(values[name])
    return document
