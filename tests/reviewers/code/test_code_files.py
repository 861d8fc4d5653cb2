"""Conflict markers, sizes, executable bits and symbolic links."""

import pytest
from examples import table
from reviewers.code.code_changes import edited, new_file, reviewed, rules

from cli_guard.model import FileChange, Kind, Severity, Status

CONFLICT = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\nd\n"
DIFF3 = "<<<<<<< HEAD\nb\n||||||| 1234567\na\n=======\nc\n>>>>>>> topic\n"


@table(
    ("path", "text", "expected"),
    [
        pytest.param("a.py", CONFLICT, ["code-conflict-marker"], id="whole"),
        pytest.param("notes.txt", CONFLICT, ["code-conflict-marker"], id="whole-in-prose"),
        pytest.param("data", CONFLICT, ["code-conflict-marker"], id="no-ending"),
        pytest.param("a.c", DIFF3, ["code-conflict-marker"], id="diff3"),
        pytest.param(
            "a.c", CONFLICT.replace("\n", "\r\n"), ["code-conflict-marker"], id="crlf"
        ),
        pytest.param("a.c", CONFLICT * 2, ["code-conflict-marker"] * 2, id="two"),
        pytest.param(
            "node_modules/a.js",
            CONFLICT,
            ["code-conflict-marker"],
            id="even-in-vendored-code",
        ),
        pytest.param(
            "a.c", "x\n>>>>>>> topic\n", ["code-conflict-leftover"], id="end-only"
        ),
        pytest.param(
            "a.c", "<<<<<<< HEAD\nx\n", ["code-conflict-leftover"], id="start-only"
        ),
        pytest.param("a.md", ">>>>>>> quoted seven deep\n", [], id="markdown-quote"),
        pytest.param(
            "a.md", f"```\n{CONFLICT}```\n", ["code-conflict-example"], id="markdown-fence"
        ),
        pytest.param(
            "a.md",
            f"```\nx\n```\n{CONFLICT}",
            ["code-conflict-marker"],
            id="markdown-after-a-fence",
        ),
        pytest.param("a.rst", "Heading\n=======\n\nText\n", [], id="heading"),
        pytest.param(
            "a.rst", "".join(f"    {x}\n" for x in CONFLICT.split("\n")), [], id="indented"
        ),
        pytest.param(
            "a.diff",
            "".join(f"+{x}\n" for x in CONFLICT.split("\n")),
            [],
            id="patch-of-one",
        ),
        pytest.param("a.txt", ">>>>>>> b\n=======\n<<<<<<< a\n", [], id="wrong-order"),
        pytest.param("a.py", ">>> 1 << 2\n4\n", [], id="doctest"),
        pytest.param("a.c", "x <<<<<<< y\n", [], id="not-at-the-start"),
    ],
)
def test_conflict(path: str, text: str, expected: list[str]) -> None:
    assert rules(reviewed(new_file(path, text))) == expected


@table(
    ("added", "expected"),
    [
        pytest.param((4,), ["code-conflict-marker"], id="middle-marker"),
        pytest.param((6,), ["code-conflict-marker"], id="end-marker"),
        pytest.param((3,), [], id="line-between"),
        pytest.param((7,), [], id="line-below"),
    ],
)
def test_conflict_needs_an_added_marker(
    added: tuple[int, ...], expected: list[str]
) -> None:
    assert (
        rules(reviewed(edited("a.c", CONFLICT, *added), texts={"a.c": CONFLICT}))
        == expected
    )


def test_conflict_in_a_bare_patch() -> None:
    (finding,) = (f for f in reviewed(edited("a.c", CONFLICT, 2, 4, 6)).findings)
    assert (finding.severity, finding.line, finding.end_line) == (Severity.CRITICAL, 2, 6)


def test_conflict_in_a_test_is_for_a_human() -> None:
    (finding,) = reviewed(new_file("tests/merge/a.txt", CONFLICT)).findings
    assert finding.severity is Severity.HIGH


@table(
    ("fields", "expected"),
    [
        pytest.param(
            {"kind": Kind.BINARY, "size": 6_000_000}, ["code-large-file"], id="large-binary"
        ),
        pytest.param({"kind": Kind.BINARY, "size": 4_000_000}, [], id="below-the-limit"),
        pytest.param({"kind": Kind.LFS, "size": 6_000_000}, [], id="lfs-pointer"),
        pytest.param({"kind": Kind.BINARY}, [], id="size-unknown"),
        pytest.param(
            {"kind": Kind.BINARY, "size": 6_000_000, "old_blob": "a", "new_blob": "a"},
            [],
            id="same-blob",
        ),
    ],
)
def test_large_file(fields: dict[str, object], expected: list[str]) -> None:
    report = reviewed(FileChange("video.mp4", Status.ADDED, **fields))  # type: ignore[arg-type]
    assert rules(report) == expected


def test_large_text_is_measured_by_its_text() -> None:
    assert rules(reviewed(new_file("dump.csv", "1,2,3\n" * 900_000))) == ["code-large-file"]


@table(
    ("path", "text", "expected"),
    [
        pytest.param("README.md", "# Read me\n", ["code-executable"], id="markdown"),
        pytest.param("a.py", "x = 1\n", ["code-executable"], id="module"),
        pytest.param("a.py", "#!/usr/bin/env python3\n", [], id="script"),
        pytest.param("run.sh", "echo\n", [], id="shell-script-by-name"),
        pytest.param("gradlew", "#!/bin/sh\n", [], id="no-ending"),
    ],
)
def test_executable_text(path: str, text: str, expected: list[str]) -> None:
    assert rules(reviewed(new_file(path, text, new_mode="100755"))) == expected


@table(
    ("path", "expected"),
    [("logo.png", ["code-executable"]), ("bin/tool", []), ("tool.exe", [])],
)
def test_executable_binary(path: str, expected: list[str]) -> None:
    change = FileChange(path, Status.ADDED, kind=Kind.BINARY, new_mode="100755")
    assert rules(reviewed(change)) == expected


def test_mode_change_alone_reads_the_text() -> None:
    change = FileChange("notes.md", Status.MODIFIED, old_mode="100644", new_mode="100755")
    assert rules(reviewed(change, texts={"notes.md": "# Notes\n"})) == ["code-executable"]
    assert rules(reviewed(change)) == []


def test_file_that_was_executable_before_is_no_news() -> None:
    change = FileChange("a.md", Status.MODIFIED, old_mode="100755", new_mode="100755")
    assert rules(reviewed(change, texts={"a.md": "x\n"})) == []


@table(
    ("target", "expected"),
    [
        ("/etc/passwd", ["code-symlink"]),
        ("../../outside", ["code-symlink"]),
        ("../shared/a", []),
        ("b", []),
        ("..name/b", []),
    ],
)
def test_symlink(target: str, expected: list[str]) -> None:
    assert (
        rules(reviewed(new_file("dir/link", target, kind=Kind.SYMLINK, new_mode="120000")))
        == expected
    )
