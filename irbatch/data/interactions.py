"""Who had what, and how often each item was had: read from whatever it comes as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.column_names import POPULARITIES
from irbatch.data.from_columns import as_ids
from irbatch.data.from_sparse import read_sparse
from irbatch.data.from_table import names_of_columns, read_named
from irbatch.data.labelled import by_label, is_series, rows_by_label
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.data.text_column import IdColumn
from irbatch.errors import ErrorsIn, InputError, kind_of
from irbatch.runtime.numbers import is_real, is_whole

SOURCE = "items"  # what errors call all that is said of items


class Interactions(NamedTuple):
    """Who had what: `of_user` and `items`, one an interaction."""

    users: list[Any]
    of_user: Ints  # places among the users
    items: IdColumn
    columns: int | None = None  # of a matrix, which is how many items there are

    @property
    def catalogue(self) -> Any:
        """The items there are, where it is not said which."""
        return self.columns or list(dict.fromkeys(self.items.tolist()))


def read_interactions(given: Any, items: Any = None) -> Interactions:
    """Return who had what, see `irbatch.ItemStatistics`; `items` are ids of a matrix's columns."""
    if is_series(given):
        given = rows_by_label(given)
    if isinstance(given, Qrels | Run):
        given = given.to_dict()
    if isinstance(given, Mapping):
        return _read_mapping(given)
    if hasattr(given, "tocsr"):
        return _read_matrix(given, items)
    columns = read_named(given, "interactions", {}, "")
    users, listed = as_ids(columns[0], "user", SOURCE), as_ids(columns[1], "item", SOURCE)
    if len(users) != len(listed):
        problem = f"columns differ in length: {len(users)} users, {len(listed)} items"
        raise InputError(problem, source=SOURCE)
    places: dict[Any, int] = {}
    of_user = [places.setdefault(each, len(places)) for each in users.tolist()]
    return Interactions(list(places), np.array(of_user, np.int64), listed)


def read_popularity(given: Any) -> Any:
    """Return how often each item was had: a mapping of ids, or what is in the order of items.

    Raises:
        InputError: if a table has neither counts nor users.
    """
    if is_series(given):
        return by_label(given)
    if isinstance(given, Mapping) or not _is_table(given):
        return given
    if not set(names_of_columns(given, "popularity")) & {*POPULARITIES}:
        return Counter(read_interactions(given).items.tolist())
    ids, counts = read_named(given, "popularity", {}, "")
    items = as_ids(ids, "item", SOURCE).tolist()
    if len(set(items)) < len(items):
        twice = Counter(items).most_common(1)[0][0]
        raise InputError("this item has two popularities", source=SOURCE, document=twice)
    return dict(zip(items, counts, strict=True))


def _is_table(given: Any) -> bool:
    """Tell a table of columns from an array or a series."""
    named = hasattr(given, "columns") or hasattr(given, "column_names")
    return named or getattr(getattr(given, "dtype", None), "names", None) is not None


def _read_mapping(given: Mapping[Any, Any]) -> Interactions:
    sizes: list[int] = []
    listed: list[Any] = []
    for user, some in given.items():
        if isinstance(some, Mapping):  # of a grade of 0 or less there was nothing
            some = [item for item, grade in some.items() if not _is_nothing(grade)]
        if isinstance(some, str | bytes) or not isinstance(some, Iterable):
            problem = f"interactions are user to items, not to {kind_of(some)}"
            raise InputError(problem, source=SOURCE, query=user, value=some)
        before = len(listed)
        listed += some
        sizes.append(len(listed) - before)
    of_user = np.repeat(np.arange(len(sizes)), sizes)
    return Interactions(list(given), of_user, as_ids(listed, "item", SOURCE))


def _read_matrix(matrix: Any, items: Any) -> Interactions:
    """Read users by items; what is 0 or less was not had."""
    ids = None if items is None or is_whole(items) else items
    with ErrorsIn(source=SOURCE):
        table = read_sparse(matrix, "qrels", None, ids, with_empty=True)
    had = table.numbers > 0
    of_user = np.repeat(np.arange(len(table)), table.ends - table.begins)[had]
    found = list(table), of_user, table.documents.take(np.flatnonzero(had))
    return Interactions(*found, matrix.shape[1] if items is None else None)


def _is_nothing(grade: object) -> bool:
    return is_real(grade) and float(grade) <= 0
