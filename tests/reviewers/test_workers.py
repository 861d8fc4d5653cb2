"""Copies of the process: every line comes, a copy that dies leaves the others, and none is left behind."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from cli_guard.reviewers.workers import available, idle, lines_of


def children() -> set[int]:
    """The processes that this one has started and not waited for."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return set(map(int, file.read().split()))


def test_every_line_of_every_copy_comes_with_its_number() -> None:
    def work(number: int) -> Iterator[bytes]:
        for line in range(3_000):
            yield f"{number} {line} ".encode() + b"x" * (line % 700)

    found: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for number, line in lines_of(3, work):
        name, count, rest = line.split(b" ")
        assert int(name) == number
        assert rest == b"x" * (int(count) % 700)
        found[number].append(int(count))
    assert all(lines == list(range(3_000)) for lines in found.values())


def test_this_process_does_a_part_of_its_own() -> None:
    def work(number: int) -> Iterator[bytes]:
        yield str(os.getpid()).encode()

    found = {number: int(line) for number, line in lines_of(3, work, joins=True)}
    assert found[0] == os.getpid()
    assert len(set(found.values())) == 3


def test_there_is_always_a_processor() -> None:
    assert 1 <= idle() <= available()


def test_a_copy_that_fails_or_dies_ends_early_and_alone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def work(number: int) -> Iterator[bytes]:
        yield b"first"
        if number == 0:
            raise ValueError("a copy says nothing of its own")
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        yield b"second"

    found = sorted(lines_of(3, work))
    assert found == [(0, b"first"), (1, b"first"), (2, b"first"), (2, b"second")]
    assert capfd.readouterr() == ("", "")


def test_whoever_stops_early_leaves_no_copy_behind() -> None:
    def endless(number: int) -> Iterator[bytes]:
        while True:
            yield b"more"

    before = children()
    lines = lines_of(2, endless)
    assert next(lines)[1] == b"more"
    assert len(children() - before) == 2
    lines.close()
    assert children() == before


def test_a_process_with_another_thread_is_not_copied() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert available() == 1
    finally:
        stop.set()
        thread.join()
