"""The tests mirror the package: what a module does is specified in the file of its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import scheduler

PACKAGE = Path(scheduler.__file__).parent
TESTS = Path(__file__).parent


def does_something(module: Path) -> bool:
    """Whether any function of it has a body: protocols, types and constants have none."""
    functions = (
        node
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return any(
        not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for function in functions
        for statement in function.body
    )


MODULES = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py")) if does_something(path)]


def test_there_are_modules_that_do_something() -> None:
    assert Path("cycle/algorithm.py") in MODULES
    assert Path("cycle/journal.py") not in MODULES


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_a_specification_of_its_own(module: Path) -> None:
    assert (TESTS / module.parent / f"test_{module.name}").is_file()
