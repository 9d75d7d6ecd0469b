"""List all measures, or say all about one.

example: irbatch measures ndcg_cut_10
"""

from __future__ import annotations

import argparse
import re
import textwrap

import numpy as np

from irbatch.errors import printable
from irbatch.measures import CATALOGUE, Declaration, parse_measures

WIDTH = 96


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="in any accepted spelling")


def run(options: argparse.Namespace) -> None:
    if options.name is not None:
        measures = parse_measures([options.name])
        if (names := " ".join(map(str, measures))) not in (options.name, measures[0].name):
            print(f"{printable(options.name)} is {names}")
        print(_entry(measures[0].declaration))
    else:
        print(_listing())


def _listing() -> str:
    width = max(map(len, CATALOGUE))
    indent = " " * (width + 2)
    return "\n".join(
        textwrap.fill(
            f"{entry.name:{width}}  {entry.words.definition}", WIDTH, subsequent_indent=indent
        )
        for entry in CATALOGUE.values()
    )


def _entry(entry: Declaration) -> str:
    """Say everything that is declared of a measure."""
    elsewhere = (f"{tool} {', '.join(names)}" for tool, names in names_elsewhere(entry).items())
    largest = "any" if entry.range[1] == np.inf else f"{entry.range[1]:g}"
    facts = {
        "definition": entry.words.definition,
        "past the end": entry.words.past_end,
        "no relevant": f"a query without relevant documents: {entry.no_relevant}",
        "over queries": entry.aggregate,
        "range": f"{entry.range[0]:g} to {largest}",
        "better": "by its parameters" if callable(entry.better) else entry.better,
        "cutoff": f"{entry.name}@k, or at full depth" if entry.takes_cutoff else "none",
        "parameters": ", ".join(_parameters(entry)),
        "also called": ", ".join(entry.names[0]),
        "elsewhere": "; ".join(elsewhere),
        "source": entry.words.source,
    }
    wrap = textwrap.TextWrapper(WIDTH, subsequent_indent=" " * 16)
    lines = [wrap.fill(f"  {f'{name}:':14}{text}") for name, text in facts.items() if text]
    return "\n".join([entry.name, *lines])


def _parameters(entry: Declaration) -> list[str]:
    texts = {"rel": "rel (least relevant grade; default 1)"}
    if entry.graded:
        texts["rel"] = "rel (lower grades gain nothing; default: none)"
    for name, parameter in entry.parameters.items():
        options = getattr(parameter, "options", None)
        choices = f": {', '.join(options)}" if options else ""
        texts.setdefault(name, f"{name}{choices} (default {parameter.default})")
    return [texts[name] for name in entry.parameters]


def names_elsewhere(entry: Declaration) -> dict[str, list[str]]:
    """Return each tool's names for a measure, the cutoff as ``k``, a parameter as ``{name}``."""
    names: dict[str, list[str]] = {}
    for spelling in entry.names[1]:
        settings = ", ".join(f"{key}={value}" for key, value in spelling.parameters)
        for template in filter(None, (spelling.full, spelling.cut)):
            name = re.sub(r"(?<=\w):[^}]*", "", template).replace("{k}", "k")
            of_tool = names.setdefault(spelling.style, [])
            of_tool.append(f"{name} ({settings})" if settings else name)
    return names
