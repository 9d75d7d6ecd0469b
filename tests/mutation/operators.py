"""Small changes to source code, each of which should make a test fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from speed import speed_only

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
NARROWER = {"float64": "float32", "int64": "int32", "int32": "int16", "int16": "int8"}
COMMUTATIVE = {"min", "max", "minimum", "maximum", "isinstance", "zip"}


@dataclass(eq=False)
class Mutant:
    """One change: a part of a node replaced."""

    path: str
    line: int
    function: str  # the one that it is in, or an empty text
    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST
    tree: ast.Module

    def __str__(self) -> str:
        before, after = ast.unparse(self._node()), ast.unparse(self.new)
        column = getattr(self._node(), "col_offset", 0) + 1
        return f"{self.path}:{self.line}:{column}: {_shown(before)}  ->  {_shown(after)}"

    def compile(self) -> CodeType:
        """Return the module's code with the change in it."""
        old = self._node()
        self._put(self.new)
        try:
            return compile(
                ast.fix_missing_locations(self.tree), str(Path(self.path).resolve()), "exec"
            )
        finally:
            self._put(old)

    def _node(self) -> ast.AST:
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    def _put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def list_mutants(path: str) -> list[Mutant]:
    """List every change to a file."""
    tree = ast.parse(Path(path).read_text())
    return [each for each in _walk(path, tree, tree, "", speed_only(tree)) if str(each)]


def _walk(
    path: str, tree: ast.Module, parent: ast.AST, function: str, left_out: set[ast.AST]
) -> Iterator[Mutant]:
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "type_params", "ctx"):
            continue
        inside = function
        if isinstance(parent, ast.FunctionDef | ast.Lambda) and field == "body":
            inside = f"{function}.{getattr(parent, 'name', 'lambda')}"
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
                continue
            if node in left_out:
                continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            at = index if isinstance(value, list) else None
            for new in _changes(node, parent):
                ast.copy_location(new, node)
                line = getattr(node, "lineno", getattr(parent, "lineno", 0))
                yield Mutant(path, line, inside, parent, field, at, new, tree)
            yield from _walk(path, tree, node, inside, left_out)


def _changes(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in a node's place."""
    match node:
        case ast.Compare(left, ops, rest):
            for i, op in enumerate(ops):
                changed = COMPARISONS[type(op)]()
                yield ast.Compare(left, [*ops[:i], changed, *ops[i + 1 :]], rest)
        case ast.BinOp(left, op, right) if type(op) in OPERATIONS:
            yield ast.BinOp(left, OPERATIONS[type(op)](), right)
        case ast.AugAssign(target, op, value):
            if type(op) in OPERATIONS:
                yield ast.AugAssign(target, OPERATIONS[type(op)](), value)
            yield ast.Pass()
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Constant(bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(int() | float() as number):
            yield ast.Constant(number + 1)
            if not isinstance(parent, ast.UnaryOp):
                yield ast.Constant(number - 1)
        case ast.Constant(str() as text) if text in NARROWER:
            yield ast.Constant(NARROWER[text])
        case ast.Attribute(value, name) if name in NARROWER:
            yield ast.Attribute(value, NARROWER[name], ast.Load())
        case ast.Slice(lower, upper, step):
            if lower is not None and not isinstance(lower, ast.Constant):
                yield ast.Slice(_plus(lower, 1), upper, step)
            if upper is not None and not isinstance(upper, ast.Constant):
                yield ast.Slice(lower, _plus(upper, -1), step)
        case ast.Call(called, [first, second, *more], keywords):
            name = getattr(called, "attr", getattr(called, "id", ""))
            if name not in COMMUTATIVE and not isinstance(first, ast.Starred):
                yield ast.Call(called, [second, first, *more], keywords)
        case ast.Return(value) if value is not None and ast.unparse(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Assign([ast.Subscript() | ast.Attribute()]):
            yield ast.Pass()
        case ast.Expr(value) if not isinstance(value, ast.Constant):
            yield ast.Pass()


def _plus(node: ast.expr, number: int) -> ast.expr:
    return ast.BinOp(node, ast.Add(), ast.Constant(number))


def _shown(code: str) -> str:
    return " ".join(code.split())[:90]
