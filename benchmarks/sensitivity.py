"""Sensitivity to the numbers: how answers and their errors change if one number is halved or doubled.

python benchmarks/sensitivity.py [--seeds 1] [--jobs 2] [--fresh] [--output FOLDER]

The numbers are those that docs/choices.md lists as shaping an answer, wherever an estimate uses them. No accuracy is
reported on these data elsewhere, except for columns of any kind, which have no other families.
"""

import common

# isort: split

import sys
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

import mixed_tasks
import own_families
import own_shapes
import pydine
from harness.provenance import MIXED_ESTIMATES
from pydine import DINE
from pydine.experiments.grids import Grid

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
from choices import choices

AS_IT_IS = "as it is"
KNOBS = {"hidden_units": 8, "n_components": 2, "n_networks": 2, "n_folds": 3, "weight_decay": 0.67, "max_iter": 500}
ROOMS = "units/", "latents/", "bases/", "answers/", "inputs/kinds"
ELSEWHERE = "latents/paper.py", "answers/relearning.py"  # not on the default path
# Numbers that are bound at import, before they could be changed here.
BOUND = {"LINEAR_ITERATIONS", "SEED", "MORE_HIDDEN_UNITS", "MORE_COMPONENTS", "MORE_ITERATIONS"}
FIRST_SEED = 900  # datasets that no other benchmark has

NOTES = """
The default estimate of {count} datasets: shapes without z and given one column, families where z matters, columns of
any kind. "median move" and "largest": of an estimate, in units of its standard error. "error" and "score": by how many
percent the mean absolute error and the mean interval score change, and in brackets by how many paired standard errors.
One number is changed at a time. "unused": no answer changed.
""".strip()


def numbers() -> list[tuple[str, str, int | None]]:
    """The numbers that are varied: their module, their name, and the place in a tuple."""
    found = []
    for choice in choices():
        if choice.kind != "answer" or not choice.file.startswith(ROOMS) or choice.file in ELSEWHERE:
            continue
        home = "pydine." + choice.file.removesuffix(".py").replace("/", ".")
        for name in choice.names.split(", "):
            if name != name.upper() or name in BOUND or home not in sys.modules:
                continue
            value = vars(sys.modules[home])[name]
            if isinstance(value, tuple) and isinstance(value[0], tuple):
                continue  # moduli and multiples, of which there are no halves
            found += [(home, name, i) for i in range(len(value))] if isinstance(value, tuple) else [(home, name, None)]
    return found


def scaled(value, factor):
    return max(int(np.ceil(value * factor)), 1) if isinstance(value, int) else value * factor


def _with(values, place, value):
    return (*values[:place], value, *values[place + 1 :])


@contextmanager
def changed(home: str, name: str, place: int | None, factor: float):
    """Give a number another value in its module and in all that import it."""
    own = {home for home, other, _ in numbers() if other == name} - {home}
    modules = [m for key, m in sys.modules.items() if key.startswith("pydine.") and key not in own]
    homes = [module for module in modules if isinstance(module, ModuleType) and name in vars(module)]
    before = vars(sys.modules[home])[name]
    after = scaled(before, factor) if place is None else _with(before, place, scaled(before[place], factor))
    homes = [module for module in homes if vars(module)[name] == before]
    try:
        for module in homes:
            setattr(module, name, after)
        yield
    finally:
        for module in homes:
            setattr(module, name, before)


def outcome(found) -> dict[str, float]:
    low, high = found.confidence_interval(0.95)
    return {"estimate": found.value, "error_bar": found.standard_error, "low": low, "high": high}


def estimate(data) -> dict[str, float]:
    return outcome(pydine.mutual_information(data.x, data.y, data.z, n_jobs=1))


def estimate_with(data, home, name, place, factor) -> dict[str, float]:
    """The estimate with one number multiplied."""
    if name in KNOBS:
        knob = {name: max(scaled(KNOBS[name], factor), 2 if name == "n_folds" else 1)}
        return outcome(DINE(**knob).fit(data.x, data.y, data.z).information_)
    prepare()
    with changed(home, name, place, factor):
        return estimate(data)


@cache
def prepare() -> None:
    """Import what an estimate imports lazily, so that its numbers are found."""
    estimate(own_shapes.sample("stairs", 300, 1, 0))
    estimate(mixed_tasks.sample("label and bumps", "number", 300, 0))


def grids(seeds: int) -> list[Grid]:
    chosen = range(FIRST_SEED, FIRST_SEED + seeds)
    shapes, families, kinds = tuple(own_shapes.SHAPES), tuple(own_families.FAMILIES), tuple(mixed_tasks.FAMILIES)
    return [
        Grid("I(X;Y)", own_shapes.sample, {"name": shapes[::2], "n": (500,), "dz": (0,)}, chosen),
        Grid("I(X;Y|Z)", own_shapes.sample, {"name": shapes[1::3], "n": (600,), "dz": (1,)}, chosen),
        Grid("I(X;Y|Z)", own_families.sample, {"family": families, "n": (600,), "dz": (5,), "rho": (0.8,)}, chosen),
        Grid("I(X;Y|Z)", mixed_tasks.sample, {"name": kinds[::2], "given": ("number",), "n": (400,)}, chosen),
    ]


def change(before: pd.Series, after: pd.Series) -> str:
    """By how many percent a mean changes, and by how many paired standard errors."""
    differences = (after - before).to_numpy()
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    if not differences.any() or error == 0.0:
        return ""
    return f"{differences.mean() / before.mean():+.0%} ({differences.mean() / error:+.1f})"


def main() -> None:
    options = common.parser(__doc__, seeds=1).parse_args()
    prepare()
    varied = [*(("", name, None) for name in KNOBS), *numbers()]
    changes = {
        f"{label(home, name, place)} x {factor:g}": (home, name, place, factor)
        for home, name, place in varied
        for factor in (0.5, 2.0)
    }
    methods = {AS_IT_IS: estimate} | {title: partial(estimate_with, **named(how)) for title, how in changes.items()}
    tasks = [task for grid in grids(options.seeds) for task in grid.tasks(methods)]
    figures = ("truth", "estimate", "error_bar", "low", "high")
    rows = common.run_from(options, tasks, "sensitivity", methods, figures=figures, scope=MIXED_ESTIMATES)
    outside = np.maximum(rows.low - rows.truth, 0.0) + np.maximum(rows.truth - rows.high, 0.0)
    rows = rows.assign(score=rows.high - rows.low + 40.0 * outside)
    by_method = {name: part.reset_index(drop=True) for name, part in rows.groupby("method", sort=False)}
    before, lines = by_method[AS_IT_IS], []
    for title in changes:
        number, _, factor = title.rpartition(" x ")
        after = by_method[title]
        moves = (after.estimate - before.estimate).abs() / before.error_bar
        line = {"number": number, "times": factor, "median move": moves.median(), "largest": moves.max()}
        error, score = change(before.abs_error, after.abs_error), change(before.score, after.score)
        lines.append(line | {"error": error or "unused" * (not score), "score": score})
    common.report(
        options.output / "sensitivity.md",
        "# What another choice would do",
        NOTES.format(count=len(before)),
        common.markdown(lines),
        "## Provenance",
        common.provenance(before),
    )


def label(home: str, name: str, place: int | None) -> str:
    """A number in the table: its module and its name."""
    number = name if place is None else f"{name}[{place}]"
    return f"`{home.removeprefix('pydine.')}` {number}" if home else number


def named(how: tuple[str, str, int | None, float]) -> dict[str, object]:
    return dict(zip(("home", "name", "place", "factor"), how, strict=True))


if __name__ == "__main__":
    main()
