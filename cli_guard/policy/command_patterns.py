"""`[commands]` of the configuration: patterns over the words of a command, each with its verdict and examples."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from cli_guard.commands.model import Pattern
from cli_guard.model import Decision
from cli_guard.policy.schema import Section


class CommandPattern(Section):
    """A pattern over the words of a command, with examples that are tested when it is read."""

    pattern: str = Field(
        min_length=1,
        max_length=500,
        description="Words of one command; * matches anything.",
    )
    reason: str = Field(
        default="", max_length=300, description="The reason, shown with the verdict."
    )
    match: tuple[str, ...] = Field(default=(), description="Commands that it must match.")
    not_match: tuple[str, ...] = Field(
        default=(), description="Commands that it must not match."
    )

    def as_pattern(self, decision: Decision) -> Pattern:
        """Return it as the judge takes it."""
        return Pattern(self.pattern, decision, self.reason)


Written = Annotated[
    CommandPattern,
    BeforeValidator(
        # A single pattern stands for a table.
        lambda entry: {"pattern": entry} if isinstance(entry, str) else entry,
        json_schema_input_type=str | CommandPattern,
    ),
]


class CommandsSection(Section):
    """`[commands]`: verdicts on commands by patterns over their words; the strictest applies."""

    allow: tuple[Written, ...] = Field(
        default=(), description="Patterns that are allowed. Only in the user's own file."
    )
    review: tuple[Written, ...] = Field(
        default=(), description="Patterns that need review."
    )
    deny: tuple[Written, ...] = Field(default=(), description="Patterns that are denied.")

    @cached_property
    def problems(self) -> Mapping[CommandPattern, str]:
        """Return the patterns to allow that have a mistake, each with what is wrong: they allow nothing."""
        checked = ((entry, find_mistake(entry, Decision.ALLOW)) for entry in self.allow)
        return {entry: problem for entry, problem in checked if problem}

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Return the patterns that count, the strictest first."""
        allow = [entry for entry in self.allow if entry not in self.problems]
        lists = {
            Decision.DENY: self.deny,
            Decision.REVIEW: self.review,
            Decision.ALLOW: allow,
        }
        return tuple(
            entry.as_pattern(decision)
            for decision, entries in lists.items()
            for entry in entries
        )

    @model_validator(mode="after")
    def check_strict(self) -> Self:
        """Check the patterns that deny or ask: without one, more would be allowed. Raises ValueError."""
        for decision, entries in (
            (Decision.DENY, self.deny),
            (Decision.REVIEW, self.review),
        ):
            for entry in entries:
                if problem := find_mistake(entry, decision):
                    raise ValueError(problem)
        return self


def find_mistake(entry: CommandPattern, decision: Decision) -> str | None:
    """Say why a pattern does not parse, or with which of its examples it disagrees; None if it is right."""
    from cli_guard.commands.engine import example_matches
    from cli_guard.commands.patterns import check_pattern

    pattern = entry.as_pattern(decision)
    try:
        check_pattern(pattern)
    except ValueError as error:
        return str(error)
    for example in (*entry.match, *entry.not_match):
        if example_matches(pattern, example) is not (example in entry.match):
            says = "does not match" if example in entry.match else "matches"
            return f"the pattern {pattern.text!r} {says} its example {example[:100]!r}"
    return None
