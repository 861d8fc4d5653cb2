"""A reviewer that nobody would hear does not run; one that only advises runs last and, in a hook, for a time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from examples import table
from in_process import guard
from repositories import Repo

from cli_guard.graph import build_graph
from cli_guard.graph.context import Context
from cli_guard.model import ChangeSet, CommitMessage, Disposition
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import Policy
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.review.run import review
from cli_guard.reviewers.advice import CHARS_A_MS, STOPS, HookAdvice, dispositions
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.clean_files import CleanFiles
from cli_guard.reviewers.per_file_work import PerFileWork
from cli_guard.reviewers.registry import REVIEWERS, reviewer_of
from cli_guard.reviewers.review_input import Limits, ReviewInput

BARE = "def public(first, second):\n    if not first:\n        raise ValueError(second)\n    return run(first)\n"
BODY = "".join(f"    value_{n} = compute_{n}(first, second)\n" for n in range(12))
TWICE = (
    f'"""Two."""\n\n\ndef _one(first, second):\n{BODY}\n\ndef _two(first, second):\n{BODY}'
)
FILES = {"a.py": BARE, "b.py": BARE, "c.py": TWICE}
# Those that these tests speak of; others may be planned as well.
ALL = "secrets code commands dependencies docs drift refactor policy".split()
LAST = "secrets code commands dependencies policy docs drift refactor".split()


def planned(rules: dict[str, str], decisions: dict[str, str] | None = None) -> list[str]:
    policy = Policy(Config.model_validate({"rules": rules, "decisions": decisions or {}}))
    done = review(changes_between({}, FILES), policy, contents=SnapshotContents({}, FILES))
    tools = [str(step["tool"]) for step in done.plan]
    assert (
        tools
        == [result["tool"] for result in done.tool_results]
        + tools[len(done.tool_results) :]
    )
    return [name for tool in tools if (name := tool.removeprefix("review_")) in ALL]


@table(
    ("rules", "decisions", "expected"),
    [
        ({}, {}, LAST),
        ({"docs-*": "off"}, {}, [each for each in LAST if each not in ("docs", "drift")]),
        (
            {"docs-*": "off", "docs-missing": "advise"},
            {},
            [each for each in LAST if each != "drift"],
        ),
        (
            {"docs-*": "off", "docs-missing": "deny"},
            {},
            [each for each in ALL if each not in ("drift", "refactor")] + ["refactor"],
        ),
        (
            {"docs-*": "review"},
            {},
            "secrets code commands dependencies docs drift policy refactor".split(),
        ),
        (
            {"docs-m*": "review", "refactor-long": "deny"},
            {},
            "secrets code commands dependencies docs refactor policy drift".split(),
        ),
        ({}, {"low": "review"}, ALL),
        ({}, {"medium": "off", "low": "off", "info": "off"}, LAST[:5]),
        (
            {},
            {"medium": "deny", "low": "off", "info": "off"},
            "secrets code commands dependencies docs policy".split(),
        ),
        (
            {"code-*": "off", "command-*": "off"},
            {},
            "secrets dependencies policy docs drift refactor".split(),
        ),
        # Some of its rules no configuration lowers.
        ({"policy-*": "off", "secret-*": "off"}, {}, LAST[1:]),
        (
            {"*": "off"},
            dict.fromkeys(("critical", "high", "medium", "low", "info"), "off"),
            ["policy"],
        ),
    ],
)
def test_plan(
    rules: dict[str, str], decisions: dict[str, str], expected: list[str]
) -> None:
    assert planned(rules, decisions) == expected


def test_the_users_own_file_counts() -> None:
    for own, advising in (
        ({"docs-missing": "review"}, {"drift", "refactor"}),
        ({}, {"docs", "drift", "refactor"}),
    ):
        policy = Policy(Config(), Config.model_validate({"rules": own}))
        subject = ReviewInput("pre-commit", changes_between({}, FILES)).under(policy)
        assert subject.advice.reviewers & set(ALL) == advising


def test_by_default_a_reviewer_that_advises_stops_nothing() -> None:
    for reviewer in REVIEWERS:
        assert not reviewer.advises or STOPS.isdisjoint(dispositions(reviewer, Policy()))


def test_a_message_that_no_rule_is_about_passes() -> None:
    policy = Policy(
        Config.model_validate({"rules": {"secret-*": "off", "message-*": "off"}})
    )
    subject = ReviewInput(
        "commit-msg", changes_between({}, FILES), message=CommitMessage("Add it")
    )
    request: Any = {"input": "review the message", "task_type": "change_review"}
    state = build_graph().invoke(
        request, context=Context(subject=subject.under(policy), policy=policy)
    )
    assert (state["decision"], [each["tool"] for each in state["plan"]]) == (
        "allow",
        ["git_commit"],
    )


@table(
    ("milliseconds", "event", "read"),
    [
        (0, "pre-commit", 0),
        # Each file counts as a millisecond.
        (4, "pre-commit", 4),
        (8, "pre-push", 8),
        (1_000, "pre-commit", 10),
        *((0, event, 10) for event in ("staged", "commit", "range", "verify", "snapshot")),
    ],
)
def test_the_room_of_a_hook(milliseconds: int, event: str, read: int) -> None:
    policy = Policy(Config.model_validate({"limits": {"advice_ms": milliseconds}}))
    advice = ReviewInput(event, changes_between({}, FILES)).under(policy).advice
    assert (
        sum(advice.has_room("docs", f"{number}.py", CHARS_A_MS) for number in range(10))
        == read
    )
    assert advice.has_room("secrets", "9.py", 10**9)
    assert len(advice.left_out) == 10 - read
    assert [each.path for each in advice.skipped] == [
        f"advice on {10 - read} of the files"
    ] * (read < 10)


def test_a_file_too_long_for_the_room_is_left_out_and_the_next_is_read() -> None:
    both = frozenset(("docs", "drift", "refactor"))
    advice = HookAdvice(both, both, 100)
    assert not advice.has_room("docs", "long.py", 1_000_000)
    assert advice.has_room("docs", "short.py", 1_000)
    # What the first reviewer has left out, the second does not advise on either.
    assert not advice.has_room("refactor", "long.py", 1) and advice.has_room(
        "refactor", "short.py", 1
    )


def stage(repo: Repo, config: str = "") -> None:
    for path in FILES:
        (repo.path / path).unlink(missing_ok=True)
    repo.commit("Configure", {"cli-guard.toml": config})
    for path, text in FILES.items():
        repo.write(path, text)
    repo.git("add", "-A")


def test_what_a_hook_leaves_out_is_one_line_and_by_hand_it_is_there(
    committed: Repo,
) -> None:
    stage(committed, "[limits]\nadvice_ms = 0\n")
    hook = guard(committed, "hook", "pre-commit")
    assert (hook.code, hook.out.count("advice on")) == (0, 0), "each lock file would say it"
    whole = " ".join(guard(committed, "last", "-v").out.split())
    assert "advice on 3 of the files (over limits.advice_ms; once committed:" in whole
    assert "docs-missing" not in hook.out and "refactor-" not in hook.out
    by_hand = committed.review()
    assert {each["rule"] for each in by_hand["findings"]} == {
        "docs-missing",
        "refactor-duplicate-block",
    }
    assert by_hand["coverage"]["skipped"] == []


@table(
    ("config", "code", "said"),
    [
        ("", 0, "docs-missing"),
        ("[limits]\nadvice_ms = 1_000_000\n", 0, "refactor-duplicate-block"),
        ('[rules]\n"docs-*" = "review"\n[limits]\nadvice_ms = 0\n', 3, "docs-missing"),
        (
            '[rules]\n"refactor-duplicate-block" = "deny"\n[limits]\nadvice_ms = 0\n',
            1,
            "refactor-duplicate-block",
        ),
        (
            '[rules]\n"docs-*" = "off"\n"refactor-*" = "off"\n[limits]\nadvice_ms = 0\n',
            0,
            "nothing to report",
        ),
    ],
)
def test_hooks(committed: Repo, config: str, code: int, said: str) -> None:
    stage(committed, config)
    hook = guard(committed, "hook", "pre-commit")
    assert (hook.code, said in hook.out) == (code, True), hook.all
    assert ("advice on 3 of the files" in guard(committed, "last", "-v").out) is (
        "advice_ms = 0" in config and '"off"' not in config
    )


def test_the_decision_does_not_depend_on_the_time() -> None:
    risky = FILES | {
        "d.py": "import subprocess\n\n\ndef run(name):\n    subprocess.run(name, shell=True)\n"
    }
    changes = changes_between({}, risky)
    contents = SnapshotContents({}, risky)
    seen = []
    for milliseconds in (0, 1_000_000):
        policy = Policy(Config.model_validate({"limits": {"advice_ms": milliseconds}}))
        subject = ReviewInput("pre-commit", changes, contents).under(policy)
        request: Any = {"input": "review the change", "task_type": "change_review"}
        state = build_graph().invoke(
            request, context=Context(subject=subject, policy=policy)
        )
        kept = [each for each in state["judged"] if each["decision"] != Disposition.ADVISE]
        seen.append(
            (state["decision"], state["review_reason"], state["blocked_actions"], kept)
        )
    assert seen[0] == seen[1] and seen[0][0] == "review"


def test_a_file_without_advice_is_not_remembered_as_one_without_findings(
    tmp_path: Path,
) -> None:
    changes = changes_between({}, FILES)
    contents = SnapshotContents({}, FILES)
    policy = Policy(Config.model_validate({"limits": {"advice_ms": 0}}))
    found = {}
    for event in ("pre-commit", "staged"):
        subject = ReviewInput(event, changes, contents).under(policy)
        work = PerFileWork(subject, clean_files=CleanFiles(Cache(tmp_path), subject.limits))
        found[event] = [work.result("docs", change) for change in changes]
    assert found["pre-commit"] == [None, None, None]
    assert [result.again for result in found["staged"] if result] == [True, True, False]


@table("milliseconds", [0, 1, 2, 1_000])
def test_advice_is_the_same_file_by_file_and_remembered(
    milliseconds: int, tmp_path: Path
) -> None:
    texts = {f"{n}.py": text * 3 for n, text in enumerate(FILES.values())}
    files = changes_between({}, texts).files
    changes = ChangeSet(tuple(replace(each, new_blob=each.path) for each in files))
    policy = Policy(Config.model_validate({"limits": {"advice_ms": milliseconds}}))

    def advise(clean_files: CleanFiles | None, *, by_file: bool) -> object:
        contents = SnapshotContents({}, texts)
        subject = ReviewInput("pre-commit", changes, contents).under(policy)
        work = PerFileWork(subject, clean_files=clean_files) if by_file else None
        subject = replace(subject, work=work)
        found = [
            reviewer_of(name).review(subject) for name in ("docs", "drift", "refactor")
        ]
        return found, subject.advice.skipped

    expected = advise(None, by_file=False)
    clean_files = CleanFiles(Cache(tmp_path / str(milliseconds)), Limits.of(policy))
    assert advise(None, by_file=True) == expected
    assert advise(clean_files, by_file=True) == expected
    assert advise(clean_files, by_file=True) == expected
