"""Groups of options: what a command gets of them, and what the command line shows."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from pydine.cli.groups import spelled_out


@dataclass(frozen=True)
class Place:
    name: Annotated[str, typer.Option("--name", help="Where.")]
    depth: Annotated[int, typer.Option("--depth", min=0)] = 3


@dataclass(frozen=True)
class Deep(Place):
    colour: Annotated[str | None, typer.Option("--colour")] = None


def ask(group, *arguments):
    got = []

    def command(first: Annotated[str, typer.Argument()], *, before: bool = False, place: group, after: int = 7) -> None:
        """Dig."""
        got.append((first, before, place, after))

    app = typer.Typer()
    app.command()(spelled_out(command))
    return got, CliRunner().invoke(app, list(arguments))


def test_a_command_gets_its_groups_filled():
    assert ask(Place, "a", "--name", "here")[0] == [("a", False, Place("here", 3), 7)]
    assert ask(Deep, "a", "--name", "here", "--colour", "red", "--before")[0] == [
        ("a", True, Deep("here", 3, "red"), 7)
    ]


def test_options_of_a_group_stand_where_it_stands():
    shown = ask(Deep, "--help")[1].output
    places = [shown.index(option) for option in ("--before", "--name", "--depth", "--colour", "--after")]
    assert places == sorted(places)
    assert "Dig." in shown
    assert "Where." in shown


@pytest.mark.parametrize("arguments", [("a",), ("a", "--name", "here", "--depth", "-1")])
def test_options_of_a_group_are_checked_as_others_are(arguments):
    got, outcome = ask(Place, *arguments)
    assert outcome.exit_code == 2
    assert got == []
