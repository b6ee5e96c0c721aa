"""Labels by the hundred: tables, numbers, and given either, beside other corrections of a table's bias.

python benchmarks/labels.py [--seeds 20] [--labels 30 150 500] [--rows 5 20 100] [--jobs 2] [--fresh]    writes
                                                                        results/labels.md and its CSV
"""

import common

# isort: split

import warnings
from argparse import Namespace
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, xlogy

import pydine
from harness.provenance import MIXED_ESTIMATES
from mixed_tasks import MixedData, information
from pydine.experiments.runner import Outcome, Task

LABELS, ROWS, MOST_ROWS = (30, 150, 500), (5, 20, 100), 20_000
LEAST_COVERAGE, SHARE_OF_BIAS, LARGEST_BIAS, ENOUGH = 0.9, 0.05, 0.02, 20
Floats = NDArray[np.float64]

NOTES = """
Each line has {seeds} datasets; effects of labels are drawn anew in each, and truths are those of the effects drawn, by
sums or quadrature. Rows a label are an average. Biases of rows with fewer than {enough} rows a label have no limit:
their intervals have to hold the truth. "Miller-Madow" and "Chao-Shen": biases of other corrected tables. Tables of more
than {most:,} rows are left out. Two standard errors of a coverage of 0.95 are {error:.2f}.
""".strip()


# --- datasets ---


def named(letter: str, codes: NDArray[np.int64]) -> NDArray[np.str_]:
    return np.char.add(letter, codes.astype(str))


def of_table(rng: Generator, n: int, joint: Floats) -> MixedData:
    """Rows of a table of probabilities."""
    x, y = np.divmod(rng.choice(joint.size, n, p=joint.ravel() / joint.sum()), joint.shape[1])
    return MixedData(named("a", x), named("b", y), None, max(information(joint / joint.sum()), 0.0))


def equal(rng: Generator, k: int, n: int) -> MixedData:
    return of_table(rng, n, np.eye(k))


def nested(rng: Generator, k: int, n: int) -> MixedData:
    return of_table(rng, n, np.eye(6)[rng.integers(6, size=k)])


def noisy_copy(rng: Generator, k: int, n: int) -> MixedData:
    return of_table(rng, n, 0.7 * np.eye(k) + 0.3 / k)


def few_labels(rng: Generator, k: int, n: int) -> MixedData:
    return of_table(rng, n, rng.dirichlet(np.ones(5), size=k))


def independent(rng: Generator, k: int, n: int) -> MixedData:
    return of_table(rng, n, np.ones((k, k)))


def entropy_of_mixture(weights: Floats, means: Floats, scales: Floats) -> float:
    """Differential entropy of a mixture of Gaussians, in nats, by quadrature."""
    grid = np.linspace((means - 8.0 * scales).min(), (means + 8.0 * scales).max(), 4001)
    parts = (np.exp(-0.5 * ((grid - m) / s) ** 2) / s for m, s in zip(means, scales, strict=True))
    density = sum(w * part for w, part in zip(weights, parts, strict=True)) / np.sqrt(2.0 * np.pi)
    return float(-xlogy(density, density).sum() * (grid[1] - grid[0]))


def number(rng: Generator, k: int, n: int, spread: float = 0.0) -> MixedData:
    """Labels that move a number, and perhaps how far it spreads."""
    label, effect, scale = rng.integers(k, size=n), rng.normal(size=k), np.exp(spread * rng.normal(size=k))
    y = effect[label] + scale[label] * rng.normal(size=n)
    within = 0.5 * np.log(2.0 * np.pi * np.e) + np.log(scale).mean()
    return MixedData(named("a", label), y, None, entropy_of_mixture(np.full(k, 1.0 / k), effect, scale) - within)


def number_given_number(rng: Generator, k: int, n: int) -> MixedData:
    """Labels that move both y and z, on which y depends too."""
    label, effect = rng.integers(k, size=n), rng.normal(size=k)
    shift = 0.7 * effect + 0.7 * rng.normal(size=k)
    z = shift[label] + rng.normal(size=n)
    y = effect[label] + z + rng.normal(size=n)
    places, total = np.quantile(z, (np.arange(100) + 0.5) / 100.0), 0.0
    for place in places:
        weights = np.exp(-0.5 * (place - shift) ** 2)
        total += entropy_of_mixture(weights / weights.sum(), effect, np.ones(k)) / len(places)
    return MixedData(named("a", label), y, z, total - 0.5 * np.log(2.0 * np.pi * np.e))


def answer_given_number(rng: Generator, k: int, n: int) -> MixedData:
    """Labels and a yes/no answer that depends on them and on z."""
    label, effect, z = rng.integers(k, size=n), 1.5 * rng.normal(size=k), rng.normal(size=n)
    y = np.where(rng.random(n) < expit(effect[label] + z), "yes", "no")
    chances = expit(effect[:, None] + np.quantile(z, (np.arange(200) + 0.5) / 200.0))

    def entropy(p: Floats) -> Floats:
        return -xlogy(p, p) - xlogy(1.0 - p, 1.0 - p)

    return MixedData(
        named("a", label), y, z, float((entropy(chances.mean(axis=0)) - entropy(chances).mean(axis=0)).mean())
    )


def few_labels_given_labels(rng: Generator, k: int, n: int) -> MixedData:
    """Labels and a few others, whose table is another one for each of three labels z."""
    z, parts = rng.integers(3, size=n), [rng.dirichlet(np.ones(3), size=k) for _ in range(3)]
    label = rng.integers(k, size=n)
    chances = np.array(parts)[z, label].cumsum(axis=1)
    y = (rng.random(n)[:, None] > chances).sum(axis=1)
    return MixedData(
        named("a", label), named("b", y), named("c", z), float(np.mean([information(part / k) for part in parts]))
    )


def numbers_given_labels(rng: Generator, k: int, n: int) -> MixedData:
    """Two numbers that labels move together; within labels their correlation is 0.6."""
    label, effect, own = rng.integers(k, size=n), rng.normal(size=k), rng.normal(size=k)
    first, second = rng.normal(size=(2, n))
    x, y = effect[label] + first, 0.8 * effect[label] + 0.6 * own[label] + 0.6 * first + 0.8 * second
    return MixedData(x, y, named("a", label), -0.5 * float(np.log(1.0 - 0.36)))


def separate_given_labels(rng: Generator, k: int, n: int) -> MixedData:
    """Two numbers that labels move together, and that are independent given these."""
    label, effect = rng.integers(k, size=n), rng.normal(size=k)
    x, y = effect[label] + rng.normal(size=(2, n))
    return MixedData(x, y, named("a", label), 0.0)


FAMILIES: dict[str, Callable[[Generator, int, int], MixedData]] = {
    "equal columns": equal,
    "nested: the label determines six others": nested,
    "a copy, 30% at random": noisy_copy,
    "five other labels": few_labels,
    "as many others, independent": independent,
    "a number": number,
    "a number, and its spread": partial(number, spread=0.4),
    "a number, given a number": number_given_number,
    "yes or no, given a number": answer_given_number,
    "three other labels, given labels": few_labels_given_labels,
    "two numbers, given the labels": numbers_given_labels,
    "two independent numbers, given the labels": separate_given_labels,
}


TABLES = tuple(FAMILIES)[:5]  # which other corrections apply to


def sample(family: str, k: int, rows: int, seed: int) -> MixedData:
    rng = np.random.default_rng([k, rows, seed, list(FAMILIES).index(family)])
    return FAMILIES[family](rng, k, k * rows)


# --- methods ---


def estimated(data: MixedData) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows a label
        found = pydine.mutual_information(data.x, data.y, data.z, n_jobs=1)
    return Outcome(found.value, *found.confidence_interval(0.95))


def miller_madow(counts: Floats, n: int) -> float:
    """Entropy in nats (Miller 1955)."""
    return float(-xlogy(counts / n, counts / n).sum() + (len(counts) - 1.0) / (2.0 * n))


def chao_shen(counts: Floats, n: int) -> float:
    """Entropy in nats (Chao and Shen 2003)."""
    shares = counts / n * (1.0 - min(int((counts == 1).sum()), n - 1) / n)
    return float(-(xlogy(shares, shares) / (1.0 - (1.0 - shares) ** n)).sum())


def by_entropies(entropy: Callable[[Floats, int], float], data: MixedData) -> Outcome:
    """H(X) + H(Y) - H(X, Y), each corrected by itself."""
    both = np.char.add(np.char.add(data.x, " "), data.y)
    x, y, joint = (np.unique(column, return_counts=True)[1].astype(float) for column in (data.x, data.y, both))
    return Outcome(sum(entropy(counts, len(data.x)) for counts in (x, y)) - entropy(joint, len(data.x)))


PEERS = {"Miller-Madow": miller_madow, "Chao-Shen": chao_shen}


def tasks(options: Namespace) -> list[Task]:
    return [
        Task(
            {"family": name, "labels": k, "rows": rows, "seed": s},
            partial(sample, name, k, rows, s),
            ("dine", *(PEERS if name in TABLES else ())),
        )
        for name in FAMILIES
        for k in options.labels
        for rows in options.rows
        if k * rows <= MOST_ROWS
        for s in range(options.seeds)
    ]


def lines(rows: pd.DataFrame) -> list[dict[str, object]]:
    table = []
    for (family, k, each), part in rows.groupby(["family", "labels", "rows"], sort=False):
        ours = part[part.method == "dine"]
        table.append(
            {
                "family": family,
                "labels": k,
                "rows a label": each,
                "truth": float(ours.truth.mean()),
                "bias": float(ours.bias.mean()),
                "error": float(np.sqrt((ours.bias**2).mean())),
                "width": float((ours.high - ours.low).mean()),
                "coverage": common.coverage(part),
                **{name: float(part[part.method == name].bias.mean()) for name in PEERS},
                "seconds": float(ours.seconds.median()),
            }
        )
    return table


def bars(table: pd.DataFrame) -> list[common.Bar]:
    enough = table[table["rows a label"] >= ENOUGH]
    biased = enough.bias.abs() > np.maximum(SHARE_OF_BIAS * enough.truth, LARGEST_BIAS)
    return [
        common.Bar(
            f"rows with a bias above 5% and 0.02 nats, from {ENOUGH} rows a label on", float(biased.sum()), high=0
        ),
        common.Bar("least coverage", float(table.coverage.min()), low=LEAST_COVERAGE),
        common.Bar("mean coverage", float(table.coverage.mean()), low=LEAST_COVERAGE),
        common.Bar("longest median time, in seconds", float(table.seconds.max()), high=10),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=20)
    parser.add_argument("--labels", type=int, nargs="+", default=list(LABELS))
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    options = parser.parse_args()
    methods = {"dine": estimated, **{name: partial(by_entropies, entropy) for name, entropy in PEERS.items()}}
    rows = common.run_from(options, tasks(options), "labels", methods, others=frozenset(PEERS), scope=MIXED_ESTIMATES)
    table = lines(rows)
    error = 2.0 * float(np.sqrt(0.95 * 0.05 / options.seeds))
    common.report(
        options.output / "labels.md",
        "# Labels by the hundred",
        common.bar_table(bars(pd.DataFrame(table))),
        common.markdown(table),
        NOTES.format(seeds=options.seeds, enough=ENOUGH, most=MOST_ROWS, error=error),
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
