"""What a chat shows: the answer as Markdown while it comes, without secrets and control characters.

Finished blocks are printed once and stay; the block that is still coming is drawn below them and replaced.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from cli_guard.llm.answers import clean
from cli_guard.secrets.masked_stream import open_key
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.llm.chat.keyboard import Keyboard

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A block longer than this is shown in parts; one longer than the next is drawn as plain text while it comes.
BLOCK_CHARS = 20_000
DRAWN_CHARS = 4_000
OPEN_KEYS = 8
KEY_MARK = "-----BEGIN"
# Lines of the terminal that are left to the status below the block.
STATUS_LINES = 6
WORKING = "working (Ctrl-C ends the turn)"


class Display:
    """The output of a chat on one stream; `env` decides about colours and the kind of terminal."""

    def __init__(self, stream: TextIO, env: Mapping[str, str], *, colored: bool) -> None:
        from rich.console import Console

        plain: Any = {"highlight": False, "markup": False, "emoji": False}
        self.console = Console(file=stream, no_color=not colored, _environ=env, **plain)
        self.is_plain = self.console.is_dumb_terminal or not self.console.is_terminal
        self.status: Callable[[], list[str]] = list
        self._live: Any = None
        self._text = ""
        self._block = ""
        self._seen: tuple[str, ...] = ()

    def say(self, text: str, style: str = "") -> None:
        """Print lines of our own above what is being drawn; long lines are not cut."""
        from rich.text import Text

        if text:
            shown = Text(
                printable(text.expandtabs(4), keep_newlines=True).rstrip("\n"), style
            )
            self.console.print(shown, soft_wrap=True)

    def step(self, text: str) -> None:
        """Print one thing that is done, on one line; what the model has said before it is complete."""
        self.finish()
        self.say(f"- {' '.join(redact(text).split())[:300]}", "dim")

    def feed(self, piece: str) -> None:
        """Take a piece of an answer: print the blocks that it completes, and draw the rest."""
        self._text += piece
        begun = self._block.rpartition("\n")[2]
        self._block += piece
        # Only such a line can end a block, and a block is read from its beginning to find its end.
        lines = f"{begun}{piece}".split("\n")[:-1]
        may_end = any(not each.strip() or FENCE.match(each) for each in lines)
        while (may_end or (lines and len(self._block) > BLOCK_CHARS)) and (
            end := block_end(self._block)
        ):
            block = self._block[:end]
            self._block = self._block[end:]
            self._print_block(block)

    def finish(self) -> None:
        """Print what is left of an answer."""
        block = self._block
        self._block = ""
        self._text = ""
        whole = without_open_key(block)
        self._print_block(whole)
        if whole != block:
            self.say("[a private key without an end is not shown]")

    def safe_text(self) -> str:
        """Return what has come of the answer, safe to keep."""
        return clean(without_open_key(self._text))

    @contextmanager
    def busy(self, keyboard: "Keyboard") -> Iterator[None]:
        """Draw the answer while a turn runs; what is typed meanwhile goes to the queue of the keyboard."""
        from rich.live import Live

        self.status = keyboard.describe
        self._text = self._block = ""
        live = Live(
            console=self.console,
            get_renderable=self._draw,
            transient=True,
            auto_refresh=False,
        )
        with keyboard.reading(self.tick), nullcontext() if self.is_plain else live:
            self._live = None if self.is_plain else live
            try:
                yield
            finally:
                text = self._text
                self.finish()
                self._text = text
                self._live = None

    def tick(self) -> None:
        """Draw again if there is something new; called often while a turn runs."""
        seen = (self._block, *self.status())
        if self._live and seen != self._seen:
            self._seen = seen
            self._live.refresh()

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Stop drawing, for a question."""
        live = self._live
        if live:
            live.stop()
        try:
            yield
        finally:
            if live:
                live.start(refresh=True)

    def _print_block(self, block: str) -> None:
        from rich.markdown import Markdown

        # What is drawn below must no longer have it.
        self.tick()
        if self.is_plain:
            self.say(clean(block))
        elif text := clean(block):
            # The address of a link is shown: its text may say another one.
            self.console.print(Markdown(text, hyperlinks=False), "")

    def _draw(self) -> Any:
        """Return the end of the block that is coming, as far as it may be shown, and the status."""
        from rich.console import Group
        from rich.markdown import Markdown
        from rich.segment import SegmentLines
        from rich.text import Text

        text = clean(presentable(self._block))
        room = max(self.console.height - STATUS_LINES, 3)
        parts: list[Any] = []
        if text:
            # Only the end of a long block is drawn, which is quick.
            is_long = len(text) > DRAWN_CHARS
            content = (
                Text(text[-DRAWN_CHARS:]) if is_long else Markdown(text, hyperlinks=False)
            )
            lines = self.console.render_lines(content, pad=False)
            parts.append(SegmentLines(lines[-room:], new_lines=True))
        for line in (*self.status()[-STATUS_LINES + 1 :], WORKING):
            parts.append(
                Text(printable(redact(line)), "dim", no_wrap=True, overflow="ellipsis")
            )
        return Group(*parts)


def block_end(text: str) -> int:
    """Return where the first block of a text in Markdown ends, 0 if it is not complete.

    A block ends with a blank line or with its fence, and never inside a private key.
    """
    fence = ""
    at = 0
    said = False
    last = text.rfind("\n") + 1
    # Without a key, or with so many that looking for the end of each would take minutes.
    is_free = not 0 < text.count(KEY_MARK) <= OPEN_KEYS
    for line in text.split("\n")[:-1]:
        at += len(line) + 1
        said = said or bool(line.strip())
        mark = FENCE.match(line)
        if fence:
            ends = bool(mark) and mark[1].startswith(fence) and not line.strip(" `~\r")  # type: ignore[index]
        else:
            fence = mark[1] if mark else ""
            ends = said and not line.strip()
        is_long = at == last > BLOCK_CHARS
        if (ends or is_long) and (
            is_free or at > 2 * BLOCK_CHARS or open_key(text[:at]) is None
        ):
            return at
    return 0


def without_open_key(text: str) -> str:
    """Return a text up to the first private key that has no end."""
    for _ in range(OPEN_KEYS):
        begins = open_key(text)
        if begins is None:
            return text
        text = text[:begins]
    # Nobody writes so many; the next look would take as long as all of these.
    return text.partition(KEY_MARK)[0]


def presentable(block: str) -> str:
    """Return what may be shown of a block that is still coming: no half word, quotation or key, which may be secret."""
    text = without_open_key(block)
    whole = max(text.rfind(" "), text.rfind("\n"), text.rfind("\t")) + 1
    begins = text.rfind("\n", 0, whole) + 1
    last = text[begins:whole]
    if last.count('"') % 2:
        whole = begins + last.rfind('"')
    return text[:whole]
