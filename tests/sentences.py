"""Every sentence that somebody can be told, found in the code itself.

A function with a parameter `template` makes a sentence of it. Whoever calls one gives a literal
(or a `Sentence`, which was one), so that all templates can be read off and have translations.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import marshmallow
from marshmallow import fields

from api.app import create_app
from api.problems import KINDS

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("domain", "eventstore", "api")
_BESIDES = ("api/command", "eventstore/settings.py")
"""What speaks to operators."""

_TEMPLATE = "template"


@cache
def _modules() -> dict[str, ast.Module]:
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(_BESIDES):
                found[name] = ast.parse(path.read_text("utf-8"))
    return found


@cache
def _makers() -> dict[str, set[int]]:
    """The functions and classes that make a sentence, with the place of their template."""
    makers: dict[str, set[int]] = {"ValidationError": {0}}
    for path, module in _modules().items():
        for node in ast.walk(module):
            for name, function in _functions(node):
                arguments = [each.arg for each in function.args.posonlyargs + function.args.args]
                if _TEMPLATE in arguments:
                    bound = arguments[0] in ("self", "cls")
                    place = arguments.index(_TEMPLATE) - bound
                    makers.setdefault(_known(path, name), set()).add(place)
    return makers


def _known(module: str, name: str) -> str:
    """Names that begin with an underscore are those of their module."""
    return f"{module}:{name}" if name.startswith("_") else name


def _functions(node: ast.AST) -> Iterator[tuple[str, ast.FunctionDef]]:
    if isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "__new__"):
                yield node.name, each
    elif isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
        yield node.name, node


def templates() -> dict[str, str]:
    """Every template in the code, with the place where it stands."""
    found: dict[str, str] = {}
    for name, module in _modules().items():
        for node in ast.walk(module):
            for expression in _given(node, name):
                for template in _literals(expression, name):
                    found.setdefault(template, f"{name}:{expression.lineno}")
    return found


def _given(node: ast.AST, module: str) -> Iterator[ast.expr]:
    """What stands as a template there: as an argument or as a default."""
    if isinstance(node, ast.Call):
        function = node.func
        called = function.attr if isinstance(function, ast.Attribute) else ""
        called = _known(module, function.id if isinstance(function, ast.Name) else called)
        for place in _makers().get(called, ()):
            if place < len(node.args) and not isinstance(node.args[place], ast.Starred | ast.Tuple):
                yield node.args[place]
        if called in _makers():
            yield from (each.value for each in node.keywords if each.arg == _TEMPLATE)
    elif isinstance(node, ast.Assign):
        # What is chosen first and told after that.
        if [each.id for each in node.targets if isinstance(each, ast.Name)] == [_TEMPLATE]:
            yield node.value
    elif isinstance(node, ast.FunctionDef):
        arguments = node.args.posonlyargs + node.args.args
        defaults = node.args.defaults
        for argument, default in zip(arguments[::-1], defaults[::-1], strict=False):
            if argument.arg == _TEMPLATE:
                yield default


def _literals(expression: ast.expr, module: str) -> Iterator[str]:
    match expression:
        case ast.Constant(value=str(template)):
            yield template
        case ast.IfExp(body=body, orelse=other):
            yield from _literals(body, module)
            yield from _literals(other, module)
        case ast.Name(id=name) if name == _TEMPLATE:
            pass
        case ast.JoinedStr() | ast.BinOp() | ast.Name():
            raise AssertionError(
                f"{module}:{expression.lineno} builds a sentence that has no translation: "
                'use Sentence("… {fact} …", fact=…)'
            )
        # Everything else is a call that makes a Sentence, or an attribute that holds one.


def validated() -> Iterator[tuple[str, str]]:
    """What the checks of bodies and queries say, with the field that is checked."""
    app = create_app()
    seen: set[type[marshmallow.Schema]] = set()

    def of_schema(schema: type[marshmallow.Schema]) -> Iterator[tuple[str, str]]:
        if schema in seen:
            return
        seen.add(schema)
        instance = schema()
        for message in instance.error_messages.values():
            yield schema.__name__, str(message)
        for name, field in instance.fields.items():
            yield from of_field(f"{schema.__name__}.{name}", field)

    def of_field(name: str, field: fields.Field) -> Iterator[tuple[str, str]]:  # type: ignore[type-arg]
        for message in field.error_messages.values():
            yield name, message
        for validator in field.validators:
            yield name, getattr(validator, "error", None) or type(validator).__name__
        if isinstance(field, fields.List):
            yield from of_field(name, field.inner)
        if isinstance(field, fields.Nested):
            yield from of_schema(type(field.schema))

    for view in app.view_functions.values():
        declared = getattr(view, "operation", None)
        for schema in (declared.body, declared.query) if declared else ():
            if schema is not None:
                yield from of_schema(schema)


def titles() -> Iterator[str]:
    """The title and the meaning of each kind of problem."""
    return (text for kind in KINDS.values() for text in (kind.title, kind.meaning))
