"""Reports and pages that several files look at."""

from datetime import date

import numpy as np
import pytest

from pydine.inputs.files import Frame
from pydine.report import Provenance, make_report, to_html
from report_data import hostile_frame, make_frame


@pytest.fixture(scope="session")
def report():
    provenance = Provenance(("pydine", "report", "my data.csv"), date(2026, 1, 5), "abc123", {"pydine": "9.9"})
    return make_report(make_frame(), "outcome", provenance=provenance)


@pytest.fixture(scope="session")
def page(report):
    return to_html(report)


@pytest.fixture(scope="session")
def hostile_page():
    return to_html(make_report(hostile_frame(), "outcome"))


@pytest.fixture(scope="session")
def wide_page():
    rng = np.random.default_rng(0)
    frame = Frame("wide.csv", {f"column {i}": rng.standard_normal(520) for i in range(200)}, {}, 520)
    return to_html(make_report(frame, "column 7", base="gaussian"))
