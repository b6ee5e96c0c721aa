"""What `DINE` and `mutual_information` take, and what they refuse."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from estimator_data import ESTIMATORS, gaussian, truth
from pydine import DINE, TiesWarning, mutual_information
from pydine.answers.policy import DeterminedWarning
from refusals import refusal

BAD_PARAMETERS = [
    ("base", "cauchy"),
    ("base", None),
    ("algorithm", "gmm"),
    ("n_components", 0),
    ("n_components", 2.0),
    ("hidden_units", 0),
    ("hidden_units", True),
    ("n_networks", -1),
    ("n_folds", 1),
    ("n_folds", "3"),
    ("max_iter", 0),
    ("max_rows", 5),
    ("weight_decay", -0.1),
    ("weight_decay", np.nan),
    ("weight_decay", np.inf),
    ("weight_decay", "much"),
    ("tune", 1),
    ("tune", "yes"),
    ("random_state", -1),
    ("random_state", 1.5),
    ("random_state", "seed"),
    ("random_state", True),
    ("n_jobs", 0),
    ("n_jobs", 1.5),
    ("n_jobs", "all"),
    ("nan_policy", "propagate"),
]


class TestRefusals:
    @pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
    def test_parameters(self, name, value, small):
        model = DINE(**{name: value})
        message = refusal(model.fit, *small)
        assert message.startswith(f"{name} must be ")
        assert repr(value) in message
        assert not hasattr(model, "information_")

    @pytest.mark.parametrize(
        ("name", "value"), [("base", "cauchy"), ("random_state", -1), ("n_jobs", 0), ("nan_policy", "drop")]
    )
    def test_parameters_of_the_function(self, name, value, small):
        assert refusal(mutual_information, *small, **{name: value}).startswith(f"{name} must be ")

    def test_parameters_come_before_the_data(self):
        """A mistake in the call is told before the data are read."""
        assert refusal(DINE(n_folds=1).fit, ["a"], ["b"]).startswith("n_folds")

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda x, y, z: (np.where(x > 2, np.nan, x), y, z), ["x must hold finite numbers", "nan_policy='omit'"]),
            (lambda x, y, z: (x[:-1], y, z), ["x, y and z must have the same number of rows", "149"]),
            (lambda x, y, z: (x, np.ones_like(y), z), ["y must vary", "constant"]),
            (lambda x, y, z: (x[:11], y[:11], z[:11]), ["15 rows"]),
            (lambda x, y, z: (x.T, y[:2], z[:2]), ["more dimensions than rows"]),
            (lambda x, y, z: (x + 1j, y, z), ["x", "complex"]),
            (lambda x, y, z: (x, np.full(150, "b"), z), ["y"]),
        ],
    )
    def test_data(self, change, words, small):
        """Read by `read_sample`, whose own tests say more: here, that both doors use it."""
        for door in (DINE().fit, mutual_information):
            message = refusal(door, *change(*small))
            for word in words:
                assert word in message

    def test_unknown_column(self, small):
        frame = pd.DataFrame({"bmi": small[0][:, 0], "target": small[1][:, 0]})
        assert "'bmi'" in refusal(mutual_information, "bmj", "target", data=frame)

    def test_a_column_that_z_determines(self):
        """Not a copy of a column of z, so no check of the data sees it; what is left of it given z is nothing."""
        rng = np.random.default_rng(0)
        z = rng.integers(0, 3, 200).astype(float)
        with pytest.warns(DeterminedWarning, match=r"determines x \(of x and y\)"):
            model = DINE().fit(z % 2, rng.standard_normal(200), z)
        assert (model.information_.value, model.information_.standard_error) == (0.0, 0.0)
        with pytest.raises(ValueError, match="no flows to map rows with, because what is given determines a side"):
            model.transform(z % 2, z, z)

    def test_a_column_that_is_there_twice(self, small):
        """It adds nothing, and nothing is left of it in the latents."""
        x, y, z = small
        model = DINE().fit(np.hstack([x, x[:, :1] ** 3]), y, z)
        assert model.information_.value == DINE().fit(x, y, z).information_.value
        assert model.information_.dimensions == (3, *model.information_.dimensions[1:])
        latents, _ = model.transform(np.hstack([x, x[:, :1] ** 3]), y, z)
        assert (latents[:, 2] == 0.0).all()


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dict": dict,
    "dict of lists": lambda columns: {name: column.tolist() for name, column in columns.items()},
}


class TestInputs:
    @pytest.mark.slow
    @pytest.mark.parametrize("frame", FRAMES)
    def test_names_of_columns(self, frame, small):
        columns = dict(zip("abcde", np.hstack(small).T, strict=True))
        estimate = mutual_information(["a", "b"], "c", ["d", "e"], data=FRAMES[frame](columns))
        assert estimate.value == mutual_information(*small).value
        assert estimate.names == (("a", "b"), ("c",), ("d", "e"))
        assert repr(estimate).startswith("I(a, b; c | d, e) = ")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "make",
        [
            np.ndarray.tolist,
            pd.DataFrame,
            lambda block: pl.DataFrame(block, schema=[f"c{i}" for i in range(block.shape[1])]),
            lambda block: pa.table({f"c{i}": column for i, column in enumerate(block.T)}),
            np.asfortranarray,
            lambda block: np.repeat(block, 2, axis=0)[::2],
            lambda block: np.hstack([block, block])[:, : block.shape[1]],
            lambda block: block[::-1][::-1],
        ],
        ids=["list", "pandas", "polars", "pyarrow", "by columns", "every second row", "some columns", "reversed"],
    )
    def test_kinds(self, make, small):
        expected = DINE().fit(*small)
        made = [make(block) for block in small]
        model = DINE().fit(*made)
        assert model.information_.value == expected.information_.value
        for ours, theirs in zip(model.transform(*made), expected.transform(*small), strict=True):
            np.testing.assert_array_equal(ours, theirs)

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_read_only(self, name, small):
        frozen = [block.copy() for block in small]
        for block in frozen:
            block.flags.writeable = False
        model = ESTIMATORS[name]().fit(*frozen)
        assert model.information_ == ESTIMATORS[name]().fit(*small).information_
        model.transform(*frozen)
        model.score(*frozen)
        model.pointwise(*frozen)

    def test_float32(self, small):
        single = [block.astype(np.float32) for block in small]
        double = [block.astype(np.float64) for block in single]
        assert mutual_information(*single).value == mutual_information(*double).value

    def test_one_column_is_one_column(self, small):
        x, y, z = small
        assert mutual_information(x[:, 0], y.ravel(), z).value == mutual_information(x[:, :1], y, z).value

    def test_omitted_rows_are_counted(self, small):
        x, y, z = (block.copy() for block in small)
        x[3, 1], y[7], z[7, 0], z[100, 1] = np.nan, np.inf, np.nan, -np.inf
        keep = np.setdiff1d(np.arange(150), [3, 7, 100])
        for name, make in ESTIMATORS.items():
            estimate = make(nan_policy="omit").fit(x, y, z).information_
            assert (estimate.n_dropped, estimate.n_samples) == (3, 147), name
            assert estimate.value == make().fit(x[keep], y[keep], z[keep]).information_.value
        assert "3 rows dropped" in repr(mutual_information(x, y, z, nan_policy="omit"))

    def test_ties(self):
        """A warning that says what it means, and a number all the same."""
        rng = np.random.default_rng(0)
        x = rng.integers(0, 5, 300)
        y = x + rng.integers(0, 3, 300)
        z = rng.integers(0, 2, 300)
        smooth = dict.fromkeys("xyz", "continuous")
        for name, make in ESTIMATORS.items():
            with pytest.warns(TiesWarning, match="Tied values in x .* which kinds= says are continuous"):
                model = make(kinds=smooth).fit(x, y, z)
            assert np.isfinite(model.information_.value), name
            assert model.information_.value > 0.1
            assert np.isfinite(np.hstack(model.transform(x, y, z))).all()

    def test_heavy_tails_and_outliers(self):
        x, y = gaussian(300, 1, 0.7)
        x[5], y[9] = 1e12, -1e12
        estimate = mutual_information(x, y, np.random.default_rng(0).standard_cauchy(300))
        assert estimate.value == pytest.approx(truth(1, 0.7), abs=0.15)
