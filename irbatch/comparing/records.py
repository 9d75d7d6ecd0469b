"""A comparison for programs: every number with every digit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.comparing.compared import Compared
from irbatch.comparing.wording import say_all, tell_how
from irbatch.report.document import Record, without_marks

MEAN = ["measure", "system", "queries", "mean", "low", "high"]
PAIR = ["measure", "system", "against", "queries", "mean", "mean_against"]  # and `_of_pairs`
CHOICES = (
    *("test", "alternative", "correction", "family", "level", "interval", "simultaneous"),
    *("draws", "seed", "margin", "margin_test"),
)


def list_pairs(compared: Compared, power: bool) -> tuple[list[str], list[Record]]:
    """Return columns and records: one a group, measure and pair."""
    found = _by_group(compared, lambda each: _pairs(each, power))
    return ["group", *PAIR, *_of_pairs(compared, power)], found


def list_means(compared: Compared) -> tuple[list[str], list[Record]]:
    """Return columns and records: one a group, measure and system."""
    return ["group", *MEAN], _by_group(compared, _means)


def _by_group(compared: Compared, describe: Callable[[Compared], Iterable[Record]]) -> list[Record]:
    parts: list[tuple[str, Compared]] = [("", compared), *compared.groups.items()]
    return [{"group": str(name), **each} for name, part in parts for each in describe(part)]


def _means(compared: Compared) -> Iterator[Record]:
    for k, measure in enumerate(compared.measures):
        for i, system in enumerate(compared.systems):
            mean, (low, high) = float(compared.means[i, k]), compared.intervals[i, k].tolist()
            values = (measure, system, len(compared.query_ids), mean, low, high)
            yield dict(zip(MEAN, values, strict=True))


def _judged(compared: Compared) -> Iterator[Record]:
    for cutoff, shares in compared.judged_shares.items():
        for system, share, holes in zip(
            compared.systems, shares.tolist(), compared.holes[cutoff].tolist(), strict=True
        ):
            yield {"cutoff": cutoff, "system": system, "judged": share, "holes": holes}


def _pairs(compared: Compared, power: bool) -> Iterator[Record]:
    """Yield all that is known of a measure and a pair."""
    columns, queries = _of_pairs(compared, power), len(compared.query_ids)
    names = [*PAIR, *columns]
    for k, measure in enumerate(compared.measures):
        for pair, (a, b) in enumerate(compared.pairs):
            values = [
                *(measure, compared.systems[a], compared.systems[b], queries),
                *compared.means[[a, b], k].tolist(),
                *(column[pair, k].item() for column in columns.values()),
            ]
            yield dict(zip(names, values, strict=True))


def _of_pairs(compared: Compared, power: bool) -> dict[str, npt.NDArray[Any]]:
    """Name the arrays ``(pairs, measures)``, those that were asked for."""
    low, high = np.moveaxis(compared.difference_intervals, -1, 0)
    columns: dict[str, npt.NDArray[Any]] = {
        "difference": compared.differences,
        "low": low,
        "high": high,
        "relative": compared.relative,
        "wins": compared.wins,
        "ties": compared.ties,
        "losses": compared.losses,
        "effect": compared.effects,
        "p": compared.p_values,
        "corrected_p": compared.corrected,
        "significant": compared.significant,
    }
    if compared.not_worse_p is not None and compared.not_worse is not None:
        columns |= {"not_worse_p": compared.not_worse_p, "not_worse": compared.not_worse}
    if compared.equivalence_p is not None and compared.equivalent is not None:
        columns |= {"equivalence_p": compared.equivalence_p, "equivalent": compared.equivalent}
    if power:
        columns["detectable"] = compared.detectable
        columns["queries_needed"] = compared.queries_needed
    return columns


def list_everything(compared: Compared, per_query: bool, power: bool) -> Record:
    """Return everything about a comparison, as JSON has it."""
    queries = [str(query) for query in compared.query_ids]
    everything: Record = {
        "systems": list(compared.systems),
        "measures": list(compared.measures),
        "baseline": compared.baseline,
        **{name: getattr(compared, name) for name in CHOICES},
        "queries": len(queries),
        "settings": dict(compared.settings),
        "signature": compared.signature,
        "caption": tell_how(compared),
        "means": list(_means(compared)),
        "judged": list(_judged(compared)),
        "pairs": [
            {**record, "sentence": without_marks(sentence)}
            for record, sentence in zip(_pairs(compared, power), say_all(compared, 4), strict=True)
        ],
    }
    if per_query:
        values = compared.values.transpose(0, 2, 1).tolist()
        everything["query_ids"] = queries
        everything["per_query"] = {
            system: dict(zip(compared.measures, of_system, strict=True))
            for system, of_system in zip(compared.systems, values, strict=True)
        }
    everything["groups"] = {
        str(name): list_everything(group, per_query, power)
        for name, group in compared.groups.items()
    }
    return everything
