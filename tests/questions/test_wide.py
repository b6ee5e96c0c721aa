"""Columns by the ten thousand: the same as all pairs at once, tile by tile, and adjusted over all."""

import tracemalloc

import numpy as np
import pyarrow.parquet as pq
import pytest

import pydine
from cluster_data import GIVEN, columns
from pydine.nulls.blocks import adjusted
from pydine.questions import wide
from pydine.questions.pairs import asked


@pytest.fixture(autouse=True)
def several_tiles(monkeypatch):
    monkeypatch.setattr(wide, "TILE", 7)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    found = rng.standard_normal((200, 30))
    found[:, 1::3] += 0.6 * found[:, ::3]
    found[:, 29] = found[:, 28] ** 2 + 0.2 * rng.standard_normal(200)
    return found


@pytest.mark.parametrize("given", [None, GIVEN])
def test_it_is_all_pairs_with_the_gaussian_base(given, data, monkeypatch):
    monkeypatch.setattr(asked, "MOST_OWN", 0)  # as in a large table
    data = columns() if given else data
    dense = pydine.pairwise_information(data, given, base="gaussian")
    found = pydine.wide_information(data, given, alpha=1.0)
    assert found.names == dense.names
    assert found.n_pairs == found.n_found == len(found) == len(dense.names) * (len(dense.names) - 1) // 2
    pairs = found.first, found.second
    assert (found.first < found.second).all()
    np.testing.assert_allclose(found.values, dense.values[pairs], rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, dense.standard_errors[pairs], rtol=1e-8)
    np.testing.assert_allclose(found.pvalues, dense.pvalues[pairs], rtol=1e-7)
    np.testing.assert_allclose(found.adjusted_pvalues, dense.adjusted_pvalues[pairs], rtol=1e-7)
    assert (np.diff(found.pvalues) >= 0).all()


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.3])
def test_the_p_values_up_to_alpha_decide_what_is_found(data, alpha):
    every = pydine.wide_information(data, alpha=1.0)
    found = pydine.wide_information(data, alpha=alpha)
    expected = adjusted(every.pvalues, "bh")
    assert found.n_found == np.count_nonzero(expected <= alpha) > 0
    np.testing.assert_allclose(found.adjusted_pvalues, expected[expected <= alpha], rtol=1e-12)


def test_the_strongest(data):
    found = pydine.wide_information(data, top=3)
    assert (len(found), found.n_found) == (3, pydine.wide_information(data).n_found)
    assert "depend on each other" in repr(found)
    assert found.columns()["x"][0] == found.names[found.first[0]]


@pytest.mark.parametrize("given", [None, GIVEN])
def test_matrices_on_disk(given, data, tmp_path, monkeypatch):
    monkeypatch.setattr(asked, "MOST_OWN", 0)  # as in a large table
    data = columns() if given else data
    pydine.wide_information(data, given, out=tmp_path / "matrices")
    dense = pydine.pairwise_information(data, given, base="gaussian")
    for name, expected in (("information", dense.values), ("pvalues", dense.pvalues)):
        matrix = np.load(tmp_path / "matrices" / f"{name}.npy", mmap_mode="r")
        np.testing.assert_allclose(matrix, expected, rtol=1e-7, atol=1e-10)


def test_a_parquet_file(data, tmp_path):
    found = pydine.wide_information(data, top=1, out=tmp_path / "pairs.parquet")
    table = pq.read_table(tmp_path / "pairs.parquet")
    assert table.num_rows == found.n_found > 1
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.parquet"]
    assert table.column("x")[0].as_py() == found.names[found.first[0]]
    assert table.column("pvalue")[0].as_py() == found.pvalues[0]


def test_threads_give_the_same_bits(data):
    one, two = (pydine.wide_information(data, n_jobs=n_jobs, alpha=1.0) for n_jobs in (1, 2))
    assert one.values.tobytes() == two.values.tobytes()
    assert one.pvalues.tobytes() == two.pvalues.tobytes()


@pytest.mark.slow
def test_memory_grows_with_columns_and_not_with_pairs(monkeypatch):
    monkeypatch.setattr(wide, "TILE", 64)
    peaks = []
    for p in (500, 1000):
        data = np.random.default_rng(0).standard_normal((40, p))
        pydine.wide_information(data, alpha=1e-6)  # what is kept for the next time
        tracemalloc.start()
        pydine.wide_information(data, alpha=1e-6)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.2 * peaks[0]


def test_columns_that_are_determined_tell_nothing(tmp_path):
    data = columns(6, 200)
    data["same"] = 2.0 * data["z0"]
    found = pydine.wide_information(data, GIVEN, alpha=1.0, out=tmp_path)
    place = found.names.index("same")
    assert place not in found.first
    assert place not in found.second
    assert (np.delete(np.load(tmp_path / "pvalues.npy")[place], place) == 1.0).all()


@pytest.mark.parametrize("alpha", [0.0, 1.5, True, "a"])
def test_alpha_is_checked(data, alpha):
    with pytest.raises(ValueError, match="alpha must be"):
        pydine.wide_information(data, alpha=alpha)
