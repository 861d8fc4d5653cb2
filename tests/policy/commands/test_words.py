"""Words against bash itself: where the engine claims to know a word, it is the word that bash makes of it."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_guard.policy.commands.model import Context
from cli_guard.policy.commands.shell import judge_script
from cli_guard.policy.commands.words import Field

HOME = "/home/ada"
# No program is found, and no built-in command is left that could reach beyond this one shell.
PRELUDE = r"""
enable -n kill suspend exit logout exec
show() { for each; do printf '%s\0' "$each"; done; }
"""


def in_bash(given: str, folder: Path) -> list[str]:
    """The fields that bash makes of `setup @@ words` in an empty folder, in the engine's spelling of home."""
    setup, _, words = given.rpartition("@@")
    done = subprocess.run(
        ("/bin/bash", "--norc", "--noprofile", "-c", f"{PRELUDE}\n{setup}\nshow {words}\n"),
        cwd=folder,
        env={"PATH": "/nowhere", "HOME": HOME, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert not done.stderr, done.stderr
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    return [re.sub(rf"^{re.escape(str(folder))}", ".", re.sub(f"^{HOME}", "~", each)) for each in fields]


def in_engine(given: str) -> tuple[Field, ...]:
    """The fields that the engine makes of them."""
    setup, _, words = given.rpartition("@@")
    shell = judge_script(f"{setup}\nshow {words}\n", Context(setting=Context().setting))
    (met,) = (each for each in shell.invocations if each.name == "show")
    return met.fields[1:]


def claimed(field: Field) -> str | None:
    """What the engine says that the word is; in an empty folder a pattern stands for itself."""
    return None if field.text is None or field.many or field.assumed else field.text


def agrees(fields: tuple[Field, ...], truth: list[str]) -> bool:
    """Is everything that the engine claims true? What is not known may be any number of words."""
    known = [claimed(field) for field in fields]
    if None not in known:
        return known == truth
    first = known.index(None)
    last = known[::-1].index(None)
    ending = known[len(known) - last :]
    return (
        known[:first] == truth[:first]
        and ending == truth[len(truth) - last :]
        and len(truth) >= first + last
    )
