"""Level, coverage and width where rows depend on each other: series, clusters, panels.

python benchmarks/dependent_rows.py [--datasets 60] [--strong 30] [--output FOLDER] [--again "AR(1) 0.95" ...]

With --again, only the rows of these names are made, in the table that is there. With --peers, level and power of AR(1)
rows beside tests that others use are written to dependent_rows_peers.md; with --levels, levels of all series of 200,
500 and 2000 rows, with and without z, and of clusters, to dependent_rows_level.md.

Both sides are independent processes of the same kind, given z, or depend on each other by so many nats: both are linear
processes whose innovations are correlated, so that the truth is known. z is a process of the same kind, which moves
both sides.
"""

import common

# isort: split

import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.special import ndtr, stdtr

import pydine
from harness.provenance import commit

Innovations = Callable[[int], np.ndarray]
BEFORE = 300  # rows that are dropped, for a process to forget its start
NATS = (0.05, 0.2, 0.5)

NOTES = """
{datasets} datasets a row without dependence, {strong} with each of {nats} nats. The noise of a share of 0.05 is
±{noise} (one standard error), of a coverage of 0.95 of {strong} datasets ±{cover}. "level": share of tests of a true
null that reject at 0.05, analytic; "says nothing": the same without `time=` or `clusters=`. "holds 0": share of
95% intervals, "holds I": the same of the true value. "width": median of the intervals' widths over that without
`time=` or `clusters=`, and "time": that of CPU seconds, of the same datasets. Made by
`python benchmarks/dependent_rows.py --datasets {datasets} --strong {strong}` at {commit}.
""".strip()


class Process(NamedTuple):
    """How innovations (2, m) become a process of n rows, and what `pydine` is told about rows."""

    name: str
    n: int
    made: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    said: dict[str, Any]
    dz: int = 0
    known: bool = True


def auto_regressive(phi: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda e, _: lfilter([1.0], [1.0, -phi], e, axis=1)[:, BEFORE:]


def moving_average(e: np.ndarray, _: np.random.Generator) -> np.ndarray:
    return lfilter(np.ones(5), [1.0], e, axis=1)[:, BEFORE:]


def seasonal(e: np.ndarray, _: np.random.Generator) -> np.ndarray:
    return lfilter([1.0], [1.0, *np.zeros(11), -0.8], e, axis=1)[:, BEFORE:]


def volatile(e: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Stochastic volatility, each side its own, so that what innovations share is not all that the series share."""
    scale = np.exp(0.5 * lfilter([1.0], [1.0, -0.95], 0.4 * rng.normal(size=e.shape), axis=1))
    return (lfilter([1.0], [1.0, -0.5], e, axis=1) * scale)[:, BEFORE:]


def clustered(codes: np.ndarray, within: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def made(e: np.ndarray, _: np.random.Generator) -> np.ndarray:
        own, shared = e[:, BEFORE : BEFORE + len(codes)], e[:, : codes.max() + 1]
        return np.sqrt(within) * shared[:, codes] + np.sqrt(1.0 - within) * own

    return made


def panel(units: int, times: int, phi: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def made(e: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        own = e[:, BEFORE:].reshape(2, units, times)
        first = rng.normal(size=(2, units, 1)) * 0.0 + own[:, :, :1] / np.sqrt(1.0 - phi**2)
        series = lfilter([1.0], [1.0, -phi], np.concatenate([first, own[:, :, 1:]], axis=2), axis=2)
        return series.reshape(2, -1)

    return made


def processes() -> Iterator[Process]:
    for n in (200, 500, 2000):
        for phi in (0.0, 0.5, 0.8, 0.95):
            for dz in (0, 1, 3):
                if n < 2000 or dz == 0:
                    yield Process(f"AR(1) {phi:g}", n, auto_regressive(phi), {"time": True}, dz)
    for name, made in (("moving average of 5", moving_average), ("seasonal", seasonal), ("volatility", volatile)):
        yield Process(name, 500, made, {"time": True}, 0, made is not volatile)
    for count in (10, 30, 100):
        equal = np.repeat(np.arange(count), 10)
        unequal = np.repeat(np.arange(count), 2 + 16 * np.arange(count) // max(count - 1, 1))
        for codes, sizes in ((equal, "equal"), (unequal, "unequal")):
            for within in (0.0, 0.1, 0.5):
                if sizes == "equal" or within == 0.5:
                    name = f"{count} clusters, {sizes}, ICC {within:g}"
                    yield Process(name, len(codes), clustered(codes, within), {"clusters": codes})
    codes = np.repeat(np.arange(20), 50)
    yield Process("panel of 20 x 50, AR 0.8", 1000, panel(20, 50, 0.8), {"clusters": codes})


def every_level() -> Iterator[Process]:
    """What levels are shown of: any series with any z, and the clusters."""
    kinds = {f"AR(1) {phi:g}": auto_regressive(phi) for phi in (0.0, 0.5, 0.8, 0.95)}
    kinds |= {"moving average of 5": moving_average, "seasonal": seasonal, "volatility": volatile}
    for name, made in kinds.items():
        for n in (200, 500, 2000):
            for dz in (0, 1, 3):
                yield Process(name, n, made, {"time": True}, dz)
    yield from (process for process in processes() if "clusters" in process.said)


def sample(process: Process, nats: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng([seed, process.n, process.dz, round(1000 * nats)])
    rho = np.sqrt(-np.expm1(-2.0 * nats))
    e = rng.normal(size=(2, BEFORE + process.n))
    e[1] = rho * e[0] + np.sqrt(1.0 - rho * rho) * e[1]
    x, y = process.made(e, rng)
    if not process.dz:
        return x, y, None
    z = np.vstack([process.made(rng.normal(size=(2, BEFORE + process.n)), rng)[:1] for _ in range(process.dz)])
    z /= z.std(axis=1, keepdims=True)
    x, y = x / x.std() + np.sin(z).sum(axis=0), y / y.std() + z.sum(axis=0) / np.sqrt(process.dz)
    return x, y, z.T


def of_null(process: Process, seed: int) -> dict[str, float]:
    data = sample(process, 0.0, seed)
    test = {"method": "analytic"}
    found = {}
    start = time.process_time()
    plain = pydine.mutual_information(*data)
    found["plain seconds"] = time.process_time() - start
    start = time.process_time()
    told = pydine.mutual_information(*data, **process.said)
    found["seconds"] = time.process_time() - start
    found["level"] = float(pydine.independence_test(*data, **test, **process.said).pvalue <= 0.05)
    found["says nothing"] = float(pydine.independence_test(*data, **test).pvalue <= 0.05)
    found["holds 0"] = float(told.confidence_interval().low == 0.0)
    found["0, says nothing"] = float(plain.confidence_interval().low == 0.0)
    ends = [estimate.confidence_interval() for estimate in (told, plain)]
    found["width"], found["plain width"] = (end.high - end.low for end in ends)
    return found


def of_dependence(process: Process, nats: float, seed: int) -> float:
    low, high = pydine.mutual_information(*sample(process, nats, seed), **process.said).confidence_interval()
    return float(low <= nats <= high)


def line(process: Process, datasets: int, strong: int) -> dict[str, object]:
    found = pd.DataFrame([of_null(process, seed) for seed in range(datasets)])
    seeds = range(strong if process.known else 0)
    held = {nats: [of_dependence(process, nats, seed) for seed in seeds] for nats in NATS}
    holds = {f"holds {nats:g}": float(np.mean(each)) if each else np.nan for nats, each in held.items()}
    return {
        "rows": process.name,
        "n": process.n,
        "dz": process.dz,
        **{name: found[name].mean() for name in ("level", "says nothing", "holds 0", "0, says nothing")},
        **holds,
        "width": found["width"].median() / found["plain width"].median(),
        "time": found["seconds"].sum() / found["plain seconds"].sum(),
    }


def again(path: Path, names: list[str], datasets: int, strong: int) -> None:
    """Make the rows of some names again, and note it below the table."""
    note = f"Made again at {commit()}, {datasets} and {strong} datasets: {', '.join(names)}."
    path.write_text(path.read_text(encoding="utf-8") + "\n" + note + "\n", encoding="utf-8")
    for process in processes():
        if process.name not in names:
            continue
        made = common.markdown([line(process, datasets, strong)]).splitlines()[-1]
        start = "|".join(made.split("|")[:4]) + "|"
        lines = [made if text.startswith(start) else text for text in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def left(column: np.ndarray, z: np.ndarray | None) -> np.ndarray:
    """A column less a cubic regression on the columns of z."""
    functions = [np.ones(len(column))] if z is None else [np.ones(len(column)), *z.T, *z.T**2, *z.T**3]
    taken = np.linalg.qr(np.column_stack(functions))[0]
    return column - taken @ (taken.T @ column)


def partial_correlation(x: np.ndarray, y: np.ndarray, z: np.ndarray | None) -> float:
    """ParCorr: linear regressions on z, and the t test of a correlation of independent rows."""
    functions = np.column_stack([np.ones(len(x)), *([] if z is None else z.T)])
    taken = np.linalg.qr(functions)[0]
    a, b = (c - taken @ (taken.T @ c) for c in (x, y))
    r, dof = a @ b / np.sqrt((a @ a) * (b @ b)), len(x) - functions.shape[1] - 1
    return float(2.0 * stdtr(dof, -abs(r) * np.sqrt(dof / (1.0 - r * r))))


def generalised_covariance(x: np.ndarray, y: np.ndarray, z: np.ndarray | None) -> float:
    """GCM of cubic regressions, with Newey and West's variance (Bartlett weights, 4 (n / 100)^(2/9) lags)."""
    products = left(x, z) * left(y, z)
    n, centred = len(products), products - products.mean()
    lags = int(4.0 * (n / 100.0) ** (2.0 / 9.0))
    weighed = [(1.0 - k / (lags + 1.0)) * centred[k:] @ centred[: n - k] for k in range(1, lags + 1)]
    variance = centred @ centred + 2.0 * sum(weighed)
    return float(2.0 * ndtr(-abs(products.sum()) / np.sqrt(variance)))


def distance_correlation(x: np.ndarray, y: np.ndarray, z: np.ndarray | None) -> float:
    """Distance covariance of residuals of cubic regressions, with sqrt(n) blocks of rows permuted 99 times."""
    a, b = (np.abs(np.subtract.outer(c, c)) for c in (left(x, z), left(y, z)))
    a = a - a.mean(axis=0) - a.mean(axis=1)[:, None] + a.mean()
    n, rng = len(x), np.random.default_rng(0)
    blocks = np.array_split(np.arange(n), int(np.sqrt(n)))
    orders = [np.concatenate([blocks[i] for i in rng.permutation(len(blocks))]) for _ in range(99)]
    found = float((a * b).sum())
    return (1.0 + sum(float((a * b[np.ix_(order, order)]).sum()) >= found for order in orders)) / 100.0


PEERS: dict[str, Callable[..., float]] = {
    "pydine, `time=`": lambda x, y, z: pydine.independence_test(x, y, z, time=True, method="analytic").pvalue,
    "partial correlation": partial_correlation,
    "GCM, Newey-West": generalised_covariance,
    "distance covariance, blocks": distance_correlation,
}
PEER_NOTES = """
Shares of {datasets} datasets of 500 rows in which independence is rejected at 0.05: "level" of a true null, "power" of
0.05 nats; the noise of 0.05 is ±{noise}. The peers are their formulas written small, in the benchmark: partial
correlation is that of ParCorr, for independent rows; the others regress on cubic polynomials of z. x moves with sines
of z. Made by `python benchmarks/dependent_rows.py --peers --datasets {datasets}` at {commit}.
""".strip()


def beside(path: Path, datasets: int) -> None:
    """Level and power beside peers."""
    lines: list[dict[str, object]] = []
    for process in processes():
        if not (process.name.startswith("AR(1)") and process.n == 500 and process.dz in (0, 3)):
            continue
        row: dict[str, object] = {"rows": process.name, "dz": process.dz}
        for word, nats in (("level", 0.0), ("power", NATS[0])):
            every = [sample(process, nats, 1000 + seed) for seed in range(datasets)]
            for name, test in PEERS.items():
                row[f"{word}: {name}"] = float(np.mean([test(*data) <= 0.05 for data in every]))
        lines.append(row)
    noise = f"{np.sqrt(0.05 * 0.95 / datasets):.3f}"
    notes = PEER_NOTES.format(datasets=datasets, noise=noise, commit=commit())
    text = f"# Rows that depend on each other, beside peers\n\n{common.markdown(lines)}\n\n{notes}\n"
    (path / "dependent_rows_peers.md").write_text(text, encoding="utf-8")


LEVEL_NOTES = """
Shares of {datasets} datasets without dependence in which independence is rejected, analytic, told how rows depend. The
noise of 0.05 is ±{noise} (one standard error). "seasonal": each value follows that of 12 rows before with a coefficient
of 0.8; z is a series of the same kind, which moves both sides. Made by
`python benchmarks/dependent_rows.py --levels --datasets {datasets}` at {commit}.
""".strip()


def levels(path: Path, datasets: int) -> None:
    """Levels alone, which take a fraction of the time of intervals."""
    lines: list[dict[str, object]] = []
    for process in every_level():
        every = [sample(process, 0.0, 10**6 + seed) for seed in range(datasets)]
        found = [pydine.independence_test(*data, method="analytic", **process.said).pvalue for data in every]
        row = {"rows": process.name, "n": process.n, "dz": process.dz}
        lines.append(row | {f"at {level:g}": float(np.mean(np.array(found) <= level)) for level in (0.05, 0.01)})
    noise = f"{np.sqrt(0.05 * 0.95 / datasets):.3f}"
    notes = LEVEL_NOTES.format(datasets=datasets, noise=noise, commit=commit())
    text = f"# Level where rows depend on each other\n\n{common.markdown(lines)}\n\n{notes}\n"
    (path / "dependent_rows_level.md").write_text(text, encoding="utf-8")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=60)
    parser.add_argument("--strong", type=int, default=30)
    parser.add_argument("--output", type=Path, default=common.RESULTS)
    parser.add_argument("--again", nargs="+", default=())
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--levels", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.levels:
        levels(options.output, options.datasets)
        return
    if options.peers:
        beside(options.output, options.datasets)
        return
    if options.again:
        again(options.output / "dependent_rows.md", options.again, options.datasets, options.strong)
        return
    lines: list[dict[str, object]] = []
    for process in processes():
        lines.append(line(process, options.datasets, options.strong))
        notes = NOTES.format(
            datasets=options.datasets,
            strong=options.strong,
            nats=", ".join(map(str, NATS)),
            noise=f"{np.sqrt(0.05 * 0.95 / options.datasets):.3f}",
            cover=f"{np.sqrt(0.05 * 0.95 / options.strong):.2f}",
            commit=commit(),
        )
        text = f"# Rows that depend on each other\n\n{common.markdown(lines)}\n\n{notes}\n"
        (options.output / "dependent_rows.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
