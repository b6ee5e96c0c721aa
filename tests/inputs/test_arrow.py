import numpy as np
import pyarrow as pa
import pytest

import pydine
from pydine.inputs.arrow import from_arrow
from pydine.inputs.columns import Source, read_columns


class Streamed:
    """A table of a library that nobody knows."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Relation:
    """A relation of DuckDB before it had the protocol."""

    def __init__(self, table):
        self.table = table

    def to_arrow_table(self):
        return self.table


def table(n=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pa.table({"x": x, "y": x + rng.normal(size=n), "colour": rng.choice(["red", "blue", "green"], n)})


@pytest.mark.parametrize("kind", [Streamed, Relation])
def test_a_table_by_the_protocol_is_a_table(kind):
    there = table()
    assert Source.read(kind(there)).names == ("x", "y", "colour")
    for x in ("x", "colour"):
        found = pydine.mutual_information(x, "y", data=kind(there))
        assert found.value == pydine.mutual_information(x, "y", data=there).value
    assert np.array_equal(
        pydine.pairwise_information(kind(there)).values, pydine.pairwise_information(there).values, equal_nan=True
    )


def test_a_column_by_the_protocol_is_a_column():
    there = table()
    found = read_columns("x", Streamed(there["x"]))
    assert np.array_equal(found.values[:, 0], there["x"].to_numpy())
    both = read_columns("x", Streamed(there.select(["x", "y"])))
    assert both.names == ("x", "y")


def test_what_can_be_read_once_is_refused():
    reader = table().to_reader()
    with pytest.raises(ValueError, match=r"data must be readable more than once, .* pass its read_all\(\)\."):
        pydine.mutual_information("x", "y", data=reader)


def test_what_is_no_table_is_none():
    assert from_arrow("data", object()) is None
    assert from_arrow("data", Streamed) is None


def test_a_stream_that_breaks_is_one_sentence():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise TypeError("no stream today")

    with pytest.raises(
        ValueError, match=r"data cannot be read from the Arrow stream of a Broken \(no stream today\)\."
    ):
        Source.read(Broken())


def test_a_relation_of_duckdb_is_a_table():
    duckdb = pytest.importorskip("duckdb")
    there = table()
    relation = duckdb.connect().from_arrow(there)
    for x in ("x", "colour"):
        found = pydine.mutual_information(x, "y", data=relation)
        assert found.value == pydine.mutual_information(x, "y", data=there).value
    found = relation.query("t", "select x::decimal(18, 9) as x, case when x < 1 then y end as y from t")
    assert pydine.mutual_information("x", "y", data=found, nan_policy="omit").n_dropped > 0
