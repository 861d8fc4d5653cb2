"""The labelled changes of fixtures/drift: every line that becomes false is reported, and no other."""

from pathlib import Path
from typing import Any

import pytest
from repositories import Repo
from reviewers.drift.labelled import FOLDER, compare, drift_in, read_cases
from sampling import choose_rows

FILES = sorted(FOLDER.glob("*.toml"))
# Cases that are not answered as their labels say, each with the reason. One that passes has to be taken off.
KNOWN = {
    "timeout-int-to-timedelta": "a literal of the wrong type in an example is not seen",
    "go-fetch-id-int-to-string": "a literal of the wrong type in an example is not seen",
    "ts-tags-string-to-array": "a literal of the wrong type in an example is not seen",
    "fastapi-method-changed": "the method of a route is not compared",
    "rust-server-new-port-to-addr": "the type of a parameter with another name in a table of calls is not seen",
    "optparse-ruby-format-default": "the default is in a hash away from the option",
    "go-drift-exit-one-to-two": "two exit codes change places, and nothing says which of them a line means",
    "contributing-names-deleted-requirements": "requirements files are no documents, nor what names them",
    "click-default-format": "the default is said without the word default",
    "exit-code-named-constant": "an exit code that is a constant is not read",
    "exit-code-in-help-text": "an exit code of a number in a list without the word exit is not seen",
    "keyword-parameter-renamed": "the paragraph names the parameter without its function",
    "rust-builder-default-changed": "a default that a builder sets is not read",
    "java-timeout-constant-asciidoc": "a row of AsciiDoc over several lines is not read as one",
    "php-config-key-renamed": "a key of a variable of PHP with any name is not read",
    "kotlin-parameter-default": "a default in words (on, an error) is not seen",
    "python-unit-changed": "the unit of a number is not known",
    "python-format-choice-removed": "a docstring that names the value without the option is not seen",
    "upload-limit-other-notation": "a comment that says what the limit is for in other words is not seen",
    "poll-interval-in-words": "a number of minutes in words, in a method of a scheduler, is not read",
    "shell-exit-codes-man": "exit codes in a shell script's manual page and comments are not seen",
    "csharp-retry-default": "a property of C# with a default is not read",
    "script-deleted": "a path of another machine that ends in the deleted file is not seen",
    "compose-service-renamed": "a renamed service in exec, in prose and in a comment is not seen",
    "terraform-variable-required": "a default that is gone is not seen",
    "shell-backup-dir-default": "a default path in a list of AsciiDoc and in an example is not seen",
    "rake-task-renamed": "a task in a namespace of Rake is not read",
    "default-of-other-subcommand": "an option with the same name in another subcommand is not told apart",
    "route-split-into-prefix": "a route that is put together of a prefix and a path seems gone",
}


def kinds_of(case: dict[str, Any]) -> list[object]:
    """What changes, and in which language; whether a line becomes false by it, and in which kind of document."""
    is_false = bool(case["expect"])
    languages = [(Path(path).suffix, is_false) for path in case["after"]]
    documents = [Path(each["path"]).suffix for each in case["expect"]]
    is_deleted = "deleted" in case
    return [(case["kind"], is_false, is_deleted), *languages, *documents]


ALL = [case for path in FILES for case in read_cases(path)]
CHOSEN = [case["id"] for case in choose_rows(ALL, kinds_of, lambda case: case["id"])]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_labelled_changes(path: Path, tmp_path: Path, isolated: dict[str, str]) -> None:
    failed = {}
    chosen = [case for case in read_cases(path) if case["id"] in CHOSEN]
    for case in chosen:
        outcome = compare(
            case, drift_in(Repo.create(tmp_path / case["id"], isolated), case)
        )
        if not outcome.is_right:
            failed[case["id"]] = outcome
    known = {case["id"] for case in chosen} & set(KNOWN)
    assert {name: outcome for name, outcome in failed.items() if name not in known} == {}
    assert known <= set(failed), f"these pass now: {known - set(failed)}"


def test_the_cases_are_of_the_form_that_is_described() -> None:
    cases = [case for path in FILES for case in read_cases(path)]
    assert len({case["id"] for case in cases}) == len(cases) >= 50
    assert set(KNOWN) <= {case["id"] for case in cases}
    for case in cases:
        texts = {**case["before"], **case.get("after", {})}
        for wanted in case["expect"]:
            assert (
                sum(wanted["text"] in line for line in texts[wanted["path"]].split("\n"))
                == 1
            ), case["id"]
