import importlib.util
import zipfile

import numpy as np
import polars as pl
import pytest

from pydine.inputs.files import open_file, workbooks

OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def book(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        archive.writestr("xl/workbook.xml", "<x/>" * 1000)
    return path


@pytest.fixture
def reader(monkeypatch):
    """A reader that takes any bytes for the same sheet."""
    monkeypatch.setattr(workbooks, "find_spec", lambda name: name)
    asked = []

    def read_excel(source, **options):
        asked.append((source, options))
        return pl.DataFrame({"x": [1.0, 2.0, None], "colour": ["red", "blue", "red"]})

    monkeypatch.setattr(pl, "read_excel", read_excel)
    return asked


def test_without_the_reader_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "find_spec", lambda _: None)
    old = tmp_path / "old.xls"
    old.write_bytes(OLD)
    for path in (book(tmp_path / "book.xlsx"), old):
        with pytest.raises(ImportError, match=r'is a workbook, which needs fastexcel: pip install "pydine\[excel\]"'):
            open_file(path)


def test_the_first_sheet_is_a_table(tmp_path, reader):
    path = book(tmp_path / "book.xlsx")
    table = open_file(path)
    assert table.names == ("x", "colour")
    assert reader[0][0] == path.read_bytes()
    assert reader[0][1]["sheet_id"] == 1
    frame = table.read(["x", "colour"])
    assert frame["x"][:2].tolist() == [1.0, 2.0]
    assert frame.levels["colour"] == ("blue", "red")


def test_a_workbook_that_unpacks_to_too_much_is_not_read(tmp_path, reader):
    with pytest.raises(ValueError, match=r"book\.xlsx"):
        open_file(book(tmp_path / "book.xlsx"), max_bytes=2000)
    assert not reader


def test_damage_is_one_sentence(tmp_path, reader, monkeypatch):
    def broken(*_, **__):
        raise pl.exceptions.ComputeError("no such sheet\nand more")

    monkeypatch.setattr(pl, "read_excel", broken)
    with pytest.raises(ValueError, match=r"begins as a workbook but cannot be read \(no such sheet\)\.$"):
        open_file(book(tmp_path / "book.xlsx"))


@pytest.mark.skipif(importlib.util.find_spec("fastexcel") is None, reason="the reader is an extra")
def test_what_polars_writes_is_read(tmp_path):
    pytest.importorskip("xlsxwriter")
    pl.DataFrame({"x": [1.5, 2.0], "colour": ["red", "blue"]}).write_excel(tmp_path / "book.xlsx")
    frame = open_file(tmp_path / "book.xlsx").read(["x", "colour"])
    assert frame["x"].tolist() == [1.5, 2.0]


@pytest.mark.skipif(importlib.util.find_spec("fastexcel") is None, reason="the reader is an extra")
def test_dates_gaps_and_mixed_cells_of_a_real_workbook(tmp_path):
    pytest.importorskip("xlsxwriter")
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 4), eager=True)
    columns = {"x": [1.5, None, 2.0, 3.0], "yes": [True, False, True, True], "mixed": ["1", "a", "2", "3"], "day": days}
    pl.DataFrame(columns).write_excel(tmp_path / "book.xlsx")
    table = open_file(tmp_path / "book.xlsx")
    frame = table.read(["x", "yes", "day"])
    assert np.isnan(frame["x"][1])
    assert frame["yes"].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert np.diff(frame["day"]).tolist() == [1.0, 1.0, 1.0]
    assert table.read(["mixed"], labels=["mixed"]).levels["mixed"] == ("1", "2", "3", "a")


@pytest.mark.skipif(importlib.util.find_spec("fastexcel") is None, reason="the reader is an extra")
def test_an_empty_workbook_is_one_sentence(tmp_path):
    pytest.importorskip("xlsxwriter")
    pl.DataFrame().write_excel(tmp_path / "book.xlsx")
    with pytest.raises(ValueError, match=r"begins as a workbook but cannot be read \("):
        open_file(tmp_path / "book.xlsx")
