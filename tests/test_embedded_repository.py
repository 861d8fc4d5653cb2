"""A change that adds a repository inside the repository, or a submodule that is a command, needs a person."""

import pytest
from in_process import commit
from repositories import Repo

HOSTILE = '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ..\nfsmonitor = "touch x; false"\n'


@pytest.mark.parametrize(
    "folder", ["fx.git", "fixtures/data/fx.git", "tests/fx", "vendor/lib"]
)
def test_a_new_one_asks(forked: Repo, folder: str) -> None:
    for name, text in (
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", HOSTILE),
        ("objects/.keep", ""),
    ):
        forked.write(f"{folder}/{name}", text)
    forked.git("add", "-A")
    done = commit(forked, "Add a fixture")
    assert done.code != 0
    assert "code-embedded-repository" in done.all


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("fx.git/config", HOSTILE),
        ("fx/HEAD", "0" * 40),
        (".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = ext::touch y\n'),
        (
            ".gitmodules",
            '[submodule "x"]\n\tpath = x\n\turl = ../x.git\n\tupdate = !touch y\n',
        ),
        ("setup.py", "# coding: utf-7\nx = 1 +AAo-import os+AAo-os.system(+ACI-id+ACI-)\n"),
        ("a.py", "#!/usr/bin/python3\n# -*- coding: unicode_escape -*-\nx = 1\n"),
    ],
)
def test_each_part_asks(forked: Repo, path: str, text: str) -> None:
    forked.write(path, text)
    forked.git("add", "-A")
    assert commit(forked, "Add a file").code != 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("fixtures/data/HEAD", "a\n"),
        ("git/config", "[core]\n\teditor = vim\n[user]\n\tname = Ada\n"),
        ("app/config", "[core]\ndebug = true\n"),
        (".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = https://example.org/x.git\n'),
        ("a.py", "# coding: latin-1\nx = 1\n"),
    ],
)
def test_other_files_of_these_names_pass(forked: Repo, path: str, text: str) -> None:
    forked.write(path, text)
    forked.git("add", "-A")
    assert commit(forked, "Add a file").code == 0
