"""One table of clean columns, questions about it, and the signatures by which copies are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydine.inputs.table import Question, Table, signature_of

N = 60
TABLE = np.random.default_rng(0).normal(size=(N, 5))
A, B = TABLE.T[:2]

MONOTONE = {
    "the same": lambda v: v.copy(),
    "cube": lambda v: v**3,
    "exp": np.exp,
    "affine": lambda v: 2 * v - 3,
    "negative": np.negative,
    "reciprocal": lambda v: -1 / (v - v.min() + 1),
    "falling": lambda v: np.exp(-v),
}
INTEGERS = st.lists(st.integers(-20, 20), min_size=2, max_size=15).filter(lambda values: len(set(values)) > 1)


class TestTable:
    def test_blocks_side_by_side(self):
        table = Table.of([TABLE[:, :2], TABLE[:, 2:3], TABLE[:, 3:]], [("a", "b"), ("c",), ("d", "e")])
        np.testing.assert_array_equal(table.columns, TABLE.T)
        assert table.columns.flags.c_contiguous
        assert table.columns.dtype == np.float64
        assert table.names == ("a", "b", "c", "d", "e")
        assert table.n_samples == N

    @pytest.mark.parametrize("block", [TABLE, np.asfortranarray(TABLE), TABLE[:, :1], TABLE[::2], TABLE[:, ::-2]])
    def test_memory_of_its_own(self, block):
        columns = Table.of([block]).columns
        np.testing.assert_array_equal(columns, block.T)
        assert columns.flags.c_contiguous
        assert not np.shares_memory(columns, block)

    def test_without_names_columns_are_numbered(self):
        assert Table.of([TABLE[:, :2], TABLE[:, 2:3]]).names == ("0", "1", "2")

    @pytest.mark.parametrize("shape", [(N, 0), (0, 3)])
    def test_blocks_that_are_empty(self, shape):
        beside = TABLE[: shape[0], :1]
        assert Table.of([beside, np.empty(shape)]).columns.shape == (1 + shape[1], shape[0])

    def test_all_rows_are_kept_unless_said_otherwise(self):
        table = Table.of([TABLE])
        assert table.n_dropped == 0
        np.testing.assert_array_equal(table.positions, np.arange(N))

    def test_where_rows_were(self):
        kept = np.ones(N, dtype=bool)
        kept[[0, 7]] = False
        table = Table.of([TABLE[kept]], kept=kept)
        assert table.n_samples == N - 2
        assert table.n_dropped == 2
        np.testing.assert_array_equal(table.positions, np.delete(np.arange(N), [0, 7]))


class TestSignatures:
    @pytest.mark.parametrize("name", MONOTONE)
    @pytest.mark.parametrize("n", [N, N - 1])
    def test_strictly_monotone_functions_share_one(self, name, n):
        assert signature_of(MONOTONE[name](A[:n])) == signature_of(A[:n])

    @settings(deadline=None)
    @given(values=INTEGERS, is_rising=st.booleans())
    def test_of_tied_values_too(self, values, is_rising):
        column = np.array(values, dtype=float)
        assert signature_of(np.arctan(column) * (1 if is_rising else -1)) == signature_of(column)

    @settings(deadline=None)
    @given(values=INTEGERS, others=INTEGERS)
    def test_others_do_not(self, values, others):
        """Compared with the ranks themselves, and with those from above."""
        n = min(len(values), len(others))
        ranks = [np.unique(column[:n], return_inverse=True)[1] for column in (values, others)]
        is_copy = np.array_equal(*ranks) or np.array_equal(ranks[0], ranks[1].max() - ranks[1])
        first, second = (signature_of(np.array(column[:n], dtype=float)) for column in (values, others))
        assert (first == second) == is_copy

    def test_a_function_that_merges_values_is_no_copy(self):
        assert signature_of(np.maximum(A, 0.0)) != signature_of(A)

    def test_one_for_each_column(self):
        table = Table.of([np.column_stack([A, B, -A])])
        assert table.signatures == (signature_of(A), signature_of(B), signature_of(A))


class TestQuestion:
    table = Table.of([TABLE], [("a", "b", "c", "d", "e")])

    def test_columns_by_their_positions(self):
        question = Question(self.table, (3,), (0, 4), (1,))
        assert question.dimensions == (1, 2, 1)
        assert question.blocks == ((3,), (0, 4), (1,))
        assert question.names == (("d",), ("a", "e"), ("b",))
        for read, positions in zip(question.values(), question.blocks, strict=True):
            np.testing.assert_array_equal(read, TABLE[:, positions])
            assert read.flags.c_contiguous

    def test_nothing_given(self):
        question = Question(self.table, (0,), (1,))
        assert question.dimensions == (1, 1, 0)
        assert question.values()[2].shape == (N, 0)

    @pytest.mark.parametrize("dz", [0, 2])
    def test_of_clean_arrays(self, dz):
        question = Question.of(TABLE[:, :2], TABLE[:, 2:3], TABLE[:, 3 : 3 + dz] if dz else None)
        assert question.dimensions == (2, 1, dz)
        for read, expected in zip(question.values(), (TABLE[:, :2], TABLE[:, 2:3], TABLE[:, 3 : 3 + dz]), strict=True):
            np.testing.assert_array_equal(read, expected)
