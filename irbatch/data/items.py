"""What is known of the items that are recommended: the catalogue, and what measures read of it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.about_items import (
    LIMITS,
    SOURCE,
    Interactions,
    are_by_query,
    as_groups,
    cooccurrence_of,
    propensity_ids,
    read_by_id,
    read_by_query,
    read_interactions,
    read_popularity,
    unit_vectors,
)
from irbatch.data.columns import as_ids
from irbatch.data.frames import by_label
from irbatch.data.ids import KINDS, IdColumn, TextColumn, first_repeated
from irbatch.data.lookup import IdLookup
from irbatch.engine.items import OUTSIDE, Histories, Items, Propensities
from irbatch.errors import ErrorsIn, InputError, many, shown
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import check_choice, check_number, is_whole
from irbatch.runtime.ragged import offsets_of


class ItemStatistics:
    """A catalogue of items, and what is known of them: for measures that read items.

    What is said of items is an array or a sequence in the order of `items`, or a mapping of their
    ids, which a series or a frame of pandas is whose index is not 0, 1, …. Arrays are kept as they
    are, not copied: don't change them later.

    Args:
        items: the ids, text or whole numbers, or how many there are, for ids 0, 1, …; default: the
            keys of `popularity`, or else the items of `interactions`, `groups` or `propensities`.
            Of a score matrix they are the columns.
        popularity: how many interactions each item has had; a mapping may leave out those without
            any. Also a table with columns such as ``item_id`` and ``count``, or a table of
            interactions, whose rows are counted. Default: as `interactions` have them.
        interactions: what users have had before: user to items, `Qrels`, a mapping of mappings,
            a table with columns such as ``user_id`` and ``item_id``, or a sparse matrix of users by
            items. A user's later interactions with an item add to its popularity alone.
        users: how many users there are; default: those of `interactions`.
        embeddings: ``(items, dimensions)``, whose cosine is similarity.
        similarity: ``(items, items)``, any measure of it.
        groups: `Groups`, or what makes them: item to group, or to shares of groups.
        propensities: how likely a relevant item is to be known as relevant, above 0 and at most 1,
            see `irbatch.data.label_propensities`; or query to item to that, as of clicks, which
            depend on where an item was shown.
        outside: what a document that is no item does: it is an ``"error"``, or ``"ignore"``: it
            keeps its rank, and is not counted.

    Raises:
        InputError: naming the user, the item and the value of what cannot be one.

    >>> import irbatch
    >>> items = ItemStatistics(popularity={"a": 5, "b": 2, "c": 1, "d": 0})
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
        self.outside = outside
        known = None if interactions is None else read_interactions(interactions, items)
        popularity = None if popularity is None else read_popularity(popularity)
        if items is None and popularity is not None:
            items = list(popularity) if isinstance(popularity, Mapping) else len(popularity)
        if items is None and known is not None:
            items = known.catalogue
        if groups is not None:
            groups = as_groups(groups)
            items = groups.ids if items is None else items
        if items is None and isinstance(propensities, Mapping):
            items = propensity_ids(propensities)
        self.ids = _read_catalogue(items)
        self._lookup: IdLookup | None = None
        self.arrays = Items(len(self), fingerprint=f"{len(self)} items, {_checksum(self.ids):08x}")
        if known is not None:
            self._add_interactions(known)
        if popularity is not None:
            self.arrays.popularity = self.by_item("popularity", popularity, 0.0, least=0.0)
        if users is not None:
            self.arrays.users = check_number("users", users, least=1.0)
        if embeddings is not None:
            self.arrays.embeddings = unit_vectors(self.matrix("embeddings", embeddings))
        if similarity is not None:
            found = self.matrix("similarity", similarity)
            if found.shape != (len(self), len(self)):
                problem = f"similarity is (items, items), {len(self)} each, not of {found.shape}"
                raise InputError(problem, source=SOURCE)
            self.arrays.similarity = found
        if groups is not None:
            self.arrays.groups = groups.align(self.ids.tolist())
        if are_by_query(propensities):
            read = self._rows_of, self.id_at
            self.arrays.propensities = read_by_query(propensities, len(self), *read)
        elif propensities is not None:
            of_items = self.by_item("propensities", propensities, **LIMITS)
            self.arrays.propensities = Propensities(of_items)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        names = ("popularity", "histories", "embeddings", "similarity", "groups", "propensities")
        known = [name for name in names if getattr(self.arrays, name) is not None]
        return f"<ItemStatistics: {', '.join([many(len(self), 'item'), *known])}>"

    def id_at(self, row: int) -> Any:
        """Return the id of an item."""
        if isinstance(self.ids, TextColumn):
            return self.ids.take(slice(row, row + 1)).tolist()[0]
        return int(self.ids[row])

    @property
    def kind(self) -> str:
        """What ids are, ``"str"`` or ``"int"``."""
        return "str" if isinstance(self.ids, TextColumn) else "int"

    def find(self, ids: IdColumn) -> Ints:
        """Return the item of each document, int64 ``(ids,)``, `OUTSIDE` where it is not an item.

        Raises:
            InputError: if documents' ids are of another kind than the items'.
        """
        if not len(ids) or not len(self):
            return np.full(len(ids), OUTSIDE, np.int64)
        theirs = "str" if isinstance(ids, TextColumn) else "int"
        if theirs != self.kind:
            one = ids.take(np.zeros(1, np.intp)).tolist()[0]
            here = f"ids are {KINDS[self.kind]}, such as {self.id_at(0)!r}"
            problem = f"{here}, and those of documents {KINDS[theirs]}, such as {one!r}"
            raise InputError(problem, source=SOURCE)
        if self._lookup is None:
            self._lookup = IdLookup(self.ids)
        return self._lookup.find(ids)

    def by_item(
        self, name: str, given: Any, missing: float | None = None, **limits: float
    ) -> Floats:
        """Read a number for each item: float64 ``(items,)``.

        Args:
            name: the argument's.
            given: a sequence, or a mapping of ids to numbers.
            missing: the number of items that a mapping lacks; None: each has to have one.
            limits: as `irbatch.runtime.numbers.check_number` takes them.
        """
        given = by_label(given)
        if isinstance(given, Mapping):
            rows = self._rows_of(name, list(given))
            numbers = read_by_id(name, given.values(), list(given).__getitem__, SOURCE, limits)
            found = np.full(len(self), math.nan if missing is None else missing)
            found[rows] = numbers
            if (lacking := np.isnan(found)).any():
                item = self.id_at(int(np.argmax(lacking)))
                raise InputError(f"{name} is not given", source=SOURCE, document=item)
        else:
            found = to_numpy(given, name)
            if found.shape != (len(self),):
                problem = f"{name} is one number for each of {len(self)} items"
                raise InputError(f"{problem}, not of shape {found.shape}", source=SOURCE)
            found = read_by_id(name, found, self.id_at, SOURCE, limits)
        return found

    def matrix(self, name: str, given: Any) -> Floats:
        """Read numbers of each item, float64 ``(items, n)``: an array, or a mapping of ids."""
        given = by_label(given)
        if isinstance(given, Mapping):
            rows = self._rows_of(name, list(given))
            if len(given) < len(self):
                item = self.id_at(int(np.setdiff1d(np.arange(len(self)), rows)[0]))
                raise InputError(f"{name} are not given", source=SOURCE, document=item)
            given = to_numpy(list(given.values()), name)[np.argsort(rows)]
        found = to_numpy(given, name)
        if found.ndim != 2 or len(found) != len(self) or found.dtype.kind not in "biuf":
            wanted = f"numbers, one row for each of {len(self)} items"
            problem = f"{name} are {wanted}, not {found.dtype} of shape {found.shape}"
            raise InputError(problem, source=SOURCE)
        found = found.astype(np.float64, copy=False)
        if (wrong := ~np.isfinite(found).all(axis=1)).any():
            row = int(np.argmax(wrong))
            value = float(found[row][~np.isfinite(found[row])][0])
            problem, item = f"{name} have {value}, which is no number", self.id_at(row)
            raise InputError(problem, source=SOURCE, document=item, value=value)
        return found

    def _rows_of(self, name: str, ids: Sequence[Any]) -> Ints:
        """Return the rows of ids that have to be items."""
        rows = self.find(as_ids(list(ids), "item", SOURCE))
        if (outside := rows == OUTSIDE).any():
            item = ids[int(np.argmax(outside))]
            problem = f"{name} of an item that is not in the catalogue of {len(self)} items"
            raise InputError(problem, source=SOURCE, document=item)
        return rows

    def _add_interactions(self, had: Interactions) -> None:
        """Count interactions, and keep who had what."""
        rows = self.find(had.items)
        if (outside := rows == OUTSIDE).any():
            at = int(np.argmax(outside))
            user, item = had.users[int(had.of_user[at])], had.items.take(np.array([at])).tolist()[0]
            problem = f"the item of an interaction is not in the catalogue of {len(self)} items"
            raise InputError(problem, source=SOURCE, query=user, document=item)
        size, users = max(len(self), 1), len(had.users)
        self.arrays.popularity = np.bincount(rows, minlength=len(self)).astype(np.float64)
        self.arrays.users = float(users)
        of_user, rows = np.divmod(np.unique(had.of_user * size + rows), size)
        self.arrays.reach = np.bincount(rows, minlength=len(self)).astype(np.float64)
        places = {user: place for place, user in enumerate(had.users)}
        starts = offsets_of(np.bincount(of_user, minlength=users))
        self.arrays.histories = Histories(places, starts, rows)
        self.arrays.cooccurrence = cooccurrence_of(of_user, rows, len(self), users)


def _read_catalogue(items: Any) -> IdColumn:
    """Return the ids of items, which are different."""
    if items is None:
        known = "ItemStatistics(item_ids), or with popularity= or interactions="
        raise InputError(f"say which items there are: {known}", source=SOURCE)
    if is_whole(items):
        if items < 0:
            raise InputError(f"items={items} must be 0 or more", source=SOURCE, value=items)
        return np.arange(int(items))
    ids = as_ids(items, "item", SOURCE)
    if not len(ids):
        raise InputError("there are no items", source=SOURCE)
    listed = ids.tolist()
    if (twice := first_repeated(listed)) is not None:
        raise InputError("this item is listed twice", source=SOURCE, document=twice)
    return ids


def _checksum(ids: IdColumn) -> int:
    """Return a number by which catalogues are told apart."""
    if isinstance(ids, TextColumn):
        return zlib.crc32("\n".join(ids.tolist()).encode(errors="surrogatepass"))
    return zlib.crc32(ids.astype("<i8").tobytes())


def check_items(items: object) -> ItemStatistics:
    """Return item statistics; reject anything else."""
    if isinstance(items, ItemStatistics):
        return items
    hint = "ItemStatistics(popularity=…) or ItemStatistics(interactions=…)"
    problem = f"items= is an ItemStatistics, not {shown(items)}: say {hint}"
    raise InputError(problem, source=SOURCE, value=items)


class DocumentCosts:
    """What documents cost those who look at them: seconds, characters, or any other unit.

    Args:
        costs: document to cost, a number above 0; or, with `types`, type to cost.
        types: document to type, such as ``"web"`` or ``"news"``.
        highest: the cost of documents that have none and, as rankings go on to ``max_n``, of what
            is past their ends; default: the highest there is.
        lowest: what these cost at best, of which residuals take account; default: the lowest.

    Raises:
        InputError: naming the document or type whose cost is no number above 0.

    >>> import irbatch
    >>> costs = irbatch.data.DocumentCosts({"web": 1, "pdf": 2}, types={"d1": "web", "d2": "pdf"})
    >>> qrels, run = {"q": {"d1": 1}}, {"q": {"d2": 2.0, "d1": 1.0}}
    >>> irbatch.evaluate(qrels, run, "BPM(number={ETU,ETC})", costs=costs).mean()
    {'BPM(number=ETU)': 1.0, 'BPM(number=ETC)': 3.0}
    """

    def __init__(
        self,
        costs: Mapping[Any, float],
        *,
        types: Mapping[Any, Any] | None = None,
        lowest: float | None = None,
        highest: float | None = None,
    ) -> None:
        known = _read_costs(costs, "document" if types is None else "type")
        if types is not None:
            if not isinstance(types, Mapping):
                problem = f"types are a mapping of documents to types, not {shown(types)}"
                raise InputError(problem, source="costs")
            found = {each: known.get(kind) for each, kind in types.items()}
            known_documents = {each: cost for each, cost in found.items() if cost is not None}
            if not known_documents:
                problem = f"no document is of a type that has a cost, such as {shown(min(known))}"
                raise InputError(problem, source="costs")
        else:
            known_documents = known
        least, most = min(known.values()), max(known.values())
        self.lowest = least if lowest is None else check_number("lowest", lowest, above=0.0)
        self.highest = most if highest is None else check_number("highest", highest, above=0.0)
        if self.lowest > self.highest:
            problem = f"lowest={self.lowest:g} is above the highest cost, {self.highest:g}"
            raise InputError(problem, source="costs", value=self.lowest)
        self.documents = ItemStatistics(list(known_documents), outside="ignore")
        # One more than documents: NaN, of those that have none.
        self._costs: Floats = np.array([*known_documents.values(), np.nan])

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


def as_costs(costs: object) -> DocumentCosts:
    """Return costs, which may come as a mapping of documents."""
    if isinstance(costs, DocumentCosts):
        return costs
    if isinstance(costs, Mapping):
        return DocumentCosts(costs)
    problem = f"costs are a mapping of documents to costs, or DocumentCosts, not {shown(costs)}"
    raise InputError(problem, source="costs", value=costs)


def _read_costs(costs: object, of_what: str) -> dict[Any, float]:
    if not isinstance(costs, Mapping) or not costs:
        problem = f"costs are a mapping of {of_what}s to numbers above 0, not {shown(costs)}"
        raise InputError(problem, source="costs", value=costs)
    if of_what == "document":
        numbers = read_by_id(
            "cost", costs.values(), list(costs).__getitem__, "costs", {"above": 0.0}
        )
        return dict(zip(costs, numbers.tolist(), strict=True))
    with ErrorsIn(source="costs"):
        return {
            kind: check_number(f"cost of type {kind!r}", cost, above=0.0)
            for kind, cost in costs.items()
        }
