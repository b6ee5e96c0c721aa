"""The arithmetic below the kernels: sums over fixed lanes, and functions of our own, against NumPy and SciPy."""

import numba as nb
import numpy as np
import pytest
from scipy.special import erfc, erfcx

from pydine.kernels import arithmetic

DTYPES = [np.float32, np.float64]


@nb.njit
def _exp(x, out):
    for i in range(x.shape[0]):
        out[i] = arithmetic.exp(x[i])


@nb.njit
def _log(x, out):
    for i in range(x.shape[0]):
        out[i] = arithmetic.log(x[i])


@nb.njit
def _tails(x, logs, uppers):
    for i in range(x.shape[0]):
        log_ratio, t = arithmetic.log_tail(x[i])
        logs[i] = log_ratio + arithmetic.log(t)
        uppers[i] = arithmetic.upper_tail(x[i])


@nb.njit
def _sums(a, b):
    """Every kind of sum of products, of row 1 of a with rows of b."""
    return arithmetic.dot(a[1], b[2]), arithmetic.row_dot(a, 1, b, 2), arithmetic.row_dots(a, 1, b, 1)


@nb.njit
def _row_sum(a, i):
    return arithmetic.row_sum(a, i)


def applied(function, x):
    out = np.empty_like(x)
    function(x, out)
    return out


class TestExp:
    def test_float32(self):
        """A few units in the last place, and the rounding of the argument itself, which grows with it."""
        x = np.linspace(-86.9, 87.9, 400_001, dtype=np.float32)
        error = np.abs(applied(_exp, x) / np.exp(x.astype(np.float64)) - 1.0)
        assert (error < 4e-7 + 8e-8 * np.abs(x)).all()

    def test_float64(self):
        x = np.concatenate([np.linspace(-707.9, 708.9, 200_001), np.linspace(-1.0, 1.0, 200_001), [0.0, 1e-300]])
        np.testing.assert_allclose(applied(_exp, x), np.exp(x), rtol=5e-16, atol=0.0)
        assert applied(_exp, np.zeros(1)) == 1.0

    def test_what_a_softmax_sums(self):
        x = np.linspace(-20.0, 0.0, 200_001, dtype=np.float32)
        out = applied(_exp, x)
        assert np.abs(out - np.exp(x.astype(np.float64))).max() < 2.5e-7
        assert out[-1] == 1.0

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_clamped(self, dtype):
        out = applied(_exp, np.array([-1e30, -1e3, -750.0, 750.0, 1e3, 1e30], dtype=dtype))
        tiny, huge = (1e-37, 1e38) if dtype == np.float32 else (1e-307, 1e307)
        assert (out[:3] > 0).all()
        assert (out[:3] < tiny).all()
        assert np.isfinite(out).all()
        assert (out[3:] > huge).all()

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_no_step_back_but_rounding(self, dtype):
        """Where one power of two takes over from the next, too."""
        edge = np.log(2.0) * (np.arange(-60, 61) + 0.5)
        x = np.unique((edge[:, None] + np.linspace(-1e-3, 1e-3, 501)).astype(dtype))
        out = applied(_exp, x).astype(np.float64)
        assert (np.diff(out) > -5e-6 * out[1:] if dtype == np.float32 else np.diff(out) > -1e-15 * out[1:]).all()


class TestLog:
    def test_float32(self):
        x = np.concatenate(
            [np.logspace(-37.8, 38.4, 200_001), np.linspace(0.5, 2.0, 200_001), [1.0, 2.0**-126, np.sqrt(0.5)]]
        ).astype(np.float32)
        out = applied(_log, x)
        np.testing.assert_allclose(out, np.log(x.astype(np.float64)), rtol=1e-6, atol=2e-7)
        assert out[x == 1.0].tolist() == [0.0] * int((x == 1.0).sum())

    def test_float64(self):
        x = np.concatenate(
            [np.logspace(-307.0, 308.0, 200_001), np.linspace(0.5, 2.0, 200_001), [1.0, 2.0**-1022, np.sqrt(0.5)]]
        )
        out = applied(_log, x)
        np.testing.assert_allclose(out, np.log(x), rtol=1e-15, atol=2e-16)
        assert applied(_log, np.ones(1)) == 0.0

    def test_next_to_one(self):
        """No digits are lost where the logarithm is next to nothing."""
        f = np.concatenate([-np.logspace(-15, -2, 100), np.logspace(-15, -2, 100)])
        x = 1.0 + f
        np.testing.assert_allclose(applied(_log, x), np.log1p(x - 1.0), rtol=1e-15)

    def test_inverse_of_exp(self):
        x = np.linspace(-700.0, 700.0, 1001)
        np.testing.assert_allclose(applied(_log, applied(_exp, x)), x, rtol=1e-14, atol=1e-15)


class TestTails:
    def both(self, x):
        logs, uppers = np.empty_like(x), np.empty_like(x)
        _tails(x, logs, uppers)
        return logs, uppers

    @pytest.mark.slow
    def test_of_the_error_function(self):
        x = np.concatenate([np.linspace(0.0, 26.0, 100_001), np.logspace(-12, 0, 1001)])
        np.testing.assert_allclose(self.both(x)[0], np.log(erfcx(x)) - x * x, rtol=1e-14, atol=4e-15)

    @pytest.mark.slow
    def test_no_tail_is_too_small(self):
        x = np.logspace(1, 150, 1000)
        np.testing.assert_allclose(self.both(x)[0], np.log(erfcx(x)) - x * x, rtol=1e-14)

    @pytest.mark.slow
    def test_upper_tail(self):
        """The exponent is -z^2 / 2, and its rounding is what the tail's relative error grows with."""
        z = np.linspace(0.0, 37.0, 100_001)
        error = np.abs(self.both(z)[1] / (0.5 * erfc(z / np.sqrt(2.0))) - 1.0)
        assert (error < 1e-14 + 4e-16 * z * z).all()
        assert (error[z < 5.0] < 1e-14).all()
        assert self.both(np.zeros(1))[1] == pytest.approx(0.5, abs=1e-16)


def exact_dot(a, b):
    return np.dot(a.astype(np.longdouble), b.astype(np.longdouble))


class TestSums:
    @pytest.mark.slow
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_products_of_any_length(self, dtype):
        """Less than the lanes hold, whole numbers of them, and what is left over."""
        rng, rounding = np.random.default_rng(0), np.finfo(dtype).eps
        for n in range(101):
            a, b = rng.standard_normal((2, 5, n)).astype(dtype)
            dot, row_dot, row_dots = _sums(a, b)
            assert dot == row_dot == row_dots[1]  # the same bits, whichever way they are asked for
            for j, found in enumerate(row_dots):
                room = rounding * (2 + n / 8) * float(np.abs(a[1] * b[1 + j]).sum())
                assert abs(found - exact_dot(a[1], b[1 + j])) <= room

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_integers_are_exact(self, dtype):
        """So no entry is left out or taken twice."""
        for n in (0, 1, 7, 8, 9, 16, 31, 32, 33, 100):
            a = np.zeros((5, n), dtype=dtype)
            a[:] = np.arange(n)
            b = np.ones((5, n), dtype=dtype)
            dot, row_dot, row_dots = _sums(a, b)
            assert (dot, row_dot, *row_dots) == (n * (n - 1) / 2,) * 6

    def test_the_order_of_a_sum_is_fixed(self):
        """Lanes of 64 bytes, added up as a tree, then the rest one by one: written out here, to the bit."""
        for dtype in DTYPES:
            lanes = 64 // dtype().itemsize
            a, b = np.random.default_rng(1).standard_normal((2, 5, 3 * lanes + 5)).astype(dtype)
            products = a[1] * b[2]
            sums = products[: 3 * lanes].reshape(3, lanes)
            sums = (sums[0] + sums[1]) + sums[2]
            while len(sums) > 1:
                sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
            expected = sums[0]
            for product in products[3 * lanes :]:
                expected += product
            assert _sums(a, b)[0] == expected

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_row_sum(self, dtype):
        """Of rows that are a whole number of lanes long, as the kernels' blocks are."""
        rng = np.random.default_rng(2)
        for n in range(0, 353, 32):
            a = rng.standard_normal((3, n)).astype(dtype)
            room = np.finfo(dtype).eps * (2 + n / 8) * float(np.abs(a[1]).sum())
            assert abs(_row_sum(a, 1) - a[1].astype(np.longdouble).sum()) <= room


def test_only_for_compiled_code():
    for function in (arithmetic.exp, arithmetic.log, arithmetic.log_tail, arithmetic.upper_tail):
        with pytest.raises(RuntimeError, match="only for compiled code"):
            function(1.0)
