"""Other estimators and tests of the same quantities behind the same call: samples in, nats or a p-value out.

``estimate("mine", x, y)`` and ``test("kcit", x, y, z)`` read their arguments as :func:`pydine.mutual_information`
does. What needs a package beyond the core's is imported when it is called.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydine.inputs.reading import read_question

__all__ = ["ESTIMATORS", "TESTS", "Baseline", "available", "estimate", "test"]


def distribution(package: str) -> str:
    """What a package is called where it is installed from."""
    return {"causallearn": "causal-learn"}.get(package, package)


@dataclass(frozen=True)
class Baseline:
    """One competitor.

    Attributes
    ----------
    name
        What it goes by in :func:`estimate` or :func:`test`.
    title
        What it goes by in tables.
    citation
        Where it was published.
    function
        Where it is implemented, ``"module:function"`` under ``pydine.baselines``.
    packages
        Importable packages that it needs beyond those of pydine itself.
    given_z
        Whether it can condition on a z.
    seeded
        Whether it draws random numbers.
    """

    name: str
    title: str
    citation: str
    function: str
    packages: tuple[str, ...] = ()
    given_z: bool = True
    seeded: bool = True

    @property
    def available(self) -> bool:
        """Whether the packages it needs are installed; nothing is imported to find out."""
        return all(find_spec(package) is not None for package in self.packages)

    def __call__(self, x: Any, y: Any, z: Any = None, *, random_state: int = 0, **options: Any) -> float:
        """Estimate or test, as :func:`estimate` and :func:`test` do."""
        *arguments, given = read_question(x, y, z).values()
        if given.shape[1]:
            if not self.given_z:
                able = ", ".join(name for name, other in ESTIMATORS.items() if other.given_z)
                raise ValueError(f"z must be None for {self.title}, which estimates I(X;Y) alone; use {able}.")
            arguments.append(given)
        if self.seeded:
            options["random_state"] = random_state
        return float(self._load()(*arguments, **options))

    def _load(self) -> Any:
        if not self.available:
            missing = " and ".join(package for package in self.packages if find_spec(package) is None)
            raise ImportError(f"{self.title} needs {missing}: pip install {' '.join(map(distribution, self.packages))}")
        module, function = self.function.split(":")
        return getattr(import_module(f"{__name__}.{module}"), function)


def _by_name(*baselines: Baseline) -> dict[str, Baseline]:
    return {baseline.name: baseline for baseline in baselines}


ESTIMATORS: dict[str, Baseline] = _by_name(
    Baseline(
        "gaussian_copula",
        "Gaussian copula",
        "Normal scores of ranks and the Gaussian closed form without its bias",
        "gaussian:gaussian_copula",
        seeded=False,
    ),
    Baseline(
        "ksg",
        "KSG",
        "Kraskov, Stögbauer and Grassberger (2004); given Z, Frenzel and Pompe (2007)",
        "ksg:ksg",
        seeded=False,
    ),
    Baseline(
        "mixed_neighbours",
        "mixed neighbours",
        "Mesner and Shalizi (2020)",
        "mixed_neighbours:mixed_neighbours",
        seeded=False,
    ),
    Baseline("mine", "MINE", "Belghazi et al. (2018)", "neural:mine", ("jax",), given_z=False),
    Baseline("dv", "DV", "Donsker and Varadhan (1983)", "neural:donsker_varadhan", ("jax",), given_z=False),
    Baseline("nwj", "NWJ", "Nguyen, Wainwright and Jordan (2010)", "neural:nwj", ("jax",), given_z=False),
    Baseline("infonce", "InfoNCE", "van den Oord, Li and Vinyals (2018)", "neural:infonce", ("jax",), given_z=False),
    Baseline("mind", "MIND", "Kom Samo (2021)", "mind:mind", given_z=False),
    Baseline("ccmi", "CCMI", "Mukherjee, Asnani and Kannan (2020)", "ccmi:ccmi", ("jax",)),
)

TESTS: dict[str, Baseline] = _by_name(
    Baseline("kcit", "KCIT", "Zhang et al. (2011)", "kernels:kcit", ("causallearn",), seeded=False),
    Baseline("rcit", "RCIT", "Strobl, Zhang and Visweswaran (2019)", "kernels:rcit", ("causallearn",)),
    Baseline("ccit", "CCIT", "Sen et al. (2017)", "ccit:ccit"),
    Baseline("gcm", "GCM", "Shah and Peters (2020)", "gcm:gcm"),
    Baseline("fisher_z", "Fisher z", "Fisher (1924)", "kernels:fisher_z", ("causallearn",), seeded=False),
)


def available(name: str) -> bool:
    """Whether the packages that an estimator or a test needs are installed; nothing is imported to find out."""
    return _find(name, ESTIMATORS | TESTS).available


def estimate(name: str, x: Any, y: Any, z: Any = None, *, random_state: int = 0, **options: Any) -> float:
    """Estimate I(X;Y), or I(X;Y|Z), by one of ``ESTIMATORS``.

    Parameters
    ----------
    name
        Which: a key of ``ESTIMATORS``.
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy): arrays, lists, columns or frames.
    z
        Samples of the conditioning variable, shape (n,) or (n, dz). Not every estimator takes one.
    random_state
        Seed; the same seed gives the same number. Of no effect where nothing is drawn.
    **options
        Further arguments of the estimator's own function, e.g. ``k`` of KSG.

    Returns
    -------
    float
        Information in nats.
    """
    return _find(name, ESTIMATORS)(x, y, z, random_state=random_state, **options)


def test(name: str, x: Any, y: Any, z: Any = None, *, random_state: int = 0, **options: Any) -> float:  # noqa: PT028
    """Test independence of X and Y, or given Z, by one of ``TESTS``.

    Arguments as in :func:`estimate`; returns a p-value, which is never 0.
    """
    return _find(name, TESTS)(x, y, z, random_state=random_state, **options)


# A name that pytest collects wherever it is imported, unless told.
test.__test__ = False  # type: ignore[attr-defined]


def _find(name: str, baselines: dict[str, Baseline]) -> Baseline:
    if name not in baselines:
        raise ValueError(f"name must be one of {', '.join(baselines)}, but got {name!r}.")
    return baselines[name]
