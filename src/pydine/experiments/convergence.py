"""Theory against measurement: how error and variance fall as rows are added (the paper's Theorem 1 and Lemma 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Unpack

from pydine.experiments.bench import DEFAULT_OUTPUT, Bench, run_grid
from pydine.experiments.datasets import SEEDS, paper_mi
from pydine.experiments.figures import draw_convergence
from pydine.experiments.grids import Grid
from pydine.experiments.runner import HowToRun, run
from pydine.experiments.table import Row

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
RHO = 0.75


def run_convergence(
    *,
    d: int = 1,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = ("dine", "dine-paper", "oracle"),
    trials: int = 30,
    output: Path = DEFAULT_OUTPUT,
    runner: Callable[..., list[Row]] = run,
    **how: Unpack[HowToRun],
) -> Bench:
    """Estimate I(X;Y) of the paper's datasets with more and more rows, and draw variance and error against n.

    Parameters
    ----------
    d
        Columns of each side.
    sizes
        Rows.
    methods
        Estimators, as in `pydine.experiments.bench.run_bench`; the oracle shows how much is sampling error alone.
    trials
        Datasets of each size, from 2 to 50.
    output, runner, jobs, fresh, renew, console
        As in `pydine.experiments.bench.run_bench`.

    Returns
    -------
    Bench
        With ``convergence.csv`` and ``convergence.png``.
    """
    if not 2 <= trials <= len(SEEDS):
        raise ValueError(f"trials must be an integer from 2 to {len(SEEDS)}, but got {trials!r}.")
    grid = Grid("I(X;Y)", paper_mi, {"n": tuple(sizes), "d": (d,), "rho": (RHO,)}, tuple(SEEDS[:trials]))
    return run_grid("convergence", grid, methods, Path(output), draw_convergence, runner=runner, **how)
