"""A key in what a push publishes beside files: the name of a ref, a nested tag, an author, a committer."""

from pathlib import Path

import pytest
from repositories import Repo, key


@pytest.fixture
def pushing(forked: Repo, tmp_path: Path) -> Repo:
    remote = Repo.create(tmp_path / "remote.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(remote.path))
    return forked


def test_a_ref(pushing: Repo) -> None:
    pushing.git("branch", key())
    assert pushing.try_git("push", "-q", "origin", key()).code != 0


@pytest.mark.parametrize("before", ["v", "V", "release/v", "build"])
def test_a_tag_with_a_word_before_the_key(pushing: Repo, before: str) -> None:
    pushing.git("tag", before + key())
    assert pushing.try_git("push", "-q", "--tags", "origin").code != 0


def test_a_file_with_a_word_before_the_key(forked: Repo) -> None:
    forked.write(f"docs/v{key()}.txt", "a note\n")
    forked.git("add", "-A")
    assert forked.try_git("commit", "-q", "-m", "Add a note").code != 0


def test_a_tag_of_a_folder_is_read(pushing: Repo) -> None:
    pushing.git("push", "-q", "origin", "main")
    pushing.git("tag", "same", "HEAD^{tree}")
    pushing.git("push", "-q", "origin", "same")
    blob = pushing.git("hash-object", "-w", "--stdin", stdin=f'key = "{key()}"\n')
    pushing.git("tag", "other", pushing.git("mktree", stdin=f"100644 blob {blob}\ta.py\n"))
    refused = pushing.try_git("push", "-q", "origin", "other")
    assert refused.code != 0
    assert "a.py:1" in refused.all
    pushing.git("tag", "-a", "-m", "Inner", "annotated", "other")
    assert pushing.try_git("push", "-q", "origin", "annotated").code != 0


def test_a_tag_of_a_new_folder_is_read_before_anything_was_pushed(pushing: Repo) -> None:
    pushing.write("b.py", "x = 1\n")
    pushing.git("add", "-A")
    pushing.git("tag", "staged", pushing.git("write-tree"))
    pushing.git("push", "-q", "origin", "staged")


def test_a_nested_tag(pushing: Repo) -> None:
    pushing.git("tag", "-a", "-m", f"inner {key()}", "inner")
    pushing.git("tag", "-a", "-m", "outer", "outer", "inner")
    pushing.git("tag", "-d", "inner")
    assert pushing.try_git("push", "-q", "origin", "outer").code != 0


@pytest.mark.parametrize(
    "name", ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"]
)
def test_a_person(pushing: Repo, name: str) -> None:
    pushing.git(
        "commit", "-q", "--no-verify", "--allow-empty", "-m", "Nothing", env={name: key()}
    )
    assert pushing.try_git("push", "-q", "origin", "main").code != 0


def test_ordinary_names_pass(pushing: Repo) -> None:
    names = (
        "v1.2.3",
        "vNEXT",
        "release/v2026.11",
        "betaRELEASE",
        "vAKIAIOSFODNN7EXAMPLE",
        f"v{'AKI' + 'A'}2026",
    )
    for name in names:
        pushing.git("tag", "-a", "-m", "Version 1", name)
    pushing.git("push", "-q", "origin", "main", *names)


@pytest.mark.parametrize("name", ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"])
def test_a_person_of_a_commit(forked: Repo, name: str) -> None:
    forked.write("notes.txt", "a note\n")
    forked.git("add", "-A")
    refused = forked.try_git(
        "commit", "-q", "-m", "Add a note", env={**forked.env, name: key()}
    )
    assert "its author or committer" in " ".join(refused.all.split())
    assert refused.code != 0
    assert (
        forked.try_git(
            "commit", "-q", "-m", "Add a note", env={**forked.env, name: "Ada"}
        ).code
        == 0
    )


def test_another_line_of_a_commit(pushing: Repo) -> None:
    raw = pushing.git("cat-file", "commit", "HEAD").partition("\n\n")
    oid = pushing.git(
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        stdin=f"{raw[0]}\nx-key {key()}\n\n{raw[2]}\n",
    )
    assert pushing.try_git("push", "-q", "origin", f"{oid}:refs/heads/main").code != 0


@pytest.mark.parametrize("source", [".", "file://"])
def test_a_ref_fetched_from_the_repository_itself_hides_nothing(
    pushing: Repo, source: str
) -> None:
    pushing.git("push", "-q", "origin", "main")
    pushing.write("a.py", f'key = "{key()}"\n')
    pushing.git("add", "-A")
    pushing.git("commit", "-q", "--no-verify", "-m", "Add the key")
    pushing.git(
        "fetch",
        "-q",
        source if source == "." else f"{source}{pushing.path}",
        "HEAD:refs/remotes/origin/x",
    )
    assert pushing.try_git("push", "-q", "origin", "HEAD:refs/heads/new").code != 0
