"""The one registry of methods that experiments and benchmarks compare: a dataset in, nats or a p-value out.

Another of this package's is one more entry in ``OWN_ESTIMATORS`` or ``OWN_TESTS``; other people's come from
`pydine.baselines`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

import pydine
from pydine import baselines
from pydine.baselines import Baseline, distribution
from pydine.baselines.gaussian import oracle
from pydine.experiments.datasets import Dataset
from pydine.experiments.runner import Method, Outcome
from pydine.nulls.moments import BLOCKS, combined
from pydine.results import IndependenceTestResult

PERMUTATIONS = 100  # as in the paper
MORE_PERMUTATIONS = (199, 999)
# Its Algorithm 2.
PAPER_TEST: dict[str, Any] = {"algorithm": "paper", "statistic": "gaussian", "pvalue_formula": "paper"}

# What is compared by default; the slow ones are left out of a quick run.
FAST = {
    "mi": ("dine", "dine-paper", "copula", "ksg"),
    "cmi": ("dine", "dine-paper", "copula", "ksg"),
    "cit": ("dine", "dine-analytic", "dine-paper"),
}
SLOW = {"mi": ("mind", "mine"), "cmi": ("ccmi",), "cit": ("gcm", "rcit", "kcit", "ccit")}

LABELS = {
    "dine": "DINE (this package)",
    "dine-gaussian": "DINE (Gaussian base)",
    "dine-student": "DINE (Student base)",
    "dine-mixture": "DINE (mixture base)",
    "dine-flow": "DINE (flow base)",
    "dine-analytic": "DINE (analytic)",
    "dine-paper": "DINE (as published)",
    "oracle": "oracle",
    "oracle-latents": "oracle (z ignored)",
}


def methods_of(kind: str) -> dict[str, Method]:
    """All methods of an experiment by name: this package's, and peers.

    Parameters
    ----------
    kind : {"mi", "cmi", "cit"}

    Returns
    -------
    dict
        Estimators of I(X;Y) or of I(X;Y|Z), among them an oracle that is given the true latents, or tests of
        conditional independence.
    """
    own = OWN_TESTS if kind == "cit" else OWN_ESTIMATORS
    return {**own, **{name: partial(_peer, peer) for name, peer in peers(kind).items()}}


def foreign(names: Iterable[str]) -> frozenset[str]:
    """The methods whose rows do not depend on this package's code: peers, and closed forms of the true latents."""
    return frozenset(name for name in names if not name.startswith("dine"))


def peers(kind: str) -> dict[str, Baseline]:
    """Other people's methods of an experiment, by the name that they have in it."""
    if kind == "cit":
        return dict(baselines.TESTS)
    able = {name: peer for name, peer in baselines.ESTIMATORS.items() if kind == "mi" or peer.given_z}
    return {"copula": able.pop("gaussian_copula"), **able}


def usual_methods(kind: str, *, quick: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The methods that are compared by default and can be run here, and notes about those that are left out."""
    others = peers(kind)
    chosen = FAST[kind] if quick else FAST[kind] + SLOW[kind]
    missing = {name: others[name] for name in FAST[kind] + SLOW[kind] if name in others and not others[name].available}
    notes = [needed(*missing.values())] if missing else []
    if quick and (slow := [name for name in SLOW[kind] if name not in missing]):
        notes.append(f"Left out of a quick run: {', '.join(slow)}; to run them, name them in methods.")
    return tuple(name for name in chosen if name not in missing), tuple(notes)


def needed(*missing: Baseline) -> str:
    """What to install for methods that cannot be run."""
    titles = " and ".join(peer.title for peer in missing)
    names = list(dict.fromkeys(package for peer in missing for package in peer.packages))
    packages, installed = " and ".join(names), " ".join(map(distribution, names))
    return f"{titles} need{'s' * (len(missing) == 1)} {packages}; install with: pip install {installed}"


def label(method: str) -> str:
    """What a method is called in a figure."""
    others = {**peers("mi"), **peers("cit")}
    return others[method].title if method in others else LABELS.get(method, method)


def combined_pvalue(result: IndependenceTestResult) -> float:
    """The analytic p-value of a test's fit, which has no ties, whatever its method was."""
    blocks = np.array([result.block_pvalues.get(block, 1.0) for block in BLOCKS])
    return float(combined(result.kind, blocks, has_z=BLOCKS[-1] in result.block_pvalues))


def _estimate(data: Dataset, base: str = "auto") -> Outcome:
    estimate = pydine.mutual_information(data.x, data.y, data.z, base=base, random_state=data.seed, n_jobs=1)
    interval = estimate.confidence_interval(0.95)
    return Outcome(estimate.value, interval.low, interval.high)


def _paper_estimate(data: Dataset) -> Outcome:
    return Outcome(pydine.DINE.paper(random_state=data.seed).fit(data.x, data.y, data.z).information_.value)


def _oracle(data: Dataset) -> Outcome:
    # z projected out: what an estimator is left with that is safe against a linear effect of z
    return Outcome(oracle(data.latent_x, data.latent_y, data.z))


def _oracle_without_z(data: Dataset) -> Outcome:
    return Outcome(oracle(data.latent_x, data.latent_y))


def _test(data: Dataset, **options: Any) -> Outcome:
    result = pydine.independence_test(data.x, data.y, data.z, random_state=data.seed, n_jobs=1, **options)
    return Outcome(result.pvalue, score=combined_pvalue(result))


def _peer(peer: Baseline, data: Dataset) -> Outcome:
    return Outcome(peer(data.x, data.y, data.z, random_state=data.seed))


OWN_ESTIMATORS: dict[str, Method] = {
    "dine": _estimate,
    "dine-gaussian": partial(_estimate, base="gaussian"),
    "dine-student": partial(_estimate, base="student"),
    "dine-mixture": partial(_estimate, base="mixture"),
    "dine-flow": partial(_estimate, base="flow"),
    "dine-paper": _paper_estimate,
    "oracle": _oracle,
    "oracle-latents": _oracle_without_z,
}

OWN_TESTS: dict[str, Method] = {
    "dine": partial(_test, n_permutations=PERMUTATIONS),
    **{f"dine-{count}": partial(_test, n_permutations=count) for count in MORE_PERMUTATIONS},
    "dine-analytic": partial(_test, method="analytic"),
    "dine-paper": partial(_test, n_permutations=PERMUTATIONS, **PAPER_TEST),
}
