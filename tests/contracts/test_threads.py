"""Eight threads, and processes that are sent a model and a cache: the same numbers."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import pydine

THREADS = 8


def asked(seed):
    x, y, z = np.random.default_rng(seed).standard_normal((3, 60))
    return x + z, y + z + 0.5 * x, z


def at_once(call):
    """What each of eight threads gets that begin together."""
    barrier = Barrier(THREADS)

    def work(i):
        barrier.wait()
        return call(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


@pytest.mark.slow
def test_questions(tmp_path):
    """Two different ones, with a cache that all share and without."""
    expected = [pydine.mutual_information(*asked(i % 2)) for i in range(THREADS)]
    for cache in (None, pydine.UnitCache(tmp_path)):
        assert at_once(lambda i, cache=cache: pydine.mutual_information(*asked(i % 2), cache=cache)) == expected


def test_a_fitted_model(tmp_path):
    model, new = pydine.DINE().fit(*asked(0)), asked(2)
    expected = model.pointwise(*new).tobytes(), model.score(*new)
    assert set(at_once(lambda _: (model.pointwise(*new).tobytes(), model.score(*new)))) == {expected}
    at_once(lambda _: model.save(tmp_path / "model.npz"))
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    assert set(at_once(lambda _: pydine.DINE.load(tmp_path / "model.npz").score(*new))) == {expected[1]}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_are_sent_a_model_and_a_cache(method, tmp_path):
    code = (
        "import multiprocessing, numpy as np, pydine\n"
        "def ask(model, cache):\n"
        "    x, y = np.random.default_rng(1).standard_normal((2, 50))\n"
        "    z = x[::-1].copy()\n"
        "    return model.score(x, y), pydine.mutual_information(x, y, z, base='gaussian', cache=cache).value\n"
        "if __name__ == '__main__':\n"
        "    x, y = np.random.default_rng(0).standard_normal((2, 50))\n"
        "    model, caches = pydine.DINE().fit(x, y), [pydine.UnitCache(), pydine.UnitCache('units')]\n"
        "    here = [ask(model, cache) for cache in caches]\n"
        f"    with multiprocessing.get_context({method!r}).Pool(1) as pool:\n"
        "        there = pool.starmap_async(ask, [(model, cache) for cache in caches]).get(timeout=120)\n"
        "    print(here == there)"
    )
    (tmp_path / "ask.py").write_text(code)
    command = [sys.executable, str(tmp_path / "ask.py")]
    script = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert script.stdout.strip() == "True", script.stderr
