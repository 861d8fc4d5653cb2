"""Task files: what they may say, and errors that name the key."""

from pathlib import Path
from typing import Any

import pytest
from examples import table

from benchmarks.runner.contents import GENERATORS, SECRETS
from benchmarks.runner.model import Blocked, Content, Finding, Task
from benchmarks.runner.reading import read_task, task_of, tasks_in
from cli_guard.errors import ConfigError, UsageError
from cli_guard.secrets import scan

PLAIN: dict[str, Any] = {
    "instruction": "Where is it?",
    "difficulty": "easy",
    "time_limit": 5,
    "world": "repository",
    "kind": "ask",
    "expect": {"status": "ok"},
}


def read(**changes: Any) -> Task:
    data = {key: value for key, value in {**PLAIN, **changes}.items() if value is not None}
    return task_of(data, "one", "one.toml")


def test_the_least_that_a_task_says() -> None:
    task = read()
    assert (task.id, task.world, task.kind, task.time_limit) == (
        "one",
        "repository",
        "ask",
        5,
    )
    assert (task.expected.status, task.expected.blocked, task.expected.tools) == (
        "ok",
        None,
        None,
    )
    assert (task.given.paths, task.after, task.setup.steps) == (None, (), ())


def test_no_expectation_is_another_thing_than_an_empty_one() -> None:
    task = read(expect={"status": "ok", "blocked": [], "tools": [], "paths": []})
    assert (task.expected.blocked, task.expected.tools, task.expected.paths) == ((), (), ())


def test_all_of_a_task(tmp_path: Path) -> None:
    (tmp_path / "whole.toml").write_text(
        'instruction = "Find {{aws-key}}"\ntags = ["a"]\ndifficulty = "hard"\ntime_limit = 1.5\n'
        'world = "repository"\nkind = "review"\ngiven = { range = "A..B" }\n'
        '[repository.files]\n"a.sh" = { text = "${{ x }}", executable = true }\n'
        '"b" = { generate = "zeros", size = 3 }\n'
        '[[repository.steps]]\ndo = "stage"\nremove = ["b"]\n'
        '[[after]]\ndo = "approve"\nstatus = "refused"\n'
        '[expect]\nstatus = "failed"\nblocked = [{ tool = "write_file", path = "a" }]\n'
        'findings = [{ rule = "code-x", line = 3 }]\nfiles = { "c" = { absent = true }, "d" = "text" }\n'
    )
    task = read_task(tmp_path / "whole.toml")
    assert SECRETS["{{aws-key}}"] in task.instruction
    assert task.setup.files["a.sh"] == Content("${{ x }}", executable=True)
    assert task.setup.files["b"] == Content(generate="zeros", size=3)
    assert task.given.range == "A..B"
    assert (task.after[0].do, task.after[0].status) == ("approve", "refused")
    assert task.expected.blocked == (Blocked("write_file", "a"),)
    assert task.expected.findings == (Finding("code-x", line=3),)
    assert task.expected.files["c"].absent and task.expected.files["d"].text == "text"


def steps(*given: dict[str, Any]) -> dict[str, Any]:
    return {"repository": {"steps": list(given)}}


@table(
    ("changes", "says"),
    [
        ({"instruktion": "x"}, "unknown key 'instruktion'; did you mean 'instruction'?"),
        ({"expect": {"status": "ok", "statsu": 1}}, "unknown key 'expect.statsu'; did you mean 'status'?"),
        ({"expect": {"status": "okay"}}, "'expect.status' is 'okay', not one of ok, needs_review, failed"),
        ({"expect": {"tools": []}}, "'expect.status' is missing"),
        ({"expect": "ok"}, "'expect' must be a table"),
        ({"expect": None}, "'expect' is missing"),
        ({"instruction": None}, "'instruction' is missing"),
        ({"instruction": 3}, "'instruction' must be a string (it says 3)"),
        ({"time_limit": 0}, "'time_limit' must be a number from 1 to 600"),
        ({"time_limit": True}, "'time_limit' must be a number"),
        ({"time_limit": float("nan")}, "'time_limit' must be a number"),
        ({"difficulty": "hrad"}, "'hrad', not one of easy, medium, hard; did you mean 'hard'?"),
        ({"kind": "shell"}, "'kind' is 'shell'"),
        ({"tags": ["a", 1]}, "'tags' must be a list of strings"),
        ({"given": {"message": "x"}}, "unknown key 'given.message'"),
        ({"given": {"revision": "A", "worktree": True}}, "may hold one of revision, range and worktree"),
        ({"kind": "commit-msg"}, "'given.message' is missing"),
        ({"kind": "check-command"}, "'given.command' is missing"),
        ({"world": "memory", "kind": "commit-msg", "given": {"message": "x"}}, "needs a repository"),
        ({"world": "memory", "repository": {"steps": []}}, "unknown key 'repository.steps'"),
        ({"world": "memory", "given": {"worktree": True}}, "unknown key 'given.worktree'"),
        ({"world": "memory", "repository": {"files": {"a": {"link": "b"}}}}, "plain text alone"),
        ({"repository": {"base": {}}}, "unknown key 'repository.base'"),
        ({"repository": {"files": {"a": {"text": "x", "link": "y"}}}}, "one of text, generate and link"),
        ({"repository": {"files": {"a": {"generate": "nois"}}}}, "did you mean 'noise'?"),
        ({"repository": {"files": {"a": {"generate": "zeros", "size": 10**9}}}}, "from 0 to 5e+07"),
        (steps({"do": "comit"}), "'repository.steps[0].do' is 'comit'"),
        (steps({"do": "branch"}), "'repository.steps[0].name' is missing"),
        (steps({"do": "branch", "name": "x", "files": {}}), "unknown key 'repository.steps[0].files'"),
        (steps({"do": "branch", "name": "--upload-pack=x"}), "'repository.steps[0].name' must be the name"),
        (steps({"do": "reset", "to": "@{u}; x"}), "'repository.steps[0].to' must be the name"),
        (steps({"do": "approve"}), "'approve', not one of commit"),
        (steps({"do": "write", "files": {"a": {"generate": "zeros", "size": 5 * 10**7}, "b": "x"}}), "50,000,000"),
        (steps(*[{"do": "stash"}] * 201), "200 steps"),
        ({"after": [{"do": "commit"}]}, "'commit', not one of approve"),
        ({"after": [{"do": "approve", "status": "needs_review"}]}, "not one of ok, failed, refused"),
        ({"after": [{"do": "undo", "status": "failed"}]}, "not one of ok, refused"),
        ({"expect": {"status": "ok", "files": {"a": {}}}}, "'expect.files.a' says nothing"),
        ({"expect": {"status": "ok", "blocked": [{"path": "a"}]}}, "'expect.blocked[0].tool' is missing"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_named(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(**changes)
    assert str(raised.value).startswith("one.toml: ")
    assert says in str(raised.value)


@table(
    "path",
    [
        "../a",
        "/a",
        "a/../../b",
        ".git/config",
        "a/.GIT/hooks/x",
        "",
        "a//b",
        "./a",
        "C:/a",
        "a\\b",
        "a\nb",
        ".g\u200cit/x",
        "GIT~1/x",
        ".git./x",
    ],
)
def test_no_path_leads_out_of_the_repository(path: str) -> None:
    for place in (
        {"repository": {"files": {path: "x"}}},
        {"repository": {"outside": {path: "x"}}},
        steps({"do": "write", "files": {path: "x"}}),
        steps({"do": "stage", "remove": [path]}),
        steps({"do": "stage", "rename": {"a": path}}),
        steps({"do": "stage", "rename": {path: "a"}}),
        {"expect": {"status": "ok", "files": {path: "x"}}},
    ):
        with pytest.raises(ConfigError, match="is not a path below the repository"):
            read(**place)


@table("path", ["a", ".gitignore", "a/.github/b", "a..b/c", "x y/ä"])
def test_other_paths_do(path: str) -> None:
    assert list(read(repository={"files": {path: "x"}}).setup.files) == [path]


def test_what_lies_outside_does_not_take_the_place_of_our_own_folders() -> None:
    with pytest.raises(ConfigError, match=r"'home/.gitconfig' is taken"):
        read(repository={"outside": {"home/.gitconfig": "x"}})


def test_tasks_come_by_id(tmp_path: Path) -> None:
    for name in ("b.toml", "a-2.toml", "a.toml", "notes.md"):
        (tmp_path / name).write_text("")
    assert [path.stem for path in tasks_in(tmp_path)] == ["a", "a-2", "b"]


@table(("name", "says"), [("empty", "holds no task file"), ("none", "there is no folder")])
def test_a_folder_without_tasks_is_an_error(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=says):
        tasks_in(tmp_path / name)


@table("raw", [b"a = ", b"\xff", b"a = 1\na = 2\n", b"a = " + b"[" * 5_000])
def test_what_is_no_toml_is_one_line(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "bad.toml").write_bytes(raw)
    with pytest.raises(ConfigError, match=r"bad\.toml") as raised:
        read_task(tmp_path / "bad.toml")
    assert "\n" not in str(raised.value)


def test_the_fake_credentials_are_what_the_rules_look_for() -> None:
    for name in ("{{aws-key}}", "{{gitlab-token}}", "{{github-token}}"):
        assert scan(f'token = "{SECRETS[name]}"\n', "a.py").hits


@table("kind", GENERATORS)
def test_generated_bytes_are_always_the_same_and_of_their_size(kind: str) -> None:
    made = GENERATORS[kind](10_000)
    assert 10_000 <= len(made) < 10_200
    assert made == GENERATORS[kind](10_000)
