"""Level, coverage and width where rows depend on each other: series, clusters, panels.

python benchmarks/dependent_rows.py [--datasets 60] [--strong 30] [--output FOLDER] [--again "AR(1) 0.95" ...]

With --again, only the rows of these names are made, in the table that is there.

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


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=60)
    parser.add_argument("--strong", type=int, default=30)
    parser.add_argument("--output", type=Path, default=common.RESULTS)
    parser.add_argument("--again", nargs="+", default=())
    options = parser.parse_args()
    warnings.simplefilter("ignore")
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
