"""Tables beyond memory: a uniform sample that does not depend on the layout of files, and all rows."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from pydine.inputs import streams
from pydine.inputs.labels import Labels
from pydine.inputs.streams import Sample, Selection, stream_of

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
        names, labels = ("place",), Labels()

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
    with pytest.raises(ValueError, match=r"row 1 holds NaN, infinity or no value .* nan_policy='omit'"):
        Sample.draw(stream, NAMES, omit=False)


def test_what_is_neither_a_number_nor_a_label(tmp_path):
    days = pa.array([1, 2, 3], pa.date32())
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "day": days}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="'day' must hold numbers or labels, but holds date32"):
        Sample.draw(stream_of(tmp_path / "t.parquet"), ("a", "day"), omit=False)


def test_labels_are_labels_again_in_the_sample(tmp_path, monkeypatch):
    """Text, categories with an order and without, booleans: in files that know of each other's labels nothing."""
    monkeypatch.setattr(streams, "BATCH_ROWS", 7)
    words, grades = ["b", "a", "c", None, "ä"], ["low", "mid", "high"]
    columns = {
        "word": pa.array(words * 20),
        "category": pa.array(words * 20).dictionary_encode(),
        "grade": pa.DictionaryArray.from_arrays(np.arange(100, dtype=np.int32) % 3, grades, ordered=True),
        "yes": pa.array([True, False, False, True] * 25),
    }
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=11)
    sample = Sample.draw(stream_of(pds.dataset(tmp_path / "t.parquet")), table.column_names, omit=True)
    there = [i for i in range(100) if words[i % 5] is not None]
    assert sample.n_dropped == 20
    for name in ("word", "category"):
        assert sample.columns[name].tolist() == [words[i % 5] for i in there]
    assert sample.columns["grade"].to_pylist() == [grades[i % 3] for i in there]
    assert sample.columns["grade"].type.ordered
    assert sample.columns["grade"].dictionary.to_pylist() == grades
    assert sample.columns["yes"].tolist() == [i % 4 in (0, 3) for i in there]
    assert [sample.is_label(name) for name in table.column_names] == [True, True, True, False]


def test_labels_of_which_there_is_no_end_differ_all_the_same(monkeypatch):
    from pydine.inputs import labels

    monkeypatch.setattr(labels, "MOST_NAMES", 10)
    found = Labels()
    words = [f"id {i}" for i in range(500)]
    numbers = found.numbers("id", pa.array(words * 2))
    assert len(np.unique(numbers)) == 500
    np.testing.assert_array_equal(numbers[:500], numbers[500:])
    names = found.restored("id", numbers).tolist()
    assert names[:10] == words[:10]
    assert len(set(names)) == 500


def test_some_columns_of_a_stream(table, tmp_path):
    some = Selection(stream_of(next(forms(table, tmp_path))), ("b",))
    assert stream_of(some) is some
    assert next(some.batches(some.names)).shape[1] == 1


@pytest.mark.parametrize("path", ["nothing.parquet", "table.xlsx"])
def test_a_path_that_is_no_table(path):
    with pytest.raises(ValueError, match="data must be a frame"):
        stream_of(path)


@pytest.mark.parametrize("data", [{"a": [1.0]}, np.ones((3, 2)), pl.DataFrame({"a": [1.0]}), None])
def test_what_is_in_memory_is_no_stream(data):
    assert stream_of(data) is None


@pytest.mark.slow
def test_a_dask_frame(table, tmp_path):
    dask_frames = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    first = Sample.draw(stream_of(next(forms(table, tmp_path))), (*NAMES, "label"), omit=False, most=100)
    frame = dask_frames.from_pandas(table.to_pandas(), npartitions=4)
    sample = Sample.draw(stream_of(frame), (*NAMES, "label"), omit=False, most=100)
    assert (sample.n_rows, sample.is_label("label")) == (3000, True)
    for name in (*NAMES, "label"):
        np.testing.assert_array_equal(sample.columns[name], first.columns[name])


@pytest.mark.slow
def test_what_arrow_holds_does_not_grow_with_the_file(tmp_path):
    """A file of 40 row groups, of which some are held at a time; all of them were more than the file's size."""
    rng, path = np.random.default_rng(0), tmp_path / "rows.parquet"
    pq.write_table(pa.table({name: rng.standard_normal(2_000_000) for name in NAMES}), path, row_group_size=50_000)
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in stream_of(path).batches(NAMES)]
    assert max(held) < 0.6 * path.stat().st_size
