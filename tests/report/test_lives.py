"""The life of a finding, as the log, the approvals and the commits tell it."""

import pytest
from in_process import RISKY, approve, guard, records, stage, waiting
from repositories import Repo

from cli_guard.git.repository import GitRepository
from cli_guard.report.lives import Life, Telling, read_lives

IGNORE = '[[ignore]]\nrule = "code-*"\npath = "old/**"\nreason = "it runs in a sandbox"\nexpires = 2099-01-02\n'


def lives(repo: Repo) -> dict[tuple[str, str], Life]:
    """The lives by rule and path."""
    found = read_lives(
        GitRepository.discover(repo.path, repo.env), records(repo).audit.entries()
    )
    return {(each.rule, each.path): each for each in found}


def commit(repo: Repo, files: dict[str, str | bytes]) -> str:
    """Reviews what is staged, as the hook does, and commits it if it may."""
    stage(repo, files)
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Change it")
    return repo.git("rev-parse", "HEAD")


def shell(repo: Repo, path: str) -> Life:
    return next(
        life for (rule, at), life in lives(repo).items() if at == path and "shell" in rule
    )


def test_what_becomes_of_a_finding(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    stage(committed, {"risky.py": RISKY})
    for _ in range(2):
        assert guard(committed, "hook", "pre-commit").code == 3
    found = shell(committed, "risky.py")
    assert (found.ended, found.decision, found.severity, found.commit) == (
        "open",
        "review",
        "high",
        "",
    )
    # The line in other words is the same finding; without it, the finding is fixed.
    stage(committed, {"risky.py": RISKY.replace("render-report ", "make-report ")})
    assert guard(committed, "hook", "pre-commit").code == 3
    again = shell(committed, "risky.py")
    assert (
        again.ended == "open"
        and again.at == found.at
        and again.fingerprint != found.fingerprint
    )
    stage(committed, {"risky.py": RISKY.replace(", shell=True", "")})
    guard(committed, "hook", "pre-commit")
    assert shell(committed, "risky.py").ended == "fixed"
    assert shell(committed, "risky.py").ended_how == "before the commit"
    # It comes back, and a person approves it.
    stage(committed, {"risky.py": RISKY})
    guard(committed, "hook", "pre-commit")
    assert shell(committed, "risky.py").ended == "open"
    assert approve(committed, wanted := waiting(committed)[-1]).code == 0
    sha = commit(committed, {"risky.py": RISKY})
    life = shell(committed, "risky.py")
    assert (life.ended, life.ended_how, life.level, life.commit) == (
        "approved",
        wanted,
        "tty",
        sha,
    )
    assert life.ended_by == life.who != "" and committed.git("rev-parse", "HEAD^") == base


def test_answers_in_the_code_in_the_configuration_and_in_later_commits(
    committed: Repo,
) -> None:
    committed.commit(
        "Set the policy", {"cli-guard.toml": '[rules]\n"code-*" = "advise"\n' + IGNORE}
    )
    lined = RISKY.replace(
        "shell=True)", "shell=True)  # cli-guard: ignore[code-*] a fixed name of ours"
    )
    changed = [f"later/{number}.py" for number in range(3)]
    files = ["old/a.py", "inline.py", "stays.py", "moved.py", *changed]
    first = commit(
        committed, {path: lined if path == "inline.py" else RISKY for path in files}
    )
    message = committed.write(".git/MESSAGE", "wip\n")
    assert guard(committed, "hook", "commit-msg", str(message)).code == 0
    assert {shell(committed, path).commit for path in files} == {first}
    safe = RISKY.replace(", shell=True", "")
    fixing = commit(committed, {changed[0]: safe, "moved.py": f"import os\n\n{RISKY}"})
    # Edited, and found again in other words: not fixed.
    commit(committed, {changed[1]: RISKY.replace("render-report ", "make-report ")})
    for number in range(3):
        commit(committed, {"other.txt": f"{number}\n"})
    commit(committed, {changed[2]: safe})
    ended = {path: shell(committed, path) for path in files}
    assert {path: life.ended for path, life in ended.items()} == {
        "old/a.py": "ignored",
        "inline.py": "answered",
        "stays.py": "open",
        "moved.py": "open",
        "later/0.py": "fixed",
        "later/1.py": "open",
        "later/2.py": "open",
    }
    # A message is not fixed by what becomes of the tree.
    assert lives(committed)["message-says-nothing", ""].ended == "open"
    assert (ended["old/a.py"].ended_how, ended["old/a.py"].until) == (
        "[[ignore]]",
        "2099-01-02",
    )
    assert (
        ended["later/0.py"].ended_how == f"in {fixing}"
        and ended["later/0.py"].ended_by == "Ada <ada@example.org>"
    )


def told(*entries: dict[str, object]) -> list[str]:
    """How the finding `m` stands after each entry; all were made where HEAD was `b`."""
    telling = Telling()
    ended = []
    for number, entry in enumerate(entries):
        base = {
            "event": "staged",
            "at": f"2026-01-0{number + 1}T00:00:00+00:00",
            "place": "index b",
            "found": [],
        }
        telling.add({**base, **entry})
        ended.append(telling.lives["m"].ended)
    return ended


FOUND = {
    "rule": "r",
    "path": "a.py",
    "severity": "low",
    "decision": "advise",
    "lines": {"m": 1},
}
LISTED = {"found": [FOUND]}
ANSWERED = {"found": [FOUND | {"by": "inline"}]}
APPROVED = {"found": [FOUND | {"by": "approval"}]}
APPROVE = {"event": "approve", "found": None, "fingerprints": ["m"], "user": "ada"}


@pytest.mark.parametrize(
    "entries, ended",
    [
        ((LISTED, {}), "fixed"),
        ((LISTED, {}, LISTED), "open"),
        # Not listed, as there are too many, and found all the same.
        ((LISTED, {"fingerprints": ["m"]}), "open"),
        # Another place: what was reviewed is another change.
        ((LISTED, {"place": "index c"}), "open"),
        ((LISTED, LISTED | {"place": "index c"}, {}), "open"),
        ((LISTED, {"place": ""}), "open"),
        ((LISTED, {"found": None}), "open"),
        ((LISTED, ANSWERED, {}), "answered"),
        ((LISTED, ANSWERED, LISTED), "open"),
        ((LISTED, APPROVE, {}), "approved"),
        ((LISTED, APPROVE, APPROVED), "approved"),
        # Approved, and changed since: found again.
        ((LISTED, APPROVE, LISTED), "open"),
        ((LISTED, ANSWERED, APPROVE), "answered"),
        # In one commit of a range it is answered, in another it is not.
        (({"found": [FOUND | {"by": "inline"}, FOUND], "place": ""},), "open"),
    ],
)
def test_what_the_entries_say(entries: tuple[dict[str, object], ...], ended: str) -> None:
    assert told(*entries)[-1] == ended


def test_what_another_line_of_the_same_rule_says() -> None:
    other = {"found": [FOUND | {"lines": {"n": 2}}]}
    telling = Telling()
    for entry in (LISTED, other):
        telling.add(
            {
                "event": "staged",
                "at": "2026-01-01T00:00:00+00:00",
                "place": "index b",
                **entry,
            }
        )
    # One finding whose line was edited, not one that was fixed and one that is new.
    assert [life.fingerprint for life in telling.lives.values()] == ["n"]
