"""Imports point down only: a room of the package may use the rooms below it, and no others.

A module that is not in the table yet fails the test: say where it belongs.
"""

import ast
from pathlib import Path

import pytest

import pydine

ROOT = Path(pydine.__file__).parent

# From the bottom up. A room is a module or a subpackage directly under pydine; "pydine" is the front door,
# __init__.py, which shows the rooms of the core to the outside.
LAYERS = [
    {"_version", "plotting", "progress", "theory"},
    {"results", "matrices"},
    {"columns"},
    {"data", "files"},
    {"variables"},
    {"engine"},
    {"information"},
    {"bases"},
    {"estimation"},
    {"dependence"},
    {"independence", "estimator"},
    {"screening"},
    {"pairwise", "ranking", "selection"},
    {"pydine"},
    {"integrations"},
    {"baselines"},
    {"experiments"},
    {"report"},
    {"demo"},
    {"cli"},
    {"__main__"},
]
HEIGHT = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}
# A peer's estimator is not to lean on ours, beyond what reads data and what every estimator shares.
ONLY = {"baselines": {"_version", "results", "columns", "data", "information"}}


def room_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "pydine" if parts == ("__init__",) else parts[0]


def imported_rooms(source, package):
    """Rooms of pydine that a module of the given package imports, inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            # What is imported from the front door may be a room or a name that the door shows.
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "pydine" else [module]
        else:
            continue
        for name in names:
            head, *rest = name.split(".")
            if head == "pydine":
                yield rest[0] if rest and rest[0] in HEIGHT else "pydine"


def violations(room, rooms):
    """The imported rooms that do not lie below."""
    allowed = ONLY.get(room, {other for other in HEIGHT if HEIGHT[other] < HEIGHT[room]}) | {room}
    return sorted(set(rooms) - allowed)


def modules():
    return sorted(path for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    room = room_of(path)
    assert room in HEIGHT, f"pydine.{room} has no layer yet: add it to LAYERS"
    package = ["pydine", *path.relative_to(ROOT).parent.parts]
    upwards = violations(room, imported_rooms(path.read_text(encoding="utf-8"), package))
    assert not upwards, f"pydine.{room} must not import {', '.join(upwards)}"


def test_the_package_is_found():
    assert {"results", "data", "engine"} <= {room_of(path) for path in modules()}


@pytest.mark.parametrize(
    ("room", "source", "upwards"),
    [
        ("results", "import numpy as np", []),
        ("results", "from pydine.data import Sample", ["data"]),
        ("data", "from pydine.results import default_names", []),
        ("data", "import pydine.engine.kernel", ["engine"]),
        ("engine", "from pydine.engine.kernel import log_likelihood", []),
        ("engine", "from .kernel import log_likelihood", []),
        ("engine", "from ..information import bias", ["information"]),
        ("engine", "from .. import estimator, results", ["estimator"]),
        ("engine", "def lazily():\n    from pydine import estimator", ["estimator"]),
        ("information", "import pydine", ["pydine"]),
        ("estimator", "from pydine.baselines.ksg import ksg", ["baselines"]),
        ("pydine", "from pydine.baselines.ksg import ksg", ["baselines"]),
        ("pydine", "from pydine.estimator import DINE", []),
        ("baselines", "from pydine.information import bias", []),
        ("baselines", "from pydine.engine.kernel import log_likelihood", ["engine"]),
        ("experiments", "from pydine import mutual_information, baselines", []),
        ("demo", "import pydine", []),
    ],
)
def test_the_check_itself(room, source, upwards):
    assert violations(room, imported_rooms(source, ["pydine", "engine"])) == upwards
