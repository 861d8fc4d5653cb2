"""The scratch world: made by Git from data, the same every time, and nothing of the user in it."""

import os
from pathlib import Path

import pytest
from examples import table

from benchmarks.runner.model import Content, Setup, Step
from benchmarks.runner.scratch import Scratch, hash_files
from cli_guard.errors import CliGuardError


def text(words: str) -> Content:
    return Content(words)


def make(folder: Path, *steps: Step, **setup: dict[str, Content]) -> Scratch:
    return Scratch.create(folder, Setup(steps=steps, **setup), dict(os.environ), git=True)  # type: ignore[arg-type]


def test_every_verb_does_what_it_says(tmp_path: Path) -> None:
    scratch = make(
        tmp_path / "x",
        Step("branch", name="feature", to="HEAD"),
        Step("switch", name="feature"),
        Step(
            "commit",
            files={"b": text("2\n")},
            message="Two\n\nMore.",
            author="Grace Hopper",
        ),
        Step("tag", name="v1", message="First"),
        Step("commit", files={"c": text("3\n")}, message="Three"),
        Step("reset", to="HEAD~1"),
        Step("switch", name="main"),
        Step("branch", name="gone", to="feature"),
        Step("delete-branch", name="gone"),
        Step("merge", name="feature", message="Merge feature"),
        Step("stage", rename={"a": "sub/a"}, files={"run": Content("x", executable=True)}),
        Step("write", files={"loose": text("l\n")}),
        files={"a": text("1\n")},
        outside={"beside/it.txt": text("o\n")},
    )
    log = scratch.git("log", "--all", "--format=%s|%an|%ae|%aI|%D").splitlines()
    assert log[0].startswith(
        "Merge feature|Ada|ada@example.org|2026-03-02T09:10:00+00:00|HEAD -> main"
    )
    assert "Two|Grace Hopper|grace.hopper@example.org" in log[1] and "tag: v1" in log[1]
    assert "Three" in scratch.git("reflog", "--all", "--format=%s")
    assert not any(line.startswith("Three") for line in log)
    assert "gone" not in scratch.git("branch")
    assert scratch.git("status", "--short").splitlines() == [
        "A  run",
        "R  a -> sub/a",
        "?? loose",
    ]
    assert "100755" in scratch.git("ls-files", "-s", "run")
    assert (scratch.folder / "beside" / "it.txt").read_text() == "o\n"
    scratch.do(Step("stash"))
    assert scratch.git("status", "--short") == "?? loose\n"


def test_a_conflict_is_left_as_git_leaves_it(tmp_path: Path) -> None:
    scratch = make(
        tmp_path / "x",
        Step("branch", name="other", to="HEAD"),
        Step("commit", files={"a": text("mine\n")}, message="Mine"),
        Step("switch", name="other"),
        Step("commit", files={"a": text("theirs\n")}, message="Theirs"),
        Step("merge", name="main", message="Merge"),
        files={"a": text("1\n")},
    )
    assert scratch.git("status", "--short").splitlines() == ["UU a"]
    assert (scratch.root / "a").read_text().startswith("<<<<<<< HEAD\n")


def test_two_worlds_have_the_same_commits(tmp_path: Path) -> None:
    steps = (
        Step("commit", files={"b": Content(generate="noise", size=99)}, message="Two"),
        Step("tag", name="t"),
    )
    ids = [
        make(tmp_path / name, *steps, files={"a": text("1\n")}).git(
            "rev-parse", "HEAD", "t"
        )
        for name in "xy"
    ]
    assert ids[0] == ids[1]


def test_nothing_of_the_user_gets_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-commit", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    config = tmp_path / "config"
    config.write_text(
        f"[core]\n hooksPath = {hooks}\n autocrlf = true\n[commit]\n gpgsign = true\n[user]\n name = Mallory\n"
        f'[init]\n defaultBranch = trunk\n templateDir = {hooks}\n[filter "x"]\n clean = false\n'
    )
    plain = make(tmp_path / "x", files={"a": text("1\n")}).git("rev-parse", "HEAD")
    for name, value in {
        "GIT_CONFIG_GLOBAL": str(config),
        "HOME": str(tmp_path),
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_AUTHOR_DATE": "1999-01-01T00:00:00Z",
        "GIT_AUTHOR_NAME": "Mallory",
        "GIT_TEMPLATE_DIR": str(hooks),
        "LC_ALL": "de_DE.UTF-8",
        "AWS_PROFILE": "production",
    }.items():
        monkeypatch.setenv(name, value)
    scratch = make(tmp_path / "y", files={"a": text("1\n")})
    assert scratch.git("rev-parse", "HEAD") == plain
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config", "hooks", "x", "y"]
    assert not {"AWS_PROFILE", "GIT_DIR", "GIT_INDEX_FILE"} & set(scratch.env)


@table(
    "step",
    [
        Step("write", files={"way/b": text("x")}),
        Step("stage", rename={"a": "way/a"}),
        Step("stage", remove=("way/treasure",)),
    ],
)
def test_a_link_leads_no_step_out(tmp_path: Path, step: Step) -> None:
    with pytest.raises(CliGuardError, match="is behind a link"):
        make(
            tmp_path / "x",
            Step("commit", files={"way": Content(link="../beside")}, message="A link"),
            step,
            files={"a": text("1\n")},
            outside={"beside/treasure": text("gold\n")},
        )
    assert [path.name for path in (tmp_path / "x" / "beside").iterdir()] == ["treasure"]


def test_a_file_takes_the_place_of_a_link(tmp_path: Path) -> None:
    link = {"a": Content(link="../treasure")}
    scratch = make(
        tmp_path / "x",
        Step("write", files={"a": text("x")}),
        files=link,
        outside={"treasure": text("gold")},
    )
    assert (scratch.root / "a").read_text() == "x"
    assert (scratch.folder / "treasure").read_text() == "gold"


def test_a_step_that_git_refuses_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CliGuardError, match="nowhere"):
        make(tmp_path / "x", Step("switch", name="nowhere"))


def test_a_print_sees_every_change(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_text("1")
    (tmp_path / "l").symlink_to("a")
    seen = [hash_files(tmp_path)]
    for change in (
        lambda: (tmp_path / "a").write_text("2"),
        lambda: (tmp_path / "a").chmod(0o600),
        lambda: (tmp_path / "sub" / "empty").mkdir(),
        lambda: ((tmp_path / "l").unlink(), (tmp_path / "l").symlink_to("b")),
        lambda: (tmp_path / "a").unlink(),
    ):
        change()
        seen.append(hash_files(tmp_path))
        assert seen[-1] != seen[-2]
    assert set(hash_files(tmp_path, without=("sub",))) == {"l"}
