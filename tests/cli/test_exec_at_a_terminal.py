"""`cli-guard exec` where a person sits: the question, the answers, and what an answer for the session covers."""

import json
import shlex
from pathlib import Path

import psutil
import pytest
from repositories import GUARD, Repo
from terminals import Seat, waited_for

from cli_guard.execution.processes.sandbox import why_not

SANDBOXED = [] if why_not() else [("--sandbox", "--", "touch", "x")]
QUESTION = "Run it? [y]es once · [a]lways (this session) · [N]o: "


def seat(repo: Repo, *words: str) -> Seat:
    return Seat((GUARD, "exec", *words), repo.path, repo.env)


def shell(repo: Repo, *commands: tuple[str, ...]) -> Seat:
    """A shell that leads the session, and runs one `cli-guard exec` after the other."""
    lines = [shlex.join((GUARD, "exec", *words)) for words in commands]
    return Seat(("bash", "-c", "; ".join([*lines, "echo the end"])), repo.path, repo.env)


def answers(repo: Repo) -> list[str]:
    lines = (repo.path / ".git" / "cli-guard" / "audit.jsonl").read_text().splitlines()
    return [entry["answer"] for entry in map(json.loads, lines) if entry["event"] == "exec"]


@pytest.mark.parametrize(
    ("typed", "runs", "answer"),
    [
        ("y\n", True, "yes"),
        ("YES\n", True, "yes"),
        ("n\n", False, "no"),
        ("\n", False, "no"),
        ("x\n", False, "no"),
        ("\x04", False, "no"),
    ],
)
def test_a_person_is_asked(committed: Repo, typed: str, runs: bool, answer: str) -> None:
    with seat(committed, "--", "touch", "x") as terminal:
        shown = terminal.until(QUESTION)
        terminal.type(typed)
        code, seen = terminal.end()
    assert "writes " in shown and "| touch x" in shown
    assert f"  effects: write {committed.path}/x\n" in shown
    assert "to allow it from now on: cli-guard allow 'touch x'" in shown
    assert (
        "  a: allow exactly this command in this folder until this terminal session ends\n"
        in shown
    )
    assert (code, (committed.path / "x").exists()) == ((0, True) if runs else (1, False))
    assert runs or seen.endswith("cli-guard: not run\n")
    assert answers(committed) == [answer]


def test_the_whole_command_is_shown_to_who_answers_for_it(committed: Repo) -> None:
    (committed.path / "sub").mkdir()
    text = f"touch x\necho {'a' * 100}\n: \x1b[2J hidden; rm app.py"
    with seat(committed, "--cwd", "sub", "--", text) as terminal:
        shown = terminal.until(QUESTION)
        terminal.type("n\n")
        terminal.end()
    whole = f"  the whole command:\n  | touch x\n  | echo {'a' * 100}\n  | : \\x1b[2J hidden; rm app.py\n"
    assert whole in shown.replace("\r", "")
    assert f"  folder: {committed.path}/sub\n" in shown
    with seat(committed, "--", f"touch x; echo {'a' * 5_000}") as terminal:
        assert "more characters, not shown\n" in terminal.until(QUESTION)


def test_a_safer_way_is_shown(committed: Repo) -> None:
    with seat(committed, "--", "git", "push", "--force") as terminal:
        assert "  -> " in terminal.until(QUESTION)
        terminal.type("n\n")
        assert terminal.end()[0] == 1


def test_yes_on_the_command_line_is_that_of_the_person_there(committed: Repo) -> None:
    with seat(committed, "--yes", "--", "touch", "x") as terminal:
        code, seen = terminal.end()
    assert code == 0 and "cli-guard: answered yes by --yes\n" in seen and "[N]o" not in seen
    with seat(committed, "--yes", "--", "rm", "-rf", "/") as terminal:
        code, seen = terminal.end()
    assert (
        code == 1
        and "deny  deletes the whole file system" in seen
        and "Run it?" not in seen
    )
    assert answers(committed) == ["yes", "denied"]


def test_an_answer_for_the_session_covers_exactly_that_in_that_session(
    committed: Repo,
) -> None:
    (committed.path / "sub").mkdir()
    same = ("--", "touch", "x")
    others = [
        ("--", "touch", "y"),
        ("--cwd", "sub", *same),
        ("-b", *same),
        ("--respond", "y", *same),
        *SANDBOXED,
    ]
    with shell(committed, same, same, *others) as terminal:
        terminal.until(QUESTION)
        terminal.type("a\n")
        for _ in others:
            terminal.until(QUESTION)
            terminal.type("n\n")
        terminal.end()
    assert answers(committed) == ["session", "session", *("no" for _ in others)]
    with shell(committed, same) as other:
        other.until(QUESTION)
        other.type("n\n")
        other.end()
    assert answers(committed)[-1] == "no"
    # It is no answer where nobody could be asked, and none once the configuration denies it.
    assert committed.guard("exec", *same).code == 3


def test_no_answer_for_the_session_lifts_a_deny(committed: Repo) -> None:
    lines = [
        shlex.join((GUARD, "exec", "--", "touch", "x")),
        "mkdir -p $XDG_CONFIG_HOME/cli-guard",
        "echo '[commands]' > $XDG_CONFIG_HOME/cli-guard/config.toml",
        "echo 'deny = [\"touch *\"]' >> $XDG_CONFIG_HOME/cli-guard/config.toml",
        shlex.join((GUARD, "exec", "--", "touch", "x")),
        "echo code $?",
    ]
    with Seat(("bash", "-c", "\n".join(lines)), committed.path, committed.env) as terminal:
        terminal.until(QUESTION)
        terminal.type("a\n")
        assert "code 1\n" in terminal.end()[1]
    assert answers(committed) == ["session", "denied"]


def test_what_is_left_of_ended_sessions_is_dropped(committed: Repo) -> None:
    for name in ("x", "y"):
        with shell(committed, ("--", "touch", name)) as terminal:
            terminal.until(QUESTION)
            terminal.type("a\n")
            terminal.end()
    kept = json.loads(
        (committed.path / ".git" / "cli-guard" / "allowances.json").read_text()
    )
    assert len(kept) == 1


def test_a_question_of_the_command_is_shown_and_answered(committed: Repo) -> None:
    committed.write("ask.sh", "read -p 'Name? ' name\necho \"Hello $name\"\n")
    for options in ((), ("--tty",)):
        with seat(committed, "--yes", *options, "--", "bash", "ask.sh") as terminal:
            terminal.until("Name? ")
            terminal.type("Ada\n")
            code, seen = terminal.end()
        assert (code, "Hello Ada\n" in seen) == (0, True), seen


def test_a_command_has_a_terminal_so_that_its_output_comes_at_once(committed: Repo) -> None:
    # With a pipe, Python would keep the first line until its buffer is full.
    committed.write(
        "serve.py",
        "import sys, time\nprint('serving', sys.stdout.isatty())\ntime.sleep(61)\n",
    )
    with seat(committed, "--yes", "--", "python3", "serve.py") as terminal:
        assert "serving True" in terminal.until("serving ") + terminal.until("\n")
        terminal.type("\x03")
        assert terminal.end()[0] == 130
    probe = "test -t 1 && echo a terminal || echo a pipe"
    for options, seen in (
        (("--no-tty",), "a pipe"),
        (("--format", "json"), "a pipe"),
        ((), "a terminal"),
    ):
        with seat(committed, "--yes", *options, "--", probe) as terminal:
            assert seen in terminal.end()[1]


def test_no_pager_waits_for_a_key(committed: Repo) -> None:
    committed.write("long.txt", "line\n" * 200)
    committed.git("add", ".")
    committed.git("commit", "-qm", "Add a long file", "--no-verify")
    with seat(committed, "--yes", "--", "git", "show") as terminal:
        code, seen = terminal.end()
    assert code == 0 and seen.count("+line") == 200


def test_what_is_typed_unseen_stays_unseen(committed: Repo) -> None:
    committed.write(
        "ask.sh", "read -s -p 'Password: ' word\nprintf '\\n%s letters\\n' ${#word}\n"
    )
    with seat(committed, "--yes", "--tty", "--", "bash", "ask.sh") as terminal:
        terminal.until("Password: ")
        terminal.type("sesame\n")
        code, seen = terminal.end()
    assert code == 0 and "6 letters\n" in seen and "sesame" not in seen


def test_ctrl_c_ends_the_family(committed: Repo) -> None:
    committed.write("wait.sh", "sleep 61 &\nsetsid sleep 61 &\necho started $$\nwait\n")
    with seat(committed, "--yes", "--", "bash", "wait.sh") as terminal:
        started = terminal.until("started ") + terminal.until("\n")
        leader = psutil.Process(int(started.split("started ")[1]))
        family = [leader, *leader.children(recursive=True)]
        assert len(family) == 3
        terminal.type("\x03")
        code, seen = terminal.end()
    assert code == 130
    assert "cli-guard: interrupted: the command and its process tree were killed\n" in seen
    assert waited_for(
        lambda: not any(each.is_running() and each.status() != "zombie" for each in family)
    )


def test_a_hangup_of_the_terminal_ends_the_family(committed: Repo, tmp_path: Path) -> None:
    committed.write("wait.sh", "echo started $$\nsleep 61\n")
    with seat(committed, "--yes", "--", "bash", "wait.sh") as terminal:
        started = terminal.until("started ") + terminal.until("\n")
        leader = psutil.Process(int(started.split("started ")[1]))
    assert waited_for(lambda: not leader.is_running())
