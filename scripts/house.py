"""Count what a reader of a code base meets: files, packages, functions, and how much a main call brings in.

    python scripts/house.py pydine.questions.mutual_information=src/pydine flowjax.flows=../flowjax/flowjax

Each argument is the module that a main call is in, and the folder of its package. It prints a column of the table of
docs/house.md for each. Tests are not counted, nor are docstrings in the length of a function.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

Function = ast.FunctionDef | ast.AsyncFunctionDef
LONG_FILE, LONG_FUNCTION = 450, 70  # lines


def sources(package: Path) -> dict[str, str]:
    """The text of each module of a package, by its dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        if "tests" not in parts and not parts[-1].startswith("test_"):
            found[".".join(parts).removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


def functions(text: str) -> Iterator[Function]:
    """All functions and methods of a module."""
    return (node for node in ast.walk(ast.parse(text)) if isinstance(node, Function))


def length(function: Function) -> int:
    """Lines of a function without its docstring."""
    first = function.body[0]
    text = first.value if isinstance(first, ast.Expr) else None
    is_said = isinstance(text, ast.Constant) and isinstance(text.value, str)
    said = (first.end_lineno or 0) - first.lineno + 1 if is_said else 0
    return (function.end_lineno or 0) - function.lineno + 1 - said


def is_annotated(function: Function) -> bool:
    """Whether all arguments have types, and what is returned, unless it is a constructor."""
    taken = function.args
    every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
    said = all(argument.annotation for argument in every if argument.arg not in ("self", "cls"))
    return said and (function.returns is not None or function.name == "__init__")


def brought_in(main: str, texts: dict[str, str], packages: set[str]) -> set[str]:
    """The modules that are imported with a module, at the top of one another."""
    found, left = set[str](), [main]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += imported(name, texts, packages)
    return found


def imported(module: str, texts: dict[str, str], packages: set[str]) -> Iterator[str]:
    """The modules of the same package that a module imports at its top; names of a package are followed to theirs."""
    for node in top_imports(ast.parse(texts[module])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in texts)
            continue
        base = origin(module, node, packages)
        for alias in node.names:
            if f"{base}.{alias.name}" in texts:
                yield f"{base}.{alias.name}"
            elif base in texts:
                shown = top_imports(ast.parse(texts[base])) if base in packages else iter(())
                froms = [n for n in shown if isinstance(n, ast.ImportFrom)]
                origins = [
                    origin(base, n, packages) for n in froms if alias.name in [a.asname or a.name for a in n.names]
                ]
                yield next((name for name in origins if name in texts), base)


def top_imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run with a module: not those in functions, nor those for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, Function) and not (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            yield from top_imports(node)


def origin(module: str, node: ast.ImportFrom, packages: set[str]) -> str:
    """The dotted name of what `from ... import` imports from."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    above = parts[: len(parts) - node.level + (module in packages)]
    return ".".join([*above, *([node.module] if node.module else [])])


def column(main: str, package: Path) -> dict[str, str]:
    """What is counted of one package."""
    texts = sources(package)
    packages = {name for name in texts if (package.parent / name.replace(".", "/")).is_dir()}
    lines = {name: len(text.splitlines()) for name, text in texts.items()}
    every = [function for text in texts.values() for function in functions(text)]
    lengths = sorted(map(length, every))
    largest = sorted(lines, key=lambda name: -lines[name])[:3]
    return {
        "files": str(len(texts)),
        "lines": f"{sum(lines.values()):,}",
        "median file": f"{median(lines.values()):.0f}",
        f"files over {LONG_FILE} lines": str(sum(count > LONG_FILE for count in lines.values())),
        "largest files": ", ".join(f"{name.partition('.')[2]} {lines[name]}" for name in largest),
        "packages": str(len(packages)),
        "functions": f"{len(every):,}",
        "function, median / p90": f"{median(lengths):.0f} / {lengths[int(0.9 * len(lengths))]}",
        f"functions over {LONG_FUNCTION} lines": str(sum(count > LONG_FUNCTION for count in lengths)),
        "longest function": str(lengths[-1]),
        "annotated": f"{100 * sum(map(is_annotated, every)) / len(every):.0f}%",
        "modules imported with the main call": str(len(brought_in(main, texts, packages) - packages)),
    }


def main() -> None:
    """Print the table."""
    columns = {}
    for argument in sys.argv[1:]:
        module, _, folder = argument.partition("=")
        columns[module.partition(".")[0]] = column(module, Path(folder).resolve())
    head = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    names = next(iter(columns.values()))
    rows = [f"| {name} | {' | '.join(found[name] for found in columns.values())} |" for name in names]
    sys.stdout.write("\n".join([*head, *rows]) + "\n")


if __name__ == "__main__":
    main()
