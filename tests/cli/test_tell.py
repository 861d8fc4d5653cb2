"""The commands that tell: rules, explain, doctor, audit, pending. What they print, and what they end with."""

import json
import re
from pathlib import Path

import pytest
from examples import table
from in_process import call, guard, stage
from repositories import Repo, key

from cli_guard.cli.app import COMMANDS, GROUPS
from cli_guard.rules.catalog import load_all
from cli_guard.rules.examples import expand

LEAK = f'aws_access_key_id = "{key()}"\n'
SUB = (
    "hook pre-commit",
    "hook pre-merge-commit",
    "hook commit-msg",
    "hook pre-push",
    "audit show",
    "audit verify",
    "exec ps",
    "exec logs",
    "exec stop",
    "signers fetch",
    "help",
)


@table("command", [*COMMANDS, *SUB])
@table("option", ["--help", "-h"])
def test_every_command_has_help(tmp_path: Path, command: str, option: str) -> None:
    done = call(tmp_path, {}, *command.split(), option)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: cli-guard {command}")
    assert option in done.out


def test_the_top_lists_every_command_once_in_six_groups(tmp_path: Path) -> None:
    top = call(tmp_path, {}, "--help")
    listed = re.findall(r"(?m)^(\w[\w ]*):$|^  ([a-z][\w-]*)  .+\.$", top.out)
    shown: dict[str, list[str]] = {}
    for title, name in listed:
        if title:
            shown[title] = []
        else:
            shown[list(shown)[-1]].append(name)
    assert shown.pop("Options") == []
    assert shown == {title: list(names) for title, names in GROUPS.items()}
    assert len(GROUPS) == 6 and sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert "Exit codes" in top.out
    assert max(map(len, top.out.splitlines())) <= 80
    bare = call(tmp_path, {})
    assert (bare.code, bare.out) == (2, "")
    assert "Set up:" in bare.err


@table("name", COMMANDS)
def test_the_short_help_names_what_it_leaves_out(tmp_path: Path, name: str) -> None:
    short, _, more = call(tmp_path, {}, name, "--help").out.partition("  More options, ")
    whole = call(tmp_path, {}, "help", name).out
    listed = re.compile(r"(?m)^  (?:-\w, )*(--[\w-]+)")
    assert short.count("\n") <= 50
    left_out = {*listed.findall(whole)} - {*listed.findall(short)}
    assert left_out == {*re.findall(r"--[\w-]+", more)}


def test_rules_lists_every_rule(tmp_path: Path) -> None:
    done = call(tmp_path, {}, "rules")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[:-1]] == list(load_all())
    rows = json.loads(call(tmp_path, {}, "rules", "--format", "json").out)
    assert [row["id"] for row in rows] == list(load_all())
    assert {row["default"] for row in rows} == {"deny", "review", "advise"}
    assert {
        row["default"]
        for row in rows
        if row["severity"] == "critical" and row["confidence"] != "low"
    } == {"deny"}


# About a mode, a size, a link, a folder, or the review itself: no lines show it.
WITHOUT_EXAMPLE = (
    "code-embedded-repository",
    "code-executable",
    "code-large-file",
    "code-symlink",
    "policy-not-reviewed",
    "policy-suppression-new",
)


def test_each_rule_has_a_page(tmp_path: Path) -> None:
    for rule in load_all().values():
        done = call(tmp_path, {}, "explain", rule.id)
        assert (done.code, done.err) == (0, ""), rule.id
        for part in (
            rule.id,
            rule.title,
            "Why it matters",
            "What to do",
            "To suppress it",
            rule.severity,
        ):
            assert part in done.out, (rule.id, part)
        shown = ["Reported\n    " in done.out, "Not reported\n    " in done.out]
        assert shown == [rule.id not in WITHOUT_EXAMPLE] * 2, rule.id
        assert "\x1b" not in done.out
        assert not [
            line for line in done.out.splitlines() if line.endswith(" ") and line.strip()
        ]


def test_no_page_shows_a_secret_that_was_assembled(tmp_path: Path) -> None:
    rule = next(rule for rule in load_all().values() if rule.id == "secret-aws-access-key")
    page = call(tmp_path, {}, "explain", rule.id).out
    assert not [text for text in rule.fires if "<<" in text and expand(text) in page]


@table(
    ("wanted", "says"),
    [
        ("secret-aws-acess-key", "near: rule secret-aws-access-key"),
        ("zzz", "no rule 'zzz'"),
        ("", "no rule"),
    ],
)
def test_an_unknown_rule(tmp_path: Path, wanted: str, says: str) -> None:
    done = call(tmp_path, {}, "explain", wanted)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert says in done.err


def test_doctor_says_what_is_amiss(committed: Repo) -> None:
    done = guard(committed, "doctor")
    assert done.code == 1
    for part in (
        "Programs",
        "Hooks",
        "Policy",
        "State",
        "git version",
        "cli-guard install",
        "reviewers:",
    ):
        assert part in done.out
    assert [
        line
        for line in done.out.splitlines()
        if line.startswith("  ! no hook runs cli-guard here")
    ]


def test_doctor_is_content_with_what_is_installed(guarded: Repo) -> None:
    with guarded.unchanged():
        done = guard(guarded, "doctor")
    assert done.code == 0, done.out
    assert "!" not in done.out
    assert "built-in defaults" in done.out


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cli-guard.toml", "[limits]\nfile = 1\n", "did you mean 'files'?"),
        ("cli-guard-baseline.json", "[", "not a baseline"),
        ("cli-guard.toml", '[rules]\n"docs-*" = "off"\n', "docs-*: off"),
    ],
)
def test_doctor_shows_the_policy_at_head(
    guarded: Repo, name: str, content: str, says: str
) -> None:
    guarded.commit("Configure", {name: content})
    done = guard(guarded, "doctor")
    assert says in done.out
    assert done.code == (0 if "off" in says else 1)


def test_doctor_notices_a_changed_trail(guarded: Repo) -> None:
    stage(guarded, {"a.py": "y = 1\n"})
    guard(guarded, "hook", "pre-commit")
    trail = guarded.path / ".git" / "cli-guard" / "audit.jsonl"
    trail.write_text(trail.read_text().replace("pre-commit", "pre-commot"))
    done = guard(guarded, "doctor")
    assert done.code == 1
    assert "! audit log" in done.out


def test_audit(committed: Repo) -> None:
    assert "empty" in guard(committed, "audit").out
    assert guard(committed, "audit", "verify").code == 0
    stage(committed, {"settings.py": LEAK})
    guard(committed, "hook", "pre-commit")
    guard(committed, "hook", "pre-commit", env={"SKIP": "cli-guard"})
    for command in (("audit",), ("audit", "show")):
        done = guard(committed, *command)
        assert (done.code, done.err) == (0, "")
        denied, skipped = done.out.splitlines()
        assert "deny" in denied and "secret-aws-access-key x1" in denied
        assert "SKIP=cli-guard" in skipped
    rows = [
        json.loads(line)
        for line in guard(committed, "audit", "show", "--format", "json").out.splitlines()
    ]
    assert rows[0]["decision"] == "deny"
    assert rows[0]["rules"] == {"secret-aws-access-key": 1}
    assert key() not in json.dumps(rows)
    assert "2 entries" in guard(committed, "audit", "verify").out


def test_audit_shows_the_last_ones(committed: Repo) -> None:
    for _ in range(23):
        guard(committed, "hook", "pre-commit", env={"SKIP": "cli-guard"})
    done = guard(committed, "audit")
    assert done.out.startswith("(3 earlier entries: --all)")
    assert len(done.out.splitlines()) == 21
    assert len(guard(committed, "audit", "show", "--all").out.splitlines()) == 23


def test_audit_verify_tells_what_was_changed(committed: Repo) -> None:
    stage(committed, {"settings.py": LEAK})
    for _ in range(3):
        guard(committed, "hook", "pre-commit")
    trail = committed.path / ".git" / "cli-guard" / "audit.jsonl"
    lines = trail.read_text().splitlines(keepends=True)
    trail.write_text(lines[0] + lines[2])
    done = guard(committed, "audit", "verify")
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
    assert "line 2" in done.err
    trail.write_text("garbage\n\x1b[31m\n")
    assert guard(committed, "audit").code == 0
    assert "\x1b" not in guard(committed, "audit").out


@pytest.mark.parametrize(
    "command", [("audit",), ("audit", "show"), ("audit", "verify")], ids=" ".join
)
def test_a_trail_that_cannot_be_read_is_one_line(
    committed: Repo, command: tuple[str, ...]
) -> None:
    (committed.path / ".git" / "cli-guard" / "audit.jsonl").mkdir(parents=True)
    done = guard(committed, *command)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "audit.jsonl" in done.err


@table("command", ["pending", "audit", "audit verify", "doctor", "approve 1", "review"])
def test_outside_a_repository_is_one_line(
    tmp_path: Path, isolated: dict[str, str], command: str
) -> None:
    done = call(tmp_path, isolated, *command.split())
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "no Git repository" in done.err


def test_reviews_tells_what_waits(committed: Repo) -> None:
    committed.commit("Ask", {"cli-guard.toml": "[decisions]\ncritical = 'review'\n"})
    stage(committed, {"with\x1b[31m colour.py": LEAK})
    guard(committed, "hook", "pre-commit")
    done = guard(committed, "pending")
    assert (done.code, done.err) == (0, "")
    assert "cli-guard approve ID" in done.out
    assert "\x1b" not in done.out
    assert key() not in done.out
    broken = committed.path / ".git" / "cli-guard" / "waiting" / "zz.json"
    broken.write_text("[")
    assert guard(committed, "pending").out == done.out
