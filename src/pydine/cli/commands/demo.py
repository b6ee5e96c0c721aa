"""``pydine demo``: the diabetes data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydine.cli import options


def demo(
    out: Annotated[
        Path | None,
        options.of_output(
            "-o",
            "--out",
            metavar="FILE.csv",
            help="Only write the data to a file, to try the other commands on.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """See it at work: what each feature of the diabetes data tells about the disease a year later."""
    if out is None:
        from pydine.demo import main

        main()
        return
    import io

    from pydine.cli.output.answers import lines_of, write_csv
    from pydine.cli.output.files import check_places, save
    from pydine.demo import load_table

    table, text = load_table(), io.StringIO()
    check_places(None, out, overwrite=overwrite, header=list(table))
    write_csv(text, lines_of(table))
    save(out, text.getvalue().encode())
