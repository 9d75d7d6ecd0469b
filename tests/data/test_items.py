"""What is known of items: catalogues in every form, and what is refused of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import Items
from irbatch.data.columns import as_ids

INTERACTIONS = {"u1": ["a", "b"], "u2": ["b", "c"], "u3": ["b"]}


def popularity(items: Items) -> dict[Any, float]:
    assert items.arrays.popularity is not None
    listed = [items.id_at(row) for row in range(len(items))]
    return dict(zip(listed, items.arrays.popularity.tolist(), strict=True))


@pytest.mark.parametrize(
    "given",
    [
        INTERACTIONS,
        {user: dict.fromkeys(items, 4.5) for user, items in INTERACTIONS.items()},
        irbatch.Qrels({user: dict.fromkeys(items, 1) for user, items in INTERACTIONS.items()}),
        np.array(
            [(user, item) for user, items in INTERACTIONS.items() for item in items],
            [("user_id", "U2"), ("item_id", "U1")],
        ),
    ],
    ids=["lists", "ratings", "judgments", "columns"],
)
def test_interactions_in_every_form(given: Any) -> None:
    items = Items(interactions=given)
    assert popularity(items) == {"a": 1.0, "b": 3.0, "c": 1.0}
    assert items.arrays.users == 3.0
    histories = items.arrays.histories
    assert histories is not None
    rows = histories.rows[histories.starts[1] : histories.starts[2]]
    assert [items.id_at(row) for row in rows.tolist()] == ["b", "c"]


def test_frames_of_interactions() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"userId": [1, 1, 2], "movieId": [7, 8, 7], "rating": [5.0, 4.0, 1.0]})
    assert popularity(Items(interactions=frame)) == {7: 2.0, 8: 1.0}


@pytest.mark.parametrize("kind", ["csr_matrix", "coo_array"])
def test_sparse_interactions(kind: str) -> None:
    """Columns are the items, those that nobody had among them; 0 or less was not had."""
    sparse = pytest.importorskip("scipy.sparse")
    matrix = getattr(sparse, kind)(np.array([[5.0, 0, 0, -1.0], [0, 0, 1.0, 0], [1.0, 0, 2.0, 0]]))
    assert popularity(Items(interactions=matrix)) == {0: 2.0, 1: 0.0, 2: 2.0, 3: 0.0}
    named = Items(list("abcd"), interactions=matrix)
    assert popularity(named) == {"a": 2.0, "b": 0.0, "c": 2.0, "d": 0.0}
    assert named.arrays.histories is not None
    assert named.arrays.histories.rows.tolist() == [0, 2, 0, 2]
    input_error(
        lambda: Items(list("abc"), interactions=matrix),
        "items: interactions have 4 columns for 3 items",
    )


def test_popularity_in_every_form() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    users = pd.DataFrame({"user_id": [1, 1, 2, 3, 3], "item_id": list("cabaa")}, index=range(3, 8))
    for given in (
        {"a": 3, "b": 1, "c": 1},
        users.item_id.value_counts(),
        users.groupby("item_id").size(),
    ):
        assert popularity(Items(popularity=given)) == {"a": 3.0, "b": 1.0, "c": 1.0}
        ordered = Items(["c", "a", "b", "x"], popularity=given)
        assert list(popularity(ordered).values()) == [1.0, 3.0, 1.0, 0.0]
    for given in (np.array([3, 0, 1]), [3, 0, 1], pl.Series([3, 0, 1]), pd.Series([3, 0, 1])):
        assert popularity(Items(popularity=given)) == {0: 3.0, 1: 0.0, 2: 1.0}
        assert list(popularity(Items(list("cab"), popularity=given))) == list("cab")


def test_labels_of_pandas_are_ids() -> None:
    pd = pytest.importorskip("pandas")
    vectors = pd.DataFrame([[0.0, 2.0], [3.0, 0.0]], index=["a", "b"])
    items = Items(
        ["b", "a"],
        embeddings=vectors,
        propensities=pd.Series({"a": 0.5, "b": 0.25}),
        interactions=pd.Series({"u1": ["a"], "u2": ["a", "b"]}),
    )
    assert items.arrays.embeddings is not None
    assert items.arrays.embeddings.numbers.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert popularity(items) == {"b": 1.0, "a": 2.0}
    frequencies = pd.Series({"a": 5, "b": 1})
    known = irbatch.data.label_propensities(frequencies, instances=9)
    assert known == irbatch.data.label_propensities(frequencies.to_dict(), instances=9)
    assert irbatch.Groups(pd.Series({"a": "new", "b": "old"})).ids == ["a", "b"]
    twice = pd.Series([1, 2], index=["a", "a"])
    input_error(lambda: Items(popularity=twice), "label 'a' of a Series comes twice")
    frame = pd.DataFrame({"item": ["a", "b"], "count": [1, 2]})
    input_error(lambda: Items(popularity=frame), "shape (2, 2)")


def test_an_item_had_twice_is_popular_twice_and_had_once() -> None:
    items = Items(interactions={"u1": ["a", "a", "b"], "u2": ["b"]})
    assert popularity(items) == {"a": 2.0, "b": 2.0}
    assert items.arrays.histories is not None
    assert items.arrays.histories.rows.tolist() == [0, 1, 1]


def test_columns_are_in_the_order_of_the_items() -> None:
    by_id = Items(["b", "a"], popularity={"a": 1}, embeddings={"a": [0, 2], "b": [3, 0]})
    in_order = Items(["b", "a"], popularity=[0, 1], embeddings=[[3, 0], [0, 2]])
    for each in (by_id, in_order):
        assert popularity(each) == {"b": 0.0, "a": 1.0}
        assert each.arrays.embeddings is not None
        assert each.arrays.embeddings.numbers.tolist() == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200])
def test_embeddings_of_any_size(scale: float) -> None:
    items = Items(2, embeddings=np.array([[1.0, 1.0], [0.0, 0.0]]) * scale)
    assert items.arrays.embeddings is not None
    assert items.arrays.embeddings.numbers == pytest.approx([0.5**0.5, 0.5**0.5, 0, 0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "say which items there are"),
        ({"items": -1}, "items=-1 must be 0 or more"),
        ({"items": []}, "there are no items"),
        ({"items": ["a", "b", "a"]}, "document 'a'): this item is listed twice"),
        ({"items": ["a", 1]}, "item ids are of two kinds"),
        ({"items": [1.5]}, "item id 1.5 is a float"),
        ({"items": 2, "outside": "skip"}, "outside='skip'"),
        ({"items": 2, "popularity": [1]}, "for each of 2 items, not 1"),
        ({"items": 2, "popularity": [1, -1]}, "(document 1): popularity -1.0 must be"),
        ({"items": 2, "popularity": [np.nan, 1]}, "(document 0): popularity nan must be"),
        ({"items": 2, "popularity": {2: 1}}, "(document 2): popularity of an item that is not in"),
        ({"items": 2, "popularity": {"a": 1}}, "ids are whole numbers, such as 0"),
        ({"items": 2, "popularity": {1: "many"}}, "popularity 'many' must be a number"),
        ({"items": 2, "users": 0}, "users=0 must be"),
        ({"interactions": {"u": ["a"], "v": ["a"]}, "users": 1}, "users=1 must be"),
        ({"items": 2, "embeddings": [[1, 2]]}, "one row for each of 2 items"),
        ({"items": 2, "embeddings": [[1, 2], [np.inf, 1]]}, "(document 1): embeddings have inf"),
        ({"items": 2, "embeddings": [[1, 2], [1]]}, "rows are not of one length"),
        ({"items": 2, "embeddings": {0: [1.0]}}, "(document 1): embeddings of this item"),
        ({"items": 2, "similarity": [[1, 2]]}, "one row for each of 2 items"),
        ({"items": 2, "similarity": [[1], [2]]}, "similarity is (items, items)"),
        ({"interactions": {"u": "abc"}}, "items are a list of ids, not a str"),
        ({"interactions": {"u": 5}}, "items are a list of ids, not an int"),
        (
            {"items": ["a"], "interactions": {"u": ["a", "b"]}},
            "(query 'u', document 'b'): the item of an interaction is not in the catalogue of 1",
        ),
        ({"interactions": [("u", "a")]}, "row 0 of a list: ('u', 'a') is a tuple"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], said: str) -> None:
    input_error(lambda: Items(**arguments), said)


def test_pickles() -> None:
    items = Items(interactions=INTERACTIONS)
    again = pickle.loads(pickle.dumps(items))
    assert popularity(again) == popularity(items)
    assert again.find(as_ids(["c", "x"], "item", "items")).tolist() == [2, -1]
