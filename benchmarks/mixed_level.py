"""Level and power of the test on columns of any kind, in families in which both sides follow z, beside other tests.

python benchmarks/mixed_level.py [--seeds 200] [--peer-seeds 60] [--null-seeds 1000] [--sizes 500 1000] [--jobs 2] \
    [--fresh]    writes results/mixed_level.md and its CSV
"""

import common

# isort: split

from argparse import Namespace
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

import pydine
from harness.provenance import MIXED_TESTS
from mixed_nulls import FAMILIES, sample
from mixed_peers import BINS, binned, pillai, regression
from mixed_tasks import MixedData
from pydine.experiments.runner import Outcome, Task

SIZES, ALPHA, SHARE = (500, 1000), 0.05, 0.15
PEERS: dict[str, Callable[[MixedData], float]] = {"bins": binned, "RegressionCI": regression, "Pillai": pillai}
SLOW = frozenset({"Pillai"})  # random forests: on the first datasets only
LEVEL = 0.02, 0.09  # required in every row

NOTES = """
Share of {seeds} datasets of each family in which independence is rejected at 5%. Under "independent" it holds; under
"drawn along" y follows x in {share:.0%} of the rows. RegressionCI (tigramite) and Pillai (pgmpy, with random forests)
are run with their defaults, Pillai on the first {peers} datasets; a dash: not installed. "bins": a chi-squared test of
the columns in at most {bins} bins each, summed over the cells of z. Two standard errors of 0.05 are {error:.3f}, and
{theirs:.3f} for Pillai.

Power is compared where another test holds its level: where it rejects no more often than 5% and two standard errors
under "independent". To tell, bins and RegressionCI have {nulls} datasets a row there, which makes that {most:.3f}.
""".strip()


def tested(data: MixedData) -> float:
    z = pd.DataFrame(data.z) if isinstance(data.z, dict) else data.z
    return float(pydine.independence_test(data.x, data.y, z, method="analytic", n_jobs=1).pvalue)


def outcome(test: Callable[[MixedData], float], data: MixedData) -> Outcome:
    try:
        return Outcome(test(data))
    except ImportError:
        return Outcome(float("nan"))


def tasks(options: Namespace) -> list[Task]:
    """All tests on every dataset, slow ones on the first, and only the other tests on what their level is told by."""

    def methods(s: int) -> tuple[str, ...]:
        ours = ("dine",) if s < options.seeds else ()
        return (*ours, *(name for name in PEERS if s < options.peer_seeds or name not in SLOW))

    return [
        Task({"family": name, "y": y, "n": n, "seed": s}, partial(sample, name, n, s, share), methods(s))
        for y, share, count in (
            ("independent", 0.0, max(options.seeds, options.null_seeds)),
            ("drawn along", SHARE, options.seeds),
        )
        for name in FAMILIES
        for n in options.sizes
        for s in range(count)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    """A line for each family, size, and null or alternative; the share of rejections of every test."""
    found = []
    for (y, family, n), part in rows.groupby(["y", "family", "n"], sort=False):
        shares = {}
        for method in ("dine", *PEERS):
            values = part.loc[part.method == method, "estimate"].dropna()
            shares[method] = float((values <= ALPHA).mean()) if len(values) else float("nan")
        seconds = float(part[part.method == "dine"].seconds.median())
        found.append({"y": y, "family": family, "n": n, **shares, "seconds": seconds})
    return found


def highest_level(count: int) -> float:
    """The largest share of rejections that a test of level ALPHA may have, by two standard errors."""
    return ALPHA + 2.0 * float(np.sqrt(ALPHA * (1.0 - ALPHA) / count))


def weaker(table: pd.DataFrame, options: Namespace) -> float:
    """Rows in which another test that holds its level rejects an alternative more often, by two standard errors."""
    keys = ["family", "n"]
    level, power = (table[table.y == y].set_index(keys) for y in ("independent", "drawn along"))
    count = 0
    for method in PEERS:
        n, nulls = (options.peer_seeds,) * 2 if method in SLOW else (options.seeds, options.null_seeds)
        holds = level[method] <= highest_level(nulls)
        error = np.sqrt((power["dine"] * (1 - power["dine"]) + power[method] * (1 - power[method])) / n + 1e-12)
        count += int((holds & (power[method] - power["dine"] > 2.0 * error + 0.01)).sum())
    return float(count)


def main() -> None:
    parser = common.parser(__doc__, seeds=200)
    parser.add_argument("--peer-seeds", type=int, default=60)
    parser.add_argument("--null-seeds", type=int, default=1000, help="datasets a row to tell the level of peers by")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    options = parser.parse_args()
    methods = {name: partial(outcome, test) for name, test in {"dine": tested, **PEERS}.items()}
    planned = tasks(options)
    rows = common.run_from(options, planned, "mixed_level", methods, others=frozenset(PEERS), scope=MIXED_TESTS)
    table = lines(rows)
    levels = np.array([line["dine"] for line in table if line["y"] == "independent"])
    bars = [
        common.Bar("least level", float(levels.min()), low=LEVEL[0]),
        common.Bar("largest level", float(levels.max()), high=LEVEL[1]),
        common.Bar("mean level", float(levels.mean()), 0.04, 0.06),
        common.Bar(
            "rows in which a test that holds its level has more power",
            weaker(pd.DataFrame(table), options),
            high=0,
        ),
    ]
    error, theirs = (highest_level(n) - ALPHA for n in (options.seeds, options.peer_seeds))
    common.report(
        options.output / "mixed_level.md",
        "# Level and power on columns of any kind",
        common.bar_table(bars),
        common.markdown(table),
        NOTES.format(
            seeds=options.seeds,
            peers=options.peer_seeds,
            bins=BINS,
            error=error,
            theirs=theirs,
            share=SHARE,
            nulls=options.null_seeds,
            most=highest_level(options.null_seeds),
        ),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
