"""Running the command line in this process, on small runs, and compiling the LaTeX it writes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from irbatch.cli import main

Cli = Callable[..., tuple[int, str, str]]

QUERIES = [f"q{i}" for i in range(12)]


def ranking(rank: int, queries: list[str] = QUERIES) -> str:
    """Lines of a run that has the one relevant document at a rank, in every query."""
    lines = [
        f"{query} Q0 {'good' if place == rank else f'bad{place}'} {place} {10 - place} tag\n"
        for query in queries
        for place in range(1, 6)
    ]
    return "".join(lines)


def listed(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def runner(capsys: pytest.CaptureFixture[str], command: str) -> Cli:
    """Run a command in this process: exit status, standard output, standard error."""

    def run(*words: object) -> tuple[int, str, str]:
        try:
            status = main([command, *map(str, words)])
        except SystemExit as leave:  # argparse
            status = int(leave.code or 0)
        return status, *capsys.readouterr()

    return run


def compile_latex(folder: Path, tables: Sequence[str], size: str = "") -> None:
    """Check that LaTeX takes tables without an error, and that they fit on its pages."""
    (folder / "x.tex").write_text(
        rf"\documentclass{size}{{article}}"
        r"\usepackage{booktabs}\usepackage[dvips]{graphicx}"
        r"\begin{document}" + r"\clearpage ".join(tables) + r"\clearpage\listoftables\end{document}"
    )  # fmt: skip
    command = ["lualatex", "--output-format=dvi", "-interaction=nonstopmode", "x.tex"]
    for _ in range(2):  # the list of tables reads what the first one wrote
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
        lines = done.stdout.splitlines()
        assert not [line for line in lines if line.startswith(b"!") or b"Float too large" in line]
        assert done.returncode == 0
