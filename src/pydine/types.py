"""Names of types that many modules share, and how objects refuse parts that do not fit. A leaf: it imports nothing."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
RowArray: TypeAlias = NDArray[np.intp]  # positions of rows


def must_fit(owner: object, fits: bool) -> None:
    """Refuse, in a constructor, parts that do not fit each other: they may come from a file that somebody made up."""
    if not fits:
        raise ValueError(f"the parts of a {type(owner).__name__} do not fit together")
