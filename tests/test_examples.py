"""What is shown to people runs, and comes out as they are told: scripts, docstrings, READMEs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import math
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.paths import REPOSITORY

import irbatch
from irbatch.leaderboard import Leaderboard

EXAMPLES = REPOSITORY / "examples"
# Those that others run: tests of engines, and the ones below that look at what is printed.
ELSEWHERE = {
    *("evaluate_with_dask.py", "evaluate_with_spark.py", "reference.py"),
    *("compare_digits.py", "leaderboard_digits.py"),
    *(f"worked_example_{letter}.py" for letter in "abcd"),
}
SCRIPTS = sorted({path.name for path in EXAMPLES.glob("*.py")} - ELSEWHERE)
SHORTER = {"train_numpy.py": ["--epochs", "2"]}
GUIDES = ["README.md", *sorted(f"examples/{path.name}" for path in EXAMPLES.glob("*.md"))]
MODULES = [  # but for a library of kernels that was built in place
    "irbatch",
    *(e.name for e in pkgutil.walk_packages(irbatch.__path__, "irbatch.") if "-" not in e.name),
]

CODE_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # after a block of code
NEEDS_TORCH = re.compile(r"^(?:import|from) torch\b", re.MULTILINE)
NEEDED = re.compile(r"^ *(?:import|from) (torch)\b", re.MULTILINE)
# Modules that cannot be imported without the framework they are for.
OF_FRAMEWORKS = [
    f"irbatch.integrations.{name}"
    for name in ("dask", "keras", "sentence_transformers", "spark", "torchmetrics", "transformers")
]
TABLE_ROW = re.compile(r"(\S.*?)((?: +\d[\d.]*)+)")

Row = tuple[str, Sequence[float]]

# The numbers of the worked examples, from the literature and by hand; none is copied from output.

AP_A = [(1 / 2 + 2 / 4 + 3 / 5 + 4 / 7) / 4, (1 + 2 / 4 + 3 / 5 + 4 / 7) / 4, (1 / 5 + 2 / 8) / 2]
DCG_A = [0, 2.52371901, 3.02371901, 4.31574869, 5.86315992, 6.21936710, 7.21936710, 7.85029686]
IDCG_A = [4, 6.52371901, 8.02371901, 9.31574869, 10.0894543, 10.44566149, 10.77899482, 10.77899482]
NDCG_A = [0, 0.38685281, 0.37684757, 0.46327449, 0.58111764, 0.59540194, 0.66976255, 0.72829582]
ROWS_A: list[Row] = [
    ("k", range(1, 9)),
    ("recall", [0, 0.25, 0.25, 0.5, 0.75, 0.75, 1, 1]),
    ("P@2", [1 / 2]),
    ("Rcap@2", [1 / 2]),
    ("RR", [0.5, 1, 0.2, (0.5 + 1 + 0.2) / 3]),
    ("AP", [*AP_A, sum(AP_A) / 3]),
    ("k", range(1, 9)),
    ("CG", [0, 4, 5, 8, 12, 13, 16, 18]),
    ("DCG", DCG_A),
    ("IDCG", IDCG_A),
    ("nDCG", NDCG_A),
    ("R@2", [0.25, 0.25]),
    ("CG@2", [4, 4]),
    ("RR", [0.5, 1]),
    ("AP", AP_A[:2]),
    ("DCG@2", [2.52371901, 4]),
    ("R@1", [3 / 4]),
]

ROWS_B: list[Row] = [
    ("recall, capped: of min(k, relevant)", [2 / 3, 0.8055555555555555, 0.9166666666666666]),
    ("recall: of all relevant", [0.17777777777777778, 0.8055555555555555, 0.9166666666666666]),
    ("MRR", [2 / 3, 0.8333333333333334, 0.8333333333333334]),
    ("precision", [2 / 3, 2 / 3, 0.3666666666666667]),
    ("MAP, over the relevant found", [2 / 3, 0.862962962962963, 0.8074074074074075]),
    ("MAP, over all relevant", [0.17777777777777778, 0.7027777777777778, 0.7583333333333334]),
    ("MAP, over min(k, relevant)", [2 / 3, 0.7027777777777778, 0.7583333333333334]),
    ("nDCG of the ranking", [2 / 3, 0.785957556317736, 0.8416777079731367]),
    ("nDCG of the ids taken for scores", [0.0, 0.3298163165186628, 0.5955665344840209]),
]

DISCOUNTS_C = [1, 1.5849625007211563, 2, 2.321928094887362, 2.584962500721156]
DCG_C = [3, 4.261859507, 5.761859507, 5.761859507, 5.761859507 + 1 / DISCOUNTS_C[4]]
IDCG_C = [3, 4.892789261, 5.892789261, 6.323465819, 6.323465819]
ROWS_C: list[Row] = [
    ("k", range(1, 6)),
    ("precision", [1, 1 / 2, 2 / 3, 1 / 2, 3 / 5]),
    ("recall", [1 / 3, 1 / 3, 2 / 3, 2 / 3, 1]),
    ("F1", [0.5, 0.4, 2 / 3, 4 / 7, 0.75]),
    ("RR", [1, 0.2, 0, 1, 1 / 3]),
    ("AP", [(1 + 2 / 3 + 3 / 5) / 3, 0.2, 0, 1, (1 / 3 + 2 / 4 + 3 / 5) / 3]),
    ("P@5", [0.6, 0.2, 0, 0.6, 0.6]),
    ("k", range(1, 6)),
    ("log2(k + 1)", DISCOUNTS_C),
    ("CG", [3, 5, 8, 8, 9]),
    ("DCG", DCG_C),
    ("IDCG", IDCG_C),
    ("nDCG", [dcg / ideal for dcg, ideal in zip(DCG_C, IDCG_C, strict=True)]),
]

ROWS_D: list[Row] = [
    ("Success@2", [1, 1, 0]),
    ("RR@2", [1, 1 / 2, 0]),
    ("P@2", [2 / 2, 1 / 2, 0]),
    ("R@2", [2 / 3, 1 / 3, 0]),
    ("P@5", [2 / 5, 2 / 5, 3 / 5]),
    ("R@5", [2 / 3, 2 / 3, 3 / 3]),
    ("AP", [(1 + 2 / 2 + 3 / 6) / 3, (1 / 2 + 2 / 5 + 3 / 6) / 3, (1 / 3 + 2 / 4 + 3 / 5) / 3]),
    ("F1@2", [4 / 5, 2 / 5, 0]),
    ("F1@5", [1 / 2, 1 / 2, 3 / 4]),
]

# Each with the tolerance that the digits shown leave; in B all are, but a sum's last bit may vary.
WORKED_EXAMPLES: dict[str, tuple[list[Row], float]] = {
    "worked_example_a.py": (ROWS_A, 0.51e-8),
    "worked_example_b.py": (ROWS_B, 2 * math.ulp(0.5)),
    "worked_example_c.py": (ROWS_C, 1e-9),
    "worked_example_d.py": (ROWS_D, 0.51e-6),
}

# nDCG@10, AP and P@10, as examples/data/README.md gives them.
DIGITS = {
    "pixels-euclidean": (0.886, 0.825, 0.951),
    "pixels-cosine": (0.876, 0.820, 0.952),
    "pca10": (0.791, 0.754, 0.894),
    "hamming-binarised": (0.757, 0.689, 0.873),
    "random-projection": (0.478, 0.368, 0.514),
}

# nDCG@10, R@100, and MB on disk: the documents' numbers and half squares, and what projects them.
SEARCHES = {
    "exact": (0.952, 0.883, 78253 * 257 * 4e-6),
    "pca-48": (0.939, 0.873, (78253 * 49 + 256 * 48) * 4e-6),
    "random-128": (0.887, 0.761, (78253 * 129 + 256 * 128) * 4e-6),
    "ivf-pq": (0.873, 0.758, (78253 * (16 + 4) + 256 * (256 + 256) * 4 + 257 * 8) * 1e-6),
}


def run_python(*arguments: str, cwd: str | Path) -> str:
    """Run Python in a process of its own that takes a warning for an error; return its output."""
    theirs = "ignore::DeprecationWarning:ir_measures.util"  # names that Python 3.14 lacks
    busy = "ignore:times of"  # that differ, as the machine does other work
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error", "-W", theirs, "-W", busy, *arguments],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    said = [each for each in done.stderr.splitlines() if "compiling once" not in each]
    assert not said, done.stderr
    assert done.returncode == 0
    return done.stdout


def output_of(script: str) -> str:
    words = str(EXAMPLES / script), *SHORTER.get(script, ())
    return run_python(*words, cwd=tempfile.gettempdir())


def table_rows(text: str) -> list[Row]:
    """Collect the lines that are a label at the margin and numbers to the line's end."""
    found = (TABLE_ROW.fullmatch(line) for line in text.splitlines())
    return [(row[1], [float(cell) for cell in row[2].split()]) for row in found if row]


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_runs_and_says_something(script: str) -> None:
    text = (EXAMPLES / script).read_text(encoding="utf-8")
    for framework in NEEDED.findall(text):
        pytest.importorskip(framework)
    assert output_of(script).strip()


@pytest.mark.parametrize("script", WORKED_EXAMPLES)
def test_worked_example(script: str) -> None:
    expected, tolerance = WORKED_EXAMPLES[script]
    rows = table_rows(output_of(script))
    assert [label for label, _ in rows] == [label for label, _ in expected]
    for (label, values), (_, right) in zip(rows, expected, strict=True):
        assert values == pytest.approx(list(right), rel=0, abs=tolerance), label


def test_compare_digits() -> None:
    output = output_of("compare_digits.py")
    rows = dict(table_rows(output))
    assert list(rows) == list(DIGITS), "five systems, best first"
    for system, (ndcg, ap, precision, *_) in DIGITS.items():
        shown = [rows[system][column] for column in (0, 1, 4)]
        assert shown == pytest.approx([ndcg, ap, precision], rel=0, abs=0.00056), system
    assert f"irbatch: {irbatch.__version__} | " in output
    assert re.search(r"^ +pca10: 4 .*missing", output, re.MULTILINE)


@pytest.mark.slow
def test_leaderboard_digits() -> None:
    output = output_of("leaderboard_digits.py")
    saved = re.search(r"^Saved in (.+): leaderboard\.html, ", output, re.MULTILINE)
    assert saved
    board = Leaderboard.from_json(Path(saved[1], "leaderboard.json"))
    assert {path.suffix for path in Path(saved[1]).iterdir()} == {".html", ".json", ".png", ".svg"}
    shutil.rmtree(saved[1])
    of_both = zip(board.values("nDCG@10"), board.values("R@100"), strict=True)
    accuracy = dict(zip(board.systems, map(list, of_both), strict=True))
    for system, (ndcg, recall, disk) in SEARCHES.items():  # what does not depend on the machine
        assert accuracy.pop(system) == pytest.approx([ndcg, recall], rel=0, abs=0.015), system
        place = board.systems.index(system)
        assert board.values("index_disk")[place] == pytest.approx(disk, rel=1e-3), system
        mean, p95 = (board.values(f"latency_{each}")[place] for each in ("mean", "p95"))
        assert mean > 0, system
        assert p95 > 0, system
    assert not accuracy
    found = board.pareto(["nDCG@10", "index_disk"])
    assert found.dominated_by == {"random-128": ["pca-48"]}


def test_the_reference_has_every_public_name() -> None:
    pytest.importorskip("pdoc")
    saved = re.search(r"^Saved in (.+): ", output_of("reference.py"), re.MULTILINE)
    assert saved
    page = Path(saved[1], "irbatch.html").read_text(encoding="utf-8")
    assert not [name for name in irbatch.__all__ if f'id="{name}"' not in page]
    assert "docstring" in page
    shutil.rmtree(saved[1])


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    if name in OF_FRAMEWORKS:
        pytest.importorskip(name, exc_type=ImportError)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


@pytest.mark.parametrize("name", irbatch.__all__)
def test_public_name_is_documented(name: str) -> None:
    public = getattr(irbatch, name)
    text = public.__doc__ or ""
    assert text.strip()
    assert not text.startswith(f"{name}("), "a dataclass without a docstring of its own"
    if inspect.isfunction(public):
        assert doctest.DocTestParser().get_examples(text), "no example"


@pytest.mark.parametrize("torch", [False, True], ids=["plain", "with torch"])
@pytest.mark.parametrize("path", GUIDES)
def test_code_blocks_run(path: str, torch: bool) -> None:
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    every = list(CODE_BLOCK.finditer(text))
    assert len(every) == text.count("```python"), "a code block is indented or never closed"
    blocks = [block for block in every if bool(NEEDS_TORCH.search(block[1])) == torch]
    if not blocks:
        pytest.skip("no code blocks")
    if torch:
        pytest.importorskip("torchmetrics")
    code = ""
    for block in blocks:  # each at its own line, so that a traceback names the line of the file
        line = text.count("\n", 0, block.start(1))
        code += "\n" * (line - code.count("\n")) + block[1]
    printed = run_python("-c", code, cwd=REPOSITORY)
    for block in blocks:
        shown = OUTPUT.match(text, block.end())
        if shown:
            assert shown[1] in printed, f"{path}: not what is printed"


def test_notebook_runs_and_shows_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell of code ends in what a notebook shows as a table or a picture; none is stored."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(EXAMPLES)
    notebook = json.loads(Path("notebook.ipynb").read_text(encoding="utf-8"))
    cells = [each for each in notebook["cells"] if each["cell_type"] == "code"]
    names: dict[str, object] = {}
    for number, cell in enumerate(cells, 1):
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        *before, last = ast.parse("".join(cell["source"])).body
        assert isinstance(last, ast.Expr)
        exec(compile(ast.Module(before, []), f"cell {number}", "exec"), names)
        found = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        if hasattr(found, "_repr_html_"):
            assert 'class="irbatch"' in found._repr_html_()
        else:
            assert found._repr_png_().startswith(b"\x89PNG")
