"""A repository's own rules in a review: real repositories, from what Git is about to record."""

import json

from in_process import guard, inspect, stage
from repositories import Repo

from cli_guard.review.request import Commit, Range, Worktree
from cli_guard.reviewers.clean_files import identity

PATH = ".cli-guard/rules/ours.yml"
RULE = """\
id: user-no-sleep
language: Python
message: $CALL waits
metadata:
  severity: high
  title: Waiting in a request
  why: It blocks a worker.
  remedy: Use a queue.
  keywords: [sleep]
rule:
  pattern: $CALL
  kind: call
  regex: ^time\\.sleep
"""
CODE = "import time\n\n\ndef serve():\n    time.sleep(5)\n"


TABLE = """\
language = "python"
[[source]]
reads = 'bus\\.message\\.body'
what = "a message of the bus"
[[sink]]
kind = "command"
call = '(.*\\.)?run_on_host'
remedy = "Use hosts.run(list)."
[[sanitizer]]
call = 'hosts\\.quote'
kinds = ["command"]
"""
FLOW = "import bus\n\n\ndef handle(host):\n    name = bus.message.body\n    host.run_on_host('ls ' + name)\n"


def rules(review: object) -> list[str]:
    return [judged.finding.rule for judged in review.sort_findings()]  # type: ignore[attr-defined]


def test_a_rule_counts_from_the_commit_that_adds_it(committed: Repo) -> None:
    stage(committed, {PATH: RULE, "shop.py": CODE})
    found = committed.look()
    assert (found.status, rules(found)) == ("needs_review", ["user-no-sleep"])
    (judged,) = found.sort_findings()
    assert (judged.finding.line, judged.finding.message) == (5, "time.sleep(5) waits")


def test_a_file_known_to_be_clean_is_examined_again_under_a_new_rule(
    committed: Repo,
) -> None:
    identity()  # as in the warm server, so that files of this size are recalled
    stage(committed, {"shop.py": CODE + "x = 1\n" * 2_000})
    assert [rules(committed.look()) for _ in range(2)] == [[], []]
    stage(committed, {PATH: RULE})
    assert rules(committed.look()) == ["user-no-sleep"]


def test_the_rule_of_the_index_counts_not_that_of_the_work_tree(committed: Repo) -> None:
    stage(committed, {"shop.py": CODE})
    committed.write(PATH, RULE)
    assert rules(committed.look()) == []


def test_each_kind_of_review_reads_the_rules_after_its_change(committed: Repo) -> None:
    first = committed.commit("Rules", {PATH: RULE})
    committed.commit("Wait", {"shop.py": CODE})
    assert rules(committed.look(Commit("HEAD"))) == ["user-no-sleep"]
    assert rules(committed.look(Range(first, "HEAD"))) == ["user-no-sleep"]
    committed.write("other.py", CODE)
    committed.git("add", "-N", "other.py")
    assert rules(committed.look(Worktree())) == ["user-no-sleep"]
    committed.commit("No rules", {PATH: ""})
    committed.commit("Again", {"again.py": CODE})
    assert rules(committed.look(Commit("HEAD"))) == []


def test_an_own_flow_table_adds_to_ours(committed: Repo) -> None:
    path = ".cli-guard/rules/bus.toml"
    stage(
        committed,
        {"shop.py": FLOW, "safe.py": FLOW.replace("+ name", "+ hosts.quote(name)")},
    )
    assert rules(committed.look()) == []
    stage(committed, {path: TABLE})
    # A sanitizer of one's own takes findings away, so a person sees it.
    weakened, judged = committed.look().sort_findings()
    assert (weakened.finding.path, weakened.finding.rule) == (path, "policy-weakened")
    assert "a new sanitizer" in weakened.finding.message
    assert (judged.finding.path, judged.finding.line, judged.finding.rule) == (
        "shop.py",
        6,
        "code-flow-command",
    )
    assert judged.finding.message.startswith(
        "A message of the bus becomes part of the command"
    )
    assert judged.finding.remedy == "Use hosts.run(list)."
    committed.commit("All")
    stage(
        committed,
        {path: TABLE.replace("hosts", ".*").replace("run_on_host", "run_on_other_host")},
    )
    assert rules(committed.look()) == ["policy-weakened"]
    stage(committed, {path: TABLE.replace("kind =", "kinds =")})
    done = inspect(committed, "review")
    assert (done.code, done.err.count("\n")) == (
        2,
        1,
    ) and f"{path}: the [[sink]] number 1: " in done.err


def test_whoever_removes_or_weakens_a_rule_is_seen(committed: Repo) -> None:
    committed.commit("Rules", {PATH: RULE})
    committed.git("mv", PATH, ".cli-guard/rules/moved.yml")
    assert rules(committed.look()) == []
    for command in (
        ("rm", "-q", "--cached", ".cli-guard/rules/moved.yml"),
        ("mv", PATH, "notes.yml"),
    ):
        committed.git("reset", "-q", "--hard")
        if command[0] == "rm":
            command = ("rm", "-q", PATH)
        committed.git(*command)
        found = committed.look()
        assert (found.status, rules(found)) == ("needs_review", ["policy-weakened"])
        assert (
            "the rule user-no-sleep was removed" in found.sort_findings()[0].finding.message
        )
    committed.git("reset", "-q", "--hard")
    stage(committed, {PATH: RULE.replace("severity: high", "severity: info")})
    assert rules(committed.look()) == ["policy-weakened"]
    stage(committed, {PATH: RULE, "cli-guard.toml": '[rules]\n"user-no-sleep" = "off"\n'})
    assert rules(committed.look()) == ["policy-weakened"]
    stage(
        committed, {"cli-guard.toml": '[[ignore]]\nrule = "user-*"\nreason = "we know"\n'}
    )
    assert rules(committed.look()) == ["policy-weakened"]


def test_a_link_or_a_folder_in_place_of_the_rules_is_seen(committed: Repo) -> None:
    committed.commit("Rules", {PATH: RULE, "elsewhere.yml": "# none\n"})
    (committed.path / PATH).unlink()
    (committed.path / PATH).symlink_to("../../elsewhere.yml")
    committed.git("add", "-A")
    done = inspect(committed, "review")
    assert (done.code, done.err) == (
        2,
        f"cli-guard: {PATH}: is a link: rules are read from regular files\n",
    )


def test_a_broken_file_is_one_line_and_its_repair_passes(committed: Repo) -> None:
    stage(committed, {PATH: RULE.replace("severity", "severty"), "shop.py": CODE})
    done = inspect(committed, "review")
    told = (
        f"cli-guard: {PATH}:1: unknown key 'metadata.severty'; did you mean 'severity'?\n"
    )
    assert (done.code, done.out, done.err) == (2, "", told)
    committed.commit("Broken")
    assert guard(committed, "review", "--commit", "HEAD").code == 2
    stage(committed, {"more.py": "x = 1\n"})
    assert inspect(committed, "review").code == 2
    stage(committed, {PATH: RULE})
    assert inspect(committed, "review").code == 0


def test_rules_and_explain_show_them(committed: Repo) -> None:
    stage(committed, {PATH: RULE})
    (committed.path / "folder").mkdir()
    listed = inspect(committed, "rules", at="folder")
    assert (
        "user-no-sleep" in listed.out
        and "review  high      Waiting in a request" in listed.out
    )
    found = {
        row["id"]: row
        for row in json.loads(inspect(committed, "rules", "--format", "json").out)
    }
    assert found["user-no-sleep"]["default"] == "review"
    assert "It blocks a worker." in inspect(committed, "explain", "user-no-sleep").out
    assert inspect(committed, "explain", "user-nobody").code == 2
    stage(committed, {PATH: RULE + "what: no\n"})
    assert inspect(committed, "rules").code == 2


def test_a_finding_is_answered_like_any_other(committed: Repo) -> None:
    committed.commit("Rules", {PATH: RULE})
    answered = CODE.replace(
        "(5)", "(5)  # cli-guard: ignore[user-no-sleep] a worker of its own for this"
    )
    committed.commit("Wait", {"shop.py": answered})
    assert rules(committed.look(Commit("HEAD")))[-1:] != ["user-no-sleep"]
