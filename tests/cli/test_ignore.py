"""`cli-guard ignore` writes the answer to a finding where it is, and nothing else. Real repositories."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from in_process import RISKY, guard, records, stage, waiting
from repositories import Done, Repo, key

from cli_guard.errors import ExitCode

WHY = "a key of the tests"
RULE = "secret-aws-access-key"
ANSWER = f"# cli-guard: ignore[{RULE}] {WHY}"
LEAK = f'aws_access_key_id = "{key()}"\n'


@contextmanager
def index_unchanged(repo: Repo) -> Iterator[None]:
    before = repo.git("ls-files", "--stage"), repo.git("for-each-ref")
    yield
    assert (repo.git("ls-files", "--stage"), repo.git("for-each-ref")) == before


def reviewed(repo: Repo, files: dict[str, str | bytes]) -> None:
    stage(repo, files)
    assert guard(repo, "hook", "pre-commit").code != 0


def ignore(repo: Repo, *what: str, reason: str = WHY) -> Done:
    with index_unchanged(repo):
        return guard(repo, "ignore", *what, "--reason", reason)


def rules(repo: Repo) -> list[str]:
    """The rules of what still stops the commit, once everything is staged."""
    repo.git("add", "-A")
    return [
        each["rule"]
        for each in guard(repo, "review", "--format", "json").json["findings"]
        if each["decision"] != "advise"
    ]


def forge(repo: Repo, **values: object) -> None:
    """Rewrites the finding of the last report, as any program of the user can."""
    path = records(repo).report
    report = json.loads(path.read_text())
    report["findings"] = [{**report["findings"][0], **values}]
    path.write_text(json.dumps(report))


@pytest.mark.parametrize("line", ["", ":1"])
def test_a_comment_answers_a_finding(committed: Repo, line: str) -> None:
    reviewed(committed, {"settings.py": LEAK})
    done = ignore(committed, RULE, f"settings.py{line}")
    assert done.code == 0 and key() not in done.all
    assert f'+aws_access_key_id = "AKIA****"  {ANSWER}\n' in done.out
    assert "not staged: git add settings.py, then commit again" in done.out
    assert committed.path.joinpath("settings.py").read_text() == f"{LEAK[:-1]}  {ANSWER}\n"
    # A new suppression is approved by a person.
    assert rules(committed) == ["policy-suppression-new"]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(LEAK.encode(), id="plain"),
        pytest.param(LEAK.replace("\n", "\r\n").encode() * 2, id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + LEAK.encode(), id="a mark"),
        pytest.param(LEAK.rstrip().encode(), id="no last line end"),
        pytest.param("# caf\xe9\n".encode("latin-1") + LEAK.encode(), id="Latin-1"),
        pytest.param(b"\xff\xfe" + LEAK.encode("utf-16-le"), id="UTF-16"),
        pytest.param(b"\xfe\xff" + LEAK.encode("utf-16-be"), id="UTF-16 BE"),
    ],
)
def test_every_other_byte_stays(committed: Repo, raw: bytes) -> None:
    path = committed.path / "settings.py"
    committed.write("settings.py", raw)
    path.chmod(0o755)
    reviewed(committed, {})
    done = ignore(committed, RULE, "settings.py")
    assert done.code == 0, done.all
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(raw[:2], "utf-8")
    added = f"  {ANSWER}".encode(encoding)
    assert added in path.read_bytes() and path.read_bytes().replace(added, b"") == raw
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert RULE not in rules(committed)


def test_a_file_without_comments_gets_an_entry_of_its_own(committed: Repo) -> None:
    content = json.dumps({"aws_access_key_id": key()})
    reviewed(committed, {"settings.json": content})
    done = ignore(committed, RULE, "settings.json:1")
    assert done.code == 0 and "record it first, alone" in done.out
    lines = committed.path.joinpath("cli-guard.toml").read_text().split("\n")
    assert [line.partition(" = ")[0] for line in lines] == [
        "[[ignore]]",
        "# AWS access key id.",
        "rule",
        "path",
        "fingerprint",
        "reason",
        "",
    ]
    again = ignore(committed, RULE, "settings.json:1")
    assert again.code == ExitCode.USAGE and "answers it already" in again.err
    committed.git("add", "cli-guard.toml")
    committed.git("commit", "-qm", "Ignore a finding", "--no-verify", "cli-guard.toml")
    assert rules(committed) == []
    # Another key in it is another finding, and its name in another folder another file.
    committed.write(
        "settings.json", json.dumps({"aws_access_key_id": key().replace("Q3X", "Q4X")})
    )
    assert rules(committed) == [RULE]
    committed.write("settings.json", content)
    committed.write("other/settings.json", content)
    assert rules(committed) == [RULE]


@pytest.mark.parametrize(
    ("file", "text", "head"),
    [
        ("cli-guard.toml", "# Ours\n[limits]\nfiles = 9", "\n\n[[ignore]]\n"),
        ("cli-guard.toml", "# Ours\r\n", "\r\n[[ignore]]\r\n"),
        ("pyproject.toml", "[tool.cli-guard]\n", "\n[[tool.cli-guard.ignore]]\n"),
    ],
)
def test_an_entry_goes_to_the_policy_that_is_there(
    committed: Repo, file: str, text: str, head: str
) -> None:
    committed.write(file, text)
    committed.commit("Add a policy")
    reviewed(committed, {"a.json": json.dumps({"aws_access_key_id": key()})})
    assert ignore(committed, RULE, "a.json").code == 0
    with committed.path.joinpath(file).open(newline="") as stream:
        assert stream.read().startswith(f"{text}{head}#")
    committed.git("commit", "-qm", "Ignore a finding", "--no-verify", file)
    assert rules(committed) == []


def test_a_policy_that_cannot_be_edited_with_certainty_is_left(committed: Repo) -> None:
    text = 'ignore = [{rule = "code-*", path = "a", reason = "ours alone"}]\n'
    committed.write("cli-guard.toml", text)
    reviewed(committed, {"a.json": json.dumps({"aws_access_key_id": key()})})
    done = ignore(committed, RULE, "a.json")
    assert done.code == ExitCode.USAGE and "write it there by hand: [[ignore]]" in done.err
    assert committed.path.joinpath("cli-guard.toml").read_text() == text


def test_the_only_finding_needs_no_name(committed: Repo) -> None:
    reviewed(committed, {"settings.py": LEAK})
    assert ignore(committed).code == 0
    assert rules(committed) == ["policy-suppression-new"]


def test_of_several_each_is_listed_with_what_to_type(committed: Repo) -> None:
    reviewed(committed, {"settings.py": LEAK, "it's.py": LEAK, "reports.py": RISKY})
    done = guard(committed, "ignore")
    assert done.code == ExitCode.USAGE and key() not in done.all
    typed = [line.strip() for line in done.out.splitlines() if line.startswith("    ")]
    assert typed == [
        f"cli-guard ignore {RULE} 'it'\"'\"'s.py:1' --reason \"...\"",
        f'cli-guard ignore {RULE} settings.py:1 --reason "..."',
        'cli-guard ignore code-python-shell reports.py:8 --reason "..."',
    ]
    assert "reports.py:8: A shell runs" in done.out


def test_the_same_commit_of_tracked_files_goes_on(forked: Repo) -> None:
    """`git commit -a` reviews an index of its own, and leaves the real one as it was."""
    forked.write("app.py", RISKY)
    assert forked.try_git("commit", "-qam", "Run it").code != 0
    line = RISKY.splitlines().index(
        '    subprocess.run("render-report " + name, shell=True)'
    )
    done = ignore(forked, "code-python-shell", f"app.py:{line + 1}", reason="it is checked")
    assert done.code == 0, done.all
    again = forked.try_git("commit", "-qam", "Run it")
    assert "policy-suppression-new" in again.all and "code-python-shell |" not in again.all


def test_an_id_is_all_findings_of_a_pending_review(committed: Repo) -> None:
    reviewed(committed, {"a.py": RISKY, "b.py": RISKY})
    (review,) = waiting(committed)
    done = ignore(committed, review, reason="the name is checked")
    assert done.code == 0, done.all
    assert "git add a.py b.py" in done.out
    assert rules(committed) == ["policy-suppression-new"] * 2


def test_what_is_answered_beside_a_floor(committed: Repo) -> None:
    policy = '[rules]\n"code-*" = "advise"\n'
    reviewed(committed, {"a.py": RISKY, "cli-guard.toml": policy})
    (review,) = waiting(committed)
    done = ignore(committed, review, reason="the name is checked")
    assert done.code == 0 and "policy-weakened is about the guard itself" in done.out
    alone = ignore(committed, "policy-weakened", "cli-guard.toml")
    assert alone.code == ExitCode.USAGE and "a person approves it" in alone.err
    assert committed.path.joinpath("cli-guard.toml").read_text() == policy


def test_a_failed_check_is_pushed_once(committed: Repo) -> None:
    reviewed(committed, {"a.py": RISKY})
    forge(committed, rule="push-check-failed", path="", line=None, end_line=None)
    done = ignore(committed)
    assert done.code == ExitCode.USAGE
    assert "SKIP=cli-guard-pre-push git push" in done.err
    committed.write(
        "cli-guard.toml", '[[ignore]]\nrule = "push-check-failed"\nreason = "we know"\n'
    )
    committed.commit("Ignore checks")
    stage(committed, {"b.py": "x = 1\n"})
    assert "[[ignore]] of push-check-failed has no effect" in guard(committed, "review").out


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("", "say why"),
        ("two words", "at least 3 words"),
        ("one\nof three words", "one line"),
        ("a \x1b[2J of words", "one line"),
        ("w " * 200, "one line of at most"),
        (f"it is {key()} only", "holds a secret"),
    ],
)
def test_a_reason_that_would_not_count(committed: Repo, reason: str, says: str) -> None:
    reviewed(committed, {"settings.py": LEAK})
    done = ignore(committed, reason=reason)
    assert done.code == ExitCode.USAGE and says in done.err and key() not in done.all
    assert committed.path.joinpath("settings.py").read_text() == LEAK


def test_a_line_is_found_where_it_is_now(committed: Repo) -> None:
    reviewed(committed, {"settings.py": LEAK})
    committed.write("settings.py", f"import os\n\n{LEAK}")
    assert ignore(committed, RULE, "settings.py:1").code == 0
    after = committed.path.joinpath("settings.py").read_text()
    assert after == f"import os\n\n{LEAK[:-1]}  {ANSWER}\n"


def test_a_line_that_has_changed_is_refused(committed: Repo) -> None:
    reviewed(committed, {"settings.py": LEAK})
    committed.write("settings.py", "x = 1\n")
    done = ignore(committed, RULE, "settings.py:1")
    assert done.code == ExitCode.USAGE and "not as it was reviewed" in done.err


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("../outside.py", "not a path of this work tree"),
        ("/etc/passwd", "not a path of this work tree"),
        (".git/hooks/pre-commit", "belongs to Git"),
        ("sub/.GIT/config", "belongs to Git"),
        ("link.py", "is a link"),
        ("folder/app.py", "is a link"),
        ("nowhere.py", "not a file of the work tree"),
        ("pipe.py", "not a file of the work tree"),
    ],
)
def test_only_a_plain_file_of_the_work_tree_is_written(
    committed: Repo, tmp_path: Path, path: str, says: str
) -> None:
    reviewed(committed, {"settings.py": LEAK})
    outside = tmp_path / "outside.py"
    outside.write_text(LEAK)
    committed.path.joinpath("link.py").symlink_to(outside)
    committed.path.joinpath("folder").symlink_to(".")
    os.mkfifo(committed.path / "pipe.py")
    forge(committed, path=path, line=1)
    done = ignore(committed)
    assert done.code == ExitCode.USAGE and says in done.err
    assert outside.read_text() == LEAK


def test_a_policy_that_is_a_link_is_not_written(committed: Repo, tmp_path: Path) -> None:
    reviewed(committed, {"a.json": json.dumps({"aws_access_key_id": key()})})
    committed.path.joinpath("cli-guard.toml").symlink_to(tmp_path / "other.toml")
    done = ignore(committed, RULE, "a.json")
    assert done.code == ExitCode.USAGE and "is a link" in done.err
    assert not tmp_path.joinpath("other.toml").exists()


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ((RULE, "other.py"), "no finding of"),
        ((RULE, "settings.py:2"), "no finding of"),
        (("code-x", "settings.py"), "no finding of code-x"),
        ((RULE,), "without a path"),
        (("abcdef",), "no pending review"),
        ((RULE, "settings.py", "more"), "RULE PATH"),
    ],
)
def test_what_the_last_run_has_not(
    committed: Repo, what: tuple[str, ...], says: str
) -> None:
    reviewed(committed, {"settings.py": LEAK})
    done = ignore(committed, *what)
    assert done.code == ExitCode.USAGE and says in done.err


def test_a_message_is_written_anew(committed: Repo) -> None:
    stage(committed, {"b.py": "x = 1\n"})
    committed.write(".git/COMMIT_EDITMSG", f"Add it\n\nIt uses {key()}\n")
    stopped = guard(committed, "hook", "commit-msg", ".git/COMMIT_EDITMSG")
    assert stopped.code == 1 and "cli-guard ignore" not in stopped.out
    done = ignore(committed, RULE)
    assert done.code == ExitCode.USAGE and "write another message" in done.err
    assert not (committed.path / "cli-guard.toml").exists()


def test_without_a_run_one_line(committed: Repo) -> None:
    done = ignore(committed)
    assert done.code == 2 and done.err.count("\n") == 1
