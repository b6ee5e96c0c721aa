"""Columns of any kind whose information is known: labels, counts, yes/no, point masses, alone and given others.

python benchmarks/mixed_tasks.py    prints the truths, and checks them by the mean log-ratio of many draws where there
is one

A new family is a function from (rng, n) to x and y, a truth in nats, and an entry in ``FAMILIES``. Given a z that
matters, both sides are moved by a one-to-one function that depends on z, so that the truth is the same.
"""

import one_thread  # noqa: F401

# isort: split

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import gammaln, xlogy
from scipy.stats import norm, poisson

Column = NDArray[np.generic]
Pair = tuple[Column, Column]

LETTERS = np.array(list("abcdefghij"))


@dataclass(frozen=True, eq=False)
class MixedData:
    """Columns, and the information that they have, in nats; z is one column or a dict of several."""

    x: Column
    y: Column
    z: Column | dict[str, Column] | None
    truth: float

    def first(self, n: int) -> "MixedData":
        """The first rows."""
        z = {name: column[:n] for name, column in self.z.items()} if isinstance(self.z, dict) else self.z
        return MixedData(self.x[:n], self.y[:n], z[:n] if isinstance(z, np.ndarray) else z, self.truth)


def information(joint: NDArray[np.float64]) -> float:
    """Information of a table of probabilities, in nats."""
    return float(xlogy(joint, joint).sum() - sum(xlogy(p, p).sum() for p in (joint.sum(axis=0), joint.sum(axis=1))))


# --- Mesner and Shalizi (2020), in our words: one column of z each ---


def correlated(rng: Generator, n: int, r: float) -> Pair:
    x = rng.standard_normal(n)
    return x, r * x + math.sqrt(1 - r * r) * rng.standard_normal(n)


def signs(rng: Generator, n: int, agree: float) -> Pair:
    x = rng.choice([-1.0, 1.0], n)
    return x, np.where(rng.random(n) < agree, x, -x)


def signs_truth(agree: float) -> float:
    return math.log(2.0) + xlogy(agree, agree) + xlogy(1 - agree, 1 - agree)


def half_and_half(rng: Generator, n: int, r: float, agree: float) -> Pair:
    """Normal in half of the rows, signs in the other half; both columns show which half a row is in."""
    is_normal = rng.random(n) < 0.5
    normal, sign = correlated(rng, n, r), signs(rng, n, agree)
    return np.where(is_normal, normal[0], sign[0]), np.where(is_normal, normal[1], sign[1])


def half_and_half_truth(r: float, agree: float) -> float:
    return math.log(2.0) + 0.5 * signs_truth(agree) - 0.25 * math.log(1 - r * r)


def staircase(rng: Generator, n: int, steps: int) -> Pair:
    x = rng.integers(steps, size=n)
    return x, x + 2.0 * rng.random(n)


def staircase_truth(steps: int) -> float:
    return math.log(steps) - (steps - 1) / steps * math.log(2.0)


def published(task: int, rng: Generator, n: int) -> MixedData:
    """The nine tasks, counted from 1, in the order of the paper's tables."""
    few = rng.binomial(3, 0.2, n)
    if task == 1:
        return MixedData(*correlated(rng, n, 0.8), rng.standard_normal(n), -0.5 * math.log(0.36))
    if task == 2:
        return MixedData(*rng.standard_normal((3, n)), 0.0)
    if task == 3:
        precision = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
        return MixedData(*rng.multivariate_normal(np.zeros(3), np.linalg.inv(precision), n).T, 0.0)
    if task == 4:
        return MixedData(*signs(rng, n, 0.8), few, signs_truth(0.8))
    if task == 5:
        return MixedData(few, rng.poisson(2.0, n), rng.binomial(3, 0.5, n), 0.0)
    if task == 6:
        z = rng.integers(1, 11, n)
        return MixedData(rng.binomial(z, 0.5), rng.poisson(z), z, 0.0)
    if task == 7:
        return MixedData(*half_and_half(rng, n, 0.8, 0.8), few, half_and_half_truth(0.8, 0.8))
    if task == 8:
        return MixedData(*staircase(rng, n, 3), rng.binomial(8, 0.5, n), staircase_truth(3))
    x = rng.exponential(10.0, n)
    z = rng.poisson(x)
    return MixedData(x, rng.binomial(z, 0.5), z, 0.0)


PUBLISHED = {  # root mean square errors at n = 1000 of the authors' estimator, from their result file
    1: 0.031,
    2: 0.022,
    3: 0.022,
    4: 0.018,
    5: 0.010,
    6: 0.011,
    7: 0.028,
    8: 0.033,
    9: 0.017,
}


# --- other families ---


def inflated_count(rng: Generator, n: int) -> Pair:
    x = rng.exponential(1.0, n)
    return x, np.where(rng.random(n) < 0.15, 0, rng.poisson(x))


def inflated_count_truth() -> float:
    """H(Y) - E H(Y | X): sums over y, a quadrature over x."""
    y = np.arange(120)

    def given(x: float) -> NDArray[np.float64]:
        return 0.85 * poisson.pmf(y, x) + 0.15 * (y == 0)

    marginal = 0.85 * 0.5 ** (y + 1.0) + 0.15 * (y == 0)
    noise = quad(lambda x: math.exp(-x) * -xlogy(given(x), given(x)).sum(), 0.0, 60.0, limit=500)[0]
    return float(-xlogy(marginal, marginal).sum() - noise)


def flipped(rng: Generator, n: int, share: float) -> Pair:
    x = rng.random(n) < 0.5
    return x, x ^ (rng.random(n) < share)


def rare_flag(rng: Generator, n: int) -> Pair:
    """A flag in 4% of the rows, where a number is larger by 2."""
    flag = rng.random(n) < 0.04
    return rng.standard_normal(n) + 2.0 * flag, flag


def rare_flag_truth() -> float:
    def term(x: float) -> float:
        p = 0.96 * norm.pdf(x), 0.04 * norm.pdf(x, 2.0)
        return float(-xlogy(sum(p), sum(p)))

    return quad(term, -9.0, 11.0, limit=500)[0] - 0.5 * math.log(2 * math.pi * math.e)


TABLE = np.random.default_rng(3).dirichlet(np.full(36, 0.5)).reshape(6, 6)


def table(rng: Generator, n: int) -> Pair:
    cell = rng.choice(36, n, p=TABLE.ravel())
    return LETTERS[cell // 6], LETTERS[cell % 6]


BUMPS = {0: ((-2.0, 0.4), (2.0, 0.4)), 1: ((0.0, 0.5),), 2: ((-1.0, 1.2), (3.0, 0.3))}


def bumps(rng: Generator, n: int) -> Pair:
    """A number from a mixture of normals that depends on a label, and that label, which has three levels."""
    label, which, noise = rng.integers(3, size=n), rng.random(n), rng.standard_normal(n)
    x = np.empty(n)
    for k, parts in BUMPS.items():
        centre, width = np.array(parts).T
        chosen = (which * len(parts)).astype(int)
        x[label == k] = (centre[chosen] + width[chosen] * noise)[label == k]
    return x, LETTERS[label]


def bumps_truth() -> float:
    def densities(x: float) -> NDArray[np.float64]:
        return np.array([np.mean([norm.pdf(x, c, w) for c, w in parts]) for parts in BUMPS.values()])

    def term(x: float) -> float:
        p = densities(x)
        return float((xlogy(p, p) - xlogy(p, p.mean())).sum() / 3.0)

    return quad(term, -8.0, 8.0, limit=1000, points=[-2, -1, 0, 2, 3])[0]


def counts(rng: Generator, n: int) -> Pair:
    """Two counts with a common rate, a gamma variable."""
    rate = rng.gamma(2.0, 1.5, n)
    return rng.poisson(rate), rng.poisson(rate)


def counts_truth() -> float:
    """Negative binomial columns and their joint distribution, summed."""
    i = np.arange(90)[:, None]
    j = i.T
    shape, scale = 2.0, 1.5
    logs = gammaln(i + j + shape) - gammaln(shape) - gammaln(i + 1.0) - gammaln(j + 1.0)
    joint = np.exp(logs + (i + j) * math.log(scale / (1 + 2 * scale)) - shape * math.log(1 + 2 * scale))
    return information(joint)


@dataclass(frozen=True)
class Family:
    """How x and y are drawn, and the truth in nats."""

    draw: Callable[[Generator, int], Pair]
    truth: Callable[[], float]


FAMILIES = {
    "staircase": Family(partial(staircase, steps=5), partial(staircase_truth, 5)),
    "atoms and bulk": Family(partial(half_and_half, r=0.9, agree=0.9), partial(half_and_half_truth, 0.9, 0.9)),
    "zero-inflated count": Family(inflated_count, inflated_count_truth),
    "label and bumps": Family(bumps, bumps_truth),
    "count and count": Family(counts, counts_truth),
    **{
        f"bits, {100 * share:g}% flipped": Family(partial(flipped, share=share), partial(signs_truth, 1 - share))
        for share in (0.005, 0.02, 0.1, 0.3)
    },
    "rare flag": Family(rare_flag, rare_flag_truth),
    "6 x 6 table": Family(table, partial(information, TABLE)),
}
GIVEN = ("", "number", "labels")
_truths: dict[str, float] = {}


def truth_of(name: str) -> float:
    """The truth of a family in nats, computed once."""
    if name not in _truths:
        _truths[name] = FAMILIES[name].truth()
    return _truths[name]


def moved(values: Column, place: NDArray[np.int_], shift: NDArray[np.float64]) -> Column:
    """Values mapped by a bijection: labels cyclically, counts and point masses upwards, numbers by a shift."""
    if values.dtype.kind == "b":
        return values ^ (place % 2 == 1)
    if values.dtype.kind == "U":
        levels, codes = np.unique(values, return_inverse=True)
        return levels[(codes + place) % len(levels)]
    _, repeats = np.unique(values, return_counts=True)
    return values + (place if repeats.max() > 1 else shift)


def sample(name: str, given: str, n: int, seed: int) -> MixedData:
    """Draw n rows of a family, given nothing, a number or labels that both sides follow."""
    rng = np.random.default_rng([zlib.crc32(f"{name} {given}".encode()), n, seed])
    x, y = FAMILIES[name].draw(rng, n)
    if not given:
        return MixedData(x, y, None, truth_of(name))
    if given == "number":
        z = rng.standard_normal(n)
        place, shift = (z > 0.0).astype(int), 1.5 * np.sin(1.5 * z)
    else:
        place = rng.integers(3, size=n)
        z, shift = LETTERS[place], 1.5 * place
    return MixedData(moved(x, place, shift), moved(y, place, shift), z, truth_of(name))


def published_sample(task: int, n: int, seed: int) -> MixedData:
    """Draw n rows of one of the nine tasks."""
    return published(task, np.random.default_rng([task, n, seed]), n)


if __name__ == "__main__":
    for name in FAMILIES:
        print(f"{name}: {truth_of(name):.5f} nats")
    for task in PUBLISHED:
        print(f"task {task}: {published_sample(task, 10, 0).truth:.5f} nats")
