"""The sentences of a report follow from its tables."""

from dataclasses import replace

import pytest

import pydine
from pydine.inputs.kinds import Kind
from pydine.report.page import ONLY_LABELS, _fits, _graph
from pydine.report.prose import left_out, summary, trust


@pytest.mark.parametrize(
    ("conversions", "what"),
    [({}, "the file was"), ({"a": "text"}, "1 column was"), ({"a": "text", "b": "text"}, "2 columns were")],
)
def test_how_many_columns_were_read(report, conversions, what):
    said = left_out(replace(report, conversions=conversions, notes=("a title was left out",)))
    assert f"<summary>How {what} read</summary>" in said


def test_a_copy_is_said_to_be_one_of_what(report):
    columns = {column.name: column for column in report.columns}
    one = replace(report, columns=(columns["cause"], replace(columns["proxy"], copy_of="cause"), columns["outcome"]))
    assert '>proxy</bdi> is a copy of <bdi class="name">cause</bdi>, and left out' in trust(one)[0]
    two = replace(one, columns=(*one.columns, replace(columns["noise"], copy_of="cause")))
    assert ">noise</bdi> are copies of other columns, and left out" in trust(two)[0]


def test_a_graph_without_lines_is_not_drawn(report):
    said = _graph(replace(report, alpha=1e-300), [0, 1, 2, 3])
    assert said == "<p>No dependence was detected in 6 pairs given all the other columns.</p>"
    assert "<svg" in _graph(report, [0, 1, 2, 3])


def test_what_the_flow_was_given_is_what_it_is_said_of(report):
    fit = report.fits[0]
    assert any(sentence.startswith("Together the other columns predict") for sentence in summary(report))
    some = replace(report, fits=(replace(fit, context=("cause", "proxy")),))
    assert any('>cause</bdi> and <bdi class="name">proxy</bdi> predict' in sentence for sentence in summary(some))
    one = replace(report, fits=(replace(fit, context=("cause",)),))
    assert any(sentence.startswith('<bdi class="name">cause</bdi> predicts') for sentence in summary(one))
    alone = replace(one, columns=tuple(c for c in report.columns if c.name in ("cause", "outcome")))
    assert any(sentence.startswith('<bdi class="name">cause</bdi> predicts') for sentence in summary(alone))
    vain = replace(fit, context=("noise",), flow_gain=replace(fit.flow_gain, value=0.0, standard_error=0.0))
    assert any(
        'given <bdi class="name">noise</bdi> predicts no better' in s for s in summary(replace(one, fits=(vain,)))
    )


def test_a_flow_that_steps_blur_is_no_headline(report):
    fit, top = report.fits[0], report.ranking[0].alone.value
    blurred = replace(report, fits=(replace(fit, flow_gain=replace(fit.flow_gain, value=0.5 * top)),))
    as_steps = tuple(replace(c, kind=Kind.ORDINAL) if c.name == "outcome" else c for c in report.columns)
    assert any("on held-out rows" in sentence for sentence in summary(blurred))
    assert not any("on held-out rows" in sentence for sentence in summary(replace(blurred, columns=as_steps)))
    assert "Tied values were spread" in _fits(replace(blurred, columns=as_steps))
    assert "Tied values were spread" not in _fits(blurred)


def test_why_there_is_no_flow_to_check(report):
    assert ONLY_LABELS in _fits(replace(report, fits=()))
    assert "too few rows to hold some out" in _fits(replace(report, fits=(), n_complete=20))


def test_what_the_rows_would_have_shown_stands_where_nothing_was_found(report):
    least = pydine.detectable_information(report.n_samples, alpha=report.alpha)
    said = [sentence for sentence in trust(report) if sentence.startswith("Where nothing was detected")]
    assert len(said) == 1
    assert f"nats alone (a correlation of {least.correlation:.2f})" in said[0]
    assert "given the rest" in said[0]
    everything = replace(report, alpha=1.0 - 1e-9)
    assert not any(sentence.startswith("Where nothing") for sentence in trust(everything))
