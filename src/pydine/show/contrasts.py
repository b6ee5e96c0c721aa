"""Intervals one below the other, with a line at zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pydine.show.plotting import label_of, new_axes


def draw_intervals(lines: Sequence[tuple[str, float, float, float]], title: str, axes: Any = None) -> Any:
    """Draw labelled values with intervals in nats, the first on top and the last, which they are for, darker."""
    axes = new_axes(6.0, 1.2 + 0.4 * len(lines)) if axes is None else axes
    for k, (_, value, low, high) in enumerate(lines):
        reach = np.maximum([[value - low], [high - value]], 0.0)
        colour = "#0b5c8c" if k == len(lines) - 1 else "#9dc3da"
        axes.errorbar([value], [k], xerr=reach, fmt="o", ms=6, lw=2, color=colour)
    axes.axvline(0.0, color="0.6", lw=1)
    axes.set_yticks(range(len(lines)), [label_of(label) for label, *_ in lines])
    axes.invert_yaxis()
    axes.margins(y=0.15)
    axes.set(xlabel="information (nats, 95% intervals)", title=label_of(title))
    axes.spines[["top", "right"]].set_visible(False)
    return axes
