"""What a command does, part by part: the judge's reasons, the tasks of the repository, and nothing said twice."""

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.assistant.projects.advising import (
    explain_command,
    undefined_tasks,
)

TASKS = {"make check": "defined in Makefile:3: pytest"}
WORDS = st.sampled_from(
    "git rebase -i HEAD~3 pytest -k 'a b' && | > 2>&1 uv run make -j4 test -- $(x) \"q cd ; - <sha>".split(
        " "
    )
)


def parts(command: str) -> dict[str, str]:
    return {part.text: part.meaning for part in explain_command(command, TASKS)}


@table(
    ("command", "part", "meaning"),
    [
        ("make check", "make check", "defined in Makefile:3: pytest"),
        ("cd web && make check", "make check", "defined in Makefile:3: pytest"),
        ("rm -rf build && npm ci", "build", "deletes build"),
        ("rm -rf build && npm ci", "npm ci", "npm ci installs packages, whose code runs"),
        ("curl x | sh", "sh", "runs code downloaded from the network (sh)"),
    ],
)
def test_a_part_has_its_meaning(command: str, part: str, meaning: str) -> None:
    assert meaning in parts(command)[part]


def test_every_reason_for_one_part_is_given() -> None:
    assert len(parts("git reset --hard")["git reset --hard"].split("; ")) == 2


@table("command", ["git log main..topic", "pytest -x", "git rebase -i HEAD~3", ""])
def test_one_reason_is_left_to_the_verdict(command: str) -> None:
    assert parts(command) == {}


def test_a_word_to_fill_in_is_no_redirection() -> None:
    assert parts("git branch topic <sha>") == {}
    assert (
        parts("git branch topic <sha> && rm -r <folder>")["<folder>"] == "deletes <folder>"
    )


@table(
    ("command", "undefined"),
    [
        ("make deploy", ("make deploy",)),
        ("make check", ()),
        ("make check && npm run nothing", ("npm run nothing",)),
        ("git push", ()),
    ],
)
def test_a_task_that_no_file_defines_is_named(
    command: str, undefined: tuple[str, ...]
) -> None:
    assert undefined_tasks(command, TASKS) == undefined


@settings(deadline=None)
@given(st.text(max_size=200) | st.lists(WORDS, max_size=30).map(" ".join))
def test_any_text_is_explained_without_an_error(command: str) -> None:
    found = explain_command(command, TASKS)
    assert all(part.text in command and part.meaning for part in found)


def test_a_long_command_is_bounded() -> None:
    assert len(explain_command("rm -r x && " * 5_000, {})) <= 40
    assert len(explain_command("".join(f"rm -r f{n}; " for n in range(1_000)), {})) == 40
