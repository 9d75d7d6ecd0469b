"""Measures beyond accuracy: against their twins and the outputs of tools that have them."""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import json
import math
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from oracle import items as twin
from oracle.base import order
from support.input_errors import input_error
from support.paths import REFERENCE_DATA

import irbatch
from irbatch import BatchEvaluator, Items
from irbatch.measures import Measure, measure

CUTOFFS = (1, 2, 5, None)
SIMILARITIES = ("embeddings", "cooccurrence", "similarity")
NOVELTIES: list[dict[str, Any]] = [{}, {"of": "users"}, {"unseen": "zero"}]
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "CatalogueCoverage": [{}, {"of": "trained"}, {"padding": 1}],
    "UserCoverage": [{}, {"least": 3}],
    "Gini": [{}, {"padding": 2}],
    "Entropy": [{}, {"unit": "nats", "per": "recommended"}, {"per": "most"}],
    "Personalisation": [{}],
    "AvgPopularity": [{}, {"of": "users"}],
    "TailShare": [{}, {"tail": 0.4}, {"tail": 2}],
    "Novelty": NOVELTIES,
    "RunNovelty": NOVELTIES,
    "ILD": [{"by": each} for each in SIMILARITIES],
    "Unexpectedness": [{"by": each} for each in SIMILARITIES],
    "Serendipity": [
        {"by": each, "rel": rel} for each, rel in zip(SIMILARITIES, (1, 2, 1), strict=True)
    ],
}
MEASURES = [
    (name, parameters, k)
    for name, settings in VARIANTS.items() for parameters in settings for k in CUTOFFS
]  # fmt: skip

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def spelled(name: str, parameters: dict[str, Any], cutoff: int | None) -> Measure:
    plain = measure(name)(**parameters)
    return plain if cutoff is None else plain @ cutoff


def problem(seed: int) -> tuple[Qrels, Run, twin.Known]:
    """Users with much, little and no history; lists of several lengths, and one without any."""
    rng = Random(seed)
    catalogue = [f"i{n}" for n in range(rng.choice((4, 12)))]
    users = [f"u{n}" for n in range(rng.randint(2, 7))]
    had = {user: rng.choices(catalogue[:-1], k=rng.randint(0, 6)) for user in users[1:]}
    had = {user: items for user, items in had.items() if items} or {"v": catalogue[:1]}
    qrels = {
        user: {each: rng.choice((-1, 0, 1, 2)) for each in rng.sample(catalogue, rng.randint(1, 4))}
        for user in users
    }
    scores = (0.0, 0.5, 1.0) if rng.random() < 0.5 else range(40)
    run = {
        user: {each: float(rng.choice(scores)) for each in rng.sample(catalogue, rng.randint(0, 4))}
        for user in users
    }
    run["u0"] = {catalogue[0]: 1.0}
    del run["u1"]
    vectors = {each: [rng.choice((-1.0, 0.0, 2.0)) for _ in "xyz"] for each in catalogue}
    given = {pair: rng.random() for pair in itertools.product(catalogue, repeat=2)}
    return qrels, run, twin.Known(catalogue, had, vectors, given)


def statistics(known: twin.Known) -> Items:
    size = len(known.catalogue)
    given = [known.given[pair] for pair in itertools.product(known.catalogue, repeat=2)]
    return Items(
        known.catalogue,
        interactions=known.had,
        embeddings=known.vectors,
        similarity=np.array(given).reshape(size, size),
    )


def expected_of(
    name: str, parameters: dict[str, Any], cutoff: int | None, qrels: Qrels, run: Run,
    known: twin.Known,
) -> float | dict[str, float]:  # fmt: skip
    lists = {user: order(run.get(user, {}))[:cutoff] for user in qrels}
    if name in twin.OF_RUN:
        return twin.OF_RUN[name](list(lists.values()), known, **parameters)
    found = {}
    for user, ranked in lists.items():
        given: list[Any] = [ranked, known]
        given += [user] if name in ("Unexpectedness", "Serendipity") else []
        given += [qrels[user]] if name == "Serendipity" else []
        found[user] = twin.OF_USERS[name](*given, **parameters)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_twin(seed: int) -> None:
    qrels, run, known = problem(seed)
    measures = [spelled(*each) for each in MEASURES]
    found = irbatch.evaluate(qrels, run, measures, items=statistics(known))
    for each, wanted in zip(measures, MEASURES, strict=True):
        expected = expected_of(*wanted, qrels, run, known)
        if isinstance(expected, float):
            assert close(found[each], expected), str(each)
            continue
        for user, value in expected.items():
            assert close(found.per_query(each)[user], value), (str(each), user)
        assert close(found[each], math.fsum(expected.values()) / len(qrels)), str(each)


def close(found: float, expected: float) -> bool:
    """Equal but for rounding, which differences of sums have of 1."""
    return math.isclose(found, expected, rel_tol=1e-13, abs_tol=4e-15)


# Every entrance.

NAMES = (
    "RR nDCG@3 CatalogueCoverage@3 Gini@2 Entropy Personalisation@3 RunNovelty@2 AvgPopularity@3 "
    "TailShare(tail=2)@2 Novelty ILD@3 UserCoverage@1 AWRF@3 FairnDCG@5 EEL@5 EER PSP@3 PSnDCG@5 "
    "ExposureParity(target=relevant)@4 SNIPS(over=all)@4 IPS(discount=rank) PSP(norm=none)@2"
)


def described(seed: int, ids: Sequence[Any]) -> dict[str, Any]:
    rng, size = np.random.default_rng(seed), len(ids)
    groups = {each: "AB"[place % 2] if place else {"A": 0.25, "B": 0.75}
              for place, each in enumerate(ids)}  # fmt: skip
    return {
        "popularity": rng.integers(0, 9, size), "embeddings": rng.random((size, 4)),
        "groups": irbatch.Groups(groups, {"A": 0.4, "B": 0.6}),
        "propensities": rng.choice((0.1, 0.5, 1.0), size),
    }  # fmt: skip


def scored(seed: int = 0, users: int = 13, size: int = 9) -> tuple[Any, list[int], Items]:
    rng = np.random.default_rng(seed)
    scores = rng.random((users, size))
    items = Items(size, **described(seed, range(size)))
    return scores, rng.integers(0, size, users).tolist(), items


def test_every_entrance(tmp_path: Path) -> None:
    scores, positives, items = scored()
    ranked = np.argsort(-scores, axis=1)
    expected = irbatch.evaluate_scores(scores, measures=NAMES, positives=positives, items=items)
    by_ids = irbatch.evaluate_ids(ranked, [[each] for each in positives], NAMES, items=items)
    qrels = {user: {positive: 1} for user, positive in enumerate(positives)}
    run = {user: dict(enumerate(row)) for user, row in enumerate(scores.tolist())}
    users, columns = np.indices(scores.shape).reshape(2, -1)
    table = irbatch.Run.from_columns(users, columns, scores.reshape(-1))
    texts = {str(u): {f"{d:03}": s for d, s in row.items()} for u, row in run.items()}
    ids = [f"{item:03}" for item in range(9)]
    of_texts = Items(ids, **described(0, ids))
    judged = {str(user): {f"{d:03}": 1 for d in each} for user, each in qrels.items()}
    path = tmp_path / "r.run"
    irbatch.Run(texts).to_trec(path)
    for found in (
        by_ids,
        irbatch.evaluate(qrels, run, NAMES, items=items),
        irbatch.evaluate(qrels, table, NAMES, items=items),
        irbatch.evaluate(qrels, irbatch.Run(run).prepared(), NAMES, items=items),
        irbatch.evaluate(judged, texts, NAMES, items=of_texts),
        irbatch.evaluate(judged, path, NAMES, items=of_texts),
        irbatch.evaluate_runs(judged, {"r": texts}, NAMES, items=of_texts)["r"],
    ):
        assert found.mean() == expected.mean()
        assert np.array_equal(found.values, expected.values, equal_nan=True)


def test_batches_in_any_split_and_order() -> None:
    scores, positives, items = scored(users=40)
    expected = irbatch.evaluate_scores(scores, measures=NAMES, positives=positives, items=items)
    for keep, step in itertools.product(("queries", "sums"), (1, 7, 40)):
        make = functools.partial(BatchEvaluator, NAMES, keep=keep, items=items)
        parts = [make() for _ in range(3)]
        starts = list(range(0, 40, step))
        Random(step).shuffle(starts)
        for part, start in zip(itertools.cycle(parts), starts, strict=False):
            some = slice(start, start + step)
            part.update(scores[some], positives=positives[some])
        read = [make() for _ in parts]
        for other, part in zip(read, parts, strict=True):
            other.load_state_dict(json.loads(json.dumps(part.state_dict())))
        first, *others = read
        first.merge(*others)
        assert first.compute().mean() == expected.mean(), (keep, step)
        assert pickle.loads(pickle.dumps(first)).compute().mean() == expected.mean()


def test_a_query_that_comes_again() -> None:
    """It is counted once, and has the same items."""
    scores, positives, items = scored(users=3)
    expected = irbatch.evaluate_scores(scores, measures=NAMES, positives=positives, items=items)
    evaluator = BatchEvaluator(NAMES, items=items, repeated="first")
    evaluator.update(scores, positives=positives, query_ids=["a", "b", "c"])
    evaluator.update(-scores[:1], positives=positives[:1], query_ids=["a"])
    assert evaluator.compute().mean() == expected.mean()
    evaluator = BatchEvaluator("CatalogueCoverage@1", items=items)
    again = functools.partial(evaluator.update, positives=positives[:1], query_ids=["a"])
    again(scores[:1])
    again(scores[:1])
    input_error(lambda: again(-scores[:1]), "it came before", query="a")
    assert evaluator.compute()["CatalogueCoverage@1"] == 1 / 9


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_states_of_something_else_are_refused(keep: str) -> None:
    scores, positives, items = scored(users=3)
    evaluator = BatchEvaluator("CatalogueCoverage@2", items=items, keep=keep)
    evaluator.update(scores, positives=positives)
    state = evaluator.state_dict()
    other = BatchEvaluator("CatalogueCoverage@2", items=scored(size=8)[2], keep=keep)
    input_error(lambda: other.load_state_dict(state), "9 items", source="state")
    for wrong in (5, [], [[1]], [[None, [9], [1], [0, 3]]], [[0, 1], [2, 30], [1, 2]]):
        broken = {**state, "lists": wrong}
        input_error(lambda state=broken: evaluator.load_state_dict(state), source="state")
    del state["items"]
    input_error(lambda: evaluator.load_state_dict(state), "'items'", source="state")
    assert len(evaluator) == 3


# What results say of a whole run.


def test_values_of_a_whole_run_are_of_no_query() -> None:
    scores, positives, items = scored(users=2)
    names = ["RR", "Gini@3", "AvgPopularity@3"]
    found, other = (
        irbatch.evaluate_scores(each, measures=names, positives=positives, items=items)
        for each in (scores, -scores)
    )
    assert list(found.mean()) == names == list(json.loads(found.to_json())["mean"])
    assert {tuple(row) for row in found.to_dict().values()} == {("RR", "AvgPopularity@3")}
    assert found.to_csv().splitlines()[0] == "query,RR,AvgPopularity@3"
    assert np.isnan(found.values[:, 1]).all()
    assert "items: 9 items, " in found.signature
    assert f"Gini@3           {found['Gini@3']:.4f}" in repr(found)
    said = "Gini@3 is a value of the whole run"
    input_error(lambda: found.per_query("Gini@3"), said)
    input_error(lambda: irbatch.compare({"a": found, "b": other}), said)
    pytest.importorskip("polars")
    assert found.to_polars().columns == ["query", "RR", "AvgPopularity@3"]
    pytest.importorskip("pandas")
    assert list(found.to_pandas().columns) == ["RR", "AvgPopularity@3"]


# Ties, documents outside, and what is refused.


def test_ties_by_id_and_by_place() -> None:
    items = Items(["a", "b", "c"], popularity=[1, 2, 4])
    run = {"u": {"b": 1.0, "a": 1.0, "c": 1.0}}
    evaluate = functools.partial(irbatch.evaluate, {"u": {"a": 1}}, run, "AvgPopularity@1")
    assert evaluate(items=items)["AvgPopularity@1"] == 4.0
    assert evaluate(items=items, ties="id_ascending")["AvgPopularity@1"] == 1.0
    assert evaluate(items=items, ties="index")["AvgPopularity@1"] == 2.0
    scores = functools.partial(
        irbatch.evaluate_scores, [[1.0, 1.0, 0.0]], [[1, 0, 0]], "AvgPopularity@1", items=items
    )
    assert scores(ties="index")["AvgPopularity@1"] == 1.0
    assert scores(ties="id", document_ids=["x", "z", "y"])["AvgPopularity@1"] == 2.0
    assert scores(ties="id_ascending", document_ids=["z", "y", "x"])["AvgPopularity@1"] == 2.0


@pytest.mark.parametrize("ties", ["expected", "pessimistic", "optimistic", "error"])
def test_open_ties_are_refused_where_they_matter(ties: str) -> None:
    items = Items(4, popularity=[1, 2, 3, 4])
    run = {"u": {0: 3.0, 1: 2.0, 2: 2.0, 3: 1.0}}
    qrels = {"u": {3: 1}}
    for evaluate in (
        lambda name: irbatch.evaluate(qrels, run, name, items=items, ties=ties),
        lambda name: irbatch.evaluate_scores(
            [[3.0, 2.0, 2.0, 1.0]], [[0, 0, 0, 1]], name, items=items, ties=ties, query_ids=["u"]
        ),
    ):
        for cutoff, expected in ((1, 1.0), (3, 2.0), (4, 2.5)):
            assert evaluate(f"AvgPopularity@{cutoff}")[f"AvgPopularity@{cutoff}"] == expected
        said = f"which document is at rank 2 is open: ties='{ties}', and several have the score 2"
        input_error(lambda evaluate=evaluate: evaluate("AvgPopularity@2"), said, query="u")


def test_documents_outside_the_catalogue() -> None:
    run = {"u": {"a": 3.0, "x": 2.0, "b": 1.0}}
    evaluate = functools.partial(
        irbatch.evaluate, {"u": {"a": 1}}, run, ["AvgPopularity@2", "CatalogueCoverage"]
    )
    counts = {"a": 1, "b": 2}
    input_error(
        lambda: evaluate(items=Items(popularity=counts)),
        "run (query 'u', document 'x'): this document is not in the catalogue of 2 items",
    )
    found = evaluate(items=Items(popularity=counts, outside="ignore"))
    assert found.mean() == {"AvgPopularity@2": 1.0, "CatalogueCoverage": 1.0}
    judged = functools.partial(
        irbatch.evaluate, {"u": {"y": 1}}, {"u": {"a": 1.0}}, "Serendipity@2"
    )
    had = {"u": ["a"]}
    input_error(
        lambda: judged(items=Items(interactions=had)),
        "qrels (query 'u', document 'y'): this document is not in the catalogue",
    )
    assert judged(items=Items(interactions=had, outside="ignore")).mean() == {"Serendipity@2": 0.0}


AB = Items(["a", "b"])
# The measure, what is known of items, and what is said.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("ILD@2", {"items": AB}, "ILD@2: embeddings of items is not known: give Items(emb"),
    ("RunNovelty@2", {"items": AB}, "give Items(popularity= or interactions=)"),
    ("PSP@5", {"items": AB}, "propensities="), ("AWRF@5", {"items": AB}, "groups="),
    ("CatalogueCoverage@2", {"items": AB, "judged_only": True}, "judged_only=True leaves out"),
    ("Novelty(of=users)@1", {"items": Items(["a", "b"], popularity=[5, 1], users=2)},
     "an item has popularity 5, and there are 2 users"),
    ("Unexpectedness@1", {"items": Items(interactions={1: ["a"]})},
     "the users of interactions are such as 1, and queries 'u'"),
    ("Gini", {}, "Gini reads what is known of items: give it"),
    ("Gini", {"items": {"a": 1}}, "is irbatch.Items, not {'a'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "said"), REFUSED)
def test_what_is_not_known(name: str, options: dict[str, Any], said: str) -> None:
    def look_up() -> object:
        return irbatch.evaluate({"u": {"a": 1}}, {"u": {"a": 1.0}}, name, **options)[name]

    input_error(look_up, said)


@pytest.mark.parametrize("name", ["Unexpectedness", "Serendipity"])
def test_similarity_is_by_what_was_given(name: str) -> None:
    vectors = {"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [0.0, 1.0]}
    matrix = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.3], [0.1, 0.3, 1.0]])
    evaluate = functools.partial(
        irbatch.evaluate, {"u": {"b": 1, "c": 1}}, {"u": {"b": 2.0, "c": 1.0}}
    )
    known: dict[str, dict[str, Any]] = {
        "embeddings": {"embeddings": vectors}, "similarity": {"similarity": matrix},
        "cooccurrence": {},
    }  # fmt: skip
    for by, given in known.items():
        items = Items([*"abc"], interactions={"u": ["a"], "v": ["a", "b"]}, **given)
        value, stated = evaluate([name, f"{name}(by={by})"], items=items).values[0]
        assert value == stated
    both = Items([*"abc"], interactions={"u": ["a"]}, embeddings=vectors, similarity=matrix)
    input_error(lambda: evaluate(name, items=both), "say which, by=embeddings or by=similarity")


def test_settings_of_the_evaluation() -> None:
    items = Items(["a", "b", "c"], interactions={"u": ["b"], "v": ["b", "a"]})
    qrels = {"u": {"a": 1}, "v": {"a": 0}, "w": {"a": 2}}
    run = {"u": {"a": 3.0, "b": 2.0, "c": 1.0}, "v": {"a": 1.0}}
    evaluate = functools.partial(irbatch.evaluate, qrels, run, items=items)
    names = ["CatalogueCoverage", "AvgPopularity", "UserCoverage", "Serendipity"]
    found = evaluate(names, max_depth=2)
    assert found["CatalogueCoverage"] == 2 / 3
    assert found.per_query("AvgPopularity") == {"u": 1.5, "v": 1.0, "w": 0.0}
    assert found["UserCoverage"] == 2 / 3
    skipped = evaluate(names, no_relevant="skip").per_query("Serendipity")
    assert math.isnan(skipped["v"])
    assert skipped["w"] == 0
    assert len(evaluate(names, missing="skip").per_query("AvgPopularity")) == 2
    assert evaluate("Serendipity", rel=2)["Serendipity"] == 0


def test_runs_that_recommend_nothing() -> None:
    items = Items(["a", "b", "c"], interactions={"u": ["a", "b"]})
    names = [str(spelled(name, settings[-1], None)) for name, settings in VARIANTS.items()
             if name not in ("ILD", "Unexpectedness", "Serendipity")]  # fmt: skip
    with pytest.warns(irbatch.InputWarning, match="is empty"):
        nothing = irbatch.evaluate({"u": {"a": 1}, "v": {"c": 0}}, {}, names, items=items).mean()
    assert nothing.pop("Personalisation") == 1.0
    assert set(nothing.values()) == {0.0}


def test_what_is_no_candidate_is_not_recommended() -> None:
    items = Items(3, popularity=[1, 2, 4])
    scores = [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]
    evaluate = functools.partial(
        irbatch.evaluate_scores, measures="CatalogueCoverage@1 AvgPopularity@2", items=items
    )
    found = evaluate(scores, positives=[[1], [0]], exclude=[[0], [2]])
    assert found.per_query("AvgPopularity@2") == {0: 3.0, 1: 1.5}
    assert found["CatalogueCoverage@1"] == 1 / 3
    assert evaluate(scores, positives=[[0], [0]], lengths=[2, 1]).values[:, 1].tolist() == [1.5, 1]
    said = "the columns of scores are the items: 3 columns, 2 items"
    input_error(lambda: evaluate(scores, positives=[[0], [0]], items=AB), said)


def test_users_define_measures_of_items() -> None:
    @irbatch.define_measure("MostPopular", definition="A test.", reads="items", parameters={})
    def most_popular(r: Any) -> Any:
        return np.where(r.there, r.items.need("popularity")[r.rows], 0.0).max(axis=1, initial=0)

    @irbatch.define_measure(
        "OnlyOnce", definition="A test.", reads="items", aggregate="run", parameters={}
    )
    def only_once(c: Any) -> float:
        return float((c.counts == 1).sum())

    items = Items(3, popularity=[1, 5, 2])
    found = irbatch.evaluate_ids([[0, 2], [2]], [[0], [0]], "MostPopular OnlyOnce@2", items=items)
    assert found.mean() == {"MostPopular": 2.0, "OnlyOnce@2": 1.0}


# Outputs of other tools on MovieLens, beside the repository.

FOLDER = REFERENCE_DATA.parent / "data_more" / "g_recsys"
movielens = pytest.mark.skipif(not FOLDER.exists(), reason=f"no reference data at {FOLDER}")
RECBOLE = {
    "itemcoverage": "CatalogueCoverage(padding=1)",
    "averagepopularity": "AvgPopularity",
    "shannonentropy": "Entropy(unit=nats,per=recommended)",
    "giniindex": "Gini(padding=1)",
    "tailpercentage": "TailShare",
}
TAILS = {"None": "TailShare", "0.2": "TailShare(tail=0.2)", "5": "TailShare(tail=5)"}
# Of recommenders, then of rexmex and rs-metrics; 1 less a number where ours is the opposite.
RECOMMENDERS = {
    "catalog_coverage": "CatalogueCoverage(of=trained)@10",
    "distributional_coverage": "Entropy@10",
    "novelty": "RunNovelty(unseen=zero)@10",
    "diversity": "ILD(by=cooccurrence)@10",
    "serendipity": "Unexpectedness(by=cooccurrence)@10",
    "serendipity(relevance)": "Serendipity(by=cooccurrence,rel=4)@10",
    "diversity(features)": "ILD@10",
}
REXMEX = {
    "rexmex.user_coverage": "UserCoverage@10",
    "rexmex.personalization": "Personalisation@10",
    "rs_metrics.surprisal": "Novelty(of=users)@10",
    "rs_metrics.popularity": "AvgPopularity(of=users)@10",
    "rs_metrics.coverage": "CatalogueCoverage@10",
}


def rows(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt") as file:
        yield from (row for row in csv.reader(file, delimiter="\t") if not row[0].startswith("#"))


@functools.cache
def known() -> tuple[Items, Items]:
    """The items of train and test, and all that have genres, which are their vectors."""
    had: dict[str, list[str]] = {}
    for user, item, _ in itertools.islice(rows(FOLDER / "train.tsv.gz"), 1, None):
        had.setdefault(user, []).append(item)
    genres = {item: names.split("|") for item, names in rows(FOLDER / "genres.tsv.gz")}
    del genres["item"]
    judged = judgments().to_dict()
    seen = {each for those in had.values() for each in those}
    seen |= {each for those in judged.values() for each in those}
    in_order = sorted(seen, key=lambda item: int(item[1:]))
    every = sorted({name for names in genres.values() for name in names})
    vectors = {item: [float(e in names) for e in every] for item, names in genres.items()}
    return (
        Items(in_order, interactions=had),
        Items(list(genres), interactions=had, embeddings=vectors),
    )


@functools.cache
def judgments() -> irbatch.Qrels:
    return irbatch.read_qrels(REFERENCE_DATA / "movielens_a" / "qrels.random20.txt.gz")


@functools.cache
def movielens_run(name: str) -> irbatch.Run:
    return irbatch.read_run(REFERENCE_DATA / "movielens_a" / "runs" / f"{name}.run.gz")


def outputs(run: str, tool: str) -> dict[str, str]:
    found = rows(FOLDER / "expected" / f"ml.{run}.{tool}.15digits.tsv.gz")
    return {" ".join(names): value for *names, value in found}


@movielens
@pytest.mark.parametrize("run", ["itemknn50", "popularity"])
def test_recbole(run: str) -> None:
    expected = outputs(run, "recbole.level4")
    wanted = {}
    for name in expected:
        theirs, _, cutoff = name.partition("@")
        cutoff, _, tail = cutoff.partition(" tail_ratio=")
        if theirs in RECBOLE:
            wanted[name] = f"{TAILS[tail] if tail else RECBOLE[theirs]}@{cutoff}"
    assert len(wanted) == 4 * 5 + 3 * 5
    found = irbatch.evaluate(judgments(), movielens_run(run), [*wanted.values()], items=known()[0])
    for name, ours in wanted.items():
        assert math.isclose(found[ours], float(expected[name]), rel_tol=1e-12, abs_tol=1e-14), name
    plain = [name for name in wanted if " " not in name]
    assert {measure(name) for name in plain} == {measure(wanted[name]) for name in plain}
    assert set(plain) <= set(found.mean("recbole"))


@movielens
def test_recommenders() -> None:
    expected = outputs("itemknn50", "recommenders.k10")
    run, items = movielens_run("itemknn50"), known()[1]
    found = irbatch.evaluate(judgments(), run, [*RECOMMENDERS.values()], items=items)
    for name, ours in RECOMMENDERS.items():
        assert math.isclose(found[ours], float(expected[name]), rel_tol=1e-13), name
    for theirs in ("diversity", "diversity(features)", "serendipity"):
        for user, value in found.per_query(RECOMMENDERS[theirs]).items():
            said = float(expected[f"user_{theirs} {user}"])
            assert math.isclose(value, said, rel_tol=1e-12), (theirs, user)


@movielens
@pytest.mark.parametrize("run", ["itemknn50", "popularity"])
def test_rexmex_and_rs_metrics(run: str) -> None:
    expected = outputs(run, "rexmex_rs_metrics.k10")
    wanted = [*REXMEX.values(), "ILD@10"]
    found = irbatch.evaluate(judgments(), movielens_run(run), wanted, items=known()[1])
    for name, ours in REXMEX.items():
        assert math.isclose(found[ours], float(expected[name]), rel_tol=1e-13), name
    similar = float(expected["rexmex.intra_list_similarity(genres)"])
    assert math.isclose(1 - found["ILD@10"], similar, rel_tol=1e-12)
    assert round(found["CatalogueCoverage@10"], 3) == float(expected["rexmex.item_coverage"])
    # Its novelty is -log2((n + 1e-10) / users): another number from the twelfth digit on.
    (name,) = (each for each in expected if each.startswith("rexmex.novelty"))
    novelty = found["Novelty(of=users)@10"]
    assert math.isclose(novelty, float(expected[name]), rel_tol=1e-11)
