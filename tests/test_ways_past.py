"""Ways past the guard, or to make it tell a secret, that somebody has tried once; each stays shut."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from in_process import guard
from repositories import GUARD, Repo, key

RISKY = "import os\n\n\ndef run(x):\n    os.system('a' + x)\n"


def approve(repo: Repo, review_id: str) -> None:
    """Approves as a person at a terminal would."""
    terminal, other = pty.openpty()
    with subprocess.Popen(
        (GUARD, "approve", review_id),
        cwd=repo.path,
        env=repo.env,
        stdin=other,
        stdout=other,
        stderr=other,
    ) as process:
        os.close(other)
        os.write(terminal, b"yes\n")
        assert process.wait(60) == 0
    os.close(terminal)


def test_an_approval_does_not_cover_later_content_of_the_same_push(
    forked: Repo, tmp_path: Path
) -> None:
    remote = Repo.create(tmp_path / "remote.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(remote.path))
    forked.git("push", "-q", "origin", "main")
    forked.write("w.py", RISKY)
    forked.git("add", "-A")
    approve(forked, forked.review()["review_id"])
    forked.git("commit", "-q", "-m", "Run it")
    dry = forked.try_git("push", "--dry-run", "origin", "main")
    assert dry.code == 0, dry.all
    forked.commit("Ask for it", {"w.py": RISKY + "\n\nx = input()\nos.system('a' + x)\n"})
    done = forked.try_git("push", "origin", "main")
    assert done.code != 0
    assert "needs approval" in done.all


def test_the_environment_does_not_name_what_is_merged_but_to_a_merge(
    committed: Repo,
) -> None:
    committed.write("s.py", f'K = "{key()}"\n')
    committed.git("add", "-A")
    other = committed.git("commit-tree", committed.git("write-tree"), "-m", "x")
    for name in (f"GITHEAD_{other}", "GITHEAD_junk"):
        done = guard(committed, "hook", "pre-commit", env={name: "x"})
        assert done.code == 1, name
        assert "s.py:1" in done.out


def test_a_ref_of_a_single_file_is_not_waved_through(forked: Repo, tmp_path: Path) -> None:
    remote = Repo.create(tmp_path / "remote.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(remote.path))
    blob = forked.git("hash-object", "-w", "--stdin", stdin=f"k = {key()}\n")
    forked.git("tag", "file", blob)
    done = forked.try_git("push", "origin", "refs/tags/file")
    assert done.code != 0
    assert "does not point to a commit" in done.all


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "markdown"])
def test_a_key_in_a_name_or_a_reason_is_told_nowhere(committed: Repo, form: str) -> None:
    secret = key()
    committed.write(f"{secret}/notes.md", "Nothing.\n")
    committed.write(
        "a.py", f'k = "{secret}"  # cli-guard: ignore[secret-*] it is {secret} itself\n'
    )
    committed.git("add", "-A")
    done = guard(committed, "review", "--format", form)
    assert secret not in done.all
    state = committed.path / ".git" / "cli-guard"
    kept = [path for path in state.rglob("*") if path.is_file()]
    assert len(kept) > 3
    assert not [path.name for path in kept if secret.encode() in path.read_bytes()]


def test_a_key_in_the_configuration_is_not_told_by_its_error(committed: Repo) -> None:
    committed.write("cli-guard.toml", f'[rules]\n"{key()}" = "off"\n')
    committed.git("add", "-A")
    done = guard(committed, "review")
    assert done.code == 2
    assert key() not in done.all


def test_a_second_configuration_does_not_get_in(committed: Repo) -> None:
    committed.commit(
        "Policy", {"pyproject.toml": '[tool.cli-guard.rules]\n"docs-*" = "off"\n'}
    )
    committed.write("cli-guard.toml", "")
    committed.git("add", "-A")
    done = guard(committed, "review")
    assert done.code == 2
    assert "keep one" in done.err


def test_a_baseline_is_not_written_through_a_link(committed: Repo, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (committed.path / "cli-guard-baseline.json").symlink_to(precious)
    committed.write("s.py", f'K = "{key()}"\n')
    committed.git("add", "s.py")
    done = guard(committed, "review", "--write-baseline")
    assert done.code == 0, done.err
    assert precious.read_text() == "mine"
    written = json.loads((committed.path / "cli-guard-baseline.json").read_text())
    assert [each["path"] for each in written["findings"]] == ["s.py"]
