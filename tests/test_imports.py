"""What importing costs, what it brings in, and which room may import which."""

from __future__ import annotations

import ast
import functools
import importlib
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

import irbatch
from irbatch.measures.table import TABLE

PACKAGE = Path(irbatch.__file__).parent
FRAMEWORKS = (
    *("numba", "llvmlite", "pandas", "polars", "rich", "scipy", "sklearn"),
    *("torch", "torchmetrics", "transformers", "sentence_transformers", "keras"),
    *("dask", "distributed", "pyspark"),
)

# Every room and its floor; a room imports from its own floor or lower ones.
FLOORS = {
    **dict.fromkeys(("array_types", "errors", "on_demand", "version"), 0),
    "runtime": 1,
    **dict.fromkeys(("engine", "report", "statistics"), 2),
    **dict.fromkeys(("data", "measures"), 3),
    **dict.fromkeys(("formats", "pack"), 4),
    "evaluation": 5,
    **dict.fromkeys(("partial", "trec_eval"), 6),
    **dict.fromkeys(("comparing", "efficiency"), 7),
    **dict.fromkeys(("integrations", "leaderboard"), 8),
    **dict.fromkeys(("__main__", "cli"), 9),
}


Graph = dict[str, set[str]]  # what each module, or room, imports


def loaded_after(code: str) -> set[str]:
    program = f"import sys; {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(done.stdout.decode().split())


@pytest.mark.parametrize(
    "code",
    [
        "import irbatch",
        "import irbatch.cli",
        "import irbatch.integrations.transformers",
        "import irbatch; irbatch.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'nDCG@10')",
        "import irbatch; irbatch.BatchEvaluator('RR').update([[1, 2]], positives=[0])",
        "import irbatch; irbatch.evaluate_scores([[1, 2]], [[0, 1]], 'RR')",
        "import irbatch; irbatch.evaluate_ids([[1, 2]], [[2]], 'RR')",
    ],
)
def test_neither_numba_nor_a_framework_is_imported(code: str) -> None:
    # numpy.ma takes longer than a small evaluation.
    assert not loaded_after(code) & {*FRAMEWORKS, "numpy.ma"}


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    loaded = loaded_after("import irbatch.cli")
    assert "numpy" not in loaded
    assert {each for each in loaded if each.startswith("irbatch")} == {
        *("irbatch", "irbatch.on_demand", "irbatch.version", "irbatch.errors", "irbatch.cli")
    }


def test_a_measure_loads_its_family_alone() -> None:
    families = {f"irbatch.measures.catalogue.{name}" for name in TABLE}
    code = "import irbatch; irbatch.evaluate_matrix([[1]], ['nDCG@10', 'DCG(gain=exp)@{5,10} CG'])"
    assert loaded_after(code) & families == {"irbatch.measures.catalogue.prefixes"}
    others = {f"irbatch.engine.{name}" for name in ("walks", "overlap", "concordance")}
    assert not loaded_after(code) & others


def test_dictionaries_load_nothing_that_reads_files_or_tables() -> None:
    code = "import irbatch; irbatch.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'nDCG@10')"
    loaded = loaded_after(code)
    assert not loaded & {"irbatch.formats", "irbatch.data.columns", "dataclasses", "numpy.typing"}
    assert len([each for each in loaded if each.startswith("irbatch")]) <= 45


def test_a_command_loads_no_other() -> None:
    code = "from irbatch.cli.parser import parse_words; parse_words(['eval', 'qrels', 'run'])"
    others = {"irbatch.comparing", "irbatch.leaderboard", "irbatch.report.html"}
    assert not loaded_after(code) & others


def test_every_public_name_is_found() -> None:
    for name in irbatch.__all__:
        assert getattr(irbatch, name).__name__ if name != "__version__" else irbatch.__version__
    assert set(irbatch.__all__) <= {*dir(irbatch), "__version__"}


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def modules() -> dict[str, Path]:
    """Map names, such as ``data.runs``, to the package's modules, all but its own ``__init__``."""
    paths = PACKAGE.rglob("*.py")
    named = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in paths}
    del named["__init__"]
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def imports(path: Path, known: Collection[str]) -> set[str]:
    """Name the modules that one imports: when it is loaded, in a function, or for types alone."""
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("irbatch."):
            module = str(node.module).removeprefix("irbatch.")
            longer = {f"{module}.{each.name}" for each in node.names}
            names |= {each if each in known else module for each in longer}
        elif isinstance(node, ast.ImportFrom) and node.module == "irbatch":
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.Import):
            names |= {each.name.removeprefix("irbatch.") for each in node.names}
    return names.intersection(known)


@functools.cache
def import_graph() -> Graph:
    known = modules()
    return {name: imports(path, known) for name, path in known.items()}


def room(module: str) -> str:
    return module.split(".")[0]


def in_circles(graph: Graph) -> set[str]:
    """Return what is in circles or between two, by leaving out what is first or last in a chain."""
    left = set(graph)
    while True:
        importing = {name for name in left if graph[name] & left}
        imported = set[str]().union(*(graph[name] for name in left))
        if left <= importing & imported:
            return left
        left &= importing & imported


def test_imports_go_down_the_floors() -> None:
    graph = import_graph()
    assert {room(name) for name in graph} == set(FLOORS), "every room has its floor"
    for name, needs in graph.items():
        for other in needs:
            assert FLOORS[room(other)] <= FLOORS[room(name)], f"{name} imports {other}"


def test_rooms_do_not_import_each_other_in_circles() -> None:
    rooms: Graph = {name: set() for name in FLOORS}
    for name, needs in import_graph().items():
        rooms[room(name)] |= {room(other) for other in needs} - {room(name)}
    assert not in_circles(rooms)


def test_modules_do_not_import_each_other_in_circles() -> None:
    assert not in_circles(import_graph())


def test_the_package_is_small_at_its_top() -> None:
    entries = [each for each in PACKAGE.iterdir() if each.suffix in ("", ".py")]
    assert len([each for each in entries if each.name != "__pycache__"]) <= 22


def test_modules_are_short() -> None:
    lines = {name: len(path.read_text().splitlines()) for name, path in modules().items()}
    assert not {name: count for name, count in lines.items() if count > 740}


def test_only_entry_points_have_many_parameters() -> None:
    rooms = "comparing", "data", "efficiency", "evaluation", "leaderboard", "measures"
    packages = "irbatch", *(f"irbatch.{name}" for name in rooms)
    exported = {name for each in packages for name in importlib.import_module(each).__all__}
    for name, path in modules().items():
        nodes = list(ast.walk(tree(path)))
        classes = [each for each in nodes if isinstance(each, ast.ClassDef)]
        entries = {part for each in classes if each.name in exported for part in each.body}
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and node.name not in exported:
                given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                assert len(given) <= 12 or node in entries, f"{name}.{node.name}"


def test_nothing_reads_pickles() -> None:
    """Whoever writes a pickle decides what runs where it is read.

    One module does: what tasks share, if its digest is the one that came with the task.
    """
    verified = PACKAGE / "evaluation" / "executors.py"
    for path in {*PACKAGE.rglob("*.py")} - {verified}:
        text = path.read_text()
        for each in ("import pickle", "marshal.load", "allow_pickle=True", "np.load("):
            assert each not in text, path.name


def test_nothing_checks_input_with_assert() -> None:
    for path in PACKAGE.rglob("*.py"):
        nodes = ast.walk(tree(path))
        assert not any(isinstance(node, ast.Assert) for node in nodes), path.name
