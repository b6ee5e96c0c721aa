"""Columns of any kind for tuning: none of these families is among those that accuracy and coverage are reported on.

python benchmarks/own_mixed.py    prints the truths

X and Y share as much as `PAIRS` say. Given z, both are moved by one-to-one functions that follow z, so that the truth
stays: at a cut anywhere, at several cuts, gradually, or by a label of z (`EFFECTS`); in `SMOOTH` the chances of labels
and the rates of counts follow z gradually.
"""

import one_thread  # noqa: F401

# isort: split

import math
import zlib
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, gammaln, xlogy
from scipy.stats import norm

from mixed_tasks import Column, MixedData, Pair, information

Floats = NDArray[np.float64]
NAMES = np.array(list("pqrstuvw"))
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


# --- pairs: rows, and the truth in nats ---


def sawtooth(rng: Generator, n: int) -> Pair:
    """A label that follows the fractional part of a number, with one row in five at random."""
    x = 3.0 * rng.random(n)
    label = (4.0 * (x % 1.0)).astype(int)
    return x, NAMES[np.where(rng.random(n) < 0.2, rng.integers(4, size=n), label)]


def sawtooth_truth() -> float:
    p = np.array([0.85, 0.05, 0.05, 0.05])
    return math.log(4.0) + float(xlogy(p, p).sum())


def steps(rng: Generator, n: int, spread: float) -> Pair:
    """A number, and its place on a scale of five, seen with noise."""
    x = rng.standard_normal(n)
    return x, np.digitize(x + spread * rng.standard_normal(n), (-1.2, -0.4, 0.4, 1.2)).astype(float)


def steps_truth(spread: float) -> float:
    cuts = np.array([-np.inf, -1.2, -0.4, 0.4, 1.2, np.inf])
    given = np.diff(norm.cdf((cuts - NODES[:, None]) / spread), axis=1)
    whole = WEIGHTS / WEIGHTS.sum() @ given
    return float(WEIGHTS / WEIGHTS.sum() @ xlogy(given, given).sum(axis=1) - xlogy(whole, whole).sum())


def spreads(rng: Generator, n: int) -> Pair:
    """A number whose spread follows one of three labels, not its mean."""
    label = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    return np.array([0.3, 1.0, 3.0])[label] * rng.standard_normal(n), NAMES[label]


def spreads_truth() -> float:
    x, chances, scales = np.linspace(-20.0, 20.0, 200_001), (0.5, 0.3, 0.2), (0.3, 1.0, 3.0)
    each = np.array([p * norm.pdf(x, scale=s) for p, s in zip(chances, scales, strict=True)])
    entropies = sum(
        p * (0.5 * math.log(2.0 * math.pi * math.e) + math.log(s)) for p, s in zip(chances, scales, strict=True)
    )
    whole = each.sum(axis=0)
    return float(-np.trapezoid(xlogy(whole, whole), x) - entropies)


CELLS = np.random.default_rng(11).dirichlet(np.full(20, 0.7)).reshape(4, 5)


def cells(rng: Generator, n: int) -> Pair:
    """A label and a code, by a table of chances."""
    which = rng.choice(20, n, p=CELLS.ravel())
    return NAMES[which // 5], (which % 5).astype(float)


def thinned(rng: Generator, n: int) -> Pair:
    """A count, and how many of it are kept."""
    x = rng.poisson(6.0, n)
    return x.astype(float), rng.binomial(x, 0.5).astype(float)


def thinned_truth() -> float:
    """Both parts of a thinned Poisson count are independent Poisson counts."""
    i, j = np.arange(60)[:, None], np.arange(60)
    kept, left = (np.exp(k * math.log(3.0) - 3.0 - gammaln(k + 1.0)) for k in (j.astype(float), j.astype(float)))
    joint = np.where(i >= j, kept[j] * left[np.clip(i - j, 0, 59)], 0.0)
    return information(joint / joint.sum())


PAIRS: dict[str, tuple[Callable[[Generator, int], Pair], Callable[[], float]]] = {
    "sawtooth and label": (sawtooth, sawtooth_truth),
    "number and five steps": (partial(steps, spread=0.6), partial(steps_truth, 0.6)),
    "spread by label": (spreads, spreads_truth),
    "label and code": (cells, partial(information, CELLS)),
    "count and part of it": (thinned, thinned_truth),
}


# --- effects of z: a place for what is discrete, and a shift for numbers ---


def one_cut(z: Floats) -> tuple[NDArray[np.int_], Floats]:
    return (z > 0.7).astype(int), 2.0 * (z > 0.7)


def three_cuts(z: Floats) -> tuple[NDArray[np.int_], Floats]:
    return np.digitize(z, (-1.0, 0.2, 0.9)), np.sin(2.0 * z)


def gradual(z: Floats) -> tuple[NDArray[np.int_], Floats]:
    """Numbers are moved gradually, and what is discrete is not."""
    return np.zeros(len(z), dtype=int), 1.5 * np.tanh(z) + 0.5 * z * z


EFFECTS = {"one cut": one_cut, "three cuts": three_cuts, "gradual": gradual}


def moved(values: Column, place: NDArray[np.int_], shift: Floats) -> Column:
    """Values mapped by a bijection: labels cyclically, codes and counts upwards, numbers by a shift."""
    if values.dtype.kind == "U":
        levels, codes = np.unique(values, return_inverse=True)
        return levels[(codes + place) % len(levels)]
    return values + (place if len(np.unique(values)) < len(values) / 4 else shift)


# --- smooth: chances and rates follow z ---


def logistic(rng: Generator, n: int) -> MixedData:
    """Yes or no, by a number and gradually by z, which moves the number as well."""
    z, x = rng.standard_normal((2, n))
    y = rng.random(n) < expit(2.0 * x + 1.5 * np.sin(2.0 * z))
    return MixedData(x + np.cos(z), y, z, _over_both(lambda x, z: expit(2.0 * x + 1.5 * np.sin(2.0 * z))))


def rates(rng: Generator, n: int) -> MixedData:
    """A count whose rate follows a number, and gradually z, which moves the number as well."""
    z, x = rng.standard_normal((2, n))
    y = rng.poisson(np.exp(1.0 + 0.5 * x + 0.5 * np.cos(2.0 * z)))
    return MixedData(x + 0.5 * z, y.astype(float), z, _rates_truth())


def three_labels(rng: Generator, n: int) -> MixedData:
    """A label of three, by a number and gradually by z."""
    z, x = rng.standard_normal((2, n))
    chances = _three(x, z)
    label = (rng.random(n) > np.cumsum(chances, axis=1).T).sum(axis=0)
    return MixedData(x * np.exp(0.4 * z), NAMES[label.clip(0, 2)], z, _three_truth())


def _three(x: Floats, z: Floats) -> Floats:
    logits = np.stack([1.5 * x, np.sin(3.0 * z) - x * x, 0.5 * z + 0.0 * x], axis=-1)
    each = np.exp(logits - logits.max(axis=-1, keepdims=True))
    found: Floats = each / each.sum(axis=-1, keepdims=True)
    return found


def _over_both(chance: Callable[[Floats, Floats], Floats]) -> float:
    yes = chance(NODES[:, None], NODES[None])
    return _conditional(np.stack([yes, 1.0 - yes], axis=-1))


def _conditional(given: Floats) -> float:
    """I(X;Y|Z) from chances (x, z, y) at nodes of normal x and z."""
    p = WEIGHTS / WEIGHTS.sum()
    alone = np.einsum("i,ijk->jk", p, given)
    known = np.einsum("i,j,ijk->", p, p, xlogy(given, given))
    return float(known - p @ xlogy(alone, alone).sum(axis=1))


@cache
def _rates_truth() -> float:
    k = np.arange(200.0)
    rate = np.exp(1.0 + 0.5 * NODES[:, None] + 0.5 * np.cos(2.0 * NODES))[..., None]
    return _conditional(np.exp(k * np.log(rate) - rate - gammaln(k + 1.0)))


@cache
def _three_truth() -> float:
    return _conditional(_three(*np.meshgrid(NODES, NODES, indexing="ij")))


SMOOTH = {"logistic": logistic, "rates": rates, "three labels": three_labels}
GIVEN = ("nothing", *EFFECTS, "a label", "two numbers")


@cache
def truth_of(name: str) -> float:
    """The truth of a pair in nats."""
    return PAIRS[name][1]()


def sample(name: str, given: str, n: int, seed: int) -> MixedData:
    """Draw n rows of a pair given z, or of one of `SMOOTH`, whose `given` is its own."""
    rng = np.random.default_rng([zlib.crc32(f"own {name} {given}".encode()), n, seed])
    if name in SMOOTH:
        return SMOOTH[name](rng, n)
    x, y = PAIRS[name][0](rng, n)
    if given == "nothing":
        return MixedData(x, y, None, truth_of(name))
    number, label, other = rng.standard_normal(n), rng.integers(4, size=n), rng.standard_normal(n)
    z: Column | dict[str, Column]
    if given == "a label":
        z, place, shift = NAMES[label], label % 3, 1.2 * label
    elif given == "two numbers":
        z, place, shift = {"first": number, "second": other}, (number + other > 0.5).astype(int), number * other
    else:
        z, (place, shift) = number, EFFECTS[given](number)
    return MixedData(moved(x, place, shift), moved(y, place, shift), z, truth_of(name))


if __name__ == "__main__":
    for pair in PAIRS:
        print(f"{pair}: {truth_of(pair):.5f} nats")
    for smooth in SMOOTH:
        print(f"{smooth}: {sample(smooth, '', 10, 0).truth:.5f} nats")
