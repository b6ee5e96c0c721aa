"""``pydine demo``: the diabetes data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pydine.cli import options


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE.csv",
            help="Write the data to a file, to try the other commands on, and nothing else.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
) -> None:
    """See it at work: what each feature of the diabetes data tells about the disease a year later."""
    if out is None:
        from pydine.demo import main

        main()
        return
    import io

    from pydine.cli.output import check_place, save, write_csv
    from pydine.demo import load_table

    check_place(out)
    table, text = load_table(), io.StringIO()
    write_csv(text, [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)])
    save(out, text.getvalue().encode())
