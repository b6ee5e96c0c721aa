"""Columns by the ten thousand: the same as all pairs at once, tile by tile, and adjusted over all."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pydine
from cluster_data import GIVEN, columns
from pydine.nulls.pvalues import adjusted
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
    assert "Dependence detected in" in repr(found)
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


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5, 1.0])
def test_pairs_that_are_forgotten_on_the_way_are_not_found_in_the_end(data, alpha, monkeypatch):
    whole = pydine.wide_information(data, alpha=alpha)
    monkeypatch.setattr(wide, "FEWEST_FORGOTTEN", 1)
    found = pydine.wide_information(data, alpha=alpha)
    assert found.n_found == whole.n_found > 0
    np.testing.assert_array_equal(found.first, whole.first)
    np.testing.assert_array_equal(found.adjusted_pvalues, whole.adjusted_pvalues)


def test_few_pairs_are_kept_at_once(monkeypatch):
    rng, kept = np.random.default_rng(1), []
    add = wide._Found.add

    def counted(found, tile):
        add(found, tile)
        kept.append(found._size)

    monkeypatch.setattr(wide, "FEWEST_FORGOTTEN", 50)
    monkeypatch.setattr(wide._Found, "add", counted)
    monkeypatch.setattr(wide, "TILE", 20)
    found = pydine.wide_information(rng.standard_normal((60, 200)), alpha=0.2)
    assert max(kept) < 0.6 * 0.2 * found.n_pairs


def test_a_threshold_in_nats(data, tmp_path):
    every = pydine.wide_information(data)
    found = pydine.wide_information(data, threshold=0.15, top=2, out=tmp_path / "pairs.parquet")
    strong = every.values >= 0.15
    assert 2 < found.n_found == strong.sum() < every.n_found
    np.testing.assert_array_equal(found.values, every.values[strong][:2])
    assert pq.read_table(tmp_path / "pairs.parquet").num_rows == found.n_found
    with pytest.raises(ValueError, match="threshold must be a number of nats"):
        pydine.wide_information(data, threshold=-1.0)


def test_a_file_of_several_groups(data, tmp_path, monkeypatch):
    monkeypatch.setattr(wide, "ROWS_OF_A_GROUP", 10)
    found = pydine.wide_information(data, alpha=0.5, out=tmp_path / "pairs.parquet")
    file = pq.ParquetFile(tmp_path / "pairs.parquet")
    assert file.num_row_groups == -(-found.n_found // 10) > 1
    assert file.read().column("pvalue").to_pylist() == found.pvalues.tolist()


def test_a_table_on_disk(data, tmp_path, monkeypatch):
    frame = pa.table({f"c{i}": column for i, column in enumerate(data.T)})
    pq.write_table(frame, tmp_path / "table.parquet")
    here, there = (pydine.wide_information(source) for source in (frame, tmp_path / "table.parquet"))
    assert here.columns() == there.columns()
    monkeypatch.setattr(wide, "SAMPLE_BYTES", 8 * 30 * 100)
    with pytest.warns(pydine.SampledWarning, match="the pairs rest on a random sample of 100 of 200 rows"):
        assert pydine.wide_information(tmp_path / "table.parquet").n_samples == 100


def test_labels_are_refused_and_counts_compared_by_rank(data):
    rng = np.random.default_rng(2)
    frame = pa.table({"a": data[:, 0], "count": rng.integers(0, 4, 200), "yes": data[:, 0] > 0.0})
    found = pydine.wide_information(frame)
    assert [(found.names[i], found.names[j]) for i, j in zip(found.first, found.second, strict=True)] == [("a", "yes")]
    words = frame.append_column("word", pa.array(np.array(list("abc"))[rng.integers(0, 3, 200)]))
    with pytest.raises(ValueError, match="compares continuous and ordinal columns, but 'word' is nominal; leave"):
        pydine.wide_information(words)
    with pytest.raises(ValueError, match="but 'count' and 1 others are nominal"):
        pydine.wide_information(words, kinds={"count": "nominal"})


def test_matrices_that_are_not_whole_have_no_name(data, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(wide._Matrices, "put", fail)
    with pytest.raises(OSError, match="full"):
        pydine.wide_information(data, out=tmp_path)
    assert not list(tmp_path.glob("[!.]*.npy"))
