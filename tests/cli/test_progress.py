"""How far a review has come is told at a terminal alone, after a while, and nothing of it stays."""

import io

from cli_guard.cli.progress import AFTER_SECONDS, EVERY_SECONDS, Progress, progress


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True

    def screen(self) -> str:
        """The line that is seen, as a terminal makes it of what was written."""
        line: list[str] = []
        at = 0
        for char in self.getvalue():
            if char == "\r":
                at = 0
                continue
            line[at : at + 1] = [char]
            at += 1
        return "".join(line).rstrip()


def test_a_short_review_says_nothing() -> None:
    stream, now = Terminal(), [0.0]
    line = Progress(stream, lambda: now[0])
    for done in range(100):
        now[0] = done * AFTER_SECONDS / 101
        line.update(done, 100)
    line.remove()
    assert stream.getvalue() == ""


def test_a_long_one_says_how_far_it_is_and_takes_it_back() -> None:
    stream, now = Terminal(), [0.0]
    line = Progress(stream, lambda: now[0])
    now[0] = AFTER_SECONDS
    line.update(500, 5_000)
    assert stream.screen() == "cli-guard: 10 % of 5,000 files"
    line.update(1_000, 5_000)
    assert "20 %" not in stream.getvalue()
    now[0] += EVERY_SECONDS
    line.update(4_999, 5_000)
    assert stream.screen() == "cli-guard: 99 % of 5,000 files"
    line.update(5_000, 5_000)
    assert stream.screen() == ""
    written = stream.getvalue()
    line.remove()
    assert stream.getvalue() == written


def test_one_that_is_interrupted_takes_it_back() -> None:
    stream, now = Terminal(), [0.0]
    line = Progress(stream, lambda: now[0])
    now[0] = 5.0
    line.update(1, 2)
    line.remove()
    assert stream.screen() == ""


def test_only_a_terminal_is_told() -> None:
    with progress(io.StringIO()) as told:
        assert told is None
    with progress(Terminal()) as told:
        assert told is not None
        told(1, 2)


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    class Gone(Terminal):
        def write(self, text: str) -> int:
            raise OSError("no such device")

    now = [0.0]
    line = Progress(Gone(), lambda: now[0])
    now[0] = 5.0
    line.update(1, 2)
    line.update(2, 2)
    line.remove()


def test_other_things_than_files_are_named() -> None:
    stream = Terminal()
    now = [0.0]
    line = Progress(stream, lambda: now[0])
    now[0] = AFTER_SECONDS
    line.update(500, 5_000, "commits")
    assert stream.screen() == "cli-guard: 10 % of 5,000 commits"
