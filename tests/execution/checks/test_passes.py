"""What has passed is not run again, and what has changed, or failed, is."""

from pathlib import Path

from checks_world import World
from examples import table

from cli_guard.execution.checks.passes import key_of, program
from cli_guard.model import Decision
from cli_guard.policy.checks import CheckConfig, PlannedCheck
from cli_guard.reviewers.cache import NAME


def planned(tree: str = "a" * 40, **table: object) -> PlannedCheck:
    config = CheckConfig.model_validate({"command": "make test", **table})
    return PlannedCheck("t", config, tree, None, "d" * 64)


@table(
    ("table", "env", "same"),
    [
        ({}, {}, True),
        ({"stage": "pre-commit"}, {}, True),
        ({"files": ["*.py"]}, {}, True),
        ({"timeout_seconds": 5}, {}, True),
        ({}, {"TERM": "dumb"}, True),
        ({"command": "make check"}, {}, False),
        ({"environment": {"CI": "1"}}, {}, False),
        ({"working_dir": "web"}, {}, False),
        ({"needs_port": "auto"}, {}, False),
        ({"needs_port": "auto", "server": "npm start"}, {}, False),
        ({"pass_environment": ["LANG"]}, {}, False),
        ({}, {"PATH": "/elsewhere"}, False),
    ],
)
def test_what_makes_it_another_run(
    table: dict[str, object], env: dict[str, str], same: bool
) -> None:
    given = {"PATH": "/usr/bin"}
    assert (key_of(planned(**table), given | env) == key_of(planned(), given)) is same


def test_the_tree_and_what_is_passed_on_count() -> None:
    assert key_of(planned("b" * 40), {}) != key_of(planned(), {})
    passing = planned(pass_environment=["URL"])
    assert key_of(passing, {"URL": "one"}) != key_of(passing, {"URL": "two"})


@table(
    "command",
    [
        "tool --flag",
        "CI=1 tool",
        "./tool x",
        "tool 'a b' # c",
        "tool\nother",
        "tool && other",
    ],
)
def test_another_version_of_the_program_is_another_run(
    tmp_path: Path, command: str
) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    found = program(command, str(tmp_path))
    assert (found is not None) is ("./" not in command)
    tool.write_text("#!/bin/sh\necho 2\n")
    if found:
        assert program(command, str(tmp_path)) != found


@table("command", ["'unclosed", "", "#", "A=1", "no-such-program", "x\0"])
def test_a_command_without_a_program_that_is_known(command: str, tmp_path: Path) -> None:
    assert program(command, str(tmp_path)) is None


def test_a_failure_is_run_again_and_a_check_may_ask_for_that(world: World) -> None:
    world.check(command=f"'{world.leaves('failed')}; test -e {world.trace}.ok'")
    assert world.review().decision is Decision.DENY
    world.trace.with_name("trace.ok").touch()
    for _ in range(3):
        assert world.review().decision is Decision.ALLOW
    assert world.runs == ["failed", "failed"]
    world.check(command=f"'{world.leaves('again')}'", cache="false")
    for _ in range(2):
        world.review()
    assert world.runs[2:] == ["again", "again"]


def test_a_state_folder_that_cannot_be_written_costs_only_the_next_run(
    world: World,
) -> None:
    world.check(command=f"'{world.leaves('ran')}'")
    (world.repo.path / ".git" / "cli-guard" / NAME).mkdir(parents=True)
    for _ in range(2):
        assert world.review().decision is Decision.ALLOW
    assert world.runs == ["ran", "ran"]
