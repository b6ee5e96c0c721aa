"""What each step of an estimate buys: errors, interval scores, coverage and time with one step, or a few, left out.

python benchmarks/ablation.py [--seeds 1] [--every 1] [--jobs 2] [--fresh] [--renew] [--output FOLDER]

The steps are those of `pydine.answers.steps`, left out by a setting of the engine. No accuracy is reported on these
data elsewhere. `--every 5` takes every fifth dataset of a column, at least four, and keeps fitted units from one step
to the next: a tenth of the time, and no word on what time a step takes.
"""

import common

# isort: split

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

import known_shapes
import own_families
import own_mixed
import own_shapes
from harness.provenance import MIXED_ESTIMATES
from pydine.answers.fitting import fit
from pydine.answers.settings import Settings
from pydine.answers.steps import STEPS
from pydine.experiments.datasets import Dataset
from pydine.experiments.grids import Grid
from pydine.experiments.runner import Outcome, Task
from pydine.inputs.reading import read_question
from pydine.work.cache import UnitCache

ALL = "all steps"
TOGETHER = (("classes", "neighbours"), ("mixture", "flow"), ("mixture", "flow", "neighbours", "sharpening", "student"))
MISSED = 2.0 / 0.05  # penalty of a 95% interval for each nat by which it misses the truth (Winkler 1972)
LEAST_SHARE, LEAST_ERRORS = 0.03, 2.0  # a step stays if it improves a row by as much, or by as many standard errors
FIGURES = "abs_error", "score", "covers"
FIRST_SEED = 500  # datasets that no other benchmark has
FEWEST = 4  # datasets of a column

NOTES = """
Each line leaves out one step of the default estimate, or a few that could hide each other. A cell is by how many
percent the mean over the datasets of a column rises without the step, and in brackets by how many paired standard
errors; an empty cell: no answer changed. A step stays if it improves a column by {share:.0%} with more than one
standard error, or by {errors:g} standard errors, in one of the first two tables.
""".strip()


def gaussian(n: int, d: int, rho: float, seed: int) -> Dataset:
    """Pairs of correlated columns, as in the paper."""
    rng = np.random.default_rng([n, d, int(100 * rho), seed])
    x, noise = rng.standard_normal((2, n, d))
    y = rho * x + math.sqrt(1.0 - rho * rho) * noise
    return Dataset("gaussian", seed, rho, x, y, None, x, y, -0.5 * d * math.log1p(-rho * rho))


def tails(n: int, degrees: float, rho: float, seed: int) -> Dataset:
    """Two columns of a Student-t vector: the truth is that of its entropies."""
    rng = np.random.default_rng([n, int(degrees), int(100 * rho), seed])
    x, noise = rng.standard_normal((2, n, 1))
    scale = np.sqrt(degrees / rng.chisquare(degrees, (n, 1)))
    y = rho * x + math.sqrt(1.0 - rho * rho) * noise

    def entropy(d: int) -> float:
        whole = 0.5 * (degrees + d)
        constant = 0.5 * d * math.log(degrees * math.pi) + math.lgamma(0.5 * degrees) - math.lgamma(whole)
        return float(constant + whole * (special.digamma(whole) - special.digamma(0.5 * degrees)))

    truth = 2.0 * entropy(1) - entropy(2) - 0.5 * math.log1p(-rho * rho)
    return Dataset("tails", seed, rho, scale * x, scale * y, None, x, y, truth)


def factors(n: int, d: int, seed: int) -> Dataset:
    """Sides of many columns that follow two common factors."""
    rng = np.random.default_rng([n, d, seed])
    common_factors, left, right = rng.standard_normal((n, 2)), *(1.5 * rng.standard_normal((2, 2, d)) / math.sqrt(d))
    x, y = (common_factors @ loads + rng.standard_normal((n, d)) for loads in (left, right))
    whole = np.vstack([left.T, right.T]) @ np.hstack([left, right]) + np.eye(2 * d)
    logs = [np.linalg.slogdet(part)[1] for part in (whole[:d, :d], whole[d:, d:], whole)]
    return Dataset("factors", seed, math.nan, x, y, None, x, y, float(0.5 * (logs[0] + logs[1] - logs[2])))


def linear_z(n: int, dz: int, seed: int) -> Dataset:
    """Two columns that many columns of z move linearly."""
    rng = np.random.default_rng([n, dz, seed])
    z, (x, noise) = rng.standard_normal((n, dz)), rng.standard_normal((2, n))
    y = 0.5 * x + math.sqrt(0.75) * noise
    moved = [side + z @ rng.standard_normal(dz) / math.sqrt(dz) for side in (x, y)]
    columns = [column[:, None] for column in (*moved, x, y)]
    return Dataset("linear", seed, 0.5, *columns[:2], z, *columns[2:], -0.5 * math.log(0.75))


def same_wave(n: int, dz: int, turns: float, seed: int) -> Dataset:
    """Two columns that follow the same wave of z, and are independent given it."""
    rng = np.random.default_rng([n, dz, int(turns), seed])
    z, noise = rng.uniform(-2.0, 2.0, (n, dz)), 0.3 * rng.standard_normal((2, n, 1))
    x, y = np.sin(turns * z[:, :1]) + noise
    return Dataset("wave", seed, 0.0, x, y, z, *noise, 0.0)


def same_sum(n: int, codes: int, modulus: int, seed: int) -> Dataset:
    """Two columns that follow the same sum of codes modulo a number, and are independent given the codes."""
    rng = np.random.default_rng([n, codes, modulus, seed])
    z, noise = rng.integers(4, size=(n, codes)).astype(float), rng.standard_normal((2, n, 1))
    x, y = 2.0 * (z.sum(axis=1, keepdims=True) % modulus == 0.0) + noise
    return Dataset("sum", seed, 0.0, x, y, z, *noise, 0.0)


def chosen(draw: Callable[..., Dataset], settings: dict[str, dict[str, object]], dataset: str, seed: int) -> Dataset:
    """The dataset of a label: rows of one CSV have the same columns, and settings of the groups differ."""
    return draw(**settings[dataset], seed=seed)


def groups(seeds: int) -> list[Grid]:
    """The columns of the table, by their label."""

    def grid(label: str, draw, count: int = 1, **axes) -> Grid:
        settings = {
            ", ".join(f"{name} {value}" for name, value in zip(axes, values, strict=True)): dict(
                zip(axes, values, strict=True)
            )
            for values in product(*axes.values())
        }
        labels, numbers = {"dataset": tuple(settings)}, range(FIRST_SEED, FIRST_SEED + count * seeds)
        return Grid("I(X;Y|Z)", partial(chosen, draw, settings), labels, numbers, {"group": label})

    shapes, families, pairs = map(tuple, (own_shapes.SHAPES, own_families.FAMILIES, own_mixed.PAIRS))
    cuts = "one cut", "three cuts", "two numbers"
    sides = tuple(f"{name} {d} x {d}" for name in known_shapes.SIDES for d in (1, 3))
    return [
        *(grid(f"shapes, n = {n}", own_shapes.sample, name=shapes, n=(n,), dz=(0,)) for n in (500, 2000)),
        *(grid(f"shapes, dz = {dz}", own_shapes.sample, name=shapes, n=(1000,), dz=(dz,)) for dz in (1, 3)),
        *(
            grid(
                f"z matters, rho = {rho}", own_families.sample, 2, family=families, n=(1000,), dz=(1, 5, 10), rho=(rho,)
            )
            for rho in (0.0, 0.5, 0.9)
        ),
        grid("Gaussian", gaussian, 6, n=(200, 500), d=(1, 3), rho=(0.3, 0.9)),
        grid("tails", tails, 6, n=(500,), degrees=(1.0, 3.0), rho=(0.0, 0.6)),
        grid("independent", known_shapes.sample_independent, 4, name=sides, n=(200, 500)),
        grid("many columns", factors, 2, n=(1000,), d=(10, 50)),
        grid("the same wave of z", same_wave, 2, n=(500, 2000), dz=(1, 3), turns=(3.0, 7.0)),
        grid("the same sum of codes", same_sum, 2, n=(500, 2000), codes=(3, 5), modulus=(2, 3)),
        grid("linear z", linear_z, 3, n=(500,), dz=(20, 30)),
        grid("kinds", own_mixed.sample, 2, name=pairs, given=("nothing", "a label"), n=(500,)),
        grid("kinds, cuts of z", own_mixed.sample, name=pairs, given=cuts, n=(500,)),
        grid("kinds, smooth z", own_mixed.sample, name=pairs, given=("gradual",), n=(500,)),
        grid("kinds, chances by z", own_mixed.sample, 2, name=tuple(own_mixed.SMOOTH), given=("its own",), n=(500,)),
    ]


def estimate(data: Dataset, without: tuple[str, ...] = (), cache: UnitCache | None = None) -> Outcome:
    """The default estimate without some of its steps."""
    question = read_question(data.x, data.y, pd.DataFrame(data.z) if isinstance(data.z, dict) else data.z)
    found = fit(question, Settings(n_jobs=1, without=without, cache=cache)).information_of(question)
    return Outcome(found.value, *found.confidence_interval(0.95))


class Change(NamedTuple):
    """By how much a mean rises without a step: as a share, and in paired standard errors; 0 if no answer moved."""

    share: float
    errors: float

    @classmethod
    def of(cls, before: pd.Series, after: pd.Series) -> "Change":
        differences = (after - before).to_numpy()
        if not differences.any():
            return cls(0.0, 0.0)
        error = differences.std(ddof=1) / math.sqrt(len(differences))
        return cls(float(differences.mean() / before.mean()), float(differences.mean() / error))

    @property
    def counts(self) -> bool:
        return self.errors >= LEAST_ERRORS or (self.share >= LEAST_SHARE and self.errors > 1.0)

    def __str__(self) -> str:
        return f"{self.share:+.0%} ({self.errors:+.1f})" if self.errors else ""


def tables(rows: pd.DataFrame, names: Iterable[str], *, timed: bool = True) -> dict[str, list[dict[str, object]]]:
    """Lines of the changes in error and in interval score, and of coverage, by figure."""
    by_method = {name: part.reset_index(drop=True) for name, part in rows.groupby("method", sort=False)}
    whole, labels = by_method[ALL], list(dict.fromkeys(rows.group))
    at = {label: whole.group == label for label in labels}
    found: dict[str, list[dict[str, object]]] = {figure: [] for figure in FIGURES}
    for name in (ALL, *names):
        part = by_method[name]
        time = f"{part.seconds.sum() / whole.seconds.sum():.2f}"
        changes = {
            figure: {label: Change.of(whole[figure][here], part[figure][here]) for label, here in at.items()}
            for figure in FIGURES[:2]
        }
        stays = "yes" if any(change.counts for by in changes.values() for change in by.values()) else "no"
        for figure, lines in found.items():
            means = {label: f"{part[figure][here].mean():.4f}" for label, here in at.items()}
            cells = changes[figure] if figure in changes and name != ALL else means
            more = (
                ({"time": time} if timed else {}) | {"stays": "" if name == ALL else stays} if figure in changes else {}
            )
            lines.append({"without": "nothing" if name == ALL else name, **cells, **more})
    return found


def some(tasks: list[Task], every: int) -> list[Task]:
    """Every so many-th dataset of a column, at least `FEWEST`."""
    return tasks[:: max(min(every, len(tasks) // FEWEST), 1)]


def main() -> None:
    parser = common.parser(__doc__, seeds=1)
    parser.add_argument("--every", type=int, default=1, help="which datasets are taken (default: all)")
    options = parser.parse_args()
    cache = UnitCache() if options.every > 1 else None
    left_out = {", ".join(steps): steps for steps in (*((step,) for step in STEPS), *TOGETHER)}
    methods = {name: partial(estimate, without=steps, cache=cache) for name, steps in ({ALL: ()} | left_out).items()}
    tasks = [task for grid in groups(options.seeds) for task in some(grid.tasks(methods), options.every)]
    rows = common.run_from(options, tasks, "ablation", methods, scope=MIXED_ESTIMATES)
    outside = np.maximum(rows.low - rows.truth, 0.0) + np.maximum(rows.truth - rows.high, 0.0)
    rows = rows.assign(score=rows.high - rows.low + MISSED * outside, covers=(outside == 0.0).astype(float))
    found = tables(rows, left_out, timed=cache is None)
    counts = ", ".join(f"{label} {count}" for label, count in rows[rows.method == ALL].group.value_counts().items())
    common.report(
        options.output / "ablation.md",
        "# What each step buys",
        NOTES.format(share=LEAST_SHARE, errors=LEAST_ERRORS),
        f"Datasets: {counts}.",
        "## Mean absolute error, in nats",
        common.markdown(found["abs_error"]),
        "## Mean interval score, in nats",
        common.markdown(found["score"]),
        "## Coverage of nominal 95% intervals",
        common.markdown(found["covers"]),
        "## Steps",
        "\n".join(f"- **{step}**: {what}" for step, what in STEPS.items()),
        "## Provenance",
        common.provenance(rows[rows.method == ALL]),
    )


if __name__ == "__main__":
    main()
