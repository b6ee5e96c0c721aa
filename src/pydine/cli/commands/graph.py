"""``pydine graph``: the causal graph that the independences between columns leave possible."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydine.cli import options
from pydine.cli.engine import Distributed
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, page, plain_table, why_few
from pydine.cli.output.files import check_places
from pydine.cli.output.graphs import CONFLICTING, DIRECTED, MARKS, UNDIRECTED, Edge, check_suffix, write_graph
from pydine.cli.output.notes import listening, tell

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLES = options.example(
    "pydine graph patients.csv --alpha 0.01 --out graph.png",
    "pydine graph patients.csv -c age -c bmi -c glucose --out graph.graphml",
)
TAIL, ARROW = -1, 1  # causal-learn's marks at the end of an edge


def graph(
    file: options.File,
    *,
    chosen: options.Chosen,
    alpha: options.Alpha = 0.05,
    work: Distributed,
    reading: options.Reading,
    out: Annotated[
        Path | None,
        options.of_output(
            metavar="FILE", help="Draw it (.png, .svg, .pdf) or write it for other programs (.graphml, .dot)."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    printed: options.Printed,
) -> None:
    """Which columns may cause which.

    The PC algorithm of causal-learn with pydine's test of conditional independence: columns stay joined if no set of
    others makes them independent, and an edge has a direction where independence alone settles it. It takes for
    granted that no common cause is missing from the file.
    """
    form = printed.form
    if out is not None:
        check_suffix(out)
        check_places(file, out, overwrite=overwrite)
    request = Request(file, reading, work.seed)
    frame = request.read_many(request.open(), chosen)
    whole = frame.complete()  # the search conditions on many sets, so it uses the rows that have all columns
    constant = dict.fromkeys(whole.constant(), "it is constant in the rows that have all columns")
    frame, whole = frame.without(constant), whole.without(constant)
    if len(frame) < 2:
        raise ValueError(f"{frame.source} has fewer than two columns to compare; {why_few(frame)}.")
    with listening(frame.source) as said, work.running(work.jobs):
        from pydine.integrations.causal_learn import pc

        is_watched = sys.stderr.isatty()
        found = pc(
            whole,
            alpha=alpha,
            random_state=work.seed,
            n_jobs=work.n_jobs(whole),
            kinds=frame.kinds,
            show_progress=is_watched,
        )
    names = list(frame)
    edges = edges_of(found, names)
    if out is not None:
        write_graph(out, names, edges)
    rows = [edge._asdict() for edge in edges]
    counted = {"n_samples": whole.n_samples, "n_dropped": frame.n_samples - whole.n_samples}
    record = {**facts(frame), **counted, "alpha": alpha, "names": names, "edges": rows}
    answer(form, record, rows, lambda: _shown(names, edges, whole.n_samples, alpha), header=Edge._fields, frame=frame)
    tell(said)


def edges_of(found: Any, names: list[str]) -> list[Edge]:
    """Read the edges of a causal-learn graph: entry (i, j) of its matrix is the mark at i of the edge with j."""
    marks = found.G.graph
    edges = []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            at_i, at_j = marks[i, j], marks[j, i]
            if at_i == TAIL and at_j == ARROW:
                edges.append(Edge(names[i], names[j], DIRECTED))
            elif at_i == ARROW and at_j == TAIL:
                edges.append(Edge(names[j], names[i], DIRECTED))
            elif at_i or at_j:
                edges.append(Edge(names[i], names[j], UNDIRECTED if at_i == at_j == TAIL else CONFLICTING))
    return edges


def _shown(names: list[str], edges: list[Edge], n_samples: int, alpha: float) -> RenderableType:
    table = plain_table("", "", "", left=3)
    table.show_header = False
    for edge in edges:
        table.add_row(edge.source, MARKS[edge.kind], edge.target)
    joined = {name for edge in edges for name in edge[:2]}
    alone = [name for name in names if name not in joined]
    legend = "→ may cause, — joined in a direction that the data do not tell, ↔ the tests disagree." if edges else ""
    apart = f"Joined with nothing: {', '.join(alone)}." if alone else ""
    count = f"{len(edges)} edges among {len(names)} columns"
    return page(count, table, legend, apart, how=f"{n_samples:,} rows, PC algorithm at {alpha:g}")
