"""A scripted server of the OpenAI chat-completions protocol on loopback: the model of the tests of cli_guard/llm/.

    with serve([call(("read_file", {"path": "a.py"})), say("It sends a request.")]) as server:
        ...  # ask through server.base_url
    assert server.requests[1].messages[-1]["role"] == "tool"

Answers are served in order, streamed or whole as the request asks. A request beyond the script, or one that breaks
the rules of the protocol, is answered with 400 and fails the test at the end of the block; from there on `base_url`
is a port at which nobody listens. Protocol: the API reference of OpenAI, "Create chat completion" and "Streaming".
"""

import json
import re
import select
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from itertools import chain, count
from socketserver import ThreadingTCPServer
from threading import Thread
from typing import Any

from openai_answers import (
    INVALID,
    Answer,
    call,
    encode,
    error,
    fault,
    frames_of,
    say,
    say_json,
)

__all__ = [
    "Answer",
    "Obedient",
    "Request",
    "Server",
    "call",
    "error",
    "fault",
    "obey",
    "say",
    "say_json",
    "serve",
]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: Any  # the JSON value, None without one

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The offered functions (name, description, parameters) by name."""
        return {
            tool["function"]["name"]: tool["function"]
            for tool in self.body.get("tools") or ()
        }

    @property
    def text(self) -> str:
        """The contents of all messages."""
        return "\n".join(strings([message.get("content") for message in self.messages]))

    @property
    def all_text(self) -> str:
        """Every string of the body, unescaped: contents, arguments, names and descriptions of tools."""
        return "\n".join(strings(self.body))


@dataclass
class Obedient:
    """A script that does what any text tells it to: each case's answer once, when its marker is in a request."""

    cases: Mapping[str, Answer]
    closing: str = "Done."
    obeyed: list[str] = field(default_factory=list)  # the markers read so far

    def __call__(self, request: Request) -> Answer:
        read = request.all_text
        markers = [
            marker for marker in self.cases if marker in read and marker not in self.obeyed
        ]
        self.obeyed += markers
        answers = [self.cases[marker] for marker in markers] or [say(self.closing)]
        texts = [delta for answer in answers for delta in answer.deltas]
        return replace(
            answers[0],
            deltas=texts,
            calls=[call for answer in answers for call in answer.calls],
        )


obey = Obedient
Script = Sequence[Answer] | Callable[[Request], Answer]


class Server(ThreadingTCPServer):
    def __init__(self, script: Script, models: Sequence[str]) -> None:
        self.script = script
        self.models = models
        self.turns = count()
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.connections: list[socket.socket] = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        where = f"{request.method} {request.path}"
        if where == "GET /v1/models":
            models = [{"id": name, "object": "model"} for name in self.models]
            return Answer(body=encode({"object": "list", "data": models}))
        if where != "POST /v1/chat/completions":
            return error(404, INVALID, f"Invalid URL ({where})")
        problem = find_problem(request.body)
        if not problem:
            if callable(self.script):
                return self.script(request)
            turn = next(self.turns)
            if turn < len(self.script):
                return self.script[turn]
            problem = f"request {turn + 1} of a script of {len(self.script)}"
        self.problems.append(problem)
        return error(400, INVALID, problem)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that resets its connection is no problem, a script that raises is.
        if not isinstance(sys.exception(), OSError):
            self.problems.append(f"the script failed: {sys.exception()!r}")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        names = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, names, json.loads(raw) if raw else None)
        answer = self.server.answer(request)
        kind, frames = frames_of(answer, request.body, len(self.server.requests))
        framing = (
            {"Transfer-Encoding": "chunked"} if answer.framed else {"Connection": "close"}
        )
        headers = {"Content-Type": kind} | framing | dict(answer.headers)
        head = f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        unsent = f"{head}\r\n".encode()
        self.close_connection = True
        for piece in answer.wire(iter(frames)):
            if isinstance(piece, bytes):
                # One HTTP chunk a piece: the client sees these boundaries, whatever TCP joins.
                chunk = (
                    b"%x\r\n%b\r\n" % (len(piece), piece)
                    if piece and answer.framed
                    else piece
                )
                self.wfile.write(unsent + chunk)
                unsent = b""
            # A client that waits for its answer sends nothing: its connection is readable when it is closed.
            elif piece is None or select.select([self.connection], [], [], piece)[0]:
                return
        if answer.framed:
            self.wfile.write(b"0\r\n\r\n")
            self.close_connection = False

    do_GET = do_POST  # noqa: N815


@contextmanager
def serve(script: Script = (), models: Sequence[str] = ("test-model",)) -> Iterator[Server]:
    """Serve the script on a free port of loopback; `models` answers GET /v1/models."""
    server = Server(script, models)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    except BaseException as failure:
        failure.add_note(f"problems of the server: {server.problems}")
        raise
    finally:
        server.shutdown()
        thread.join()
        for connection in server.connections:
            # Wakes its thread, wherever it reads, writes or waits; server_close() joins it.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        server.server_close()
    assert not server.problems, server.problems


def find_problem(body: Any) -> str:
    """What OpenAI refuses with 400: calls parted from their results, wrong names of tools; "" for none."""
    if not (isinstance(body, dict) and body.get("model") and body.get("messages")):
        return "a model and messages are required"
    names = [tool["function"]["name"] for tool in body.get("tools") or ()]
    if len(set(names)) < len(names) or not all(
        re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names
    ):
        return f"tools: invalid or repeated names in {names}"
    pending: set[str] = set()
    for at, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in pending:
                return f"messages[{at}]: a result without its call"
            pending.remove(message["tool_call_id"])
        elif pending:
            break
        pending |= {call["id"] for call in message.get("tool_calls") or ()}
    return f"calls without results: {sorted(pending)}" if pending else ""


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        inner = chain.from_iterable(value.items()) if isinstance(value, dict) else value
        yield from chain.from_iterable(map(strings, inner))
