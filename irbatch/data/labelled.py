"""Series and frames of pandas whose rows have labels, which is not imported for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from irbatch.errors import InputError, kind_of, shown


def pair_series(one: Any, other: Any, *, sliced: bool = False) -> tuple[Any, Any]:
    """Return two series, unless both are indexed by 0, 1, …, as mappings of their labels to rows.

    What is no two series comes back as it is; and so do, if they may be `sliced` from a longer
    one, those with the same whole numbers as an index.

    Raises:
        InputError: if a label comes twice, or one alone is a series with labels.
    """
    if not (is_series(one) and is_series(other)):
        return _unlabelled(one, other, sliced=sliced), _unlabelled(other, one, sliced=sliced)
    if _is_plain(one) and _is_plain(other):
        return one, other
    if sliced and one.index.dtype.kind == "i" and one.index.equals(other.index):
        return one, other
    return rows_by_label(one), rows_by_label(other)


def _unlabelled(one: Any, other: Any, *, sliced: bool) -> Any:
    """Return one of two that are not both series; refuse labels that pair with nothing."""
    if not is_series(one) or isinstance(other, Mapping) or _is_plain(one):
        return one
    if sliced and one.index.dtype.kind == "i":
        return one.tolist()
    problem = (
        f"{kind_of(one)} has labels such as {shown(one.index.tolist()[0])}, and {kind_of(other)} "
        "has none to pair with: give two series or mappings, or its .tolist() where they stand in "
        "the same order"
    )
    raise InputError(problem)


def is_series(given: Any) -> bool:
    """Tell a series of pandas."""
    return hasattr(given, "iloc") and getattr(given, "ndim", 0) == 1 and hasattr(given, "index")


def check_same_labels(scores: Any, relevance: Any) -> None:
    """Refuse two frames of pandas whose rows or columns have other labels, or in another order.

    Labels that are 0, 1, … of one frame say nothing of the other's, unless those are the same ones
    in another order.

    Raises:
        InputError: naming the first label that differs.
    """
    if not (_is_frame(scores) and _is_frame(relevance)) or scores.shape != relevance.shape:
        return
    for axis, what in enumerate(("row", "column")):
        ours, others = scores.axes[axis], relevance.axes[axis]
        if ours.equals(others):
            continue
        ours, others = ours.tolist(), others.tolist()
        positions = list(range(len(ours)))
        same = Counter(ours) == Counter(others)
        if ours == others or (positions in (ours, others) and not same):
            continue
        pairs = enumerate(zip(ours, others, strict=True))
        place, (one, other) = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
        problem = (
            f"{what} {place} is {shown(other)}, that of the scores {shown(one)}: give them in the "
            "order of the scores, such as .reindex_like(scores), or as arrays"
        )
        raise InputError(problem, source="relevance", value=other)


def ids_of_rows(given: Any) -> list[Any] | None:
    """Return the labels of a frame's rows if they are ids; None if not, or if they are 0, 1, …."""
    if not _is_frame(given) or given.index.nlevels > 1 or _is_plain(given):
        return None
    labels = given.index.tolist()
    ids = given.index.is_unique and all(type(each) in (int, str) for each in labels)
    return labels if ids and len({*map(type, labels)}) == 1 else None


def _is_frame(given: Any) -> bool:
    return hasattr(given, "iloc") and getattr(given, "ndim", 0) == 2 and hasattr(given, "axes")


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
