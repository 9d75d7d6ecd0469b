"""Measures of exposure: against their twins, and FAIR TREC 2022's own outputs."""

from __future__ import annotations

import functools
import gzip
import math
from collections.abc import Collection, Iterator
from random import Random
from typing import Any

import pytest
from oracle import fairness as twin
from oracle.base import is_relevant, order
from support.input_errors import input_error
from support.paths import REFERENCE_DATA

import irbatch
from irbatch.evaluation import evaluate_sequences
from irbatch.measures import Measure, measure
from irbatch.measures.catalogue import items as item_measures

CUTOFFS = (1, 3, 20, None)
TARGETS: list[dict[str, Any]] = [
    {},
    {"target": "uniform", "discount": "log2"},
    {"target": "relevant", "rel": 2, "discount": "rank"},
    {"target": "relevant"},
    {"target": "relevant", "rel": 0},
]
BASES = [*TARGETS, {"base": 2.0}, {"base": 10.0, "target": "uniform"}]
GROUPS: list[dict[str, Any]] = [{"group": "A"}, {"group": "7", "discount": "none"}]
EXPECTED = [*TARGETS, {"of": "all"}, {"of": "all", "rel": 2, "target": "uniform"}]
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "AWRF": BASES,
    "FairnDCG": BASES,
    "Exposure": GROUPS,
    "ExposureRatio": [{**group, **target} for group in GROUPS for target in TARGETS],
    "ExposureParity": TARGETS,
    "EEL": EXPECTED,
    "EED": [{}, {"of": "all", "discount": "log2"}, {"rel": 2}],
    "EER": EXPECTED,
}
WANTED = [
    (measure(name)(**each) if k is None else measure(name)(**each) @ k)
    for name, settings in VARIANTS.items()
    for each in settings
    for k in CUTOFFS
]
# The worked example: d2 is not judged, d6 not retrieved.
QRELS = {"q": {"d1": 1, "d3": 3, "d4": 0, "d5": 2, "d6": 2}}
RUN = {"q": {f"d{i}": 6.0 - i for i in range(1, 6)}}
MEMBERS = {"d1": "A", "d2": "B", "d3": {"A": 0.5, "B": 0.5}, "d4": "B", "d5": "A", "d6": "A"}
HALVES = {"A": 0.5, "B": 0.5}

Problem = tuple[dict[str, dict[str, int]], list[dict[str, dict[str, float]]], dict[str, Any]]


def known(members: Any, target: Any = None, **options: Any) -> irbatch.Items:
    return irbatch.Items(groups=irbatch.Groups(members, target, **options))


def test_worked_example() -> None:
    expected = {
        "AWRF@1": 1 - 0.2157615543388357, "AWRF@2": 1, "AWRF@3": 1,
        "Exposure(group=A)@1": 1, "Exposure(group=A)@3": 0.5, "ExposureRatio(group=A)@1": 2,
        "ExposureParity@1": 0, "ExposureParity@2": 1,
        "EEL@2": 1, "EED@2": 1, "EER@2": 1, "EED(of=all)@2": 2, "EEL(of=all)@2": 0,
        "FairnDCG@2": 0.5,
    }  # fmt: skip
    found = irbatch.evaluate(QRELS, RUN, [*expected], items=known(MEMBERS, HALVES)).mean()
    assert found == pytest.approx(expected, rel=1e-14)


def problems(seed: int, count: int) -> Iterator[Problem]:
    """Judgments, several runs, and documents' groups: one, several, or none."""
    rng = Random(seed)
    for _ in range(count):
        documents = [f"d{i}" for i in range(rng.choice((2, 8, 30)))]
        members: dict[str, Any] = {}
        for each in documents:
            kind = rng.random()
            if kind < 0.5:
                members[each] = rng.choice(("A", "B", "7"))
            elif kind < 0.8:
                cuts = sorted((rng.random(), rng.random()))
                shares = (cuts[0], cuts[1] - cuts[0], 1 - cuts[1])
                members[each] = dict(zip(("A", "B", "7"), shares, strict=True))
            elif kind < 0.9:
                members[each] = {"A": 0, "B": 0}
        members["d0"] = {"A": 0.25, "B": 0.75, "7": 0.0}
        queries = [f"q{i}" for i in range(rng.randint(1, 4))]
        qrels = {
            query: {each: rng.choice((-1, 0, 1, 2)) for each in documents if rng.random() < 0.4}
            for query in queries
        }
        runs = []
        for _ in range(3):
            scores = [0.0, 0.5, 1.0] if rng.random() < 0.3 else [float(i) for i in range(40)]
            runs.append({
                query: {each: rng.choice(scores)
                        for each in rng.sample(documents, rng.randint(0, len(documents)))}
                for query in queries if rng.random() < 0.9
            })  # fmt: skip
        runs[0]["q0"] = {"d0": 1.0}
        yield qrels, runs, members


def twin_value(
    each: Measure,
    rankings: list[list[str]],
    judged: dict[str, int],
    belongs: dict[str, dict[str, float]],
    given: dict[str, float],
    there: Collection[str],
) -> float:
    """The value of one query from its rankings; `there` are the items of the catalogue."""
    groups, k = ["A", "B", "7"], each.cutoff
    known = each.declaration.parameters
    discount, rel = each["discount"], each["rel"] if "rel" in known else None
    relevant = {document for document, grade in judged.items() if is_relevant(grade, rel)}
    rankings = [ranking for ranking in rankings if ranking]
    only = relevant if "of" in known and each["of"] == "relevant" else None
    found = twin.exposure(rankings, belongs, groups, k, discount, only)
    depth = max(map(len, rankings), default=0) if k is None else k
    if each.name == "EED":
        return twin.ee_disparity(found)
    if each.name == "Exposure":
        return twin.shared(found).get(each["group"], 0.0)
    wanted = twin.target_of(each["target"], given, belongs, groups, relevant)
    if each.name == "EEL":
        return twin.ee_loss(found, wanted, depth, discount)
    if each.name == "EER":
        return twin.ee_relevance(found, wanted, depth, discount)
    if each.name == "ExposureRatio":
        return twin.ratios(found, wanted).get(each["group"], 0.0)
    if each.name == "ExposureParity":
        return twin.parity(found, wanted)
    fair = twin.awrf(found, wanted, each["base"])
    if each.name == "FairnDCG":
        ranking = [each if each in there else None for each in rankings[0]] if rankings else []
        return fair * twin.binary_ndcg(ranking, relevant, k, discount)
    return fair


def shares_of(members: dict[str, Any]) -> dict[str, dict[str, float]]:
    return {d: each if isinstance(each, dict) else {each: 1.0} for d, each in members.items()}


@pytest.mark.parametrize("seed", range(3))
def test_twin(seed: int) -> None:
    for number, (qrels, runs, members) in enumerate(problems(seed, 8)):
        target: dict[str, Any] = {"A": 0.5, "7": 0.5}
        targets = dict.fromkeys(qrels, target) | {"q0": {"B": 1}}
        catalogue = [f"d{i}" for i in range(30)]
        there = catalogue if number % 2 else list(members)
        of_items = {item: members.get(item, {}) for item in there}
        items = irbatch.Items(
            there,
            groups=irbatch.Groups(of_items, targets if number % 3 else target),
            outside="ignore",
        )
        given = targets if number % 3 else dict.fromkeys(qrels, target)
        found = irbatch.evaluate(qrels, runs[0], WANTED, items=items)
        in_turn = [each for each in WANTED if each.name in item_measures.IN_TURN]
        together = evaluate_sequences(qrels, runs, in_turn, items=items)
        for query, judged in qrels.items():
            rankings = [order(run.get(query, {})) for run in runs]
            check = functools.partial(
                twin_value,
                judged=judged,
                belongs=shares_of(members),
                given=given[query],
                there=there,
            )
            for each in WANTED:
                value = found.per_query(each)[query]
                expected = check(each, rankings[:1])
                assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-14), (each, query)
            for each in in_turn:
                value = together.per_query(each)[query]
                expected = check(each, rankings)
                assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-14), (each, query)


def test_targets_and_groups() -> None:
    evaluate = functools.partial(irbatch.evaluate, QRELS, RUN)
    without, some = known(MEMBERS), known(MEMBERS, {"other": HALVES})
    input_error(lambda: evaluate("AWRF@5", items=without), "target", "AWRF(target=uniform)")
    input_error(lambda: evaluate("EEL@5", items=some), "no target", query="q")
    input_error(lambda: evaluate("Exposure@5", items=without), "no group is called", "A")
    input_error(lambda: evaluate("Exposure(group=C)@5", items=without), "'C'", "'A'", value="C")


def test_sequences_that_cannot_be() -> None:
    evaluate: Any = functools.partial(evaluate_sequences, items=known(MEMBERS, HALVES))
    for runs, names, *facts in (
        (RUN, "EEL@2", "several", "dict"), ("path", "EEL@2", "several", "str"),
        ([], "EEL@2", "no runs"), ([RUN], "nDCG@2", "nDCG@2", "EEL", "irbatch.evaluate"),
        ([RUN], "FairnDCG@2", "FairnDCG@2"), ([{"x": {"d1": 1.0}}], "EEL@2", "no query"),
        ([RUN, {"q": {"d9": 1.0}}], "EEL@2", "catalogue", "'d9'"),
    ):  # fmt: skip
        input_error(lambda r=runs, n=names: evaluate(QRELS, r, n), *facts)
    two = {**QRELS, "p": {"d1": 1}}
    input_error(lambda: evaluate(two, [RUN], "EEL@2", missing="error"), "'p'")


def test_counts_of_sequences() -> None:
    qrels = {**QRELS, "p": {"d1": 0}, "o": {"d2": 1}}
    runs = [RUN, {"x": {"d1": 1.0}, "p": {}}]
    items = known(MEMBERS, HALVES)
    results = evaluate_sequences(qrels, runs, "EEL@2 AWRF@2", items=items)
    counts = results.counts
    assert (counts.queries, counts.answered, counts.missing, counts.extra) == (3, 2, 1, 1)
    assert (counts.no_relevant, counts.empty) == (1, 1)
    assert results.per_query("EEL@2")["o"] == 2, "nothing was shown of what there was to share"
    assert "rankings of a query: 2" in results.signature
    skipped = evaluate_sequences(qrels, runs, "EEL@2", items=items, missing="skip")
    assert skipped.query_ids == ["q", "p"]


# ---------------------------------------------------------------- FAIR TREC 2022's own outputs

FAIR_TREC = REFERENCE_DATA.parent / "data_more" / "i_fair"
OURS = {"nDCG": "nDCG(gain=binary,rel=2,discount=jk2)@20", "AWRF": "AWRF@20",
        "Score": "FairnDCG(rel=2)@20"}  # fmt: skip
FLOAT32 = 3e-6  # their attention is of float32


def rows(name: str) -> list[list[str]]:
    with gzip.open(FAIR_TREC / name, "rt") as file:
        return [line.rstrip("\n").split("\t") for line in file][1:]


def test_fair_trec() -> None:
    if not FAIR_TREC.exists():
        pytest.skip("no reference data: agreement with FAIR TREC is not tested")
    members = {
        document: dict(zip("ABC", map(float, shares), strict=True))
        for document, *shares in rows("dl19_alignments.tsv.gz")
    }
    groups = irbatch.Groups(members, {"A": 0.5, "B": 0.3, "C": 0.2})
    items = irbatch.Items(groups=groups, outside="ignore")
    data = REFERENCE_DATA / "dl19_passage"
    qrels = irbatch.read_qrels(data / "qrels.dl19-passage.txt.gz")
    paths = {path.name.removesuffix(".run.gz"): path for path in (data / "runs").iterdir()}
    three = {name: paths[name] for name in ("bm25", "splade-pp-ed", "tasb")}
    found = {
        (name, called): results.per_query(ours)
        for name, results in irbatch.evaluate_runs(
            qrels, three, [*OURS.values()], items=items
        ).items()
        for called, ours in OURS.items()
    }
    for only, of in ((True, "relevant"), (False, "all")):
        names = {f"EE-{each}": f"EE{each}(rel=2,of={of})@20" for each in "LDR"}
        results = evaluate_sequences(qrels, three.values(), [*names.values()], items=items)
        for called, ours in names.items():
            found[f"all runs, only_rel={only}", called] = results.per_query(ours)
    expected = rows("dl19_expected.tsv.gz")
    assert len(expected) == 645
    for query, run, name, value in expected:
        assert found[run, name][query] == pytest.approx(float(value), rel=FLOAT32), (run, name)
