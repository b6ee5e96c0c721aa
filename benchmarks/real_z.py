"""Z of real tables, with a known truth: who finds dependence that is not there, and who misses what is?

python benchmarks/real_z.py [--seeds 100] [--peers 50] [--jobs 2] [--fresh]    writes results/real_z.md and its CSV
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
TOLD = 2000  # datasets for a test that is told the functions
RHOS, SHAPES = (0.0, 0.15, 0.3, 0.5), ("trees", "smooth", "overgrown trees")
LEVEL = 0.08  # required in every row
Floats = NDArray[np.float64]

NOTES = """
Z is that of a real table: {tables}.
X and Y are two functions of it with noise: boosted trees, as many as rows that were held out support ("trees"), or
kernel ridge regressions ("smooth"), fitted to two other columns of the table, with residuals of the size that these
have. "Overgrown trees" are sixty rounds without a stop. The noises are normal, with a correlation rho: at 0, X and Y
are independent given Z, and whoever rejects is wrong. Shares rejected at 5%, of {seeds} datasets with rho = 0 and
{some} otherwise; two standard errors of 0.05 are {error:.3f}. Of "GCM, forests" only the first {peers} were run.
"GCM, forests": the generalised covariance measure (Shah and Peters 2020) with the out-of-bag residuals of random
forests. "linear": the t-test of X in a linear regression of Y on X and Z. Power is worth reading only where a method
holds its level in the same row.
""".strip()

OVERGROWN = """
## Why overgrown trees cannot be told from dependence

Beyond what held-out rows support, overgrown trees follow the residuals of the real columns, row by row. Where these
residuals are correlated, as they are in a table whose columns depend on each other, so is what the trees follow: a
function of Z that looks like noise, and is shared by both sides. "rejected": by a test that is told the functions that
held-out rows support, exactly, and correlates what is left of {count} datasets with rho = 0. Tests that have to learn
these functions from the rows as well reject more often.
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
OWN = ("dine", "linear")  # fast enough for all datasets


def tasks(options: Namespace) -> list[Task]:
    return [
        Task(
            {"table": table, "shape": shape, "rho": rho, "seed": seed},
            partial(sample, table, shape, rho, seed),
            tuple(METHODS) if seed < options.peers else OWN,
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


def beyond(table: str) -> dict[str, object]:
    """What overgrown trees follow beyond what held-out rows support, and a test that is told the latter."""
    frame, *names = columns_of(table)
    stopped, (grown, sizes) = modelled(table, "trees")[1], modelled(table, "overgrown trees")[1:]
    real = [(frame[name] - frame[name].mean()) / frame[name].std() for name in names]
    residuals = [column.to_numpy(dtype=np.float64) - mean for column, mean in zip(real, stopped, strict=True)]
    more = [whole - mean for whole, mean in zip(grown, stopped, strict=True)]
    rng, rejected, n = np.random.default_rng(0), 0, len(frame)
    for _ in range(TOLD):
        x, y = (mean + size * rng.normal(size=n) for mean, size in zip(more, sizes, strict=True))
        r = float(np.corrcoef(x, y)[0, 1])
        rejected += 2.0 * student.sf(abs(r) * np.sqrt((n - 2.0) / (1.0 - r * r)), n - 2) <= ALPHA

    def correlation(a: Floats, b: Floats) -> float:
        return float(np.corrcoef(a, b)[0, 1])

    return {
        "Z": table,
        "residuals of the real columns": correlation(*residuals),
        "x follows its residuals": correlation(more[0], residuals[0]),
        "y follows its residuals": correlation(more[1], residuals[1]),
        "what both follow": correlation(*more),
        "rejected": rejected / TOLD,
    }


def bars(table: pd.DataFrame) -> list[common.Bar]:
    own = table[table.method == "dine"]
    is_rough = own["shape"] == "overgrown trees"
    return [
        common.Bar("largest level", float(own["rho 0"][~is_rough].max()), high=LEVEL),
        common.Bar("largest level, overgrown trees", float(own["rho 0"][is_rough].max()), high=LEVEL),
        common.Bar("least power at rho 0.5", float(own["rho 0.5"].min()), low=0.9),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=100)
    parser.add_argument("--peers", type=int, default=50, help="of these for random forests (default: %(default)s)")
    options = parser.parse_args()
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
        NOTES.format(
            tables=sizes, seeds=options.seeds, some=options.seeds // WEAKEST, error=error, peers=options.peers
        ),
        OVERGROWN.format(count=TOLD),
        common.markdown([beyond(name) for name in TABLES]),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
