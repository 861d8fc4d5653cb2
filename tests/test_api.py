"""`cli_guard.api`: what Python callers import, against the real GitPython and unidiff."""

import re
import subprocess
import sys
from pathlib import Path

import git
import pytest
import unidiff
from in_process import records, stage
from repositories import Repo

from cli_guard import api
from cli_guard.errors import CliGuardError
from cli_guard.model import Decision
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import Policy
from cli_guard.repository.between import changes_between

KEY = 'aws_access_key_id = "AKIA' + "QRSTUVWXYZ234567" + '"\n'
HEAVY = {
    "langgraph",
    "pydantic",
    "ast_grep_py",
    "bashkit",
    "psutil",
    "git",
    "unidiff",
    "click",
}


def rules(review: api.Review) -> list[tuple[str, int | None]]:
    return [
        (each.finding.rule, each.finding.line)
        for each in review.findings
        if each.disposition == "deny"
    ]


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, cli_guard.api; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        (sys.executable, "-c", code), capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & HEAVY


def test_every_promised_name_is_there() -> None:
    assert all(getattr(api, name) is not None for name in api.__all__)
    with pytest.raises(AttributeError):
        _ = api.nothing_of_the_kind


def test_a_repository_of_gitpython(committed: Repo) -> None:
    repo = git.Repo(committed.path)
    assert api.review(repo, staged=True).decision is Decision.ALLOW
    stage(committed, {"settings.py": KEY})
    with committed.unchanged():
        review = api.review(repo, staged=True)
    assert review.decision is Decision.DENY
    assert rules(review) == [("secret-aws-access-key", 1)] == rules(api.review(repo))
    committed.git("commit", "-q", "-m", "Add settings")
    for way in ({"commit": "HEAD"}, {"range": "HEAD~1..HEAD"}):
        assert rules(api.review(repo, **way)) == [("secret-aws-access-key", 1)]  # type: ignore[arg-type]
    committed.write("more.py", KEY)
    assert rules(api.review(repo, worktree=True)) == [("secret-aws-access-key", 1)]


def test_nothing_is_recorded_so_nothing_can_be_approved(committed: Repo) -> None:
    stage(committed, {"a.py": 'import subprocess\nsubprocess.run("ls " + x, shell=True)\n'})
    review = api.review(git.Repo(committed.path), staged=True)
    assert (review.decision, review.review_id) == (Decision.REVIEW, None)
    assert not records(committed).pending() and not list(records(committed).audit.entries())


def test_a_patch_set_of_unidiff(committed: Repo) -> None:
    committed.write("app.py", "x = 1\n" + KEY)
    patch = unidiff.PatchSet(committed.git("diff"))
    assert rules(api.review(patch)) == [("secret-aws-access-key", 2)]
    advise = Policy(Config.model_validate({"rules": {"secret-aws-access-key": "advise"}}))
    assert api.review(patch, policy=advise).decision is not Decision.DENY


def test_a_change_set_and_what_is_none(committed: Repo) -> None:
    assert api.review(changes_between({}, {"a.py": "x = 1\n"})).decision is Decision.ALLOW
    repo = git.Repo(committed.path)
    for wrong in (
        lambda: api.review(repo, staged=True, worktree=True),
        lambda: api.review(repo, commit="nowhere"),
        lambda: api.review(repo, range="HEAD"),
        lambda: api.review(repo, policy=Policy()),
        lambda: api.review(unidiff.PatchSet(""), staged=True),
        lambda: api.review(Path()),  # type: ignore[arg-type]
    ):
        with pytest.raises(CliGuardError):
            wrong()


def test_a_command_is_judged() -> None:
    assert api.judge("rm -rf /").verdict is Decision.DENY
    assert api.judge("ls -l").verdict is Decision.ALLOW


def test_what_the_page_shows(
    committed: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example prints the comment at its end."""
    committed.write(
        "report.py",
        "import subprocess\n\n\n" + 'subprocess.run("render " + name, shell=True)\n',
    )
    committed.git("add", "-N", "report.py")
    monkeypatch.chdir(committed.path)
    page = (Path(__file__).parent.parent / "docs" / "api.md").read_text("utf-8")
    examples = re.findall(r"```python\n(.+?)\n# ([^\n]+)\n```", page, re.DOTALL)
    assert len(examples) == 3
    for code, printed in examples:
        assert len(code.replace("\n\n", "\n").splitlines()) <= 5
        exec(code, {})
        assert capsys.readouterr().out == f"{printed}\n"
