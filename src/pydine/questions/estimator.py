"""DINE as a scikit-learn estimator."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from typing import Any, Self, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags
from sklearn.utils.validation import check_is_fitted

from pydine.answers.answer import Verdict
from pydine.answers.fitting import Fit, NewRows, fit
from pydine.answers.mixed import MixedFit, MixedRows
from pydine.answers.policy import warn_if_determined
from pydine.answers.settings import RandomState, Settings
from pydine.archive import suits
from pydine.inputs.angles import Cut
from pydine.inputs.checks import enumeration
from pydine.inputs.columns import Source, read_columns
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.reading import labels_of, read_question, read_rows
from pydine.latents.directions import Directions
from pydine.latents.flows import RankFlow
from pydine.latents.kinds.indicators import PlainGiven, PlainQuestion
from pydine.latents.paper import PaperFlow
from pydine.latents.plain import with_plain_given
from pydine.questions.saved import read_model, write_model
from pydine.results import InformationEstimate
from pydine.types import FloatArray

LONGEST_NAME, MOST_NAMES, LONGEST_REASON = 60, 3, 200  # guard: of what a file holds, in a sentence

# What a fit leaves; the maps are missing where there was a verdict.
MAPS = {
    "flow_": RankFlow | PaperFlow | MixedRows,
    "_new_rows": NewRows | MixedRows,
    "_columns": tuple[list[int], list[int], list[int]],
}
LEARNED = {
    "_directions": tuple[Directions, Directions] | None,
    "information_": InformationEstimate,
    "tuning_": list[dict[str, Any]],
    "n_features_in_": int,
    "_dimensions": tuple[int, int, int],
    "_verdict": Verdict | None,
    "_as_numbers": PlainGiven | None,
    "_labels": tuple[tuple[dict[str, int] | Cut | None, ...], ...],
}


class DINE(BaseEstimator):
    """Diffeomorphic Information Neural Estimator of I(X;Y) and I(X;Y|Z), in nats.

    Conditional normalizing flows map X and Y, given Z, to latents that are standard normal and free of Z; the
    information between the sides is that of the latents (Duong and Nguyen, AAAI 2023, Lemma 1), and a base distribution
    gives it: the paper's Gaussian closed form, or a richer one where it predicts held-out rows better.

    The default starts from ranks, lets held-out likelihood decide how rich each flow has to be, projects what is left
    of Z out of both sides, and corrects the closed form's bias and that of the ranks. `DINE.paper()` is the paper's own
    algorithm.

    Parameters
    ----------
    base : {"auto", "gaussian", "student", "mixture", "flow"}, default="auto"
        Base distribution of the latents. ``"gaussian"``: the closed form, which sees correlation between the latents
        and nothing else. ``"student"``: a Student copula, which also sees a scale that the sides share. ``"mixture"``:
        mixtures of Gaussians of both sides, which see bends and clusters. ``"flow"``: conditional flows beside them,
        which can follow any shape (the paper's density-based definition); the estimate is then a mean over at most
        `max_rows` rows. ``"auto"``: the average of the four, weighted by how well they predict held-out rows, with the
        weight on the simpler ones in doubt; ``information_.details["weights"]`` has the weights.
    algorithm : {"ladder", "paper"}, default="ladder"
        How the flows are fitted; use `DINE.paper()` for the paper's, which sets the other arguments too.
    n_components : int, default=2
        Gaussian components of a flow's transformer.
    hidden_units : int, default=8
        Hidden units of a network.
    n_networks : int, default=2
        Networks from different starts in each fold (ladder only).
    n_folds : int, default=3
        Folds of the cross-validation (ladder only).
    weight_decay : float, default=0.67
        Precision of the normal prior of the networks' weights (ladder only).
    max_iter : int, default=500
        Most iterations in the training of a network; early stopping by held-out rows may end it sooner.
    max_rows : int, default=30000
        Rows that flows learn from at most, a cap on time; every row is still mapped and counted. Where it binds,
        ``details["learned_rows"]`` of the estimate says so (ladder only).
    tune : bool, default=False
        Whether to choose `n_components`, `hidden_units` and `weight_decay` from a grid of 27 by the likelihood of
        held-out rows, before anything else (ladder only). What was tried is in `tuning_`.
    interval : {"fast", "calibrated"}, default="fast"
        How to estimate what the flows have not learned of Z, as in `mutual_information`.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Starts of the paper's flows; None draws another seed in every fit. Has no effect on the ladder, which draws
        nothing.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn: None is one, -1 all. The result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        What `fit` does with rows that hold NaN or infinity.
    kinds : mapping of column name to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of columns, where types and values suggest another; arrays without names are called x, y and z.

    Attributes
    ----------
    information_ : InformationEstimate
        The estimate in nats, with its standard error.
    flow_ : RankFlow, PaperFlow or MixedRows
        The fitted maps.
    tuning_ : list of dict
        With ``tune=True``: the settings tried and ``log_likelihood``, the mean held-out log-likelihood of all flows in
        nats, the best first. Otherwise empty.
    n_features_in_ : int
        Columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine import DINE
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(500)
    >>> x, y = np.sin(2 * z) + rng.standard_normal((2, 500))
    >>> model = DINE().fit(x, y, z)
    >>> model.information_.dimensions
    (1, 1, 1)
    >>> x_latent, y_latent = model.transform(x, y, z)
    >>> x_latent.shape
    (500, 1)
    """

    def __init__(
        self,
        *,
        base: str = Settings.base,
        algorithm: str = Settings.algorithm,
        n_components: int = Settings.n_components,
        hidden_units: int = Settings.hidden_units,
        n_networks: int = Settings.n_networks,
        n_folds: int = Settings.n_folds,
        weight_decay: float = Settings.weight_decay,
        max_iter: int = Settings.max_iter,
        max_rows: int = Settings.max_rows,
        tune: bool = Settings.tune,
        interval: str = Settings.interval,
        random_state: RandomState = Settings.random_state,
        n_jobs: int | None = Settings.n_jobs,
        nan_policy: str = "raise",
        kinds: Kinds | None = None,
    ) -> None:
        self.base = base
        self.algorithm = algorithm
        self.n_components = n_components
        self.hidden_units = hidden_units
        self.n_networks = n_networks
        self.n_folds = n_folds
        self.weight_decay = weight_decay
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.tune = tune
        self.interval = interval
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.nan_policy = nan_policy
        self.kinds = kinds

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the paper's algorithm to the letter (Algorithm 1).

        Conditioners and heads with one hidden ReLU layer of 4 units, 16 components, maximum likelihood with early
        stopping, uncentred covariances, the closed form, and no correction of any bias.

        Parameters
        ----------
        **changes
            Arguments of `DINE` to set otherwise, such as ``random_state``.
        """
        settings = asdict(Settings.of("paper"))
        return cls(**{**{name: settings[name] for name in cls().get_params() if name in settings}, **changes})

    def fit(
        self,
        x: Any,
        y: Any,
        z: Any = None,
        *,
        data: Any = None,
        clusters: Any = None,
        time: Any = None,
        weights: Any = None,
    ) -> Self:
        """Learn the flows and estimate the information.

        Parameters
        ----------
        x, y, z : array-like of shape (n,) or (n, d), column, frame, or names of columns of `data`
            Observations of X, Y and, for conditional information, Z.
        data : frame, optional
            Where named columns are found.
        clusters, time, weights
            How rows were sampled, as in `mutual_information`.

        Returns
        -------
        DINE
            The estimator itself, with `information_`.
        """
        if y is None:
            raise ValueError("DINE requires y to be passed, but the target y is None; pass the other side.")
        settings = self._settings().seeded()
        said = Dependence(clusters, time, weights=weights)
        if self.algorithm == "paper":
            said.refused("for the paper's algorithm")
        if self.tune:
            said.refused("with tune=True")
        question = read_question(x, y, z, data=data, nan_policy=self.nan_policy, kinds=self.kinds, dependence=said)
        answer = fit(question, settings)
        self.information_ = answer.information_of(question)
        self._dimensions = question.dimensions
        self._verdict = answer.verdict
        self._as_numbers: PlainGiven | None = None
        self._directions: tuple[Directions, Directions] | None = None
        self.tuning_: list[dict[str, Any]] = []
        self.flow_: RankFlow | PaperFlow | MixedRows
        self._new_rows: NewRows | MixedRows
        self._labels = labels_of(question)
        warn_if_determined(answer.verdict, question)
        if isinstance(answer, MixedFit):
            self.flow_ = self._new_rows = answer.of_new_rows()
            self._columns = tuple(list(range(width)) for width in question.dimensions)
        elif isinstance(answer, Fit):
            self.flow_, self._new_rows = answer.flow, answer.of_new_rows()
            self.tuning_ = [asdict(trial) for trial in answer.trials]
            asked = with_plain_given(question)
            self._as_numbers = asked.as_numbers if isinstance(asked, PlainQuestion) else None
            blocks = zip(asked.blocks, answer.question.blocks, strict=True)
            if answer.directions is None:
                self._columns = tuple([block.index(i) for i in kept] for block, kept in blocks)
            else:  # directions are of all columns of a side, and what is given stands last in their table
                self._directions, first = answer.directions, len(answer.question.table.names) - len(asked.given)
                given = [i - first for i in answer.question.given]
                self._columns = *(list(range(len(block))) for block in asked.blocks[:2]), given
        self.n_features_in_ = question.dimensions[0]
        return self

    @overload
    def transform(self, x: Any, y: None = None, z: Any = None, *, data: Any = None) -> FloatArray: ...

    @overload
    def transform(self, x: Any, y: Any, z: Any = None, *, data: Any = None) -> tuple[FloatArray, FloatArray]: ...

    def transform(
        self, x: Any, y: Any = None, z: Any = None, *, data: Any = None
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Map rows, those of `fit` or new ones, to their latents.

        Parameters
        ----------
        x, y, z, data
            As in `fit`. Latents of x are those of x given z, whatever y is, and y may be left out.

        Returns
        -------
        x_latent, y_latent : ndarray, shapes (n, dx) and (n, dy)
            Finite for finite rows, however far out. Without y, `x_latent` alone. Where a column of x or y is not
            continuous, they are residuals given Z: E[latent | value, Z] of ordered steps, and for labels one column
            less than there are labels. Where a side has more than 20 columns, they are those of the directions that
            stand out of each side, fewer than columns.
        """
        if y is None:
            check_is_fitted(self, "information_")
            rows = len(read_columns("x", x, None if data is None else Source.read(data)).values)
            placeholder = np.zeros((rows, self._dimensions[1]))
            return self._transform(self._read_rows(x, placeholder, z, data, has_y=False))[0]
        return self._transform(self._read_rows(x, y, z, data))

    def _transform(self, rows: tuple[FloatArray, FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        latents = self.flow_.transform(*rows)
        if isinstance(self.flow_, MixedRows) or self._directions is not None:
            return latents
        filled = []
        for latent, width, kept in zip(latents, self._dimensions, self._columns, strict=False):
            out = np.zeros((len(latent), width))  # of a column that tells nothing beside the others, nothing is left
            out[:, kept] = latent
            filled.append(out)
        return filled[0], filled[1]

    def pointwise(self, x: Any, y: Any, z: Any = None, *, data: Any = None) -> FloatArray:
        """Pointwise information ln p(x, y | z) - ln p(x | z) - ln p(y | z) of rows, those of `fit` or new ones.

        Returns
        -------
        ndarray, shape (n,)
            Nats; the information is its mean over the distribution. Rows far above it carry the dependence.
        """
        rows = self._read_rows(x, y, z, data)
        return self._new_rows(*rows)

    def score(self, x: Any, y: Any, z: Any = None, *, data: Any = None) -> float:
        """Return the mean log-likelihood ln p(x, y | z) of rows, in nats; the higher, the better.

        On rows that `fit` has not seen this is the objective that the paper tunes by, for `GridSearchCV` and the like.
        By default, with ranks, it is a density of the columns' normal scores, which is invariant under monotone maps of
        the columns; for `DINE.paper()` it is a density in the units of the data.
        """
        rows = self._read_rows(x, y, z, data)
        if not len(rows[0]):
            raise ValueError("x and y must have at least one row to score, but have none; pass rows.")
        alone = self.flow_.log_density(*rows)  # ln p(x | z) + ln p(y | z)
        return float((alone + self._new_rows(*rows)).mean())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and a line of JSON, no pickle.

        Parameters
        ----------
        path : path
            An existing file is replaced, and left unchanged if this fails. The file is an ``.npz`` archive.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from pydine import DINE
        >>> rng = np.random.default_rng(0)
        >>> x, y = rng.standard_normal((2, 100))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model = DINE().fit(x, x + y)
        ...     model.save(Path(folder) / "model.npz")
        ...     again = DINE.load(Path(folder) / "model.npz")
        >>> again.score(x, x + y) == model.score(x, x + y)
        True
        """
        check_is_fitted(self, "information_")
        parameters = self.get_params(deep=False)
        write_model(path, parameters, {name: item for name, item in vars(self).items() if name not in parameters})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote. New rows get the same numbers as before, to the last bit.

        Parameters
        ----------
        path : path
            Reading a file runs no code from it.

        Raises
        ------
        ValueError
            If the file is damaged, cut short, of a newer format, or not a model.
        """
        parameters, learned = read_model(path)
        names = cls().get_params(deep=False).keys()
        kept = LEARNED | (MAPS if learned.get("_verdict") is None else {})
        unknown = [name for name in parameters if name not in names] + [name for name in learned if name not in kept]
        if unknown:
            listed = enumeration([repr(name)[:LONGEST_NAME] for name in unknown[:MOST_NAMES]])
            raise ValueError(f"{os.fspath(path)!r} holds {listed}, which DINE does not have.")
        model = cls(**parameters)
        model.__dict__.update(learned)
        try:  # somebody may have made it up, with parts that do not fit each other
            wrong = [name for name, hint in kept.items() if not suits(hint, learned[name])]
            if (
                wrong
                or tuple(map(len, model._labels)) != model._dimensions
                or model.n_features_in_ != len(model._labels[0])
            ):
                raise ValueError(f"{enumeration(wrong or ['the labels'])} cannot be those of a model")
            if model._verdict is None:
                model._check_maps()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:LONGEST_REASON]
            raise ValueError(f"{os.fspath(path)!r} holds a model that maps no rows ({reason}).") from None
        return model

    def _check_maps(self) -> None:
        """Map two rows, to see that the parts fit: what rows become when they are read, of labels the first."""
        with np.errstate(all="ignore"):
            asked = [np.repeat([[0.0], [1.0]], width, axis=1) for width in self._dimensions]
            rows = self._used(*asked)
            found = [*self._transform(rows), self.flow_.log_density(*rows), self._new_rows(*rows)]
        if not all(len(block) == 2 and np.isfinite(block).all() for block in found):
            raise ValueError("what it says of rows is not finite")

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn: both sides are required, and neither is predicted.

        scikit-learn takes whatever has a `transform` for a transformer, but has no checks for one that needs y.
        """
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags

    def _settings(self) -> Settings:
        parameters = self.get_params(deep=False)
        return Settings(**{f.name: parameters[f.name] for f in fields(Settings) if f.name in parameters})

    def _read_rows(
        self, x: Any, y: Any, z: Any, data: Any, has_y: bool = True
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rows (m, dx), (m, dy), (m, dz) of the columns that the fit uses; without a y, 0 is its label's number."""
        check_is_fitted(self, "information_")
        if self._verdict is not None:
            raise ValueError(f"there are no flows to map rows with, because {self._verdict.reason}; fit other columns.")
        labels = self._labels if has_y else (self._labels[0], (), *self._labels[2:])
        question = read_rows(x, y, z, data=data, labels=labels)
        for name, got, expected in zip("xyz", question.dimensions, self._dimensions, strict=True):
            if got != expected:
                raise ValueError(f"{name} must have {expected} column(s), as in fit, but has {got}.")
        return self._used(*question.values())

    def _used(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The columns that the fit uses, of rows of all that it was asked about."""
        z = z if self._as_numbers is None else self._as_numbers(z)
        values = zip((x, y, z), self._columns, strict=True)
        x, y, z = (np.ascontiguousarray(block[:, columns]) for block, columns in values)
        if self._directions is not None:
            x, y = (along(side) for along, side in zip(self._directions, (x, y), strict=True))
        return x, y, z
