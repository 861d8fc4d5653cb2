"""How a server comes to be, for whom, and when it leaves."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import psutil
import pytest
from repositories import GUARD, Repo
from watching import eventually

from cli_guard.server.__main__ import wait_for_end
from cli_guard.server.leaving import Stay

OLD_WORDS = "Use subprocess.run with a list of arguments"
REVIEW = ("hook", "pre-commit")
RISKY = 'import os\n\n\ndef f(x):\n    os.system("ls " + x)\n'


@pytest.fixture
def risky(committed: Repo) -> Repo:
    committed.write("risky.py", RISKY)
    committed.git("add", "-A")
    return committed


def test_the_first_review_leaves_one_behind_that_holds_nothing_of_it(
    risky: Repo, servers: Any
) -> None:
    assert risky.guard("--version", env=servers.env).code == 0
    assert risky.guard("explain", "secret-password", env=servers.env).code == 0
    assert not servers.processes()
    secret = {"SECRET_OF_A_RUN": "1"}
    # The pipes of this call have ended, or it would not return.
    assert risky.guard(*REVIEW, env=servers.env | secret).code == 3
    assert servers.answers(risky)
    (server,) = servers.processes()
    assert server.cwd() == "/"
    assert os.getsid(server.pid) == server.pid
    assert "SECRET_OF_A_RUN" not in server.environ()
    assert not [each.path for each in server.open_files() if str(risky.path) in each.path]
    assert risky.guard(*REVIEW, env=servers.required).code == 3
    assert servers.runs(risky) == 1


@pytest.mark.parametrize(
    "argv", [("check-command", "ls"), ("hook", "claude-code")], ids=lambda argv: argv[0]
)
def test_so_does_the_first_command_that_is_judged(
    committed: Repo, servers: Any, argv: tuple[str, ...]
) -> None:
    request = '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
    assert committed.guard(*argv, stdin=request, env=servers.env).code == 0
    assert servers.answers(committed)
    assert committed.guard(*argv, stdin=request, env=servers.required).code == 0
    assert servers.runs(committed) == 1


def test_many_at_once_get_their_answers_and_leave_one(risky: Repo, servers: Any) -> None:
    def clients(count: int, *argv: str) -> list[tuple[int, str]]:
        started = [
            subprocess.Popen(
                (GUARD, *argv),
                cwd=risky.path,
                env=risky.env | servers.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for _ in range(count)
        ]
        return [
            (each.wait(), out)
            for each in started
            for out, _ in [each.communicate(timeout=300)]
        ]

    assert len(set(clients(4, *REVIEW))) == 1
    assert servers.answers(risky)
    assert eventually(lambda: len(servers.processes()) == 1)
    answers = clients(50, "check-command", "rm -rf /")
    assert len(set(answers)) == 1 and answers[0][0] == 1
    (_server,) = servers.processes()
    assert eventually(lambda: not servers.at_work())


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"CLI_GUARD_SERVER": "0"}, "CLI_GUARD_SERVER=0"),
        ({"CI": "true"}, "CI is set"),
        ({"XDG_CONFIG_HOME": "@CONFIG@"}, "enabled = false in"),
    ],
    ids=lambda value: str(value),
)
def test_none_is_started_or_asked_where_it_is_switched_off(
    risky: Repo, servers: Any, warm: Any, tmp_path: Path, env: dict[str, str], says: str
) -> None:
    own = tmp_path / "config" / "cli-guard" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[server]\nenabled = false\n")
    off = {
        name: value.replace("@CONFIG@", str(tmp_path / "config"))
        for name, value in env.items()
    }
    assert risky.guard(*REVIEW, env=servers.env | off).code == 3
    assert not servers.processes()
    refused = risky.guard("server", "start", env=servers.env | off)
    assert refused.code == 2 and says in refused.err
    runs = warm.runs(risky)
    assert risky.guard("check-command", "ls", env=warm.env | off).code == 0
    assert warm.runs(risky) == runs
    assert says in risky.guard("server", "status", env=warm.env | off).out


def test_a_repository_may_not_say_so(risky: Repo) -> None:
    risky.commit("Configure", {"cli-guard.toml": "[server]\nenabled = true\n"})
    risky.write("risky.py", RISKY + "\n# more\n")
    risky.git("add", "-A")
    done = risky.guard(*REVIEW)
    assert done.code == 2 and "belongs in the user's own file" in done.err


def no_folder(servers: Any, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "file").write_text("")
    return {"XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": str(tmp_path / "file")}


def no_home(servers: Any, tmp_path: Path) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": "", "HOME": ""}


def variables_of_python(servers: Any, tmp_path: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(tmp_path)}


@pytest.mark.parametrize(
    "place", [no_folder, no_home, variables_of_python], ids=lambda place: place.__name__
)
def test_where_there_can_be_none_a_run_does_itself(
    risky: Repo, servers: Any, tmp_path: Path, place: Callable[[Any, Path], dict[str, str]]
) -> None:
    done = risky.guard(*REVIEW, env=servers.env | place(servers, tmp_path))
    assert (done.code, done.err) == (3, "")
    assert not servers.processes()


def test_a_path_too_long_for_a_socket_is_no_hindrance(risky: Repo, servers: Any) -> None:
    deep = servers.folder / ("long" * 40)
    deep.mkdir(mode=0o700)
    far = {"XDG_RUNTIME_DIR": str(deep)}
    started = risky.guard("server", "start", env=servers.env | far)
    assert started.code == 0, started.err
    try:
        assert risky.guard(*REVIEW, env=servers.required | far).code == 3
    finally:
        assert risky.guard("server", "stop", env=servers.env | far).code == 0


def test_it_is_stopped_and_its_place_is_free_at_once(committed: Repo, servers: Any) -> None:
    for _ in range(2):
        server = servers.start(committed)
        done = committed.guard("server", "stop", env=servers.env)
        assert "server: stopped" in done.out
        assert eventually(lambda process=server: not process.is_running())  # type: ignore[misc]
    assert "server: not running" in committed.guard("server", "stop", env=servers.env).out


def test_doctor_names_it(guarded: Repo, servers: Any) -> None:
    assert "warm server: not running" in guarded.guard("doctor", env=servers.env).out
    server = servers.start(guarded)
    assert (
        f"warm server: process {server.pid}" in guarded.guard("doctor", env=servers.env).out
    )


def test_uninstall_says_how_it_ends(guarded: Repo, servers: Any) -> None:
    assert "the server" not in guarded.guard("uninstall", env=servers.env).out
    server = servers.start(guarded)
    done = guarded.guard("uninstall", env=servers.env)
    assert f"kept: the server, process {server.pid};" in done.out
    assert "`cli-guard server stop` ends it" in done.out


def test_one_that_is_not_asked_leaves(committed: Repo, servers: Any) -> None:
    script = "from cli_guard.server import control; print(control.start('1') is not None)"
    done = committed.run(sys.executable, "-E", "-P", "-c", script, env=servers.env)
    assert done.out == "True\n", done.err
    assert eventually(lambda: servers.processes())
    assert eventually(lambda: not servers.processes())


def stay(tmp_path: Path, **options: Any) -> Stay:
    path = tmp_path / "socket"
    path.write_text("")
    # The process of the tests itself may hold more than a server may.
    made = Stay(**{"memory_bytes": 1 << 40, **options})
    made.settle(str(path))
    return made


def test_it_stays_as_long_as_nothing_speaks_against_it(tmp_path: Path) -> None:
    options = ({"idle_seconds": 0.0}, {"memory_bytes": 1}, {})
    assert reasons_to_leave(
        tmp_path, [{"memory_bytes": 1 << 40, **each} for each in options]
    ) == [
        ["idle", "memory", ""],
        ["idle", "memory", ""],
    ]


def test_it_leaves_when_its_socket_is_gone_or_anothers(tmp_path: Path) -> None:
    gone = stay(tmp_path)
    replaced = stay(tmp_path)
    Path(gone.socket).unlink()
    assert gone.reason_to_leave() == "socket"
    Path(replaced.socket).write_text("another")
    replaced.remove_socket()
    assert Path(replaced.socket).exists()


def test_what_has_changed_is_never_answered_by_what_was(
    risky: Repo, servers: Any, venv: Path
) -> None:
    """A module, a rule, a library and a start file in turn: each server is the successor of the one before."""
    guard = (str(venv / "bin" / "python"), "-E", "-P", "-m", "cli_guard")
    package = next(venv.glob("lib/python3*/site-packages/cli_guard"))
    shutil.copytree(Path(click.__file__).parent, package.parent / "click")
    words = package / "model.py"
    rule = package / "rules" / "code" / "python-commands.yml"
    new_words = "Use anything but a shell"
    assert risky.run(*guard, "server", "start", env=servers.env).code == 0
    assert OLD_WORDS in risky.run(*guard, *REVIEW, env=servers.required).out
    changes = (
        (partial(edit, words, "needs approval", "to look at"), "to look at"),
        (partial(edit, rule, OLD_WORDS, new_words), new_words),
        ((package.parent / "click/core.py").touch, new_words),
        ((package.parent / "own.pth").touch, new_words),
    )
    for change, expected in changes:
        (old,) = servers.processes()
        change()
        assert expected in risky.run(*guard, *REVIEW, env=servers.env).out, change
        assert eventually(lambda old=old: not old.is_running()), change
        assert servers.answers(risky, *guard)
        assert expected in risky.run(*guard, *REVIEW, env=servers.required).out, change


def test_another_package_is_no_change_and_a_change_has_a_successor(
    committed: Repo, servers: Any, venv: Path
) -> None:
    guard = (str(venv / "bin" / "python"), "-E", "-P", "-m", "cli_guard")
    judged = (*guard, "check-command", "ls")
    packages = next(venv.glob("lib/python3*/site-packages"))
    shutil.copytree(Path(click.__file__).parent, packages / "click")
    assert committed.run(*guard, "server", "start", env=servers.env).code == 0
    (old,) = servers.processes()
    (packages / "another-1.0.dist-info").mkdir()
    (packages / "another.py").write_text("x = 1\n")
    assert committed.run(*judged, env=servers.required).code == 0
    assert [each.pid for each in servers.processes()] == [old.pid]
    # Nobody asks for the new one: an agent's next command would wait for it.
    (packages / "click" / "core.py").touch()
    assert committed.run(*judged, env=servers.env).code == 0
    assert eventually(lambda: not old.is_running())
    assert servers.answers(committed, *guard)


def test_of_many_environments_the_latest_two_stay(tmp_path: Path) -> None:
    locked, unlocked = reasons_to_leave(tmp_path, [{}, {}, {}])
    assert locked == ["crowded", "", ""]
    # A socket without a lock is left from a server that was killed.
    assert unlocked == ["", "", ""]


def test_a_server_loads_when_the_commit_that_starts_it_has_ended(
    risky: Repo, servers: Any
) -> None:
    """Beside it, both would take twice as long: the other hook of the commit does its own run."""
    (risky.path / "message").write_text("Add a risk\n")
    hooks = f"{GUARD} {' '.join(REVIEW)}; {GUARD} hook commit-msg message; exit $?"
    assert risky.run("sh", "-c", hooks, env=servers.env).code == 3
    # Waits for the one that is there, and loads now.
    servers.start(risky)
    assert servers.runs(risky) == 0


def test_who_waits_for_no_process_or_one_that_has_ended_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = subprocess.Popen(("true",))
    ended.wait()
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    for process in (0, ended.pid):
        wait_for_end(process)


def test_a_table_of_a_program_is_read_as_it_is(
    committed: Repo, servers: Any, venv: Path
) -> None:
    """Nobody watches those files: the server must not hold one."""
    guard = (str(venv / "bin" / "python"), "-E", "-P", "-m", "cli_guard")
    assert committed.run(*guard, "server", "start", env=servers.env).code == 0
    judged = (*guard, "check-command", "ls -rf /")
    assert committed.run(*judged, env=servers.required).code == 0
    programs = next(venv.glob("lib/python3*/site-packages/cli_guard/rules/programs"))
    (ls,), (rm,) = programs.rglob("ls.toml"), programs.rglob("rm.toml")
    for _ in range(3):
        assert committed.run(*judged, env=servers.required).code == 0
    ls.write_text(rm.read_text())
    for _ in range(3):
        assert committed.run(*judged, env=servers.required).code == 1


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_who_is_shut_in_does_its_run_inside(risky: Repo, servers: Any) -> None:
    """A child of the server would not be in the sandbox of whoever asked for it."""
    bubblewrap = shutil.which("bwrap")
    shut_in = (bubblewrap or "bwrap", "--dev-bind", "/", "/", "--proc", "/proc", GUARD)
    if bubblewrap is None or risky.run(*shut_in, "--version").code != 0:
        pytest.skip("there is no bubblewrap that works here")
    servers.start(risky)
    assert risky.run(*shut_in, *REVIEW, env=servers.env).code == 3
    assert servers.runs(risky) == 0
    setpriv = shutil.which("setpriv")
    if setpriv is not None:
        assert (
            risky.run(setpriv, "--no-new-privs", GUARD, *REVIEW, env=servers.env).code == 3
        )
        assert servers.runs(risky) == 0
    assert risky.guard(*REVIEW, env=servers.required).code == 3
    assert servers.runs(risky) == 1


# The test says when enough time has passed: a busy machine takes longer for all.
RESTING = """
import sys
from pathlib import Path
from cli_guard.server import __main__, leaving, serving
class Rests:
    def __iter__(self):
        kept = Path(sys.argv[1]).with_name("kept")
        # Empty while the test writes it, and for no rest.
        return iter([(-1.0, int(each)) for each in kept.read_text().split()])
serving.RESTS = Rests()
leaving.LOOK_SECONDS = 0.2
__main__.main(sys.argv[1:])
"""


def test_one_that_is_not_asked_keeps_fewer_spares(committed: Repo, servers: Any) -> None:
    judged = ("check-command", "ls")
    inside = servers.folder / "cli-guard"
    inside.mkdir(mode=0o700)
    kept_file = servers.folder / "kept"
    kept_file.write_text("")
    argv = [sys.executable, "-E", "-P", "-c", RESTING, str(inside)]
    named = ("HOME", "LANG", "LC_ALL")
    kept = {name: committed.env[name] for name in named if name in committed.env}
    server = psutil.Popen(argv, env={**kept, "PATH": os.defpath})
    assert eventually(servers.listens)
    assert committed.guard(*judged, env=servers.required).code == 0
    for count in (2, 1, 0):
        if count < 2:
            kept_file.write_text(str(count))
        assert eventually(lambda count=count: len(server.children()) == count)
    kept_file.write_text("")
    assert committed.guard(*judged, env=servers.required).code == 0
    assert eventually(lambda: len(server.children()) == 2)
    servers.end()
    server.wait()


REASONS = """
import fcntl, json, os, sys
from pathlib import Path
from cli_guard.server.leaving import Stay
folder = Path(sys.argv[1])
stays = []
for number, options in enumerate(json.loads(sys.argv[2])):
    path = folder / f"{number}"
    path.write_text("")
    os.utime(path, ns=(number, number))
    stays.append(Stay(**options))
    stays[-1].settle(str(path))
locks = [(folder / f"{number}.lock").open("w") for number in range(len(stays))]
for lock in locks:
    fcntl.flock(lock, fcntl.LOCK_EX)
print(json.dumps([each.reason_to_leave() for each in stays]))
for lock in locks:
    lock.close()
print(json.dumps([each.reason_to_leave() for each in stays]))
"""


def reasons_to_leave(folder: Path, options: list[dict[str, Any]]) -> list[list[str]]:
    """Return why each of these servers would leave, with the locks of all held, and with none held.

    In a process of its own: files of modules that other tests have loaded may be gone.
    """
    argv = [sys.executable, "-c", REASONS, str(folder), json.dumps(options)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


REFUSED_FORK = """
import os, resource, socket, sys
from cli_guard.server import address, client, child
from cli_guard.server.leaving import Stay
from cli_guard.server.serving import Server
here, there = sys.argv[1:]
stay = Stay()
if os.geteuid() == 0:
    os.setresuid(65534, 65534, 65534)
if here == "server":
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    door = socket.socket(socket.AF_UNIX)
    door.bind(there)
    door.listen()
    stay.settle(there)
    print("ready", flush=True)
    Server(door, os.open("/", os.O_RDONLY), address.identity() or "", stay, lambda env: True, lambda argv: 0).serve()
else:
    address.socket_path = lambda inside, name: there
    address.is_own_folder = lambda path: True
    print(client.ask_server(["check-command", "ls"]))
"""


def test_a_fork_that_is_refused_leaves_the_run_to_the_client(
    servers: Any, committed: Repo
) -> None:
    os.chmod(servers.folder, 0o777)
    path = str(servers.folder / "cli-guard")
    env = {**os.environ, **servers.env, "XDG_RUNTIME_DIR": "", "HOME": "/tmp"}
    command = (sys.executable, "-E", "-P", "-c", REFUSED_FORK)
    with subprocess.Popen(
        (*command, "server", path), stdout=subprocess.PIPE, env=env, cwd="/"
    ) as server:
        assert server.stdout and server.stdout.readline() == b"ready\n"
        done = subprocess.run(
            (*command, "client", path),
            capture_output=True,
            env=env,
            cwd="/",
            text=True,
            timeout=60,
        )
        alive = server.poll() is None
        server.kill()
    assert (done.stdout, done.stderr) == ("None\n", "")
    assert alive


def test_a_home_matters_only_where_packages_are_in_it(tmp_path: Path) -> None:
    script = (
        "from cli_guard.server import address; print(address.name_of(address.identity()))"
    )

    def name(home: str) -> str:
        command = (sys.executable, "-E", "-P", "-c", script)
        env = {"HOME": str(tmp_path / home)}
        return subprocess.run(
            command, env=env, capture_output=True, text=True, check=True
        ).stdout

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "own/.local/lib" / f"python{version}" / "site-packages").mkdir(parents=True)
    (tmp_path / "other/.local/lib/python2.7/site-packages").mkdir(parents=True)
    assert name("one") == name("other") != name("own")
