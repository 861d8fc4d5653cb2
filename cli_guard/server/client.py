"""Ask the server to do a run, and act as its process: pass signals on, exit with its code.

Imports as little as possible, because every hook begins with it. Exactly one side does the run: a pipe holds one byte,
the ticket. The server's child must take it before it begins; a client that stops waiting must take it back first.
"""

import _signal  # type: ignore[import-not-found] # `signal` itself loads `enum`
import _socket
import sys
import time

from cli_guard import hooks
from cli_guard.server import address
from cli_guard.server.address import system

# As in `typing`, without loading it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# They review or judge, ask no questions, and leave no process behind.
ROUTED = frozenset(
    ("hook", "review", "check-command", "ask", "explain", "rules", "pending", "reviews")
)
# A server answers within milliseconds, or as soon as it has loaded; on a busy machine both take longer, but a run of
# our own would take longer still. No more than this is lost if it hangs.
ANSWER_SECONDS = 5.0
# The server has answered, but other runs come first.
TURN_SECONDS = 5.0
# An agent lets a tool run when its hook takes too long: half the shortest time-out of any (Copilot CLI: 30 s).
HOOK_SECONDS = 15.0

# Messages of the server, each with one byte more: send the streams; the run is refused.
READY = b"A"
REFUSED = b"C"
# Messages of its child: the run has begun; it ends with this code. And of the server: a signal has ended the child.
BEGUN = b"B"
ENDED = b"E"
KILLED = b"K"
# Our messages: Ctrl-C, a request to end, a closed terminal.
INTERRUPT = b"I"
TERMINATE = b"T"
HANG_UP = b"H"
# Windows has no SIGHUP; it has no server either.
PASSED_ON = ((_signal.SIGTERM, TERMINATE), (getattr(_signal, "SIGHUP", 0), HANG_UP))


def is_routed(argv: list[str]) -> bool:
    """Check whether a server may do this run."""
    if not argv or argv[0] not in ROUTED or address.switched_off(address.variables()):
        return False
    # A push rests on nothing that another process says or remembers.
    hook = hooks.find_hook(argv)
    return hook is None or not hook.is_push


def is_agent_hook(argv: list[str]) -> bool:
    """Check whether a coding agent asks, not Git."""
    return argv[:1] == ["hook"] and hooks.find_hook(argv) is None


def is_preparation(argv: list[str]) -> bool:
    """Check whether this run only prepares a review: see `cli_guard.cli.hook.prepare_review`."""
    hook = hooks.find_hook(argv)
    return hook is not None and hook.request == hooks.PREPARATION and len(argv) == 2


def find_hook_limit(env: "Mapping[str, str]") -> float:
    """Return the seconds in which an agent's hook must answer; `CLI_GUARD_HOOK_SECONDS` can only shorten them."""
    try:
        wanted = float(env.get("CLI_GUARD_HOOK_SECONDS", ""))
    except ValueError:
        return HOOK_SECONDS
    return wanted if 0 < wanted < HOOK_SECONDS else HOOK_SECONDS


def ask_server(argv: list[str]) -> int | None:
    """Return the exit code of a run that a server has done, None if it is left to us.

    Raises KeyboardInterrupt if that comes before the run has begun.
    """
    if not is_routed(argv):
        return None
    connection = connect()
    if connection is None:
        return None
    try:
        ticket = make_ticket()
        code = run_on(connection, argv, ticket)
    except OSError:
        # Too many open files, or the folder is gone: a run of our own reports it better.
        code = None
    connection.close()
    return code


def make_ticket() -> int:
    """Create a pipe that one byte can be read from once. Raises OSError."""
    take, put = system.pipe()
    system.set_blocking(take, False)
    system.write(put, b".")
    system.close(put)
    return take


def connect() -> "_socket.socket | None":
    """Connect to the server for our run, None if there is none that can be trusted."""
    inside = address.folder(address.variables())
    who = address.identity()
    if inside is None or who is None or not address.is_own_folder(inside):
        return None
    connection = None
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(ANSWER_SECONDS)
        name = address.name_of(who)
        connection.connect(address.socket_path(inside, name))
        user, pid = peer(connection)
        if user == system.geteuid() and address.is_recorded(pid, f"{inside}/{name}.lock"):
            return connection
    except OSError:
        pass
    if connection is not None:
        connection.close()
    return None


def peer(connection: "_socket.socket") -> tuple[int, int]:
    """Return the user and the process at the other end, (-1, 0) if unknown. Raises OSError."""
    if hasattr(_socket, "SO_PEERCRED"):  # unix(7): pid, uid, gid
        raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(raw[4:8], sys.byteorder), int.from_bytes(
            raw[:4], sys.byteorder
        )
    if hasattr(
        _socket, "LOCAL_PEERCRED"
    ):  # unix(4) of macOS and FreeBSD: version, uid, groups
        raw = connection.getsockopt(0, _socket.LOCAL_PEERCRED, 76)
        return int.from_bytes(raw[4:8], sys.byteorder), 0
    return -1, 0


def run_on(connection: "_socket.socket", argv: list[str], ticket: int) -> int | None:
    """Hand the run over and wait for its end; None if it is left to us. Raises OSError before it has begun."""
    begun = interrupted = False
    until = time.monotonic() + ANSWER_SECONDS
    connection.sendall(request("run", argv))
    while True:
        try:
            connection.settimeout(None if begun else max(0.001, until - time.monotonic()))
            word, value = receive(connection)
            if word == READY and not begun:
                until = time.monotonic() + TURN_SECONDS
                hand_over(connection, ticket)
            elif word == ENDED:
                return value
            elif word == KILLED:
                if not begun and take_ticket(ticket):
                    return None
                end_like_it(value)
                return report_lost(f"was ended by signal {value}", 128 + value)
            elif word == BEGUN:
                begun = True
                pass_on(connection)
            elif begun:
                return report_lost("ended without a result", 4)
            elif take_ticket(ticket):
                return None
            else:
                begun = True
        except KeyboardInterrupt:
            if not begun and take_ticket(ticket):
                raise
            if interrupted:
                # A second Ctrl-C ends us at once; the server then ends the child.
                return 130
            begun = interrupted = True
            send(connection, INTERRUPT)


def receive(connection: "_socket.socket") -> tuple[bytes, int]:
    """Read one message, (b"", 0) at a time-out or the end."""
    data = b""
    try:
        while len(data) < 2:
            more = connection.recv(2 - len(data))
            if not more:
                return b"", 0
            data += more
    except OSError:
        return b"", 0
    return data[:1], data[1]


def send(connection: "_socket.socket", word: bytes) -> None:
    try:  # noqa: SIM105 - contextlib takes longer to load than all of this
        connection.send(word)
    except OSError:
        pass


def pass_on(connection: "_socket.socket") -> None:
    """Forward later signals to the child, which may have to clean up first."""

    def ask(number: int, word: bytes) -> None:
        # The second signal ends us.
        _signal.signal(number, _signal.SIG_DFL)
        send(connection, word)

    for number, word in PASSED_ON:
        # A signal may be ignored on purpose (nohup).
        if _signal.getsignal(number) == _signal.SIG_DFL:
            _signal.signal(number, lambda number, _, word=word: ask(number, word))


def end_like_it(number: int) -> None:
    """End by the signal that ended the child, if it was forwarded."""
    if number in (each for each, _ in PASSED_ON):
        _signal.signal(number, _signal.SIG_DFL)
        system.kill(system.getpid(), number)


def hand_over(connection: "_socket.socket", ticket: int) -> None:
    """Send the ticket and our streams, only after an answer: a hanging server would hold them open."""
    handed = (
        ticket,
        *(number for number, stream in enumerate(streams()) if stream is not None),
    )
    packed = b"".join(each.to_bytes(4, sys.byteorder) for each in handed)
    try:  # noqa: SIM105
        connection.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])
    except OSError:
        pass  # noticed at the next message


def take_ticket(ticket: int) -> bool:
    """Take the ticket back; False if the child has it."""
    try:
        return system.read(ticket, 1) != b""
    except OSError:
        return False


def report_lost(how: str, code: int) -> int:
    """Report a run that was cut short, and return its exit code."""
    if sys.stderr is not None:
        sys.stderr.write(
            f"cli-guard: the process that did this {how}; run it again, or set CLI_GUARD_SERVER=0\n"
        )
    return code


def streams() -> "tuple[object, object, object]":
    """Return standard input, output and error; None for a closed one."""
    return sys.stdin, sys.stdout, sys.stderr


def request(kind: str, argv: list[str]) -> bytes:
    """Encode all that a run depends on: its length in four bytes, then NUL-separated texts."""
    mask = system.umask(0o077)
    system.umask(mask)
    fields = [
        address.identity() or "",
        kind,
        str(mask),
        str(int(sys.dont_write_bytecode)),
        limits(),
        *map(form, streams()),
        system.getcwd() if kind == "run" else "/",
        sys.executable,
        sys.argv[0],
        str(len(argv)),
        *argv,
    ]
    texts = [address.encode(each) for each in fields]
    texts += [name + b"=" + value for name, value in system.environ.items()]
    packed = b"\0".join(texts)
    return len(packed).to_bytes(4, "big") + packed


def limits() -> str:
    """Encode the resource limits of this process (getrlimit(2)): number, soft and hard, each."""
    import resource

    numbers = sorted(
        {getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
    )
    return " ".join(
        f"{number} {soft} {hard}"
        for number in numbers
        for soft, hard in (resource.getrlimit(number),)
    )


def form(stream: object) -> str:
    """Encode how Python opened a standard stream, which depends on its environment; "" for a closed one."""
    if stream is None:
        return ""
    names = ("encoding", "errors", "line_buffering", "write_through")
    return " ".join(str(getattr(stream, name, "")) for name in names)
