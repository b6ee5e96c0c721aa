"""Files of commands that are gone through: which they are, and what is known of them."""

import numpy as np
import polars as pl
import pytest

from pydine.inputs import streams
from pydine.inputs.files import streamed
from pydine.inputs.files.streamed import open_stream


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(streamed, "SMALL_FILE", 100)
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"a": np.arange(200.0), "b": [None, *range(199)], "c": ["x", "y"] * 100}).write_parquet(path)
    return path


def test_a_file_of_many_rows(path):
    table = open_stream(str(path))
    assert (table.n_rows, table.names) == (200, ("a", "b", "c"))
    frame = table.read(["a"], ["c"])
    assert (list(frame), len(frame), frame.n_samples, frame.missing) == (["a", "c"], 2, 200, {})
    assert streams.stream_of(frame).names == ("a", "c")
    assert list(frame.without({"c": "why not"})) == ["a"]


def test_a_value_that_is_missing_where_none_may_be(path):
    frame = open_stream(str(path)).read(["a", "b"])
    with pytest.raises(ValueError, match="column 'b' has a missing value in row 1; correct the file"):
        frame.refuse_missing()
    open_stream(str(path)).read(["a", "c"]).refuse_missing()


def test_what_is_read_as_it_is(path, monkeypatch):
    assert open_stream(str(path), is_sampled=True) is None
    assert open_stream("-") is None
    text = path.with_name("rows.parquet.parquet")
    text.write_text("no Parquet, whatever it is called" * 10)
    assert open_stream(str(text)) is None
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 200)
    assert open_stream(str(path)) is None
