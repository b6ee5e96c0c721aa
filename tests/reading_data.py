"""The same columns in every form that people pass."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N = 60
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, 5))
A, B, C, D, E = TABLE.T
NAMES = ["a", "b", "c", "d", "e"]
MARK = 17  # the row that a test makes missing


def columns():
    return dict(zip(NAMES, TABLE.T.tolist(), strict=True))


FRAMES = {
    "pandas": lambda: pd.DataFrame(columns()),
    "pandas with an index": lambda: pd.DataFrame(columns(), index=range(N, 0, -1)),
    "polars": lambda: pl.DataFrame(columns()),
    "pyarrow": lambda: pa.table(columns()),
    "pyarrow batch": lambda: pa.RecordBatch.from_pydict(columns()),
}
TABLES = {
    **FRAMES,
    "mapping": columns,
    "mapping of series": lambda: dict(pd.DataFrame(columns()).items()),
    "structured": lambda: np.rec.fromarrays(TABLE.T, names=NAMES),
}


def assert_same(question, x, y, z=None):
    assert question.table.columns.flags.c_contiguous
    for read, truth in zip(question.values(), (x, y, z), strict=True):
        expected = np.empty((question.table.n_samples, 0)) if truth is None else np.reshape(truth, (len(truth), -1))
        assert read.dtype == np.float64
        assert read.flags.c_contiguous
        np.testing.assert_array_equal(read, expected)
