"""The advice that is printed: a command that is proposed is never denied, a saved pattern lifts its own command."""

import functools
import re
import shlex
from collections.abc import Iterator

import labelled_commands
from examples import table

from cli_guard.commands import Context, judge
from cli_guard.commands.floors import ALTERNATIVES
from cli_guard.commands.model import Pattern
from cli_guard.commands.programs import read_table
from cli_guard.model import Decision
from cli_guard.rules.catalog import load_all
from cli_guard.rules.tables import programs

QUOTED = re.compile(r"`([^`]+)`")


@functools.cache
def saved_patterns() -> list[tuple[labelled_commands.Labelled, str]]:
    """The labelled commands that ask and can be saved, with their patterns; two seconds, so not at import."""
    return [
        (case, saved)
        for case in labelled_commands.every()
        if case.verdict is Decision.REVIEW
        and (saved := judge(case.command, case.context).savable)
    ]


def alternatives_of(name: str) -> Iterator[str]:
    for spec in read_table(name, examples=True).every():
        yield spec.alternative
        yield from (fact.alternative for fact in spec.options.values() if fact.match)


@table("name", programs())
def test_a_proposed_command_of_a_table_is_never_denied(name: str) -> None:
    denied = [
        each
        for each in alternatives_of(name)
        if each and judge(each).verdict is Decision.DENY
    ]
    assert denied == []


def test_a_proposal_of_the_floors_is_never_denied() -> None:
    assert [
        each for each in ALTERNATIVES.values() if judge(each).verdict is Decision.DENY
    ] == []


def test_a_command_in_a_remedy_is_never_denied() -> None:
    proposed = {
        each for rule in load_all().values() for each in QUOTED.findall(rule.remedy)
    }
    assert proposed
    assert {each for each in proposed if judge(each).verdict is Decision.DENY} == set()


def test_a_saved_pattern_lifts_its_command() -> None:
    assert len(saved_patterns()) > 50
    for case, saved in saved_patterns():
        patterns = (Pattern(saved, Decision.ALLOW),)
        lifted = Context(
            git_config=case.context.git_config, names=case.context.names, patterns=patterns
        )
        # A rule for a program without a table lifts only words of the project.
        command = saved.replace(" *", " x") if saved.endswith(" *") else case.command
        assert judge(command, lifted).verdict is Decision.ALLOW, (case.command, saved)


def test_a_saved_pattern_lifts_no_longer_command() -> None:
    for case, saved in saved_patterns():
        # Only a program without a table is allowed with any words of the project.
        assert "*" not in shlex.split(saved) or saved.removesuffix(" *") in shlex.split(
            case.command
        ), saved
        longer = f"{case.command} ../other"
        asks = judge(longer, case.context).verdict is not Decision.ALLOW
        if asks and labelled_commands.PLAIN.fullmatch(case.command):
            with_it = Context(
                patterns=(Pattern(saved, Decision.ALLOW),), names=case.context.names
            )
            assert judge(longer, with_it).verdict is not Decision.ALLOW, (longer, saved)
