"""Write the API reference as static pages, made from the docstrings, into a folder.

It needs pdoc (`pip install pdoc`). Integrations whose framework is not installed are left out.
"""

import argparse
import importlib
import tempfile
import warnings
from pathlib import Path

from irbatch.cli.measures import names_elsewhere
from irbatch.measures import CATALOGUE
from irbatch.report.text import write_lines

PUBLIC = ["irbatch"] + [
    f"irbatch.{name}"
    for name in (
        "data", "evaluation", "measures",
        "comparing", "comparing.plots", "comparing.rankings",
        "comparing.reproducibility", "efficiency", "leaderboard", "trec_eval",
        "integrations.pytrec_eval", "integrations.ir_measures", "integrations.beir",
        "integrations.torchmetrics", "integrations.transformers",
        "integrations.sentence_transformers", "integrations.keras", "integrations.dask",
        "integrations.spark",
    )
]  # fmt: skip


def can_be_imported(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError as problem:
        print(f"left out: {name} ({problem})")
        return False
    return True


def measures_table() -> str:
    """Return the catalogue as the Markdown table of the guide."""
    lines = []
    for each in CATALOGUE.values():
        if each.builtin:
            parameters = " ".join(f"`{name}`" for name in each.parameters)
            names = " ".join(f"`{name}`" for name in names_elsewhere(each).get("trec_eval", ()))
            words = each.words
            about = words.definition, words.past_end, parameters, names, words.source
            cells = [f"`{each.name}`", *about]
            lines.append([cell.replace("|", "\\|") for cell in cells])
    head = ["measure", "definition", "past the end", "parameters", "trec_eval", "source"]
    return write_lines(head, lines, [False] * len(head))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=None)
    parser.add_argument("--measures", action="store_true", help="print the table of measures.md")
    options = parser.parse_args()
    if options.measures:
        print(measures_table())
        return
    folder = options.folder or Path(tempfile.mkdtemp())
    import pdoc

    # Names that only type checkers see stay as they are written.
    warnings.filterwarnings("ignore", "Error parsing type annotation")
    pdoc.render.configure(docformat="google", show_source=False)
    pdoc.pdoc(*filter(can_be_imported, PUBLIC), output_directory=folder)
    pages = len(list(folder.rglob("*.html")))
    print(f"Saved in {folder}: {pages} pages, of which index.html is the first")


if __name__ == "__main__":
    main()
