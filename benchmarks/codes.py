"""Codes in Z: level and power of the test where few numbers act by their order, by level, or by their sum modulo m.

python benchmarks/codes.py [--seeds 200] [--n 1000] [--columns 1 3 5 9] [--jobs 2] [--fresh]    writes
                                                                        results/codes.md and its CSV
"""

import common

# isort: split

from argparse import Namespace
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

import pydine
from harness.provenance import MIXED_TESTS
from mixed_tasks import MixedData
from pydine.experiments.runner import Outcome, Task

ACTS, SIDES, COLUMNS, ALPHA = ("by order", "by level", "by sum modulo m"), ("numbers", "codes"), (1, 3, 5, 9), 0.05
CORRELATION, SHARE, KEPT = 0.15, 0.15, 0.6
LEVEL = 0.02, 0.09  # required in every row
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NOTES = """
Share of {seeds} datasets of {n} rows in which independence of x and y given Z is rejected at 5%. Z has codes of 2 to 5
levels of unequal frequency. They act on both sides by their order, by an effect of each level, or by their sum modulo m
(m from 2 to 5); as much as the noise does on numbers. Sides that are codes have 2 to 5 levels: numbers in as many bins,
or the sum modulo m, and {other:.0%} of the rows at random. "level": x and y are independent given Z. "power": noises of
numbers have a correlation of {rho}, or y has x's code in {share:.0%} of the rows.
Two standard errors of 0.05 are {error:.3f}.
""".strip()


def acting(rng: Generator, act: str, z: Codes) -> Floats:
    """A function of codes (n, k) of mean 0 and variance 1."""
    if act == "by order":
        found = (z / z.max(axis=0)) @ rng.normal(size=z.shape[1])
    elif act == "by level":
        found = sum(rng.normal(size=5)[column] for column in z.T)
    else:
        found = rng.normal(size=5)[z.sum(axis=1) % rng.integers(2, 6)]
    found = np.asarray(found, dtype=np.float64) - np.mean(found)
    return found / max(float(found.std()), 1e-9)


def code_of(rng: Generator, act: str, z: Codes) -> Codes:
    """A code of 2 to 5 levels that follows codes (n, k)."""
    m, n = int(rng.integers(2, 6)), len(z)
    if act == "by sum modulo m":
        return np.where(rng.random(n) < KEPT, z.sum(axis=1) % m, rng.integers(m, size=n))
    number = acting(rng, act, z) + rng.normal(size=n)
    return np.searchsorted(np.quantile(number, np.arange(1, m) / m), number)


def sample(act: str, sides: str, k: int, n: int, along: bool, seed: int) -> MixedData:
    """A dataset; with `along`, y depends on x given z."""
    rng = np.random.default_rng([ACTS.index(act), SIDES.index(sides), k, n, seed])
    z = np.array([rng.choice(m, n, p=rng.dirichlet(np.full(m, 5.0))) for m in rng.integers(2, 6, size=k)]).T
    z = z[:, np.ptp(z, axis=0) > 0]
    if sides == "numbers":
        noise = rng.multivariate_normal(np.zeros(2), np.eye(2) + along * CORRELATION * (1 - np.eye(2)), n)
        x, y = (acting(rng, act, z) + noise[:, i] for i in range(2))
    else:
        x, y = code_of(rng, act, z), code_of(rng, act, z)
        y = np.where(along & (rng.random(n) < SHARE), x % (y.max() + 1), y)
    return MixedData(x.astype(np.float64), y.astype(np.float64), z.astype(np.float64), 0.0)


def tested(data: MixedData) -> Outcome:
    return Outcome(float(pydine.independence_test(data.x, data.y, data.z, method="analytic", n_jobs=1).pvalue))


def tasks(options: Namespace) -> list[Task]:
    return [
        Task(
            {"acts": act, "sides": sides, "columns": k, "y": y, "seed": s},
            partial(sample, act, sides, k, options.n, y == "power", s),
            ("dine",),
        )
        for act in ACTS
        for sides in SIDES
        for k in options.columns
        for y in ("level", "power")
        for s in range(options.seeds)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    """A line for each action, kind of sides and number of columns: rejections under the null and the alternative."""
    found = []
    for (act, sides, k), part in rows.groupby(["acts", "sides", "columns"], sort=False):
        line: dict[str, object] = {"acts": act, "sides": sides, "columns": k}
        for y in ("level", "power"):
            line[y] = float((part.loc[part.y == y, "estimate"] <= ALPHA).mean())
        found.append({**line, "seconds": float(part.seconds.median())})
    return found


def bars(table: pd.DataFrame) -> list[common.Bar]:
    return [
        common.Bar("least level", float(table.level.min()), low=LEVEL[0]),
        common.Bar("largest level", float(table.level.max()), high=LEVEL[1]),
        common.Bar("mean level", float(table.level.mean()), 0.03, 0.06),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=200)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--columns", type=int, nargs="+", default=list(COLUMNS))
    options = parser.parse_args()
    rows = common.run_from(options, tasks(options), "codes", {"dine": tested}, others=frozenset(), scope=MIXED_TESTS)
    table = lines(rows)
    error = 2.0 * float(np.sqrt(ALPHA * (1.0 - ALPHA) / options.seeds))
    common.report(
        options.output / "codes.md",
        "# Codes in Z",
        common.bar_table(bars(pd.DataFrame(table))),
        common.markdown(table),
        NOTES.format(seeds=options.seeds, n=options.n, other=1 - KEPT, rho=CORRELATION, share=SHARE, error=error),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
