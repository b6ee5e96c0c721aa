"""A report as one HTML page: everything is inside it, and it may load nothing.

Text from the file is escaped where it becomes HTML (see `markup`). In addition, the page's content security policy lets
no script run but its own, which it identifies by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import math
import shlex
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from pydine.inputs.kinds import Kind
from pydine.report import figures
from pydine.report.calibration import FlowFit, most_context
from pydine.report.causes import causes
from pydine.report.content import LEVEL, Ranked, Report
from pydine.report.description import Column, moment
from pydine.report.explanations import explanations
from pydine.report.markup import json_for_script, name, nats, percent, pvalue, quantity, shortened, shown, signed
from pydine.report.prose import MEANINGS, adds, is_partial, left_out, missing_together, summary, trust
from pydine.results import PairwiseInformation
from pydine.results.intervals import interval_ends
from pydine.show.cards import strip_end
from pydine.show.plotting import clustered as clustered
from pydine.show.text import printable
from pydine.types import FloatArray

BASES = ("gaussian", "student", "mixture", "flow", "table", "mixed")
STEPS, MISSING = 65534, 65535  # of a 16-bit number
SHOWN_RANKS = 25
SHOWN_COLUMNS = 25
LONGEST_RANKED = 20  # letters of a name beside its strip: beginnings and ends are what differs
FEW_ROWS = "There are too few rows to hold some out."
ONLY_LABELS = "The other columns are nominal, and this flow takes no nominal ones."
P_ALONE = '<th scope="col" class="number wide">p</th>'
KINDS = {Kind.CONTINUOUS: "continuous", Kind.ORDINAL: "ordinal", Kind.NOMINAL: "nominal"}
KINDS |= {Kind.ANGLE: "angle", Kind.CYCLE: "cycle"}
COMMON, LONGEST_LABEL = 3, 12  # labels that are shown of a column, and their letters
SPARE = 5  # rows that are not worth folding away


def to_html(report: Report) -> str:
    """Write a report as a page of HTML, which is complete in itself."""
    script, style = _resource("script.js"), _resource("style.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    order = [int(i) for i in clustered(report.matrix.values)] if len(report.columns) > 2 else [0, 1]
    return Template(_resource("template.html")).substitute(
        script=script,
        script_hash=f"sha256-{digest}",
        style=style,
        data=json_for_script(_data(report, order)),
        source=shown(report.source),
        target=name(report.target),
        alpha=f"{report.alpha:g}",
        facts=_facts(report),
        summary=_list(summary(report)),
        trust=_list(trust(report)),
        left_out=left_out(report),
        columns=_columns(report),
        ranking=_ranking(report),
        graph=_graph(report, order),
        fits=_fits(report),
        meanings="".join(f"<div><dt>{term}</dt><dd>{text.strip()}</dd></div>" for term, text in MEANINGS.items()),
        reproduce=_reproduce(report),
        made="" if report.provenance.made is None else f", {report.provenance.made.day} {report.provenance.made:%B %Y}",
    )


def _list(sentences: list[str]) -> str:
    return "".join(f"<li>{sentence}</li>" for sentence in sentences)


def _resource(filename: str) -> str:
    return files("pydine.report").joinpath(filename).read_text(encoding="utf-8")


# --- for the script ---------------------------------------------------------------------------------------------------


def _data(report: Report, order: list[int]) -> dict[str, Any]:
    """The data that the script draws from; matrices are upper triangles, row by row."""
    names = [column.name for column in report.columns]
    graph = report.graph
    return {
        "names": [printable(text) for text in names],
        "target": names.index(report.target),
        "order": order,
        "alpha": report.alpha,
        "bases": BASES,
        "pairs": _triangle(report.matrix),
        "rest": None if graph is None else _triangle(graph) | {"columns": [names.index(n) for n in graph.names]},
        "spearman": [_number(v) for v in report.spearman[np.triu_indices(len(names), 1)].tolist()],
        "levels": [[printable(level) for level in column.levels] for column in report.columns],
        "tables": _tables(report),
        "n": report.n_samples,
        "points": {
            "n": report.points.values.shape[1],
            "values": _packed(report.points.values),
            "latents": _packed(report.points.latents),
        },
    }


def _triangle(matrix: PairwiseInformation) -> dict[str, list[Any]]:
    upper = np.triu_indices(len(matrix.names), 1)
    low, high = interval_ends(matrix.values, *matrix.errors, LEVEL, matrix.bounds, matrix.terms)
    numbers = {
        "value": matrix.values,
        "error": matrix.standard_errors,
        "low": low,
        "high": high,
        "p": matrix.pvalues,
        "adjusted": matrix.adjusted_pvalues,
    }
    columns: dict[str, list[Any]] = {key: [_number(v) for v in m[upper].tolist()] for key, m in numbers.items()}
    counts = {"n": matrix.counts[upper].tolist()}
    return columns | counts | {"base": [BASES.index(base) for base in matrix.bases[upper].tolist()]}


def _tables(report: Report) -> dict[str, dict[str, list[Any]]]:
    """The page's tables as rows with a header, for export; pairs are in the triangles."""
    ranking = []
    for row in report.ranking:
        for given, answer in (("", row.alone), ("the rest", row.given_rest)):
            if answer is not None:
                figures_ = (answer.value, answer.standard_error, *answer.interval, answer.pvalue, answer.adjusted)
                ranking.append([printable(row.name), given, *map(_number, figures_), answer.base, answer.n])
    columns: list[list[Any]] = [
        [
            *(
                printable(c.name),
                KINDS[c.kind],
                *map(_number, (c.low, c.quartiles[0], c.median, c.quartiles[1], c.high)),
                c.n_distinct,
                c.n_missing,
            ),
            "; ".join(c.concerns),
        ]
        for c in report.columns
    ]
    columns += [[printable(text), *[None] * 8, f"left out: {printable(why)}"] for text, why in report.left_out.items()]
    fits = [
        [printable(fit.name), *map(_number, (fit.marginal, fit.linear, fit.flow)), fit.n_rows] for fit in report.fits
    ]
    figures_header = ["information", "standard_error", "low", "high", "pvalue", "adjusted_pvalue", "base", "n"]
    return {
        "ranking": {"header": ["column", "given", *figures_header], "rows": ranking},
        "columns": {
            "header": [
                "column",
                "kind",
                "min",
                "lower_quartile",
                "median",
                "upper_quartile",
                "max",
                "distinct",
                "missing",
                "remarks",
            ],
            "rows": columns,
        },
        "fit": {"header": ["column", "marginal", "linear", "flow", "rows"], "rows": fits},
    }


def _number(value: float) -> float | str | None:
    """A number of six digits for JSON, which knows neither NaN nor infinity."""
    if math.isnan(value):
        return None
    return float(f"{value:.6g}") if math.isfinite(value) else "Infinity"


def _packed(columns: FloatArray) -> dict[str, Any]:
    """Columns (p, m) as 16-bit numbers between the ends of each, the last one for NaN; little-endian, in base64."""
    missing = np.isnan(columns)
    least = np.where(missing, np.inf, columns).min(axis=1, keepdims=True)
    there = np.where(missing, np.nan_to_num(least, posinf=0.0), columns)
    low, high = there.min(axis=1, keepdims=True), there.max(axis=1, keepdims=True)
    # Halves, since the difference of two finite numbers may be infinite; rows drawn may all be equal.
    width = np.where(high > low, 0.5 * high - 0.5 * low, 1.0)
    steps = np.where(missing, MISSING, np.rint((0.5 * there - 0.5 * low) / width * STEPS)).astype("<u2")
    ends = [[float(f"{end:.9g}") for end in pair] for pair in np.hstack([low, high]).tolist()]
    return {"ends": ends, "steps": base64.b64encode(steps.tobytes()).decode()}


# --- the sections -----------------------------------------------------------------------------------------------------


def _facts(report: Report) -> str:
    matrix = report.matrix
    total = len(matrix.pairs[0])
    found = int((matrix.adjusted_pvalues[matrix.pairs] <= report.alpha).sum())
    facts = [
        (f"{report.n_samples:,}", "rows used" if report.n_samples < report.n_rows else "rows"),
        (f"{len(report.columns):,}", "columns used" if report.left_out else "columns"),
        (f"{found:,}", f"of {total:,} pairs show dependence"),
    ]
    asked = [row for row in report.ranking if row.given_rest]
    if asked:
        facts.append((str(sum(adds(row, report.alpha) for row in asked)), f"of {len(asked)} columns add something"))
    return "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for value, label in facts)


def _columns(report: Report) -> str:
    many = len(report.columns) + len(report.left_out) > SHOWN_COLUMNS + SPARE
    first = [column for column in report.columns if not many or _has_remarks(column, report.target)]
    others = [column for column in report.columns if column not in first]
    used = [_column(column, report) for column in (*first, *others)]
    lost = [
        f'<tr class="out"><th scope="row">{name(text)}</th><td class="wide" colspan="2"></td><td></td>'
        f'<td class="wide" colspan="2"></td><td>left out: {shown(reason)}</td></tr>'
        for text, reason in report.left_out.items()
    ]
    head = (
        '<thead><tr><th scope="col">column</th><th scope="col" class="wide">kind</th>'
        '<th scope="col" class="wide">values</th><th scope="col" class="ends">min · <span class="wide">quartiles</span>'
        '<span class="narrow">median</span> · max, or labels</th>'
        '<th scope="col" class="number wide">distinct</th>'
        '<th scope="col" class="number wide">missing</th><th scope="col">remarks</th></tr></thead>'
    )
    rows = f"{report.n_rows:,} rows in the file"
    if report.n_samples < report.n_rows:
        rows += f", {report.n_samples:,} drawn at random"
    if report.n_complete < report.n_samples:
        rows += f", {report.n_complete:,} with all columns"
    out = f"{len(report.left_out):,} left out" if report.left_out else "none left out"
    out += "; those with remarks come first" if many else ""
    lead = f"<p>{rows}. {len(report.columns):,} columns are used, {out}.{missing_together(report)}</p>"
    return lead + _long_table(head, [*lost, *used], SHOWN_COLUMNS, "columns")


def _has_remarks(column: Column, target: str) -> bool:
    return bool(column.concerns or column.n_missing or column.copy_of or column.name == target)


def _column(column: Column, report: Report) -> str:
    notes = [shown(concern) for concern in column.concerns]
    if column.copy_of is not None:
        how = "a strictly monotone function of" if column.kind.is_continuous else "one-to-one with"
        notes.insert(0, f"{how} {name(column.copy_of)}: left out of the rest")
    if column.name == report.target:
        notes.insert(0, "<strong>the target</strong>")
    ends = _apart(_common(column) if column.is_labels else _spread(column))
    share = column.n_missing / report.n_samples
    gauge = f'<span class="gauge" aria-hidden="true"><i style="width:{100 * share:.0f}%"></i></span>'
    missing = f'<span title="{column.n_missing:,} rows">{gauge} {share:.1%}</span>' if column.n_missing else "–"
    # Where there is no room for a column of its own, it is said.
    lacks = f'<span class="narrow">{share:.1%} missing{"; " if notes else ""}</span>' if column.n_missing else ""
    bars = figures.bars(column.histogram, "histogram")
    return (
        f'<tr><th scope="row">{name(column.name)}</th><td class="wide">{KINDS[column.kind]}</td>'
        f'<td class="wide">{bars}</td><td class="ends"><small class="narrow">{KINDS[column.kind]}</small>{ends}</td>'
        f'<td class="number wide">{column.n_distinct:,}</td><td class="number wide">{missing}</td>'
        f"<td>{lacks}{'; '.join(notes)}</td></tr>"
    )


def _spread(column: Column) -> list[str]:
    """The smallest value, the quartiles and the largest of a column; of dates and few values, the median alone."""
    if column.clock:
        return [moment(value, column.clock) for value in (column.low, column.median, column.high)]
    lower, upper = ([] if column.levels else [quartile] for quartile in column.quartiles)
    return [quantity(value) for value in (column.low, *lower, column.median, *upper, column.high)]


def _common(column: Column) -> list[str]:
    """The most frequent labels of a column, with their shares, which a label that is a number must not run into."""
    total = sum(column.histogram)
    pairs = list(zip(column.levels, column.histogram, strict=True))[:COMMON]
    return [
        f"{shown(shortened(label, LONGEST_LABEL))}&nbsp;<small>{percent(count / total)}</small>"
        for label, count in pairs
    ]


def _apart(parts: list[str]) -> str:
    """Parts of a cell, between which a line may end; of five, the second and the fourth need room."""
    if len(parts) < 5:
        return " · ".join(f"<span>{part}</span>" for part in parts)
    low, lower, median, upper, high = parts
    before, after = (f'<span class="wide">{quartile} · </span>' for quartile in (lower, upper))
    return f"<span>{low}</span> · {before}<span>{median}</span> · {after}<span>{high}</span>"


def _long_table(head: str, rows: list[str], most: int, what: str, kind: str = "") -> str:
    """A table whose later rows are folded away if there are many."""

    def table(some: list[str]) -> str:
        return f'<div class="scroll"><table class="{kind}">{head}<tbody>{"".join(some)}</tbody></table></div>'

    if len(rows) <= most + SPARE:
        return table(rows)
    more = f"<details><summary>{len(rows) - most:,} more {what}</summary>{table(rows[most:])}</details>"
    return table(rows[:most]) + more


def _ranking(report: Report) -> str:
    answers = [answer for row in report.ranking for answer in (row.alone, row.given_rest) if answer]
    limit = strip_end([(answer.value, answer.standard_error, answer.interval[1]) for answer in answers])
    with_rest = any(row.given_rest for row in report.ranking)
    rest = '<th scope="col" class="number">given the rest</th><th scope="col" class="number wide">p</th>'
    head = (
        f'<thead><tr><th scope="col">column</th><th scope="col">{figures.axis(limit)}</th>'
        f'<th scope="col" class="number">alone</th>{rest if with_rest else P_ALONE}</tr></thead>'
    )
    positions = {column.name: i for i, column in enumerate(report.columns)}
    rows = [_ranked(row, report, positions, limit, with_rest) for row in report.ranking]
    why = f"<p>{shown(report.why_no_rest)}</p>" if report.why_no_rest else ""
    given = "all the other columns"
    if report.screened:
        given = f"the {len(report.screened) - 1} of {len(report.ranking) - 1:,} other columns that tell most"
    keys = '<span class="strip key"><b class="alone"></b></span> alone '
    keys += f'<span class="strip key"><b class="rest"></b></span> given {given}; ' if with_rest else ""
    grey = "Grey: not detected; the bar shows how much there may be."
    legend = f'<p class="legend">Nats. {keys}bars are 95% intervals. {grey}</p>'
    return why + legend + _long_table(head, rows, SHOWN_RANKS, "columns", "ranking") + explanations(report)


def _ranked(row: Ranked, report: Report, positions: dict[str, int], limit: float, with_rest: bool) -> str:
    pair = f"{positions[row.name]},{positions[report.target]}"
    strip = figures.strip([("alone", row.alone), ("rest", row.given_rest)], limit)
    cells = ""
    for answer in (row.alone, row.given_rest) if with_rest else (row.alone,):
        is_last = answer is not row.alone or not with_rest  # one p-value a row: that of what is asked last
        if answer is None:
            cells += '<td class="number">–</td><td class="number wide">–</td>'
            continue
        faint = " faint" if not answer.adjusted <= report.alpha else ""
        error = f' <small class="wide">± {answer.standard_error:.3f}</small>' if math.isfinite(answer.value) else ""
        shows = answer.shows.replace("with z", "with the rest")
        where = f'<small class="shows">{shows}</small>' if shows and not faint else ""
        cells += f'<td class="number{faint}">{nats(answer.value)}{error}</td>' + (
            f'<td class="number wide{faint}">{pvalue(answer.adjusted)}{where}</td>' if is_last else ""
        )
    button = f'<button type="button" class="link" data-pair="{pair}">{name(row.name, LONGEST_RANKED)}</button>'
    return f'<tr><th scope="row">{button}</th><td>{strip}</td>{cells}</tr>'


def _graph(report: Report, order: list[int]) -> str:
    if report.graph is None:
        return f"<p>{shown(report.why_no_graph)}</p>"
    names = [column.name for column in report.columns]
    positions = [names.index(text) for text in report.graph.names]
    within = {position: i for i, position in enumerate(positions)}
    around = [within[position] for position in order if position in within]
    edges = int((report.graph.adjusted_pvalues[report.graph.pairs] <= report.alpha).sum())
    total = len(report.graph.pairs[0])
    how = ", by linear relations of normal scores and labels only" if report.is_linear_graph else ""
    if not edges:
        return f"<p>No dependence was detected in {total:,} pairs given all the other columns{how}.</p>"
    lead = (
        f"<p>Dependence was detected in {edges:,} of {total:,} pairs given all the other columns{how}. The wider the "
        "line, the more information; edges of the target are coloured. Columns that are close in the matrix are "
        "neighbours here.</p>"
    )
    drawn = lead + figures.graph(report.graph, around, positions, report.target, report.alpha)
    return drawn if report.causes is None else drawn + causes(report.causes, report.target)


def _fits(report: Report) -> str:
    if not report.fits:
        is_label = any(column.name == report.target and column.kind is Kind.NOMINAL for column in report.columns)
        why = FEW_ROWS if most_context(report.n_complete) < 1 else ONLY_LABELS
        return f"<p>{'The target is nominal, and a flow needs an order.' if is_label else why}</p>"
    target = report.fits[0]
    given = f"{len(target.context):,} other column{'s' if len(target.context) > 1 else ''}"
    if is_partial(target, report):
        given = f"the {len(target.context):,} columns that tell most about it, except nominal ones"
    kind = next(column.kind for column in report.columns if column.name == target.name)
    blurred = " Tied values were spread out, which blurs the results for an ordinal column."
    spread = blurred if kind is Kind.ORDINAL else ""
    lead = (
        f"<p>{target.n_rows:,} rows were divided into {target.n_parts} parts, and each part was predicted by "
        f"flows fitted to the others. {name(target.name)} was predicted from {given}.{spread}</p>"
    )
    thirds = ("lowest third predicted", "middle third", "highest third predicted")
    panels = [("all rows", target.histogram), *zip(thirds, target.by_third, strict=True)]
    pits = "".join(
        f"<figure>{figures.histogram(counts, label)}<figcaption>{label}</figcaption></figure>"
        for label, counts in panels
    )
    head = (
        '<thead><tr><th scope="col">column, given the others</th><th scope="col" class="number wide">marginal</th>'
        '<th scope="col" class="number wide">linear</th><th scope="col" class="number wide">flow</th>'
        '<th scope="col" class="number">flow − marginal</th><th scope="col" class="number">flow − linear</th>'
        '<th scope="col" class="wide">PIT</th><th scope="col" class="wide">models</th></tr></thead>'
    )
    table = _long_table(head, [_fit(fit) for fit in report.fits], len(report.fits), "columns")
    return (
        f'{lead}<h3>Where held-out rows of {name(target.name)} fell</h3><div class="pits">{pits}</div>'
        '<p class="legend">Level bars within the band: the flow is calibrated. The thirds are by what a '
        "linear model predicts for a row.</p><h3>Held-out log-likelihood, nats per row</h3>"
        f"{table}"
    )


def _fit(fit: FlowFit) -> str:
    numbers = "".join(f'<td class="number wide">{nats(v)}</td>' for v in (fit.marginal, fit.linear, fit.flow))
    gains = "".join(
        f'<td class="number">{signed(gain.value)} <small>± {gain.standard_error:.3f}</small></td>'
        for gain in (fit.flow_gain, fit.beyond_linear)
    )
    parts = sorted(fit.rungs.items(), key=lambda rung: -rung[1])
    rungs = ", ".join(f"{rung} {weight:.0%}" for rung, weight in parts if weight >= 0.05)
    pit = figures.histogram(fit.histogram, "PIT", small=True)
    return (
        f'<tr><th scope="row">{name(fit.name)}</th>{numbers}{gains}<td class="wide">{pit}</td>'
        f'<td class="wide"><small>{shown(rungs)}</small></td></tr>'
    )


def _reproduce(report: Report) -> str:
    provenance = report.provenance
    parts = []
    if provenance.command:
        parts.append(f"<pre><code>{shown(shlex.join(provenance.command))}</code></pre>")
    facts = {
        "file": shown(report.source),
        **(
            {"SHA-256 of the file": f'<code class="digest">{shown(provenance.digest)}</code>'}
            if provenance.digest
            else {}
        ),
        **{key: shown(value) for key, value in report.settings.items()},
        **{key: shown(value) for key, value in provenance.versions.items()},
    }
    rows = "".join(f'<tr><th scope="row">{key}</th><td>{value}</td></tr>' for key, value in facts.items())
    parts.append(f'<table class="facts"><tbody>{rows}</tbody></table>')
    parts.append(
        "<p>The same file, seed and version give the same results, on any number of threads. The matrix is that of "
        "<code>pydine matrix</code>, the graph that of <code>pydine matrix --given rest</code>; <code>--csv</code> "
        "prints all pairs.</p>"
    )
    return "".join(parts)
