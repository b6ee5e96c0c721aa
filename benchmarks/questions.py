"""Questions for the benchmark of stability: families where z matters, real tables, shapes without z, ties.

A question is a name and the columns of x, y and z, (n, d) each; without z, d is 0.
"""

import one_thread  # noqa: F401

# isort: split

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import known_shapes as shapes
from harness import conditional

Question = tuple[str, np.ndarray, np.ndarray, np.ndarray]

CONFOUNDED = ((1, 300, 0.5), (2, 150, 0.0), (5, 1000, 0.5), (10, 1000, 0.9))  # dz, n, rho
SHAPES = (("clusters", 150), ("clusters", 500), ("ring", 500), ("parabola", 300), ("sign switch", 500), ("sine", 300))
TIES = ((1, 300, 0.5, "x"), (1, 300, 0.5, "xy"), (3, 500, 0.0, "xy"), (3, 500, 0.3, "xyz"))  # last: what is rounded
STEP = 0.5  # of what is rounded


def confounded() -> Iterator[Question]:
    for family in conditional.FAMILIES:
        for dz, n, rho in CONFOUNDED:
            data = conditional.sample(family, n, dz, rho, 0)
            yield f"{family}, dz = {dz}, n = {n}, rho = {rho}", data.x, data.y, data.z


def diabetes() -> Iterator[Question]:
    """Each column and the target given the other nine; sex and the target given four."""
    frame = load_diabetes(as_frame=True, scaled=False).frame
    target, rest = frame[["target"]], frame.drop(columns="target")
    for name in rest:
        yield f"diabetes, {name}, target given the rest", *_arrays(rest[[name]], target, rest.drop(columns=name))
    yield (
        "diabetes, sex, target given age, bp, s3, s6",
        *_arrays(rest[["sex"]], target, rest[["age", "bp", "s3", "s6"]]),
    )


def neighbours(title: str, frame: pd.DataFrame, given: int) -> Iterator[Question]:
    """Each column and the next one, given as many that follow; the last is followed by the first."""
    names = list(frame)
    for i, name in enumerate(names):
        other, *rest = (names[(i + k) % len(names)] for k in range(1, given + 2))
        yield f"{title}, {name}, {other} given {given} more", *_arrays(frame[[name]], frame[[other]], frame[rest])


def without_z() -> Iterator[Question]:
    for shape, n in SHAPES:
        data = shapes.sample(shape, n, 0)
        yield f"{shape}, n = {n}", data.x, data.y, np.empty((n, 0))


def tied() -> Iterator[Question]:
    for dz, n, rho, rounded in TIES:
        data = conditional.sample("sine-index", n, dz, rho, 1)
        parts = {"x": data.x, "y": data.y, "z": data.z}
        for part in rounded:
            parts[part] = np.round(parts[part] / STEP) * STEP
        yield f"ties in {rounded}, dz = {dz}, n = {n}, rho = {rho}", *parts.values()


def questions() -> list[Question]:
    wine, cancer = load_wine(as_frame=True).data, load_breast_cancer(as_frame=True).data
    return [
        *confounded(),
        *diabetes(),
        *neighbours("wine", wine, 2),
        *neighbours("breast cancer", cancer.iloc[:, :10], 3),
        *without_z(),
        *tied(),
    ]


def _arrays(*frames: pd.DataFrame) -> tuple[np.ndarray, ...]:
    return tuple(frame.to_numpy(dtype=np.float64) for frame in frames)
