"""Notebooks: each line is read as prose, code or a command, and a finding has its place in the file."""

import json

import pytest

from cli_guard.rules.examples import expand
from cli_guard.secrets import scan
from cli_guard.secrets.notebooks import read_parts

PASSWORD = expand("Zt<<alnum:9>>!4")


def notebook(kind: str, *lines: str) -> str:
    """Return a notebook of one cell, as Jupyter writes it."""
    source = [f"{line}\n" for line in lines]
    cell = {"cell_type": kind, "metadata": {}, "source": source}
    return json.dumps({"cells": [cell], "nbformat": 4}, indent=1, ensure_ascii=False)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("code", f'clave = "{PASSWORD}"'),
        ("code", f'x = "\\\\"; con = connect("10.0.0.4", password="{PASSWORD}")'),
        ("code", f"# Passwort: {PASSWORD}"),
        ("code", f"%env DB_PASSWORD={PASSWORD}"),
        ("code", f"!export DB_PASSWORD={PASSWORD}"),
        ("markdown", f"The password of the archive is `{PASSWORD}`, ask Karin."),
    ],
)
def test_a_secret_in_a_cell_is_found_where_it_is(kind: str, line: str) -> None:
    text = notebook(kind, "import os", line)
    [hit] = scan(text, "work/report.ipynb").hits
    assert text[hit.start : hit.end] == hit.value
    assert hit.value in (PASSWORD, PASSWORD.rstrip("!"))


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("code", 'clave = input("clave: ")'),
        ("code", "%env DB_PASSWORD=$OTHER_PASSWORD2"),
        ("markdown", "Set the password with `export DB_PASSWORD2`."),
    ],
)
def test_a_cell_without_a_secret_is_silent(kind: str, line: str) -> None:
    assert not scan(notebook(kind, line), "work/report.ipynb").hits


def test_every_character_of_a_part_has_its_place() -> None:
    text = notebook("code", 'a = "b\\"c"', "%env A=1", "no end")
    for part in read_parts(text, "a.ipynb"):
        for offset, character in enumerate(part.text):
            found = text[part.place(offset) :]
            assert character == "\n" or found.lstrip("\\").startswith(
                character.lstrip("\\")
            )


def test_a_scan_that_stops_has_read_no_line() -> None:
    text = notebook("code", f'password = "{PASSWORD}"')
    assert scan(text, "a.ipynb", steps=3).stopped_at == 0
