"""``pydine report``: everything about a file and a target, as one page of HTML."""

from __future__ import annotations

import hashlib
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydine._version import __version__
from pydine.cli import options
from pydine.cli.engine import Distributed
from pydine.cli.inputs import Request
from pydine.cli.output.answers import done_to, why_few
from pydine.cli.output.files import check_places, save
from pydine.cli.output.notes import listening, note, tell

if TYPE_CHECKING:
    from pydine.report import Provenance

EXAMPLES = options.example(
    "pydine report patients.csv --target glucose -o glucose.html",
    "pydine report patients.parquet --target glucose --without patient_id --sample 5000",
)


def report(
    file: options.File,
    target: options.Target,
    *,
    chosen: options.Chosen,
    depending: options.Depending,
    alpha: options.Alpha = 0.05,
    base: options.BaseOption = options.Base.auto,
    work: Distributed,
    reading: options.Reading,
    out: Annotated[Path, options.of_output("-o", "--out", metavar="FILE.html", help="Where to write it.")] = Path(
        "report.html"
    ),
    overwrite: options.Overwrite = False,
) -> None:
    """A report to share: one HTML file that needs neither pydine nor a network.

    The columns and their problems, the information between all pairs with the rows behind it, the ranking for
    the target, the conditional-independence graph, how well the flows fit, and what the numbers mean.
    """
    request = Request(file, reading, work.seed)
    table = request.open()
    target = table.find_one("--target", target)
    if out.suffix.lower() not in ("", ".html", ".htm") and not out.is_dir():
        raise ValueError(f"{out}: a report is an HTML page; end the name in .html.")
    check_places(file, out, overwrite=overwrite)
    apart = depending.columns(table)
    frame = request.read_many(table, chosen, needed=[target, *apart], named=depending.labels(table))
    if len(frame) - len(apart) < 2:
        raise ValueError(f"{frame.source} has no column to report on besides {target!r}; {why_few(frame)}.")
    with listening(frame.source) as said, work.running(work.jobs):
        from pydine.report import make_report, to_html

        content = make_report(
            frame,
            target,
            alpha=alpha,
            base=base.value,
            seed=work.seed,
            n_jobs=work.n_jobs(frame),
            provenance=_provenance(file, out),
            **depending.found(table),
        )
        page = to_html(content)
    for line in done_to(frame):
        note(line)
    save(out, page.encode())
    tell(said)


def _provenance(file: str, out: Path) -> Provenance:
    """Where the report comes from, without the names of folders."""
    import numpy as np

    from pydine.report import Provenance

    digest = None
    if Path(file).is_file():
        with Path(file).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Provenance(
        ("pydine", *(word.replace(file, Path(file).name).replace(str(out), out.name) for word in sys.argv[1:])),
        datetime.now(UTC).date(),
        digest,
        {"pydine": __version__, "Python": platform.python_version(), "NumPy": np.__version__},
    )
