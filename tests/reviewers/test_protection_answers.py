"""A finding about what went is answered by the words that it prints: an approval, a comment, an entry of the policy."""

import json

import pytest
from examples import examples
from in_process import approve, guard, stage, waiting
from repositories import Repo, key

CHECK = "    check_permission(user, page)\n"
WARNING = "    # An attacker could save over the pages of others.\n"
SAFE = f"def save(user, page):\n    page.load()\n{WARNING}{CHECK}    page.save(user)\n"
OPEN = SAFE.replace(WARNING + CHECK, "")
FILE = "app/views.py"
RULE = "protection-access"
REASON = "the gateway checks every request now"


@pytest.fixture
def lost(repo: Repo) -> Repo:
    """The check was recorded, its removal is staged."""
    repo.commit("Save pages", {FILE: SAFE})
    stage(repo, {FILE: OPEN})
    return repo


def push(repo: Repo, remote: str) -> int:
    line = f"refs/heads/main {repo.head()} refs/heads/main {'0' * 40}\n"
    return guard(repo, "hook", "pre-push", remote, stdin=line).code


def test_an_approval_of_a_commit_holds_for_each_remote(lost: Repo) -> None:
    assert guard(lost, "hook", "pre-commit").code == 3
    assert approve(lost, waiting(lost)[0]).code == 0
    assert guard(lost, "hook", "pre-commit").code == 0
    lost.git("commit", "-q", "--no-verify", "-m", "Save more")
    assert push(lost, "one") == 0
    # What later commits do to the file is theirs.
    lost.commit("Close pages", {FILE: OPEN + "\n\ndef close(page):\n    page.flush()\n"})
    assert push(lost, "one") == 0
    assert push(lost, "two") == 0
    lost.commit("Check again", {FILE: SAFE})
    lost.commit("Save more again", {FILE: OPEN + "\n\ndef open(page):\n    page.read()\n"})
    assert push(lost, "two") == 3


def test_a_push_is_approved_by_what_it_prints(lost: Repo) -> None:
    lost.git("commit", "-q", "--no-verify", "-m", "Save more")
    lost.commit("Close pages", {FILE: OPEN + "\n\ndef close(page):\n    page.flush()\n"})
    assert push(lost, "one") == 3
    assert approve(lost, waiting(lost)[0]).code == 0
    assert push(lost, "one") == 0


@examples("ending", ("", "    page.save(user)\n"))
def test_ignore_writes_a_comment_where_the_check_was(repo: Repo, ending: str) -> None:
    """At the end of a file too, where no line follows."""
    start = f"def save(user, page):\n    page.load()\n{WARNING}{CHECK}{ending}"
    repo.commit("Save pages", {FILE: start})
    stage(repo, {FILE: start.replace(WARNING + CHECK, "")})
    assert guard(repo, "hook", "pre-commit").code == 3
    done = guard(repo, "ignore", RULE, FILE, "--reason", REASON)
    assert done.code == 0, done.all
    assert f"ignore[{RULE}] {REASON}" in (repo.path / FILE).read_text()
    repo.git("add", "-A")
    review = json.loads(guard(repo, "review", "--format", "json").out)
    assert RULE in [each["rule"] for each in review["suppressed"]]
    # The answer is new, and a person agrees with it.
    assert "policy-suppression-new" in [each["rule"] for each in review["findings"]]


GATE = """from app.rights import check_permission


class Gateway:
    def enter(self, user, page):
        check_permission(user, page)
        return page.enter(user)

    def leave(self, user, page):
        return page.leave(user)
"""


@examples(
    ("reason", "decision"),
    (
        ("the gateway asks now, see app/gateway.py:6", "allow"),
        ("asked in app/gateway.py:Gateway.enter before", "allow"),
        ("asked in app/gateway.py:enter", "allow"),
        # No check there, no such file, function or line, a test, a path that leads out.
        ("the gateway asks now, see app/gateway.py:7", "review"),
        ("the gateway asks now, see app/gateway.py:leave", "review"),
        ("the gateway asks now, see app/gate.py:6", "review"),
        ("the gateway asks now, see app/gateway.py:600", "review"),
        ("the gateway asks now, see app/gateway.py:0", "review"),
        ("the gateway asks now, see tests/test_gateway.py:6", "review"),
        ("the gateway asks now, see app/../app/gateway.py:6", "review"),
    ),
)
def test_an_answer_that_names_a_place_is_looked_at(
    repo: Repo, reason: str, decision: str
) -> None:
    others = {"app/gateway.py": GATE, "tests/test_gateway.py": GATE}
    repo.commit("Save pages", {FILE: SAFE, **others})
    comment = f"    # cli-guard: ignore[{RULE}] {reason}\n"
    stage(repo, {FILE: OPEN.replace("    page.save", f"{comment}    page.save")})
    review = json.loads(guard(repo, "review", "--format", "json").out)
    assert review["decision"] == decision
    found = next(each for each in review["findings"] if each["rule"] == RULE)
    said = "; checked at app/gateway.py:" if decision == "allow" else "; no such check at "
    assert said in found["message"]
    assert found["severity"] == ("medium" if decision == "allow" else "high")
    # No person need agree with what was looked at.
    assert "policy-suppression-new" not in [each["rule"] for each in review["findings"]]


def test_a_place_is_looked_at_as_it_is_staged(repo: Repo) -> None:
    """Not as it is in the work tree."""
    repo.commit("Save pages", {FILE: SAFE, "app/gateway.py": GATE})
    comment = f"    # cli-guard: ignore[{RULE}] asked in app/gateway.py:leave now\n"
    stage(repo, {FILE: OPEN.replace("    page.save", f"{comment}    page.save")})
    (repo.path / "app/gateway.py").write_text(GATE.replace("enter", "leave"))
    assert json.loads(guard(repo, "review", "--format", "json").out)["decision"] == "review"


def test_a_later_answer_with_a_place_is_looked_at(repo: Repo) -> None:
    repo.commit("Save pages", {FILE: SAFE, "app/gateway.py": GATE})
    base = repo.head()
    repo.commit("Save more", {FILE: OPEN})
    comment = f"    # cli-guard: ignore[{RULE}] asked in app/gateway.py:enter now\n"
    repo.commit("Say why", {FILE: OPEN.replace("    page.save", f"{comment}    page.save")})
    done = guard(repo, "review", "--range", f"{base}..HEAD", "--format", "json")
    found = json.loads(done.out)["findings"]
    found_at = [each["message"] for each in found if each["rule"] == RULE]
    assert [each.partition("; checked at ")[2] for each in found_at] == [
        "app/gateway.py:enter"
    ]


def test_a_comment_that_was_there_before_answers_no_new_loss(repo: Repo) -> None:
    comment = f"    # cli-guard: ignore[{RULE}] {REASON}\n"
    before = SAFE.replace("    page.save", f"{comment}    page.save")
    repo.commit("Save pages", {FILE: before})
    stage(repo, {FILE: before.replace(WARNING + CHECK, "")})
    review = json.loads(guard(repo, "review", "--format", "json").out)
    assert review["decision"] == "review"


def test_a_later_comment_answers_an_earlier_commit(lost: Repo) -> None:
    base = lost.head()
    lost.git("commit", "-q", "--no-verify", "-m", "Save more")
    comment = f"    # cli-guard: ignore[{RULE}] {REASON}\n"
    lost.commit("Say why", {FILE: OPEN.replace("    page.save", f"{comment}    page.save")})
    done = guard(lost, "review", "--range", f"{base}..HEAD", "--format", "json")
    assert RULE in [each["rule"] for each in json.loads(done.out)["suppressed"]]


@examples("format", ("text", "json", "sarif", "github", "html", "markdown"))
def test_every_format_shows_what_went_and_masks_it(repo: Repo, format: str) -> None:
    secret = key("github")
    check = f'    check_permission(user, "{secret}")\n'
    start = f"def save(user, page):\n{WARNING}{check}    page.save(user)\n"
    repo.commit("Save pages", {FILE: start})
    stage(repo, {FILE: start.replace(WARNING + check, "")})
    out = guard(repo, "review", "--format", format).out
    assert RULE in out
    assert secret not in out
    if format not in ("github",):
        assert "check_permission" in out


LISTED = '[protections]\ncalls = ["page.save"]\n'


def test_the_recorded_policy_says_which_calls_protect(repo: Repo) -> None:
    """Not the staged one: who takes a name from the list weakens the policy, and the check is missed all the same."""
    start = SAFE.replace(WARNING + CHECK, "")
    repo.commit("Save pages", {FILE: start, "cli-guard.toml": LISTED})
    stage(
        repo, {FILE: start.replace("page.save(user)", "page.store()"), "cli-guard.toml": ""}
    )
    review = json.loads(guard(repo, "review", "--format", "json").out)
    rules = [each["rule"] for each in review["findings"]]
    assert "protection-own" in rules
    assert "policy-weakened" in rules


@examples("calls", ('["a b"]', '["x()"]', '[""]', '"page.save"', '["a\\u0007b"]', "[1]"))
def test_a_name_that_no_call_has_is_refused(repo: Repo, calls: str) -> None:
    repo.commit("Begin", {"README": "pages\n"})
    stage(repo, {"cli-guard.toml": f"[protections]\ncalls = {calls}\n"})
    assert guard(repo, "hook", "pre-commit").code == 2
