"""`diff` and `ls` written again: the edit is right for any two texts, and GNU's own in most cases."""

import random
import subprocess
import tempfile
from pathlib import Path

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from shell_worlds import world
from watching import cpu_seconds

from cli_guard.assistant import sandbox as shell

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\xff\r\n", b"\n"]), max_size=12)


@given(
    old=LINES,
    new=LINES,
    form=st.sampled_from(["-u", "-U0", "-U1", ""]),
    ended=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_changes_make_the_new_text_of_the_old(
    old: list[bytes], new: list[bytes], form: str, ended: bool
) -> None:
    before = b"".join(old)
    after = b"".join(new) if ended else b"".join(new).removesuffix(b"\n")
    ran = shell.run(f"diff {form} a b", world({"a": before, "b": after}))
    assert ran.exit_code == (before != after)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a")
        path.write_bytes(before)
        if before != after:
            command = [
                "patch",
                "--binary",
                "--force",
                *([] if form else ["--normal"]),
                str(path),
            ]
            subprocess.run(command, input=ran.stdout, check=True, capture_output=True)
        assert (path.read_bytes() if path.exists() else b"") == after


def edited(seed: int) -> tuple[bytes, bytes]:
    """Two texts that look like source code before and after an edit."""
    chance = random.Random(seed)
    words = [
        b"def f():\n",
        b"    return 1\n",
        b"\n",
        b"    x = 2\n",
        b"}\n",
        b"# note\n",
        b"class A:\n",
    ]
    old = [chance.choice(words) for _ in range(chance.randrange(1, 40))]
    new = list(old)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(new) + 1)
        if chance.random() < 0.5:
            new[at : at + chance.randrange(3)] = [
                chance.choice(words) for _ in range(chance.randrange(3))
            ]
        else:
            new[at:at] = [b"new %d\n" % chance.randrange(5)]
    return b"".join(old), b"".join(new)[: chance.choice((None, -1))]


@table("option", ["", "-u", "-w", "-q"])
def test_the_same_as_gnu_diff(option: str, tmp_path: Path) -> None:
    different = 0
    for seed in range(60):
        old, new = edited(seed)
        (tmp_path / "a").write_bytes(old)
        (tmp_path / "b").write_bytes(new)
        command = ["diff", *option.split(), "a", "b"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        ran = shell.run(" ".join(command), world({"a": old, "b": new}))
        assert ran.exit_code == done.returncode
        different += without_times(ran.stdout) != without_times(done.stdout)
    # Of several shortest edits GNU may take another; the change it makes is the same.
    assert different <= 6


def without_times(raw: bytes) -> list[bytes]:
    return [
        line.split(b"\t")[0] if line[:4] in (b"--- ", b"+++ ") else line
        for line in raw.split(b"\n")
    ]


def test_texts_of_any_size_are_compared_in_bounds() -> None:
    big = b"".join(b"%d\n" % (n * 7919 % 10_007) for n in range(60_000))
    other = b"".join(b"%d\n" % (n * 104_729 % 10_007) for n in range(60_000))
    patient = shell.Limits(seconds=300)
    with cpu_seconds(6):
        ran = shell.run(
            "diff a b | tail -1",
            world({"a": big, "b": other, "c": b"x\n" * 90_000}, limits=patient),
        )
    assert ran.exit_code == 0


@table("options", ["-l", "-la", "-lh", "-lS", "-lR", "-ld"])
def test_the_long_form_has_the_columns_of_gnu(options: str, tmp_path: Path) -> None:
    files = {
        "a.txt": b"x" * 5,
        "bb.txt": b"y" * 123_456,
        "d/c": b"z",
        ".h": b"",
        "e.sh": b"" * 3,
    }
    for name, raw in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(raw)
    for folder in (tmp_path, tmp_path / "d"):
        folder.chmod(0o755)
    for name in files:
        (tmp_path / name).chmod(0o644)
    done = subprocess.run(
        ["ls", *options.split()],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        env={"LC_ALL": "C", "PATH": "/bin:/usr/bin"},
    )
    mine = shell.run(f"ls {options}", world(files)).stdout
    assert facts(mine) == facts(done.stdout)


def facts(listing: bytes) -> list[tuple[str, ...]]:
    """What is no matter of the machine: not the owner, the time, and what a folder or the total takes."""
    found = []
    for line in listing.decode().splitlines():
        words = line.split()
        if len(words) < 8 or words[-1] == "..":
            found.append(tuple(words[:1] if words[:1] == ["total"] else words[-1:]))
            continue
        at = next(
            place for place, word in enumerate(words) if word[0] in "d-" and len(word) == 10
        )
        size = words[at + 4] if words[at][0] == "-" else ""
        found.append((words[at], size, words[-1]))
    return [row for row in found if row != ("..",)]


@table(
    ("command", "code", "stdout"),
    [
        ("ls -i", 2, b""),
        ("ls --sort=size", 2, b""),
        ("diff -y a b", 2, b""),
        ("diff -U x a b", 2, b""),
        ("diff -u a", 2, b""),
        ("diff a a", 0, b""),
        (
            "diff d e",
            1,
            b"Only in d: x\nCommon subdirectories: d/y and e/y\nOnly in e: z\n",
        ),
        (
            "diff --color=never -rq d e",
            1,
            b"Only in d: x\nFiles d/y/f and e/y/f differ\nOnly in e: z\n",
        ),
        ("diff bin a", 2, b"Binary files bin and a differ\n"),
        ("ls --group-directories-first", 2, b""),
        ("ls -t --color=never d", 0, b"x\ny\n"),
    ],
)
def test_what_is_not_written_again_is_an_error_and_the_rest_is_right(
    command: str, code: int, stdout: bytes
) -> None:
    files = {
        "a": b"A\n",
        "b": b"B\n",
        "bin": b"\0",
        "d/x": b"",
        "d/y/f": b"1",
        "e/y/f": b"2",
        "e/z": b"",
    }
    ran = shell.run(command, world(files))
    assert (ran.exit_code, ran.stdout) == (code, stdout), ran.shown
    assert code != 2 or stdout or b"[error] " in ran.stderr
