"""Numbers with units as text, and where in a document they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from irbatch.efficiency.checks import check_count, check_quantity, refuse
from irbatch.errors import join_words, shown
from irbatch.runtime.numbers import DECIMAL

__all__ = ["BYTES", "ENERGY", "MASS", "TIME", "Node", "only", "write_amount"]

Units = Mapping[str, Decimal]

AMOUNT = re.compile(rf"({DECIMAL})(?: (.*))?", re.DOTALL)
NOTHING = re.compile(r"null( .*)?", re.DOTALL)  # what tools write for what they could not measure
SHORT = range(-6, 17)  # exponents of ten that are written out

TIME = {
    "ns": Decimal("1e-9"), "us": Decimal("1e-6"), "µs": Decimal("1e-6"), "ms": Decimal("1e-3"),
    "s": Decimal(1), "min": Decimal(60), "h": Decimal(3600),
}  # fmt: skip
BYTES = {
    "B": Decimal(1),
    **{f"{p}B": Decimal(1000) ** n for n, p in enumerate("KMGT", 1)},
    "kB": Decimal(1000),
    **{f"{p}iB": Decimal(1024) ** n for n, p in enumerate("KMGT", 1)},
}
ENERGY = {
    "mJ": Decimal("1e-3"), "J": Decimal(1), "kJ": Decimal(1000), "MJ": Decimal("1e6"),
    "Wh": Decimal(3600), "kWh": Decimal("3.6e6"),
}  # fmt: skip
MASS = {"mg": Decimal("1e-6"), "g": Decimal("1e-3"), "kg": Decimal(1)}


def only(unit: str) -> Units:
    """Return units of which there is one."""
    return {unit: Decimal(1)}


def write_amount(value: float, unit: str, shift: int = 0) -> str:
    """Write a number and its unit so that the same number is read from it.

    Args:
        value: the number.
        unit: what it is written in.
        shift: how many powers of ten that unit is smaller than the number's own.

    >>> write_amount(0.426, "ms", shift=3)
    '426 ms'
    """
    number = Decimal(repr(value)).scaleb(shift)
    if number.adjusted() not in SHORT:
        return f"{number.normalize():e} {unit}"
    text = f"{number:f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


@dataclass(frozen=True)
class Node:
    """A place in a document, and what stands there.

    Args:
        source: whose document it is, for errors.
        value: what stands there; None for nothing.
        path: the keys that lead there.
    """

    source: str
    value: Any
    path: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> Node:
        """Go to what a mapping has under a key.

        Raises:
            InputError: for what is no mapping.
        """
        if self.value is not None and not isinstance(self.value, Mapping):
            raise self.problem("not a mapping")
        value = None if self.value is None else self.value.get(key)
        return Node(self.source, value, (*self.path, key))

    def problem(self, what: str) -> Exception:
        """Return the error that says what is wrong here."""
        return refuse(self.source, ": ".join(self.path), f"is {shown(self.value)}, {what}",
                      self.value)  # fmt: skip

    def text(self) -> str | None:
        """Return a text.

        Raises:
            InputError: for what is none, or empty.
        """
        value = self.value
        if isinstance(value, datetime):  # which YAML's own readers make of texts
            return value.isoformat()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.problem("which is no text")
        return None if value is None else str(value)

    def number(self) -> float | None:
        """Return a number without a unit.

        Raises:
            InputError: for what is none, negative or not finite.
        """
        if self._is_nothing():
            return None
        if isinstance(self.value, str):
            found = re.fullmatch(DECIMAL, self.value.strip())
            if found is None:
                raise self.problem("which is no number")
            return self._checked(float(found[0]))
        return self._checked(self.value)

    def count(self, least: int = 0) -> int | None:
        """Return a whole number.

        Raises:
            InputError: for what is none, or too small.
        """
        number = self.number()
        return check_count(self.source, ": ".join(self.path), number, least)

    def amount(self, units: Units, unit: str, bare: str | None = None) -> float | None:
        """Return a number, in a unit.

        Args:
            units: those that may be written, and their sizes.
            unit: the one to return it in.
            bare: the one that is meant where none is written.

        Raises:
            InputError: for what is no number with one of the units, negative or not finite.
        """
        if self._is_nothing():
            return None
        size = units[unit]
        if bare is not None and (number := self._bare()) is not None:
            return self._scaled(repr(number), units[bare] / size)
        found = self._split()
        written = found[1].strip()
        if written not in units:
            raise self.problem(f"whose unit is not {join_words(list(units), 'or')}")
        return self._scaled(found[0], units[written] / size)

    def priced(self) -> tuple[float | None, str | None]:
        """Return an amount of money and its currency, which may be any text.

        Raises:
            InputError: as `amount`.
        """
        if self._is_nothing():
            return None, None
        number, currency = self._split()
        return self._scaled(number, Decimal(1)), currency

    def bounds(self, units: Units, unit: str) -> tuple[float, float]:
        """Return two amounts, as `amount` does.

        Raises:
            InputError: for anything but a list of two, and as `amount`.
        """
        value = self.value
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise self.problem("not two bounds")
        ends = [Node(self.source, each, self.path).amount(units, unit) for each in value]
        if ends[0] is None or ends[1] is None:
            raise self.problem("not two bounds")
        return ends[0], ends[1]

    def _is_nothing(self) -> bool:
        value = self.value
        return value is None or (isinstance(value, str) and NOTHING.fullmatch(value) is not None)

    def _bare(self) -> float | None:
        """Return the number of what has no unit; None for what has one."""
        if isinstance(self.value, str) and not re.fullmatch(DECIMAL, self.value.strip()):
            return None
        return self.number()

    def _split(self) -> tuple[str, str]:
        """Return the two parts of a number with a unit."""
        found = AMOUNT.fullmatch(self.value) if isinstance(self.value, str) else None
        if found is None:
            raise self.problem("which is no number with a unit")
        if not (found[2] or "").strip():
            raise self.problem("which has no unit")
        return found[1], found[2]

    def _scaled(self, number: str, factor: Decimal) -> float:
        try:
            return self._checked(float(Decimal(number) * factor))
        except ArithmeticError:  # more digits in the exponent than there are
            raise self.problem("which is not finite") from None

    def _checked(self, value: Any) -> float:
        number = check_quantity(self.source, ": ".join(self.path), value)
        if number is None:
            raise self.problem("which is no number")
        return number
