"""`review --fix` and `last --patch` print one patch of all fixes, which the real `git apply` takes."""

from collections.abc import Mapping

import pytest
from in_process import guard, stage
from repositories import Repo, key

from cli_guard.answering.fixing import patch_of
from cli_guard.answering.ignoring import Reviewed
from cli_guard.errors import ExitCode
from cli_guard.git.repository import GitRepository
from cli_guard.model import (
    Category,
    Confidence,
    Disposition,
    Finding,
    JudgedFinding,
    Severity,
)
from cli_guard.review.fixes import Fix, fixes_of

CODE = "def load_items(path):\n    return path\n"
NEW = CODE.replace("load_items", "read_items")
FILL = "".join(f"Line {number}.\n" for number in range(12))


def renamed(repo: Repo, documents: Mapping[str, str | bytes]) -> None:
    """Records documents that name a function, and stages its new name."""
    repo.commit("Documents", {"shop/cart.py": CODE, **documents})
    stage(repo, {"shop/cart.py": NEW})


def patched(repo: Repo, *command: str) -> bytes:
    """The patch that a command prints, taken by `git apply`."""
    out = repo.run("cli-guard", *command)
    assert out.code == 0, out.all
    done = repo.try_git("apply", "-", stdin=out.out)
    assert done.code == 0, f"{done.all}\n{out.out}"
    return out.out.encode()


@pytest.mark.parametrize("command", [("review", "--fix"), ("last", "--patch")])
def test_all_fixes_are_one_patch(committed: Repo, command: tuple[str, ...]) -> None:
    text = f"Call `load_items` with a path.\n{FILL}Then `load_items` again.\n"
    names = ("README.md", "docs/größe.md", 'docs/a "b".md')
    renamed(committed, dict.fromkeys(names, text))
    assert guard(committed, "hook", "pre-commit").code == 0
    before = committed.git("ls-files", "--stage")
    patch = patched(committed, *command)
    assert patch.count(b"\n@@ ") >= 5 and patch.count(b"diff --git ") == 3
    fixed = text.replace("load_items", "read_items")
    after = {name: (committed.path / name).read_text() for name in names}
    # Five findings are listed, of six.
    assert after["README.md"] == after['docs/a "b".md'] == fixed
    assert after["docs/größe.md"] == text.replace("load_items", "read_items", 1)
    assert committed.git("ls-files", "--stage") == before


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"Call `load_items`.\r\nNow.\r\n", id="CRLF"),
        pytest.param(b"Call `load_items`.\r\nNow.", id="CRLF without the last"),
        pytest.param(b"Now.\nCall `load_items`.", id="no last line end"),
        pytest.param(b"Call `load_items`.", id="one line"),
        pytest.param(b"\xef\xbb\xbfCall `load_items`.\n", id="a mark"),
        pytest.param("Call `load_items` for é €.\n".encode(), id="UTF-8"),
    ],
)
def test_every_other_byte_stays(committed: Repo, raw: bytes) -> None:
    committed.git("config", "core.autocrlf", "false")
    renamed(committed, {"README.md": raw})
    patched(committed, "review", "--fix")
    after = (committed.path / "README.md").read_bytes()
    assert after == raw.replace(b"load_items", b"read_items")


def test_documentation_of_code_is_in_it(committed: Repo) -> None:
    before = 'def f(a: int) -> int:\n    """Add.\n\n    Args:\n        a: The first.\n    """\n    return a\n'
    committed.commit("Add f", {"shop/f.py": before})
    after = before.replace("f(a: int)", "f(b: int)").replace("return a", "return b")
    stage(committed, {"shop/f.py": after, "a.py": "import yaml\n\nx = yaml.load(y)\n"})
    code = guard(committed, "review", "--fix").code
    assert code == ExitCode.NEEDS_REVIEW
    patch = guard(committed, "review", "--fix").out
    assert committed.try_git("apply", "-", stdin=patch).code == 0
    assert "        b: The first.\n" in (committed.path / "shop/f.py").read_text()
    assert "x = yaml.safe_load(y)\n" in (committed.path / "a.py").read_text()


def test_a_line_that_has_moved_and_one_that_has_changed(committed: Repo) -> None:
    renamed(committed, {"README.md": "Call `load_items`.\n", "GUIDE.md": "`load_items`\n"})
    assert guard(committed, "hook", "pre-commit").code == 0
    committed.write("README.md", f"{FILL}Call `load_items`.\n")
    committed.write("GUIDE.md", "Nothing.\n")
    done = guard(committed, "last", "--patch")
    assert "left out: GUIDE.md is not as it was reviewed" in done.err
    assert committed.try_git("apply", "-", stdin=done.out).code == 0
    assert (committed.path / "README.md").read_text() == f"{FILL}Call `read_items`.\n"


@pytest.mark.parametrize(
    ("near", "says"),
    [
        (f'aws_access_key_id = "{key()}"\n', "holds a secret"),
        ("\x1b[2J\n", "control characters"),
    ],
)
def test_what_must_not_be_printed_is_left_out(
    committed: Repo, near: str, says: str
) -> None:
    renamed(committed, {"README.md": f"{near}Call `load_items`.\n"})
    done = guard(committed, "review", "--fix")
    assert says in done.err and done.out == "" and key() not in done.all
    # Far from the lines of a fix it does no harm.
    committed.write("README.md", f"{near}{FILL}Call `load_items`.\n")
    committed.git("add", "-A")
    committed.git("commit", "-qm", "Further", "--no-verify", "README.md")
    assert "+Call `read_items`." in guard(committed, "review", "--fix").out


def test_a_sentence_is_not_patched_by_half(committed: Repo) -> None:
    """Of two equal values in one sentence, one is known to be false: black's DEFAULT_LINE_LENGTH."""
    code = "DEFAULT_LINE_LENGTH = 88\n"
    half = "The default line length of 88 characters is `length = 88` as well.\n"
    whole = "The default line length is 88 characters. It has 88 tests.\n"
    pages = {"docs/half.md": half, "docs/whole.md": whole}
    committed.commit("Add it", {"black/const.py": code, **pages})
    stage(committed, {"black/const.py": code.replace("88", "100")})
    report = guard(committed, "review", "-v").out
    assert "docs/half.md:1" in report and "docs/whole.md:1" in report
    patch = guard(committed, "review", "--fix").out
    assert "half.md" not in patch
    assert committed.try_git("apply", "-", stdin=patch).code == 0
    after = (committed.path / "docs/whole.md").read_text()
    assert after == whole.replace("88 characters", "100 characters")


def test_without_a_fix_nothing_is_printed(committed: Repo) -> None:
    stage(committed, {"b.py": "x = 1\n"})
    done = guard(committed, "review", "--fix")
    assert (done.code, done.out) == (0, "") and "no finding has a fix" in done.err


@pytest.mark.parametrize(
    "more", [("--format", "json"), ("--output", "a"), ("--patch", "-")]
)
def test_a_patch_instead_of_a_report(committed: Repo, more: tuple[str, ...]) -> None:
    assert guard(committed, "review", "--fix", *more).code == ExitCode.USAGE


def found(path: str, suggestion: str, replaces: str = "") -> Finding:
    fields = Category.DOCS, Severity.LOW, Confidence.HIGH
    return Finding(
        "docs-x", *fields, path, 1, "", "", suggestion=suggestion, replaces=replaces
    )


@pytest.mark.parametrize(
    ("suggestion", "replaces", "fixes"),
    [
        ("@@ -2 +2 @@\n-a\n+b", "", [Fix(2, 2, ("b",), ("a",))]),
        ("@@ -2,1 +2,2 @@\n a\n+b", "", [Fix(3, 2, ("b",), ())]),
        ("@@ -2,0 +3 @@\n+b", "", [Fix(3, 2, ("b",), ())]),
        ("@@ -2,3 +2,2 @@\n a\n-b\n c", "", [Fix(3, 3, (), ("b",))]),
        ("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d", "", [1, 9]),
        ("a\nb", "4,6", [Fix(4, 6, ("a", "b"))]),
        ("a", "4,3", [Fix(4, 3, ("a",))]),
        ("a", "", []),
        ("a", "x", []),
        ("@@ line 3 @@\n+b", "", []),
        ("@@ -1 +1 @@\nno sign", "", []),
    ],
)
def test_what_a_suggestion_changes(
    suggestion: str, replaces: str, fixes: list[Fix | int]
) -> None:
    read = list(fixes_of(found("a.md", suggestion, replaces)))
    if fixes and isinstance(fixes[0], int):
        assert [each.first for each in read] == fixes
    else:
        assert read == fixes


@pytest.mark.parametrize("path", ["../a.md", "/etc/passwd", ".git/config", "link.md"])
def test_no_file_beside_the_work_tree_is_read(committed: Repo, path: str) -> None:
    committed.path.joinpath("link.md").symlink_to("/etc/passwd")
    one = JudgedFinding(found(path, "x", "1,1"), Disposition.ADVISE)
    repository = GitRepository.discover(committed.path, committed.env)
    patch, (note,) = patch_of(repository, Reviewed("staged", (one,)))
    assert patch == "" and note.startswith("left out: ")
