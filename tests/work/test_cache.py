"""The cache of fitted units: what is found is what would have been fitted, whatever lies in the folder."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import pydine
from faults import retold
from pydine.units.ladder import LadderSettings, cross_fit_ladder, fit_ladder
from pydine.work import cache as cache_module
from pydine.work.cache import UnitCache, fit_units
from pydine.work.tasks import UnitTask

SETTINGS = LadderSettings(iterations=20)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    context = rng.standard_normal((2, 150))
    return np.sin(2 * context[0]) + 0.3 * rng.standard_normal(150), context


def fitted(cache, target, context, settings):
    return fit_units([UnitTask(target, context, settings)], cache)[0].unit


def same(a, b):
    assert a.rung_weights == b.rung_weights
    assert (a.marginal_weight, a.sign) == (b.marginal_weight, b.sign)
    np.testing.assert_array_equal(a.weights, b.weights)
    for one, other in zip(a.models, b.models, strict=True):
        assert (one.network, one.expansion) == (other.network, other.expansion)
        np.testing.assert_array_equal(one.theta, other.theta)


def test_what_is_found_is_what_was_fitted(data, tmp_path):
    plain = fit_ladder(*data, SETTINGS)
    assert plain.models
    first = UnitCache(tmp_path)
    same(fitted(first, *data, SETTINGS), plain)
    same(fitted(first, *data, SETTINGS), plain)
    assert first.info()[:2] == (1, 1)
    later = UnitCache(tmp_path)  # another process, say
    found = fitted(later, *data, SETTINGS)
    same(found, plain)
    assert later.info()[:2] == (1, 0)
    assert later.info().hit_rate == 1.0
    np.testing.assert_array_equal(found.latent(*data), plain.latent(*data))


def test_the_sign_of_the_target_is_kept(data, tmp_path):
    """Units of a column and of its negative are each other's mirror images, in the folder too."""
    target, context = data
    for column in (target, -target):
        fitted(UnitCache(tmp_path), column, context, SETTINGS)
    up, down = (fitted(UnitCache(tmp_path), column, context, SETTINGS) for column in (target, -target))
    assert {up.sign, down.sign} == {1.0, -1.0}
    np.testing.assert_array_equal(down.latent(-target, context), -up.latent(target, context))


def test_cross_fitted_densities_are_kept_too(data, tmp_path):
    unit, densities = cross_fit_ladder(*data, SETTINGS)
    for cache in (UnitCache(tmp_path), UnitCache(tmp_path)):
        found, found_densities = fit_units([UnitTask(*data, SETTINGS, is_crossed=True)], cache)[0]
        same(found, unit)
        np.testing.assert_array_equal(found_densities, densities)
    assert cache.info()[:2] == (1, 0)


def test_a_unit_without_context_needs_no_place(data):
    cache = UnitCache()
    assert fitted(cache, data[0], data[1][:0], SETTINGS).marginal_weight == 1.0
    assert cache.has(UnitTask(data[0], data[1][:0], SETTINGS))
    assert cache.info()[:3] == (0, 0, 0)


def variations(target, context):
    nudged = context.copy()
    nudged[1, 149] = np.nextafter(nudged[1, 149], 9.0)
    yield target[::-1].copy(), context, SETTINGS
    yield target, nudged, SETTINGS
    yield target, context[::-1].copy(), SETTINGS
    yield target, context[:1], SETTINGS
    yield context[0], np.vstack([target, context[1]]), SETTINGS
    for change in ({"components": 3}, {"networks": 1}, {"weight_decay": 0.5}, {"iterations": 21}, {"folds": 2}):
        yield target, context, replace(SETTINGS, **change)


def test_everything_a_unit_depends_on_is_in_its_name(data):
    """The last bit of one value, the order of the columns, where one array ends, any setting."""
    names = [cache_module.key_of(UnitTask(*data, SETTINGS))]
    names += [cache_module.key_of(UnitTask(*variation)) for variation in variations(*data)]
    names += [cache_module.key_of(UnitTask(*data, SETTINGS, is_crossed=True))]
    assert len(set(names)) == len(names)


def test_the_sources_of_the_engine_are_in_the_name(data, monkeypatch):
    before = cache_module.key_of(UnitTask(*data, SETTINGS))
    monkeypatch.setattr(cache_module, "UNITS_DIGEST", "of another version")
    assert cache_module.key_of(UnitTask(*data, SETTINGS)) != before


def test_memory_has_a_bound(data):
    cache = UnitCache(max_bytes=20_000)
    for decay in range(6):
        fitted(cache, *data, replace(SETTINGS, weight_decay=1.0 + decay))
    assert 1 <= cache.info().entries < 6
    assert cache.info().nbytes <= 20_000
    fitted(cache, *data, replace(SETTINGS, weight_decay=6.0))  # used last, so still there
    assert cache.info().hits == 1
    fitted(cache, *data, replace(SETTINGS, weight_decay=1.0))
    assert cache.info().misses == 7


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("content", [b"", b"junk", pickle.dumps({"a": 1}), None])
def test_a_file_that_is_none_of_ours_is_fitted_again(data, tmp_path, content):
    fitted(UnitCache(tmp_path), *data, SETTINGS)
    (path,) = files_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-40] if content is None else content)
    again = UnitCache(tmp_path)
    same(fitted(again, *data, SETTINGS), fit_ladder(*data, SETTINGS))
    assert again.info()[:2] == (0, 1)
    assert UnitCache(tmp_path).has(UnitTask(*data, SETTINGS))


class Trap:
    """A pickle that would run code."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('code was run')",))


def test_no_code_is_run_from_a_file(data, tmp_path):
    fitted(UnitCache(tmp_path), *data, SETTINGS)
    (path,) = files_of(tmp_path)
    head = np.array([Trap()], dtype=object)
    with path.open("wb") as file:
        np.savez(file, head=head, theta=np.zeros(3), weights=np.ones(1), log_density=np.zeros(0))
    same(fitted(UnitCache(tmp_path), *data, SETTINGS), fit_ladder(*data, SETTINGS))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"float64",0,', '"float64",1000000000,'),
        ('"float64",0,', '"float64",-1,'),
        ('{"function":"identity"}', '{"function":"eval"}'),
        ('"n_context":2', '"n_context":1'),
        ('"n_inputs":0', '"n_inputs":-1'),
        ('["Network",', '["FittedUnit",'),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_fitted_again(data, tmp_path, before, after):
    """Also one that was made up on purpose, with a digest: compiled code is not to read beyond its arrays."""
    fitted(UnitCache(tmp_path), *data, SETTINGS)
    (path,) = files_of(tmp_path)
    path.write_bytes(retold(path.read_bytes(), before, after))
    again = UnitCache(tmp_path)
    same(fitted(again, *data, SETTINGS), fit_ladder(*data, SETTINGS))
    assert again.info()[:2] == (0, 1)


def test_a_model_refuses_a_context_that_it_is_not_of(data, tmp_path):
    fitted(UnitCache(tmp_path), *data, SETTINGS)
    (path,) = files_of(tmp_path)
    path.write_bytes(retold(path.read_bytes(), '{"function":"identity"}', '{"function":"cubic"}'))
    unit = fitted(UnitCache(tmp_path), *data, SETTINGS)
    for ask in (unit.latent, unit.log_density):
        with pytest.raises(ValueError, match="this model is of 2 columns of context, not of 4"):
            ask(*data)


def test_nothing_half_written_is_left(data, tmp_path):
    fitted(UnitCache(tmp_path), *data, SETTINGS)
    assert [path.suffix for path in files_of(tmp_path)] == [".npz"]


def test_results_do_not_depend_on_the_cache(tmp_path):
    rng = np.random.default_rng(1)
    z = rng.standard_normal((200, 2))
    x, y = np.sin(2 * z[:, 0]) + rng.standard_normal((2, 200))
    plain = pydine.mutual_information(x, y, z)
    for _ in range(2):
        assert pydine.mutual_information(x, y, z, cache=tmp_path) == plain
    test = pydine.independence_test(x, y, z, n_permutations=99)
    assert pydine.independence_test(x, y, z, n_permutations=99, cache=str(tmp_path)).pvalue == test.pvalue


def test_bad_caches_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cache must be None, a folder or a pydine\.UnitCache, but got 3"):
        pydine.mutual_information(np.arange(30.0), np.arange(30.0) ** 2, cache=3)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cache must be a folder that can be made"):
        UnitCache(tmp_path / "file")


def test_it_tells_what_it_did(tmp_path):
    assert repr(UnitCache()) == "UnitCache(memory: 0 hits, 0 misses, 0 units and 0 KiB in memory)"
    assert str(tmp_path) in repr(UnitCache(tmp_path))
    assert UnitCache().info().hit_rate == 0.0


class TestCopies:
    @pytest.mark.parametrize("made", [copy.copy, copy.deepcopy])
    def test_a_copy_is_the_cache_itself(self, made):
        cache = UnitCache()
        assert made(cache) is cache
        assert made([cache])[0] is cache

    def test_in_memory_it_is_pickled_empty(self, data):
        cache = UnitCache(max_bytes=12345)
        fitted(cache, *data, SETTINGS)
        arrived = pickle.loads(pickle.dumps(cache))
        assert (arrived.folder, arrived.max_bytes, arrived.info().entries) == (None, 12345, 0)
        fitted(arrived, *data, SETTINGS)
        assert arrived.info().misses == 1

    def test_with_a_folder_it_opens_the_folder_again(self, data, tmp_path):
        cache = UnitCache(tmp_path)
        fitted(cache, *data, SETTINGS)
        arrived = pickle.loads(pickle.dumps(cache))
        same(fitted(arrived, *data, SETTINGS), fit_ladder(*data, SETTINGS))
        assert arrived.info()[:2] == (1, 0)

    def test_where_the_folder_cannot_be_made_it_arrives_all_the_same(self, data, tmp_path):
        state = pickle.dumps(UnitCache(tmp_path / "units"))
        (tmp_path / "units" / "unfinished").parent.rmdir()
        (tmp_path / "units").write_text("")
        arrived = pickle.loads(state)
        with pytest.warns(UserWarning, match="cache: units cannot be written"):
            fitted(arrived, *data, SETTINGS)
