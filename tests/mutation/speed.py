"""What decides how fast something is done, or in how much memory, and not what comes of it.

A test could tell a change to it by a clock alone, so it is not changed:

- estimates of work, by which kernels run compiled or not and threads are shared out: the first
  argument of a kernel's `run` and `runs_compiled`, ``cells=``, and names that are used for these
  alone;
- comparisons with `SIZES`, and numbers of items that are calculated from them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

SIZES = {
    # Of what is done at once: results don't depend on where blocks end.
    "BLOCK_BYTES", "BLOCK_CELLS", "BYTES_AT_ONCE", "COUNT_CELLS", "MOST_COUNT_BYTES",
    "SPARSE_CELLS",
    # From which on another way to the same result is the faster.
    "CELLS_OF_VALUE", "FEW_CELLS", "IN_THREADS", "MANY_TIED", "SORTED_FROM", "WIDE",
}  # fmt: skip
ESTIMATING = ("run", "runs_compiled")


def speed_only(tree: ast.Module) -> set[ast.AST]:
    """Return the expressions that are left out."""
    found = set(_with_sizes(tree))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            found |= _estimates(function)
    return found


def _with_sizes(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                expression: ast.AST = node
            case ast.Assign([ast.Name()], value) | ast.Return(value):
                match value:
                    case ast.BinOp() | ast.Call(ast.Name("min" | "max")):
                        expression = value
                    case _:
                        continue
            case _:
                continue
        if SIZES & {each.id for each in ast.walk(expression) if isinstance(each, ast.Name)}:
            yield expression


def _estimates(function: ast.FunctionDef) -> set[ast.AST]:
    """Find a function's estimates of work, from where they are used back to what they are of."""
    found: set[ast.AST] = set()
    assigned: dict[str, list[ast.AST]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Call(ast.Attribute(_, name), [first, *_]) if name in ESTIMATING:
                found.add(first)
            case ast.keyword("cells", value):
                found.add(value)
            case ast.Assign([ast.Name(name)], value):
                assigned.setdefault(name, []).append(value)
    while True:
        inside = {each for expression in found for each in ast.walk(expression)}
        elsewhere = {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in inside
        }
        values = {each for name in assigned.keys() - elsewhere for each in assigned[name]}
        if values <= found:
            return found
        found |= values
