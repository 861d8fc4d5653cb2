"""What is said while checks run: nothing at first, then one line at a terminal, few lines elsewhere."""

import io

from examples import table

from cli_guard.execution.checks.running import ERASE, PLAIN_SECONDS, WIDTH, CheckProgress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def told(
    out: io.StringIO,
    *seconds: float,
    running: tuple[str, ...] = ("tests",),
    dumb: bool = False,
) -> str:
    clock = Clock()
    progress = CheckProgress(out, 3, clock=clock, dumb=dumb)
    for each in seconds:
        clock.now = 100.0 + each
        progress.tick(running, 1)
    progress.end()
    return out.getvalue()


@table("out", [io.StringIO, Screen])
def test_what_is_quick_says_nothing(out: type[io.StringIO]) -> None:
    assert told(out(), 0, 0.5, 0.9) == ""
    assert told(out(), 5, running=()) == ""


def test_a_terminal_has_one_line_that_goes_again() -> None:
    shown = told(Screen(), 0.5, 1.0, 1.2, 12)
    line = "cli-guard: 1 of 3 checks done, running tests ({} s)"
    assert shown == "".join(
        f"{ERASE}{each}" for each in (line.format(1), line.format(12), "")
    )


def test_the_line_fits_and_holds_nothing_that_acts() -> None:
    shown = told(Screen(), 2, running=("a\x1b[2J" * 30,))
    assert all(len(line) <= WIDTH for line in shown.split(ERASE))
    assert "\x1b[2J" not in shown


@table(("out", "dumb"), [(io.StringIO(), False), (Screen(), True)])
def test_elsewhere_there_are_few_lines(out: io.StringIO, dumb: bool) -> None:
    shown = told(out, *range(int(PLAIN_SECONDS) + 10), dumb=dumb)
    assert shown == (
        "cli-guard: 1 of 3 checks done, running tests (1 s)\n"
        f"cli-guard: 1 of 3 checks done, running tests ({PLAIN_SECONDS + 1:.0f} s)\n"
    )


def test_a_reader_that_is_gone_stops_nothing() -> None:
    assert told(Gone(), 2, 100, 1_000) == ""
