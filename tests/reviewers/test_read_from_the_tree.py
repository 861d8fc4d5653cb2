"""What reviewers read of files and commits that the change does not touch, in a real repository."""

from in_process import guard
from repositories import Repo

LONG = "Teach the importer to read files that were written by the old exporter, too"
PRIVATE = "def one(a):\n    if a < 1:\n        raise ValueError(a)\n    return a\n"


def advised(repo: Repo, message: str) -> bool:
    repo.git("add", "-A")
    return (
        "message-subject-long" in repo.try_git("commit", "--allow-empty", "-m", message).all
    )


def test_policy_at_head_asks_for_a_style_of_messages(forked: Repo) -> None:
    assert not advised(forked, LONG)
    forked.write("cli-guard.toml", '[message]\nstyle = "conventional"\n')
    assert not advised(forked, f"feat: {LONG}")
    assert advised(forked, f"feat: {LONG}")
    assert "message-subject-long" in guard(forked, "review", "--commit", "HEAD").out


def test_private_module_that_the_package_exports_is_public(committed: Repo) -> None:
    committed.commit(
        "A package", {"p/__init__.py": "from ._one import one\n", "q/__init__.py": ""}
    )
    for package in ("p", "q"):
        committed.write(f"{package}/_one.py", PRIVATE)
    committed.git("add", "-A")
    found = [
        each for each in committed.review()["findings"] if each["rule"] == "docs-missing"
    ]
    assert [(each["path"], each["suggestion"]) for each in found] == [
        ("p/_one.py", '    """Raise ValueError if `a < 1`."""')
    ]
