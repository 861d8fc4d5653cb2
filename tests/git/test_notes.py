"""Signed approvals of others: fetched with the user's settings, whatever the repository's name."""

from pathlib import Path

import pytest
from in_process import guard
from repositories import Repo

NOTES = "refs/notes/cli-guard"


@pytest.fixture
def sharing(committed: Repo, tmp_path: Path) -> Repo:
    """A repository whose remote has a note on its commit."""
    bare = Repo.create(tmp_path / "remote.git", committed.env, "--bare")
    committed.git("remote", "add", "origin", "../remote.git")
    committed.git("notes", "--ref=cli-guard", "add", "-m", "theirs", "HEAD")
    committed.git(
        "push",
        "-q",
        "--no-verify",
        str(bare.path),
        "HEAD:refs/heads/main",
        f"{NOTES}:{NOTES}",
    )
    committed.git("update-ref", "-d", NOTES)
    return committed


def test_notes_are_fetched_and_merged(sharing: Repo) -> None:
    done = guard(sharing, "signers", "fetch")
    assert "merged the approvals" in done.all, done.all
    assert sharing.git("notes", "--ref=cli-guard", "show", "HEAD") == "theirs"
    sharing.git("notes", "--ref=cli-guard", "append", "-m", "ours", "HEAD")
    assert guard(sharing, "signers", "fetch", "../remote.git").code == 0
    assert sharing.git("notes", "--ref=cli-guard", "show", "HEAD").split() == [
        "theirs",
        "ours",
    ]
    assert not list((sharing.path / ".git" / "cli-guard").glob("fetch-*"))


@pytest.mark.parametrize(
    ("url", "settings"),
    [
        ("ssh://host.invalid/r.git", {"core.sshCommand": "@"}),
        ("host.invalid:r.git", {"core.sshCommand": "@", "ssh.variant": "simple"}),
        ("git://host.invalid/r.git", {"core.gitProxy": "@"}),
        ("ext::@", {"protocol.ext.allow": "always", "protocol.allow": "always"}),
        ("../remote.git", {"remote.origin.uploadpack": "@", "core.fsmonitor": "@"}),
        ("http://127.0.0.1:9/r.git", {"credential.helper": "!@", "core.askPass": "@"}),
    ],
)
def test_no_program_of_the_repository_runs(
    sharing: Repo, tmp_path: Path, url: str, settings: dict[str, str]
) -> None:
    ran = tmp_path / "ran"
    usual = tmp_path / "usual"
    for marker in (ran, usual):
        program = tmp_path / f"mark-{marker.name}"
        program.write_text(f'#!/bin/sh\ntouch "{marker}"\nexit 1\n')
        program.chmod(0o755)
    theirs = str(tmp_path / "mark-ran")
    for name, value in settings.items():
        sharing.git("config", name, value.replace("@", theirs))
    # The user's own are taken.
    sharing.git("config", "--global", "core.sshCommand", str(tmp_path / "mark-usual"))
    sharing.git("config", "--global", "core.gitProxy", str(tmp_path / "mark-usual"))
    sharing.git("config", "remote.origin.url", url.replace("@", theirs))
    hook = sharing.write(".git/hooks/reference-transaction", f'#!/bin/sh\ntouch "{ran}"\n')
    hook.chmod(0o755)
    done = guard(sharing, "signers", "fetch")
    assert not ran.exists(), done.all
    assert usual.exists() == ("host.invalid" in url), done.all
