"""Exports as people have them, with no flag given: every column is used or named, and the right one comes first."""

import json

import pytest
from typer.testing import CliRunner

from exports import OTHER_ROWS, PASSENGERS, SHOP_ROWS, flats, passengers, sales, shop, survey
from pydine.cli.app import command_line


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    for make in (shop, passengers, sales, flats, survey):
        (folder / f"{make.__name__}.csv").write_bytes(make())

    def ask(command, file, *arguments):
        done = CliRunner().invoke(command_line(command), [command, str(folder / file), *arguments])
        assert done.exit_code == 0, done.output
        return done

    return ask


@pytest.mark.slow
def test_a_german_shop(asked):
    record = json.loads(asked("rank", "shop.csv", "-t", "Betrag", "--json").stdout)
    used = [line["column"] for line in record["columns"]]
    header = ["Kunde", "Datum", "Preis", "Menge", "Rabatt", "Neukunde", "Versand", "Farbe", "Preis.1"]
    assert (set(used), record["left_out"]) == (set(header), {})
    assert used[0] in ("Preis", "Preis.1")  # one is the other without the tax
    assert used[2] == "Menge"
    assert not {"Menge", "Rabatt"} & set(record["not_detected"])
    assert {"Kunde", "Datum", "Neukunde", "Versand", "Farbe"} <= set(record["not_detected"])
    rows = {line["column"]: (line["n_alone"], line["n_given_rest"]) for line in record["columns"]}
    assert (rows["Menge"], rows["Rabatt"]) == ((SHOP_ROWS, 384), (384, 384))
    conversions = record["conversions"]
    assert conversions["Datum"] == "'13.12.2024' is read as 20070, days since 1970-01-01"
    assert conversions["Rabatt"] == "'4,3%' is read as 4.3; '-' is read as missing"
    assert conversions["Neukunde"] == "'ja' is read as 1, 'nein' as 0"
    assert conversions["Farbe"] == "text is read as labels"
    assert conversions["Preis.1"].startswith("renamed because an earlier column is called 'Preis'")


def test_people_read_it_at_the_top(asked):
    lines = asked("mi", "shop.csv", "-x", "Rabatt", "-y", "Betrag").stdout.splitlines()
    assert lines[0] == "Read: Rabatt: '4,3%' is read as 4.3; '-' is read as missing."
    assert lines.index("I(Rabatt; Betrag)") > 2
    assert lines[-1].startswith("384 rows")


@pytest.mark.slow
def test_the_report_says_it_too(asked, tmp_path):
    out = tmp_path / "report.html"
    done = asked("report", "sales.csv", "-t", "Revenue", "-c", "Units,Weight,Discount,Order ID", "-o", str(out))
    assert "Left out: 1 column: 'Order ID'" in done.stderr
    page = out.read_text(encoding="utf-8")
    for sentence in (
        "the last row, &#x27;Grand Total&#x27;, is taken as a total",
        "N/A&#x27; is read as missing",
        "it has 300 different labels in 300 rows",
    ):
        assert sentence in page


@pytest.mark.slow
def test_a_list_of_passengers(asked):
    record = json.loads(asked("rank", "passengers.csv", "-t", "Fare", "--json").stdout)
    used = [line["column"] for line in record["columns"]]
    header = ["PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "SibSp", "Ticket", "Cabin", "Embarked"]
    assert {*used, *record["left_out"]} == set(header)
    assert set(record["left_out"]) == {"Name", "Ticket", "Cabin"}
    assert record["left_out"]["Name"] == "it has 600 different labels in 600 rows, too many to learn from"
    assert used[0] == "Pclass"
    rows = {line["column"]: line["n_alone"] for line in record["columns"]}
    assert rows["Pclass"] == PASSENGERS
    assert rows["Age"] == PASSENGERS - record["missing"]["Age"] == 476
    assert "Age" in record["not_detected"]
    assert "SibSp" not in record["not_detected"]


@pytest.mark.slow
def test_text_comes_first_where_it_tells_most(asked):
    record = json.loads(asked("rank", "passengers.csv", "-t", "Survived", "--json").stdout)
    assert record["columns"][0]["column"] == "Sex"
    assert "Sex" not in record["not_detected"]
    told = asked("mi", "passengers.csv", "-x", "Sex", "-y", "Survived").stdout
    assert told.startswith("Read: Sex: text is read as labels.\n")


@pytest.mark.slow
def test_american_sales(asked):
    record = json.loads(asked("rank", "sales.csv", "-t", "Revenue", "--json").stdout)
    used = [line["column"] for line in record["columns"]]
    assert used[0] == "Units"
    assert set(used) == {"Order Date", "Region", "Units", "Unit Price", "Weight", "Discount", "Returned?"}
    assert set(record["left_out"]) == {"Order ID"}
    assert (record["n_rows"], record["missing"]) == (OTHER_ROWS, {"Discount": 15})
    assert {"Weight", "Region", "Returned?", "Order Date"} <= set(record["not_detected"])
    assert not {"Units", "Unit Price"} & set(record["not_detected"])
    assert record["notes"] == ["the last row, 'Grand Total', is taken as a total of the others and left out"]
    assert record["conversions"]["Weight"].endswith(" lb' is read as 570.7")


@pytest.mark.slow
def test_french_flats(asked):
    record = json.loads(asked("rank", "flats.csv", "-t", "Loyer", "--json").stdout)
    used = [line["column"] for line in record["columns"]]
    assert (used[0], record["left_out"]) == ("Surface", {})
    assert set(used) == {"Surface", "Ville", "Étage", "Balcon", "Date de visite", "Âge", "DPE"}
    assert record["missing"] == {"Étage": 30, "Âge": 60}
    assert len(record["notes"]) == 2  # the encoding and the title
    assert set(record["conversions"]) == {*used, "Loyer"}


@pytest.mark.slow
def test_a_survey(asked):
    record = json.loads(asked("rank", "survey.csv", "-t", "score", "--json").stdout)
    used = [line["column"] for line in record["columns"]]
    assert used[0] == "temp"
    assert set(used) == {"when", "temp", "likert", "duration", "state"}
    assert record["left_out"]["joined"].startswith("line 4 holds '")  # one of the other form
    assert set(record["left_out"]) == {"id", "joined", "comment"}
    assert "'NA' is read as missing" in record["conversions"]["state"]


def test_strictness_is_asked_for(asked, tmp_path):
    (tmp_path / "passengers.csv").write_bytes(passengers())
    done = CliRunner().invoke(
        command_line("mi"), ["mi", str(tmp_path / "passengers.csv"), "-x", "Age", "-y", "Fare", "--nan", "fail"]
    )
    assert "column 'Age' has 124 missing values, the first in line 2" in str(done.exception)
