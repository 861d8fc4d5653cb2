"""Patches to the work tree: all or nothing, never over what is not recorded, and back again."""

import os
from pathlib import Path

import pytest
from repositories import Repo

from cli_guard.assistant.applying import PatchWriter
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.git.snapshot import read_index
from cli_guard.repository.unified import unified_diff

OLD = {"a.py": "x = 1\n", "sub/b é.py": "y = 2\r\nz = 3\r\n", "gone.txt": "bye"}
NEW = {"a.py": "x = 2\n", "sub/b é.py": "y = 2\r\nz = 4\r\n", "new/c.py": "n = 1\n"}


@pytest.fixture
def written(committed: Repo) -> Repo:
    committed.commit("Files", dict(OLD))
    return committed


def writer(repo: Repo, at: str = ".") -> PatchWriter:
    return PatchWriter(GitRepository.discover(repo.path / at, repo.env))


def lying(repo: Repo) -> dict[str, str]:
    names = {*OLD, *NEW}
    return {
        n: (repo.path / n).read_bytes().decode()
        for n in sorted(names)
        if (repo.path / n).exists()
    }


@pytest.mark.parametrize("at", [".", "sub"])
def test_there_and_back(written: Repo, at: str) -> None:
    patch = unified_diff(OLD, NEW)
    index = read_index(GitRepository.discover(written.path, written.env)).identity
    tool = writer(written, at)
    left = tool.apply(patch, tool.bases({*OLD, *NEW}))
    assert lying(written) == dict(sorted(NEW.items()))
    assert left["gone.txt"] is None and left["a.py"]
    assert read_index(GitRepository.discover(written.path, written.env)).identity == index
    tool.revert(patch, left)
    assert lying(written) == dict(sorted(OLD.items()))
    assert written.git("status", "--porcelain") == ""


def dirty(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n# mine\n")


def in_the_way(repo: Repo) -> None:
    repo.write("new/c.py", "mine\n")


def deleted(repo: Repo) -> None:
    (repo.path / "a.py").unlink()


def linked(repo: Repo) -> None:
    (repo.path / "a.py").unlink()
    os.symlink("/etc/hostname", repo.path / "a.py")


def filtered(repo: Repo) -> None:
    repo.git("config", "filter.odd.clean", "touch /tmp/must-not-be-made")
    repo.commit("Attributes", {".gitattributes": "a.py filter=odd\n"})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (dirty, "a.py has unstaged changes"),
        (in_the_way, "new/c.py is untracked and in the way"),
        (deleted, "unstaged"),
        (linked, "unstaged"),
        (filtered, "through a filter"),
    ],
)
def test_nothing_is_lost(written: Repo, change: object, says: str) -> None:
    assert callable(change)
    tool = writer(written)
    bases = tool.bases({*OLD, *NEW})
    change(written)
    with written.unchanged(), pytest.raises(UsageError, match=says):
        tool.apply(unified_diff(OLD, NEW), bases)


def test_another_content_is_another_question(written: Repo) -> None:
    tool = writer(written)
    bases = tool.bases({*OLD, *NEW})
    written.commit("Other", {"sub/b é.py": "y = 5\r\nz = 3\r\n"})
    with written.unchanged(), pytest.raises(UsageError, match=r"sub/b é\.py changed since"):
        tool.apply(unified_diff(OLD, NEW), bases)


def test_it_goes_back_only_over_what_it_left(written: Repo) -> None:
    tool = writer(written)
    patch = unified_diff(OLD, NEW)
    left = tool.apply(patch, tool.bases({*OLD, *NEW}))
    written.write("a.py", "x = 2\n# more\n")
    with written.unchanged(), pytest.raises(UsageError, match=r"a\.py changed since"):
        tool.revert(patch, left)


@pytest.mark.parametrize(
    "path", ["../out.txt", "/tmp/out.txt", ".git/config", "way/out.txt"]
)
def test_no_way_out(written: Repo, path: str) -> None:
    os.symlink("..", written.path / "way")
    patch = unified_diff({}, {path: "x\n"})
    tool = writer(written)
    with written.unchanged(), pytest.raises(CliGuardError):
        tool.apply(patch, tool.bases([path]))
    assert not (written.path.parent / "out.txt").exists()


@pytest.mark.skipif(
    os.geteuid() == 0 and not Path("/usr/bin/chattr").exists(),
    reason="needs a file that root cannot write",
)
def test_half_written_is_not_written(written: Repo) -> None:
    tool = writer(written)
    bases = tool.bases({*OLD, *NEW})
    (written.path / "sub").chmod(0o555)
    try:
        if os.geteuid() == 0 and os.system(
            f"chattr +i '{written.path / 'sub'}' 2>/dev/null"
        ):
            pytest.skip("root writes everywhere, and no folder can be made immutable here")
        with pytest.raises(CliGuardError):
            tool.apply(unified_diff(OLD, NEW), bases)
        assert lying(written) == dict(sorted(OLD.items()))
    finally:
        os.system(f"chattr -i '{written.path / 'sub'}' 2>/dev/null")
        (written.path / "sub").chmod(0o755)


def test_a_bare_repository_has_nothing_to_write(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    bare = Repo.create(tmp_path / "bare", isolated, "--bare")
    with pytest.raises(UsageError, match="bare"):
        writer(bare)
