"""What tools call the columns of judgments and rankings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from irbatch.errors import ErrorsIn, InputError, join_words, keyword, shown

VALUE = {"qrels": "grade", "run": "score"}

# Matched exactly, then, where no column is, without regard to case and underscores; and but for
# the types that RecBole writes behind its names, ``user_id:token``. Of
# ir_measures and ir_datasets, PyTerrier, ranx, BEIR and Hugging Face's copies of it, MS MARCO, and
# our own; then of MovieLens, RecBole, LensKit, recommenders and Spark.
QUERIES = ("query_id", "qid", "q_id", "query-id", "query")
DOCUMENTS = ("doc_id", "docno", "docid", "corpus-id", "corpus_id", "pid", "document")
USERS = ("user_id", "userid", "userId", "userID", "user", "uid")
ITEMS = ("item_id", "itemid", "itemId", "itemID", "item", "iid", "movieId", "movie_id")
GRADES = ("relevance", "label", "grade", "score", "rating")
SCORES = ("score", "prediction")
SUBTOPICS = ("subtopic", "subtopic_id", "iteration", "iter", "intent", "aspect")
STRATA = ("stratum", "stratum_id", "strata")
PROBABILITIES = ("probability", "inclusion_probability", "iprob", "prob")
POPULARITIES = ("popularity", "count", "counts", "n", "frequency")
RANKS = ("rank",)
TYPED = r":(token|float)(_seq)?$"
# What stands beside judgments and can be no grade: where nothing else does, all have grade 1.
BESIDE = {"timestamp", "time", "date", "datetime", "unixReviewTime", *SUBTOPICS[2:4]}

# By kind of table and role: the names, those of the first group before those of the second. A
# search log knows who asked; the query is what was asked.
QUERY, DOCUMENT, GRADE = (QUERIES, USERS), (DOCUMENTS, ITEMS), (GRADES,)
ITEM = (ITEMS, DOCUMENTS)
JUDGED = {"query": QUERY, "document": DOCUMENT, "grade": GRADE}
ROLES: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = {
    "qrels": JUDGED,
    "subtopics": {**JUDGED, "subtopic": (SUBTOPICS,)},
    "strata": {**JUDGED, "stratum": (STRATA,)},
    "probabilities": {**JUDGED, "probability": (PROBABILITIES,)},
    "interactions": {"user": (USERS, QUERIES), "item": ITEM},
    "popularity": {"item": ITEM, "popularity": (POPULARITIES,)},
    "run": {"query": QUERY, "document": DOCUMENT, "score": (SCORES,)},
    "ranking": {"query": QUERY, "document": DOCUMENT, "rank": (RANKS,)},
}
# What judgments may have besides grades, and its role.
MARK = {"subtopics": "subtopic", "strata": "stratum", "probabilities": "probability"}
# What callers may call roles, and those that their tables of a source may have.
WORDS = {"user": "query", "item": "document", "relevance": "grade", "rating": "grade"}
SOURCES = {
    "qrels": (*JUDGED, *MARK.values()),
    "run": (*ROLES["run"], "rank"),
}

Columns = Mapping[str, Any] | None
"""What callers say of columns: role to name, of both sources, or of each apart."""

# How callers are told to name columns: each by its keyword, or in this one; "" if they can't.
KEYWORD, MAPPING = "keywords", "columns"
APART = {"qrels": {"query": "…"}, "run": {"query": "…"}}

# Names that are something else beside others: PyTerrier has the text of queries in `query`, and
# its index's numbers of documents in `docid`.
YIELDING = {"query": {*QUERIES}, "document": {*DOCUMENTS}, "docid": {"docno"}}


def check_columns(columns: Columns, sources: Sequence[str] = tuple(SOURCES)) -> None:
    """Reject what is no mapping of roles to names, for tables of some sources.

    Raises:
        InputError: if it isn't, or a role is none of theirs, or named twice.
    """
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        problem = "are a mapping of roles to names, such as {'query': 'user'}, not"
        raise InputError(f"{problem} {shown(columns)}", source="columns", value=columns)
    apart = {source: columns[source] for source in SOURCES if source in columns}
    of_all = {word: name for word, name in columns.items() if word not in apart}
    _check_roles(of_all, [role for source in sources for role in SOURCES[source]])
    for source, names in apart.items():
        if not isinstance(names, Mapping):
            problem = f"those of {source} are a mapping of roles to names, not {shown(names)}"
            raise InputError(problem, source="columns", value=names)
        _check_roles(names, SOURCES[source])


def _check_roles(columns: Mapping[str, Any], known: Sequence[str]) -> None:
    found: set[str] = set()
    for word, name in columns.items():
        role = WORDS.get(word, word)
        problem = None
        if role not in known:
            words = [*dict.fromkeys(known), *(each for each in WORDS if WORDS[each] in known)]
            problem = f"{shown(word)} is none of {join_words(words, 'or')}"
        elif role in found:
            problem = f"the {role} is named twice: {shown(dict(columns))}"
        elif name is None or isinstance(name, bool) or not isinstance(name, Hashable):
            problem = f"the {role} is {shown(name)}, which is no name"
        if problem is not None:
            raise InputError(problem, source="columns", value=word)
        found.add(role)


def names_for(columns: Columns, kind: str) -> dict[str, Any]:
    """Return the names that a caller gave to the columns of a `kind` of `ROLES`, by role.

    >>> names_for({"user": "u", "run": {"user": "who"}, "score": "yhat"}, "qrels")
    {'query': 'u'}
    """
    check_columns(columns)
    source = "run" if kind == "run" else "qrels"
    given = columns or {}
    of_all = {word: name for word, name in given.items() if word not in SOURCES}
    by_role = {WORDS.get(word, word): name for word, name in of_all.items()}
    by_role |= {WORDS.get(word, word): name for word, name in given.get(source, {}).items()}
    return {role: name for role, name in by_role.items() if role in SOURCES[source]}


def choose_columns(
    names: Sequence[Any], kind: str, given: Mapping[str, Any], advice: str = MAPPING
) -> dict[str, str]:
    """Find columns as `find_columns` does, of tables that may lack one.

    Without scores, or where the ranks are named alone, a run has ``rank``. Judgments lack
    ``grade``, see `grade_of_all`, if a number was given for it, or if there is nothing else.

    >>> choose_columns(["user_id", "item_id", "rank"], "run", {})
    {'query': 'user_id', 'document': 'item_id', 'rank': 'rank'}
    """
    names = list(names)
    if kind == "run" and given.get("score") is None:
        ranked = _named(names, RANKS) and not _named(names, SCORES)
        kind = "ranking" if ranked or given.get("rank") is not None else kind
    if "grade" not in ROLES[kind]:
        return find_columns(names, kind, given, advice)
    grade = given.get("grade")
    is_number = isinstance(grade, int | float) and all(grade != name for name in names)
    if is_number or (grade is None and not _named(names, GRADES)):
        ungraded = [role for role in ROLES[kind] if role != "grade"]
        if is_number or len(names) <= len(ungraded):
            return find_columns(names, kind, given, advice, ungraded)
        with suppress(InputError):  # which all roles together say better
            found = find_columns(names, kind, given, advice, ungraded)
            others = {*names} - {*found.values()}
            if {_fold(str(name)) for name in others} <= {*map(_fold, BESIDE)}:
                return found
    return find_columns(names, kind, given, advice)


def grade_of_all(given: Mapping[str, Any]) -> float:
    """Return the grade of judgments without a column of grades: 1, or the number given for it."""
    grade = given.get("grade")
    return float(grade) if isinstance(grade, int | float) else 1.0


def _named(names: Sequence[str], known: Collection[str]) -> bool:
    folded = {*map(_fold, known)}
    return any(isinstance(name, str) and _fold(re.sub(TYPED, "", name)) in folded for name in names)


def _fold(name: str) -> str:
    """Write a name as all are that differ in case and underscores alone."""
    return name.replace("_", "").lower()


def find_columns(
    names: Sequence[str],
    kind: str,
    given: Mapping[str, Any],
    advice: str = KEYWORD,
    roles: Iterable[str] | None = None,
) -> dict[str, str]:
    """Find out which columns are the query, the document and the grade or score, or as `ROLES` has.

    `given` has, by role, the names that a caller gave; those that are None are recognised. `advice`
    is how errors tell the caller to give one.

    >>> find_columns(["qid", "query", "docno", "score", "rank"], "run", {})
    {'query': 'qid', 'document': 'docno', 'score': 'score'}
    """
    names = list(names)
    wishes = {role: given.get(role) for role in roles or ROLES[kind]}
    taken = {name for name in wishes.values() if name is not None}
    free = [name for name in names if name not in taken]
    with ErrorsIn(source="run" if kind == "ranking" else kind):
        found = {
            role: _recognise(free, role, ROLES[kind][role], advice) if wish is None else wish
            for role, wish in wishes.items()
        }
        if lacking := [role for role, name in found.items() if name is None]:
            raise _lacking(lacking, names, kind, advice)
        known = {role: name for role, name in found.items() if name is not None}
        for role, name in known.items():
            if names.count(name) != 1:
                there = f"{names.count(name)} columns" if name in names else "no column"
                problem = f"{role}: the table has {there} {name!r}; {_listed(names)}"
                if advice == MAPPING:
                    problem += f"; where judgments and runs have others, {keyword(MAPPING, APART)}"
                raise InputError(problem)
        if len(set(known.values())) < len(known):
            raise InputError(f"one column cannot be two: {known}")
    return known


def _recognise(
    free: list[str], role: str, groups: Sequence[Sequence[str]], advice: str
) -> str | None:
    """Return the column that has a known name; None if none has."""
    named = {re.sub(TYPED, "", name) if isinstance(name, str) else name: name for name in free}
    for known in groups:
        candidates = [name for name in known if name in named]
        others = {name: {*candidates} - {name} for name in candidates}
        plain = [name for name in candidates if not YIELDING.get(name, set()) & others[name]]
        if len(plain) == 1:
            return named[plain[0]]
        if plain:
            raise _ambiguous(plain, role, advice)
    for known in groups:
        folded = {*map(_fold, known)}
        alike = [column for name, column in named.items() if _fold(str(name)) in folded]
        if len(alike) == 1:
            return alike[0]
        if alike:
            raise _ambiguous(alike, role, advice)
    return None


def _ambiguous(several: list[str], role: str, advice: str) -> InputError:
    """Return the error of columns that could all be one role."""
    hint = f"say which: {_advise(advice, {role: several[0]})}" if advice else "rename others"
    return InputError(
        f"any of the columns {', '.join(map(repr, several))} could be the {role}; {hint}"
    )


def _lacking(roles: list[str], names: list[str], kind: str, advice: str) -> InputError:
    """Return the error of roles that no column has."""
    whose = join_words([f"the {role}" for role in roles], "or")
    hint = ""
    if advice:
        told = _advise(advice, dict.fromkeys(roles, "…"))
        hint = f": name {'them' if roles[1:] else 'it'} with {told}"
        if roles == ["grade"]:
            hint += f", or {_advise(advice, {'grade': 1})} if all are 1"
    if roles == ["score"] and advice in (KEYWORD, MAPPING):
        hint += "; ranks are enough, in a column 'rank'"
    problem = f"no column is {whose}{hint}; {_listed(names)}"
    for role in roles:
        known = ", ".join(map(repr, itertools.chain(*ROLES[kind][role])))
        problem += f"; names known of the {role} are {known}"
    return InputError(problem)


def _advise(advice: str, names: Mapping[str, Any]) -> str:
    """Say how a caller gives names to columns."""
    if advice == KEYWORD:
        return ", ".join(f"{role}={name!r}" for role, name in names.items())
    return keyword(advice, dict(names))


def _listed(names: list[str]) -> str:
    if not names:
        return "there are no columns"
    return f"the columns are {shown(names, 500)}"
