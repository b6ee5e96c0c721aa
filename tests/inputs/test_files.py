"""Files of every kind hold the same columns; what cannot be read is refused with the file, the column and the line."""

import gzip
import io
import sys
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydine.inputs.files import open_file

COLUMNS = {"a": np.array([1.5, -2.0, 3.25]), "b": np.array([1e-300, 0.1 + 0.2, 7e18])}


def csv_text(separator=","):
    rows = zip(*COLUMNS.values(), strict=True)
    lines = [separator.join(COLUMNS), *(separator.join(map(repr, map(float, row))) for row in rows)]
    return "\n".join(lines) + "\n"


def saved(save, *arrays, **named):
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


def write_as(kind, path):
    frame = pl.DataFrame(COLUMNS)
    {
        "csv": lambda: path.write_text(csv_text()),
        "tsv": lambda: path.write_text(csv_text("\t")),
        "crlf": lambda: path.write_bytes(csv_text().replace("\n", "\r\n").encode()),
        "bom": lambda: path.write_bytes(b"\xef\xbb\xbf" + csv_text().encode()),
        "utf-16": lambda: path.write_bytes(csv_text().encode("utf-16")),
        "gzip": lambda: path.write_bytes(gzip.compress(csv_text().encode())),
        "zstd": lambda: path.write_bytes(pa.compress(csv_text().encode(), codec="zstd", asbytes=True)),
        "blank lines": lambda: path.write_text("\n\n" + csv_text() + "\n\n"),
        "no last newline": lambda: path.write_text(csv_text().rstrip()),
        "decimal commas": lambda: path.write_text(csv_text(";").replace(".", ",")),
        "spaces": lambda: path.write_text(csv_text().replace(",", " , ")),
        "parquet": lambda: frame.write_parquet(path),
        "feather": lambda: frame.write_ipc(path),
        "arrow stream": lambda: frame.write_ipc_stream(path),
        "npz": lambda: path.write_bytes(saved(np.savez, **COLUMNS)),
        "records": lambda: path.write_bytes(saved(np.save, frame.to_numpy(structured=True))),
    }[kind]()


KINDS = [
    *(
        "csv",
        "tsv",
        "crlf",
        "bom",
        "utf-16",
        "gzip",
        "zstd",
        "blank lines",
        "no last newline",
        "decimal commas",
        "spaces",
    ),
    *("parquet", "feather", "arrow stream", "npz", "records"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_columns_whatever_the_file_is_called(kind, tmp_path):
    path = tmp_path / "data"
    write_as(kind, path)
    table = open_file(path)
    assert table.names == ("a", "b")
    frame = table.read(table.names)
    for name, values in COLUMNS.items():
        np.testing.assert_array_equal(frame[name], values)
    assert (frame.n_samples, frame.n_rows, frame.n_incomplete, dict(frame.left_out)) == (3, 3, 0, {})


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "npz"])
def test_standard_input(kind, tmp_path, monkeypatch):
    write_as(kind, tmp_path / "data")
    content = (tmp_path / "data").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    table = open_file("-")
    assert table.source == "the standard input"
    np.testing.assert_array_equal(table.read(["b"])["b"], COLUMNS["b"])


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@pytest.mark.slow
def test_numbers_come_back_to_the_last_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("numbers") / "data.csv"
    path.write_text("x\n" + "\n".join(map(repr, values)) + "\n")
    np.testing.assert_array_equal(open_file(path).read(["x"])["x"], values)


def opened(tmp_path, content, **options):
    path = tmp_path / "data.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_file(path, **options)


def test_an_array_without_names(tmp_path):
    np.save(tmp_path / "data.npy", np.arange(6.0).reshape(3, 2))
    table = open_file(tmp_path / "data.npy")
    assert table.names == ("1", "2")
    np.testing.assert_array_equal(table.read(["2"])["2"], [1.0, 3.0, 5.0])


def test_arrays_of_several_columns_in_an_archive(tmp_path):
    np.savez(tmp_path / "data.npz", t=np.arange(3), x=np.ones((3, 2)))
    assert open_file(tmp_path / "data.npz").names == ("t", "x1", "x2")


def test_words_for_nothing_are_missing_and_truth_is_a_number(tmp_path):
    table = opened(tmp_path, "x,y\n1,true\nNA,false\n,TRUE\n nan ,\n-,False\n")
    frame = table.read(table.names)
    np.testing.assert_array_equal(frame["x"], [1.0, np.nan, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(frame["y"], [1.0, 0.0, 1.0, np.nan, 0.0])


def test_short_lines_are_missing_at_the_end(tmp_path):
    frame = opened(tmp_path, "x,y\n1\n2,3\n").read(["x", "y"])
    np.testing.assert_array_equal(frame["y"], [np.nan, 3.0])


def test_missing_values_are_refused_with_their_line_or_left_out(tmp_path):
    frame = opened(tmp_path, "\nx,y\n1,2\n2,NA\n3,inf\n4,5\n").read(["x", "y"])
    with pytest.raises(
        ValueError, match=r"data.csv: column 'y' has 2 missing values, the first in line 4; .*--nan omit"
    ):
        frame.refuse_missing()
    complete = frame.complete()
    np.testing.assert_array_equal(complete["x"], [1.0, 4.0])
    assert (frame.n_incomplete, frame.missing) == (2, {"y": 2})
    assert (complete.n_incomplete, complete.n_samples, complete.rows.tolist()) == (0, 2, [0, 3])
    assert complete.complete() is complete
    complete.refuse_missing()


def test_no_complete_row(tmp_path):
    with pytest.raises(ValueError, match="every row has a missing value in one of the 2 columns"):
        opened(tmp_path, "x,y\n1,\n,2\n").read(["x", "y"]).complete()


def test_a_cell_that_is_no_number_is_refused_where_it_is_needed_and_left_out_otherwise(tmp_path):
    table = opened(tmp_path, "x,size\n1,4\n2,5\n3,large\n")
    said = r"column 'size' must hold numbers, but line 4 holds 'large'; correct that cell, or pass --kind size=nominal"
    with pytest.raises(ValueError, match=said):
        table.read(["size"])
    frame = table.read(["x"], ["size"])
    said = "line 4 holds 'large', unlike the rest; correct that cell, or pass --kind size=nominal if these are labels"
    assert (list(frame), dict(frame.left_out)) == (["x"], {"size": said})


def test_one_bad_cell_is_shown_with_its_line_in_a_sample_too(tmp_path):
    table = opened(tmp_path, "x\n" + "1\n" * 50 + "2O.5\n" + "1\n" * 49)
    with pytest.raises(ValueError, match="but line 52 holds '2O"):
        table.read(["x"])
    with pytest.raises(ValueError, match="but line 52 holds '2O"):
        table.read(["x"], sample=99, seed=0)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_types_that_are_no_numbers(kind, tmp_path):
    frame = pl.DataFrame({"n": [1, None], "truth": [True, False], "word": ["a", "b"], "list": [[1], [2]]})
    {"parquet": frame.write_parquet, "feather": frame.write_ipc}[kind](tmp_path / "data")
    table = open_file(tmp_path / "data")
    read = table.read([], table.names)
    np.testing.assert_array_equal(read["n"], [1.0, np.nan])
    np.testing.assert_array_equal(read["truth"], [1.0, 0.0])
    assert dict(read.left_out) == {"list": "it holds values of type List(Int64)"}
    assert (read["word"].tolist(), read.levels) == ([0.0, 1.0], {"word": ("a", "b")})


def test_a_sample_is_drawn_from_everywhere_and_repeats(tmp_path):
    table = opened(tmp_path, "x\n" + "\n".join(map(str, range(1000))))
    first, again, other = (table.read(["x"], sample=100, seed=seed)["x"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(set(first)) == 100
    assert first.min() < 100 < 900 < first.max()
    np.testing.assert_array_equal(first, np.sort(first))
    assert table.read(["x"], sample=5000).n_samples == 1000


def test_names_are_found_one_by_one_or_with_commas(tmp_path):
    table = opened(tmp_path, 'age,sex,"a,b"\n1,2,3\n')
    assert table.find("-z", ["age,sex"]) == ["age", "sex"]
    assert table.find("-z", ["a,b", "age", "age"]) == ["a,b", "age"]
    with pytest.raises(ValueError, match="-x asks for the column 'aeg', which it lacks; the nearest name is 'age'"):
        table.find("-x", ["aeg"])


def test_columns_without_a_name_are_not_offered(tmp_path):
    table = opened(tmp_path, ",x\n0,1\n1,2\n")
    assert table.names == ("", "x")
    with pytest.raises(ValueError, match="its columns are 'x'"):
        table.find("-x", ["qqq"])


def test_header(tmp_path):
    with pytest.raises(
        ValueError, match=r"seems to have no header: its first line is numbers \('1' ...\); pass --no-header"
    ):
        opened(tmp_path, "1,2\n3,4\n")
    table = opened(tmp_path, "1,2\n3,4\n", header=False)
    assert (table.names, table.n_rows) == (("1", "2"), 2)
    assert opened(tmp_path, "1,2\n3,4\n", header=True).n_rows == 1


def test_separator(tmp_path):
    assert opened(tmp_path, "a b\n1 2\n", separator=" ").names == ("a", "b")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"a,b\n", "has 2 columns but no rows of data"),
        (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, but the first line has 2"),
        (bytes(range(256)) * 9, "is neither text nor Parquet"),
        (b"PAR1 and then nothing", "begins as a file of type 'parquet' but cannot be read"),
        (b"ARROW1 and then nothing", "begins as a file of type 'arrow' but cannot be read"),
        (b"\x93NUMPY and then nothing", "cannot be read as an .npy or .npz file"),
        (b"\x1f\x8b\x08 and then nothing", "is gzipped but damaged"),
        (b"\x28\xb5\x2f\xfd and then nothing", "is compressed with zstd but damaged"),
        (b"FEA1", "save it again as Feather 2"),
        (b' [\n {"a": 1, "b": 2}]', "is JSON; save it as CSV or Parquet"),
        (b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', "is JSON; save it as CSV or Parquet"),
    ],
)
def test_what_cannot_be_read_is_refused(content, sentence, tmp_path):
    with pytest.raises(ValueError, match=r"data\.csv") as refusal:
        opened(tmp_path, content)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_archives_and_arrays_that_are_no_columns(tmp_path):
    with zipfile.ZipFile(tmp_path / "text.zip", "w") as archive:
        archive.writestr("a.csv", "x")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "uneven.npz", a=np.zeros(2), b=np.zeros(3))
    for name, sentence in {
        "text.zip": "holds no arrays; unpack it",
        "cube.npy": r"has the shape \(2, 2, 2\)",
        "objects.npy": "holds Python objects",
        "uneven.npz": "'a' has 2 rows and 'b' 3",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            open_file(tmp_path / name)


def test_a_directory_and_nothing_at_all(tmp_path):
    with pytest.raises(ValueError, match="is a directory"):
        open_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "nothing.csv")


def test_without_polars_arrays_are_read_and_text_says_what_to_install(tmp_path, monkeypatch):
    write_as("npz", tmp_path / "arrays")
    write_as("csv", tmp_path / "text")
    monkeypatch.setitem(sys.modules, "polars", None)
    assert open_file(tmp_path / "arrays").names == ("a", "b")
    with pytest.raises(ImportError, match=r'needs polars: pip install "pydine\[cli\]"'):
        open_file(tmp_path / "text")
