"""The cache of units on disks and with files that fail: a result always comes, and it is the same."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import pydine
from faults import files_of, flips, full_disk, retold
from pydine.disk import UNFINISHED
from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.work import cache as cache_module
from pydine.work.cache import UnitCache, fit_units
from pydine.work.tasks import UnitTask, fit_task

SETTINGS = LadderSettings(iterations=20)


def fitted(cache, data):
    return fit_units([UnitTask(*data, SETTINGS)], cache)[0].unit


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    context = rng.standard_normal((2, 100))
    return np.sin(2 * context[0]) + 0.3 * rng.standard_normal(100), context


def thetas(unit):
    return np.concatenate([model.theta for model in unit.models])


def test_a_full_disk_costs_the_file_and_not_the_fit(data, tmp_path):
    cache = UnitCache(tmp_path)
    with full_disk(100), pytest.warns(UserWarning, match=r"cache: units cannot be written .*results are the same"):
        unit = fitted(cache, data)
    np.testing.assert_array_equal(thetas(unit), thetas(fit_ladder(*data, SETTINGS)))
    assert cache.info().unwritten == 1
    assert files_of(tmp_path) == []
    assert fitted(cache, data) is unit  # from memory


def test_also_where_warnings_are_errors(data, tmp_path):
    with full_disk(100), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted(UnitCache(tmp_path), data).models


@pytest.mark.parametrize("what", ["file", "unfinished"])
def test_a_folder_that_cannot_be_written(data, tmp_path, what):
    """A file stands where a folder would be made, which stops root too."""
    key = cache_module.key_of(UnitTask(*data, SETTINGS))
    (tmp_path / (key[:2] if what == "file" else cache_module.UNFINISHED)).write_text("")
    with pytest.warns(UserWarning, match="cache: units cannot be written"):
        assert fitted(UnitCache(tmp_path), data).models


def test_flipped_bits_are_missing_units(data, tmp_path):
    """Whichever bit it is: a digest of the whole file is the first that is looked at."""
    fitted(UnitCache(tmp_path), data)
    (path,) = files_of(tmp_path)
    whole, task = path.read_bytes(), UnitTask(*data, SETTINGS)
    for content in (*flips(whole, 300), whole[:-1], whole + b"\0"):
        path.write_bytes(content)
        assert cache_module._read(path, task) is None
    path.write_bytes(whole)
    assert cache_module._read(path, task) is not None


@pytest.mark.parametrize("what", ["other columns", "other rows", "not a number", "named twice", "a list", "no models"])
def test_planted_units_are_missing_units(data, tmp_path, what):
    """With a digest that agrees: the unit is fitted, as if there were no file."""
    other = {"other columns": UnitTask(data[0], data[1][:1], SETTINGS)}
    other["other rows"] = UnitTask(data[0][:60], data[1][:, :60], SETTINGS, True)
    entry = fit_task(other.get(what, UnitTask(*data, SETTINGS, is_crossed=True)))
    planted = entry
    if what == "not a number":
        planted = entry._replace(log_density=np.full(100, np.nan))
    elif what == "named twice":
        planted = [entry] * 1000
    elif what == "a list":
        planted = [1, 2.0, entry.log_density]
    content = cache_module.UNIT.to_bytes(planted)
    if what == "no models":
        content = retold(content, '"models"', '"sampled"')
    task = UnitTask(*data, SETTINGS, is_crossed=True)
    path = UnitCache(tmp_path)._path(cache_module.key_of(task))
    path.parent.mkdir()
    path.write_bytes(content)
    cache = UnitCache(tmp_path)
    found = fit_units([task], cache)[0]
    assert (cache.info().hits, np.isfinite(found.log_density).all()) == (0, True)
    np.testing.assert_array_equal(thetas(found.unit), thetas(fit_task(task).unit))


def test_what_a_killed_writer_left_is_swept(data, tmp_path):
    fitted(UnitCache(tmp_path), data)
    left = tmp_path / cache_module.UNFINISHED / f"{UNFINISHED}0123"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    UnitCache(tmp_path)
    assert [path.suffix for path in files_of(tmp_path)] == [".npz"]


@pytest.mark.parametrize("max_bytes", [-1, 1.5, float("nan"), "1 GB", None, True])
def test_odd_bounds_are_refused(max_bytes):
    with pytest.raises(ValueError, match=r"max_bytes must be a whole number of bytes, 0 or more, but got "):
        UnitCache(max_bytes=max_bytes)


def test_bounds_of_numpy_are_taken():
    assert UnitCache(max_bytes=np.int64(0)).max_bytes == 0


def test_eight_threads_on_one_cache(data, tmp_path):
    cache, units = UnitCache(tmp_path), [None] * 8

    def work(i):
        units[i] = fitted(cache, data)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for unit in units:
        np.testing.assert_array_equal(thetas(unit), thetas(fit_ladder(*data, SETTINGS)))
    assert [path.suffix for path in files_of(tmp_path)] == [".npz"]


ASK = (
    "import sys, numpy as np, pydine\n"
    "x, y, z = np.random.default_rng(0).standard_normal((3, 150))\n"
    "print(repr(pydine.mutual_information(x + z, y + z, z, cache=sys.argv[1]).value))"
)


@pytest.mark.slow
def test_two_processes_on_one_folder(tmp_path):
    x, y, z = np.random.default_rng(0).standard_normal((3, 150))
    expected = pydine.mutual_information(x + z, y + z, z).value
    command = [sys.executable, "-c", ASK, str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [float(process.communicate()[0]) for process in both] == [expected, expected]
    assert {path.suffix for path in files_of(tmp_path)} == {".npz"}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_begin_after_use(method, tmp_path):
    """The lock, the threads and the compiled code of the parent are of no harm to its children."""
    code = (
        "import multiprocessing, warnings, numpy as np, pydine\n"
        "def ask(seed):\n"
        "    x, y, z = np.random.default_rng(seed).standard_normal((3, 100))\n"
        "    return pydine.mutual_information(x, y, z, n_jobs=2).value\n"
        "if __name__ == '__main__':\n"
        "    warnings.simplefilter('ignore')\n"
        "    here = [ask(seed) for seed in range(2)]\n"
        f"    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n"
        "        there = pool.map_async(ask, range(2)).get(timeout=120)\n"
        "    print(here == there)"
    )
    (tmp_path / "ask.py").write_text(code)
    script = subprocess.run([sys.executable, str(tmp_path / "ask.py")], capture_output=True, text=True, check=False)
    assert script.stdout.strip() == "True", script.stderr
