"""Files of columns, read as named columns of float64: CSV, TSV, Parquet, Feather and Arrow, NumPy's own."""

from pydine.inputs.files.formats import open_file
from pydine.inputs.files.frame import Frame, TableFile

__all__ = ["Frame", "TableFile", "open_file"]
