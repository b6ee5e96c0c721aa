"""Differences where both sides tell next to nothing: what any interval can do, and what that of `compare` does.

python benchmarks/boundary.py [--draws 200000] [--output FOLDER]    writes results/boundary.md

With n rows, weak information h^2 / 2n is seen as the square of a normal variable with mean h and variance 1, whatever
the estimator. So a difference is one of squares of two normal means, and both the exact interval (that of the
likelihood ratio) and that of `compare` can be tabulated without a dataset.
"""

import common

# isort: split

from argparse import ArgumentParser
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pydine.results.intervals import interval_ends

Floats = NDArray[np.float64]

MEANS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
LEVEL, FARTHEST, POINTS = 0.95, 14.0, 2801

NOTES = """
{draws:,} draws a line; a standard error is at most {error:.4f}. Information is h1^2 / 2n and h2^2 / 2n. "compare": the
interval from the intervals of both (MOVER); "likelihood ratio": all differences that are not rejected by the
likelihood-ratio test, whose p-value is that of its chi-squared distribution. Where h1 = h2, one less the coverage is
the level of the p-value.

Equality is a pair of crossing lines, h1 = h2 and h1 = -h2. Away from the crossing the likelihood ratio has its level;
at the crossing, where both are 0, it rejects only if h1 - h2 and h1 + h2 are both significant, with probability 0.05^2.
It is the problem of testing whether a product of two means is zero (mediation), of which that is well known. Tests that
reject more often at the crossing exist (Berger 1989; van Garderen and van Giersbergen 2022), but do so for estimates
that are as near to equality as one likes.
""".strip()


def recovered(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Ends of the intervals of `compare` for normal variables (m,) with variance 1, in units of 1 / n nats."""
    values = 0.5 * (np.array([first, second]) ** 2 - 1.0)  # less the bias of the square
    errors = np.sqrt(2.0 * np.maximum(values, 0.0) + 0.5)
    low, high = interval_ends(values, errors, errors, LEVEL)
    down, up = np.maximum(values - low, 0.0), np.maximum(high - values, 0.0)
    difference = values[0] - values[1]
    return difference - np.hypot(down[0], up[1]), difference + np.hypot(up[0], down[1])


def is_held(first: Floats, second: Floats, truth: float) -> NDArray[np.bool_]:
    """Whether the likelihood ratio accepts h1^2 - h2^2 = 2 truth, by the distance to that curve."""
    b = np.linspace(-FARTHEST, FARTHEST, POINTS)
    wide, nearest = np.sqrt(b * b + 2.0 * truth), np.full(len(first), np.inf)
    for a in (wide, -wide):
        for i in range(len(b)):
            np.minimum(nearest, (first - a[i]) ** 2 + (second - b[i]) ** 2, out=nearest)
    return nearest <= ndtri(0.5 + 0.5 * LEVEL) ** 2


def line(h1: float, h2: float, draws: int) -> dict[str, object]:
    """Coverages for two means."""
    first, second = np.random.default_rng(0).normal(size=(2, draws)) + np.array([[h1], [h2]])
    truth = 0.5 * (h1**2 - h2**2)
    low, high = recovered(first, second)
    ratio = is_held(first, second, truth)
    inside = (low <= truth) & (truth <= high)
    return {
        "h1": h1,
        "h2": h2,
        "compare": float(inside.mean()),
        "likelihood ratio": float(ratio.mean()),
        "width of compare, n nats": float(np.mean(high - low)),
    }


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--output", type=Path, default=common.RESULTS)
    options = parser.parse_args()
    rows = [line(h1, h2, options.draws) for h1 in MEANS for h2 in MEANS if h2 <= h1]
    notes = NOTES.format(draws=options.draws, error=0.5 / np.sqrt(options.draws))
    common.report(
        options.output / "boundary.md", "# Differences near nothing", common.markdown(rows), notes, common.provenance()
    )


if __name__ == "__main__":
    main()
