"""Latents to nats: base distributions, models of how latents depend, over the closed forms that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydine.bases.bases import Base, FittedBase, FlowBase, GaussianBase, LogRatio, StudentBase, choose

__all__ = ["Base", "FittedBase", "FlowBase", "GaussianBase", "LogRatio", "StudentBase", "choose"]


# Imported when first used: the closed forms serve the baselines as well, which are to load nothing that trains units.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pydine.bases' has no attribute {name!r}")
    from pydine.bases import bases

    value = getattr(bases, name)
    globals()[name] = value
    return value
