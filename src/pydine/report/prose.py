"""The sentences of a report: what was found, in short, and what the numbers mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pydine.inputs.checks import enumeration
from pydine.inputs.kinds import Kind
from pydine.questions.planning import detectable_information
from pydine.report.calibration import FlowFit
from pydine.report.content import Answer, Ranked, Report
from pydine.report.markup import name, nats, shown

MOST_NAMED = 5
ROWS_PER_COLUMN = 10
LEAST_ROWS = 12  # fact: beside one for each given column, that a test needs
SEES_NOTHING, SEES_SOMETHING = 0.25, 0.005  # p-values of a test
CLEAR = 2.0  # standard errors above which a gain is taken for more than chance


def summary(report: Report) -> list[str]:
    """What was found, as HTML: a list of one or two sentences each."""
    sentences = [_of_ranking(report)]
    if any(row.given_rest for row in report.ranking):
        sentences.append(_of_rest(report))
    if report.fits and not _is_blurred(report):
        sentences.append(_of_fit(report.fits[0], report))
    return [*sentences, _of_pairs(report)]


def trust(report: Report) -> list[str]:
    """What to trust and what not, as HTML: a list of one or two sentences each."""
    sentences = []
    far = [column.name for column in report.columns if any("lies far" in concern for concern in column.concerns)]
    if far:
        sentences.append(f"Values of {_names(far)} that lie far from the rest may be codes for missing ones.")
    copies = {column.name: column.copy_of for column in report.columns if column.copy_of is not None}
    if copies:
        original = next(iter(copies.values()))
        said = f"is a copy of {name(original)}" if len(copies) == 1 else "are copies of other columns"
        sentences.append(f"{_names([*copies])} {said}, and left out of the rest.")
    if report.n_complete < report.n_samples:
        sentences.append(
            f"Values are missing: estimates for a pair use the rows that have both columns, those given the rest the "
            f"{report.n_complete:,} of {report.n_samples:,} rows that have all."
        )
    if report.n_complete < ROWS_PER_COLUMN * len(report.columns):
        sentences.append("There are few rows for so many columns: estimates given the rest tend to be too low.")
    unclear = [row.name for row in report.ranking if _is_unclear(row.given_rest)]
    if unclear:
        sentences.append(
            f"Estimate and test disagree on what {_names(unclear)} {'adds' if len(unclear) == 1 else 'add'}: there are "
            "too few rows to decide."
        )
    if not report.sampling and (hidden := _undetected(report)):
        sentences.append(hidden)
    if report.sampling:
        sentences.append(f"Standard errors and p-values allow for how rows were sampled: {report.sampling}.")
    else:
        sentences.append(
            "Rows are assumed to be independent: pass <code>--clusters</code> if some belong together, "
            "<code>--time</code> if they form a time series."
        )
    sentences.append(
        "p-values are adjusted for all columns of the ranking, all pairs of the matrix and all pairs of the graph: in "
        f"each, about {report.alpha:.0%} of what is detected may be due to chance. Dependence that is not detected may "
        "still exist, and none of this proves a cause."
    )
    return sentences


def _undetected(report: Report) -> str:
    """What rows would have shown, where nothing was found for some column."""
    told = []
    if any(row.alone.adjusted > report.alpha for row in report.ranking):
        told.append((report.n_samples, 0, "alone"))
    asked = [row for row in report.ranking if row.given_rest]
    if any(not adds(row, report.alpha) for row in asked):
        others = len(report.screened) or len(asked)
        told.append((report.n_complete, others - 1, "given the rest"))
    found = []
    for rows, dz, how in told:
        if rows >= dz + LEAST_ROWS:
            least = detectable_information(rows, alpha=report.alpha, dz=dz)
            found.append(f"{nats(least.information)} nats {how} (a correlation of {least.correlation:.2f})")
    if not found:
        return ""
    return (
        f"Where nothing was detected, there may still be up to {enumeration(found)}: a single test detects that much "
        "in four of five samples."
    )


def _is_unclear(answer: Answer | None) -> bool:
    """Whether an estimate is clearly above zero where the test sees nothing at all, or the other way round."""
    if answer is None or np.isnan(answer.pvalue):
        return False
    if answer.pvalue > SEES_NOTHING:
        return answer.interval[0] > 0.0
    return answer.value <= 0.0 and answer.pvalue < SEES_SOMETHING


def missing_together(report: Report) -> str:
    """Which columns lack values in the same rows, as HTML; empty where it is not more than one."""
    if not report.lacks:
        return ""
    parts = [
        f"in {_names(lack.names)} {'together' if len(lack.names) > 1 else 'alone'} ({_rows(lack.n_rows)})"
        for lack in report.lacks[:MOST_NAMED]
    ]
    if more := sum(lack.n_rows for lack in report.lacks[MOST_NAMED:]):
        parts.append(f"in other columns together ({_rows(more)})")
    return f" Values are missing {'; '.join(parts)}."


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def left_out(report: Report) -> str:
    """Which columns were not used, by name and with the reason, and how others were read, as HTML."""
    parts = []
    if report.left_out:
        named = "".join(f"<li>{name(text)}: {shown(reason)}</li>" for text, reason in report.left_out.items())
        parts.append(f"<h3>Left out</h3><ul>{named}</ul>")
    if report.conversions or report.notes:
        read = "".join(f"<li>{shown(note)}</li>" for note in report.notes)
        read += "".join(f"<li>{name(text)}: {shown(how)}</li>" for text, how in report.conversions.items())
        count = len(report.conversions)
        what = "the file was" if not count else "1 column was" if count == 1 else f"{count:,} columns were"
        parts.append(f"<details><summary>How {what} read</summary><ul>{read}</ul></details>")
    return "".join(parts)


def _names(names: Sequence[str]) -> str:
    some = [name(text) for text in names[:MOST_NAMED]]
    more = len(names) - len(some)
    return enumeration([*some, f"{more:,} more"] if more else some)


def _of_pairs(report: Report) -> str:
    matrix = report.matrix
    count, total = int((matrix.adjusted_pvalues[matrix.pairs] <= report.alpha).sum()), len(matrix.pairs[0])
    if not count:
        return f"No dependence was detected in {total:,} pairs of columns."
    i, j = matrix.pairs[0][0], matrix.pairs[1][0]
    strongest = f"{name(matrix.names[i])} and {name(matrix.names[j])}"
    if np.isinf(matrix.values[i, j]):
        most = f"{strongest} are functions of each other"
    else:
        most = f"the strongest link is between {strongest} ({nats(float(matrix.values[i, j]))} nats)"
    pairs = "pair" if total == 1 else f"of {total:,} pairs"
    return f"Dependence was detected in <strong>{count:,}</strong> {pairs} of columns; {most}."


def _of_ranking(report: Report) -> str:
    found = [row for row in report.ranking if row.alone.adjusted <= report.alpha]
    if not found:
        return f"No information about {name(report.target)} was detected in any column on its own."
    top = [f"{name(row.name)} ({nats(row.alone.value)} nats)" for row in found[:3]]
    whose, verb = ("its", "tells") if len(top) == 1 else ("their", "tell")
    many = "" if len(found) <= 3 else f", of {len(found):,} that are informative"
    return f"On {whose} own, {enumeration(top)} {verb} most about {name(report.target)}{many}."


def _of_rest(report: Report) -> str:
    asked = [row for row in report.ranking if row.given_rest]
    found = [row.name for row in sorted(asked, key=_rest, reverse=True) if adds(row, report.alpha)]
    given = "Given the others that tell most" if report.screened else "Given all the others"
    if not found:
        told = any(row.alone.adjusted <= report.alpha for row in asked)
        why = ": they can stand in for each other" if told else " either"
        return f"{given}, nothing was detected in any column{why}."
    verb = "adds" if len(found) == 1 else "add"
    others = len(asked) - len(found)
    rest = f"; nothing was detected for the other {others:,}" if others > 1 else "; nothing was detected for the other"
    return f"{given}, {_names(found)} still {verb} something{rest if others else ''}."


def _rest(row: Ranked) -> float:
    return -np.inf if row.given_rest is None else row.given_rest.value


def adds(row: Ranked, alpha: float) -> bool:
    """Whether a column was found to tell about the target what the rest does not."""
    return row.given_rest is not None and row.given_rest.adjusted <= alpha


def is_partial(fit: FlowFit, report: Report) -> bool:
    """Whether the flow was given only some of the other columns."""
    return len(fit.context) < sum(column.copy_of is None for column in report.columns) - 1


def _is_blurred(report: Report) -> bool:
    """Whether the flow, which jitters the steps of its column, gains less than a single column tells about them."""
    fit = report.fits[0]
    kind = next(column.kind for column in report.columns if column.name == fit.name)
    most = max(row.alone.value for row in report.ranking if row.name in fit.context)
    return kind is Kind.ORDINAL and fit.flow_gain.value < most


def _of_fit(fit: FlowFit, report: Report) -> str:
    gain, beyond = fit.flow_gain, fit.beyond_linear
    is_one, some = len(fit.context) == 1, is_partial(fit, report)
    given = _names(fit.context) if is_one or some else "the others"
    if gain.value <= CLEAR * gain.standard_error:
        return f"On held-out rows, the flow of {name(fit.name)} given {given} predicts no better than without."
    if beyond.value > CLEAR * beyond.standard_error:
        compared = f", {nats(beyond.value)} more than a linear model"
    elif beyond.value < -CLEAR * beyond.standard_error:
        compared = f", {nats(-beyond.value)} less than a linear model: the flow fits badly here"
    else:
        compared = ", as does a linear model"
    who = f"{given} predicts" if is_one else f"Together {given if some else 'the other columns'} predict"
    return f"{who} {name(fit.name)} better by {nats(gain.value)} nats per row, on held-out rows{compared}."


MEANINGS = {
    "Information (nats)": """
How much knowing one column reduces the uncertainty about another, whatever the shape of the dependence. Zero means
none; there is no upper limit. One bit is 0.693 nats. For a sense of scale: jointly normal columns with a correlation
of 0.1, 0.3, 0.5 and 0.9 share 0.005, 0.047, 0.144 and 0.830 nats. An estimate may be slightly negative where there is
no information, since it scatters around zero; read it as none.""",
    "Interval": """
A 95% confidence interval, cut off at zero: it covers the true information in about 95 of 100 such samples. It allows
for sampling error and, as far as the rows show it, for what the flows have not learned yet. With few rows and sharp
shapes or many given columns, that may not show: then the truth tends to lie above.""",
    "p-value, adjusted": """
How often independent columns would look at least this dependent by chance. Among many tests some small p-values are
expected by chance alone; adjusted ones (Benjamini and Hochberg; for all columns of the ranking, for all pairs of the
matrix, and for all pairs of the graph) allow for it: of all findings with an adjusted p-value of at most 0.05, about 5%
are expected to be false. A large p-value does not prove independence.""",
    "Correlation scale": """
The correlation that jointly normal columns would have with so much information: from 0 for none to 1 for a function.
It has no sign, and counts curvature and changing spread as much as lines: where it is much larger than the rank
correlation (Spearman), there is more than a monotone trend.""",
    "Given the rest": """
The information that is left between two columns once all other columns of the table are known. If it is zero given the
rest but not alone, the others carry it. Columns that can stand in for each other all have little left given the rest,
although together they matter: leave one out and look again.""",
    "The graph": """
Columns are joined if dependence was detected between them given all the others: by flows with up to 12 columns; with
more, by partial correlations of normal scores and labels, which see only linear relations. An edge has no direction and
does not prove a cause: a common effect of two columns joins them as well, and so does a common cause that is not in the
table. With up to 12 columns a second picture has arrows: what <code>pydine graph</code> finds, which looks for small
sets that make columns independent.""",
    "Latent space": """
Each column is mapped monotonically onto a normal distribution, so that skew, units and outliers are gone and only the
dependence is left: a correlation captures a straight cloud, but not curves, rings, wedges and clusters. Such maps lose
no information.""",
    "Base": """
What was fitted in the latent space. <i>Gaussian</i>: correlation is all there is. <i>Student</i>: extremes occur
together more often than that. <i>Mixture</i> and <i>flow</i>: any other shape. Held-out rows decide. With nominal and
ordinal columns: a contingency <i>table</i>, or <i>mixed</i>, with models that use the order of an ordinal one.""",
    "Kinds of column": """
<i>Continuous</i> values hardly repeat. <i>Ordinal</i> ones have an order and repeat: counts, grades, numbers with many
ties. <i>Nominal</i> ones have no order: text, yes or no, anything with two values. Correct a wrong kind with
<code>--kind</code>, such as <code>--kind code=nominal</code>.
""",
    "Held-out likelihood": """
How well models predict held-out rows, in nats per row: one that ignores the other columns (marginal), a linear
regression on normal scores, and the flow. What the flow gains over the marginal model is the information that the
others have about the column, as far as these rows confirm it; what it gains over the linear one is curvature, changing
spread and interactions.""",
    "PIT histogram": """
Where each held-out row fell in the distribution that the flow predicted for it (the probability integral transform). If
the flow fits, every place is equally likely: the bars are level, and nearly all end within the band. A hump shows that
the flow is underconfident, a valley that it is overconfident, a slope that it is biased.""",
}
