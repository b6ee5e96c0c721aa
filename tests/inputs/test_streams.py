"""Tables beyond memory: a uniform sample that does not depend on the layout of files, and all rows."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from pydine.inputs import streams
from pydine.inputs.streams import Sample, stream_of

NAMES = ("a", "b")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table({"a": rng.standard_normal(3000), "b": np.arange(3000), "label": ["x"] * 3000})


def forms(table, folder):
    (folder / "parts").mkdir()
    pq.write_table(table, folder / "whole.parquet")
    pq.write_table(table, folder / "groups.parquet", row_group_size=77)
    for i in range(3):
        pq.write_table(table.slice(1000 * i, 1000), folder / "parts" / f"{i}.parquet")
    feather.write_feather(table, folder / "whole.feather", compression="uncompressed")
    yield from (folder / "whole.parquet", str(folder / "groups.parquet"), folder / "parts", folder / "whole.feather")
    yield pds.dataset(folder / "parts")
    yield pl.scan_parquet(folder / "groups.parquet")
    yield pl.from_arrow(table).lazy()


def test_the_sample_is_the_same_whatever_holds_the_rows(table, tmp_path):
    samples = [Sample.draw(stream_of(form), NAMES, omit=False, most=100) for form in forms(table, tmp_path)]
    assert len(samples) == 7
    first = samples[0].columns
    assert len(first["a"]) == 100
    for sample in samples:
        assert (sample.n_rows, sample.n_dropped, sample.is_whole) == (3000, 0, False)
        for name in NAMES:
            np.testing.assert_array_equal(sample.columns[name], first[name])
        np.testing.assert_array_equal(np.concatenate(list(sample.all_rows()))[:, 0], table["a"].to_numpy())


@pytest.mark.parametrize("n", [0, 1, 5000, 300_000])
def test_the_sample_is_uniform_over_the_table(n, monkeypatch):
    monkeypatch.setattr(streams, "BATCH_ROWS", 1000)

    class Counting:
        names = ("place",)

        def batches(self, columns):
            for start in range(0, n, 1000):
                yield np.arange(start, min(n, start + 1000), dtype=float)[:, None]

    places = Sample.draw(Counting(), ("place",), omit=False, most=2000).columns["place"]
    assert len(places) == min(n, 2000)
    assert (np.diff(places) > 0).all()
    if n > 2000:  # each tenth of the table has its share, by five standard errors
        counts = np.histogram(places, 10, (0, n))[0]
        assert np.abs(counts - 200).max() < 5 * np.sqrt(180)


def test_few_rows_are_all_there_in_their_order(table, tmp_path):
    sample = Sample.draw(stream_of(next(forms(table, tmp_path))), NAMES, omit=False)
    assert sample.is_whole
    np.testing.assert_array_equal(sample.columns["a"], table["a"].to_numpy())


def test_rows_that_are_not_complete(tmp_path):
    pq.write_table(pa.table({"a": [1.0, None, 3.0, float("inf")], "b": [1, 2, None, 4]}), tmp_path / "t.parquet")
    stream = stream_of(tmp_path / "t.parquet")
    sample = Sample.draw(stream, NAMES, omit=True)
    assert (sample.n_rows, sample.n_dropped) == (1, 3)
    with pytest.raises(ValueError, match=r"row 1 holds NaN, infinity or nothing .* nan_policy='omit'"):
        Sample.draw(stream, NAMES, omit=False)


def test_only_numbers(table, tmp_path):
    with pytest.raises(ValueError, match="'label' must hold real numbers, but holds string"):
        Sample.draw(stream_of(next(forms(table, tmp_path))), ("a", "label"), omit=False)


@pytest.mark.parametrize("path", ["nothing.parquet", "table.xlsx"])
def test_a_path_that_is_no_table(path):
    with pytest.raises(ValueError, match="data must be a frame"):
        stream_of(path)


@pytest.mark.parametrize("data", [{"a": [1.0]}, np.ones((3, 2)), pl.DataFrame({"a": [1.0]}), None])
def test_what_is_in_memory_is_no_stream(data):
    assert stream_of(data) is None
