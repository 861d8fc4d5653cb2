"""The table of forgeries: each function forges in a real repository, and `verify` must refuse what comes of it."""

from collections.abc import Callable
from dataclasses import dataclass

from forging.world import World
from repositories import Done

# Forges, and gives the range to verify where it is not the usual one.
Act = Callable[[World], str | None]


@dataclass(frozen=True)
class Forgery:
    """A forgery and what its refusal must say."""

    act: Act
    says: str
    # Whether what HEAD records must be refused by the commit hook as well.
    at_hook: bool
    # The exit codes with which `verify` may refuse.
    codes: tuple[int, ...]
    # Whether a push was judged, in the function itself.
    at_server: bool
    # Whether it takes some seconds.
    slow: bool

    @property
    def name(self) -> str:
        return f"{self.act.__module__.rpartition('.')[2]}.{self.act.__name__}"


FORGERIES: list[Forgery] = []


def forgery(
    says: str = "",
    *,
    at_hook: bool = False,
    codes: tuple[int, ...] = (1, 2, 3),
    at_server: bool = False,
    slow: bool = False,
) -> Callable[[Act], Act]:
    """Put a function into the table."""

    def register(act: Act) -> Act:
        FORGERIES.append(Forgery(act, says, at_hook, codes, at_server, slow))
        return act

    return register


def one_text(done: Done) -> str:
    """What was shown, whatever the width of the terminal."""
    return " ".join(done.all.split())


def assert_plain(done: Done) -> None:
    """No traceback, no internal error, and nothing that rewrites a terminal or a log."""
    assert "Traceback" not in done.all, done.all
    assert done.code != 4, done.all
    assert not {each for each in done.all if ord(each) < 32 and each not in "\n\t"}, repr(
        done.all
    )


def assert_refused(done: Done, says: str = "", codes: tuple[int, ...] = (1, 2, 3)) -> None:
    assert_plain(done)
    assert done.code in codes, done.all
    assert done.code == 0 or "cli-guard: verified" not in done.all.splitlines(), done.all
    assert says in one_text(done), done.all
