"""Figures, with matplotlib, which is imported when something is drawn and not before."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_POINTS = 20_000


def new_axes(width: float = 5.6, height: float = 4.6) -> Any:
    """Axes in a new figure, or a sentence that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plotting needs matplotlib; install it with: pip install 'pydine[plot]'") from None
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def draw_pointwise(pointwise: Any, axes: Any = None) -> Any:
    """Draw latents coloured by pointwise information (see `PointwiseInformation.plot`)."""
    axes = new_axes() if axes is None else axes
    x, y = (side[:, 0] for side in pointwise.latents)
    values = pointwise.values
    if len(values) > MOST_POINTS:
        some = np.random.default_rng(0).permutation(len(values))[:MOST_POINTS]
        x, y, values = x[some], y[some], values[some]
    order = np.argsort(np.abs(values))  # what counts most is drawn last
    limit = max(float(np.quantile(np.abs(values), 0.98)), 1e-9)
    size = float(np.clip(8000.0 / len(values), 2.0, 24.0))
    look = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, "s": size, "linewidths": 0, "rasterized": True}
    points = axes.scatter(x[order], y[order], c=values[order], **look)
    axes.set_facecolor("0.94")  # white is the colour of rows that say nothing
    axes.figure.colorbar(points, ax=axes, label="pointwise information (nats)", extend="both")
    estimate = pointwise.estimate
    given = " given z" if estimate.dimensions[2] else ""
    first, second = estimate.names[0][0], estimate.names[1][0]
    axes.set(xlabel=f"{first}{given}, as a standard normal", ylabel=f"{second}{given}, as a standard normal")
    axes.set_title(f"{estimate.value:.3f} nats in {estimate.n_samples:,} rows ({estimate.base} base)")
    return axes
