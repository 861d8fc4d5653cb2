"""Asks the server to do a run in our place, and is its process to the outside: hears signals, ends with its code.

Loads as little as can be, for it is what every hook begins with. Exactly one of the two runs it: a pipe holds one
byte, the ticket. The server's child must take it before it begins; whoever stops waiting must take it back first.
"""

import _signal  # type: ignore[import-not-found] # `signal` itself loads `enum`
import _socket
import os
import sys
import time

from cli_guard.server import address

# What is worth it: they review or judge, ask nobody, and start nothing that would stay.
ROUTED = frozenset(("hook", "review", "check-command", "ask", "explain", "rules", "pending", "reviews"))
# A server that is well answers at once; one that does not costs no more than this.
ANSWER_SECONDS = 0.1
# It has answered, but others are before us.
TURN_SECONDS = 3.0

# Said by the server, each with one byte more: it wants the streams; it does not want the run.
READY, REFUSED = b"A", b"C"
# Said by its child: it has begun; it ends with this code. And by the server: a signal has ended it.
BEGUN, ENDED, KILLED = b"B", b"E", b"K"
# Said by us: somebody has pressed Ctrl-C, or wants us to end, or our terminal is gone.
INTERRUPT, TERMINATE, HANG_UP = b"I", b"T", b"H"
PASSED_ON = ((_signal.SIGTERM, TERMINATE), (_signal.SIGHUP, HANG_UP))


def routed(argv: list[str]) -> bool:
    """Is this a run that a server may do?"""
    return bool(argv) and argv[0] in ROUTED and not address.switched_off(os.environ)


def ask_server(argv: list[str]) -> int | None:
    """The exit code of a run that a server has done, None if it is left to us.

    Raises KeyboardInterrupt, if that comes before the run has begun.
    """
    if not routed(argv):
        return None
    connection = connect()
    if connection is None:
        return None
    try:
        ticket = make_ticket()
        code = conversation(connection, argv, ticket)
    except OSError:
        # Too many open files, or the folder is gone: a run of our own says it better.
        code = None
    connection.close()
    return code


def make_ticket() -> int:
    """A new ticket: a pipe that one byte can be read from, by one process once. Raises OSError."""
    take, put = os.pipe()
    os.set_blocking(take, False)
    os.write(put, b".")
    os.close(put)
    return take


def connect() -> "_socket.socket | None":
    """A connection to the server that could do our run, None if there is none that can be trusted."""
    inside, who = address.folder(os.environ), address.identity()
    if inside is None or who is None or not address.ours_alone(inside):
        return None
    connection = None
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(ANSWER_SECONDS)
        connection.connect(address.socket_path(inside, address.name_of(who)))
        if peer(connection)[0] == os.geteuid():
            return connection
    except OSError:
        pass
    if connection is not None:
        connection.close()
    return None


def peer(connection: "_socket.socket") -> tuple[int, int]:
    """The user and the process at the other end, (-1, 0) where the system does not tell. Raises OSError."""
    if hasattr(_socket, "SO_PEERCRED"):  # unix(7): pid, uid, gid
        raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(raw[4:8], sys.byteorder), int.from_bytes(raw[:4], sys.byteorder)
    if hasattr(_socket, "LOCAL_PEERCRED"):  # unix(4) of macOS and FreeBSD: version, uid, groups
        raw = connection.getsockopt(0, _socket.LOCAL_PEERCRED, 76)
        return int.from_bytes(raw[4:8], sys.byteorder), 0
    return -1, 0


def conversation(connection: "_socket.socket", argv: list[str], ticket: int) -> int | None:
    """Hands the run over and waits for its end; None if it is left to us. Raises OSError before it has begun."""
    begun = interrupted = False
    until = time.monotonic() + ANSWER_SECONDS
    connection.sendall(request("run", argv))
    while True:
        try:
            connection.settimeout(None if begun else max(0.001, until - time.monotonic()))
            said, value = hear(connection)
            if said == READY and not begun:
                until = time.monotonic() + TURN_SECONDS
                hand_over(connection, ticket)
            elif said == ENDED:
                return value
            elif said == KILLED:
                if not begun and taken(ticket):
                    return None
                end_like_it(value)
                return lost(argv, f"was ended by signal {value}", 128 + value)
            elif said == BEGUN:
                begun = True
                pass_on(connection)
            elif begun:
                return lost(argv, "has ended without a word", 4)
            elif taken(ticket):
                return None
            else:
                begun = True
        except KeyboardInterrupt:
            if not begun and taken(ticket):
                raise
            if interrupted:
                # Whoever presses it twice is heard at once: the child is ended when we are gone.
                return 130
            begun = interrupted = True
            tell(connection, INTERRUPT)


def hear(connection: "_socket.socket") -> tuple[bytes, int]:
    """What is said, (b"", 0) if nothing is or nobody is there."""
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


def tell(connection: "_socket.socket", word: bytes) -> None:
    """Says one word to whoever is still there."""
    try:  # noqa: SIM105 - contextlib takes longer to load than all of this
        connection.send(word)
    except OSError:
        pass


def pass_on(connection: "_socket.socket") -> None:
    """From now on, what asks us to end asks the child, which may have something to end first."""

    def ask(number: int, word: bytes) -> None:
        # Asked twice, we end.
        _signal.signal(number, _signal.SIG_DFL)
        tell(connection, word)

    for number, word in PASSED_ON:
        # Who started us may have had it ignored (nohup).
        if _signal.getsignal(number) == _signal.SIG_DFL:
            _signal.signal(number, lambda number, _, word=word: ask(number, word))


def end_like_it(number: int) -> None:
    """Where we had passed a signal on, and the child has ended of it, so do we."""
    if number in (each for each, _ in PASSED_ON):
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)


def hand_over(connection: "_socket.socket", ticket: int) -> None:
    """Passes on the ticket and our streams. Only now: what a server that hangs is sent, it holds open."""
    handed = (ticket, *(number for number, stream in enumerate(streams()) if stream is not None))
    packed = b"".join(each.to_bytes(4, sys.byteorder) for each in handed)
    try:  # noqa: SIM105
        connection.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])
    except OSError:
        pass  # which the next word, or none, will tell


def taken(ticket: int) -> bool:
    """Takes the ticket back, if nobody else has it."""
    try:
        return os.read(ticket, 1) != b""
    except OSError:
        return False


def lost(argv: list[str], how: str, code: int) -> int:
    """Says that a run was cut short, and gives the code to end with: one that blocks, whoever asks."""
    if sys.stderr is not None:
        sys.stderr.write(
            f"cli-guard: the process that did this {how}; run it again, or set CLI_GUARD_SERVER=0\n"
        )
    return 2 if argv[:2] == ["hook", "claude-code"] else code


def streams() -> "tuple[object, object, object]":
    """Standard input, output and error; None for one that the caller has closed."""
    return sys.stdin, sys.stdout, sys.stderr


def request(kind: str, argv: list[str]) -> bytes:
    """All that a run depends on and that can be told: its length in four bytes, then texts with a zero between them."""
    mask = os.umask(0o077)
    os.umask(mask)
    fields = [
        address.identity() or "",
        kind,
        str(mask),
        str(int(sys.dont_write_bytecode)),
        limits(),
        *map(form, streams()),
        os.getcwd() if kind == "run" else "/",  # noqa: PTH109
        sys.executable,
        sys.argv[0],
        str(len(argv)),
        *argv,
    ]
    texts = [os.fsencode(each) for each in fields]
    texts += [name + b"=" + value for name, value in os.environb.items()]
    packed = b"\0".join(texts)
    return len(packed).to_bytes(4, "big") + packed


def limits() -> str:
    """The resource limits of this process (getrlimit(2)): number, soft and hard, each."""
    import resource

    numbers = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
    return " ".join(
        f"{number} {soft} {hard}" for number in numbers for soft, hard in (resource.getrlimit(number),)
    )


def form(stream: object) -> str:
    """How Python opened a standard stream, which depends on the environment that it started in; "" for a closed one."""
    if stream is None:
        return ""
    names = ("encoding", "errors", "line_buffering", "write_through")
    return " ".join(str(getattr(stream, name)) for name in names)
