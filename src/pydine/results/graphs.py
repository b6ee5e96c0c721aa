"""A causal graph, as a frozen result: its edges and what is not joined, as table, figure, and for other programs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from pydine.results.pairs import as_frame
from pydine.results.records import Record
from pydine.show.cards import pvalue_text, table
from pydine.show.extras import missing
from pydine.show.text import escaped
from pydine.types import must_fit

DIRECTED, UNDIRECTED, CONFLICTING = "directed", "undirected", "conflicting"
MARKS = {DIRECTED: "→", UNDIRECTED: "—", CONFLICTING: "↔"}
LEGEND = {
    DIRECTED: "→ may cause",
    UNDIRECTED: "— joined, in a direction that the data do not settle",
    CONFLICTING: "↔ the tests disagree",
}
ASSUMES = (
    "Arrows assume that no common cause of two columns is missing, that there is no selection bias, and that effects "
    "do not cancel out."
)
SHOWN_EDGES = 20


@dataclass(frozen=True)
class GraphEdge:
    """Two columns that no set of others separates.

    Parameters
    ----------
    source, target : str
        The order means something if the edge is directed.
    kind : {"directed", "undirected", "conflicting"}
    information, standard_error, low, high : float
        What one tells about the other that `given` does not, in nats, with a 95% interval.
    pvalue : float
        The largest of all sets that were tried.
    given : tuple of str
        The set that has it, which came nearest to separating the two.
    tried : int
        How many sets were tried.
    stability : float
        The share of resampled tables in which the edge was found, in any direction; NaN without `bootstrap`.
    """

    source: str
    target: str
    kind: str
    information: float
    standard_error: float
    low: float
    high: float
    pvalue: float
    given: tuple[str, ...]
    tried: int
    stability: float = math.nan


@dataclass(frozen=True)
class AbsentEdge:
    """Two columns that a set of others separates, as far as the test can tell.

    Parameters
    ----------
    source, target : str
        In the order of the table.
    pvalue : float
        Given the separating set; NaN if there were too few rows, or somebody knows that there is no edge.
    given : tuple of str
        The separating set.
    tried : int
        How many sets were tried.
    high : float
        The upper end of the 95% interval of what they tell about each other given that set, in nats; NaN without
        `min_information`.
    stability : float
        The share of resampled tables in which there was an edge; NaN without `bootstrap`.
    """

    source: str
    target: str
    pvalue: float
    given: tuple[str, ...]
    tried: int
    high: float = math.nan
    stability: float = math.nan


def _nats(value: float) -> str:
    return "–" if math.isnan(value) else "∞" if math.isinf(value) else f"{value:z.3f}"


@dataclass(frozen=True, repr=False)
class CausalGraph(Record):
    """What `causal_graph` found.

    Parameters
    ----------
    names : tuple of str
        The columns.
    edges : tuple of GraphEdge
        Strongest first.
    absent : tuple of AbsentEdge
        All other pairs.
    alpha : float
        Level of the tests.
    n_samples, n_dropped : int
        Rows that some test used, and rows that none did.
    n_tests : int
        Tests of independence, those in the cache included.
    fdr : float or None
        The false discovery rate among edges that was asked for.
    bootstrap : int
        Tables that were resampled.
    min_information : float or None
        The amount of information, in nats, below which two columns count as independent.
    backend : str
        The library that frames are made with: that of the data, if it was a frame.
    """

    names: tuple[str, ...]
    edges: tuple[GraphEdge, ...]
    absent: tuple[AbsentEdge, ...]
    alpha: float
    n_samples: int
    n_dropped: int
    n_tests: int
    fdr: float | None = None
    bootstrap: int = 0
    min_information: float | None = None
    backend: str = field(default="pandas")

    def __post_init__(self) -> None:
        """Refuse edges between columns that there are not, or of another kind."""
        known = set(self.names)
        must_fit(self, all({edge.source, edge.target} <= known for edge in self.edges))
        must_fit(self, all({pair.source, pair.target} <= known for pair in self.absent))
        must_fit(self, all(edge.kind in MARKS for edge in self.edges))

    @property
    def independent(self) -> tuple[AbsentEdge, ...]:
        """Pairs that tell less about each other than `min_information`, with 97.5% confidence each."""
        return tuple(pair for pair in self.absent if self._is_below(pair.high))

    @property
    def undecided(self) -> tuple[AbsentEdge, ...]:
        """Pairs without an edge that may still tell `min_information` nats or more about each other."""
        return tuple(pair for pair in self.absent if not self._is_below(pair.high))

    def _is_below(self, high: float) -> bool:
        if self.min_information is None:
            raise ValueError("pairs without an edge were not estimated; pass min_information= to causal_graph.")
        return high < self.min_information

    @property
    def alone(self) -> tuple[str, ...]:
        """Columns that are joined with nothing."""
        joined = {name for edge in self.edges for name in (edge.source, edge.target)}
        return tuple(name for name in self.names if name not in joined)

    def columns(self) -> dict[str, list[Any]]:
        """The table of edges as columns, as `to_frame` has them."""
        names = (*(name for name in GraphEdge.__dataclass_fields__ if name != "given"), "given")
        found: dict[str, list[Any]] = {name: [getattr(edge, name) for edge in self.edges] for name in names}
        return found | {"given": [", ".join(edge.given) for edge in self.edges]}

    def to_frame(self) -> Any:
        """The edges as a table, strongest first, in a frame of the library that the data came in."""
        return as_frame(self.columns(), self.backend)

    def to_networkx(self) -> Any:
        """The graph for networkx; an edge that has no direction, or conflicting ones, is there in both.

        Returns
        -------
        networkx.DiGraph
            Edges have ``kind``, ``information`` and ``weight`` (nats), ``low``, ``high``, ``pvalue``, ``stability``.
        """
        try:
            import networkx as nx
        except ImportError:
            raise missing("networkx", "a graph of networkx") from None
        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        for edge in self.edges:
            figures = {
                name: getattr(edge, name) for name in ("kind", "information", "low", "high", "pvalue", "stability")
            }
            graph.add_edge(edge.source, edge.target, weight=edge.information, **figures)
            if edge.kind != DIRECTED:
                graph.add_edge(edge.target, edge.source, weight=edge.information, **figures)
        return graph

    def to_dot(self) -> str:
        """The graph in the language of Graphviz, whose quoted names are escaped as JSON's are."""
        ends = {DIRECTED: "forward", UNDIRECTED: "none", CONFLICTING: "both"}
        quoted = {name: json.dumps(name, ensure_ascii=False) for name in self.names}
        lines = [f"  {quoted[name]};" for name in self.names]
        for edge in self.edges:
            label = "" if math.isnan(edge.information) else f', label="{edge.information:z.2f}"'
            lines.append(f"  {quoted[edge.source]} -> {quoted[edge.target]} [dir={ends[edge.kind]}{label}];")
        return "\n".join(["digraph {", *lines, "}", ""])

    def to_graphml(self) -> str:
        """The graph as GraphML, for Gephi, yEd, Cytoscape or igraph; edges without a direction are undirected there."""
        keys = {"kind": "string", "information": "double", "low": "double", "high": "double", "pvalue": "double"}
        keys |= {"stability": "double", "given": "string"}
        place = {name: f"n{i}" for i, name in enumerate(self.names)}
        lines = [f'<key id="{k}" for="edge" attr.name="{k}" attr.type="{kind}"/>' for k, kind in keys.items()]
        lines += ['<key id="label" for="node" attr.name="label" attr.type="string"/>', '<graph edgedefault="directed">']
        for name in self.names:  # no XML may hold control characters
            lines.append(f'<node id="{place[name]}"><data key="label">{escape(escaped(name))}</data></node>')
        for edge in self.edges:
            ends = f'source="{place[edge.source]}" target="{place[edge.target]}"'
            data = {key: ", ".join(edge.given) if key == "given" else getattr(edge, key) for key in keys}
            written = "".join(
                f"<data key={quoteattr(key)}>{escape(escaped(str(value)))}</data>"
                for key, value in data.items()
                if not (isinstance(value, float) and math.isnan(value))
            )
            lines.append(f'<edge directed="{str(edge.kind != UNDIRECTED).lower()}" {ends}>{written}</edge>')
        body = "\n".join([*lines, "</graph>"])
        head = '<?xml version="1.0" encoding="UTF-8"?>'
        return f'{head}\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{body}\n</graphml>\n'

    def plot(self, axes: Any = None) -> Any:
        """Draw the graph in layers, causes to the left of their effects; needs matplotlib.

        Lines are as thick as edges are strong. Columns that are joined with nothing are listed below.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure that is large enough for all names.

        Returns
        -------
        matplotlib Axes
        """
        from pydine.show.networks import draw_network

        return draw_network(self, axes)

    @property
    def apart(self) -> list[str]:
        """Sentences on what is not joined: columns without an edge, and how many pairs are shown to be independent."""
        found = [f"Without an edge: {', '.join(self.alone)}."] if self.alone else []
        if self.min_information is not None and self.absent:
            found.append(
                f"{len(self.independent):,} of the {len(self.absent):,} pairs without an edge share less than "
                f"{self.min_information:g} nats, with 97.5% confidence each."
            )
        return found

    @property
    def legend(self) -> str:
        """What the marks of its edges mean, and what arrows assume."""
        kinds = [kind for kind in LEGEND if any(edge.kind == kind for edge in self.edges)]
        marks = f"{', '.join(LEGEND[kind] for kind in kinds)}." if kinds else ""
        return f"{marks} {ASSUMES}" if DIRECTED in kinds else marks

    @property
    def title(self) -> str:
        """What was found, in a line."""
        count = f"{len(self.edges):,} edge{'s' * (len(self.edges) != 1)} among {len(self.names):,} columns"
        rate = "" if self.fdr is None else f", false discovery rate {self.fdr:g}"
        dropped = f" ({self.n_dropped:,} rows dropped)" if self.n_dropped else ""
        return f"{count}, n = {self.n_samples:,}{dropped}, alpha = {self.alpha:g}{rate}, {self.n_tests:,} tests"

    def rows(self) -> list[list[str]]:
        """The edges in words: edge, nats, interval, p-value, what it is given, stability."""
        return [
            [
                f"{edge.source} {MARKS[edge.kind]} {edge.target}",
                _nats(edge.information),
                "" if math.isnan(edge.low) else f"{edge.low:.3f} to {edge.high:.3f}",
                pvalue_text(edge.pvalue),
                ", ".join(edge.given) or "–",
                "–" if math.isnan(edge.stability) else f"{edge.stability:.2f}",
            ]
            for edge in self.edges
        ]

    @property
    def header(self) -> list[str]:
        """What the columns of `rows` are."""
        return ["edge", "nats", "95% interval", "p", "given", "stability"]

    def __repr__(self) -> str:
        rows = [self.header, *self.rows()[:SHOWN_EDGES]]
        if not self.bootstrap:
            rows = [row[:-1] for row in rows]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = [f"{self.title}:"] if self.edges else [f"{self.title}."]
        if self.edges:
            lines += [
                "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
            ]
        if len(self.edges) > SHOWN_EDGES:
            lines.append(f"  … and {len(self.edges) - SHOWN_EDGES:,} more: to_frame() has all")
        return "\n".join([*lines, *self.apart, *([self.legend] if self.legend else [])])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        more = (
            f"… and {len(self.edges) - SHOWN_EDGES:,} more: to_frame() has all. "
            if len(self.edges) > SHOWN_EDGES
            else ""
        )
        below = more + " ".join([*self.apart, self.legend])
        return table(self.title, self.header, self.rows()[:SHOWN_EDGES], below)
