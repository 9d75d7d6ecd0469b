"""What is known of items: the catalogue, who had them, how similar they are, what they cost."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, NDArray
from irbatch.data.columns import QueryTable, as_ids, check_numbers, read_sparse
from irbatch.data.frames import by_label, is_series, read_roles
from irbatch.data.groups import Groups
from irbatch.data.id_lists import read_lists
from irbatch.data.ids import IdColumn, TextColumn, check_alike, item_of
from irbatch.data.lookup import IdLookup, first_rows, number_ids, order_groups
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.items import OUTSIDE, Histories, ItemArrays, Vectors
from irbatch.errors import InputError, many, shown
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import check_choice, check_number, is_whole
from irbatch.runtime.ragged import offsets_of

SOURCE = "items"  # what errors call all that is said of items


# ---------------------------------------------------------------- numbers by id


def read_by_id(
    name: str, numbers: Any, source: str, limits: Mapping[str, float], id_at: Any = int
) -> tuple[list[Any] | None, Floats]:
    """Read a number of each id: the ids, None of numbers in an order, and float64 ``(ids,)``.

    Ids come with a mapping, or a series or a frame of pandas that is indexed by them; or `id_at`
    returns that of a place in the order. `limits` are those of `runtime.numbers.missed_limit`.
    """
    numbers = by_label(numbers)
    ids = list(numbers) if isinstance(numbers, Mapping) else None
    values = to_numpy(numbers, source) if ids is None else list(numbers.values())
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            problem = f"{name} is one number for each of the items"
            raise InputError(f"{problem}, not of shape {values.shape}", source=source)
        values = values if values.dtype.kind in "biuf" else values.tolist()
    of_row = id_at if ids is None else ids.__getitem__
    return ids, check_numbers(name, values, lambda row: {"document": of_row(row)}, source, limits)


# ---------------------------------------------------------------- the catalogue


class Items:
    """A catalogue of items, and what is known of them: for measures that read items.

    What is said of items is an array or a sequence in the order of `items`, or a mapping of their
    ids, which a series or a frame of pandas is whose index is not 0, 1, …. Arrays are kept as they
    are, not copied: don't change them later.

    Args:
        items: the ids, text or whole numbers, or how many there are, for ids 0, 1, …; default: the
            keys of `popularity`, or else the items of `interactions`, `groups` or `propensities`.
            Of a score matrix they are the columns.
        popularity: how many interactions each item has had; a mapping may leave out those without
            any. Default: as `interactions` have them.
        interactions: what users have had before: user to items, or to mappings of items to grades,
            above 0 where there was something; `Qrels`; a table with columns such as ``user_id`` and
            ``item_id``; or a sparse matrix of users by items. A user's later interactions with an
            item add to its popularity alone.
        users: how many users there are; default: those of `interactions`.
        embeddings: ``(items, dimensions)``, whose cosine is similarity.
        similarity: ``(items, items)``, any measure of it.
        groups: `Groups`, or what makes them: item to group, or to shares of groups.
        propensities: how likely a relevant item is to be known as relevant, above 0 and at most 1,
            see `irbatch.data.label_propensities`.
        outside: what a document does that is not an item: it is an ``"error"``, or ``"ignore"``: it
            keeps its rank, and is not counted.

    Raises:
        InputError: naming the user, the item and the value of what cannot be one.

    >>> import irbatch
    >>> items = Items(popularity={"a": 5, "b": 2, "c": 1, "d": 0})
    >>> run = {"u1": {"a": 2.0, "b": 1.0}, "u2": {"a": 2.0, "c": 1.0}}
    >>> qrels = {"u1": {"b": 1}, "u2": {"a": 1}}
    >>> names = "RR CatalogueCoverage@2 AvgPopularity@2"
    >>> irbatch.evaluate(qrels, run, names, items=items).mean()
    {'RR': 0.75, 'CatalogueCoverage@2': 0.75, 'AvgPopularity@2': 3.25}
    """

    def __init__(
        self,
        items: Any = None,
        *,
        popularity: Any = None,
        interactions: Any = None,
        users: float | None = None,
        embeddings: Any = None,
        similarity: Any = None,
        groups: Any = None,
        propensities: Any = None,
        outside: str = "error",
    ) -> None:
        check_choice("outside", outside, ("error", "ignore"))
        self.outside, self.source = outside, SOURCE
        is_matrix = hasattr(interactions, "tocsr")
        had = None if interactions is None else read_interactions(interactions)
        if groups is not None and not isinstance(groups, Groups):
            groups = Groups(groups)
        if items is None and is_matrix and popularity is None:
            items = interactions.shape[1]
        elif items is None:
            items = _list_items(popularity, had, groups, propensities)
        self.ids = _read_catalogue(items)
        self._lookup = None if is_whole(items) else IdLookup(self.ids)  # None: ids are places
        for row in [] if self._lookup is None else self._lookup.repeats[0, :1].tolist():
            raise InputError("this item is listed twice", source=SOURCE, document=self.id_at(row))
        if is_matrix and self._lookup is not None and interactions.shape[1] != len(self):
            problem = f"interactions have {interactions.shape[1]} columns for {len(self)} items"
            raise InputError(problem, source=SOURCE)
        if isinstance(self.ids, TextColumn):
            content = "\n".join(self.ids.tolist()).encode(errors="surrogatepass")
        else:
            content = self.ids.astype("<i8").tobytes()
        fingerprint = f"{len(self)} items, {zlib.crc32(content):08x}"
        self.arrays = ItemArrays(len(self), fingerprint=fingerprint)
        if had is not None:
            self._add_interactions(had, are_rows=is_matrix and self._lookup is not None)
        if popularity is not None:
            self.arrays.popularity = self.by_item("popularity", popularity, 0.0, least=0.0)
        if users is not None:
            least = 1.0 if had is None else float(len(had))
            self.arrays.users = check_number("users", users, least=least)
        if embeddings is not None:
            self.arrays.embeddings = _unit_vectors(self.matrix("embeddings", embeddings))
        if similarity is not None:
            self.arrays.similarity = self.matrix("similarity", similarity)
            if (shape := self.arrays.similarity.shape) != (len(self), len(self)):
                problem = f"similarity is (items, items), {len(self)} each, not of {shape}"
                raise InputError(problem, source=SOURCE)
        if groups is not None:
            self.arrays.groups = groups.align(self.ids.tolist())
        if propensities is not None:
            limits = {"above": 0.0, "most": 1.0}
            self.arrays.propensities = self.by_item("propensities", propensities, **limits)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        names = ("popularity", "histories", "embeddings", "similarity", "groups", "propensities")
        present = [name for name in names if getattr(self.arrays, name) is not None]
        return f"<Items: {', '.join([many(len(self), 'item'), *present])}>"

    def id_at(self, row: int) -> Any:
        """Return the id of an item."""
        return item_of(self.ids, row)

    def find(self, ids: IdColumn) -> Ints:
        """Return the item of each document, int64 ``(ids,)``, `OUTSIDE` where it is not an item.

        Raises:
            InputError: if documents' ids are of another kind than the items'.
        """
        if not len(ids) or not len(self):
            return np.full(len(ids), OUTSIDE, np.int64)
        check_alike("item", self.ids, ids, "of documents", source=self.source)
        if self._lookup is not None:
            return self._lookup.find(ids)
        numbers = np.asarray(ids)
        return np.where((numbers >= 0) & (numbers < len(self)), numbers, OUTSIDE)

    def by_item(
        self, name: str, given: Any, missing: float | None = None, **limits: float
    ) -> Floats:
        """Read a number for each item, see `read_by_id`: float64 ``(items,)``.

        `missing` is the number of items that a mapping lacks; None: each has to have one.
        """
        ids, numbers = read_by_id(name, given, SOURCE, limits, self.id_at)
        if ids is None and numbers.size != len(self):
            problem = f"{name} is one number for each of {len(self)} items, not {numbers.size}"
            raise InputError(problem, source=SOURCE)
        return numbers if ids is None else self._in_order(name, ids, numbers, missing)

    def matrix(self, name: str, given: Any) -> Floats:
        """Read numbers of each item, float64 ``(items, n)``: an array, or a mapping of ids."""
        labelled = by_label(given)
        if isinstance(labelled, Mapping):
            vectors = to_numpy(list(labelled.values()), name)
            labelled = self._in_order(name, list(labelled), vectors)
        table = to_numpy(labelled, name)
        if table.ndim != 2 or len(table) != len(self) or table.dtype.kind not in "biuf":
            problem = f"{name} are numbers, one row for each of {len(self)} items, not"
            raise InputError(f"{problem} {table.dtype} of shape {table.shape}", source=SOURCE)
        table = table.astype(np.float64, copy=False)
        for row in np.flatnonzero(~np.isfinite(table).all(axis=1))[:1].tolist():
            value, item = float(table[row][~np.isfinite(table[row])][0]), self.id_at(row)
            problem = f"{name} have {value}, which is not a finite number"
            raise InputError(problem, source=SOURCE, document=item, value=value)
        return table

    def _in_order(
        self, name: str, ids: list[Any], rows: Any, missing: float | None = None
    ) -> NDArray[Any]:
        """Return the rows of some ids in the order of the items, see `by_item`."""
        column = as_ids(ids, "item", SOURCE)
        places = self.find(column)
        for row in np.flatnonzero(places == OUTSIDE)[:1].tolist():
            problem = f"{name} of an item that is not in the catalogue of {len(self)} items"
            raise InputError(problem, source=SOURCE, document=item_of(column, row))
        if missing is None and len(ids) < len(self):
            item = self.id_at(int(np.setdiff1d(np.arange(len(self)), places)[0]))
            raise InputError(f"{name} of this item are not given", source=SOURCE, document=item)
        in_order = np.full((len(self), *rows.shape[1:]), missing or 0, rows.dtype)
        in_order[places] = rows
        return in_order

    def _add_interactions(self, had: QueryTable, *, are_rows: bool) -> None:
        """Count interactions, and keep who had what; items may be rows of the catalogue already."""
        size, users = max(len(self), 1), len(had)
        rows = np.asarray(had.documents) if are_rows else self.find(had.documents)
        for place in np.flatnonzero(rows == OUTSIDE)[:1].tolist():
            problem = f"the item of an interaction is not in the catalogue of {len(self)} items"
            raise InputError(problem, source=SOURCE, **had.where(place))
        self.arrays.popularity = np.bincount(rows, minlength=len(self)).astype(np.float64)
        self.arrays.users = float(users)
        of_user = had.row_index
        keys = of_user * size + rows
        if (keys[1:] <= keys[:-1]).any():
            of_user, rows = np.divmod(np.unique(keys), size)
        self.arrays.reach = np.bincount(rows, minlength=len(self)).astype(np.float64)
        starts = offsets_of(np.bincount(of_user, minlength=users))
        self.arrays.histories = Histories(had.places, starts, rows)
        self.arrays.cooccurrence = _cooccurrence(of_user, rows, len(self), users)


def _list_items(popularity: Any, had: Any, groups: Groups | None, propensities: Any) -> Any:
    """Return the items of the first of these that is there, or how many it has."""
    if popularity is None and had is not None:
        return had.documents.take(number_ids(had.documents)[1])
    if popularity is None and groups is not None:
        return groups.ids
    numbers = by_label(propensities if popularity is None else popularity)
    if isinstance(numbers, Mapping):
        return list(numbers)
    return None if numbers is None else len(numbers)


def _read_catalogue(items: Any) -> IdColumn:
    if items is None:
        forms = "Items(item_ids), or with popularity= or interactions="
        raise InputError(f"say which items there are: {forms}", source=SOURCE)
    if is_whole(items):
        if items < 0:
            raise InputError(f"items={items} must be 0 or more", source=SOURCE, value=items)
        return np.arange(int(items))
    ids = as_ids(items, "item", SOURCE)
    if not len(ids):
        raise InputError("there are no items", source=SOURCE)
    return ids


def check_items(items: object) -> Items:
    """Return items; reject anything else."""
    if isinstance(items, Items):
        return items
    hint = "Items(popularity=…) or Items(interactions=…)"
    problem = f"items= is irbatch.Items, not {shown(items)}: say {hint}"
    raise InputError(problem, source=SOURCE, value=items)


# ---------------------------------------------------------------- similarity


def _unit_vectors(embeddings: Floats) -> Vectors:
    """Return float64 ``(items, dimensions)`` at length 1; zeros stay zeros."""
    # Divided by the largest first: squares of enormous or tiny numbers would leave float64.
    largest = np.abs(embeddings).max(axis=1, initial=0.0, keepdims=True)
    scaled = embeddings / np.where(largest == 0, 1.0, largest)
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    numbers = scaled / np.where(lengths == 0, 1.0, lengths)
    width = embeddings.shape[1]
    starts = np.arange(len(embeddings) + 1) * width
    squares = (numbers * numbers).sum(axis=1)
    return Vectors(starts, np.empty(0, np.int64), numbers.reshape(-1), width, squares)


def _cooccurrence(users: Ints, items: Ints, n_items: int, n_users: int) -> Vectors:
    """Return each item's users as a vector of length 1: cosines are n_ij / sqrt(n_i n_j)."""
    sizes = np.bincount(items, minlength=n_items)
    starts = offsets_of(sizes)
    number = 1.0 / np.sqrt(np.maximum(sizes, 1))
    # As the kernel adds up: of the same terms, so that a list of one item is like no other.
    squares = np.bincount(items, (number * number)[items], n_items).astype(np.float64)
    numbers = np.repeat(number, sizes)
    return Vectors(starts, users[order_groups(items, starts)], numbers, n_users, squares)


# ---------------------------------------------------------------- interactions


def read_interactions(interactions: Any, users: IdColumn | None = None) -> QueryTable:
    """Return who had what, see `Items`, a user after the other, and an item as often as it was had.

    Users and items of a matrix are its rows' and columns' numbers. With `users`, a sequence of
    lists has one for each of these.
    """
    interactions = by_label(interactions) if is_series(interactions) else interactions
    if isinstance(interactions, Qrels | Run):
        had = interactions.as_table()
    elif hasattr(interactions, "tocsr"):
        had = read_sparse(interactions, "qrels")
    elif users is not None and isinstance(interactions, Sequence | np.ndarray):
        if len(interactions) != len(users):
            problem = f"{many(len(interactions), 'list')} for {many(len(users), 'query')}"
            raise InputError(problem, source=SOURCE)
        had = read_lists(interactions, users, SOURCE)
    elif isinstance(interactions, Mapping):
        had = read_lists(interactions, as_ids(list(interactions), "user", SOURCE), SOURCE)
    else:
        columns, _ = read_roles(interactions, "interactions", {})
        user_ids, items = (as_ids(column, "item", SOURCE) for column in columns)
        firsts, ones = first_rows(user_ids), np.ones(len(items))
        return QueryTable.from_runs(user_ids.take(firsts), firsts, items, ones)
    return had if (had.numbers > 0).all() else had.without(np.flatnonzero(had.numbers <= 0))


def read_seen(interactions: Any, queries: IdColumn | None = None) -> QueryTable:
    """Return what users have had, each once, see `irbatch.evaluate`.

    With `queries` there may be a list for each of these, in their order.
    """
    try:
        return read_interactions(interactions, queries).merged("first")
    except InputError as problem:
        raise problem.with_fields(source="exclude") from problem.__cause__


# ---------------------------------------------------------------- propensities


def label_propensities(frequencies: Any, instances: float, a: float = 0.55, b: float = 1.5) -> Any:
    """Return each label's propensity: 1 / (1 + C (n + b)^-a), C = (ln instances - 1) (b + 1)^a.

    Args:
        frequencies: how many of the training instances have each label, n: a mapping of ids to
            numbers, which a series indexed by ids is, too, or numbers ``(labels,)``.
        instances: how many training instances there are, 3 or more.
        a, b: as fits the data. The authors have a 0.5, b 0.4 for Wikipedia and 0.6, 2.6 for
            Amazon; the defaults are theirs for anything else.

    Returns:
        The propensities, above 0 and at most 1: a mapping of the same ids, or float64
        ``(labels,)``.

    Raises:
        InputError: if a frequency is negative or not a number, or another number is out of range.

    Source: Jain, Prabhu & Varma 2016.

    >>> label_propensities({"common": 250, "rare": 1}, instances=610)
    {'common': 0.6999890020082942, 'rare': 0.15592210173613888}
    """
    size = check_number("instances", instances, least=3.0)
    a, b = check_number("a", a, least=0.0), check_number("b", b, above=0.0)
    scale = (math.log(size) - 1.0) * (b + 1.0) ** a
    ids, n = read_by_id("frequency", frequencies, "frequencies", {"least": 0.0, "most": size})
    return _of_ids(ids, 1.0 / (1.0 + scale * (n + b) ** -a))


def popularity_propensities(frequencies: Any, gamma: float = 2.0) -> Any:
    """Return each item's propensity by popularity: (n / the largest n)^((gamma + 1) / 2).

    Args:
        frequencies: how often each item was interacted with, n, above 0, as in
            `label_propensities`.
        gamma: how much more popular items are shown than they are liked, 0 or more; the authors
            look at 1.5 to 3.

    Returns, raises: as `label_propensities`.

    Source: Yang et al. 2018, whose propensities are these up to a factor, which SNIPS doesn't see.

    >>> popularity_propensities({"a": 100, "b": 25}, gamma=2)
    {'a': 1.0, 'b': 0.125}
    """
    power = (check_number("gamma", gamma, least=0.0) + 1.0) / 2.0
    ids, n = read_by_id("frequency", frequencies, "frequencies", {"above": 0.0})
    return _of_ids(ids, (n / n.max(initial=0.0)) ** power)


def _of_ids(ids: list[Any] | None, numbers: Floats) -> dict[Any, float] | Floats:
    """Return numbers as those came in that they are made of, see `read_by_id`."""
    return numbers if ids is None else dict(zip(ids, numbers.tolist(), strict=True))


# ---------------------------------------------------------------- costs


class DocumentCosts:
    """What documents cost those who look at them: seconds, characters, or any other unit.

    Args:
        costs: document to cost, a number above 0.
        highest: the cost of documents that have none and, as rankings go on to ``max_n``, of what
            is past their ends; default: the highest there is.
        lowest: what these cost at best, of which residuals take account; default: the lowest.

    Raises:
        InputError: naming the document whose cost is not a number above 0.

    >>> import irbatch
    >>> costs = irbatch.data.DocumentCosts({"d1": 1, "d2": 2})
    >>> qrels, run = {"q": {"d1": 1}}, {"q": {"d2": 2.0, "d1": 1.0}}
    >>> irbatch.evaluate(qrels, run, "BPM(number={ETU,ETC})", costs=costs).mean()
    {'BPM(number=ETU)': 1.0, 'BPM(number=ETC)': 3.0}
    """

    def __init__(
        self,
        costs: Mapping[Any, float],
        *,
        lowest: float | None = None,
        highest: float | None = None,
    ) -> None:
        if not isinstance(costs, Mapping) or not costs:
            problem = f"costs are a mapping of documents to numbers above 0, not {shown(costs)}"
            raise InputError(problem, source="costs", value=costs)
        ids, numbers = read_by_id("cost", costs, "costs", {"above": 0.0})
        least, most = float(numbers.min()), float(numbers.max())
        self.lowest = least if lowest is None else check_number("lowest", lowest, above=0.0)
        self.highest = most if highest is None else check_number("highest", highest, above=0.0)
        if self.lowest > self.highest:
            problem = f"lowest={self.lowest:g} is above the highest cost, {self.highest:g}"
            raise InputError(problem, source="costs", value=self.lowest)
        self.documents = Items(ids, outside="ignore")
        self.documents.source = "costs"
        # One more than documents: NaN, of those that have none.
        self._costs: Floats = np.append(numbers, np.nan)

    def __repr__(self) -> str:
        return f"<DocumentCosts: {many(len(self.documents), 'document')}>"

    @property
    def fingerprint(self) -> str:
        """What results say of them."""
        others = f"{self.lowest:g} to {self.highest:g}"
        return f"of {len(self.documents)} documents; {others} of others"

    def of_items(self, rows: Any) -> Floats:
        """Return the costs of items, NaN of those below 0: float64, shaped as they."""
        return self._costs[np.maximum(rows, -1)]
