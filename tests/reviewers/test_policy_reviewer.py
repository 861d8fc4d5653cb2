"""Changes to the guard itself, in memory: every example of the rule file, and what a mover of files tries."""

import json
import re
import tomllib
from collections.abc import Iterator

import pytest
from examples import examples, near_misses, table
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.example_inputs import policy_change as subject

from cli_guard.errors import ConfigError
from cli_guard.model import ChangeSet, FileChange, Skipped, Status
from cli_guard.policy.config import USERS, Config, Section
from cli_guard.policy.decisions import STRICTNESS, write_baseline
from cli_guard.policy.loosenings import STOPS, disposition_of, loosenings, weaker_rules
from cli_guard.repository.between import SnapshotContents
from cli_guard.reviewers.policy import not_reviewed, review
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import load, load_all

STRICT = '[rules]\n"code-*" = "deny"\n'


def moved(old: str, new: str, text: str) -> ReviewInput:
    change = FileChange(new, Status.RENAMED, old_path=old)
    return ReviewInput(
        "staged", ChangeSet((change,)), SnapshotContents({old: text}, {new: text})
    )


def rules(subject: ReviewInput) -> list[str]:
    return [finding.rule for finding in review(subject).findings]


def test_every_rule_of_this_reviewer_has_examples() -> None:
    bare = {
        rule.id
        for rule in load("policy", examples=True)
        if not (rule.fires and rule.silent)
    }
    assert bare == {"policy-not-reviewed", "policy-suppression-new"}, (
        "the gate reports these"
    )


@table(
    ("given", "expected"),
    [
        pytest.param(
            moved("cli-guard.toml", "old/cli-guard.toml", STRICT),
            ["policy-weakened"],
            id="config moved",
        ),
        pytest.param(
            subject({"cli-guard.toml": STRICT}, {}),
            ["policy-weakened"],
            id="config deleted",
        ),
        pytest.param(
            subject(
                {"cli-guard.toml": STRICT, "pyproject.toml": "[project]\nname = 'x'\n"},
                {
                    "pyproject.toml": '[project]\nname = \'x\'\n[tool.cli-guard.rules]\n"code-*" = "deny"\n'
                },
            ),
            [],
            id="config moved to the other file",
        ),
        pytest.param(
            moved("cli-guard.toml.off", "cli-guard.toml", STRICT),
            [],
            id="config put in force",
        ),
        pytest.param(
            moved("a.toml", "cli-guard.toml", '[rules]\n"secret-*" = "off"\n'),
            ["policy-weakened"],
            id="weak one moved in",
        ),
        pytest.param(
            subject({"notes/cli-guard.toml": STRICT}, {}), [], id="no configuration at all"
        ),
        pytest.param(
            subject({}, {"pyproject.toml": "broken ["}),
            [],
            id="broken file that is not ours",
        ),
    ],
)
def test_what_is_done_to_the_guard(given: ReviewInput, expected: list[str]) -> None:
    assert rules(given) == expected


@table(
    "new",
    [
        {"cli-guard.toml": "[limits]\nfile = 3\n"},
        {"cli-guard.toml": "["},
        {"cli-guard.toml": "a = '\ufffd'"},
        {"pyproject.toml": "[tool.cli-guard]\nfile = 3\n"},
        {"cli-guard.toml": "", "pyproject.toml": "[tool.cli-guard]\n"},
        {"cli-guard-baseline.json": '{"findings": [\n<<<<<<< ours\n'},
    ],
    ids=["unknown key", "not TOML", "not UTF-8", "in pyproject", "in both", "a baseline"],
)
def test_a_broken_configuration_in_the_change_stops_it(new: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="in this change"):
        review(subject({}, new))


def test_a_broken_one_may_be_repaired() -> None:
    assert (
        rules(
            subject(
                {"cli-guard.toml": "["}, {"cli-guard.toml": "[limits]\nfiles = 30000\n"}
            )
        )
        == []
    )


@table(
    "before",
    ["{", "[" * 200_000, '{"findings": [{"rule": 1}]}', '{"findings": 3}', "[]"],
    ids=lambda b: b[:20],
)
def test_a_broken_baseline_may_be_repaired(before: str) -> None:
    entry = {"rule": "docs-missing", "path": "a.py", "fingerprint": "f"}
    mended = json.dumps({"findings": [entry]})
    given = subject(
        {"cli-guard-baseline.json": before}, {"cli-guard-baseline.json": mended}
    )
    assert rules(given) == ["policy-suppression-added"]


def ignore(**keys: str) -> str:
    given = {"rule": "secret-*", "path": "a/**", "reason": "fake keys"} | keys
    return "[[ignore]]\n" + "".join(
        f"{key} = {value}\n" if key == "expires" else f'{key} = "{value}"\n'
        for key, value in given.items()
    )


def as_table(text: str) -> str:
    return text.replace("[[ignore]]", "[[tool.cli-guard.ignore]]")


WEAKER = ["policy-weakened"]
ADDED = ["policy-suppression-added"]


@examples(
    ("old", "new", "expected"),
    [
        ("", ignore(rule="*"), WEAKER),
        ("", ignore(rule="code-python-shell", path="one/file.py"), WEAKER),
        ("", ignore(rule="protection-access"), WEAKER),
        ("", ignore(rule="message-wip-pushed"), WEAKER),
        ("", '[rules]\n"protection-access" = "off"', WEAKER),
        ("", ignore(rule="docs-*"), ADDED),
        ("", ignore(rule="refactor-*"), ADDED),
        ("", ignore(rule="policy-*"), ADDED),
        (
            '[rules]\n"secret-*" = "advise"\n',
            '[rules]\n"secret-*" = "advise"\n' + ignore(),
            ADDED,
        ),
        (
            '[rules]\n"docs-*" = "deny"\n',
            '[rules]\n"docs-*" = "deny"\n' + ignore(rule="docs-*"),
            WEAKER,
        ),
        ("", '[rules]\n"docs-*" = "deny"\n' + ignore(rule="docs-*"), ADDED),
        ("", ignore() + ignore(rule="docs-*"), WEAKER + ADDED),
        (ignore(), ignore(), []),
        (ignore(), "", []),
        (ignore(), ignore(reason="keys of nobody"), ADDED),
        (ignore(), ignore(expires="2027-01-01"), ADDED),
        (ignore(), ignore(rule="secret-aws-access-key"), ADDED),
        (ignore(path="**"), ignore(), ADDED),
        (ignore(), ignore(fingerprint="0" * 16), ADDED),
        (ignore(fingerprint="0" * 16), ignore(), WEAKER),
        (ignore(fingerprint="0" * 16), ignore(fingerprint="1" * 16), WEAKER),
        (ignore(), ignore(path="**"), WEAKER),
        (ignore(), ignore(path="b/**"), WEAKER),
        (ignore(), ignore(rule="*"), WEAKER),
        (ignore(expires="2027-01-01"), ignore(expires="2027-01-02"), WEAKER),
        (ignore(expires="2027-01-01"), ignore(expires="2026-12-31"), ADDED),
        (ignore(expires="2027-01-01"), ignore(), WEAKER),
    ],
)
@examples("path", ["cli-guard.toml", "pyproject.toml"])
def test_an_ignore_that_may_answer_a_stop_weakens(
    path: str, old: str, new: str, expected: list[str]
) -> None:
    if path == "pyproject.toml":
        old, new = (
            as_table(text).replace("[rules]", "[tool.cli-guard.rules]")
            for text in (old, new)
        )
    elif old == new:
        new += "\n"
    assert rules(subject({path: old}, {path: new})) == expected


@table(
    ("given", "expected"),
    [
        (["secret-aws-access-key"], WEAKER),
        (["docs-missing"], ADDED),
        (["gone"], ADDED),
        (["policy-weakened"], ADDED),
    ],
)
def test_what_a_baseline_answers(given: list[str], expected: list[str]) -> None:
    entries = [
        {"rule": rule, "path": "a.py", "fingerprint": "f"}
        for rule in (*given, "docs-missing")
    ]
    text = json.dumps({"findings": entries})
    assert set(rules(subject({}, {"cli-guard-baseline.json": text}))) == {*expected, *ADDED}


def test_a_baseline_is_judged_by_the_configuration_before() -> None:
    text = json.dumps(
        {"findings": [{"rule": "docs-missing", "path": "a.py", "fingerprint": "f"}]}
    )
    strict = '[rules]\n"docs-*" = "review"\n'
    old = {"cli-guard.toml": strict}
    assert (
        rules(
            subject(
                old, {"cli-guard-baseline.json": text, "cli-guard.toml": strict + "# x\n"}
            )
        )
        == WEAKER
    )


@table(
    ("text", "says"),
    [
        (
            '[rules]\n"secret-*" = "off"\n',
            r"weaker policy: \d+ secret rules were deny or review, become off",
        ),
        (
            '[rules]\n"secret-aws-access-key" = "advise"\n',
            "weaker policy: secret-aws-access-key was deny, becomes advise",
        ),
        (
            ignore(),
            r"a new \[\[ignore\]\] for a/\*\* covers \d+ secret rules .*: fake keys",
        ),
        (
            ignore(rule="secret-aws-access-key"),
            r"covers secret-aws-access-key \(deny\): fake keys",
        ),
    ],
)
def test_the_message_counts_by_reviewer(text: str, says: str) -> None:
    [finding] = review(subject({}, {"cli-guard.toml": text})).findings
    assert re.search(says, finding.message), finding.message


def test_the_message_names_what_is_weaker() -> None:
    [finding] = review(
        subject({}, {"cli-guard.toml": '[decisions]\ncritical = "advise"\n'})
    ).findings
    assert (
        "critical changes from deny to advise" in finding.message
        or "more" in finding.message
    )
    assert (finding.path, finding.line) == ("cli-guard.toml", 1)


DENIES = "[commands]\ndeny = ['terraform apply *']\n"
ASKS = DENIES.replace("deny", "review")


@table(
    ("before", "after", "message"),
    [
        (DENIES, "", "the deny pattern 'terraform apply *' was removed"),
        (ASKS, "", "the review pattern 'terraform apply *' was removed"),
        (DENIES, ASKS, "the deny pattern 'terraform apply *' becomes review"),
        (DENIES, DENIES.replace("apply *", "apply"), "was removed"),
        (DENIES, DENIES.replace("apply", "destroy"), "was removed"),
        (DENIES, ASKS.replace("apply ", ""), "becomes review"),
    ],
)
def test_a_command_pattern_that_does_less_weakens(
    before: str, after: str, message: str
) -> None:
    old = {"cli-guard.toml": before}
    [finding] = review(subject(old, {"cli-guard.toml": after} if after else {})).findings
    assert finding.rule == "policy-weakened"
    assert message in finding.message


@near_misses(
    ("before", "after"),
    [
        (DENIES, DENIES),
        (ASKS, DENIES),
        ("", DENIES),
        (DENIES, DENIES.replace("apply *", "*")),
        (DENIES, DENIES + "review = ['ls']\n"),
        (
            DENIES,
            "[[commands.deny]]\npattern = 'terraform apply *'\nreason = 'now with a reason'\n",
        ),
    ],
    ids=["same", "stricter", "new", "wider", "one more", "with a reason"],
)
def test_a_command_pattern_that_does_as_much_does_not(before: str, after: str) -> None:
    assert rules(subject({"cli-guard.toml": before}, {"cli-guard.toml": after})) == []


CONFIGS = st.builds(
    Config,
    decisions=st.dictionaries(
        st.sampled_from(["critical", "high", "low"]),
        st.sampled_from(["deny", "review", "off"]),
    ),
    rules=st.dictionaries(
        st.sampled_from(["secret-*", "code-*", "docs-*"]),
        st.sampled_from(["deny", "advise"]),
    ),
)


@settings(max_examples=30, deadline=None)
@given(CONFIGS)
def test_no_configuration_is_weaker_than_itself(config: Config) -> None:
    assert list(loosenings(config, config)) == []


@settings(max_examples=30, deadline=None)
@given(CONFIGS, CONFIGS)
def test_every_rule_that_stops_less_is_counted(one: Config, other: Config) -> None:
    rules = [rule for rule in load_all().values() if rule.id.startswith("secret-")]
    weaker = [
        rule
        for rule in rules
        if disposition_of(one, rule) in STOPS
        and STRICTNESS.index(disposition_of(other, rule))
        < STRICTNESS.index(disposition_of(one, rule))
    ]
    told = [text for text in weaker_rules(one, other) if "secret" in text]
    counted = [int(text.split()[0]) if text[0].isdigit() else 1 for text in told]
    assert sum(counted) == len(weaker)


@table(
    ("reasons", "told", "remedy"),
    [
        (["too big"], "too big", "Make it smaller"),
        (["code: over 9 characters", "binary"], "binary; code: over 9", "Make it smaller"),
        (
            ["docs: invalid YAML at line 4", "commands: invalid YAML at line 4"],
            "commands, docs: invalid YAML at line 4",
            "Repair the file",
        ),
        (["from line 3 on binary: searched only for keys"], "from line 3", "Look at"),
    ],
)
def test_each_file_that_was_not_read_is_a_finding_with_its_remedy(
    reasons: list[str], told: str, remedy: str
) -> None:
    skipped = [Skipped("b", reason, asks=True) for reason in reasons]
    other = Skipped("a", "LFS", asks=True)
    first, second = not_reviewed([*skipped, other, Skipped("c.png", "binary")])
    assert (first.path, first.message) == ("a", "not reviewed: LFS")
    assert (second.rule, second.path) == ("policy-not-reviewed", "b")
    assert second.message.startswith(f"not reviewed: {told}")
    assert second.remedy.startswith(remedy)
    assert not_reviewed([other, *reversed(skipped)]) == [first, second]
    # What is only listed is told with it, and is no part of what is approved.
    [listed] = not_reviewed([*skipped, Skipped("b", "drift: cut")])
    assert "drift: cut" in listed.message and listed.fingerprint == second.fingerprint


def test_files_that_were_not_read_are_bounded() -> None:
    assert not_reviewed([Skipped("a.png", "binary")]) == []
    many = [Skipped(f"{number:03}.zip", "too big", asks=True) for number in range(112)]
    found = not_reviewed(many)
    assert len(found) == 51
    assert found[-1].path == "050.zip" and found[-1].message.endswith("; and 61 more")
    assert not_reviewed(many[:-1])[-1].fingerprint != found[-1].fingerprint


@table(
    ("rule", "says"),
    [
        ("code-js-regex-time", "is now called 'code-regex-exponential'"),
        ("secret-pasword", "there is no rule 'secret-pasword'"),
        ("secret-password", ""),
        ("secret-*", ""),
        ("user-mine", ""),
    ],
)
def test_a_comment_that_names_no_rule_says_so(rule: str, says: str) -> None:
    text = f"x = 1  # cli-guard: ignore[{rule}] of the test server\n"
    (found,) = review(subject({}, {"a.py": text})).findings
    assert says in found.message
    assert ("answers nothing" in found.message) is bool(says)


def test_an_empty_baseline_answers_nothing() -> None:
    assert rules(subject({}, {"cli-guard-baseline.json": write_baseline([])})) == []


TOUCH = '[approvals]\n{} = "touch"'
KNOWN = f"""[[surface.known]]
kind = "server"
name = "files"
digest = "{"0" * 32}"
reason = "I have read it"
"""
# Each setting of a repository: a configuration that is stricter, and one that is weaker, by it alone.
WEAKER_BY = {
    "decisions": ('[decisions]\nhigh = "deny"', '[decisions]\nhigh = "advise"'),
    "rules": (STRICT, ""),
    "ignore": (
        "",
        ignore(rule="secret-github-token", path="a.py"),
    ),
    "limits.files": ("", "[limits]\nfiles = 10"),
    "limits.file_chars": ("", "[limits]\nfile_chars = 1000"),
    "limits.total_chars": ("", "[limits]\ntotal_chars = 1000"),
    "limits.rounds": ("", "[limits]\nrounds = 1"),
    "git.protected_branches": ("", "[git]\nprotected_branches = []"),
    "message.style": ('[message]\nstyle = "conventional"', ""),
    "protections.calls": ('[protections]\ncalls = ["forked"]', ""),
    "surface.known": ("", KNOWN),
    "commands.review": ('[commands]\nreview = ["terraform apply *"]', ""),
    "commands.deny": ('[commands]\ndeny = ["terraform apply *"]', ""),
    "mcp": ('[mcp.a]\ncommand = ["a"]\ndeny = ["b"]', '[mcp.a]\ncommand = ["a"]'),
    "checks": ('[checks.a]\ncommand = "make test"', ""),
    "approvals.threshold": ('[approvals.threshold]\n"push-*" = 2', ""),
    "approvals.author_may_approve": ("[approvals]\nauthor_may_approve = false", ""),
    "approvals.trust": (TOUCH.format("trust"), ""),
    **{
        f"approvals.{level}": (TOUCH.format(level), "")
        for level in ("critical", "high", "medium", "low", "info")
    },
}
# What decides nothing about a change, or is refused in a repository's file.
WEAKENS_NOTHING = {
    "limits.seconds": "without effect",
    "limits.advice_ms": "advice stops nothing",
    "commands.allow": "of the user's own file",
    "approvals.prompt": "where is asked, not what",
    "approvals.push": "whether signatures are pushed",
}


def settings_of_a_repository() -> Iterator[str]:
    for name, section in Config.model_fields.items():
        kind = section.annotation
        if name in USERS:
            continue
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from (f"{name}.{key}" for key in kind.model_fields)
        else:
            yield name


def test_every_setting_is_known_to_weaken_or_not() -> None:
    """A setting that no loosening names could be weakened without a word."""
    assert sorted(settings_of_a_repository()) == sorted({**WEAKER_BY, **WEAKENS_NOTHING})


@table("setting", WEAKER_BY)
def test_a_weaker_setting_is_told(setting: str) -> None:
    before, after = (
        Config.model_validate(tomllib.loads(text)) for text in WEAKER_BY[setting]
    )
    assert list(loosenings(before, after))
    assert list(loosenings(after, before)) == []
