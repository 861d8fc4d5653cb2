"""A server that hangs, is killed, is somebody else's or talks nonsense: the run is done once, and rightly."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from repositories import GUARD, Repo, key
from watching import eventually

from cli_guard.server import address

LEAK = {"keys.py": f'KEY = "{key()}"\n'}
REVIEW = ("hook", "pre-commit")
NOBODY = 65_534


@pytest.fixture
def leaking(committed: Repo) -> Repo:
    committed.write("keys.py", LEAK["keys.py"])
    committed.git("add", "-A")
    return committed


def reviews(repo: Repo) -> int:
    """How many reviews were written down."""
    trail = repo.path / ".git" / "cli-guard" / "audit.jsonl"
    lines = trail.read_text().splitlines() if trail.exists() else []
    return sum("pre-commit" in json.loads(line)["event"] for line in lines)


def name_of_socket(repo: Repo, env: dict[str, str]) -> str:
    """The name under which `cli-guard` would look for its server."""
    script = (
        "from cli_guard.server import address; print(address.name_of(address.identity()))"
    )
    done = repo.run(sys.executable, "-E", "-P", "-c", script, env=env)
    assert done.code == 0, done.err
    return done.out.strip()


def test_one_that_hangs_holds_nothing_and_does_nothing_twice(
    leaking: Repo, servers: Any
) -> None:
    server = servers.start(leaking)
    server.suspend()
    # The pipes of this run end while the server still hangs.
    done = leaking.guard(*REVIEW, env=servers.env)
    assert done.code == 1 and "keys.py:1" in done.out
    assert reviews(leaking) == 1
    server.resume()
    assert servers.answers(leaking)
    assert servers.runs(leaking) == 0
    assert reviews(leaking) == 1


def test_one_that_was_killed_is_replaced(leaking: Repo, servers: Any) -> None:
    server = servers.start(leaking)
    server.kill()
    assert eventually(lambda: not servers.processes())
    assert (leaking.guard(*REVIEW, env=servers.env).code, reviews(leaking)) == (1, 1)
    assert servers.answers(leaking)
    assert [each.pid for each in servers.processes()] != [server.pid]


Answer = Callable[[socket.socket], None]


def says(*words: bytes) -> Answer:
    def answer(connection: socket.socket) -> None:
        for word in words:
            connection.sendall(word)
            connection.settimeout(1)
            connection.recv(100_000)

    return answer


def keeps_silent(connection: socket.socket) -> None:
    connection.settimeout(20)
    while connection.recv(100_000):
        pass


def takes_all_and_goes(connection: socket.socket) -> None:
    """Takes the streams as well, and lets go of all of it."""
    connection.recv(100_000)
    connection.sendall(b"A\0")
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 8)
    for each in descriptors:
        os.close(each)


IMPOSTORS: dict[str, Answer] = {
    "is silent": keeps_silent,
    "hangs up": lambda connection: None,
    "refuses": says(b"C\0"),
    "talks nonsense": says(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "says half a word": says(b"B"),
    "never begins": says(b"A\0", b""),
    "takes all and goes": takes_all_and_goes,
}


def says_that_all_is_well(connection: socket.socket) -> None:
    """Takes the run, and does not do it."""
    connection.recv(100_000)
    connection.sendall(b"A\0")
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 8)
    os.read(descriptors[0], 1)
    connection.sendall(b"B\0E\0")
    for each in descriptors:
        os.close(each)


@contextmanager
def impostor(
    folder: Path, name: str, answer: Answer, record: str | None = None
) -> Iterator[list[float]]:
    """Listens in this process, which the lock names as the server, or another `record`; gives when it was asked."""
    asked: list[float] = []
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / f"{name}.lock").write_text(
        address.describe_process(os.getpid()) if record is None else record
    )
    ended = threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(folder / name))
        door.listen()
        door.settimeout(0.1)

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = door.accept()
                except OSError:
                    continue
                asked.append(time.monotonic())
                with connection, suppress(OSError):
                    answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield asked
        finally:
            # Beside a closed socket it would not wait, and take all of a processor.
            ended.set()
            thread.join()


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_an_impostor_gets_nothing_done(leaking: Repo, servers: Any, kind: str) -> None:
    name = name_of_socket(leaking, servers.env)
    with impostor(servers.folder / "cli-guard", name, IMPOSTORS[kind]) as asked:
        done = leaking.guard(*REVIEW, env=servers.env)
    assert asked
    assert (done.code, "keys.py:1" in done.out, done.err) == (1, True, "")
    assert reviews(leaking) == 1


OURS = address.describe_process(os.getpid()).split()
RECORDS = [
    "",
    "x",
    "\0" * 9,
    *(" ".join((*OURS[:at], "1", *OURS[at + 1 :])) for at in range(len(OURS))),
]


@pytest.mark.parametrize(
    "record", RECORDS, ids=["none", "nonsense", "nothing", "process", "start", "program"]
)
def test_only_the_process_that_is_recorded_is_asked(
    leaking: Repo, servers: Any, record: str
) -> None:
    name = name_of_socket(leaking, servers.env)
    folder = servers.folder / "cli-guard"
    with impostor(folder, name, says_that_all_is_well, record):
        done = leaking.guard(*REVIEW, env=servers.env)
        agent = leaking.guard("hook", "claude-code", stdin="{", env=servers.env)
    assert (done.code, "keys.py:1" in done.out, reviews(leaking)) == (1, True, 1)
    assert agent.code == 2


def test_a_push_asks_no_server(leaking: Repo, servers: Any) -> None:
    leaking.git("commit", "-qm", "Add keys")
    line = (
        f"refs/heads/main {leaking.git('rev-parse', 'HEAD')} refs/heads/main {'0' * 40}\n"
    )
    name = name_of_socket(leaking, servers.env)
    with impostor(servers.folder / "cli-guard", name, says_that_all_is_well) as asked:
        done = leaking.guard(
            "hook", "pre-push", "origin", "url", stdin=line, env=servers.env
        )
    assert not asked
    assert done.code == 1 and "keys.py:1" in done.out


def test_one_that_begins_and_dies_is_told(leaking: Repo, servers: Any) -> None:
    """What began may have been done: it is not done again, and nothing is let through."""

    def begins(connection: socket.socket) -> None:
        connection.recv(100_000)
        connection.sendall(b"A\0")
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 8)
        assert os.read(descriptors[0], 1)
        connection.sendall(b"B\0")
        for each in descriptors:
            os.close(each)

    name = name_of_socket(leaking, servers.env)
    with impostor(servers.folder / "cli-guard", name, begins):
        done = leaking.guard(*REVIEW, env=servers.env)
        agent = leaking.guard("hook", "claude-code", stdin="{}", env=servers.env)
    assert done.code == 4 and "ended without a result" in done.err
    # Claude Code goes on at any code but this one.
    assert agent.code == 2
    assert reviews(leaking) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize("part", ["the folder", "the process"])
def test_one_of_another_user_is_not_asked(leaking: Repo, servers: Any, part: str) -> None:
    name = name_of_socket(leaking, servers.env)
    folder = servers.folder / "cli-guard"
    asked = []
    with impostor(folder, name, lambda connection: asked.append(connection.recv(100_000))):
        if part == "the folder":
            os.chown(folder, NOBODY, NOBODY)
        else:
            # unix(7): what a client is told of the peer are its credentials at the time of listen(2).
            (folder / name).unlink()
            script = (
                "import os, socket, sys\ndoor = socket.socket(socket.AF_UNIX)\ndoor.bind(sys.argv[1])\n"
                f"os.seteuid({NOBODY})\ndoor.listen()\nprint('ready', flush=True)\n"
                "connection, _ = door.accept()\nprint(connection.recv(9))"
            )
            other = subprocess.Popen(
                (sys.executable, "-c", script, folder / name),
                stdout=subprocess.PIPE,
                text=True,
            )
            assert other.stdout and other.stdout.readline() == "ready\n"
        done = leaking.guard(*REVIEW, env=servers.env)
        if part == "the process":
            assert other.stdout and other.stdout.read() == "b''\n"
            other.wait(20)
            other.stdout.close()
    assert done.code == 1 and "keys.py:1" in done.out
    assert not any(asked)


def test_a_folder_that_is_open_to_others_is_left_alone(leaking: Repo, servers: Any) -> None:
    servers.start(leaking)
    for mode in (0o755, 0o770, 0o701):
        (servers.folder / "cli-guard").chmod(mode)
        assert leaking.guard(*REVIEW, env=servers.required).code == 4
        assert not address.is_own_folder(str(servers.folder / "cli-guard"))
    assert leaking.guard(*REVIEW, env=servers.env).code == 1


def test_a_link_to_a_folder_is_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(folder)
    assert address.is_own_folder(str(folder))
    assert not address.is_own_folder(str(tmp_path / "link"))


def test_a_child_that_is_killed_is_told(committed: Repo, warm: Any) -> None:
    for argv, code in (
        (("check-command", "--jsonl"), 128 + signal.SIGKILL),
        (("hook", "claude-code"), 2),
    ):
        with running(committed, argv, warm) as client:
            assert eventually(lambda: len(warm.at_work()) == 1)
            assert eventually(lambda: warm.at_work()[0].status() == psutil.STATUS_SLEEPING)
            begun(client)
            warm.at_work()[0].kill()
            _, err = client.communicate(timeout=60)
            assert (client.returncode, b"ended by signal 9" in err) == (code, True)


@contextmanager
def running(
    repo: Repo, argv: tuple[str, ...], servers: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A client whose run waits for its input."""
    client = subprocess.Popen(
        (GUARD, *argv),
        cwd=repo.path,
        env=repo.env | servers.required,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with client:
        yield client
        client.kill()


def begun(client: subprocess.Popen[bytes]) -> None:
    """Waits until a run has answered its first line: nothing else tells that it has begun."""
    if "--jsonl" in client.args:  # type: ignore[operator]
        assert client.stdin and client.stdout
        client.stdin.write(b'{"command": "ls"}\n')
        client.stdin.flush()
        assert b"allow" in client.stdout.readline()
    else:
        import time

        time.sleep(1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_who_ends_the_client_ends_the_run(committed: Repo, warm: Any, number: int) -> None:
    with running(committed, ("check-command", "--jsonl"), warm) as client:
        begun(client)
        assert len(warm.at_work()) == 1
        client.send_signal(number)
        # Not before: the end of its input would end the run as well.
        client.wait(60)
        _, err = client.communicate()
        assert client.returncode == (130 if number == signal.SIGINT else -number)
        assert (b"interrupted" in err) is (number == signal.SIGINT)
    assert eventually(lambda: not warm.at_work())
    assert warm.status(committed).code == 0


def test_a_server_that_is_told_to_end_ends_after_its_runs(
    committed: Repo, servers: Any
) -> None:
    server = servers.start(committed)
    with running(committed, ("check-command", "--jsonl"), servers) as client:
        begun(client)
        server.terminate()
        assert eventually(lambda: servers.status(committed).code == 1)
        out, _ = client.communicate(b'{"command": "rm -rf /"}\n', timeout=60)
        assert (client.returncode, b"deny" in out) == (0, True)
    assert eventually(lambda: not servers.processes())
    assert not list((servers.folder / "cli-guard").glob("*[!k]"))


def test_a_server_that_is_killed_leaves_its_run_alone(
    committed: Repo, servers: Any
) -> None:
    server = servers.start(committed)
    with running(committed, ("check-command", "--jsonl"), servers) as client:
        begun(client)
        server.kill()
        out, _ = client.communicate(b'{"command": "rm -rf /"}\n', timeout=60)
        assert (client.returncode, b"deny" in out) == (0, True)
