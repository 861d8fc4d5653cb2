"""Show the output of a command while it runs, each stream on its own; and data about it. Secrets are masked."""

import codecs
import json
import threading
from types import TracebackType
from typing import TextIO

from cli_guard.cli.io import Io, put
from cli_guard.secrets.masked_stream import MaskedStream
from cli_guard.secrets.printable import json_value, printable
from cli_guard.secrets.redact import redact

# An unfinished line is shown after so many seconds of silence: it may be a prompt. At a terminal of the command
# every key must be echoed at once.
SILENCE = 0.2
ECHO = 0.02
# The thread may be waiting for a reader that no longer reads.
LEAVE_SECONDS = 1.0
STREAMS = ("stdout", "stderr")


class Streams:
    """Both streams of a command, masked and printable; with `raw` unchanged except for control characters."""

    def __init__(self, io: Io, *, raw: bool = False, typed: bool = False) -> None:
        self._io = io
        self._raw = raw
        self._silence = ECHO if typed else SILENCE
        # A character may arrive in two pieces.
        self._whole = {
            name: codecs.getincrementaldecoder("utf-8")("surrogateescape")
            for name in STREAMS
        }
        self._passing = {name: MaskedStream() for name in STREAMS}
        self._lock = threading.Lock()
        self._came = threading.Event()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._show_what_waits, daemon=True)

    def __enter__(self) -> "Streams":
        if not self._raw:
            self._watch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._came.set()
        if self._watch.is_alive():
            self._watch.join(LEAVE_SECONDS)
        # The reader may be gone; that error was raised before.
        if isinstance(error, OSError):
            return
        for name in STREAMS:
            if self._raw:
                self._write_raw(
                    name,
                    self._whole[name].decode(b"", True).encode("utf-8", "surrogateescape"),
                )
            else:
                self._write(name, self._passing[name].end())

    def __call__(self, name: str, data: bytes) -> None:
        """Show the output of a stream ("stdout", "stderr"). Raises OSError if the reader is gone."""
        if self._raw:
            if self._stream(name).isatty():
                data = self._whole[name].decode(data).encode("utf-8", "surrogateescape")
            self._write_raw(name, data)
            return
        with self._lock:
            self._write(name, self._passing[name].feed(data))
        self._came.set()

    def _stream(self, name: str) -> TextIO:
        return self._io.stdout if name == "stdout" else self._io.stderr

    def _write_raw(self, name: str, data: bytes) -> None:
        out, err = (data, b"") if name == "stdout" else (b"", data)
        self._io.write_bytes(out, err)

    def _write(self, name: str, text: str) -> None:
        if text:
            put(self._stream(name), text)

    def _show_what_waits(self) -> None:
        while not self._ended.is_set():
            self._came.wait()
            self._came.clear()
            while not self._ended.is_set() and self._came.wait(self._silence):
                self._came.clear()
            with self._lock:
                for name, passing in self._passing.items():
                    try:
                        self._write(name, passing.idle())
                    except OSError:
                        # The next write meets the same error.
                        return


def one_line(text: str) -> str:
    """Format a text about a command on one line, without secrets."""
    return printable(redact(text))


def redact_data(value: object) -> object:
    """Mask the secrets in every text of plain data."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact_data(each) for each in value]
    return value


def say_json(io: Io, data: object) -> None:
    """Print data as JSON, without secrets."""
    io.say(json.dumps(json_value(redact_data(data)), indent=2, allow_nan=False))
