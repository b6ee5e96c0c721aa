"""Names of types that many modules share. A leaf: it imports nothing else of the package."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
RowArray: TypeAlias = NDArray[np.intp]  # positions of rows
