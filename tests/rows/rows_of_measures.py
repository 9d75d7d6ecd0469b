"""Rows 73 to 82: cutoffs and names of measures."""

from __future__ import annotations

from dataclasses import replace

from rows.problem import Problem, Refused, Row, Values

BASE = Problem()
GOOD = {"q1": 1.0, "q2": 0.5}
THEIRS = {"their names": "ir_measures reads names itself, and refuses this one"}
OTHER = {"mrr": "cutoffs are an argument here"}


def wish(*measures: object) -> Problem:
    return replace(BASE, measures=measures)


ROWS = [
    Row(73, "P@0", wish("P@0"), Refused("P[@.]0|cutoff", side=None), cannot=THEIRS),
    Row(74, "P@-1", wish("P@-1"), Refused("P[@.]-1|cutoff", side=None), cannot=THEIRS),
    Row(75, "P@2.5", wish("P@2.5"), Refused(r"P@2\.5", side=None), cannot=THEIRS),
    Row(75, "P_2.5", wish("P_2.5"), Refused(r"P_2\.5", side=None), cannot=THEIRS),
    Row(
        76,
        "P@abc",
        wish("P@abc"),
        Refused("P[@.]abc|'abc' of trec_eval's P", side=None),
        cannot=THEIRS,
    ),
    Row(77, "P@True", wish("P@True"), Refused("P@True", side=None), cannot=THEIRS),
    Row(78, "a cutoff of 10^30", wish(f"R@{10**30}"), Values({"q1": 1.0, "q2": 1.0})),
    Row(78, "a cutoff of 10^15", wish(f"R@{10**15}"), Values({"q1": 1.0, "q2": 1.0})),
    Row(79, "a cutoff beyond the ranking", wish("P@5"), Values({"q1": 0.2, "q2": 0.2})),
    Row(80, "a cutoff twice", wish("R@5", "R@5"), Values({"q1": 1.0, "q2": 1.0})),
    Row(
        80,
        "a cutoff in two spellings",
        wish("P@2", "P@{2}"),
        Values({"q1": 0.5, "q2": 0.5}),
        cannot=THEIRS,
    ),
    Row(81, "an unknown measure", wish("nDGC"), Refused("nDGC", side=None), cannot=THEIRS),
    Row(
        81,
        "an unknown measure among others",
        wish("RR", "zzz"),
        Refused("zzz", side=None),
        cannot={**THEIRS, **OTHER, "trec names": "it is asked for what trec_eval has"},
    ),
]
