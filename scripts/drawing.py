"""What the pictures of the documentation have in common: panels, clouds of rows, colours and files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from PIL import Image

mpl.use("Agg")

import matplotlib.pyplot as plt

FloatArray = NDArray[np.float64]

FOLDER = Path(__file__).parents[1] / "docs" / "images"
DOTS_PER_INCH, COLOURS = 110, 96  # a palette keeps the files small
BEFORE, AFTER, LINE, QUIET = "#c2571a", "#1f6f8b", "#222222", "0.75"


def panels(count: int, width: float = 3.5, height: float = 3.2, **options: Any) -> tuple[Any, Any]:
    """A figure with panels side by side."""
    figure, axes = plt.subplots(1, count, figsize=(width * count, height), layout="constrained", **options)
    for each in np.atleast_1d(axes):
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes


def points(axes: Any, x: FloatArray, y: FloatArray, **look: Any) -> Any:
    """A cloud of rows."""
    return axes.scatter(x, y, **{"s": 5, "linewidths": 0, "alpha": 0.7, **look})


def write(figure: Any, path: Path) -> None:
    """Write a figure as a small PNG."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=DOTS_PER_INCH)
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(path, optimize=True)
