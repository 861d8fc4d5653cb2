"""What the scripted model of openai_server.py answers: texts, calls and faults, as the protocol writes them.

An answer says what (`say`, `say_json`, `call`, `fault`, `error`), its `wire` how it gets to the client: `split` at
every byte, `drip`, `stall`, `cut`, `insert`; each is a plain function from events to what is sent.
"""

import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from itertools import chain, islice, repeat, zip_longest
from typing import Any

# What the server does next: send these bytes (the first take the headers with them, b"" sends these alone), wait so
# many seconds, or (None) close the connection.
Piece = bytes | float | None
# From the events of a stream, or the parts of a whole answer, to what happens on the wire.
Wire = Callable[[Iterator[bytes]], Iterable[Piece]]
DONE = b"data: [DONE]\n\n"
FOREVER = 1e6


@dataclass(frozen=True)
class Answer:
    deltas: Iterable[
        str
    ] = ()  # may be endless; a whole (not streamed) answer takes the first 100,000
    calls: Sequence[
        tuple[str, Any]
    ] = ()  # name and arguments; a string of arguments is sent as it is
    fragment: int = 8  # characters of arguments in one delta
    interleaved: bool = False  # fragments of all calls in turn, told apart by `index` alone
    usage: Sequence[int] = (
        10,
        5,
    )  # tokens read, written (and, of those read, cached); (): not reported
    finish: str = ""  # "": stop or tool_calls
    refusal: str | None = None
    choices: bool = True  # False: `choices` is empty
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None  # sent instead of a completion
    wire: Wire = iter
    framed: bool = True  # False: the body ends where the connection does, so that a cut looks like an end


def say(text: str | Iterable[str], delta: int = 8, **fields: Any) -> Answer:
    """Answer with a text in deltas of so many characters, or in the given deltas."""
    return Answer(parts(text, delta) if isinstance(text, str) else text, **fields)


def say_json(value: Any, **fields: Any) -> Answer:
    """Answer with a JSON document, as a request with `response_format` wants it."""
    return say(json.dumps(value), **fields)


def call(*calls: tuple[str, Any], text: str = "", **fields: Any) -> Answer:
    """Call tools: (name, arguments) each."""
    return say(text, calls=calls, **fields)


def error(
    status: int, kind: str, message: str, code: str | None = None, **headers: str
) -> Answer:
    """The error body of OpenAI."""
    body = encode(
        {"error": {"message": message, "type": kind, "param": None, "code": code}}
    )
    return Answer(status=status, headers=headers, body=body)


def split(size: int = 1) -> Wire:
    """Send so many bytes a time: boundaries fall inside characters, `data:` and JSON."""
    return lambda frames: chain.from_iterable(parts(frame, size) for frame in frames)


def drip(seconds: float) -> Wire:
    """Wait before each event."""
    return lambda frames: chain.from_iterable((b"", seconds, frame) for frame in frames)


def stall(after: int = 0) -> Wire:
    """Send the headers and so many events, then nothing until closed. -1: not even the headers."""
    return lambda frames: chain(
        [] if after < 0 else [b""], islice(frames, max(after, 0)), [FOREVER]
    )


def cut(after: int = 2, inside: bool = False) -> Wire:
    """Close the connection after so many events, or inside the line that comes next."""
    return lambda frames: chain(
        islice(frames, after),
        (frame[: len(frame) // 2] for frame in islice(frames, inside)),
        [None],
    )


def insert(frame: bytes, after: int = 2) -> Wire:
    """Send these bytes after so many events."""
    return lambda frames: chain(islice(frames, after), [frame], frames)


def compress(frames: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)
    yield from (
        packer.compress(frame) + packer.flush(zlib.Z_SYNC_FLUSH) for frame in frames
    )
    yield packer.flush()


TEXT = "The grüne answer is 42, in the first line. "
HTML = {"Content-Type": "text/html; charset=utf-8"}
INVALID = "invalid_request_error"
LIMITED = (429, "requests", "Rate limit reached.", "rate_limit_exceeded")
OVERLOADED = b'data: {"error": {"message": "Overloaded", "code": 503}}\n\n'
FAULTS: dict[str, Callable[..., Answer]] = {
    # Refused with a status.
    "unauthorized": lambda: error(
        401, INVALID, "Incorrect API key provided.", "invalid_api_key"
    ),
    "unknown_model": lambda: error(
        404, INVALID, "The model does not exist.", "model_not_found"
    ),
    "context_length": lambda: error(
        400, INVALID, "Maximum context: 8192 tokens.", "context_length_exceeded"
    ),
    "rate_limit": lambda retry_after=1: error(
        *LIMITED, **{"Retry-After": str(retry_after)}
    ),
    "rate_limit_date": lambda seconds=1: fault(
        "rate_limit", formatdate(time.time() + seconds, usegmt=True)
    ),
    "quota": lambda: error(
        429, "insufficient_quota", "No credit is left.", "insufficient_quota"
    ),
    "server_error": lambda status=500: error(
        status, "server_error", "The server had an error."
    ),
    "bad_gateway": lambda: Answer(
        status=502, headers=HTML, body=b"<h1>502 Bad Gateway</h1>"
    ),
    "redirect": lambda to="http://127.0.0.1:9/": Answer(
        status=307, headers={"Location": to}, body=b""
    ),
    # Time and connection.
    "stall": lambda after=0: say(TEXT, wire=stall(after)),
    "stall_before_headers": lambda: say(TEXT, wire=stall(-1)),
    "drip": lambda seconds=0.05: say(repeat("a "), wire=drip(seconds)),
    "heartbeat": lambda seconds=0.05: Answer(
        wire=lambda _: drip(seconds)(repeat(b": keep-alive\n\n"))
    ),
    "hang_up": lambda: Answer(wire=lambda _: [None]),
    "cut_in_line": lambda framed=True: say(TEXT, wire=cut(inside=True), framed=framed),
    "cut_after_event": lambda framed=True: say(TEXT, wire=cut(), framed=framed),
    "no_done": lambda: say(
        TEXT, wire=lambda frames: (frame for frame in frames if frame != DONE)
    ),
    # Content that is not what the protocol says.
    "login_page": lambda: Answer(
        headers=HTML, body=b"<title>Sign in</title><form>Password</form>"
    ),
    "bad_json": lambda: say(TEXT, wire=insert(b'data: {"choices": [{"delta"\n\n')),
    "error_event": lambda: say(TEXT, wire=insert(OVERLOADED)),
    "bad_arguments": lambda: call(("read_file", '{"path": "src/')),
    "no_choices": lambda: Answer(choices=False),
    "empty": lambda: say(""),
    "refusal": lambda: Answer(refusal="I cannot help with that."),
    "content_filter": lambda: say(TEXT[:9], finish="content_filter"),
    "length": lambda: say(TEXT[:9], finish="length"),
    # Size.
    "huge_delta": lambda mb=2: say("x" * (mb << 20), delta=mb << 20),
    "endless_line": lambda: Answer(
        wire=lambda _: chain([b'data: {"choices": [{"'], repeat(b"x" * 65536))
    ),
    "repetition": lambda token="again ": say(repeat(token)),
    "big_answer": lambda mb=10: say("0123456 " * (mb << 17), delta=256),
    "gzip": lambda text=TEXT: say(
        text, headers={"Content-Encoding": "gzip"}, wire=compress
    ),
}


def fault(kind: str, *options: Any, **named: Any) -> Answer:
    """One of FAULTS, with its options."""
    return FAULTS[kind](*options, **named)


def frames_of(answer: Answer, body: Any, turn: int) -> tuple[str, Iterable[bytes]]:
    """Content type and body of an answer: a frame an event, or parts of a JSON document."""
    if answer.body is not None:
        return "application/json", [answer.body]
    base = {
        "id": f"chatcmpl-{turn}",
        "created": 1,
        "model": body["model"],
        "object": "chat.completion",
    }
    finish = answer.finish or ("tool_calls" if answer.calls else "stop")
    calls = []
    for at, (name, value) in enumerate(answer.calls):
        function = {
            "name": name,
            "arguments": value if isinstance(value, str) else encode(value).decode(),
        }
        calls.append({"id": f"call_{turn}_{at}", "type": "function", "function": function})
    usage: dict[str, Any] | None = None
    if answer.usage:
        read, written, cached = (*answer.usage, 0)[:3]
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    if body.get("stream"):
        base["object"] = "chat.completion.chunk"
        wanted = (body.get("stream_options") or {}).get("include_usage")
        return "text/event-stream", events_of(
            answer, calls, finish, base, usage if wanted else None
        )
    text = "".join(islice(answer.deltas, 100_000))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "refusal": answer.refusal,
    }
    if calls:
        message["tool_calls"] = calls
    choices = (
        [{"index": 0, "message": message, "finish_reason": finish}]
        if answer.choices
        else []
    )
    whole = encode(base | {"choices": choices, "usage": usage})
    return "application/json", parts(whole, max(100, len(whole) >> 12))


def events_of(
    answer: Answer, calls: list[Any], finish: str, base: Any, usage: Any
) -> Iterator[bytes]:
    fragments = [fragments_of(call, at, answer.fragment) for at, call in enumerate(calls)]
    rounds = zip_longest(*fragments) if answer.interleaved else fragments
    deltas = chain(
        [{"role": "assistant", "content": ""}],
        ({"content": text} for text in answer.deltas),
        [{"refusal": answer.refusal}] if answer.refusal else [],
        ({"tool_calls": [fragment]} for turn in rounds for fragment in turn if fragment),
    )
    for delta, reason in chain(zip(deltas, repeat(None)), [({}, finish)]):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield b"data: %b\n\n" % encode(
            base | {"choices": [choice] if answer.choices else []}
        )
    if usage:
        yield b"data: %b\n\n" % encode(base | {"choices": [], "usage": usage})
    yield DONE


def fragments_of(call: dict[str, Any], at: int, size: int) -> Iterator[dict[str, Any]]:
    yield call | {"index": at, "function": call["function"] | {"arguments": ""}}
    for part in parts(call["function"]["arguments"], size):
        yield {"index": at, "function": {"arguments": part}}


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def parts(text: Any, size: int) -> list[Any]:
    return [text[at : at + size] for at in range(0, len(text), size)]
