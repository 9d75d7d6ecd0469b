"""What tools call the columns of judgments and rankings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from irbatch.errors import InputError, shown

VALUE = {"qrels": "grade", "run": "score"}

# Matched exactly, but for the types that RecBole writes behind its names, ``user_id:token``. Of
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
TYPED = re.compile(r":(token|float)(_seq)?$")

# By kind of table and role: the names, those of the first group before those of the second. A
# search log knows who asked; the query is what was asked.
QUERY, DOCUMENT, GRADE = (QUERIES, USERS), (DOCUMENTS, ITEMS), (GRADES,)
ITEM = (ITEMS, DOCUMENTS)
JUDGED = {"query": QUERY, "document": DOCUMENT, "grade": GRADE}
ROLES: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = {
    "qrels": JUDGED,
    "subtopics": {"query": QUERY, "subtopic": (SUBTOPICS,), "document": DOCUMENT, "grade": GRADE},
    "strata": {"query": QUERY, "stratum": (STRATA,), "document": DOCUMENT, "grade": GRADE},
    "probabilities": {**JUDGED, "probability": (PROBABILITIES,)},
    "interactions": {"user": (USERS, QUERIES), "item": ITEM},
    "popularity": {"item": ITEM, "popularity": (POPULARITIES,)},
    "run": {"query": QUERY, "document": DOCUMENT, "score": (SCORES,)},
}

# Names that are something else beside others: PyTerrier has the text of queries in `query`, and
# its index's numbers of documents in `docid`.
YIELDING = {"query": {*QUERIES}, "document": {*DOCUMENTS}, "docid": {"docno"}}


def find_columns(
    names: Sequence[str], source: str, given: Mapping[str, str | None]
) -> dict[str, str]:
    """Find out which columns are the query, the document and the grade or score, or as `ROLES` has.

    `given` has, by role, the names that a caller gave; those that are None are recognised.

    >>> find_columns(["qid", "query", "docno", "score", "rank"], "run", {})
    {'query': 'qid', 'document': 'docno', 'score': 'score'}
    """
    names = list(names)
    wishes = {role: given.get(role) for role in ROLES[source]}
    taken = {name for name in wishes.values() if name is not None}
    free = [name for name in names if name not in taken]
    found = {
        role: _recognise(free, names, role, source) if wish is None else wish
        for role, wish in wishes.items()
    }
    for role, name in found.items():
        if names.count(name) != 1:
            there = f"{names.count(name)} columns" if name in names else "no column"
            problem = f"{role}: the table has {there} {name!r}; {_listed(names)}"
            raise InputError(problem, source=source)
    if len(set(found.values())) < len(found):
        raise InputError(f"one column cannot be two: {found}", source=source)
    return found


def _recognise(free: list[str], names: list[str], role: str, source: str) -> str:
    named = {TYPED.sub("", name) if isinstance(name, str) else name: name for name in free}
    groups = ROLES[source][role]
    for known in groups:
        candidates = [name for name in known if name in named]
        others = {name: {*candidates} - {name} for name in candidates}
        plain = [name for name in candidates if not YIELDING.get(name, set()) & others[name]]
        if len(plain) == 1:
            return named[plain[0]]
        if plain:
            several = ", ".join(map(repr, plain))
            hint = f"say which: {role}={plain[0]!r}"
            problem = f"any of the columns {several} could be the {role}; {hint}"
            raise InputError(problem, source=source)
    names_known = ", ".join(map(repr, itertools.chain(*groups)))
    hint = f"{_listed(names)}, and names known are {names_known}"
    raise InputError(f"no column is the {role}: name it with {role}=; {hint}", source=source)


def _listed(names: list[str]) -> str:
    if not names:
        return "there are no columns"
    return f"the columns are {shown(names, 500)}"
