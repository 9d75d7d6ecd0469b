"""Series and frames of pandas whose rows have labels, which is not imported for it."""

from __future__ import annotations

from typing import Any

from irbatch.errors import InputError, kind_of, shown


def pair_series(one: Any, other: Any, *, sliced: bool = False) -> tuple[Any, Any]:
    """Return two series, unless both are indexed by 0, 1, …, as mappings of their labels to rows.

    What is no two series comes back as it is; and so do, if they may be `sliced` from a longer
    one, those with the same whole numbers as an index.

    Raises:
        InputError: if a label comes twice.
    """
    if not (is_series(one) and is_series(other)) or (_is_plain(one) and _is_plain(other)):
        return one, other
    if sliced and one.index.dtype.kind == "i" and one.index.equals(other.index):
        return one, other
    return rows_by_label(one), rows_by_label(other)


def is_series(given: Any) -> bool:
    """Tell a series of pandas."""
    return hasattr(given, "iloc") and getattr(given, "ndim", 0) == 1 and hasattr(given, "index")


def rows_by_label(given: Any) -> dict[Any, Any]:
    """Return the rows of a series or a frame by the labels of its index.

    Raises:
        InputError: if a label comes twice.
    """
    labels = given.index.tolist()
    found = dict(zip(labels, given.tolist() if given.ndim == 1 else given.to_numpy(), strict=True))
    if len(found) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"label {shown(twice)} of {kind_of(given)} comes twice")
    return found


def by_label(given: Any) -> Any:
    """Return a series or a frame that is indexed by ids as a mapping of these to its rows.

    Anything else comes back as it is, and so does what is indexed by 0, 1, ….

    Raises:
        InputError: if a label comes twice.
    """
    framed = hasattr(given, "iloc") and hasattr(given, "index")
    return given if not framed or _is_plain(given) else rows_by_label(given)


def _is_plain(given: Any) -> bool:
    """Tell whether the index is 0, 1, …."""
    return bool(given.index.tolist() == list(range(len(given))))
