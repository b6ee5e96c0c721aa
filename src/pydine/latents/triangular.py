"""Lower triangular systems of equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from pydine.types import FloatArray


def solve_lower(factor: NDArray[np.floating], right: NDArray[np.floating], *, transposed: bool = False) -> FloatArray:
    """Solve L a = b, or L' a = b if `transposed`, for a Cholesky factor L (r, r) and b (r, m), shape (r, m).

    The same call of LAPACK as that of `scipy.linalg.solve_triangular`, whose checks take longer than small systems do.
    LAPACK wants the entries of a column side by side: a factor whose rows are so is passed as its transpose.
    """
    if right.size == 0:
        return np.empty(right.shape)
    is_upper = not factor.flags.f_contiguous
    found, info = dtrtrs(factor.T if is_upper else factor, right, lower=not is_upper, trans=transposed != is_upper)
    if info > 0:
        raise np.linalg.LinAlgError(f"singular matrix: resolution failed at diagonal {info - 1}")
    solution: FloatArray = found
    return solution
