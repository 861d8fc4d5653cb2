"""The audit log: nothing is lost, and what is changed behind its back is noticed."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.state.audit import AuditLog

WRITER = """
import sys
from pathlib import Path
from cli_guard.state.audit import AuditLog
trail = AuditLog(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    trail.append({"writer": sys.argv[2], "number": number})
"""


def trail(folder: Path, entries: int = 5) -> AuditLog:
    made = AuditLog(folder)
    for number in range(entries):
        made.append({"number": number, "text": "naïve \ud800 \u2028"})
    return made


def rewrite(made: AuditLog, change: Any) -> None:
    lines = made.path.read_bytes().splitlines(keepends=True)
    made.path.write_bytes(b"".join(change(lines)))


def swapped(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2], lines[1], *lines[3:]]


def test_every_line_holds_the_hash_of_the_one_before(tmp_path: Path) -> None:
    made = trail(tmp_path)
    assert [entry["number"] for entry in made.entries()] == [0, 1, 2, 3, 4]
    assert (made.verify().entries, made.verify().problem) == (5, None)


def test_a_verification_numbers_the_lines_by_their_hashes(tmp_path: Path) -> None:
    made = trail(tmp_path, 3)
    hashes = [
        hashlib.sha256(line).hexdigest() for line in made.path.read_bytes().splitlines()
    ]
    assert made.verify().numbers == {each: number for number, each in enumerate(hashes, 1)}
    # The last is the head, which `audit.head` names.
    assert (tmp_path / "audit.head").read_text().strip() == list(made.verify().numbers)[-1]
    rewrite(made, lambda lines: [lines[0], lines[2]])
    assert made.verify().numbers == {hashes[0]: 1}


def test_an_empty_trail_holds(tmp_path: Path) -> None:
    assert AuditLog(tmp_path / "none").verify().problem is None
    assert list(AuditLog(tmp_path / "none").entries()) == []


@table(
    ("change", "line"),
    [
        (lambda lines: [lines[0].replace(b"0", b"7", 1), *lines[1:]], "line 2"),
        (
            lambda lines: [
                *lines[:2],
                lines[2].replace(b'"number": 2', b'"number": 9'),
                *lines[3:],
            ],
            "line 4",
        ),
        (
            lambda lines: [*lines[:-1], lines[-1].replace(b'"number": 4', b'"number": 9')],
            "line 5",
        ),
        (lambda lines: [*lines[:2], *lines[3:]], "line 3"),
        (swapped, "line 2"),
        (lambda lines: lines[1:], "line 1"),
        (lambda lines: lines[:-1], ": line 4 was changed, or lines after line 4 are gone"),
        (lambda lines: lines[:-3], "line 2"),
        (lambda lines: [], ": lines after line 0 are gone"),
        (lambda lines: [*lines[:2], b"garbage\n", *lines[2:]], "line 3"),
        (lambda lines: [*lines[:2], b"\xff\xfe\n", *lines[2:]], "line 3"),
        (lambda lines: [*lines, lines[-1]], "line 6"),
        (
            lambda lines: [*lines[:3], lines[3].replace(b"\n", b"\r\n"), *lines[4:]],
            "line 5",
        ),
        (lambda lines: [*lines, b"[" * 100_000 + b"\n"], "line 6"),
    ],
    ids=[
        *(
            "first edited",
            "middle edited",
            "last edited",
            "one taken out",
            "two swapped",
            "first cut",
            "last cut",
        ),
        *(
            "tail cut",
            "emptied",
            "garbage between",
            "bytes between",
            "one repeated",
            "line end",
            "deep nesting",
        ),
    ],
)
def test_a_change_is_noticed(tmp_path: Path, change: Any, line: str) -> None:
    made = trail(tmp_path)
    rewrite(made, change)
    problem = made.verify().problem
    assert problem is not None
    assert line in f": {problem}"


@table(
    "change",
    [lambda lines: lines[:-2], swapped, lambda lines: []],
    ids=["cut", "swap", "emptied"],
)
def test_going_on_afterwards_hides_nothing(tmp_path: Path, change: Any) -> None:
    made = trail(tmp_path)
    rewrite(made, change)
    made.append({"number": 5})
    made.append({"number": 6})
    assert made.verify().problem is not None


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_changed_byte_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    made = trail(tmp_path_factory.mktemp("trail"), 3)
    raw = bytearray(made.path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(0, 255).filter(lambda value: value != raw[at]))
    made.path.write_bytes(bytes(raw))
    assert made.verify().problem is not None


def test_a_missing_head_heals(tmp_path: Path) -> None:
    made = trail(tmp_path)
    (tmp_path / "audit.head").unlink()
    assert made.verify().problem is None
    made.append({"number": 5})
    assert (made.verify().entries, made.verify().problem) == (6, None)
    rewrite(made, lambda lines: lines[:-1])
    assert made.verify().problem is not None


def test_killed_between_the_two_writes(tmp_path: Path) -> None:
    made = trail(tmp_path)
    before = (tmp_path / "audit.head").read_bytes()
    made.append({"number": 5})
    (tmp_path / "audit.head").write_bytes(before)
    assert made.verify().problem is None
    made.append({"number": 6})
    assert (made.verify().entries, made.verify().problem) == (7, None)


def test_a_half_written_line_spoils_no_other(tmp_path: Path) -> None:
    made = trail(tmp_path)
    made.path.write_bytes(made.path.read_bytes() + b'{"number": ')
    made.append({"number": 6})
    entries = list(made.entries())
    assert entries[-1]["number"] == 6
    assert "unreadable" in entries[-2]
    assert made.verify().problem is not None


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    command = (sys.executable, "-c", WRITER, str(tmp_path))
    writers = [subprocess.Popen((*command, str(name), "40")) for name in range(4)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    made = AuditLog(tmp_path)
    assert (made.verify().entries, made.verify().problem) == (160, None)
    for name in range(4):
        assert [e["number"] for e in made.entries() if e["writer"] == str(name)] == list(
            range(40)
        )


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs Linux to see the memory used"
)
def test_an_append_does_not_read_the_trail(tmp_path: Path) -> None:
    made = trail(tmp_path, 2)
    whole = made.path.read_bytes()
    made.path.write_bytes(whole)
    os.truncate(
        made.path, 200_000_000
    )  # sparse: one line of zeros, and whoever reads it needs the memory
    with made.path.open("ab") as file:
        file.write(b"\n" + whole)
    script = (
        "import sys; from pathlib import Path; from cli_guard.state.audit import AuditLog\n"
        "AuditLog(Path(sys.argv[1])).append({'number': 9})\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    )
    command = (sys.executable, "-c", script, str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100_000
    with made.path.open("rb") as file:
        file.seek(-400, os.SEEK_END)
        assert json.loads(file.read().splitlines()[-1])["number"] == 9


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_an_os_error(tmp_path: Path) -> None:
    made = trail(tmp_path)
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="denied"):
        made.append({"number": 5})
    tmp_path.chmod(0o700)
    assert made.verify().problem is None


def test_a_full_disk_leaves_the_trail_whole(tmp_path: Path) -> None:
    made = trail(tmp_path)
    script = (
        "import resource, signal, sys; from pathlib import Path; from cli_guard.state.audit import AuditLog\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "size = Path(sys.argv[1], 'audit.jsonl').stat().st_size + 30\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))\n"
        "try: AuditLog(Path(sys.argv[1])).append({'number': 9})\n"
        "except OSError as error: print(error.strerror)"
    )
    command = (sys.executable, "-c", script, str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "File too large"
    assert (made.verify().entries, made.verify().problem) == (5, None)
