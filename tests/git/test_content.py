"""What a file can be: every kind of content and of change is read right, or named as not read."""

import subprocess
from pathlib import Path

import pytest
from repositories import Repo, key, placed

from cli_guard.events.request import Commit, Request, Staged, Worktree
from cli_guard.model import Decision

SECRET = f'KEY = "{key()}"\n'
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a' * 16}\nsize 1234\n"


def stage(repo: Repo, name: str, content: str | bytes) -> None:
    """Writes a file and stages it."""
    repo.write(name, content)
    repo.git("add", "-A")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(b"a = 1\r\n" + SECRET.encode().replace(b"\n", b"\r\n"), 2, id="CRLF"),
        pytest.param(b"a = 1\n" + SECRET.encode().rstrip(), 2, id="no final newline"),
        pytest.param(b"# caf\xe9\n\n" + SECRET.encode(), 3, id="latin-1"),
        pytest.param(b"\xef\xbb\xbf" + SECRET.encode(), 1, id="UTF-8 with a mark"),
        pytest.param(f"a = 1\nb = 2\n{SECRET}".encode("utf-16"), 3, id="UTF-16 LE"),
        pytest.param(b"\xfe\xff" + f"a = 1\nb = 2\n{SECRET}".encode("utf-16-be"), 3, id="UTF-16 BE"),
        pytest.param(f"a = 1\n{SECRET}".encode("utf-32"), 2, id="UTF-32"),
        pytest.param(
            b"a\x0cb\x0bc\x1c\rd\xc2\x85e\xe2\x80\xa8\n" + SECRET.encode(), 2, id="line ends that are none"
        ),
        pytest.param(
            b"-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n" + SECRET.encode(), 5, id="looks like a patch"
        ),
        pytest.param(b"x\n" * 9_000 + b"\0\n" + SECRET.encode(), 9_002, id="a NUL far down"),
    ],
)
@pytest.mark.parametrize(
    "request_", [Staged(), Worktree(), Commit("HEAD")], ids=["staged", "worktree", "commit"]
)
def test_a_secret_is_found_on_its_line(committed: Repo, content: bytes, line: int, request_: Request) -> None:
    committed.write("new.txt", content)
    if not isinstance(request_, Worktree):
        committed.git("add", "-A")
    if isinstance(request_, Commit):
        committed.git("commit", "-q", "-m", "New")
    assert placed(committed.look(request_)) == [("new.txt", line)]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8"])
def test_a_secret_added_to_a_file_is_the_only_one_reported(committed: Repo, encoding: str) -> None:
    committed.commit("Old", {"old.txt": f"é\n{SECRET}b = 1\n".encode(encoding)})
    fresh = SECRET.replace("KEY", "FRESH")
    stage(committed, "old.txt", f"é\n{SECRET}b = 1\nc = 2\n{fresh}".encode(encoding))
    assert placed(committed.look()) == [("old.txt", 5)]


def test_an_attribute_does_not_hide_text(committed: Repo) -> None:
    committed.write(".gitattributes", "*.py -diff\n*.cfg binary\n")
    committed.write("key.cfg", SECRET)
    stage(committed, "app.py", "x = 1\n" + SECRET)
    assert placed(committed.look()) == [("app.py", 2), ("key.cfg", 1)]
    assert placed(committed.look(Worktree())) == [("app.py", 2), ("key.cfg", 1)]
    committed.git("commit", "-q", "-m", "Hide")
    assert placed(committed.look(Commit("HEAD"))) == [("app.py", 2), ("key.cfg", 1)]


def test_binary_empty_and_deleted_files(committed: Repo) -> None:
    committed.commit("Key", {"key.py": SECRET, "gone.txt": "x\n"})
    committed.git("rm", "-q", "key.py", "gone.txt")
    committed.write("empty.txt", "")
    stage(committed, "logo.png", b"\x89PNG\0" + SECRET.encode())
    review = committed.look()
    assert review.decision is Decision.ALLOW
    assert review.files == 4
    assert [(each.path, each.reason) for each in review.skipped] == [("logo.png", "binary")]
    assert "not reviewed: logo.png (binary)" in committed.inspect("review").out


def test_a_rename_is_reviewed_for_its_new_lines(committed: Repo) -> None:
    committed.commit("Key", {"old.py": SECRET + "a = 1\n" * 9})
    committed.git("mv", "old.py", "new.py")
    assert placed(committed.look()) == []
    stage(committed, "new.py", SECRET + "a = 1\n" * 9 + SECRET.replace("KEY", "FRESH"))
    assert placed(committed.look()) == [("new.py", 11)]


def test_a_copy_brings_its_secret_to_a_new_place(committed: Repo) -> None:
    committed.commit("Key", {"old.py": SECRET})
    stage(committed, "copy.py", SECRET)
    assert placed(committed.look()) == [("copy.py", 1)]


def test_a_change_of_mode_has_no_lines(committed: Repo) -> None:
    committed.commit("Key", {"key.py": SECRET})
    (committed.path / "key.py").chmod(0o755)
    assert placed(committed.look(Worktree())) == []
    committed.git("add", "-A")
    review = committed.look()
    assert (review.files, placed(review)) == (1, [])


@pytest.mark.parametrize("request_", [Staged(), Worktree()], ids=["staged", "worktree"])
def test_the_target_of_a_link_is_read_and_never_followed(
    committed: Repo, request_: Request, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(SECRET)
    (committed.path / "outside.py").symlink_to(outside)
    (committed.path / "key.py").symlink_to(f"https://user:{key('github')}@example.org/")
    (committed.path / "app.py").unlink()
    (committed.path / "app.py").symlink_to("nowhere")
    if isinstance(request_, Staged):
        committed.git("add", "-A")
    review = committed.look(request_)
    assert [place for place in placed(review) if place[0] != "key.py"] == []
    assert ("key.py", 1) in placed(review)


def test_a_link_that_becomes_a_file_is_read(committed: Repo) -> None:
    (committed.path / "link").symlink_to("app.py")
    committed.commit("Link")
    (committed.path / "link").unlink()
    stage(committed, "link", "a = 1\n" + SECRET)
    assert placed(committed.look()) == [("link", 2)]


def test_a_pointer_of_git_lfs_is_quiet(committed: Repo) -> None:
    committed.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    committed.write("big.bin", POINTER)
    committed.git("-c", "filter.lfs.clean=cat", "add", "-A")
    review = committed.look()
    assert (review.decision, review.findings) == (Decision.ALLOW, ())


def test_a_submodule_is_left_to_its_own_repository(committed: Repo, isolated: dict[str, str]) -> None:
    library = Repo.create(committed.path.parent / "library", isolated)
    first = library.commit("Start", {"lib.py": "a = 1\n"})
    committed.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.path), "lib")
    committed.commit("Add a submodule")
    inner = Repo(committed.path / "lib", isolated)
    inner.commit("Key", {"key.py": SECRET})
    # Whoever says `ignore = all` does not want to see it; what is recorded is told all the same.
    committed.git("config", "-f", ".gitmodules", "submodule.lib.ignore", "all")
    committed.git("add", ".gitmodules")
    committed.git("commit", "-q", "-m", "Ignore")
    committed.git("update-index", "--cacheinfo", f"160000,{inner.git('rev-parse', 'HEAD')},lib")
    review = committed.look()
    assert (review.files, placed(review)) == (1, [])
    assert [(each.path, each.reason) for each in review.skipped] == [
        ("lib", "a submodule: its own repository reviews its commits")
    ]
    assert first != inner.git("rev-parse", "HEAD")
    committed.write("lib/more.py", SECRET)
    assert placed(committed.look(Worktree())) == []


def test_a_file_of_which_only_the_time_differs_is_no_change(committed: Repo) -> None:
    (committed.path / "app.py").touch()
    review = committed.look(Worktree())
    assert (review.files, review.skipped) == (0, ())


def test_work_tree_files_that_cannot_be_read(committed: Repo) -> None:
    committed.write("nested/key.py", SECRET)
    committed.git("init", "-q", at="nested")
    committed.write("ignored.log", SECRET)
    committed.write(".gitignore", "*.log\n")
    subprocess.run(["mkfifo", str(committed.path / "pipe")], check=True)
    (committed.path / "app.py").unlink()
    review = committed.look(Worktree())
    assert placed(review) == []
    assert {each.path for each in review.skipped} == {"nested"}


def test_a_missing_object_is_one_clear_line(committed: Repo) -> None:
    committed.commit("Second", {"second.py": "x = 2\n"})
    stage(committed, "new.py", "a = 1\n")
    commit = committed.git("rev-parse", "HEAD")
    for revision in (":new.py", f"{commit}^{{tree}}", commit):
        blob = committed.git("rev-parse", revision)
        file = committed.path / ".git" / "objects" / blob[:2] / blob[2:]
        content = file.read_bytes()
        file.chmod(0o644)
        file.unlink()
        done = committed.inspect("review")
        assert (done.code, done.out) == (2, ""), revision
        assert len(done.err.splitlines()) == 1
        assert "git fsck" in done.err
        assert blob in done.err or revision in done.err
        file.write_bytes(content)
