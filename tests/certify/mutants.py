"""Mutants: functions of a module with one small mistake each, which temporarily replace the correct ones."""

import ast
import contextlib
import copy
import gc
import inspect
import sys
from types import CodeType, FunctionType

OPPOSITE = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
NEAR = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
NAMES = {"maximum": "minimum", "minimum": "maximum", "min": "max", "max": "min", "any": "all", "all": "any"}


def edits(node):
    """Return small mistakes that can be made at a node, each as a function that makes it."""
    found = []
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in {OPPOSITE.get(type(op)), NEAR.get(type(op))} - {None}:
                found.append(lambda n, place=place, other=other: n.ops.__setitem__(place, other()))
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in OPPOSITE:
        found.append(lambda n: setattr(n, "op", OPPOSITE[type(n.op)]()))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        found.append(lambda n: setattr(n, "op", ast.UAdd() if isinstance(n.op, ast.USub) else ast.Not()))
        if isinstance(node.op, ast.Not):
            found[-1] = lambda n: setattr(n, "operand", ast.UnaryOp(ast.Not(), n.operand))
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        found.append(lambda n: setattr(n, "value", other))
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        found.append(lambda n: setattr(n, "attr", NAMES[n.attr]))
    return found


def mutants(module):
    """Return every mutant of the functions of a module: a name, and the code of each function of the mutated source."""
    path = inspect.getsourcefile(module)
    sound = ast.parse(inspect.getsource(module))
    for number, node in enumerate(ast.walk(sound)):
        for which, _ in enumerate(edits(node)):
            changed = copy.deepcopy(sound)
            place = next(one for index, one in enumerate(ast.walk(changed)) if index == number)
            edits(place)[which](place)
            tree = ast.fix_missing_locations(changed)
            yield f"{module.__name__}:{node.lineno}:{node.col_offset}:{which}", codes(compile(tree, path, "exec"))


def codes(code):
    """Return the code of each function under a key that it shares with the correct one."""
    found = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= {key(inner): inner} | codes(inner)
    return found


def key(code):
    return code.co_qualname, code.co_firstlineno, code.co_varnames[: code.co_argcount], code.co_freevars


def functions(*modules):
    """Return all functions of loaded modules, including methods and lambdas, by their keys."""
    found = {}
    files = {inspect.getsourcefile(module) for module in modules}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            found.setdefault((one.__code__.co_filename, key(one.__code__)), []).append(one)
    return found


def differences(known, path, mutated):
    """Return the functions that a mutant changes, with their new code."""
    return [
        (one, code)
        for name, code in mutated.items()
        for one in known.get((path, name), ())
        if (code.co_code, code.co_consts, code.co_names)
        != (one.__code__.co_code, one.__code__.co_consts, one.__code__.co_names)
    ]


@contextlib.contextmanager
def living(changed):
    """Replace the correct code by mutated code temporarily."""
    before = [(one, one.__code__) for one, _ in changed]
    for one, code in changed:
        one.__code__ = code
    try:
        yield
    finally:
        for one, code in before:
            one.__code__ = code


def called(task):
    """Return the code of every Python function that a task calls."""
    seen = set()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code) if event == "call" else None)
    try:
        task()
    finally:
        sys.setprofile(None)
    return seen
