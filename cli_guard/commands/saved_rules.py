"""A pattern that a person may save: what it covers, and what only looks like it."""

import shlex
from collections.abc import Iterator
from dataclasses import replace

from cli_guard.commands import Context, judge
from cli_guard.commands.effects.values import PYTHON_TOOLS
from cli_guard.commands.lifting import CODE, HOSTS
from cli_guard.commands.model import Pattern, Profile
from cli_guard.commands.patterns import check_pattern, shape_of
from cli_guard.commands.programs import table
from cli_guard.commands.saving import NEVER
from cli_guard.errors import UsageError
from cli_guard.model import Decision

# Programs of which a wide rule still says what they do: a place to send to, or to fetch from.
NARROWED = frozenset(("git", "curl", "wget"))
SHOWN = 3
ELSEWHERE = "/elsewhere/x"
ANOTHER_HOST = "https://other.example.org"


def check_rule(text: str, context: Context) -> tuple[list[str], list[str]]:
    """Return commands that a pattern newly allows, and near ones that it does not.

    Raises UsageError for a pattern that is too wide, or that allows nothing.
    """
    pattern = Pattern(text, Decision.ALLOW)
    try:
        check_pattern(pattern)
    except ValueError as error:
        raise UsageError(str(error)) from error
    without = replace(context, profile=Profile.STRICT, patterns=())
    lifted = replace(without, patterns=(pattern,))

    def allows(command: str) -> bool:
        return judge(command, lifted).verdict is Decision.ALLOW

    shape = shape_of(text)
    if shape.open and shape.words[0][0].rpartition("/")[2] in NEVER - NARROWED:
        raise UsageError(
            f"{text!r} is too wide: what such a command does depends on its words, name them"
        )
    exact, *_ = variants_of(text)
    if judge(exact, without).verdict is Decision.ALLOW:
        raise UsageError(f"{exact!r} is allowed already: no rule is needed")
    covered = [each for each in variants_of(text) if allows(each)][:SHOWN]
    if not covered:
        answer = judge(exact, lifted)
        raise UsageError(f"a rule {text!r} would allow nothing: {exact!r} {answer.reason}")
    near = [each for each in near_misses_of(text, exact) if not allows(each)][:SHOWN]
    return covered, near


def variants_of(text: str) -> Iterator[str]:
    """Yield commands that a pattern should cover, the plainest first."""
    shape = shape_of(text)
    words = ["x".join(word) if len(word) > 1 else word[0] for word in shape.words]
    exact = shlex.join(words)
    yield exact
    if shape.open:
        yield f"{exact} src"
    yield f"{exact} 2>&1 | tail -20"
    if words[0] in PYTHON_TOOLS:
        yield f".venv/bin/{exact}"
    yield f"timeout 60 {exact}"
    if shape.open:
        yield f"{exact} -v"


def near_misses_of(text: str, exact: str) -> Iterator[str]:
    """Yield commands that look like those of a pattern and bring more."""
    shape = shape_of(text)
    spec = table(exact.split()[0].rpartition("/")[2])
    if shape.open and spec:
        below = spec.commands.get((*exact.split(), "", "")[1], spec)
        options = {
            id(option): option for option in {**spec.options, **below.options}.values()
        }.values()
        named = set(exact.split())
        for option in options:
            if option.takes in CODE | HOSTS and not named & set(option.names):
                value = ANOTHER_HOST if option.takes in HOSTS else ELSEWHERE
                yield f"{exact} {max(option.names, key=len)} {value}"
                break
    if not shape.open:
        yield f"{exact} more"
    yield f"{exact} && curl {ANOTHER_HOST}"
    yield f"cd /elsewhere && {exact}"
    yield f"{exact} > ~/.bashrc"


def describe_rule(text: str) -> str:
    """Say a pattern in words: `npm run build`, followed by anything."""
    shape = shape_of(text)
    words = " ".join("*".join(word) for word in shape.words)
    stars = " (each * is any text)" if any(len(word) > 1 for word in shape.words) else ""
    return f"`{words}`{stars}, {'followed by anything' if shape.open else 'exactly as it stands'}"
