"""The shape of a unit's network and the layout of its flat parameters; `kernels.likelihood` has the mathematics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from pydine.kernels.layers import IDENTITY, RELU, TANH
from pydine.types import FloatArray

SHAPES_KEPT = 64  # memory: of each kind, so that the folds and units of a question share a network's layout

Layout = tuple[NDArray[np.int64], NDArray[np.int64], int, bool]


@dataclass(frozen=True)
class Network:
    """A mixture density network over `n_context` context columns, of which the first `n_inputs` feed the layers.

    Parameters
    ----------
    n_context : int
        Context columns c; all of them enter the linear location and log-scale if `skip`.
    n_inputs : int
        Leading context columns that the first layer sees; 0 makes the outputs constants.
    hidden : tuple of int
        Widths of the hidden layers.
    components : int
        Gaussian components k.
    activations : tuple of int
        The activation after each hidden layer.
    skip : bool
        Whether a linear location and a linear log-scale stand beside the network.
    groups : int
        1, or 3 if logits, means and log-scales have hidden units of their own in the last layer.
    """

    n_context: int
    n_inputs: int
    hidden: tuple[int, ...]
    components: int
    activations: tuple[int, ...]
    skip: bool = True
    groups: int = 1

    def __post_init__(self) -> None:
        """Refuse an impossible shape: compiled code does not check it, and a network may come from a file."""
        widths = (self.n_context, self.n_inputs, *self.hidden)
        fits = (
            all(type(n) is int and n >= 0 for n in (*widths, self.components))
            and self.n_inputs <= self.n_context
            and self.components > 0
            and len(self.activations) == len(self.hidden)
            and set(self.activations) <= {IDENTITY, RELU, TANH}
            and self.skip in (True, False)
            and self.groups in (1, 3)
            and widths[-1] % self.groups == 0
        )
        if not fits:
            raise ValueError(f"there is no such network: {self!r}")

    @classmethod
    @lru_cache(maxsize=SHAPES_KEPT)
    def linear(cls, n_context: int, components: int) -> Network:
        """No layers: a mixture whose location and log-scale are linear in the context."""
        return cls(n_context, 0, (), components, ())

    @classmethod
    @lru_cache(maxsize=SHAPES_KEPT)
    def tanh(cls, n_context: int, hidden: int, components: int) -> Network:
        """One smooth hidden layer beside the linear part."""
        return cls(n_context, n_context, (hidden,), components, (TANH,))

    @classmethod
    @lru_cache(maxsize=SHAPES_KEPT)
    def index(cls, n_context: int, hidden: int, components: int) -> Network:
        """One smooth hidden layer that sees a single linear combination of the context, beside the linear part."""
        return cls(n_context, n_context, (1, hidden), components, (IDENTITY, TANH))

    @classmethod
    def paper(cls, n_context: int, hidden: int, components: int) -> Network:
        """Build the paper's networks ("Neural Network Parametrization"): h = c(x_<i, z), then w(h), mu(h), ln sigma(h).

        Conditioner and heads each have one hidden ReLU layer of `hidden` units; h has `hidden` entries too.
        """
        widths = (hidden, hidden, 3 * hidden)
        return cls(n_context, n_context, widths, components, (RELU, IDENTITY, RELU), skip=False, groups=3)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Widths from the inputs to the 3k outputs."""
        return (self.n_inputs, *self.hidden, 3 * self.components)

    @cached_property
    def layout(self) -> Layout:
        """The network's shape as compiled functions take it: sizes, activations, groups and skip."""
        return (
            np.array(self.sizes, dtype=np.int64),
            np.array([*self.activations, IDENTITY], dtype=np.int64),
            self.groups,
            self.skip,
        )

    @cached_property
    def n_skip(self) -> int:
        """Length of the linear part: location (c,), then log-scale (c,)."""
        return 2 * self.n_context if self.skip else 0

    @cached_property
    def layer_slices(self) -> tuple[tuple[slice, slice], ...]:
        """Where each layer's weights and biases lie in the flat vector."""
        slices, start = [], self.n_skip
        for layer, (n_in, n_out) in enumerate(zip(self.sizes[:-1], self.sizes[1:], strict=True)):
            fan_in = n_in // (self.groups if layer == len(self.hidden) else 1)
            weights = slice(start, start + n_out * fan_in)
            slices.append((weights, slice(weights.stop, weights.stop + n_out)))
            start = weights.stop + n_out
        return tuple(slices)

    @cached_property
    def n_parameters(self) -> int:
        """Length of the flat vector."""
        return int(self.layer_slices[-1][1].stop)

    @property
    def n_features(self) -> int:
        """Number of functions of the context that the network learns; see `hidden_features`."""
        return 1 + (self.hidden[-1] if self.hidden else 0)

    def hidden_features(self, theta: FloatArray, context: FloatArray) -> FloatArray:
        """Return the functions of the context that the network has learned: bounded log-scale and last hidden units.

        Parameters
        ----------
        theta : ndarray, shape (p,)
        context : ndarray, shape (c, n)

        Returns
        -------
        ndarray, shape (n, 1 + hidden)
        """
        c = self.n_context
        features = np.empty((context.shape[1], self.n_features))
        features[:, 0] = np.tanh(theta[c : 2 * c] @ context)
        if self.hidden:
            units = context[: self.n_inputs].T
            for (weights, biases), activation in zip(self.layer_slices[:-1], self.activations, strict=True):
                units = units @ theta[weights].reshape(-1, units.shape[1]).T + theta[biases]
                units = np.tanh(units) if activation == TANH else units
            features[:, 1:] = units
        return features
