"""One call for every competitor: what it accepts, what it refuses, and that it leaves nothing behind."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pydine import baselines
from pydine.baselines.gaussian import gaussian_copula
from pydine.baselines.ksg import ksg

EVERY = baselines.ESTIMATORS | baselines.TESTS


def sample(n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, e, z = np.random.default_rng(0).standard_normal((3, n))
    return x, 0.8 * x + 0.6 * e, z


def test_names_are_keys() -> None:
    assert all(name == baseline.name for name, baseline in EVERY.items())
    assert len(EVERY) == len(baselines.ESTIMATORS) + len(baselines.TESTS)
    assert len({baseline.title for baseline in EVERY.values()}) == len(EVERY)
    assert all(baseline.citation for baseline in EVERY.values())


def test_competitors_of_the_paper_are_there() -> None:
    assert {"mine", "mind", "ccmi", "ksg", "gaussian_copula"} <= set(baselines.ESTIMATORS)
    assert {"kcit", "ccit"} <= set(baselines.TESTS)


@pytest.mark.parametrize("name", EVERY)
def test_every_function_is_found(name: str) -> None:
    if baselines.available(name):
        assert callable(EVERY[name]._load())


def test_asking_imports_nothing_heavy() -> None:
    code = (
        "import sys; from pydine import baselines\n"
        "[baselines.available(name) for name in baselines.ESTIMATORS | baselines.TESTS]\n"
        "print(*{'jax', 'causallearn', 'pydine.baselines.mind'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize(("name", "package"), [("mine", "jax"), ("ccmi", "jax"), ("kcit", "causallearn")])
def test_missing_package(monkeypatch: pytest.MonkeyPatch, name: str, package: str) -> None:
    monkeypatch.setattr(baselines, "find_spec", lambda wanted: None if wanted == package else object())
    assert not baselines.available(name)
    assert baselines.available("mind")
    with pytest.raises(ImportError, match=rf"needs {package}: pip install "):
        EVERY[name](*sample()[:2])


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"name must be one of gaussian_copula, ksg, .*, but got 'kcit'"):
        baselines.estimate("kcit", *sample())
    with pytest.raises(ValueError, match=r"name must be one of kcit, .*, but got 'ksg'"):
        baselines.test("ksg", *sample())


@pytest.mark.parametrize("name", [name for name, a in baselines.ESTIMATORS.items() if not a.given_z])
def test_z_where_there_can_be_none(name: str) -> None:
    with pytest.raises(
        ValueError, match=r"z must be None for .* alone; use gaussian_copula, ksg, mixed_neighbours, ccmi"
    ):
        baselines.estimate(name, *sample())


@pytest.mark.parametrize("name", EVERY)
def test_bad_rows_are_refused_in_one_place(name: str) -> None:
    x, y, _ = sample()
    with pytest.raises(ValueError, match="y must hold finite numbers"):
        EVERY[name](x, np.where(y > 1, np.nan, y))


def test_inputs_and_options() -> None:
    x, y, z = sample()
    assert baselines.estimate("ksg", x, y, z, k=5) == ksg(x, y, z, k=5)
    assert baselines.estimate("gaussian_copula", pd.Series(x), list(y), pd.DataFrame({"z": z})) == gaussian_copula(
        x, y, z
    )
    assert baselines.estimate("ksg", x, y, np.empty((200, 0))) == ksg(x, y)


@pytest.mark.parametrize("name", ["mind", "ccit", "gcm", "rcit", "kcit", "fisher_z"])
def test_same_seed_same_number_and_no_global_state(name: str) -> None:
    if not baselines.available(name):
        pytest.skip(f"{name} is not installed")
    x, y, z = sample(80)
    given = (x, y) if name == "mind" else (x, y, z)
    values = []
    for state in (5, 6):
        np.random.seed(state)  # noqa: NPY002
        values.append(EVERY[name](*given, random_state=3))
        after = np.random.random()  # noqa: NPY002
        np.random.seed(state)  # noqa: NPY002
        assert np.random.random() == after  # noqa: NPY002
    assert values[0] == values[1]


@pytest.mark.parametrize("name", ["mind", "rcit"])
def test_another_seed_another_number(name: str) -> None:
    if not baselines.available(name):
        pytest.skip(f"{name} is not installed")
    x, _, z = sample(80)
    assert EVERY[name](x, z, random_state=3) != EVERY[name](x, z, random_state=4)
