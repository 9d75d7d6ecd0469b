"""What tools call the columns of judgments and rankings."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from irbatch.errors import ErrorsIn, InputError, join_words, keyword, shown

VALUE = {"qrels": "grade", "run": "score"}

# Matched without regard to case, underscores and hyphens, and to the types that RecBole writes
# behind its names, ``user_id:token``. Of ir_measures and ir_datasets, PyTerrier, ranx, BEIR and
# MTEB, MS MARCO, and our own; then of MovieLens, RecBole, LensKit, RecTools, Surprise, Spark.
QUERIES = ("query_id", "qid", "query")
DOCUMENTS = ("doc_id", "docno", "corpus_id", "pid", "document")
USERS = ("user_id", "user", "uid")
ITEMS = ("item_id", "item", "iid", "movie_id")
GRADE = ("relevance", "label", "grade", "score", "rating"), ("rel", "weight")
SCORES = ("score", "prediction")
POPULARITIES = ("popularity", "count")
RANKS = ("rank",)
TYPES = "token", "float", "token_seq", "float_seq"
# What stands beside judgments and cannot be a grade: where nothing else does, all have grade 1.
BESIDE = ("timestamp", "datetime", "iteration")
# What gives way to others of its role: PyTerrier has the text of queries in `query`, and its
# index's numbers of documents in `docid`.
YIELDING = {"query", "document", "docid"}

# What else will do, where one column alone is not recognised.
INSTEAD = {"grade": ", or grade=1 if all are 1", "score": "; ranks are enough, in a column 'rank'"}

# By kind of table and role: the names, those of the first group before those of the second. A
# search log knows who asked; the query is what was asked.
Names = tuple[tuple[str, ...], ...]
QUERY, DOCUMENT = (QUERIES, USERS), (DOCUMENTS, ITEMS)
JUDGED: dict[str, Names] = {"query": QUERY, "document": DOCUMENT, "grade": GRADE}
ROLES: dict[str, dict[str, Names]] = {
    "qrels": JUDGED,
    "subtopics": {**JUDGED, "subtopic": (("subtopic", "subtopic_id", "iteration"),)},
    "strata": {**JUDGED, "stratum": (("stratum",),)},
    "probabilities": {**JUDGED, "probability": (("probability",),)},
    "interactions": {"user": (USERS, QUERIES), "item": (ITEMS, DOCUMENTS)},
    "run": {"query": QUERY, "document": DOCUMENT, "score": (SCORES,)},
    "ranking": {"query": QUERY, "document": DOCUMENT, "rank": (RANKS,)},
}
# What judgments may have besides grades, and its role.
MARK = {"subtopics": "subtopic", "strata": "stratum", "probabilities": "probability"}
# What callers may call roles, and those that their tables of a source may have.
WORDS = {"user": "query", "item": "document", "relevance": "grade", "rating": "grade"}
SOURCES = {"qrels": (*JUDGED, *MARK.values()), "run": (*ROLES["run"], "rank")}

Columns = Mapping[str, Any] | None
"""What callers say of columns: role to name, of both sources, or of each apart."""


def check_columns(columns: Columns, sources: Sequence[str] = tuple(SOURCES)) -> None:
    """Reject what is not a mapping of roles to names, for tables of some sources."""
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        problem = "are a mapping of roles to names, such as {'query': 'user'}, not"
        raise InputError(f"{problem} {shown(columns)}", source="columns", value=columns)
    roles = list(dict.fromkeys(role for source in sources for role in SOURCES[source]))
    named: set[str] = set()
    for word, name in columns.items():
        if word in SOURCES:
            check_columns(name, (word,))
            continue
        role = WORDS.get(word, word)
        problem = None
        if role not in roles:
            words = [*roles, *(other for other in WORDS if WORDS[other] in roles)]
            problem = f"{shown(word)} is none of {join_words(words, 'or')}"
        elif role in named:
            problem = f"the {role} is named twice: {shown(dict(columns))}"
        elif not isinstance(name, Hashable):
            problem = f"the {role} is {shown(name)}, which is not a name"
        if problem is not None:
            raise InputError(problem, source="columns", value=word)
        named.add(role)


def names_for(columns: Columns, kind: str) -> dict[str, Any]:
    """Return the names that a caller gave to the columns of a `kind` of `ROLES`, by role.

    >>> names_for({"user": "u", "run": {"user": "who"}, "score": "yhat"}, "qrels")
    {'query': 'u'}
    """
    check_columns(columns)
    source = "run" if kind == "run" else "qrels"
    names: dict[str, Any] = {}
    for part in (columns or {}, (columns or {}).get(source) or {}):
        names |= {WORDS.get(word, word): name for word, name in part.items()}
    roles = SOURCES["run"] if kind == "run" else ROLES[kind]
    return {role: name for role, name in names.items() if role in roles}


def choose_columns(
    names: Sequence[Any], kind: str, role_columns: Mapping[str, Any]
) -> dict[str, str]:
    """Find out which columns are the query, the document and the grade or score, or as `ROLES` has.

    Without scores, or where the ranks are named alone, a run has ``rank``. Judgments lack
    ``grade``, see `grade_of_all`, if a number was given for it, or if no column could be one.

    Of `role_columns`, the names that a caller gave by role, those that are None are recognised.

    >>> choose_columns(["qid", "query", "docno", "score", "rank"], "run", {})
    {'query': 'qid', 'document': 'docno', 'score': 'score'}
    >>> choose_columns(["user_id", "item_id", "rank"], "run", {})
    {'query': 'user_id', 'document': 'item_id', 'rank': 'rank'}
    """
    names = list(names)
    if kind == "run" and role_columns.get("score") is None:
        ranked = find_name(names, RANKS) and not find_name(names, SCORES)
        kind = "ranking" if ranked or role_columns.get("rank") is not None else kind
    wishes = {role: role_columns.get(role) for role in ROLES[kind]}
    if isinstance(wishes.get("grade"), int | float) and wishes["grade"] not in names:
        del wishes["grade"]
    free = [name for name in dict.fromkeys(names) if name not in {*wishes.values()}]
    columns_text = f"the columns are {shown(names, 500)}" if names else "there are no columns"
    with ErrorsIn(source="run" if kind == "ranking" else kind):
        chosen = {
            role: _recognise(free, role, ROLES[kind][role]) if wish is None else wish
            for role, wish in wishes.items()
        }
        others = {*names} - {*chosen.values()}
        if chosen.get("grade", "") is None and all(find_name([name], BESIDE) for name in others):
            del chosen["grade"]
        if lacking := [role for role, name in chosen.items() if name is None]:
            whose = join_words([f"the {role}" for role in lacking], "or")
            named_so = keyword("columns", dict.fromkeys(lacking, "…"))
            hint = INSTEAD.get(lacking[0], "") if len(lacking) == 1 else ""
            raise InputError(f"no column is {whose}: say which, {named_so}{hint}; {columns_text}")
        for role, name in chosen.items():
            if names.count(name) != 1:
                count = f"{names.count(name)} columns" if name in names else "no column"
                problem = f"{role}: the table has {count} {name!r}; {columns_text}"
                apart = keyword("columns", {source: {"query": "…"} for source in SOURCES})
                raise InputError(f"{problem}; where judgments and runs have others, {apart}")
        if len({*chosen.values()}) < len(chosen):
            raise InputError(f"one column cannot be two: {chosen}")
    return chosen


def rank_beside(names: Sequence[Any], chosen: Mapping[str, Any]) -> Any:
    """Return the column of the ranks that a run has beside chosen scores; None without one."""
    if "score" not in chosen:
        return None
    return find_name([name for name in names if name not in chosen.values()], RANKS)


def grade_of_all(role_columns: Mapping[str, Any]) -> float:
    """Return the grade of judgments without a column of grades: 1, or the number given for it."""
    grade = role_columns.get("grade")
    return float(grade) if isinstance(grade, int | float) else 1.0


def find_name(names: Sequence[Any], words: Collection[str]) -> Any:
    """Return the first of some names that is one of the words, as names match; or None."""
    folded = {*map(_fold, words)}
    return next((name for name in names if _fold(name) in folded), None)


def _fold(name: Any) -> str:
    """Write a name as all are that match it."""
    head, _, kind = str(name).rpartition(":")
    plain = head if kind in TYPES else str(name)
    return plain.replace("_", "").replace("-", "").lower()


def _recognise(free: list[Any], role: str, groups: Sequence[Sequence[str]]) -> Any:
    """Return the column that has a known name; None if none has."""
    for words in groups:
        alike = [name for name in free if find_name([name], words) is not None]
        alike = [name for name in alike if name not in YIELDING] or alike
        if len(alike) > 1:
            problem = f"any of the columns {', '.join(map(repr, alike))} could be the {role}"
            named_so = f"{role}={alike[0]!r}, or {keyword('columns', {role: alike[0]})}"
            raise InputError(f"{problem}; say which: {named_so}")
        if alike:
            return alike[0]
    return None
