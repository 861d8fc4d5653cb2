"""The judge against the real bash: what bash runs and writes, the judge has named, or it does not allow the script."""

from collections.abc import Iterator
from itertools import chain

import pytest
from bash_oracle.checking import check
from bash_oracle.compare import Sort, compare
from bash_oracle.corners import KINDS, split_scripts
from bash_oracle.grammar import fill_payload
from bash_oracle.judged import Judged, Word
from bash_oracle.runner import (
    HOSTILE,
    HOSTILE_NAMES,
    PLAIN,
    Answer,
    NoNamespace,
    RealBash,
    Run,
    runs_of,
)
from bash_oracle.scripts import list_seeds, make_scripts
from sampling import NIGHTLY

from cli_guard.model import Decision

# The first of the same scripts; the night has them all.
SCRIPTS = 2_000 if NIGHTLY else 800
PAYLOAD = ("git", "commit", "--no-verify", "-qm", "x")


@pytest.fixture(scope="module")
def bash() -> Iterator[RealBash]:
    try:
        real = RealBash()
    except NoNamespace as problem:
        pytest.skip(f"the oracle runs scripts in a namespace of their own: {problem}")
    with real:
        yield real


@pytest.mark.parametrize(
    ("script", "answer", "commands", "wrote"),
    [
        (
            "ls 'a  b' '' $'c\\td' x\\ y",
            Answer.SUCCESS,
            [("ls", "a  b", "", "c\td", "x y")],
            [],
        ),
        ("ls && cat || head", Answer.SUCCESS, [("ls",), ("cat",)], []),
        ("ls && cat || head", Answer.FAILURE, [("ls",), ("head",)], []),
        ('head "$(tail x)"', Answer.TEXT, [("tail", "x"), ("head", "some text")], []),
        ("x=$(cat <<E\nhi\nE\n); ls $x", Answer.FAILURE, [("cat",), ("ls", "hi")], []),
        (
            "rg -l x | xargs rg y",
            Answer.TEXT,
            [("rg", "y", "a.txt", "b.py", "with space.md", "README.md")],
            [],
        ),
        ("git log *.txt", Answer.SUCCESS, [("git", "log", "a.txt")], []),
        ("/usr/bin/git push", Answer.SUCCESS, [("/usr/bin/git", "push")], []),
        ("exec git push", Answer.TEXT, [("exec", "git", "push")], []),
        ("kill -9 -1; ls", Answer.TEXT, [("kill", "-9", "-1"), ("ls",)], []),
        (
            "command git push; builtin eval 'ls x'",
            Answer.SUCCESS,
            [("git", "push"), ("ls", "x")],
            [],
        ),
        (
            "printf() { :; }; set -fku; IFS=a; exec 9>&-; ls 'b a'",
            Answer.TEXT,
            [("ls", "b a")],
            [],
        ),
        ("ls \\\n  a # c", Answer.SUCCESS, [("ls", "a")], []),
        (
            "git log & wait; (sleep 1 &)",
            Answer.SUCCESS,
            [("git", "log"), ("sleep", "1")],
            [],
        ),
        (">out.txt", Answer.SUCCESS, [], [f"{PLAIN}/out.txt"]),
        (
            "cd sub; ls >> c.txt 2> ~/err",
            Answer.TEXT,
            [("ls",)],
            [f"{PLAIN}/sub/c.txt", "/home/ada/err"],
        ),
        (": <> a.txt; ls > /dev/null", Answer.SUCCESS, [("ls",)], [f"{PLAIN}/a.txt"]),
        ("cat < a.txt", Answer.SUCCESS, [("cat",)], []),
    ],
)
def test_what_bash_does_is_recorded(
    bash: RealBash,
    script: str,
    answer: Answer,
    commands: list[tuple[str, ...]],
    wrote: list[str],
) -> None:
    (ran,) = bash.run([Run(script, answer, "some text", PLAIN)])
    assert set(commands) <= set(ran.commands)
    assert sorted(ran.wrote) == sorted(wrote)
    assert not ran.killed


def test_each_script_meets_the_tree_as_it_was_at_first(bash: RealBash) -> None:
    first = Run("echo x > a.txt; echo y > new.txt; x=1; cat() { :; }", Answer.SUCCESS)
    second = Run('read -r x < a.txt; ls "$x" *; cat', Answer.SUCCESS)
    _, ran = bash.run([first, second])
    assert set(ran.commands) == {
        ("ls", "a.txt", "README.md", "a.txt", "b.py", "sub", "with space.md"),
        ("cat",),
    }


@pytest.mark.parametrize(
    "script",
    [
        "while :; do :; done",
        ":(){ :|:& };:",
        "x=a; while :; do x=$x$x; done",
        "ls & while sleep 9; do :; done",
    ],
)
def test_what_never_ends_is_ended(bash: RealBash, script: str) -> None:
    ended, after = bash.run([Run(script), Run("ls")])
    assert ended.killed or not ended.commands
    assert after.commands == [("ls",)]


def test_a_script_reaches_nothing_outside(bash: RealBash) -> None:
    script = 'read -r x < /etc/passwd; ls "$x" /etc/* /proc/[0-9]*; echo x > /dev/tcp/127.0.0.1/80 || cat net'
    (ran,) = bash.run([Run(script)])
    assert ("cat", "net") in ran.commands
    listed = next(words for words in ran.commands if words[0] == "ls")
    assert listed[1:3] == ("", "/etc/*")
    assert len(listed) < 8


def naive(*commands: str, many: bool = False) -> Judged:
    """Return what a judge would say that allows a script and has named these commands alone."""
    end = (Word(None, many=True),) if many else ()
    named = tuple(
        (*(Word(each, each) for each in command.split()), *end) for command in commands
    )
    return Judged(named, frozenset(), False, Decision.ALLOW, "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_judge_that_overlooks_one_of_the_seven_kinds_is_found_out(
    bash: RealBash, kind: str
) -> None:
    judge = naive("rg foo", "rg y", "git log", "git diff HEAD", many=True)
    found: dict[str, set[Sort]] = {}
    for script in split_scripts(fill_payload(KINDS[kind])):
        runs = [Run(script, answer, folder=HOSTILE) for answer in Answer]
        found[script] = {
            each.sort for ran in bash.run(runs) for each in compare(judge, ran)
        }
    wanted = Sort.OPTION if kind == "name of a file" else Sort.DENIED
    assert sum(wanted in sorts for sorts in found.values()) >= min(5, len(found) // 3), (
        found
    )


@pytest.mark.parametrize(
    ("script", "judge", "sorts"),
    [
        ("ls a b", naive("ls a b"), []),
        ("ls a b", naive("ls a"), [Sort.WORDS]),
        ("ls a b", naive("cat a b"), [Sort.PROGRAM]),
        ("ls *.txt", naive("ls", many=True), []),
        ("ls *", naive("ls", many=True), [Sort.OPTION]),
        ("ls -- *", naive("ls --", many=True), []),
        ("ls > out.txt", naive("ls"), [Sort.FILE]),
        ("$(echo git commit --no-verify -qm x)", naive("ls"), [Sort.DENIED]),
    ],
)
def test_differences(bash: RealBash, script: str, judge: Judged, sorts: list[Sort]) -> None:
    (ran,) = bash.run([Run(script, folder=HOSTILE)])
    assert [each.sort for each in compare(judge, ran)] == sorts


def test_every_answer_and_tree_is_used() -> None:
    runs = list(chain.from_iterable(runs_of("ls", number) for number in range(20)))
    assert {each.answer for each in runs} == set(Answer)
    assert {each.folder for each in runs} == {PLAIN, HOSTILE}
    assert len({each.text for each in runs}) == 10
    assert any(name.startswith("--") for name in HOSTILE_NAMES)


def test_the_same_seed_gives_the_same_scripts() -> None:
    assert list(make_scripts(3, 50)) == list(make_scripts(3, 50))
    assert list(make_scripts(3, 50)) != list(make_scripts(4, 50))


def test_what_bash_does_under_allow_was_named(bash: RealBash) -> None:
    seeds = list_seeds()
    before = bash.cpu
    result = check(bash, chain(seeds, make_scripts(1, SCRIPTS - len(seeds))), sample=10)
    found = [
        f"{each.kind}: {each.script!r}\n    {each.differences[0]}"
        for each in result.failures
    ]
    assert not found, f"{len(found)} differences under allow:\n" + "\n".join(found[:20])
    assert result.verdicts["allow"] > SCRIPTS // 10
    assert result.runs > SCRIPTS // 2
    assert bash.cpu > before
