"""The parts of the supervisor that can be looked at alone: frames, logs, what is kept of output, process trees."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from watching import eventually

from cli_guard.execution.processes.supervisor import process_tree
from cli_guard.execution.processes.supervisor.streams import (
    KEPT_BYTES,
    KeptOutput,
    Log,
)
from cli_guard.execution.processes.supervisor.wire import (
    JSON,
    STDERR,
    STDOUT,
    Frames,
    frame,
    message,
    parse_frame,
)
from cli_guard.execution.shell import send_signal

KINDS = st.sampled_from([JSON, STDOUT, STDERR])


@given(st.lists(st.tuples(KINDS, st.binary(max_size=200))), st.integers(1, 50))
def test_frames_come_whole_however_they_are_cut(
    sent: list[tuple[bytes, bytes]], step: int
) -> None:
    stream = b"".join(frame(kind, data) for kind, data in sent)
    frames = Frames()
    heard = [
        each
        for at in range(0, len(stream), step)
        for each in frames.feed(stream[at : at + step])
    ]
    assert heard == sent


@given(st.lists(st.tuples(KINDS, st.binary(max_size=20)), min_size=2))
def test_who_stops_listening_misses_nothing(sent: list[tuple[bytes, bytes]]) -> None:
    frames = Frames()
    first = next(frames.feed(b"".join(frame(kind, data) for kind, data in sent)))
    assert [first, *frames.feed(b"")] == sent


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_a_message_says_what_it_was_told(told: dict[str, object]) -> None:
    [(kind, content)] = Frames().feed(message(told))
    assert (kind, parse_frame(content)) == (JSON, told)


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, KEPT_BYTES)), max_size=8))
def test_the_beginning_and_the_end_are_kept(chunks: list[tuple[int, int]]) -> None:
    kept = KeptOutput()
    data = b"".join(bytes([byte]) * size for byte, size in chunks)
    for byte, size in chunks:
        kept.add(bytes([byte]) * size)
    told = kept.as_message()
    head = str(told["head"]).encode("latin-1")
    tail = str(told["tail"]).encode("latin-1")
    assert told["total"] == len(data)
    assert head == data[:KEPT_BYTES]
    assert tail == data[KEPT_BYTES:][-KEPT_BYTES:]


def test_a_log_is_moved_at_its_limit(tmp_path: Path) -> None:
    log = Log(str(tmp_path / "log"), limit=10)
    for number in range(5):
        log.write(b"%d23456\n" % number)
    log.close()
    assert (tmp_path / "log.1").read_bytes() == b"223456\n323456\n"
    assert (tmp_path / "log").read_bytes() == b"423456\n"
    assert log.rotated
    assert log.problem is None


def test_a_full_disk_ends_the_log_and_not_the_command() -> None:
    log = Log("/dev/full")
    log.write(b"x")
    assert log.problem == "No space left on device"
    log.write(b"y")


@table("name", ["no/such/folder/log", "link"])
def test_a_log_that_cannot_be_opened_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    log = Log(str(tmp_path / name))
    log.write(b"x")
    assert log.problem
    assert not (tmp_path / "elsewhere").exists()


@table("table", [False, True])
def test_a_process_tree_is_found(monkeypatch: pytest.MonkeyPatch, table: bool) -> None:
    monkeypatch.setattr(process_tree, "LINUX", process_tree.LINUX and not table)
    with subprocess.Popen(
        ("bash", "-c", "sleep 60 & sleep 60 & (sleep 60; true)")
    ) as process:
        assert eventually(lambda: len(process_tree.descendants(process.pid)) == 4)
        members = process_tree.descendants(process.pid)
        send_signal([process.pid, *members], 9)
        process.wait(30)
    assert eventually(lambda: all(process_tree.identity(pid) is None for pid in members))


@table("table", [False, True])
def test_an_identity_is_that_of_one_process(
    monkeypatch: pytest.MonkeyPatch, table: bool
) -> None:
    monkeypatch.setattr(process_tree, "LINUX", process_tree.LINUX and not table)
    mine = process_tree.identity(os.getpid())
    time.sleep(0.05)
    assert mine == process_tree.identity(os.getpid())
    with subprocess.Popen(("sleep", "60")) as other:
        assert process_tree.identity(other.pid) not in (None, mine)
        other.kill()
        # Ended, and not yet reaped.
        assert eventually(lambda: process_tree.identity(other.pid) is None)
    assert process_tree.identity(2**22 + 1) is None
