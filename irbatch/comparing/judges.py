"""Judgments of people and of models: means of both together, and how judges agree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.compare import compare
from irbatch.comparing.rankings import kendall_tau, rbo, tau_ap_b
from irbatch.comparing.with_model import check_values, warn_of_few
from irbatch.errors import InputError, kind_of, many, warn
from irbatch.evaluation.evaluation import Judgments, Measures, Rankings, as_qrels
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs
from irbatch.report.document import (
    Column,
    Document,
    Heading,
    Part,
    Record,
    Sentences,
    Table,
    list_records,
    make_table,
)
from irbatch.report.numbers import show, show_change, show_interval
from irbatch.report.reported import Reported
from irbatch.runtime.numbers import check_number
from irbatch.statistics.intervals import cut_intervals, student_quantile
from irbatch.statistics.judges import (
    FEWEST,
    cohen_kappa,
    combine_means,
    krippendorff_alpha,
)

write_value, write_change = partial(show, digits=4), partial(show_change, digits=4)
write_share = "{:.1%}".format


def _columns(*rows: tuple[str, Any, str], intervals: Sequence[str] = ()) -> list[Column]:
    """Return columns of records: name, how a number is written, None of a text; meaning."""

    def more(name: str, signed: bool, row: Record) -> Record:
        if f"{name}_low" not in row:
            return {}
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        after = show_interval(low, high, 4, signed)
        return {"after": after, "stands_out": signed and (low > 0 or high < 0)}

    return [
        Column(name.replace("_", " "), "number" if write else "name", name=name,
               value=itemgetter(name), show=write or str, meaning=meaning,
               more=partial(more, name, write is write_change))
        for name, write, meaning in rows
    ] + [
        Column("", name=f"{name}_{side}", value=itemgetter(f"{name}_{side}"))
        for name in intervals for side in ("low", "high")
    ]  # fmt: skip


MEANS = _columns(
    ("system", None, ""),
    ("measure", None, ""),
    (
        "combined",
        write_value,
        "the mean of all queries under people's judgments, with the model's help",
    ),
    ("people", write_value, "people's judgments alone"),
    ("model", write_value, "the model's alone"),
    ("bias", write_change, "the model's values less people's, where both judged"),
    ("weight", write_value, "how much the model counts, 0 to 1"),
    ("freedom", partial(show, digits=1), "degrees of freedom of the interval"),
    ("worth", partial(show, digits=0), "queries judged by people alone that would tell as much"),
    intervals=("combined", "people", "bias"),
)


@dataclass(frozen=True, eq=False)
class Combined(Reported):
    """Means under people's judgments of some queries, with those of a model for all of them.

    `combine` makes it.

    Args:
        rows: a record of each system and measure: the combined mean, people's and the model's
            alone, the model's bias, intervals, and more, see `MEANS`.
        queries, others: how many both judged, and how many the model alone.
        level: how often intervals miss.
        signature: what shaped people's values.
    """

    rows: Sequence[Record]
    queries: int
    others: int
    level: float
    signature: str

    _label = "tab:combined"

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Draw people's, the model's and combined means of systems; return matplotlib's axes.

        Args:
            measure: by default the first.
            ax: where to draw; a new figure by default.

        Raises:
            InputError: if there is no such measure.
            ImportError: naming the extra, when matplotlib is not installed.
        """
        from irbatch.report import axes

        name = self.rows[0]["measure"] if measure is None else measure
        rows = [row for row in self.rows if row["measure"] == name]
        if not rows:
            raise InputError(f"there is no measure {name!r}", source="measure", value=name)
        axes.check_axes(ax)
        ax = axes.new_axes(ax, height=1.2 + 0.6 * len(rows), legend=3)
        kinds = (("people", "people alone"), ("combined", "combined"), ("model", "model alone"))
        for shift, ((kind, label), style) in enumerate(zip(kinds, axes.styles(3), strict=True)):
            values = [row[kind] for row in rows]
            reach = [row.get(f"{kind}_high", row[kind]) - row[kind] for row in rows]
            places = np.arange(len(rows)) + 0.22 * (shift - 1)
            drawn = {"fmt": style.marker, "color": style.color, "label": label}
            ax.errorbar(values, places, xerr=reach, **drawn)
        ax.set_yticks(range(len(rows)), axes.fit_names(row["system"] for row in rows))
        ax.invert_yaxis()
        ax.set_xlabel(name)
        axes.tidy(ax, "x")
        axes.add_legend(ax, *ax.get_legend_handles_labels())
        return ax

    def _document(self, form: str) -> Document:
        judged = f"{many(self.queries, 'query')} judged by people and {self.others} by the model"
        caption = f"{judged} alone; {1 - self.level:.0%} intervals"
        table = make_table("", MEANS, self.rows)
        return Document("Means by people and a model", caption, [], [table], self.signature)

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return list_records(MEANS, self.rows)

    def _everything(self) -> Record:
        return {**vars(self), "rows": list(self.rows)}


def combine(
    people: Results | Mapping[str, Results],
    model: Results | Mapping[str, Results],
    *,
    level: float = 0.05,
) -> Combined:
    """Estimate means of all queries from people's judgments of some and a model's of all.

    The estimate has no bias, whatever the model's errors, if the queries that people judged are a
    random sample of all and the model has not seen their judgments. Its interval is narrower than
    that of people's judgments alone, the more so the better the model; beside a model that knows
    nothing it is as wide.

    Args:
        people: results under people's judgments, of one system or system to results.
        model: results of the same systems and measures under the model's judgments: of the same
            queries and of others.
        level: how often intervals miss: 0.05 of 95 % intervals.

    Raises:
        InputError: if systems, measures or queries differ, both judged fewer than 3 queries, the
            model fewer than 2 others, a value is NaN, or a measure's mean is not the arithmetic
            one.

    Source: see `irbatch.statistics.judges.combine_means`.

    >>> import irbatch
    >>> run = {f"q{i}": {"a": 3.0, "b": 2.0, "c": 1.0} for i in range(60)}
    >>> model = {query: {"abc"[i % 3]: 1} for i, query in enumerate(run)}
    >>> people = {query: dict(model[query]) for query in list(run)[:25]} | {"q1": {"a": 1}}
    >>> by_people, by_model = (irbatch.evaluate(qrels, run, "RR") for qrels in (people, model))
    >>> found = combine(by_people, by_model)
    >>> round(found.rows[0]["people"], 4), round(found.rows[0]["combined"], 4)
    (0.6467, 0.6314)
    """
    check_number("level", level, above=0, below=1)
    first, second = (_by_name(each) for each in (people, model))
    if list(first) != list(second):
        problem = f"people's results are of {', '.join(first)}, the model's of {', '.join(second)}"
        raise InputError(problem, source="model")
    values = []
    for name, results in first.items():
        known, same, others = _pair_values(name, results, second[name])
        if len(others) < 2:
            problem = f"the model judged {many(len(others), 'query')} that people did not: not 2"
            raise InputError(problem, source=name)
        values.append((known, same, second[name].values[others]))
    if len({(len(known), len(others)) for known, _, others in values}) > 1:
        raise InputError("the systems' results are of different queries", source="people")
    if all(np.array_equal(known, same) for known, same, _ in values):
        warn("people's and the model's values are the same: are these two judges?")
    n = len(values[0][0])
    warn_of_few(n)
    known, same, other = (np.concatenate(part, axis=1) for part in zip(*values, strict=True))
    some = next(iter(first.values()))
    means = combine_means(known, same, other, level)
    ranges = np.tile(np.array([each.range for each in some.columns]).T, len(first))
    means = means._replace(
        combined_bounds=cut_intervals(means.combined_bounds, means.combined, *ranges),
        people_bounds=cut_intervals(means.people_bounds, means.people, *ranges),
    )
    names = [(name, measure) for name in first for measure in some.measures]
    rows = []
    for i, (system, measure) in enumerate(names):
        row: Record = {"system": system, "measure": measure}
        for name, numbers in means._asdict().items():
            if numbers.ndim == 2:
                kind = name.removesuffix("_bounds")
                row[f"{kind}_low"], row[f"{kind}_high"] = numbers[i].tolist()
            else:
                row[name] = float(numbers[i])
        rows.append(row)
    return Combined(rows, n, len(other), level, some.signature)


def _by_name(results: Results | Mapping[str, Results]) -> dict[str, Results]:
    if isinstance(results, Results):
        return {results.name or "run": results}
    if isinstance(results, Mapping) and results:
        return dict(results)
    raise InputError(f"results come from irbatch.evaluate, not {kind_of(results)}", source="people")


def _pair_values(name: str, people: Results, model: Results) -> tuple[Floats, Floats, list[int]]:
    """Return both judges' values of the queries of both, and rows of the model's other queries."""
    if people.measures != model.measures:
        problem = f"people's measures are {people.measures}, the model's {model.measures}"
        raise InputError(problem, source=name)
    for results in people, model:
        check_values(name, results)
    both = [(row, model.rows[query]) for query, row in people.rows.items() if query in model.rows]
    if len(both) < FEWEST:
        problem = f"both judges judged {many(len(both), 'query')}: it takes {FEWEST}"
        raise InputError(problem, source=name)
    rows, model_rows = (list(side) for side in zip(*both, strict=True))
    others = [row for query, row in model.rows.items() if query not in people.rows]
    return people.values[rows], model.values[model_rows], others


AGREEMENT = _columns(
    ("judge", None, ""),
    ("both_judged", str, "documents of queries"),
    ("same_grade", write_share, ""),
    ("kappa", write_value, "Cohen's"),
    ("weighted_kappa", write_value, "by squared distances of grades"),
    ("relevant", write_share, "to this judge, of what both judged"),
    ("relevant_to_first", write_share, ""),
)
ORDERS = _columns(
    ("judge", None, ""),
    ("measure", None, ""),
    ("tau", write_value, "Kendall's tau-b of the systems' means under both judges"),
    ("tau_ap", write_value, "the symmetric AP correlation: the top counts most"),
    ("rbo", write_value, "of the two orders, p = 0.9"),
    ("reversed", lambda pairs: "; ".join(map(" and ".join, pairs)) or "none",
     "pairs whose difference is significant under both, with other signs"),
)  # fmt: skip
KINDNESS = _columns(
    ("judge", None, ""),
    ("system", None, ""),
    ("measure", None, ""),
    ("bias", write_change, "the judge's mean less the first one's, where both judged"),
    ("kinder", write_change, "the bias less the mean of all systems' biases"),
    intervals=("kinder",),
)


@dataclass(frozen=True, eq=False)
class Judges(Reported):
    """Judges side by side; `compare_judges` makes it.

    Args:
        names: the judges; the others are compared with the first.
        agreements: a record of each other judge: how many documents both judged, the share with the
            same grade, Cohen's kappa, plain and weighted, and the shares that each calls relevant.
        grades: judge to grade of the first one to grade of this one to how many documents.
        alpha, ordinal_alpha: Krippendorff's of all judges, of grades as names and in their order.
        orders: a record of each other judge and measure: how it orders the systems.
        kindness: a record of each other judge, system and measure: by how much it is kinder to the
            system than to the mean of all.
        combined: judge to means of both together, where it judged queries that the first did not.
    """

    names: Sequence[str]
    agreements: Sequence[Record]
    grades: Mapping[str, Mapping[float, Mapping[float, int]]]
    alpha: float
    ordinal_alpha: float
    orders: Sequence[Record] = ()
    kindness: Sequence[Record] = ()
    combined: Mapping[str, Combined] | None = None

    _label = "tab:judges"

    def _document(self, form: str) -> Document:
        first = self.names[0]
        agreement = make_table("", AGREEMENT, self.agreements)
        caption = f"Judges compared with {first}"
        if form == "latex":  # which makes one table of all
            return Document("Judges", caption, [], [agreement])
        alphas = f"{show(self.alpha, 4)}, and {show(self.ordinal_alpha, 4)} of grades in order"
        parts: list[Part] = [Heading("agreement"), agreement]
        parts.append(Sentences([f"Krippendorff's alpha of all judges is {alphas}."]))
        for judge, counts in self.grades.items():
            parts += [Heading(f"grades of {judge}"), _grades_table(first, counts)]
        if self.orders:
            parts += [Heading("order of systems"), make_table("", ORDERS, self.orders)]
            parts += [Heading("kinder than to the mean system")]
            parts += [make_table("", KINDNESS, self.kindness)]
        for judge, means in (self.combined or {}).items():
            document = means._document(form)
            parts += [Heading(f"{first} and {judge}: {document.caption}"), *document.parts]
        return Document("Judges", caption, [], parts)

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return list_records(AGREEMENT, self.agreements)

    def _everything(self) -> Record:
        return {
            "judges": list(self.names), "agreements": list(self.agreements),
            "grades": {
                judge: {f"{grade:g}": {f"{other:g}": count for other, count in row.items()}
                        for grade, row in counts.items()}
                for judge, counts in self.grades.items()
            },
            "alpha": self.alpha, "ordinal_alpha": self.ordinal_alpha,
            "orders": list(self.orders), "kindness": list(self.kindness),
            "combined": {judge: each.to_dict() for judge, each in (self.combined or {}).items()},
        }  # fmt: skip


def _grades_table(first: str, counts: Mapping[float, Mapping[float, int]]) -> Table:
    """Show how often one judge gave the grade of a row, the other that of a column."""
    columns = [Column(first, "name", value=lambda row: f"grade {row:g}")]
    for grade in counts:
        columns.append(
            Column(f"{grade:g}", value=partial(lambda one, row: counts[row][one], grade))
        )
    return make_table("", columns, counts)


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

    Source: see `irbatch.statistics.judges` and `irbatch.comparing.rankings`.

    >>> people = {"q1": {"a": 1, "b": 0, "c": 1, "d": 0}, "q2": {"a": 0, "b": 1}}
    >>> model = {"q1": {"a": 1, "b": 0, "c": 0, "d": 0}, "q2": {"a": 0, "b": 1, "c": 1}}
    >>> found = compare_judges({"people": people, "model": model})
    >>> found.agreements[0]["both_judged"], round(found.agreements[0]["kappa"], 4)
    (6, 0.6667)
    """
    if not isinstance(judges, Mapping) or len(judges) < 2:
        problem = "judges are two or more, by name: {'people': qrels, 'model': other}"
        raise InputError(problem, source="judges", value=judges)
    check_number("rel", rel)
    check_number("level", level, above=0, below=1)
    qrels = {name: as_qrels(each) for name, each in judges.items()}
    of_pairs: dict[str, dict[Any, float]] = {
        name: {(query, document): float(grade) for query, documents in each.to_dict().items()
               for document, grade in documents.items()}
        for name, each in qrels.items()
    }  # fmt: skip
    first, *others = qrels
    compared = {name: _compare_grades(of_pairs[first], of_pairs[name], name) for name in others}
    for name in others:
        highest = [max(of_pairs[each].values(), default=0) for each in (first, name)]
        if of_pairs[name] == of_pairs[first]:
            warn(f"{first} and {name} are the same judgments: are these two judges?")
        elif highest[0] != highest[1]:
            scales = f"{highest[0]:g} by {first}, {highest[1]:g} by {name}"
            warn(f"the highest grades differ, {scales}: bring them to one scale if they are of two")
    agreements = [{"judge": name, **_agree(*compared[name], rel)} for name in others]
    counts = {
        name: {grade: dict(zip(grades, row, strict=True))
               for grade, row in zip(grades, table.astype(int).tolist(), strict=True)}
        for name, (grades, table) in compared.items()
    }  # fmt: skip
    of_documents = _count_grades(list(of_pairs.values()))
    alpha, ordinal = (krippendorff_alpha(of_documents, ordinal=each) for each in (False, True))
    found = Judges(list(qrels), agreements, counts, alpha, ordinal)
    if runs is None:
        return found
    results = {name: evaluate_runs(each, runs, measures, rel=rel) for name, each in qrels.items()}
    orders = [each for name in others for each in _orders(results, first, name, level)]
    kindness = [each for name in others for each in _kindness(results, first, name, level)]
    combined = {
        name: combine(results[first], results[name], level=level)
        for name in others
        if len({*qrels[name].queries}.difference(qrels[first].queries)) > 1
    }
    return replace(found, orders=orders, kindness=kindness, combined=combined)


def _compare_grades(
    first: Mapping[Any, float], other: Mapping[Any, float], judge: str
) -> tuple[list[float], Floats]:
    """Return the grades of what both judged, and how many documents have each two of them."""
    both = [pair for pair in first if pair in other]
    if not both:
        problem = "it judged no document of a query that the first judge did, too"
        raise InputError(problem, source=judge)
    grades = sorted({*(first[pair] for pair in both), *(other[pair] for pair in both)})
    place = {grade: k for k, grade in enumerate(grades)}
    counts = np.zeros((len(grades), len(grades)))
    for pair in both:
        counts[place[first[pair]], place[other[pair]]] += 1
    return grades, counts


def _agree(grades: Sequence[float], counts: Floats, rel: float) -> Record:
    """Return how two judges agree, see `AGREEMENT`."""
    relevant, total = np.array(grades) >= rel, counts.sum()
    return {
        "both_judged": int(total),
        "same_grade": float(np.trace(counts) / total),
        "kappa": cohen_kappa(counts),
        "weighted_kappa": cohen_kappa(counts, weighted=True),
        "relevant": float(counts[:, relevant].sum() / total),
        "relevant_to_first": float(counts[relevant].sum() / total),
    }


def _count_grades(judges: Sequence[Mapping[Any, float]]) -> Floats:
    """Count how many judges gave a document each grade, ``(documents, grades)``."""
    grades = sorted({grade for each in judges for grade in each.values()})
    place = {grade: k for k, grade in enumerate(grades)}
    pairs = dict.fromkeys(itertools.chain.from_iterable(judges))
    rows = {pair: row for row, pair in enumerate(pairs)}
    counts = np.zeros((len(rows), len(grades)))
    for each in judges:
        for pair, grade in each.items():
            counts[rows[pair], place[grade]] += 1
    return counts


def _orders(
    results: Mapping[str, Mapping[str, Results]], first: str, judge: str, level: float
) -> Iterator[Record]:
    """Compare the systems' order under a judge with that under the first one."""
    systems = list(results[first])
    if len(systems) < 2:
        return
    compared = [compare(results[name], test="t", level=level) for name in (first, judge)]
    for column, measure in enumerate(compared[0].measures):
        means = [{each: results[name][each][measure] for each in systems}
                 for name in (first, judge)]  # fmt: skip
        best, other = (sorted(systems, key=each.__getitem__, reverse=True) for each in means)
        signs = [np.sign(each.differences[:, column]) * each.significant[:, column]
                 for each in compared]  # fmt: skip
        turned = np.flatnonzero(signs[0] * signs[1] < 0)
        pairs = [compared[0].pairs[row] for row in turned.tolist()]
        scores = [list(each.values()) for each in means]
        yield {
            "judge": judge,
            "measure": measure,
            "tau": kendall_tau(*scores),
            "tau_ap": tau_ap_b(*scores),
            "rbo": rbo(best, other).extrapolated,
            "reversed": [[systems[a], systems[b]] for a, b in pairs],
        }


def _kindness(
    results: Mapping[str, Mapping[str, Results]], first: str, judge: str, level: float
) -> Iterator[Record]:
    """Compare a judge's bias to each system with its bias to the mean of all."""
    systems = list(results[first])
    if len(systems) < 2:
        return
    pairs = [_pair_values(each, results[first][each], results[judge][each]) for each in systems]
    biases = np.stack([model - people for people, model, _ in pairs])
    kinder = biases - biases.mean(axis=0)
    n = biases.shape[1]
    reach = student_quantile(level / 2, n - 1) * kinder.std(axis=1, ddof=1) / math.sqrt(n)
    for k, measure in enumerate(results[first][systems[0]].measures):
        for i, system in enumerate(systems):
            mean = float(kinder[i, :, k].mean())
            low, high = mean - float(reach[i, k]), mean + float(reach[i, k])
            bias = float(biases[i, :, k].mean())
            yield {"judge": judge, "system": system, "measure": measure, "bias": bias,
                   "kinder": mean, "kinder_low": low, "kinder_high": high}  # fmt: skip
