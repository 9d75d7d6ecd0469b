"""A comparison for programs: every number with every digit."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irbatch.report.data import write_csv, write_json
from irbatch.runtime.extras import imported

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["means_to_pandas", "to_csv", "to_json", "to_means_csv", "to_pandas"]

Record = dict[str, Any]
MEAN = ("measure", "system", "queries", "mean", "low", "high")
PAIR = ("measure", "system", "against", "queries", "mean", "mean_against")  # and `_of_pairs`
CHOICES = ("test", "correction", "level", "interval", "draws", "seed", "margin")


def to_csv(
    comparison: Comparison, path: str | PathLike[str] | None = None, *, power: bool = False
) -> str:
    """Return, or also write, one line a group, measure and pair.

    The group of all queries has no name; whether a pair is equivalent is told if a margin was
    given. Names that a spreadsheet would take for a formula get a
    leading apostrophe.

    Args:
        path: where to write it; an existing file is replaced whole or not at all.
        power: whether it tells what could have been found, see `to_json`.
    """
    return write_csv(_pair_names(comparison, power), _pair_records(comparison, power), path)


def to_means_csv(comparison: Comparison, path: str | PathLike[str] | None = None) -> str:
    """Return, or also write, one line a group, measure and system: means and their intervals.

    Args:
        path: where to write it; an existing file is replaced whole or not at all.
    """
    return write_csv(["group", *MEAN], _mean_records(comparison), path)


def to_json(
    comparison: Comparison,
    path: str | PathLike[str] | None = None,
    *,
    per_query: bool = True,
    power: bool = False,
) -> str:
    """Return, or also write, everything as JSON; what is no finite number becomes null.

    Args:
        path: where to write it; an existing file is replaced whole or not at all.
        per_query: whether it has the values of every query.
        power: whether it tells of each pair which difference these queries could have shown and
            how many queries the observed one takes.

    Raises:
        ImportError: naming the extra, when power is asked for and SciPy is not installed.
    """
    return write_json(_everything(comparison, per_query, power), path)


def to_pandas(comparison: Comparison, *, power: bool = False) -> Any:
    """Return a pandas frame: one row a group, measure and pair.

    Args:
        power: whether it tells what could have been found, see `to_json`.

    Raises:
        ImportError: naming the extra, when pandas is not installed.
    """
    pd = imported("frames", "pandas", "pandas")
    return pd.DataFrame(
        list(_pair_records(comparison, power)), columns=_pair_names(comparison, power)
    )


def means_to_pandas(comparison: Comparison) -> Any:
    """Return a pandas frame: one row a group, measure and system.

    Raises:
        ImportError: naming the extra, when pandas is not installed.
    """
    pd = imported("frames", "pandas", "pandas")
    return pd.DataFrame(list(_mean_records(comparison)), columns=["group", *MEAN])


def _parts(comparison: Comparison) -> list[tuple[str, Comparison]]:
    return [("", comparison), *((str(name), each) for name, each in comparison.groups.items())]


def _pair_records(comparison: Comparison, power: bool) -> Iterator[Record]:
    for group, each in _parts(comparison):
        for record in _pairs(each, power):
            yield {"group": group, **record}


def _pair_names(comparison: Comparison, power: bool) -> list[str]:
    return ["group", *PAIR, *_of_pairs(comparison, power)]


def _mean_records(comparison: Comparison) -> Iterator[Record]:
    for group, each in _parts(comparison):
        for record in _means(each):
            yield {"group": group, **record}


def _means(comparison: Comparison) -> Iterator[Record]:
    for k, measure in enumerate(comparison.measures):
        for i, system in enumerate(comparison.systems):
            mean, (low, high) = float(comparison.means[i, k]), comparison.intervals[i, k].tolist()
            values = (measure, system, len(comparison.query_ids), mean, low, high)
            yield dict(zip(MEAN, values, strict=True))


def _pairs(comparison: Comparison, power: bool) -> Iterator[Record]:
    """Yield all that is known of a measure and a pair."""
    columns, queries = _of_pairs(comparison, power), len(comparison.query_ids)
    names = [*PAIR, *columns]
    for k, measure in enumerate(comparison.measures):
        for pair, (a, b) in enumerate(comparison.pairs):
            values = [
                *(measure, comparison.systems[a], comparison.systems[b], queries),
                *comparison.means[[a, b], k].tolist(),
                *(column[pair, k].item() for column in columns.values()),
            ]
            yield dict(zip(names, values, strict=True))


def _of_pairs(comparison: Comparison, power: bool) -> dict[str, npt.NDArray[Any]]:
    """Name the arrays ``(pairs, measures)``, those that were asked for."""
    low, high = np.moveaxis(comparison.difference_intervals, -1, 0)
    columns: dict[str, npt.NDArray[Any]] = {
        "difference": comparison.differences,
        "low": low,
        "high": high,
        "relative": comparison.relative,
        "wins": comparison.wins,
        "ties": comparison.ties,
        "losses": comparison.losses,
        "effect": comparison.effects,
        "p": comparison.p_values,
        "corrected_p": comparison.corrected,
        "significant": comparison.significant,
    }
    if comparison.equivalent is not None:
        columns["equivalent"] = comparison.equivalent
    if power:
        columns["detectable"] = comparison.detectable
        columns["queries_needed"] = comparison.queries_needed
    return columns


def _everything(comparison: Comparison, per_query: bool, power: bool) -> Record:
    """Lay a comparison out as JSON has it."""
    queries = [str(query) for query in comparison.query_ids]
    everything: Record = {
        "systems": list(comparison.systems),
        "measures": list(comparison.measures),
        "baseline": comparison.baseline,
        **{name: getattr(comparison, name) for name in CHOICES},
        "queries": len(queries),
        "settings": dict(comparison.settings),
        "signature": comparison.signature,
        "caption": comparison.caption(),
        "means": list(_means(comparison)),
        "pairs": list(_pairs(comparison, power)),
    }
    if per_query:
        values = comparison.values.transpose(0, 2, 1).tolist()
        everything["query_ids"] = queries
        everything["per_query"] = {
            system: dict(zip(comparison.measures, of_system, strict=True))
            for system, of_system in zip(comparison.systems, values, strict=True)
        }
    everything["groups"] = {
        str(name): _everything(group, per_query, power) for name, group in comparison.groups.items()
    }
    return everything
