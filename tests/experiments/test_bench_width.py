"""The summary of an experiment fits a terminal."""

from pathlib import Path

import pytest
from rich.console import Console

from pydine.experiments.bench import Bench


@pytest.mark.parametrize("failed", [0, 3])
def test_the_table_fits_eighty_columns(monkeypatch, failed):
    line = {"n": 1000, "d": 20, "method": "dine-gaussian", "datasets": 350, "failed": failed, "mean_abs_error": 0.0123}
    line |= {"bias": -0.0123, "coverage": 0.951, "seconds": 12.34, "peak_mib": 1234.0}
    monkeypatch.setattr(Bench, "summary", lambda self: [line, line])
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(Bench("mi", [], Path("mi.csv"), None))
    printed = capture.get()
    assert "…" not in printed
    assert "dine-gaussian" in printed
    assert ("failed" in printed) == bool(failed)
