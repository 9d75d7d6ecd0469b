"""Random evaluation problems that hold, on purpose and often, everything known to break evaluators.

Every query draws its documents, scores and judgments independently, each from the kinds named in
the tables below with equal probability, so that any kind meets any other.
"""

import math
from collections.abc import Callable, Iterator
from random import Random
from typing import TypeVar

V = TypeVar("V")
Grade = int | float
Qrels = dict[str, dict[str, Grade]]
Run = dict[str, dict[str, float]]

QUERIES = ("9", "10", "q1", "é", "no query", "a", "a\0x", "Ω", "Q1", "1e1", "007", "7")
DOCUMENTS = (
    *("9", "10", "09", "9.0", "-1", "1e1", "a", "a\0", "a\0x", "aa", "A", "a b", " a", "no query"),
    *("é", "e\u0301", "ü", "\uffff", "\U0001f600", "d", "None", "nan"),
)

SCORES: dict[str, Callable[[Random, int], list[float]]] = {
    "distinct": lambda rng, n: [rng.gauss(0, 1) for _ in range(n)],
    "one tie": lambda rng, n: [0.5] * n,
    "two levels": lambda rng, n: rng.choices((0.25, 0.75), k=n),
    "near-ties": lambda rng, n: [0.7 + 1e-9 * rng.randrange(n) for _ in range(n)],
    "infinite": lambda rng, n: rng.choices((math.inf, -math.inf, 1.5, 0.0), k=n),
    "beyond float32": lambda rng, n: rng.choices((1e300, 2e300, -1e300, 1e-300, 0.0), k=n),
    "signed zeros": lambda rng, n: rng.choices((0.0, -0.0, 0.0, -0.0, 1.0), k=n),
    "integers": lambda rng, n: [rng.randint(-n, n) for _ in range(n)],
    "large integers": lambda rng, n: [2**53 + rng.randrange(4) for _ in range(n)],
}

GRADES: dict[str, tuple[Grade, ...]] = {
    "binary": (0, 1),
    "graded": (0, 0, 1, 2, 3, 4),
    "gaps": (0, 2, 7, 50),
    "negative": (-2, -1, 0, 1, 2),
    "huge": (0, 1, 10**6, 2**40),
    "all relevant": (1, 2),
    "none relevant": (0, 0, -1),
    "one relevant": (0,),
}
FLOAT_GRADES: dict[str, tuple[Grade, ...]] = {
    "fractions": (0.0, 0.25, 0.5, 1.0, 1.7, 2.5),
    "mixed": (-0.5, 0, 0.1, 0.999, 1, 1.001, 3),
}


def nasty_problems(
    seed: int, count: int, *, float_grades: bool = False
) -> Iterator[tuple[Qrels, Run]]:
    """Problems of 1 to 8 queries; the same for the same seed; one query at least is in both."""
    rng = Random(seed)
    tables = GRADES | FLOAT_GRADES if float_grades else GRADES
    for _ in range(count):
        qrels: Qrels = {}
        run: Run = {}
        for query in rng.sample(QUERIES, rng.randint(1, 8)):
            judged, retrieved = _documents(rng)
            where = rng.choices(("both", "qrels", "run"), weights=(6, 1, 1))[0] if qrels else "both"
            if where != "run":
                qrels[query] = _grades(rng, judged, rng.choice(list(tables.values())))
            if where != "qrels":
                run[query] = _scores(rng, retrieved)
        yield _shuffled(rng, qrels), _shuffled(rng, run)


def _documents(rng: Random) -> tuple[list[str], list[str]]:
    """The judged and the retrieved documents of a query, each in random order."""
    pool = [*DOCUMENTS, *(f"d{i}" for i in range(rng.choice((0, 0, 12, 200))))]
    rng.shuffle(pool)
    cut = rng.randrange(1, len(pool))
    front, back = pool[:cut], pool[cut:]
    few = pool[: rng.randint(1, 3)]
    some = rng.sample(pool, rng.randint(1, min(len(pool), 30)))
    kinds = {
        "overlap": (some, front),
        "all judged": (pool, front),
        "the same documents": (front, rng.sample(front, cut)),
        "none judged": (back, front),
        "more judged than retrieved": (pool, few),
        "nothing retrieved": (some, []),
        "one document": (some, pool[:1]),
    }
    return rng.choice(list(kinds.values()))


def _grades(rng: Random, documents: list[str], grades: tuple[Grade, ...]) -> dict[str, Grade]:
    """A grade for each document, drawn from the table; exactly one relevant where it asks so."""
    judgments: dict[str, Grade] = {document: rng.choice(grades) for document in documents}
    if grades == GRADES["one relevant"]:
        judgments[rng.choice(documents)] = 1
    return judgments


def _scores(rng: Random, documents: list[str]) -> dict[str, float]:
    """A score for each document; the entries in random, descending or ascending order of score."""
    values = SCORES[rng.choice(list(SCORES))](rng, len(documents))
    arrange = rng.choice(("random", "random", "descending", "ascending"))
    if arrange != "random":
        values.sort(reverse=arrange == "descending")
    return dict(zip(documents, values, strict=True))


def _shuffled(rng: Random, queries: dict[str, V]) -> dict[str, V]:
    """The same queries, entered in random order."""
    return dict(rng.sample(list(queries.items()), len(queries)))


LARGEST_GRADE = 60  # pytrec_eval allocates an array as long as the largest grade


def tamed(qrels: Qrels, run: Run) -> tuple[dict[str, dict[str, int]], Run]:
    """What pytrec_eval survives: no NUL in ids, a grade >= 0 in each query, none too large."""

    def text(name: str) -> str:
        return name.replace("\0", "␀")

    judgments = {
        text(q): {text(d): min(int(grade), LARGEST_GRADE) for d, grade in documents.items()}
        | {"spare": 0}
        for q, documents in qrels.items()
    }
    rankings = {text(q): {text(d): s for d, s in each.items()} for q, each in run.items()}
    return judgments, {q: each for q, each in rankings.items() if each}
