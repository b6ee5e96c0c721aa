"""Exports as people have them, with no flag given: every column is used or named, and the right one comes first."""

import json

import pytest
from typer.testing import CliRunner

from exports import PASSENGERS, SHOP_ROWS, passengers, shop
from pydine.cli.app import command_line


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    (folder / "shop.csv").write_bytes(shop())
    (folder / "passengers.csv").write_bytes(passengers())

    def ask(command, file, *arguments):
        done = CliRunner().invoke(command_line(command), [command, str(folder / file), *arguments])
        assert done.exit_code == 0, done.output
        return done

    return ask


def test_a_german_shop(asked):
    record = json.loads(asked("rank", "shop.csv", "-t", "Betrag", "--json").stdout)
    used = [line["column"] for line in record["columns"]]
    header = ["Kunde", "Datum", "Preis", "Menge", "Rabatt", "Neukunde", "Versand", "Farbe", "Preis.1"]
    assert {*used, *record["left_out"]} == set(header)
    assert set(record["left_out"]) <= {"Farbe"}
    assert used[0] in ("Preis", "Preis.1")  # one is the other without the tax
    assert used[2] == "Menge"
    assert not {"Menge", "Rabatt"} & set(record["add_nothing"])
    assert {"Kunde", "Datum", "Neukunde", "Versand"} <= set(record["add_nothing"])
    rows = {line["column"]: (line["n_alone"], line["n_given_rest"]) for line in record["columns"]}
    assert (rows["Menge"], rows["Rabatt"]) == ((SHOP_ROWS, 384), (384, 384))
    conversions = record["conversions"]
    assert conversions["Datum"] == "'13.12.2024' is read as 20070, days since 1970-01-01"
    assert conversions["Rabatt"] == "'4,3%' is read as 4.3; '-' is read as missing"
    assert conversions["Neukunde"] == "'ja' is read as 1, 'nein' as 0"
    assert conversions["Preis.1"].startswith("called so because an earlier column is 'Preis'")


def test_people_read_it_at_the_top(asked):
    lines = asked("mi", "shop.csv", "-x", "Rabatt", "-y", "Betrag").stdout.splitlines()
    assert lines[0] == "Read: Rabatt: '4,3%' is read as 4.3; '-' is read as missing."
    assert lines.index("I(Rabatt; Betrag)") > 2
    assert lines[-1].startswith("384 rows")


def test_a_list_of_passengers(asked):
    record = json.loads(asked("rank", "passengers.csv", "-t", "Fare", "--json").stdout)
    used = [line["column"] for line in record["columns"]]
    header = ["PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "SibSp", "Ticket", "Cabin", "Embarked"]
    assert {*used, *record["left_out"]} == set(header)
    assert used[0] == "Pclass"
    rows = {line["column"]: line["n_alone"] for line in record["columns"]}
    assert rows["Pclass"] == PASSENGERS
    assert rows["Age"] == PASSENGERS - record["missing"]["Age"] == 476
    assert "Age" in record["add_nothing"]
    assert "SibSp" not in record["add_nothing"]


def test_strictness_is_asked_for(asked, tmp_path):
    (tmp_path / "passengers.csv").write_bytes(passengers())
    done = CliRunner().invoke(
        command_line("mi"), ["mi", str(tmp_path / "passengers.csv"), "-x", "Age", "-y", "Fare", "--nan", "fail"]
    )
    assert "column 'Age' has 124 missing values, the first in line 2" in str(done.exception)
