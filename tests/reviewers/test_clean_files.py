"""What is remembered of a file is forgotten as soon as anything changes that it depends on."""

import sqlite3
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import guard
from repositories import Repo, key

from cli_guard.model import Decision, FileChange, Hunk, Kind, RefUpdate, Status
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.review.push import PushPlan
from cli_guard.review.request import Push
from cli_guard.reviewers import clean_files
from cli_guard.reviewers.cache import NAME, Cache
from cli_guard.reviewers.clean_files import CleanFiles, is_clean, key_of, pack, unpack
from cli_guard.reviewers.per_file import AGAIN, NOTHING, FileResult
from cli_guard.reviewers.registry import examining
from cli_guard.reviewers.review_input import Limits, ReviewInput

LIMITS = Limits()
CHANGE = FileChange(
    "a.py",
    Status.RENAMED,
    old_path="b.py",
    old_mode="100644",
    new_mode="100644",
    old_blob="1" * 40,
    new_blob="2" * 40,
    size=7,
    hunks=(Hunk(1, 1, ("a", "b"), ("c",)), Hunk(9, 8, (), ("d", "e"))),
)
OTHER: dict[str, object] = {
    "path": "c.py",
    "status": Status.COPIED,
    "kind": Kind.BINARY,
    "old_path": None,
    "read_as": "c.sh",
    "old_mode": "100755",
    "new_mode": "100755",
    "old_blob": "3" * 40,
    "new_blob": "3" * 40,
    "size": None,
    "hunks": CHANGE.hunks[:1],
    "tail": (),
}


@table("name", [each.name for each in fields(FileChange)])
def test_every_fact_of_a_change_is_in_its_key(name: str) -> None:
    assert key_of(replace(CHANGE, **{name: OTHER[name]}), LIMITS) != key_of(CHANGE, LIMITS)


@table("name", [each.name for each in fields(Limits)])
def test_every_limit_is_in_the_key(name: str) -> None:
    other = replace(LIMITS, **{name: getattr(LIMITS, name) + 1})
    assert key_of(CHANGE, other) != key_of(CHANGE, LIMITS)


HUNKS = st.lists(
    st.builds(
        Hunk,
        st.integers(0, 3),
        st.integers(0, 3),
        st.lists(st.sampled_from(["", "a", "b"]), max_size=3).map(tuple),
        st.lists(st.sampled_from(["", "a", "b"]), max_size=3).map(tuple),
    ),
    max_size=3,
).map(tuple)


@settings(deadline=None, max_examples=300)
@given(HUNKS, HUNKS)
def test_two_changes_share_a_key_only_if_they_are_the_same(
    one: tuple[Hunk, ...], other: tuple[Hunk, ...]
) -> None:
    keys = {key_of(replace(CHANGE, hunks=hunks), LIMITS) for hunks in (one, other)}
    assert (len(keys) == 1) is (one == other)


def test_what_examines_is_in_the_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = key_of(CHANGE, LIMITS)
    package = tmp_path / "cli_guard"
    (package / "rules").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "rules" / "a.toml").write_text("one = 1\n")
    monkeypatch.setattr(clean_files, "PACKAGE", package)
    seen = [before]
    for edit in (
        lambda: None,
        lambda: (package / "rules" / "a.toml").write_text("one = 2\n"),
        lambda: (package / "rules" / "a.toml").rename(package / "rules" / "b.toml"),
        lambda: (package / "new.py").write_text(""),
        lambda: monkeypatch.setattr(clean_files.metadata, "version", lambda name: "0.0"),
        lambda: monkeypatch.setattr(clean_files.sys, "version", "4.0"),
    ):
        edit()
        clean_files.identity.cache_clear()
        seen.append(key_of(CHANGE, LIMITS))
    monkeypatch.undo()
    clean_files.identity.cache_clear()
    assert len(set(seen)) == len(seen)
    assert key_of(CHANGE, LIMITS) == before


def test_a_push_believes_no_row(committed: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any program of the user can write rows; a commit is quicker with them, what leaves the machine is examined."""
    clean = pack(dict.fromkeys((each.name for each in examining()), NOTHING))
    monkeypatch.setattr(Cache, "get", lambda _, keys: dict.fromkeys(keys, clean))
    clean_files.identity()
    committed.write("keys.py", f'KEY = "{key()}"\n' + "x = 1\n" * 8_000)
    committed.git("add", "-A")
    assert committed.look().decision is Decision.ALLOW
    tip = committed.commit("Add keys")
    update = RefUpdate("refs/heads/main", tip, "refs/heads/main", "0" * 40)
    assert committed.look(Push(PushPlan((update,)), "origin")).decision is Decision.DENY


def test_without_ids_nothing_tells_the_texts() -> None:
    assert key_of(replace(CHANGE, new_blob=None), LIMITS) is None
    assert key_of(CHANGE, LIMITS, "rules") != key_of(CHANGE, LIMITS)
    assert key_of(replace(CHANGE, old_blob=None), LIMITS) is None
    assert key_of(replace(CHANGE, old_blob=None, old_mode="000000"), LIMITS) is not None


@table(
    ("reviewer", "result", "kept"),
    [
        ("code", NOTHING, True),
        ("docs", FileResult(again=True, weights=(2.0, 3.0)), True),
        ("refactor", FileResult(again=True), True),
        ("refactor", FileResult(again=True, cacheable=False), False),
        ("secrets", AGAIN, False),
        ("commands", AGAIN, False),
    ],
)
def test_what_may_be_kept(reviewer: str, result: FileResult, kept: bool) -> None:
    assert is_clean(result) is kept
    assert (reviewer in unpack(pack({reviewer: result}))) is kept


@table("value", [b"", b"[]", b"7", b'{"code": 1}', b'{"code": [true, ["x"]]}', b"\xff"])
def test_anything_else_tells_nothing(value: bytes) -> None:
    assert unpack(value) == {}


def test_a_file_that_changes_is_examined_again_and_the_others_are_not(
    tmp_path: Path,
) -> None:
    def remembered(new: dict[str, str]) -> set[str]:
        changes = changes_between({}, new)
        subject = ReviewInput("pre-commit", changes, SnapshotContents({}, new))
        with_ids = [
            replace(change, new_blob=f"{hash(new[change.path]):040x}")
            for change in subject.changes
        ]
        clean = CleanFiles(Cache(tmp_path), LIMITS)
        files = dict(enumerate(with_ids))
        known = dict(clean.recall(files))
        nothing = {each.name: NOTHING for each in examining()}
        clean.keep({number: nothing for number in files if number not in known})
        return {files[number].path for number in known}

    assert remembered({"a.py": "A = 1\n", "b.py": "B = 1\n"}) == set()
    assert remembered({"a.py": "A = 1\n", "b.py": "B = 2\n"}) == {"a.py"}
    assert remembered({"a.py": "A = 1\n", "b.py": "B = 2\n"}) == {"a.py", "b.py"}


def big(repo: Repo, last: str) -> None:
    """Stages a change that is big enough to be taken file by file."""
    for number in range(30):
        lines = "".join(f"VALUE_{number}_{line} = {line * number}\n" for line in range(900))
        repo.write(f"lib/module_{number}.py", f'"""Values."""\n\n{lines}')
    repo.write("lib/last.py", last)
    repo.git("add", "-A")


def test_a_second_review_says_the_same_and_what_is_new(committed: Repo) -> None:
    def report(*options: str) -> dict[str, object]:
        found: dict[str, object] = guard(
            committed, "review", "--format", "json", *options
        ).json
        del found["timings_ms"]
        return found

    big(committed, "def run(name):\n    eval(name)\n")
    first = report()
    path = next(committed.path.rglob(NAME))
    with closing(sqlite3.connect(path)) as file:
        rows = file.execute("SELECT count(*) FROM examined").fetchone()[0]
    assert rows >= 31
    assert report() == first
    assert report("--no-cache") == first
    committed.write("lib/module_3.py", "def run(name):\n    eval(name)\n")
    committed.git("add", "-A")
    changed = report()
    assert changed == report("--no-cache")
    assert len(changed["findings"]) == len(first["findings"]) + 1  # type: ignore[arg-type]
