"""Imports point down only: a room of the package may use the rooms below it, and no others.

A room that is not in the table yet fails the test: say where it belongs.
"""

import ast
from pathlib import Path

import pytest

import pydine

ROOT = Path(pydine.__file__).parent

# From the bottom up. A room is a module or a subpackage directly under pydine; "pydine" is the front door,
# __init__.py, which shows the rooms of the core to the outside. Rooms of one layer do not know each other.
LAYERS = [
    {"_version", "archive", "disk", "theory", "types"},
    {"marks", "serial"},
    {"sampling"},
    {"show"},
    {"results"},
    {"inputs"},
    {"kernels"},
    {"units"},
    {"work"},
    {"latents"},
    {"bases"},
    {"nulls"},
    {"answers"},
    {"questions"},
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
ONLY = {
    # Machine code and kept units are named by a hash of these sources, so nothing else may change what they do.
    "kernels": {"disk", "types"},
    "units": {"marks", "sampling", "types", "kernels"},
    "work": {"archive", "disk", "sampling", "types", "kernels", "units"},
    # A peer's estimator is not to lean on ours, beyond what reads data and what every estimator shares.
    "baselines": {"_version", "types", "results", "inputs", "bases.closed_form"},
}


def room_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "pydine" if parts == ("__init__",) else parts[0]


def imported(source, package):
    """Whatever a module of the given package imports from pydine, inside functions too, without the "pydine.".

    A name that the front door shows stands for the door itself.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            # What is imported from a package may be a module or a name: both are written out.
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            head, *rest = name.split(".")
            if head == "pydine":
                yield ".".join(rest) if rest and rest[0] in HEIGHT else "pydine"


def violations(room, names):
    """The rooms of the imported names that do not lie below."""
    allowed = ONLY.get(room, {other for other in HEIGHT if HEIGHT[other] < HEIGHT[room]}) | {room}
    return sorted({name.partition(".")[0] for name in names if not any(within(name, place) for place in allowed)})


def within(name, place):
    return name == place or name.startswith(f"{place}.")


def modules():
    return sorted(path for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    room = room_of(path)
    assert room in HEIGHT, f"pydine.{room} has no layer yet: add it to LAYERS"
    package = ["pydine", *path.relative_to(ROOT).parent.parts]
    upwards = violations(room, imported(path.read_text(encoding="utf-8"), package))
    assert not upwards, f"pydine.{room} must not import {', '.join(upwards)}"


def test_there_is_a_layer_for_what_there_is_and_for_nothing_else():
    assert set(HEIGHT) == {room_of(path) for path in modules()}


@pytest.mark.parametrize(
    ("room", "source", "upwards"),
    [
        ("results", "import numpy as np", []),
        ("results", "from pydine.types import FloatArray", []),
        ("results", "from pydine.inputs.table import Table", ["inputs"]),
        ("inputs", "from pydine.results import default_names", []),
        ("inputs", "import pydine.kernels.likelihood", ["kernels"]),
        ("inputs", "from pydine.answers.policy import Verdict", ["answers"]),
        ("kernels", "from pydine.inputs.table import Table", ["inputs"]),
        ("units", "from pydine.kernels.normal import rank_scores", []),
        ("units", "from pydine.inputs.table import Table", ["inputs"]),
        ("units", "from pydine.units.unit import FittedUnit", []),
        ("units", "from .unit import FittedUnit", []),
        ("units", "from ..bases.closed_form import bias", ["bases"]),
        ("units", "from .. import questions, kernels", ["questions"]),
        ("units", "def lazily():\n    from pydine import questions", ["questions"]),
        ("latents", "from pydine.inputs.table import Question", []),
        ("latents", "from pydine.work.tasks import UnitTask", []),
        ("latents", "from pydine.bases.closed_form import is_singular", ["bases"]),
        ("bases", "from pydine.latents.flows import Latents", []),
        ("bases", "from pydine.nulls.moments import Moments", ["nulls"]),
        ("bases", "import pydine", ["pydine"]),
        ("nulls", "from pydine.bases.closed_form import is_singular", []),
        ("nulls", "from pydine.answers.policy import Verdict", ["answers"]),
        ("answers", "from pydine.questions.pairwise import pairwise_information", ["questions"]),
        ("units", "from pydine.work.cache import UnitCache", ["work"]),
        ("theory", "from pydine.types import FloatArray", ["types"]),
        ("questions", "from pydine.latents.workshop import Workshop", []),
        ("questions", "from pydine.baselines.ksg import ksg", ["baselines"]),
        ("pydine", "from pydine.baselines.ksg import ksg", ["baselines"]),
        ("pydine", "from pydine.questions.estimator import DINE", []),
        ("baselines", "from pydine.bases.closed_form import bias", []),
        ("baselines", "from pydine.bases import closed_form", []),
        ("baselines", "from pydine.bases import GaussianBase", ["bases"]),
        ("baselines", "from pydine.inputs.reading import read_question", []),
        ("baselines", "from pydine.latents.workshop import Workshop", ["latents"]),
        ("baselines", "from pydine.kernels.likelihood import log_likelihood", ["kernels"]),
        ("experiments", "from pydine import mutual_information, baselines", []),
        ("demo", "import pydine", []),
    ],
)
def test_the_check_itself(room, source, upwards):
    assert violations(room, imported(source, ["pydine", "units"])) == upwards
