"""Whatever implements the protocol of a repository gives the same answers: Git, Git through GitPython, memory."""

from typing import cast

import pytest
from memory_repository import MemoryRepository
from repositories import Repo

from cli_guard.errors import UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.policy.recorded import recorded_policy
from cli_guard.repository.protocol import Repository

STATES = (
    {"app.py": "x = 1\n"},
    {"app.py": "x = 2\n", "docs/a.md": "# A\n", "odd \udcff.txt": "\udcff\n"},
    {"docs/a.md": "# B\n", "cli-guard.toml": '[rules]\n"docs-*" = "off"\n'},
)


@pytest.fixture(params=["memory", "git", "gitpython"])
def repository(request: pytest.FixtureRequest, repo: Repo) -> Repository:
    """The same three commits, however they are held."""
    if request.param == "memory":
        return cast(Repository, MemoryRepository(*STATES))
    for number, state in enumerate(STATES):
        repo.git("rm", "-rqf", "--ignore-unmatch", ".")
        for path, text in state.items():
            full = repo.path / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_text(text, "utf-8", "surrogateescape")
        repo.git("add", "-A")
        repo.git("commit", "-q", "--no-verify", "-m", f"State {number}")
    through = request.param == "gitpython"
    return GitRepository.discover(repo.path, repo.env, through_gitpython=through)


def test_the_line_of_commits(repository: Repository) -> None:
    head = repository.head
    assert head is not None
    first, second, third = repository.commits("HEAD")
    assert (third, repository.resolve("HEAD")) == (head, head)
    assert repository.commits("HEAD", exclude=[first]) == (second, third)
    assert repository.parents([second, first]) == {second: (first,), first: ()}
    assert repository.is_ancestor(first, third) and not repository.is_ancestor(third, first)
    assert repository.root_commits() == [first]
    with pytest.raises(UsageError):
        repository.resolve("nowhere")


def test_the_files_of_each(repository: Repository) -> None:
    first, second, third = repository.commits("HEAD")
    assert repository.show(first, "app.py") == b"x = 1\n"
    assert repository.show(second, "odd \udcff.txt") == b"\xff\n"
    assert repository.show(third, "app.py") is None is repository.show(third, "docs")
    assert repository.show("", "docs/a.md") == b"# B\n"
    names = ("app.py", "docs", "other")
    shown = [repository.show(second, name) for name in names]
    repository.read_roots([second], names)
    assert [repository.show(second, name) for name in names] == shown
    assert shown[0] and not any(shown[1:])
    assert dict(repository.snapshot(first)) == STATES[0]


def test_the_policy_that_they_record(repository: Repository) -> None:
    first, *_, last = repository.commits("HEAD")
    assert recorded_policy(repository, first)[1] == "built-in defaults"
    config, source, baseline = recorded_policy(repository, last)
    assert source == f"cli-guard.toml at {last[:12]}"
    assert dict(config.rules) == {"docs-*": "off"} and not baseline
