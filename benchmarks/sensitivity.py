"""How far answers move, and how their error changes, if a number that was chosen is halved or doubled.

python benchmarks/sensitivity.py [--seeds 1] [--jobs 2] [--output FOLDER]

The numbers are those that docs/choices.md lists as shaping an answer, in the rooms that fit units and project z. Data
are of the families of benchmarks/partitions.py, which the accuracy is not reported on.
"""

import common

# isort: split

import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from partitions import FAMILIES, draw
from pydine import DINE

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
from choices import choices

SIZES, DIMENSIONS, RHO = (300, 1000), (1, 5), 0.6
KNOBS = {"hidden_units": 8, "n_components": 2, "n_networks": 2, "n_folds": 3, "weight_decay": 0.67}
# What is bound before it could be changed here, or what only other bases use.
LEFT_OUT = {"LINEAR_ITERATIONS", "SEED", "MORE_HIDDEN_UNITS", "MORE_COMPONENTS", "MORE_ITERATIONS"}

NOTES = """
`base="gaussian"`, {count} datasets of five families, n = 300 and 1000, 1 and 5 columns of z, correlation {rho}. "median
move" and "largest": of an estimate, in units of its standard error. "error": the root mean square error, divided by
that with all numbers as they are. One number is changed at a time.
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
    """The number with another value, in all modules that know it."""
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


def estimates(datasets, **knobs):
    fits = [DINE(base="gaussian", **knobs).fit(*draw(*dataset)).information_ for dataset in datasets]
    return np.array([[fit.value, fit.standard_error] for fit in fits])


def measured(task):
    (name, place, factor), datasets = task
    if name in KNOBS:
        return estimates(datasets, **{name: max(scaled(KNOBS[name], factor), 2 if name == "n_folds" else 1)})
    if factor == 1.0:
        return estimates(datasets)
    with changed(name, place, factor):
        return estimates(datasets)


def main() -> None:
    options = common.parser(__doc__, seeds=1).parse_args()
    datasets = [(f, n, dz, RHO, s) for f, n, dz in product(FAMILIES, SIZES, DIMENSIONS) for s in range(options.seeds)]
    estimates(datasets[:1])  # whatever is imported late is there, and compiled
    varied = [*((name, None) for name in KNOBS), *numbers()]
    tasks = [("", None, 1.0), *((*number, factor) for number in varied for factor in (0.5, 2.0))]
    with ProcessPoolExecutor(options.jobs) as pool:
        as_it_is, *others = pool.map(measured, [(task, datasets) for task in tasks])
    truth = -0.5 * np.log(1.0 - RHO * RHO)
    error = np.sqrt(((as_it_is[:, 0] - truth) ** 2).mean())
    lines = []
    for (name, place, factor), found in zip(tasks[1:], others, strict=True):
        moves = np.abs(found[:, 0] - as_it_is[:, 0]) / as_it_is[:, 1]
        line = {"number": name if place is None else f"{name}[{place}]", "times": factor}
        line |= {"median move": np.median(moves), "largest": moves.max()}
        lines.append(line | {"error": np.sqrt(((found[:, 0] - truth) ** 2).mean()) / error})
    common.report(
        options.output / "sensitivity.md",
        "# What another choice would do",
        NOTES.format(count=len(datasets), rho=RHO),
        common.markdown(pd.DataFrame(lines).to_dict("records")),
        "## Provenance",
        common.provenance(),
    )


if __name__ == "__main__":
    main()
