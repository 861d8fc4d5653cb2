"""What a person types in a chat: lines with history and completion, and lines that wait while a turn runs."""

import codecs
import os
import re
import select
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from cli_guard.errors import CliGuardError
from cli_guard.runtime import user_state
from cli_guard.secrets.redact import redact
from cli_guard.state.files import make_folder, open_state

FILE = "chat-history"
FILE_BYTES = 1_000_000
# Keys that are pressed while a question comes up belong to what was being typed before: so long it must be quiet.
QUIET_SECONDS = 0.3
TICK_SECONDS = 0.05
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)?")


class Keyboard:
    """The input of a chat. `words` returns what is completed. `queue` are the lines that wait."""

    def __init__(
        self,
        stdin: TextIO,
        stdout: TextIO,
        env: Mapping[str, str],
        words: Callable[[], Iterable[str]],
    ) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.typed = ""
        self.queue: deque[str] = deque()
        self._words = words
        self._folder = user_state(env)
        self._editor: Any = None
        self._stop = threading.Event()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self, mark: str) -> str:
        """Return the next line or lines of the person: from the queue, or typed now.

        What was half typed while a turn ran can be finished. Raises EOFError for Ctrl-D, KeyboardInterrupt.
        """
        if self.queue:
            return self.queue.popleft()
        self._editor = self._editor or self._open_editor()
        default = self.typed
        self.typed = ""
        return str(self._editor.prompt(f"{mark}> ", default=default))

    def describe(self) -> list[str]:
        """Return the lines that wait, and the one that is being typed, for the status of a turn."""
        typed = [f"> {self.typed}"] if self.typed else []
        return [*(f"queued: {line}" for line in self.queue), *typed]

    @contextmanager
    def reading(self, on_tick: Callable[[], None]) -> Iterator[None]:
        """Take what is typed in the meantime into the queue, line by line; Ctrl-C stays a signal.

        `on_tick` is called some times a second, in the thread that reads.
        """
        import termios
        import tty

        terminal = self.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSADRAIN)
            self._on_tick = on_tick
            self._start()
            yield
        finally:
            self._end()
            self._take_typed(0)
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def ask(self, question: str) -> str:
        """Ask, within `reading`, and return the line that is typed from then on, "" at its end (Ctrl-D).

        What was typed before is queued, also the rest of a line that is being typed as the question comes.
        """
        import termios

        terminal = self.stdin.fileno()
        self._end()
        before = termios.tcgetattr(terminal)
        try:
            while self._take_typed(QUIET_SECONDS):
                pass
            asking = list(before)
            asking[3] |= termios.ICANON | termios.ECHO
            termios.tcsetattr(terminal, termios.TCSAFLUSH, asking)
            self.stdout.write(question)
            self.stdout.flush()
            return self.stdin.readline()
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            self._start()

    def _start(self) -> None:
        def read_on() -> None:
            while not self._stop.is_set():
                self._take_typed(TICK_SECONDS)
                self._on_tick()

        self._stop.clear()
        self._thread = threading.Thread(target=read_on, daemon=True)
        self._thread.start()

    def _end(self) -> None:
        self._stop.set()
        self._thread.join()

    def _take_typed(self, seconds: float) -> bool:
        """Take what is typed within some seconds; return whether there was anything."""
        terminal = self.stdin.fileno()
        try:
            if not select.select([terminal], [], [], seconds)[0]:
                return False
            data = os.read(terminal, 4_096)
        except OSError:
            data = b""
        if not data:
            # The terminal is gone.
            self._stop.set()
        for sign in ESCAPES.sub("", self._decoder.decode(data)):
            if sign in "\r\n":
                if self.typed.strip():
                    self.queue.append(self.typed.strip())
                self.typed = ""
            elif sign in "\x7f\b":
                self.typed = self.typed[:-1]
            elif sign == "\x15":
                self.typed = ""
            elif sign.isprintable():
                self.typed += sign
        return bool(data)

    def _open_editor(self) -> Any:
        """Build the line editor: Enter sends, Alt-Enter begins another line."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.filters import Condition
        from prompt_toolkit.input import create_input
        from prompt_toolkit.key_binding import KeyBindings
        from prompt_toolkit.output import create_output

        keys = KeyBindings()

        @keys.add("escape", "enter")
        def begin_line(event: Any) -> None:
            event.current_buffer.insert_text("\n")

        editor: Any = PromptSession(
            history=open_history(self._folder),
            completer=WordCompleter(lambda: sorted(self._words()), WORD=True),
            complete_while_typing=Condition(
                lambda: editor.default_buffer.text.startswith("/")
            ),
            key_bindings=keys,
            input=create_input(self.stdin),
            output=create_output(self.stdout),
        )
        return editor


def open_history(folder: Path | None) -> Any:
    """Return the lines of former chats, in a file of mode 0600 in the user's state folder, without secrets."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class MaskedHistory(FileHistory):
        def store_string(self, string: str) -> None:
            with suppress(OSError):
                super().store_string(redact(string))

    with suppress(OSError, CliGuardError, TypeError):
        path = folder / FILE  # type: ignore[operator]  # without a home folder nothing is kept
        make_folder(path.parent)
        if path.exists() and path.stat().st_size > FILE_BYTES:
            path.replace(path.with_suffix(".old"))
        os.close(open_state(path, os.O_WRONLY | os.O_CREAT))
        return MaskedHistory(str(path))
    return InMemoryHistory()
