"""`irbatch measures`: the catalogue as a list, or one entry in full."""

from __future__ import annotations

import argparse
import re
import textwrap

import numpy as np

from irbatch.errors import printable
from irbatch.measures import CATALOGUE, Declaration, parse_measures

WIDTH = 96


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = "List all measures, or say all about one."
    parser.epilog = "example: irbatch measures ndcg_cut_10"
    parser.add_argument("name", metavar="NAME", nargs="?", help="in any accepted spelling")


def run(options: argparse.Namespace) -> int:
    """Print what was asked for."""
    if options.name is not None:
        meant = parse_measures([options.name])
        if [str(each) for each in meant] != [meant[0].name]:
            print(f"{printable(options.name)} is {' '.join(map(str, meant))}")
        print(_entry(meant[0].declaration))
    else:
        print(_listing())
    return 0


def _listing() -> str:
    width = max(map(len, CATALOGUE))
    indent = " " * (width + 2)
    return "\n".join(
        textwrap.fill(
            f"{each.name:{width}}  {each.words.definition}", WIDTH, subsequent_indent=indent
        )
        for each in CATALOGUE.values()
    )


def _entry(each: Declaration) -> str:
    """Say everything that is declared of a measure."""
    largest = "any" if each.range[1] == np.inf else f"{each.range[1]:g}"
    facts = {
        "definition": each.words.definition,
        "past the end": each.words.past_end,
        "no relevant": f"a query without relevant documents: {each.no_relevant}",
        "over queries": each.aggregate,
        "range": f"{each.range[0]:g} to {largest}",
        "better": "by its parameters" if callable(each.better) else each.better,
        "cutoff": f"{each.name}@k, or at full depth" if each.takes_cutoff else "none",
        "parameters": ", ".join(_parameters(each)),
        "also called": ", ".join(each.names[0]),
        "elsewhere": "; ".join(_elsewhere(each)),
        "source": each.words.source,
    }
    wrap = textwrap.TextWrapper(WIDTH, subsequent_indent=" " * 16)
    lines = [wrap.fill(f"  {f'{name}:':14}{text}") for name, text in facts.items() if text]
    return "\n".join([each.name, *lines])


def _parameters(each: Declaration) -> list[str]:
    texts = {"rel": "rel (least relevant grade; default 1)"}
    if each.graded:
        texts["rel"] = "rel (lower grades gain nothing; default: none)"
    for name, parameter in each.parameters.items():
        options = getattr(parameter, "options", None)
        some = f": {', '.join(options)}" if options else ""
        texts.setdefault(name, f"{name}{some} (default {parameter.default})")
    return [texts[name] for name in each.parameters]


def _elsewhere(each: Declaration) -> list[str]:
    styles = dict.fromkeys(spelling.style for spelling in each.names[1])
    names = {style: ", ".join(spelled(each, style)) for style in styles}
    return [f"{style} {spelled}" for style, spelled in names.items() if spelled]


def spelled(each: Declaration, style: str) -> list[str]:
    """List a tool's names for a measure, the cutoff as ``k``, a parameter as ``{name}``."""
    names = []
    for spelling in each.names[1]:
        if spelling.style == style:
            settings = ", ".join(f"{key}={value}" for key, value in spelling.parameters)
            for template in filter(None, (spelling.full, spelling.cut)):
                name = re.sub(r"(?<=\w):[^}]*", "", template).replace("{k}", "k")
                names.append(f"{name} ({settings})" if settings else name)
    return names
