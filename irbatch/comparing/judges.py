"""Judgments of people and of models: means of both together, and how judges agree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.compare import compare
from irbatch.comparing.rankings import kendall_tau, rbo, tau_ap
from irbatch.errors import InputError, kind_of, many, warn
from irbatch.evaluation.evaluation import Judgments, Measures, Rankings, as_qrels
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs
from irbatch.report import Reported
from irbatch.report.document import Column, Document, Heading, Part, Record, make_table
from irbatch.report.text import best_first, show, show_change, show_interval
from irbatch.runtime.numbers import check_number
from irbatch.statistics.agreement import (
    ENOUGH_QUERIES,
    FEWEST,
    cohen_kappa,
    combine_means,
    krippendorff_alpha,
)
from irbatch.statistics.intervals import student_quantile

_show, _show_change = partial(show, digits=4), partial(show_change, digits=4)


def _column(name: str, show: Any = None, meaning: str = "") -> Column:
    """Return the column of a record's number, of a text without `show`, and of its interval."""
    signed = show is _show_change

    def more(row: Record) -> Record:
        if f"{name}_low" not in row:
            return {}
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        after = show_interval(low, high, 4, signed)
        return {"after": after, "stands_out": signed and (low > 0 or high < 0)}

    return Column(name.replace("_", " "), "number" if show else "name", name=name,
                  value=itemgetter(name), show=show or str, meaning=meaning, more=more)  # fmt: skip


COLUMNS = [
    _column("judge"),
    _column("system"),
    _column("measure"),
    _column("both_judged", str, "documents of queries"),
    _column("same_grade", "{:.1%}".format),
    _column("kappa", _show, "Cohen's"),
    _column("weighted_kappa", _show, "by squared distances of grades"),
    _column("alpha", _show, "Krippendorff's of all judges, of grades as names"),
    _column("ordinal_alpha", _show, "and of grades in their order"),
    _column("grade", "{:g}".format, "the first judge's; how often the other one said which"),
    _column("tau", _show, "Kendall's tau-b of the systems' means under both judges"),
    _column("tau_ap", _show, "the symmetric AP correlation: the top counts most"),
    _column("rbo", _show, "of the two orders, p = 0.9"),
    _column("reversed", lambda pairs: "; ".join(map(" and ".join, pairs)) or "none",
            "pairs whose difference is significant under both, with other signs"),
    _column("combined", _show,
            "the mean of all queries under people's judgments, with the model's help"),
    _column("people", _show, "people's judgments alone"),
    _column("model", _show, "the model's alone"),
    _column("bias", _show_change, "the judge's values less the first one's, where both judged"),
    _column("kinder", _show_change, "the bias less the mean of all systems' biases"),
    _column("weight", _show, "how much the model counts, 0 to 1"),
    _column("freedom", partial(show, digits=1), "degrees of freedom of the interval"),
    _column("worth", partial(show, digits=0),
            "queries judged by people alone that would tell as much"),
    _column("queries", str, "judged by both"),
    _column("others", str, "judged by the model alone"),
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Judges(Reported):
    """What `compare_judges` and `combine` return: tables of records, by heading.

    ``"agreement"``, ``"orders"``, ``"kindness"`` and ``"means"`` have a record of each judge but
    the first one, with whom it is compared, and of measures and systems; ``"grades of …"`` one of
    each grade of the first one, with how often the other said which. `COLUMNS` tells what the
    fields mean. CSV and frames are of the first table.
    """

    caption: str
    tables: dict[str, list[Record]]
    signature: str = ""  # what shaped people's values, of means alone

    _label = "tab:judges"

    def _document(self, form: str) -> Document:
        parts: list[Part] = []
        for heading, rows in self.tables.items():
            columns = [column for column in COLUMNS if column.name in rows[0]]
            grades = [grade for grade in rows[0] if isinstance(grade, float)]
            columns += [Column(f"{grade:g}", value=itemgetter(grade)) for grade in grades]
            parts += [Heading(heading), make_table("", columns, rows)]
        if form == "latex" or len(self.tables) == 1:  # LaTeX makes one table of all
            parts = parts[1:2]
        return Document("Judges", self.caption, [], parts, self.signature)

    def _records(self) -> tuple[list[str], list[Record]]:
        rows = next(iter(self.tables.values()))
        return list(rows[0]), rows

    def _everything(self) -> Record:
        return dict(vars(self))


def combine(
    people: Mapping[str, Results], model: Mapping[str, Results], *, level: float = 0.05
) -> Judges:
    """Estimate means of all queries from people's judgments of some and a model's of all.

    The estimate has no bias, whatever the model's errors, if the queries that people judged are a
    random sample of all and the model has not seen their judgments. Its interval is narrower than
    that of people's judgments alone, the more so the better the model; beside a model that knows
    nothing it is as wide.

    Args:
        people, model: system to results, under people's judgments and under the model's: of the
            same queries and of others.
        level: how often intervals miss: 0.05 of 95 % intervals.

    Raises:
        InputError: if systems, measures or queries differ, both judged fewer than 3 queries, the
            model fewer than 2 others, a value is NaN, or a measure's mean is not the arithmetic
            one.

    Source: see `irbatch.statistics.agreement.combine_means`.

    >>> import irbatch
    >>> run = {f"q{i}": {"a": 3.0, "b": 2.0, "c": 1.0} for i in range(60)}
    >>> model = {query: {"abc"[i % 3]: 1} for i, query in enumerate(run)}
    >>> people = {query: dict(model[query]) for query in list(run)[:25]} | {"q1": {"a": 1}}
    >>> by_people, by_model = (irbatch.evaluate(qrels, run, "RR") for qrels in (people, model))
    >>> (row,) = combine({"run": by_people}, {"run": by_model}).tables["means"]
    >>> round(row["people"], 4), round(row["combined"], 4)
    (0.6467, 0.6314)
    """
    check_number("level", level, above=0, below=1)
    for source, side in (("people", people), ("model", model)):
        if not isinstance(side, Mapping) or not side:
            problem = f"results go by systems' names, {{'bm25': results}}, not {kind_of(side)}"
            raise InputError(problem, source=source)
    names = [{system: own.measures for system, own in side.items()} for side in (people, model)]
    if list(names[0].items()) != list(names[1].items()):
        problem = f"results are of {names[0]} by people, of {names[1]} by the model"
        raise InputError(problem, source="model")
    signature = next(iter(people.values())).signature
    caption = f"Means by people and a model; {1 - level:.0%} intervals."
    return Judges(caption, {"means": _means("model", people, model, level)}, signature)


def _means(
    judge: str, people: Mapping[str, Results], model: Mapping[str, Results], level: float
) -> list[Record]:
    """Return what `combine` finds, a record of each system and measure."""
    queries, others = _split(people, model)
    if len(queries) < FEWEST or len(others) < 2:
        judged = f"both judged {many(len(queries), 'query')}, the model {len(others)} others"
        raise InputError(f"{judged}: it takes {FEWEST} and 2", source="model")
    if len(queries) < ENOUGH_QUERIES:
        few = f"intervals of fewer than {ENOUGH_QUERIES} may miss more often than they say"
        warn(f"people judged {many(len(queries), 'query')}: {few}")
    results = next(iter(people.values()))
    ranges = np.tile(np.array([column.range for column in results.columns]).T, len(people))
    one, same, alone = (
        np.moveaxis(_values_of(side, some), 1, 0).reshape(len(some), -1)
        for side, some in ((people, queries), (model, queries), (model, others))
    )
    means = combine_means(one, same, alone, level, ranges)
    names = itertools.product([judge], people, results.measures)
    rows = zip(*(numbers.tolist() for numbers in means), strict=True)
    heads = ("judge", "system", "measure", *means._fields, "queries", "others")
    return [
        dict(zip(heads, (*name, *row, len(queries), len(others)), strict=True))
        for name, row in zip(names, rows, strict=True)
    ]


def _split(
    first: Mapping[str, Results], second: Mapping[str, Results]
) -> tuple[list[Any], list[Any]]:
    """Return the queries that both judges judged, and those that the second alone did."""
    one, other = (next(iter(by_system.values())).rows for by_system in (first, second))
    both = [query for query in one if query in other]
    return both, [query for query in other if query not in one]


def _values_of(results: Mapping[str, Results], queries: Sequence[Any]) -> Floats:
    """Return values of queries, ``(systems, queries, measures)``; reject missing and NaN ones."""
    values = []
    for name, own in results.items():
        for column in own.columns:
            if column.aggregate != "mean":
                problem = f"{column} has no arithmetic mean of queries"
                raise InputError(problem, source=name, value=column)
        for query in queries:
            if query not in own.rows:
                raise InputError("there are no values of this query", source=name, query=query)
        values.append(own.values[[own.rows[query] for query in queries]])
        if (empty := np.argwhere(np.isnan(values[-1]))).size:
            row, column = empty[0].tolist()
            problem = f"{own.measures[column]} is NaN: evaluate with no_relevant='zero'"
            raise InputError(problem, source=name, query=queries[row])
    return np.stack(values)


def compare_judges(
    judges: Mapping[str, Judgments],
    runs: Mapping[str, Rankings] | None = None,
    measures: Measures = "nDCG@10",
    *,
    rel: float = 1,
    level: float = 0.05,
) -> Judges:
    """Compare judgments of the same documents: people's, and models'.

    Args:
        judges: name to judgments, two or more: mappings, tables, paths, `Qrels`. The others are
            compared with the first.
        runs: systems to their rankings; with them: how each judge orders the systems, to which it
            is kinder than to others, and means of both together where it judged queries that the
            first one did not.
        measures: of the runs.
        rel: the grade from which documents are relevant.
        level: how often intervals miss, and tests find what is not there.

    Raises:
        InputError: if there are fewer than two judges, or two have no document of a query in
            common; with runs, as `irbatch.evaluate` and `combine`.

    Source: see `irbatch.statistics.agreement` and `irbatch.comparing.rankings`.

    >>> people = {"q1": {"a": 1, "b": 0, "c": 1, "d": 0}, "q2": {"a": 0, "b": 1}}
    >>> model = {"q1": {"a": 1, "b": 0, "c": 0, "d": 0}, "q2": {"a": 0, "b": 1, "c": 1}}
    >>> (row,) = compare_judges({"people": people, "model": model}).tables["agreement"]
    >>> row["both_judged"], round(row["kappa"], 4)
    (6, 0.6667)
    """
    if not isinstance(judges, Mapping) or len(judges) < 2:
        problem = "judges are two or more, by name: {'people': qrels, 'model': other}"
        raise InputError(problem, source="judges", value=judges)
    check_number("rel", rel)
    check_number("level", level, above=0, below=1)
    qrels = {name: as_qrels(judgments) for name, judgments in judges.items()}
    graded = [
        {(query, document): grade for query, documents in judgments.to_dict().items()
         for document, grade in documents.items()}
        for judgments in qrels.values()
    ]  # fmt: skip
    pairs = dict.fromkeys(itertools.chain.from_iterable(graded))
    grades = np.array(
        [[grade_of.get(pair, math.nan) for pair in pairs] for grade_of in graded], float
    )
    often = (grades[:, :, None] == np.unique(grades[~np.isnan(grades)])).sum(axis=0).astype(float)
    alphas = {"alpha": krippendorff_alpha(often)}
    alphas["ordinal_alpha"] = krippendorff_alpha(often, ordinal=True)
    first, *others = qrels
    tables: dict[str, list[Record]] = {"agreement": [], "agreement of all": [alphas]}
    for j, name in enumerate(others, 1):
        agreement, tables[f"grades of {name}"] = _agree(name, grades[[0, j]])
        tables["agreement"].append(agreement)
    if runs is not None:
        results = {name: evaluate_runs(own, runs, measures, rel=rel) for name, own in qrels.items()}
        tables |= {"orders": [], "kindness": [], "means": []}
        for name in others:
            sides = results[first], results[name]
            if len(results[first]) > 1:
                tables["orders"] += _orders(name, *sides, level)
                tables["kindness"] += _kindness(name, *sides, level)
            if len(_split(*sides)[1]) > 1:
                tables["means"] += _means(name, *sides, level)
    caption = f"Judges compared with {first}; {1 - level:.0%} intervals."
    return Judges(caption, {heading: rows for heading, rows in tables.items() if rows})


def _agree(judge: str, both: Floats) -> tuple[Record, list[Any]]:
    """Return how a judge agrees with the first one, and grades of the first against its own."""
    both = both[:, ~np.isnan(both).any(axis=0)]
    if not both.size:
        problem = "it judged no document of a query that the first judge did, too"
        raise InputError(problem, source=judge)
    grades, places = np.unique(both, return_inverse=True)
    counts = np.zeros((grades.size, grades.size))
    np.add.at(counts, tuple(places.reshape(2, -1)), 1)
    agreement = {
        "judge": judge,
        "both_judged": int(counts.sum()),
        "same_grade": float(np.trace(counts) / counts.sum()),
        "kappa": cohen_kappa(counts),
        "weighted_kappa": cohen_kappa(counts, weighted=True),
    }
    names, rows = grades.tolist(), counts.astype(int).tolist()
    return agreement, [
        {"grade": grade, **dict(zip(names, row, strict=True))}
        for grade, row in zip(names, rows, strict=True)
    ]


def _orders(
    judge: str, first: Mapping[str, Results], second: Mapping[str, Results], level: float
) -> Iterator[Record]:
    """Compare the systems' order under a judge with that under the first one."""
    both = [compare(results, test="t", level=level) for results in (first, second)]
    one, other = both
    signs = [np.sign(compared.differences) * compared.significant for compared in both]
    for k, measure in enumerate(one.measures):
        means = one.means[:, k].tolist(), other.means[:, k].tolist()
        turned = np.flatnonzero(signs[0][:, k] * signs[1][:, k] < 0).tolist()
        yield {
            "judge": judge,
            "measure": measure,
            "tau": kendall_tau(*means),
            "tau_ap": tau_ap(*means, "b"),
            "rbo": rbo(best_first(means[0], 1), best_first(means[1], 1)).extrapolated,
            "reversed": [[one.systems[i] for i in one.pairs[row]] for row in turned],
        }


def _kindness(
    judge: str, first: Mapping[str, Results], second: Mapping[str, Results], level: float
) -> Iterator[Record]:
    """Compare a judge's bias to each system with its bias to the mean of all."""
    queries, _ = _split(first, second)
    biases = _values_of(second, queries) - _values_of(first, queries)
    kinder = biases - biases.mean(axis=0)
    n = len(queries)
    reach = student_quantile(level / 2, n - 1) * kinder.std(axis=1, ddof=1) / math.sqrt(n)
    for k, measure in enumerate(next(iter(first.values())).measures):
        for i, system in enumerate(first):
            mean, width = float(kinder[i, :, k].mean()), float(reach[i, k])
            yield {"judge": judge, "system": system, "measure": measure,
                   "bias": float(biases[i, :, k].mean()), "kinder": mean,
                   "kinder_low": mean - width, "kinder_high": mean + width}  # fmt: skip
