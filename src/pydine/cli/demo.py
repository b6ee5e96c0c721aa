"""``pydine demo``: the diabetes data."""

from __future__ import annotations


def demo() -> None:
    """See it at work: what each feature of the diabetes data tells about the disease a year later."""
    from pydine.demo import main

    main()
