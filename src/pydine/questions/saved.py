"""Fitted models in files: what a `DINE` has learned, without pickle.

`archive` says how a file is made. The head of this kind holds the parameters, and the version of pydine that wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pydine._version import __version__
from pydine.answers import fitting
from pydine.answers import mixed as mixed_answers
from pydine.answers.answer import Verdict
from pydine.archive import Refused, Schema, suits
from pydine.bases import base, elliptical, flow, lines, mixture, stack, waves
from pydine.bases.kinds import ratios
from pydine.disk import write_whole
from pydine.inputs import angles, table
from pydine.inputs.kinds import Kind
from pydine.latents import directions, flows, functions, paper, projection, scores
from pydine.latents.kinds import angles as column_angles
from pydine.latents.kinds import conditionals, continuous, indicators, levels, nominal, ordinal, question
from pydine.results import InformationEstimate
from pydine.units import codes, network, rows, unit
from pydine.units.rungs import registry
from pydine.work import tasks

__all__ = ["read_model", "write_model"]

# Whatever a fit leaves in an estimator is made of these, numbers, arrays, lists, tuples and dictionaries.
MODEL = Schema(
    "pydine.model",
    1,
    (
        network.Network,
        codes.Sums,
        unit.Model,
        unit.FittedUnit,
        tasks.Unit,
        rows.Arrangement,
        rows.View,
        scores.ScoreMap,
        directions.Directions,
        functions.Sketch,
        functions.FunctionsOfZ,
        projection.Projection,
        flows.RankFlow,
        paper.PaperFlow,
        elliptical.EllipticalRatio,
        lines.LineRatio,
        base._AverageRatio,
        flow._DirectionRatio,
        mixture.Gaussians,
        mixture.Classes,
        mixture.MixtureRatio,
        stack.StackRatio,
        waves.WaveRatio,
        fitting.NewRows,
        Verdict,
        Kind,
        table.Table,
        table.Question,
        indicators.PlainGiven,
        question.MixedColumns,
        continuous.ContinuousColumn,
        column_angles.AngleColumn,
        column_angles.CycleColumn,
        angles.Cut,
        ordinal.OrdinalColumn,
        nominal.NominalColumn,
        levels.LevelsColumn,
        conditionals.Context,
        conditionals.Conditional,
        tasks.Fitted,
        ratios.MixedRatio,
        ratios.MixedModels,
        mixed_answers.MixedRows,
        InformationEstimate,
    ),
    registry.EXPANSIONS,
)


PARTS = ("parameters", "learned")
PLAIN = (bool, int, float, str, np.number, np.bool_)  # what parameters may be, or mappings of names to it


def write_model(path: str | os.PathLike[str], parameters: Mapping[str, Any], learned: Mapping[str, Any]) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    path : path
        An existing file is replaced.
    parameters : mapping of str to plain value
    learned : mapping of str to object
        The attributes that a fit left.
    """
    for name, value in parameters.items():
        if not _is_plain(value):
            raise ValueError(
                f"{name} must be a number, a string or None to be saved, but is a {type(value).__name__}; "
                f"change it with set_params({name}=...), which leaves what was learned as it is."
            )
    content = MODEL.to_bytes({"parameters": dict(parameters), "learned": dict(learned)}, pydine=__version__)
    write_whole(Path(path), content)


def _is_plain(parameter: Any) -> bool:
    items = parameter.values() if isinstance(parameter, Mapping) else [parameter]
    return all(item is None or isinstance(item, PLAIN) for item in items)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the parameters of a model, and the attributes that a fit left.

    Raises
    ------
    ValueError
        If the file is not one that `write_model` wrote, or not as it was written.
    OSError
        If it cannot be read.
    """
    try:
        content, _ = MODEL.from_bytes(Path(path).read_bytes())
        if not (isinstance(content, dict) and all(suits(dict[str, Any], content.get(part)) for part in PARTS)):
            raise Refused("does not hold a model")
        if not all(map(_is_plain, content["parameters"].values())):
            raise Refused("does not hold a model's parameters")
    except Refused as error:
        raise ValueError(f"{os.fspath(path)!r} {error}; fit the model again, or load another file.") from None
    return content["parameters"], content["learned"]
