"""What a package's code is made of: the modules that a public name leads to, by their imports, and a digest of them."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

BODIES = ("body", "orelse", "finalbody")


class Import(NamedTuple):
    """A name that a module has from another of the package; `name` is empty if it is the other module itself."""

    bound: str
    module: str
    name: str


@dataclass(frozen=True)
class Module:
    """A file: its code without comments, docstrings, layout and imports from the package, and those imports."""

    code: str
    imports: tuple[Import, ...]


class Package:
    """The modules of a package, read as they are asked for and never run.

    Names of modules are dotted and begin with that of the package. What the package shows lazily is in its
    ``__init__``, in a dictionary `_HOMES` from public names to modules.

    Parameters
    ----------
    folder
        Of the package; its name is the package's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self._modules: dict[str, Module] = {}

    @property
    def public(self) -> tuple[str, ...]:
        """The names that the package shows."""
        return tuple(found.bound for found in self.module(self.name).imports)

    def digest(self, names: Iterable[str], beside: Collection[str] = ()) -> str:
        """Eight hexadecimal digits that change with the code behind public names.

        They change if code does, or if a name is imported from a place where it is something else. They do not if a
        module is renamed or moved and those who import it follow.

        Parameters
        ----------
        names
            Public names.
        beside
            Modules, and packages with all of theirs, that count as if they were not part of the package.
        """
        reached = self.reached(names, beside)
        edges = {name: self._edges(name) for name in reached}
        labels, count = {name: _hashed(self.module(name).code) for name in reached}, 0
        # A label stands for code and for the labels of what it imports: what is the same under other names is equal.
        while count < len(set(labels.values())) or not count:
            count = len(set(labels.values()))
            labels = {
                name: _hashed(labels[name], *sorted(f"{i.bound} {i.name} {labels.get(i.module)}" for i in edges[name]))
                for name in reached
            }
        return _hashed(*sorted(labels.values()))[:8]

    def reached(self, names: Iterable[str], beside: Collection[str] = ()) -> frozenset[str]:
        """The modules that public names are defined in, and all that these import."""
        waiting = [self.home(self.name, name)[0] for name in names]
        known: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in known and not any(f"{name}.".startswith(f"{other}.") for other in beside):
                known.add(name)
                waiting += [found.module for found in self._edges(name)]
        return frozenset(known)

    def home(self, module: str, name: str) -> tuple[str, str]:
        """The module that defines a name, and its name there, wherever others import it from."""
        while name:
            if self._path(inner := f"{module}.{name}"):
                return inner, ""
            passed_on = [found for found in self.module(module).imports if found.bound == name]
            if not passed_on:
                break
            _, module, name = passed_on[0]
        return module, name

    def module(self, name: str) -> Module:
        """Read a module."""
        if name not in self._modules:
            path = self._path(name)
            if path is None:
                raise ValueError(f"{self.folder} has no module {name}")
            tree = ast.parse(path.read_text(encoding="utf-8"))
            homes = _homes(tree) if name == self.name else ()
            imports = *homes, *_imports(tree, self.name)  # before they are taken out of the code
            self._modules[name] = Module(_code(tree, self.name), imports)
        return self._modules[name]

    def _edges(self, name: str) -> list[Import]:
        """The imports of a module, each from where the name is defined."""
        return [Import(found.bound, *self.home(found.module, found.name)) for found in self.module(name).imports]

    def _path(self, name: str) -> Path | None:
        place = self.folder.joinpath(*name.split(".")[1:])
        return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _homes(tree: ast.Module) -> Iterator[Import]:
    """What the dictionary `_HOMES` says, if there is one."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["_HOMES"]:
            for name, module in ast.literal_eval(node.value).items():
                yield Import(name, module, name)


def _imports(tree: ast.Module, package: str) -> Iterator[Import]:
    """Imports from the package, wherever they stand, those for annotations aside."""
    for_annotations = {id(part) for node in ast.walk(tree) if _is_for_annotations(node) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in for_annotations or not _is_own_import(node, package):
            continue
        if isinstance(node, ast.ImportFrom):
            yield from (Import(alias.asname or alias.name, node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (Import(alias.asname or alias.name, alias.name, "") for alias in node.names)


def _code(tree: ast.Module, package: str) -> str:
    """Source without comments, docstrings, layout, imports from the package and those for annotations."""
    for node in ast.walk(tree):
        for field in BODIES:
            body = getattr(node, field, None)
            if isinstance(body, list):
                kept = [part for part in body if not (_is_words(part) or _is_left_out(part, package))]
                setattr(node, field, kept or ([ast.Pass()] if field == "body" else []))
    return ast.unparse(tree)


def _is_left_out(node: ast.AST, package: str) -> bool:
    return _is_own_import(node, package) or _is_for_annotations(node)


def _is_own_import(node: ast.AST, package: str) -> bool:
    """Whether it is ``import package.a`` or ``from package.a import b``; all imports from it are absolute."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(name.partition(".")[0] == package for name in names)


def _is_for_annotations(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_words(node: ast.AST) -> bool:
    """Whether it is a string that stands by itself: a docstring, or a remark."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
