"""What helps somebody who does not know a name: completion, `help`, suggestions, tables of rules, manual pages."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from examples import table
from in_process import call, guard, waiting
from man_pages import write_pages
from repositories import Repo
from test_fast_path import HEAVIER

ASK = """
import os, sys
from pathlib import Path
from cli_guard.__main__ import main
code = main([], sys.stdin, sys.stdout, sys.stderr, Path.cwd(), dict(os.environ))
print(code, *sorted({name.split(".")[0] for name in sys.modules}))
"""


@table(
    ("shell", "line", "answer"),
    [
        ("bash", "cli-guard rej", ""),
        ("bash", "cli-guard pen", "plain,pending"),
        (
            "zsh",
            "cli-guard pen",
            "plain\npending\nList the reviews and proposals that need a person.",
        ),
        (
            "bash",
            "cli-guard explain secret-aws",
            "plain,secret-aws-access-key\nplain,secret-aws-secret-key",
        ),
        ("bash", "cli-guard help aud", "plain,audit"),
        ("bash", "cli-guard audit v", "plain,verify"),
        ("bash", "cli-guard -C . audit v", "plain,verify"),
        ("bash", "cli-guard exec stop --fo", "plain,--force\nplain,--format"),
        ("bash", "cli-guard approve 12", "file,12"),
        ("bash", "cli-guard review --sta", "plain,--staged"),
        ("bash", "cli-guard review --format sar", "plain,sarif"),
        ("bash", "cli-guard review src/a", "file,src/a"),
        ("bash", "cli-guard completion f", "plain,fish"),
        ("bash", "cli-guard reveiw --sta", ""),
    ],
)
def test_completion(
    tmp_path: Path,
    isolated: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    shell: str,
    line: str,
    answer: str,
) -> None:
    asked = {
        "_CLI_GUARD_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": f"{line.count(' ')}",
    }
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    done = call(tmp_path, isolated | asked)
    assert (done.code, done.out.rstrip("\n"), done.err) == (0, answer, "")


@pytest.mark.parametrize(
    "line", ["cli-guard ", "cli-guard explain secret-", "cli-guard review --"]
)
def test_completion_loads_nothing_heavy(
    tmp_path: Path, isolated: dict[str, str], line: str
) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": f"{line.count(' ')}"}
    env = isolated | words | {"_CLI_GUARD_COMPLETE": "bash_complete"}
    done = subprocess.run(
        (sys.executable, "-c", ASK),
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    *said, loaded = done.stdout.splitlines()
    code, *modules = loaded.split()
    assert code == "0" and len(said) > 5 and not {*modules} & {*HEAVIER}


def test_the_script_works_in_bash(committed: Repo) -> None:
    script = committed.guard("completion", "bash").out
    typed = "COMP_WORDS=(cli-guard explain secret-aws); COMP_CWORD=2"
    line = f'{typed}; _cli_guard_completion cli-guard; echo "${{COMPREPLY[@]}}"'
    done = committed.run("bash", "--norc", "-c", f"{script}\n{line}")
    assert done.out == "secret-aws-access-key secret-aws-secret-key\n"
    for shell in ("zsh", "fish"):
        assert (
            f"_CLI_GUARD_COMPLETE={shell}_complete"
            in guard(committed, "completion", shell).out
        )


@table(
    ("before", "behind", "offered"),
    [
        ("approve ", "", True),
        ("approve --reject ", "", True),
        ("approve --diff ", "", True),
        ("-C sub -C .. approve ", "", True),
        ("approve --reason ", "", False),
        ("approve --key ", "", False),
        ("approve {id} ", "", False),
        ("approve ", "zz", False),
        ("-C /tmp approve ", "", False),
        ("explain ", "", False),
    ],
)
def test_pending_reviews_are_completed(
    committed: Repo,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    behind: str,
    offered: bool,
) -> None:
    committed.write("sub/risky.py", "eval(input())\n")
    committed.git("add", "-A")
    assert guard(committed, "hook", "pre-commit").code == 3
    [known] = waiting(committed)
    line = f"cli-guard {before.format(id=known)}{behind}"
    asked = {
        "_CLI_GUARD_COMPLETE": "zsh_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": f"{line.count(' ')}",
    }
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    done = guard(committed, env=asked)
    assert (done.code, done.err) == (0, "")
    assert (f"plain\n{known}\npre-commit " in done.out) is offered


def test_no_variable_silences_a_hook(committed: Repo) -> None:
    asked = {
        "_CLI_GUARD_COMPLETE": "bash_complete",
        "COMP_WORDS": "cli-guard rev",
        "COMP_CWORD": "1",
    }
    committed.write("risky.py", "eval(input())\n")
    committed.git("add", "-A")
    assert guard(committed, "hook", "pre-commit", env=asked).code == 3
    for value in ("bash_complete", "bash_source", "powershell_complete", "\x1b[2J"):
        done = guard(committed, env={"_CLI_GUARD_COMPLETE": value})
        assert done.code == 2 and done.err.count("\n") == 1 and "\x1b" not in done.err


@table(
    ("arguments", "code", "says"),
    [
        (
            ["reveiw"],
            2,
            "cli-guard: No such command 'reveiw'. Did you mean 'review'? See `cli-guard --help`\n",
        ),
        (["help", "reveiw"], 2, "No such command 'reveiw'. Did you mean 'review'?"),
        (["version"], 2, "No such command 'version'. Did you mean '--version'? See"),
        (["review", "--stagd"], 2, "'--stagd'. Did you mean '--staged'? See"),
        (["review", "--xyzzy"], 2, "'--xyzzy'; see `cli-guard review --help`"),
        (
            ["audit", "verfy"],
            2,
            "No such command 'verfy'. Did you mean 'verify'? See `cli-guard audit --help`",
        ),
        (["help", "audit", "verfy"], 2, "Did you mean 'verify'?"),
        (["zzzz"], 2, "No such command 'zzzz'; see `cli-guard --help`"),
        (["\x1b]0;x"], 2, r"No such command '\x1b]0;x'"),
        (["review", "--stagde"], 2, "--staged"),
        (["explain", "secert-aws-*"], 2, "there is no rule 'secert-aws-*', and no path"),
        (["explain", "secret-aws-acess-key"], 2, "near: rule secret-aws-access-key"),
        (["help"], 0, "Usage: cli-guard [OPTIONS] COMMAND"),
        (["help", "pending"], 0, "Usage: cli-guard pending"),
        (["help", "audit", "show"], 0, "Usage: cli-guard audit show [OPTIONS]"),
        (
            ["explain", "secret-aws-*"],
            0,
            "secret-aws-access-key  deny    critical  AWS access key id\nsecret-aws-",
        ),
        (["completion", "tcsh"], 2, "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
    ],
)
def test_a_name_that_is_not_known(
    tmp_path: Path, isolated: dict[str, str], arguments: list[str], code: int, says: str
) -> None:
    done = call(tmp_path, isolated, *arguments)
    assert done.code == code and says in done.all
    assert code == 0 or (done.err.count("\n") == 1 and not done.out)


def test_help_says_what_the_option_says(committed: Repo) -> None:
    assert (
        guard(committed, "help", "pending").out == guard(committed, "pending", "--help").out
    )


def test_manual_pages(tmp_path: Path) -> None:
    write_pages(tmp_path)
    pages = {each.name for each in tmp_path.iterdir()}
    assert {"cli-guard.1", "cli-guard-audit-verify.1", "cli-guard-exec-ps.1"} <= pages
    page = (tmp_path / "cli-guard-review.1").read_text()
    assert "\\-\\-worktree" in page and "only these files" in page
    assert "\\-\\-write\\-baseline" in page
    if groff := shutil.which("groff"):
        every = sorted(map(str, tmp_path.iterdir()))
        done = subprocess.run(
            (groff, "-man", "-ww", "-Tutf8", *every), capture_output=True, check=True
        )
        assert done.stderr == b""
    else:
        pytest.skip("groff is not installed")


@pytest.mark.parametrize("group", ["audit", "config", "hook", "server", "signers"])
def test_no_line_of_a_list_of_commands_is_cut(
    tmp_path: Path, isolated: dict[str, str], group: str
) -> None:
    done = call(tmp_path, isolated, "help", group)
    assert "Commands:" in done.out and "..." not in done.out.partition("Commands:")[2]
