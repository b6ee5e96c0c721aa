"""Questions about tables beyond memory: what all rows say, by flows that a sample has taught."""

import tracemalloc

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pydine
from pydine.inputs import streams

Z = ["z0", "z1"]


def rows(n):
    rng = np.random.default_rng(1)
    z, u = rng.standard_normal((2, n)), rng.standard_normal(n)
    x = np.sin(z[0]) + z[1] + rng.standard_normal(n)
    y = 0.3 * x + 0.5 * z[1] ** 2 + rng.standard_normal(n)
    return pa.table({"x": x, "y": y, "z0": z[0], "z1": z[1], "u": u})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(rows(20_000), path, row_group_size=3000)
    return path


@pytest.fixture
def streamed(monkeypatch):
    """A quarter of the rows is the sample."""
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 5000)
    monkeypatch.setattr(streams, "BATCH_ROWS", 2000)


@pytest.mark.slow
def test_few_rows_are_read_as_they_are(path):
    here, there = (pydine.mutual_information("x", "y", Z, data=data) for data in (pq.read_table(path), path))
    assert (there.value, there.standard_error, there.n_samples) == (here.value, here.standard_error, 20_000)


@pytest.mark.slow
def test_information_of_all_rows(path, streamed):
    here = pydine.mutual_information("x", "y", Z, data=pq.read_table(path))
    there = pydine.mutual_information("x", "y", Z, data=str(path))
    assert abs(there.value - here.value) < 0.1 * here.standard_error
    assert there.standard_error == pytest.approx(here.standard_error, rel=0.02)
    assert there.n_samples == 20_000
    assert there.details["sample_rows"] == 5000


@pytest.mark.slow
def test_the_test_of_all_rows(path, streamed):
    here = pydine.independence_test("x", "u", Z, data=pq.read_table(path), method="analytic")
    there = pydine.independence_test("x", "u", Z, data=path, method="analytic")
    assert np.abs(np.log(there.pvalue / here.pvalue)) < 1.0
    assert pydine.independence_test("x", "y", Z, data=path, method="analytic").pvalue < 1e-100
    with pytest.raises(ValueError, match="method='permutation' needs all rows in memory"):
        pydine.independence_test("x", "u", Z, data=path, method="permutation")


@pytest.mark.slow
def test_all_pairs_of_all_rows(path, streamed):
    here = pydine.pairwise_information(pq.read_table(path), given=Z)
    there = pydine.pairwise_information(pl.scan_parquet(path), given=Z)
    assert there.names == here.names
    assert np.nanmax(np.abs(there.values - here.values) / here.standard_errors) < 0.2
    assert np.abs(np.log(there.pvalues[0, 2] / here.pvalues[0, 2])) < 1.5  # flows from a quarter of the rows
    with pytest.raises(ValueError, match="given='rest' needs all rows in memory"):
        pydine.pairwise_information(path, given="rest")


@pytest.mark.slow
def test_sides_of_several_columns(path, streamed):
    here = pydine.mutual_information(["x", "u"], "y", "z0", data=pq.read_table(path), base="gaussian")
    there = pydine.mutual_information(["x", "u"], "y", "z0", data=path, base="gaussian")
    assert abs(there.value - here.value) < 0.2 * here.standard_error


def test_names_that_are_not_there(path):
    with pytest.raises(ValueError, match="asks for the column 'nothing'"):
        pydine.mutual_information("x", "nothing", data=path)


def test_memory_does_not_grow_with_the_table(tmp_path, monkeypatch):
    """Arrow's memory is not traced; NumPy's is, and four times the rows must not need more of it."""
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 2000)
    monkeypatch.setattr(streams, "BATCH_ROWS", 2000)
    peaks = []
    for n in (40_000, 160_000):
        pq.write_table(rows(n), tmp_path / "rows.parquet", row_group_size=2000)
        tracemalloc.start()
        pydine.mutual_information("x", "y", data=tmp_path / "rows.parquet", base="gaussian")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 2**20
