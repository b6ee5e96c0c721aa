"""Z of real tables, with a known truth: who finds dependence that is not there, and who misses what is?

python benchmarks/real_z.py [--seeds 100] [--jobs 2] [--fresh]    writes results/real_z.md and its CSV
"""

import common

# isort: split

from argparse import Namespace
from functools import cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from statsmodels.datasets import fair, star98

import pydine
from harness.provenance import MIXED_TESTS
from mixed_tasks import MixedData
from pydine.experiments.runner import Outcome, Task

ALPHA, MOST_ROWS, WEAKEST = 0.05, 600, 4  # with dependence, a quarter of the datasets will do
RHOS, SHAPES = (0.0, 0.15, 0.3, 0.5), ("trees", "smooth", "overgrown trees")
LEVEL = 0.08  # required in every row
Floats = NDArray[np.float64]

NOTES = """
Z is that of a real table: {tables}.
X and Y are two functions of it with noise: boosted trees, as many as rows that were held out support ("trees"), or
kernel ridge regressions ("smooth"), fitted to two other columns of the table, with residuals of the size that these
have. "Overgrown trees" are sixty rounds without a stop; it was not tested why tests fail there, but they may follow the
noise of the real columns, which depend on each other, in steps that so few rows cannot teach. The noises are normal,
with a correlation rho: at 0, X and Y are independent given Z, and whoever rejects is wrong.
Shares rejected at 5%, of {seeds}
datasets with rho = 0 and {some} otherwise; two standard errors of 0.05 are {error:.3f}.
"GCM, forests": the generalised covariance measure (Shah and Peters 2020) with the out-of-bag residuals of random
forests. "linear": the t-test of X in a linear regression of Y on X and Z. Power is worth reading only where a method
holds its level in the same row.
""".strip()


def columns_of(table: str) -> tuple[pd.DataFrame, str, str]:
    """A real table of numbers, and the two of its columns that x and y are modelled on."""
    if table == "diabetes":
        return load_diabetes(as_frame=True, scaled=False).frame, "bmi", "target"
    if table == "breast cancer":
        frame = load_breast_cancer(as_frame=True).frame
        return frame[[name for name in frame if name.startswith("mean ")]], "mean concavity", "mean texture"
    if table == "affairs":
        frame = fair.load_pandas().data.sample(MOST_ROWS, random_state=0)
        return frame, "yrs_married", "rate_marriage"
    frame = star98.load_pandas().data
    return frame[["NABOVE", "NBELOW", "LOWINC", *frame.columns[3:14]]].drop(columns="NBELOW"), "LOWINC", "NABOVE"


TABLES = ("diabetes", "breast cancer", "affairs", "Californian schools")


@cache
def modelled(table: str, shape: str) -> tuple[Floats, tuple[Floats, ...], tuple[float, ...]]:
    """Z (n, d), and for x and y what is expected of each row, and the size of the residuals."""
    frame, x, y = columns_of(table)
    z = frame.drop(columns=[x, y]).to_numpy(dtype=np.float64)
    seen = StandardScaler().fit_transform(z)
    means, sizes = [], []
    for name in (x, y):
        column = frame[name].to_numpy(dtype=np.float64)
        column = (column - column.mean()) / column.std()
        model = {
            "trees": HistGradientBoostingRegressor(early_stopping=True, random_state=0),
            "overgrown trees": HistGradientBoostingRegressor(max_iter=60, random_state=0),
            "smooth": KernelRidge(alpha=1.0, kernel="rbf", gamma=0.5 / z.shape[1]),
        }[shape]
        mean = np.asarray(model.fit(seen, column).predict(seen), dtype=np.float64)
        means.append(mean)
        sizes.append(max(float((column - mean).std()), 0.2))
    return z, tuple(means), tuple(sizes)


def sample(table: str, shape: str, rho: float, seed: int) -> MixedData:
    z, means, sizes = modelled(table, shape)
    rng = np.random.default_rng([TABLES.index(table), SHAPES.index(shape), round(100 * rho), seed])
    noise = rng.multivariate_normal(np.zeros(2), [[1.0, rho], [rho, 1.0]], len(z))
    x, y = (mean + size * noise[:, i] for i, (mean, size) in enumerate(zip(means, sizes, strict=True)))
    return MixedData(x, y, z, -0.5 * float(np.log1p(-rho * rho)))


def ours(data: MixedData) -> Outcome:
    return Outcome(float(pydine.independence_test(data.x, data.y, data.z, method="analytic", n_jobs=1).pvalue))


def forests(data: MixedData) -> Outcome:
    residuals = []
    for side in (data.x, data.y):
        forest = RandomForestRegressor(100, oob_score=True, random_state=0).fit(data.z, side)
        residuals.append(side - forest.oob_prediction_)
    product = residuals[0] * residuals[1]
    return Outcome(float(2.0 * ndtr(-np.sqrt(len(product)) * abs(product.mean()) / product.std())))


def linear(data: MixedData) -> Outcome:
    context = np.column_stack([np.ones(len(data.x)), data.z])
    x, y = (side - context @ np.linalg.lstsq(context, side, rcond=None)[0] for side in (data.x, data.y))
    r, freedom = float(x @ y / np.sqrt((x @ x) * (y @ y))), len(x) - context.shape[1] - 1
    return Outcome(float(2.0 * student.sf(abs(r) * np.sqrt(freedom / (1.0 - r * r)), freedom)))


METHODS = {"dine": ours, "GCM, forests": forests, "linear": linear}


def tasks(options: Namespace) -> list[Task]:
    return [
        Task(
            {"table": table, "shape": shape, "rho": rho, "seed": seed},
            partial(sample, table, shape, rho, seed),
            tuple(METHODS),
        )
        for table in TABLES
        for shape in SHAPES
        for rho in RHOS
        for seed in range(options.seeds if rho == 0.0 else options.seeds // WEAKEST)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    """A line for each table, shape and method: the share of rejections at each rho."""
    found = []
    for (table, shape, method), part in rows.groupby(["table", "shape", "method"], sort=False):
        shares = {f"rho {rho:g}": float((part.estimate[part.rho == rho] <= ALPHA).mean()) for rho in RHOS}
        found.append({"Z": table, "shape": shape, "method": method, **shares})
    return found


def bars(table: pd.DataFrame) -> list[common.Bar]:
    own = table[table.method == "dine"]
    is_rough = own["shape"] == "overgrown trees"
    return [
        common.Bar("largest level", float(own["rho 0"][~is_rough].max()), high=LEVEL),
        common.Bar("largest level, overgrown trees", float(own["rho 0"][is_rough].max()), high=LEVEL),
        common.Bar("least power at rho 0.5", float(own["rho 0.5"].min()), low=0.9),
    ]


def main() -> None:
    options = common.parser(__doc__, seeds=100).parse_args()
    peers = frozenset(METHODS) - {"dine"}
    rows = common.run_from(options, tasks(options), "real_z", METHODS, others=peers, scope=MIXED_TESTS)
    table = lines(rows)
    shapes = {name: modelled(name, SHAPES[0])[0].shape for name in TABLES}
    sizes = ", ".join(f"{name} ({n} rows, {d} columns)" for name, (n, d) in shapes.items())
    error = 2.0 * float(np.sqrt(ALPHA * (1.0 - ALPHA) / options.seeds))
    common.report(
        options.output / "real_z.md",
        "# Z of real tables, with a known truth",
        common.bar_table(bars(pd.DataFrame(table))),
        common.markdown(table),
        NOTES.format(tables=sizes, seeds=options.seeds, some=options.seeds // WEAKEST, error=error),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
