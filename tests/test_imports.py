"""What importing costs, what it brings in, and which room may import which."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import irbatch

PACKAGE = Path(irbatch.__file__).parent
FRAMEWORKS = (
    *("numba", "llvmlite", "pandas", "polars", "rich", "scipy", "sklearn"),
    *("torch", "torchmetrics", "transformers", "sentence_transformers", "keras"),
)

# Every room and its floor; a room imports from its own floor or lower ones.
FLOORS = {
    **dict.fromkeys(("array_types", "errors", "version"), 0),
    "runtime": 1,
    **dict.fromkeys(("engine", "statistics"), 2),
    **dict.fromkeys(("data", "measures"), 3),
    **dict.fromkeys(("formats", "pack"), 4),
    "evaluation": 5,
    **dict.fromkeys(("report", "trec_eval"), 6),
    **dict.fromkeys(("comparing", "efficiency"), 7),
    **dict.fromkeys(("integrations", "leaderboard"), 8),
    **dict.fromkeys(("__main__", "cli", "warmup"), 9),
}


def loaded_after(code: str) -> set[str]:
    program = f"import sys; {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(done.stdout.decode().split())


@pytest.mark.parametrize(
    "code",
    [
        "import irbatch",
        "import irbatch.cli",
        "import irbatch; irbatch.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'nDCG@10')",
        "import irbatch; irbatch.BatchEvaluator('RR').update([[1, 2]], positives=[0])",
    ],
)
def test_neither_numba_nor_a_framework_is_imported(code: str) -> None:
    assert not loaded_after(code) & set(FRAMEWORKS)


def test_that_test_can_fail() -> None:
    assert "numba" in loaded_after("import irbatch, numba")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Name the rooms a module imports when it is loaded."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("irbatch."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {n.name.split(".")[1] for n in node.names if n.name.startswith("irbatch.")}
    return found


def test_imports_go_down_the_floors() -> None:
    modules = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]
    assert {room(path) for path in modules} == set(FLOORS), "every room has its floor"
    for path in modules:
        for other in imports(path):
            assert FLOORS[other] <= FLOORS[room(path)], f"{path.name} imports {other}"


def test_rooms_of_a_floor_do_not_import_each_other_in_circles() -> None:
    graph: dict[str, set[str]] = {name: set() for name in FLOORS}
    for path in PACKAGE.rglob("*.py"):
        if path != PACKAGE / "__init__.py":
            graph[room(path)] |= imports(path) - {room(path)}
    while leaves := {name for name, needs in graph.items() if not needs & graph.keys()}:
        for leaf in leaves:
            del graph[leaf]
    assert not graph, f"circle among {sorted(graph)}"


def test_nothing_checks_input_with_assert() -> None:
    for path in PACKAGE.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        assert not any(isinstance(node, ast.Assert) for node in nodes), path.name
