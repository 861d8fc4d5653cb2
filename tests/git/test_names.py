"""Names that a tree can hold: each file is read under its own name, and printed so that it does no harm."""

import re
from pathlib import Path

import pytest
from in_process import inspect
from repositories import Repo, key, placed, secrets

from cli_guard.model import Decision
from cli_guard.review.request import Commit, Worktree

SECRET = f'KEY = "{key()}"\n'
NAMES = [
    b"with space.py",  # space
    b"x b/y.py",  # reads as two names
    b" lead and trail ",  # blanks around it
    b"quo\"te's.py",  # quotes
    b"back\\slash.py",  # backslash
    b"new\nline.py",  # newline
    b"tab\tand\rreturn.py",  # tab
    b"-rf.py",  # leading dash
    b"--output=x",  # an option
    b":(exclude)x.py",  # a pathspec
    b"*.py",  # a pattern
    b"\xff\xfe\x80.py",  # not UTF-8
    "é\u202egpj.py".encode(),  # bidi
    b"esc\x1b[31m\x07.py",  # escape sequence
    b"http:/x y/z.py",  # a URL
    b"dev/null b/dev/null",  # dev null
    b"a => b.py",  # a rename
    b"%s{0}$HOME`id`.py",  # formats
    b"d/" * 40 + b"deep.py",  # deep
]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_secret_under_any_name_is_found(committed: Repo, name: bytes) -> None:
    committed.write(name, "a = 1\n" + SECRET)
    expected = [(name.decode("utf-8", "surrogateescape"), 2)]
    assert placed(committed.look(Worktree())) == expected
    committed.git("add", "-A")
    assert placed(committed.look()) == expected
    committed.git("commit", "-q", "-m", "Name")
    assert placed(committed.look(Commit("HEAD"))) == expected


def test_all_names_at_once_are_printed_safely(committed: Repo) -> None:
    for name in NAMES:
        committed.write(name, SECRET)
    committed.git("add", "-A")
    for options in ([], ["--format", "json"]):
        done = inspect(committed, "review", "--verbose", *options)
        assert done.code == 1
        assert not CONTROL.search(done.all)
        assert key() not in done.all
    assert done.json["coverage"]["files"] == len(NAMES)
    assert {r"\xff\xfe\x80.py", "new\nline.py", "-rf.py"} <= {
        each["path"] for each in done.json["findings"]
    }


@pytest.mark.parametrize("quoted", ["true", "false"])
def test_the_way_git_quotes_names_does_not_matter(committed: Repo, quoted: str) -> None:
    committed.git("config", "core.quotePath", quoted)
    committed.write("é b/ö\n.py", SECRET)
    committed.git("add", "-A")
    assert [each.path for each in secrets(committed.look())] == ["é b/ö\n.py"]


def test_a_commit_with_every_name_is_stopped_by_the_hook(
    committed: Repo, preloaded: Path
) -> None:
    committed.watch_hooks(preloaded=preloaded)
    for number, name in enumerate(NAMES):
        committed.write(name, f"number = {number}\n")
    committed.git("add", "-A")
    assert committed.look().decision is Decision.ALLOW
    committed.write(b"\xff\n b/x", SECRET)
    committed.git("add", "-A")
    done = committed.try_git("commit", "-q", "-m", "Names")
    assert done.code == 1
    assert r"\xff\n b/x:1" in done.all
    assert not CONTROL.search(done.all)
    assert committed.hooks_run() == ["pre-commit"]


def test_renames_of_odd_names_keep_both(committed: Repo) -> None:
    committed.commit(
        "Old", {b"x b/old\xff".decode("utf-8", "surrogateescape"): "a = 1\n" * 9}
    )
    committed.git("mv", b"x b/old\xff".decode("utf-8", "surrogateescape"), "new\nname")
    committed.write("new\nname", "a = 1\n" * 9 + SECRET)
    committed.git("add", "-A")
    assert [(each.path, each.line) for each in secrets(committed.look())] == [
        ("new\nname", 10)
    ]
