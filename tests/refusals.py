"""How input is refused: with one sentence, and no warning before it."""

import warnings

import pytest


def refusal(function, *args, **kwargs):
    """The sentence with which something is refused; no warning may go before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the callers look at the message)
            function(*args, **kwargs)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message
