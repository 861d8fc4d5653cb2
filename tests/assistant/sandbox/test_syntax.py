"""What bash refuses is refused before anything runs, and nothing else is: the parser of bash itself is asked."""

import random
import subprocess
from pathlib import Path

import pytest
from examples import near_misses, table
from shell_chains import CHAINS, chains
from shell_worlds import world

from cli_guard.assistant import sandbox as shell
from cli_guard.assistant.sandbox import runner
from cli_guard.assistant.sandbox.runner import find_syntax_error

PIECES = (
    "&& || | ; ;; & ( ) { } if then fi do done while case esac in ' \" ` $( ${ } $(( )) [[ ]] < > <<E ! function f"
    " = x=( # \\ else elif <( *"
).split()


@near_misses("subject", [name for name in CHAINS if name != "syntax"])
def test_no_good_text_is_refused(subject: str) -> None:
    assert [
        text for each, text in chains() if each == subject and find_syntax_error(text)
    ] == []


def test_every_broken_text_is_refused_and_nothing_runs() -> None:
    for text in CHAINS["syntax"].strip().splitlines():
        ran = shell.run(text, world())
        assert (ran.exit_code, ran.stdout, ran.limits) == (2, b"", ()), text
        assert "[error] nothing was run" in ran.shown


def mutate(seed: int) -> list[str]:
    """Return chains with a piece put in, taken out or put behind, the same for each seed."""
    chance = random.Random(seed)
    texts = [text for _, text in chains()]
    found = []
    for _ in range(150):
        text = chance.choice(texts)
        for _ in range(chance.choice((1, 1, 2))):
            at = chance.randrange(len(text) + 1)
            if chance.random() < 0.5:
                text = f"{text[:at]} {chance.choice(PIECES)} {text[at:]}"
            elif chance.random() < 0.5:
                text = text[:at] + text[at + chance.randrange(1, 4) :]
            else:
                other = chance.choice(texts)
                text = text[:at] + other[chance.randrange(len(other) + 1) :]
        found.append(text)
    return found


@table("seed", range(4))
def test_the_interpreter_alone_accepts_little_that_bash_refuses(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = mutate(seed)
    refused = {text for text in texts if find_syntax_error(text)}
    monkeypatch.setattr(runner, "BASH_FOLDERS", "")
    limits = shell.RunLimits(seconds=1, commands=200)
    alone = {
        text
        for text in texts
        if b"syntax error: parse error" in shell.run(text, world(limits=limits)).stderr
    }
    assert len(refused) > 30
    assert len(refused - alone) <= len(texts) * 0.06
    assert len(alone - refused) <= 2


@table(
    ("text", "words"),
    [
        ("echo a &&", "syntax error: unexpected end of file"),
        ("echo 'a", "line 1: unexpected EOF while looking for matching `''"),
        ("a | | b", "line 1: syntax error near unexpected token `|'"),
        ("echo a\nfi", "line 2: syntax error near unexpected token `fi'"),
        ("if true; then echo", "syntax error: unexpected end of file"),
        (";;", "line 1: syntax error near unexpected token `;;'"),
        ("echo >", "line 1: syntax error near unexpected token `newline'"),
        ("[[ a b ]]", "line 1: conditional binary operator expected"),
        ("shopt -s extglob; echo !(a)", "line 1: syntax error near unexpected token `('"),
        ("a\0b", "line 1: the text holds a NUL byte"),
    ],
)
def test_the_message_is_that_of_bash(text: str, words: str) -> None:
    found = find_syntax_error(text)
    assert found and found.startswith("line ") and found.endswith(words)


@table(
    "text", ["shopt -s extglob\necho !(a)", "cat <<'syntax error'\nx", "cat <<E", "a |& b"]
)
def test_what_bash_only_warns_of_is_no_error(text: str) -> None:
    assert find_syntax_error(text) is None


HOSTILE = (
    "touch {mark}",
    "$(touch {mark})",
    "`touch {mark}`",
    "set +n; touch {mark}",
    "set +n\ntouch {mark}",
    "x[$(touch {mark})]=1; echo $((x[$(touch {mark})])) ${{x[$(touch {mark})]}}",
    "[[ -v x[$(touch {mark})] ]]; (( x[$(touch {mark})] ))",
    "cat <<E\n$(touch {mark})\nE\n",
    "trap 'touch {mark}' EXIT DEBUG ERR; exit",
    "declare -i x='y[$(touch {mark})]'; local x; select y in a; do touch {mark}; done",
    "alias x='touch {mark}'\nx",
    "cat <(touch {mark}) > {mark}",
    "exec bash -c 'touch {mark}'",
    "touch {mark} &&",
    "x() {{ touch {mark}; }}; x; }}",
)


@table("text", HOSTILE)
def test_the_check_runs_nothing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    profile = tmp_path / "profile"
    profile.write_text(f"touch {mark}\n")
    for name in ("BASH_ENV", "ENV"):
        monkeypatch.setenv(name, str(profile))
    monkeypatch.setenv("SHELLOPTS", "xtrace:verbose")
    monkeypatch.setenv("PS4", f"$(touch {mark})")
    monkeypatch.setenv("BASH_FUNC_touch%%", f"() {{ command touch {mark}; }}")
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bash").write_text(f"#!/bin/sh\n: > {mark}\n")
    (tmp_path / "bash").chmod(0o755)
    find_syntax_error(text.format(mark=mark))
    assert not mark.exists()


def test_without_bash_the_interpreter_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "BASH_FOLDERS", "")
    assert find_syntax_error("a | | b") is None
    ran = shell.run("echo began > made; a | | b", world())
    assert (ran.exit_code, ran.stdout, ran.changes) == (2, b"", {})
    assert b"syntax error near unexpected token `|'" in ran.stderr
    assert "[error] nothing was run" in ran.shown


@table(
    "gives_up",
    ["exit 2", "kill -11 $$", "sleep 9", "echo 'bash: line 1: syntax error' >&2; exit 2"],
)
def test_a_bash_that_gives_up_or_is_too_old_decides_nothing(
    gives_up: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bash").write_text(f"#!/bin/sh\n{gives_up}\n")
    (tmp_path / "bash").chmod(0o755)
    monkeypatch.setattr(runner, "BASH_FOLDERS", str(tmp_path))
    monkeypatch.setattr(runner, "CHECK_SECONDS", 0.3)
    assert find_syntax_error("a |& b") is None
    assert shell.run("echo fine |& cat", world()).stdout == b"fine\n"


def test_nested_substitutions_that_crash_bash_are_left_to_the_interpreter() -> None:
    assert subprocess.run(
        ["bash", "-n"], input=b"$(" * 5_000, capture_output=True, check=False
    ).returncode
    assert shell.run("$(" * 5_000, world()).exit_code == 2
