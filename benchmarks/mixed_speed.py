"""Speed of tests and matrices on columns of any kind, on one core, beside the continuous test and other packages.

python benchmarks/mixed_speed.py [--repeats 7] [--peers]    writes results/mixed_speed.md; --peers: tigramite's
                                                            CMIknnMixed once, which takes a minute, phik and ppscore
"""

import common

# isort: split

import warnings
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import pydine
from harness.measure import in_turn, medians
from pydine.experiments.measure import measured

ROWS, GIVEN, MATRIX_ROWS, MATRIX_COLUMNS = 1000, 5, 2000, 10
CONTINUOUS_RATIO, CMIKNN_RATIO, MATRIX_SECONDS = 2.0, 100.0, 1.5
LETTERS = np.array(list("abcdef"))

NOTES = """
Seconds of one processor, warm, medians of {repeats} datasets; all in turn on the same ones, peers once. Test:
n = {rows:,}, a z of {given} columns that both sides follow in a curved way, x a label of three or a count, y a count;
the same with the numbers behind them. Matrix: {columns} columns of all kinds, n = {matrix_rows:,},
`pairwise_information` with its defaults. A dash: not asked for (`--peers`), or not installed.
""".strip()


def behind(seed: int, n: int = ROWS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two numbers that follow five others, and these."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, GIVEN))
    x, y = np.sin(z).sum(axis=1), np.cos(z).sum(axis=1)
    return x + rng.standard_normal(n), y + rng.standard_normal(n), z


def labelled(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y, z = behind(seed)
    return LETTERS[np.digitize(x, [-1.0, 1.0])], np.floor(np.exp(0.4 * y)).astype(int), z


def counted(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y, z = behind(seed)
    return np.floor(np.exp(0.5 * x)).astype(int), np.floor(np.exp(0.4 * y)).astype(int), z


def matrix(seed: int) -> pd.DataFrame:
    """Numbers, counts, labels, yes or no, and zeros in a number: chains of causes."""
    rng = np.random.default_rng(seed)
    n, columns = MATRIX_ROWS, {}
    drive = rng.standard_normal(n)
    for i in range(MATRIX_COLUMNS):
        drive = 0.6 * drive + 0.8 * rng.standard_normal(n)
        kind = i % 5
        columns[f"c{i}"] = (
            drive
            if kind == 0
            else rng.poisson(np.exp(0.5 * drive))
            if kind == 1
            else LETTERS[np.digitize(drive, [-1.0, 0.0, 1.0])]
            if kind == 2
            else drive + 0.5 * rng.standard_normal(n) > 0.3
            if kind == 3
            else np.where(rng.random(n) < 0.3, 0.0, np.exp(drive))
        )
    return pd.DataFrame(columns)


def seconds(call: Callable[[], object]) -> float:
    with measured() as cost:
        call()
    return cost.processor_seconds


def tests(repeats: int) -> dict[str, float]:
    """Medians of what a test takes, by kind of data."""
    kinds = {"numbers": behind, "label and count": labelled, "count and count": counted}
    contenders = {kind: partial(asked, pydine.independence_test, draw) for kind, draw in kinds.items()}
    return medians(in_turn(contenders, repeats, of_processor=True))


def matrices(repeats: int) -> float:
    contender = partial(asked, pydine.pairwise_information, lambda seed: (matrix(seed),))
    return medians(in_turn({"matrix": contender}, repeats, of_processor=True))["matrix"]


def asked(question: Callable[..., object], draw: Callable[[int], tuple[object, ...]], seed: int) -> partial[object]:
    """A question about data that are drawn already."""
    return partial(question, *draw(seed), n_jobs=1)


def cmiknn_mixed() -> float:
    from tigramite.independence_tests.cmiknn_mixed import CMIknnMixed

    x, y, z = labelled(1)
    numbers = np.unique(x, return_inverse=True)[1][:, None].astype(float), y[:, None].astype(float), z
    kinds = np.ones((ROWS, 1), int), np.ones((ROWS, 1), int), np.zeros(z.shape, int)
    return seconds(lambda: CMIknnMixed(workers=1).run_test_raw(*numbers, *kinds))


def phik_matrix() -> float:
    import phik  # noqa: F401

    return seconds(partial(matrix(1).phik_matrix, verbose=False, njobs=1))


def ppscore_matrix() -> float:
    import ppscore

    return seconds(partial(ppscore.matrix, matrix(1)))


def of_peer(asked: bool, peer: Callable[[], float]) -> float:
    try:
        return peer() if asked else float("nan")
    except ImportError:
        return float("nan")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--output", type=Path, default=common.RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    taken, of_matrix = tests(options.repeats), matrices(options.repeats)
    plain, mixed = taken["numbers"], max(taken["label and count"], taken["count and count"])
    cmiknn, phik, ppscore = (of_peer(options.peers, peer) for peer in (cmiknn_mixed, phik_matrix, ppscore_matrix))
    bars = [
        common.Bar("mixed test / continuous test", mixed / plain, high=CONTINUOUS_RATIO),
        common.Bar("CMIknnMixed / mixed test", cmiknn / taken["label and count"], low=CMIKNN_RATIO),
        common.Bar(
            f"matrix of {MATRIX_COLUMNS} columns x {MATRIX_ROWS:,} rows, seconds", of_matrix, high=MATRIX_SECONDS
        ),
    ]
    rows = [{"what": f"test, {kind}", "seconds": value} for kind, value in taken.items()]
    rows += [
        {"what": "test, label and count, CMIknnMixed", "seconds": cmiknn},
        {"what": "matrix", "seconds": of_matrix},
        {"what": "matrix, phik", "seconds": phik},
        {"what": "matrix, ppscore", "seconds": ppscore},
    ]
    notes = NOTES.format(
        repeats=options.repeats, rows=ROWS, given=GIVEN, columns=MATRIX_COLUMNS, matrix_rows=MATRIX_ROWS
    )
    common.report(
        options.output / "mixed_speed.md",
        "# Speed on columns of any kind",
        common.bar_table(bars),
        common.markdown(rows),
        notes,
        common.provenance(),
    )


if __name__ == "__main__":
    main()
