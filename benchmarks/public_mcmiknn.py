"""Our own datasets after the public suite of mCMIkNN (hpi-epic), beside the p-values that were published with it.

python benchmarks/public_mcmiknn.py [--part n250 n1000] [--seeds 8] [--jobs 1] [--fresh]
    writes results/public_mcmiknn.md and its CSV; a part takes at most four processor minutes
"""

import common

# isort: split

from argparse import Namespace
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from harness.provenance import MIXED_TESTS
from public_suites import figures, tested
from pydine.experiments.datasets import Dataset
from pydine.experiments.runner import Task

SIZES = {"n250": 250, "n1000": 1000}
COLUMNS, SHARES = (1, 3, 5, 7, 9), (0.0, 0.25, 0.5, 0.75, 1.0)
SIGNAL = 0.85  # probability that the noise of a code is 0
LARGEST_LEVEL = 0.08

# From the p-values in the suite's repository, at n = 250 and 1000: AUC by the columns of Z, and by the share of codes.
# KCIT: where it ran (91 and 90% of the datasets); the others failed, and are in no figure here.
AREAS = {
    ("n250", "KCIT"): ((0.973, 0.930, 0.820, 0.680, 0.619), (0.773, 0.805, 0.819, 0.833, 0.892)),
    ("n250", "mCMIkNN"): ((0.930, 0.753, 0.665, 0.637, 0.608), (0.755, 0.676, 0.631, 0.708, 0.782)),
    ("n1000", "KCIT"): ((1.000, 0.993, 0.964, 0.911, 0.842), (0.911, 0.941, 0.978, 0.968, 0.976)),
    ("n1000", "mCMIkNN"): ((0.985, 0.919, 0.776, 0.707, 0.675), (0.830, 0.831, 0.754, 0.787, 0.862)),
}
WHOLE = {  # type I error, power and AUC of all datasets
    "n250": {
        "KCIT": (0.128, 0.625, 0.821),
        "mCMIkNN": (0.065, 0.483, 0.708),
        "micd": (0.169, 0.360, 0.567),
        "chi-squared on bins": (0.060, 0.229, 0.542),
    },
    "n1000": {
        "KCIT": (0.106, 0.883, 0.949),
        "mCMIkNN": (0.118, 0.682, 0.807),
        "micd": (0.261, 0.543, 0.627),
        "chi-squared on bins": (0.134, 0.410, 0.598),
    },
}

NOTES = """
Each dataset draws 1 to 9 columns of Z, each a code with the share's probability. A code has 2 to 4 levels, drawn
within a range that the dataset draws; its noise is 0 with probability {signal}. X and Y are codes or numbers in the
same way. A number is the sum of a function of each number among its parents (itself, its square or its cosine, the
same for X and Y), and of the codes among them, divided by the number of parents, plus normal noise. A code is a sum,
modulo its levels, of its noise, of the codes among its parents, and for each number among them of a level drawn by a
multinomial logit. X and Y have all of Z as parents; where Y depends on X, a number follows Z and X, and a code X
alone. The draws are our own, as are the figures of `dine`; those of the others are what the suite's own datasets
(5000 a size) gave their authors. Two standard errors of a type I error of 0.05 are {level_error:.3f}, and of an AUC
twice "its error".
""".strip()


# --- the datasets ---


def code(rng: Generator, n: int, levels: int, numbers: list[NDArray], codes: list[NDArray]) -> NDArray[np.float64]:
    """A ring sum: noise, codes, and for each number a level that it makes likely, modulo the levels."""
    noise = np.where(rng.random(n) < SIGNAL, 0, rng.integers(1, levels, n)) if levels > 1 else np.zeros(n)
    total = noise + np.sum(codes, axis=0) if codes else noise
    for number in numbers:
        logits = np.outer(np.arange(levels), np.clip(number, -200.0, 200.0))
        shares = np.cumsum(np.exp(logits - logits.max(axis=0)), axis=0)
        total = total + (rng.random(n) * shares[-1] > shares).sum(axis=0)
    return np.asarray(total % levels, dtype=np.float64)


FUNCTIONS = (lambda v: v, np.square, np.cos)


def drawn(n: int, columns: int, share: float, depends: int, seed: int) -> Dataset:
    """A dataset of the suite's kind."""
    rng = np.random.default_rng([n, columns, round(100 * share), depends, seed])
    low = int(rng.integers(2, 5))
    high = int(rng.integers(low, 5))

    def is_code() -> bool:
        return bool(rng.random() < share)

    def levels() -> int:
        return int(rng.integers(low, high + 1))

    numbers, codes, every, functions = [], [], [], []
    for _ in range(columns):
        if is_code():
            every.append(code(rng, n, levels(), [], []))
            codes.append(every[-1])
        else:
            every.append(rng.standard_normal(n))
            numbers.append(every[-1])
            functions.append(FUNCTIONS[rng.integers(3)])

    def child(first: tuple[NDArray, bool] | None) -> tuple[NDArray, bool]:
        """A child of Z and, where it is given, of another column and whether that is a code."""
        if is_code():
            if first is None:
                return code(rng, n, levels(), numbers, codes), True
            return code(rng, n, levels(), [] if first[1] else [first[0]], [first[0]] if first[1] else []), True
        parts = [f(column) for f, column in zip(functions, numbers, strict=True)] + codes
        if first is not None:
            parts.append(first[0] if first[1] else FUNCTIONS[rng.integers(3)](first[0]))
        return np.sum(parts, axis=0) / len(parts) + rng.standard_normal(n), False

    x = child(None)
    y = child(x if depends else None)
    z = np.column_stack(every)
    return Dataset("mCMIkNN", seed, np.nan, x[0][:, None], y[0][:, None], z, x[0][:, None], y[0][:, None], np.nan)


def tasks(options: Namespace) -> list[Task]:
    return [
        Task(
            {"part": part, "columns": columns, "share": share, "depends": depends, "seed": seed},
            partial(drawn, SIZES[part], columns, share, depends, seed),
            ("dine",),
        )
        for part in options.part
        for columns in COLUMNS
        for share in SHARES
        for depends in (0, 1)
        for seed in range(options.seeds)
    ]


# --- the tables ---


def by(rows: pd.DataFrame, part: str, name: str, values: tuple[float, ...], place: int) -> list[dict[str, object]]:
    """A line for each value of a column of a part, with the published areas."""
    found = []
    for i, value in enumerate(values):
        published = {method: AREAS[part, method][place][i] for method in ("KCIT", "mCMIkNN")}
        chosen = rows[(rows.part == part) & (rows[name] == value)]
        found.append({"part": part, name: f"{value:g}", **figures(chosen), **published})
    return found


def whole(rows: pd.DataFrame, part: str) -> list[dict[str, object]]:
    ours = figures(rows[rows.part == part])
    line = {"part": part, "test": "dine", **{name: ours[name] for name in ("type I", "power", "AUC", "its error")}}
    theirs = [
        {"part": part, "test": name, "type I": level, "power": power, "AUC": auc, "its error": np.nan}
        for name, (level, power, auc) in WHOLE[part].items()
    ]
    return [line, *theirs]


def bars(lines: list[dict[str, object]], all_rows: list[dict[str, object]]) -> list[common.Bar]:
    behind = [max(float(line[m]) for m in ("KCIT", "mCMIkNN")) - float(line["AUC"]) for line in lines]  # type: ignore[arg-type]
    errors = [2.0 * float(line["its error"]) for line in lines]  # type: ignore[arg-type]
    beyond = sum(loss > error for loss, error in zip(behind, errors, strict=True))
    ours = [float(line["type I"]) for line in all_rows if line["test"] == "dine"]  # type: ignore[arg-type]
    return [
        common.Bar("rows with less AUC than the best published", float(sum(loss > 0.0 for loss in behind)), high=0),
        common.Bar("of these, beyond two standard errors", float(beyond), high=0),
        common.Bar("largest type I error of a part", max(ours), high=LARGEST_LEVEL),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=8)
    parser.add_argument("--part", nargs="+", choices=list(SIZES), default=list(SIZES))
    options = parser.parse_args()
    rows = common.run_from(options, tasks(options), "public_mcmiknn", {"dine": tested}, scope=MIXED_TESTS)
    all_rows = [line for part in options.part for line in whole(rows, part)]
    by_columns = [line for part in options.part for line in by(rows, part, "columns", COLUMNS, 0)]
    by_share = [line for part in options.part for line in by(rows, part, "share", SHARES, 1)]
    count = options.seeds * len(COLUMNS) * len(SHARES)
    notes = NOTES.format(signal=SIGNAL, level_error=2.0 * np.sqrt(0.05 * 0.95 / count))
    common.report(
        options.output / "public_mcmiknn.md",
        "# Mixed columns: after the suite of mCMIkNN",
        common.bar_table(bars([*by_columns, *by_share], all_rows)),
        notes,
        common.markdown(all_rows),
        "By the columns of Z; the last two columns are published AUCs:",
        common.markdown(by_columns),
        "By the share of codes:",
        common.markdown(by_share),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
