"""Sensitivity to the constants: how answers and their errors change if one constant is halved or doubled.

python benchmarks/sensitivity.py [--seeds 1] [--jobs 2] [--fresh] [--output FOLDER]

The constants are those that docs/choices.md lists as shaping an answer, in the modules that fit units and project z.
The data are of the smooth families of benchmarks/own_families.py, on which no accuracy is reported.
"""

import common

# isort: split

import sys
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np

from own_families import SMOOTH, sample
from pydine import DINE
from pydine.experiments.grids import Grid

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
from choices import choices

AS_IT_IS = "as it is"
SIZES, DIMENSIONS, RHO = (300, 1000), (1, 5), 0.6
KNOBS = {"hidden_units": 8, "n_components": 2, "n_networks": 2, "n_folds": 3, "weight_decay": 0.67}
# Constants that are bound at import, before they could be changed here, or that only other bases use.
LEFT_OUT = {"LINEAR_ITERATIONS", "SEED", "MORE_HIDDEN_UNITS", "MORE_COMPONENTS", "MORE_ITERATIONS"}

NOTES = """
`base="gaussian"`, {count} datasets of five families, n = 300 and 1000, 1 and 5 columns of z, correlation {rho}. "median
move" and "largest": of an estimate, in units of its standard error. "error": the root mean square error, relative to
that with all constants as they are. One constant is changed at a time.
""".strip()


def numbers() -> list[tuple[str, int | None]]:
    """Names that are varied, with the place in a tuple."""
    found = []
    for choice in choices():
        if choice.kind == "answer" and choice.file.startswith(("units/", "latents/projection", "latents/workshop")):
            names = [name for name in choice.names.split(", ") if name == name.upper() and name not in LEFT_OUT]
            for name in names:
                value = next(v for v in map(vars, modules()) if name in v)[name]
                found += [(name, i) for i in range(len(value))] if isinstance(value, tuple) else [(name, None)]
    return found


def modules():
    return [module for name, module in sys.modules.items() if name.startswith(("pydine.units", "pydine.latents"))]


def scaled(value, factor):
    return max(int(np.ceil(value * factor)), 1) if isinstance(value, int) else value * factor


def _with(values, place, value):
    return (*values[:place], value, *values[place + 1 :])


@contextmanager
def changed(name, place, factor):
    """Give a constant another value in all modules that have it."""
    homes = [module for module in modules() if name in vars(module)]
    before = getattr(homes[0], name)
    after = scaled(before, factor) if place is None else _with(before, place, scaled(before[place], factor))
    homes = [module for module in homes if getattr(module, name) == before]
    try:
        for module in homes:
            setattr(module, name, after)
        yield
    finally:
        for module in homes:
            setattr(module, name, before)


def estimate(data, **knobs) -> dict[str, float]:
    fitted = DINE(base="gaussian", **knobs).fit(*data).information_
    return {"estimate": fitted.value, "error_bar": fitted.standard_error}


def estimate_with(data, name, place, factor) -> dict[str, float]:
    """The estimate with one constant multiplied."""
    if name in KNOBS:
        return estimate(data, **{name: max(scaled(KNOBS[name], factor), 2 if name == "n_folds" else 1)})
    prepare()
    with changed(name, place, factor):
        return estimate(data)


@cache
def prepare() -> None:
    """Import what an estimate imports lazily, so that its constants are found."""
    estimate(sample("linear", min(SIZES), min(DIMENSIONS), RHO, 0))


def main() -> None:
    options = common.parser(__doc__, seeds=1).parse_args()
    prepare()
    varied = [*((name, None) for name in KNOBS), *numbers()]
    changes = {
        f"{name if place is None else f'{name}[{place}]'} x {factor:g}": (name, place, factor)
        for name, place in varied
        for factor in (0.5, 2.0)
    }
    methods = {AS_IT_IS: estimate} | {
        label: partial(estimate_with, name=name, place=place, factor=factor)
        for label, (name, place, factor) in changes.items()
    }
    axes = {"family": tuple(SMOOTH), "n": SIZES, "dz": DIMENSIONS, "rho": (RHO,)}
    tasks = Grid("I(X;Y|Z)", sample, axes, range(options.seeds)).tasks(methods)
    rows = common.run_from(options, tasks, "sensitivity", methods, figures=("estimate", "error_bar"))
    by_method = {name: part.reset_index() for name, part in rows.groupby("method", sort=False)}
    as_it_is = by_method[AS_IT_IS]
    truth = -0.5 * np.log(1.0 - RHO * RHO)
    error = np.sqrt(((as_it_is.estimate - truth) ** 2).mean())
    lines = []
    for label in changes:
        number, _, factor = label.rpartition(" x ")
        found = by_method[label].estimate
        moves = (found - as_it_is.estimate).abs() / as_it_is.error_bar
        line = {"number": number, "times": float(factor), "median move": moves.median(), "largest": moves.max()}
        lines.append(line | {"error": np.sqrt(((found - truth) ** 2).mean()) / error})
    common.report(
        options.output / "sensitivity.md",
        "# What another choice would do",
        NOTES.format(count=len(as_it_is), rho=RHO),
        common.markdown(lines),
        "## Provenance",
        common.provenance(),
    )


if __name__ == "__main__":
    main()
