"""What differs between systems, for tests: signals to be as they were after a command, and what only POSIX has."""

import os
import signal
from contextlib import contextmanager

import pytest

posix = pytest.mark.skipif(os.name != "posix", reason="owners, permissions, named pipes and signals as in POSIX")


@contextmanager
def kept_handlers():
    """Signals are handled after the block as before it."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGPIPE") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
