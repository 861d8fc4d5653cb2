"""The Git hooks ask by themselves where a person sits at the terminal, and never anywhere else."""

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pytest
from checks_world import World
from frameworks.programs import Framework
from in_process import RISKY, guard, records, stage, state_values, waiting
from repositories import Repo, key
from terminals import Seat

from cli_guard.answering import asking as asking_module
from cli_guard.answering.asking import read_line
from cli_guard.approvals.storage import StateFolder
from cli_guard.cli import ask_now
from cli_guard.cli.io import Io, put
from cli_guard.errors import CliGuardError

QUESTION = "approve now? [y]es once · [d]iff · [N]o: "
CONVENTIONAL = "[message]\nstyle = 'conventional'\n[rules]\n'message-*' = 'review'\n"


# In the environment of a repository: where the programs are whose runs are forks, see preloaded.py.
FOLDER = "PRELOADED"


@pytest.fixture
def asking(forked: Repo, preloaded: Path) -> Repo:
    """A repository with our hooks, in an environment where Git itself may ask as well."""
    more = {"GIT_TERMINAL_PROMPT": "1", FOLDER: str(preloaded)}
    return Repo(forked.path, forked.env | more)


def sit(repo: Repo, *words: str) -> Seat:
    """Start a program at a terminal of its own."""
    folder = repo.env.get(FOLDER)
    program = (f"{folder}/terminal", *words) if folder else words
    return Seat(program, repo.path, repo.env, preloaded=folder is not None)


# What asks is the same with and without a server; the terminal that it asks at is handed over or not. Without one are
# those tests as well whose hooks are forks.
COLD_TOO = pytest.mark.parametrize("served", ["warm", "cold"], indirect=True)


@pytest.fixture
def served(
    guarded: Repo, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Repo:
    """The same with the real program, and with a server that does the reviews, or without one."""
    monkeypatch.setattr("repositories.find_stand_in", None)
    asking = Repo(guarded.path, guarded.env | {"GIT_TERMINAL_PROMPT": "1"})
    if getattr(request, "param", "warm") == "cold":
        return Repo(asking.path, asking.env | {"CLI_GUARD_SERVER": "0"})
    if asking.env["CLI_GUARD_SERVER"] == "0":
        pytest.skip("these tests run without a server")
    assert asking.guard("server", "start").code == 0
    return asking


def commit(repo: Repo, *options: str, message: str = "Add reports") -> Seat:
    """`git commit` at a terminal of its own."""
    return sit(repo, "git", "commit", "-q", "-m", message, *options)


def subject(repo: Repo) -> str:
    return repo.git("log", "-1", "--format=%s")


def events(repo: Repo) -> Counter[str]:
    return Counter(str(entry["event"]) for entry in records(repo).audit.entries())


def stays_silent(repo: Repo, *options: str) -> str:
    """Stages a risk and commits; nothing is asked, and the hook stops the commit as ever."""
    stage(repo, {"reports.py": RISKY})
    with commit(repo, *options) as terminal:
        code, seen = terminal.end()
    assert code != 0 and "cli-guard approve " in seen and "approve now?" not in seen, seen
    assert len(waiting(repo)) == 1 and subject(repo) == "Start"
    return seen


# What is typed is read in one place, tested below: through a commit, one answer of each kind is enough.
@COLD_TOO
def test_yes_lets_the_same_commit_go_on(served: Repo) -> None:
    stage(served, {"reports.py": RISKY})
    with commit(served) as terminal:
        assert "reports.py:8" in terminal.until(QUESTION)
        terminal.type("y\n")
        code, seen = terminal.end()
    assert code == 0 and "approved (tty) for exactly this content" in seen, seen
    assert subject(served) == "Add reports" and waiting(served) == []
    assert events(served) == {"pre-commit": 2, "approve": 1, "commit-msg": 1}
    assert records(served).audit.verify().problem is None
    [approval] = StateFolder(records(served)).read_unsigned()
    assert approval.made.reason == ""


@pytest.mark.parametrize(
    ("served", "typed"),
    [
        pytest.param("warm", "n\n", id="n"),
        pytest.param("warm", "\x03", id="^C"),
        pytest.param("cold", "\x03", id="^C-cold"),
    ],
    indirect=["served"],
)
def test_anything_else_is_no(served: Repo, typed: str) -> None:
    stage(served, {"reports.py": RISKY})
    with commit(served) as terminal:
        terminal.until(QUESTION)
        terminal.type(typed)
        code, seen = terminal.end()
    assert code != 0, seen
    assert subject(served) == "Start" and len(waiting(served)) == 1
    assert (
        events(served) == {"pre-commit": 1}
        and StateFolder(records(served)).read_unsigned() == []
    )


def test_what_was_typed_before_the_question_is_no_answer(asking: Repo) -> None:
    stage(asking, {"reports.py": RISKY})
    with commit(asking) as terminal:
        terminal.type("y\n")
        terminal.until(QUESTION)
        terminal.type("\n")
        assert terminal.end()[0] != 0
    assert StateFolder(records(asking)).read_unsigned() == []


def test_the_diff_is_shown_and_the_question_comes_again(served: Repo) -> None:
    stage(served, {"reports.py": RISKY})
    with commit(served) as terminal:
        terminal.until(QUESTION)
        terminal.type("d\n")
        assert '+    subprocess.run("render-report " + name, shell=True)' in terminal.until(
            QUESTION
        )
        terminal.type("diff\n")
        assert "+++ b/reports.py" in terminal.until(QUESTION)
        terminal.type("y\n")
        assert terminal.end()[0] == 0
    assert subject(served) == "Add reports"


def test_all_findings_are_one_question(asking: Repo) -> None:
    more = f'{RISKY}    subprocess.run("other " + name, shell=True)\n'
    stage(asking, {"reports.py": more, "again.py": RISKY})
    with commit(asking) as terminal:
        shown = terminal.until(QUESTION)
        terminal.type("y\n")
        assert terminal.end()[0] == 0
    assert all(place in shown for place in ("reports.py:8", "reports.py:9", "again.py:8"))
    assert events(asking)["approve"] == 1


@pytest.mark.parametrize(
    "options", [("-a",), ("--only", "--", "app.py")], ids=["all", "a path"]
)
def test_a_temporary_index_is_what_is_approved(
    asking: Repo, options: tuple[str, ...]
) -> None:
    asking.write("app.py", RISKY)
    with commit(asking, *options) as terminal:
        terminal.until(QUESTION)
        terminal.type("d\n")
        assert "+++ b/app.py" in terminal.until(QUESTION)
        terminal.type("y\n")
        assert terminal.end()[0] == 0
    assert asking.git("show", "HEAD:app.py") == RISKY.strip()


def test_what_is_staged_while_a_person_thinks_is_not_recorded(asking: Repo) -> None:
    stage(asking, {"reports.py": RISKY})
    with commit(asking) as terminal:
        terminal.until(QUESTION)
        stage(asking, {"unseen.py": RISKY})
        terminal.type("y\n")
        code, seen = terminal.end()
    assert code != 0 and "approved (tty)" in seen and "unseen.py:8" in seen, seen
    assert subject(asking) == "Start"
    asking.git("rm", "-q", "--cached", "unseen.py")
    assert asking.try_git("commit", "-q", "-m", "Add reports").code == 0, (
        "what was approved is"
    )


def test_a_message_that_changes_while_a_person_thinks_is_not_recorded(asking: Repo) -> None:
    asking.commit("Policy", {"cli-guard.toml": CONVENTIONAL})
    stage(asking, {"b.py": "b = 1\n"})
    with commit(asking) as terminal:
        terminal.until(QUESTION)
        (asking.path / ".git/COMMIT_EDITMSG").write_text("Another\n")
        terminal.type("y\n")
        code, seen = terminal.end()
    assert (
        code != 0
        and "approved (tty)" in seen
        and "needs approval" in seen.split("approved (tty)")[1]
    ), seen
    assert subject(asking) == "Policy"


def test_a_message_is_asked_about(asking: Repo) -> None:
    asking.commit("Policy", {"cli-guard.toml": CONVENTIONAL})
    stage(asking, {"b.py": "b = 1\n"})
    with commit(asking) as terminal:
        terminal.until(QUESTION)
        terminal.type("y\n")
        code, seen = terminal.end()
    assert code == 0, seen
    assert subject(asking) == "Add reports"
    assert (events(asking)["commit-msg"], events(asking)["approve"]) == (2, 1)


def test_a_merge_is_asked_about(asking: Repo) -> None:
    """What both sides have is not asked about again; what a merge driver makes of them is."""
    (asking.path.parent / "made").write_text(RISKY)
    asking.git("config", "merge.made.driver", f"cp '{asking.path.parent}/made' %A")
    asking.commit("Attributes", {".gitattributes": "app.py merge=made\n"})
    asking.git("checkout", "-q", "-b", "side")
    asking.commit("Set y", {"app.py": "y = 1\n"})
    asking.git("checkout", "-q", "main")
    asking.commit("Set z", {"app.py": "z = 1\n"})
    merge = ("git", "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    with sit(asking, *merge) as terminal:
        terminal.until(QUESTION)
        terminal.type("d\n")
        assert "+++ b/app.py" in terminal.until(QUESTION)
        terminal.type("y\n")
        code, seen = terminal.end()
    assert code == 0, seen
    assert subject(asking) == "Merge side" and events(asking)["pre-merge-commit"] == 2


def test_a_push_is_asked_about(asking: Repo, origin: Path) -> None:
    """No server answers a push."""
    asking.commit("Add reports", {"reports.py": RISKY})
    for typed in ("n\n", "y\n"):
        with push(asking) as terminal:
            terminal.until(QUESTION)
            terminal.type("d\n")
            assert "+++ b/reports.py" in terminal.until(QUESTION)
            terminal.type(typed)
            code, seen = terminal.end()
        assert (code == 0) is ("y" in typed), seen
    assert asking.git("ls-remote", "origin").split()[0] == asking.git("rev-parse", "HEAD")
    assert events(asking) == {"pre-push": 3, "approve": 1}


@pytest.fixture
def origin(guarded: Repo) -> Path:
    """A bare repository that the first commit was pushed to."""
    bare = Repo.create(guarded.path.parent / "origin.git", guarded.env, "--bare")
    guarded.git("remote", "add", "origin", str(bare.path))
    guarded.git("push", "-q", "--no-verify", "origin", "main")
    return bare.path


def push(repo: Repo, *names: str) -> Seat:
    return sit(repo, "git", "push", "-q", "origin", *(names or ("main",)))


NEVER = ["CI=1", "CI=true", "CLAUDECODE=1", "TERM=dumb", "GIT_TERMINAL_PROMPT=0"]
LOOKS_LIKE_IT = ["CI=false", "CI=0", "CI=", "TERM=xterm"]


# Each by the function that decides; then one of a kind through a real commit.
@pytest.mark.parametrize("given", [*NEVER, *LOOKS_LIKE_IT])
def test_who_expects_no_question(
    asking: Repo, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    # This process is in no session of that terminal.
    monkeypatch.setattr(os, "tcgetpgrp", lambda terminal: os.getpgrp())
    name, _, value = given.partition("=")
    out = io.StringIO()
    streams = Io(keyboard(terminal), out, out, asking.path, asking.env | {name: value})
    assert ask_now.is_askable(streams, terminal[1]) is (given in LOOKS_LIKE_IT)


@pytest.mark.parametrize("given", ["CI=true", "CLAUDECODE=1"])
def test_nobody_is_asked_who_expects_no_question(asking: Repo, given: str) -> None:
    name, _, value = given.partition("=")
    stays_silent(Repo(asking.path, asking.env | {name: value}))


@pytest.mark.parametrize("given", ["CI=0"])
def test_what_only_looks_like_it_does_not_count(asking: Repo, given: str) -> None:
    name, _, value = given.partition("=")
    stage(asking, {"reports.py": RISKY})
    with commit(Repo(asking.path, asking.env | {name: value})) as terminal:
        terminal.until(QUESTION)
        terminal.type("n\n")
        assert terminal.end()[0] != 0


@pytest.mark.parametrize("whose", ["repository", "user"])
def test_policy_can_switch_it_off(asking: Repo, whose: str) -> None:
    words = "[approvals]\nprompt = false\n"
    if whose == "repository":
        asking.write("cli-guard.toml", words)
        asking.git("add", "-A")
        asking.git("commit", "-q", "--no-verify", "--amend", "--no-edit")
    else:
        path = Path(asking.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
        path.parent.mkdir(parents=True)
        path.write_text(words)
    stays_silent(asking)


def test_a_deny_is_not_asked_about(asking: Repo) -> None:
    stage(asking, {"reports.py": RISKY, "settings.py": f'aws_access_key_id = "{key()}"\n'})
    with commit(asking) as terminal:
        code, seen = terminal.end()
    assert code != 0 and "must fix" in seen and "approve now?" not in seen
    assert subject(asking) == "Start" and waiting(asking) == []


def test_without_a_terminal_nobody_is_asked(served: Repo) -> None:
    stage(served, {"reports.py": RISKY})
    command = ("git", "commit", "-q", "-m", "Add reports")
    done = subprocess.run(
        command,
        cwd=served.path,
        env=served.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=60,
    )
    assert done.returncode != 0 and b"approve now?" not in done.stdout + done.stderr
    assert len(waiting(served)) == 1


def test_a_commit_in_the_background_is_neither_asked_nor_stopped(served: Repo) -> None:
    stage(served, {"reports.py": RISKY})
    script = "set -m; git commit -q -m 'Add reports' & wait $!; echo ended with $?"
    with sit(served, "bash", "-c", script) as terminal:
        code, seen = terminal.end()
    assert code == 0 and "ended with 1\n" in seen and "approve now?" not in seen, seen
    assert len(waiting(served)) == 1


def test_a_full_screen_program_is_left_alone(asking: Repo) -> None:
    stage(asking, {"reports.py": RISKY})
    script = "stty raw -echo; git commit -q -m 'Add reports'; code=$?; stty sane; echo ended with $code"
    with sit(asking, "bash", "-c", script) as terminal:
        _, seen = terminal.end()
    assert "ended with 1\n" in seen and "approve now?" not in seen, seen


def test_what_is_shown_goes_to_the_terminal_where_the_report_did_not(served: Repo) -> None:
    stage(served, {"reports.py": RISKY})
    script = "git commit -q -m 'Add reports' </dev/null >log 2>&1"
    with sit(served, "bash", "-c", script) as terminal:
        assert "reports.py:8: A shell runs a command" in terminal.until(QUESTION)
        terminal.type("y\n")
        assert terminal.end()[0] == 0
    assert subject(served) == "Add reports"
    assert "approve now?" not in (served.path / "log").read_text()


def test_no_escape_sequence_reaches_the_terminal(asking: Repo) -> None:
    asking.write(b"\x1b]0;evil\x07\x1b[2J.py", RISKY)
    asking.git("add", "-A")
    script = "git commit -q -m 'Add reports' >log 2>&1"
    with sit(asking, "bash", "-c", script) as terminal:
        terminal.until(QUESTION)
        terminal.type("d\n")
        terminal.until(QUESTION)
        terminal.type("y\n")
        code, seen = terminal.end()
    assert (
        code == 0
        and "evil" in seen
        and "\\x1b" in seen
        and "\x1b" not in seen
        and "\x07" not in seen
    ), seen


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal: our end and the program's."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_two_reviews_at_once_are_not_mixed_up(
    asking: Repo, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook knows its review by when it was recorded: with one of another work tree, it asks about neither."""
    monkeypatch.setattr(asking_module, "SECONDS", 0.0)
    linked = Repo(asking.path.parent / "linked", asking.env)
    asking.git("worktree", "add", "-q", str(linked.path))
    for repo, asked in ((asking, True), (linked, False)):
        stage(repo, {f"{repo.path.name}.py": RISKY})
        assert guard(repo, "hook", "pre-commit").code == 3
        out = io.StringIO()
        streams = Io(keyboard(terminal), out, out, asking.path, asking.env)
        assert (
            ask_now.ask(streams, terminal[1], ["hook", "pre-commit"], "2026-01-01T00:00:00")
            == 3
        )
        assert (QUESTION in out.getvalue()) is asked
    assert (
        ask_now.ask(streams, terminal[1], ["hook", "pre-commit"], "2999-01-01T00:00:00")
        == 3
    )


def keyboard(terminal: tuple[int, int]) -> TextIO:
    """The program's end of a terminal, as its standard input."""
    return open(terminal[1], closefd=False, encoding="utf-8")


class Answered(io.StringIO):
    """What a program shows, to a person who answers its question."""

    def __init__(self, keyboard: int, typed: str) -> None:
        super().__init__()
        self.keyboard = keyboard
        self.typed = typed

    def write(self, text: str) -> int:
        if text.endswith(QUESTION):
            os.write(self.keyboard, self.typed.encode())
        return super().write(text)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("\n", ""),
        ("yep\n", "yep"),
        # There is no lasting yes here.
        ("a\n", "a"),
        ("\x04", ""),
        ("y\x04\x04", ""),
        (" No \n", "No"),
        ("\xff\n", "\xff"),
    ],
)
def test_what_approves_nothing(
    asking: Repo, terminal: tuple[int, int], typed: str, read: str
) -> None:
    stage(asking, {"reports.py": RISKY})
    assert guard(asking, "hook", "pre-commit").code == 3
    out = Answered(terminal[0], typed)
    streams = Io(keyboard(terminal), out, out, asking.path, asking.env)
    assert read_line(streams.stdin, partial(put, out), QUESTION).strip() == read
    assert (
        ask_now.ask(streams, terminal[1], ["hook", "pre-commit"], "2026-01-01T00:00:00")
        == 3
    )
    assert out.getvalue().endswith("cli-guard: not approved\n")
    assert len(waiting(asking)) == 1 and StateFolder(records(asking)).read_unsigned() == []


def test_what_approves(asking: Repo, terminal: tuple[int, int]) -> None:
    for typed in ("y\n", "YES\n", " Yes \n"):
        stage(asking, {"reports.py": f"{RISKY}# {typed}"})
        assert guard(asking, "hook", "pre-commit").code == 3
        out = Answered(terminal[0], typed)
        streams = Io(keyboard(terminal), out, out, asking.path, asking.env)
        assert (
            ask_now.ask(streams, terminal[1], ["hook", "pre-commit"], "2026-01-01T00:00:00")
            == 0
        ), typed
        assert "approved (tty) for exactly this content" in out.getvalue()
        assert waiting(asking) == []


def test_what_is_kept_of_a_review_is_not_what_is_shown(
    asking: Repo, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any program of the user can write there between the review and the question."""
    monkeypatch.setattr(asking_module, "SECONDS", 0.0)
    stage(asking, {"reports.py": RISKY})
    assert guard(asking, "hook", "pre-commit").code == 3
    [review] = records(asking).pending()

    def harmless(values: dict[str, Any]) -> dict[str, Any]:
        changed = [
            each | {"finding": replace(each["finding"], message="a harmless remark")}
            for each in values["judged"]
        ]
        return {"judged": changed}

    state_values(records(asking).checkpoint(review.id), harmless)
    out = io.StringIO()
    streams = Io(
        keyboard(terminal), out, out, asking.path, asking.env | {"PRE_COMMIT": "1"}
    )
    assert (
        ask_now.ask(streams, terminal[1], ["hook", "pre-commit"], "2026-01-01T00:00:00")
        == 3
    )
    assert "A shell runs a command" in out.getvalue() and "harmless" not in out.getvalue()
    # Of another content, a review with an id that is right in itself is not asked about at all.
    asking.git("rm", "-q", "--cached", "reports.py")
    stage(asking, {"other.py": RISKY})
    with pytest.raises(CliGuardError, match="is outdated"):
        ask_now.ask(streams, terminal[1], ["hook", "pre-commit"], "2026-01-01T00:00:00")


@pytest.mark.parametrize("ends", ["true", "false"])
def test_checks_that_waited_for_the_approval_run_before_git_goes_on(
    asking: Repo, tmp_path: Path, ends: str
) -> None:
    world = World.create(asking, tmp_path)
    command = f"sh -c '{world.leaves('ran')}; {ends}'"
    world.check(command=json.dumps(command), stage='"pre-commit"')
    stage(asking, {"reports.py": RISKY})
    with commit(asking) as seat:
        seat.until(QUESTION)
        assert world.runs == []
        seat.type("y\n")
        code, seen = seat.end()
    assert world.runs == ["ran"], seen
    assert (code == 0) is (ends == "true"), seen
    assert subject(asking) == ("Add reports" if ends == "true" else "Check t")
    assert ("push-check-failed" in seen) is (ends == "false")
    assert events(asking)["pre-commit"] == 2, "the outcome of the checks is recorded"


def test_checks_that_are_not_trusted_can_be_approved_away_once(
    asking: Repo, tmp_path: Path
) -> None:
    world = World.create(asking, tmp_path)
    world.check(
        command=json.dumps(world.leaves("ran")), stage='"pre-commit"', trusted=False
    )
    stage(asking, {"b.py": "b = 1\n"})
    with commit(asking) as seat:
        assert "push-check-untrusted" in seat.until(QUESTION)
        seat.type("y\n")
        code, seen = seat.end()
    assert code == 0 and world.runs == [], seen
    assert subject(asking) == "Add reports"


def test_no_answer_in_time_is_none(
    asking: Repo, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking_module, "SECONDS", 0.2)
    out = io.StringIO()
    streams = Io(keyboard(terminal), out, out, asking.path, asking.env)
    threading.Timer(0.1, os.write, (terminal[0], b"y")).start()
    assert read_line(streams.stdin, partial(put, out), QUESTION) == ""
    assert out.getvalue() == f"{QUESTION}\n"


def test_a_range_that_a_framework_reviews_records_nothing(asking: Repo) -> None:
    asking.commit("Add reports", {"reports.py": RISKY})
    refs = {"PRE_COMMIT": "1", "PRE_COMMIT_FROM_REF": "HEAD~1", "PRE_COMMIT_TO_REF": "HEAD"}
    hook = (f"{asking.env[FOLDER]}/cli-guard", "hook", "pre-commit", "--framework")
    with sit(Repo(asking.path, asking.env | refs), *hook) as seat:
        code, seen = seat.end()
    assert code == 3 and "approve now?" not in seen, seen


@pytest.fixture
def enrolled(asking: Repo, request: pytest.FixtureRequest) -> Repo:
    """The repository after its user has enrolled a key, with the passphrase that a test wants."""
    phrase = getattr(request, "param", "")
    path = Path(asking.env["HOME"], ".ssh", "id_ed25519")
    path.parent.mkdir(mode=0o700)
    asking.run("ssh-keygen", "-q", "-t", "ed25519", "-N", phrase, "-f", str(path))
    assert guard(asking, "signers", "init", "--principal", "ada@example.org").code == 0
    asking.commit("Enrol Ada")
    return asking


@pytest.mark.parametrize(
    "enrolled", ["", "sesame"], indirect=True, ids=["plain key", "passphrase"]
)
def test_an_enrolled_key_signs(enrolled: Repo, request: pytest.FixtureRequest) -> None:
    stage(enrolled, {"reports.py": RISKY})
    with commit(enrolled) as terminal:
        shown = terminal.until(QUESTION)
        terminal.type("y\n")
        if "passphrase" in request.node.name:
            terminal.until("passphrase")
            terminal.type("sesame\n")
        code, seen = terminal.end()
    assert code == 0 and "approved by ada@example.org (key)" in seen, seen
    assert re.search(r"signs as ada@example.org .*: statement [0-9a-f]{10}\n", shown)
    assert "sesame" not in seen
    done = guard(enrolled, "verify", "--range", "HEAD~1..HEAD")
    assert done.code == 0, done.all
    [given] = [
        each for each in records(enrolled).audit.entries() if each["event"] == "approve"
    ]
    assert str(given["statement"]).startswith(shown.split("statement ")[1][:10])


def test_a_level_that_cannot_be_reached_is_one_line(asking: Repo) -> None:
    asking.write("cli-guard.toml", "[approvals]\nhigh = 'key'\n")
    asking.git("add", "-A")
    asking.git("commit", "-q", "--no-verify", "--amend", "--no-edit")
    seen = stays_silent(asking)
    line = "cli-guard: policy wants key for code-python-shell, and this approval reaches tty: enrol a key"
    assert seen.count(line) == 1


def test_a_signer_that_only_the_push_brings_does_not_open_it(
    origin: Path, enrolled: Repo
) -> None:
    """The signers at the base count, as when the push is tried again."""
    enrolled.commit("Add reports", {"reports.py": RISKY})
    with push(enrolled) as terminal:
        terminal.until(QUESTION)
        terminal.type("y\n")
        code, seen = terminal.end()
    assert code != 0 and "its key is not one of the signers before this change" in " ".join(
        seen.split()
    ), seen
    assert enrolled.try_git("push", "-q", "origin", "main").code != 0


def test_the_approval_of_a_push_goes_with_it(enrolled: Repo, origin: Path) -> None:
    enrolled.commit("Policy", {"cli-guard.toml": "[approvals]\npush = true\n"})
    enrolled.git("push", "-q", "--no-verify", "origin", "main")
    enrolled.commit("Add reports", {"reports.py": RISKY})
    with push(enrolled) as terminal:
        terminal.until(QUESTION)
        terminal.type("y\n")
        code, seen = terminal.end()
    assert code == 0, seen
    assert "refs/notes/cli-guard" in enrolled.git("ls-remote", "origin")


LOCAL = "repos:\n  - repo: local\n    hooks:\n" + "".join(
    f"      - {{id: {name}, name: {name}, language: system, entry: GUARD hook {name}, stages: [{name}],"
    f" pass_filenames: {str(name == 'commit-msg').lower()}, always_run: true, verbose: true}}\n"
    for name in ("pre-commit", "commit-msg", "pre-push")
)


@pytest.fixture(params=["pre-commit", "prek"])
def framed(
    committed: Repo, tmp_path: Path, preloaded: Path, request: pytest.FixtureRequest
) -> Repo:
    """A repository with a framework that runs our hooks, and a remote that has its commits."""
    stores = {
        "PRE_COMMIT_HOME": str(tmp_path / "store"),
        "PREK_HOME": str(tmp_path / "store"),
    }
    framework = Framework(request.param, stores, preloaded)
    hooks = LOCAL.replace("GUARD", f"{preloaded}/cli-guard")
    committed.commit(
        "Policy", {".pre-commit-config.yaml": hooks, "cli-guard.toml": CONVENTIONAL}
    )
    bare = Repo.create(tmp_path / "origin.git", committed.env, "--bare")
    committed.git("remote", "add", "origin", str(bare.path))
    committed.git("push", "-q", "origin", "main")
    framework.run(
        committed, "install", "-t", "pre-commit", "-t", "commit-msg", "-t", "pre-push"
    )
    more = {"GIT_TERMINAL_PROMPT": "1", FOLDER: str(preloaded)}
    return Repo(committed.path, committed.env | framework.env | more)


def test_under_a_framework(framed: Repo, request: pytest.FixtureRequest) -> None:
    """It keeps the report to itself until the hook has ended, so the question says what it is about."""
    stage(framed, {"reports.py": RISKY})
    for typed, asked in (("n", 1), ("y", 2)):
        with commit(framed) as terminal:
            fcntl.ioctl(
                terminal._ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0)
            )
            for _ in range(asked):
                assert re.search(
                    r"reports.py:8: A shell|commit message:1: The subject",
                    terminal.until(QUESTION),
                )
                terminal.type(f"{typed}\n")
            code, seen = terminal.end()
        assert (code == 0) is (typed == "y"), seen
    assert subject(framed) == "Add reports"
    # What prek draws above the cursor leaves the question alone.
    assert (f"{QUESTION}{20 * chr(10)}" in seen) is ("prek" in request.node.name)
    with push(framed) as terminal:
        code, seen = terminal.end()
    assert code == 0 and "approve now?" not in seen, seen
    framed.commit("feat: add pages", {"pages.py": RISKY.replace("report", "page")})
    for typed in ("n\n", "y\n"):
        with push(framed) as terminal:
            assert "pages.py:8" in terminal.until(QUESTION)
            terminal.type(typed)
            code, seen = terminal.end()
        assert (code == 0) is ("y" in typed), seen
    assert framed.git("ls-remote", "origin").split()[0] == framed.git("rev-parse", "HEAD")
