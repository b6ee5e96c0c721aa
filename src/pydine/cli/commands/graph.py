"""``pydine graph``: the causal graph that the independences between columns leave possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydine.cli import options
from pydine.cli.engine import Distributed
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, lines_of, page, plain_table, why_few
from pydine.cli.output.files import check_places
from pydine.cli.output.graphs import check_suffix, write_graph
from pydine.cli.output.notes import listening, tell

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.inputs.files import Frame
    from pydine.results import CausalGraph

EXAMPLES = options.example(
    "pydine graph patients.csv --out graph.png --cache kept",
    "pydine graph patients.csv --tiers age,sex --tiers bmi,glucose --tiers outcome --bootstrap 20",
    "pydine graph patients.csv -c age -c bmi -c glucose --forbid bmi:age --out graph.graphml",
)
ARROW = "CAUSE:EFFECT"


@dataclass(frozen=True)
class Searching:
    """How the graph is searched."""

    alpha: options.Alpha = 0.01
    depth: Annotated[
        int | None,
        options.of_method(metavar="N", min=0, help="Condition on at most N columns.", show_default=False),
    ] = None
    sets: Annotated[
        int, options.of_method(metavar="N", min=0, help="Try the N most promising sets of each size; 0 tries all.")
    ] = 3
    fdr: Annotated[
        float | None,
        options.of_method(metavar="SHARE", help="Control the false discovery rate at this level.", show_default=False),
    ] = None
    bootstrap: Annotated[
        int, options.of_method(metavar="N", min=0, help="Also search N resampled tables, to see how stable edges are.")
    ] = 0
    min_information: Annotated[
        float | None,
        options.of_method(
            metavar="NATS",
            help="Also estimate pairs without an edge, to say which share less than this.",
            show_default=False,
        ),
    ] = None
    cache: options.Cache = None


@dataclass(frozen=True)
class Known:
    """What is known of the graph beforehand."""

    tiers: Annotated[
        list[str] | None,
        options.of_data(
            metavar="COLUMNS",
            help="Columns that arise at the same time, separated by commas; once for each time, earliest first. "
            "No column causes an earlier one.",
        ),
    ] = None
    forbid: Annotated[
        list[str] | None, options.of_data(metavar=ARROW, help="An arrow to rule out; repeat as needed.")
    ] = None
    require: Annotated[
        list[str] | None, options.of_data(metavar=ARROW, help="An arrow that must be there; repeat as needed.")
    ] = None

    def arguments(self, names: Sequence[str]) -> dict[str, Any]:
        """The arguments of `causal_graph`."""
        return {
            "tiers": None if not self.tiers else [_listed(text, names) for text in self.tiers],
            "forbidden": [_arrow("--forbid", text, names) for text in self.forbid or ()],
            "required": [_arrow("--require", text, names) for text in self.require or ()],
        }


def graph(
    file: options.File,
    *,
    chosen: options.Chosen,
    depending: options.Depending,
    known: Known,
    searching: Searching,
    work: Distributed,
    reading: options.Reading,
    out: Annotated[
        Path | None,
        options.of_output(
            metavar="FILE", help="Draw it (.png, .svg, .pdf) or write it for other programs (.graphml, .dot, .json)."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    printed: options.Printed,
) -> None:
    """Which columns may cause which.

    The PC algorithm with pydine's test of conditional independence: columns stay joined if no set of others makes them
    independent, and an edge has a direction where the independences settle it. Strengths of edges are in nats. The
    search assumes that no common cause is missing from the file. With --cache, an interrupted search resumes.
    """
    form = printed.form
    if out is not None:
        check_suffix(out)
        check_places(file, out, overwrite=overwrite)
    request = Request(file, reading, work.seed)
    table = request.open()
    depends, apart = depending.found(table), depending.columns(table)
    frame = request.read_many(table, chosen, apart, named=depending.labels(table))
    if len(frame) - len(apart) < 2:
        raise ValueError(f"{frame.source} has fewer than two columns to compare; {why_few(frame)}.")
    with listening(frame.source) as said, work.running(work.jobs):
        found = _searched(frame, searching, known, work.settings(frame, depends))
    if out is not None:
        write_graph(out, found)
    rows = lines_of(found.columns())
    counted = {"n_samples": found.n_samples, "n_dropped": found.n_dropped, "n_tests": found.n_tests}
    record = {**facts(frame), **counted, "alpha": searching.alpha, "names": list(found.names), "edges": rows}
    record["absent"] = [asdict(pair) for pair in found.absent]
    header = list(found.columns())
    answer(form, record, rows, lambda: _shown(found), header=header, frame=frame)
    tell(said)


def _searched(frame: Frame, searching: Searching, known: Known, settings: dict[str, Any]) -> CausalGraph:
    from pydine.questions.causal_graph import causal_graph

    del settings["random_state"]
    return causal_graph(
        frame,
        searching.alpha,
        depth=searching.depth,
        sets=searching.sets or None,
        fdr=searching.fdr,
        bootstrap=searching.bootstrap,
        min_information=searching.min_information,
        cache=searching.cache,
        **settings,
        **known.arguments(list(frame)),
    )


def _listed(text: str, names: Sequence[str]) -> list[str]:
    """Names with commas between them, unless the whole is a name."""
    return [text] if text in names else [part.strip() for part in text.split(",")]


def _arrow(option: str, text: str, names: Sequence[str]) -> tuple[str, str]:
    """A cause and its effect with a colon between them; names may hold colons too."""
    places = [i for i, letter in enumerate(text) if letter == ":"]
    splits = [(text[:i].strip(), text[i + 1 :].strip()) for i in places]
    for cause, effect in splits:
        if cause in names and effect in names:
            return cause, effect
    raise ValueError(f"{option} must be two columns joined by a colon, as in cause:effect, but is {text!r}.")


def _shown(found: CausalGraph) -> RenderableType:
    header = found.header if found.bootstrap else found.header[:-1]
    table = plain_table(*header, left=1)
    for row in found.rows():
        table.add_row(*row[: len(header)])
    count = f"{len(found.edges)} edge{'s' * (len(found.edges) != 1)} among {len(found.names)} columns"
    rate = "" if found.fdr is None else f", false discovery rate {found.fdr:g}"
    how = f"{found.n_samples:,} rows, PC algorithm at {found.alpha:g}{rate}, {found.n_tests:,} tests"
    return page(count, table, found.legend, *found.apart, how=how)
