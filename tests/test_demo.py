"""The demonstration's table, with a stand-in for the estimator: what it prints, not what it estimates."""

import io
import warnings

import pytest
from rich.console import Console

import pydine
from pydine import demo
from pydine.inputs.reading import read_question
from pydine.results import InformationEstimate


@pytest.fixture
def calls(monkeypatch):
    made = []

    def mutual_information(x, y, z=None, *, data, **options):
        question = read_question(x, y, z, data=data)
        made.append((x, y, z))
        alone = {"bmi": 0.2, "sex": -0.0001}.get(x, 0.1)
        value = alone if z is None else alone / 2
        rows = question.table.n_samples
        kinds = tuple(tuple(map(str, block)) for block in question.kinds)
        return InformationEstimate(
            value, 0.01, "gaussian", rows, question.dimensions, names=question.names, kinds=kinds
        )

    monkeypatch.setattr(pydine, "mutual_information", mutual_information, raising=False)
    return made


def printed(width):
    output = io.StringIO()
    demo.show(Console(file=output, width=width), demo.estimate_rows(demo.load_table()), seconds=1.25)
    return output.getvalue()


def test_every_feature_alone_and_given_the_others(calls):
    rows = demo.estimate_rows(demo.load_table())
    assert len(rows) == 10
    assert [row.feature for row in (rows[0], rows[-1])] == ["bmi", "sex"]
    for feature in demo.MEANINGS:
        others = [name for name in demo.MEANINGS if name != feature]
        assert (feature, "target", None) in calls
        assert (feature, "target", others) in calls


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(("width", "meanings"), [(80, False), (120, True)])
def test_nothing_is_cut_off(width, meanings):
    text = printed(width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert ("body mass index" in text) == meanings
    assert "0.200 ± 0.010" in text
    assert "[0.181, 0.220]" in text
    assert "-0.000" not in text


@pytest.mark.usefixtures("calls")
def test_kinds_are_a_footnote():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = printed(120)
    assert "Kinds of column: 's4' is ordinal and 'sex' is nominal; all others are continuous." in text


def test_other_warnings_are_passed_on(monkeypatch):
    def mutual_information(*args, **options):
        warnings.warn("did not converge", RuntimeWarning, stacklevel=2)
        return InformationEstimate(0.1, 0.01, "gaussian", 442, (1, 1, 0))

    monkeypatch.setattr(pydine, "mutual_information", mutual_information, raising=False)
    with pytest.warns(RuntimeWarning, match="did not converge"):
        demo.estimate_rows(demo.load_table())
