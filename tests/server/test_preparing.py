"""What begins when something is staged: the commit has less to do, and says and records the same."""

import datetime
import hashlib
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from examples import table
from repositories import GUARD, Repo
from watching import eventually

from cli_guard.cli.hook import with_author
from cli_guard.git.process import Git
from cli_guard.runtime import Invocation
from cli_guard.server.client import request
from cli_guard.server.control import prepares
from cli_guard.server.request import ServerCaller, parse
from cli_guard.server.serving import seconds_to_wait

CLEAN = {
    f"module_{number}.py": f"VALUE_{number} = {number}\n" * 150 for number in range(30)
}
RISKY = {"risky.py": "import os\n\n\ndef f(x):\n    os.system('ls ' + x)\n"}
REVIEW = ("hook", "pre-commit")
PREPARE = ("hook", "post-index-change")


@pytest.fixture
def staged(guarded: Repo) -> Repo:
    """A change of some files, one of them with a finding, large enough that the clean ones are remembered."""
    for name, text in (CLEAN | RISKY).items():
        guarded.write(name, text)
    return guarded


def remembered(repo: Repo) -> bool:
    return (repo.path / ".git" / "cli-guard" / "examined.sqlite").exists()


def on_disk(repo: Repo) -> dict[str, str]:
    """What a review may not change: the index, the refs, the records of reviews."""
    files = [
        path
        for path in (repo.path / ".git").rglob("*")
        if path.is_file() and not path.name.startswith(("examined", "prepared"))
    ]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_staging_starts_a_server_that_prepares_the_review(
    staged: Repo, servers: Any
) -> None:
    assert not servers.processes()
    staged.git("add", "-A", env=servers.env)
    assert eventually(lambda: servers.processes(), seconds=90)
    # On a busy machine the first request may have ended before the server has loaded.
    while not eventually(lambda: remembered(staged), seconds=30):
        assert servers.processes()
        staged.git("update-index", "--force-write-index", env=servers.env)
    assert eventually(lambda: not servers.at_work(), seconds=90)
    before = on_disk(staged)
    runs = servers.runs(staged)
    staged.git("update-index", "--force-write-index", env=servers.env)
    assert eventually(lambda: servers.runs(staged) > runs)
    assert eventually(lambda: not servers.at_work())
    assert {
        name for name, seal in on_disk(staged).items() if before.get(name) != seal
    } == set()


def test_what_was_prepared_is_reviewed_the_same(staged: Repo, servers: Any) -> None:
    cold = {"CLI_GUARD_SERVER": "0"}
    staged.git("add", "-A", env=cold)
    expected = staged.guard(*REVIEW, env=cold)
    assert expected.code == 3 and not remembered(staged)
    assert staged.guard(*PREPARE, env=servers.required).code == 0
    assert remembered(staged)
    prepared = staged.guard(*REVIEW, env=servers.required)
    assert (prepared.code, prepared.out, prepared.err) == (
        expected.code,
        expected.out,
        expected.err,
    )
    # A risk that comes after it is found.
    staged.write("module_1.py", CLEAN["module_1.py"] + "eval(input())\n")
    staged.git("add", "-A", env=cold)
    assert "module_1.py:151" in staged.guard(*REVIEW, env=servers.required).out


def test_the_server_that_prepared_a_review_has_it_at_the_commit(
    guarded: Repo, servers: Any
) -> None:
    for name, text in CLEAN.items():
        guarded.write(name, text)
    guarded.git("add", "-A", env={"CLI_GUARD_SERVER": "0"})
    assert guarded.guard(*PREPARE, env=servers.required).code == 0
    assert (guarded.path / ".git/cli-guard/prepared.json").exists()
    written = (guarded.path / ".git/cli-guard/prepared.json").stat().st_mtime_ns
    assert guarded.guard(*PREPARE, env=servers.required).code == 0
    assert (guarded.path / ".git/cli-guard/prepared.json").stat().st_mtime_ns == written
    (guarded.path / ".git/cli-guard/examined.sqlite").unlink()
    # To look a file up would make it again.
    prepared = guarded.guard(*REVIEW, env=servers.required)
    assert prepared.code == 0 and not remembered(guarded)


@pytest.mark.parametrize(
    "how",
    ["CLI_GUARD=0", "CLI_GUARD_SERVER=0", "CI=true", "configured", "nothing", "work tree"],
)
def test_nothing_is_prepared_where_it_is_not_wanted(
    staged: Repo, servers: Any, tmp_path: Path, how: str
) -> None:
    name, _, value = how.partition("=")
    env = servers.env | ({name: value} if value else {})
    if how == "configured":
        own = tmp_path / "config" / "cli-guard" / "config.toml"
        own.parent.mkdir(parents=True)
        own.write_text("[server]\nprewarm = false\n")
        env |= {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        assert staged.guard("rules", env=env | {"CLI_GUARD_SERVER": "0"}).code == 0
    if how == "nothing":
        # There is a server already: with nothing staged it reviews nothing.
        servers.start(staged)
        assert staged.guard(*PREPARE, env=servers.required).code == 0
        assert not remembered(staged)
        return
    hook = (
        str(staged.path / ".git" / "hooks" / "post-index-change"),
        "1" if how == "work tree" else "0",
        "0",
    )
    staged.git("add", "-A", env={"CLI_GUARD_SERVER": "0"})
    assert staged.run(*hook, env=env).code == 0
    # With the word that makes it fail where it would ask a server.
    client = staged.guard(*PREPARE, env=env) if how != "work tree" else None
    assert client is None or client.code == 0
    assert not servers.processes() and not remembered(staged)


@table(
    ("own", "given"),
    [
        ({"user.name": "Ada King", "user.email": "ada@example.org"}, {}),
        ({"user.name": " Ada <King>, ", "user.email": "<ada@example.org>"}, {}),
        ({"user.name": "Ada", "author.name": "Zo\u00eb", "user.email": "a@b"}, {}),
        ({"user.name": "Ada", "user.email": "a@b"}, {"GIT_AUTHOR_NAME": "Grace"}),
        ({"user.name": "Ada", "user.email": "a@b"}, {"GIT_COMMITTER_NAME": "Grace"}),
    ],
)
def test_what_is_prepared_has_the_author_of_the_commit(
    committed: Repo, own: dict[str, str], given: dict[str, str]
) -> None:
    for name in [
        each for each in committed.env if each.startswith(("GIT_AUTHOR", "GIT_COM"))
    ]:
        del committed.env[name]
    for name, value in own.items():
        committed.git("config", name, value)
    committed.env.update(given)
    hook = committed.path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        '#!/bin/sh\nprintf "%s\\n%s" "$GIT_AUTHOR_NAME" "$GIT_AUTHOR_EMAIL" > told\n'
    )
    hook.chmod(0o755)
    now = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)
    asked = Invocation(committed.path, committed.env, now)
    prepared = with_author(asked, Git(asked.cwd, asked.env)).env
    committed.git("commit", "-q", "--allow-empty", "-m", "Add nothing")
    told = (committed.path / "told").read_text("utf-8").split("\n")
    assert [prepared["GIT_AUTHOR_NAME"], prepared["GIT_AUTHOR_EMAIL"]] == told
    assert committed.env.items() <= prepared.items()


def test_without_an_author_nothing_is_added(tmp_path: Path) -> None:
    env = {"PATH": os.defpath, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {"GIT_CONFIG_KEY_0": "user.useConfigOnly", "GIT_CONFIG_VALUE_0": "true"}
    asked = Invocation(tmp_path, env, datetime.datetime.now(datetime.UTC))
    assert with_author(asked, Git(asked.cwd, asked.env)) is asked


@table(
    ("command", "handed", "age", "waits"),
    [
        (PREPARE, [7], 0.0, True),
        (PREPARE, [7], 1.0, False),
        (PREPARE, [], 0.0, False),
        (REVIEW, [7], 0.0, False),
        (("check-command", "ls"), [7], 0.0, False),
    ],
)
def test_only_a_preparation_waits_for_the_index_to_be_at_rest(
    command: tuple[str, ...], handed: list[int], age: float, waits: bool
) -> None:
    packed = request("run", list(command))
    with socket.socket(socket.AF_UNIX) as connection:
        caller = ServerCaller(connection, request=parse(packed), handed=handed)
        caller.since -= age
        assert (seconds_to_wait(caller) > 0) is waits


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which command of Git calls")
def test_a_commit_prepares_nothing(committed: Repo, servers: Any) -> None:
    committed.guard("install", "--hook-type", "post-index-change")
    servers.start(committed)
    runs = servers.runs(committed)
    committed.write("commit.py", "x = 1\n")
    committed.git("add", "commit.py", env=servers.env)
    assert eventually(lambda: servers.runs(committed) == runs + 1)
    committed.git("commit", "-q", "-m", "Add x", env=servers.env)
    # It would have asked before this one.
    committed.git("update-index", "--force-write-index", env=servers.env)
    assert eventually(lambda: servers.runs(committed) == runs + 2)
    assert not eventually(lambda: servers.runs(committed) > runs + 2, 0.5)


def test_a_hook_that_was_there_runs_first(committed: Repo, servers: Any) -> None:
    hook = committed.path / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho $* >> ran\n")
    hook.chmod(0o755)
    committed.guard("install")
    committed.write("a.py", "x = 1\n")
    committed.git("add", "a.py", env=servers.env)
    assert (committed.path / "ran").read_text() == "0 0\n"
    committed.guard("uninstall")
    assert hook.read_text().startswith("#!/bin/sh\necho")


def test_the_review_ends_what_prepares_it(guarded: Repo, servers: Any) -> None:
    for number in range(1_500):
        guarded.write(
            f"many/m{number}.py", f"def f{number}(x):\n    return x + {number}\n\n\n" * 12
        )
    guarded.git("add", "-A", env={"CLI_GUARD_SERVER": "0"})
    servers.start(guarded)
    first, second = (
        guarded.run(
            "sh",
            "-c",
            f"{GUARD} hook post-index-change >/dev/null 2>&1 &",
            env=servers.required,
        )
        for _ in range(2)
    )
    assert (first.code, second.code) == (0, 0)
    assert eventually(lambda: servers.at_work())
    done = guarded.guard(*REVIEW, "--help", env=servers.required)
    assert done.code == 0
    assert eventually(lambda: not servers.at_work(), 5.0)


def test_nothing_is_prepared_on_battery(tmp_path: Path) -> None:
    def supply(name: str, kind: str, online: str) -> None:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "type").write_text(f"{kind}\n")
        (tmp_path / name / "online").write_text(f"{online}\n")

    assert prepares({}, tmp_path), "a machine without a battery"
    supply("BAT0", "Battery", "1")
    assert prepares({}, tmp_path), "one that does not say"
    supply("AC", "Mains", "0")
    assert not prepares({}, tmp_path)
    supply("AC", "Mains", "1")
    assert prepares({}, tmp_path)


def test_what_cannot_be_prepared_is_reported_by_the_review_alone(
    guarded: Repo, servers: Any
) -> None:
    guarded.commit("Configure", {"cli-guard.toml": "[limits]\nfiles = 0\n"})
    guarded.write("a.py", "x = 1\n")
    guarded.git("add", "-A", env={"CLI_GUARD_SERVER": "0"})
    done = guarded.guard(*PREPARE, env=servers.required)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert guarded.guard(*REVIEW, env=servers.required).code == 2
    assert not (guarded.path / ".git" / "cli-guard" / "audit.jsonl").exists()
