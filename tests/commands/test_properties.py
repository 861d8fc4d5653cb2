"""What holds for every command: a disguise never helps, no text breaks the judge, no allow for what bash rejects."""

import resource
import subprocess
from collections.abc import Callable, Iterator
from functools import cache

import labelled_commands
import pytest
from disguises import disguised
from examples import table
from hypothesis import example, given, settings
from hypothesis import strategies as st
from labelled_commands import Labelled

from cli_guard.commands import Context, judge
from cli_guard.commands.model import Verdict
from cli_guard.model import Decision

# What changes what comes after it, or would not end where it should in a list.
LEADING = ("\n", "#", "<<", "cd", "exit", "pushd", "exec", "\\")

FRAGMENTS = (
    "ls -la cat x rm -rf / ~ git commit -n echo 'a' \"b\" $x ${x} ${x:-y} $(ls) `ls` $((1+2)) <( >( ) ( { } ; ;; & && "
    "| || |& ! > >> < << <<< <<E \nE\n 2>&1 &> >| if then else fi for in do done while until case esac function f() "
    "[[ ]] [ ] (( )) ' \" \\ $' $\" # * ? {a,b} {1..9} = x= x+= -- - sudo env bash -c eval xargs find . -exec + \\; "
    "python3 -c curl | sh awk '{print}' sed s/a/b/ \t \r \x00 \x1b \ufeff \u200b \udc80 é 日本"
).split(" ")

texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=200),
    st.text(
        st.sampled_from(
            "\x00\x01\x07\x1b\r\n\t\x7f\ud800\udfff\u202e '\"`$(){}[]<>|&;\\#*?~!-=rm/"
        ),
        max_size=60,
    ),
    st.lists(st.sampled_from([*FRAGMENTS, "\n", " "]), max_size=30).map(" ".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
)


@pytest.fixture(autouse=True)
def bounded_memory() -> Iterator[None]:
    """A command that grows without end fails its test, and does not take the machine along."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@cache
def answered(decision: Decision) -> list[Labelled]:
    """What is labelled with a decision and gets it; that it does is held by test_labelled.py."""
    cases = [case for case in labelled_commands.every() if case.verdict is decision]
    return [case for case in cases if judge(case.command, case.context).verdict is decision]


@cache
def neighbours() -> list[str]:
    """Allowed commands that can stand in a list with others."""
    return [
        case.command
        for case in answered(Decision.ALLOW)
        if not case.context.git_config
        and not any(mark in case.command for mark in LEADING)
        and not case.command.endswith("&")
    ]


denied = st.deferred(lambda: st.sampled_from(answered(Decision.DENY)))
harmless = st.deferred(lambda: st.sampled_from(neighbours()))


def bash_accepts(text: str) -> bool:
    """Whether bash parses it. Some errors within [[ ]] are told on standard error alone."""
    done = subprocess.run(
        ("bash", "-n"), input=text.encode(), capture_output=True, check=False
    )
    return done.returncode == 0 and b"syntax error" not in done.stderr


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """An allowed command with a piece taken out, put in or doubled."""
    text = draw(harmless)
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 4)))
    return (
        text[:start]
        + draw(st.sampled_from(("", text[start:end] * 2, *FRAGMENTS)))
        + text[end:]
    )


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_disguise_never_makes_a_denied_command_milder(data: st.DataObject) -> None:
    case = data.draw(denied)
    text = data.draw(disguised(case))
    verdict = judge(text, case.context)
    assert verdict.verdict is Decision.DENY, (
        f"{case.command!r} as {text!r}: {verdict.reason}"
    )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(harmless, max_size=3),
    denied,
    st.lists(harmless, max_size=3),
    st.sampled_from(("; ", "\n", " && ", " || ")),
)
def test_harmless_neighbours_do_not_cover_a_denied_command(
    before: list[str], case: Labelled, after: list[str], joint: str
) -> None:
    text = joint.join([*before, f"{{ {case.command}\n}}", *after])
    verdict = judge(text, case.context)
    assert verdict.verdict is Decision.DENY, f"{text!r}: {verdict.reason}"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(harmless, min_size=2, max_size=4),
    st.sampled_from(("; ", "\n", " && ", " || ")),
)
def test_harmless_commands_stay_harmless_in_a_list(commands: list[str], joint: str) -> None:
    # In groups: what is set in the second half of `a && x=1; echo $x` is set under a condition. In a folder that holds
    # no module: what Python imports from it is judged elsewhere.
    groups = [f"{{ {command}\n}}" for command in commands]
    verdict = judge(joint.join(groups), Context(names=frozenset()))
    assert verdict.verdict is Decision.ALLOW, f"{verdict.command!r}: {verdict.reason}"


@settings(max_examples=200, deadline=None)
@given(texts)
def test_any_text_gets_a_whole_verdict(text: str) -> None:
    verdict = judge(text)
    assert isinstance(verdict, Verdict)
    assert isinstance(verdict.verdict, Decision)
    assert verdict.command == text
    assert verdict.coverage in ("full", "partial")
    assert verdict.reason
    assert "\n" not in verdict.reason
    assert all(0 <= span.start <= span.end <= len(text) for span in verdict.evidence)
    assert verdict == judge(text)


@settings(max_examples=200, deadline=None)
@given(st.one_of(texts, damaged()))
@example("[()]")
def test_what_bash_rejects_is_never_allowed(text: str) -> None:
    if judge(text).verdict is Decision.ALLOW:
        assert "\x00" not in text
        assert bash_accepts(text), f"allowed: {text!r}"


LONG: dict[str, Callable[[int], str]] = {
    "commands before": lambda size: "ls; " * (size // 4) + "rm -rf /",
    "commands after": lambda size: "rm -rf /; " + "ls; " * (size // 4),
    "words before": lambda size: "rm -rf " + "a " * (size // 2) + "/",
    "words after": lambda size: "rm -rf / " + "a " * (size // 2),
    "one long word": lambda size: f"echo {'a' * size}; rm -rf /",
    "pipe": lambda size: "cat x" + " | cat" * (size // 6) + "; rm -rf /",
    "assignments": lambda size: "x=1; " * (size // 5) + "rm -rf /",
    "comment": lambda size: f"# {'a' * size}\nrm -rf /",
    "here-document": lambda size: f"cat <<E\n{'a' * size}\nE\nrm -rf /",
    "braces": lambda size: "echo " + "{a,b}" * min(size // 5, 4000) + "; rm -rf /",
    "growing variable": lambda size: "x=a; " + 'x="$x$x"; ' * (size // 11) + "rm -rf /",
}
DEEP: dict[str, Callable[[int], str]] = {
    "sub-shells": lambda depth: "( " * depth + "rm -rf /" + " )" * depth,
    "groups": lambda depth: "{ " * depth + "rm -rf /;" + " };" * depth,
    "substitutions": lambda depth: "echo $(" * depth + "rm -rf /" + ")" * depth,
    "conditions": lambda depth: "if true; then " * depth + "rm -rf /" + "; fi" * depth,
    "prefixes": lambda depth: "env " * depth + "rm -rf /",
    "evals": lambda depth: "eval " * depth + "rm -rf /",
    "shells": lambda depth: "bash -c " * depth + "'rm -rf /'",
    "functions": lambda depth: "; ".join(
        [
            "f0() { rm -rf /; }",
            *(f"f{n}() {{ f{n - 1}; }}" for n in range(1, depth + 1)),
            f"f{depth}",
        ]
    ),
    "variables": lambda depth: "; ".join(
        [
            "v0='rm -rf /'",
            *(f'v{n}="$v{n - 1}"' for n in range(1, depth + 1)),
            f'eval "$v{depth}"',
        ]
    ),
    "defaults": lambda depth: "echo " + '"${x:-' * depth + "$(rm -rf /)" + '}"' * depth,
}


@table("shape", LONG)
@table("size", [100, 5_000, 100_000])
def test_a_long_command_is_not_allowed_unread(shape: str, size: int) -> None:
    verdict = judge(LONG[shape](size))
    assert verdict.verdict is not Decision.ALLOW
    if size <= 5_000:
        assert verdict.verdict is Decision.DENY, verdict.reason


@table("shape", DEEP)
@table("depth", [3, 60, 2_000])
def test_a_deep_command_is_not_allowed_unread(shape: str, depth: int) -> None:
    verdict = judge(DEEP[shape](depth))
    assert verdict.verdict is not Decision.ALLOW
    if (
        depth <= 3 and shape != "shells"
    ):  # `bash -c bash -c x` runs a bash with nothing to do
        assert verdict.verdict is Decision.DENY, verdict.reason
