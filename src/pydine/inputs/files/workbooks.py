"""Workbooks: the first sheet of .xlsx, .xlsb and .xls, by polars' own reader, which is an extra."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pydine.inputs.files.content import Content, too_large
from pydine.inputs.files.panics import read_by_polars

if TYPE_CHECKING:
    import polars as pl

__all__ = ["first_sheet", "is_workbook"]

READER = "fastexcel"  # fact: what polars reads workbooks with
PARTS = "[Content_Types].xml"  # fact: what every archive of an office document begins with


def is_workbook(content: Content) -> bool:
    """Whether a zip archive is a workbook."""
    try:
        with zipfile.ZipFile(content.rewound()) as archive:
            return PARTS in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return False  # whoever reads it as arrays says what is wrong


def first_sheet(content: Content) -> pl.DataFrame:
    """The first sheet, whose first row names the columns.

    Raises
    ------
    ImportError
        If the reader is missing.
    ValueError
        If it cannot be read, or unpacks to too much.
    """
    source = content.source
    if find_spec(READER) is None:
        raise ImportError(
            f'{source} is a workbook, which needs {READER}: pip install "pydine[excel]", or save the sheet as CSV.',
            name=READER,
        )
    import polars as pl

    if zipfile.is_zipfile(content.rewound()):
        with zipfile.ZipFile(content.rewound()) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > content.max_bytes:
            raise too_large(source, content.max_bytes)
    with read_by_polars(f"{source} begins as a workbook but cannot be read"):
        return pl.read_excel(content.rewound().read(), sheet_id=1, infer_schema_length=None)
