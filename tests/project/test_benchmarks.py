"""Benchmarks run seldom, so their imports of each other are checked here, without running them."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
MODULES = {
    ".".join(path.relative_to(FOLDER).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted([*FOLDER.glob("*.py"), *FOLDER.glob("harness/*.py")])
}

pytestmark = pytest.mark.skipif(not MODULES, reason="a distribution has no benchmarks")


def defined(module):
    """Names that a module binds, wherever in it that is."""
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return names | {alias.asname or alias.name for node in imports(module) for alias in node.names}


def imports(module):
    return [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("name", MODULES)
def test_what_a_benchmark_imports_of_another_is_there(name):
    for node in imports(MODULES[name]):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            missing = {alias.name for alias in node.names} - defined(MODULES[node.module])
            assert not missing, f"{node.module}.py has no {', '.join(sorted(missing))}"
