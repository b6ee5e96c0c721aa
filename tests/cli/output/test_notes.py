"""Sentences on the standard error: they name options, not arguments of Python."""

import numpy as np
import pytest

from command_line import process
from pydine.cli.output.notes import with_options


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("pass time=True; if subjects, clusters=.", "pass --time rows; if subjects, --clusters COLUMN."),
        ("if so, pass weights='Freq'.", "if so, pass --weights 'Freq'."),
        ("it takes some time = nothing to change", "it takes some time = nothing to change"),
    ],
)
def test_arguments_become_options(said, shown):
    assert with_options(said) == shown


def test_rows_in_the_order_of_time(tmp_path):
    steps = np.random.default_rng(0).normal(size=(300, 2)).cumsum(axis=0)
    lines = [",".join(f"{value:.6f}" for value in row) for row in steps]
    (tmp_path / "walks.csv").write_text("\n".join(["x,y", *lines]))
    done = process(tmp_path, "mi", "walks.csv", "-x", "x", "-y", "y")
    said = " ".join(done.stderr.split())
    assert "pass --time rows" in said
    assert "time=True" not in said
