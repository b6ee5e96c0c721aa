"""Cells as people write them: read for a whole column, and every conversion is said by the example of a cell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydine.inputs.files import open_file

NAN = np.nan


def read(tmp_path, cells, separator=";", name="x", beside=()):
    """Read one column, perhaps beside others that show how the file writes numbers."""
    quoted = [f'"{cell}"' for cell in cells]
    lines = [separator.join((name, *(f"b{i}" for i in range(len(beside)))))]
    lines += [separator.join((cell, *(f'"{other}"' for other in beside))) for cell in quoted]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = open_file(tmp_path / "data.csv")
    return table.read([], [name])


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,562.87", "12"], [1562.87, 12]),
        (["6.305,44", "0,5"], [6305.44, 0.5]),
        (["1.234.567", "987"], [1234567, 987]),
        (["1,234,567", "987"], [1234567, 987]),
        (["1,23,456.50", "7"], [123456.5, 7]),
        (["1 234,5", "1\u202f000", "12\u00a0345,25"], [1234.5, 1000, 12345.25]),
        (["1'234.50", "12"], [1234.5, 12]),
        (["4.4%", "0"], [4.4, 0]),
        (["4,4 %", "10 %"], [4.4, 10]),
        (["€ 5", "6,50 €", "7"], [5, 6.5, 7]),
        (["$1,200.50", "-$3.25", "$(5)"], None),
        (["$1,200.50", "-$3.25", "($5)"], [1200.5, -3.25, -5]),
        (["CHF 12.50", "CHF 1'000"], [12.5, 1000]),
        (["−3,5", "5-", "+2"], [-3.5, -5, 2]),
        (["12 kg", "13.5 kg"], [12, 13.5]),
        (["1e3 Hz", "2.5e-1 Hz"], [1000, 0.25]),
        (["yes", "NO", "Yes"], [1, 0, 1]),
        (["ja", "nein"], [1, 0]),
        (["true", "false"], [1, 0]),
        (["31.01.2024", "01.02.2024"], [19753, 19754]),
        (["31.01.24", "01.02.24"], [19753, 19754]),
        (["2024-01-31", "2024-02-01"], [19753, 19754]),
        (["01/31/2024", "02/01/2024"], [19753, 19754]),
        (["31/01/2024", "01/02/2024"], [19753, 19754]),
        (["31 Jan 2024", "1 February 2024"], [19753, 19754]),
        (["Jan 31, 2024", "Feb 1, 2024"], [19753, 19754]),
        (["1970-01-02 00:00:10", "1970-01-01 00:01:00"], [86410, 60]),
        (["1970-01-01T00:00:10Z", "1970-01-01T00:00:10.5+00:00"], [10, 10.5]),
        (["1970-01-01T00:00:10Z", "1970-01-01T01:00:00+01:00"], [10, 0]),
        (["2024-01-31 00:00", "2024-02-01 00:00"], [19753, 19754]),
        (["9:05", "10:00:30"], [32700, 36030]),
        (["26:00", "1:00"], [93600, 3600]),
    ],
)
def test_read_as_a_person_would(tmp_path, cells, values):
    frame = read(tmp_path, cells)
    if values is None:
        assert "x" in frame.left_out
        return
    np.testing.assert_allclose(frame["x"], values, rtol=1e-15)
    assert "is read as" in frame.conversions["x"]


@pytest.mark.parametrize(
    ("cells", "line", "cell"),
    [
        (["6.305,44", "1,5", "zwölf"], 4, "zwölf"),  # not the first that is no plain number
        (["5 €", "6 €", "7 $"], 4, "7 $"),
        (["4%", "5", "6%"], 3, "5"),
        (["12 kg", "13 lb", "14 kg"], 3, "13 lb"),
        (["31.01.2024", "32.01.2024", "01.02.2024"], 3, "32.01.2024"),
    ],
)
def test_the_cell_that_failed_is_quoted(tmp_path, cells, line, cell):
    assert read(tmp_path, cells).left_out["x"].startswith(f"line {line} holds {cell!r}, unlike the rest; correct that")


@pytest.mark.parametrize(
    "cells",
    [
        ["1.2.3", "1.2.4"],
        ["A2", "A1", "A2"],
        ["1st", "2nd", "3rd"],
        ["0301 234", "0301 567"],  # numbers have no noughts before their thousands
        ["red", "blue", "7"],
    ],
)
def test_text_is_read_as_labels(tmp_path, cells):
    frame = read(tmp_path, [*cells, "NA"])
    assert frame.levels["x"] == tuple(sorted(set(cells)))
    assert [frame.levels["x"][int(code)] for code in frame["x"][:-1]] == cells
    assert np.isnan(frame["x"][-1])
    assert frame.conversions["x"] == "text is read as labels; 'NA' is read as missing"
    assert frame.kinds == {"x": "nominal"}


def test_numbers_among_which_some_are_none_are_labels_if_somebody_says_so(tmp_path):
    (tmp_path / "data.csv").write_text("size,n\n36,1\n38,2\nM,3\n")
    frame = open_file(tmp_path / "data.csv").read(["n"], ["size"], labels=["size", "n"])
    assert frame.levels == {"size": ("36", "38", "M")}
    assert frame["n"].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("word", ["Total", "GRAND TOTAL", "Summe:", "gesamt"])
def test_a_sum_in_the_last_row_is_left_out_and_said(tmp_path, word):
    (tmp_path / "data.csv").write_text(f"shop,n\nA,1\nB,2\n{word},3\n\n")
    frame = open_file(tmp_path / "data.csv").read(["shop", "n"])
    assert frame["n"].tolist() == [1.0, 2.0]
    assert frame.notes == (f"the last row, {word!r}, is taken as a total of the others and left out",)


def test_a_last_row_that_is_called_as_others_are_stays(tmp_path):
    (tmp_path / "data.csv").write_text("shop,n\nTotal,1\nShell,2\nTotal,3\n")  # it is a brand, too
    assert open_file(tmp_path / "data.csv").read(["n"])["n"].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("title", ["Sales of 2024", "Sales of 2024,,", '"Sales, of 2024"\n\nmade by us'])
def test_a_title_is_no_header(tmp_path, title):
    (tmp_path / "data.csv").write_text(f"{title}\n\nshop,n,price\nA,1,x\nB,2,5\nC,3,6\n")
    table = open_file(tmp_path / "data.csv")
    line = title.count("\n") + 3
    frame = table.read(["n"], ["price"])
    assert (table.names, frame["n"].tolist()) == (("shop", "n", "price"), [1.0, 2.0, 3.0])
    assert frame.notes[0].startswith(f"the header is line {line}; the text before it, 'Sales")
    assert frame.left_out["price"].startswith(f"line {line + 1} holds 'x', unlike the rest; correct that cell")


@pytest.mark.parametrize("text", ["x\n1\n2\n", 'x\n"1,5"\n2\n', "x\n\n\n1\n2\n", "x,,\n1,2,3\n4,5,6\n"])
def test_one_name_is_no_title(tmp_path, text):
    (tmp_path / "data.csv").write_text(text)
    assert open_file(tmp_path / "data.csv").names[0] == "x"


def test_words_for_missing_are_said(tmp_path):
    frame = read(tmp_path, ["1,5", "NA", "?", "-", "", "#DIV/0!"])
    np.testing.assert_array_equal(frame["x"], [1.5, NAN, NAN, NAN, NAN, NAN])
    assert frame.conversions["x"] == ("'1,5' is read as 1.5; '#DIV/0!', '-', '?' and 1 more words are read as missing")
    assert read(tmp_path, ["1", "2.5", "", "nan"]).conversions == {}


def test_the_example_is_a_cell_that_was_converted(tmp_path):
    assert read(tmp_path, ["12", "1,562.87"]).conversions["x"] == "'1,562.87' is read as 1562.87"


@pytest.mark.parametrize(
    ("separator", "beside", "value"),
    [
        (";", ("7",), 1.234),  # a comma that separates no cells separates decimals
        (",", (), 1234.0),
        (";", ("12.5",), 1234.0),  # unless the file has decimal points
        (",", ("12,5",), 1.234),
    ],
)
def test_what_one_column_leaves_open_others_settle(tmp_path, separator, beside, value):
    assert read(tmp_path, ["1,234", "5,678"], separator, beside=beside)["x"][0] == value


def test_german_thousands_are_no_decimals(tmp_path):
    cells = ["1.234", "987", "12.500"]
    assert read(tmp_path, cells, beside=("12,5",))["x"].tolist() == [1234.0, 987.0, 12500.0]
    assert read(tmp_path, cells)["x"].tolist() == [1.234, 987.0, 12.5]
    assert read(tmp_path, ["1.2345", "0.125"], beside=("12,5",))["x"].tolist() == [1.2345, 0.125]


def test_day_or_month(tmp_path):
    cells = ["01/02/2024", "03/04/2024"]
    american, european = read(tmp_path, cells, ","), read(tmp_path, cells, beside=("12,5",))
    assert (american["x"][0], european["x"][0]) == (19724.0, 19754.0)
    assert american.conversions["x"].endswith("taking the first number as the month")
    assert european.conversions["x"].endswith("taking the first number as the day")


def test_names_that_occur_twice_are_renamed_as_pandas_does(tmp_path):
    import pandas as pd

    path = tmp_path / "data.csv"
    path.write_text("a,a,b,a.1,a,b\n1,2,3,4,5,6\n7,8,9,1,2,3\n")
    table = open_file(path)
    assert list(table.names) == list(pd.read_csv(path).columns)
    frame = table.read(["a.2"], ["b"])
    assert frame["a.2"].tolist() == [2.0, 8.0]
    assert frame.conversions == {"a.2": "renamed because an earlier column is called 'a'"}


def test_windows_text_and_excel_s_first_line(tmp_path):
    (tmp_path / "data.csv").write_bytes("sep=;\r\nGröße;Preis\r\n1,5;3 €\r\n2,5;4 €\r\n".encode("cp1252"))
    table = open_file(tmp_path / "data.csv")
    frame = table.read(table.names)
    assert (list(frame), frame["Preis"].tolist()) == (["Größe", "Preis"], [3.0, 4.0])
    assert frame.notes == ("the file is not valid UTF-8 and was read as Windows-1252 (Western European)",)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_dates_and_text_in_typed_files(kind, tmp_path):
    from datetime import date, datetime, time, timedelta

    import polars as pl

    frame = pl.DataFrame(
        {
            "day": [date(1970, 1, 2), None],
            "moment": [datetime(1970, 1, 1, 0, 0, 10), datetime(1970, 1, 1)],
            "clock": [time(1, 0), time(0, 0, 1)],
            "span": [timedelta(seconds=90), timedelta(0)],
            "price": ["1,200.50 €", "3 €"],
            "word": ["a", "b"],
        }
    )
    {"parquet": frame.write_parquet, "feather": frame.write_ipc}[kind](tmp_path / "data")
    table = open_file(tmp_path / "data")
    read = table.read([], table.names)
    assert [read[name][0] for name in ("day", "moment", "clock", "span", "price")] == [1.0, 10.0, 3600.0, 90.0, 1200.5]
    assert np.isnan(read["day"][1])
    assert read.conversions["day"] == "dates or times are read as days since 1970-01-01"
    assert (read.left_out, read.levels, read["word"].tolist()) == ({}, {"word": ("a", "b")}, [0.0, 1.0])


@pytest.mark.slow
@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=20), st.sampled_from([".,", ",."]))
def test_numbers_survive_being_written_for_people(tmp_path_factory, hundredths, marks):
    cells = [f"{value / 100:,.2f}".translate(str.maketrans(",.", marks)) for value in hundredths]
    found = read(tmp_path_factory.mktemp("cells"), cells)["x"]
    np.testing.assert_array_equal(found, [value / 100 for value in hundredths])


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters='"'), max_size=12)))
def test_any_text_is_numbers_or_named(tmp_path_factory, cells):
    frame = read(tmp_path_factory.mktemp("cells"), ["1", *cells])
    assert ("x" in frame) != ("x" in frame.left_out)
