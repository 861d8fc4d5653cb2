"""Ports of this machine, with real sockets and real servers: free or not, who listens, ending them, do they answer."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil
import pytest
from watching import eventually

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution import ports
from cli_guard.execution.ports import (
    find_available_port,
    find_process_on_port,
    is_port_available,
    kill_process_on_port,
    wait_until_answers,
)
from cli_guard.execution.processes.servers import Expected, find_expected_port

PATIENCE = 30.0
NOBODY = 65534
V4 = socket.AF_INET
V6 = socket.AF_INET6
LISTENER = """
import os, signal, socket, sys, time
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
{more}
print(server.getsockname()[1], flush=True)
while True:
    time.sleep(60)
"""
Run = Callable[[str], tuple[subprocess.Popen[str], int]]


def has_ipv6() -> bool:
    try:
        with closing(socket.socket(V6)) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def until(holds: Callable[[], bool]) -> None:
    assert eventually(holds, PATIENCE)


def bound(family: int, host: str, port: int = 0, *, dual: bool = False) -> socket.socket:
    taken = socket.socket(family)
    if family == V6:
        taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if dual else 1)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind((host, port))
    return taken


@pytest.fixture
def free() -> int:
    """A port that nobody has, outside of the range that connections get theirs from."""
    return find_available_port(20000 + os.getpid() % 5000, 32000)


@pytest.fixture
def run() -> Iterator[Run]:
    """Starts a listener of its own process group, and gives its port; all are ended."""
    with ExitStack() as stack:

        def start(more: str) -> tuple[subprocess.Popen[str], int]:
            code = LISTENER.format(more=more)
            words = (sys.executable, "-c", code)
            process = subprocess.Popen(
                words, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
            stack.callback(end, process)
            assert process.stdout
            return process, int(process.stdout.readline())

        yield start


def end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("family", "host", "dual"),
    [
        (V4, "0.0.0.0", False),
        (V4, "127.0.0.1", False),
        pytest.param(V6, "::", False, marks=needs_ipv6),
        pytest.param(V6, "::1", False, marks=needs_ipv6),
        pytest.param(V6, "::", True, marks=needs_ipv6),
    ],
)
def test_a_listener_anywhere_takes_the_port(
    family: int, host: str, dual: bool, free: int
) -> None:
    assert is_port_available(free)
    with closing(bound(family, host, free, dual=dual)) as server:
        server.listen()
        assert not is_port_available(free)
        assert find_process_on_port(free) == os.getpid()
        assert find_available_port(free, free + 20) > free
    assert is_port_available(free)
    assert find_process_on_port(free) is None


def test_a_udp_socket_does_not_take_it(free: int) -> None:
    with closing(socket.socket(V4, socket.SOCK_DGRAM)) as other:
        other.bind(("0.0.0.0", free))
        assert is_port_available(free)
        assert find_process_on_port(free) is None


def test_a_connection_that_winds_down_does_not_take_it() -> None:
    with closing(bound(V4, "127.0.0.1")) as server:
        server.listen()
        port = server.getsockname()[1]
        with closing(socket.create_connection(("127.0.0.1", port))) as caller:
            accepted, _ = server.accept()
            # Who closes first keeps the connection in TIME_WAIT.
            accepted.close()
            assert caller.recv(1) == b""
    # What is left of it says that somebody was there, and that the port is used.
    with closing(socket.socket(V4)) as strict, pytest.raises(OSError):
        strict.bind(("127.0.0.1", port))
    assert is_port_available(port)


def test_a_client_is_not_who_is_on_the_port() -> None:
    with closing(bound(V4, "127.0.0.1")) as server:
        server.listen()
        with closing(socket.create_connection(server.getsockname())) as caller:
            assert find_process_on_port(caller.getsockname()[1]) is None
            assert not kill_process_on_port(caller.getsockname()[1])


def as_nobody(ask: Callable[[], object]) -> str:
    """What an unprivileged user is told: asked in a child that gives its rights away."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setuid(NOBODY)
            said = repr(ask())
        except BaseException as error:
            said = repr(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return told


def test_a_privileged_port_is_told_right() -> None:
    start = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
    if not start.exists() or int(start.read_text()) < 1024:
        pytest.skip("any user may have any port here")
    low = next(port for port in range(1023, 500, -1) if is_port_available(port))
    assert as_nobody(lambda: is_port_available(low)) == "True"
    assert "no port from" in as_nobody(lambda: find_available_port(low, low))
    if os.geteuid() == 0:
        with closing(bound(V4, "127.0.0.1", low)) as server:
            server.listen()
            assert as_nobody(lambda: is_port_available(low)) == "False"
            # The child has inherited the socket, and would find itself.
            assert (
                as_nobody(lambda: [server.close(), find_process_on_port(low)][1]) == "None"
            )


@pytest.mark.parametrize(
    "wrong",
    [0, -1, 65536, 10**5000, True, "80", 80.0, None],
    ids=lambda given: type(given).__name__,
)
def test_what_is_no_port_is_refused_in_one_line(wrong: int) -> None:
    for ask in (
        is_port_available,
        find_process_on_port,
        kill_process_on_port,
        find_available_port,
    ):
        with pytest.raises(
            UsageError, match="a port is a whole number from 1 to 65535"
        ) as refused:
            ask(wrong)
        assert len(str(refused.value)) < 80
    with pytest.raises(UsageError):
        wait_until_answers(wrong, 1, lambda: True)


def test_the_ends_of_the_range_are_ports() -> None:
    assert isinstance(is_port_available(1), bool)
    assert isinstance(is_port_available(65535), bool)


def test_a_range_is_searched_from_its_start(free: int) -> None:
    assert find_available_port(free, free) == free
    assert 3000 <= find_available_port() <= 9999
    with pytest.raises(UsageError, match="not a range"):
        find_available_port(free, free - 1)
    with closing(bound(V4, "0.0.0.0", free)) as server:
        server.listen()
        with pytest.raises(CliGuardError, match="no port from"):
            find_available_port(free, free)


FAMILY = """
if os.fork() == 0:
    {child}
    while True:
        time.sleep(60)
"""


def test_of_a_family_that_shares_the_port_the_eldest_is_found(run: Run) -> None:
    process, port = run(FAMILY.format(child="pass"))
    assert find_process_on_port(port) == process.pid


def test_a_listener_is_ended_gracefully(run: Run, tmp_path: Path) -> None:
    goodbye = tmp_path / "goodbye"
    process, port = run(
        "def stop(*_):\n"
        f"    open({str(goodbye)!r}, 'w').close()\n"
        "    sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, stop)"
    )
    assert kill_process_on_port(port)
    assert is_port_available(port)
    assert goodbye.exists()
    assert process.wait(PATIENCE) == 3
    assert not kill_process_on_port(port)


def test_a_listener_that_does_not_listen_to_reason_is_killed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "GRACE_SECONDS", 0.2)
    process, port = run("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    assert kill_process_on_port(port)
    assert process.wait(PATIENCE) == -signal.SIGKILL


def test_workers_that_outlive_their_server_are_ended_too(run: Run) -> None:
    process, port = run(FAMILY.format(child="os.setsid()"))
    worker = psutil.Process(process.pid).children()[0]
    assert kill_process_on_port(port)
    assert process.wait(PATIENCE) == -signal.SIGTERM
    until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)
    assert is_port_available(port)


def test_neither_ourselves_nor_who_runs_us_is_ended() -> None:
    with closing(bound(V4, "127.0.0.1")) as server:
        server.listen()
        port = server.getsockname()[1]
        assert not kill_process_on_port(port)
        module = "cli_guard.execution.ports"
        code = f"from {module} import kill_process_on_port as kill; print(kill({port}))"
        child = subprocess.run(
            (sys.executable, "-c", code), capture_output=True, text=True, check=True
        )
        assert child.stdout == "False\n"
        assert find_process_on_port(port) == os.getpid()


@pytest.mark.parametrize(
    ("family", "host"),
    [(V4, "127.0.0.1"), pytest.param(V6, "::1", marks=needs_ipv6), (V4, "0.0.0.0")],
)
def test_it_answers_when_it_listens_and_not_when_it_is_bound(
    family: int, host: str
) -> None:
    with closing(bound(family, host)) as server:
        port = server.getsockname()[1]
        assert not wait_until_answers(port, 0.1, lambda: True)
        later = threading.Timer(0.1, server.listen)
        later.start()
        assert wait_until_answers(port, PATIENCE, lambda: True)
        later.join()


def test_no_time_is_enough_for_one_question() -> None:
    with closing(bound(V4, "127.0.0.1")) as server:
        port = server.getsockname()[1]
        assert not wait_until_answers(port, 0, lambda: True)
        server.listen()
        assert wait_until_answers(port, 0, lambda: True)
        assert wait_until_answers(port, float("nan"), lambda: True)


def test_nobody_is_waited_for_who_has_ended(free: int) -> None:
    answers = iter((True, True, False))
    assert not wait_until_answers(free, PATIENCE, lambda: next(answers))
    assert next(answers, None) is None


def test_a_relay_that_hangs_up_does_not_answer() -> None:
    """So does Docker's, as long as nobody listens in the container."""
    hung_up = 0

    def relay() -> None:
        nonlocal hung_up
        while hung_up < 3:
            caller, _ = server.accept()
            caller.close()
            hung_up += 1
        caller, _ = server.accept()
        with closing(caller):
            caller.recv(1)

    with closing(bound(V4, "127.0.0.1")) as server:
        server.listen()
        thread = threading.Thread(target=relay, daemon=True)
        thread.start()
        assert wait_until_answers(server.getsockname()[1], PATIENCE, lambda: True)
        thread.join(PATIENCE)
    assert hung_up == 3


def test_a_server_that_speaks_first_and_hangs_up_answers() -> None:
    def greet() -> None:
        caller, _ = server.accept()
        with closing(caller):
            caller.sendall(b"hello")

    with closing(bound(V4, "127.0.0.1")) as server:
        server.listen()
        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        assert wait_until_answers(server.getsockname()[1], PATIENCE, lambda: True)
        thread.join(PATIENCE)


def test_a_real_server_is_waited_for(free: int, tmp_path: Path) -> None:
    command = f"{sys.executable} -m http.server --bind 127.0.0.1 {free}"
    assert find_expected_port(command) == Expected(free)
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen(
            command.split(),
            cwd=tmp_path,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )
    try:
        assert wait_until_answers(free, PATIENCE, lambda: process.poll() is None)
        assert find_process_on_port(free) == process.pid
        assert kill_process_on_port(free)
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_without_the_right_to_see_all_ones_own_are_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connections of all processes are root's alone to see on macOS."""

    def refused(kind: str) -> list[object]:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", refused)
    process, port = run("pass")
    assert find_process_on_port(port) == process.pid
    assert kill_process_on_port(port)
    assert process.wait(PATIENCE) == -signal.SIGTERM
    assert find_process_on_port(port) is None
